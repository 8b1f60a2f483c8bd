"""Rows of up to three columns in the cells of a lattice, swept in order: neighbours without search.

A cell is at most eps across, so rows within eps of each other are at most two cells apart in every
column. Cells are sorted by their keys, of which the last column counts fastest: those that can
hold neighbours lie in 5^(d - 1) stretches, and as the sweep goes on each stretch only moves on. So
one pointer for each replaces trees and hash tables.

Reference: Gan and Tao (2015); 001 22.
"""

from __future__ import annotations

from itertools import product
from typing import Annotated, NamedTuple

import numpy as np

from gnomon.cluster.boxes import (
    DEEPEST,
    Boxes,
    fill_boxes,
    least_between,
    least_squared,
    most_squared,
    nearest_within,
    squared_between,
)
from gnomon.engine.kernel import kernel, subkernel

MOST_COLUMNS = 3  # a cell has 5^(d-1) lines of cells beside it: 25 in three columns, 125 in four
MOST_CELLS = 2.0**62  # numbers of cells are int64, with room for the cells beside
BESIDE = 2  # a side is eps / sqrt(d), so up to three columns rows in reach are at most 2 cells off
ROWS_AT_ONCE = 2**14  # judgement: milliseconds of work for a thread
# Rows of a cell from which a look at its box is worth its time.
WORTH_A_BOX = 8
# Rows of a stretch of cells that are compared without a look at the cells.
FEW_ROWS = 32
# Pairs of rows of two cells from which a tree finds sooner whether any is close.
WORTH_A_TREE = 2**14


class Grid(NamedTuple):
    """Cells that hold rows, in the order of their keys.

    Attributes
    ----------
    keys : ndarray of shape (m,)
        Of the cells, ascending.
    start : ndarray of shape (m + 1,)
        The first row of each cell.
    low, high : ndarray of shape (m, d)
        The bounding box of its rows.
    stretches : ndarray of shape (5^(d - 1),)
        What to add to a key to come to each stretch of neighbours; the cell's own first.
    """

    keys: Annotated[np.ndarray, "i8[:]"]
    start: Annotated[np.ndarray, "i8[:]"]
    low: Annotated[np.ndarray, "f8[:,:]"]
    high: Annotated[np.ndarray, "f8[:,:]"]
    stretches: Annotated[np.ndarray, "i8[:]"]


class Lattice(NamedTuple):
    """Rows in the order of their cells.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    order : ndarray of shape (n,)
        Where each of them stood in the table.
    grid : Grid
    """

    rows: np.ndarray
    order: np.ndarray
    grid: Grid

    def columns(self) -> np.ndarray:
        """The rows as three columns (3, n); zeros where they have fewer."""
        columns = np.zeros((MOST_COLUMNS, len(self.rows)))
        columns[: self.rows.shape[1]] = self.rows.T
        return columns

    def stretches_of_work(self) -> list[tuple[int, int]]:
        """Cells first .. last of about as many rows each."""
        shares = range(0, len(self.rows), ROWS_AT_ONCE)
        cuts = np.unique(np.searchsorted(self.grid.start[:-1], shares))
        return list(zip(cuts.tolist(), [*cuts[1:].tolist(), len(self.grid.keys)]))


def lattice(rows: np.ndarray, eps: float) -> Lattice | None:
    """The cells of rows; None where a lattice of so many columns or cells is not to be had."""
    n, d = rows.shape
    if d > MOST_COLUMNS or not 0 < eps < np.inf:
        return None
    side = eps / np.sqrt(d) * (1 - 1e-9)
    least = rows.min(axis=0)
    across = (rows.max(axis=0) - least) / side + 2 * BESIDE + 1
    with np.errstate(over="ignore"):
        n_cells = np.prod(across)
    if not n_cells < MOST_CELLS or not (across < 2.0**50).all():
        return None
    counts = np.ceil(across).astype(np.int64)
    steps = np.append(np.cumprod(counts[:0:-1])[::-1], 1)
    keys = ((rows - least) / side).astype(np.int64) @ steps
    order = np.argsort(keys)
    keys = keys[order]
    start = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), n)
    ordered = np.ascontiguousarray(rows[order])
    low = np.minimum.reduceat(ordered, start[:-1])
    high = np.maximum.reduceat(ordered, start[:-1])
    beside = sorted(product(range(-BESIDE, BESIDE + 1), repeat=d - 1), key=np.linalg.norm)
    stretches = np.array([int(np.dot(each, steps[:-1])) for each in beside], dtype=np.int64)
    return Lattice(ordered, order, Grid(keys[start[:-1]], start, low, high, stretches))


@subkernel
def first_at(keys, key):
    """The first cell whose key is not below a key."""
    return np.searchsorted(keys, key)


@subkernel
def moved_on(keys, cell, key):
    """The first cell, from a cell on, whose key is not below a key."""
    while cell < len(keys) and keys[cell] < key:
        cell += 1
    return cell


@subkernel
def weight_of_few(point, columns, weights, begin, end, squared):
    """Weight of the rows begin .. end within reach of a point: no branches. columns (3, n)."""
    x, y, z = columns[0], columns[1], columns[2]
    total = 0.0
    for i in range(begin, end):
        a, b, c = x[i] - point[0], y[i] - point[1], z[i] - point[2]
        total += weights[i] if a * a + b * b + c * c <= squared else 0.0
    return total


@subkernel
def weight_of_cell(point, columns, weights, before, begin, end, low, high, squared):
    """Weight of the rows of a cell within reach of a point; its box may tell at once."""
    if end - begin >= WORTH_A_BOX:
        if least_squared(point[: len(low)], low, high) > squared:
            return 0.0
        if most_squared(point[: len(low)], low, high) <= squared:
            return before[end] - before[begin]
    return weight_of_few(point, columns, weights, begin, end, squared)


@kernel("i8", "i8", "f8[:,:]", "f8[:]", "f8[:]", Grid, "f8", "f8", "out b1[:]")
def cores_of_cells(first, last, columns, weights, before, grid, squared, enough, core):
    """Mark the core rows of the cells first .. last.

    columns (3, n), zero where rows have fewer, weights (n,) and cumulated before (n + 1,), core
    (n,). Few rows of a stretch are compared at once, many cell by cell.
    """
    keys, start, low, high, stretches = grid
    n_stretches = len(stretches)
    at, past = np.empty(n_stretches, np.int64), np.empty(n_stretches, np.int64)
    for s in range(n_stretches):
        at[s] = past[s] = first_at(keys, keys[first] + stretches[s] - BESIDE)
    point = np.empty(3)
    for cell in range(first, last):
        begin, end = start[cell], start[cell + 1]
        dense = before[end] - before[begin] >= enough
        if dense and squared_across(low[cell], high[cell]) <= squared:
            core[begin:end] = True
            continue
        for s in range(n_stretches):
            at[s] = moved_on(keys, at[s], keys[cell] + stretches[s] - BESIDE)
            past[s] = moved_on(keys, max(past[s], at[s]), keys[cell] + stretches[s] + BESIDE + 1)
        for i in range(begin, end):
            for j in range(3):
                point[j] = columns[j, i]
            total = 0.0
            for s in range(n_stretches):
                if at[s] == past[s]:
                    continue
                if start[past[s]] - start[at[s]] <= FEW_ROWS:
                    total += weight_of_few(
                        point, columns, weights, start[at[s]], start[past[s]], squared
                    )
                else:
                    for other in range(at[s], past[s]):
                        total += weight_of_cell(
                            point,
                            columns,
                            weights,
                            before,
                            start[other],
                            start[other + 1],
                            low[other],
                            high[other],
                            squared,
                        )
                        if total >= enough:
                            break
                if total >= enough:
                    break
            core[i] = total >= enough


@subkernel
def squared_across(low, high):
    """Squared diagonal of a box."""
    total = 0.0
    for j in range(len(low)):
        total += (high[j] - low[j]) ** 2
    return total


@subkernel
def top(above, cell):
    """The cell that stands for a group of cells; paths are halved on the way."""
    while above[cell] != cell:
        above[cell] = above[above[cell]]
        cell = above[cell]
    return cell


@subkernel
def gather_near(rows, core, begin, end, low, high, squared, near):
    """The core rows begin .. end within reach of a box, into near; returns how many."""
    count = 0
    for i in range(begin, end):
        if core[i] and least_squared(rows[i], low, high) <= squared:
            near[count] = i
            count += 1
    return count


@subkernel
def tree_reaches(rows, some, others, squared):
    """Whether a row of some and a row of others are within reach, by a tree over the others."""
    n, d = len(others), rows.shape[1]
    points = np.empty((n, d))
    for place in range(n):
        points[place] = rows[others[place]]
    order = np.arange(n)
    start, stop = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    child = np.empty(2 * n, np.int64)
    low, high = np.empty((2 * n, d)), np.empty((2 * n, d))
    fill_boxes(points, WORTH_A_BOX, np.inf, order, start, stop, child, low, high)
    boxes = Boxes(start, stop, child, low, high)
    ordered = points[order]
    stack = np.empty(DEEPEST, np.int64)
    for i in some:
        found, _ = nearest_within(rows[i], ordered, order, boxes, squared, stack)
        if found >= 0:
            return True
    return False


@subkernel
def any_pair_within(rows, some, others, squared):
    """Whether a row of some and a row of others are within reach."""
    if len(some) * len(others) >= WORTH_A_TREE:
        return tree_reaches(rows, some, others, squared)
    for i in some:
        for j in others:
            if squared_between(rows[i], rows[j]) <= squared:
                return True
    return False


@kernel("f8[:,:]", "b1[:]", Grid, "f8", "out i8[:]")
def join_lattice(rows, core, grid, squared, above):
    """Join cells that have core rows within reach of each other.

    rows (n, d), core (n,). At the end above (m,) holds for each cell the one that stands for its
    group. Rows beyond reach of the other cell's box are left out before pairs are looked at.
    """
    keys, start, low, high, stretches = grid
    m = len(keys)
    at = np.zeros(len(stretches), np.int64)
    some, others = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    has_core = np.zeros(m, np.bool_)
    for cell in range(m):
        has_core[cell] = core[start[cell] : start[cell + 1]].any()
    for cell in range(m):
        if not has_core[cell]:
            continue
        for s in range(len(stretches)):
            if stretches[s] < 0:
                continue
            key = keys[cell] + stretches[s] - BESIDE
            at[s] = moved_on(keys, at[s], key)
            for other in range(at[s], m):
                if keys[other] > key + 2 * BESIDE:
                    break
                if other <= cell or not has_core[other]:
                    continue
                one, two = top(above, cell), top(above, other)
                if one == two:
                    continue
                if least_between(low[cell], high[cell], low[other], high[other]) > squared:
                    continue
                n_some = gather_near(
                    rows,
                    core,
                    start[cell],
                    start[cell + 1],
                    low[other],
                    high[other],
                    squared,
                    some,
                )
                n_others = gather_near(
                    rows,
                    core,
                    start[other],
                    start[other + 1],
                    low[cell],
                    high[cell],
                    squared,
                    others,
                )
                if any_pair_within(rows, some[:n_some], others[:n_others], squared):
                    above[max(one, two)] = min(one, two)
    for cell in range(m):
        above[cell] = top(above, cell)


@kernel("i8", "i8", "f8[:,:]", "i8[:]", "b1[:]", Grid, "f8", "out i8[:]")
def nearest_cores(first, last, rows, order, core, grid, squared, nearest):
    """The nearest core row within reach of each row of the cells first .. last, or -1.

    Of equally near ones the first of the table. rows (n, d), order, core, nearest (n,).
    """
    keys, start, low, high, stretches = grid
    at = np.empty(len(stretches), np.int64)
    for s in range(len(stretches)):
        at[s] = first_at(keys, keys[first] + stretches[s] - BESIDE)
    for cell in range(first, last):
        begin, end = start[cell], start[cell + 1]
        if core[begin:end].all():
            for i in range(begin, end):
                nearest[i] = i
            continue
        for s in range(len(stretches)):
            at[s] = moved_on(keys, at[s], keys[cell] + stretches[s] - BESIDE)
        for i in range(begin, end):
            nearest[i] = i if core[i] else -1
            if core[i]:
                continue
            least = squared
            for s in range(len(stretches)):
                for other in range(at[s], len(keys)):
                    if keys[other] > keys[cell] + stretches[s] + BESIDE:
                        break
                    if least_squared(rows[i], low[other], high[other]) > least:
                        continue
                    for j in range(start[other], start[other + 1]):
                        if not core[j]:
                            continue
                        distance = squared_between(rows[i], rows[j])
                        if distance < least or (
                            distance == least and (nearest[i] < 0 or order[j] < order[nearest[i]])
                        ):
                            least, nearest[i] = distance, j
