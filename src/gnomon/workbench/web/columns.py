"""What the head of a column shows: its kind, why, missing cells, and how its values are spread."""

from __future__ import annotations

import datetime
import math
from contextlib import closing
from pathlib import Path
from typing import Any

from gnomon.table import Kind, Table
from gnomon.table.sql import open_duckdb, quoted
from gnomon.workbench.web.tasks import read_json, write_json

BINS = 24  # judgement: bars of a histogram in the width of a column's heading
LEVELS = 8  # judgement: bars that fit in a column's heading, the commonest first
GROUPED = (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
MEASURED = (Kind.NUMBER, Kind.INTEGER, Kind.DATETIME)


def connection_to(table: Table) -> Any:
    """DuckDB over the columns of a table, as ``data``; it reads no file and fetches nothing."""
    connection = open_duckdb()
    connection.register("data", table.arrow)
    for line in ("set enable_external_access = false", "set lock_configuration = true"):
        connection.execute(line)
    return connection


def headers_of(table: Table, kept: Path | None = None) -> list[dict[str, Any]]:
    """Kind, missing cells and spread of every column, of all rows; computed once.

    Parameters
    ----------
    table : Table
    kept : Path or None
        Where it is kept.

    Returns
    -------
    headers : list of dict
    """
    found = read_json(kept) if kept is not None else None
    if found is None:
        found = []
        with closing(connection_to(table)) as connection:
            for name in table.columns:  # queries of a table of one column are planned at once
                connection.register("data", table.arrow.select([name]))
                found.append(header_of(table, name, connection))
        if kept is not None:
            write_json(kept, found)
    return list(found)


def header_of(table: Table, name: str, connection: Any) -> dict[str, Any]:
    """What the head of one column shows."""
    column = table.schema[name]
    found: dict[str, Any] = {
        "name": name,
        "kind": str(column.kind),
        "reason": column.reason,
        "unit": column.unit,
        "missing": table.column(name).null_count,
        "rows": len(table),
        "bars": [],
        "low": None,
        "high": None,
    }
    if column.kind in MEASURED:
        found |= histogram(name, column.kind, connection)
    elif column.kind in GROUPED:
        counts = connection.execute(
            f"select {quoted(name)}::varchar, count(*) from data where {quoted(name)} is not null "
            f"group by 1 order by 2 desc, 1 limit {LEVELS}"
        ).fetchall()
        found["bars"] = [[words_of(table, name, level), n] for level, n in counts]
        ((found["levels"],),) = connection.execute(
            f"select count(distinct {quoted(name)}) from data"
        ).fetchall()
    return found


def words_of(table: Table, name: str, value: str) -> str:
    """A level as it is written in the file: booleans may have words of their own."""
    words = table.schema[name].levels
    if table.schema[name].kind is Kind.BOOLEAN and words:
        return words[value == "true"]
    return value


def number_sql(name: str, kind: Kind | str) -> str:
    """An expression for a column as a finite number; dates are seconds."""
    if Kind(kind) is Kind.DATETIME:
        return f"epoch({quoted(name)}::timestamp)"
    return f"case when isfinite({quoted(name)}::double) then {quoted(name)}::double end"


def range_of(name: str, kind: Kind | str, connection: Any) -> tuple[float, float] | None:
    """Least and greatest finite value; None where there is none."""
    value = number_sql(name, kind)
    ((low, high),) = connection.execute(f"select min({value}), max({value}) from data").fetchall()
    return None if low is None else (float(low), float(high))


def histogram(
    name: str, kind: Kind | str, connection: Any, where: str = "true", bins: int = BINS
) -> dict[str, Any]:
    """Counts of a column's values in equal steps between its ends, of rows of a condition."""
    ends = range_of(name, kind, connection)
    if ends is None:
        return {}
    low, width, count = steps_between(*ends, kind, bins)
    place = f"least(floor((v - {low!r}) / {width!r}), {count - 1})::integer"
    counts = connection.execute(
        f"select {place}, count(*) from (select {number_sql(name, kind)} v from data "
        f"where {where}) where v is not null group by 1"
    ).fetchall()
    bars = [0] * count
    for bin_, n in counts:
        bars[bin_] = n
    return {
        "bars": [[low + k * width, n] for k, n in enumerate(bars)],
        "width": width,
        "low": shown(ends[0], kind),
        "high": shown(ends[1], kind),
    }


def steps_between(low: float, high: float, kind: Kind | str, most: int) -> tuple[float, float, int]:
    """Start, width and number of equal steps from one value to another.

    Each step of whole numbers holds as many of them as the others.
    """
    if Kind(kind) is Kind.INTEGER and high - low < 2**53:
        values = int(high - low) + 1
        whole = -(-values // most)
        return low - 0.5, float(whole), -(-values // whole)
    width = (high - low) / most
    if width > 0 and math.isfinite(width):
        return low, width, most
    return low, 1.0, 1


def shown(value: float, kind: Kind | str) -> str:
    """A number or a date in few letters."""
    if Kind(kind) is Kind.DATETIME:
        try:
            moment = datetime.datetime.fromtimestamp(value, datetime.UTC)
        except (OverflowError, OSError, ValueError):
            return ""
        return moment.strftime("%Y-%m-%d" if value % 86400 == 0 else "%Y-%m-%d %H:%M")
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}"
