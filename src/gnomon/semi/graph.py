"""What methods of a graph of rows share: its points, its weights, probabilities of new rows.

Labeled and unlabeled rows are points of one graph whose edges join rows that are alike. Equal rows
of equal label are one point that counts by their weight, so that neither the order of the rows nor
weight versus repetition changes a result. A part of the graph that holds no label says nothing of
its rows: they are "unknown", with equal probabilities of all classes, and never NaN.

Texts: 004 17.1.2 (eqs 17.2-17.7).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import euclidean_distances

from gnomon.contract import Classifier, Data, Takes
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import Course
from gnomon.engine.stored import Array, Object
from gnomon.neighbors.distances import distance_of, power_sums, sparse_distance_of
from gnomon.neighbors.index import NeighborIndex, Neighbors


class Points(NamedTuple):
    """The distinct rows of a table, those of different labels apart.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (m, d)
    weights : ndarray of shape (m,)
    codes : ndarray of int of shape (m,)
        Class codes; -1 where a point has no label.
    places : ndarray of int of shape (n,)
        The point of each row.
    n_classes : int
    """

    rows: Any
    weights: np.ndarray
    codes: np.ndarray
    places: np.ndarray
    n_classes: int

    @classmethod
    def of(cls, data: Data, n_classes: int) -> Points:
        """The points of the rows that ``fit`` was given."""
        found = distinct_rows(data.rows, data.weight_array, data.y)
        return cls(found.rows, found.weights, found.y, found.places, n_classes)

    @property
    def labeled(self) -> np.ndarray:
        return self.codes >= 0

    def one_hot(self) -> np.ndarray:
        """A one at the class of every labeled point, zeros elsewhere."""
        return (self.codes[:, None] == np.arange(self.n_classes)).astype(np.float64)

    def class_shares(self) -> np.ndarray:
        """The share of each class in the weight of the labeled points."""
        labeled = self.labeled
        totals = np.bincount(self.codes[labeled], self.weights[labeled], minlength=self.n_classes)
        return totals / totals.sum()


class FewLabels(Classifier):
    """A classifier that learns from rows with and without labels.

    A row without a label has a missing cell (None, NaN) as its target, or -1.
    """

    _unlabeled = True

    def _row_factors(self, y: np.ndarray, weights: np.ndarray | None) -> tuple[None, None]:
        """There are no weights of classes."""
        return None, None

    def is_unlabeled(self, labels: Any) -> np.ndarray:
        """Which entries of ``transduction_`` say that nothing is known of a row.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)

        Returns
        -------
        unknown : ndarray of bool of shape (n_samples,)
        """
        mark = unlabeled_mark(self.classes_)
        return np.array([value is None if mark is None else value == mark for value in labels])


def unlabeled_mark(classes: np.ndarray) -> Any:
    """What stands for "unknown" among labels: -1, "" or None, by the kind of the classes."""
    return {"U": "", "i": -1, "f": -1.0}.get(classes.dtype.kind)


def labels_of(codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The classes of class codes, and the mark of unknown where the code is -1."""
    if (codes >= 0).all():
        return classes[codes]
    mark = unlabeled_mark(classes)
    labels = classes.astype(object)[codes] if mark is None else classes[codes].copy()
    labels[codes < 0] = mark
    return labels


class GraphLabels(FewLabels):
    """A classifier that spreads labels over a graph of the rows.

    A method gives ``_spread(points)``: it sets ``point_distributions_`` and ``reached_``.
    """

    natively = Takes(sparse=True)
    _keeps_rows = True
    _stored = {
        "index_": Object(("NeighborIndex",)),
        "place_": Array("i8", ("n_given",), low=-1, below="n_points"),
        "point_distributions_": Array("f8", ("n_points", "n_classes"), low=0.0),
        "point_weights_": Array("f8", ("n_points",), low=0.0),
        "reached_": Array("b", ("n_points",)),
    }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "index_"):
            self.index_.check_points(self, len(self.point_weights_))

    def _fit(self, data: Data) -> None:
        points = Points.of(data, len(self.classes_))
        self.index_ = index_of(points.rows, getattr(self, "metric", "euclidean"))
        self.point_weights_ = points.weights
        self.place_ = points.places
        if data.kept is not None:
            self.place_ = np.full(len(data.kept), -1, dtype=np.int64)
            self.place_[data.kept] = points.places
        self._spread(points)
        n_unknown = int((~self.reached_).sum())
        if n_unknown:
            warnings.warn(
                f"no label reaches {n_unknown:,} of {len(self.reached_):,} different rows: nothing "
                "is known of them (transduction_ marks them); label a row near them, or use more "
                "neighbors or a wider kernel",
                GnomonWarning,
                stacklevel=2,
            )

    def _spread(self, points: Points) -> None:
        raise NotImplementedError

    def _found(self, distributions: np.ndarray, reached: np.ndarray) -> dict[str, Any]:
        """The attributes of distributions of the points, those of unknown points made equal."""
        full = np.full_like(distributions, 1.0 / distributions.shape[1])
        full[reached] = normalized(distributions[reached])
        return {"point_distributions_": full, "reached_": reached}

    def _end_step(self, course: Course, size: float, found: Callable[[], dict[str, Any]]) -> bool:
        """Record a step; `found` gives the attributes after it, where somebody asks for them."""
        return course.end_step(
            size,
            size < self.tol,
            state=lambda: {"distributions": found()["point_distributions_"]},
            attributes=lambda: self._public() | found(),
        )

    @property
    def label_distributions_(self) -> np.ndarray:
        """Probability of each class for each row that ``fit`` was given."""
        equal = np.full((1, len(self.classes_)), 1.0 / len(self.classes_))
        return np.concatenate([self.point_distributions_, equal])[self.place_]

    @property
    def transduction_(self) -> np.ndarray:
        """The class of each row that ``fit`` was given; the mark of unlabeled rows if unknown."""
        codes = self.point_distributions_.argmax(axis=1)
        codes[~self.reached_] = -1
        return labels_of(np.append(codes, -1)[self.place_], self.classes_)

    @property
    def X_(self) -> Any:
        """The different rows that ``fit`` was given."""
        return self.index_.stored

    def _asked(self, n_points: int) -> int:
        """Neighbors of a point: those asked for, or all others where these are fewer."""
        return min(self.n_neighbors, max(n_points - 1, 1))

    def _proba(self, rows: Any) -> np.ndarray:
        """Mean of the distributions of the nearest points, nearer ones counting more."""
        found = self.index_.nearest(rows, self._asked(self.index_.n_rows))
        weights = nearness(found.distances) * self.reached_[found.indices]
        mixed = (weights[:, :, None] * self.point_distributions_[found.indices]).sum(axis=1)
        return normalized(mixed)

    def _rows_at_once(self, rows: Any) -> int:
        return 1024

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        edges = 2 * getattr(self, "n_neighbors", 10) * n_rows
        return 8 * n_rows * (5 * n_columns + 60) + 60 * edges

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return 60 * n_entries + self._working_memory(n_rows, 4) + 2**26

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or a graph of nearest neighbors (kernel='knn')."


def index_of(rows: Any, metric: Any) -> NeighborIndex:
    """The points made ready for searches of the nearest."""
    distance = sparse_distance_of(metric) if sp.issparse(rows) else distance_of(metric)
    return NeighborIndex(distance.fit(rows, None, None), rows).ready()


def squared_distances(rows: Any, others: Any) -> np.ndarray:
    """Squared Euclidean distances of rows; dense ones by differences, so that none is negative."""
    if sp.issparse(rows) or sp.issparse(others):
        return euclidean_distances(rows, others, squared=True)
    return power_sums(np.asarray(rows, dtype=np.float64), others, 2.0)


def normalized(values: np.ndarray) -> np.ndarray:
    """Rows that sum to one; equal shares where a row sums to zero."""
    totals = values.sum(axis=1, keepdims=True)
    nothing = ~(totals[:, 0] > 0)
    shares = values / np.where(totals > 0, totals, 1.0)
    shares[nothing] = 1.0 / values.shape[1]
    return shares


def nearness(distances: np.ndarray) -> np.ndarray:
    """Weights of neighbors, ``exp(-d^2 / d_k^2)`` with d_k the distance of the farthest of them.

    The nearest has weight one where all have the same distance; distances are taken from the
    nearest one on, so that no row is too far for its neighbors.
    """
    least, most = distances[:, :1], distances[:, -1:]
    scale = np.where(most > 0, most, 1.0)
    near, far = distances / scale, least / scale
    return np.exp(far**2 - near**2)


def neighbor_edges(found: Neighbors, gamma: Any = "local") -> sp.csr_array:
    """Symmetric weights of the graph of nearest neighbors.

    ``w_ij = exp(-d_ij^2 / (s_i s_j))`` with s_i the distance of the farthest neighbor of i
    (``gamma="local"``), ``exp(-gamma d_ij^2)``, or one (``gamma=None``).
    """
    n, k = found.indices.shape
    here = np.repeat(np.arange(n), k)
    there, distances = found.indices.ravel(), found.distances.ravel()
    if gamma is None:
        values = np.ones(n * k)
    elif gamma == "local":
        reach = found.distances[:, -1]
        tiny = np.finfo(np.float64).tiny
        near = distances / np.maximum(reach[here], tiny)
        far = distances / np.maximum(reach[there], tiny)
        values = np.where(distances > 0, np.exp(-np.minimum(near * far, 700.0)), 1.0)
    else:
        values = np.exp(-np.minimum(gamma * distances**2, 700.0))
    edges = sp.csr_array((values, (here, there)), shape=(n, n))
    return sp.csr_array(edges.maximum(edges.T))


def reached_from(graph: sp.csr_array, labeled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which points have a path to a label, and the part of the graph that each is in."""
    _, part = connected_components(graph, directed=False)
    with_label = np.zeros(part.max() + 1, dtype=bool)
    with_label[part[labeled]] = True
    return with_label[part], part


def require_points(n_points: int, name: str) -> None:
    """Refuse a table whose rows are all the same."""
    if n_points < 2:
        raise DataError(f"{name} needs two different rows or more (n_samples = 1 different row)")
