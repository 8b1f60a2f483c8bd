"""Locally linear embedding: every row stays the same mix of its neighbours.

Mixes: for each row the weights a_ij of its neighbours, summing to one, with the least
|x_i - sum_j a_ij x_j|^2. Map: places with the least  sum_i w_i |y_i - sum_j a_ij y_j|^2  at
sum_i w_i y_i y_i' = I, the lowest eigenvectors of (I - A)' W (I - A) beside the constant one.
"""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn import manifold

from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import SEED, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Number
from gnomon.engine.threads import in_order
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.falls_back import FallsBack
from gnomon.reduce.float32 import KeepsFloat32
from gnomon.reduce.rows_map import GraphMap, Part, inside
from gnomon.reduce.spectrum import ROWS_OF_EIGH, lowest_pairs, with_signs

ROWS_TOGETHER = 512  # judgement: one turn of a thread
# Judgement: ten eigenvectors of 3,000 rows take 1.7 s; `n_landmarks` sets both.
MOST_ALL = 3000
USUAL_LANDMARKS = 1500


@method(
    task="reduce",
    texts="003 2.7 (of its kind)",
    use="Rows on one smooth sheet of even density, when local shape matters and distances do not.",
    avoid="Noisy rows, uneven density, several sheets: maps collapse into lines and spikes.",
    peers=("sklearn.manifold.LocallyLinearEmbedding",),
)
@without_effect("eigen_solver", "tol", "max_iter", "neighbors_algorithm")
@former_parameters(regularisation="reg")
class LocallyLinearEmbedding(KeepsFloat32, FallsBack, GraphMap):
    """A map on which every row is the same mix of its neighbours as among the columns.

    Weights ``a_ij`` of a row's neighbors minimize ``|x_i - sum_j a_ij x_j|^2`` at sum one (with a
    little of the trace added, so that more neighbours than columns have a solution); places
    minimise ``sum_i w_i |y_i - sum_j a_ij y_j|^2`` at mean 0 and ``sum_i w_i y_i y_i' = I``. Use it
    for one smooth, evenly sampled sheet; `Isomap` keeps distances too. Scales of axes mean nothing.

    Equal rows are one point that counts by their weight. Of many rows the map is made from some,
    and the others are placed as mixes of these.

    Texts: none describes it; it stands beside Isomap (003 2.7.4). After Roweis and Saul (2000).

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors among the different rows; more than n_components.
    n_components : int, default=2
        Coordinates of the map.
    reg : float, default=1e-3
        Share of the trace that is added to the matrix of a row's neighbors.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        The objective; all but "standard" are scikit-learn's.
    hessian_tol : float, default=1e-4
        Of "hessian".
    modified_tol : float, default=1e-12
        Of "modified".
    random_state : int, RandomState instance or None, default=None
        The draw of landmarks.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    n_landmarks : int, "auto" or "all", default="auto"
        Rows that the map is made from; "auto": all of up to 3,000 different rows, and beyond that
        1,500 drawn at random, with a warning.
    disconnected : {"apart", "join", "refuse"}, default="apart"
        What to do when the graph of neighbors falls into parts: map each for itself and lay them
        side by side, take them as one (which the objective then leaves apart all the same), or
        refuse. The first two warn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    places_ : ndarray of shape (n_stored, n_components)
        The places of the rows that the map is made from.
    reconstruction_error_ : float
        The objective: mean squared error of the mixes on the map, summed over parts and axes.
    n_parts_ : int
        Parts of the graph of neighbours.
    part_ : ndarray of shape (n_stored,)
        The part of each stored row.
    point_ : ndarray of shape (n_samples,)
        Which of the different rows each row is; absent where some rows were not needed.
    n_neighbors_ : int
        Neighbours that were taken: fewer where fewer rows differ.
    grid_ : ndarray of shape (n_columns,)
        Steps that rows are rounded to before all else, 2^-32 of a column's range: the map would
        otherwise hang on the last bits of a row.
    index_ : NeighbourIndex
        The different rows that the map is made from.
    peer_ : sklearn.manifold.LocallyLinearEmbedding
        Only where scikit-learn's class computed the map (other ``method``); its ``nbrs_`` is then
        here too.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import LocallyLinearEmbedding
    >>> t = np.linspace(0, 3 * np.pi / 2, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> along = LocallyLinearEmbedding(n_components=1, n_neighbors=2).fit_transform(circle)[:, 0]
    >>> bool((np.diff(along) > 0).all() or (np.diff(along) < 0).all())
    True
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "n_components": [whole(1)],
        "reg": [at_least(0)],
        "method": [StrOptions({"standard", "hessian", "modified", "ltsa"})],
        "hessian_tol": [at_least(0)],
        "modified_tol": [at_least(0)],
        "random_state": SEED,
        "n_jobs": [None, Integral],
        "n_landmarks": [whole(3), StrOptions({"auto", "all"})],
        "disconnected": [StrOptions({"apart", "join", "refuse"})],
    }
    _stored = {
        "reconstruction_error_": Number(),
    }

    def __init__(
        self,
        *,
        n_neighbors=5,
        n_components=2,
        reg=1e-3,
        eigen_solver="auto",
        tol=1e-6,
        max_iter=100,
        method="standard",
        hessian_tol=1e-4,
        modified_tol=1e-12,
        neighbors_algorithm="auto",
        random_state=None,
        n_jobs=None,
        n_landmarks="auto",
        disconnected="apart",
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.n_landmarks = n_landmarks
        self.disconnected = disconnected

    _chaotic = True
    _peer = manifold.LocallyLinearEmbedding
    _of_rows_dtype = ("embedding_",)

    def _is_own(self, X):
        return self.method == "standard"

    def _most_steps(self) -> int:
        return 0

    def _drawn(self, distinct: DistinctRows) -> DistinctRows:
        n = len(distinct.rows)
        wanted = self._wanted_landmarks(n)
        if wanted == n:
            return distinct
        warnings.warn(
            f"LocallyLinearEmbedding made its map from {wanted:,} of {n:,} different rows, drawn "
            "at random, and placed the others as mixes of these; n_landmarks='all' takes all",
            GnomonWarning,
            stacklevel=2,
        )
        chosen = np.sort(self._rng().choice(n, wanted, replace=False))
        return DistinctRows(distinct.rows[chosen], distinct.weights[chosen], chosen)

    def _wanted_landmarks(self, n: int) -> int:
        if self.n_landmarks == "auto":
            return n if n <= MOST_ALL else USUAL_LANDMARKS
        return n if self.n_landmarks == "all" else min(self.n_landmarks, n)

    def _begin(self, distinct: DistinctRows, found: Neighbors, n_parts: int) -> None:
        self.reconstruction_error_ = 0.0
        mixes = self._mixes(distinct.rows, found)
        n, k = found.indices.shape
        pointers = np.arange(0, n * k + 1, k)
        self._mix = sp.csr_array((mixes.ravel(), found.indices.ravel(), pointers), (n, n))

    def _mixes(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        """Weights of each row's nearest stored rows."""
        stored = self.index_.stored

        def some(start):
            mine = slice(start, start + ROWS_TOGETHER)
            apart = stored[found.indices[mine]] - rows[mine, np.newaxis]
            return mixing_weights(apart, self.reg)

        parts = in_order(some, range(0, len(rows), ROWS_TOGETHER), self.n_jobs)
        return np.concatenate(list(parts))

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        try:
            return super()._place(distinct)
        finally:
            self.__dict__.pop("_mix", None)

    def _place_part(self, distinct: DistinctRows, part: Part) -> np.ndarray:
        weights = distinct.weights[part.members]
        n = len(weights)
        roots = np.sqrt(weights / weights.sum())
        # errors of all mixes in the scale of the roots: the form is then an ordinary one
        errors = sp.csr_array(sp.eye_array(n) - inside(self._mix, part.members))
        errors = sp.diags_array(roots) @ errors @ sp.diags_array(1 / roots)
        k = min(self.n_components, n - 1)
        values, vectors = lowest_pairs((errors.T @ errors).toarray(), k + 1)
        # the constant map is the lowest of all; nearly as low ones may hide it among them
        constant = int(np.argmax(np.abs(vectors.T @ roots)))
        others = np.delete(np.arange(k + 1), constant)
        self.reconstruction_error_ += float(np.maximum(values[others], 0.0).sum())
        kept = vectors[:, others] - np.outer(roots, roots @ vectors[:, others])
        # unit sum of squares over the rows, each counted by its weight, as in scikit-learn
        scale = np.sqrt(weights.sum())
        return with_signs((kept / roots[:, np.newaxis]).T).T / scale

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        apart = self.index_.stored[found.indices] - rows[:, np.newaxis]
        apart[~self._near_parts(found)] = np.inf
        mixes = mixing_weights(apart, self.reg)
        return np.einsum("nj,njc->nc", mixes, self.places_[found.indices])

    def _rows_at_once(self, rows) -> int:
        return ROWS_TOGETHER

    def _working_memory(self, n_rows, n_columns):
        m = self._wanted_landmarks(n_rows)
        k = self.n_neighbors
        mixing = 8 * 3 * min(ROWS_TOGETHER, m) * k * (n_columns + k)
        sparse = 16 * m * k * (k + 8)
        dense = 8 * (m * m + 4 * min(m, ROWS_OF_EIGH) ** 2)  # where the graph is one part
        return dense + mixing + sparse + self._rows_memory(n_rows, n_columns)

    def _memory_remedy(self):
        return "Ask for fewer n_landmarks, or map fewer rows."


def mixing_weights(apart: np.ndarray, regularization: float) -> np.ndarray:
    """Weights of sum one with the least ``|sum_j a_j (x_j - x)|^2`` plus a share of their squares.

    Parameters
    ----------
    apart : ndarray of shape (n, k, d)
        Neighbours minus their row; infinite where a neighbour must not be used.
    regularization : float
        Share of the trace.

    Returns
    -------
    weights : ndarray of shape (n, k)
    """
    barred = np.isinf(apart[:, :, 0])
    apart = np.where(barred[:, :, np.newaxis], 0.0, apart)
    # the weights do not depend on the unit, and tiny or huge squares are avoided
    sizes = np.abs(apart).max(axis=(1, 2), keepdims=True)
    apart = apart / np.where(sizes > 0, sizes, 1.0)
    products = apart @ apart.transpose(0, 2, 1)
    k = products.shape[1]
    traces = np.trace(products, axis1=1, axis2=2)
    products[:, np.arange(k), np.arange(k)] += np.where(traces > 0, regularization * traces, 1.0)[
        :, np.newaxis
    ]
    solved = np.linalg.solve(products, np.where(barred, 0.0, 1.0)[:, :, np.newaxis])[:, :, 0]
    solved[barred] = 0.0
    return solved / solved.sum(axis=1, keepdims=True)
