"""Pictures of forecasts: the fan, errors by horizon, residuals, the parts of a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.show.theme import color, dress, faded, legend_below, look

# Values before the forecast that are drawn: more make the forecast too narrow to read.
MOST_PAST = 400


def forecast_fan(
    dates: Sequence,
    values: Any,
    dates_ahead: Sequence,
    forecast: Any,
    low: Any,
    high: Any,
    *,
    earlier: tuple[Sequence, Any, Any] | None = None,
    name: str = "value",
    note: str = "",
    theme: str = "light",
) -> Any:
    """A series with its forecast and the band of its prediction interval.

    Parameters
    ----------
    dates, values : array-like of shape (n,)
        The series; at most the last 400 values are drawn.
    dates_ahead, forecast, low, high : array-like of shape (horizon,)
    earlier : tuple of dates, low and high, default=None
        The interval of an earlier forecast, to be compared with the values that came.
    name : str, default="value"
    note : str, default=""
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> import numpy as np
    >>> months = np.arange("2020-01", "2024-01", dtype="datetime64[M]").astype(str)
    >>> values = 20 + np.sin(np.arange(48) / 2) + 0.1 * np.arange(48)
    >>> ahead = values[-12:] + 1.2
    >>> figure = forecast_fan(months[:36], values[:36], months[36:], ahead, ahead - 1, ahead + 1)
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    start = max(len(dates) - MOST_PAST, 0)
    if earlier is not None:
        _band(figure, *earlier, color(6), "interval of the last window")
    _band(figure, dates_ahead, low, high, color(1), "interval")
    past = np.asarray(values, dtype=float)[start:]
    figure.add_scatter(
        x=list(dates)[start:],
        y=past,
        mode="lines",
        line={"color": look(theme).ink, "width": 1.5},
        name=name,
    )
    figure.add_scatter(
        x=list(dates_ahead),
        y=np.asarray(forecast),
        mode="lines+markers",
        line={"color": color(1), "width": 2},
        marker={"size": 5},
        name="forecast",
    )
    if start:
        note += f"; the last {MOST_PAST} of {len(dates):,} values are drawn"
    return dress(
        figure, f"Forecast of {name}", theme, note=note, yaxis_title=name, **legend_below()
    )


def _band(figure: Any, dates: Sequence, low: Any, high: Any, code: str, name: str) -> None:
    """A filled band between two lines."""
    xs = [*dates, *list(dates)[::-1]]
    figure.add_scatter(
        x=xs,
        y=[*np.asarray(high).tolist(), *np.asarray(low).tolist()[::-1]],
        fill="toself",
        fillcolor=faded(code),
        line={"color": "rgba(0,0,0,0)"},
        hoverinfo="skip",
        name=name,
    )


def horizon_errors(errors: Mapping[str, Any], *, theme: str = "light") -> Any:
    """The size of errors by horizon, a line for each method.

    Parameters
    ----------
    errors : dict of str to array-like of shape (horizon,)
        In units of the error of the naive forecast on earlier values.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> figure = horizon_errors({"naive": [1.0, 1.2, 1.4], "smoothing": [0.8, 0.9, 1.1]})
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for k, (name, sizes) in enumerate(errors.items()):
        sizes = np.asarray(sizes, dtype=float)
        figure.add_scatter(
            x=np.arange(1, len(sizes) + 1),
            y=sizes,
            mode="lines+markers",
            line={"color": color(k), "width": 2},
            marker={"size": 5},
            name=name,
        )
    return dress(
        figure,
        "Errors by horizon",
        theme,
        xaxis_title="steps ahead",
        yaxis={"title": "scaled error", "rangemode": "tozero"},
        **legend_below(),
    )


def forecast_residuals(
    dates: Sequence, errors: Any, correlations: Any, *, theme: str = "light"
) -> Any:
    """Errors over time, and their autocorrelation with the limits of chance.

    Parameters
    ----------
    dates, errors : array-like of shape (n,)
    correlations : array-like of shape (n_lags + 1,)
        The first is that of lag 0, which is not drawn.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.random.default_rng(0).normal(size=40)
    >>> lags = [1.0, *(np.mean(errors[k:] * errors[:-k]) for k in range(1, 11))]
    >>> figure = forecast_residuals(np.arange(40), errors, lags)
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(1, 2, column_widths=[0.6, 0.4], horizontal_spacing=0.12)
    figure.add_scatter(
        x=list(dates),
        y=np.asarray(errors),
        mode="markers+lines",
        line={"color": faded(color(0), 0.5), "width": 1},
        marker={"color": color(0), "size": 7},
        row=1,
        col=1,
    )
    figure.add_hline(0, line={"color": look(theme).faint, "width": 1}, row=1, col=1)
    bars = np.asarray(correlations, dtype=float)[1:]
    figure.add_bar(
        x=np.arange(1, len(bars) + 1), y=bars, marker_color=color(0), width=0.4, row=1, col=2
    )
    limit = 1.96 / np.sqrt(max(len(np.asarray(errors)), 1))
    for edge in (-limit, limit):
        figure.add_hline(
            edge, line={"color": look(theme).strong, "dash": "dot", "width": 1}, row=1, col=2
        )
    dress(figure, "Errors one step ahead", theme, showlegend=False)
    figure.update_xaxes(title="origin", row=1, col=1)
    figure.update_xaxes(title="lag", row=1, col=2)
    figure.update_yaxes(title="scaled error", row=1, col=1)
    figure.update_yaxes(title="autocorrelation", range=[-1, 1], row=1, col=2)
    return figure


def series_parts(
    dates: Sequence, parts: Mapping[str, Any], *, title: str = "Decomposition", theme: str = "light"
) -> Any:
    """A series and its parts, one below the other.

    Parameters
    ----------
    dates : array-like of shape (n,)
    parts : dict of str to array-like of shape (n,)
    title : str, default="Decomposition"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.arange(60)
    >>> parts = {"trend": 0.1 * steps, "season": np.sin(steps / 2), "rest": 0.1 * np.cos(7 * steps)}
    >>> figure = series_parts(steps, parts)
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(len(parts), 1, shared_xaxes=True, vertical_spacing=0.04)
    for row, (name, values) in enumerate(parts.items(), 1):
        figure.add_scatter(
            x=list(dates),
            y=np.asarray(values),
            mode="lines",
            line={"color": color(row - 1), "width": 1.5},
            row=row,
            col=1,
        )
        figure.update_yaxes(title=name, row=row, col=1)
    return dress(figure, title, theme, showlegend=False, height=140 * len(parts) + 130)
