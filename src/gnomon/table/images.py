"""Standard image sets from local files, in the split that they come with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.table.errors import ReadError
from gnomon.table.idx import read_idx

# Of the CIFAR files' description: 32 x 32 pixels, red, green, blue.
CIFAR_SIDE, CIFAR_CHANNELS = 32, 3
CIFAR_PIXELS = CIFAR_SIDE * CIFAR_SIDE * CIFAR_CHANNELS


@dataclass(frozen=True)
class ImageSet:
    """Images and labels of a standard set in its fixed split.

    Attributes
    ----------
    train_images, test_images : ndarray
        (n, height, width) or (n, height, width, channels); test images may be None where the files
        have none.
    train_labels, test_labels : ndarray
    train_superclasses, test_superclasses : ndarray or None
        Coarse labels of CIFAR-100.
    classes, superclasses : tuple of str or None
        Names of the labels, where a file tells them.
    """

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray | None = None
    test_labels: np.ndarray | None = None
    train_superclasses: np.ndarray | None = None
    test_superclasses: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    superclasses: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        tested = 0 if self.test_images is None else len(self.test_images)
        shape = " x ".join(map(str, self.train_images.shape[1:]))
        return f"ImageSet of {len(self.train_images):,} + {tested:,} images, {shape}"


def image_dataset(path: Any) -> ImageSet:
    """Load MNIST-like or CIFAR image sets from files on this machine, keeping their split.

    Nothing is fetched and nothing is unpickled.

    Parameters
    ----------
    path : path
        A folder with IDX files (``train-images-idx3-ubyte``, ``t10k-labels-idx1-ubyte`` ..., plain
        or gzipped), a folder with CIFAR's binary batches (``data_batch_1.bin`` ...
        ``test_batch.bin``, or ``train.bin`` and ``test.bin`` of CIFAR-100), or an ``.npz`` file
        with arrays ``x_train``, ``y_train``, ``x_test``, ``y_test`` (or ``X``/``images`` and
        ``y``/``labels`` where there is no split).

    Returns
    -------
    ImageSet

    Notes
    -----
    Text: 000 17.1, 17.2 and 18.1 (standard sets with fixed splits).
    """
    path = Path(path)
    if path.suffix == ".npz":
        return _from_npz(path)
    if not path.is_dir():
        raise ReadError(
            "is neither a folder nor an .npz file",
            file=str(path),
            remedy="Name the folder that holds the IDX or CIFAR binary files.",
        )
    names = sorted(entry.name for entry in path.iterdir())
    if any(re.match(r"train-images.*idx3", name) for name in names):
        return _from_idx(path, names)
    if "train.bin" in names:
        return _from_cifar(path, ["train.bin"], "test.bin", label_bytes=2)
    batches = [name for name in names if re.fullmatch(r"data_batch_\d+\.bin", name)]
    if batches:
        return _from_cifar(path, batches, "test_batch.bin", label_bytes=1)
    raise ReadError(
        f"holds no image set that is known; it holds {', '.join(names[:5]) or 'nothing'}",
        file=str(path),
        remedy="Expected: IDX files (train-images-idx3-ubyte) or CIFAR batches (data_batch_1.bin).",
    )


def _from_idx(path: Path, names: list[str]) -> ImageSet:
    def array(start: str) -> np.ndarray:
        found = [name for name in names if re.match(rf"{start}[.-]idx\d", name)]
        if not found:
            raise ReadError(
                f"lacks a file {start}-idx...", file=str(path), remedy="Put it into the folder."
            )
        return read_idx(path / found[0])

    train = _paired(path, array("train-images"), array("train-labels"))
    if not any(name.startswith("t10k-") for name in names):
        return ImageSet(*train)
    return ImageSet(*train, *_paired(path, array("t10k-images"), array("t10k-labels")))


def _paired(path: Path, images: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    if len(images) != len(labels):
        raise ReadError(
            f"has {len(images):,} images and {len(labels):,} labels",
            file=str(path),
            remedy="Take both files from the same set.",
        )
    return images, labels


def _from_cifar(path: Path, batches: list[str], test: str, label_bytes: int) -> ImageSet:
    parts = [_cifar_batch(path / name, label_bytes) for name in batches]
    images = np.concatenate([images for images, _ in parts])
    labels = np.concatenate([labels for _, labels in parts])
    test_images = test_labels = None
    if (path / test).is_file():
        test_images, test_labels = _cifar_batch(path / test, label_bytes)
    coarse = label_bytes == 2
    return ImageSet(
        images,
        labels[:, -1],
        test_images,
        None if test_labels is None else test_labels[:, -1],
        train_superclasses=labels[:, 0] if coarse else None,
        test_superclasses=test_labels[:, 0] if coarse and test_labels is not None else None,
        classes=_names(path, "fine_label_names.txt" if coarse else "batches.meta.txt"),
        superclasses=_names(path, "coarse_label_names.txt") if coarse else None,
    )


def _cifar_batch(path: Path, label_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    content = np.fromfile(path, dtype=np.uint8)
    record = label_bytes + CIFAR_PIXELS
    if not len(content) or len(content) % record:
        raise ReadError(
            f"has {len(content):,} bytes, not a multiple of {record:,}",
            file=str(path),
            remedy="Fetch it again; the binary version of CIFAR is expected.",
        )
    records = content.reshape(-1, record)
    planes = records[:, label_bytes:].reshape(-1, CIFAR_CHANNELS, CIFAR_SIDE, CIFAR_SIDE)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), records[:, :label_bytes]


def _names(path: Path, file: str) -> tuple[str, ...] | None:
    if not (path / file).is_file():
        return None
    lines = (path / file).read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _from_npz(path: Path) -> ImageSet:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ReadError(
            f"cannot be loaded without pickle ({error})",
            file=str(path),
            remedy="Save plain numeric arrays with numpy.savez.",
        ) from error
    train = _first(arrays, "x_train", "X_train", "train_images", "X", "x", "images", "data")
    labels = _first(arrays, "y_train", "train_labels", "y", "labels", "target")
    if train is None or labels is None:
        raise ReadError(
            f"holds the arrays {sorted(arrays)!r}",
            file=str(path),
            remedy="Name them x_train, y_train, x_test and y_test.",
        )
    images, labels = _paired(path, train, labels)
    test = _first(arrays, "x_test", "X_test", "test_images")
    test_labels = _first(arrays, "y_test", "test_labels")
    if test is not None and test_labels is not None:
        test, test_labels = _paired(path, test, test_labels)
    return ImageSet(images, labels, test, test_labels)


def _first(arrays: dict[str, np.ndarray], *names: str) -> np.ndarray | None:
    return next((arrays[name] for name in names if name in arrays), None)
