"""Data frames and Tables: columns of any kind become numbers through a fitted `TableEncoder`.

A frame of nothing but floats is taken as an array with names: no column needs to be looked at.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow.types
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names, _check_n_features

from gnomon.contract.data import Data, column_weights
from gnomon.contract.intake.arrays import (
    assembled,
    checked_array,
    checked_weights,
    refuse_huge,
    squares_are_small,
)
from gnomon.contract.intake.targets import checked_target, named_target, require_column
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.table.encode import TableEncoder
from gnomon.table.kinds import Kind
from gnomon.table.names import repaired
from gnomon.table.schema import Column
from gnomon.table.table import Table


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of a kind that narwhals knows (pandas, polars, Arrow ...)."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def as_table(X: Any) -> Table:
    """A Table of any frame; a frame's columns of numbers are numbers, whatever they look like."""
    if isinstance(X, Table):
        return X
    table = Table.from_frame(X)
    schema = table.schema
    for column in schema:
        if column.kind is Kind.IDENTIFIER and _is_numeric(table.column(column.name).type):
            schema = schema.set(column.name, kind="number")
    return table if schema is table.schema else table.with_schema(schema)


def _is_numeric(arrow_type: Any) -> bool:
    return pyarrow.types.is_integer(arrow_type) or pyarrow.types.is_floating(arrow_type)


def take_frame(learner: Any, X: Any, y: Any, sample_weight: Any) -> Data:
    """A data frame or Table that is given to ``fit``; sets ``encoder_`` and the names."""
    if not isinstance(y, str) and not isinstance(sample_weight, str):
        data = _take_floats(learner, X, y, sample_weight)
        if data is not None:
            return data
    table, y, sample_weight = split_off(learner, as_table(X), y, sample_weight)
    is_whole = not isinstance(X, Table) and len(table.columns) == X.shape[1]
    _check_names(learner, X if is_whole else table, table, reset=True)
    if len(table) == 0:
        raise DataError("the table has columns and no rows; there is nothing to learn from")
    learner._require_memory(*table.shape)
    weights = checked_weights(sample_weight, np.empty((len(table), 1)))
    encoder = TableEncoder(learner.natively).fit(table, weights)
    require_encoded(learner, len(table), encoder)
    rows = encoder.transform(table)
    refuse_infinite(encoder, rows)
    refuse_huge(learner, rows, encoder.columns.names)
    learner.encoder_ = encoder
    target = checked_target(learner, y, rows, getattr(learner, "target_name_", "y"))
    data = assembled(learner, rows, target, weights, encoder.columns)
    data.as_table = lambda: table
    return data


def _take_floats(learner: Any, X: Any, y: Any, sample_weight: Any) -> Data | None:
    """A frame of floats that need no conversion; None where it is any other."""
    rows = float_rows(learner, X)
    if rows is None or not _computable(learner, rows):
        return None
    learner._require_memory(*rows.shape)
    weights = checked_weights(sample_weight, rows)
    learner.feature_names_in_ = np.array(list(X.columns), dtype=object)
    learner.n_features_in_ = rows.shape[1]
    columns = X.schema if isinstance(X, Table) else [Column(n, Kind.NUMBER) for n in X.columns]
    learner.encoder_ = TableEncoder(learner.natively).fit_floats(columns, rows, weights)
    target = checked_target(learner, y, rows)
    data = assembled(learner, rows, target, weights, learner.encoder_.columns)
    data.as_table = partial(as_table, X)
    return data


def float_rows(learner: Any, X: Any) -> np.ndarray | None:
    """The cells of a pandas or polars frame all of whose columns are floats, in C order.

    Also those of a wide Table of numbers. None for other frames, and where names must be repaired
    first.
    """
    if isinstance(X, Table):
        return X.cells if len(X) else None
    floats = _float_dtypes(X)
    if floats is None or 0 in X.shape or not floats.issuperset(X.dtypes):
        return None
    names = list(X.columns)
    if not all(type(name) is str for name in names) or repaired(names) != (names, []):
        return None
    dtype = None if learner.natively.float32 else np.float64
    return np.ascontiguousarray(X.to_numpy(), dtype=dtype)


def _float_dtypes(X: Any) -> set[Any] | None:
    """What the dtypes of floats are called in the library that a frame is of."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return {np.dtype(np.float64), np.dtype(np.float32)}
    if polars is not None and isinstance(X, polars.DataFrame):
        return {polars.Float64, polars.Float32}
    return None


def _computable(learner: Any, rows: np.ndarray) -> bool:
    """Whether rows can be computed with as they are: finite, or missing where that is taken.

    False leaves it to the slow path to fill what is missing, or to say what is wrong and where.
    """
    if squares_are_small(rows, learner._largest):
        return True
    if not learner.natively.missing and not np.isfinite(rows).all():
        return False
    largest = float(max(np.nanmax(rows, initial=0), -np.nanmin(rows, initial=0)))
    return largest <= learner._largest and not np.isinf(largest)


def require_encoded(learner: Any, n_rows: int, encoder: TableEncoder) -> None:
    """Compare the forecast with the memory limit, now that the columns of numbers are known."""
    n_columns = len(encoder.columns)
    if encoder.sparse:
        entries = n_rows * encoder.entries_per_row
        needed = 48 * entries + learner.forecast(n_rows, n_columns, entries)
    else:
        needed = 8 * n_rows * n_columns + learner.forecast(n_rows, n_columns)
    memory.require_fit(
        needed,
        f"{type(learner).__name__}.fit on {n_rows:,} rows x {n_columns:,} columns "
        "(after categories and text have become numbers)",
        learner._memory_remedy(),
    )


def refuse_infinite(encoder: TableEncoder, rows: Any) -> None:
    """Refuse infinite cells, naming the first."""
    if not np.isinf(rows.data if sp.issparse(rows) else rows).any():
        return
    if sp.issparse(rows):
        entries = rows.tocoo()
        first = int(np.argmax(np.isinf(entries.data)))
        row, column = entries.row[first], entries.col[first]
    else:
        row, column = np.argwhere(np.isinf(rows))[0]
    raise DataError(
        f"column {encoder.columns.names[column]!r}, row {row} is infinite; "
        "mark it as missing or put a finite number there"
    )


def split_off(learner: Any, table: Table, y: Any, sample_weight: Any) -> tuple[Table, Any, Any]:
    """Take target and weights out of the table where they are given by name."""
    if isinstance(y, str) and learner._target is not None:
        name, y = y, named_target(learner, table, y)
        learner.target_name_ = name
        table = table.drop(name)
    if isinstance(sample_weight, str):
        require_column(table.columns, sample_weight, "weight")
        learner.weight_name_ = sample_weight
        sample_weight = column_weights(table, sample_weight)
        table = table.drop(learner.weight_name_)
    return table, y, sample_weight


def _check_names(learner: Any, X: Any, table: Table, reset: bool) -> None:
    _check_feature_names(learner, X.arrow if isinstance(X, Table) else X, reset=reset)
    _check_n_features(learner, table.arrow, reset=reset)


def encoded(learner: Any, X: Any) -> Any:
    """Rows of a frame or Table to predict for, by the codes that were fitted."""
    encoder = getattr(learner, "encoder_", None)
    if encoder is None:
        table = without_roles(learner, as_table(X))
        X = table.to_pandas() if isinstance(X, Table) or table.shape[1] < X.shape[1] else X
        return checked_array(learner, X, None, reset=False)
    if encoder.takes_floats:
        rows = float_rows(learner, X)
        if rows is not None and tuple(X.columns) == encoder.names_in and _computable(learner, rows):
            return rows
    rows = encoder.transform(known_table(learner, X))
    refuse_infinite(encoder, rows)
    refuse_huge(learner, rows, encoder.columns.names)
    return rows


def known_table(learner: Any, X: Any) -> Table:
    """X as a table of the columns that were fitted, in their order."""
    whole = as_table(X)
    table = without_roles(learner, whole)
    _check_names(learner, X if len(table.columns) == len(whole.columns) else table, table, False)
    if len(table) == 0:
        raise DataError("the table has columns and no rows; there is nothing to predict for")
    names = learner.encoder_.names_in
    table = table if tuple(table.columns) == names else table.select(names)
    return learner.encoder_.as_learnt(table)


def without_roles(learner: Any, table: Table) -> Table:
    """The table without the columns that were target and weights in ``fit``."""
    for role in ("target_name_", "weight_name_"):
        name = getattr(learner, role, None)
        if name is not None and name in table.columns:
            table = table.drop(name)
    return table
