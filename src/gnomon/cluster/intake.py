"""What the functions of this room take: rows of numbers, labels, tables of distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_array

from gnomon.engine.errors import DataError

BLOCK_CELLS = 2**21

Metric = str | Callable[[np.ndarray, np.ndarray], float]


def number_rows(X: Any, name: str = "X") -> np.ndarray:
    """Rows of finite numbers as a C-contiguous float64 array."""
    return np.ascontiguousarray(check_array(X, dtype=np.float64, input_name=name))


def label_codes(labels: Any, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The different labels, sorted, and the position of each row's label among them."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) == 0:
        raise DataError(f"labels must be one for each row, not an array of shape {labels.shape}")
    if n is not None and len(labels) != n:
        raise DataError(f"there are {n:,} rows and {len(labels):,} labels; give one for each row")
    names, codes = np.unique(labels, return_inverse=True)
    return names, codes.astype(np.int64)


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
