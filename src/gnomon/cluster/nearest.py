"""The nearest centre of each row: a matrix product per block of rows, and one fused kernel.

|x - c|^2 = |u|^2 - 2 u.v + |v|^2 with u = x - s, v = c - s for a fixed shift s in the middle of the
data: the product is BLAS's, and little cancels. The distance to the nearest centre is then computed
again from the difference x - c itself, and so are all distances of a row whose two nearest centres
differ by less than rounding can hide. So labels and distances are those of the plain arithmetic:
they depend neither on BLAS nor on the rows that stand beside.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

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


def find_nearest(rows: np.ndarray, centers: Centers, found: Nearest) -> Nearest:
    """Fill `found` for all rows."""
    everywhere = np.arange(len(rows))
    fill_nearest(rows, everywhere, *centers, *found)
    return found


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
def gather_shifted(rows, which, shift, block, lengths):
    """block[i] = rows[which[i]] - shift and its squared length. rows (n, d), block (m, d)."""
    for i in range(len(which)):
        row = rows[which[i]]
        for j in range(len(shift)):
            block[i, j] = row[j] - shift[j]
        lengths[i] = squared_length(block[i])


@subkernel
def two_smallest(products, squares, best, second, label):
    """The two smallest of products[c, i] + squares[c] over c, for each i. products (k, m).

    The inner loop runs over rows without branches, so that it becomes vector instructions.
    """
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
def settle(
    rows,
    which,
    points,
    longest,
    from_zero,
    lengths,
    best,
    second,
    label,
    labels,
    squared,
    lower,
):
    """Write label, squared distance and lower bound of each row of a block to its position.

    The squared distance is computed from the difference; so is all else where the two smallest are
    nearer to each other than rounding of the products can tell. rows (n, d), points (k, d), which,
    lengths, best, second, label of one block, labels, squared, lower (n,).
    """
    rounding = 4.0 * (rows.shape[1] + 8) * 2.3e-16
    for i in range(len(which)):
        position = which[i]
        own = label[i]
        reach = np.sqrt(lengths[i]) + longest
        slack = rounding * reach * (reach + from_zero)
        if second[i] - best[i] > slack:
            least = squared_distance(rows[position], points[own])
            other = second[i] + lengths[i] - slack
        else:
            own, least, other = two_nearest(rows[position], points)
            other -= slack
        labels[position] = own
        squared[position] = least
        lower[position] = np.sqrt(other) if other > 0.0 else 0.0


@subkernel
def nearest_of(rows, which, points, shift, factors, squares, labels, squared, lower):
    """Label, squared distance and lower bound of the rows at the positions `which`.

    Block by block, without ever giving the interpreter its lock back: threads that ask for it many
    times a millisecond wait for each other. rows (n, d), which (m,), points and factors (k, d),
    shift (d,), squares (k,), labels, squared, lower (n,).
    """
    m, k, d = len(which), len(points), rows.shape[1]
    size = rows_per_block(m, d, k)
    block, products = np.zeros((size, d)), np.empty((k, size))
    lengths, best, second = np.zeros(size), np.empty(size), np.empty(size)
    label = np.empty(size, np.int64)
    longest, from_zero = np.sqrt(squares.max()), np.sqrt(squared_length(shift))
    for start in range(0, m, size):
        some = which[start : start + size]
        gather_shifted(rows, some, shift, block, lengths)
        np.dot(factors, block.T, products)
        two_smallest(products, squares, best, second, label)
        settle(
            rows,
            some,
            points,
            longest,
            from_zero,
            lengths,
            best,
            second,
            label,
            labels,
            squared,
            lower,
        )


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
    nearest_of(rows, which, points, shift, factors, squares, labels, squared, lower)


@kernel("f8|f4[:,:]", "f8[:,:]", "out f8[:,:]")
def all_distances(rows, centers, distances):
    """Distance of every row to every centre, from the differences. rows (n, d), centres (k, d)."""
    for i in range(len(rows)):
        for c in range(len(centers)):
            distances[i, c] = np.sqrt(squared_distance(rows[i], centers[c]))
