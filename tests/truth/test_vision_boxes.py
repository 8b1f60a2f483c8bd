"""Boxes: overlap, suppression, matching and offsets against definitions written out."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.vision import (
    Detections,
    clip_boxes,
    decode_boxes,
    detection_precision,
    encode_boxes,
    iou,
    make_scenes,
    mask_iou,
    match_detections,
    non_maximum_suppression,
)

TEXT_BOXES = [[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 5, 5]]
TEXT_SCORES = [0.9, 0.8, 0.7, 0.6]


def random_boxes(rng, n: int, size: int = 40) -> np.ndarray:
    corner = rng.integers(0, size, (n, 2))
    return np.hstack([corner, corner + rng.integers(1, 15, (n, 2))]).astype(float)


def drawn(box, size: int = 60) -> np.ndarray:
    mask = np.zeros((size, size), dtype=bool)
    left, top, right, bottom = (int(each) for each in box)
    mask[top:bottom, left:right] = True
    return mask


@pytest.mark.covers("iou")
def test_overlap_of_boxes_is_that_of_their_pixels(rng):
    a, b = random_boxes(rng, 12), random_boxes(rng, 9)
    counted = [[(drawn(x) & drawn(y)).sum() / (drawn(x) | drawn(y)).sum() for y in b] for x in a]
    np.testing.assert_allclose(iou(a, b), counted)
    masks = [np.stack([drawn(x) for x in each]) for each in (a, b)]
    np.testing.assert_allclose(mask_iou(*masks), counted)
    np.testing.assert_allclose(iou(a[:9], b, paired=True), np.diag(iou(a[:9], b)))
    np.testing.assert_array_equal(np.diag(iou(a)), 1)


def suppressed_slowly(boxes, scores, threshold, labels) -> list[int]:
    left = sorted(range(len(boxes)), key=lambda i: -scores[i])
    overlaps, kept = iou(boxes), []
    while left:
        best = left.pop(0)
        kept.append(best)
        left = [i for i in left if labels[i] != labels[best] or overlaps[best, i] <= threshold]
    return kept


@pytest.mark.covers("non-maximum-suppression")
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
def test_suppression_keeps_what_the_definition_keeps(rng, threshold):
    for spread in (1.0, 30.0):
        n = 300
        boxes = random_boxes(rng, n)
        boxes[:, 2:] = boxes[:, :2] + (boxes[:, 2:] - boxes[:, :2]) * rng.uniform(1, spread, (n, 1))
        scores = np.round(rng.random(n), 2)
        labels = rng.integers(0, 2, n)
        found = non_maximum_suppression(boxes, scores, iou_threshold=threshold, labels=labels)
        assert found.tolist() == suppressed_slowly(boxes, scores, threshold, labels)


def test_a_score_threshold_drops_boxes_before_suppression():
    found = non_maximum_suppression(TEXT_BOXES, TEXT_SCORES, score_threshold=0.65)
    assert found.tolist() == [0, 2]
    assert non_maximum_suppression(np.zeros((0, 4)), []).tolist() == []


@pytest.mark.covers("detection-matching")
def test_matching_and_average_precision_of_the_worked_example():
    truth = [TEXT_BOXES[0], TEXT_BOXES[2]]
    assert iou(TEXT_BOXES[:1], TEXT_BOXES[1:2])[0, 0] == pytest.approx(0.6807, abs=5e-5)
    found = match_detections(TEXT_BOXES, TEXT_SCORES, truth)
    assert found.relevant.tolist() == [True, False, True, False]
    assert found.truth.tolist() == [0, -1, 1, -1]
    detections = [Detections(np.array(TEXT_BOXES), np.array(TEXT_SCORES), np.zeros(4))]
    value = detection_precision(detections, [(truth, np.zeros(2))]).value
    assert value == pytest.approx((6 + 5 * 2 / 3) / 11)


def test_a_detection_takes_the_true_box_that_it_overlaps_most():
    found = match_detections([[0, 0, 10, 10]], [1.0], [[0, 0, 10, 7], [0, 0, 10, 9]])
    assert found.truth.tolist() == [1]
    assert found.overlap[0] == pytest.approx(0.9)


@pytest.mark.covers("detection-matching")
def test_lists_of_images_are_merged_by_score():
    truth = [([[0, 0, 4, 4]], ["a"]), ([[0, 0, 4, 4]], ["a"])]
    wrong, right = [[10, 10, 14, 14]], [[0, 0, 4, 4]]
    found = [Detections(wrong, [0.9], ["a"]), Detections(right, [0.5], ["a"])]
    # wrong, then right: precision 1/2 at recall 1/2, never more
    assert detection_precision(found, truth).value == pytest.approx(6 * 0.5 / 11)
    none = [Detections(np.zeros((0, 4)), [], [])] * 2
    assert detection_precision(none, truth).value == 0
    assert detection_precision([found[0]] * 2, truth).value == 0
    assert detection_precision(found[1:] * 2, truth, iou_thresholds="ten").value == 1


@pytest.mark.covers("bounding-box-regression")
def test_offsets_give_the_boxes_back(rng):
    boxes, reference = random_boxes(rng, 20), random_boxes(rng, 20)
    offsets = encode_boxes(boxes, reference)
    np.testing.assert_allclose(decode_boxes(offsets, reference), boxes)
    shifted = encode_boxes(3 * boxes + 5, 3 * reference + 5)
    np.testing.assert_allclose(shifted, offsets, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: iou([[0, 0, 1]]), "left, top, right, bottom"),
        (lambda: iou([[5, 5, 2, 9]]), "has no area"),
        (lambda: iou([[0, 0, np.nan, 1]]), "not finite"),
        (lambda: non_maximum_suppression([[0, 0, 1, 1]], [1, 2]), "1 boxes and 2 scores"),
        (lambda: iou([[0, 0, 1, 1]], [[0, 0, 1, 1]] * 2, paired=True), "paired"),
        (lambda: detection_precision([], []), "no image has a true box"),
    ],
)
def test_wrong_boxes_are_refused_with_the_place(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_boxes_outside_the_image_are_cut_or_left_out():
    cut, kept = clip_boxes([[-5, -5, 3, 3], [50, 50, 60, 60], [1, 1, 2, 2]], (10, 20))
    assert cut.tolist() == [[0, 0, 3, 3], [1, 1, 2, 2]]
    assert kept.tolist() == [0, 2]


@pytest.mark.covers("scene-generator")
@pytest.mark.parametrize("paste", ["ink", "opaque"])
def test_the_box_of_a_scene_is_where_the_object_was_pasted(seed, paste):
    mark = np.zeros((9, 9))
    mark[2:7, 3:6] = 255.0
    dark = np.zeros((1, 40, 40))
    scenes = make_scenes(
        20,
        size=(40, 40),
        n_objects=(1, 3),
        scales=(9, 18),
        objects=mark[None],
        labels=["bar"],
        paste=paste,
        backgrounds=dark,
        random_state=seed,
    )
    for scene in scenes:
        light = np.zeros((40, 40), dtype=bool)
        for left, top, right, bottom in scene.boxes.astype(int):
            light[top:bottom, left:right] = True
        # faint ink outside the boxes of three objects may add up
        assert scene.image[~light].max(initial=0) <= (1 - 0.75**3) * 255 + 1e-9
        assert len(scene.boxes) == len(scene.labels) >= 1
        assert (iou(scene.boxes) - np.eye(len(scene.boxes))).max() <= 1e-12


def test_scenes_of_the_same_seed_are_equal_and_inside(seed):
    first, again = (make_scenes(3, random_state=seed) for _ in range(2))
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.image, b.image)
        assert (a.boxes >= 0).all()
        assert (a.boxes <= 64).all()
        assert a.image.min() >= 0
        assert a.image.max() <= 255
