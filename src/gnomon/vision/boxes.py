"""Boxes in images: overlap, suppression, matching to the truth, average precision, offsets.

A box is ``(left, top, right, bottom)`` in pixels, the right and lower ends excluded, so that a box
of one pixel at the origin is (0, 0, 1, 1). The overlap of two boxes is the area of their
intersection over the area of their union (IoU).

Texts: 000c 18.2.1 (suppression, box regression) · 000c 18.2.5 (IoU, matching, mean average
precision).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.evaluate.ranking import MeanAveragePrecision, mean_average_precision

# the thresholds over which the second form of mean average precision is averaged
TEN_THRESHOLDS = tuple(np.round(0.5 + 0.05 * np.arange(10), 2).tolist())
MOST_CELLS = 512  # cells along each side of the grid of kept boxes: measured flat from 256 to 1024


def as_boxes(boxes: Any, name: str = "boxes", image_shape: Any = None) -> np.ndarray:
    """Boxes as an array of shape (n, 4), checked.

    Parameters
    ----------
    boxes : array-like of shape (n, 4)
    name : str, default="boxes"
        How an error calls them.
    image_shape : tuple of (height, width), default=None
        Boxes that do not lie inside are refused.

    Returns
    -------
    boxes : ndarray of float64 of shape (n, 4)
    """
    found = np.asarray(boxes, dtype=np.float64)
    if found.size == 0:
        return np.zeros((0, 4))
    if found.ndim != 2 or found.shape[1] != 4:
        raise DataError(
            f"{name} must have the shape (n, 4): left, top, right, bottom; not {found.shape}"
        )
    if not np.isfinite(found).all():
        raise DataError(
            f"{name}[{_first(~np.asarray(np.isfinite(found).all(axis=1)))}] is not finite"
        )
    bad = (found[:, 2] <= found[:, 0]) | (found[:, 3] <= found[:, 1])
    if bad.any():
        place = _first(bad)
        raise DataError(
            f"{name}[{place}] = {found[place].tolist()} has no area: right must exceed left and "
            "bottom must exceed top. Boxes are (left, top, right, bottom), not (x, y, width, "
            "height)"
        )
    if image_shape is not None:
        height, width = image_shape[:2]
        outside = (found[:, :2] < 0).any(axis=1) | (found[:, 2] > width) | (found[:, 3] > height)
        if outside.any():
            place = _first(outside)
            raise DataError(
                f"{name}[{place}] = {found[place].tolist()} is not inside the image of {height} x "
                f"{width} pixels (height x width). Use clip_boxes"
            )
    return np.ascontiguousarray(found)


def _first(marks: np.ndarray) -> int:
    return int(np.flatnonzero(marks)[0])


def clip_boxes(boxes: Any, image_shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """Boxes cut at the border of the image; those that lie outside are left out.

    Parameters
    ----------
    boxes : array-like of shape (n, 4)
    image_shape : tuple of (height, width)

    Returns
    -------
    boxes : ndarray of shape (m, 4)
    kept : ndarray of int of shape (m,)
        Their positions in what was given.

    Examples
    --------
    >>> clip_boxes([[-2, 1, 4, 9], [20, 20, 30, 30]], (8, 8))[0].tolist()
    [[0.0, 1.0, 4.0, 8.0]]
    """
    found = as_boxes(boxes)
    height, width = image_shape[:2]
    cut = np.clip(found, 0, [width, height, width, height])
    kept = np.flatnonzero((cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1]))
    return cut[kept], kept


def iou(boxes_a: Any, boxes_b: Any = None, *, paired: bool = False) -> np.ndarray:
    """Intersection over union of boxes (000c 18.2.5).

    Parameters
    ----------
    boxes_a : array-like of shape (n, 4)
        Left, top, right, bottom.
    boxes_b : array-like of shape (m, 4), default=None
        None for the same boxes.
    paired : bool, default=False
        Compare the first with the first, the second with the second and so on.

    Returns
    -------
    overlap : ndarray of shape (n, m), or (n,) where paired
        From 0 (apart) to 1 (equal).

    Examples
    --------
    >>> float(iou([[0, 0, 2, 2]], [[1, 1, 3, 3]])[0, 0]) == 1 / 7
    True
    """
    a = as_boxes(boxes_a, "boxes_a")
    b = a if boxes_b is None else as_boxes(boxes_b, "boxes_b")
    if paired:
        if len(a) != len(b):
            raise DataError(f"paired boxes: boxes_a has {len(a):,}, boxes_b has {len(b):,}")
        return _overlap(a, b)
    what = f"the overlap of {len(a):,} with {len(b):,} boxes"
    memory.require(8 * len(a) * len(b), what, "Compare fewer at once, or use paired=True.")
    out = np.empty((len(a), len(b)))
    all_overlaps(a, b, out)
    return out


def _overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of boxes that broadcast against each other, the last axis being of size 4."""
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    inside = np.prod(np.maximum(sides, 0), axis=-1)
    areas = np.prod(a[..., 2:] - a[..., :2], axis=-1) + np.prod(b[..., 2:] - b[..., :2], axis=-1)
    return inside / (areas - inside)


@kernel("f8[:,:]", "f8[:,:]", "out f8[:,:]")
def all_overlaps(a: Any, b: Any, out: Any) -> None:
    """IoU of every box of a (n, 4) with every box of b (m, 4)."""
    m = len(b)
    areas = np.empty(m)
    for j in range(m):
        areas[j] = (b[j, 2] - b[j, 0]) * (b[j, 3] - b[j, 1])
    for i in range(len(a)):
        left, top, right, bottom = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        area = (right - left) * (bottom - top)
        for j in range(m):
            wide = max(min(right, b[j, 2]) - max(left, b[j, 0]), 0.0)
            high = max(min(bottom, b[j, 3]) - max(top, b[j, 1]), 0.0)
            inside = wide * high
            out[i, j] = inside / (area + areas[j] - inside)


def mask_iou(masks_a: Any, masks_b: Any = None) -> np.ndarray:
    """Intersection over union of regions that are given pixel by pixel.

    Parameters
    ----------
    masks_a : array-like of bool of shape (n, height, width)
    masks_b : array-like of bool of shape (m, height, width), default=None
        None for the same masks.

    Returns
    -------
    overlap : ndarray of shape (n, m)
        0 where both masks are empty.

    Examples
    --------
    >>> mask_iou([[[1, 1, 0]]], [[[0, 1, 1]]]).round(3).tolist()
    [[0.333]]
    """
    a = np.asarray(masks_a, dtype=bool)
    b = a if masks_b is None else np.asarray(masks_b, dtype=bool)
    if a.ndim != 3 or b.ndim != 3 or a.shape[1:] != b.shape[1:]:
        raise DataError(
            "masks must have the shapes (n, height, width) and (m, height, width) with the same "
            f"height and width, not {a.shape} and {b.shape}"
        )
    flat_a, flat_b = (each.reshape(len(each), -1).astype(np.float64) for each in (a, b))
    inside = flat_a @ flat_b.T
    union = flat_a.sum(axis=1)[:, None] + flat_b.sum(axis=1) - inside
    return inside / np.maximum(union, 1)


def non_maximum_suppression(
    boxes: Any,
    scores: Any,
    *,
    iou_threshold: float = 0.5,
    score_threshold: float | None = None,
    labels: Any = None,
) -> np.ndarray:
    """Positions of the boxes that remain, the best first (000c 18.2.1).

    The box of the highest score is kept, every box that overlaps it by more than `iou_threshold`
    is dropped, and so on with what is left. Kept boxes are entered in a grid by their centers. A
    box compares itself only with the cells that can hold a box of such an overlap, so that the
    time grows with the number of boxes and not with its square.

    Parameters
    ----------
    boxes : array-like of shape (n, 4)
        Left, top, right, bottom.
    scores : array-like of shape (n,)
    iou_threshold : float, default=0.5
        From 0 to 1; boxes that overlap a kept one by more are dropped.
    score_threshold : float, default=None
        Boxes of a lower score are dropped first; None keeps all.
    labels : array-like of shape (n,), default=None
        Classes: boxes of different classes do not suppress each other.

    Returns
    -------
    kept : ndarray of int
        By falling score; the earlier box first where scores are equal.

    Examples
    --------
    >>> boxes = [[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 5, 5]]
    >>> non_maximum_suppression(boxes, [0.9, 0.8, 0.7, 0.6]).tolist()
    [0, 2, 3]
    """
    found = as_boxes(boxes)
    score = _scores(scores, len(found))
    if not 0 <= iou_threshold <= 1:
        raise DataError(f"iou_threshold is from 0 to 1, not {iou_threshold}")
    if labels is None:
        codes = np.zeros(len(found), dtype=np.int64)
    else:
        codes = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64).ravel()
        if len(codes) != len(found):
            raise DataError(f"there are {len(found):,} boxes and {len(codes):,} labels")
    order = np.argsort(-score, kind="stable")
    if score_threshold is not None:
        order = order[score[order] >= score_threshold]
    if not len(order):
        return order
    chosen, sides = found[order], found[order, 2:] - found[order, :2]
    centers = chosen[:, :2] + sides / 2
    low, high = centers.min(axis=0), centers.max(axis=0)
    most = min(MOST_CELLS, int(np.sqrt(len(order))) + 1)
    cell = np.maximum(np.maximum(np.median(sides, axis=0) / 2, (high - low) / most), 1e-12)
    n_cells = np.floor((high - low) / cell).astype(np.int64) + 1
    # largest distance of centers, in widths of the box, at which the overlap can be so large
    reach = (1 - iou_threshold) / (2 * iou_threshold) if iou_threshold > 0 else np.inf
    keep = np.zeros(len(order), dtype=np.bool_)
    suppress(chosen, codes[order], low, cell, n_cells, reach, iou_threshold, keep)
    return order[keep]


@kernel("f8[:,:]", "i8[:]", "f8[:]", "f8[:]", "i8[:]", "f8", "f8", "out b1[:]")
def suppress(
    boxes: Any, codes: Any, low: Any, cell: Any, n_cells: Any, reach: Any, threshold: Any, keep: Any
) -> None:
    """Mark the boxes that remain. boxes (n, 4) and codes (n,) by falling score.

    Kept boxes are chained per cell of their centers. IoU above t bounds the ratio of widths by
    1 / t and the distance of centers by w (1 - t) / (2 t), w the width of the box in question.
    """
    n = len(boxes)
    first = np.full(n_cells[0] * n_cells[1], -1, dtype=np.int64)
    after = np.empty(n, dtype=np.int64)
    for i in range(n):
        left, top, right, bottom = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
        wide, high = right - left, bottom - top
        x, y = left + wide / 2 - low[0], top + high / 2 - low[1]
        area = wide * high
        ends = np.empty(4)
        ends[0] = (x - reach * wide) / cell[0] - 1e-9
        ends[1] = (x + reach * wide) / cell[0] + 1e-9
        ends[2] = (y - reach * high) / cell[1] - 1e-9
        ends[3] = (y + reach * high) / cell[1] + 1e-9
        from_x = int(max(np.floor(ends[0]), 0.0))
        to_x = int(min(np.floor(ends[1]), n_cells[0] - 1.0))
        from_y = int(max(np.floor(ends[2]), 0.0))
        to_y = int(min(np.floor(ends[3]), n_cells[1] - 1.0))
        alive = True
        for row in range(from_y, to_y + 1):
            for column in range(from_x, to_x + 1):
                j = first[row * n_cells[0] + column]
                while j >= 0:
                    w = min(right, boxes[j, 2]) - max(left, boxes[j, 0])
                    h = min(bottom, boxes[j, 3]) - max(top, boxes[j, 1])
                    if w > 0 and h > 0 and codes[j] == codes[i]:
                        inside = w * h
                        other = (boxes[j, 2] - boxes[j, 0]) * (boxes[j, 3] - boxes[j, 1])
                        if inside > threshold * (area + other - inside):
                            alive = False
                            break
                    j = after[j]
                if not alive:
                    break
            if not alive:
                break
        if alive:
            keep[i] = True
            row = min(int(y / cell[1]), n_cells[1] - 1)
            place = row * n_cells[0] + min(int(x / cell[0]), n_cells[0] - 1)
            after[i] = first[place]
            first[place] = i


def _scores(scores: Any, n: int) -> np.ndarray:
    found = np.asarray(scores, dtype=np.float64).ravel()
    if len(found) != n:
        raise DataError(f"there are {n:,} boxes and {len(found):,} scores")
    if not np.isfinite(found).all():
        raise DataError(f"scores[{_first(~np.isfinite(found))}] is not finite")
    return found


@dataclass(repr=False)
class DetectionMatches(Result):
    """Which detections of an image are right, the most confident first.

    Attributes
    ----------
    order : ndarray of int
        Positions of the detections by falling score.
    relevant : ndarray of bool
        Whether each of them, in that order, matches a true box.
    truth : ndarray of int
        The true box that it matches; -1 for none.
    overlap : ndarray
        Its overlap with that box; 0 for none.
    scores : ndarray
    n_truth : int
        Number of true boxes.
    """

    order: np.ndarray
    relevant: np.ndarray
    truth: np.ndarray
    overlap: np.ndarray
    scores: np.ndarray
    n_truth: int

    def _title(self) -> str:
        right = int(self.relevant.sum())
        return f"{right} of {self.n_truth} true boxes found by {len(self.order)} detections"

    def _columns(self) -> dict[str, list]:
        return {
            "detection": self.order.tolist(),
            "score": self.scores.tolist(),
            "true box": [int(each) if each >= 0 else None for each in self.truth],
            "overlap": self.overlap.tolist(),
        }


def match_detections(
    boxes: Any, scores: Any, truth: Any, *, iou_threshold: float = 0.5
) -> DetectionMatches:
    """Match detections of one class in one image to its true boxes (000c 18.2.5).

    In the order of falling score each detection takes the true box that it overlaps most among
    those that are left, where the overlap exceeds the threshold. Each true box is taken once.

    Parameters
    ----------
    boxes : array-like of shape (n, 4)
    scores : array-like of shape (n,)
    truth : array-like of shape (m, 4)
    iou_threshold : float, default=0.5

    Returns
    -------
    matches : DetectionMatches

    Examples
    --------
    >>> boxes = [[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 5, 5]]
    >>> found = match_detections(boxes, [0.9, 0.8, 0.7, 0.6], [boxes[0], boxes[2]])
    >>> found.relevant.astype(int).tolist()
    [1, 0, 1, 0]
    """
    found, true = as_boxes(boxes), as_boxes(truth, "truth")
    score = _scores(scores, len(found))
    order = np.argsort(-score, kind="stable")
    taken = np.full(len(order), -1, dtype=np.int64)
    best = np.zeros(len(order))
    if len(true) and len(order):
        overlaps = iou(found[order], true)
        for place in range(len(order)):
            j = int(np.argmax(overlaps[place]))
            if overlaps[place, j] > iou_threshold:
                taken[place], best[place] = j, overlaps[place, j]
                overlaps[:, j] = -1
    return DetectionMatches(order, taken >= 0, taken, best, score[order], len(true))


@dataclass(frozen=True)
class Detections:
    """Boxes of one image with their scores and classes, by falling score.

    Attributes
    ----------
    boxes : ndarray of shape (n, 4)
        Left, top, right, bottom.
    scores : ndarray of shape (n,)
    labels : ndarray of shape (n,)
        The class of each box.
    """

    boxes: np.ndarray
    scores: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)


def detection_precision(
    detections: Any,
    truth: Any,
    *,
    iou_thresholds: Any = 0.5,
    form: str = "eleven_point",
) -> MeanAveragePrecision:
    """Mean average precision of detections in several images (000c 18.2.5).

    Detections are matched image by image and class by class; the lists of a class are merged over
    images by falling score.

    Parameters
    ----------
    detections : list of Detections
        One entry per image; anything with ``boxes``, ``scores`` and ``labels``.
    truth : list of Scene, or of pairs of boxes and labels
        One entry per image.
    iou_thresholds : float, sequence of float or "ten", default=0.5
        "ten" stands for 0.50, 0.55 ... 0.95.
    form : {"eleven_point", "area"}, default="eleven_point"

    Returns
    -------
    precision : MeanAveragePrecision

    Examples
    --------
    >>> found = [Detections([[0, 0, 9, 10]], [0.9], ["cat"])]
    >>> detection_precision(found, [([[0, 0, 10, 10]], ["cat"])]).value
    1.0
    """
    if len(detections) != len(truth):
        raise DataError(f"detections of {len(detections)} images, truth of {len(truth)}")
    if isinstance(iou_thresholds, str) and iou_thresholds != "ten":
        raise DataError(f"iou_thresholds is a number, numbers or 'ten', not {iou_thresholds!r}")
    wanted = TEN_THRESHOLDS if isinstance(iou_thresholds, str) else iou_thresholds
    pairs = [_boxes_and_labels(each) for each in truth]
    classes = sorted({str(each) for _, labels in pairs for each in labels})
    if not classes:
        raise DataError("no image has a true box: there is no class to average over")
    lists = {
        float(threshold): {name: _merged(detections, pairs, name, threshold) for name in classes}
        for threshold in np.atleast_1d(wanted)
    }
    return mean_average_precision(lists, form)


def _boxes_and_labels(each: Any) -> tuple[Any, Any]:
    return (each.boxes, each.labels) if hasattr(each, "boxes") else tuple(each)


def _merged(detections: Any, pairs: Any, name: str, threshold: float) -> tuple[np.ndarray, int]:
    """Relevance of all detections of a class by falling score, and how many true boxes it has."""
    scores, relevant, count = [], [], 0
    for found, (true, labels) in zip(detections, pairs):
        of_class = np.asarray(labels).astype(str) == name
        mine = np.asarray(found.labels).astype(str) == name
        boxes = np.asarray(found.boxes, dtype=float).reshape(-1, 4)[mine]
        matches = match_detections(
            boxes,
            np.asarray(found.scores)[mine],
            np.asarray(true, dtype=float).reshape(-1, 4)[of_class],
            iou_threshold=threshold,
        )
        scores.append(matches.scores)
        relevant.append(matches.relevant)
        count += matches.n_truth
    order = np.argsort(-np.concatenate(scores), kind="stable")
    return np.concatenate(relevant)[order].astype(int), count


def encode_boxes(boxes: Any, reference: Any) -> np.ndarray:
    """Offsets of boxes from reference boxes: what box regression predicts.

    The shift of the center in units of the reference's width and height, and the logarithms of
    the ratios of widths and of heights: ``((x - x0)/w0, (y - y0)/h0, log(w/w0), log(h/h0))``.

    Parameters
    ----------
    boxes, reference : array-like of shape (n, 4)

    Returns
    -------
    offsets : ndarray of shape (n, 4)

    Examples
    --------
    >>> encode_boxes([[1, 0, 3, 2]], [[0, 0, 2, 2]]).tolist()
    [[0.5, 0.0, 0.0, 0.0]]
    """
    center, sides = _center_and_sides(as_boxes(boxes))
    start, unit = _center_and_sides(as_boxes(reference, "reference"))
    if len(center) != len(start):
        raise DataError(f"there are {len(center):,} boxes and {len(start):,} reference boxes")
    return np.hstack([(center - start) / unit, np.log(sides / unit)])


def decode_boxes(offsets: Any, reference: Any) -> np.ndarray:
    """Boxes from offsets: the inverse of `encode_boxes`.

    Parameters
    ----------
    offsets : array-like of shape (n, 4)
    reference : array-like of shape (n, 4)

    Returns
    -------
    boxes : ndarray of shape (n, 4)

    Examples
    --------
    >>> decode_boxes([[0.5, 0.0, 0.0, 0.0]], [[0, 0, 2, 2]]).tolist()
    [[1.0, 0.0, 3.0, 2.0]]
    """
    start, unit = _center_and_sides(as_boxes(reference, "reference"))
    given = np.asarray(offsets, dtype=np.float64).reshape(-1, 4)
    if len(given) != len(start):
        raise DataError(f"there are {len(given):,} offsets and {len(start):,} reference boxes")
    center = start + given[:, :2] * unit
    sides = np.exp(given[:, 2:]) * unit
    return np.hstack([center - sides / 2, center + sides / 2])


def _center_and_sides(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sides = boxes[:, 2:] - boxes[:, :2]
    return boxes[:, :2] + sides / 2, sides
