"""Lasso and elastic net: least squares that leaves out columns, for one penalty or all of them.

Minimises  (1/2W) sum_i w_i (y_i - b0 - x_i b)^2 + alpha (r |b|_1 + (1 - r) |b|^2 / 2),  W = sum_i
w_i, with r = 1 for the lasso; the constant b0 is free. With more rows than columns one pass sums
the products of the columns and all else is done on these; otherwise the columns are kept. The
minimum is found to a stated duality gap (see `gnomon.linear.coordinate_descent`).

Texts: 000 11.4.1-11.4.2 · 002 "Lasso" · 003 4.4.2.2-4.4.2.3 · 004 8.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data, Step, SumLearner, Takes, intake
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    at_least,
    between,
    validated,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Text
from gnomon.engine.sums import ArraySource, Source, add_up, rows_per_chunk
from gnomon.engine.threads import counted_once, in_order, one_blas_thread
from gnomon.evaluate.selection import one_standard_error
from gnomon.linear.coordinate_descent import (
    MOST_PRODUCTS,
    ColumnQuadratic,
    GramQuadratic,
    Penalty,
    Quadratic,
    Solution,
    center_columns,
    minimize,
    nothing_chosen,
    started,
    sums_of_columns,
    swept,
    swept_on_columns,
    to_last_digits,
    write_columns,
)
from gnomon.linear.design import count_of_folds, folds_of, refuse_tiny
from gnomon.linear.inference import NoSummary, column_names
from gnomon.linear.least_squares import (
    LeastSquares,
    Moments,
    about_mean,
    constant_columns,
    shift_is_far,
)
from gnomon.linear.solve import EPS

# Columns from which on one penalty is sooner solved by the columns than by their products: a cell
# costs 3 nanoseconds by the columns, and by products 1.4 and 0.03 for every column (10,000 rows).
MOST_COLUMNS_OF_ONE = 50
# Cells of a table, streamed ones too, that are gathered in memory for it: 32 MB; of one with more
# columns, whose products cost a multiple (200 columns: 1.6 times, 1,422: 11 times), 400 MB.
MOST_GATHERED_CELLS, MOST_CELLS_OF_MANY, MANY_COLUMNS = 4_000_000, 50_000_000, 200
# A solution by columns is refined to the last digits where the products of those chosen, whose
# number is the square of theirs, cost less than so many products for each column.
REFINED = 40
# Elsewhere further sweeps bring the gap to this share of the one allowed, so that coefficients,
# whose error is as the root of the gap, do not tell which way they were found; at most so many.
FINER = 1e-2
MOST_FINER_SWEEPS = 12
MOST_SUMMED_COLUMNS = 5000  # columns whose products are summed: 200 MB
MOST_CELLS_OF_A_PATH = 10**8  # coefficients of a path: 800 MB
LEAST_RATIO = 1e-3  # the l1_ratio that stands for less, as in glmnet, where a path begins
CELLS_OF_PRODUCTS = 2**21  # cells of a chunk whose products are summed at once: 16 MB
# Texts of parameters that classes here share, for their docstrings.
ELASTIC_NET_PARAMETERS = """\
alpha : float, "min" or "1se"
    Weight of the penalty; or the one of least cross-validated squared error, or the greatest
    within one standard error of that.
fit_intercept : bool
    Whether there is a constant b0, which is not penalised.
max_iter : int
    Most sweeps of coordinate descent, or most sets of columns that are tried.
tol : float
    The duality gap that is allowed, as a share of half the sum of squares of the centred
    target; a greater one is warned of. Where it is reached, a fit of one alpha goes on to the
    last digits; where too many columns are chosen for that, to a hundredth of it.
warm_start : bool
    Whether a further ``fit`` begins at the coefficients of the last one.
positive : bool
    Whether no coefficient may be negative.
random_state : int, RandomState instance or None
    Deals the folds where alpha is chosen.
cv : int, splitter or iterable
    Folds where alpha is chosen; with a number equal rows are in one fold.
keep_history : {"objective", "full"}
    Whether ``history_`` keeps the coefficients of each pass too.
n_jobs : int or None
    Threads; None for one per processor. Does not change the result.
"""
# Texts of attributes that classes here share, for their docstrings.
ELASTIC_NET_ATTRIBUTES = """\
coef_ : ndarray of shape (n_columns,) or (n_targets, n_columns)
    The coefficients b.
sparse_coef_ : csr_matrix
    The same as a sparse matrix.
intercept_ : float or ndarray of shape (n_targets,)
    The constant b0; zero without intercept.
alpha_ : float
    The penalty that was used.
dual_gap_ : float or ndarray of shape (n_targets,)
    The objective is at most so far above its minimum.
path_ : PenaltyPath or None
    The cross-validated path, where alpha was chosen.
solver_ : str
    ``"products"`` (of the columns, from one pass) or ``"columns"`` (kept in memory).
history_ : History
    The objective after each pass.
n_iter_ : int or list of int
    Number of passes over the rows, per target.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


@storable
@dataclass(repr=False)
class PenaltyPath(Result):
    """Coefficients along the penalty, and on request their cross-validated error.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Weights of the penalty, falling.
    coefficients : ndarray of shape (n_alphas, n_columns)
    intercepts : ndarray of shape (n_alphas,)
    gaps : ndarray of shape (n_alphas,)
        Duality gaps: how far the objective is above the minimum, at most.
    explained : ndarray of shape (n_alphas,)
        R2 on the rows of the fit; of generalised linear models the share of the deviance.
    names : list of str
        The columns.
    l1_ratio : float
        1 for the lasso, 0 for ridge regression.
    errors : ndarray of shape (n_alphas,) or None
        Cross-validated errors.
    standard_errors : ndarray of shape (n_alphas,) or None
        Over the folds.
    measure : str
        What the errors are: "mean squared error", "mean deviance" or "misclassified share".

    Examples
    --------
    >>> from gnomon.linear import Lasso
    >>> path = Lasso().path([[0, 1], [1, 0], [2, 3], [3, 1]], [0, 1, 2, 3], n_alphas=3)
    >>> path.n_nonzero.tolist()
    [0, 1, 1]
    """

    alphas: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    gaps: np.ndarray
    explained: np.ndarray
    names: list[str]
    l1_ratio: float = 1.0
    errors: np.ndarray | None = None
    standard_errors: np.ndarray | None = None
    measure: str = "mean squared error"
    _stored = {
        "alphas": Array("f8", (None,)),
        "coefficients": Array("f8", (None, "n_coefficients_1")),
        "errors": Array("f8", (None,)),
        "explained": Array("f8", (None,)),
        "gaps": Array("f8", (None,)),
        "intercepts": Array("f8", (None,)),
        "l1_ratio": Number(),
        "measure": Text(),
        "names": ListOf(Text(), "n_coefficients_1"),
        "standard_errors": Array("f8", (None,)),
    }

    @property
    def n_nonzero(self) -> np.ndarray:
        """Columns in use, per penalty."""
        return np.count_nonzero(self.coefficients, axis=1)

    @property
    def place_min(self) -> int:
        """Where the cross-validated error is least."""
        return int(np.argmin(self._validated()))

    @property
    def place_1se(self) -> int:
        """The greatest penalty whose error is within one standard error of the least."""
        errors = self._validated()
        assert self.standard_errors is not None
        return one_standard_error(errors, self.standard_errors, np.arange(len(errors)))

    @property
    def alpha_min(self) -> float:
        """The penalty of least cross-validated error."""
        return float(self.alphas[self.place_min])

    @property
    def alpha_1se(self) -> float:
        """The greatest penalty within one standard error of the least cross-validated error."""
        return float(self.alphas[self.place_1se])

    def _validated(self) -> np.ndarray:
        if self.errors is None:
            raise DataError("this path was not cross-validated; make it with cv=10, say")
        return self.errors

    def _title(self) -> str:
        kind = {1.0: "Lasso", 0.0: "Ridge"}.get(
            self.l1_ratio, f"Elastic net (l1_ratio {self.l1_ratio:g})"
        )
        return f"{kind} path of {len(self.alphas)} penalties, {len(self.names)} columns"

    def _columns(self) -> dict[str, list]:
        columns = {
            "alpha": self.alphas.tolist(),
            "columns in use": self.n_nonzero.tolist(),
            "R2 (fit)": self.explained.tolist(),
        }
        if self.errors is not None and self.standard_errors is not None:
            columns[f"{self.measure} (validated)"] = self.errors.tolist()
            columns["standard error"] = self.standard_errors.tolist()
        return columns

    def _remarks(self) -> list[str]:
        if self.errors is None:
            return []
        return [
            f"least error at alpha {self.alpha_min:.4g}; within one standard error of it up to "
            f"alpha {self.alpha_1se:.4g}"
        ]


class PenalizedLeastSquares(LeastSquares):
    """What lasso and elastic net share."""

    natively = Takes(sparse=True, many_levels=True, float32=True)
    _stored = {
        "alpha_": Number(),
        "dual_gap_": Number() | Array("f8", (None,)),
        "path_": Object(("PenaltyPath",)) | None,
    }

    def _ratio(self) -> float:
        raise NotImplementedError

    @validated
    @with_callbacks
    def fit(self, X, y=None, sample_weight=None, check_input=True):
        """Learn from a table.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like or str
            The target, or the name of its column in X.
        sample_weight : array-like or str, default=None
            Weights of the rows; weight two is the same as the row standing there twice.
        check_input : bool, default=True
            Has no effect here: the input is always checked.

        Returns
        -------
        self : object
        """
        if not isinstance(self.alpha, str) and self.alpha == 0:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the "
                "LinearRegression estimator",
                UserWarning,
                stacklevel=2,
            )
        with counted_once():
            return self._learn(X, y, sample_weight)

    def _fit(self, data: Data) -> None:
        before = getattr(self, "coef_", None) if self.warm_start else None
        if data.y is not None and data.y.ndim == 2:
            self._fit_targets(data, before)
            return
        self._fit_one(data, before)

    def _fit_targets(self, data: Data, before: np.ndarray | None) -> None:
        """Each target by itself."""
        fits = []
        for place, target in enumerate(data.y.T):
            source = ArraySource(data.rows, np.ascontiguousarray(target), data.weights)
            one = type(self)(**self.get_params())
            one.n_features_in_ = self.n_features_in_
            one._fit_one(
                Data(source, data.columns, data.kept),
                None if before is None else np.atleast_2d(before)[place],
            )
            fits.append(one)
        if len(fits) == 1:
            self._keep(fits[0]._public())
            return
        worst = max(fits, key=lambda each: each.dual_gap_)
        self._keep(
            {
                "coef_": np.array([each.coef_ for each in fits]),
                "intercept_": np.array([each.intercept_ for each in fits]),
                "alpha_": worst.alpha_,
                "dual_gap_": np.array([each.dual_gap_ for each in fits]),
                "solver_": worst.solver_,
                "path_": None,
                "history_": worst.history_,
                "n_iter_": [each.n_iter_ for each in fits],
            }
        )

    def _fit_one(self, data: Data, before: np.ndarray | None) -> None:
        self._before = before if before is None or before.ndim == 1 else before[0]
        with one_blas_thread():
            if self.alpha in ("min", "1se"):
                self._fit_chosen(data)
            elif self._by_products(data):
                SumLearner._fit(self, data)
            else:
                self._fit_columns(data)
        if self.dual_gap_ > self._allowed_gap:
            warnings.warn(
                "Objective did not converge. You might want to increase the number of iterations. "
                f"{type(self).__name__} has a duality gap of {self.dual_gap_:.3g}, and "
                f"tol={self.tol:g} allows {self._allowed_gap:.3g}: increase max_iter, scale the "
                "columns alike, or use a greater alpha or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        del self._allowed_gap, self._before

    def _by_products(self, data: Data) -> bool:
        """Whether one penalty is sooner solved by products of the columns than by the columns.

        By products the minimum is found to the last digits, which is what ``tol=0`` asks for.
        """
        if not by_products(data.n_rows, data.n_columns):
            return False
        sparse = isinstance(data.source, ArraySource) and sp.issparse(data.source.rows)
        return sparse or self.tol == 0 or products_pay(data.n_rows, data.n_columns)

    @property
    def sparse_coef_(self) -> sp.csr_matrix:
        """The coefficients as a sparse matrix."""
        return sp.csr_matrix(self.coef_)

    def _passes(self) -> int:
        return 2

    def _update(self, state, total):
        centered = self._centered(total, state["shift"], state["target_shift"])
        solution = self._minimum(centered.problem, float(self.alpha))
        p = len(state["shift"])
        mean, gram = about_mean(total, self.fit_intercept)
        far = self.fit_intercept and shift_is_far(mean[:p], gram, centered.location, total.weight)
        if far and not state.get("moved"):
            state = state | {"shift": centered.location, "raw": False, "moved": True}
        else:
            far = False
        following = state | {"solution": solution, "centered": centered}
        return Step(following, solution.objective, not far)

    def _centered(self, total: Moments, shift, target_shift) -> Centered:
        return centered_products(total, shift, target_shift, self.fit_intercept, column_names(self))

    def _minimum(self, problem: Quadratic, alpha: float) -> Solution:
        before = self._before
        start = nothing_chosen(problem) if before is None else started(problem, before)
        penalty = Penalty.of(alpha, self._ratio(), self.positive)
        near = minimize(problem, penalty, self.tol, start, self.max_iter)
        chosen = np.count_nonzero(near.coef)
        if near.gap > self._most_gap(problem):
            return near
        by_columns = isinstance(problem, ColumnQuadratic)
        if not by_columns or chosen**2 <= REFINED * len(near.coef):
            exact = to_last_digits(problem, penalty, near)
            if exact is not None:
                return exact
        enough = FINER * self.tol * problem.total / 2
        if (by_columns and problem.sparse) or not near.gap > enough:
            return near
        sweeps = min(MOST_FINER_SWEEPS, self.max_iter)
        sweep = swept_on_columns if by_columns else swept
        return sweep(problem, penalty, enough, near, sweeps) or near

    def _most_gap(self, problem: Quadratic) -> float:
        return (self.tol / 2 + 64 * EPS) * problem.total

    def _attributes(self, state) -> dict[str, Any]:
        return self._found(state["centered"], state["solution"], "products")

    def _found(self, centered: Centered, solution: Solution, solver: str) -> dict[str, Any]:
        return {
            "coef_": solution.coef,
            "intercept_": centered.intercept(solution.coef),
            "alpha_": float(self.alpha),
            "dual_gap_": float(solution.gap),
            "solver_": solver,
            "path_": None,
            "_allowed_gap": self._most_gap(centered.problem),
        }

    def _replayable(self, state) -> dict[str, Any]:
        return {"coef": state["solution"].coef.copy()}

    def _with(self, found: dict[str, Any]) -> dict[str, Any]:
        return self._public() | found

    def _fit_columns(self, data: Data) -> None:
        course = self._course("pass", 1)
        for _ in course:
            centered = centered_columns(data.rows, data.y, data.weight_array, self.fit_intercept)
            solution = self._minimum(centered.problem, float(self.alpha))
            found = self._found(centered, solution, "columns")
            course.end_step(
                solution.objective,
                True,
                state=lambda: {"coef": solution.coef.copy()},  # noqa: B023
                attributes=partial(self._with, found),
            )
        self._keep(found)
        self.history_, self.n_iter_ = course.history, 1

    def _fit_chosen(self, data: Data) -> None:
        """Choose alpha by cross-validation, then take its place on the path of all rows."""
        course = self._course("pass", 1)
        for _ in course:
            path, problem = self._path(data, None, 100, 1e-3, self.cv)
            place = path.place_min if self.alpha == "min" else path.place_1se
            coef = path.coefficients[place]
            penalty = Penalty.of(float(path.alphas[place]), self._ratio(), self.positive)
            found = {
                "coef_": coef.copy(),
                "intercept_": float(path.intercepts[place]),
                "alpha_": float(path.alphas[place]),
                "dual_gap_": float(path.gaps[place]),
                "solver_": "products" if by_products(data.n_rows, data.n_columns) else "columns",
                "path_": path,
                "_allowed_gap": max(self.tol, 1e-10) * problem.total / 2,
            }
            residual = (1 - path.explained[place]) * problem.total
            objective = residual / 2 + penalty.l1 * np.abs(coef).sum()
            objective += penalty.l2 * coef @ coef / 2
            course.end_step(
                objective,
                True,
                state=lambda: {"coef": coef.copy()},  # noqa: B023
                attributes=partial(self._with, found),
            )
        self._keep(found)
        self.history_, self.n_iter_ = course.history, 1

    def path(
        self,
        X,
        y,
        sample_weight=None,
        *,
        alphas=None,
        n_alphas: int = 100,
        eps: float = 1e-3,
        cv: int | None = None,
    ) -> PenaltyPath:
        """Coefficients for a whole range of penalties, in about the time of the last of them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
        sample_weight : array-like or str, default=None
        alphas : array-like, default=None
            The penalties; by default `n_alphas` from the least that leaves no column, down to
            `eps` times that, evenly in the logarithm.
        n_alphas : int, default=100
        eps : float, default=1e-3
        cv : int or None, default=None
            Folds of a cross-validation by squared error along the path; None for none. Equal rows
            are in one fold.

        Returns
        -------
        path : PenaltyPath
        """
        self._validate_params()
        model = type(self)(**self.get_params(deep=False))
        data = intake.take_in(model, X, y, sample_weight)
        with one_blas_thread():
            return model._path(data, alphas, n_alphas, eps, cv)[0]

    def _path(self, data: Data, alphas, n_alphas, eps, cv):
        cells = n_alphas * data.n_columns
        if cells > MOST_CELLS_OF_A_PATH:
            raise DataError(
                f"a path of {n_alphas} penalties over {data.n_columns:,} columns would hold "
                f"{cells:,} coefficients; use fewer penalties"
            )
        parts = None if cv is None else self._folds(data, cv)
        whole_centered, folds = self._problems(data, parts)
        problem = whole_centered.problem
        if alphas is None:
            alphas = (self._greatest(whole_centered) or 1.0) * np.geomspace(1.0, eps, n_alphas)
        alphas = falling(alphas)
        run = partial(self._along, alphas)
        coefficients, gaps, explained = run(whole_centered)
        path = PenaltyPath(
            alphas,
            coefficients,
            np.array([whole_centered.intercept(coef) for coef in coefficients]),
            gaps,
            explained,
            column_names(self),
            self._ratio(),
        )
        if folds is not None:
            self._validate_path(path, run, folds)
        return path, problem

    def _greatest(self, centered: Centered) -> float:
        """The greatest penalty that is of interest: the least that leaves no column."""
        pulls = centered.problem.cross
        pulls = np.maximum(pulls, 0.0) if self.positive else np.abs(pulls)
        return float(pulls.max(initial=0.0)) / max(self._ratio(), LEAST_RATIO)

    def _along(self, alphas: np.ndarray, centered: Centered):
        """Coefficients, gaps and R2 for falling penalties."""
        return run_path(centered.problem, alphas, self._ratio(), self.tol, self.positive)

    def _validate_path(self, path: PenaltyPath, run, folds) -> None:
        def losses(fold) -> tuple[float, np.ndarray]:
            centered, test = fold()
            coefficients, *_ = run(centered)
            intercepts = [centered.intercept(coef) for coef in coefficients]
            return test(coefficients, np.array(intercepts))

        path.errors, path.standard_errors = over_folds(in_order(losses, folds, self.n_jobs))

    def _folds(self, data: Data, cv: int) -> np.ndarray:
        rng = np.random.default_rng(int(self._rng().integers(2**31)))
        parts = folds_of(data, cv, rng)
        if parts.max() == 0:
            raise DataError("cross-validation needs at least two different rows")
        return parts

    def _problems(self, data: Data, parts):
        """The problem of all rows, and for each fold a function to its own and its test."""
        names = column_names(self)
        if not by_products(data.n_rows, data.n_columns):
            whole_centered = centered_columns(
                data.rows, data.y, data.weight_array, self.fit_intercept
            )
            if parts is None:
                return whole_centered, None
            present = np.unique(parts)
            return whole_centered, [
                partial(column_fold, data, parts != k, self.fit_intercept) for k in present
            ]
        state = self._start(data, None)
        size = rows_of_products(data.n_columns)

        def sums(source: Source) -> Any:
            if isinstance(source, ArraySource):
                source = replace(source, size=size)
            return add_up(partial(self._sums, state), source, self.n_jobs)

        make = partial(
            centered_products,
            shift=state["shift"],
            target_shift=state["target_shift"],
            intercept=self.fit_intercept,
            names=names,
        )
        if parts is None:
            return make(sums(data.source)), None
        pieces = []
        for k in np.unique(parts):
            here = parts == k
            weights = None if data.weights is None else data.weights[here]
            pieces.append(sums(ArraySource(data.rows[here], data.y[here], weights)))
        total = Moments(*(sum(entry) for entry in zip(*pieces)))
        return make(total), [partial(product_fold, make, total, piece) for piece in pieces]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if by_products(n_rows, n_columns):
            products = super()._working_memory(max(n_rows, n_columns + 1), n_columns)
            chosen = isinstance(self.alpha, str)
            folds = 2 * count_of_folds(self.cv) if chosen else 2
            if chosen or products_pay(n_rows, n_columns):
                return products + 8 * folds * n_columns**2
        copies = 3 if isinstance(self.alpha, str) else 2
        return 8 * (copies * n_rows * n_columns + 4 * min(n_columns, 2 * n_rows) ** 2)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        if by_products(n_rows, n_columns):
            return None
        products = 4 * min(n_columns, MOST_PRODUCTS) ** 2
        return 8 * (10 * n_rows + 24 * n_columns + 8 * n_entries + products)

    def _refuse_summary(self) -> None:
        raise NoSummary(
            "the estimates are pulled to zero by the penalty, and the columns were chosen by "
            "the same rows, so that the usual standard errors and tests are not valid; bootstrap "
            "the rows, or fit LinearRegression on the chosen columns to other rows"
        )


def over_folds(found: Iterable[tuple[float, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean errors and their standard errors from each fold's weight and total errors."""
    weights, totals = zip(*found)
    shares = np.array(weights) / sum(weights)
    means = np.array(totals) / np.array(weights)[:, None]
    errors = shares @ means
    return errors, np.sqrt(shares @ (means - errors) ** 2 / (len(weights) - 1))


@dataclass
class Centered:
    """A quadratic problem of centred columns, and where their centre was."""

    problem: Quadratic
    location: np.ndarray
    target_mean: float
    has_intercept: bool
    weight: float

    def intercept(self, coef: np.ndarray) -> float:
        return float(self.target_mean - self.location @ coef) if self.has_intercept else 0.0


def by_products(n_rows: int, n_columns: int) -> bool:
    """Whether to work on products of the columns rather than on the columns."""
    return n_rows > n_columns and n_columns <= MOST_SUMMED_COLUMNS


def products_pay(n_rows: int, n_columns: int) -> bool:
    """Whether the products of dense columns cost less than one penalty by the columns."""
    most = MOST_CELLS_OF_MANY if n_columns >= MANY_COLUMNS else MOST_GATHERED_CELLS
    return n_columns <= MOST_COLUMNS_OF_ONE or n_rows * n_columns > most


def rows_of_products(n_columns: int) -> int:
    """Rows whose products are summed at once: so many that those sums cost little beside."""
    return max(rows_per_chunk(n_columns), CELLS_OF_PRODUCTS // max(n_columns, 1))


def centered_products(total: Moments, shift, target_shift, intercept: bool, names) -> Centered:
    """The problem from sums over rows, columns that do not vary set to zero."""
    p = len(shift)
    mean, gram = about_mean(total, intercept)
    location = shift + mean[:p]
    zero = constant_columns(gram, location, total.weight, intercept)
    refuse_tiny(np.sqrt(np.maximum(np.diag(gram)[:p] * ~zero, 0.0)), names)
    gram = gram / total.weight
    inner, cross = gram[:p, :p], gram[:p, p].copy()
    inner[zero] = inner[:, zero] = cross[zero] = 0.0
    problem = GramQuadratic(np.ascontiguousarray(inner), cross, max(float(gram[p, p]), 0.0))
    target_mean = float(target_shift[0] + mean[p])
    return Centered(problem, location, target_mean, intercept, total.weight)


def centered_columns(rows, y, weights, intercept: bool) -> Centered:
    """The problem from the columns themselves."""
    share = weights / weights.sum()
    root = np.sqrt(share)
    p = rows.shape[1]
    target_mean = float(share @ y) if intercept else 0.0
    target = (y - target_mean) * root
    if sp.issparse(rows):
        columns = sp.csc_array(rows, dtype=np.float64)
        # scipy keeps wide indices, which only tables of so many cells need
        index = np.int32 if columns.nnz <= np.iinfo(np.int32).max else np.int64
        columns = sp.csc_array(  # the caller's cells stay as they are
            (
                columns.data * root[columns.indices],
                columns.indices.astype(index, copy=False),
                columns.indptr.astype(index, copy=False),
            ),
            shape=columns.shape,
        )
        location, lengths, cross = sums_of_columns(columns, root, target)
        if not intercept:
            location[:] = 0.0
        squares = np.maximum(lengths - location**2, 0.0)
        squares[squares <= 64 * EPS * lengths] = 0.0
        cross -= location * (root @ target)
        problem = ColumnQuadratic(columns, target, location, root, (squares, cross))
        return Centered(problem, location, target_mean, intercept, weights.sum())
    if rows.flags.c_contiguous:
        columns = np.empty((p, len(rows)))
        write_columns(rows, columns)
    else:
        columns = np.array(rows.T, dtype=np.float64, order="C")
    location = columns @ share if intercept else np.zeros(p)
    squares, cross = np.empty(p), np.empty(p)
    center_columns(columns, location, root, target, squares, cross)
    problem = ColumnQuadratic(columns, target, known=(squares, cross))
    problem.squares[problem.squares <= (32 * EPS * location) ** 2] = 0.0
    return Centered(problem, location, target_mean, intercept, weights.sum())


def falling(alphas) -> np.ndarray:
    """Penalties from the greatest to the least; refused where one is none."""
    alphas = np.sort(np.asarray(alphas, dtype=np.float64))[::-1].copy()
    if not len(alphas) or not np.isfinite(alphas).all() or alphas[-1] <= 0:
        raise DataError("alphas must be positive finite numbers")
    return alphas


def run_path(problem: Quadratic, alphas, ratio: float, tol: float, positive: bool = False):
    """Coefficients, gaps and R2 for falling penalties, each from the one before."""
    solution = nothing_chosen(problem)
    coefficients = np.zeros((len(alphas), len(problem.cross)))
    gaps, explained = np.zeros(len(alphas)), np.zeros(len(alphas))
    for place, alpha in enumerate(alphas):
        penalty = Penalty.of(float(alpha), ratio, positive)
        solution = minimize(problem, penalty, tol, solution)
        coef = coefficients[place] = solution.coef
        gaps[place] = solution.gap
        loss = solution.objective - penalty.l1 * np.abs(coef).sum() - penalty.l2 * coef @ coef / 2
        explained[place] = 1 - 2 * loss / problem.total if problem.total > 0 else 0.0
    return coefficients, gaps, explained


def column_fold(data: Data, train: np.ndarray, intercept: bool):
    """The problem of the training rows, and the squared errors on the others."""
    weights = data.weight_array
    centered = centered_columns(data.rows[train], data.y[train], weights[train], intercept)
    rows, y, held = data.rows[~train], data.y[~train], weights[~train]

    def test(coefficients, intercepts):
        errors = y[:, None] - (rows @ coefficients.T + intercepts)
        return held.sum(), held @ errors**2

    return centered, test


def product_fold(make, total: Moments, piece: Moments):
    """The same from sums: those of the training rows are the total less the fold's."""
    centered = make(
        Moments(
            total.weight - piece.weight,
            total.fractional - piece.fractional,
            total.first - piece.first,
            total.second - piece.second,
        )
    )
    shift, target_shift = make.keywords["shift"], make.keywords["target_shift"]

    def test(coefficients, intercepts):
        p = len(shift)
        constants = intercepts + coefficients @ shift - target_shift[0]
        inner, cross = piece.second[:p, :p], piece.second[:p, p]
        squares = np.einsum("ap,pq,aq->a", coefficients, inner, coefficients, optimize=True)
        errors = piece.second[p, p] - 2 * coefficients @ cross + squares
        errors += 2 * constants * (coefficients @ piece.first[:p] - piece.first[p])
        return piece.weight, errors + constants**2 * piece.weight

    return centered, test


@method(
    task="regress",
    texts="000 11.4.1-11.4.2 · 002 lasso · 003 4.4.2.2 · 004 8.3",
    use="A number to predict, when few of many columns matter: it leaves the others out.",
    avoid="Groups of correlated columns (it keeps one of each; ElasticNet keeps them together).",
    peers=("sklearn.linear_model.Lasso", "celer.Lasso", "skglm.Lasso"),
)
@without_effect("precompute", "copy_X", "selection")
@shared_parameters(ELASTIC_NET_PARAMETERS)
@shared_attributes(ELASTIC_NET_ATTRIBUTES)
class Lasso(PenalizedLeastSquares):
    """The lasso: least squares whose penalty sets coefficients to zero.

    Minimises (1/2W) sum_i w_i (y_i - b0 - x_i b)^2 + alpha |b|_1 with W = sum_i w_i. Use it when
    few of many columns matter, also with more columns than rows; `path` gives the coefficients
    for all penalties, and ``alpha="1se"`` chooses one by cross-validation. It depends on the units
    of the columns: scale them alike first. Not where correlated columns should stay together
    (`ElasticNet`), nor for standard errors (`summary` refuses).

    Texts: 000 11.4.1-11.4.2 (and glmnet's scale, which is this one) · 002 "Lasso" and 004 8.3
    write |y - Xb|^2 + lambda |b|_1, so alpha = lambda / 2W, and penalise the constant too: append a
    column of ones and set ``fit_intercept=False`` for that · 003 4.4.2.2 (a rule for stochastic
    gradients, which leaves no exact zeros).

    Parameters
    ----------

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, alpha_, dual_gap_, path_, solver_, history_, n_iter_
    n_features_in_

    See Also
    --------
    ElasticNet : With a squared penalty beside.

    Examples
    --------
    >>> from gnomon.linear import Lasso
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 0], [4, 2]], [1, 3, 2, 5, 4]
    >>> Lasso(alpha=0.5).fit(X, y).coef_.round(4)
    array([0.55, 0.  ])
    """

    _parameter_constraints = {
        "alpha": [at_least(0.0), StrOptions({"min", "1se"})],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "warm_start": FLAG,
        "positive": FLAG,
        "random_state": SEED,
        "cv": ["cv_object"],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        precompute=False,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
        cv=10,
        keep_history="objective",
        n_jobs=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.cv = cv
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _ratio(self) -> float:
        return 1.0


@method(
    task="regress",
    texts="000 11.4.1-11.4.2 · 003 4.4.2.3",
    use="A number to predict, when few of many columns matter and they come in correlated groups.",
    avoid="When standard errors are wanted, or all columns matter (Ridge).",
    peers=("sklearn.linear_model.ElasticNet", "celer.ElasticNet", "skglm.ElasticNet"),
)
@without_effect("precompute", "copy_X", "selection")
@shared_parameters(ELASTIC_NET_PARAMETERS)
@shared_attributes(ELASTIC_NET_ATTRIBUTES)
class ElasticNet(PenalizedLeastSquares):
    """Elastic net: a lasso with a squared penalty beside, which keeps correlated columns together.

    Minimises (1/2W) sum_i w_i (y_i - b0 - x_i b)^2 + alpha (r |b|_1 + (1 - r) |b|^2 / 2), with r =
    ``l1_ratio`` and W = sum_i w_i. Use it where few of many columns matter and these are
    correlated. It depends on the units of the columns: scale them alike first. Not with r = 0,
    which is `Ridge` (whose alpha is W times this one); nor for standard errors.

    Texts: 000 11.4.1 (there with 1/N in place of 1/2N, so that its lambda is twice this alpha) ·
    003 4.4.2.3 (whose rule prints the squared part with the wrong sign).

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share r of the absolute values; 1 for the lasso, 0 for a squared penalty alone.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, alpha_, dual_gap_, path_, solver_, history_, n_iter_
    n_features_in_

    See Also
    --------
    Lasso : Without the squared penalty.
    Ridge : Without absolute values.

    Examples
    --------
    >>> from gnomon.linear import ElasticNet
    >>> X, y = [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], [1, 3, 2, 5, 4]
    >>> ElasticNet(alpha=0.4).fit(X, y).coef_.round(4)
    array([0.3333, 0.3333])
    """

    _parameter_constraints = Lasso._parameter_constraints | {"l1_ratio": [between(0.0, 1.0)]}

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        precompute=False,
        max_iter=1000,
        copy_X=True,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
        cv=10,
        keep_history="objective",
        n_jobs=None,
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.cv = cv
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _ratio(self) -> float:
        return float(self.l1_ratio)
