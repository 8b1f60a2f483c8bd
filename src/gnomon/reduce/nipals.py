"""NIPALS: a few principal components by alternating least squares, also with missing cells.

Minimises  sum over known (i, j) of e_ij (x_ij - m_j - sum_k w_ik u_jk)^2.  One component: given u,
w_i = sum_j e_ij x_ij u_j / sum_j e_ij u_j^2; given w, u_j = sum_i e_ij x_ij w_i / sum_i e_ij w_i^2,
all sums over known cells. The next component fits what the first leaves.

Texts: 000a 5.1.5 and 5.1.6 · 003 2.7.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Data, Transformer
from gnomon.contract.numbers import number_rows
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.reduce.spectrum import warn_fewer, with_signs

RANK_ROUNDING = 1e-12  # share of the table's length below which what is left is rounding


class Factors(NamedTuple):
    """A matrix as ``mean + scores @ components``.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    scores : ndarray of shape (n, k)
    components : ndarray of shape (k, d)
        Orthonormal rows in falling order of the scores' squares.
    costs : list of float
        The squared error over known cells after each step.
    converged : bool
    """

    mean: np.ndarray
    scores: np.ndarray
    components: np.ndarray
    costs: list[float]
    converged: bool


@method(
    task="reduce",
    texts="000a 5.1.5, 5.1.6 · 003 2.7",
    use="A few components of a table with missing cells or cells of unequal trust; filling them.",
    avoid="Many components of a complete table: PCA is exact and faster.",
    peers=("R nipals", "R pcaMethods"),
)
class NIPALS(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal components from the known cells of a table.

    Minimises ``sum over known (i, j) of (x_ij - m_j - sum_k w_ik u_jk)^2``. Use it where cells are
    missing, or to fill them; where all are known it finds the components of `PCA`, one after the
    other, and `PCA` is faster. Not for a share of missing cells so large that a column or row has
    fewer known cells than components.

    Texts: 000a 5.1.5-5.1.6. The text prints the sums of the denominators over all cells and a wrong
    index; these do not minimise its cost, so sums here run over known cells. One component after
    the other is not the minimum either where cells are missing: with ``refine`` all components
    and the mean are improved together afterwards (alternating least squares), so that data of
    rank k with missing cells are recovered exactly.

    Parameters
    ----------
    n_components : int, default=2
        Components, at most; fewer where the rows have a smaller rank.
    center : bool, default=True
        Whether the model has a mean.
    refine : bool, default=True
        Whether components and mean are improved together where cells are missing.
    max_turns : int, default=2000
        Most turns for one component, and most turns of the refinement.
    tol : float, default=1e-11
        A component has converged when its unit vector moves by less than this; the refinement when
        the relative gain of a turn is less, or the error is less than rounding.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors, each with its largest loading positive.
    singular_values_ : ndarray of shape (n_components_,)
        Lengths of the columns of scores (rows times the roots of their weights).
    mean_ : ndarray of shape (n_features,)
    n_components_ : int
    costs_ : ndarray
        Squared error over the known cells of the training rows, after each component and each turn
        of the refinement.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import NIPALS
    >>> rows = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 2.0])
    >>> rows[1, 2] = rows[3, 0] = np.nan
    >>> NIPALS(1, center=False).fit(rows).fill(rows).round(6)
    array([[1., 2., 2.],
           [2., 4., 4.],
           [3., 6., 6.],
           [4., 8., 8.]])
    """

    natively = Takes(missing=True)
    _parameter_constraints = {
        "n_components": [whole(1)],
        "center": FLAG,
        "refine": FLAG,
        "max_turns": [whole(1)],
        "tol": [above(0)],
    }
    _stored = {
        "components_": Array("f8", ("n_components_", "n_columns")),
        "costs_": Array("f8", (None,)),
        "mean_": Array("f8", ("n_columns",)),
        "n_components_": Whole(),
        "singular_values_": Array("f8", ("n_components_",)),
    }

    def __init__(
        self,
        n_components=2,
        *,
        center=True,
        refine=True,
        max_turns=2000,
        tol=1e-11,
    ):
        self.n_components = n_components
        self.center = center
        self.refine = refine
        self.max_turns = max_turns
        self.tol = tol

    def _fit(self, data: Data) -> None:
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        factors = factorize(
            rows,
            self.n_components,
            data.weight_array[:, np.newaxis],
            center=self.center,
            refine=self.refine,
            max_iter=self.max_turns,
            tol=self.tol,
        )
        self._keep(self._attributes(factors, data.weight_array))
        warn_fewer(
            self.n_components, self.n_components_, "no more are left in the known cells to fit"
        )
        if not factors.converged:
            warnings.warn(
                f"NIPALS stopped after max_turns={self.max_turns} turns, before its components "
                "stood still; allow more turns, a larger tol, or fewer components",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _attributes(self, factors: Factors, weights: np.ndarray) -> dict[str, Any]:
        return {
            "components_": factors.components,
            "singular_values_": np.sqrt((weights[:, np.newaxis] * factors.scores**2).sum(axis=0)),
            "mean_": factors.mean,
            "n_components_": len(factors.components),
            "costs_": np.array(factors.costs),
        }

    def _map(self, rows):
        return row_scores(rows, self.mean_, self.components_)

    def inverse_transform(self, X) -> np.ndarray:
        """The rows that coordinates stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        coordinates = check_array(X, dtype=np.float64)
        if coordinates.shape[1] != self.n_components_:
            raise DataError(
                f"inverse_transform takes {self.n_components_} coordinates per row, "
                f"not {coordinates.shape[1]}"
            )
        return coordinates @ self.components_ + self.mean_

    def fill(self, X) -> np.ndarray:
        """The rows with their missing cells filled by the components; known cells stay.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """

        def filled(rows):
            guess = self._map(rows) @ self.components_ + self.mean_
            return np.where(np.isnan(rows), guess, rows)

        return self._each_block(filled, X)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        k = self.n_components + 1
        return 8 * (8 * n_rows * n_columns + (n_rows + n_columns) * (3 * k * k + 4 * k))

    def _check_loaded(self):
        if hasattr(self, "components_") and np.shape(self.mean_) != self.components_.shape[1:]:
            raise DataError("components_ and mean_ do not fit together")


@one_blas_thread()
def factorize(
    rows: np.ndarray,
    k: int,
    entry_weights: np.ndarray | float = 1.0,
    *,
    center: bool = True,
    refine: bool = True,
    max_iter: int = 2000,
    tol: float = 1e-11,
) -> Factors:
    """The best rank-k model of the known cells, each counted by its weight.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        NaN where a cell is not known.
    k : int
        Components, at most.
    entry_weights : float or array that fits (n, d), default=1.0
        Weight of every cell: one per row, one per column, or one per cell.
    center, refine, max_iter, tol
        As in `NIPALS`.

    Returns
    -------
    factors : Factors

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.outer([1.0, 2.0, 3.0], [2.0, 1.0])
    >>> factors = factorize(rows, 1, center=False)
    >>> np.allclose(factors.scores @ factors.components, rows)
    True
    """
    known = ~np.isnan(rows)
    _require_known(known)
    cells = np.where(known, np.broadcast_to(entry_weights, rows.shape), 0.0)
    values = np.where(known, rows, 0.0)
    offset = _weighted_means(values, cells)
    values = np.where(known, values - offset, 0.0)
    mean = np.zeros(rows.shape[1]) if center else -offset
    left = values if center else np.where(known, values + offset, 0.0)
    total = float((cells * left**2).sum())
    scores: list[np.ndarray] = []
    components: list[np.ndarray] = []
    costs: list[float] = []
    converged = True
    for _ in range(min(k, *rows.shape)):
        if components and costs[-1] <= RANK_ROUNDING**2 * total:
            break
        found = one_component(left, cells, max_iter, tol)
        if found is None:
            break
        w, u, settled = found
        left = np.where(known, left - np.outer(w, u), 0.0)
        scores.append(w)
        components.append(u)
        costs.append(float((cells * left**2).sum()))
        converged &= settled
    if not components:
        unit = np.zeros(rows.shape[1])
        unit[0] = 1.0
        return Factors(mean + offset, np.zeros((len(rows), 1)), unit[np.newaxis], [0.0], True)
    model = np.column_stack(scores), np.array(components), mean
    uneven = not known.all() or (np.ndim(entry_weights) == 2 and np.shape(entry_weights)[1] > 1)
    if uneven and refine:
        model, more, settled = _refined(values, cells, model, center, max_iter, tol, total)
        costs += more
        converged = settled
    mean, placed, axes = _in_order(*model, cells, center, offset, uneven)
    return Factors(mean, placed, axes, costs, converged)


def one_component(left, cells, max_iter: int, tol: float):
    """One component of a matrix by alternating least squares; None where nothing is left to fit."""
    # cells of little trust must not choose where to start; a row's own weight must not either
    trust = cells / np.maximum(cells.max(axis=1, keepdims=True), np.finfo(float).tiny)
    lengths = (trust * left**2).sum(axis=1)
    if not lengths.any():
        return None
    start = int(np.argmax(lengths))
    u = trust[start] * left[start]
    u /= np.linalg.norm(u)
    for _ in range(max_iter):
        w = _ratio((cells * left) @ u, cells @ u**2)
        new = _ratio((cells * left).T @ w, cells.T @ w**2)
        length = np.linalg.norm(new)
        if length == 0:
            return None
        new /= length
        moved = min(np.linalg.norm(new - u), np.linalg.norm(new + u))
        u = new
        if moved <= tol:
            return _ratio((cells * left) @ u, cells @ u**2), u, True
    return _ratio((cells * left) @ u, cells @ u**2), u, False


def _refined(values, cells, model, center: bool, max_iter: int, tol: float, total: float):
    """All components and the mean together, by alternating least squares over known cells."""
    scores, components, mean = model
    costs: list[float] = []
    for _ in range(max_iter):
        scores = _solved(values - mean, cells, components.T)
        if center:
            with_one = np.column_stack([scores, np.ones(len(scores))])
            solved = _solved(values.T, cells.T, with_one).T
            components, mean = solved[:-1], solved[-1]
        else:
            components = _solved((values - mean).T, cells.T, scores).T
        error = values - mean - scores @ components
        costs.append(float((cells * error**2).sum()))
        small = costs[-1] <= (1e-14) ** 2 * total
        if small or (len(costs) > 1 and costs[-2] - costs[-1] <= tol * costs[-1]):
            return (scores, components, mean), costs, True
    return (scores, components, mean), costs, False


def _solved(values, cells, factors: np.ndarray) -> np.ndarray:
    """Row by row, the least-squares coefficients of the known cells in the factors (d, k)."""
    k = factors.shape[1]
    products = (factors[:, :, np.newaxis] * factors[:, np.newaxis, :]).reshape(len(factors), -1)
    normal = (cells @ products).reshape(-1, k, k)
    right = (cells * values) @ factors
    inverse = np.linalg.pinv(normal, rcond=1e-12, hermitian=True)
    return np.einsum("nij,nj->ni", inverse, right)


def _in_order(scores, components, mean, cells, center: bool, offset, uneven: bool):
    """Orthonormal components in falling order, scores without a mean of their own."""
    weights = cells.max(axis=1)
    if center and uneven and weights.sum() > 0:
        shift = np.average(scores, axis=0, weights=weights)
        mean = mean + shift @ components
        scores = scores - shift
    triangle = np.linalg.qr(np.sqrt(weights)[:, np.newaxis] * scores, mode="r")
    _, _, right = np.linalg.svd(triangle @ components, full_matrices=False)
    right = with_signs(right)
    return mean + offset, scores @ (components @ right.T), right


def row_scores(rows: np.ndarray, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Coordinates of rows by least squares over their known cells."""
    known = ~np.isnan(rows)
    if known.all():
        return (rows - mean) @ components.T
    whole_rows = known.all(axis=1)
    values = np.where(known, rows - mean, 0.0)
    solved = _solved(values, known.astype(np.float64), np.ascontiguousarray(components.T))
    return np.where(whole_rows[:, np.newaxis], values @ components.T, solved)


def _ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


def _weighted_means(values: np.ndarray, cells: np.ndarray) -> np.ndarray:
    return _ratio((cells * values).sum(axis=0), cells.sum(axis=0))


def _require_known(known: np.ndarray) -> None:
    empty = np.flatnonzero(~known.any(axis=0))
    if len(empty):
        raise DataError(
            f"column {empty[0]} has no known cell, so nothing can be learnt about it; leave it out"
        )


@dataclass(repr=False)
class FirstComponents(Result):
    """Components by repeated passes, and how surely each was found.

    Attributes
    ----------
    components : ndarray of shape (k, d)
    variances : ndarray of shape (k,)
        Mean squares of the scores (divided by the number of rows).
    passes : list of int
        Passes made for each.
    ratios : list of float
        How much the last pass shrank the change of direction: near
        ``second variance / first variance``. Near 1, more passes are needed.
    """

    components: np.ndarray
    variances: np.ndarray
    passes: list[int]
    ratios: list[float]

    def _title(self) -> str:
        return f"{len(self.components)} components by repeated passes"

    def _columns(self) -> dict[str, list]:
        return {
            "component": list(range(1, len(self.components) + 1)),
            "variance": list(self.variances),
            "passes": self.passes,
            "shrinkage of the error per pass": self.ratios,
        }


def first_principal_components(
    X, n_components: int = 1, *, passes: int = 10, tol: float | None = None, random_state=None
) -> FirstComponents:
    """The first principal component by passes over the rows, without a covariance (003 2.7).

    From a random p, repeat  t = sum_i (x_i . p) x_i,  p = t / |t|.  The error shrinks by the ratio
    of the second variance to the first per pass: ten passes, the text's number, do not suffice
    where these are close. Further components fit what the earlier ones leave.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_components : int, default=1
    passes : int, default=10
        Passes, or most passes where `tol` is given.
    tol : float or None, default=None
        Stop when the direction moves by less.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    found : FirstComponents

    Examples
    --------
    >>> found = first_principal_components([[0, 0], [1, 1], [2, 2.0]], random_state=0)
    >>> found.components.round(4)
    array([[0.7071, 0.7071]])
    """
    rows = number_rows(X)
    rng = check_random_state(random_state)
    left = rows - rows.mean(axis=0)
    components: list[np.ndarray] = []
    counts: list[int] = []
    ratios: list[float] = []
    for _ in range(n_components):
        p = rng.standard_normal(rows.shape[1])
        p /= np.linalg.norm(p)
        moves: list[float] = []
        for _ in range(passes):
            t = left.T @ (left @ p)
            length = np.linalg.norm(t)
            if length == 0:
                raise DataError(
                    f"the rows have no variance beyond {len(components)} components; use fewer"
                )
            t /= length
            moves.append(float(np.linalg.norm(t - p)))
            p = t
            if tol is not None and moves[-1] <= tol:
                break
        components.append(with_signs(p[np.newaxis])[0])
        counts.append(len(moves))
        before = moves[-2] if len(moves) > 1 else 0.0
        ratios.append(moves[-1] / before if before > 0 else 0.0)
        left = left - np.outer(left @ p, p)
    directions = np.array(components)
    scores = (rows - rows.mean(axis=0)) @ directions.T
    return FirstComponents(directions, (scores**2).mean(axis=0), counts, ratios)
