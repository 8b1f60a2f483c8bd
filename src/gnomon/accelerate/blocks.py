"""Rows in blocks that stay in the processor's cache, shared by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from gnomon.accelerate.unsupported import require
from gnomon.engine.threads import in_order

Result = TypeVar("Result")
# Cells of a block: 2**16 doubles fit the second-level cache; measured 2**14 to 2**18, flat there.
BLOCK_CELLS = 2**16
FEWEST_ROWS = 128


def block_slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """The rows of each block."""
    size = max(BLOCK_CELLS // max(n_columns, 1), FEWEST_ROWS)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def each_block(
    function: Callable[[slice], Result], n_rows: int, n_columns: int
) -> Iterator[Result]:
    """``function`` of the rows of each block, on threads, in the order of the blocks."""
    return in_order(function, block_slices(n_rows, n_columns), short=True)


def fill_blocks(function: Callable[[slice], None], n_rows: int, n_columns: int) -> None:
    """Call ``function``, which writes its part of a result, for all blocks."""
    for _ in each_block(function, n_rows, n_columns):
        pass


def require_doubles(X: Any, what: str = "X") -> None:
    """Leave the call to scikit-learn unless this is a dense matrix of doubles."""
    require(isinstance(X, np.ndarray), f"{what} is not a NumPy array (a sparse matrix, say)")
    require(X.dtype == np.float64, f"{what} is of type {X.dtype}")
    require(X.ndim == 2, f"{what} has {X.ndim} dimensions")
