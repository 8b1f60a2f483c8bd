"""Pictures of nearest neighbours: regions of points, nested balls, distances of classes, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import SEQUENTIAL, color, dress, faded, legend_below, look

CIRCLE = np.linspace(0, 2 * np.pi, 121)
MOST_CLASSES = 40  # judgement: more cells with numbers cannot be read


def ball_tree(
    tree: Any,
    query: Sequence[float] | None = None,
    *,
    neighbors: int = 3,
    depth: int | None = None,
    theme: str = "light",
) -> go.Figure:
    """A ball tree of two columns as nested circles, with the balls that a search opens.

    Texts: 003 2.2.4.2.

    Parameters
    ----------
    tree : BallTree
        Of rows with two columns.
    query : sequence of two float, default=None
        A point whose nearest rows are looked for; balls that the search opens are filled, darker
        the earlier, and their order is told on hovering.
    neighbors : int, default=3
        How many nearest rows.
    depth : int or None, default=None
        Draw balls down to this depth only, the root being 0; None for all.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neighbors import BallTree
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> figure = ball_tree(BallTree(rows), query=[0.5, 0.5])
    >>> figure.data[-1].name
    'query'
    """
    if tree.rows.shape[1] != 2:
        raise DataError(f"nested circles need two columns; the tree has {tree.rows.shape[1]}")
    look_of = look(theme)
    depths = _depths(tree)
    opened = [] if query is None else tree.path(query, neighbors)
    place = {ball: k for k, ball in enumerate(opened)}
    figure = go.Figure()
    for ball in np.argsort(depths, kind="stable").tolist():
        if depth is not None and depths[ball] > depth and ball not in place:
            continue
        figure.add_trace(_circle(tree, ball, int(depths[ball]), place, len(opened), look_of))
    figure.add_scatter(
        x=tree.rows[:, 0],
        y=tree.rows[:, 1],
        mode="markers",
        marker={"size": 5, "color": look_of.ink},
        name="rows",
        hovertemplate="row %{pointNumber}<extra></extra>",
    )
    note = f"{len(tree.rows):,} rows in {tree.n_balls:,} balls"
    if query is not None:
        found = tree.query(np.asarray(query, dtype=np.float64)[None], neighbors)
        note += (
            f"; the search opens {len(opened)} balls and compares {int(found.evaluations[0])} rows"
        )
        near = tree.rows[found.indices[0]]
        for x, y in near:
            figure.add_scatter(
                x=[query[0], x],
                y=[query[1], y],
                mode="lines",
                line={"color": look_of.strong, "width": 1.5},
                showlegend=False,
                hoverinfo="skip",
            )
        figure.add_scatter(
            x=[query[0]],
            y=[query[1]],
            mode="markers",
            marker={"symbol": "star", "size": 15, "color": look_of.strong},
            name="query",
        )
    figure.update_yaxes(scaleanchor="x", title="second column")
    figure.update_xaxes(title="first column")
    return dress(figure, "Ball tree", theme, note=note, width=760, height=760, **legend_below())


def _depths(tree: Any) -> np.ndarray:
    depths = np.zeros(tree.n_balls, dtype=np.int64)
    for ball, children in enumerate(tree.children):
        for child in children[children >= 0]:
            depths[child] = depths[ball] + 1
    return depths


def _circle(tree, ball: int, depth: int, place: dict, n_opened: int, look_of) -> go.Scatter:
    center, radius = tree.centers[ball], tree.radii[ball]
    tone = color(depth)
    filled = ball in place
    leaf = tree.children[ball, 0] < 0
    order = f"<br>opened as number {place[ball] + 1}" if filled else ""
    share = (0.3 if leaf else 0.06) * (1 - 0.7 * place[ball] / n_opened) if filled else 0.0
    inside = int(tree.spans[ball, 1] - tree.spans[ball, 0])
    return go.Scatter(
        x=center[0] + radius * np.cos(CIRCLE),
        y=center[1] + radius * np.sin(CIRCLE),
        mode="lines",
        line={
            "color": faded(tone, 0.9 if filled or not n_opened else 0.35),
            "width": 2 if filled else 1.2,
        },
        fill="toself" if filled else None,
        fillcolor=faded(tone, share) if filled else None,
        name=f"ball {ball}",
        showlegend=False,
        text=f"ball {ball}, depth {depth}, {inside} rows, radius {radius:.3g}{order}",
        hoverinfo="text",
    )


def bounding_ball_growth(points: Any, *, theme: str = "light") -> go.Figure:
    """How a snug ball around points of two columns grows, step by step.

    Texts: 003 2.2.4.2.

    Parameters
    ----------
    points : array-like of shape (n, 2)
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = bounding_ball_growth([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])
    >>> [trace.name for trace in figure.data][-1]
    'points'
    """
    from gnomon.neighbors import bounding_ball

    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError("the growth of a ball is drawn for points of two columns")
    ball = bounding_ball(points)
    look_of = look(theme)
    figure = go.Figure()
    steps = [*ball.steps, (ball.center, ball.radius)]
    for k, (center, radius) in enumerate(steps):
        last = k == len(steps) - 1
        share = 0.2 + 0.6 * k / max(len(steps) - 1, 1)
        figure.add_scatter(
            x=center[0] + radius * np.cos(CIRCLE),
            y=center[1] + radius * np.sin(CIRCLE),
            mode="lines",
            line={
                "color": look_of.strong if last else faded(color(0), share),
                "width": 3 if last else 1.5,
                "dash": "solid" if last else "dot",
            },
            name="the ball" if last else "on the way",
            showlegend=last or k == 0,
            hovertemplate=f"step {k}, radius {radius:.4g}<extra></extra>",
        )
    centers = np.array([center for center, _ in steps])
    figure.add_scatter(
        x=centers[:, 0],
        y=centers[:, 1],
        mode="lines+markers",
        marker={"size": 4},
        line={"color": look_of.faint, "width": 1},
        name="its centre",
    )
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={"size": 6, "color": look_of.ink},
        name="points",
    )
    figure.update_yaxes(scaleanchor="x", title="second column")
    figure.update_xaxes(title="first column")
    note = f"{len(ball.steps) - 1} moves; radius from {ball.steps[0][1]:.3g} to {ball.radius:.3g}"
    return dress(
        figure,
        "A ball grows around points",
        theme,
        note=note,
        width=720,
        height=720,
        **legend_below(),
    )


def class_distances(table: Any, *, theme: str = "light") -> go.Figure:
    """The mean distance between rows of every two classes as a heat map; the diagonal is within.

    Texts: 000b 8.3.2, Table 8.1.

    Parameters
    ----------
    table : ClassDistances
        From `gnomon.neighbors.class_distance_table`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neighbors import class_distance_table
    >>> table = class_distance_table([[0], [1], [9], [11]], ["a", "a", "b", "b"])
    >>> class_distances(table).data[0].type
    'heatmap'
    """
    names = [label(name, 16) for name in table.classes.tolist()]
    n = len(names)
    if n > MOST_CLASSES:
        raise DataError(f"{n} classes make no readable table; draw at most {MOST_CLASSES}")
    upper = np.triu(np.ones((n, n), dtype=bool))
    shown = np.where(upper, table.mean, np.nan)

    def written(i: int, j: int) -> str:
        if not upper[i, j] or not np.isfinite(table.mean[i, j]):
            return ""
        error = f"<br>± {table.error[i, j]:.2g}" if np.isfinite(table.error[i, j]) else ""
        return f"{table.mean[i, j]:.3g}{error}"

    told = [[written(i, j) for j in range(n)] for i in range(n)]
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            x=names,
            y=names,
            text=told,
            texttemplate="%{text}" if n <= 12 else None,
            colorscale=SEQUENTIAL,
            colorbar={"title": "mean<br>distance"},
            customdata=np.where(upper, table.pairs, 0),
            hovertemplate="%{y} and %{x}: %{text}<br>%{customdata:,} pairs<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=2,
        )
    )
    verdict = (
        "every class is nearest to itself"
        if table.separates
        else "some class is nearer to another than to itself"
    )
    pairs = "pairs drawn at random" if table.sampled else "all pairs"
    size = int(np.clip(230 + 70 * n, 480, 950))
    dress(
        figure,
        "Distance between classes",
        theme,
        note=f"{verdict}; ± standard error; {pairs}",
        width=size + 130,
        height=size,
        margin={"l": 110, "r": 30, "t": 100, "b": 90},
    )
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", showgrid=False)
    return figure


def unit_balls(
    powers: Sequence[float] = (0.5, 1.0, 2.0, 4.0, np.inf),
    *,
    minimum: Sequence[float] | None = None,
    curvature: Any = None,
    theme: str = "light",
) -> go.Figure:
    """The points of length one by the L^p norms, and contours of least squares around a minimum.

    The corners of p = 1 lie on the axes, where a round contour meets the ball first: that is why an
    L1 budget leaves coefficients at zero. Below one the ball is no longer convex. Texts: 002
    (lasso), 003 2.2.3.1, 004.

    Parameters
    ----------
    powers : sequence of float, default=(0.5, 1.0, 2.0, 4.0, inf)
        Positive; infinity for the largest coordinate.
    minimum : sequence of two float, default=None
        Where squares are least; None draws no contours.
    curvature : array-like of shape (2, 2), default=None
        Curvature of the squares; None for a slanting bowl.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> [trace.name for trace in unit_balls([1, 2]).data]
    ['p = 1', 'p = 2']
    """
    if not len(powers) or min(powers) <= 0:
        raise DataError("powers are positive; the ball of p = 0 is all of the axes")
    figure = go.Figure()
    look_of = look(theme)
    if minimum is not None:
        figure.add_trace(_bowl(np.asarray(minimum, dtype=np.float64), curvature, look_of))
    for k, p in enumerate(powers):
        x, y = _unit_curve(float(p))
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": color(k), "width": 2.5, "dash": ("solid", "dash")[k % 2]},
            name="p = ∞" if np.isinf(p) else f"p = {p:g}",
        )
    reach = 1.35 if minimum is None else max(1.35, 1.25 * float(np.abs(minimum).max()))
    figure.update_xaxes(range=[-reach, reach], title="first coordinate")
    figure.update_yaxes(range=[-reach, reach], title="second coordinate", scaleanchor="x")
    return dress(
        figure,
        "Unit balls of L<sup>p</sup> norms",
        theme,
        note="curves of definitions; nothing is estimated",
        width=700,
        height=740,
        **legend_below(),
    )


def _unit_curve(p: float) -> tuple[np.ndarray, np.ndarray]:
    """Points with |x|^p + |y|^p = 1, the corners among them."""
    angle = np.linspace(0, 2 * np.pi, 721)
    x, y = np.cos(angle), np.sin(angle)
    if np.isinf(p):
        length = np.maximum(np.abs(x), np.abs(y))
        return x / length, y / length
    return np.sign(x) * np.abs(x) ** (2 / p), np.sign(y) * np.abs(y) ** (2 / p)


def _bowl(minimum: np.ndarray, curvature: Any, look_of) -> go.Contour:
    matrix = np.array([[1.0, 0.6], [0.6, 1.5]]) if curvature is None else np.asarray(curvature)
    reach = max(1.35, 1.25 * float(np.abs(minimum).max()))
    line = np.linspace(-reach, reach, 121)
    apart = np.stack(np.meshgrid(line, line), axis=-1) - minimum
    squares = np.einsum("abi,ij,abj->ab", apart, matrix, apart)
    return go.Contour(
        x=line,
        y=line,
        z=np.sqrt(squares),
        contours={"coloring": "none", "showlabels": False},
        ncontours=20,
        line={"color": look_of.faint, "width": 1},
        showscale=False,
        name="squared error",
        hovertemplate="root of the sum of squares %{z:.3g}<extra></extra>",
    )


def nearest_regions(
    cells: Any, classes: Any = None, *, query: Sequence[float] | None = None, theme: str = "light"
) -> go.Figure:
    """Voronoi cells: the region of each point's nearest neighbours, coloured by class.

    The border between cells of different classes is that of the one-nearest-neighbour rule, drawn
    strong. Texts: 000a 1.2, 004 2.1, 12.3.

    Parameters
    ----------
    cells : VoronoiCells
        From `gnomon.neighbors.voronoi_cells`.
    classes : array-like of shape (n_given,), default=None
        Class of each point that was given; of points at one place the first counts.
    query : sequence of two float, default=None
        A point to mark.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neighbors import voronoi_cells
    >>> figure = nearest_regions(voronoi_cells([[0, 0], [1, 0], [0, 1]]), ["a", "b", "b"])
    >>> [trace.name for trace in figure.data if trace.showlegend]
    ['a', 'b']
    """
    look_of = look(theme)
    n = len(cells.points)
    of_points = [""] * n
    if classes is not None:
        given = list(np.asarray(classes).tolist())
        if len(given) != len(cells.copies):
            raise DataError(f"{len(given)} classes for {len(cells.copies)} points")
        for copy, each in zip(cells.copies[::-1].tolist(), given[::-1]):
            of_points[copy] = str(each)
    names = sorted(set(of_points))
    figure = go.Figure()
    for polygon, each in zip(cells.polygons, of_points):
        closed = np.vstack([polygon, polygon[:1]])
        figure.add_scatter(
            x=closed[:, 0],
            y=closed[:, 1],
            mode="lines",
            fill="toself",
            fillcolor=faded(color(names.index(each)), 0.22),
            line={"color": look_of.faint, "width": 0.7},
            showlegend=False,
            hoverinfo="skip",
        )
    x, y = _class_border(cells.polygons, of_points)
    if len(x):
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": look_of.ink, "width": 2.5},
            name="border",
            showlegend=False,
            hoverinfo="skip",
        )
    for k, each in enumerate(names):
        members = [i for i, name in enumerate(of_points) if name == each]
        figure.add_scatter(
            x=cells.points[members, 0],
            y=cells.points[members, 1],
            mode="markers",
            marker={"color": color(k), "size": 7, "line": {"color": look_of.paper, "width": 1}},
            name=label(each) if classes is not None else "points",
            showlegend=classes is not None,
        )
    if query is not None:
        figure.add_scatter(
            x=[query[0]],
            y=[query[1]],
            mode="markers",
            marker={"symbol": "star", "size": 15, "color": look_of.strong},
            name="query",
            showlegend=True,
        )
    (left, bottom), (right, top) = cells.box
    figure.update_xaxes(range=[left, right], title="first column", constrain="domain")
    figure.update_yaxes(
        range=[bottom, top], title="second column", scaleanchor="x", constrain="domain"
    )
    return dress(
        figure,
        "Regions of the nearest neighbour",
        theme,
        note=f"Voronoi cells of {n:,} points",
        width=760,
        height=760,
        **legend_below(),
    )


def _class_border(polygons, of_points) -> tuple[list, list]:
    """Edges between cells of different classes, as lines broken by None."""
    seen: dict[tuple, str] = {}
    x: list = []
    y: list = []
    scale = max((float(np.abs(p).max()) for p in polygons if len(p)), default=1.0) or 1.0
    for polygon, name in zip(polygons, of_points):
        for one, other in zip(polygon, np.roll(polygon, -1, axis=0)):
            ends = sorted([tuple(np.round(one / scale, 7)), tuple(np.round(other / scale, 7))])
            if ends[0] == ends[1]:
                continue
            key = (*ends[0], *ends[1])
            if seen.setdefault(key, name) != name:
                x += [one[0], other[0], None]
                y += [one[1], other[1], None]
    return x, y


def neighbor_curves(
    x: Any,
    y: Any,
    powers: Sequence[float] = (0.0, 1.0, 2.0),
    *,
    neighbors: int = 2,
    theme: str = "light",
) -> go.Figure:
    """What nearest neighbours predict along a line, for several powers of the weights 1/d^q.

    q = 0 makes steps, q = 1 joins two neighbours by straight lines, q = 2 flattens near each point.
    Texts: 003 2.2.2.1.

    Parameters
    ----------
    x : array-like of shape (n,)
    y : array-like of shape (n,)
    powers : sequence of float, default=(0.0, 1.0, 2.0)
    neighbors : int, default=2
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = neighbor_curves([0, 1, 2], [1, 3, 2])
    >>> [trace.name for trace in figure.data]
    ['q = 0', 'q = 1', 'q = 2', 'rows']
    """
    from gnomon.neighbors import KNeighborsRegressor

    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    margin = 0.05 * (np.ptp(x) or 1.0)
    line = np.linspace(x.min() - margin, x.max() + margin, 601)
    figure = go.Figure()
    for k, q in enumerate(powers):
        model = KNeighborsRegressor(neighbors, weights="distance", power=q, metric="euclidean")
        figure.add_scatter(
            x=line,
            y=model.fit(x[:, None], y).predict(line[:, None]),
            mode="lines",
            line={"color": color(k), "width": 2},
            name=f"q = {q:g}",
        )
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"size": 8, "color": look(theme).ink},
        name="rows",
    )
    figure.update_xaxes(title="x")
    figure.update_yaxes(title="prediction")
    return dress(
        figure,
        f"{neighbors} neighbours weighted by 1/d<sup>q</sup>",
        theme,
        note="predictions between the rows; no error bars: the curve is the rule itself",
        **legend_below(),
    )


def scaling_chart(
    sizes: Any, costs: dict[str, Any], *, unit: str = "rows compared", theme: str = "light"
) -> go.Figure:
    """What methods cost against the number of rows, on logarithmic scales, crossings marked.

    Texts: 003 2.2.4.2 (ball tree against comparing all rows).

    Parameters
    ----------
    sizes : array-like of shape (n,)
        Numbers of rows, rising.
    costs : dict of str to array-like of shape (n,) or (n, n_repeats)
        What each method costs at each size; of repeats the mean is drawn, with bars from the least
        to the greatest.
    unit : str, default="rows compared"
        Unit of the costs.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = scaling_chart([10, 100, 1000], {"all": [10, 100, 1000], "tree": [30, 60, 90]})
    >>> figure.layout.annotations[0].text
    '48 rows'
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    if len(sizes) < 2 or (np.diff(sizes) <= 0).any() or sizes[0] <= 0:
        raise DataError("sizes are at least two positive numbers, rising")
    look_of = look(theme)
    figure = go.Figure()
    means: dict[str, np.ndarray] = {}
    repeated = False
    for k, (name, given) in enumerate(costs.items()):
        values = np.asarray(given, dtype=np.float64).reshape(len(sizes), -1)
        if not (values > 0).all():
            raise DataError(f"the costs of {name!r} must be positive for a logarithmic scale")
        means[name] = values.mean(axis=1)
        bars = None
        if values.shape[1] > 1:
            repeated = True
            bars = {
                "array": values.max(axis=1) - means[name],
                "arrayminus": means[name] - values.min(axis=1),
                "symmetric": False,
                "color": look_of.faint,
            }
        figure.add_scatter(
            x=sizes,
            y=means[name],
            error_y=bars,
            mode="lines+markers",
            line={"color": color(k), "width": 2.5},
            marker={"size": 7},
            name=label(name),
        )
    for x, y in _crossings(sizes, list(means.values())):
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"symbol": "circle-open", "size": 15, "color": look_of.strong},
            showlegend=False,
            hovertemplate=f"equal at {x:,.0f} rows<extra></extra>",
        )
        figure.add_annotation(
            x=np.log10(x),
            y=np.log10(y),
            text=f"{x:,.0f} rows",
            xanchor="right",
            xshift=-12,
            yshift=16,
            showarrow=False,
        )
    figure.update_xaxes(type="log", title="number of rows")
    figure.update_yaxes(type="log", title=unit)
    note = "bars: least to greatest of the repeats" if repeated else "one measurement each: no bars"
    return dress(figure, "Cost against size", theme, note=note, **legend_below())


def _crossings(sizes: np.ndarray, curves: list[np.ndarray]) -> list[tuple[float, float]]:
    """Where two curves meet, on logarithmic scales."""
    found = []
    x = np.log(sizes)
    for i, one in enumerate(curves):
        for other in curves[i + 1 :]:
            gap = np.log(one) - np.log(other)
            for k in np.flatnonzero(gap[:-1] * gap[1:] < 0):
                share = gap[k] / (gap[k] - gap[k + 1])
                at = x[k] + share * (x[k + 1] - x[k])
                height = np.log(one[k]) + share * (np.log(one[k + 1]) - np.log(one[k]))
                found.append((float(np.exp(at)), float(np.exp(height))))
    return found
