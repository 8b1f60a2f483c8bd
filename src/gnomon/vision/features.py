"""Features of images made by hand: local histograms, profiles, responses to patterns.

Texts: 000c 17.1.1 (a pattern detector is a convolution with a bias) · 002 "Histograms of image
windows" · 004 3, 7.1 (row and column histograms, relative to the barycenter and to the extent).
"""

from __future__ import annotations

import numpy as np
import scipy

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.vision.base import FeatureTransformer, ImageFilter
from gnomon.vision.images import resize, windows

# Judgement: shapes that the eye names; weights that cancel, so that even areas give little.
NAMED_PATTERNS = {
    "horizontal bar": [[-1, -1, -1], [2, 2, 2], [-1, -1, -1]],
    "vertical bar": [[-1, 2, -1], [-1, 2, -1], [-1, 2, -1]],
    "spot": [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
    "line ending": [[-1, -1, -1], [-1, 4, -1], [-1, 2, -1]],
}


@method(
    task="filter",
    texts="002 Histograms of image windows",
    use="Textures, or windows to be clustered by a mixture of multinomials.",
    avoid="Shapes: a histogram forgets where in the window a value stands.",
    peers=("skimage.filters.rank.windowed_histogram",),
    takes="images",
)
class LocalHistograms(FeatureTransformer):
    """Histograms of gray values in windows of an image.

    Use it for textures; not for shapes. Values from 0 to 255 fall into `bins` of equal width: 16
    bins are 16 wide (the text's "8" is a misprint). Texts: 002 "Histograms of image windows".

    Parameters
    ----------
    window : int, default=5
        Side of a window in pixels.
    bins : int, default=16
        Number of bins from `low` to `high`.
    step : int, default=None
        Pixels from one window to the next; None for windows side by side.
    low : float, default=0.0
        Least value.
    high : float, default=256.0
        The end of the last bin; values outside count in the first or last bin.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    n_windows_ : ndarray of int of shape (2,)
        Rows and columns of windows.
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import LocalHistograms
    >>> model = LocalHistograms(window=2, bins=2)
    >>> model.fit_transform([[[0, 200], [200, 200]]]).tolist()
    [[1.0, 3.0]]
    """

    _parameter_constraints = {
        **FeatureTransformer._parameter_constraints,
        "window": [whole(1)],
        "bins": [whole(1)],
        "step": [whole(1), None],
        "low": [above(-np.inf)],
        "high": [above(-np.inf)],
    }
    _stored = {"n_windows_": Array("i8", (2,), low=1)}

    def __init__(
        self,
        window=5,
        bins=16,
        *,
        step=None,
        low=0.0,
        high=256.0,
        image_shape=None,
        n_jobs=None,
    ):
        self.window = window
        self.bins = bins
        self.step = step
        self.low = low
        self.high = high
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        if self.window > min(images.shape[1:3]):
            raise DataError(f"a window of {self.window} does not fit in {images.shape[1:3]} pixels")
        if not self.low < self.high:
            raise DataError(f"low={self.low} is not less than high={self.high}")
        step = self.step or self.window
        self.n_windows_ = (np.array(images.shape[1:3]) - self.window) // step + 1

    def _map(self, images: np.ndarray) -> np.ndarray:
        step = self.step or self.window
        scaled = (images.mean(axis=3) - self.low) * (self.bins / (self.high - self.low))
        codes = np.clip(np.floor(scaled), 0, self.bins - 1).astype(np.int64)
        out = np.empty((len(images), *self.n_windows_, self.bins))
        for bin_ in range(self.bins):
            sums = np.zeros((len(images), images.shape[1] + 1, images.shape[2] + 1))
            np.cumsum(np.cumsum(codes == bin_, axis=1), axis=2, out=sums[:, 1:, 1:])
            size = self.window
            full = sums[:, size:, size:] - sums[:, :-size, size:] - sums[:, size:, :-size]
            out[..., bin_] = (full + sums[:, :-size, :-size])[:, ::step, ::step]
        return out.reshape(len(images), -1)


@method(
    task="filter",
    texts="004 3, 7.1",
    use="Few readable numbers for drawings such as digits, for any classifier.",
    avoid="Photographs: their background has no barycenter of ink.",
    peers=("skimage.measure.regionprops",),
    takes="images",
)
class HandFeatures(FeatureTransformer):
    """Row and column profiles, edges and shape of the dark or light part of an image.

    Use it for drawings such as digits; not for photographs. The image is cut at its barycenter
    (the gray value as mass) to a square of its extent, so that place and size do not matter, and
    values are shares of all ink, so that brightness does not matter. Texts: 004 3, 7.1.

    Parameters
    ----------
    n_profile : int, default=8
        Entries of the row profile and of the column profile.
    ink : {"light", "dark"}, default="light"
        Whether high or low values are the ink.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import HandFeatures
    >>> import numpy as np
    >>> bar = np.zeros((1, 9, 9))
    >>> bar[0, 4, 2:7] = 1.0
    >>> HandFeatures(n_profile=3).fit_transform(bar).shape
    (1, 13)
    """

    _parameter_constraints = {
        **FeatureTransformer._parameter_constraints,
        "n_profile": [whole(1)],
        "ink": [StrOptions({"light", "dark"})],
    }

    def __init__(self, n_profile=8, *, ink="light", image_shape=None, n_jobs=None):
        self.n_profile = n_profile
        self.ink = ink
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        """Nothing is learned."""

    def _map(self, images: np.ndarray) -> np.ndarray:
        return np.stack([self._features(image) for image in images.mean(axis=3)])

    def _features(self, image: np.ndarray) -> np.ndarray:
        mass = image - image.min() if self.ink == "light" else image.max() - image
        total = mass.sum()
        if total <= 0:
            return np.zeros(2 * self.n_profile + 7)
        mass = mass / total
        y, x = np.mgrid[: mass.shape[0], : mass.shape[1]]
        dy, dx = y - (mass * y).sum(), x - (mass * x).sum()
        inked = mass > 0.1 * mass.max()
        extent = max(np.abs(dy[inked]).max(), np.abs(dx[inked]).max(), 0.5)
        ends = (-1.0 - 1e-9, 1.0 + 1e-9)
        rows, columns = (
            np.histogram(np.clip(each / extent, -1, 1), self.n_profile, ends, weights=mass)[0]
            for each in (dy, dx)
        )
        spread = [(mass * a * b).sum() / extent**2 for a, b in ((dy, dy), (dx, dx), (dy, dx))]
        across = np.abs(np.diff(mass, axis=1)).sum() * extent
        down = np.abs(np.diff(mass, axis=0)).sum() * extent
        high, wide = np.ptp(y[inked]) + 1, np.ptp(x[inked]) + 1
        shape = [down, across, high / (high + wide), inked.sum() / (high * wide)]
        return np.concatenate([rows, columns, spread, shape])

    def get_feature_names_out(self, input_features=None):
        """Names of the features.

        Parameters
        ----------
        input_features : None
            Not used: pixels have no names.

        Returns
        -------
        names : ndarray of str
        """
        super().get_feature_names_out()
        profiles = [f"{name} {i}" for name in ("row", "column") for i in range(self.n_profile)]
        rest = ("row spread", "column spread", "slant", "row edges", "column edges", "height share")
        return np.array([*profiles, *rest, "fill"], dtype=object)


@method(
    task="filter",
    texts="000c 17.1.1",
    use="Where bars, spots and line endings are in an image, and to see what a convolution does.",
    avoid="Patterns that are not known: learn kernels by a network instead.",
    peers=("skimage.feature.match_template",),
    takes="images",
)
class PatternDetector(ImageFilter):
    """Response of an image to a pattern: a convolution plus a bias, cut at zero.

    Use it to find a known small pattern; not where it is to be learned. The response
    ``max(0, sum I[i+u, j+v] K[u, v] + bias)`` is large where the window looks like the kernel;
    the bias (negative) sets how alike is enough. Edges are padded with zeros, so that the response
    has the size of the image. Texts: 000c 17.1.1.

    Parameters
    ----------
    pattern : str or array-like of shape (rows, columns), default="spot"
        "horizontal bar", "vertical bar", "spot", "line ending", or a kernel with an odd number of
        rows and columns.
    bias : float, default=0.0
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    kernel_ : ndarray of shape (rows, columns)
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import PatternDetector
    >>> PatternDetector([[1.0]], bias=-2.0).fit_transform([[[1.0, 5.0]]]).tolist()
    [[[0.0, 3.0]]]
    """

    _parameter_constraints = {
        **ImageFilter._parameter_constraints,
        "pattern": [StrOptions(set(NAMED_PATTERNS)), "array-like"],
        "bias": [above(-np.inf)],
    }
    _stored = {"kernel_": Array("f8", ("n_kernel_rows", "n_kernel_columns"))}

    def __init__(self, pattern="spot", *, bias=0.0, image_shape=None, n_jobs=None):
        self.pattern = pattern
        self.bias = bias
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        named = isinstance(self.pattern, str)
        kernel = np.array(NAMED_PATTERNS[self.pattern] if named else self.pattern, dtype=np.float64)
        if kernel.ndim != 2 or not kernel.size or not (np.array(kernel.shape) % 2).all():
            raise DataError(f"a pattern has odd numbers of rows and columns, not {kernel.shape}")
        self.kernel_ = kernel

    def _map(self, images: np.ndarray) -> np.ndarray:
        response = scipy.signal.correlate(
            images, self.kernel_[None, :, :, None], mode="same", method="direct"
        )
        return np.maximum(response + self.bias, 0)


@method(
    task="filter",
    texts="000a 2, exercises",
    use="Digits or other drawings that stand anywhere in the image, before pixels are compared.",
    avoid="Photographs, and drawings whose place or size has a meaning.",
    takes="images",
    synonyms=("DigitRecentring",),
)
class DigitCentering(FeatureTransformer):
    """Cut a drawing to a square box around its ink, as it is or stretched.

    Use it before raw pixels of digits become features; not where place or size has a meaning. A
    pixel is ink where it exceeds `threshold`; an image without ink stays empty. Ink that exceeds
    the box is cut off in the middle form. Texts: 000a 2, exercises on MNIST.

    Parameters
    ----------
    form : {"untouched", "bounding box", "stretched"}, default="stretched"
        The image as it is; the ink's range centered in a box of `size`; the ink's range resized
        so that it fills the box.
    size : int, default=20
        Side of the box.
    threshold : float, default=None
        None for the middle between the least and the greatest value of all training images.
    image_shape : tuple, default=None
        Height and width, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    threshold_ : float
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import DigitCentering
    >>> image = [[[0, 0, 0, 0], [0, 0, 9, 0], [0, 0, 0, 0]]]
    >>> DigitCentering("bounding box", 3).fit_transform(image).tolist()
    [[0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0]]
    """

    _parameter_constraints = {
        **FeatureTransformer._parameter_constraints,
        "form": [StrOptions({"untouched", "bounding box", "stretched"})],
        "size": [whole(1)],
        "threshold": [above(-np.inf), None],
    }
    _stored = {"threshold_": Number()}

    def __init__(self, form="stretched", size=20, *, threshold=None, image_shape=None, n_jobs=None):
        self.form = form
        self.size = size
        self.threshold = threshold
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        middle = (float(images.min()) + float(images.max())) / 2
        self.threshold_ = middle if self.threshold is None else float(self.threshold)

    def _map(self, images: np.ndarray) -> np.ndarray:
        flat = images.mean(axis=3)
        if self.form == "untouched":
            return flat.reshape(len(flat), -1)
        return np.stack([self._boxed(image).ravel() for image in flat])

    def _boxed(self, image: np.ndarray) -> np.ndarray:
        out = np.full((self.size, self.size), image.min())
        rows, columns = (np.flatnonzero((image > self.threshold_).any(axis=a)) for a in (1, 0))
        if not len(rows):
            return out
        if self.form == "stretched":
            ink = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            return resize(ink, (self.size, self.size))
        wide = np.pad(image, self.size, constant_values=image.min())
        top, left = (
            int(each[0] + each[-1] + 1 - self.size) // 2 + self.size for each in (rows, columns)
        )
        return windows(wide, self.size, self.size)[top, left]
