"""Shaded and colored images without their noise: neighbors agree by the size of their difference.

Grey levels or colors h lean to the observed x, and differ little from pixel to pixel:

    E(h) = c sum_i |grad h_i| + w sum_i |h_i - x_i|^2,

where grad h_i holds the differences of pixel i to the pixels to its right and below, in all
channels: the total variation. A Markov random field like that of `denoise_gray`, but E is convex
and levels are any numbers: shading stays shading, where a price for each pair that differs makes
steps of it, and edges stay, where squared differences blur them. With w = 1 / (2 sd^2) it is the
mode given noise of standard deviation sd.

With lam = c / (2 w) the mode is h = x + div p, where p is the best of the dual problem: the
smallest |x + div p| over |p_i| <= lam. It is found by projected gradients with momentum (Chambolle
2004; Beck and Teboulle 2009). c sum |grad h_i| - 2 w sum <p_i, grad h_i> bounds how far E(h) is
above its least value; the loop ends by this bound.

Texts: 000 15.1 (the field and its costs).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.graphical.images import PixelLabels

TOTAL_VARIATION = "total variation"
STEP = 1 / 8  # of the dual gradient: the norm of grad div is at most 8


def denoise_shaded(
    image: ArrayLike, c: float, *, weight: float = 1.0, tol: float = 1e-3, max_iter: int = 300
) -> PixelLabels:
    """Clean an image of grey levels or colors, whose shading is kept.

    Use it for photographs and other pictures of many levels with noise in every pixel. Where a few
    pixels are wholly wrong, or there are few levels, use a median or `denoise_gray`.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
    c : float
        Cost of one unit of difference between neighbors.
    weight : float, default=1
        Of the squared distances to the image; 1 / (2 variance of the noise) makes it a posterior.
    tol : float, default=1e-3
        Share of the cost by which the answer may be above the least one.
    max_iter : int, default=300

    Returns
    -------
    cleaned : PixelLabels

    Examples
    --------
    >>> denoise_shaded([[0.0, 10.0]], 4.0).image.tolist()
    [[2.0, 8.0]]
    """
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim not in (2, 3) or not pixels.size or not np.isfinite(pixels).all():
        raise DataError("an image is a grid (height, width) or (height, width, n_channels) of "
                        "finite numbers")  # fmt: skip
    if not c >= 0 or not weight > 0:
        raise DataError("c must not be negative: neighbors would differ; weight must be positive")
    x = pixels[:, :, None] if pixels.ndim == 2 else pixels
    most = c / (2 * weight)
    dual = ahead = np.zeros((2, *x.shape))
    momentum, history = 1.0, []
    for _ in range(max_iter):
        moved = _held(ahead + STEP * _differences(x + _divergence(ahead)), most)
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / faster * (moved - dual)
        dual, momentum = moved, faster
        change = _divergence(dual)
        slopes = _differences(x + change)
        variation = c * float(_lengths(slopes).sum())
        history.append(variation + weight * float((change**2).sum()))
        above = variation - 2 * weight * float((dual * slopes).sum())
        if above <= tol * history[-1]:
            break
    cleaned = (x + change).reshape(pixels.shape)
    return PixelLabels(cleaned, None, history[-1], history, TOTAL_VARIATION)


def _differences(x: np.ndarray) -> np.ndarray:
    """Differences to the pixels below and to the right, 0 at the border. x (h, w, channels)."""
    found = np.zeros((2, *x.shape))
    found[0, :-1] = x[1:] - x[:-1]
    found[1, :, :-1] = x[:, 1:] - x[:, :-1]
    return found


def _divergence(p: np.ndarray) -> np.ndarray:
    """The negative transpose of `_differences`."""
    found = np.zeros(p.shape[1:])
    found[:-1] += p[0, :-1]
    found[1:] -= p[0, :-1]
    found[:, :-1] += p[1, :, :-1]
    found[:, 1:] -= p[1, :, :-1]
    return found


def _lengths(p: np.ndarray) -> np.ndarray:
    """The length of each pixel's vector, of both directions and all channels."""
    return np.sqrt(np.einsum("khwc,khwc->hw", p, p))


def _held(p: np.ndarray, most: float) -> np.ndarray:
    """Each pixel's vector, shortened to a length of at most `most`."""
    shares = most / np.maximum(_lengths(p), most) if most > 0 else np.zeros(p.shape[1:3])
    return p * shares[None, :, :, None]
