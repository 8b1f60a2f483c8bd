"""Pictures of whole tables: roles of the columns, missing cells, associations, counted cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.contract.intake import as_table
from gnomon.engine.errors import DataError
from gnomon.show.labels import label, labels
from gnomon.show.theme import color, diverging, dress, look
from gnomon.table.kinds import Kind
from gnomon.table.recode import as_strings
from gnomon.table.schema import no_such_column

# Places in the palette: kinds that are alike share one.
KIND_COLORS = {
    Kind.NUMBER: 0,
    Kind.INTEGER: 5,
    Kind.CATEGORY: 2,
    Kind.ORDERED: 2,
    Kind.BOOLEAN: 7,
    Kind.DATETIME: 4,
    Kind.TEXT: 3,
    Kind.IDENTIFIER: 6,
}
MOST_COLUMNS = 9  # judgement: more are not read
PAGE_WIDTH = 880  # pixels that a report leaves for a figure beside its contents
# of a letter of 13 pixels in bold Arial, capitals among them, and what surrounds a cell
LETTER_WIDTH, CELL_MARGIN = 7.8, 20
LONGEST_NAME, LONGEST_CELL = 18, 13  # letters


def table_roles(
    table: Any, target: str | None = None, *, rows: int = 8, theme: str = "light"
) -> go.Figure:
    """The first rows of a table with the role and kind of every column, missing cells marked.

    Features are what a learner sees, the target is what it predicts, identifiers are left out.
    Text: 003 2.1 (the data table).

    Parameters
    ----------
    table : Table or data frame
    target : str, default=None
    rows : int, default=8
        Rows shown.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = table_roles(example("iris"), "species")
    >>> sorted({trace.type for trace in figure.data})
    ['table']
    """
    table = as_table(table)
    if target is not None and target not in table:
        raise no_such_column(target, table.columns)
    look_of = look(theme)
    first = _shown_columns(table.columns, target)
    head = table.select(first).head(rows)
    top, fills, cells, cell_fills, widths = [], [], [], [], []
    for name in first:
        kind = table.schema[name].kind
        role = _role(name, kind, target)
        top.append(f"<b>{label(name, LONGEST_NAME)}</b><br>{role}<br><i>{kind}</i>")
        fills.append(look_of.strong if role == "target" else color(KIND_COLORS[kind]))
        column = head.column(name)
        if kind is Kind.BOOLEAN:
            column = as_strings(column, table.schema[name])
        values = column.to_pylist()
        texts = ["missing" if v is None else label(v, LONGEST_CELL) for v in values]
        cells.append(texts)
        longest = max(map(len, (label(name, LONGEST_NAME), role, str(kind), *texts)))
        widths.append(LETTER_WIDTH * longest + CELL_MARGIN)
        cell_fills.append([look_of.grid if v is None else look_of.paper for v in values])
    kept = _fitting(widths, first.index(target) if target in first else None)
    shown = [first[j] for j in kept]
    top, fills, cells, cell_fills, widths = (
        [each[j] for j in kept] for each in (top, fills, cells, cell_fills, widths)
    )
    figure = go.Figure(
        go.Table(
            columnwidth=widths,
            header={
                "values": top,
                "fill_color": fills,
                "font": {"color": "white", "size": 13},
                "align": "left",
                "height": 66,
                "line_color": look_of.paper,
            },
            cells={
                "values": cells,
                "fill_color": cell_fills,
                "font": {"color": look_of.ink, "size": 13},
                "align": "left",
                "height": 28,
                "line_color": look_of.grid,
            },
        )
    )
    left = len(table.columns) - len(shown)
    note = f"first {len(head)} of {len(table):,} rows; missing cells are filled"
    if left:
        note += f"; {left} more columns not shown"
    return dress(
        figure,
        "The table and the roles of its columns",
        theme,
        note=note,
        width=max(520, int(sum(widths)) + 40),
        height=190 + 31 * max(len(head), 1),  # a line and what surrounds it, as browsers set it
        margin={"l": 20, "r": 20, "t": 84, "b": 16},
    )


def _shown_columns(names: Sequence[str], target: str | None) -> list[str]:
    shown = list(names[:MOST_COLUMNS])
    if target is not None and target not in shown:
        shown[-1] = target
    return shown


def _fitting(widths: Sequence[float], target: int | None) -> list[int]:
    """Places of the first columns that a page holds, the target's always among them."""
    left = PAGE_WIDTH - (0 if target is None else widths[target])
    kept = []
    for place, width in enumerate(widths):
        if place == target:
            kept.append(place)
        elif width <= left or not kept:
            left -= width
            kept.append(place)
        else:
            left = 0.0
    return kept


def _role(name: str, kind: Kind, target: str | None) -> str:
    if name == target:
        return "target"
    return "left out" if kind is Kind.IDENTIFIER else "feature"


def missing_cells(
    counts: Mapping[str, int],
    patterns: Sequence[tuple[Sequence[str], int]],
    rows: int,
    *,
    most: int = 12,
    theme: str = "light",
) -> go.Figure:
    """Which columns are missing, and which of them in the same rows.

    Above, missing cells by column; below, one line per set of columns that are missing together,
    with the number of such rows at its right. Text: 004 chapter 5 (missing values).

    Parameters
    ----------
    counts : dict of str to int
        Missing cells by column.
    patterns : sequence of (names, count)
        Sets of columns missing in the same rows.
    rows : int
        Rows of the table.
    most : int, default=12
        Columns and sets shown: those with most missing.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = missing_cells(
    ...     {"age": 3, "income": 2}, [(("age", "income"), 2), (("age",), 1)], 10
    ... )
    >>> sorted({trace.type for trace in figure.data})
    ['bar', 'scatter']
    """
    if not counts:
        raise DataError("no cell is missing: there is nothing to show")
    look_of = look(theme)
    columns = sorted(counts, key=lambda name: -counts[name])[:most]
    names = labels(columns, 16)
    kept = sorted(patterns, key=lambda each: -each[1])[:most]
    figure = make_subplots(
        rows=2,
        cols=2,
        shared_xaxes="columns",
        column_widths=[0.8, 0.2],
        row_heights=[0.42, 0.58],
        vertical_spacing=0.03,
        horizontal_spacing=0.02,
    )
    figure.add_bar(
        x=names,
        y=[100 * counts[name] / rows for name in columns],
        customdata=[counts[name] for name in columns],
        marker_color=color(0),
        hovertemplate="%{x}: %{customdata:,} rows, %{y:.1f} %<extra></extra>",
        row=1,
        col=1,
    )
    lines = list(range(len(kept)))
    for hole, tone in ((False, look_of.grid), (True, color(1))):
        at = [
            (names[k], line)
            for line in lines
            for k, name in enumerate(columns)
            if (name in kept[line][0]) == hole
        ]
        figure.add_scatter(
            x=[x for x, _ in at],
            y=[y for _, y in at],
            mode="markers",
            marker={"size": 14, "color": tone, "symbol": "square"},
            name="missing" if hole else "present",
            hovertemplate=f"%{{x}}: {'missing' if hole else 'present'}<extra></extra>",
            row=2,
            col=1,
        )
    figure.add_bar(
        y=lines,
        x=[count for _, count in kept],
        orientation="h",
        marker_color=color(1),
        text=[f"{count:,}" for _, count in kept],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x:,} rows<extra></extra>",
        row=2,
        col=2,
    )
    figure.update_yaxes(title="missing, % of rows", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(
        autorange="reversed", showticklabels=False, title="sets of columns", row=2, col=1
    )
    figure.update_yaxes(autorange="reversed", showticklabels=False, row=2, col=2)
    figure.update_xaxes(visible=False, row=2, col=2)
    figure.update_xaxes(type="category", tickangle=-40, showgrid=False, row=2, col=1)
    figure.update_xaxes(type="category", row=1, col=1)
    some = ""
    if len(counts) > len(columns) or len(patterns) > len(kept):
        some = f"; {len(columns)} of {len(counts)} columns, {len(kept)} of {len(patterns)} sets"
    made = dress(
        figure,
        "Missing cells, and what is missing together",
        theme,
        note=f"{rows:,} rows; filled squares below: missing{some}",
        width=max(640, 240 + 52 * len(columns)),
        height=400 + 26 * len(kept),
        showlegend=False,
        margin={"l": 80, "r": 60, "t": 90, "b": 130},
    )
    figure.update_yaxes(ticks="", row=2)
    return made


def association_map(
    strengths: Any,
    names: Sequence[str],
    *,
    p: Any = None,
    most: int = 30,
    theme: str = "light",
) -> go.Figure:
    """Associations of all pairs of columns as a heat map, blue where falling, red where rising.

    Cells with a dot are not beyond chance. Text: 004 7.2 to 7.4.

    Parameters
    ----------
    strengths : array-like of shape (d, d)
        Between -1 and 1; NaN where not measured.
    names : sequence of str
    p : array-like of shape (d, d), default=None
        Corrected p-values; cells above 0.05 get a dot.
    most : int, default=30
        Columns shown: those with the strongest association to another.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = association_map([[1.0, 0.9], [0.9, 1.0]], ["height", "weight"])
    >>> sorted({trace.type for trace in figure.data})
    ['heatmap']
    """
    strengths = np.asarray(strengths, dtype=np.float64).copy()
    look_of = look(theme)
    np.fill_diagonal(strengths, np.nan)
    best = np.nan_to_num(np.abs(strengths)).max(axis=1) if len(strengths) else np.zeros(0)
    kept = np.sort(np.argsort(-best, kind="stable")[:most])
    shown = strengths[np.ix_(kept, kept)]
    ticks = labels([names[k] for k in kept], 18)
    written = len(kept) <= 16
    doubtful = np.zeros(shown.shape, dtype=bool)
    if p is not None:
        doubtful = ~(np.asarray(p)[np.ix_(kept, kept)] <= 0.05) & ~np.isnan(shown)
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            x=ticks,
            y=ticks,
            zmin=-1,
            zmax=1,
            colorscale=diverging(look_of.paper),
            text=[
                ["·" if doubt else _strength(v, written) for v, doubt in zip(*row)]
                for row in zip(shown, doubtful)
            ],
            texttemplate="%{text}",
            textfont={"size": 11},
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
            xgap=1,
            ygap=1,
            colorbar={"title": "strength", "outlinewidth": 0, "thickness": 14},
        )
    )
    note = "size of the association, its sign for two numbers"
    if doubtful.any():
        note += "; dots: not beyond chance (p > 0.05 after correction)"
    if len(kept) < len(names):
        note += f"; {len(kept)} of {len(names)} columns"
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showgrid=False, tickangle=-40, type="category")
    side = 90 + 46 * len(kept) if written else 90 + 24 * len(kept)
    return dress(
        figure,
        "Which columns go together",
        theme,
        note=note,
        width=max(side + 240, 560),
        height=max(side + 210, 440),
        margin={"l": 150, "r": 30, "t": 90, "b": 130},
    )


def _strength(value: float, written: bool) -> str:
    return f"{value:.2f}" if written and not np.isnan(value) else ""


def overview_matrix(
    share: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    error: Any = None,
    target: str | None = None,
    note: str = "",
    most: int = 30,
    theme: str = "light",
) -> go.Figure:
    """How well each column alone predicts each other one, as a matrix of filled squares.

    A square's size and colour say which share of the deviation of the column above it the column
    at its left explains on unseen rows. Text: 003 addendum (Waffles' overview).

    Parameters
    ----------
    share : array-like of shape (n_inputs, n_outputs)
        Explained share; NaN where not measured. Nothing is drawn at 0 and below.
    inputs, outputs : sequences of str
    error : array-like of shape (n_inputs, n_outputs), default=None
        Standard errors, shown on hover.
    target : str, default=None
        A column to set off.
    note : str, default=""
        How it was measured: rows, seed.
    most : int, default=30
        Inputs and outputs shown.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = overview_matrix([[0.8, 0.1]], ["plan"], ["charge", "age"])
    >>> sorted({trace.type for trace in figure.data})
    ['scatter']
    """
    share = np.asarray(share, dtype=np.float64)[:most, :most]
    error = np.full(share.shape, np.nan) if error is None else np.asarray(error)[:most, :most]
    look_of = look(theme)
    rows, columns = labels(inputs[:most], 20), labels(outputs[:most], 20)
    i, j = np.nonzero(~np.isnan(share))
    values = share[i, j]
    drawn = np.clip(values, 0.0, 1.0)
    step = 34 if len(rows) <= 20 else 24
    figure = go.Figure(
        go.Scatter(
            x=[columns[k] for k in j],
            y=[rows[k] for k in i],
            mode="markers",
            marker={
                "symbol": "square",
                "size": (step - 6) * np.sqrt(drawn),
                "color": drawn,
                "colorscale": [[0, look_of.grid], [0.5, color(5)], [1, color(0)]],
                "cmin": 0,
                "cmax": 1,
                "line": {"width": 0},
                "colorbar": {
                    "title": "explained<br>share",
                    "outlinewidth": 0,
                    "thickness": 14,
                    "tickformat": ".0%",
                },
            },
            customdata=np.column_stack([values, error[i, j]]),
            hovertemplate="%{y} predicts %{x}: %{customdata[0]:.1%} ± %{customdata[1]:.1%}"
            "<extra></extra>",
        )
    )
    if target is not None and target in outputs[:most]:
        place = list(outputs).index(target)
        figure.add_vrect(x0=place - 0.5, x1=place + 0.5, line={"color": look_of.strong, "width": 2})
    figure.update_yaxes(
        autorange="reversed",
        type="category",
        categoryorder="array",
        categoryarray=rows,
        title="from this column alone",
    )
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=columns,
        tickangle=-40,
        side="top",
        title="predicted",
    )
    some = len(inputs) > most or len(outputs) > most
    cut = f"; first {most} columns" if some else ""
    return dress(
        figure,
        "Which column predicts which",
        theme,
        note=f"share of the deviation explained on unseen rows{'; ' + note if note else ''}{cut}",
        width=max(step * len(columns) + 330, 560),
        height=max(step * len(rows) + 250, 420),
        margin={"l": 190, "r": 30, "t": 210, "b": 30},
    )


def joint_grid(
    counts: Any,
    rows: Sequence[Any],
    columns: Sequence[Any],
    *,
    names: tuple[str, str] = ("", ""),
    condition: Any = None,
    event: Any = None,
    theme: str = "light",
) -> go.Figure:
    """Counted cells of two columns, with a condition and an event marked on them.

    The picture behind P(event | condition) = P(both) / P(condition): the condition is a row of the
    grid, the event a column, both their cell. Text: 003 2.1 (joint and conditional probability).

    Parameters
    ----------
    counts : array-like of shape (n_rows, n_columns)
    rows, columns : sequences
        The values that the rows and columns of the grid stand for.
    names : (str, str), default=("", "")
        What the rows and the columns are.
    condition : value of rows, default=None
    event : value of columns, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = joint_grid(
    ...     [[3, 1], [2, 4]], ["rain", "sun"], ["late", "on time"], condition="sun"
    ... )
    >>> sorted({trace.type for trace in figure.data})
    ['heatmap']
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.shape != (len(rows), len(columns)):
        raise DataError(f"counts has the shape {counts.shape}, not {(len(rows), len(columns))}")
    if not counts.sum() > 0:
        raise DataError("no cell has a count: there are no probabilities to show")
    look_of = look(theme)
    down, across = labels(rows, 20), labels(columns, 20)
    total = counts.sum()
    figure = go.Figure(
        go.Heatmap(
            z=counts / total,
            x=across,
            y=down,
            zmin=0,
            colorscale=[[0, look_of.paper], [1, color(5)]],
            text=[[f"<b>{c:,g}</b><br>{c / total:.3f}" for c in row] for row in counts],
            texttemplate="%{text}",
            textfont={"color": look_of.ink},
            xgap=2,
            ygap=2,
            showscale=False,
            hovertemplate=f"{label(names[0]) if names[0] else 'row'} = %{{y}}, "
            f"{label(names[1]) if names[1] else 'column'} = %{{x}}: %{{z:.4f}}<extra></extra>",
        )
    )
    note = f"counts and probabilities of {total:,g}"
    if condition is not None:
        i = _place(condition, rows, "condition")
        _frame(figure, -0.5, len(columns) - 0.5, i, i, look_of.strong)
        note += f"; P({down[i]}) = {counts[i].sum() / total:.3f}"
    if event is not None:
        j = _place(event, columns, "event")
        _frame(figure, j - 0.5, j + 0.5, 0, len(rows) - 1, color(0))
        note += f"; P({across[j]}) = {counts[:, j].sum() / total:.3f}"
    if condition is not None and event is not None and counts[i].sum() > 0:
        note += f"; P({across[j]} | {down[i]}) = {counts[i, j] / counts[i].sum():.3f}"
    figure.update_yaxes(
        autorange="reversed", showgrid=False, title=label(names[0]) if names[0] else None
    )
    figure.update_yaxes(type="category")
    figure.update_xaxes(
        type="category", showgrid=False, title=label(names[1]) if names[1] else None
    )
    return dress(
        figure,
        "Counted cells",
        theme,
        note=note,
        width=max(220 + 90 * len(columns), 560),
        height=200 + 64 * len(rows),
        margin={"l": 130, "r": 30, "t": 90, "b": 70},
    )


def _place(value: Any, values: Sequence[Any], what: str) -> int:
    if value not in list(values):
        raise DataError(f"{what}={value!r} is none of {', '.join(map(repr, list(values)[:8]))}")
    return list(values).index(value)


def _frame(figure: go.Figure, x0: float, x1: float, i0: int, i1: int, tone: str) -> None:
    figure.add_shape(
        type="rect",
        x0=x0,
        x1=x1,
        y0=i0 - 0.5,
        y1=i1 + 0.5,
        line={"color": tone, "width": 4},
    )
