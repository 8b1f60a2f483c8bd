"""How good is a grouping: against known groups (external), or by distances alone (internal).

External measures compare a grouping C_1..C_r with a known partition T_1..T_k through the table
n_ij = |C_i and T_j|. Internal ones see the grouping as a cut of the complete graph of distances.
A label is a group, noise (-1) too: leave such rows out first where they are to count for nothing.

Texts: 000b 8.2 (purity) · 001 20.2-20.5 · 002 "Stability" · 004 12.3 (eqs 12.5-12.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from sklearn import metrics

from gnomon.cluster.intake import Metric, distance_blocks, label_codes, number_rows
from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.threads import in_order

# 64 to 5,000 took the same time within 3% (5,000 x 10); threads share small ones evenly.
SILHOUETTE_ROWS = 256


@dataclass(repr=False)
class ContingencyTable(Result):
    """Rows in each cluster (lines) and each known group (columns), with margins.

    Attributes
    ----------
    counts : ndarray of shape (r, k)
    clusters, groups : ndarray
        The labels of lines and columns.

    Examples
    --------
    >>> contingency_table([0, 0, 1, 1], ["a", "a", "a", "b"]).counts.tolist()
    [[2, 0], [1, 1]]
    """

    counts: np.ndarray
    clusters: np.ndarray
    groups: np.ndarray

    @property
    def cluster_sizes(self) -> np.ndarray:
        return self.counts.sum(axis=1)

    @property
    def group_sizes(self) -> np.ndarray:
        return self.counts.sum(axis=0)

    def _title(self) -> str:
        r, k = self.counts.shape
        return f"{self.counts.sum():,} rows in {r} clusters and {k} known groups"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"cluster": [*map(str, self.clusters.tolist()), "all"]}
        for j, group in enumerate(self.groups.tolist()):
            columns[str(group)] = [*self.counts[:, j].tolist(), int(self.group_sizes[j])]
        columns["size"] = [*self.cluster_sizes.tolist(), int(self.counts.sum())]
        return columns


def contingency_table(labels: Any, truth: Any) -> ContingencyTable:
    """Count rows by cluster and known group: n_ij = |C_i and T_j| (001 20.2.1).

    Parameters
    ----------
    labels : array-like of shape (n,)
        The clusters.
    truth : array-like of shape (n,)
        The known groups.

    Returns
    -------
    table : ContingencyTable
    """
    clusters, first = label_codes(labels)
    groups, second = label_codes(truth, len(first), "truth")
    cells = np.bincount(first * len(groups) + second, minlength=len(clusters) * len(groups))
    return ContingencyTable(cells.reshape(len(clusters), len(groups)), clusters, groups)


@dataclass(repr=False)
class Purity(Result):
    """Share of rows that belong to the commonest known group of their cluster.

    Attributes
    ----------
    total : float
    per_cluster : ndarray of shape (r,)
    sizes : ndarray of shape (r,)
    clusters : ndarray
    n_groups : int
        Known groups: with fewer clusters than these the purity cannot be 1.
    """

    total: float
    per_cluster: np.ndarray
    sizes: np.ndarray
    clusters: np.ndarray
    n_groups: int

    def _title(self) -> str:
        return (
            f"Purity {self.total:.4g} with {len(self.clusters)} clusters for "
            f"{self.n_groups} known groups"
        )

    def _columns(self) -> dict[str, list]:
        return {
            "cluster": self.clusters.tolist(),
            "size": self.sizes.tolist(),
            "purity": self.per_cluster.tolist(),
        }

    def _remarks(self) -> list[str]:
        return ["Purity is 1 for clusters of one row each: read it beside their number."]


def purity(labels: Any, truth: Any) -> Purity:
    """Purity (1/n) sum_i max_j n_ij, in all and per cluster (000b 8.2, 001 20.2.2).

    Parameters
    ----------
    labels, truth : array-like of shape (n,)

    Returns
    -------
    purity : Purity

    Examples
    --------
    >>> purity([0, 0, 1, 1], ["a", "a", "a", "b"]).total
    0.75
    """
    table = contingency_table(labels, truth)
    most, sizes = table.counts.max(axis=1), table.cluster_sizes
    return Purity(
        float(most.sum() / sizes.sum()), most / sizes, sizes, table.clusters, len(table.groups)
    )


class Matching(NamedTuple):
    """The best one-to-one matching of clusters to known groups.

    Attributes
    ----------
    share : float
        Share of rows in matched cells.
    pairs : list of tuple
        (cluster, group), as many as the fewer of both.
    """

    share: float
    pairs: list[tuple[Any, Any]]


def maximum_matching(labels: Any, truth: Any) -> Matching:
    """Match each cluster to another known group so that most rows fit (001 20.2.2, Hungarian).

    Parameters
    ----------
    labels, truth : array-like of shape (n,)

    Returns
    -------
    matching : Matching

    Examples
    --------
    >>> maximum_matching([0, 0, 1, 1], ["a", "a", "a", "b"]).share
    0.75
    """
    table = contingency_table(labels, truth)
    lines, columns = linear_sum_assignment(table.counts, maximize=True)
    pairs = list(zip(table.clusters[lines].tolist(), table.groups[columns].tolist()))
    return Matching(float(table.counts[lines, columns].sum() / table.counts.sum()), pairs)


@dataclass(repr=False)
class ClusterF(Result):
    """Precision, recall and F of each cluster against its commonest known group.

    Attributes
    ----------
    total : float
        Mean of the clusters' F.
    precision, recall, f : ndarray of shape (r,)
    clusters, matched : ndarray
        Each cluster and its commonest group.
    """

    total: float
    precision: np.ndarray
    recall: np.ndarray
    f: np.ndarray
    clusters: np.ndarray
    matched: np.ndarray

    def _title(self) -> str:
        return f"F {self.total:.4g}, the mean of {len(self.f)} clusters"

    def _columns(self) -> dict[str, list]:
        return {
            "cluster": self.clusters.tolist(),
            "group": self.matched.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
            "F": self.f.tolist(),
        }


def cluster_f(labels: Any, truth: Any) -> ClusterF:
    """F-measure: F_i = 2 n_ij / (n_i + m_j) with j the commonest group of cluster i (001 20.2.2).

    Parameters
    ----------
    labels, truth : array-like of shape (n,)

    Returns
    -------
    f : ClusterF

    Examples
    --------
    >>> round(cluster_f([0, 0, 1, 1], ["a", "a", "a", "b"]).total, 4)
    0.6
    """
    table = contingency_table(labels, truth)
    best = table.counts.argmax(axis=1)
    shared = table.counts[np.arange(len(best)), best]
    precision, recall = shared / table.cluster_sizes, shared / table.group_sizes[best]
    f = 2 * shared / (table.cluster_sizes + table.group_sizes[best])
    return ClusterF(float(f.mean()), precision, recall, f, table.clusters, table.groups[best])


@dataclass(repr=False)
class ExternalValidity(Result):
    """All measures of a grouping against known groups.

    Attributes
    ----------
    measures : dict of str to float
    """

    measures: dict[str, float]

    def __getitem__(self, name: str) -> float:
        return self.measures[name]

    def _title(self) -> str:
        return "A grouping against known groups"

    def _columns(self) -> dict[str, list]:
        return {"measure": list(self.measures), "value": list(self.measures.values())}


def external_validity(labels: Any, truth: Any) -> ExternalValidity:
    """Purity, matching, F, entropies, the families of mutual information and of Rand.

    Entropies are in nats. Rand's, the adjusted ones and those of information are scikit-learn's;
    Jaccard's counts pairs of rows that are together in both among those together in either.

    Parameters
    ----------
    labels, truth : array-like of shape (n,)

    Returns
    -------
    validity : ExternalValidity

    Examples
    --------
    >>> round(external_validity([0, 0, 1, 1], [5, 5, 7, 7])["adjusted Rand index"], 6)
    1.0
    """
    table = contingency_table(labels, truth)
    n = table.counts.sum()
    shares = table.counts / n
    of_clusters, of_groups = shares.sum(axis=1), shares.sum(axis=0)
    joint = float(-xlogy(shares, shares).sum())
    h_clusters = float(-xlogy(of_clusters, of_clusters).sum())
    h_groups = float(-xlogy(of_groups, of_groups).sum())
    information = h_clusters + h_groups - joint
    together = _pairs(table.counts)
    in_clusters, in_groups = _pairs(table.cluster_sizes), _pairs(table.group_sizes)
    either = in_clusters + in_groups - together
    _, first = label_codes(labels)
    _, second = label_codes(truth, name="truth")
    return ExternalValidity(
        {
            "purity": purity(labels, truth).total,
            "maximum matching": maximum_matching(labels, truth).share,
            "F": cluster_f(labels, truth).total,
            "entropy of groups within clusters": joint - h_clusters,
            "mutual information": information,
            "normalised mutual information": metrics.normalized_mutual_info_score(second, first),
            "adjusted mutual information": metrics.adjusted_mutual_info_score(second, first),
            "variation of information": joint * 2 - h_clusters - h_groups,
            "homogeneity": metrics.homogeneity_score(second, first),
            "completeness": metrics.completeness_score(second, first),
            "V-measure": metrics.v_measure_score(second, first),
            "Rand index": metrics.rand_score(second, first),
            "adjusted Rand index": metrics.adjusted_rand_score(second, first),
            "Jaccard": together / either if either else 1.0,
            "Fowlkes-Mallows": metrics.fowlkes_mallows_score(second, first),
        }
    )


def _pairs(counts: np.ndarray) -> float:
    return float((counts.astype(np.float64) * (counts - 1)).sum() / 2)


class ProximityWeights(NamedTuple):
    """The clustering as a cut of the complete graph of distances.

    Attributes
    ----------
    within, between : float
        W_in and W_out: distances of pairs in one cluster, and of pairs in two, summed.
    n_within, n_between : int
        N_in and N_out: how many pairs.
    """

    within: float
    between: float
    n_within: int
    n_between: int


def proximity_weights(X: Any, labels: Any, metric: Metric = "euclidean") -> ProximityWeights:
    """W_in, W_out, N_in and N_out of a clustering (001 20.3.1), block by block.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"
        A distance of scipy's `cdist`, a function of two rows, or "precomputed".

    Returns
    -------
    weights : ProximityWeights

    Examples
    --------
    >>> proximity_weights([[0.0], [1.0], [5.0]], [0, 0, 1])
    ProximityWeights(within=1.0, between=9.0, n_within=1, n_between=2)
    """
    names, codes = label_codes(labels, len(X))
    within = total = 0.0
    for start, block in distance_blocks(X, metric):
        same = codes[start : start + len(block), None] == codes
        within += float(block[same].sum())
        total += float(block.sum())
    sizes = np.bincount(codes, minlength=len(names))
    n_within = int(_pairs(sizes))
    n_pairs = len(codes) * (len(codes) - 1) // 2
    return ProximityWeights(within / 2, (total - within) / 2, n_within, n_pairs - n_within)


def betacv(X: Any, labels: Any, metric: Metric = "euclidean") -> float:
    """BetaCV (W_in / N_in) / (W_out / N_out): mean distance within over between; small is good.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"

    Returns
    -------
    betacv : float

    Examples
    --------
    >>> round(betacv([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]), 6)
    0.2
    """
    found = proximity_weights(X, labels, metric)
    if not found.n_within or not found.n_between or found.between == 0:
        raise DataError(
            "BetaCV needs a cluster of two rows or more and two clusters that lie apart"
        )
    return (found.within / found.n_within) / (found.between / found.n_between)


def c_index(X: Any, labels: Any, metric: Metric = "euclidean") -> float:
    """C-index: where W_in lies between the smallest and largest sum of N_in distances; 0 is best.

    All n (n - 1) / 2 distances must be in memory to be sorted; it refuses where they do not fit.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"

    Returns
    -------
    index : float

    Examples
    --------
    >>> c_index([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    0.0
    """
    distances, same = _all_pairs(X, labels, metric)
    n_within = int(same.sum())
    if n_within in (0, len(same)):
        raise DataError("the C-index needs two clusters, one of them of two rows or more")
    ordered = np.sort(distances)
    least, most = ordered[:n_within].sum(), ordered[-n_within:].sum()
    if not most > least:
        raise DataError("the C-index compares distances, and all pairs of rows are equally far")
    return float((distances[same].sum() - least) / (most - least))


def hubert(X: Any, labels: Any, metric: Metric = "euclidean") -> float:
    """Hubert's normalised statistic: correlation of distances with being in different clusters.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"

    Returns
    -------
    gamma : float
        Between -1 and 1; large is good.

    Examples
    --------
    >>> round(hubert([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]), 4)
    0.9562
    """
    distances, same = _all_pairs(X, labels, metric)
    if same.all() or not same.any() or distances.std() == 0:
        raise DataError("Hubert's statistic needs pairs within and between, of unlike distances")
    return float(np.corrcoef(distances, ~same)[0, 1])


def _all_pairs(X: Any, labels: Any, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """Distance of every two rows, and whether they share their cluster."""
    _, codes = label_codes(labels, len(X))
    n = len(codes)
    memory.require(
        20 * n * n // 2,
        f"all distances of {n:,} rows",
        "Use a sample of the rows, or betacv, davies_bouldin or silhouette, which need O(rows).",
    )
    distances, same = np.empty(n * (n - 1) // 2), np.empty(n * (n - 1) // 2, dtype=bool)
    place = 0
    for start, block in distance_blocks(X, metric):
        for i, line in enumerate(block, start):
            count = n - i - 1
            distances[place : place + count] = line[i + 1 :]
            same[place : place + count] = codes[i + 1 :] == codes[i]
            place += count
    return distances, same


def dunn(X: Any, labels: Any, metric: Metric = "euclidean") -> float:
    """Dunn's index: smallest distance between clusters over largest within one; large is good.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"

    Returns
    -------
    index : float

    Examples
    --------
    >>> dunn([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    4.0
    """
    names, codes = label_codes(labels, len(X))
    least, most = np.inf, 0.0
    for start, block in distance_blocks(X, metric):
        same = codes[start : start + len(block), None] == codes
        most = max(most, float(block[same].max()))
        least = min(least, float(block[~same].min(initial=np.inf)))
    if len(names) < 2 or most == 0:
        raise DataError("Dunn's index needs two clusters, one of them with two unequal rows")
    return least / most


def davies_bouldin(X: Any, labels: Any, spread: str = "rms") -> float:
    """Davies-Bouldin: mean over clusters of the worst (s_i + s_j) / |m_i - m_j|; small is good.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)
    spread : {"rms", "mean"}, default="rms"
        s_i as root of the mean squared distance to the cluster's mean (001 20.4), or as the mean
        distance (scikit-learn): the numbers differ.

    Returns
    -------
    index : float

    Examples
    --------
    >>> davies_bouldin([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    0.2222222222222222
    """
    if spread not in ("rms", "mean"):
        raise DataError(f"spread is 'rms' or 'mean', not {spread!r}")
    rows = number_rows(X)
    names, codes = label_codes(labels, len(rows))
    if len(names) < 2:
        raise DataError("Davies-Bouldin needs two clusters or more")
    means, sizes = cluster_means(rows, codes, len(names))
    squared = ((rows - means[codes]) ** 2).sum(axis=1)
    if spread == "rms":
        spreads = np.sqrt(np.bincount(codes, squared) / sizes)
    else:
        spreads = np.bincount(codes, np.sqrt(squared)) / sizes
    gaps = cdist(means, means)
    np.fill_diagonal(gaps, np.inf)
    if (gaps == 0).any():
        i, j = np.argwhere(gaps == 0)[0]
        raise DataError(f"clusters {names[i]} and {names[j]} have the same mean")
    return float(((spreads[:, None] + spreads) / gaps).max(axis=1).mean())


def cluster_means(rows: np.ndarray, codes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and size of each cluster."""
    sizes = np.bincount(codes, minlength=k)
    totals = np.stack([np.bincount(codes, column, minlength=k) for column in rows.T], axis=1)
    return totals / np.maximum(sizes, 1)[:, None], sizes


@dataclass(repr=False)
class Silhouette(Result):
    """How much nearer each row is to its own cluster than to the next.

    Attributes
    ----------
    total : float
        SC, the mean over rows.
    per_cluster : ndarray of shape (k,)
        SC_i, the mean over the rows of each cluster.
    per_row : ndarray of shape (n,)
        s_j = (b - a) / max(a, b): a the mean distance to the own cluster, b to the next one.
    clusters : ndarray
    codes : ndarray of shape (n,)
        Position of each row's cluster among `clusters`.
    """

    total: float
    per_cluster: np.ndarray
    per_row: np.ndarray
    clusters: np.ndarray
    codes: np.ndarray

    def _title(self) -> str:
        return f"Silhouette {self.total:.4g} of {len(self.per_row):,} rows"

    def _columns(self) -> dict[str, list]:
        return {
            "cluster": self.clusters.tolist(),
            "size": np.bincount(self.codes).tolist(),
            "silhouette": self.per_cluster.tolist(),
        }


def silhouette(
    X: Any, labels: Any, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Silhouette:
    """Silhouette per row, cluster and in all (001 20.5); a row alone in its cluster has 0.

    The n^2 distances are added up block by block and never held: memory is O(n k) at most for
    other metrics, O(n) for the Euclidean.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"
    n_jobs : int or None, default=None
        Threads, for the Euclidean distance.

    Returns
    -------
    silhouette : Silhouette

    Examples
    --------
    >>> silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).per_cluster.round(3).tolist()
    [0.889, 0.889]
    """
    names, codes = label_codes(labels, len(X))
    if len(names) < 2:
        raise DataError("a silhouette needs two clusters or more; all rows have one label")
    sizes = np.bincount(codes)
    if metric == "euclidean":
        per_row = _euclidean_silhouettes(number_rows(X), codes, sizes, n_jobs)
    else:
        per_row = np.empty(len(codes))
        order = np.argsort(codes, kind="stable")
        ends = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        for start, block in distance_blocks(X, metric):
            stop = start + len(block)
            sums = np.add.reduceat(block[:, order], ends, axis=1)
            per_row[start:stop] = _silhouettes_of(sums, codes[start:stop], sizes)
    per_cluster = np.bincount(codes, per_row) / sizes
    return Silhouette(per_row.mean(), per_cluster, per_row, names, codes)


def _silhouettes_of(sums: np.ndarray, codes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    lines = np.arange(len(codes))
    own = sums[lines, codes] / np.maximum(sizes[codes] - 1, 1)
    means = sums / sizes
    means[lines, codes] = np.inf
    other = means.min(axis=1)
    most = np.maximum(own, other)
    alone = (sizes[codes] == 1) | (most == 0)
    return np.where(alone, 0.0, (other - own) / np.where(alone, 1.0, most))


def _euclidean_silhouettes(rows, codes, sizes, n_jobs) -> np.ndarray:
    order = np.argsort(codes, kind="stable")
    columns = np.ascontiguousarray(rows[order].T)
    ends = np.cumsum(sizes)

    def of_block(start: int) -> np.ndarray:
        some = rows[start : start + SILHOUETTE_ROWS]
        sums = np.zeros((len(some), len(sizes)))
        sum_distances(some, columns, ends, sums)
        return _silhouettes_of(sums, codes[start : start + SILHOUETTE_ROWS], sizes)

    starts = range(0, len(rows), SILHOUETTE_ROWS)
    return np.concatenate(list(in_order(of_block, starts, n_jobs, short=True)))


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", "out f8[:,:]")
def sum_distances(rows, columns, ends, sums):
    """Add up each row's distances to the points of each cluster.

    rows (m, d), columns (d, n): the points, clusters one after the other; ends (k,) of clusters,
    sums (m, k). The innermost loops run over points, so that they become vector instructions.
    """
    d = columns.shape[0]
    tile = 512
    squared = np.empty(tile)
    for i in range(len(rows)):
        begin = 0
        for c in range(len(ends)):
            total = 0.0
            for start in range(begin, ends[c], tile):
                size = min(tile, ends[c] - start)
                for t in range(size):
                    gap = columns[0, start + t] - rows[i, 0]
                    squared[t] = gap * gap
                for j in range(1, d):
                    value = rows[i, j]
                    for t in range(size):
                        gap = columns[j, start + t] - value
                        squared[t] += gap * gap
                for t in range(size):
                    squared[t] = np.sqrt(squared[t])
                for t in range(size):
                    total += squared[t]
            sums[i, c] += total
            begin = ends[c]


def modularity(similarity: Any, labels: Any) -> float:
    """Modularity: share of similarity within clusters less what chance would put there.

    Q = sum_i (W(C_i, C_i) / W - (W(C_i, all) / W)^2). Large is good for similarities; for
    distances, as 001 weighs its graph, small is.

    Parameters
    ----------
    similarity : array-like of shape (n, n)
        Symmetric, none negative.
    labels : array-like of shape (n,)

    Returns
    -------
    modularity : float

    Examples
    --------
    >>> modularity([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], [0, 0, 1, 1])
    0.5
    """
    weights = number_rows(similarity, "similarity")
    names, codes = label_codes(labels, len(weights))
    if weights.shape[0] != weights.shape[1] or (weights < 0).any() or weights.sum() == 0:
        raise DataError("similarities are a square table of numbers from 0 on, not all zero")
    member = np.eye(len(names))[codes]
    between = member.T @ weights @ member / weights.sum()
    return float(np.trace(between) - (between.sum(axis=1) ** 2).sum())


class ClusterCriteria(NamedTuple):
    """What a clustering makes small, and what it makes large.

    Attributes
    ----------
    pairs_within : float
        Distances of all pairs within clusters, summed (004 eq 12.5).
    to_centers : float
        Distances of rows to the mean of their cluster, summed (004 eq 12.6).
    squared_to_centers : float
        The same of squared distances: the quantisation error (004 eq 12.7).
    pairs_between : float
        Distances of all pairs between clusters, summed.
    between_centers : float
        Least distance of two centres.
    """

    pairs_within: float
    to_centers: float
    squared_to_centers: float
    pairs_between: float
    between_centers: float


def cluster_criteria(X: Any, labels: Any, metric: Metric = "euclidean") -> ClusterCriteria:
    """Objectives within and between clusters (004 12.3), with any distance between rows.

    They are kept apart, not mixed in one number: which compromise is right is for the user.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)
    metric : str or callable, default="euclidean"
        A distance of scipy's `cdist`, or a function of two rows.

    Returns
    -------
    criteria : ClusterCriteria

    Examples
    --------
    >>> cluster_criteria([[0.0], [2.0], [5.0]], [0, 0, 1]).to_centers
    2.0
    """
    rows = number_rows(X)
    names, codes = label_codes(labels, len(rows))
    means, _ = cluster_means(rows, codes, len(names))
    weights = proximity_weights(rows, codes, metric)
    to_center = np.concatenate(
        [cdist(rows[codes == c], means[c : c + 1], metric=metric)[:, 0] for c in range(len(names))]
    )
    gaps = cdist(means, means, metric=metric)[np.triu_indices(len(names), 1)]
    return ClusterCriteria(
        weights.within,
        float(to_center.sum()),
        float((to_center**2).sum()),
        weights.between,
        float(gaps.min(initial=np.inf)),
    )
