"""The improvement loop: data, a model of them, better settings, action, new data (004 1, 7).

Outcomes of settings that were tried are interpolated by a Gaussian process (kriging, 004 5), with
mean m(x) and deviation s(x); the next settings are those of the greatest expected improvement,

    EI(x) = (best - m) Phi(z) + s phi(z),   z = (best - m) / s,

among settings drawn at random and near the best ones. What "better" means is a goal that a person
edits at any time: weights of measured outcomes, of which a person's own judgement may be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg, stats

from gnomon.engine.errors import DataError
from gnomon.table import Table

FIRST = 6
CANDIDATES = 1_000
NEAR = 0.1
WIDTHS = (0.1, 0.2, 0.4, 0.8, 1.6)
NUGGET = 1e-6
Range = Sequence[Any]


@dataclass
class ImprovementLoop:
    """Proposes the next experiment, learns from its outcome, and says what is best so far.

    Use it where a trial is dear and there are up to a dozen settings. Not where gradients are
    known, nor for thousands of trials.

    Parameters
    ----------
    space : dict of str to (low, high) or list of str
        Settings and what they may be.
    goal : dict of str to float
        Weights of the outcomes; what is least is best, so a weight below zero wants much of it.
        May be edited between trials: what was measured stays.
    random_state : int, default=0

    Examples
    --------
    >>> loop = ImprovementLoop({"heat": (0.0, 10.0)}, {"waste": 1.0})
    >>> for _ in range(20):
    ...     settings = loop.propose()
    ...     loop.record(settings, {"waste": (settings["heat"] - 3) ** 2})
    >>> abs(loop.best["heat"] - 3) < 1
    True
    """

    space: Mapping[str, Range]
    goal: dict[str, float]
    random_state: int = 0
    trials: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.space or not self.goal:
            raise DataError("give settings to vary (space=) and outcomes that count (goal=)")

    def record(self, settings: Mapping[str, Any], outcome: Mapping[str, float]) -> None:
        """Keep what a trial gave; further outcomes than the goal's may be there.

        Parameters
        ----------
        settings : dict
        outcome : dict of str to float
            Measured, or judged by a person.
        """
        unknown = set(self.space) ^ set(settings)
        if unknown:
            raise DataError(f"settings and space differ in {', '.join(sorted(unknown))}")
        missing = [name for name in self.goal if not np.isfinite(outcome.get(name, np.nan))]
        if missing:
            raise DataError(f"the outcome has no number for {', '.join(missing)}")
        self.trials.append(dict(settings))
        self.outcomes.append(dict(outcome))

    @property
    def losses(self) -> np.ndarray:
        """What each trial is worth under the present goal; least is best."""
        missing = {name for each in self.outcomes for name in self.goal if name not in each}
        if missing:
            raise DataError(f"{', '.join(sorted(missing))} was not measured in every trial")
        weighted = [[w * each[name] for name, w in self.goal.items()] for each in self.outcomes]
        return np.array(weighted, dtype=float).reshape(len(self.trials), -1).sum(axis=1)

    @property
    def best(self) -> dict[str, Any]:
        """The best settings so far, under the present goal."""
        if not self.trials:
            raise DataError("there are no trials yet: propose() one, and record() its outcome")
        return self.trials[int(self.losses.argmin())]

    def propose(self) -> dict[str, Any]:
        """The settings of the next trial.

        Returns
        -------
        settings : dict
        """
        rng = np.random.default_rng([self.random_state, len(self.trials)])
        if len(self.trials) < FIRST:
            return self._drawn(rng)
        losses = self.losses
        good = [self.trials[i] for i in np.argsort(losses, kind="stable")[:3]]
        candidates = [self._drawn(rng) for _ in range(CANDIDATES // 2)]
        candidates += [self._near(good[i % len(good)], rng) for i in range(CANDIDATES // 2)]
        expected = expected_improvement(
            self._numbers(self.trials), losses, self._numbers(candidates)
        )
        return candidates[int(expected.argmax())]

    def table(self) -> Table:
        """Settings, outcomes and worth of all trials.

        Returns
        -------
        table : Table
        """
        columns = {name: [each[name] for each in self.trials] for name in self.space}
        outcomes = dict.fromkeys(name for each in self.outcomes for name in each)
        columns |= {name: [each.get(name) for each in self.outcomes] for name in outcomes}
        return Table.from_dict(columns | {"loss under the goal": self.losses.tolist()})

    def _drawn(self, rng: np.random.Generator) -> dict[str, Any]:
        return {
            name: float(rng.uniform(*may)) if is_range(may) else str(rng.choice(list(may)))
            for name, may in self.space.items()
        }

    def _near(self, settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        other = self._drawn(rng)
        for name, may in self.space.items():
            if is_range(may):
                low, high = may
                moved = settings[name] + NEAR * (high - low) * rng.normal()
                other[name] = float(np.clip(moved, low, high))
            elif rng.random() > NEAR:
                other[name] = settings[name]
        return other

    def _numbers(self, trials: list[dict[str, Any]]) -> np.ndarray:
        """Settings between 0 and 1; a column of 0 and 1 for every level."""
        columns = []
        for name, may in self.space.items():
            if is_range(may):
                low, width = may[0], max(may[1] - may[0], 1e-300)
                columns.append([[(each[name] - low) / width] for each in trials])
            else:
                columns.append([[float(each[name] == level) for level in may] for each in trials])
        return np.hstack([np.array(column, dtype=float) for column in columns])


def expected_improvement(rows: np.ndarray, losses: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Expected improvement over the least loss at some places.

    The width of the Gaussian kernel is that of the greatest likelihood among a few.
    """
    spread = losses.std() or 1.0
    y = (losses - losses.mean()) / spread
    fits = [kriged(rows, y, width) for width in WIDTHS]
    width, (factor, weights, _) = max(zip(WIDTHS, fits), key=lambda each: each[1][2])
    across = gaussian(places, rows, width)
    mean = across @ weights
    inside = linalg.solve_triangular(factor, across.T, lower=True)
    deviation = np.sqrt(np.maximum(1 - (inside**2).sum(axis=0), 1e-12))
    gap = y.min() - mean
    z = gap / deviation
    return spread * (gap * stats.norm.cdf(z) + deviation * stats.norm.pdf(z))


def kriged(rows: np.ndarray, y: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Cholesky factor, weights and log-likelihood of a Gaussian process."""
    factor = linalg.cholesky(gaussian(rows, rows, width) + NUGGET * np.eye(len(y)), lower=True)
    weights = linalg.cho_solve((factor, True), y)
    return factor, weights, float(-0.5 * y @ weights - np.log(np.diag(factor)).sum())


def gaussian(one: np.ndarray, other: np.ndarray, width: float) -> np.ndarray:
    """exp(-|x - x'|^2 / 2 width^2)."""
    squares = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width**2))


def is_range(may: Range) -> bool:
    """Whether a setting is a number between two ends."""
    return len(may) == 2 and not any(isinstance(each, str) for each in may)
