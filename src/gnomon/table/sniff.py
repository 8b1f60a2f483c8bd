"""How a delimited text file is written: encoding, delimiter, quotes, header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, NamedTuple

from gnomon.table import missing
from gnomon.table.errors import ReadError
from gnomon.table.notes import counted
from gnomon.table.numbers import UNITS
from gnomon.table.source import (
    ByteSource,
    canonical_encoding,
    encoding_of_mark,
    first_undecodable,
    length_of_mark,
    undecodable_error,
)

SAMPLE_BYTES = 1 << 18  # judgement: 256 KB hold hundreds of rows and are read at once
LINES_LOOKED_AT = 200  # judgement: each way of parting is tried on all of them, in Python
DELIMITERS = ("\t", ";", "|", ",", " ", ":")
NAMES_OF = {"\t": "tab", ";": "semicolon", ",": "comma", " ": "space", "|": "bar", ":": "colon"}
# The most that csv.field_size_limit takes everywhere (a C long has 32 bits on Windows).
LONGEST_FIELD = 2**31 - 1

_VALUE = re.compile(
    r"[-+(]?\s*[€$£¥]?\s*[-+]?(?:\d[\d.,' ]*|[.,]\d+)(?:[eE][-+]?\d+)?"
    r"\s*(?:[€$£¥]|(?P<unit>%|[a-zA-Z°µ]{1,4}[²³23]?))?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?"
)


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written.

    Attributes
    ----------
    delimiter : str
    quote : str or None
    escape : str or None
        Character that takes the meaning from the one after it.
    encoding : str
    header : bool
        Whether the first record holds the names.
    skip_rows : int
        Lines before the table.
    comment : str or None
        Lines that start with it are left out.
    runs : bool
        Several spaces or tabs in a row are one delimiter.
    skip_initial_space : bool
        A space after the delimiter does not belong to the value.
    quoted_after_space : bool
        Quotes stand after such a space.
    row_names : bool
        The header lacks a name for the first column.
    trailing : bool
        Rows of data end with a delimiter, which the header does not.
    ragged : {"refuse", "pad"}
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    skip_rows: int = 0
    comment: str | None = None
    runs: bool = False
    skip_initial_space: bool = False
    quoted_after_space: bool = False
    row_names: bool = False
    trailing: bool = False
    ragged: str = "refuse"

    @property
    def needs_rewriting(self) -> bool:
        """Whether Arrow cannot read it as it is."""
        return (
            self.runs
            or self.comment is not None
            or self.ragged == "pad"
            or self.quoted_after_space
            or self.trailing
            or len(self.delimiter) > 1
        )

    def records(self, lines: Iterable[str], file: str = "") -> Iterator[Record]:
        """All records after the skipped lines; a blank line gives a record without values.

        Slow but exact; used for odd files, and to find the line of an error.
        """
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            yield from self._records(lines, file)
        finally:
            csv.field_size_limit(limit)

    def _records(self, lines: Iterable[str], file: str) -> Iterator[Record]:
        feed = _Feed(lines, self)
        reader = csv.reader(
            feed,
            delimiter=self.delimiter if len(self.delimiter) == 1 else _STAND_IN,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape,
            skipinitialspace=self.skip_initial_space or self.runs,
        )
        while True:
            feed.start_of_record = True
            try:
                record = next(reader, None)
            except csv.Error as error:
                raise ReadError(
                    f"cannot be split: {error}", file=file, line=feed.record_line
                ) from error
            if record is None:
                return
            if feed.ended:
                if record != [_END]:
                    raise ReadError(
                        "a quote is opened here and never closed",
                        file=file,
                        line=feed.record_line,
                        remedy="Close it, or read with quote=None if quotes have no meaning here.",
                    )
                return
            is_blank = len(record) == 1 and not record[0].strip()
            yield Record(feed.record_line, feed.number, [] if is_blank else record)


class Record(NamedTuple):
    """One record of a delimited file: the lines on which it starts and ends, and its values."""

    line: int
    last_line: int
    values: list[str]


_STAND_IN = "\x1f"
_END = "\x03end\x03"


class _Feed:
    """Lines for the csv module, with the number of the line on which the present record starts."""

    def __init__(self, lines: Iterable[str], dialect: Dialect):
        self.lines = iter(lines)
        self.dialect = dialect
        self.number = 0
        self.record_line = 0
        self.start_of_record = True
        self.ended = False

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = self._next_line()
        if self.start_of_record and not self.ended:
            self.record_line = self.number
        self.start_of_record = False
        return line

    def _next_line(self) -> str:
        if self.ended:
            raise StopIteration
        dialect = self.dialect
        for line in self.lines:
            self.number += 1
            if self.number <= dialect.skip_rows:
                continue
            if dialect.comment and self.start_of_record and line.startswith(dialect.comment):
                continue
            if dialect.runs:
                line = line.replace("\t", " ").rstrip() + "\n"
            if len(dialect.delimiter) > 1:
                line = line.replace(dialect.delimiter, _STAND_IN)
            return line
        self.ended = True
        return _END + "\n"


@dataclass(frozen=True)
class Sniffed:
    """What was found at the start of a file.

    Attributes
    ----------
    dialect : Dialect
    names : list of str
        As written; repaired later.
    body_start : int
        Bytes of UTF-8 text before the first record of data.
    notes : list of str
    """

    dialect: Dialect
    names: list[str]
    body_start: int
    notes: list[str]


def decide_encoding(
    source: ByteSource, wanted: str | None, *, whole: bool
) -> tuple[str, list[str]]:
    """The encoding of a text file.

    Parameters
    ----------
    source : ByteSource
    wanted : str, optional
        What the user says; it is checked if the whole file is looked at.
    whole : bool
        Look at the whole file, not at its start only.
    """
    start = source.head(SAMPLE_BYTES)
    if wanted is not None:
        encoding = canonical_encoding(wanted, start, source.name)
        if whole and (error := undecodable_error(source, encoding)):
            raise error
        return encoding, []
    shown = encoding_of_mark(start) or _wide_encoding(start)
    if shown is not None:
        if whole and (error := undecodable_error(source, shown)):
            raise error
        return shown, [f"Read as {shown}."] if shown != "utf-8" else []
    looked_at = source if whole else ByteSource(_whole_characters(start))
    place = first_undecodable(looked_at, "utf-8")
    if place is None:
        return "utf-8", []
    return _single_byte_encoding(source, looked_at, place)


def _wide_encoding(start: bytes) -> str | None:
    """UTF-16 without a mark shows by zero bytes at every other place."""
    even, odd = start[0::2], start[1::2]
    if len(odd) < 2:
        return None
    if odd.count(0) > 0.4 * len(odd) and even.count(0) < 0.05 * len(even):
        return "utf-16-le"
    if even.count(0) > 0.4 * len(even) and odd.count(0) < 0.05 * len(odd):
        return "utf-16-be"
    return None


def _whole_characters(start: bytes) -> bytes:
    """The sample without a character that its end cuts."""
    for cut in range(1, 4):
        if len(start) >= cut and start[-cut] >= 0xC0:
            return start[:-cut]
    return start


def _single_byte_encoding(
    source: ByteSource, looked_at: ByteSource, place: tuple[int, int, int]
) -> tuple[str, list[str]]:
    offset, line, byte = place
    high, pairs, control = 0, 0, False
    for block in looked_at.blocks():
        high += sum(map(block.count, (bytes([code]) for code in range(0x80, 0x100))))
        pairs += len(re.findall(rb"[\xc3\xc2\xe2][\x80-\xbf]", block))
        control = control or any(code in block for code in b"\x81\x8d\x8f\x90\x9d")
    if pairs and 2 * pairs > 0.5 * high:
        raise ReadError(
            f"byte 0x{byte:02x} at offset {offset:,} is not UTF-8, though most of the file is",
            file=source.name,
            line=line,
            remedy="Correct the byte, or force an encoding, for instance encoding='cp1252'.",
        )
    encoding = "latin-1" if control else "cp1252"
    note = (
        f"Not UTF-8 (byte 0x{byte:02x} at offset {offset:,}, line {line:,}); read as {encoding}. "
        "If letters look wrong, give encoding=..."
    )
    return encoding, [note]


def sniff(source: ByteSource, encoding: str, options: dict[str, Any]) -> Sniffed:
    """Dialect and names from the first lines, with the user's options taken as given."""
    text, complete = _sample(source, encoding, 2 + 2 * int(options.get("skip_rows") or 0))
    dialect = Dialect(encoding=encoding, ragged=_ragged(options, source.name))
    notes: list[str] = []
    dialect = replace(
        dialect,
        skip_rows=int(options.get("skip_rows") or 0),
        comment=options.get("comment") or None,
        escape=options.get("escape") or None,
    )
    given_delimiter = options.get("delimiter")
    lines = _lines(text)
    dialect, given_delimiter = _skip_preamble(lines, dialect, given_delimiter, notes)
    body = lines[dialect.skip_rows :]
    dialect = replace(dialect, quote=_quote(body, options))
    if given_delimiter is not None:
        dialect = _with_delimiter(dialect, given_delimiter, body)
    else:
        dialect = _find_delimiter(dialect, body)
    dialect = _find_escape(dialect, body, options)
    records = _first_records(lines, dialect, source.name, complete)
    if not records:
        raise ReadError(
            "holds no records after the skipped lines" if dialect.skip_rows else "holds no records",
            file=source.name,
            remedy="Check skip_rows and comment, or the file itself.",
        )
    dialect, records = _skip_title(dialect, records, options, notes)
    dialect = _find_header(dialect, records, options)
    return _finish(dialect, records, lines, options, notes, source.name)


def _ragged(options: dict[str, Any], file: str) -> str:
    ragged = options.get("ragged", "refuse")
    if ragged not in ("refuse", "pad"):
        raise ReadError(
            f"ragged={ragged!r} is not known", file=file, remedy="Use 'refuse' or 'pad'."
        )
    return ragged


def _sample(source: ByteSource, encoding: str, lines: int) -> tuple[str, bool]:
    """The start of the text with at least so many lines, and whether it is the whole."""
    size = SAMPLE_BYTES
    while True:
        raw = source.head(size + 1)
        complete = len(raw) <= size
        raw = raw[:size]
        text = raw[length_of_mark(raw, encoding) :].decode(encoding, errors="replace")
        if complete:
            return text, True
        end = max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1))
        if end >= 0 and text.count("\n", 0, end) + text.count("\r", 0, end) >= lines:
            return text[: end + 1], False
        if size >= 1 << 28:
            raise ReadError(
                f"has fewer than {lines:,} line ends in its first {size:,} bytes",
                file=source.name,
                line=1,
                remedy="Check that it is delimited text with one record per line.",
            )
        size *= 8


def _lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


def _skip_preamble(
    lines: list[str], dialect: Dialect, delimiter: str | None, notes: list[str]
) -> tuple[Dialect, str | None]:
    skip = dialect.skip_rows
    first = lines[skip] if skip < len(lines) else ""
    told = re.fullmatch(r'"?sep=(.)"?\s*', first)
    if told:
        notes.append(f"The line {first.strip()!r} names the delimiter.")
        return replace(dialect, skip_rows=skip + 1), delimiter or told.group(1)
    if dialect.comment is None and first.startswith("#"):
        end = skip
        while end < len(lines) and lines[end].startswith("#"):
            end += 1
        if end < len(lines) and not _is_hash_header(lines[end - 1], lines[end]):
            notes.append(f"{counted(end - skip, 'line')} at the start with '#' left out.")
            return replace(dialect, skip_rows=end), delimiter
        if end - skip > 1:
            notes.append(f"{counted(end - skip - 1, 'line')} at the start with '#' left out.")
            return replace(dialect, skip_rows=end - 1), delimiter
    return dialect, delimiter


def _is_hash_header(line: str, following: str) -> bool:
    """Whether a line with '#' has as many parts as the record after it: it names the columns."""
    return any(line.count(mark) == following.count(mark) > 0 for mark in DELIMITERS if mark != " ")


def _quote(lines: list[str], options: dict[str, Any]) -> str | None:
    if "quote" in options:
        return options["quote"] or None
    text = "".join(lines[:LINES_LOOKED_AT])
    if '"' in text:
        return '"'
    quoted = len(re.findall(r"(?:^|[,;\t| ])'[^'\n]*'(?=$|[,;\t| \r])", text, flags=re.M))
    return "'" if quoted >= max(2, len(lines[:LINES_LOOKED_AT]) // 2) else '"'


def _with_delimiter(dialect: Dialect, delimiter: str, body: list[str]) -> Dialect:
    if delimiter in ("whitespace", r"\s+"):
        return replace(dialect, delimiter=" ", runs=True)
    if not delimiter or "\n" in delimiter or delimiter == dialect.quote:
        raise ReadError(f"{delimiter!r} cannot be a delimiter")
    return _with_spacing(replace(dialect, delimiter=delimiter), body)


def _with_spacing(dialect: Dialect, body: list[str]) -> Dialect:
    """Notice ``a, b, "c"``: spaces after every delimiter."""
    if dialect.delimiter in (" ", "\t") or len(dialect.delimiter) > 1:
        return dialect
    text = "".join(body[1:LINES_LOOKED_AT])
    mark = re.escape(dialect.delimiter)
    quote = re.escape(dialect.quote or '"')
    text = re.sub(f"{quote}[^{quote}]*{quote}", dialect.quote or "", text)
    spaced = len(re.findall(rf"{mark} (?=\S)", text))
    if not spaced or spaced < len(re.findall(rf"{mark}(?=[^\r\n{mark}])", text)):
        return dialect
    quoted = bool(dialect.quote) and f"{dialect.delimiter} {dialect.quote}" in text
    return replace(dialect, skip_initial_space=True, quoted_after_space=quoted)


def _find_delimiter(dialect: Dialect, body: list[str]) -> Dialect:
    candidates = []
    for rank, delimiter in enumerate(DELIMITERS):
        trial = replace(dialect, delimiter=delimiter)
        if delimiter == " ":
            trial = replace(trial, runs=_has_runs(body))
        else:
            trial = _with_spacing(trial, body)
        widths = _widths(trial, body)
        if not widths:
            continue
        if delimiter == " " and widths[0] == 1 and not _is_value(body[0].strip()):
            continue  # the one name of a column of texts
        common, count = Counter(widths).most_common(1)[0]
        share = _share(widths, common, count)
        if common > 1 and share >= _needed_share(delimiter, common):
            candidates.append((-round(share, 2), rank, trial))
    if candidates:
        return min(candidates, key=lambda each: each[:2])[2]
    return _by_first_line(dialect, body)


def _share(widths: list[int], common: int, count: int) -> float:
    """Share of records of the common width; a header without a name for row names counts."""
    if widths[0] == common - 1 > 1 and count == len(widths) - 1 and count > 1:
        return 1.0
    return count / len(widths)


def _needed_share(delimiter: str, width: int) -> float:
    if delimiter == " ":
        return 1.0 if width < 3 else 0.98
    return 1.0 if delimiter == ":" else 0.8


def _by_first_line(dialect: Dialect, body: list[str]) -> Dialect:
    """No delimiter cuts all lines alike: take one that cuts most, so that ragged lines are told."""
    for delimiter in ("\t", ";", ",", "|"):
        trial = _with_spacing(replace(dialect, delimiter=delimiter), body)
        widths = _widths(trial, body)
        cut = sum(width > 1 for width in widths)
        if widths and widths[0] > 1 and cut > 0.5 * len(widths):
            return trial
    return replace(dialect, delimiter=",")


def _has_runs(body: list[str]) -> bool:
    return any(
        line.startswith(" ") or "  " in line or "\t" in line or line.rstrip("\r\n").endswith(" ")
        for line in body[:LINES_LOOKED_AT]
    )


def _widths(dialect: Dialect, body: list[str]) -> list[int]:
    trial = replace(dialect, skip_rows=0)
    widths = []
    try:
        for record in trial.records(body[:LINES_LOOKED_AT]):
            widths.append(len(record.values))
    except ReadError:
        pass
    return [width for width in widths if width]


def _find_escape(dialect: Dialect, body: list[str], options: dict[str, Any]) -> Dialect:
    if "escape" in options or not dialect.quote:
        return dialect
    text = "".join(body[:LINES_LOOKED_AT])
    quote, mark = re.escape(dialect.quote), re.escape(dialect.delimiter)
    if re.search(rf"\\{quote}(?!{mark}|\s*$)", text, flags=re.M):
        return replace(dialect, escape="\\")
    return dialect


def _first_records(lines: list[str], dialect: Dialect, file: str, complete: bool) -> list[Record]:
    records: list[Record] = []
    try:
        for record in dialect.records(lines, file):
            if not record.values:
                continue
            records.append(record)
            if len(records) >= LINES_LOOKED_AT:
                break
    except ReadError:
        if complete or not records:
            raise
    return records


def _skip_title(
    dialect: Dialect, records: list[Record], options: dict[str, Any], notes: list[str]
) -> tuple[Dialect, list[Record]]:
    """Leave out lines of one cell above the names, unless the user names the header."""
    if any(options.get(each) is not None for each in ("header", "names", "skip_rows")):
        return dialect, records
    titles = list(takewhile(_is_title, records))
    table = records[len(titles) :]
    if not titles or not _starts_with_names([record.values for record in table]):
        return dialect, records
    shown = titles[0].values[0].strip()
    notes.append(
        f"{counted(len(titles), 'line')} above the names taken as a title and left out "
        f"({shown!r}); skip_rows=0 reads them."
    )
    return replace(dialect, skip_rows=titles[-1].last_line), table


def _is_title(record: Record) -> bool:
    first, *others = record.values
    return bool(first.strip()) and not any(cell.strip() for cell in others)


def _starts_with_names(rows: list[list[str]]) -> bool:
    """Whether the first of the rows holds a name for each column, and a column holds values."""
    if len(rows) < 2 or len(rows[0]) < 2 or {len(row) for row in rows} != {len(rows[0])}:
        return False
    names = [cell.strip() for cell in rows[0]]
    if not all(names) or len(set(names)) < len(names):
        return False
    if any(map(_is_value, names)) and not _are_years(names):
        return False
    columns = ([cell.strip() for cell in column] for column in zip(*rows[1:]))
    filled = ([cell for cell in column if cell not in missing.USUAL] for column in columns)
    return any(column and all(map(_is_value, column)) for column in filled)


def _find_header(dialect: Dialect, records: list[Record], options: dict[str, Any]) -> Dialect:
    rows = [record.values for record in records]
    widths = Counter(len(row) for row in rows[1:])
    common = widths.most_common(1)[0][0] if widths else len(rows[0])
    one_short = len(rows[0]) == common - 1 and len(widths) == 1 and len(rows) > 1
    trailing = one_short and not any(row[-1].strip() for row in rows[1:])
    short = one_short and common > 2 and not trailing
    if options.get("header") is not None:
        header = bool(options["header"])
    else:
        header = short or looks_like_header(rows[0], rows[1:])
    row_names = header and short and dialect.ragged == "refuse"
    return replace(dialect, header=header, row_names=row_names, trailing=trailing)


def looks_like_header(first: list[str], others: list[list[str]]) -> bool:
    """Whether the first record holds names: words above columns of values.

    Where all columns hold words, it does unless its own words recur below it.
    """
    if _are_years(first):
        return True
    if not others:
        return not any(_is_value(cell) for cell in first)
    typed = [
        position
        for position in range(len(first))
        if any(_is_value(cell) for cell in _column(others, position))
    ]
    if typed:
        return sum(_is_value(first[position]) for position in typed) < 0.5 * len(typed)
    named = [position for position, cell in enumerate(first) if cell.strip()]
    recurring = [position for position in named if first[position] in _column(others, position)]
    return len(recurring) <= 0.5 * len(named) if named else False


def _are_years(first: list[str]) -> bool:
    """A wide table with years as names: some cells are words, the values are distinct years."""
    values = [cell.strip() for cell in first if _is_value(cell)]
    words = [cell for cell in first if cell.strip() and not _is_value(cell)]
    years = [cell for cell in values if re.fullmatch(r"(?:19|20)\d\d", cell)]
    return bool(words) and len(years) == len(values) == len(set(values)) and len(values) > 1


def _column(rows: list[list[str]], position: int) -> list[str]:
    return [row[position] for row in rows if position < len(row)]


def _is_value(cell: str) -> bool:
    """Whether a cell looks like a date or a number, perhaps with a unit; ``3P`` does not."""
    cell = cell.strip()
    if not cell or cell in missing.USUAL:
        return False
    found = _VALUE.fullmatch(cell)
    return found is not None and (not found["unit"] or found["unit"] in UNITS)


def _finish(
    dialect: Dialect,
    records: list[Record],
    lines: list[str],
    options: dict[str, Any],
    notes: list[str],
    file: str,
) -> Sniffed:
    first = records[0].values
    names = [name.strip() for name in first]
    if dialect.header and names != first:
        notes.append("Spaces around names of columns left out.")
    if dialect.trailing:
        notes.append("Rows end with a delimiter, which the names do not; it is left out.")
    if dialect.header and names and names[0].startswith("#"):
        names[0] = names[0].lstrip("# ") or names[0]
    if dialect.row_names:
        names = ["row_name", *names]
        notes.append("The header has no name for the first column; it is called 'row_name'.")
    if not dialect.header:
        names = [f"column_{number}" for number in range(1, len(first) + 1)]
        notes.append("The first line holds values, not names; the columns are numbered.")
    if options.get("names") is not None:
        names = list(options["names"])
        if len(names) != len(first) + dialect.row_names:
            raise ReadError(
                f"{len(names)} names are given for {len(first)} columns",
                file=file,
                line=records[0].line,
            )
    body_start = _body_start(dialect, records, lines)
    notes.insert(0, _described(dialect))
    return Sniffed(dialect, names, body_start, notes)


def _body_start(dialect: Dialect, records: list[Record], lines: list[str]) -> int:
    """Bytes before the first record of data."""
    before = records[0].last_line if dialect.header else dialect.skip_rows
    return sum(len(line.encode("utf-8")) for line in lines[:before])


def _described(dialect: Dialect) -> str:
    mark = "spaces" if dialect.runs else NAMES_OF.get(dialect.delimiter, repr(dialect.delimiter))
    parts = [f"Delimiter: {mark}"]
    if dialect.quote not in ('"', None):
        parts.append(f"quote: {dialect.quote}")
    if dialect.quote is None:
        parts.append("no quotes")
    if dialect.escape:
        parts.append(f"escape: {dialect.escape}")
    parts.append(f"encoding: {dialect.encoding}")
    parts.append("header: " + ("yes" if dialect.header else "no"))
    return ", ".join(parts) + "."
