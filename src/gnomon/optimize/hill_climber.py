"""Hill climbers: try single steps, take the best, stop when none helps; and restarts of any search.

Texts: 003 4.1.4 (discrete steepest climbing, restarts, a step size per dimension with four
candidates; a random direction that is undone where it is worse gets stuck early). The factors and
the shrinking of steps that do not help are not in the text: 0.8, 1.25 and one half are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.gradient_descent import bounded
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Point


@optimizer("hill-climber", "003 4.1.4", "hill-climbing")
class HillClimber(Optimizer):
    """Discrete steepest hill climbing: all single-step neighbors, the best, until none is better.

    Parameters
    ----------
    neighbors : callable, default=None
        ``neighbors(point)`` gives the points one step away; those of the space by default.

    Examples
    --------
    >>> from gnomon.optimize import Bits, minimize
    >>> minimize(lambda bits: -bits.sum(), Bits(6), "hill-climber", random_state=0).fun
    -6.0
    """

    def __init__(self, neighbors: Callable[[Point], list[Point]] | None = None):
        self.neighbors = neighbors

    def _search(self, run: Run) -> Search:
        x = run.random_or_start()
        value = yield from run.value(x)
        run.moved(x, value)
        near = self.neighbors or run.space.neighbors
        while True:
            points = list(near(x))
            if not points:
                return "the point has no neighbors"
            values = yield from run.values(points)
            best = int(np.argmin(values))
            if not values[best] < value:
                return "no neighbor is better: a local minimum"
            x, value = points[best], float(values[best])
            run.moved(x, value)


@optimizer("adaptive-hill-climber", "003 4.1.4.4")
class AdaptiveHillClimber(Optimizer):
    """Continuous hill climber with a step size per dimension.

    In each dimension four candidates are tried: a little less and a little more than the step, both
    ways. The best that improves is taken and its size becomes the step; otherwise the step shrinks.

    Parameters
    ----------
    initial_step : float, default=0.1
        Relative to the range, or to max(1, |x|) without bounds.
    smaller, larger : float, default=0.8, 1.25
    shrink : float, default=0.5
    tol : float, default=1e-9
        Stop when all steps are smaller.
    candidates : {"coordinates", "random"}, default="coordinates"
        "random" steps in a random direction and undoes it where it is worse; for comparison.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> f = lambda w: 1 + 2 * w[0] + 3 * w[1] + 4 * w[0] * w[1] + 5 * w[0] ** 2 + 6 * w[1] ** 2
    >>> minimize(f, [0.0, 0.0], "adaptive-hill-climber").x.round(6).tolist()
    [-0.115385, -0.211538]
    """

    real_only = True

    def __init__(
        self,
        initial_step: float = 0.1,
        *,
        smaller: float = 0.8,
        larger: float = 1.25,
        shrink: float = 0.5,
        tol: float = 1e-9,
        candidates: str = "coordinates",
    ):
        if candidates not in ("coordinates", "random"):
            raise DataError(f"candidates is 'coordinates' or 'random', not {candidates!r}")
        self.initial_step, self.smaller, self.larger = initial_step, smaller, larger
        self.shrink, self.tol, self.candidates = shrink, tol, candidates

    def _search(self, run: Run) -> Search:
        x, space = run.start(), run.space
        value = yield from run.value(x)
        run.moved(x, value)
        width = space.high - space.low
        steps = self.initial_step * np.where(np.isfinite(width), width, np.maximum(1.0, np.abs(x)))
        while steps.max() > self.tol:
            for j in range(len(x)):
                trials = self._trials(run, x, steps, j)
                values = yield from run.values(trials)
                best = int(np.argmin(values))
                if values[best] < value:
                    after = self._size(steps, j, best, x, trials[best])
                    why = "a candidate improved"
                    x, value = trials[best], float(values[best])
                    run.moved(x, value)
                else:
                    after, why = steps[j] * self.shrink, "no candidate improved"
                run.change(f"step of column {j}", float(steps[j]), float(after), why)
                steps[j] = after
        return f"all steps are smaller than tol ({self.tol:g})"

    def _trials(self, run: Run, x: np.ndarray, steps: np.ndarray, j: int) -> list[np.ndarray]:
        if self.candidates == "random":
            d = run.rng.normal(size=len(x))
            return [bounded(run.space, x + steps[j] * d / np.linalg.norm(d))]
        trials = []
        for factor in (-self.larger, -self.smaller, self.smaller, self.larger):
            trial = x.copy()
            trial[j] += factor * steps[j]
            trials.append(bounded(run.space, trial))
        return trials

    def _size(self, steps: Any, j: int, best: int, x: Any, trial: Any) -> float:
        if self.candidates == "random":
            return float(steps[j])
        return max(abs(float(trial[j] - x[j])), self.tol / 2)


@optimizer("restarts", "003 4.1.4.2", "random-restarts")
class Restarts(Optimizer):
    """A local search from several random starts; all end points are kept.

    Useful in few dimensions; in many, one run does about as well (003 4.1.4.2).

    Parameters
    ----------
    optimizer : Optimizer or str, default="adaptive-hill-climber"
    n_init : int or None, default=None
        Number of starts; None for as many as the budget allows.

    Attributes
    ----------
    ends : list of (point, float)
        Where the searches ended, in order.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> bumps = lambda x: x[0] ** 2 - 5 * np.cos(3 * x[0])
    >>> search = Restarts("newton", n_init=20)
    >>> found = minimize(bumps, [(-9, 9)], search, max_evaluations=3000, random_state=0)
    >>> len(search.ends), bool(abs(found.x[0]) < 1e-4)
    (20, True)
    """

    def __init__(self, optimizer: Any = "adaptive-hill-climber", n_init: int | None = None):
        self.optimizer, self.n_init = optimizer, n_init
        self.open_ended = n_init is None  # type: ignore[misc]

    def _inner(self) -> Optimizer:
        from gnomon.optimize.optimizer import method_named

        if isinstance(self.optimizer, str):
            return method_named(self.optimizer)()
        return self.optimizer

    def _check(self, space: Any) -> None:
        self._inner()._check(space)

    def _search(self, run: Run) -> Search:
        self.ends: list[tuple[Point, float]] = []
        number = 0
        while self.n_init is None or number < self.n_init:
            x = run.x0 if number == 0 and run.x0 is not None else run.space.sample(run.rng)
            if number:
                run.change("start", number, number + 1, "the last search ended")
            again = run.restarted(x)
            begun = len(run.trace)
            why = yield from self._inner()._search(again)
            run.n_iter += again.n_iter
            values = run.trace.values[begun:]
            end = begun + int(np.argmin(values))
            self.ends.append((run.trace.points[end], run.trace.values[end]))
            number += 1
        return f"{number} searches ended, the last because: {why}"
