"""k-means with two centers: a row's side is the sign of one product.

With w = c_1 - c_0, a row x is nearer to c_1 where its margin  |x - c_0|^2 - |x - c_1|^2 =
2 x.w + |c_0|^2 - |c_1|^2  is above zero: one product per row instead of two distances. When the
centers move, the margin changes by no more than that of a point s in the middle does, and
2 |x - s| |dw|. So a row whose margin is larger than all such changes since it was computed keeps
its side without another look. Margins that rounding could turn are settled by the distances
themselves, so that sides are those of the plain arithmetic; a row as near to both is on the side
of the first center.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.cluster.nearest import squared_distance, squared_length, vectorized
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.threads import Pace, in_order

# Above the rounding of sums of bounds, so that none is too tight.
BEYOND_ROUNDING = 1.0 + 1e-12
# Numbers of a chunk: eight megabytes, some tenths of a millisecond of a pass that looks at all.
CHUNK_NUMBERS, FEWEST_ROWS = 2**20, 256


class Line(NamedTuple):
    """The two centers, and the product that tells their sides.

    Attributes
    ----------
    points : ndarray of shape (2, d)
    shift : ndarray of shape (d,)
        A point in the middle of the rows.
    across : ndarray of shape (d,)
        w, twice the second center less the first.
    numbers : ndarray of shape (5,)
        What is added to x.w; the margin of the shift; how far that has moved in all, and w; the
        larger distance of a center to the shift.
    """

    points: Annotated[np.ndarray, "out f8[:,:]"]
    shift: Annotated[np.ndarray, "f8[:]"]
    across: Annotated[np.ndarray, "out f8[:]"]
    numbers: Annotated[np.ndarray, "out f8[:]"]

    @classmethod
    def between(cls, points: np.ndarray, shift: np.ndarray) -> Line:
        """Centres at these points."""
        line = cls(np.array(points, order="C"), shift, np.empty(len(shift)), np.zeros(5))
        draw_line(*line)
        line.numbers[2:4] = 0.0
        return line


class Known(NamedTuple):
    """What is known of some rows: which they are, their distance to the shift, side and mark.

    A side is -1 before the first pass. The margin exceeds what it was sure of as long as the
    movement of the line is below the mark.
    """

    which: Annotated[np.ndarray, "i8[:]"]
    radii: Annotated[np.ndarray, "f8[:]"]
    sides: Annotated[np.ndarray, "out i4[:]"]
    marks: Annotated[np.ndarray, "out f8[:]"]

    def part(self, here: slice) -> Known:
        return Known(*(each[here] for each in self))


class Sums(NamedTuple):
    """Of each side: rows, rows that left it, their weight, and weighted sum less the shift."""

    count: Annotated[np.ndarray, "out f8[:]"]
    left: Annotated[np.ndarray, "out f8[:]"]
    weight: Annotated[np.ndarray, "out f8[:]"]
    total: Annotated[np.ndarray, "out f8[:,:]"]

    @classmethod
    def zeros(cls, n_columns: int) -> Sums:
        return cls(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros((2, n_columns)))


class Halves(NamedTuple):
    """Two centers, the side of each row, and its squared distance to its center."""

    points: np.ndarray
    sides: np.ndarray
    squares: np.ndarray


def two_means(
    table: Any,
    which: np.ndarray,
    weights: np.ndarray,
    radii: np.ndarray,
    shift: np.ndarray,
    points: np.ndarray,
    max_iter: int,
    least_movement: float,
    n_jobs: int | None,
) -> Halves | None:
    """Lloyd's algorithm from two points on, for some rows of a table, in place.

    Parameters
    ----------
    table : ndarray or csr_array of shape (n, d)
        Dense rows are C-contiguous.
    which : ndarray of int of shape (m,)
        The rows, ascending.
    weights : ndarray of shape (n,)
    radii : ndarray of shape (m,)
        Distance of each row to the shift.
    shift : ndarray of shape (d,)
        A point in the middle of the rows.
    points : ndarray of shape (2, d)
    max_iter : int
    least_movement : float
        Ends when the centers' squared movement, summed, is no more.
    n_jobs : int or None
        The result does not depend on it.

    Returns
    -------
    halves : Halves or None
        None where the rows are all at one point, so far as rounding shows.
    """
    rows = RowsInParts(table, which, weights, radii, n_jobs)
    line = Line.between(points, shift)
    passes = 0
    while passes < max_iter:
        rows.forget()
        passes += rows.passes(line, max_iter - passes, least_movement)
        empty = rows.empty_side()
        if empty is None:
            rows.sum_anew(line)
            break
        squares = rows.squares_to(line.points[[1 - empty]], np.zeros(len(which), np.int32))
        farthest = rows.farthest(squares)
        if farthest is None:
            return None
        line.points[empty] = farthest
        line = Line.between(line.points, shift)
    rows.look(line)
    sides = rows.known.sides
    if not 0 < np.count_nonzero(sides) < len(which):
        return None
    return Halves(line.points, sides, rows.squares_to(line.points, sides))


class RowsInParts:
    """Rows of a table, looked at in chunks whose borders depend on the shape only."""

    def __init__(self, table, which, weights, radii, n_jobs):
        m, d = len(which), table.shape[1]
        self.table, self.weights, self.n_jobs = table, weights, n_jobs
        if sp.issparse(table):  # products round what the radii were computed from
            lengths = table.multiply(table).sum(axis=1)
            radii = np.sqrt(radii**2 + 1e-13 * np.asarray(lengths).ravel()[which])
        self.known = Known(which, radii, np.empty(m, np.int32), np.empty(m))
        self.sums = Sums.zeros(d)
        self.sparse = sp.issparse(table)
        size = m if self.sparse else max(CHUNK_NUMBERS // max(d, 1), FEWEST_ROWS)
        self.parts = [slice(start, start + size) for start in range(0, m, size)]
        self.pace = Pace()

    def forget(self) -> None:
        """Begin anew: no row has a side."""
        self.known.sides.fill(-1)
        self.known.marks.fill(-np.inf)
        for each in self.sums:
            each.fill(0.0)

    def empty_side(self) -> int | None:
        """The side that has no row."""
        empty = np.flatnonzero(self.sums.count == 0)
        return int(empty[0]) if len(empty) else None

    def passes(self, line: Line, most: int, least_movement: float) -> int:
        """Passes until the centers come to rest; how many. The last moves the centers too."""
        if len(self.parts) == 1 and not self.sparse:
            return run_passes(
                self.table, self.weights, line, self.known, self.sums, most, least_movement
            )
        for made in range(1, most + 1):
            self.look(line)
            if self.empty_side() is not None:
                move_held(line.points, line.shift, self.sums)
                return made
            if move_line(line, self.sums) <= least_movement:
                return made
        return most

    def sum_anew(self, line: Line) -> None:
        """Move the centers to the means of their sides where sums have lost so much that rounding
        could show."""
        if not (self.sums.left > self.sums.count).any():
            return
        sides = self.known.sides.copy()
        self.forget()
        for side in (0, 1):
            own = self.known.which[sides == side]
            part = np.asarray(self.table[own], dtype=np.float64) if not self.sparse else None
            heavy = self.weights[own]
            mean = heavy @ (self.table[own] if self.sparse else part - line.shift) / heavy.sum()
            line.points[side] = np.asarray(mean).ravel() + (0.0 if self.sparse else line.shift)
        self.known.sides[:] = sides
        move = Line.between(line.points, line.shift)
        line.across[:], line.numbers[:] = move.across, move.numbers

    def look(self, line: Line) -> None:
        """Find the side of every row, and take the changes of the sums in."""
        if self.sparse:
            look_at_sparse(self.table, self.weights, line, self.known, self.sums)
            return
        changes = [Sums.zeros(self.table.shape[1]) for _ in self.parts]

        def part(number: int) -> None:
            known = self.known.part(self.parts[number])
            look_at(self.table, self.weights, line, known, changes[number])

        for _ in in_order(part, range(len(self.parts)), self.n_jobs, short=True, pace=self.pace):
            pass
        for change in changes:
            for entry, addend in zip(self.sums, change):
                entry += addend

    def squares_to(self, points: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Of each row to the point of its side, squared."""
        squares = np.empty(len(sides))
        if self.sparse:
            return sparse_squares(self.table[self.known.which], points, sides)

        def part(here: slice) -> None:
            squares_to_own(self.table, self.known.which[here], points, sides[here], squares[here])

        for _ in in_order(part, self.parts, self.n_jobs, short=True):
            pass
        return squares

    def farthest(self, squares: np.ndarray) -> np.ndarray | None:
        """The row of the largest square, of equals the lexicographically smallest; None at zero."""
        most = squares.max()
        reach = float(self.known.radii.max())
        if most <= (16 * np.finfo(np.float64).eps * reach) ** 2:
            return None
        ties = self.table[self.known.which[squares == most]]
        ties = np.asarray(ties.toarray() if self.sparse else ties, dtype=np.float64)
        return ties[np.lexsort(ties.T[::-1])[0]]


def look_at_sparse(table, weights, line: Line, known: Known, sums: Sums) -> None:
    """`look_at` for sparse rows, by sparse products."""
    added, _, spent, turned, longest = line.numbers
    from_zero = float(np.linalg.norm(line.shift))
    moved = spent + 2.0 * known.radii * turned
    slack = slack_of(known.radii, longest, from_zero, table.shape[1])
    unsure = np.flatnonzero(known.marks <= moved * BEYOND_ROUNDING + slack)
    rows = table[known.which[unsure]]
    margins = np.asarray(rows @ line.across).ravel() + added
    sides = (margins > 0).astype(np.int32)
    close = np.flatnonzero(np.abs(margins) <= slack[unsure])
    if len(close):
        near = rows[close].toarray()
        gaps = [((near - point) ** 2).sum(axis=1) for point in line.points]
        sides[close] = gaps[1] < gaps[0]
    known.marks[unsure] = np.abs(margins) + moved[unsure]
    before = known.sides[unsure]
    known.sides[unsure] = sides
    heavy = weights[known.which[unsure]]
    for side in (0, 1):
        for changed, sign in ((sides, 1.0), (before, -1.0)):
            chosen = np.flatnonzero((changed == side) & (sides != before))
            weight = float(heavy[chosen].sum())
            sums.count[side] += sign * len(chosen)
            sums.left[side] += len(chosen) if sign < 0 else 0
            sums.weight[side] += sign * weight
            part = np.asarray(heavy[chosen] @ rows[chosen]).ravel() - weight * line.shift
            sums.total[side] += sign * part


def sparse_squares(rows, points: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Of each sparse row to the point of its side, squared."""
    lengths = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    products = np.asarray(rows @ points.T)[np.arange(len(sides)), sides]
    squares = lengths - 2.0 * products + np.einsum("kd,kd->k", points, points)[sides]
    return np.maximum(squares, 0.0)


@subkernel
def slack_of(radii, longest, from_zero, n_columns):
    """What rounding may add to a margin of rows at these distances of the shift."""
    reach = radii + longest
    return 8.0 * (n_columns + 8) * 2.3e-16 * reach * (reach + from_zero)


@vectorized
def product(a, b):
    """a.b. a, b (d,)."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@subkernel
def take_line(points, shift, across, numbers):
    """Fill `across` and the numbers for centers that have moved; see `Line`."""
    d = len(shift)
    turned = 0.0
    for j in range(d):
        new = 2.0 * (points[1, j] - points[0, j])
        turned += (new - across[j]) ** 2
        across[j] = new
    first, second = squared_distance(points[0], shift), squared_distance(points[1], shift)
    margin = first - second
    numbers[2] += abs(margin - numbers[1])
    numbers[3] += 0.5 * np.sqrt(turned)
    numbers[1] = margin
    numbers[0] = margin - product(across, shift)
    numbers[4] = np.sqrt(max(first, second))


@kernel("out f8[:,:]", "f8[:]", "out f8[:]", "out f8[:]")
def draw_line(points, shift, across, numbers):
    """`take_line` for Python."""
    take_line(points, shift, across, numbers)


@subkernel
def look_at_rows(table, weights, line, known, sums):
    """Find the side of each row and add what changes to the sums.

    table (n, d), weights (n,).
    """
    added, _, spent, turned, longest = line.numbers
    d = table.shape[1]
    from_zero = np.sqrt(squared_length(line.shift))
    for i in range(len(known.which)):
        radius = known.radii[i]
        moved = spent + 2.0 * radius * turned
        slack = slack_of(radius, longest, from_zero, d)
        if known.marks[i] > moved * BEYOND_ROUNDING + slack:
            continue
        row = table[known.which[i]]
        margin = product(row, line.across) + added
        side = 1 if margin > 0.0 else 0
        if abs(margin) <= slack:
            nearer = squared_distance(row, line.points[1]) < squared_distance(row, line.points[0])
            side = 1 if nearer else 0
        known.marks[i] = abs(margin) + moved
        before = known.sides[i]
        if side == before:
            continue
        known.sides[i] = side
        weight = weights[known.which[i]]
        sums.count[side] += 1.0
        sums.weight[side] += weight
        add_row(row, line.shift, weight, sums.total[side])
        if before >= 0:
            sums.count[before] -= 1.0
            sums.left[before] += 1.0
            sums.weight[before] -= weight
            add_row(row, line.shift, -weight, sums.total[before])


@subkernel
def add_row(row, shift, weight, total):
    """Add weight times the row less the shift. row, shift, total (d,)."""
    for j in range(len(row)):
        total[j] += weight * (row[j] - shift[j])


@kernel("f8|f4[:,:]", "f8[:]", Line, Known, Sums)
def look_at(table, weights, line, known, sums):
    """`look_at_rows` for Python."""
    look_at_rows(table, weights, line, known, sums)


@subkernel
def move_to_means(line, sums):
    """Move the centers to the means of their sides; returns their squared movement, summed."""
    movement = 0.0
    for side in range(2):
        for j in range(len(line.shift)):
            new = line.shift[j] + sums.total[side, j] / sums.weight[side]
            movement += (new - line.points[side, j]) ** 2
            line.points[side, j] = new
    take_line(line.points, line.shift, line.across, line.numbers)
    return movement


@kernel(Line, Sums)
def move_line(line, sums):
    """`move_to_means` for Python."""
    return move_to_means(line, sums)


@subkernel
def move_held_side(points, shift, sums):
    """Move the center of the side that holds all rows to their mean."""
    for side in range(2):
        if sums.count[side] > 0:
            for j in range(len(shift)):
                points[side, j] = shift[j] + sums.total[side, j] / sums.weight[side]


@kernel("out f8[:,:]", "f8[:]", Sums)
def move_held(points, shift, sums):
    """`move_held_side` for Python."""
    move_held_side(points, shift, sums)


@kernel("f8|f4[:,:]", "f8[:]", Line, Known, Sums, "i8", "f8")
def run_passes(table, weights, line, known, sums, most, least_movement):
    """Passes until the centers come to rest or a side is empty; returns how many."""
    changes = Sums(np.empty(2), np.empty(2), np.empty(2), np.empty(sums.total.shape))
    for made in range(1, most + 1):
        changes.count[:], changes.left[:], changes.weight[:] = 0.0, 0.0, 0.0
        changes.total[:] = 0.0
        look_at_rows(table, weights, line, known, changes)
        sums.count[:] += changes.count
        sums.left[:] += changes.left
        sums.weight[:] += changes.weight
        sums.total[:] += changes.total
        if sums.count.min() == 0.0:
            move_held_side(line.points, line.shift, sums)
            return made
        if move_to_means(line, sums) <= least_movement:
            return made
    return most


@kernel("f8|f4[:,:]", "i8[:]", "f8[:,:]", "i4[:]", "out f8[:]")
def squares_to_own(table, which, points, sides, squares):
    """Of each row to the point of its side, squared. table (n, d), points (k, d), the rest (m,)."""
    for i in range(len(which)):
        squares[i] = squared_distance(table[which[i]], points[sides[i]])
