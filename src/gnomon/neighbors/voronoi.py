"""Voronoi cells: the part of the plane that is nearer to each point than to any other.

Texts: 000a 1.2 · 004 2.1, 12.3 (pictures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.errors import DataError


@dataclass(frozen=True)
class VoronoiCells:
    """The cells of points within a box.

    Attributes
    ----------
    points : ndarray of shape (n, 2)
        Different points.
    copies : ndarray of int of shape (n_given,)
        For each point that was given, its place among `points`.
    polygons : list of ndarray of shape (n_corners, 2)
        The corners of each cell, in turn.
    box : ndarray of shape (2, 2)
        Lower and upper corner.
    """

    points: np.ndarray
    copies: np.ndarray
    polygons: list[np.ndarray]
    box: np.ndarray

    @property
    def areas(self) -> np.ndarray:
        """The area of each cell; they sum to that of the box."""
        return np.array([polygon_area(polygon) for polygon in self.polygons])


def voronoi_cells(points, box=None, margin: float = 0.1) -> VoronoiCells:
    """The regions of one nearest neighbour in the plane, cut to a box.

    Each cell starts as the box and is cut by the line half-way to every other point, nearest
    first, until the rest are too far to matter. Points at one place share a cell.

    Parameters
    ----------
    points : array-like of shape (n, 2)
    box : array-like of shape (2, 2), default=None
        Lower and upper corner; None for what holds the points and a margin.
    margin : float, default=0.1
        Share of the extent of the points that is added on each side.

    Returns
    -------
    cells : VoronoiCells

    Examples
    --------
    >>> cells = voronoi_cells([[0, 0], [1, 0]], box=[[-1, -1], [3, 1]])
    >>> cells.areas
    array([3., 5.])
    """
    given = np.asarray(points, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or not len(given) or not np.isfinite(given).all():
        raise DataError("Voronoi cells need points of two finite coordinates")
    different, copies = np.unique(given, axis=0, return_inverse=True)
    if box is None:
        extent = np.ptp(different, axis=0)
        extent = np.where(extent > 0, extent, max(extent.max(), 1.0))
        box = np.array([different.min(axis=0), different.max(axis=0)])
        box = box + np.array([[-1], [1]]) * margin * extent
    box = np.asarray(box, dtype=np.float64)
    if box.shape != (2, 2) or not (box[1] > box[0]).all():
        raise DataError("the box is its lower and its upper corner")
    polygons = [_cell(i, different, box) for i in range(len(different))]
    return VoronoiCells(different, copies.reshape(-1), polygons, box)


def polygon_area(corners: np.ndarray) -> float:
    """The area of a polygon of the given corners."""
    if len(corners) < 3:
        return 0.0
    x, y = (corners - corners[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _cell(i: int, points: np.ndarray, box: np.ndarray) -> np.ndarray:
    (left, bottom), (right, top) = box
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    away = np.sqrt(((points - points[i]) ** 2).sum(axis=1))
    for j in np.argsort(away, kind="stable"):
        if j == i:
            continue
        if len(corners) == 0:
            return np.empty((0, 2))
        reach = np.sqrt(((corners - points[i]) ** 2).sum(axis=1)).max()
        if away[j] > 2 * reach:
            break
        normal = (points[j] - points[i]) / away[j]
        corners = _cut(corners, normal, normal @ (points[i] + points[j]) / 2)
    return corners


def _cut(corners: np.ndarray, normal: np.ndarray, level: float) -> np.ndarray:
    """The part of a convex polygon where normal'x is at most a level."""
    beyond = corners @ normal - level
    kept = []
    for k in range(len(corners)):
        here, there = beyond[k], beyond[(k + 1) % len(corners)]
        if here <= 0:
            kept.append(corners[k])
        if (here < 0 < there) or (there < 0 < here):
            share = here / (here - there)
            kept.append(corners[k] + share * (corners[(k + 1) % len(corners)] - corners[k]))
    return np.array(kept).reshape(-1, 2)
