"""Steps of L-BFGS, for searches that measure a slope in passes over the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def quasi_newton(
    slope: np.ndarray,
    curvature: np.ndarray | float,
    steps: Sequence[tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """The slope divided by the curvature that earlier steps have shown.

    Parameters
    ----------
    slope : ndarray of shape (d,)
    curvature : float or ndarray of shape (d,)
        Curvature of each coordinate, to begin with.
    steps : sequence of (moved, changed)
        Earlier steps, oldest first: where each moved and how the slope changed by it, both of shape
        (d,); their product must be positive.

    Returns
    -------
    step : ndarray of shape (d,)

    Examples
    --------
    >>> step = (np.array([1.0, 0.0]), np.array([4.0, 0.0]))  # the curvature is 4 along it
    >>> quasi_newton(np.array([8.0, 8.0]), 1.0, [step]).tolist()
    [2.0, 8.0]
    """
    left, shares = slope.copy(), []
    for moved, changed in reversed(steps):
        share = (moved @ left) / (moved @ changed)
        left -= share * changed
        shares.append(share)
    left /= curvature
    for (moved, changed), share in zip(steps, reversed(shares)):
        left += (share - (changed @ left) / (moved @ changed)) * moved
    return left
