"""k-means by single transfers, and k-means of a sample of the rows.

Texts: 000b 8.2.1 (Lloyd-Hartigan), 8.2.2 (subsamples).
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster.centers import require_rows, warn_fewer_clusters
from gnomon.cluster.distinct import RowsClusterer, nearest_label
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.nearest import squared_distance
from gnomon.contract import Data
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, JOBS, SEED, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole


@method(
    task="group",
    texts="000b 8.2.1",
    use="k-means on up to some 100,000 rows where a lower objective is worth more time.",
    avoid="Very many rows (KMeans), or groups that are not compact.",
    peers=("R kmeans",),
)
class HartiganKMeans(RowsClusterer):
    """A k-means that moves rows one at a time, counting the change of both centres.

    Row x of weight w leaves cluster a for b when that lowers the sum of squares:
    ``n_b w / (n_b + w) |x - c_b|^2 < n_a w / (n_a - w) |x - c_a|^2``; both centres move at once.
    Its ends are ends of Lloyd's k-means too, but not the other way round, so that it ends lower or
    equal. Use it where the objective matters more than time. Not for very many rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    max_iter : int, default=100
        Most passes over all rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start: a few passes of `KMeans` from k-means++.
    n_jobs : int or None, default=None
        Threads of the start.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres of every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The group of each row: the nearest centre.
    inertia_ : float
        The sum of squared distances.
    n_iter_ : int
        Passes made.
    history_ : History
        The objective after each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.1, which names the method and does not describe it (Hartigan and Wong 1979).

    Examples
    --------
    >>> from gnomon.cluster import HartiganKMeans
    >>> HartiganKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]]).inertia_
    1.0
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "max_iter": [whole(1)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e100
    _stored = {
        "cluster_centers_": Array("f8", ("n_clusters", "n_columns")),
        "inertia_": Number(),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        max_iter=100,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        require_rows(len(distinct.places), self.n_clusters)
        rows, weights = distinct.rows, distinct.weights
        k = min(self.n_clusters, len(rows))
        seed = int(self._rng().integers(2**31))
        start = KMeans(k, max_iter=5, tol=0, random_state=seed, n_jobs=self.n_jobs)
        fit_quietly(start, rows, weights)
        labels, centers = start.labels_.astype(np.int64), start.cluster_centers_.copy()
        sizes = np.bincount(labels, weights, minlength=k)
        _settle(rows, weights, labels, centers, sizes)  # k-means may have ended before the means
        course = self._course("pass", self.max_iter)
        for _ in course:
            moved = transfer_rows(rows, weights, labels, centers, sizes)
            _settle(rows, weights, labels, centers, sizes)
            found = {"cluster_centers_": centers.copy()}
            if course.end_step(
                _squares(rows, weights, labels, centers),
                moved == 0,
                state=partial(dict, cluster_centers=centers.copy()),
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        self.cluster_centers_ = centers
        self.history_, self.n_iter_ = course.history, len(course.history)
        labels = self._nearest(rows)
        self.inertia_ = _squares(rows, weights, labels, centers)
        warn_fewer_clusters(labels, self.n_clusters)
        return labels

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(self.cluster_centers_))
        return nearest_label(rows, self.cluster_centers_, numbers)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(self.n_clusters, n_jobs=self.n_jobs)
        return self._distinct_memory(n_rows, 2 * n_columns) + inner.forecast(n_rows, n_columns)

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            self._check_points("cluster_centers_")


def fit_quietly(model: KMeans, rows: np.ndarray, weights: np.ndarray | None = None) -> KMeans:
    """Fit a k-means that is a part of something else: that it ended early or lost a cluster is no
    news to the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, sample_weight=weights)


def learn_quietly(model: KMeans, data: Data) -> KMeans:
    """The same with rows that were taken in already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.n_features_in_ = data.n_columns
        model._fit(data)
    return model


def _settle(rows, weights, labels, centers, sizes) -> None:
    """Compute centres and sizes anew, so that rounding of many small moves does not add up."""
    for c in range(len(centers)):
        own = labels == c
        if own.any():
            sizes[c] = weights[own].sum()
            centers[c] = weights[own] @ rows[own] / sizes[c]


def _squares(rows, weights, labels, centers) -> float:
    return float(weights @ ((rows - centers[labels]) ** 2).sum(axis=1))


@kernel("f8[:,:]", "f8[:]", "out i8[:]", "out f8[:,:]", "out f8[:]")
def transfer_rows(rows, weights, labels, centers, sizes):
    """One pass of single transfers; returns how many. rows (n, d), centres (k, d), sizes (k,)."""
    k, d = centers.shape
    moved = 0
    for i in range(len(rows)):
        own, weight = labels[i], weights[i]
        if sizes[own] <= weight * (1.0 + 1e-12):
            continue
        loss = sizes[own] * weight / (sizes[own] - weight) * squared_distance(rows[i], centers[own])
        best, least = own, loss * (1.0 - 1e-12)
        for c in range(k):
            if c == own:
                continue
            cost = sizes[c] * weight / (sizes[c] + weight) * squared_distance(rows[i], centers[c])
            if cost < least:
                best, least = c, cost
        if best == own:
            continue
        for j in range(d):
            away = weight * (rows[i, j] - centers[own, j]) / (sizes[own] - weight)
            centers[own, j] -= away
            centers[best, j] += weight * (rows[i, j] - centers[best, j]) / (sizes[best] + weight)
        sizes[own] -= weight
        sizes[best] += weight
        labels[i] = best
        moved += 1
    return moved


@method(
    task="group",
    texts="000b 8.2.2",
    use="k-means of so many rows that a sample of them tells where the centres are.",
    avoid="Very many clusters: each needs many rows in the sample.",
    peers=("sklearn.cluster.MiniBatchKMeans",),
)
class SubsampleKMeans(RowsClusterer):
    """The centres of k-means on a random sample of the rows; all rows are assigned to them.

    Minimises ``sum min_k |x - c_k|^2`` over the sample. Use it where every cluster has many rows;
    not for very many clusters, some of which the sample would miss (`KMeansTree`).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    n_drawn : int, default=10000
        Rows drawn, with replacement and by weight; all rows are used where there are no more.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and of the start.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of every row.
    n_used_ : int
        Rows that the centres were computed from.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.2. Rows are drawn along their canonical order, so that the order of the table
    does not matter.

    Examples
    --------
    >>> from gnomon.cluster import SubsampleKMeans
    >>> model = SubsampleKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 9.5]
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "n_drawn": [whole(1)],
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _largest = 1e100
    _stored = {
        "cluster_centers_": Array("f8", ("n_clusters", "n_columns")),
        "n_used_": Whole(),
    }

    def __init__(self, n_clusters=8, *, n_drawn=10_000, random_state=None, n_jobs=None):
        self.n_clusters = n_clusters
        self.n_drawn = n_drawn
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        require_rows(len(distinct.places), self.n_clusters)
        rng = self._rng()
        rows, weights = distinct.rows, distinct.weights
        if len(rows) > self.n_drawn:
            drawn = WeightedDraw(np.arange(len(rows)))(weights, rng, self.n_drawn)
            places, counts = np.unique(drawn, return_counts=True)
            rows, weights = rows[places], counts.astype(np.float64)
        k = min(self.n_clusters, len(rows))
        inner = KMeans(k, random_state=int(rng.integers(2**31)), n_jobs=self.n_jobs)
        fit_quietly(inner, rows, weights)
        self.cluster_centers_ = inner.cluster_centers_
        self.n_used_ = int(min(len(distinct.rows), self.n_drawn))
        labels = self._nearest(distinct.rows)
        warn_fewer_clusters(labels, self.n_clusters)
        return labels

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(self.cluster_centers_))
        return nearest_label(rows, self.cluster_centers_, numbers)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(self.n_clusters, n_jobs=self.n_jobs)
        used = min(n_rows, self.n_drawn)
        return self._distinct_memory(n_rows, n_columns) + inner.forecast(used, n_columns)

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            self._check_points("cluster_centers_")
