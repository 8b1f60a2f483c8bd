"""Images made comparable: less the mean image, whitened per pixel, or whitened altogether (ZCA).

Per pixel (000c, Procedure 17.1): ``(I - M) / (S + eps)``, M and S the mean and the population
standard deviation of each location over the training images. ZCA as in the code behind 000c
17.2.2: every image less its own mean is scaled by ``mean(std) / max(std, 40)``, and then
``z -> V diag(e / max(sqrt(d), 10)) V' z``, V and d from the second moments of the training images
and ``e = sqrt(mean(d))``; the floors 40 and 10 are for values from 0 to 255.

Texts: 000c 17.2.1 (mean image) · 000c 17.2.2 (whitening).
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.parameters import StrOptions, above, at_least
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.vision.base import ImageFilter

SHAPE = ("height", "width", "channels")


@method(
    task="filter",
    texts="000c 17.2.1",
    use="Before a network or a linear machine on pixels, to take away what all images share.",
    avoid="Where brightness differs from image to image: whiten instead.",
    peers=("torchvision.transforms.Normalize",),
    takes="images",
)
class MeanImageSubtraction(ImageFilter):
    """Subtract the mean training image, or the mean of each channel.

    Use it before networks on pixels; not where locations differ much in spread (`ImageWhitening`).
    Nothing is divided by. Texts: 000c 17.2.1; 000c 18, exercises (mean RGB).

    Parameters
    ----------
    per : {"pixel", "channel"}, default="pixel"
        One mean for each location and channel, or one for each channel.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    mean_ : ndarray of shape (height, width, channels)
        What is subtracted.
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import MeanImageSubtraction
    >>> MeanImageSubtraction().fit_transform([[[1.0, 2.0]], [[3.0, 2.0]]]).tolist()
    [[[-1.0, 0.0]], [[1.0, 0.0]]]
    """

    _parameter_constraints = {
        **ImageFilter._parameter_constraints,
        "per": [StrOptions({"pixel", "channel"})],
    }
    _stored = {"mean_": Array("f", SHAPE)}

    def __init__(self, per="pixel", *, image_shape=None, n_jobs=None):
        self.per = per
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        mean = images.mean(axis=0, dtype=np.float64)
        if self.per == "channel":
            mean = np.broadcast_to(mean.mean(axis=(0, 1)), mean.shape).copy()
        self.mean_ = mean

    def _map(self, images: np.ndarray) -> np.ndarray:
        return images - self.mean_


@method(
    task="filter",
    texts="000c 17.2.2",
    use="Before networks on photographs: every location gets mean 0 and spread 1.",
    avoid="Where many pixels never change: their spread is noise.",
    peers=("sklearn.preprocessing.StandardScaler",),
    takes="images",
)
class ImageWhitening(ImageFilter):
    """Whiten images location by location: (I - M) / (S + eps).

    Use it before networks on photographs; not where most pixels are constant, as in the margins
    of digits. S is the population standard deviation (1/N). Texts: 000c 17.2.2, Procedure 17.1.

    Parameters
    ----------
    eps : float, default=1e-8
        Added to the standard deviation.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (height, width, channels)
        Mean and standard deviation of each location over the training images.
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import ImageWhitening
    >>> ImageWhitening().fit_transform([[[1.0]], [[3.0]]]).round(6).tolist()
    [[[-1.0]], [[1.0]]]
    """

    _parameter_constraints = {**ImageFilter._parameter_constraints, "eps": [above(0)]}
    _stored = {"mean_": Array("f", SHAPE), "scale_": Array("f", SHAPE, low=0.0)}

    def __init__(self, eps=1e-8, *, image_shape=None, n_jobs=None):
        self.eps = eps
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        self.mean_ = images.mean(axis=0, dtype=np.float64)
        self.scale_ = images.std(axis=0, dtype=np.float64)

    def _map(self, images: np.ndarray) -> np.ndarray:
        return (images - self.mean_) / (self.scale_ + self.eps)


@method(
    task="filter",
    texts="000c 17.2.2",
    use="Before networks on small photographs whose neighboring pixels are alike.",
    avoid="Large images: the second moments of all pixels are a square matrix.",
    peers=("keras.preprocessing.image.ImageDataGenerator(zca_whitening)",),
    takes="images",
    synonyms=("zero-phase component analysis",),
)
class ZCAWhitening(ImageFilter):
    """Contrast normalization of each image, then whitening that keeps images looking like images.

    Use it for small photographs; not for images beyond about 64 x 64, as the matrix has the
    square of their number of pixels. Texts: 000c 17.2.2 (the code behind the text).

    Parameters
    ----------
    contrast : bool, default=True
        Subtract the mean of each image and scale it by ``mean(std) / max(std, contrast_floor)``.
    contrast_floor : float, default=40.0
        Least standard deviation of an image, for values from 0 to 255.
    eigenvalue_floor : float, default=10.0
        Least root of an eigenvalue.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    mean_ : ndarray of shape (height, width, channels)
        Mean training image, subtracted first.
    contrast_scale_ : float
        Mean standard deviation of the training images.
    whitening_ : ndarray of shape (n_pixels, n_pixels)
        The symmetric matrix that whitens.
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import ZCAWhitening
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 255, (50, 3, 3))
    >>> ZCAWhitening().fit_transform(X).shape
    (50, 3, 3)
    """

    _parameter_constraints = {
        **ImageFilter._parameter_constraints,
        "contrast": ["boolean"],
        "contrast_floor": [above(0)],
        "eigenvalue_floor": [at_least(0)],
    }
    _stored = {
        "mean_": Array("f", SHAPE),
        "contrast_scale_": Number(),
        "whitening_": Array("f8", ("n_features_in_", "n_features_in_")),
    }

    def __init__(
        self,
        contrast=True,
        *,
        contrast_floor=40.0,
        eigenvalue_floor=10.0,
        image_shape=None,
        n_jobs=None,
    ):
        self.contrast = contrast
        self.contrast_floor = contrast_floor
        self.eigenvalue_floor = eigenvalue_floor
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_columns**2 + 2 * n_rows * n_columns)

    def _memory_remedy(self) -> str:
        return "Resize the images, or use ImageWhitening."

    def _fit(self, images: np.ndarray) -> None:
        self._require_memory(len(images), self.n_features_in_)
        self.mean_ = images.mean(axis=0, dtype=np.float64)
        rows = (images - self.mean_).reshape(len(images), -1)
        self.contrast_scale_ = float((rows - rows.mean(axis=1, keepdims=True)).std(axis=1).mean())
        rows = self._contrasted(rows)
        values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
        values = np.maximum(values, 0)
        level = np.sqrt(values.mean())
        roots = np.maximum(np.sqrt(values), max(self.eigenvalue_floor, 1e-12 * (level or 1.0)))
        self.whitening_ = (vectors * (level / roots)) @ vectors.T

    def _contrasted(self, rows: np.ndarray) -> np.ndarray:
        if not self.contrast:
            return rows
        rows = rows - rows.mean(axis=1, keepdims=True)
        spread = np.maximum(rows.std(axis=1, keepdims=True), self.contrast_floor)
        return rows * (self.contrast_scale_ / spread)

    def _map(self, images: np.ndarray) -> np.ndarray:
        rows = (images - self.mean_).reshape(len(images), -1)
        return (self._contrasted(rows) @ self.whitening_).reshape(images.shape)
