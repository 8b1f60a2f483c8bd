"""Cells as text, as pages show them."""

from __future__ import annotations

import datetime
from typing import Any

from gnomon.table import Kind, Table
from gnomon.table.recode import as_strings

LONGEST = 300  # letters of a cell
LONGEST_READ = 20_000  # judgement: letters of a cell that is read by itself, six pages of a book


def as_text(table: Table) -> list[list[str | None]]:
    """Cells as they are written, row by row; None where missing."""
    columns = [
        [None if cell is None else str(cell)[:LONGEST] for cell in written(table, name)]
        for name in table.columns
    ]
    return [list(row) for row in zip(*columns)]


def cells_of_row(table: Table, row: int) -> list[tuple[str, str | None]]:
    """Name and text of every cell of one row, for a person who reads it whole."""
    one = table[[row]]
    cells = [(name, written(one, name)[0]) for name in one.columns]
    return [(name, None if cell is None else str(cell)[:LONGEST_READ]) for name, cell in cells]


def written(table: Table, name: str) -> list[Any]:
    """A column as it is written in files."""
    column = table.schema[name]
    if column.kind is Kind.NUMBER:
        return [None if v is None else f"{v:.10g}" for v in table.column(name).to_pylist()]
    if column.kind is Kind.DATETIME:
        return [_moment(value) for value in table.column(name).to_pylist()]
    return list(as_strings(table.column(name), column).to_pylist())


def _moment(value: Any) -> str | None:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return None if value is None else str(value)
