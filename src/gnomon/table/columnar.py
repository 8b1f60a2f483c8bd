"""Parquet and Arrow files: types are kept, kinds are restored where gnomon wrote the file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from gnomon.table.errors import ReadError
from gnomon.table.schema import Schema, no_such_column
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

SCHEMA_KEY = b"gnomon.schema"


def read_parquet(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A Parquet file as a table."""
    import pyarrow.parquet as pq

    return _read(source, schema, columns, lambda file: pq.read_table(file))


def read_arrow(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """An Arrow (Feather) file or stream as a table."""
    return _read(source, schema, columns, lambda file: open_arrow(file).read_all())


def open_arrow(file: Any) -> Any:
    """A reader of Arrow's file or stream form."""
    start = file.read(6)
    file.seek(0)
    return pa.ipc.open_file(file) if start == b"ARROW1" else pa.ipc.open_stream(file)


def stored_schema(arrow_schema: pa.Schema) -> Schema | None:
    """The schema that `Table.save` put into the file's metadata."""
    written = (arrow_schema.metadata or {}).get(SCHEMA_KEY)
    if written is None:
        return None
    try:
        return Schema._from_content(tomllib.loads(written.decode("utf-8")), "stored schema")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ReadError):
        return None


def selected(arrow: pa.Table, columns: Any) -> pa.Table:
    """Some columns of an Arrow table; an unknown name is a clear error."""
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if name not in arrow.column_names:
            raise no_such_column(name, arrow.column_names)
    return arrow.select(names)


def damaged(source: ByteSource, error: Exception) -> ReadError:
    """The error for a file that Arrow cannot read."""
    return ReadError(
        f"is damaged or cut off ({error})", file=source.name, remedy="Write or fetch it again."
    )


def _read(
    source: ByteSource, schema: Schema | None, columns: Any, reader: Callable[[Any], pa.Table]
) -> Table:
    try:
        with source.open_native() as file:
            arrow = reader(file)
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise damaged(source, error) from error
    stored = stored_schema(arrow.schema)
    if columns is not None:
        arrow = selected(arrow, columns)
    if schema is None and stored is not None:
        schema = Schema(column for column in stored if column.name in arrow.column_names)
    return understood(arrow, schema)
