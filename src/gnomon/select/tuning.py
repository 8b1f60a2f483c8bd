"""Tuning: the parameters of an estimator by any optimizer, and the honest score of the choice.

Every candidate is cross-validated on the same folds. The best score was used for the choice and is
optimistic; ``nested`` repeats the whole search on the training rows of outer folds and measures on
the rows that had no part in it.

Texts: 000a 2.1.4 (a geometric grid of the penalty, the curve with its spread, refit on all rows) ·
000b 10.4.2 (one standard error) · 000c 16.1.3 · 002 "Model selection" · 004 3.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate.cross_validation import cross_validation_estimates, scored
from gnomon.evaluate.fold_run import FoldWork, Problem, run_folds
from gnomon.evaluate.measures import as_measures
from gnomon.evaluate.selection import RULES, one_standard_error
from gnomon.evaluate.splits import Splits, as_splits
from gnomon.optimize import Space, as_space, minimize
from gnomon.optimize.optimizer import method_named
from gnomon.optimize.trace import Trace


@dataclass(repr=False)
class Tuning(Result):
    """Parameters chosen by cross-validation.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        Mean score of the best over folds; optimistic, since it was used for the choice.
    best_estimator_ : estimator
        Fitted on all rows with the best parameters.
    cv_results_ : dict
        ``params``, ``mean_test_score``, ``std_test_score`` and ``standard_error``, by candidate;
        ``n_resources``, the training rows, where the method varies them.
    honest_score : Estimate or None
        The score of the whole procedure on rows that had no part in the choice; with ``nested``.
    measure : str
    greater_is_better : bool
    history : Trace
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_estimator_: Any
    cv_results_: dict[str, list[Any]]
    measure: str
    greater_is_better: bool
    history: Trace
    honest_score: Estimate | None = None
    notes: list[str] = field(default_factory=list)

    def _title(self) -> str:
        return f"best {self.measure} {self.best_score_:.4g} with {self.best_params_}"

    def _columns(self) -> dict[str, list[Any]]:
        sign = -1 if self.greater_is_better else 1
        order = np.argsort(sign * np.array(self.cv_results_["mean_test_score"]), kind="stable")
        columns = {"params": [str(self.cv_results_["params"][k]) for k in order]}
        for name in ("mean_test_score", "std_test_score"):
            columns[name] = [self.cv_results_[name][k] for k in order]
        return columns

    def _remarks(self) -> list[str]:
        said = "on rows that had no part in the choice: "
        honest = [] if self.honest_score is None else [f"{self.measure} {said}{self.honest_score}"]
        return [*honest, *self.notes]


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    space: Any,
    *,
    method: Any = "random",
    max_evaluations: int = 30,
    max_seconds: float | None = None,
    cv: Any = 5,
    measure: Any = None,
    nested: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Tuning:
    """Find the parameters of an estimator with any optimizer, by cross-validation.

    Parameters
    ----------
    estimator : estimator
    X : array-like, data frame or Table of shape (n, d)
    y : array-like or str
    space : Space or dict
        What varies, by the names of parameters: `gnomon.optimize.Real` and so on, pairs
        (low, high) or lists of values.
    method : str or Optimizer, default="random"
        A method of `gnomon.optimize.minimize`. "successive-halving" and "hyperband" try many
        candidates on few training rows and the best of them on more; their resource is the share
        of the training rows.
    max_evaluations : int, default=30
        Candidates; a candidate that was tried before is not fitted again.
    max_seconds : float, default=None
    cv : int, Splits, splitter or list of pairs, default=5
        The same folds for all candidates.
    measure : str, Measure or callable, default=None
    nested : int, default=0
        Outer folds for the honest score; 0 for none. Costs as many searches more.
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    found : Tuning

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> from gnomon.optimize import Real
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> space = {"alpha": Real(1e-3, 1e3, log=True)}
    >>> found = tune(Ridge(), X, X @ [1, 2, 0], space, method="cma-es", max_evaluations=20)
    >>> bool(found.best_params_["alpha"] < 1)
    True
    """
    where = as_space(space)
    if where.names is None:
        raise DataError("give the space as a dict: names of parameters and what they may be")
    unknown = set(where.names) - set(estimator.get_params())
    if unknown:
        raise DataError(f"{type(estimator).__name__} has no parameters {sorted(unknown)}")
    problem = Problem.of(estimator, X, y, None, None)
    settings = {
        "method": method,
        "max_evaluations": max_evaluations,
        "max_seconds": max_seconds,
        "measure": measure,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    found = _searched(estimator, problem, where, cv, **settings)
    if nested:
        found.honest_score = _honest(estimator, problem, where, cv, nested, settings)
    return found


def _searched(
    estimator: Any,
    problem: Problem,
    space: Space,
    cv: Any,
    *,
    method: Any,
    max_evaluations: int,
    max_seconds: float | None,
    measure: Any,
    random_state: int,
    n_jobs: int | None,
) -> Tuning:
    splits = as_splits(cv, problem.n_rows, problem.strata, None, random_state)
    search = method_named(method)() if isinstance(method, str) and method != "auto" else method
    most = getattr(search, "max_resources", None)
    seen: dict[str, Any] = {}
    tried: list[tuple[dict[str, Any], float, str]] = []

    def score(params: dict[str, Any], resource: float | None = None) -> float:
        share = 1.0 if resource is None or most is None else resource / most
        key = repr((sorted(params.items()), share))
        if key not in seen:
            candidate = clone(estimator).set_params(**params)
            result = cross_validation_estimates(
                candidate,
                problem.X,
                problem.y,
                cv=splits if share == 1.0 else on_fewer_rows(splits, share, random_state),
                measures=measure,
                random_state=random_state,
                n_jobs=n_jobs,
                pair_fits=0,
            )
            seen[key] = result
            tried.append((params, share, key))
        result = seen[key]
        if len(result.values) == 0:
            raise DataError(f"the estimator fails with {params}: {result.failures[0]}")
        return -result.mean if result.measures[0].greater_is_better else result.mean

    run = minimize(
        score,
        space,
        search,
        max_evaluations=max_evaluations,
        max_seconds=max_seconds,
        random_state=random_state,
        on_error="raise",
    )
    results = [seen[key] for _, _, key in tried]
    first = results[0].measures[0]
    best = run.x
    model = clone(estimator).set_params(**best).fit(problem.X, problem.y)
    table: dict[str, list[Any]] = {
        "params": [params for params, _, _ in tried],
        "mean_test_score": [float(each.mean) for each in results],
        "std_test_score": [float(np.std(each.values)) for each in results],
        "standard_error": [float(each.standard_error) for each in results],
    }
    if most is not None:
        rows = np.mean([len(train) for train, _ in splits])
        table["n_resources"] = [max(round(share * rows), 1) for _, share, _ in tried]
    value = -run.fun if first.greater_is_better else run.fun
    return Tuning(
        best, float(value), model, table, first.name, first.greater_is_better, run.history
    )


def on_fewer_rows(splits: Splits, share: float, random_state: int) -> Splits:
    """The same test rows, with a share of the training rows; more rows contain the fewer."""
    pairs = []
    for number, (train, test) in enumerate(splits):
        order = np.random.default_rng([random_state, number]).permutation(len(train))
        pairs.append((np.sort(train[order[: max(round(share * len(train)), 1)]]), test))
    return Splits(pairs, splits.n_rows, f"{splits.how}, {share:.3g} of the training rows")


def _honest(
    estimator: Any, problem: Problem, space: Space, cv: Any, nested: int, settings: dict[str, Any]
) -> Estimate:
    """The score of the whole search on outer folds: searched on their training rows alone."""
    if not isinstance(cv, int):
        raise DataError("the honest score needs cv as a number of folds: rows of splits differ")
    outer = as_splits(nested, problem.n_rows, problem.strata, None, settings["random_state"] + 1)
    measures = as_measures(settings["measure"], problem.task)
    search = _Search(estimator, space, cv, settings)
    work = FoldWork(search, problem, measures, False, True, False, None)
    folds = run_folds(work, outer, len(outer), None, 1, None, "outer folds")
    return scored("tuning", outer, measures, problem, folds, False).figure()


class _Search:
    """An estimator whose fit is the whole search."""

    def __init__(self, estimator: Any, space: Space, cv: Any, settings: dict[str, Any]):
        self.estimator, self.space, self.cv, self.settings = estimator, space, cv, settings

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return vars(self).copy()

    def __sklearn_clone__(self) -> _Search:
        return _Search(self.estimator, self.space, self.cv, self.settings)

    def fit(self, X: Any, y: Any) -> _Search:
        rows = Problem.of(self.estimator, X, y, None, None)
        found = _searched(self.estimator, rows, self.space, self.cv, **self.settings)
        self.model_ = found.best_estimator_
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "decision_function", "classes_"):
            return getattr(self.__dict__["model_"], name)
        raise AttributeError(name)


@dataclass(repr=False)
class PenaltySearch(Result):
    """A curve of scores over a geometric grid of a penalty.

    Attributes
    ----------
    parameter : str
    values : ndarray
        Rising.
    means, spreads, errors : ndarray
        Mean score, standard deviation over folds, and standard error of the mean.
    best : float
        The value with the best mean (lambda_min).
    simplest : float
        The strongest penalty within one standard error of it (lambda_1se).
    best_estimator_ : estimator
        Fitted on all rows with the value that the rule takes.
    measure : str
    at_edge : bool
        Whether the best is the first or last value: the grid is then too narrow.
    """

    parameter: str
    values: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    errors: np.ndarray
    best: float
    simplest: float
    best_estimator_: Any
    measure: str
    at_edge: bool

    def _title(self) -> str:
        return (
            f"{self.parameter}: best {self.best:.3g}, within one standard error {self.simplest:.3g}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            self.parameter: self.values.tolist(),
            self.measure: self.means.tolist(),
            "sd over folds": self.spreads.tolist(),
            "standard error": self.errors.tolist(),
        }


def penalty_search(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    parameter: str = "alpha",
    low: float = 1e-4,
    high: float = 1e4,
    factor: float = 10.0,
    rule: str = "best",
    stronger: str = "larger",
    cv: Any = 5,
    measure: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PenaltySearch:
    """Search the weight of a penalty on a geometric grid by cross-validation.

    Parameters
    ----------
    estimator : estimator
    X : array-like, data frame or Table of shape (n, d)
    y : array-like or str
    parameter : str, default="alpha"
    low, high : float, default=1e-4, 1e4
    factor : float, default=10.0
        Between values: 10 first, about 3 for a finer search.
    rule : {"best", "one-standard-error"}, default="best"
        Which value the fitted model has.
    stronger : {"larger", "smaller"}, default="larger"
        Which values penalize more; "smaller" for ``C`` of support vector machines.
    cv : int, Splits, splitter or list of pairs, default=5
    measure : str, Measure or callable, default=None
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    found : PenaltySearch

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 10))
    >>> found = penalty_search(Ridge(), X, X[:, 0] + rng.normal(size=40))
    >>> len(found.values), bool(found.simplest >= found.best)
    (9, True)
    """
    if rule not in RULES:
        raise DataError(f"rule is one of {RULES}, not {rule!r}")
    if not (0 < low < high and factor > 1):
        raise DataError("a geometric grid needs 0 < low < high and factor > 1")
    count = int(np.floor(np.log(high / low) / np.log(factor) + 1e-9)) + 1
    values = low * factor ** np.arange(count)
    problem = Problem.of(estimator, X, y, None, None)
    splits = as_splits(cv, problem.n_rows, problem.strata, None, random_state)
    results = [
        cross_validation_estimates(
            clone(estimator).set_params(**{parameter: float(value)}),
            problem.X,
            problem.y,
            cv=splits,
            measures=measure,
            random_state=random_state,
            n_jobs=n_jobs,
            pair_fits=0,
        )
        for value in values
    ]
    first = results[0].measures[0]
    means = np.array([each.mean for each in results])
    spreads = np.array([np.std(each.values, ddof=1) for each in results])
    errors = np.array([each.standard_error for each in results])
    place = int(np.nanargmax(means) if first.greater_is_better else np.nanargmin(means))
    complexity = -values if stronger == "larger" else values
    simple = one_standard_error(
        means, errors, complexity, greater_is_better=first.greater_is_better
    )
    at_edge = place in (0, count - 1)
    if at_edge:
        warnings.warn(
            f"the best {parameter} ({values[place]:.3g}) is at the edge of the grid; widen low or "
            "high",
            GnomonWarning,
            stacklevel=2,
        )
    taken = place if rule == "best" else simple
    model = clone(estimator).set_params(**{parameter: float(values[taken])})
    model.fit(problem.X, problem.y)
    return PenaltySearch(
        parameter,
        values,
        means,
        spreads,
        errors,
        float(values[place]),
        float(values[simple]),
        model,
        first.name,
        at_edge,
    )
