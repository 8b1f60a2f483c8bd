"""Error of a linear machine on HOG features of MNIST digits.

Needs mnist.npz in the folder given as argument; the second argument is the number of training rows.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from gnomon.margin import LinearSVC
from gnomon.vision import HOG


def main(folder: Path, n_train: int) -> None:
    digits = np.load(folder / "mnist.npz")
    begin = time.perf_counter()
    model = HOG(9, (4, 4), (2, 2)).fit(digits["train_images"][:1])
    X = model.transform(digits["train_images"][:n_train])
    new = model.transform(digits["test_images"])
    between = time.perf_counter()
    machine = LinearSVC(C=0.3, random_state=0).fit(X, digits["train_labels"][:n_train])
    wrong = (machine.predict(new) != digits["test_labels"]).sum()
    print(
        f"{n_train:,} training rows, {X.shape[1]} features: {wrong} of {len(new):,} test digits "
        f"wrong ({wrong / len(new):.2%}); features {between - begin:.0f} s, fit "
        f"{time.perf_counter() - between:.0f} s"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
