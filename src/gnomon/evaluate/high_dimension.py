"""High dimension: the error of a mean, and how few columns keep distances.

Texts: 000a 4.4.4 (E ||mean - mu||^2 = trace(Sigma) / n) · 001 16.2 (Johnson and Lindenstrauss).
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.engine.errors import DataError
from gnomon.evaluate.bounds import check_at_least, check_probability, whole_rows
from gnomon.evaluate.intake import number_block


def mean_estimation_error(covariance: ArrayLike, n: int) -> float:
    """Expected squared error of the mean of n rows: trace(covariance) / n (000a 4.4.4).

    It grows with the number of columns: in high dimension a mean needs many rows.

    Parameters
    ----------
    covariance : array-like of shape (d, d)
        Covariance of the rows; a number is the variance of one column.
    n : int

    Returns
    -------
    error : float
        E ||mean - mu||^2.

    Examples
    --------
    >>> mean_estimation_error([[2.0, 0.3], [0.3, 1.0]], n=10)
    0.3
    """
    covariance = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise DataError(f"a covariance matrix is square, not of shape {covariance.shape}")
    check_at_least("n", n, 1)
    return float(np.trace(covariance)) / n


def mean_estimation_error_of(rows: Any, confidence_level: float = 0.95) -> Estimate:
    """The squared error to be expected of the mean of these rows, estimated from themselves.

    trace(S) / n with S of divisor n - 1: the mean squared distance of rows from their mean, over
    n - 1.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> mean_estimation_error_of([[0.0], [2.0], [4.0], [6.0]]).value
    1.6666666666666667
    """
    rows = number_block(rows, "rows")
    rows = rows.reshape(len(rows), -1)
    n = len(rows)
    if n < 2:
        raise DataError("one row says nothing about its spread")
    squared = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
    found = mean_interval(squared, confidence_level=confidence_level)
    parts = [each / (n - 1) for each in (found.value, found.low, found.high)]
    return Estimate(
        parts[0], max(parts[1], 0.0), parts[2], confidence_level, found.error / (n - 1), found.how
    )


def johnson_lindenstrauss_dimension(
    n_points: int, epsilon: float, delta: float = 0.05, exact: bool = False
) -> int:
    """Columns that keep all squared distances of n points within 1 +- epsilon (001 16.2).

    A random normal projection to k columns keeps a squared length within 1 +- epsilon save with
    probability exp(-(3/16) k eps^2), for eps up to 1/2; over all m = n (n - 1) / 2 pairs at once,
    k >= (16/3) eps^-2 ln(m / delta). It does not depend on the number of columns there were. With
    two points this is one vector: k >= (16/3) eps^-2 ln(1 / delta). scikit-learn's
    ``johnson_lindenstrauss_min_dim`` has another constant and states no delta.

    Parameters
    ----------
    n_points : int
        Two or more.
    epsilon : float
        Above 0, at most 1/2.
    delta : float, default=0.05
        Probability that some pair is distorted more.
    exact : bool, default=False
        Use the chi-square law of the squared length itself instead of its bound; smaller.

    Returns
    -------
    n_columns : int

    Examples
    --------
    >>> johnson_lindenstrauss_dimension(1000, 0.2)
    2149
    >>> johnson_lindenstrauss_dimension(1000, 0.2, exact=True)
    1524
    """
    check_at_least("n_points", n_points, 2)
    check_probability(delta)
    if not 0 < epsilon <= 0.5:
        raise DataError(f"epsilon={epsilon} must lie above 0 and be at most 1/2")
    pairs = n_points * (n_points - 1) / 2
    enough = whole_rows(16 / 3 / epsilon**2 * log(pairs / delta))
    if not exact:
        return enough

    def distorted(k: int) -> float:
        law = scipy.stats.chi2(k)
        return float(law.cdf(k * (1 - epsilon)) + law.sf(k * (1 + epsilon))) * pairs

    low, high = 1, enough
    while low < high:
        middle = (low + high) // 2
        if distorted(middle) <= delta:
            high = middle
        else:
            low = middle + 1
    return low
