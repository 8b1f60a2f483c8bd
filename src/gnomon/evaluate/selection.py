"""Choosing a learner, and the honest score of the choice.

The score by which a learner was chosen is too good: the best of many noisy scores is partly
luck. So the score comes from rows that had no part in the choice: a test set used once
(`three_way`), or an outer cross-validation (`nested_cross_validation`).

Texts: 000a 1.3.1 (procedure 1.1) · 000b 12.2.7 · 001 7.3.1, 7.3.2 · 002 "Train, validation, test" ·
003 2.1.7.1 · 004 3.1, 3.2, 5.2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.cross_validation import cross_validation_estimates, scored
from gnomon.evaluate.cross_validation_result import CrossValidation, gap_figure
from gnomon.evaluate.fold_run import FoldWork, Problem, run_folds, seeded
from gnomon.evaluate.intake import label_column
from gnomon.evaluate.leaderboard import Leaderboard, leaderboard, named
from gnomon.evaluate.measures import Measure, as_measures, one_measure
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.run_folder import RunFolder
from gnomon.evaluate.significance import Significance, significance
from gnomon.evaluate.splits import Splits, as_splits, hold_out_split
from gnomon.table.grid import take_rows

RULES = ("best", "one-standard-error")


class HoldOut:
    """Rows held out to judge by, with a count of how often they were used.

    Each look at the same rows to choose something makes their verdict more optimistic; the count
    is printed with every figure. `refit` gives the model to ship, trained on all rows.

    Parameters
    ----------
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    test_share : float, default=0.2
        A fifth, by the rule of thumb of 001 7.3.1.
    stratify : bool, default=True
        Keep the shares of the classes, for classifiers.
    random_state : int, default=0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> held = HoldOut(*load_iris(return_X_y=True))
    >>> figure = held.evaluate(GaussianNB())
    >>> held.uses
    1
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        test_share: float = 0.2,
        *,
        stratify: bool = True,
        random_state: int = 0,
    ):
        self.X = X
        self.y = y
        self.test_share = test_share
        self.stratify = stratify
        self.random_state = random_state
        self.uses = 0
        self.splits: Splits | None = None

    def evaluate(self, learner: Any, measure: Any = None) -> Estimate:
        """Fit on the other rows, measure on the held-out ones; counts as one use.

        Parameters
        ----------
        learner : estimator
        measure : str, Measure, Loss or callable, default=None

        Returns
        -------
        figure : Estimate
        """
        problem = Problem.of(learner, self.X, self.y, None, None)
        if self.splits is None:
            labels = problem.strata if self.stratify else None
            self.splits = hold_out_split(
                problem.n_rows, self.test_share, stratify=labels, random_state=self.random_state
            )
        found = cross_validation_estimates(
            learner,
            problem.X,
            problem.y,
            cv=self.splits,
            measures=measure,
            random_state=self.random_state,
        )
        if len(found.values) == 0:
            raise DataError(f"the learner failed: {found.failures[0]}")
        self.uses += 1
        return found.figure()

    def refit(self, learner: Any) -> Any:
        """The learner fitted on all rows, to be shipped.

        Parameters
        ----------
        learner : estimator

        Returns
        -------
        model : estimator
        """
        problem = Problem.of(learner, self.X, self.y, None, None)
        return seeded(learner, self.random_state, 0).fit(problem.X, problem.y)

    def __repr__(self) -> str:
        return f"HoldOut({self.test_share:.0%} of the rows, used {self.uses} times)"


@dataclass(repr=False)
class Choice(Result):
    """A learner chosen among candidates, fitted again, and judged on rows kept for that.

    Attributes
    ----------
    name : str
    model : estimator
        Fitted on all rows but the test rows.
    board : Leaderboard
        The scores that it was chosen by.
    test : Estimate
        Its score on the test rows.
    validation_uses : int
        How many candidates were judged by the validation rows.
    """

    name: str
    model: Any
    board: Leaderboard
    test: Estimate
    validation_uses: int

    @property
    def optimism(self) -> float:
        """Score by which it was chosen, minus that on the test rows; part of it is chance."""
        return self.board[self.name].mean - self.test.value

    def _title(self) -> str:
        return (
            f"{self.name} was chosen; {self.board.measure} on the test rows, used once: {self.test}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return self.board._columns()

    def _remarks(self) -> list[str]:
        return [
            f"The validation rows judged {self.validation_uses} candidates: the winner's score "
            "there is too good, the test score is not"
        ]


def three_way(
    candidates: Mapping[str, Any] | list[Any],
    X: Any,
    y: Any,
    *,
    validation: Any = 0.2,
    test_share: float = 0.2,
    measure: Any = None,
    rule: str = "best",
    complexity: Mapping[str, float] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Choice:
    """Choose on validation rows, fit again on training and validation rows, test once.

    Parameters
    ----------
    candidates : mapping of str to estimator, or list of estimators
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    validation : float, or anything that `cross_validation_estimates` takes as splits, default=0.2
        A share of all rows held out once (002), or a number of folds of the rows that are not
        test rows (000a procedure 1.1).
    test_share : float, default=0.2
        Rows put aside first, looked at once, after the choice.
    measure : str, Measure, Loss or callable, default=None
    rule : {"best", "one-standard-error"}, default="best"
        See `one_standard_error`, which needs `complexity`.
    complexity : mapping of str to float, default=None
    random_state : int, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None

    Returns
    -------
    choice : Choice

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> candidates = {f"k = {k}": KNeighborsClassifier(k) for k in (1, 5, 50)}
    >>> chosen = three_way(candidates, *load_iris(return_X_y=True), validation=5)
    >>> chosen.validation_uses
    3
    """
    learners = named(candidates)
    problem = Problem.of(next(iter(learners.values())), X, y, None, None)
    outer = hold_out_split(
        problem.n_rows, test_share, stratify=problem.strata, random_state=random_state
    )
    train = outer[0][0]
    rows, labels, _ = problem.part(train)
    inner = _inner_splits(validation, problem, train, test_share, random_state)
    board = leaderboard(
        learners,
        rows,
        labels,
        cv=inner,
        measures=measure,
        baseline=False,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    name = _chosen(board, rule, complexity)
    final = cross_validation_estimates(
        learners[name],
        problem.X,
        problem.y,
        cv=outer,
        measures=measure,
        random_state=random_state,
        keep_models=True,
        name=name,
    )
    if len(final.values) == 0:
        raise DataError(f"the chosen learner failed on the test rows: {final.failures[0]}")
    return Choice(name, final.models[0], board, final.figure(), len(learners))


@dataclass(repr=False)
class Nested(Result):
    """The score of a way of choosing, by cross-validation around the choice.

    Attributes
    ----------
    outer : CrossValidation
        Of the whole procedure: choose, fit again, test.
    chosen : list of str
        The candidate chosen in each outer fold.
    inner : ndarray
        The winner's inner score in each outer fold, which is too good.
    """

    outer: CrossValidation
    chosen: list[str]
    inner: np.ndarray

    @property
    def figure(self) -> Estimate:
        """The score of the procedure on rows that had no part in the choice."""
        return self.outer.figure()

    @property
    def optimism(self) -> Estimate:
        """Inner minus outer score over the folds: how far the winner's own score misleads."""
        scores = self.outer.scores[self.outer.measures[0].name]
        return gap_figure(self.inner, scores, self.outer.test_share)

    def _title(self) -> str:
        measure = self.outer.measures[0].name
        return f"{measure} of choosing among candidates: {self.figure} ({self.outer.splits.how})"

    def _columns(self) -> dict[str, list[Any]]:
        scores = self.outer.scores[self.outer.measures[0].name]
        return {
            "outer fold": list(range(len(scores))),
            "chosen": self.chosen,
            "inner score": self.inner.tolist(),
            "outer score": scores.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [f"The inner score of the winner is off by {self.optimism}", *self.outer._remarks()]


def nested_cross_validation(
    candidates: Mapping[str, Any] | list[Any],
    X: Any,
    y: Any,
    *,
    outer: Any = 5,
    inner: Any = 5,
    measure: Any = None,
    rule: str = "best",
    complexity: Mapping[str, float] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
) -> Nested:
    """How good is the best of these candidates, the choosing included?

    In every outer fold the candidates are cross-validated on the training rows alone, the winner
    is fitted on all of them and tested. Costs outer x (inner x candidates + 1) fits.

    Parameters
    ----------
    candidates : mapping of str to estimator, or list of estimators
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    outer : "auto", int, Splits, splitter or list of pairs, default=5
    inner : int, default=5
        Folds of the choice, stratified for classes; of whole groups, where there are groups.
    measure : str, Measure, Loss or callable, default=None
    rule : {"best", "one-standard-error"}, default="best"
    complexity : mapping of str to float, default=None
        For the one-standard-error rule.
    groups : array-like of shape (n,), default=None
        Rows of a group stay together, in the outer and in the inner folds.
    sample_weight : array-like of shape (n,), default=None
        Given to every ``fit``; measures are not weighted.
    random_state : int, default=0
    n_jobs : int or None, default=None
        Outer folds side by side.
    progress : bool or callable, default=None
    folder : str or Path, default=None
        Outer folds are kept there as they come; the same call goes on where a killed one ended.

    Returns
    -------
    nested : Nested

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> candidates = {f"k = {k}": KNeighborsClassifier(k) for k in (1, 5, 50)}
    >>> found = nested_cross_validation(candidates, *load_iris(return_X_y=True), outer=3, inner=3)
    >>> len(found.chosen)
    3
    """
    learners = named(candidates)
    problem = Problem.of(next(iter(learners.values())), X, y, groups, sample_weight)
    splits = as_splits(outer, problem.n_rows, problem.strata, groups, random_state)
    if groups is not None:
        problem.more["groups"] = label_column(groups, "groups")
    chooser = Chooser(learners, inner, measure, rule, complexity, random_state)
    measures = as_measures(measure, problem.task)
    keep = folder is None
    work = FoldWork(chooser, problem, [*measures, PLACE, INNER], False, keep, False, None)
    store = None if folder is None else RunFolder(folder, work.plan(splits))
    folds = run_folds(work, splits, len(splits), store, n_jobs, progress, "outer folds")
    found = scored("choice", splits, measures, problem, folds, False)
    places = [fold.values.get(PLACE.name) for fold in folds]
    chosen = ["-" if place is None else list(learners)[int(place)] for place in places]
    inner_scores = [fold.values.get(INNER.name, np.nan) for fold in folds]
    return Nested(found, chosen, np.array(inner_scores))


class Chooser:
    """A learner that is the choice itself: cross-validate candidates, fit the winner again."""

    def __init__(
        self,
        learners: dict[str, Any],
        inner: Any,
        measure: Any,
        rule: str,
        complexity: Mapping[str, float] | None,
        random_state: int,
    ) -> None:
        self.learners = learners
        self.inner = inner
        self.measure = measure
        self.rule = rule
        self.complexity = complexity
        self.random_state = random_state

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {
            "learners": self.learners,
            "inner": self.inner,
            "measure": self.measure,
            "rule": self.rule,
            "complexity": self.complexity,
            "random_state": self.random_state,
        }

    def __sklearn_clone__(self) -> Chooser:
        return Chooser(**self.get_params())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Chooser:
        board = leaderboard(
            self.learners,
            X,
            y,
            cv=self.inner,
            measures=self.measure,
            groups=groups,
            sample_weight=sample_weight,
            baseline=False,
            pair_fits=0,
            random_state=self.random_state,
        )
        self.chosen_ = _chosen(board, self.rule, self.complexity)
        self.place_ = list(self.learners).index(self.chosen_)
        self.inner_ = board[self.chosen_].mean
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        model = seeded(self.learners[self.chosen_], self.random_state, 0)
        self.model_ = model.fit(X, y, **weights)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "decision_function", "classes_"):
            return getattr(self.__dict__["model_"], name)
        raise AttributeError(name)


PLACE = Measure("place of the chosen", lambda chooser, X, y: chooser.place_, "estimator")
INNER = Measure("inner score", lambda chooser, X, y: chooser.inner_, "estimator")


def one_standard_error(
    means: ArrayLike, errors: ArrayLike, complexity: ArrayLike, *, greater_is_better: bool = False
) -> int:
    """The simplest model that is within one standard error of the best (Breiman et al. 1984).

    Parameters
    ----------
    means : array-like of shape (m,)
        Cross-validated scores.
    errors : array-like of shape (m,)
        Their standard errors.
    complexity : array-like of shape (m,)
        Larger for more complex models; of equal ones the better is taken.
    greater_is_better : bool, default=False

    Returns
    -------
    place : int

    Examples
    --------
    >>> one_standard_error([0.30, 0.22, 0.20, 0.21], [0.03] * 4, [1, 2, 3, 4])
    1
    """
    means, errors = np.asarray(means, dtype=float), np.asarray(errors, dtype=float)
    complexity = np.asarray(complexity, dtype=float)
    if not len(means) == len(errors) == len(complexity) or len(means) == 0:
        raise DataError("means, errors and complexities must be of the same models")
    losses = -means if greater_is_better else means
    if np.isnan(losses).all():
        raise DataError("no model has a score")
    best = int(np.nanargmin(losses))
    near = losses <= losses[best] + np.nan_to_num(errors[best])
    order = np.lexsort([losses, complexity])
    return int(next(place for place in order if near[place]))


def complexity_penalized(errors: ArrayLike, complexity: ArrayLike, weight: float) -> int:
    """The model of least training error plus weight x complexity (Occam's razor, 004 3.1).

    A penalty is a prior over models: exp(-weight x complexity) up to a factor (003 2.5.7).

    Parameters
    ----------
    errors : array-like of shape (m,)
        Training errors.
    complexity : array-like of shape (m,)
        Parameters, depth, norm ...
    weight : float
        Error that one unit of complexity must save.

    Returns
    -------
    place : int

    Examples
    --------
    >>> complexity_penalized([0.5, 0.2, 0.19], [1, 2, 10], weight=0.01)
    1
    """
    errors, complexity = np.asarray(errors, dtype=float), np.asarray(complexity, dtype=float)
    if errors.shape != complexity.shape or errors.ndim != 1 or len(errors) == 0:
        raise DataError("errors and complexities must be of the same models")
    if not weight >= 0:
        raise DataError(f"weight={weight} must not be negative")
    return int(np.argmin(errors + weight * complexity))


def label_permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    measure: Any = None,
    n_permutations: int = 200,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
) -> Significance:
    """Has the learner learnt anything? Its score beside those on shuffled targets.

    The null hypothesis is that columns and target are independent; p = (b + 1) / (m + 1) with b
    of m shuffles scoring at least as well, infinite scores among them. Rows of columns are shuffled
    against the target, so that folds stratified by the target remain so. Costs m + 1
    cross-validations.

    Parameters
    ----------
    estimator : estimator
    X : array-like, frame or Table of shape (n, d)
    y : array-like or str
    cv : "auto", int, Splits, splitter or list of pairs, default=5
    measure : str, Measure, Loss or callable, default=None
    n_permutations : int, default=200
    random_state : int, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None
    folder : str or Path, default=None
        Results are kept there, one folder per shuffle; the same call goes on where a killed one
        ended.

    Returns
    -------
    found : Significance

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> label_permutation_test(GaussianNB(), *load_iris(return_X_y=True), n_permutations=19).p
    0.05
    """
    problem = Problem.of(estimator, X, y, None, None)
    plan = as_splits(cv, problem.n_rows, problem.strata, None, random_state)
    chosen = one_measure(measure, problem.task)
    if n_permutations < 1:
        raise DataError(f"n_permutations={n_permutations}: one is the least, 200 a good number")
    seeds = np.random.SeedSequence(random_state).spawn(n_permutations)

    def score(number: int) -> float:
        rows = problem.X
        if number:
            order = np.random.default_rng(seeds[number - 1]).permutation(problem.n_rows)
            rows = take_rows(rows, order)
        found = cross_validation_estimates(
            estimator,
            rows,
            problem.y,
            cv=plan,
            measures=chosen,
            pair_fits=0,
            random_state=random_state,
            n_jobs=1,
            folder=None if folder is None else Path(folder) / f"{number:04d}",
        )
        if len(found.values) == 0:
            raise DataError(f"the learner failed in every fold: {found.failures[0]}")
        return found.mean

    values = []
    with told(progress, "shuffles") as tell:
        for done, value in enumerate(
            in_order(score, range(n_permutations + 1), n_jobs, anywhere=True)
        ):
            values.append(value)
            tell(done, n_permutations)
    scores = np.array(values)
    ordered = _finite_in_order(scores)
    found = significance(
        ordered[0],
        ordered[1:],
        alternative="greater" if chosen.greater_is_better else "less",
        test=f"{type(estimator).__name__}, {chosen.name} against shuffled targets",
        effects={"mean of shuffled": float(scores[1:].mean())},
    )
    return replace(found, statistic=float(scores[0]), null=scores[1:])


def _finite_in_order(values: np.ndarray) -> np.ndarray:
    """Values with finite stand-ins for infinite ones, which keep their order: p is of ranks."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    beyond = 1 + high - low
    return np.clip(values, low - beyond, high + beyond)


def _inner_splits(
    validation: Any, problem: Problem, train: np.ndarray, test_share: float, random_state: int
) -> Any:
    if not isinstance(validation, float):
        return validation
    share = validation / (1 - test_share)
    if not 0 < share < 1:
        raise DataError(
            f"validation={validation} and test_share={test_share} leave no rows to train"
        )
    labels = None if problem.strata is None else problem.strata[train]
    return hold_out_split(len(train), share, stratify=labels, random_state=random_state + 1)


def _chosen(board: Leaderboard, rule: str, complexity: Mapping[str, float] | None) -> str:
    if rule not in RULES:
        raise DataError(f"rule={rule!r} is none of {', '.join(RULES)}")
    if len(board.best.values) == 0:
        raise DataError(f"every candidate failed: {board.best.failures[0]}")
    if rule == "best":
        return board.best.name
    if complexity is None or set(complexity) != set(board.names):
        raise DataError("the one-standard-error rule needs the complexity of every candidate")
    figures = [each.figure() for each in board.results]
    place = one_standard_error(
        [each.value for each in figures],
        [each.error for each in figures],
        [complexity[name] for name in board.names],
        greater_is_better=board.greater_is_better,
    )
    return board.names[place]
