"""Products of matrices on engine threads."""

from __future__ import annotations

from typing import Any

import numpy as np

# Judgement: enough for a mean that is off by little; a chunk has as many rows at least.
FIRST_ROWS = 256


def inner(one: Any, other: Any) -> Any:
    """Products of columns summed over rows, ``one.T @ other``, without the interpreter's lock.

    NumPy's ``@`` keeps the lock where the result has fewer than some five hundred entries, however
    many rows are summed, so that threads would wait for each other; ``np.dot`` gives it free.

    Parameters
    ----------
    one, other : array or sparse array of shape (n, ...) and (n, ...), of one or two dimensions
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.dot(one.T, other)
    return one.T @ other


def needed_shift(rows: np.ndarray, weights: np.ndarray, near: float = 4.0) -> np.ndarray | None:
    """What to take off rows before they are multiplied: about their mean, from the first of them.

    None where every mean is within `near` standard deviations of zero: squares are then at most
    1 + near^2 times those about the mean, little cancels, and the subtraction can be saved.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
    near : float, default=4.0

    Returns
    -------
    shift : ndarray of shape (d,) or None

    Examples
    --------
    >>> needed_shift(np.array([[0.0, 99.0], [1.0, 101.0]]), np.ones(2)).tolist()
    [0.5, 100.0]
    """
    rows, weights = rows[:FIRST_ROWS], weights[:FIRST_ROWS]
    weights = weights / weights.sum()
    mean = weights @ rows
    spread = np.sqrt(weights @ (rows - mean) ** 2)
    return None if np.all(np.abs(mean) <= near * spread) else mean
