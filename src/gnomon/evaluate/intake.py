"""What measures take: labels, numbers, probabilities and scores of any make, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table.frames import native
from gnomon.table.grid import label_array

NUMBERS = "biuf"


def label_column(y: Any, name: str) -> np.ndarray:
    """Labels as a plain column, none missing."""
    labels = label_array(y)
    if len(labels) == 0:
        raise DataError(f"{name} is empty")
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([each is None or each != each for each in labels], dtype=bool)
        if not missing.any():
            labels = np.array(labels.tolist())
    else:
        return labels
    if missing.any():
        raise DataError(
            f"{name} is missing in {int(missing.sum()):,} of {len(labels):,} rows "
            f"(first: row {int(missing.argmax())}); leave those rows out"
        )
    return labels


def label_pair(y: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """True and predicted labels of the same rows, of one kind."""
    y, predicted = label_column(y, "y"), label_column(predicted, "predicted")
    same_length(y, predicted)
    if (y.dtype.kind in NUMBERS) != (predicted.dtype.kind in NUMBERS):
        raise DataError(
            f"y holds labels such as {plain(y[0])!r} and the predictions such as "
            f"{plain(predicted[0])!r}: they can never be equal; give both in the same coding"
        )
    return y, predicted


def number_block(values: Any, name: str) -> np.ndarray:
    """Numbers as float64, one column or several, all finite."""
    values = native(values)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        block = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None
    if block.ndim not in (1, 2) or block.size == 0:
        raise DataError(f"{name} must be one or several columns, not of shape {block.shape}")
    wrong = ~np.isfinite(block)
    if wrong.any():
        where = tuple(int(place) for place in np.argwhere(wrong)[0])
        raise DataError(
            f"{name} must be finite: {int(wrong.sum()):,} of {block.size:,} cells are not "
            f"(first: row {where[0]}, {block[where]})"
        )
    return block


def number_pair(y: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """True and predicted numbers of the same shape."""
    y, predicted = number_block(y, "y"), number_block(predicted, "predicted")
    same_length(y, predicted)
    if y.ndim != predicted.ndim or y.shape != predicted.shape:
        if y.size != predicted.size:
            raise DataError(f"y has shape {y.shape} and the predictions {predicted.shape}")
        predicted = predicted.reshape(y.shape)
    return y, predicted


def same_length(y: np.ndarray, other: np.ndarray, name: str = "the predictions") -> None:
    """Refuse columns of different lengths."""
    if len(y) != len(other):
        raise DataError(f"y has {len(y):,} rows and {name} {len(other):,}")


def two_classes(y: Any, positive: Any = None) -> tuple[np.ndarray, Any, Any]:
    """Which rows are positive, and the names of both classes.

    The positive class is the second in sorted order unless named.
    """
    y = label_column(y, "y")
    classes = np.unique(y)
    if positive is None:
        if len(classes) != 2:
            raise DataError(
                f"y has {len(classes)} classes ({_listed(classes)}); name the positive one "
                "(positive=...), the others are then its opposite"
            )
        positive = classes[1]
    rest = classes[classes != positive]
    negative = rest[0] if len(rest) == 1 else f"not {positive}"
    return y == positive, plain(positive), plain(negative)


def both_present(is_positive: np.ndarray, what: str) -> None:
    """Refuse rows of one class where a measure compares two."""
    n = int(is_positive.sum())
    if n in (0, len(is_positive)):
        kind = "positive" if n else "negative"
        raise DataError(
            f"{what} compares two classes, and all {len(is_positive):,} rows are {kind}; "
            "stratify the folds, or take more rows"
        )


def probability_block(
    y: Any, proba: Any, classes: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class codes of the rows, their probabilities of shape (n, n_classes), and the classes."""
    y = label_column(y, "y")
    proba = number_block(proba, "proba")
    classes = np.unique(y) if classes is None else label_column(classes, "classes")
    if proba.ndim == 1:
        proba = np.column_stack([1 - proba, proba])
    same_length(y, proba, "the probabilities")
    if proba.shape[1] != len(classes):
        raise DataError(
            f"there are {proba.shape[1]} columns of probabilities for {len(classes)} classes "
            f"({_listed(classes)}); name the classes in the columns' order (classes=...)"
        )
    order = np.argsort(classes, kind="stable")
    place = np.searchsorted(classes[order], y)
    place = np.minimum(place, len(classes) - 1)
    codes = order[place]
    unknown = classes[codes] != y
    if unknown.any():
        raise DataError(f"y holds {plain(y[unknown.argmax()])!r}, which is not among the classes")
    if (proba < 0).any() or (proba > 1).any():
        raise DataError("probabilities must lie between 0 and 1; these are other scores")
    if not np.allclose(proba.sum(axis=1), 1, atol=1e-4):
        row = int(np.abs(proba.sum(axis=1) - 1).argmax())
        raise DataError(f"the probabilities of row {row} add up to {proba[row].sum():g}, not 1")
    return codes, proba, classes


def _listed(classes: np.ndarray) -> str:
    shown = ", ".join(map(str, classes[:5].tolist()))
    return shown + (", ..." if len(classes) > 5 else "")


def plain(label: Any) -> Any:
    """A label as Python's own, for messages and names."""
    return label.item() if isinstance(label, np.generic) else label
