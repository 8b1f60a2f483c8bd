"""A fit step by step: the objective, and how the parameters moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.show.theme import color, dress, look

MOST_PATHS = 12


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
        sliders=[slider(len(paths), theme)],
    )


def moving(states: list[dict[str, Any]]) -> str:
    """The first parameter that is not the same at both ends, or the first of all."""
    first, last = states[0], states[-1]
    names = list(first)
    return next((n for n in names if not np.array_equal(first[n], last[n])), names[0])


def slider(n_steps: int, theme: str) -> dict[str, Any]:
    """A slider that shows one frame per step."""
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}
    return {
        "steps": [
            {"method": "animate", "label": str(step), "args": [[str(step)], at_once]}
            for step in range(n_steps)
        ],
        "currentvalue": {"prefix": "step "},
        "pad": {"t": 50},
        "bgcolor": look(theme).grid,
        "bordercolor": look(theme).faint,
        "activebgcolor": look(theme).faint,
        "tickcolor": look(theme).faint,
    }
