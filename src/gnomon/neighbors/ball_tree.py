"""Ball tree: rows in nested balls; the search opens the nearest ball first.

Build: with 12 rows or more, take any row a, the row e farthest from it and the row f farthest from
e; rows nearer to e go one way, those nearer to f the other, and so on. A ball around some rows
starts half-way between e and f with half their distance as radius; while a row lies outside, the
centre moves towards it until the ball touches it, and the radius grows by 2 %. Search: a queue of
balls, nearest first, and the k best rows so far; it ends when the nearest ball is farther than the
worst of these.

Without coordinates (any metric) the centre of a ball is the row whose farther one of e and f is
nearest.

Texts: 003 2.2.4.2 (duplicates, for which e = f, and the triangle inequality are not treated
there). The cost of a query grows as d log2(n): below n = d log2(n), 6312 rows for 500 columns,
comparing all rows is as fast.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neighbors.kernels import search_balls

LEAF = 11  # 003 2.2.4.2: balls of 12 rows and more are parted
GROWTH = 1.02  # 003 2.2.4.2: a radius grows by 2%


class BallQuery(NamedTuple):
    """What a search in a ball tree found, and what it cost.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
    indices : ndarray of int of shape (n_queries, k)
    evaluations : ndarray of int of shape (n_queries,)
        Distances that were computed to rows.
    """

    distances: np.ndarray
    indices: np.ndarray
    evaluations: np.ndarray


class Ball(NamedTuple):
    """A ball, and how it grew.

    Attributes
    ----------
    center : ndarray of shape (d,)
    radius : float
    steps : list of (ndarray, float)
        Centre and radius at the start and after each move.
    """

    center: np.ndarray
    radius: float
    steps: list[tuple[np.ndarray, float]]


def bounding_ball(points, one=None, other=None, growth: float = GROWTH) -> Ball:
    """A snug ball around points, by moving and growing a ball between two far ones.

    Parameters
    ----------
    points : array-like of shape (n, d)
    one, other : array-like of shape (d,), default=None
        Two far points; None to look for them.
    growth : float, default=1.02
        Factor of the radius for each point outside; above 1.

    Returns
    -------
    ball : Ball

    Examples
    --------
    >>> ball = bounding_ball([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> ball.center, ball.radius
    (array([1., 0.]), 1.0)
    """
    points = np.asarray(points, dtype=np.float64)
    if not growth > 1:
        raise DataError(f"growth must be above 1, or a ball may never hold its points: {growth}")
    if one is None or other is None:
        one = points[_distances(points, points[0]).argmax()]
        other = points[_distances(points, one).argmax()]
    center = (np.asarray(one, np.float64) + np.asarray(other, np.float64)) / 2
    radius = float(np.sqrt(((np.asarray(other) - np.asarray(one)) ** 2).sum()) / 2)
    steps = [(center, radius)]
    while True:
        away = _distances(points, center)
        outside = np.flatnonzero(away > radius * (1 + 1e-12))
        if len(outside) == 0 or radius == 0:
            return Ball(center, max(radius, float(away.max())), steps)
        for place in outside:
            apart = points[place] - center
            gap = float(np.sqrt((apart**2).sum()))
            if gap > radius:
                center = center + (1 - radius / gap) * apart
                radius *= growth
                steps.append((center, radius))


class BallTree:
    """Rows in nested balls, for the search of nearest rows by any true metric.

    Use it in few or moderately many dimensions, or where rows lie near a curved surface of few; not
    in hundreds of dimensions with a few thousand rows, where comparing all of them costs no more.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    distance : Distance, default=None
        A fitted metric; None for Euclid.
    leaf_size : int, default=11
        Balls of more rows are divided.
    growth : float, default=1.02

    Attributes
    ----------
    centers : ndarray of shape (n_balls, d)
    radii : ndarray of shape (n_balls,)
    children : ndarray of int of shape (n_balls, 2)
        -1 for leaves.
    spans : ndarray of int of shape (n_balls, 2)
        From where to where in `order` the rows of a ball stand.
    order : ndarray of int of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> found = BallTree(rows).query(rows[:1], k=2)
    >>> int(found.indices[0, 0]), bool(found.evaluations[0] < 100)
    (0, True)
    """

    def __init__(self, rows, distance: Any = None, leaf_size: int = LEAF, growth: float = GROWTH):
        self.rows = np.ascontiguousarray(rows, dtype=np.float64)
        if self.rows.ndim != 2 or len(self.rows) == 0:
            raise DataError("a ball tree needs a table of at least one row")
        if distance is not None and not getattr(distance, "is_metric", True):
            raise DataError(f"a ball tree needs the triangle inequality; {distance!r} lacks it")
        self.distance = distance
        self.leaf_size = int(leaf_size)
        self.growth = float(growth)
        self._build()

    def _build(self) -> None:
        self.order = np.arange(len(self.rows))
        centers, spans = [], []
        radii: list[float] = []
        children: list[list[int]] = []
        waiting = [(0, len(self.rows), -1, 0)]
        while waiting:
            start, stop, parent, side = waiting.pop()
            number = len(radii)
            if parent >= 0:
                children[parent][side] = number
            members = self.rows[self.order[start:stop]]
            one, other = self._far_pair(members)
            center, radius = self._ball(members, one, other)
            centers.append(center)
            radii.append(radius)
            spans.append((start, stop))
            children.append([-1, -1])
            if stop - start <= self.leaf_size:
                continue
            nearer = self._away(members, one) <= self._away(members, other)
            if nearer.all():
                continue
            part = self.order[start:stop]
            self.order[start:stop] = np.concatenate([part[nearer], part[~nearer]])
            middle = start + int(nearer.sum())
            waiting += [(middle, stop, number, 1), (start, middle, number, 0)]
        self.centers = np.array(centers).reshape(len(radii), self.rows.shape[1])
        self.radii = np.array(radii)
        self.spans = np.array(spans, dtype=np.int64).reshape(-1, 2)
        self.children = np.array(children, dtype=np.int64).reshape(-1, 2)
        self._points = np.ascontiguousarray(self.rows[self.order])

    def _away(self, members: np.ndarray, row: np.ndarray) -> np.ndarray:
        if self.distance is None:
            return _distances(members, row)
        return self.distance.pairwise(row[None], members)[0]

    def _far_pair(self, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        one = members[self._away(members, members[0]).argmax()]
        return one, members[self._away(members, one).argmax()]

    def _ball(self, members, one, other) -> tuple[np.ndarray, float]:
        if self.distance is None:
            ball = bounding_ball(members, one, other, self.growth)
            return ball.center, ball.radius
        farther = np.maximum(self._away(members, one), self._away(members, other))
        center = members[farther.argmin()]
        return center, float(self._away(members, center).max())

    @property
    def n_balls(self) -> int:
        return len(self.radii)

    def query(self, queries, k: int = 1) -> BallQuery:
        """The k nearest rows of each query.

        Parameters
        ----------
        queries : array-like of shape (n_queries, d)
        k : int, default=1

        Returns
        -------
        found : BallQuery
        """
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if not 1 <= k <= len(self.rows):
            raise DataError(f"{k} neighbours were requested and the tree has {len(self.rows)} rows")
        if queries.ndim != 2 or queries.shape[1] != self.rows.shape[1]:
            raise DataError(f"queries need {self.rows.shape[1]} columns")
        if self.distance is None:
            (squares, indices), evaluations = self.nearest_squares(queries, k)
            return BallQuery(np.sqrt(squares), indices, evaluations)
        found = [self._best_first(query, k) for query in queries]
        return BallQuery(
            np.array([[d for d, _ in best] for best, _, _ in found]).reshape(-1, k),
            np.array([[i for _, i in best] for best, _, _ in found], np.int64).reshape(-1, k),
            np.array([count for _, count, _ in found], dtype=np.int64),
        )

    def nearest_squares(self, queries: np.ndarray, k: int):
        """Squared distances and numbers of the k nearest in order, and evaluations (Euclid)."""
        squares = np.full((len(queries), k), np.inf)
        numbers = np.full((len(queries), k), np.iinfo(np.int64).max)
        evaluations = np.zeros(len(queries), dtype=np.int64)
        largest = np.abs(self.rows).max(initial=0.0) + np.abs(queries).max(initial=0.0)
        search_balls(
            queries,
            self._points,
            self.order,
            self.spans,
            self.children,
            self.centers,
            self.radii,
            float(largest * self.rows.shape[1] * 1e-15),
            squares,
            numbers,
            evaluations,
        )
        return (squares, numbers), evaluations

    def path(self, query, k: int = 1) -> list[int]:
        """The balls that the search of a query's k nearest opens, in order.

        Parameters
        ----------
        query : array-like of shape (d,)
        k : int, default=1

        Returns
        -------
        balls : list of int
        """
        return self._best_first(np.asarray(query, dtype=np.float64), k)[2]

    def _best_first(self, query: np.ndarray, k: int):
        """The k best in order, evaluations, balls opened; by any metric."""
        best: list[tuple[float, int]] = []  # negated: the worst on top
        queue = [(0.0, 0)]
        evaluations, opened = 0, []
        while queue and not (len(best) == k and queue[0][0] > -best[0][0]):
            _, ball = heapq.heappop(queue)
            opened.append(ball)
            if self.children[ball, 0] < 0:
                members = self.order[self.spans[ball, 0] : self.spans[ball, 1]]
                for number, away in zip(members, self._away(self.rows[members], query)):
                    evaluations += 1
                    entry = (-float(away), -int(number))
                    if len(best) < k:
                        heapq.heappush(best, entry)
                    elif entry > best[0]:
                        heapq.heapreplace(best, entry)
                continue
            for child in self.children[ball].tolist():
                away = float(self._away(self.centers[child][None], query)[0])
                bound = away - self.radii[child] - 1e-12 * (away + self.radii[child])
                heapq.heappush(queue, (max(bound, 0.0), child))
        return sorted((-d, -i) for d, i in best), evaluations, opened


def break_even_rows(n_columns: int) -> float:
    """The number of rows from which a ball tree's d log2(n) is below n.

    Texts: 003 2.2.4.2 (for 500 columns "more than 6000").

    Parameters
    ----------
    n_columns : int

    Returns
    -------
    n_rows : float

    Examples
    --------
    >>> round(break_even_rows(500), 1)
    6311.9
    """
    if n_columns < 2:
        return 1.0
    low, high = n_columns / np.log(2), 2.0
    high = max(low * 2, 4.0)
    while high < n_columns * np.log2(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < n_columns * np.log2(middle) else (low, middle)
    return float(high)


def _distances(points: np.ndarray, point: np.ndarray) -> np.ndarray:
    return np.sqrt(((points - point) ** 2).sum(axis=1))
