"""Parquet and Arrow files: types are kept, kinds are restored where gnomon wrote the file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine import memory
from gnomon.table.errors import ReadError
from gnomon.table.schema import Schema, no_such_column
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

STREAM = "Stream it with gnomon.table.scan."
SCHEMA_KEY = b"gnomon.schema"


def read_parquet(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A Parquet file as a table."""
    import pyarrow.parquet as pq

    def whole(file: Any) -> pa.Table:
        found = pq.ParquetFile(file)
        # equal values are written once, so that a small file may hold very many rows
        cells = found.metadata.num_rows * sum(map(_width, found.schema_arrow.types))
        memory.require(cells, f"Reading {source.name}", STREAM)
        _require_texts(file, found, source.name)
        file.seek(0)
        return pq.read_table(file)

    return _read(source, schema, columns, whole)


def _require_texts(file: Any, found: Any, name: str) -> None:
    """Refuse texts that a Parquet file writes once and repeats beyond the memory limit.

    Only their places are read, and only where the longest text that can be would take too much in
    all cells. Texts inside lists and records are not looked at.
    """
    import pyarrow.parquet as pq

    kinds = found.schema_arrow
    texts = [each.name for each in kinds if pa.types.is_string(each.type) or _is_bytes(each.type)]
    groups = map(found.metadata.row_group, range(found.metadata.num_row_groups))
    chunks = [group.column(k) for group in groups for k in range(group.num_columns)]
    chunks = [each for each in chunks if each.path_in_schema in texts]
    most = sum(each.num_values * each.total_uncompressed_size for each in chunks)
    if most <= memory.limit():
        return
    file.seek(0)
    size = 0
    for batch in pq.ParquetFile(file, read_dictionary=texts).iter_batches(columns=texts):
        size += sum(map(_unfolded_bytes, batch.columns))
        memory.require(size, f"Reading {name}", STREAM)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _unfolded_bytes(column: pa.Array) -> int:
    """Bytes of texts, each as often as it occurs."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary)
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)


def read_arrow(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """An Arrow (Feather) file or stream as a table."""

    def whole(file: Any) -> pa.Table:
        reader = open_arrow(file)
        batches, size = [], 0
        for batch in batches_of(reader):
            batches.append(batch)
            size += sum(map(_own_bytes, batch.columns))
            memory.require(size, f"Reading {source.name}", STREAM)
        return pa.Table.from_batches(batches, reader.schema)

    return _read(source, schema, columns, whole)


def batches_of(reader: Any) -> Iterator[pa.RecordBatch]:
    """The batches of Arrow's file or stream form."""
    if hasattr(reader, "get_batch"):
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)
    else:
        yield from reader


def _own_bytes(column: pa.Array) -> int:
    """Bytes of a batch's column, without a dictionary, which all batches share."""
    return int((column.indices if pa.types.is_dictionary(column.type) else column).nbytes)


def _width(kind: pa.DataType) -> int:
    """Bytes of each cell, where all cells take as many."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


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
