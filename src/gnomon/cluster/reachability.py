"""The relations behind DBSCAN, each answered for two rows, with the chain that proves it.

Texts: 001 19.1.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.cluster.intake import Metric, number_rows
from gnomon.engine.errors import DataError


class Connection(NamedTuple):
    """Two rows that are density-connected.

    Attributes
    ----------
    through : int
        A core row from which both are density-reachable.
    to_first, to_second : list of int
        The chains from it.
    """

    through: int
    to_first: list[int]
    to_second: list[int]


class DensityRelations:
    """Core rows and reachability for one eps and min_samples.

    A row y is directly density-reachable from x when x is core and y lies within eps of it;
    density-reachable by a chain of such steps (not symmetric: a border row starts none); x and y
    are density-connected when both are density-reachable from one core row (symmetric).

    Parameters
    ----------
    X : array-like of shape (n, d)
    eps : float
    min_samples : int, default=5
        Rows within eps, itself counted, that make a row core.
    metric : str or callable, default="euclidean"
        A distance of scipy's `cdist`, or a function of two rows.

    Examples
    --------
    >>> relations = DensityRelations([[0.0], [1.0], [2.0], [3.5], [9.0]], 1.5, 3)
    >>> relations.chain(1, 3), relations.chain(3, 1)
    ([1, 2, 3], None)
    >>> relations.connected(0, 3).through
    1
    """

    def __init__(self, X: Any, eps: float, min_samples: int = 5, metric: Metric = "euclidean"):
        self.rows = number_rows(X)
        self.eps, self.min_samples, self.metric = eps, min_samples, metric

    def near(self, row: int) -> np.ndarray:
        """Rows within eps of a row, itself among them."""
        if not 0 <= row < len(self.rows):
            raise DataError(f"there is no row {row}; rows are 0 to {len(self.rows) - 1}")
        distances = cdist(self.rows[row : row + 1], self.rows, metric=self.metric)[0]
        return np.flatnonzero(distances <= self.eps)

    def is_core(self, row: int) -> bool:
        """Whether a row's ball holds enough rows."""
        return len(self.near(row)) >= self.min_samples

    def directly_reachable(self, start: int, end: int) -> bool:
        """Whether `end` is directly density-reachable from `start`."""
        return bool(self.is_core(start) and end in self.near(start))

    def chain(self, start: int, end: int) -> list[int] | None:
        """A shortest chain that shows `end` density-reachable from `start`, or None."""
        came_from = {start: start}
        waiting = deque([start])
        self.near(end)
        while waiting:
            row = waiting.popleft()
            if row == end and (row != start or self.is_core(start)):
                return _back(came_from, start, end)
            near = self.near(row)
            if len(near) < self.min_samples:
                continue
            for other in near.tolist():
                if other not in came_from:
                    came_from[other] = row
                    waiting.append(other)
        return None

    def connected(self, first: int, second: int) -> Connection | None:
        """A core row from which both are density-reachable, with the chains; or None."""
        for through in self.near(first).tolist():
            if not self.is_core(through):
                continue
            to_first, to_second = self.chain(through, first), self.chain(through, second)
            if to_first is not None and to_second is not None:
                return Connection(through, to_first, to_second)
        return None


def _back(came_from: dict[int, int], start: int, end: int) -> list[int]:
    chain = [end]
    while chain[-1] != start:
        chain.append(came_from[chain[-1]])
    return chain[::-1]
