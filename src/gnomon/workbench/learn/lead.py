"""Does a learner beat the baseline beyond chance? Losses of the same rows, compared in pairs.

Every row that was tested has a loss by the learner and one by the baseline. The mean of their
differences d_i over n rows is tested by Student's t,

    t = mean(d) / s,   s^2 = G / (G - 1) * sum_g (sum_{i in g} (d_i - mean(d)))^2 / n^2,

one-sided and corrected for skewness (Hall), where g is a row (tested once per repetition), a group
of rows or a stretch of time: what belongs together counts as one. A test of a few fold means finds
the same difference much less often. The area under the ROC curve is a mean of placements (DeLong):
the share of the other class's rows that a row is ranked right against; the baseline's is one half.
p counts all learners that were tried (Bonferroni).

Learners are compared with the best one in the same way. A learner's own luck with its training rows
is shared by the rows of a fold, and folds share training rows, so the covariance of folds, from the
fits without pairs of them, is added to s^2 as in the intervals. The best was not named before, so p
is of the largest difference of as many equal learners (Tukey's studentized range).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from gnomon.evaluate import MEASURES, CrossValidation, Leaderboard, Measure
from gnomon.evaluate.cross_validation_result import (
    FEWEST_FOLDS,
    ROUNDED_TO_ZERO,
    covariance_of_folds,
)
from gnomon.evaluate.measures import Said
from gnomon.workbench.analysis.portfolio import BASELINE

LEVEL = 0.05  # the usual level of 5%
# Of one more pair of folds, in their covariance: with 1/2, 1 and 3/2 of equal single neighbors
# 8.0, 7.7 and 6.7% differ on 120 rows, 9.3, 8.3 and 7.7% on 400; without the covariance 14 and 17%.
FURTHER_PAIR = 1.5
# Of three folds, whose changes are centered: 6% of equal single neighbors differ on 90 rows, 12%
# with 3/2.
FURTHER_OF_THREE = 3.0
NEAREST = {"r2": "mse", "rmse": "mse", "f_measure": "accuracy", "balanced_accuracy": "accuracy"}


@dataclass(frozen=True)
class Lead:
    """How far a learner is ahead of the baseline.

    Attributes
    ----------
    name : str
    gain : float
        Mean difference of losses, positive where the learner is better.
    p : float
        One-sided, of no gain; all learners that were tried are counted. NaN where no test can be
        made.
    n : int
        Rows, or groups of rows, that were compared.
    """

    name: str
    gain: float
    p: float
    n: int

    @property
    def is_real(self) -> bool:
        """Whether the gain is beyond chance."""
        return self.gain > 0 and self.p < LEVEL

    def __str__(self) -> str:
        return "p unknown" if np.isnan(self.p) else p_in_words(self.p)


def p_in_words(p: float) -> str:
    """A p-value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def leads(board: Leaderboard) -> dict[str, Lead]:
    """How far every learner of a board is ahead of the baseline.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    leads : dict of str to Lead
        Without the baseline itself.
    """
    base = board[BASELINE]
    found = {each.name: lead_of(each, base) for each in board.results if each.name != BASELINE}
    tried = max(len(found), 1)
    return {name: replace(each, p=min(each.p * tried, 1.0)) for name, each in found.items()}


def p_against_best(board: Leaderboard) -> dict[str, float]:
    """p of no difference between the best learner and every other one, by paired losses.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    p : dict of str to float
        Without the best. Of the baseline, that of the best learner's lead over it. NaN where no
        test can be made.
    """
    best = board.best
    learners = sum(each.name != BASELINE for each in board.results)
    found = {each.name: p_of_difference(best, each, learners) for each in board.results[1:]}
    if BASELINE in found:
        found[BASELINE] = leads(board)[best.name].p
    return found


def p_of_difference(best: CrossValidation, other: CrossValidation, n_learners: int = 2) -> float:
    """Two-sided p of no difference between the best of some learners and another one.

    Parameters
    ----------
    best, other : CrossValidation
        On the same splits.
    n_learners : int, default=2
        Learners of which these are the best and any other.

    Returns
    -------
    p : float
        NaN where no test can be made.
    """
    gains, owners, strata = paired_gains(best, other)
    if not len(gains):
        return np.nan
    summed = best.measures[0].name == "auc"
    gain, error, _, fewest = paired_mean(gains, owners, strata, summed=summed)
    if not np.isfinite(error):
        return np.nan
    error = float(np.hypot(error, error_of_folds(best, other, strata is not None)))
    if error == 0:
        return 1.0 if gain == 0 else min(n_learners * 0.5**fewest, 1.0)
    t = np.sqrt(2) * abs(gain) / error
    return float(scipy.stats.studentized_range.sf(t, max(n_learners, 2), max(fewest - 1, 1)))


def error_of_folds(one: CrossValidation, other: CrossValidation, in_strata: bool) -> float:
    """Standard error that the covariance of folds adds to the mean difference of two learners."""
    measure = one.measures[0]
    near = measure if in_strata else MEASURES[NEAREST.get(measure.name, measure.name)]
    if near.needs == "estimator":
        return 0.0
    ours, theirs = one.pair_changes(near), other.pair_changes(near)
    changes = [ours[pair] - theirs[pair] for pair in ours if pair in theirs]
    folds = one.splits.n_folds
    further = FURTHER_OF_THREE if folds == FEWEST_FOLDS else FURTHER_PAIR
    covariance = covariance_of_folds(changes, folds, further=further)
    return 0.0 if np.isnan(covariance) else float(np.sqrt((1 - 1 / folds) * covariance))


def nearest_lead(found: dict[str, Lead]) -> Lead:
    """Of the learners that do not beat the baseline beyond chance, the one of the least p."""
    return min(found.values(), key=lambda each: (np.isnan(each.p), each.p, -each.gain))


def lead_of(learner: CrossValidation, base: CrossValidation) -> Lead:
    """How far one learner is ahead of the baseline; p for it alone."""
    gains, owners, strata = paired_gains(learner, base)
    if not len(gains):
        return Lead(learner.name, np.nan, np.nan, 0)
    summed = learner.measures[0].name == "auc"
    gain, p, n = paired_test(gains, owners, strata, summed=summed)
    return Lead(learner.name, gain, p, n)


def gap_between(best: CrossValidation, other: CrossValidation) -> tuple[float, float]:
    """By how much one learner is better than another, and the standard error of that difference.

    Both are of paired losses of the rows, so that what makes rows hard for both does not count.
    NaN where no fold can be compared.
    """
    gains, owners, strata = paired_gains(best, other)
    if not len(gains):
        return np.nan, np.nan
    summed = best.measures[0].name == "auc"
    return paired_mean(gains, owners, strata, summed=summed)[:2]


def paired_gains(
    learner: CrossValidation, base: CrossValidation
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Differences of the losses of tested rows, what each row counts as, and its stratum."""
    measure, y = learner.measures[0], learner.y
    assert y is not None
    gains, owners, classes = [], [], []
    for number, (_, test) in enumerate(learner.splits):
        one, two = learner.folds[number].said, base.folds[number].said
        if one is None or two is None:
            continue
        values = gains_of(measure, y[test], one, two)
        if values is None:
            continue
        gains.append(values)
        owners.append(test if learner.splits.groups is None else learner.splits.groups[test])
        classes.append(y[test])
    if not gains:
        return np.zeros(0), np.zeros(0), None
    strata = np.concatenate(classes) if measure.name in ("auc", "balanced_accuracy") else None
    return np.concatenate(gains), np.concatenate(owners), strata


def gains_of(measure: Measure, y: np.ndarray, one: Said, base: Said) -> np.ndarray | None:
    """By how much every row is better by the learner; None where the fold cannot tell."""
    if measure.name == "auc":
        two = len(np.unique(y)) == 2
        return placements(y, one) - placements(y, base) if two else None
    rows = MEASURES[NEAREST.get(measure.name, measure.name)]
    losses = [each for said in (one, base) if (each := rows.row_losses(y, said)) is not None]
    if len(losses) < 2:
        return None
    ours, theirs = (np.where(np.isinf(each), ROUNDED_TO_ZERO, each) for each in losses)
    return ours - theirs if rows.greater_is_better else theirs - ours


def losses_of_rows(measure: Measure, y: np.ndarray, said: Said) -> list[float]:
    """The loss of every row, smaller for better; infinite ones are large."""
    rows = MEASURES[NEAREST.get(measure.name, measure.name)]
    if rows.losses is None:
        rows = MEASURES["brier" if said.probabilities is not None else "accuracy"]
    values = np.asarray(rows.row_losses(y, said), dtype=float)
    values = np.where(np.isinf(values), ROUNDED_TO_ZERO, values)
    found: list[float] = (-values if rows.greater_is_better else values).tolist()
    return found


def placements(y: np.ndarray, said: Said) -> np.ndarray:
    """Share of the other class's rows that every row is ranked right against; ties count half."""
    assert said.classes is not None
    positive = y == said.classes[1]
    ranks = scipy.stats.rankdata(said.scores)
    found = np.empty(len(y))
    for part in (positive, ~positive):
        below = (ranks[part] - scipy.stats.rankdata(np.asarray(said.scores)[part])) / (~part).sum()
        found[part] = below if part is positive else 1 - below
    return found


def paired_test(
    gains: np.ndarray, owners: np.ndarray, strata: np.ndarray | None, *, summed: bool = False
) -> tuple[float, float, int]:
    """The mean gain, its one-sided p, and the number of owners.

    Parameters
    ----------
    gains : ndarray of shape (n,)
    owners : ndarray of shape (n,)
        Values of one owner count as one.
    strata : ndarray of shape (n,) or None
        The mean is that of the means of the strata.
    summed : bool, default=False
        Whether every stratum's mean is the whole gain, as of placements: its errors then add.

    Returns
    -------
    gain : float
    p : float
    n : int
    """
    gain, error, sums, fewest = paired_mean(gains, owners, strata, summed=summed)
    count = len(sums)
    if count < 2:
        return gain, np.nan, count
    if error == 0:
        return gain, 0.5**fewest if gain > 0 else 1.0, count
    t = unskewed(gain / error, float(scipy.stats.skew(sums)), count)
    return gain, float(scipy.stats.t.sf(t, max(fewest - 1, 1))), count


def two_sided_p(gains: np.ndarray, owners: np.ndarray) -> float:
    """Two-sided p of no difference: the larger of Student's t and of its correction for skewness.

    Differences of equal models are symmetric, and the estimated skewness of a few heavy-tailed
    ones is chance: with the correction alone 8 to 12% of 40 rows are beyond 5%, with Student's t
    alone those of skewed differences.

    Parameters
    ----------
    gains : ndarray of shape (n,)
    owners : ndarray of shape (n,)
        Values of one owner count as one.

    Returns
    -------
    p : float
        NaN for one owner.
    """
    gain, error, sums, count = paired_mean(gains, owners, None)
    if count < 2:
        return np.nan
    if error == 0:
        return min(2 * 0.5**count, 1.0) if gain else 1.0
    t = gain / error
    corrected = unskewed(t, float(scipy.stats.skew(sums)), count)
    return float(2 * scipy.stats.t.sf(min(abs(t), abs(corrected)), count - 1))


def paired_mean(
    gains: np.ndarray, owners: np.ndarray, strata: np.ndarray | None, *, summed: bool = False
) -> tuple[float, float, np.ndarray, int]:
    """The mean gain, its standard error, the sum of every owner and the fewest values that count.

    Parameters as of `paired_test`.
    """
    n = len(gains)
    kinds = np.zeros(n, dtype=int) if strata is None else np.unique(strata, return_inverse=True)[1]
    counts = np.bincount(kinds)
    means = np.bincount(kinds, gains) / counts
    gain = float(means.mean())
    parts = 1 if summed else len(counts)
    effects = (gains - means[kinds]) * n / (parts * counts[kinds])
    codes = np.unique(owners, return_inverse=True)[1]
    sums = np.bincount(codes, effects)
    count = len(sums)
    fewest = min(count, int(counts.min())) if strata is not None else count
    if count < 2:
        return gain, np.nan, sums, fewest
    return gain, float(np.sqrt(count / (count - 1) * (sums**2).sum()) / n), sums, fewest


def unskewed(t: float, skewness: float, n: int) -> float:
    """Student's t of n skewed values, transformed so that its level holds (Hall 1992).

    Of 60 values that are one less an exponential, t alone is beyond 5% in 8 of a hundred.
    """
    u = t / np.sqrt(n)
    cubic = u + skewness * u**2 / 3 + skewness**2 * u**3 / 27 + skewness / (6 * n)
    return float(np.sqrt(n) * cubic)
