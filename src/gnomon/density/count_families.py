"""Families of counts and categories.

Texts: 002 "Exponential family models", "Multinomial" · 003 3.2.1.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy import special

from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.parameter_checks import (
    log_or_minus_infinity,
    plain,
    positive,
    simplex,
    within_unit,
)
from gnomon.engine.errors import DataError

TAIL = 1e-14  # what is left out of a sum is near the rounding of the rest


class Bernoulli(ExponentialFamily):
    """One trial, 0 or 1: parameter ``probability`` of 1.

    Certainty has no finite natural parameter: 1e-300 and 1 - 1e-16 stand for 0 and 1.

    Examples
    --------
    >>> Bernoulli().fit([1, 1, 0, 1]).parameters
    {'probability': 0.75}
    """

    name = "Bernoulli"
    support = "0 or 1"

    def statistics(self, x):
        return x[..., None]

    def inside(self, x):
        return (x == 0) | (x == 1)

    def log_partition(self, theta):
        return np.logaddexp(0, theta[..., 0])

    def mean_statistics(self, theta):
        return special.expit(theta)

    def statistics_covariance(self, theta):
        mean = special.expit(theta)
        return (mean * (1 - mean))[..., None]

    def natural(self, mean):
        return special.logit(np.clip(mean, 1e-300, 1 - 1e-16))

    def from_parameters(self, *, probability):
        return self.natural(np.atleast_1d(within_unit(probability, "probability")))

    def to_parameters(self, theta):
        return {"probability": plain(special.expit(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return (rng.random(n) < special.expit(theta[0])).astype(np.float64)

    def moments(self, theta):
        mean = plain(special.expit(theta[..., 0]))
        return mean, mean * (1 - mean)


class Categorical(ExponentialFamily):
    """One of k categories, given by its code 0 .. k-1: parameter ``probabilities``.

    The maximum likelihood estimate is the relative frequency. Not the multinomial, whose outcomes
    are counts of several draws (003 3.2.1). `gnomon.density.CategoricalDistribution` has named
    values.

    Parameters
    ----------
    k : int
        Number of categories.

    Examples
    --------
    >>> Categorical(3).fit([0, 2, 2, 1]).parameters
    {'probabilities': array([0.25, 0.25, 0.5 ])}
    """

    name = "Categorical"

    def __init__(self, k: int):
        self.k = int(k)

    @property
    def support(self):
        return f"whole numbers from 0 to {self.k - 1}"

    @property
    def n_statistics(self):
        return self.k

    @property
    def n_parameters(self):
        return self.k - 1

    def statistics(self, x):
        return (np.asarray(x)[..., None] == np.arange(self.k)).astype(np.float64)

    def inside(self, x):
        return (x >= 0) & (x < self.k) & (x == np.floor(x))

    def log_partition(self, theta):
        return special.logsumexp(theta, axis=-1)

    def mean_statistics(self, theta):
        return special.softmax(theta, axis=-1)

    def statistics_covariance(self, theta):
        mean = self.mean_statistics(theta)
        return mean[..., None] * (np.eye(self.k) - mean[..., None, :])

    def natural(self, mean):
        return log_or_minus_infinity(mean / mean.sum(axis=-1, keepdims=True))

    def from_parameters(self, *, probabilities):
        return log_or_minus_infinity(simplex(probabilities, "probabilities"))

    def to_parameters(self, theta):
        return {"probabilities": self.mean_statistics(theta)}

    def draw(self, theta, n, rng):
        return rng.choice(self.k, n, p=self.mean_statistics(theta)).astype(np.float64)

    def moments(self, theta):
        shares, codes = self.mean_statistics(theta), np.arange(self.k)
        mean = float(shares @ codes)
        return mean, float(shares @ (codes - mean) ** 2)


class Multinomial(ExponentialFamily):
    """Counts of k categories in n draws: parameter ``probabilities``.

    P(H) = n! / prod H_j! prod t_j^H_j; the estimate is sum H / sum n. The number of draws may
    differ from outcome to outcome; `draw` needs one.

    Parameters
    ----------
    k : int
        Number of categories.
    n_draws : int, default=None
        Draws of one outcome, needed for samples, entropy and moments.

    Examples
    --------
    >>> round(float(Multinomial(2).member(probabilities=[0.3, 0.7]).density([[2, 1]])[0]), 6)
    0.189
    """

    name = "Multinomial"
    support = "rows of counts 0, 1, 2 ..."

    def __init__(self, k: int, n_draws: int | None = None):
        self.k = int(k)
        self.n_draws = n_draws

    @property
    def width(self):
        return self.k

    @property
    def n_statistics(self):
        return self.k

    @property
    def n_parameters(self):
        return self.k - 1

    def statistics(self, x):
        return x

    def inside(self, x):
        whole = ((x >= 0) & (x == np.floor(x))).all(axis=-1)
        return whole if self.n_draws is None else whole & (x.sum(axis=-1) == self.n_draws)

    def log_base(self, x):
        return special.gammaln(x.sum(axis=-1) + 1) - special.gammaln(x + 1).sum(axis=-1)

    def log_partition(self, theta):
        scale = 0.0 if self.n_draws is None else float(self.n_draws)
        return scale * special.logsumexp(theta, axis=-1)

    def mean_statistics(self, theta):
        return self._draws() * special.softmax(theta, axis=-1)

    def _draws(self) -> int:
        if self.n_draws is None:
            raise DataError("Multinomial: give n_draws, the number of draws of one outcome")
        return self.n_draws

    def natural(self, mean):
        return log_or_minus_infinity(mean / mean.sum(axis=-1, keepdims=True))

    def from_parameters(self, *, probabilities):
        return log_or_minus_infinity(simplex(probabilities, "probabilities"))

    def to_parameters(self, theta):
        return {"probabilities": special.softmax(theta, axis=-1)}

    def draw(self, theta, n, rng):
        return rng.multinomial(self._draws(), special.softmax(theta), n).astype(np.float64)

    def expected_log_base(self, theta):
        n, shares = self._draws(), special.softmax(theta)
        counts = np.arange(n + 1)
        each = scipy.stats.binom.pmf(counts[:, None], n, shares)
        return float(special.gammaln(n + 1) - (each * special.gammaln(counts + 1)[:, None]).sum())

    def moments(self, theta):
        n, shares = self._draws(), special.softmax(theta, axis=-1)
        return n * shares, n * (np.diag(shares) - np.outer(shares, shares))


class Poisson(ExponentialFamily):
    """Counts of rare events: parameter ``rate``, the mean.

    A rate of zero has no finite natural parameter: 1e-300 stands for it.

    Examples
    --------
    >>> round(Poisson().fit([3, 4, 2]).parameters["rate"], 10)
    3.0
    """

    name = "Poisson"
    support = "counts 0, 1, 2 ..."

    def statistics(self, x):
        return x[..., None]

    def inside(self, x):
        return (x >= 0) & (x == np.floor(x))

    def log_base(self, x):
        return -special.gammaln(x + 1)

    def log_partition(self, theta):
        return np.exp(theta[..., 0])

    def mean_statistics(self, theta):
        return np.exp(theta)

    def statistics_covariance(self, theta):
        return np.exp(theta)[..., None]

    def natural(self, mean):
        return np.log(np.maximum(mean, 1e-300))

    def from_parameters(self, *, rate):
        return np.log(np.atleast_1d(np.asarray(positive(rate, "rate"), dtype=np.float64)))

    def to_parameters(self, theta):
        return {"rate": plain(np.exp(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return rng.poisson(np.exp(theta[0]), n).astype(np.float64)

    def expected_log_base(self, theta):
        rate = float(np.exp(theta[0]))
        counts = np.arange(scipy.stats.poisson.isf(TAIL, rate) + 10)
        return float(-scipy.stats.poisson.pmf(counts, rate) @ special.gammaln(counts + 1))

    def moments(self, theta):
        rate = plain(np.exp(theta[..., 0]))
        return rate, rate


class Geometric(ExponentialFamily):
    """Failures before the first success, 0, 1, 2 ...: parameter ``probability`` of success.

    Examples
    --------
    >>> Geometric().fit([0, 1, 2, 1]).parameters
    {'probability': 0.5}
    """

    name = "Geometric"
    support = "counts 0, 1, 2 ..."

    def statistics(self, x):
        return x[..., None]

    def inside(self, x):
        return (x >= 0) & (x == np.floor(x))

    def log_partition(self, theta):
        return -np.log(-np.expm1(theta[..., 0]))

    def mean_statistics(self, theta):
        return 1 / np.expm1(-theta)

    def natural(self, mean):
        mean = np.maximum(mean, 1e-300)
        return np.log(mean) - np.log1p(mean)

    def from_parameters(self, *, probability):
        probability = positive(within_unit(probability, "probability"), "probability")
        return np.atleast_1d(np.log1p(-np.minimum(probability, 1 - 1e-16)))

    def to_parameters(self, theta):
        return {"probability": plain(-np.expm1(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return rng.geometric(-np.expm1(theta[0]), n) - 1.0

    def moments(self, theta):
        p = plain(-np.expm1(theta[..., 0]))
        return (1 - p) / p, (1 - p) / p**2
