"""Quantiles of values that stand there as often as their weights say."""

from __future__ import annotations

import numpy as np


def repeated_quantiles(
    values: np.ndarray, weights: np.ndarray | None, shares: np.ndarray
) -> np.ndarray:
    """NumPy's quantiles (linear interpolation) of values that are repeated by their weights.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    shares : ndarray
        Between 0 and 1.

    Returns
    -------
    quantiles : ndarray of the shape of shares

    Examples
    --------
    >>> import numpy as np
    >>> repeated_quantiles(np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array([0.0, 0.5]))
    array([1., 2.])
    """
    if weights is None:
        return np.quantile(values, shares)
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    line = np.cumsum(weights[order])
    place = max(line[-1] - 1, 0.0) * shares
    below = np.floor(place)

    def at(position: np.ndarray) -> np.ndarray:
        found = np.searchsorted(line, position, side="right")
        return values[order[np.minimum(found, len(order) - 1)]]

    low, high = at(below), at(below + 1)
    return low + (place - below) * (high - low)
