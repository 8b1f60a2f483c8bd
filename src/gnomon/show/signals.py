"""Pictures of signals: traces by class, cluster centres as traces, sound with its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.sequence.speech import spectrogram
from gnomon.show.labels import label
from gnomon.show.theme import SEQUENTIAL, color, dress, look

QUIETEST = 80.0  # decibels below the loudest; 80 is the usual floor of a spectrogram


def signal_traces(
    signals: Sequence[Any],
    classes: Sequence[Any] | None = None,
    *,
    rate: float = 1.0,
    unit: str = "",
    per_class: int = 4,
    theme: str = "light",
) -> go.Figure:
    """Raw signals of any length, a line of panels for each class; all share both axes.

    Texts: 000b 9.3 (accelerations of daily activities).

    Parameters
    ----------
    signals : sequence of array-like of shape (length,) or (length, n_channels)
        They may have different lengths.
    classes : sequence, default=None
        One for each signal.
    rate : float, default=1.0
        Samples for each second; with 1 the axis counts samples.
    unit : str
        Unit of the values.
    per_class : int, default=4
        Signals drawn of each class, the first ones; the note says how many are left out.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(signal_traces([[1, 2, 3], [2, 1]], ["up", "down"]).data)
    2
    """
    kinds = [""] * len(signals) if classes is None else [str(each) for each in classes]
    if len(kinds) != len(signals) or not len(signals):
        raise DataError(f"there are {len(signals)} signals and {len(kinds)} classes")
    names = list(dict.fromkeys(kinds))
    chosen = {name: [k for k, kind in enumerate(kinds) if kind == name] for name in names}
    wide = min(per_class, max(map(len, chosen.values())))
    figure = make_subplots(
        len(names),
        wide,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.03,
        vertical_spacing=min(0.06, 0.2 / len(names)),
        row_titles=[label(name) for name in names],
    )
    channels = 1
    for line, name in enumerate(names):
        for column, k in enumerate(chosen[name][:wide]):
            values = np.asarray(signals[k], dtype=float)
            values = values[:, None] if values.ndim == 1 else values
            channels = max(channels, values.shape[1])
            for c, channel in enumerate(values.T):
                figure.add_scatter(
                    x=np.arange(len(channel)) / rate,
                    y=channel,
                    mode="lines",
                    line={"color": color(c if values.shape[1] > 1 else line), "width": 1.3},
                    name=f"channel {c + 1}",
                    legendgroup=str(c),
                    showlegend=values.shape[1] > 1 and line == 0 and column == 0,
                    hovertemplate=f"signal {k}: %{{y:.4g}} at %{{x:.3g}}<extra></extra>",
                    row=line + 1,
                    col=column + 1,
                )
    left_out = sum(max(len(each) - wide, 0) for each in chosen.values())
    lengths = [len(each) for each in signals]
    note = f"lengths from {min(lengths) / rate:,.4g} to {max(lengths) / rate:,.4g}"
    note += " s" if rate != 1 else " samples"
    if left_out:
        note += f"; {left_out} signals more are not drawn"
    dress(
        figure,
        "Signals by class" if classes is not None else "Signals",
        theme,
        note=note,
        height=140 + max(110 * len(names), 200),
        margin={"l": 80, "r": 60, "t": 90, "b": 110 if channels > 1 else 60},
        legend={"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom"},
    )
    figure.update_xaxes(nticks=4)
    for column in range(wide):
        title = "time (s)" if rate != 1 else "sample"
        figure.update_xaxes(title=title, row=len(names), col=column + 1)
    figure.update_yaxes(title=unit or "value", row=(len(names) + 1) // 2, col=1)
    return figure


def center_traces(
    centers: Any,
    counts: Sequence[int] | None = None,
    *,
    rate: float = 1.0,
    unit: str = "",
    theme: str = "light",
) -> go.Figure:
    """The entries of a dictionary of pieces of signals as small traces, the commonest first.

    Texts: 000b 9.3.

    Parameters
    ----------
    centers : array-like of shape (k, length) or (k, length, n_channels)
        As of ``KMeans.cluster_centers_`` of pieces.
    counts : sequence of int, default=None
        Pieces in each cluster; they are written above, and order the panels.
    rate : float, default=1.0
        Samples for each second.
    unit : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> center_traces([[0, 1], [1, 0]], [3, 9]).layout.annotations[0].text
    'centre 1 (9)'
    """
    tables = np.asarray(centers, dtype=float)
    tables = tables[:, :, None] if tables.ndim == 2 else tables
    if tables.ndim != 3:
        raise DataError(f"centres have a length and perhaps channels, not shape {tables.shape}")
    order = np.arange(len(tables))
    titles = [f"centre {k}" for k in order]
    if counts is not None:
        if len(counts) != len(tables):
            raise DataError(f"there are {len(tables)} centres and {len(counts)} counts")
        sizes = np.asarray(counts)
        order = np.argsort(-sizes, kind="stable")
        titles = [f"centre {k} ({sizes[k]:,})" for k in order]
    wide = min(len(tables), 6)
    lines = -(-len(tables) // wide)
    figure = make_subplots(
        lines,
        wide,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=titles,
        horizontal_spacing=0.015,
        vertical_spacing=0.28 / lines,
    )
    for number, k in enumerate(order):
        for c in range(tables.shape[2]):
            figure.add_scatter(
                x=np.arange(tables.shape[1]) / rate,
                y=tables[k, :, c],
                mode="lines",
                line={"color": color(c), "width": 2},
                showlegend=False,
                hovertemplate=f"centre {k}, channel {c + 1}: %{{y:.4g}}<extra></extra>",
                row=number // wide + 1,
                col=number % wide + 1,
            )
    dress(
        figure,
        f"{len(tables)} centres of pieces of signals",
        theme,
        note="one scale for all" + ("; number of pieces in brackets" if counts is not None else ""),
        height=160 + 170 * lines,
        margin={"l": 80, "r": 30, "t": 120, "b": 60},
    )
    figure.update_annotations(font_size=13)
    figure.update_xaxes(nticks=4)
    figure.update_xaxes(title="time (s)" if rate != 1 else "sample", row=lines)
    figure.update_yaxes(title=unit or "value", col=1)
    return figure


def sound_layers(
    signal: Any,
    rate: float,
    layers: Mapping[str, Sequence[tuple[float, float, str]]] | None = None,
    *,
    window: int = 400,
    hop: int = 160,
    theme: str = "light",
) -> go.Figure:
    """A waveform above its spectrogram and layers of labelled stretches, on one axis of time.

    Texts: 002 "Speech" (layers of words, phonemes and subphonemes).

    Parameters
    ----------
    signal : array-like of shape (n,)
    rate : float
        Samples for each second.
    layers : mapping from names to (start, end, text), default=None
        Times in seconds; the first layer stands highest.
    window, hop : int
        Of `gnomon.sequence.spectrogram`, in samples.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Powers are in decibels below the greatest; what is 80 or more below has one colour.

    Examples
    --------
    >>> import numpy as np
    >>> tone = np.sin(np.arange(2000.0))
    >>> figure = sound_layers(tone, 8000, {"words": [(0, 0.1, "one"), (0.1, 0.25, "two")]})
    >>> [trace.type for trace in figure.data[:2]]
    ['scatter', 'heatmap']
    """
    sound = np.asarray(signal, dtype=float)
    power = spectrogram(sound, window=window, hop=hop)
    loud = 10 * np.log10(np.maximum(power, 1e-300) / max(float(power.max()), 1e-300))
    named = dict(layers or {})
    figure = make_subplots(
        2 + bool(named),
        1,
        shared_xaxes=True,
        row_heights=[0.3, 0.4, 0.1 * len(named)] if named else [0.4, 0.6],
        vertical_spacing=0.03,
    )
    figure.add_scatter(
        x=np.arange(len(sound)) / rate,
        y=sound,
        mode="lines",
        line={"color": color(0), "width": 1},
        showlegend=False,
        name="waveform",
        row=1,
        col=1,
    )
    figure.add_heatmap(
        x=(np.arange(len(power)) * hop + window / 2) / rate,
        y=np.arange(power.shape[1]) * rate / window / 1000,
        z=loud.T,
        zmin=-QUIETEST,
        zmax=0,
        colorscale=SEQUENTIAL,
        colorbar={"title": {"text": "dB"}, "thickness": 12, "len": 0.45, "y": 0.5},
        hovertemplate="%{x:.3f} s, %{y:.2f} kHz: %{z:.0f} dB<extra></extra>",
        row=2,
        col=1,
    )
    if named:
        _layers(figure, named, theme)
    dress(
        figure,
        "Sound, its spectrum over time" + (", and its layers" if named else ""),
        theme,
        note=f"{len(sound) / rate:.3g} s at {rate:,.0f} samples a second; windows of "
        f"{1000 * window / rate:.3g} ms",
        height=430 + 60 * len(named),
    )
    figure.update_yaxes(title="amplitude", row=1)
    figure.update_yaxes(title="frequency (kHz)", row=2)
    figure.update_xaxes(title="time (s)", row=2 + bool(named))
    figure.update_xaxes(range=[0, len(sound) / rate])
    return figure


def _layers(figure: go.Figure, layers: Mapping, theme: str) -> None:
    colors = look(theme)
    for k, (name, stretches) in enumerate(layers.items()):
        for number, (start, end, text) in enumerate(stretches):
            figure.add_scatter(
                x=[start, end, end, start, start],
                y=[k - 0.42, k - 0.42, k + 0.42, k + 0.42, k - 0.42],
                mode="lines",
                fill="toself",
                fillcolor=f"rgba(0,114,178,{0.35 if number % 2 else 0.15})",
                line={"color": colors.faint, "width": 1},
                hoveron="fills",
                name=f"{label(text)}: {start:.3g} to {end:.3g} s",
                hoverinfo="name",
                showlegend=False,
                row=3,
                col=1,
            )
        figure.add_scatter(
            x=[(start + end) / 2 for start, end, _ in stretches],
            y=[k] * len(stretches),
            mode="text",
            text=[label(text) for _, _, text in stretches],
            textfont={"color": colors.ink, "size": 13},
            name=label(name),
            showlegend=False,
            hoverinfo="skip",
            row=3,
            col=1,
        )
    figure.update_yaxes(
        tickvals=list(range(len(layers))),
        ticktext=[label(name) for name in layers],
        range=[len(layers) - 0.5, -0.5],
        showgrid=False,
        row=3,
    )
