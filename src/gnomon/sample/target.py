"""Targets: all that a sampler needs to know is log p(x) up to a constant, and perhaps its gradient.

p(x) = exp(-H(x)) / Z for an energy H; no sampler of this package needs Z. Ready targets: a
posterior from likelihood and prior, Gaussian mixtures (whose chains run in a compiled kernel), the
posterior of a mixture's means.

Texts: 002 "Sampling from unnormalised densities", "Energy form" · 003 3.4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.engine.errors import DataError

LogDensity = Callable[[np.ndarray], float]
Gradient = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Target:
    """A density known up to a constant factor.

    Attributes
    ----------
    log_density : callable
        log p(x) + constant, of an array of shape (d,); minus infinity where p is zero.
    dimension : int
        The number d of coordinates.
    gradient : callable or None
        Gradient of ``log_density``; only the Hamiltonian sampler needs it.
    names : tuple of str
        Names of the coordinates; x0, x1 ... where empty.

    Examples
    --------
    >>> target = Target(lambda x: -0.5 * float(x @ x), 2)
    >>> target([1.0, 1.0])
    -1.0
    """

    log_density: LogDensity
    dimension: int
    gradient: Gradient | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self):
        if self.dimension < 1:
            raise DataError(f"dimension={self.dimension} of a target must be at least 1")
        if self.names and len(self.names) != self.dimension:
            raise DataError(f"{len(self.names)} names were given for {self.dimension} coordinates")

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for every coordinate."""
        return self.names or tuple(f"x{j}" for j in range(self.dimension))

    def __call__(self, x: ArrayLike) -> float:
        point = np.asarray(x, dtype=np.float64)
        value = float(self.log_density(point))
        if np.isnan(value) or value == np.inf:
            raise DataError(
                f"the log density is {value} at {point.tolist()}: it must be a finite number, or "
                "minus infinity where the density is zero"
            )
        return value


def as_target(target: Any, dimension: int | None = None) -> Target:
    """A target as it is, or one of a plain function and the number of coordinates."""
    if isinstance(target, Target):
        return target
    if not callable(target):
        raise DataError(f"a target is a Target or a function of a point, not {target!r}")
    if dimension is None:
        raise DataError("a plain function needs the number of coordinates beside it")
    return Target(target, dimension)


def posterior(
    log_likelihood: LogDensity,
    log_prior: LogDensity,
    dimension: int,
    *,
    gradient: Gradient | None = None,
    names: Sequence[str] = (),
) -> Target:
    """Likelihood times prior as a target; the evidence is not needed.

    Where the prior is zero the likelihood is not asked.

    Parameters
    ----------
    log_likelihood, log_prior : callable
        Of an array of shape (dimension,); each up to a constant.
    dimension : int
    gradient : callable, default=None
        Gradient of their sum.
    names : sequence of str, default=()

    Returns
    -------
    target : Target

    Examples
    --------
    >>> target = posterior(lambda t: -0.5 * (2 - t[0]) ** 2, lambda t: -0.5 * t[0] ** 2, 1)
    >>> target([1.0])
    -1.0
    """

    def log_density(theta: np.ndarray) -> float:
        prior = float(log_prior(theta))
        return prior if prior == -np.inf else prior + float(log_likelihood(theta))

    return Target(log_density, dimension, gradient, tuple(names))


def from_energy(
    energy: LogDensity,
    dimension: int,
    *,
    temperature: float = 1.0,
    gradient: Gradient | None = None,
) -> Target:
    """The density exp(-H(x) / T) / Z of an energy H, as a target.

    Low temperatures gather it at the least energy, which is how sampling becomes optimisation.

    Parameters
    ----------
    energy : callable
        H(x).
    dimension : int
    temperature : float, default=1
    gradient : callable, default=None
        Gradient of the energy.

    Returns
    -------
    target : Target

    Examples
    --------
    >>> from_energy(lambda x: float(x @ x), 1, temperature=2.0)([2.0])
    -2.0
    """
    if not temperature > 0:
        raise DataError(f"temperature={temperature} must be positive")
    slope = None if gradient is None else (lambda x: -np.asarray(gradient(x)) / temperature)
    return Target(lambda x: -float(energy(x)) / temperature, dimension, slope)


@dataclass(frozen=True)
class MixtureTarget(Target):
    """A Gaussian mixture as a target, whose chains run compiled; make it with `gaussian_mixture`.

    Attributes
    ----------
    log_weights : ndarray of shape (k,)
        Logarithms of the weights, with the components' normalising constants in them.
    means : ndarray of shape (k, d)
    roots : ndarray of shape (k, d, d)
        Lower triangular R with R R' the inverse of the covariance.

    Examples
    --------
    >>> round(gaussian_mixture([[0.0]], [[[1.0]]])([0.0]), 4)
    -0.9189
    """

    log_weights: Any = None
    means: Any = None
    roots: Any = None


def gaussian_mixture(
    means: ArrayLike,
    covariances: ArrayLike,
    weights: ArrayLike | None = None,
    names: Sequence[str] = (),
) -> MixtureTarget:
    """A mixture of normal densities as a target with its gradient; one component is a Gaussian.

    Parameters
    ----------
    means : array-like of shape (k, d)
    covariances : array-like of shape (k, d, d)
    weights : array-like of shape (k,), default=None
        Equal where None.
    names : sequence of str, default=()

    Returns
    -------
    target : MixtureTarget

    Examples
    --------
    >>> two = gaussian_mixture([[-2.0], [2.0]], [[[1.0]], [[1.0]]])
    >>> bool(np.isclose(two([1.0]), two([-1.0])))
    True
    """
    centers = np.ascontiguousarray(np.atleast_2d(means), dtype=np.float64)
    k, d = centers.shape
    spreads = np.asarray(covariances, dtype=np.float64)
    if spreads.shape != (k, d, d):
        raise DataError(f"covariances must have the shape {(k, d, d)}, not {spreads.shape}")
    shares = np.full(k, 1 / k) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (k,) or not (shares > 0).all():
        raise DataError(f"weights must be {k} positive numbers")
    try:
        roots = np.linalg.cholesky(np.linalg.inv(spreads))
    except np.linalg.LinAlgError as error:
        raise DataError("a covariance is not positive definite; give others") from error
    log_determinants = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    logs = np.log(shares / shares.sum()) + log_determinants - d / 2 * np.log(2 * np.pi)

    def parts(x: np.ndarray) -> np.ndarray:
        whitened = np.einsum("kij,ki->kj", roots, x - centers)
        return logs - 0.5 * (whitened**2).sum(axis=1)

    def gradient(x: np.ndarray) -> np.ndarray:
        found = parts(x)
        shares = np.exp(found - logsumexp(found))
        whitened = np.einsum("kij,ki->kj", roots, x - centers)
        return -np.einsum("k,kij,kj->i", shares, roots, whitened)

    return MixtureTarget(
        lambda x: float(logsumexp(parts(x))), d, gradient, tuple(names), logs, centers, roots
    )


def mixture_posterior(
    values: ArrayLike,
    n_components: int,
    *,
    weights: ArrayLike | None = None,
    sd: float = 1.0,
    prior_sd: float = 10.0,
) -> Target:
    """Posterior of the means of a normal mixture with known weights and spread (002).

    log p(theta | x) = sum_i log sum_k c_k N(x_i; theta_k, sd^2) + sum_k log N(theta_k; 0,
    prior_sd^2) + constant: n sums of k terms, cheap to evaluate and hopeless to normalise. With
    equal weights it has k! equal modes, which a chain of small steps does not visit.

    Parameters
    ----------
    values : array-like of shape (n,)
    n_components : int
    weights : array-like of shape (n_components,), default=None
        Equal where None.
    sd, prior_sd : float

    Returns
    -------
    target : Target

    Examples
    --------
    >>> target = mixture_posterior([-1.0, 1.0], 2)
    >>> bool(np.isclose(target([-1.0, 1.0]), target([1.0, -1.0])))
    True
    """
    rows = np.asarray(values, dtype=np.float64)
    shares = np.full(n_components, 1 / n_components) if weights is None else np.asarray(weights)
    logs = np.log(shares)

    def scores(theta: np.ndarray) -> np.ndarray:
        return logs - 0.5 * ((rows[:, None] - theta) / sd) ** 2

    def log_density(theta: np.ndarray) -> float:
        return float(logsumexp(scores(theta), axis=1).sum() - 0.5 * ((theta / prior_sd) ** 2).sum())

    def gradient(theta: np.ndarray) -> np.ndarray:
        found = scores(theta)
        shares = np.exp(found - logsumexp(found, axis=1, keepdims=True))
        pull = (shares * (rows[:, None] - theta)).sum(axis=0) / sd**2
        return pull - theta / prior_sd**2

    names = tuple(f"mean {k}" for k in range(n_components))
    return Target(log_density, n_components, gradient, names)
