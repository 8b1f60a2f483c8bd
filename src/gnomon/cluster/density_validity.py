"""Separation of groups of any shape: are they denser at their emptiest than the gap between?

Silhouettes ask whether groups are balls. This index asks of each cluster for the longest step in
its spanning tree (sparseness) and for the shortest step to another cluster (separation), where a
step between two rows is the largest of their distance and their core distances:

    V = (separation - sparseness) / max(separation, sparseness),

from -1 to 1; the index of a clustering is the mean of V over rows, of noise 0. The core distance of
a row is the mean of its distances to the other rows of its cluster in the sense of densities,
(mean of (1/r)^d)^(-1/d) in d columns.

References: Moulavi, Jaskowiak, Campello, Zimek and Sander, "Density-based clustering validation",
2014. Texts: 001 20 describes validity, without this index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.cluster.intake import BLOCK_CELLS, label_codes, number_rows
from gnomon.cluster.spanning import shortest_edges
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass(repr=False)
class DensityValidity(Result):
    """Separation of clusters of any shape: 1 is best, below 0 gaps are denser than clusters.

    Attributes
    ----------
    total : float
        Mean over all rows of the validity of their cluster, 0 for noise.
    per_cluster : ndarray of shape (n_clusters,)
        Of each cluster.
    sparseness, separation : ndarray of shape (n_clusters,)
        Longest step inside, and shortest step to another cluster.
    clusters : ndarray of shape (n_clusters,)
        Their labels.
    sizes : ndarray of shape (n_clusters,)
    """

    total: float
    per_cluster: np.ndarray
    sparseness: np.ndarray
    separation: np.ndarray
    clusters: np.ndarray
    sizes: np.ndarray

    def _title(self) -> str:
        return f"Density validity {self.total:.4g} of {len(self.clusters)} clusters"

    def _columns(self) -> dict[str, list]:
        return {
            "cluster": self.clusters.tolist(),
            "size": self.sizes.tolist(),
            "validity": self.per_cluster.tolist(),
            "sparseness": self.sparseness.tolist(),
            "separation": self.separation.tolist(),
        }


def density_validity(X: Any, labels: Any) -> DensityValidity:
    """Validity of clusters of any shape (DBCV); rows labelled -1 are noise.

    Use it to compare groupings by density, such as those of `DBSCAN`, where silhouettes would ask
    for balls. The distances are looked at block by block: memory is O(n).

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)

    Returns
    -------
    validity : DensityValidity

    Examples
    --------
    >>> rows = [[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0], [99.0]]
    >>> density_validity(rows, [0, 0, 0, 0, 1, 1, 1, 1, -1]).per_cluster.round(2).tolist()
    [0.94, 0.94]
    """
    rows = number_rows(X)
    names, codes = label_codes(labels, len(rows))
    noise = names == -1
    kept = np.flatnonzero(~noise)
    if len(kept) < 2:
        raise DataError("a density validity needs two clusters or more, noise not counted")
    sparseness, inner, cores, owner = np.empty(len(kept)), [], [], []
    for place, code in enumerate(kept):
        members = rows[codes == code]
        core = _core_distances(members)
        sparseness[place], inside = _spine(members, core)
        inner.append(members[inside])
        cores.append(core[inside])
        owner.append(np.full(len(inside), place))
    separation = _separation(np.vstack(inner), np.concatenate(cores), np.concatenate(owner))
    larger = np.maximum(separation, sparseness)
    validity = np.zeros(len(kept))
    np.divide(separation - sparseness, larger, out=validity, where=larger > 0)
    sizes = np.bincount(codes)[kept]
    total = float(validity @ sizes / len(rows))
    return DensityValidity(total, validity, sparseness, separation, names[kept], sizes)


def _core_distances(members: np.ndarray) -> np.ndarray:
    """The core distance of each row within its cluster; 0 where it has a twin or is alone."""
    n, d = members.shape
    found = np.zeros(n)
    if n < 2:
        return found
    size = max(BLOCK_CELLS // n, 1)
    for start in range(0, n, size):
        distances = cdist(members[start : start + size], members)
        lines = np.arange(len(distances))
        distances[lines, start + lines] = np.inf
        nearest = distances.min(axis=1)
        apart = nearest > 0
        shares = (nearest[apart, None] / distances[apart]) ** d
        mean = shares.sum(axis=1) / (n - 1)
        found[start + lines[apart]] = nearest[apart] * mean ** (-1.0 / d)
    return found


def _spine(members: np.ndarray, core: np.ndarray) -> tuple[float, np.ndarray]:
    """The longest step between inner rows of the spanning tree, and which rows are inner.

    Inner are rows with two neighbours or more in the tree; where no step joins two, all are.
    """
    everything = np.arange(len(members))
    if len(members) < 2:
        return 0.0, everything
    edges = shortest_edges(members, core**2)
    neighbors = np.bincount(np.concatenate([edges.one, edges.other]), minlength=len(members))
    joins = (neighbors[edges.one] > 1) & (neighbors[edges.other] > 1)
    if not joins.any():
        return float(np.sqrt(edges.squared.max())), everything
    return float(np.sqrt(edges.squared[joins].max())), np.flatnonzero(neighbors > 1)


def _separation(rows: np.ndarray, core: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The shortest step from each cluster to another; rows stand cluster by cluster."""
    n = len(rows)
    found = np.full(owner[-1] + 1, np.inf)
    size = max(BLOCK_CELLS // n, 1)
    for start in range(0, n, size):
        block = slice(start, start + size)
        steps = np.maximum(cdist(rows[block], rows), core)
        np.maximum(steps, core[block, None], out=steps)
        steps[owner[block, None] == owner] = np.inf
        np.minimum.at(found, owner[block], steps.min(axis=1))
    return found
