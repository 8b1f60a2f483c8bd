"""What maps of rows share: distinct rows, neighbours, parts of their graph, places of new rows.

A map places every distinct row once. A row that stands in the table three times, or once with
weight three, is one point of weight three: so neither the order of the table nor weight versus
repetition changes a map, and no row is its own copy's neighbour.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from gnomon.contract import Data, Transformer
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.stored import Array, Object, Optional, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.neighbors.distances import distance_of
from gnomon.neighbors.index import NeighborIndex, Neighbors

GAP = 0.25  # of the widest part: parts are seen as apart


class RowsMap(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A map of distinct rows: a method gives ``_place(distinct)`` and ``_place_new(rows, found)``.

    ``_place`` returns one place for each distinct row; ``_place_new`` those of rows that are none
    of them, from their nearest stored rows.
    """

    _keeps_rows = True
    # Whether rounding of the last bits of a row may change the whole map: rows are then put on a
    # grid that is finer than what anybody measures, so that two ways to the same row give one map.
    _chaotic = False
    _stored = {
        "embedding_": Array("f", ("n_embedding", "n_components")),
        "grid_": Optional(Array("f8", ("n_columns",))),
        "index_": Optional(Object(("NeighborIndex",))),
        "places_": Optional(Array("f8", ("n_embedding", "n_components"))),
        "point_": Optional(Array("i8", ("n_embedding",), low=0)),
    }

    def _learn(self, X, y, sample_weight):
        for name in ("embedding_", "point_"):
            self.__dict__.pop(name, None)
        super()._learn(X, y, sample_weight)
        if not hasattr(self, "embedding_"):  # some rows were not needed to make the map
            self.embedding_ = self._each_block(self._map, X)
        return self

    @one_blas_thread()  # the bits of factors depend on the number of threads
    def _fit(self, data: Data) -> None:
        rows = data.rows
        if self._chaotic:
            self.grid_ = grid_of(rows)
            rows = on_grid(rows, self.grid_)
        distinct = distinct_rows(rows, data.weight_array)
        self._require_enough(len(distinct.rows), data.n_rows)
        stored = self._drawn(distinct)
        distance = distance_of("euclidean").fit(stored.rows, None, None)
        self.index_ = NeighborIndex(distance, stored.rows).ready()
        self.places_ = np.ascontiguousarray(self._place(stored))
        if data.kept is None and stored is distinct:
            self.point_ = distinct.places
            self.embedding_ = self.places_[distinct.places]

    def _drawn(self, distinct: DistinctRows) -> DistinctRows:
        """The rows that the map is made from; the others are then placed as new ones."""
        return distinct

    def _require_enough(self, n_distinct: int, n_rows: int) -> None:
        """Refuse parameters that the number of distinct rows does not allow."""

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        raise NotImplementedError

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        raise NotImplementedError

    def _n_asked(self) -> int:
        """How many nearest stored rows place a new one."""
        return min(self.n_neighbors_, self.index_.n_rows)

    def fit_transform(self, X, y=None, sample_weight=None) -> np.ndarray:
        """The map of the rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like, default=None

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y, sample_weight=sample_weight).embedding_

    def _map(self, rows):
        """A row that was mapped keeps its place; the others are placed by their nearest."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if self._chaotic:
            rows = on_grid(rows, self.grid_)
        found = self.index_.nearest(rows, self._n_asked())
        places = self.places_[found.indices[:, 0]]
        new = found.distances[:, 0] > 0
        if new.any():
            some = Neighbors(found.distances[new], found.indices[new])
            places[new] = self._place_new(rows[new], some)
        return places

    @property
    def _n_features_out(self) -> int:
        return self.places_.shape[1]

    def _rows_memory(self, n_rows: int, n_columns: int) -> int:
        """Distinct rows, the index of them, and their order."""
        return 8 * n_rows * (4 * n_columns + 16)

    def _check_loaded(self):
        if hasattr(self, "places_") and len(self.places_) != self.index_.n_rows:
            raise DataError("places_ and index_ do not fit together")


def grid_of(rows: np.ndarray) -> np.ndarray:
    """Steps of a grid for each column: 2^-32 of its range, a power of two.

    Examples
    --------
    >>> np.log2(grid_of(np.array([[0.0, 5.0], [1.0, 5.0]]))).tolist()
    [-32.0, -45.0]
    """
    largest = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny * 2.0**64)
    ranges = np.maximum(np.ptp(rows / largest, axis=0), 2.0**-16)
    return 2.0 ** (np.ceil(np.log2(ranges) + np.log2(largest)) - 32)


def on_grid(rows: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Each cell at the nearest point of its column's grid; what lies far outside stays."""
    with np.errstate(over="ignore"):
        places = np.rint(rows / steps)
    return np.where(np.abs(places) < 2.0**53, places * steps, rows)


class Part(NamedTuple):
    """A connected part of the graph of neighbours.

    Attributes
    ----------
    members : ndarray of shape (m,)
        Its rows.
    graph : csr_array of shape (m, m)
        Distances of neighbours, in both directions.
    """

    members: np.ndarray
    graph: sp.csr_array


def neighbors_there(asked: int, n_distinct: int) -> int:
    """n_neighbors, or all other rows where these are fewer, with a warning."""
    others = n_distinct - 1
    if others < asked:
        warnings.warn(
            f"n_neighbors={asked} is more than the {others} other rows that differ; all of them "
            "are taken",
            GnomonWarning,
            stacklevel=3,
        )
    return min(asked, others)


class GraphMap(RowsMap):
    """A map from the graph of nearest neighbours, part by part.

    A method gives ``_place_part(distinct, part)``; parts that nothing joins are laid side by side.
    """

    _stored = {
        "n_neighbors_": Optional(Whole(1)),
        "n_parts_": Optional(Whole()),
        "part_": Optional(Array("i8", (None,), low=0)),
    }

    def _neighbors_asked(self, n_distinct: int) -> int:
        return self.n_neighbors

    def _require_enough(self, n_distinct: int, n_rows: int) -> None:
        if n_distinct < 3:
            raise DataError(
                f"{type(self).__name__} needs three different rows or more, and there are "
                f"{n_distinct} (n_samples = {n_rows})"
            )
        if self.n_components >= n_distinct:
            raise DataError(
                f"n_components={self.n_components} must be less than the number of different rows,"
                f" {n_distinct} (n_samples = {n_rows})"
            )
        self.n_neighbors_ = neighbors_there(self._neighbors_asked(n_distinct), n_distinct)

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        found = self.index_.others(self.n_neighbors_, self.n_jobs)
        graph = neighbor_graph(found)
        self.n_parts_, part = connected_components(graph, directed=False)
        self.part_ = part.astype(np.int64)
        if self.n_parts_ > 1:
            graph = self._in_parts(graph, distinct.rows, part)
        parts = [np.flatnonzero(self.part_ == p) for p in range(self.part_.max() + 1)]
        self._begin(distinct, found, len(parts))
        placed = [self._place_part(distinct, Part(m, inside(graph, m))) for m in parts]
        return side_by_side(placed, parts, self.n_components)

    def _begin(self, distinct: DistinctRows, found: Neighbors, n_parts: int) -> None:
        """What is prepared before the parts are placed."""

    def _place_part(self, distinct: DistinctRows, part: Part) -> np.ndarray:
        """Places of the rows of a connected part, with up to n_components coordinates."""
        raise NotImplementedError

    def _in_parts(self, graph, rows: np.ndarray, part: np.ndarray):
        """What to do with a graph that falls into parts: refuse, join, or leave them apart."""
        sizes = np.bincount(part)
        said = (
            f"the graph of {self.n_neighbors_} neighbours falls into {self.n_parts_} parts (of "
            f"{', '.join(map(str, sizes[:5]))}{' ...' if len(sizes) > 5 else ''} rows)"
        )
        if self.disconnected == "refuse":
            raise DataError(
                f"{said}; use more neighbours, map the parts one by one, or say "
                "disconnected='apart' or 'join'"
            )
        if self.disconnected == "apart":
            how = "each was mapped for itself and they are laid side by side: where the parts lie"
            warnings.warn(f"{said}; {how} means nothing", GnomonWarning, stacklevel=2)
            return graph
        how = "which were joined by their nearest rows: distances between parts mean little"
        warnings.warn(f"{said}, {how}", GnomonWarning, stacklevel=2)
        self.part_ = np.zeros(len(rows), np.int64)
        return joined(graph, rows, part, self.n_parts_)

    def _near_parts(self, found: Neighbors) -> np.ndarray:
        """Which of a new row's nearest rows are in the part of the very nearest one."""
        parts = self.part_[found.indices]
        return parts == parts[:, :1]


def neighbor_graph(found: Neighbors) -> sp.csr_array:
    """Distances of neighbours as a symmetric sparse table."""
    n, k = found.indices.shape
    # rows whose distance rounds to zero: an edge of length zero would be no edge at all
    lengths = np.maximum(found.distances.ravel(), np.finfo(float).tiny)
    pointers = np.arange(0, n * k + 1, k)
    graph = sp.csr_array((lengths, found.indices.ravel(), pointers), (n, n))
    return sp.csr_array(graph.maximum(graph.T))


def inside(graph: sp.csr_array, members: np.ndarray) -> sp.csr_array:
    """The graph of some rows only."""
    if len(members) == graph.shape[0]:
        return graph
    return sp.csr_array(graph[members][:, members])


def joined(graph, rows: np.ndarray, part: np.ndarray, n_parts: int) -> sp.csr_array:
    """The graph with its parts joined by the nearest rows of each to those joined so far."""
    from scipy.spatial import cKDTree

    members = [np.flatnonzero(part == p) for p in range(n_parts)]
    first = members[0]
    # nearest row of the joined ones, for each row
    gaps, nearest = cKDTree(rows[first]).query(rows)
    nearest = first[nearest]
    gaps[first] = np.inf
    edges = []
    for _ in range(n_parts - 1):
        row = int(np.argmin(gaps))
        edges.append((row, int(nearest[row]), max(float(gaps[row]), np.finfo(float).tiny)))
        new = members[part[row]]
        closer, which = cKDTree(rows[new]).query(rows)
        better = (closer < gaps) & np.isfinite(gaps)
        gaps[better], nearest[better] = closer[better], new[which[better]]
        gaps[new] = np.inf
    i, j, length = (np.array(each) for each in zip(*edges))
    n = len(rows)
    bridges = sp.csr_array(
        (np.r_[length, length].astype(float), (np.r_[i, j], np.r_[j, i])), (n, n)
    )
    return sp.csr_array(graph.maximum(bridges))


def side_by_side(placed: list[np.ndarray], members: list[np.ndarray], k: int) -> np.ndarray:
    """One table of places; parts follow each other along the first axis without overlap."""
    places = np.zeros((sum(map(len, members)), k))
    spans = [np.ptp(each[:, 0]) if each.shape[1] else 0.0 for each in placed]
    gap = GAP * max(max(spans), np.finfo(float).tiny)
    at = 0.0
    for each, mine, span in zip(placed, members, spans):
        places[mine, : each.shape[1]] = each
        if len(placed) > 1:
            low = each[:, 0].min() if each.shape[1] else 0.0
            places[mine, 0] += at - low
            at += span + gap
    if len(placed) > 1:
        places[:, 0] -= places[:, 0].mean()
    return places


def weighted_pairs(inner: np.ndarray, weights: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Leading values and functions y of  sum_j w_j B_ij y_j = value y_i,  sum_i w_i y_i^2 = 1."""
    from gnomon.reduce.spectrum import leading_pairs

    if (weights == 1).all():
        return leading_pairs(inner, k)
    roots = np.sqrt(weights)
    values, vectors = leading_pairs(inner * roots * roots[:, np.newaxis], k)
    return values, vectors / roots[:, np.newaxis]


def shares_of(values: Any) -> np.ndarray:
    """Rows divided by their sums."""
    return values / values.sum(axis=1, keepdims=True)
