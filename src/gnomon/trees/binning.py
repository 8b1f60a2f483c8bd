"""Binning: every column becomes at most 255 value bins and one bin for missing, a byte per cell.

A tree only asks on which side of a threshold a value lies, so a column may be replaced by the rank
of its value among a few hundred cut points, found once. A column with at most 255 different values
loses nothing: each value is a bin. Otherwise the bins hold nearly equal shares of the total weight,
cut between values. The least and the greatest training value of every bin are kept, so that a split
found between two bins is stored as a threshold in the column's own units, half-way between the
values it parts, and a fitted tree needs no bins to predict.

Cost: one sort per column (on threads), then one byte per cell; quantiles are exact, no row is left
out.

Texts: 000a "Choosing a split" (midpoints of sorted values) · 001 9.2.4 (categories, missing
values).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.threads import in_order

# A code is a byte: 0 to 254 for values, 255 for missing.
MISSING_BIN = 255
MAX_VALUE_BINS = 255
N_CODES = 256
ROWS_TURNED = 4096  # judgement: one turn of a thread
# Rows from which on sorting a column into parts of its range is faster than sorting it whole.
MANY_ROWS = 20_000
# Parts of the range of a column's values, and of its thresholds (whose table stays in cache).
VALUE_CELLS, THRESHOLD_CELLS = 8192, 1024


@dataclass(frozen=True)
class Binned:
    """A table as the grower reads it: one byte per cell, column by column.

    Attributes
    ----------
    codes : uint8 array of shape (n_features, n_rows)
        Bin of each cell; 255 is "missing". Column by column, for nodes that hold many of the rows.
    rows : uint8 array of shape (n_rows, n_features)
        The same row by row, for nodes that hold few of them.
    columns : int64 array of shape (2, n_features)
        Number of value bins of each column, and 1 where they are levels without an order.
    edges : float64 array of shape (2, n_features, 256)
        Least and greatest training value of each bin of a numeric column.
    levels : dict of int to int64 array
        Where the level codes of a category column are not its bins: the bin of each level.
    """

    codes: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    edges: np.ndarray
    levels: dict[int, np.ndarray]

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    @property
    def n_features(self) -> int:
        return self.codes.shape[0]


class Binner:
    """Cut points of every column, learned from training rows and applied to any rows.

    Use it before `gnomon.trees.grower.grow_tree`; trees themselves predict from raw values.

    Parameters
    ----------
    max_bins : int, default=255
        Bins of a numeric column, at most.

    Attributes
    ----------
    thresholds_ : list of float64 arrays
        Cut points of each numeric column (a value x has code b when exactly b cut points are < x);
        empty for a category column.
    columns_, edges_ : arrays
        As in `Binned`.
    levels_ : dict of int to int64 array
        For a category column whose level codes do not fit into 0..254: the bin of each level (255,
        as missing, where the level was not seen). Elsewhere the level is its own bin.
    other_levels_ : dict of int to int64 array
        For a category column with more than 255 levels: the rarer levels that share the last bin.

    Examples
    --------
    >>> import numpy as np
    >>> binner = Binner().fit(np.array([[1.0], [2.0], [4.0], [np.nan]]))
    >>> binner.thresholds_
    [array([1.5, 3. ])]
    >>> binner.transform(np.array([[0.0], [3.0], [3.1], [np.nan]])).codes
    array([[  0,   1,   2, 255]], dtype=uint8)
    """

    def __init__(self, max_bins: int = MAX_VALUE_BINS):
        self.max_bins = max_bins

    def fit(
        self,
        columns: Any,
        weights: np.ndarray | None = None,
        kinds: np.ndarray | Sequence[bool] | None = None,
        n_jobs: int | None = None,
    ) -> Binner:
        """Learn the bins of every column.

        Parameters
        ----------
        columns : array of shape (n_rows, n_features), sparse matrix or sequence of columns
            Finite numbers; NaN is missing. A category column holds level codes 0, 1, 2 ...; NaN or
            a negative code is missing.
        weights : array of shape (n_rows,), optional
            A row of weight k counts as k rows; rows of weight zero do not shape the bins.
        kinds : sequence of bool, optional
            True where a column holds categories.
        n_jobs : int, optional
            Threads; by default one per core.
        """
        source = _ColumnSource(columns)
        flags = np.zeros(len(source), np.uint8) if kinds is None else np.asarray(kinds, np.uint8)
        if flags.shape != (len(source),):
            raise ValueError(f"kinds has {flags.size} entries for {len(source)} columns.")
        used, fixed = _used_rows(weights, source.n_rows)

        def learn(j: int) -> _ColumnBins:
            column = source.column(j)
            if used is not None:
                column = column[used]
            if flags[j]:
                return _category_bins(_level_codes(column, j), fixed)
            return _numeric_bins(column, fixed, j, self.max_bins)

        self._take(list(in_order(learn, range(len(source)), n_jobs)), flags)
        return self

    def transform(self, columns: Any, n_jobs: int | None = None) -> Binned:
        """The bin of every cell; see `Binned`. A level that was never seen is missing."""
        source = _ColumnSource(columns)
        self._check_width(len(source))
        codes = np.empty((len(source), source.n_rows), np.uint8)

        def code(j: int) -> None:
            column = source.column(j)
            if self.columns_[1, j]:
                codes[j] = self._level_bins(_level_codes(column, j), j)
            elif bin_column(column, self.thresholds_[j], codes[j]):
                raise _infinite_value(j)

        list(in_order(code, range(len(source)), n_jobs))
        by_row = np.empty((source.n_rows, len(source)), np.uint8)

        def turn(start: int) -> None:
            by_row[start : start + ROWS_TURNED] = codes[:, start : start + ROWS_TURNED].T

        list(in_order(turn, range(0, source.n_rows, ROWS_TURNED), n_jobs, short=True))
        return Binned(codes, by_row, self.columns_, self.edges_, self.levels_)

    def _take(self, bins: list[_ColumnBins], flags: np.ndarray) -> None:
        self.columns_ = np.array([[each.n_bins for each in bins], flags], np.int64)
        self.edges_ = np.zeros((2, len(bins), N_CODES))
        for j, each in enumerate(bins):
            self.edges_[0, j, : each.low.size] = each.low
            self.edges_[1, j, : each.high.size] = each.high
        self.thresholds_ = [midpoints(each.high[:-1], each.low[1:]) for each in bins]
        self.levels_ = {j: each.levels for j, each in enumerate(bins) if each.levels is not None}
        self.other_levels_ = {j: each.other for j, each in enumerate(bins) if each.other.size}

    def _level_bins(self, levels: np.ndarray, j: int) -> np.ndarray:
        if j in self.levels_:
            bins = self.levels_[j]
        else:
            bins = np.arange(self.columns_[0, j])
        known = (levels >= 0) & (levels < bins.size)
        coded = np.full(levels.size, MISSING_BIN, np.uint8)
        coded[known] = bins[levels[known]]
        return coded

    def _check_width(self, n_columns: int) -> None:
        expected = self.columns_.shape[1]
        if n_columns != expected:
            raise ValueError(
                f"The rows have {n_columns} columns, the bins were learned from {expected}."
            )


@dataclass(frozen=True)
class _ColumnBins:
    n_bins: int
    low: np.ndarray
    high: np.ndarray
    levels: np.ndarray | None
    other: np.ndarray


_NONE = np.empty(0, np.int64)


class _ColumnSource:
    """Columns one at a time, dense float64, from whatever holds them."""

    def __init__(self, columns: Any):
        if sparse.issparse(columns):
            self._columns = sparse.csc_array(columns)
            self.n_rows, self._width = columns.shape
        elif isinstance(columns, np.ndarray):
            if columns.ndim != 2:
                raise ValueError(f"columns must have two dimensions, not {columns.ndim}.")
            self._columns = columns
            self.n_rows, self._width = columns.shape
        else:
            self._columns = list(columns)
            self._width = len(self._columns)
            self.n_rows = len(self._columns[0]) if self._width else 0

    def __len__(self) -> int:
        return self._width

    def column(self, j: int) -> np.ndarray:
        if isinstance(self._columns, np.ndarray):
            return np.ascontiguousarray(self._columns[:, j], np.float64)
        if isinstance(self._columns, list):
            column = np.ascontiguousarray(self._columns[j], np.float64)
            if column.shape != (self.n_rows,):
                raise ValueError(f"Column {j} has shape {column.shape}, column 0 ({self.n_rows},).")
            return column
        first, last = self._columns.indptr[j : j + 2]
        column = np.zeros(self.n_rows)
        np.add.at(column, self._columns.indices[first:last], self._columns.data[first:last])
        return column


def fixed_point_weights(
    weights: np.ndarray, greatest_total: float | None = None
) -> tuple[np.ndarray, float]:
    """Weights as whole numbers and their unit: ``weights = integers * unit``.

    Sums of whole numbers do not depend on the order of the rows, and a weight k is exactly k
    repetitions. Whole weights keep the unit 1; others are rounded to a power of two so fine that
    their total uses 61 bits (a positive weight keeps at least one unit).

    Parameters
    ----------
    weights : array of shape (n_rows,)
        Finite and not negative.
    greatest_total : float, optional
        The greatest sum that will be formed (a bootstrap sample may exceed the plain total).

    Examples
    --------
    >>> import numpy as np
    >>> fixed_point_weights(np.array([1.0, 3.0]))
    (array([1, 3]), 1.0)
    """
    weights = np.asarray(weights, np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("Weights must be finite and not negative.")
    total = max(math.fsum(weights), greatest_total or 0.0)
    if total == 0 or (total < 2.0**52 and np.array_equal(weights, np.rint(weights))):
        return weights.astype(np.int64), 1.0
    exponent = min(61 - math.frexp(total)[1], 1000)
    integers = np.rint(np.ldexp(weights, exponent)).astype(np.int64)
    integers[(integers == 0) & (weights > 0)] = 1
    return integers, math.ldexp(1.0, -exponent)


def midpoints(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Thresholds t with below <= t < above, half-way where the floating-point numbers allow it.

    Examples
    --------
    >>> import numpy as np
    >>> midpoints(np.array([1.0]), np.array([2.0]))
    array([1.5])
    """
    middle = below / 2 + above / 2
    return np.where((middle >= below) & (middle < above), middle, below)


def _used_rows(weights: np.ndarray | None, n_rows: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Which rows shape the bins (None: all) and their whole-number weights (empty: all one)."""
    if weights is None:
        return None, _NONE
    weights = np.asarray(weights, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"weights has shape {weights.shape}, expected ({n_rows},).")
    fixed, _ = fixed_point_weights(weights)
    used = np.flatnonzero(fixed)
    if used.size == n_rows and (fixed == 1).all():
        return None, _NONE
    return used, fixed[used]


def _numeric_bins(column: np.ndarray, weights: np.ndarray, j: int, max_bins: int) -> _ColumnBins:
    low, high = np.empty(max_bins), np.empty(max_bins)
    if weights.size == 0 and column.size >= MANY_ROWS:
        n_bins = bins_by_cells(column, low, high)
        if n_bins > 0:
            return _ColumnBins(n_bins, low[:n_bins], high[:n_bins], None, _NONE)
    if weights.size == 0:
        values = np.sort(column)
        values = values[: np.searchsorted(values, np.nan)]
    else:
        order = np.argsort(column, kind="stable")
        values = column[order]
        weights = weights[order][: np.searchsorted(values, np.nan)]
        values = values[: weights.size]
    if values.size and (math.isinf(values[0]) or math.isinf(values[-1])):
        raise _infinite_value(j)
    n_bins = equal_weight_bins(values, weights, low, high)
    return _ColumnBins(n_bins, low[:n_bins], high[:n_bins], None, _NONE)


def _category_bins(levels: np.ndarray, weights: np.ndarray) -> _ColumnBins:
    seen = levels >= 0
    present, position = np.unique(levels[seen], return_inverse=True)
    total = np.zeros(present.size, np.int64)
    np.add.at(total, position, weights[seen] if weights.size else 1)
    return _bins_of_levels(present, total)


def _bins_of_levels(present: np.ndarray, total: np.ndarray) -> _ColumnBins:
    """Bins of the levels that are present, in rising order, with the weight of each."""
    nothing = np.empty(0)
    if present.size == 0 or present[-1] < MAX_VALUE_BINS:
        n_bins = int(present[-1]) + 1 if present.size else 0
        return _ColumnBins(n_bins, nothing, nothing, None, _NONE)
    mapping = np.full(int(present[-1]) + 1, MISSING_BIN, np.int64)
    if present.size <= MAX_VALUE_BINS:
        mapping[present] = np.arange(present.size)
        return _ColumnBins(present.size, nothing, nothing, mapping, _NONE)
    by_weight = np.lexsort((present, -total))
    kept = np.sort(by_weight[: MAX_VALUE_BINS - 1])
    mapping[present] = MAX_VALUE_BINS - 1
    mapping[present[kept]] = np.arange(kept.size)
    other = np.sort(present[by_weight[MAX_VALUE_BINS - 1 :]])
    return _ColumnBins(MAX_VALUE_BINS, nothing, nothing, mapping, other)


def _level_codes(column: np.ndarray, j: int) -> np.ndarray:
    """Level codes as integers, -1 for missing."""
    levels = np.where(np.isnan(column), -1.0, column)
    if np.isinf(levels).any():
        raise _infinite_value(j)
    if not np.array_equal(levels, np.rint(levels)) or levels.max(initial=0) > 2**31:
        raise ValueError(
            f"Column {j} is declared as categories but holds values that are not level codes "
            "0, 1, 2 ...; encode its levels as whole numbers first."
        )
    return np.maximum(levels, -1).astype(np.int64)


def _infinite_value(j: int) -> ValueError:
    return ValueError(
        f"Column {j} holds an infinite value; trees take finite numbers and NaN for missing. "
        "Replace it by a large finite number or by NaN."
    )


@subkernel
def fill_bins(values, weights, one_each, left, filled, n_bins, low, high):
    """Put sorted values into bins, of which `n_bins` are closed already.

    The next bin holds the weight `filled`; `left` is the weight that is not in closed bins. Returns
    these three as they are then.
    """
    i = 0
    while i < values.size:
        value, mass = values[i], 0
        while i < values.size and values[i] == value:
            mass += weights[i] if weights.size > 0 else 1
            i += 1
        open_bins = low.size - n_bins
        if filled > 0 and open_bins > 1 and float(mass) * open_bins >= left:
            left -= filled
            filled = 0
            n_bins += 1
            open_bins -= 1
        if filled == 0:
            low[n_bins] = value
        high[n_bins] = value
        filled += mass
        if one_each or (open_bins > 1 and float(filled) * open_bins >= left):
            left -= filled
            filled = 0
            n_bins += 1
    return left, filled, n_bins


@kernel("f8[:]", "i8[:]", "out f8[:]", "out f8[:]")
def equal_weight_bins(values, weights, low, high):
    """Least and greatest value of each bin of sorted values (m,); returns the number of bins.

    Equal values share a bin. With no more different values than bins (``low.size``) each has its
    own; otherwise a bin is closed when it holds its share of the weight that is left, and a value
    heavier than that share is alone. `weights` (m,) are whole numbers, or empty when all are one.
    """
    m, max_bins = values.size, low.size
    if m == 0:
        return 0
    n_distinct = 1
    for i in range(1, m):
        if values[i] != values[i - 1]:
            n_distinct += 1
    left = m
    if weights.size > 0:
        left = weights.sum()
    one_each = n_distinct <= max_bins
    left, filled, n_bins = fill_bins(values, weights, one_each, left, 0, 0, low, high)
    return n_bins + (1 if filled > 0 else 0)


@subkernel
def cell_of(value, least, scale, n_cells):
    """Which of the equal parts of a range a value is in: never falls as values rise.

    All values are in the first part where the scale is zero.
    """
    if scale == 0.0:
        return 0
    place = (value - least) * scale
    if place < 0.0:
        return 0
    return np.int64(place) if place < n_cells else n_cells - 1


@subkernel
def cells_per_unit(least, greatest, n_cells):
    """Parts of a range per unit of it; zero where that is no number to compute with."""
    scale = n_cells / (greatest - least) if greatest > least else 0.0
    return scale if np.isfinite(scale) and np.isfinite(greatest - least) else 0.0


@kernel("f8[:]", "out f8[:]", "out f8[:]")
def bins_by_cells(column, low, high):
    """`equal_weight_bins` of values in any order, without sorting most of them.

    The values go to equal parts of their range; only the parts in which a bin ends are sorted.
    Returns -1 where that would not pay or is not possible: infinite values, few different ones, or
    too many in one part. NaN is left out. column (n,).
    """
    least, greatest, m = np.inf, -np.inf, 0
    for i in range(column.size):
        value = column[i]
        if not np.isnan(value):
            m += 1
            least = min(least, value)
            greatest = max(greatest, value)
    scale = cells_per_unit(least, greatest, VALUE_CELLS)
    if scale == 0.0:
        return -1
    first = np.zeros(VALUE_CELLS + 1, np.int64)
    for i in range(column.size):
        if not np.isnan(column[i]):
            first[cell_of(column[i], least, scale, VALUE_CELLS) + 1] += 1
    if first.max() > m // 32 or np.count_nonzero(first) <= low.size:
        return -1
    for cell in range(VALUE_CELLS):
        first[cell + 1] += first[cell]
    values, place = np.empty(m), first.copy()
    for i in range(column.size):
        if not np.isnan(column[i]):
            cell = cell_of(column[i], least, scale, VALUE_CELLS)
            values[place[cell]] = column[i]
            place[cell] += 1
    none = np.empty(0, np.int64)
    left, filled, n_bins = m, 0, 0
    for cell in range(VALUE_CELLS):
        some = values[first[cell] : first[cell + 1]]
        if some.size == 0:
            continue
        open_bins = low.size - n_bins
        if open_bins == 1 or float(filled + some.size) * open_bins < left:
            if filled == 0:
                low[n_bins] = some.min()
            high[n_bins] = some.max()
            filled += some.size
        else:
            some.sort()
            left, filled, n_bins = fill_bins(some, none, False, left, filled, n_bins, low, high)
    return n_bins + (1 if filled > 0 else 0)


@kernel("f8[:]", "f8[:]", "out u1[:]")
def bin_column(column, thresholds, codes):
    """Bin of every value: the number of thresholds below it, 255 for NaN; 1 if any is infinite.

    A table tells how many thresholds lie in lower parts of their range; those in the value's own
    part are searched by halving, without branches.
    """
    n_thresholds = thresholds.size
    below = np.zeros(THRESHOLD_CELLS + 1, np.int64)
    least, scale = 0.0, 0.0
    if n_thresholds > 1:
        least = thresholds[0]
        scale = cells_per_unit(least, thresholds[n_thresholds - 1], THRESHOLD_CELLS)
    for t in range(n_thresholds):
        below[
            (cell_of(thresholds[t], least, scale, THRESHOLD_CELLS) if scale > 0.0 else 0) + 1
        ] += 1
    for cell in range(THRESHOLD_CELLS):
        below[cell + 1] += below[cell]
    infinite = 0
    for i in range(column.size):
        value = column[i]
        if np.isnan(value):
            codes[i] = 255
            continue
        if np.isinf(value):
            infinite = 1
        cell = cell_of(value, least, scale, THRESHOLD_CELLS)
        position = below[cell]
        step = below[cell + 1] - position
        while step > 1:
            half = step >> 1
            position += half if thresholds[position + half - 1] < value else 0
            step -= half
        if step == 1 and thresholds[position] < value:
            position += 1
        codes[i] = position
    return infinite
