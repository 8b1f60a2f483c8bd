"""All partitions of few rows: how many there are, and which is best by any score.

Texts: 001 18.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np

from gnomon.cluster.intake import number_rows
from gnomon.cluster.validity import cluster_means
from gnomon.engine.errors import DataError

MOST_PARTITIONS = 2_000_000  # judgement: seconds to minutes, by what a score costs


def stirling(n: int, k: int) -> int:
    """Number of ways to put n rows in k clusters, none empty: S(n, k).

    ``(1 / k!) sum_{t=0}^{k} (-1)^t C(k, t) (k - t)^n``. 001 18.1 starts the sum at t = 1, which
    gives negative numbers.

    Parameters
    ----------
    n, k : int

    Returns
    -------
    count : int

    Examples
    --------
    >>> stirling(4, 2), stirling(10, 5)
    (7, 42525)
    """
    if n < 0 or k < 0:
        raise DataError(f"n={n} and k={k} must not be negative")
    total = sum((-1) ** t * comb(k, t) * (k - t) ** n for t in range(k + 1))
    return total // factorial(k)


def partitions(n: int, k: int) -> Iterator[np.ndarray]:
    """Labels of every way to put n rows in k clusters, none empty; each way once.

    Parameters
    ----------
    n, k : int

    Yields
    ------
    labels : ndarray of shape (n,)

    Examples
    --------
    >>> [each.tolist() for each in partitions(3, 2)]
    [[0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    labels = np.zeros(n, dtype=np.int64)

    def place(row: int, used: int) -> Iterator[np.ndarray]:
        if n - row < k - used:
            return
        if row == n:
            yield labels.copy()
            return
        for cluster in range(min(used + 1, k)):
            labels[row] = cluster
            yield from place(row + 1, max(used, cluster + 1))

    yield from place(0, 0)


class BestPartition(NamedTuple):
    """The partition of the best score.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    score : float
    n_partitions : int
        How many were tried: all.
    """

    labels: np.ndarray
    score: float
    n_partitions: int


def sum_of_squares(rows: np.ndarray, labels: np.ndarray) -> float:
    """Squared distances of rows to the means of their clusters, summed."""
    means, _ = cluster_means(rows, labels, int(labels.max()) + 1)
    return float(((rows - means[labels]) ** 2).sum())


def best_partition(
    X: Any,
    n_clusters: int,
    score: Callable[[np.ndarray, np.ndarray], float] = sum_of_squares,
    *,
    higher_is_better: bool = False,
) -> BestPartition:
    """Try every partition of few rows and keep the best (001 18.1): an oracle for tiny tests.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_clusters : int
    score : callable, default=sum_of_squares
        Score of the rows and their labels.
    higher_is_better : bool, default=False

    Returns
    -------
    best : BestPartition

    Examples
    --------
    >>> best_partition([[0.0], [1.0], [9.0], [10.0]], 2)
    BestPartition(labels=array([0, 0, 1, 1]), score=1.0, n_partitions=7)
    """
    rows = number_rows(X)
    count = stirling(len(rows), n_clusters)
    if not 1 <= n_clusters <= len(rows):
        raise DataError(f"{len(rows)} rows cannot be put in n_clusters={n_clusters} clusters")
    if count > MOST_PARTITIONS:
        raise DataError(
            f"{len(rows)} rows can be put in {n_clusters} clusters in {count:.3g} ways; at most "
            f"{MOST_PARTITIONS:,} are tried. Use fewer rows, or KMeans"
        )
    sign = -1.0 if higher_is_better else 1.0
    best = min(partitions(len(rows), n_clusters), key=lambda labels: sign * score(rows, labels))
    return BestPartition(best, float(score(rows, best)), count)
