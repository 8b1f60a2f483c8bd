"""The set of all distributions with a model in it: truth, sample, estimate, and their distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy.optimize import minimize_scalar

from gnomon.engine.errors import DataError
from gnomon.show.arrows import one_scale
from gnomon.show.densities import CORNERS
from gnomon.show.theme import color, dress, legend_below, look

Family = Callable[[float], Sequence[float]]


def binomial_of_two(share: float) -> np.ndarray:
    """Probabilities of 0, 1 and 2 successes in two trials: a curve through the triangle."""
    return np.array([(1 - share) ** 2, 2 * share * (1 - share), share**2])


def divergence(one: Any, other: Any) -> float:
    """Kullback and Leibler's distance sum p ln(p / q); infinite where q is 0 and p is not."""
    p, q = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    seen = p > 0
    with np.errstate(divide="ignore"):
        return float((p[seen] * (np.log(p[seen]) - np.log(q[seen]))).sum())


def model_set(
    truth: Any,
    counts: Any,
    family: Family = binomial_of_two,
    *,
    low: float = 1e-6,
    high: float = 1 - 1e-6,
    names: Sequence[str] = ("0", "1", "2"),
    theme: str = "light",
) -> go.Figure:
    """All distributions of three outcomes as a triangle, a model as a curve in it, and two errors.

    The approximation error is the distance from the truth to the nearest member of the model; the
    estimation error is that from this member to the estimate, the member nearest to the sample
    (maximum likelihood). Distances are Kullback and Leibler's. Texts: 002 "Model misspecification"
    (there a sketch; here every place is computed).

    Parameters
    ----------
    truth : array-like of shape (3,)
        Probabilities.
    counts : array-like of shape (3,)
        How often each outcome was seen.
    family : callable
        Probabilities for a parameter; two trials with one chance of success by default.
    low, high : float
        Ends of the parameter.
    names : three str
        Outcomes.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = model_set([0.5, 0.1, 0.4], [5, 2, 3])
    >>> [trace.name for trace in figure.data[-4:]]
    ['truth', 'nearest member', 'sample', 'estimate']
    """
    law, seen = np.asarray(truth, dtype=float), np.asarray(counts, dtype=float)
    if law.shape != (3,) or seen.shape != (3,) or (law < 0).any() or seen.min() < 0:
        raise DataError("this picture has probabilities and counts of three outcomes")
    if abs(law.sum() - 1) > 1e-9 or seen.sum() <= 0:
        raise DataError("probabilities of the truth sum to 1, and something was counted")
    sample = seen / seen.sum()

    def nearest(target: np.ndarray) -> np.ndarray:
        grid = np.linspace(low, high, 401)
        start = int(np.argmin([divergence(target, family(t)) for t in grid]))
        bounds = (grid[max(start - 1, 0)], grid[min(start + 1, 400)])
        answer = minimize_scalar(
            lambda t: divergence(target, family(t)), bounds=bounds, options={"xatol": 1e-10}
        )
        return np.asarray(family(float(answer.x)))

    best, estimate = nearest(law), nearest(sample)
    approximation, estimation = divergence(law, best), divergence(best, estimate)
    figure = go.Figure()
    rim = CORNERS[[0, 1, 2, 0]]
    figure.add_scatter(
        x=rim[:, 0],
        y=rim[:, 1],
        mode="lines",
        line={"color": look(theme).ink, "width": 2},
        name="all distributions",
        hoverinfo="skip",
    )
    curve = np.array([family(t) for t in np.linspace(low, high, 201)]) @ CORNERS
    figure.add_scatter(
        x=curve[:, 0],
        y=curve[:, 1],
        mode="lines",
        line={"color": color(0), "width": 4},
        name="the model",
        hoverinfo="skip",
    )
    for one, other, name, tint in (
        (law, best, f"approximation error {approximation:.3g}", color(1)),
        (best, estimate, f"estimation error {estimation:.3g}", color(2)),
        (sample, estimate, f"sample to estimate {divergence(sample, estimate):.3g}", color(6)),
    ):
        ends = np.array([one, other]) @ CORNERS
        figure.add_scatter(
            x=ends[:, 0],
            y=ends[:, 1],
            mode="lines",
            line={"color": tint, "width": 2.5, "dash": "dash"},
            name=name,
            hoverinfo="skip",
        )
    marks = [
        ("truth", law, "star", look(theme).strong, "middle left"),
        ("nearest member", best, "circle", color(1), "bottom left"),
        ("sample", sample, "x", look(theme).ink, "bottom right"),
        ("estimate", estimate, "diamond", color(2), "top right"),
    ]
    for name, point, symbol, tint, side in marks:
        place = point @ CORNERS
        figure.add_scatter(
            x=[place[0]],
            y=[place[1]],
            mode="markers+text",
            marker={"size": 13, "symbol": symbol, "color": tint},
            text=[f" {name} "],
            textposition=side,
            textfont={"size": 13, "color": look(theme).ink},
            customdata=[point],
            hovertemplate="%{customdata[0]:.3f}, %{customdata[1]:.3f}, %{customdata[2]:.3f}"
            f"<extra>{name}</extra>",
            name=name,
            showlegend=False,
        )
    for corner, name, shift in zip(CORNERS, names, (-14, -14, 14), strict=True):
        figure.add_annotation(
            x=corner[0], y=corner[1], text=f"<b>{name}</b>", showarrow=False, yshift=shift
        )
    note = f"{seen.sum():g} observations; distances by Kullback and Leibler"
    dress(
        figure, "Truth, model, sample and estimate", theme, note=note, height=680, **legend_below()
    )
    figure.update_xaxes(visible=False, range=[-0.12, 1.12])
    figure.update_yaxes(visible=False, range=[-0.1, 0.98])
    one_scale(figure)
    return figure
