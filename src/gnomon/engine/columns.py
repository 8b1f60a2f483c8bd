"""Where columns lie and how wide they are, so that units do not matter."""

from __future__ import annotations

import numpy as np


def location_and_scale(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and standard deviations of columns; deviation one where a column is constant.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
    """
    share = weights / weights.sum()
    mean, scale = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for j in range(rows.shape[1]):
        column = np.ascontiguousarray(rows[:, j], dtype=np.float64)
        mean[j] = share @ column
        scale[j] = np.sqrt(share @ (column - mean[j]) ** 2)
        if scale[j] <= 32 * np.finfo(np.float64).eps * abs(mean[j]):
            scale[j] = 1.0
    scale[scale == 0] = 1.0
    return mean, scale
