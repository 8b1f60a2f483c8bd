"""Replay of a fit: its parameters and its objective after every step (001 8, 002 8).

Every iterative method keeps its steps with ``keep_history="full"``; `show.replay` draws them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize.trace import Trace

MOST_STEPS = 120  # judgement: a replay of a minute in half seconds; more frames load slowly


@dataclass(repr=False)
class Replay(Result):
    """The steps of a fit.

    Attributes
    ----------
    method : str
    objective : list of float
        After each step.
    states : list of dict
        The parameters after each step, under the names of the fitted attributes.
    stopped : str
        Why it ended.
    model : estimator
        As it was at the end.
    """

    method: str
    objective: list[float]
    states: list[dict[str, Any]]
    stopped: str
    model: Any

    def __len__(self) -> int:
        return len(self.states)

    def at(self, step: int) -> Any:
        """The model as it was after a step, ready to predict.

        Parameters
        ----------
        step : int
            From 0; negative ones count from the end.

        Returns
        -------
        model : estimator
            Its history ends at that step.
        """
        if not -len(self) <= step < len(self):
            raise DataError(f"there is no step {step}: the fit took {len(self)}")
        step %= len(self)
        model = copy.deepcopy(self.model)
        for name, value in self._attributes(step).items():
            setattr(model, name, copy.deepcopy(value))
        model.history_.objective = model.history_.objective[: step + 1]
        model.history_.states = model.history_.states[: step + 1]
        return model

    def _attributes(self, step: int) -> dict[str, Any]:
        """The fitted attributes that a state stands for."""
        state = self.states[step]
        if all(hasattr(self.model, f"{name}_") for name in state):
            return {f"{name}_": value for name, value in state.items()}
        raise DataError(
            f"{self.method} cannot be set back to a step: its states hold {', '.join(state)}, "
            "which path() gives"
        )

    def path(self, name: str) -> np.ndarray:
        """A parameter over the steps.

        Parameters
        ----------
        name : str

        Returns
        -------
        path : ndarray of shape (n_steps, ...)
        """
        known = list(self.states[0])
        if name not in known:
            raise DataError(f"there is no parameter {name!r}; there are {', '.join(known)}")
        return np.stack([np.asarray(state[name], dtype=float) for state in self.states])

    def _title(self) -> str:
        return f"{self.method}: {len(self)} steps, {self.stopped}"

    def _columns(self) -> dict[str, list[Any]]:
        paths = {name: self._path_of_numbers(name) for name in self.states[0]}
        moved = {
            f"{name} moved": [np.nan, *farthest(path)]
            for name, path in paths.items()
            if path is not None
        }
        return {"step": list(range(len(self))), "objective": self.objective, **moved}

    def _path_of_numbers(self, name: str) -> np.ndarray | None:
        try:
            path = self.path(name)
        except (ValueError, TypeError):  # sizes change, or it is no number
            return None
        return path if len(self) > 1 and path[0].size else None


def farthest(path: np.ndarray) -> np.ndarray:
    """The largest change of an entry from each step to the next."""
    return np.abs(np.diff(path, axis=0)).reshape(len(path) - 1, -1).max(axis=1)


def replay(model: Any) -> Replay:
    """The steps of a fitted method, one by one.

    Parameters
    ----------
    model : fitted estimator, PageRank or OptimizeResult
        Made with ``keep_history="full"``, or found by `gnomon.optimize.minimize`: of a search,
        120 moments at equal distances are kept.

    Returns
    -------
    replay : Replay

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> rows = [[0.0], [1.0], [5.0], [9.0], [10.0]]
    >>> model = KMeans(2, n_init=1, keep_history="full", random_state=0).fit(rows)
    >>> steps = replay(model)
    >>> bool((steps.at(-1).predict(rows) == model.predict(rows)).all())
    True
    """
    name = type(model).__name__
    if isinstance(getattr(model, "history", None), Trace):
        return steps_of_search(model)
    history = getattr(model, "history_", None)
    if history is None:
        raise DataError(f"{name} has no history: it is not fitted, or has no steps")
    if not history.states:
        raise DataError(f'{name} kept no states: fit it with keep_history="full"')
    count = len(history.states)
    return Replay(name, history.objective[-count:], history.states, history.stopped, model)


def steps_of_search(found: Any) -> Replay:
    """Where a search stood, and what it had changed about itself, after some evaluations."""
    trace = found.history
    best = trace.best
    path = trace.path or list(zip(range(1, len(trace) + 1), trace.points, trace.values))
    numbers = [change for change in trace.changes if isinstance(change.after, int | float)]
    objective, states = [], []
    at = changed = 0
    present: dict[str, Any] = {each.name: each.after for each in reversed(numbers)}
    for moment in np.unique(np.linspace(1, len(trace), MOST_STEPS).astype(int)).tolist():
        while at + 1 < len(path) and path[at + 1][0] <= moment:
            at += 1
        while changed < len(numbers) and numbers[changed].evaluation <= moment:
            present[numbers[changed].name] = numbers[changed].after
            changed += 1
        objective.append(float(path[at][2]))
        least = float(best[moment - 1])
        states.append(present | {"least": least, "evaluations": moment, "x": path[at][1]})
    return Replay(found.method, objective, states, found.message, found)
