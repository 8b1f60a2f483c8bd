"""Pictures of a function and its slopes: tangents, Newton's steps, step sizes, restarts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.optimize import minimize_scalar

from gnomon.engine.errors import DataError
from gnomon.show.theme import SEQUENTIAL, color, dress, legend_below, look

GRID = 401  # judgement: curves look smooth, and minima are refined from it
Curve = Callable[[np.ndarray], np.ndarray]


def _slope(function: Curve, x: float) -> float:
    """The slope by central differences, with a step that suits the size of x."""
    step = 6e-6 * max(1.0, abs(x))
    ends = np.asarray(function(np.array([x + step, x - step])), dtype=float)
    return float((ends[0] - ends[1]) / (2 * step))


def _heights(function: Curve, x: np.ndarray) -> np.ndarray:
    values = np.asarray(function(x), dtype=float)
    if values.shape != x.shape:
        raise DataError("the function must take an array and give an array of the same shape")
    return values


def _minima(function: Curve, low: float, high: float) -> np.ndarray:
    """Places of the local minima inside an interval, each refined from a grid of 401 places."""
    x = np.linspace(low, high, GRID)
    y = _heights(function, x)
    found = []
    for k in np.flatnonzero((y[1:-1] < y[:-2]) & (y[1:-1] <= y[2:])) + 1:
        bounds = (x[k - 1], x[k + 1])
        answer = minimize_scalar(lambda at: float(function(np.array([at]))[0]), bounds=bounds)
        found.append(float(answer.x))
    return np.array(found)


def function_with_tangents(
    function: Curve,
    low: float,
    high: float,
    at: Sequence[float] = (),
    *,
    chord: tuple[float, float] | None = None,
    theme: str = "light",
) -> go.Figure:
    """A function of one number with its minima, tangents at some places, and a chord.

    The tangent is level at a minimum; the chord of a convex function lies above it. Texts: 002
    "Optimization" · 003 4.1.3 · 004 4.5.

    Parameters
    ----------
    function : callable
        Takes an array, gives an array.
    low, high : float
        Interval to draw.
    at : sequence of float
        Places of tangents.
    chord : (float, float), default=None
        Ends of a chord; the note tells whether the function lies below it all along.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = function_with_tangents(lambda x: x**2, -1, 2, [1.0], chord=(-1, 2))
    >>> [trace.name for trace in figure.data]
    ['function', 'slope 2 at 1', 'chord', 'least of all']
    """
    x = np.linspace(low, high, GRID)
    y = _heights(function, x)
    figure = _curve(x, y)
    for k, place in enumerate(at):
        height, slope = (
            float(_heights(function, np.array([float(place)]))[0]),
            _slope(function, place),
        )
        reach = 0.16 * (high - low)
        ends = np.array([place - reach, place + reach])
        figure.add_scatter(
            x=[ends[0], place, ends[1]],
            y=[height - slope * reach, height, height + slope * reach],
            mode="lines+markers",
            marker={"size": [0, 9, 0], "color": color(k + 1)},
            line={"color": color(k + 1), "width": 2, "dash": "dash"},
            name=f"slope {slope:.3g} at {place:.3g}".replace("-0 ", "0 "),
        )
    notes = []
    if chord is not None:
        ends = np.array(chord, dtype=float)
        heights = _heights(function, ends)
        between = np.linspace(ends[0], ends[1], GRID)
        gap = np.interp(between, ends, heights) - _heights(function, between)
        below = gap.min() >= -1e-9 * max(np.ptp(y), 1e-300)
        notes.append("the function lies below the chord" if below else "the chord is crossed")
        figure.add_scatter(
            x=ends,
            y=heights,
            mode="lines+markers",
            line={"color": color(3), "width": 2},
            marker={"size": 8},
            name="chord",
        )
    minima = _minima(function, low, high)
    if len(minima):
        _mark_minima(figure, minima, _heights(function, minima), theme)
        notes.append(f"{len(minima)} {'minimum' if len(minima) == 1 else 'minima'} in the interval")
    dress(figure, "A function and its slopes", theme, note="; ".join(notes), **legend_below())
    figure.update_xaxes(title="x")
    figure.update_yaxes(title="f(x)", range=_room(y))
    return figure


def _curve(x: np.ndarray, y: np.ndarray) -> go.Figure:
    line = {"color": color(0), "width": 3}
    return go.Figure(go.Scatter(x=x, y=y, mode="lines", line=line, name="function"))


def _room(y: np.ndarray) -> list[float]:
    space = 0.12 * max(float(np.ptp(y)), 1e-9)
    return [float(y.min()) - space, float(y.max()) + space]


def _mark_minima(figure: go.Figure, places: np.ndarray, heights: np.ndarray, theme: str) -> None:
    least = heights <= heights.min() + 1e-9 * max(np.ptp(heights), 1e-12)
    for mine, name, symbol, size in (
        (least, "least of all", "star", 15),
        (~least, "local minimum", "circle", 10),
    ):
        if mine.any():
            figure.add_scatter(
                x=places[mine],
                y=heights[mine],
                mode="markers",
                marker={"color": look(theme).strong, "symbol": symbol, "size": size},
                name=name,
                hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>",
            )


def newton_steps(
    function: Curve,
    start: float,
    n_steps: int = 4,
    *,
    slope: Curve | None = None,
    low: float | None = None,
    high: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """Newton's way to a root: each tangent is followed to the axis, x - f(x) / f'(x).

    For a minimum give the function's slope as the function. Texts: 002 "Newton".

    Parameters
    ----------
    function : callable
        Takes an array, gives an array.
    start : float
    n_steps : int, default=4
    slope : callable, default=None
        Its slope; by differences where None.
    low, high : float, default=None
        Interval to draw; that of the steps with some room by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        The title tells the last place.

    Examples
    --------
    >>> import numpy as np
    >>> figure = newton_steps(lambda x: x**2 - 2, 2.0)
    >>> bool(np.isclose(figure.data[-1].x[-1], 2**0.5))
    True
    """
    path = [float(start)]
    for _ in range(n_steps):
        here = path[-1]
        steep = _slope(function, here) if slope is None else float(slope(np.array([here]))[0])
        if steep == 0 or not np.isfinite(steep):
            raise DataError(f"the tangent at {here:.4g} is level: start elsewhere")
        path.append(here - float(function(np.array([here]))[0]) / steep)
    places = np.array(path)
    room = 0.25 * max(np.ptp(places), 1e-3)
    low = places.min() - room if low is None else low
    high = places.max() + room if high is None else high
    x = np.linspace(low, high, GRID)
    y = _heights(function, x)
    figure = _curve(x, y)
    heights = _heights(function, places)
    figure.add_scatter(
        x=[low, high],
        y=[0, 0],
        mode="lines",
        line={"color": look(theme).faint, "width": 1},
        showlegend=False,
        hoverinfo="skip",
    )
    for k in range(n_steps):
        figure.add_scatter(
            x=[places[k], places[k], places[k + 1]],
            y=[0, heights[k], 0],
            mode="lines",
            line={"color": color(1 + k % 5), "width": 2, "dash": "dash"},
            name=f"tangent {k + 1}",
        )
    apart = np.abs(places - places[-1]) > 0.03 * (high - low)
    apart[-1] = True
    figure.add_scatter(
        x=places,
        y=np.zeros(len(places)),
        mode="markers+text",
        marker={"color": look(theme).strong, "size": 9},
        text=[f"<b>x{k}</b>" if seen else "" for k, seen in enumerate(apart)],
        textposition="bottom center",
        textfont={"color": look(theme).ink},
        name="steps",
        hovertemplate="%{x:.10g}<extra></extra>",
    )
    dress(
        figure,
        f"Newton's steps to {places[-1]:.8g}",
        theme,
        note=f"f there is {heights[-1]:.2g}; started at {start:g}",
        **legend_below(),
    )
    figure.update_xaxes(title="x", range=[low, high])
    figure.update_yaxes(title="f(x)")
    return figure


def step_sizes(
    function: Curve,
    start: float,
    steps: Sequence[float],
    low: float,
    high: float,
    *,
    n_steps: int = 8,
    theme: str = "light",
) -> go.Figure:
    """Descent by x - step * f'(x) with several step sizes: too small crawls, too large leaps out.

    Texts: 001 5.2.2 · 003 4.3.6.1.

    Parameters
    ----------
    function : callable
        Takes an array, gives an array.
    start : float
    steps : sequence of float
        A panel each.
    low, high : float
        Interval to draw; a path that leaves it ends there, which its panel says.
    n_steps : int, default=8
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = step_sizes(lambda x: x**2, 2.0, [0.01, 0.4, 1.1], -4, 4)
    >>> [note.text.split(": ")[1] for note in figure.layout.annotations]
    ['1.70 after 8', '5.12e-06 after 8', 'leaves after 4']
    """
    x = np.linspace(low, high, GRID)
    y = _heights(function, x)
    paths, titles = [], []
    for step in steps:
        path = [float(start)]
        while len(path) <= n_steps and low <= path[-1] <= high:
            path.append(path[-1] - step * _slope(function, path[-1]))
        left = not low <= path[-1] <= high
        said = f"leaves after {len(path) - 1}" if left else f"{path[-1]:.3g} after {n_steps}"
        said = f"{path[-1]:.2f} after {n_steps}" if not left and abs(path[-1]) > 0.1 else said
        titles.append(f"step {step:g}: {said}")
        paths.append(np.array(path[:-1] if left else path))
    figure = make_subplots(1, len(paths), subplot_titles=titles, shared_yaxes=True)
    for k, path in enumerate(paths, 1):
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": color(0), "width": 3},
            name="function",
            showlegend=k == 1,
            row=1,
            col=k,
        )
        figure.add_scatter(
            x=path,
            y=_heights(function, path),
            mode="lines+markers",
            line={"color": look(theme).strong, "width": 1.5},
            marker={"size": 9, "symbol": ["diamond"] + ["circle"] * (len(path) - 1)},
            name="steps (diamond: start)",
            showlegend=k == 1,
            row=1,
            col=k,
        )
    dress(figure, "Step sizes", theme, note="x − step · f'(x)", **legend_below(top=120))
    figure.update_xaxes(title="x")
    figure.update_yaxes(title="f(x)", range=_room(y), col=1)
    return figure


def restarts(
    function: Curve,
    low: float,
    high: float,
    starts: Sequence[float],
    *,
    theme: str = "light",
) -> go.Figure:
    """Where descents from several starts end: in the minimum of the valley they start in.

    Texts: 003 4.1.4.2 (easy and hard surfaces for random restarts).

    Parameters
    ----------
    function : callable
        Takes an array, gives an array.
    low, high : float
    starts : sequence of float
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = restarts(lambda x: x**4 - 2 * x**2 + x / 4, -2, 2, [-1.5, 0.5, 1.5])
    >>> "1 of 3" in figure.layout.title.text
    True
    """
    x = np.linspace(low, high, GRID)
    y = _heights(function, x)
    minima = _minima(function, low, high)
    if not len(minima):
        raise DataError("the function has no minimum inside the interval; draw a wider one")
    ends = []
    for start in starts:
        # downhill on the grid leads into the valley whose minimum was refined
        k = int(np.clip(np.searchsorted(x, start), 0, GRID - 1))
        while 0 < k < GRID - 1 and min(y[k - 1], y[k + 1]) < y[k]:
            k += -1 if y[k - 1] < y[k + 1] else 1
        ends.append(minima[np.abs(minima - x[k]).argmin()] if 0 < k < GRID - 1 else x[k])
    figure = _curve(x, y)
    begun, done = np.array(starts, dtype=float), np.array(ends)
    for one, two in zip(begun, done, strict=True):
        between = np.linspace(one, two, 40)
        figure.add_scatter(
            x=between,
            y=_heights(function, between) + 0.012 * np.ptp(y),
            mode="lines",
            line={"color": color(3), "width": 2, "dash": "dot"},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=begun,
        y=_heights(function, begun),
        mode="markers",
        marker={"color": color(3), "size": 10, "symbol": "diamond"},
        name="starts",
    )
    _mark_minima(figure, minima, _heights(function, minima), theme)
    best = minima[_heights(function, minima).argmin()]
    hits = int((np.abs(done - best) < 1e-6 * (high - low)).sum())
    note = f"{hits} of {len(begun)} starts end in the least of {len(minima)} minima"
    dress(figure, "Descents from several starts", theme, note=note, **legend_below())
    figure.update_xaxes(title="x")
    figure.update_yaxes(title="f(x)", range=_room(y))
    return figure


def tangent_plane(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    point: Sequence[float],
    *,
    reach: float = 1.5,
    theme: str = "light",
) -> go.Figure:
    """A surface over two numbers and the plane that touches it at a point.

    Texts: 003 4.1.3.

    Parameters
    ----------
    function : callable
        Takes two arrays, gives an array.
    point : two numbers
    reach : float, default=1.5
        How far the surface is drawn around the point; the plane half as far.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        The note tells the gradient.

    Examples
    --------
    >>> figure = tangent_plane(lambda x, y: x**2 + y, (1.0, 0.0))
    >>> "(2, 1)" in figure.layout.title.text
    True
    """
    at = np.asarray(point, dtype=float)
    height = float(function(at[:1], at[1:])[0])
    gradient = [
        _slope(lambda x: function(x, np.full_like(x, at[1])), at[0]),
        _slope(lambda y: function(np.full_like(y, at[0]), y), at[1]),
    ]
    figure = go.Figure()
    for size, is_plane in ((reach, False), (reach / 2, True)):
        x, y = np.meshgrid(*(np.linspace(a - size, a + size, 41) for a in at))
        if is_plane:
            z = height + gradient[0] * (x - at[0]) + gradient[1] * (y - at[1])
        else:
            z = np.asarray(function(x, y), dtype=float)
        scale = [[0, color(1)], [1, color(1)]] if is_plane else SEQUENTIAL
        figure.add_surface(
            x=x,
            y=y,
            z=z,
            colorscale=scale,
            showscale=False,
            opacity=0.6 if is_plane else 0.9,
            name="tangent plane" if is_plane else "function",
        )
    figure.add_scatter3d(
        x=at[:1],
        y=at[1:],
        z=[height],
        mode="markers",
        marker={"color": look(theme).strong, "size": 6},
        name="point",
        showlegend=False,
    )
    side = {"backgroundcolor": look(theme).paper, "gridcolor": look(theme).grid}
    said = ", ".join(f"{each:.4g}" for each in gradient)
    return dress(
        figure,
        "A surface and its tangent plane",
        theme,
        note=f"at ({at[0]:g}, {at[1]:g}) the gradient is ({said})",
        height=620,
        scene={"xaxis": side, "yaxis": side, "zaxis": side | {"title": "f(x, y)"}},
        margin={"l": 10, "r": 10, "t": 90, "b": 10},
    )
