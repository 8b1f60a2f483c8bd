"""Regions to learn from: which anchors and proposals are objects, and the loss of a region.

A region is an object where it overlaps a true box enough, background where it overlaps none, and
is left out in between. Its loss is the log loss of its class plus, for objects, the smooth absolute
error of the offsets to the true box:

    L = -log p(class) + sum_k h(t_k - o_k),   h(d) = d^2/2 for |d| < 1, |d| - 1/2 beyond

The same loss serves a network that proposes regions (the classes are object and background) and
one that names them.

Texts: 000c 18.2.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural import Loss, softmax
from gnomon.vision.boxes import clip_boxes, decode_boxes, encode_boxes, iou
from gnomon.vision.scenes import Scene

OFFSETS = 4  # of a box: center and size, in two directions
# typical offsets, by which they are divided, so that class and place count alike
OFFSET_SCALE = np.array([0.1, 0.1, 0.2, 0.2])
MOST_OFFSET = np.array([1.0, 1.0, 1.5, 1.5])  # larger ones are cut, so that no box overflows
NEAR, FAR = 0.5, 0.3  # overlap from which an anchor is an object, below which it is background
IGNORED = -1  # scikit-learn's label of rows without one


class RegionLoss(Loss):
    """The log loss of the class of a region plus the smooth absolute error of its offsets.

    An output is the scores of the background and of the classes, then four offsets; a target is a
    code (0 for the background) and four offsets, which count for objects alone.

    Parameters
    ----------
    n_classes : int
        Classes of objects.
    """

    name = "region"

    def __init__(self, n_classes: int):
        self.n_classes = n_classes

    def check(self, output_shape: tuple[int, ...], target: np.ndarray) -> None:
        """Refuse a target that does not fit the output."""
        if output_shape != (self.n_classes + 1 + OFFSETS,) or target.shape[1:] != (1 + OFFSETS,):
            raise DataError(
                f"a region gives {self.n_classes + 1 + OFFSETS} numbers and has a code and 4 "
                f"offsets; the output is {output_shape}, the target {target.shape[1:]}"
            )

    def __call__(self, output: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loss of each region, and the gradient of their sum with respect to the output."""
        each, code = np.arange(len(output)), target[:, 0].astype(np.intp)
        posterior = softmax(output[:, :-OFFSETS])
        miss = (output[:, -OFFSETS:] - target[:, 1:]) * (code > 0)[:, None]
        size = np.abs(miss)
        smooth = np.where(size < 1, 0.5 * miss**2, size - 0.5)
        losses = -np.log(np.maximum(posterior[each, code], 1e-30)) + smooth.sum(axis=1)
        gradient = np.empty_like(output)
        gradient[:, :-OFFSETS] = posterior
        gradient[each, code] -= 1
        gradient[:, -OFFSETS:] = np.clip(miss, -1, 1)
        return losses, gradient


class Examples(NamedTuple):
    """Regions of an image with what a network should say of them.

    Attributes
    ----------
    boxes : ndarray of shape (n, 4)
    target : ndarray of shape (n, 5)
        Code of the class (0 background, -1 left out) and offsets to the true box.
    """

    boxes: np.ndarray
    target: np.ndarray


def anchor_examples(anchors: np.ndarray, truth: np.ndarray) -> Examples:
    """Which anchors are objects: those of a good overlap, and the best of each true box.

    Parameters
    ----------
    anchors : ndarray of shape (n, 4)
    truth : ndarray of shape (m, 4)

    Returns
    -------
    examples : Examples
        Code 1 for objects, 0 for background, -1 for those in between.
    """
    target = np.zeros((len(anchors), 1 + OFFSETS))
    if len(truth):
        overlap = iou(anchors, truth)
        nearest, best = overlap.argmax(axis=1), overlap.max(axis=1)
        target[:, 0] = np.where(best >= NEAR, 1, np.where(best < FAR, 0, IGNORED))
        for true, anchor in enumerate(overlap.argmax(axis=0)):
            target[anchor, 0], nearest[anchor] = 1, true
        objects = target[:, 0] == 1
        target[objects, 1:] = offsets_to(truth[nearest[objects]], anchors[objects])
    return Examples(anchors, target)


def region_examples(
    proposals: np.ndarray, scene: Scene, codes: np.ndarray, n_regions: int, rng: Any
) -> Examples:
    """Draw regions of a scene: at most half objects, the rest background.

    The true boxes, and copies that are moved and resized a little, are among those drawn from.

    Parameters
    ----------
    proposals : ndarray of shape (n, 4)
    scene : Scene
    codes : ndarray of int of shape (m,)
        Classes of the true boxes, from 1.
    n_regions : int
    rng : numpy.random.Generator

    Returns
    -------
    examples : Examples
    """
    truth = scene.boxes
    around = [truth]
    for _ in range(4 if len(truth) else 0):
        noise = rng.uniform(-0.15, 0.15, (len(truth), OFFSETS))
        around.append(decode_boxes(noise, truth))
    boxes = clip_boxes(np.concatenate([*around, proposals]), scene.image.shape)[0]
    target = np.zeros((len(boxes), 1 + OFFSETS))
    if len(truth):
        overlap = iou(boxes, truth)
        nearest, best = overlap.argmax(axis=1), overlap.max(axis=1)
        objects = best >= NEAR
        target[objects, 0] = codes[nearest[objects]]
        target[objects, 1:] = offsets_to(truth[nearest[objects]], boxes[objects])
    of_object, behind = (np.flatnonzero(mark) for mark in (target[:, 0] > 0, target[:, 0] == 0))
    some = rng.permutation(of_object)[: n_regions // 2]
    others = rng.permutation(behind)[: n_regions - len(some)]
    drawn = np.concatenate([some, others])
    return Examples(boxes[drawn], target[drawn])


def offsets_to(truth: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """What a network should give for boxes: scaled offsets to the true ones."""
    return encode_boxes(truth, boxes) / OFFSET_SCALE


def moved_boxes(output: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Boxes moved by what a network gave for them."""
    return decode_boxes(np.clip(output * OFFSET_SCALE, -MOST_OFFSET, MOST_OFFSET), boxes)
