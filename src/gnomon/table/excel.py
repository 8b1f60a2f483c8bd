"""Spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods), read with calamine."""

from __future__ import annotations

import datetime
import functools
import io
import re
import zipfile
from typing import Any

import pyarrow as pa

from gnomon.engine import memory
from gnomon.engine.errors import GnomonError
from gnomon.table.columnar import selected
from gnomon.table.errors import ReadError
from gnomon.table.frames import arrow_of_values
from gnomon.table.inference import Hints
from gnomon.table.missing import given_words
from gnomon.table.names import repaired
from gnomon.table.notes import counted, warn
from gnomon.table.schema import Schema
from gnomon.table.sniff import looks_like_header
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

MIDNIGHT = datetime.time()
BYTES_PER_CELL = 32  # of the reader, for every place of the used range
CELL = re.compile(rb"""<c\s[^>]*?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
SMALLER = "Delete what stands far from the table, and save it again."


def read_excel(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """One sheet of a spreadsheet as a table; ``sheet`` is a name or a number from 0."""
    book = _open(source)
    name, notes = _choose_sheet(book, options.get("sheet"), source.name)
    try:
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except Exception as error:
        raise ReadError(f"the sheet {name!r} cannot be read: {error}", file=source.name) from error
    rows = rows[int(options.get("skip_rows") or 0) :]
    rows = _without_empty_rows(rows, notes)
    if not rows:
        raise ReadError(f"the sheet {name!r} is empty", file=source.name, remedy=notes[0])
    rows = _without_title(rows, options, notes)
    names, rows = _split_header(rows, options, notes)
    names, repairs = repaired(names)
    for repair in repairs:
        warn(repair)
    arrow, told = _to_arrow(names, rows)
    if columns is not None:
        arrow = selected(arrow, columns)
    hints = Hints(missing=given_words(options.get("missing")))
    return understood(arrow, schema, parse=True, hints=hints, notes=[*notes, *repairs, *told])


def _open(source: ByteSource) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise ReadError(
            "reading spreadsheets needs the package python-calamine",
            file=source.name,
            remedy="Install it: pip install python-calamine.",
        ) from None
    with source.open() as file:
        content = file.read()
    try:
        _require_cells(content, source.name)
        return python_calamine.load_workbook(io.BytesIO(content))
    except GnomonError:
        raise
    except Exception as error:
        raise ReadError(
            f"is not a spreadsheet that can be read ({error})",
            file=source.name,
            remedy="Save it again as .xlsx, without a password.",
        ) from error


def _require_cells(content: bytes, file: str) -> None:
    """Refuse sheets whose used range memory cannot hold.

    The reader makes a cell for every place between the first and the last one that are used, so
    that a single value far out would ask for all of memory.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", member.filename):
                continue
            memory.require(member.file_size, f"Unpacking {member.filename} of {file}", SMALLER)
            rows, columns = _used_range(archive.read(member))
            memory.require(
                BYTES_PER_CELL * rows * columns,
                f"{file}: the sheet in {member.filename}, {rows:,} rows x {columns:,} columns",
                SMALLER,
            )


def _used_range(sheet: bytes) -> tuple[int, int]:
    """Rows and columns between the first and the last cell that a sheet names."""
    rows, columns = [], []
    for letters, digits in set(CELL.findall(sheet)):
        rows.append(int(digits))
        columns.append(functools.reduce(lambda n, letter: 26 * n + letter - 64, letters, 0))
    if not rows:
        return 0, 0
    return max(rows) - min(rows) + 1, max(columns) - min(columns) + 1


def _choose_sheet(book: Any, wanted: str | int | None, file: str) -> tuple[str, list[str]]:
    names = list(book.sheet_names)
    listed = ", ".join(map(repr, names))
    if not names:
        remedy = "Save it again as .xlsx; the file may be damaged."
        raise ReadError("has no sheet", file=file, remedy=remedy)
    if wanted is None:
        chosen = next((name for name in names if _is_filled(book, name)), names[0])
    elif isinstance(wanted, int) and 0 <= wanted < len(names):
        chosen = names[wanted]
    elif wanted in names:
        chosen = wanted
    else:
        raise ReadError(f"has no sheet {wanted!r}", file=file, remedy=f"The sheets are {listed}.")
    if len(names) == 1:
        return chosen, [f"Sheet {chosen!r}."]
    return chosen, [f"Sheet {chosen!r} is read; the sheets are {listed}: choose with sheet=..."]


def _is_filled(book: Any, name: str) -> bool:
    try:
        return book.get_sheet_by_name(name).total_height > 0
    except Exception:
        return False


def _without_empty_rows(rows: list[list[Any]], notes: list[str]) -> list[list[Any]]:
    filled = [row for row in rows if any(cell != "" for cell in row)]
    if len(filled) < len(rows):
        notes.append(f"{counted(len(rows) - len(filled), 'empty row')} left out.")
    return filled


def _without_title(
    rows: list[list[Any]], options: dict[Any, Any], notes: list[str]
) -> list[list[Any]]:
    """Leave out a title: rows with one filled cell above rows with several."""
    widest = max(sum(cell != "" for cell in row) for row in rows)
    skipped = 0
    while widest > 2 and sum(cell != "" for cell in rows[skipped]) == 1:
        skipped += 1
    if skipped:
        notes.append(f"{counted(skipped, 'row')} of one cell above the table taken as a title.")
    return rows[skipped:]


def _split_header(
    rows: list[list[Any]], options: dict[Any, Any], notes: list[str]
) -> tuple[list[str], list[Any]]:
    header = options.get("header")
    if header is None:
        written = [[_written(cell) for cell in row] for row in rows[:50]]
        header = looks_like_header(written[0], written[1:])
    if header:
        return [_written(cell) for cell in rows[0]], rows[1:]
    notes.append("The first row holds values, not names; the columns are numbered.")
    return [f"column_{number}" for number in range(1, len(rows[0]) + 1)], rows


def _to_arrow(names: list[str], rows: list[list[Any]]) -> tuple[pa.Table, list[str]]:
    columns = list(zip(*rows)) if rows else [()] * len(names)
    arrays, notes = [], []
    for name, cells in zip(names, columns):
        array, note = arrow_of_values(name, _column_values(cells))
        arrays.append(array)
        notes.extend(note)
    return pa.table(arrays, names=names), notes


def _column_values(cells: tuple[Any, ...]) -> list[Any]:
    """Cells as values of one type: spreadsheets know floats only, dates with or without time."""
    values = [None if cell == "" else cell for cell in cells]
    types = {type(value) for value in values if value is not None}
    if types <= {int, float} and all(
        float(value).is_integer() for value in values if value is not None
    ):
        return [None if value is None else int(value) for value in values]
    if types == {datetime.date, datetime.datetime}:
        return [_as_datetime(value) for value in values]
    if len(types) > 1 and str in types:
        return [None if value is None else _written(value) for value in values]
    return values


def _as_datetime(value: Any) -> Any:
    if value is None or isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, MIDNIGHT)


def _written(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
