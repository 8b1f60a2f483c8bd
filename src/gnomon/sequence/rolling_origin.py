"""Rolling-origin evaluation: forecast from many points of the past, and compare with what came.

At each origin the forecaster is fitted to the values before it only. The errors by horizon give
prediction intervals: their size at horizon h, made monotone and with the quantile of the scaled
errors of all horizons, so that few origins suffice.

Texts: beyond the texts; Tashman (2000); Vovk, Gammerman and Shafer (2005) for conformal quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from gnomon.engine.errors import DataError
from gnomon.evaluate.forecast_measures import naive_error
from gnomon.sequence.seasonality import one_series


class RollingOrigin(NamedTuple):
    """Forecasts from several origins, and what came.

    Attributes
    ----------
    origins : ndarray of shape (n_origins,)
        Steps between each origin and the end of every sequence, the earliest origin first.
    y_true, y_pred : ndarray of shape (n_sequences, n_origins, horizon)
        NaN where a value is missing.
    scales : ndarray of shape (n_sequences, n_origins)
        Error of the (seasonal) naive forecast on the values before each origin.
    """

    origins: np.ndarray
    y_true: np.ndarray
    y_pred: np.ndarray
    scales: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """What came less what was forecast."""
        return self.y_true - self.y_pred

    def scaled_losses(self) -> np.ndarray:
        """Mean absolute scaled error of every sequence and origin."""
        size = np.abs(self.errors)
        count = (~np.isnan(size)).sum(axis=2)
        total = np.nansum(size, axis=2) / np.where(count > 0, count, 1)
        return np.where(count > 0, total / self.scales, np.nan)


class HorizonErrors(NamedTuple):
    """How far forecasts miss, by horizon.

    Attributes
    ----------
    half_widths : ndarray of shape (horizon,)
        Half the width of the interval, in the units of the errors given.
    quantile : float
        The quantile of the errors in units of their root mean square at each horizon.
    root_mean_squares : ndarray of shape (horizon,)
        Of the errors at each horizon, made monotone.
    """

    half_widths: np.ndarray
    quantile: float
    root_mean_squares: np.ndarray


def rolling_origin(
    forecaster: Any,
    sequences: Sequence,
    horizon: int,
    origins: Sequence[int],
    *,
    seasonal_periods: int = 1,
    inputs: Sequence | None = None,
) -> RollingOrigin:
    """Fit a forecaster before each origin, and forecast the values after it.

    Parameters
    ----------
    forecaster : estimator
        With ``fit(sequences)`` and ``forecast_rows(sequence, n_steps)``; a clone of it is fitted.
    sequences : list of array-like of shape (n,)
    horizon : int
        Steps to forecast from each origin.
    origins : sequence of int
        Steps between each origin and the end of the sequences; at least 1.
    seasonal_periods : int, default=1
        Of the naive forecast that scales errors.
    inputs : list of array-like of shape (n, k), default=None
        Numbers that are known ahead, where the forecaster takes them.

    Returns
    -------
    result : RollingOrigin

    Examples
    --------
    >>> from gnomon.sequence import NaiveForecaster, rolling_origin
    >>> rolling_origin(NaiveForecaster(), [[1.0, 2, 4, 7]], 1, [2, 1]).errors.ravel()
    array([2., 3.])
    """
    series = [one_series(sequence) for sequence in sequences]
    backs = np.array(sorted(set(map(int, origins)), reverse=True))
    shortest = min(len(each) for each in series)
    if not len(backs) or backs[-1] < 1 or backs[0] >= shortest - 1:
        raise DataError(
            f"origins must lie between 1 and {shortest - 2} steps before the end; they are "
            f"{list(origins)}"
        )
    shape = (len(series), len(backs), horizon)
    y_true, y_pred = np.full(shape, np.nan), np.full(shape, np.nan)
    scales = np.empty(shape[:2])
    for k, back in enumerate(backs):
        before = [each[: len(each) - back] for each in series]
        past = None
        if inputs is not None:
            past = [np.asarray(x)[: len(s)] for x, s in zip(inputs, before, strict=True)]
        fitted = clone(forecaster)
        fitted.fit(before) if past is None else fitted.fit(before, inputs=past)
        for s, each in enumerate(series):
            start = len(each) - back
            coming = each[start : start + horizon]
            y_true[s, k, : len(coming)] = coming
            known = {}
            if inputs is not None:
                known = {"inputs": np.asarray(inputs[s])[: start + len(coming)]}
            found = fitted.forecast_rows(before[s], len(coming), **known)
            y_pred[s, k, : len(coming)] = found[:, 0]
            scales[s, k] = naive_error(before[s], min(seasonal_periods, len(before[s]) - 1))
    return RollingOrigin(backs, y_true, y_pred, scales)


def horizon_intervals(errors: Any, *, confidence_level: float = 0.95) -> HorizonErrors:
    """Half-widths of prediction intervals by horizon, from errors of earlier forecasts.

    Parameters
    ----------
    errors : array-like of shape (n_forecasts, horizon)
        Each row has the errors of one forecast; NaN where they are unknown.
    confidence_level : float, default=0.95

    Returns
    -------
    intervals : HorizonErrors

    Notes
    -----
    The root mean square at each horizon is made non-decreasing; the errors in these units have one
    law for all horizons. Its quantile is that of Student's t with as many degrees of freedom as
    there are forecasts, widened by sqrt(1 + 1 / n), or the conformal quantile of rank
    ceil(confidence_level (N + 1)) of the N errors where that is larger: errors of one forecast go
    together, so that N errors tell no more than a few independent ones.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = horizon_intervals(rng.normal(size=(400, 3)) * [1, 2, 3])
    >>> found.half_widths.round(0)
    array([2., 4., 6.])
    """
    table = np.asarray(errors, dtype=float)
    if table.ndim != 2:
        raise DataError(f"errors has one row for each forecast, not the shape {table.shape}")
    counts = (~np.isnan(table)).sum(axis=0)
    if counts.max(initial=0) < 1:
        raise DataError("no error is known: use earlier origins or a shorter horizon")
    squares = np.nansum(table**2, axis=0) / np.maximum(counts, 1)
    squares[counts == 0] = squares.max()
    sizes = np.sqrt(isotonic_regression(squares, sample_weight=np.maximum(counts, 1e-9)))
    sizes = np.maximum(sizes, 1e-12 * max(float(sizes.max()), 1e-300))
    n = int(counts.max())
    scaled = np.abs(table / sizes)
    scaled = np.sort(scaled[~np.isnan(scaled)])
    rank = int(np.ceil(confidence_level * (len(scaled) + 1)))
    conformal = float(scaled[min(rank, len(scaled)) - 1])
    student = float(scipy.stats.t.ppf((1 + confidence_level) / 2, n)) * np.sqrt(1 + 1 / n)
    quantile = max(conformal, student) if n < MANY else conformal
    return HorizonErrors(sizes * quantile, quantile, sizes)


# Forecasts from which the empirical quantile alone is used: its error is then below 2 points.
MANY = 100
