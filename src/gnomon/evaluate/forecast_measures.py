"""Measures of forecasts, and their comparison over origins whose errors overlap.

Forecasts from neighboring origins share errors, so means over origins get the error of Newey and
West (1987): with autocovariances g_k of the losses, var = (g_0 + 2 sum_k (1 - k / (L + 1)) g_k) / K
for windows that overlap over L origins. Two forecasts are compared by the same mean of their
differences (Diebold and Mariano, 1995) with Student's law, as Harvey, Leybourne and Newbold (1997)
advise for few origins.

Texts: beyond the texts; Hyndman and Koehler (2006) for the scaled error.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, check_level
from gnomon.engine.errors import DataError
from gnomon.evaluate.significance import Significance


def mean_absolute_scaled_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, y_train: ArrayLike, seasonal_periods: int = 1
) -> float:
    """Mean absolute error relative to that of the (seasonal) naive forecast on training values.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Missing values of `y_true` (NaN) do not count.
    y_train : array-like of shape (m,)
    seasonal_periods : int, default=1

    Returns
    -------
    error : float
        1 where errors are as large as those of the naive forecast one season (or step) ahead.

    Examples
    --------
    >>> mean_absolute_scaled_error([5, 6], [5, 7], y_train=[1, 2, 3, 4])
    0.5
    """
    errors = np.abs(np.asarray(y_true, dtype=float) - np.asarray(y_pred, dtype=float))
    return float(np.nanmean(errors)) / naive_error(y_train, seasonal_periods)


def naive_error(y_train: ArrayLike, seasonal_periods: int = 1) -> float:
    """Mean absolute error of the (seasonal) naive forecast on training values.

    Parameters
    ----------
    y_train : array-like of shape (m,)
    seasonal_periods : int, default=1

    Returns
    -------
    error : float
        Where nothing changes, the mean absolute value, or 1.

    Examples
    --------
    >>> naive_error([1, 2, 4])
    1.5
    """
    values, m = np.asarray(y_train, dtype=float), seasonal_periods
    if len(values) <= m:
        raise DataError(f"{m + 1} training values are needed, not {len(values)}")
    changes = np.abs(values[m:] - values[:-m])
    scale = float(np.nanmean(changes)) if (~np.isnan(changes)).any() else 0.0
    return scale or float(np.nanmean(np.abs(values))) or 1.0


def symmetric_mean_absolute_percentage_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mean of 2 |y - f| / (|y| + |f|): 0 at best, 2 at worst; 0 where both are 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Missing values of `y_true` (NaN) do not count.

    Returns
    -------
    error : float

    Examples
    --------
    >>> symmetric_mean_absolute_percentage_error([100, 0], [50, 0])
    0.3333333333333333
    """
    true, made = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    size = np.abs(true) + np.abs(made)
    shares = 2 * np.abs(true - made) / np.where(size > 0, size, 1.0)
    return float(np.nanmean(shares))


def mean_over_origins(
    losses: ArrayLike, *, overlap: int = 0, confidence_level: float = 0.95
) -> Estimate:
    """Mean of losses of successive origins, with an interval that allows for overlapping windows.

    Parameters
    ----------
    losses : array-like of shape (n_origins,)
        In the order of time.
    overlap : int, default=0
        How many origins before it a window overlaps.
    confidence_level : float, default=0.95

    Returns
    -------
    mean : Estimate

    Examples
    --------
    >>> print(mean_over_origins([1.0, 2.0, 3.0, 2.0]))
    2.0 (0.7 to 3.3)
    """
    values = np.asarray(losses, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        raise DataError("there are no losses to average")
    check_level(confidence_level)
    mean, error = float(values.mean()), _newey_west(values, overlap)
    if not np.isfinite(error):
        return Estimate(mean, -np.inf, np.inf, confidence_level, np.nan, "one origin")
    reach = scipy.stats.t.ppf((1 + confidence_level) / 2, len(values) - 1) * error
    return Estimate(
        mean, mean - reach, mean + reach, confidence_level, error, "Newey-West, Student's t"
    )


def _newey_west(values: np.ndarray, overlap: int) -> float:
    """Standard error of the mean of values that are correlated over `overlap` places."""
    n = len(values)
    if n < 2:
        return np.inf
    centered = values - values.mean()
    total = float(centered @ centered) / (n - 1)
    for k in range(1, min(overlap, n - 2) + 1):
        total += 2 * (1 - k / (overlap + 1)) * float(centered[k:] @ centered[:-k]) / (n - 1)
    # few origins may give a negative sum; the error of independent ones is the least that is used
    return float(np.sqrt(max(total, float(centered @ centered) / (n - 1)) / n))


def diebold_mariano_test(
    losses: ArrayLike, other_losses: ArrayLike, *, overlap: int = 0
) -> Significance:
    """Whether two forecasts have the same expected loss, from their losses at the same origins.

    Parameters
    ----------
    losses, other_losses : array-like of shape (n_origins,)
        In the order of time.
    overlap : int, default=0
        How many origins before it a window overlaps.

    Returns
    -------
    result : Significance
        With the mean difference, first less second, as an effect.

    Examples
    --------
    >>> bool(diebold_mariano_test([1, 2, 1, 2, 1], [2, 4, 2, 3, 2]).p < 0.01)
    True
    """
    first, second = np.asarray(losses, dtype=float), np.asarray(other_losses, dtype=float)
    if first.shape != second.shape:
        raise DataError(f"losses of {len(first)} and of {len(second)} origins cannot be paired")
    difference = mean_over_origins(first - second, overlap=overlap)
    n = int((~np.isnan(first - second)).sum())
    if n < 2:
        statistic, p = np.nan, 1.0
    elif difference.error == 0:
        statistic, p = 0.0, float(difference.value == 0)
    else:
        statistic = difference.value / difference.error
        p = float(2 * scipy.stats.t.sf(abs(statistic), n - 1))
    return Significance(
        "Diebold-Mariano test",
        float(statistic),
        p,
        "t",
        {"mean difference": difference},
        f"Student's t with {n - 1} degrees of freedom",
    )
