"""Delimited text: CSV, TSV and their relatives, read by Arrow under supervision.

Arrow splits and converts, in parallel. Bytes reach it through a stream that checks them; whatever
goes wrong is looked up in a second, slow pass with Python's csv module, so that the error names
line and column.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from gnomon.table import missing, numbers
from gnomon.table.errors import ReadError
from gnomon.table.inference import Hints
from gnomon.table.kinds import Kind
from gnomon.table.names import repaired
from gnomon.table.notes import counted
from gnomon.table.schema import Column, Schema
from gnomon.table.sniff import Record, decide_encoding, sniff
from gnomon.table.source import BLOCK, ByteSource, length_of_mark, undecodable_error
from gnomon.table.text_rows import row_writer

_OPTION_WORDS = """
delimiter quote escape encoding header names decimal thousands missing day_first comment skip_rows
ragged
"""
OPTIONS = frozenset(_OPTION_WORDS.split())
LONGEST_LINE = 1 << 28  # 256 MB: a longer line is a quote without its end, not a row
SAMPLE_ROWS = 1000  # judgement: tells columns of plain numbers; what fails later is read anew
BAD_LINES_SHOWN = 5  # judgement: enough to see a pattern in one line of message
_BLANK_LINES = re.compile(rb"(?<=\n)\n")
# Judgement: records looked at for more bad lines; Python reads them slowly.
SEARCH_AFTER_FIRST = 100_000
ROW_BLOCK = 1 << 16  # 64 KB, a usual pipe buffer; a row's end is mostly in the first
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Unexplained(ReadError):
    """Arrow refused a file in which nothing is wrong by our own rules."""


class DelimitedFile:
    """A delimited text file whose way of writing has been found out.

    Parameters
    ----------
    source : ByteSource
    options : dict
        What the user says about it (`OPTIONS`).
    whole : bool
        Whether to look at the whole file for its encoding.
    """

    def __init__(self, source: ByteSource, options: dict[str, Any], *, whole: bool = True):
        self.source = source
        self.file = source.name
        encoding, notes = decide_encoding(source, options.get("encoding"), whole=whole)
        found = sniff(source, encoding, options)
        self.dialect = found.dialect
        self.body_start = found.body_start
        self.warnings: list[str] = []
        self.names = found.names
        if self.dialect.ragged == "pad":
            self.names = self._padded_names(found.names)
        self.names, repairs = repaired(self.names)
        self.warnings += repairs
        self.notes = [*notes, *found.notes, *self.warnings]
        self.hints = _hints(options, self.file)
        self._block_size = BLOCK
        self.blank_lines = 0

    def _padded_names(self, names: list[str]) -> list[str]:
        """Names for as many columns as the longest row has."""
        width, short, long = len(names), 0, 0
        for record in self._data_records():
            short += len(record.values) < len(names)
            long += len(record.values) > len(names)
            width = max(width, len(record.values))
        if short:
            told = f"{counted(short, 'row')} too short, padded with missing values."
            self.warnings.append(told)
        if long:
            more = counted(width - len(names), "column")
            told = f"{counted(long, 'row')} too long; {more} added for them."
            self.warnings.append(told)
        return names + [""] * (width - len(names))

    def strings(self) -> pa.Table:
        """All columns as strings, exactly as written."""
        parts = list(self.batches({name: pa.string() for name in self.names}))
        return pa.concat_tables(parts) if parts else self._no_rows()

    def columns(self, *, written: Collection[str] = ()) -> pa.Table:
        """All columns as strings, save plain decimal numbers, which Arrow converts in parallel.

        A column is tried as numbers if its first rows leave no doubt. If a value then does not fit,
        or is not finite, all is read as strings: the result never depends on this shortcut.

        Parameters
        ----------
        written : set of str
            Columns that are wanted as strings in any case.
        """
        numeric = self._plainly_decimal().difference(written)
        if numeric:
            types = {name: pa.float64() if name in numeric else pa.string() for name in self.names}
            try:
                found = pa.concat_tables(self._arrow_batches(types, ".", None, words=[""]))
            except pa.ArrowInvalid:
                return self.strings()
            if all(_is_finite(found.column(name)) for name in numeric):
                return found
        return self.strings()

    def _plainly_decimal(self) -> set[str]:
        """Columns whose first rows are decimal numbers without thousands, words or blanks."""
        if self.hints.decimal not in (None, ".") or self.hints.thousands is not None:
            return set()
        if missing.numbers_among(self.hints.missing):
            return set()
        types = {name: pa.string() for name in self.names}
        try:
            with closing(self._arrow_batches(types, ".", None)) as batches:
                first = next(batches, None)
        except pa.ArrowInvalid:
            return set()
        if first is None:
            return set()
        first = first.slice(0, SAMPLE_ROWS)
        return {name for name in self.names if numbers.is_plainly_decimal(first.column(name))}

    def batches(
        self, types: dict[str, pa.DataType], *, decimal: str = ".", columns: list[str] | None = None
    ) -> Generator[pa.Table]:
        """The rows in pieces of any length, columns converted by Arrow to the given types."""
        while True:
            passed = 0
            try:
                for piece in self._arrow_batches(types, decimal, columns):
                    passed += len(piece)
                    yield piece
                return
            except pa.ArrowInvalid as error:
                if "straddl" not in str(error) or passed:
                    raise self._explained(error, types) from error
            if self._block_size >= LONGEST_LINE:
                raise ReadError(
                    f"has a line longer than {LONGEST_LINE:,} bytes",
                    file=self.file,
                    remedy="Look for a quote without its end; quote=None reads quotes as letters.",
                )
            self._block_size *= 8

    def _arrow_batches(
        self,
        types: dict[str, pa.DataType],
        decimal: str,
        columns: list[str] | None,
        words: list[str] | None = None,
    ) -> Generator[pa.Table]:
        stream = self._stream()

        def on_invalid(row: Any) -> str:
            if row.text.strip():
                return "error"
            stream.blank_lines += 1
            return "skip"

        plain = self.dialect.needs_rewriting
        quote = '"' if plain else self.dialect.quote
        parse = pacsv.ParseOptions(
            delimiter="," if plain else self.dialect.delimiter,
            quote_char=quote or False,
            escape_char=False if plain else self.dialect.escape or False,
            newlines_in_values=bool(quote),
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=on_invalid,
        )
        convert = pacsv.ConvertOptions(
            column_types=types,
            strings_can_be_null=False,
            null_values=list(self.hints.markers) if words is None else words,
            decimal_point=decimal,
            include_columns=columns,
        )
        read = pacsv.ReadOptions(column_names=self.names, block_size=self._block_size)
        try:
            reader = pacsv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=read,
                parse_options=parse,
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error) and not stream.produced:
                return
            raise
        with reader:
            for batch in reader:
                if len(batch):
                    yield self._without_initial_space(pa.Table.from_batches([batch]))
        stream.check_quotes()
        self.blank_lines = stream.blank_lines if len(self.names) > 1 else 0

    def _without_initial_space(self, piece: pa.Table) -> pa.Table:
        if not self.dialect.skip_initial_space or self.dialect.needs_rewriting:
            return piece
        for position, field in enumerate(piece.schema):
            if pa.types.is_string(field.type):
                trimmed = pc.utf8_ltrim(piece.column(position), " ")
                piece = piece.set_column(position, field.name, trimmed)
        return piece

    def _stream(self) -> _Stream:
        if self.dialect.needs_rewriting:
            return _Rewritten(self)
        return _Utf8(self)

    def ranges(self, n: int, each: Each = map) -> list[tuple[int, int]] | None:
        """About n ranges of bytes that hold whole rows; None where rows have no plain ends.

        A line end inside quotes ends no row. Whether a byte is inside quotes is known from the
        number of quotes before it, which is counted range by range.

        Parameters
        ----------
        n : int
        each : callable
            ``each(function, items)`` gives ``function(item)`` for all items, in order; a cluster
            counts quotes where the ranges will be read.
        """
        dialect, size = self.dialect, self.source.plain_size()
        plain = dialect.encoding in ("utf-8", "ascii") and dialect.escape is None
        if size is None or not plain or dialect.needs_rewriting:
            return None
        start = length_of_mark(self.source.head(4), dialect.encoding) + self.body_start
        borders = [start + (size - start) * part // n for part in range(n + 1)]
        inside = [False] * n
        if dialect.quote:
            count = partial(quotes_within, self.source, dialect.quote.encode())
            counts = list(each(count, list(pairwise(borders))))
            inside = [sum(counts[:part]) % 2 == 1 for part in range(n)]
        found = [start]
        for border, quoted in zip(borders[1:-1], inside[1:]):
            found.append(max(self._row_end(border, quoted), found[-1]))
        found.append(size)
        return [(a, b) for a, b in pairwise(found) if a < b]

    def _row_end(self, place: int, quoted: bool) -> int:
        """The first byte after the row that holds this place."""
        quote = (self.dialect.quote or "").encode()
        with self.source.open() as raw:
            raw.seek(place)
            while block := self.source.take(raw, ROW_BLOCK):
                begin = 0
                while (end := block.find(b"\n", begin)) >= 0:
                    if quote and block.count(quote, begin, end) % 2:
                        quoted = not quoted
                    if not quoted:
                        return place + end + 1
                    begin = end + 1
                if quote and block.count(quote, begin) % 2:
                    quoted = not quoted
                place += len(block)
        return place

    def within(self, start: int, stop: int) -> DelimitedFile:
        """The rows in a range of bytes as a file of its own, without a header."""
        part = copy(self)
        part.source = self.source.within(start, stop)
        part.body_start = 0
        part.dialect = replace(self.dialect, header=False, skip_rows=0)
        return part

    def text_lines(self) -> Iterator[str]:
        """The decoded lines with their ends; damage is a clear error."""
        with self.source.open() as raw:
            start = raw.read(4)
        with self.source.open() as raw:
            raw.read(length_of_mark(start, self.dialect.encoding))
            buffered: Any = _Readable(raw)
            text = io.TextIOWrapper(buffered, encoding=self.dialect.encoding, newline="")
            try:
                yield from text
            except UnicodeDecodeError as error:
                raise self.undecodable(error) from error

    def undecodable(self, error: UnicodeDecodeError) -> ReadError:
        """The error that names the byte, its offset and its line."""
        found = undecodable_error(self.source, self.dialect.encoding)
        return found or ReadError(str(error), file=self.file)

    def records(self) -> Iterator[Record]:
        """All records with their lines, header included."""
        return self.dialect.records(self.text_lines(), self.file)

    def _data_records(self) -> Iterator[Record]:
        """Records of data; blank lines count only in a single column, where they are missing."""
        records = iter(self.records())
        if self.dialect.header:
            for record in records:
                if record.values:
                    break
        single = len(self.names) == 1
        for record in records:
            if record.values:
                yield self._without_end(record)
            elif single:
                yield record._replace(values=[""])

    def _without_end(self, record: Record) -> Record:
        """The record without the empty value that a delimiter at its end makes."""
        values = record.values
        if self.dialect.trailing and len(values) > len(self.names) and not values[-1].strip():
            return record._replace(values=values[:-1])
        return record

    def line_of_row(self, row: int) -> int | None:
        """The line on which a row of data (counted from 0) starts."""
        for number, record in enumerate(self._data_records()):
            if number == row:
                return record.line
        return None

    def _no_rows(self) -> pa.Table:
        return pa.table({name: pa.array([], pa.string()) for name in self.names})

    def _explained(self, error: Exception, types: dict[str, pa.DataType]) -> ReadError:
        """What really is wrong, found by a slow pass over the file."""
        wrong = undecodable_error(self.source, self.dialect.encoding)
        if wrong is not None:
            return wrong
        try:
            return self._ragged_error() or self._misfit_error(types) or self._unexplained(error)
        except ReadError as found:
            return found

    def _unexplained(self, error: Exception) -> ReadError:
        return Unexplained(f"cannot be read as delimited text: {error}", file=self.file)

    def _ragged_error(self) -> ReadError | None:
        width = len(self.names)
        bad: list[tuple[int, int]] = []
        searched_since = 0
        for record in self._data_records():
            searched_since += bool(bad)
            if searched_since > SEARCH_AFTER_FIRST:
                break
            if len(record.values) != width:
                bad.append((record.line, len(record.values)))
        if not bad:
            return None
        line, found = bad[0]
        others = [f"{each:,}" for each, _ in bad[1 : BAD_LINES_SHOWN + 1]]
        if len(bad) > BAD_LINES_SHOWN + 1:
            others.append("...")
        more = f" (also lines {', '.join(others)})" if others else ""
        above = "leave lines above the names out with skip_rows=..., " if found > width else ""
        return ReadError(
            f"has {found} values where {width} are expected{more}",
            file=self.file,
            line=line,
            remedy="Correct the lines (quote values that hold the delimiter), name the delimiter, "
            f"{above}or read with ragged='pad' to fill short rows with missing values.",
        )

    def _misfit_error(self, types: dict[str, pa.DataType]) -> ReadError | None:
        checks = [
            (position, name, types[name])
            for position, name in enumerate(self.names)
            if name in types and not pa.types.is_string(types[name])
        ]
        markers = set(self.hints.markers)
        for record in self._data_records():
            for position, name, wanted in checks:
                written = record.values[position].strip()
                if written not in markers and not _fits(written, wanted):
                    return misfit(written, name, wanted).at(file=self.file, line=record.line)
        return None


def quotes_within(source: ByteSource, quote: bytes, span: tuple[int, int]) -> int:
    """Quotes in a range of bytes."""
    with source.within(*span).open() as raw:
        return sum(block.count(quote) for block in iter(lambda: raw.read(BLOCK), b""))


def _hints(options: dict[str, Any], file: str) -> Hints:
    """What the user says about how values are written; a mark between thousands is no decimal."""
    decimal, thousands = options.get("decimal"), options.get("thousands")
    wrong = numbers.wrong_marks(decimal, thousands)
    if wrong is not None:
        raise ReadError(wrong, file=file)
    if decimal is None and thousands in numbers.DECIMAL_MARKS:
        decimal = "." if thousands == "," else ","
    return Hints(
        decimal=decimal,
        thousands=thousands,
        day_first=options.get("day_first"),
        missing=missing.given_words(options.get("missing")),
    )


def misfit(written: str, name: str, wanted: pa.DataType) -> ReadError:
    """The error for a value that comes after the sample from which the kind was inferred."""
    whole = pa.types.is_integer(wanted)
    what = "a whole number" if whole else "a number"
    other = "'number' or 'text'" if whole else "'text' or 'category'"
    return ReadError(
        f"{written!r} is not {what}, the kind of this column",
        column=name,
        remedy=f"Set its kind to {other} (schema.set({name!r}, kind=...)), or name the word in "
        "missing=[...] if it means missing.",
    )


def native_types(schema: Schema, names: Iterable[str]) -> tuple[dict[str, pa.DataType], str]:
    """The types in which Arrow itself can read the columns, and the decimal mark for that."""
    columns = [schema[name] for name in names]
    comma = [column for column in columns if _is_native(column, ",")]
    point = [column for column in columns if _is_native(column, ".")]
    decimal = "," if len(comma) > len(point) else "."
    types = {}
    for column in columns:
        if column.kind is Kind.NUMBER and _is_native(column, decimal):
            types[column.name] = pa.float64()
        elif column.kind is Kind.INTEGER and _is_native(column, column.decimal or "."):
            types[column.name] = pa.int64()
        else:
            types[column.name] = pa.string()
    return types, decimal


def _is_native(column: Column, decimal: str) -> bool:
    plain = column.unit is None and column.thousands is None and column.format is None
    return plain and column.missing is None and (column.decimal or ".") == decimal


def _fits(written: str, wanted: pa.DataType) -> bool:
    """Whether a value is such a number, by Arrow's reading or ours, as ``- 1`` and ``(1)`` are."""
    plain = written.replace(",", ".")
    ours = numbers.read_written(pa.array([plain]), ways=(numbers.NumberFormat(),), units=())
    try:
        found = numbers.cast_plain(pa.chunked_array([[plain]])) if ours is None else ours.values
        found.cast(wanted)
    except pa.ArrowInvalid:
        return False
    return True


def _is_finite(values: pa.ChunkedArray) -> bool:
    return bool(pc.all(pc.is_finite(values), min_count=0).as_py())


class _Stream(io.RawIOBase):
    """Bytes for Arrow; knows how many it has given, and how many blank lines were among them."""

    produced = 0
    blank_lines = 0

    def readable(self) -> bool:
        return True

    def check_quotes(self) -> None:
        """Raise if a quote was opened and never closed."""


class _Utf8(_Stream):
    """The data records of a file as UTF-8, checked for NUL bytes and for changes of the file."""

    def __init__(self, file: DelimitedFile):
        self.file = file
        self.source = file.source
        self.encoding = file.dialect.encoding
        self.quote = (file.dialect.quote or "").encode()
        self.quotes = 0
        self.lines = 1
        self.raw = self.source.open()
        start = self.source.head(4)
        self.raw.read(length_of_mark(start, self.encoding))
        recodes = self.encoding not in ("utf-8", "ascii")
        self.decoder = codecs.getincrementaldecoder(self.encoding)() if recodes else None
        self._skip(file.body_start)

    def _skip(self, count: int) -> None:
        while count > 0 and (block := self._next(count)):
            if b"\0" in block[:count]:
                raise self._nul(block)
            self.lines += _line_ends(block)
            if len(block) > count:
                self.rest = block[count:]
                return
            count -= len(block)

    rest = b""

    def read(self, size: int = -1) -> bytes:
        block, self.rest = self.rest or self._next(BLOCK if size < 0 else size), b""
        if b"\0" in block:
            raise self._nul(block)
        if self.quote:
            self.quotes += block.count(self.quote)
        self._count_blank_lines(block)
        self.lines += _line_ends(block)
        self.produced += len(block)
        return block

    def _count_blank_lines(self, block: bytes) -> None:
        """Line ends after line ends; none are told where quotes might hold them."""
        seen = (self._line_end + block).replace(b"\r\n", b"\n")
        self._line_end = b"\n" if block.endswith(b"\n") else b""
        if self.quotes:
            self.blank_lines = 0
        elif b"\n\n" in seen:
            self.blank_lines += len(_BLANK_LINES.findall(seen))

    _line_end = b"\n"

    def _next(self, size: int) -> bytes:
        if self.decoder is None:
            return self.source.take(self.raw, size)
        while True:
            raw = self.source.take(self.raw, size)
            try:
                text = self.decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                raise self.file.undecodable(error) from error
            if text or not raw:
                return text.encode("utf-8", errors="surrogatepass")

    def _nul(self, block: bytes) -> ReadError:
        before = block[: block.index(0)]
        return ReadError(
            "holds a NUL byte",
            file=self.file.file,
            line=self.lines + _line_ends(before),
            remedy="If this is UTF-16, give encoding='utf-16'; else remove the NUL bytes.",
        )

    def check_quotes(self) -> None:
        """An odd number of quotes may be a quote without its end; only a slow pass can tell."""
        if self.quotes % 2:
            for _ in self.file.records():
                pass

    def close(self) -> None:
        if not self.closed:
            self.raw.close()
        super().close()


class _Rewritten(_Stream):
    """The data records in plain CSV, for dialects that Arrow does not know."""

    def __init__(self, file: DelimitedFile):
        self.width = len(file.names)
        self.pads = file.dialect.ragged == "pad"
        self.name = file.file
        self.records = file._data_records()
        self.waiting = b""

    def read(self, size: int = -1) -> bytes:
        size = BLOCK if size < 0 else size
        if len(self.waiting) < size:
            self.waiting += self._more(size)
        block, self.waiting = self.waiting[:size], self.waiting[size:]
        self.produced += len(block)
        return block

    def _more(self, size: int) -> bytes:
        out = io.StringIO()
        writer = row_writer(out)
        for record in self.records:
            values = record.values
            if self.pads and len(values) < self.width:
                values = values + [""] * (self.width - len(values))
            if any("\0" in value for value in values):
                raise ReadError(
                    "holds a NUL byte",
                    file=self.name,
                    line=record.line,
                    remedy="Remove the NUL bytes from the file.",
                )
            writer.writerow(values)
            if out.tell() >= size:
                break
        return out.getvalue().encode("utf-8", errors="surrogatepass")


class _Readable(io.BufferedIOBase):
    """Any object with read() as the buffered reader that TextIOWrapper wants."""

    def __init__(self, raw: Any):
        self.raw_file = raw

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self.raw_file.read(BLOCK if size is None or size < 0 else size)

    read1 = read


def _line_ends(block: bytes) -> int:
    return block.count(b"\n") or block.count(b"\r")
