"""Choices of an algorithm by measured costs, in one place, from the shape of a table alone.

A choice never depends on times of the run, so that the same table gives the same bits everywhere.
"""

from __future__ import annotations

import math

# Measured for neighbors of clustered rows, 3,000 to 200,000 of them: a tree of boxes is the faster
# up to the base-2 logarithm of the rows less this, in columns.
BOXES_FROM = 6.0


def boxes_pay(n_rows: int, n_columns: int) -> bool:
    """Whether a tree of boxes leaves out more than it costs; else all pairs are compared.

    Five columns from 2,048 rows on, ten from 65,536.

    Examples
    --------
    >>> boxes_pay(2048, 5), boxes_pay(2048, 6), boxes_pay(65_536, 10)
    (True, False, True)
    """
    return n_columns <= math.log2(max(n_rows, 1)) - BOXES_FROM
