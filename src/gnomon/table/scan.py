"""`scan`: a table larger than memory, passed over chunk by chunk."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.table import feeds, formats, sql
from gnomon.table.delimited import Each
from gnomon.table.errors import ReadError
from gnomon.table.frames import arrow_of, native
from gnomon.table.kinds import Kind
from gnomon.table.notes import warn
from gnomon.table.read import (
    SchemaLike,
    as_schema,
    is_bytes_like,
    readers,
    refuse_unknown,
    saved_schema,
)
from gnomon.table.recode import without_spaces
from gnomon.table.schema import Schema
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

SAMPLE_ROWS = 50_000  # judgement: kinds are told from them; what differs later is an error
CHUNK_CELLS = 2**20  # judgement: 8 MB of numbers for each chunk, of which several are in memory
# Judgement: bounds the share of per-chunk work, and memory of narrow tables.
FEWEST_ROWS, MOST_ROWS = 2**8, 2**17
MOST_LEVELS = 10**5  # judgement: the words of all columns are held in memory as Python strings


class Scan:
    """A table on disk or in a data base that is passed over chunk by chunk, as often as needed.

    Made by `scan`. Chunk borders depend on the data and ``rows_per_chunk`` only, so that sums over
    chunks have the same bits whatever reads them.

    Attributes
    ----------
    schema : Schema
        Inferred from the first rows; the reasons say how many.
    rows_per_chunk : int
        Rows of every chunk but the last.
    notes : list of str
        What was decided.
    """

    def __init__(
        self, feed: feeds.Feed, schema: Schema, rows_per_chunk: int, notes: Iterable[str] = ()
    ):
        self._feed = feed
        self._n_rows: int | None = feed.known_rows()
        self.schema = schema
        self.rows_per_chunk = rows_per_chunk
        self.notes = list(notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.schema.names

    def chunks(self) -> Iterator[Table]:
        """All rows, ``rows_per_chunk`` at a time, in the order of the source."""
        seen = 0
        for arrow in cut(self._feed.pieces(self.schema), self.rows_per_chunk):
            self._feed.check()
            seen += len(arrow)
            yield Table(arrow, self.schema)
        self._feed.check()
        self._remember(seen)

    __iter__ = chunks

    def head(self, n: int = 5) -> Table:
        """The first rows as a table."""
        pieces = self._feed.pieces(self.schema)
        first = next(cut(pieces, n), None) if n > 0 else None
        if hasattr(pieces, "close"):
            pieces.close()
        return self._empty() if first is None else Table(first, self.schema)

    def read(self) -> Table:
        """All rows as a table in memory."""
        parts = [chunk.arrow for chunk in self.chunks()]
        if not parts:
            return self._empty()
        return Table(pa.concat_tables(parts), self.schema, self.notes)

    def select(self, names: Iterable[str]) -> Scan:
        """A scan of some columns; the others are not converted."""
        names = [names] if isinstance(names, str) else list(names)
        return self._with(self.schema.select(names))

    def drop(self, names: str | Iterable[str]) -> Scan:
        """A scan of all columns but these."""
        dropped = {names} if isinstance(names, str) else set(names)
        for name in dropped:
            self.schema[name]
        return self.select(name for name in self.columns if name not in dropped)

    def with_schema(self, schema: Schema) -> Scan:
        """A scan that reads the columns as another schema says."""
        for name in schema.names:
            self.schema[name]
        full = [schema[name] if name in schema else self.schema[name] for name in self.columns]
        _require_levels(full)
        return self._with(Schema(full))

    def set(self, name: str, **changes: Any) -> Scan:
        """Change a column's kind or other properties."""
        return self.with_schema(self.schema.set(name, **changes))

    def with_all_levels(self) -> Scan:
        """A scan that knows all categories, found by one pass over the columns of categories."""
        names = self.schema.of_kind(Kind.CATEGORY)
        if not names:
            return self
        as_text = Schema(self.schema[name].set(kind=Kind.TEXT) for name in names)
        found: dict[str, set[str]] = {name: set(self.schema[name].levels or ()) for name in names}
        for chunk in self._with(as_text).chunks():
            for name in names:
                words = chunk.column(name).unique().drop_null()
                if self._feed.written:
                    words = without_spaces(words, self.schema[name])
                found[name].update(words.to_pylist())
                if len(found[name]) > MOST_LEVELS:
                    raise ReadError(
                        f"has more than {MOST_LEVELS:,} distinct values",
                        file=self._feed.name,
                        column=name,
                        remedy="Give it the kind 'text' or 'identifier'.",
                    )
        schema = self.schema
        for name in names:
            levels = (*(schema[name].levels or ()),)
            new = sorted(found[name].difference(levels))
            reason = f"{len(levels) + len(new):,} distinct values in all rows"
            column = replace(schema[name], levels=(*levels, *new), reason=reason)
            schema = schema.with_column(column)
        return self._with(schema)

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """About n feeds of consecutive rows that can be read elsewhere; None where it has none.

        Parameters
        ----------
        n : int
        each : callable
            ``each(function, items)`` gives ``function(item)`` for all items; finds borders of rows.
        """
        return self._feed.parts(n, each)

    def count_rows(self) -> int:
        """The number of rows; costs a pass unless one has been made or the file says it."""
        if self._n_rows is None:
            narrow = self.select(self.columns[:1])
            self._remember(sum(len(chunk) for chunk in narrow.chunks()))
        assert self._n_rows is not None
        return self._n_rows

    def __repr__(self) -> str:
        rows = "?" if self._n_rows is None else f"{self._n_rows:,}"
        return (
            f"Scan of {self._feed.name}: {rows} rows x {len(self.schema)} columns, "
            f"{self.rows_per_chunk:,} rows at a time\n{self.schema!r}"
        )

    def _with(self, schema: Schema) -> Scan:
        other = Scan(self._feed, schema, self.rows_per_chunk, self.notes)
        other._n_rows = self._n_rows
        return other

    def _empty(self) -> Table:
        nothing = pa.table({name: pa.nulls(0, pa.string()) for name in self.columns})
        return understood(nothing, self.schema, parse=True)

    def _remember(self, rows: int) -> None:
        if self._n_rows is not None and self._n_rows != rows:
            raise ReadError(
                f"gave {rows:,} rows in this pass and {self._n_rows:,} before",
                file=self._feed.name,
                remedy="Scan it anew when it no longer changes.",
            )
        self._n_rows = rows


def scan(
    source: Any = None,
    *,
    schema: SchemaLike | None = None,
    rows_per_chunk: int | None = None,
    sample_rows: int = SAMPLE_ROWS,
    **options: Any,
) -> Scan:
    """Open a table that may be larger than memory, to be passed over chunk by chunk.

    Kinds are inferred from the first ``sample_rows`` rows. A later value that does not fit is an
    error with file, line, column and remedy: correct the schema (``scan.set("x", kind="number")``),
    or collect all categories with `Scan.with_all_levels`. A file that changes between or during
    passes is refused. Use `read` for what fits in memory.

    Parameters
    ----------
    source : path, ``postgresql://`` URL, bytes, data frame or Table
        Delimited text, Parquet, Arrow, JSON lines, SQLite, DuckDB and PostgreSQL are streamed;
        other formats and frames are read into memory and cut. A folder of Parquet files is one
        table, in the order of their names; a data frame of Dask is computed partition by partition.
    schema : Schema, dict or path, optional
        Kinds of some or all columns; see `read`.
    rows_per_chunk : int, optional
        Default: about a million cells, a power of two.
    sample_rows : int
        Rows to infer kinds from.
    **options
        As for `read`.

    Returns
    -------
    Scan

    Examples
    --------
    >>> parts = scan(b"x,y\\n1,a\\n2,b\\n3,a\\n", rows_per_chunk=2)
    >>> [chunk["x"].to_pylist() for chunk in parts.chunks()]
    [[1, 2], [3]]
    """
    columns = options.pop("columns", None)
    wanted = as_schema(schema)
    feed, notes = _feed_of(source, options)
    for note in getattr(feed, "warnings", ()):
        warn(note)
    if wanted is None and isinstance(feed, feeds.FileFeed):
        wanted, told = saved_schema(feed.source)
        notes += told
    found = _sampled_schema(feed, wanted, sample_rows)
    opened = Scan(feed, found.schema, 1, [*notes, *feed.notes, *found.notes])
    if columns is not None:
        opened = opened.select(columns)
    opened.rows_per_chunk = _chunk_rows(rows_per_chunk, len(opened.columns))
    return opened


def cut(pieces: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of exactly ``rows`` rows, the last one excepted."""
    waiting: list[pa.Table] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece)
        if count < rows:
            continue
        joined = pa.concat_tables(waiting)
        start = 0
        while count - start >= rows:
            yield joined.slice(start, rows).combine_chunks()
            start += rows
        waiting, count = [joined.slice(start)], count - start
    if count:
        yield pa.concat_tables(waiting).combine_chunks()


def _chunk_rows(wanted: int | None, n_columns: int) -> int:
    if wanted is None:
        rows = min(max(CHUNK_CELLS // max(n_columns, 1), FEWEST_ROWS), MOST_ROWS)
        return 2 ** int(math.log2(rows))
    if isinstance(wanted, bool) or int(wanted) != wanted or wanted < 1:
        raise DataError(f"rows_per_chunk must be a whole number of at least 1, not {wanted!r}.")
    return int(wanted)


def _sampled_schema(feed: feeds.Feed, wanted: Schema | None, sample_rows: int) -> Table:
    """The head of the feed as a table, its schema's reasons saying how much was seen."""
    rows = max(int(sample_rows), 1)
    sample = feed.sample(rows + 1)
    part = len(sample) > rows
    if wanted is None and feed.stored is not None:
        wanted = feed.stored
    if not len(sample):
        raise ReadError(
            "has no rows", file=feed.name, remedy="Check that it was written completely."
        )
    try:
        table = understood(sample.slice(0, rows), wanted, parse=feed.written, hints=feed.hints)
    except ReadError as error:
        raise (error if error.file else error.at(file=feed.name)) from None
    if not part:
        return table
    given = set(wanted.names) if wanted is not None else set()
    columns = [
        column
        if column.name in given
        else replace(column, reason=f"{column.reason}, in the first {rows:,} rows")
        for column in table.schema
    ]
    return Table(table.arrow, Schema(columns), table.notes)


def _feed_of(source: Any, options: dict[Any, Any]) -> tuple[feeds.Feed, list[str]]:
    if source is None:
        return _query_feed(options), []
    if isinstance(source, str) and source.split("://")[0] in ("postgresql", "postgres"):
        return _postgres_feed(source, options), []
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(os.path.expanduser(source)):
        return _folder_feed(Path(source).expanduser(), options), []
    if isinstance(source, (str, os.PathLike)) or is_bytes_like(source):
        return _file_feed(ByteSource(source), options)
    if hasattr(source, "__dask_graph__") and hasattr(source, "partitions"):
        refuse_unknown(options, {"columns"}, "a data frame of Dask")
        return feeds.LazyFeed(source), []
    parse = options.pop("parse", False)
    refuse_unknown(options, {"parse", "columns"}, "a data frame")
    return feeds.MemoryFeed(Table.from_frame(source, parse=parse), "<frame>"), []


def _file_feed(source: ByteSource, options: dict[Any, Any]) -> tuple[feeds.Feed, list[str]]:
    name, notes = formats.format_of(source)
    accepted, reader = readers()[name]
    refuse_unknown(options, accepted | {"columns"}, f"a file of format {name}", source.name)
    if name == "delimited":
        return feeds.DelimitedFeed(source, options), notes
    if name == "parquet":
        return feeds.ParquetFeed(source), notes
    if name == "arrow":
        return feeds.ArrowFeed(source), notes
    if name == "json":
        return feeds.JsonFeed(source, options), notes
    if name == "sqlite":
        return _sqlite_feed(source, options), notes
    if name == "duckdb":
        return _duckdb_feed(source, options), notes
    notes.append(f"A file of format {name} is read into memory before it is cut.")
    return feeds.MemoryFeed(reader(source, None, options, None), source.name), notes


def _folder_feed(folder: Path, options: dict[Any, Any]) -> feeds.FolderFeed:
    refuse_unknown(options, {"columns"}, "a folder of Parquet files", str(folder))
    files = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    if not files:
        raise ReadError(
            "is a folder without Parquet files",
            file=str(folder),
            remedy="Name a file, or a folder of files that end in .parquet.",
        )
    found = [feeds.ParquetFeed(ByteSource(path)) for path in files]
    for feed in found[1:]:
        lacks = set(found[0].names).symmetric_difference(feed.names)
        if lacks:
            raise ReadError(
                f"has not the columns of {found[0].name}: they differ in "
                f"{', '.join(map(repr, sorted(lacks)[:5]))}",
                file=feed.name,
                remedy="Write all files of the folder with the same columns.",
            )
    return feeds.FolderFeed(str(folder), found)


def _query_feed(options: dict[Any, Any]) -> feeds.QueryFeed:
    query = sql.only(options, {"sql", "tables"}, "sql")
    tables = {
        name: arrow_of(native(frame)) for name, frame in (options.get("tables") or {}).items()
    }
    note = "The query runs again for every pass; changes of its files are not noticed."
    return feeds.QueryFeed("<query>", lambda: sql.open_duckdb(tables=tables), query, [note])


def _duckdb_feed(source: ByteSource, options: dict[Any, Any]) -> feeds.QueryFeed:
    connection = sql.open_duckdb(source)
    query, notes = sql.duckdb_query(connection, options, source.name)
    connection.close()
    return feeds.QueryFeed(
        source.name, lambda: sql.open_duckdb(source), query, notes, source.check_unchanged
    )


def _sqlite_feed(source: ByteSource, options: dict[Any, Any]) -> feeds.RowsFeed:
    connection = sql.open_sqlite(source)
    query, notes = sql.sqlite_query(connection, options, source.name)
    connection.close()

    def batches() -> tuple[list[str], Iterator[list[tuple[Any, ...]]]]:
        return sql.sqlite_batches(sql.open_sqlite(source), query, source.name)

    return feeds.RowsFeed(source.name, batches, notes, source.check_unchanged)


def _postgres_feed(url: str, options: dict[Any, Any]) -> feeds.RowsFeed:
    shown = sql.without_password(url)

    def batches() -> tuple[list[str], Iterator[list[tuple[Any, ...]]]]:
        names, rows, _ = sql.postgres_batches(url, options, shown)
        return names, rows

    def ranges(n: int) -> list[Any] | None:
        found = sql.key_ranges(url, options, shown, n)
        return None if found is None else [partial(_range_of, url, each, shown) for each in found]

    return feeds.RowsFeed(shown, batches, ranges=ranges)


def _range_of(
    url: str, query: str, shown: str
) -> tuple[list[str], Iterator[list[tuple[Any, ...]]]]:
    names, rows, _ = sql.postgres_batches(url, {"sql": query}, shown)
    return names, rows


def _require_levels(columns: Iterable[Any]) -> None:
    for column in columns:
        if column.kind.has_levels and column.levels is None:
            raise DataError(
                f"Column {column.name!r}: a scan cannot find the levels by itself; give "
                "levels=[...], or read it as text."
            )
