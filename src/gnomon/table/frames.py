"""Data frames and Python values of any make as Arrow columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.engine.missing import is_missing
from gnomon.table.notes import warn

REFUSALS = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    OverflowError,
    UnicodeDecodeError,
)


def native(frame: Any) -> Any:
    """The frame that narwhals has wrapped, or the frame itself."""
    import narwhals as nw

    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, (nw.DataFrame, nw.Series)):
        return frame.to_native()
    return frame


def arrow_of(frame: Any) -> pa.Table:
    """Any frame with the Arrow interface as an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    if hasattr(frame, "collect") and type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise _unknown_type(frame, error) from error
    if hasattr(frame, "to_arrow"):
        return arrow_of(frame.to_arrow())
    raise DataError(
        f"{type(frame).__name__} is not a table that gnomon knows: give a pandas, polars, Arrow or "
        "narwhals frame, a dict of columns, or a file."
    )


def _unknown_type(frame: Any, error: Exception) -> DataError:
    """The error that names the columns whose type Arrow does not know."""
    unknown = []
    for name in getattr(frame, "columns", ()):
        try:
            pa.table(frame[[name]])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            unknown.append(f"{name!r} ({frame[name].dtype})")
    return DataError(
        f"the frame cannot be read: {error}. Cast to another type, or leave out: "
        f"{', '.join(unknown) or 'the column of that type'}"
    )


def arrow_of_columns(columns: Mapping[str, Any]) -> tuple[pa.Table, list[str]]:
    """Columns by name as an Arrow table, and what had to be changed, in sentences."""
    notes: list[str] = []
    arrays = {}
    for name, values in columns.items():
        arrays[str(name)], note = arrow_of_values(str(name), values)
        notes.extend(note)
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"The columns differ in length: {lengths!r}.")
    return pa.table(list(arrays.values()), names=list(arrays)), notes


def arrow_of_values(name: str, values: Any) -> tuple[pa.ChunkedArray | pa.Array, list[str]]:
    """One column of any make as an Arrow array; without a common type, as text, with a note."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values, []
    if not isinstance(values, Iterable) and np.ndim(values) != 1:
        raise DataError(f"Column {name!r} is {values!r}, not a column of values.")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"Column {name!r} has {values.ndim} dimensions; give one column per name.")
    if hasattr(values, "__arrow_c_stream__") and not _is_pandas(values):
        return pa.chunked_array(values), []
    if type(getattr(values, "dtype", None)).__name__ == "SparseDtype":
        values = np.asarray(values)
    if not hasattr(values, "dtype") or getattr(values.dtype, "kind", "") == "U":
        values = list(values) if not hasattr(values, "tolist") else values.tolist()
    try:
        return pa.array(values, from_pandas=True), []
    except REFUSALS:
        return _mixed_as_text(name, values)


def _mixed_as_text(name: str, values: Any) -> tuple[pa.Array, list[str]]:
    kinds = sorted({type(value).__name__ for value in values if not is_missing(value)})
    what = f"mixes {', '.join(kinds)}" if len(kinds) > 1 else f"holds {kinds[0]} of several makes"
    if kinds == ["int"]:
        what = "holds numbers beyond 64 bits"
    note = f"Column {name!r} {what}; its values are kept as text."
    warn(note)
    written = [None if is_missing(value) else _written(value) for value in values]
    return pa.array(written, pa.binary() if "bytes" in kinds else pa.string()), [note]


def _written(value: Any) -> str | bytes:
    """A value as text; bytes stay, to be understood as text or refused with the column's name."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=str, ensure_ascii=False)
    return value if isinstance(value, bytes) else str(value)


def arrow_of_pandas(frame: Any) -> tuple[pa.Table, list[str]]:
    """The columns of a pandas frame or series; a named index is left out, with a note."""
    if frame.ndim == 1:
        frame = frame.to_frame()
    names = [str(name) for name in frame.columns]
    arrays, notes = [], []
    if any(name is not None for name in frame.index.names):
        listed = ", ".join(repr(str(name)) for name in frame.index.names)
        notes.append(f"The index {listed} is left out; reset_index() makes it a column.")
    for position, name in enumerate(names):
        values, note = arrow_of_values(name, frame.iloc[:, position])
        arrays.append(values)
        notes.extend(note)
    return pa.table(arrays, names=names), notes


def _is_pandas(values: Any) -> bool:
    return type(values).__module__.split(".")[0] == "pandas"


def arrow_of_rows(names: Iterable[str], rows: list[Any]) -> tuple[pa.Table, list[str]]:
    """Rows of Python values, as a data base or a spreadsheet gives them, as columns."""
    names = list(names)
    columns = list(zip(*rows)) if rows else [()] * len(names)
    arrays, notes = [], []
    for name, values in zip(names, columns):
        array, note = arrow_of_values(name, values)
        arrays.append(array)
        notes.extend(note)
    return pa.table(arrays, names=names), notes
