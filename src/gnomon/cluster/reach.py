"""Rows within a radius of each other in many columns, where no box of rows can be left out.

Products of matrices in single precision give |x|^2 + |y|^2 - 2 x'y with a bound of its error. Pairs
that are surely beyond the radius or surely within it are settled by that; the few between are
compared in double precision, in the order of columns, so that what is found is what comparing all
pairs would find. No list of pairs is kept, and products are made only where they can change
something: not between rows that are known to be dense, or to belong together.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.cluster.boxes import squared_between
from gnomon.cluster.cells import top
from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.threads import in_order

ROWS_AT_ONCE = 256  # rows of a block of products; see below
# Rows that a block is multiplied with at once: the products, half a megabyte, stay in the cache.
OTHERS_AT_ONCE = 512
STRIP = 64
SINGLE = 2.0**-24
# Lengths, in units of the largest number, beyond which single precision says nothing.
FAR = 1e24


class Bounds(NamedTuple):
    """Rows and what bounds their distances, once centred and scaled.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    lengths : ndarray of shape (n,)
        Squared lengths, centred and scaled.
    share : float
        By what share of the squared lengths a squared distance may be wrong.
    squared : float
        The squared radius in units of the rows.
    scaled : float
        The squared radius in units of the products.
    """

    rows: Annotated[np.ndarray, "f8[:,:]"]
    lengths: Annotated[np.ndarray, "f4[:]"]
    share: Annotated[float, "f8"]
    squared: Annotated[float, "f8"]
    scaled: Annotated[float, "f8"]


class Reach:
    """Rows, made ready for questions about all pairs within a radius.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    radius : float
    """

    def __init__(self, rows: np.ndarray, radius: float):
        self.center = rows[:: max(len(rows) // 512, 1)].mean(axis=0)
        largest = max(
            (np.abs(rows[part] - self.center).max(initial=0.0) for part in _parts(len(rows))),
            default=0.0,
        )
        self.factor = 2.0 ** -np.clip(np.frexp(largest)[1], -480, 480)
        squared = float(radius) * float(radius)
        # (d + 2) 2^-24 of |x| |y| is the error of a product, and 2 |x| |y| is at most the sum of
        # the squared lengths: twice what is needed
        share = (rows.shape[1] + 8) * 2 * SINGLE
        self.single, lengths = self._scaled(rows)
        self.bounds = Bounds(rows, lengths, share, squared, squared * self.factor**2)

    def _scaled(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows in single precision, centred and scaled, and their squared lengths."""
        single, lengths = np.empty(rows.shape, np.float32), np.empty(len(rows), np.float32)
        for part in _parts(len(rows)):
            scaled = (rows[part] - self.center) * self.factor
            squares = np.einsum("ij,ij->i", scaled, scaled)
            far = ~(squares < FAR)
            scaled[far], squares[far] = 0.0, np.inf
            single[part], lengths[part] = scaled, squares
        return single, lengths

    def of(self, kept: np.ndarray) -> Reach:
        """The same of some of the rows."""
        some: Reach = object.__new__(Reach)
        some.center, some.factor, some.single = self.center, self.factor, self.single[kept]
        rows, lengths = self.bounds.rows[kept], self.bounds.lengths[kept]
        some.bounds = self.bounds._replace(rows=rows, lengths=lengths)
        return some

    def dense(self, weights: np.ndarray, enough: float, n_jobs: int | None) -> np.ndarray:
        """Which rows have enough weight within the radius, their own counted."""
        n = len(self.single)
        total = np.zeros(n)

        def count(own: slice) -> tuple[int, np.ndarray]:
            found = np.zeros(n - own.start)
            for other in _parts(n, OTHERS_AT_ONCE, own.start):
                inside, there = found[: own.stop - own.start], total[other]
                if inside.min() >= enough and there.min() >= enough:
                    continue
                products = np.dot(self.single[own], self.single[other].T)
                count_of_products(
                    products, own.start, other.start, self.bounds, weights, enough, total, found
                )
            return own.start, found

        for start, found in in_order(count, _parts(n), n_jobs, short=True):
            total[start:] += found
        return total >= enough

    def groups(self, n_jobs: int | None) -> np.ndarray:
        """For each row the first of those that it is connected with by steps within the radius."""
        n = len(self.single)
        above = np.arange(n)

        def join(own: slice) -> np.ndarray:
            # links go to earlier rows of the same group only, so that a copy made while others are
            # entered is right too
            found = above.copy()
            for other in _parts(n, OTHERS_AT_ONCE, own.start):
                if in_one_group(found, own.start, own.stop, other.start, other.stop):
                    continue
                products = np.dot(self.single[own], self.single[other].T)
                join_of_products(products, own.start, other.start, self.bounds, found)
            return found

        for found in in_order(join, _parts(n), n_jobs, short=True):
            join_groups(found, above)
        return above

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The nearest row within the radius of each point, of equals the first; -1 for none."""
        found, least = np.full(len(points), -1), np.full(len(points), self.bounds.squared)
        for some in _parts(len(points)):
            single, lengths = self._scaled(points[some])
            for other in _parts(len(self.single), OTHERS_AT_ONCE):
                products = np.dot(single, self.single[other].T)
                nearest_of_products(
                    products,
                    other.start,
                    self.bounds,
                    points[some],
                    lengths,
                    self.factor**2,
                    found[some],
                    least[some],
                )
        return found


def _parts(n: int, size: int = ROWS_AT_ONCE, first: int = 0):
    return (slice(start, min(start + size, n)) for start in range(first, n, size))


@lean_subkernel
def limit_of(scaled, length, share):
    """Beyond what -2 x'y + |y|^2 (1 - share) a row is surely out of reach of one of this length."""
    if length == np.inf:
        return np.float32(np.inf)
    return np.float32(scaled * (1.0 + 1e-6) - length * (1.0 - share) + 1e-30)


@lean_subkernel
def any_below(line, lengths, factor, limit):
    """Whether a sum of -2 line + factor lengths is not above a limit; many at once."""
    count = np.int32(0)
    for j in range(len(line)):
        if factor * lengths[j] - np.float32(2.0) * line[j] <= limit:
            count += np.int32(1)
    return count > 0


@lean_subkernel
def is_within(one, other, product, lengths, share, scaled, squared):
    """Whether a pair that may be within reach is; `lengths` is the sum of the squared ones."""
    if lengths * (1.0 + share) - 2.0 * product + 1e-30 <= scaled * (1.0 - 1e-6):
        return True
    return squared_between(one, other) <= squared


@kernel("f4[:,:]", "i8", "i8", Bounds, "f8[:]", "f8", "f8[:]", "out f8[:]")
def count_of_products(products, first, start, bounds, weights, enough, total, found):
    """Add the weights of pairs within reach of rows first ... and rows start ... >= first.

    products (m, k), weights and total (n,), found (n - first,): what these rows add. Rows that
    have enough by `total` or `found` need no more.
    """
    rows, lengths, share, squared, scaled = bounds
    factor = np.float32(1.0 - share)
    k = products.shape[1]
    for i in range(len(products)):
        own = first + i
        line, limit = products[i], limit_of(scaled, lengths[own], share)
        for begin in range(0, k, STRIP):
            end = min(begin + STRIP, k)
            if start + end <= own:
                continue
            if not any_below(line[begin:end], lengths[start + begin : start + end], factor, limit):
                continue
            for j in range(max(begin, own - start), end):
                other = start + j
                if not factor * lengths[other] - np.float32(2.0) * line[j] <= limit:
                    continue
                if found[i] >= enough and total[other] >= enough:
                    continue
                if other == own:
                    found[i] += weights[own]
                elif is_within(
                    rows[own], rows[other], line[j], lengths[own] + lengths[other], share, scaled,
                    squared,
                ):  # fmt: skip
                    found[i] += weights[other]
                    found[other - first] += weights[own]


@kernel("out i8[:]", "i8", "i8", "i8", "i8")
def in_one_group(above, first, last, start, stop):
    """Whether the rows first ... last - 1 and start ... stop - 1 are in one group. above (n,)."""
    group = top(above, first)
    apart = 0
    for i in range(first, last):
        apart += top(above, i) != group
    for i in range(start, stop):
        apart += top(above, i) != group
    return apart == 0


@kernel("f4[:,:]", "i8", "i8", Bounds, "out i8[:]")
def join_of_products(products, first, start, bounds, above):
    """Join the groups of pairs within reach. products (m, k) as above, above (n,)."""
    rows, lengths, share, squared, scaled = bounds
    factor = np.float32(1.0 - share)
    k = products.shape[1]
    for i in range(len(products)):
        own = first + i
        line, limit = products[i], limit_of(scaled, lengths[own], share)
        for begin in range(0, k, STRIP):
            end = min(begin + STRIP, k)
            if start + end <= own + 1:
                continue
            if not any_below(line[begin:end], lengths[start + begin : start + end], factor, limit):
                continue
            for j in range(max(begin, own + 1 - start), end):
                other = start + j
                if not factor * lengths[other] - np.float32(2.0) * line[j] <= limit:
                    continue
                one, two = top(above, own), top(above, other)
                if one != two and is_within(
                    rows[own], rows[other], line[j], lengths[own] + lengths[other], share, scaled,
                    squared,
                ):  # fmt: skip
                    above[max(one, two)] = min(one, two)


@kernel("i8[:]", "out i8[:]")
def join_groups(found, above):
    """Join what is joined in `found`; each row then points to the first of its group. Both (n,)."""
    for i in range(len(above)):
        if found[i] != i:
            one, two = top(above, i), top(above, found[i])
            if one != two:
                above[max(one, two)] = min(one, two)
    for i in range(len(above)):
        above[i] = top(above, i)


@kernel(
    "f4[:,:]", "i8", Bounds, "f8[:,:]", "f4[:]", "f8", "out i8[:]", "out f8[:]"
)  # fmt: skip
def nearest_of_products(products, start, bounds, points, own_lengths, unit, found, least):
    """Let rows start ... compete for the nearest of each point. products (m, k).

    points (m, d) with scaled squared lengths (m,); found and least (m,) hold the best so far, the
    least squared distance; `unit` squared units of the products make one of the rows.
    """
    rows, lengths, share = bounds.rows, bounds.lengths, bounds.share
    factor = np.float32(1.0 - share)
    k = products.shape[1]
    for i in range(len(products)):
        line, limit = products[i], limit_of(least[i] * unit, own_lengths[i], share)
        for begin in range(0, k, STRIP):
            end = min(begin + STRIP, k)
            if not any_below(line[begin:end], lengths[start + begin : start + end], factor, limit):
                continue
            for j in range(begin, end):
                if not factor * lengths[start + j] - np.float32(2.0) * line[j] <= limit:
                    continue
                distance = squared_between(points[i], rows[start + j])
                if distance < least[i] or (found[i] < 0 and distance <= least[i]):
                    found[i], least[i] = start + j, distance
                    limit = limit_of(distance * unit, own_lengths[i], share)
