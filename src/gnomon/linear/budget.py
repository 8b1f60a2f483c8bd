"""Least squares within a budget: a bound on the size of the coefficients in place of a penalty.

Minimises  sum_i w_i (y_i - b0 - x_i b)^2  so that  sum_j |b_j|^p <= t  (max_j |b_j| <= t for p
infinite). Where least squares itself keeps to the budget it is the answer. Otherwise, for p >= 1,
the answer uses the whole budget and is that of a penalty alpha sum_j |b_j|^p, whose weight alpha is
found as a root: the size of the penalised coefficients falls as alpha grows.

Texts: 001 7.2.2 (p = 2; it says that w_lin lies on the sphere where w_reg does) · 002 "Lp
regression", its budget form.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.optimize import brentq

from gnomon.contract import Data, Regressor, Takes
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, Interval, above
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import LARGEST, centered_rows, decision
from gnomon.linear.inference import column_names
from gnomon.linear.penalized import products, squared_working
from gnomon.linear.penalties import ROOT, lp_penalty, within_box
from gnomon.linear.solve import symmetric_solve

# Smallest penalty tried, as a share of the largest: near the rounding of the products.
LEAST_WEIGHT = 1e-13
HALVINGS = 60  # halves the logarithm of the bracket down to rounding


class Spent(NamedTuple):
    """Coefficients within a budget, and the weight of the penalty that gives the same."""

    coef: np.ndarray
    alpha: float


def within_budget(gram, cross, budget: float, p: float) -> Spent:
    """The b of least b'gram b / 2 - cross'b of which sum |b|^p is no more than the budget."""
    free = symmetric_solve(gram, cross)
    if size_of(free, p) <= budget:
        return Spent(free, 0.0)
    if np.isinf(p):
        coef = within_box(gram, cross, budget)
        return Spent(coef, float(np.abs(cross - gram @ coef).sum()))
    if p == 2:
        return within_sphere(gram, cross, budget)
    penalty = lp_penalty(p)
    coef = np.zeros(len(cross))

    def penalized(alpha: float) -> np.ndarray:
        nonlocal coef
        coef = penalty.minimum(gram, cross, alpha, coef)
        return coef

    high = float(np.abs(cross).max())
    while size_of(penalized(high), p) > budget:
        high *= 4
    low = LEAST_WEIGHT * high
    if size_of(penalized(low), p) <= budget:
        return Spent(coef, low)
    if p < 1:
        found = nearest_below(penalized, budget, p, low, high)
        others = [free * (budget / size_of(free, p)) ** (1 / p), *singles(gram, cross, budget, p)]
        best = min([found.coef, *others], key=lambda b: float(b @ (gram @ b / 2 - cross)))
        return Spent(best, found.alpha)
    logarithm = brentq(
        lambda log: size_of(penalized(np.exp(log)), p) - budget, np.log(low), np.log(high), **ROOT
    )
    alpha = float(np.exp(logarithm))
    return Spent(penalized(alpha), alpha)


def size_of(coef: np.ndarray, p: float) -> float:
    """sum_j |b_j|^p, or the largest |b_j| for p infinite."""
    return float(np.abs(coef).max(initial=0.0) if np.isinf(p) else (np.abs(coef) ** p).sum())


def within_sphere(gram, cross, budget: float) -> Spent:
    """p = 2 by the eigenvectors V of gram.

    sum_i (d_i / (e_i + 2 alpha))^2 = budget with the eigenvalues e and d = V'cross.
    """
    values, vectors = np.linalg.eigh(gram)
    values, along = np.maximum(values, 0.0), vectors.T @ cross

    def excess(alpha: float) -> float:
        return float(np.linalg.norm(along / (values + 2 * alpha))) / np.sqrt(budget) - 1.0

    high = float(np.linalg.norm(along)) / np.sqrt(budget)
    low = LEAST_WEIGHT * high
    # rounding decides whether a plane that spends the whole budget is just within it
    alpha = low if excess(low) <= 0 else brentq(excess, low, high, **ROOT)
    return Spent(vectors @ (along / (values + 2 * alpha)), alpha)


def singles(gram, cross, budget: float, p: float) -> list[np.ndarray]:
    """The best within the budget of every column alone."""
    squares = np.diag(gram)
    alone = np.divide(cross, squares, out=np.zeros(len(cross)), where=squares > 0)
    most = budget ** (1 / p)
    return list(np.diag(np.clip(alone, -most, most)))


def nearest_below(penalized: Callable, budget: float, p: float, low: float, high: float) -> Spent:
    """p < 1: the least penalty found that keeps to the budget, which may stay unspent."""
    best = Spent(penalized(high), high)
    for _ in range(HALVINGS):
        alpha = float(np.sqrt(low * high))
        coef = penalized(alpha)
        if size_of(coef, p) <= budget:
            best, high = Spent(coef, alpha), alpha
        else:
            low = alpha
    return best


@method(
    task="regress",
    texts="001 7.2.2 · 002 lp regression (budget)",
    use="A number to predict, where one can say how large the coefficients may be in all.",
    avoid="Where one cannot: choose a penalty by cross-validation (Ridge, Lasso).",
    peers=("cvxpy",),
)
class BudgetRegression(Regressor):
    """Least squares with a bound on the coefficients, and the penalty that it amounts to.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2 so that sum_j |b_j|^p <= ``budget`` (max_j |b_j| for p
    infinite). Use it where a bound is known: a norm that must not be exceeded (p = 2, the Ivanov
    form of ridge regression), a total of absolute values (p = 1), the largest value (p infinite).
    Not below p = 1, unless the best of some will do: the allowed region is not convex there, the
    size jumps with the penalty, and a part of the budget may stay unspent; this is warned of. It
    depends on the units of the columns: scale them alike first.

    Texts: 001 7.2.2 (p = 2; where the bound binds, grad E_in(w) = -2 lambda_C w for the w on the
    sphere, which is w_reg, not the w_lin of the text; with E_in a mean over N rows, lambda_C =
    alpha / N) · 002 "Lp regression" (the budget form and its lambda(t)).

    Parameters
    ----------
    budget : float, default=1.0
        The bound t.
    p : float, default=2.0
        The power; infinity is allowed.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which costs nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The coefficients b.
    intercept_ : float
        The constant b0; zero without intercept.
    alpha_ : float
        The weight of the penalty that gives the same coefficients, in the scale of `Ridge` and
        `LpRegression`; zero where least squares keeps to the budget. Below p = 1, where sizes
        jump, the least penalty that keeps to it.
    spent_ : float
        sum_j |b_j|^p: the budget, or less where it does not bind.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LpRegression : With a penalty.

    Examples
    --------
    >>> from gnomon.linear import BudgetRegression, Ridge
    >>> X, y = [[0], [1], [2], [3], [4]], [1, 3, 2, 5, 4]
    >>> model = BudgetRegression(budget=0.16).fit(X, y)
    >>> model.coef_.round(6), round(model.alpha_, 6)
    (array([0.4]), 10.0)
    """

    _largest: ClassVar[float] = LARGEST
    _largest_target: ClassVar[float] = LARGEST
    natively = Takes(sparse=True)
    _parameter_constraints = {
        "budget": [above(0.0)],
        "p": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": FLAG,
    }
    _stored = {
        "alpha_": Number(),
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Number(),
        "spent_": Number(),
    }

    def __init__(self, budget=1.0, p=2.0, fit_intercept=True):
        self.budget = budget
        self.p = p
        self.fit_intercept = fit_intercept

    def _fit(self, data: Data) -> None:
        p, budget = float(self.p), float(self.budget)
        with one_blas_thread():
            centered = centered_rows(data, self.fit_intercept, column_names(self))
            working = squared_working(data.y, data.y)
            sums = products(centered.rows, working, data.weight_array, self.fit_intercept)
            coef, alpha = within_budget(sums.gram, sums.cross, budget, p)
        if p < 1 and alpha:
            warnings.warn(
                f"with p={p:g} the budget is not a convex region: the coefficients are the "
                f"best found, which spend {size_of(coef, p):.4g} of {budget:.4g}. Use p of one or "
                "more for the best ones",
                GnomonWarning,
                stacklevel=2,
            )
        constant = sums.target_mean - (centered.location + sums.location) @ coef
        self.coef_, self.alpha_, self.spent_ = coef, alpha, size_of(coef, p)
        self.intercept_ = float(constant) if self.fit_intercept else 0.0

    def _estimate(self, rows):
        return decision(rows, self.coef_, self.intercept_)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        return 8 * (8 * n_entries + 16 * n_rows + 14 * n_columns**2)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows * n_columns + 8 * n_rows + 4 * n_columns**2)

    def _memory_remedy(self) -> str:
        return "Use fewer rows or columns; Ridge and Lasso stream tables of any length."
