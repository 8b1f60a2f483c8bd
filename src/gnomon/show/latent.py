"""Pictures of codes: what lies between two rows, decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from gnomon.engine.errors import DataError
from gnomon.show.theme import dress

GAP = 2  # pixels between images
CELL = 84  # width of an image on the page


def latent_interpolation_grid(
    coder: Any,
    starts: Any,
    ends: Any,
    *,
    image_shape: tuple[int, int] | None = None,
    n_steps: int = 7,
    theme: str = "light",
) -> go.Figure:
    """Images along straight lines between the codes of pairs of images.

    Each line shows the first image, `n_steps` decoded codes at equal distances from the code of the
    first to that of the last, and the last image. Texts: 000c exercise 19.5.

    Parameters
    ----------
    coder : estimator
        Fitted, with ``transform`` and ``inverse_transform``: `gnomon.neural.VariationalAutoencoder`
        or another autoencoder, or `gnomon.reduce.PCA`.
    starts, ends : array-like of shape (n_pairs, n_pixels)
    image_shape : (int, int), default=None
        Height and width; square by default.
    n_steps : int, default=7
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.reduce import PCA
    >>> images = np.random.default_rng(0).random((20, 16))
    >>> figure = latent_interpolation_grid(PCA(3).fit(images), images[:2], images[2:4])
    >>> figure.data[0].z.shape
    (10, 52)
    """
    first, last = np.asarray(starts, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if first.shape != last.shape or first.ndim != 2:
        raise DataError(f"starts and ends must be rows in pairs, not {first.shape}, {last.shape}")
    if image_shape is None:
        side = round(np.sqrt(first.shape[1]))
        image_shape = side, side
    height, width = image_shape
    if height * width != first.shape[1]:
        raise DataError(f"image_shape={image_shape} does not fit rows of {first.shape[1]} pixels")
    shares = np.linspace(0, 1, n_steps)
    from_codes, to_codes = coder.transform(first), coder.transform(last)
    columns = [first]
    columns += [coder.inverse_transform((1 - s) * from_codes + s * to_codes) for s in shares]
    columns.append(last)
    mosaic = np.full(
        (len(first) * (height + GAP) - GAP, len(columns) * (width + GAP) - GAP), np.nan
    )
    for j, images in enumerate(columns):
        for i, image in enumerate(np.asarray(images).reshape(-1, height, width)):
            top, left = i * (height + GAP), j * (width + GAP)
            mosaic[top : top + height, left : left + width] = image
    figure = go.Figure(
        go.Heatmap(
            z=mosaic,
            zmin=float(first.min()),
            zmax=float(first.max()),
            colorscale="Greys_r",
            showscale=False,
            hovertemplate="%{z:.3g}<extra></extra>",
        )
    )
    tall = CELL * height // width
    dress(
        figure,
        "Between pairs of images",
        theme,
        note=f"first and last column: images; between them: {n_steps} decoded codes of equal steps",
        width=CELL * len(columns) + 60,
        height=tall * len(first) + 130,
        margin={"l": 30, "r": 30, "t": 100, "b": 20},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    return figure
