"""Selective search: boxes that may hold an object, from a hierarchy of regions.

Pixels are merged into small regions of like gray or color along a grid of neighbors; then the two
most alike neighboring regions are merged until one is left. Every region on the way gives a box.
Alike means: the same colors and textures (histogram intersection), small (so that all scales
occur), and filling the box around both.

    s = s_color + s_texture + s_size + s_fill

Texts: 000c 18.2.2.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from gnomon.engine.errors import DataError
from gnomon.vision.images import one_image

# Judgement: half of Uijlings et al.'s 25 colors, and their 8 directions.
COLOR_BINS, TEXTURE_BINS = 12, 8


class Proposals(NamedTuple):
    """Boxes that may hold an object, the most likely first.

    Attributes
    ----------
    boxes : ndarray of shape (n, 4)
        Left, top, right, bottom.
    scores : ndarray of shape (n,)
        Larger for regions that differ more from what is around them.
    """

    boxes: np.ndarray
    scores: np.ndarray


def selective_search(
    image: Any, *, n_boxes: int = 2000, min_size: int = 16, sigma: float = 0.8
) -> Proposals:
    """Boxes that may hold an object, by merging regions (000c 18.2.2).

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
        Values from 0 to 255.
    n_boxes : int, default=2000
        Most boxes.
    min_size : int, default=16
        Pixels of the smallest region.
    sigma : float, default=0.8
        Smoothing before the first regions are made.

    Returns
    -------
    proposals : Proposals

    Examples
    --------
    >>> image = np.zeros((24, 24))
    >>> image[6:14, 8:20] = 200.0
    >>> [8.0, 6.0, 20.0, 14.0] in selective_search(image, sigma=0).boxes.tolist()
    True
    """
    pixels = one_image(image)
    if n_boxes < 1 or min_size < 1:
        raise DataError("n_boxes and min_size are 1 or more")
    labels = first_regions(gaussian_filter(pixels, (sigma, sigma, 0)), min_size)
    return _merged(pixels, labels, n_boxes)


def first_regions(image: np.ndarray, min_size: int) -> np.ndarray:
    """Labels (height, width) of small regions: neighbors join where they differ little.

    Edges between neighboring pixels are taken by rising difference; two regions join where the
    edge is at most the least inner difference plus k / size of either (Felzenszwalb and
    Huttenlocher), k such that regions of `min_size` pixels join easily.
    """
    height, width = image.shape[:2]
    places = np.arange(height * width).reshape(height, width)
    gaps, ends = [], []
    for axis in (0, 1):
        gaps.append(np.sqrt((np.diff(image, axis=axis) ** 2).sum(axis=2)).ravel())
        ahead = np.moveaxis(places, axis, 0)
        ends.append(
            np.stack([np.moveaxis(each, 0, axis).ravel() for each in (ahead[:-1], ahead[1:])])
        )
    gap, end = np.concatenate(gaps), np.concatenate(ends, axis=1)
    order = np.argsort(gap, kind="stable")
    parent = list(range(height * width))
    size = [1] * len(parent)
    limit = [6.0 * min_size] * len(parent)

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    pairs = list(zip(*end[:, order].tolist()))
    levels = gap[order].tolist()
    for small_too in (False, True):
        for level, (i, j) in zip(levels, pairs):
            a, b = root(i), root(j)
            if a == b:
                continue
            tiny = small_too and min(size[a], size[b]) < min_size
            if tiny or (not small_too and level <= min(limit[a], limit[b])):
                parent[b] = a
                size[a] += size[b]
                limit[a] = level + 6.0 * min_size / size[a]
    roots = np.array([root(i) for i in range(len(parent))])
    return np.unique(roots, return_inverse=True)[1].reshape(height, width)


def _merged(pixels: np.ndarray, labels: np.ndarray, n_boxes: int) -> Proposals:
    height, width = labels.shape
    n = int(labels.max()) + 1
    flat = labels.ravel()
    y, x = np.divmod(np.arange(height * width), width)
    size = np.bincount(flat, minlength=n).astype(float)
    box = np.empty((n, 4))
    for place, (values, sign) in enumerate(((x, 1), (y, 1), (x + 1, -1), (y + 1, -1))):
        ends = np.full(n, np.inf)
        np.minimum.at(ends, flat, sign * values)
        box[:, place] = sign * ends
    color = _histograms(flat, n, pixels.reshape(len(flat), -1) / 256 * COLOR_BINS, COLOR_BINS)
    slopes = np.stack(
        np.gradient(pixels.mean(axis=2)) if min(height, width) > 1 else [pixels[..., 0]] * 2
    )
    angle = (np.arctan2(slopes[0], slopes[1]) / np.pi + 1) / 2 * TEXTURE_BINS
    strength = np.hypot(slopes[0], slopes[1]).ravel()
    texture = _histograms(flat, n, angle.reshape(-1, 1), TEXTURE_BINS, strength)
    neighbors = _neighbors(labels, n)
    regions = {i: (size[i], box[i], color[i], texture[i]) for i in range(n)}
    total = float(height * width)
    queue = [
        (-_alike(regions[i], regions[j], total), i, j)
        for i in range(n)
        for j in neighbors[i]
        if i < j
    ]
    heapq.heapify(queue)
    boxes, scores = [tuple(each) for each in box], [0.0] * n
    new = n
    while queue:
        value, i, j = heapq.heappop(queue)
        if i not in regions or j not in regions:
            continue
        a, b = regions.pop(i), regions.pop(j)
        scores[i], scores[j] = scores[i] + 4 + value, scores[j] + 4 + value
        regions[new] = _union(a, b)
        around = (neighbors.pop(i) | neighbors.pop(j)) - {i, j}
        neighbors[new] = around
        for k in around:
            neighbors[k] = (neighbors[k] - {i, j}) | {new}
            heapq.heappush(queue, (-_alike(regions[k], regions[new], total), k, new))
        boxes.append(tuple(regions[new][1]))
        scores.append(0.0)
        new += 1
    best: dict[tuple, float] = {}
    for each, score in zip(boxes, scores):
        best[each] = max(best.get(each, -np.inf), score)
    order = sorted(best, key=lambda each: (-best[each], each))[:n_boxes]
    return Proposals(np.array(order, dtype=float), np.array([best[each] for each in order]))


def _histograms(flat, n, values, bins, weights=None) -> np.ndarray:
    """Histograms (n, channels * bins) of each region, each of sum one."""
    codes = np.clip(values.astype(int), 0, bins - 1)
    parts = [
        np.bincount(flat * bins + codes[:, c], weights, minlength=n * bins).reshape(n, bins)
        for c in range(codes.shape[1])
    ]
    found = np.hstack(parts).astype(float)
    return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-12)


def _neighbors(labels: np.ndarray, n: int) -> dict[int, set[int]]:
    pairs = np.concatenate(
        [
            np.stack([labels[:-1].ravel(), labels[1:].ravel()]),
            np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()]),
        ],
        axis=1,
    )
    found: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, j in np.unique(pairs[:, pairs[0] != pairs[1]], axis=1).T.tolist():
        found[i].add(j)
        found[j].add(i)
    return found


def _union(a: tuple, b: tuple) -> tuple:
    size = a[0] + b[0]
    box = np.concatenate([np.minimum(a[1][:2], b[1][:2]), np.maximum(a[1][2:], b[1][2:])])
    color, texture = ((a[0] * a[k] + b[0] * b[k]) / size for k in (2, 3))
    return size, box, color, texture


def _alike(a: tuple, b: tuple, total: float) -> float:
    """From 0 to 4: color, texture, smallness, fill."""
    wide, high = np.maximum(a[1][2:], b[1][2:]) - np.minimum(a[1][:2], b[1][:2])
    size = a[0] + b[0]
    overlap = np.minimum(a[2], b[2]).sum() + np.minimum(a[3], b[3]).sum()
    return float(overlap + (1 - size / total) + (1 - (wide * high - size) / total))
