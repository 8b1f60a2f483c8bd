"""Approximate nearest neighbours: nearly always right, many times faster, tuned to a wanted recall.

Two indexes, each with one number that says how hard it looks:

- "cells": k-means divides the rows in cells; a query is compared with the rows of the cells whose
  centres are nearest. Queries that look in one cell do so together, by a product of matrices.
- "forest": several trees that halve the rows along widest columns drawn at random; a query looks in
  the leaves that seem nearest in any tree, up to a number of rows.

`fit` keeps some rows back as queries, finds for each index the least effort that reaches the wanted
recall on half of them, and takes the index of least cost (or all rows, where that costs less). The
recall that is reported is measured on the other half. Cost is counted in rows compared, not timed,
so that a choice can be repeated. The forest is not built where rows spread in so many directions m
that the 2^m leaves about a query would be more than there are.

Texts: 000a 1.2.1, 6.3.2, exercise 2.6 (FLANN: randomised trees and hierarchical k-means, tuned by
search).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster.kmeans import KMeans
from gnomon.contract import Data
from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, SEED, StrOptions, share, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Text, Whole
from gnomon.neighbors.index import NOBODY, Neighbors, ProductFilter, empty_heaps
from gnomon.neighbors.kernels import (
    build_random_tree,
    search_forest,
    sort_heaps,
    take_best_of_products,
)
from gnomon.neighbors.stored import METRIC, StoredRows

N_PROBES = 400  # standard error of a recall of 0.95 is 0.011 at one neighbor, less at more
N_TREES = 4  # judgement: memory is a number per row and tree; more boxes are opened instead
LEAF = 16  # judgement: rows compared at once cost no more than a box
QUERIES_AT_ONCE = 2048  # judgement: queries that share cells are compared by one product
# Judgement: cells need no exact means, and k-means of all rows takes longest.
ROWS_PER_CENTER = 32
ROUNDS = 5
NEIGHBORS_OF_DIMENSION = 10  # judgement: an estimate of the dimension averages over probes
# What comparing a row costs, against brute force; a cell costs as many rows more to be opened.
COST = {"brute": 1.0, "cells": 2.0, "forest": 40.0}
COST_OF_CELL = 100.0


@storable
class Cells:
    """Rows by k-means cells.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    rng : Generator
    n_jobs : int or None
    """

    name = "cells"
    _stored = {
        "centers": Object(("ProductFilter",)),
        "columns": Array("f", (None, "n_columns_1")),
        "order": Array("i8", ("n_columns_1",), low=0),
        "rows": Object(("ProductFilter",)),
        "starts": Array("i8", (None,), low=0),
    }

    def __init__(self, points: np.ndarray, rng: np.random.Generator, n_jobs: int | None):
        n = len(points)
        n_cells = int(np.clip(np.sqrt(n) * 2, 1, max(n // 8, 1)))
        some = points
        if n > ROWS_PER_CENTER * n_cells:
            some = points[np.sort(rng.choice(n, ROWS_PER_CENTER * n_cells, replace=False))]
        different = np.unique(some, axis=0)
        n_cells = min(n_cells, len(different))
        starts = different[rng.choice(len(different), n_cells, replace=False)]
        model = KMeans(n_cells, init=starts, max_iter=ROUNDS, tol=1e-2, n_jobs=n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # any centres make cells
            model.fit(some)
        self.centers = ProductFilter(np.ascontiguousarray(model.cluster_centers_))
        labels = model.predict(points)
        self.order = np.argsort(labels, kind="stable")
        self.starts = np.searchsorted(labels[self.order], np.arange(n_cells + 1))
        self.rows = ProductFilter(np.ascontiguousarray(points[self.order]))
        self.columns = np.ascontiguousarray(self.rows.single(0, n).T)

    @property
    def most(self) -> int:
        """The greatest effort: all cells."""
        return len(self.starts) - 1

    def nearest(self, queries: np.ndarray, k: int, effort: int) -> tuple[Neighbors, np.ndarray]:
        """The best of `effort` cells, squared distances; and what that cost per query."""
        cells = self.centers.nearest(queries, min(effort, self.most)).indices
        found = empty_heaps(len(queries), k)
        doubled, lengths = self.rows.lowered(queries)
        who = np.argsort(cells.ravel(), kind="stable")
        borders = np.searchsorted(cells.ravel()[who], np.arange(self.most + 1))
        for cell in np.flatnonzero(np.diff(borders)).tolist():
            some = who[borders[cell] : borders[cell + 1]] // cells.shape[1]
            self._compete(cell, some, queries, doubled, lengths, found)
        sort_heaps(*found)
        sizes = np.diff(self.starts)
        cost = COST["cells"] * sizes[cells].sum(axis=1) + COST_OF_CELL * cells.shape[1] + self.most
        return found, cost

    def _compete(self, cell: int, some, queries, doubled, lengths, found: Neighbors) -> None:
        start, stop = self.starts[cell], self.starts[cell + 1]
        if start == stop:
            return
        distances, indices = found.distances[some], found.indices[some]
        take_best_of_products(
            np.ascontiguousarray(np.dot(doubled[some], self.columns[:, start:stop])),
            self.rows.squares[start:stop],
            lengths[some],
            self.rows.unit,
            self.rows.slack,
            self.rows.lost,
            queries[some],
            self.rows.points[start:stop],
            self.order[start:stop],
            -1,
            distances,
            indices,
        )
        found.distances[some], found.indices[some] = distances, indices


@storable
class Forest:
    """Rows in several trees with divisions drawn at random.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    rng : Generator
    n_jobs : int or None
        Not used.
    """

    name = "forest"
    _stored = {
        "cuts": Array("f8", (None, None)),
        "orders": Array("i8", (None, "n_orders_1"), low=0),
        "points": Array("f8", ("n_orders_1", None)),
        "sides": Array("i8", (None, None), low=0),
        "spans": Array("i8", (None, 2), low=0),
    }

    def __init__(self, points: np.ndarray, rng: np.random.Generator, n_jobs: int | None = None):
        n = len(points)
        depth = max(int(np.ceil(np.log2(max(n / LEAF, 1)))), 0)
        n_nodes = 2 ** (depth + 1) - 1
        self.points = points
        self.orders = np.tile(np.arange(n), (N_TREES, 1))
        self.spans = np.empty((n_nodes, 2), np.int64)
        self.sides = np.zeros((N_TREES, n_nodes), np.int64)
        self.cuts = np.zeros((N_TREES, n_nodes))
        columns = np.ascontiguousarray(points.T)
        for order, sides, cuts in zip(self.orders, self.sides, self.cuts):
            build_random_tree(points, columns, rng.random(n_nodes), order, self.spans, sides, cuts)

    @property
    def most(self) -> int:
        """The greatest effort: all rows."""
        return len(self.points)

    def nearest(self, queries: np.ndarray, k: int, effort: int) -> tuple[Neighbors, np.ndarray]:
        """The best of about `effort` rows, squared distances; and what that cost per query."""
        found = empty_heaps(len(queries), k)
        evaluations = np.zeros(len(queries), np.int64)
        seen = np.full(len(self.points), -1)
        search_forest(
            queries,
            self.points,
            self.orders,
            self.spans,
            self.sides,
            self.cuts,
            max(effort, k),
            seen,
            *found,
            evaluations,
        )
        return found, COST["forest"] * evaluations


@storable
class Everything:
    """All rows: exact.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    rng : Generator
    n_jobs : int or None
    """

    name = "brute"
    _stored = {
        "rows": Object(("ProductFilter",)),
    }

    def __init__(self, points: np.ndarray, rng: Any = None, n_jobs: int | None = None):
        self.rows = ProductFilter(points)

    @property
    def most(self) -> int:
        return 1

    def nearest(self, queries: np.ndarray, k: int, effort: int) -> tuple[Neighbors, np.ndarray]:
        """The best of all rows, squared distances; and what that cost per query."""
        cost = np.full(len(queries), COST["brute"] * len(self.rows.points))
        return self.rows.nearest(queries, k), cost


INDEXES: dict[str, Any] = {"brute": Everything, "cells": Cells, "forest": Forest}


@storable
@dataclass(frozen=True)
class TunedIndexes(Result):
    """What the search over indexes found.

    Attributes
    ----------
    methods : list of str
    efforts : list of int
        The least that reached the wanted recall, or at which the index cost more than another.
    recalls : list of float
        On the queries that efforts were tuned on.
    costs : list of float
        Per query, in rows compared by brute force.
    dimension : float
        In how many directions rows spread about a row, by the distances of its neighbours.
    left_out : list of str
        Indexes that were not built, as there are too many such directions.
    """

    methods: list[str]
    efforts: list[int]
    recalls: list[float]
    costs: list[float]
    dimension: float
    left_out: list[str]
    _stored = {
        "costs": ListOf(Number(), "n_costs"),
        "dimension": Number(),
        "efforts": ListOf(Whole(), "n_costs"),
        "left_out": ListOf(Text()),
        "methods": ListOf(Text(), "n_costs"),
        "recalls": ListOf(Number(), "n_costs"),
    }

    def _title(self) -> str:
        return "Indexes tuned to a recall"

    def _columns(self) -> dict[str, list]:
        return {
            "method": self.methods,
            "effort": self.efforts,
            "recall when tuned": self.recalls,
            "cost in rows": self.costs,
        }

    def _remarks(self) -> list[str]:
        return [
            f"{name} was not built: rows spread in {self.dimension:.3g} directions about a row"
            for name in self.left_out
        ]


def local_dimension(squares: np.ndarray) -> float:
    """Directions in which rows spread about a row: 1 / mean log(T_k / T_j) (Levina and Bickel).

    Parameters
    ----------
    squares : ndarray of shape (n, k)
        Squared distances of each row's neighbours, in rising order.

    Returns
    -------
    dimension : float
        0 where the distances do not tell.
    """
    away = squares[squares[:, 0] > 0]
    if away.shape[1] < 2 or not len(away):
        return 0.0
    rise = float(np.log(away[:, -1:] / away[:, :-1]).mean()) / 2
    return 1.0 / rise if rise > 0 else 0.0


@method(
    task="search",
    texts="000a 1.2.1, 6.3.2",
    use="Nearest rows among very many in many columns, with a recall that is asked for.",
    avoid="Few rows or few columns: NearestNeighbors is exact and as fast.",
    peers=("pynndescent.NNDescent", "faiss.IndexIVFFlat"),
    takes="index",
    synonyms=("ann", "approximate nearest neighbors", "vector search"),
)
class ApproximateNeighbors(StoredRows):
    """The nearest training rows, nearly always, by an index tuned to a wanted recall.

    Use it for many queries against 10^5 rows and more where missing one neighbour in twenty does no
    harm. Not where neighbours must be exact: `NearestNeighbors`. Distances of what is found are
    exact. It takes distances with Euclidean coordinates.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours for which the recall is tuned, and that are given where not told.
    recall : float, default=0.95
        Wanted share of the true neighbours among those given, on average.
    method : {"auto", "cells", "forest", "brute"}, default="auto"
        "auto" for the one of least cost.
    metric : str, Distance or callable, default="euclidean"
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Attributes
    ----------
    method_ : str
    effort_ : int
        Cells that are opened, or rows that are compared.
    recall_ : Estimate
        Measured on rows kept back that were not tuned on, with an interval.
    tuned_ : TunedIndexes
        All indexes that were tried.
    distance_ : Distance
    index_ : NeighbourIndex

    Examples
    --------
    >>> from gnomon.neighbors import ApproximateNeighbors
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(5000, 8))
    >>> model = ApproximateNeighbors(5, random_state=0).fit(rows)
    >>> model.kneighbors(rows[:3]).indices[:, 0].tolist(), bool(model.recall_.value > 0.9)
    ([0, 1, 2], True)
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "recall": [share("neither")],
        "method": [StrOptions({"auto", *INDEXES})],
        "metric": METRIC,
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _stored = {
        "_made": Object(("Cells", "Everything", "Forest")),
        "effort_": Whole(),
        "method_": Text(),
        "recall_": ListOf(Number() | Text(), kind=tuple),
        "tuned_": Object(("TunedIndexes",)),
    }

    def __init__(
        self,
        n_neighbors=10,
        *,
        recall=0.95,
        method="auto",
        metric="euclidean",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.recall = recall
        self.method = method
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def algorithm(self) -> str:
        return "brute"

    def _fit(self, data: Data) -> None:
        self._store(data)
        self.weights_ = None
        if not self.index_.has_coordinates or self.distance_.exponent != 2:
            raise DataError(
                f"metric={self.metric!r} has no Euclidean coordinates to build an index on; use "
                "NearestNeighbors"
            )
        if self.n_neighbors >= self.index_.n_rows:
            raise DataError(
                f"n_neighbors={self.n_neighbors} others of {self.index_.n_rows} rows cannot be "
                "found; choose fewer"
            )
        points, rng = self.index_.stored, self._rng()
        order = canonical_order(points)
        held = order[rng.choice(len(points), min(N_PROBES, len(points)), replace=False)]
        around = max(self.n_neighbors, min(NEIGHBORS_OF_DIMENSION, len(points) - 1))
        truth = self._others(self.index_._filter.nearest(points[held], around + 1), held)
        dimension = local_dimension(truth.distances)
        names = self._worth_trying(dimension)
        nearest = truth.indices[:, : self.n_neighbors]
        half = max(len(held) // 2, 1)
        tuned: list[tuple[Any, int, float, float]] = []
        for name in names:
            made = INDEXES[name](points, rng, self.n_jobs)
            cheapest = min((each[3] for each in tuned), default=np.inf)
            tuned.append((made, *self._tuned(made, held[:half], nearest[:half], cheapest)))
        made, self.effort_, _, _ = min(tuned, key=lambda each: each[3])
        self.method_ = made.name
        self._made = made
        left_out = [] if self.method != "auto" else [name for name in INDEXES if name not in names]
        _, efforts, recalls, costs = (list(part) for part in zip(*tuned))
        self.tuned_ = TunedIndexes(names, efforts, recalls, costs, dimension, left_out)
        rest = held[half:] if len(held) > half else held
        measured, _ = self._recalls(made, rest, nearest[-len(rest) :], self.effort_)
        self.recall_ = mean_interval(measured)

    def _worth_trying(self, dimension: float) -> list[str]:
        if self.method != "auto":
            return [self.method]
        crowded = dimension > np.log2(max(self.index_.n_rows / LEAF, 1.0))
        return [name for name in INDEXES if not (crowded and name == "forest")]

    def _tuned(self, made, held, truth, cheapest: float) -> tuple[int, float, float]:
        """The least effort that reaches the recall: doubled until enough, then halved between.

        Given up where it costs more than the cheapest so far.
        """
        if made.name == "brute":
            return 1, 1.0, COST["brute"] * self.index_.n_rows
        low, high = 0, 1
        while True:
            recalls, cost = self._recalls(made, held, truth, high)
            if cost > cheapest:
                return high, float(recalls.mean()), cost
            if self._is_enough(recalls) or high >= made.most:
                break
            low, high = high, min(2 * high, made.most)
        best = high, float(recalls.mean()), cost
        while high - low > max(high // 8, 1):
            middle = (low + high) // 2
            recalls, cost = self._recalls(made, held, truth, middle)
            if self._is_enough(recalls):
                high, best = middle, (middle, float(recalls.mean()), cost)
            else:
                low = middle
        return best

    def _is_enough(self, recalls: np.ndarray) -> bool:
        """Whether the mean is above the wanted recall by a standard error."""
        error = recalls.std() / np.sqrt(len(recalls))
        return bool(recalls.mean() - error >= self.recall or recalls.min() == 1)

    def _recalls(self, made, held, truth, effort: int) -> tuple[np.ndarray, float]:
        """Per query the share of true neighbours that are found, and the mean cost."""
        points = np.ascontiguousarray(self.index_.stored[held])
        found, cost = made.nearest(points, self.n_neighbors + 1, effort)
        others = self._others(found, held).indices
        hits = (others[:, :, None] == truth[:, None, :]).any(axis=2) & (others != NOBODY)
        return hits.mean(axis=1), float(cost.mean())

    def _others(self, found: Neighbors, held: np.ndarray) -> Neighbors:
        """Neighbours that are not the query itself."""
        kept = found.indices != held[:, None]
        kept[kept.all(axis=1), -1] = False
        shape = (len(held), found.indices.shape[1] - 1)
        return Neighbors(found.distances[kept].reshape(shape), found.indices[kept].reshape(shape))

    def kneighbors(self, X, n_neighbors: int | None = None) -> Neighbors:
        """Nearly the nearest training rows of each row, nearest first.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        n_neighbors : int, default=None
            None for the number that the recall was tuned for.

        Returns
        -------
        neighbors : Neighbours
            Where an index found fewer, infinite distances and the number -1 fill up.
        """
        k = self.n_neighbors if n_neighbors is None else int(n_neighbors)
        if not 1 <= k <= self.index_.n_rows:
            raise DataError(f"{k} neighbours of {self.index_.n_rows} rows were requested")

        def both(rows: np.ndarray) -> np.ndarray:
            queries = np.ascontiguousarray(self.distance_.coordinates(rows), dtype=np.float64)
            found, _ = self._made.nearest(queries, k, self.effort_)
            numbers = np.where(found.indices == NOBODY, -1, found.indices)
            return np.stack([self.distance_.finish(found.distances), numbers], axis=1)

        found = self._each_block(both, X)
        return Neighbors(found[:, 0].copy(), found[:, 1].astype(np.int64))

    def _rows_at_once(self, rows) -> int:
        return QUERIES_AT_ONCE


def approximate_neighbors(
    X, queries, n_neighbors: int = 10, *, recall: float = 0.95, random_state: int | None = None
) -> tuple[Neighbors, Estimate]:
    """Nearly the nearest rows in one call: builds an index, asks it, and forgets it.

    Parameters
    ----------
    X : array-like, data frame or Table of shape (n, n_columns)
    queries : array-like, data frame or Table of shape (m, n_columns)
    n_neighbors : int, default=10
    recall : float, default=0.95
    random_state : int or None, default=None

    Returns
    -------
    neighbors : Neighbours
    recall : Estimate
        As measured on rows kept back.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> found, recall = approximate_neighbors(rows, rows[:2], 3, random_state=0)
    >>> found.indices[:, 0].tolist()
    [0, 1]
    """
    model = ApproximateNeighbors(n_neighbors, recall=recall, random_state=random_state).fit(X)
    return model.kneighbors(queries), model.recall_
