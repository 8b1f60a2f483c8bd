"""What rows are called: identifiers and short texts of their own, and lists of columns in words."""

from __future__ import annotations

from typing import Any

from gnomon.table import Kind, Table

LONGEST_NAME = 60  # judgement: a name beside a point must fit the picture; longer cells are texts


def name_columns(table: Table) -> dict[str, list[Any]]:
    """The columns that say which row is which: identifiers, and short texts that differ everywhere.

    Parameters
    ----------
    table : Table

    Returns
    -------
    columns : dict of str to list
    """
    found = {}
    for column in table.schema:
        if column.kind not in (Kind.IDENTIFIER, Kind.TEXT):
            continue
        cells = table.column(column.name).to_pylist()
        names = column.kind is Kind.IDENTIFIER or len(set(cells)) == len(cells)
        if names and max(len(str(cell)) for cell in cells) <= LONGEST_NAME:
            found[column.name] = cells
    return found


def listed(heading: str, lines: dict[str, str]) -> list[str]:
    """A heading and a line for each column, or nothing where there is none."""
    return [heading, *(f"  {name}: {said}" for name, said in lines.items())] if lines else []


def with_identifiers(columns: dict[str, list[Any]], table: Table) -> dict[str, list[Any]]:
    """Columns of a result, those that say which row is which behind the first."""
    first, *rest = columns
    names = {
        name if name not in columns else f"{name} of the table": cells
        for name, cells in name_columns(table).items()
    }
    return {first: columns[first]} | names | {name: columns[name] for name in rest}
