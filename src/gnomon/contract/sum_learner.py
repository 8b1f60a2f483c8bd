"""SumLearner: a learner whose fit is a loop of sums over chunks of rows.

One piece of mathematics runs at three scales: rows in memory on threads, a table larger than
memory streamed from disk, and (through `gnomon.engine.sums.Executor`) a cluster.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract.data import Data
from gnomon.contract.learner import Learner
from gnomon.engine.history import History
from gnomon.engine.stored import Array, ListOf, Whole
from gnomon.engine.sums import Chunk, Source, Sums, add_up, chunks_memory
from gnomon.engine.threads import blas_for


class Step(NamedTuple):
    """What one pass gave: the next state, the objective before the step, and whether to end."""

    state: Any
    objective: float
    converged: bool


class SumLearner(Learner):
    """A fit as a loop: start, then pass over the rows, add up, update, until converged.

    A method gives four functions of a small *state* (a dict of arrays): the first state, the sums
    of one chunk given the state (pure, so that it can run anywhere), the next state from the
    total, and the public attributes of the last state. Methods of one pass (least squares, naive
    Bayes) have one step.
    """

    _stored = {
        "n_iter_": Whole() | Array("i4", (None,), low=0) | ListOf(Whole()),
    }

    def _start(self, data: Any, rng: np.random.Generator) -> Any:
        """The first state."""
        return {}

    def _sums(self, state: Any, chunk: Chunk) -> Sums:
        """The summary of one chunk; those of all chunks are added entry by entry."""
        raise NotImplementedError

    def _update(self, state: Any, total: Sums) -> Step:
        """The next state from the total of a pass."""
        raise NotImplementedError

    def _attributes(self, state: Any) -> dict[str, Any]:
        """The fitted public attributes that a state stands for."""
        raise NotImplementedError

    def _end(self, state: Any, data: Data) -> None:
        """After the best state's attributes are set: what needs one more look at the rows."""

    def _most_steps(self) -> int:
        return self._passes() * self._starts()

    def _passes(self) -> int:
        return getattr(self, "max_iter", 1)

    def _starts(self) -> int:
        return getattr(self, "n_init", 1)

    def _better(self, one: History, other: History) -> bool:
        """Whether the first of two courses ended better; lower objectives are better here."""
        return one[-1] < other[-1]

    def _fit(self, data: Data) -> None:
        with blas_for(data.n_columns):
            self._pass_over(data)

    def _pass_over(self, data: Data) -> None:
        """Run from every start and keep the best."""
        rng = self._rng()
        best: tuple[Any, History] | None = None
        for _ in range(self._starts()):
            state, history = self._run(data, rng)
            if best is None or self._better(history, best[1]):
                best = state, history
            if history.stopped == "callback":
                break
        assert best is not None
        state, history = best
        self._keep(self._attributes(state))
        self.history_ = history
        self.n_iter_ = len(history)
        self._end(state, data)

    def _run(self, data: Data, rng: np.random.Generator) -> tuple[Any, History]:
        return self._pass_from(self._start(data, rng), data)

    def _pass_from(self, state: Any, data: Data) -> tuple[Any, History]:
        """Pass over the rows from a first state on."""
        course = self._course("pass", self._passes())
        for _ in course:
            total = self._total(state, data.source)
            state, objective, converged = self._update(state, total)
            if course.end_step(
                objective,
                converged,
                state=partial(self._replayable, state),
                attributes=partial(self._attributes_in_full, state),
            ):
                break
        return state, course.history

    def _total(self, state: Any, source: Source) -> Sums:
        jobs = getattr(self, "n_jobs", None)
        return add_up(partial(self._sums, state), source, jobs, self._seconds(source))

    def _seconds(self, source: Source) -> float | None:
        """About how long a chunk takes, where that is known before any is summed."""
        return None

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        chunks = chunks_memory(n_rows, n_columns, getattr(self, "n_jobs", None))
        return super()._working_memory(n_rows, n_columns) + chunks

    def _replayable(self, state: Any) -> dict[str, Any]:
        """The part of the state that a replay needs; a copy."""
        return {k: np.array(v) for k, v in state.items() if isinstance(v, (np.ndarray, float))}

    def _attributes_in_full(self, state: Any) -> dict[str, Any]:
        """What a callback needs to make a usable estimator of the state in the middle of a fit."""
        return self._public() | self._attributes(state)
