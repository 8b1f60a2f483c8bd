"""Detectors find objects in scenes whose boxes are known."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.vision import (
    Scene,
    SlidingWindowDetector,
    ViolaJonesDetector,
    YoloDetector,
    YoloLoss,
    iou,
    make_scenes,
    match_detections,
    selective_search,
)
from gnomon.vision.rectangles import rectangle_values
from gnomon.vision.viola_jones import _heaviest, best_stump

BAR = np.zeros((1, 12, 12))
BAR[0, 1:11, 4:8] = 255.0
BAR[0, 4:8, 1:11] = 255.0


def crosses(n: int, seed: int) -> list[Scene]:
    """Scenes with one light cross each."""
    return make_scenes(
        n,
        size=(40, 40),
        scales=(12, 18),
        n_objects=1,
        objects=BAR,
        labels=["cross"],
        random_state=seed,
    )


def share_found(model, scenes) -> float:
    found = model.predict(scenes)
    hits = [
        match_detections(each.boxes, each.scores, scene.boxes).relevant.sum()
        for each, scene in zip(found, scenes)
    ]
    return float(np.sum(hits)) / sum(len(scene.boxes) for scene in scenes)


@pytest.mark.covers("viola-jones")
def test_a_cascade_finds_crosses_and_rejects_most_windows(seed):
    scenes = crosses(60, seed % 1000)
    model = ViolaJonesDetector(
        (10, 10), n_stages=3, max_stumps=12, n_negatives=400, n_jitter=1, random_state=0
    ).fit(scenes)
    assert share_found(model, crosses(20, seed % 1000 + 1)) >= 0.8
    assert model.rates().false_positive < 0.5 ** len(model.stage_ends_) + 0.1
    assert model.rates().detection > 0.9


@pytest.mark.covers("viola-jones")
def test_a_scan_gives_the_scores_of_the_windows_one_by_one(rng):
    scenes = crosses(30, 3)
    model = ViolaJonesDetector(
        (10, 10), n_stages=2, max_stumps=4, n_negatives=200, n_jitter=0, random_state=0
    ).fit(scenes)
    image = scenes[0].image
    corners, scores = model._scan(image)
    passed = {tuple(corner): score for corner, score in zip(corners.tolist(), scores)}
    for y, x in [*passed, *rng.integers(0, 30, (60, 2)).tolist()][:100]:
        window = image[y : y + 10, x : x + 10]
        values = rectangle_values(window[None], model.features_, False)[0] / max(window.std(), 1)
        low = values < model.thresholds_
        outputs = np.where(low, model.below_, model.above_)
        totals = np.array([each.sum() for each in np.split(outputs, model.stage_ends_[:-1])])
        passes = (totals >= model.stage_thresholds_).all()
        assert passes == ((y, x) in passed)
        if passes:
            expected = (totals - model.stage_thresholds_).sum()
            assert passed[y, x] == pytest.approx(expected, abs=1e-9)


@pytest.mark.covers("viola-jones")
def test_a_stump_of_some_windows_is_the_best_of_all_features_and_cuts(rng):
    codes = rng.integers(0, 5, (7, 40)).astype(np.uint8)
    y, weights = rng.choice([-1.0, 1.0], 40), rng.random(40)
    rows = np.sort(rng.permutation(40)[:25])
    w, signed = weights[rows], (weights * y)[rows]
    feature, cut, below, above = best_stump(codes, rows, w, signed)

    def error(j, place):
        low = codes[j, rows] < place
        if low.all() or not low.any():
            return np.inf
        means = [np.average(y[rows][side], weights=w[side]) for side in (low, ~low)]
        return float(w @ (y[rows] - np.where(low, *means)) ** 2)

    least = min(error(j, place) for j in range(7) for place in range(1, 5))
    assert error(feature, cut) == pytest.approx(least)
    low = codes[feature, rows] < cut
    assert below == pytest.approx(np.average(y[rows][low], weights=w[low]))
    assert above == pytest.approx(np.average(y[rows][~low], weights=w[~low]))


@pytest.mark.covers("viola-jones")
def test_stumps_are_chosen_by_the_windows_that_hold_nearly_all_weight(rng):
    weights = rng.random(200) ** 9
    rows = _heaviest(weights)
    left_out = np.setdiff1d(np.arange(200), rows)
    assert len(rows) < 150
    assert weights[left_out].sum() <= 0.02 * weights.sum()
    assert weights[left_out].max() <= weights[rows].min()
    assert weights[left_out].sum() + weights[rows].min() >= 0.02 * weights.sum()
    assert len(_heaviest(np.ones(4))) == 4


@pytest.mark.covers("sliding-window-detector", "bounding-box-regression")
def test_a_sliding_window_finds_crosses_and_regression_moves_boxes_closer(seed):
    scenes, new = crosses(40, seed % 1000), crosses(15, seed % 1000 + 1)
    found = {}
    for regression in (False, True):
        model = SlidingWindowDetector(
            window=(12, 12), stride=3, n_hard=1, box_regression=regression, random_state=0
        ).fit(scenes)
        assert share_found(model, new) >= 0.8
        best = [
            iou(each.boxes[:1], scene.boxes).max()
            for each, scene in zip(model.predict(new), new)
            if len(each)
        ]
        found[regression] = np.mean(best)
    assert found[True] > found[False] - 0.02


@pytest.mark.covers("selective-search")
def test_selective_search_proposes_the_box_of_an_object_that_stands_out(rng):
    image = 60 + rng.normal(size=(40, 50))
    image[10:24, 12:30] = 190 + rng.normal(size=(14, 18))
    image[28:36, 36:46] = 120 + rng.normal(size=(8, 10))
    found = selective_search(image, sigma=0.3)
    truth = [[12, 10, 30, 24], [36, 28, 46, 36]]
    assert iou(truth, found.boxes).max(axis=1).min() > 0.85
    assert len(selective_search(image, n_boxes=3).boxes) == 3


def test_detectors_refuse_what_they_cannot_learn_from():
    scene = crosses(1, 0)[0]
    with pytest.raises(DataError, match="not inside the image"):
        SlidingWindowDetector().fit([scene.image], [([[30, 30, 50, 50]], ["a"])])
    with pytest.raises(DataError, match="must be scenes"):
        SlidingWindowDetector().fit([scene.image])
    with pytest.raises(DataError, match="too few"):
        ViolaJonesDetector((8, 8)).fit([scene])
    with pytest.raises(DataError, match="no image has a box"):
        SlidingWindowDetector().fit([scene.image], [(np.zeros((0, 4)), [])])


@pytest.mark.covers("yolo")
def test_gradients_of_yolo_by_confidences_and_classes_are_those_of_differences(rng):
    loss = YoloLoss(2)
    output = rng.normal(size=(2, 3, 2, 13))
    target = np.zeros((2, 3, 2, 8))
    target[..., 0] = rng.random((2, 3, 2)) < 0.5
    target[..., 1:5] = rng.uniform(0.1, 0.9, (2, 3, 2, 4))
    target[..., 5:] = np.eye(3)[rng.integers(0, 3, (2, 3, 2))]
    target *= target[..., :1]
    gradient = loss(output, target)[1]
    # confidences and classes alone: the target of a confidence is the overlap, which counts as a
    # constant, so that differences by places are not the gradient that is descended
    for place in rng.permutation(output.size)[:60]:
        index = np.unravel_index(place, output.shape)
        if index[3] < 10 and index[3] % 5 < 4:
            continue
        step = np.zeros_like(output)
        step[index] = 1e-6
        both = [loss(output + sign * step, target)[0].sum() for sign in (1, -1)]
        assert gradient[index] == pytest.approx((both[0] - both[1]) / 2e-6, abs=1e-6)


@pytest.mark.covers("yolo")
def test_the_target_of_a_scene_is_decoded_to_its_boxes():
    scenes = crosses(6, 0)
    model = YoloDetector(filters=2, max_iter=1, random_state=0).fit(scenes)
    for scene in scenes:
        target = model._target(scene)
        (row, column) = np.argwhere(target[..., 0])[0]
        _, x, y, w, h = target[row, column, :5]
        center = np.array([column + x, row + y]) * 8
        np.testing.assert_allclose(center, (scene.boxes[0, :2] + scene.boxes[0, 2:]) / 2)
        np.testing.assert_allclose([w * 40, h * 40], scene.boxes[0, 2:] - scene.boxes[0, :2])
    with pytest.raises(DataError, match="tiles"):
        YoloDetector().fit([np.zeros((30, 30))], [([[1, 1, 9, 9]], ["a"])])


@pytest.mark.slow
@pytest.mark.covers("yolo")
def test_a_small_yolo_finds_crosses_in_new_scenes():
    options = {"filters": 8, "batch_size": 8, "learning_rate": 0.006, "max_iter": 60}
    model = YoloDetector(1, random_state=0, **options).fit(crosses(200, 0))
    assert model.losses_[-1] < 0.1 * model.losses_[0]
    assert share_found(model, crosses(40, 1)) >= 0.75  # 0.875 was measured
