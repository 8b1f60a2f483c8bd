"""`read`: anything in, a table out."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gnomon.engine import memory
from gnomon.engine.errors import MemoryLimitError
from gnomon.table import delimited, formats
from gnomon.table.archive import unpacked
from gnomon.table.columnar import read_arrow, read_parquet, selected
from gnomon.table.errors import ReadError, UnknownOption
from gnomon.table.kinds import Kind
from gnomon.table.notes import counted, warn
from gnomon.table.schema import Column, Schema
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

# Judgement: bytes of memory per byte of text while it is parsed, on the high side.
MEMORY_PER_BYTE = {"delimited": 4, "json": 8, "arff": 8}
SchemaLike = Schema | Mapping[str, Any] | str | os.PathLike[str]


def read(source: Any = None, *, schema: SchemaLike | None = None, **options: Any) -> Table:
    """Read a table from a file, a data base, a query or a data frame.

    How a text file is written (delimiter, quotes, encoding, header, decimal mark, missing words
    ...) is found out and told in ``table.notes``; what a column means (its kind) is inferred from
    all its values and told in ``table.schema``. What cannot be understood is refused with the file,
    the line, the column and a remedy. Use `scan` for files larger than memory.

    Parameters
    ----------
    source : path, ``postgresql://`` URL, data frame, dict of columns, bytes or binary file
        CSV, TSV and other delimited text, Parquet, Arrow or Feather, JSON (lines or an array of
        objects), ARFF, Excel, SQLite, DuckDB; text may be compressed (gzip, bzip2, zstd, xz), and a
        file may stand in a zip archive. Files are read from disk, not fetched. A pandas, polars,
        Arrow or narwhals frame, whose types are kept.
    schema : Schema, dict or path, optional
        Kinds of some or all columns: a `Schema`, ``{"zip": "category"}``, or a file that
        `Schema.save` wrote. If it is left out, ``FILE.schema.toml`` beside the file is used where
        it exists.
    **options
        All sources: ``columns`` (names to read). Zip archives: ``member``. Delimited text:
        ``delimiter`` (``"whitespace"`` for runs of spaces), ``quote``, ``escape``, ``encoding``,
        ``header``, ``names``, ``decimal``, ``thousands``, ``missing`` (a word or words in place of
        the usual ones; an empty cell is missing in any case), ``day_first``, ``comment``,
        ``skip_rows``, ``ragged="pad"``. Excel: ``sheet``, ``header``, ``skip_rows``, ``missing``.
        SQLite, DuckDB, PostgreSQL: ``table`` or ``sql``. Without a source: ``sql``, anything that
        DuckDB speaks, with ``tables`` (dict of frames to be queried). Frames: ``parse=True`` to
        look for numbers and dates in strings.

    Returns
    -------
    Table

    Raises
    ------
    ReadError
        With attributes ``file``, ``line``, ``column`` and ``remedy``.

    Notes
    -----
    Text: 003 section 9 (delimited text and ARFF with automatic column kinds).

    Examples
    --------
    >>> table = read(b"name;height\\nAda;1,70 m\\nBo;NA\\n")
    >>> table.schema["height"].unit
    'm'
    >>> table["height"].to_pylist()
    [1.7, None]
    """
    columns = options.pop("columns", None)
    given = as_schema(schema)
    if source is None:
        from gnomon.table.sql import read_sql

        table = read_sql(given, options)
    elif isinstance(source, str) and source.split("://")[0] in ("postgresql", "postgres"):
        from gnomon.table.sql import read_postgres

        table = read_postgres(source, given, options)
    elif is_bytes_like(source):
        table = _read_file(source, given, options, columns)
    else:
        parse = options.pop("parse", False)
        refuse_unknown(options, {"parse", "columns"}, "a data frame")
        table = Table.from_frame(source, given, parse=parse)
    return table if columns is None else table.select(columns)


def is_bytes_like(source: Any) -> bool:
    """Whether a source is a file, or its content, rather than a data frame."""
    if isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)):
        return True
    return hasattr(source, "read") and not hasattr(source, "__arrow_c_stream__")


def _read_file(given: Any, schema: Schema | None, options: dict[Any, Any], columns: Any) -> Table:
    source = unpacked(ByteSource(given), options.pop("member", None))
    name, notes = formats.format_of(source)
    if schema is None:
        schema, found = saved_schema(source)
        notes += found
    if columns is not None and schema is not None:
        schema = Schema(column for column in schema if column.name in set(columns))
    accepted, reader = readers()[name]
    refuse_unknown(options, accepted | {"columns"}, f"a file of format {name}", source.name)
    _require_memory(source, name)
    try:
        table = reader(source, schema, options, columns)
    except ReadError as error:
        raise (error if error.file else error.at(file=source.name)) from error.__cause__
    source.check_unchanged()
    if not len(table):
        raise ReadError(
            "has a header but no rows" if table.columns else "has no rows",
            file=source.name,
            remedy="Check that it was written completely.",
        )
    table.notes[:0] = notes
    return table


def _require_memory(source: ByteSource, name: str) -> None:
    """Refuse a text file that cannot fit before it is read; a compressed one is counted first."""
    if name not in MEMORY_PER_BYTE:
        return
    factor, remedy = MEMORY_PER_BYTE[name], "Stream it with gnomon.table.scan."
    if source.compression is None:
        if source.stamp is not None:
            memory.require(factor * source.stamp.size, f"Reading {source.name}", remedy)
    elif source.is_longer_than(memory.limit() // factor):
        raise MemoryLimitError(
            f"Reading {source.name} needs more than {memory.readable(memory.limit())}, the limit: "
            f"its {source.compression} data unpack to very much text. {remedy}"
        )


def read_delimited(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A table of delimited text; see `gnomon.table.delimited`."""
    file = delimited.DelimitedFile(source, options)
    for note in file.warnings:
        warn(note)
    given = set() if schema is None else set(schema.names)
    written = file.columns(written=given)
    if file.blank_lines:
        file.notes.append(f"{counted(file.blank_lines, 'blank line')} left out.")
    if columns is not None:
        written = selected(written, columns)
    if not len(written):
        written = file.strings()
        return Table(written, Schema(Column(name, Kind.TEXT) for name in written.column_names))
    try:
        return understood(written, schema, parse=True, hints=file.hints, notes=file.notes)
    except ReadError as error:
        if error.row is None or error.file:
            raise
        raise error.at(file=source.name, line=file.line_of_row(error.row - 1)) from None


def saved_schema(source: ByteSource) -> tuple[Schema | None, list[str]]:
    """The schema saved beside a file, and the sentence that says so."""
    if source.path is None:
        return None, []
    for beside in (
        source.path.with_name(source.path.name + ".schema.toml"),
        source.path.with_name(source.path.name.split(".")[0] + ".schema.toml"),
    ):
        if beside.is_file():
            return Schema.load(beside), [f"Kinds are taken from {beside.name} beside the file."]
    return None, []


def as_schema(schema: SchemaLike | None) -> Schema | None:
    """The schema that a dict, a file or a schema stands for."""
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, Mapping):
        return Schema(_as_column(name, wanted) for name, wanted in schema.items())
    return Schema.load(Path(schema))


def _as_column(name: str, wanted: Any) -> Column:
    if isinstance(wanted, Column):
        return wanted
    fields = dict(wanted) if isinstance(wanted, Mapping) else {"kind": wanted}
    return Column(name, **{"reason": "set by hand", **fields})


def refuse_unknown(
    options: dict[Any, Any], accepted: set[Any] | frozenset[Any], what: str, file: str | None = None
) -> None:
    """Raise for an option that the format does not have, naming those that it has."""
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise UnknownOption(
            f"{f'{file}: ' if file else ''}{', '.join(map(repr, unknown))} is no option for "
            f"{what}; the options are {', '.join(sorted(accepted))}."
        )


Reader = Callable[[ByteSource, Schema | None, dict[Any, Any], Any], Table]


def readers() -> dict[str, tuple[frozenset[str], Reader]]:
    """Options and reader by format; a reader's module is imported when it is used."""
    return {
        "delimited": (delimited.OPTIONS, read_delimited),
        "parquet": (NOTHING, read_parquet),
        "arrow": (NOTHING, read_arrow),
        "json": (JSON_OPTIONS, _late("gnomon.table.json_objects", "read_json")),
        "arff": (ARFF_OPTIONS, _late("gnomon.table.arff", "read_arff")),
        "excel": (EXCEL_OPTIONS, _late("gnomon.table.excel", "read_excel")),
        "sqlite": (DATABASE_OPTIONS, _late("gnomon.table.sql", "read_sqlite")),
        "duckdb": (DATABASE_OPTIONS, _late("gnomon.table.sql", "read_duckdb")),
    }


NOTHING: frozenset[str] = frozenset()
JSON_OPTIONS = frozenset({"missing", "encoding"})
ARFF_OPTIONS = frozenset({"encoding"})
EXCEL_OPTIONS = frozenset({"sheet", "header", "skip_rows", "missing"})
DATABASE_OPTIONS = frozenset({"table", "sql"})


def _late(module: str, name: str) -> Reader:
    def call(*arguments: Any) -> Table:
        return getattr(importlib.import_module(module), name)(*arguments)

    return call
