"""The surface of a costly function: kriging with a range per dimension, and where to look next.

    k(x, x') = s (1 + r + r^2 / 3) exp(-r),   r^2 = 5 sum_j w_j |x_j - x'_j|^2

(Matern 5/2). The inverse squared ranges w, the variance s and the variance of a measurement are the
most probable ones under weak priors, found from the gradient of the likelihood, so that
a dimension without influence is left out and few values do not give a wild surface. The next point
has the largest expected improvement, whose logarithm has a gradient also where it is as small as
1e-300 (Ament et al. 2023).

Texts: 004 1.2.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import erfcx, ndtr

from gnomon.optimize.space import Integer, Real, Space

LEAST_NOISE = 1e-6  # of standardized values; smaller ones make systems that cannot be solved
LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)
FAR = -1e4  # below it, 1 + z Phi(z) / phi(z) is 1 / z^2 to all digits
# mean and deviation of log w, log s and log noise. Regret on Hartmann-6 (12 seeds) was 0.14 with
# these, 0.24 with a mean of 0 and a deviation of 2 of log w
RANGE_PRIOR = (1.0, 1.5)
SCALE_PRIOR = (0.0, 1.0)
NOISE_PRIOR = (-12.0, 2.0)


class Surface:
    """Mean and deviation of a function everywhere, from the values at some places.

    Parameters
    ----------
    units : ndarray of shape (n, size)
        Places in the unit cube.
    targets : ndarray of shape (n,)
        Values, about standardized.
    groups : ndarray of shape (size, n_dimensions)
        What a squared difference in a coordinate adds to the squared distance of each dimension.
    start : ndarray, default=None
        Parameters of an earlier surface, for a faster fit.
    """

    def __init__(
        self,
        units: np.ndarray,
        targets: np.ndarray,
        groups: np.ndarray,
        start: np.ndarray | None = None,
    ):
        self.units, self.groups = units, groups
        self.level = float(targets.mean())
        residual = targets - self.level
        squares = (units[:, None] - units) ** 2 @ groups
        self.theta = most_probable(squares, residual, start)
        self.weights = groups @ np.exp(self.theta[:-2])
        self.scale = float(np.exp(self.theta[-2]))
        covariance = matern(squares @ np.exp(self.theta[:-2]), self.scale)[0]
        covariance[np.diag_indices_from(covariance)] += np.exp(self.theta[-1]) + LEAST_NOISE
        self.root = cholesky(covariance, lower=True)
        self.dual = cho_solve((self.root, True), residual)

    def predict(
        self, places: np.ndarray, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the function at places.

        Parameters
        ----------
        places : ndarray of shape (m, size)
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (m,)
        std : ndarray of shape (m,)
            With ``return_std``.
        """
        cross = matern(self._squares(places), self.scale)[0]
        mean = self.level + cross @ self.dual
        if not return_std:
            return mean
        half = solve_triangular(self.root, cross.T, lower=True)
        variance = self.scale - (half * half).sum(axis=0)
        return mean, np.sqrt(np.maximum(variance, 1e-14))

    def _squares(self, places: np.ndarray) -> np.ndarray:
        near = places * self.weights
        cross = near @ self.units.T
        own = (near * places).sum(axis=1)[:, None]
        return np.maximum(own - 2 * cross + (self.units**2) @ self.weights, 0.0)

    def log_improvement(self, place: np.ndarray, best: float) -> tuple[float, np.ndarray]:
        """Log of the expected improvement at one place, and its gradient.

        Parameters
        ----------
        place : ndarray of shape (size,)
        best : float

        Returns
        -------
        value : float
        gradient : ndarray of shape (size,)
        """
        gaps = place - self.units
        squares = gaps**2 @ self.weights
        cross, slope = matern(squares, self.scale)
        slopes = 2 * slope[:, None] * gaps * self.weights
        solved = cho_solve((self.root, True), cross)
        std = np.sqrt(max(self.scale - cross @ solved, 1e-14))
        z = (best - self.level - cross @ self.dual) / std
        d_std = -(slopes.T @ solved) / std
        value, ratio = log_gain(np.array([z]))
        d_z = (-(slopes.T @ self.dual) - z * d_std) / std
        return float(np.log(std) + value[0]), d_std / std + ratio[0] * d_z


def matern(squares: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance and its derivative in the weighted squared distance."""
    r = np.sqrt(5.0 * squares)
    decay = scale * np.exp(-r)
    return (1 + r + r * r / 3) * decay, -5.0 / 6.0 * (1 + r) * decay


def log_gain(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log of phi(z) + z Phi(z), and its derivative Phi(z) / (phi(z) + z Phi(z)).

    Parameters
    ----------
    z : ndarray

    Returns
    -------
    value, slope : ndarray
    """
    log_density = -z * z / 2 - LOG_ROOT_TWO_PI
    mills = np.sqrt(np.pi / 2) * erfcx(-np.minimum(z, 1.0) / np.sqrt(2))
    inner = np.where(z > FAR, 1 + z * mills, 1 / np.maximum(z * z, 1.0))
    small = log_density + np.log(np.maximum(inner, 1e-300))
    plain = np.exp(log_density) + z * ndtr(z)
    value = np.where(z < 0, small, np.log(np.maximum(plain, 1e-300)))
    slope = np.where(z < 0, mills / np.maximum(inner, 1e-300), ndtr(z) / np.maximum(plain, 1e-300))
    return value, slope


def most_probable(
    squares: np.ndarray, residual: np.ndarray, start: np.ndarray | None
) -> np.ndarray:
    """Log inverse squared ranges, log variance, log noise of largest posterior density."""
    n_dimensions = squares.shape[2]
    means = np.repeat([RANGE_PRIOR[0], SCALE_PRIOR[0], NOISE_PRIOR[0]], [n_dimensions, 1, 1])
    widths = np.repeat([RANGE_PRIOR[1], SCALE_PRIOR[1], NOISE_PRIOR[1]], [n_dimensions, 1, 1])
    first = np.repeat([np.log(4.0), 0.0, -8.0], [n_dimensions, 1, 1])
    starts = [first, first - np.repeat([4.0, 0.0, 0.0], [n_dimensions, 1, 1])]
    if start is not None and len(start) == len(first):
        starts.insert(0, start)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = negative_log_likelihood(theta, squares, residual)
        off = (theta - means) / widths
        return value + float(off @ off) / 2, slope + off / widths

    bounds = [(-9.0, 9.0)] * n_dimensions + [(-6.0, 6.0), (-14.0, 2.0)]
    found = [minimize(loss, each, jac=True, method="L-BFGS-B", bounds=bounds) for each in starts]
    return min(found, key=lambda each: each.fun).x


def negative_log_likelihood(
    theta: np.ndarray, squares: np.ndarray, residual: np.ndarray
) -> tuple[float, np.ndarray]:
    """Of the values, up to a constant, and its gradient in theta."""
    weights, noise = np.exp(theta[:-2]), np.exp(theta[-1])
    covariance, slope = matern(squares @ weights, np.exp(theta[-2]))
    full = covariance.copy()
    full[np.diag_indices_from(full)] += noise + LEAST_NOISE
    try:
        factor = cho_factor(full, lower=True)
    except LinAlgError:
        return 1e10, np.zeros_like(theta)
    dual = cho_solve(factor, residual)
    inner = (cho_solve(factor, np.eye(len(residual))) - np.outer(dual, dual)) / 2
    value = float(residual @ dual) / 2 + float(np.log(np.diag(factor[0])).sum())
    by_weight = np.einsum("ij,ijk->k", inner * slope, squares) * weights
    return value, np.concatenate([by_weight, [(inner * covariance).sum(), np.trace(inner) * noise]])


def groups_of(space: Space) -> np.ndarray:
    """What each coordinate adds to the squared distance of its dimension.

    Categories that differ are 1 apart; so are the farthest values of a number.
    """
    groups = np.zeros((space.size, len(space.dimensions)))
    at = 0
    for k, each in enumerate(space.dimensions):
        is_number = isinstance(each, Real | Integer)
        groups[at : at + each.size, k] = 1.0 if is_number else 2.0
        at += each.size
    return groups
