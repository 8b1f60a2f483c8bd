"""Forecasts of a series by any regressor on its last values, for one series or many at once.

The regressor learns the change since one season ago, z_t = y_t - y_{t-m} (m = 1: since the last
value), from the changes before it, from how far the last values are from those of a season ago and
from their means, from the phase of the season, and from inputs that are known ahead. Changes are in
units of each series' own mean absolute change, so that series of any size are learned together
and trees can follow a trend.

Texts: 001 14.1 (a regressor on a tapped delay line, named there).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HasMethods, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Flag, Object, Whole
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.seasonality import one_series

# Slope of log spread on log mean of blocks from which logarithms are taken: 0 where the spread is
# constant, 1 where it is in proportion to the mean.
PROPORTIONAL = 0.5


@method(
    task="forecast",
    texts="001 14.1",
    use="Many related series, inputs that are known ahead, changes that are not linear.",
    avoid="One short series: ETSModel.",
    takes="sequences",
    synonyms=("lag features", "global forecasting model", "reduction", "time series"),
)
class LagForecaster(SequenceEstimator):
    """Forecast with any regressor on lags, seasons and inputs that are known ahead.

    Use it for many related series or inputs that are known ahead; not for one short series, where
    `ETSModel` has less to learn.

    Parameters
    ----------
    estimator : estimator
        A regressor with ``fit(X, y)`` and ``predict(X)``.
    lags : int, default=12
        Changes before each value that the regressor sees.
    seasonal_periods : int, default=1
    log : bool or "auto", default="auto"
        Whether to forecast logarithms: by default where all values are positive and the spread
        grows with the level.

    Attributes
    ----------
    estimator_ : estimator
    log_ : bool
    n_inputs_ : int
        Columns of the inputs.

    Notes
    -----
    z_t = f(z_{t-1}, ..., z_{t-lags}, gaps, phase, inputs_t) + noise; values beyond the next are
    forecast from forecasts. Texts: 001 14.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import LagForecaster
    >>> from sklearn.linear_model import LinearRegression
    >>> line = 3.0 + 2.0 * np.arange(20)
    >>> model = LagForecaster(LinearRegression(), lags=2, log=False).fit([line])
    >>> model.forecast_rows(line, 2).round(6).ravel()
    array([43., 45.])
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"])],
        "lags": [whole(1)],
        "seasonal_periods": [whole(1)],
        "log": [*FLAG, StrOptions({"auto"})],
    }
    _stored = {
        "estimator_": Object(),
        "log_": Flag(),
        "n_inputs_": Whole(),
    }

    def __init__(
        self,
        estimator: Any,
        lags: int = 12,
        *,
        seasonal_periods: int = 1,
        log: bool | str = "auto",
    ):
        self.estimator = estimator
        self.lags = lags
        self.seasonal_periods = seasonal_periods
        self.log = log

    def _check_loaded(self) -> None:
        super()._check_loaded()
        inside = vars(getattr(self, "estimator_", self)).get("n_features_in_")
        if inside is not None and inside != self._n_features:
            raise ValueError("the regressor takes another number of columns than the lags make")

    @fits("inputs")
    def fit(self, sequences: Sequence, y: Any = None, *, inputs: Any = None) -> LagForecaster:
        """Fit the regressor to the table of changes of all sequences.

        Parameters
        ----------
        sequences : list of array-like of shape (n,)
        y : None
            Not used.
        inputs : list of array-like of shape (n, k), default=None
            Numbers that are known ahead for each step of each sequence.

        Returns
        -------
        self : LagForecaster
        """
        series = [one_series(sequence) for sequence in sequences]
        self.log_ = bool(self.log)
        if self.log == "auto":
            self.log_ = spread_grows(series, self.seasonal_periods)
        elif self.log_ and min(float(np.nanmin(each)) for each in series) <= 0:
            raise DataError("log=True needs positive values; use log='auto' or log=False")
        self.n_inputs_ = 0 if inputs is None else np.asarray(inputs[0]).shape[1]
        parts = []
        for place, each in enumerate(series):
            known = None if inputs is None else np.asarray(inputs[place], dtype=np.float64)
            parts.append(self._table(each, known))
        X = np.concatenate([part[0] for part in parts])
        z = np.concatenate([part[1] for part in parts])
        if len(X) < 3:
            raise DataError(
                f"no series has more than {self._first + 2} values in a row, which {self.lags} "
                f"lags and a season of {self.seasonal_periods} need; use fewer lags"
            )
        self.estimator_ = clone(self.estimator).fit(X, z)
        return self

    @property
    def _first(self) -> int:
        """Values before the first that has all its lags."""
        return self.lags + self.seasonal_periods

    def _table(
        self, series: np.ndarray, inputs: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Features and changes of a series, without rows that lack a value."""
        values = self._transformed(series)
        unit = unit_of(values, self.seasonal_periods)
        places = np.arange(self._first, len(values))
        if not len(places):
            return np.empty((0, self._n_features)), np.empty(0)
        X = self._features(values, places, unit, inputs)
        z = (values[places] - values[places - self.seasonal_periods]) / unit
        complete = ~np.isnan(X).any(axis=1) & ~np.isnan(z)
        return X[complete], z[complete]

    def _transformed(self, series: np.ndarray) -> np.ndarray:
        return np.log(series) if self.log_ else series

    @property
    def _n_features(self) -> int:
        m = self.seasonal_periods
        return self.lags + 2 + (3 if m > 1 else 0) + 2 * self.n_inputs_

    def _features(
        self, values: np.ndarray, places: np.ndarray, unit: float, inputs: np.ndarray | None
    ) -> np.ndarray:
        """Features of the values at some places, from those before them only."""
        m = self.seasonal_periods
        behind = places[:, None] - np.arange(1, self.lags + 1)
        changes = (values[behind] - values[behind - m]) / unit
        last = values[places - 1]
        window = max(m, min(self.lags, 12))
        recent = values[places[:, None] - np.arange(1, window + 1)].mean(axis=1)
        columns = [changes, (last - recent)[:, None] / unit]
        columns.append((last - values[places - m])[:, None] / unit)
        if m > 1:
            turn = 2 * np.pi * (places % m) / m
            columns += [np.sin(turn)[:, None], np.cos(turn)[:, None]]
            columns.append((values[places - m] - recent)[:, None] / unit)
        if inputs is not None:
            columns += [inputs[places], inputs[places] - inputs[places - m]]
        return np.hstack(columns)

    def forecast_rows(self, sequence: Any, n_steps: int = 1, *, inputs: Any = None) -> np.ndarray:
        """Rows after the end of a sequence, each from those before, of shape (n_steps, 1).

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, 1)
        n_steps : int, default=1
        inputs : array-like of shape (n + n_steps, k), default=None
            The inputs of the sequence and of the steps ahead; needed where the fit had inputs.

        Returns
        -------
        rows : ndarray of shape (n_steps, 1)
        """
        check_is_fitted(self)
        series = one_series(sequence)
        if len(series) < self._first:
            raise DataError(f"{self._first} values are needed to go on from, not {len(series)}")
        known = self._known_inputs(inputs, len(series), n_steps)
        past = self._transformed(series)
        gaps = np.isnan(past)
        if gaps.any():
            past = np.interp(np.arange(len(past)), np.flatnonzero(~gaps), past[~gaps])
        unit = unit_of(past, self.seasonal_periods)
        values = np.concatenate([past, np.full(n_steps, np.nan)])
        for place in range(len(series), len(values)):
            X = self._features(values, np.array([place]), unit, known)
            change = float(np.ravel(self.estimator_.predict(X))[0])
            values[place] = values[place - self.seasonal_periods] + unit * change
        ahead = values[len(series) :, None]
        return np.exp(ahead) if self.log_ else ahead

    def _known_inputs(self, inputs: Any, n: int, n_steps: int) -> np.ndarray | None:
        if not self.n_inputs_:
            return None
        known = None if inputs is None else np.asarray(inputs, dtype=np.float64)
        if known is None or known.shape != (n + n_steps, self.n_inputs_):
            raise DataError(
                f"inputs of shape ({n + n_steps}, {self.n_inputs_}) are needed, for the sequence "
                "and the steps ahead"
            )
        return known

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Minus the mean squared error of the scaled changes, one step ahead, without inputs."""
        parts = [self._table(one_series(sequence), None) for sequence in sequences]
        X, z = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        return -float(np.mean((z - np.ravel(self.estimator_.predict(X))) ** 2))


def unit_of(values: np.ndarray, period: int) -> float:
    """Mean absolute change over one season (or one step), or 1 where nothing changes."""
    changes = np.abs(values[period:] - values[:-period]) if len(values) > period else np.zeros(1)
    unit = float(np.nanmean(changes)) if (~np.isnan(changes)).any() else 0.0
    return unit if unit > 0 else 1.0


def spread_grows(series: list[np.ndarray], period: int) -> bool:
    """Whether the spread within blocks grows with their means nearly in proportion."""
    if min(float(np.nanmin(each)) for each in series) <= 0:
        return False
    size = max(period, 6)
    means, spreads = [], []
    for each in series:
        blocks = each[len(each) % size :].reshape(-1, size) if len(each) >= size else []
        for block in blocks:
            spread = float(np.nanstd(np.diff(block)))
            if np.isfinite(spread) and spread > 0:
                means.append(np.log(np.nanmean(block)))
                spreads.append(np.log(spread))
    if len(means) < 4 or np.ptp(means) < 0.2:
        return False
    return bool(np.polyfit(means, spreads, 1)[0] > PROPORTIONAL)
