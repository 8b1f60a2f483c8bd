"""Pictures of searches: paths on level curves side by side, values over evaluations, self-changes.

Texts: 000c 16.4.4 (zig-zag, rotated) · 001 8.8.2 (coordinate ascent) · 002 (Newton against the
gradient; quadratic forms) · 003 4.1 · 004 1.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.optimize.linear_algebra import definiteness, diagonalize
from gnomon.show.arrows import arrow, one_scale
from gnomon.show.replays import slider
from gnomon.show.theme import color, dress, legend_below, look

GRID = 121  # judgement: contours look smooth; 14,641 calls of the function
LEVELS = 24  # judgement: level curves stay apart
MOST_PANELS = 12  # judgement: more panels are too small to read
MOST_FRAMES = 60  # judgement: steps of a slider
COLORS = 8  # after so many, colors repeat and lines are dotted


def optimizer_paths(
    function: Callable[[np.ndarray], float],
    results: Mapping[str, Any],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    replay: bool = False,
    theme: str = "light",
) -> go.Figure:
    """Paths of several searches on the level curves of a function of two numbers, side by side.

    No error bars: each path is one run; runs of random searches differ from seed to seed.

    Parameters
    ----------
    function : callable
        Of an array of two numbers.
    results : dict of str to OptimizeResult
        Of `gnomon.optimize.minimize`, by the name to show.
    x_range, y_range : (float, float)
    replay : bool, default=False
        Add a slider that goes through the evaluations.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> bowl = lambda x: x[0] ** 2 + 5 * x[1] ** 2
    >>> runs = {name: minimize(bowl, [2.0, 1.0], name) for name in ("l-bfgs", "nelder-mead")}
    >>> figure = optimizer_paths(bowl, runs, (-3, 3), (-2, 2))
    >>> [trace.name for trace in figure.data if trace.name in runs]
    ['l-bfgs', 'nelder-mead']
    """
    if not 1 <= len(results) <= MOST_PANELS:
        raise DataError(f"from 1 to {MOST_PANELS} searches can be drawn, not {len(results)}")
    x, y = np.linspace(*x_range, GRID), np.linspace(*y_range, GRID)
    heights = np.array([[float(function(np.array([a, b]))) for a in x] for b in y])
    columns = min(len(results), 3)
    rows = -(-len(results) // columns)
    titles = [f"{name}: {result.fun:.2g} after {result.nfev}" for name, result in results.items()]
    figure = make_subplots(
        rows, columns, subplot_titles=titles, horizontal_spacing=0.06, vertical_spacing=0.32 / rows
    )
    shown = _curved(heights)
    paths = {}
    for k, (name, result) in enumerate(results.items()):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        figure.add_contour(
            x=x,
            y=y,
            z=shown,
            customdata=heights,
            ncontours=LEVELS,
            contours={"coloring": "none"},
            line={"color": look(theme).faint, "width": 1},
            showscale=False,
            hovertemplate="f(%{x:.3g}, %{y:.3g}) = %{customdata:.4g}<extra></extra>",
            name="level curves",
            **place,
        )
        path = path_of(result)
        paths[name] = path
        figure.add_scatter(
            x=path[:, 0],
            y=path[:, 1],
            mode="lines+markers",
            line={"color": color(k), "width": 2},
            marker={"size": 4, "color": color(k)},
            name=name,
            hovertemplate=f"{name}: (%{{x:.4g}}, %{{y:.4g}})<extra></extra>",
            **place,
        )
        for point, symbol, size in ((path[0], "circle-open", 11), (result.x, "star", 13)):
            figure.add_scatter(
                x=[float(point[0])],
                y=[float(point[1])],
                mode="markers",
                marker={"symbol": symbol, "size": size, "color": look(theme).strong},
                name="start" if symbol == "circle-open" else "best",
                hovertemplate="(%{x:.5g}, %{y:.5g})<extra></extra>",
                **place,
            )
    if replay:
        _add_replay(figure, paths, theme)
    note = "open circle: start; star: best; title: least value and evaluations. One run each."
    dress(
        figure,
        "Paths of searches on level curves",
        theme,
        note=note,
        height=180 + 330 * rows + (80 if replay else 0),
        showlegend=False,
    )
    figure.update_xaxes(range=list(x_range), showgrid=False)
    figure.update_yaxes(range=list(y_range), showgrid=False)
    return figure


def path_of(result: Any) -> np.ndarray:
    """The accepted iterates of a search, or its evaluations where it has none."""
    places = [point for _, point, _ in result.history.path] or result.history.points
    path = np.array([np.asarray(point, dtype=float) for point in places])
    if path.ndim != 2 or path.shape[1] != 2:
        raise DataError("paths are drawn of searches of two numbers")
    return path


def _curved(heights: np.ndarray) -> np.ndarray:
    """Heights on a scale whose level curves crowd neither at the bottom nor on the walls."""
    low = np.nanmin(heights)
    size = np.nanmedian(heights) - low
    return np.log1p((heights - low) / max(size, 1e-300) * 20)


def _add_replay(figure: go.Figure, paths: dict[str, np.ndarray], theme: str) -> None:
    lines = [k for k, trace in enumerate(figure.data) if trace.name in paths]
    most = max(map(len, paths.values()))
    stops = np.unique(np.linspace(1, most, min(most, MOST_FRAMES)).astype(int))
    control = slider(range(len(stops)), theme) | {"active": len(stops) - 1}
    for step, stop in zip(control["steps"], stops, strict=True):
        # a change of the lines alone: an animation would drop the level curves
        ends = [path[:stop].tolist() for path in paths.values()]
        columns = {
            name: [[point[j] for point in path] for path in ends] for j, name in enumerate("xy")
        }
        step.update(method="restyle", label=str(stop), args=[columns, lines])
    figure.update_layout(sliders=[control])


def search_progress(results: Mapping[str, Any], *, theme: str = "light") -> go.Figure:
    """The least value so far over the evaluations, for one or several searches.

    Several runs of a method (a list instead of one result) give the median and the range from the
    first to the third quartile.

    Parameters
    ----------
    results : dict of str to OptimizeResult or list of OptimizeResult
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> def bowl(x):
    ...     return (x[0] - 1) ** 2 + (x[1] + 2) ** 2
    >>> space = [(-5, 5), (-5, 5)]
    >>> found = {name: minimize(bowl, space, method=name, max_evaluations=80, random_state=0)
    ...          for name in ("nelder-mead", "de")}
    >>> figure = search_progress(found)
    """
    runs = {
        name: each if isinstance(each, list | tuple) else [each] for name, each in results.items()
    }
    if not runs:
        raise DataError("there is no search to draw")
    curves = {name: _best_curves([each.history for each in many]) for name, many in runs.items()}
    least = min(float(np.min(each)) for each in curves.values())
    figure = go.Figure()
    as_gap = least <= 0  # values below zero have no logarithm: the gap to the least of all has
    if as_gap:
        curves = {name: _gaps(each, least) for name, each in curves.items()}
    for k, (name, many) in enumerate(curves.items()):
        steps = np.arange(1, many.shape[1] + 1)
        if len(many) > 1:
            low, high = np.quantile(many, [0.25, 0.75], axis=0)
            figure.add_scatter(
                x=np.concatenate([steps, steps[::-1]]),
                y=np.concatenate([high, low[::-1]]),
                fill="toself",
                line={"width": 0, "color": color(k)},
                opacity=0.25,
                hoverinfo="skip",
                showlegend=False,
                name=f"{name}: quartiles",
            )
        figure.add_scatter(
            x=steps,
            y=np.median(many, axis=0),
            mode="lines",
            line={"color": color(k), "width": 2.5, "dash": "solid" if k < COLORS else "dot"},
            name=name,
            hovertemplate="%{x} evaluations: %{y:.4g}<extra>" + name + "</extra>",
        )
    several = any(len(many) > 1 for many in curves.values())
    note = "median and quartiles over runs" if several else "one run each: no error bar"
    dress(figure, "Least value so far", theme, note=note, **legend_below())
    figure.update_xaxes(title="evaluations")
    title = f"least value, above {least:.6g}" if as_gap else "least value"
    figure.update_yaxes(title=title, type="log", exponentformat="power")
    return figure


def _gaps(curves: np.ndarray, least: float) -> np.ndarray:
    """What curves are above the least value; where that is nothing, at the smallest rounding."""
    floor = max(abs(least), 1.0) * np.finfo(float).eps
    return np.maximum(curves - least, floor)


def _best_curves(traces: list[Any]) -> np.ndarray:
    n = max(len(each) for each in traces)
    rows = []
    for each in traces:
        best = each.best
        finite = best[np.isfinite(best)]
        first = finite[0] if len(finite) else 0.0
        best = np.where(np.isfinite(best), best, first)
        rows.append(np.concatenate([best, np.full(n - len(best), best[-1])]))
    return np.array(rows)


def self_changes(result: Any, *, theme: str = "light") -> go.Figure:
    """What an optimizer changed about itself: steps, temperatures, prohibitions over evaluations.

    Parameters
    ----------
    result : OptimizeResult
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> def bowl(x):
    ...     return (x[0] - 1) ** 2 + (x[1] + 2) ** 2
    >>> space = [(-5, 5), (-5, 5)]
    >>> found = minimize(bowl, space, method="cma", max_evaluations=200, random_state=0)
    >>> figure = self_changes(found)
    """
    series: dict[str, list[Any]] = {}
    for change in result.history.changes:
        if isinstance(change.after, int | float | np.number):
            series.setdefault(change.name, []).append(change)
    if not series:
        raise DataError(f"{result.method} changed no number about itself")
    names = list(series)[:6]
    figure = make_subplots(len(names), 1, shared_xaxes=True, subplot_titles=names)
    for row, name in enumerate(names, 1):
        changes = series[name]
        values = np.array([float(each.after) for each in changes])
        figure.add_scatter(
            x=[each.evaluation for each in changes],
            y=values,
            mode="lines+markers",
            marker={"size": 4, "color": color(row - 1)},
            line={"shape": "hv", "color": color(row - 1)},
            text=[each.why for each in changes],
            hovertemplate="after %{x}: %{y:.4g}<br>%{text}<extra></extra>",
            name=name,
            row=row,
            col=1,
        )
        if (values > 0).all() and values.max() > 50 * values.min():
            figure.update_yaxes(type="log", row=row, col=1)
    dress(
        figure,
        f"What {result.method} changed about itself",
        theme,
        note="one run: no error bar; the reason of each change is on its point",
        height=140 + 200 * len(names),
        showlegend=False,
    )
    figure.update_xaxes(title="evaluations", row=len(names), col=1)
    return figure


def quadratic_form(A: Any, *, theme: str = "light") -> go.Figure:
    """Level curves and surface of x'Ax with eigenvectors as long as their eigenvalues.

    Ellipses where A is positive or negative definite, a saddle where signs differ, a trough where
    an eigenvalue is zero. No error bars: nothing is estimated.

    Parameters
    ----------
    A : array-like of shape (2, 2)
        Symmetric.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> "indefinite" in quadratic_form([[2, 0], [0, -2]]).layout.title.text
    True
    """
    matrix = np.asarray(A, dtype=float)
    if matrix.shape != (2, 2):
        raise DataError(f"the picture is of a 2 x 2 matrix, not of shape {matrix.shape}")
    U, values = diagonalize(matrix)
    reach = 1.15 * max(1.0, float(np.abs(values).max()))
    axis = np.linspace(-reach, reach, GRID)
    x, y = np.meshgrid(axis, axis)
    heights = matrix[0, 0] * x**2 + 2 * matrix[0, 1] * x * y + matrix[1, 1] * y**2
    figure = make_subplots(1, 2, specs=[[{"type": "xy"}, {"type": "scene"}]])
    figure.add_contour(
        x=axis,
        y=axis,
        z=heights,
        ncontours=18,
        contours={"coloring": "lines"},
        colorscale=[[0, color(0)], [0.5, look(theme).faint], [1, color(1)]],
        zmid=0,
        showscale=False,
        hovertemplate="(%{x:.3g}, %{y:.3g}): %{z:.4g}<extra></extra>",
        row=1,
        col=1,
    )
    for k in range(2):
        if abs(values[k]) > 1e-12:
            end = U[:, k] * abs(values[k])
            tint = color(1) if values[k] > 0 else color(0)
            arrow(figure, np.zeros(2), end, tint, width=3.5)
    figure.add_surface(
        x=axis[::3],
        y=axis[::3],
        z=heights[::3, ::3],
        colorscale=[[0, color(0)], [0.5, look(theme).faint], [1, color(1)]],
        cmid=0,
        showscale=False,
        row=1,
        col=2,
    )
    kind = definiteness(matrix)
    note = f"eigenvalues {values[0]:.4g} and {values[1]:.4g}; arrows are as long as they"
    dress(figure, f"Quadratic form: {kind}", theme, note=note, height=520, showlegend=False)
    one_scale(figure, 1)
    return figure
