"""Families of matrices and of rankings.

Texts: 002 (named there; the forms are derived).
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.parameter_checks import plain, root_between
from gnomon.engine.errors import DataError


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
        normalizer = special.multigammaln(degrees / 2, self.d)
        return degrees / 2 * (log_det + self.d * np.log(2)) + normalizer

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
        degrees = self.d - 1 + np.exp(root_between(excess, low, 25.0))
        return self.from_parameters(degrees=degrees, scale=matrix / degrees)

    def from_parameters(self, *, degrees, scale):
        if not degrees > self.d - 1:
            raise DataError(f"degrees={degrees} must be greater than d - 1 = {self.d - 1}")
        precision = np.linalg.inv(np.asarray(scale, dtype=np.float64))
        return np.concatenate([[(degrees - self.d - 1) / 2], -0.5 * precision.ravel()])

    def to_parameters(self, theta):
        degrees, scale = self._usual(theta)
        return {"degrees": plain(degrees), "scale": scale}

    def draw(self, theta, n, rng):
        degrees, scale = self._usual(theta)
        drawn = scipy.stats.wishart.rvs(degrees, scale, size=n, random_state=rng)
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
    center : array-like of int of shape (m,)
        The central ranking, a permutation of 0 .. m-1; `Mallows.central` finds it.

    Examples
    --------
    >>> family = Mallows([0, 1, 2])
    >>> family.member(spread=0.5).density([[0, 1, 2], [2, 1, 0]]).round(4)
    array([0.3153, 0.0703])
    """

    name = "Mallows"
    support = "rankings, permutations of 0 .. m-1"

    def __init__(self, center: ArrayLike):
        self.center = [int(place) for place in np.asarray(center)]
        if sorted(self.center) != list(range(len(self.center))):
            raise DataError(f"center={self.center} is not a permutation of 0 .. m-1")

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
        return len(self.center)

    def statistics(self, x):
        center = np.asarray(self.center)
        first, second = np.triu_indices(len(center), 1)
        ours = np.sign(x[..., first] - x[..., second])
        theirs = np.sign(center[first] - center[second])
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
            [root_between(lambda t: self.mean_statistics(np.array([t]))[0] - mean[0], -50, 50)]
        )

    def from_parameters(self, *, spread):
        return np.array([float(spread)])

    def to_parameters(self, theta):
        return {"spread": plain(theta[..., 0])}

    def draw(self, theta, n, rng):
        """Repeated insertion: item i of the centre goes j places before the end, with e^-jt."""
        order = np.argsort(self.center)
        rankings = np.zeros((n, self.width))
        for i, item in enumerate(order):
            line = np.cumsum(special.softmax(-theta[0] * np.arange(i + 1)))
            place = i - np.searchsorted(line[:-1], rng.random(n), side="right")
            earlier = order[:i]
            rankings[:, earlier] += rankings[:, earlier] >= place[:, None]
            rankings[:, item] = place
        return rankings

    def moments(self, theta):
        drawn = self.draw(theta, 4000, np.random.default_rng(0))
        return drawn.mean(axis=0), np.cov(drawn.T)
