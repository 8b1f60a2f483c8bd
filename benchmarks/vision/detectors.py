"""Detectors on scenes of digits: mean average precision at an overlap of one half, and the time.

    python -m benchmarks.vision.detectors FasterRCNNDetector 2500 8 [COPIES] [SEED] [validate]

The numbers are training scenes, epochs, turned and resized copies of each training digit from which
scenes are made, and the seed of the detector. Digits come with scikit-learn; those of the test
scenes do not occur in training scenes. With "validate" the digits before those of the test take
their place: settings are chosen by these.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from gnomon import vision

OPTIONS: dict[str, dict[str, Any]] = {"YoloDetector": {"learning_rate": 0.003, "batch_size": 16}}


def main(name: str, n_scenes: int, max_iter: int, n_copies: int, seed: int, validate: bool) -> None:
    digits = load_digits()
    end, half = len(digits.images), len(digits.images) * 3 // 4
    if validate:
        end, half = half, len(digits.images) // 2
    options: dict[str, Any] = {"size": (48, 48), "scales": (16, 28), "n_objects": (1, 2)}
    images, labels = digits.images[:half], digits.target[:half]
    if n_copies:
        # a margin, so that a turn cuts no ink; scenes have it drawn larger by as much
        wide = np.pad(images, ((0, 0), (1, 1), (1, 1)))
        more = vision.augment_images(wide, n_copies, rotation=12, brightness=0, random_state=2)
        images = np.concatenate([wide, more.images])
        labels = np.concatenate([labels, labels[more.sources]])
    scaled = options | {"scales": (18, 32) if n_copies else options["scales"]}
    train = vision.make_scenes(n_scenes, objects=images, labels=labels, random_state=0, **scaled)
    test = vision.make_scenes(
        200,
        objects=digits.images[half:end],
        labels=digits.target[half:end],
        random_state=1,
        **options,
    )
    begin, used = time.perf_counter(), time.process_time()
    chosen = OPTIONS.get(name, {})
    model = getattr(vision, name)(max_iter=max_iter, random_state=seed, **chosen).fit(train)
    print(
        f"{name}, {n_scenes} scenes, {max_iter} epochs, {n_copies} copies of digits, seed {seed}: "
        f"{time.perf_counter() - begin:.0f} s ({time.process_time() - used:.0f} s of processor "
        f"time), loss {model.losses_[0]:.3g} -> {model.losses_[-1]:.3g}, mAP@0.5 on new scenes "
        f"{model.score(test):.3f}, on training scenes {model.score(train[:200]):.3f}"
    )


if __name__ == "__main__":
    counts = [int(each) for each in sys.argv[2:] if each != "validate"]
    main(sys.argv[1], *counts, *[0] * (4 - len(counts)), validate="validate" in sys.argv)
