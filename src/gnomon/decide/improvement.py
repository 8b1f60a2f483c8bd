"""The improvement loop: data, a model of them, better settings, action, new data (004 1, 7).

Outcomes of settings that were tried are interpolated by kriging (004 5, `gnomon.bayes.surface`),
and the next settings are those of the greatest expected improvement on the best loss, as in
`gnomon.bayes.BayesianOptimization`; here a person runs the trials. What "better" means is a goal
that a person edits at any time: weights of measured outcomes, of which a person's own judgement may
be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.bayes.optimization import Proposal
from gnomon.bayes.surface import Surface, groups_of
from gnomon.engine.errors import DataError
from gnomon.optimize.space import as_space
from gnomon.optimize.surrogate import tamed
from gnomon.table import Table

FIRST = 6  # trials at random before the first model
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
        where = as_space(dict(self.space))
        if len(self.trials) < FIRST:
            return where.sample(rng)
        units = np.array([where.encode(each) for each in self.trials])
        losses = tamed(self.losses)
        surface = Surface(units, losses, groups_of(where))
        return where.decode(Proposal(surface, where, units, losses).best(rng)[0])

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
