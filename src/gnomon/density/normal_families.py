"""Normal families: one number, a known variance, several numbers.

Texts: 001 18.3 · 002 "Gaussian" · 003 3.2.2 · 000a 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import finite_column
from gnomon.density.exponential_family import ExponentialFamily, Member
from gnomon.density.parameter_checks import plain, positive
from gnomon.engine.errors import DataError

LOG_2_PI = float(np.log(2 * np.pi))
EPSILON = float(np.finfo(np.float64).eps)


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
        center = mean[..., 0]
        return self._of(center, mean[..., 1] - center**2)

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
        return self._of(np.float64(mean), np.float64(positive(variance, "variance")))

    def to_parameters(self, theta):
        mean, variance = self._usual(theta)
        return {"mean": plain(mean), "variance": plain(variance)}

    def draw(self, theta, n, rng):
        mean, variance = self._usual(theta)
        return rng.normal(mean, np.sqrt(variance), n)

    def moments(self, theta):
        return tuple(map(plain, self._usual(theta)))


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
        self.variance = float(positive(variance, "variance"))

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
        return {"mean": plain(theta[..., 0])}

    def draw(self, theta, n, rng):
        return rng.normal(theta[0], np.sqrt(self.variance), n)

    def expected_log_base(self, theta):
        square = theta[0] ** 2 + self.variance
        return -0.5 * square / self.variance - 0.5 * (LOG_2_PI + np.log(self.variance))

    def moments(self, theta):
        return plain(theta[..., 0]), self.variance


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
        center = mean[..., : self.d]
        second = mean[..., self.d :].reshape(*center.shape, self.d)
        return self._of(center, second - center[..., :, None] * center[..., None, :])

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
        centered = x - mean
        covariance = (centered * weights[:, None]).T @ centered / (weights.sum() - ddof)
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
