"""Where a scan gets its rows from: a feed gives the same rows on every pass, piece by piece.

A feed knows its columns, gives a sample of its first rows, and converts pieces to a schema. Pieces
have no particular length; `Scan` cuts them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from copy import copy
from itertools import pairwise
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.json as pajson

from gnomon.table import sql
from gnomon.table.columnar import damaged, open_arrow, stored_schema
from gnomon.table.delimited import DelimitedFile, Each, Unexplained, native_types
from gnomon.table.errors import ReadError
from gnomon.table.frames import REFUSALS, arrow_of, arrow_of_rows
from gnomon.table.inference import Hints
from gnomon.table.json_objects import (
    is_one_object_of_columns,
    lines_to_arrow,
    parsed,
    rounded_columns,
)
from gnomon.table.missing import given_words
from gnomon.table.names import repaired
from gnomon.table.recode import recode
from gnomon.table.schema import Column, Schema
from gnomon.table.settle import flattened
from gnomon.table.source import ByteSource, length_of_mark
from gnomon.table.table import Table

PIECE_ROWS = 1 << 16  # judgement: pieces of some MB; the same as LOOK_ROWS of the codes
JSON_BLOCK = 1 << 22  # judgement: 4 MB, so that streaming holds little; a line must fit in it


class Feed(Protocol):
    """Rows that can be passed over again and again."""

    name: str
    written: bool
    hints: Hints | None
    notes: list[str]
    stored: Schema | None

    def sample(self, rows: int) -> pa.Table:
        """The first rows as they come, before anything is understood."""

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        """All rows, the schema's columns only, in the form of their kinds."""

    def check(self) -> None:
        """Raise if the rows may have changed since the feed was made."""

    def known_rows(self) -> int | None:
        """The number of rows, where it is known without a pass."""

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """About n feeds of consecutive rows, all rows together, that can be sent elsewhere and
        read there (`pieces`); None where it cannot be read in parts."""


class FileFeed:
    """What feeds from files have in common: they notice when the file changes."""

    written = False
    hints: Hints | None = None
    stored: Schema | None = None

    def __init__(self, source: ByteSource):
        self.source = source
        self.name = source.name
        self.notes: list[str] = []
        self._fingerprint = source.fingerprint()

    def check(self) -> None:
        self.source.check_unchanged()

    def check_content(self) -> None:
        """Raise if the file's ends are not those of the first look; done once for every pass."""
        self.source.check_unchanged()
        if self.source.fingerprint() != self._fingerprint:
            raise ReadError(
                "changed since it was first looked at", file=self.name, remedy="Scan it anew."
            )

    def known_rows(self) -> int | None:
        return None

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        return None


class DelimitedFeed(FileFeed):
    """Delimited text, converted by Arrow where it can."""

    written = True

    def __init__(self, source: ByteSource, options: dict[Any, Any]):
        super().__init__(source)
        self.file = DelimitedFile(source, options, whole=False)
        self.hints = self.file.hints
        self.notes += self.file.notes
        self.warnings = self.file.warnings

    def sample(self, rows: int) -> pa.Table:
        types = {name: pa.string() for name in self.file.names}
        with closing(self.file.batches(types)) as batches:
            found = _first_rows(batches, rows)
        return found if found is not None else pa.table({name: [] for name in types})

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        """Rows as Arrow converts them; where it is too strict (about blanks, signs), as we do."""
        self.check_content()
        types, decimal = native_types(schema, schema.names)
        passed = 0
        try:
            for piece in self._converted(schema, types, decimal):
                yield piece
                passed += len(piece)
        except Unexplained:
            strings = dict.fromkeys(types, pa.string())
            yield from without_first(self._converted(schema, strings, "."), passed)

    def _converted(self, schema: Schema, types: dict[Any, Any], decimal: str) -> Iterator[pa.Table]:
        written = [column for column in schema if pa.types.is_string(types[column.name])]
        start = 0
        for batch in self.file.batches(types, decimal=decimal, columns=list(schema.names)):
            try:
                yield conformed(batch, written, written=True)
            except ReadError as error:
                raise self._located(error, start) from None
            start += len(batch)

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """Ranges of bytes that end at the ends of rows; None for dialects that have no such."""
        ranges = self.file.ranges(n, each)
        if ranges is None:
            return None
        parts = []
        for start, stop in ranges:
            part = copy(self)
            part.file = self.file.within(start, stop)
            parts.append(part)
        return parts

    def _located(self, error: ReadError, start: int) -> ReadError:
        if error.row is None:
            return error.at(file=self.name)
        row = start + error.row
        line = self.file.line_of_row(row - 1)
        return error.at(file=self.name, line=line)


class ParquetFeed(FileFeed):
    """A Parquet file, row group by row group."""

    def __init__(self, source: ByteSource):
        super().__init__(source)
        with self._opened() as file:
            self.stored = stored_schema(file.schema_arrow)
            self._arrow_schema = file.schema_arrow
            self._rows = file.metadata.num_rows

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import pyarrow.parquet as pq

        with self.source.open_native() as raw:
            try:
                file = pq.ParquetFile(raw)
            except (pa.ArrowException, OSError) as error:
                raise damaged(self.source, error) from error
            yield file

    @property
    def names(self) -> list[str]:
        """Names of the columns, as the file has them."""
        return list(self._arrow_schema.names)

    groups: range | None = None  # the row groups that are read; all where None

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """Consecutive row groups."""
        with self._opened() as file:
            n_groups = file.metadata.num_row_groups
        parts = []
        for start, stop in evenly(n_groups, n):
            part = copy(self)
            part.groups = range(start, stop)
            parts.append(part)
        return parts

    def _tables(self, columns: list[str] | None = None) -> Generator[pa.Table]:
        groups = None if self.groups is None else list(self.groups)
        with self._opened() as file:
            try:
                for batch in file.iter_batches(
                    batch_size=PIECE_ROWS, row_groups=groups, columns=columns
                ):
                    yield pa.Table.from_batches([batch])
            except (pa.ArrowException, OSError) as error:
                raise damaged(self.source, error) from error

    def sample(self, rows: int) -> pa.Table:
        with closing(self._tables()) as tables:
            found = _first_rows(tables, rows)
        return found if found is not None else self._arrow_schema.empty_table()

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        self.check_content()
        names = self._arrow_schema.names
        plain = len(set(names)) == len(names) and set(schema.names) <= set(names)
        tables = self._tables(list(schema.names) if plain else None)
        yield from conformed_typed(tables, schema, self.name)

    def known_rows(self) -> int | None:
        return self._rows


class ArrowFeed(FileFeed):
    """An Arrow file or stream, record batch by record batch."""

    def __init__(self, source: ByteSource):
        super().__init__(source)
        with source.open_native() as file:
            self._arrow_schema = self._reader(file).schema
        self.stored = stored_schema(self._arrow_schema)

    def _reader(self, file: Any) -> Any:
        try:
            return open_arrow(file)
        except (pa.ArrowException, OSError) as error:
            raise damaged(self.source, error) from error

    def _tables(self) -> Generator[pa.Table]:
        with self.source.open_native() as file:
            reader = self._reader(file)
            try:
                if hasattr(reader, "num_record_batches"):
                    batches = map(reader.get_batch, range(reader.num_record_batches))
                else:
                    batches = iter(reader)
                for batch in batches:
                    yield pa.Table.from_batches([batch])
            except (pa.ArrowException, OSError) as error:
                raise damaged(self.source, error) from error

    def sample(self, rows: int) -> pa.Table:
        with closing(self._tables()) as tables:
            found = _first_rows(tables, rows)
        return found if found is not None else self._arrow_schema.empty_table()

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        self.check_content()
        yield from conformed_typed(self._tables(), schema, self.name)


class JsonFeed(FileFeed):
    """JSON lines; the fields and their types are those of the sample."""

    written = True

    def __init__(self, source: ByteSource, options: dict[Any, Any]):
        super().__init__(source)
        self.hints = Hints(missing=given_words(options.get("missing")))
        self._types: pa.Schema | None = None

    def sample(self, rows: int) -> pa.Table:
        lines = []
        for line in self._lines():
            lines.append(line)
            if len(lines) >= rows:
                break
        raw = b"".join(lines)
        if raw.lstrip()[:1] == b"[":
            raise ReadError(
                "is one JSON array, which cannot be streamed",
                file=self.name,
                remedy="Use read(), or write one object per line.",
            )
        try:
            found = lines_to_arrow(raw)
        except REFUSALS as error:
            raise self._located(None) or self._unlike(lines, error) from error
        if is_one_object_of_columns(found):
            raise ReadError(
                "is one JSON object of columns, which cannot be streamed",
                file=self.name,
                remedy="Use read(), or write one object per line.",
            )
        if self._types is None:
            self.notes += map(_rounded, rounded_columns(found))
        self._types = found.schema
        return found

    def _unlike(self, lines: list[bytes], error: Exception) -> ReadError:
        """The error that names the first line whose fields are not like those above it."""
        low, high = 0, len(lines)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                lines_to_arrow(b"".join(lines[:middle]))
                low = middle
            except REFUSALS:
                high = middle
        return self._unfit(str(error), high)

    def _unfit(self, problem: str, line: int) -> ReadError:
        return ReadError(
            f"does not fit the lines above it: {problem.splitlines()[0]}",
            file=self.name,
            line=line,
            remedy="Make the fields alike on all lines, or use read().",
        )

    def _lines(self) -> Iterator[bytes]:
        with self.source.open() as file:
            rest = file.read(3)
            rest = rest[length_of_mark(rest, "utf-8") :]
            while block := self.source.take(file, JSON_BLOCK):
                *lines, rest = (rest + block).split(b"\n")
                yield from (line + b"\n" for line in lines if line.strip())
            if rest.strip():
                yield rest

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        self.check_content()
        if self._types is None:
            self.sample(PIECE_ROWS)
        parse = pajson.ParseOptions(explicit_schema=self._types, unexpected_field_behavior="error")
        start = 0
        try:
            with self.source.open() as file:
                start_bytes = file.read(3)
                if length_of_mark(start_bytes, "utf-8") == 0:
                    file.seek(0)
                reader = pajson.open_json(
                    pa.PythonFile(file, mode="r"),
                    read_options=pajson.ReadOptions(block_size=JSON_BLOCK),
                    parse_options=parse,
                )
                for batch in reader:
                    piece = pa.Table.from_batches([batch])
                    yield next(iter(conformed_typed([piece], schema, self.name, start, True)))
                    start += len(piece)
        except REFUSALS as error:
            raise self._located(parse) or ReadError(str(error), file=self.name) from error

    def _located(self, parse: Any) -> ReadError | None:
        """The first line that is no object of the sample's types, found line by line."""
        for number, line in enumerate(self._lines(), start=1):
            try:
                parsed(line)
                pajson.read_json(pa.BufferReader(line), parse_options=parse)
            except ReadError as error:
                return error.at(file=self.name, line=number)
            except (json.JSONDecodeError, RecursionError) as error:
                remedy = "Each line must hold one object, {...}."
                return ReadError(
                    f"is not JSON: {error}", file=self.name, line=number, remedy=remedy
                )
            except (*REFUSALS, ValueError) as error:
                return self._unfit(str(error), number)
        return None


def _rounded(name: str) -> str:
    return (
        f"Column {name!r}: whole numbers beyond 64 bits are rounded in a scan; read() keeps their "
        "digits."
    )


class RowsFeed:
    """Rows of a data base cursor, which is opened again for every pass."""

    written = True
    hints: Hints | None = None
    stored: Schema | None = None

    def __init__(
        self,
        name: str,
        batches: Callable[[], tuple[list[str], Iterator[list[tuple[Any, ...]]]]],
        notes: Iterable[str] = (),
        check: Callable[[], None] = lambda: None,
        ranges: Callable[[int], list[Any] | None] = lambda n: None,
    ):
        self.name = name
        self.notes = list(notes)
        self.check = check
        self._batches = batches
        self._ranges = ranges
        self._types: pa.Schema | None = None

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """Ranges of a key, where the table has one and is read in its order."""
        ranges = self._ranges(n)
        if ranges is None:
            return None
        parts = []
        for batches in ranges:
            part = copy(self)
            part._batches = batches
            parts.append(part)
        return parts

    def sample(self, rows: int) -> pa.Table:
        names, batches = self._batches()
        names, repairs = repaired(names)
        found: list[tuple[Any, ...]] = []
        for batch in batches:
            found.extend(batch)
            if len(found) >= rows:
                break
        arrow, notes = arrow_of_rows(names, found[:rows])
        self.notes += [note for note in (*repairs, *notes) if note not in self.notes]
        self._types = arrow.schema
        return arrow

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        self.check()
        if self._types is None:
            self.sample(PIECE_ROWS)
        _, batches = self._batches()
        start = 0
        for rows in batches:
            piece = self._typed(rows, start)
            yield from conformed_typed([piece], schema, self.name, start, True)
            start += len(piece)

    def _typed(self, rows: list[tuple[Any, ...]], start: int) -> pa.Table:
        assert self._types is not None
        arrays = []
        for field, values in zip(self._types, zip(*rows)):
            try:
                arrays.append(pa.array(values, field.type, from_pandas=True))
            except REFUSALS:
                raise self._misfit(field, values, start) from None
        return pa.table(arrays, schema=self._types)

    def _misfit(self, field: pa.Field, values: tuple[Any, ...], start: int) -> ReadError:
        row = next(row for row, value in enumerate(values) if not _becomes(value, field.type))
        return ReadError(
            f"{values[row]!r} is not {field.type}, the type of the first rows",
            file=self.name,
            row=start + row + 1,
            column=field.name,
            remedy="Cast the column in the query, for instance to text.",
        )

    def known_rows(self) -> int | None:
        return None


class QueryFeed:
    """A query that DuckDB runs again for every pass."""

    written = False
    hints: Hints | None = None
    stored: Schema | None = None

    def __init__(
        self,
        name: str,
        connect: Callable[[], Any],
        query: str,
        notes: Iterable[str] = (),
        check: Callable[[], None] = lambda: None,
    ):
        self.name = name
        self.notes = list(notes)
        self.check = check
        self._connect = connect
        self._query = query

    def _tables(self) -> Generator[pa.Table]:
        with closing(self._connect()) as connection:
            for batch in sql.duckdb_batches(connection, self._query, self.name):
                yield pa.Table.from_batches([batch])

    def sample(self, rows: int) -> pa.Table:
        with closing(self._tables()) as tables:
            return _first_rows(tables, rows)

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        self.check()
        yield from conformed_typed(self._tables(), schema, self.name)

    def known_rows(self) -> int | None:
        return None

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        return None


class FolderFeed:
    """Files of a folder that together are one table, in the order of their names."""

    written = False
    hints: Hints | None = None

    def __init__(self, name: str, feeds: list[ParquetFeed]):
        self.name = name
        self.feeds = feeds
        self.notes = [f"{len(feeds)} Parquet files, in the order of their names."]
        self.stored = feeds[0].stored

    def sample(self, rows: int) -> pa.Table:
        found = [self.feeds[0].sample(rows)]
        for feed in self.feeds[1:]:
            missing = rows - sum(map(len, found))
            if missing <= 0:
                break
            found.append(feed.sample(missing).select(found[0].column_names))
        return pa.concat_tables(found, promote_options="permissive")

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        for feed in self.feeds:
            yield from feed.pieces(schema)

    def check(self) -> None:
        for feed in self.feeds:
            feed.check()

    def known_rows(self) -> int | None:
        return sum(feed.known_rows() or 0 for feed in self.feeds)

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """Row groups of the files."""
        per_file = -(-n // len(self.feeds))
        return [part for feed in self.feeds for part in feed.parts(per_file) or []]


class LazyFeed:
    """A data frame of Dask: its partitions, computed when needed."""

    written = False
    hints: Hints | None = None
    stored: Schema | None = None
    name = "<Dask data frame>"

    def __init__(self, frame: Any, notes: Iterable[str] = ()):
        self.frame = frame
        self.notes = list(notes)

    def _tables(self) -> Iterator[pa.Table]:
        for partition in self.frame.partitions:
            yield arrow_of(partition.compute())

    def sample(self, rows: int) -> pa.Table:
        found = _first_rows(self._tables(), rows)
        return found if found is not None else arrow_of(self.frame._meta)

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        yield from conformed_typed(self._tables(), schema, self.name)

    def check(self) -> None:
        pass

    def known_rows(self) -> int | None:
        return None

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        """The partitions."""
        return [LazyFeed(partition) for partition in self.frame.partitions]


class MemoryFeed:
    """A table that is in memory already."""

    written = False
    hints: Hints | None = None
    stored: Schema | None

    def __init__(self, table: Table, name: str):
        self.table = table
        self.name = name
        self.notes = list(table.notes)
        self.stored = table.schema

    def sample(self, rows: int) -> pa.Table:
        return self.table.arrow.slice(0, rows)

    def pieces(self, schema: Schema) -> Iterator[pa.Table]:
        yield self.table.select(schema.names).with_schema(schema).arrow

    def check(self) -> None:
        pass

    def known_rows(self) -> int | None:
        return len(self.table)

    def parts(self, n: int, each: Each = map) -> list[Any] | None:
        return None


def evenly(n_items: int, n_parts: int) -> list[tuple[int, int]]:
    """Consecutive, nearly equal, none empty.

    Examples
    --------
    >>> evenly(5, 2)
    [(0, 2), (2, 5)]
    """
    n_parts = max(min(n_items, n_parts), 1)
    borders = [n_items * part // n_parts for part in range(n_parts + 1)]
    return list(pairwise(borders))


def conformed(piece: pa.Table, columns: Iterable[Column], *, written: bool) -> pa.Table:
    """The piece with the given columns in the form of their kinds; the others stay."""
    for column in columns:
        position = piece.schema.get_field_index(column.name)
        _, values = recode(piece.column(position), column, written=written)
        piece = piece.set_column(position, column.name, values)
    return piece


def conformed_typed(
    pieces: Iterable[pa.Table], schema: Schema, file: str, start: int = 0, written: bool = False
) -> Iterator[pa.Table]:
    """Pieces of a source with types, in the form of the schema; errors get the source's row."""
    for piece in pieces:
        piece, _ = flattened(piece)
        names, _ = repaired(piece.column_names)
        piece = piece.rename_columns(names).select(list(schema.names))
        try:
            yield conformed(piece, schema, written=written)
        except ReadError as error:
            row = None if error.row is None else start + error.row
            raise ReadError(
                error.problem, file=file, column=error.column, remedy=error.remedy, row=row
            ) from None
        start += len(piece)


def without_first(pieces: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The pieces without the first rows."""
    for piece in pieces:
        if rows < len(piece):
            yield piece.slice(rows)
        rows = max(rows - len(piece), 0)


def _becomes(value: Any, wanted: pa.DataType) -> bool:
    try:
        pa.array([value], wanted, from_pandas=True)
    except REFUSALS:
        return False
    return True


def _first_rows(tables: Iterable[pa.Table], rows: int) -> pa.Table | None:
    found, count = [], 0
    for table in tables:
        found.append(table)
        count += len(table)
        if count >= rows:
            break
    return pa.concat_tables(found).slice(0, rows) if found else None
