"""Geodesic nearest neighbors: distance is the length of the shortest path through all rows.

Rows with and without labels are joined to a graph of nearest neighbors; the distance of a row to a
label is the shortest path along its edges, so that classes on curved sheets are not cut short.

Texts: 004 17.1, 17.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from gnomon.engine.parameters import JOBS, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.rows_map import neighbor_graph
from gnomon.semi.graph import GraphLabels, Points, normalized

LABELS_AT_ONCE = 64  # shortest paths from so many labels are held at once


@method(
    task="classify",
    texts="004 17.1",
    use="Few labels and rows on thin curved sheets, one sheet per class.",
    avoid="Overlapping classes or noise: one edge between sheets is a short cut.",
    synonyms=("manifold", "shortest path", "semi-supervised"),
)
class GeodesicNeighborsClassifier(GraphLabels):
    """The nearest labels along shortest paths through labeled and unlabeled rows.

    The distance of a row to a label is the length of the shortest path in the graph of nearest
    neighbors of all rows; the ``n_nearest`` nearest labels vote. Use it for rows on thin curved
    sheets, where straight distances jump between folds. Not for overlapping classes: one edge
    across a gap is a short cut. A new row's path begins with a step to one of its neighbors.

    Unlabeled rows have a missing cell as target, or -1 where two other classes are left. Rows that
    no label reaches are unknown: their probabilities are equal, and ``transduction_`` marks them.
    Texts: 004 17.1.

    Parameters
    ----------
    n_nearest : int, default=1
        Nearest labels that vote.
    n_neighbors : int, default=10
        Edges of each different row.
    weights : {"uniform", "distance"}, default="uniform"
        Votes count the same, or by one over the length of the path.
    metric : str or callable, default="euclidean"
        Length of an edge, see `gnomon.neighbors.distance_of`.
    n_jobs : int or None, default=None
        Threads of the search of neighbors; the result does not depend on it.

    Attributes
    ----------
    X_ : ndarray or csr_array of shape (n_points, n_features)
        The different rows.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Shares of the votes for every row.
    transduction_ : ndarray of shape (n_samples,)
        The class of every row; -1, "" or None where nothing is known.
    reached_ : ndarray of bool of shape (n_points,)
        Which points a label reaches.
    path_lengths_ : ndarray of shape (n_points, n_nearest)
        Lengths of the paths to the nearest labels, infinite where there is none.
    path_labels_ : ndarray of int of shape (n_points, n_nearest)
        Class codes of these labels; -1 where there is none.
    point_distributions_ : ndarray of shape (n_points, n_classes)
        Shares of the votes for the different rows.
    point_weights_ : ndarray of shape (n_points,)
        Their weights.
    place_ : ndarray of int of shape (n_samples,)
        The point of every row; -1 for rows of weight zero.
    index_ : NeighborIndex
        The points.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import GeodesicNeighborsClassifier
    >>> rows = [[0.0], [1.0], [2.0], [3.0], [7.0]]
    >>> model = GeodesicNeighborsClassifier(n_neighbors=2).fit(rows, [0, None, None, None, 1])
    >>> model.transduction_.tolist()
    [0, 0, 0, 0, 1]
    """

    _parameter_constraints = {
        "n_nearest": [whole(1)],
        "n_neighbors": [whole(1)],
        "weights": [StrOptions({"uniform", "distance"})],
        "metric": [str, callable],
        "n_jobs": JOBS,
    }
    _stored = {
        "path_lengths_": Array("f8", ("n_points", None), finite=False, low=0.0),
        "path_labels_": Array("i8", ("n_points", None), low=-1, below="n_classes"),
    }

    def __init__(
        self, n_nearest=1, *, n_neighbors=10, weights="uniform", metric="euclidean", n_jobs=None
    ):
        self.n_nearest = n_nearest
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.n_jobs = n_jobs

    def _spread(self, points: Points) -> None:
        self.path_lengths_, self.path_labels_ = self._paths(points)
        votes = self._votes(self.path_lengths_, self.path_labels_)
        votes[points.labeled] = points.one_hot()[points.labeled]
        self._keep(self._found(votes, self.path_labels_[:, 0] >= 0))

    def _paths(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """Lengths of the shortest paths to the nearest labels, and their classes."""
        sources = np.flatnonzero(points.labeled)
        k = min(self.n_nearest, len(sources))
        if len(points.weights) == 1:
            return np.zeros((1, 1)), points.codes[:, None].copy()
        graph = neighbor_graph(self.index_.others(self._asked(len(points.weights)), self.n_jobs))
        if k == 1:
            lengths, _, nearest = dijkstra(
                graph, directed=False, indices=sources, min_only=True, return_predecessors=True
            )
            labels = np.where(nearest >= 0, points.codes[np.maximum(nearest, 0)], -1)
            return lengths[:, None], labels[:, None].astype(np.int64)
        best = Neighbors(np.full((len(points.weights), 0), np.inf), np.zeros((0, 0), np.int64))
        lengths, labels = best.distances, np.zeros((len(points.weights), 0), np.int64)
        for start in range(0, len(sources), LABELS_AT_ONCE):
            some = sources[start : start + LABELS_AT_ONCE]
            paths = dijkstra(graph, directed=False, indices=some).T
            codes = np.where(np.isfinite(paths), points.codes[some], -1)
            lengths, labels = np.hstack([lengths, paths]), np.hstack([labels, codes])
            order = np.argsort(lengths, axis=1, kind="stable")[:, :k]
            lengths = np.take_along_axis(lengths, order, axis=1)
            labels = np.take_along_axis(labels, order, axis=1)
        return np.ascontiguousarray(lengths), np.ascontiguousarray(labels).astype(np.int64)

    def _votes(self, lengths: np.ndarray, labels: np.ndarray) -> np.ndarray:
        shares = (labels >= 0).astype(np.float64)
        if self.weights == "distance":
            least = np.maximum(lengths[:, :1], np.finfo(np.float64).tiny)
            with np.errstate(invalid="ignore"):
                shares *= np.where(np.isfinite(lengths), least / np.maximum(lengths, least), 0.0)
        classes = np.arange(len(self.classes_))
        return (shares[:, :, None] * (labels[:, :, None] == classes)).sum(axis=1)

    def _proba(self, rows: Any) -> np.ndarray:
        """The shortest way over one of the nearest points, and the votes at its end."""
        found = self.index_.nearest(rows, min(self.n_neighbors, self.index_.n_rows))
        lengths = found.distances + self.path_lengths_[found.indices, 0]
        way = lengths.argmin(axis=1)
        at = found.indices[np.arange(len(way)), way]
        return normalized(self.point_distributions_[at] * self.reached_[at][:, None])

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        columns = LABELS_AT_ONCE if self.n_nearest > 1 else 2
        return super()._working_memory(n_rows, n_columns) + 40 * n_rows * columns
