"""State spaces of real numbers: Kalman filter and smoother, its extension, particles.

z_n = F z_{n-1} + noise Q,  x_n = H z_n + noise R, all normal. The filter keeps mean m and
covariance P of p(z_n | x_1 .. x_n):

    predict: m = F m, P = F P F' + Q;   correct: K = P H' (H P H' + R)^-1, m += K (x - H m), P = (I
    - K H) P.

Where motion or sight are curved, the extended filter uses their slopes at the mean, and the
bootstrap particle filter moves a cloud of guesses and draws them again by how well they explain
what was seen.

Texts: 001 14.1 (state spaces) · 003 1.9 (named).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.sequence.chain import Seed
from gnomon.sequence.emissions import normal_log_density, number_rows

SLOPE_STEP = 1e-6  # of central differences, near the cube root of the precision


@dataclass(frozen=True, eq=False)
class GaussianStates:
    """Normal distributions of the states along a sequence.

    Attributes
    ----------
    means : ndarray of shape (length, n)
    covariances : ndarray of shape (length, n, n)
    log_likelihood : float
        Of the observations.
    """

    means: np.ndarray
    covariances: np.ndarray
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class LinearGaussianModel:
    """Linear state-space model with normal noise and known parameters.

    Attributes
    ----------
    motion : array-like of shape (n, n)
        F.
    sight : array-like of shape (d, n)
        H.
    motion_noise, sight_noise : array-like
        Q and R.
    start_mean, start_covariance : array-like
        Mean and covariance of the first state.

    Notes
    -----
    For positions, levels and trends that move smoothly; for regimes use `HiddenMarkovModel`. A
    missing observation is a row of NaN. Texts: 001 14.1.

    Examples
    --------
    >>> walk = LinearGaussianModel([[1.0]], [[1.0]], [[1.0]], [[1.0]], [0.0], [[1.0]])
    >>> walk.filter([1.0, 2.0]).means.round(3).ravel()
    array([0.5, 1.4])
    """

    motion: Any
    sight: Any
    motion_noise: Any
    sight_noise: Any
    start_mean: Any
    start_covariance: Any

    def __post_init__(self):
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        n, d = len(self.start_mean), len(self.sight)
        shapes = {
            "motion": (n, n),
            "sight": (d, n),
            "motion_noise": (n, n),
            "sight_noise": (d, d),
            "start_covariance": (n, n),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise DataError(f"{name} has shape {getattr(self, name).shape}, not {shape}")

    def filter(self, sequence: Any) -> GaussianStates:
        """p(z_n | x_1 ... x_n), by the Kalman filter."""
        return extended_kalman_filter(
            sequence,
            lambda z: self.motion @ z,
            lambda z: self.sight @ z,
            self.motion_noise,
            self.sight_noise,
            self.start_mean,
            self.start_covariance,
            motion_slope=lambda z: self.motion,
            sight_slope=lambda z: self.sight,
        )

    def smooth(self, sequence: Any) -> GaussianStates:
        """p(z_n | X), by the backward pass of Rauch, Tung and Striebel."""
        seen = self.filter(sequence)
        means, covariances = seen.means.copy(), seen.covariances.copy()
        for n in range(len(means) - 2, -1, -1):
            ahead = self.motion @ seen.covariances[n] @ self.motion.T + self.motion_noise
            gain = seen.covariances[n] @ self.motion.T @ np.linalg.pinv(ahead)
            means[n] += gain @ (means[n + 1] - self.motion @ seen.means[n])
            covariances[n] += gain @ (covariances[n + 1] - ahead) @ gain.T
        return GaussianStates(means, covariances, seen.log_likelihood)

    def score(self, sequence: Any) -> float:
        """log p(X)."""
        return self.filter(sequence).log_likelihood

    def sample(self, length: int, *, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
        """States and observations."""
        rng = np.random.default_rng(random_state)
        states = np.empty((length, len(self.start_mean)))
        for n in range(length):
            if n == 0:
                mean, spread = self.start_mean, self.start_covariance
            else:
                mean, spread = self.motion @ states[n - 1], self.motion_noise
            states[n] = rng.multivariate_normal(mean, spread)
        noise = rng.multivariate_normal(np.zeros(len(self.sight)), self.sight_noise, size=length)
        return states, states @ self.sight.T + noise


def extended_kalman_filter(
    sequence: Any,
    motion: Callable,
    sight: Callable,
    motion_noise: Any,
    sight_noise: Any,
    start_mean: Any,
    start_covariance: Any,
    *,
    motion_slope: Callable | None = None,
    sight_slope: Callable | None = None,
) -> GaussianStates:
    """Extended Kalman filter: nonlinear motion and observation, linearized at the mean.

    Parameters
    ----------
    sequence : array-like of shape (length, d)
        NaN rows are missing.
    motion, sight : callable
        ``motion(z)`` gives the next state, ``sight(z)`` what is seen, without noise.
    motion_noise, sight_noise : array-like
    start_mean, start_covariance : array-like
        Mean and covariance of the first state.
    motion_slope, sight_slope : callable, default=None
        Matrices of derivatives; by central differences by default.

    Returns
    -------
    states : GaussianStates
        Approximate, unless motion and sight are straight.

    Examples
    --------
    >>> found = extended_kalman_filter([1.0, 1.0], np.sin, np.sin, [[0.1]], [[0.1]], [1.5], [[1.0]])
    >>> found.means.shape
    (2, 1)
    """
    rows = number_rows(sequence)
    mean = np.array(start_mean, dtype=float)
    covariance = np.array(start_covariance, dtype=float)
    motion_noise, sight_noise = np.asarray(motion_noise), np.asarray(sight_noise)
    motion_slope = motion_slope or (lambda z: _slope(motion, z))
    sight_slope = sight_slope or (lambda z: _slope(sight, z))
    means, covariances, total = [], [], 0.0
    for n, row in enumerate(rows):
        if n:
            moved = motion_slope(mean)
            mean = np.asarray(motion(mean), dtype=float)
            covariance = moved @ covariance @ moved.T + motion_noise
        if not np.isnan(row).any():
            seen = sight_slope(mean)
            spread = seen @ covariance @ seen.T + sight_noise
            surprise = row - np.asarray(sight(mean))
            total += float(normal_log_density(surprise[None, :], spread)[0])
            gain = np.linalg.solve(spread, seen @ covariance).T
            mean = mean + gain @ surprise
            rest = np.eye(len(mean)) - gain @ seen
            # Joseph's form stays symmetric and positive
            covariance = rest @ covariance @ rest.T + gain @ sight_noise @ gain.T
        means.append(mean)
        covariances.append(covariance)
    return GaussianStates(np.array(means), np.array(covariances), total)


@dataclass(frozen=True, eq=False)
class ParticleStates:
    """Weighted particles at every step of a sequence.

    Attributes
    ----------
    means : ndarray of shape (length, n)
    effective : ndarray of shape (length,)
        Effective number of particles before they were drawn again.
    log_likelihood : float
        Estimated; its exponential has the right expectation.
    particles : ndarray of shape (n_particles, n)
        After the last observation, of equal weight.
    """

    means: np.ndarray
    effective: np.ndarray
    log_likelihood: float
    particles: np.ndarray


def particle_filter(
    sequence: Any,
    start: Callable,
    motion: Callable,
    log_sight: Callable,
    *,
    n_particles: int = 1000,
    random_state: Seed = None,
) -> ParticleStates:
    """Bootstrap particle filter for any state-space model.

    Parameters
    ----------
    sequence : array-like of shape (length, d)
    start : callable
        ``start(n_particles, rng)`` draws first states, one in a row.
    motion : callable
        ``motion(particles, rng)`` draws the next state of each.
    log_sight : callable
        ``log_sight(row, particles)``: log density of what was seen, for each.
    n_particles : int, default=1000
    random_state : int, Generator or None, default=None

    Returns
    -------
    states : ParticleStates

    Notes
    -----
    Particles are drawn again (systematically) at every step. An effective number near 1 says that
    the cloud has missed the truth: use more particles, or a motion with more noise. Texts: 003 1.9
    (named).
    """
    rng = np.random.default_rng(random_state)
    rows = number_rows(sequence)
    cloud = np.asarray(start(n_particles, rng), dtype=float)
    means, effective, total = [], [], 0.0
    for n, row in enumerate(rows):
        if n:
            cloud = np.asarray(motion(cloud, rng), dtype=float)
        if np.isnan(row).any():
            means.append(cloud.mean(axis=0))
            effective.append(float(n_particles))
            continue
        logs = np.asarray(log_sight(row, cloud), dtype=float)
        top = logs.max()
        if not np.isfinite(top):
            raise DataError(f"no particle can explain row {n}; use more particles or more noise")
        weights = np.exp(logs - top)
        total += float(top + np.log(weights.mean()))
        weights /= weights.sum()
        means.append(weights @ cloud)
        effective.append(float(1 / (weights**2).sum()))
        ladder = (np.arange(n_particles) + rng.random()) / n_particles
        drawn = np.searchsorted(np.cumsum(weights), ladder)
        cloud = cloud[np.minimum(drawn, n_particles - 1)]
    return ParticleStates(np.array(means), np.array(effective), total, cloud)


def _slope(function: Callable, at: np.ndarray) -> np.ndarray:
    """Matrix of derivatives by central differences."""
    columns = []
    for j in range(len(at)):
        step = np.zeros(len(at))
        step[j] = SLOPE_STEP * max(1.0, abs(at[j]))
        rise = np.asarray(function(at + step)) - np.asarray(function(at - step))
        columns.append(rise / (2 * step[j]))
    return np.column_stack(columns)
