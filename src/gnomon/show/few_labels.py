"""Pictures of few labels: the curve of a strategy, and labels that spread over a graph.

Texts: 001 3.3.1 · 004 17.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from gnomon.engine.errors import DataError
from gnomon.semi import LabelCurve
from gnomon.show.replays import slider
from gnomon.show.theme import color, dress, error_bars, legend_below, look

MOST_FRAMES = 40  # of a replay: a page of 300 rows stays below 1 MB
MOST_POINTS = 2_000  # judgement: more points hide each other


def label_curves(curve: LabelCurve, *, theme: str = "light") -> go.Figure:
    """Accuracy against the number of labels: chosen by a strategy, and drawn at random.

    Parameters
    ----------
    curve : LabelCurve
        Of `gnomon.semi.label_curve`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.evaluate import Estimate
    >>> from gnomon.semi import LabelCurve
    >>> chosen = [Estimate(a, a - 0.04, a + 0.04) for a in (0.6, 0.8, 0.9)]
    >>> drawn = [Estimate(a, a - 0.05, a + 0.05) for a in (0.6, 0.7, 0.8)]
    >>> figure = label_curves(LabelCurve("uncertainty", [5, 10, 20], chosen, drawn))
    """
    figure = go.Figure()
    for k, (name, values) in enumerate(((curve.strategy, curve.chosen), ("random", curve.random))):
        figure.add_scatter(
            x=curve.n_labels,
            y=[each.value for each in values],
            error_y=error_bars(values, theme),
            mode="lines+markers",
            name=name,
            line={"color": color(k), "dash": "solid" if k == 0 else "dash"},
        )
    figure.update_xaxes(title="labels")
    figure.update_yaxes(title="accuracy on unseen rows")
    note = "means over repeats with 95% intervals; both begin with the same labels"
    dress(figure, f"Labels chosen by {curve.strategy}", theme, note=note)
    return figure.update_layout(**legend_below())


def propagation_replay(model: Any, *, theme: str = "light") -> go.Figure:
    """Labels that spread over the rows, step by step, with a slider.

    Each point is a row in its first two columns; its color goes with the probability of the most
    probable class, gray where nothing is known yet.

    Parameters
    ----------
    model : graph method of `gnomon.semi`
        Fitted to rows of two columns or more with ``keep_history="full"``.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.semi import LabelPropagation
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.where(np.arange(40) < 6, np.arange(40) % 3, np.nan)
    >>> model = LabelPropagation(gamma=5, keep_history="full").fit(X, y)
    >>> figure = propagation_replay(model)
    """
    states = model.history_.states
    if not states or "distributions" not in states[0]:
        raise DataError(
            f"{type(model).__name__} kept no steps; fit it with keep_history='full' to replay it"
        )
    rows = np.asarray(model.X_[:MOST_POINTS])
    if rows.shape[1] < 2:
        raise DataError("a replay is drawn in two columns, and the rows have one")
    taken = np.unique(np.linspace(0, len(states) - 1, MOST_FRAMES).astype(int))
    steps = [np.asarray(states[step]["distributions"])[:MOST_POINTS] for step in taken]

    def points(shares: np.ndarray) -> go.Scatter:
        return go.Scatter(x=rows[:, 0], y=rows[:, 1], mode="markers", marker=_marker(shares, theme))

    figure = go.Figure(points(steps[0]))
    figure.frames = [
        go.Frame(name=str(place), data=[points(shares)]) for place, shares in enumerate(steps)
    ]
    note = f"{len(states)} steps, {len(taken)} of them shown; gray: nothing is known yet"
    dress(figure, f"{type(model).__name__}, step by step", theme, note=note, height=560)
    return figure.update_layout(
        showlegend=False,
        margin={"l": 60, "r": 30, "t": 100, "b": 120},
        sliders=[slider(range(len(taken)), theme)],
    )


def _marker(shares: np.ndarray, theme: str) -> dict[str, Any]:
    """Colors of the most probable classes; opacity by how far they are from equal shares."""
    n_classes = shares.shape[1]
    best = shares.argmax(axis=1)
    equal = 1.0 / n_classes
    sure = (shares.max(axis=1) - equal) / max(1.0 - equal, 1e-12)
    known = sure > 1e-3
    codes = [color(int(k)) if seen else look(theme).faint for k, seen in zip(best, known)]
    return {"color": codes, "opacity": np.where(known, 0.35 + 0.65 * sure, 0.4), "size": 7}
