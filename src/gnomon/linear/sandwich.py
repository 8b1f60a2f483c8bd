"""Standard errors of least squares that hold where the errors' spread is not constant.

The covariance of the estimates is (X'X)^-1 X' diag(e_i^2 c_i) X (X'X)^-1 with residuals e: HC0 has
c = 1, HC1 n / (n - k), HC2 1 / (1 - h_i), HC3 1 / (1 - h_i)^2 with leverages h; clusters sum
X_i e_i over the rows of a group first; HAC adds products of rows up to some lags apart, with
weights that fall to zero. Names and corrections are statsmodels'.

Texts: 000 10.2 (least squares; the estimators of White, 1980, and of Newey and West, 1987, are not
in the texts).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from gnomon.engine.errors import DataError

COVARIANCES = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "HAC", "cluster")
UNEVEN_LEVEL = 0.01  # of the test by which a summary tells of a spread that is not constant


class Robust(NamedTuple):
    """What the covariance is to be robust against, in statsmodels' names.

    Attributes
    ----------
    cov_type : {"HC0", "HC1", "HC2", "HC3", "HAC", "cluster"}
    groups : array-like of shape (n,) or None
        The cluster of each row, for ``cov_type="cluster"``.
    maxlags : int or None
        How many rows apart errors may depend on each other, for ``cov_type="HAC"``.
    use_correction : bool or None
        The factor for few rows or groups; None for a cluster's only.
    use_t : bool
        Whether tests and intervals are by the t distribution, not the normal one.
    """

    cov_type: str
    groups: Any = None
    maxlags: int | None = None
    use_correction: bool | None = None
    use_t: bool = False

    def covariance(
        self, design: np.ndarray, residual: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Covariance of the coefficients of a design matrix, the constant included.

        Parameters
        ----------
        design : ndarray of shape (n, k)
        residual : ndarray of shape (n,)
        weights : ndarray of shape (n,)
            Read as repetitions.

        Returns
        -------
        covariance : ndarray of shape (k, k)
        free : float
            Degrees of freedom of tests.
        """
        n, k = float(weights.sum()), design.shape[1]
        inverse = np.linalg.inv((design * weights[:, None]).T @ design)
        free = n - k
        if self.cov_type == "cluster":
            sums = self._sums_of_groups(design * (weights * residual)[:, None])
            free = len(sums) - 1
            meat = sums.T @ sums
            if self.use_correction is not False:
                meat *= len(sums) / free * (n - 1) / (n - k)
        elif self.cov_type == "HAC":
            meat = self._over_lags(design * residual[:, None], weights)
            if self.use_correction:
                meat *= n / (n - k)
        else:
            factors = {"HC0": 1.0, "HC1": n / (n - k)}.get(self.cov_type)
            if factors is None:
                rest = 1 - np.einsum("ij,jk,ik->i", design, inverse, design)
                factors = 1 / rest if self.cov_type == "HC2" else 1 / rest**2
            meat = (design * (weights * residual**2 * factors)[:, None]).T @ design
        return inverse @ meat @ inverse, free

    def _sums_of_groups(self, scores: np.ndarray) -> np.ndarray:
        """Sums of the scores of each group."""
        if self.groups is None:
            raise DataError("cov_type='cluster' needs groups: the cluster of each row")
        names, codes = np.unique(np.ravel(self.groups), return_inverse=True)
        if len(names) < 2 or len(codes) != len(scores):
            raise DataError(
                f"groups must name the cluster of each of the {len(scores)} rows, two clusters or "
                "more"
            )
        sums = np.zeros((len(names), scores.shape[1]))
        np.add.at(sums, codes, scores)
        return sums

    def _over_lags(self, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sum of products of scores up to ``maxlags`` rows apart, with Bartlett's weights."""
        if self.maxlags is None or not 0 <= self.maxlags < len(scores):
            raise DataError(
                "cov_type='HAC' needs maxlags, how many rows apart errors may depend on each "
                f"other: 0 to {len(scores) - 1}, not {self.maxlags!r}"
            )
        if (weights != 1).any():
            raise DataError("cov_type='HAC' takes rows in the order of time, without weights")
        meat = scores.T @ scores
        for lag in range(1, self.maxlags + 1):
            products = scores[lag:].T @ scores[:-lag]
            meat += (1 - lag / (self.maxlags + 1)) * (products + products.T)
        return meat


def uneven_spread(design: np.ndarray, residual: np.ndarray) -> float:
    """p-value of White's test without products: do columns and their squares explain e^2?

    Without the squares (Breusch and Pagan) a spread that grows on both sides of the mean is missed.
    """
    squares = residual**2
    varied = design[:, np.ptp(design, axis=0) > 0]
    centered = varied - varied.mean(axis=0)
    columns = np.column_stack([np.ones(len(design)), centered, centered**2])
    estimate, _, rank, _ = np.linalg.lstsq(columns, squares, rcond=None)
    left = ((squares - columns @ estimate) ** 2).sum()
    explained = 1 - left / ((squares - squares.mean()) ** 2).sum()
    return float(scipy.stats.chi2.sf(len(squares) * explained, max(int(rank) - 1, 1)))
