"""Radial kernels: bumps that depend on the distance alone, by any metric.

    K(x) = k(d(x, x_i) / h) / (h^c Z),   Z the integral of k over c columns

k(r) is exp(-r^2 / 2) (gaussian), 1 (tophat), 1 - r^2 (epanechnikov), exp(-r) (exponential), 1 - r
(linear) or cos(pi r / 2) (cosine); all but the first and fourth are zero from r = 1 on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, special

ROWS_TOGETHER = 2048  # a block of 256 queries then takes 4 MB


def _inside(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The logarithm of a bump that is zero from distance one on."""

    def log_bump(r: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.where(r < 1.0, np.log(function(np.minimum(r, 1.0))), -np.inf)

    return log_bump


LOG_BUMPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda r: -0.5 * r * r,
    "tophat": lambda r: np.where(r < 1.0, 0.0, -np.inf),
    "epanechnikov": _inside(lambda r: 1.0 - r * r),
    "exponential": np.negative,
    "linear": _inside(lambda r: 1.0 - r),
    "cosine": _inside(lambda r: np.cos(0.5 * np.pi * r)),
}


def log_integral(kernel: str, n_columns: int) -> float:
    """Logarithm of the integral of a bump over so many columns."""
    d = n_columns
    log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
    if kernel == "gaussian":
        return 0.5 * d * math.log(2 * math.pi)
    if kernel == "tophat":
        return log_ball
    if kernel == "epanechnikov":
        return log_ball + math.log(2 / (d + 2))
    if kernel == "exponential":
        return log_ball + math.lgamma(d + 1)
    if kernel == "linear":
        return log_ball - math.log(d + 1)
    share = integrate.quad(lambda r: math.cos(0.5 * math.pi * r) * r ** (d - 1), 0, 1)[0]
    return log_ball + math.log(d * share)


def radial_log_sums(
    queries: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    kernel: str,
    bandwidth: float,
    metric: Any,
) -> np.ndarray:
    """log sum_i weights[i] k(d(q, row_i) / bandwidth) of each query.

    Parameters
    ----------
    queries : ndarray of shape (m, d)
    rows : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
    kernel : str
        A key of `LOG_BUMPS`.
    bandwidth : float
    metric : object
        Its ``pairwise(queries, rows)`` gives distances.

    Returns
    -------
    sums : ndarray of shape (m,)
    """
    total = np.full(len(queries), -np.inf)
    log_weights = np.log(weights)
    for start in range(0, len(rows), ROWS_TOGETHER):
        some = slice(start, start + ROWS_TOGETHER)
        logs = LOG_BUMPS[kernel](metric.pairwise(queries, rows[some]) / bandwidth)
        total = np.logaddexp(total, special.logsumexp(logs + log_weights[some], axis=1))
    return total


def uniform_in_ball(rng: np.random.Generator, n: int, n_columns: int) -> np.ndarray:
    """Points drawn uniformly from the ball of radius one."""
    directions = rng.standard_normal((n, n_columns))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    return directions * rng.random((n, 1)) ** (1.0 / n_columns)
