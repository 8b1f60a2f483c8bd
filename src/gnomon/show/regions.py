"""Regions: what models say over two inputs, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.points import MOST_ROWS, drawn_rows
from gnomon.show.theme import SEQUENTIAL, color, dress, legend_below, look

GRID = 161  # judgement: borders look smooth; 25,921 places to predict
ROOM = 0.08  # judgement: rows at the edge are not cut
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
STRENGTH = 0.55  # judgement: points of a class stand out from its region
UNCLEAR = "claimed by none or several"


def decision_regions(
    estimators: Any,
    X: Any,
    y: Any = None,
    *,
    columns: tuple[int, int] = (0, 1),
    fixed: Mapping[int, float] | None = None,
    names: Sequence[str] | None = None,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """What models say of each place of two inputs, with the rows on it; one panel per model.

    Of a classifier the colours of the classes are blended by probabilities, or by votes where it
    gives those; lines are the borders. Places that several classes or none claim (one against the
    rest), or where votes are tied (one against one), are hatched by dots. Of a regressor the value
    is a shade. Other inputs than the two stay at the medians of X, or where `fixed` says.

    Texts: 000a 1.2 · 001 10.4 · 002 · 003 2.2 · 004 3.1, 10.2 (pictures of regions).

    Parameters
    ----------
    estimators : fitted model, or mapping of names to fitted models
        All classifiers with the same classes, or all regressors.
    X : array-like of shape (n, n_columns)
        Rows of numbers that the models were fitted on, or others of the same columns.
    y : array-like of shape (n,), default=None
        Their targets, for the colours of the markers.
    columns : tuple of two int, default=(0, 1)
        The two inputs.
    fixed : mapping of int to float, default=None
        Values of other columns.
    names : sequence of str, default=None
        Names of all columns.
    rows : int, default=2000
        Draw at most so many.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [3, 1], [0, 3]], 20, axis=0)
    >>> y = np.repeat(["a", "b", "c"], 20)
    >>> figure = decision_regions(KNeighborsClassifier().fit(X, y), X, y)
    >>> [each.name for each in figure.data if each.type == "scatter"]
    ['a', 'b', 'c']
    """
    panels = dict(estimators) if isinstance(estimators, Mapping) else {"": estimators}
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise DataError(f"regions need rows of at least two columns, not of shape {table.shape}")
    names = [f"x{j}" for j in range(table.shape[1])] if names is None else list(names)
    classes = _classes_of(panels)
    axes, places = _places(table, columns, dict(fixed or {}))
    n_across = min(len(panels), 3)
    figure = make_subplots(
        rows=-(-len(panels) // n_across),
        cols=n_across,
        subplot_titles=[label(name) for name in panels] if len(panels) > 1 else None,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.03,
        vertical_spacing=0.09,
    )
    drawn, said = drawn_rows(len(table), rows, random_state)
    values = None
    if classes is None:
        values = [np.asarray(model.predict(places), dtype=np.float64) for model in panels.values()]
    for k, model in enumerate(panels.values()):
        where = {"row": k // n_across + 1, "col": k % n_across + 1}
        if classes is None:
            _add_values(figure, axes, values, k, where)
        else:
            _add_classes(figure, axes, model, places, len(classes), theme, where)
        targets = None if y is None else np.asarray(y)[drawn]
        _add_rows(figure, table[drawn][:, list(columns)], targets, classes, k == 0, theme, where)
    for axis, values_of, update in zip(
        columns, axes, (figure.update_xaxes, figure.update_yaxes), strict=True
    ):
        update(range=[values_of[0], values_of[-1]], showgrid=False)
        edge = {"row": -(-len(panels) // n_across)} if axis == columns[0] else {"col": 1}
        update(title=label(names[axis]), **edge)
    return dress(
        figure,
        "Regions of the classes" if classes is not None else "Values over two inputs",
        theme,
        note=_note(table, columns, fixed, names, panels, said),
        width=max(760, 430 * n_across),
        height=120 + 480 * -(-len(panels) // n_across),
        **legend_below(top=110),
    )


def _classes_of(panels: Mapping[str, Any]) -> np.ndarray | None:
    """The classes that all models know; None for regressors."""
    if not panels:
        raise DataError("no model was given to draw the regions of")
    found = [getattr(model, "classes_", None) for model in panels.values()]
    if all(each is None for each in found):
        return None
    if any(each is None or list(each) != list(found[0]) for each in found):
        raise DataError("the models side by side must know the same classes, or be all regressors")
    return np.asarray(found[0])


def _places(table: np.ndarray, columns: tuple[int, int], fixed: dict[int, float]):
    """Two axes that hold the rows with some room, and the rows of their grid."""
    d = table.shape[1]
    if len(set(columns)) != 2 or not all(0 <= j < d for j in columns):
        raise DataError(f"columns={columns} are not two different ones of {d}")
    if strange := [j for j in fixed if j in columns or not 0 <= j < d]:
        raise DataError(f"column {strange[0]} cannot be fixed: it is drawn, or there is none such")
    axes = []
    for j in columns:
        low, high = table[:, j].min(), table[:, j].max()
        room = ROOM * ((high - low) or 1.0)
        axes.append(np.linspace(low - room, high + room, GRID))
    places = np.tile(np.median(table, axis=0), (GRID * GRID, 1))
    for j, value in fixed.items():
        places[:, j] = value
    across, up = np.meshgrid(*axes)
    places[:, columns[0]], places[:, columns[1]] = across.ravel(), up.ravel()
    return axes, places


def _shares(model: Any, places: np.ndarray, n_classes: int) -> np.ndarray:
    """How much each place belongs to each class: probabilities, votes, or the class that is said"""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(places))
    if callable(getattr(model, "votes", None)):
        votes = np.asarray(model.votes(places), dtype=np.float64)
        return votes / votes.sum(axis=1, keepdims=True)
    codes = np.searchsorted(model.classes_, model.predict(places))
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)


def _unclear(model: Any, places: np.ndarray) -> np.ndarray | None:
    """Places that several classes or none claim, or of tied votes."""
    if callable(getattr(model, "ties", None)):
        return np.asarray(model.ties(places))
    if callable(getattr(model, "claims", None)):
        return np.asarray(model.claims(places)).sum(axis=1) != 1
    return None


def _add_classes(figure, axes, model, places, n_classes: int, theme: str, where) -> None:
    shares = _shares(model, places, n_classes)
    colors = np.array([_rgb(color(k)) for k in range(n_classes)])
    paper = np.array(_rgb(look(theme).paper))
    blend = STRENGTH * (shares @ colors) + (1 - STRENGTH) * paper
    steps = [axis[1] - axis[0] for axis in axes]
    figure.add_trace(
        go.Image(
            z=np.rint(np.clip(blend, 0, 255)).astype(np.uint8).reshape(GRID, GRID, 3),
            x0=axes[0][0],
            dx=steps[0],
            y0=axes[1][0],
            dy=steps[1],
            hoverinfo="skip",
        ),
        **where,
    )
    said = np.asarray(model.predict(places))
    for k, each in enumerate(model.classes_[: n_classes if n_classes > 2 else 1]):
        own = (said == each).astype(np.float64)
        if 0 < own.mean() < 1:
            _add_border(figure, axes, own.reshape(GRID, GRID), look(theme).ink, k, where)
    unclear = _unclear(model, places)
    dots = None if unclear is None else unclear.reshape(GRID, GRID)[::4, ::4]
    if dots is not None and dots.any():
        up, across = np.nonzero(dots)
        figure.add_scatter(
            x=axes[0][::4][across],
            y=axes[1][::4][up],
            mode="markers",
            marker={"size": 3, "color": look(theme).ink, "symbol": "circle-open"},
            name=UNCLEAR,
            legendgroup="unclear",
            hoverinfo="name",
            showlegend=not any(trace.name == UNCLEAR for trace in figure.data),
            **where,
        )


def _add_border(figure, axes, own: np.ndarray, ink: str, k: int, where) -> None:
    figure.add_contour(
        x=axes[0],
        y=axes[1],
        z=own,
        contours={"start": 0.5, "end": 0.5, "size": 1, "coloring": "lines"},
        line={"width": 2},
        colorscale=[[0, ink], [1, ink]],
        showscale=False,
        hoverinfo="skip",
        name=f"border {k}",
        showlegend=False,
        **where,
    )


def _add_values(figure, axes, values: list[np.ndarray], k: int, where) -> None:
    """The value as a shade, on one scale for all panels."""
    low = min(float(each.min()) for each in values)
    high = max(float(each.max()) for each in values)
    figure.add_heatmap(
        x=axes[0],
        y=axes[1],
        z=values[k].reshape(GRID, GRID),
        zmin=low,
        zmax=high,
        colorscale=SEQUENTIAL,
        showscale=k == 0,
        colorbar={"title": {"text": "value"}},
        hovertemplate="(%{x:.3g}, %{y:.3g}): %{z:.4g}<extra></extra>",
        **where,
    )


def _add_rows(figure, points, targets, classes, legend: bool, theme: str, where) -> None:
    edge = {"width": 1, "color": look(theme).paper}
    if targets is None or classes is None:
        figure.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="markers",
            marker={"size": 5, "color": look(theme).ink, "line": edge},
            name="rows",
            showlegend=legend,
            **where,
        )
        return
    for k, each in enumerate(classes):
        here = targets == each
        figure.add_scatter(
            x=points[here, 0],
            y=points[here, 1],
            mode="markers",
            marker={
                "size": 8,
                "color": color(k),
                "symbol": SYMBOLS[k % len(SYMBOLS)],
                "line": edge,
            },
            name=label(each),
            legendgroup=f"class {k}",
            showlegend=legend,
            **where,
        )


def _note(table, columns, fixed, names, panels, said: str) -> str:
    parts = []
    others = [j for j in range(table.shape[1]) if j not in columns]
    if others:
        middle = np.median(table, axis=0)
        given = dict(fixed or {})
        shown = [f"{label(names[j])} = {given.get(j, middle[j]):.3g}" for j in others[:4]]
        parts.append("at " + ", ".join(shown) + (" ..." if len(others) > 4 else ""))
    if any(hasattr(model, "ties") or hasattr(model, "claims") for model in panels.values()):
        parts.append("dotted: no single class claims the place")
    return "; ".join([*parts, said] if said else parts)


def _rgb(code: str) -> tuple[int, int, int]:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)
