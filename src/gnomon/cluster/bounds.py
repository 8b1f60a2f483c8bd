"""Exact bounds for k-means: the triangle inequality saves most distances, and changes no result.

A row keeps its centre a, at distance u, when no other centre can be nearer. Two reasons suffice:
every other centre is at least 2u away from a; or the row's stored lower bound of the distance to
the others, less what they have moved since, is still above u. Hamerly keeps an upper bound of u and
one lower bound per row, Elkan one lower bound per row and centre.

References: Elkan (2003), Hamerly (2010).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.cluster.nearest import Centres, Nearest, nearest_of, squared_distance
from gnomon.cluster.sums import ClusterSums, add_to_clusters, cluster_sums
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.sums import Chunk

SLACK = 1.0 + 1e-9
# Rows up to which every pass adds all of them anew, so that not one bit depends on the bounds.
FEW_ROWS = 5000
# Centres beyond which not every pass measures how far they are from each other.
FEW_CENTRES = 64
CENTRES_TOGETHER = 64
# The objective as a share of the squares around the mean below which their difference would show
# rounding, so that it is summed from distances.
LEAST_SHARE = 1e-4
# What a pass does: compare and add all rows; add all rows, compare by bounds; add changes only,
# with the distance of every row; add changes, and look only at rows whose bounds fail.
ALL_ROWS, ALL_SUMS, ALL_DISTANCES, CHANGES = range(4)


class HamerlyBounds:
    """Two bounds per row: of the distance to its centre, and to all others.

    Rows that fail them are compared with all centres by a matrix product; the others are not even
    looked at. So sums of clusters are kept from pass to pass and only what changes is added, as
    long as no cluster has lost so much that rounding could show (`Ledger`). Gaps between many
    centres are measured at passes 1, 2, 4, 8 ...; in between they shrink by what centres moved.

    Parameters
    ----------
    n_rows : int
    n_centres : int
    """

    def __init__(self, n_rows: int, n_centres: int):
        self.labels = np.zeros(n_rows, np.int32)
        self.upper, self.lower = np.full(n_rows, np.inf), np.zeros(n_rows)
        self.before: np.ndarray | None = None
        self.half_gap = np.zeros(n_centres)
        self.passes = 0
        self.ledger = Ledger(n_rows > FEW_ROWS)

    def begin_pass(self, centres: Centres, exact: bool = False) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass."""
        before = centres.points if self.before is None else self.before
        moved = movement(before, centres.points)
        self.moved, self.others_moved = moved, most_other_movement(moved)
        self.passes += 1
        if len(moved) <= FEW_CENTRES or self.passes.bit_count() == 1:
            self.half_gap = half_gaps(centres)
        else:
            self.half_gap = self.half_gap - 0.5 * (moved + self.others_moved)
        self.mode = ALL_ROWS if self.before is None else self.ledger.mode
        if exact and self.mode == CHANGES:
            self.mode = ALL_DISTANCES
        self.before = centres.points

    def sums(self, chunk: Chunk, centres: Centres) -> Changes:
        """Find the nearest centre of each row of a chunk, and add up what changes."""
        here = slice(chunk.start, chunk.stop)
        changes = Changes.zeros(centres)
        objective = pass_by_two_bounds(
            chunk.rows,
            chunk.weights,
            *centres,
            self.mode,
            self.half_gap,
            self.moved,
            self.others_moved,
            self.labels[here],
            self.upper[here],
            self.lower[here],
            changes.gained,
            changes.left,
            changes.weight,
            changes.total,
        )
        return changes._replace(objective=objective)

    def end_pass(self, centres: Centres, changes: Changes) -> ClusterSums:
        """The sums of all rows after a pass."""
        return self.ledger.book(centres, changes, self.mode)

    @property
    def rounded(self) -> bool:
        """Whether the objective of the last pass shows rounding, so that it must be summed anew."""
        return self.mode == CHANGES and self.ledger.small


class Changes(NamedTuple):
    """What a pass adds to each cluster, or its sums where all rows are added anew.

    Rows gained less rows lost, rows lost, weight, weighted sum less the shift; and the objective,
    where distances of all rows are known.
    """

    gained: np.ndarray
    left: np.ndarray
    weight: np.ndarray
    total: np.ndarray
    objective: float

    @classmethod
    def zeros(cls, centres: Centres) -> Changes:
        """Nothing added yet."""
        k = len(centres.points)
        return cls(np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(centres.points.shape), 0.0)


class Ledger:
    """The sums of clusters, kept by adding changes, and how the next pass is to be made.

    Parameters
    ----------
    keeps : bool
        False: every pass adds all rows anew.
    """

    def __init__(self, keeps: bool):
        self.keeps = keeps
        self.mode = ALL_SUMS
        self.scatter = 0.0
        self.small = False

    def book(self, centres: Centres, changes: Changes, mode: int) -> ClusterSums:
        """Take the changes of a pass in; the sums of all rows with these centres."""
        if mode in (ALL_ROWS, ALL_SUMS):
            self.count, self.weight, self.total = changes.gained, changes.weight, changes.total
            self.held, self.left = changes.gained, np.zeros(len(changes.gained))
        else:
            self.count = self.count + changes.gained
            self.weight = np.where(self.count > 0, self.weight + changes.weight, 0.0)
            self.total = self.total + changes.total
            self.left = self.left + changes.left
        objective = changes.objective
        explained = self._explained(centres)
        if mode == CHANGES:
            objective = self.scatter - explained
        else:
            self.scatter = objective + explained
        self.small = objective <= LEAST_SHARE * self.scatter
        self.mode = self._next_mode()
        return ClusterSums(self.weight, self.total, objective)

    def _explained(self, centres: Centres) -> float:
        """Sum of squares around the shift less that around the centres."""
        shifted = -0.5 * centres.factors
        return float(2 * (shifted * self.total).sum() - self.weight @ centres.squares)

    def _next_mode(self) -> int:
        if not self.keeps or (2 * self.left > self.held).any():
            return ALL_SUMS
        return ALL_DISTANCES if self.small else CHANGES


class ElkanBounds:
    """One lower bound per row and centre; only centres that fail theirs are compared.

    Parameters
    ----------
    n_rows : int
    n_centres : int
    """

    rounded = False

    def __init__(self, n_rows: int, n_centres: int):
        self.labels = np.zeros(n_rows, np.int32)
        self.lower = np.zeros((n_rows, n_centres))
        self.before: np.ndarray | None = None

    def begin_pass(self, centres: Centres, exact: bool = False) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass."""
        before = centres.points if self.before is None else self.before
        self.movement = movement(before, centres.points)
        self.half_gaps = half_gaps_of_pairs(centres.points)
        self.before = centres.points

    def sums(self, chunk: Chunk, centres: Centres) -> ClusterSums:
        """Find the nearest centre of each row of a chunk, and add the rows up by centre."""
        labels = self.labels[chunk.start : chunk.stop]
        lower = self.lower[chunk.start : chunk.stop]
        squared = np.empty(len(labels))
        nearest_by_many_bounds(
            chunk.rows,
            centres.points,
            self.half_gaps,
            self.movement,
            lower,
            labels,
            squared,
        )
        return cluster_sums(chunk, centres, Nearest(labels, squared, lower))

    def end_pass(self, centres: Centres, sums: ClusterSums) -> ClusterSums:
        """The sums of all rows after a pass."""
        return sums


def movement(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far each centre has moved."""
    return np.sqrt(((after - before) ** 2).sum(axis=1))


def half_gaps_of_pairs(centres: np.ndarray) -> np.ndarray:
    """Half the distance between every two centres; infinite from a centre to itself."""
    gaps = np.empty((len(centres), len(centres)))
    fill_half_gaps(centres, gaps)
    return gaps


def half_gaps(centres: Centres) -> np.ndarray:
    """Half the distance from each centre to the nearest other one, or a little less."""
    gaps = np.empty(len(centres.points))
    fill_least_half_gaps(centres.factors, centres.squares, gaps)
    return gaps


def most_other_movement(movement: np.ndarray) -> np.ndarray:
    """For each centre the largest movement among the others."""
    first = movement.argmax()
    most = np.full(len(movement), movement[first])
    if len(movement) > 1:
        most[first] = np.partition(movement, -2)[-2]
    return most


@kernel("f8[:,:]", "out f8[:,:]")
def fill_half_gaps(centres, gaps):
    """Half the distance between every two centres. centres (k, d), gaps (k, k)."""
    for c in range(len(centres)):
        gaps[c, c] = np.inf
        for other in range(c):
            gap = 0.5 * np.sqrt(squared_distance(centres[c], centres[other]))
            gaps[c, other] = gaps[other, c] = gap


@kernel("f8[:,:]", "f8[:]", "out f8[:]")
def fill_least_half_gaps(factors, squares, gaps):
    """Half the distance from each centre to the nearest other, by products of matrices.

    Less what rounding of the products may have added. factors (k, d), squares, gaps (k,).
    """
    k, d = factors.shape
    rounding = 4.0 * (d + 8) * 2.3e-16
    longest = np.sqrt(squares.max())
    products = np.empty((min(k, CENTRES_TOGETHER), k))
    for start in range(0, k, CENTRES_TOGETHER):
        some = factors[start : start + CENTRES_TOGETHER]
        block = products[: len(some)]
        np.dot(some, factors.T, block)
        for i in range(len(some)):
            c = start + i
            least = np.inf
            for other in range(k):
                gap = squares[other] - 0.5 * block[i, other]
                if other != c and gap < least:
                    least = gap
            least += squares[c] - rounding * (np.sqrt(squares[c]) + longest) ** 2
            gaps[c] = 0.5 * np.sqrt(least) if least > 0.0 else 0.0


@subkernel
def keep_by_two_bounds(
    rows, points, mode, half_gap, moved, others_moved, labels, upper, lower, squared, unsure
):
    """Keep the labels that bounds prove; put the positions of the others in `unsure`.

    A failing upper bound is first replaced by the distance itself; in a loop of its own, so that
    the processor fetches several of these rows at a time. rows (n, d), points (k, d), half_gap,
    moved, others_moved (k,), the rest (n,). Returns how many are unsure.
    """
    failing = 0
    for i in range(len(labels)):
        own = labels[i]
        lower[i] -= others_moved[own]
        upper[i] += moved[own]
        unsure[failing] = i
        if mode != CHANGES or not upper[i] * SLACK < max(lower[i], half_gap[own]):
            failing += 1
    count = 0
    for each in range(failing):
        i = unsure[each]
        own = labels[i]
        squared[i] = squared_distance(rows[i], points[own])
        upper[i] = np.sqrt(squared[i])
        unsure[count] = i
        if not upper[i] * SLACK < max(lower[i], half_gap[own]):
            count += 1
    return count


@kernel(
    "f8[:,:]",
    "f8[:]",
    "f8[:,:]",
    "f8[:]",
    "f8[:,:]",
    "f8[:]",
    "i8",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "out i4[:]",
    "out f8[:]",
    "out f8[:]",
    "out f8[:]",
    "out f8[:]",
    "out f8[:]",
    "out f8[:,:]",
)
def pass_by_two_bounds(
    rows,
    weights,
    points,
    shift,
    factors,
    squares,
    mode,
    half_gap,
    moved,
    others_moved,
    labels,
    upper,
    lower,
    gained,
    left,
    weight,
    total,
):
    """A pass over a chunk: labels by bounds or, where these fail, by all distances; and the sums.

    rows (n, d), weights (n,), points and factors (k, d), shift (d,), squares, half_gap, moved,
    others_moved (k,), labels, upper, lower (n,), gained, left, weight (k,), total (k, d). Returns
    the objective, or zero where only changes are added.
    """
    n, d = rows.shape
    unsure, squared = np.arange(n), np.empty(n)
    count = n
    if mode != ALL_ROWS:
        count = keep_by_two_bounds(
            rows, points, mode, half_gap, moved, others_moved, labels, upper, lower, squared, unsure
        )
    unsure = unsure[:count]
    before = labels[unsure]
    nearest_of(rows, unsure, points, shift, factors, squares, labels, squared, lower)
    for each in range(count):
        i = unsure[each]
        upper[i] = np.sqrt(squared[i])
    if mode in (ALL_ROWS, ALL_SUMS):
        for i in range(n):
            gained[labels[i]] += 1.0
        return add_to_clusters(rows, weights, shift, labels, squared, weight, total)
    for each in range(count):
        i = unsure[each]
        old, new = before[each], labels[i]
        if old == new:
            continue
        gained[old] -= 1.0
        gained[new] += 1.0
        left[old] += 1.0
        weight[old] -= weights[i]
        weight[new] += weights[i]
        for j in range(d):
            part = weights[i] * (rows[i, j] - shift[j])
            total[old, j] -= part
            total[new, j] += part
    objective = 0.0
    if mode == ALL_DISTANCES:
        for i in range(n):
            objective += weights[i] * squared[i]
    return objective


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
