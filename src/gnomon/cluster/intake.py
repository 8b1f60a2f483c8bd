"""What the functions of this package take: rows of numbers, labels, tables of distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_array

from gnomon.contract.numbers import number_rows
from gnomon.engine.errors import DataError
from gnomon.engine.missing import is_missing
from gnomon.table.frames import native

BLOCK_CELLS = 2**21  # distances that are held at once: 16 MB

Metric = str | Callable[[np.ndarray, np.ndarray], float]


def label_codes(
    labels: Any, n: int | None = None, name: str = "labels"
) -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the position of each row's label among them."""
    given = _plain_labels(labels)
    if given.ndim != 1 or len(given) == 0:
        raise DataError(f"{name} must be one for each row, not an array of shape {given.shape}")
    if n is not None and len(given) != n:
        raise DataError(f"there are {n:,} rows and {len(given):,} {name}; give one for each row")
    _refuse_missing(given, name)
    if given.dtype.kind == "O":
        are_text = {isinstance(each, str) for each in given}
        if len(are_text) == 2:  # text and numbers: "1" is not 1
            listed = sorted(set(given), key=lambda each: (isinstance(each, str), each))
            place = {each: i for i, each in enumerate(listed)}
            return np.array(listed, dtype=object), np.array([place[each] for each in given])
        given = np.array(given.tolist())
    names, codes = np.unique(given, return_inverse=True)
    return names, codes.astype(np.int64)


def _plain_labels(labels: Any) -> np.ndarray:
    """Labels as an array; those of a list stay what they are, where NumPy would make them text."""
    labels = native(labels)
    if hasattr(labels, "to_pylist"):
        labels = labels.to_pylist()
    given = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    if isinstance(labels, (list, tuple)) and given.dtype.kind in "US":
        return np.array(labels, dtype=object)
    return given


def _refuse_missing(labels: np.ndarray, name: str) -> None:
    if labels.dtype.kind in "fcmM":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([is_missing(each) for each in labels], dtype=bool)
    else:
        return
    if missing.any():
        raise DataError(
            f"{name}: {int(missing.sum()):,} of {len(labels):,} are missing (the first in row "
            f"{int(missing.argmax())}); leave those rows out, or give them a label of their own"
        )


def distance_table(distances: Any) -> np.ndarray:
    """A square table of distances: symmetric, none negative, zero on the diagonal."""
    table = check_array(distances, dtype=np.float64, input_name="distances")
    if table.shape[0] != table.shape[1]:
        raise DataError(f"a table of distances is square; this one has shape {table.shape}")
    if (table < 0).any():
        row, column = np.argwhere(table < 0)[0]
        raise DataError(f"the distance of items {row} and {column} is negative")
    if not np.allclose(table, table.T) or np.diag(table).any():
        raise DataError(
            "a table of distances is symmetric with zeros on its diagonal; average it with its "
            "transpose, or turn similarities into distances first"
        )
    return np.ascontiguousarray(table)


def distance_blocks(X: Any, metric: Metric) -> Iterator[tuple[int, np.ndarray]]:
    """Distances of some rows to all rows, block by block: the first row's place, and the block."""
    if metric == "precomputed":
        table = distance_table(X)
        yield 0, table
        return
    rows = number_rows(X)
    size = max(BLOCK_CELLS // len(rows), 1)
    for start in range(0, len(rows), size):
        yield start, cdist(rows[start : start + size], rows, metric=metric)
