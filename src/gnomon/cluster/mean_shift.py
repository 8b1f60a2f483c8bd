"""Mean shift: points climb to where rows are densest by moving to the mean of the rows around.

x <- sum_i w_i x_i [|x - x_i| <= h] / sum_i w_i [|x - x_i| <= h]

A point that stands still is a mode; rows belong to the mode that is nearest.

Texts: 001 19.3 (its direct update, with the flat kernel in place of the normal one).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import estimate_bandwidth

from gnomon.cluster.boxes import (
    DEEPEST,
    Boxes,
    box_tree,
    least_squared,
    most_squared,
    nearest_points,
)
from gnomon.cluster.denclue import LEAF, leaf_rows, merged_points
from gnomon.cluster.distinct import RowsClusterer
from gnomon.cluster.linkage_kernel import tile_in_reach
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import in_order

SEEDS_AT_ONCE = 64  # 16 took 1.11 of the time, 256 0.99 (1,500 x 2); seeds climb for unequal times
BANDWIDTH_BATCH = 500  # rows at once in scikit-learn's estimate_bandwidth
LEAST_MOVE = 1e-3  # of a bandwidth, as in scikit-learn


@method(
    task="group",
    texts="001 19.3",
    use="Rounded groups whose number is not known, of about one width, in few columns.",
    avoid="Many columns; groups of very different width; long groups, which it breaks up.",
    peers=("sklearn.cluster.MeanShift",),
)
@former_parameters(max_steps="max_iter")
class MeanShift(RowsClusterer):
    """Groups around the modes of the density: points climb by moving to the mean of rows around.

    A seed moves to the mean of the rows within `bandwidth` of it until it stands; seeds that end
    within a bandwidth of one with more rows around it are given up, the others are the centres. Use
    it where groups are rounded, of about one width, and their number is not known. Not for many
    columns, nor for long groups. `Denclue` does the same with a smooth kernel, a threshold of
    density and groups of any shape.

    Memory is O(rows): a tree of boxes answers for whole boxes at once by sums kept along it.

    Parameters
    ----------
    bandwidth : float, "auto" or None, default=None
        Radius of the window, in units of the columns; None: scikit-learn's `estimate_bandwidth`,
        the mean distance to the farthest of the nearest three tenths of the rows, which takes the
        square of their number in time. "auto": twice Scott's rule, ``2 n^(-1 / (d + 4))`` times the
        root mean variance of the columns (a flat window is as wide as a normal kernel of half its
        radius or so).
    seeds : array-like of shape (n_seeds, n_columns) or None, default=None
        Where climbs start; None: all rows, or by `bin_seeding`.
    bin_seeding : bool, default=False
        Whether climbs start at the means of the occupied cells of a lattice as wide as the
        bandwidth, which is quicker.
    min_bin_freq : float, default=1
        Least weight of the rows of a cell that is started from.
    cluster_all : bool, default=True
        Whether rows farther than a bandwidth from every centre belong to the nearest; else they are
        noise, labelled -1.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    max_iter : int, default=300
        Most steps of a climb.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps where the seeds are after every step in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The modes.
    labels_ : ndarray of shape (n_samples,)
        The group of each row; -1 for noise.
    weight_within_ : ndarray of shape (n_clusters,)
        Weight of the rows within a bandwidth of each centre.
    bandwidth_ : float
        The bandwidth used.
    n_iter_ : int
        Steps of the longest climb.
    history_ : History
        The longest move of a seed in each step.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    Denclue : With a normal kernel.

    Notes
    -----
    Texts: 001 19.3 (direct update). Climbs end at a thousandth of a bandwidth, as in scikit-learn.

    Examples
    --------
    >>> from gnomon.cluster import MeanShift
    >>> MeanShift(bandwidth=2.0).fit_predict([[0.0], [0.5], [1.0], [9.0], [9.5]]).tolist()
    [0, 0, 0, 1, 1]
    """

    _parameter_constraints = {
        "bandwidth": [StrOptions({"auto"}), above(0), None],
        "seeds": ["array-like", None],
        "bin_seeding": FLAG,
        "min_bin_freq": [at_least(1)],
        "cluster_all": FLAG,
        "n_jobs": JOBS,
        "max_iter": [whole(0)],
        "keep_history": HISTORY,
    }
    _largest = 1e100
    _stored = {
        "bandwidth_": Number(),
        "cluster_centers_": Array("f8", ("n_cluster_centers", "n_columns")),
        "weight_within_": Array("f8", ("n_cluster_centers",), low=0.0),
    }

    def __init__(
        self,
        *,
        bandwidth=None,
        seeds=None,
        bin_seeding=False,
        min_bin_freq=1,
        cluster_all=True,
        n_jobs=None,
        max_iter=300,
        keep_history="objective",
    ):
        self.bandwidth = bandwidth
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.keep_history = keep_history

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        self.bandwidth_ = self._chosen_bandwidth(distinct)
        window = Window.of(distinct.rows, distinct.weights)
        points = self._first_points(distinct) - window.middle
        moving = np.arange(len(points))
        course = self._course("step", self.max_iter)
        for _ in course:
            points[moving], moved = self._on_seeds(window.shifted, points[moving])
            moving = moving[moved > LEAST_MOVE * self.bandwidth_]
            if course.end_step(
                moved.max(),
                len(moving) == 0,
                state=lambda: {"seeds": points + window.middle},
                attributes=lambda: self._public() | self._modes(window, points),
            ):
                break
        self._keep(self._modes(window, points))
        self.history_, self.n_iter_ = course.history, len(course.history)
        return self._nearest(distinct.rows)

    def _on_seeds(self, function, points: np.ndarray) -> tuple[np.ndarray, ...]:
        """The arrays that a function gives for some points at a time, on threads."""
        parts = in_order(
            lambda first: function(points[first : first + SEEDS_AT_ONCE], self.bandwidth_),
            range(0, len(points), SEEDS_AT_ONCE),
            self.n_jobs,
            short=True,
        )
        return tuple(np.concatenate(each) for each in zip(*parts))

    def _modes(self, window: Window, points: np.ndarray) -> dict[str, np.ndarray]:
        """The fitted attributes of seeds that have come to these points."""
        (weight,) = self._on_seeds(window.weights, points)
        if not (weight > 0).any():
            raise ValueError(
                f"No point was within bandwidth={self.bandwidth_:f} of any seed. Try a different "
                "seeding strategy or increase the bandwidth."
            )
        tops, weight = points[weight > 0] + window.middle, weight[weight > 0]
        chosen = merged_points(tops, weight, self.bandwidth_).chosen
        centers, within = tops[chosen], weight[chosen]
        order = np.lexsort((*centers.T[::-1], within))[::-1]  # the densest first, as scikit-learn
        return {"cluster_centers_": centers[order], "weight_within_": within[order]}

    def _first_points(self, distinct: DistinctRows) -> np.ndarray:
        if self.seeds is not None:
            seeds = np.array(self.seeds, dtype=np.float64, order="C", ndmin=2)
            if seeds.shape[1] != distinct.rows.shape[1]:
                raise ValueError(
                    f"seeds have {seeds.shape[1]} columns, and the rows {distinct.rows.shape[1]}"
                )
            return seeds
        if not self.bin_seeding:
            return distinct.rows
        seeds = binned(distinct.rows, distinct.weights, self.bandwidth_, self.min_bin_freq)
        return seeds if len(seeds) else distinct.rows

    def _chosen_bandwidth(self, distinct: DistinctRows) -> float:
        if self.bandwidth is None:
            repeats = np.maximum(np.round(distinct.weights), 1).astype(np.int64)
            found = float(estimate_bandwidth(np.repeat(distinct.rows, repeats, axis=0)))
            return found if found > 0 else half_least_gap(distinct.rows)
        if self.bandwidth != "auto":
            return float(self.bandwidth)
        n, d = distinct.weights.sum(), distinct.rows.shape[1]
        mean = distinct.weights @ distinct.rows / n
        variance = float((distinct.weights @ (distinct.rows - mean) ** 2 / n).mean())
        return float(2 * np.sqrt(variance) * n ** (-1 / (d + 4))) if variance > 0 else 1.0

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        labels, distances = nearest_points(rows, self.cluster_centers_)
        if not self.cluster_all:
            labels[distances > self.bandwidth_] = -1
        return labels

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        climbs = self._distinct_memory(n_rows, 6 * n_columns) + 8 * n_rows * (n_columns + 16)
        if self.bandwidth is not None:
            return climbs
        # estimate_bandwidth: distances and indices of 0.3 n neighbours of a batch, sorted copies
        batch = 32 * min(n_rows, BANDWIDTH_BATCH) * int(0.3 * n_rows)
        return max(climbs, batch + self._distinct_memory(n_rows, 2 * n_columns))

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            self._check_points("cluster_centers_")
            if len(self.cluster_centers_) == 0 or not self.bandwidth_ > 0:
                raise ValueError("there must be centres, and the bandwidth must be positive")


def half_least_gap(rows: np.ndarray) -> float:
    """Half the least distance between distinct rows, so that each is alone; 1 for a single row."""
    return 0.5 * float(pdist(rows).min()) if len(rows) > 1 else 1.0


def binned(rows: np.ndarray, weights: np.ndarray, side: float, least: float = 1) -> np.ndarray:
    """The means of the cells of a lattice of that side that hold rows of the least weight."""
    middle = weights @ rows / weights.sum()
    cells = np.round((rows - middle) / side)
    lots = distinct_rows(cells, weights)
    total = np.zeros(lots.rows.shape)
    np.add.at(total, lots.places, weights[:, None] * (rows - middle))
    heavy = lots.weights >= least
    return middle + total[heavy] / lots.weights[heavy, None]


class Window(NamedTuple):
    """Rows in a tree of boxes with sums kept along it.

    Attributes
    ----------
    columns : ndarray of shape (d, n)
        The rows in columns, in the order of the tree, less their mean.
    middle : ndarray of shape (d,)
    before : ndarray of shape (n + 1,)
        Weight of the rows before each.
    sums : ndarray of shape (n + 1, d)
        Weighted sum of the rows before each.
    boxes : Boxes
    """

    columns: np.ndarray
    middle: np.ndarray
    before: np.ndarray
    sums: np.ndarray
    boxes: Boxes

    @classmethod
    def of(cls, rows: np.ndarray, weights: np.ndarray) -> Window:
        middle = weights @ rows / weights.sum()
        tree = box_tree(rows - middle, leaf_rows=leaf_rows(rows.shape[1]))
        weights = weights[tree.order]
        before = np.concatenate([[0.0], np.cumsum(weights)])
        sums = np.zeros((len(rows) + 1, rows.shape[1]))
        np.cumsum(weights[:, None] * tree.rows, axis=0, out=sums[1:])
        columns = np.ascontiguousarray(tree.rows.T)
        return cls(columns, middle, before, sums, tree.boxes)

    def shifted(self, points: np.ndarray, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
        """The points (less the mean of the rows) after one step, and how far each has moved."""
        points, moved = points.copy(), np.empty(len(points))
        shift_points(*self._tree(), bandwidth, points, moved)
        return points, moved

    def weights(self, points: np.ndarray, bandwidth: float) -> tuple[np.ndarray]:
        """The weight of the rows around each point."""
        weight = np.empty(len(points))
        weigh_points(*self._tree(), bandwidth, np.ascontiguousarray(points), weight)
        return (weight,)

    def _tree(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, Boxes]:
        return (self.columns, self.before, self.sums, self.boxes)


@subkernel
def window_sums(point, columns, before, sums, boxes, squared, total, stack, tile):
    """Weight of the rows within reach of a point, and their weighted sum (into total (d,))."""
    total[:] = 0.0
    weight = 0.0
    d = len(point)
    stack[0], waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if least_squared(point, boxes.low[node], boxes.high[node]) > squared:
            continue
        if most_squared(point, boxes.low[node], boxes.high[node]) <= squared:
            weight += before[boxes.stop[node]] - before[boxes.start[node]]
            for j in range(d):
                total[j] += sums[boxes.stop[node], j] - sums[boxes.start[node], j]
            continue
        if boxes.child[node] >= 0:
            stack[waiting], stack[waiting + 1] = boxes.child[node], boxes.child[node] + 1
            waiting += 2
            continue
        begin = boxes.start[node]
        if not tile_in_reach(columns, point, begin, boxes.stop[node] - begin, squared, tile):
            continue
        for i in range(begin, boxes.stop[node]):
            if tile[i - begin] <= squared:
                own = before[i + 1] - before[i]
                weight += own
                for j in range(d):
                    total[j] += own * columns[j, i]
    return weight


@kernel("f8[:,:]", "f8[:]", "f8[:,:]", Boxes, "f8", "out f8[:,:]", "out f8[:]")
def shift_points(columns, before, sums, boxes, bandwidth, points, moved):
    """Move the points (m, d) to the mean of the rows around; moved (m,) is how far.

    A point with no row around it stays; a bin's mean may be such a one.
    """
    d = len(columns)
    stack, total, tile = np.empty(DEEPEST, np.int64), np.empty(d), np.empty(LEAF)
    for p in range(len(points)):
        weight = window_sums(
            points[p], columns, before, sums, boxes, bandwidth * bandwidth, total, stack, tile
        )
        squared = 0.0
        if weight > 0.0:
            for j in range(d):
                place = total[j] / weight
                squared += (place - points[p, j]) ** 2
                points[p, j] = place
        moved[p] = np.sqrt(squared)


@kernel("f8[:,:]", "f8[:]", "f8[:,:]", Boxes, "f8", "f8[:,:]", "out f8[:]")
def weigh_points(columns, before, sums, boxes, bandwidth, points, weight):
    """The weight (m,) of the rows within a bandwidth of each of the points (m, d)."""
    stack, total, tile = np.empty(DEEPEST, np.int64), np.empty(len(columns)), np.empty(LEAF)
    for p in range(len(points)):
        weight[p] = window_sums(
            points[p], columns, before, sums, boxes, bandwidth * bandwidth, total, stack, tile
        )
