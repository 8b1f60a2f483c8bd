"""Regularisers compared by the error that they lead to, at several levels of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import color, dress, legend_below, look


def expected_errors(
    features: Any, target: Any, weights: Any, noise: float, penalties: Any
) -> np.ndarray:
    """Expected squared error with new noise of the w that minimises |y - Zw|^2 + p w'Gw.

    The places stay the same. With H = Z (Z'Z + p G)^-1 Z' and y = f + noise it is exactly
    |f - H f|^2 / n + noise^2 (1 + tr(H'H) / n), for each penalty p; G is diagonal.

    Examples
    --------
    >>> expected_errors([[1.0], [1.0]], [1.0, 1.0], [1.0], 1.0, [0.0, 2.0])
    array([1.5  , 1.375])
    """
    Z, f = np.asarray(features, dtype=float), np.asarray(target, dtype=float)
    G = np.asarray(weights, dtype=float)
    if Z.ndim != 2 or f.shape != Z.shape[:1] or G.shape != Z.shape[1:] or (G < 0).any():
        raise DataError(
            f"features {Z.shape} need a target for each row and a weight of 0 or more for each "
            f"column, not {f.shape} and {G.shape}"
        )
    n = len(f)
    found = []
    for penalty in np.asarray(penalties, dtype=float):
        hat = Z @ np.linalg.lstsq(Z.T @ Z + penalty * np.diag(G), Z.T, rcond=None)[0]
        bias = float(((f - hat @ f) ** 2).sum()) / n
        found.append(bias + noise**2 * (1 + float((hat**2).sum()) / n))
    return np.array(found)


def regularizer_comparison(
    features: Any,
    target: Any,
    regularizers: Mapping[str, Any],
    noises: Sequence[float],
    penalties: Any = None,
    *,
    theme: str = "light",
) -> go.Figure:
    """Expected test error against the penalty: a curve for each noise, a panel per regulariser.

    The more noise, the larger the best penalty; without noise a regulariser that suits the target
    costs nothing. Texts: 001 7.2.4 (uniform against low-order).

    Parameters
    ----------
    features : array-like of shape (n, p)
        Such as polynomials at the places of the data.
    target : array-like of shape (n,)
        The true function there.
    regularizers : mapping from names to array-like of shape (p,)
        Weights g_j of the penalty sum g_j w_j^2: ones for the uniform one, degrees for low order.
    noises : sequence of float
        Standard deviations.
    penalties : array-like, default=None
        40 from 1e-3 to 1e3, by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        The least error of each curve is marked. Errors are exact expectations, not simulated.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.vander(np.linspace(-1, 1, 20), 4)
    >>> figure = regularizer_comparison(Z, Z[:, 2], {"uniform": np.ones(4)}, [0.1, 0.5])
    >>> len(figure.data)
    4
    """
    grid = np.geomspace(1e-3, 1e3, 40) if penalties is None else np.asarray(penalties, dtype=float)
    figure = make_subplots(
        1, len(regularizers), subplot_titles=[label(name) for name in regularizers],
        shared_yaxes=True, horizontal_spacing=0.04,
    )  # fmt: skip
    for panel, weights in enumerate(regularizers.values(), 1):
        for k, noise in enumerate(noises):
            errors = expected_errors(features, target, weights, noise, grid)
            best = int(errors.argmin())
            figure.add_scatter(
                x=grid,
                y=errors,
                mode="lines",
                line={"color": color(k), "width": 2.5},
                name=f"noise {noise:g}",
                legendgroup=str(noise),
                showlegend=panel == 1,
                hovertemplate="penalty %{x:.3g}: %{y:.4g}<extra></extra>",
                row=1,
                col=panel,
            )
            figure.add_scatter(
                x=[grid[best]],
                y=[errors[best]],
                mode="markers",
                marker={"color": look(theme).strong, "size": 11, "symbol": "star"},
                name="least error",
                showlegend=panel == 1 and k == 0,
                hovertemplate="least: %{y:.4g} at %{x:.3g}<extra></extra>",
                row=1,
                col=panel,
            )
    note = f"exact expectations over {len(np.asarray(target))} places; stars: the best penalty"
    dress(figure, "Regularisers by noise", theme, note=note, **legend_below(top=120))
    figure.update_xaxes(title="penalty λ", type="log", exponentformat="power", dtick=2)
    figure.update_yaxes(title="expected squared error", rangemode="tozero", col=1)
    return figure
