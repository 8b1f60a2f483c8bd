"""Pictures of margins: support vectors, hulls, tubes, corrections, feature spaces, kernels.

Every function gives a Plotly figure, made from the public attributes of models and results of
`gnomon.margin`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.margin.hulls import convex_hull
from gnomon.show.labels import label
from gnomon.show.theme import DIVERGING, SEQUENTIAL, color, dress, faded, legend_below, look

SYMBOLS = ("circle", "diamond")
GRID = 121  # judgement: borders look smooth; 14,641 places to predict


def _plane_rows(X: Any) -> np.ndarray:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError(f"the picture is of rows of two columns, not of shape {rows.shape}")
    return rows


def _mesh(rows: np.ndarray, share: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two axes that hold all rows with some room, and all points of their grid."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = share * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[j] - room[j], high[j] + room[j], GRID) for j in (0, 1))
    return x, y, np.column_stack([each.ravel() for each in np.meshgrid(x, y)])


def _signs(y: Any, classes: np.ndarray) -> np.ndarray:
    y = np.asarray(y)
    if len(classes) != 2 or not np.isin(y, classes).all():
        raise DataError(f"the picture is of two classes that the model knows: {list(classes)}")
    return np.where(y == classes[1], 1.0, -1.0)


def _add_classes(figure, rows, sign, classes, *, size: int = 8, legend: bool = True, **where):
    """Rows with a colour and a marker for each class."""
    for k, side in enumerate((-1.0, 1.0)):
        here = np.flatnonzero(sign == side)
        figure.add_scatter(
            x=rows[here, 0],
            y=rows[here, 1],
            mode="markers",
            marker={
                "size": size,
                "color": color(k),
                "symbol": SYMBOLS[k],
                "line": {"width": 0.5, "color": "white"},
            },
            customdata=here,
            hovertemplate="row %{customdata}: (%{x:.3g}, %{y:.3g})<extra></extra>",
            name=f"class {label(classes[k])}",
            legendgroup=f"class {k}",
            showlegend=legend,
            **where,
        )


def _add_levels(figure, axes, scores, colors, levels=(-1.0, 0.0, 1.0), **where) -> None:
    """Lines of equal score: the border, and the margins beside it."""
    for level in levels:
        border = level == 0
        figure.add_contour(
            x=axes[0],
            y=axes[1],
            z=scores,
            contours={"start": level, "end": level, "size": 1, "coloring": "lines"},
            line={"width": 3 if border else 1.5, "dash": "solid" if border else "dash"},
            colorscale=[[0, colors.ink], [1, colors.ink]],
            showscale=False,
            hoverinfo="skip",
            name="border" if border else f"score {level:+g}",
            showlegend=False,
            **where,
        )


def _add_shading(figure, axes, scores, **where) -> None:
    """The score as light shading, cut where it says no more than the side."""
    figure.add_heatmap(
        x=axes[0],
        y=axes[1],
        z=np.clip(scores, -2, 2),
        zmin=-3.5,
        zmax=3.5,
        colorscale=[[0, color(0)], [0.5, "rgba(255,255,255,0)"], [1, color(1)]],
        opacity=0.45,
        showscale=False,
        hoverinfo="skip",
        **where,
    )


def support_vectors(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] = ("x0", "x1"),
    slacks: bool = True,
    theme: str = "light",
) -> go.Figure:
    """A machine of two classes in two columns: border, margin band, support vectors, slack.

    Support vectors are circled; of a linear machine a line from each row beyond its margin to the
    margin shows its slack, and an arrow the normal, as long as the margin is wide. Texts: 002
    (margin band with support vectors, slack) · 004 10.1, 10.3.

    Parameters
    ----------
    estimator : fitted classifier of two classes with ``decision_function``
        With ``support_`` where support vectors are to be marked.
    X : array-like of shape (n, 2)
        The rows that it was fitted on.
    y : array-like of shape (n,)
    names : sequence of two str, default=("x0", "x1")
        Names of the columns.
    slacks : bool, default=True
        Whether slacks are drawn, where the machine is linear.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    >>> from gnomon.margin import SVC
    >>> figure = support_vectors(SVC(kernel="linear").fit(X, y), X, y)
    """
    rows, colors = _plane_rows(X), look(theme)
    sign = _signs(y, estimator.classes_)
    x, z, mesh = _mesh(rows)
    scores = np.asarray(estimator.decision_function(mesh)).reshape(len(z), len(x))
    figure = go.Figure()
    _add_shading(figure, (x, z), scores)
    _add_levels(figure, (x, z), scores, colors)
    functional = sign * np.asarray(estimator.decision_function(rows))
    normal = linear_normal(estimator)
    if normal is not None:
        _add_normal(figure, estimator, normal, rows, colors)
        if slacks:
            _add_slacks(figure, rows, sign, functional, normal, colors)
    _add_classes(figure, rows, sign, estimator.classes_)
    said = f"{int((functional < 1 - 1e-6).sum())} of {len(rows)} rows beyond their margin"
    if hasattr(estimator, "support_"):
        held = rows[estimator.support_]
        figure.add_scatter(
            x=held[:, 0],
            y=held[:, 1],
            mode="markers",
            marker={
                "size": 15,
                "symbol": "circle-open",
                "color": colors.ink,
                "line": {"width": 1.8},
            },
            name="support vectors",
            hoverinfo="skip",
        )
        said = f"{len(held)} support vectors; {said}"
    if normal is not None:
        said += f"; margin {1 / np.linalg.norm(normal):.3g}"
    figure.update_xaxes(title=label(names[0]), range=[x[0], x[-1]])
    figure.update_yaxes(title=label(names[1]), range=[z[0], z[-1]])
    return dress(
        figure,
        f"Margin of {type(estimator).__name__}",
        theme,
        note=f"{said}. Solid: border; dashed: margins",
        width=760,
        height=640,
        **legend_below(),
    )


def linear_normal(model: Any) -> np.ndarray | None:
    """The normal vector of a linear machine of two classes; None where it has none."""
    if hasattr(model, "coef_"):
        return np.ravel(model.coef_)
    if type(getattr(model, "kernel_", None)).__name__ == "Linear":
        return np.asarray(model.dual_coef_[0] @ model.support_vectors_)
    return None


def _add_normal(figure, model, normal, rows, colors) -> None:
    """An arrow from the border to the positive margin."""
    square = float(normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.sqrt(square)
    # beside the thick of the rows
    center = rows.mean(axis=0) + 1.5 * float(np.std(rows @ along)) * along
    foot = center - float(np.ravel(model.decision_function(center[None, :]))[0]) / square * normal
    tip = foot + normal / square
    figure.add_annotation(
        x=tip[0],
        y=tip[1],
        ax=foot[0],
        ay=foot[1],
        xref="x",
        yref="y",
        axref="x",
        ayref="y",
        showarrow=True,
        arrowhead=2,
        arrowwidth=2.5,
        arrowcolor=colors.strong,
        text="",
    )


def _add_slacks(figure, rows, sign, functional, normal, colors) -> None:
    slack = np.maximum(1 - functional, 0.0)
    beyond = np.flatnonzero(slack > 1e-6)
    ends = rows + (sign * slack / float(normal @ normal))[:, None] * normal
    figure.add_scatter(
        x=np.column_stack([rows[beyond, 0], ends[beyond, 0], np.full(len(beyond), np.nan)]).ravel(),
        y=np.column_stack([rows[beyond, 1], ends[beyond, 1], np.full(len(beyond), np.nan)]).ravel(),
        mode="lines",
        line={"color": colors.faint, "width": 1, "dash": "dot"},
        name="slack",
        hoverinfo="skip",
    )


def hulls(margin: Any, X: Any, y: Any, *, names=("x0", "x1"), theme: str = "light") -> go.Figure:
    """The convex hulls of two classes, the shortest line between them, and the plane across it.

    Texts: 002 (hulls with the shortest connecting line and the plane of widest margin).

    Parameters
    ----------
    margin : gnomon.margin.HullMargin
    X : array-like of shape (n, 2)
        The rows that it was found on.
    y : array-like of shape (n,)
    names : sequence of two str, default=("x0", "x1")
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import hull_margin
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> X[15:] += 5
    >>> y = [0] * 15 + [1] * 15
    >>> figure = hulls(hull_margin(X, y), X, y)
    """
    rows, colors = _plane_rows(X), look(theme)
    sign = _signs(y, margin.classes)
    figure = go.Figure()
    for k, side in enumerate((-1.0, 1.0)):
        ring = _ring(rows[sign == side])
        figure.add_scatter(
            x=ring[:, 0],
            y=ring[:, 1],
            mode="lines",
            fill="toself",
            fillcolor=faded(color(k)),
            line={"color": color(k), "width": 1.5},
            name=f"hull of {label(margin.classes[k])}",
            hoverinfo="skip",
        )
    x, z, mesh = _mesh(rows)
    scores = margin.plane.score(mesh).reshape(len(z), len(x))
    _add_levels(figure, (x, z), scores, colors)
    ends = np.vstack([margin.nearest.first, margin.nearest.second])
    figure.add_scatter(
        x=ends[:, 0],
        y=ends[:, 1],
        mode="lines+markers",
        line={"color": colors.strong, "width": 3},
        marker={"size": 9, "symbol": "square", "color": colors.strong},
        name="nearest points",
        hovertemplate="(%{x:.4g}, %{y:.4g})<extra></extra>",
    )
    _add_classes(figure, rows, sign, margin.classes)
    figure.update_xaxes(title=label(names[0]), range=[x[0], x[-1]])
    figure.update_yaxes(
        title=label(names[1]), range=[z[0], z[-1]], scaleanchor="x", constrain="domain"
    )
    return dress(
        figure,
        "Two hulls and the widest margin",
        theme,
        note=f"distance of the hulls {margin.nearest.distance:.4g}, margin {margin.margin:.4g}",
        width=760,
        height=680,
        **legend_below(),
    )


def _ring(points: np.ndarray) -> np.ndarray:
    """Corners of the hull of points in the plane, round once and closed."""
    corners = convex_hull(points).corners
    center = corners.mean(axis=0)
    order = np.argsort(np.arctan2(corners[:, 1] - center[1], corners[:, 0] - center[0]))
    return corners[np.append(order, order[:1])]


def tube(estimator: Any, X: Any, y: Any, *, names=("x", "y"), theme: str = "light") -> go.Figure:
    """A support vector regression on one column: the line, its tube, and the rows that hold it.

    Texts: 004 10.1.4.

    Parameters
    ----------
    estimator : SVR or NuSVR, fitted
    X : array-like of shape (n, 1)
        The rows that it was fitted on.
    y : array-like of shape (n,)
    names : sequence of two str, default=("x", "y")
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 3, size=60))
    >>> y = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> from gnomon.margin import SVR
    >>> figure = tube(SVR(C=1.0, epsilon=0.3).fit(x[:, None], y), x[:, None], y)
    """
    rows, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 1:
        raise DataError(f"the picture is of one column, not of shape {rows.shape}")
    colors = look(theme)
    grid = np.linspace(rows.min(), rows.max(), 300)
    middle = estimator.predict(grid[:, None])
    figure = go.Figure()
    figure.add_scatter(
        x=np.concatenate([grid, grid[::-1]]),
        y=np.concatenate([middle + estimator.epsilon_, (middle - estimator.epsilon_)[::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=faded(color(0)),
        line={"color": color(0), "width": 1, "dash": "dash"},
        name="tube",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=grid, y=middle, mode="lines", line={"color": color(0), "width": 3}, name="regression"
    )
    holding = np.zeros(len(y), dtype=bool)
    holding[estimator.support_] = True
    for here, name, style in (
        (~holding, "inside the tube", {"color": colors.faint, "symbol": "circle"}),
        (
            holding,
            "support vectors",
            {"color": color(1), "symbol": "circle-open", "line": {"width": 2}},
        ),
    ):
        figure.add_scatter(
            x=rows[here, 0],
            y=y[here],
            mode="markers",
            marker={"size": 8, **style},
            customdata=np.flatnonzero(here),
            hovertemplate="row %{customdata}: (%{x:.3g}, %{y:.3g})<extra></extra>",
            name=name,
        )
    figure.update_xaxes(title=label(names[0]))
    figure.update_yaxes(title=label(names[1]))
    return dress(
        figure,
        f"Tube of {type(estimator).__name__}",
        theme,
        note=f"half-width {estimator.epsilon_:.4g}; {int(holding.sum())} of {len(y)} rows hold it",
        **legend_below(),
    )


def corrections(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    steps: Sequence[int] = (1, 2, 3),
    names: Sequence[str] = ("x0", "x1"),
    theme: str = "light",
) -> go.Figure:
    """What corrections do to a perceptron's plane: before (dashed) and after (solid), pass by pass.

    Texts: 002 (effect of one update).

    Parameters
    ----------
    estimator : PocketPerceptron or BatchPerceptron of two classes
        Fitted with ``keep_history="full"``.
        With ``pick="first"`` a pass is a single correction, and the row that made it is marked.
    X : array-like of shape (n, 2)
    y : array-like of shape (n,)
    steps : sequence of int, default=(1, 2, 3)
        Passes, counted from one.
    names : sequence of two str, default=("x0", "x1")
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    >>> from gnomon.margin import PocketPerceptron
    >>> model = PocketPerceptron(keep_history="full", random_state=0).fit(X, y)
    >>> figure = corrections(model, X, y)
    """
    rows, colors = _plane_rows(X), look(theme)
    sign = _signs(y, estimator.classes_)
    states = estimator.history_.states
    if not states:
        raise DataError("the model has kept no states; fit it with keep_history='full'")
    absent = [step for step in steps if not 1 <= step <= len(states)]
    if absent:
        raise DataError(f"there is no pass {absent[0]}; the model made {len(states)}")
    x, z, mesh = _mesh(rows)
    planes = [np.zeros(3), *(state["planes"][0] for state in states)]
    full = np.column_stack([rows, np.ones(len(rows))])
    titles = [f"pass {s}: {int((sign * (full @ planes[s]) <= 0).sum())} wrong after" for s in steps]
    figure = make_subplots(
        1, len(steps), subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.03
    )
    for place, step in enumerate(steps, 1):
        where = {"row": 1, "col": place}
        before, after = planes[step - 1], planes[step]
        for plane, dash, name in ((before, "dash", "before"), (after, "solid", "after")):
            if not plane[:2].any():
                continue
            scores = (mesh @ plane[:2] + plane[2]).reshape(len(z), len(x))
            figure.add_contour(
                x=x,
                y=z,
                z=scores,
                contours={"start": 0, "end": 0, "size": 1, "coloring": "lines"},
                line={"width": 2.5, "dash": dash},
                colorscale=[[0, colors.ink], [1, colors.ink]],
                showscale=False,
                hoverinfo="skip",
                name=name,
                showlegend=False,
                **where,
            )
        _add_classes(figure, rows, sign, estimator.classes_, legend=place == 1, **where)
        wrong = np.flatnonzero(sign * (full @ before) <= 0)
        if getattr(estimator, "pick", "") == "first":
            change = after - before
            made = np.abs(full * sign[:, None] - change).max(axis=1)
            wrong = np.array([int(made.argmin())])
        figure.add_scatter(
            x=rows[wrong, 0],
            y=rows[wrong, 1],
            mode="markers",
            marker={
                "size": 15,
                "symbol": "circle-open",
                "color": colors.strong,
                "line": {"width": 2},
            },
            name="wrong before",
            legendgroup="wrong",
            showlegend=place == 1,
            hoverinfo="skip",
            **where,
        )
        figure.update_xaxes(title=label(names[0]), range=[x[0], x[-1]], **where)
        figure.update_yaxes(range=[z[0], z[-1]], **where)
    figure.update_yaxes(title=label(names[1]), row=1, col=1)
    return dress(
        figure,
        f"Corrections of a {type(estimator).__name__}",
        theme,
        note="dashed: the plane before the pass; solid: after it",
        width=max(340 * len(steps), 720),
        height=500,
        **legend_below(top=130),
    )


def feature_space(
    estimator: Any,
    X: Any,
    y: Any,
    transform: Callable[[np.ndarray], np.ndarray],
    *,
    names: Sequence[str] = ("x0", "x1"),
    feature_names: Sequence[str] | None = None,
    theme: str = "light",
) -> go.Figure:
    """The same rows and border in the space of the columns and in that of their features.

    Left the columns, where the border is a curve; right two or three features of them, where it is
    a line or a plane. Texts: 001 · 002 (ring data) · 004 4.2 (XOR lifted to three dimensions).

    Parameters
    ----------
    estimator : linear classifier of two classes, fitted on ``transform(X)``
    X : array-like of shape (n, 2)
    y : array-like of shape (n,)
    transform : callable
        From rows of two columns to rows of two or three features.
    names : sequence of two str, default=("x0", "x1")
    feature_names : sequence of str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import LinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = (X**2).sum(axis=1) > 1.2
    >>> model = LinearSVC().fit(X**2, y)
    >>> figure = feature_space(model, X, y, lambda rows: rows**2)
    """
    rows, colors = _plane_rows(X), look(theme)
    sign = _signs(y, estimator.classes_)
    features = np.asarray(transform(rows), dtype=np.float64)
    d = features.shape[1]
    if d not in (2, 3):
        raise DataError(f"the picture shows two or three features, and transform gives {d}")
    feature_names = feature_names or [f"feature {j + 1}" for j in range(d)]
    figure = make_subplots(
        1,
        2,
        specs=[[{"type": "xy"}, {"type": "scene" if d == 3 else "xy"}]],
        subplot_titles=["columns", "features"],
        horizontal_spacing=0.1,
    )
    x, z, mesh = _mesh(rows)
    scores = np.asarray(estimator.decision_function(np.asarray(transform(mesh)))).reshape(
        GRID, GRID
    )
    _add_shading(figure, (x, z), scores, row=1, col=1)
    _add_levels(figure, (x, z), scores, colors, (0.0,), row=1, col=1)
    _add_classes(figure, rows, sign, estimator.classes_, row=1, col=1)
    figure.update_xaxes(title=label(names[0]), range=[x[0], x[-1]], row=1, col=1)
    figure.update_yaxes(title=label(names[1]), range=[z[0], z[-1]], row=1, col=1)
    if d == 2:
        u, v, mesh = _mesh(features)
        scores = np.asarray(estimator.decision_function(mesh)).reshape(GRID, GRID)
        _add_shading(figure, (u, v), scores, row=1, col=2)
        _add_levels(figure, (u, v), scores, colors, (0.0,), row=1, col=2)
        _add_classes(figure, features, sign, estimator.classes_, legend=False, row=1, col=2)
        figure.update_xaxes(title=label(feature_names[0]), range=[u[0], u[-1]], row=1, col=2)
        figure.update_yaxes(title=label(feature_names[1]), range=[v[0], v[-1]], row=1, col=2)
    else:
        _add_lifted(figure, estimator, features, sign, feature_names, colors)
    wrong = int((np.asarray(estimator.predict(features)) != np.asarray(y)).sum())
    return dress(
        figure,
        "A curve among the columns is a plane among the features",
        theme,
        note=f"{wrong} of {len(rows)} rows on the wrong side",
        width=1000,
        height=560,
        **legend_below(top=120),
    )


def _add_lifted(figure, model, features, sign, names, colors) -> None:
    for k, side in enumerate((-1.0, 1.0)):
        here = features[sign == side]
        figure.add_scatter3d(
            x=here[:, 0],
            y=here[:, 1],
            z=here[:, 2],
            mode="markers",
            marker={"size": 4, "color": color(k), "symbol": SYMBOLS[k]},
            name=f"class {label(model.classes_[k])}",
            showlegend=False,
            row=1,
            col=2,
        )
    normal, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    axis = int(np.abs(normal).argmax())
    others = [j for j in range(3) if j != axis]
    low, high = features.min(axis=0), features.max(axis=0)
    first, second = np.meshgrid(*(np.linspace(low[j], high[j], 12) for j in others))
    corner = [np.zeros_like(first)] * 3
    corner[others[0]], corner[others[1]] = first, second
    corner[axis] = -(b + normal[others[0]] * first + normal[others[1]] * second) / normal[axis]
    corner[axis] = np.where(
        (corner[axis] >= low[axis] - 0.2) & (corner[axis] <= high[axis] + 0.2), corner[axis], np.nan
    )
    figure.add_surface(
        x=corner[0],
        y=corner[1],
        z=corner[2],
        opacity=0.5,
        showscale=False,
        colorscale=[[0, colors.faint], [1, colors.faint]],
        name="plane",
        hoverinfo="skip",
        row=1,
        col=2,
    )
    plain = {"gridcolor": colors.grid, "backgroundcolor": colors.paper, "color": colors.ink}
    axes = {f"{a}axis": {**plain, "title": label(n)} for a, n in zip("xyz", names)}
    figure.update_layout(scene={**axes, "camera": {"eye": {"x": 1.6, "y": 1.6, "z": 0.8}}})


def kernel_surface(
    kernel: Any,
    point: Sequence[float] = (0.0, 0.0),
    *,
    extent: float = 3.0,
    theme: str = "light",
) -> go.Figure:
    """A kernel as likeness: k(x, x') for all x around a fixed x'.

    Texts: 002 · 004 10.2 (kernel as similarity).

    Parameters
    ----------
    kernel : gnomon.margin.Kernel
        With numbers for its parameters.
    point : sequence of two float, default=(0.0, 0.0)
        The x'.
    extent : float, default=3.0
        How far the axes reach on each side.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.margin import RBF
    >>> figure = kernel_surface(RBF(gamma=0.5))
    """
    colors, center = look(theme), np.asarray(point, dtype=np.float64)
    x, y = (np.linspace(c - extent, c + extent, 61) for c in center)
    mesh = np.column_stack([each.ravel() for each in np.meshgrid(x, y)])
    values = kernel(mesh, center[None, :]).reshape(61, 61)
    figure = go.Figure()
    figure.add_surface(x=x, y=y, z=values, colorscale=SEQUENTIAL, colorbar={"title": "k"})
    own = float(kernel(center[None, :], center[None, :])[0, 0])
    figure.add_scatter3d(
        x=[center[0]],
        y=[center[1]],
        z=[own],
        mode="markers",
        marker={"size": 5, "color": colors.strong},
        name="x'",
    )
    plain = {"gridcolor": colors.grid, "backgroundcolor": colors.paper, "color": colors.ink}
    axes = {f"{a}axis": {**plain, "title": n} for a, n in zip("xyz", ("x0", "x1", "k(x, x')"))}
    figure.update_layout(scene=axes)
    return dress(
        figure,
        f"Likeness to one point by the kernel {type(kernel).__name__}",
        theme,
        note=f"x' = ({center[0]:g}, {center[1]:g}), k(x', x') = {own:.4g}",
        width=760,
        height=640,
        margin={"l": 10, "r": 10, "t": 90, "b": 10},
    )


def kernel_bumps(estimator: Any, *, names=("x", "score"), theme: str = "light") -> go.Figure:
    """A score as a sum of bumps: one at each support vector, as high as its coefficient.

    Of a machine on one column the bumps and their sum; on two columns the surface of the sum with
    the support vectors on it. Texts: 002 · 004 (sum of bumps to a decision surface).

    Parameters
    ----------
    estimator : SVC of two classes, SVR or another machine of one expansion, fitted
    names : sequence of str, default=("x", "score")
        Names of the column (or of two columns) and of the score.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 3, size=60))
    >>> y = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> from gnomon.margin import SVR
    >>> figure = kernel_bumps(SVR(C=1.0, epsilon=0.3).fit(x[:, None], y))
    """
    vectors, weights = estimator.support_vectors_, estimator.dual_coef_
    if len(weights) != 1 or vectors.shape[1] not in (1, 2):
        raise DataError(
            f"the picture is of one expansion on one or two columns; this machine has "
            f"{len(weights)} on {vectors.shape[1]}"
        )
    if vectors.shape[1] == 2:
        return _bump_surface(estimator, names, theme)
    colors = look(theme)
    low, high = float(vectors.min()), float(vectors.max())
    room = 0.15 * (high - low if high > low else 1.0)
    grid = np.linspace(low - room, high + room, 400)
    bumps = estimator.kernel_(grid[:, None], vectors) * weights[0]
    figure = go.Figure()
    for k, side in enumerate((-1, 1)):
        for number, i in enumerate(np.flatnonzero(np.sign(weights[0]) == side)):
            figure.add_scatter(
                x=grid,
                y=bumps[:, i],
                mode="lines",
                line={"color": color(k), "width": 1},
                opacity=0.6,
                name="bumps below zero" if side < 0 else "bumps above zero",
                legendgroup=str(side),
                showlegend=number == 0,
                hoverinfo="skip",
            )
    figure.add_scatter(
        x=grid,
        y=bumps.sum(axis=1) + float(estimator.intercept_[0]),
        mode="lines",
        line={"color": colors.ink, "width": 3},
        name="sum and offset",
    )
    figure.add_scatter(
        x=vectors[:, 0],
        y=np.zeros(len(vectors)),
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 12, "color": colors.strong},
        name="support vectors",
    )
    figure.update_xaxes(title=label(names[0]))
    figure.update_yaxes(title=label(names[-1]))
    return dress(
        figure,
        f"The score of {type(estimator).__name__} is a sum of bumps",
        theme,
        note=f"{len(vectors)} support vectors, offset {float(estimator.intercept_[0]):.4g}",
        **legend_below(),
    )


def _bump_surface(model, names, theme: str) -> go.Figure:
    colors, vectors = look(theme), model.support_vectors_
    x, y, mesh = _mesh(vectors)
    scores = (model.kernel_(mesh, vectors) @ model.dual_coef_[0] + model.intercept_[0]).reshape(
        len(y), len(x)
    )
    on = model.kernel_(vectors, vectors) @ model.dual_coef_[0] + model.intercept_[0]
    top = float(np.abs(scores).max())
    figure = go.Figure()
    figure.add_surface(
        x=x,
        y=y,
        z=scores,
        colorscale=DIVERGING,
        reversescale=True,
        cmin=-top,
        cmax=top,
        colorbar={"title": "score"},
        contours={"z": {"show": True, "start": 0, "end": 0, "size": 1, "color": colors.ink}},
    )
    for k, side in enumerate((-1, 1)):
        here = np.sign(model.dual_coef_[0]) == side
        figure.add_scatter3d(
            x=vectors[here, 0],
            y=vectors[here, 1],
            z=on[here],
            mode="markers",
            marker={"size": 4, "color": color(k), "symbol": SYMBOLS[k]},
            name="pull down" if side < 0 else "push up",
        )
    titles = (*names[:2], "score") if len(names) > 2 else ("x0", "x1", "score")
    plain = {"gridcolor": colors.grid, "backgroundcolor": colors.paper, "color": colors.ink}
    axes = {f"{a}axis": {**plain, "title": label(n)} for a, n in zip("xyz", titles)}
    figure.update_layout(scene={**axes, "camera": {"eye": {"x": 1.6, "y": 1.6, "z": 1.2}}})
    return dress(
        figure,
        f"The score of {type(model).__name__} is a sum of bumps",
        theme,
        note=f"{len(vectors)} support vectors; the line is the border",
        width=820,
        height=660,
        legend={"x": 0, "y": 0.02, "bgcolor": "rgba(0,0,0,0)"},
        margin={"l": 10, "r": 10, "t": 90, "b": 10},
    )


def seasons(estimators: Mapping[str, Any], *, theme: str = "light") -> go.Figure:
    """Accuracy on held rows and length of the weights as stochastic training goes on.

    One line per model, of several penalties say: means over the checks of a season, with bars of
    one standard deviation of these checks. Texts: 000a 2.1.6, figures 2.2-2.3.

    Parameters
    ----------
    estimators : mapping of str to fitted StochasticSVM
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.margin import StochasticSVM
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    >>> X[y == 1] += 1.5
    >>> models = {f"{p:g}": StochasticSVM(p, random_state=0).fit(X, y) for p in (0.001, 1.0)}
    >>> figure = seasons(models)
    """
    figure = make_subplots(
        2,
        1,
        shared_xaxes=True,
        vertical_spacing=0.08,
        subplot_titles=["accuracy on held rows", "squared length of the weights"],
    )
    for k, (name, model) in enumerate(estimators.items()):
        for row, found in ((1, model.accuracy_), (2, model.squared_norm_)):
            figure.add_scatter(
                x=np.arange(1, len(found) + 1),
                y=found.mean(axis=1),
                error_y={"array": found.std(axis=1), "thickness": 0.8, "width": 0}
                if row == 1
                else None,
                mode="lines",
                line={"color": color(k), "width": 2},
                name=label(name),
                legendgroup=str(k),
                showlegend=row == 1,
                row=row,
                col=1,
            )
    figure.update_xaxes(title="season", row=2, col=1)
    figure.update_yaxes(title="share right", row=1, col=1)
    figure.update_yaxes(title="a · a", type="log", row=2, col=1)
    return dress(
        figure,
        "Training by stochastic gradient",
        theme,
        note="mean over a season; bars: one standard deviation over its checks",
        height=620,
        **legend_below(top=120),
    )
