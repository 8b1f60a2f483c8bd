"""Views of a table: figures of all its rows, with the selected ones marked in each.

Counts, means and quartiles are of all rows, by DuckDB; a scatter of many rows draws some of them
and says so.
"""

from __future__ import annotations

import datetime
from contextlib import closing
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.show.theme import COLORS, FONT, diverging, look
from gnomon.table import Kind, Table
from gnomon.table.sql import quoted
from gnomon.workbench.web.columns import (
    GROUPED,
    MEASURED,
    connection_to,
    histogram,
    number_sql,
    range_of,
    words_of,
)

KINDS = {
    "scatter": "two columns of numbers, one point per row",
    "histogram": "how the values of a column are spread",
    "box": "quartiles of a column, by the levels of another",
    "bars": "rows by level of a column",
    "time line": "the mean of a column over time",
    "correlation map": "correlations of all columns of numbers",
    "tree": "a small decision tree that predicts a column",
}
MOST_POINTS = 4000  # of a scatter: more are slow as vector graphics
MOST_LEVELS = 30  # judgement: bars of a picture, the commonest first
TIME_STEPS = 60  # judgement: steps of the range of time, a dozen pixels each
MOST_CORRELATED = 20  # judgement: 190 pairs; names of more columns cannot be read
TREE_DEPTH = 3  # judgement: eight leaves fit on a page and are fitted while one waits


def view(
    table: Table,
    kind: str,
    *,
    x: str = "",
    y: str = "",
    color: str = "",
    where: str = "",
    theme: str = "light",
) -> Any:
    """Draw a view of a table.

    Parameters
    ----------
    table : Table
    kind : str
        One of `KINDS`.
    x, y, color : str, default=""
        Columns; a histogram, bars and a tree take ``x``, a box ``y`` by the levels of ``x``.
    where : str, default=""
        A condition in SQL: the rows that it selects are marked.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = view(example("iris"), "bars", x="species")
    >>> [list(trace.y) for trace in figure.data]
    [[50, 50, 50]]
    """
    import plotly.graph_objects as go

    with closing(connection_to(table)) as connection:
        made = drawn(
            table, {"kind": kind, "x": x, "y": y, "color": color}, where, theme, connection
        )
    figure = made["figure"]
    return go.Figure(data=figure["data"], layout=figure["layout"])


def drawn(
    table: Table, wanted: dict[str, Any], where: str, theme: str, connection: Any
) -> dict[str, Any]:
    """A view as plain data: the figure, and what must be known about it."""
    makers = {
        "scatter": scatter,
        "histogram": histogram_view,
        "box": box,
        "bars": bars,
        "time line": time_line,
        "correlation map": correlations,
        "tree": tree,
    }
    if wanted.get("kind") not in makers:
        raise DataError(f"there is no view {wanted.get('kind')!r}; there are {', '.join(KINDS)}")
    pen = Pen(table, where, theme, connection)
    traces, layout, caption = makers[wanted["kind"]](pen, wanted)
    return {"figure": {"data": traces, "layout": layout}, "caption": caption}


class Pen:
    """What every view is drawn with: the table, the selected rows, the colours."""

    def __init__(self, table: Table, where: str, theme: str, connection: Any):
        self.table, self.where, self.connection = table, where, connection
        self.theme = look(theme if theme in ("light", "dark") else "light")

    def column(self, name: Any, kinds: tuple[Kind, ...], what: str) -> str:
        """A column that a view needs; refuses one of another kind."""
        if not isinstance(name, str) or not name:
            raise DataError(f"choose the column for {what}")
        if self.table.schema[name].kind not in kinds:
            raise DataError(f"{name!r} is {self.table.schema[name].kind}: it cannot be {what}")
        return name

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return list(self.connection.execute(sql).fetchall())

    def layout(self, **more: Any) -> dict[str, Any]:
        """The look that all views have."""
        axis = {"gridcolor": self.theme.grid, "zerolinecolor": self.theme.grid, "automargin": True}
        found: dict[str, Any] = {
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": self.theme.ink, "family": FONT, "size": 12},
            "margin": {"l": 50, "r": 12, "t": 8, "b": 40},
            "xaxis": axis,
            "yaxis": axis,
            "showlegend": False,
            "dragmode": "select",
            "barmode": "overlay",
            "bargap": 0.06,
            "selectdirection": "any",
        }
        for name, value in more.items():
            found[name] = found[name] | value if isinstance(found.get(name), dict) else value
        return found

    def pair(self, make: Any, trace: dict[str, Any]) -> list[dict[str, Any]]:
        """A trace of all rows, and over it one of the selected rows."""
        found = [trace | make("true") | {"marker": {"color": COLORS[0]}}]
        if self.where:
            found[0]["marker"]["opacity"] = 0.35
            found.append(trace | make(self.where) | {"marker": {"color": self.theme.strong}})
        return found


def _axis_of(pen: Pen, name: str, values: list[Any]) -> list[Any]:
    if pen.table.schema[name].kind is Kind.DATETIME:
        epoch = datetime.datetime(1970, 1, 1)
        return [
            None if v is None else (epoch + datetime.timedelta(seconds=v)).isoformat(" ")
            for v in values
        ]
    return values


def scatter(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """Two columns of numbers, a point per row."""
    x, y = pen.column(wanted.get("x"), MEASURED, "x"), pen.column(wanted.get("y"), MEASURED, "y")
    n = len(pen.table)
    step = max(-(-n // MOST_POINTS), 1)
    by = wanted.get("color") or ""
    level = f"{quoted(pen.column(by, GROUPED, 'the color'))}::varchar" if by else "null"
    chosen = f"coalesce(({pen.where}), false)" if pen.where else "true"
    kinds = pen.table.schema.kinds
    found = pen.rows(
        f"select {number_sql(x, kinds[x])}, {number_sql(y, kinds[y])}, {level}, {chosen} from "
        f'(select *, row_number() over () as "row " from data) where ("row " - 1) % {step} = 0'
    )
    levels = sorted({row[2] for row in found if row[2] is not None})[: len(COLORS)]
    palette = {each: COLORS[k] for k, each in enumerate(levels)}
    traces = []
    for group in [*levels, None] if by else [None]:
        rows = [r for r in found if (r[2] if r[2] in palette else None) == group]
        if not rows:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": _axis_of(pen, x, [r[0] for r in rows]),
                "y": _axis_of(pen, y, [r[1] for r in rows]),
                "name": "other" if group is None and by else words_of(pen.table, by, group or "")
                if by else "",
                "marker": {
                    "size": 6,
                    "color": palette.get(group, COLORS[0] if not by else COLORS[6]),
                    "opacity": [0.85 if r[3] else 0.12 for r in rows],
                },
            }
        )  # fmt: skip
    caption = f"{len(found):,} of {n:,} rows are drawn, every {step}th" if step > 1 else ""
    layout = pen.layout(
        xaxis={"title": {"text": x}}, yaxis={"title": {"text": y}}, showlegend=bool(by)
    )
    return traces, layout, caption


def histogram_view(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """Counts of a column's values in equal steps."""
    x = pen.column(wanted.get("x"), MEASURED, "a histogram")
    kind = pen.table.schema[x].kind

    def counts(where: str) -> dict[str, Any]:
        found = histogram(x, kind, pen.connection, where)
        if not found:
            raise DataError(f"{x!r} has no values")
        middles = [low + found["width"] / 2 for low, _ in found["bars"]]
        widths = [found["width"] * (1000 if kind is Kind.DATETIME else 1)] * len(middles)
        return {
            "x": _axis_of(pen, x, middles),
            "y": [n for _, n in found["bars"]],
            "width": widths,
        }

    layout = pen.layout(xaxis={"title": {"text": x}}, yaxis={"title": {"text": "rows"}})
    layout["selectdirection"] = "h"
    return pen.pair(counts, {"type": "bar"}), layout, ""


def _levels(pen: Pen, name: str) -> tuple[list[str], str]:
    found = pen.rows(
        f"select {quoted(name)}::varchar, count(*) from data where {quoted(name)} is not null "
        f"group by 1 order by 2 desc, 1"
    )
    shown = [level for level, _ in found[:MOST_LEVELS]]
    more = len(found) - len(shown)
    return shown, f"{more:,} rarer levels are not shown" if more else ""


def bars(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """Rows by level."""
    x = pen.column(wanted.get("x"), GROUPED, "bars")
    levels, caption = _levels(pen, x)

    def counts(where: str) -> dict[str, Any]:
        found = dict(
            pen.rows(f"select {quoted(x)}::varchar, count(*) from data where {where} group by 1")
        )
        return {
            "x": [words_of(pen.table, x, level) for level in levels],
            "y": [found.get(level, 0) for level in levels],
        }

    layout = pen.layout(
        xaxis={"title": {"text": x}, "type": "category"}, yaxis={"title": {"text": "rows"}}
    )
    layout["selectdirection"] = "h"
    return pen.pair(counts, {"type": "bar"}), layout, caption


def box(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """Quartiles of a column, by level."""
    y = pen.column(wanted.get("y"), (Kind.NUMBER, Kind.INTEGER), "a box")
    by = wanted.get("x") or ""
    level = f"{quoted(pen.column(by, GROUPED, 'the groups'))}::varchar" if by else "'all'"
    levels, caption = _levels(pen, by) if by else (["all"], "")
    value = number_sql(y, Kind.NUMBER)

    def boxes(where: str) -> dict[str, Any]:
        found = {
            row[0]: row[1:]
            for row in pen.rows(
                f"select {level}, quantile_cont({value}, [0.25, 0.5, 0.75]), min({value}), "
                f"max({value}) from data where {where} group by 1"
            )
        }
        kept = [each for each in levels if each in found and found[each][0] is not None]
        quartiles = [found[each][0] for each in kept]
        reach = [1.5 * (q[2] - q[0]) for q in quartiles]
        return {
            "x": [words_of(pen.table, by, each) if by else each for each in kept],
            "q1": [q[0] for q in quartiles],
            "median": [q[1] for q in quartiles],
            "q3": [q[2] for q in quartiles],
            "lowerfence": [max(found[k][1], q[0] - r) for k, q, r in zip(kept, quartiles, reach)],
            "upperfence": [min(found[k][2], q[2] + r) for k, q, r in zip(kept, quartiles, reach)],
        }

    layout = pen.layout(
        xaxis={"title": {"text": by}, "type": "category"},
        yaxis={"title": {"text": y}},
        boxmode="overlay",
    )
    layout["selectdirection"] = "v"
    note = "whiskers reach 1.5 quartile distances; values beyond them are not drawn"
    return pen.pair(boxes, {"type": "box"}), layout, f"{caption}; {note}" if caption else note


def time_line(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """The mean of a column in equal steps of time, with its standard error."""
    x = pen.column(wanted.get("x"), MEASURED, "the time")
    y = pen.column(wanted.get("y"), (Kind.NUMBER, Kind.INTEGER), "the mean")
    kind = pen.table.schema[x].kind
    ends = range_of(x, kind, pen.connection)
    if ends is None:
        raise DataError(f"{x!r} has no values")
    low, width = ends[0], max((ends[1] - ends[0]) / TIME_STEPS, 1e-300)
    place = f"least(floor(({number_sql(x, kind)} - {low!r}) / {width!r}), {TIME_STEPS - 1})"
    value = number_sql(y, Kind.NUMBER)

    def means(where: str) -> dict[str, Any]:
        found = pen.rows(
            f"select {place}, avg({value}), stddev_samp({value}) / sqrt(count({value})) from data "
            f"where {where} and {number_sql(x, kind)} is not null group by 1 order by 1"
        )
        error = {"type": "data", "array": [e for _, _, e in found], "width": 2, "thickness": 1}
        return {
            "x": _axis_of(pen, x, [low + (k + 0.5) * width for k, _, _ in found]),
            "y": [mean for _, mean, _ in found],
            "error_y": error,
        }

    layout = pen.layout(xaxis={"title": {"text": x}}, yaxis={"title": {"text": f"mean of {y}"}})
    layout["selectdirection"] = "h"
    traces = pen.pair(means, {"type": "scatter", "mode": "lines+markers"})
    for trace in traces:
        trace["line"] = {"color": trace["marker"]["color"], "width": 1.5}
    return traces, layout, "bars are standard errors of the means"


def correlations(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """Pearson's correlations of all columns of numbers, of the selected rows."""
    names = list(pen.table.schema.of_kind(Kind.NUMBER, Kind.INTEGER))
    shown = names[:MOST_CORRELATED]
    if len(shown) < 2:
        raise DataError("a correlation map needs two columns of numbers")
    pairs = [(a, b) for k, a in enumerate(shown) for b in shown[:k]]
    terms = [f"corr({number_sql(a, Kind.NUMBER)}, {number_sql(b, Kind.NUMBER)})" for a, b in pairs]
    (found,) = pen.rows(f"select {', '.join(terms)} from data where {pen.where or 'true'}")
    matrix = np.eye(len(shown))
    for (a, b), value in zip(pairs, found):
        i, j = shown.index(a), shown.index(b)
        matrix[i, j] = matrix[j, i] = np.nan if value is None else value
    cells = [[None if np.isnan(v) else round(float(v), 4) for v in row] for row in matrix]
    trace = {
        "type": "heatmap",
        "z": cells,
        "x": shown,
        "y": shown,
        "zmin": -1,
        "zmax": 1,
        "colorscale": diverging(pen.theme.paper),
        "colorbar": {"outlinewidth": 0, "thickness": 12},
        "xgap": 1,
        "ygap": 1,
        "texttemplate": "%{z:.2f}" if len(shown) <= 10 else "",
    }
    layout = pen.layout(yaxis={"autorange": "reversed"}, dragmode=False)
    whose = "of the selected rows; " if pen.where else ""
    more = len(names) - len(shown)
    left = f"; {more} columns are not shown" if more else ""
    return [trace], layout, f"{whose}click a cell for its scatter{left}"


def tree(pen: Pen, wanted: dict[str, Any]) -> tuple[Any, Any, str]:
    """A small decision tree, of the selected rows."""
    import json

    from gnomon import show
    from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor
    from gnomon.workbench.web.fitted import usual_columns

    x = pen.column(wanted.get("x"), (*GROUPED, Kind.NUMBER, Kind.INTEGER), "the target")
    grouped = pen.table.schema[x].kind in GROUPED
    kept = pen.table[pen.table.column(x).is_valid().to_numpy()]
    inputs = [name for name in usual_columns(kept) if name != x]
    maker = DecisionTreeClassifier if grouped else DecisionTreeRegressor
    fitted = maker(max_depth=TREE_DEPTH, random_state=0).fit(kept.select([*inputs, x]), x)
    theme = "dark" if pen.theme is look("dark") else "light"
    figure = json.loads(show.tree(fitted, theme=theme).to_json())
    layout = figure["layout"] | {"width": None, "height": None, "autosize": True, "title": None}
    layout |= {"margin": {"l": 10, "r": 10, "t": 10, "b": 10}, "paper_bgcolor": "rgba(0,0,0,0)"}
    return figure["data"], layout, f"depth {TREE_DEPTH}, of all {len(kept):,} rows"
