"""The table: its rows, a head for every column, and the steps that change it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.workbench.web.app import Asked, Workbench, data, to
from gnomon.workbench.web.brush import brush_sql
from gnomon.workbench.web.cells import as_text
from gnomon.workbench.web.columns import connection_to

MOST_ROWS = 500  # of one request


def table_page(bench: Workbench, asked: Asked) -> Response:
    """The table; before one is open, the start page."""
    session = bench.session
    if session.table is None:
        return to("/")
    table, _ = session.require_table()
    return bench.page(
        "table.html",
        here="table",
        table=table,
        headers=[with_marks(each) for each in session.headers()],
        kinds=list(Kind),
        step=session.table_step(),
    )


def with_marks(header: dict[str, Any]) -> dict[str, Any]:
    """A head with its bars as heights from 0 to 1."""
    greatest = max((n for _, n in header["bars"]), default=0) or 1
    return header | {"heights": [n / greatest for _, n in header["bars"]]}


def rows(bench: Workbench, asked: Asked) -> Response:
    """Some rows, as text."""
    table, step = bench.session.require_table()
    start = asked.number("start", 0, most=max(len(table) - 1, 0))
    taken = table[start : start + asked.number("count", 60, 1, MOST_ROWS)]
    chosen = chosen_of(taken, brush_sql(bench.session.content["brush"], table))
    return data({"step": step["id"], "start": start, "rows": as_text(taken), "chosen": chosen})


def chosen_of(rows: Table, where: str) -> list[int]:
    """Which rows the brush selects, by place."""
    if not where:
        return []
    with closing(connection_to(rows)) as connection:
        found = connection.execute(
            f'select "row " from (select *, row_number() over () - 1 as "row " from data) '
            f"where {where}"
        ).fetchall()
    return [place for (place,) in found]


def change(bench: Workbench, asked: Asked) -> Response:
    """Do a step that changes the table."""
    session = bench.session
    what, column = asked.get("do"), asked.get("column")
    if what == "kind":
        if asked.get("kind") not in list(Kind):
            raise DataError(f"{asked.get('kind')[:40]!r} is not a kind")
        session.change("kind", {"column": column, "kind": asked.get("kind")})
    elif what == "rename":
        session.change("rename", {"column": column, "name": needed(asked, "name")})
    elif what == "drop":
        session.change("reshape", {"without": [column]})
    elif what == "filter":
        session.change("reshape", {"where": [needed(asked, "where")]})
    elif what == "sort":
        way = " desc" if asked.get("way") == "desc" else ""
        session.change("reshape", {"sort": [f"{column}{way}"]})
    elif what == "derive":
        name, expression = needed(asked, "name"), needed(asked, "expression")
        session.change("reshape", {"derive": [f'"{name}"={expression}']})
    elif what == "join":
        on = [each for each in asked.form.get("on", []) if each]
        how = "inner" if asked.get("how") == "inner" else "left"
        session.change("reshape", {"join": needed(asked, "file"), "on": on, "how": how})
    else:
        raise DataError(f"{what[:40]!r} is no step of a table")
    return to("/table")


def needed(asked: Asked, name: str) -> str:
    """A field that must not be empty."""
    found = asked.get(name).strip()
    if not found:
        raise DataError(f"Fill in the field '{name}'.")
    return found


def findings(bench: Workbench, asked: Asked) -> Response:
    """What `look` found, beside the columns; while it looks, how far it is."""
    found, task = bench.session.findings(asked=asked.get("asked") == "yes")
    state = None if task is None else bench.session.state(task)
    return bench.part("findings.html", findings=found, state=state)


ROUTES = [
    ("/table", table_page, "GET"),
    ("/table/rows", rows, "GET"),
    ("/table/change", change, "POST"),
    ("/table/findings", findings, "GET"),
]
