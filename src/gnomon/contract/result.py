"""Results: small named objects that print as a table, in a terminal and in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate
from gnomon.engine.notebook import table_html
from gnomon.table.table import Table

ROWS_SHOWN = 30  # judgement: about one screen; `to_table()` has the rest


class Result:
    """Something found: a title, columns of equal length, and remarks under them.

    A class gives ``_title()``, ``_columns()`` and ``_remarks()``; printing, ``_repr_html_`` and
    ``to_table`` are here. A column of `Estimate` becomes value, low and high in a table.
    """

    def _title(self) -> str:
        return type(self).__name__

    def _columns(self) -> dict[str, list[Any]]:
        raise NotImplementedError

    def _remarks(self) -> list[str]:
        return []

    def to_table(self) -> Table:
        """The figures as a `gnomon.table.Table`, one row per line.

        Returns
        -------
        table : Table
        """
        columns: dict[str, list[Any]] = {}
        for name, cells in self._columns().items():
            if any(isinstance(cell, Estimate) for cell in cells):
                for part in ("value", "low", "high"):
                    label = name if part == "value" else f"{name} {part}"
                    columns[label] = [_plain(getattr(cell, part, None)) for cell in cells]
            else:
                columns[name] = [_plain(cell) for cell in cells]
        return Table.from_dict(columns)

    def _preview(self, most: int) -> tuple[dict[str, list[Any]], int]:
        """The first lines, and how many there are in all."""
        columns = self._columns()
        n = max(map(len, columns.values()), default=0)
        return {name: list(cells[:most]) for name, cells in columns.items()}, n

    def __str__(self) -> str:
        columns, n = self._preview(ROWS_SHOWN)
        grid = [[name, *map(cell_text, cells)] for name, cells in columns.items()]
        numeric = [_is_numeric(cells) for cells in columns.values()]
        widths = [max(map(len, column)) for column in grid]
        lines = []
        for row in range(len(grid[0]) if n else 0):
            cells = [
                column[row].rjust(width) if right else column[row].ljust(width)
                for column, width, right in zip(grid, widths, numeric)
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([self._title(), *lines, *_more_lines(n), *self._remarks()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        columns, n = self._preview(ROWS_SHOWN)
        shown = [list(map(cell_text, cells)) for cells in columns.values()]
        remarks = [*_more_lines(n), *self._remarks()]
        return table_html(columns, zip(*shown), title=self._title(), remarks=remarks)


def _more_lines(n: int) -> list[str]:
    if n <= ROWS_SHOWN:
        return []
    return [f"... and {n - ROWS_SHOWN:,} more lines; to_table() has them all"]


def cell_text(value: Any) -> str:
    """One cell as printed."""
    if value is None:
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def p_text(p: float) -> str:
    """A probability under the null hypothesis, as printed."""
    if np.isnan(p):
        return "p undefined"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}" if p < 0.1 else f"p = {p:.2f}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isnan(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _is_numeric(cells: list[Any]) -> bool:
    return all(
        cell is None or isinstance(cell, (int, float, np.number, Estimate)) for cell in cells
    ) and bool(cells)
