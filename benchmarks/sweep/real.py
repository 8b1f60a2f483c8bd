"""Real sets of a folder that the user gives, as matrices of numbers with classes and a target.

Files that are not there are left out; ``KNOWN`` names what is looked for. Pictures are rows of gray
values, tables are encoded one-hot, texts are weighted word counts (sparse).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Set = tuple[Any, np.ndarray, np.ndarray]


def pictures(images: str, labels: str, path: Path) -> Set:
    with np.load(path) as stored:
        X = stored[images].reshape(len(stored[images]), -1).astype(np.float64)
        y = stored[labels]
    return X, y, X.mean(axis=1)


def one_hot(target: str, path: Path) -> Set:
    """All other columns, categories one-hot; the classes are the target's values."""
    import pandas as pd

    frame = pd.read_csv(path)
    y = frame.pop(target)
    frame = frame.drop(columns=[name for name in ("split", "ID", "esl_test") if name in frame])
    X = pd.get_dummies(frame, dtype=float).fillna(0.0).to_numpy(dtype=np.float64)
    return X, y.to_numpy(), X[:, 0].copy()


def measured(target: str, path: Path) -> Set:
    """A table whose target is a number; the classes are its quarters."""
    import pandas as pd

    X, y, _ = one_hot(target, path)
    return X, pd.qcut(y, 4, labels=False), y.astype(np.float64)


def texts(target: str, column: str, path: Path) -> Set:
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = pd.read_csv(path)
    X = TfidfVectorizer(min_df=3, max_features=10_000).fit_transform(frame[column].astype(str))
    return X.tocsr(), frame[target].to_numpy(), np.asarray(X.sum(axis=1)).ravel()


KNOWN: dict[str, Callable[[Path], Set]] = {
    "mnist.npz": functools.partial(pictures, "train_images", "train_labels"),
    "cifar10_subset.npz": functools.partial(pictures, "train_images", "train_labels"),
    "zip_digits.npz": functools.partial(pictures, "train_images", "train_labels"),
    "att_faces.npz": functools.partial(pictures, "images", "person"),
    "credit_default.csv.gz": functools.partial(one_hot, "default"),
    "adult.csv.gz": functools.partial(one_hot, "income"),
    "spam.csv": functools.partial(one_hot, "class"),
    "mushroom.csv": functools.partial(one_hot, "class"),
    "california_housing.csv.gz": functools.partial(measured, "medianHouseValue"),
    "concrete.csv": functools.partial(measured, "strength"),
    "movie_reviews.csv.gz": functools.partial(texts, "label", "text"),
    "sms_spam.csv": functools.partial(texts, "type", "text"),
}


# Sets whose target is a number of its own; of the others it is made from the columns.
NUMBERS = ("california_housing.csv.gz", "concrete.csv", "credit_default.csv.gz", "adult.csv.gz")


@functools.lru_cache(maxsize=1)
def read(name: str, folder: Path | None) -> Set:
    """The whole set; scaled so that no column is more than a few units wide (dense ones)."""
    if folder is None:
        raise ValueError(f"{name} needs --data FOLDER")
    X, y, numbers = KNOWN[name](folder / name)
    if isinstance(X, np.ndarray):
        scale = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(scale > 0, np.maximum(scale, 0.1 * scale.max()), 1.0)
    return X, y, numbers


def found(folder: Path | None) -> list[str]:
    return [name for name in KNOWN if folder is not None and (folder / name).exists()]
