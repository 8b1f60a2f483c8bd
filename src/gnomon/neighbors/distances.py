"""Distances between rows: objects that learn what they need and compare rows in blocks.

Most distances of the texts are an L^p distance after a change of coordinates,

    d(a, b) = g(sum_j |u_j - v_j|^p),   u = coordinates(a), v = coordinates(b)

(dividing by deviations or ranges, one column per category, multiplying by a root of a matrix,
scaling rows to length one, points on a sphere), so that one search serves them all. Those that are
not (chi-square, the cosine ratio, a function of the user's) compare rows in pairs.

Texts: 000a 1.2, 6.3.1 · 000b 8.3.2 · 000c 14.3.4 · 003 2.2.1, 2.2.3 · 004 12.2, 13.2.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import DistanceMetric

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Array, DictOf, Flag, Number, Text, Whole
from gnomon.neighbors.kernels import add_chi_square, add_power_sums

EARTH_RADIUS = 6371.0088  # kilometres, mean of the three axes
NO_SPREAD = 1e-12  # an eigenvalue below this share of the largest is rounding
COLUMNS_TOGETHER = 512  # rows of a transposed block, which stays in the cache
# Cells of a temporary array: it stays in the cache, and the system clears no new pages for it
# (923 x 868 cells: 0.5 ms instead of 5).
CELLS_AT_ONCE = 2**16


class Distance:
    """What a search needs of a distance; a class gives `coordinates` or `pairwise`.

    ``fit`` learns from training rows what the distance depends on (ranges, deviations, means); rows
    of tables hold category codes in the columns of ``levels > 0``, and NaN where a cell is missing:
    a missing number counts as the column's mean, a missing or unseen category is half as far from
    each level as the levels are from each other, unless the class says otherwise.
    """

    _stored = {
        "fill": Array("f8", ("n_fill",)),
        "levels": Array("i8", ("n_fill",), low=0),
    }

    @property
    def is_metric(self) -> bool:
        """Whether it is zero for equal rows only, symmetric, and keeps the triangle inequality."""
        return True

    @property
    def exponent(self) -> float:
        """The p of the L^p sums between coordinates."""
        return 2.0

    @property
    def has_coordinates(self) -> bool:
        return True

    @property
    def takes_missing(self) -> bool:
        """Whether missing cells have a meaning of their own here, rather than the column's mean."""
        return False

    def fit(self, rows, levels: Any = None, weights: np.ndarray | None = None) -> Distance:
        """Learn from training rows.

        Parameters
        ----------
        rows : array-like of shape (n_rows, n_columns)
        levels : sequence of int, default=None
            Per column the number of categories, 0 for a column of numbers; None for numbers only.
        weights : ndarray of shape (n_rows,), default=None

        Returns
        -------
        self : Distance
        """
        if sp.issparse(rows):
            self.levels = np.zeros(rows.shape[1], np.int64)
            self.fill = np.zeros(rows.shape[1])
            return self
        rows = _numbers(rows)
        self.levels = np.zeros(rows.shape[1], np.int64) if levels is None else np.array(levels)
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        self.fill = _known_means(rows, weights, self.levels)
        self._learn(rows, weights)
        return self

    def _learn(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """What a class learns beyond the columns' means."""

    def coordinates(self, rows) -> np.ndarray:
        """Rows in coordinates between which L^p sums are taken, of shape (n_rows, n_coordinates)"""
        raise NotImplementedError(f"{type(self).__name__} has no coordinates")

    def finish(self, sums: np.ndarray) -> np.ndarray:
        """Distances from sums of |u_j - v_j|^p (from the largest |u_j - v_j| for infinite p)."""
        return np.sqrt(sums)

    def pairwise(self, one, other) -> np.ndarray:
        """Distance of every row of one block to every row of another.

        Parameters
        ----------
        one : array-like of shape (n, n_columns)
        other : array-like of shape (m, n_columns)

        Returns
        -------
        distances : ndarray of shape (n, m)
        """
        sums = power_sums(self.coordinates(one), self.coordinates(other), self.exponent)
        return self.finish(sums)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _filled(self, rows) -> np.ndarray:
        rows = self._checked(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isnan(rows.sum()):
                return rows
        missing = np.isnan(rows)
        return np.where(missing & (self.levels == 0), self.fill, rows) if missing.any() else rows

    def _checked(self, rows) -> np.ndarray:
        if not hasattr(self, "levels"):
            raise DataError(f"{self!r} has not seen training rows: call fit first")
        rows = _numbers(rows)
        if rows.shape[1] != len(self.levels):
            raise DataError(
                f"{type(self).__name__}: rows of {rows.shape[1]} columns cannot be compared with "
                f"rows of {len(self.levels)}; give rows of equal length"
            )
        return rows

    def _check_loaded(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.dtype.kind not in "fi":
                raise ValueError(f"{name} of {type(self).__name__} are not numbers")


@storable
class MinkowskiDistance(Distance):
    """(sum_j |(a_j - b_j) / s_j|^p)^(1/p), with 0 or 1 for equal or unequal categories.

    ``p`` = 1 is Manhattan, 2 Euclidean, infinity Chebyshev (the largest difference), 0 the number
    of unequal columns (Hamming). For p < 1 the triangle inequality fails; 003 finds such p helpful
    with many independent columns of unknown relevance. Only p = 2 does not change under rotation.

    ``units`` are the s_j: "none" (1: Euclid with Hamming, 003 2.2.1), "deviation" (the sample
    deviation with n - 1; for a category sum_v p_v (1 - p_v), the expected Hamming error) or "range"
    (largest less smallest training value). Columns that do not vary are left out of the latter two.

    Texts: 003 2.2.1 to 2.2.3 (its formula of L^p lacks the absolute value), 004 12.2. What 003
    Mahalanobis distance is ``units="deviation"``; with covariances it is `MahalanobisDistance`.

    Parameters
    ----------
    p : float, default=2
    units : {"none", "deviation", "range"}, default="none"
    w : array-like of shape (n_columns,), default=None
        Weights of the columns: ``sum_j w_j |a_j - b_j|^p``, as in SciPy.

    Examples
    --------
    >>> MinkowskiDistance(p=1).fit([[0, 0]]).pairwise([[0, 0]], [[3, 4]])
    array([[7.]])
    """

    _stored = {
        "p": Number(finite=False),
        "scale": Array("f8", (None,)),
        "units": Text(),
        "w": Array("f8", (None,)) | None,
    }

    def __init__(self, p: float = 2, units: str = "none", w: Any = None):
        if not p >= 0:
            raise DataError(f"the exponent p of an L^p distance is 0 or more, not {p}")
        if units not in ("none", "deviation", "range"):
            raise DataError(f"units are 'none', 'deviation' or 'range', not {units!r}")
        self.p = float(p)
        self.units = units
        self.w = None if w is None else np.asarray(w, dtype=np.float64)
        if self.w is not None and not (np.isfinite(self.w).all() and (self.w >= 0).all()):
            raise DataError("the weights w of the columns must be finite and not negative")

    def __repr__(self) -> str:
        return f"MinkowskiDistance(p={self.p:g}, units={self.units!r})"

    @property
    def is_metric(self) -> bool:
        return self.p >= 1 or self.p == 0

    @property
    def exponent(self) -> float:
        return self.p

    def _learn(self, rows, weights):
        self.scale = np.ones(rows.shape[1])
        if self.w is not None:
            if self.w.shape != self.scale.shape:
                raise DataError(
                    f"w has {len(self.w)} weights; the rows have {rows.shape[1]} columns"
                )
            with np.errstate(divide="ignore"):  # a column of weight zero is left out
                power = 0.0 if np.isinf(self.p) else 1.0 / max(self.p, 1e-300)
                self.scale = np.where(self.w > 0, 1.0 / self.w**power, 0.0)
        if self.units == "none":
            return
        for j, levels in enumerate(self.levels):
            known = ~np.isnan(rows[:, j])
            self.scale[j] = _spread(rows[known, j], weights[known], levels, self.units)

    def coordinates(self, rows):
        rows = self._filled(rows)
        varies = self.scale > 0
        scale = np.where(varies, self.scale, np.inf)
        if not (self.levels > 0).any():
            plain = self.units == "none" and self.w is None
            return np.ascontiguousarray(rows) if plain else rows / scale
        if self.p == 0:
            return np.where(np.isnan(rows), -1.0, rows)
        return one_column_per_level(rows, self.levels, 1.0 / scale, self._height())

    def _height(self) -> float:
        """What a level's column holds, such that two levels are one apart."""
        return 1.0 if np.isinf(self.p) else 2.0 ** (-1.0 / self.p)

    def finish(self, sums):
        if self.p == 2:
            return np.sqrt(sums)
        if self.p in (0, 1) or np.isinf(self.p):
            return sums
        return sums ** (1.0 / self.p)


@storable
class HammingDistance(MinkowskiDistance):
    """The number of columns in which two rows differ, or their share.

    Texts: 000c 14.3.4. For strings and other sequences see `hamming`.

    Parameters
    ----------
    scaled : bool, default=False
        Whether to divide by the number of columns.

    Examples
    --------
    >>> HammingDistance().fit([[0, 0, 1]]).pairwise([[0, 0, 1]], [[1, 0, 2]])
    array([[2.]])
    """

    _stored = {
        "scaled": Flag(),
    }

    def __init__(self, scaled: bool = False):
        super().__init__(p=0)
        self.scaled = bool(scaled)

    def __repr__(self) -> str:
        return f"HammingDistance(scaled={self.scaled})"

    def finish(self, sums):
        return sums / max(len(self.levels), 1) if self.scaled else sums


@storable
class MahalanobisDistance(Distance):
    """sqrt((a - b)' S^-1 (a - b)) with the covariance S of the training rows (divided by n).

    It does not change with the units of columns nor under any invertible linear map. Where S is
    singular, the directions without spread are left out (S^-1 is then the pseudo-inverse), and a
    warning says how many. "diagonal" keeps the variances only: Euclid in deviations.

    Texts: 004 13.2.

    Parameters
    ----------
    shape : {"full", "diagonal"}, default="full"

    Attributes
    ----------
    mean, covariance : ndarray
        Of the training rows.
    rank : int
        Directions in which they vary.

    Examples
    --------
    >>> distance = MahalanobisDistance().fit([[0, 0], [2, 0], [0, 2], [2, 2]])
    >>> distance.to_center([[3, 1]])
    array([2.])
    """

    _stored = {
        "covariance": Array("f8", ("n_covariance", "n_covariance")),
        "mean": Array("f8", ("n_covariance",)),
        "rank": Whole(),
        "root": Array("f8", ("n_covariance", None)),
        "scale": Array("f8", ("n_covariance",)),
        "shape": Text(),
    }

    def __init__(self, shape: str = "full"):
        if shape not in ("full", "diagonal"):
            raise DataError(f"the shape of the covariance is 'full' or 'diagonal', not {shape!r}")
        self.shape = shape

    def __repr__(self) -> str:
        return f"MahalanobisDistance(shape={self.shape!r})"

    def _learn(self, rows, weights):
        rows = self._plain(rows)
        total = weights.sum()
        low = rows.min(axis=0)
        self.mean = low + weights @ (rows - low) / total
        centered = rows - self.mean
        deviation = np.sqrt(weights @ centered**2 / total)
        constant = np.ptp(rows, axis=0) == 0
        self.scale = np.where(constant | (deviation == 0), np.inf, deviation)
        standard = centered / self.scale
        correlation = (standard * weights[:, None]).T @ standard / total
        if self.shape == "diagonal":
            correlation = np.diag(np.diag(correlation))
        finite = np.where(np.isinf(self.scale), 0.0, self.scale)
        self.covariance = correlation * np.outer(finite, finite)
        values, directions = np.linalg.eigh(correlation)
        kept = values > NO_SPREAD * max(values.max(initial=0.0), 1e-300) * len(values)
        self.rank = int(kept.sum())
        self.root = directions[:, kept] / np.sqrt(values[kept])
        if self.rank < len(values):
            warnings.warn(
                f"the covariance of the training rows is singular: {len(values) - self.rank} of "
                f"{len(values)} directions have no spread and are left out of the distance",
                GnomonWarning,
                stacklevel=3,
            )

    def _plain(self, rows):
        """Numbers for all columns, centred distances between categories being one."""
        rows = self._filled(rows)
        if (self.levels > 0).any():
            rows = one_column_per_level(rows, self.levels, np.ones(len(self.levels)), 0.5**0.5)
        return rows

    def coordinates(self, rows):
        return np.ascontiguousarray(((self._plain(rows) - self.mean) / self.scale) @ self.root)

    def to_center(self, rows) -> np.ndarray:
        """Distance of each row to the mean of the training rows.

        Parameters
        ----------
        rows : array-like of shape (n, n_columns)

        Returns
        -------
        distances : ndarray of shape (n,)
        """
        return np.sqrt((self.coordinates(rows) ** 2).sum(axis=1))


@storable
class QuadraticFormDistance(Distance):
    """sqrt((a - b)' M (a - b)) for a given symmetric M without negative eigenvalue.

    It is the Euclidean distance after x -> L x with M = L'L. M may be learnt elsewhere. With a
    zero eigenvalue different rows may have distance zero.

    Texts: 004 12.2, 17.1.4.

    Parameters
    ----------
    matrix : array-like of shape (n_columns, n_columns)

    Examples
    --------
    >>> QuadraticFormDistance([[4, 0], [0, 1]]).fit([[0, 0]]).pairwise([[0, 0]], [[1, 2]])
    array([[2.82842712]])
    """

    _stored = {
        "matrix": Array("f8", (None, None)),
        "root": Array("f8", (None, None)),
        "smallest_eigenvalue": Number(),
    }

    def __init__(self, matrix):
        matrix = _numbers(matrix)
        if matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise DataError(f"M is a square matrix of finite numbers, not of shape {matrix.shape}")
        size = float(np.abs(matrix).max(initial=0.0))
        if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-10 * size:
            raise DataError("M is not symmetric; take (M + M') / 2, which gives the same distances")
        values, directions = np.linalg.eigh((matrix + matrix.T) / 2)
        if values.min(initial=0.0) < -1e-10 * size:
            raise DataError(
                f"M is not positive semi-definite: its smallest eigenvalue is {values.min():.4g}, "
                "so that some squared distances would be negative. Add at least that much to the "
                "diagonal, or drop the negative eigenvalues"
            )
        self.matrix = matrix
        self.smallest_eigenvalue = float(values.min(initial=0.0))
        self.root = directions * np.sqrt(np.maximum(values, 0.0))

    def __repr__(self) -> str:
        return f"QuadraticFormDistance({self.matrix.shape[0]} x {self.matrix.shape[0]})"

    @property
    def is_metric(self) -> bool:
        return self.smallest_eigenvalue > 0

    def _learn(self, rows, weights):
        if (self.levels > 0).any():
            raise DataError("a quadratic form compares columns of numbers; encode categories first")
        if rows.shape[1] != len(self.matrix):
            raise DataError(f"M is for {len(self.matrix)} columns and rows have {rows.shape[1]}")

    def coordinates(self, rows):
        return np.ascontiguousarray(self._filled(rows) @ self.root)


class RowDirection(Distance):
    """1 - similarity, where the similarity is the cosine between rows after some centring.

    Between rows of length one, 1 - u'v = |u - v|^2 / 2: searches run on those. A row without
    direction (zero after centring) has similarity 0 to all others, and 1 to its like.
    """

    @property
    def is_metric(self) -> bool:
        return False

    def finish(self, sums):
        return sums / 2

    def similarity(self, one, other) -> np.ndarray:
        """Similarity between -1 and 1 of every row of one block and every row of another.

        Parameters
        ----------
        one : array-like of shape (n, n_columns)
        other : array-like of shape (m, n_columns)

        Returns
        -------
        similarity : ndarray of shape (n, m)
        """
        return 1.0 - self.pairwise(one, other)

    def _learn(self, rows, weights):
        if (self.levels > 0).any():
            raise DataError(
                f"{type(self).__name__} compares columns of numbers; encode categories first"
            )

    def _centered(self, rows) -> np.ndarray:
        raise NotImplementedError

    def coordinates(self, rows):
        return unit_rows(self._centered(rows))


@storable
class CosineDistance(RowDirection):
    """1 - a'b / (|a| |b|), for rows whose length says nothing (word counts).

    Sparse rows are taken by `pairwise` as they are. The squared distance of rows scaled to length
    one is 2 - 2 cos. Texts: 000a 6.3.1 (which  the similarity a distance), 003 2.2.3.2,
    004 12.2.

    Examples
    --------
    >>> CosineDistance().fit([[1, 0]]).similarity([[1, 0]], [[2, 0], [0, 3], [-1, 0]])
    array([[ 1.,  0., -1.]])
    """

    def _centered(self, rows):
        return self._filled(rows)

    def pairwise(self, one, other):
        if not (sp.issparse(one) or sp.issparse(other)):
            return super().pairwise(one, other)
        one, other = sp.csr_array(one, dtype=np.float64), sp.csr_array(other, dtype=np.float64)
        for each in (one, other):
            if each.shape[1] != len(self.levels):
                raise DataError(f"rows of {each.shape[1]} columns, {len(self.levels)} were learnt")
        lengths = [np.sqrt(np.asarray(each.multiply(each).sum(axis=1))) for each in (one, other)]
        products = np.asarray((one @ other.T).todense())
        both = np.outer(*lengths)
        similarity = np.divide(products, both, out=np.zeros_like(both), where=both > 0)
        similarity[np.ix_(lengths[0] == 0, lengths[1] == 0)] = 1.0
        return 1.0 - similarity


@storable
class AdjustedCosineDistance(RowDirection):
    """1 - cosine after subtracting the columns' means of the training rows; holes drop out.

    For ratings: how an item is usually rated is taken off. Texts: 003 2.2.3.2.

    Examples
    --------
    >>> AdjustedCosineDistance().fit([[1, 5], [3, 1]]).similarity([[1, 5]], [[3, 1]])
    array([[-1.]])
    """

    @property
    def takes_missing(self) -> bool:
        return True

    def _centered(self, rows):
        rows = self._checked(rows)
        return np.where(np.isnan(rows), 0.0, rows - self.fill)


@storable
class PearsonDistance(RowDirection):
    """1 - the correlation of two rows, a hole counting as the row's mean (it drops out).

    rho = sum (a_i - mean a)(b_i - mean b) over cells known in both, divided by the root of each
    row's own sum of squares over its known cells. A row of one known cell, or of equal ones, has no
    direction: rho is 0. Texts: 003 2.2.3.2 (0/0 is not treated there).

    Examples
    --------
    >>> nan = float("nan")
    >>> rho = PearsonDistance().fit([[1, 2, 3]]).similarity([[1, 2, 3]], [[2, nan, 6], [4, 4, nan]])
    >>> rho.round(3)
    array([[1., 0.]])
    """

    @property
    def takes_missing(self) -> bool:
        return True

    def _centered(self, rows):
        rows = self._checked(rows)
        known = ~np.isnan(rows)
        counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
        low = np.where(known, rows, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        high = np.where(known, rows, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        shifted = np.where(known & (high > low), rows - np.where(np.isinf(low), 0.0, low), 0.0)
        mean = shifted.sum(axis=1, keepdims=True) / counts
        return np.where(known & (high > low), shifted - mean, 0.0)


@storable
class CosineRatioDistance(Distance):
    """|a| |b| / (eps + a'b): small for rows of one direction, for non-negative rows.

    With eps = 0 it is 1 / cos, infinite for rows without a common column. Texts: 004 12.2 (where
    negative products, which make it negative, are not excluded; here negative cells are refused).

    Parameters
    ----------
    eps : float, default=1e-9

    Examples
    --------
    >>> CosineRatioDistance(eps=0).fit([[1, 1]]).pairwise([[1, 1]], [[2, 2], [1, 0]]).round(4)
    array([[1.    , 1.4142]])
    """

    _stored = {
        "eps": Number(),
    }

    def __init__(self, eps: float = 1e-9):
        if not eps >= 0:
            raise DataError(f"eps is zero or more, not {eps}")
        self.eps = float(eps)

    @property
    def is_metric(self) -> bool:
        return False

    @property
    def has_coordinates(self) -> bool:
        return False

    def _learn(self, rows, weights):
        _require_histograms(rows, self.levels, type(self).__name__, sums=True)

    def pairwise(self, one, other):
        one, other = self._filled(one), self._filled(other)
        for rows in (one, other):
            _require_histograms(rows, self.levels, type(self).__name__, sums=True)
        lengths = np.outer(np.sqrt((one**2).sum(axis=1)), np.sqrt((other**2).sum(axis=1)))
        with np.errstate(divide="ignore"):
            return lengths / (self.eps + one @ other.T)


@storable
class ChiSquareDistance(Distance):
    """sum_k (h_k - g_k)^2 / (h_k + g_k) between histograms, 0/0 being 0; at most 2.

    Rows are divided by their sums first unless ``normalize=False``. There is no factor of a half.
    It is no metric (its square root is). Texts: 000b 8.3.2 (used and not written out there; its
    table tops out at 2).

    Parameters
    ----------
    normalize : bool, default=True

    Examples
    --------
    >>> ChiSquareDistance().fit([[1, 1]]).pairwise([[1, 1]], [[2, 2], [1, 0]]).round(4)
    array([[0.    , 0.6667]])
    """

    _stored = {
        "normalize": Flag(),
    }

    def __init__(self, normalize: bool = True):
        self.normalize = bool(normalize)

    @property
    def is_metric(self) -> bool:
        return False

    @property
    def has_coordinates(self) -> bool:
        return False

    def _learn(self, rows, weights):
        self._shares(rows)

    def _shares(self, rows) -> np.ndarray:
        rows = self._filled(rows)
        _require_histograms(rows, self.levels, type(self).__name__, sums=self.normalize)
        return rows / rows.sum(axis=1, keepdims=True) if self.normalize else rows

    def pairwise(self, one, other):
        one, other = self._shares(one), self._shares(other)
        found = np.zeros((len(one), len(other)))
        add_chi_square(np.ascontiguousarray(one), np.ascontiguousarray(other), found)
        return found


@storable
class GreatCircleDistance(Distance):
    """Distance along the surface of a sphere between points of latitude and longitude.

    Coordinates are the points on the unit sphere; the arc is 2 R asin(chord / 2), exact also for
    near points. The earth is flattened by 1/300: expect errors of up to half a per cent. Texts: 004
    12.2 (a mention).

    Parameters
    ----------
    radius : float, default=6371.0088
        Kilometres for the earth.
    degrees : bool, default=True
        Whether columns are in degrees; radians otherwise.

    Examples
    --------
    >>> paris, berlin = [48.8566, 2.3522], [52.52, 13.405]
    >>> GreatCircleDistance().fit([paris]).pairwise([paris], [berlin]).round()
    array([[877.]])
    """

    _stored = {
        "degrees": Flag(),
        "radius": Number(),
    }

    def __init__(self, radius: float = EARTH_RADIUS, degrees: bool = True):
        self.radius = float(radius)
        self.degrees = bool(degrees)

    def _learn(self, rows, weights):
        self._radians(rows)

    def _radians(self, rows) -> np.ndarray:
        rows = self._filled(rows)
        if rows.shape[1] != 2 or (self.levels > 0).any():
            raise DataError(
                "a great circle needs two columns of numbers, latitude and longitude; there are "
                f"{rows.shape[1]}"
            )
        rows = np.radians(rows) if self.degrees else rows
        beyond = np.abs(rows[:, 0]) > np.pi / 2 * (1 + 1e-12)
        if beyond.any():
            raise DataError(
                f"row {int(beyond.argmax())} has a latitude beyond the poles: the first column is "
                "the latitude, in " + ("degrees" if self.degrees else "radians")
            )
        return rows

    def coordinates(self, rows):
        latitude, longitude = self._radians(rows).T
        level = np.cos(latitude)
        return np.column_stack(
            [level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)]
        )

    def finish(self, sums):
        return 2 * self.radius * np.arcsin(np.minimum(np.sqrt(sums) / 2, 1.0))


class FunctionDistance(Distance):
    """Any function of two rows.

    Parameters
    ----------
    function : callable
        ``function(a, b, **arguments)`` gives a number that is zero or more.
    is_metric : bool, default=False
        Whether it keeps the triangle inequality, so that a ball tree may be used.
    arguments : dict, default=None
        Further arguments of the function.

    Examples
    --------
    >>> FunctionDistance(lambda a, b: abs(a[0] - b[0])).fit([[0]]).pairwise([[1]], [[4]])
    array([[3.]])
    """

    def __init__(
        self,
        function: Callable[..., float],
        is_metric: bool = False,
        arguments: dict[str, Any] | None = None,
    ):
        self.function = function
        self.keeps_triangles = bool(is_metric)
        self.arguments = arguments or {}

    @property
    def is_metric(self) -> bool:
        return self.keeps_triangles

    @property
    def has_coordinates(self) -> bool:
        return False

    def pairwise(self, one, other):
        if not (sp.issparse(one) or sp.issparse(other)):
            one, other = self._filled(one), self._filled(other)
        found = np.empty((one.shape[0], other.shape[0]))
        for i in range(one.shape[0]):
            for j in range(other.shape[0]):
                found[i, j] = self.function(
                    one[[i]] if sp.issparse(one) else one[i],
                    other[[j]] if sp.issparse(other) else other[j],
                    **self.arguments,
                )
        if not (found >= 0).all():
            raise DataError(
                "the distance function gave a negative number or NaN; a distance is zero or more"
            )
        return found


@storable
class PrecomputedDistance(Distance):
    """Distances that are given: a row holds the distances to all training rows.

    Missing pairs (NaN) are infinitely far apart. Texts: 004 12.2.
    """

    @property
    def is_metric(self) -> bool:
        return False

    @property
    def has_coordinates(self) -> bool:
        return False

    @property
    def takes_missing(self) -> bool:
        return True

    def _learn(self, rows, weights):
        if rows.shape[0] != rows.shape[1]:
            raise DataError(
                f"precomputed distances form a square table, not one of shape {rows.shape}"
            )
        self._distances(rows)

    def _distances(self, rows) -> np.ndarray:
        rows = self._checked(rows)
        if (rows < 0).any():
            row, column = np.argwhere(rows < 0)[0]
            raise DataError(f"the distance in row {row}, column {column} is negative")
        return np.where(np.isnan(rows), np.inf, rows)

    def pairwise(self, one, other):
        return self._distances(one)


@storable
class NamedDistance(Distance):
    """A distance that scikit-learn's `pairwise_distances` computes, by its name.

    For distances without a class of their own here ("canberra", "jaccard", "nan_euclidean" ...) and
    for sparse rows, which stay sparse.

    Parameters
    ----------
    name : str
        One of `PAIRWISE_NAMES`.
    arguments : dict, default=None
        Further arguments of the distance, as SciPy names them.

    Examples
    --------
    >>> NamedDistance("canberra").fit([[1.0, 2.0]]).pairwise([[1.0, 2.0]], [[3.0, 2.0]])
    array([[0.5]])
    """

    _stored = {
        "arguments": DictOf(Anything()),
        "name": Text(),
    }

    def __init__(self, name: str, arguments: dict[str, Any] | None = None):
        if name not in PAIRWISE_NAMES:
            raise DataError(
                f"there is no distance {name!r}; there are: {', '.join(PAIRWISE_NAMES)}"
            )
        self.name = name
        self.arguments = dict(arguments or {})

    def __repr__(self) -> str:
        return f"NamedDistance({self.name!r})"

    @property
    def is_metric(self) -> bool:
        return self.name in TREE_NAMES

    @property
    def has_coordinates(self) -> bool:
        return False

    @property
    def takes_missing(self) -> bool:
        return self.name == "nan_euclidean"

    def _learn(self, rows, weights):
        if (self.levels > 0).any():
            raise DataError(f"{self.name!r} compares columns of numbers; encode categories first")

    def _known(self, rows):
        if sp.issparse(rows) or self.takes_missing:
            return rows
        rows = self._filled(rows)
        return rows.astype(bool) if self.name in BOOLEAN_NAMES else rows

    def pairwise(self, one, other):
        from sklearn.metrics import pairwise_distances  # slow to import

        one, other = self._known(one), self._known(other)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the conversion to booleans, which is meant
            return pairwise_distances(one, other, metric=self.name, **self.arguments)


def _named(name: str, **arguments: Any) -> NamedDistance:
    return NamedDistance(name, arguments)


BOOLEAN_NAMES = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
TREE_NAMES = ("braycurtis", "canberra", *BOOLEAN_NAMES[:-1])  # scikit-learn's ball tree takes them
PAIRWISE_NAMES = (*TREE_NAMES, "yule", "sqeuclidean", "nan_euclidean", "euclidean", "manhattan")
NAMES: dict[str, Callable[..., Distance]] = {
    "euclidean": MinkowskiDistance,
    "minkowski": MinkowskiDistance,
    "manhattan": lambda w=None: MinkowskiDistance(p=1, w=w),
    "chebyshev": lambda: MinkowskiDistance(p=np.inf),
    "standardized": lambda: MinkowskiDistance(units="deviation"),
    "seuclidean": lambda V=None: (
        MinkowskiDistance(units="deviation")
        if V is None
        else MinkowskiDistance(w=1.0 / np.asarray(V, dtype=np.float64))
    ),
    "range": lambda: MinkowskiDistance(units="range"),
    "hamming": lambda: HammingDistance(scaled=True),
    "mahalanobis": lambda V=None, VI=None: (
        MahalanobisDistance()
        if V is None and VI is None
        else QuadraticFormDistance(np.linalg.inv(V) if VI is None else VI)
    ),
    "cosine": CosineDistance,
    "adjusted_cosine": AdjustedCosineDistance,
    "pearson": PearsonDistance,
    "chi_square": ChiSquareDistance,
    "great_circle": GreatCircleDistance,
    "haversine": lambda: GreatCircleDistance(radius=1.0, degrees=False),
    "precomputed": PrecomputedDistance,
    **{name: partial(_named, name) for name in PAIRWISE_NAMES[:-2]},
}
SYNONYMS = {
    "l2": "euclidean",
    "p": "minkowski",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "correlation": "pearson",
}


def distance_of(metric: Any, p: float = 2, metric_params: dict[str, Any] | None = None) -> Distance:
    """A fresh distance of a name, of a `Distance` or of a function of two rows.

    Parameters
    ----------
    metric : str, Distance, DistanceMetric of scikit-learn, or callable
        A name of scikit-learn or SciPy ("minkowski", "euclidean", "manhattan", "chebyshev",
        "seuclidean", "hamming", "mahalanobis", "cosine", "correlation", "haversine", "canberra",
        "jaccard", "nan_euclidean", "precomputed" ...), or one of our own: "standardized" (columns
        divided by their deviation), "range" (by their range), "adjusted_cosine", "pearson",
        "chi_square", "great_circle".
    p : float, default=2
        Power of "minkowski".
    metric_params : dict, default=None
        Further arguments: ``w`` of "minkowski", ``V`` of "seuclidean", ``VI`` of "mahalanobis",
        those of a function.

    Returns
    -------
    distance : Distance
        Not fitted.

    Examples
    --------
    >>> distance_of("manhattan")
    MinkowskiDistance(p=1, units='none')
    """
    arguments = dict(metric_params or {})
    if isinstance(metric, Distance):
        return copy.deepcopy(metric)
    if isinstance(metric, DistanceMetric):
        return distance_of_object(metric)
    if callable(metric):
        return FunctionDistance(metric, arguments=arguments)
    name = SYNONYMS.get(metric, metric)
    if name not in NAMES:
        raise DataError(f"there is no distance {metric!r}; there are: {', '.join(NAMES)}")
    if name == "minkowski":
        arguments.setdefault("p", p)
    try:
        return NAMES[name](**arguments)
    except TypeError as error:
        raise DataError(
            f"metric_params={metric_params!r} does not fit {metric!r}: {error}"
        ) from None


def distance_of_object(metric: DistanceMetric) -> Distance:
    """The distance that an object of scikit-learn's ``DistanceMetric`` computes."""
    power, weights, _ = metric.__getstate__()
    kind = type(metric).__name__.rstrip("3264").removesuffix("Distance")
    if kind in ("Euclidean", "Manhattan", "Chebyshev", "Minkowski"):
        w = weights if kind == "Minkowski" and len(weights) else None
        return MinkowskiDistance(power, w=w)
    return FunctionDistance(_by_object, arguments={"metric": metric})


def _by_object(one: np.ndarray, other: np.ndarray, metric: DistanceMetric) -> float:
    return float(metric.pairwise(one[None, :], other[None, :])[0, 0])


def sparse_distance_of(metric: Any, p: float = 2, metric_params: Any = None) -> Distance:
    """The distance for sparse rows, which only some distances take.

    Parameters
    ----------
    metric : str, Distance or callable
    p : float, default=2
    metric_params : dict, default=None

    Returns
    -------
    distance : Distance
    """
    distance = distance_of(metric, p, metric_params)
    if isinstance(distance, (CosineDistance, FunctionDistance, NamedDistance)):
        return distance
    plain = type(distance) is MinkowskiDistance and distance.units == "none" and distance.w is None
    if plain and distance.p in (1, 2):
        return NamedDistance("euclidean" if distance.p == 2 else "manhattan")
    raise ValueError(
        f"Metric {metric!r} not valid for sparse input: use 'euclidean', 'manhattan', 'cosine', a "
        "function, or make the rows dense"
    )


def hamming(one, other, scaled: bool = False) -> float:
    """The number of places in which two sequences differ, or their share.

    Parameters
    ----------
    one, other : str or sequence
        Of equal length.
    scaled : bool, default=False
        Whether to divide by the length.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> hamming("karolin", "kathrin")
    3.0
    """
    one, other = list(one), list(other)
    if len(one) != len(other):
        raise DataError(
            f"sequences of {len(one)} and {len(other)} places have no Hamming distance; pad the "
            "shorter, or use an edit distance"
        )
    found = float(sum(a != b for a, b in zip(one, other)))
    return found / len(one) if scaled and one else found


def power_sums(one: np.ndarray, other: np.ndarray, p: float) -> np.ndarray:
    """sum_j |u_j - v_j|^p for every row of one block and every row of another.

    Their largest term for infinite p, the number of unequal coordinates for p = 0.

    Parameters
    ----------
    one : ndarray of shape (n, d)
    other : ndarray of shape (m, d)
    p : float

    Returns
    -------
    sums : ndarray of shape (n, m)
    """
    found = np.zeros((len(one), len(other)))
    one = np.ascontiguousarray(one)
    for start in range(0, len(other), COLUMNS_TOGETHER):
        block = np.ascontiguousarray(other[start : start + COLUMNS_TOGETHER].T)
        add_power_sums(one, block, float(p), start, found)
    return found


def one_column_per_level(
    rows: np.ndarray, levels: np.ndarray, factors: np.ndarray, height: float
) -> np.ndarray:
    """Numbers times their factors; a category as one column per level, zeros where it is missing.

    Two levels of a category are two columns apart by ``factor * height`` each.
    """
    parts = []
    for j, n_levels in enumerate(levels):
        column = rows[:, j : j + 1]
        if n_levels:
            parts.append(factors[j] * height * (column == np.arange(n_levels)))
        else:
            parts.append(column * factors[j])
    return np.hstack(parts) if parts else np.empty((len(rows), 0))


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length one, and a column that is one for rows that are zero."""
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    zero = size == 0
    rows = rows / np.where(zero, 1.0, size)
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.hstack([rows / np.where(zero, 1.0, length), zero])


def _numbers(rows) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"rows form a table of two dimensions, not of {rows.ndim}")
    return rows


def rows_per_strip(n_columns: int) -> int:
    """Rows that are worked on at once where temporary arrays shall stay small."""
    return max(CELLS_AT_ONCE // max(n_columns, 1), 16)


def _known_means(rows, weights, levels) -> np.ndarray:
    """Means of the cells that are known; 0 of categories."""
    shift = np.nan_to_num(rows[:1].sum(axis=0))
    mass, sums = np.zeros((2, rows.shape[1]))
    size = rows_per_strip(rows.shape[1])
    for start in range(0, len(rows), size):
        here = slice(start, start + size)
        shifted = rows[here] - shift
        total = weights[here] @ shifted
        if np.isfinite(total).all():
            mass += weights[here].sum()
        else:
            known = ~np.isnan(shifted)
            shifted[~known] = 0.0
            mass += weights[here] @ known
            total = weights[here] @ shifted
        sums += total
    means = shift + sums / np.where(mass > 0, mass, 1.0)
    return np.where((np.asarray(levels) > 0) | (mass == 0), 0.0, means)


def _spread(values: np.ndarray, weights: np.ndarray, levels: int, units: str) -> float:
    """What a column's differences are divided by; 0 where it does not vary."""
    if levels:
        if units == "range":
            return 1.0
        shares = np.bincount(values.astype(np.int64), weights, minlength=levels)
        shares = shares / max(shares.sum(), 1e-300)
        return float(shares @ (1 - shares))
    if len(values) == 0 or values.min() == values.max():
        return 0.0
    if units == "range":
        return float(values.max() - values.min())
    shifted = values - values.min()
    top = shifted.max()
    shifted = shifted / top
    total = weights.sum()
    mean = weights @ shifted / total
    freedom = total - 1 if total > 1 else total
    return float(top * np.sqrt(weights @ (shifted - mean) ** 2 / freedom))


def _require_histograms(rows, levels, name: str, sums: bool) -> None:
    if (np.asarray(levels) > 0).any():
        raise DataError(f"{name} compares columns of numbers; encode categories first")
    if (rows < 0).any():
        row, column = np.argwhere(rows < 0)[0]
        raise DataError(
            f"{name} is for counts and shares: row {row}, column {column} holds "
            f"{rows[row, column]:g}"
        )
    empty = rows.sum(axis=1) == 0
    if sums and empty.any():
        raise DataError(f"{name}: row {int(empty.argmax())} holds zeros only; leave it out")
