"""Families of positive numbers and of shares.

Texts: 002 "Exponential family models", "Dirichlet" · 003 1.9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gnomon.contract.estimate import finite_column
from gnomon.density.exponential_family import MATCHED, ExponentialFamily, Member
from gnomon.density.parameter_checks import gamma_shape, inverse_digamma, plain, positive, simplex
from gnomon.engine.errors import DataError


class Exponential(ExponentialFamily):
    """Waiting times: parameter ``rate``, one over the mean.

    Examples
    --------
    >>> Exponential().fit([1.0, 3.0]).parameters
    {'rate': 0.5}
    """

    name = "Exponential"
    support = "numbers of zero or more"

    def statistics(self, x):
        return x[..., None]

    def inside(self, x):
        return x >= 0

    def log_partition(self, theta):
        return -np.log(-theta[..., 0])

    def mean_statistics(self, theta):
        return -1 / theta

    def natural(self, mean):
        if not np.all(np.asarray(mean) > 0):
            raise DataError("Exponential: all outcomes are zero; no rate is finite then")
        return -1 / np.asarray(mean)

    def from_parameters(self, *, rate):
        return -np.atleast_1d(np.asarray(positive(rate, "rate"), dtype=np.float64))

    def to_parameters(self, theta):
        return {"rate": plain(-theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.exponential(-1 / theta[0], n)

    def moments(self, theta):
        scale = plain(-1 / theta[..., 0])
        return scale, scale**2


class Gamma(ExponentialFamily):
    """Positive numbers: parameters ``shape`` and ``rate``; mean shape / rate.

    The shape solves log a - digamma(a) = log(mean x) - mean(log x), by Newton.

    Examples
    --------
    >>> fitted = Gamma().fit([1.0, 2.0, 3.0]).parameters
    >>> round(fitted["shape"] / fitted["rate"], 10)
    2.0
    """

    name = "Gamma"
    support = "numbers greater than zero"

    @property
    def n_statistics(self):
        return 2

    def statistics(self, x):
        return np.stack([np.log(x), x], axis=-1)

    def inside(self, x):
        return x > 0

    def log_partition(self, theta):
        shape, rate = self._usual(theta)
        return special.gammaln(shape) - shape * np.log(rate)

    def mean_statistics(self, theta):
        shape, rate = self._usual(theta)
        return np.stack([special.digamma(shape) - np.log(rate), shape / rate], axis=-1)

    def natural(self, mean):
        logs, means = mean[..., 0], mean[..., 1]
        shape = gamma_shape(np.log(means) - logs, self.name)
        return np.stack([shape - 1, -shape / means], axis=-1)

    def _usual(self, theta):
        return theta[..., 0] + 1, -theta[..., 1]

    def from_parameters(self, *, shape, rate):
        return np.array([positive(shape, "shape") - 1.0, -float(positive(rate, "rate"))])

    def to_parameters(self, theta):
        shape, rate = self._usual(theta)
        return {"shape": plain(shape), "rate": plain(rate)}

    def draw(self, theta, n, rng):
        shape, rate = self._usual(theta)
        return rng.gamma(shape, 1 / rate, n)

    def moments(self, theta):
        shape, rate = self._usual(theta)
        return plain(shape / rate), plain(shape / rate**2)


class InverseGamma(ExponentialFamily):
    """One over a gamma number: parameters ``shape`` and ``scale``; a prior of variances.

    Examples
    --------
    >>> member = InverseGamma().member(shape=3.0, scale=2.0)
    >>> member.mean
    1.0
    """

    name = "InverseGamma"
    support = "numbers greater than zero"

    @property
    def n_statistics(self):
        return 2

    def statistics(self, x):
        return np.stack([np.log(x), 1 / x], axis=-1)

    def inside(self, x):
        return x > 0

    def log_partition(self, theta):
        shape, scale = self._usual(theta)
        return special.gammaln(shape) - shape * np.log(scale)

    def mean_statistics(self, theta):
        shape, scale = self._usual(theta)
        return np.stack([np.log(scale) - special.digamma(shape), shape / scale], axis=-1)

    def natural(self, mean):
        logs, inverse = mean[..., 0], mean[..., 1]
        shape = gamma_shape(np.log(inverse) + logs, self.name)
        return np.stack([-shape - 1, -shape / inverse], axis=-1)

    def _usual(self, theta):
        return -theta[..., 0] - 1, -theta[..., 1]

    def from_parameters(self, *, shape, scale):
        return np.array([-positive(shape, "shape") - 1.0, -float(positive(scale, "scale"))])

    def to_parameters(self, theta):
        shape, scale = self._usual(theta)
        return {"shape": plain(shape), "scale": plain(scale)}

    def draw(self, theta, n, rng):
        shape, scale = self._usual(theta)
        return scale / rng.gamma(shape, 1.0, n)

    def moments(self, theta):
        shape, scale = map(float, self._usual(theta))
        mean = scale / (shape - 1) if shape > 1 else np.inf
        variance = scale**2 / ((shape - 1) ** 2 * (shape - 2)) if shape > 2 else np.inf
        return mean, variance


class ChiSquared(ExponentialFamily):
    """Sums of squares of standard normals: parameter ``degrees``.

    Examples
    --------
    >>> ChiSquared().member(degrees=4).mean
    4.0
    """

    name = "ChiSquared"
    support = "numbers greater than zero"

    def statistics(self, x):
        return np.log(x)[..., None]

    def inside(self, x):
        return x > 0

    def log_base(self, x):
        return -x / 2

    def log_partition(self, theta):
        half = theta[..., 0] + 1
        return special.gammaln(half) + half * np.log(2)

    def mean_statistics(self, theta):
        return special.digamma(theta + 1) + np.log(2)

    def natural(self, mean):
        return inverse_digamma(np.asarray(mean) - np.log(2)) - 1

    def from_parameters(self, *, degrees):
        return np.atleast_1d(np.asarray(positive(degrees, "degrees"), dtype=np.float64)) / 2 - 1

    def to_parameters(self, theta):
        return {"degrees": plain(2 * (theta[..., 0] + 1))}

    def draw(self, theta, n, rng):
        return rng.chisquare(2 * (theta[0] + 1), n)

    def expected_log_base(self, theta):
        return -(theta[0] + 1)

    def moments(self, theta):
        degrees = plain(2 * (theta[..., 0] + 1))
        return degrees, 2 * degrees


class Dirichlet(ExponentialFamily):
    """Probabilities of k categories: parameter ``alpha``, one number per category.

    Density prod c_j^(a_j - 1) / B(a). 002 writes a = concentration times mean, and labels its
    plots with the number per category: with a_j = 1 the density is flat (in its own formula that
    is concentration k). `of_concentration` takes mean and concentration.

    Parameters
    ----------
    k : int
        Number of categories.

    Examples
    --------
    >>> Dirichlet(3).member(alpha=[1.0, 1.0, 1.0]).density([[0.2, 0.3, 0.5]])
    array([2.])
    """

    name = "Dirichlet"
    support = "probabilities: above zero each and 1 together"

    def __init__(self, k: int):
        self.k = int(k)

    @property
    def width(self):
        return self.k

    @property
    def n_statistics(self):
        return self.k

    def statistics(self, x):
        return np.log(x)

    def inside(self, x):
        return (x > 0).all(axis=-1) & np.isclose(x.sum(axis=-1), 1.0, atol=1e-6)

    def log_partition(self, theta):
        alpha = theta + 1
        return special.gammaln(alpha).sum(axis=-1) - special.gammaln(alpha.sum(axis=-1))

    def mean_statistics(self, theta):
        alpha = theta + 1
        return special.digamma(alpha) - special.digamma(alpha.sum(axis=-1, keepdims=True))

    def statistics_covariance(self, theta):
        alpha = theta + 1
        own = special.polygamma(1, alpha)
        shared = special.polygamma(1, alpha.sum(axis=-1))
        return own[..., None] * np.eye(self.k) - shared[..., None, None]

    def allowed(self, theta):
        return bool((theta > -1).all())

    def _matched(self, mean):
        _require_spread(mean, self.name)
        return super()._matched(mean)

    def first_guess(self, mean):
        share = special.softmax(mean)
        return np.maximum(self.k * share, 0.1) - 1

    def from_parameters(self, *, alpha):
        alpha = np.asarray(positive(alpha, "alpha"), dtype=np.float64)
        if alpha.shape != (self.k,):
            raise DataError(f"alpha has shape {alpha.shape}; for k={self.k} give {self.k} numbers")
        return alpha - 1

    def of_concentration(self, mean: ArrayLike, concentration: float) -> Member:
        """The member of this mean and concentration: alpha = concentration times mean.

        Parameters
        ----------
        mean : array-like of shape (k,)
            Probabilities.
        concentration : float
            The sum of alpha: how many observations the distribution is worth.

        Returns
        -------
        member : Member
        """
        return self.member(alpha=concentration * simplex(mean, "mean"))

    def to_parameters(self, theta):
        return {"alpha": theta + 1}

    def draw(self, theta, n, rng):
        return rng.dirichlet(theta + 1, n)

    def moments(self, theta):
        alpha = theta + 1
        total = alpha.sum()
        mean = alpha / total
        return mean, (np.diag(mean) - np.outer(mean, mean)) / (total + 1)


class Beta(ExponentialFamily):
    """A share between 0 and 1: parameters ``a`` and ``b``; mean a / (a + b).

    Examples
    --------
    >>> Beta().member(a=2, b=6).mean
    0.25
    """

    name = "Beta"
    support = "numbers between 0 and 1, both excluded"

    @property
    def n_statistics(self):
        return 2

    def statistics(self, x):
        return np.stack([np.log(x), np.log1p(-x)], axis=-1)

    def inside(self, x):
        return (x > 0) & (x < 1)

    def log_partition(self, theta):
        return special.betaln(theta[..., 0] + 1, theta[..., 1] + 1)

    def mean_statistics(self, theta):
        return Dirichlet(2).mean_statistics(theta)

    def statistics_covariance(self, theta):
        return Dirichlet(2).statistics_covariance(theta)

    def allowed(self, theta):
        return bool((theta > -1).all())

    def _matched(self, mean):
        _require_spread(mean, self.name)
        return super()._matched(mean)

    def first_guess(self, mean):
        return Dirichlet(2).first_guess(mean)

    def from_parameters(self, *, a, b):
        return np.array([positive(a, "a") - 1.0, positive(b, "b") - 1.0])

    def to_parameters(self, theta):
        return {"a": plain(theta[..., 0] + 1), "b": plain(theta[..., 1] + 1)}

    def draw(self, theta, n, rng):
        return rng.beta(*(theta + 1), n)

    def moments(self, theta):
        a, b = map(float, theta + 1)
        return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))


def _require_spread(mean_logs: np.ndarray, name: str) -> None:
    """Refuse shares that do not differ: only for these the geometric means add up to 1."""
    if not 1 - np.exp(mean_logs).sum() > 4 * MATCHED:
        raise DataError(
            f"{name}: the outcomes do not differ beyond rounding; no finite parameters fit them"
        )


class Laplace(ExponentialFamily):
    """Double exponential about a known centre: parameter ``scale``, the mean absolute deviation.

    Parameters
    ----------
    center : float, default=0.0
        Its maximum likelihood value is the median: see `Laplace.at_median`.

    Examples
    --------
    >>> round(Laplace(center=2.0).fit([1.0, 2.0, 5.0]).parameters["scale"], 4)
    1.3333
    """

    name = "Laplace"
    support = "numbers"

    def __init__(self, center: float = 0.0):
        self.center = float(center)

    @classmethod
    def at_median(cls, x: ArrayLike) -> Member:
        """The maximum likelihood member, centre and scale.

        Parameters
        ----------
        x : array-like of shape (n,)

        Returns
        -------
        member : Member
        """
        return cls(float(np.median(finite_column(x, "x")))).fit(x)

    def statistics(self, x):
        return np.abs(x - self.center)[..., None]

    def log_partition(self, theta):
        return np.log(-2 / theta[..., 0])

    def mean_statistics(self, theta):
        return -1 / theta

    def natural(self, mean):
        if not np.all(np.asarray(mean) > 0):
            raise DataError("Laplace: all outcomes equal the centre; the scale would be zero")
        return -1 / np.asarray(mean)

    def from_parameters(self, *, scale):
        return np.array([-1 / float(positive(scale, "scale"))])

    def to_parameters(self, theta):
        return {"scale": plain(-1 / theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.laplace(self.center, -1 / theta[0], n)

    def moments(self, theta):
        return self.center, plain(2 / theta[..., 0] ** 2)
