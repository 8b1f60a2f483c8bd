"""Several goals kept apart: the rows that no other row beats in every goal, and choices among them.

A row dominates another where it is at least as good in every goal and better in one. The rows that
none dominates form the Pareto front; on it, one goal is improved only by giving up another. What is
chosen there is a matter of preference: the knee (the farthest from the plane through the extremes),
weights, or the best of one goal with bounds on the others. The hypervolume is the volume that a
front dominates up to a reference point: the greater, the better the front.

Texts: 004 1.2, 12.3, 16.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel

WORDS = {"more": -1.0, "less": 1.0}  # sign that turns a goal into a loss, which is made least


def non_dominated(values: ArrayLike) -> np.ndarray:
    """Which rows no other row dominates; all goals are to be minimized.

    Rows are taken in lexicographic order, in which a row is dominated by earlier ones only. Three
    goals take O(n log n): a tree of prefixes of the second goal holds the least third goal so far.
    More goals are compared with the front so far.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_goals)
        Finite; negate what is to be maximized.

    Returns
    -------
    mask : ndarray of bool of shape (n_samples,)
        Equal rows do not dominate each other.

    Examples
    --------
    >>> from gnomon.decide import non_dominated
    >>> non_dominated([[1, 4], [2, 2], [3, 3], [4, 1]]).tolist()
    [True, True, False, True]
    """
    values = as_goals(values)
    distinct, places = np.unique(values, axis=0, return_inverse=True)
    if distinct.shape[1] == 1:
        keep = np.arange(len(distinct)) == 0
    elif distinct.shape[1] == 2:
        before = np.minimum.accumulate(np.append(np.inf, distinct[:-1, 1]))
        keep = distinct[:, 1] < before
    elif distinct.shape[1] == 3:
        keep = np.empty(len(distinct), dtype=bool)
        ranks = np.unique(distinct[:, 1], return_inverse=True)[1].astype(np.int64)
        least_prefix(ranks, np.ascontiguousarray(distinct[:, 2]), keep)
    else:
        keep = np.empty(len(distinct), dtype=bool)
        against_front(np.ascontiguousarray(distinct), keep)
    return keep[places.ravel()]


@kernel("i8[:]", "f8[:]", "out b1[:]")
def least_prefix(ranks, third, keep):
    """Sweep of rows in lexicographic order: ranks (n,) of the second goal, third (n,), keep (n,).

    A Fenwick tree over ranks holds the least third goal of every prefix: a row is dominated where
    an earlier one has no greater second and third goal.
    """
    n = len(ranks)
    tree = np.full(n + 1, np.inf)
    for i in range(n):
        place, least = ranks[i] + 1, np.inf
        while place > 0:
            least = min(least, tree[place])
            place -= place & -place
        keep[i] = least > third[i]
        if keep[i]:
            place = ranks[i] + 1
            while place <= n:
                tree[place] = min(tree[place], third[i])
                place += place & -place


@kernel("f8[:,:]", "out b1[:]")
def against_front(rows, keep):
    """Compare rows (n, d) in lexicographic order with the front so far; keep (n,)."""
    n, d = rows.shape
    front = np.empty(n, np.int64)
    size = 0
    for i in range(n):
        dominated = False
        for j in range(size):
            other = rows[front[j]]
            dominated = True
            for k in range(d):
                if other[k] > rows[i, k]:
                    dominated = False
                    break
            if dominated:
                # a row that dominates one often dominates the next: look at it first
                front[0], front[j] = front[j], front[0]
                break
        keep[i] = not dominated
        if not dominated:
            front[size] = i
            size += 1


def non_dominated_rank(values: ArrayLike) -> np.ndarray:
    """The number of the front of each row: 0 for the Pareto front, 1 for that of the rest ...

    Parameters
    ----------
    values : array-like of shape (n_samples, n_goals)
        To be minimized.

    Returns
    -------
    ranks : ndarray of int of shape (n_samples,)
    """
    values = as_goals(values)
    ranks = np.full(len(values), -1)
    left, rank = np.arange(len(values)), 0
    while len(left):
        first = non_dominated(values[left])
        ranks[left[first]] = rank
        left, rank = left[~first], rank + 1
    return ranks


def crowding_distance(values: ArrayLike) -> np.ndarray:
    """How far each row's neighbours on a front are apart, summed over goals; infinite at the ends.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_goals)

    Returns
    -------
    distances : ndarray of shape (n_samples,)
    """
    values = as_goals(values)
    n, d = values.shape
    if n <= 2:
        return np.full(n, np.inf)
    distances = np.zeros(n)
    order = values.argsort(axis=0, kind="stable")
    for k in range(d):
        along = values[order[:, k], k]
        spread = along[-1] - along[0]
        if spread > 0:
            distances[order[1:-1, k]] += (along[2:] - along[:-2]) / spread
        distances[order[[0, -1], k]] = np.inf
    return distances


def hypervolume(values: ArrayLike, reference: ArrayLike) -> float:
    """The volume that rows dominate up to a reference point; goals are to be minimized.

    Exact: along the last goal, slices of one goal less are added up.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_goals)
    reference : array-like of shape (n_goals,)
        Rows that are not better than it in every goal add nothing.

    Returns
    -------
    volume : float

    Examples
    --------
    >>> from gnomon.decide import hypervolume
    >>> hypervolume([[1, 2], [2, 1]], [3, 3])
    3.0
    """
    values = as_goals(values)
    corner = np.asarray(reference, dtype=np.float64)
    if corner.shape != values.shape[1:]:
        raise DataError(f"the reference must have {values.shape[1]} goals")
    inside = values[(values < corner).all(axis=1)]
    return _volume(inside[non_dominated(inside)], corner) if len(inside) else 0.0


def _volume(front: np.ndarray, corner: np.ndarray) -> float:
    if front.shape[1] == 1:
        return float(corner[0] - front.min())
    if front.shape[1] == 2:
        front = front[np.lexsort((front[:, 1], front[:, 0]))]
        least = np.minimum.accumulate(front[:, 1])
        widths = np.append(front[1:, 0], corner[0]) - front[:, 0]
        return float(widths @ (corner[1] - least))
    front = front[front[:, -1].argsort(kind="stable")]
    edges = np.append(front[:, -1], corner[-1])
    total = 0.0
    for i in np.flatnonzero(np.diff(edges) > 0):
        slab = front[: i + 1, :-1]
        total += (edges[i + 1] - edges[i]) * _volume(slab[non_dominated(slab)], corner[:-1])
    return total


@dataclass(repr=False)
class Front(Result):
    """A Pareto front of rows with several goals.

    Attributes
    ----------
    goals : dict of str to {"more", "less"}
    rows : ndarray of int
        Places of the rows of the front.
    values : ndarray of shape (n_front, n_goals)
        Their outcomes as measured.
    n_rows : int
        How many rows there were in all.
    """

    goals: dict[str, str]
    rows: np.ndarray
    values: np.ndarray
    n_rows: int

    def _title(self) -> str:
        return f"{len(self.rows)} of {self.n_rows} rows are beaten by no other row"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"row": self.rows.tolist()}
        for name, column in zip(self.goals, self.values.T):
            columns[f"{name} ({self.goals[name]})"] = column.tolist()
        return columns

    @property
    def losses(self) -> np.ndarray:
        """The outcomes scaled to 0 (best on the front) to 1 (worst on it)."""
        signed = self.values * [WORDS[want] for want in self.goals.values()]
        low, spread = signed.min(axis=0), np.ptp(signed, axis=0)
        return (signed - low) / np.where(spread > 0, spread, 1.0)

    def knee(self) -> int:
        """The row of the front that is farthest below the plane through its extremes.

        Returns
        -------
        row : int
            Place among all rows.
        """
        return int(self.rows[self.losses.sum(axis=1).argmin()])

    def weighted(self, weights: Mapping[str, float]) -> int:
        """The row of the least weighted sum of scaled goals.

        Parameters
        ----------
        weights : mapping of str to float
            How much each goal counts, 0 or more.

        Returns
        -------
        row : int
        """
        unknown = set(weights) - set(self.goals)
        if unknown:
            raise DataError(f"unknown goals: {', '.join(sorted(unknown))}")
        share = np.array([weights.get(name, 0.0) for name in self.goals], dtype=np.float64)
        if (share < 0).any() or not share.any():
            raise DataError("weights must be 0 or more, and one of them above 0")
        return int(self.rows[(self.losses @ share).argmin()])

    def constrained(self, goal: str, bounds: Mapping[str, float]) -> int:
        """The row that is best in one goal among those that keep bounds on the others.

        Parameters
        ----------
        goal : str
        bounds : mapping of str to float
            Least value of a goal that wants more, greatest of one that wants less.

        Returns
        -------
        row : int
        """
        names = list(self.goals)
        unknown = ({goal} | set(bounds)) - set(names)
        if unknown:
            raise DataError(f"unknown goals: {', '.join(sorted(unknown))}")
        keeps = np.ones(len(self.rows), dtype=bool)
        for name, bound in bounds.items():
            sign = WORDS[self.goals[name]]
            keeps &= sign * self.values[:, names.index(name)] <= sign * bound
        if not keeps.any():
            raise DataError(f"no row keeps the bounds {dict(bounds)}: loosen one of them")
        worth = WORDS[self.goals[goal]] * self.values[:, names.index(goal)]
        return int(self.rows[np.where(keeps, worth, np.inf).argmin()])


def pareto_front(values: ArrayLike, goals: Mapping[str, str]) -> Front:
    """The rows that no other row beats in every goal.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_goals)
    goals : mapping of str to {"more", "less"}
        Names of the columns and what is wanted of them.

    Returns
    -------
    front : Front

    Examples
    --------
    >>> from gnomon.decide import pareto_front
    >>> front = pareto_front([[9, 5], [8, 2], [7, 4]], {"yield": "more", "cost": "less"})
    >>> front.rows.tolist()
    [0, 1]
    """
    table, losses = as_losses(values, goals)
    keep = non_dominated(losses)
    return Front(dict(goals), np.flatnonzero(keep), table[keep], len(table))


def as_goals(values: ArrayLike) -> np.ndarray:
    """A table of finite goals with at least one row and column."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise DataError("values must be finite, with a row per sample and a column per goal")
    return table


def as_losses(values: ArrayLike, goals: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """A table of goals, and the same with the sign of what is wanted more turned."""
    table = as_goals(values)
    if len(goals) != table.shape[1] or not set(goals.values()) <= set(WORDS):
        raise DataError("goals must say 'more' or 'less' for each column, in order")
    return table, table * [WORDS[want] for want in goals.values()]
