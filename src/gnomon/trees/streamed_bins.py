"""Bins of columns that cannot be sorted whole, because their rows are read or held in pieces.

The bins are those of `gnomon.trees.binning`: the same values part the same rows, to the bit. A few
thousand values of each column, taken from rows at regular distances, part its range into cells; one
pass counts the rows of each cell. Most cells lie inside a bin, so that their count is all that
matters. A second pass fetches the values of the other cells, each with its count; cells that hold
too many are first parted again.

Cost: two passes in most cases; a few megabytes from each worker in each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.passes import fold
from gnomon.engine.sums import Chunk, Source
from gnomon.trees.binning import (
    Binner,
    _bins_of_levels,
    _ColumnBins,
    _level_codes,
    _used_rows,
    fill_bins,
)

# Values that part a column into cells, at most, and those of all columns together: what a worker
# sends has eight numbers for each. Judgement: 4,096 cells leave 6% of the rows in cells with the
# end of one of 255 bins, and 2**19 make 34 MB.
MOST_BORDERS, ALL_BORDERS = 4096, 2**19
# Values that are fetched at once, from all columns together: half a gigabyte with their counts.
MOST_VALUES = 2**25
# Parts into which a cell of too many values is parted. Judgement: three rounds part the rows of any
# table that fits on disks.
PARTS_OF_CELL = 64
# Values that wait to be sorted, at least: sorting so few takes milliseconds.
FEW_VALUES = 2**14
_NONE = np.empty(0, np.int64)


def borders_of(sample: np.ndarray) -> list[np.ndarray]:
    """Values that part the range of each column (n_sample, n_columns) into cells."""
    most = max(min(MOST_BORDERS, ALL_BORDERS // max(sample.shape[1], 1)), 1)
    return [_thinned(np.unique(column[~np.isnan(column)]), most) for column in sample.T]


def _thinned(values: np.ndarray, most: int) -> np.ndarray:
    """So many of the values at most, at regular distances."""
    if values.size <= most:
        return values
    return values[np.linspace(0, values.size - 1, most).round().astype(np.int64)]


@dataclass
class Cells:
    """The cells of one column: between borders (even places), and at them (odd places).

    Attributes
    ----------
    borders : float64 array of shape (n,)
    mass, rows : int64 arrays of shape (2 n + 1,)
        Whole-number weight of each cell, and its rows.
    least, greatest : float64 arrays of shape (2 n + 1,)
    """

    borders: np.ndarray
    mass: np.ndarray
    rows: np.ndarray
    least: np.ndarray
    greatest: np.ndarray

    @classmethod
    def at(cls, borders: np.ndarray) -> Cells:
        n = 2 * borders.size + 1
        low, high = np.full(n, np.inf), np.full(n, -np.inf)
        return cls(borders, np.zeros(n, np.int64), np.zeros(n, np.int64), low, high)

    def add(self, other: Cells) -> Cells:
        """These cells with the rows of others."""
        self.mass += other.mass
        self.rows += other.rows
        np.minimum(self.least, other.least, out=self.least)
        np.maximum(self.greatest, other.greatest, out=self.greatest)
        return self


@dataclass
class Inside:
    """The values in some cells of a column, each once and in rising order, with its weight.

    Values that were added later wait until there are enough of them to be worth sorting.
    """

    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    mass: np.ndarray = field(default_factory=lambda: _NONE)
    waiting: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    n_waiting: int = 0

    def add(self, values: np.ndarray, mass: np.ndarray) -> Inside:
        """These values with others."""
        self.waiting.append((values, mass))
        self.n_waiting += values.size
        return self.sorted() if self.n_waiting > max(self.values.size, FEW_VALUES) else self

    def join(self, other: Inside) -> Inside:
        """These values with all that another has."""
        other.sorted()
        return self.add(other.values, other.mass)

    def sorted(self) -> Inside:
        """Put the values that wait in their places."""
        if self.waiting:
            parts = [(self.values, self.mass), *self.waiting]
            both, masses = (np.concatenate(each) for each in zip(*parts))
            self.values, place = np.unique(both, return_inverse=True)
            self.mass = np.zeros(self.values.size, np.int64)
            np.add.at(self.mass, place, masses)
            self.waiting, self.n_waiting = [], 0
        return self


def fit_binner(
    binner: Binner,
    source: Source,
    sample: np.ndarray,
    weights: np.ndarray | None,
    kinds: np.ndarray,
    n_jobs: int | None = None,
) -> Binner:
    """Learn the bins that `Binner.fit` would learn from all rows in memory.

    Parameters
    ----------
    binner : Binner
    source : Source
    sample : ndarray of shape (n_sample, n_columns)
        Some rows; which ones changes the time that it takes and nothing else.
    weights : ndarray of shape (n_rows,) or None
        As in `Binner.fit`.
    kinds : ndarray of bool of shape (n_columns,)
        True where a column holds categories.
    n_jobs : int or None
    """
    used, fixed = _used_rows(weights, source.n_rows)
    beside = None
    if used is not None:
        beside = np.zeros(source.n_rows, np.int64)
        beside[used] = fixed
    flags = np.asarray(kinds, bool)
    numeric = np.flatnonzero(~flags)
    found: dict[int, _ColumnBins] = {}
    borders = dict(zip(numeric.tolist(), borders_of(sample[:, numeric])))
    levels = np.flatnonzero(flags).tolist()
    while borders or levels:
        count = partial(_counted, borders, levels)
        cells, of_levels = fold(count, _added, source, n_jobs, beside)
        for j, totals in of_levels.items():
            present = np.array(sorted(totals), np.int64)
            total = np.array([totals[level] for level in present.tolist()], np.int64)
            found[j] = _bins_of_levels(present, total)
        levels = []
        borders = _settle(binner.max_bins, cells, source, n_jobs, beside, found)
    binner._take([found[j] for j in range(len(flags))], flags.astype(np.uint8))
    return binner


def _settle(
    max_bins: int,
    cells: dict[int, Cells],
    source: Source,
    n_jobs: int | None,
    beside: np.ndarray | None,
    found: dict[int, _ColumnBins],
) -> dict[int, np.ndarray]:
    """Bins of the columns whose cells suffice; finer borders for the others."""
    inside = {j: Inside() for j in cells}
    while cells:
        wanted = {}
        for j in list(cells):
            bins, open_cells = bins_of(cells[j], inside[j], max_bins)
            if bins is None:
                wanted[j] = open_cells
            else:
                found[j] = bins
                del cells[j]
        if not wanted:
            break
        most = max(MOST_VALUES // sum(map(len, wanted.values())), PARTS_OF_CELL)
        if any((cells[j].rows[places] > most).any() for j, places in wanted.items()):
            return _finer(cells, wanted, most, source, n_jobs, beside)
        asked = {j: (cells[j].borders, places) for j, places in wanted.items()}
        fetched = fold(partial(_fetched, asked, 0), _joined, source, n_jobs, beside)
        for j, values in fetched.items():
            inside[j] = inside[j].join(values).sorted()
    return {}


def _finer(
    cells: dict[int, Cells],
    wanted: dict[int, np.ndarray],
    most: int,
    source: Source,
    n_jobs: int | None,
    beside: np.ndarray | None,
) -> dict[int, np.ndarray]:
    """Borders that part the cells of too many rows again; others are kept where bins may end."""
    asked = {}
    for j, places in wanted.items():
        asked[j] = cells[j].borders, places[cells[j].rows[places] > most]
    values = fold(partial(_fetched, asked, PARTS_OF_CELL), _thinly_joined, source, n_jobs, beside)
    borders = {}
    for j in cells:
        known = cells[j].borders
        if j in values:
            known = np.union1d(known, values[j].sorted().values)
        borders[j] = known
    return borders


def _counted(
    borders: dict[int, np.ndarray], levels: list[int], chunk: Chunk, weights: np.ndarray | None
) -> tuple[dict[int, Cells], dict[int, dict[int, int]]]:
    """Counts of the cells, and of the levels of categories, in some rows."""
    mass = _NONE if weights is None else np.ascontiguousarray(weights)
    cells = {}
    for j, some in borders.items():
        cells[j] = Cells.at(some)
        column = np.ascontiguousarray(chunk.rows[:, j])
        count_cells(column, mass, some, *_arrays(cells[j]))
    counted: dict[int, dict[int, int]] = {}
    for j in levels:
        codes = _level_codes(np.ascontiguousarray(chunk.rows[:, j]), j)
        used = codes >= 0 if weights is None else (codes >= 0) & (weights > 0)
        present, place = np.unique(codes[used], return_inverse=True)
        total = np.zeros(present.size, np.int64)
        np.add.at(total, place, 1 if weights is None else weights[used])
        counted[j] = dict(zip(present.tolist(), total.tolist()))
    return cells, counted


def _arrays(cells: Cells) -> tuple[np.ndarray, ...]:
    return cells.mass, cells.rows, cells.least, cells.greatest


def _added(one: Any, other: Any) -> Any:
    for j, cells in other[0].items():
        one[0][j].add(cells)
    for j, totals in other[1].items():
        known = one[1][j]
        for level, total in totals.items():
            known[level] = known.get(level, 0) + total
    return one


def _fetched(
    asked: dict[int, tuple[np.ndarray, np.ndarray]],
    most: int,
    chunk: Chunk,
    weights: np.ndarray | None,
) -> dict[int, Inside]:
    """The values in some cells of each column, each once; of each cell ``most``, unless zero."""
    found = {}
    for j, (borders, places) in asked.items():
        column = np.ascontiguousarray(chunk.rows[:, j])
        is_asked = np.zeros(2 * borders.size + 1, np.uint8)
        is_asked[places] = 1
        chosen = np.zeros(column.size, np.uint8)
        find_in_cells(column, borders, is_asked, chosen)
        rows = chosen.view(bool) if weights is None else chosen.view(bool) & (weights > 0)
        mass = np.ones(np.count_nonzero(rows), np.int64) if weights is None else weights[rows]
        inside = Inside().add(column[rows], mass)
        found[j] = _few_of_each(inside.sorted(), borders, most) if most else inside
    return found


def _joined(one: dict[int, Inside], other: dict[int, Inside]) -> dict[int, Inside]:
    return {j: one[j].join(other[j]) for j in one}


def _thinly_joined(one: dict[int, Inside], other: dict[int, Inside]) -> dict[int, Inside]:
    """Of many values, every second one: cells of many rows keep more."""
    for inside in _joined(one, other).values():
        while inside.values.size > FEW_VALUES:
            inside.values, inside.mass = inside.values[::2], inside.mass[::2]
    return one


def _few_of_each(inside: Inside, borders: np.ndarray, most: int) -> Inside:
    """So many values of each cell, at regular distances."""
    cell = np.searchsorted(borders, inside.values)
    _, first, count = np.unique(cell, return_index=True, return_counts=True)
    places = [start + _thinned(np.arange(n), most) for start, n in zip(first, count)]
    kept = np.concatenate(places) if places else _NONE
    return Inside(inside.values[kept], inside.mass[kept])


def bins_of(cells: Cells, inside: Inside, max_bins: int) -> tuple[_ColumnBins | None, np.ndarray]:
    """The bins of a column; where its cells do not suffice, None and the cells to look into."""
    low, high = np.empty(max_bins), np.empty(max_bins)
    # cells that are looked into lie between borders
    place = 2 * np.searchsorted(cells.borders, inside.values)
    first = np.searchsorted(place, np.arange(cells.mass.size + 1))
    is_open = np.zeros(cells.mass.size, np.uint8)
    n_bins = bins_of_cells(
        cells.mass,
        cells.least,
        cells.greatest,
        inside.values,
        inside.mass,
        first,
        low,
        high,
        is_open,
    )
    if n_bins < 0:
        return None, np.flatnonzero(is_open)
    none = np.empty(0, np.int64)
    return _ColumnBins(n_bins, low[:n_bins], high[:n_bins], None, none), none


@subkernel
def borders_below(value, borders):
    """How many borders are below a value, by halving."""
    start, n = 0, borders.size
    while n > 0:
        half = n >> 1
        if borders[start + half] < value:
            start += half + 1
            n -= half + 1
        else:
            n = half
    return start


@subkernel
def place_of(value, borders):
    """The cell of a value: even between borders, odd at one."""
    below = borders_below(value, borders)
    return 2 * below + (1 if below < borders.size and borders[below] == value else 0)


@kernel("f8[:]", "i8[:]", "f8[:]", "out i8[:]", "out i8[:]", "out f8[:]", "out f8[:]")
def count_cells(column, weights, borders, mass, rows, least, greatest):
    """Weight, rows, least and greatest value of each cell; NaN and weight zero are left out.

    column (n,), weights (n,) or empty where all are one, borders (m,), the others (2 m + 1,).
    """
    for i in range(column.size):
        value = column[i]
        weight = weights[i] if weights.size > 0 else 1
        if np.isnan(value) or weight == 0:
            continue
        cell = place_of(value, borders)
        mass[cell] += weight
        rows[cell] += 1
        least[cell] = min(least[cell], value)
        greatest[cell] = max(greatest[cell], value)


@kernel("f8[:]", "f8[:]", "u1[:]", "out u1[:]")
def find_in_cells(column, borders, asked, chosen):
    """Mark the values that lie in the requested cells. column and chosen (n,)."""
    for i in range(column.size):
        if not np.isnan(column[i]) and asked[place_of(column[i], borders)] == 1:
            chosen[i] = 1


@kernel(
    *["i8[:]", "f8[:]", "f8[:]", "f8[:]", "i8[:]", "i8[:]"],
    *["out f8[:]", "out f8[:]", "out u1[:]"],
)
def bins_of_cells(mass, least, greatest, values, masses, first, low, high, is_open):
    """`gnomon.trees.binning.equal_weight_bins` of cells (c,), of which some are known inside.

    The values of cell k are first[k] to first[k + 1]. Returns the number of bins; -1 where cells in
    which a bin may end are not known inside: these become 1 in is_open. Where a bin ends in such a
    cell is guessed as if its values were all different, so that the guesses after it are good.
    """
    n_distinct, is_known, left = 0, True, 0
    for cell in range(mass.size):
        left += mass[cell]
        if mass[cell] == 0 or first[cell + 1] > first[cell]:
            n_distinct += first[cell + 1] - first[cell]
        elif least[cell] == greatest[cell]:
            n_distinct += 1
        else:
            n_distinct += 2
            is_known = False
    one_each = n_distinct <= low.size
    if one_each and not is_known:
        for cell in range(mass.size):
            if first[cell + 1] == first[cell] and least[cell] < greatest[cell]:
                is_open[cell] = 1
        return -1
    filled, n_bins, is_sure = 0, 0, True
    single, weight = np.empty(1), np.empty(1, np.int64)
    for cell in range(mass.size):
        if mass[cell] == 0:
            continue
        if first[cell + 1] > first[cell]:
            some = slice(first[cell], first[cell + 1])
            left, filled, n_bins = fill_bins(
                values[some], masses[some], one_each, left, filled, n_bins, low, high
            )
            continue
        if least[cell] == greatest[cell]:
            single[0], weight[0] = least[cell], mass[cell]
            left, filled, n_bins = fill_bins(
                single, weight, one_each, left, filled, n_bins, low, high
            )
            continue
        rest = mass[cell]
        if filled == 0:
            low[n_bins] = least[cell]
        high[n_bins] = greatest[cell]
        open_bins = low.size - n_bins
        while open_bins > 1 and float(filled + rest) * open_bins >= left:
            is_open[cell], is_sure = 1, False
            part = min(max(np.int64(np.ceil(left / open_bins)) - filled, 1), rest)
            left -= filled + part
            rest -= part
            filled = 0
            n_bins += 1
            open_bins -= 1
            low[n_bins], high[n_bins] = least[cell], greatest[cell]
            if rest == 0:
                break
        filled += rest
    return n_bins + (1 if filled > 0 else 0) if is_sure else -1
