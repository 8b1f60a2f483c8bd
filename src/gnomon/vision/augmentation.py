"""More training images from few: crops, small turns, scales, mirror images and brightness.

Every pixel of a new image comes from inside the old one: after a turn and a change of scale the
largest crop that holds no unknown pixel bounds what may be cut. Augment training images only.

Texts: 000c 18.1.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import map_coordinates
from sklearn.utils import check_random_state

from gnomon.engine.errors import DataError
from gnomon.vision.images import as_given, as_images


class Augmented(NamedTuple):
    """New images, and from which image each was made.

    Attributes
    ----------
    images : ndarray
    sources : ndarray of int
    """

    images: np.ndarray
    sources: np.ndarray


def augment_images(
    images: Any,
    n_copies: int = 4,
    *,
    rotation: float = 10.0,
    zoom: Any = (0.85, 1.0),
    flip: bool = False,
    brightness: float = 0.1,
    image_shape: Any = None,
    random_state: Any = None,
) -> Augmented:
    """Images with random crops, turns, scales, mirror images and brightness, of the same size.

    Parameters
    ----------
    images : array-like of shape (n, height, width[, channels]) or (n, pixels)
    n_copies : int, default=4
        New images from each; the given ones are not among them.
    rotation : float, default=10.0
        Largest turn in degrees, to either side.
    zoom : tuple of (least, most), default=(0.85, 1.0)
        Side of the cut part as a share of the largest that a turn allows; at most 1.
    flip : bool, default=False
        Exchange left and right of half of them; not for digits and letters.
    brightness : float, default=0.1
        Largest change of brightness, as a share of the range of values.
    image_shape : tuple, default=None
    random_state : int, RandomState or None, default=None

    Returns
    -------
    augmented : Augmented

    Examples
    --------
    >>> found = augment_images(np.ones((2, 8, 8)), 3, random_state=0)
    >>> found.images.shape, found.sources.tolist()
    ((6, 8, 8), [0, 0, 0, 1, 1, 1])
    """
    given = as_images(images, image_shape)
    least, most = np.broadcast_to(zoom, 2)
    if not 0 < least <= most <= 1:
        raise DataError(f"zoom={zoom!r}: shares of the image, above 0 and at most 1")
    if n_copies < 1 or rotation < 0 or brightness < 0:
        raise DataError("n_copies is 1 or more; rotation and brightness are not negative")
    rng = check_random_state(random_state)
    sources = np.repeat(np.arange(len(given)), n_copies)
    span = float(given.max() - given.min())
    out = np.empty((len(sources), *given.shape[1:]))
    for place, source in enumerate(sources):
        angle = np.deg2rad(rng.uniform(-rotation, rotation))
        share = rng.uniform(least, most)
        shift = rng.uniform(-1, 1, 2)
        new = _turned_part(given[source], angle, share, shift)
        if flip and rng.uniform() < 0.5:
            new = new[:, ::-1]
        out[place] = new + rng.uniform(-brightness, brightness) * span
    return Augmented(as_given(out, images), sources)


def _turned_part(image: np.ndarray, angle: float, share: float, shift: np.ndarray) -> np.ndarray:
    """A turned rectangle inside the image, resampled to the image's size."""
    height, width = image.shape[:2]
    half = np.array([(height - 1) / 2, (width - 1) / 2])
    cos, sin = np.cos(angle), np.sin(angle)
    # reach of the corners of a turned rectangle of the image's own size, in units of its sides
    reach = np.array(
        [abs(cos) * half[0] + abs(sin) * half[1], abs(sin) * half[0] + abs(cos) * half[1]]
    )
    scale = share * (half / np.maximum(reach, 1e-12)).min() if half.max() > 0 else 1.0
    free = np.maximum(half - scale * reach, 0)
    center = half + shift * free
    y, x = np.mgrid[:height, :width].astype(np.float64)
    y, x = (y - half[0]) * scale, (x - half[1]) * scale
    places = np.stack([center[0] + cos * y + sin * x, center[1] - sin * y + cos * x])
    places = np.clip(places, 0, 2 * half[:, None, None])
    return np.stack(
        [map_coordinates(image[..., c], places, order=1) for c in range(image.shape[2])], axis=-1
    )
