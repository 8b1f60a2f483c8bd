"""Kernels of t-SNE: widths of neighbourhoods, attraction along pairs, repulsion from all.

Repulsion over all pairs is exact, or by a grid: points give their charges to a regular grid by
cubic interpolation, the grid's charges meet by convolution (FFT), and points read the result back.
It costs O(points + grid) instead of O(points^2).
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel


@kernel("f8[:,:]", "f8", "f8[:]", "out f8[:,:]", "out f8[:]")
def neighbor_shares(squares, entropy, first, shares, precisions):
    """Shares p_j|i = exp(-b_i d_ij^2) / sum of given entropy (nats), by safeguarded Newton steps.

    squares (n, k), squared distances in rising order, the item itself left out; first (n,) the
    starting precisions b, zero for none; shares (n, k); precisions (n,) b found. Where the nearest
    ties already exceed the entropy, the widest solution is the limit b -> infinity.
    """
    n, k = squares.shape
    for i in range(n):
        least = squares[i, 0]
        spread = 0.0
        for j in range(k):
            spread += squares[i, j] - least
        spread /= k
        if spread <= 0.0:
            for j in range(k):
                shares[i, j] = 1.0 / k
            precisions[i] = 0.0
            continue
        low, high = 0.0, np.inf
        b = first[i] if first[i] > 0.0 else 1.0 / spread
        for _ in range(200):
            total, mean, second = 0.0, 0.0, 0.0
            for j in range(k):
                gap = squares[i, j] - least
                each = math.exp(-b * gap)
                total += each
                mean += each * gap
                second += each * gap * gap
            mean /= total
            second = second / total - mean * mean
            error = math.log(total) + b * mean - entropy
            if abs(error) < 1e-12:
                break
            if error > 0.0:
                low = b
            else:
                high = b
            # d entropy / d b = -b Var
            new = b + error / (b * second) if second > 0.0 else -1.0
            if not (low < new < high):
                new = 2.0 * b if np.isinf(high) else 0.5 * (low + high)
            if new == b or new > 1e300:
                break
            b = new
        total = 0.0
        for j in range(k):
            shares[i, j] = math.exp(-b * (squares[i, j] - least))
            total += shares[i, j]
        for j in range(k):
            shares[i, j] /= total
        precisions[i] = b


@kernel("f8[:,:]", "i8[:]", "i4[:]", "f8[:]", "i8", "i8", "out f8[:,:]")
def attraction(places, starts, columns, shares, first, last, forces):
    """Add sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2) for items first to last.

    places (n, k), P in compressed rows (starts, columns, shares); forces (last - first, k). Returns
    sum p_ij log(1 + |y_i - y_j|^2), for the divergence.
    """
    k = places.shape[1]
    logs = 0.0
    for i in range(first, last):
        for m in range(starts[i], starts[i + 1]):
            j = columns[m]
            square = 0.0
            for c in range(k):
                gap = places[i, c] - places[j, c]
                square += gap * gap
            factor = shares[m] / (1.0 + square)
            logs += shares[m] * math.log1p(square)
            for c in range(k):
                forces[i - first, c] += factor * (places[i, c] - places[j, c])
    return logs


@kernel("f8[:,:]", "i8[:]", "i4[:]", "f8[:]", "i8", "i8", "out f8[:,:]")
def plane_attraction(places, starts, columns, shares, first, last, forces):
    """As `attraction`, for places in the plane.

    Logarithms would take most of the time. So those of a row are made together from the bits of
    1 + d^2 = 2^e m: log m = log sqrt 2 + 2 atanh r with r = (m - sqrt 2) / (m + sqrt 2), |r| <
    0.172, by its series to 1e-13, without a branch.
    """
    longest = 0
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    sums = np.empty(longest)
    bits = sums.view(np.int64)
    exponents = np.empty(longest)
    root, log_two = math.sqrt(2.0), math.log(2.0)
    logs = 0.0
    for i in range(first, last):
        x, y = places[i, 0], places[i, 1]
        begin, count = starts[i], starts[i + 1] - starts[i]
        along, across = 0.0, 0.0
        for m in range(count):
            j = columns[begin + m]
            u, v = x - places[j, 0], y - places[j, 1]
            near = 1.0 + u * u + v * v
            sums[m] = near
            factor = shares[begin + m] / near
            along += factor * u
            across += factor * v
        forces[i - first, 0] += along
        forces[i - first, 1] += across
        for m in range(count):
            exponents[m] = (bits[m] >> 52) - 1023
            bits[m] = (bits[m] & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000
        for m in range(count):
            r = (sums[m] - root) / (sums[m] + root)
            q = r * r
            series = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q / 15)))
            series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * series))
            sums[m] = (exponents[m] + 0.5) * log_two + 2.0 * r * series
        for m in range(count):
            logs += shares[begin + m] * sums[m]
    return logs


@kernel("f8[:,:]", "f8[:,:]", "i8", "i8", "out f8[:,:]")
def exact_repulsion(places, others, first, last, forces):
    """Add sum_j (y_i - z_j) / (1 + |y_i - z_j|^2)^2 for items first to last; returns sum 1/(1+d^2).

    places (n, k), others (m, k); forces (last - first, k). An item meets itself with 1.
    """
    k = places.shape[1]
    total = 0.0
    for i in range(first, last):
        for j in range(others.shape[0]):
            square = 0.0
            for c in range(k):
                gap = places[i, c] - others[j, c]
                square += gap * gap
            near = 1.0 / (1.0 + square)
            total += near
            near *= near
            for c in range(k):
                forces[i - first, c] += near * (places[i, c] - others[j, c])
    return total


@lean_subkernel
def cubic(t, weights, at):
    """Weights of the four grid points around a point, t in [0, 1) from the second of them."""
    weights[at, 0] = -t * (t - 1.0) * (t - 2.0) / 6.0
    weights[at, 1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0
    weights[at, 2] = -(t + 1.0) * t * (t - 2.0) / 2.0
    weights[at, 3] = (t + 1.0) * t * (t - 1.0) / 6.0


@kernel("f8[:,:]", "f8", "f8", "f8", "out f8[:,:,:]")
def spread_charges(places, low_x, low_y, step, grid):
    """Give the charges 1, x, y and x^2 + y^2 of each point to the grid; places (n, 2).

    grid (4, g, g), its point (a, b) lies at (low_x + a step, low_y + b step).
    """
    weights = np.empty((2, 4))
    for i in range(places.shape[0]):
        x, y = places[i, 0], places[i, 1]
        u, v = (x - low_x) / step, (y - low_y) / step
        a, b = int(u), int(v)
        cubic(u - a, weights, 0)
        cubic(v - b, weights, 1)
        square = x * x + y * y
        for p in range(4):
            for q in range(4):
                w = weights[0, p] * weights[1, q]
                grid[0, a - 1 + p, b - 1 + q] += w
                grid[1, a - 1 + p, b - 1 + q] += w * x
                grid[2, a - 1 + p, b - 1 + q] += w * y
                grid[3, a - 1 + p, b - 1 + q] += w * square


@kernel("f8[:,:]", "f8", "f8", "f8", "f8[:,:,:]", "out f8[:,:]")
def read_potentials(places, low_x, low_y, step, grid, forces):
    """Read the potentials back: writes the repulsion of each point, returns sum 1 / (1 + d^2).

    places (n, 2); grid (4, g, g), potentials of the charges of `spread_charges` under the kernel
    (1 + d^2)^-2; forces (n, 2). A point's meeting with itself is in the sum.
    """
    weights = np.empty((2, 4))
    total = 0.0
    for i in range(places.shape[0]):
        x, y = places[i, 0], places[i, 1]
        u, v = (x - low_x) / step, (y - low_y) / step
        a, b = int(u), int(v)
        cubic(u - a, weights, 0)
        cubic(v - b, weights, 1)
        one = ones_x = ones_y = squares = 0.0
        for p in range(4):
            for q in range(4):
                w = weights[0, p] * weights[1, q]
                one += w * grid[0, a - 1 + p, b - 1 + q]
                ones_x += w * grid[1, a - 1 + p, b - 1 + q]
                ones_y += w * grid[2, a - 1 + p, b - 1 + q]
                squares += w * grid[3, a - 1 + p, b - 1 + q]
        forces[i, 0] = x * one - ones_x
        forces[i, 1] = y * one - ones_y
        total += (1.0 + x * x + y * y) * one - 2.0 * (x * ones_x + y * ones_y) + squares
    return total


@kernel("out f8[:,:]", "f8[:,:]", "out f8[:,:]", "out f8[:,:]", "f8", "f8")
def move(places, gradient, velocity, gains, rate, momentum):
    """One step of descent with momentum and a gain per coordinate, in place.

    All (n, k). A gain grows by 0.2 where the step keeps its direction and shrinks to 0.8 of itself
    where it turns, not below 0.01.
    """
    for i in range(places.shape[0]):
        for c in range(places.shape[1]):
            if velocity[i, c] * gradient[i, c] < 0.0:
                gains[i, c] += 0.2
            else:
                gains[i, c] = max(0.8 * gains[i, c], 0.01)
            velocity[i, c] = momentum * velocity[i, c] - rate * gains[i, c] * gradient[i, c]
            places[i, c] += velocity[i, c]


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", "i8[:]", "f8[:]", "out f8[:,:]")
def pull_of_fixed(places, fixed, starts, columns, shares, gradient):
    """Gradient of KL(p_.|i || q_.|i) of each place, with q normalised over the fixed places.

    places (n, k), fixed (m, k), shares in compressed rows; gradient (n, k).
    """
    k = places.shape[1]
    pushes = np.empty(k)
    for i in range(places.shape[0]):
        total = 0.0
        for c in range(k):
            gradient[i, c] = 0.0
            pushes[c] = 0.0
        for j in range(fixed.shape[0]):
            square = 0.0
            for c in range(k):
                gap = places[i, c] - fixed[j, c]
                square += gap * gap
            near = 1.0 / (1.0 + square)
            total += near
            near *= near
            for c in range(k):
                pushes[c] += near * (places[i, c] - fixed[j, c])
        for m in range(starts[i], starts[i + 1]):
            j = columns[m]
            square = 0.0
            for c in range(k):
                gap = places[i, c] - fixed[j, c]
                square += gap * gap
            factor = shares[m] / (1.0 + square)
            for c in range(k):
                gradient[i, c] += factor * (places[i, c] - fixed[j, c])
        for c in range(k):
            gradient[i, c] = 2.0 * (gradient[i, c] - pushes[c] / total)


@kernel("f8[:,:]", "f8[:]", "f8", "out i8[:,:]", "out f8[:,:]", "out f8[:]", "out f8[:]")
def build_tree(places, low, size, children, centers, counts, sizes):
    """Put points into cells that are halved along every axis until each holds one.

    places (n, k); the first cell begins at low (k,) and has edges of `size`. children (r, 2^k),
    minus one at first; centres (r, k) the mean of a cell's points, counts (r,), sizes (r,) squared
    edges. Points that 60 halvings do not part share a cell. Returns the cells used, or -1 where r
    are too few.
    """
    n, k = places.shape
    room = children.shape[0]
    used = 1
    sizes[0] = size * size
    corner = np.empty(k)
    for i in range(n):
        cell, edge = 0, size
        for c in range(k):
            corner[c] = low[c]
        depth = 0
        while True:
            before = counts[cell]
            alone = before > 0.0 and children[cell].max() < 0
            if before == 0.0 or (alone and depth >= 60):
                break
            half = 0.5 * edge
            if alone:
                # one point or several equal ones were here: they move to a cell below
                same = True
                for c in range(k):
                    if centers[cell, c] != places[i, c]:
                        same = False
                if same:
                    break
                which = 0
                for c in range(k):
                    if centers[cell, c] >= corner[c] + half:
                        which += 1 << c
                if used >= room:
                    return -1
                children[cell, which] = used
                counts[used] = before
                sizes[used] = half * half
                for c in range(k):
                    centers[used, c] = centers[cell, c]
                used += 1
            which = 0
            for c in range(k):
                if places[i, c] >= corner[c] + half:
                    which += 1 << c
            for c in range(k):
                centers[cell, c] += (places[i, c] - centers[cell, c]) / (before + 1.0)
            counts[cell] = before + 1.0
            if children[cell, which] < 0:
                if used >= room:
                    return -1
                children[cell, which] = used
                sizes[used] = half * half
                used += 1
            for c in range(k):
                if which & (1 << c):
                    corner[c] += half
            cell, edge = children[cell, which], half
            depth += 1
        for c in range(k):
            centers[cell, c] += (places[i, c] - centers[cell, c]) / (counts[cell] + 1.0)
        counts[cell] += 1.0
    return used


@kernel("f8[:,:]", "i8[:,:]", "f8[:,:]", "f8[:]", "f8[:]", "f8", "i8", "i8", "out f8[:,:]")
def tree_repulsion(places, children, centers, counts, sizes, share, first, last, forces):
    """As `exact_repulsion`, with far cells as one point each.

    A cell stands for its points where its squared edge is less than `share` times its squared
    distance. The tree is that of `build_tree`; forces (last - first, k).
    """
    k = places.shape[1]
    waiting = np.empty(64 * children.shape[1] + 64, np.int64)
    total = 0.0
    for i in range(first, last):
        waiting[0] = 0
        size = 1
        while size > 0:
            size -= 1
            cell = waiting[size]
            square = 0.0
            for c in range(k):
                gap = places[i, c] - centers[cell, c]
                square += gap * gap
            inner = False
            if sizes[cell] >= share * square:
                for child in children[cell]:
                    if child >= 0:
                        inner = True
                        waiting[size] = child
                        size += 1
            if inner:
                continue
            near = 1.0 / (1.0 + square)
            total += counts[cell] * near
            near *= near * counts[cell]
            for c in range(k):
                forces[i - first, c] += near * (places[i, c] - centers[cell, c])
    return total
