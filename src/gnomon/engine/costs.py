"""Choices of an algorithm by measured costs, in one place, from the shape of a table alone.

A choice never depends on times of the run, so that the same table gives the same bits everywhere.
"""

from __future__ import annotations

import math

import numpy as np

# Measured for neighbors of clustered rows, 3,000 to 200,000 of them: a tree of boxes is the faster
# up to the base-2 logarithm of the rows less this, in columns.
BOXES_FROM = 6.0


def boxes_pay(n_rows: int, n_columns: float) -> bool:
    """Whether a tree of boxes leaves out more than it costs; else all pairs are compared.

    Five columns from 2,048 rows on, ten from 65,536.

    Examples
    --------
    >>> boxes_pay(2048, 5), boxes_pay(2048, 6), boxes_pay(65_536, 10)
    (True, False, True)
    """
    return n_columns <= math.log2(max(n_rows, 1)) - BOXES_FROM


# Rows from which the variances of columns are estimated.
SAMPLE = 512


def effective_columns(rows: np.ndarray) -> float:
    """Columns that count for a tree of boxes: fewer than there are where columns go together.

    The geometric mean of their number and of (sum v)^2 / sum v^2 of the principal variances v,
    which is their number where all are equal. Measured on 3,000 to 60,000 rows of 8 to 30 plain,
    correlated and duplicated columns: boxes were the faster wherever `boxes_pay` says so of it.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> effective_columns(corners)
    2.0
    """
    n_rows, n_columns = rows.shape
    if n_columns == 0 or not boxes_pay(n_rows, math.sqrt(n_columns)):
        return float(n_columns)
    sample = rows[:: max(n_rows // SAMPLE, 1)]
    sample = sample - sample.mean(axis=0)
    largest = np.abs(sample).max()
    if largest == 0:
        return float(n_columns)
    sample /= largest
    products = np.dot(sample.T, sample)
    ratio = float(np.trace(products) ** 2 / np.sum(products**2))
    return math.sqrt(n_columns * min(max(ratio, 1.0), n_columns))
