"""How a table looks in a terminal and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from gnomon.engine.notebook import framed
from gnomon.table.notes import counted
from gnomon.table.recode import as_strings

if TYPE_CHECKING:
    from gnomon.table.table import Table

ROWS_SHOWN = 8  # judgement: a glance, with its heading well within one screen
COLUMNS_SHOWN = 12  # judgement: about what a screen is wide
WIDTH = 100  # letters of a line; columns that do not fit are counted below
CELL_WIDTH = 24  # judgement: four such cells in a line of 100 letters
MISSING = "·"


def as_text(table: Table) -> str:
    """The head of the table with the kinds and the missing counts above it."""
    grid = _grid(table)
    if not grid:
        return _title(table)
    widths = [max(len(cell) for cell in column) for column in grid]
    kept = _fitting(widths)
    lines = []
    for row in range(len(grid[0])):
        cells = [grid[position][row].ljust(widths[position]) for position in range(kept)]
        lines.append("  ".join(cells).rstrip())
    left_out = table.shape[1] - kept
    if left_out:
        lines.append(f"... and {left_out:,} more columns: {_named(table.columns[kept:])}")
    if len(table) > ROWS_SHOWN:
        lines.append(f"... and {len(table) - ROWS_SHOWN:,} more rows")
    return "\n".join([_title(table), *lines])


def as_html(table: Table) -> str:
    """The same for a notebook; every value is escaped."""
    columns = list(table.schema)[:COLUMNS_SHOWN]
    head = table.head(ROWS_SHOWN)
    names = "".join(f"<th>{_safe(column.name)}</th>" for column in columns)
    kinds = "".join(
        f'<td title="{_safe(column.reason)}"><i>{_safe(_kind_line(table, column.name))}</i></td>'
        for column in columns
    )
    cells = [_cells(head, column.name) for column in columns]
    rows = "".join(
        "<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>" for row in zip(*cells)
    )
    more = table.shape[1] - len(columns)
    footer = f"<p>... and {more:,} more columns</p>" if more > 0 else ""
    return framed(
        f'<p class="title">{_safe(_title(table))}</p><table><thead><tr>{names}</tr>'
        f"<tr>{kinds}</tr></thead><tbody>{rows}</tbody></table>{footer}"
    )


def cell_text(value: Any) -> str:
    """One value, short enough for a cell and on one line."""
    if value is None:
        return MISSING
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    shown = "".join(character if character.isprintable() else "�" for character in shown)
    return shown if len(shown) <= CELL_WIDTH else shown[: CELL_WIDTH - 1] + "…"


def _title(table: Table) -> str:
    rows, columns = table.shape
    return f"Table of {counted(rows, 'row')} x {counted(columns, 'column')}"


def _grid(table: Table) -> list[list[str]]:
    head = table.head(ROWS_SHOWN)
    return [
        [cell_text(name), *_kind_lines(table, name), *_cells(head, name)]
        for name in table.columns[:COLUMNS_SHOWN]
    ]


def _cells(head: Table, name: str) -> list[str]:
    values = head.column(name)
    column = head.schema[name]
    if column.kind.is_numeric:
        return [cell_text(value) for value in values.to_pylist()]
    return [cell_text(value) for value in as_strings(values, column).to_pylist()]


def _kind_lines(table: Table, name: str) -> tuple[str, str]:
    column = table.schema[name]
    unit = f" [{column.unit}]" if column.unit else ""
    count = pc.sum(table.column(name).is_null().cast("int64")).as_py() or 0
    return f"{column.kind}{unit}", f"{count:,} missing" if count else "-"


def _kind_line(table: Table, name: str) -> str:
    kind, lacking = _kind_lines(table, name)
    return kind if lacking == "-" else f"{kind}, {lacking}"


def _fitting(widths: list[int]) -> int:
    total, kept = 0, 0
    for width in widths:
        total += width + 2
        if kept and total > WIDTH:
            break
        kept += 1
    return kept


def _named(names: tuple[str, ...]) -> str:
    shown = ", ".join(cell_text(name) for name in names[:6])
    return shown + (", ..." if len(names) > 6 else "")


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
