"""Differential evolution and particle swarm: populations of points in the unit cube.

Differential evolution (Storn and Price 1997) adds differences of members to members: the population
itself is the measure of scale. Particle swarm (Kennedy and Eberhart 1995; constriction factors of
Clerc and Kennedy) pulls each point to its own best and to the best of its neighbors; on
ill-conditioned and rotated functions it is clearly worse than CMA-ES and differential evolution.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Space, reflected

# Clerc and Kennedy (2002): constriction 0.7298, with pulls of 2.05 each.
INERTIA, PULL = 0.7298, 1.49618


@optimizer("differential-evolution", "", "de")
class DifferentialEvolution(Optimizer):
    """Differential evolution: best/1/bin or rand/1/bin, with dithered factor.

    Parameters
    ----------
    strategy : {"best1bin", "rand1bin"}, default="best1bin"
    popsize : int, default=15
        Members per coordinate.
    mutation : (float, float), default=(0.5, 1)
        The factor of differences is drawn anew between these for each generation.
    recombination : float, default=0.7
    tol : float, default=1e-8
        Stop when the spread of values is smaller, relative to their mean.

    Examples
    --------
    >>> from scipy.optimize import rosen
    >>> from gnomon.optimize import minimize
    >>> found = minimize(rosen, [(-2, 2)] * 2, "de", max_evaluations=5000, random_state=0)
    >>> bool(found.fun < 1e-6)
    True
    """

    def __init__(
        self,
        strategy: str = "best1bin",
        popsize: int = 15,
        *,
        mutation: tuple[float, float] = (0.5, 1.0),
        recombination: float = 0.7,
        tol: float = 1e-8,
    ):
        if strategy not in ("best1bin", "rand1bin"):
            raise DataError(f"strategy is 'best1bin' or 'rand1bin', not {strategy!r}")
        self.strategy, self.popsize, self.mutation = strategy, popsize, mutation
        self.recombination, self.tol = recombination, tol

    def _search(self, run: Run) -> Search:
        space, rng, n = run.space, run.rng, run.space.size
        size = max(5, self.popsize * n)
        members = first_population(run, size)
        values = yield from run.values(space.decode_all(members))
        while True:
            best = int(np.argmin(values))
            run.moved(space.decode(members[best]), values[best])
            if np.std(values) <= self.tol * abs(np.mean(values)) + 1e-300:
                return f"the spread of values is below tol ({self.tol:g})"
            factor = rng.uniform(*self.mutation)
            trials = self._trials(members, best, factor, rng)
            new = yield from run.values(space.decode_all(trials))
            better = new <= values
            members = np.where(better[:, None], trials, members)
            values = np.where(better, new, values)

    def _trials(self, members: np.ndarray, best: int, factor: float, rng) -> np.ndarray:
        size, n = members.shape
        picks = np.argsort(rng.random((size, size - 1)), axis=1)[:, :3]
        picks += picks >= np.arange(size)[:, None]  # never the member itself
        base = members[best] if self.strategy == "best1bin" else members[picks[:, 2]]
        mutants = base + factor * (members[picks[:, 0]] - members[picks[:, 1]])
        crossed = rng.random((size, n)) < self.recombination
        crossed[np.arange(size), rng.integers(n, size=size)] = True
        return reflected(np.where(crossed, mutants, members))


@optimizer("particle-swarm", "", "pso")
class ParticleSwarm(Optimizer):
    """Particle swarm on a ring or with one global best.

    Parameters
    ----------
    population_size : int, default=None
        10 + 2 sqrt(d) by default, at least 20.
    topology : {"ring", "global"}, default="global"
        A ring spreads news more slowly and misses fewer optima.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> space = [(-5, 5)] * 3
    >>> found = minimize(lambda x: x @ x, space, "pso", max_evaluations=3000, random_state=0)
    >>> bool(found.fun < 1e-6)
    True
    """

    open_ended = True

    def __init__(self, population_size: int | None = None, *, topology: str = "global"):
        if topology not in ("ring", "global"):
            raise DataError(f"topology is 'ring' or 'global', not {topology!r}")
        self.population_size, self.topology = population_size, topology

    def _search(self, run: Run) -> Search:
        space, rng, n = run.space, run.rng, run.space.size
        size = self.population_size or max(20, 10 + int(2 * np.sqrt(n)))
        places = first_population(run, size)
        velocities = 0.5 * (rng.random((size, n)) - places)
        own = places.copy()
        values = yield from run.values(space.decode_all(places))
        while True:
            leaders = self._leaders(values)
            best = int(np.argmin(values))
            run.moved(space.decode(own[best]), values[best])
            to_own, to_leader = rng.random((2, size, n))
            velocities = INERTIA * velocities + PULL * (
                to_own * (own - places) + to_leader * (own[leaders] - places)
            )
            velocities = np.clip(velocities, -0.5, 0.5)
            moved = places + velocities
            places = reflected(moved)
            velocities = np.where(places != moved, -velocities, velocities)
            new = yield from run.values(space.decode_all(places))
            better = new < values
            own = np.where(better[:, None], places, own)
            values = np.where(better, new, values)

    def _leaders(self, values: np.ndarray) -> np.ndarray:
        size = len(values)
        if self.topology == "global":
            return np.full(size, int(np.argmin(values)))
        around = (np.arange(size)[:, None] + np.array([-1, 0, 1])) % size
        return around[np.arange(size), np.argmin(values[around], axis=1)]


def first_population(run: Run, size: int) -> np.ndarray:
    """Spread random points of the unit cube (Latin hypercube); the start is the first."""
    n = run.space.size
    strata = np.argsort(run.rng.random((n, size)), axis=1).T
    members = (strata + run.rng.random((size, n))) / size
    if run.space.constraints:
        members = np.array([_allowed(run.space, each, run.rng) for each in members])
    if run.x0 is not None:
        members[0] = run.space.encode(run.x0)
    return members


def _allowed(space: Space, unit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if space.violation(space.decode(unit)) == 0:
        return unit
    return space.encode(space.sample(rng))
