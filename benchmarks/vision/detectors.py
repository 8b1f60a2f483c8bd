"""Detectors on scenes of digits: mean average precision at an overlap of one half, and the time.

    python -m benchmarks.vision.detectors FasterRCNNDetector 2500 8

Digits come with scikit-learn; those of the test scenes do not occur in training scenes.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from sklearn.datasets import load_digits

from gnomon import vision

OPTIONS: dict[str, dict[str, Any]] = {"YoloDetector": {"learning_rate": 0.003, "batch_size": 16}}


def main(name: str, n_scenes: int, max_iter: int) -> None:
    digits = load_digits()
    half = len(digits.images) * 3 // 4
    options = {"size": (48, 48), "scales": (16, 28), "n_objects": (1, 2)}
    train = vision.make_scenes(
        n_scenes,
        objects=digits.images[:half],
        labels=digits.target[:half],
        random_state=0,
        **options,
    )
    test = vision.make_scenes(
        200, objects=digits.images[half:], labels=digits.target[half:], random_state=1, **options
    )
    begin, used = time.perf_counter(), time.process_time()
    chosen = OPTIONS.get(name, {})
    model = getattr(vision, name)(max_iter=max_iter, random_state=0, **chosen).fit(train)
    print(
        f"{name}, {n_scenes} scenes, {max_iter} epochs: {time.perf_counter() - begin:.0f} s "
        f"({time.process_time() - used:.0f} s of processor time), loss {model.losses_[0]:.3g} -> "
        f"{model.losses_[-1]:.3g}, mAP@0.5 on new scenes {model.score(test):.3f}, on training "
        f"scenes {model.score(train[:200]):.3f}"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
