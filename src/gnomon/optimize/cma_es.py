"""CMA-ES: a normal distribution that learns scale, correlations and step size from ranks.

Points are drawn from N(m, s^2 C). The mean moves to a weighted mean of the better half; C learns
from the path of the mean and from the ranked points (the worse half with negative weights); the
step s follows the length of the path. Invariant under rotation, shift and monotone changes of the
function. When a run has converged or stalled it restarts with twice the population.

Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with active update; restarts after Auger
and Hansen (2005).
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.space import Integer, reflected

LEAST_STEP = 1e-11  # standard deviations below this share of the first end a run
LARGEST_CONDITION = 1e14  # Hansen's limit (tutorial, "conditioncov")


@optimizer("cma-es", "", "cma")
class CMAES(Optimizer):
    """Covariance matrix adaptation evolution strategy with increasing population.

    Parameters
    ----------
    sigma : float, default=0.3
        First standard deviation: a share of the ranges, or of max(1, |x0|) without bounds.
    population_size : int, default=None
        4 + 3 ln(d) by default.
    n_init : int or None, default=None
        Most runs; each next one has twice the population. None for as many as the budget allows.

    Examples
    --------
    >>> from scipy.optimize import rosen
    >>> from gnomon.optimize import minimize
    >>> found = minimize(rosen, [(-2, 2)] * 4, "cma-es", max_evaluations=3000, random_state=0)
    >>> bool(found.fun < 1e-9)
    True
    """

    def __init__(
        self,
        sigma: float = 0.3,
        *,
        population_size: int | None = None,
        n_init: int | None = None,
    ):
        if not sigma > 0:
            raise DataError(f"sigma must be above 0, not {sigma}")
        if population_size is not None and population_size < 4:
            raise DataError(f"population_size must be at least 4, not {population_size}")
        self.sigma, self.population_size, self.n_init = sigma, population_size, n_init
        self.open_ended = n_init is None  # type: ignore[misc]

    def _search(self, run: Run) -> Search:
        space = run.space
        unit = space.bounded
        n = space.size
        size = self.population_size or 4 + int(3 * np.log(n))
        number = 0
        while self.n_init is None or number < self.n_init:
            start = run.start() if number == 0 or not unit else space.sample(run.rng)
            mean = space.encode(start) if unit else np.array(start, dtype=float)
            scale = np.ones(n) if unit else np.maximum(1.0, np.abs(mean))
            why = yield from self._one_run(run, mean, scale, size)
            number += 1
            run.change("population", size, 2 * size, f"restart: {why}")
            size *= 2
        return f"{number} runs ended, the last because: {why}"

    def _one_run(self, run: Run, mean: np.ndarray, scale: np.ndarray, size: int):
        space, unit = run.space, run.space.bounded
        state = Adaptation(mean / scale, self.sigma, size)
        floor = _least_deviations(space) if unit else np.zeros(space.size)
        history: list[float] = []
        longest = 10 + int(30 * space.size / size)
        while True:
            drawn = state.sample(run.rng)
            if unit:
                points = space.decode_all(reflected(drawn))
            else:
                points = list(np.clip(drawn * scale, space.low, space.high))
            values = yield from run.values(points)
            order = np.argsort(values, kind="stable")
            before = state.sigma
            state.update(drawn[order])
            state.keep_deviations(floor)
            k = int(order[0])
            run.moved(points[k], values[k])
            if state.generation % 10 == 0:
                why = "path of the mean longer than by chance"
                if state.sigma < before:
                    why = "path of the mean shorter than by chance"
                run.change("sigma", before, state.sigma, why)
            history.append(float(values[k]))
            why = self._reason(state, history, values, longest, floor)
            if why:
                return why

    def _reason(self, state, history, values, longest, floor) -> str:
        recent = history[-longest:]
        spread = max(values.max(), max(recent)) - min(values.min(), min(recent))
        if len(history) >= longest and spread < 1e-12 + 1e-13 * abs(history[-1]):
            return "values are equal"
        deviations = state.sigma * np.sqrt(np.diag(state.C))
        if (deviations < np.maximum(LEAST_STEP * self.sigma, 1.01 * floor)).all():
            return "the distribution is smaller than rounding"
        if state.condition > LARGEST_CONDITION:
            return "the covariance is ill-conditioned"
        window = 120 + int(30 * len(state.mean) / len(values))
        if len(history) > 2 * window:
            old, new = np.median(history[-2 * window : -window]), np.median(history[-window:])
            if new >= old:
                return "stagnation"
        return ""


class Adaptation:
    """Mean, step size and covariance of the distribution, and their update."""

    def __init__(self, mean: np.ndarray, sigma: float, size: int):
        n = len(mean)
        self.mean, self.sigma, self.size, self.n = mean, sigma, size, n
        raw = np.log((size + 1) / 2) - np.log(np.arange(1, size + 1))
        mu = size // 2
        effective = raw[:mu].sum() ** 2 / (raw[:mu] ** 2).sum()
        negative = raw[mu:].sum() ** 2 / max((raw[mu:] ** 2).sum(), 1e-300)
        self.c_sigma = (effective + 2) / (n + effective + 5)
        self.d_sigma = 1 + 2 * max(0.0, np.sqrt((effective - 1) / (n + 1)) - 1) + self.c_sigma
        self.c_c = (4 + effective / n) / (n + 4 + 2 * effective / n)
        self.c_1 = 2 / ((n + 1.3) ** 2 + effective)
        c_mu = 2 * (effective - 2 + 1 / effective) / ((n + 2) ** 2 + effective)
        self.c_mu = min(1 - self.c_1, c_mu)
        bound = min(
            1 + self.c_1 / self.c_mu if self.c_mu else 1.0,
            1 + 2 * negative / (effective + 2),
            (1 - self.c_1 - self.c_mu) / (n * self.c_mu) if self.c_mu else 1.0,
        )
        self.weights = np.where(
            raw >= 0, raw / raw[raw > 0].sum(), bound * raw / max(-raw[raw < 0].sum(), 1e-300)
        )
        self.mu, self.effective = mu, effective
        self.C, self.B, self.D = np.eye(n), np.eye(n), np.ones(n)
        self.p_sigma, self.p_c = np.zeros(n), np.zeros(n)
        self.expected = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        self.generation = self.decomposed = 0
        self.every = max(1, int(1 / (10 * n * (self.c_1 + self.c_mu))))

    @property
    def condition(self) -> float:
        """Condition number of the covariance."""
        return float((self.D.max() / self.D.min()) ** 2)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """A generation, one point per row."""
        z = rng.normal(size=(self.size, self.n))
        return self.mean + self.sigma * (z * self.D) @ self.B.T

    def update(self, ranked: np.ndarray) -> None:
        """Learn from a generation, best first."""
        self.generation += 1
        steps = (ranked - self.mean) / self.sigma
        moved = self.weights[: self.mu] @ steps[: self.mu]
        self.mean = self.mean + self.sigma * moved
        whitened = (moved @ self.B / self.D) @ self.B.T
        grown = np.sqrt(self.c_sigma * (2 - self.c_sigma) * self.effective)
        self.p_sigma = (1 - self.c_sigma) * self.p_sigma + grown * whitened
        length = float(np.linalg.norm(self.p_sigma))
        fresh = np.sqrt(1 - (1 - self.c_sigma) ** (2 * self.generation))
        h = float(length / fresh < (1.4 + 2 / (self.n + 1)) * self.expected)
        along = np.sqrt(self.c_c * (2 - self.c_c) * self.effective)
        self.p_c = (1 - self.c_c) * self.p_c + h * along * moved
        sizes = ((steps @ self.B / self.D) ** 2).sum(axis=1)
        weights = np.where(self.weights >= 0, self.weights, self.weights * self.n / sizes)
        kept = 1 + self.c_1 * (1 - h) * self.c_c * (2 - self.c_c)
        kept -= self.c_1 + self.c_mu * self.weights.sum()
        self.C = kept * self.C + self.c_1 * np.outer(self.p_c, self.p_c)
        self.C += self.c_mu * (steps.T * weights) @ steps
        growth = (self.c_sigma / self.d_sigma) * (length / self.expected - 1)
        self.sigma *= float(np.exp(min(growth, 1.0)))
        if self.generation - self.decomposed >= self.every:
            self._decompose()

    def _decompose(self) -> None:
        self.decomposed = self.generation
        self.C = (self.C + self.C.T) / 2
        values, self.B = np.linalg.eigh(self.C)
        self.D = np.sqrt(np.maximum(values, 1e-20 * max(values.max(), 1e-300)))

    def keep_deviations(self, floor: np.ndarray) -> None:
        """Keep standard deviations of whole numbers and categories above a floor."""
        if not floor.any():
            return
        deviations = self.sigma * np.sqrt(np.diag(self.C))
        short = deviations < floor
        if short.any():
            factor = np.where(short, floor / np.maximum(deviations, 1e-300), 1.0)
            self.C *= np.outer(factor, factor)
            self._decompose()


def _least_deviations(space) -> np.ndarray:
    """For each coordinate, the deviation below which a whole number would never change."""
    parts = []
    for each in space.dimensions:
        if isinstance(each, Integer):
            steps = (each.high - each.low) // each.step + 1
            parts.append(np.full(each.size, 0.2 / steps))
        else:
            parts.append(np.zeros(each.size))
    return np.concatenate(parts)
