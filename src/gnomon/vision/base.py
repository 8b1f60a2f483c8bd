"""What transformers of images share: forms of input, callbacks, threads over blocks of images.

Texts: 000c 17 (images as data).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import JOBS, validated
from gnomon.engine.stored import TupleOf, Whole
from gnomon.engine.threads import in_order
from gnomon.vision.images import as_given, as_images, blank_images

PIXELS_AT_ONCE = 1 << 20  # of a block: 8 MB, measured flat from 2^18 to 2^22
SHAPE = ["array-like", None]


class ImageEstimator(Estimator):
    """An estimator whose ``fit`` takes images."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"image_shape": SHAPE, "n_jobs": JOBS}
    _stored: ClassVar[Any] = {"image_shape_": TupleOf((Whole(1), Whole(1), Whole(1)))}

    def _most_steps(self) -> int:
        return 0

    def _example_row(self) -> np.ndarray | None:
        """A blank image, to try out what was read from a model file; None before a fit."""
        return blank_images(self.image_shape_) if hasattr(self, "image_shape_") else None

    def _reported(self, images: np.ndarray, *target: Any) -> None:
        """Fit between the callbacks' begin and end."""
        self.image_shape_ = tuple(int(each) for each in images.shape[1:])
        self.n_features_in_ = int(np.prod(self.image_shape_))
        context = self._init_callback_context(max_subtasks=self._most_steps())
        context.call_on_fit_task_begin(estimator=self)
        self._fit(images, *target)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public)

    def _fit(self, images: np.ndarray, *target: Any) -> None:
        raise NotImplementedError

    def _seen(self, X: Any) -> np.ndarray:
        """Images of the size that was fitted."""
        check_is_fitted(self)
        shape = self.image_shape_
        images = as_images(X, shape if np.ndim(X) == 2 else None)
        if images.shape[1:] != shape:
            raise DataError(
                f"{type(self).__name__} was fitted to images of {shape} (height, width, channels); "
                f"these are {images.shape[1:]}. Resize them with gnomon.vision.resize"
            )
        return images

    def _in_blocks(self, function: Any, images: np.ndarray) -> np.ndarray:
        """`function` of blocks of images, on threads, put together in order."""
        size = max(PIXELS_AT_ONCE // self.n_features_in_, 1)
        blocks = (images[start : start + size] for start in range(0, len(images), size))
        parts = list(in_order(function, blocks, self.n_jobs))
        if len(parts) == 1 and not np.may_share_memory(parts[0], images):
            return parts[0]
        return np.concatenate(parts)


class ImageTransformer(TransformerMixin, ImageEstimator):
    """A transformer of images: gives ``_map(images)`` for images (n, height, width, channels)."""

    @validated
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from images.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]), or (n, pixels) with image_shape
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        self._reported(as_images(X, self.image_shape))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The transformed images.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]) or (n, pixels)

        Returns
        -------
        X_new : ndarray
        """
        return self._in_blocks(self._map, self._seen(X))

    def _map(self, images: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class ImageFilter(ImageTransformer):
    """A transformer from images to images of the same size, in the form that was given."""

    def transform(self, X: Any) -> np.ndarray:
        """The transformed images, in the form of `X`.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]) or (n, pixels)

        Returns
        -------
        X_new : ndarray
        """
        return as_given(super().transform(X), X)


class FeatureTransformer(ImageTransformer):
    """A transformer from images to rows of features."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features.

        Parameters
        ----------
        input_features : None
            Not used: pixels have no names.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self._n_features_out())], dtype=object)

    def _n_features_out(self) -> int:
        return self._map(np.zeros((1, *self.image_shape_))).shape[1]
