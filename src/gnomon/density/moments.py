"""Means, covariances and correlations, and what linear maps do to them.

Texts: 000a 4.1, 4.3, exercises 4.1-4.4 · 002 "Covariance matrix" · 004 13.2, 15.1. The texts divide
by n; ``ddof=1`` divides by n - 1.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import checked_weights
from gnomon.contract.numbers import plain_numbers
from gnomon.engine.errors import DataError, GnomonWarning

FLAT = 1e-12  # an eigenvalue below this share of the largest is rounding


class Centered(NamedTuple):
    """Rows less their mean, and the mean to map back with.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    mean : ndarray of shape (d,)
    """

    rows: np.ndarray
    mean: np.ndarray

    def restored(self) -> np.ndarray:
        """The rows with their mean."""
        return self.rows + self.mean


def mean_vector(rows: ArrayLike, sample_weight: ArrayLike | None = None) -> np.ndarray:
    """The mean of rows.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    mean : ndarray of shape (d,)

    Examples
    --------
    >>> mean_vector([[0, 0], [2, 4]])
    array([1., 2.])
    """
    rows = _rows(rows)
    return np.average(rows, axis=0, weights=checked_weights(sample_weight, len(rows)))


def center(rows: ArrayLike, sample_weight: ArrayLike | None = None) -> Centered:
    """Rows less their mean, which is kept to map back.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    centered : Centred

    Examples
    --------
    >>> center([[0, 0], [2, 4]]).rows
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    mean = mean_vector(rows, sample_weight)
    return Centered(_rows(rows) - mean, mean)


def covariance_matrix(
    rows: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    ddof: int = 0,
    form: str = "full",
) -> np.ndarray:
    """The covariance matrix, sum w (x - mean)(x - mean)' / (sum w - ddof).

    Warns where it is singular, naming the direction in which the rows do not vary.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    sample_weight : array-like of shape (n,), default=None
    ddof : int, default=0
        0 as the texts and maximum likelihood, 1 for the unbiased one.
    form : {"full", "diagonal", "spherical"}, default="full"
        Only variances, or one variance for all columns, where rows are too few.

    Returns
    -------
    covariance : ndarray of shape (d, d)

    Examples
    --------
    >>> covariance_matrix([[1, 0], [-1, 0], [0, 2], [0, -2.0]])
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    if form not in ("full", "diagonal", "spherical"):
        raise DataError(f"form={form!r} is none of 'full', 'diagonal', 'spherical'")
    rows = _rows(rows)
    weights = checked_weights(sample_weight, len(rows))
    weights = np.ones(len(rows)) if weights is None else weights
    if not weights.sum() > ddof:
        raise DataError(f"{len(rows)} rows are too few for ddof={ddof}")
    centered = rows - np.average(rows, axis=0, weights=weights)
    found = (centered * weights[:, None]).T @ centered / (weights.sum() - ddof)
    if form != "full":
        variances = np.diag(found)
        if form == "spherical":
            variances = np.full_like(variances, variances.mean())
        return np.diag(variances)
    flat = flat_direction(found)
    if flat is not None:
        warnings.warn(
            f"the covariance is singular: the rows do not vary along {flat.round(4).tolist()}",
            GnomonWarning,
            stacklevel=2,
        )
    return found


def flat_direction(covariance: ArrayLike) -> np.ndarray | None:
    """The unit vector along which there is no variance; None where there is variance in all.

    Raises where the matrix is no covariance: not symmetric, or with a negative eigenvalue.

    Parameters
    ----------
    covariance : array-like of shape (d, d)

    Returns
    -------
    direction : ndarray of shape (d,) or None

    Examples
    --------
    >>> flat_direction([[1.0, 1.0], [1.0, 1.0]]).round(4)
    array([-0.7071,  0.7071])
    """
    covariance = _covariance(covariance)
    values, vectors = np.linalg.eigh(covariance)
    if values[0] > FLAT * max(values[-1], 0.0):
        return None
    return vectors[:, 0]


def correlation_matrix(rows: ArrayLike, sample_weight: ArrayLike | None = None) -> np.ndarray:
    """Correlations cov(x, y) / sqrt(var(x) var(y)); NaN beside a constant column.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    correlations : ndarray of shape (d, d)

    Examples
    --------
    >>> correlation_matrix([[1, 2], [2, 4], [3, 6.0]]).round(12)
    array([[1., 1.],
           [1., 1.]])
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        covariance = covariance_matrix(rows, sample_weight)
    deviation = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(covariance / np.outer(deviation, deviation), -1.0, 1.0)


class Moments(NamedTuple):
    """A mean and a covariance.

    Attributes
    ----------
    mean : ndarray
    covariance : ndarray
    """

    mean: np.ndarray
    covariance: np.ndarray


def affine_moments(mean: ArrayLike, covariance: ArrayLike, A: ArrayLike, b: Any = 0.0) -> Moments:
    """Mean and covariance of A x + b: A mean + b and A C A'; A need not be square.

    Parameters
    ----------
    mean : array-like of shape (d,)
    covariance : array-like of shape (d, d)
    A : array-like of shape (m, d)
    b : array-like of shape (m,), default=0.0

    Returns
    -------
    moments : Moments

    Examples
    --------
    >>> affine_moments([1, 2], [[1, 0], [0, 4]], [[1, 1]], [3])
    Moments(mean=array([6.]), covariance=array([[5.]]))
    """
    A = np.atleast_2d(np.asarray(A, dtype=np.float64))
    mean, covariance = np.asarray(mean, dtype=np.float64), _covariance(covariance)
    if A.shape[1] != len(mean) or covariance.shape[0] != len(mean):
        raise DataError(f"A of shape {A.shape} does not fit {len(mean)} numbers")
    return Moments(A @ mean + np.asarray(b, dtype=np.float64), A @ covariance @ A.T)


class LinearMoments(NamedTuple):
    """Of two linear functions a'x and b'x.

    Attributes
    ----------
    variance, other_variance : float
        var(a'x), var(b'x).
    covariance : float
    correlation : float
    """

    variance: float
    other_variance: float
    covariance: float
    correlation: float


def linear_moments(covariance: ArrayLike, a: ArrayLike, b: ArrayLike) -> LinearMoments:
    """a'Ca, b'Cb, a'Cb and the correlation of a'x and b'x.

    Parameters
    ----------
    covariance : array-like of shape (d, d)
    a, b : array-like of shape (d,)

    Returns
    -------
    moments : LinearMoments

    Examples
    --------
    >>> linear_moments([[1, 0], [0, 4]], [1, 0], [1, 1]).variance
    1.0
    """
    covariance = _covariance(covariance)
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    one, other, both = (
        float(x) for x in (a @ covariance @ a, b @ covariance @ b, a @ covariance @ b)
    )
    scale = np.sqrt(one * other)
    return LinearMoments(one, other, both, both / scale if scale > 0 else np.nan)


def widest_direction(covariance: ArrayLike) -> tuple[np.ndarray, float]:
    """The unit vector a of the greatest var(a'x), and that variance: the first eigenvector.

    Parameters
    ----------
    covariance : array-like of shape (d, d)

    Returns
    -------
    direction : ndarray of shape (d,)
        With its greatest entry positive.
    variance : float

    Examples
    --------
    >>> widest_direction([[1, 0], [0, 4]])
    (array([0., 1.]), 4.0)
    """
    values, vectors = np.linalg.eigh(_covariance(covariance))
    direction = vectors[:, -1]
    sign = np.sign(direction[np.abs(direction).argmax()])
    return direction * sign + 0.0, float(values[-1])


def covariance_ellipse(
    mean: ArrayLike, covariance: ArrayLike, deviations: float = 1.0, n_points: int = 121
) -> np.ndarray:
    """Points at so many deviations from the mean of two numbers: semi-axes k sqrt(eigenvalue).

    `gnomon.evaluate.normal_mass` is the share of a normal distribution inside: 39% at one
    deviation.

    Parameters
    ----------
    mean : array-like of shape (2,)
    covariance : array-like of shape (2, 2)
    deviations : float, default=1.0
    n_points : int, default=121

    Returns
    -------
    points : ndarray of shape (n_points, 2)
        Closed: the last is the first.

    Examples
    --------
    >>> covariance_ellipse([0, 0], [[4, 0], [0, 1]], n_points=5).max(axis=0).round(6)
    array([2., 1.])
    """
    values, vectors = np.linalg.eigh(_covariance(covariance))
    angle = np.linspace(0, 2 * np.pi, n_points)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    shape = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean, dtype=np.float64) + deviations * (shape @ circle).T


def _rows(rows: ArrayLike) -> np.ndarray:
    rows = np.asarray(plain_numbers(rows, "rows"), dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        raise DataError(f"rows must be a table of finite numbers, not of shape {rows.shape}")
    return rows


def _covariance(matrix: ArrayLike) -> np.ndarray:
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a covariance matrix is square, not of shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
        raise DataError("a covariance matrix is symmetric")
    values = np.linalg.eigvalsh(matrix)
    if values[0] < -1e-8 * max(abs(values[-1]), abs(values[0])):
        raise DataError(f"a covariance matrix has no negative eigenvalue; here is {values[0]:.3g}")
    return matrix
