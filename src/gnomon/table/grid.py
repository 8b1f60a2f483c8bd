"""Rows of any make: an array, a frame or a Table as columns, cut and put together in its make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.table.codes import as_numbers
from gnomon.table.frames import arrow_of, arrow_of_pandas, native
from gnomon.table.kinds import Kind
from gnomon.table.schema import Column, Schema
from gnomon.table.settle import settled
from gnomon.table.table import WIDE, Table, understood

Values = Any


def is_table(X: Any) -> bool:
    """Whether X has named columns: a Table, or a frame of a kind that narwhals knows."""
    if isinstance(X, np.ndarray):  # narwhals looks for long
        return False
    return isinstance(X, (Table, nw.DataFrame)) or nw.dependencies.is_into_dataframe(X)


class Grid:
    """Rows in named columns.

    Parameters
    ----------
    original : array, frame or Table
        What the user gave; it decides the make of what comes out.
    arrow : pyarrow.Table or None
        Its columns; None for an array of numbers.
    schema : Schema or None
        Their kinds, where they are needed.
    """

    def __init__(self, original: Any, arrow: pa.Table | None = None, schema: Schema | None = None):
        self.original = original
        self.arrow = arrow
        self.schema = schema

    @classmethod
    def of(cls, X: Any, kinds: bool) -> Grid:
        """The grid of an array of numbers or words, a frame or a Table."""
        if isinstance(X, Table):
            return cls(X, X.arrow, X.schema)
        if not is_table(X):
            return cls._of_array(X, kinds)
        X = native(X)
        if kinds:
            table = with_numbers(Table.from_frame(X))
            return cls(X, table.arrow, table.schema)
        module = type(X).__module__.partition(".")[0]
        return cls(X, arrow_of_pandas(X)[0] if module == "pandas" else arrow_of(X))

    @classmethod
    def _of_array(cls, X: np.ndarray, kinds: bool) -> Grid:
        if X.dtype.kind not in "OUS":
            return cls(X)
        columns = {f"x{j}": X[:, j].astype(object).tolist() for j in range(X.shape[1])}
        table = Table.from_dict(columns)
        return cls(X, table.arrow, table.schema if kinds else None)

    @property
    def is_array(self) -> bool:
        return isinstance(self.original, np.ndarray)

    @property
    def n_rows(self) -> int:
        return len(self.original) if self.arrow is None else self.arrow.num_rows

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        if self.arrow is None:
            return [f"x{j}" for j in range(self.original.shape[1])]
        return list(self.arrow.column_names)

    @property
    def columns(self) -> list[Column]:
        """Name and kind of every column."""
        if self.arrow is None:
            return [Column(name, Kind.NUMBER, "an array of numbers") for name in self.names]
        assert self.schema is not None
        return list(self.schema)

    def column(self, position: int) -> pa.ChunkedArray:
        """One column; NaN in an array of numbers is a missing cell."""
        if self.arrow is None:
            return pa.chunked_array([pa.array(self.original[:, position], from_pandas=True)])
        return settled(self.arrow.column(int(position)), self.names[position])[0]

    def passed(self, position: int) -> Values:
        """One column as it goes through unchanged."""
        return (
            self.original[:, position] if self.arrow is None else self.arrow.column(int(position))
        )

    def numbers(self, positions: Sequence[int]) -> np.ndarray:
        """Some columns as float64 of shape (n, len(positions)), NaN where missing."""
        if self.arrow is None:
            if len(positions) == self.original.shape[1]:
                return self.original
            return self.original[:, list(positions)]
        cells = self.original.cells if isinstance(self.original, Table) else None
        if cells is not None and self.original.arrow is self.arrow:
            return cells[:, list(positions)]
        names = self.names
        block = np.empty((self.n_rows, len(positions)))
        for place, position in enumerate(positions):
            block[:, place] = as_numbers(self.column(position), names[position])
        return block

    def kept(self, mask: np.ndarray) -> Grid:
        """Some of the rows."""
        if self.arrow is None:
            return Grid(self.original[mask])
        return Grid(self.original, self.arrow.filter(pa.array(mask)), self.schema)

    def rebuilt(self, names: list[str], values: list[Values], passed: list[int], make: str) -> Any:
        """Columns in the make of the original, or in the one requested.

        Parameters
        ----------
        names : list of str
        values : list
            Per column an array of numbers or an Arrow array.
        passed : list of int
            Per column its position in the original where it goes through unchanged, else -1.
        make : {"default", "pandas", "polars"}
        """
        if self.is_array and make == "default":
            return as_array(values)
        if make == "pandas" or (make == "default" and _is_pandas(self.original)):
            return self._as_pandas(names, values, passed)
        as_table = isinstance(self.original, Table) and make == "default"
        if as_table and (made := _of_floats(names, values)) is not None:
            return made
        arrays = [_as_arrow(each) for each in values]
        arrow = pa.table(arrays, names=names)
        if as_table:
            return self._as_table(arrow, values, passed)
        if make == "polars" or type(self.original).__module__.startswith("polars"):
            import polars

            return polars.from_arrow(arrow)
        return arrow

    def _as_pandas(self, names: Any, values: Any, passed: Any) -> Any:
        import pandas

        index = self.original.index if _is_pandas(self.original) else None
        series = []
        for each, position in zip(values, passed):
            if position >= 0 and index is not None:
                series.append(self.original.iloc[:, position].reset_index(drop=True))
            elif isinstance(each, np.ndarray):
                series.append(pandas.Series(each))
            else:
                series.append(each.to_pandas())
        frame = pandas.concat(series, axis=1) if series else pandas.DataFrame()
        frame.columns = names
        if index is not None:
            frame.index = index
        return frame

    def _as_table(self, arrow: Any, values: Any, passed: Any) -> Any:
        columns_in = self.original.columns
        kept = [columns_in[position] for position in passed if position >= 0]
        known = {name: self.original.schema[name] for name in kept}
        columns = []
        for name, each in zip(arrow.column_names, values):
            if name in known:
                columns.append(known[name])
            elif isinstance(each, np.ndarray):
                columns.append(made_by_a_filter(name))
        schema = Schema(columns)
        if schema.names == tuple(arrow.column_names) and all(map(_is_settled, values, passed)):
            return Table(arrow, schema)
        return understood(arrow, schema)


def with_numbers(table: Table) -> Table:
    """A frame's columns of numbers are numbers, also where they look like identifiers."""
    schema = table.schema
    for column in schema:
        stored = table.column(column.name).type
        if column.kind is Kind.IDENTIFIER and pa.types.is_integer(stored):
            schema = schema.set(column.name, kind="integer")
    return table if schema is table.schema else table.with_schema(schema)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows (a mask or positions) of an array, series, frame or Table, in its make."""
    rows = np.asarray(rows)
    positions = np.flatnonzero(rows) if rows.dtype == bool else rows
    if X is None:
        return None
    X = native(X)
    if isinstance(X, Table):
        return X[positions]
    if hasattr(X, "iloc"):
        return X.iloc[positions]
    if hasattr(X, "take") and type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(positions)
    if type(X).__module__.partition(".")[0] == "polars":
        return X[positions]
    if isinstance(X, (list, tuple)):
        return [X[position] for position in positions]
    return X[positions]


def n_rows_of(X: Any) -> int:
    """Number of rows of an array, frame or Table."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def label_array(y: Any) -> np.ndarray:
    """Labels as a plain array; missing ones as None."""
    y = native(y)
    if hasattr(y, "to_pylist"):
        return np.array(y.to_pylist(), dtype=object)
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if values.ndim != 1:
        raise DataError(f"labels must be one column, not an array of shape {values.shape}")
    return values


def as_array(values: list[Values]) -> np.ndarray:
    """Columns side by side: float64 where all are numbers, objects otherwise."""
    if all(isinstance(each, np.ndarray) and each.dtype.kind in "fiub" for each in values):
        return np.column_stack(values).astype(np.float64, copy=False)
    lists = [each.tolist() if isinstance(each, np.ndarray) else each.to_pylist() for each in values]
    rows = np.empty((len(lists[0]), len(lists)), dtype=object)
    for place, each in enumerate(lists):
        rows[:, place] = each
    return rows


def refuse_infinite(block: np.ndarray, names: Sequence[str]) -> None:
    infinite = np.isinf(block)
    if infinite.any():
        row, place = np.argwhere(infinite)[0]
        raise DataError(
            f"column {names[place]!r}, row {row} is infinite; mark it as missing or put a "
            "finite number there"
        )


def refuse_missing(block: np.ndarray, names: Sequence[str], filter_name: str) -> None:
    missing = np.isnan(block)
    if missing.any():
        row, place = np.argwhere(missing)[0]
        raise DataError(
            f"{filter_name} cannot work with missing values: column {names[place]!r} misses "
            f"{int(missing[:, place].sum()):,} (first: row {row}); use Impute first"
        )


def refuse_huge(block: np.ndarray, names: Sequence[str], largest: float) -> None:
    if block.size == 0 or not np.isfinite(largest):
        return
    if max(np.nanmax(block, initial=0), -np.nanmin(block, initial=0)) > largest:
        row, place = np.argwhere(np.abs(block) > largest)[0]
        raise DataError(
            f"column {names[place]!r}, row {row} holds {block[row, place]:g}, beyond {largest:g}: "
            "its square would overflow. Rescale the column or mark such values as missing"
        )


def _is_pandas(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas"


def made_by_a_filter(name: str) -> Column:
    """A column of numbers that a filter gives."""
    return Column(name, Kind.NUMBER, "made by a filter")


def _of_floats(names: list[str], values: list[Values]) -> Table | None:
    """A table of nothing but new numbers, where tables keep their cells together."""
    if not all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in values):
        return None
    if len(names) < WIDE:
        return None
    return Table.of_cells(np.column_stack(values), Schema(map(made_by_a_filter, names)))


def _is_settled(values: Values, position: int) -> bool:
    """Whether a column is stored as tables hold it: as it was in one, or floats without NaN."""
    return position >= 0 or (isinstance(values, np.ndarray) and values.dtype.kind == "f")


def _as_arrow(values: Values) -> Any:
    if isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=values.dtype.kind == "f")
    return values
