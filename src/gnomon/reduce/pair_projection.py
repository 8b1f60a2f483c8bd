"""Linear projections by weights of pairs: PCA, weighted, normalised, supervised, and ratios.

PCA maximises  sum_{i<j} dist_ij^2  of the projected rows. With a weight per pair it is
sum_{i<j} d_ij dist_ij^2 = trace V' X' L X V  with the Laplacian L of the weights: the leading
eigenvectors of X' L X. A ratio of two such sums is a generalised eigenproblem.

Texts: 004 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import laplacian
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_array

from gnomon.contract import Data, Transformer, intake
from gnomon.contract.numbers import plain_numbers
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, Array, Optional, Text, Whole
from gnomon.engine.threads import in_order
from gnomon.reduce.spectrum import warn_fewer, with_signs
from gnomon.table.kinds import Kind
from gnomon.table.scan import Scan

CELLS_TOGETHER = 2**20  # numbers of a block: 8 MB
RANK_ROUNDING = 1e-10  # share of its length by which a direction must leave the others


@dataclass(repr=False)
class Projection(Result):
    """A linear map to few coordinates.

    Attributes
    ----------
    directions : ndarray of shape (k, d)
        One per coordinate.
    values : ndarray of shape (k,)
        What each direction reaches of the objective.
    mean : ndarray of shape (d,)
        Taken off before projecting.
    names : list of str
        Names of the columns.
    """

    directions: np.ndarray
    values: np.ndarray
    mean: np.ndarray
    names: list[str]

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        coordinates : ndarray of shape (n, k)
        """
        rows = check_array(plain_numbers(X), dtype=np.float64)
        if rows.shape[1] != len(self.mean):
            raise DataError(f"rows have {rows.shape[1]} columns, the map takes {len(self.mean)}")
        return (rows - self.mean) @ self.directions.T

    def explained(self, coordinate: int, most: int = 5) -> list[tuple[str, float]]:
        """The columns that make up a coordinate, largest coefficient first.

        Parameters
        ----------
        coordinate : int
            From 0.
        most : int, default=5

        Returns
        -------
        columns : list of (name, coefficient)
        """
        row = self.directions[coordinate]
        return [(self.names[j], float(row[j])) for j in np.argsort(-np.abs(row))[:most]]

    def _title(self) -> str:
        return f"Projection of {len(self.mean)} columns to {len(self.directions)}"

    def _columns(self) -> dict[str, list]:
        parts = [
            " ".join(f"{c:+.3g} {name}" for name, c in self.explained(k, 3))
            for k in range(len(self.directions))
        ]
        return {
            "coordinate": list(range(1, len(parts) + 1)),
            "value": list(self.values),
            "mostly": parts,
        }


def linear_projection(X: Any, directions: Any, names: list[str] | None = None) -> Projection:
    """Project centred rows on given directions, made orthonormal (004 15.1).

    Parameters
    ----------
    X : array-like of shape (n, d)
    directions : array-like of shape (k, d), or list of k column numbers
        Directions; a list of whole numbers picks columns. They are made orthonormal one after the
        other, so that the first keeps its direction; those that follow from earlier ones are
        refused.
    names : list of str or None, default=None
        Names of the columns.

    Returns
    -------
    projection : Projection
        ``values`` are the variances along the directions (divisor n).

    Examples
    --------
    >>> linear_projection([[1.0, 5.0], [3.0, 9.0]], [1]).transform([[2.0, 8.0]])
    array([[1.]])
    """
    rows = check_array(plain_numbers(X), dtype=np.float64)
    d = rows.shape[1]
    given = np.asarray(directions)
    if given.ndim == 1 and given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= d:
            raise DataError(f"columns are numbered 0 to {d - 1}, not {given.tolist()}")
        given = np.eye(d)[given]
    given = np.atleast_2d(given).astype(np.float64)
    if given.shape[1] != d:
        raise DataError(f"directions have {given.shape[1]} entries and rows {d} columns")
    orthonormal, triangle = np.linalg.qr(given.T)
    sizes = np.abs(np.diag(triangle)) / np.maximum(np.linalg.norm(given, axis=1), 1e-300)
    if len(given) > d or (sizes < RANK_ROUNDING).any():
        raise DataError(
            f"direction {int(np.argmin(sizes))} follows from the ones before it; leave it out"
        )
    mapped = (orthonormal * np.sign(np.diag(triangle))).T
    mean = rows.mean(axis=0)
    return Projection(mapped, ((rows - mean) @ mapped.T).var(axis=0), mean, _names(names, d))


def _names(names, d: int) -> list[str]:
    return [f"x{j}" for j in range(d)] if names is None else list(names)


def graph_laplacian(weights: Any, *, normalized: bool = False) -> Any:
    """The Laplacian of pair weights: ``x' L x = sum_{i<j} w_ij (x_i - x_j)^2``.

    ``L = D - W``, and normalized ``I - D^-1/2 W D^-1/2`` (004 15.2, 17.1.2). On a lattice L is the
    finite-difference Laplace operator with its sign turned.

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (n, n)
        Symmetric, not negative; the diagonal does not matter.
    normalized : bool, default=False

    Returns
    -------
    laplacian : ndarray or sparse array of shape (n, n)

    Examples
    --------
    >>> graph_laplacian([[0, 2], [2, 0]])
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return laplacian(pair_weights(weights), normed=normalized)


def pair_weights(weights: Any) -> Any:
    """A symmetric table of weights of pairs, checked, zero on its diagonal."""
    table = check_array(weights, dtype=np.float64, accept_sparse="csr", copy=True)
    if table.shape[0] != table.shape[1]:
        raise DataError(f"weights of pairs form a square table, not one of shape {table.shape}")
    least = table.data.min(initial=0.0) if sp.issparse(table) else table.min(initial=0.0)
    if least < 0:
        raise DataError(f"weights of pairs must not be negative; the least is {least:g}")
    if abs(table - table.T).max() > 1e-9 * max(abs(table).max(), 1e-300):
        raise DataError("weights of pairs must be symmetric; average them with their transpose")
    if sp.issparse(table):
        table = sp.csr_array(table)
        table.setdiag(0.0)
        table.eliminate_zeros()
    else:
        np.fill_diagonal(table, 0.0)
    return table


def pair_projection(
    X: Any,
    dissimilarity: Any,
    similarity: Any = None,
    *,
    n_components: int = 2,
    names: list[str] | None = None,
) -> Projection:
    """The projection that keeps pairs apart which should be apart (weighted PCA), or a ratio.

    Without `similarity`: orthonormal directions that maximise ``sum d_ij dist_ij^2`` of the
    projected rows, the leading eigenvectors of X' L X (004 15.3; the text once says minimise). With
    it: directions that maximise ``sum d_ij dist_ij^2 / sum sim_ij dist_ij^2``, orthonormal in the
    lower form (004 15.5). Linear discriminant analysis is the case
    sim_ij = 1 / (n n_class) within classes. Use it to tune a view by relations that coordinates do
    not hold: see `relation_weights`.

    Parameters
    ----------
    X : array-like of shape (n, d)
    dissimilarity : array-like or sparse matrix of shape (n, n), or None
        Weight of each pair; None for one everywhere (then without similarity this is PCA).
    similarity : array-like or sparse matrix of shape (n, n) or None, default=None
    n_components : int, default=2
    names : list of str or None, default=None

    Returns
    -------
    projection : Projection
        ``values``: the eigenvalues.

    Examples
    --------
    >>> X = [[-1.0, 1.2], [-1.0, -1.2], [1.0, 1.2], [1.0, -1.2]]
    >>> pair_projection(X, None).values.round(2)
    array([23.04, 16.  ])
    """
    rows = check_array(plain_numbers(X), dtype=np.float64)
    d = rows.shape[1]
    if not 1 <= n_components <= d:
        raise DataError(f"n_components={n_components} must lie between 1 and {d}")
    mean = rows.mean(axis=0)
    centered = rows - mean
    upper = _form(centered, dissimilarity)
    if similarity is None:
        values, vectors = scipy.linalg.eigh(upper)
    else:
        lower = _form(centered, similarity)
        if np.linalg.matrix_rank(lower, hermitian=True) < d:
            raise DataError(
                "the similar pairs do not vary in some direction, so the ratio has no bound: leave "
                "out constant or redundant columns, or add similar pairs"
            )
        values, vectors = scipy.linalg.eigh(upper, lower)
    best = np.argsort(values)[::-1][:n_components]
    return Projection(with_signs(vectors.T[best]), values[best], mean, _names(names, d))


def _form(centered: np.ndarray, weights: Any) -> np.ndarray:
    """X' L X, for weights one everywhere where None."""
    if weights is None:
        return len(centered) * centered.T @ centered
    table = pair_weights(weights)
    if table.shape[0] != len(centered):
        raise DataError(f"there are {len(centered)} rows and weights of {table.shape[0]} items")
    degrees = np.asarray(table.sum(axis=1)).ravel()
    form = (centered.T * degrees) @ centered - centered.T @ (table @ centered)
    return (form + form.T) / 2


def relation_weights(
    n: int,
    *,
    groups: Any = None,
    apart: Any = (),
    together: Any = (),
    within: float = 0.0,
    between: float = 1.0,
    strength: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of pairs from relations that a clustering or people give (004 15, 15.3).

    Parameters
    ----------
    n : int
        Number of rows.
    groups : array-like of shape (n,) or None, default=None
        A group per row; None where its group is not known.
    apart, together : sequence of (int, int)
        Pairs that people want apart, or together.
    within, between : float
        Dissimilarity of pairs in the same group and in different ones, or of unknown group.
    strength : float, default=1.0
        Weight of one given pair, in units of a pair between groups times n.

    Returns
    -------
    dissimilarity, similarity : ndarray of shape (n, n)
        For `pair_projection`; the similarity holds pairs in the same group, and those together.

    Examples
    --------
    >>> dissimilarity, similarity = relation_weights(3, groups=[0, 0, 1])
    >>> dissimilarity[0].tolist(), similarity[0].tolist()
    ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    """
    dissimilarity, similarity = np.full((n, n), float(between)), np.zeros((n, n))
    if groups is not None:
        codes = np.asarray(groups, dtype=object)
        if len(codes) != n:
            raise DataError(f"there are {n} rows and {len(codes)} groups")
        told = np.array([each is not None and each == each for each in codes])
        same = (codes[:, np.newaxis] == codes) & told[:, np.newaxis] & told
        dissimilarity[same] = within
        similarity[same] = 1.0
    for pairs, table in ((apart, dissimilarity), (together, similarity)):
        for i, j in pairs:
            table[i, j] = table[j, i] = table[i, j] + strength * n
    for i, j in together:
        dissimilarity[i, j] = dissimilarity[j, i] = 0.0
    np.fill_diagonal(dissimilarity, 0.0)
    np.fill_diagonal(similarity, 0.0)
    return dissimilarity, similarity


class _FormPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """The leading eigenvectors of a form X' L X that a subclass adds up."""

    _stored = {
        "components_": Array("f8", ("n_components_", "n_columns")),
        "mean_": Array("f8", ("n_columns",)),
        "n_components_": Whole(),
        "objective_values_": Array("f8", ("n_components_",)),
        "classes_": Optional(CLASSES),
    }

    def _keep_leading(self, form: np.ndarray, mean: np.ndarray) -> None:
        d = len(form)
        values, vectors = scipy.linalg.eigh((form + form.T) / 2)
        k = min(self.n_components, d)
        self.components_ = with_signs(np.ascontiguousarray(vectors.T[::-1][:k]))
        self.objective_values_ = np.maximum(values[::-1][:k], 0.0)
        self.mean_ = mean
        self.n_components_ = k
        warn_fewer(self.n_components, k, "there are no more columns")

    def _map(self, rows):
        return (rows - self.mean_) @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        return 8 * (2 * n_rows * n_columns + 4 * n_columns**2)

    def _check_loaded(self):
        if hasattr(self, "components_") and np.shape(self.mean_) != self.components_.shape[1:]:
            raise DataError("components_ and mean_ do not fit together")


@method(
    task="reduce",
    texts="004 15.3",
    use="A linear view that a few outliers do not decide.",
    avoid="Hundreds of thousands of rows: all pairs are looked at.",
)
class NormalizedPCA(_FormPCA):
    """Principal components with every pair counted by one over its distance.

    Maximises ``sum_{i<j} dist_ij(projected)^2 / dist_ij`` over orthonormal directions: pairs count
    by their distance and not by its square, so that a few far rows do not decide. Use it as PCA
    where there are outliers. Time grows with the square of the rows.

    Texts: 004 15.3. Equal rows have no distance to divide by and no term.

    Parameters
    ----------
    n_components : int, default=2
        At most; fewer where there are fewer columns.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors, each with its largest loading positive.
    objective_values_ : ndarray of shape (n_components_,)
        What each direction adds to the objective.
    mean_ : ndarray of shape (n_features,)
    n_components_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.reduce import NormalizedPCA
    >>> rows = [[-2.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 4.0]]
    >>> NormalizedPCA(1).fit(rows).components_.round(6)
    array([[1., 0.]])
    """

    _parameter_constraints = {"n_components": [whole(1)], "n_jobs": JOBS}

    def __init__(self, n_components=2, *, n_jobs=None):
        self.n_components = n_components
        self.n_jobs = n_jobs

    def _working_memory(self, n_rows, n_columns):
        block = 4 * min(n_rows**2, CELLS_TOGETHER)
        return super()._working_memory(n_rows, n_columns) + 8 * block

    def _fit(self, data: Data) -> None:
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        weights = data.weight_array
        mean = np.average(rows, axis=0, weights=weights)
        centered = np.ascontiguousarray(rows - mean)
        size = max(CELLS_TOGETHER // max(len(rows), 1), 1)

        def part(start: int) -> np.ndarray:
            block = centered[start : start + size]
            apart = cdist(block, centered)
            pairs = np.divide(weights, apart, out=np.zeros_like(apart), where=apart > 0)
            pairs *= weights[start : start + size, np.newaxis]
            return np.dot(block.T * pairs.sum(axis=1), block) - np.dot(
                block.T, np.dot(pairs, centered)
            )

        form = np.zeros((rows.shape[1], rows.shape[1]))
        for each in in_order(part, range(0, len(rows), size), self.n_jobs):
            form += each
        self._keep_leading(form, mean)


@method(
    task="reduce",
    texts="004 15.3",
    use="To look at classes, or at a number's course, where columns are too many to invert.",
    avoid="Rows that were not split: the view shows the target that it was given, also of noise.",
)
class SupervisedPCA(_FormPCA):
    """Principal components with pairs of the same class counted little or not at all.

    Maximises ``sum_{i<j} d_ij dist_ij(projected)^2`` over orthonormal directions with d_ij =
    `within` in the same class and one otherwise. Use it to look at classes where a discriminant
    analysis has too many columns for its rows: nothing is inverted. Distances stay distances. The
    view shows the classes it was given, also where they mean nothing: check on other rows.

    Where the target is a number with fractions, ``d_ij = within + (1 - within) (y_i - y_j)^2 / m``
    with m the mean of these squares: pairs of unlike targets count.

    Texts: 004 15.3 (classes). Computed from means and scatter, without pairs.

    Parameters
    ----------
    n_components : int, default=2
        At most; fewer where there are fewer columns.
    within : float, default=0.0
        Weight of a pair of the same class, between 0 and 1; 1 is PCA.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors, each with its largest loading positive.
    objective_values_ : ndarray of shape (n_components_,)
        What each direction adds to the objective.
    classes_ : ndarray of shape (n_classes,)
        Only where the target is classes.
    target_kind_ : {"classes", "numbers"}
        What the target was taken for.
    mean_ : ndarray of shape (n_features,)
    n_components_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.reduce import SupervisedPCA
    >>> rows = [[-1.0, 1.2], [-1.0, -1.2], [1.0, 1.2], [1.0, -1.2]]
    >>> SupervisedPCA().fit(rows, [0, 0, 1, 1]).objective_values_.round(2)
    array([16.  , 11.52])
    """

    _parameter_constraints = {"n_components": [whole(1)], "within": [between(0, 1)]}
    _stored = {
        "target_kind_": Text(),
    }

    def __init__(self, n_components=2, *, within=0.0):
        self.n_components = n_components
        self.within = within

    @property
    def _target(self):
        return getattr(self, "target_kind_", "classes")

    def _learn(self, X, y, sample_weight):
        self.__dict__.pop("classes_", None)
        self.target_kind_ = "numbers" if has_fractions(X, y) else "classes"
        return super()._learn(X, y, sample_weight)

    def _fit(self, data: Data) -> None:
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        weights = data.weight_array
        mean = np.average(rows, axis=0, weights=weights)
        centered = rows - mean
        form = float(weights.sum()) * (centered.T * weights) @ centered
        far = self._numbers if self.target_kind_ == "numbers" else self._classes
        form = self.within * form + (1 - self.within) * far(centered, data.y, weights, form)
        self._keep_leading(form, mean)

    def _classes(self, centered, y, weights, form) -> np.ndarray:
        """The form over pairs of different classes: that of all pairs less that within classes."""
        for code in range(len(self.classes_)):
            share = weights[y == code]
            if share.sum():
                mine = centered[y == code]
                around = mine - np.average(mine, axis=0, weights=share)
                form = form - share.sum() * (around.T * share) @ around
        return form

    def _numbers(self, centered, y, weights, form) -> np.ndarray:
        """The form with pairs weighted by squared differences of the target, of mean one."""
        size = float(np.abs(y).max())
        y = y / size if size > 0 else y
        y = y - np.average(y, weights=weights)
        total, squares = float(weights.sum()), float(weights @ y**2)
        if squares <= 0:
            return form
        with_both = centered.T @ (weights * y)
        products = total * (centered.T * (weights * y**2)) @ centered
        far = products + 2 * np.outer(with_both, with_both)
        return (far + squares * form / total) * total / (2 * squares)

    def _class_weights(self, totals):
        return None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def has_fractions(X: Any, y: Any) -> bool:
    """Whether a target, given by values or by the name of a column, is numbers with fractions."""
    if y is None:
        return False
    if isinstance(y, str):
        schema = X.schema if isinstance(X, Scan) else intake.as_table(X).schema
        return y in schema.names and schema[y].kind is Kind.NUMBER
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if values.dtype.kind != "f":
        return False
    return bool(np.isfinite(values).all() and (values != np.rint(values)).any())
