"""DENCLUE: rows climb the density of a Gaussian kernel; hills above a threshold are clusters.

f(x) = (1 / (n h^d)) sum K((x - x_i) / h) with K the standard normal density. The attractor of a row
is the top that a steepest way from it leads to.

Texts: 001 19.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.boxes import DEEPEST, Boxes, box_tree, least_squared, nearest_points
from gnomon.cluster.distinct import RowsClusterer, numbered_by_first
from gnomon.cluster.intake import number_rows
from gnomon.cluster.linkage_kernel import tile_in_reach
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.parameters import HISTORY, JOBS, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import in_order

# Bandwidths beyond which a kernel's value is taken as nothing: exp(-32) of its top.
REACH = 8.0
ROWS_AT_ONCE = 256
LEAF = 128
FEW_COLUMNS = 8
GRADIENT, DIRECT = range(2)
WAYS = ("gradient", "direct")
PATH_POINTS = 20  # judgement: places on the line between two hills that must all be dense


@method(
    task="group",
    texts="001 19.3",
    use="Groups as hills of the density, of any shape, with noise where the density is low.",
    avoid="Many columns or rows: every row climbs by sums over its neighbours.",
    peers=("smile.clustering.DENCLUE", "sklearn.cluster.MeanShift"),
)
class Denclue(RowsClusterer):
    """Groups as hills of a kernel density: each row climbs to its attractor.

    The density is ``f(x) = sum_i w_i K((x - x_i) / h) / (n h^d)``, K the standard normal. A step is
    the weighted mean of the rows around (update="direct", the mean-shift step: never downhill), or
    along the gradient (update="gradient"). Attractors within `merge_within` of each other are one.
    Rows whose attractor has ``f < xi`` are noise (-1). Centre-defined clusters have one attractor
    each; of arbitrary shape: attractors joined by a way on which f stays at xi or above share one.
    Use it for groups of any shape with a notion of how dense they must be. With ``xi=0`` and
    centre-defined clusters it is mean shift. Not for many columns, where no density is dense.

    Parameters
    ----------
    bandwidth : float or "auto", default="auto"
        h, in units of the columns; "auto": Scott's rule ``n^(-1 / (d + 4))`` times the root mean
        variance of the columns.
    xi : float, default=0.0
        Least density of an attractor, and along a way that joins two.
    shape : {"center", "arbitrary"}, default="center"
        Clusters of one attractor, or of attractors joined by ways.
    update : {"direct", "gradient"}, default="direct"
        The step. "gradient" moves by ``h^2 / f`` times the gradient halved: half the direct step.
    tol : float, default=1e-4
        A climb ends when a step is shorter than this share of the bandwidth.
    max_iter : int, default=500
        Most steps of a climb.
    merge_within : float, default=0.5
        Attractors within so many bandwidths of each other are one.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps where the rows have climbed to after every step in ``history_.states``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; -1 for noise.
    attractors_ : ndarray of shape (n_attractors, n_columns)
        The tops.
    attractor_density_ : ndarray of shape (n_attractors,)
        The density there.
    attractor_labels_ : ndarray of shape (n_attractors,)
        Their clusters; -1 for those below `xi`.
    bandwidth_ : float
        The bandwidth used.
    rows_ : ndarray of shape (n_distinct, n_columns)
        The rows that make the density.
    row_weights_ : ndarray of shape (n_distinct,)
        Their weights. A new row climbs too, and goes to the nearest attractor.
    n_iter_ : int
        Steps of the longest climb.
    history_ : History
        The longest move of a row in each step.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 001 19.3 (its listing has lost three lines). The text leaves open how a way is tested:
    here straight lines between attractors, looked at in twenty points, and chains of such lines.
    Kernels are cut off at eight bandwidths, where they are ``exp(-32)`` of their top.

    Examples
    --------
    >>> from gnomon.cluster import Denclue
    >>> Denclue(bandwidth=1.0).fit_predict([[0.0], [0.5], [1.0], [9.0], [9.5]]).tolist()
    [0, 0, 0, 1, 1]
    """

    _parameter_constraints = {
        "bandwidth": [StrOptions({"auto"}), above(0)],
        "xi": [at_least(0)],
        "shape": [StrOptions({"center", "arbitrary"})],
        "update": [StrOptions(set(WAYS))],
        "tol": [above(0)],
        "max_iter": [whole(1)],
        "merge_within": [at_least(0)],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e100
    _keeps_rows = True
    _stored = {
        "attractor_density_": Array("f8", ("n_attractor_density",), low=0.0),
        "attractor_labels_": Array("i8", ("n_attractor_density",), low=0),
        "attractors_": Array("f8", ("n_attractor_density", "n_columns")),
        "bandwidth_": Number(),
        "row_weights_": Array("f8", ("n_row_weights",), low=0.0),
        "rows_": Array("f8", ("n_row_weights", "n_columns")),
    }

    def __init__(
        self,
        bandwidth="auto",
        *,
        xi=0.0,
        shape="center",
        update="direct",
        tol=1e-4,
        max_iter=500,
        merge_within=0.5,
        n_jobs=None,
        keep_history="objective",
    ):
        self.bandwidth = bandwidth
        self.xi = xi
        self.shape = shape
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.merge_within = merge_within
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        self.rows_, self.row_weights_ = distinct.rows, distinct.weights
        self.bandwidth_ = self._chosen_bandwidth(distinct)
        hills = self._hills()
        points, moving = distinct.rows.copy(), np.arange(len(distinct.rows))
        course = self._course("step", self.max_iter)
        for _ in course:
            points[moving], squared = self._stepped(points[moving], hills)
            moving = moving[squared > (self.tol * self.bandwidth_) ** 2]
            if course.end_step(
                np.sqrt(squared.max()),
                len(moving) == 0,
                state=lambda: {"points": points.copy()},
                attributes=lambda: self._settled(points, hills)[1],
            ):
                break
        self.history_, self.n_iter_ = course.history, len(course.history)
        return self._settled(points, hills)[0]

    def _settled(self, points: np.ndarray, hills: Hills) -> tuple[np.ndarray, dict[str, Any]]:
        """Labels of rows that have climbed to these points; the fitted attributes, set too."""
        tops, density = self._climbed(points, hills, max_iter=0)
        merged = merged_points(tops, density, self.merge_within * self.bandwidth_)
        self.attractors_, self.attractor_density_ = tops[merged.chosen], density[merged.chosen]
        self.attractor_labels_ = self._attractor_labels(hills)
        owner = merged.owner
        labels = self.attractor_labels_[owner]
        renamed = numbered_by_first(labels)
        pairs = dict(zip(labels.tolist(), renamed.tolist()))
        self.attractor_labels_ = np.array(
            [pairs.get(label, -1) for label in self.attractor_labels_.tolist()], dtype=np.int64
        )
        return self._of_tops(tops, density), self._public()

    def _stepped(self, points: np.ndarray, hills: Hills) -> tuple[np.ndarray, np.ndarray]:
        """The points after one step, and the squared length of each move."""

        def step(start: int) -> tuple[np.ndarray, np.ndarray]:
            moved = points[start : start + ROWS_AT_ONCE].copy()
            squared = np.empty(len(moved))
            step_uphill(*hills[:-1], WAYS.index(self.update), moved, squared)
            return moved, squared

        parts = list(in_order(step, range(0, len(points), ROWS_AT_ONCE), self.n_jobs, short=True))
        moved, squared = (np.concatenate(each) for each in zip(*parts))
        return moved, squared

    def _chosen_bandwidth(self, distinct: DistinctRows) -> float:
        if self.bandwidth != "auto":
            return float(self.bandwidth)
        weights, rows = distinct.weights, distinct.rows
        n, d = weights.sum(), rows.shape[1]
        mean = weights @ rows / n
        root = np.sqrt(float((weights @ (rows - mean) ** 2 / n).mean()))
        return float(root * n ** (-1 / (d + 4))) if root > 0 else 1.0

    def _hills(self) -> Hills:
        return Hills.of(self.rows_, self.row_weights_, self.bandwidth_)

    def _climbed(
        self, rows: np.ndarray, hills: Hills, max_iter: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The top that each row reaches, and the density there."""

        def climb(start: int) -> tuple[np.ndarray, np.ndarray]:
            tops = rows[start : start + ROWS_AT_ONCE].copy()
            density = np.empty(len(tops))
            way = WAYS.index(self.update)
            climb_hills(*hills, way, self.tol, max_iter, tops, density)
            return tops, density

        parts = list(in_order(climb, range(0, len(rows), ROWS_AT_ONCE), self.n_jobs, short=True))
        tops, density = (np.concatenate(each) for each in zip(*parts))
        return tops, density

    def _attractor_labels(self, hills: Hills) -> np.ndarray:
        high = self.attractor_density_ >= self.xi
        labels = np.where(high, np.arange(len(high)), -1)
        if self.shape == "center":
            return labels
        places = np.flatnonzero(high)
        shares = np.linspace(0, 1, PATH_POINTS)[:, None]
        for number, a in enumerate(places):
            for b in places[number + 1 :]:
                if labels[a] == labels[b]:
                    continue
                way = self.attractors_[a] + shares * (self.attractors_[b] - self.attractors_[a])
                if hills.density(way).min() >= self.xi:
                    labels[labels == labels[b]] = labels[a]
        return labels

    def _of_tops(self, tops: np.ndarray, density: np.ndarray) -> np.ndarray:
        """The label of the attractor that is nearest to each top."""
        labels = self.attractor_labels_[nearest_points(tops, self.attractors_)[0]]
        labels[density <= 0] = -1
        return labels

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return self._of_tops(*self._climbed(rows, self._hills(), self.max_iter))

    def density(self, X) -> np.ndarray:
        """The kernel density at each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        density : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        hills = self._hills()
        return self._each_block(hills.density, X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 2 * self._distinct_memory(n_rows, 4 * n_columns)

    def _check_loaded(self) -> None:
        if not hasattr(self, "attractors_"):
            return
        self._check_points("rows_", "attractors_")
        n = len(self.attractors_)
        self._check_numbers("attractor_labels_", n, -1, max(n, 1))
        if n == 0 or self.row_weights_.shape != (len(self.rows_),) or len(self.rows_) == 0:
            raise ValueError("the attractors or weights do not fit the rows")
        if self.row_weights_.dtype != np.float64 or not self.bandwidth_ > 0:
            raise ValueError("weights must be numbers and the bandwidth positive")


class Hills(NamedTuple):
    """A kernel density over rows in a tree of boxes.

    Attributes
    ----------
    columns, weights : ndarray
        The rows in columns (d, n), and their weights, in the order of the tree.
    boxes : Boxes
    bandwidth : float
    factor : float
        ``1 / (n h^d (2 pi)^(d / 2))``.
    """

    columns: np.ndarray
    weights: np.ndarray
    boxes: Boxes
    bandwidth: float
    factor: float

    @classmethod
    def of(cls, rows: np.ndarray, weights: np.ndarray, bandwidth: float) -> Hills:
        tree = box_tree(rows, leaf_rows=leaf_rows(rows.shape[1]))
        d = rows.shape[1]
        log_factor = -d * (np.log(bandwidth) + 0.5 * np.log(2 * np.pi)) - np.log(weights.sum())
        factor = float(np.exp(np.clip(log_factor, -700, 700)))
        columns = np.ascontiguousarray(tree.rows.T)
        return cls(columns, weights[tree.order], tree.boxes, bandwidth, factor)

    def density(self, points: np.ndarray) -> np.ndarray:
        tops, density = np.ascontiguousarray(points).copy(), np.empty(len(points))
        climb_hills(*self, DIRECT, 1.0, 0, tops, density)
        return density


def leaf_rows(n_columns: int) -> int:
    """Rows of a leaf: with many columns boxes rule little out, and rows are looked at sooner."""
    return LEAF // 4 if n_columns <= FEW_COLUMNS else LEAF


class Merged(NamedTuple):
    """Points of which near ones are one: the highest of each lot, and each point's lot."""

    chosen: np.ndarray
    owner: np.ndarray


def merged_points(points: np.ndarray, height: np.ndarray, within: float) -> Merged:
    """Walk the points from the highest down; one within reach of a chosen one joins the nearest."""
    order = np.argsort(-height, kind="stable")
    chosen, owner = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    count = merge_points(np.ascontiguousarray(points), order, within * within, chosen, owner)
    return Merged(chosen[:count].copy(), owner)


@kernel("f8[:,:]", "i8[:]", "f8", "out i8[:]", "out i8[:]")
def merge_points(points, order, squared, chosen, owner):
    """`merged_points` of points (n, d) in that order; returns how many are chosen.

    A distance is given up as soon as it is beyond reach, which is soon for most.
    """
    d, count = points.shape[1], 0
    for place in order:
        found, least = -1, squared
        for each in range(count):
            total = 0.0
            for j in range(d):
                total += (points[chosen[each], j] - points[place, j]) ** 2
                if total > least:
                    break
            if total < least or (total == least and found < 0):
                found, least = each, total
        owner[place] = found if found >= 0 else count
        if found < 0:
            chosen[count] = place
            count += 1
    return count


@subkernel
def kernel_sums(point, columns, weights, boxes, bandwidth, total, stack, tile):
    """Sum of kernels at a point, and of rows weighted by them (into total (d,))."""
    reach = (REACH * bandwidth) ** 2
    scale = -0.5 / (bandwidth * bandwidth)
    total[:] = 0.0
    mass = 0.0
    stack[0], waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if least_squared(point, boxes.low[node], boxes.high[node]) > reach:
            continue
        if boxes.child[node] >= 0:
            stack[waiting], stack[waiting + 1] = boxes.child[node], boxes.child[node] + 1
            waiting += 2
            continue
        begin, size = boxes.start[node], boxes.stop[node] - boxes.start[node]
        if not tile_in_reach(columns, point, begin, size, reach, tile):
            continue
        for t in range(size):
            if tile[t] <= reach:
                tile[t] = weights[begin + t] * np.exp(scale * tile[t])
                mass += tile[t]
            else:
                tile[t] = 0.0
        for j in range(len(point)):
            for t in range(size):
                total[j] += tile[t] * (columns[j, begin + t] - point[j])
    return mass


@kernel("f8[:,:]", "f8[:]", Boxes, "f8", "i8", "out f8[:,:]", "out f8[:]")
def step_uphill(columns, weights, boxes, bandwidth, way, points, squared):
    """Move the points (m, d) one step uphill; squared (m,) is the squared length of each move."""
    d = len(columns)
    stack, total, tile = np.empty(DEEPEST, np.int64), np.empty(d), np.empty(LEAF)
    share = 1.0 if way == DIRECT else 0.5
    for i in range(len(points)):
        mass = kernel_sums(points[i], columns, weights, boxes, bandwidth, total, stack, tile)
        squared[i] = 0.0
        if mass == 0.0:
            continue
        for j in range(d):
            away = share * total[j] / mass
            points[i, j] += away
            squared[i] += away * away


@kernel("f8[:,:]", "f8[:]", Boxes, "f8", "f8", "i8", "f8", "i8", "out f8[:,:]", "out f8[:]")
def climb_hills(columns, weights, boxes, bandwidth, factor, way, tol, max_iter, points, density):
    """Move the points (m, d) uphill until they stand; their density. See `Denclue`."""
    d = len(columns)
    stack, total, tile = np.empty(DEEPEST, np.int64), np.empty(d), np.empty(LEAF)
    least = (tol * bandwidth) ** 2
    for i in range(len(points)):
        mass = 0.0
        for step in range(max_iter + 1):
            mass = kernel_sums(points[i], columns, weights, boxes, bandwidth, total, stack, tile)
            if step == max_iter or mass == 0.0:
                break
            moved = 0.0
            share = 1.0 if way == DIRECT else 0.5
            for j in range(d):
                away = share * total[j] / mass
                points[i, j] += away
                moved += away * away
            if moved <= least:
                mass = kernel_sums(
                    points[i], columns, weights, boxes, bandwidth, total, stack, tile
                )
                break
        density[i] = mass * factor


class Climb(NamedTuple):
    """The way of a point to its attractor.

    Attributes
    ----------
    attractor : ndarray of shape (d,)
    density : float
        The density there.
    path : ndarray of shape (n_steps + 1, d)
        From the point on.
    """

    attractor: np.ndarray
    density: float
    path: np.ndarray


def density_attractor(
    X: Any,
    point: Any,
    bandwidth: float,
    *,
    update: str = "direct",
    step: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Climb:
    """Climb the Gaussian kernel density of rows from a point to its attractor (001 19.3).

    Parameters
    ----------
    X : array-like of shape (n, d)
    point : array-like of shape (d,)
    bandwidth : float
    update : {"direct", "gradient"}, default="direct"
        ``x <- sum K x_i / sum K``, or ``x <- x + step grad f(x)`` with
        ``grad f = (1 / (n h^(d + 2))) sum K (x_i - x)``.
    step : float, default=None
        Of the gradient; half of ``h^2 / f`` at the point by default, which keeps it uphill.
    tol : float, default=1e-6
        Ends when a step is no longer than this.
    max_iter : int, default=10000

    Returns
    -------
    climb : Climb

    Examples
    --------
    >>> density_attractor([[0.0], [1.0]], [0.2], 1.0).attractor.round(3).tolist()
    [0.5]
    """
    rows = number_rows(X)
    place = np.array(point, dtype=np.float64).reshape(-1)
    if len(place) != rows.shape[1]:
        raise DataError(f"the point has {len(place)} coordinates and the rows {rows.shape[1]}")
    if update not in WAYS or not bandwidth > 0:
        raise DataError(f"update is 'direct' or 'gradient' and bandwidth positive, not {update!r}")
    n, d = rows.shape
    constant = n * bandwidth**d * (2 * np.pi) ** (d / 2)
    path = [place.copy()]
    for _ in range(max_iter):
        kernels = np.exp(-0.5 * ((rows - place) ** 2).sum(axis=1) / bandwidth**2)
        mass = kernels.sum()
        if mass == 0:
            raise DataError("no row is within reach of the point; take a larger bandwidth")
        uphill = kernels @ (rows - place)
        if update == "direct":
            move = uphill / mass
        else:
            length = step if step is not None else 0.5 * bandwidth**2 * constant / mass
            move = length * uphill / constant / bandwidth**2
        place = place + move
        path.append(place.copy())
        if np.sqrt(move @ move) <= tol:
            break
    kernels = np.exp(-0.5 * ((rows - place) ** 2).sum(axis=1) / bandwidth**2)
    return Climb(place, float(kernels.sum() / constant), np.array(path))
