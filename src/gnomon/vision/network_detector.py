"""What detectors made of networks share: images of one size, scaled pixels, weights in a file.

Texts: 000c 18.2.3-18.2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, above, between, whole
from gnomon.engine.stored import CLASSES, Array, ListOf, Number, TupleOf, Whole
from gnomon.neural import Network
from gnomon.vision.boxes import Detections, clip_boxes
from gnomon.vision.detector import Detector, best_boxes
from gnomon.vision.images import resize
from gnomon.vision.scenes import Scene

LEARNING: dict[str, Any] = {
    "filters": [whole(1)],
    "learning_rate": [above(0)],
    "batch_size": [whole(1)],
    "max_iter": [whole(1)],
    "threshold": [between(0, 1)],
    "iou_threshold": [between(0, 1)],
    "random_state": SEED,
}

# What these parameters mean, for the docstrings of the classes that have them.
DETECTOR_PARAMETERS = """\
n_proposals : int
    Most boxes of selective search that are classified.
filters : int
    Of the first convolution; the second has two and the others four times as many.
learning_rate : float
batch_size : int
    Images of a step.
max_iter : int
    Epochs.
threshold : float
    Least score of a detection.
iou_threshold : float
    Boxes of a class that overlap a better one by more are dropped.
random_state : int, RandomState or None
stride : int
    Pixels between points of the grid: 4, 8, 16 or 32 (the text has 16 for larger images).
scales : sequence of float
    Roots of the areas of anchors; None for three quantiles of the true boxes.
aspects : sequence of float
    Heights over widths of anchors.
"""


class NetworkDetector(Detector):
    """A detector whose networks take gray images of one size."""

    _cell: ClassVar[int] = 1  # pixels that sides of images are multiples of
    _stored: ClassVar[dict[str, Any]] = {
        "weights_": Array("f", ("n_weights",)),
        "losses_": ListOf(Number()),
        "input_shape_": TupleOf((Whole(1), Whole(1), Whole(1))),
        "center_": Number(),
        "scale_": Number(),
        "classes_": CLASSES,
    }

    def _networks(self) -> Sequence[Network]:
        raise NotImplementedError

    def _check_loaded(self) -> None:
        cell = self._cells()
        if self.input_shape_[0] % cell or self.input_shape_[1] % cell:
            raise ValueError(f"images of {self.input_shape_} do not divide into tiles of {cell}")
        if len(self.weights_) != sum(network.n_stored for network in self._networks()):
            raise ValueError("the network of these parameters has another number of weights")

    def _cells(self) -> int:
        return self._cell

    def _example_size(self) -> tuple[int, int]:
        return self.input_shape_[:2]

    def _prepared(self, scenes: list[Scene]) -> np.ndarray:
        """Keep size, scale and classes of the training images; their scaled pixels."""
        sizes = {scene.image.shape for scene in scenes}
        if len(sizes) > 1:
            raise DataError(f"training images have {len(sizes)} sizes; resize them to one")
        height, width = sizes.pop()
        cell = self._cells()
        if height % cell or width % cell:
            raise DataError(
                f"images of {height} x {width} pixels do not divide into tiles of {cell} x {cell}; "
                "resize them"
            )
        self.classes_ = np.unique(np.concatenate([scene.labels for scene in scenes]))
        if not len(self.classes_):
            raise DataError("no image has a box: there is nothing to learn")
        self.input_shape_ = (height, width, 1)
        images = np.stack([scene.image for scene in scenes])
        self.center_, self.scale_ = float(images.mean()), float(images.std()) or 1.0
        return self._scaled(images)

    def _scaled(self, images: np.ndarray) -> np.ndarray:
        return ((images - self.center_) / self.scale_).astype(np.float32)[..., None]

    def _keep_training(self, weights: np.ndarray, losses: list[float]) -> None:
        self.weights_ = weights.copy()
        self.losses_ = [float(each) for each in losses]
        self.n_iter_ = len(self.losses_)

    def _resized(self, image: np.ndarray) -> np.ndarray:
        height, width = self.input_shape_[:2]
        return image if image.shape == (height, width) else resize(image, (height, width))

    def _chosen(self, boxes: np.ndarray, scores: np.ndarray, image: np.ndarray) -> Detections:
        """Boxes of the resized image with scores (n, n_classes) as detections of the image."""
        height, width = self.input_shape_[:2]
        place, code = np.nonzero(scores >= self.threshold)
        back = np.tile([image.shape[1] / width, image.shape[0] / height], 2)
        kept, inside = clip_boxes(boxes[place] * back, image.shape)
        found = best_boxes(kept, scores[place, code][inside], code[inside], self.iou_threshold)
        return Detections(found.boxes, found.scores, self.classes_[found.labels])
