"""YOLO on scenes of digits: mean average precision at an overlap of one half, and the time.

Digits come with scikit-learn; those of the test scenes do not occur in training scenes.
"""

from __future__ import annotations

import sys
import time

from sklearn.datasets import load_digits

from gnomon.vision import YoloDetector, make_scenes


def main(n_scenes: int = 2000, max_iter: int = 30) -> None:
    digits = load_digits()
    half = len(digits.images) * 3 // 4
    options = {"size": (48, 48), "scales": (16, 28), "n_objects": (1, 2)}
    train = make_scenes(
        n_scenes,
        objects=digits.images[:half],
        labels=digits.target[:half],
        random_state=0,
        **options,
    )
    test = make_scenes(
        200, objects=digits.images[half:], labels=digits.target[half:], random_state=1, **options
    )
    begin = time.perf_counter()
    model = YoloDetector(max_iter=max_iter, random_state=0).fit(train)
    print(
        f"{n_scenes} scenes, {max_iter} epochs: {time.perf_counter() - begin:.0f} s, loss "
        f"{model.losses_[0]:.3g} -> {model.losses_[-1]:.3g}, mAP@0.5 on new scenes "
        f"{model.score(test):.3f}, on training scenes {model.score(train[:200]):.3f}"
    )


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
