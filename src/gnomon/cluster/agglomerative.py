"""Agglomerative clustering: start with single rows, merge the two nearest clusters, repeat.

What "nearest" means is the linkage: the least (single), the largest (complete) or the mean distance
of pairs (average), the distance of means (mean) or of midpoints (median), or the squares that a
merge adds (Ward).

Texts: 000b 8.1 · 001 21.3 · 003 2.9 · 004 13.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, squareform

from gnomon.cluster.dendrogram import Dendrogram
from gnomon.cluster.distinct import DistinctRows, RowsClusterer, nearest_label
from gnomon.cluster.intake import Metric, distance_table, number_rows
from gnomon.cluster.linkage_kernel import (
    lance_williams_value,
    merge_by_table,
    merge_centres,
    name_merges,
)
from gnomon.cluster.spanning import shortest_edges, ward_merges
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, StrOptions, at_least, whole
from gnomon.engine.registry import method

LINKAGES = ("single", "complete", "average", "mean", "median", "ward")
SQUARED = frozenset({"mean", "median", "ward"})
NEEDS_TABLE = frozenset({"complete", "average"})
OTHER_NAMES = {"centroid": "mean"}


@method(
    task="group",
    texts="000b 8.1 · 001 21.3 · 003 2.9 · 004 13.1",
    use="A hierarchy of groups to look at and cut where it suits; chains (single) or balls (Ward).",
    avoid="Hundreds of thousands of rows: the time grows with their square.",
    peers=("scipy.cluster.hierarchy.linkage", "sklearn.cluster.AgglomerativeClustering"),
)
class Agglomerative(RowsClusterer):
    """Merge the two nearest clusters until one is left; cut the tree of merges into groups.

    The distance of two clusters is ``min``, ``max`` or mean of ``|x - y|`` over their pairs
    (single, complete, average), ``|m_1 - m_2|`` of their means (mean; median: of midpoints), or
    ``sqrt(2 n_1 n_2 / (n_1 + n_2)) |m_1 - m_2|``, whose square is twice what the merge adds to the
    sum of squares (ward). Use it for up to some 50,000 rows when the hierarchy itself matters, or
    the number of groups is to be seen from the gaps between heights. Single linkage follows chains
    of any shape and is broken by noise; Ward's, average and complete give rounded groups. Not for
    many rows: time grows with up to n^2. Scale the columns first.

    Memory is O(rows) for single, ward, mean and median linkage. Complete and average linkage need a
    table of all distances; they forecast it and refuse where it does not fit.

    Parameters
    ----------
    n_clusters : int or "gap", default=2
        Number of groups; "gap": where the heights of two consecutive merges lie farthest apart.
    linkage : {"ward", "single", "complete", "average", "mean", "median"}, default="ward"
        What the distance of two clusters is; "centroid" is another name of "mean".
    height : float or None, default=None
        Where given, merges up to this height are made, whatever `n_clusters` is.
    n_jobs : int or None, default=None
        Threads, of Ward's and single linkage; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The group of each row.
    n_clusters_ : int
        Groups found.
    dendrogram_ : Dendrogram
        All merges; its leaves are ``rows_``.
    rows_ : ndarray of shape (n_distinct, n_columns)
        The distinct rows: equal rows are one leaf, of their joint weight.
    row_labels_ : ndarray of shape (n_distinct,)
        Their groups. A new row gets the group of the nearest of them.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    linkage_tree : The tree alone, also of any table of distances.

    Notes
    -----
    Texts: 000b 8.1 (single, complete, group average), 001 21.3 (Lance and Williams' update; its
    rows for mean and Ward hold for squared distances only, so these are computed on squares),
    004 13.1. Heights are SciPy's.

    Why it is fast: single linkage is Borůvka's spanning tree and Ward's merges come in rounds of
    mutual nearest neighbours, both found through a tree of boxes, on threads.

    Examples
    --------
    >>> from gnomon.cluster import Agglomerative
    >>> Agglomerative(2, linkage="single").fit_predict([[0.0], [1.0], [9.0], [10.0]]).tolist()
    [0, 0, 1, 1]
    """

    _parameter_constraints = {
        "n_clusters": [whole(1), StrOptions({"gap"})],
        "linkage": [StrOptions({*LINKAGES, *OTHER_NAMES})],
        "height": [None, at_least(0)],
        "n_jobs": JOBS,
    }
    _largest = 1e140
    _keeps_rows = True

    def __init__(self, n_clusters=2, *, linkage="ward", height=None, n_jobs=None):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.height = height
        self.n_jobs = n_jobs

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        asked = self.n_clusters
        if self.height is None and asked != "gap" and len(distinct.rows) < asked:
            raise ValueError(
                f"n_samples={len(distinct.places)} rows of which {len(distinct.rows)} differ "
                f"should be >= n_clusters={asked}; ask for fewer clusters"
            )
        linkage = OTHER_NAMES.get(self.linkage, self.linkage)
        tree = tree_of_rows(distinct.rows, distinct.weights, linkage, self.n_jobs)
        if self.height is not None:
            labels = tree.cut(height=self.height)
        else:
            labels = tree.cut(None if asked == "gap" else asked)
        self.dendrogram_ = tree
        self.rows_, self.row_labels_ = distinct.rows, labels
        self.n_clusters_ = int(labels.max()) + 1
        return labels

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return nearest_label(rows, self.rows_, self.row_labels_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        table = 8 * n_rows * n_rows if self.linkage in NEEDS_TABLE else 0
        return table + self._distinct_memory(n_rows, n_columns) + 8 * n_rows * (4 * n_columns + 40)

    def _memory_remedy(self) -> str:
        if self.linkage in NEEDS_TABLE:
            return "Use linkage='ward' or 'single', which keep no table of distances."
        return "Use fewer rows, or KMeans first and Agglomerative on its centres."

    def _check_loaded(self) -> None:
        if hasattr(self, "rows_"):
            self._check_points("rows_")
            self._check_numbers("row_labels_", len(self.rows_), 0, self.n_clusters_)


def linkage_tree(
    X: Any, linkage: str = "ward", metric: Metric = "euclidean", n_jobs: int | None = None
) -> Dendrogram:
    """The tree of merges of rows, or of items of which only distances are known.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    linkage : {"ward", "single", "complete", "average", "mean", "median"}, default="ward"
        As in `Agglomerative`.
    metric : str or callable, default="euclidean"
        A distance of scipy's `cdist`, a function of two rows, or "precomputed". Ward, mean and
        median linkage mean what they say for Euclidean distances only.
    n_jobs : int or None, default=None
        Threads, of Ward's and single linkage of rows; the result does not depend on it.

    Returns
    -------
    tree : Dendrogram

    Examples
    --------
    >>> linkage_tree([[1.0], [2.0], [4.0], [7.0], [11.0]], "complete").heights.tolist()
    [1.0, 3.0, 4.0, 10.0]
    """
    linkage = OTHER_NAMES.get(linkage, linkage)
    if linkage not in LINKAGES:
        raise DataError(f"linkage={linkage!r} is none of {', '.join(LINKAGES)}")
    if metric == "euclidean":
        rows = number_rows(X)
        return tree_of_rows(rows, np.ones(len(rows)), linkage, n_jobs)
    if metric == "precomputed":
        table = distance_table(X).copy()
    else:
        rows = number_rows(X)
        _require_table(len(rows))
        table = cdist(rows, rows, metric=metric)
    return tree_of_table(table, np.ones(len(table)), linkage)


def tree_of_rows(
    rows: np.ndarray, weights: np.ndarray, linkage: str, n_jobs: int | None = None
) -> Dendrogram:
    """Merge weighted rows by Euclidean distances."""
    n = len(rows)
    if linkage in NEEDS_TABLE:
        _require_table(n)
        return tree_of_table(cdist(rows, rows), weights, linkage)
    if n == 1:
        return Dendrogram(np.zeros((0, 4)), weights)
    around = np.ascontiguousarray(rows - rows.mean(axis=0))
    if linkage == "single":
        one, other, squared = shortest_edges(around, n_jobs=n_jobs)
    elif linkage == "ward":
        merges = ward_merges(around, weights, n_jobs)
        order = np.argsort(merges.squared, kind="stable")
        one, other, squared = (part[order] for part in merges)
        squared *= 2.0
    else:
        one, other = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
        squared = np.empty(n - 1)
        columns = np.ascontiguousarray(around.T)
        merge_centres(columns, weights.copy(), int(linkage == "median"), one, other, squared)
    return _named(one, other, np.sqrt(squared), weights)


def tree_of_table(table: np.ndarray, weights: np.ndarray, linkage: str) -> Dendrogram:
    """Merge items by Lance and Williams' update of a table of distances, which is used up."""
    n = len(table)
    one, other = np.empty(max(n - 1, 0), np.int64), np.empty(max(n - 1, 0), np.int64)
    height = np.empty(max(n - 1, 0))
    if linkage in SQUARED:
        table **= 2
    if linkage == "ward":
        table *= 2 * np.outer(weights, weights) / np.add.outer(weights, weights)
    if n > 1:
        merge_by_table(table, weights, LINKAGES.index(linkage), one, other, height)
    if linkage in SQUARED:
        height = np.sqrt(np.maximum(height, 0.0))
    return _named(one, other, height, weights)


def _named(one, other, heights, weights: np.ndarray) -> Dendrogram:
    merges = np.zeros((len(one), 4))
    name_merges(one, other, heights, weights, merges)
    return Dendrogram(merges, weights)


def _require_table(n: int) -> None:
    memory.require(
        16 * n * n,
        f"a table of the distances of {n:,} rows",
        "Use linkage='ward', 'single', 'mean' or 'median' with Euclidean distances.",
    )


def between_clusters(
    one: Any, other: Any, linkage: str = "average", metric: Metric = "euclidean"
) -> float:
    """The distance of two clusters by its definition (000b 8.1, 001 21.3.2).

    Parameters
    ----------
    one, other : array-like of shape (n_1, d) and (n_2, d)
        The rows of the clusters.
    linkage : {"single", "complete", "average", "mean", "ward"}, default="average"
        Least, largest or mean distance of a pair; distance of the means; the squares that the
        union adds to the sum of squares.
    metric : str or callable, default="euclidean"
        For single, complete, average and mean.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> one, other = [[0.0], [2.0]], [[5.0]]
    >>> [between_clusters(one, other, each) for each in ("single", "complete", "average", "mean")]
    [3.0, 5.0, 4.0, 4.0]
    """
    linkage = OTHER_NAMES.get(linkage, linkage)
    one, other = number_rows(one), number_rows(other)
    if linkage in ("single", "complete", "average"):
        distances = cdist(one, other, metric=metric)
        if linkage == "average":
            return float(distances.mean())
        return float(distances.min() if linkage == "single" else distances.max())
    if linkage not in ("mean", "ward"):
        raise DataError(f"linkage={linkage!r} has no definition by two clusters alone")
    means = one.mean(axis=0, keepdims=True), other.mean(axis=0, keepdims=True)
    if linkage == "mean":
        return float(cdist(*means, metric=metric)[0, 0])
    n_1, n_2 = len(one), len(other)
    return float(n_1 * n_2 / (n_1 + n_2) * ((means[0] - means[1]) ** 2).sum())


def lance_williams(
    linkage: str,
    distances: tuple[float, float, float],
    sizes: tuple[float, float, float],
    *,
    squared: bool = False,
) -> float:
    """Distance of the union of clusters i and j to cluster r (Lance and Williams, 001 21.3.3).

    ``a_i d_ir + a_j d_jr + b d_ij + c |d_ir - d_jr|``. The coefficients for mean, median and Ward
    hold for squared Euclidean distances only, which the text does not say: others are refused.

    Parameters
    ----------
    linkage : {"single", "complete", "average", "mean", "median", "ward"}
    distances : tuple of three floats
        d_ir, d_jr and d_ij.
    sizes : tuple of three floats
        n_i, n_j and n_r.
    squared : bool, default=False
        Whether the distances are squared.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> lance_williams("average", (2.0, 5.0, 1.0), (1, 2, 4))
    4.0
    """
    if linkage not in LINKAGES:
        raise DataError(f"linkage={linkage!r} is none of {', '.join(LINKAGES)}")
    if linkage in SQUARED and not squared:
        raise DataError(
            f"the update of {linkage} linkage holds for squared Euclidean distances only; square "
            "them and say squared=True"
        )
    code = LINKAGES.index(linkage)
    values = (*map(float, distances), *map(float, sizes))
    return float(lance_williams_value(code, *values))


def cophenetic_correlation(tree: Dendrogram, distances: Any) -> float:
    """How well a tree keeps distances: their correlation with the heights where leaves meet.

    Parameters
    ----------
    tree : Dendrogram
    distances : array-like of shape (n, n)
        The table of distances of its leaves.

    Returns
    -------
    correlation : float

    Examples
    --------
    >>> tree = linkage_tree([[0.0], [1.0], [9.0]], "average")
    >>> round(cophenetic_correlation(tree, [[0, 1, 9], [1, 0, 8], [9, 8, 0]]), 3)
    0.993
    """
    flat = squareform(distance_table(distances), checks=False)
    return float(np.corrcoef(tree.cophenetic(), flat)[0, 1])
