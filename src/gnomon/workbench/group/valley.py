"""Do groups lie apart? Between groups there must be fewer rows than inside both of them.

One cloud of any shape (skewed, bent, angular, heavy-tailed) can be cut into groups, but a path
leads from one to the other along which rows do not get fewer. Half of the rows, A, tells where to
look: the densest place of each group, and the path between two of these places whose sparsest
place is as dense as can be (the path in the minimum spanning tree of mutual reachability
distances). The other half, B, is counted: rows in a ball about the sparsest place of the path, and
in balls of the same radius inside either group. If there is no valley, a row is as likely in the
first ball as in one inside the sparser group, so that its count is binomial; A chose the places, so
B is a fair test. Both halves take both parts, their counts are added, and several ways to halve
give several p-values, of which the lower quartile is taken: a choice without a guarantee, whose
level was measured (with k-means of two groups, 1 false alarm in 240 tables of twelve shapes of one
cloud at 5%).

Chaudhuri, Dasgupta, Kpotufe, von Luxburg, "Consistent procedures for cluster tree estimation and
pruning", 2014, is the theory of such valleys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import scipy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

# Rows that are looked at, ways to halve them, and the quantile of their p-values.
MOST_ROWS, HALVINGS, QUANTILE = 600, 8, 0.25
# Neighbours in a ball: few for thin shapes, shares of the half for round ones; and balls per group.
FEWEST_NEAR, NEAR_SHARES, MOST_BALLS = 3, (0.05, 0.15), 5


class Counts(NamedTuple):
    """Rows of one half about places that the other half chose, for a pair of groups.

    Attributes
    ----------
    between : int
        In the ball about the sparsest place of the path.
    inside : tuple of int
        In the balls inside each of the two groups.
    balls : tuple of int
        How many these are.
    """

    between: int
    inside: tuple[int, int]
    balls: tuple[int, int]


def valley_p(points: np.ndarray, labels: np.ndarray, random_state: int) -> float:
    """Chance of so few rows between the groups if no valley lies between any two of them.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    labels : int array of shape (n,)
        Groups; -1 for rows of none.
    random_state : int

    Returns
    -------
    p : float
        Corrected for the number of groups; 1 where there are not two groups.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> half = (rows[:, 0] > 0).astype(int)
    >>> valley_p(rows, half, 0) > 0.05, valley_p(rows + 9 * half[:, None], half, 0) < 0.01
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    if len(points) > MOST_ROWS:
        taken = rng.choice(len(points), MOST_ROWS, replace=False)
        points, labels = points[taken], labels[taken]
    found = [halved_p(points, labels, rng.permutation(len(points))) for _ in range(HALVINGS)]
    return float(np.quantile(found, QUANTILE))


def halved_p(points: np.ndarray, labels: np.ndarray, order: np.ndarray) -> float:
    """The p of one way to halve the rows: the least of the scales and pairs of groups."""
    halves = np.array_split(order, 2)
    size = len(halves[1])
    scales = {FEWEST_NEAR, *(max(round(share * size), FEWEST_NEAR + 2) for share in NEAR_SHARES)}
    n_groups = len(np.unique(labels[labels >= 0]))
    least = 1.0
    for near in sorted(scales):
        one, other = (
            pair_counts(points[a], labels[a], cKDTree(points[b]), near)
            for a, b in (halves, halves[::-1])
        )
        both = [p_of_counts(one[pair], other[pair]) for pair in one.keys() & other.keys()]
        least = min([least, *both])
    # so many valleys part groups that are arranged as a tree
    return min(least * max(n_groups - 1, 1), 1.0)


def p_of_counts(one: Counts, other: Counts) -> float:
    """The greater p of the two groups: the valley must be seen from both."""
    between = one.between + other.between
    sides = []
    for side in (0, 1):
        inside = one.inside[side] + other.inside[side]
        balls = one.balls[side] + other.balls[side]
        sides.append(float(scipy.stats.binom.cdf(between, between + inside, 2 / (2 + balls))))
    return max(sides)


def pair_counts(
    chosen_by: np.ndarray, labels: np.ndarray, counted: cKDTree, near: int
) -> dict[tuple[int, int], Counts]:
    """Counts of every pair of groups that have more than `near` rows in the half that chooses."""
    apart = cdist(chosen_by, chosen_by)
    if len(apart) <= near:
        return {}
    reach = np.partition(apart, near, axis=1)[:, near]
    tree = reachability_tree(apart, reach)
    groups = {int(g): np.flatnonzero(labels == g) for g in np.unique(labels[labels >= 0])}
    peaks = {g: rows[np.argmin(reach[rows])] for g, rows in groups.items() if len(rows) > near}
    found = {}
    for pair in combinations(peaks, 2):
        ends = [peaks[group] for group in pair]
        radius = float(reach[ends].max())
        sparsest = chosen_by[widest_step(tree, *ends)].mean(axis=0)
        balls = [list(inner_places(apart, groups[g], reach, radius)) for g in pair]
        inside = [counted.query_ball_point(chosen_by[b], radius, return_length=True) for b in balls]
        found[pair] = Counts(
            int(counted.query_ball_point(sparsest, radius, return_length=True)),
            (int(inside[0].sum()), int(inside[1].sum())),
            (len(balls[0]), len(balls[1])),
        )
    return found


def reachability_tree(apart: np.ndarray, reach: np.ndarray) -> csr_array:
    """The minimum spanning tree of mutual reachability distances, both ways."""
    mutual = np.maximum(np.maximum(reach[:, None], reach[None, :]), apart)
    mutual += 1e-12 * max(float(mutual.max()), 1e-300)  # equal rows are joined too
    np.fill_diagonal(mutual, 0.0)
    tree = csr_array(minimum_spanning_tree(mutual))
    return csr_array(tree + tree.T)


def widest_step(tree: csr_array, begin: int, end: int) -> list[int]:
    """The two rows of the longest edge of the path between two rows of a tree."""
    before = breadth_first_order(tree, begin, directed=False)[1]
    path = [int(end)]
    while path[-1] != begin:
        path.append(int(before[path[-1]]))
    steps = [tree[a, b] for a, b in pairwise(path)]
    widest = int(np.argmax(steps))
    return path[widest : widest + 2]


def inner_places(
    apart: np.ndarray, rows: np.ndarray, reach: np.ndarray, radius: float
) -> Iterator[int]:
    """The densest rows of a group whose balls do not overlap."""
    taken: list[int] = []
    for row in rows[np.argsort(reach[rows], kind="stable")]:
        if all(apart[row, other] >= 2 * radius for other in taken):
            taken.append(int(row))
            yield int(row)
        if len(taken) == MOST_BALLS:
            return
