"""Reactive tabu search on orders, subsets and bit strings.

Each step takes the best neighbor whose move is not prohibited, better or not; what a move changed
may not be changed back for ``prohibition`` steps. Points are remembered: coming back to one makes
the prohibition longer, a long time without such a repetition makes it shorter, and many repetitions
start an escape by random moves.

Texts: 004 1.3 (after Battiti and Tecchiolli 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Space

REPETITIONS = 1  # returns to a point that make it a much repeated one
CHAOS = 1  # much repeated points that start an escape
LARGER, SMALLER = 1.1, 0.9  # Battiti and Tecchiolli (1994)


@optimizer("reactive-tabu-search", "004 1.3", "tabu", "tabu-search", "rts")
class ReactiveTabuSearch(Optimizer):
    """Reactive tabu search; the space is one Permutation, Subset or Bits.

    Parameters
    ----------
    prohibition : int, default=3
        The first length of prohibition; it adapts itself. On QAPLIB's chr12c 3 needs 1,200 steps
        on average, 1 and 6 need 1,600.

    Examples
    --------
    >>> from gnomon.optimize import Bits, minimize
    >>> trap = lambda bits: 6 - bits.sum() if bits.sum() > 2 else bits.sum() - 4
    >>> minimize(trap, Bits(6), "tabu", x0=np.ones(6, bool), random_state=0).fun
    -4.0
    """

    open_ended = True

    def __init__(self, prohibition: int = 3):
        self.prohibition = prohibition

    def _check(self, space: Space) -> None:
        if not (space.is_single and hasattr(space.dimensions[0], "steps")):
            raise DataError(
                "reactive tabu search needs a space of one Permutation, Subset or Bits; use "
                "'annealing' or 'evolution' for others"
            )

    def _search(self, run: Run) -> Search:
        kind, rng = run.space.dimensions[0], run.rng
        x = np.array(run.random_or_start())
        value = yield from run.value(x)
        run.moved(x, value)
        best, memory = value, Memory(float(self.prohibition), kind)
        while True:
            if memory.repeats_too_often(run, x):
                x, value = yield from self._escape(run, x, memory.mean_cycle)
                memory.forget()
            points, sets, removes = kind.steps(x)
            if not len(points):
                return "the point has no neighbors"
            values = yield from run.neighbor_values(x, points)
            best = min(best, value)
            chosen = memory.chosen(values, sets, best, rng)
            memory.last[removes[chosen]] = memory.step
            x, value = points[chosen], float(values[chosen])
            run.moved(x, value)

    def _escape(self, run: Run, x: np.ndarray, mean_cycle: float):
        count = 1 + int((1 + run.rng.random()) * mean_cycle / 2)
        run.change("point", "local", f"{count} random moves", "too many repetitions: escape")
        for _ in range(count):
            x = run.space.dimensions[0].neighbor(x, run.rng)
        value = yield from run.value(x)
        run.moved(x, value)
        return x, value


class Memory:
    """Points visited, what was removed when, and the length of prohibition that follows."""

    def __init__(self, prohibition: float, kind: Any):
        self.first, self.prohibition = prohibition, prohibition
        self.most = max(kind.n_attributes - 2, 1)
        self.last = np.full(kind.n_attributes, -np.inf)
        self.visits: dict[bytes, tuple[int, int]] = {}
        self.step = self.changed = self.chaotic = 0
        self.mean_cycle = 50.0

    def forget(self) -> None:
        """Begin anew after an escape; the mean length of cycles is kept."""
        self.last[:] = -np.inf
        self.visits.clear()
        self.prohibition, self.chaotic = self.first, 0

    def repeats_too_often(self, run: Run, x: np.ndarray) -> bool:
        """Note a visit and adapt the prohibition; whether it is time to escape."""
        self.step += 1
        key = x.tobytes()
        before, count = self.visits.get(key, (0, 0))
        self.visits[key] = (self.step, count + 1)
        if count:
            self.chaotic += count + 1 > REPETITIONS
            if self.chaotic > CHAOS:
                return True
            cycle = self.step - before
            if cycle < 2 * self.most:
                self.mean_cycle = 0.1 * cycle + 0.9 * self.mean_cycle
                longer = min(max(self.prohibition * LARGER, self.prohibition + 1), self.most)
                self._become(run, longer, f"repeated after {cycle} steps")
        if self.step - self.changed > self.mean_cycle:
            shorter = max(min(self.prohibition * SMALLER, self.prohibition - 1), 1.0)
            self._become(run, shorter, "no repetition for long")
        return False

    def _become(self, run: Run, prohibition: float, why: str) -> None:
        if prohibition != self.prohibition:
            run.change("prohibition", self.prohibition, prohibition, why)
        self.prohibition, self.changed = prohibition, self.step

    def chosen(self, values: np.ndarray, sets: np.ndarray, best: float, rng: Any) -> int:
        """The best step that is not prohibited, or that reaches a new best; ties at random.

        A step is prohibited where all that it sets was removed lately. Where all steps are, the
        one prohibited for longest is taken.
        """
        last = self.last[sets].min(axis=1)
        allowed = (last < self.step - self.prohibition) | (values < best)
        if not allowed.any():
            allowed = last == last.min()
        least = np.where(allowed, values, np.inf)
        ties = np.flatnonzero(least == least.min())
        return int(ties[0] if len(ties) == 1 else ties[rng.integers(len(ties))])
