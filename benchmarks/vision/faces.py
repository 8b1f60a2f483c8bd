"""Viola-Jones on faces: 30 people to learn from, 10 to test, beside OpenCV's frontal cascade.

Needs att_faces.npz and cifar10_subset.npz in the folder given as argument. Prints the share of
test faces that pass all stages, false alarms per window of unseen backgrounds, the time to train,
and detection in scenes for both.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from gnomon.vision import (
    Detections,
    ViolaJonesDetector,
    make_scenes,
    match_detections,
    resize,
    rgb_to_gray,
)

WINDOW = (24, 20)
N_BACKGROUNDS = 4000


def main(folder: Path) -> None:
    faces = np.load(folder / "att_faces.npz")
    images, person = faces["images"].astype(float), faces["person"]
    train, test = images[person <= 30], images[person > 30]
    photos = np.load(folder / "cifar10_subset.npz")
    behind = rgb_to_gray(photos["train_images"][:N_BACKGROUNDS])
    unseen = rgb_to_gray(photos["test_images"])
    begin = time.perf_counter()
    model = ViolaJonesDetector(
        WINDOW, n_stages=14, detection_rate=0.998, n_jitter=2, n_negatives=2500, random_state=0
    )
    model.fit_windows(
        train, [*behind[::2], *resize(behind[1::2], (64, 64))], "face", groups=person[person <= 30]
    )
    print(
        f"trained in {time.perf_counter() - begin:.0f} s: {len(model.stage_ends_)} stages, "
        f"{len(model.features_)} stumps"
    )
    passed = model._passes(resize(test, WINDOW))
    print(f"test faces that pass all stages: {passed.mean():.3f} of {len(test)}")
    windows = alarms = 0
    for image in unseen:
        large = resize(image, (64, 64))
        corners, _ = model._scan(large)
        alarms += len(corners)
        windows += (64 - WINDOW[0] + 1) * (64 - WINDOW[1] + 1)
    print(f"false alarms: {alarms} in {windows:,} windows, {alarms / windows:.1e} per window")
    compare(model, test, unseen)


def compare(model: ViolaJonesDetector, test: np.ndarray, unseen: np.ndarray) -> None:
    """Both detectors on the same scenes of test faces on unseen backgrounds."""
    scenes = make_scenes(
        100,
        size=(160, 160),
        scales=(40, 90),
        n_objects=1,
        objects=test,
        labels=["face"] * len(test),
        paste="opaque",
        backgrounds=unseen,
        random_state=1,
    )
    report("gnomon", scenes, model.predict(scenes))
    import cv2

    path = Path(cv2.__file__).parent / "data" / "haarcascade_frontalface_default.xml"
    if not hasattr(cv2, "CascadeClassifier") or not path.exists():
        print("OpenCV: this build has no CascadeClassifier with its frontal cascade; not compared")
        return
    peer = cv2.CascadeClassifier(str(path))
    found = []
    for scene in scenes:
        boxes = np.array(peer.detectMultiScale(scene.image.astype(np.uint8), 1.1, 3)).reshape(-1, 4)
        boxes = np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]]).astype(float)
        found.append(Detections(boxes, np.ones(len(boxes)), np.full(len(boxes), "face")))
    report("OpenCV", scenes, found)


def report(name: str, scenes: list, found: list) -> None:
    # a box of OpenCV holds the face without hair: an overlap of 0.3 counts for both
    matches = [
        match_detections(each.boxes, each.scores, scene.boxes, iou_threshold=0.3)
        for each, scene in zip(found, scenes)
    ]
    hits = sum(int(each.relevant.sum()) for each in matches)
    alarms = sum(int((~each.relevant).sum()) for each in matches)
    print(f"{name}: {hits} of {sum(each.n_truth for each in matches)} faces, {alarms} false boxes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
