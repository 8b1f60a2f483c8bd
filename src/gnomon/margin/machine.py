"""What kernel machines share: their kernel, their rows, their memory, what they say of new rows.

A fitted machine is an expansion f(x) = sum_i c_i k(x_i, x) + b over its support vectors. Several
expansions (one per pair of classes) share the union of their support vectors, so that kernel values
are computed once. Prediction is a matrix product, one vectorised function and another product per
block of rows, on all threads.

Texts: 001 8 · 002 L1716 · 004 10.1.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Learner, Takes
from gnomon.engine.errors import DataError
from gnomon.engine.history import Course, History
from gnomon.engine.parameters import HISTORY, JOBS, Interval, StrOptions, above, whole
from gnomon.engine.threads import resolve_jobs
from gnomon.margin.distinct import DENSE_CELLS, Distinct, distinct_rows, warn_unscaled
from gnomon.margin.kernels import WORDS, Kernel, dense, kernel_of, warn_indefinite
from gnomon.margin.working_set import (
    COLUMNS_AT_ONCE,
    ROWS_AT_ONCE,
    WORKING_SET,
    Programme,
    Solution,
    cached_rows,
    solve,
)

MEGABYTE = 2**20
CELLS_AT_ONCE = 2**19
# Cubes of squares of such numbers can be computed with.
LARGEST = 1e50

KERNEL_PARAMETERS: dict[str, list] = {
    "kernel": [StrOptions(set(WORDS)), Kernel, callable],
    "gamma": [above(0.0), StrOptions({"scale", "auto", "median"})],
    "degree": [whole(1)],
    "coef0": [Interval(Real, None, None, closed="neither")],
}
MACHINE_PARAMETERS: dict[str, list] = {
    "tol": [above(0.0)],
    "cache_size": [above(0.0)],
    "max_iter": [whole(1), None],
    "keep_history": HISTORY,
    "n_jobs": JOBS,
}
UNKNOWN_STEPS = 100_000  # how many working sets there will be nobody knows


@dataclass
class MachineRows:
    """Training rows of a machine.

    Attributes
    ----------
    kernel : Kernel
        With numbers for all its parameters.
    rows : ndarray
        Distinct rows, sparse where they were given so, or the matrix of similarities.
    y : ndarray or None
    weights : ndarray
    origin : int64 array
        Where each row stands in the table that was given.
    """

    kernel: Kernel
    rows: Any
    y: Any
    weights: np.ndarray
    origin: np.ndarray

    def part(self, places: np.ndarray) -> MachineRows:
        """Some of the rows."""
        rows = self.rows[np.ix_(places, places)] if self.kernel.pairwise else self.rows[places]
        y = None if self.y is None else self.y[places]
        return MachineRows(self.kernel, rows, y, self.weights[places], self.origin[places])


class WorkingSets:
    """Tells the callbacks of each working set, and hears a wish to stop."""

    def __init__(self, course: Course):
        self.course = course
        self.steps = iter(course)
        self.stop = False

    def __call__(self, objective: float) -> bool:
        if next(self.steps, None) is not None:
            self.stop = self.course.end_step(-objective)
        return self.stop


class KernelMachine(Learner):
    """Base of the machines; has the parameters of `KERNEL_PARAMETERS` and `MACHINE_PARAMETERS`."""

    natively = Takes(sparse=True)
    _largest = LARGEST
    _keeps_rows: ClassVar[bool] = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel().pairwise
        return tags

    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel, self.gamma, self.degree, self.coef0)

    def _machine_rows(self, data: Data) -> MachineRows:
        kernel = self._kernel()
        if kernel.pairwise:
            return self._similarities(kernel, data)
        given: Distinct = distinct_rows(data)
        warn_unscaled(given.rows, type(self).__name__)
        first = np.full(given.rows.shape[0], -1, dtype=np.int64)
        here = np.arange(data.n_rows)[::-1]
        first[given.places[::-1]] = here if data.kept is None else np.flatnonzero(data.kept)[here]
        kernel = kernel.fitted(given.rows, given.weights)
        warn_indefinite(kernel, given.rows)
        return MachineRows(kernel, given.rows, given.y, given.weights, first)

    def _similarities(self, kernel: Kernel, data: Data) -> MachineRows:
        matrix = np.asarray(dense(data.rows), dtype=np.float64)
        n_given = data.n_rows if data.kept is None else len(data.kept)
        if matrix.shape[1] != n_given:
            raise DataError(
                f"kernel='precomputed' takes the square matrix of similarities of all training "
                f"rows, and X has shape ({n_given}, {matrix.shape[1]})"
            )
        origin = np.arange(n_given) if data.kept is None else np.flatnonzero(data.kept)
        matrix = np.ascontiguousarray(matrix[:, origin])
        warn_indefinite(kernel, matrix)
        return MachineRows(kernel, matrix, data.y, data.weight_array, origin)

    def _most_steps(self) -> int:
        return UNKNOWN_STEPS

    def _working_sets(self) -> WorkingSets:
        return WorkingSets(self._course("working set", UNKNOWN_STEPS))

    def _keep_course(self, solutions: list[Solution]) -> None:
        """The history of all programmes together: after so many working sets of each."""
        self.n_iter_ = max((len(each.course) for each in solutions), default=0)
        rounds = [
            [each.course[min(k, len(each.course) - 1)] for each in solutions]
            for k in range(self.n_iter_)
        ]
        history = History([-float(sum(objective for _, objective in each)) for each in rounds])
        if self.keep_history == "full":
            history.states = [{"kkt_violation": np.array([gap for gap, _ in r])} for r in rounds]
        if any(each.stopped for each in solutions):
            history.stopped = "callback"
        else:
            done = all(each.converged for each in solutions)
            history.stopped = "converged" if done else "max_iter"
        self.history_ = history

    def _solve(
        self,
        programme: Programme,
        given: MachineRows,
        ridge: np.ndarray | None = None,
        tell: WorkingSets | None = None,
    ) -> Solution:
        solution = solve(
            programme,
            given.kernel,
            given.rows,
            tol=self.tol,
            ridge=ridge,
            cache_bytes=int(self.cache_size * MEGABYTE),
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            tell=tell,
        )
        if not (solution.converged or solution.stopped):
            self._tell_unconverged(solution, programme)
        return solution

    def _tell_unconverged(self, solution: Solution, programme: Programme) -> None:
        if np.isinf(programme.bound).all() and np.isinf(getattr(self, "C", 0.0)):
            raise DataError(
                f"no {type(self).__name__} without slack exists for these rows, or none was found "
                f"in {solution.n_steps:,} steps: give a finite C, or another kernel"
            )
        warnings.warn(
            f"{type(self).__name__} has not converged in {solution.n_steps:,} steps: the "
            f"conditions of optimality are violated by {solution.gap:.3g}, tol={self.tol:g}. Scale "
            "the columns, lower C, or raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )

    def _keep_support(
        self, given: MachineRows, coefficients: np.ndarray, intercepts: np.ndarray
    ) -> None:
        """Keep the rows with a coefficient in any of the expansions (one per row of the matrix)."""
        support = np.flatnonzero((coefficients != 0).any(axis=0))
        support = support[np.argsort(given.origin[support], kind="stable")]
        self.kernel_ = given.kernel
        self.support_ = given.origin[support]
        self.support_vectors_ = given.rows[support]
        if given.kernel.pairwise:
            self.support_vectors_ = np.empty((len(support), 0))
        self.dual_coef_ = np.ascontiguousarray(coefficients[:, support])
        self.intercept_ = np.asarray(intercepts, dtype=np.float64)

    def _expansions(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function of a block of rows that gives all expansions, one column each."""
        check_is_fitted(self)
        weights = np.ascontiguousarray(self.dual_coef_.T)
        if self.kernel_.pairwise:
            return lambda block: dense(block)[:, self.support_] @ weights + self.intercept_
        if not len(self.support_):
            return lambda block: np.tile(self.intercept_, (block.shape[0], 1))
        against = self.kernel_.against(self.support_vectors_)
        return lambda block: np.dot(against(block), weights) + self.intercept_

    def _rows_at_once(self, rows) -> int:
        return max(min(CELLS_AT_ONCE // max(len(self.support_), 1), super()._rows_at_once(rows)), 1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (3 * n_columns + 40) + self._solver_memory(n_rows)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        cells = n_rows * n_columns
        held = 24 * cells if cells <= DENSE_CELLS else 80 * n_entries
        return held + 8 * (60 * n_rows + n_columns) + self._solver_memory(n_rows)

    def _solver_memory(self, n_rows: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        kept = cached_rows(n_rows, WORKING_SET, int(self.cache_size * MEGABYTE))
        block = threads * min(ROWS_AT_ONCE, n_rows) * min(COLUMNS_AT_ONCE, n_rows)
        set_of = min(WORKING_SET, 2 * n_rows)
        return 8 * (kept * n_rows + 2 * block + 2 * set_of**2)

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or a smaller cache_size."
