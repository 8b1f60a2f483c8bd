"""Leaderboards: many learners on the same folds, and which of their differences are real.

Every pair is compared by the corrected resampled t test, all p-values are corrected together, and
the baseline is in the list. Texts: 003 2.1.7.2 (compare on the same folds), 2.6 (table of
learners).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from sklearn.base import is_classifier, is_regressor

from gnomon.contract.estimate import Estimate, check_level, float_array
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor
from gnomon.evaluate.comparison import check_rope, check_test_share
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.cross_validation_result import CrossValidation
from gnomon.evaluate.fold_run import Problem, check_learner
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.significance import adjusted_p_values
from gnomon.evaluate.splits import as_splits

BASELINE = "baseline"


@dataclass(repr=False)
class Differences(Result):
    """Every pair of learners: difference, interval, corrected p, and whether it is real.

    Attributes
    ----------
    names : list of str
        Best first.
    means : ndarray of shape (m,)
    first, second : ndarray of int
        Places in `names` of the two of each pair; the first is the better one.
    difference, error, p, adjusted_p : ndarray
        Of each pair; `error` is the corrected standard error.
    equal : ndarray or None
        Probability that the difference is within `rope` (Bayesian correlated t).
    greater_is_better : bool
    correction : str
    confidence_level : float
    rope : float or None
    degrees_of_freedom : int
    left_out : list of str
        Learners without a score in every fold.
    infinite : list of str
        Learners with an infinite score, whose differences have no spread; left out, too.
    """

    names: list[str]
    means: np.ndarray
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    error: np.ndarray
    p: np.ndarray
    adjusted_p: np.ndarray
    equal: np.ndarray | None
    greater_is_better: bool
    correction: str
    confidence_level: float
    rope: float | None
    degrees_of_freedom: int
    left_out: list[str]
    infinite: list[str] = field(default_factory=list)

    @property
    def real(self) -> np.ndarray:
        """Which differences are real at the level, all comparisons counted."""
        return self.adjusted_p < 1 - self.confidence_level

    def between(self, one: str, other: str) -> tuple[Estimate, float]:
        """The difference of two learners (first named minus second) and its corrected p.

        Parameters
        ----------
        one, other : str

        Returns
        -------
        difference : Estimate
        adjusted_p : float
        """
        i, j = (self._place(each) for each in (one, other))
        if i == j:
            raise DataError(f"{one!r} cannot be compared with itself")
        pair = np.flatnonzero((self.first == min(i, j)) & (self.second == max(i, j)))[0]
        figure = self._figure(pair)
        if i > j:
            figure = figure._replace(value=-figure.value, low=-figure.high, high=-figure.low)
        return figure, float(self.adjusted_p[pair])

    def as_good_as_best(self) -> list[str]:
        """The best learner and those that do not differ significantly from it.

        Returns
        -------
        names : list of str
        """
        rest = (self.first == 0) & ~self.real
        return [self.names[0], *(self.names[j] for j in self.second[rest])]

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise DataError(f"there is no learner {name!r} among the compared ones")
        return self.names.index(name)

    def _figure(self, pair: int) -> Estimate:
        half = (
            float(scipy.stats.t.ppf(0.5 + self.confidence_level / 2, self.degrees_of_freedom))
            * self.error[pair]
        )
        gap = float(self.difference[pair])
        how = "corrected resampled t"
        return Estimate(
            gap, gap - half, gap + half, self.confidence_level, float(self.error[pair]), how
        )

    def _title(self) -> str:
        return (
            f"{int(self.real.sum()):,} of {len(self.p):,} differences between "
            f"{len(self.names):,} learners are significant at a confidence level of "
            f"{self.confidence_level:.0%} ({self.correction})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return self._lines(slice(None))

    def _preview(self, most: int) -> tuple[dict[str, list[Any]], int]:
        return self._lines(slice(most)), len(self.p)

    def _lines(self, part: slice) -> dict[str, list[Any]]:
        gap = self.difference[part]
        half = (
            scipy.stats.t.ppf(0.5 + self.confidence_level / 2, self.degrees_of_freedom)
            * self.error[part]
        )
        columns: dict[str, list[Any]] = {
            "better": [self.names[i] for i in self.first[part]],
            "worse": [self.names[j] for j in self.second[part]],
            "difference": gap.tolist(),
            "low": (gap - half).tolist(),
            "high": (gap + half).tolist(),
            "p": self.p[part].tolist(),
            "corrected p": self.adjusted_p[part].tolist(),
            "real": self.real[part].tolist(),
        }
        if self.equal is not None:
            columns[f"P(within {self.rope:g})"] = self.equal[part].tolist()
        return columns

    def _remarks(self) -> list[str]:
        as_good = self.as_good_as_best()
        remarks = []
        if len(as_good) > 1:
            shown = ", ".join(as_good[1:9]) + (" ..." if len(as_good) > 9 else "")
            remarks.append(f"No difference shown from the best, {as_good[0]}: {shown}")
        if self.left_out:
            remarks.append(f"Left out, as folds failed: {', '.join(self.left_out)}")
        if self.infinite:
            remarks.append(f"Left out, as scores are infinite: {', '.join(self.infinite)}")
        return remarks


def compare_scores(
    scores: Mapping[str, Any],
    test_share: float,
    *,
    greater_is_better: bool = True,
    correction: str = "holm",
    rope: float | None = None,
    confidence_level: float = 0.95,
) -> Differences:
    """Compare learners pair by pair from their scores on the same folds.

    The corrected resampled t test of every pair, with one correction for all of them. Learners
    with a missing or an infinite score are left out, and named.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_folds,)
    test_share : float
        n_test / n_train of the folds.
    greater_is_better : bool, default=True
    correction : str, default="holm"
        A method of `adjusted_p_values`.
    rope : float, default=None
        Give also the probability that a difference is smaller than this.
    confidence_level : float, default=0.95

    Returns
    -------
    differences : Differences

    Examples
    --------
    >>> found = compare_scores({"a": [0.9, 0.92, 0.91], "b": [0.5, 0.53, 0.5]}, 1 / 2)
    >>> found.real.tolist()
    [True]
    """
    check_level(confidence_level)
    check_test_share(test_share)
    if rope is not None:
        check_rope(rope)
    names, table, left_out, infinite = _complete(scores)
    if len(names) < 2:
        raise DataError(
            f"{len(names)} learner has finite scores in every fold; two are needed to compare"
        )
    order = np.argsort(-table.mean(axis=1) * (1 if greater_is_better else -1), kind="stable")
    table = table[order]
    m, n_folds = table.shape
    if n_folds < 2:
        raise DataError("one fold has no spread; compare on two folds at least")
    first, second = np.triu_indices(m, 1)
    gap, spread = _pair_moments(table)
    error = np.sqrt((1 / n_folds + test_share) * spread)
    freedom = n_folds - 1
    p = _two_sided(gap, error, freedom)
    equal = None
    if rope is not None:
        equal = _within(gap, error, rope, freedom)
    return Differences(
        [names[i] for i in order],
        table.mean(axis=1),
        first,
        second,
        gap,
        error,
        p,
        adjusted_p_values(p, correction),
        equal,
        greater_is_better,
        correction,
        confidence_level,
        rope,
        freedom,
        left_out,
        infinite,
    )


@dataclass(repr=False)
class Leaderboard(Result):
    """Learners on the same folds, best first.

    Attributes
    ----------
    results : list of CrossValidation
        Best first; those that failed everywhere last.
    measure : str
    greater_is_better : bool
    """

    results: list[CrossValidation]
    measure: str
    greater_is_better: bool

    def __getitem__(self, name: str) -> CrossValidation:
        """The result of a learner."""
        found = next((each for each in self.results if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.results)
            raise DataError(f"there is no learner {name!r} on the board; there are {known}")
        return found

    @property
    def names(self) -> list[str]:
        """Learners, best first."""
        return [each.name for each in self.results]

    @property
    def best(self) -> CrossValidation:
        """The result of the best learner; its score is too good by its being chosen."""
        return self.results[0]

    def differences(
        self, *, correction: str = "holm", rope: float | None = None, confidence_level: float = 0.95
    ) -> Differences:
        """Which differences are real; see `compare_scores`.

        Parameters
        ----------
        correction : str, default="holm"
        rope : float, default=None
        confidence_level : float, default=0.95

        Returns
        -------
        differences : Differences
        """
        return compare_scores(
            {each.name: each.scores[self.measure] for each in self.results},
            self.results[0].test_share,
            greater_is_better=self.greater_is_better,
            correction=correction,
            rope=rope,
            confidence_level=confidence_level,
        )

    def beats_baseline(self, name: str | None = None, confidence_level: float = 0.95) -> bool:
        """Whether a learner (the best by default) is better than the baseline beyond chance.

        Parameters
        ----------
        name : str, default=None
        confidence_level : float, default=0.95

        Returns
        -------
        beats : bool
        """
        check_level(confidence_level)
        chosen, base = self.best if name is None else self[name], self[BASELINE]
        ahead = chosen.mean_over_folds() - base.mean_over_folds()
        better = ahead > 0 if self.greater_is_better else ahead < 0
        return better and chosen.p_against(base) < 1 - confidence_level

    def _title(self) -> str:
        return f"{self.measure} of {len(self.results)} learners, {self.results[0].splits.how}"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"learner": self.names}
        columns[self.measure] = [each.figure(self.measure) for each in self.results]
        columns["p against best"] = [self._p(each) for each in self.results]
        columns["fit s"] = [each.fit_seconds / len(each.folds) for each in self.results]
        columns["predict s"] = [each.predict_seconds / len(each.folds) for each in self.results]
        if not all(np.isnan(each.peak_memory) for each in self.results):
            columns["peak MB"] = [each.peak_memory / 1e6 for each in self.results]
        columns["failed folds"] = [int(np.isnan(each).sum()) for each in self._scores()]
        return columns

    def _scores(self) -> list[np.ndarray]:
        return [each.scores[self.measure] for each in self.results]

    def _p(self, result: CrossValidation) -> float | None:
        both = len(result.values) > 1 and len(self.best.values) > 1
        p = np.nan if result is self.best or not both else result.p_against(self.best)
        return None if np.isnan(p) else p

    def _remarks(self) -> list[str]:
        remarks = ["p: corrected resampled t test, each for itself; differences() counts all pairs"]
        infinite = [
            f"{name} ({int(np.isinf(scores).sum())} of {len(scores)} folds)"
            for name, scores in zip(self.names, self._scores())
            if np.isinf(scores).any()
        ]
        if infinite:
            remarks.append(f"{self.measure} is infinite, so there is no p: {', '.join(infinite)}")
        for each in self.results:
            remarks += [f"{each.name}: {remark}" for remark in each.failure_remarks()]
        return remarks


def leaderboard(
    estimators: Mapping[str, Any] | list[Any],
    X: Any,
    y: Any = None,
    *,
    cv: Any = "auto",
    measures: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    baseline: bool = True,
    measure_memory: bool = False,
    pair_fits: int | str = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
) -> Leaderboard:
    """Cross-validate several learners on the same folds, the baseline among them.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list of estimators
    X : array-like, sparse matrix, data frame or Table of shape (n, d)
    y : array-like or str, default=None
        The target, or the name of its column in X.
    cv : "auto", int, Splits, splitter or list of pairs, default="auto"
    measures : str, Measure, Loss, callable or list of these, default=None
        The first one ranks.
    groups : array-like of shape (n,), default=None
    sample_weight : array-like of shape (n,), default=None
    baseline : bool, default=True
        Add the baseline, which looks at no column.
    measure_memory : bool, default=False
    pair_fits : int or "auto", default="auto"
        Further fits for the intervals; see `cross_validation_estimates`. Comparisons do not need
        them.
    random_state : int or None, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None
        True for a bar; a function is called as ``progress(done, total)`` over all folds.
    folder : str or Path, default=None
        Results are kept there, one folder per learner; a killed run goes on.

    Returns
    -------
    board : Leaderboard

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> board = leaderboard([GaussianNB()], *load_iris(return_X_y=True), cv=5)
    >>> board.names
    ['GaussianNB', 'baseline']
    """
    chosen = named(estimators)
    if baseline and BASELINE not in chosen:
        one = next(iter(chosen.values()))
        chosen[BASELINE] = BaselineClassifier() if is_classifier(one) else BaselineRegressor()
    problem = Problem.of(next(iter(chosen.values())), X, y, groups, sample_weight)
    plan = as_splits(cv, problem.n_rows, problem.strata, groups, random_state)
    results, total = [], len(chosen) * len(plan)
    with told(progress, "folds") as tell:
        for place, (name, learner) in enumerate(chosen.items()):

            def tell_all(done: int, _: int, before: int = place * len(plan)) -> None:
                tell(before + done, total)

            found = cross_validation_estimates(
                learner,
                problem.X,
                problem.y,
                cv=plan,
                measures=measures,
                sample_weight=sample_weight,
                measure_memory=measure_memory,
                pair_fits=pair_fits,
                random_state=random_state,
                n_jobs=n_jobs,
                progress=tell_all,
                folder=None if folder is None else Path(folder) / f"{place:03d}",
                name=name,
            )
            results.append(found)
    return ranked(results)


def ranked(results: list[CrossValidation]) -> Leaderboard:
    """The board of results on the same folds.

    Parameters
    ----------
    results : list of CrossValidation

    Returns
    -------
    board : Leaderboard
    """
    measure = results[0].measures[0]
    sign = -1.0 if measure.greater_is_better else 1.0
    means = np.array([each.figure(measure.name).value for each in results])
    order = np.argsort(np.where(np.isnan(means), np.inf, sign * means), kind="stable")
    return Leaderboard([results[i] for i in order], measure.name, measure.greater_is_better)


def named(learners: Mapping[str, Any] | list[Any]) -> dict[str, Any]:
    """Learners by name; those of a list by their class, numbered where it occurs again."""
    if not isinstance(learners, (Mapping, Sequence)):
        raise DataError(f"{learners!r} is no list of learners; give [learner] or {{name: learner}}")
    if isinstance(learners, Mapping):
        found = {str(name): learner for name, learner in learners.items()}
    else:
        found = {}
        for learner in learners:
            name, number = type(learner).__name__, 2
            while name in found:
                name, number = f"{type(learner).__name__} {number}", number + 1
            found[name] = learner
    if not found:
        raise DataError("there is no learner to evaluate")
    for learner in found.values():
        check_learner(learner)
    _check_of_one_kind(found)
    return found


def _check_of_one_kind(learners: dict[str, Any]) -> None:
    """Refuse classifiers beside regressors: no measure is of both."""
    classifiers = [name for name, each in learners.items() if is_classifier(each)]
    regressors = [name for name, each in learners.items() if is_regressor(each)]
    if classifiers and regressors:
        raise DataError(
            f"{classifiers[0]} predicts classes and {regressors[0]} numbers, which no measure "
            "compares; give learners of one kind"
        )


def _complete(scores: Mapping[str, Any]) -> tuple[list[str], np.ndarray, list[str], list[str]]:
    """Learners with finite scores and these, those with missing and those with infinite ones."""
    if not hasattr(scores, "items"):
        raise DataError("give scores by the learners' names: {'one': [...], 'other': [...]}")
    columns = {name: float_array(values, f"scores of {name}") for name, values in scores.items()}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"learners have different numbers of folds: {sorted(lengths)}")
    whole = {name: v for name, v in columns.items() if np.isfinite(v).all()}
    left_out = [name for name, v in columns.items() if np.isnan(v).any()]
    infinite = [name for name in columns if name not in whole and name not in left_out]
    return list(whole), np.array(list(whole.values())), left_out, infinite


def _pair_moments(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the fold-wise differences of all pairs i < j."""
    gaps, spreads = [], []
    for i in range(len(table) - 1):
        rest = table[i] - table[i + 1 :]
        gaps.append(rest.mean(axis=1))
        spreads.append(rest.var(axis=1, ddof=1))
    return np.concatenate(gaps), np.concatenate(spreads)


def _two_sided(gap: np.ndarray, error: np.ndarray, freedom: int) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(gap) / error
    return np.where(gap == 0, 1.0, 2 * scipy.stats.t.sf(t, freedom))


def _within(gap: np.ndarray, error: np.ndarray, rope: float, freedom: int) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = scipy.stats.t.cdf((rope - gap) / error, freedom) - scipy.stats.t.cdf(
            (-rope - gap) / error, freedom
        )
    return np.where(error > 0, inside, (np.abs(gap) <= rope).astype(float))
