"""Errors on a subset of CIFAR: the text's network, and a small residual network with augmentation.

    python -m benchmarks.vision.cifar FOLDER text 10000 30 [CHECKPOINTS]
    python -m benchmarks.vision.cifar FOLDER mirrored 10000 8 [CHECKPOINTS]
    python -m benchmarks.vision.cifar FOLDER residual 10000 20 [CHECKPOINTS]

"mirrored" is the text's network with the mirror image of each training image beside it.

FOLDER holds cifar10_subset.npz; the numbers are training images (the first ones) and epochs. A run
that was ended goes on from its last epoch where a folder CHECKPOINTS is given. Runs of 2,500, 5,000
and 10,000 images are a learning curve. The torch engine, one thread (set OMP_NUM_THREADS=1). Test
images are measured after each epoch and choose nothing: the figure is that after the last epoch.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from gnomon.neural import L2, train
from gnomon.vision import ImageWhitening, augment_images
from gnomon.vision.networks import cifar_network, cifar_resnet

N_COPIES = 4  # of each image, with other crops, turns and sides


def main(folder: Path, kind: str, n_train: int, epochs: int, checkpoints: Path | None) -> None:
    with np.load(folder / "cifar10_subset.npz") as file:
        X, y = file["train_images"][:n_train].astype(float), file["train_labels"][:n_train]
        new, truth = file["test_images"].astype(float), file["test_labels"]
    labels = y
    if kind == "residual":
        more = augment_images(X, N_COPIES, rotation=8, zoom=(0.8, 1.0), flip=True, random_state=0)
        X, labels = np.concatenate([X, more.images]), np.concatenate([y, y[more.sources]])
    elif kind == "mirrored":
        X, labels = np.concatenate([X, X[:, :, ::-1]]), np.tile(y, 2)
    whitening = ImageWhitening().fit(X[:n_train])
    new = whitening.transform(new).astype(np.float32)
    rows = np.concatenate([whitening.transform(part) for part in np.array_split(X, 20)])
    rows = rows.astype(np.float32)
    begin, used = time.perf_counter(), time.process_time()

    def watch(found) -> None:
        error = float((found.predict(new).argmax(axis=1) != truth).mean())
        print(
            f"epoch {found.n_iter}: loss {found.losses[-1]:.3f}, test error {error:.4f}, "
            f"{time.process_time() - used:.0f} s of processor time",
            flush=True,
        )

    first = 0.1 if kind == "residual" else 0.05
    found = train(
        cifar_resnet(1) if kind == "residual" else cifar_network(),
        rows,
        labels.astype(int),
        solver="momentum",
        learning_rate=lambda epoch: first * 0.5 * (1 + np.cos(np.pi * epoch / epochs)),
        penalty=L2(5e-4),
        batch_size=100,
        max_iter=epochs,
        init="he_normal",
        dtype=np.float32,
        callback=watch,
        checkpoint=None if checkpoints is None else checkpoints / f"{kind}-{n_train}-{epochs}.npz",
        engine="torch",
        n_jobs=1,
        random_state=0,
    )
    error = float((found.predict(new).argmax(axis=1) != truth).mean())
    print(
        f"{kind}, {n_train:,} images, {epochs} epochs: test error {error:.4f} after the last, "
        f"{time.perf_counter() - begin:.0f} s ({time.process_time() - used:.0f} s of processor "
        "time)"
    )


if __name__ == "__main__":
    place = Path(sys.argv[5]) if len(sys.argv) > 5 else None
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), place)
