"""Views that one brush links: what is selected in one is selected in all, and in the table."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.workbench.web.app import Asked, Workbench, data, to
from gnomon.workbench.web.brush import brush_sql, in_words
from gnomon.workbench.web.cells import as_text
from gnomon.workbench.web.columns import GROUPED, connection_to
from gnomon.workbench.web.fitted import makers, method_of, parameters_of, usual_columns
from gnomon.workbench.web.forms import settings_of
from gnomon.workbench.web.pages.table import needed
from gnomon.workbench.web.views import KINDS, drawn

MOST_VIEWS = 12  # judgement: each view is queried again after each brush
FEW = 6  # judgement: filled bars of 24 below which a histogram shows counts of single values
SHOWN_ROWS = 12  # judgement: a few of the brushed rows, beside the pictures


def views_page(bench: Workbench, asked: Asked) -> Response:
    """The views; the first time, a few that suit the table."""
    session = bench.session
    table, step = session.require_table()
    opened = [each["id"] for each in session.steps if each["do"] == "open"][-1]
    if session.content.get("views_of") != opened:
        session.content |= {
            "views": first_views(table, session.headers()),
            "views_of": opened,
            "brush": [],
        }
        session.write()
    return bench.page(
        "views.html",
        here="views",
        table=table,
        kinds=KINDS,
        views=session.content["views"],
        makers=makers(),
        used=usual_columns(table),
        step=step,
    )


def first_views(table: Table, headers: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Views to begin with: two columns against each other, a histogram, bars, correlations.

    Numbers of few values come last: points of 0 and 1 lie on each other.
    """
    taken = {each["name"]: sum(n > 0 for _, n in each["bars"]) for each in headers}
    numbers = sorted(
        table.schema.of_kind(Kind.NUMBER, Kind.INTEGER), key=lambda name: taken[name] < FEW
    )
    groups = list(table.schema.of_kind(*GROUPED))
    found = []
    if len(numbers) >= 2:
        found.append({"kind": "scatter", "x": numbers[0], "y": numbers[1], "color": ""})
    if numbers:
        found.append({"kind": "histogram", "x": numbers[0], "y": "", "color": ""})
    if groups:
        found.append({"kind": "bars", "x": groups[0], "y": "", "color": ""})
    if len(numbers) >= 2:
        found.append({"kind": "correlation map", "x": "", "y": "", "color": ""})
    return found


def views_data(bench: Workbench, asked: Asked) -> Response:
    """All views as figures, with the rows that the brush selects."""
    session = bench.session
    table, step = session.require_table()
    brush = session.content["brush"]
    where = brush_sql(brush, table)
    found: list[dict[str, Any]] = []
    with closing(connection_to(table)) as connection:
        for view in session.content["views"]:
            try:
                found.append(drawn(table, view, where, asked.get("theme", "light"), connection))
            except DataError as error:
                found.append({"figure": None, "caption": str(error)})
        chosen = len(table)
        sample: list[list[str | None]] = []
        if where:
            ((chosen,),) = connection.execute(f"select count(*) from data where {where}").fetchall()
            positions = connection.execute(
                f'select "row " from (select *, row_number() over () - 1 as "row " from data) '
                f"where {where} limit {SHOWN_ROWS}"
            ).fetchall()
            sample = as_text(table[[row for (row,) in positions]]) if positions else []
    return data(
        {
            "views": [v | f for v, f in zip(session.content["views"], found)],
            "brush": brush,
            "words": in_words(brush),
            "chosen": chosen,
            "rows": len(table),
            "sample": sample,
            "step": step["id"],
        }
    )


def set_brush(bench: Workbench, asked: Asked) -> Response:
    """Select rows."""
    table, _ = bench.session.require_table()
    brush = asked.data("brush", [])
    brush_sql(brush, table)  # refuses what is no selection
    bench.session.content["brush"] = brush
    bench.session.write()
    return views_data(bench, asked)


def save_brush(bench: Workbench, asked: Asked) -> Response:
    """Keep the selected rows as a filter, a group or a column."""
    session = bench.session
    table, _ = session.require_table()
    where = brush_sql(session.content["brush"], table)
    if not where:
        raise DataError("Select rows first: draw a box in a view.")
    kept = asked.get("as")
    if kept == "filter":
        session.change("reshape", {"where": [where]})
    elif kept in ("group", "column"):
        value = f"coalesce({where}, false)"
        if kept == "group":
            value = f"case when {where} then 'in' else 'out' end"
        session.change("reshape", {"derive": [f'"{needed(asked, "name")}"={value}']})
    else:
        raise DataError("a selection is kept as a filter, a group or a column")
    return to("/views")


def add_view(bench: Workbench, asked: Asked) -> Response:
    """Add a view, if it can be drawn, and write its line down."""
    session = bench.session
    table, _ = session.require_table()
    wanted = {name: asked.get(name) for name in ("kind", "x", "y", "color")}
    if len(session.content["views"]) >= MOST_VIEWS:
        raise DataError(f"There are {MOST_VIEWS} views; remove one first.")
    with closing(connection_to(table)) as connection:
        drawn(table, wanted, "", "light", connection)
    given = {name: value for name, value in wanted.items() if value and name != "kind"}
    listed = "".join(f", {name}={value!r}" for name, value in given.items())
    session.content["views"] = [*session.content["views"], wanted]
    session.add(
        "ask",
        {
            "lines": [f"figure = view(table, {wanted['kind']!r}{listed})"],
            "imports": ["from gnomon.workbench.web.views import view"],
            "words": f"view: {wanted['kind']}",
        },
        table=False,
    )
    return to("/views")


def remove_view(bench: Workbench, asked: Asked) -> Response:
    """Take a view away."""
    place = asked.number("view", 0, most=MOST_VIEWS)
    views = bench.session.content["views"]
    bench.session.content["views"] = [each for k, each in enumerate(views) if k != place]
    bench.session.write()
    return to("/views")


def make_columns(bench: Workbench, asked: Asked) -> Response:
    """Let a method make columns of the table: places on a map, or groups."""
    session = bench.session
    table, _ = session.require_table()
    method = method_of(asked.get("method"))
    if method.name not in {each.name for each in makers()}:
        raise DataError(f"{method.name} makes no columns")
    columns = [name for name in asked.form.get("columns", []) if name] or usual_columns(table)
    table.select(columns)
    settings = settings_of(asked.get("settings"), set(parameters_of(method)))
    number = session.next_id()
    given = {"method": method.name, "settings": settings, "columns": columns}
    step = {"id": number, "do": "columns", "with": given, "table": True}
    task = {"do": "columns", "to": str(session.table_place(number)), "step": step, **given}
    return to(f"/tasks/{session.begin(f'columns-{number}', task | session.table_task())}")


ROUTES = [
    ("/views", views_page, "GET"),
    ("/views/data", views_data, "GET"),
    ("/views/brush", set_brush, "POST"),
    ("/views/save", save_brush, "POST"),
    ("/views/add", add_view, "POST"),
    ("/views/remove", remove_view, "POST"),
    ("/views/columns", make_columns, "POST"),
]
