"""Distinct rows: a table in canonical order, equal rows written once with their weights added.

A machine then takes the same steps however the table was ordered, and whether a row was weighted or
repeated; and no two of its support vectors are the same.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Data
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.sums import as_float_rows
from gnomon.margin.kernels import dense

UNEQUAL = 100.0
DENSE_CELLS = 2**22  # so many are multiplied sooner than looked for among sparse ones


class Distinct(NamedTuple):
    """Rows that all differ, in canonical order.

    Attributes
    ----------
    rows : float64 array or sparse array (n, d)
    y : array (n,) or None
    weights : float64 array (n,)
    places : int array
        For every given row, where it is among the distinct ones.
    """

    rows: Any
    y: Any
    weights: np.ndarray
    places: np.ndarray


def distinct_rows(data: Data) -> Distinct:
    """The rows of a fit, equal ones (same target too) merged."""
    rows = as_float_rows(data.rows)
    if sp.issparse(rows):
        few = rows.shape[0] * rows.shape[1] <= DENSE_CELLS
        rows = rows.toarray() if few else canonical_rows(rows)
    y, weights = data.y, data.weight_array
    order = canonical_order(rows, y)
    ordered = rows[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = differing(ordered[1:], ordered[:-1])
    if y is not None:
        new[1:] |= y[order][1:] != y[order][:-1]
    group = np.cumsum(new) - 1
    places = np.empty(len(order), dtype=np.int64)
    places[order] = group
    first = order[new]
    if len(first) == len(order):
        return Distinct(ordered, None if y is None else y[order], weights[order], places)
    total = np.bincount(group, weights[order])
    return Distinct(ordered[new], None if y is None else y[first], total, places)


def canonical_rows(rows: sp.csr_array) -> sp.csr_array:
    """Sparse rows with each cell stored once, in order, and no zeros."""
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def differing(one: Any, other: Any) -> np.ndarray:
    """Which rows are not the same as the row of the same place."""
    if not sp.issparse(one):
        return (one != other).any(axis=1)
    unequal = sp.csr_array(one != other)
    return np.diff(unequal.indptr) > 0


def warn_unscaled(rows: Any, name: str) -> None:
    """Say so where columns differ so much in scale that few of them would decide all."""
    spread = dense(rows.max(axis=0) - rows.min(axis=0)).ravel()
    spread = spread[spread > 0]
    if len(spread) > 1 and spread.max() > UNEQUAL * spread.min():
        warnings.warn(
            f"{name}: the ranges of the columns differ by a factor of "
            f"{spread.max() / spread.min():.3g}, so that the widest decide all distances; scale "
            "them first (gnomon.prepare.StandardScaler, say)",
            GnomonWarning,
            stacklevel=2,
        )
