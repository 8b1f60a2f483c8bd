"""k-means by small batches, down to single rows: centres move as rows come.

A batch's rows go to their nearest centres; each centre then moves to the mean of all rows that it
was ever given: with n_k the weight before and b_k that of the batch, of mean m_k,
c_k <- c_k + b_k / (n_k + b_k) (m_k - c_k). A batch of one row is MacQueen's on-line k-means.

Texts: 000b 8.2, 001 18.2 and 004 12.3 describe k-means; 004 12.3 mentions the on-line step.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from gnomon.cluster.centres import require_rows, warn_fewer_clusters
from gnomon.cluster.distinct import RowsClusterer, nearest_label
from gnomon.cluster.kmeans import KMeans, labelled
from gnomon.cluster.nearest import Centres, nearest_of, squared_length, two_nearest
from gnomon.cluster.starts import SurveyedData
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract import Data
from gnomon.engine.draw import WeightedDraw, canonical_key, canonical_order
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, JOBS, SEED, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.sums import as_float_rows

STARTING_BATCHES = 3
STARTING_ROWS_PER_CENTRE = 20
DRAWS_TOGETHER = 2**16
FEWEST_FOR_PRODUCTS = 32


@method(
    task="group",
    texts="000b 8.2 · 001 18.2 · 004 12.3",
    use="k-means of rows that come in batches or one by one, or with one look at very many rows.",
    avoid="Rows that fit in memory and are not too many: KMeans ends lower, and is exact.",
    peers=("sklearn.cluster.MiniBatchKMeans",),
)
class MiniBatchKMeans(RowsClusterer):
    """Groups around k centres that move as rows come: in batches, or on-line, one by one.

    Rows are drawn in proportion to their weights; those of a batch go to their nearest centres, and
    each centre becomes the mean of all rows it was ever given: ``c_k <- c_k + b_k / n_k (m_k -
    c_k)``. The step shrinks as 1 / n_k, so that centres come to rest near a local minimum of
    ``sum_i w_i min_k |x_i - c_k|^2``. ``batch_size=1`` is on-line k-means (MacQueen). Use it for
    rows that arrive over time. For a table at hand `KMeans` ends lower and is hardly slower.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    batch_size : int, default=1024
        Rows of a batch; 1 moves a centre after every row.
    max_iter : int, default=10
        Passes: as many draws as there are rows, each.
    tol : float, default=1e-4
        Ends when the centres' squared movement in a pass, summed, is at most `tol` times the mean
        variance of the columns.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of the draws.
    n_jobs : int or None, default=None
        Threads of the start; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres after every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres; fewer where there are fewer distinct rows, with a warning.
    cluster_weights_ : ndarray of shape (n_clusters,)
        Rows that each centre was given: how little it moves from now on.
    labels_ : ndarray of shape (n_samples,)
        The group of each row that was given to ``fit``.
    inertia_ : float
        The objective on the rows of ``fit``.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean squared distance of the drawn rows to their centres, pass by pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    KMeans : Exact, and streams tables larger than memory by itself.

    Notes
    -----
    Texts: 000b 8.2, 001 18.2, 004 12.3 for the objective; MacQueen (1967) and Sculley (2010) for
    the step. It starts by k-means++ from three batches' worth of rows or twenty for each centre,
    whichever is more, drawn like the batches. A centre that gets no rows stays where it is.

    Examples
    --------
    >>> from gnomon.cluster import MiniBatchKMeans
    >>> model = MiniBatchKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> model.predict([[2.0], [8.0]]).tolist() == model.predict([[0.0], [10.0]]).tolist()
    True
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "batch_size": [whole(1)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e100

    def __init__(
        self,
        n_clusters=8,
        *,
        batch_size=1024,
        max_iter=10,
        tol=1e-4,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _fit(self, data: Data) -> None:
        rows, weights, rng = as_float_rows(data.rows), data.weight_array, self._rng()
        require_rows(len(rows), self.n_clusters)
        order = canonical_order(rows)
        n_distinct = distinct_in_order(rows, order)
        draw = WeightedDraw(order).by(weights)
        centres = self._first_centres(rows, weights, n_distinct, draw, rng)
        counts = np.zeros(len(centres))
        variance = float(SurveyedData.of(data, self.n_jobs).variances.mean())
        course = self._course("pass", self.max_iter)
        for _ in course:
            before, squared = centres.copy(), 0.0
            for size in self._pieces(n_distinct):
                squared += batch_pass(rows, draw(rng, size), self.batch_size, centres, counts)
            moved = float(((centres - before) ** 2).sum())
            found = {"cluster_centers_": centres.copy(), "cluster_weights_": counts.copy()}
            if course.end_step(
                squared / n_distinct,
                moved <= self.tol * variance,
                state=partial(dict, cluster_centers=centres.copy()),
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        self.cluster_centers_, self.cluster_weights_ = centres, counts
        self.history_, self.n_iter_ = course.history, len(course.history)
        at = Centres.at(centres, centres.mean(axis=0))
        labels, self.inertia_ = labelled(data.source, at, self.n_jobs)
        warn_fewer_clusters(labels, self.n_clusters)
        if data.kept is None:
            self.labels_ = labels

    def _pieces(self, n: int) -> Iterator[int]:
        """Draws of whole batches, n in all, few enough at a time to need little room."""
        size = self.batch_size * max(DRAWS_TOGETHER // self.batch_size, 1)
        return (min(size, n - start) for start in range(0, n, size))

    def _first_centres(self, rows, weights, n_distinct: int, draw, rng) -> np.ndarray:
        k = min(self.n_clusters, n_distinct)
        most = max(STARTING_BATCHES * self.batch_size, STARTING_ROWS_PER_CENTRE * k)
        seed = int(rng.integers(2**31))
        if most < n_distinct:
            drawn = rows[draw(rng, most)]
            if distinct_in_order(drawn, canonical_order(drawn)) >= k:
                rows, weights = drawn, np.ones(most)
        start = KMeans(k, max_iter=1, tol=0, random_state=seed, n_jobs=self.n_jobs)
        return fit_quietly(start, rows, weights).cluster_centers_.copy()

    def partial_fit(self, X, y=None) -> MiniBatchKMeans:
        """Go on learning from more rows, batch by batch in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            In the columns that ``fit`` has learnt from; the first call is like ``fit``.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X)
        rows = np.ascontiguousarray(self._each_block(lambda block: block, X))
        centres, counts = self.cluster_centers_.copy(), self.cluster_weights_.copy()
        batch_pass(rows, np.arange(len(rows)), self.batch_size, centres, counts)
        self.cluster_centers_, self.cluster_weights_ = centres, counts
        return self

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(self.cluster_centers_))
        return nearest_label(rows, self.cluster_centers_, numbers)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        k = self.n_clusters
        most = max(STARTING_BATCHES * self.batch_size, STARTING_ROWS_PER_CENTRE * k)
        start = min(most, n_rows)
        inner = KMeans(k, n_jobs=self.n_jobs).forecast(start, n_columns)
        drawn = max(min(self.batch_size, n_rows), DRAWS_TOGETHER)
        batch = min(self.batch_size, n_rows) * (n_columns + 4)
        return inner + 8 * (8 * n_rows + start * (n_columns + 8) + 4 * drawn + batch)

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            self._check_points("cluster_centers_")
            counts = self.cluster_weights_
            wrong = not isinstance(counts, np.ndarray) or counts.dtype != np.float64
            if wrong or counts.shape != (len(self.cluster_centers_),) or len(counts) == 0:
                raise ValueError("cluster_weights_ must be one number for each centre")


def distinct_in_order(rows: np.ndarray, order: np.ndarray) -> int:
    """How many rows are distinct (have keys of their own), given their canonical order."""
    key = canonical_key(rows)[order]
    return 1 + int(np.count_nonzero(key[1:] != key[:-1]))


@kernel("f8[:,:]", "i8[:]", "i8", "out f8[:,:]", "out f8[:]")
def batch_pass(rows, drawn, size, centres, counts):
    """Move the centres (k, d) after each batch of drawn rows; returns squared distances, summed.

    rows (n, d), drawn (m,) places of rows, counts (k,) rows that each centre was given.
    """
    k, d = centres.shape
    objective = 0.0
    gained, total, shift = np.zeros(k), np.zeros((k, d)), np.zeros(d)
    most = min(size, len(drawn))
    block, places = np.empty((most, d)), np.arange(most)
    labels, squared, lower = np.empty(most, np.int32), np.empty(most), np.empty(most)
    factors, squares = np.empty((k, d)), np.empty(k)
    for begin in range(0, len(drawn), size):
        some = drawn[begin : begin + size]
        m = len(some)
        for i in range(m):
            for j in range(d):
                block[i, j] = rows[some[i], j]
        if m < FEWEST_FOR_PRODUCTS:
            for i in range(m):
                labels[i], squared[i], _ = two_nearest(block[i], centres)
        else:
            for j in range(d):
                shift[j] = centres[:, j].sum() / k
            for c in range(k):
                for j in range(d):
                    factors[c, j] = -2.0 * (centres[c, j] - shift[j])
                squares[c] = 0.25 * squared_length(factors[c])
            nearest_of(block, places[:m], centres, shift, factors, squares, labels, squared, lower)
        gained[:] = 0.0
        total[:] = 0.0
        for i in range(m):
            own = labels[i]
            objective += squared[i]
            gained[own] += 1.0
            for j in range(d):
                total[own, j] += block[i, j] - centres[own, j]
        for c in range(k):
            if gained[c] > 0.0:
                counts[c] += gained[c]
                for j in range(d):
                    centres[c, j] += total[c, j] / counts[c]
    return objective
