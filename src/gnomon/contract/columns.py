"""Columns of whatever holds rows, and the same rows with a column set to another value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.contract.intake import as_table, is_frame
from gnomon.table.table import Table


class Rows:
    """Rows of an array or table of which single columns can be read and replaced.

    Parameters
    ----------
    X : array-like, data frame or Table
    """

    def __init__(self, X: Any):
        self.is_table = isinstance(X, Table) or is_frame(X)
        self.X: Any = as_table(X) if self.is_table else np.asarray(X, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.X)

    def name(self, column: int | str) -> str:
        """The name of a column that is given by name or position."""
        return str(column) if isinstance(column, str) else self.names[column]

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1 ... of an array."""
        if self.is_table:
            return list(self.X.columns)
        return [f"x{j}" for j in range(self.X.shape[1])]

    def values(self, column: int | str) -> np.ndarray:
        """A column: numbers as floats, else as objects."""
        if not self.is_table:
            return np.asarray(self.X[:, self._position(column)])
        stored = self.X.column(self.name(column))
        if pa.types.is_floating(stored.type) or pa.types.is_integer(stored.type):
            return np.asarray(stored.cast(pa.float64(), safe=False).to_numpy())
        values = stored.to_pylist()
        if all(v is None or isinstance(v, (int, float)) for v in values):
            return np.array([np.nan if v is None else v for v in values], np.float64)
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made

    def with_values(self, column: int | str, values: Any) -> Any:
        """The rows with another column in place of one (a single value is repeated)."""
        if self.is_table:
            name = self.name(column)
            return self.X.with_column(name, values, kind=self.X.schema[name].kind)
        rows = self.X.copy()
        rows[:, self._position(column)] = values
        return rows

    def replaced(self, columns: dict[str, Any]) -> Rows:
        """The rows with several columns replaced."""
        made = self
        for name, values in columns.items():
            made = Rows(made.with_values(name, values))
        return made

    def taken(self, places: np.ndarray) -> Rows:
        """Some of the rows."""
        other = object.__new__(Rows)
        other.is_table, other.X = self.is_table, self.X[places]
        return other

    def _position(self, column: int | str) -> int:
        return self.names.index(column) if isinstance(column, str) else int(column)


def grid_of(values: np.ndarray, n_points: int) -> tuple[np.ndarray, bool]:
    """Places along a column, from its 2nd to its 98th percentile; all levels of a category.

    Whole numbers stay whole.
    """
    if values.dtype.kind != "f":
        return np.array(
            sorted({v for v in values.tolist() if v is not None}, key=str), object
        ), False
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if len(distinct) <= n_points:
        return distinct, True
    low, high = np.quantile(known, [0.02, 0.98])
    places = np.linspace(low, high, n_points)
    whole = bool((distinct == np.rint(distinct)).all())
    return (np.unique(np.rint(places)) if whole else places), True
