"""Exponential families: one engine for all distributions of the form

    p(x | theta) = h(x) exp(<S(x), theta> - log Z(theta)).

S are the sufficient statistics, theta the natural parameters, mean statistics E[S] = grad log Z.
Everything follows from log Z: moments are its derivatives, the maximum likelihood estimate is the
theta whose mean statistics equal the (weighted) mean of S over the data, entropy and
Kullback-Leibler divergence are differences of log Z. A family gives S, h, log Z and its gradient;
the members, their fit, entropy and divergence are written once.

Texts: 002 "Exponential family models", "Moment matching", "Maximum entropy".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import checked_weights
from gnomon.density.draws import as_generator
from gnomon.engine.errors import DataError

# Judgement: far more than Newton's steps usually are; more means the family's border.
MOST_STEPS = 200
SMALL_STEP = 1e-12  # 40 halvings; a smaller step is below the rounding of the parameters
ROUNDING = 1e-13  # of the value, some hundred rounding errors: steps near the maximum do not rise
MATCHED = 1e-12  # mean statistics so near, as a share of their size, are equal but for rounding
NEAR = 1e-9  # as near as rounding may let them come on the border of the family


class ExponentialFamily:
    """A set of distributions with common sufficient statistics.

    Parameters are taken with any leading axes, so that many members are computed with at once.
    A family gives `statistics`, `log_base`, `log_partition`, `mean_statistics`, `natural`,
    `from_parameters`, `to_parameters` and `draw`. Use it for what has the form; mixtures and
    Student's t have not: see `gnomon.density.distributions`.
    """

    name: ClassVar[str]
    support: ClassVar[str]

    @property
    def width(self) -> int:
        """Numbers in one outcome; 0 where an outcome is one number."""
        return 0

    @property
    def n_statistics(self) -> int:
        """Length of S(x)."""
        return 1

    @property
    def n_parameters(self) -> int:
        """Degrees of freedom."""
        return self.n_statistics

    def statistics(self, x: np.ndarray) -> np.ndarray:
        """S(x), in a last axis of its own."""
        raise NotImplementedError

    def log_base(self, x: np.ndarray) -> np.ndarray:
        """log h(x)."""
        return np.zeros(self._outcomes(x))

    def inside(self, x: np.ndarray) -> np.ndarray:
        """Whether each outcome can occur at all."""
        return np.ones(self._outcomes(x), dtype=bool)

    def log_partition(self, theta: np.ndarray) -> np.ndarray:
        """log Z(theta)."""
        raise NotImplementedError

    def mean_statistics(self, theta: np.ndarray) -> np.ndarray:
        """E[S(x)], the gradient of log Z."""
        raise NotImplementedError

    def statistics_covariance(self, theta: np.ndarray) -> np.ndarray:
        """Covariance of S(x), the second derivative of log Z; by differences where not given."""
        m = theta.shape[-1]
        step = 1e-5 * np.maximum(np.abs(theta), 1.0)
        columns = []
        for j in range(m):
            aside = np.zeros_like(theta)
            aside[..., j] = step[..., j]
            ahead, behind = self.mean_statistics(theta + aside), self.mean_statistics(theta - aside)
            columns.append((ahead - behind) / (2 * step[..., j : j + 1]))
        found = np.stack(columns, axis=-1)
        return (found + np.swapaxes(found, -1, -2)) / 2

    def natural(self, mean: np.ndarray) -> np.ndarray:
        """The natural parameters whose mean statistics are these: moment matching by Newton."""
        mean = np.asarray(mean, dtype=np.float64)
        flat = mean.reshape(-1, mean.shape[-1])
        found = np.stack([self._matched(each) for each in flat])
        return found.reshape(mean.shape)

    def first_guess(self, mean: np.ndarray) -> np.ndarray:
        """Natural parameters to start the matching of one vector of means from."""
        raise NotImplementedError

    def allowed(self, theta: np.ndarray) -> bool:
        """Whether log Z is finite there."""
        return True

    def _matched(self, mean: np.ndarray) -> np.ndarray:
        """Newton on the concave <theta, mean> - log Z(theta), steps halved until it rises."""
        theta = self.first_guess(mean)
        value = theta @ mean - self.log_partition(theta)
        for _ in range(MOST_STEPS):
            gap = mean - self.mean_statistics(theta)
            if np.all(np.abs(gap) <= MATCHED * (1 + np.abs(mean))):
                return theta
            step = np.linalg.solve(self.statistics_covariance(theta), gap)
            share = 1.0
            while share > SMALL_STEP:
                following = theta + share * step
                if self.allowed(following):
                    new_value = following @ mean - self.log_partition(following)
                    if new_value >= value - ROUNDING * (1 + abs(value)):
                        break
                share /= 2
            else:
                return theta
            theta, value = following, new_value
        if np.all(np.abs(mean - self.mean_statistics(theta)) <= NEAR * (1 + np.abs(mean))):
            return theta
        raise DataError(
            f"{self.name}: no member with mean statistics {mean.tolist()} was found in "
            f"{MOST_STEPS} steps; the data may lie on the border of what the family can do"
        )

    def from_parameters(self, **parameters: Any) -> np.ndarray:
        """Natural parameters from the usual ones."""
        raise NotImplementedError

    def to_parameters(self, theta: np.ndarray) -> dict[str, Any]:
        """The usual parameters from natural ones."""
        raise NotImplementedError

    def draw(self, theta: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """n independent outcomes."""
        raise NotImplementedError

    def expected_log_base(self, theta: np.ndarray) -> float:
        """E[log h(x)]; zero where h is one."""
        return 0.0

    def moments(self, theta: np.ndarray) -> tuple[Any, Any]:
        """Mean and variance (covariance) of the outcome."""
        raise NotImplementedError

    def outcomes(self, x: ArrayLike) -> np.ndarray:
        """Data as an array of outcomes, none outside the support."""
        x = np.asarray(x, dtype=np.float64)
        if self.width == 0:
            x = np.atleast_1d(x)
        elif x.ndim == 1:
            x = x[None, :]
        if self.width and x.shape[-1] != self.width:
            raise DataError(
                f"{self.name}: outcomes have {self.width} numbers each, not {x.shape[-1]}"
            )
        return x

    def require_inside(self, x: np.ndarray) -> None:
        """Refuse outcomes that no member can give, naming the first."""
        wrong = ~self.inside(x) | ~np.isfinite(x.reshape(*self._outcomes(x), -1)).all(axis=-1)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            where = place[0] if len(place) == 1 else place
            raise DataError(
                f"{self.name}: outcome {where} is {np.asarray(x)[place]}, and outcomes are "
                f"{self.support}; leave such rows out or choose another family"
            )

    def member(self, **parameters: Any) -> Member:
        """The member with these usual parameters.

        Parameters
        ----------
        **parameters : float or array-like
            By the names that `Member.parameters` gives back.

        Returns
        -------
        member : Member
        """
        return Member(self, np.asarray(self.from_parameters(**parameters), dtype=np.float64))

    def of_natural(self, theta: ArrayLike) -> Member:
        """The member with these natural parameters."""
        return Member(self, np.asarray(theta, dtype=np.float64))

    def of_mean(self, mean: ArrayLike) -> Member:
        """The member with these mean statistics (moment matching).

        Parameters
        ----------
        mean : array-like of shape (n_statistics,)

        Returns
        -------
        member : Member
        """
        return Member(self, self.natural(np.asarray(mean, dtype=np.float64)))

    def fit(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Member:
        """The maximum likelihood member: its mean statistics are those of the data.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, width)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        member : Member
        """
        x = self.outcomes(x)
        if len(x) == 0:
            raise DataError(f"{self.name}: there are no outcomes to fit")
        self.require_inside(x)
        weights = checked_weights(sample_weight, len(x))
        return self.of_mean(np.average(self.statistics(x), axis=0, weights=weights))

    def _outcomes(self, x: np.ndarray) -> tuple[int, ...]:
        """Axes of x that count outcomes."""
        return np.shape(x)[:-1] if self.width else np.shape(x)

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({inner})"


class ScipyNames:
    """Mixin: a distribution under the names of `scipy.stats`."""

    log_density: Callable[[ArrayLike], np.ndarray]
    density: Callable[[ArrayLike], np.ndarray]
    sample: Callable[..., np.ndarray]

    def pdf(self, x: ArrayLike) -> np.ndarray:
        """The density, or the probability of counted outcomes; the same as `density`."""
        return self.density(x)

    def logpdf(self, x: ArrayLike) -> np.ndarray:
        """Logarithm of the density; the same as `log_density`."""
        return self.log_density(x)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """The cumulative distribution function F(x)."""
        raise NotImplementedError(f"{type(self).__name__} has no cumulative distribution function")

    def sf(self, x: ArrayLike) -> np.ndarray:
        """Survival function, 1 - F(x)."""
        return 1 - self.cdf(x)

    def rvs(self, size: int = 1, random_state: Any = None) -> np.ndarray:
        """Independent outcomes; the same as `sample`."""
        return self.sample(size, random_state)


# The distribution of SciPy with the parameters of a family.
IN_SCIPY: dict[str, Callable[..., Any]] = {
    "Bernoulli": lambda probability: scipy.stats.bernoulli(probability),
    "Beta": lambda a, b: scipy.stats.beta(a, b),
    "ChiSquared": lambda degrees: scipy.stats.chi2(degrees),
    "Exponential": lambda rate: scipy.stats.expon(scale=1 / rate),
    "Gamma": lambda shape, rate: scipy.stats.gamma(shape, scale=1 / rate),
    "InverseGamma": lambda shape, scale: scipy.stats.invgamma(shape, scale=scale),
    "Normal": lambda mean, variance: scipy.stats.norm(mean, np.sqrt(variance)),
    "Poisson": lambda rate: scipy.stats.poisson(rate),
}


@dataclass(frozen=True, eq=False)
class Member(ScipyNames):
    """One distribution of an exponential family.

    Attributes
    ----------
    family : ExponentialFamily
    natural : ndarray of shape (n_statistics,)
        theta.
    """

    family: ExponentialFamily
    natural: np.ndarray = field(repr=False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The usual parameters, by name."""
        return self.family.to_parameters(self.natural)

    @property
    def mean_statistics(self) -> np.ndarray:
        """E[S(x)]: the mean parameters."""
        return self.family.mean_statistics(self.natural)

    @property
    def mean(self) -> Any:
        """Mean of the outcome."""
        return self.family.moments(self.natural)[0]

    @property
    def variance(self) -> Any:
        """Variance, or covariance matrix, of the outcome."""
        return self.family.moments(self.natural)[1]

    @property
    def n_parameters(self) -> int:
        """Degrees of freedom of the family."""
        return self.family.n_parameters

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """log p(x) (of a probability, where outcomes are counted); minus infinity outside.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, width)

        Returns
        -------
        log_density : ndarray of shape (n,)
        """
        family = self.family
        x = family.outcomes(x)
        inside = family.inside(x)
        found = np.full(inside.shape, -np.inf)
        some = x[inside]
        if len(some):
            raised = _inner(family.statistics(some), self.natural)
            found[inside] = raised + family.log_base(some) - family.log_partition(self.natural)
        return found

    def density(self, x: ArrayLike) -> np.ndarray:
        """p(x)."""
        return np.exp(self.log_density(x))

    def _in_scipy(self) -> Any:
        name = type(self.family).__name__
        if name not in IN_SCIPY:
            raise DataError(
                f"the family {name} has no cumulative distribution function here; "
                f"those of {', '.join(IN_SCIPY)} have one"
            )
        return IN_SCIPY[name](**self.parameters)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """F(x), for families of numbers.

        Parameters
        ----------
        x : array-like of shape (n,)

        Returns
        -------
        shares : ndarray of shape (n,)
        """
        return self._in_scipy().cdf(np.asarray(x, dtype=float))

    def sf(self, x: ArrayLike) -> np.ndarray:
        """Survival function, 1 - F(x), without loss of digits in the upper tail."""
        return self._in_scipy().sf(np.asarray(x, dtype=float))

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """The quantile function, inverse of `cdf`, for families of numbers.

        Parameters
        ----------
        q : array-like of shape (n,)
            Probabilities.

        Returns
        -------
        x : ndarray of shape (n,)
        """
        return self._in_scipy().ppf(np.asarray(q, dtype=float))

    def log_likelihood(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Sum of log p(x) over outcomes, weighted."""
        logs = self.log_density(x)
        return float(logs.sum() if sample_weight is None else np.asarray(sample_weight) @ logs)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Independent outcomes.

        Parameters
        ----------
        n : int, default=1
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        x : ndarray of shape (n,) or (n, width)
        """
        return self.family.draw(self.natural, n, as_generator(random_state))

    def entropy(self, base: float | None = None) -> float:
        """-E[log p(x)]; differential where outcomes are continuous, and then it may be negative.

        Parameters
        ----------
        base : float, default=None
            2 for bits; nats by default.

        Returns
        -------
        entropy : float
        """
        family, theta = self.family, self.natural
        mean = family.mean_statistics(theta)
        nats = family.log_partition(theta) - _inner(mean, theta) - family.expected_log_base(theta)
        return float(nats) / (1.0 if base is None else float(np.log(base)))

    def divergence(self, other: Member) -> float:
        """Kullback-Leibler divergence D(self || other) = <theta - theta', E[S]> - log Z + log Z'.

        Parameters
        ----------
        other : Member
            Of the same family.

        Returns
        -------
        divergence : float
            In nats; zero or more.
        """
        if repr(self.family) != repr(other.family):
            raise DataError(f"{self.family!r} and {other.family!r} are different families")
        theta, aim, family = self.natural, other.natural, self.family
        mean = family.mean_statistics(theta)
        with np.errstate(invalid="ignore"):
            terms = np.where(mean == 0, 0.0, (theta - aim) * mean).sum()
        gap = terms - family.log_partition(theta) + family.log_partition(aim)
        return max(float(gap), 0.0)

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={_short(v)}" for k, v in self.parameters.items())
        return f"{self.family.name}({inner})"


def _inner(statistics: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """<S, theta>, where a statistic of zero times minus infinity is zero."""
    if np.isfinite(theta).all():
        return statistics @ theta
    with np.errstate(invalid="ignore"):
        return np.where(statistics == 0, 0.0, statistics * theta).sum(axis=-1)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, separator=", ").replace("\n", "")
