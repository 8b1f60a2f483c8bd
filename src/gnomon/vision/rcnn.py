"""R-CNN, Fast R-CNN and Faster R-CNN: classify the regions that may hold an object.

R-CNN warps the box of each proposal (selective search) to one size and gives it to a convolutional
classifier; boxes that score above a threshold are moved by regression and suppressed. Fast R-CNN
runs the convolutions once over the image and pools each proposal from the feature map. Faster R-CNN
also makes the proposals by a network: at each point of a grid it scores anchors of three scales and
three aspects, and the best of them, after suppression, go on to the classifier. The two losses, of
proposals and of detections, are minimized together.

The text's grid has a point every 16 pixels for anchors of 128 to 512 pixels; the networks here are
small and so are their images, so that stride and scales are parameters.

Texts: 000c 18.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.engine.stored import ListOf, Number
from gnomon.engine.threads import Crew
from gnomon.neural import (
    Activation,
    Conv2D,
    Dense,
    Flatten,
    GroupNorm,
    MaxPool2D,
    Network,
    softmax,
    train,
)
from gnomon.neural.batches import Slots, generator
from gnomon.neural.joint import Joint
from gnomon.neural.layers import Run
from gnomon.neural.network import Parameters
from gnomon.neural.trainer import rule_of
from gnomon.optimize import schedules
from gnomon.vision.anchors import make_anchors
from gnomon.vision.boxes import Detections, clip_boxes, non_maximum_suppression
from gnomon.vision.detector import as_scenes
from gnomon.vision.network_detector import DETECTOR_PARAMETERS, LEARNING, NetworkDetector
from gnomon.vision.region_pooling import pool_gradient, pool_regions
from gnomon.vision.regions import (
    IGNORED,
    OFFSETS,
    Examples,
    RegionLoss,
    anchor_examples,
    moved_boxes,
    region_examples,
)
from gnomon.vision.scenes import Scene
from gnomon.vision.selective_search import selective_search
from gnomon.vision.sliding_window import window_at

FEATURE_STRIDE = 4  # pixels of a cell of the feature map
GRID = (5, 5)  # cells of a pooled region
REGIONS = 16  # drawn from an image in each step
PROPOSALS_APART = 0.7  # proposals that overlap a better one by more are dropped
TRAINED_PROPOSALS = 32  # best proposals of an image that regions are drawn from
OBJECT = "object"


def _searched(image: np.ndarray, n_boxes: int) -> np.ndarray:
    return selective_search(image, n_boxes=n_boxes).boxes


def _convolution(filters: int) -> list[Any]:
    groups = 4 if filters % 4 == 0 else 1
    return [
        Conv2D(filters, 3, padding="same", bias=False),
        GroupNorm(groups),
        Activation("relu"),
    ]


@method(
    task="classify",
    texts="000c 18.2.3",
    use="Objects of any aspect where regions stand out, with few training images.",
    avoid="Where speed counts: every proposal is a pass of the network; use `FastRCNNDetector`.",
    takes="scenes",
    synonyms=("R-CNN", "regions with CNN features"),
)
@shared_parameters(DETECTOR_PARAMETERS)
class RCNNDetector(NetworkDetector):
    """Warp each proposal to one size and classify it by a convolutional network.

    Use it for objects of any aspect that stand out as regions; not where speed counts. All training
    images have one size; new ones are resized to it. Texts: 000c 18.2.3.

    Parameters
    ----------
    window : tuple of (height, width), default=(24, 24)
        Size that proposals are warped to; multiples of four.
    filters : int, default=16
        Of the first convolution; the second has twice as many.
    batch_size : int, default=64
        Regions of a step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All parameters of the network.
    losses_ : list of float
        Mean training loss of each epoch.
    input_shape_ : tuple of (height, width, channels)
    center_, scale_ : float
        What is subtracted from pixels, and by what they are divided.
    classes_ : ndarray
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.vision import RCNNDetector, make_scenes
    >>> scenes = make_scenes(4, size=(32, 32), scales=(12, 20), n_objects=1, random_state=0)
    >>> model = RCNNDetector(filters=2, max_iter=1, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _parameter_constraints = {"window": ["array-like"], "n_proposals": [whole(1)], **LEARNING}

    def __init__(
        self,
        window=(24, 24),
        n_proposals=200,
        *,
        filters=16,
        learning_rate=0.002,
        batch_size=64,
        max_iter=10,
        threshold=0.3,
        iou_threshold=0.3,
        random_state=None,
    ):
        self.window = window
        self.n_proposals = n_proposals
        self.filters = filters
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.random_state = random_state

    def _networks(self) -> list[Network]:
        size = self._window()
        layers = [
            *_convolution(self.filters),
            MaxPool2D(2),
            *_convolution(2 * self.filters),
            MaxPool2D(2),
            Flatten(),
            Dense(8 * self.filters, "relu"),
            Dense(len(self.classes_) + 1 + OFFSETS),
        ]
        return [Network(layers, (*size, 1))]

    def _window(self) -> tuple[int, int]:
        size = [int(each) for each in self.window]
        if len(size) != 2 or min(size) < 4 or size[0] % 4 or size[1] % 4:
            raise DataError(f"window is (height, width), multiples of 4, not {self.window!r}")
        return size[0], size[1]

    def _fit(self, scenes: list[Scene]) -> None:
        self._prepared(scenes)
        (network,) = self._networks()
        rng = self._rng()
        parts, targets = [], []
        for scene in scenes:
            codes = 1 + np.asarray(np.searchsorted(self.classes_, scene.labels))
            found = region_examples(
                _searched(scene.image, self.n_proposals), scene, codes, REGIONS, rng
            )
            parts.append(self._warped(scene.image, found.boxes))
            targets.append(found.target)
        trained = train(
            network,
            np.concatenate(parts),
            np.concatenate(targets).astype(np.float32),
            loss=RegionLoss(len(self.classes_)),
            learning_rate=schedules.geometric(self.learning_rate, 10 ** (1 / self.max_iter)),
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            init="he_normal",
            dtype=np.float32,
            random_state=int(rng.integers(2**31)),
        )
        self._keep_training(trained.parameters.flat, trained.losses)

    def _warped(self, image: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        size = self._window()
        parts = [window_at(image, box, size) for box in boxes]
        return self._scaled(np.array(parts).reshape(-1, *size))

    def _detect(self, image: np.ndarray) -> Detections:
        given = self._resized(image)
        (network,) = self._networks()
        boxes = _searched(given, self.n_proposals)
        told = network.predict(network.from_flat(self.weights_), self._warped(given, boxes))
        told = told.astype(np.float64)
        posterior = softmax(told[:, :-OFFSETS])[:, 1:]
        return self._chosen(moved_boxes(told[:, -OFFSETS:], boxes), posterior, image)


class RegionNetwork(NetworkDetector):
    """Networks over one feature map: convolutions, then proposals or classes of regions or both.

    The networks are, in this order, the convolutions, the proposals (where ``_proposes``), and the
    head that names regions (where ``_names``).
    """

    _proposes: ClassVar[bool] = True
    _names: ClassVar[bool] = True
    _cell = FEATURE_STRIDE

    def _networks(self) -> list[Network]:
        f = self.filters
        layers = [
            *_convolution(f),
            MaxPool2D(2),
            *_convolution(2 * f),
            MaxPool2D(2),
            *_convolution(4 * f),
        ]
        found = [Network(layers, self.input_shape_)]
        if self._proposes:
            above = _convolution(4 * f)
            for _ in range(self._halvings()):
                above += [MaxPool2D(2), *_convolution(4 * f)]
            per_point = len(self.scales_) * len(self.aspects)
            above.append(Conv2D(per_point * (2 + OFFSETS), 1))
            found.append(Network(above, found[0].output_shape))
        if self._names:
            head = [Flatten(), Dense(8 * f, "relu"), Dense(len(self.classes_) + 1 + OFFSETS)]
            found.append(Network(head, (*GRID, 4 * f)))
        return found

    def _cells(self) -> int:
        return self.stride if self._proposes else FEATURE_STRIDE

    def _halvings(self) -> int:
        times = self.stride / FEATURE_STRIDE
        if times < 1 or times != 2 ** int(np.log2(times)):
            raise DataError(f"stride is {FEATURE_STRIDE}, 8, 16 or 32, not {self.stride}")
        return int(np.log2(times))

    def _anchors(self) -> np.ndarray:
        """All anchors of an image (n, 4), in the order of the output of the proposals."""
        found = make_anchors(
            self.input_shape_, stride=self.stride, scales=self.scales_, aspects=self.aspects
        )
        return found.reshape(-1, 4)

    def _fit(self, scenes: list[Scene]) -> None:
        if self._proposes:
            self._halvings()
        images = self._prepared(scenes)
        if self._proposes:
            self.scales_ = self._chosen_scales(scenes)
        if not self._names:
            self.classes_ = np.array([OBJECT])
        rng = self._rng()
        joint = Joint(self._networks(), dtype=np.float32)
        joint.draw(rng, "he_normal")
        self._descend(joint, images, self._part(joint, images, scenes), rng)

    def _chosen_scales(self, scenes: list[Scene]) -> list[float]:
        if self.scales is not None:
            return [float(each) for each in self.scales]
        boxes = np.concatenate([scene.boxes for scene in scenes])
        roots = np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))
        return np.quantile(roots, [1 / 6, 1 / 2, 5 / 6]).tolist()

    def _descend(self, joint: Joint, images: np.ndarray, part: Callable, rng: Any) -> None:
        """Minimize the mean loss of images by Adam with a falling rate."""
        seed, losses = int(rng.integers(2**31)), []
        rule, slots = rule_of("adam"), Slots(images)
        rates = schedules.geometric(self.learning_rate, 10 ** (1 / self.max_iter))
        with Crew(None) as crew:
            for epoch in range(self.max_iter):
                total = 0.0
                batches = slots.epoch(self.batch_size, generator(seed, epoch + 1))
                for number, batch in enumerate(batches, 1):
                    place = (seed, epoch + 1, number)
                    value, gradient = joint.gradient(part, batch.rows, None, crew, place)
                    joint.flat += rule.step(joint.flat, gradient, rates(epoch))
                    total += value * len(batch.rows)
                losses.append(total / len(images))
        self._keep_training(joint.flat, losses)

    def _part(self, joint: Joint, images: np.ndarray, scenes: list[Scene]) -> Callable:
        """The loss of some images and its gradients, as `Joint.gradient` takes it."""
        anchors, marked, given = np.zeros((0, 4)), [], []
        if self._proposes:
            anchors = self._anchors()
            marked = [anchor_examples(anchors, scene.boxes) for scene in scenes]
        else:
            given = [_searched(scene.image, self.n_proposals) for scene in scenes]
        codes = [1 + np.asarray(np.searchsorted(self.classes_, each.labels)) for each in scenes]

        def part(
            slopes: list[Parameters], rows: np.ndarray, factors: np.ndarray, rng: Any
        ) -> float:
            run = Run(training=True)
            maps, tape = joint.networks[0].forward(joint.parameters[0], images[rows], run)
            back, loss = np.zeros_like(maps), 0.0
            proposals = [given[row] for row in rows] if given else []
            if self._proposes:
                told, above = joint.networks[1].forward(joint.parameters[1], maps, run)
                value, slope = proposal_loss(told, [marked[row] for row in rows], factors)
                loss += value
                back += joint.networks[1].backward(joint.parameters[1], above, slope, slopes[1])[1]
                proposals = [self._proposed(each, anchors, TRAINED_PROPOSALS)[0] for each in told]
            if self._names:
                drawn = [
                    region_examples(boxes, scenes[row], codes[row], REGIONS, rng)
                    for boxes, row in zip(proposals, rows)
                ]
                value, slope = self._naming_loss(joint, maps, drawn, factors, slopes[-1])
                loss += value
                back += slope
            joint.networks[0].backward(joint.parameters[0], tape, back, slopes[0], to_input=False)
            return loss

        return part

    def _naming_loss(
        self,
        joint: Joint,
        maps: np.ndarray,
        drawn: list[Examples],
        factors: np.ndarray,
        slopes: Parameters,
    ) -> tuple[float, np.ndarray]:
        """Loss of drawn regions, the mean of each image; the gradient by the feature maps."""
        image = np.repeat(np.arange(len(drawn)), [len(each.boxes) for each in drawn])
        boxes = np.concatenate([each.boxes for each in drawn]) / FEATURE_STRIDE
        weights = (factors / np.bincount(image, minlength=len(drawn)))[image]
        pooled = pool_regions(maps, image, boxes, GRID)
        head, parameters = joint.networks[-1], joint.parameters[-1]
        told, tape = head.forward(parameters, pooled.values.astype(maps.dtype), Run(training=True))
        loss = RegionLoss(len(self.classes_))
        values, slope = loss(told, np.concatenate([each.target for each in drawn]))
        slope = (slope * weights[:, None]).astype(maps.dtype)
        into = head.backward(parameters, tape, slope, slopes)[1]
        assert into is not None
        return float(values @ weights), pool_gradient(into, pooled.cells, maps.shape)

    def _proposed(
        self, told: np.ndarray, anchors: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Best proposals of an image after suppression, with their probabilities of an object."""
        output = told.reshape(-1, 2 + OFFSETS).astype(np.float64)
        score = softmax(output[:, :2])[:, 1]
        moved = moved_boxes(output[:, 2:], anchors)
        boxes, inside = clip_boxes(moved, self.input_shape_)
        kept = non_maximum_suppression(boxes, score[inside], iou_threshold=PROPOSALS_APART)[:count]
        return boxes[kept], score[inside][kept]

    def _proposals_of(
        self, joint: Joint, maps: np.ndarray, image: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Regions of a resized image that may hold an object, with scores."""
        if not self._proposes:
            boxes = _searched(image, self.n_proposals)
            return boxes, np.ones(len(boxes))
        told = joint.networks[1].predict(joint.parameters[1], maps)
        return self._proposed(told[0], self._anchors(), self.n_proposals)

    def _detect(self, image: np.ndarray) -> Detections:
        given = self._resized(image)
        joint = Joint(self._networks(), self.weights_)
        maps = joint.networks[0].predict(joint.parameters[0], self._scaled(given[None]))
        boxes, scores = self._proposals_of(joint, maps, given)
        if self._names:
            places = boxes / FEATURE_STRIDE
            pooled = pool_regions(maps, np.zeros(len(boxes), dtype=np.int64), places, GRID)
            told = joint.networks[-1].predict(joint.parameters[-1], pooled.values).astype(float)
            boxes = moved_boxes(told[:, -OFFSETS:], boxes)
            return self._chosen(boxes, softmax(told[:, :-OFFSETS])[:, 1:], image)
        return self._chosen(boxes, scores[:, None], image)


def proposal_loss(
    told: np.ndarray, marked: list[Examples], factors: np.ndarray
) -> tuple[float, np.ndarray]:
    """Loss of anchors: objects and background count alike in each image; and its gradient.

    Parameters
    ----------
    told : ndarray of shape (n_images, rows, columns, n_anchors * 6)
    marked : list of Examples
        What each anchor of each image should be.
    factors : ndarray of shape (n_images,)

    Returns
    -------
    loss : float
    gradient : ndarray of the shape of told
    """
    targets = np.concatenate([each.target for each in marked])
    image = np.repeat(np.arange(len(marked)), len(marked[0].target))
    weights = np.zeros(len(targets))
    for code in (0, 1):
        mine = targets[:, 0] == code
        count = np.bincount(image[mine], minlength=len(marked))
        weights[mine] = (0.5 * factors / np.maximum(count, 1))[image[mine]]
    codes = np.where(targets[:, :1] == IGNORED, 0, targets[:, :1])
    loss = RegionLoss(1)
    values, slope = loss(
        told.reshape(-1, 2 + OFFSETS), np.concatenate([codes, targets[:, 1:]], axis=1)
    )
    gradient = (slope * weights[:, None]).astype(told.dtype)
    return float(values @ weights), gradient.reshape(told.shape)


ANCHORS: dict[str, Any] = {
    "stride": [whole(FEATURE_STRIDE)],
    "scales": ["array-like", None],
    "aspects": ["array-like"],
}


@method(
    task="classify",
    texts="000c 18.2.3",
    use="Boxes that may hold an object of any class, from one pass of a network.",
    avoid="Where the classes of objects are wanted; use `FasterRCNNDetector`.",
    peers=("torchvision.models.detection.rpn.RegionProposalNetwork",),
    takes="scenes",
    synonyms=("RPN", "anchor boxes", "objectness"),
)
@shared_parameters(DETECTOR_PARAMETERS)
class RegionProposalNetwork(RegionNetwork):
    """Score the anchors of a grid as object or background, and move them to the object.

    Use it for regions that may hold an object; not where their classes are wanted. Any anchor of a
    good overlap with any true box should score high. ``predict`` gives boxes of the one class
    "object". Texts: 000c 18.2.3.

    Parameters
    ----------
    n_proposals : int, default=50
        Most proposals of an image.
    threshold : float, default=0.5
        Least probability of an object.
    iou_threshold : float, default=0.7
        Boxes that overlap a better one by more are dropped.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All parameters of the networks.
    losses_ : list of float
        Mean training loss of each epoch.
    scales_ : list of float
        Roots of the areas of anchors.
    input_shape_ : tuple of (height, width, channels)
    center_, scale_ : float
        What is subtracted from pixels, and by what they are divided.
    classes_ : ndarray
        "object".
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.vision import RegionProposalNetwork, make_scenes
    >>> scenes = make_scenes(4, size=(32, 32), scales=(12, 20), n_objects=1, random_state=0)
    >>> model = RegionProposalNetwork(filters=2, max_iter=1, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _names = False
    _parameter_constraints = {**ANCHORS, "n_proposals": [whole(1)], **LEARNING}
    _stored = {**NetworkDetector._stored, "scales_": ListOf(Number(low=0))}

    def __init__(
        self,
        stride=8,
        scales=None,
        aspects=(0.5, 1.0, 2.0),
        n_proposals=50,
        *,
        filters=16,
        learning_rate=0.002,
        batch_size=16,
        max_iter=15,
        threshold=0.5,
        iou_threshold=0.7,
        random_state=None,
    ):
        self.stride = stride
        self.scales = scales
        self.aspects = aspects
        self.n_proposals = n_proposals
        self.filters = filters
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.random_state = random_state

    def score(self, X: Any, y: Any = None) -> float:
        """Average precision of the proposals at an overlap of one half, whatever the classes.

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
        same = [(each.boxes, np.full(len(each.boxes), OBJECT)) for each in scenes]
        return super().score([each.image for each in scenes], same)


@method(
    task="classify",
    texts="000c 18.2.3",
    use="Objects that stand out as regions, with one pass of the convolutions for an image.",
    avoid="Where selective search misses objects or is too slow; use `FasterRCNNDetector`.",
    takes="scenes",
    synonyms=("Fast R-CNN", "ROI pooling"),
)
@shared_parameters(DETECTOR_PARAMETERS)
class FastRCNNDetector(RegionNetwork):
    """Pool each proposal of selective search from one feature map of the image, and classify it.

    Use it for objects that stand out as regions; not where selective search misses them. All
    training images have one size; new ones are resized to it. Texts: 000c 18.2.3.

    Parameters
    ----------
    filters : int, default=16
        Of the first convolution; the second has two and the third four times as many.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All parameters of the networks.
    losses_ : list of float
        Mean training loss of each epoch.
    input_shape_ : tuple of (height, width, channels)
    center_, scale_ : float
        What is subtracted from pixels, and by what they are divided.
    classes_ : ndarray
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.vision import FastRCNNDetector, make_scenes
    >>> scenes = make_scenes(4, size=(32, 32), scales=(12, 20), n_objects=1, random_state=0)
    >>> model = FastRCNNDetector(filters=2, max_iter=1, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _proposes = False
    _parameter_constraints = {"n_proposals": [whole(1)], **LEARNING}

    def __init__(
        self,
        n_proposals=200,
        *,
        filters=16,
        learning_rate=0.002,
        batch_size=16,
        max_iter=15,
        threshold=0.3,
        iou_threshold=0.3,
        random_state=None,
    ):
        self.n_proposals = n_proposals
        self.filters = filters
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.random_state = random_state


@method(
    task="classify",
    texts="000c 18.2.3",
    use="Objects of several classes, sizes and aspects: accurate, and trained as one.",
    avoid="Where the time of a detection counts most; use `YoloDetector`.",
    peers=("torchvision.models.detection.FasterRCNN",),
    takes="scenes",
    synonyms=("Faster R-CNN", "anchor boxes"),
)
@shared_parameters(DETECTOR_PARAMETERS)
class FasterRCNNDetector(RegionNetwork):
    """Propose regions by a network over anchors and classify them from the same feature map.

    Use it for objects of several classes, sizes and aspects; not where the time of a detection
    counts most. The losses of proposals and of detections are minimized together. All training
    images have one size; new ones are resized to it. Texts: 000c 18.2.3.

    Parameters
    ----------
    n_proposals : int, default=20
        Most proposals of an image that are classified.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All parameters of the networks.
    losses_ : list of float
        Mean training loss of each epoch.
    scales_ : list of float
        Roots of the areas of anchors.
    input_shape_ : tuple of (height, width, channels)
    center_, scale_ : float
        What is subtracted from pixels, and by what they are divided.
    classes_ : ndarray
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.vision import FasterRCNNDetector, make_scenes
    >>> scenes = make_scenes(4, size=(32, 32), scales=(12, 20), n_objects=1, random_state=0)
    >>> model = FasterRCNNDetector(filters=2, max_iter=1, random_state=0).fit(scenes)
    >>> len(model.predict(scenes[:2]))
    2
    """

    _parameter_constraints = {**ANCHORS, "n_proposals": [whole(1)], **LEARNING}
    _stored = {**NetworkDetector._stored, "scales_": ListOf(Number(low=0))}

    def __init__(
        self,
        stride=8,
        scales=None,
        aspects=(0.5, 1.0, 2.0),
        n_proposals=20,
        *,
        filters=16,
        learning_rate=0.002,
        batch_size=16,
        max_iter=15,
        threshold=0.3,
        iou_threshold=0.3,
        random_state=None,
    ):
        self.stride = stride
        self.scales = scales
        self.aspects = aspects
        self.n_proposals = n_proposals
        self.filters = filters
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.threshold = threshold
        self.iou_threshold = iou_threshold
        self.random_state = random_state
