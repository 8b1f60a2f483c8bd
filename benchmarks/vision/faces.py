"""Viola-Jones on faces: 30 people to learn from, 10 to test, beside other frontal cascades.

Needs att_faces.npz and cifar10_subset.npz in the folder given as argument. Prints the time to
train, the share of test faces whose one exact window passes all stages, false alarms per window of
unseen backgrounds, and detection in scenes beside the cascades of OpenCV (where its build has one)
and scikit-image. With "validate" people 25 to 30 and other photographs take the place of the test:
settings are chosen by these.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.vision import (
    Detections,
    Scene,
    ViolaJonesDetector,
    make_scenes,
    match_detections,
    resize,
    rgb_to_gray,
)

WINDOW = (24, 20)
N_BACKGROUNDS = 8000
SETTINGS: dict[str, Any] = {
    "n_stages": 14,
    "detection_rate": 0.99,
    "false_positive_rate": 0.35,
    "max_stumps": 150,
    "n_negatives": 4000,
    "n_jitter": 4,
}


def main(folder: Path, validate: bool) -> None:
    faces = np.load(folder / "att_faces.npz")
    images, person = faces["images"].astype(float), faces["person"]
    last = 24 if validate else 30
    end = 30 if validate else 40
    train, test = images[person <= last], images[(person > last) & (person <= end)]
    photos = np.load(folder / "cifar10_subset.npz")
    behind = rgb_to_gray(photos["train_images"][:N_BACKGROUNDS])
    unseen = rgb_to_gray(photos["train_images"][8000:] if validate else photos["test_images"])
    begin, used = time.perf_counter(), time.process_time()
    model = ViolaJonesDetector(WINDOW, random_state=0, **SETTINGS)
    model.fit_windows(train, list(resize(behind, (64, 64))), "face", groups=person[person <= last])
    print(
        f"trained in {time.perf_counter() - begin:.0f} s ({time.process_time() - used:.0f} s of "
        f"processor time): {len(model.stage_ends_)} stages, {len(model.features_)} stumps",
        flush=True,
    )
    passed = model._passes(resize(test, WINDOW))
    print(f"test faces whose window passes all stages: {passed.mean():.3f} of {len(test)}")
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
    report("scikit-image, local patterns", scenes, [found_by_scikit_image(each) for each in scenes])
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


def found_by_scikit_image(scene: Scene) -> Detections:
    """Faces by the frontal cascade that comes with scikit-image, learned from other pictures."""
    from skimage.data import lbp_frontal_face_cascade_filename
    from skimage.feature import Cascade

    found = Cascade(lbp_frontal_face_cascade_filename()).detect_multi_scale(
        scene.image.astype(np.uint8), 1.1, 1, (24, 24), scene.image.shape
    )
    boxes = np.array(
        [
            [each["c"], each["r"], each["c"] + each["width"], each["r"] + each["height"]]
            for each in found
        ],
        dtype=float,
    ).reshape(-1, 4)
    return Detections(boxes, np.ones(len(boxes)), np.full(len(boxes), "face"))


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
    main(Path(sys.argv[1]), "validate" in sys.argv[2:])
