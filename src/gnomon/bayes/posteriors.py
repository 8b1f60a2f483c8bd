"""Conjugate posteriors: prior and posterior of one form, an update is an addition.

================== ============================ ==================================================
pair               posterior                    predictive
================== ============================ ==================================================
`NormalMean...`    N(mean, variance)            N(mean, variance + noise)
`NormalVariance`   normal-inverse-gamma         Student's t
`BetaBinomial`     Beta(a + yes, b + no)        beta-binomial
`DirichletMultin.` Dirichlet(alpha + counts)    smoothed counts (alpha_j + h_j) / (sum alpha + n)
`GammaPoisson`     Gamma(a + sum x, b + n)      negative binomial
`NaturalConjugate` of any exponential family    by quadrature, or exact for the pairs above
================== ============================ ==================================================

Every object is immutable: ``update(x)`` gives the posterior as a new object, so chunks of data may
come one after another, in any order, with the same end.

Texts: 002 "Bayesian models" (L6691-7065), where sigma_n of the normal mean is its *variance*, the
mean of the Dirichlet posterior lacks its denominator, and the mean of the natural conjugate prior
is y / lambda, not y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from gnomon.contract.estimate import Estimate, finite_column
from gnomon.density.draws import as_generator
from gnomon.density.exponential_family import ExponentialFamily, Member
from gnomon.engine.errors import DataError

GRID = 4001  # judgement: ends where the density is e^-40; a bell so fine has no error of the grid


class Posterior:
    """What posteriors of one number have in common: they are SciPy distributions underneath."""

    @property
    def _law(self) -> Any:
        """The SciPy distribution of the parameter."""
        raise NotImplementedError

    @property
    def predictive(self) -> Any:
        """The distribution of the next outcome, a SciPy distribution."""
        raise NotImplementedError

    def update(self, x: ArrayLike) -> Any:
        """The posterior after outcomes x."""
        raise NotImplementedError

    @property
    def mean(self) -> float:
        """Posterior mean of the parameter."""
        return float(self._law.mean())

    @property
    def variance(self) -> float:
        """Posterior variance of the parameter."""
        return float(self._law.var())

    def density(self, parameter: ArrayLike) -> np.ndarray:
        """Posterior density at values of the parameter."""
        return self._law.pdf(np.asarray(parameter, dtype=float))

    def interval(self, confidence_level: float = 0.95) -> Estimate:
        """Credible interval: the parameter lies in it with this probability, given the data.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
            The mean, with equal tails beyond both ends.
        """
        low, high = self._law.ppf([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
        error = float(np.sqrt(self.variance))
        return Estimate(self.mean, float(low), float(high), confidence_level, error, "credible")

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the parameter."""
        return self._law.rvs(size=n, random_state=as_generator(random_state))

    def log_evidence(self, x: ArrayLike) -> float:
        """log p(x), the parameter integrated out: outcomes predicted one after another."""
        total, belief = 0.0, self
        for each in np.atleast_1d(np.asarray(x, dtype=float)):
            total += _log_mass(belief.predictive, each)
            belief = belief.update([each])
        return float(total)


def _log_mass(law: Any, x: Any) -> float:
    return float(law.logpmf(x) if hasattr(law.dist, "pmf") else law.logpdf(x))


@dataclass(frozen=True)
class NormalMeanPosterior(Posterior):
    """The mean of normal outcomes whose variance is known; a normal prior gives a normal.

    mean_n = (noise m0 + v0 sum x) / (noise + n v0), variance_n = noise v0 / (noise + n v0): the
    precisions add. 002 writes sigma_n for this variance.

    Parameters
    ----------
    prior_mean : float
    prior_variance : float
    noise : float
        Variance of an outcome about the mean.

    Examples
    --------
    >>> prior = NormalMeanPosterior(2.0, 25.0, noise=2.25)
    >>> posterior = prior.update([4, 5.5, 3.2, 6.1])
    >>> round(posterior.mean, 6), round(posterior.variance, 6)
    (4.640587, 0.550122)
    """

    prior_mean: float
    prior_variance: float
    noise: float

    def __post_init__(self):
        if not (self.prior_variance > 0 and self.noise > 0):
            raise DataError("prior_variance and noise must be greater than zero")

    @property
    def _law(self):
        return scipy.stats.norm(self.prior_mean, np.sqrt(self.prior_variance))

    @property
    def predictive(self):
        return scipy.stats.norm(self.prior_mean, np.sqrt(self.prior_variance + self.noise))

    def update(self, x: ArrayLike) -> NormalMeanPosterior:
        """The posterior after outcomes x."""
        x = finite_column(x, "x")
        below = self.noise + len(x) * self.prior_variance
        mean = (self.noise * self.prior_mean + self.prior_variance * x.sum()) / below
        return replace(
            self, prior_mean=float(mean), prior_variance=self.noise * self.prior_variance / below
        )


@dataclass(frozen=True)
class NormalVariancePosterior(Posterior):
    """Mean and variance of normal outcomes, both unknown: normal-inverse-gamma.

    variance ~ InverseGamma(shape, scale), mean | variance ~ N(location, variance / strength). As a
    distribution of one number it is that of the mean, a Student's t.

    Parameters
    ----------
    location : float, default=0.0
    strength : float, default=1e-3
        How many outcomes the prior's location is worth.
    shape, scale : float, default=1e-3
        Of the inverse gamma of the variance.

    Examples
    --------
    >>> posterior = NormalVariancePosterior().update([1.0, 2.0, 3.0, 4.0])
    >>> round(posterior.mean, 3), round(float(posterior.variance_law.mean()), 3)
    (2.499, 2.502)
    """

    location: float = 0.0
    strength: float = 1e-3
    shape: float = 1e-3
    scale: float = 1e-3

    @property
    def _law(self):
        return scipy.stats.t(
            2 * self.shape, self.location, np.sqrt(self.scale / (self.shape * self.strength))
        )

    @property
    def variance_law(self) -> Any:
        """The distribution of the variance."""
        return scipy.stats.invgamma(self.shape, scale=self.scale)

    @property
    def predictive(self):
        spread = self.scale * (1 + 1 / self.strength) / self.shape
        return scipy.stats.t(2 * self.shape, self.location, np.sqrt(spread))

    def update(self, x: ArrayLike) -> NormalVariancePosterior:
        """The posterior after outcomes x."""
        x = finite_column(x, "x")
        n, mean = len(x), float(x.mean())
        strength = self.strength + n
        apart = self.strength * n * (mean - self.location) ** 2 / strength
        return NormalVariancePosterior(
            (self.strength * self.location + n * mean) / strength,
            strength,
            self.shape + n / 2,
            self.scale + float(((x - mean) ** 2).sum() + apart) / 2,
        )


@dataclass(frozen=True)
class BetaBinomial(Posterior):
    """The probability of a yes: Beta(a + yes, b + no).

    Parameters
    ----------
    a, b : float, default=1.0
        1 and 1: all probabilities equally likely; a half each: Jeffreys.

    Examples
    --------
    >>> posterior = BetaBinomial().update([1, 1, 0, 1])
    >>> posterior.a, posterior.b, round(posterior.mean, 4)
    (4.0, 2.0, 0.6667)
    >>> round(float(posterior.predicted(1)), 4)
    0.6667
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self):
        if not (self.a > 0 and self.b > 0):
            raise DataError("a and b must be greater than zero")

    @property
    def _law(self):
        return scipy.stats.beta(self.a, self.b)

    @property
    def predictive(self):
        return scipy.stats.betabinom(1, self.a, self.b)

    def predicted(self, yes: ArrayLike, trials: int = 1) -> Any:
        """Probability of so many yes in the next trials (beta-binomial)."""
        return scipy.stats.betabinom.pmf(yes, trials, self.a, self.b)

    def update(self, x: ArrayLike) -> BetaBinomial:
        """The posterior after outcomes x of 0 and 1."""
        x = finite_column(x, "x")
        if not np.isin(x, (0, 1)).all():
            raise DataError("outcomes are 0 or 1; use update_counts for numbers of them")
        return self.update_counts(x.sum(), len(x) - x.sum())

    def update_counts(self, yes: float, no: float) -> BetaBinomial:
        """The posterior after so many yes and no."""
        return BetaBinomial(float(self.a + yes), float(self.b + no))


@dataclass(frozen=True)
class GammaPoisson(Posterior):
    """The rate of Poisson counts: Gamma(shape + sum x, rate + n).

    Parameters
    ----------
    shape, rate : float, default=1.0
        Of the gamma prior; its mean is shape / rate.

    Examples
    --------
    >>> posterior = GammaPoisson(2.0, 1.0).update([3, 4, 2])
    >>> posterior.shape, posterior.rate, posterior.mean
    (11.0, 4.0, 2.75)
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self):
        if not (self.shape > 0 and self.rate > 0):
            raise DataError("shape and rate must be greater than zero")

    @property
    def _law(self):
        return scipy.stats.gamma(self.shape, scale=1 / self.rate)

    @property
    def predictive(self):
        return scipy.stats.nbinom(self.shape, self.rate / (1 + self.rate))

    def update(self, x: ArrayLike) -> GammaPoisson:
        """The posterior after counts x."""
        x = finite_column(x, "x")
        if (x < 0).any() or (x != np.floor(x)).any():
            raise DataError("outcomes are counts 0, 1, 2 ...")
        return GammaPoisson(float(self.shape + x.sum()), float(self.rate + len(x)))


@dataclass(frozen=True, eq=False)
class DirichletMultinomial:
    """Probabilities of k categories: Dirichlet(alpha + counts).

    The posterior mean is (alpha_j + h_j) / (sum alpha + n), which 002 prints without its
    denominator; it is also the probability that the next outcome is j: smoothed counts.

    Parameters
    ----------
    alpha : array-like of shape (k,)
        Prior counts; ones make all probabilities equally likely.

    Examples
    --------
    >>> posterior = DirichletMultinomial([1.8, 1.8, 1.8]).update_counts([0, 0, 1])
    >>> posterior.mean, round(posterior.concentration, 4)
    (array([0.28125, 0.28125, 0.4375 ]), 6.4)
    """

    alpha: Any

    def __post_init__(self):
        alpha = finite_column(self.alpha, "alpha")
        if not (alpha > 0).all():
            raise DataError("alpha must be greater than zero")
        object.__setattr__(self, "alpha", alpha)

    def update(self, x: ArrayLike) -> DirichletMultinomial:
        """The posterior after outcomes x, category codes 0 .. k-1."""
        codes = np.asarray(x)
        k = len(self.alpha)
        if codes.dtype.kind not in "iu" or ((codes < 0) | (codes >= k)).any():
            raise DataError(f"outcomes are codes 0 .. {k - 1}; use update_counts for counts")
        return self.update_counts(np.bincount(codes, minlength=k))

    def update_counts(self, counts: ArrayLike) -> DirichletMultinomial:
        """The posterior after so many outcomes of each category."""
        counts = finite_column(counts, "counts")
        if len(counts) != len(self.alpha) or (counts < 0).any():
            raise DataError(f"give {len(self.alpha)} counts, none negative")
        return DirichletMultinomial(self.alpha + counts)

    @property
    def concentration(self) -> float:
        """Sum of alpha: outcomes that the belief is worth; it grows by n."""
        return float(self.alpha.sum())

    @property
    def mean(self) -> np.ndarray:
        """Posterior mean of the probabilities."""
        return self.alpha / self.concentration

    @property
    def predictive(self) -> np.ndarray:
        """Probability of each category at the next outcome."""
        return self.mean

    @property
    def mode(self) -> np.ndarray:
        """The likeliest probabilities, (alpha - 1) / (sum alpha - k); needs alpha of 1 or more."""
        if (self.alpha < 1).any() or self.concentration <= len(self.alpha):
            raise DataError("the density has no inner mode: some alpha is below 1, or all are 1")
        return (self.alpha - 1) / (self.concentration - len(self.alpha))

    def marginal(self, category: int) -> BetaBinomial:
        """The belief about one category against all others, a Beta."""
        own = float(self.alpha[category])
        return BetaBinomial(own, self.concentration - own)

    def intervals(self, confidence_level: float = 0.95) -> list[Estimate]:
        """Credible interval of each probability."""
        return [self.marginal(j).interval(confidence_level) for j in range(len(self.alpha))]

    def density(self, probabilities: ArrayLike) -> np.ndarray:
        """Posterior density at points of the simplex."""
        points = np.atleast_2d(np.asarray(probabilities, dtype=float))
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.alpha == 1, 0.0, (self.alpha - 1) * np.log(points))
        normalizer = special.gammaln(self.alpha).sum() - special.gammaln(self.concentration)
        return np.exp(terms.sum(axis=1) - normalizer)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the probabilities, of shape (n, k)."""
        return as_generator(random_state).dirichlet(self.alpha, n)

    def log_predictive(self, counts: ArrayLike) -> float:
        """log P(counts) of a whole outcome, the probabilities integrated out."""
        counts = finite_column(counts, "counts")
        return float(
            scipy.stats.dirichlet_multinomial(self.alpha, int(counts.sum())).logpmf(counts)
        )

    def log_evidence(self, x: ArrayLike) -> float:
        """log p of outcomes in their order: counts without the multinomial coefficient."""
        counts = np.bincount(np.asarray(x), minlength=len(self.alpha)).astype(float)
        ways = special.gammaln(counts.sum() + 1) - special.gammaln(counts + 1).sum()
        return self.log_predictive(counts) - float(ways)


@dataclass(frozen=True, eq=False)
class NaturalConjugate:
    """The natural conjugate prior of any exponential family.

    q(theta) is proportional to exp(<theta, y> - strength log Z(theta)); outcomes turn (strength, y)
    into (strength + n, y + sum S(x)). It is worth ``strength`` outcomes whose mean statistics are
    y / strength, and E[E[S | theta]] = y / strength (002 says y).

    Parameters
    ----------
    family : ExponentialFamily
    strength : float
        lambda, greater than zero.
    y : array-like of shape (n_statistics,)

    Examples
    --------
    >>> from gnomon.density import Poisson
    >>> prior = NaturalConjugate(Poisson(), 1.0, [2.0])
    >>> posterior = prior.update([3, 4, 2])
    >>> posterior.strength, posterior.expected_statistics
    (4.0, array([2.75]))
    """

    family: ExponentialFamily
    strength: float
    y: Any

    def __post_init__(self):
        y = finite_column(self.y, "y")
        if len(y) != self.family.n_statistics:
            raise DataError(f"{self.family!r} has {self.family.n_statistics} statistics")
        if not self.strength > 0:
            raise DataError(f"strength={self.strength} must be greater than zero")
        object.__setattr__(self, "y", y)

    @classmethod
    def worth(cls, member: Member, strength: float) -> NaturalConjugate:
        """The prior that is worth `strength` outcomes of a member of the family.

        Parameters
        ----------
        member : Member
        strength : float

        Returns
        -------
        prior : NaturalConjugate
        """
        return cls(member.family, float(strength), strength * member.mean_statistics)

    def update(self, x: ArrayLike) -> NaturalConjugate:
        """The posterior after outcomes x."""
        x = self.family.outcomes(x)
        self.family.require_inside(x)
        total = self.family.statistics(x).sum(axis=0)
        return NaturalConjugate(self.family, float(self.strength + len(x)), self.y + total)

    @property
    def expected_statistics(self) -> np.ndarray:
        """E[E[S | theta]] = y / strength."""
        return self.y / self.strength

    @property
    def mode(self) -> Member:
        """The maximum a posteriori member: mean statistics y / strength."""
        return self.family.of_mean(self.expected_statistics)

    def log_density(self, theta: ArrayLike) -> np.ndarray:
        """log q(theta) up to a constant, at natural parameters of shape (m, n_statistics)."""
        theta = np.atleast_2d(np.asarray(theta, dtype=float))
        logs = np.array([float(np.squeeze(self.family.log_partition(each))) for each in theta])
        return theta @ self.y - self.strength * logs

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Natural parameters where the posterior has its mass, and their probabilities."""
        if self.family.n_statistics != 1:
            raise DataError(
                "quadrature is for families of one parameter; use posterior_grid for two"
            )
        center = float(self.mode.natural[0])
        curvature = float(np.squeeze(self.family.statistics_covariance(np.array([center]))))
        width = 1 / np.sqrt(self.strength * curvature)
        best = self.log_density([[center]])[0]
        low = self._edge(center, -width, best)
        high = self._edge(center, width, best)
        theta = np.linspace(low, high, GRID)
        with np.errstate(all="ignore"):
            mass = np.exp(np.nan_to_num(self.log_density(theta[:, None]) - best, nan=-np.inf))
        return theta, mass / mass.sum()

    def _edge(self, center: float, step: float, best: float) -> float:
        """So far out that the density is e^-40 of its peak, or as far as the family goes."""
        place = center
        for _ in range(400):
            following = place + step
            with np.errstate(all="ignore"):
                fall = best - self.log_density([[following]])[0]
            if not np.isfinite(fall):
                step /= 2
                if abs(step) < 1e-9 * max(abs(place), 1e-3):
                    return place
                continue
            place = following
            if fall > 40:
                return place
        return place

    def expectation(self, function: Any) -> Any:
        """Posterior expectation of a function of the member, by quadrature (one parameter).

        Parameters
        ----------
        function : callable
            ``function(member)`` gives a number or an array.

        Returns
        -------
        expectation : float or ndarray
        """
        theta, mass = self._grid()
        held = mass > 1e-16
        values = np.array([function(self.family.of_natural([t])) for t in theta[held]])
        return np.tensordot(mass[held], values, axes=1) / mass[held].sum()

    def predictive(self, x: ArrayLike) -> np.ndarray:
        """Posterior predictive density of outcomes, by quadrature (one parameter)."""
        return self.expectation(lambda member: member.density(x))


def posterior_predictive(log_densities: ArrayLike) -> np.ndarray:
    """Posterior predictive density from draws of the parameter: the mean of p(x | theta_i).

    Computed as log-mean-exp, so that no density underflows.

    Parameters
    ----------
    log_densities : array-like of shape (n_draws, n_outcomes)
        log p(x | theta_i).

    Returns
    -------
    log_predictive : ndarray of shape (n_outcomes,)

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(posterior_predictive(np.log([[0.2, 0.4], [0.6, 0.4]]))).round(6)
    array([0.4, 0.4])
    """
    logs = np.asarray(log_densities, dtype=np.float64)
    if logs.ndim != 2:
        raise DataError("log_densities has one row per draw and one column per outcome")
    return special.logsumexp(logs, axis=0) - np.log(len(logs))


def predictive_from_draws(draws: ArrayLike, sampler: Any, random_state: Any = None) -> np.ndarray:
    """Outcomes of the posterior predictive: one for each draw of the parameter.

    Parameters
    ----------
    draws : array-like of shape (n_draws,) or (n_draws, p)
    sampler : callable
        ``sampler(parameter, rng)`` gives one outcome.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    outcomes : ndarray of shape (n_draws, ...)

    Examples
    --------
    >>> predictive_from_draws([1.0, 2.0], lambda t, rng: t + 1)
    array([2., 3.])
    """
    rng = as_generator(random_state)
    return np.array([sampler(each, rng) for each in np.asarray(draws)])
