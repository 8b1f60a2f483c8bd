"""JSON: one object per line, an array of objects, or one object of columns."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from gnomon.engine import memory
from gnomon.table.columnar import selected
from gnomon.table.errors import ReadError
from gnomon.table.frames import arrow_of_values
from gnomon.table.inference import Hints
from gnomon.table.missing import given_words
from gnomon.table.schema import Schema
from gnomon.table.sniff import decide_encoding
from gnomon.table.source import ByteSource, length_of_mark
from gnomon.table.table import Table, understood

BLOCK = 1 << 24  # judgement: 16 MB, as a line must fit in a block; longer ones are read by Python
# Arrow's parser calls itself for every level: 100,000 levels end the process
MOST_NESTED = 500
BYTES_PER_CELL = 8  # of a number, of a list's entry, and about of an empty text
# Lines in which fields are counted: a field that is in one of a thousand lines is missed in one of
# 150 files.
COUNTED_LINES = 5_000
TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def read_json(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A JSON file as a table; nested objects become columns named ``outer.inner``."""
    encoding, notes = decide_encoding(source, options.get("encoding"), whole=True)
    raw = b"".join(source.blocks())
    raw = raw[length_of_mark(raw, encoding) :]
    if encoding not in ("utf-8", "ascii"):
        raw = raw.decode(encoding).encode("utf-8")
    if b"\0" in raw:
        line = raw[: raw.index(0)].count(b"\n") + 1
        raise ReadError(
            "holds a NUL byte, as no JSON does",
            file=source.name,
            line=line,
            remedy="Check that it is JSON, not a binary file.",
        )
    arrow, told = _arrow_of_json(raw, source.name)
    if columns is not None:
        arrow = selected(arrow, columns)
    hints = Hints(missing=given_words(options.get("missing")))
    return understood(arrow, schema, parse=True, hints=hints, notes=[*notes, *told])


def lines_to_arrow(raw: bytes) -> pa.Table:
    """JSON lines by Arrow's parallel reader; raises `pyarrow.ArrowInvalid` where it cannot."""
    if nested(raw) > MOST_NESTED and nested(TEXTS.sub(b"", raw)) > MOST_NESTED:
        raise pa.ArrowInvalid(f"values are nested deeper than {MOST_NESTED}")
    require_cells(raw)
    return pajson.read_json(pa.BufferReader(raw), read_options=pajson.ReadOptions(block_size=BLOCK))


def require_cells(raw: bytes) -> None:
    """Refuse lines that have so many different fields that memory cannot hold a cell for each."""
    ends = np.flatnonzero(np.frombuffer(raw, np.uint8) == ord("\n"))
    bounds = np.concatenate([[-1], ends, [len(raw)]])
    n_lines = len(bounds) - 1
    taken: Any = range(n_lines)
    if n_lines > COUNTED_LINES:
        taken = np.random.default_rng(len(raw)).choice(n_lines, COUNTED_LINES, replace=False)
    seen: Counter[str] = Counter()
    for i in taken:
        with contextlib.suppress(ValueError, RecursionError):  # told where it is read
            seen.update(fields_of(json.loads(raw[bounds[i] + 1 : bounds[i + 1]])))
    once = sum(count == 1 for count in seen.values())
    n_fields = len(seen) + once * (n_lines / len(taken) - 1)  # as many more in the other lines
    _require(n_lines, n_fields)


def fields_of(value: Any, outer: str = "") -> Iterator[str]:
    """The names of all fields of an object, those of objects inside it among them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{outer}.{name}"
            yield from fields_of(inner, f"{outer}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from fields_of(inner, outer)


def _require(n_rows: int, n_fields: float) -> None:
    memory.require(
        int(BYTES_PER_CELL * n_rows * n_fields),
        f"The cells of {n_rows:,} objects with {n_fields:,.0f} different fields",
        "Write a line for every field of an object, with the object's name.",
    )


def nested(raw: bytes) -> int:
    """How deep brackets and braces stand in each other, those inside texts among them."""
    letters = np.frombuffer(raw, np.uint8) | 32  # makes { of [ and } of ]
    places = np.flatnonzero((letters == ord("{")) | (letters == ord("}")))
    depth = np.cumsum(np.where(letters[places] == ord("{"), 1, -1))
    return int((depth - np.minimum.accumulate(np.minimum(depth, 0))).max(initial=0))


def _arrow_of_json(raw: bytes, file: str) -> tuple[pa.Table, list[str]]:
    start = raw.lstrip()[:1]
    if not start:
        raise ReadError("holds nothing but blanks", file=file, remedy="Check that it is complete.")
    if start == b"[":
        return _arrow_of_objects(_whole(raw, file), file, "entry")
    try:
        found = lines_to_arrow(raw)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _slowly(raw, file)
    if is_one_object_of_columns(found):
        return _single_object(raw, file)
    return _slowly(raw, file) if rounded_columns(found) else (found, [])


def is_one_object_of_columns(arrow: pa.Table) -> bool:
    """Whether the only row consists of lists of one length: they are columns."""
    if len(arrow) != 1 or not all(pa.types.is_list(field.type) for field in arrow.schema):
        return False
    return len({len(column[0]) for column in arrow.columns if column[0].is_valid}) == 1


def rounded_columns(arrow: pa.Table) -> list[str]:
    """Columns in which Arrow may have read whole numbers beyond 64 bits as floats."""
    return [
        name
        for name, column in zip(arrow.column_names, arrow.columns)
        if pa.types.is_floating(column.type)
        and pc.any(pc.greater_equal(pc.abs(column), 2.0**63)).as_py()
    ]


def parsed(text: str | bytes) -> Any:
    """What a JSON text holds; an object that names a field twice is refused."""
    return json.loads(text, object_pairs_hook=_each_once)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ReadError(
                f"names the field {name!r} twice in one object",
                remedy="Give each field of an object a name of its own.",
            )
        found[name] = value
    return found


def _slowly(raw: bytes, file: str) -> tuple[pa.Table, list[str]]:
    """What Arrow refuses: mixed types, one object over many lines, or errors to be named."""
    lines = raw.decode("utf-8").split("\n")
    objects = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            objects.append(parsed(line))
        except ReadError as error:
            raise error.at(file=file, line=number) from None
        except (json.JSONDecodeError, RecursionError) as error:
            if number == _first_filled(lines):
                return _single_object(raw, file)
            raise ReadError(
                f"is not JSON: {error}",
                file=file,
                line=number,
                remedy="Each line must hold one object, {...}.",
            ) from error
    return _arrow_of_objects(objects, file, "line")


def _first_filled(lines: list[str]) -> int:
    return next(number for number, line in enumerate(lines, start=1) if line.strip())


def _single_object(raw: bytes, file: str) -> tuple[pa.Table, list[str]]:
    """One object whose entries are columns of equal length."""
    try:
        content = parsed(raw.decode("utf-8"))
    except ReadError as error:
        raise error.at(file=file) from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ReadError(
            f"is not JSON: {error}",
            file=file,
            line=getattr(error, "lineno", None),
            remedy="A table is one object per line, or an array of objects.",
        ) from error
    is_columns = isinstance(content, dict) and all(isinstance(v, list) for v in content.values())
    if not is_columns or len({len(v) for v in content.values()}) != 1:
        inside = (
            ", ".join(map(repr, list(content)[:5])) if isinstance(content, dict) else "no table"
        )
        raise ReadError(
            f"is one JSON object with {inside}",
            file=file,
            remedy="A table is one object per line, an array of objects, or an object of columns.",
        )
    return _columns_to_arrow(content)


def _whole(raw: bytes, file: str) -> list[Any]:
    try:
        return parsed(raw.decode("utf-8"))
    except ReadError as error:
        raise error.at(file=file) from None
    except (json.JSONDecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ReadError(
            f"is not JSON: {error}",
            file=file,
            line=getattr(error, "lineno", None),
            remedy="Correct it there, or write it again.",
        ) from error


def _arrow_of_objects(objects: Iterable[Any], file: str, unit: str) -> tuple[pa.Table, list[str]]:
    objects = list(objects)
    names: dict[str, None] = {}
    for number, entry in enumerate(objects, start=1):
        if not isinstance(entry, dict):
            raise ReadError(
                f"{unit} {number} is {type(entry).__name__}, not an object {{...}}", file=file
            )
        names.update(dict.fromkeys(entry))
    _require(len(objects), len(names))
    return _columns_to_arrow({name: [entry.get(name) for entry in objects] for name in names})


def _columns_to_arrow(columns: dict[str, list[Any]]) -> tuple[pa.Table, list[str]]:
    try:
        return _as_arrow(columns)
    except UnicodeEncodeError:  # an escaped surrogate in a JSON text is half of a letter
        whole = {whole_letters(name): whole_letters(values) for name, values in columns.items()}
    if len(whole) < len(columns):
        raise ReadError(
            "names two fields that differ in halves of letters alone (\\ud800 to \\udfff)",
            remedy="Give each field of an object a name of its own.",
        )
    arrow, notes = _as_arrow(whole)
    halves = "Halves of letters (\\ud800 to \\udfff) were read as \N{REPLACEMENT CHARACTER}."
    return arrow, [*notes, halves]


def whole_letters(value: Any) -> Any:
    """A value of JSON with a replacement character for every half of a surrogate pair."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole_letters(each) for each in value]
    if isinstance(value, dict):
        return {whole_letters(name): whole_letters(each) for name, each in value.items()}
    return value


def _as_arrow(columns: dict[str, list[Any]]) -> tuple[pa.Table, list[str]]:
    notes: list[str] = []
    arrays = []
    for name, values in columns.items():
        array, note = arrow_of_values(name, values)
        arrays.append(array)
        notes.extend(note)
    return pa.table(arrays, names=list(columns)), notes
