"""What a pass of k-means adds up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.cluster.nearest import Centers, Nearest, SparseRows
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.sums import Chunk


class ClusterSums(NamedTuple):
    """Per cluster the weight and the weighted sum of its rows (less the shift); the objective."""

    weight: np.ndarray
    total: np.ndarray
    objective: float

    @classmethod
    def zeros(cls, centers: Centers) -> ClusterSums:
        """Nothing added yet."""
        return cls(np.zeros(len(centers.points)), np.zeros(centers.points.shape), 0.0)


def cluster_sums(chunk: Chunk, centers: Centers, found: Nearest) -> ClusterSums:
    """The sums of a chunk whose rows have their labels."""
    sums = ClusterSums.zeros(centers)
    if sp.issparse(chunk.rows):
        entries = SparseRows.of(chunk.rows)
        objective = sum_sparse_by_cluster(
            entries, chunk.weights, found.labels, found.squared, sums.weight, sums.total
        )
        sums.total[:] -= sums.weight[:, None] * centers.shift
        return sums._replace(objective=objective)
    objective = sum_by_cluster(
        chunk.rows,
        chunk.weights,
        centers.shift,
        found.labels,
        found.squared,
        sums.weight,
        sums.total,
    )
    return sums._replace(objective=objective)


@subkernel
def add_to_clusters(rows, weights, shift, labels, squared, weight, total):
    """Add weights and weighted rows (less the shift) up by cluster; returns the objective.

    rows (n, d), weights, labels, squared (n,), shift (d,), weight (k,), total (k, d).
    """
    objective = 0.0
    for i in range(len(rows)):
        own = labels[i]
        weight[own] += weights[i]
        objective += weights[i] * squared[i]
        for j in range(rows.shape[1]):
            total[own, j] += weights[i] * (rows[i, j] - shift[j])
    return objective


@kernel("f8|f4[:,:]", "f8[:]", "f8[:]", "i4[:]", "f8[:]", "out f8[:]", "out f8[:,:]")
def sum_by_cluster(rows, weights, shift, labels, squared, weight, total):
    """`add_to_clusters` for Python."""
    return add_to_clusters(rows, weights, shift, labels, squared, weight, total)


@kernel(SparseRows, "f8[:]", "i4[:]", "f8[:]", "out f8[:]", "out f8[:,:]")
def sum_sparse_by_cluster(entries, weights, labels, squared, weight, total):
    """Add weights and weighted sparse rows up by cluster; returns the objective.

    weights, labels, squared (n,), weight (k,), total (k, d).
    """
    objective = 0.0
    for i in range(len(labels)):
        own = labels[i]
        weight[own] += weights[i]
        objective += weights[i] * squared[i]
        for e in range(entries.starts[i], entries.starts[i + 1]):
            total[own, entries.columns[e]] += weights[i] * entries.values[e]
    return objective
