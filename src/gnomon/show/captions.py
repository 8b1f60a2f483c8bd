"""Images with their true and predicted words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.arrows import one_scale
from gnomon.show.labels import label
from gnomon.show.theme import dress

TRUE, PREDICTED, BOX = "#C1272D", "#00795B", "#F0E442"


def captioned_images(
    images: Sequence[Any],
    true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    cosines: Sequence[float],
    *,
    columns: int = 4,
    theme: str = "light",
) -> go.Figure:
    """Images with their true words (red, after T) and predicted ones (green, after P), and a score.

    Colours alone do not tell them apart: the letters do, and words that are right are bold. The
    cosine between both stands in a yellow box. Texts: 000a 7.2 (figures 7.2-7.4).

    Parameters
    ----------
    images : sequence of array-like of shape (height, width) or (height, width, 3)
        Colours from 0 to 1, or from 0 to 255.
    true, y_pred : sequence of sequences of str
        Words of each image.
    cosines : sequence of float
    columns : int, default=4
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = captioned_images([[[0, 1], [1, 0]]], [["sea"]], [["sea", "sky"]], [0.71])
    >>> [note.text for note in figure.layout.annotations]
    ['T: <b>sea</b>', 'P: <b>sea</b>, sky', '0.71']
    """
    n = len(images)
    if not n or {len(true), len(y_pred), len(cosines)} != {n}:
        raise DataError(
            f"{n} images need as many lists of words and cosines, not {len(true)}, "
            f"{len(y_pred)} and {len(cosines)}"
        )
    wide = min(columns, n)
    lines = -(-n // wide)
    figure = make_subplots(lines, wide, horizontal_spacing=0.03, vertical_spacing=0.24 / lines)
    for k, image in enumerate(images):
        place = {"row": k // wide + 1, "col": k % wide + 1}
        _draw(figure, np.asarray(image, dtype=float), place)
        number = "" if k == 0 else str(k + 1)
        said = (
            ("T", true[k], y_pred[k], TRUE if theme == "light" else "#FF7B72", -2),
            ("P", y_pred[k], true[k], PREDICTED if theme == "light" else "#3DDC97", -21),
        )
        for letter, words, others, tint, shift in said:
            figure.add_annotation(
                x=0,
                y=0,
                xref=f"x{number} domain",
                yref=f"y{number} domain",
                xanchor="left",
                yanchor="top",
                yshift=shift,
                text=f"{letter}: " + _words(words, set(others)),
                showarrow=False,
                font={"color": tint, "size": 13},
            )
        figure.add_annotation(
            x=1,
            y=1,
            xref=f"x{number} domain",
            yref=f"y{number} domain",
            xanchor="right",
            yanchor="top",
            text=f"{cosines[k]:.2f}",
            showarrow=False,
            bgcolor=BOX,
            bordercolor="#000000",
            font={"color": "#000000", "size": 13},
        )
    dress(
        figure,
        "True and predicted words",
        theme,
        note="T true, P predicted, bold where both agree; in the box: cosine between them",
        width=250 * wide + 60,
        height=290 * lines + 120,
        margin={"l": 30, "r": 30, "t": 90, "b": 60},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    one_scale(figure, *range(1, n + 1))
    return figure


def _words(words: Sequence[str], agreed: set, most: int = 5) -> str:
    """Words with commas, those that agree bold; more than a few are counted."""
    shown = [f"<b>{label(w, 12)}</b>" if w in agreed else label(w, 12) for w in words[:most]]
    more = f" +{len(words) - most}" if len(words) > most else ""
    return ", ".join(shown) + more


def _draw(figure: go.Figure, pixels: np.ndarray, place: dict[str, int]) -> None:
    if pixels.ndim == 3:
        scale = 1.0 if pixels.max(initial=0.0) > 1 else 255.0
        figure.add_trace(go.Image(z=pixels * scale, hoverinfo="skip"), **place)
        return
    figure.add_heatmap(z=pixels, colorscale="Greys_r", showscale=False, hoverinfo="skip", **place)
