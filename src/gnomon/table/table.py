"""Table: Arrow columns with a schema that says what they mean."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.table import display
from gnomon.table.frames import arrow_of, arrow_of_columns, arrow_of_pandas, native
from gnomon.table.inference import Hints, infer_arrow
from gnomon.table.kinds import Kind
from gnomon.table.names import repaired
from gnomon.table.recode import Unseen, as_strings, recode
from gnomon.table.schema import WRITING, Column, Schema, no_such_column
from gnomon.table.settle import flattened
from gnomon.table.text_rows import row_writer

if TYPE_CHECKING:
    from gnomon.table.summary import Summary

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
WIDE = 256  # columns: 60 rows of 1,500 are encoded in 30 ms instead of 150
MOST_CELLS = 2**25  # of a wide table are kept as one block, 256 MB


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a file that a table cannot be written to."""
    ending = Path(path).suffix.lower()
    if ending not in (".parquet", ".arrow", ".feather", ".csv", ".tsv"):
        raise DataError(
            f"{path}: the ending {ending!r} is not one that can be written; use .parquet, "
            ".csv, .tsv or .arrow."
        )


class Table:
    """Columns of values, each of a kind: numbers, categories, dates, text ...

    A table is a value: every method gives a new table and shares the columns that did not change.
    Categories are codes inside and names outside; a missing value is missing whatever the kind.

    Parameters
    ----------
    arrow : pyarrow.Table
        The columns.
    schema : Schema, optional
        The kinds; inferred from types and values if it is left out, recoded to if the columns
        differ from it.
    notes : iterable of str
        What was decided or repaired when the table was made, in sentences.

    Examples
    --------
    >>> table = Table.from_dict({"size": ["S", "L", "M"], "price": [3.5, None, 4.0]})
    >>> table.shape
    (3, 2)
    >>> table.schema["price"].kind
    <Kind.NUMBER: 'number'>
    >>> table[table["price"].is_valid().to_numpy()]["size"].to_pylist()
    ['S', 'M']
    """

    def __init__(self, arrow: pa.Table, schema: Schema | None = None, notes: Iterable[str] = ()):
        if schema is None:
            inferred = infer_arrow(arrow)
            arrow, schema = inferred.arrow, inferred.schema
            notes = (*notes, *inferred.notes)
        elif tuple(arrow.column_names) != schema.names:
            raise DataError(
                f"The columns {arrow.column_names!r} are not those of the schema, "
                f"{list(schema.names)!r}."
            )
        for column in schema:
            _check_storage(arrow.column(column.name).type, column)
        self._stored: pa.Table | None = arrow.replace_schema_metadata(None)
        self._taken_from: tuple[Table, np.ndarray] | None = None
        self._schema = schema
        self.notes: list[str] = list(notes)

    @classmethod
    def from_arrow(cls, arrow: Any, schema: Schema | None = None, *, parse: bool = False) -> Table:
        """A table of an Arrow table, record batch, or anything with ``__arrow_c_stream__``.

        Parameters
        ----------
        arrow : object
        schema : Schema, optional
            Kinds of some or all columns; the others are inferred.
        parse : bool
            Whether to look for numbers, booleans and dates in columns of strings.
        """
        return understood(arrow_of(arrow), schema, parse=parse)

    @classmethod
    def from_dict(
        cls, columns: Mapping[str, Any], schema: Schema | None = None, *, parse: bool = False
    ) -> Table:
        """A table of columns by name: lists, arrays or series of one length."""
        arrow, notes = arrow_of_columns(columns)
        return understood(arrow, schema, parse=parse, notes=notes)

    @classmethod
    def from_frame(cls, frame: Any, schema: Schema | None = None, *, parse: bool = False) -> Table:
        """A table of any data frame: pandas, polars, Arrow, narwhals, a dict of columns, a Table.

        Strings stay what they are unless ``parse=True``; see `from_arrow`.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_frame(pd.DataFrame({"a": [1, 2], "b": ["x", None]})).schema.kinds["b"]
        <Kind.CATEGORY: 'category'>
        """
        if isinstance(frame, Table):
            return frame if schema is None else frame.with_schema(schema)
        if isinstance(frame, Mapping):
            return cls.from_dict(frame, schema, parse=parse)
        own = native(frame)
        if type(own).__module__.split(".")[0] == "pandas":
            arrow, notes = arrow_of_pandas(own)
        else:
            arrow, notes = arrow_of(own), []
        return understood(arrow, schema, parse=parse, notes=notes)

    from_pandas = from_frame
    from_polars = from_frame

    @property
    def arrow(self) -> pa.Table:
        """The columns as a pyarrow table."""
        return self._arrow

    @property
    def _arrow(self) -> pa.Table:
        if self._stored is None:
            if self._taken_from is None:
                assert self.cells is not None
                arrays = [pa.array(values) for values in self.cells.T]
                self._stored = pa.table(arrays, names=list(self._schema.names))
            else:
                whole, positions = self._taken_from
                self._stored = whole._arrow.take(pa.array(positions))
        return self._stored

    @classmethod
    def of_cells(cls, cells: np.ndarray, schema: Schema) -> Table | None:
        """A wide table of numbers whose Arrow columns are made when they are needed.

        Parameters
        ----------
        cells : ndarray of shape (n, d)
            float64; not copied, and read-only from here on.
        schema : Schema

        Returns
        -------
        table : Table or None
            None where a table would not keep such cells: of few columns, with a missing cell, or
            not all plain numbers; whole numbers are stored otherwise.
        """
        if not WIDE <= len(schema) <= MOST_CELLS / max(len(cells), 1) or np.isnan(cells).any():
            return None
        if not all(each.kind is Kind.NUMBER and _is_plain_number(each) for each in schema):
            return None
        made = cls.__new__(cls)
        made._stored, made._taken_from, made._schema, made.notes = None, None, schema, []
        cells.flags.writeable = False
        made.__dict__["cells"] = cells
        return made

    @cached_property
    def cells(self) -> np.ndarray | None:
        """The cells of a wide table of nothing but numbers, float64 in C order; else None.

        Wide means 256 columns or more: converting them one by one takes longer than many a fit.
        None too where a cell is missing, or a column has a unit or marks of its own.
        """
        if len(self._schema) < WIDE or len(self) * len(self._schema) > MOST_CELLS:
            return None
        if not all(_is_plain_number(each) for each in self._schema):
            return None
        if any(column.null_count for column in self._arrow.columns):
            return None
        cells = self.to_numpy()
        cells.flags.writeable = False
        return cells

    def __getstate__(self) -> dict[str, Any]:
        return {"_stored": self._arrow, "_schema": self._schema, "notes": self.notes}

    @property
    def schema(self) -> Schema:
        """The kinds of the columns and the reasons for them."""
        return self._schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._schema.names

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self._schema)

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        return self._arrow.nbytes

    def __len__(self) -> int:
        if self._stored is not None:
            return self._stored.num_rows
        if self._taken_from is not None:
            return len(self._taken_from[1])
        assert self.cells is not None
        return len(self.cells)

    def __contains__(self, name: object) -> bool:
        return name in self._schema

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def column(self, name: str) -> pa.ChunkedArray:
        """The values of one column; categories are a dictionary array."""
        if name not in self._schema:
            raise no_such_column(name, self.columns)
        return self._arrow.column(self._schema.position(name))

    def row(self, position: int) -> dict[str, Any]:
        """One row as a dict of Python values.

        Examples
        --------
        >>> Table.from_dict({"a": [1, 2], "b": ["x", "y"]}).row(-1)
        {'a': 2, 'b': 'y'}
        """
        return self._take_rows(position)._arrow.to_pylist()[0]

    def __getitem__(self, key: Any) -> Any:
        """A column by name; a table by names, slice, row number, row numbers or mask of rows."""
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, tuple):
            return self._take_both(key)
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self.select(key)
        return self._take_rows(key)

    def _take_both(self, key: tuple[Any, ...]) -> Any:
        rows, *rest = key
        if len(rest) != 1:
            raise DataError(f"A table has rows and columns; {key!r} asks for {len(key)} things.")
        table = self if rows is Ellipsis else self._take_rows(rows)
        names = rest[0]
        if names is Ellipsis:
            return table
        if isinstance(names, str):
            return table.column(names)
        if isinstance(names, slice):
            return table.select(self.columns[names])
        return table.select(_names_at(self.columns, names))

    def _take_rows(self, key: Any) -> Table:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._with_arrow(self._arrow.slice(start, max(stop - start, 0)))
            key = np.arange(start, stop, step)
        positions = _positions(key, len(self))
        if self.cells is not None:
            return self._with_cells(positions)
        return self._with_arrow(self._arrow.take(pa.array(positions)))

    def _with_cells(self, positions: np.ndarray) -> Table:
        """Some rows of a wide table of numbers; its Arrow columns are taken when they are used."""
        taken = object.__new__(type(self))
        taken._schema, taken.notes = self._schema, list(self.notes)
        taken._stored, taken._taken_from = None, (self, positions)
        assert self.cells is not None
        taken.cells = self.cells[positions]
        taken.cells.flags.writeable = False
        return taken

    def select(self, names: Iterable[str]) -> Table:
        """Some columns, in the order given."""
        names = [names] if isinstance(names, str) else list(names)
        schema = self._schema.select(names)
        return Table(self._arrow.select(names), schema, self.notes)

    def drop(self, names: str | Iterable[str]) -> Table:
        """All columns but these."""
        dropped = [names] if isinstance(names, str) else list(names)
        for name in dropped:
            self._schema[name]
        gone = set(dropped)
        return self.select(name for name in self.columns if name not in gone)

    def rename(self, names: Mapping[str, str]) -> Table:
        """New names for some columns; keys are the present names."""
        schema = self._schema.rename(names)
        return Table(self._arrow.rename_columns(list(schema.names)), schema, self.notes)

    def with_column(
        self, name: str, values: Any, kind: Kind | str | None = None, **properties: Any
    ) -> Table:
        """The table with a column replaced, or added at the end.

        Parameters
        ----------
        name : str
        values : array-like
            One per row; a single string, number, boolean, date or None is repeated.
        kind : Kind or str, optional
            Inferred if it is left out.
        **properties
            Further fields of `Column`, for instance ``levels=["low", "high"]``.

        Examples
        --------
        >>> Table.from_dict({"a": [1, 2]}).with_column("b", ["x", "y"], kind="text").columns
        ('a', 'b')
        """
        values = _repeated(values, len(self))
        added = Table.from_dict({name: values})
        if len(added) != len(self):
            raise DataError(
                f"Column {name!r} has {len(added)} values; the table has {len(self)} rows."
            )
        if kind is not None or properties:
            kind = kind if kind is not None else added.schema[name].kind
            added = added.set(name, kind=kind, **properties)
        position = self.columns.index(name) if name in self else None
        if position is None:
            arrow = self._arrow.append_column(name, added.column(name))
        else:
            arrow = self._arrow.set_column(position, name, added.column(name))
        return Table(arrow, self._schema.with_column(added.schema[name]), self.notes)

    def with_schema(self, schema: Schema, *, unseen: Unseen = "error") -> Table:
        """The table recoded to a schema: kinds are changed, columns put in its order.

        Parameters
        ----------
        schema : Schema
            Its columns must all be in the table; columns that it does not name stay as they are, at
            the end.
        unseen : {"error", "missing", "extend"}
            What to do with a category that is not among the schema's levels.

        Examples
        --------
        >>> table = Table.from_dict({"zip": [8001, 8002, 8001]})
        >>> table = table.with_schema(table.schema.set("zip", kind="category"))
        >>> table.schema["zip"].levels
        ('8001', '8002')
        """
        new_columns, arrays = [], []
        for wanted in schema:
            before = self._schema[wanted.name]
            column, values = self._recoded(before, wanted, unseen)
            new_columns.append(column)
            arrays.append(values)
        for column in self._schema:
            if column.name not in schema:
                new_columns.append(column)
                arrays.append(self.column(column.name))
        arrow = pa.table(arrays, names=[column.name for column in new_columns])
        return Table(arrow, Schema(new_columns), self.notes)

    def _recoded(self, before: Column, wanted: Column, unseen: Unseen) -> Any:
        values = self.column(wanted.name)
        if before.kind == wanted.kind and before.levels == wanted.levels:
            return wanted, values
        return recode(values, wanted, before=before, unseen=unseen)

    def set(self, name: str, **changes: Any) -> Table:
        """Change a column's kind or other properties; short for `with_schema` of a changed schema.

        Examples
        --------
        >>> table = Table.from_dict({"size": ["S", "L", "M"]})
        >>> table.set("size", kind="ordered", levels=["S", "M", "L"]).schema["size"].kind
        <Kind.ORDERED: 'ordered'>
        """
        return self.with_schema(self._schema.set(name, **changes))

    def head(self, n: int = 5) -> Table:
        """The first rows."""
        return self[:n]

    def describe(self) -> Summary:
        """Statistics of every column; see `gnomon.table.describe`."""
        from gnomon.table.summary import describe

        return describe(self)

    def shuffle(
        self, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> Table:
        """The rows in random order (all orders equally likely), whole rows together.

        Data sorted by class break training and cross-validation alike: shuffle before splitting,
        anew for every repetition. A note says when a column of categories was sorted.

        Text: 003 2.1.7.2.2 (Fisher and Yates); the order is NumPy's ``Generator.permutation``.

        Examples
        --------
        >>> table = Table.from_dict({"x": [1, 2, 3], "y": [10, 20, 30]})
        >>> shuffled = table.shuffle(random_state=0)
        >>> all(y == 10 * x for x, y in zip(shuffled["x"].to_pylist(), shuffled["y"].to_pylist()))
        True
        """
        order = _generator(random_state).permutation(len(self))
        shuffled = self[order]
        shuffled.notes = [*self.notes, *(_sorted_note(name) for name in self.sorted_by_class())]
        return shuffled

    def sorted_by_class(self) -> tuple[str, ...]:
        """Columns of categories or booleans whose equal values stand together: shuffle first.

        Examples
        --------
        >>> Table.from_dict({"class": ["a", "a", "b", "b"], "x": [1, 4, 2, 3]}).sorted_by_class()
        ('class',)
        """
        grouped = self._schema.of_kind(Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
        return tuple(name for name in grouped if _is_in_blocks(self.column(name)))

    def to_arrow(self) -> pa.Table:
        """The columns as a pyarrow table."""
        return self._arrow

    def to_pandas(self) -> Any:
        """A pandas data frame; categories become pandas categories."""
        return self._arrow.to_pandas(date_as_object=False)

    def to_polars(self) -> Any:
        """A polars data frame; categories become polars categories."""
        import polars as pl

        return pl.from_arrow(self._arrow)

    def to_dict(self) -> dict[str, list[Any]]:
        """Python lists by column name."""
        return self._arrow.to_pydict()

    def to_numpy(self) -> np.ndarray:
        """Numbers, whole numbers and booleans as a float array, with NaN where missing.

        Raises where a column is of another kind; methods and filters convert such columns by
        themselves.
        """
        other = [column.name for column in self._schema if not _is_matrix_kind(column, self)]
        if other:
            raise DataError(
                f"The columns {', '.join(map(repr, other[:5]))} are not numbers. "
                "Select others, or let a filter encode them."
            )
        matrix = np.empty(self.shape, dtype=np.float64)
        for position, values in enumerate(self._arrow.columns):
            matrix[:, position] = values.cast(pa.float64(), safe=False).to_numpy()
        return matrix

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if all(_is_matrix_kind(column, self) for column in self._schema):
            return self.to_numpy().astype(dtype or np.float64, copy=False)
        if dtype is not None and np.dtype(dtype) != object:
            return self.to_numpy().astype(dtype)
        values = np.empty(self.shape, dtype=object)
        for position, column in enumerate(self._arrow.columns):
            values[:, position] = column.to_pylist()
        return values

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._arrow.__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike[str], *, escape_formulas: bool = False) -> None:
        """Write the table as ``.parquet``, ``.csv``, ``.tsv`` or ``.arrow``, by the name's ending.

        Parameters
        ----------
        path : path
        escape_formulas : bool
            For CSV that will be opened in a spreadsheet: put ``'`` before text that starts with
            ``=``, ``+``, ``-`` or ``@``, so that it is not run as a formula. The text then differs
            from the table's.
        """
        path = Path(path)
        require_writable(path)
        ending = path.suffix.lower()
        writers = {
            ".parquet": self._write_parquet,
            ".arrow": self._write_arrow,
            ".feather": self._write_arrow,
        }
        if ending in writers:
            writers[ending](path)
        else:
            self._write_text(path, "\t" if ending == ".tsv" else ",", escape_formulas)

    def _write_parquet(self, path: Path) -> None:
        import pyarrow.parquet as pq

        pq.write_table(self._arrow.replace_schema_metadata(self._metadata()), path)

    def _write_arrow(self, path: Path) -> None:
        import pyarrow.feather as feather

        feather.write_feather(self._arrow.replace_schema_metadata(self._metadata()), str(path))

    def _metadata(self) -> dict[str, str]:
        return {"gnomon.schema": self._schema.to_toml()}

    def _write_text(self, path: Path, delimiter: str, escape_formulas: bool) -> None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = row_writer(file, delimiter)
            writer.writerow(_guarded(self.columns) if escape_formulas else self.columns)
            for batch in self._arrow.to_batches(max_chunksize=8192):
                rows = Table(pa.Table.from_batches([batch]), self._schema)
                for row in zip(*rows._written_columns(escape_formulas)):
                    writer.writerow(row)

    def _written_columns(self, escape_formulas: bool) -> Iterator[list[str]]:
        for column in self._schema:
            written = as_strings(self.column(column.name), column)
            cells = pc.fill_null(written, "").to_pylist()
            wordy = not column.kind.is_numeric
            yield _guarded(cells) if escape_formulas and wordy else cells

    def equals(self, other: Table) -> bool:
        """Whether names, kinds and values are the same."""
        return self.schema.kinds == other.schema.kinds and self._arrow.equals(other._arrow)

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def _with_arrow(self, arrow: pa.Table) -> Table:
        return Table(arrow, self._schema, self.notes)


def understood(
    arrow: pa.Table,
    schema: Schema | None = None,
    *,
    parse: bool = False,
    hints: Hints | None = None,
    notes: Iterable[str] = (),
) -> Table:
    """The table of Arrow columns: kinds of the schema where it names one, else inferred."""
    if schema is None:
        inferred = infer_arrow(arrow, parse=parse, hints=hints)
        return Table(inferred.arrow, inferred.schema, [*notes, *inferred.notes])
    arrow, flat_notes = flattened(arrow)
    names, repairs = repaired(arrow.column_names)
    arrow = arrow.rename_columns(names)
    known = set(names)
    for column in schema:
        if column.name not in known:
            raise no_such_column(column.name, names)
    inferred = infer_arrow(arrow, parse=parse, hints=hints, only=lambda name: name not in schema)
    columns, arrays = [], []
    for position, name in enumerate(names):
        if name not in schema:
            columns.append(inferred.schema[name])
            arrays.append(inferred.arrow.column(name))
            continue
        wanted = schema[name] if hints is None else hints.completed(schema[name])
        column, values = recode(arrow.column(position), wanted, written=parse)
        columns.append(column)
        arrays.append(values)
    return Table(
        pa.table(arrays, names=names),
        Schema(columns),
        [*notes, *flat_notes, *repairs, *inferred.notes],
    )


def _check_storage(stored: pa.DataType, column: Column) -> None:
    fits = {
        Kind.NUMBER: pa.types.is_floating,
        Kind.INTEGER: pa.types.is_integer,
        Kind.CATEGORY: pa.types.is_dictionary,
        Kind.ORDERED: pa.types.is_dictionary,
        Kind.BOOLEAN: pa.types.is_boolean,
        Kind.DATETIME: lambda kind_of: pa.types.is_date(kind_of) or pa.types.is_timestamp(kind_of),
        Kind.TEXT: _is_words,
        Kind.IDENTIFIER: lambda kind_of: _is_words(kind_of) or pa.types.is_integer(kind_of),
    }[column.kind]
    if not fits(stored):
        raise DataError(
            f"Column {column.name!r} is stored as {stored}, which does not fit its kind, "
            f"{str(column.kind)!r}. Make the table with Table.from_arrow(arrow, schema)."
        )


def _is_plain_number(column: Column) -> bool:
    if column.kind not in (Kind.NUMBER, Kind.INTEGER):
        return False
    return all(getattr(column, field) is None for field in WRITING)


def _is_words(kind_of: pa.DataType) -> bool:
    return pa.types.is_string(kind_of) or pa.types.is_large_string(kind_of)


def _is_matrix_kind(column: Column, table: Table) -> bool:
    if column.kind in (Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN):
        return True
    return column.kind is Kind.IDENTIFIER and pa.types.is_integer(table.column(column.name).type)


def _names_at(names: Sequence[str], key: Any) -> list[str]:
    if isinstance(key, (int, np.integer)):
        return [names[int(key)]]
    if len(key) and all(isinstance(name, str) for name in key):
        return list(key)
    return [names[position] for position in _positions(key, len(names))]


def _positions(key: Any, n: int) -> np.ndarray:
    """Row numbers that a number, a list of numbers or a mask of length n asks for."""
    if isinstance(key, (pa.Array, pa.ChunkedArray)):
        key = key.to_numpy(zero_copy_only=False) if isinstance(key, pa.Array) else key.to_numpy()
    key = np.atleast_1d(np.asarray(key))
    if key.dtype == object and len(key):
        raise DataError("A mask or list of rows must not have missing entries.")
    if key.dtype == bool:
        if len(key) != n:
            raise DataError(f"The mask has {len(key)} entries; there are {n} rows.")
        return np.flatnonzero(key)
    if key.size == 0:
        return np.zeros(0, dtype=np.int64)
    if key.dtype.kind not in "iu" or key.ndim != 1:
        raise DataError(f"Rows are selected by number, slice or mask, not by {key!r}.")
    key = key.astype(np.int64)
    wrong = (key < -n) | (key >= n)
    if wrong.any():
        raise IndexError(f"Row {key[wrong][0]} does not exist; there are {n} rows.")
    return np.where(key < 0, key + n, key)


def _repeated(values: Any, n: int) -> Any:
    single = values is None or isinstance(values, str) or np.ndim(values) == 0
    if single and not hasattr(values, "__len__"):
        return [values] * n
    return [values] * n if isinstance(values, str) else values


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    return np.random.default_rng(random_state)


def _is_in_blocks(values: pa.ChunkedArray) -> bool:
    """Whether equal values stand together: as many runs as distinct values, not all distinct."""
    known = values.combine_chunks()
    codes = known.indices if pa.types.is_dictionary(known.type) else known.cast(pa.int8())
    codes = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False)
    if len(codes) < 4:
        return False
    runs = 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
    distinct = len(np.unique(codes))
    return 1 < distinct < len(codes) and runs == distinct


def _sorted_note(name: str) -> str:
    return f"The rows were sorted by {name!r} before the shuffle."


def _guarded(cells: Iterable[str]) -> list[str]:
    return [f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell for cell in cells]
