"""Sliding window: any classifier over all windows of an image pyramid.

Every window on a grid over an image at several sizes is classified; windows that score above the
threshold are moved by box regression and thinned out by suppression. The classifier learns from
windows on the true boxes, from shifted ones, and from the background; after a first fit the false
alarms on the training images are added (hard negatives) and it is fitted again.

Texts: 000c 18.2.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from gnomon.engine.errors import DataError, ModelFileError
from gnomon.engine.parameters import SEED, HasMethods, above, between, pair, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, Array, Object
from gnomon.linear import LogisticRegression, Ridge
from gnomon.vision.boxes import Detections, clip_boxes, decode_boxes, encode_boxes, iou
from gnomon.vision.detector import LEAST_WINDOW, Detector, best_boxes, pyramid
from gnomon.vision.hog import HOG
from gnomon.vision.images import blank_images, resize, windows
from gnomon.vision.scenes import Scene

BACKGROUND = "background"
FAR = 0.3  # overlap with every true box below which a window is background
MOST_WINDOWS = 4000  # classified at once


@method(
    task="classify",
    texts="000c 18.2.1",
    use="Objects of one aspect and few sizes, with any classifier of windows.",
    avoid="Large images or many aspects: a network that proposes regions needs fewer windows.",
    peers=("dlib.fhog_object_detector",),
    takes="scenes",
)
class SlidingWindowDetector(Detector):
    """Classify every window of an image pyramid; suppress; move boxes by regression.

    Use it for objects of one aspect with a good classifier of windows; not where there are many
    aspects. Texts: 000c 18.2.1.

    Parameters
    ----------
    estimator : estimator, default=None
        Classifier of features of windows, with probabilities; None for logistic regression.
    transformer : estimator, default=None
        From windows (n, height, width) to features; None for `HOG` with four cells along a side.
    window : tuple of (height, width), default=(24, 24)
    stride : int, default=4
        Pixels from one window to the next, at each size.
    scale_factor : float, default=1.25
        Factor between sizes of the pyramid.
    threshold : float, default=0.5
        Least probability of an object.
    iou_threshold : float, default=0.3
        Boxes that overlap a better one by more are dropped.
    n_negatives : int, default=10
        Background windows drawn from each training image.
    n_hard : int, default=1
        How often false alarms on the training images are added and the classifier is fitted again.
    box_regression : bool, default=True
        Move boxes by a ridge regression on the features of the window.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    estimator_ : estimator
        Fitted classifier of the features.
    transformer_ : estimator
    regressor_ : Ridge or None
        From features to offsets of the box, where `box_regression`.
    classes_ : ndarray
        Classes of objects.
    background_ : ndarray of int
        For each class of ``estimator_`` its place in ``classes_``; -1 for the background.

    Examples
    --------
    >>> from gnomon.vision import SlidingWindowDetector, make_scenes
    >>> scenes = make_scenes(9, n_objects=1, random_state=0)
    >>> model = SlidingWindowDetector(n_hard=0, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict_proba"])],
        "transformer": [None, HasMethods(["fit", "transform"])],
        "window": [pair(LEAST_WINDOW)],
        "stride": [whole(1)],
        "scale_factor": [above(1)],
        "threshold": [between(0, 1)],
        "iou_threshold": [between(0, 1)],
        "n_negatives": [whole(1)],
        "n_hard": [whole(0)],
        "box_regression": ["boolean"],
        "random_state": SEED,
    }
    _stored = {
        "estimator_": Object(),
        "transformer_": Object(),
        "regressor_": Object(("Ridge",)) | None,
        "classes_": CLASSES,
        "background_": Array("i8", (None,), low=-1),
    }

    def __init__(
        self,
        estimator=None,
        transformer=None,
        *,
        window=(24, 24),
        stride=4,
        scale_factor=1.25,
        threshold=0.5,
        iou_threshold=0.3,
        n_negatives=10,
        n_hard=1,
        box_regression=True,
        random_state=None,
    ):
        self.estimator = estimator
        self.transformer = transformer
        self.window = window
        self.stride = stride
        self.scale_factor = scale_factor
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.n_negatives = n_negatives
        self.n_hard = n_hard
        self.box_regression = box_regression
        self.random_state = random_state

    def _window(self) -> tuple[int, int]:
        height, width = self.window
        return int(height), int(width)

    def _example_size(self) -> tuple[int, int]:
        return self._window()

    def _check_loaded(self) -> None:
        """Moves of a box are tried out here: no window of a blank image is moved."""
        regressor = vars(self).get("regressor_")
        if regressor is None:
            return
        features = self.transformer_.transform(blank_images(self._window()))
        found = np.shape(regressor.predict(features))
        if found != (1, 4):
            raise ModelFileError(f"regressor_ gives an array {found} for a window, not (1, 4)")

    def _fit(self, scenes: list[Scene]) -> None:
        rng, size = check_random_state(self.random_state), self._window()
        self.classes_ = np.unique(np.concatenate([scene.labels for scene in scenes]))
        if not len(self.classes_):
            raise DataError("no image has a box: there is nothing to learn")
        if self.transformer is None:
            cell = (max(size[0] // 4, 1), max(size[1] // 4, 1))
            transformer = HOG(pixels_per_cell=cell, cells_per_block=(2, 2))
        else:
            transformer = clone(self.transformer)
        parts, codes, offsets = [], [], []
        for scene in scenes:
            boxes, code, truth = self._examples(scene, rng)
            parts += [window_at(scene.image, box, size) for box in boxes]
            codes += code
            offsets += [
                encode_boxes([true], [box])[0] if true is not None else np.zeros(4)
                for box, true in zip(boxes, truth)
            ]
        X, y, shifts = np.array(parts), np.array(codes), np.array(offsets)
        self.transformer_ = transformer.fit(X)
        features = self.transformer_.transform(X)
        self.regressor_ = None
        if self.box_regression:
            self.regressor_ = Ridge().fit(features[y >= 0], shifts[y >= 0])
        self._classify(features, y)
        for _ in range(self.n_hard):
            more = [part for scene in scenes for part in self._false_alarms(scene, rng)]
            if not more:
                break
            X, y = np.concatenate([X, more]), np.append(y, np.full(len(more), -1))
            self._classify(self.transformer_.transform(X), y)

    def _classify(self, features: np.ndarray, y: np.ndarray) -> None:
        """Fit the classifier to codes of classes; -1 is the background."""
        learner = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        self.estimator_ = clone(learner).fit(features, y)
        self.background_ = np.asarray(self.estimator_.classes_, dtype=np.int64)

    def _examples(self, scene: Scene, rng: Any) -> tuple[list, list, list]:
        """Windows of a scene, their class codes, and the true box of each (None: background)."""
        size = self._window()
        found, codes, truth = [], [], []
        for box, label in zip(scene.boxes, scene.labels):
            code = int(np.searchsorted(self.classes_, label))
            for number in range(5):
                moved = _of_aspect(box, size)
                if number:
                    side = moved[2:] - moved[:2]
                    shift = rng.uniform(-0.12, 0.12, 2) * side
                    grown = side * np.exp(rng.uniform(-0.12, 0.12))
                    middle = (moved[:2] + moved[2:]) / 2 + shift
                    moved = np.concatenate([middle - grown / 2, middle + grown / 2])
                found.append(moved)
                codes.append(code)
                truth.append(box)
        height, width = scene.image.shape
        for _ in range(self.n_negatives):
            largest = min(height / size[0], width / size[1])
            scale = np.exp(rng.uniform(0, max(np.log(largest), 0)))
            side = np.array([size[1], size[0]]) * min(scale, largest)
            corner = rng.uniform(0, 1, 2) * ([width, height] - side)
            box = np.concatenate([corner, corner + side])
            if not len(scene.boxes) or iou([box], scene.boxes).max() < FAR:
                found.append(box)
                codes.append(-1)
                truth.append(None)
        return found, codes, truth

    def _false_alarms(self, scene: Scene, rng: Any) -> list[np.ndarray]:
        """Windows that score as objects and are none."""
        size = self._window()
        boxes = self._scored(scene.image)[0]
        if not len(boxes):
            return []
        if len(scene.boxes):
            boxes = boxes[iou(boxes, scene.boxes).max(axis=1) < FAR]
        if len(boxes) > self.n_negatives:
            boxes = boxes[rng.choice(len(boxes), self.n_negatives, replace=False)]
        return [window_at(scene.image, box, size) for box in boxes]

    def _scored(self, image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, list]:
        """Boxes of windows that score above the threshold, with scores, classes and features."""
        size = self._window()
        boxes, scores, codes, kept = [np.zeros((0, 4))], [np.zeros(0)], [np.zeros(0, int)], []
        for small, factor in pyramid(image, size, self.scale_factor):
            every = windows(small, *size)[:: self.stride, :: self.stride]
            corners = np.argwhere(np.ones(every.shape[:2], dtype=bool)) * self.stride
            flat = every.reshape(-1, *size)
            for start in range(0, len(flat), MOST_WINDOWS):
                features = self.transformer_.transform(flat[start : start + MOST_WINDOWS])
                proba = np.asarray(self.estimator_.predict_proba(features))
                proba = np.where(self.background_ < 0, -1.0, proba)
                best = proba.argmax(axis=1)
                score = proba[np.arange(len(proba)), best]
                good = np.flatnonzero(score >= max(self.threshold, 0))
                place = corners[start + good][:, ::-1] * factor
                boxes.append(np.hstack([place, place + np.array([size[1], size[0]]) * factor]))
                scores.append(score[good])
                codes.append(self.background_[best[good]])
                kept.append(features[good])
        return np.concatenate(boxes), np.concatenate(scores), np.concatenate(codes), kept

    def _detect(self, image: np.ndarray) -> Detections:
        boxes, scores, codes, kept = self._scored(image)
        if len(boxes) and self.regressor_ is not None:
            moves = np.clip(self.regressor_.predict(np.concatenate(kept)), -1, 1)
            boxes = decode_boxes(moves, boxes)
        if len(boxes):
            boxes, inside = clip_boxes(boxes, image.shape)
            scores, codes = scores[inside], codes[inside]
        found = best_boxes(boxes, scores, codes.astype(np.int64), self.iou_threshold)
        return Detections(found.boxes, found.scores, self.classes_[found.labels])


def _of_aspect(box: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The smallest box of the aspect of the window around a box, with the same center."""
    center, side = (box[:2] + box[2:]) / 2, box[2:] - box[:2]
    scale = max(side[0] / size[1], side[1] / size[0])
    half = np.array([size[1], size[0]]) * scale / 2
    return np.concatenate([center - half, center + half])


def window_at(image: np.ndarray, box: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The part of an image in a box, resized; pixels outside are those of the border."""
    left, top, right, bottom = np.rint(box).astype(int)
    rows = np.clip(np.arange(top, max(bottom, top + 1)), 0, image.shape[0] - 1)
    columns = np.clip(np.arange(left, max(right, left + 1)), 0, image.shape[1] - 1)
    return resize(image[np.ix_(rows, columns)], size)
