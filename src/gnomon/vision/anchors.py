"""Anchor boxes: boxes of several scales and aspects at each point of a grid.

A network that proposes regions scores every anchor; with 3 scales and 3 aspects there are 9 at
each point, and the points are 16 pixels apart.

Texts: 000c 18.2.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError


def anchors_at(points: Any, scales: Any, aspects: Any) -> np.ndarray:
    """Boxes of all scales and aspects around points.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        Centers (x, y).
    scales : sequence of float
        Roots of the areas.
    aspects : sequence of float
        Heights over widths.

    Returns
    -------
    boxes : ndarray of shape (n * n_scales * n_aspects, 4)
        Left, top, right, bottom; aspects vary fastest, points slowest.
    """
    centers = np.asarray(points, dtype=np.float64).reshape(-1, 1, 2)
    size, ratio = np.meshgrid(np.asarray(scales, float), np.asarray(aspects, float), indexing="ij")
    if not size.size or size.min() <= 0 or ratio.min() <= 0:
        raise DataError("scales and aspects are positive numbers, at least one of each")
    half = np.stack([size / np.sqrt(ratio), size * np.sqrt(ratio)], axis=-1).reshape(-1, 2) / 2
    return np.concatenate([centers - half, centers + half], axis=2).reshape(-1, 4)


def make_anchors(
    image_shape: Any,
    *,
    stride: int = 16,
    scales: Any = (128, 256, 512),
    aspects: Any = (0.5, 1.0, 2.0),
) -> np.ndarray:
    """Anchor boxes at every point of a grid over an image (000c 18.2.3).

    Parameters
    ----------
    image_shape : tuple of (height, width)
    stride : int, default=16
        Pixels between points; the first is in the middle of the first cell.
    scales : sequence of float, default=(128, 256, 512)
        Roots of the areas.
    aspects : sequence of float, default=(0.5, 1.0, 2.0)
        Heights over widths.

    Returns
    -------
    anchors : ndarray of shape (rows, columns, n_scales * n_aspects, 4)
        Boxes may reach beyond the image.

    Examples
    --------
    >>> make_anchors((64, 96)).shape
    (4, 6, 9, 4)
    """
    rows, columns = (int(each) // stride for each in image_shape[:2])
    if rows < 1 or columns < 1:
        raise DataError(f"an image of {image_shape[:2]} has no cell of {stride} pixels")
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    points = np.stack([(x + 0.5) * stride, (y + 0.5) * stride], axis=-1)
    return anchors_at(points, scales, aspects).reshape(rows, columns, -1, 4)
