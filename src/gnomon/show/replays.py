"""A fit step by step: the objective, and how the parameters moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.show.theme import color, dress, look

MOST_PATHS = 12  # judgement: more lines cannot be told apart
MOST_NAMES = 10  # judgement: more names of points cover each other
LARGEST = 40  # judgement: pixels of the point with the greatest score
MOST_GROUPS = 24  # more colors and large centers cannot be told apart


def replay(steps: Any, *, parameter: str | None = None, theme: str = "light") -> go.Figure:
    """The objective and a parameter's entries over the steps, with a slider to go through them.

    No error bars: the steps of one fit are what they are; other starts give other steps.

    Parameters
    ----------
    steps : Replay
        Of `gnomon.workbench.workflows.replay`: anything with ``objective``, ``states`` and
        ``method``.
    parameter : str, default=None
        Which one; by default the first that moves.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.workbench.workflows import replay as steps_of
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = KMeans(4, n_init=1, keep_history="full", random_state=0).fit(rows)
    >>> figure = replay(steps_of(model))
    """
    name = parameter or moving(steps.states)
    paths = np.stack([np.ravel(np.asarray(state[name], dtype=float)) for state in steps.states])
    moved = np.ptp(paths, axis=0)
    shown = np.sort(np.argsort(-moved, kind="stable")[:MOST_PATHS])
    places = np.arange(len(paths))
    figure = make_subplots(
        rows=1, cols=2, subplot_titles=["objective", name.replace("_", " ")], horizontal_spacing=0.1
    )
    figure.add_scatter(
        x=places, y=steps.objective, mode="lines", line={"color": color(0)}, row=1, col=1
    )
    for k, entry in enumerate(shown):
        figure.add_scatter(
            x=places,
            y=paths[:, entry],
            mode="lines",
            line={"color": color(k), "dash": "solid" if k < 8 else "dot"},
            name=f"entry {entry}",
            row=1,
            col=2,
        )
    marker = {"size": 9, "color": look(theme).ink}
    figure.add_scatter(x=[0], y=[steps.objective[0]], mode="markers", marker=marker, row=1, col=1)
    figure.add_scatter(
        x=[0] * len(shown), y=paths[0, shown], mode="markers", marker=marker, row=1, col=2
    )
    last = len(figure.data)
    figure.frames = [
        go.Frame(
            name=str(step),
            traces=[last - 2, last - 1],
            data=[
                go.Scatter(x=[step], y=[steps.objective[step]]),
                go.Scatter(x=[step] * len(shown), y=paths[step, shown]),
            ],
        )
        for step in range(len(paths))
    ]
    figure.update_xaxes(title="step")
    hidden = paths.shape[1] - len(shown)
    note = f"{len(paths)} steps, {steps.stopped}"
    note += f"; {hidden} entries that moved less are not shown" if hidden else ""
    dress(figure, f"{steps.method}, step by step", theme, note=note, width=980, height=520)
    return figure.update_layout(
        showlegend=False,
        margin={"l": 70, "r": 30, "t": 110, "b": 120},
        sliders=[slider(range(len(paths)), theme)],
    )


def replay_rows(steps: Any, rows: Any, *, theme: str = "light") -> go.Figure:
    """Rows during a fit: their places or groups and the centers after each step, with a slider.

    Of a search for a tour through rows the tour is drawn, of a PageRank the pages in size.

    A cross is a row whose predicted class is wrong. No error bars: the steps of one fit are what
    they are; other starts give other steps.

    Parameters
    ----------
    steps : Replay
        Of `gnomon.workbench.workflows.replay`.
    rows : RowsOverSteps
        Of `gnomon.workbench.workflows.WatchRows.over`, or of `RowTour` or `LinkedPages`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> from gnomon.table import example
    >>> from gnomon.workbench.workflows import WatchRows, replay
    >>> table = example("iris").select(["petal_length", "petal_width"])
    >>> watch = WatchRows(table)
    >>> model = KMeans(3, n_init=1, random_state=1, keep_history="full").set_callbacks(watch)
    >>> steps = replay(model.fit(table))
    >>> figure = replay_rows(steps, watch.over(steps))
    >>> len(figure.frames) == len(steps)
    True
    """
    known = known_answers(rows)
    frames = [drawn_rows(rows, k, known, theme) for k in range(len(rows.numbers))]
    still = [] if rows.links is None else [joined(rows.places[0], rows.links, look(theme).faint)]
    figure = go.Figure([*still, *frames[0]])
    moving = [len(still) + k for k in range(len(frames[0]))]
    figure.frames = [
        go.Frame(name=str(number), data=traces, traces=moving)
        for number, traces in zip(rows.numbers, frames, strict=True)
    ]
    for axis, title, ends in zip("xy", rows.axes, spans(rows), strict=True):
        figure.update_layout({f"{axis}axis": {"title": title, "range": ends}})
    note = f"{len(steps.objective)} steps, {steps.stopped}; "
    note += f"{len(rows.rows):,} {'rows' if rows.names is None else 'pages'} are shown"
    if len(rows.numbers) < len(steps.objective):
        note += f", after {len(rows.numbers)} of the steps"
    title = f"{steps.method} on the rows, step by step"
    if rows.links is not None:  # only who is linked with whom counts
        axis = {"visible": False}
        figure.update_layout(xaxis=axis, yaxis=axis)
    dress(figure, title, theme, note=note, width=820, height=600)
    return figure.update_layout(
        showlegend=False,
        margin={"l": 70, "r": 30, "t": 110, "b": 120},
        sliders=[slider(rows.numbers, theme)],
    )


def known_answers(rows: Any) -> list[Any]:
    """Groups or classes in the order of their colors."""
    if rows.answers is None:
        return [] if rows.truth is None else sorted(set(rows.truth.tolist()), key=str)
    return sorted({each for step in rows.answers for each in step.tolist()}, key=str)


def drawn_rows(rows: Any, k: int, known: list[Any], theme: str) -> list[go.Scatter]:
    """The traces of one step: rows, and centers with the lines between neighbours."""
    places = np.round(rows.places[k], 4)
    answers = rows.truth if rows.answers is None else rows.answers[k]
    marker: dict[str, Any] = {"size": 7, "opacity": 0.75, "color": color(0)}
    text = rows.names or [f"row {row + 1}" for row in rows.rows]
    if answers is not None and len(known) <= MOST_GROUPS:
        at = {each: color(i) for i, each in enumerate(known)}
        marker["color"] = [at[each] for each in answers.tolist()]
        text = [f"{word}: {each}" for word, each in zip(text, answers.tolist(), strict=True)]
        if rows.answers is not None and rows.truth is not None:
            marker["symbol"] = np.where(answers == rows.truth, "circle", "x").tolist()
    points = {"x": places[:, 0], "y": places[:, 1], "text": text, "hoverinfo": "text"}
    found = [go.Scatter(**points, mode="markers", marker=marker)]
    if rows.sizes is not None:
        named_by_size(found[0], rows.sizes[k], max(map(np.max, rows.sizes)))
    if rows.orders is not None:
        ends = np.column_stack([rows.orders[k], np.roll(rows.orders[k], -1)])
        found.insert(0, joined(places, ends, look(theme).ink))
    if rows.centers is not None:
        found += drawn_centers(np.round(rows.centers[k], 4), rows.edges, theme)
    return found


def drawn_centers(places: np.ndarray, edges: np.ndarray | None, theme: str) -> list[go.Scatter]:
    """Centers as diamonds, and lines between those that are neighbours on a grid."""
    ink = look(theme).ink
    marker = {
        "symbol": "diamond",
        "size": 12 if len(places) <= MOST_GROUPS else 6,
        "color": ink,
        "line": {"color": look(theme).paper, "width": 1},
    }
    text = [f"center {number}" for number in range(len(places))]
    points = {"x": places[:, 0], "y": places[:, 1], "text": text, "hoverinfo": "text"}
    centers = go.Scatter(**points, mode="markers", marker=marker)
    if edges is None:
        return [centers]
    return [joined(places, edges, ink), centers]


def joined(places: np.ndarray, pairs: np.ndarray, tint: str) -> go.Scatter:
    """Lines between pairs of places."""
    ends = np.full((len(pairs), 3, 2), np.nan)  # a gap after each line
    ends[:, :2] = np.round(places, 4)[pairs]
    x, y = ends.reshape(-1, 2).T
    return go.Scatter(x=x, y=y, mode="lines", line={"color": tint, "width": 1}, hoverinfo="skip")


def named_by_size(points: go.Scatter, sizes: np.ndarray, largest: float) -> None:
    """Give points an area in proportion to a number, and the greatest their names."""
    greatest = set(np.argsort(-sizes, kind="stable")[:MOST_NAMES].tolist())
    names = [name if k in greatest else "" for k, name in enumerate(points.text)]
    told = [f"{name}: {size:.4g}" for name, size in zip(points.text, sizes, strict=True)]
    points.update(text=names, hovertext=told, mode="markers+text", textposition="top center")
    points.cliponaxis = False  # names at the edge are whole
    points.marker.update(size=np.round(LARGEST * np.sqrt(sizes / largest), 2), sizemin=3)


def spans(rows: Any) -> list[list[float]]:
    """The range of each axis that holds all steps, so that the picture does not jump."""
    every = np.concatenate([*rows.places[:1], *rows.places[-1:], *(rows.centers or [])])
    if rows.places[0] is not rows.places[-1]:
        every = np.concatenate([every, *rows.places])
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    edge = np.where(high > low, 0.06 * (high - low), 1.0)
    return np.stack([low - edge, high + edge], axis=1).tolist()


def moving(states: list[dict[str, Any]]) -> str:
    """The first parameter that is not the same at both ends, or the first of all."""
    first, last = states[0], states[-1]
    names = list(first)
    return next((n for n in names if not np.array_equal(first[n], last[n])), names[0])


def slider(numbers: Sequence[int], theme: str) -> dict[str, Any]:
    """A slider that shows one frame per step."""
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}
    return {
        "steps": [
            {"method": "animate", "label": str(step), "args": [[str(step)], at_once]}
            for step in numbers
        ],
        "currentvalue": {"prefix": "step "},
        "pad": {"t": 50},
        "bgcolor": look(theme).grid,
        "bordercolor": look(theme).faint,
        "activebgcolor": look(theme).faint,
        "tickcolor": look(theme).faint,
    }
