"""Exact bounds for k-means: the triangle inequality saves most distances, and changes no result.

A row keeps its centre a, at distance u, when no other centre can be nearer. Two reasons suffice:
every other centre is at least 2u away from a; or the row's stored lower bound of the distance to
the others, less what they have moved since, is still above u. Hamerly keeps an upper bound of u and
one lower bound per row, Elkan one lower bound per row and centre.

References: Elkan (2003), Hamerly (2010).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.cluster.nearest import Centers, Nearest, nearest_of, squared_distance
from gnomon.cluster.sums import ClusterSums, add_to_clusters, cluster_sums
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.sums import Chunk

SLACK = 1.0 + 1e-9  # far above the rounding of a distance, so that no bound is too tight
# What rounding of long sums of movements leaves of them for sure.
ROUNDED_DOWN = 1.0 - 1e-12
# Rows up to which every pass adds all of them anew, so that not one bit depends on the bounds.
FEW_ROWS = 5000
# Centres beyond which not every pass measures how far they are from each other.
FEW_CENTERS = 64
CENTERS_TOGETHER = 64
# Centres from which on it pays to compare rows with those alone that have moved, where these are a
# third of them at most: it is exact, but does not tighten bounds as a comparison with all does.
MANY_CENTERS = 32
# First passes, in which bounds hold for few rows; and how many later ones are made together where
# calling them one by one would cost as much as they do.
FIRST_PASSES, TOGETHER = 3, 16
# The objective as a share of the squares around the mean below which their difference would show
# rounding, so that it is summed from distances.
LEAST_SHARE = 1e-4
# Rows whose distance to their own centre is measured before it is seen whether that pays.
TRIED = 64
# What a pass does: compare and add all rows; add all rows with their distances, compare by bounds;
# add all rows, and measure only those whose bounds fail; add changes only, with the distance of
# every row; add changes, and look only at rows whose bounds fail.
ALL_ROWS, ALL_SUMS, SUMS_BY_BOUNDS, ALL_DISTANCES, CHANGES = range(5)


class HamerlyBounds:
    """Two bounds per row: of the distance to its centre, and to all others.

    Rows that fail them are compared with all centres by a matrix product; the others are not even
    looked at. So sums of clusters are kept from pass to pass and only what changes is added, as
    long as no cluster has lost so much that rounding could show (`Ledger`). Gaps between many
    centres are measured at passes 1, 2, 4, 8 ...; in between they shrink by what centres moved.

    Where few centres have moved, most rows that fail need be compared with those alone.

    Nothing is written for a row whose bounds hold: by how much its lower bound exceeds the upper
    one is kept as a mark on the way that its centre and the others go together, which it can pass
    unseen until they have come as far as that (`spent`).

    Parameters
    ----------
    n_rows : int
    n_centers : int
    """

    def __init__(self, n_rows: int, n_centers: int):
        labels = np.zeros(n_rows, np.int32)
        self.marks = Marks(labels, np.full(n_rows, -np.inf), np.zeros(n_rows), np.empty(n_rows))
        self.before: np.ndarray | None = None
        self.way = np.zeros((5, n_centers))  # see `take_movement`
        self.passes = 0
        self.ledger = Ledger(n_rows > FEW_ROWS)
        self.ahead: list[Ahead] = []

    def begin_pass(self, centers: Centers, exact: bool = False, anew: bool = False) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass.

        exact: the objective is summed from distances; anew: and all rows are added.
        """
        before = centers.points if self.before is None else self.before
        self.passes += 1
        measured = len(before) <= FEW_CENTERS or self.passes.bit_count() == 1
        move_on(
            before,
            centers.points,
            centers.factors,
            centers.squares,
            measured,
            self.way,
        )
        self.mode = ALL_ROWS if self.before is None else self.ledger.mode
        if exact and self.mode in (CHANGES, SUMS_BY_BOUNDS):
            self.mode = ALL_DISTANCES if self.ledger.keeps else ALL_SUMS
        if anew and self.mode != ALL_ROWS:
            self.mode = ALL_SUMS
        self.before = centers.points

    @property
    def labels(self) -> np.ndarray:
        """The nearest centre of each row."""
        return self.marks.labels

    @property
    def heavy(self) -> bool:
        """Whether the pass that has begun looks at most rows."""
        return self.mode != CHANGES or self.passes <= FIRST_PASSES

    @property
    def light(self) -> bool:
        """Whether the pass that has begun costs so little that several are made together."""
        of_few_rows = self.mode in (ALL_SUMS, SUMS_BY_BOUNDS) and not self.ledger.keeps
        return self.way.shape[1] <= FEW_CENTERS and (of_few_rows or not self.heavy)

    def pass_ahead(self, chunk: Chunk, centers: Centers, least_movement: float, size: int) -> None:
        """This pass over all rows, and some more: `ahead`, the last first.

        Sums are added as those of chunks of `size` rows are, in one block of these.
        """
        k, d = centers.points.shape
        points, factors, total = (np.empty((TOGETHER + 1, k, d)) for _ in range(3))
        squares, weight = np.empty((TOGETHER + 1, k)), np.empty((TOGETHER + 1, k))
        objective = np.empty(TOGETHER)
        points[0], factors[0], squares[0] = centers.points, centers.factors, centers.squares
        ledger = self.ledger
        weight[0], total[0] = ledger.weight, ledger.total
        made = run_ahead(
            chunk.rows,
            chunk.weights,
            centers.shift,
            Manner(self.mode, size, ledger.scatter, least_movement),
            Passes(points, factors, squares, weight, total, objective),
            self.way,
            self.marks,
            ledger.held,
            ledger.count,
            ledger.left,
        )
        self.passes += made - 1
        self.before = points[made - 1]
        ledger.catch_up(weight[made], total[made], float(objective[made - 1]))
        at = [Centers(points[s], centers.shift, factors[s], squares[s]) for s in range(made + 1)]
        self.ahead = [
            Ahead(at[s], ClusterSums(weight[s + 1], total[s + 1], float(objective[s])), at[s + 1])
            for s in reversed(range(made))
        ]

    def sums(self, chunk: Chunk, centers: Centers) -> Changes:
        """Find the nearest centre of each row of a chunk, and add up what changes."""
        here = slice(chunk.start, chunk.stop)
        changes = Changes.zeros(centers)
        objective = pass_by_two_bounds(
            chunk.rows,
            chunk.weights,
            centers,
            self.mode,
            self.way,
            Marks(*(each[here] for each in self.marks)),
            changes,
        )
        return changes._replace(objective=objective)

    def end_pass(self, centers: Centers, changes: Changes) -> ClusterSums:
        """The sums of all rows after a pass."""
        return self.ledger.book(centers, changes, self.mode)

    @property
    def rounded(self) -> bool:
        """Whether the objective of the last pass shows rounding, so that it must be summed anew."""
        return self.mode in (CHANGES, SUMS_BY_BOUNDS) and self.ledger.small


class Ahead(NamedTuple):
    """A pass made before it is needed: with these centres, to these sums and centres."""

    centers: Centers
    sums: ClusterSums
    following: Centers


class Changes(NamedTuple):
    """What a pass adds to each cluster, or its sums where all rows are added anew.

    Rows gained less rows lost, rows lost, weight, weighted sum less the shift; and the objective,
    where distances of all rows are known.
    """

    gained: Annotated[np.ndarray, "out f8[:]"]
    left: Annotated[np.ndarray, "out f8[:]"]
    weight: Annotated[np.ndarray, "out f8[:]"]
    total: Annotated[np.ndarray, "out f8[:,:]"]
    objective: Annotated[float, "f8"]

    @classmethod
    def zeros(cls, centers: Centers) -> Changes:
        """Nothing added yet."""
        k = len(centers.points)
        return cls(np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(centers.points.shape), 0.0)


class Marks(NamedTuple):
    """What is known of each row (n,): its label, the mark that it cannot pass unseen, a bound.

    And its squared distance to the shift, once all rows were compared. See `HamerlyBounds`.
    """

    labels: Annotated[np.ndarray, "out i4[:]"]
    lasts: Annotated[np.ndarray, "out f8[:]"]
    lower: Annotated[np.ndarray, "out f8[:]"]
    lengths: Annotated[np.ndarray, "out f8[:]"]


class Passes(NamedTuple):
    """Centres and sums before and after each of m passes.

    Attributes
    ----------
    points, factors, total : ndarray of shape (m + 1, k, d)
    squares, weight : ndarray of shape (m + 1, k)
    objective : ndarray of shape (m,)
    """

    points: Annotated[np.ndarray, "out f8[:,:,:]"]
    factors: Annotated[np.ndarray, "out f8[:,:,:]"]
    squares: Annotated[np.ndarray, "out f8[:,:]"]
    weight: Annotated[np.ndarray, "out f8[:,:]"]
    total: Annotated[np.ndarray, "out f8[:,:,:]"]
    objective: Annotated[np.ndarray, "out f8[:]"]


class Manner(NamedTuple):
    """How `run_ahead` makes its passes.

    Attributes
    ----------
    mode, size : int
        CHANGES, or of all sums: then those of chunks of `size` rows are added.
    scatter : float
        Sum of squares around the shift.
    least_movement : float
        Of the centres, at which the last pass is made.
    """

    mode: Annotated[int, "i8"]
    size: Annotated[int, "i8"]
    scatter: Annotated[float, "f8"]
    least_movement: Annotated[float, "f8"]


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

    def book(self, centers: Centers, changes: Changes, mode: int) -> ClusterSums:
        """Take the changes of a pass in; the sums of all rows with these centres."""
        if mode in (ALL_ROWS, ALL_SUMS, SUMS_BY_BOUNDS):
            self.count, self.weight, self.total = changes.gained, changes.weight, changes.total
            self.held, self.left = changes.gained.copy(), np.zeros(len(changes.gained))
        else:
            self.count = self.count + changes.gained
            self.weight = self.weight + changes.weight
            self.total = self.total + changes.total
            self.left = self.left + changes.left
            if not self.count.all():
                self.weight[self.count == 0] = 0.0
        objective = changes.objective
        explained = self._explained(centers)
        if mode in (CHANGES, SUMS_BY_BOUNDS):
            objective = self.scatter - explained
        else:
            self.scatter = objective + explained
        self.small = objective <= LEAST_SHARE * self.scatter
        self.mode = self._next_mode()
        return ClusterSums(self.weight, self.total, objective)

    def catch_up(self, weight: np.ndarray, total: np.ndarray, objective: float) -> None:
        """Take in passes that `run_ahead` has made; it has counted rows itself."""
        self.weight, self.total = weight, total
        self.small = objective <= LEAST_SHARE * self.scatter
        self.mode = self._next_mode()

    def _explained(self, centers: Centers) -> float:
        """Sum of squares around the shift less that around the centres."""
        return -float(np.vdot(centers.factors, self.total) + self.weight @ centers.squares)

    def _next_mode(self) -> int:
        if not self.keeps:
            return ALL_SUMS if self.small else SUMS_BY_BOUNDS
        if (2 * self.left > self.held).any():
            return ALL_SUMS
        return ALL_DISTANCES if self.small else CHANGES


class ElkanBounds:
    """One lower bound per row and centre; only centres that fail theirs are compared.

    Parameters
    ----------
    n_rows : int
    n_centers : int
    """

    rounded = heavy = light = False
    ahead: tuple = ()

    def __init__(self, n_rows: int, n_centers: int):
        self.labels = np.zeros(n_rows, np.int32)
        self.lower = np.zeros((n_rows, n_centers))
        self.before: np.ndarray | None = None

    def begin_pass(self, centers: Centers, exact: bool = False, anew: bool = False) -> None:
        """Look at where the centres are now, and how far they have moved since the last pass."""
        before = centers.points if self.before is None else self.before
        self.movement = movement(before, centers.points)
        self.half_gaps = half_gaps_of_pairs(centers.points)
        self.before = centers.points

    def sums(self, chunk: Chunk, centers: Centers) -> ClusterSums:
        """Find the nearest centre of each row of a chunk, and add the rows up by centre."""
        labels = self.labels[chunk.start : chunk.stop]
        lower = self.lower[chunk.start : chunk.stop]
        squared = np.empty(len(labels))
        nearest_by_many_bounds(
            chunk.rows,
            centers.points,
            self.half_gaps,
            self.movement,
            lower,
            labels,
            squared,
        )
        return cluster_sums(chunk, centers, Nearest(labels, squared, lower))

    def end_pass(self, centers: Centers, sums: ClusterSums) -> ClusterSums:
        """The sums of all rows after a pass."""
        return sums


def movement(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far each centre has moved."""
    return np.sqrt(((after - before) ** 2).sum(axis=1))


def half_gaps_of_pairs(centers: np.ndarray) -> np.ndarray:
    """Half the distance between every two centres; infinite from a centre to itself."""
    gaps = np.empty((len(centers), len(centers)))
    fill_half_gaps(centers, gaps)
    return gaps


@kernel("f8[:,:]", "out f8[:,:]")
def fill_half_gaps(centers, gaps):
    """Half the distance between every two centres. centres (k, d), gaps (k, k)."""
    for c in range(len(centers)):
        gaps[c, c] = np.inf
        for other in range(c):
            gap = 0.5 * np.sqrt(squared_distance(centers[c], centers[other]))
            gaps[c, other] = gaps[other, c] = gap


@subkernel
def least_half_gaps(factors, squares, gaps):
    """Half the distance from each centre to the nearest other, by products of matrices.

    Less what rounding of the products may have added. factors (k, d), squares, gaps (k,).
    """
    k, d = factors.shape
    rounding = 4.0 * (d + 8) * 2.3e-16
    longest = np.sqrt(squares.max())
    products = np.empty((min(k, CENTERS_TOGETHER), k))
    for start in range(0, k, CENTERS_TOGETHER):
        some = factors[start : start + CENTERS_TOGETHER]
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


@kernel("f8[:,:]", "f8[:,:]", "f8[:,:]", "f8[:]", "b1", "out f8[:,:]")
def move_on(before, points, factors, squares, measured, way):
    """`take_movement` for Python."""
    take_movement(before, points, factors, squares, measured, way)


@subkernel
def take_movement(before, points, factors, squares, measured, way):
    """Take in how far centres have moved: what bounds have lost, and half gaps between centres.

    before, points, factors (k, d), squares (k,), way (5, k): half the gap to the nearest other
    centre; how far each has moved, and the most that another has; the sum of both over all passes,
    and that of the latter. A row's upper bound grows by what its centre moves, its lower bound
    falls by the most that another one moves.
    """
    half_gap, moved, others_moved, spent, others_spent = way[0], way[1], way[2], way[3], way[4]
    k = len(points)
    first, most, second = 0, 0.0, 0.0
    for c in range(k):
        moved[c] = np.sqrt(squared_distance(before[c], points[c]))
        if moved[c] > most:
            first, most, second = c, moved[c], most
        elif moved[c] > second:
            second = moved[c]
    for c in range(k):
        others = second if c == first else most
        others_moved[c] = others
        others_spent[c] += others
        spent[c] += moved[c] + others
        half_gap[c] -= 0.5 * (moved[c] + others)
    if measured:
        least_half_gaps(factors, squares, half_gap)


@subkernel
def keep_by_two_bounds(rows, points, mode, way, few_move, marks, squared, unsure, doubtful):
    """Keep the labels that bounds prove; returns how many others there are, of two kinds.

    Positions of rows that only a centre that has moved can have come nearer to, where these are
    few, are put in `doubtful`, those of all others in `unsure`. Where marks fail, the distance to
    the own centre is measured first; in a loop of its own, so that the processor fetches several of
    these rows at a time, and not where it has kept few of those before: a distance takes what a
    comparison with two centres does beyond its own two. rows (n, d), points (k, d), way (5, k), the
    rest (n,).
    """
    half_gap, moved, others_moved, spent, others_spent = way[0], way[1], way[2], way[3], way[4]
    labels, lasts, lower = marks.labels, marks.lasts, marks.lower
    by_bounds = mode in (CHANGES, SUMS_BY_BOUNDS)
    failing = 0
    for i in range(len(labels)):
        unsure[failing] = i
        failing += not by_bounds or not lasts[i] > spent[labels[i]]
    n_unsure, n_doubtful = 0, 0
    for each in range(failing):
        i = unsure[each]
        own = labels[i]
        spared = each - n_unsure - n_doubtful
        if by_bounds and each >= TRIED and spared * (2 + len(points)) < 2 * each:
            unsure[n_unsure] = i
            n_unsure += 1
            continue
        squared[i] = squared_distance(rows[i], points[own])
        upper = np.sqrt(squared[i]) * SLACK
        to_others = lower[i] - others_spent[own]
        beyond_gap = 2.0 * half_gap[own] - upper
        to_unmoved = max(to_others + others_moved[own], beyond_gap)
        if beyond_gap > to_others:
            to_others = beyond_gap
            lower[i] = beyond_gap + others_spent[own]
        last = spent[own] * ROUNDED_DOWN + (to_others - upper)
        lasts[i] = last
        if last > spent[own]:
            continue
        if few_move and (moved[own] == 0.0 or upper < to_unmoved):
            doubtful[n_doubtful] = i
            lower[i] = to_unmoved
            n_doubtful += 1
        else:
            unsure[n_unsure] = i
            n_unsure += 1
    return n_unsure, n_doubtful


@subkernel
def nearest_of_moved(rows, which, centers, moving, moved, labels, squared, lower):
    """Compare rows with the centres that have moved; no other can be nearer than their own.

    Sets labels, squared distances to the nearest centre and lower bounds of those to the others;
    `lower` comes as bounds for centres that have not moved. rows (n, d), which (m,), moving
    (the positions of centres that have moved), moved (k,), labels, squared, lower (n,).
    """
    found = np.empty(len(labels), np.int32)
    nearest, second = np.empty(len(labels)), np.empty(len(labels))
    if len(moving):
        nearest_of(
            rows,
            which,
            Centers(
                centers.points[moving],
                centers.shift,
                centers.factors[moving],
                centers.squares[moving],
            ),
            np.empty(0),
            found,
            nearest,
            second,
        )
    for each in range(len(which)):
        i = which[each]
        own = labels[i]
        distance = np.sqrt(squared[i])
        to_others = lower[i]
        if moved[own] == 0.0 and distance > to_others:
            to_others = distance
        if len(moving):
            other = moving[found[i]]
            to_moved = np.sqrt(nearest[i])
            if other == own:
                to_moved = second[i]
            elif nearest[i] < squared[i] or (nearest[i] == squared[i] and other < own):
                to_moved = min(second[i], distance)
                labels[i] = other
                squared[i] = nearest[i]
            if to_moved < to_others:
                to_others = to_moved
        lower[i] = to_others


@subkernel
def two_bounds_pass(rows, weights, centers, mode, way, marks, changes):
    """A pass over a chunk: labels by bounds or, where these fail, by all distances; and the sums.

    rows (n, d), weights (n,), way (5, k) as in `take_movement`. Returns the objective, or zero
    where only changes are added.
    """
    moved, spent, others_spent = way[1], way[3], way[4]
    labels, lasts, lower, lengths = marks
    by_bounds = mode in (CHANGES, SUMS_BY_BOUNDS)
    gained, left, weight, total, _ = changes
    n, d = rows.shape
    squared = np.empty(n)
    unsure, doubtful = np.empty(n, np.int64), np.empty(n, np.int64)
    moving = np.flatnonzero(moved)
    n_unsure, n_doubtful = n, 0
    if mode == ALL_ROWS:
        for i in range(n):
            unsure[i] = i
    else:
        n_unsure, n_doubtful = keep_by_two_bounds(
            rows,
            centers.points,
            mode,
            way,
            len(moved) >= MANY_CENTERS and 3 * len(moving) <= len(moved),
            marks,
            squared,
            unsure,
            doubtful,
        )
    looked_at = np.concatenate((unsure[:n_unsure], doubtful[:n_doubtful]))
    before = labels[looked_at]
    unsure, doubtful = looked_at[:n_unsure], looked_at[n_unsure:]
    of_products = lengths if by_bounds else lengths[:0]
    nearest_of(rows, unsure, centers, of_products, labels, squared, lower)
    if mode == ALL_ROWS:
        for i in range(n):
            lengths[i] = squared_distance(rows[i], centers.shift)
    if n_doubtful:
        nearest_of_moved(rows, doubtful, centers, moving, moved, labels, squared, lower)
    for i in looked_at:
        own = labels[i]
        lasts[i] = spent[own] * ROUNDED_DOWN + (lower[i] - np.sqrt(squared[i]) * SLACK)
        lower[i] += others_spent[own]
    if mode in (ALL_ROWS, ALL_SUMS, SUMS_BY_BOUNDS):
        for i in range(n):
            gained[labels[i]] += 1.0
        return add_to_clusters(rows, weights, centers.shift, labels, squared, weight, total)
    for each in range(len(looked_at)):
        i = looked_at[each]
        old, new = before[each], labels[i]
        if old == new:
            continue
        gained[old] -= 1.0
        gained[new] += 1.0
        left[old] += 1.0
        weight[old] -= weights[i]
        weight[new] += weights[i]
        for j in range(d):
            part = weights[i] * (rows[i, j] - centers.shift[j])
            total[old, j] -= part
            total[new, j] += part
    objective = 0.0
    if mode == ALL_DISTANCES:
        for i in range(n):
            objective += weights[i] * squared[i]
    return objective


@kernel("f8|f4[:,:]", "f8[:]", Centers, "i8", "f8[:,:]", Marks, Changes)
def pass_by_two_bounds(rows, weights, centers, mode, way, marks, changes):
    """`two_bounds_pass` for Python."""
    return two_bounds_pass(rows, weights, centers, mode, way, marks, changes)


@subkernel
def add_rows_anew(rows, weights, centers, manner, way, marks, sums):
    """A pass that adds all rows, chunk by chunk; returns the objective.

    rows (n, d), weights (n,), way (5, k); `sums` come as zeros.
    """
    k, d = centers.points.shape
    part, part_total = np.zeros((3, k)), np.zeros((k, d))
    objective = 0.0
    for start in range(0, len(rows), manner.size):
        here = slice(start, min(start + manner.size, len(rows)))
        part[:], part_total[:] = 0.0, 0.0
        objective += two_bounds_pass(
            rows[here],
            weights[here],
            centers,
            manner.mode,
            way,
            Marks(marks.labels[here], marks.lasts[here], marks.lower[here], marks.lengths[here]),
            Changes(part[0], part[1], part[2], part_total, 0.0),
        )
        sums.gained[:] += part[0]
        sums.weight[:] += part[2]
        sums.total[:] += part_total
    return objective


@kernel(
    "f8|f4[:,:]",
    "f8[:]",
    "f8[:]",
    Manner,
    Passes,
    "out f8[:,:]",
    Marks,
    "f8[:]",
    "out f8[:]",
    "out f8[:]",
)
def run_ahead(rows, weights, shift, manner, passes, way, marks, held, count, left):
    """Several passes over all rows of one mode, as in `Manner`; returns how many were made.

    Stops early where centres no longer move, or where the next pass must be of another kind. Pass s
    leads from points[s] to points[s + 1], and from the sums weight[s], total[s] to those of s + 1.
    count, held, left (k,) and the rest as for `two_bounds_pass`. The first pass has begun.
    """
    mode, scatter = manner.mode, manner.scatter
    k, d = passes.points.shape[1:]
    points, factors, squares, weight, total, objective = passes
    change, gone, added, sums = np.empty(k), np.empty(k), np.empty(k), np.empty((k, d))
    for s in range(len(objective)):
        if s > 0:
            take_movement(points[s - 1], points[s], factors[s], squares[s], True, way)
        change[:], gone[:], added[:], sums[:] = 0.0, 0.0, 0.0, 0.0
        at = Centers(points[s], shift, factors[s], squares[s])
        changes = Changes(change, gone, added, sums, 0.0)
        if mode != CHANGES:
            objective[s] = add_rows_anew(rows, weights, at, manner, way, marks, changes)
            count[:] = 0.0
        else:
            two_bounds_pass(rows, weights, at, CHANGES, way, marks, changes)
            added += weight[s]
            sums += total[s]
        ends, movement, explained = False, 0.0, 0.0
        for c in range(k):
            count[c] += change[c]
            left[c] += gone[c]
            weight[s + 1, c] = added[c] if count[c] > 0.0 else 0.0
            explained -= weight[s + 1, c] * squares[s, c]
            ends |= not weight[s + 1, c] > 0.0 or 2.0 * left[c] > held[c]
            length = 0.0
            for j in range(d):
                total[s + 1, c, j] = sums[c, j]
                explained -= factors[s, c, j] * total[s + 1, c, j]
                points[s + 1, c, j] = shift[j] + total[s + 1, c, j] / weight[s + 1, c]
                movement += (points[s + 1, c, j] - points[s, c, j]) ** 2
                shifted = points[s + 1, c, j] - shift[j]
                length += shifted * shifted
                factors[s + 1, c, j] = -2.0 * shifted
            squares[s + 1, c] = length
        if mode != ALL_SUMS:
            objective[s] = scatter - explained
            ends |= objective[s] <= LEAST_SHARE * scatter
        if ends or movement <= manner.least_movement:
            return s + 1
    return len(objective)


@kernel("f8|f4[:,:]", "f8[:,:]", "f8[:,:]", "f8[:]", "out f8[:,:]", "out i4[:]", "out f8[:]")
def nearest_by_many_bounds(rows, centers, half_gap, movement, lower, labels, squared):
    """Elkan's assignment. rows (n, d), centres (k, d), half_gap (k, k), lower (n, k)."""
    k = len(centers)
    for i in range(len(rows)):
        own = labels[i]
        least = squared_distance(rows[i], centers[own])
        distance = np.sqrt(least) * SLACK
        for c in range(k):
            lower[i, c] -= movement[c]
            if c == own or lower[i, c] > distance or half_gap[own, c] > distance:
                continue
            other = squared_distance(rows[i], centers[c])
            lower[i, c] = np.sqrt(other)
            if other < least or (other == least and c < own):
                lower[i, own] = np.sqrt(least)
                own, least = c, other
                distance = np.sqrt(least) * SLACK
        labels[i] = own
        squared[i] = least
