"""Viola-Jones: a cascade of boosted stumps on rectangle features, run over all windows.

Each stage is boosted from stumps on rectangle features until it lets at least `detection_rate` of
held-out positive windows and at most `false_positive_rate` of held-out negative windows pass. The
next stage learns from the negatives that still pass (hard negatives), cut from the backgrounds at
all places and scales by the cascade so far. Rates multiply over stages. A window of a new image
leaves at the first stage that rejects it, so that most windows cost a few features.

Boosting is Gentle AdaBoost: a stump gives the weighted mean of +1 and -1 on either side, and
weights change by exp(-y h). Features are cut into 64 bins, so that the best stump over all
features is one pass over bytes.

Texts: 002 "Viola-Jones", "Cascade of classifiers".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import SEED, above, between, pair, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Text
from gnomon.ensemble.cascade import CascadeRates, cascade_rates, threshold_for
from gnomon.vision.augmentation import augment_images
from gnomon.vision.boxes import Detections, iou
from gnomon.vision.detector import LEAST_WINDOW, Detector, best_boxes, gray_image, pyramid
from gnomon.vision.images import as_images, resize
from gnomon.vision.rectangles import (
    fill_rectangles,
    integral_image,
    rectangle_features,
    rectangle_value,
)
from gnomon.vision.scenes import Scene

BINS = 64  # judgement: steps of 0.08 deviations; a stump needs no finer threshold
FEATURES_AT_ONCE = 512  # judgement: bounds memory of feature values at 4 kB per window
HELD_OUT = 4  # every fourth window measures the rates of a stage
KEPT_WEIGHT = 0.98  # of all weight: stumps are chosen by the heaviest windows that hold this share
LEAST_NEGATIVES = 40  # fewer hard negatives from all backgrounds end the training
FLAT = 1.0  # least standard deviation of a window, of values from 0 to 255
APART = 0.3  # largest overlap of a negative window with a true box


class Stumps(NamedTuple):
    """Stumps of a stage: features (k, 6), thresholds, values below and from the threshold."""

    features: np.ndarray
    thresholds: np.ndarray
    below: np.ndarray
    above: np.ndarray


@method(
    task="classify",
    texts="002 Viola-Jones",
    use="One kind of rigid object seen from one side, such as faces, found fast.",
    avoid="Objects of many forms or sides, or many classes.",
    peers=("cv2.CascadeClassifier",),
    takes="scenes",
    synonyms=("Haar cascade", "face detector"),
)
class ViolaJonesDetector(Detector):
    """A cascade of boosted stumps on rectangle features, over all windows of an image.

    Use it for one kind of rigid object such as a frontal face; not for many classes. `fit` takes
    scenes; `fit_windows` takes cut-out objects and background images. Texts: 002 "Viola-Jones".

    Parameters
    ----------
    window : tuple of (height, width), default=(24, 24)
        Size of the smallest object, in pixels.
    n_stages : int, default=12
        Most stages.
    detection_rate : float, default=0.995
        Least share of held-out objects that a stage lets pass.
    false_positive_rate : float, default=0.4
        Greatest share of held-out negatives that a stage should let pass.
    max_stumps : int, default=60
        Most stumps of a stage.
    growth : float, default=1.5
        Factor from one edge length of rectangles to the next.
    step : int, default=2
        Pixels from one place of a rectangle to the next.
    n_negatives : int, default=2000
        Negative windows of a stage.
    mirror : bool, default=True
        Learn from mirror images of the objects too.
    n_jitter : int, default=4
        Further copies of each object, a little turned, shifted and resized, so that a window need
        not lie exactly on the object.
    scale_factor : float, default=1.2
        Factor between sizes of the pyramid.
    stride : int, default=1
        Pixels from one window to the next, at each size.
    iou_threshold : float, default=0.3
        Boxes that overlap a better one by more are dropped.
    random_state : int, RandomState or None, default=None
        Seed of the draws of negatives and of the order of windows.

    Attributes
    ----------
    features_ : ndarray of int of shape (n_stumps, 6)
        Rectangle feature of each stump.
    thresholds_, below_, above_ : ndarray of shape (n_stumps,)
        Threshold of each stump, and its value below and from it.
    stage_ends_ : ndarray of int of shape (n_stages,)
        Where the stumps of each stage end.
    stage_thresholds_ : ndarray of shape (n_stages,)
    detection_rates_, false_positive_rates_ : ndarray of shape (n_stages,)
        Of each stage, on held-out windows that reach it.
    label_ : str
        The class that detections get.

    Examples
    --------
    >>> from gnomon.vision import ViolaJonesDetector, make_scenes
    >>> scenes = make_scenes(12, n_objects=1, random_state=0)
    >>> model = ViolaJonesDetector((10, 10), n_stages=1, n_negatives=99, random_state=0)
    >>> len(model.fit(scenes).predict(scenes[:2]))
    2
    """

    _parameter_constraints = {
        "window": [pair(LEAST_WINDOW)],
        "n_stages": [whole(1)],
        "detection_rate": [between(0, 1, "right")],
        "false_positive_rate": [between(0, 1, "neither")],
        "max_stumps": [whole(1)],
        "growth": [above(1)],
        "step": [whole(1)],
        "n_negatives": [whole(LEAST_NEGATIVES)],
        "mirror": ["boolean"],
        "n_jitter": [whole(0)],
        "scale_factor": [above(1)],
        "stride": [whole(1)],
        "iou_threshold": [between(0, 1)],
        "random_state": SEED,
    }
    _stored = {
        "features_": Array("i8", ("n_stumps", 6), low=0),
        "thresholds_": Array("f8", ("n_stumps",)),
        "below_": Array("f8", ("n_stumps",)),
        "above_": Array("f8", ("n_stumps",)),
        "stage_ends_": Array("i8", ("n_found_stages",), low=1, rising=True),
        "stage_thresholds_": Array("f8", ("n_found_stages",)),
        "detection_rates_": Array("f8", ("n_found_stages",), low=0.0),
        "false_positive_rates_": Array("f8", ("n_found_stages",), low=0.0),
        "label_": Text(),
    }

    def __init__(
        self,
        window=(24, 24),
        *,
        n_stages=12,
        detection_rate=0.995,
        false_positive_rate=0.4,
        max_stumps=60,
        growth=1.5,
        step=2,
        n_negatives=2000,
        mirror=True,
        n_jitter=4,
        scale_factor=1.2,
        stride=1,
        iou_threshold=0.3,
        random_state=None,
    ):
        self.window = window
        self.n_stages = n_stages
        self.detection_rate = detection_rate
        self.false_positive_rate = false_positive_rate
        self.max_stumps = max_stumps
        self.growth = growth
        self.step = step
        self.n_negatives = n_negatives
        self.mirror = mirror
        self.n_jitter = n_jitter
        self.scale_factor = scale_factor
        self.stride = stride
        self.iou_threshold = iou_threshold
        self.random_state = random_state

    def _check_loaded(self) -> None:
        rows, columns, top, left, height, width = self.features_.T
        size = self._window()
        inside = (top + rows * height <= size[0]) & (left + columns * width <= size[1])
        if not inside.all() or self.stage_ends_[-1] != len(self.features_):
            raise ValueError("a feature does not lie inside the window, or stages do not end")

    def _window(self) -> tuple[int, int]:
        height, width = self.window
        return int(height), int(width)

    def _example_size(self) -> tuple[int, int]:
        return self._window()

    def _fit(self, scenes: list[Scene]) -> None:
        size = self._window()
        labels = sorted({str(each) for scene in scenes for each in scene.labels})
        objects = [_cut(scene.image, box, size) for scene in scenes for box in scene.boxes]
        if len(objects) < 2 * HELD_OUT:
            raise DataError(
                f"{len(objects)} objects are too few; at least {2 * HELD_OUT} are needed"
            )
        self._learn(
            np.array(objects),
            [(scene.image, scene.boxes) for scene in scenes],
            labels[0] if len(labels) == 1 else "object",
        )

    def fit_windows(
        self, X: Any, backgrounds: Any, label: str = "object", groups: Any = None
    ) -> Any:
        """Learn from cut-out objects and from images without the object.

        Parameters
        ----------
        X : array-like of shape (n, height, width)
            Objects; resized to the window.
        backgrounds : list of arrays (height, width[, channels])
            Images in which the object does not occur.
        label : str, default="object"
        groups : array-like of shape (n,), default=None
            What objects belong together, such as the person of a face: whole groups are held out,
            so that the rates of stages are those of new groups.

        Returns
        -------
        self : object
        """
        self._validate_params()
        objects = resize(as_images(X)[..., :1], self._window())[..., 0]
        behind = [gray_image(each, f"backgrounds[{i}]") for i, each in enumerate(backgrounds)]
        self._learn(objects, [(each, np.zeros((0, 4))) for each in behind], label, groups)
        return self

    def _learn(self, objects: np.ndarray, behind: list, label: str, groups: Any = None) -> None:
        rng = check_random_state(self.random_state)
        size = self._window()
        objects, source = self._varied(objects, rng)
        group = (
            np.arange(len(source)) if groups is None else np.unique(groups, return_inverse=True)[1]
        )
        held = group[source] % HELD_OUT == HELD_OUT - 1
        candidates = rectangle_features(size, growth=self.growth, step=self.step)
        self._begin(label)
        alive = np.ones(len(objects), dtype=bool)
        for _ in range(self.n_stages):
            negatives = self._hard_negatives(behind, rng)
            if len(negatives) < LEAST_NEGATIVES:
                break
            positives, held_here = objects[alive], held[alive]
            if min(held_here.sum(), (~held_here).sum()) < 2:
                break
            self._add_stage(positives, held_here, negatives, candidates)
            alive[alive] = self._passes(positives)
        if not len(self.stage_ends_):
            raise DataError(
                f"the backgrounds hold fewer than {LEAST_NEGATIVES} windows of {size}: give more, "
                "or larger ones"
            )

    def _varied(self, objects: np.ndarray, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Objects with jittered copies and mirror images, and from which object each was made."""
        parts, sources = [objects], [np.arange(len(objects))]
        if self.n_jitter:
            more = augment_images(
                objects, self.n_jitter, rotation=6, zoom=(0.88, 1.0), brightness=0, random_state=rng
            )
            parts.append(more.images)
            sources.append(more.sources)
        if self.mirror:
            parts += [each[:, :, ::-1] for each in parts]
            sources *= 2
        return np.concatenate(parts), np.concatenate(sources)

    def _begin(self, label: str) -> None:
        self.label_ = str(label)
        self.features_ = np.zeros((0, 6), dtype=np.int64)
        self.thresholds_ = self.below_ = self.above_ = np.zeros(0)
        self.stage_ends_ = np.zeros(0, dtype=np.int64)
        self.stage_thresholds_ = np.zeros(0)
        self.detection_rates_ = self.false_positive_rates_ = np.zeros(0)

    def _hard_negatives(self, behind: list, rng: Any) -> np.ndarray:
        """Windows of the backgrounds that the cascade so far lets pass, in random order."""
        size, found = self._window(), []
        most = max(self.n_negatives // max(len(behind), 1) * 4, 10)
        wanted = self.n_negatives
        for place in rng.permutation(len(behind)):
            image, boxes = behind[place]
            parts = []
            for small, factor in pyramid(image, size, self.scale_factor):
                corners, _ = self._scan(small)
                if len(corners) > most:
                    corners = corners[rng.choice(len(corners), most, replace=False)]
                if len(boxes) and len(corners):
                    windows = _boxes_at(corners, size, factor)
                    corners = corners[iou(windows, boxes).max(axis=1) < APART]
                parts += [small[y : y + size[0], x : x + size[1]] for y, x in corners]
            if len(parts) > most:
                parts = [parts[i] for i in rng.choice(len(parts), most, replace=False)]
            found += parts
            if len(found) >= wanted:
                break
        return np.array(found[:wanted]).reshape(-1, *size)

    def _add_stage(self, positives, held_positive, negatives, candidates) -> None:
        """Boost stumps until the rates on held-out windows are as wanted."""
        windows = np.concatenate([positives, negatives])
        y = np.repeat([1.0, -1.0], [len(positives), len(negatives)])
        held_negative = np.arange(len(negatives)) % HELD_OUT == HELD_OUT - 1
        held = np.concatenate([held_positive, held_negative])
        sums, scale = integral_image(windows), _contrast(windows)
        codes, low, width = _coded(sums, scale, candidates)
        learned = np.ascontiguousarray(codes[:, ~held])
        target = y[~held]
        weights = np.where(target > 0, 0.5 / (target > 0).sum(), 0.5 / (target < 0).sum())
        scores = np.zeros(len(y))
        chosen: list[tuple] = []
        for _ in range(self.max_stumps):
            rows = _heaviest(weights)
            some = weights[rows]
            j, place, under, over = best_stump(learned, rows, some, some * target[rows])
            value = np.where(codes[int(j)] < place, under, over)
            scores += value
            weights *= np.exp(-target * value[~held])
            weights /= weights.sum()
            chosen.append((int(j), low[int(j)] + place * width[int(j)], under, over))
            of_objects = scores[held & (y > 0)]
            cut = threshold_for(of_objects, np.ones(len(of_objects)), self.detection_rate)
            alarms = float((scores[held & (y < 0)] >= cut).mean())
            if alarms <= self.false_positive_rate:
                break
        places, thresholds, below, over_values = zip(*chosen)
        self.features_ = np.concatenate([self.features_, candidates[list(places)]])
        self.thresholds_ = np.append(self.thresholds_, thresholds)
        self.below_ = np.append(self.below_, below)
        self.above_ = np.append(self.above_, over_values)
        self.stage_ends_ = np.append(self.stage_ends_, len(self.features_))
        # a little slack: sums of a scanned image round differently from those of a window
        self.stage_thresholds_ = np.append(self.stage_thresholds_, cut - 1e-9)
        self.detection_rates_ = np.append(self.detection_rates_, (of_objects >= cut).mean())
        self.false_positive_rates_ = np.append(self.false_positive_rates_, alarms)

    def rates(self) -> CascadeRates:
        """Rates of the whole cascade: the products of the stages' rates on held-out windows.

        Returns
        -------
        rates : CascadeRates
        """
        return cascade_rates(self.detection_rates_, self.false_positive_rates_)

    def _scan(self, image: np.ndarray, stride: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Corners (y, x) of the windows that pass all stages, and their scores."""
        size = self._window()
        level = image.mean()  # sums of squares cancel less
        sums, squares = integral_image(image - level), integral_image((image - level) ** 2)
        shape = tuple((image.shape[k] - size[k]) // stride + 1 for k in (0, 1))
        scores = np.empty(shape)
        scan(
            sums,
            squares,
            np.array([*size, stride]),
            self.features_,
            np.column_stack([self.thresholds_, self.below_, self.above_]),
            self.stage_ends_,
            self.stage_thresholds_,
            scores,
        )
        passed = np.argwhere(np.isfinite(scores))
        return passed * stride, scores[tuple(passed.T)]

    def _passes(self, windows: np.ndarray) -> np.ndarray:
        """Whether each window passes all stages."""
        return np.array([len(self._scan(each)[0]) == 1 for each in windows])

    def _detect(self, image: np.ndarray) -> Detections:
        size, boxes, scores = self._window(), [np.zeros((0, 4))], [np.zeros(0)]
        for small, factor in pyramid(image, size, self.scale_factor):
            corners, found = self._scan(small, self.stride)
            boxes.append(_boxes_at(corners, size, factor))
            scores.append(found)
        every, score = np.concatenate(boxes), np.concatenate(scores)
        return best_boxes(every, score, np.full(len(every), self.label_), self.iou_threshold)


def _boxes_at(corners: np.ndarray, size: Any, factor: np.ndarray) -> np.ndarray:
    start = corners[:, ::-1] * factor
    return np.hstack([start, start + np.array([size[1], size[0]]) * factor]).reshape(-1, 4)


def _cut(image: np.ndarray, box: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The part of an image in a box, resized."""
    left, top = np.floor(box[:2]).astype(int)
    right, bottom = np.ceil(box[2:]).astype(int)
    return resize(image[top:bottom, left:right], size)


def _contrast(windows: np.ndarray) -> np.ndarray:
    return 1 / np.maximum(windows.reshape(len(windows), -1).std(axis=1), FLAT)


def _coded(sums, scale, candidates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (m, n) in bins as bytes, and start and width of the bins of each feature."""
    codes = np.empty((len(candidates), len(sums)), dtype=np.uint8)
    low, width = np.empty(len(candidates)), np.empty(len(candidates))
    for start in range(0, len(candidates), FEATURES_AT_ONCE):
        part = slice(start, start + FEATURES_AT_ONCE)
        values = np.empty((len(sums), len(candidates[part])))
        fill_rectangles(sums, candidates[part], scale, values)
        mean, spread = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-12)
        low[part], width[part] = mean - 2.5 * spread, 5 * spread / BINS
        placed = np.floor((values - low[part]) / width[part])
        codes[part] = np.clip(placed, 0, BINS - 1).astype(np.uint8).T
    return codes, low, width


def _heaviest(weights: np.ndarray) -> np.ndarray:
    """The fewest rows that hold nearly all weight, in their order.

    After some rounds most windows are classified rightly and weigh next to nothing.
    """
    order = np.argsort(-weights, kind="stable")
    mass = np.cumsum(weights[order])
    return np.sort(order[: np.searchsorted(mass, KEPT_WEIGHT * mass[-1]) + 1])


@kernel("u1[:,:]", "i8[:]", "f8[:]", "f8[:]")
def best_stump(codes: Any, rows: Any, weights: Any, signed: Any) -> tuple[int, int, float, float]:
    """The stump of least weighted squared error over all features, by some rows.

    codes (m, n), rows (k,), weights (k,), signed (k,) = weights times +-1. Gives the feature, the
    first bin of the upper side and the weighted means below and from it.
    """
    m, n = len(codes), len(rows)
    best, which, place, low, high = -1.0, 0, 1, 0.0, 0.0
    total, all_signed = weights.sum(), signed.sum()
    mass, sign = np.empty(BINS), np.empty(BINS)
    for j in range(m):
        mass[:] = 0.0
        sign[:] = 0.0
        for i in range(n):
            code = codes[j, rows[i]]
            mass[code] += weights[i]
            sign[code] += signed[i]
        w, s = 0.0, 0.0
        for k in range(1, BINS):
            w += mass[k - 1]
            s += sign[k - 1]
            rest = total - w
            if w <= 1e-12 or rest <= 1e-12:
                continue
            gain = s * s / w + (all_signed - s) ** 2 / rest
            if gain > best:
                best, which, place = gain, j, k
                low, high = s / w, (all_signed - s) / rest
    return which, place, low, high


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", "i8[:,:]", "f8[:,:]", "i8[:]", "f8[:]", "out f8[:,:]")
def scan(
    sums: Any, squares: Any, size: Any, features: Any, stumps: Any, ends: Any, cuts: Any, out: Any
) -> None:
    """Score of every window that passes all stages; NaN for the others.

    sums, squares (h + 1, w + 1) of pixels and of their squares; size (height, width, stride);
    features (k, 6); stumps (k, 3): threshold, value below, value from it; ends, cuts (stages,).
    """
    height, width, stride = size[0], size[1], size[2]
    area = float(height * width)
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            y, x = row * stride, column * stride
            bottom, right = y + height, x + width
            s = sums[bottom, right] - sums[y, right] - sums[bottom, x] + sums[y, x]
            q = squares[bottom, right] - squares[y, right] - squares[bottom, x] + squares[y, x]
            mean = s / area
            spread = max(np.sqrt(max(q / area - mean * mean, 0.0)), FLAT)
            score, begin, alive = 0.0, 0, True
            for stage in range(len(ends)):
                total = 0.0
                for k in range(begin, ends[stage]):
                    value = rectangle_value(sums, features[k], y, x)
                    low = value < stumps[k, 0] * spread
                    total += stumps[k, 1] if low else stumps[k, 2]
                begin = ends[stage]
                if total < cuts[stage]:
                    alive = False
                    break
                score += total - cuts[stage]
            out[row, column] = score if alive else np.nan


def vote_detections(
    detections: Any, *, min_votes: int = 2, iou_threshold: float = 0.3
) -> Detections:
    """Detections of one image that several detectors agree on: the voting variant of the text.

    Parameters
    ----------
    detections : list of Detections
        Of the same image, one entry per detector.
    min_votes : int, default=2
        Detectors that must have found a box there.
    iou_threshold : float, default=0.3
        Least overlap at which two boxes are the same object.

    Returns
    -------
    detections : Detections
        The best box of each object; its score is the mean over the detectors that found it.

    Examples
    --------
    >>> one = Detections(np.array([[0, 0, 9, 9]]), np.array([1.0]), np.array(["face"]))
    >>> other = Detections(np.array([[1, 0, 9, 9]]), np.array([3.0]), np.array(["face"]))
    >>> vote_detections([one, other]).scores.tolist()
    [2.0]
    """
    boxes = np.concatenate([np.asarray(each.boxes, float).reshape(-1, 4) for each in detections])
    scores = np.concatenate([np.asarray(each.scores, float) for each in detections])
    labels = np.concatenate([np.asarray(each.labels) for each in detections])
    voter = np.repeat(np.arange(len(detections)), [len(each) for each in detections])
    first = best_boxes(boxes, scores, labels, iou_threshold)
    kept, means = [], []
    overlaps = iou(first.boxes, boxes) if len(boxes) else np.zeros((0, 0))
    for place in range(len(first)):
        same = (overlaps[place] > iou_threshold) & (labels == first.labels[place])
        if len(np.unique(voter[same])) >= min_votes:
            kept.append(place)
            means.append(scores[same].mean())
    order = np.argsort(-np.array(means), kind="stable")
    chosen = np.array(kept, dtype=int)[order]
    return Detections(first.boxes[chosen], np.array(means)[order], first.labels[chosen])
