"""Quantile regression: the plane with a given share of the targets below it.

Minimises  sum_i w_i rho(y_i - b0 - x_i b),  rho(r) = q r above and (q - 1) r below the plane; q =
1/2 is least absolute deviations. This is a linear programme; its dual has one bounded unknown a_i
per row, and as many equations as there are columns,

    max a'y   so that  X'a = 0,   w_i (q - 1) <= a_i <= w_i q,

and the simplex method ends at a plane through as many points as it has coefficients. Of many rows
most lie far from the plane: their side is guessed, only the near ones are unknowns, and the guess
is checked (Portnoy and Koenker, "The Gaussian hare and the Laplacian tortoise", 1997). Where
several planes are equally good (an even number of rows and a median, say) the one of least
coefficients is taken, so that the result depends neither on the order of rows nor on weight versus
repetition.

Texts: 001 3.6 and 000 11.2 (robust losses; the absolute one is the median's).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import linprog, nnls

from gnomon.contract import Data, Regressor, Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, at_least, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import LARGEST, decision, refuse_tiny
from gnomon.linear.inference import column_names
from gnomon.linear.solve import EPS, symmetric_solve

AT_A_BOUND = 1e-7  # share of the width: the tolerance of HiGHS
FEWEST_ROWS = 1000  # judgement: so few rows are solved at once
# Judgement: reweighted fits of a guess, which only sorts rows by side; rows at once.
GUESSES, BLOCK = 12, 4096
# Unknowns, in units of n^(2/3) rows: few strays with little to solve.
BAND = 3


class Plane(NamedTuple):
    """A plane and what it came to."""

    coef: np.ndarray
    constant: float
    loss: float


def quantile_plane(
    rows, location, scale, y, weights, quantile: float, intercept: bool, costs=None
) -> Plane:
    """The plane of least sum_i w_i rho(y_i - f_i) + sum_j costs_j |b_j|, f linear in x - location.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    location, scale : ndarray of shape (p,)
        Mean and deviation of each column; columns of scale zero are left out.
    y, weights : ndarray of shape (n,)
    quantile : float
    intercept : bool
    costs : ndarray of shape (p,) or None, default=None
        What a coefficient's absolute value costs.

    Returns
    -------
    plane : Plane
    """
    n, p = rows.shape
    used = np.flatnonzero(scale > 0)
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    charged = costs is not None and bool(np.any(costs > 0))
    factors = np.eye(p)[:, used] / scale[used]
    basis = np.eye(len(used))
    if not charged:
        basis = independent(rows, location, factors, weights)
    table = np.ones((n, basis.shape[1] + intercept))
    to_table = factors @ basis
    for some, block in blocks(rows):
        table[some, : basis.shape[1]] = (block - location) @ to_table
    low, high = weights * (quantile - 1), weights * quantile
    target = y / unit
    if charged:
        rest = np.eye(len(used), table.shape[1])
        bound = np.asarray(costs, dtype=np.float64)[used] / scale[used]
        table, target = np.vstack([table, rest]), np.concatenate([target, np.zeros(len(used))])
        low, high = np.concatenate([low, -bound]), np.concatenate([high, bound])
    theta = programme(table, target, low, high)
    k = basis.shape[1]
    if charged:
        theta[:k][np.abs(theta[:k]) <= 1e-12 * np.abs(theta).max(initial=0.0)] = 0.0
    coef = np.zeros(p)
    coef[used] = basis @ theta[:k] * unit / scale[used]
    constant = float(theta[k] * unit) if intercept else 0.0
    residual = y - unit * (table[:n] @ theta)
    loss = weights @ np.maximum(quantile * residual, (quantile - 1) * residual)
    return Plane(coef, constant, float(loss))


def independent(rows, location, factors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Directions of the columns of (rows - location) @ factors that are independent, (p, k).

    All of one length.
    """
    products = np.zeros((factors.shape[1], factors.shape[1]))
    for some, block in blocks(rows):
        design = (block - location) @ factors
        products += (design.T * weights[some]) @ design
    values, vectors = np.linalg.eigh(products / weights.sum())
    kept = values > 100 * max(len(rows), len(values)) * EPS * max(values.max(initial=0.0), EPS)
    return vectors[:, kept] / np.sqrt(values[kept])


def blocks(rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, whose products need little memory; row by row, however all rows lie."""
    for start in range(0, len(rows), BLOCK):
        some = slice(start, start + BLOCK)
        yield some, np.ascontiguousarray(rows[some])


def programme(table, target, low, high) -> np.ndarray:
    """The coefficients of the programme, of least length where several are best.

    Of many rows, only those near to a first guess of the plane are unknowns; the others are taken
    to stay on their side, which is looked at afterwards: rows that did not are let in.
    """
    n, k = table.shape
    if not k:
        return np.zeros(0)
    near, distance = np.ones(n, dtype=bool), np.zeros(n)
    band = max(FEWEST_ROWS, int(BAND * n ** (2 / 3)))
    if band < n / 2:
        distance = target - table @ guess(table, target, low, high)
        near = nearest(distance, band)
    while True:
        dual = np.where(distance > 0, high, low)
        solved = on_rows(table, target, low, high, near, dual)
        if solved is None:
            band *= 2
            near |= nearest(distance, min(band, n))
            continue
        theta, dual[near] = solved
        strayed = ~near & ((target - table @ theta > 0) != (distance > 0))
        if not strayed.any():
            break
        near |= strayed
    width = high - low
    above = dual >= high - AT_A_BOUND * width
    below = dual <= low + AT_A_BOUND * width
    return shortest(table, target, theta, ~above & ~below, above, below)


def nearest(distance: np.ndarray, size: int) -> np.ndarray:
    """Marks the rows of least distance."""
    sizes = np.abs(distance)
    return sizes <= np.partition(sizes, size - 1)[size - 1]


def guess(table, target, low, high) -> np.ndarray:
    """A plane near to the best, by a few reweighted least squares."""
    theta = symmetric_solve(table.T @ table, table.T @ target)
    for _ in range(GUESSES):
        residual = target - table @ theta
        blunt = 0.05 * float(np.median(np.abs(residual))) + np.finfo(np.float64).tiny
        factors = np.where(residual > 0, high, -low) / np.maximum(np.abs(residual), blunt)
        products, right = np.zeros((len(theta), len(theta))), np.zeros(len(theta))
        for some, block in blocks(table):
            scaled = block.T * factors[some]
            products += scaled @ block
            right += scaled @ target[some]
        theta = symmetric_solve(products, right)
    return theta


def on_rows(table, target, low, high, near, dual):
    """The programme of some rows, the duals of the others given; None where it has no solution."""
    size = float(high.max() - low.min())
    found = linprog(
        -target[near],
        A_eq=table[near].T,
        b_eq=-(np.where(near, 0.0, dual) / size) @ table,
        bounds=np.column_stack([low[near], high[near]]) / size,
        method="highs-ds",
    )
    if found.status == 0:
        return -np.asarray(found.eqlin.marginals), found.x * size
    if not near.all():
        return None
    raise DataError(
        f"the linear programme was not solved ({found.message}); scale the columns alike, or use "
        "RobustRegression"
    )


def shortest(table, target, theta, through, above, below) -> np.ndarray:
    """The best plane of least length: rows that must be met are, none changes its side."""
    met = table[through]
    corner = theta
    if np.linalg.matrix_rank(met) == table.shape[1]:
        return scipy.linalg.lstsq(met, target[through], check_finite=False)[0]
    free = scipy.linalg.null_space(met) if len(met) else np.eye(table.shape[1])
    start = theta - free @ (free.T @ theta)
    if len(met):
        start = start + scipy.linalg.lstsq(met, target[through] - met @ start)[0]
    sides = np.concatenate([-table[above], table[below]]) @ free
    room = np.concatenate([target[above] - table[above] @ start, table[below] @ start])
    room[above.sum() :] -= target[below]
    found = least_distance(sides, -room)
    return corner if found is None else start + free @ found


def least_distance(sides: np.ndarray, bounds: np.ndarray) -> np.ndarray | None:
    """The shortest z with sides z >= bounds (Lawson and Hanson); None where there is none."""
    if (bounds <= 0).all():
        return np.zeros(sides.shape[1])
    system = np.vstack([sides.T, bounds])
    wanted = np.zeros(len(system))
    wanted[-1] = 1.0
    try:
        multipliers, _ = nnls(system, wanted)
    except RuntimeError:
        return None
    rest = system @ multipliers - wanted
    if abs(rest[-1]) <= 1e-12:
        return None
    return -rest[:-1] / rest[-1]


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="A quantile of the target: its median, or the bounds of an interval of predictions.",
    avoid="Outliers among the columns (high leverage): RobustRegression with Tukey's loss.",
    peers=("statsmodels.api.QuantReg", "sklearn.linear_model.QuantileRegressor"),
)
@without_effect("solver", "solver_options")
class QuantileRegressor(Regressor):
    """Quantile regression: the plane that has a given share of the targets below it.

    Minimises (1/W) sum_i w_i rho(y_i - b0 - x_i b) + alpha |b|_1 with rho(r) = q r for r > 0 and
    (q - 1) r else, W = sum_i w_i. Use ``alpha=0`` for the plane itself, q
    = 1/2 (least absolute deviations) where targets have outliers, and two quantiles for an interval
    of predictions without assuming normal or even errors. Not where columns have outliers
    (leverage). Planes of several quantiles may cross.

    Texts: 000 11.2 and 001 3.6 speak of robust losses; quantiles are Koenker and Bassett's,
    "Regression quantiles", 1978. Where several planes are equally good, the one whose coefficients
    (of columns scaled alike and made independent) are least is taken.

    Parameters
    ----------
    quantile : float, default=0.5
        The share q of the targets below the plane.
    alpha : float, default=1.0
        Weight of the penalty on absolute values of the coefficients; 0 for none.
    fit_intercept : bool, default=True
        Whether there is a constant b0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The coefficients b.
    intercept_ : float
        The constant b0; zero without intercept.
    loss_ : float
        The sum of w_i rho at the minimum.
    n_iter_ : int
        1: the linear programme is solved at once.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    RobustRegression : Against outliers, on long tables.

    Examples
    --------
    >>> from gnomon.linear import QuantileRegressor
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 1, 2, 3, 40]
    >>> QuantileRegressor(alpha=0).fit(X, y).coef_.round(6)
    array([1.])
    """

    natively = Takes(sparse=True, float32=True)
    _largest: ClassVar[float] = LARGEST
    _largest_target: ClassVar[float] = LARGEST
    _parameter_constraints = {
        "quantile": [between(0.0, 1.0, "neither")],
        "alpha": [at_least(0.0)],
        "fit_intercept": FLAG,
    }
    _stored = {
        "coef_": Array("f", ("n_columns",)),
        "intercept_": Number(),
        "loss_": Number(),
    }

    def __init__(
        self, *, quantile=0.5, alpha=1.0, fit_intercept=True, solver="highs", solver_options=None
    ):
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    def _fit(self, data: Data) -> None:
        with one_blas_thread():
            weights = data.weight_array
            rows = data.rows.toarray() if sp.issparse(data.rows) else data.rows
            rows = np.asarray(rows, dtype=np.float64)
            location, scale = self._measures(rows, weights)
            costs = np.full(data.n_columns, self.alpha * float(weights.sum()))
            plane = quantile_plane(
                rows,
                location,
                scale,
                data.y,
                weights,
                float(self.quantile),
                self.fit_intercept,
                costs if self.alpha else None,
            )
        constant = plane.constant - location @ plane.coef
        self.coef_ = plane.coef
        self.intercept_ = float(constant) if self.fit_intercept else 0.0
        self.loss_ = plane.loss
        self.n_iter_ = 1

    def _measures(self, rows, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (zero without an intercept) and deviation about it; zero where a column is idle."""
        location = np.zeros(rows.shape[1])
        if self.fit_intercept:
            for some, block in blocks(rows):
                location += weights[some] @ block
            location /= weights.sum()
        squares = np.zeros(rows.shape[1])
        for some, block in blocks(rows):
            squares += weights[some] @ (block - location) ** 2
        idle = np.sqrt(squares) <= 32 * EPS * np.abs(location) * np.sqrt(weights.sum())
        squares[idle] = 0.0
        refuse_tiny(np.sqrt(squares), column_names(self), 1 / LARGEST)
        return location, np.sqrt(squares / weights.sum())

    def _estimate(self, rows):
        return decision(rows, self.coef_, self.intercept_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        near = min(n_rows, max(FEWEST_ROWS, int(BAND * n_rows ** (2 / 3))))
        solver = 12 * near * n_columns
        return 8 * (n_rows * n_columns + solver + 40 * n_rows + 12 * n_columns**2)

    def _memory_remedy(self) -> str:
        return "Use fewer rows or columns, or RobustRegression, which streams."
