"""NSGA-II: an evolutionary search for the whole Pareto front of several functions.

Parents are chosen by tournaments (lower front, then less crowded), children are made by simulated
binary crossover and polynomial mutation, and the best of parents and children survive: front by
front, the last one by crowding distance, computed anew while rows are removed.

Deb, Pratap, Agarwal, Meyarivan (2002). Texts: 004 1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.decide.pareto import crowding_distance, non_dominated_rank
from gnomon.engine.errors import DataError


@dataclass(repr=False)
class FrontSearch(Result):
    """What a search for a Pareto front found.

    Attributes
    ----------
    x : ndarray of shape (n_front, n_variables)
    values : ndarray of shape (n_front, n_goals)
        Minimized goals at ``x``; no row dominates another.
    nfev : int
        Evaluations of the function.
    nit : int
        Generations.
    """

    x: np.ndarray
    values: np.ndarray
    nfev: int
    nit: int

    def _title(self) -> str:
        return f"{len(self.x)} points of the front after {self.nfev} evaluations"

    def _columns(self) -> dict[str, list[Any]]:
        columns = {f"x{j}": column.tolist() for j, column in enumerate(self.x.T)}
        return columns | {f"goal {k}": column.tolist() for k, column in enumerate(self.values.T)}


def nsga2(
    function: Callable[[np.ndarray], ArrayLike],
    bounds: ArrayLike,
    *,
    population_size: int = 100,
    max_evaluations: int = 10_000,
    integer: ArrayLike | None = None,
    vectorized: bool = False,
    crossover_rate: float = 0.9,
    crossover_spread: float = 15.0,
    mutation_spread: float = 20.0,
    random_state: int | None = None,
    callback: Callable[[np.ndarray, np.ndarray], bool | None] | None = None,
) -> FrontSearch:
    """Search for the Pareto front of several goals, all minimized.

    Parameters
    ----------
    function : callable
        From a point to its goals; from a table of points to a table of goals where ``vectorized``.
    bounds : array-like of shape (n_variables, 2)
    population_size : int, default=100
    max_evaluations : int, default=10000
    integer : array-like of bool of shape (n_variables,), default=None
        Which variables are whole numbers.
    vectorized : bool, default=False
        Whether the function takes many points at once.
    crossover_rate : float, default=0.9
        Share of pairs of parents that are crossed.
    crossover_spread, mutation_spread : float, default=15.0 and 20.0
        Greater values keep children nearer to their parents.
    random_state : int, default=None
    callback : callable, default=None
        Called with points and goals after each generation; True stops the search.

    Returns
    -------
    found : FrontSearch

    Examples
    --------
    >>> from gnomon.decide import nsga2
    >>> found = nsga2(lambda x: (x[0] ** 2, (x[0] - 2) ** 2), [[-5, 5]], random_state=0,
    ...               population_size=20, max_evaluations=800)
    >>> bool(found.x.min() > -0.1 and found.x.max() < 2.1)
    True
    """
    box = np.asarray(bounds, dtype=np.float64)
    if box.ndim != 2 or box.shape[1] != 2 or not (box[:, 0] < box[:, 1]).all():
        raise DataError("bounds must be pairs (low, high) with low below high")
    if population_size < 4 or max_evaluations < population_size:
        raise DataError("population_size must be 4 or more, and max_evaluations not less than it")
    whole = np.zeros(len(box), bool) if integer is None else np.asarray(integer, dtype=bool)
    rng = np.random.default_rng(random_state)

    def evaluate(points: np.ndarray) -> np.ndarray:
        found = function(points) if vectorized else [function(point) for point in points]
        goals = np.asarray(found, dtype=np.float64)
        if goals.ndim != 2 or len(goals) != len(points):
            raise DataError("the function must give at least one goal for each point")
        return np.where(np.isnan(goals), np.inf, goals)  # what is undefined is worst

    low, high = box.T
    points = settled(rng.uniform(low, high, (population_size, len(box))), box, whole)
    goals = evaluate(points)
    used, generation = population_size, 0
    rank = non_dominated_rank(bounded(goals))
    crowd = crowding(goals, rank)
    while used + population_size <= max_evaluations:
        mothers, fathers = tournament(rank, crowd, rng), tournament(rank, crowd, rng)
        children = crossed(
            points[mothers], points[fathers], box, crossover_rate, crossover_spread, rng
        )
        children = settled(mutated(children, box, mutation_spread, rng), box, whole)
        points = np.vstack([points, children])
        goals = np.vstack([goals, evaluate(children)])
        used, generation = used + population_size, generation + 1
        keep, rank = survivors(goals, population_size)
        points, goals = points[keep], goals[keep]
        crowd = crowding(goals, rank)
        if callback is not None and callback(points, goals):
            break
    first = (rank == 0) & np.isfinite(goals).all(axis=1)
    return FrontSearch(points[first], goals[first], used, generation)


def bounded(goals: np.ndarray) -> np.ndarray:
    """Goals with the greatest number in place of infinite ones."""
    return np.where(np.isfinite(goals), goals, np.finfo(np.float64).max)


def crowding(goals: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The crowding distance of each row within its front."""
    crowd = np.empty(len(goals))
    for number in range(rank.max() + 1):
        members = rank == number
        crowd[members] = crowding_distance(bounded(goals[members]))
    return crowd


def survivors(goals: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the rows that survive, and their fronts."""
    finite = bounded(goals)
    rank = non_dominated_rank(finite)
    last = np.sort(rank)[size - 1]
    keep = np.flatnonzero(rank < last)
    left = np.flatnonzero(rank == last)
    while (excess := len(keep) + len(left) - size) > 0:
        # a quarter of what is too much at a time: removing one row makes its neighbors less crowded
        crowd = crowding_distance(finite[left])
        left = np.delete(left, np.argpartition(crowd, -(-excess // 4) - 1)[: -(-excess // 4)])
    kept = np.concatenate([keep, left])
    return kept, rank[kept]


def tournament(rank: np.ndarray, crowd: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Winners of pairs: the lower front, then the less crowded row."""
    n = len(rank)
    one, other = rng.permutation(n), rng.permutation(n)
    wins = (rank[one] < rank[other]) | ((rank[one] == rank[other]) & (crowd[one] > crowd[other]))
    return np.where(wins, one, other)


def crossed(
    mothers: np.ndarray,
    fathers: np.ndarray,
    box: np.ndarray,
    rate: float,
    spread: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Simulated binary crossover, its density cut at the bounds; one child of each pair."""
    low, high = box.T
    near, far = np.minimum(mothers, fathers), np.maximum(mothers, fathers)
    gap = far - near
    apart = gap > 1e-14
    safe = np.where(apart, gap, 1.0)
    draw = rng.random(mothers.shape)
    upper = rng.random(mothers.shape) < 0.5
    reach = np.where(upper, high - far, near - low)
    alpha = 2.0 - (1.0 + 2.0 * reach / safe) ** -(spread + 1.0)
    inner = draw <= 1.0 / alpha
    power = 1.0 / (spread + 1.0)
    factor = np.where(
        inner, (draw * alpha) ** power, (1.0 / np.maximum(2.0 - draw * alpha, 1e-300)) ** power
    )
    middle = 0.5 * (near + far)
    children = middle + np.where(upper, 0.5, -0.5) * factor * gap
    takes = (rng.random(mothers.shape) < 0.5) & apart & (rng.random((len(mothers), 1)) < rate)
    return np.where(takes, children, mothers)


def mutated(
    points: np.ndarray, box: np.ndarray, spread: float, rng: np.random.Generator
) -> np.ndarray:
    """Polynomial mutation of one variable of a point, on average."""
    low, high = box.T
    width = high - low
    draw = rng.random(points.shape)
    power = 1.0 / (spread + 1.0)
    below = 1.0 - (points - low) / width
    above = 1.0 - (high - points) / width
    down = (2 * draw + (1 - 2 * draw) * below ** (spread + 1)) ** power - 1
    up = 1 - (2 * (1 - draw) + (2 * draw - 1) * above ** (spread + 1)) ** power
    moved = points + np.where(draw < 0.5, down, up) * width
    return np.where(rng.random(points.shape) < 1.0 / points.shape[1], moved, points)


def settled(points: np.ndarray, box: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Points inside the bounds, whole numbers where they must be."""
    points = np.clip(points, box[:, 0], box[:, 1])
    return np.where(whole, np.clip(np.round(points), np.ceil(box[:, 0]), box[:, 1]), points)
