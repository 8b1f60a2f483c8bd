"""Searches that look everywhere: a grid of all combinations, and random points.

Texts: 003 4.1.2 (v values in each of d dimensions cost v^d evaluations) · 004 3.2.
"""

from __future__ import annotations

from itertools import islice, product

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Integer, Real, Space

BATCH = 64  # points of one request
MOST_POINTS = 10_000_000  # judgement: hours at a millisecond each


@optimizer("grid", "003 4.1.2", "brute", "brute-force", "grid-search")
class Grid(Optimizer):
    """All combinations of values; afterwards finer grids around the best.

    Parameters
    ----------
    count : int, default=10
        Values of each real number; other dimensions have all their values.
    refine : int, default=0
        Rounds of finer grids between the neighbors of the best point.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> minimize(lambda x: abs(x[0] - 0.3), [(0, 1)], Grid(11)).x.round(6).tolist()
    [0.3]
    """

    def __init__(self, count: int = 10, *, refine: int = 0):
        if count < 2:
            raise DataError(f"a grid needs at least 2 values of a real number, not {count}")
        self.count, self.refine = count, refine

    def n_points(self, space: Space) -> int:
        """How many points the grid has.

        Parameters
        ----------
        space : Space

        Returns
        -------
        n_points : int
        """
        total = 1
        for each in space.dimensions:
            n = self.count
            if not isinstance(each, Real) or each.step is not None:
                n = 2**each.size if each.size > 20 else len(each.values(self.count))
            total *= n
        return total

    def _search(self, run: Run) -> Search:
        total = self.n_points(run.space)
        if total > MOST_POINTS:
            raise DataError(f"the grid has {total:,} points; take fewer values, or method='random'")
        axes = [each.values(self.count) for each in run.space.dimensions]
        best = yield from self._round(run, axes)
        for number in range(self.refine):
            axes = [
                self._between(dimension, axis, at)
                for dimension, axis, at in zip(
                    run.space.dimensions, axes, run.space.values(best), strict=True
                )
            ]
            run.change("grid", f"round {number}", f"round {number + 1}", "finer around the best")
            best = yield from self._round(run, axes)
        return f"tried all {len(run.trace):,} points"

    def _round(self, run: Run, axes: list):
        best, least = None, np.inf
        points = (run.space.point(values) for values in product(*axes))
        while batch := list(islice(points, BATCH)):
            values = yield from run.values(batch)
            k = int(np.argmin(values))
            if values[k] < least:
                best, least = batch[k], float(values[k])
                run.moved(best, least)
        return best

    def _between(self, dimension, axis: list, at) -> list:
        """Values between the neighbors of the best one; the same ones where there are no more."""
        if isinstance(dimension, Real | Integer) and len(axis) > 1:
            k = int(np.argmin([abs(each - at) for each in axis]))
            low, high = axis[max(k - 1, 0)], axis[min(k + 1, len(axis) - 1)]
            ends = np.linspace(dimension.to_unit(low)[0], dimension.to_unit(high)[0], self.count)
            return sorted({dimension.from_unit(np.array([each])) for each in ends})
        return axis


@optimizer("random", "004 3.2", "random-search")
class RandomSearch(Optimizer):
    """Random points, uniform in the space (or on its logarithmic scales).

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> minimize(lambda x: x[0], [(0, 1)], "random", max_evaluations=20, random_state=0).nfev
    20
    """

    open_ended = True

    def _search(self, run: Run) -> Search:
        if run.x0 is not None:
            yield from run.values([run.x0])
        while True:
            points = run.space.samples(run.rng, BATCH)
            yield from run.values(points)
