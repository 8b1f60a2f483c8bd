"""k-means by small batches, down to single rows: centres move as rows come.

A batch's rows go to their nearest centres; each centre then moves to the mean of all rows that it
was ever given: with n_k the weight before and b_k that of the batch, of mean m_k,
c_k <- c_k + b_k / (n_k + b_k) (m_k - c_k). A batch of one row is MacQueen's on-line k-means.

Texts: 000b 8.2, 001 18.2 and 004 12.3 describe k-means; 004 12.3 mentions the on-line step.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.cluster.centers import (
    STARTING_WORDS,
    CentrePredictor,
    require_rows,
    warn_fewer_clusters,
)
from gnomon.cluster.kmeans import KMeans, labeled
from gnomon.cluster.nearest import Centers, nearest_of, squared_length, two_nearest
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels
from gnomon.cluster.starts import SurveyedData
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract import Data
from gnomon.contract.inert import Inert, without_effect
from gnomon.engine.draw import WeightedDraw, canonical_key
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Optional, Whole

STARTING_BATCHES = 3  # as in scikit-learn
STARTING_ROWS_PER_CENTER = 20  # fewer leave groups of ten and more without a row of the start
DRAWS_TOGETHER = 2**16  # half a megabyte of places
SPARSE_CELLS = 2**20  # cells of sparse rows that are made dense together: eight megabytes
FEWEST_FOR_PRODUCTS = 32  # below, distances one by one take less time than a product of matrices


@method(
    task="group",
    texts="000b 8.2 · 001 18.2 · 004 12.3",
    use="k-means of rows that come in batches or one by one, or with one look at very many rows.",
    avoid="Rows that fit in memory and are not too many: KMeans ends lower, and is exact.",
    peers=("sklearn.cluster.MiniBatchKMeans",),
)
@without_effect(
    "verbose",
    reassignment_ratio=Inert(
        [at_least(0)], "float", "a centre that is given few rows stays where it is"
    ),
)
class MiniBatchKMeans(CentrePredictor):
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
    init : {"k-means++", "random", ...}, callable or array-like of shape \
            (n_clusters, n_columns), default="k-means++"
        The first centres, as in `KMeans`.
    max_iter : int, default=100
        Most passes: as many draws as there are rows, each.
    batch_size : int, default=1024
        Rows of a batch; 1 moves a centre after every row.
    compute_labels : bool, default=True
        Whether ``labels_`` and ``inertia_`` are computed for the rows of ``fit``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of the draws.
    tol : float, default=0.0
        Ends when the centres' squared movement in a pass, summed, is at most `tol` times the mean
        variance of the columns; 0 never ends by it.
    max_no_improvement : int or None, default=10
        Ends after so many batches in a row without a new minimum of the smoothed mean squared
        distance of batches; None never ends by it.
    init_size : int or None, default=None
        Rows drawn for the start; None for three batches, or twenty rows for each centre if that is
        more.
    n_init : int or "auto", default="auto"
        Number of starts, of which the one with the lowest objective on the rows drawn for it is
        kept; "auto" is 1 for "k-means++" and given centres, else 3.
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
    n_steps_ : int
        Batches that were used.
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
        "init": [STARTING_WORDS, callable, "array-like"],
        "max_iter": [whole(1)],
        "batch_size": [whole(1)],
        "compute_labels": FLAG,
        "random_state": SEED,
        "tol": [at_least(0)],
        "max_no_improvement": [whole(0), None],
        "init_size": [whole(1), None],
        "n_init": [StrOptions({"auto"}), whole(1)],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e100
    _stored = {
        "cluster_centers_": Array("f", ("n_clusters", "n_columns")),
        "cluster_weights_": Array("f", ("n_clusters",), low=0.0),
        "inertia_": Optional(Number()),
        "labels_": Optional(Array("i4", (None,), low=0, below="n_clusters")),
        "n_steps_": Whole(),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        max_iter=100,
        batch_size=1024,
        verbose=0,
        compute_labels=True,
        random_state=None,
        tol=0.0,
        max_no_improvement=10,
        init_size=None,
        n_init="auto",
        reassignment_ratio=0.01,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        if self.compute_labels and not hasattr(self, "labels_"):  # some rows had weight zero
            self.labels_ = self.predict(X)
        return self

    def _fit(self, data: Data) -> None:
        require_rows(data.n_rows, self.n_clusters)
        surveyed = SurveyedData.of(for_dense_kernels(data), self.n_jobs)
        rows = data.rows if sp.issparse(data.rows) else surveyed.rows
        weights, rng = data.weight_array, self._rng()
        n_distinct = distinct_keys(surveyed.key[surveyed.order])
        draw = WeightedDraw(surveyed.order).by(weights)
        centers = self._first_centers(rows, weights, n_distinct, draw, rng)
        counts = np.zeros(len(centers))
        variance = float(surveyed.variances.mean())
        smooth = Smooth.of(self.batch_size, n_distinct, self.max_no_improvement)
        course = self._course("pass", self.max_iter)
        for _ in course:
            before, squared = centers.copy(), 0.0
            for size in self._pieces(n_distinct, rows):
                squared += self._step(rows, draw(rng, size), centers, counts, smooth)
                if smooth.ended:
                    break
            moved = float(((centers - before) ** 2).sum())
            found = {"cluster_centers_": centers.copy(), "cluster_weights_": counts.copy()}
            still = self.tol > 0 and moved <= self.tol * variance
            if course.end_step(
                squared / n_distinct,
                bool(smooth.ended or still),
                state=partial(dict, cluster_centers=centers.copy()),
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        self.cluster_centers_, self.cluster_weights_ = centers, counts
        self.history_, self.n_iter_ = course.history, len(course.history)
        self.n_steps_ = int(smooth.numbers[0])
        if self.compute_labels:
            self._label(surveyed, data.kept is None)

    def _label(self, data: SurveyedData, all_rows: bool) -> None:
        centers = self.cluster_centers_
        at = Centers.at(centers, centers.mean(axis=0))
        labels, self.inertia_ = labeled(data.source, at, self.n_jobs)
        warn_fewer_clusters(labels, self.n_clusters)
        if all_rows:
            self.labels_ = labels

    def _step(self, rows, drawn: np.ndarray, centers, counts, smooth: Smooth) -> float:
        """Move the centres by the batches of the drawn rows."""
        if sp.issparse(rows) or not rows.flags.c_contiguous:
            rows, drawn = dense_rows(rows[drawn]), np.arange(len(drawn))
        return batch_pass(
            rows, drawn, self.batch_size, centers, counts, smooth.numbers, smooth.alpha, smooth.most
        )

    def _pieces(self, n: int, rows) -> Iterator[int]:
        """Draws of whole batches, n in all, few enough at a time to need little memory."""
        most = DRAWS_TOGETHER
        if sp.issparse(rows):
            most = min(most, SPARSE_CELLS // rows.shape[1])
        size = self.batch_size * max(most // self.batch_size, 1)
        return (min(size, n - start) for start in range(0, n, size))

    def _start_rows(self, k: int) -> int:
        if self.init_size is not None:
            return max(self.init_size, k)
        return max(STARTING_BATCHES * self.batch_size, STARTING_ROWS_PER_CENTER * k)

    def _first_centers(self, rows, weights, n_distinct: int, draw, rng) -> np.ndarray:
        given = not isinstance(self.init, str) and not callable(self.init)
        k = self.n_clusters if given else min(self.n_clusters, n_distinct)
        if self.init_size is not None and self.init_size < self.n_clusters:
            warnings.warn(
                f"init_size={self.init_size} should be larger than n_clusters={self.n_clusters}; "
                f"{k} rows are drawn",
                RuntimeWarning,
                stacklevel=8,
            )
        if given and self.n_init not in ("auto", 1):
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"MiniBatchKMeans instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=8,
            )
        most = self._start_rows(k)
        seed = int(rng.integers(2**31))
        if most < n_distinct:
            drawn = dense_rows(rows[draw(rng, most)])
            if distinct_keys(np.sort(canonical_key(drawn))) >= k:
                rows, weights = drawn, np.ones(most)
        n_init = 1 if given else self.n_init
        if n_init == "auto":
            n_init = 1 if self.init == "k-means++" else 3
        start = KMeans(
            k,
            init=self.init,
            n_init=n_init,
            max_iter=1,
            tol=0,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        centers = fit_quietly(start, rows, weights).cluster_centers_
        return np.array(centers, dtype=np.float64, order="C")

    def partial_fit(self, X, y=None) -> MiniBatchKMeans:
        """Go on learning from more rows, batch by batch in their order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            In the columns that ``fit`` has learnt from; the first call is like ``fit``.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X)
        rows = dense_rows(self._each_block(dense_rows, X))
        dtype = self.cluster_centers_.dtype
        centers = np.array(self.cluster_centers_, dtype=np.float64)
        counts = np.array(self.cluster_weights_, dtype=np.float64)
        smooth = Smooth.of(self.batch_size, len(rows), None)
        self._step(rows, np.arange(len(rows)), centers, counts, smooth)
        self.n_steps_ += int(smooth.numbers[0])
        self.cluster_centers_, self.cluster_weights_ = centers.astype(dtype), counts
        if self.compute_labels:
            self.labels_ = self.predict(X)
            self.inertia_ = -self.score(X)
        return self

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        k = self.n_clusters
        start = min(self._start_rows(k), n_rows)
        inner = KMeans(k, n_jobs=self.n_jobs).forecast(start, n_columns)
        drawn = max(min(self.batch_size, n_rows), DRAWS_TOGETHER)
        batch = min(self.batch_size, n_rows) * (n_columns + 4)
        return inner + 8 * (8 * n_rows + start * (n_columns + 8) + 4 * drawn + batch)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "cluster_centers_"):
            counts = self.cluster_weights_
            wrong = not isinstance(counts, np.ndarray) or counts.dtype.kind != "f"
            if wrong or counts.shape != (len(self.cluster_centers_),) or len(counts) == 0:
                raise ValueError("cluster_weights_ must be one number for each centre")


class Smooth(NamedTuple):
    """The smoothed mean squared distance of batches, by which a fit ends.

    Attributes
    ----------
    numbers : ndarray of shape (4,)
        Batches so far, the smoothed mean, its minimum, batches since that.
    alpha : float
        Weight of the newest batch.
    most : int
        Batches without a new minimum after which the fit ends; 0 for never.
    """

    numbers: np.ndarray
    alpha: float
    most: int

    @classmethod
    def of(cls, batch_size: int, n_rows: int, most: int | None) -> Smooth:
        """Nothing seen yet."""
        alpha = min(2.0 * batch_size / (n_rows + 1), 1.0)
        return cls(np.array([0.0, np.nan, np.inf, 0.0]), alpha, most or 0)

    @property
    def ended(self) -> bool:
        """Whether there was no new minimum for too long."""
        return self.most > 0 and self.numbers[3] >= self.most


def distinct_keys(key: np.ndarray) -> int:
    """How many rows are distinct, given their keys in rising order."""
    return 1 + int(np.count_nonzero(key[1:] != key[:-1]))


@kernel("f8|f4[:,:]", "i8[:]", "i8", "out f8[:,:]", "out f8[:]", "out f8[:]", "f8", "i8")
def batch_pass(rows, drawn, size, centers, counts, numbers, alpha, most):
    """Move the centres (k, d) after each batch of drawn rows; returns squared distances, summed.

    rows (n, d), drawn (m,) places of rows, counts (k,) rows that each centre was given; numbers
    (4,), alpha and most as in `Smooth`: stops where these say so. The first batch of all is not
    smoothed: its centres are those of the start.
    """
    k, d = centers.shape
    objective = 0.0
    gained, total, shift = np.zeros(k), np.zeros((k, d)), np.zeros(d)
    largest = min(size, len(drawn))
    block, places = np.empty((largest, d)), np.arange(largest)
    labels, squared, lower = np.empty(largest, np.int32), np.empty(largest), np.empty(largest)
    factors, squares = np.empty((k, d)), np.empty(k)
    for begin in range(0, len(drawn), size):
        some = drawn[begin : begin + size]
        m = len(some)
        for i in range(m):
            for j in range(d):
                block[i, j] = rows[some[i], j]
        if m < FEWEST_FOR_PRODUCTS:
            for i in range(m):
                labels[i], squared[i], _ = two_nearest(block[i], centers)
        else:
            for j in range(d):
                shift[j] = centers[:, j].sum() / k
            for c in range(k):
                for j in range(d):
                    factors[c, j] = -2.0 * (centers[c, j] - shift[j])
                squares[c] = 0.25 * squared_length(factors[c])
            at = Centers(centers, shift, factors, squares)
            nearest_of(block, places[:m], at, np.empty(0), labels, squared, lower)
        gained[:] = 0.0
        total[:] = 0.0
        batch = 0.0
        for i in range(m):
            own = labels[i]
            batch += squared[i]
            gained[own] += 1.0
            for j in range(d):
                total[own, j] += block[i, j] - centers[own, j]
        for c in range(k):
            if gained[c] > 0.0:
                counts[c] += gained[c]
                for j in range(d):
                    centers[c, j] += total[c, j] / counts[c]
        objective += batch
        numbers[0] += 1.0
        if numbers[0] < 2.0:
            continue
        mean = batch / m
        numbers[1] = mean if np.isnan(numbers[1]) else numbers[1] + alpha * (mean - numbers[1])
        numbers[3] += 1.0
        if numbers[1] < numbers[2]:
            numbers[2], numbers[3] = numbers[1], 0.0
        if most > 0 and numbers[3] >= most:
            break
    return objective
