"""Pictures of optima under constraints: contours and feasible sets, lasso's diamond, barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.optimize import brentq, minimize

from gnomon.engine.errors import DataError
from gnomon.optimize import gradient, kkt_report
from gnomon.show.arrows import arrow, one_scale
from gnomon.show.theme import color, dress, faded, legend_below, look

GRID = 161  # judgement: contours look smooth
STARTS = 6  # judgement: 36 searches find the minima of what one draws
Surface = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _at(function: Surface, point: np.ndarray) -> float:
    return float(np.asarray(function(point[:1], point[1:]), dtype=float).ravel()[0])


def _of_points(functions: Sequence[Surface]) -> list[Callable[[np.ndarray], float]]:
    return [partial(_at, each) for each in functions]


def _gradient(function: Surface, point: np.ndarray) -> np.ndarray:
    return gradient(partial(_at, function), point)


def kkt_points(
    objective: Surface,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    inequalities: Sequence[Surface] = (),
    equalities: Sequence[Surface] = (),
) -> np.ndarray:
    """Points that descents from 36 starts reach under g <= 0 and h = 0 in a rectangle; best first.

    Those where the Karush-Kuhn-Tucker conditions do not hold to 1e-4 of the gradient's size are
    left out.
    """
    constraints = [
        {"type": "ineq", "fun": lambda p, g=g: -_at(g, p)} for g in inequalities
    ] + [{"type": "eq", "fun": lambda p, h=h: _at(h, p)} for h in equalities]  # fmt: skip
    bounds = [x_range, y_range]
    inner = [low + (high - low) * (np.arange(STARTS) + 0.5) / STARTS for low, high in bounds]
    found: list[np.ndarray] = []
    size = max(x_range[1] - x_range[0], y_range[1] - y_range[0])
    for start in np.stack(np.meshgrid(*inner), axis=-1).reshape(-1, 2):
        answer = minimize(
            lambda p: _at(objective, p),
            start,
            bounds=bounds,
            constraints=constraints,
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 200},
        )
        near = [each for each in found if np.abs(each - answer.x).max() < 1e-3 * size]
        if not near and kkt_residual(objective, answer.x, inequalities, equalities) < 1e-4:
            found.append(answer.x)
    found.sort(key=lambda point: _at(objective, point))
    return np.array(found).reshape(-1, 2)


def kkt_residual(
    objective: Surface,
    point: Any,
    inequalities: Sequence[Surface] = (),
    equalities: Sequence[Surface] = (),
) -> float:
    """How far a point is from the Karush-Kuhn-Tucker conditions, relative to the gradient of f.

    See `gnomon.optimize.kkt_report`.
    """
    rules = _of_points(inequalities), _of_points(equalities)
    return kkt_report(partial(_at, objective), point, *rules).residual


def constrained_optimum(
    objective: Surface,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    inequalities: Sequence[Surface] = (),
    equalities: Sequence[Surface] = (),
    points: Any = None,
    theme: str = "light",
) -> go.Figure:
    """Contours of f, the feasible set shaded (darker: smaller), optima, and gradients there.

    At an optimum on the rim the downhill direction -grad f is a sum of the gradients of the active
    constraints: the contours touch the rim. A feasible set that is not convex can have several
    such points. Texts: 002 "Constrained optimisation" · 004 8.5.

    Parameters
    ----------
    objective : callable
        f(x, y) of two arrays.
    x_range, y_range : (float, float)
        What to draw; optima are looked for inside.
    inequalities : sequence of callable
        g(x, y) <= 0.
    equalities : sequence of callable
        h(x, y) = 0.
    points : array-like of shape (k, 2), default=None
        Points to mark; by default those that descents from 36 starts reach, where the conditions of
        Karush, Kuhn and Tucker hold.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = constrained_optimum(
    ...     lambda x, y: x + y, (-2, 2), (-2, 2), inequalities=[lambda x, y: x**2 + y**2 - 1]
    ... )
    >>> [round(float(value), 3) for value in (figure.data[-1].x[0], figure.data[-1].y[0])]
    [-0.707, -0.707]
    """
    x, y = np.linspace(*x_range, GRID), np.linspace(*y_range, GRID)
    grid = np.meshgrid(x, y)
    heights = np.asarray(objective(*grid), dtype=float)
    inside = np.ones(heights.shape, bool)
    for g in inequalities:
        inside &= np.asarray(g(*grid)) <= 0
    if not inside.any():
        raise DataError("no place of the rectangle is feasible; draw a larger one")
    rules = {"inequalities": inequalities, "equalities": equalities}
    if points is None:
        marked = kkt_points(objective, x_range, y_range, **rules)
    else:
        marked = np.atleast_2d(np.asarray(points, dtype=float))
    figure = go.Figure()
    if inequalities:
        tint = color(0)
        figure.add_heatmap(
            x=x,
            y=y,
            zsmooth=False,
            z=np.where(inside, heights, np.nan),
            colorscale=[[0, faded(tint, 0.85)], [1, faded(tint, 0.12)]],
            showscale=False,
            hoverinfo="skip",
            name="feasible (darker: smaller f)",
        )
    figure.add_contour(
        x=x,
        y=y,
        z=heights,
        ncontours=18,
        contours={"coloring": "none"},
        line={"color": look(theme).faint, "width": 1},
        showscale=False,
        name="contours of f",
        hovertemplate="f(%{x:.3g}, %{y:.3g}) = %{z:.4g}<extra></extra>",
    )
    edges = [(g, look(theme).ink, "rim of the feasible set") for g in inequalities]
    edges += [(h, color(2), "equality") for h in equalities]
    for k, (edge, tint, name) in enumerate(edges):
        figure.add_contour(
            x=x,
            y=y,
            z=np.asarray(edge(*grid), dtype=float),
            contours={"coloring": "none", "start": 0, "end": 0, "size": 1},
            line={"color": tint, "width": 2.5},
            showscale=False,
            hoverinfo="skip",
            name=name,
            showlegend=name not in [each for _, _, each in edges[:k]],
        )
    span = 0.14 * max(np.ptp(x), np.ptp(y))
    for point in marked:
        _forces(figure, objective, rules, point, span, theme)
    _legend_of_arrows(figure, bool(edges), theme)
    values = [_at(objective, point) for point in marked]
    figure.add_scatter(
        x=marked[:, 0],
        y=marked[:, 1],
        mode="markers",
        marker={
            "color": look(theme).strong,
            "size": 14,
            "symbol": ["star", *["circle"] * (len(marked) - 1)] if points is None else "star",
            "line": {"color": look(theme).paper, "width": 1},
        },
        customdata=np.column_stack(
            [values, [kkt_residual(objective, point, **rules) for point in marked]]
        ).reshape(-1, 2),
        hovertemplate="(%{x:.4g}, %{y:.4g}): f = %{customdata[0]:.4g}, "
        "KKT residual %{customdata[1]:.1g}<extra></extra>",
        name="optimum" if len(marked) == 1 else "KKT points (star: least f)",
    )
    said = ", ".join(f"{value:.4g}" for value in values[:4])
    note = f"f at the marked points: {said}" if len(marked) else "no optimum was found inside"
    dress(figure, "Optimum under constraints", theme, note=note, height=640, **legend_below())
    figure.update_xaxes(title="x", range=list(x_range), showgrid=False)
    figure.update_yaxes(title="y", range=list(y_range), showgrid=False)
    one_scale(figure)
    return figure


def _forces(figure: go.Figure, objective, rules, point, span: float, theme: str) -> None:
    """Downhill of f and the gradients of active constraints, as arrows of one length."""
    down = -_gradient(objective, point)
    if np.linalg.norm(down) > 1e-6:
        arrow(figure, point, point + span * down / np.linalg.norm(down), color(1), width=3.5)
    for rule in (*rules["inequalities"], *rules["equalities"]):
        if abs(_at(rule, point)) > 1e-3 * span:
            continue
        push = _gradient(rule, point)
        if rule in rules["equalities"] and push @ down < 0:
            push = -push
        length = np.linalg.norm(push)
        if length > 1e-6:
            arrow(figure, point, point + 0.7 * span * push / length, look(theme).ink, width=2)


def _legend_of_arrows(figure: go.Figure, constrained: bool, theme: str) -> None:
    arrows = [("downhill −∇f", color(1))]
    arrows += [("∇ of the constraint", look(theme).ink)] if constrained else []
    for name, tint in arrows:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "arrow-right", "size": 13, "color": tint},
            name=name,
        )


def penalized_optimum(X: Any, y: Any, size: float | None = None, *, theme: str = "light"):
    """Least squares of two columns held to a diamond (lasso) and to a circle (ridge).

    The contours of the squared error around the least-squares answer touch the diamond in a corner
    more often than elsewhere, which makes a coefficient zero; they touch the circle anywhere.
    Texts: 002 "Lasso" · 004 8.4.

    Parameters
    ----------
    X : array-like of shape (n, 2)
    y : array-like of shape (n,)
        Both are centred first.
    size : float, default=None
        |w_1| + |w_2| <= size, and w_1^2 + w_2^2 <= size^2; half the length of the least-squares
        answer by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    >>> figure = penalized_optimum(X, X @ [3.0, 0.5], 1.0)
    >>> figure.data[2].x[0], figure.data[2].y[0]
    (1.0, 0.0)
    """
    rows, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) != len(target):
        raise DataError("this picture has two columns and a target for each row")
    rows, target = rows - rows.mean(axis=0), target - target.mean()
    gram, moment = rows.T @ rows, rows.T @ target
    if np.linalg.cond(gram) > 1e12:
        raise DataError("the two columns are constant or the same: least squares has no one answer")
    free = np.linalg.solve(gram, moment)
    size = float(np.linalg.norm(free)) / 2 if size is None else float(size)
    angle = np.linspace(0, 2 * np.pi, 181)
    corners = size * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], dtype=float)
    panels = [
        ("lasso: |w₁| + |w₂| ≤ ", corners, _on_diamond(gram, moment, free, corners, size)),
        (
            "ridge: w₁² + w₂² ≤ ",
            size * np.column_stack([np.cos(angle), np.sin(angle)]),
            _on_circle(gram, moment, free, size),
        ),
    ]
    limits = [f"{size:.3g}", f"{size**2:.3g}"]
    titles = [name + limit for (name, _, _), limit in zip(panels, limits, strict=True)]
    figure = make_subplots(1, 2, subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.06)
    for panel, (_, rim, best) in enumerate(panels, 1):
        _held(figure, gram, moment, free, rim, best, theme, panel)
    least = float(target @ target - moment @ free)
    note = "contours: squared error; they grow until they touch the shaded set"
    note += f"; unconstrained {least:.3g}"
    dress(figure, "Least squares within a diamond and a circle", theme, note=note, height=560,
          **legend_below(top=120))  # fmt: skip
    reach = 1.25 * max(size, float(np.abs(free).max()))
    figure.update_xaxes(title="w₁", range=[-0.7 * reach, reach])
    figure.update_yaxes(range=[-0.7 * reach, reach])
    figure.update_yaxes(title="w₂", col=1)
    one_scale(figure, 1, 2)
    return figure


def _on_diamond(gram, moment, free, corners: np.ndarray, size: float) -> np.ndarray:
    """The least-squares answer with |w_1| + |w_2| <= size: the best point of the four edges."""
    if np.abs(free).sum() <= size:
        return free
    best, least = free, np.inf
    for start, end in pairwise(corners):
        way = end - start
        share = np.clip((moment - gram @ start) @ way / (way @ gram @ way), 0.0, 1.0)
        point = start + share * way
        error = point @ gram @ point - 2 * moment @ point
        if error < least:
            best, least = point, error
    return best


def _on_circle(gram, moment, free, size: float) -> np.ndarray:
    """The least-squares answer with |w| <= size: ridge with the penalty that makes it so long."""
    if np.linalg.norm(free) <= size:
        return free

    def answer(penalty: float) -> np.ndarray:
        return np.linalg.solve(gram + penalty * np.eye(2), moment)

    most = float(np.linalg.norm(moment)) / size
    return answer(brentq(lambda p: float(np.linalg.norm(answer(p))) - size, 0.0, most))


def _held(figure, gram, moment, free, rim, best, theme: str, panel: int) -> None:
    reach = 2.5 * max(float(np.abs(rim).max()), float(np.abs(free).max()))
    axis = np.linspace(-reach, reach, GRID)
    x, y = np.meshgrid(axis, axis)
    away = np.stack([x - free[0], y - free[1]], axis=-1)
    errors = np.einsum("abi,ij,abj->ab", away, gram, away)
    touch = float((best - free) @ gram @ (best - free))
    # the third contour is the one that touches
    step = np.sqrt(touch) / 3 if touch > 0 else reach / 8
    place = {"row": 1, "col": panel}
    figure.add_contour(
        x=axis,
        y=axis,
        z=np.sqrt(errors),
        contours={
            "coloring": "none",
            "start": step,
            "end": 5 * step,
            "size": step,
        },
        line={"color": look(theme).faint, "width": 1.2},
        showscale=False,
        hoverinfo="skip",
        name="squared error",
        showlegend=panel == 1,
        **place,
    )
    figure.add_scatter(
        x=rim[:, 0],
        y=rim[:, 1],
        mode="lines",
        fill="toself",
        fillcolor=faded(color(0), 0.25),
        line={"color": color(0), "width": 2},
        hoverinfo="skip",
        name="allowed",
        showlegend=panel == 1,
        **place,
    )
    for point, name, symbol, tint in (
        (best, "best allowed", "star", look(theme).strong),
        (free, "least squares", "x", look(theme).ink),
    ):
        figure.add_scatter(
            x=[float(point[0])],
            y=[float(point[1])],
            mode="markers",
            marker={"color": tint, "size": 14, "symbol": symbol},
            name=name,
            showlegend=panel == 1,
            hovertemplate=f"{name}: (%{{x:.4g}}, %{{y:.4g}})<extra></extra>",
            **place,
        )


def barrier_curves(
    strengths: Sequence[float] = (0.5, 1.0, 2.0, 8.0), *, theme: str = "light"
) -> go.Figure:
    """The wall at a constraint and its logarithmic barriers -(1/t) ln(-u) for several t.

    The wall is 0 where u = g(x) <= 0 and infinite beyond; the larger t, the nearer the barrier.
    Texts: 002 "Interior point" (the argument of the printed barrier lacks its sign).

    Parameters
    ----------
    strengths : sequence of float
        Values of t, above 0.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> [trace.name for trace in barrier_curves([1, 2]).data]
    ['t = 1', 't = 2', 'wall']
    """
    if min(strengths) <= 0:
        raise DataError("t is above 0")
    u = np.concatenate([np.linspace(-3, -0.05, 300), -np.geomspace(0.05, 1e-6, 100)])
    figure = go.Figure()
    for k, t in enumerate(strengths):
        figure.add_scatter(
            x=u,
            y=-np.log(-u) / t,
            mode="lines",
            line={"color": color(k), "width": 2.5},
            name=f"t = {t:g}",
            hovertemplate="u = %{x:.3g}: %{y:.3g}<extra></extra>",
        )
    figure.add_scatter(
        x=[-3, 0, 0],
        y=[0, 0, 10],
        mode="lines",
        line={"color": look(theme).ink, "width": 3, "dash": "dash"},
        name="wall",
        hoverinfo="skip",
    )
    note = "−(1/t) ln(−u): allowed where u = g(x) ≤ 0"
    dress(figure, "A wall and its barriers", theme, note=note, **legend_below())
    figure.update_xaxes(title="u = g(x)", range=[-3, 0.6])
    figure.update_yaxes(title="cost", range=[-2.5, 6])
    return figure
