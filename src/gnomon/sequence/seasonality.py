"""Seasons of a series: found by autocorrelation, and taken out by moving averages.

A season of period m shows in the autocorrelation of the differences at lag m. It is accepted where
r_m > z sqrt((1 + 2 sum_{k<m} r_k^2) / n), Bartlett's error for a series that has the shorter
correlations.

Texts: beyond the texts; Box and Jenkins (1970) 2.1.6; Makridakis, Spiliotis and Assimakopoulos
(2018) use the same test before forecasting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from gnomon.engine.errors import DataError
from gnomon.sequence.emissions import number_rows


class Season(NamedTuple):
    """A season that was looked for.

    Attributes
    ----------
    period : int
        Steps; 1 where there is no season.
    strength : float
        Autocorrelation of the differences at that lag.
    threshold : float
        What a strength must exceed to be no chance.
    """

    period: int
    strength: float
    threshold: float


def one_series(sequence: Any) -> np.ndarray:
    """A sequence of single numbers as an array; NaN stands for missing."""
    rows = number_rows(sequence)
    if rows.shape[1] != 1:
        raise DataError(f"one number for each step is needed, and the rows have {rows.shape[1]}")
    if np.isnan(rows).all():
        raise DataError("a sequence has no value")
    return rows[:, 0]


def autocorrelation(series: Any, n_lags: int) -> np.ndarray:
    """Autocorrelations of a series at lags 0 ... n_lags; missing values are left out of the sums.

    Parameters
    ----------
    series : array-like of shape (n,)
    n_lags : int

    Returns
    -------
    correlations : ndarray of shape (n_lags + 1,)

    Examples
    --------
    >>> autocorrelation([1, -1, 1, -1, 1, -1], 2).round(3)
    array([ 1.   , -0.833,  0.667])
    """
    values = one_series(series)
    centered = np.nan_to_num(values - np.nanmean(values))
    total = float(centered @ centered)
    if total == 0:
        return np.concatenate([[1.0], np.zeros(n_lags)])
    products = [float(centered[k:] @ centered[: len(centered) - k]) for k in range(n_lags + 1)]
    return np.array(products) / total


def find_season(
    series: Any, periods: Sequence[int] | None = None, *, confidence_level: float = 0.9
) -> Season:
    """The season of a series, or period 1 where there is none beyond chance.

    Parameters
    ----------
    series : array-like of shape (n,)
    periods : sequence of int, default=None
        Periods that the calendar suggests, such as 12 for months. By default all from 2 to a third
        of the length; the threshold then counts all of them (Bonferroni).
    confidence_level : float, default=0.9
        Level of the two-sided test for each period that the calendar suggests.

    Returns
    -------
    season : Season

    Examples
    --------
    >>> import numpy as np
    >>> find_season(np.tile([1.0, 5.0, 2.0, 8.0], 10), [4]).period
    4
    >>> find_season(np.arange(30.0) ** 2, [4]).period
    1
    """
    values = one_series(series)
    n = len(values)
    most = n // 3
    asked = list(range(2, most + 1)) if periods is None else sorted(set(periods))
    asked = [m for m in asked if 2 <= m <= n // 2 and n >= 2 * m + 2]
    if not asked:
        return Season(1, 0.0, np.inf)
    changes = np.diff(values)
    strengths = autocorrelation(changes, max(asked))
    level = confidence_level if periods is not None else 1 - (1 - 0.95) / len(asked)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    # a calendar's period must stand out beyond shorter lags (Bartlett); without a calendar beyond
    # independent changes, as a smooth season is strong at all its lags: a sine was never found
    shorter = np.cumsum(strengths[1:] ** 2) if periods is not None else np.zeros(max(asked))
    errors = np.sqrt((1 + 2 * shorter) / len(changes))
    thresholds = z * np.concatenate([[np.inf, np.inf], errors[: max(asked) - 1]])
    peaks = asked if periods is not None else [m for m in asked if _is_peak(strengths, m)]
    passed = [m for m in peaks if strengths[m] > thresholds[m]]
    # of equally strong multiples the shortest is the season
    best = max(asked, key=lambda m: strengths[m])
    if not passed:
        return Season(1, float(strengths[best]), float(thresholds[best]))
    strongest = max(strengths[m] for m in passed)
    period = min(m for m in passed if strengths[m] >= 0.85 * strongest)
    return Season(period, float(strengths[period]), float(thresholds[period]))


def _is_peak(strengths: np.ndarray, m: int) -> bool:
    after = strengths[m + 1] if m + 1 < len(strengths) else -np.inf
    return bool(strengths[m] > 0.3 and strengths[m] >= strengths[m - 1] and strengths[m] >= after)


def moving_trend(series: np.ndarray, period: int) -> np.ndarray:
    """Centered moving average over one season; lines of the outermost averages at the ends."""
    n = len(series)
    weights = np.ones(period) / period
    if period % 2 == 0:
        weights = np.convolve(weights, [0.5, 0.5])
    half = len(weights) // 2
    if n < len(weights) + 1:
        return np.full(n, series.mean())
    inner = np.convolve(series, weights, mode="valid")
    span = max(2, min(period, len(inner)))
    places = np.arange(half, half + len(inner))
    head = np.polyfit(places[:span], inner[:span], 1)
    tail = np.polyfit(places[-span:], inner[-span:], 1)
    return np.concatenate(
        [
            np.polyval(head, np.arange(half)),
            inner,
            np.polyval(tail, np.arange(half + len(inner), n)),
        ]
    )


def seasonal_indices(
    series: np.ndarray, period: int, *, multiplicative: bool = False
) -> np.ndarray:
    """The mean deviation of each phase of a season from the trend; sums to 0, or averages 1.

    Parameters
    ----------
    series : ndarray of shape (n,)
    period : int
    multiplicative : bool, default=False

    Returns
    -------
    indices : ndarray of shape (period,)

    Examples
    --------
    >>> import numpy as np
    >>> seasonal_indices(np.tile([1.0, 3.0], 6) + np.arange(12), 2).round(3)
    array([-1.,  1.])
    """
    trend = moving_trend(series, period)
    if multiplicative:
        trend = np.where(trend > 0, trend, np.mean(series))
    rest = series / trend if multiplicative else series - trend
    inside = np.arange(len(series))
    indices = np.array([rest[inside % period == phase].mean() for phase in range(period)])
    return indices / indices.mean() if multiplicative else indices - indices.mean()


def decomposition(series: Any, period: int) -> dict[str, np.ndarray]:
    """Trend, season and rest of a series, which add up to it (classical decomposition).

    Parameters
    ----------
    series : array-like of shape (n,)
        Without missing values.
    period : int
        1 for no season.

    Returns
    -------
    parts : dict of str to ndarray of shape (n,)
        ``"trend"``, ``"season"`` and ``"rest"``.

    Examples
    --------
    >>> import numpy as np
    >>> parts = decomposition(np.tile([1.0, 3.0], 6), 2)
    >>> parts["season"][:2].round(3), float(np.abs(parts["rest"]).max().round(6))
    (array([-1.,  1.]), 0.0)
    """
    values = one_series(series)
    width = period if period > 1 else max(3, min(len(values) // 5, 25) | 1)
    trend = moving_trend(values, width)
    places = np.arange(len(values))
    season = np.zeros(len(values))
    if period > 1:
        season = seasonal_indices(values, period)[places % period]
    return {"trend": trend, "season": season, "rest": values - trend - season}
