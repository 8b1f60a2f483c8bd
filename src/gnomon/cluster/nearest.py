"""The nearest centre of each row: a matrix product per block of rows, and one fused kernel.

|x - c|^2 = |u|^2 - 2 u.v + |v|^2 with u = x - s, v = c - s for a fixed shift s in the middle of the
data: the product is BLAS's, and little cancels (2 x.v less 2 s.v is as good, where rows need not be
copied). The distance to the nearest centre is then computed again from the difference x - c itself,
and so are all distances of a row whose two nearest centres differ by less than rounding can hide.
So labels and distances are those of the plain arithmetic: they depend neither on BLAS nor on the
rows that stand beside, and rows of float32 may be multiplied in float32.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.kernel import kernel, lean_subkernel, subkernel

BLOCK_CELLS = 2**15  # 256 kB of values and products, which fit in the second-level cache
# Sums in the order in which the processor adds several at once: of a few columns a tenth of the
# time of sums in the order of the columns, and the same bits wherever they are computed.
vectorized = partial(lean_subkernel, reordered=True)
LANES = 32  # a multiple of every vector's length (8 numbers with AVX-512)


class Centers(NamedTuple):
    """Centres, prepared for the product with rows.

    Attributes
    ----------
    points : ndarray of shape (k, d)
        The centres, in the coordinates of the rows.
    shift : ndarray of shape (d,)
    factors : ndarray of shape (k, d)
        Minus twice the centres less the shift.
    squares : ndarray of shape (k,)
        Squared lengths of the centres less the shift.
    """

    points: Annotated[np.ndarray, "f8[:,:]"]
    shift: Annotated[np.ndarray, "f8[:]"]
    factors: Annotated[np.ndarray, "f8[:,:]"]
    squares: Annotated[np.ndarray, "f8[:]"]

    @classmethod
    def at(cls, points: np.ndarray, shift: np.ndarray) -> Centers:
        """Centres at these points, for rows around the shift."""
        shifted = points - shift
        squares = np.einsum("kd,kd->k", shifted, shifted)
        return cls(np.ascontiguousarray(points), shift, -2.0 * shifted, squares)


class Nearest(NamedTuple):
    """What is known of the rows of a chunk.

    Attributes
    ----------
    labels : ndarray of int32
        The nearest centre.
    squared : ndarray
        Squared distance to it.
    lower : ndarray
        A lower bound of the distance to every other centre.
    """

    labels: np.ndarray
    squared: np.ndarray
    lower: np.ndarray

    @classmethod
    def of(cls, n_rows: int) -> Nearest:
        return cls(np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_rows))


@subkernel
def rows_per_block(n_rows, n_columns, n_centers):
    """Rows whose values and products stay in the second-level cache; a multiple of the lanes."""
    fitting = BLOCK_CELLS // (n_columns + n_centers)
    return LANES * max(min(fitting, n_rows + LANES - 1) // LANES, 1)


def find_nearest(rows: Any, centers: Centers, found: Nearest) -> Nearest:
    """Fill `found` for all rows, dense or sparse."""
    if not isinstance(rows, np.ndarray) and sp.issparse(rows):
        return find_nearest_of_sparse(rows, centers, found)
    everywhere = np.arange(len(rows))
    fill_nearest(rows, everywhere, *centers, *found)
    return found


def find_nearest_of_sparse(rows: Any, centers: Centers, found: Nearest) -> Nearest:
    """Fill `found` for sparse rows, by a sparse product; made dense are rows that are hard to tell.

    Squared distances are those of the product.
    """
    products = rows @ centers.factors.T
    entries = SparseRows.of(rows)
    behind = centers.squares - centers.factors @ centers.shift
    settle_sparse(entries, centers, np.ascontiguousarray(products), behind, *found)
    return found


class SparseRows(NamedTuple):
    """The entries of sparse rows, row by row."""

    values: Annotated[np.ndarray, "f8[:]"]
    columns: Annotated[np.ndarray, "i8[:]"]
    starts: Annotated[np.ndarray, "i8[:]"]

    @classmethod
    def of(cls, rows: Any) -> SparseRows:
        indices, starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        return cls(rows.data, indices, starts)


@vectorized
def squared_length(y):
    """|y|^2. y (d,)."""
    total = 0.0
    for j in range(len(y)):
        total += y[j] * y[j]
    return total


@vectorized
def squared_distance(a, b):
    """|a - b|^2. a, b (d,)."""
    total = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        total += difference * difference
    return total


@subkernel
def gather_shifted(rows, which, shift, block):
    """block[i] = rows[which[i]] - shift. rows (n, d), block (m, d)."""
    for i in range(len(which)):
        row = rows[which[i]]
        for j in range(len(shift)):
            block[i, j] = row[j] - shift[j]


class Compared(NamedTuple):
    """A block of rows: the least and the second of what the products give, and where it is."""

    best: np.ndarray
    second: np.ndarray
    label: np.ndarray


@subkernel
def two_smallest(products, squares, compared):
    """The two smallest of products[c, i] + squares[c] over c, for each i. products (k, m).

    The inner loop runs over rows without branches, so that it becomes vector instructions.
    """
    best, second, label = compared
    k, m = products.shape
    for i in range(m):
        best[i] = products[0, i] + squares[0]
        second[i] = np.inf
        label[i] = 0
    for c in range(1, k):
        square = squares[c]
        for i in range(m):
            value = products[c, i] + square
            old = best[i]
            runner = second[i]
            better = value < old
            loser = old if better else value
            best[i] = value if better else old
            label[i] = c if better else label[i]
            second[i] = loser if loser < runner else runner


@subkernel
def two_nearest(row, points):
    """The nearest point (of equals the first), its squared distance, and the second smallest."""
    own = 0
    least = squared_distance(row, points[0])
    second = np.inf
    for c in range(1, len(points)):
        distance = squared_distance(row, points[c])
        if distance < least:
            own, least, second = c, distance, least
        elif distance < second:
            second = distance
    return own, least, second


@subkernel
def settle(rows, which, centers, rounding, compared, lengths, labels, squared, lower):
    """Write label, squared distance and lower bound of each row of a block to its position.

    The squared distance is computed from the difference; so is all else where the two smallest are
    nearer to each other than rounding of the products can tell. Where `lengths` (n,), squared
    distances to the shift, are given, a squared distance is an upper bound, from the products.
    rows (n, d), which (m,), labels, squared, lower (n,).
    """
    points, longest = centers.points, np.sqrt(centers.squares.max())
    from_zero = np.sqrt(squared_length(centers.shift))
    for i in range(len(which)):
        position = which[i]
        own = compared.label[i]
        gap = compared.second[i] - compared.best[i]
        if len(lengths):
            reach = np.sqrt(lengths[position]) + longest
            slack = rounding * reach * (reach + from_zero)
            least = max(compared.best[i] + lengths[position], 0.0) + slack
        else:
            least = squared_distance(rows[position], points[own])
            reach = np.sqrt(least) + 2.0 * longest
            slack = rounding * reach * (reach + from_zero)
        other = least + gap - 2.0 * slack
        if not gap > slack:
            own, least, other = two_nearest(rows[position], points)
            other -= slack
        labels[position] = own
        squared[position] = least
        lower[position] = np.sqrt(other) if other > 0.0 else 0.0


@subkernel
def nearest_of(rows, which, centers, lengths, labels, squared, lower):
    """Label, squared distance and lower bound of the rows at the positions `which`, ascending.

    Block by block, without ever giving the interpreter its lock back: threads that ask for it many
    times a millisecond wait for each other. float64 rows that stand together are multiplied where
    they are; those of float32 less the shift, so that rounding stays that of the distances.
    rows (n, d), which (m,), lengths (n,) or empty as in `settle`, labels, squared, lower (n,).
    """
    points, shift, factors, squares = centers
    m, k, d = len(which), len(points), rows.shape[1]
    if m == 0:
        return
    size = rows_per_block(m, d, k)
    single = rows.itemsize == 4
    rounding = 4.0 * (d + 8) * (1.2e-7 if single else 2.3e-16)
    block = np.empty((0, d), rows.dtype)
    own_factors = np.empty((k, d), rows.dtype)
    own_factors[:] = factors
    products = np.empty((k, size), rows.dtype)
    behind = np.zeros(k)
    for c in range(k):
        behind[c] = squares[c]
        for j in range(d):
            behind[c] -= factors[c, j] * shift[j]
    compared = Compared(np.empty(size), np.empty(size), np.empty(size, np.int64))
    for start in range(0, m, size):
        some = which[start : start + size]
        n_some = len(some)
        first = some[0]
        here = products if n_some == size else np.empty((k, n_some), rows.dtype)
        if not single and some[n_some - 1] - first == n_some - 1:
            np.dot(own_factors, rows[first : first + n_some].T, here)
            two_smallest(here, behind, compared)
        else:
            if len(block) != n_some:
                block = np.empty((n_some, d), rows.dtype)
            gather_shifted(rows, some, shift, block)
            np.dot(own_factors, block.T, here)
            two_smallest(here, squares, compared)
        settle(rows, some, centers, rounding, compared, lengths, labels, squared, lower)


@kernel(
    "f8|f4[:,:]",
    "i8[:]",
    "f8[:,:]",
    "f8[:]",
    "f8[:,:]",
    "f8[:]",
    "out i4[:]",
    "out f8[:]",
    "out f8[:]",
)
def fill_nearest(rows, which, points, shift, factors, squares, labels, squared, lower):
    """`nearest_of` for Python."""
    centers = Centers(points, shift, factors, squares)
    nearest_of(rows, which, centers, np.empty(0), labels, squared, lower)


@kernel(
    SparseRows,
    Centers,
    "f8[:,:]",
    "f8[:]",
    "out i4[:]",
    "out f8[:]",
    "out f8[:]",
)
def settle_sparse(entries, centers, products, behind, labels, squared, lower):
    """Label, squared distance and lower bound of sparse rows from their products with centers.

    products (n, k), behind (k,): what is added to them; labels, squared, lower (n,).
    """
    points, shift = centers.points, centers.shift
    n, k = products.shape
    longest, from_zero = np.sqrt(centers.squares.max()), np.sqrt(squared_length(shift))
    rounding = 4.0 * (len(shift) + 8) * 2.3e-16
    row = np.zeros(len(shift))
    for i in range(n):
        best, second, own = np.inf, np.inf, 0
        for c in range(k):
            value = products[i, c] + behind[c]
            if value < best:
                best, second, own = value, best, c
            elif value < second:
                second = value
        length = from_zero * from_zero
        for e in range(entries.starts[i], entries.starts[i + 1]):
            x, s = entries.values[e], shift[entries.columns[e]]
            length += x * (x - 2.0 * s)
        length = max(length, 0.0)
        reach = np.sqrt(length) + longest
        slack = rounding * reach * (reach + from_zero)
        least, other = max(best + length, 0.0), second + length
        if not second - best > slack:
            for e in range(entries.starts[i], entries.starts[i + 1]):
                row[entries.columns[e]] += entries.values[e]
            own, least, other = two_nearest(row, points)
            for e in range(entries.starts[i], entries.starts[i + 1]):
                row[entries.columns[e]] = 0.0
        other -= slack
        labels[i] = own
        squared[i] = least
        lower[i] = np.sqrt(other) if other > 0.0 else 0.0


@kernel("f8|f4[:,:]", "f8[:,:]", "out f8[:,:]")
def all_distances(rows, centers, distances):
    """Distance of every row to every centre, from the differences. rows (n, d), centres (k, d)."""
    for i in range(len(rows)):
        for c in range(len(centers)):
            distances[i, c] = np.sqrt(squared_distance(rows[i], centers[c]))
