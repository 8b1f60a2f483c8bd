"""How good a subset of features is: cross-validated, or by AIC and BIC.

The score is "larger is better": accuracy of classes, share of the variance explained of numbers
(1 - MSE / variance), each on held-out rows, or minus the information criterion. Least squares is
the built-in learner: its sums of products are added up once, so that a subset costs one small
system of equations per fold and no pass of fitting over the rows.

Texts: 003 2.7.1 (cross-validation) · 000b 11.1.4 (AIC, BIC or cross-validation) · 004 7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer

from gnomon.engine.errors import DataError
from gnomon.engine.products import inner
from gnomon.engine.threads import in_order, one_blas_thread
from gnomon.evaluate.information import aic, bic
from gnomon.select.models import asked, fitted, require_kind
from gnomon.select.problem import Fold, Problem

RIDGE = 1e-8  # too small to be seen beside standardized columns, above rounding
Subset = tuple[int, ...]


class Score(NamedTuple):
    """A subset's score.

    Attributes
    ----------
    value : float
        Larger is better.
    error : float
        Standard error over the folds, which share training rows; NaN where there are none.
    """

    value: float
    error: float


class Criterion:
    """Scores of subsets, each computed once; several at a time, on threads."""

    def __init__(self, score: Callable[[Subset], Score], n_jobs: int | None):
        self._score = score
        self._n_jobs = n_jobs
        self.known: dict[Subset, Score] = {}

    def __call__(self, subsets: Iterable[Iterable[int]]) -> list[Score]:
        wanted = [tuple(sorted(subset)) for subset in subsets]
        new = [each for each in dict.fromkeys(wanted) if each not in self.known]
        for subset, score in zip(new, in_order(self._score, new, self._n_jobs, short=True)):
            self.known[subset] = score
        return [self.known[subset] for subset in wanted]


def criterion_of(
    problem: Problem,
    estimator: Any,
    kind: str,
    scoring: Any,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Criterion:
    """The criterion that a selector's parameters ask for."""
    seed = int(rng.integers(2**31))
    if estimator is not None:
        require_kind(estimator, problem)
    if kind in ("aic", "bic"):
        return Criterion(Information(problem, estimator, kind, seed), n_jobs)
    folds = problem.folds(n_folds, rng)
    if estimator is None:
        if scoring is not None:
            raise DataError("scoring= goes with an estimator=; least squares has its own score")
        return Criterion(LeastSquaresFolds(problem, folds), n_jobs)
    return Criterion(LearnerFolds(problem, folds, estimator, scoring, seed), n_jobs)


class LearnerFolds:
    """Scores of any learner on held-out folds."""

    def __init__(
        self, problem: Problem, folds: list[Fold], estimator: Any, scoring: Any, seed: int
    ):
        self.problem, self.folds = problem, folds
        self.estimator, self.seed = estimator, seed
        self.scorer = None if scoring is None else _scorer(scoring)

    def __call__(self, subset: Subset) -> Score:
        return folded(self.problem, self.folds, lambda fold: self.held(subset, fold))

    def held(self, subset: Subset, fold: Fold) -> float:
        """Score on one fold of the learner fitted on the others."""
        rows = self.problem.sample.rows[:, self.problem.columns(subset)]
        model = fitted(self.estimator, rows[fold.learn], self.problem.part(fold.learn), self.seed)
        y, weights = self.problem.y[fold.held], self.problem.weights[fold.held]
        if self.scorer is not None:
            held = rows[fold.held] if rows.shape[1] else np.zeros((len(y), 1))
            return float(self.scorer(model, held, y, sample_weight=weights))
        return agreement(self.problem, asked(model, rows[fold.held]), y, weights)


class LeastSquaresFolds:
    """Scores of least squares on held-out folds, from sums of products per fold."""

    def __init__(self, problem: Problem, folds: list[Fold]):
        self.problem, self.folds = problem, folds
        design = np.column_stack([np.ones(problem.n_rows), problem.unit])
        self.design = design
        self.products, self.moments = [], []
        with one_blas_thread():
            for fold in folds:
                weighted = design[fold.learn] * problem.weights[fold.learn, None]
                self.products.append(inner(design[fold.learn], weighted))
                self.moments.append(inner(weighted, problem.targets[fold.learn]))

    def __call__(self, subset: Subset) -> Score:
        return folded(self.problem, self.folds, lambda fold: self.held(subset, fold))

    def held(self, subset: Subset, fold: Fold) -> float:
        """Score on one fold of least squares on the others."""
        columns = np.append(0, 1 + self.problem.columns(subset))
        number = next(k for k, each in enumerate(self.folds) if each is fold)
        weights = solved(
            self.products[number][np.ix_(columns, columns)], self.moments[number][columns]
        )
        said = self.design[np.ix_(fold.held, columns)] @ weights
        mass = self.problem.weights[fold.held]
        if self.problem.n_classes:
            shares = self.problem.weights @ (
                self.problem.y[:, None] == np.arange(self.problem.n_classes)
            )
            said = said + shares / shares.sum()
            return agreement(self.problem, said.argmax(axis=1), self.problem.y[fold.held], mass)
        return explained(self.problem, self.problem.targets[fold.held, 0] - said[:, 0], mass)


class Information:
    """Minus AIC or BIC of a linear learner on all rows; least squares by default."""

    def __init__(self, problem: Problem, estimator: Any, kind: str, seed: int):
        if estimator is None and problem.n_classes:
            raise DataError(
                f"criterion={kind!r} of classes needs a likelihood: give estimator="
                "LogisticRegression() or another learner with probabilities and weights"
            )
        self.problem, self.estimator, self.kind, self.seed = problem, estimator, kind, seed

    def __call__(self, subset: Subset) -> Score:
        problem = self.problem
        columns = problem.columns(subset)
        weights = problem.weights * (problem.mass / problem.weights.sum())
        if problem.n_classes:
            likelihood = self._of_classes(columns, weights)
            n_parameters = (problem.n_classes - 1) * (len(columns) + 1)
        else:
            likelihood = self._of_numbers(columns, weights)
            n_parameters = len(columns) + 2
        if self.kind == "aic":
            return Score(-aic(likelihood, n_parameters), float("nan"))
        return Score(-bic(likelihood, n_parameters, max(round(problem.mass), 1)), float("nan"))

    def _of_numbers(self, columns: np.ndarray, weights: np.ndarray) -> float:
        problem = self.problem
        target = problem.targets[:, 0]
        if self.estimator is None:
            design = np.column_stack([np.ones(problem.n_rows), problem.unit[:, columns]])
            weighted = design * weights[:, None]
            said = design @ solved(inner(design, weighted), inner(weighted, target))
            left = target - said
        else:
            model = self._model(columns)
            left = (problem.y - asked(model, problem.unit[:, columns])) / max(
                np.abs(problem.y).max(), 1e-300
            )
        mean_square = max(float(weights @ left**2 / weights.sum()), 1e-24)
        return -problem.mass / 2 * (np.log(2 * np.pi * mean_square) + 1)

    def _of_classes(self, columns: np.ndarray, weights: np.ndarray) -> float:
        problem = self.problem
        if not len(columns):
            mass = np.bincount(problem.y, weights, minlength=problem.n_classes)
            there = mass > 0
            return float((mass[there] * np.log(mass[there] / mass.sum())).sum())
        model = self._model(columns)
        chances = np.asarray(model.predict_proba(problem.unit[:, columns]))
        place = np.searchsorted(model.classes_, problem.y)
        own = np.maximum(chances[np.arange(problem.n_rows), place], 1e-300)
        return float(weights @ np.log(own))

    def _model(self, columns: np.ndarray) -> Any:
        model = fitted(self.estimator, self.problem.unit[:, columns], self.problem, self.seed)
        if len(columns) and not hasattr(model, "coef_"):
            raise DataError(
                f"criterion={self.kind!r} counts parameters, and "
                f"{type(model).__name__} has no weights (coef_) to count; use criterion='cv'"
            )
        return model


def folded(problem: Problem, folds: list[Fold], held: Callable[[Fold], float]) -> Score:
    """Mean over folds, by the weight of each, and its standard error."""
    values = np.array([held(fold) for fold in folds])
    mass = np.array([problem.weights[fold.held].sum() for fold in folds])
    mean = float(mass @ values / mass.sum())
    return Score(mean, float(values.std(ddof=1) / np.sqrt(len(values))))


def agreement(problem: Problem, said: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Accuracy, or share of the variance explained."""
    if problem.n_classes:
        return float(weights @ (said == y) / weights.sum())
    scale = np.abs(problem.y).max()
    return explained(problem, (y - said) / scale if scale > 0 else y - said, weights)


def explained(problem: Problem, left: np.ndarray, weights: np.ndarray) -> float:
    """1 - mean squared error over the variance of the whole target."""
    variance = float(problem.weights @ problem.targets[:, 0] ** 2 / problem.weights.sum())
    return 1 - float(weights @ left**2 / weights.sum()) / variance if variance > 0 else 0.0


def solved(products: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Least squares of standardised columns, with a ridge too small to be seen unless needed."""
    ridge = RIDGE * max(float(products[0, 0]), 1e-300)
    return np.linalg.solve(products + ridge * np.eye(len(products)), moments)


def _scorer(scoring: Any) -> Any:
    return get_scorer(scoring) if isinstance(scoring, str) else scoring
