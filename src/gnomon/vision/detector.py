"""What detectors share: images with true boxes in, boxes with scores and classes out.

Texts: 000c 18.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import validated
from gnomon.vision.boxes import Detections, as_boxes, detection_precision, non_maximum_suppression
from gnomon.vision.images import blank_images, one_image, resize, rgb_to_gray
from gnomon.vision.scenes import Scene

LEAST_WINDOW = 4  # height and width of a window that can show an object


def as_scenes(X: Any, y: Any = None) -> list[Scene]:
    """Images and their truth as scenes of gray images, checked.

    Parameters
    ----------
    X : list of Scene, or list of arrays (height, width[, channels])
        Images may differ in size.
    y : list of pairs of boxes and labels, default=None
        One entry per image; not needed with scenes.

    Returns
    -------
    scenes : list of Scene
    """
    given = list(X)
    if not given:
        raise DataError("there is no image to learn from")
    if y is None:
        if not all(isinstance(each, Scene) for each in given):
            raise DataError("images without y must be scenes (gnomon.vision.Scene) with true boxes")
        y = [(each.boxes, each.labels) for each in given]
    if len(y) != len(given):
        raise DataError(f"there are {len(given)} images and the truth of {len(y)}")
    scenes = []
    for place, (image, (boxes, labels)) in enumerate(zip(given, y)):
        pixels = gray_image(image, f"X[{place}]")
        found = as_boxes(boxes, f"the boxes of image {place}", pixels.shape)
        names = np.asarray(labels)
        if names.shape != (len(found),):
            raise DataError(f"image {place} has {len(found)} boxes and labels {names.shape}")
        scenes.append(Scene(pixels, found, names))
    return scenes


def gray_image(image: Any, name: str = "image") -> np.ndarray:
    """An image, or that of a scene, as gray levels (height, width)."""
    pixels = one_image(image.image if isinstance(image, Scene) else image, name)
    if pixels.shape[2] == 3:
        return rgb_to_gray(pixels)
    return pixels.mean(axis=2)


def pyramid(
    image: np.ndarray, window: tuple[int, int], scale_factor: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """An image at falling sizes while the window fits, with the factors (x, y) back to pixels."""
    height, width = image.shape
    factor = 1.0
    while True:
        size = (round(height / factor), round(width / factor))
        if size[0] < window[0] or size[1] < window[1]:
            return
        small = image if factor == 1 else resize(image, size)
        yield small, np.array([width / size[1], height / size[0]])
        factor *= scale_factor


class Detector(Estimator):
    """A detector of objects: gives ``_fit(scenes)`` and ``_detect(image)``."""

    _stored: ClassVar[Any] = {}

    def _most_steps(self) -> int:
        return 0

    def _example_size(self) -> tuple[int, int]:
        """Height and width of the smallest image in which an object can be found."""
        raise NotImplementedError

    def _example_row(self) -> list[np.ndarray] | None:
        """A blank image, to try out what was read from a model file; None before a fit."""
        return list(blank_images(self._example_size())) if self._public() else None

    @validated
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from images with known boxes.

        Parameters
        ----------
        X : list of Scene, or list of arrays (height, width[, channels])
        y : list of pairs of boxes and labels, default=None
            One entry per image; not needed where X are scenes.

        Returns
        -------
        self : object
        """
        scenes = as_scenes(X, y)
        context = self._init_callback_context(max_subtasks=self._most_steps())
        context.call_on_fit_task_begin(estimator=self)
        self._fit(scenes)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public)
        return self

    def _fit(self, scenes: list[Scene]) -> None:
        raise NotImplementedError

    def _detect(self, image: np.ndarray) -> Detections:
        raise NotImplementedError

    def predict(self, X: Any) -> list[Detections]:
        """The objects found in each image.

        Parameters
        ----------
        X : list of arrays (height, width[, channels]) or of Scene

        Returns
        -------
        detections : list of Detections
        """
        check_is_fitted(self)
        images = [gray_image(image, f"X[{place}]") for place, image in enumerate(X)]
        return [self._detect(image) for image in images]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean average precision at an overlap of one half.

        Parameters
        ----------
        X : list of Scene, or list of arrays (height, width[, channels])
        y : list of pairs of boxes and labels, default=None

        Returns
        -------
        precision : float
        """
        check_is_fitted(self)
        scenes = as_scenes(X, y)
        return detection_precision(self.predict(scenes), scenes).value


def best_boxes(
    boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray, iou_threshold: float
) -> Detections:
    """Detections after suppression within each class, by falling score."""
    kept = non_maximum_suppression(boxes, scores, iou_threshold=iou_threshold, labels=labels)
    return Detections(
        np.asarray(boxes, dtype=np.float64).reshape(-1, 4)[kept], scores[kept], labels[kept]
    )
