"""Merges in many columns, where no box of rows can be left out: all pairs, at the least cost each.

Ward's neighbours and tables of distances come from products of matrices, |x|^2 + |y|^2 - 2 x'y; a
bound of the rounding error tells which pairs must be compared again column by column, so that what
is found is what comparing all of them would find. The spanning tree is Prim's, whose rows
stand in columns, so that the innermost loop runs over rows.

Reference: Prim (1957).
"""

from __future__ import annotations

import numpy as np

from gnomon.cluster.linkage_kernel import TILE, squared_to_tile
from gnomon.engine.kernel import kernel
from gnomon.engine.threads import in_order

ROWS_AT_ONCE = 256  # judgement: a product of matrices runs at full speed, and threads share evenly
# Products of clusters with all others that a thread holds at once, as far as 16 lines allow: 4 MB.
CELLS_AT_ONCE = 2**19
FEWEST_AT_ONCE = 16
# Columns from which on products of matrices are sooner done than direct comparisons (measured).
PRODUCTS_FROM = 40
LINES = 32  # of a block of 256 columns: 64 kB
# A squared distance below this share of the squared lengths has lost too many digits.
CANCELLED = 1e-4


def distances_within(rows: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """The symmetric table of distances of rows (n, d), which are centred.

    Many columns are multiplied as matrices, few are compared directly.
    """
    n, d = rows.shape
    table = np.empty((n, n))
    direct = d < PRODUCTS_FROM
    columns = np.ascontiguousarray(rows.T) if direct else rows[:0]
    squares = rows[:0, 0] if direct else np.einsum("ij,ij->i", rows, rows)

    def part(start: int) -> None:
        stop = min(start + ROWS_AT_ONCE, n)
        if direct:
            distances_of_tiles(columns, start, stop, table)
            return
        products = rows[start:stop] @ rows[:stop].T
        distances_of_products(products, start, rows, squares, table)

    for _ in in_order(part, range(0, n, ROWS_AT_ONCE), n_jobs, short=True):
        pass
    return table


@kernel("f8[:,:]", "i8", "i8", "out f8[:,:]")
def distances_of_tiles(columns, first, last, table):
    """Distances of rows first ... last to all rows before them, written on both sides.

    columns (d, n) of the rows, table (n, n). What is written to columns of the table goes there in
    blocks, whose lines stay in the cache.
    """
    d = len(columns)
    point = np.empty(d)
    for begin in range(first, last, LINES):
        end = min(begin + LINES, last)
        for start in range(0, end, TILE):
            stop = min(start + TILE, end)
            for i in range(begin, end):
                size = min(stop, i + 1) - start
                if size <= 0:
                    continue
                for j in range(d):
                    point[j] = columns[j, i]
                line = table[i, start : start + size]
                squared_to_tile(columns, point, start, size, line)
                for t in range(size):
                    line[t] = np.sqrt(line[t])
            for j in range(start, stop):
                for i in range(max(begin, j + 1), end):
                    table[j, i] = table[i, j]


@kernel("f8[:,:]", "i8", "f8[:,:]", "f8[:]", "out f8[:,:]")
def distances_of_products(products, start, rows, squares, table):
    """Distances of rows start ... to all rows before them, written on both sides of the diagonal.

    products (m, start + m), rows (n, d), squares (n,), table (n, n). Pairs whose difference has
    cancelled are compared column by column.
    """
    for i in range(len(products)):
        own = start + i
        table[own, own] = 0.0
        for j in range(own):
            lengths = squares[own] + squares[j]
            squared = lengths - 2.0 * products[i, j]
            if squared < CANCELLED * lengths:
                squared = 0.0
                for c in range(rows.shape[1]):
                    gap = rows[own, c] - rows[j, c]
                    squared += gap * gap
            distance = np.sqrt(squared)
            table[own, j] = distance
            table[j, own] = distance


def clusters_at_once(n_clusters: int) -> int:
    """Clusters whose products with all others are computed together."""
    return min(max(CELLS_AT_ONCE // max(n_clusters, 1), FEWEST_AT_ONCE), ROWS_AT_ONCE)


def find_ward_neighbors(
    centers: np.ndarray,
    weights: np.ndarray,
    near: np.ndarray,
    added: np.ndarray,
    n_jobs: int | None,
) -> None:
    """Fill in, for each cluster without one (-1), the cluster whose union adds least, and what."""
    squares = np.einsum("ij,ij->i", centers, centers)
    wanted = np.flatnonzero(near < 0)
    size = clusters_at_once(len(centers))
    # four times the bound of the error of a sum of d products
    error = 4 * (centers.shape[1] + 4) * np.finfo(np.float64).eps

    def look(first: int) -> None:
        some = wanted[first : first + size]
        products = centers[some] @ centers.T
        ward_of_products(products, some, centers, squares, weights, error, near, added)

    for _ in in_order(look, range(0, len(wanted), size), n_jobs, short=True):
        pass


@kernel("out f8[:,:]", "i8[:]", "f8[:,:]", "f8[:]", "f8[:]", "f8", "out i8[:]", "out f8[:]")
def ward_of_products(products, wanted, centers, squares, weights, error, near, added):
    """The cluster whose union with each wanted one adds the least squares; of equals the first.

    products (m, n) of the wanted clusters with all, used up; centers (n, d), squares and weights
    (n,). Only clusters that may be the least in view of the error are compared column by column.
    """
    n, d = centers.shape
    for i in range(len(wanted)):
        own, line = wanted[i], products[i]
        weight, length = weights[own], squares[own]
        for j in range(n):
            lengths = length + squares[j]
            factor = weight * weights[j] / (weight + weights[j])
            line[j] = (lengths * (1.0 - error) - 2.0 * line[j]) * factor
        line[own] = np.inf
        least, found = np.inf, -1
        # the one of the least bound first, since it nearly always is the least
        first = 0
        for j in range(1, n):
            if line[j] < line[first]:
                first = j
        for turn in range(2):
            for j in range(first if turn == 0 else 0, first + 1 if turn == 0 else n):
                if line[j] > least:
                    continue
                squared = 0.0
                for c in range(d):
                    gap = centers[j, c] - centers[own, c]
                    squared += gap * gap
                value = squared * (weight * weights[j] / (weight + weights[j]))
                if value < least or (value == least and j < found):
                    least, found = value, j
        near[own], added[own] = found, least


@kernel("out f8[:,:]", "out f8[:]", "out i8[:]", "out i8[:]", "out f8[:]")
def prim_edges(columns, cores, one, other, squared):
    """The n - 1 edges of the minimum spanning tree by Prim's algorithm.

    columns (d, n) of rows and squared core distances (n,) are used up; an edge is as long as the
    largest of the squared distance and the cores of its ends. A row that is in the tree is replaced
    by the last one, so that those outside stand together. Of equal edges that of the first row
    inside is taken, then that of the first outside, in whatever order they stand here.
    """
    d, n = columns.shape
    name, parent = np.arange(n), np.zeros(n, np.int64)
    best, tile, point = np.full(n, np.inf), np.empty(TILE), np.empty(d)
    taken, left = 0, n
    for edge in range(n - 1):
        for j in range(d):
            point[j] = columns[j, taken]
        core, inside = cores[taken], name[taken]
        left -= 1
        for j in range(d):
            columns[j, taken] = columns[j, left]
        cores[taken], name[taken] = cores[left], name[left]
        best[taken], parent[taken] = best[left], parent[left]
        taken, shortest = 0, np.inf
        for start in range(0, left, TILE):
            size = min(TILE, left - start)
            squared_to_tile(columns, point, start, size, tile)
            for t in range(size):
                place = start + t
                length = max(tile[t], core, cores[place])
                if length <= best[place]:
                    known = parent[place] if length == best[place] else n
                    best[place], parent[place] = length, min(inside, known)
                if best[place] <= shortest:
                    ends = (parent[place], name[place])
                    if best[place] < shortest or ends < (parent[taken], name[taken]):
                        shortest, taken = best[place], place
        one[edge], other[edge], squared[edge] = parent[taken], name[taken], shortest
