"""Joint confidence regions of several parameters: ellipse and box.

Intervals of single parameters, put together, do not hold their level jointly and ignore that
estimates are correlated. From many estimates (bootstrap or simulation) or from a covariance matrix
the ellipse is {c : (c - centre)' S^-1 (c - centre) <= r^2}; the box has sides of equal tail share,
wide enough to hold the wanted share of the estimates at once.

Texts: 004 5.3 (rectangles and ellipses) · 000a 4.4.2 (covariance ellipse) · 002 (mass of ellipses:
the one-dimensional 68, 95, 99.7 percent are 39, 86, 99 percent in the plane).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from gnomon.contract.estimate import Estimate, check_level
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.renamed import former_parameters
from gnomon.evaluate.intake import number_block


@dataclass(frozen=True, repr=False, eq=False)
class ConfidenceRegion(Result):
    """An ellipsoid, and where estimates were given a box, that holds the truth at a level.

    Attributes
    ----------
    names : tuple of str
        The parameters.
    center : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        Covariance of the estimates.
    radius : float
        The ellipsoid is where Mahalanobis' distance from the centre is at most this.
    confidence_level : float
    how : str
        Where the radius comes from.
    low, high : ndarray of shape (k,)
        Sides of the box that jointly has the level.
    """

    names: tuple[str, ...]
    center: np.ndarray
    covariance: np.ndarray
    radius: float
    confidence_level: float
    how: str
    low: np.ndarray
    high: np.ndarray

    def distance(self, points: ArrayLike) -> np.ndarray:
        """Mahalanobis' distance of points (n, k) from the centre."""
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        return _distances(points - self.center, self.covariance)

    def contains(self, points: ArrayLike) -> np.ndarray:
        """Which points (n, k) lie in the ellipsoid."""
        return self.distance(points) <= self.radius

    def box_contains(self, points: ArrayLike) -> np.ndarray:
        """Which points (n, k) lie in the box."""
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        return np.all((points >= self.low) & (points <= self.high), axis=1)

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Half-lengths of the axes, the longest first, and their directions in rows."""
        values, vectors = np.linalg.eigh(self.covariance)
        return self.radius * np.sqrt(values[::-1].clip(0)), vectors[:, ::-1].T

    def outline(self, n: int = 200) -> np.ndarray:
        """Points (n, 2) around the ellipse of two parameters, for a picture."""
        if len(self.names) != 2:
            raise DataError(f"an outline is of two parameters, not of {len(self.names)}")
        lengths, directions = self.axes()
        angle = np.linspace(0, 2 * np.pi, n)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        return self.center + (circle * lengths) @ directions

    @property
    def volume(self) -> float:
        """Length, area or volume of the ellipsoid."""
        k = len(self.names)
        log_unit = k / 2 * np.log(np.pi) - float(special.gammaln(k / 2 + 1))
        lengths, _ = self.axes()
        return float(np.exp(log_unit) * np.prod(lengths))

    def _title(self) -> str:
        return (
            f"Joint {self.confidence_level:.4g} region of {len(self.names)} parameters ({self.how})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        half = self.radius * np.sqrt(np.diag(self.covariance))
        shadow = [
            Estimate(float(c), float(c - h), float(c + h), self.confidence_level)
            for c, h in zip(self.center, half)
        ]
        sides = zip(self.center, self.low, self.high)
        box = [Estimate(float(c), float(a), float(b), self.confidence_level) for c, a, b in sides]
        return {"parameter": list(self.names), "ellipse's shadow": shadow, "box": box}

    def _remarks(self) -> list[str]:
        strongest = _strongest_correlation(self.covariance)
        if strongest is None:
            return []
        i, j, rho = strongest
        return [f"strongest correlation of estimates: {self.names[i]}, {self.names[j]} {rho:.2f}"]


def confidence_region(
    estimates: Any,
    confidence_level: float = 0.95,
    *,
    radius: str = "estimates",
    center: ArrayLike | None = None,
    names: tuple[str, ...] | None = None,
) -> ConfidenceRegion:
    """The joint region of parameters from many estimates of them.

    Parameters
    ----------
    estimates : array-like of shape (n_estimates, k)
        Parameters refitted on bootstrap samples or on simulated data; at least ten times k rows,
        better a thousand.
    confidence_level : float, default=0.95
        Share of estimates that the region holds.
    radius : {"estimates", "normal"}, default="estimates"
        ``"estimates"`` takes the quantile of the estimates' own distances, which needs no law;
        ``"normal"`` the root of the chi-square quantile with k degrees of freedom.
    center : array-like of shape (k,), default=None
        The estimate from all the data; by default the mean of the estimates.
    names : tuple of str, default=None

    Returns
    -------
    region : ConfidenceRegion

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(1000, 2)) * [1.0, 0.1]
    >>> region = confidence_region(draws, names=("slope", "offset"))
    >>> float(region.contains(draws).mean())
    0.95
    """
    estimates = number_block(estimates, "estimates")
    estimates = estimates.reshape(len(estimates), -1)
    n, k = estimates.shape
    if n < 10 * k:
        raise DataError(f"{n} estimates are too few for a region of {k} parameters; take {100 * k}")
    check_level(confidence_level)
    middle = estimates.mean(axis=0) if center is None else _center(center, k)
    covariance = np.atleast_2d(np.cov(estimates, rowvar=False))
    if radius == "normal":
        length, how = float(np.sqrt(scipy.stats.chi2.ppf(confidence_level, k))), "normal estimates"
    elif radius == "estimates":
        distances = _distances(estimates - middle, covariance)
        length, how = _upper_share(distances, confidence_level), f"{n:,} estimates"
    else:
        raise DataError(f"radius={radius!r} is none of estimates, normal")
    low, high = joint_box(estimates, confidence_level)
    return ConfidenceRegion(
        _names(names, k), middle, covariance, length, confidence_level, how, low, high
    )


def joint_box(
    estimates: ArrayLike, confidence_level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Sides of the box of equal tail shares that holds a share of the estimates at once.

    Parameters
    ----------
    estimates : array-like of shape (n_estimates, k)
    confidence_level : float, default=0.95

    Returns
    -------
    low, high : ndarray of shape (k,)

    Examples
    --------
    >>> low, high = joint_box([[float(i)] for i in range(101)], confidence_level=0.9)
    >>> low, high
    (array([5.]), array([95.]))
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    n = len(estimates)
    check_level(confidence_level)
    # how far out an estimate is: its largest rank from the middle, over the parameters
    ranks = scipy.stats.rankdata(estimates, axis=0)
    outness = np.abs(ranks - (n + 1) / 2).max(axis=1)
    reach = _upper_share(outness, confidence_level)
    inside = np.abs(ranks - (n + 1) / 2) <= reach
    low = np.where(inside, estimates, np.inf).min(axis=0)
    high = np.where(inside, estimates, -np.inf).max(axis=0)
    return low, high


def mean_region(rows: Any, confidence_level: float = 0.95) -> ConfidenceRegion:
    """The region of the mean of several columns (Hotelling).

    n (mean - mu)' S^-1 (mean - mu) is k (n - 1) / (n - k) times an F of k and n - k degrees of
    freedom when rows are normal. The box has Bonferroni's intervals.

    Parameters
    ----------
    rows : array-like of shape (n, k)
        Independent rows, more than columns.
    confidence_level : float, default=0.95

    Returns
    -------
    region : ConfidenceRegion

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(50, 2)) + [3.0, 5.0]
    >>> bool(mean_region(rows, confidence_level=0.9999).contains([3.0, 5.0])[0])
    True
    """
    rows = number_block(rows, "rows")
    rows = rows.reshape(len(rows), -1)
    n, k = rows.shape
    check_level(confidence_level)
    if n <= k + 1:
        raise DataError(f"{n} rows are too few for the mean of {k} columns")
    covariance = np.atleast_2d(np.cov(rows, rowvar=False)) / n
    radius = np.sqrt(k * (n - 1) / (n - k) * scipy.stats.f.ppf(confidence_level, k, n - k))
    center = rows.mean(axis=0)
    half = scipy.stats.t.ppf(1 - (1 - confidence_level) / (2 * k), n - 1) * np.sqrt(
        np.diag(covariance)
    )
    return ConfidenceRegion(
        _names(None, k),
        center,
        covariance,
        float(radius),
        confidence_level,
        "Hotelling's T^2; box by Bonferroni",
        center - half,
        center + half,
    )


def covariance_region(
    estimate: ArrayLike,
    covariance: ArrayLike,
    confidence_level: float = 0.95,
    *,
    degrees_of_freedom: float = np.inf,
    names: tuple[str, ...] | None = None,
) -> ConfidenceRegion:
    """The region of parameters whose estimates are normal with a known covariance matrix.

    Such as the coefficients of a regression, with (A'A)^-1 as their covariance.

    Parameters
    ----------
    estimate : array-like of shape (k,)
    covariance : array-like of shape (k, k)
    confidence_level : float, default=0.95
    degrees_of_freedom : float, default=infinity
        Of the variance that the covariance was scaled with, n - k where the noise was estimated.
    names : tuple of str, default=None

    Returns
    -------
    region : ConfidenceRegion
        The box has Bonferroni's intervals.

    Examples
    --------
    >>> region = covariance_region([1.0, 2.0], [[0.04, 0.0], [0.0, 0.01]])
    >>> region.axes()[0].round(3)
    array([0.49 , 0.245])
    """
    center = np.asarray(estimate, dtype=np.float64).ravel()
    k = len(center)
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.shape != (k, k) or not np.isfinite(covariance).all():
        raise DataError(f"the covariance of {k} parameters must be {k} by {k} and finite")
    check_level(confidence_level)
    if np.isinf(degrees_of_freedom):
        radius = np.sqrt(scipy.stats.chi2.ppf(confidence_level, k))
    else:
        radius = np.sqrt(k * scipy.stats.f.ppf(confidence_level, k, degrees_of_freedom))
    quantile = scipy.stats.t.ppf(1 - (1 - confidence_level) / (2 * k), degrees_of_freedom)
    half = quantile * np.sqrt(np.diag(covariance))
    return ConfidenceRegion(
        _names(names, k),
        center,
        covariance,
        float(radius),
        confidence_level,
        "normal estimates; box by Bonferroni",
        center - half,
        center + half,
    )


@former_parameters(d="n_columns")
def normal_mass(radius: Any, n_columns: int = 1) -> Any:
    """The share of a normal distribution within so many standard deviations, in any dimension.

    P(chi^2_d <= radius^2): 0.683, 0.954, 0.997 in one dimension; 0.393, 0.865, 0.989 for ellipses
    in the plane, for which texts often give the first three.

    Parameters
    ----------
    radius : float or array-like
        Mahalanobis' distance.
    n_columns : int, default=1

    Returns
    -------
    share : float or ndarray

    Examples
    --------
    >>> round(normal_mass(1), 4), round(normal_mass(1, n_columns=2), 4)
    (0.6827, 0.3935)
    """
    shares = scipy.stats.chi2.cdf(np.asarray(radius, dtype=float) ** 2, n_columns)
    return float(shares) if np.ndim(radius) == 0 else shares


def _distances(gaps: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= 1e-12 * max(values[-1], 1e-300):
        raise DataError(
            "the estimates lie in fewer dimensions than there are parameters; leave out those "
            "that follow from the others"
        )
    return np.sqrt((((gaps @ vectors) ** 2) / values).sum(axis=1))


def _upper_share(distances: np.ndarray, confidence_level: float) -> float:
    """The smallest distance that holds at least the share."""
    place = int(np.ceil(confidence_level * len(distances) - 1e-9)) - 1
    return float(np.sort(distances)[place])


def _strongest_correlation(covariance: np.ndarray) -> tuple[int, int, float] | None:
    if len(covariance) < 2:
        return None
    sd = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sd, sd)
    upper = np.triu(correlation, 1)
    i, j = np.unravel_index(np.abs(upper).argmax(), upper.shape)
    return int(i), int(j), float(upper[i, j])


def _names(names: tuple[str, ...] | None, k: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"c{j}" for j in range(k))
    if len(names) != k:
        raise DataError(f"{len(names)} names for {k} parameters")
    return tuple(names)


def _center(center: ArrayLike, k: int) -> np.ndarray:
    middle = np.asarray(center, dtype=np.float64).ravel()
    if len(middle) != k:
        raise DataError(f"the centre has {len(middle)} entries for {k} parameters")
    return middle
