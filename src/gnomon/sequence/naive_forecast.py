"""Naive forecasts: the last value, the last season, the mean, or a line through the ends.

They are what every other forecast must beat. Texts: beyond the texts; Hyndman and Athanasopoulos
(2021) 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Number
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.seasonality import one_series


@method(
    task="forecast",
    texts="beyond",
    use="The baseline that a forecast must beat.",
    avoid="Series with a structure that a model can use: ETSModel, LagForecaster.",
    peers=("sktime.forecasting.naive.NaiveForecaster",),
    takes="sequences",
    synonyms=("naive forecast", "seasonal naive", "random walk forecast", "drift", "baseline"),
)
class NaiveForecaster(SequenceEstimator):
    """Forecast by the last value, the last season, the mean, or a line through the ends.

    Use it as the baseline that every forecast must beat; not where a model is shown to beat it.

    Parameters
    ----------
    strategy : {"last", "mean", "drift"}, default="last"
        The last value; the mean; the last value plus the mean change for each step.
    seasonal_periods : int, default=1
        With a season of m steps, "last" and "mean" are of the same phase of the season.

    Attributes
    ----------
    error_variance_ : float
        Mean squared error one step ahead, or one season ahead.

    Notes
    -----
    "last" forecasts y_{t+h} = y_t, or y_{t+h-m} of the last season. Missing values are skipped.
    Texts: beyond.

    Examples
    --------
    >>> from gnomon.sequence import NaiveForecaster
    >>> model = NaiveForecaster(seasonal_periods=2).fit([[1.0, 5.0, 2.0, 6.0]])
    >>> model.forecast_rows([1.0, 5.0, 2.0, 6.0], 3).ravel()
    array([2., 6., 2.])
    """

    _parameter_constraints = {
        "strategy": [StrOptions({"last", "mean", "drift"})],
        "seasonal_periods": [whole(1)],
    }
    _stored = {
        "error_variance_": Number(),
    }

    def __init__(self, strategy: str = "last", *, seasonal_periods: int = 1):
        self.strategy = strategy
        self.seasonal_periods = seasonal_periods

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> NaiveForecaster:
        """Check the sequences; what is forecast comes from each sequence itself."""
        m = self.seasonal_periods
        series = [one_series(sequence) for sequence in sequences]
        errors = np.concatenate([each[m:] - each[:-m] for each in series if len(each) > m] or [[]])
        errors = errors[~np.isnan(errors)]
        self.error_variance_ = float(np.mean(errors**2)) if len(errors) else float("nan")
        return self

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Rows after the end of a sequence, of shape (n_steps, 1)."""
        check_is_fitted(self)
        series, m = one_series(sequence), self.seasonal_periods
        if len(series) < m:
            raise DataError(f"{m} values are needed to go on from, not {len(series)}")
        known = series[~np.isnan(series)]
        if self.strategy == "drift":
            places = np.flatnonzero(~np.isnan(series))
            span = max(int(places[-1] - places[0]), 1)
            slope = (known[-1] - known[0]) / span
            ahead = np.arange(1, n_steps + 1) + (len(series) - 1 - places[-1])
            return (known[-1] + slope * ahead)[:, None]
        phases = [self._of_phase(series[len(series) - m + k :: -m], known) for k in range(m)]
        return np.resize(np.array(phases), n_steps)[:, None]

    def _of_phase(self, backwards: np.ndarray, known: np.ndarray) -> float:
        """The last or the mean of the values of one phase, given from the last one backwards."""
        own = backwards[~np.isnan(backwards)]
        if not len(own):
            return float(known[-1])
        return float(own[0] if self.strategy == "last" else own.mean())

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Minus the mean squared error one step ahead, or one season ahead."""
        return -float(self.__class__(**self.get_params()).fit(sequences).error_variance_)
