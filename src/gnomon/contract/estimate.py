"""Estimates: numbers with a standard error and an interval that holds its level.

A share has Agresti and Coull's interval. A mean has Student's interval with Hall's correction for
skewness: with a = skewness / sqrt(n) and T = (mean - truth) / error, the variable
T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 is nearer to Student's t than T itself, and is inverted in
closed form. Losses are skew nearly always, and the plain interval then misses on one side.

Texts: 000a 3.1 (standard error of a held-out loss) · 001 4.2.4 · 004 5.3.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from gnomon.engine.errors import DataError

# Judgement: the third moment of fewer values is mostly noise, Student's t is left as it is.
FEWEST_FOR_SKEWNESS = 5
INTERVALS = ("student", "plain", "hoeffding", "chebyshev")


class Estimate(NamedTuple):
    """A figure with its interval; prints the digits that the interval supports.

    Attributes
    ----------
    value : float
        The figure itself.
    low, high : float
        Ends of the interval; minus and plus infinity where nothing is known.
    confidence_level : float
        How often such intervals hold the truth.
    error : float
        Standard error; NaN where the interval does not come from one.
    how : str
        How the interval was made.

    Examples
    --------
    >>> print(Estimate(0.84213, 0.81538, 0.86631))
    0.842 (0.815 to 0.866)
    """

    value: float
    low: float
    high: float
    confidence_level: float = 0.95
    error: float = np.nan
    how: str = ""

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "-"
        width = self.high - self.low
        if not np.isfinite(width):
            return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"
        half = width / 2
        if self.low >= 0 and 0 < self.value < half / 10:  # else 0.35 of up to 218 would be 0
            half = self.value
        value, low, high = rounded([self.value, self.low, self.high], half)
        return f"{value} ({low} to {high})"


def rounded(values: list[float], half_width: float) -> list[str]:
    """Numbers written with the digits that an error of this size leaves, two of the error's own."""
    largest = max((abs(v) for v in values if np.isfinite(v)), default=0.0)
    if half_width <= 1e-12 * largest or not np.isfinite(half_width):
        return [f"{value:.4g}" for value in values]
    decimals = 1 - int(np.floor(np.log10(half_width)))
    if (decimals > 6 and largest < 1e-3) or largest >= 1e7:
        return [f"{value:.4g}" for value in values]
    return [f"{value:.{min(max(decimals, 0), 12)}f}" for value in values]


def share_interval(successes: float, n: float, confidence_level: float = 0.95) -> Estimate:
    """A share of successes with the interval of Agresti and Coull (1998).

    With z^2 / 2 successes and as many failures added, s' = (s n + z^2 / 2) / n' and
    n' = n + z^2, the interval is s' +- z sqrt(s' (1 - s') / n'), cut where the exact interval of
    Clopper and Pearson ends. It has Wilson's centre and is a little wider than Wilson's, which
    holds shares near 0 and 1 too seldom (86% at n = 20). Counts are whole, so no interval holds
    every share in just 95% of cases: at n = 20 and a share of 0.95 there are 92.5% and 98.4% to
    choose from. This one holds 95 to 96% on average over shares, 93% at the least from 15 rows on,
    and more than 97% near 0 and 1. For independent rows; the scores of folds are not (see
    `cross_validation_estimates`).

    Parameters
    ----------
    successes : float
        Whole, or a total of weights.
    n : float
        Of how many.
    confidence_level : float, default=0.95
        How often the interval shall hold the truth.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> print(share_interval(8, 10))
    0.80 (0.48 to 0.95)
    """
    if not n > 0 or not 0 <= successes <= n:
        raise DataError(f"{successes} successes of {n} are not a share")
    share = float(successes / n)
    low, high = _agresti_coull(share, n, normal_quantile(confidence_level))
    error = float(np.sqrt(share * (1 - share) / n))
    return Estimate(share, low, high, confidence_level, error, "Agresti-Coull")


def _agresti_coull(share: float, n: float, quantile: float) -> tuple[float, float]:
    more = n + quantile**2
    center = (share * n + quantile**2 / 2) / more
    half = quantile * np.sqrt(center * (1 - center) / more)
    successes, failures, tail = share * n, (1 - share) * n, ndtr(-quantile)
    least = betaincinv(successes, failures + 1, tail) if share > 0 else 0.0
    most = betaincinv(successes + 1, failures, 1 - tail) if share < 1 else 1.0
    return float(max(center - half, least)), float(min(center + half, most))


def share_like_interval(
    value: float, error: float, confidence_level: float, how: str, freedom: float = np.inf
) -> Estimate:
    """The interval of a figure between 0 and 1 as if it were a share with this standard error.

    The share is then of value (1 - value) / error^2 rows; `freedom` are the degrees of freedom of
    the error.
    """
    quantile = student_quantile(confidence_level, freedom)
    if not 0 < value < 1 or not np.isfinite(error):
        return Estimate(value, 0.0, 1.0, confidence_level, error, how)
    if error == 0:
        return Estimate(value, value, value, confidence_level, error, how)
    low, high = _agresti_coull(value, value * (1 - value) / error**2, quantile)
    return Estimate(value, low, high, confidence_level, error, how)


def joint_freedom(variances: ArrayLike, freedoms: ArrayLike) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite); infinite where the sum is zero."""
    variances = np.asarray(variances, dtype=float)
    below = float((variances**2 / np.asarray(freedoms, dtype=float)).sum())
    return float(variances.sum()) ** 2 / below if below > 0 else np.inf


def mean_interval(
    values: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    method: str = "student",
    span: float | None = None,
    least: float = -np.inf,
) -> Estimate:
    """The mean of independent values with its standard error sd / sqrt(n) and an interval.

    This is the held-out loss as an estimate of the expected loss: unbiased, of variance
    var[loss] / n. Use it for losses of rows that the learner has not seen; losses of training
    rows are too small, and scores of folds are not independent.

    Parameters
    ----------
    values : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None
        Whole weights count repetitions; others are worth Kish's effective number of rows, see
        `frequency_weights`.
    confidence_level : float, default=0.95
    method : {"student", "plain", "hoeffding", "chebyshev"}, default="student"
        ``"student"`` corrects Student's interval for skewness (Hall 1992); ``"plain"`` does not.
        ``"hoeffding"`` holds for every sample size when values lie in a known span (001 4.2.4 at
        M = 1); ``"chebyshev"`` needs the variance only, here estimated. Both are far wider.
    span : float, default=None
        Largest minus smallest possible value; Hoeffding needs it (1 for the 0-1 loss).
    least : float, default=-inf
        Smallest mean that can be, such as 0 for a loss: the interval does not go below it.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> print(mean_interval([0.2, 0.1, 0.4, 0.3, 0.1, 0.6, 0.2, 0.3]))
    0.28 (0.16 to 0.48)
    >>> print(mean_interval([0, 1] * 500, method="hoeffding", span=1))
    0.500 (0.457 to 0.543)
    """
    check_level(confidence_level)
    if method not in INTERVALS:
        raise DataError(f"method={method!r} is none of {', '.join(INTERVALS)}")
    values = finite_column(values, "values")
    weights = frequency_weights(sample_weight, len(values))
    figure = _mean_figure(values, weights, confidence_level, method, span)
    return figure._replace(low=float(max(figure.low, least)))


def _mean_figure(
    values: Any, weights: Any, confidence_level: float, method: str, span: float | None
) -> Estimate:
    n = float(len(values) if weights is None else weights.sum())
    mean, variance, third = weighted_moments(values, weights)
    if method == "hoeffding":
        return _hoeffding(mean, n, span, confidence_level)
    if n <= 1:
        return Estimate(mean, -np.inf, np.inf, confidence_level, np.nan, "one value has no spread")
    error = float(np.sqrt(variance / (n - 1)))
    if method == "chebyshev":
        half = error / np.sqrt(1 - confidence_level)
        return Estimate(mean, mean - half, mean + half, confidence_level, error, "Chebyshev")
    correct = method == "student" and n >= FEWEST_FOR_SKEWNESS and error > 0
    skew = third / variance**1.5 if correct else 0.0
    t = student_quantile(confidence_level, n - 1)
    low = mean - error * _unskewed(t, skew, n)
    high = mean - error * _unskewed(-t, skew, n)
    how = "Student, corrected for skewness" if correct else "Student"
    if error == 0:
        how = "all values are equal: their spread is unknown"
    return Estimate(mean, float(low), float(high), confidence_level, error, how)


def transformed(figure: Estimate, function: Any, slope: float) -> Estimate:
    """The figure of a rising function of a figure; `slope` is its derivative at the value."""
    value, low, high = (float(function(each)) for each in figure[:3])
    return figure._replace(value=value, low=low, high=high, error=float(figure.error * slope))


def logit_scale_interval(
    value: float, error: float, confidence_level: float, how: str, quantile: float | None = None
) -> Estimate:
    """The interval of a figure between 0 and 1 that is symmetric in its log-odds."""
    if not 0 < value < 1 or not np.isfinite(error):
        return Estimate(value, 0.0, 1.0, confidence_level, error, how)
    quantile = normal_quantile(confidence_level) if quantile is None else quantile
    half = quantile * error / (value * (1 - value))
    odds = np.log(value / (1 - value))
    low, high = 1 / (1 + np.exp(-(odds + np.array([-half, half]))))
    return Estimate(value, float(low), float(high), confidence_level, error, how)


def check_level(confidence_level: float) -> None:
    """Refuse levels that are no share, such as 95 for 0.95."""
    check_inside_unit("confidence_level", confidence_level, 0.95)


def check_inside_unit(name: str, value: Any, such_as: float) -> None:
    """Refuse what is no number between 0 and 1, its ends left out."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise DataError(f"{name}={value!r} must lie between 0 and 1, such as {such_as}")


def check_not_negative(name: str, value: Any, what: str) -> None:
    """Refuse what is no number from 0 on."""
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise DataError(f"{name}={value!r} must be {what}, 0 or more")


def normal_quantile(confidence_level: float) -> float:
    """Half-width, in standard errors, of the normal interval of a level."""
    check_level(confidence_level)
    return float(ndtri(0.5 + confidence_level / 2))


def student_quantile(confidence_level: float, freedom: float) -> float:
    """Half-width, in standard errors, of Student's interval of a level."""
    check_level(confidence_level)
    return float(stdtrit(freedom, 0.5 + confidence_level / 2))


def weighted_moments(values: np.ndarray, weights: np.ndarray | None) -> tuple[float, float, float]:
    """Mean, and second and third moments about it (divided by the total weight)."""
    mean = float(np.average(values, weights=weights))
    gaps = values - mean
    second = float(np.average(gaps**2, weights=weights))
    third = float(np.average(gaps**3, weights=weights))
    return mean, second, third


def finite_column(values: ArrayLike, name: str) -> np.ndarray:
    """Values as a float64 column, none missing, at least one."""
    values = float_array(values, name)
    if values.ndim != 1 or len(values) == 0:
        raise DataError(f"{name} must be one column of numbers, not of shape {values.shape}")
    wrong = ~np.isfinite(values)
    if wrong.any():
        first = int(wrong.argmax())
        raise DataError(
            f"{name} must be finite: {int(wrong.sum()):,} of {len(values):,} are not "
            f"(first: row {first}, {values[first]})"
        )
    return values


def float_array(values: Any, name: str) -> np.ndarray:
    """Values as float64, of any shape."""
    try:
        given = values if hasattr(values, "dtype") else np.asarray(values)
        if getattr(given.dtype, "kind", "") in ("m", "M"):
            raise TypeError("dates and times are none; divide by a unit of time")
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None


def checked_weights(sample_weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """Weights as a float64 column of n entries, none negative, not all zero."""
    if sample_weight is None:
        return None
    weights = finite_column(sample_weight, "sample_weight")
    if len(weights) != n:
        raise DataError(f"there are {len(weights):,} weights for {n:,} rows")
    if (weights < 0).any():
        first = int((weights < 0).argmax())
        raise DataError(f"weights must not be negative (first: row {first}, {weights[first]:g})")
    if not weights.any():
        raise DataError("all weights are zero; some must be positive")
    return weights


class Frequencies(np.ndarray):
    """Weights that count rows although they are not whole, as of rows that were tested twice."""


def frequency_weights(sample_weight: ArrayLike | None, n: int) -> np.ndarray | None:
    """Weights whose sum is the number of rows that they are worth.

    Whole weights count repetitions of rows and stay as they are. Others are scaled to the sum
    (sum w)^2 / sum w^2, the effective sample size of Kish: a mean does not change, and its
    interval does not depend on the scale of the weights. `Frequencies` stay as they are.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    n : int

    Returns
    -------
    weights : ndarray of shape (n,) or None

    Examples
    --------
    >>> float(frequency_weights([2, 0, 1], 3).sum())
    3.0
    >>> float(frequency_weights([0.1] * 20, 20).sum().round(6))
    20.0
    """
    weights = checked_weights(sample_weight, n)
    if weights is not None and isinstance(sample_weight, Frequencies):
        return weights.view(Frequencies)
    if weights is None or (weights == np.rint(weights)).all():
        return weights
    largest = weights.max()
    shares = weights / largest
    return shares * (shares.sum() / (shares @ shares))


def _hoeffding(mean: float, n: float, span: float | None, confidence_level: float) -> Estimate:
    if span is None:
        raise DataError("Hoeffding's interval needs the span of the values: span=1 for 0-1 losses")
    half = span * float(np.sqrt(np.log(2 / (1 - confidence_level)) / (2 * n)))
    return Estimate(mean, mean - half, mean + half, confidence_level, np.nan, "Hoeffding")


def _unskewed(t: float, skew: float, n: float) -> float:
    """The T whose corrected value is t (Hall's cubic, inverted)."""
    a = skew / np.sqrt(n)
    if abs(a) < 1e-9:
        return t
    return 3 / a * (np.cbrt(1 + a * (t - a / 6)) - 1)
