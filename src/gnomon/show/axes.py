"""Pictures of principal axes: arrows through the centroid, data in their own coordinates, items
rebuilt from few components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.reduce.fisher import fisher_direction
from gnomon.show.arrows import arrow, one_scale, written
from gnomon.show.clusters import ellipsoid_surface
from gnomon.show.labels import label
from gnomon.show.points import SYMBOLS
from gnomon.show.theme import color, dress, faded, legend_below, look

ROUND = np.linspace(0, 2 * np.pi, 121)


def _rows(X: Any, widths: Sequence[int] | None = None) -> np.ndarray:
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise DataError(f"rows are a finite table with two rows or more, not shape {rows.shape}")
    if widths is not None and rows.shape[1] not in widths:
        wanted = " or ".join(map(str, widths))
        raise DataError(f"this picture has {wanted} columns, not {rows.shape[1]}; choose columns")
    return rows


def _axes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variances in falling order, and axes as columns whose largest entry is positive."""
    values, vectors = np.linalg.eigh(np.cov(rows, rowvar=False))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return rows.mean(axis=0), values, vectors * np.where(largest < 0, -1.0, 1.0)


def _ellipse(mean: np.ndarray, values: np.ndarray, axes: np.ndarray, radius: float) -> np.ndarray:
    circle = np.stack([np.cos(ROUND), np.sin(ROUND)])
    return mean[:, None] + radius * (axes * np.sqrt(values)) @ circle


def principal_axes(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    deviations: float = 2.0,
    perpendiculars: bool = False,
    theme: str = "light",
) -> go.Figure:
    """A cloud of two or three columns, its principal axes as arrows, and its ellipse.

    Each arrow starts at the centroid and is as long as so many standard deviations along it, so
    that it ends on the ellipse. With perpendiculars each point is joined to its projection on the
    first axis (drawn for two columns). Texts: 001 17.1 · 002 "PCA" · 003 2.7.2 · 004 15.2-15.3.

    Parameters
    ----------
    X : array-like of shape (n, 2) or (n, 3)
    names : sequence of str, default=None
        Names of the columns.
    deviations : float, default=2.0
    perpendiculars : bool, default=False
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(principal_axes([[0, 0], [2, 1], [4, 3], [6, 2]]).layout.annotations)
    4
    """
    rows = _rows(X, (2, 3))
    titles = [f"x{j + 1}" for j in range(rows.shape[1])] if names is None else list(names)
    mean, values, axes = _axes(rows)
    shares = values / max(values.sum(), 1e-300)
    said = ", ".join(f"{share:.1%}" for share in shares)
    note = f"shares of the variance {said}; arrows and ellipse: {deviations:g} standard deviations"
    if rows.shape[1] == 3:
        figure = _axes_in_space(rows, mean, values, axes, deviations, titles, theme)
        return dress(figure, "Principal axes", theme, note=note, **legend_below())
    figure = go.Figure()
    if perpendiculars:
        feet = mean + ((rows - mean) @ axes[:, :1]) @ axes[:, :1].T
        _perpendiculars(figure, rows, feet, mean, axes[:, 0], theme)
    _cloud(figure, rows, color(0), "rows")
    x, y = _ellipse(mean, values, axes, deviations)
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": look(theme).faint, "width": 1.5},
        name=f"{deviations:g} standard deviations",
        hoverinfo="skip",
    )
    for k in range(2):
        end = mean + deviations * np.sqrt(values[k]) * axes[:, k]
        arrow(figure, mean, end, look(theme).strong, width=3)
        written(
            figure,
            mean + 1.14 * (end - mean),
            f"<b>{k + 1}</b>",
            look(theme).ink,
            bgcolor=faded(look(theme).paper, 0.7),
        )
    dress(figure, "Principal axes", theme, note=note, **legend_below())
    figure.update_xaxes(title=label(titles[0]))
    figure.update_yaxes(title=label(titles[1]))
    one_scale(figure)
    return figure


def _cloud(figure: go.Figure, rows: np.ndarray, tint: str, name: str, **place: Any) -> None:
    figure.add_scatter(
        x=rows[:, 0],
        y=rows[:, 1],
        mode="markers",
        marker={"color": tint, "size": 6 if len(rows) > 300 else 8, "opacity": 0.65},
        name=name,
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        **place,
    )


def _perpendiculars(figure, rows, feet, mean, direction, theme, axis: int = 1, **place) -> None:
    """The line through the mean, and a thin line from each row to its foot on it."""
    gap = np.full(len(rows), np.nan)
    along = (feet - mean) @ direction
    ends = mean + np.outer([1.1 * along.min(), 1.1 * along.max()], direction)
    figure.add_scatter(
        x=np.column_stack([rows[:, 0], feet[:, 0], gap]).ravel(),
        y=np.column_stack([rows[:, 1], feet[:, 1], gap]).ravel(),
        mode="lines",
        line={"color": look(theme).faint, "width": 0.8},
        name="perpendiculars",
        showlegend=axis == 1,
        hoverinfo="skip",
        **place,
    )
    figure.add_scatter(
        x=ends[:, 0],
        y=ends[:, 1],
        mode="lines",
        line={"color": look(theme).ink, "width": 1.5},
        showlegend=False,
        hoverinfo="skip",
        **place,
    )
    figure.add_scatter(
        x=feet[:, 0],
        y=feet[:, 1],
        mode="markers",
        marker={"color": color(1), "size": 5},
        name="projections",
        showlegend=axis == 1,
        hoverinfo="skip",
        **place,
    )


def _axes_in_space(rows, mean, values, axes, deviations, titles, theme) -> go.Figure:
    figure = go.Figure()
    figure.add_scatter3d(
        x=rows[:, 0],
        y=rows[:, 1],
        z=rows[:, 2],
        mode="markers",
        marker={"color": color(0), "size": 3, "opacity": 0.7},
        name="rows",
    )
    shell = ellipsoid_surface(mean, (axes * values) @ axes.T, deviations)
    figure.add_surface(
        x=shell[0],
        y=shell[1],
        z=shell[2],
        colorscale=[[0, color(5)], [1, color(5)]],
        showscale=False,
        opacity=0.2,
        hoverinfo="skip",
        name="ellipsoid",
    )
    for k in range(3):
        x, y, z = np.column_stack([mean, mean + deviations * np.sqrt(values[k]) * axes[:, k]])
        figure.add_scatter3d(
            x=x,
            y=y,
            z=z,
            mode="lines+text+markers",
            text=["", f"<b>{k + 1}</b>"],
            textfont={"color": look(theme).ink, "size": 16},
            marker={"size": [0, 5], "symbol": "diamond", "color": look(theme).strong},
            line={"color": look(theme).strong, "width": 8},
            name=f"axis {k + 1}",
            showlegend=False,
        )
    side = {
        "backgroundcolor": look(theme).paper,
        "gridcolor": look(theme).grid,
        "color": look(theme).ink,
    }
    scene = {f"{a}axis": side | {"title": label(t)} for a, t in zip("xyz", titles, strict=True)}
    return figure.update_layout(
        scene=scene | {"aspectmode": "data", "camera_eye": {"x": 1.45, "y": 1.45, "z": 0.9}},
        height=650,
    )


def one_covariance(
    covariance: Any = ((3.0, 1.2), (1.2, 1.0)),
    n: int = 240,
    *,
    random_state: int | None = 0,
    theme: str = "light",
) -> go.Figure:
    """Clouds of quite different shape that share one mean and one covariance, hence all axes.

    Each sample is moved and stretched so that its covariance is exactly the one asked for. Text:
    001 17, figure 4.

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
    n : int, default=240
        Points of each cloud.
    random_state : int or None, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> figure = one_covariance()
    >>> np.cov(figure.data[0].x, figure.data[0].y).round(6).tolist()
    [[3.0, 1.2], [1.2, 1.0]]
    """
    wanted = np.asarray(covariance, dtype=float)
    if wanted.shape != (2, 2) or (np.linalg.eigvalsh((wanted + wanted.T) / 2) <= 0).any():
        raise DataError("a covariance of two columns has a positive definite 2 x 2 table")
    rng = np.random.default_rng(random_state)
    sides = np.where(np.arange(n) % 2, 1.5, -1.5)
    clouds = {
        "normal": rng.normal(size=(n, 2)),
        "ring": _ring(rng, n),
        "two groups": np.column_stack([0.3 * rng.normal(size=n) + sides, rng.normal(size=n)]),
        "square": rng.uniform(-1, 1, size=(n, 2)),
    }
    root = np.linalg.cholesky(wanted)
    figure = make_subplots(2, 2, subplot_titles=list(clouds), vertical_spacing=0.14)
    for k, cloud in enumerate(clouds.values()):
        own = np.linalg.cholesky(np.cov(cloud, rowvar=False))
        rows = (cloud - cloud.mean(axis=0)) @ np.linalg.inv(own).T @ root.T
        mean, values, axes = _axes(rows)
        place = {"row": k // 2 + 1, "col": k % 2 + 1}
        _cloud(figure, rows, color(0), "rows", showlegend=False, **place)
        x, y = _ellipse(mean, values, axes, 2.0)
        line = {"color": look(theme).faint, "width": 1.5}
        figure.add_scatter(
            x=x, y=y, mode="lines", line=line, showlegend=False, hoverinfo="skip", **place
        )
        for j in range(2):
            end = mean + 2 * np.sqrt(values[j]) * axes[:, j]
            arrow(figure, mean, end, look(theme).strong, axis=k + 1)
    note = "all have the same mean, covariance and principal axes; ellipse: 2 standard deviations"
    dress(
        figure, "Different clouds, one covariance", theme, note=note, height=640, margin={"t": 120}
    )
    across, up = (1.05 * max(float(np.abs(t[c]).max()) for t in figure.data) for c in "xy")
    figure.update_xaxes(range=[-across, across])
    figure.update_yaxes(range=[-up, up])
    one_scale(figure, *range(1, len(clouds) + 1))
    return figure


def _ring(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.06 * rng.normal(size=(n, 2))


def fisher_lines(
    X: Any, classes: Any, *, bad: Any = None, names=None, theme: str = "light"
) -> go.Figure:
    """Two classes projected on Fisher's line, which keeps them apart, and on a bad one.

    J = (m_1 - m_2)^2 / (s_1^2 + s_2^2) of the projections stands above each panel, s^2 being sums
    of squares around the means. Texts: 004 15.4.

    Parameters
    ----------
    X : array-like of shape (n, 2)
    classes : array-like of shape (n,)
        Of two classes.
    bad : array-like of shape (2,), default=None
        Direction of the other line; the first principal axis by default, which does not look at
        the classes.
    names : sequence of str, default=None
        Names of the columns.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> X = [[0, 0], [2, 0.1], [4, 0], [0, 1], [2, 1.1], [4, 1]]
    >>> figure = fisher_lines(X, [0, 0, 0, 1, 1, 1])
    >>> [note.text.split(":")[0] for note in figure.layout.annotations]
    ["Fisher's line", 'first principal axis']
    """
    rows = _rows(X, (2,))
    of_class = np.asarray(classes)
    kinds = np.unique(of_class)
    if len(kinds) != 2 or len(of_class) != len(rows):
        raise DataError(f"Fisher's line parts two classes, not {len(kinds)}, one for each row")
    good = fisher_direction(rows[of_class == kinds[0]], rows[of_class == kinds[1]])
    other = _axes(rows)[2][:, 0] if bad is None else np.asarray(bad, dtype=float)
    lines = [
        ("Fisher's line", good / np.linalg.norm(good)),
        ("first principal axis" if bad is None else "other line", other / np.linalg.norm(other)),
    ]
    titles = []
    for name, line in lines:
        one, two = (rows[of_class == kind] @ line for kind in kinds)
        spread = ((one - one.mean()) ** 2).sum() + ((two - two.mean()) ** 2).sum()
        titles.append(f"{name}: J = {(one.mean() - two.mean()) ** 2 / max(spread, 1e-300):.3g}")
    figure = make_subplots(1, 2, subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.05)
    size = float(np.linalg.norm(rows.max(axis=0) - rows.min(axis=0)))
    for panel, (_, line) in enumerate(lines, 1):
        across = np.array([-line[1], line[0]])
        # the line is moved off the cloud, so that the marks on it can be told from the points
        beside = rows.mean(axis=0) + across * (
            ((rows - rows.mean(axis=0)) @ across).min() - size / 8
        )
        for k, kind in enumerate(kinds):
            mine = rows[of_class == kind]
            feet = beside + np.outer((mine - beside) @ line, line)
            _marks(figure, mine, feet, k, label(kind), theme, panel)
    note = "each point is projected at right angles on the line beside the cloud"
    dress(
        figure,
        "A good and a bad line to tell two classes",
        theme,
        note=note,
        **legend_below(top=120),
    )
    titles = ["x1", "x2"] if names is None else [label(name) for name in names]
    figure.update_xaxes(title=titles[0])
    figure.update_yaxes(title=titles[1], col=1)
    one_scale(figure, 1, 2)
    return figure


def _marks(figure, rows, feet, k: int, name: str, theme: str, panel: int) -> None:
    gap = np.full(len(rows), np.nan)
    figure.add_scatter(
        x=np.column_stack([rows[:, 0], feet[:, 0], gap]).ravel(),
        y=np.column_stack([rows[:, 1], feet[:, 1], gap]).ravel(),
        mode="lines",
        line={"color": faded(color(k), 0.25), "width": 1},
        showlegend=False,
        hoverinfo="skip",
        row=1,
        col=panel,
    )
    for points, size, opacity, shown in ((rows, 8, 0.65, panel == 1), (feet, 9, 1.0, False)):
        figure.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="markers",
            marker={"color": color(k), "symbol": SYMBOLS[k], "size": size, "opacity": opacity},
            name=name,
            showlegend=shown,
            hovertemplate=f"{name}: %{{x:.4g}}, %{{y:.4g}}<extra></extra>",
            row=1,
            col=panel,
        )


def blob_steps(X: Any, names: Sequence[str] | None = None, *, theme: str = "light") -> go.Figure:
    """Two columns as given, moved to their mean, turned to their axes, and scaled to spread 1.

    Texts: 000a 4.4-4.5 (figures 4.5, 4.6).

    Parameters
    ----------
    X : array-like of shape (n, 2)
    names : sequence of str, default=None
        Names of the columns.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Four panels of one scale.

    Examples
    --------
    >>> import numpy as np
    >>> figure = blob_steps([[0, 0], [2, 1], [4, 3], [6, 2]])
    >>> np.allclose(np.cov(figure.data[-2].x, figure.data[-2].y), np.eye(2))
    True
    """
    rows = _rows(X, (2,))
    mean, values, axes = _axes(rows)
    if values[-1] <= 1e-12 * values[0]:
        raise DataError("the columns lie on one line: they cannot be scaled to a spread of 1 each")
    moved = rows - mean
    turned = moved @ axes
    ahead = ["x1", "x2"] if names is None else [label(name) for name in names]
    own = ["axis 1", "axis 2"]
    steps = [
        ("as given", rows, ahead),
        ("minus the mean", moved, [f"{name} − mean" for name in ahead]),
        ("rotated to its axes", turned, own),
        ("divided by the spread", turned / np.sqrt(values), own),
    ]
    figure = make_subplots(
        2,
        2,
        subplot_titles=[name for name, _, _ in steps],
        vertical_spacing=0.16,
        horizontal_spacing=0.16,
    )
    for k, (_, points, _) in enumerate(steps):
        place = {"row": k // 2 + 1, "col": k % 2 + 1}
        _cloud(figure, points, color(0), "rows", showlegend=False, **place)
        figure.add_scatter(
            x=[points[:, 0].mean()],
            y=[points[:, 1].mean()],
            mode="markers",
            marker={"color": look(theme).strong, "size": 13, "symbol": "cross"},
            name="mean",
            showlegend=k == 0,
            **place,
        )
    note = f"variances along the axes: {values[0]:.3g} and {values[1]:.3g}"
    dress(
        figure,
        "A blob in its own coordinates",
        theme,
        note=note,
        height=780,
        **legend_below(top=120),
    )
    for k, (_, _, titles) in enumerate(steps):
        figure.update_xaxes(title=titles[0], row=k // 2 + 1, col=k % 2 + 1)
        figure.update_yaxes(title=titles[1], row=k // 2 + 1, col=k % 2 + 1)
    one_scale(figure, 1, 2, 3, 4)
    return figure


def rotated_data(
    pca: Any,
    X: Any,
    classes: Any = None,
    *,
    scales: str = "equal",
    most: int = 4,
    numbered: int | None = None,
    theme: str = "light",
) -> go.Figure:
    """Rows in their principal coordinates, two by two, on equal or on individual scales.

    On equal scales the first coordinates are seen to be wide and the last thin; on individual ones
    all can be read, and unusual rows stand out: those farthest from the mean in units of the
    spread along each axis are numbered. Texts: 000a 5.1 (figures 5.2, 5.3).

    Parameters
    ----------
    pca : PCA
        Fitted.
    X : array-like
        The rows.
    classes : array-like of shape (n,), default=None
    scales : {"equal", "individual"}, default="equal"
    most : int, default=4
        Coordinates drawn.
    numbered : int or None, default=None
        Unusual rows whose numbers are written; None for 5 on individual scales and none on equal
        ones, where they could not be read.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> len(rotated_data(PCA(3).fit(X), X, numbered=0).data)
    6
    """
    if scales not in ("equal", "individual"):
        raise DataError(f"scales is 'equal' or 'individual', not {scales!r}")
    if numbered is None:
        numbered = 5 if scales == "individual" else 0
    places = np.asarray(pca.transform(X))[:, :most]
    d = places.shape[1]
    if d < 2:
        raise DataError("fit two components or more to draw them against each other")
    far = np.argsort(-(places**2 / pca.explained_variance_[:d]).sum(axis=1))[:numbered]
    names = [f"{k + 1}<br>{pca.explained_variance_ratio_[k]:.1%}" for k in range(d)]
    groups = np.full(len(places), "") if classes is None else np.asarray(classes).astype(str)
    layers = [
        (label(each), places[groups == each], color(k), SYMBOLS[k % 8])
        for k, each in enumerate(np.unique(groups))
    ]
    figure = _panels(layers, names, theme)
    if numbered:
        _numbers(figure, places, far, theme)
    said = {"equal": "one scale for all panels", "individual": "each coordinate on its own scale"}
    note = said[scales] + (f"; the {numbered} most unusual rows numbered" if numbered else "")
    title = "Rows in principal coordinates"
    _panel_look(figure, d, title, note, classes is not None, theme)
    low, high = places.min(axis=0), places.max(axis=0)
    if scales == "equal":
        low, high = np.full(d, -np.abs(places).max()), np.full(d, np.abs(places).max())
    _ranges(figure, low, high)
    return figure


def _ranges(figure: go.Figure, low: np.ndarray, high: np.ndarray) -> None:
    """The range of each column, with room for the numbers of rows at the rim."""
    room = 0.14 * np.maximum(high - low, 1e-300)
    for k in range(len(low)):
        ends = [float(low[k] - room[k]), float(high[k] + room[k])]
        figure.update_xaxes(range=ends, col=k + 1)
        figure.update_yaxes(range=ends, row=k + 1)


def _panels(layers: Sequence, names: Sequence[str], theme: str) -> go.Figure:
    """Every column against every other, their names on the diagonal."""
    d = len(names)
    figure = make_subplots(d, d, horizontal_spacing=0.012, vertical_spacing=0.012)
    for i in range(d):
        for j in range(d):
            if i == j:
                _name_in(figure, names[i], i, d, theme)
                continue
            for name, rows, tint, symbol in layers:
                figure.add_scatter(
                    x=rows[:, j],
                    y=rows[:, i],
                    mode="markers",
                    marker={"color": tint, "symbol": symbol, "size": 5, "opacity": 0.65},
                    name=name,
                    legendgroup=name,
                    showlegend=(i, j) == (0, 1),
                    hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
                    row=i + 1,
                    col=j + 1,
                )
    return figure


def _name_in(figure: go.Figure, name: str, k: int, d: int, theme: str) -> None:
    """A column's name in its panel of the diagonal, which no trace makes Plotly draw."""
    number = "" if k == 0 else str(k * d + k + 1)
    figure.add_annotation(
        x=float(np.mean(figure.layout[f"xaxis{number}"].domain)),
        y=float(np.mean(figure.layout[f"yaxis{number}"].domain)),
        xref="paper",
        yref="paper",
        text=f"<b>{name}</b>",
        showarrow=False,
        font={"size": 15, "color": look(theme).ink},
    )


def _panel_look(figure, d: int, title: str, note: str, legend: bool, theme: str) -> None:
    """Numbers at the left and at the bottom only, nothing but names in the diagonal."""
    dress(
        figure,
        title,
        theme,
        note=note,
        showlegend=legend,
        width=170 * d + 160,
        height=165 * d + 190,
        **legend_below(),
    )
    figure.update_xaxes(showticklabels=False, ticks="")
    figure.update_yaxes(showticklabels=False, ticks="")
    figure.update_xaxes(showticklabels=True, ticks="outside", row=d)
    figure.update_yaxes(showticklabels=True, ticks="outside", col=1)
    # the first line and the last column begin and end with a name: their numbers stand beside it
    figure.update_yaxes(showticklabels=True, ticks="outside", side="right", row=1, col=d)
    figure.update_xaxes(showticklabels=True, ticks="outside", row=d - 1, col=d)


def _numbers(figure: go.Figure, places: np.ndarray, far: np.ndarray, theme: str) -> None:
    d = places.shape[1]
    for i in range(d):
        for j in range(d):
            if i != j:
                figure.add_scatter(
                    x=places[far, j],
                    y=places[far, i],
                    mode="markers+text",
                    marker={
                        "symbol": "circle-open",
                        "size": 10,
                        "color": look(theme).strong,
                        "line": {"width": 1.5},
                    },
                    text=far.astype(str),
                    textposition="top center",
                    textfont={"color": look(theme).ink, "size": 12},
                    name="unusual",
                    showlegend=False,
                    cliponaxis=False,
                    hovertemplate="row %{text}: %{x:.4g}, %{y:.4g}<extra></extra>",
                    row=i + 1,
                    col=j + 1,
                )


def low_rank_data(
    pca: Any,
    X: Any,
    n_components: int,
    *,
    columns: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    theme: str = "light",
) -> go.Figure:
    """Rows and their reconstruction from few components, in the columns that they came in.

    From one component all rebuilt rows lie on a line, from two in a plane. Texts: 000a 5.1
    (figure 5.4).

    Parameters
    ----------
    pca : PCA
        Fitted with as many components at least.
    X : array-like of shape (n, d)
    n_components : int
    columns : sequence of int, default=None
        Which to draw; the first four by default.
    names : sequence of str, default=None
        Names of all columns.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> figure = low_rank_data(PCA(3).fit(X), X, 1)
    >>> [trace.name for trace in figure.data[:2]]
    ['rows', 'from 1 component']
    """
    rows = _rows(X)
    _check_count(pca, n_components)
    rebuilt = _rebuilt(pca, rows, n_components)
    drawn = list(range(min(4, rows.shape[1]))) if columns is None else list(columns)
    called = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    many = "s" if n_components != 1 else ""
    layers = [
        ("rows", rows[:, drawn], color(6), "circle"),
        (f"from {n_components} component{many}", rebuilt[:, drawn], color(1), "diamond"),
    ]
    figure = _panels(layers, [label(called[j], 14) for j in drawn], theme)
    error = ((rows - rebuilt) ** 2).sum() / max(((rows - rows.mean(axis=0)) ** 2).sum(), 1e-300)
    note = f"the components leave {error:.1%} of the variance"
    _panel_look(figure, len(drawn), "Rows of low rank", note, True, theme)
    both = np.vstack([rows, rebuilt])[:, drawn]
    _ranges(figure, both.min(axis=0), both.max(axis=0))
    return figure


def _check_count(pca: Any, count: int) -> None:
    if not 0 <= count <= pca.n_components_:
        raise DataError(
            f"{count} components are requested, {pca.n_components_} were fitted; fit more of them"
        )


def _rebuilt(pca: Any, rows: np.ndarray, count: int) -> np.ndarray:
    basis = pca.components_[:count]
    return pca.mean_ + ((rows - pca.mean_) @ basis.T) @ basis


def reconstruction(
    pca: Any,
    item: Any,
    counts: Sequence[int] = (0, 3, 5, 7),
    *,
    x: Any = None,
    x_title: str = "place",
    y_title: str = "value",
    shape: tuple[int, int] | None = None,
    theme: str = "light",
) -> go.Figure:
    """One item rebuilt from ever more components, and the error against their number.

    Texts: 000a 5.2-5.3 (figures 5.6, 5.11) · 002 "PCA".

    Parameters
    ----------
    pca : PCA
        Fitted.
    item : array-like of shape (d,)
        A curve, or an image as a row.
    counts : sequence of int
        Numbers of components; 0 is the mean.
    x : array-like of shape (d,), default=None
        Places of the curve's values, such as wavelengths.
    x_title, y_title : str
    shape : (int, int), default=None
        Height and width where the item is an image.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        The last trace is the error, the length of what is left, from 0 components to all.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> curves = np.random.default_rng(0).normal(size=(20, 6))
    >>> figure = reconstruction(PCA(6).fit(curves), curves[0], (0, 2))
    >>> abs(figure.data[-1].y[-1]) < 1e-9
    True
    """
    given = np.asarray(item, dtype=float).ravel()
    if len(given) != pca.components_.shape[1]:
        raise DataError(f"the item has {len(given)} values, the components have {len(pca.mean_)}")
    for count in counts:
        _check_count(pca, count)
    if shape is not None and shape[0] * shape[1] != len(given):
        raise DataError(f"an image of shape {shape} has {shape[0] * shape[1]} cells")
    rebuilt = {count: _rebuilt(pca, given[None], count)[0] for count in counts}
    numbers = np.arange(pca.n_components_ + 1)
    errors = [float(np.linalg.norm(given - _rebuilt(pca, given[None], k)[0])) for k in numbers]
    draw = _rebuilt_curves if shape is None else _rebuilt_images
    figure, below = draw(given, rebuilt, errors, x, shape, theme)
    figure.add_scatter(
        x=numbers,
        y=errors,
        mode="lines+markers",
        line={"color": look(theme).strong, "width": 2},
        marker={"size": 5},
        name="error",
        showlegend=False,
        hovertemplate="%{x} components: %{y:.4g}<extra></extra>",
        **below,
    )
    note = f"length of the error: {errors[0]:.3g} from the mean alone, {errors[-1]:.3g} from all "
    note += f"{pca.n_components_} components"
    dress(figure, "An item rebuilt from its components", theme, note=note, **legend_below(top=120))
    figure.update_xaxes(title="components", **below)
    figure.update_yaxes(title="length of the error", rangemode="tozero", **below)
    if shape is None:
        figure.update_xaxes(title=x_title, row=1, col=1)
        figure.update_yaxes(title=y_title, row=1, col=1)
        return figure
    for k in range(len(counts) + 1):
        figure.update_xaxes(visible=False, row=1, col=k + 1)
        figure.update_yaxes(visible=False, autorange="reversed", row=1, col=k + 1)
    one_scale(figure, *range(1, len(counts) + 2))
    return figure.update_layout(height=620, width=max(700, 170 * (len(counts) + 1) + 100))


def _rebuilt_curves(given, rebuilt, errors, x, shape, theme) -> tuple[go.Figure, dict[str, int]]:
    figure = make_subplots(1, 2, column_widths=[0.66, 0.34], horizontal_spacing=0.1)
    places = np.arange(len(given)) if x is None else np.asarray(x)
    curves = [("the item", given, look(theme).ink, "solid", 3)]
    dashes = ("dot", "dash", "dashdot", "longdash")
    for k, (count, values) in enumerate(rebuilt.items()):
        name = "mean alone" if count == 0 else f"from {count}"
        curves.append((name, values, color(k), dashes[k % 4], 2))
    for name, values, tint, dash, width in curves:
        figure.add_scatter(
            x=places,
            y=values,
            mode="lines",
            line={"color": tint, "dash": dash, "width": width},
            name=name,
            row=1,
            col=1,
        )
    return figure, {"row": 1, "col": 2}


def _rebuilt_images(given, rebuilt, errors, x, shape, theme) -> tuple[go.Figure, dict[str, int]]:
    wide = len(rebuilt) + 1
    names = ["mean" if count == 0 else f"from {count}" for count in rebuilt]
    figure = make_subplots(
        2,
        wide,
        specs=[[{}] * wide, [{"colspan": wide}, *[None] * (wide - 1)]],
        subplot_titles=[*names, "the image"],
        horizontal_spacing=0.02,
        vertical_spacing=0.12,
    )
    low, high = float(given.min()), float(given.max())
    for k, values in enumerate([*rebuilt.values(), given]):
        figure.add_heatmap(
            z=values.reshape(shape),
            zmin=low,
            zmax=high,
            colorscale="Greys_r",
            showscale=False,
            row=1,
            col=k + 1,
        )
    return figure, {"row": 2, "col": 1}
