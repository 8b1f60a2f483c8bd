"""Tables with most cells missing: low rank, factors with biases, and factors bent by a network.

Low rank:  min  1/2 sum over known (x_ij - z_ij)^2 + penalty |Z|_*  (soft-impute), or the factors of
`NIPALS` for a very low rank. Factors:  x_ij = mean + b_i + c_j + u_i . v_j  with squared penalties.
Nonlinear: x_i = network(u_i), where the inputs u_i are trained along with the network.

Texts: 000a 6.1.3 · 003 4.5.3, 4.5.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import one_blas_thread
from gnomon.reduce.nipals import factorize


@dataclass(repr=False)
class Completion(Result):
    """A table with its missing cells filled.

    Attributes
    ----------
    filled : ndarray of shape (n, d)
        Known cells as they were.
    model : ndarray of shape (n, d)
        The model's figure for every cell.
    rank : int
    error : float
        Root mean squared error of the known cells.
    history : list of float
        The objective after each step.
    """

    filled: np.ndarray
    model: np.ndarray
    rank: int
    error: float
    history: list[float] = field(default_factory=list)

    def _title(self) -> str:
        return f"Completed table of rank {self.rank}, error of known cells {self.error:.4g}"

    def _columns(self) -> dict[str, list]:
        return {"rows": [self.filled.shape[0]], "columns": [self.filled.shape[1]]}


def known_cells(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """A table of numbers with NaN where a cell is missing, and which are known."""
    try:
        table = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a table of cells holds numbers and missing ones alone: {error}") from None
    if table.ndim != 2 or table.size == 0:
        raise DataError(f"a table of cells has two dimensions, not shape {table.shape}")
    known = ~np.isnan(table)
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise DataError(f"the cell ({row}, {column}) is infinite")
    if not known.any():
        raise DataError("no cell is known")
    return table, known


def _completed(table, known, model, rank: int, history) -> Completion:
    error = float(np.sqrt(((table - model)[known] ** 2).mean()))
    return Completion(np.where(known, table, model), model, rank, error, list(history))


def complete_low_rank(
    X: Any,
    rank: int | None = None,
    *,
    penalty: float | None = None,
    center: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-9,
) -> Completion:
    """Fill missing cells on the assumption that the table has a low rank (000a 6.1.3).

    Parameters
    ----------
    X : array-like of shape (n, d)
        NaN where missing.
    rank : int or None, default=None
        A fixed, very low rank, fitted to the known cells by least squares; or None for the
        `penalty` to decide.
    penalty : float or None, default=None
        Soft-impute: what every singular value is shrunk by, in the units of singular values. None,
        where no rank is given: a tenth of the largest singular value of the known cells.
    center : bool, default=False
        Whether columns have means of their own beside the low rank.
    max_iter : int, default=1000
    tol : float, default=1e-9
        Stop when a step changes the model by less, relative to its size.

    Returns
    -------
    completion : Completion

    Examples
    --------
    >>> import numpy as np
    >>> table = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0])
    >>> table[0, 1] = np.nan
    >>> complete_low_rank(table, 1).filled[0].round(6).tolist()
    [1.0, 3.0, 2.0]
    """
    table, known = known_cells(X)
    if (rank is None) == (penalty is None) and rank is not None:
        raise DataError("give a rank or a penalty, not both")
    if rank is not None:
        found = factorize(table, rank, center=center, max_iter=max_iter, tol=tol)
        model = found.mean + found.scores @ found.components
        return _completed(table, known, model, len(found.components), found.costs)
    means = np.nanmean(table, axis=0) if center else np.zeros(table.shape[1])
    values = np.where(known, table - means, 0.0)
    if penalty is None:
        penalty = 0.1 * float(np.linalg.norm(values, 2))
    model, history, kept = np.zeros_like(values), [], 0
    for _ in range(max_iter):
        left, sizes, right = np.linalg.svd(np.where(known, values, model), full_matrices=False)
        shrunk = np.maximum(sizes - penalty, 0.0)
        new = (left * shrunk) @ right
        change = np.linalg.norm(new - model) / max(float(np.linalg.norm(new)), 1e-300)
        model, kept = new, int((shrunk > 0).sum())
        history.append(float(0.5 * ((values - model)[known] ** 2).sum() + penalty * shrunk.sum()))
        if change <= tol:
            break
    return _completed(table, known, model + means, kept, history)


@dataclass(repr=False)
class MatrixFactors(Result):
    """Ratings as mean, biases and products of factors.

    Attributes
    ----------
    mean : float
    row_biases, column_biases : ndarray
    row_factors : ndarray of shape (n, k)
    column_factors : ndarray of shape (d, k)
    history : list of float
        The penalised squared error after each turn.
    """

    mean: float
    row_biases: np.ndarray
    column_biases: np.ndarray
    row_factors: np.ndarray
    column_factors: np.ndarray
    history: list[float] = field(default_factory=list)

    def predict(self, rows: Any, columns: Any) -> np.ndarray:
        """The model's figure for pairs of a row and a column.

        Parameters
        ----------
        rows, columns : array-like of int of shape (m,)

        Returns
        -------
        values : ndarray of shape (m,)
        """
        rows, columns = np.asarray(rows), np.asarray(columns)
        product = (self.row_factors[rows] * self.column_factors[columns]).sum(axis=-1)
        return self.mean + self.row_biases[rows] + self.column_biases[columns] + product

    def matrix(self) -> np.ndarray:
        """All figures as a table."""
        return (
            self.mean
            + self.row_biases[:, np.newaxis]
            + self.column_biases
            + self.row_factors @ self.column_factors.T
        )

    def _title(self) -> str:
        n, k = self.row_factors.shape
        return f"{k} factors of {n} rows and {len(self.column_biases)} columns"

    def _columns(self) -> dict[str, list]:
        return {"turn": list(range(1, len(self.history) + 1)), "objective": self.history}


@one_blas_thread()
def matrix_factorization(
    X: Any,
    n_factors: int = 10,
    *,
    penalty: float = 0.1,
    bias_penalty: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> MatrixFactors:
    """Ratings by row and column as ``mean + b_i + c_j + u_i . v_j``, on known cells (003 4.5.3).

    Minimises ``sum over known (x_ij - mean - b_i - c_j - u_i.v_j)^2 + penalty (|u_i|^2 + |v_j|^2) +
    bias_penalty (b_i^2 + c_j^2)`` by alternating least squares, exact for each side in turn: the
    objective never rises. The first factors are singular vectors of what the baseline leaves.
    ``n_factors=0`` is the baseline of biases alone.

    Parameters
    ----------
    X : array-like of shape (n, d)
        NaN where there is no rating.
    n_factors : int, default=10
    penalty : float, default=0.1
        Per row and column.
    bias_penalty : float or None, default=None
        None for the same.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when a turn's relative gain is less.

    Returns
    -------
    factors : MatrixFactors

    Examples
    --------
    >>> ratings = [[5, 4, float("nan")], [1, float("nan"), 2], [4, 3, 5]]
    >>> baseline = matrix_factorization(ratings, 0)
    >>> bool(baseline.row_biases[0] > baseline.row_biases[1])
    True
    """
    table, known = known_cells(X)
    cells, mean = known.astype(np.float64), float(table[known].mean())
    values = np.where(known, table - mean, 0.0)
    bias_penalty = penalty if bias_penalty is None else bias_penalty
    ridge = np.r_[np.full(n_factors, penalty), bias_penalty]
    ours, theirs = _first_factors(values, cells, n_factors, ridge)
    history: list[float] = []
    for _ in range(max_iter):
        ours = _ridge_rows(values, cells, theirs, ridge)
        theirs = _ridge_rows(values.T, cells.T, ours, ridge)
        error = values - _product(ours, theirs)
        cost = (cells * error**2).sum() + (ours**2 @ ridge).sum() + (theirs**2 @ ridge).sum()
        history.append(float(cost))
        if len(history) > 1 and history[-2] - history[-1] <= tol * history[-1]:
            break
    return MatrixFactors(mean, ours[:, -1], theirs[:, -1], ours[:, :-1], theirs[:, :-1], history)


def _first_factors(values, cells, k: int, ridge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Biases, and the leading singular vectors of what they leave, unknown cells taken as zero."""
    ours, theirs = np.zeros((len(values), 1)), np.zeros((values.shape[1], 1))
    for _ in range(20):
        ours = _ridge_rows(values, cells, theirs, ridge[-1:])
        theirs = _ridge_rows(values.T, cells.T, ours, ridge[-1:])
    left, sizes, right = np.linalg.svd(
        cells * (values - _product(ours, theirs)), full_matrices=False
    )
    roots = np.zeros(k)
    found = min(k, len(sizes))
    roots[:found] = np.sqrt(sizes[:found] / max(float(cells.mean()), 1e-12))
    one, other = np.zeros((len(values), k)), np.zeros((values.shape[1], k))
    one[:, :found], other[:, :found] = left[:, :found], right[:found].T
    return np.hstack([one * roots, ours]), np.hstack([other * roots, theirs])


def _product(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return ours[:, :-1] @ theirs[:, :-1].T + ours[:, -1:] + theirs[:, -1]


def _ridge_rows(values, cells, others: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Factors and bias of every row given those of the columns, by penalised least squares."""
    design = np.column_stack([others[:, :-1], np.ones(len(others))])
    k = design.shape[1]
    products = (design[:, :, np.newaxis] * design[:, np.newaxis, :]).reshape(len(design), -1)
    normal = (cells @ products).reshape(-1, k, k) + np.diag(np.maximum(ridge, 1e-12))
    right = (cells * (values - others[:, -1])) @ design
    return np.linalg.solve(normal, right[:, :, np.newaxis])[:, :, 0]


@dataclass(repr=False)
class NonlinearFactors(Result):
    """A network from few inputs to a row, and the inputs found for each row.

    Attributes
    ----------
    inputs : ndarray of shape (n, k)
    hidden, output : tuple of ndarray
        Weights and biases of both layers.
    mean, scale : ndarray of shape (d,)
        Of the columns' known cells.
    history : list of float
    error : float
        Root mean squared error of the known cells, in standard deviations of the columns.
    """

    inputs: np.ndarray
    hidden: tuple[np.ndarray, np.ndarray]
    output: tuple[np.ndarray, np.ndarray]
    mean: np.ndarray
    scale: np.ndarray
    history: list[float]
    error: float

    def matrix(self) -> np.ndarray:
        """The model's figure for every cell."""
        activity = np.tanh(self.inputs @ self.hidden[0] + self.hidden[1])
        return self.mean + self.scale * (activity @ self.output[0] + self.output[1])

    def _title(self) -> str:
        n, k = self.inputs.shape
        return f"Nonlinear factors: {n} rows by {k} inputs, error {self.error:.4g}"

    def _columns(self) -> dict[str, list]:
        return {"step": list(range(1, len(self.history) + 1)), "objective": self.history}


@one_blas_thread()
def nonlinear_factorization(
    X: Any,
    n_inputs: int = 2,
    n_hidden: int = 10,
    *,
    penalty: float = 1e-3,
    max_iter: int = 500,
    random_state: Any = None,
) -> NonlinearFactors:
    """Rows as a small network's output whose inputs are trained with its weights (003 4.5.4).

    Minimises the squared error of the known cells plus `penalty` times the squares of inputs and
    weights, by L-BFGS. Missing cells have no term. Nonlinear PCA: with few inputs it follows
    curved sheets where `PCA` needs many components. The end is a local minimum.

    Parameters
    ----------
    X : array-like of shape (n, d)
        NaN where missing.
    n_inputs : int, default=2
    n_hidden : int, default=10
        Units of the hidden layer (tanh).
    penalty : float, default=1e-3
    max_iter : int, default=500
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    factors : NonlinearFactors

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(-1, 1, 40)
    >>> found = nonlinear_factorization(np.column_stack([t, t**2]), 1, random_state=0)
    >>> found.error < 0.1
    True
    """
    table, known = known_cells(X)
    rng = check_random_state(random_state)
    n, d = table.shape
    if not known.any(axis=0).all():
        raise DataError(f"column {int(np.argmin(known.any(axis=0)))} has no known cell")
    mean = np.nanmean(table, axis=0)
    scale = np.nanstd(table, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    values = np.where(known, (table - mean) / scale, 0.0)
    linear = factorize(np.where(known, values, np.nan), n_inputs, max_iter=50, tol=1e-4)
    inputs = np.zeros((n, n_inputs))
    k = linear.scores.shape[1]
    inputs[:, :k] = linear.scores / np.maximum(linear.scores.std(axis=0), 1e-12)
    shapes = [(n, n_inputs), (n_inputs, n_hidden), (n_hidden,), (n_hidden, d), (d,)]
    cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    start = [
        inputs,
        rng.standard_normal(shapes[1]) / np.sqrt(n_inputs),
        0.1 * rng.standard_normal(shapes[2]),
        rng.standard_normal(shapes[3]) / np.sqrt(n_hidden),
        np.zeros(d),
    ]
    history: list[float] = []

    def cost(flat: np.ndarray) -> tuple[float, np.ndarray]:
        u, w, b, v, c = (p.reshape(s) for p, s in zip(np.split(flat, cuts), shapes))
        activity = np.tanh(u @ w + b)
        error = np.where(known, activity @ v + c - values, 0.0)
        loss = (error**2).sum() + penalty * sum((part**2).sum() for part in (u, w, v))
        back = (error @ v.T) * (1 - activity**2)
        slopes = [back @ w.T, u.T @ back, back.sum(axis=0), activity.T @ error, error.sum(axis=0)]
        slopes = [2 * slope for slope in slopes]
        for place, part in ((0, u), (1, w), (3, v)):
            slopes[place] += 2 * penalty * part
        return float(loss), np.concatenate([slope.ravel() for slope in slopes])

    result = minimize(
        cost,
        np.concatenate([part.ravel() for part in start]),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "maxfun": 10**7},
    )
    u, w, b, v, c = (p.reshape(s) for p, s in zip(np.split(result.x, cuts), shapes))
    error = (np.tanh(u @ w + b) @ v + c - values)[known]
    return NonlinearFactors(
        u, (w, b), (v, c), mean, scale, history, float(np.sqrt((error**2).mean()))
    )
