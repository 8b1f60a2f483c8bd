"""Exact bounds for k-means: the triangle inequality saves most distances, and changes no result.

A row keeps its centre a, at distance u, when no other centre can be nearer. Two reasons suffice:
every other centre is at least 2u away from a; or the row's stored lower bound of the distance to
the others, less what they have moved since, is still above u. Hamerly keeps one bound per row,
Elkan one per row and centre. The distance u itself is computed afresh in each pass: the objective
needs it anyway.

References: Elkan (2003), Hamerly (2010).
"""

from __future__ import annotations

import numpy as np

from gnomon.cluster.nearest import Centres, Nearest, find_nearest, squared_distance
from gnomon.engine.kernel import kernel
from gnomon.engine.sums import Chunk

SLACK = 1.0 + 1e-9


class HamerlyBounds:
    """One lower bound per row; rows that fail it are compared with all centres by a matrix product.

    Parameters
    ----------
    n_rows : int
    n_centres : int
    """

    def __init__(self, n_rows: int, n_centres: int):
        self.found = Nearest.of(n_rows)
        self.before: np.ndarray | None = None

    def begin_pass(self, centres: Centres) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass."""
        self.first = self.before is None
        if self.before is not None:
            self.movement = most_other_movement(movement(self.before, centres.points))
            self.half_gap = half_gaps(centres.points).min(axis=1)
        self.before = centres.points

    def nearest(self, chunk: Chunk, centres: Centres) -> Nearest:
        """Label and squared distance of each row of a chunk."""
        here = slice(chunk.start, chunk.stop)
        found = Nearest(*(entry[here] for entry in self.found))
        if self.first:
            return find_nearest(chunk.rows, centres, found)
        unsure = np.empty(len(chunk.rows), np.int64)
        count = keep_by_one_bound(
            chunk.rows,
            centres.points,
            self.half_gap,
            self.movement,
            *found,
            unsure,
        )
        return find_nearest(chunk.rows, centres, found, unsure[:count])


class ElkanBounds:
    """One lower bound per row and centre; only centres that fail theirs are compared.

    Parameters
    ----------
    n_rows : int
    n_centres : int
    """

    def __init__(self, n_rows: int, n_centres: int):
        self.labels = np.zeros(n_rows, np.int32)
        self.lower = np.zeros((n_rows, n_centres))
        self.before: np.ndarray | None = None

    def begin_pass(self, centres: Centres) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass."""
        before = centres.points if self.before is None else self.before
        self.movement = movement(before, centres.points)
        self.half_gap = half_gaps(centres.points)
        self.before = centres.points

    def nearest(self, chunk: Chunk, centres: Centres) -> Nearest:
        """Label and squared distance of each row of a chunk."""
        labels = self.labels[chunk.start : chunk.stop]
        lower = self.lower[chunk.start : chunk.stop]
        squared = np.empty(len(labels))
        nearest_by_many_bounds(
            chunk.rows,
            centres.points,
            self.half_gap,
            self.movement,
            lower,
            labels,
            squared,
        )
        return Nearest(labels, squared, lower)


def movement(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far each centre has moved."""
    return np.sqrt(((after - before) ** 2).sum(axis=1))


def half_gaps(centres: np.ndarray) -> np.ndarray:
    """Half the distance between every two centres; infinite from a centre to itself."""
    gaps = np.empty((len(centres), len(centres)))
    for c, centre in enumerate(centres):
        gaps[c] = 0.5 * np.sqrt(((centres - centre) ** 2).sum(axis=1))
        gaps[c, c] = np.inf
    return gaps


def most_other_movement(movement: np.ndarray) -> np.ndarray:
    """For each centre the largest movement among the others."""
    most = np.full(len(movement), movement.max())
    if len(movement) > 1:
        first = movement.argmax()
        most[first] = np.delete(movement, first).max()
    return most


@kernel(
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "f8[:]",
    "out i4[:]",
    "out f8[:]",
    "out f8[:]",
    "out i8[:]",
)
def keep_by_one_bound(rows, points, half_gap, movement, labels, squared, lower, unsure):
    """Keep the labels that a bound proves; put the positions of the others in `unsure`.

    rows (n, d), points (k, d), half_gap and movement (k,), labels, squared, lower, unsure (n,).
    Returns how many are unsure.
    """
    count = 0
    for i in range(len(rows)):
        own = labels[i]
        squared[i] = squared_distance(rows[i], points[own])
        lower[i] -= movement[own]
        bound = max(lower[i], half_gap[own])
        if bound <= 0.0 or squared[i] * SLACK >= bound * bound:
            unsure[count] = i
            count += 1
    return count


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "f8[:]", "out f8[:,:]", "out i4[:]", "out f8[:]")
def nearest_by_many_bounds(rows, centres, half_gap, movement, lower, labels, squared):
    """Elkan's assignment. rows (n, d), centres (k, d), half_gap (k, k), lower (n, k)."""
    k = len(centres)
    for i in range(len(rows)):
        own = labels[i]
        least = squared_distance(rows[i], centres[own])
        distance = np.sqrt(least) * SLACK
        for c in range(k):
            lower[i, c] -= movement[c]
            if c == own or lower[i, c] > distance or half_gap[own, c] > distance:
                continue
            other = squared_distance(rows[i], centres[c])
            lower[i, c] = np.sqrt(other)
            if other < least or (other == least and c < own):
                lower[i, own] = np.sqrt(least)
                own, least = c, other
                distance = np.sqrt(least) * SLACK
        labels[i] = own
        squared[i] = least
