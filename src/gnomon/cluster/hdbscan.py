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
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.boxes import box_tree, nearest_rows
from gnomon.cluster.distinct import DistinctRows, RowsClusterer, numbered_by_first
from gnomon.cluster.linkage_kernel import name_merges
from gnomon.cluster.spanning import core_distances, shortest_edges
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.parameters import JOBS, StrOptions, above
from gnomon.engine.registry import method


@method(
    task="group",
    texts="001 19.1",
    use="Groups of any shape and of different densities among noise, without a radius to choose.",
    avoid="Many columns; groups smaller than min_cluster_size; when every row must have a group.",
    peers=("sklearn.cluster.HDBSCAN", "hdbscan.HDBSCAN"),
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
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        The most stable clusters ("excess of mass"), or those that split no further: finer.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster, where it is the most stable.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by the canonical order of rows; -1 for noise.
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
    at most ``reach_``), else -1. Where all rows are one cluster (`allow_single_cluster`) all
    belong to it; scikit-learn keeps only the densest. Core distances make many merges equally high:
    here these are one merge of several parts, whatever the order of rows; scikit-learn makes them
    one by one in an order of its own, and so may cut clusters differently.

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
        "min_cluster_size": [above(1)],
        "min_samples": [None, above(0)],
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "allow_single_cluster": ["boolean"],
        "n_jobs": JOBS,
    }
    _largest = 1e140
    _keeps_rows = True

    def __init__(
        self,
        min_cluster_size=5,
        *,
        min_samples=None,
        cluster_selection_method="eom",
        allow_single_cluster=False,
        n_jobs=None,
    ):
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.n_jobs = n_jobs

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        rows, weights = distinct.rows, distinct.weights
        n = len(rows)
        size = float(self.min_cluster_size)
        enough = size if self.min_samples is None else float(self.min_samples)
        self.rows_, self.core_distances_ = rows, np.full(n, np.inf)
        labels, staying = np.full(n, -1, np.int64), np.zeros(n)
        self.stability_, self.reach_ = np.empty(0), np.empty(0)
        if n > 1 and weights.sum() >= max(size, enough):
            squared = core_distances(rows, weights, enough, self.n_jobs)
            self.core_distances_ = np.sqrt(squared)
            edges = shortest_edges(rows, squared, self.n_jobs)
            merges = np.empty((n - 1, 4))
            name_merges(edges.one, edges.other, np.sqrt(edges.squared), weights, merges)
            labels, staying = self._chosen(condensed(merges, weights, size))
        self.row_labels_, self.row_probabilities_ = labels, staying
        self.n_clusters_ = len(self.stability_)
        return labels

    def _chosen(self, tree: Condensed) -> tuple[np.ndarray, np.ndarray]:
        """Label of each row, and how long it stays; sets what is known of the clusters."""
        eom = self.cluster_selection_method == "eom"
        chosen = np.empty(len(tree.parent), np.int64)
        choose_clusters(tree.parent, tree.stability, eom, bool(self.allow_single_cluster), chosen)
        cluster = chosen[tree.cluster]
        labels = numbered_by_first(cluster)
        n_clusters = int(labels.max()) + 1
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

    def predict(self, X) -> np.ndarray:
        """The cluster of the nearest row of ``fit``, where it is within reach, or -1.

        A tree over the rows is built at each call; give many rows at once.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """

        def of_block(rows: np.ndarray) -> np.ndarray:
            found, distances = np.empty(len(rows), np.int64), np.empty(len(rows))
            nearest_rows(rows, tree.rows, tree.order, *tree[2:], np.inf, found, distances)
            labels = self.row_labels_[found]
            reach = np.append(self.reach_, -1.0)[labels] * (1 + 1e-12)
            return np.where(np.maximum(distances, self.core_distances_[found]) <= reach, labels, -1)

        check_is_fitted(self)
        tree = box_tree(self.rows_)
        return self._each_block(of_block, X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        tree = 8 * n_rows * (4 * n_columns + 60)
        return tree + self._distinct_memory(n_rows, n_columns)

    def _check_loaded(self) -> None:
        if not hasattr(self, "rows_"):
            return
        self._check_points("rows_")
        n, k = len(self.rows_), self.n_clusters_
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
    death : ndarray of shape (n_clusters,)
        The density at which the last row leaves it, or at which it splits.
    cluster, density : ndarray of shape (n,)
        The last cluster that each row belongs to, and the density at which it leaves it.
    """

    parent: np.ndarray
    stability: np.ndarray
    death: np.ndarray
    cluster: np.ndarray
    density: np.ndarray


def condensed(merges: np.ndarray, weights: np.ndarray, least_weight: float) -> Condensed:
    """The clusters of a tree of merges that weigh at least `least_weight`."""
    n = len(weights)
    parent, stability, death = np.empty(2 * n, np.int64), np.zeros(2 * n), np.zeros(2 * n)
    cluster, density = np.empty(2 * n - 1, np.int64), np.full(2 * n - 1, np.inf)
    used = condense(merges, weights, least_weight, parent, stability, death, cluster, density)
    return Condensed(parent[:used], stability[:used], death[:used], cluster[:n], density[:n])


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


@kernel("f8[:,:]", "f8[:]", "f8", "out i8[:]", "out f8[:]", "out f8[:]", "out i8[:]", "out f8[:]")
def condense(merges, weights, least_weight, parent, stability, death, cluster, density):
    """Walk the merges (n - 1, 4) from the top; returns the number of clusters.

    cluster and density (2 n - 1,) of leaves and merges: the cluster it lies in, and the density at
    which it leaves it (infinite while it stays).
    """
    n = len(weights)
    birth, parts = np.zeros(len(parent)), np.empty(n, np.int64)
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
                parent[used], birth[used] = own, now
                used += 1
            else:
                density[part] = now
    for leaf in range(n):
        if density[leaf] == np.inf:
            stability[cluster[leaf]] = death[cluster[leaf]] = np.inf
    return used


@kernel("i8[:]", "f8[:]", "b1", "b1", "out i8[:]")
def choose_clusters(parent, stability, most_stable, allow_single, chosen):
    """For each cluster the chosen one that it is or lies in, or -1. Parents stand before children.

    most_stable: the choice of largest total stability; else the clusters without children.
    """
    n = len(parent)
    below, has_child = np.zeros(n), np.zeros(n, np.bool_)
    takes = np.zeros(n, np.bool_)
    for back in range(n):
        own = n - 1 - back
        if most_stable:
            takes[own] = not has_child[own] or stability[own] >= below[own]
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
