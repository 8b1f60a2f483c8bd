"""Can a map of rows be trusted? Which neighbours it invents, which it loses, how distances fit.

Venna and Kaski (2001): a map is trustworthy where the neighbours that it shows are neighbours, and
continuous where neighbours are shown as such; both are one at best, and about one half for points
thrown at random. Kruskal's stress is the root of the squared differences of distances over those of
the rows, after the best scale: zero at best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.engine.errors import DataError

NEIGHBORS = 12  # judgement: the neighborhood that an eye takes in on a map
BLOCK = 256  # judgement: distances of 256 rows at a time: 4 MB for a map of 2,000 rows


class MapQuality(NamedTuple):
    """How far a map can be trusted, with 95% intervals over rows.

    Attributes
    ----------
    trustworthiness : Estimate
        Share of shown neighbours that are neighbours, the worse the farther they are.
    continuity : Estimate
        Share of neighbours that are shown as such.
    stress : Estimate
        Kruskal's stress of the distances.
    invented, lost : ndarray of shape (n,)
        One less trustworthiness and continuity of every row: which points not to believe.
    """

    trustworthiness: Estimate
    continuity: Estimate
    stress: Estimate
    invented: np.ndarray
    lost: np.ndarray


def map_quality(points: np.ndarray, places: np.ndarray, n_neighbors: int = NEIGHBORS) -> MapQuality:
    """Compare the neighbours and distances of rows with those of their places on a map.

    Distances of a block of rows to all others are held at a time.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    places : ndarray of shape (n, 2)
    n_neighbors : int, default=12
        Fewer where there are fewer than twice as many rows.

    Returns
    -------
    quality : MapQuality

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> quality = map_quality(rows, 3 * rows)
    >>> quality.trustworthiness.value, round(quality.stress.value, 6)
    (1.0, 0.0)
    """
    n = len(points)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1:
        raise DataError(f"a map of {n} rows has no neighbours to compare; give three or more")
    worst = k * (2 * n - 3 * k - 1) / 2
    invented, lost = np.empty(n), np.empty(n)
    products, squares = np.empty(n), np.empty(n)
    own = np.empty(n)
    for start in range(0, n, BLOCK):
        block = slice(start, min(start + BLOCK, n))
        true, shown = cdist(points[block], points), cdist(places[block], places)
        lines = np.arange(len(true))
        products[block], squares[block] = (true * shown).sum(axis=1), (shown**2).sum(axis=1)
        own[block] = (true**2).sum(axis=1)
        for distances in (true, shown):
            distances[lines, start + lines] = -1.0  # a row is its own nearest
        of_true, of_shown = ranks(true), ranks(shown)
        invented[block] = excess(of_true, of_shown, k) / worst
        lost[block] = excess(of_shown, of_true, k) / worst
    scale = products.sum() / squares.sum() if squares.sum() > 0 else 0.0
    missed = own - 2 * scale * products + scale**2 * squares
    stress = mean_interval(missed)
    total = own.mean() or 1.0
    ends = np.sqrt(np.maximum([stress.value, stress.low, stress.high], 0.0) / total)
    slope = 1 / (2 * np.sqrt(max(stress.value * total, 1e-300)))
    value, low, high = ends.tolist()
    return MapQuality(
        mean_interval(1 - invented),
        mean_interval(1 - lost),
        Estimate(value, low, high, 0.95, float(stress.error * slope), "root of a mean"),
        invented,
        lost,
    )


def ranks(distances: np.ndarray) -> np.ndarray:
    """Rank of every column in each line, by distance; the row itself is the zeroth."""
    order = np.argsort(distances, axis=1, kind="stable")
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.arange(order.shape[1])[None, :], axis=1)
    return found


def excess(ranks_there: np.ndarray, ranks_here: np.ndarray, k: int) -> np.ndarray:
    """By how much the k nearest here are farther than the k-th there, summed by line."""
    near = (ranks_here >= 1) & (ranks_here <= k)
    return np.where(near, np.maximum(ranks_there - k, 0), 0).sum(axis=1).astype(float)
