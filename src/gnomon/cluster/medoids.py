"""k-medoids: groups around items of the data, from distances alone.

Texts: 000b 8.2.4.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gnomon.cluster.centers import require_rows, warn_fewer_clusters
from gnomon.cluster.distinct import RowsClusterer, nearest_label
from gnomon.cluster.intake import distance_table
from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.cluster.validity import sum_distances
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, SEED, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number


@method(
    task="group",
    texts="000b 8.2.4",
    use="Groups around typical rows of the table itself; less moved by outliers than means.",
    avoid="Many rows: within each group every row is tried as its centre.",
    peers=("kmedoids.KMedoids",),
)
class KMedoids(RowsClusterer):
    """Groups around k rows of the table, by Euclidean distances (not squared).

    Minimises ``sum_i w_i min_k |x_i - m_k|`` over rows m_k of the table by turns: rows go to their
    nearest medoid, and in each group the row with the least sum of distances to the others becomes
    the medoid. The objective never rises. Use it where a group's centre must be a real row, or
    outliers would drag means. For items of which only distances are known use `k_medoids`. Memory
    is O(rows); time grows with the squared size of groups.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    max_iter : int, default=100
        Most turns.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first medoids, drawn by weighted distance from those so far.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the medoids of every turn in ``history_.states``.

    Attributes
    ----------
    medoids_ : ndarray of shape (n_clusters, n_columns)
        The rows at the centres.
    labels_ : ndarray of shape (n_samples,)
        The group of each row.
    inertia_ : float
        The objective at the end.
    n_iter_ : int
        Turns made.
    history_ : History
        The objective at each turn.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.4, which starts from random medoids.

    Examples
    --------
    >>> from gnomon.cluster import KMedoids
    >>> model = KMedoids(2, random_state=0).fit([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]])
    >>> sorted(model.medoids_.ravel().tolist())
    [1.0, 10.0]
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "max_iter": [whole(1)],
        "random_state": SEED,
        "keep_history": HISTORY,
    }
    _largest = 1e140
    _stored = {
        "inertia_": Number(),
        "medoids_": Array("f8", ("n_clusters", "n_columns")),
    }

    def __init__(self, n_clusters=8, *, max_iter=100, random_state=None, keep_history="objective"):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.random_state = random_state
        self.keep_history = keep_history

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        rows, weights = distinct.rows, distinct.weights
        require_rows(len(distinct.places), self.n_clusters)
        medoids = self._first(rows, weights)
        course = self._course("turn", self.max_iter)
        for _ in course:
            labels, distances = _assigned(rows, rows[medoids])
            moved = np.array(
                [_middle(rows, weights, labels, c, medoids[c]) for c in range(len(medoids))]
            )
            converged = bool((moved == medoids).all())
            medoids = moved
            found = {"medoids_": rows[medoids]}
            if course.end_step(
                float(weights @ distances),
                converged,
                state=partial(dict, medoids=rows[medoids]),
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        labels, distances = _assigned(rows, rows[medoids])
        self.medoids_ = rows[medoids]
        self.inertia_ = float(weights @ distances)
        self.history_, self.n_iter_ = course.history, len(course.history)
        warn_fewer_clusters(labels, self.n_clusters)
        return labels

    def _first(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        rng, draw = self._rng(), WeightedDraw(np.arange(len(rows)))
        chosen = [int(draw(weights, rng, 1)[0])]
        while len(chosen) < min(self.n_clusters, len(rows)):
            _, distances = _assigned(rows, rows[chosen])
            pull = weights * distances
            pull[chosen] = 0.0
            if not pull.sum() > 0:
                pull = np.ones(len(rows))
                pull[chosen] = 0.0
            chosen.append(int(draw(pull, rng, 1)[0]))
        return np.array(chosen)

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return nearest_label(rows, self.medoids_, np.arange(len(self.medoids_), dtype=np.int32))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 2 * self._distinct_memory(n_rows, n_columns)

    def _check_loaded(self) -> None:
        if hasattr(self, "medoids_"):
            self._check_points("medoids_")


def _assigned(rows: np.ndarray, medoids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    centers = Centers.at(medoids, medoids.mean(axis=0))
    found = find_nearest(rows, centers, Nearest.of(len(rows)))
    return found.labels, np.sqrt(found.squared)


def _middle(rows, weights, labels: np.ndarray, group: int, before: int) -> int:
    """The member with the least weighted sum of distances to the members; the old one of equals."""
    members = np.flatnonzero(labels == group)
    if len(members) == 0:
        return int(before)
    sums = np.zeros((len(members), 1))
    own, heavy = rows[members], weights[members]
    if (heavy == heavy[0]).all():
        ends = np.array([len(members)])
        sum_distances(own, np.ascontiguousarray(own.T), ends, sums)
    else:
        sum_weighted_distances(own, heavy, sums)
    best = int(members[sums[:, 0].argmin()])
    old = np.flatnonzero(members == before)
    if len(old) and sums[old[0], 0] <= sums[:, 0].min():
        return int(before)
    return best


@kernel("f8[:,:]", "f8[:]", "out f8[:,:]")
def sum_weighted_distances(rows, weights, sums):
    """Weighted sum of the distances of each row to all. rows (n, d), weights (n,), sums (n, 1)."""
    for i in range(len(rows)):
        for other in range(i):
            squared = 0.0
            for j in range(rows.shape[1]):
                gap = rows[i, j] - rows[other, j]
                squared += gap * gap
            distance = np.sqrt(squared)
            sums[i, 0] += weights[other] * distance
            sums[other, 0] += weights[i] * distance


class Medoids(NamedTuple):
    """k-medoids of a table of distances.

    Attributes
    ----------
    medoids : ndarray of shape (k,)
        The items at the centres.
    labels : ndarray of shape (n,)
        Which of them is nearest to each item.
    cost : float
        Distances of all items to their medoids, summed.
    n_iter : int
        Turns, or passes over all items.
    """

    medoids: np.ndarray
    labels: np.ndarray
    cost: float
    n_iter: int


def k_medoids(
    distances: Any,
    n_clusters: int,
    *,
    algorithm: str = "swap",
    init: Any = None,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> Medoids:
    """Groups of items around k of them, from a table of distances alone (000b 8.2.4).

    Parameters
    ----------
    distances : array-like of shape (n, n)
        Symmetric, zero on the diagonal. Of similarities s in (0, 1] take ``-log s``.
    n_clusters : int
    algorithm : {"swap", "alternate"}, default="swap"
        "alternate": items to their nearest medoid, then the best medoid within each group, by turns
        (the text's). "swap": any item takes the place of any medoid as soon as that lowers the cost
        (FasterPAM, Schubert and Rousseeuw 2021); ends lower or equal, at a cost of n^2 per pass.
    init : array-like of int of shape (n_clusters,), default=None
        First medoids; drawn at random by default.
    max_iter : int, default=100
    random_state : int, Generator or None, default=None

    Returns
    -------
    medoids : Medoids

    Examples
    --------
    >>> found = k_medoids([[0, 1, 8, 9], [1, 0, 7, 8], [8, 7, 0, 1], [9, 8, 1, 0]], 2, init=[0, 1])
    >>> found.cost, found.labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    (2.0, True)
    """
    table = distance_table(distances)
    n = len(table)
    if not 1 <= n_clusters <= n:
        raise DataError(f"{n} items cannot have n_clusters={n_clusters} medoids")
    if algorithm not in ("swap", "alternate"):
        raise DataError(f"algorithm={algorithm!r} is neither 'swap' nor 'alternate'")
    if init is None:
        init = np.random.default_rng(random_state).choice(n, n_clusters, replace=False)
    medoids = np.array(init, dtype=np.int64)
    if len(np.unique(medoids)) != n_clusters or medoids.min() < 0 or medoids.max() >= n:
        raise DataError(f"init must be {n_clusters} different items from 0 to {n - 1}")
    if algorithm == "swap":
        passes = int(swap_medoids(table, max_iter, medoids)) if n_clusters < n else 0
    else:
        passes = _alternate(table, medoids, max_iter)
    labels = table[:, medoids].argmin(axis=1)
    return Medoids(medoids, labels, float(table[:, medoids].min(axis=1).sum()), passes)


def _alternate(table: np.ndarray, medoids: np.ndarray, max_iter: int) -> int:
    for turn in range(1, max_iter + 1):
        labels = table[:, medoids].argmin(axis=1)
        labels[medoids] = np.arange(len(medoids))
        before = medoids.copy()
        for group in range(len(medoids)):
            members = np.flatnonzero(labels == group)
            medoids[group] = members[table[np.ix_(members, members)].sum(axis=1).argmin()]
        if (before == medoids).all():
            return turn
    return max_iter


@kernel("f8[:,:]", "i8", "out i8[:]")
def swap_medoids(table, max_iter, medoids):
    """FasterPAM: try each item in the place of every medoid at once, swap where the cost falls.

    table (n, n), medoids (k,). With the nearest and second nearest medoid of every item known, the
    changes of cost for all k medoids take one look at each item. Returns the passes made.
    """
    n, k = len(table), len(medoids)
    near, second = np.empty(n, np.int64), np.empty(n, np.int64)
    loss, change = np.empty(k), np.empty(k)
    last, passes = -1, 0
    stale = True
    while passes < max_iter:
        passes += 1
        improved = False
        for item in range(n):
            if stale:
                for i in range(n):
                    near[i], second[i] = -1, -1
                    for m in range(k):
                        here = table[i, medoids[m]]
                        if near[i] < 0 or here < table[i, medoids[near[i]]]:
                            second[i] = near[i]
                            near[i] = m
                        elif second[i] < 0 or here < table[i, medoids[second[i]]]:
                            second[i] = m
                loss[:] = 0.0
                for i in range(n):
                    first = table[i, medoids[near[i]]]
                    after = np.inf if second[i] < 0 else table[i, medoids[second[i]]]
                    if second[i] >= 0:
                        loss[near[i]] += after - first
                stale = False
            if item == last:
                break
            is_medoid = False
            for m in range(k):
                is_medoid = is_medoid or medoids[m] == item
            if is_medoid:
                continue
            gain = 0.0
            for m in range(k):
                change[m] = loss[m]
            for i in range(n):
                here = table[i, item]
                first = table[i, medoids[near[i]]]
                if second[i] < 0:
                    change[0] += here - first
                    continue
                after = table[i, medoids[second[i]]]
                if here < first:
                    gain += here - first
                    change[near[i]] += first - after
                elif here < after:
                    change[near[i]] += here - after
            best = 0
            for m in range(1, k):
                if change[m] < change[best]:
                    best = m
            if change[best] + gain < -1e-12 * (1.0 + abs(change[best])):
                medoids[best] = item
                last = item
                stale = improved = True
        if not improved:
            break
    return passes
