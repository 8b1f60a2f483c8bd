"""Reactive tabu search on orders, subsets and bit strings.

Each step takes the best neighbor whose move is not prohibited, better or not; what a move changed
may not be changed back for ``prohibition`` steps. Points are remembered: coming back to one makes
the prohibition longer, a long time without such a repetition makes it shorter, and many repetitions
start an escape by random moves.

Texts: 004 1.3 (after Battiti and Tecchiolli 1994).
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Space

REPETITIONS = 1  # returns to a point that make it a much repeated one
CHAOS = 1  # much repeated points that start an escape
LARGER, SMALLER = 1.1, 0.9


@optimizer("reactive-tabu-search", "004 1.3", "tabu", "tabu-search", "rts")
class ReactiveTabuSearch(Optimizer):
    """Reactive tabu search; the space is one Permutation, Subset or Bits.

    Parameters
    ----------
    prohibition : int, default=1
        The first length of prohibition; it adapts itself.

    Examples
    --------
    >>> from gnomon.optimize import Bits, minimize
    >>> trap = lambda bits: 6 - bits.sum() if bits.sum() > 2 else bits.sum() - 4
    >>> minimize(trap, Bits(6), "tabu", x0=np.ones(6, bool), random_state=0).fun
    -4.0
    """

    open_ended = True

    def __init__(self, prohibition: int = 1):
        self.prohibition = prohibition

    def _check(self, space: Space) -> None:
        if not (space.is_single and hasattr(space.dimensions[0], "moves")):
            raise DataError(
                "reactive tabu search needs a space of one Permutation, Subset or Bits; use "
                "'annealing' or 'evolution' for others"
            )

    def _search(self, run: Run) -> Search:
        kind, rng = run.space.dimensions[0], run.rng
        moves = kind.moves()
        x = np.array(run.random_or_start())
        value = yield from run.value(x)
        run.moved(x, value)
        best, prohibition = value, float(self.prohibition)
        most = max(len(moves) - 2, 1)
        set_at: dict[tuple, int] = {}
        visits: dict[bytes, tuple[int, int]] = {}
        last_change = chaotic = 0
        mean_cycle, step = 50.0, 0
        while True:
            step += 1
            key = x.tobytes()
            if key in visits:
                before, count = visits[key]
                visits[key] = (step, count + 1)
                cycle = step - before
                if count + 1 > REPETITIONS:
                    chaotic += 1
                if chaotic > CHAOS:
                    chaotic = 0
                    x, value = yield from self._escape(run, x, kind, rng, mean_cycle)
                    set_at.clear()
                    visits.clear()
                    prohibition = float(self.prohibition)
                    continue
                if cycle < 2 * most:
                    mean_cycle = 0.1 * cycle + 0.9 * mean_cycle
                    longer = min(max(prohibition * LARGER, prohibition + 1), most)
                    run.change("prohibition", prohibition, longer, f"repeated after {cycle} steps")
                    prohibition, last_change = longer, step
            else:
                visits[key] = (step, 1)
            if step - last_change > mean_cycle:
                shorter = max(min(prohibition * SMALLER, prohibition - 1), 1.0)
                if shorter != prohibition:
                    run.change("prohibition", prohibition, shorter, "no repetition for long")
                prohibition, last_change = shorter, step
            points = list(kind.all_moved(x))
            values = yield from run.values(points)
            chosen = self._chosen(x, values, moves, kind, set_at, step, prohibition, best, rng)
            for attribute in kind.attributes(points[chosen], moves[chosen]):
                set_at[attribute] = step
            x, value = points[chosen], float(values[chosen])
            run.moved(x, value)
            best = min(best, value)

    def _chosen(self, x, values, moves, kind, set_at, step, prohibition, best, rng) -> int:
        """The best move that is not prohibited, or that reaches a new best; ties at random."""
        order = np.lexsort((rng.random(len(values)), values))
        oldest, oldest_at = int(order[0]), np.inf
        for k in order:
            if values[k] < best:
                return int(k)
            # a move is prohibited where all that it sets was there lately
            last = min(set_at.get(each, -np.inf) for each in kind.attributes(x, moves[k]))
            if step - last > prohibition:
                return int(k)
            if last < oldest_at:
                oldest, oldest_at = int(k), last
        return oldest

    def _escape(self, run: Run, x, kind, rng, mean_cycle: float):
        count = 1 + int((1 + rng.random()) * mean_cycle / 2)
        run.change("point", "local", f"{count} random moves", "too many repetitions: escape")
        for _ in range(count):
            x = kind.neighbor(x, rng)
        value = yield from run.value(x)
        run.moved(x, value)
        return x, value
