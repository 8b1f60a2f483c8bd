"""Densities by counting what lies near: k-nearest neighbours and boxes.

k-nearest neighbours: f(x) = k / (n V_d r_k(x)^d), r_k the distance to the k-th nearest row, V_d the
volume of the unit ball. Boxes: f(x) = share of the rows in the box of x over its volume; d columns
of b bins have b^d boxes, nearly all of them empty.

Texts: 001 19.2.4 · 000a 4.2.2 (boxes) · 004 5.5 (histogram).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from scipy.special import gammaln

from gnomon.contract.estimate import checked_weights
from gnomon.contract.numbers import plain_numbers
from gnomon.engine.errors import DataError, GnomonWarning

MANY_EMPTY = 0.5  # judgement: with most boxes empty, the others hold few rows each


def log_ball_volume(d: int) -> float:
    """log of the volume of the unit ball of d dimensions, pi^(d/2) / Gamma(d/2 + 1).

    Parameters
    ----------
    d : int

    Returns
    -------
    log_volume : float

    Examples
    --------
    >>> import numpy as np
    >>> [round(float(np.exp(log_ball_volume(d))), 6) for d in (1, 2, 3)]
    [2.0, 3.141593, 4.18879]
    """
    return float(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1))


@dataclass(frozen=True, eq=False)
class NearestNeighborDensity:
    """k-nearest-neighbour density: adapts its width to the data; does not integrate to one.

    Use it to see where rows are dense; not where a true density is needed (its tails fall too
    slowly, and its integral is infinite).

    Parameters
    ----------
    rows : array-like of shape (n,) or (n, d)
    n_neighbors : int, default=5
    count_self : bool, default=True
        Whether a row of the data counts itself among its neighbours when it is asked about.

    Examples
    --------
    >>> density = NearestNeighborDensity([1, 2, 2.5, 4, 7], n_neighbors=3)
    >>> density([2.0]).round(4)
    array([0.3])
    >>> NearestNeighborDensity([1, 2, 2.5, 4, 7], 3, count_self=False)([2.0]).round(4)
    array([0.15])
    """

    rows: Any
    n_neighbors: int = 5
    count_self: bool = True
    _tree: Any = field(init=False, repr=False)

    def __post_init__(self):
        rows = _as_rows(self.rows)
        if not 1 <= self.n_neighbors <= len(rows) - (not self.count_self):
            raise DataError(f"n_neighbors={self.n_neighbors} of {len(rows)} rows cannot be")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "_tree", KDTree(rows))

    def log_density(self, at: ArrayLike) -> np.ndarray:
        """log f at places, of shape (m,) or (m, d); infinite where k rows lie at the place."""
        at = _as_rows(at, self.rows.shape[1])
        more = 0 if self.count_self else 1
        apart = self._tree.query(at, k=self.n_neighbors + more)[0].reshape(len(at), -1)
        k = self.n_neighbors - 1
        reach = apart[:, k]
        if more:
            reach = np.where(apart[:, 0] == 0, apart[:, k + 1], reach)
        n, d = self.rows.shape
        with np.errstate(divide="ignore"):
            return np.log(self.n_neighbors / n) - log_ball_volume(d) - d * np.log(reach)

    def __call__(self, at: ArrayLike) -> np.ndarray:
        """f at places."""
        return np.exp(self.log_density(at))


@dataclass(frozen=True, eq=False)
class HistogramDensity:
    """Share of the rows in each box over its volume; made by `histogram_density`.

    Attributes
    ----------
    edges : list of ndarray
        Of the bins of each column.
    boxes : ndarray of int of shape (n_held, d)
        Boxes that hold rows; the others are not stored.
    shares : ndarray of shape (n_held,)
    """

    edges: list[np.ndarray]
    boxes: np.ndarray
    shares: np.ndarray

    @property
    def n_boxes(self) -> float:
        """Number of boxes, b^d: a float, as it may be huge."""
        return float(np.prod([float(len(edges) - 1) for edges in self.edges]))

    @property
    def empty_share(self) -> float:
        """Share of the boxes that hold no row."""
        return 1.0 - len(self.boxes) / self.n_boxes

    def density(self, at: ArrayLike) -> np.ndarray:
        """f at places, zero in empty boxes and outside."""
        at = _as_rows(at, len(self.edges))
        codes = np.stack([_bins(at[:, j], edges) for j, edges in enumerate(self.edges)], axis=1)
        known = {tuple(box): share for box, share in zip(self.boxes.tolist(), self.shares)}
        share = np.array([known.get(tuple(code), 0.0) for code in codes.tolist()])
        inside = (codes >= 0).all(axis=1)
        widths = np.ones(len(at))
        for j, edges in enumerate(self.edges):
            widths *= np.diff(edges)[np.maximum(codes[:, j], 0)]
        return np.where(inside, share / widths, 0.0)

    def log_density(self, at: ArrayLike) -> np.ndarray:
        """log f at places."""
        with np.errstate(divide="ignore"):
            return np.log(self.density(at))


def histogram_density(
    rows: ArrayLike, bins: Any = "auto", sample_weight: ArrayLike | None = None
) -> HistogramDensity:
    """A histogram of one or several columns as a density.

    Warns where more than half of the boxes are empty, which is the rule from a few columns on:
    describe the rows by groups then (a mixture, or centres with their counts).

    Parameters
    ----------
    rows : array-like of shape (n,) or (n, d)
    bins : str, int or sequence of array-like, default="auto"
        A rule of NumPy's for each column, a number of bins, or the edges of every column.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    density : HistogramDensity

    Examples
    --------
    >>> found = histogram_density([0.0, 0.5, 1.0, 3.0], [[0, 1, 4]])
    >>> found.density([0.2, 2.0, 9.0])
    array([0.5       , 0.16666667, 0.        ])
    """
    rows = _as_rows(rows)
    weights = checked_weights(sample_weight, len(rows))
    weights = np.ones(len(rows)) if weights is None else weights
    if isinstance(bins, (str, Integral)):
        edges = [np.histogram_bin_edges(column, bins) for column in rows.T]
    else:
        edges = [np.asarray(each, dtype=np.float64) for each in bins]
    if len(edges) != rows.shape[1] or any((np.diff(each) <= 0).any() for each in edges):
        raise DataError(f"bins must be rising edges for each of {rows.shape[1]} columns")
    codes = np.stack([_bins(rows[:, j], each) for j, each in enumerate(edges)], axis=1)
    if (codes < 0).any():
        row, column = (int(i) for i in np.argwhere(codes < 0)[0])
        raise DataError(f"row {row}, column {column} lies outside of the edges: widen them")
    boxes, which = np.unique(codes, axis=0, return_inverse=True)
    total = np.bincount(which.ravel(), weights)
    found = HistogramDensity(edges, boxes, total / total.sum())
    if rows.shape[1] > 1 and found.empty_share > MANY_EMPTY:
        warnings.warn(
            f"{found.empty_share:.0%} of {found.n_boxes:,.0f} boxes are empty: the histogram says "
            "little. Take fewer bins or columns, or describe the rows by groups",
            GnomonWarning,
            stacklevel=2,
        )
    return found


def _bins(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each value, -1 outside; the last bin holds its right edge."""
    codes = np.searchsorted(edges, values, side="right") - 1
    codes = np.where(values == edges[-1], len(edges) - 2, codes)
    return np.where((codes >= 0) & (codes < len(edges) - 1), codes, -1)


def _as_rows(rows: ArrayLike, d: int | None = None) -> np.ndarray:
    rows = np.asarray(plain_numbers(rows, "rows"), dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        raise DataError(f"rows must be a table of finite numbers, not of shape {rows.shape}")
    if d is not None and rows.shape[1] != d:
        raise DataError(f"rows have {rows.shape[1]} columns; the density has {d}")
    return rows
