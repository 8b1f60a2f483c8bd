"""Kernel of shortest paths: Dijkstra's search from some nodes, with a heap of what comes next."""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.neighbors.kernels import drop_top, push


@kernel("i8[:]", "i8[:]", "f8[:]", "i8", "i8", "out f8[:,:]")
def shortest_paths(starts, columns, lengths, first, last, paths):
    """Lengths of the shortest paths from nodes first to last to all nodes.

    A graph in compressed rows (starts, columns, lengths), each edge in both directions; paths
    (last - first, n), infinite where there is none. A node may wait in the heap more than once: the
    later entries find it settled.
    """
    n = starts.shape[0] - 1
    keys = np.empty(columns.shape[0] + 1)
    nodes = np.empty(columns.shape[0] + 1, np.int64)
    for source in range(first, last):
        reached = paths[source - first]
        for node in range(n):
            reached[node] = np.inf
        reached[source] = 0.0
        push(keys, nodes, 0, 0.0, source)
        size = 1
        while size > 0:
            far, node = keys[0], nodes[0]
            drop_top(keys, nodes, size)
            size -= 1
            if far > reached[node]:
                continue
            for edge in range(starts[node], starts[node + 1]):
                other = columns[edge]
                length = far + lengths[edge]
                if length < reached[other]:
                    reached[other] = length
                    push(keys, nodes, size, length, other)
                    size += 1
