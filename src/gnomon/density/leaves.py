"""Sums of kernels over rows in leaves: those that are too far to matter are left out.

Rows lie 64 to a leaf, column by column, so that the inner loops run over rows side by side and the
processor takes several at once. A leaf's box bounds what its rows can add to a sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

LEAF = 64  # judgement: whole vectors of every length; boxes of more rows leave out less
RINGS = 96  # reaches 12 bandwidths beyond the nearest leaf, where a bump is below e^-72
RING = 0.125  # width in bandwidths
FIRST_RINGS = 16  # met before the others: their sum is the measure of what may be left out
LEAST_SUM = 1e-280  # a sum so small is rounding of underflown bumps; the row is summed another way
# log2(e); below, ln 2 in a part of 32 bits and the rest, after fdlibm.
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
ROUNDING = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to a whole number


class Leaves(NamedTuple):
    """Rows in leaves, the last filled up with rows of weight zero.

    Attributes
    ----------
    rows : ndarray of shape (n_leaves, n_columns, LEAF)
    weights : ndarray of shape (n_leaves, LEAF)
    lows, highs : ndarray of shape (n_columns, n_leaves)
        The boxes.
    mass : ndarray of shape (n_leaves,)
        Sums of weights.
    """

    rows: np.ndarray
    weights: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, weights: np.ndarray) -> Leaves:
        """From rows in the order of `leaf_order`."""
        n, d = rows.shape
        n_leaves = -(-n // LEAF)
        full = rows[np.minimum(np.arange(n_leaves * LEAF), n - 1)].reshape(n_leaves, LEAF, d)
        shares = np.zeros((n_leaves, LEAF))
        shares.reshape(-1)[:n] = weights
        return cls(
            np.ascontiguousarray(full.transpose(0, 2, 1)),
            shares,
            np.ascontiguousarray(full.min(axis=1).T),
            np.ascontiguousarray(full.max(axis=1).T),
            shares.sum(axis=1),
        )


@lean_subkernel
def select(values, column, order, low, high, place):
    """Reorder so that what belongs at `place` by that column is there (Hoare). values (n, d)."""
    while low < high:
        pivot = values[order[(low + high) // 2], column]
        i = low
        j = high
        while i <= j:
            while values[order[i], column] < pivot:
                i += 1
            while values[order[j], column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@lean_subkernel
def widest_column(rows, order, start, stop):
    """The column in which these rows spread most; -1 where all are equal. rows (n, d)."""
    widest = -1
    most = 0.0
    for c in range(rows.shape[1]):
        low = high = rows[order[start], c]
        for i in range(start + 1, stop):
            value = rows[order[i], c]
            low = min(low, value)
            high = max(high, value)
        if high - low > most:
            most = high - low
            widest = c
    return widest


@kernel("f8[:,:]", "i8", "out i8[:]")
def leaf_order(rows, size, order):
    """An order in which every `size` rows lie together: halves by the widest column, again and
    again. rows (n, d), order (n,): 0, 1, ... at first."""
    starts = np.empty(128, np.int64)
    stops = np.empty(128, np.int64)
    starts[0], stops[0] = 0, len(rows)
    held = 1
    while held > 0:
        held -= 1
        start, stop = starts[held], stops[held]
        if stop - start <= size:
            continue
        column = widest_column(rows, order, start, stop)
        if column < 0:
            continue
        middle = start + size * ((stop - start + size - 1) // size // 2)
        select(rows, column, order, start, stop - 1, middle)
        starts[held], stops[held] = start, middle
        starts[held + 1], stops[held + 1] = middle, stop
        held += 2


@lean_subkernel
def exponentiate(z, powers, bits):
    """e^z in place, for z of 0 or less; below -700 as at -700.

    z, powers, bits (m,); bits and powers are one piece of memory, read as integers and as floats.
    z = n ln 2 + r with |r| <= ln 2 / 2; e^r by its series, 2^n by writing n where a number has its
    exponent. No branch and no call: the processor takes several at once.
    """
    for i in range(len(z)):
        x = z[i] if z[i] > -700.0 else -700.0
        whole = x * LOG2_E + ROUNDING
        powers[i] = whole
        whole -= ROUNDING
        r = (x - whole * LN2_HIGH) - whole * LN2_LOW
        e = r / 479001600.0 + 1 / 39916800.0
        e = e * r + 1 / 3628800.0
        e = e * r + 1 / 362880.0
        e = e * r + 1 / 40320.0
        e = e * r + 1 / 5040.0
        e = e * r + 1 / 720.0
        e = e * r + 1 / 120.0
        e = e * r + 1 / 24.0
        e = e * r + 1 / 6.0
        e = e * r + 0.5
        e = e * r + 1.0
        z[i] = e * r + 1.0
    for i in range(len(z)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(z)):
        z[i] *= powers[i]


@lean_subkernel
def squared_gaps(query, lows, highs, gaps):
    """Squared distance from a query to each box. query (d,), lows, highs (d, L), gaps (L,)."""
    gaps[:] = 0.0
    for c in range(len(query)):
        q = query[c]
        low = lows[c]
        high = highs[c]
        for b in range(len(gaps)):
            gap = max(max(low[b] - q, q - high[b]), 0.0)
            gaps[b] += gap * gap


@lean_subkernel
def add_leaf(query, rows, weights, nearest, z, powers, bits, sums):
    """Adds weights * exp(-(|q - row|^2 - nearest) / 2) to the sums.

    query (d,), rows (d, LEAF), the others (LEAF,).
    """
    z[:] = -nearest
    for c in range(len(query)):
        q = query[c]
        line = rows[c]
        for i in range(LEAF):
            apart = q - line[i]
            z[i] += apart * apart
    for i in range(LEAF):
        z[i] *= -0.5
    exponentiate(z, powers, bits)
    for i in range(LEAF):
        sums[i] += weights[i] * z[i]


@kernel(
    "f8[:,:]",
    "f8[:,:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "f8",
    "out f8[:]",
)
def gaussian_sums(queries, rows, weights, lows, highs, mass, tol, found):
    """log sum_i weights[i] exp(-|q - row_i|^2 / 2) of each query q, with relative error `tol`.

    queries (m, d), the others as in `Leaves`. Leaves are told apart by how much farther than the
    nearest their boxes are: those of the first rings are summed; of the others as many as are
    needed for all that the rest can hold to be at most `tol` of that sum. NaN where even the sums
    relative to the nearest box are too small for floating point.
    """
    n_leaves = len(mass)
    gaps = np.empty(n_leaves)
    bounds = np.empty(n_leaves)
    leaf_powers = np.empty(n_leaves)
    leaf_bits = leaf_powers.view(np.int64)
    ring_of = np.empty(n_leaves, np.int32)
    held = np.empty(RINGS + 1)
    z = np.empty(LEAF)
    powers = np.empty(LEAF)
    bits = powers.view(np.int64)
    sums = np.empty(LEAF)
    for i in range(len(queries)):
        squared_gaps(queries[i], lows, highs, gaps)
        nearest = gaps.min()
        found[i] = np.nan
        if not nearest < 1e290:
            continue
        root = math.sqrt(nearest)
        for b in range(n_leaves):
            bounds[b] = -0.5 * (gaps[b] - nearest)
            ring_of[b] = np.int32(min((math.sqrt(gaps[b]) - root) / RING, float(RINGS)))
        exponentiate(bounds, leaf_powers, leaf_bits)
        held[:] = 0.0
        sums[:] = 0.0
        for b in range(n_leaves):
            if ring_of[b] < FIRST_RINGS:
                add_leaf(queries[i], rows[b], weights[b], nearest, z, powers, bits, sums)
            else:
                held[ring_of[b]] += mass[b] * bounds[b]
        total = sums.sum()
        if not total > LEAST_SUM:
            continue
        last = RINGS
        left_out = held[RINGS]
        while last >= FIRST_RINGS and left_out <= tol * total:
            last -= 1
            left_out += held[last]
        for b in range(n_leaves):
            if FIRST_RINGS <= ring_of[b] <= last:
                add_leaf(queries[i], rows[b], weights[b], nearest, z, powers, bits, sums)
        found[i] = math.log(sums.sum()) - 0.5 * nearest


@kernel(
    "f8[:,:]",
    "f8[:,:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "f8",
    "out f8[:]",
)
def far_sums(queries, rows, weights, lows, highs, mass, beyond, found):
    """As `gaussian_sums`, relative to the nearest row itself; a square counts as 1e300 at most.

    Rows whose squared distance is `beyond` more than that of the nearest are left out.
    """
    d = queries.shape[1]
    gaps = np.empty(len(mass))
    for i in range(len(queries)):
        squared_gaps(queries[i], lows, highs, gaps)
        least = np.inf
        for turn in range(2):
            total = 0.0
            for b in range(len(mass)):
                if min(gaps[b], 1e300) > (least + beyond if turn else least):
                    continue
                for j in range(LEAF):
                    squared = 0.0
                    for c in range(d):
                        apart = queries[i, c] - rows[b, c, j]
                        squared += apart * apart
                    squared = min(squared, 1e300)
                    if turn == 0 and weights[b, j] > 0:
                        least = min(least, squared)
                    elif turn == 1 and squared - least < beyond:
                        total += weights[b, j] * math.exp(-0.5 * (squared - least))
        found[i] = math.log(total) - 0.5 * least


@kernel(
    "f8[:,:]",
    "f8[:,:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "b1",
    "out f8[:]",
)
def compact_sums(queries, rows, weights, lows, highs, mass, flat, found):
    """log sum_i weights[i] prod_c K(q_c - row_ic), K one up to 1/2 (flat) or 1 - z^2 up to 1.

    queries (m, d), the others as in `Leaves`.
    """
    d = queries.shape[1]
    reach = 0.5 if flat else 1.0
    bumps = np.empty(LEAF)
    for i in range(len(queries)):
        total = 0.0
        for b in range(len(mass)):
            near = True
            for c in range(d):
                q = queries[i, c]
                near = near and lows[c, b] - q <= reach and q - highs[c, b] <= reach
            if not near:
                continue
            bumps[:] = weights[b]
            for c in range(d):
                q = queries[i, c]
                line = rows[b, c]
                for j in range(LEAF):
                    z = abs(q - line[j])
                    bump = 1.0 if flat else 1.0 - z * z
                    bumps[j] *= bump if z <= reach else 0.0
            total += bumps.sum()
        found[i] = math.log(total) if total > 0 else -np.inf
