"""Rows of numbers from anything that functions (not estimators) are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.types as types
from sklearn.utils.validation import check_array

from gnomon.contract.intake import as_table, is_frame
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.table.encode import TableEncoder
from gnomon.table.table import Table


def number_rows(X: Any, name: str = "X") -> np.ndarray:
    """Rows of finite numbers as a C-contiguous float64 array; tables become what methods see."""
    if isinstance(X, Table) or is_frame(X):
        table = as_table(X)
        X = TableEncoder(Takes()).fit(table).transform(table)
    return np.ascontiguousarray(check_array(X, dtype=np.float64, input_name=name))


def plain_numbers(X: Any, name: str = "X") -> Any:
    """X where it is no table, else its columns as float64; refuses text and missing cells by name.

    For functions whose result stands in the units of the columns, so that nothing may be made of
    text, nor put where a cell is missing.
    """
    if not (isinstance(X, Table) or is_frame(X)):
        return X
    table = as_table(X)
    columns = []
    for column in table.columns:
        values = table.column(column)
        if not (_is_number(values.type) or types.is_null(values.type)):
            raise DataError(
                f"column {column!r} of {name} holds {values.type}, not numbers: leave it out, or "
                "make numbers of it with a filter of gnomon.table"
            )
        if values.null_count:
            first = values.is_null().to_pylist().index(True)
            raise DataError(
                f"column {column!r} of {name} has {values.null_count:,} missing cells (the first "
                f"in row {first}): leave these rows out, or fill them"
            )
        columns.append(values.cast("float64").to_numpy())
    return np.column_stack(columns)


def _is_number(kind: Any) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
