"""Agglomerative clustering: start with single rows, merge the two nearest clusters, repeat.

What "nearest" means is the linkage: the least (single), the largest (complete) or the mean distance
of pairs (average), the distance of means (mean) or of midpoints (median), or the squares that a
merge adds (Ward).

Texts: 000b 8.1 · 001 21.3 · 003 2.9 · 004 13.1.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import optimal_leaf_ordering
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import AgglomerativeClustering as Connected

from gnomon.cluster.all_pairs import ROWS_AT_ONCE, clusters_at_once, distances_within
from gnomon.cluster.any_metric import METRICS, Metric
from gnomon.cluster.dendrogram import Dendrogram
from gnomon.cluster.distinct import RowsClusterer, nearest_label
from gnomon.cluster.intake import distance_table, number_rows
from gnomon.cluster.linkage_kernel import (
    chain_by_table,
    lance_williams_value,
    merge_by_table,
    merge_centers,
    name_merges,
)
from gnomon.cluster.spanning import shortest_edges, ward_merges
from gnomon.contract import Data
from gnomon.engine import memory
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, JOBS, HasMethods, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Array, Object, Optional, Whole
from gnomon.engine.threads import resolve_jobs

LINKAGES = ("single", "complete", "average", "mean", "median", "ward", "weighted")
SQUARED = frozenset({"mean", "median", "ward"})
NEEDS_TABLE = frozenset({"complete", "average", "weighted"})
# Rows up to which, and columns from which, Ward's table of distances (32 MB) is sooner done than
# rounds of neighbors, which need none (measured on 300 to 3,500 rows of 2 to 100 columns).
SMALL_TABLE, TABLE_FROM = 2000, 50
OTHER_NAMES = {"centroid": "mean"}
SKLEARN_LINKAGES = ("ward", "complete", "average", "single")


@method(
    task="group",
    texts="000b 8.1 · 001 21.3 · 003 2.9 · 004 13.1",
    use="A hierarchy of groups to look at and cut where it suits; chains (single) or balls (Ward).",
    avoid="Hundreds of thousands of rows: the time grows with their square.",
    peers=("scipy.cluster.hierarchy.linkage", "sklearn.cluster.AgglomerativeClustering"),
)
@former_parameters(height="distance_threshold")
class AgglomerativeClustering(RowsClusterer):
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
    n_clusters : int, "gap" or None, default=2
        Number of groups; "gap": where the heights of two consecutive merges lie farthest apart.
        None with `distance_threshold`.
    metric : str or callable, default="euclidean"
        A metric of scikit-learn's, or "precomputed" where X holds the distances. Other than
        Euclidean distances need a table of them all; "ward" takes Euclidean ones only.
    memory : str, Memory object or None, default=None
        Where scikit-learn caches the tree of a `connectivity`; has no effect without one.
    connectivity : array-like, sparse matrix, callable or None, default=None
        Which rows may be merged directly; such trees are scikit-learn's.
    compute_full_tree : "auto" or bool, default="auto"
        Whether a `connectivity` tree is computed to the end; else it always is.
    linkage : {"ward", "complete", "average", "single", "mean", "median"}, default="ward"
        What the distance of two clusters is; "centroid" is another name of "mean".
    distance_threshold : float or None, default=None
        Where given, clusters nearer than this are merged; `n_clusters` must then be None.
    compute_distances : bool, default=False
        Whether ``distances_`` is set also without `distance_threshold`.
    n_jobs : int or None, default=None
        Threads, of Ward's and single linkage; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The group of each row.
    n_clusters_ : int
        Groups found.
    n_leaves_ : int
        Number of rows.
    n_connected_components_ : int
        Parts of the `connectivity` that are not connected; 1 without one.
    children_ : ndarray of int of shape (n_samples - 1, 2)
        The two nodes of each merge: a number below n_samples is a row, else n_samples plus the
        number of an earlier merge. Equal rows are merged first.
    distances_ : ndarray of shape (n_samples - 1,)
        The height of each merge; only with `distance_threshold` or `compute_distances`.
    dendrogram_ : Dendrogram
        All merges; its leaves are ``rows_``. Not set with a `connectivity`.
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
    >>> from gnomon.cluster import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="single")
    >>> model.fit_predict([[0.0], [1.0], [9.0], [10.0]]).tolist()
    [0, 0, 1, 1]
    """

    _parameter_constraints = {
        "n_clusters": [whole(1), StrOptions({"gap"}), None],
        "metric": [StrOptions(METRICS - {"mahalanobis", "seuclidean"}), callable],
        "memory": [str, HasMethods("cache"), None],
        "connectivity": ["array-like", "sparse matrix", callable, None],
        "compute_full_tree": [StrOptions({"auto"}), "boolean"],
        "linkage": [StrOptions({*LINKAGES, *OTHER_NAMES} - {"weighted"})],
        "distance_threshold": [None, at_least(0)],
        "compute_distances": FLAG,
        "n_jobs": JOBS,
    }
    _largest = 1e140
    _keeps_rows = True
    _stored = {
        "children_": Array("i8", (None, 2), low=0),
        "dendrogram_": Object(("Dendrogram",)),
        "distances_": Optional(Array("f8", (None,))),
        "n_clusters_": Whole(),
        "n_connected_components_": Whole(),
        "n_leaves_": Whole(1),
        "row_labels_": Array("i8", ("n_leaves_",), low=0, below="n_clusters_"),
        "rows_": Array("f8", ("n_leaves_", "n_columns")),
    }

    def __init__(
        self,
        n_clusters=2,
        *,
        metric="euclidean",
        memory=None,
        connectivity=None,
        compute_full_tree="auto",
        linkage="ward",
        distance_threshold=None,
        compute_distances=False,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._require_consistent()
        for name in ("distances_", "dendrogram_"):
            vars(self).pop(name, None)
        self.n_leaves_ = data.n_rows
        self.n_connected_components_ = 1
        if self.connectivity is not None:
            self._fit_connected(data)
        elif Metric(self.metric).is_euclidean:
            self._set_merges(self._fit_distinct(data).places)
        else:
            self._fit_any_metric(data)

    def _fit_any_metric(self, data: Data) -> None:
        rows, weights, places = data.rows, data.weight_array, np.arange(data.n_rows)
        if not Metric(self.metric).is_precomputed:
            rows, weights, places, _ = distinct_rows(rows, weights)
        self._require_enough(len(rows), data.n_rows)
        _require_table(len(rows))
        table = np.ascontiguousarray(Metric(self.metric).within(rows), dtype=np.float64)
        tree = tree_of_table(table, weights, self._linkage())
        labels = self._cut(tree)
        self._keep_tree(tree, rows, labels)
        self._set_merges(places)
        if data.kept is None:
            self.labels_ = labels[places]

    def _require_consistent(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other "
                "needs to be None."
            )
        if self.distance_threshold is not None and self.compute_full_tree is False:
            raise ValueError("compute_full_tree must be True if distance_threshold is set.")
        if self.linkage == "ward" and not Metric(self.metric).is_euclidean:
            raise ValueError(
                f"{self.metric} was provided as metric. Ward can only work with euclidean "
                "distances."
            )

    def _linkage(self) -> str:
        return OTHER_NAMES.get(self.linkage, self.linkage)

    def _require_enough(self, n_different: int, n_rows: int) -> None:
        if isinstance(self.n_clusters, Integral) and n_different < self.n_clusters:
            raise ValueError(
                f"n_samples={n_rows} rows of which {n_different} differ should be >= "
                f"n_clusters={self.n_clusters}; choose fewer clusters: Cannot extract more "
                "clusters than samples"
            )

    def _cut(self, tree: Dendrogram) -> np.ndarray:
        if self.distance_threshold is not None:
            return tree.cut(height=np.nextafter(float(self.distance_threshold), -np.inf))
        return tree.cut(None if self.n_clusters == "gap" else self.n_clusters)

    def _keep_tree(self, tree: Dendrogram, rows: np.ndarray, labels: np.ndarray) -> None:
        self.dendrogram_ = tree
        self.rows_, self.row_labels_ = rows, labels
        self.n_clusters_ = int(labels.max()) + 1

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        self._require_enough(len(distinct.rows), len(distinct.places))
        tree = tree_of_rows(distinct.rows, distinct.weights, self._linkage(), self.n_jobs)
        labels = self._cut(tree)
        self._keep_tree(tree, distinct.rows, labels)
        return labels

    def _set_merges(self, places: np.ndarray) -> None:
        """Set ``children_`` of the given rows; those that are equal are merged first."""
        merges = self.dendrogram_.merges
        n, n_distinct = len(places), self.dendrogram_.n_leaves
        order = np.argsort(places, kind="stable")
        again = np.flatnonzero(np.diff(places[order]) == 0) + 1  # rows equal to the one before
        made = n + np.arange(len(again))
        before = order[again - 1]
        longer = np.flatnonzero(np.diff(again) == 1) + 1  # of three equal rows the third ...
        before[longer] = made[longer - 1]
        equal = np.column_stack([before, order[again]])
        node = np.empty(n_distinct, np.int64)
        node[places[order[::-1]]] = order[::-1]
        node[places[order[again]]] = made  # of several the last stays
        below = merges[:, :2].astype(np.int64)
        first = n + len(equal)
        named = np.concatenate([node, first + np.arange(len(merges))])[below]
        self.children_ = np.concatenate([equal, np.sort(named, axis=1)])
        if self.compute_distances or self.distance_threshold is not None:
            self.distances_ = np.concatenate([np.zeros(len(equal)), merges[:, 2]])

    def _fit_connected(self, data: Data) -> None:
        """The tree of rows that may be merged directly: scikit-learn's."""
        if self.n_clusters == "gap" or self.linkage not in SKLEARN_LINKAGES:
            raise ValueError(
                f"connectivity needs a number of clusters and a linkage of "
                f"{', '.join(SKLEARN_LINKAGES)}; these are n_clusters={self.n_clusters!r} and "
                f"linkage={self.linkage!r}"
            )
        params = {k: v for k, v in self.get_params(deep=False).items() if k != "n_jobs"}
        model = Connected(**params).fit(data.rows)
        for name in ("children_", "distances_", "n_clusters_", "n_connected_components_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.rows_, self.row_labels_ = data.rows, model.labels_.astype(np.int64)
        if data.kept is None:
            self.labels_ = self.row_labels_

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        metric = Metric(self.metric)
        if metric.is_euclidean:
            return nearest_label(rows, self.rows_, self.row_labels_)
        away = rows if metric.is_precomputed else metric.between(rows, self.rows_)
        return self.row_labels_[np.argmin(away, axis=1)]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        linkage, threads = self._linkage(), resolve_jobs(self.n_jobs)
        held = self._distinct_memory(n_rows, n_columns) + 8 * n_rows * (4 * n_columns + 40)
        if linkage in NEEDS_TABLE or not Metric(self.metric).is_euclidean:
            return held + 8 * n_rows * (n_rows + threads * min(ROWS_AT_ONCE, n_rows))
        if linkage != "ward":
            return held
        small = min(n_rows, SMALL_TABLE) if n_columns >= TABLE_FROM else 0
        table = small * (small + threads * min(ROWS_AT_ONCE, small))
        products = threads * min(clusters_at_once(n_rows), n_rows) * n_rows
        return held + 8 * max(table, products)

    def _memory_remedy(self) -> str:
        if self.linkage in NEEDS_TABLE:
            return "Use linkage='ward' or 'single', which keep no table of distances."
        return "Use fewer rows, or KMeans first and AgglomerativeClustering on its centres."

    def _check_loaded(self) -> None:
        if hasattr(self, "rows_"):
            self._check_points("rows_")
            self._check_numbers("row_labels_", len(self.rows_), 0, self.n_clusters_)


def linkage_tree(
    X: Any, linkage: str = "ward", metric: Any = "euclidean", n_jobs: int | None = None
) -> Dendrogram:
    """The tree of merges of rows, or of items of which only distances are known.

    Parameters
    ----------
    X : array-like of shape (n, d), or distances with metric="precomputed"
        Distances as a table of shape (n, n), or condensed as SciPy's `pdist` gives them.
    linkage : {"ward", "single", "complete", "average", "mean", "median", "weighted"}, \
            default="ward"
        As in `AgglomerativeClustering`; "weighted" is the mean of the distances to the two parts,
        whatever their sizes (WPGMA).
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
        table = distance_table(squareform(X) if np.ndim(X) == 1 else X).copy()
    else:
        rows = number_rows(X)
        _require_table(len(rows))
        table = cdist(rows, rows, metric=metric)
    return tree_of_table(table, np.ones(len(table)), linkage)


def linkage(
    y: Any, method: str = "single", metric: Any = "euclidean", optimal_ordering: bool = False
) -> np.ndarray:
    """The linkage matrix of rows or distances, as SciPy's ``linkage`` returns it.

    Parameters
    ----------
    y : array-like of shape (n, d), or condensed distances of shape (n * (n - 1) / 2,)
    method : {"single", "complete", "average", "weighted", "centroid", "median", "ward"}, \
            default="single"
    metric : str or callable, default="euclidean"
        Of rows; not used for condensed distances.
    optimal_ordering : bool, default=False
        Whether leaves are ordered so that neighbors are near, by SciPy's function.

    Returns
    -------
    Z : ndarray of shape (n - 1, 4)
        Per merge the two clusters, their distance and the number of rows in the union.

    Examples
    --------
    >>> linkage([1.0, 4.0, 3.0], "average").tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 3.5, 3.0]]
    """
    condensed = np.ndim(y) == 1
    tree = linkage_tree(y, method, "precomputed" if condensed else metric)
    if not optimal_ordering:
        return tree.merges
    return optimal_leaf_ordering(tree.merges, y if condensed else pdist(y, metric))


def tree_of_rows(
    rows: np.ndarray, weights: np.ndarray, linkage: str, n_jobs: int | None = None
) -> Dendrogram:
    """Merge weighted rows by Euclidean distances."""
    n, d = rows.shape
    around = np.ascontiguousarray(rows - rows.mean(axis=0))
    small = linkage == "ward" and d >= TABLE_FROM and n <= SMALL_TABLE
    if linkage in NEEDS_TABLE or small:
        _require_table(n)
        return tree_of_table(distances_within(around, n_jobs), weights, linkage)
    if n == 1:
        return Dendrogram(np.zeros((0, 4)), weights)
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
        merge_centers(columns, weights.copy(), int(linkage == "median"), one, other, squared)
    return _named(one, other, np.sqrt(squared), weights)


def tree_of_table(table: np.ndarray, weights: np.ndarray, linkage: str) -> Dendrogram:
    """Merge items by Lance and Williams' update of a table of distances, which is used up."""
    n = len(table)
    one, other = np.empty(max(n - 1, 0), np.int64), np.empty(max(n - 1, 0), np.int64)
    height = np.empty(max(n - 1, 0))
    if linkage in SQUARED:
        table **= 2
    if linkage == "ward":
        for line, weight in zip(table, weights):
            line *= 2 * (weight * weights) / (weight + weights)
    if n > 1 and linkage in ("mean", "median"):
        merge_by_table(table, weights, LINKAGES.index(linkage), one, other, height)
    elif n > 1:
        chain_by_table(table, weights, LINKAGES.index(linkage), one, other, height)
        order = np.argsort(height, kind="stable")
        one, other, height = one[order], other[order], height[order]
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
    one: Any, other: Any, linkage: str = "average", metric: Any = "euclidean"
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
            "them and use squared=True"
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
