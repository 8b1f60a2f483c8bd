"""Distinct rows: a table in canonical order, equal rows written once with their weights added.

A machine then takes the same steps however the table was ordered, and whether a row was weighted or
repeated; and no two of its support vectors are the same.
"""

from __future__ import annotations

import warnings
from typing import Any

import scipy.sparse as sp

from gnomon.contract import Data
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.sums import as_float_rows
from gnomon.margin.kernels import dense

UNEQUAL = 100.0  # judgement: at 100 the narrow column is 1e-4 of a squared distance
DENSE_CELLS = 2**22  # so many are multiplied sooner than looked for among sparse ones


def distinct_data(data: Data) -> DistinctRows:
    """The rows of a fit, equal ones (same target too) merged; few sparse ones as dense ones."""
    rows = as_float_rows(data.rows)
    if sp.issparse(rows):
        few = rows.shape[0] * rows.shape[1] <= DENSE_CELLS
        rows = rows.toarray() if few else canonical_rows(rows)
    return distinct_rows(rows, data.weight_array, data.y)


def canonical_rows(rows: sp.csr_array) -> sp.csr_array:
    """Sparse rows with each cell stored once, in order, and no zeros."""
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


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
