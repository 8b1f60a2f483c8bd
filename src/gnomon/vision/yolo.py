"""YOLO: one network pass gives boxes, confidences and classes for every tile of an image.

The image is cut into S x S tiles; a tile answers for the objects whose center lies in it. It gives
B boxes, each with a center in the tile, roots of width and height, and a confidence that is trained
to the overlap with the true box (0 where there is none), and one class posterior. The score of a
box is its confidence times the posterior. The box of a tile that overlaps the truth most is the one
that is trained. The network here is small: five convolutions of the package's own engine.

Texts: 000c 18.2.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.neural import Activation, BatchNorm, Conv2D, Loss, MaxPool2D, Network, softmax, train
from gnomon.optimize import schedules
from gnomon.vision.boxes import Detections, _overlap
from gnomon.vision.network_detector import DETECTOR_PARAMETERS, LEARNING, NetworkDetector
from gnomon.vision.scenes import Scene

TILE = 8  # pixels of a tile: three poolings by two
PLACE_WEIGHT, EMPTY_WEIGHT = 5.0, 0.5  # of the published loss


class YoloLoss(Loss):
    """The sum of squared errors of places and confidences, and the log loss of classes.

    Parameters
    ----------
    n_boxes : int
        Boxes of a tile.
    """

    name = "yolo"

    def __init__(self, n_boxes: int):
        self.n_boxes = n_boxes

    def check(self, output_shape: tuple[int, ...], target: np.ndarray) -> None:
        """Refuse a target that does not fit the output."""
        expected = (*output_shape[:2], output_shape[2] - 5 * self.n_boxes + 5)
        if target.shape[1:] != expected:
            raise DataError(f"the target has the shape {target.shape[1:]}, not {expected}")

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loss of each row, and the gradient of their sum with respect to the output."""
        n, rows, columns = output.shape[:3]
        B = self.n_boxes
        raw = output[..., : 5 * B].reshape(n, rows, columns, B, 5)
        has, classes = target[..., 0], target[..., 5:]
        place = np.concatenate([expit(raw[..., :2]), raw[..., 2:4]], axis=-1)
        wanted = np.concatenate([target[..., 1:3], np.sqrt(target[..., 3:5])], axis=-1)
        confidence = expit(raw[..., 4])
        overlap = _tile_overlap(place, wanted[..., None, :], (rows, columns)) * has[..., None]
        best = np.argmax(overlap, axis=-1)
        chosen = (np.arange(B) == best[..., None]) * has[..., None]
        miss = (place - wanted[..., None, :]) * chosen[..., None]
        sure = confidence - overlap * chosen
        weight = np.where(chosen > 0, 1.0, EMPTY_WEIGHT)
        posterior = softmax(output[..., 5 * B :].reshape(-1, classes.shape[-1])).reshape(
            classes.shape
        )
        log = np.log(np.maximum((posterior * classes).sum(axis=-1), 1e-30))
        losses = (
            PLACE_WEIGHT * (miss**2).sum(axis=(1, 2, 3, 4))
            + (weight * sure**2).sum(axis=(1, 2, 3))
            - (has * log).sum(axis=(1, 2))
        )
        gradient = np.empty_like(output)
        slopes = np.empty_like(raw)
        slopes[..., :2] = 2 * PLACE_WEIGHT * miss[..., :2] * place[..., :2] * (1 - place[..., :2])
        slopes[..., 2:4] = 2 * PLACE_WEIGHT * miss[..., 2:]
        slopes[..., 4] = 2 * weight * sure * confidence * (1 - confidence)
        gradient[..., : 5 * B] = slopes.reshape(n, rows, columns, 5 * B)
        gradient[..., 5 * B :] = (posterior - classes) * has[..., None]
        return losses, gradient


def _tile_overlap(place: np.ndarray, wanted: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Overlap of boxes given as center in the tile and roots of shares of the image."""

    def corners(each: np.ndarray) -> np.ndarray:
        center = each[..., :2] / np.array([shape[1], shape[0]])
        half = np.maximum(each[..., 2:4] ** 2, 1e-6) / 2
        return np.concatenate([center - half, center + half], axis=-1)

    return _overlap(*np.broadcast_arrays(corners(place), corners(wanted)))


@method(
    task="classify",
    texts="000c 18.2.4",
    use="Objects of several classes and sizes found in one pass of a network.",
    avoid="Many small objects close together: a tile gives few boxes and one class.",
    peers=("ultralytics.YOLO",),
    takes="scenes",
    synonyms=("you only look once",),
)
@shared_parameters(DETECTOR_PARAMETERS)
class YoloDetector(NetworkDetector):
    """A small one-pass detector: tiles that give boxes, confidences and classes.

    Use it for objects of several classes on images of one size; not for crowds of small objects.
    All training images have one size; new ones are resized to it. Texts: 000c 18.2.4.

    Parameters
    ----------
    n_boxes : int, default=2
        Boxes of a tile.
    filters : int, default=16
        Of the first convolution; the next have two, four, four and four times as many.
    batch_size : int, default=32

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All parameters of the network and its running statistics.
    losses_ : list of float
        Mean training loss of each epoch.
    input_shape_ : tuple of (height, width, channels)
    center_, scale_ : float
        What is subtracted from pixels, and by what they are divided.
    classes_ : ndarray
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.vision import YoloDetector, make_scenes
    >>> scenes = make_scenes(8, size=(16, 16), scales=(8, 12), n_objects=1, random_state=0)
    >>> model = YoloDetector(filters=2, max_iter=1, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _cell = TILE
    _parameter_constraints = {"n_boxes": [whole(1)], **LEARNING}

    def __init__(
        self,
        n_boxes=2,
        *,
        filters=16,
        learning_rate=0.002,
        batch_size=32,
        max_iter=30,
        threshold=0.1,
        iou_threshold=0.4,
        random_state=None,
    ):
        self.n_boxes = n_boxes
        self.filters = filters
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.random_state = random_state

    def _networks(self) -> list[Network]:
        return [self._network()]

    def _network(self) -> Network:
        layers: list[Any] = []
        for factor in (1, 2, 4, 4, 4):
            convolution = Conv2D(self.filters * factor, 3, padding="same", bias=False)
            layers += [convolution, BatchNorm(), Activation("relu")]
            if len(layers) < 12:
                layers.append(MaxPool2D(2))
        layers.append(Conv2D(5 * self.n_boxes + len(self.classes_), 1))
        return Network(layers, self.input_shape_)

    def _fit(self, scenes: list[Scene]) -> None:
        images = self._prepared(scenes)
        network = self._network()
        seed = int(self._rng().integers(2**31))
        found = train(
            network,
            images,
            np.stack([self._target(scene) for scene in scenes]).astype(np.float32),
            loss=YoloLoss(self.n_boxes),
            learning_rate=schedules.geometric(self.learning_rate, 10 ** (1 / self.max_iter)),
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            init="he_normal",
            dtype=np.float32,
            random_state=seed,
        )
        self._keep_training(found.parameters.flat, found.losses)

    def _target(self, scene: Scene) -> np.ndarray:
        """Per tile: whether an object's center is in it, its place and size, its class."""
        height, width = self.input_shape_[:2]
        rows, columns = height // TILE, width // TILE
        out = np.zeros((rows, columns, 5 + len(self.classes_)))
        for (left, top, right, bottom), label in zip(scene.boxes, scene.labels):
            x, y = (left + right) / 2 / TILE, (top + bottom) / 2 / TILE
            column, row = min(int(x), columns - 1), min(int(y), rows - 1)
            size = ((right - left) / width, (bottom - top) / height)
            out[row, column] = 0
            out[row, column, :5] = (1, x - column, y - row, *size)
            out[row, column, 5 + np.searchsorted(self.classes_, label)] = 1
        return out

    def _detect(self, image: np.ndarray) -> Detections:
        height, width = self.input_shape_[:2]
        network = self._network()
        given = self._scaled(self._resized(image)[None])
        output = network.predict(network.from_flat(self.weights_), given)[0]
        rows, columns = output.shape[:2]
        B = self.n_boxes
        raw = output[..., : 5 * B].reshape(rows, columns, B, 5).astype(np.float64)
        y, x = np.mgrid[:rows, :columns]
        center = (expit(raw[..., :2]) + np.stack([x, y], axis=-1)[:, :, None]) * TILE
        side = np.maximum(raw[..., 2:4] ** 2, 1e-6) * [width, height]
        boxes = np.concatenate([center - side / 2, center + side / 2], axis=-1).reshape(-1, 4)
        posterior = softmax(output[..., 5 * B :].reshape(rows * columns, -1).astype(np.float64))
        confidence = expit(raw[..., 4]).reshape(-1, B)
        scores = (confidence[:, :, None] * posterior[:, None, :]).reshape(len(boxes), -1)
        return self._chosen(boxes, scores, image)
