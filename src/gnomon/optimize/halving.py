"""Successive halving and Hyperband: many candidates with little, few with much.

The function is called as ``fun(x, resource)``, where the resource counts rows, rounds or seconds.
Successive halving gives all candidates the least resource and keeps the best 1 in ``factor`` of
each round for the next, with ``factor`` times the resource (Jamieson and Talwalkar 2016). Hyperband
runs brackets of it that trade the number of candidates for resource, as nobody knows beforehand how
early good candidates show (Li et al. 2018).
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer


@optimizer("successive-halving", "")
class SuccessiveHalving(Optimizer):
    """Successive halving of random candidates.

    Parameters
    ----------
    n_candidates : int, default=27
    min_resources, max_resources : float, default=1, 27
    factor : int, default=3

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> noisy = lambda x, rows: (x[0] - 0.5) ** 2 + 0.1 / rows
    >>> found = minimize(noisy, [(0, 1)], "successive-halving", random_state=0)
    >>> found.nfev, found.history.resources[39]
    (40, 27.0)
    """

    def __init__(
        self,
        n_candidates: int = 27,
        *,
        min_resources: float = 1,
        max_resources: float = 27,
        factor: int = 3,
    ):
        _check_resources(min_resources, max_resources, factor)
        self.n_candidates, self.factor = n_candidates, factor
        self.min_resources, self.max_resources = min_resources, max_resources

    def _search(self, run: Run) -> Search:
        points = [run.space.sample(run.rng) for _ in range(self.n_candidates)]
        if run.x0 is not None:
            points[0] = run.x0
        yield from halved(run, points, self.min_resources, self.max_resources, self.factor)
        return "one candidate is left"


@optimizer("hyperband", "")
class Hyperband(Optimizer):
    """Hyperband: brackets of successive halving.

    Parameters
    ----------
    min_resources, max_resources : float, default=1, 27
    factor : int, default=3
    """

    def __init__(self, *, min_resources: float = 1, max_resources: float = 27, factor: int = 3):
        _check_resources(min_resources, max_resources, factor)
        self.min_resources, self.max_resources, self.factor = min_resources, max_resources, factor

    def _search(self, run: Run) -> Search:
        ratio = self.max_resources / self.min_resources
        last = math.floor(math.log(ratio, self.factor) + 1e-9)
        for bracket in range(last, -1, -1):
            count = math.ceil((last + 1) / (bracket + 1) * self.factor**bracket)
            least = self.max_resources / self.factor**bracket
            run.change("bracket", bracket + 1, bracket, f"{count} candidates from {least:g} on")
            points = run.space.samples(run.rng, count)
            yield from halved(run, points, least, self.max_resources, self.factor)
        return f"all {last + 1} brackets are done"


def halved(run: Run, points: list, least: float, most: float, factor: int):
    """Rounds of successive halving; each keeps the best 1 in ``factor``."""
    resource = float(least)
    while True:
        values = yield from run.values(points, min(resource, float(most)))
        order = np.argsort(values, kind="stable")
        run.moved(points[int(order[0])], values[order[0]])
        if resource >= most * (1 - 1e-9) or len(points) == 1:
            if resource < most * (1 - 1e-9):
                yield from run.values(points, float(most))
            return
        kept = max(1, len(points) // factor)
        run.change("candidates", len(points), kept, f"the best of those with resource {resource:g}")
        points = [points[int(k)] for k in order[:kept]]
        resource *= factor


def _check_resources(least: float, most: float, factor: int) -> None:
    if not 0 < least <= most:
        raise DataError(f"resources need 0 < min_resources <= max_resources, not {least}, {most}")
    if factor < 2:
        raise DataError(f"factor must be at least 2, not {factor}")
