"""Tests that compare two learners, each right for the kind of scores that it is given.

Scores of folds are not independent: their training rows overlap. The plain paired t test takes
them as if they were and finds differences that are not there several times too often; it is not
offered. What to use:

=========================  =========================================================
you have                   use
=========================  =========================================================
scores on the same folds   `corrected_t_test`, or `bayesian_t_test` with a region of
                           practical equivalence
five repetitions of two    `five_by_two_f_test` (`five_by_two_t_test`)
folds
predictions of the same    `mcnemar_test`
test rows
scores on many tables      `wilcoxon_test`, `sign_test`
=========================  =========================================================

Texts: 003 2.1.7.2, 2.2.3.2 (compare on the same folds; no test is given there) · 004 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtr

from gnomon.contract.estimate import (
    Estimate,
    check_level,
    check_not_negative,
    finite_column,
    normal_quantile,
    share_interval,
    share_like_interval,
    student_quantile,
)
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import label_pair

MOST_FOR_EXACT_RANKS = 50  # SciPy's switch from the exact law in `wilcoxon`, so that both agree

MANY_FOLDS = 50  # from which on the t test was measured to exceed its level for unstable learners


ROWS_ALONE = "For independent rows: of rows in groups or in order of time p is too small"
NOT_IN_TIME = "Of rows that follow each other in time p of random folds is too small"


@dataclass(repr=False)
class PairTest(Result):
    """A test of two learners.

    Attributes
    ----------
    test : str
        Its name.
    difference : Estimate
        First minus second: the effect, with its interval where the test gives one.
    statistic : float
    p : float
        Probability of a statistic at least as extreme if there is no difference; two-sided.
    n : int
        What was counted: folds, rows or tables.
    degrees_of_freedom : float or tuple or None
    remark : str
    """

    test: str
    difference: Estimate
    statistic: float
    p: float
    n: int
    degrees_of_freedom: Any = None
    remark: str = ""

    def _title(self) -> str:
        return f"{self.test}: difference {self.difference}, {p_text(self.p)}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "difference": [self.difference],
            "statistic": [self.statistic],
            "degrees of freedom": [self.degrees_of_freedom],
            "n": [self.n],
            "p": [self.p],
        }

    def _remarks(self) -> list[str]:
        return [self.remark] if self.remark else []


@dataclass(repr=False)
class BayesianTest(Result):
    """Probabilities that the first learner is worse, practically equal or better.

    Attributes
    ----------
    worse, equal, better : float
        Posterior probabilities that the mean difference lies below, in and above the region.
    rope : float
        Half-width of the region of practical equivalence.
    difference : Estimate
        Posterior mean and credible interval.
    degrees_of_freedom : int
    greater_is_better : bool
    """

    worse: float
    equal: float
    better: float
    rope: float
    difference: Estimate
    degrees_of_freedom: int
    greater_is_better: bool = True

    def decision(self, at_least: float = 0.95) -> str:
        """``"better"``, ``"equal"`` or ``"worse"`` where its probability suffices, else "open".

        Parameters
        ----------
        at_least : float, default=0.95

        Returns
        -------
        decision : str
        """
        for name in ("better", "equal", "worse"):
            if getattr(self, name) >= at_least:
                return name
        return "open"

    def _title(self) -> str:
        return (
            f"First better {self.better:.3f}, practically equal (within {self.rope:g}) "
            f"{self.equal:.3f}, worse {self.worse:.3f}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "": ["better", "equal", "worse"],
            "probability": [self.better, self.equal, self.worse],
        }


@dataclass
class Scores:
    """Scores of one learner, one per fold, got elsewhere; `CrossValidation` has the same manners.

    Attributes
    ----------
    name : str
    values : ndarray
        One score per fold.
    test_share : float
        Test rows per training row, which the correction needs.
    fit_seconds, predict_seconds : float
        Sums over the folds.
    """

    name: str
    values: np.ndarray
    test_share: float
    fit_seconds: float = field(default=0.0)
    predict_seconds: float = field(default=0.0)

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        """Of the mean, with the correction for overlapping training sets."""
        return corrected_standard_error(self.values, self.test_share)

    def interval(self, confidence_level: float = 0.95) -> Estimate:
        """The mean score with its corrected interval.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        half = student_quantile(confidence_level, len(self.values) - 1) * self.standard_error
        how = "corrected resampled t"
        return Estimate(
            self.mean,
            self.mean - half,
            self.mean + half,
            confidence_level,
            self.standard_error,
            how,
        )

    def p_against(self, other: Scores) -> float:
        """Two-sided p of no difference in mean score (corrected resampled t test).

        Parameters
        ----------
        other : Scores
            On the same folds.

        Returns
        -------
        p : float
        """
        return corrected_t_test(self.values, other.values, self.test_share).p


def corrected_standard_error(values: ArrayLike, test_share: float) -> float:
    """Standard error of the mean of resampled scores, sqrt((1 / J + r) s^2).

    Nadeau and Bengio (2003): J scores of variance s^2, r = n_test / n_train stands for the
    correlation that overlapping training rows bring. Some packages take a further root; that is
    wrong.

    Parameters
    ----------
    values : array-like of shape (J,)
    test_share : float
        n_test / n_train.

    Returns
    -------
    standard_error : float

    Examples
    --------
    >>> round(corrected_standard_error([0.8, 0.9, 0.7, 0.8], 1 / 3), 6)
    0.062361
    """
    values = finite_column(values, "scores")
    if len(values) < 2:
        raise DataError("one score has no spread; two folds are the least")
    check_test_share(test_share)
    return float(np.sqrt((1 / len(values) + test_share) * np.var(values, ddof=1)))


def check_test_share(test_share: Any) -> None:
    """Refuse what is no number of test rows per training row."""
    check_not_negative("test_share", test_share, "test rows per training row")


def check_rope(rope: Any) -> None:
    """Refuse what is no half-width of a region of practical equivalence."""
    check_not_negative("rope", rope, "the largest difference that does not matter")


def resampled_figure(
    scores: np.ndarray, test_share: float, confidence_level: float = 0.95, share: bool = False
) -> Estimate:
    """The mean of scores of repeated splits, with the interval of Nadeau and Bengio.

    Parameters
    ----------
    scores : ndarray
        NaN where a fit failed; those are left out.
    test_share : float
        Test rows per training row; 0 for independent data sets.
    confidence_level : float, default=0.95
    share : bool, default=False
        Whether scores lie between 0 and 1: the interval then does so, too, by taking the mean for a
        share of as many rows as its standard error says.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> print(resampled_figure(np.array([0.2, 0.3, 0.25, 0.25]), test_share=0.25))
    0.250 (0.158 to 0.342)
    """
    check_level(confidence_level)
    known = scores[~np.isnan(scores)]
    if len(known) == 0:
        return Estimate(np.nan, np.nan, np.nan, confidence_level, np.nan, "no fit succeeded")
    mean = float(known.mean())
    if np.isinf(known).any():
        how = f"{int(np.isinf(known).sum()):,} of {len(known):,} scores are infinite"
        return Estimate(mean, -np.inf, np.inf, confidence_level, np.nan, how)
    if len(known) == 1:
        return Estimate(mean, -np.inf, np.inf, confidence_level, np.nan, "one score has no spread")
    error = corrected_standard_error(known, test_share)
    how = "corrected resampled t" if test_share else "independent repetitions"
    if share and error > 0:
        return share_like_interval(mean, error, confidence_level, how, len(known) - 1)
    half = student_quantile(confidence_level, len(known) - 1) * error
    return Estimate(mean, mean - half, mean + half, confidence_level, error, how)


def corrected_t_test(
    first: ArrayLike, second: ArrayLike, test_share: float, confidence_level: float = 0.95
) -> PairTest:
    """Do two learners differ in their expected score? For scores on the same folds.

    t = mean difference / sqrt((1 / J + n_test / n_train) s^2) with J - 1 degrees of freedom
    (Nadeau and Bengio 2003; Bouckaert and Frank 2004 for repeated folds). On ten folds, once, it
    is conservative. On ten repetitions of ten folds it keeps its level for learners that change
    little with the training rows (linear models, naive Bayes, forests); for unstable ones (single
    neighbors, stumps, single trees) tests at 5% reject equal learners in 10 to 13% of cases, which
    the result then says. Rows that follow each other in time and are alike are not for folds drawn
    at random: the test rejects equal stumps in 10% of series of autocorrelation 0.7. Test the
    paired losses of the rows of one held-out set
    (`mcnemar_test`, `mean_interval` of their differences) where that matters.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Scores of the two learners on the same J folds.
    test_share : float
        n_test / n_train, 1 / 9 for ten folds.
    confidence_level : float, default=0.95

    Returns
    -------
    test : PairTest

    Examples
    --------
    >>> found = corrected_t_test([0.81, 0.84, 0.79, 0.86], [0.78, 0.80, 0.78, 0.80], 1 / 3)
    >>> round(found.statistic, 3), round(found.p, 3)
    (2.201, 0.115)
    """
    gaps = paired_differences(first, second)
    test = _student(
        "Corrected resampled t test",
        gaps,
        corrected_standard_error(gaps, test_share),
        len(gaps) - 1,
        confidence_level,
    )
    test.remark = NOT_IN_TIME
    if len(gaps) >= MANY_FOLDS:
        test.remark += (
            "; with so many folds the level holds for stable learners: of unstable ones (single "
            "neighbors, stumps) tests at 5% reject equal learners in up to 13% of cases"
        )
    return test


def bayesian_t_test(
    first: ArrayLike,
    second: ArrayLike,
    test_share: float,
    rope: float = 0.01,
    *,
    greater_is_better: bool = True,
    confidence_level: float = 0.95,
) -> BayesianTest:
    """How probable is it that one learner is better, in practice? (Corani and Benavoli 2015)

    The posterior of the mean difference is Student's, with J - 1 degrees of freedom, centred at
    the mean difference, of squared scale (1 / J + rho / (1 - rho)) s^2 with rho = n_test / n, so
    that rho / (1 - rho) = n_test / n_train. Unlike a test it can say "practically equal". With
    rope=0 the smaller of `better` and `worse` is half the p of `corrected_t_test`, so that a
    probability of 0.975 errs as seldom as p < 0.05; a rope makes such errors rarer.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Scores of the two learners on the same J folds.
    test_share : float
        n_test / n_train.
    rope : float, default=0.01
        Differences smaller than this do not matter (one point of accuracy).
    greater_is_better : bool, default=True
    confidence_level : float, default=0.95
        Level of the credible interval.

    Returns
    -------
    test : BayesianTest

    Examples
    --------
    >>> same = bayesian_t_test([0.81, 0.80, 0.82, 0.81], [0.81, 0.80, 0.82, 0.81], 1 / 3)
    >>> same.equal
    1.0
    """
    check_rope(rope)
    gaps = paired_differences(first, second)
    freedom = len(gaps) - 1
    mean, scale = float(gaps.mean()), corrected_standard_error(gaps, test_share)
    if scale == 0:
        below, above = float(mean < -rope), float(mean > rope)
    else:
        below = float(stdtr(freedom, (-rope - mean) / scale))
        above = float(stdtr(freedom, (mean - rope) / scale))
    half = student_quantile(confidence_level, freedom) * scale
    worse, better = (below, above) if greater_is_better else (above, below)
    figure = Estimate(mean, mean - half, mean + half, confidence_level, scale, "posterior")
    equal = 1 - below - above
    return BayesianTest(worse, equal, better, rope, figure, freedom, greater_is_better)


def five_by_two_t_test(
    first: ArrayLike, second: ArrayLike, confidence_level: float = 0.95
) -> PairTest:
    """Dietterich's (1998) paired t test of five repetitions of two folds.

    With differences p_i1, p_i2 of repetition i and s_i^2 = sum_j (p_ij - mean_i)^2,
    t = p_11 / sqrt(sum_i s_i^2 / 5) has five degrees of freedom. Uses one difference of ten in
    the numerator, so the order of the folds matters; `five_by_two_f_test` does not have that flaw.

    Parameters
    ----------
    first, second : array-like of shape (5, 2) or (10,)
        Scores by repetition and fold.
    confidence_level : float, default=0.95

    Returns
    -------
    test : PairTest

    Examples
    --------
    >>> a = [[0.8, 0.7], [0.9, 0.8], [0.7, 0.8], [0.8, 0.9], [0.8, 0.8]]
    >>> b = [[0.7, 0.7], [0.8, 0.7], [0.7, 0.7], [0.8, 0.8], [0.7, 0.7]]
    >>> round(five_by_two_t_test(a, b).statistic, 4)
    1.8257
    """
    gaps = _five_by_two(first, second)
    error = float(np.sqrt(_spreads(gaps).mean()))
    test = _student(
        "5 x 2 cv t test", gaps.ravel(), error, 5, confidence_level, shown=float(gaps[0, 0])
    )
    test.remark = "The difference is that of the first fold, which the test uses"
    return test


def five_by_two_f_test(first: ArrayLike, second: ArrayLike) -> PairTest:
    """Alpaydin's (1999) F test of five repetitions of two folds.

    F = sum_ij p_ij^2 / (2 sum_i s_i^2) with 10 and 5 degrees of freedom. Tests at 5% reject equal
    learners in 7% of cases for stable ones and up to 14% for unstable ones (single neighbors,
    stumps); `corrected_t_test` on ten folds, once, keeps its level.

    Parameters
    ----------
    first, second : array-like of shape (5, 2) or (10,)
        Scores by repetition and fold.

    Returns
    -------
    test : PairTest

    Examples
    --------
    >>> a = [[0.8, 0.7], [0.9, 0.8], [0.7, 0.8], [0.8, 0.9], [0.8, 0.8]]
    >>> b = [[0.7, 0.7], [0.8, 0.7], [0.7, 0.7], [0.8, 0.8], [0.7, 0.7]]
    >>> round(five_by_two_f_test(a, b).statistic, 4)
    2.3333
    """
    gaps = _five_by_two(first, second)
    spread = float(_spreads(gaps).sum())
    top = float((gaps**2).sum())
    statistic = np.inf if spread == 0 and top > 0 else (0.0 if top == 0 else top / (2 * spread))
    mean = float(gaps.mean())
    nothing = Estimate(mean, -np.inf, np.inf, 0.95, np.nan, "the F test gives no interval")
    p = 1.0 if top == 0 else float(scipy.stats.f.sf(statistic, 10, 5))
    return PairTest("5 x 2 cv F test", nothing, statistic, p, 10, (10, 5))


def mcnemar_test(
    y: Any, first: Any, second: Any, method: str = "mid-p", confidence_level: float = 0.95
) -> PairTest:
    """Do two classifiers err equally often on the same test rows?

    Only rows that one has right and the other wrong count: b and c of them. If the error rates
    are equal, b is Binomial(b + c, 1/2). The exact test is conservative; its mid-p form holds the
    level closely. Says nothing of how training sets vary.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    first, second : array-like of shape (n,)
        Predictions of the two classifiers.
    method : {"mid-p", "exact", "chi2"}, default="mid-p"
        ``"chi2"`` is (|b - c| - 1)^2 / (b + c), for large counts.
    confidence_level : float, default=0.95

    Returns
    -------
    test : PairTest
        The difference is of the shares that are right; its interval is Bonett and Price's (2012).

    Examples
    --------
    >>> y = [0] * 20
    >>> found = mcnemar_test(y, [0] * 15 + [1] * 5, [0] * 9 + [1] * 6 + [0] * 5, "exact")
    >>> found.statistic, round(found.p, 5)
    (6.0, 1.0)
    """
    y, first = label_pair(y, first)
    _, second = label_pair(y, second)
    only_first = int(((first == y) & (second != y)).sum())
    only_second = int(((first != y) & (second == y)).sum())
    return mcnemar_of_counts(only_first, only_second, len(y), method, confidence_level)


def mcnemar_of_counts(
    only_first: int, only_second: int, n: int, method: str = "mid-p", confidence_level: float = 0.95
) -> PairTest:
    """McNemar's test from the numbers of rows that only one classifier has right.

    Parameters
    ----------
    only_first, only_second : int
        Rows that only the first, only the second has right.
    n : int
        Rows in all.
    method : {"mid-p", "exact", "chi2"}, default="mid-p"
    confidence_level : float, default=0.95

    Returns
    -------
    test : PairTest

    Examples
    --------
    >>> round(mcnemar_of_counts(12, 3, 100, "exact").p, 4)
    0.0352
    """
    b, c = only_first, only_second
    if min(b, c) < 0 or b + c > n or any(each != int(each) for each in (b, c, n)):
        raise DataError(f"{b} and {c} rows of {n} cannot be; give whole numbers of rows")
    discordant = b + c
    if method == "chi2":
        statistic = max(abs(b - c) - 1, 0) ** 2 / discordant if discordant else 0.0
        p = float(scipy.stats.chi2.sf(statistic, 1))
    elif method in ("exact", "mid-p"):
        statistic = float(b)
        p = _binomial_p(b, c, mid=method == "mid-p")
    else:
        raise DataError(f"method={method!r} is none of mid-p, exact, chi2")
    z = normal_quantile(confidence_level)
    more, less = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z * np.sqrt((more + less - (more - less) ** 2) / (n + 2))
    gap = (b - c) / n
    center = more - less
    error = float(np.sqrt((discordant - (b - c) ** 2 / n) / n**2))
    figure = Estimate(
        gap, float(center - half), float(center + half), confidence_level, error, "Bonett-Price"
    )
    test = f"McNemar's test ({method})"
    return PairTest(test, figure, float(statistic), p, discordant, remark=ROWS_ALONE)


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> PairTest:
    """Wilcoxon's signed-rank test of two learners over many tables (Demsar 2006).

    One pair of scores per table; the tables are independent. Needs no normal law, but differences
    of comparable size. Do not use it on the folds of one table. Zero differences are split
    evenly between both sides.

    Parameters
    ----------
    first, second : array-like of shape (n_tables,)

    Returns
    -------
    test : PairTest
        The difference is the median one, its interval that of the signed ranks (Hodges-Lehmann):
        zero is outside where p is below 0.05, and at most an end of it where differences are tied.

    Examples
    --------
    >>> round(wilcoxon_test([5, 7, 8, 6, 9, 7], [4, 5, 5, 2, 4, 1]).p, 5)
    0.03125
    """
    gaps = paired_differences(first, second)
    figure = _walsh(gaps)
    if not gaps.any():
        return PairTest("Wilcoxon's signed-rank test", figure, 0.0, 1.0, len(gaps))
    found = scipy.stats.wilcoxon(gaps, zero_method="zsplit")
    return PairTest(
        "Wilcoxon's signed-rank test",
        figure,
        float(found.statistic),
        float(found.pvalue),
        len(gaps),
    )


def sign_test(first: ArrayLike, second: ArrayLike, mid: bool = False) -> PairTest:
    """On how many tables does the first learner win? Wins are Binomial(n, 1/2) if they are equal.

    The weakest assumptions and the weakest power. Ties are left out of the count, and said.

    Parameters
    ----------
    first, second : array-like of shape (n_tables,)
    mid : bool, default=False
        The mid-p form: less conservative, but for some n a little above its level.

    Returns
    -------
    test : PairTest
        The difference is the share of wins minus the share of losses.

    Examples
    --------
    >>> found = sign_test([3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 9])
    >>> found.statistic, round(found.p, 5)
    (5.0, 0.21875)
    """
    gaps = paired_differences(first, second)
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    n = len(gaps)
    share = share_interval(wins, max(wins + losses, 1))
    decided = (wins + losses) / n
    figure = Estimate(
        (wins - losses) / n,
        (2 * share.low - 1) * decided,
        (2 * share.high - 1) * decided,
        0.95,
        np.nan,
        f"{share.how}, of the share of wins",
    )
    ties = n - wins - losses
    remark = f"{ties} ties of {n} are left out" if ties else ""
    return PairTest(
        "Sign test",
        figure,
        float(wins),
        _binomial_p(wins, losses, mid),
        wins + losses,
        None,
        remark,
    )


def paired_differences(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """First minus second, of as many finite scores."""
    first, second = finite_column(first, "first scores"), finite_column(second, "second scores")
    if len(first) != len(second):
        raise DataError(
            f"{len(first)} scores cannot be paired with {len(second)}: both learners need the "
            "same folds"
        )
    if len(first) < 2:
        raise DataError("one pair of scores has no spread; two folds are the least")
    return first - second


def _student(
    test: str,
    gaps: np.ndarray,
    error: float,
    freedom: int,
    confidence_level: float,
    shown: float | None = None,
) -> PairTest:
    gap = float(gaps.mean()) if shown is None else shown
    half = student_quantile(confidence_level, freedom) * error
    figure = Estimate(gap, gap - half, gap + half, confidence_level, error, test)
    if error == 0:
        statistic = 0.0 if gap == 0 else float(np.copysign(np.inf, gap))
        p = 1.0 if gap == 0 else 0.0
    else:
        statistic = gap / error
        p = float(2 * stdtr(freedom, -abs(statistic)))
    return PairTest(test, figure, statistic, p, len(gaps), freedom)


def _five_by_two(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    gaps = np.subtract(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    if gaps.shape == (10,):
        gaps = gaps.reshape(5, 2)
    if gaps.shape != (5, 2) or not np.isfinite(gaps).all():
        raise DataError(
            f"5 x 2 tests need ten finite scores, by repetition and fold, not {gaps.shape}"
        )
    return gaps


def _spreads(gaps: np.ndarray) -> np.ndarray:
    return ((gaps - gaps.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def _binomial_p(wins: int, losses: int, mid: bool) -> float:
    """Two-sided p of wins and losses under a fair coin; the mid-p form counts the observed half."""
    n, fewer = wins + losses, min(wins, losses)
    if n == 0:
        return 1.0
    below = float(bdtr(fewer, n, 0.5))
    if not mid:
        return min(2 * below, 1.0)
    return min(below + (float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0), 1.0)


def _walsh(gaps: np.ndarray, confidence_level: float = 0.95) -> Estimate:
    """Median of the means of all pairs, with the interval of Wilcoxon's statistic."""
    n = len(gaps)
    i, j = np.triu_indices(n)
    means = np.sort((gaps[i] + gaps[j]) / 2)
    cut = _signed_rank_cut(n, confidence_level)
    how = "Hodges-Lehmann"
    if cut < 1:
        return Estimate(float(np.median(means)), -np.inf, np.inf, confidence_level, np.nan, how)
    return Estimate(
        float(np.median(means)),
        float(means[cut - 1]),
        float(means[-cut]),
        confidence_level,
        np.nan,
        how,
    )


def _signed_rank_cut(n: int, confidence_level: float) -> int:
    """How many values of Wilcoxon's statistic, from zero on, are rejected on either side.

    By the law that the p-value has: exact to 50 differences, normal beyond.
    """
    tail = (1 - confidence_level) / 2
    if n > MOST_FOR_EXACT_RANKS:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return int(np.floor(n * (n + 1) / 4 - normal_quantile(confidence_level) * spread)) + 1
    law = np.ones(1)
    for rank in range(1, n + 1):
        law = (np.pad(law, (0, rank)) + np.pad(law, (rank, 0))) / 2
    return int((np.cumsum(law) <= tail).sum())
