"""Curves: how training and test error move with the number of rows, with a setting, with size.

Errors of the same table, split again and again, are not independent: with J splits and n_test test
rows per n_train training rows the variance of their mean is taken as (1/J + n_test / n_train) s^2
(Nadeau and Bengio). So the bars do not shrink to nothing by repeating.

Texts: 001 4.3.2 (learning curve) · 002 (training, validation and test error against a complexity
parameter) · 000a 2.1 and 000c 16.2 (training curves with baselines).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.contract.estimate import Estimate, check_level, share_like_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor
from gnomon.evaluate.comparison import resampled_figure
from gnomon.evaluate.cross_validation import scored
from gnomon.evaluate.cross_validation_result import CrossValidation, not_narrower
from gnomon.evaluate.fold_run import Fold, FoldWork, Problem, kept_fold, new_fold, with_target
from gnomon.evaluate.intake import label_column, number_block, plain
from gnomon.evaluate.measures import Measure, as_measures
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.run_folder import RunFolder
from gnomon.evaluate.selection import one_standard_error
from gnomon.evaluate.splits import Splits, as_splits

# Judgement: closer at the start, where curves bend; each costs a round of folds.
SHARES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
INTERVALS = ("rows", "folds")


@dataclass(repr=False, eq=False)
class Curve(Result):
    """Figures with error bars against something.

    Attributes
    ----------
    title : str
    x_name : str
        What is on the axis.
    x : list
        Where the figures were taken.
    lines : dict of str to list of Estimate
        One figure per place; NaN where every fit failed.
    samples : dict of str to ndarray of shape (n_places, n_repeats)
        The scores behind them, where there were several.
    baselines : dict of str to float
        Levels to draw across: what a learner that looks at no column reaches.
    failures : list of str
        Fits that failed, and where.
    course : dict of str to list of float
        Of training curves: the learner's own record of its objective.
    notes : list of str
    greater_is_better : bool
    points : list of CrossValidation
        What stands behind each place, where rows were split.
    """

    title: str
    x_name: str
    x: list[Any]
    lines: dict[str, list[Estimate]]
    samples: dict[str, np.ndarray] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    course: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    greater_is_better: bool = False
    points: list[CrossValidation] = field(default_factory=list)

    def values(self, line: str) -> np.ndarray:
        """The figures of a line without their bars.

        Parameters
        ----------
        line : str

        Returns
        -------
        values : ndarray of shape (n_places,)
        """
        return np.array([figure.value for figure in self._line(line)])

    def best(self, line: str | None = None) -> Any:
        """Where a line is best.

        The figure there is too good to be true: it was chosen for being so. Confirm it on rows
        that were not used.

        Parameters
        ----------
        line : str, default=None
            By default the first that is not of training rows.

        Returns
        -------
        x : object
            Of equal places the first.
        """
        values = self._known(line)
        return self.x[int(np.nanargmax(values) if self.greater_is_better else np.nanargmin(values))]

    def within_one_error(self, line: str | None = None) -> Any:
        """The first place whose figure is within one standard error of the best.

        With places from simple to complex this is the simplest model that is as good as the best,
        as far as can be told.

        Parameters
        ----------
        line : str, default=None

        Returns
        -------
        x : object
        """
        values = self._known(line)
        errors = [figure.error for figure in self._line(self._chosen(line))]
        order = np.arange(len(values))
        place = one_standard_error(values, errors, order, greater_is_better=self.greater_is_better)
        return self.x[place]

    def _known(self, line: str | None) -> np.ndarray:
        values = self.values(self._chosen(line))
        if np.isnan(values).all():
            raise DataError("no figure of this line is known")
        return values

    def _chosen(self, line: str | None) -> str:
        if line is not None:
            return line
        unseen = [name for name in self.lines if not name.startswith("training")]
        return (unseen or list(self.lines))[0]

    def _line(self, line: str) -> list[Estimate]:
        if line not in self.lines:
            raise DataError(f"there is no line {line!r}; there are {', '.join(self.lines)}")
        return self.lines[line]

    def _title(self) -> str:
        return self.title

    def _columns(self) -> dict[str, list[Any]]:
        return {self.x_name: self.x, **self.lines}

    def _remarks(self) -> list[str]:
        levels = [f"baseline {name}: {value:.4g}" for name, value in self.baselines.items()]
        shown = [f"failed: {each}" for each in self.failures[:3]]
        if len(self.failures) > 3:
            shown.append(f"... and {len(self.failures) - 3:,} more failures")
        return [*levels, *self.notes, *shown]


def learning_curve_estimates(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] = SHARES,
    cv: Any = 10,
    measures: Any = None,
    groups: Any = None,
    interval: str = "folds",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
) -> Curve:
    """Error on training and on unseen rows against the number of training rows.

    E_in rises and E_out falls with the number of rows; where they have met, more rows will not
    help and a richer model may; where a gap is left, more rows will. Subsets of one split are
    nested, and hold the classes in proportion.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator; cloned.
    X : array-like, sparse matrix, data frame or Table of shape (n, n_columns)
    y : array-like of shape (n,) or str
        The target, or the name of its column.
    sizes : sequence of float, default=(0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
        Numbers of training rows, or shares of those that a split has.
    cv : "auto", int, Splits, splitter or list of pairs, default=10
        As in `cross_validation_estimates`.
    measures : str, Measure, Loss, callable or list of these, default=None
        As in `cross_validation_estimates`; ``"error"`` or ``"mse"`` by default.
    groups : array-like of shape (n,), default=None
        Rows of a group stay together.
    interval : {"folds", "rows"}, default="folds"
        What the bars of unseen rows are about: the learner over training sets of the size, by the
        corrected spread over splits, or by that over rows where it is wider (stratified folds of a
        rare class have hardly any spread); or the very models that were fitted, by the spread over
        rows (narrower; does not hold its level for the learner where training sets are small).
    confidence_level : float, default=0.95
    random_state : int or None, default=0
        Seed of splits, subsets and of learners that were given none.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    progress : bool or callable, default=None
    folder : str or Path, default=None
        Fits are kept there, one folder per size; the same call goes on where a killed one ended.

    Returns
    -------
    curve : Curve
        Lines ``"training"`` and ``"validation"`` (with the measure's name where there are several).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X.sum(axis=1) + rng.normal(size=200)
    >>> curve = learning_curve_estimates(LinearRegression(), X, y, sizes=[10, 40, 160])
    >>> bool(np.all(np.diff(curve.values("training")) > 0))
    True
    """
    problem = Problem.of(estimator, X, y, groups, None)
    plan = as_splits(cv, problem.n_rows, problem.strata, groups, random_state)
    counts = _row_counts(sizes, min(len(train) for train, _ in plan))
    orders = [
        _proportional_order(train, problem.strata, np.random.default_rng([random_state or 0, k]))
        for k, (train, _) in enumerate(plan)
    ]
    plans = [
        Splits(
            [(order[:n], test) for order, (_, test) in zip(orders, plan)],
            plan.n_rows,
            f"{plan.how}, {n} training rows",
            plan.n_repeats,
            plan.groups,
            plan.ordered,
        )
        for n in counts
    ]
    return _curve(
        [estimator] * len(counts),
        problem,
        plans,
        _Asked(
            as_measures(default_measures(measures, problem), problem.task),
            interval,
            confidence_level,
        ),
        ("Learning curve", "training rows", counts),
        random_state,
        n_jobs,
        progress,
        test_share=plan.test_share,
        folder=folder,
    )


def validation_curve_estimates(
    estimator: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    cv: Any = 10,
    test: tuple[Any, Any] | None = None,
    measures: Any = None,
    groups: Any = None,
    interval: str = "rows",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Curve:
    """Training, validation and test error against a parameter: depth, bandwidth, lambda, members.

    Training error falls with complexity; validation error falls and rises again. `Curve.best` marks
    the minimum, `Curve.within_one_error` the first value that is as good within its error; give
    values from simple to complex for that. The validation error at the minimum was chosen for being
    small: report the test line there instead.

    Parameters
    ----------
    estimator : estimator
    X : array-like, sparse matrix, data frame or Table of shape (n, n_columns)
    y : array-like of shape (n,) or str
    parameter : str
        Name of the parameter, as in ``set_params``.
    values : sequence
        What it is set to.
    cv : "auto", int, Splits, splitter or list of pairs, default=10
        As in `cross_validation_estimates`.
    test : (X, y), default=None
        Rows kept aside: a third line, of the same fits.
    measures : str, Measure, Loss, callable or list of these, default=None
        ``"error"`` or ``"mse"`` by default; several, such as 0-1 and log loss, give several lines.
    groups : array-like of shape (n,), default=None
    interval : {"rows", "folds"}, default="rows"
        As in `learning_curve_estimates`; here the fitted models are compared.
    confidence_level : float, default=0.95
    random_state : int or None, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None

    Returns
    -------
    curve : Curve

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(120, 1))
    >>> y = np.sin(6 * X[:, 0]) + rng.normal(size=120)
    >>> depths = [1, 2, 4, 8, 16]
    >>> curve = validation_curve_estimates(DecisionTreeRegressor(), X, y, "max_depth", depths)
    >>> curve.best("training"), curve.best() < 16
    (16, True)
    """
    problem = Problem.of(estimator, X, y, groups, None)
    plan = as_splits(cv, problem.n_rows, problem.strata, groups, random_state)
    asked = _Asked(
        as_measures(default_measures(measures, problem), problem.task),
        interval,
        confidence_level,
        test,
    )
    places = [each.item() if isinstance(each, np.generic) else each for each in values]
    return _curve(
        [_with_parameters(estimator, {parameter: value}) for value in places],
        problem,
        [plan] * len(places),
        asked,
        ("Validation curve", parameter, places),
        random_state,
        n_jobs,
        progress,
    )


def complexity_curve(
    estimator: Any,
    X: Any,
    y: Any,
    settings: Sequence[dict[str, Any]],
    complexity: Callable[[Any], float],
    *,
    cv: Any = 10,
    test: tuple[Any, Any] | None = None,
    measures: Any = None,
    groups: Any = None,
    interval: str = "rows",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Curve:
    """Training and validation error against the measured size of the fitted models.

    Settings of several parameters, or of parameters that say little about the size of what comes
    out, become comparable by what was fitted: leaves, columns used, a norm.

    Parameters
    ----------
    estimator : estimator
    X : array-like, sparse matrix, data frame or Table of shape (n, n_columns)
    y : array-like of shape (n,) or str
    settings : sequence of dict
        Parameters of each place.
    complexity : callable
        A fitted learner to its complexity, a number.
    cv : "auto", int, Splits, splitter or list of pairs, default=10
    test : (X, y), default=None
    measures : str, Measure, Loss, callable or list of these, default=None
    groups : array-like of shape (n,), default=None
    interval : {"rows", "folds"}, default="rows"
    confidence_level : float, default=0.95
    random_state : int or None, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None

    Returns
    -------
    curve : Curve
        Sorted by the mean complexity over the splits; the settings are in the notes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    >>> depths = [{"max_depth": None}, {"max_depth": 1}]
    >>> curve = complexity_curve(
    ...     DecisionTreeClassifier(), X, y, depths, lambda tree: tree.get_n_leaves()
    ... )
    >>> curve.x[0]
    2.0
    """
    problem = Problem.of(estimator, X, y, groups, None)
    plan = as_splits(cv, problem.n_rows, problem.strata, groups, random_state)
    asked = _Asked(
        as_measures(default_measures(measures, problem), problem.task),
        interval,
        confidence_level,
        test,
        complexity,
    )
    places = [", ".join(f"{name}={value}" for name, value in each.items()) for each in settings]
    return _curve(
        [_with_parameters(estimator, setting) for setting in settings],
        problem,
        [plan] * len(places),
        asked,
        ("Complexity curve", "complexity", places),
        random_state,
        n_jobs,
        progress,
    )


class _Asked(NamedTuple):
    """What is to be known of every fit."""

    measures: list[Measure]
    interval: str
    confidence_level: float
    test: tuple[Any, Any] | None = None
    complexity: Callable[[Any], float] | None = None


class _Job(NamedTuple):
    point: int
    number: int


class _Found(NamedTuple):
    fold: Fold
    held_out: dict[str, Estimate]
    complexity: float


def _curve(
    learners: list[Any],
    problem: Problem,
    plans: list[Splits],
    asked: _Asked,
    names: tuple[str, str, list[Any]],
    random_state: int | None,
    n_jobs: int | None,
    progress: Progress,
    test_share: float | None = None,
    folder: str | Path | None = None,
) -> Curve:
    """Fit every learner on its splits, side by side, and put the figures on lines."""
    title, x_name, places = names
    check_level(asked.confidence_level)
    if not places:
        raise DataError("there are no places to draw the curve at")
    if asked.interval not in INTERVALS:
        raise DataError(f"interval={asked.interval!r} is none of {', '.join(INTERVALS)}")
    folders = [None if folder is None else Path(folder) / f"{k:03d}" for k in range(len(places))]
    runs = [
        _Run(learner, problem, asked, random_state, plan, each)
        for learner, plan, each in zip(learners, plans, folders)
    ]
    jobs = [_Job(point, k) for k in range(len(plans[0])) for point in range(len(places))]
    found: list[_Found] = []
    with told(progress, title) as tell:
        for each in in_order(lambda job: runs[job.point](job.number), jobs, n_jobs):
            found.append(each)
            tell(len(found), len(jobs))
    curve = Curve(
        f"{title} of {type(learners[0]).__name__} ({asked.measures[0].name})",
        x_name,
        places,
        {},
        baselines=_baselines(problem, plans[0], asked.measures),
        greater_is_better=asked.measures[0].greater_is_better,
    )
    for point, place in enumerate(places):
        mine = [each for job, each in zip(jobs, found) if job.point == point]
        name = f"{type(learners[point]).__name__}, {x_name} {place}"
        folds = [each.fold for each in mine]
        cv = scored(name, plans[point], asked.measures, problem, folds, True)
        curve.points.append(cv)
        curve.failures += [f"{x_name} {place}, {failure}" for failure in cv.failures]
        _add_figures(curve, cv, mine, asked, test_share)
    if all(np.isnan(curve.values(line)).all() for line in curve.lines):
        raise DataError(f"every fit failed; the first: {curve.failures[0]}")
    if asked.complexity is None:
        return curve
    sizes = np.array([each.complexity for each in found]).reshape(-1, len(places))
    return _by_complexity(curve, np.nanmean(sizes, axis=0))


class _Run:
    """One setting of a learner, fitted on a split and asked all that is wanted."""

    def __init__(
        self,
        learner: Any,
        problem: Problem,
        asked: _Asked,
        random_state: int | None,
        plan: Splits,
        folder: Path | None,
    ):
        keep = asked.test is not None or asked.complexity is not None
        self.asked = asked
        self.work = FoldWork(learner, problem, asked.measures, True, keep, False, random_state)
        self.test = None if asked.test is None else held_out_rows(problem, asked.test)
        self.plan = plan
        self.store = None if folder is None else RunFolder(folder, self.work.plan(plan))

    def __call__(self, number: int) -> _Found:
        fold = kept_fold(self.work, number, self.store)
        if fold is None:
            fold = new_fold(self.work, number, self.plan[number], self.store)
        model, fold.model = fold.model, None
        if model is None:
            return _Found(fold, {}, np.nan)
        held_out = {}
        if self.test is not None:
            rows, y = self.test
            held_out = figures_of(self.work, model, rows, y)
        complexity = self.asked.complexity
        return _Found(fold, held_out, np.nan if complexity is None else float(complexity(model)))


def figures_of(work: FoldWork, model: Any, rows: Any, y: np.ndarray) -> dict[str, Estimate]:
    """The measures of a fitted learner on rows, by name."""
    said = work.said_by(model, rows)
    figures = {}
    for measure in work.measures:
        if measure.needs == "estimator":
            found: Any = measure.function(model, rows, y)
        else:
            found = measure.figure(y, said)
        figures[measure.name] = found if isinstance(found, Estimate) else bare(float(found))
    return figures


def bare(value: float) -> Estimate:
    """A figure whose spread is not known."""
    return Estimate(value, -np.inf, np.inf, how="no interval is known")


def held_out_rows(problem: Problem, test: tuple[Any, Any]) -> tuple[Any, np.ndarray]:
    """Rows kept aside and their target, of the same kind as the problem's."""
    rows, y = with_target(*test)
    if problem.classes is None:
        return rows, number_block(y, "y of the test rows")
    labels = label_column(y, "y of the test rows")
    unknown = np.setdiff1d(labels, problem.classes)
    if len(unknown):
        raise DataError(f"the test rows have a class that X has not: {plain(unknown[0])!r}")
    return rows, labels


def _add_figures(
    curve: Curve,
    cv: CrossValidation,
    found: list[_Found],
    asked: _Asked,
    test_share: float | None,
) -> None:
    """Append one place to every line."""
    share = cv.test_share if test_share is None else test_share
    for measure in asked.measures:
        after = "" if len(asked.measures) == 1 else f" {measure.name}"
        inside, outside = cv.train_scores[measure.name], cv.scores[measure.name]
        seen = measure.kept_within(
            resampled_figure(inside, share, asked.confidence_level, measure.share)
        )
        if asked.interval == "rows":
            unseen = cv.figure(measure.name, asked.confidence_level)
        else:
            unseen = resampled_figure(outside, share, asked.confidence_level, measure.share)
            of_rows = cv.row_figure(measure.name, asked.confidence_level)
            unseen = not_narrower(measure.kept_within(unseen), of_rows)
        parts = {"training": (seen, inside), "validation": (unseen, outside)}
        if asked.test is not None:
            figures = [each.held_out.get(measure.name) for each in found]
            values = np.array([np.nan if f is None else f.value for f in figures])
            spread = resampled_figure(values, share, asked.confidence_level, measure.share)
            tested = _of_one_test_set(spread, figures, measure.share)
            parts["test"] = (measure.kept_within(tested), values)
        for part, (figure, scores) in parts.items():
            curve.lines.setdefault(part + after, []).append(figure)
            block = curve.samples.get(part + after)
            curve.samples[part + after] = (
                scores[None, :] if block is None else np.vstack([block, scores])
            )


def _of_one_test_set(figure: Estimate, figures: list[Estimate | None], share: bool) -> Estimate:
    """A figure whose fits were all scored on the same rows, with the error of those rows added."""
    squares = [f.error**2 for f in figures if f is not None and np.isfinite(f.error)]
    if not squares or not figure.error > 0:
        return figure
    error, how = float(np.sqrt(figure.error**2 + np.mean(squares))), "of splits and of test rows"
    if share:
        return share_like_interval(
            figure.value, error, figure.confidence_level, how, len(squares) - 1
        )
    half = (figure.high - figure.value) * error / figure.error
    low, high = figure.value - half, figure.value + half
    return figure._replace(low=low, high=high, error=error, how=how)


def _by_complexity(curve: Curve, sizes: np.ndarray) -> Curve:
    """Put the places in the order of the mean measured complexity."""
    order = np.argsort(sizes, kind="stable")
    curve.notes += [f"complexity {sizes[k]:.4g}: {curve.x[k]}" for k in order]
    curve.x = sizes[order].tolist()
    curve.lines = {name: [line[k] for k in order] for name, line in curve.lines.items()}
    curve.samples = {name: block[order] for name, block in curve.samples.items()}
    curve.points = [curve.points[k] for k in order]
    return curve


def default_measures(measures: Any, problem: Problem) -> Any:
    """The measures given; losses where none is given, as curves are of errors."""
    if measures is not None:
        return measures
    return {"classify": "error", "regress": "mse"}.get(problem.task)


def _with_parameters(learner: Any, parameters: dict[str, Any]) -> Any:
    return clone(learner).set_params(**parameters)


def _proportional_order(
    train: np.ndarray, labels: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """The training rows in an order of which every beginning has the classes in proportion."""
    order = rng.permutation(train)
    if labels is None:
        return order
    _, codes, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
    place = np.empty(len(order))
    for code, count in enumerate(counts):
        place[codes == code] = (np.arange(count) + rng.random()) / count
    return order[np.argsort(place, kind="stable")]


def _row_counts(sizes: Sequence[float], most: int) -> list[int]:
    counts: list[int] = []
    for size in sizes:
        if not isinstance(size, Real) or not np.isfinite(size):
            raise DataError(f"size {size!r} is neither a number of rows nor a share of them")
        share = isinstance(size, (float, np.floating)) and 0 < size <= 1
        count = round(size * most) if share else int(size)
        if not 1 <= count <= most:
            raise DataError(
                f"size {size} is not among 1 to {most}, the rows that a split trains on"
            )
        counts.append(count)
    return sorted(set(counts))


def _baselines(problem: Problem, plan: Splits, measures: list[Measure]) -> dict[str, float]:
    """What a learner that looks at no column reaches on the same splits."""
    if problem.task not in ("classify", "regress"):
        return {}
    cls = BaselineClassifier if problem.task == "classify" else BaselineRegressor
    blank = Problem(np.zeros((problem.n_rows, 1)), problem.y, problem.task, problem.classes, None)
    known = [each for each in measures if each.needs != "estimator"]
    if not known:
        return {}
    work = FoldWork(cls(), blank, known, False, False, False, None)
    folds = [work(k, *pair) for k, pair in enumerate(plan)]
    cv = scored("baseline", plan, known, blank, folds, False)
    return {each.name: float(np.nanmean(cv.scores[each.name])) for each in known}
