"""Convex hulls and the distances of sets.

The hull of rows is all their mixtures sum_i a_i x_i with a_i >= 0, sum_i a_i = 1 (barycentric
coordinates). Two hulls are disjoint exactly where a plane separates the rows, and the widest margin
is half of the hulls' distance: the plane stands across the shortest line between them.

    min  1/2 |sum_i y_i a_i x_i|^2,   sums of a over each class 1,  a >= 0

is the same kind of programme as a nu machine's, and `working_set` solves it. The dual a of the hard
margin are these times 2 / |v_H|^2, the canonical normal is 2 v_H / |v_H|^2.

Texts: 002 L645-699, L819-888.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.margin.hyperplane import Hyperplane
from gnomon.margin.kernels import Linear, as_rows
from gnomon.margin.working_set import Programme, solve

MOST_QHULL_COLUMNS = 6  # Qhull's facets grow as n^(d/2); linear programmes take over
CLOSE = 1e-9  # share of the extent below which the solver's tolerance is all there is


def two_sides(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The two labels of y in order, and -1 or +1 of each row."""
    y = np.asarray(y)
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) != 2:
        raise DataError(f"y must hold two classes, and it holds {len(labels)}")
    return labels, np.where(codes.ravel() == 1, 1.0, -1.0)


@dataclass
class NearestPoints(Result):
    """The shortest line between two hulls.

    Attributes
    ----------
    distance : float
    first, second : ndarray of shape (d,)
        The nearest point of each hull.
    first_weights, second_weights : ndarray
        Their barycentric coordinates.
    """

    distance: float
    first: np.ndarray
    second: np.ndarray
    first_weights: np.ndarray
    second_weights: np.ndarray

    def _title(self) -> str:
        return f"Hulls at distance {self.distance:.6g}"

    def _columns(self) -> dict[str, list]:
        return {
            "column": list(range(len(self.first))),
            "first": self.first.tolist(),
            "second": self.second.tolist(),
        }


def set_distance(one: Any, other: Any, *, hulls: bool = False) -> float:
    """Least distance of two sets of points, of their rows or of their convex hulls.

    d(A, B) = min |a - b|. A single point is a set of one row; for the distance of points from a
    plane see `Hyperplane.signed_distance`. Texts: 002 L685-699, L819-827.

    Parameters
    ----------
    one, other : array-like of shape (n, d) and (m, d)
    hulls : bool, default=False
        Whether all mixtures of the rows belong to the sets.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> from gnomon.margin import set_distance
    >>> square = [[0, 0], [0, 2], [2, 0], [2, 2]]
    >>> round(set_distance([[3, 1]], square), 6)
    1.414214
    >>> round(set_distance([[3, 1]], square, hulls=True), 6)
    1.0
    """
    one, other = as_rows(one), as_rows(other)
    if one.shape[1] != other.shape[1]:
        raise DataError(f"points of {one.shape[1]} and {other.shape[1]} columns have no distance")
    if hulls:
        return nearest_points(one, other).distance
    block = max(2**22 // max(len(other), 1), 1)
    return float(min(cdist(one[k : k + block], other).min() for k in range(0, len(one), block)))


def nearest_points(one: Any, other: Any, *, tol: float = 1e-10) -> NearestPoints:
    """The nearest points of two convex hulls.

    Parameters
    ----------
    one, other : array-like of shape (n, d) and (m, d)
    tol : float, default=1e-10
        Accuracy, as a share of the squared extent of the rows.

    Returns
    -------
    nearest : NearestPoints

    Examples
    --------
    >>> from gnomon.margin import nearest_points
    >>> found = nearest_points([[0, 0], [1, 0], [0, 1]], [[3, 3], [4, 3], [3, 4]])
    >>> round(found.distance, 6), found.first.round(6).tolist()
    (3.535534, [0.5, 0.5])
    """
    one, other = as_rows(one), as_rows(other)
    rows = np.vstack([one, other])
    center = rows.mean(axis=0)
    extent = float(np.abs(rows - center).max())
    unit = (rows - center) / (extent if extent > 0 else 1.0)
    sign = np.repeat([-1.0, 1.0], [len(one), len(other)])
    n = len(rows)
    start = np.zeros(n)
    start[[0, len(one)]] = 1.0
    programme = Programme(
        np.arange(n),
        sign,
        np.zeros(n),
        np.ones(n),
        (sign > 0).astype(np.int64),
        start,
    )
    solution = solve(programme, Linear(), unit, tol=tol, max_steps=10**7)
    weights_one, weights_other = solution.alpha[: len(one)], solution.alpha[len(one) :]
    first, second = weights_one @ one, weights_other @ other
    distance = float(np.linalg.norm(second - first))
    if distance <= CLOSE * max(extent, 1e-300):
        distance = 0.0
    return NearestPoints(distance, first, second, weights_one, weights_other)


@dataclass
class HullMargin(Result):
    """The plane of widest margin, from the nearest points of two hulls.

    Attributes
    ----------
    nearest : NearestPoints
        Of the hull of the first class and of the second.
    classes : ndarray of shape (2,)
    alpha : ndarray of shape (n,)
        Barycentric coordinates of the rows; those of each class sum to one.
    plane : Hyperplane
        Canonical: y (<x, v> + b) = 1 at the support vectors. Its `threshold` is the text's c.
    hull_normal : ndarray of shape (d,)
        v_H, from the first to the second nearest point.
    hull_threshold : float
        c* = (max <v_H, x> over the first class + min <v_H, x> over the second) / 2.
    margin : float
        Half of the distance of the hulls, 1 / |v|.
    """

    nearest: NearestPoints
    classes: np.ndarray
    alpha: np.ndarray
    plane: Hyperplane
    hull_normal: np.ndarray
    hull_threshold: float
    margin: float

    @property
    def dual_alpha(self) -> np.ndarray:
        """The a of the hard-margin dual, 2 / |v_H|^2 times the barycentric ones."""
        return self.alpha * 2 / float(self.hull_normal @ self.hull_normal)

    @property
    def support(self) -> np.ndarray:
        """Positions of the rows with a coordinate above zero."""
        return np.flatnonzero(self.alpha > CLOSE)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self.classes[(self.plane.score(X) >= 0).astype(np.int64)]

    def _title(self) -> str:
        return f"Margin {self.margin:.6g} between two hulls; {len(self.support)} support vectors"

    def _columns(self) -> dict[str, list]:
        return {
            "column": list(range(len(self.hull_normal))),
            "v": self.plane.normal.tolist(),
            "v_H": self.hull_normal.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [f"c = {self.plane.threshold:.6g}; c* = {self.hull_threshold:.6g} beside v_H"]


def hull_margin(X: Any, y: Any) -> HullMargin:
    """The widest margin between two classes, as the nearest points of their convex hulls.

    Use it to see what a hard margin is; `hard_margin` and ``SVC(C=numpy.inf)`` find the same plane.
    An error where the hulls meet, since no plane separates the classes then. Texts: 002 L829-888.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes; the second in order is the positive one.

    Returns
    -------
    margin : HullMargin

    Examples
    --------
    >>> from gnomon.margin import hull_margin
    >>> X = [[0, 0], [1, 0], [0, 1], [3, 3], [4, 3], [3, 4]]
    >>> found = hull_margin(X, [0, 0, 0, 1, 1, 1])
    >>> round(found.margin, 6), found.plane.normal.round(6).tolist()
    (1.767767, [0.4, 0.4])
    """
    X = as_rows(X)
    classes, sign = two_sides(y)
    negative, positive = np.flatnonzero(sign < 0), np.flatnonzero(sign > 0)
    nearest = nearest_points(X[negative], X[positive])
    if nearest.distance == 0:
        raise DataError(
            "the hulls of the two classes meet, so that no plane separates them: use a machine "
            "with slack (SVC, LinearSVC); gnomon.margin.separability shows a point in common"
        )
    alpha = np.zeros(len(X))
    alpha[negative], alpha[positive] = nearest.first_weights, nearest.second_weights
    normal = nearest.second - nearest.first
    scores = X @ normal
    threshold = float(scores[negative].max() + scores[positive].min()) / 2
    square = float(normal @ normal)
    plane = Hyperplane.from_threshold(2 * normal / square, 2 * threshold / square)
    margin = nearest.distance / 2
    return HullMargin(nearest, classes, alpha, plane, normal, threshold, margin)


@dataclass
class Hull:
    """The convex hull of rows.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    extreme : ndarray of int
        Positions of the extreme points: those that are no mixture of others.
    """

    points: np.ndarray
    extreme: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def corners(self) -> np.ndarray:
        """The extreme points."""
        return self.points[self.extreme]

    def coordinates(self, x: Any) -> np.ndarray | None:
        """Barycentric coordinates of a point over the extreme points; None outside the hull."""
        return mixture(self.corners, np.asarray(x, dtype=np.float64))

    def contains(self, X: Any) -> np.ndarray:
        """Which rows lie in the hull."""
        return np.array([self.coordinates(x) is not None for x in as_rows(X)])


def mixture(points: np.ndarray, x: np.ndarray) -> np.ndarray | None:
    """Weights a >= 0 of sum one with sum_i a_i points_i = x, by a linear programme; else None."""
    scale = np.maximum(np.ptp(points, axis=0), np.finfo(np.float64).tiny)
    center = points.mean(axis=0)
    equalities = np.vstack([((points - center) / scale).T, np.ones(len(points))])
    right = np.append((x - center) / scale, 1.0)
    if np.abs(right[:-1]).max(initial=0.0) > 1e6:
        return None
    found = linprog(np.zeros(len(points)), A_eq=equalities, b_eq=right, method="highs")
    if found.status != 0:
        return None
    weights = np.maximum(found.x, 0.0)
    return weights / weights.sum()


def convex_hull(X: Any) -> Hull:
    """The convex hull of rows: extreme points, membership, barycentric coordinates.

    By Qhull up to six columns; beyond, or where all rows lie in a plane, one linear programme per
    row says whether it is extreme. Texts: 002 L645-683.

    Parameters
    ----------
    X : array-like of shape (n, d)

    Returns
    -------
    hull : Hull

    Examples
    --------
    >>> from gnomon.margin import convex_hull
    >>> hull = convex_hull([[0, 0], [2, 0], [0, 2], [0.5, 0.5]])
    >>> hull.extreme.tolist(), hull.contains([[1, 1], [2, 2]]).tolist()
    ([0, 1, 2], [True, False])
    >>> hull.coordinates([0.5, 0.5]).round(6).tolist()
    [0.5, 0.25, 0.25]
    """
    X = as_rows(X)
    if not len(X):
        raise DataError("a hull needs a row at least")
    return Hull(X, _extreme(X))


def _extreme(X: np.ndarray) -> np.ndarray:
    _, first = np.unique(X, axis=0, return_index=True)
    first = np.sort(first)
    if X.shape[1] == 1:
        ends = {int(first[X[first, 0].argmin()]), int(first[X[first, 0].argmax()])}
        return np.array(sorted(ends), dtype=np.int64)
    if 1 < X.shape[1] <= MOST_QHULL_COLUMNS and len(first) > X.shape[1] + 1:
        try:
            return np.sort(first[ConvexHull(X[first]).vertices]).astype(np.int64)
        except QhullError:
            pass  # all rows in a plane: the linear programmes below take them
    kept = list(first)
    for place in first:
        others = [k for k in kept if k != place]
        if others and mixture(X[others], X[place]) is not None:
            kept = others
    return np.array(kept, dtype=np.int64)
