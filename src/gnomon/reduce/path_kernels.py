"""Kernels of shortest paths: Dijkstra's search from some nodes, and places of new rows by paths."""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel


@lean_subkernel
def put(keys, nodes, size, key, node):
    """Add to a heap of four branches with the smallest key on top: half the levels of two."""
    place = size
    while place > 0:
        above = (place - 1) >> 2
        if keys[above] <= key:
            break
        keys[place], nodes[place] = keys[above], nodes[above]
        place = above
    keys[place], nodes[place] = key, node


@lean_subkernel
def take_off(keys, nodes, size):
    """Take the smallest off a heap of `size` entries."""
    last = size - 1
    key, node = keys[last], nodes[last]
    place = 0
    while True:
        child = 4 * place + 1
        if child >= last:
            break
        best = child
        for other in range(child + 1, min(child + 4, last)):
            if keys[other] < keys[best]:
                best = other
        if keys[best] >= key:
            break
        keys[place], nodes[place] = keys[best], nodes[best]
        place = best
    keys[place], nodes[place] = key, node


@kernel("i8[:]", "i8[:]", "f8[:]", "i8[:]", "out f8[:,:]")
def shortest_paths(starts, columns, lengths, sources, paths):
    """Lengths of the shortest paths from some nodes to all.

    A graph in compressed rows (starts, columns, lengths), each edge in both directions; sources
    (m,), paths (m, n), infinite where there is none. A node may wait in the heap more than once:
    the later entries find it settled.
    """
    n = starts.shape[0] - 1
    keys = np.empty(columns.shape[0] + 1)
    nodes = np.empty(columns.shape[0] + 1, np.int64)
    for place in range(len(sources)):
        reached = paths[place]
        for node in range(n):
            reached[node] = np.inf
        reached[sources[place]] = 0.0
        put(keys, nodes, 0, 0.0, sources[place])
        size = 1
        while size > 0:
            far, node = keys[0], nodes[0]
            take_off(keys, nodes, size)
            size -= 1
            if far > reached[node]:
                continue
            for edge in range(starts[node], starts[node + 1]):
                other = columns[edge]
                length = far + lengths[edge]
                if length < reached[other]:
                    reached[other] = length
                    put(keys, nodes, size, length, other)
                    size += 1


@kernel("f8[:,:]", "i8[:,:]", "f8[:,:]", "f8[:]", "f8[:,:]", "out f8[:,:]")
def places_by_paths(distances, indices, paths, means, axes, places):
    """Places of new rows from their paths to the landmarks, over their nearest rows.

    distances, indices (n, k), an index below zero is left out; paths (m, l) from stored rows to
    landmarks, infinite where there is none; means (l,), axes (l, c). Writes
    -1/2 sum_l (path_l^2 - mean_l) axis_l to places (n, c).
    """
    for i in range(len(distances)):
        for c in range(axes.shape[1]):
            places[i, c] = 0.0
        for landmark in range(len(means)):
            path = np.inf
            for j in range(distances.shape[1]):
                if indices[i, j] >= 0:
                    path = min(path, distances[i, j] + paths[indices[i, j], landmark])
            if path < np.inf:
                square = path * path - means[landmark]
                for c in range(axes.shape[1]):
                    places[i, c] -= 0.5 * square * axes[landmark, c]
