"""Pictures of rows as points: scatterplots by class, matrices of them, ellipses, linked views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.contract.columns import Rows
from gnomon.contract.intake import as_table
from gnomon.density import covariance_ellipse
from gnomon.engine.errors import DataError
from gnomon.show.labels import label, labels
from gnomon.show.theme import color, dress, look
from gnomon.show.values import class_codes, class_names

SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star", "pentagon")
MOST_ROWS = 2000  # judgement: more points hide each other; `rows` sets it


def scatterplot_matrix(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    by: str | None = None,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Scatterplots of all pairs of some columns; rows selected in one are marked in all.

    Names stand on the diagonal, correlations above it. Drag over points with the selection tool to
    follow them through all panels. Texts: 000a, 000b (pairs) · 004 chapter 5.

    Parameters
    ----------
    table : Table or data frame
    columns : sequence of str, default=None
        Columns of numbers; the first five by default.
    by : str, default=None
        Classes, shown by colour and marker.
    rows : int, default=2000
        Draw at most so many rows, said in the note.
    random_state : int, default=0
        Seed of the rows drawn.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = scatterplot_matrix(example("iris"), by="species")
    >>> sorted({trace.type for trace in figure.data})
    ['splom']
    """
    all_rows = Rows(as_table(table))
    columns = list(columns) if columns is not None else number_columns(all_rows)[:5]
    if len(columns) < 2:
        raise DataError("a matrix of scatterplots needs two or more columns of numbers")
    values = np.stack([_numbers(all_rows, name) for name in columns])
    drawn, said = drawn_rows(len(all_rows), rows, random_state)
    classes = class_codes(all_rows, by)
    look_of = look(theme)
    names = labels(columns, 18)
    figure = go.Figure()
    for k, each in enumerate(class_names(classes)):
        picked = drawn[classes[drawn] == each]
        figure.add_splom(
            dimensions=[{"label": name, "values": v[picked]} for name, v in zip(names, values)],
            showupperhalf=False,
            marker={"color": color(k), "symbol": SYMBOLS[k % 8], "size": 4, "opacity": 0.7},
            selected={"marker": {"color": look_of.strong, "opacity": 1, "size": 6}},
            unselected={"marker": {"opacity": 0.15}},
            name=label(each),
            customdata=picked,
            hovertemplate="row %{customdata}: %{x}, %{y}<extra></extra>",
        )
    d = len(columns)
    axes = [f"{axis}axis{k + 1 if k else ''}" for axis in "xy" for k in range(d)]
    figure.update_layout({axis: {"showgrid": False} for axis in axes})
    for i in range(d):
        figure.add_shape(
            type="rect",
            xref="paper",
            yref="paper",
            x0=i / d,
            x1=(i + 1) / d,
            y0=1 - (i + 1) / d,
            y1=1 - i / d,
            fillcolor=look_of.paper,
            line_width=0,
        )
        figure.add_annotation(
            text=f"<b>{names[i]}</b>",
            showarrow=False,
            **_middle(i, i, d),
            font={"color": look_of.ink, "size": 13},
        )
        for j in range(i + 1, d):
            both = np.isfinite(values[i]) & np.isfinite(values[j])
            r = _correlation(values[i][both], values[j][both])
            figure.add_annotation(
                text="" if np.isnan(r) else f"{r:.2f}",
                showarrow=False,
                **_middle(i, j, d),
                font={
                    "color": look_of.ink if abs(np.nan_to_num(r)) >= 0.3 else look_of.faint,
                    "size": 13 + 9 * abs(float(np.nan_to_num(r))),
                },
            )
    return dress(
        figure,
        "Scatterplots of all pairs",
        theme,
        note=f"above the diagonal: correlations of all rows; {said}",
        width=max(560, 150 * d + 160),
        height=max(520, 140 * d + 120),
        dragmode="select",
        showlegend=by is not None,
        margin={"l": 80, "r": 30, "t": 90, "b": 70},
    )


def _middle(i: int, j: int, d: int) -> dict[str, Any]:
    """The middle of panel (i, j) on the paper, rows counted from the top."""
    return {"x": (j + 0.5) / d, "y": 1 - (i + 0.5) / d, "xref": "paper", "yref": "paper"}


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) < 3 or (x == x[0]).all() or (y == y[0]).all():
        return np.nan
    return float(np.corrcoef(x / np.abs(x).max(), y / np.abs(y).max())[0, 1])


def number_columns(rows: Rows) -> list[str]:
    """Names of the columns that hold numbers."""
    if not rows.is_table:
        return rows.names
    return [c.name for c in rows.X.schema if c.kind.is_numeric]


def drawn_rows(n: int, most: int, seed: int) -> tuple[np.ndarray, str]:
    """Rows to draw, and a sentence that says which."""
    if n <= most:
        return np.arange(n), f"all {n:,} rows"
    picked = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    return picked, f"{most:,} of {n:,} rows, drawn with seed {seed}"


def _numbers(rows: Rows, name: str) -> np.ndarray:
    values = rows.values(name)
    if values.dtype.kind != "f":
        raise DataError(f"column {name!r} does not hold numbers; scatterplots show numbers only")
    return values


def class_scatter(
    table: Any,
    columns: Sequence[str],
    *,
    by: str | None = None,
    characters: bool = False,
    query: Sequence[float] | None = None,
    neighbors: int = 5,
    numbered: Sequence[int] = (),
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Rows as points in two or three columns, with a colour and marker for each class.

    Texts: 000a, 000b, 003, 004 (scatterplots by class; 000a: a query and its neighbours).

    Parameters
    ----------
    table : Table or data frame
    columns : sequence of two or three str
    by : str, default=None
        The classes.
    characters : bool, default=False
        Draw the first letter of the class instead of a marker.
    query : sequence of float, default=None
        A point to mark, joined to its nearest rows (Euclidean distance in units of the columns'
        deviations).
    neighbors : int, default=5
        How many of them.
    numbered : sequence of int, default=()
        Rows to number.
    rows : int, default=2000
        Draw at most so many rows, said in the note; numbered rows and neighbours always.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = class_scatter(example("iris"), ["petal_length", "petal_width"], by="species")
    >>> sorted({trace.type for trace in figure.data})
    ['scatter']
    """
    if len(columns) not in (2, 3):
        raise DataError(f"give two or three columns, not {len(columns)}")
    all_rows = Rows(as_table(table))
    values = np.column_stack([_numbers(all_rows, name) for name in columns])
    classes = class_codes(all_rows, by)
    drawn, said = drawn_rows(len(all_rows), rows, random_state)
    look_of = look(theme)
    figure = go.Figure()
    shown = class_names(classes)
    for k, each in enumerate(shown):
        picked = drawn[classes[drawn] == each]
        letters = {"mode": "text", "text": [label(each)[:1]] * len(picked)}
        dots = {
            "mode": "markers",
            "marker": {
                "color": color(k),
                "symbol": SYMBOLS[k % (5 if len(columns) == 3 else 8)].replace("triangle-up", "x"),
                "size": 4 if len(columns) == 3 else 7,
                "opacity": 0.8,
            },
        }
        figure.add_trace(
            _points(
                values[picked],
                name=label(each),
                customdata=picked,
                hovertemplate="row %{customdata}<extra></extra>",
                **(
                    {**letters, "textfont": {"color": color(k), "size": 13}} if characters else dots
                ),
            )
        )
    if query is not None:
        _mark_query(figure, values, np.asarray(query, dtype=np.float64), neighbors, look_of)
    if len(numbered):
        figure.add_trace(
            _points(
                values[list(numbered)],
                mode="markers+text",
                text=[str(row) for row in numbered],
                textposition="top center",
                textfont={"color": look_of.strong},
                marker={"symbol": "circle-open", "size": 12, "color": look_of.strong},
                name="numbered",
                showlegend=False,
            )
        )
    _axes(figure, [label(name) for name in columns], look_of)
    left = len(class_names(classes, None)) - len(shown)
    return dress(
        figure,
        " and ".join(label(name) for name in columns) + (f" by {label(by)}" if by else ""),
        theme,
        note=said + (f"; {left} rarer classes not shown" if left else ""),
        width=820,
        height=600,
        showlegend=by is not None,
        **({"margin": {"l": 10, "r": 10, "t": 90, "b": 10}} if len(columns) == 3 else {}),
    )


def _points(points: np.ndarray, **style: Any) -> Any:
    if points.shape[1] == 3:
        return go.Scatter3d(x=points[:, 0], y=points[:, 1], z=points[:, 2], **style)
    return go.Scatter(x=points[:, 0], y=points[:, 1], **style)


def _axes(figure: go.Figure, names: list[str], look_of) -> None:
    if len(names) == 2:
        figure.update_xaxes(title=names[0])
        figure.update_yaxes(title=names[1])
        return
    plain = {
        "gridcolor": look_of.grid,
        "backgroundcolor": look_of.paper,
        "color": look_of.ink,
        "zeroline": False,
    }
    axes = {f"{axis}axis": {**plain, "title": name} for axis, name in zip("xyz", names)}
    figure.update_layout(scene={**axes, "camera": {"eye": {"x": 1.7, "y": 1.7, "z": 0.9}}})


def _mark_query(figure, values: np.ndarray, query: np.ndarray, k: int, look_of) -> None:
    if query.shape != (values.shape[1],):
        raise DataError(f"the query has {query.size} values; {values.shape[1]} columns are shown")
    spread = np.nanstd(values, axis=0)
    distance = (((values - query) / np.where(spread > 0, spread, 1)) ** 2).sum(axis=1)
    nearest = np.argsort(np.where(np.isnan(distance), np.inf, distance), kind="stable")[:k]
    gap = np.full((1, values.shape[1]), np.nan)
    lines = np.concatenate([np.concatenate([query[None], values[[row]], gap]) for row in nearest])
    figure.add_trace(
        _points(
            lines,
            mode="lines",
            line={"color": look_of.strong, "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.add_trace(
        _points(
            query[None],
            mode="markers",
            marker={"symbol": "x", "size": 10, "color": look_of.strong},
            name=f"query and its {len(nearest)} nearest",
        )
    )


def covariance_contours(
    table: Any,
    columns: Sequence[str],
    *,
    by: str | None = None,
    deviations: Sequence[float] = (1.0, 2.0),
    course: Sequence[tuple[Any, Any]] | None = None,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Ellipses of each class's mean and covariance at one and two deviations, over the points.

    Points at Mahalanobis distance 1 and 2 from the mean: of a normal class, 39 and 86 percent of
    its rows lie inside. Text: 002 (Gaussian classes, EM).

    Parameters
    ----------
    table : Table or data frame
    columns : sequence of two str
    by : str, default=None
        The classes; one ellipse of all rows by default.
    deviations : sequence of float, default=(1, 2)
    course : sequence of (means, covariances), default=None
        Steps of a run, such as the states of a Gaussian mixture in these columns: means of shape
        (k, 2), covariances (k, 2, 2). A slider then replays them instead of the classes' ellipses.
    rows : int, default=2000
        Draw at most so many rows as points; means and covariances are of all rows.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = covariance_contours(example("iris"), ["petal_length", "petal_width"])
    >>> sorted({trace.type for trace in figure.data})
    ['scatter']
    """
    if len(columns) != 2:
        raise DataError(f"give two columns, not {len(columns)}")
    all_rows = Rows(as_table(table))
    values = np.column_stack([_numbers(all_rows, name) for name in columns])
    classes = class_codes(all_rows, by)
    drawn, said = drawn_rows(len(all_rows), rows, random_state)
    figure = go.Figure()
    flat: list[str] = []
    for k, each in enumerate(class_names(classes, None)):
        picked = drawn[classes[drawn] == each]
        symbol = SYMBOLS[(k + k // 8) % 8]  # colours come again after eight, not with their symbol
        figure.add_scatter(
            x=values[picked, 0],
            y=values[picked, 1],
            mode="markers",
            marker={"color": color(k), "symbol": symbol, "size": 5, "opacity": 0.5},
            name=label(each),
            legendgroup=str(k),
        )
        own = values[classes == each]
        own = own[np.isfinite(own).all(axis=1)]
        if course is None and len(own) >= 3:
            with np.errstate(over="ignore", invalid="ignore"):
                mean, covariance = own.mean(axis=0), np.cov(own.T)
            if not np.isfinite(covariance).all() or np.linalg.matrix_rank(covariance) < 2:
                flat.append(each)
                continue
            for ellipse in _ellipses(mean, covariance, deviations):
                figure.add_scatter(
                    x=ellipse[0],
                    y=ellipse[1],
                    mode="lines",
                    line={"color": color(k), "width": 2.5},
                    legendgroup=str(k),
                    showlegend=False,
                    hoverinfo="skip",
                )
    if course is not None:
        _replay(figure, course, deviations, look(theme))
    figure.update_xaxes(title=label(columns[0]))
    figure.update_yaxes(title=label(columns[1]))
    at = " and ".join(f"{each:g}" for each in deviations)
    note = f"ellipses at {at} deviations of the class; {said}"
    if flat:
        note += f"; no ellipse for {label(flat[0])}: its points lie on a line, or too far out"
    return dress(
        figure,
        f"Means and covariances of {label(columns[0])} and {label(columns[1])}",
        theme,
        note=note,
        width=820,
        height=600 if course is None else 680,
        showlegend=by is not None,
    )


def _ellipses(mean: np.ndarray, covariance: np.ndarray, deviations: Sequence[float]) -> list:
    return [covariance_ellipse(mean, covariance, each).T for each in deviations]


def _replay(figure: go.Figure, course, deviations, look_of) -> None:
    """Ellipses of each step as frames behind a slider."""
    steps = []
    for means, covariances in course:
        curves = [
            ellipse
            for mean, covariance in zip(np.asarray(means), np.asarray(covariances))
            for ellipse in _ellipses(mean, covariance, deviations)
        ]
        gap = np.full((2, 1), np.nan)
        joined = np.concatenate([part for curve in curves for part in (curve, gap)], axis=1)
        steps.append(
            go.Scatter(
                x=joined[0],
                y=joined[1],
                mode="lines",
                line={"color": look_of.strong, "width": 2.5},
                name="components",
                hoverinfo="skip",
            )
        )
    figure.add_trace(steps[0])
    last = len(figure.data) - 1
    figure.frames = [
        go.Frame(data=[step], traces=[last], name=str(k)) for k, step in enumerate(steps)
    ]
    figure.update_layout(
        sliders=[
            {
                "currentvalue": {"prefix": "step "},
                "steps": [
                    {
                        "label": str(k),
                        "method": "animate",
                        "args": [[str(k)], {"mode": "immediate", "frame": {"duration": 0}}],
                    }
                    for k in range(len(steps))
                ],
            }
        ]
    )


def parallel_coordinates(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    by: str | None = None,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Every row as a line across one axis per column; drag along an axis to select a range.

    Text: 004 chapter 5 (parallel coordinates with range selectors).

    Parameters
    ----------
    table : Table or data frame
    columns : sequence of str, default=None
        Numbers and categories; by default the first eight columns of numbers.
    by : str, default=None
        Classes, shown by colour.
    rows : int, default=2000
        Draw at most so many rows, said in the note. Rows with a missing cell have no line.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = parallel_coordinates(example("iris"), by="species")
    >>> sorted({trace.type for trace in figure.data})
    ['parcoords', 'scatter']
    """
    all_rows = Rows(as_table(table))
    columns = list(columns) if columns is not None else number_columns(all_rows)[:8]
    if len(columns) < 2:
        raise DataError("parallel coordinates need two or more columns")
    drawn, said = drawn_rows(len(all_rows), rows, random_state)
    trace, dropped = _parallel_trace(all_rows, columns, by, drawn, theme)
    figure = go.Figure(trace)
    note = f"{said}; drag along an axis to select a range"
    if dropped:
        note += f"; {dropped:,} with missing cells not drawn"
    classes = class_names(class_codes(all_rows, by)[drawn])
    for k, each in enumerate(classes if by is not None else []):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="lines",
            line={"color": color(k), "width": 4},
            name=label(each),
        )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    dress(
        figure,
        "Rows across all columns" + (f" by {label(by)}" if by else ""),
        theme,
        note=note,
        width=max(640, min(130 * len(columns) + 100, 1300)),
        height=520,
        margin={"l": 90, "r": 60, "t": 140, "b": 40},
        showlegend=by is not None,
        legend={"orientation": "h", "y": -0.05},
    )
    return figure.update_xaxes(visible=False).update_yaxes(visible=False)


def _parallel_trace(rows: Rows, columns, by: str | None, drawn: np.ndarray, theme: str):
    """A Parcoords trace, and how many of the drawn rows it leaves out."""
    axes, complete = [], np.ones(len(drawn), dtype=bool)
    for name in columns:
        values = rows.values(name)[drawn]
        ticks: dict[str, Any] = {}
        if values.dtype.kind != "f":
            known = np.array([v is not None for v in values])
            levels = sorted({str(v) for v in values[known]})
            places = {level: k for k, level in enumerate(levels)}
            values = np.array([np.nan if v is None else places[str(v)] for v in values])
            if len(levels) <= 20:
                ticks = {"tickvals": list(range(len(levels))), "ticktext": labels(levels, 12)}
        complete &= np.isfinite(values)
        axes.append((name, values, ticks))
    if not complete.any():
        raise DataError("every row has a missing cell in these columns: no line can be drawn")
    look_of = look(theme)
    classes = class_codes(rows, by)[drawn][complete]
    names = class_names(classes)
    place = {each: k for k, each in enumerate(names)}
    tones = [color(k) for k in range(max(len(names), 1))]
    top = max(len(tones) - 1, 1)
    scale = [[k / top, tone] for k, tone in enumerate(tones)] if len(tones) > 1 else None
    trace = go.Parcoords(
        dimensions=[
            {"label": label(name, 16), "values": values[complete], **ticks}
            for name, values, ticks in axes
        ],
        line={
            "color": [place.get(each, 0) for each in classes] if scale else tones[0],
            **({"colorscale": scale, "cmin": 0, "cmax": top} if scale else {}),
        },
        labelfont={"color": look_of.ink, "size": 13},
        tickfont={"color": look_of.faint},
        rangefont={"color": look_of.faint},
        unselected={"line": {"color": look_of.grid, "opacity": 0.3}},
    )
    return trace, int((~complete).sum())


def linked_views(
    table: Any,
    views: Sequence[Sequence[str]],
    *,
    by: str | None = None,
    parallel: Sequence[str] | None = None,
    rows: int = 1000,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Several scatterplots, and parallel coordinates below them, that share one selection.

    In a report, drag over points in one view, or along a parallel axis, and the same rows are
    marked in all. (Shown alone, a Plotly figure has no such link.) Texts: 004 8, 000a 8.

    Parameters
    ----------
    table : Table or data frame
    views : sequence of (x, y)
        Columns of numbers for each scatterplot.
    by : str, default=None
        Classes, shown by marker.
    parallel : sequence of str, default=None
        Columns of the parallel coordinates; by default those of the views. Rows with a missing cell
        in them are in no view.
    rows : int, default=1000
        Draw at most so many rows, said in the note.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = linked_views(example("iris"), [("petal_length", "petal_width")])
    >>> sorted({trace.type for trace in figure.data})
    ['parcoords', 'scatter']
    """
    if not views or any(len(view) != 2 for view in views):
        raise DataError("each view is a pair of columns: [('height', 'weight'), ...]")
    all_rows = Rows(as_table(table))
    axes = list(parallel or dict.fromkeys(name for view in views for name in view))
    values = {name: _numbers(all_rows, name) for name in {*axes, *(n for v in views for n in v)}}
    complete = np.flatnonzero(np.isfinite(np.stack(list(values.values()))).all(axis=0))
    if not len(complete):
        raise DataError("every row has a missing cell in these columns")
    picked, said = drawn_rows(len(complete), rows, random_state)
    drawn = complete[picked]
    classes = class_codes(all_rows, by)[drawn]
    names = class_names(classes)
    symbol = {each: SYMBOLS[k % 8] for k, each in enumerate(names)}
    tone = {each: color(k) for k, each in enumerate(names)}
    look_of = look(theme)
    figure = make_subplots(
        rows=2,
        cols=len(views),
        specs=[
            [{"type": "xy"}] * len(views),
            [{"type": "domain", "colspan": len(views)}, *[None] * (len(views) - 1)],
        ],
        row_heights=[0.55, 0.45],
        vertical_spacing=0.2,
    )
    for k, (x, y) in enumerate(views, start=1):
        figure.add_scatter(
            x=values[x][drawn],
            y=values[y][drawn],
            customdata=drawn,
            mode="markers",
            marker={
                "color": [tone.get(each, look_of.faint) for each in classes],
                "symbol": [symbol.get(each, "circle-open") for each in classes],
                "size": 6,
            },
            selected={"marker": {"opacity": 1.0}},
            unselected={"marker": {"opacity": 0.12}},
            hovertemplate="row %{customdata}<extra></extra>",
            row=1,
            col=k,
        )
        figure.update_xaxes(title=label(x), row=1, col=k)
        figure.update_yaxes(title=label(y), row=1, col=k)
    figure.add_parcoords(
        dimensions=[{"label": label(name, 16), "values": values[name][drawn]} for name in axes],
        customdata=drawn,
        line={
            "color": np.ones(len(drawn)),
            "colorscale": [[0, look_of.grid], [1, color(0)]],
            "cmin": 0,
            "cmax": 1,
        },
        labelfont={"color": look_of.ink},
        tickfont={"color": look_of.faint},
        rangefont={"color": look_of.faint},
        row=2,
        col=1,
    )
    incomplete = len(all_rows) - len(complete)
    note = f"{said}; select rows in one view to see them in all"
    if incomplete:
        note += f"; {incomplete:,} rows with missing cells left out"
    if by is not None:
        note += "; " + ", ".join(
            f"<span style='color:{tone[each]}'>{label(each)}</span>" for each in names
        )
    return dress(
        figure,
        "Linked views",
        theme,
        note=note,
        dragmode="select",
        width=max(700, 380 * len(views)),
        height=760,
        showlegend=False,
        margin={"l": 80, "r": 70, "t": 100, "b": 40},
        meta={"linked": "rows"},
    )
