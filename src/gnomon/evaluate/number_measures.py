"""Measures of predicted numbers: squared and absolute errors, R2, chi2 of a weighted fit.

With d label columns there are two mean squared errors: over all n d cells (scikit-learn's), and
the mean squared distance, sum_i |y_i - p_i|^2 / n (003 2.1.7). They are named apart.

Texts: 000b 10.2.3, 10.2.4, 12.2.8 · 001 9.2.2 · 003 2.1.7 · 004 3.1, 5.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from gnomon.contract.estimate import (
    Estimate,
    Frequencies,
    check_level,
    finite_column,
    float_array,
    frequency_weights,
    mean_interval,
    student_quantile,
    transformed,
    weighted_moments,
)
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import number_pair

HEAVY_SHARE = 0.2  # of the sum of squares in one row: few rows decide the interval then
ROWS_FOR_TAILS = 20  # with fewer rows one always holds much of the sum
TAIL_ROWS = 6  # the six largest squares, whose ratio says how heavy the tail is
# One more row of so many times the largest square; the least is 1 for tails like the normal law's.
# Of 40, 100, 250 and 1,000 errors that follow Student's t of three degrees of freedom 92, 94, 95
# and 94% of 95% intervals hold (92% with a least of 1), of normal ones 96 to 97% in both.
LEAST_ROOM, MOST_ROOM = 1.5, 4.0
# Q below which model or errors are wrong, and below which their agreement is in doubt
SURELY_WRONG, DOUBTFUL = 0.001, 0.05


def residuals(y_true: Any, y_pred: Any) -> np.ndarray:
    """y - predicted.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape

    Returns
    -------
    residuals : ndarray

    Examples
    --------
    >>> residuals([3.0, 5.0], [2.0, 7.0])
    array([ 1., -2.])
    """
    y_true, y_pred = number_pair(y_true, y_pred)
    return y_true - y_pred


def sum_squared_error(y_true: Any, y_pred: Any) -> float:
    """Sum of the squared errors of all cells, SSE = sum_i |y_i - p_i|^2.

    It grows with n, so it has no interval; `mean_squared_error` has one.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape

    Returns
    -------
    sum : float

    Examples
    --------
    >>> sum_squared_error([3.0, -4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0])
    25.0
    """
    return float((residuals(y_true, y_pred) ** 2).sum())


def mean_squared_error(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Mean of the squared errors, over all cells where there are several label columns.

    Estimates the conditional mean best; one gross outlier can rule it. Of 95% intervals of 40
    rows or more 94 to 98% hold for errors with light tails and 92 to 95% for heavy ones (Student's
    with three degrees of freedom), of 20 skewed or discrete errors 81 to 87%; ``how`` warns where
    one row holds a fifth of the sum. For the text's division by rows alone see
    `mean_squared_distance`.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> mean_squared_error([3.0, -4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]).value
    6.25
    """
    squares = _row_means(residuals(y_true, y_pred) ** 2)
    return _mean_of_squares(squares, sample_weight, confidence_level)


def mean_squared_distance(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Mean over rows of the squared distance |y_i - p_i|^2: SSE / n, whatever d is (003 2.1.7).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> mean_squared_distance([[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]).value
    12.5
    """
    squares = _row_sums(residuals(y_true, y_pred) ** 2)
    return _mean_of_squares(squares, sample_weight, confidence_level)


def root_mean_squared_error(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Root of `mean_squared_error`, in the units of y; the interval is square-rooted too.

    Over folds, pool the squared errors and take the root once (003 2.1.7.2), as
    `cross_validation_estimates` does; the mean of the folds' roots is smaller.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> root_mean_squared_error([3.0, -4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]).value
    2.5
    """
    return root_of(mean_squared_error(y_true, y_pred, sample_weight, confidence_level))


def root_mean_squared_distance(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Root of `mean_squared_distance`: the text's RMSE with several label columns (003 2.1.7).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> root_mean_squared_distance([[3.0, 4.0]] * 2, [[0.0, 0.0]] * 2).value
    5.0
    """
    return root_of(mean_squared_distance(y_true, y_pred, sample_weight, confidence_level))


def mean_absolute_error(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Mean of the absolute errors; the conditional median has the smallest.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, d)
    y_pred : array-like of the same shape
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> mean_absolute_error([3.0, -4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]).value
    1.75
    """
    distances = _row_means(np.abs(residuals(y_true, y_pred)))
    return mean_interval(distances, sample_weight, confidence_level=confidence_level, least=0)


def r_squared(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Held-out R2 = 1 - sum (y - p)^2 / sum (y - mean y)^2 (scikit-learn's).

    Below zero where the mean of the test rows would predict better. Its interval is symmetric in
    log(1 - R2), with the standard error of the jackknife and Student's quantile: of 95% intervals
    93 to 97% hold, also with heavy tails (see `mean_squared_error`); ``how`` says where one row
    holds a fifth of the squared errors. For the training rows of a fit with an intercept see
    `explained_variance_of_fit`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> r_squared([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 3.0]).value
    0.8
    """
    check_level(confidence_level)
    y_true, y_pred = _one_column(y_true, y_pred)
    weights = frequency_weights(sample_weight, len(y_true))
    mean, spread, _ = weighted_moments(y_true, weights)
    if spread == 0:
        raise DataError("y is constant: R2 compares with its variance, which is zero")
    squares = (y_true - y_pred) ** 2
    unexplained = float(np.average(squares, weights=weights)) / spread
    n = len(y_true) if weights is None else float(weights.sum())
    how = "jackknife, log(1 - R2)" + heavy_tail_warning(squares, weights)
    if unexplained == 0:
        return Estimate(1.0, 1.0, 1.0, confidence_level, 0.0, "every row is predicted exactly")
    log_error = _jackknife_log_ratio_error(squares, y_true - mean, weights, n)
    if not np.isfinite(log_error):
        return Estimate(
            1 - unexplained, -np.inf, 1.0, confidence_level, np.nan, "too few rows for an interval"
        )
    factor = float(np.exp(student_quantile(confidence_level, n - 1) * log_error))
    room = room_for_the_tail(squares, sample_weight, confidence_level)
    low, high = 1 - unexplained * factor * room, 1 - unexplained / factor
    return Estimate(1 - unexplained, low, high, confidence_level, unexplained * log_error, how)


def _jackknife_log_ratio_error(
    squares: np.ndarray, gaps: np.ndarray, weights: np.ndarray | None, n: float
) -> float:
    """Standard error of log(sum squares / sum gaps^2), leaving out one row at a time.

    Of weighted rows a weight of one is left out, or the smallest weight where that is less. The
    gaps are from the mean of all, which also moves. NaN for two rows, or where nothing varies
    without one of them.
    """
    if n <= 2:
        return np.nan
    weights = np.ones(len(squares)) if weights is None else weights
    part = min(1.0, float(weights[weights > 0].min()))
    total, spread = weights @ squares, weights @ gaps**2
    rest, rest_spread = total - part * squares, spread - part * gaps**2 * n / (n - part)
    counted = weights > 0
    if (rest <= 1e-12 * total)[counted].any() or (rest_spread <= 1e-12 * spread)[counted].any():
        return np.nan
    logs = np.log(rest[counted] / rest_spread[counted])
    variance = np.average(
        (logs - np.average(logs, weights=weights[counted])) ** 2, weights=weights[counted]
    )
    return float((n - part) / part * np.sqrt(variance / (n - 1)))


def explained_variance_of_fit(y: Any, fitted: Any) -> float:
    """R2 of training rows, var(fitted) / var(y) with population variances (000b 10.2.4).

    Equal to 1 - SSE / SST for least squares with an intercept, and only there; never falls when
    columns are added, so it says nothing of new rows and has no interval. See `r_squared`.

    Parameters
    ----------
    y : array-like of shape (n,)
    fitted : array-like of shape (n,)

    Returns
    -------
    share : float

    Examples
    --------
    >>> explained_variance_of_fit([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    1.0
    """
    y, fitted = _one_column(y, fitted)
    if y.var() == 0:
        raise DataError("y is constant: the share of its variance is undefined")
    return float(fitted.var() / y.var())


def adjusted_r_squared(y: Any, fitted: Any, n_parameters: int) -> float:
    """R2 of training rows, corrected for the columns used: 1 - (1 - R2) (n - 1) / (n - k).

    Parameters
    ----------
    y : array-like of shape (n,)
    fitted : array-like of shape (n,)
    n_parameters : int
        Coefficients k, the intercept among them.

    Returns
    -------
    share : float

    Examples
    --------
    >>> round(adjusted_r_squared([1.0, 2.0, 3.0, 4.0], [1.3, 1.9, 2.8, 4.0], 2), 4)
    0.958
    """
    y, fitted = _one_column(y, fitted)
    n = len(y)
    if not 0 < n_parameters < n:
        raise DataError(f"{n_parameters} parameters of {n} rows leave no degrees of freedom")
    share = 1 - ((y - fitted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return float(1 - (1 - share) * (n - 1) / (n - n_parameters))


@dataclass(repr=False)
class GoodnessOfFit(Result):
    """How well a weighted fit agrees with the stated errors of measurement.

    Attributes
    ----------
    chi2 : float
        Sum of the squared residuals in units of their standard deviations.
    degrees_of_freedom : int
        Rows minus parameters, nu.
    q : float
        Probability of a chi2 at least as large, were the model true.
    """

    chi2: float
    degrees_of_freedom: int
    q: float

    @property
    def per_degree(self) -> float:
        """chi2 / nu, near 1 for a good model (the text's "chi2 near 1" lacks the division)."""
        return self.chi2 / self.degrees_of_freedom

    def _title(self) -> str:
        return f"chi2 / nu = {self.per_degree:.4g}, Q = {self.q:.4g}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """What Q says, in words."""
        if self.q < SURELY_WRONG:
            return "the model or the stated errors are wrong"
        if self.q < DOUBTFUL:
            return "doubtful: so large a chi2 is rare for the right model and errors"
        if self.q > 1 - SURELY_WRONG:
            return "too good: the stated errors are too large, or the model follows the noise"
        return "the model agrees with the data"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "chi2": [self.chi2],
            "nu": [self.degrees_of_freedom],
            "chi2 / nu": [self.per_degree],
            "Q": [self.q],
        }

    def _remarks(self) -> list[str]:
        return ["Holds for independent normal errors of the stated size; one wrong breaks it."]


def goodness_of_fit(y: Any, fitted: Any, sigma: Any, n_parameters: int) -> GoodnessOfFit:
    """chi2 of a fit whose errors of measurement are known, with its probability Q.

    chi2 = sum ((y_i - f_i) / sigma_i)^2, nu = n - M, Q = Pr(chi2_nu >= chi2). Needs the right
    sigma_i, independent and normal errors; do not use it with a guessed sigma.

    Parameters
    ----------
    y : array-like of shape (n,)
    fitted : array-like of shape (n,)
    sigma : float or array-like of shape (n,)
        Standard deviations of the measurements.
    n_parameters : int
        Parameters M that were fitted.

    Returns
    -------
    goodness : GoodnessOfFit

    Examples
    --------
    >>> round(goodness_of_fit([1.0, 2.0, 3.5], [1.1, 1.9, 3.4], 0.1, 1).q, 4)
    0.2231
    """
    y, fitted = _one_column(y, fitted)
    sigma = finite_column(np.broadcast_to(float_array(sigma, "sigma"), y.shape), "sigma")
    if (sigma <= 0).any():
        raise DataError("sigma must be positive everywhere")
    freedom = len(y) - n_parameters
    if freedom < 1:
        raise DataError(f"{n_parameters} parameters of {len(y)} rows leave nothing to test")
    chi2 = float((((y - fitted) / sigma) ** 2).sum())
    return GoodnessOfFit(chi2, freedom, float(scipy.stats.chi2.sf(chi2, freedom)))


@dataclass(repr=False)
class RankedByGoodness(Result):
    """Models ranked by Q, the best first.

    Attributes
    ----------
    names : list of str
    fits : list of GoodnessOfFit
    """

    names: list[str]
    fits: list[GoodnessOfFit]

    @property
    def best(self) -> str:
        """The name of the model of largest Q."""
        return self.names[0]

    def _title(self) -> str:
        return f"{self.best} agrees best with the stated errors ({p_text(self.fits[0].q)})"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "model": self.names,
            "chi2": [each.chi2 for each in self.fits],
            "nu": [each.degrees_of_freedom for each in self.fits],
            "Q": [each.q for each in self.fits],
        }


def rank_by_goodness(fits: dict[str, GoodnessOfFit]) -> RankedByGoodness:
    """Order models by the probability Q of their chi2, not by chi2 itself (004 5.2.1).

    A larger model always has a smaller chi2; Q pays for its parameters.

    Parameters
    ----------
    fits : dict of str to GoodnessOfFit

    Returns
    -------
    ranked : RankedByGoodness

    Examples
    --------
    >>> line = goodness_of_fit([0.0, 1.1, 1.9, 3.2], [0.0, 1.0, 2.0, 3.0], 0.15, 2)
    >>> flat = goodness_of_fit([0.0, 1.1, 1.9, 3.2], [1.55] * 4, 0.15, 1)
    >>> rank_by_goodness({"flat": flat, "line": line}).best
    'line'
    """
    names = sorted(fits, key=lambda name: -fits[name].q)
    return RankedByGoodness(names, [fits[name] for name in names])


def _mean_of_squares(squares: np.ndarray, sample_weight: Any, confidence_level: float) -> Estimate:
    figure = mean_interval(squares, sample_weight, confidence_level=confidence_level, least=0)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    high = figure.high * room_for_the_tail(squares, sample_weight, confidence_level)
    return figure._replace(high=high, how=figure.how + heavy_tail_warning(squares, weights))


def room_for_the_tail(squares: np.ndarray, sample_weight: Any, confidence_level: float) -> float:
    """How much higher the interval of a mean square ends with one more row like the largest.

    The largest errors of a heavy-tailed law are mostly not among few rows, and an interval from the
    others ends too low: of 95% intervals 83 to 85% held with Student's t of three degrees of
    freedom. One more row of the largest square or more holds 92 to 98% of 40 rows and more in
    normal, uniform, skewed, discrete, contaminated and such laws. How much more is told by the
    kurtosis of the errors, and by how far the six largest squares are apart.
    """
    weights = frequency_weights(sample_weight, len(squares))
    counts = np.ones(len(squares)) if weights is None else np.asarray(weights)
    if counts.sum() < ROWS_FOR_TAILS or not squares.any():
        return 1.0
    order = np.argsort(-squares, kind="stable")
    sixth = squares[order[np.searchsorted(np.cumsum(counts[order]), TAIL_ROWS * (1 - 1e-12))]]
    largest = squares[counts > 0].max()
    apart = largest / sixth if sixth > 0 else np.inf
    # kurtosis of the errors about zero, above that of normal ones and its standard error
    kurtosis = np.average(squares**2, weights=counts) / np.average(squares, weights=counts) ** 2
    excess = kurtosis - 3 - np.sqrt(24 / counts.sum())
    least = np.clip(1 + 2 * excess, 1.0, LEAST_ROOM)
    extra = float(largest * np.clip(apart / 2, least, MOST_ROOM))
    before, after = (
        mean_interval(
            values, rows.view(Frequencies), confidence_level=confidence_level, least=0
        ).high
        for values, rows in (
            (squares, counts),
            (np.append(squares, extra), np.append(counts, 1.0)),
        )
    )
    return max(float(after / before), 1.0) if 0 < before < np.inf else 1.0


def heavy_tail_warning(squares: np.ndarray, weights: np.ndarray | None) -> str:
    """A warning for ``how`` where few rows decide the sum of squares; empty elsewhere."""
    parts = squares if weights is None else squares * weights
    total = float(parts.sum())
    if len(parts) < ROWS_FOR_TAILS or total == 0 or parts.max() < HEAVY_SHARE * total:
        return ""
    return f"; one row holds {parts.max() / total:.0%} of the squares: likely too short"


def root_of(figure: Estimate) -> Estimate:
    """The root of a figure.

    A mean square is positive: where its interval would begin below zero, it is taken on the
    logarithmic scale, with the same relative error.
    """
    slope = 0.5 / np.sqrt(figure.value) if figure.value > 0 else 0.0
    if figure.low <= 0 < figure.value and np.isfinite(figure.error):
        factor = float(np.exp((figure.value - figure.low) / figure.value))
        figure = figure._replace(low=figure.value / factor, high=figure.value * factor)
    return transformed(figure, lambda each: np.sqrt(max(each, 0.0)), slope)


def _row_means(block: np.ndarray) -> np.ndarray:
    return block if block.ndim == 1 else block.mean(axis=1)


def _row_sums(block: np.ndarray) -> np.ndarray:
    return block if block.ndim == 1 else block.sum(axis=1)


def _one_column(y: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    y, predicted = number_pair(y, predicted)
    if y.ndim == 2 and y.shape[1] != 1:
        raise DataError(
            f"y has {y.shape[1]} columns, and this measure is of one; take it of each column for "
            "itself, or use mse, rmse or mae"
        )
    return y.ravel(), predicted.ravel()
