"""Images as arrays: sizes, crops, channels, tiles and noise."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.vision import (
    add_noise,
    as_images,
    colocated_tiles,
    crop,
    five_crops,
    gray_to_rgb,
    predict_crops,
    resize,
    resize_keeping_aspect,
    rgb_to_gray,
)


@pytest.mark.covers("aspect-preserving-resize")
def test_resizing_keeps_constant_and_linear_images(rng):
    np.testing.assert_allclose(resize(np.full((7, 5), 3.0), (11, 4)), 3.0)
    line = np.tile(np.arange(12.0), (4, 1))
    halved = resize(line, (4, 6))
    np.testing.assert_allclose(np.diff(halved[0])[1:-1], 2.0)
    image = rng.random((6, 8, 3))
    np.testing.assert_allclose(resize(image, (6, 8)), image)


@pytest.mark.covers("aspect-preserving-resize")
def test_the_smaller_side_becomes_the_wanted_one_and_crops_fit(rng):
    image = rng.random((30, 45, 3))
    small = resize_keeping_aspect(image, 10)
    assert small.shape == (10, 15, 3)
    assert crop(small, 10).shape == (10, 10, 3)
    np.testing.assert_array_equal(crop(image, (4, 6), "bottom right"), image[-4:, -6:])
    np.testing.assert_array_equal(crop(image, 7, "top left"), image[:7, :7])
    np.testing.assert_array_equal(crop(image, where="right half"), image[:, 23:])
    with pytest.raises(DataError, match="does not fit"):
        crop(image, 31)


class Brightness:
    """A classifier whose probability is the mean of the pixels."""

    def predict_proba(self, X):
        share = np.asarray(X).reshape(len(X), -1).mean(axis=1)
        return np.column_stack([1 - share, share])


@pytest.mark.covers("multi-crop-evaluation")
def test_probabilities_are_averaged_over_the_crops(rng):
    image = rng.random((9, 9))
    parts = [image[3:6, 3:6], image[:3, :3], image[:3, 6:], image[6:, :3], image[6:, 6:]]
    expected = np.mean([part.mean() for part in parts])
    found = predict_crops(Brightness(), image, 3, flips=True)
    assert found[1] == pytest.approx(expected)
    np.testing.assert_array_equal(five_crops(image, 3, flips=True)[5:], np.array(parts)[:, :, ::-1])


@pytest.mark.covers("grey-to-rgb")
def test_gray_becomes_three_equal_channels_and_back(rng):
    images = rng.random((2, 4, 5))
    color = gray_to_rgb(images)
    assert color.shape == (2, 4, 5, 3)
    np.testing.assert_allclose(rgb_to_gray(color), images)
    np.testing.assert_array_equal(gray_to_rgb(images[..., None]), color)


@pytest.mark.covers("colocated-tiles")
def test_tiles_lie_on_the_mask_at_the_same_place_of_both(rng, seed):
    images = rng.random((3, 30, 25))
    mask = np.zeros((3, 30, 25), dtype=bool)
    mask[:, 4:26, 3:22] = True
    tiles = colocated_tiles(images, 2 * images, mask, random_state=seed)
    assert tiles.first.shape == (60, 11, 11)
    np.testing.assert_array_equal(tiles.second, 2 * tiles.first)
    for tile, (i, y, x) in zip(tiles.first, tiles.places):
        assert mask[i, y : y + 11, x : x + 11].all()
        np.testing.assert_array_equal(tile, images[i, y : y + 11, x : x + 11])
    assert len({tuple(place) for place in tiles.places.tolist()}) == 60
    with pytest.raises(DataError, match="image 0 has 0 places"):
        colocated_tiles(images, images, np.zeros_like(mask))


@pytest.mark.covers("image-noise-models")
@pytest.mark.parametrize("kind", ["gaussian", "masking", "salt and pepper", "block"])
def test_noise_changes_the_marked_pixels_only(rng, seed, kind):
    images = rng.uniform(0.2, 0.8, (40, 20, 20))
    noisy = add_noise(images, kind, 0.25, random_state=seed)
    differs = noisy.images != images
    assert not (differs & ~noisy.changed).any()
    if kind == "gaussian":
        spread = np.std(noisy.images - images) / np.ptp(images)
        assert spread == pytest.approx(0.25, rel=0.05)
    else:
        assert noisy.changed.mean() == pytest.approx(0.25, abs=0.02)
        assert set(np.unique(noisy.images[noisy.changed])) <= {images.min(), images.max()}
    if kind == "block":
        for changed in noisy.changed:
            rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
            assert changed[np.ix_(rows, columns)].all()
    again = add_noise(images, kind, 0.25, random_state=seed)
    np.testing.assert_array_equal(again.images, noisy.images)
    np.testing.assert_array_equal(add_noise(images, kind, 0.0).images, images)


@pytest.mark.parametrize(
    ("X", "shape", "words"),
    [
        (np.zeros((2, 6)), None, "give image_shape"),
        (np.zeros((2, 6)), (2, 2), "6 columns"),
        (np.zeros(6), None, "no set of images"),
        (np.array([["a"]]), None, "numbers"),
        (np.full((1, 2, 2), np.nan), None, r"X\[0\]"),
        (np.zeros((0, 3, 3)), None, "no pixel"),
        ([np.zeros((2, 2)), np.zeros((3, 3))], None, "different sizes"),
        (np.zeros((1, 4, 4)), (5, 4), "image_shape is"),
    ],
)
def test_what_is_no_set_of_images_is_refused(X, shape, words):
    with pytest.raises(DataError, match=words):
        as_images(X, shape)
