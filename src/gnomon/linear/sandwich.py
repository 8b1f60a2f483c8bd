"""Standard errors of least squares that hold where the errors' spread is not constant.

The covariance of the estimates is (X'X)^-1 X' diag(e_i^2 c_i) X (X'X)^-1 with residuals e: HC0 has
c = 1, HC1 n / (n - k), HC2 1 / (1 - h_i), HC3 1 / (1 - h_i)^2 with leverages h; clusters sum
X_i e_i over the rows of a group first. Names and corrections are statsmodels'.

Texts: 000 10.2 (least squares; White's estimator, 1980, is not in the texts).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from gnomon.engine.errors import DataError

COVARIANCES = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster")
UNEVEN_LEVEL = 0.01  # of the test by which a summary tells of a spread that is not constant


def robust_errors(
    design: np.ndarray, residual: np.ndarray, weights: np.ndarray, cov_type: str, groups: Any
) -> np.ndarray:
    """Standard errors of the coefficients of a design matrix, the constant included.

    Parameters
    ----------
    design : ndarray of shape (n, k)
    residual : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Read as repetitions.
    cov_type : {"HC0", "HC1", "HC2", "HC3", "cluster"}
    groups : array-like of shape (n,) or None
        The cluster of each row, for ``cov_type="cluster"``.

    Returns
    -------
    errors : ndarray of shape (k,)
    """
    n, k = float(weights.sum()), design.shape[1]
    inverse = np.linalg.inv((design * weights[:, None]).T @ design)
    if cov_type == "cluster":
        meat = cluster_sums(design * (weights * residual)[:, None], groups, n, k)
    else:
        factors = {"HC0": 1.0, "HC1": n / (n - k)}.get(cov_type)
        if factors is None:
            rest = 1 - np.einsum("ij,jk,ik->i", design, inverse, design)
            factors = 1 / rest if cov_type == "HC2" else 1 / rest**2
        meat = (design * (weights * residual**2 * factors)[:, None]).T @ design
    return np.sqrt(np.diag(inverse @ meat @ inverse))


def cluster_sums(scores: np.ndarray, groups: Any, n: float, k: int) -> np.ndarray:
    """Sum of outer products of the scores of each group, with the correction for few groups."""
    if groups is None:
        raise DataError("cov_type='cluster' needs groups: the cluster of each row")
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2 or len(codes) != len(scores):
        raise DataError(
            f"groups must name the cluster of each of the {len(scores)} rows, two clusters or more"
        )
    sums = np.zeros((len(names), k))
    np.add.at(sums, codes, scores)
    return len(names) / (len(names) - 1) * (n - 1) / (n - k) * (sums.T @ sums)


def uneven_spread(design: np.ndarray, residual: np.ndarray) -> float:
    """p-value of Breusch and Pagan's test in Koenker's form: do the columns explain e^2?"""
    squares = residual**2
    fitted = design @ np.linalg.lstsq(design, squares, rcond=None)[0]
    explained = 1 - ((squares - fitted) ** 2).sum() / ((squares - squares.mean()) ** 2).sum()
    return float(stats.chi2.sf(len(squares) * explained, max(design.shape[1] - 1, 1)))
