"""What measures take: labels, numbers, probabilities and scores of any make, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract.estimate import float_array
from gnomon.engine.errors import DataError
from gnomon.engine.missing import is_missing
from gnomon.table.frames import native
from gnomon.table.grid import is_table, label_array

NUMBERS = "biuf"


def label_column(y: Any, name: str) -> np.ndarray:
    """Labels as a plain column, none missing."""
    _require_given(y, name)
    if isinstance(y, str):
        raise DataError(f"{name}={y!r} is one text, not a column: give the column's values")
    labels = label_array(_of_one_column(y))
    if len(labels) == 0:
        raise DataError(f"{name} is empty")
    if labels.dtype.kind in "fMm":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([is_missing(each) for each in labels], dtype=bool)
        if not missing.any():
            labels = _of_one_kind(labels, name)
    else:
        return labels
    if missing.any():
        raise DataError(
            f"{name} is missing in {int(missing.sum()):,} of {len(labels):,} rows "
            f"(first: row {int(missing.argmax())}); leave those rows out"
        )
    return labels


def _require_given(values: Any, name: str) -> None:
    if values is None:
        raise DataError(f"{name} is None: measures need its values, one for each row")


def _of_one_column(y: Any) -> Any:
    """A table or array of a single column as that column; others as they are."""
    y = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else native(y)
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return np.asarray(y)[:, 0] if len(shape) == 2 and shape[1] == 1 else y


def _of_one_kind(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels in NumPy's own kind; refuses texts among others, which would be taken for texts."""
    found = np.array(labels.tolist())
    if found.ndim != 1:
        raise DataError(f"{name} must be one column of labels, not of {type(labels[0]).__name__}")
    texts = np.array([isinstance(each, (str, bytes)) for each in labels])
    if texts.any() and not texts.all():
        raise DataError(
            f"{name} mixes texts such as {plain(labels[texts.argmax()])!r} with others such as "
            f"{plain(labels[texts.argmin()])!r}; write all of them as texts"
        )
    return found


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
    _require_given(values, name)
    values = native(values)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    block = float_array(values, name)
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
    """Class codes of the rows, their probabilities of shape (n, n_classes), and the classes.

    Columns of a table that are named after the classes are taken by their names.
    """
    y = label_column(y, "y")
    names, proba = column_names(proba), number_block(proba, "proba")
    stated = classes is not None
    classes = label_column(classes, "classes") if stated else np.unique(y)
    if proba.ndim == 1:
        proba = np.column_stack([1 - proba, proba])
    same_length(y, proba, "the probabilities")
    if proba.shape[1] != len(classes):
        raise DataError(
            f"there are {proba.shape[1]} columns of probabilities for {len(classes)} classes "
            f"({_listed(classes)}); name the classes in the columns' order (classes=...)"
        )
    proba = in_order_of_classes(proba, names, classes, stated)
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


def column_names(values: Any) -> list[str] | None:
    """Names of the columns of a table; None for arrays."""
    values = native(values)
    if not is_table(values):
        return None
    given = values.column_names if hasattr(values, "column_names") else values.columns
    return [str(name) for name in given]


def in_order_of_classes(
    block: np.ndarray, names: list[str] | None, classes: np.ndarray, stated: bool
) -> np.ndarray:
    """Columns in the order of the classes, where they are named after them.

    Columns of other names, or numbered ones, are in that order already.

    Parameters
    ----------
    block : ndarray of shape (n, n_classes)
    names : list of str or None
        Names of the columns.
    classes : ndarray of shape (n_classes,)
    stated : bool
        Whether the classes were given as the order of the columns, which names must not deny.
    """
    wanted = [str(plain(each)) for each in classes]
    if names is None or names == wanted or set(names).isdisjoint(wanted):
        return block
    if sorted(names) != sorted(wanted):
        if names == [str(k) for k in range(len(names))]:
            return block
        raise DataError(
            f"some columns are named after classes and some are not: the columns are "
            f"{_listed(names)}, the classes {_listed(classes)}; name all of them, or give an array"
        )
    if stated:
        raise DataError(
            f"the columns are named {_listed(names)}, and classes= says that they are "
            f"{_listed(classes)}; leave classes out, or give an array"
        )
    return block[:, [names.index(each) for each in wanted]]


def _listed(classes: Any) -> str:
    shown = ", ".join(str(plain(each)) for each in classes[:5])
    return shown + (", ..." if len(classes) > 5 else "")


def plain(label: Any) -> Any:
    """A label as Python's own, for messages and names."""
    return label.item() if isinstance(label, np.generic) else label
