"""Random draws of rows that do not depend on the order of rows, nor on weight versus repetition.

Rows are put in a canonical order (by a fixed mix of their columns); a draw is a position on the
line of cumulated weights. A row of weight three takes as much of the line as three copies of it,
and shuffling the table changes nothing. So seeds mean the same thing for a table however it is
stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.kernel import kernel

# Rows that are written in row order at once, where they are stored otherwise.
ROWS_AT_ONCE = 2**12
# Judgement: whole weights up to this mean are repetitions, one lot each; more would cost memory.
MOST_REPETITIONS = 64
# Odd numbers whose products spread the bits of a number over all 64; those of splitmix64.
MIXING_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
# Seeds below 2**31 fit a signed 32-bit integer, which every library takes.
GREATEST_SEED = 2**31 - 1


def canonical_key(rows: Any, y: np.ndarray | None = None) -> np.ndarray:
    """A fixed mix of the columns of each row, by which rows are put in canonical order.

    The mix is summed column by column, so that equal rows get equal keys to the bit, and a table
    may be looked at in pieces.
    """
    n, d = rows.shape
    factors = np.random.Generator(np.random.PCG64(20261115)).uniform(0.5, 1.5, d + 1)
    key = np.zeros(n)
    if y is not None:
        key += factors[d] * np.asarray(y, dtype=np.float64).reshape(n, -1).sum(axis=1)
    if sp.issparse(rows):
        rows = sp.csr_array(rows, dtype=np.float64)
        values = np.nan_to_num(rows.data, nan=0.123)
        with np.errstate(over="ignore", invalid="ignore"):
            key += sp.csr_array((values, rows.indices, rows.indptr), shape=(n, d)) @ factors[:d]
        return np.nan_to_num(key)
    for start in range(0, n, ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        mix_columns(np.ascontiguousarray(rows[block], dtype=np.float64), factors, key[block])
    return np.nan_to_num(key)


@kernel("f8[:,:]", "f8[:]", "out f8[:]")
def mix_columns(rows: Any, factors: Any, key: Any) -> None:
    """Add factors times values to the key, column after column. rows (n, d), key (n,)."""
    most = np.finfo(np.float64).max
    for i in range(len(rows)):
        mix = key[i]
        for j in range(rows.shape[1]):
            value = rows[i, j]
            if not np.isfinite(value):
                value = 0.123 if np.isnan(value) else np.copysign(most, value)
            mix += factors[j] * value
        key[i] = mix


def canonical_order(rows: Any, y: np.ndarray | None = None) -> np.ndarray:
    """Positions of rows sorted by their canonical key; equal rows stand together.

    Different rows of one key (a small column beside a huge one) are then sorted by their columns.
    """
    key = canonical_key(rows, y)
    order = np.argsort(key, kind="stable")
    return _settle_ties(order, key[order], rows, y)


def mark_of_rows(rows: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """A whole number for each row: the same for equal rows, and hardly ever for others."""
    columns = [rows] if y is None else [rows, np.asarray(y).reshape(len(rows), -1)]
    mark = np.zeros(len(rows), np.uint64)
    for place, column in enumerate(column for each in columns for column in each.T):
        values = np.asarray(column, np.float64) + 0.0  # minus zero is zero
        bits = np.where(np.isnan(values), np.nan, values).view(np.uint64) + np.uint64(place)
        for factor in MIXING_FACTORS:
            bits = (bits ^ (bits >> np.uint64(31))) * factor
        mark = mark * MIXING_FACTORS[0] + bits
    return mark


def canonical_order_of_pieces(
    key: np.ndarray,
    mark: np.ndarray,
    y: np.ndarray | None,
    rows_at: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """`canonical_order` of rows that are not in memory together.

    Parameters
    ----------
    key, mark : ndarrays of shape (n_rows,)
        From `canonical_key` and `mark_of_rows`.
    y : ndarray or None
    rows_at : callable
        The rows at some positions, in rising order; only called where different rows have one key.
    """
    order = np.argsort(key, kind="stable")
    tied = key[order[1:]] == key[order[:-1]]
    run = np.concatenate([[0], np.cumsum(~tied)])
    mixed = run[1:][tied & (mark[order[1:]] != mark[order[:-1]])]
    if not mixed.size:
        return order
    places = np.flatnonzero(np.isin(run, mixed))
    members = order[places]
    at = np.sort(members)
    own_y = None if y is None else y[at]
    settled = _settle_ties(np.searchsorted(at, members), key[members], rows_at(at), own_y)
    order[places] = at[settled]
    return order


def _column(rows: Any, column: int) -> np.ndarray:
    values = rows[:, [column]].toarray()[:, 0] if sp.issparse(rows) else rows[:, column]
    return np.asarray(values, dtype=np.float64)


def _settle_ties(order: np.ndarray, key: np.ndarray, rows: Any, y: np.ndarray | None) -> np.ndarray:
    """Sort by their columns the rows whose keys are equal."""
    tied = key[1:] == key[:-1]
    if not tied.any():
        return order
    run = np.concatenate([[0], np.cumsum(~tied)])
    places = np.flatnonzero(np.concatenate([[False], tied]) | np.concatenate([tied, [False]]))
    members = order[places]
    if sp.issparse(rows):
        rows = sp.csc_array(rows)
        used = np.flatnonzero(np.diff(rows.indptr))  # columns of zeros settle nothing
    else:
        used = np.arange(rows.shape[1])
    columns = [_column(rows, column)[members] for column in used.tolist()]
    if y is not None:
        columns += list(np.asarray(y, dtype=np.float64).reshape(rows.shape[0], -1)[members].T)
    by_columns = np.lexsort([*reversed(columns), run[places]])
    order = order.copy()
    order[places] = members[by_columns]
    return order


class WeightedDraw:
    """Draw rows in proportion to weights, along the canonical order.

    Parameters
    ----------
    order : ndarray of int
        From `canonical_order`.
    """

    def __init__(self, order: np.ndarray):
        self.order = order

    def __call__(self, weights: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        """`size` positions of rows, drawn with replacement in proportion to `weights`."""
        return self.by(weights)(rng, size)

    def by(self, weights: np.ndarray) -> DrawByWeights:
        """The same for weights that stay, for draws in several pieces."""
        line = np.cumsum(weights[self.order])
        if not line[-1] > 0:
            raise ValueError("no row has a positive weight to be drawn by")
        return DrawByWeights(self.order, line)


class DrawByWeights(NamedTuple):
    """Draws rows along the line of their cumulated weights; made by `WeightedDraw.by`."""

    order: np.ndarray
    line: np.ndarray

    def __call__(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """`size` positions of rows, with replacement."""
        marks = rng.random(size) * self.line[-1]
        found = np.searchsorted(self.line, marks, side="right")
        return self.order[np.minimum(found, len(self.line) - 1)]
