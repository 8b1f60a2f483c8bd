"""Passes over rows in small batches that keep the contract of weights and of the order of rows.

Rows lie in canonical order on the line of their cumulated weights. A pass visits equally spaced
marks on that line in random order, one row for each mark. A row of weight three is met by as many
marks as three copies of it, and the order in which a table was written has no effect, so the same
seed gives the same batches for all of these tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.engine.distinct import distinct_rows

MOST_MARKS = 2**24  # of one pass: 128 MB of places; larger weights are met in proportion


class Epochs:
    """Batches of the distinct rows of a table, pass by pass.

    Parameters
    ----------
    rows : ndarray or sparse array of shape (n, d)
    weights : ndarray of shape (n,)
    y : ndarray of shape (n,) or (n, n_targets), default=None

    Attributes
    ----------
    rows, weights, y : as given
        Of the distinct rows, in canonical order.
    n_marks : int
        Rows of a pass: the total weight, and at least the number of distinct rows.
    """

    def __init__(self, rows: Any, weights: np.ndarray, y: np.ndarray | None = None):
        distinct = distinct_rows(rows, weights, y)
        self.rows, self.weights, self.y = distinct.rows, distinct.weights, distinct.y
        self._line = np.cumsum(self.weights)
        total = min(round(float(self._line[-1])), MOST_MARKS)
        self.n_marks = max(total, len(self.weights))

    def batches(self, rng: np.random.Generator, size: int) -> Iterator[np.ndarray]:
        """Places of rows, at most `size` at a time, for one pass."""
        step = self._line[-1] / self.n_marks
        marks = (rng.permutation(self.n_marks) + rng.random()) * step
        places = np.searchsorted(self._line, marks, side="right")
        places = np.minimum(places, len(self._line) - 1)
        for start in range(0, self.n_marks, size):
            yield places[start : start + size]
