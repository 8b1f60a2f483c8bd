"""Laplacian eigenmaps: the squared distances of neighbours are minimised, and nothing else.

With affinities a_ij of neighbours and row weights w, places with the least
sum_{i<j} w_i w_j a_ij |y_i - y_j|^2  at  sum_i d_i y_i y_i' = I,  d_i = w_i sum_j w_j a_ij: the
lowest solutions of  L y = lambda D y  beside the constant one.

Texts: 004 16.4 and 17.1 (of a given graph).
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn import manifold

from gnomon.contract import Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Optional
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.falls_back import FallsBack
from gnomon.reduce.float32 import KeepsFloat32
from gnomon.reduce.rows_map import GraphMap, Part, inside, shares_of
from gnomon.reduce.spectrum import ROWS_OF_EIGH, with_signs

# Judgement: Lanczos vectors, twice SciPy's 20: close eigenvalues need fewer restarts.
MOST_VECTORS = 40


@method(
    task="reduce",
    texts="004 16.4, 17.1",
    use="To see groups and curves that neighbours tell of; before grouping rows (spectral).",
    avoid="Distances to be read from the map; groups of very unlike size.",
    peers=("sklearn.manifold.SpectralEmbedding",),
)
@without_effect("eigen_solver", "eigen_tol", "random_state")
class SpectralEmbedding(KeepsFloat32, FallsBack, GraphMap):
    """A map that draws neighbours together (Laplacian eigenmaps).

    Minimises ``sum_{i<j} w_i w_j a_ij |y_i - y_j|^2`` at ``sum_i d_i y_i y_i' = I`` over the graph
    of nearest neighbours: the lowest eigenvectors of the Laplacian against the degrees d, beside
    the constant one. Use it to see groups and curves; axes are ordered by how slowly they vary.
    Distances on the map mean little.

    Equal rows are one point of their weight. A new row lies where the objective wants it on the
    fixed map: at the mean of its neighbours' places by affinity.

    Texts: 004 16.4 and 17.1 lay out a given graph so (`spectral_layout`); here the graph is that of
    neighbours.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates of the map.
    affinity : {"nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors", \
            "nearest", "heat"} or callable, default="nearest_neighbors"
        "nearest_neighbors": 1 for rows that name each other as neighbors (a row counts itself as
        one of ``n_neighbors``), 1/2 where one names the other. "nearest": 1 for both cases, and a
        row does not count itself; "heat": ``exp(-distance^2 / (2 width^2))`` of these. The others
        are scikit-learn's: all pairs by a kernel, a given matrix, a function of the rows.
    gamma : float or None, default=None
        Of "rbf": ``exp(-gamma distance^2)``; None for 1 / n_features.
    n_neighbors : int or None, default=None
        Neighbors of a row among the different rows; None for a tenth of the rows.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    width : float or None, default=None
        Of "heat"; None for the root mean square distance of neighbors.
    disconnected : {"apart", "join", "refuse"}, default="join"
        What to do when the graph falls into parts that nothing joins: map each for itself and lay
        them side by side, join them by their nearest rows, or refuse. The first two warn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    places_ : ndarray of shape (n_distinct, n_components)
        The places of the different rows.
    eigenvalues_ : ndarray of shape (n_components,)
        ``lambda`` of the axes, between 0 and 2; of the largest part, where there are several.
    width_ : float
        The width that was used; 0 for "nearest".
    n_parts_ : int
        Parts of the graph of neighbours.
    part_ : ndarray of shape (n_distinct,)
        The part of each different row; all 0 where parts were joined.
    point_ : ndarray of shape (n_samples,)
        Which of the different rows each row is; absent where some rows were not needed.
    n_neighbors_ : int
        Neighbours that were taken: fewer where fewer rows differ.
    index_ : NeighbourIndex
        The different rows.
    peer_ : sklearn.manifold.SpectralEmbedding
        Only where scikit-learn's class computed the map (other ``affinity``); its
        ``affinity_matrix_`` is then here too.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import SpectralEmbedding
    >>> t = np.linspace(0, 3 * np.pi / 2, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> along = SpectralEmbedding(1, n_neighbors=2).fit_transform(circle)[:, 0]
    >>> bool(abs(np.corrcoef(along, t)[0, 1]) > 0.95)
    True
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "affinity": [
            StrOptions(
                {
                    "nearest_neighbors",
                    "rbf",
                    "precomputed",
                    "precomputed_nearest_neighbors",
                    "nearest",
                    "heat",
                }
            ),
            callable,
        ],
        "gamma": [at_least(0), None],
        "n_neighbors": [whole(1), None],
        "n_jobs": [None, Integral],
        "width": [None, above(0)],
        "disconnected": [StrOptions({"apart", "join", "refuse"})],
    }
    _stored = {
        "affinity_matrix_": Optional(Array("f8", (None, None))),
        "eigenvalues_": Optional(Array("f8", ("n_components",))),
        "gamma_": Optional(Number()),
        "width_": Optional(Number()),
    }

    def __init__(
        self,
        n_components=2,
        *,
        affinity="nearest_neighbors",
        gamma=None,
        random_state=None,
        eigen_solver=None,
        eigen_tol="auto",
        n_neighbors=None,
        n_jobs=None,
        width=None,
        disconnected="join",
    ):
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.width = width
        self.disconnected = disconnected

    natively = Takes(sparse=True)
    _peer = manifold.SpectralEmbedding
    _densifies = True
    _of_rows_dtype = ("embedding_",)

    def _is_own(self, X):
        return self.affinity in ("nearest_neighbors", "nearest", "heat")

    def _neighbors_asked(self, n_distinct: int) -> int:
        asked = max(n_distinct // 10, 1) if self.n_neighbors is None else self.n_neighbors
        return max(asked - 1, 1) if self.affinity == "nearest_neighbors" else asked

    def _begin(self, distinct: DistinctRows, found: Neighbors, n_parts: int) -> None:
        self.width_, self.eigenvalues_, self._largest_part = 0.0, np.empty(0), 0
        n, k = found.indices.shape
        named = np.ones(n * k), found.indices.ravel(), np.arange(0, n * k + 1, k)
        self._named = sp.csr_array(named, (n, n))
        if self.affinity == "heat":
            usual = float(np.sqrt((found.distances**2).mean()))
            self.width_ = float(self.width) if self.width is not None else usual or 1.0

    def _affinities(self, distances: np.ndarray) -> np.ndarray:
        if self.affinity != "heat":
            return np.ones_like(distances)
        # neighbours stay joined, however far
        return np.maximum(np.exp(-0.5 * (distances / self.width_) ** 2), 1e-12)

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        try:
            return super()._place(distinct)
        finally:
            self.__dict__.pop("_largest_part", None)
            self.__dict__.pop("_named", None)

    def _place_part(self, distinct: DistinctRows, part: Part) -> np.ndarray:
        weights = distinct.weights[part.members]
        table = part.graph.copy()
        table.data = self._affinities(table.data)
        if self.affinity == "nearest_neighbors":
            table = mutual(table, inside(self._named, part.members))
        table = sp.csr_array(sp.diags_array(weights) @ table @ sp.diags_array(weights))
        degrees = np.asarray(table.sum(axis=1)).ravel()
        roots = np.sqrt(degrees)
        scaled = sp.csr_array(sp.diags_array(1 / roots) @ table @ sp.diags_array(1 / roots))
        k = min(self.n_components, len(weights) - 1)
        closeness, vectors = leading_beside(scaled, roots / np.linalg.norm(roots), k)
        if len(weights) > self._largest_part:
            self._largest_part, self.eigenvalues_ = len(weights), 1 - closeness
        return with_signs((vectors / roots[:, np.newaxis]).T).T

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        shares = shares_of(np.where(self._near_parts(found), self._affinities(found.distances), 0))
        return np.einsum("nj,njc->nc", shares, self.places_[found.indices])

    def _working_memory(self, n_rows, n_columns):
        dense = 8 * 4 * min(n_rows, ROWS_OF_EIGH) ** 2
        vectors = 8 * n_rows * (MOST_VECTORS + 4 * self.n_components)
        neighbors = self.n_neighbors or max(n_rows // 10, 1)
        graph = 16 * n_rows * neighbors * 10
        return dense + vectors + graph + self._rows_memory(n_rows, n_columns)

    def _memory_remedy(self):
        return "Ask for fewer n_neighbors, or map fewer rows."


def mutual(table: sp.csr_array, named: sp.csr_array) -> sp.csr_array:
    """Half of the affinity where only one of two rows names the other; bridges stay whole."""
    both = named + named.T
    both.data = np.where(both.data > 1, 1.0, 0.5)
    return sp.csr_array(table.multiply(both) + (table - table.multiply(both > 0)))


def leading_beside(table: sp.csr_array, first: np.ndarray, k: int):
    """The k leading eigenvectors of a symmetric table beside a known one of value one."""
    n = table.shape[0]
    if n <= ROWS_OF_EIGH or 4 * k > n:
        whole = table.toarray() - 4.0 * np.outer(first, first)
        values, vectors = scipy.linalg.eigh(whole, subset_by_index=[n - k, n - 1])
        return values[::-1], vectors[:, ::-1]

    def beside(vector):
        return table @ vector - 4.0 * first * (first @ vector)

    start = np.random.default_rng(0).standard_normal(n)
    operator = sp.linalg.LinearOperator((n, n), beside, dtype=np.float64)
    width = min(max(4 * k, MOST_VECTORS), n - 1)
    try:
        values, vectors = eigsh(operator, k, which="LA", v0=start, ncv=width, maxiter=200 + n)
    except ArpackNoConvergence as error:
        raise DataError(
            f"the eigenvectors of the graph of {n:,} rows were not found in {200 + n:,} restarts: "
            "use more neighbours, which joins the graph better"
        ) from error
    order = np.argsort(-values)
    return values[order], vectors[:, order]
