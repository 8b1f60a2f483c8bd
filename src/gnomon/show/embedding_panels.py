"""Maps of the same rows side by side: a row that is pointed at or selected is marked in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import COLORS, SEQUENTIAL, dress, look

MOST_LEVELS = 8  # as many as there are colors
PANELS_IN_A_ROW = 2  # judgement: panels stay wide enough to select rows in


def embeddings(
    maps: Mapping[str, Any],
    colors: Mapping[str, Sequence[Any]] | None = None,
    *,
    notes: Mapping[str, str] | None = None,
    ids: Sequence[Any] | None = None,
    far: Sequence[int] = (),
    theme: str = "light",
) -> go.Figure:
    """Two-dimensional maps of the same rows, coloured by any column.

    Choose the column in the menu. In a report, a row that is pointed at is named in all maps, and
    rows selected in one are marked in all. Distances on a map have no unit, and its axes no meaning
    save for linear ones. Texts: 000a 6 (maps of faces and words) · 004 6.

    Parameters
    ----------
    maps : dict of str to array-like of shape (n, 2)
    colors : dict of str to sequence, default=None
        Columns to colour by: numbers, or at most eight categories.
    notes : dict of str to str, default=None
        Said above each map, such as how far it can be trusted.
    ids : sequence, default=None
        What rows are called; by default their numbers, from one.
    far : sequence of int, default=()
        Rows that are marked as outliers.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = embeddings({"a": [[0, 0], [1, 1]], "b": [[0, 1], [1, 0]]}, {"kind": ["x", "y"]})
    >>> [trace.type for trace in figure.data]
    ['scatter', 'scatter']
    """
    places = {name: np.asarray(place, dtype=float) for name, place in maps.items()}
    sizes = {place.shape for place in places.values()}
    if len(sizes) != 1 or len(next(iter(sizes))) != 2 or next(iter(sizes))[1] != 2:
        raise DataError(f"maps must all be of shape (n, 2); they are of {sorted(sizes)}")
    n = next(iter(sizes))[0]
    names = [str(each) for each in (ids if ids is not None else range(1, n + 1))]
    n_columns = min(PANELS_IN_A_ROW, len(places))
    n_lines = -(-len(places) // n_columns)
    titles = [_panel_title(name, notes) for name in places]
    figure = make_subplots(
        n_lines, n_columns, subplot_titles=titles, horizontal_spacing=0.05, vertical_spacing=0.12
    )
    paints = {name: _paint(values) for name, values in (colors or {}).items()}
    first = next(iter(paints.values()), _plain(n))
    symbols = np.full(n, "circle", dtype=object)
    symbols[list(far)] = "diamond-open"
    for panel, place in enumerate(places.values()):
        figure.add_scatter(
            x=place[:, 0],
            y=place[:, 1],
            mode="markers",
            customdata=np.arange(n),
            text=names,
            marker={
                "size": 6,
                "opacity": 0.75,
                "symbol": symbols,
                **first["marker"],
                "colorbar": first["bar"] | {"len": 0.8} if panel == 0 else None,
                "showscale": panel == 0 and bool(paints),
            },
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
            row=panel // n_columns + 1,
            col=panel % n_columns + 1,
        )
    figure.update_xaxes(showticklabels=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, zeroline=False)
    for panel in range(len(places)):
        axis = "" if panel == 0 else str(panel + 1)
        figure.layout[f"yaxis{axis}"].update(scaleanchor=f"x{axis}", constrain="domain")
        figure.layout[f"xaxis{axis}"].constrain = "domain"
    note = "diamonds are outliers" if len(far) else ""
    dressed = dress(
        figure,
        "Maps of the same rows",
        theme,
        note=note,
        width=980,
        height=170 + 430 * n_lines,
        margin={"t": 150},
    )
    dressed.update_layout(meta={"linked": "maps"}, dragmode="lasso", hovermode="closest")
    if len(paints) > 1:
        dressed.update_layout(updatemenus=[_menu(paints, len(places), theme)])
    return dressed


def _panel_title(name: str, notes: Mapping[str, str] | None) -> str:
    said = (notes or {}).get(name, "")
    small = f"<br><span style='font-size:11px'>{label(said, 90)}</span>" if said else ""
    return label(name) + small


def _plain(n: int) -> dict[str, Any]:
    return {"marker": {"color": [COLORS[0]] * n}, "bar": {}}


def _paint(values: Sequence[Any]) -> dict[str, Any]:
    """Colours of a column: a scale for numbers, one each for categories."""
    column = np.asarray(values, dtype=object)
    try:
        numbers = column.astype(float)
    except (TypeError, ValueError):
        return _paint_levels(column)
    if len(np.unique(numbers[np.isfinite(numbers)])) < 2:
        return _plain(len(column))
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    marker = {"color": numbers, "colorscale": SEQUENTIAL, "cmin": low, "cmax": high}
    return {"marker": marker, "bar": {"tickmode": "auto"}}


def _paint_levels(column: np.ndarray) -> dict[str, Any]:
    levels, counts = np.unique(column.astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = [str(level) for level in levels[order][:MOST_LEVELS]]
    if len(levels) > MOST_LEVELS:
        kept = [*kept[: MOST_LEVELS - 1], "(others)"]
    codes = np.array(
        [kept.index(each) if each in kept else len(kept) - 1 for each in column.astype(str)]
    )
    k = len(kept)
    scale = [[edge, COLORS[place]] for place in range(k) for edge in (place / k, (place + 1) / k)]
    marker = {"color": codes, "colorscale": scale, "cmin": -0.5, "cmax": k - 0.5}
    bar = {
        "tickmode": "array",
        "tickvals": list(range(k)),
        "ticktext": [label(each) for each in kept],
    }
    return {"marker": marker, "bar": bar}


def _menu(paints: Mapping[str, dict[str, Any]], n_maps: int, theme: str) -> dict[str, Any]:
    """The menu of columns to colour by."""
    buttons = []
    for name, paint in paints.items():
        marker = paint["marker"]
        change = {
            "marker.color": [marker["color"]] * n_maps,
            "marker.colorscale": [marker.get("colorscale", SEQUENTIAL)] * n_maps,
            "marker.cmin": marker.get("cmin"),
            "marker.cmax": marker.get("cmax"),
            "marker.colorbar.tickmode": paint["bar"].get("tickmode", "auto"),
            "marker.colorbar.tickvals": [paint["bar"].get("tickvals")] * n_maps,
            "marker.colorbar.ticktext": [paint["bar"].get("ticktext")] * n_maps,
        }
        buttons.append({"label": label(name), "method": "restyle", "args": [change]})
    colors = look(theme)
    return {
        "buttons": buttons,
        "x": 1.0,
        "xanchor": "right",
        "y": 1.0,
        "yanchor": "bottom",
        "pad": {"b": 52},
        "bgcolor": colors.paper,
        "bordercolor": colors.grid,
        "font": {"color": colors.ink, "size": 12},
        "showactive": False,
    }
