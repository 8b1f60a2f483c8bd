"""Nelder and Mead's simplex: d + 1 points that reflect, expand, contract and shrink.

Uses values only. In more than two dimensions it can degenerate (McKinnon 1998); then it restarts
from the best point with a fresh simplex, which the trace tells.
"""

from __future__ import annotations

import numpy as np

from gnomon.optimize.gradient_descent import bounded
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer

DEGENERATE = 1e-10  # ratio of simplex volume to that of a regular one of its size


@optimizer("nelder-mead", "", "simplex")
class NelderMead(Optimizer):
    """Nelder-Mead simplex with restarts; coefficients by dimension (Gao and Han 2012).

    Parameters
    ----------
    tol : float, default=1e-8
        Stop when values and places of the simplex differ by less.
    n_init : int, default=4
        Most restarts of a degenerate or ended simplex.
    initial_step : float, default=0.1
        Relative to each coordinate, or to the range where there are bounds.

    Examples
    --------
    >>> from scipy.optimize import rosen
    >>> from gnomon.optimize import minimize
    >>> minimize(rosen, [-1.2, 1.0], "nelder-mead").x.round(3).tolist()
    [1.0, 1.0]
    """

    real_only = True

    def __init__(self, *, tol: float = 1e-8, n_init: int = 4, initial_step: float = 0.1):
        self.tol, self.n_init, self.initial_step = tol, n_init, initial_step

    def _search(self, run: Run) -> Search:
        x = run.start()
        value = yield from run.value(x)
        for attempt in range(self.n_init):
            step = self.initial_step / 4**attempt
            new, found, why = yield from self._descend(run, x, value, step)
            improved = value - found > self.tol * max(1.0, abs(found))
            x, value = new, found
            if why == "converged" and not improved and attempt > 0:
                break
            if attempt + 1 < self.n_init:
                run.change("simplex", why, "fresh", "restart from the best point")
        return f"the simplex is smaller than tol ({self.tol:g})"

    def _descend(self, run: Run, x: np.ndarray, value: float, step: float):
        n, space = len(x), run.space
        widths = space.high - space.low
        scale = np.where(np.isfinite(widths), widths, np.maximum(np.abs(x), 1.0)) * step
        points = [x]
        for j in range(n):
            corner = x.copy()
            corner[j] += scale[j] if x[j] + scale[j] <= space.high[j] else -scale[j]
            points.append(corner)
        simplex = np.array(points)
        others = yield from run.values(points[1:])
        values = np.array([value, *others])
        expand, contract, shrink = 1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n
        if n == 1:
            expand, contract, shrink = 2.0, 0.5, 0.5
        while True:
            order = np.argsort(values, kind="stable")
            simplex, values = simplex[order], values[order]
            run.moved(simplex[0], values[0])
            spread = np.abs(simplex[1:] - simplex[0]).max()
            if spread <= self.tol * max(1.0, np.abs(simplex[0]).max()) and (
                values[-1] - values[0] <= self.tol * max(1.0, abs(values[0]))
            ):
                return simplex[0], float(values[0]), "converged"
            edges = (simplex[1:] - simplex[0]) / spread if spread else np.zeros((n, n))
            if abs(np.linalg.det(edges)) < DEGENERATE**n:
                return simplex[0], float(values[0]), "degenerate"
            middle = simplex[:-1].mean(axis=0)

            def at(t: float, center: np.ndarray = middle, worst: np.ndarray = simplex[-1]):
                return bounded(space, center + t * (worst - center))

            mirrored = at(-1.0)
            f_mirrored = yield from run.value(mirrored)
            if values[0] <= f_mirrored < values[-2]:
                simplex[-1], values[-1] = mirrored, f_mirrored
                continue
            if f_mirrored < values[0]:
                far = at(-expand)
                f_far = yield from run.value(far)
                better = f_far < f_mirrored
                simplex[-1], values[-1] = (far, f_far) if better else (mirrored, f_mirrored)
                continue
            near = at(-contract if f_mirrored < values[-1] else contract)
            f_near = yield from run.value(near)
            if f_near < min(f_mirrored, values[-1]):
                simplex[-1], values[-1] = near, f_near
                continue
            simplex[1:] = simplex[0] + shrink * (simplex[1:] - simplex[0])
            values[1:] = yield from run.values(list(simplex[1:].copy()))
