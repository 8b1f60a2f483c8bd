"""Images as arrays: forms of input, resizing that keeps the aspect, crops, channels, tiles, noise.

A set of images is an array (n, height, width) or (n, height, width, channels), or rows of pixels
with ``image_shape``. Resizing is by a triangle filter whose support grows where an image becomes
smaller, so that no pixel is skipped.

Texts: 000a 7.3 (tiles of paired images) · 000c 18.1.3 (resize, crop) · 000c 19.2.3 (noise) ·
000c 18, exercises (gray to RGB).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.table.picture_files import LUMINANCE

CROPS = (
    "center",
    "top left",
    "top right",
    "bottom left",
    "bottom right",
    "left half",
    "right half",
)
NOISES = ("gaussian", "masking", "salt and pepper", "block")


def blank_images(shape: tuple[int, ...]) -> np.ndarray:
    """One image of zeros; refused where it would not fit in memory."""
    need = 8 * math.prod(shape)
    memory.require(need, f"an image of {' x '.join(map(str, shape))}", "Is the file damaged?")
    return np.zeros((1, *shape))


def as_images(X: Any, image_shape: Any = None, name: str = "X") -> np.ndarray:
    """Images of any accepted form as an array with a channel axis.

    Parameters
    ----------
    X : array-like of shape (n, height, width), (n, height, width, channels) or (n, pixels)
    image_shape : tuple of (height, width) or (height, width, channels), default=None
        Needed where `X` has two axes.
    name : str, default="X"
        How an error calls them.

    Returns
    -------
    images : ndarray of float of shape (n, height, width, channels)
        float32 stays float32.

    Examples
    --------
    >>> as_images([[0, 1, 2, 3, 4, 5]], image_shape=(2, 3)).shape
    (1, 2, 3, 1)
    """
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(
            f"{name}: images of different sizes; resize them first ({error})"
        ) from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name}: pixels must be numbers, not {array.dtype}")
    shape = None if image_shape is None else tuple(int(each) for each in image_shape)
    if shape is not None and (len(shape) not in (2, 3) or min(shape) < 1):
        raise DataError(f"image_shape is (height, width) or (height, width, channels), not {shape}")
    if array.ndim == 2:
        if shape is None:
            raise DataError(
                f"{name} has the shape {array.shape}: give image_shape for rows of pixels, or an "
                "array (n, height, width) or (n, height, width, channels); one image is X[None]"
            )
        if array.shape[1] != np.prod(shape):
            raise DataError(
                f"{name} has {array.shape[1]:,} columns, image_shape={shape} needs "
                f"{np.prod(shape):,}"
            )
        array = array.reshape(len(array), *shape)
    elif array.ndim not in (3, 4):
        raise DataError(f"{name} is no set of images: its shape is {array.shape}")
    elif shape is not None and array.shape[1 : 1 + len(shape)] != shape:
        raise DataError(f"{name} has images of {array.shape[1:]}, image_shape is {shape}")
    if array.ndim == 3:
        array = array[..., None]
    if not array.size:
        raise DataError(f"{name} holds no pixel: its shape is {array.shape}")
    images = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    if not np.isfinite(images).all():
        place = int(np.flatnonzero(~np.isfinite(images).reshape(len(images), -1).all(axis=1))[0])
        raise DataError(f"{name}[{place}] has a pixel that is no finite number; fill it first")
    return images


def as_given(images: np.ndarray, X: Any) -> np.ndarray:
    """Images (n, height, width, channels) in the form that `X` has: rows, or without channels."""
    ndim = np.ndim(X)
    if ndim == 2:
        return images.reshape(len(images), -1)
    return images[..., 0] if ndim == 3 and images.shape[3] == 1 else images


def one_image(image: Any, name: str = "image") -> np.ndarray:
    """One image as an array (height, width, channels), checked."""
    array = np.asarray(image)
    if array.ndim not in (2, 3):
        raise DataError(
            f"{name} must have the shape (height, width) or (height, width, channels), not "
            f"{array.shape}"
        )
    return as_images(array[None], name=name)[0]


@lru_cache(maxsize=256)
def resize_weights(n_before: int, n_after: int) -> np.ndarray:
    """Weights (n_after, n_before) of a triangle filter; each line sums to one."""
    scale = n_before / n_after
    support = max(scale, 1.0)
    places = (np.arange(n_after) + 0.5) * scale - 0.5
    weights = np.maximum(1 - np.abs(np.arange(n_before) - places[:, None]) / support, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    weights.flags.writeable = False
    return weights


def resize(images: Any, size: Any) -> np.ndarray:
    """Resize an image, or a set of images, to a height and width.

    Parameters
    ----------
    images : array-like of shape (height, width), (height, width, channels) or with n in front
        An array of three axes whose last has at most 4 entries is one image with channels.
    size : tuple of (height, width)

    Returns
    -------
    resized : ndarray of float
        With the axes of `images`.

    Examples
    --------
    >>> resize(np.array([[0.0, 2.0], [4.0, 6.0]]), (1, 1)).tolist()
    [[3.0]]
    """
    array = np.asarray(images, dtype=np.float64)
    height, width = (int(each) for each in size)
    if height < 1 or width < 1:
        raise DataError(f"size is (height, width), each 1 or more, not {tuple(size)}")
    if array.ndim not in (2, 3, 4):
        raise DataError(f"images have 2 to 4 axes, not {array.ndim}")
    with_channels = array.ndim == 4 or (array.ndim == 3 and array.shape[2] <= 4)
    blocks = array if with_channels else array[..., None]
    down = resize_weights(blocks.shape[-3], height)
    across = resize_weights(blocks.shape[-2], width)
    found = np.einsum("ia,...abc,jb->...ijc", down, blocks, across, optimize=True)
    return found if with_channels else found[..., 0]


def resize_keeping_aspect(image: Any, side: int = 224) -> np.ndarray:
    """Scale an image uniformly so that its smaller side is `side` (000c 18.1.3).

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
    side : int, default=224

    Returns
    -------
    resized : ndarray

    Examples
    --------
    >>> resize_keeping_aspect(np.zeros((40, 60)), 20).shape
    (20, 30)
    """
    array = np.asarray(image)
    height, width = one_image(array).shape[:2]
    factor = side / min(height, width)
    size = (max(round(height * factor), side), max(round(width * factor), side))
    flat = resize(one_image(array), size)
    return flat[..., 0] if array.ndim == 2 else flat


def crop(image: Any, side: Any = None, where: str = "center") -> np.ndarray:
    """A part of an image: its center, a corner or a half.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
    side : int or tuple of (height, width), default=None
        None for the largest square; the halves need none.
    where : str, default="center"
        "center", "top left", "top right", "bottom left", "bottom right", "left half" or
        "right half".

    Returns
    -------
    part : ndarray

    Examples
    --------
    >>> crop(np.arange(9).reshape(3, 3), 1).tolist()
    [[4]]
    """
    array = np.asarray(image)
    height, width = one_image(array).shape[:2]
    if where not in CROPS:
        raise DataError(f"where={where!r} is none of {', '.join(CROPS)}")
    if where.endswith("half"):
        middle = width // 2
        return array[:, :middle] if where == "left half" else array[:, width - middle :]
    rows, columns = np.broadcast_to(min(height, width) if side is None else side, 2)
    if not (0 < rows <= height and 0 < columns <= width):
        raise DataError(f"a crop of {rows} x {columns} does not fit in {height} x {width} pixels")
    down = {"c": (height - rows) // 2, "t": 0, "b": height - rows}[where[0]]
    across = (width - columns) // 2
    if where != "center":
        across = 0 if where.endswith("left") else width - columns
    return array[down : down + rows, across : across + columns]


def five_crops(image: Any, side: Any, *, flips: bool = False) -> np.ndarray:
    """The center and the four corners of an image, with their mirror images where wanted.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
    side : int or tuple of (height, width)
    flips : bool, default=False
        Ten crops: each also with left and right exchanged.

    Returns
    -------
    crops : ndarray of shape (5 or 10, height, width) or with channels

    Examples
    --------
    >>> five_crops(np.zeros((5, 5)), 3, flips=True).shape
    (10, 3, 3)
    """
    parts = np.stack([crop(image, side, where) for where in CROPS[:5]])
    return np.concatenate([parts, parts[:, :, ::-1]]) if flips else parts


def predict_crops(estimator: Any, image: Any, side: Any, *, flips: bool = False) -> np.ndarray:
    """Class probabilities of an image averaged over five or ten crops (000c 18.1.3).

    Parameters
    ----------
    estimator : fitted classifier
        Its ``predict_proba`` takes images of `side`.
    image : array-like of shape (height, width) or (height, width, channels)
    side : int or tuple of (height, width)
    flips : bool, default=False

    Returns
    -------
    proba : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from gnomon.linear import LogisticRegression
    >>> X = np.repeat([0.0, 1.0], 4)[:, None] + np.zeros((8, 4))
    >>> model = LogisticRegression().fit(X, [0] * 4 + [1] * 4)
    >>> predict_crops(model, np.ones((4, 4)), 2).argmax().item()
    1
    """
    parts = five_crops(image, side, flips=flips)
    try:
        proba = estimator.predict_proba(parts)
    except ValueError:
        proba = estimator.predict_proba(parts.reshape(len(parts), -1))
    return np.asarray(proba).mean(axis=0)


def gray_to_rgb(images: Any) -> np.ndarray:
    """Copy the one channel of gray images into red, green and blue.

    Parameters
    ----------
    images : array-like of shape (..., height, width) or (..., height, width, 1)

    Returns
    -------
    images : ndarray of shape (..., height, width, 3)

    Examples
    --------
    >>> gray_to_rgb([[7]]).tolist()
    [[[7, 7, 7]]]
    """
    array = np.asarray(images)
    if array.ndim < 2:
        raise DataError(f"gray images have at least 2 axes, not {array.ndim}")
    blocks = array if array.shape[-1] == 1 and array.ndim > 2 else array[..., None]
    return np.repeat(blocks, 3, axis=-1)


def rgb_to_gray(images: Any) -> np.ndarray:
    """Luminance of color images (ITU-R BT.601).

    Parameters
    ----------
    images : array-like of shape (..., height, width, 3)

    Returns
    -------
    images : ndarray of shape (..., height, width)

    Examples
    --------
    >>> round(float(rgb_to_gray([[[255, 255, 255]]])[0, 0]))
    255
    """
    array = np.asarray(images, dtype=np.float64)
    if array.ndim < 3 or array.shape[-1] != 3:
        raise DataError(
            f"color images have 3 channels in the last axis; the shape is {array.shape}"
        )
    return array @ LUMINANCE


class Tiles(NamedTuple):
    """Tiles cut at the same places from paired images.

    Attributes
    ----------
    first, second : ndarray of shape (n_tiles, size, size) or with channels
    places : ndarray of int of shape (n_tiles, 3)
        Image, row and column of the upper left pixel of each tile.
    """

    first: np.ndarray
    second: np.ndarray
    places: np.ndarray


def colocated_tiles(
    images: Any,
    others: Any,
    masks: Any = None,
    *,
    size: int = 11,
    n_tiles: int = 20,
    random_state: Any = None,
) -> Tiles:
    """Random tiles that lie on the object, cut at the same places of two sets (000a 7.3).

    Parameters
    ----------
    images, others : array-like of shape (n, height, width) or (n, height, width, channels)
        The pairs: `images[i]` belongs to `others[i]`.
    masks : array-like of bool of shape (n, height, width), default=None
        Where the object is; every pixel of a tile is on it. None for all pixels.
    size : int, default=11
    n_tiles : int, default=20
        Tiles of each image, drawn without replacement.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    tiles : Tiles

    Examples
    --------
    >>> pair = np.arange(50.0).reshape(2, 5, 5)
    >>> tiles = colocated_tiles(pair, -pair, size=3, n_tiles=2, random_state=0)
    >>> bool((tiles.first == -tiles.second).all()), tiles.first.shape
    (True, (4, 3, 3))
    """
    a, b = as_images(images, name="images"), as_images(others, name="others")
    n, height, width = a.shape[:3]
    if b.shape[:3] != (n, height, width):
        raise DataError(f"images are {a.shape[:3]}, others {b.shape[:3]}: pairs have one size")
    on = np.ones((n, height, width), bool) if masks is None else np.asarray(masks, dtype=bool)
    if on.shape != (n, height, width):
        raise DataError(f"masks are {on.shape}, images {(n, height, width)}")
    if not 1 <= size <= min(height, width):
        raise DataError(f"a tile of {size} x {size} does not fit in {height} x {width} pixels")
    rng = check_random_state(random_state)
    places = []
    for i in range(n):
        inside = np.argwhere(windows(on[i], size, size).all(axis=(2, 3)))
        if len(inside) < n_tiles:
            raise DataError(
                f"image {i} has {len(inside)} places for a tile of {size} x {size} on its mask; "
                f"{n_tiles} are wanted. Use a smaller size or fewer tiles"
            )
        chosen = inside[rng.choice(len(inside), n_tiles, replace=False)]
        places += [(i, *place) for place in chosen.tolist()]
    cut = [np.stack([each[i, y : y + size, x : x + size] for i, y, x in places]) for each in (a, b)]
    return Tiles(as_given(cut[0], images), as_given(cut[1], others), np.array(places))


def windows(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """All windows of an image (h, w): a view of shape (h - height + 1, w - width + 1, height,
    width).
    """
    return np.lib.stride_tricks.sliding_window_view(image, (height, width))


class Noisy(NamedTuple):
    """Images with noise, and which pixels were changed.

    Attributes
    ----------
    images : ndarray
    changed : ndarray of bool of shape (n, height, width)
    """

    images: np.ndarray
    changed: np.ndarray


def add_noise(
    images: Any,
    kind: str = "gaussian",
    strength: float = 0.1,
    *,
    image_shape: Any = None,
    random_state: Any = None,
) -> Noisy:
    """Add noise of one of four kinds (000c 19.2.3).

    Parameters
    ----------
    images : array-like of shape (n, height, width[, channels]) or (n, pixels)
    kind : {"gaussian", "masking", "salt and pepper", "block"}, default="gaussian"
        Normal noise; pixels set to the smallest value; pixels set to the smallest or largest
        value; one rectangle of an image set to the smallest value.
    strength : float, default=0.1
        Gaussian: the standard deviation as a share of the range of values. Otherwise the share of
        the pixels that are changed.
    image_shape : tuple, default=None
    random_state : int, RandomState or None, default=None

    Returns
    -------
    noisy : Noisy
        Gaussian noise is not clipped.

    Examples
    --------
    >>> add_noise(np.ones((1, 4, 4)), "masking", 0.5, random_state=0).changed.shape
    (1, 4, 4)
    """
    found = as_images(images, image_shape).copy()
    if kind not in NOISES:
        raise DataError(f"kind={kind!r} is none of {', '.join(NOISES)}")
    if strength < 0 or (kind != "gaussian" and strength > 1):
        raise DataError(f"strength={strength} is out of range: a share from 0 to 1")
    rng = check_random_state(random_state)
    n, height, width = found.shape[:3]
    low, high = float(found.min()), float(found.max())
    if kind == "gaussian":
        found += rng.normal(size=found.shape) * strength * ((high - low) or 1.0)
        changed = np.full((n, height, width), strength > 0)
    elif kind == "block":
        changed = np.zeros((n, height, width), dtype=bool)
        rows = max(round(height * np.sqrt(strength)), strength > 0)
        columns = max(round(width * np.sqrt(strength)), strength > 0)
        for i in range(n):
            y = rng.randint(0, height - rows + 1)
            x = rng.randint(0, width - columns + 1)
            changed[i, y : y + rows, x : x + columns] = True
        found[changed] = low
    else:
        changed = rng.uniform(size=(n, height, width)) < strength
        light = changed & (rng.uniform(size=changed.shape) < 0.5) & (kind != "masking")
        found[changed] = low
        found[light] = high
    return Noisy(as_given(found, images), changed)
