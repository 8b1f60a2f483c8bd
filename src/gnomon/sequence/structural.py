"""Structural time series: level, slope and season as random walks, by the Kalman filter.

    y_t = level_t + season_{t mod m, t} + noise,   level_{t+1} = level_t + slope_t + noise,
    slope_{t+1} = slope_t + noise,   the season of the phase that was seen moves by a noise.

The variances of the noises, relative to that of y_t, maximize the likelihood of the innovations;
the first states are unknown (a prior of large variance, whose first innovations do not count).
Each step costs d^2 for d = 2 + m states, since only level and slope move.

Texts: 001 14.1 (state spaces); Harvey (1989), Forecasting, Structural Time Series Models and the
Kalman Filter, 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.seasonality import one_series

# Prior variance of the first states, relative to the variance of the series: larger ones lose
# digits in the first updates.
DIFFUSE = 1e4
STARTS = ((-1.0, -5.0, -3.0), (2.0, -5.0, -3.0))


@method(
    task="forecast",
    texts="001 14.1",
    use="Forecasts with error bars of a series with missing values, a moving trend or one season.",
    avoid="Seasons whose size grows with the level: ETSModel with a multiplicative season.",
    peers=("statsmodels.tsa.statespace.structural.UnobservedComponents",),
    takes="sequences",
    synonyms=("state space", "Kalman filter", "UnobservedComponents", "local linear trend", "BSM"),
)
class StructuralModel(SequenceEstimator):
    """Level, slope and season as random walks, fitted by the Kalman filter.

    Use it to forecast a series whose level, slope and season drift, also with missing values; not
    for a season whose size grows with the level (see `ETSModel`).

    Parameters
    ----------
    trend : bool, default=True
        Whether the level has a slope.
    seasonal_periods : int, default=1
        Steps of the season; 1 for none.

    Attributes
    ----------
    ratios_ : ndarray of shape (3,)
        Variances of the noises of level, slope and season, relative to `error_variance_`.
    error_variance_ : float
        Variance of the noise of the observations, the mean over sequences.
    log_likelihood_ : float

    Notes
    -----
    Maximizes sum_t log N(v_t | 0, s^2 F_t) over the innovations v_t after the first ones. Sequences
    share the ratios. Texts: 001 14.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import StructuralModel
    >>> line = 3.0 + 2.0 * np.arange(20)
    >>> StructuralModel().fit([line]).forecast_rows(line, 2).round(2).ravel()
    array([43., 45.])
    """

    _parameter_constraints = {"trend": FLAG, "seasonal_periods": [whole(1)]}
    _stored = {
        "error_variance_": Number(),
        "log_likelihood_": Number(finite=False),
        "ratios_": Array("f8", (3,), low=0.0),
    }

    def __init__(self, trend: bool = True, *, seasonal_periods: int = 1):
        self.trend = trend
        self.seasonal_periods = seasonal_periods

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> StructuralModel:
        """Maximize the likelihood over the ratios of variances."""
        series = [one_series(sequence) for sequence in sequences]
        for each in series:
            self._require_long(each, self._n_first + 3)
        free = np.array([True, self.trend, self.seasonal_periods > 1])

        def cost(point: np.ndarray) -> float:
            ratios = np.zeros(3)
            ratios[free] = np.exp(np.clip(point, -25, 15))
            return -sum(self._likelihood(each, ratios)[0] for each in series)

        ends = [
            minimize(
                cost,
                np.array(start)[free],
                method="Nelder-Mead",
                options={"xatol": 0.02, "fatol": 1e-4, "maxfev": 300},
            )
            for start in STARTS
        ]
        best = min(ends, key=lambda end: end.fun)
        self.ratios_ = np.zeros(3)
        self.ratios_[free] = np.exp(np.clip(best.x, -25, 15))
        found = [self._likelihood(each, self.ratios_) for each in series]
        self.log_likelihood_ = float(sum(value for value, _ in found))
        self.error_variance_ = float(np.mean([variance for _, variance in found]))
        return self

    @property
    def _n_first(self) -> int:
        """Innovations that only find the first states."""
        return 1 + bool(self.trend) + (self.seasonal_periods - 1)

    def _require_long(self, series: np.ndarray, least: int) -> None:
        known = int((~np.isnan(series)).sum())
        if known < least:
            raise DataError(f"{least} values are needed for this model, not {known}")

    def _run(self, series: np.ndarray, ratios: np.ndarray) -> np.ndarray:
        known = series[~np.isnan(series)]
        scale = max(float(np.var(known)), 1e-12 * max(float(np.mean(known**2)), 1e-300))
        out = np.empty((2, len(series)))
        first = np.array([known[0], DIFFUSE * scale])
        kalman_along(
            np.ascontiguousarray(series),
            ratios * scale,
            scale,
            first,
            bool(self.trend),
            self.seasonal_periods,
            out,
        )
        out[1] /= scale
        return out

    def _likelihood(self, series: np.ndarray, ratios: np.ndarray) -> tuple[float, float]:
        """Log-likelihood and the variance of the observations' noise."""
        mean, spread = self._run(series, ratios)
        used = np.flatnonzero(~np.isnan(series))[self._n_first :]
        errors, spread = (series - mean)[used], spread[used]
        least = 1e-14 * max(float(np.nanmean(series**2)), 1e-300)
        variance = max(float(np.mean(errors**2 / spread)), least)
        size = np.log(2 * np.pi * variance) + 1
        return float(-0.5 * (len(used) * size + np.log(spread).sum())), variance

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Log-likelihood of sequences under the fitted ratios."""
        series = [one_series(sequence) for sequence in sequences]
        return float(sum(self._likelihood(each, self.ratios_)[0] for each in series))

    def forecast_rows(
        self, sequence: Any, n_steps: int = 1, *, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Expected rows after the end of a sequence, of shape (n_steps, 1).

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, 1)
        n_steps : int, default=1
        return_std : bool, default=False
            Give the standard deviations of the forecasts too.

        Returns
        -------
        rows : ndarray of shape (n_steps, 1)
        std : ndarray of shape (n_steps,)
            Only with `return_std`.
        """
        check_is_fitted(self)
        series = one_series(sequence)
        self._require_long(series, self._n_first)
        ahead = np.concatenate([series, np.full(n_steps, np.nan)])
        mean, spread = self._run(ahead, self.ratios_)
        rows = mean[len(series) :, None]
        if not return_std:
            return rows
        _, variance = self._likelihood(series, self.ratios_)
        return rows, np.sqrt(variance * spread[len(series) :])


@kernel("f8[:]", "f8[:]", "f8", "f8[:]", "b1", "i8", "out f8[:,:]")
def kalman_along(series, noises, noise, first, trend, period, out):
    """Mean and variance of each value given those before it; a missing value changes no state.

    series (n), noises (3): variances of level, slope and season; noise: of the observation; first:
    the first level and the prior variance; out (2, n).
    """
    width = 2 + (period if period > 1 else 0)
    state = np.zeros(width)
    cover = np.zeros((width, width))
    gain = np.empty(width)
    state[0] = first[0]
    for i in range(width):
        cover[i, i] = first[1]
    if not trend:
        cover[1, 1] = 0.0
    for t in range(len(series)):
        phase = 2 + t % period if period > 1 else 0
        mean = state[0]
        for i in range(width):
            gain[i] = cover[i, 0]
            if period > 1:
                gain[i] += cover[i, phase]
        spread = noise + gain[0]
        if period > 1:
            mean += state[phase]
            spread += gain[phase]
        out[0, t] = mean
        out[1, t] = spread
        if not np.isnan(series[t]):
            error = (series[t] - mean) / spread
            for i in range(width):
                state[i] += gain[i] * error
                for j in range(width):
                    cover[i, j] -= gain[i] * gain[j] / spread
        if trend:
            state[0] += state[1]
            for j in range(width):
                cover[0, j] += cover[1, j]
            for j in range(width):
                cover[j, 0] += cover[j, 1]
            cover[1, 1] += noises[1]
        cover[0, 0] += noises[0]
        if period > 1:
            cover[phase, phase] += noises[2]
