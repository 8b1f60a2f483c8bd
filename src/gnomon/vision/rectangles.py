"""Rectangle (Haar-like) features of image windows, by the integral image.

A feature is the mean of the gray blocks less the mean of the white blocks of a pattern of 2, 3 or
4 equal rectangles at a place and size in the window. In a window of 24 x 24 pixels there are
162,336 of them (the text's figure of 160,000 belongs to that window, not to its images of
384 x 288 pixels). With the integral image ``S[y, x] = sum of I above and left`` the sum of any
rectangle takes four reads, so that all features of a size cost the same.

Texts: 002 "Viola-Jones", window features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, lean_subkernel, subkernel
from gnomon.engine.parameters import above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.vision.base import FeatureTransformer

# blocks of a pattern: rows, columns; scikit-image's names
PATTERNS = {
    "type-2-x": (1, 2),
    "type-2-y": (2, 1),
    "type-3-x": (1, 3),
    "type-3-y": (3, 1),
    "type-4": (2, 2),
}
COLUMNS = ("block rows", "block columns", "top", "left", "block height", "block width")


def rectangle_features(
    window: Any, *, patterns: Any = None, growth: float | None = None, step: int = 1
) -> np.ndarray:
    """All rectangle features of a window.

    Parameters
    ----------
    window : tuple of (height, width)
    patterns : sequence of str, default=None
        Of "type-2-x", "type-2-y", "type-3-x", "type-3-y" and "type-4"; None for all five.
    growth : float, default=None
        Factor from one edge length to the next (the text's is 1.5); None for every length.
    step : int, default=1
        Pixels from one place to the next.

    Returns
    -------
    features : ndarray of int of shape (n_features, 6)
        Rows and columns of blocks, top, left, height and width of a block.

    Examples
    --------
    >>> len(rectangle_features((24, 24)))
    162336
    """
    height, width = (int(each) for each in window)
    if height < 1 or width < 1:
        raise DataError(f"a window is (height, width), not {tuple(window)}")
    chosen = tuple(PATTERNS) if patterns is None else tuple(patterns)
    if unknown := set(chosen) - set(PATTERNS):
        raise DataError(f"patterns {sorted(unknown)} are none of {', '.join(PATTERNS)}")
    found = []
    for name in chosen:
        rows, columns = PATTERNS[name]
        for h in _lengths(height // rows, growth):
            tops = np.arange(0, height - rows * h + 1, step)
            for w in _lengths(width // columns, growth):
                lefts = np.arange(0, width - columns * w + 1, step)
                part = np.empty((len(tops) * len(lefts), 6), dtype=np.int64)
                part[:] = (rows, columns, 0, 0, h, w)
                part[:, 2] = np.repeat(tops, len(lefts))
                part[:, 3] = np.tile(lefts, len(tops))
                found.append(part)
    return np.concatenate(found) if found else np.zeros((0, 6), dtype=np.int64)


def _lengths(most: int, growth: float | None) -> list[int]:
    if growth is None:
        return list(range(1, most + 1))
    lengths, length = [], 1.0
    while round(length) <= most:
        lengths.append(round(length))
        length = max(length * growth, round(length) + 1.0)
    return lengths


def integral_image(image: Any) -> np.ndarray:
    """Sums of all pixels above and left of each corner.

    Parameters
    ----------
    image : array-like of shape (..., height, width)

    Returns
    -------
    sums : ndarray of shape (..., height + 1, width + 1)
        With a first row and column of zeros.

    Examples
    --------
    >>> integral_image([[1, 2], [3, 4]])[-1].tolist()
    [0.0, 4.0, 10.0]
    """
    array = np.asarray(image, dtype=np.float64)
    sums = np.zeros((*array.shape[:-2], array.shape[-2] + 1, array.shape[-1] + 1))
    np.cumsum(np.cumsum(array, axis=-2), axis=-1, out=sums[..., 1:, 1:])
    return sums


@method(
    task="filter",
    texts="002 Viola-Jones",
    use="Windows of a detector that must be fast: boosted stumps take a few of the features.",
    avoid="As columns of a large table: there are more than a hundred thousand.",
    peers=("skimage.feature.haar_like_feature",),
    takes="images",
    synonyms=("Haar features", "Haar-like features"),
)
class RectangleFeatures(FeatureTransformer):
    """Differences of the means of neighboring rectangles of a window.

    Use it for windows of a detector, with boosting that selects; not for whole photographs.
    Texts: 002 "Viola-Jones".

    Parameters
    ----------
    patterns : sequence of str, default=None
        Of "type-2-x", "type-2-y", "type-3-x", "type-3-y" and "type-4"; None for all five.
    growth : float, default=None
        Factor from one edge length to the next (the text's is 1.5); None for every length.
    step : int, default=1
        Pixels from one place to the next.
    normalize : bool, default=True
        Divide by the standard deviation of the window, so that contrast does not matter.
    image_shape : tuple, default=None
        Height and width, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    features_ : ndarray of int of shape (n_features, 6)
        Rows and columns of blocks, top, left, height and width of a block.
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import RectangleFeatures
    >>> RectangleFeatures(["type-2-x"], normalize=False).fit_transform([[[5.0, 2.0]]]).tolist()
    [[3.0]]
    """

    _parameter_constraints = {
        **FeatureTransformer._parameter_constraints,
        "patterns": ["array-like", None],
        "growth": [above(1), None],
        "step": [whole(1)],
        "normalize": ["boolean"],
    }
    _stored = {"features_": Array("i8", ("n_rectangles", 6), low=0)}

    def __init__(
        self,
        patterns=None,
        *,
        growth=None,
        step=1,
        normalize=True,
        image_shape=None,
        n_jobs=None,
    ):
        self.patterns = patterns
        self.growth = growth
        self.step = step
        self.normalize = normalize
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        if images.shape[3] != 1:
            raise DataError("rectangle features are of gray images; use gnomon.vision.rgb_to_gray")
        self.features_ = rectangle_features(
            images.shape[1:3], patterns=self.patterns, growth=self.growth, step=self.step
        )
        if not len(self.features_):
            raise DataError(f"none of the patterns fits in {images.shape[1:3]} pixels")
        what = f"{len(self.features_):,} features of {len(images):,} images"
        memory.require(8 * len(images) * len(self.features_), what, "Use growth=1.5 or step=2.")

    def _check_loaded(self) -> None:
        rows, columns, top, left, height, width = self.features_.T
        inside = (top + rows * height <= self.image_shape_[0]) & (
            left + columns * width <= self.image_shape_[1]
        )
        if not inside.all() or (self.features_[:, [0, 1, 4, 5]] < 1).any():
            raise ValueError("a feature does not lie inside the window")

    def _map(self, images: np.ndarray) -> np.ndarray:
        return rectangle_values(images[..., 0], self.features_, self.normalize)

    def _n_features_out(self) -> int:
        return len(self.features_)


def rectangle_values(
    windows: np.ndarray, features: np.ndarray, normalize: bool = True
) -> np.ndarray:
    """Values (n, n_features) of features of windows (n, height, width)."""
    out = np.empty((len(windows), len(features)))
    scale = np.ones(len(windows))
    if normalize:
        spread = windows.reshape(len(windows), -1).std(axis=1)
        scale = 1 / np.where(spread > 0, spread, 1.0)
    fill_rectangles(integral_image(windows), features, scale, out)
    return out


def fill_rectangles(
    sums: np.ndarray, features: np.ndarray, scale: np.ndarray, out: np.ndarray
) -> None:
    """Write values (n, m) of features (m, 6) of integral images (n, h + 1, w + 1), scaled."""
    flat = sums.reshape(len(sums), -1)
    all_rectangles(flat, sums.shape[2], features, run_ends(features), scale, out)


@subkernel
def block_sum(sums, top, left, height, width):
    """Sum of the pixels of a rectangle, from an integral image."""
    bottom, right = top + height, left + width
    return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]


@subkernel
def rectangle_value(sums, feature, y, x):
    """One feature of the window whose upper left pixel is (y, x): gray mean less white mean."""
    rows, columns, height, width = feature[0], feature[1], feature[4], feature[5]
    top, left = y + feature[2], x + feature[3]
    gray = block_sum(sums, top, left, height, width)
    area = float(height * width)
    if rows == 2 and columns == 2:
        gray += block_sum(sums, top + height, left + width, height, width)
        whole = block_sum(sums, top, left, 2 * height, 2 * width)
        return (2 * gray - whole) / (2 * area)
    whole = block_sum(sums, top, left, rows * height, columns * width)
    if rows * columns == 2:
        return (2 * gray - whole) / area
    middle = block_sum(
        sums, top + (rows // 3) * height, left + (columns // 3) * width, height, width
    )
    return (whole - middle) / (2 * area) - middle / area


@kernel("i8[:,:]", "out i8[:]")
def fill_run_ends(features: Any, ends: Any) -> int:
    """Ends of runs of features (m, 6) that differ by one pixel from left to right."""
    runs, m = 0, len(features)
    for j in range(m):
        last = j + 1 == m or features[j + 1, 3] != features[j, 3] + 1
        if not last:
            for k in (0, 1, 2, 4, 5):
                last = last or features[j + 1, k] != features[j, k]
        if last:
            ends[runs] = j + 1
            runs += 1
    return runs


def run_ends(features: np.ndarray) -> np.ndarray:
    """Where runs of features end that differ only in their place, pixel by pixel."""
    ends = np.empty(len(features), dtype=np.int64)
    return ends[: fill_run_ends(features, ends)]


@lean_subkernel
def block_at(s, at, down, across):
    """Sum of a block whose upper left corner is `at` in a flat integral image."""
    return s[at + down + across] - s[at + across] - s[at + down] + s[at]


@lean_subkernel
def run_of_rectangles(s, width, features, start, end, scale, out):
    """Values of the features from `start` to `end`, side by side in a flat integral image.

    Places are unsigned numbers: array reads then need no check for negative ones, so that the
    compiler computes several features at once.
    """
    rows, columns, h, w = (
        features[start, 0],
        features[start, 1],
        features[start, 4],
        features[start, 5],
    )
    area = float(h * w)
    first = np.uint64(features[start, 2] * width + features[start, 3])
    down, across = np.uint64(h * width), np.uint64(w)
    all_down, all_across = np.uint64(rows * h * width), np.uint64(columns * w)
    place, count = np.uint64(start), end - start
    if rows == 2 and columns == 2:
        for k in range(count):
            at = first + np.uint64(k)
            gray = block_at(s, at, down, across)
            gray += block_at(s, at + down + across, down, across)
            whole = block_at(s, at, all_down, all_across)
            out[place + np.uint64(k)] = (2 * gray - whole) / (2 * area) * scale
    elif rows * columns == 2:
        for k in range(count):
            at = first + np.uint64(k)
            gray = block_at(s, at, down, across)
            out[place + np.uint64(k)] = (
                (2 * gray - block_at(s, at, all_down, all_across)) / area * scale
            )
    else:
        inner = np.uint64((rows // 3) * h * width + (columns // 3) * w)
        for k in range(count):
            at = first + np.uint64(k)
            whole = block_at(s, at, all_down, all_across)
            middle = block_at(s, at + inner, down, across)
            out[place + np.uint64(k)] = ((whole - middle) / (2 * area) - middle / area) * scale


@kernel("f8[:,:]", "i8", "i8[:,:]", "i8[:]", "f8[:]", "out f8[:,:]")
def all_rectangles(sums: Any, width: int, features: Any, ends: Any, scale: Any, out: Any) -> None:
    """All features (m, 6) of flat integral images (n, (h + 1) w), times the scale of each image.

    Features between two entries of `ends` differ by one pixel from left to right.
    """
    for i in range(len(sums)):
        s, row, start = sums[i], out[i], 0
        for end in ends:
            run_of_rectangles(s, width, features, start, end, scale[i], row)
            start = end
