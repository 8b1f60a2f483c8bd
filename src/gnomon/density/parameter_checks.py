"""What the families of distributions share: checks of parameters, and roots of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from gnomon.engine.errors import DataError

MOST_NEWTON = 100  # judgement: far more than Newton from Minka's start needs; the bound is for NaN


def positive(value: Any, name: str) -> Any:
    """A parameter that must be greater than zero."""
    if not np.all(np.asarray(value, dtype=np.float64) > 0):
        raise DataError(f"{name}={value} must be greater than zero")
    return value


def within_unit(value: Any, name: str) -> Any:
    """A parameter between 0 and 1."""
    value = np.asarray(value, dtype=np.float64)
    if not ((value >= 0) & (value <= 1)).all():
        raise DataError(f"{name}={value} must lie between 0 and 1")
    return value


def simplex(values: ArrayLike, name: str) -> np.ndarray:
    """Probabilities: zero or more each, one together."""
    values = np.asarray(values, dtype=np.float64)
    if (values < 0).any() or not np.allclose(values.sum(axis=-1), 1.0, atol=1e-8):
        raise DataError(f"{name} must be zero or more each and 1 together, not {values.tolist()}")
    return values


def log_or_minus_infinity(values: Any) -> np.ndarray:
    """Logarithm, minus infinity of zero."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def plain(value: Any) -> Any:
    """A number where an array has no axes."""
    return float(value) if np.ndim(value) == 0 else value


def gamma_shape(gap: np.ndarray, name: str) -> np.ndarray:
    """The a of log a - digamma(a) = gap, by Newton on 1/a (Minka); broadcasts."""
    if not np.all(np.asarray(gap) > 0):
        raise DataError(f"{name}: the outcomes do not differ; no finite shape fits them")
    a = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(MOST_NEWTON):
        slope = a**2 * (1 / a - special.polygamma(1, a))
        following = 1 / (1 / a + (np.log(a) - special.digamma(a) - gap) / slope)
        done = np.all(np.abs(following - a) <= 1e-14 * a)
        a = following
        if done:
            break
    return a


def inverse_digamma(value: np.ndarray) -> np.ndarray:
    """x of digamma(x) = value, by Newton from Minka's start."""
    x = np.where(value >= -2.22, np.exp(value) + 0.5, -1 / (value - special.digamma(1.0)))
    for _ in range(MOST_NEWTON):
        step = (special.digamma(x) - value) / special.polygamma(1, x)
        x = x - step
        if np.all(np.abs(step) <= 1e-14 * x):
            break
    return x


def root_between(function: Any, low: float, high: float) -> float:
    """Where a function of one number crosses zero."""
    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-14))
