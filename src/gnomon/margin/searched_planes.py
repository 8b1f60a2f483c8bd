"""SearchedPlanes: what the linear machines share that search planes step by step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.margin.distinct import DENSE_CELLS
from gnomon.margin.linear_solvers import (
    CoordinateDescent,
    InteriorPoint,
    NewtonDescent,
    PlaneSearch,
)

# Rows per column from which on steps of second order pay.
MANY_ROWS = 3
MOST_COLUMNS = 2000  # whose products are still solved for at each step
CLOSER = 0.01  # the duality gap, as a share of tol


class SearchedPlanes:
    """Mixin of LinearSVC and LinearSVR."""

    loss: str
    solver: str

    def _search(self, n: int, d: int) -> type[PlaneSearch]:
        few = d <= MOST_COLUMNS and n >= MANY_ROWS * d
        if self.solver == "coordinate" or (self.solver == "auto" and not few):
            return CoordinateDescent
        return NewtonDescent if self.loss.startswith("squared") else InteriorPoint

    def _follow(
        self: Any,
        runs: Sequence[PlaneSearch],
        planes: Callable[[], np.ndarray],
        attributes: Callable[[], dict[str, Any]],
    ) -> None:
        """Let the searches make their steps, and keep where they end."""
        rng = self._rng()
        course = self._course("step", self.max_iter)
        for _ in course:
            for run in runs:
                run.step(rng)
            if course.end_step(
                sum(run.dual_objective for run in runs),
                converged=all(run.ended for run in runs),
                state=lambda: {"planes": planes()},
                attributes=attributes,
            ):
                break
        self._keep(attributes())
        self.history_, self.n_iter_ = course.history, len(course.history)
        worst = np.max(self.duality_gap_, initial=0.0)
        if worst > CLOSER * self.tol and course.history.stopped != "callback":
            warnings.warn(
                f"{type(self).__name__} has not converged in {self.n_iter_} steps: duality gap "
                f"{worst:.3g} of the objective, tol={self.tol:g}. Scale the columns, lower C, or "
                "increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        if n_rows * n_columns <= DENSE_CELLS:
            return None
        # liblinear's own copy has 16 bytes for each entry; equal rows are found in another
        return 56 * n_entries + 8 * (60 * n_rows + 24 * n_columns)
