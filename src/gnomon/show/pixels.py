"""Pictures of pictures: an image before and after a Markov random field, and where it is unsure."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.theme import SEQUENTIAL, dress

PANEL = 300


def labelled_image(found: Any, image: Any = None, *, theme: str = "light") -> go.Figure:
    """An image before and after cleaning or segmenting, and how unsure each pixel is.

    Texts: 000 15.1, 15.2 (denoising) · 002 "Segmentation".

    Parameters
    ----------
    found : PixelLabels or MixtureSegments
        From `gnomon.graphical`: `denoise_binary`, `denoise_grey`, `label_pixels` or
        `segment_mixture`.
    image : array-like of shape (height, width), default=None
        The image as it was given.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.graphical import denoise_binary
    >>> len(labelled_image(denoise_binary([[1, 1, 1], [1, 0, 1], [1, 1, 1]])).data)
    2
    """
    is_mixture = hasattr(found, "means")
    answer = found.means[found.labels] if is_mixture else np.asarray(found.image)
    if answer.dtype.kind not in "biuf":
        answer = np.unique(answer, return_inverse=True)[1].reshape(answer.shape)
    panels: list[tuple[str, np.ndarray, bool]] = []
    if image is not None:
        given = np.asarray(image, dtype=np.float64)
        if given.shape != answer.shape:
            raise DataError(f"the image is {given.shape}, what was found {answer.shape}")
        panels.append(("as given", given, False))
    panels.append(("segments" if is_mixture else "answer", answer.astype(np.float64), False))
    if found.probabilities is not None:
        panels.append(("unsure", 1 - found.probabilities.max(axis=2), True))
    figure = make_subplots(1, len(panels), subplot_titles=[name for name, _, _ in panels])
    low = min(float(values.min()) for _, values, share in panels if not share)
    high = max(float(values.max()) for _, values, share in panels if not share)
    for number, (name, values, share) in enumerate(panels, 1):
        figure.add_heatmap(
            z=values,
            zmin=0.0 if share else low,
            zmax=1.0 if share else high,
            colorscale=SEQUENTIAL if share else "Greys_r",
            showscale=share,
            colorbar={"title": {"text": "unsure"}, "len": 0.8} if share else None,
            hovertemplate=f"row %{{y}}, column %{{x}}: %{{z:.3g}}<extra>{name}</extra>",
            row=1,
            col=number,
        )
    dress(
        figure,
        _title(found, is_mixture),
        theme,
        note="unsure: 1 less the probability of the chosen value" if panels[-1][2] else "",
        width=PANEL * len(panels) + 120,
        height=PANEL * answer.shape[0] // max(answer.shape[1], 1) + 170
        if answer.shape[0] < 2 * answer.shape[1]
        else 2 * PANEL + 170,
        margin={"l": 30, "r": 30, "t": 120, "b": 20},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    for number in range(1, len(panels) + 1):
        figure.update_yaxes(scaleanchor=f"x{number if number > 1 else ''}", row=1, col=number)
    return figure


def _title(found: Any, is_mixture: bool) -> str:
    if is_mixture:
        return f"Segments of {len(found.means)} normals, neighbours agreeing by {found.beta:g}"
    return f"An image cleaned by {found.method}"
