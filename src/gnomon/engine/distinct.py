"""Distinct rows: a table in canonical order, equal rows written once with their weights added.

A row that stands in the table three times, or once with weight three, is one distinct row of weight
three; the order is a fixed mix of the columns. So a method that works on distinct rows takes the
same steps however the table was ordered, and whether a row was weighted or repeated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.draw import canonical_order

ROWS_AT_ONCE = 2**14  # compared with their neighbors: a block of 20 columns stays in the cache


class DistinctRows(NamedTuple):
    """Rows of which no two are equal.

    Attributes
    ----------
    rows : ndarray or sparse array of shape (m, d)
        In canonical order.
    weights : ndarray of shape (m,)
    places : ndarray of shape (n,)
        Which of them each given row is.
    y : ndarray of shape (m,) or (m, n_targets) or None
        The target, where one was given: rows with different targets are different.
    """

    rows: Any
    weights: np.ndarray
    places: np.ndarray
    y: Any = None


def distinct_rows(rows: Any, weights: np.ndarray, y: np.ndarray | None = None) -> DistinctRows:
    """The distinct rows with their summed weights.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Missing cells (NaN) are equal to each other.
    weights : ndarray of shape (n,)
    y : ndarray of shape (n,) or (n, n_targets), optional

    Returns
    -------
    distinct : DistinctRows

    Examples
    --------
    >>> import numpy as np
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]), np.ones(3)).weights.tolist()
    [1.0, 2.0]
    """
    order = canonical_order(rows, y)
    ordered = rows[order]
    if not sp.issparse(rows):
        ordered = np.ascontiguousarray(ordered, dtype=np.float64)
    target = None if y is None else y[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = _differing(ordered)
    if target is not None:
        first[1:] |= _differing(target.reshape(len(target), -1))
    number = np.cumsum(first) - 1
    places = np.empty(len(order), np.int64)
    places[order] = number
    given = np.asarray(weights, np.float64)[order]
    if first.all():
        return DistinctRows(ordered, given, places, target)
    summed = np.bincount(number, given)
    return DistinctRows(ordered[first], summed, places, None if target is None else target[first])


def _differing(rows: Any) -> np.ndarray:
    """Which rows are not the same as the row before."""
    if sp.issparse(rows):
        return np.diff(sp.csr_array(rows[1:] != rows[:-1]).indptr) > 0
    found = np.empty(max(len(rows) - 1, 0), dtype=bool)
    for start in range(0, len(found), ROWS_AT_ONCE):
        block = rows[start : start + ROWS_AT_ONCE + 1]
        below, above = block[1:], block[:-1]
        unequal = (below != above) & ((below == below) | (above == above))
        found[start : start + ROWS_AT_ONCE] = unequal.any(axis=1)
    return found
