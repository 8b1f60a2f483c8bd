"""Vision beside scikit-image and OpenCV on the same images.

scikit-image sums the histograms of HOG in single precision: values agree to about 1e-7.
"""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.vision import HOG, RectangleFeatures, non_maximum_suppression

skimage_feature = pytest.importorskip("skimage.feature", reason="scikit-image is not installed")


@pytest.mark.covers("hog")
@pytest.mark.parametrize("norm", ["L1", "L1-sqrt", "L2", "L2-Hys"])
@pytest.mark.parametrize("orientations", [8, 9])
def test_hog_has_the_values_of_scikit_image(rng, norm, orientations):
    images = rng.integers(0, 256, (3, 37, 42)).astype(float)
    options = {
        "orientations": orientations,
        "pixels_per_cell": (6, 7),
        "cells_per_block": (2, 3),
        "block_norm": norm,
    }
    found = HOG(**options).fit_transform(images)
    expected = [skimage_feature.hog(image, **options) for image in images]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.covers("hog")
def test_hog_of_color_images_and_of_roots_has_the_values_of_scikit_image(rng):
    images = rng.random((2, 40, 40, 3))
    expected = [skimage_feature.hog(image, channel_axis=-1) for image in images]
    np.testing.assert_allclose(HOG().fit_transform(images), expected, atol=1e-6)
    gray = images[..., 0]
    expected = [skimage_feature.hog(image, transform_sqrt=True) for image in gray]
    np.testing.assert_allclose(HOG(transform_sqrt=True).fit_transform(gray), expected, atol=1e-6)


@pytest.mark.covers("rectangle-features")
@pytest.mark.parametrize("pattern", ["type-2-x", "type-2-y", "type-3-x", "type-3-y", "type-4"])
def test_there_are_as_many_rectangle_features_as_in_scikit_image(rng, pattern):
    window = rng.random((9, 9))
    sums = window.cumsum(axis=0).cumsum(axis=1)
    theirs = skimage_feature.haar_like_feature(sums, 0, 0, 9, 9, pattern)
    ours = RectangleFeatures([pattern]).fit([window])
    assert len(ours.features_) == len(theirs)


@pytest.mark.covers("non-maximum-suppression")
def test_suppression_keeps_what_opencv_keeps(rng):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    corner, sides = rng.uniform(0, 300, (2000, 2)), rng.uniform(10, 60, (2000, 2))
    scores = rng.permutation(2000) / 2000 + 1e-4
    kept = non_maximum_suppression(np.hstack([corner, corner + sides]), scores, iou_threshold=0.4)
    theirs = cv2.dnn.NMSBoxes(np.hstack([corner, sides]), scores.astype(np.float32), 0.0, 0.4)
    assert kept.tolist() == np.ravel(theirs).tolist()
