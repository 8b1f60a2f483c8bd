"""The exponential families of the texts: what each is made of, and how its members are named.

================== ============================= ======================================
family             S(x)                          usual parameters
================== ============================= ======================================
Normal             x, x^2                        mean, variance
NormalMean         x / variance                  mean (the variance is known)
MultivariateNormal x, x x'                       mean, covariance
Bernoulli          x                             probability
Categorical        one-hot of x                  probabilities
Multinomial        counts                        probabilities
Poisson            x                             rate
Geometric          x                             probability
Exponential        x                             rate
Gamma              log x, x                      shape, rate
InverseGamma       log x, 1/x                    shape, scale
ChiSquared         log x                         degrees
Beta               log x, log(1-x)               a, b
Dirichlet          log x                         alpha
Laplace            \\|x - centre\\|                scale (the centre is known)
Wishart            log det X, X                  degrees, scale
Mallows            -distance(x, centre)          spread (the central ranking is known)
================== ============================= ======================================

Texts: 002 "Exponential family models" (the catalogue) · 003 3.2 (categorical, normal) · 000a 4.4 ·
001 18.3. 002 prints the normal density with sqrt(2 pi sigma), and without the power d; 003 calls
the variance with n - 1 maximum likelihood: it is not, n is (`ddof` of `Normal.fit_unbiased`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats
from scipy.optimize import brentq

from gnomon.density.exponential_family import ExponentialFamily, Member
from gnomon.engine.errors import DataError
from gnomon.evaluate.figure import finite_column

LOG_2_PI = float(np.log(2 * np.pi))
TAIL = 1e-14
EPSILON = float(np.finfo(np.float64).eps)
MOST_NEWTON = 100


def _positive(value: Any, name: str) -> Any:
    if not np.all(np.asarray(value, dtype=np.float64) > 0):
        raise DataError(f"{name}={value} must be greater than zero")
    return value


def _share(value: Any, name: str) -> Any:
    value = np.asarray(value, dtype=np.float64)
    if not ((value >= 0) & (value <= 1)).all():
        raise DataError(f"{name}={value} must lie between 0 and 1")
    return value


def simplex(values: ArrayLike, name: str) -> np.ndarray:
    """Probabilities: zero or more each, one together."""
    values = np.asarray(values, dtype=np.float64)
    if (values < 0).any() or not np.allclose(values.sum(axis=-1), 1.0, atol=1e-8):
        raise DataError(f"{name} must be zero or more each and 1 together, not {values.tolist()}")
    return values


def _log(values: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values)


class Normal(ExponentialFamily):
    """Normal distributions of one number: parameters ``mean`` and ``variance``.

    theta = (mean / variance, -1 / (2 variance)). The variance is the square of the deviation; 002
    prints sqrt(2 pi sigma) for sqrt(2 pi sigma^2).

    Examples
    --------
    >>> Normal().fit([1.0, 2.0, 3.0, 4.0]).parameters
    {'mean': 2.5, 'variance': 1.25}
    >>> Normal().member(mean=0, variance=1).density([0.0]).round(4)
    array([0.3989])
    """

    name = "Normal"
    support = "numbers"

    @property
    def n_statistics(self):
        return 2

    def statistics(self, x):
        return np.stack([x, x**2], axis=-1)

    def log_partition(self, theta):
        first, second = theta[..., 0], theta[..., 1]
        return -(first**2) / (4 * second) - 0.5 * np.log(-second / np.pi)

    def mean_statistics(self, theta):
        mean, variance = self._usual(theta)
        return np.stack([mean, mean**2 + variance], axis=-1)

    def statistics_covariance(self, theta):
        mean, variance = self._usual(theta)
        cross = 2 * mean * variance
        square = 4 * mean**2 * variance + 2 * variance**2
        return np.stack([np.stack([variance, cross], -1), np.stack([cross, square], -1)], -1)

    def natural(self, mean):
        centre = mean[..., 0]
        return self._of(centre, mean[..., 1] - centre**2)

    def fit(self, x, sample_weight=None):
        """The maximum likelihood member: the mean, and the mean square about it (divided by n).

        Parameters
        ----------
        x : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        member : Member
        """
        return self._of_data(x, sample_weight, 0)

    def fit_unbiased(self, x: ArrayLike) -> Member:
        """The mean, and the square sum divided by n - 1: an unbiased variance, not the likeliest.

        Parameters
        ----------
        x : array-like of shape (n,)

        Returns
        -------
        member : Member
        """
        return self._of_data(x, None, 1)

    def _of_data(self, x, sample_weight, ddof: int) -> Member:
        x = finite_column(x, "x")
        weights = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, float)
        mean = np.average(x, weights=weights)
        variance = (weights @ (x - mean) ** 2) / (weights.sum() - ddof)
        return Member(self, self._of(mean, variance))

    def _of(self, mean, variance):
        if not np.all(variance > 0):
            raise DataError(
                "Normal: the outcomes do not differ, so that the variance would be zero; give "
                "outcomes that differ, or add a known variance with NormalMean"
            )
        return np.stack([mean / variance, -0.5 / variance], axis=-1)

    def _usual(self, theta):
        variance = -0.5 / theta[..., 1]
        return theta[..., 0] * variance, variance

    def from_parameters(self, *, mean, variance):
        return self._of(np.float64(mean), np.float64(_positive(variance, "variance")))

    def to_parameters(self, theta):
        mean, variance = self._usual(theta)
        return {"mean": _number(mean), "variance": _number(variance)}

    def draw(self, theta, n, rng):
        mean, variance = self._usual(theta)
        return rng.normal(mean, np.sqrt(variance), n)

    def moments(self, theta):
        return tuple(map(_number, self._usual(theta)))


class NormalMean(ExponentialFamily):
    """Normal distributions of one number whose variance is known: parameter ``mean``.

    Parameters
    ----------
    variance : float, default=1.0

    Examples
    --------
    >>> NormalMean(variance=4.0).fit([1.0, 2.0]).parameters
    {'mean': 1.5}
    """

    name = "NormalMean"
    support = "numbers"

    def __init__(self, variance: float = 1.0):
        self.variance = float(_positive(variance, "variance"))

    def statistics(self, x):
        return (x / self.variance)[..., None]

    def log_base(self, x):
        return -0.5 * x**2 / self.variance - 0.5 * (LOG_2_PI + np.log(self.variance))

    def log_partition(self, theta):
        return 0.5 * theta[..., 0] ** 2 / self.variance

    def mean_statistics(self, theta):
        return theta / self.variance

    def statistics_covariance(self, theta):
        return np.full((*theta.shape, 1), 1 / self.variance)

    def natural(self, mean):
        return np.asarray(mean) * self.variance

    def from_parameters(self, *, mean):
        return np.array([float(mean)])

    def to_parameters(self, theta):
        return {"mean": _number(theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.normal(theta[0], np.sqrt(self.variance), n)

    def expected_log_base(self, theta):
        square = theta[0] ** 2 + self.variance
        return -0.5 * square / self.variance - 0.5 * (LOG_2_PI + np.log(self.variance))

    def moments(self, theta):
        return _number(theta[..., 0]), self.variance


class MultivariateNormal(ExponentialFamily):
    """Normal distributions of d numbers: parameters ``mean`` and ``covariance``.

    log p(x) = -d/2 log 2 pi - 1/2 log det C - 1/2 (x - m)' C^-1 (x - m); the power d of 2 pi is
    missing in 002. The maximum likelihood covariance divides by n.

    Parameters
    ----------
    d : int
        Numbers in an outcome.
    form : {"full", "diagonal", "spherical"}, default="full"
        The covariance: any, of independent columns, or one variance for all columns. The last two
        are for too few data (000a 4.2.2).

    Examples
    --------
    >>> MultivariateNormal(2).fit([[0, 0], [2, 0], [0, 2], [2, 2.0]]).parameters["covariance"]
    array([[1., 0.],
           [0., 1.]])
    """

    name = "MultivariateNormal"
    support = "rows of numbers"

    def __init__(self, d: int, form: str = "full"):
        if form not in ("full", "diagonal", "spherical"):
            raise DataError(f"form={form!r} is none of 'full', 'diagonal', 'spherical'")
        self.d = int(d)
        self.form = form

    @property
    def width(self):
        return self.d

    @property
    def n_statistics(self):
        return self.d + self.d**2

    @property
    def n_parameters(self):
        free = {"full": self.d * (self.d + 1) // 2, "diagonal": self.d, "spherical": 1}
        return self.d + free[self.form]

    def statistics(self, x):
        products = x[..., :, None] * x[..., None, :]
        return np.concatenate([x, products.reshape(*x.shape[:-1], -1)], axis=-1)

    def _usual(self, theta):
        d = self.d
        precision = -2 * theta[..., d:].reshape(*theta.shape[:-1], d, d)
        covariance = np.linalg.inv(precision)
        mean = (covariance @ theta[..., :d, None])[..., 0]
        return mean, (covariance + np.swapaxes(covariance, -1, -2)) / 2

    def _of(self, mean, covariance):
        covariance = self._formed(np.asarray(covariance, dtype=np.float64))
        values = np.linalg.eigvalsh(covariance)
        if not np.all(values[..., 0] > 4 * self.d * EPSILON * values[..., -1]):
            raise DataError(
                f"MultivariateNormal: the covariance is not positive definite (smallest "
                f"eigenvalue {values[..., 0].min():.3g}): the rows lie in fewer than {self.d} "
                "dimensions. Take more rows, leave columns out, or form='diagonal'"
            )
        precision = np.linalg.inv(covariance)
        linear = (precision @ np.asarray(mean, dtype=np.float64)[..., None])[..., 0]
        flat = -0.5 * precision.reshape(*precision.shape[:-2], -1)
        return np.concatenate([linear, flat], axis=-1)

    def _formed(self, covariance):
        if self.form == "full":
            return covariance
        diagonal = np.diagonal(covariance, axis1=-2, axis2=-1)
        if self.form == "spherical":
            diagonal = np.broadcast_to(diagonal.mean(axis=-1, keepdims=True), diagonal.shape)
        return diagonal[..., None] * np.eye(self.d)

    def log_partition(self, theta):
        mean, covariance = self._usual(theta)
        log_det = np.linalg.slogdet(covariance)[1]
        return 0.5 * ((theta[..., : self.d] * mean).sum(axis=-1) + log_det + self.d * LOG_2_PI)

    def mean_statistics(self, theta):
        mean, covariance = self._usual(theta)
        second = covariance + mean[..., :, None] * mean[..., None, :]
        return np.concatenate([mean, second.reshape(*mean.shape[:-1], -1)], axis=-1)

    def natural(self, mean):
        centre = mean[..., : self.d]
        second = mean[..., self.d :].reshape(*centre.shape, self.d)
        return self._of(centre, second - centre[..., :, None] * centre[..., None, :])

    def fit(self, x, sample_weight=None, ddof: int = 0):
        """The maximum likelihood member.

        Parameters
        ----------
        x : array-like of shape (n, d)
        sample_weight : array-like of shape (n,), default=None
        ddof : int, default=0
            1 for the unbiased covariance (003), which is not the likeliest.

        Returns
        -------
        member : Member
        """
        x = self.outcomes(x)
        self.require_inside(x)
        weights = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, float)
        mean = np.average(x, axis=0, weights=weights)
        centred = x - mean
        covariance = (centred * weights[:, None]).T @ centred / (weights.sum() - ddof)
        return Member(self, self._of(mean, covariance))

    def from_parameters(self, *, mean, covariance):
        covariance = np.asarray(covariance, dtype=np.float64)
        if covariance.shape != (self.d, self.d) or np.shape(mean) != (self.d,):
            raise DataError(
                f"mean and covariance have shapes {np.shape(mean)} and {covariance.shape}; for "
                f"d={self.d} they should be ({self.d},) and ({self.d}, {self.d})"
            )
        if not np.allclose(covariance, covariance.T, rtol=1e-10, atol=0):
            raise DataError("covariance must be symmetric")
        return self._of(mean, covariance)

    def to_parameters(self, theta):
        mean, covariance = self._usual(theta)
        return {"mean": mean, "covariance": covariance}

    def draw(self, theta, n, rng):
        mean, covariance = self._usual(theta)
        return mean + rng.standard_normal((n, self.d)) @ np.linalg.cholesky(covariance).T

    def moments(self, theta):
        return self._usual(theta)


class Bernoulli(ExponentialFamily):
    """One trial, 0 or 1: parameter ``probability`` of 1.

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
        return self.natural(np.atleast_1d(_share(probability, "probability")))

    def to_parameters(self, theta):
        return {"probability": _number(special.expit(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return (rng.random(n) < special.expit(theta[0])).astype(np.float64)

    def moments(self, theta):
        mean = _number(special.expit(theta[..., 0]))
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
        return _log(mean / mean.sum(axis=-1, keepdims=True))

    def from_parameters(self, *, probabilities):
        return _log(simplex(probabilities, "probabilities"))

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
        return _log(mean / mean.sum(axis=-1, keepdims=True))

    def from_parameters(self, *, probabilities):
        return _log(simplex(probabilities, "probabilities"))

    def to_parameters(self, theta):
        return {"probabilities": special.softmax(theta, axis=-1)}

    def draw(self, theta, n, rng):
        return rng.multinomial(self._draws(), special.softmax(theta), n).astype(np.float64)

    def expected_log_base(self, theta):
        n, shares = self._draws(), special.softmax(theta)
        counts = np.arange(n + 1)
        each = stats.binom.pmf(counts[:, None], n, shares)
        return float(special.gammaln(n + 1) - (each * special.gammaln(counts + 1)[:, None]).sum())

    def moments(self, theta):
        n, shares = self._draws(), special.softmax(theta, axis=-1)
        return n * shares, n * (np.diag(shares) - np.outer(shares, shares))


class Poisson(ExponentialFamily):
    """Counts of rare events: parameter ``rate``, the mean.

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
        return np.log(np.atleast_1d(np.asarray(_positive(rate, "rate"), dtype=np.float64)))

    def to_parameters(self, theta):
        return {"rate": _number(np.exp(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return rng.poisson(np.exp(theta[0]), n).astype(np.float64)

    def expected_log_base(self, theta):
        rate = float(np.exp(theta[0]))
        counts = np.arange(stats.poisson.isf(TAIL, rate) + 10)
        return float(-stats.poisson.pmf(counts, rate) @ special.gammaln(counts + 1))

    def moments(self, theta):
        rate = _number(np.exp(theta[..., 0]))
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
        probability = _positive(_share(probability, "probability"), "probability")
        return np.atleast_1d(np.log1p(-np.minimum(probability, 1 - 1e-16)))

    def to_parameters(self, theta):
        return {"probability": _number(-np.expm1(theta[..., 0]))}

    def draw(self, theta, n, rng):
        return rng.geometric(-np.expm1(theta[0]), n) - 1.0

    def moments(self, theta):
        p = _number(-np.expm1(theta[..., 0]))
        return (1 - p) / p, (1 - p) / p**2


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
        return -np.atleast_1d(np.asarray(_positive(rate, "rate"), dtype=np.float64))

    def to_parameters(self, theta):
        return {"rate": _number(-theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.exponential(-1 / theta[0], n)

    def moments(self, theta):
        scale = _number(-1 / theta[..., 0])
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
        shape = _gamma_shape(np.log(means) - logs, self.name)
        return np.stack([shape - 1, -shape / means], axis=-1)

    def _usual(self, theta):
        return theta[..., 0] + 1, -theta[..., 1]

    def from_parameters(self, *, shape, rate):
        return np.array([_positive(shape, "shape") - 1.0, -float(_positive(rate, "rate"))])

    def to_parameters(self, theta):
        shape, rate = self._usual(theta)
        return {"shape": _number(shape), "rate": _number(rate)}

    def draw(self, theta, n, rng):
        shape, rate = self._usual(theta)
        return rng.gamma(shape, 1 / rate, n)

    def moments(self, theta):
        shape, rate = self._usual(theta)
        return _number(shape / rate), _number(shape / rate**2)


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
        shape = _gamma_shape(np.log(inverse) + logs, self.name)
        return np.stack([-shape - 1, -shape / inverse], axis=-1)

    def _usual(self, theta):
        return -theta[..., 0] - 1, -theta[..., 1]

    def from_parameters(self, *, shape, scale):
        return np.array([-_positive(shape, "shape") - 1.0, -float(_positive(scale, "scale"))])

    def to_parameters(self, theta):
        shape, scale = self._usual(theta)
        return {"shape": _number(shape), "scale": _number(scale)}

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
        return _inverse_digamma(np.asarray(mean) - np.log(2)) - 1

    def from_parameters(self, *, degrees):
        return np.atleast_1d(np.asarray(_positive(degrees, "degrees"), dtype=np.float64)) / 2 - 1

    def to_parameters(self, theta):
        return {"degrees": _number(2 * (theta[..., 0] + 1))}

    def draw(self, theta, n, rng):
        return rng.chisquare(2 * (theta[0] + 1), n)

    def expected_log_base(self, theta):
        return -(theta[0] + 1)

    def moments(self, theta):
        degrees = _number(2 * (theta[..., 0] + 1))
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

    def first_guess(self, mean):
        share = special.softmax(mean)
        return np.maximum(self.k * share, 0.1) - 1

    def from_parameters(self, *, alpha):
        alpha = np.asarray(_positive(alpha, "alpha"), dtype=np.float64)
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

    def first_guess(self, mean):
        return Dirichlet(2).first_guess(mean)

    def from_parameters(self, *, a, b):
        return np.array([_positive(a, "a") - 1.0, _positive(b, "b") - 1.0])

    def to_parameters(self, theta):
        return {"a": _number(theta[..., 0] + 1), "b": _number(theta[..., 1] + 1)}

    def draw(self, theta, n, rng):
        return rng.beta(*(theta + 1), n)

    def moments(self, theta):
        a, b = map(float, theta + 1)
        return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))


class Laplace(ExponentialFamily):
    """Double exponential about a known centre: parameter ``scale``, the mean absolute deviation.

    Parameters
    ----------
    centre : float, default=0.0
        Its maximum likelihood value is the median: see `Laplace.at_median`.

    Examples
    --------
    >>> round(Laplace(centre=2.0).fit([1.0, 2.0, 5.0]).parameters["scale"], 4)
    1.3333
    """

    name = "Laplace"
    support = "numbers"

    def __init__(self, centre: float = 0.0):
        self.centre = float(centre)

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
        return np.abs(x - self.centre)[..., None]

    def log_partition(self, theta):
        return np.log(-2 / theta[..., 0])

    def mean_statistics(self, theta):
        return -1 / theta

    def natural(self, mean):
        if not np.all(np.asarray(mean) > 0):
            raise DataError("Laplace: all outcomes equal the centre; the scale would be zero")
        return -1 / np.asarray(mean)

    def from_parameters(self, *, scale):
        return np.array([-1 / float(_positive(scale, "scale"))])

    def to_parameters(self, theta):
        return {"scale": _number(-1 / theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.laplace(self.centre, -1 / theta[0], n)

    def moments(self, theta):
        return self.centre, _number(2 / theta[..., 0] ** 2)


class Wishart(ExponentialFamily):
    """Positive definite d x d matrices: parameters ``degrees`` and ``scale``; mean degrees scale.

    The sum of x x' over ``degrees`` rows x ~ N(0, scale). Outcomes are matrices written as rows of
    d^2 numbers.

    Parameters
    ----------
    d : int

    Examples
    --------
    >>> Wishart(2).member(degrees=5, scale=[[1, 0], [0, 2.0]]).mean
    array([[ 5.,  0.],
           [ 0., 10.]])
    """

    name = "Wishart"
    support = "positive definite matrices, as rows of d^2 numbers"

    def __init__(self, d: int):
        self.d = int(d)

    @property
    def width(self):
        return self.d**2

    @property
    def n_statistics(self):
        return 1 + self.d**2

    @property
    def n_parameters(self):
        return 1 + self.d * (self.d + 1) // 2

    def _matrices(self, x):
        return x.reshape(*x.shape[:-1], self.d, self.d)

    def statistics(self, x):
        log_det = np.linalg.slogdet(self._matrices(x))[1]
        return np.concatenate([log_det[..., None], x], axis=-1)

    def inside(self, x):
        matrices = self._matrices(x)
        symmetric = np.isclose(matrices, np.swapaxes(matrices, -1, -2)).all(axis=(-1, -2))
        return symmetric & (np.linalg.eigvalsh(matrices).min(axis=-1) > 0)

    def _usual(self, theta):
        degrees = 2 * theta[..., 0] + self.d + 1
        scale = np.linalg.inv(-2 * self._matrices(theta[..., 1:]))
        return degrees, scale

    def log_partition(self, theta):
        degrees, scale = self._usual(theta)
        log_det = np.linalg.slogdet(scale)[1]
        normaliser = special.multigammaln(degrees / 2, self.d)
        return degrees / 2 * (log_det + self.d * np.log(2)) + normaliser

    def mean_statistics(self, theta):
        degrees, scale = self._usual(theta)
        logs = self._digammas(degrees) + self.d * np.log(2) + np.linalg.slogdet(scale)[1]
        return np.concatenate([[logs], (degrees * scale).ravel()])

    def _digammas(self, degrees) -> float:
        return float(special.digamma((degrees - np.arange(self.d)) / 2).sum())

    def _matched(self, mean):
        """The scale follows from the mean matrix; the degrees solve one equation."""
        matrix = self._matrices(mean[1:])
        gap = np.linalg.slogdet(matrix)[1] - mean[0]

        def excess(log_above):
            degrees = self.d - 1 + np.exp(log_above)
            return self.d * np.log(degrees / 2) - self._digammas(degrees) - gap

        if gap <= 0 or excess(25.0) > 0:
            raise DataError("Wishart: the matrices do not differ; no finite degrees fit them")
        low = -30.0
        degrees = self.d - 1 + np.exp(_root(excess, low, 25.0))
        return self.from_parameters(degrees=degrees, scale=matrix / degrees)

    def from_parameters(self, *, degrees, scale):
        if not degrees > self.d - 1:
            raise DataError(f"degrees={degrees} must be greater than d - 1 = {self.d - 1}")
        precision = np.linalg.inv(np.asarray(scale, dtype=np.float64))
        return np.concatenate([[(degrees - self.d - 1) / 2], -0.5 * precision.ravel()])

    def to_parameters(self, theta):
        degrees, scale = self._usual(theta)
        return {"degrees": _number(degrees), "scale": scale}

    def draw(self, theta, n, rng):
        degrees, scale = self._usual(theta)
        drawn = stats.wishart.rvs(degrees, scale, size=n, random_state=rng)
        return np.reshape(drawn, (n, self.d**2))

    def moments(self, theta):
        degrees, scale = self._usual(theta)
        diagonal = np.diagonal(scale)
        return degrees * scale, degrees * (scale**2 + np.outer(diagonal, diagonal))


class Mallows(ExponentialFamily):
    """Rankings of m items about a central one: parameter ``spread``, exp(-spread distance).

    The distance is Kendall's: the number of pairs that two rankings order differently. Z has the
    closed form prod_i (1 - exp(-i t)) / (1 - exp(-t)). A ranking lists for each item its place.

    Parameters
    ----------
    centre : array-like of int of shape (m,)
        The central ranking, a permutation of 0 .. m-1; `Mallows.central` finds it.

    Examples
    --------
    >>> family = Mallows([0, 1, 2])
    >>> family.member(spread=0.5).density([[0, 1, 2], [2, 1, 0]]).round(4)
    array([0.3153, 0.0703])
    """

    name = "Mallows"
    support = "rankings, permutations of 0 .. m-1"

    def __init__(self, centre: ArrayLike):
        self.centre = [int(place) for place in np.asarray(centre)]
        if sorted(self.centre) != list(range(len(self.centre))):
            raise DataError(f"centre={self.centre} is not a permutation of 0 .. m-1")

    @classmethod
    def central(cls, rankings: ArrayLike) -> Mallows:
        """The family about the ranking by mean place (Borda's; near the likeliest, and quick).

        Parameters
        ----------
        rankings : array-like of shape (n, m)

        Returns
        -------
        family : Mallows
        """
        mean = np.asarray(rankings, dtype=np.float64).mean(axis=0)
        return cls(np.argsort(np.argsort(mean, kind="stable"), kind="stable"))

    @property
    def width(self):
        return len(self.centre)

    def statistics(self, x):
        centre = np.asarray(self.centre)
        first, second = np.triu_indices(len(centre), 1)
        ours = np.sign(x[..., first] - x[..., second])
        theirs = np.sign(centre[first] - centre[second])
        return -(ours != theirs).sum(axis=-1, dtype=np.float64)[..., None]

    def inside(self, x):
        return (np.sort(x, axis=-1) == np.arange(self.width)).all(axis=-1)

    def _ranks(self):
        return np.arange(1, self.width + 1)

    def log_partition(self, theta):
        spread = theta[..., 0]
        if np.any(spread == 0):
            return float(special.gammaln(self.width + 1))
        parts = np.log(np.expm1(-self._ranks() * spread) / np.expm1(-spread))
        return float(parts.sum())

    def mean_statistics(self, theta):
        spread = float(theta[0])
        i = self._ranks()
        if abs(spread) < 1e-8:
            return np.array([-self.width * (self.width - 1) / 4.0])
        expected = self.width / np.expm1(spread) - (i / np.expm1(i * spread)).sum()
        return np.array([-expected])

    def _matched(self, mean):
        most = self.width * (self.width - 1) / 2
        if not 0 < -mean[0] < most:
            raise DataError(
                "Mallows: every ranking equals the centre (or its reverse); no finite spread fits"
            )
        return np.array(
            [_root(lambda t: self.mean_statistics(np.array([t]))[0] - mean[0], -50, 50)]
        )

    def from_parameters(self, *, spread):
        return np.array([float(spread)])

    def to_parameters(self, theta):
        return {"spread": _number(theta[..., 0])}

    def draw(self, theta, n, rng):
        """Repeated insertion: item i of the centre goes j places before the end, with e^-jt."""
        order = np.argsort(self.centre)
        rankings = np.empty((n, self.width))
        for row in rankings:
            listed: list[int] = []
            for i, item in enumerate(order):
                share = special.softmax(-theta[0] * np.arange(i + 1))
                listed.insert(i - rng.choice(i + 1, p=share), int(item))
            row[listed] = np.arange(self.width)
        return rankings

    def moments(self, theta):
        drawn = self.draw(theta, 4000, np.random.default_rng(0))
        return drawn.mean(axis=0), np.cov(drawn.T)


FAMILIES: dict[str, type[ExponentialFamily]] = {
    "normal": Normal,
    "bernoulli": Bernoulli,
    "poisson": Poisson,
    "geometric": Geometric,
    "exponential": Exponential,
    "gamma": Gamma,
    "inverse-gamma": InverseGamma,
    "beta": Beta,
}


def _number(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def _gamma_shape(gap: np.ndarray, name: str) -> np.ndarray:
    """The a of log a - digamma(a) = gap, by Newton on 1/a (Minka); broadcasts."""
    if not np.all(np.asarray(gap) > 0):
        raise DataError(f"{name}: the outcomes do not differ; no finite shape fits them")
    a = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(MOST_NEWTON):
        slope = a**2 * (1 / a - special.polygamma(1, a))
        following = 1 / (1 / a + (np.log(a) - special.digamma(a) - gap) / slope)
        done = np.all(np.abs(following - a) <= 1e-14 * a)
        a = following
        if done:
            break
    return a


def _inverse_digamma(value: np.ndarray) -> np.ndarray:
    """x of digamma(x) = value, by Newton from Minka's start."""
    x = np.where(value >= -2.22, np.exp(value) + 0.5, -1 / (value - special.digamma(1.0)))
    for _ in range(MOST_NEWTON):
        step = (special.digamma(x) - value) / special.polygamma(1, x)
        x = x - step
        if np.all(np.abs(step) <= 1e-14 * x):
            break
    return x


def _root(function: Any, low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-14))
