"""Features of windows and arithmetic of boxes beside scikit-image and OpenCV, in turns.

    python -m benchmarks.vision.features

Least processor time of several turns with one thread (set OMP_NUM_THREADS=1). scikit-image finds
the corners of rectangle features anew for every window; given its own corners it is about twice as
fast, which is shown as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import cv2
import numpy as np
from skimage.feature import haar_like_feature, haar_like_feature_coord, hog
from skimage.transform import integral_image

from gnomon.vision import HOG, RectangleFeatures, iou, non_maximum_suppression

TURNS = 7
N_BOXES = 20_000  # OpenCV compares each box with every better one: minutes for 10^5


def least(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Least processor time of each work, in turns."""
    seconds = dict.fromkeys(works, np.inf)
    for _ in range(TURNS):
        for name, work in works.items():
            begin = time.process_time()
            work()
            seconds[name] = min(seconds[name], time.process_time() - begin)
    return seconds


def rectangles(n_windows: int) -> None:
    windows = np.random.default_rng(0).integers(0, 256, (n_windows, 24, 24)).astype(float)
    model = RectangleFeatures(n_jobs=1).fit(windows[:1])
    where, kinds = haar_like_feature_coord(24, 24)
    sums = integral_image(windows[0])
    found = least(
        {
            "gnomon": lambda: model.transform(windows),
            "peer": lambda: haar_like_feature(sums, 0, 0, 24, 24),
            "given": lambda: haar_like_feature(sums, 0, 0, 24, 24, kinds, where),
        }
    )
    ours = found["gnomon"] / n_windows
    print(
        f"rectangle features, {n_windows} windows at once: {len(model.features_):,} in "
        f"{1e3 * ours:.2f} ms a window, {found['peer'] / ours:.0f} times scikit-image, "
        f"{found['given'] / ours:.0f} times with its corners given",
        flush=True,
    )


def gradients() -> None:
    images = np.random.default_rng(0).integers(0, 256, (200, 64, 64)).astype(float)
    model = HOG(9, (8, 8), (2, 2), n_jobs=1).fit(images[:1])
    settings = {"orientations": 9, "pixels_per_cell": (8, 8), "cells_per_block": (2, 2)}
    found = least(
        {
            "gnomon": lambda: model.transform(images),
            "peer": lambda: [hog(each, **settings) for each in images],
        }
    )
    print(f"HOG: {found['peer'] / found['gnomon']:.1f} times scikit-image", flush=True)


def boxes() -> None:
    rng = np.random.default_rng(0)
    start = rng.uniform(0, 4000, (N_BOXES, 2))
    corners = np.hstack([start, start + rng.uniform(10, 60, (N_BOXES, 2))])
    sizes = np.hstack([start, corners[:, 2:] - start])
    scores = rng.random(N_BOXES)
    found = least(
        {
            "gnomon": lambda: non_maximum_suppression(corners, scores, iou_threshold=0.4),
            "peer": lambda: cv2.dnn.NMSBoxes(sizes, scores, 0.0, 0.4),
        }
    )
    kept = non_maximum_suppression(corners, scores, iou_threshold=0.4)
    peers = cv2.dnn.NMSBoxes(sizes, scores, 0.0, 0.4)
    print(
        f"suppression of {N_BOXES:,} boxes: {found['peer'] / found['gnomon']:.0f} times OpenCV "
        f"({len(kept):,} and {len(peers):,} boxes kept)"
    )
    some = corners[:1000]
    seconds = least({"gnomon": lambda: iou(some, corners)})["gnomon"]
    print(f"overlaps: {len(some) * N_BOXES / seconds / 1e6:.0f} million pairs a second")


if __name__ == "__main__":
    cv2.setNumThreads(1)
    for count in (1, 20, 200):
        rectangles(count)
    gradients()
    boxes()
