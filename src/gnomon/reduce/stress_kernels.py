"""Kernels of maps that keep distances: stress and its gradient, for tables and for lists of pairs.

Inner loops run over the second item and add to arrays instead of single sums, so that they are
vectorised; each call covers some first items, so that threads can share a table.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "i8", "i8", "out f8[:,:]", "out f8[:]")
def table_stress(places, distances, weights, start, stop, gradient, stress):
    """Add sum_ij w_ij (d_ij - |p_i - p_j|)^2 and its gradient, for first items start to stop.

    places (k, n), distances and weights (n, n), gradient (k, n) with respect to the second item,
    stress (n,). A weights table of one cell stands for weight one everywhere.
    """
    k, n = places.shape
    even = weights.shape[0] == 1
    apart = np.empty(n)
    for i in range(start, stop):
        for j in range(n):
            apart[j] = 0.0
        for c in range(k):
            here = places[c, i]
            for j in range(n):
                gap = places[c, j] - here
                apart[j] += gap * gap
        if even:
            for j in range(n):
                far = np.sqrt(apart[j])
                error = far - distances[i, j]
                stress[j] += error * error
                apart[j] = 2.0 * error / max(far, 1e-150)
        else:
            for j in range(n):
                far = np.sqrt(apart[j])
                error = far - distances[i, j]
                stress[j] += weights[i, j] * error * error
                apart[j] = 2.0 * weights[i, j] * error / max(far, 1e-150)
        for c in range(k):
            here = places[c, i]
            for j in range(n):
                gradient[c, j] += apart[j] * (places[c, j] - here)


@kernel("f8[:,:]", "i8[:,:]", "f8[:]", "f8[:]", "out f8[:,:]")
def pair_stress(places, pairs, distances, weights, gradient):
    """Stress of listed pairs, and its gradient added. places (k, n), pairs (m, 2)."""
    k = places.shape[0]
    total = 0.0
    for m in range(pairs.shape[0]):
        i, j = pairs[m, 0], pairs[m, 1]
        square = 0.0
        for c in range(k):
            gap = places[c, i] - places[c, j]
            square += gap * gap
        far = np.sqrt(square)
        error = far - distances[m]
        total += weights[m] * error * error
        factor = 2.0 * weights[m] * error / max(far, 1e-150)
        for c in range(k):
            push = factor * (places[c, i] - places[c, j])
            gradient[c, i] += push
            gradient[c, j] -= push
    return total
