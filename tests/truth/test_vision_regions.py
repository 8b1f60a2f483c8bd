"""Pooling of regions, anchors, losses and gradients of the region networks."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.neural.joint import Joint
from gnomon.vision import (
    FasterRCNNDetector,
    FastRCNNDetector,
    RCNNDetector,
    RegionLoss,
    RegionProposalNetwork,
    iou,
    make_anchors,
    make_scenes,
    match_detections,
)
from gnomon.vision.region_pooling import block_bounds, pool_gradient, pool_regions
from gnomon.vision.regions import (
    anchor_examples,
    moved_boxes,
    offsets_to,
    region_examples,
)

CROSS = np.zeros((1, 12, 12))
CROSS[0, 1:11, 4:8] = 255.0
CROSS[0, 4:8, 1:11] = 255.0
RING = np.zeros((1, 12, 12))
RING[0, 1:11, 1:11] = 255.0
RING[0, 4:8, 4:8] = 0.0


def shapes(n: int, seed: int, size: int = 32):
    """Scenes with one cross or ring each."""
    return make_scenes(
        n,
        size=(size, size),
        scales=(12, 18),
        n_objects=1,
        objects=np.concatenate([CROSS, RING]),
        labels=["cross", "ring"],
        random_state=seed,
    )


@pytest.mark.covers("roi-pooling")
def test_pooled_regions_are_the_largest_values_of_their_blocks(rng):
    maps = rng.normal(size=(3, 9, 11, 2))
    corners = rng.uniform(0, 6, (20, 2))
    regions = np.hstack([corners, corners + rng.uniform(0.3, 6, (20, 2))])
    image = rng.integers(0, 3, 20)
    pooled = pool_regions(maps, image, regions, (3, 4))
    down = block_bounds(regions[:, 1], regions[:, 3], 3, 9)
    across = block_bounds(regions[:, 0], regions[:, 2], 4, 11)
    for r in range(20):
        for i, (top, bottom) in enumerate(down[r]):
            for j, (left, right) in enumerate(across[r]):
                block = maps[image[r], top:bottom, left:right]
                np.testing.assert_array_equal(pooled.values[r, i, j], block.max(axis=(0, 1)))
    np.testing.assert_array_equal(maps.ravel()[pooled.cells], pooled.values)


@pytest.mark.covers("roi-pooling")
def test_blocks_cover_a_region_without_gaps(rng):
    start = rng.uniform(0, 8, 50)
    stop = start + rng.uniform(0.1, 9, 50)
    bounds = block_bounds(start, stop, 4, 12)
    assert (bounds[:, :, 1] > bounds[:, :, 0]).all()
    assert (bounds[:, 1:, 0] <= bounds[:, :-1, 1]).all()
    assert (bounds[:, 0, 0] == np.floor(start)).all()
    assert (bounds[:, -1, 1] >= np.minimum(np.ceil(stop), 12)).all()
    assert bounds.max() <= 12


@pytest.mark.covers("roi-pooling")
def test_the_gradient_of_pooling_is_that_of_differences(rng):
    maps = rng.normal(size=(2, 6, 6, 2))
    regions = np.array([[0, 0, 4, 5], [1.5, 2, 6, 6], [0, 0, 6, 6.0]])
    image, factors = np.array([0, 1, 1]), rng.normal(size=(3, 2, 3, 2))

    def value(changed):
        return float((pool_regions(changed, image, regions, (2, 3)).values * factors).sum())

    cells = pool_regions(maps, image, regions, (2, 3)).cells
    gradient = pool_gradient(factors, cells, maps.shape)
    for index in np.ndindex(maps.shape):
        step = np.zeros_like(maps)
        step[index] = 1e-6
        numeric = (value(maps + step) - value(maps - step)) / 2e-6
        assert gradient[index] == pytest.approx(numeric, abs=1e-7)


@pytest.mark.covers("bounding-box-regression", "faster-rcnn")
def test_the_gradient_of_the_loss_of_regions_is_that_of_differences(rng):
    loss, output = RegionLoss(3), 2 * rng.normal(size=(12, 8))
    target = np.column_stack([rng.integers(0, 4, 12), 2 * rng.normal(size=(12, 4))])
    values, gradient = loss(output, target)
    for index in np.ndindex(output.shape):
        step = np.zeros_like(output)
        step[index] = 1e-6
        numeric = (loss(output + step, target)[0] - loss(output - step, target)[0]).sum() / 2e-6
        assert gradient[index] == pytest.approx(numeric, abs=1e-6)
    background = target[:, 0] == 0
    assert (gradient[background, 4:] == 0).all()
    posterior = np.exp(output[:, :4]) / np.exp(output[:, :4]).sum(axis=1, keepdims=True)
    code = target[background, 0].astype(int)
    np.testing.assert_allclose(values[background], -np.log(posterior[background, code]))
    with pytest.raises(DataError, match="a region gives 8 numbers"):
        loss.check((7,), target)


@pytest.mark.covers("anchor-region-proposal-network")
def test_an_anchor_is_an_object_where_it_overlaps_or_is_the_best_of_a_box(rng):
    anchors = make_anchors((64, 64), stride=16, scales=(12, 18, 27)).reshape(-1, 4)
    assert len(anchors) == 4 * 4 * 9
    truth = np.array([[3, 4, 21, 20], [40, 30, 52, 60.0]])
    target = anchor_examples(anchors, truth).target
    overlap = iou(anchors, truth)
    for k, (code, *offsets) in enumerate(target):
        best_of_one = any(k == overlap[:, j].argmax() for j in range(2))
        if best_of_one or overlap[k].max() >= 0.5:
            assert code == 1
        else:
            assert code == (0 if overlap[k].max() < 0.3 else -1)
        if code == 1 and not best_of_one:
            moved = moved_boxes(np.array([offsets]), anchors[k : k + 1])
            np.testing.assert_allclose(moved[0], truth[overlap[k].argmax()])
    assert (anchor_examples(anchors, np.zeros((0, 4))).target == 0).all()


@pytest.mark.covers("rcnn", "fast-rcnn")
def test_drawn_regions_are_objects_exactly_where_they_overlap_the_truth(rng):
    scene = shapes(1, 3)[0]
    corner = rng.uniform(0, 20, (60, 2))
    proposals = np.hstack([corner, corner + rng.uniform(4, 12, (60, 2))])
    found = region_examples(proposals, scene, np.array([2]), 16, rng)
    assert len(found.boxes) == 16
    overlap = iou(found.boxes, scene.boxes)[:, 0]
    np.testing.assert_array_equal(found.target[:, 0], np.where(overlap >= 0.5, 2, 0))
    objects = found.target[:, 0] > 0
    assert 1 <= objects.sum() <= 8
    truth = np.repeat(scene.boxes, objects.sum(), axis=0)
    np.testing.assert_allclose(found.target[objects, 1:], offsets_to(truth, found.boxes[objects]))


@pytest.mark.parametrize(
    ("model", "n_networks"),
    [
        pytest.param(FastRCNNDetector(30, filters=2), 2, marks=pytest.mark.covers("fast-rcnn")),
        pytest.param(
            RegionProposalNetwork(16, filters=2),
            2,
            marks=pytest.mark.covers("anchor-region-proposal-network"),
        ),
        pytest.param(FasterRCNNDetector(filters=2), 3, marks=pytest.mark.covers("faster-rcnn")),
    ],
)
def test_gradients_of_region_networks_are_those_of_differences(model, n_networks, rng, monkeypatch):
    scenes = shapes(3, 1)
    model.set_params(max_iter=1, batch_size=3, random_state=0).fit(scenes)
    if n_networks == 3:  # proposals count as constants of the loss of detections
        fixed = np.array([[2, 2, 16, 15], [8, 9, 30, 28], [3, 14, 19, 31.0]])
        monkeypatch.setattr(
            FasterRCNNDetector, "_proposed", lambda self, *_: (fixed, np.ones(len(fixed)))
        )
    networks = model._networks()
    assert len(networks) == n_networks
    joint = Joint(networks, model.weights_.astype(np.float64))
    images = model._scaled(np.stack([scene.image for scene in scenes])).astype(np.float64)
    part = model._part(joint, images, scenes)
    rows, factors = np.arange(3), np.full(3, 1 / 3)

    def value():
        slopes = joint.views(np.zeros_like(joint.flat))
        return part(slopes, rows, factors, np.random.default_rng(5))

    gradient = np.zeros_like(joint.flat)
    part(joint.views(gradient), rows, factors, np.random.default_rng(5))
    for mine in joint.slices:  # each network, its first and last layers included
        chosen = [*rng.integers(mine.start, mine.stop, 6).tolist(), mine.start, mine.stop - 1]
        for place in chosen:
            kept = joint.flat[place]
            both = []
            for sign in (1, -1):
                joint.flat[place] = kept + sign * 1e-6
                both.append(value())
            joint.flat[place] = kept
            assert gradient[place] == pytest.approx((both[0] - both[1]) / 2e-6, rel=1e-4, abs=1e-7)


@pytest.mark.covers("faster-rcnn")
def test_what_region_networks_cannot_use_is_refused():
    scenes = shapes(2, 0)
    with pytest.raises(DataError, match="stride is 4, 8, 16 or 32, not 12"):
        FasterRCNNDetector(12).fit(scenes)
    with pytest.raises(DataError, match="do not divide into tiles of 16"):
        FasterRCNNDetector(16).fit(shapes(2, 0, size=40))
    with pytest.raises(DataError, match="multiples of 4"):
        RCNNDetector((10, 10)).fit(scenes)
    with pytest.raises(DataError, match="2 sizes"):
        FastRCNNDetector().fit([*scenes, *shapes(1, 0, size=40)])
    with pytest.raises(DataError, match="no image has a box"):
        FastRCNNDetector().fit([np.zeros((32, 32))], [(np.zeros((0, 4)), [])])


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            RCNNDetector((12, 12), 40, filters=4, max_iter=8), marks=pytest.mark.covers("rcnn")
        ),
        pytest.param(
            FastRCNNDetector(60, filters=4, max_iter=8, batch_size=8),
            marks=pytest.mark.covers("fast-rcnn"),
        ),
        pytest.param(
            RegionProposalNetwork(filters=4, max_iter=8, batch_size=8),
            marks=pytest.mark.covers("anchor-region-proposal-network"),
        ),
        pytest.param(
            FasterRCNNDetector(filters=4, max_iter=8, batch_size=8),
            marks=pytest.mark.covers("faster-rcnn"),
        ),
    ],
)
def test_training_lowers_the_loss_and_finds_most_shapes(model):
    scenes = shapes(32, 0)
    model.set_params(learning_rate=0.01, random_state=0).fit(scenes)
    assert model.losses_[-1] < 0.6 * model.losses_[0]
    found = model.predict(scenes)
    hits = [
        match_detections(each.boxes, each.scores, scene.boxes).relevant.any()
        for each, scene in zip(found, scenes)
    ]
    assert np.mean(hits) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "least"),
    [
        pytest.param(RCNNDetector(max_iter=15), 0.7, marks=pytest.mark.covers("rcnn")),
        pytest.param(FastRCNNDetector(), 0.7, marks=pytest.mark.covers("fast-rcnn")),
        pytest.param(FasterRCNNDetector(), 0.8, marks=pytest.mark.covers("faster-rcnn")),
        pytest.param(FasterRCNNDetector(16), 0.7, marks=pytest.mark.covers("faster-rcnn")),
    ],
)
def test_trained_detectors_name_the_shapes_of_new_scenes(model, least):
    model.set_params(filters=8, learning_rate=0.005, random_state=0).fit(shapes(300, 0))
    assert model.score(shapes(60, 1)) >= least
