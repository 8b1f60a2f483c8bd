"""Inner loops of naive Bayes: moments per class, normal log-densities, kernel density estimates.

Why loops of our own: one pass over a chunk that stays in the cache, no temporary arrays of the
size of the data, and missing cells (NaN) cost nothing where there are none.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.engine.kernel import kernel

FARTHEST = 1e300  # near the end of floats, 1.8e308: differences of such distances stay finite
NEGLIGIBLE = 45.0  # e^-45 is 3e-20 of the nearest bump, below the rounding of the sum


@kernel(
    "f8[:,:]",
    "i8[:]",
    "f8[:]",
    "f8[:,:]",
    "b1",
    "out f8[:,:]",
    "out f8[:,:]",
    "out f8[:,:]",
)
def class_moments(rows, y, weights, shift, complete, known, first, second):
    """Per class k and column j: weight, sum w d and sum w d^2 of d = x - shift[k, j] over known
    cells.

    rows (n, m), y (n,) class codes, shift and the three results (n_classes, m). `complete` says
    that no cell is NaN; `known` is then left to the caller, who needs no loop over cells for it.
    """
    n, m = rows.shape
    if complete:
        for i in range(n):
            k = y[i]
            weight = weights[i]
            for j in range(m):
                deviation = rows[i, j] - shift[k, j]
                weighted = weight * deviation
                first[k, j] += weighted
                second[k, j] += weighted * deviation
        return
    for i in range(n):
        k = y[i]
        weight = weights[i]
        for j in range(m):
            deviation = rows[i, j] - shift[k, j]
            if not math.isnan(deviation):
                known[k, j] += weight
                first[k, j] += weight * deviation
                second[k, j] += weight * deviation * deviation


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "f8[:,:]", "out f8[:,:]")
def add_normal_log_densities(rows, means, scales, peaks, joint):
    """Add sum_j [peaks[k, j] - ((x_j - means[k, j]) scales[k, j])^2] over known cells to joint.

    rows (n, m), joint (n, n_classes), the others (n_classes, m): scales = 1 / sqrt(2 variance),
    peaks = log-density at the mean. A squared distance counts as 1e300 at most, so that rows at any
    distance keep finite densities. The sum over columns runs in four strands, because one strand
    would wait for each addition.
    """
    n, m = rows.shape
    n_classes = means.shape[0]
    peak_of = np.zeros(n_classes)
    for k in range(n_classes):
        for j in range(m):
            peak_of[k] += peaks[k, j]
    strands = m - m % 4
    for i in range(n):
        for k in range(n_classes):
            a = 0.0
            b = 0.0
            c = 0.0
            d = 0.0
            for j in range(0, strands, 4):
                p = (rows[i, j] - means[k, j]) * scales[k, j]
                q = (rows[i, j + 1] - means[k, j + 1]) * scales[k, j + 1]
                r = (rows[i, j + 2] - means[k, j + 2]) * scales[k, j + 2]
                s = (rows[i, j + 3] - means[k, j + 3]) * scales[k, j + 3]
                a += p * p
                b += q * q
                c += r * r
                d += s * s
            for j in range(strands, m):
                p = (rows[i, j] - means[k, j]) * scales[k, j]
                a += p * p
            distance = (a + b) + (c + d)
            if distance < FARTHEST:
                joint[i, k] += peak_of[k] - distance
                continue
            for j in range(m):
                p = (rows[i, j] - means[k, j]) * scales[k, j]
                if not math.isnan(p):
                    joint[i, k] += peaks[k, j] - min(p * p, FARTHEST)


@kernel("i8[:,:]", "i8[:]", "i8[:]", "f8[:]", "out f8[:,:]")
def count_codes(codes, starts, y, weights, counts):
    """Add each row's weight to counts[class, starts[j] + code] for its codes; -1 is left out.

    codes (n, m), starts (m + 1,), y (n,) class codes, counts (n_classes, starts[m]).
    """
    n, m = codes.shape
    for i in range(n):
        for j in range(m):
            if codes[i, j] >= 0:
                counts[y[i], starts[j] + codes[i, j]] += weights[i]


@kernel("i8[:,:]", "i8[:]", "f8[:,:]", "out f8[:,:]")
def add_code_log_densities(codes, starts, table, joint):
    """Add sum_j table[starts[j] + code, k] to joint (n, n_classes); -1 is left out.

    codes (n, m), starts (m + 1,), table (starts[m], n_classes).
    """
    n, m = codes.shape
    n_classes = table.shape[1]
    for i in range(n):
        for j in range(m):
            if codes[i, j] >= 0:
                place = starts[j] + codes[i, j]
                for k in range(n_classes):
                    joint[i, k] += table[place, k]


@kernel("f8[:]", "f8[:]", "f8[:]", "f8", "out f8[:]")
def kernel_log_densities(values, points, shares, bandwidth, log_density):
    """log sum_i shares[i] N(x; points[i], bandwidth^2) for each x of values; 0 where x is NaN.

    points are sorted, shares sum to one. Terms are taken relative to that of the nearest point, so
    nothing underflows; left out are only points whose terms together stay below e^-45 of it, which
    is beyond double precision.
    """
    last = points.shape[0] - 1
    height = math.log(bandwidth) + 0.5 * math.log(2.0 * math.pi)
    for i in range(values.shape[0]):
        x = values[i]
        if math.isnan(x):
            log_density[i] = 0.0
            continue
        right = min(np.searchsorted(points, x), last)
        near = right
        if right > 0 and x - points[right - 1] < abs(points[right] - x):
            near = right - 1
        z = abs(x - points[near]) / bandwidth
        if not z < math.sqrt(FARTHEST):
            log_density[i] = -FARTHEST
            continue
        least = z * z
        reach = bandwidth * math.sqrt(least + 2.0 * (NEGLIGIBLE - math.log(shares[near])))
        total = 0.0
        j = near
        while j >= 0 and x - points[j] <= reach:
            z = (x - points[j]) / bandwidth
            total += shares[j] * math.exp(0.5 * (least - z * z))
            j -= 1
        j = near + 1
        while j <= last and points[j] - x <= reach:
            z = (x - points[j]) / bandwidth
            total += shares[j] * math.exp(0.5 * (least - z * z))
            j += 1
        log_density[i] = math.log(total) - 0.5 * least - height


@kernel("f8[:,:]")
def greatest_distance(sites):
    """The greatest Euclidean distance between two rows; 0 for fewer. sites (n, d)."""
    greatest = 0.0
    for i in range(len(sites)):
        for j in range(i):
            squared = 0.0
            for c in range(sites.shape[1]):
                squared += (sites[i, c] - sites[j, c]) ** 2
            greatest = max(greatest, squared)
    return math.sqrt(greatest)


@kernel("f8[:,:]", "f8[:]", "f8[:]", "f8[:]", "out f8[:]", "out f8[:]", "out f8[:]")
def bin_pairs(sites, values, weights, edges, total, distance, height):
    """Per bin of distance (edges[b], edges[b + 1]]: sums of w, w h and w (y_i - y_j)^2 / 2.

    sites (n, d), values and weights (n,), edges (n_bins + 1,) evenly spaced from 0; w is the
    product of the weights of a pair and h its distance. Pairs of distance 0 are in no bin.
    """
    n_bins = len(total)
    width = edges[1] - edges[0]
    for i in range(len(sites)):
        for j in range(i):
            squared = 0.0
            for c in range(sites.shape[1]):
                squared += (sites[i, c] - sites[j, c]) ** 2
            apart = math.sqrt(squared)
            if apart == 0.0 or apart > edges[n_bins]:
                continue
            b = min(int(apart / width), n_bins - 1)
            while b > 0 and apart <= edges[b]:
                b -= 1
            while apart > edges[b + 1]:
                b += 1
            weight = weights[i] * weights[j]
            total[b] += weight
            distance[b] += weight * apart
            height[b] += weight * (values[i] - values[j]) ** 2 / 2
