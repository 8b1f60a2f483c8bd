"""Divisive clustering: start with one cluster, choose one, split it in two, repeat.

Texts: 000b 8.1 · 001 21.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon.cluster.distinct import RowsClusterer, nearest_label, numbered_by_first
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, SEED, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array

STARTS = 3  # of each split; the best is taken

Splitter = Callable[[np.ndarray, np.ndarray], np.ndarray]


@method(
    task="group",
    texts="000b 8.1 · 001 21.1",
    use="A hierarchy from the top down: few large groups first, by a splitter of one's own.",
    avoid="Where the lower levels matter (AgglomerativeClustering): no early split is undone.",
    peers=("sklearn.cluster.BisectingKMeans", "R diana"),
)
class DivisiveClustering(RowsClusterer):
    """Groups from the top down: the worst cluster is split in two until there are enough.

    The default splitter is 2-means, ``min |x - c_1|^2 + |x - c_2|^2``; any function may take its
    place, since the texts leave the rule to the application. Use it for few, large groups of many
    rows, or where a domain knows how to split. Do not use it where small groups matter: an early
    split is never undone. A new row gets the group of
    its nearest row.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of groups.
    splitter : callable or None, default=None
        Function of rows (m, d) and their weights that gives True or False for each, both present;
        None: 2-means, the best of three starts.
    choose : {"squares", "size"}, default="squares"
        The cluster to split: of the largest sum of squares around its mean, or the heaviest.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the 2-means.
    n_jobs : int or None, default=None
        Threads of the 2-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The group of each row.
    splits_ : ndarray of shape (n_clusters - 1, 2)
        Which group was split at each step, and the group that its second half became; groups are
        numbered as they arise, from 0.
    rows_ : ndarray of shape (n_distinct, n_columns)
        The distinct rows.
    row_labels_ : ndarray of shape (n_distinct,)
        Their groups.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.1, 001 21.1.

    Examples
    --------
    >>> from gnomon.cluster import DivisiveClustering
    >>> rows = [[0.0], [1.0], [9.0], [10.0]]
    >>> DivisiveClustering(2, splitter=lambda rows, weights: rows[:, 0] > 5).fit_predict(rows)
    array([0, 0, 1, 1])
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "splitter": [callable, None],
        "choose": [StrOptions({"squares", "size"})],
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _largest = 1e100
    _keeps_rows = True
    _stored = {
        "row_labels_": Array("i8", ("n_row_labels",), low=0, below="n_clusters"),
        "rows_": Array("f8", ("n_row_labels", "n_columns")),
        "splits_": Array("i8", (None, 2), low=0, below="n_clusters"),
    }

    def __init__(
        self, n_clusters=2, *, splitter=None, choose="squares", random_state=None, n_jobs=None
    ):
        self.n_clusters = n_clusters
        self.splitter = splitter
        self.choose = choose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        rows, weights = distinct.rows, distinct.weights
        if len(rows) < self.n_clusters:
            raise ValueError(
                f"n_samples={len(distinct.places)} rows of which {len(rows)} differ should be >= "
                f"n_clusters={self.n_clusters}; choose fewer clusters"
            )
        rng = self._rng()
        labels = np.zeros(len(rows), np.int64)
        splits = []
        for number in range(1, self.n_clusters):
            chosen = self._worst(rows, weights, labels, number)
            members = np.flatnonzero(labels == chosen)
            second = self._halves(rows[members], weights[members], rng)
            labels[members[second]] = number
            splits.append((chosen, number))
        self.splits_ = np.array(splits, dtype=np.int64).reshape(-1, 2)
        labels = numbered_by_first(labels)
        self.rows_, self.row_labels_ = rows, labels
        return labels

    def _worst(self, rows, weights, labels, count: int) -> int:
        """The cluster to split, of those with two different rows or more."""
        value = np.full(count, -np.inf)
        for c in range(count):
            own = labels == c
            if own.sum() < 2:
                continue
            mean = np.average(rows[own], axis=0, weights=weights[own])
            squares = float(weights[own] @ ((rows[own] - mean) ** 2).sum(axis=1))
            value[c] = squares if self.choose == "squares" else weights[own].sum()
        return int(value.argmax())

    def _halves(self, rows, weights, rng: np.random.Generator) -> np.ndarray:
        seed = int(rng.integers(2**31))
        if self.splitter is None:
            model = KMeans(2, n_init=STARTS, random_state=seed, n_jobs=self.n_jobs)
            second = fit_quietly(model, rows, weights).labels_ == 1
        else:
            second = np.asarray(self.splitter(rows, weights), dtype=bool)
        if second.shape != (len(rows),) or second.all() or not second.any():
            raise DataError(
                f"the splitter must give True for some and False for some of {len(rows)} rows"
            )
        return second

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return nearest_label(rows, self.rows_, self.row_labels_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(2, n_jobs=self.n_jobs).forecast(n_rows, n_columns)
        return inner + self._distinct_memory(n_rows, 2 * n_columns)

    def _check_loaded(self) -> None:
        if hasattr(self, "rows_"):
            self._check_points("rows_")
            self._check_numbers("row_labels_", len(self.rows_), 0, max(len(self.rows_), 1))
