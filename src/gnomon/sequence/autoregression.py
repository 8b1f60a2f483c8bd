"""Autoregression: predict the next row from the rows before it, linearly or by any regressor.

x_n = c + sum_m B_m x_{n-m} + noise of covariance S: least squares on a table of lags is maximum
likelihood, given the first M rows. M is chosen by AIC, BIC or the error on later rows.

Texts: 001 14.1 (named, as is the network on a tapped delay line).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HasMethods, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Object, Whole
from gnomon.sequence.chain import Seed
from gnomon.sequence.emissions import lag_rows, normal_log_density, number_rows
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences

CHOICES = {"aic", "bic", "later"}


def lag_table(sequences: Sequence, lags: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows before, nearest first, and the rows themselves; without those that lack a lag.

    Examples
    --------
    >>> lag_table([[1, 2, 3, 4]], 2)
    (array([[2., 1.],
           [3., 2.]]), array([[3.],
           [4.]]))
    """
    parts = [lag_rows(number_rows(sequence), lags) for sequence in sequences]
    rows = np.concatenate(parts)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if not len(rows):
        raise DataError(f"no row has {lags} complete rows before it; use fewer lags")
    width = rows.shape[1] // (lags + 1)
    return rows[:, width:], rows[:, :width]


@method(
    task="forecast",
    texts="001 14.1",
    use="Short forecasts of one or several series that swing about a level.",
    avoid="Regimes or changing trends: HiddenMarkovModel with LagEmission, LinearGaussianModel.",
    peers=("statsmodels.tsa.ar_model.AutoReg", "statsmodels.tsa.api.VAR"),
    takes="sequences",
    synonyms=("AR", "VAR", "vector autoregression", "time series"),
)
class Autoregression(SequenceEstimator):
    """Linear-Gaussian autoregression of one or several series.

    Use it for short forecasts of series that swing about a level; not for regimes (see
    `HiddenMarkovModel` with `LagEmission`) nor trends that change (see `LinearGaussianModel`).

    Parameters
    ----------
    order : int or {"aic", "bic", "later"}, default=1
        Lags, or how to choose among 1 ... max_order: a criterion on the same rows for all, or
        the squared error on the last third of each sequence.
    max_order : int, default=10

    Attributes
    ----------
    order_ : int
    intercept_ : ndarray of shape (d,)
    coef_ : ndarray of shape (order, d, d)
        ``coef_[m - 1]`` multiplies the row m steps before.
    covariance_ : ndarray of shape (d, d)
    criteria_ : dict
        Of each order that was tried.

    Notes
    -----
    Texts: 001 14.1. Sequences of different lengths are fitted together.

    Examples
    --------
    >>> from gnomon.sequence import Autoregression
    >>> model = Autoregression(1).fit([[1, 0.5, 0.25, 0.125, 0.0625]])
    >>> model.coef_.round(3).ravel(), model.forecast_rows([1.0], 2).round(3).ravel()
    (array([0.5]), array([0.5 , 0.25]))
    """

    _parameter_constraints = {"order": [whole(1), StrOptions(CHOICES)], "max_order": [whole(1)]}
    _stored = {
        "order_": Whole(1),
        "coef_": Array("f8", ("order_", "n_coef_1", "n_coef_1")),
        "covariance_": Array("f8", ("n_coef_1", "n_coef_1")),
        "criteria_": DictOf(Anything()),
        "intercept_": Array("f8", ("n_coef_1",)),
    }

    def __init__(self, order: int | str = 1, *, max_order: int = 10):
        self.order = order
        self.max_order = max_order

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> Autoregression:
        """Least squares on the table of lags."""
        self.criteria_ = {}
        if isinstance(self.order, str):
            self.criteria_ = {
                m: self._criterion(sequences, m) for m in range(1, self.max_order + 1)
            }
            self.order_ = min(self.criteria_, key=lambda m: self.criteria_[m])
        else:
            self.order_ = int(self.order)
        self._solve(*lag_table(sequences, self.order_))
        return self

    def _solve(self, before: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Fit, and return what is left of each row."""
        inputs = np.column_stack([np.ones(len(before)), before])
        found = np.linalg.lstsq(inputs, now, rcond=None)[0]
        rest = now - inputs @ found
        width = now.shape[1]
        self.intercept_ = found[0]
        self.coef_ = found[1:].reshape(-1, width, width).transpose(0, 2, 1)
        self.covariance_ = rest.T @ rest / len(rest)
        return rest

    def _criterion(self, sequences: Sequence, order: int) -> float:
        if self.order == "later":
            cuts = [2 * len(s) // 3 for s in sequences]
            self._solve(
                *lag_table(
                    [number_rows(s)[:c] for s, c in zip(sequences, cuts, strict=True)], order
                )
            )
            later = [number_rows(s)[c - order :] for s, c in zip(sequences, cuts, strict=True)]
            before, now = lag_table(later, order)
            return float(((now - self._ahead(before)) ** 2).mean())
        # the same rows for every order, or likelihoods could not be compared
        before, now = lag_table(sequences, self.max_order)
        rest = self._solve(before[:, : order * now.shape[1]], now)
        n, d = rest.shape
        sign, size = np.linalg.slogdet(self.covariance_)
        size = size if sign > 0 else -np.inf
        count = d * (1 + order * d) + d * (d + 1) // 2
        return float(
            n * (size + d * np.log(2 * np.pi) + d)
            + count * (2 if self.order == "aic" else np.log(n))
        )

    def _ahead(self, before: np.ndarray) -> np.ndarray:
        width = len(self.intercept_)
        lags = before.reshape(len(before), -1, width)
        return self.intercept_ + np.einsum("nmj,mij->ni", lags, self.coef_)

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Log-likelihood of the rows that have all their lags."""
        before, now = lag_table(sequences, self.order_)
        return float(normal_log_density(now - self._ahead(before), self.covariance_).sum())

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Expected rows after the end of a sequence, of shape (n_steps, d)."""
        rows = list(number_rows(sequence))
        if len(rows) < self.order_:
            raise DataError(f"{self.order_} rows are needed to go on from, not {len(rows)}")
        for _ in range(n_steps):
            before = np.concatenate(rows[-1 : -self.order_ - 1 : -1])
            rows.append(self._ahead(before[None, :])[0])
        return np.array(rows[len(rows) - n_steps :])

    def sample(self, length: int, *, random_state: Seed = None) -> np.ndarray:
        """A series that begins in zeros."""
        rng = np.random.default_rng(random_state)
        width = len(self.intercept_)
        rows = [np.zeros(width)] * self.order_
        noise = rng.multivariate_normal(np.zeros(width), self.covariance_, size=length)
        for step in noise:
            before = np.concatenate(rows[-1 : -self.order_ - 1 : -1])
            rows.append(self._ahead(before[None, :])[0] + step)
        return np.array(rows[self.order_ :])


@method(
    task="forecast",
    texts="001 14.1",
    use="Forecasts by any regressor from the last values.",
    avoid="Linear forecasts with error bars: Autoregression.",
    takes="sequences",
    synonyms=("lag features", "NARX", "tapped delay line", "time series"),
)
class LagRegressor(SequenceEstimator):
    """Any regressor on a table of lags; with a network, a tapped delay line.

    Use it to forecast a series from its last values by any regressor. Not for linear forecasts:
    `Autoregression` has their noise too.

    Parameters
    ----------
    regressor : estimator
        With ``fit(X, y)`` and ``predict(X)``.
    lags : int, default=3

    Attributes
    ----------
    regressor_ : estimator

    Notes
    -----
    E[x_n | the rows before] = f(x_{n-1}, ..., x_{n-M}). Texts: 001 14.1 (named).

    Examples
    --------
    >>> from gnomon.sequence import LagRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LagRegressor(LinearRegression(), lags=1).fit([[1, 2, 4, 8, 16]])
    >>> model.forecast_rows([16.0], 2).round(6).ravel()
    array([32., 64.])
    """

    _parameter_constraints = {
        "regressor": [HasMethods(["fit", "predict"])],
        "lags": [whole(1)],
    }
    _stored = {
        "n_columns_": Whole(1),
        "regressor_": Object(),
    }

    def __init__(self, regressor: Any, lags: int = 3):
        self.regressor = regressor
        self.lags = lags

    def _check_loaded(self) -> None:
        super()._check_loaded()
        inside = vars(getattr(self, "regressor_", self)).get("n_features_in_")
        if inside is not None and inside != self.lags * self.n_columns_:
            raise ValueError("the regressor takes another number of columns than the lags make")

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> LagRegressor:
        """Fit the regressor to the table of lags of all sequences."""
        before, now = lag_table(sequences, self.lags)
        self.n_columns_ = now.shape[1]
        self.regressor_ = clone(self.regressor).fit(
            before, now[:, 0] if self.n_columns_ == 1 else now
        )
        return self

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Rows after the end of a sequence, each from those before, of shape (n_steps, d)."""
        rows = list(number_rows(sequence))
        if len(rows) < self.lags:
            raise DataError(f"{self.lags} rows are needed to go on from, not {len(rows)}")
        for _ in range(n_steps):
            before = np.concatenate(rows[-1 : -self.lags - 1 : -1])
            rows.append(np.atleast_1d(np.ravel(self.regressor_.predict(before[None, :]))))
        return np.array(rows[len(rows) - n_steps :])

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Minus the mean squared error one step ahead."""
        before, now = lag_table(sequences, self.lags)
        return -float(((now - self.regressor_.predict(before).reshape(now.shape)) ** 2).mean())
