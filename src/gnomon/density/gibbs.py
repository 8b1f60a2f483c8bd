"""Bayesian mixture: priors on weights and components, sampled by Gibbs' way.

c ~ Dirichlet(alpha), theta_k ~ natural conjugate prior, x_i ~ p(. | theta_{m_i}), m_i ~ c. The
posterior is a sum of K^n terms; draws from it are easy, one part given the others:

    m_i ~ Cat(c_k p(x_i | theta_k)),   c ~ Dirichlet(alpha + n_k),
    theta_k ~ conjugate posterior of the outcomes of component k.

Texts: 002 "Bayesian mixture models" (L6945-7092; the sampler is derived, not in the text).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.density.draws import as_generator
from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Multinomial,
    Normal,
    NormalMean,
    Poisson,
)
from gnomon.engine.errors import DataError


def conjugate_draw(
    family: ExponentialFamily, strength: float, y: ArrayLike, random_state: Any = None
) -> np.ndarray:
    """One draw of natural parameters from exp(<theta, y> - strength log Z(theta)).

    With respect to the natural parameter's own measure: a gamma rate for Poisson and exponential
    outcomes, a beta probability for Bernoulli ones, a Dirichlet for categories, a normal mean, and
    mean and variance together for `Normal`.

    Parameters
    ----------
    family : ExponentialFamily
        One of these.
    strength : float
        lambda.
    y : array-like of shape (n_statistics,)
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    theta : ndarray of shape (n_statistics,)

    Examples
    --------
    >>> from gnomon.density import Poisson
    >>> theta = conjugate_draw(Poisson(), 1e6, [3e6], random_state=0)
    >>> round(float(np.exp(theta[0])), 1)
    3.0
    """
    rng = as_generator(random_state)
    y = np.atleast_1d(np.asarray(y, dtype=np.float64))
    if isinstance(family, Poisson):
        return np.log(rng.gamma(y, 1 / strength))
    if isinstance(family, Exponential):
        return -rng.gamma(strength + 1, 1 / y)
    if isinstance(family, Bernoulli):
        return family.natural(rng.beta(y, strength - y))
    if isinstance(family, (Categorical, Multinomial)):
        return np.log(np.maximum(rng.dirichlet(y), 1e-300))
    if isinstance(family, NormalMean):
        return rng.normal(family.variance * y / strength, np.sqrt(family.variance / strength))
    if isinstance(family, Normal):
        return _normal_draw(family, strength, y, rng)
    raise DataError(f"{family!r} has no conjugate sampler here")


def _normal_draw(family: Normal, strength: float, y: np.ndarray, rng) -> np.ndarray:
    """theta2 is gamma, theta1 given it normal: integrate theta1 out of the conjugate density."""
    mean = y[0] / strength
    scatter = y[1] - y[0] ** 2 / strength
    precision = rng.gamma(strength / 2 + 1.5, 2 / scatter)
    center = rng.normal(mean, np.sqrt(1 / (strength * precision)))
    return np.array([center * precision, -0.5 * precision])


@dataclass(repr=False, eq=False)
class MixtureDraws(Result):
    """Draws from the posterior of a Bayesian mixture; components are sorted by their first mean.

    Attributes
    ----------
    family : ExponentialFamily
    weights : ndarray of shape (n_draws, K)
    natural : ndarray of shape (n_draws, K, n_statistics)
    labels : ndarray of shape (n_outcomes, K)
        Share of the draws in which each outcome belonged to each component.
    log_likelihood : ndarray of shape (n_draws,)
    """

    family: ExponentialFamily
    weights: np.ndarray
    natural: np.ndarray
    labels: np.ndarray
    log_likelihood: np.ndarray

    def figures(self, name: str, confidence_level: float = 0.95) -> list[Estimate]:
        """Posterior mean and credible interval of one usual parameter of every component.

        Parameters
        ----------
        name : str
            Such as "rate", "mean", "variance"; "weight" for the weights.
        confidence_level : float, default=0.95

        Returns
        -------
        figures : list of Estimate
        """
        values = self.weights if name == "weight" else self._usual(name)
        low, high = np.quantile(
            values, [(1 - confidence_level) / 2, (1 + confidence_level) / 2], axis=0
        )
        return [
            Estimate(float(values[:, k].mean()), float(low[k]), float(high[k]), confidence_level)
            for k in range(values.shape[1])
        ]

    def _usual(self, name: str) -> np.ndarray:
        found = self.family.to_parameters(self.natural)
        if name not in found:
            raise DataError(f"there is no parameter {name!r}; there are weight, {', '.join(found)}")
        return np.asarray(found[name])

    def predictive(self, x: ArrayLike) -> np.ndarray:
        """Posterior predictive density: the mean of the mixture density over the draws."""
        x = self.family.outcomes(x)
        logs = [
            logsumexp(_joint(self.family, x, w, theta), axis=1)
            for w, theta in zip(self.weights, self.natural)
        ]
        return np.exp(logsumexp(logs, axis=0) - np.log(len(logs)))

    def _title(self):
        return f"Bayesian mixture of {self.weights.shape[1]}: {len(self.weights):,} draws"

    def _columns(self):
        columns: dict[str, list] = {"weight": self.figures("weight")}
        for name, value in self.family.to_parameters(self.natural).items():
            if np.ndim(value) == 2:
                columns[name] = self.figures(name)
        return columns


def gibbs_mixture(
    x: ArrayLike,
    family: ExponentialFamily,
    n_components: int,
    *,
    strength: float = 1.0,
    prior_mean: ArrayLike | None = None,
    alpha: float = 1.0,
    n_draws: int = 1000,
    warm_up: int = 500,
    random_state: Any = None,
) -> MixtureDraws:
    """Draws from the posterior of a Bayesian mixture of an exponential family.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, width)
    family : ExponentialFamily
        `Poisson`, `Exponential`, `Bernoulli`, `Categorical`, `Multinomial`, `NormalMean` or
        `Normal`.
    n_components : int
    strength : float, default=1.0
        How many outcomes the prior of a component is worth.
    prior_mean : array-like of shape (n_statistics,), default=None
        Mean statistics of the prior; those of all outcomes by default.
    alpha : float, default=1.0
        Of the Dirichlet prior of the weights, per component.
    n_draws : int, default=1000
        Kept draws, after `warm_up` ones that are thrown away.
    warm_up : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    draws : MixtureDraws

    Examples
    --------
    >>> from gnomon.density import Poisson
    >>> x = [1, 0, 2, 1, 1, 2, 20, 22, 19, 21, 18]
    >>> draws = gibbs_mixture(x, Poisson(), 2, n_draws=200, warm_up=100, random_state=0)
    >>> [round(figure.value) for figure in draws.figures("rate")]
    [2, 18]
    """
    x = family.outcomes(x)
    family.require_inside(x)
    if len(x) < n_components:
        raise DataError(f"{len(x)} outcomes are too few for {n_components} components")
    rng = as_generator(random_state)
    statistics = family.statistics(x)
    middle = statistics.mean(axis=0) if prior_mean is None else np.asarray(prior_mean, dtype=float)
    y = strength * middle
    labels = _first_labels(statistics, n_components, rng)
    weights, naturals, counts, likelihood = [], [], np.zeros((len(x), n_components)), []
    for step in range(-warm_up, n_draws):
        sizes = np.bincount(labels, minlength=n_components)
        shares = rng.dirichlet(alpha + sizes)
        theta = np.stack(
            [
                conjugate_draw(
                    family, strength + sizes[k], y + statistics[labels == k].sum(axis=0), rng
                )
                for k in range(n_components)
            ]
        )
        joint = _joint(family, x, shares, theta)
        labels = (joint + rng.gumbel(size=joint.shape)).argmax(axis=1)
        if step < 0:
            continue
        order = np.argsort([family.mean_statistics(each)[0] for each in theta], kind="stable")
        weights.append(shares[order])
        naturals.append(theta[order])
        counts[np.arange(len(x)), np.argsort(order)[labels]] += 1
        likelihood.append(float(logsumexp(joint, axis=1).sum()))
    return MixtureDraws(
        family, np.array(weights), np.array(naturals), counts / n_draws, np.array(likelihood)
    )


def _joint(family, x, weights, theta) -> np.ndarray:
    logs = np.stack([family.of_natural(each).log_density(x) for each in theta], axis=1)
    with np.errstate(divide="ignore"):
        return logs + np.log(weights)


def _first_labels(statistics: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    centers = statistics[rng.choice(len(statistics), k, replace=False)]
    return ((statistics[:, None, :] - centers) ** 2).sum(axis=2).argmin(axis=1)
