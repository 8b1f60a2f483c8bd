"""Recognition of faces: one class for each of 40 people and one for the background.

Needs att_faces.npz and cifar10_subset.npz in the folder given as argument. Five pictures of each
person and 400 backgrounds to learn from, the other five and 400 other backgrounds to test.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from gnomon.margin import SVC
from gnomon.neighbors import KNeighborsClassifier
from gnomon.vision import EigenfaceClassifier, resize, rgb_to_gray

SIZE = (56, 46)
N_BACKGROUNDS = 400


def main(folder: Path) -> None:
    faces = np.load(folder / "att_faces.npz")
    images = resize(faces["images"].astype(float), SIZE)
    names = np.array([f"person {each}" for each in faces["person"]])
    number = np.array([np.sum(names[:i] == name) for i, name in enumerate(names)])
    photos = np.load(folder / "cifar10_subset.npz")
    behind = resize(
        rgb_to_gray(
            np.concatenate(
                [photos["train_images"][:N_BACKGROUNDS], photos["test_images"][:N_BACKGROUNDS]]
            )
        ),
        SIZE,
    )
    blank = np.full(N_BACKGROUNDS, "background")
    train, test = number < 5, number >= 5
    X = np.concatenate([images[train], behind[:N_BACKGROUNDS]])
    for name, estimator in (
        ("logistic regression", None),
        ("nearest neighbor", KNeighborsClassifier(1)),
        ("SVC, rbf", SVC(C=10.0)),
    ):
        begin = time.perf_counter()
        model = EigenfaceClassifier(60, estimator).fit(X, np.concatenate([names[train], blank]))
        seconds = time.perf_counter() - begin
        right = (model.predict(images[test]) == names[test]).mean()
        kept = (model.predict(behind[N_BACKGROUNDS:]) == "background").mean()
        print(
            f"{name}: {right:.3f} of {test.sum()} test faces named rightly, {kept:.3f} of "
            f"{N_BACKGROUNDS} backgrounds known as such, {seconds:.1f} s to learn"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
