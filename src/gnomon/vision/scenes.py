"""Scenes with known boxes: objects pasted on textures at several scales.

No detector can be measured without images whose boxes are known. A scene is a texture (smoothed
noise of several scales, or stripes) on which small images are pasted at random sizes and places.

Texts: 000c 18.2 (detection of objects in images).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state

from gnomon.engine.errors import DataError
from gnomon.vision.boxes import iou
from gnomon.vision.images import as_images, resize

INK = 0.25  # share of full ink from which a pixel belongs to the box of a pasted drawing
TRIES = 50  # judgement: a free place that 50 draws miss is rare; the object is then left out


@dataclass(frozen=True)
class Scene:
    """An image with the boxes and classes of its objects.

    Attributes
    ----------
    image : ndarray of shape (height, width)
        Gray levels from 0 to 255.
    boxes : ndarray of shape (n, 4)
        Left, top, right, bottom.
    labels : ndarray of shape (n,)
    """

    image: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray


def texture(size: Any, *, random_state: Any = None) -> np.ndarray:
    """A background without objects: smoothed noise of several scales, or stripes.

    Parameters
    ----------
    size : tuple of (height, width)
    random_state : int, RandomState or None, default=None

    Returns
    -------
    image : ndarray of shape (height, width)
        Gray levels from 0 to 255.

    Examples
    --------
    >>> texture((4, 6), random_state=0).shape
    (4, 6)
    """
    rng = check_random_state(random_state)
    height, width = size
    smooth = rng.uniform(0.7, max(height, width) / 6)
    level = gaussian_filter(rng.normal(size=(height, width)), smooth, mode="wrap")
    level /= max(level.std(), 1e-12)
    if rng.uniform() < 0.3:
        angle, period = rng.uniform(0, np.pi), rng.uniform(4, max(height, width) / 3)
        y, x = np.mgrid[:height, :width]
        level += 1.5 * np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / period)
    fine = rng.normal(size=(height, width)) * rng.uniform(0, 0.3)
    return np.clip(rng.uniform(60, 150) + rng.uniform(10, 35) * (level + fine), 0, 255)


def make_scenes(
    n_scenes: int = 100,
    *,
    size: Any = (64, 64),
    n_objects: Any = (1, 3),
    scales: Any = (16, 28),
    objects: Any = None,
    labels: Any = None,
    paste: str = "ink",
    backgrounds: Any = None,
    max_overlap: float = 0.0,
    random_state: Any = None,
) -> list[Scene]:
    """Scenes with boxes: objects on textures, with the truth.

    Parameters
    ----------
    n_scenes : int, default=100
    size : tuple of (height, width), default=(64, 64)
    n_objects : int or tuple of (least, most), default=(1, 3)
        Objects in a scene; fewer where no free place is found in 50 draws.
    scales : tuple of (least, most), default=(16, 28)
        Height of an object in pixels, drawn evenly on a logarithmic scale.
    objects : array-like of shape (n, height, width), default=None
        None for the digits of 8 x 8 pixels that come with scikit-learn.
    labels : array-like of shape (n,), default=None
        Classes of the objects; needed with `objects`.
    paste : {"ink", "opaque"}, default="ink"
        "ink": high values are light ink drawn on the background, and the box is that of the ink.
        "opaque": the object covers the background, as a face does.
    backgrounds : array-like of shape (n, height, width), default=None
        Images resized to `size`, one drawn for each scene; None for `texture`.
    max_overlap : float, default=0.0
        Largest intersection over union of two boxes of a scene.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    scenes : list of Scene

    Examples
    --------
    >>> scene = make_scenes(1, random_state=0)[0]
    >>> scene.image.shape, scene.boxes.shape[1]
    ((64, 64), 4)
    """
    if objects is None:
        from sklearn.datasets import load_digits

        digits = load_digits()
        objects, labels = digits.images, digits.target
    patches = as_images(objects, name="objects")[..., 0]
    names = np.asarray(labels)
    if names.shape != (len(patches),):
        raise DataError(f"{len(patches)} objects need as many labels, not {names.shape}")
    if paste not in ("ink", "opaque"):
        raise DataError(f"paste={paste!r} is neither 'ink' nor 'opaque'")
    least, most = np.broadcast_to(n_objects, 2)
    smallest, largest = scales
    if not 1 <= smallest <= largest or largest > min(size):
        raise DataError(f"scales={scales!r} are no heights of objects in a scene of {size}")
    rng = check_random_state(random_state)
    behind = None if backgrounds is None else as_images(backgrounds, name="backgrounds")[..., 0]
    scenes = []
    for _ in range(n_scenes):
        if behind is None:
            image = texture(size, random_state=rng)
        else:
            image = resize(behind[rng.randint(len(behind))], size)
        boxes: list[list[float]] = []
        chosen: list[int] = []
        for _ in range(rng.randint(least, most + 1)):
            which = rng.randint(len(patches))
            height = round(float(np.exp(rng.uniform(np.log(smallest), np.log(largest)))))
            box = _pasted(image, patches[which], height, paste, boxes, max_overlap, rng)
            if box is not None:
                boxes.append(box)
                chosen.append(which)
        image = np.clip(image, 0, 255)  # blending may round beyond
        scenes.append(Scene(image, np.array(boxes).reshape(-1, 4), names[chosen]))
    return scenes


def _pasted(image, patch, height, paste, boxes, max_overlap, rng) -> list[float] | None:
    """Draw a patch into the image at a free place; its box, or None where none was found."""
    width = min(max(round(height * patch.shape[1] / patch.shape[0]), 1), image.shape[1])
    cover = resize(patch, (height, width))
    inside = [0, 0, width, height]
    if paste == "ink":
        share = np.clip(cover / max(patch.max(), 1e-12), 0, 1)
        rows, columns = (np.flatnonzero((share > INK).any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            return None
        inside = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
    for _ in range(TRIES):
        y = rng.randint(0, image.shape[0] - height + 1)
        x = rng.randint(0, image.shape[1] - width + 1)
        box = [
            float(inside[0] + x),
            float(inside[1] + y),
            float(inside[2] + x),
            inside[3] + y + 0.0,
        ]
        if boxes and iou([box], boxes).max() > max_overlap:
            continue
        part = image[y : y + height, x : x + width]
        part[:] = part * (1 - share) + 255 * share if paste == "ink" else cover
        return box
    return None
