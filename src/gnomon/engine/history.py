"""The history of a fit: the objective per step, and on request the state, for a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, DictOf, ListOf, Number, Text


@storable
@dataclass
class History:
    """What happened, step by step.

    Attributes
    ----------
    objective : list of float
        The objective after each step, in the method's own sense (see its docstring).
    states : list of dict
        The small state after each step; only with ``keep_history="full"``.
    stopped : str
        Why it ended: ``"converged"``, ``"max_iter"``, ``"callback"`` or ``"done"``.

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> run = KMeans(2, n_init=1, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]]).history_
    >>> run.objective[-1]
    1.0
    """

    objective: list[float] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = "done"
    _stored = {
        "objective": ListOf(Number(finite=False)),
        "states": ListOf(
            DictOf(Array("fi", [(), (None,), (None, None), (None, None, None)]) | Number())
        ),
        "stopped": Text(),
    }

    def __len__(self) -> int:
        return len(self.objective)

    def __iter__(self) -> Iterator[float]:
        return iter(self.objective)

    def __getitem__(self, step: Any) -> Any:
        return self.objective[step]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.objective, dtype=dtype or np.float64)

    def __repr__(self) -> str:
        if not self.objective:
            return "History(no steps)"
        return (
            f"History({len(self)} steps, objective {self.objective[0]:.6g} -> "
            f"{self.objective[-1]:.6g}, {self.stopped})"
        )


class Course:
    """The steps of one running fit: calls the callbacks, keeps the history, stops on request.

    ::

        course = self._course("iteration", max_steps)
        for step in course:
            ...
            if course.end_step(objective, converged=...):
                break
    """

    def __init__(
        self,
        estimator: Any,
        context: Any,
        name: str,
        max_steps: int,
        keep_states: bool,
        given: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.context = context
        self.name = name
        self.max_steps = max_steps
        self.keep_states = keep_states
        self.given = given or {}
        self.history = History()

    def __iter__(self) -> Iterator[int]:
        for step in range(self.max_steps):
            self._task = self._begin()
            yield step
        if self.history.stopped == "done":
            self.history.stopped = "max_iter"

    def _begin(self) -> Any:
        if self.context is None:
            return None
        task = self.context.subcontext(task_name=self.name)
        task.call_on_fit_task_begin(estimator=self.estimator)
        return task

    def end_step(
        self,
        objective: float,
        converged: bool = False,
        state: Callable[[], dict[str, Any]] | None = None,
        attributes: Callable[[], dict[str, Any]] | None = None,
    ) -> bool:
        """Record a finished step; True when the loop should end here."""
        self.history.objective.append(float(objective))
        if self.keep_states and state is not None:
            self.history.states.append(state())
        asked = self._task is not None and self._task.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=attributes, **self.given
        )
        if converged or asked:
            self.history.stopped = "converged" if converged else "callback"
        return bool(converged or asked)
