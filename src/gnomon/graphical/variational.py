"""Variational inference: the member of a tractable family that is nearest to a posterior.

    F(Q) = E_Q[log Q] - E_Q[log p(h, x)] = D(Q || p(h | x)) - log p(x) >= -log p(x),

with equality where Q is the posterior. Choose a family, minimise F, then read off Q what would
have been read off the posterior: marginals, mode, expectations.

Texts: 000 15.2.1, 15.2.2 (free energy), 15.2 (the recipe).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.sample.draws import Seed
from gnomon.sample.monte_carlo import expectation
from gnomon.sample.target import Target, as_target


def variational_free_energy(q: ArrayLike, log_joint: ArrayLike) -> float:
    """F(Q) = sum_h Q(h) (log Q(h) - log p(h, x)) of any law over finitely many values h.

    Parameters
    ----------
    q : array-like
        Probabilities of all h, of any shape; they sum to one.
    log_joint : array-like of the same shape
        log p(h, x), minus infinity where h is impossible.

    Returns
    -------
    free_energy : float
        At least -log p(x) = -log sum_h p(h, x); equal where q is the posterior; infinite where q
        holds possible what is not.

    Examples
    --------
    >>> joint = np.array([0.1, 0.3])
    >>> bool(np.isclose(variational_free_energy(joint / 0.4, np.log(joint)), -np.log(0.4)))
    True
    """
    law, logs = np.asarray(q, dtype=np.float64), np.asarray(log_joint, dtype=np.float64)
    if law.shape != logs.shape:
        raise DataError(f"q has the shape {law.shape} and log_joint {logs.shape}")
    if (law < 0).any() or not np.isclose(law.sum(), 1, atol=1e-9):
        raise DataError("q must be probabilities that sum to one")
    held = law > 0
    return float((law[held] * (np.log(law[held]) - logs[held])).sum())


class Family(Protocol):
    """A tractable family of laws over points of d coordinates, for `variational_inference`.

    A family turns standard normal noise into points, and knows its entropy; whoever writes another
    one gives these functions.
    """

    def start(self, dimension: int) -> np.ndarray:
        """First parameters."""
        ...

    def points(self, parameters: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Points of noise (n, d), as a smooth function of the parameters."""
        ...

    def entropy(self, parameters: np.ndarray, dimension: int) -> float:
        """-E_Q[log Q]."""
        ...

    def slope(self, parameters: np.ndarray, noise: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """Gradient of (mean over noise of log p at the points + entropy) by the parameters."""
        ...


@dataclass(frozen=True)
class DiagonalGaussian:
    """Independent normal coordinates: mean field for real numbers.

    Attributes
    ----------
    scale : float
        Standard deviation of all coordinates at the start.

    Examples
    --------
    >>> DiagonalGaussian().start(2).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    scale: float = 1.0

    def start(self, dimension: int) -> np.ndarray:
        return np.concatenate([np.zeros(dimension), np.full(dimension, np.log(self.scale))])

    def points(self, parameters: np.ndarray, noise: np.ndarray) -> np.ndarray:
        mean, log_sd = np.split(parameters, 2)
        return mean + np.exp(log_sd) * noise

    def entropy(self, parameters: np.ndarray, dimension: int) -> float:
        return float(parameters[dimension:].sum() + dimension / 2 * np.log(2 * np.pi * math.e))

    def slope(self, parameters: np.ndarray, noise: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        sd = np.exp(parameters[noise.shape[1] :])
        return np.concatenate([gradients.mean(axis=0), (gradients * noise).mean(axis=0) * sd + 1.0])

    def moments(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance."""
        mean, log_sd = np.split(parameters, 2)
        return mean, np.diag(np.exp(2 * log_sd))


@dataclass(frozen=True)
class FullGaussian:
    """A normal distribution with any covariance, by its Cholesky factor.

    Attributes
    ----------
    scale : float
        Standard deviation of all coordinates at the start.

    Examples
    --------
    >>> FullGaussian().start(1).tolist()
    [0.0, 0.0]
    """

    scale: float = 1.0

    def start(self, dimension: int) -> np.ndarray:
        rows, columns = np.tril_indices(dimension)
        return np.concatenate(
            [np.zeros(dimension), np.where(rows == columns, np.log(self.scale), 0.0)]
        )

    def _parts(self, parameters: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
        root = np.zeros((d, d))
        root[np.tril_indices(d)] = parameters[d:]
        root[np.diag_indices(d)] = np.exp(root[np.diag_indices(d)])
        return parameters[:d], root

    def points(self, parameters: np.ndarray, noise: np.ndarray) -> np.ndarray:
        mean, root = self._parts(parameters, noise.shape[1])
        return mean + noise @ root.T

    def entropy(self, parameters: np.ndarray, dimension: int) -> float:
        rows, columns = np.tril_indices(dimension)
        logs = parameters[dimension:][rows == columns]
        return float(logs.sum() + dimension / 2 * np.log(2 * np.pi * math.e))

    def slope(self, parameters: np.ndarray, noise: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        n, d = noise.shape
        root = self._parts(parameters, d)[1]
        by_root = gradients.T @ noise / n
        by_root[np.diag_indices(d)] = np.diag(by_root) * np.diag(root) + 1.0
        return np.concatenate([gradients.mean(axis=0), by_root[np.tril_indices(d)]])

    def moments(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance."""
        d = int((np.sqrt(9 + 8 * len(parameters)) - 3) / 2 + 0.5)
        mean, root = self._parts(parameters, d)
        return mean, root @ root.T


@dataclass(repr=False)
class VariationalFit(Result):
    """The nearest member of a family, and how the free energy fell.

    Attributes
    ----------
    family : Family
    parameters : ndarray
    dimension : int
    names : tuple of str
    free_energy : float
        Upper bound on -log of the integral of the density that was given.
    history : list of float
        Free energy after each step; it never rises.
    converged : bool
    """

    family: Any
    parameters: np.ndarray
    dimension: int
    names: tuple[str, ...]
    free_energy: float
    history: list[float]
    converged: bool

    @property
    def mean(self) -> np.ndarray:
        """Mean of Q; its mode too, where Q is normal."""
        return self.family.moments(self.parameters)[0]

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of Q."""
        return self.family.moments(self.parameters)[1]

    def draw(self, n: int, random_state: Seed = None) -> np.ndarray:
        """Points drawn from Q.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        points : ndarray of shape (n, dimension)
        """
        rng = np.random.default_rng(random_state)
        return self.family.points(self.parameters, rng.standard_normal((n, self.dimension)))

    def expectation(
        self, f: Callable[[np.ndarray], float], n: int = 10_000, random_state: Seed = None
    ) -> Estimate:
        """E_Q[f] with its Monte Carlo error.

        Parameters
        ----------
        f : callable
            Of a point.
        n : int, default=10000
        random_state : int, Generator or None

        Returns
        -------
        mean : Estimate
        """
        return expectation(self.draw(n, random_state), f)

    def _title(self) -> str:
        state = "converged" if self.converged else "did not converge; increase max_iter"
        return f"Variational fit, free energy {self.free_energy:.6g} ({state})"

    def _columns(self) -> dict[str, list]:
        sd = np.sqrt(np.diag(self.covariance))
        return {"coordinate": list(self.names), "mean": self.mean.tolist(), "sd": sd.tolist()}


def variational_inference(
    target: Target | Callable[[np.ndarray], float],
    family: Any = None,
    *,
    dimension: int | None = None,
    n_noise: int = 256,
    max_iter: int = 500,
    random_state: Seed = None,
) -> VariationalFit:
    """Minimise the free energy over a family, for any density known up to a constant.

    Use it where chains are too slow and one smooth mode is expected. Not for several modes (it
    takes one) nor, with a diagonal family, for spreads of correlated coordinates (too small).

    The expectation is a mean over noise that is drawn once, made symmetric and of unit
    covariance: F is then a fixed smooth function, which a line search lowers at every step, and
    exact for normal densities.

    Parameters
    ----------
    target : Target or callable
        log p(h, x) as a function of h; its gradient is used where the target has one.
    family : Family, default=None
        `FullGaussian()` where None; `DiagonalGaussian()`, or anything with the same functions.
    dimension : int, default=None
        For a plain function.
    n_noise : int, default=256
    max_iter : int, default=500
    random_state : int, Generator or None

    Returns
    -------
    fit : VariationalFit

    Examples
    --------
    >>> normal = Target(lambda h: -0.5 * float((h[0] - 3) ** 2) / 4, 1)
    >>> found = variational_inference(normal, random_state=0)
    >>> found.mean.round(3).tolist(), found.covariance.round(3).tolist()
    ([3.0], [[4.0]])
    """
    density = as_target(target, dimension)
    chosen = FullGaussian() if family is None else family
    d = density.dimension
    noise = _noise(d, n_noise, np.random.default_rng(random_state))

    def energy(parameters: np.ndarray) -> float:
        points = chosen.points(parameters, noise)
        logs = np.array([density(point) for point in points])
        return float(-logs.mean() - chosen.entropy(parameters, d))

    gradient = density.gradient

    def slope(parameters: np.ndarray) -> np.ndarray:
        points = chosen.points(parameters, noise)
        gradients = np.array([gradient(point) for point in points])  # type: ignore[misc]
        return -chosen.slope(parameters, noise, gradients)

    start = chosen.start(d)
    history = [energy(start)]
    if not np.isfinite(history[0]):
        raise DataError(
            "the density is zero at some points of the start; transform the coordinates so that "
            "every real number is possible (a logarithm of what is positive, say)"
        )
    found = minimize(
        energy,
        start,
        jac=None if gradient is None else slope,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "ftol": 1e-14, "gtol": 1e-7},
        callback=lambda intermediate_result: history.append(float(intermediate_result.fun)),
    )
    return VariationalFit(
        chosen, found.x, d, density.labels, float(found.fun), history, bool(found.success)
    )


def _noise(d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Standard normal points with mean zero and unit covariance exactly."""
    if n < 2 * d + 2:
        raise DataError(f"n_noise={n} is too few for {d} coordinates; give {2 * d + 2} at least")
    half = rng.standard_normal((n // 2, d))
    points = np.concatenate([half, -half])
    root = np.linalg.cholesky(points.T @ points / len(points))
    return np.linalg.solve(root, points.T).T
