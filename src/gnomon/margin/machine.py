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
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Learner, Takes
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.history import Course, History
from gnomon.engine.parameters import HISTORY, JOBS, Interval, StrOptions, above, at_least
from gnomon.engine.stored import Array, ListOf, Number, Object, Whole
from gnomon.engine.threads import resolve_jobs
from gnomon.margin.distinct import DENSE_CELLS, distinct_data, warn_unscaled
from gnomon.margin.kernels import WORDS, Kernel, Linear, dense, kernel_of, warn_indefinite
from gnomon.margin.smo_kernel import gather
from gnomon.margin.working_set import (
    COLUMNS_AT_ONCE,
    ROWS_AT_ONCE,
    WORKING_SET,
    Programme,
    Solution,
    cached_rows,
    solve,
)

MEGABYTE = 2**20  # scikit-learn gives cache_size in megabytes
CELLS_AT_ONCE = 2**19  # kernel values of a block of predictions: 4 MB stay in the cache
# Kernel values of such numbers are finite: cubes of their squares do not overflow.
LARGEST = 1e50

KERNEL_PARAMETERS: dict[str, list] = {
    "kernel": [StrOptions(set(WORDS)), Kernel, callable],
    "gamma": [at_least(0.0), StrOptions({"scale", "auto", "median"})],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}
MACHINE_PARAMETERS: dict[str, list] = {
    "tol": [above(0.0)],
    "cache_size": [above(0.0)],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "keep_history": HISTORY,
    "n_jobs": JOBS,
}
UNKNOWN_STEPS = 100_000  # the number of working sets is not known in advance
# Texts of parameters that classes of several files share, for their docstrings.
MACHINE_TEXTS = """\
C : float
    Price of what lies outside the tube.
kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable
    The kernel; see `SVC`.
degree : int
    Of the kernel poly.
gamma : float or {"scale", "auto", "median"}
    Scale of the kernels poly, rbf and sigmoid, or its rule; see `RBF`.
coef0 : float
    Constant of the kernels poly and sigmoid.
probability : bool
    Whether to fit Platt's sigmoids on five folds, for ``predict_proba``: six times the work.
    The default means False.
tol : float
    Greatest violation of the conditions of optimality.
cache_size : float
    Megabytes for rows of the kernel matrix.
max_iter : int
    Most working sets of each pair of classes; -1 for as many as make a million pair steps, or a
    hundred per row if that is more.
decision_function_shape : {"ovo", "ovr"}
    Whether `decision_function` of several classes gives a score per class or per pair.
break_ties : bool
    Whether `predict` decides between classes of equal votes by their scores; else the first.
keep_history : {"objective", "full"}
    "full" keeps, after each working set, what violates the conditions of optimality most.
n_jobs : int or None
    Threads; None for one per processor. Does not change the result.
nu : float
    The share, above 0 and at most 1.
"""


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
    sparse : bool
        Whether the rows were given as a sparse matrix.
    """

    kernel: Kernel
    rows: Any
    y: Any
    weights: np.ndarray
    origin: np.ndarray
    sparse: bool = False

    def part(self, places: np.ndarray) -> MachineRows:
        """Some of the rows."""
        if self.kernel.pairwise:
            rows = np.empty((len(places), len(places)))
            gather(self.rows, places, places, rows)
        else:
            rows = self.rows[places]
        y = None if self.y is None else self.y[places]
        return MachineRows(self.kernel, rows, y, self.weights[places], self.origin[places])


class WorkingSets:
    """Calls the callbacks for each working set, and stops on request."""

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
    _stored = {
        "dual_coef_": Array("f8", (None, "n_dual_coef_1"), sparse=True),
        "dual_objective_": Array("f8", ("n_classes * (n_classes - 1) // 2",)) | Number(),
        "intercept_": Array("f8", ("n_dual_objective",)),
        "kernel_": Object(),
        "kkt_violation_": Array("f8", ("n_classes * (n_classes - 1) // 2",)) | Number(),
        "n_iter_": Array("i4", ("n_classes * (n_classes - 1) // 2",), low=0) | Whole(),
        "n_steps_": Array("i8", ("n_classes * (n_classes - 1) // 2",), low=0) | Whole(),
        "n_support_": Array("i4", (None,), low=0),
        "shape_fit_": ListOf(Whole(), 2, kind=tuple),
        "support_": Array("i4", ("n_dual_coef_1",), low=0),
        "support_vectors_": Array("f8", ("n_dual_coef_1", None), sparse=True),
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._kernel().pairwise
        return tags

    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel, self.gamma, self.degree, self.coef0)

    def _machine_rows(self, data: Data) -> MachineRows:
        kernel = self._kernel()
        self.shape_fit_ = (data.n_rows, data.n_columns)
        if kernel.pairwise:
            return self._similarities(kernel, data)
        given: DistinctRows = distinct_data(data)
        warn_unscaled(given.rows, type(self).__name__)
        first = np.full(given.rows.shape[0], -1, dtype=np.int64)
        here = np.arange(data.n_rows)[::-1]
        first[given.places[::-1]] = here if data.kept is None else np.flatnonzero(data.kept)[here]
        kernel = kernel.fitted(given.rows, given.weights)
        warn_indefinite(kernel, given.rows)
        return MachineRows(
            kernel, given.rows, given.y, given.weights, first, sp.issparse(data.rows)
        )

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
        n_rounds = max((len(each.course) for each in solutions), default=0)
        rounds = [
            [each.course[min(k, len(each.course) - 1)] for each in solutions]
            for k in range(n_rounds)
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
            max_iter=None if self.max_iter < 0 else self.max_iter,
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
            "the columns, lower C, or increase max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )

    def _keep_support(
        self,
        given: MachineRows,
        support: np.ndarray,
        coefficients: np.ndarray,
        intercepts: np.ndarray,
    ) -> None:
        """Keep some of the rows and their coefficients; sparse where rows were given so."""
        self.kernel_ = given.kernel
        self.support_ = given.origin[support].astype(np.int32)
        self.support_vectors_ = given.rows[support]
        self.dual_coef_ = np.ascontiguousarray(coefficients)
        if given.kernel.pairwise:
            self.support_vectors_ = np.empty((len(support), 0))
        elif given.sparse:
            self.support_vectors_ = sp.csr_array(self.support_vectors_)
            self.dual_coef_ = sp.csr_array(self.dual_coef_)
        self.intercept_ = np.asarray(intercepts, dtype=np.float64)

    def _keep_one(self, given: MachineRows, coefficients: np.ndarray, offset: float) -> None:
        """Keep the support vectors of a machine of one expansion."""
        support = np.flatnonzero(coefficients)
        support = support[np.argsort(given.origin[support], kind="stable")]
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self._keep_support(given, support, coefficients[None, support], np.array([offset]))

    def _keep_solution(self, solution: Solution) -> None:
        """Keep what is known of the solution of a machine of one programme."""
        self.dual_objective_ = -solution.objective
        self.kkt_violation_ = solution.gap
        self.n_steps_ = solution.n_steps
        self._keep_course([solution])
        self.n_iter_ = len(self.history_)

    def _require_linear(self) -> None:
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")

    @property
    def coef_(self) -> Any:
        """Weights of the columns; with the linear kernel only."""
        self._require_linear()
        weights = dense(self.dual_coef_) @ self.support_vectors_
        return sp.csr_array(weights) if sp.issparse(self.support_vectors_) else weights

    @property
    def fit_status_(self) -> int:
        """0 where the fit has converged, else 1."""
        return int(self.history_.stopped != "converged")

    def _expansion_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the support vectors and offset, a row per expansion."""
        return dense(self.dual_coef_), self.intercept_

    def _expansions(self) -> Callable[[np.ndarray], np.ndarray]:
        """The function of a block of rows that gives all expansions, one column each."""
        self._require_fitted()
        coefficients, offsets = self._expansion_weights()
        weights = np.ascontiguousarray(coefficients.T)
        if self.kernel_.pairwise:
            return lambda block: dense(block)[:, self.support_] @ weights + offsets
        if not len(self.support_):
            return lambda block: np.tile(offsets, (block.shape[0], 1))
        vectors = self.support_vectors_
        if sp.issparse(vectors) and vectors.shape[0] * vectors.shape[1] <= DENSE_CELLS:
            vectors = vectors.toarray()
        against = self.kernel_.against(vectors)
        return lambda block: np.dot(against(block), weights) + offsets

    def _rows_at_once(self, rows) -> int:
        return max(min(CELLS_AT_ONCE // max(len(self.support_), 1), super()._rows_at_once(rows)), 1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (2 * n_columns + 40) + self._solver_memory(n_rows)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        cells = n_rows * n_columns
        held = 24 * cells if cells <= DENSE_CELLS else 80 * n_entries
        return held + 8 * (60 * n_rows + n_columns) + self._solver_memory(n_rows)

    def _solver_memory(self, n_rows: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        block = threads * min(ROWS_AT_ONCE, n_rows) * min(COLUMNS_AT_ONCE, n_rows)
        set_of = min(WORKING_SET, 2 * n_rows)
        return self._kept_memory(n_rows) + 8 * (block + 2 * set_of**2)

    def _kept_memory(self, n_rows: int) -> int:
        """Bytes of the kernel values that are kept."""
        return 8 * n_rows * cached_rows(n_rows, WORKING_SET, int(self.cache_size * MEGABYTE))

    def _memory_remedy(self) -> str:
        return "Use fewer rows, or a smaller cache_size."
