"""Maps along curved sheets: Isomap, and independent components.

Isomap: neighbours joined to a graph, distances along it by shortest paths, principal coordinates of
these. Independent components: after whitening, rotations that make coordinates as independent
(non-normal) as can be.

Texts: 002 "ICA" · 003 2.7.4.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data, Transformer
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import JOBS, SEED, StrOptions, above, whole
from gnomon.engine.storable import storable
from gnomon.engine.threads import in_order
from gnomon.neighbors.distances import distance_of
from gnomon.neighbors.index import NeighbourIndex
from gnomon.reduce.path_kernels import shortest_paths
from gnomon.reduce.spectrum import leading_pairs, with_signs

ROWS_TOGETHER = 128


def _refuse_weights(learner, data: Data) -> None:
    if data.weights is not None and np.ptp(data.weights) > 0:
        raise DataError(f"{type(learner).__name__} takes no weights of rows; repeat rows instead")


@storable
class Isomap(Transformer):
    """A map that keeps distances along the sheet on which rows lie.

    Neighbours are joined to a graph, distances are lengths of shortest paths in it, and the map is
    that of `principal_coordinates`: ``-1/2 A D^2 A = U S U'``. Use it for rows on one smooth curved
    sheet. Not where noise makes short cuts between folds (fewer neighbours help) or rows fall into
    parts: the parts are then joined by their nearest rows, and a warning says so.

    Texts: 003 2.7.4 (the heading only).

    Parameters
    ----------
    n_components : int, default=2
    n_neighbors : int, default=5
    disconnected : {"join", "refuse"}, default="join"
        What to do when the graph falls into parts.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,)
    distances_ : ndarray of shape (n_samples, n_samples)
        Along the graph.
    n_parts_ : int
        Parts of the graph of neighbours.
    vectors_ : ndarray of shape (n_samples, n_components)
        Unit eigenvectors; with ``mean_squares_`` they place new rows.
    mean_squares_ : ndarray of shape (n_samples,)
        Mean squared distance of each row along the graph.
    index_ : NeighbourIndex
        The training rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import Isomap
    >>> t = np.linspace(0, 3 * np.pi / 2, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> along = Isomap(1, n_neighbors=2).fit_transform(circle)[:, 0]
    >>> abs(round(float(np.corrcoef(along, t)[0, 1]), 3))
    1.0
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "n_neighbors": [whole(1)],
        "disconnected": [StrOptions({"join", "refuse"})],
        "n_jobs": JOBS,
    }

    def __init__(self, n_components=2, *, n_neighbors=5, disconnected="join", n_jobs=None):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.disconnected = disconnected
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        _refuse_weights(self, data)
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        n = len(rows)
        if self.n_neighbors >= n or self.n_components >= n:
            raise DataError(
                f"n_neighbors={self.n_neighbors} and n_components={self.n_components} must be less "
                f"than n_samples = {n}"
            )
        distance = distance_of("euclidean").fit(rows, None, None)
        self.index_ = NeighbourIndex(distance, rows).ready()
        graph = self._graph(rows)
        self.n_parts_, part = connected_components(graph, directed=False)
        if self.n_parts_ > 1:
            graph = self._joined(graph, rows, part)
        self.distances_ = self._paths(graph, n)
        squares = self.distances_**2
        means = squares.mean(axis=0)
        squares -= means
        squares -= means[:, np.newaxis]
        squares += means.mean()
        values, vectors = leading_pairs(-0.5 * squares, self.n_components)
        self.eigenvalues_ = np.maximum(values, 0.0)
        self.vectors_ = vectors
        self.mean_squares_ = means
        self.embedding_ = vectors * np.sqrt(self.eigenvalues_)

    def _graph(self, rows: np.ndarray) -> sp.csr_array:
        starts = range(0, len(rows), ROWS_TOGETHER)

        def part(start):
            return self.index_.nearest(rows[start : start + ROWS_TOGETHER], self.n_neighbors + 1)

        found = list(in_order(part, starts, self.n_jobs))
        distances = np.concatenate([each.distances for each in found])
        indices = np.concatenate([each.indices for each in found])
        k = self.n_neighbors + 1
        pointers = np.arange(0, indices.size + 1, k)
        # equal rows: an edge of length zero would be no edge at all
        lengths = np.maximum(distances.ravel(), np.finfo(float).tiny)
        graph = sp.csr_array((lengths, indices.ravel(), pointers), (len(rows), len(rows)))
        return graph.maximum(graph.T).tocsr()

    def _joined(self, graph, rows: np.ndarray, part: np.ndarray) -> sp.csr_array:
        if self.disconnected == "refuse":
            raise DataError(
                f"the graph of {self.n_neighbors} neighbours falls into {self.n_parts_} parts; ask "
                "for more neighbours, map the parts one by one, or say disconnected='join'"
            )
        warnings.warn(
            f"the graph of {self.n_neighbors} neighbours falls into {self.n_parts_} parts, which "
            "were joined by their nearest rows; distances between parts mean little",
            GnomonWarning,
            stacklevel=2,
        )
        from scipy.spatial import cKDTree

        graph = graph.tolil()
        trees = [cKDTree(rows[part == p]) for p in range(self.n_parts_)]
        members = [np.flatnonzero(part == p) for p in range(self.n_parts_)]
        inside, outside = [0], list(range(1, self.n_parts_))
        while outside:
            best = min(
                (trees[p].query(rows[members[q]])[0].min(), p, q) for p in inside for q in outside
            )
            length, p, q = best
            gaps, nearest = trees[p].query(rows[members[q]])
            i, j = members[q][int(gaps.argmin())], members[p][int(nearest[gaps.argmin()])]
            graph[i, j] = graph[j, i] = max(float(length), np.finfo(float).tiny)
            inside.append(q)
            outside.remove(q)
        return graph.tocsr()

    def _paths(self, graph, n: int) -> np.ndarray:
        lengths = np.empty((n, n))
        starts, columns = (each.astype(np.int64) for each in (graph.indptr, graph.indices))
        values = np.ascontiguousarray(graph.data)

        def part(start):
            stop = min(start + ROWS_TOGETHER, n)
            shortest_paths(starts, columns, values, start, stop, lengths[start:stop])

        for _ in in_order(part, range(0, n, ROWS_TOGETHER), self.n_jobs):
            pass
        return lengths

    def fit_transform(self, X, y=None, sample_weight=None) -> np.ndarray:
        """The map of the rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : None
            Refused where it says anything.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y, sample_weight=sample_weight).embedding_

    def _map(self, rows):
        """New rows: their paths lead over their nearest training rows."""
        found = self.index_.nearest(rows, self.n_neighbors)
        paths = (found.distances[:, :, np.newaxis] + self.distances_[found.indices]).min(axis=1)
        inner = -0.5 * (paths**2 - self.mean_squares_)
        scale = np.sqrt(np.maximum(self.eigenvalues_, np.finfo(float).tiny))
        return (inner - inner.mean(axis=1, keepdims=True)) @ self.vectors_ / scale

    def _working_memory(self, n_rows, n_columns):
        return 8 * (3 * n_rows * n_rows + 4 * n_rows * n_columns)

    def _memory_remedy(self):
        return "Map fewer rows: all distances along the graph are needed."


@storable
class ICA(Transformer):
    """Coordinates as independent of each other as can be, on scikit-learn's FastICA.

    Rows are taken as ``x = A s + m`` with independent, not normal sources s; finds s. Use it to
    separate mixed signals. Not for normal data, whose rotations all look the same.

    Texts: 002 "ICA" (independence measured by mutual information; FastICA maximises
    non-normality, which is the same for uncorrelated sources).

    Parameters
    ----------
    n_components : int or None, default=None
        None for as many as columns.
    contrast : {"logcosh", "exp", "cube"}, default="logcosh"
    max_iter : int, default=500
    tol : float, default=1e-6
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Sources from centred rows; each with its largest entry positive.
    mixing_ : ndarray of shape (n_features, n_components)
        Rows from sources.
    mean_ : ndarray of shape (n_features,)
    n_iter_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import ICA
    >>> sources = np.random.default_rng(0).uniform(size=(500, 2))
    >>> ICA(random_state=0).fit_transform(sources @ [[1.0, 0.5], [0.3, 1.0]]).shape
    (500, 2)
    """

    _parameter_constraints = {
        "n_components": [None, whole(1)],
        "contrast": [StrOptions({"logcosh", "exp", "cube"})],
        "max_iter": [whole(1)],
        "tol": [above(0)],
        "random_state": SEED,
    }

    def __init__(
        self, n_components=None, *, contrast="logcosh", max_iter=500, tol=1e-6, random_state=None
    ):
        self.n_components = n_components
        self.contrast = contrast
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        _refuse_weights(self, data)
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        most = min(rows.shape)
        if self.n_components is not None and self.n_components > most:
            raise DataError(f"n_components={self.n_components} must be at most {most}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = FastICA(
                self.n_components,
                fun=self.contrast,
                whiten="unit-variance",
                max_iter=self.max_iter,
                tol=self.tol,
                random_state=int(self._rng().integers(2**31)),
            ).fit(rows)
        signed = with_signs(peer.components_)
        signs = np.where((signed == peer.components_).all(axis=1), 1.0, -1.0)
        self.components_ = signed
        self.mixing_ = peer.mixing_ * signs
        self.mean_ = peer.mean_
        self.n_iter_ = int(peer.n_iter_)
        if self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"ICA stopped after max_iter={self.max_iter} steps; allow more, a larger tol, or "
                "fewer components (normal coordinates cannot be separated)",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _map(self, rows):
        return (rows - self.mean_) @ self.components_.T
