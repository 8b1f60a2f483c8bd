"""Indexes: training rows made ready for the search of the nearest ones.

- "brute": all rows are compared, by products of matrices. In single precision
  -2 q'x + |x|^2 + |q|^2 costs a tenth of a plain comparison, and a bound of its rounding error
  tells which rows may be among the nearest; only these, a few dozen per query, are compared in
  double precision. The result is exact, ties included. For many queries products are of the
  leading principal components and of the length of what they leave, which bound the distance from
  below too (`ReducedFilter`). Other exponents than p = 2 are compared column by column.
- "kd_tree": rows halved again and again along the widest side of their box; from the least and
  greatest values of a box is known how near its rows can be. For few coordinates.
- "ball_tree": see `gnomon.neighbors.ball_tree`; for any true metric.

"auto" takes the tree of boxes where `gnomon.engine.costs.boxes_pay` for the columns that count
(`effective_columns`), and else brute force.

Texts: 003 2.2.4.2 · 000a 1.2.1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.costs import boxes_pay, effective_columns
from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Number, Object, Text, Whole
from gnomon.engine.sums import as_float_rows, rows_per_chunk
from gnomon.engine.threads import in_order
from gnomon.neighbors.ball_tree import BallTree
from gnomon.neighbors.distances import Distance, power_sums, rows_per_strip
from gnomon.neighbors.kernels import (
    arrange_boxes,
    build_boxes,
    farthest_coordinate,
    leaves_of,
    scaled_in_single,
    scaled_squares,
    search_boxes,
    sort_heaps,
    take_best,
    take_best_of_products,
)

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
# A block is 1 MB of products, which stays in the cache. 6,000 x 30 by brute force: 128 rows took
# 1.23 of the time, 2,048 0.97; 64 queries 1.06, 512 0.99.
ROWS_TOGETHER = 512
QUERIES_TOGETHER = 256
CELLS_TOGETHER = 2**19  # distances of a block: 4 MB
LEAF = 32  # judgement: rows compared at once cost little more than a box (scikit-learn: 30)
QUERIES_OF_THREAD = 512  # judgement: one turn of a thread
# Rows from which on a tree is built on threads, and queries are put in its order.
WORTH_THREADS = 2**14
WORTH_ORDER = 2**15
NOBODY = np.iinfo(np.int64).max
SINGLE = 2.0**-24  # the rounding unit of float32
BUILT = ("_filter", "_reduced_filter", "_boxes", "_balls")
# Queries times cells of the rows from which on components are computed: 0.3 s of products.
WORTH_COMPONENTS = 2**33
EXACT_COST = 10.0  # of a column in double precision, in units of one of a product in single


class Neighbors(NamedTuple):
    """The nearest training rows of some queries, nearest first; of equal distance by row number.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
    indices : ndarray of int of shape (n_queries, k)
    """

    distances: np.ndarray
    indices: np.ndarray


def all_finite(numbers: np.ndarray) -> bool:
    """Whether no number is infinite or missing; their sum tells it nearly always."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()) or np.isfinite(numbers).all())


def empty_heaps(n: int, k: int) -> Neighbors:
    """Empty heaps for the k best of n queries."""
    return Neighbors(np.full((n, k), np.inf), np.full((n, k), NOBODY))


@storable
class NeighborIndex:
    """Training rows and a fitted distance, ready for searches.

    Parameters
    ----------
    distance : Distance
        Fitted.
    rows : array of shape (n, n_columns)
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
    leaf_size : int

    Attributes
    ----------
    stored : ndarray
        The rows in the distance's coordinates, or as they are where it has none: the very array
        that was given, where nothing had to be computed, so that rows do not stand in memory twice.
    chosen : str
        The algorithm, after "auto" was settled.
    """

    _stored = {
        "chosen": Text(),
        "distance": Object(),
        "leaf_size": Whole(),
        "stored": Array("f8", (None, None), sparse=True),
    }

    def __init__(self, distance: Distance, rows: Any, algorithm: str = "auto", leaf_size=LEAF):
        self.distance = distance
        self.leaf_size = int(leaf_size)
        if distance.has_coordinates and not sp.issparse(rows):
            self.stored = np.ascontiguousarray(distance.coordinates(rows), dtype=np.float64)
            if not all_finite(self.stored):
                raise DataError(
                    f"{distance!r} overflows on these rows: rescale the columns of huge numbers"
                )
        else:
            self.stored = rows if sp.issparse(rows) else np.ascontiguousarray(rows, np.float64)
        self.chosen = self._settled(algorithm)

    def _settled(self, algorithm: str) -> str:
        if algorithm == "auto":
            if not self.has_coordinates:
                return "brute"
            columns = effective_columns(self.stored)
            pays = self.stored.shape[1] > 0 and boxes_pay(self.n_rows, columns)
            return "kd_tree" if pays else "brute"
        if algorithm == "kd_tree" and not self.has_coordinates:
            raise DataError(
                f"a kd_tree needs a distance with coordinates, and {self.distance!r} has none; "
                "use algorithm='brute'"
            )
        if algorithm == "ball_tree" and not (
            self.distance.is_metric or (self.has_coordinates and self.distance.exponent == 2)
        ):
            raise DataError(
                f"a ball_tree needs the triangle inequality, which {self.distance!r} does not "
                "keep; use algorithm='brute'"
            )
        return algorithm

    @property
    def has_coordinates(self) -> bool:
        return self.distance.has_coordinates and not sp.issparse(self.stored)

    @property
    def n_rows(self) -> int:
        return self.stored.shape[0]

    def ready(self, n_jobs: int | None = None) -> NeighborIndex:
        """Build now what the first search would build."""
        if self.chosen == "kd_tree":
            self._boxes = Boxes(self.stored, self.leaf_size, n_jobs)
        elif self.chosen == "ball_tree":
            _ = self._balls
        elif self.has_coordinates and self.distance.exponent == 2:
            _ = self._filter
        return self

    def nearest(self, rows: Any, k: int) -> Neighbors:
        """The k nearest of each row, on the calling thread.

        Parameters
        ----------
        rows : array of shape (n, n_columns)
        k : int
            At most `n_rows`.

        Returns
        -------
        neighbors : Neighbours
        """
        if not 1 <= k <= self.n_rows:
            raise DataError(
                f"{k} neighbours were requested and there are {self.n_rows} training rows"
            )
        if not self.has_coordinates:
            return self._nearest_in_pairs(rows, k)
        found = self._nearest_sums(self._coordinates(rows), k)
        if not np.isfinite(found.distances).all():
            raise DataError(f"{self.distance!r} overflows between these rows: rescale the columns")
        return Neighbors(self.distance.finish(found.distances), found.indices)

    def search(self, rows: Any, k: int, n_jobs: int | None = None) -> Neighbors:
        """The k nearest of each row, on threads.

        Queries of a tree of boxes are taken leaf by leaf, so that one finds in the processor's
        cache what the one before it has used.

        Parameters
        ----------
        rows : array of shape (n, n_columns)
        k : int
        n_jobs : int or None

        Returns
        -------
        neighbors : Neighbours
        """
        n = rows.shape[0]
        self._expect(n)
        found = Neighbors(np.empty((n, k)), np.empty((n, k), np.int64))
        places = self._by_leaf(rows, n_jobs)

        def part(start: int) -> None:
            some = slice(start, start + QUERIES_OF_THREAD) if places is None else places[start]
            near = self.nearest(as_float_rows(rows[some]), k)
            found.distances[some], found.indices[some] = near

        starts = range(0, n, QUERIES_OF_THREAD) if places is None else range(len(places))
        for _ in in_order(part, starts, n_jobs, short=True):
            pass
        return found

    def _by_leaf(self, rows: Any, n_jobs: int | None) -> list[np.ndarray] | None:
        """Groups of queries that begin in near leaves; None where the order does not matter."""
        n = rows.shape[0]
        if self.chosen != "kd_tree" or self.n_rows < WORTH_ORDER or n <= QUERIES_OF_THREAD:
            return None
        leaves = np.empty(n, np.int64)

        def part(start: int) -> None:
            some = slice(start, start + rows_per_chunk(rows.shape[1]))
            leaves[some] = self._boxes.leaves(self._coordinates(as_float_rows(rows[some])))

        starts = range(0, n, rows_per_chunk(rows.shape[1]))
        for _ in in_order(part, starts, n_jobs, short=True):
            pass
        order = np.argsort(leaves, kind="stable")
        return np.split(order, range(QUERIES_OF_THREAD, n, QUERIES_OF_THREAD))

    def _coordinates(self, rows: Any) -> np.ndarray:
        queries = np.ascontiguousarray(self.distance.coordinates(rows), dtype=np.float64)
        if not all_finite(queries):
            raise DataError(
                f"{self.distance!r} overflows on a row of the query: rescale the columns"
            )
        return queries

    def _nearest_sums(self, queries: np.ndarray, k: int) -> Neighbors:
        p = self.distance.exponent
        if self.chosen == "kd_tree":
            return self._boxes.nearest(queries, k, p)
        if self.chosen == "ball_tree" and p == 2:
            return Neighbors(*self._balls.nearest_squares(queries, k)[0])
        if self.chosen == "ball_tree":
            distances, indices, _ = self._balls.query(queries, k)
            return Neighbors(_undone(distances, p), indices)
        if p == 2:
            reduced = vars(self).get("_reduced_filter")
            return (reduced or self._filter).nearest(queries, k)
        found = empty_heaps(len(queries), k)
        for start in range(0, self.n_rows, ROWS_TOGETHER):
            block = power_sums(queries, self.stored[start : start + ROWS_TOGETHER], p)
            take_best(block, start, *found)
        sort_heaps(*found)
        return found

    def _nearest_in_pairs(self, rows, k: int) -> Neighbors:
        if self.chosen == "ball_tree":
            distances, indices, _ = self._balls.query(rows, k)
            return Neighbors(distances, indices)
        found = empty_heaps(rows.shape[0], k)
        for start, block in self.blocks(rows):
            take_best(np.ascontiguousarray(block), start, *found)
        sort_heaps(*found)
        found.indices[np.isinf(found.distances) & (found.indices == NOBODY)] = -1
        return found

    def others(self, k: int, n_jobs: int | None = None) -> Neighbors:
        """The k nearest other stored rows of every stored row, on threads.

        Parameters
        ----------
        k : int
        n_jobs : int or None

        Returns
        -------
        neighbors : Neighbours
        """
        if not 1 <= k < self.n_rows:
            raise DataError(
                f"{k} other rows were requested and there are {self.n_rows - 1}; choose fewer"
            )
        self._expect(self.n_rows)
        starts = range(0, self.n_rows, QUERIES_TOGETHER)
        parts = list(in_order(lambda start: self._others_of(start, k), starts, n_jobs))
        return Neighbors(*(np.concatenate(part) for part in zip(*parts)))

    def _others_of(self, start: int, k: int) -> Neighbors:
        some = self.stored[start : start + QUERIES_TOGETHER]
        if self.has_coordinates:
            found = self._nearest_sums(np.ascontiguousarray(some), k + 1)
            found = Neighbors(self.distance.finish(found.distances), found.indices)
        else:
            found = self._nearest_in_pairs(some, k + 1)
        own = np.arange(start, start + len(found.indices))[:, None]
        kept = found.indices != own
        kept[kept.all(axis=1), -1] = False
        shape = (len(kept), k)
        return Neighbors(found.distances[kept].reshape(shape), found.indices[kept].reshape(shape))

    def blocks(self, rows: Any, stored: bool = False):
        """Distances of rows to the training rows, in blocks of these: pairs (first, block)."""
        given = type(self.distance).__name__ == "PrecomputedDistance"
        coordinates = None
        if self.has_coordinates:
            coordinates = rows if stored else self.distance.coordinates(rows)
        size = max(CELLS_TOGETHER // max(rows.shape[0], 1), 16)
        for start in range(0, self.n_rows, size):
            some = self.stored[start : start + size]
            if given:
                yield start, self.distance.pairwise(rows, None)[:, start : start + size]
            elif coordinates is not None:
                sums = power_sums(coordinates, some, self.distance.exponent)
                yield start, self.distance.finish(sums)
            else:
                yield start, self.distance.pairwise(rows, some)

    def within(
        self, rows: Any, radius: float, stored: bool = False
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each row the training rows within a radius (itself allowed), nearest first.

        Parameters
        ----------
        rows : array of shape (n, n_columns)
        radius : float
        stored : bool, default=False
            Whether these are stored rows, in coordinates already.

        Returns
        -------
        distances : list of ndarray
        indices : list of ndarray of int
        """
        places, near, which = [], [], []
        for start, block in self.blocks(rows, stored):
            flat = np.flatnonzero(block <= radius)
            i, j = np.divmod(flat, block.shape[1])
            places.append(i)
            near.append(block.ravel()[flat])
            which.append(start + j)
        place, distances, indices = map(np.concatenate, (places, near, which))
        # of equal distances the first stays first, and rows come in their order
        order = np.lexsort([distances, place])
        ends = np.cumsum(np.bincount(place, minlength=rows.shape[0]))[:-1]
        return np.split(distances[order], ends), np.split(indices[order], ends)

    def others_within(self, radius: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each stored row the other stored rows within a radius, nearest first.

        Parameters
        ----------
        radius : float

        Returns
        -------
        distances : list of ndarray
        indices : list of ndarray of int
        """
        distances: list[np.ndarray] = []
        indices: list[np.ndarray] = []
        for start in range(0, self.n_rows, QUERIES_TOGETHER):
            found = self.within(self.stored[start : start + QUERIES_TOGETHER], radius, stored=True)
            for own, (near, which) in enumerate(zip(*found), start):
                distances.append(near[which != own])
                indices.append(which[which != own])
        return distances, indices

    def _expect(self, n_queries: int) -> None:
        """Compute principal components before a search that is long enough for them to pay."""
        brute = self.chosen == "brute" and self.has_coordinates and self.distance.exponent == 2
        if brute and n_queries * self.stored.size >= WORTH_COMPONENTS:
            _ = self._reduced_filter

    @cached_property
    def _filter(self) -> ProductFilter:
        return ProductFilter(self.stored)

    @cached_property
    def _reduced_filter(self) -> ReducedFilter | None:
        basis = components_that_pay(self.stored)
        return None if basis is None else ReducedFilter(self.stored, basis)

    @cached_property
    def _boxes(self) -> Boxes:
        return Boxes(self.stored, self.leaf_size)

    @cached_property
    def _balls(self) -> BallTree:
        if self.has_coordinates and self.distance.exponent == 2:
            return BallTree(self.stored, leaf_size=self.leaf_size)
        return BallTree(self.stored, self._between_stored(), leaf_size=self.leaf_size)

    def _between_stored(self) -> Any:
        if not self.has_coordinates:
            return self.distance
        return _BetweenCoordinates(self.distance)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in BUILT}

    def _check_loaded(self) -> None:
        if not isinstance(self.distance, Distance) or self.chosen not in ALGORITHMS:
            raise ValueError("an index without a distance or an algorithm")
        dense = not sp.issparse(self.stored)
        if dense and (self.stored.ndim != 2 or self.stored.dtype != np.float64):
            raise ValueError("the stored rows are not a table of numbers")
        if dense and not np.isfinite(self.stored).all() and self.has_coordinates:
            raise ValueError("the stored rows hold numbers that are not finite")
        if self.leaf_size < 1 or self.n_rows < 1:
            raise ValueError("an index of no rows or of leaves without rows")

    def check_points(self, estimator: Any, n_points: int) -> None:
        """Refuse an index that is not of so many points of the columns of an estimator."""
        if self.n_rows != n_points:
            raise ValueError("the index is not of the points that were learned from")
        encoder = getattr(estimator, "encoder_", None)
        n_columns = estimator.n_features_in_ if encoder is None else len(encoder.columns)
        if self.has_coordinates:
            self.check_width(n_columns)
        elif self.stored.shape[1] != n_columns:
            raise ValueError("the stored rows have another width than the rows that it takes")

    def check_width(self, n_columns: int) -> None:
        """Refuse stored rows whose coordinates are not those of rows of this many columns."""
        width, levels = self.stored.shape[1], getattr(self.distance, "levels", np.zeros(0))
        fits = len(levels) in (0, n_columns) and levels.max(initial=0) <= width
        if not fits or self.distance.coordinates(np.zeros((1, n_columns))).shape[1] != width:
            raise ValueError("the stored rows have another width than the rows that it takes")


class _BetweenCoordinates:
    """The distance between rows that are already in coordinates."""

    def __init__(self, distance: Distance):
        self.distance = distance

    def pairwise(self, one, other) -> np.ndarray:
        return self.distance.finish(power_sums(one, other, self.distance.exponent))


@storable
class ProductFilter:
    """Exact nearest rows by Euclidean distance, by products of matrices in single precision.

    Of the product of rounded vectors the error is at most (d + 2) 2^-24 |q| |x|, and 2 |q| |x| is
    at most |q|^2 + |x|^2: these squares are lowered by the share (d + 8) 2^-23, twice what is
    needed, and what rounds to zero is covered by a slack. Rows are centred and scaled by a power of
    two first, block by block: besides the rows themselves one number for each is kept.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    """

    _stored = {
        "center": Array("f8", ("n_center",)),
        "factor": Number(),
        "points": Array("f8", ("n_points", "n_center")),
        "share": Number(),
        "slack": Number(),
        "squares": Array("f", ("n_points",)),
    }

    def __init__(self, points: np.ndarray):
        self.points = points
        n, d = points.shape
        sample = points[:: max(n // 512, 1)]
        self.center = sample.mean(axis=0)
        largest = farthest_coordinate(points, self.center)
        self.factor = 1.0 if largest == 0 else 2.0 ** -np.clip(np.frexp(largest)[1], -400, 400)
        self.share = 1.0 - self.lost
        self.slack = 1e-35 * (d + 1)
        self.squares = np.empty(n, np.float32)
        scaled_squares(points, self.center, self.factor, self.share, self.squares)

    @property
    def lost(self) -> float:
        """The share by which squares are lowered."""
        return (self.points.shape[1] + 8) * 2 * SINGLE

    def _parts(self, start: int = 0, stop: int | None = None):
        stop = len(self.points) if stop is None else stop
        size = rows_per_strip(self.points.shape[1])
        return (self.points[at : min(at + size, stop)] for at in range(start, stop, size))

    def single(self, start: int, stop: int) -> np.ndarray:
        """Rows start to stop, centred and scaled, in single precision."""
        made = np.empty((stop - start, self.points.shape[1]), np.float32)
        scaled_in_single(self.points[start:stop], self.center, self.factor, made)
        return made

    def lowered(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-2 q in single precision and lowered |q|^2; no bound where q is far beyond all rows."""
        scaled = (queries - self.center) * self.factor
        lengths = (scaled**2).sum(axis=1)
        far = ~(lengths < 1e24)
        scaled[far] = 0.0
        return (-2.0 * scaled).astype(np.float32), np.where(far, -np.inf, lengths * self.share)

    @property
    def unit(self) -> float:
        """Squared units of the products per squared unit of the rows, and some for rounding."""
        return self.factor**2 * (1 + 1e-6)

    def nearest(self, queries: np.ndarray, k: int) -> Neighbors:
        """Squared distances and numbers of the k nearest, in order."""
        found = empty_heaps(len(queries), k)
        doubled, lengths = self.lowered(queries)
        nobody = np.empty(0, np.int64)
        for start in range(0, len(self.points), ROWS_TOGETHER):
            stop = min(start + ROWS_TOGETHER, len(self.points))
            columns = self.single(start, stop).T
            for first in range(0, len(queries), QUERIES_TOGETHER):
                some = slice(first, first + QUERIES_TOGETHER)
                take_best_of_products(
                    np.dot(doubled[some], columns),
                    self.squares[start:stop],
                    lengths[some],
                    self.unit,
                    self.slack,
                    self.lost,
                    queries[some],
                    self.points[start:stop],
                    nobody,
                    start,
                    found.distances[some],
                    found.indices[some],
                )
        sort_heaps(*found)
        return found


class ReducedFilter(ProductFilter):
    """Exact nearest rows by Euclidean distance, by products of few coordinates of each row.

    Rows are written as their products with an orthonormal basis and the length of what these leave.
    Such coordinates have the lengths of the rows, and by the triangle inequality distances that are
    no greater: rows whose bound is beyond the nearest so far are passed over.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    basis : ndarray of shape (d, m)
        Orthonormal columns.
    """

    lost = np.inf  # there is no bound from above

    def __init__(self, points: np.ndarray, basis: np.ndarray):
        self.basis = basis
        super().__init__(points)
        d, m = basis.shape
        # the rounding of products, and of the lengths left, which are differences of squares
        self.share = 1.0 - (m + 9) * 2 * SINGLE - 4.0 * np.sqrt(d * 2.0**-53)
        self.reduced = np.empty((len(points), m + 1), np.float32)
        start = 0
        for part in self._parts():
            here = slice(start, start + len(part))
            self.reduced[here], lengths = self._coordinates((part - self.center) * self.factor)
            self.squares[here] = lengths * self.share
            start += len(part)

    def _coordinates(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of scaled rows, and their squared lengths."""
        lengths = np.einsum("ij,ij->i", scaled, scaled)
        inside = np.dot(scaled, self.basis)
        left = np.maximum(lengths - np.einsum("ij,ij->i", inside, inside), 0.0)
        return np.column_stack([inside, np.sqrt(left)]), lengths

    def single(self, start: int, stop: int) -> np.ndarray:
        return self.reduced[start:stop]

    def lowered(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scaled = (queries - self.center) * self.factor
        with np.errstate(over="ignore", invalid="ignore"):
            coordinates, lengths = self._coordinates(scaled)
        far = ~(lengths < 1e24)
        coordinates[far] = 0.0
        return (-2.0 * coordinates).astype(np.float32), np.where(far, -np.inf, lengths * self.share)


def components_that_pay(points: np.ndarray) -> np.ndarray | None:
    """So many principal components of some rows that a search is cheapest; None where none pay.

    The cost of m components is that of a product of m + 1 columns and of exact distances of the
    rows whose bound is below the distance of the nearest, as other rows show.
    """
    n, d = points.shape
    most = min(d // 4, 256)
    step = max(n // 1024, 1)
    sample, others = points[:: 2 * step], points[step :: 2 * step]
    center = sample.mean(axis=0)
    sample, others = sample - center, others - center
    if most < 8 or len(sample) <= 2 * most:
        return None
    _, vectors = np.linalg.eigh(np.dot(sample, sample.T))
    basis, _ = np.linalg.qr(np.dot(sample.T, vectors[:, : -most - 1 : -1]))
    inside = np.dot(others, basis)
    squares = np.einsum("ij,ij->i", others, others)
    asked = slice(None, None, 4)
    own = np.arange(0, len(others), 4)

    def between(coordinates: np.ndarray) -> np.ndarray:
        found = squares[asked, None] + squares - 2.0 * np.dot(coordinates[asked], coordinates.T)
        found[np.arange(len(own)), own] = np.inf
        return found

    nearest = between(others).min(axis=1, keepdims=True)
    costs = {}
    for m in range(8, most + 1, 8):
        some = inside[:, :m]
        left = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", some, some), 0.0))
        bounds = between(np.column_stack([some, left]))
        costs[m] = m + 1 + EXACT_COST * d * float((bounds <= nearest).mean())
    best = min(costs, key=lambda m: costs[m])
    return np.ascontiguousarray(basis[:, :best]) if costs[best] < 0.7 * d else None


class Boxes:
    """A balanced tree of boxes (KD tree).

    Parameters
    ----------
    points : ndarray of shape (n, d)
    leaf_size : int
        A leaf has between half as many points and so many.
    n_jobs : int or None
        Threads of the building; the tree does not depend on it.
    """

    def __init__(self, points: np.ndarray, leaf_size: int, n_jobs: int | None = None):
        n = len(points)
        depth = max(int(np.ceil(np.log2(max(n / leaf_size, 1)))), 0)
        while depth and n >> depth == 0:
            depth -= 1
        n_inner = 2**depth - 1
        points, self.order = points.copy(), np.arange(n)
        self.sides, self.edges = np.zeros(n_inner, np.int64), np.zeros((n_inner, 2))
        tree = points, self.order, self.sides, self.edges
        if n < WORTH_THREADS:
            build_boxes(*tree, 0, 0, n, n_inner)
        else:
            build_boxes(*tree, 0, 0, n, 3)
            half = n // 2
            borders = [0, half // 2, half, (half + n) // 2, n]
            quarters = zip(range(3, 7), borders, borders[1:])
            for _ in in_order(lambda each: build_boxes(*tree, *each, n_inner), quarters, n_jobs):
                pass
        self.blocks = np.empty(points.size)
        self.lows, self.highs = np.empty((2, 2 * n_inner + 1, points.shape[1]))
        arrange_boxes(points, self.blocks, self.lows, self.highs)

    def nearest(self, queries: np.ndarray, k: int, p: float) -> Neighbors:
        """Power sums and numbers of the k nearest, in order."""
        found = empty_heaps(len(queries), k)
        if len(self.order) < WORTH_ORDER:
            self._search(queries, p, found)
            return found
        by_leaf = np.argsort(self.leaves(queries), kind="stable")
        self._search(queries[by_leaf], p, found)
        back = np.empty_like(by_leaf)
        back[by_leaf] = np.arange(len(by_leaf))
        return Neighbors(found.distances[back], found.indices[back])

    def _search(self, queries: np.ndarray, p: float, found: Neighbors) -> None:
        search_boxes(queries, self.blocks, self.order, self.lows, self.highs, float(p), *found)

    def leaves(self, queries: np.ndarray) -> np.ndarray:
        """The leaf where the search of each query begins; those of near leaves are near."""
        leaves = np.empty(len(queries), np.int64)
        leaves_of(queries, self.sides, self.edges, leaves)
        return leaves


def _undone(distances: np.ndarray, p: float) -> np.ndarray:
    return distances if p in (0, 1) or np.isinf(p) else distances**p
