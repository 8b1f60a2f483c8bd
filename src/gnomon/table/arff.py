"""ARFF, the attribute-relation file format of Weka and Waffles.

Nominal, numeric, string and date attributes, quoted names, dense and sparse rows, ``?``, comments
and instance weights. The header says the kinds; every value is checked against it.

Text: 003 section 9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from gnomon.table import dates, numbers
from gnomon.table.errors import ReadError
from gnomon.table.inference import infer_words
from gnomon.table.kinds import Kind
from gnomon.table.names import repaired
from gnomon.table.recode import encode_levels
from gnomon.table.schema import Column, Schema
from gnomon.table.sniff import decide_encoding
from gnomon.table.source import ByteSource
from gnomon.table.table import Table

WEIGHT = "instance_weight"
DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"
_JAVA_CODES = (
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("dd", "%d"),
    ("HH", "%H"),
    ("hh", "%I"),
    ("mm", "%M"),
    ("ss", "%S"),
    ("a", "%p"),
)
_TOKEN = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\t{}'"%]*))"""
    r"""\s*(,|\t|$|%.*$|\{[^{}]*\}\s*$)"""
)
_WEIGHT = re.compile(r"[,\s]\s*\{\s*([-+\d.eE]+)\s*\}\s*$")
_SPARSE = re.compile(
    r"""\s*(\d+)\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\s}]+))\s*(,|$)"""
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class Attribute:
    """One ``@attribute`` line and the values read for it."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    format: str | None = None
    values: list[str | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    @property
    def default(self) -> str | None:
        """What a sparse row means by leaving the attribute out."""
        if self.type == "nominal":
            return self.levels[0] if self.levels else None
        return "0" if self.type in ("number", "integer") else None


def read_arff(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """An ARFF file as a table."""
    encoding, notes = decide_encoding(source, options.get("encoding"), whole=True)
    text = b"".join(source.blocks()).decode(encoding).removeprefix("\ufeff")
    reader = _Arff(text, source.name)
    attributes = reader.read()
    table = _table(attributes, [*notes, *reader.notes], source.name)
    if columns is not None:
        table = table.select(columns)
    return table if schema is None else table.with_schema(schema)


class _Arff:
    def __init__(self, text: str, file: str):
        self.file = file
        self.lines = enumerate(text.splitlines(), start=1)
        self.attributes: list[Attribute] = []
        self.weights: list[str] = []
        self.rows = 0
        self.sparse = False
        self.notes: list[str] = []

    def read(self) -> list[Attribute]:
        self._read_header()
        self._rename()
        for number, line in self._content():
            self._read_row(line, number)
        if self.weights:
            weight = Attribute(self._weight_name(), "number", values=list(self.weights))
            self.attributes.append(weight)
            self.notes.append(f"Weights of rows are in the column {weight.name!r}.")
        if self.sparse:
            self.notes.append("Sparse rows: what they leave out is 0 or the first level.")
        return self.attributes

    def _content(self) -> Iterator[tuple[int, str]]:
        for number, line in self.lines:
            stripped = line.strip()
            if stripped and not stripped.startswith("%"):
                yield number, stripped

    def _read_header(self) -> None:
        for number, line in self._content():
            word = line.split(None, 1)[0].lower()
            if word == "@data":
                if not self.attributes:
                    raise self._wrong("@data comes before any @attribute", number)
                return
            if word == "@attribute":
                self.attributes.append(self._attribute(line[len(word) :].strip(), number))
            elif word != "@relation":
                raise self._wrong(
                    f"{line[:40]!r} is neither @relation, @attribute nor @data", number
                )
        raise self._wrong("ends before @data", None)

    def _attribute(self, rest: str, number: int) -> Attribute:
        match = re.match(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+)""", rest)
        if match is None:
            raise self._wrong("the attribute has no name", number)
        name = _unescaped(next(group for group in match.groups() if group is not None))
        declared = rest[match.end() :].strip()
        if declared.startswith("{"):
            return Attribute(name, "nominal", self._levels(declared, name, number))
        kind, _, extra = declared.partition(" ")
        kind = kind.lower()
        if kind in ("numeric", "real"):
            return Attribute(name, "number")
        if kind in ("integer", "string"):
            return Attribute(name, kind)
        if kind == "date":
            return Attribute(name, "date", format=_date_format(extra.strip() or DEFAULT_DATE))
        raise ReadError(
            f"the type {declared[:40]!r} is not known",
            file=self.file,
            line=number,
            column=name,
            remedy="Known are {a, b, ...}, numeric, real, integer, string and date.",
        )

    def _levels(self, declared: str, name: str, number: int) -> tuple[str, ...]:
        end = declared.rfind("}")
        if end < 0:
            raise self._wrong(f"the levels of {name!r} lack their closing brace", number)
        inside = declared[1:end].strip()
        levels = tuple(value for value in self._split(inside, number) if value is not None)
        if len(set(levels)) != len(levels):
            raise self._wrong(f"a level of {name!r} is declared twice", number)
        return levels

    def _rename(self) -> None:
        names, repairs = repaired(attribute.name for attribute in self.attributes)
        for attribute, name in zip(self.attributes, names):
            attribute.name = name
        self.notes += repairs

    def _weight_name(self) -> str:
        names, _ = repaired([*(attribute.name for attribute in self.attributes), WEIGHT])
        return names[-1]

    def _read_row(self, line: str, number: int) -> None:
        if line.startswith("{"):
            values, weight = self._sparse_row(line, number)
        else:
            values, weight = self._dense_row(line, number)
        if len(values) != len(self.attributes):
            raise ReadError(
                f"has {len(values)} values where {len(self.attributes)} are declared",
                file=self.file,
                line=number,
                remedy="Correct the row; values with commas or spaces need quotes.",
            )
        for attribute, value in zip(self.attributes, values):
            self._check_level(attribute, value, number)
            attribute.values.append(value)
            attribute.lines.append(number)
        self._add_weight(weight)
        self.rows += 1

    def _add_weight(self, weight: str | None) -> None:
        if weight is not None and not self.weights:
            self.weights = ["1"] * self.rows
        if weight is not None or self.weights:
            self.weights.append(weight or "1")

    def _dense_row(self, line: str, number: int) -> tuple[list[str | None], str | None]:
        weight = None
        match = _WEIGHT.search(line)
        if match:
            weight, line = match.group(1), line[: match.start()]
        if "'" in line or '"' in line or "%" in line or "\\" in line:
            return self._split(line, number), weight
        cells = line.split("," if "," in line or "\t" not in line else "\t")
        return [_or_missing(cell.strip()) for cell in cells], weight

    def _split(self, text: str, number: int) -> list[str | None]:
        values: list[str | None] = []
        position = 0
        while True:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._wrong(
                    f"a quote or brace is wrong at {text[position : position + 30]!r}", number
                )
            values.append(_token_value(match.group(1, 2, 3)))
            position = match.end()
            if match.group(4) not in (",", "\t"):
                return values

    def _sparse_row(self, line: str, number: int) -> tuple[list[str | None], str | None]:
        self.sparse = True
        weight = None
        match = _WEIGHT.search(line)
        if match and line.index("}") < match.start() + 1:
            weight, line = match.group(1), line[: match.start()].rstrip().rstrip(",")
        if not line.endswith("}"):
            raise self._wrong("a sparse row lacks its closing brace", number)
        values = [attribute.default for attribute in self.attributes]
        inside, position = line[1:-1].strip(), 0
        while position < len(inside):
            match = _SPARSE.match(inside, position)
            if match is None:
                shown = inside[position : position + 30]
                raise self._wrong(f"{shown!r} is not 'number value' of a sparse row", number)
            index = int(match.group(1))
            if index >= len(values):
                raise self._wrong(f"there is no attribute {index}; they count from 0", number)
            values[index] = _token_value(match.group(2, 3, 4))
            position = match.end()
        return values, weight

    def _check_level(self, attribute: Attribute, value: str | None, number: int) -> None:
        if attribute.type == "nominal" and value is not None and value not in attribute.levels:
            raise ReadError(
                f"{value!r} is not among the declared values {list(attribute.levels[:10])!r}",
                file=self.file,
                line=number,
                column=attribute.name,
                remedy="Add it to the @attribute line, or correct it.",
            )

    def _wrong(self, problem: str, number: int | None) -> ReadError:
        return ReadError(problem, file=self.file, line=number)


def _token_value(groups: Sequence[str | None]) -> str | None:
    quoted = groups[0] if groups[0] is not None else groups[1]
    if quoted is not None:
        return _unescaped(quoted)
    return _or_missing((groups[2] or "").strip())


def _or_missing(cell: str) -> str | None:
    return None if cell in ("?", "") else cell


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), text)


def _date_format(java: str) -> str:
    """A date format of Java in the codes of strptime.

    Examples
    --------
    >>> _date_format("yyyy-MM-dd'T'HH:mm:ss")
    '%Y-%m-%dT%H:%M:%S'
    >>> _date_format("'dd.MM.yyyy'")
    '%d.%m.%Y'
    """
    whole = re.fullmatch(r"\"(.*)\"|'([^']*)'", java)
    if whole is not None:
        java = whole.group(1) or whole.group(2) or ""
    out, position = [], 0
    while position < len(java):
        if java[position] == "'":
            end = java.find("'", position + 1)
            out.append(java[position + 1 : end if end > 0 else len(java)])
            position = (end if end > 0 else len(java)) + 1
            continue
        for code, ours in _JAVA_CODES:
            if java.startswith(code, position):
                out.append(ours)
                position += len(code)
                break
        else:
            out.append(java[position])
            position += 1
    return "".join(out)


def _table(attributes: list[Attribute], notes: list[str], file: str) -> Table:
    columns, arrays = [], []
    for attribute in attributes:
        column, values = _column(attribute, file)
        columns.append(column)
        arrays.append(values)
    names = [column.name for column in columns]
    return Table(pa.table(arrays, names=names), Schema(columns), notes)


def _column(attribute: Attribute, file: str) -> tuple[Column, pa.ChunkedArray]:
    strings = pa.chunked_array([pa.array(attribute.values, pa.string())])
    name = attribute.name
    if attribute.type == "nominal":
        column = Column(name, Kind.CATEGORY, "declared nominal", attribute.levels)
        return column, encode_levels(strings, column)
    if attribute.type == "string":
        found = infer_words(name, strings)
        if not pa.types.is_floating(found.values.type):
            return found.column, found.values
        return Column(name, Kind.TEXT, "declared string"), strings
    if attribute.type == "date":
        return _dates(attribute, strings, file)
    whole = attribute.type == "integer"
    try:
        values = numbers.cast_plain(strings)
        values = values.cast(pa.int64() if whole else pa.float64())
    except pa.ArrowInvalid:
        raise _misfit(attribute, "a whole number" if whole else "a number", file) from None
    kind = Kind.INTEGER if whole else Kind.NUMBER
    return Column(name, kind, f"declared {'integer' if whole else 'numeric'}"), values


def _dates(attribute: Attribute, strings: pa.ChunkedArray, file: str) -> Any:
    import pyarrow.compute as pc

    distinct = strings.unique().drop_null()
    read = dates.parse_dates(distinct, attribute.format or "")
    if read is None:
        raise _misfit(attribute, f"a date written as {attribute.format}", file)
    column = Column(attribute.name, Kind.DATETIME, "declared date", format=attribute.format)
    return column, read.take(pc.index_in(strings, value_set=distinct))


def _misfit(attribute: Attribute, what: str, file: str) -> ReadError:
    for value, line in zip(attribute.values, attribute.lines):
        if value is not None and not _fits(attribute, value):
            return ReadError(
                f"{value!r} is not {what}",
                file=file,
                line=line,
                column=attribute.name,
                remedy="Correct it, or change the declared type.",
            )
    return ReadError(f"not all values are {what}", file=file, column=attribute.name)


def _fits(attribute: Attribute, value: str) -> bool:
    strings = pa.chunked_array([pa.array([value])])
    if attribute.type == "date":
        return dates.parse_dates(strings.chunk(0), attribute.format or "") is not None
    try:
        numbers.cast_plain(strings).cast(
            pa.int64() if attribute.type == "integer" else pa.float64()
        )
    except pa.ArrowInvalid:
        return False
    return True
