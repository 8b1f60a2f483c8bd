"""Measures of how good predictions are, each with a standard error or an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats


class Figure(NamedTuple):
    """A figure with its interval; prints as ``0.842 (0.815 to 0.866)``."""

    value: float
    low: float
    high: float
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


def share_interval(successes: int, n: int, level: float = 0.95) -> Figure:
    """A share of successes with its Wilson score interval.

    Holds its level for small n and shares near 0 and 1, where the plus-minus form fails.

    Parameters
    ----------
    successes : int
    n : int
    level : float, default=0.95

    Returns
    -------
    figure : Figure

    Examples
    --------
    >>> print(share_interval(8, 10))
    0.8 (0.4902 to 0.9433)
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are not a share")
    z = stats.norm.ppf(0.5 + level / 2)
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = 0.0 if successes == 0 else float(centre - half)
    high = 1.0 if successes == n else float(centre + half)
    return Figure(share, low, high, level)


def accuracy(y: np.ndarray, predicted: np.ndarray, level: float = 0.95) -> Figure:
    """Share of right predictions, with its Wilson interval.

    Parameters
    ----------
    y : array-like of shape (n,)
    predicted : array-like of shape (n,)
    level : float, default=0.95

    Returns
    -------
    figure : Figure
    """
    y, predicted = np.asarray(y), np.asarray(predicted)
    return share_interval(int((y == predicted).sum()), len(y), level)


def root_mean_squared_error(y: np.ndarray, predicted: np.ndarray, level: float = 0.95) -> Figure:
    """Root of the mean squared error; the interval from the spread of the squared errors.

    Parameters
    ----------
    y : array-like of shape (n,)
    predicted : array-like of shape (n,)
    level : float, default=0.95

    Returns
    -------
    figure : Figure
        The interval of the mean of squares (by the central limit theorem), square-rooted.
    """
    squares = (np.asarray(y, dtype=float) - np.asarray(predicted, dtype=float)) ** 2
    n = len(squares)
    mean = squares.mean()
    if n < 2:
        return Figure(float(np.sqrt(mean)), 0.0, np.inf, level)
    half = stats.t.ppf(0.5 + level / 2, n - 1) * squares.std(ddof=1) / np.sqrt(n)
    low, high = np.sqrt(max(mean - half, 0.0)), np.sqrt(mean + half)
    return Figure(float(np.sqrt(mean)), float(low), float(high), level)
