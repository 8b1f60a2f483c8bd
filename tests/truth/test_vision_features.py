"""Features and preparation of images against definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from gnomon.engine.errors import DataError
from gnomon.vision import (
    HOG,
    DigitCentering,
    HandFeatures,
    ImageWhitening,
    LocalHistograms,
    MeanImageSubtraction,
    PatternDetector,
    RectangleFeatures,
    ZCAWhitening,
    augment_images,
    integral_image,
    rectangle_features,
)
from gnomon.vision.rectangles import rectangle_values


@pytest.fixture
def photos(rng):
    """Smooth images of three channels with values from 0 to 255."""
    steps = rng.normal(size=(40, 8, 8, 3)).cumsum(axis=1).cumsum(axis=2)
    return np.clip(128 + 20 * steps, 0, 255)


@pytest.mark.covers("mean-image-subtraction")
def test_the_mean_of_the_training_images_is_subtracted_from_others_too(photos):
    model = MeanImageSubtraction().fit(photos[:30])
    np.testing.assert_allclose(model.transform(photos[30:]), photos[30:] - photos[:30].mean(axis=0))
    channel = MeanImageSubtraction("channel").fit(photos[:30])
    expected = photos[30:] - photos[:30].mean(axis=(0, 1, 2))
    np.testing.assert_allclose(channel.transform(photos[30:]), expected)


@pytest.mark.covers("image-whitening-per-pixel")
def test_every_location_of_whitened_training_images_has_mean_0_and_spread_1(photos):
    white = ImageWhitening().fit_transform(photos)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(white.std(axis=0), 1, atol=1e-6)
    flat = ImageWhitening(image_shape=(8, 8, 3)).fit_transform(photos.reshape(40, -1))
    np.testing.assert_allclose(flat, white.reshape(40, -1))
    constant = ImageWhitening().fit_transform(np.full((3, 2, 2), 7.0))
    np.testing.assert_array_equal(constant, 0)


@pytest.mark.covers("image-zca-whitening")
def test_zca_follows_the_formula_and_makes_second_moments_equal(rng):
    images = rng.normal(size=(500, 3, 3)) @ rng.normal(size=(3, 3)) * 60
    model = ZCAWhitening(eigenvalue_floor=0.0, contrast=False).fit(images)
    white = model.transform(images).reshape(500, -1)
    moments = white.T @ white / len(white)
    np.testing.assert_allclose(moments, moments[0, 0] * np.eye(9), atol=1e-6 * moments[0, 0])
    np.testing.assert_allclose(model.whitening_, model.whitening_.T, atol=1e-12)
    scaled = ZCAWhitening().fit(images)
    rows = (images - images.mean(axis=0)).reshape(500, -1)
    rows -= rows.mean(axis=1, keepdims=True)
    rows *= rows.std(axis=1).mean() / np.maximum(rows.std(axis=1, keepdims=True), 40)
    d, V = np.linalg.eigh(rows.T @ rows / 500)
    W = V @ np.diag(np.sqrt(d.clip(0).mean()) / np.maximum(np.sqrt(d.clip(0)), 10)) @ V.T
    np.testing.assert_allclose(scaled.transform(images).reshape(500, -1), rows @ W, atol=1e-8)


@pytest.mark.covers("image-local-histograms")
def test_local_histograms_count_the_values_of_each_window(rng):
    images = rng.integers(0, 256, (3, 11, 9))
    found = LocalHistograms(4, 16, step=2).fit_transform(images).reshape(3, 4, 3, 16)
    for i in range(3):
        for row in range(4):
            for column in range(3):
                part = images[i, 2 * row : 2 * row + 4, 2 * column : 2 * column + 4]
                counted = np.bincount(part.ravel() // 16, minlength=16)  # bins are 16 wide
                np.testing.assert_array_equal(found[i, row, column], counted)


@pytest.mark.covers("image-hand-features")
def test_hand_features_do_not_depend_on_place_and_brightness(rng):
    drawing = np.kron(rng.random((4, 4)) > 0.4, np.ones((3, 3)))
    drawing[0, 0] = 1
    first, second = np.zeros((2, 40, 40))
    first[5:17, 6:18], second[20:32, 15:27] = drawing, 7 * drawing
    model = HandFeatures().fit([first])
    a, b = model.transform([first, second])
    np.testing.assert_allclose(a, b, atol=1e-12)
    larger = np.kron(first, np.ones((3, 3)))
    scaled = HandFeatures().fit_transform([larger])[0]
    assert np.abs(scaled - a).max() < 0.35
    assert len(model.get_feature_names_out()) == len(a)
    np.testing.assert_allclose(a[:16].sum(), 2)


@pytest.mark.covers("pattern-detector")
def test_a_pattern_is_found_where_it_was_drawn():
    image = np.zeros((1, 12, 12))
    image[0, 3, 2:9] = 1.0
    image[0, 9, 4] = 1.0
    bars = PatternDetector("horizontal bar", bias=-5.0).fit_transform(image)[0]
    assert {tuple(each) for each in np.argwhere(bars > 0)} == {(3, x) for x in range(3, 8)}
    spots = PatternDetector("spot", bias=-7.5).fit_transform(image)[0]
    assert np.argwhere(spots > 0).tolist() == [[9, 4]]


@pytest.mark.covers("digit-recentring")
def test_digits_are_centered_or_stretched_to_the_box():
    images = np.zeros((2, 28, 28))
    images[0, 3:9, 20:24] = 1.0
    images[1, 12:24, 2:14] = 1.0
    boxed = DigitCentering("bounding box", 16).fit_transform(images).reshape(2, 16, 16)
    assert boxed[0].sum() == 24
    np.testing.assert_array_equal(np.flatnonzero(boxed[0].any(axis=1)), np.arange(5, 11))
    np.testing.assert_array_equal(np.flatnonzero(boxed[0].any(axis=0)), np.arange(6, 10))
    stretched = DigitCentering("stretched", 16).fit_transform(images)
    np.testing.assert_allclose(stretched, 1.0)
    untouched = DigitCentering("untouched").fit_transform(images)
    np.testing.assert_array_equal(untouched, images.reshape(2, -1))
    assert not DigitCentering(size=4, threshold=0.5).fit_transform(np.zeros((1, 5, 5))).any()


@pytest.mark.covers("rectangle-features")
def test_the_number_of_rectangle_features_of_the_text():
    assert len(rectangle_features((24, 24))) == 162_336
    assert len(rectangle_features((19, 19))) == 63_960


@pytest.mark.covers("rectangle-features")
def test_rectangle_features_are_differences_of_means(rng):
    window = rng.random((1, 7, 8))
    model = RectangleFeatures(normalize=False).fit(window)
    found = model.transform(window)[0]
    for value, (rows, columns, top, left, h, w) in zip(found, model.features_):
        part = window[0, top : top + rows * h, left : left + columns * w]
        blocks = part.reshape(rows, h, columns, w).mean(axis=(1, 3))
        gray = (np.add.outer(np.arange(rows), np.arange(columns)) % 2) == 0
        assert value == pytest.approx(blocks[gray].mean() - blocks[~gray].mean(), abs=1e-12)
    contrast = RectangleFeatures().fit(window)
    np.testing.assert_allclose(
        contrast.transform(window), contrast.transform(9 * window + 4), atol=1e-9
    )
    assert integral_image(window[0])[3, 5] == pytest.approx(window[0, :3, :5].sum())
    lengths = np.unique(RectangleFeatures(growth=1.5).fit(np.zeros((1, 24, 24))).features_[:, 4])
    assert lengths.tolist() == [1, 2, 3, 4, 7, 10, 15, 23]


@pytest.mark.covers("rectangle-features")
@pytest.mark.parametrize("order", ["listed", "shuffled", "some"])
def test_values_of_rectangles_do_not_depend_on_their_order(rng, order):
    window = rng.integers(0, 256, (3, 9, 11)).astype(float)
    features = rectangle_features((9, 11))
    values = rectangle_values(window, features)
    chosen = np.arange(len(features)) if order == "listed" else rng.permutation(len(features))
    chosen = chosen[:40] if order == "some" else chosen
    np.testing.assert_array_equal(rectangle_values(window, features[chosen]), values[:, chosen])
    one = np.hstack([rectangle_values(window, features[[j]]) for j in chosen])
    np.testing.assert_array_equal(one, values[:, chosen])


@pytest.mark.covers("image-augmentation")
def test_new_images_have_no_unknown_pixel(rng, seed):
    images = rng.uniform(100, 101, (3, 20, 14, 2))
    found = augment_images(
        images, 20, rotation=40, zoom=(0.3, 1.0), flip=True, brightness=0, random_state=seed
    )
    assert found.images.min() >= 100  # a pixel from outside would be 0
    assert found.images.max() <= 101
    assert found.images.shape == (60, 20, 14, 2)
    same = augment_images(images, 1, rotation=0, zoom=1.0, brightness=0, random_state=seed)
    np.testing.assert_allclose(same.images, images)
    with pytest.raises(DataError, match="zoom"):
        augment_images(images, zoom=1.5)


def test_images_of_another_size_are_refused_after_fit():
    model = ImageWhitening().fit(np.zeros((2, 4, 4)))
    with pytest.raises(DataError, match="fitted to images of"):
        model.transform(np.zeros((2, 5, 4)))
    with pytest.raises(DataError, match="smaller pixels_per_cell"):
        HOG().fit(np.zeros((1, 16, 16)))


@pytest.mark.parametrize("cells", [(3,), (3, 3, 3), (0, 3), ("x", 3), 3, (2.5, 3)])
def test_a_size_that_is_not_two_whole_numbers_is_refused(cells):
    with pytest.raises(InvalidParameterError, match="must be two whole numbers, each 1 or more"):
        HOG(pixels_per_cell=cells).fit(np.zeros((1, 16, 16)))
