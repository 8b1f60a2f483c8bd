"""HDBSCAN: the clusters of DBSCAN at all radii at once, of which those that last longest are kept.

The core distance of a row is the radius that makes it core; two rows reach each other at the
largest of their distance and their core distances. Single linkage by that is DBSCAN for every eps.
Going down the tree with growing density lambda = 1 / eps, a cluster sheds rows or splits in
clusters of at least min_cluster_size; its stability is the sum over its rows of lambda where the
row leaves less lambda where the cluster appears.

References: Campello, Moulavi and Sander (2013). Texts: 001 19.1 describes DBSCAN, its base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import VALID_METRICS
from sklearn.utils._param_validation import Hidden
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.any_metric import METRICS, Metric, known_distances, spanning_tree
from gnomon.cluster.boxes import box_tree, nearest_rows
from gnomon.cluster.distinct import RowsClusterer, numbered_by_first
from gnomon.cluster.linkage_kernel import name_merges
from gnomon.cluster.spanning import core_distances, shortest_edges
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels
from gnomon.cluster.starts import SurveyedData
from gnomon.contract import Data, Takes
from gnomon.contract.inert import Inert, without_effect
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.parameters import JOBS, StrOptions, above, at_least
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Optional, Whole


class Reached(NamedTuple):
    """The tree that `dbscan_clustering` cuts: edges of distinct rows, with their lengths."""

    weights: np.ndarray
    edges: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    places: np.ndarray = np.empty(0, np.int64)  # of each row among the distinct ones
    given: np.ndarray = np.empty(0, np.int64)  # of each row among those given to fit


@method(
    task="group",
    texts="001 19.1",
    use="Groups of any shape and of different densities among noise, without a radius to choose.",
    avoid="Many columns; groups smaller than min_cluster_size; when every row must have a group.",
    peers=("sklearn.cluster.HDBSCAN", "hdbscan.HDBSCAN"),
)
@without_effect(
    "algorithm",
    "leaf_size",
    copy=Inert(
        ["boolean", Hidden(StrOptions({"warn"}))],
        'bool or "warn"',
        "the data that are given stay as is",
    ),
)
class HDBSCAN(RowsClusterer):
    """Groups of any shape and density: of DBSCAN's clusters at all radii those that last longest.

    With ``lambda = 1 / eps``, a cluster that appears at lambda_0 and whose row i leaves it at
    lambda_i has the stability ``sum_i w_i (lambda_i - lambda_0)``; of all choices of clusters of
    which none lies in another, the one with the largest total is taken. Use it like `DBSCAN` where
    no single eps fits: groups may differ in density. Not in many columns, and not where rows
    between groups must go somewhere: they are noise, labelled -1.

    Parameters
    ----------
    min_cluster_size : float, default=5
        Least weight of rows that is a cluster and not a few rows that fall off one.
    min_samples : float or None, default=None
        Weight of rows, itself counted, in the ball that makes a row core; None for
        `min_cluster_size`.
    cluster_selection_epsilon : float, default=0.0
        Clusters that appear at an eps below this are joined to the cluster that they lie in.
    max_cluster_size : float or None, default=None
        With "eom", a cluster of more weight is not taken (its parts may be); None for any.
    metric : str or callable, default="euclidean"
        A metric of scikit-learn's, or "precomputed" where X holds the distances (infinite, or not
        stored in a sparse matrix, where they are not known). Other than Euclidean distances, and
        sparse rows, take the memory of all pairs of rows.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    alpha : float, default=1.0
        Distances are divided by it before they are compared with core distances.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        The most stable clusters ("excess of mass"), or those that split no further: finer.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster; then only the rows that stay in it to the end belong to
        it, as in scikit-learn.
    store_centers : {"centroid", "medoid", "both"} or None, default=None
        Whether ``centroids_``, ``medoids_`` or both are computed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by the canonical order of rows; -1 for noise, -2 for a row
        with an infinite cell, -3 for one with a missing cell.
    probabilities_ : ndarray of shape (n_samples,)
        How long each row stays in its cluster, as a share of the last to stay; 0 for noise, NaN for
        rows with missing cells.
    centroids_, medoids_ : ndarray of shape (n_clusters, n_columns)
        The mean of the rows of each cluster by these shares, and the row nearest to all others;
        only with `store_centers`.
    n_clusters_ : int
        Number of clusters.
    stability_ : ndarray of shape (n_clusters,)
        Of each cluster.
    reach_ : ndarray of shape (n_clusters,)
        The eps at which the first row leaves it.
    rows_ : ndarray of shape (n_distinct, n_columns)
        The distinct rows.
    row_labels_, row_probabilities_, core_distances_ : ndarray of shape (n_distinct,)
        Their clusters; how long each stays in its cluster as a share of the last to stay (0 for
        noise); the radius that makes each core.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    DBSCAN : At one radius.

    Notes
    -----
    Not in the texts; it answers what 001 19.1 leaves open, the choice of eps. A table with less
    weight than `min_samples` or `min_cluster_size` is all noise. A row that stands in the table
    often enough to be a cluster never loses its copies: its stability is infinite. A new row gets
    the cluster of the nearest row, where it is within reach of it (``max(distance, core distance)``
    at most ``reach_``), else -1. Core distances make many merges equally high: here these are one
    merge of several parts, whatever the order of rows; scikit-learn makes them one by one in an
    order of its own, and so may cut clusters differently.

    Why it is fast: the spanning tree is Borůvka's on a tree of boxes, with memory O(rows);
    scikit-learn's is Prim's, with all n^2 distances.

    Examples
    --------
    >>> from gnomon.cluster import HDBSCAN
    >>> rows = [[0.0], [0.1], [0.2], [3.0], [3.1], [3.2], [3.3], [9.0]]
    >>> sorted(set(HDBSCAN(3, min_samples=2).fit_predict(rows).tolist()))
    [-1, 0, 1]
    """

    _parameter_constraints = {
        "min_cluster_size": [at_least(2)],
        "min_samples": [None, above(0)],
        "cluster_selection_epsilon": [at_least(0)],
        "max_cluster_size": [None, at_least(1)],
        "metric": [StrOptions(METRICS), callable],
        "metric_params": [dict, None],
        "alpha": [above(0)],
        "n_jobs": JOBS,
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "allow_single_cluster": ["boolean"],
        "store_centers": [StrOptions({"centroid", "medoid", "both"}), None],
    }
    natively = Takes(sparse=True)
    _largest = 1e140
    _keeps_rows = True
    _transient = ("_reached",)
    _stored = {
        "centroids_": Optional(Array("f8", ("n_clusters_", "n_columns"))),
        "core_distances_": Array("f8", ("n_core_distances",)),
        "medoids_": Optional(Array("f8", ("n_clusters_", "n_columns"))),
        "n_clusters_": Whole(),
        "probabilities_": Array("f8", ("n_core_distances",), low=0.0),
        "reach_": Array("f8", ("n_clusters_",)),
        "row_labels_": Array("i8", ("n_core_distances",), low=-1, below="n_clusters_"),
        "row_probabilities_": Array("f8", ("n_core_distances",), low=0.0),
        "rows_": Array("f8", ("n_core_distances", "n_columns"), sparse=True),
        "stability_": Array("f8", ("n_clusters_",)),
    }

    def __init__(
        self,
        min_cluster_size=5,
        min_samples=None,
        cluster_selection_epsilon=0.0,
        max_cluster_size=None,
        metric="euclidean",
        metric_params=None,
        alpha=1.0,
        algorithm="auto",
        leaf_size=40,
        n_jobs=None,
        cluster_selection_method="eom",
        allow_single_cluster=False,
        store_centers=None,
        copy="warn",
    ):
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    def _metric(self) -> Metric:
        return Metric(self.metric, self.metric_params)

    def _learn(self, X, y, sample_weight):
        for name in ("probabilities_", "centroids_", "medoids_", "_reached"):
            vars(self).pop(name, None)
        if isinstance(X, (list, tuple)) and all(np.ndim(row) == 1 for row in X):
            X = np.asarray(X)
        left_out = self._rows_left_out(X)
        if left_out is None:
            super()._learn(X, y, sample_weight)
        else:
            X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
            self._learn_finite(X, left_out, sample_weight)
        return self

    def _rows_left_out(self, X) -> np.ndarray | None:
        """The label of rows of an array with missing or infinite cells, 0 for others; or None."""
        if self._metric().is_precomputed or not hasattr(X, "dtype"):
            return None
        if sp.issparse(X):
            cells = X.tocoo()
            wrong = ~np.isfinite(cells.data)
            if cells.ndim != 2 or not wrong.any():
                return None
            label = np.zeros(X.shape[0], np.int64)
            label[cells.row[wrong]] = -2
            label[cells.row[np.isnan(cells.data)]] = -3
            return label
        if X.dtype.kind != "f" or np.ndim(X) != 2 or np.isfinite(X).all():
            return None
        label = np.where(np.isinf(X).any(axis=1), -2, 0)
        return np.where(np.isnan(X).any(axis=1), -3, label)

    def _learn_finite(self, X, label: np.ndarray, sample_weight) -> None:
        kept = label == 0
        if not kept.any():
            raise ValueError("every row has a missing or infinite cell: there is nothing to fit")
        weights = None if sample_weight is None else np.asarray(sample_weight)[kept]
        super()._learn(X[kept], None, weights)
        labels, shares = label.astype(np.int64), np.where(label == -3, np.nan, 0.0)
        labels[kept], shares[kept] = self.labels_, self.probabilities_
        self.labels_, self.probabilities_ = labels, shares
        self._reached = self._reached._replace(given=np.flatnonzero(kept)[self._reached.given])

    def _fit(self, data: Data) -> None:
        valid = METRICS if self.algorithm in ("auto", "brute") else VALID_METRICS[self.algorithm]
        if isinstance(self.metric, str) and self.metric not in valid:
            raise ValueError(
                f"{self.metric!r} is not a valid metric for algorithm={self.algorithm!r}; use "
                "algorithm='auto', or one of " + ", ".join(sorted(valid))
            )
        if self._metric().is_euclidean and not sp.issparse(data.rows):
            distinct = distinct_rows(data.rows, data.weight_array)
            self._group(distinct)
            places = distinct.places
        else:
            places = self._group_any_metric(data)
        kept = np.ones(len(places), bool) if data.kept is None else data.kept
        self._reached = self._reached._replace(places=places, given=np.flatnonzero(kept))
        labels, shares = self.row_labels_[places], self.row_probabilities_[places]
        self._store_centers(data.rows, labels, shares)
        if data.kept is None:
            self.labels_, self.probabilities_ = labels, shares
        else:
            self.probabilities_ = np.zeros(len(data.kept))
            self.probabilities_[data.kept] = shares

    def _store_centers(self, rows, labels: np.ndarray, shares: np.ndarray) -> None:
        if self.store_centers is None:
            return
        if self._metric().is_precomputed or sp.issparse(rows):
            raise ValueError("store_centers needs dense rows, not distances between them")
        groups = [np.flatnonzero(labels == cluster) for cluster in range(self.n_clusters_)]
        means = [np.average(rows[own], axis=0, weights=shares[own]) for own in groups]
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = np.array(means).reshape(len(groups), rows.shape[1])
        if self.store_centers in ("medoid", "both"):
            middle = [
                own[(self._metric().between(rows[own], rows[own]) * shares[own]).sum(1).argmin()]
                for own in groups
            ]
            self.medoids_ = rows[np.array(middle, dtype=np.int64)]

    def _group_any_metric(self, data: Data) -> np.ndarray:
        """Clusters from the table of all distances; the place of each row among ``rows_``."""
        rows, weights, order = data.rows, data.weight_array, np.arange(data.n_rows)
        if not self._metric().is_precomputed:
            order = SurveyedData.of(for_dense_kernels(data), self.n_jobs).order
        rows, weights = rows[order], weights[order]
        table = self._metric().within(rows)
        if not np.allclose(table, table.T):
            raise ValueError(
                "The precomputed distance matrix is expected to be symmetric, however its values "
                "appear to be asymmetric."
            )
        n = len(table)
        self.rows_, self.core_distances_ = rows, np.full(n, np.inf)
        self.row_labels_ = np.full(n, -1, np.int64)
        self.row_probabilities_ = np.zeros(n)
        self.stability_, self.reach_ = np.empty(0), np.empty(0)
        self._reached = Reached(weights)
        size, enough = self._sizes()
        if n > 1 and weights.sum() >= max(size, enough):
            by_distance = np.argsort(table, axis=1, kind="stable")
            held = np.cumsum(weights[by_distance], axis=1) >= enough
            place = np.where(held.any(axis=1), held.argmax(axis=1), n - 1)
            cores = np.take_along_axis(table, by_distance, axis=1)[np.arange(n), place]
            self.core_distances_ = cores
            reach = np.maximum(table / self.alpha, np.maximum(cores[:, None], cores))
            one, other, length = spanning_tree(reach)
            if not np.isfinite(length).all():
                raise ValueError(
                    "Sparse distance matrix has multiple connected components: there exists no "
                    "path of known distances between some rows; give more distances"
                )
            merges = np.empty((n - 1, 4))
            name_merges(one, other, length, weights, merges)
            self._reached = Reached(weights, (one, other, length))
            found = self._chosen(condensed(merges, weights, size))
            self.row_labels_, self.row_probabilities_ = found
        self.n_clusters_ = len(self.stability_)
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        return place

    def _sizes(self) -> tuple[float, float]:
        size = float(self.min_cluster_size)
        return size, size if self.min_samples is None else float(self.min_samples)

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        rows, weights = distinct.rows, distinct.weights
        n = len(rows)
        size, enough = self._sizes()
        self.rows_, self.core_distances_ = rows, np.full(n, np.inf)
        labels, staying = np.full(n, -1, np.int64), np.zeros(n)
        self.stability_, self.reach_ = np.empty(0), np.empty(0)
        self._reached = Reached(weights)
        if n > 1 and weights.sum() >= max(size, enough):
            squared = core_distances(rows, weights, enough, self.n_jobs)
            self.core_distances_ = np.sqrt(squared)
            # distances divided by alpha against core distances: both times alpha
            edges = shortest_edges(rows, squared * self.alpha**2, self.n_jobs)
            merges = np.empty((n - 1, 4))
            lengths = np.sqrt(edges.squared) / self.alpha
            name_merges(edges.one, edges.other, lengths, weights, merges)
            self._reached = Reached(weights, (edges.one, edges.other, lengths))
            labels, staying = self._chosen(condensed(merges, weights, size))
        self.row_labels_, self.row_probabilities_ = labels, staying
        self.n_clusters_ = len(self.stability_)
        return labels

    def _chosen(self, tree: Condensed) -> tuple[np.ndarray, np.ndarray]:
        """Label of each row, and how long it stays; sets what is known of the clusters."""
        eom = self.cluster_selection_method == "eom"
        single = bool(self.allow_single_cluster)
        most = np.inf if self.max_cluster_size is None else float(self.max_cluster_size)
        chosen = np.empty(len(tree.parent), np.int64)
        choose_clusters(tree.parent, tree.stability, tree.weight <= most, eom, single, chosen)
        if self.cluster_selection_epsilon > 0 and not (chosen == 0).any():
            chosen = joined_by_epsilon(tree, chosen, self.cluster_selection_epsilon, single)
        cluster = chosen[tree.cluster]
        if (cluster == 0).any():  # all rows are one cluster: those that stay to the end
            least = tree.death[0]
            if self.cluster_selection_epsilon > 0:
                least = 1.0 / self.cluster_selection_epsilon
            cluster = np.where(tree.density >= least, cluster, -1)
        labels = numbered_by_first(cluster)
        n_clusters = int(labels.max(initial=-1)) + 1
        name = np.empty(n_clusters, np.int64)
        name[labels[labels >= 0]] = cluster[labels >= 0]
        self.stability_ = tree.stability[name]
        least = np.full(n_clusters, np.inf)
        np.minimum.at(least, labels[labels >= 0], tree.density[labels >= 0])
        with np.errstate(divide="ignore"):
            self.reach_ = 1.0 / least
        death = tree.death[cluster]
        staying = np.ones(len(labels))
        np.divide(np.minimum(tree.density, death), death, out=staying, where=np.isfinite(death))
        return labels, np.where(labels >= 0, staying, 0.0)

    def dbscan_clustering(self, cut_distance, min_cluster_size=5) -> np.ndarray:
        """The clusters of DBSCAN without border rows at one radius, from the tree of the fit.

        Parameters
        ----------
        cut_distance : float
            Rows that reach each other by less are in one cluster.
        min_cluster_size : int, default=5
            Smaller clusters are noise.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of the rows of ``fit``: -1 for noise, -2 and -3 for infinite and missing cells.
        """
        check_is_fitted(self)
        tree = getattr(self, "_reached", None)
        if tree is None:
            raise AttributeError("dbscan_clustering needs the tree of fit, which no model file has")
        labels = np.where(self.labels_ < -1, self.labels_, -1)
        if tree.edges is None:
            return labels
        n, (one, other, length) = self.rows_.shape[0], tree.edges
        near = length < cut_distance
        links = sp.coo_array((np.ones(near.sum()), (one[near], other[near])), shape=(n, n))
        _, part = connected_components(links, directed=False)
        # copies of a row reach each other at its core distance
        copies = np.where(self.core_distances_ < cut_distance, tree.weights, 1.0)
        small = np.bincount(part, copies) < min_cluster_size
        labels[tree.given] = numbered_by_first(np.where(small[part], -1, part)[tree.places])
        return labels

    def predict(self, X) -> np.ndarray:
        """The cluster of the nearest row of ``fit``, where it is within reach, or -1.

        Rows with missing or infinite cells are labelled as in ``labels_``.

        A tree over the rows is built at each call; give many rows at once.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """

        def of_block(rows: np.ndarray) -> np.ndarray:
            found, distances = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
            rows = dense_rows(rows)
            nearest_rows(rows, *tree, np.inf, found, distances)
            labels = self.row_labels_[found]
            reach = np.append(self.reach_, -1.0)[labels] * (1 + 1e-12)
            return np.where(np.maximum(distances, self.core_distances_[found]) <= reach, labels, -1)

        check_is_fitted(self)
        left_out = self._rows_left_out(X)
        if left_out is not None:
            labels, kept = left_out.astype(np.int64), left_out == 0
            if kept.any():
                labels[kept] = self.predict(np.asarray(X)[kept])
            return labels
        if not (self._metric().is_euclidean and isinstance(self.rows_, np.ndarray)):
            return self._each_block(self._by_distances, X)
        tree = box_tree(self.rows_)
        return self._each_block(of_block, X)

    def _by_distances(self, rows) -> np.ndarray:
        metric = self._metric()
        if metric.is_precomputed:
            away = known_distances(rows) if sp.issparse(rows) else np.asarray(rows)
        else:
            away = metric.between(rows, self.rows_)
        found = away.argmin(axis=1)
        labels = self.row_labels_[found]
        reach = np.append(self.reach_, -1.0)[labels] * (1 + 1e-12)
        distances = np.maximum(away[np.arange(len(found)), found], self.core_distances_[found])
        return np.where(distances <= reach, labels, -1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._metric().is_precomputed
        return tags

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        tree = 8 * n_rows * (4 * n_columns + 60)
        return tree + self._distinct_memory(n_rows, n_columns)

    def _check_loaded(self) -> None:
        if not hasattr(self, "rows_"):
            return
        if self._metric().is_euclidean and isinstance(self.rows_, np.ndarray):
            self._check_points("rows_")
        n, k = self.rows_.shape[0], self.n_clusters_
        self._check_numbers("row_labels_", n, -1, max(k, 0))
        for name, length in (("core_distances_", n), ("row_probabilities_", n), ("reach_", k)):
            numbers = getattr(self, name)
            wrong = not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64
            if wrong or numbers.shape != (length,):
                raise ValueError(f"{name} must be {length} numbers")


class Condensed(NamedTuple):
    """The tree of clusters of at least a least weight.

    Attributes
    ----------
    parent : ndarray of shape (n_clusters,)
        The cluster in which each lies; -1 of the first, which holds all.
    stability : ndarray of shape (n_clusters,)
    birth : ndarray of shape (n_clusters,)
        The density at which each appears.
    weight : ndarray of shape (n_clusters,)
        The weight of its rows then.
    death : ndarray of shape (n_clusters,)
        The density at which the last row leaves it, or at which it splits.
    cluster, density : ndarray of shape (n,)
        The last cluster that each row belongs to, and the density at which it leaves it.
    """

    parent: np.ndarray
    stability: np.ndarray
    birth: np.ndarray
    weight: np.ndarray
    death: np.ndarray
    cluster: np.ndarray
    density: np.ndarray


def condensed(merges: np.ndarray, weights: np.ndarray, least_weight: float) -> Condensed:
    """The clusters of a tree of merges that weigh at least `least_weight`."""
    n = len(weights)
    parent, numbers = np.empty(2 * n, np.int64), np.zeros((4, 2 * n))
    cluster, density = np.empty(2 * n - 1, np.int64), np.full(2 * n - 1, np.inf)
    used = condense(merges, weights, least_weight, parent, numbers, cluster, density)
    return Condensed(parent[:used], *numbers[:, :used], cluster[:n], density[:n])


def joined_by_epsilon(
    tree: Condensed, chosen: np.ndarray, epsilon: float, allow_single: bool
) -> np.ndarray:
    """For each cluster the chosen one that it is or lies in, none of which appears below epsilon.

    A chosen cluster that appears at an eps below `epsilon` is replaced by the first cluster above
    it that appears beyond `epsilon`, or by the last below the root.
    """
    with np.errstate(divide="ignore"):
        appears = 1.0 / tree.birth
    taken = set()
    for leaf in np.unique(chosen[chosen >= 0]):
        own = int(leaf)
        while appears[own] < epsilon:
            above = int(tree.parent[own])
            if above <= 0:
                own = 0 if allow_single and above == 0 else own
                break
            own = above
        taken.add(own)
    found = np.empty(len(chosen), np.int64)
    for own, parent in enumerate(tree.parent):
        over = found[parent] if own > 0 else -1
        found[own] = over if over >= 0 else (own if own in taken else -1)
    return found


@subkernel
def weight_of(node, merges, weights):
    """Weight of a leaf or of a merged cluster."""
    return weights[node] if node < len(weights) else merges[node - len(weights), 3]


@subkernel
def parts_of(node, merges, n, parts, within):
    """What a merge is made of, merges of the same height opened; returns how many parts."""
    height = merges[node - n, 2]
    parts[0], count = node, 1
    place = 0
    while place < count:
        part = parts[place]
        if part < n or merges[part - n, 2] != height:
            place += 1
            continue
        within[part] = True
        parts[place], parts[count] = np.int64(merges[part - n, 0]), np.int64(merges[part - n, 1])
        count += 1
    return count


@kernel("f8[:,:]", "f8[:]", "f8", "out i8[:]", "out f8[:,:]", "out i8[:]", "out f8[:]")
def condense(merges, weights, least_weight, parent, numbers, cluster, density):
    """Walk the merges (n - 1, 4) from the top; returns the number of clusters.

    numbers (4, 2 n): stability, birth, weight and death of each cluster. cluster and density
    (2 n - 1,) of leaves and merges: the cluster it lies in, and the density at which it leaves it
    (infinite while it stays).
    """
    n = len(weights)
    stability, birth, sizes, death = numbers[0], numbers[1], numbers[2], numbers[3]
    parts = np.empty(n, np.int64)
    sizes[0] = weights.sum()
    within = np.zeros(2 * n - 1, np.bool_)
    parent[0], used = -1, 1
    cluster[2 * n - 2] = 0
    for back in range(n - 1):
        number = n - 2 - back
        node = n + number
        if within[node]:
            continue
        own = cluster[node]
        count = parts_of(node, merges, n, parts, within)
        now = 1.0 / merges[number, 2] if merges[number, 2] > 0.0 else np.inf
        heavy = 0
        for part in parts[:count]:
            cluster[part], density[part] = own, density[node]
            heavy += weight_of(part, merges, weights) >= least_weight
        if density[node] < np.inf:
            continue
        life = now - birth[own] if now > birth[own] else 0.0
        for part in parts[:count]:
            weight = weight_of(part, merges, weights)
            if weight >= least_weight and heavy == 1:
                continue
            stability[own] += weight * life
            death[own] = max(death[own], now)
            if weight >= least_weight:
                cluster[part] = used
                parent[used], birth[used], sizes[used] = own, now, weight
                used += 1
            else:
                density[part] = now
    for leaf in range(n):
        if density[leaf] == np.inf:
            stability[cluster[leaf]] = death[cluster[leaf]] = np.inf
    return used


@kernel("i8[:]", "f8[:]", "b1[:]", "b1", "b1", "out i8[:]")
def choose_clusters(parent, stability, small, most_stable, allow_single, chosen):
    """For each cluster the chosen one that it is or lies in, or -1. Parents stand before children.

    most_stable: the choice of largest total stability among clusters that are small enough; else
    the clusters without children.
    """
    n = len(parent)
    below, has_child = np.zeros(n), np.zeros(n, np.bool_)
    takes = np.zeros(n, np.bool_)
    for back in range(n):
        own = n - 1 - back
        if most_stable:
            takes[own] = small[own] and (not has_child[own] or stability[own] >= below[own])
        else:
            takes[own] = not has_child[own]
        if own == 0 and not allow_single:
            takes[own] = False
        if own > 0:
            has_child[parent[own]] = True
            below[parent[own]] += max(stability[own], below[own]) if takes[own] else below[own]
    for own in range(n):
        over = chosen[parent[own]] if own > 0 else -1
        if over >= 0:
            chosen[own] = over
        else:
            chosen[own] = own if takes[own] else -1
