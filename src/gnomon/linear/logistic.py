"""Logistic and softmax regression: probabilities of classes from a linear function of the columns.

Minimises (1/W) sum_i w_i [-log P(y_i | x_i)] + |B|^2 / (2 C W), W = sum_i w_i, where P is the
logistic function of x b + b0 for two classes and the softmax of x B' + b0 for more; the
intercepts are not penalised. The objective is convex. Newton's method needs few passes over the
rows, but each sums a matrix of second derivatives. So of many rows it solves an evenly spaced part
only; from there, and in coordinates in which that part's curvature is the same everywhere, L-BFGS
ends in a handful of passes that sum gradients alone.

Texts: 000 11.3.1-11.3.2 · 001 5.2, 6 · 003 4.3.1 (there with squared error) · 004 8.1.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from scipy.linalg.lapack import dtrtrs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Classifier, Data, Step, SumLearner, Takes
from gnomon.contract.coefficients import SparseCoefficients, dense
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import History
from gnomon.engine.memory import TRIFLE
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, StrOptions, at_least, between, whole
from gnomon.engine.products import inner
from gnomon.engine.quasi_newton import quasi_newton
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Object, Text
from gnomon.engine.sums import (
    ArraySource,
    Chunk,
    Source,
    add_up,
    as_float_rows,
    rows_per_chunk,
)
from gnomon.engine.threads import resolve_jobs
from gnomon.linear.design import (
    Design,
    decision,
    first_means,
    fractional_weights,
    is_sparse,
    refuse_tiny,
)
from gnomon.linear.glm_sparse import SPARSE_CHUNK
from gnomon.linear.inference import (
    FitSummary,
    LikelihoodStatistics,
    NoSummary,
    column_names,
    likelihood_summary,
)
from gnomon.linear.losses import curvature, logistic_loss, softmax_loss
from gnomon.linear.newton import accepted, halved, start_at
from gnomon.linear.row_space import BLOCK_CELLS, RowSpace, has_fewer_rows, shorter_rows_pay
from gnomon.linear.solve import (
    EPS,
    null_space,
    symmetric_inverse,
    symmetric_solve,
)
from gnomon.optimize.losses import logistic, softmax
from gnomon.table.encode import Columns

MOST_NEWTON = 1500  # coefficients whose second derivatives are still factored at each step
# Cost of the passes of L-BFGS that Newton's method saves, in products of its matrix: for each cell
# of rows by coefficients, and for the calls (25 passes against 7 steps, 300 to 5,000 rows).
PASSES_PER_CELL, PASSES_CALLS = 70, 8e6
# Columns, for one equation and each further one, up to which their products pay as coordinates of
# L-BFGS, and rows per column from which these save passes (half of them from 5, none below 2).
EVENED_COLUMNS, EVENED_ROWS = 100, 2
# Products of columns per pass: so few that parts do not pay; the most for which Newton's method
# does with several classes, whose blocks are many; and with two.
LEAST_WORK, MOST_SOFTMAX_WORK, MOST_NEWTON_WORK = 2e6, 3e7, 1e9
# The same for one sum of second derivatives of several classes.
MOST_CURVATURE_WORK = 2e10
# Rows per coefficient that give a first solution, and whose curvature is near enough to that of
# all rows; the densest and the sparsest part.
ROWS_PER_COEFFICIENT, ENOUGH_ROWS_PER_COEFFICIENT = 30, 120
FEWEST_PARTS, MOST_PARTS = 3, 64
# The part is solved to a share of its own sampling error, in few steps.
PART_TOLERANCE, MOST_PART_STEPS, PART_CHUNK = 0.1, 15, 2048
MOST_WHITENED = 1500  # columns whose products are still decomposed to even out the curvature
MOST_SUMMARIZED = 3000  # coefficients whose covariance is still computed
# What a step with the curvature of a part must leave at most of the squared slope.
LEAST_GAIN = 0.25
# How much nearer than the tolerance such steps go, which do not end as suddenly as Newton's.
CLOSER = 0.01
FLAT = 10.0  # how far a slope in the columns' spreads may exceed the tolerance of L-BFGS
STILL_MOVING = 0.5  # change of a predictor in a last step that tells partial separation


class LossSums(NamedTuple):
    """Sums over rows at given coefficients; second derivatives only where they are needed."""

    weight: float
    fractional: float
    classes: np.ndarray
    loss: float
    gradient: np.ndarray
    hessian: np.ndarray
    wrong: float


@method(
    task="classify",
    texts="000 11.3.1-11.3.2 · 001 5.2, 6 · 004 8.1",
    use="First, when the target is a class: calibrated probabilities and readable coefficients.",
    avoid="Boundaries that bend (add columns, or use trees or kernels).",
    peers=("sklearn.linear_model.LogisticRegression", "statsmodels.api.Logit"),
)
@without_effect("dual", "intercept_scaling", "random_state", "solver", "verbose")
class LogisticRegression(SparseCoefficients, Classifier, SumLearner):
    """Logistic regression, for two classes or more (softmax), with an elastic net penalty.

    Minimises (1/W) sum_i w_i [-log P(y_i | x_i)] + (r |coef|_1 + (1 - r) |coef|^2 / 2) / (C W) with
    r = ``l1_ratio``, by default the squares alone. Use it first when the
    target is a class: its probabilities are good, its coefficients are changes of log-odds. Not
    for boundaries that bend. The penalty depends on the units of the columns: scale them alike
    first. With ``C=np.inf`` it is maximum likelihood and `summary` gives standard errors; where
    classes can be separated by a plane, no maximum exists then: this is found out and reported.

    Texts: 000 11.3.1-11.3.2 · 001 5.2, 6 · 004 8.1 (whose formula writes Pr(y = y_i) for Pr(y =
    1)). 000 11.3.2 gives the last class no coefficients; here every class has them and the
    penalty makes them unique, as in scikit-learn. 003 4.3.1 trains the same function on squared
    error, which is not convex.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet"} or None, default="deprecated"
        scikit-learn's former way to say ``l1_ratio`` 1 or 0, or ``C=np.inf`` (None).
    C : float, default=1.0
        Inverse weight of the penalty; ``np.inf`` for none.
    l1_ratio : float or None, default=0.0
        Share of the absolute values in the penalty: with any, coefficients become zero.
    tol : float, default=0.0001
        Newton's method stops when the objective can fall by no more than the square of this (one
        last step is taken then). L-BFGS stops where no slope exceeds it, as in scikit-learn, and
        the slope in units of the columns' spread does not exceed ten times as much.
    fit_intercept : bool, default=True
        Whether there are constants, which are not penalised.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of rows by class; "balanced" makes all classes weigh the same.
    max_iter : int, default=100
        Most passes over the rows (Newton), or most steps (L-BFGS).
    warm_start : bool, default=False
        Whether a further ``fit`` begins at the coefficients of the last one.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Coefficients; for two classes those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants; zero without intercept.
    solver_ : str
        ``"newton"``, ``"lbfgs"``, or ``"coordinate descent"`` with absolute values.
    separated_ : bool
        Whether, without penalty, no finite maximum exists because a plane separates classes.
    statistics_ : LikelihoodStatistics or None
        What `summary` is made of; None where penalised.
    history_ : History
        The objective at each step; it never rises.
    n_iter_ : ndarray of shape (1,)
        Number of passes (Newton) or steps (L-BFGS).
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LogisticRegression
    >>> model = LogisticRegression(C=np.inf).fit([[-2], [-1], [0], [1], [2]], [0, 0, 1, 0, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[1.0904]]), array([-0.6227]))
    """

    natively = Takes(sparse=True, many_levels=True, float32=True)
    _parameter_constraints = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "C": [between(0.0, np.inf, closed="right")],
        "l1_ratio": [between(0.0, 1.0), None],
        "tol": [at_least(0.0)],
        "fit_intercept": FLAG,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "max_iter": [whole(0)],
        "warm_start": FLAG,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "intercept_": Array("f", (None,)),
        "separated_": Flag(),
        "solver_": Text(),
        "statistics_": Object(("LikelihoodStatistics",)) | None,
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        keep_history="objective",
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _ratio(self) -> float:
        """The share of absolute values in the penalty; `penalty` is scikit-learn's former way."""
        if self.penalty == "l1":
            return 1.0
        return 0.0 if self.penalty in ("l2", None) else float(self.l1_ratio or 0.0)

    def _check_penalty(self) -> None:
        """Warn of parameters that `penalty` overrides; an elastic net must have its ratio."""
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("penalty='elasticnet' needs l1_ratio, from 0 to 1; it is None")
        if self.penalty is None and (self.C != 1.0 or self.l1_ratio):
            warnings.warn(
                "Setting penalty=None will ignore the C and l1_ratio parameters "
                f"(C={self.C}, l1_ratio={self.l1_ratio})",
                GnomonWarning,
                stacklevel=2,
            )
        if self.penalty in ("l1", "l2") and self.l1_ratio not in (None, 0, self._ratio()):
            warnings.warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={self.l1_ratio}; "
                "penalty decides. Leave penalty out and set l1_ratio only",
                GnomonWarning,
                stacklevel=2,
            )

    def _price(self) -> float:
        """The C of the objective: infinite without penalty."""
        return np.inf if self.penalty is None else float(self.C)

    def _fit(self, data: Data) -> None:
        self._check_penalty()
        if self._ratio() > 0 and np.isfinite(self._price()):
            self._fit_sparse(data)
        else:
            super()._fit(data)

    def _fit_sparse(self, data: Data) -> None:
        """With absolute values in the penalty, by `SparseLogisticRegression`."""
        from gnomon.linear.sparse_logistic import SparseLogisticRegression

        factors, weights = self._class_factors(data), data.weight_array
        weights = weights if factors is None else weights * factors[data.y]
        model = SparseLogisticRegression(
            alpha=1.0 / (self._price() * float(weights.sum())),
            l1_ratio=self._ratio(),
            fit_intercept=self.fit_intercept,
            max_iter=max(self.max_iter, 1),
            tol=1e-4 * self._enough(),
            keep_history=self.keep_history,
            n_jobs=self.n_jobs,
        )
        vars(model).update(self._public())
        model._fit(Data(ArraySource(data.rows, data.y, weights), data.columns, data.kept))
        self._keep({name: getattr(model, name) for name in ("coef_", "intercept_", "history_")})
        self.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
        self.solver_, self.separated_, self.statistics_ = "coordinate descent", False, None

    def _class_weights(self, y):
        """None: factors are applied to the sums, so that streams have them too."""

    def _start(self, data: Data, rng: np.random.Generator) -> dict[str, Any]:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise DataError(
                f"LogisticRegression needs rows of at least two classes; the target has only one "
                f"class, {self.classes_.tolist()[0]!r}"
            )
        sparse = is_sparse(data)
        shift = np.zeros(data.n_columns)
        if self.fit_intercept and not sparse:
            shift = first_means(data)
        return {
            "shift": shift,
            "sparse": sparse,
            "factors": self._class_factors(data),
            "separated": False,
            "solver": "newton",
        } | start_at(self._first_parameters(shift))

    def _first_parameters(self, shift: np.ndarray) -> np.ndarray:
        """Zero, or with ``warm_start`` the coefficients of the last fit, where these fit."""
        shape = self._equations(), len(shift) + self.fit_intercept
        before = getattr(self, "coef_", None) if self.warm_start else None
        if before is None or before.shape != (shape[0], len(shift)):
            return np.zeros(shape)
        coef = np.asarray(dense(before), dtype=np.float64)
        if not self.fit_intercept:
            return coef.copy()
        return np.column_stack([coef, self.intercept_ + coef @ shift])

    def _enough(self) -> float:
        """The fall of the objective that ends it; `tol` is one of slopes, as in scikit-learn."""
        return float(self.tol) ** 2

    def _class_factors(self, data: Data) -> np.ndarray | None:
        if self.class_weight is None:
            return None
        codes = np.arange(len(self.classes_))
        if isinstance(self.class_weight, dict):
            by_class = dict(enumerate(self.classes_.tolist()))
            chosen = {
                k: self.class_weight[c] for k, c in by_class.items() if c in self.class_weight
            }
            return compute_class_weight(chosen, classes=codes, y=codes)
        (weight,) = add_up(partial(class_weight_sums, len(codes)), data.source, self.n_jobs)
        return weight.sum() / (len(codes) * np.maximum(weight, EPS))

    def _run(self, data: Data, rng: np.random.Generator):
        space = None
        if self._solves_in_row_space(data.n_rows, data.n_columns) and has_fewer_rows(data):
            space = RowSpace.of(data, self.fit_intercept)
            data = space.data
        elif not is_sparse(data):
            data = converted(data, in_order_once)
        state = self._start(data, rng) | ({} if space is None else {"space": space})
        solved = self._solved_part(data, state)
        if solved is None and self._solver(data.n_rows, data.n_columns) == "newton":
            return self._pass_from(state, data)
        if is_sparse(data):
            data = converted(data, as_float_rows, SPARSE_CHUNK)
        return self._run_lbfgs(data, state | {"solver": "lbfgs"}, solved)

    def _solves_in_row_space(self, n_rows: int, n_columns: int) -> bool:
        """Whether it pays to fit in coordinates of the span of the rows.

        Not without penalty, nor where the coefficients of every step are wanted or those of another
        fit are the start.
        """
        usual = np.isfinite(self._price()) and self.keep_history != "full" and not self.warm_start
        return usual and shorter_rows_pay(n_rows, n_columns, self._equations())

    def _solver(self, n_rows: int, n_columns: int) -> str:
        """Newton where summing its matrix costs less than the passes that it saves (measured).

        Without penalty its matrix is worth more: its last steps tell whether there is a maximum.
        """
        coefficients = self._equations() * (n_columns + self.fit_intercept)
        most = PASSES_PER_CELL * n_rows * coefficients + PASSES_CALLS - coefficients**3 / 3
        if np.isinf(self._price()):
            most = MOST_NEWTON_WORK if self._equations() == 1 else MOST_SOFTMAX_WORK
        small = coefficients <= MOST_NEWTON and n_rows * coefficients**2 <= most
        return "newton" if small else "lbfgs"

    def _parts(self, n_rows: int, n_columns: int) -> int:
        """Every how manieth row suffices to know the curvature; 1 where none can be left out."""
        coefficients = self._equations() * (n_columns + self.fit_intercept)
        parts = min(n_rows // (ROWS_PER_COEFFICIENT * max(coefficients, 1)), MOST_PARTS)
        work = n_rows * coefficients**2
        most = MOST_NEWTON_WORK if self._equations() == 1 else MOST_CURVATURE_WORK
        pays = work >= LEAST_WORK and work // max(parts, 1) <= most
        return parts if pays and coefficients <= MOST_NEWTON and parts >= FEWEST_PARTS else 1

    def _solved_part(self, data: Data, state) -> tuple[np.ndarray, np.ndarray] | None:
        """Solution and curvature on evenly spaced rows, by Newton; None where these do not do.

        They do not where they are too few, lack a class, or a column is constant on them; without
        penalty either, where Newton's last steps on all rows tell whether there is a maximum.
        """
        parts = self._parts(data.n_rows, data.n_columns)
        if parts == 1 or state["sparse"] or np.isinf(self._price()):
            return None
        wanted = ENOUGH_ROWS_PER_COEFFICIENT * state["trial"].size
        solved = None
        for each in (parts, data.n_rows // wanted):
            if each == parts or FEWEST_PARTS <= each < parts:
                solved = self._solved_rows(every_row(data.source, each), state)
                if solved is None:
                    return None
                state = state | {"trial": solved[0], "parameters": solved[0]}
        return solved

    def _solved_rows(self, part: ArraySource, state) -> tuple[np.ndarray, np.ndarray] | None:
        """Solution and curvature on some rows, as near as their number warrants."""
        if part.n_rows * state["trial"].size ** 2 > MOST_NEWTON_WORK:
            return self._part_by_slopes(part, state)
        state = state | {"objective": np.inf, "step": 1.0}
        enough = max(PART_TOLERANCE * state["trial"].size / part.n_rows, self._enough())
        for _ in range(min(self.max_iter, MOST_PART_STEPS)):
            total = LossSums(*add_up(partial(self._sums, state), part, self.n_jobs))
            if (total.classes == 0).any():
                return None
            before, state = state, self._update(state, total).state
            if state["step"] == 1.0 and state["fall"] / 2 <= enough:
                curvature, idle = self._curvature(before, total)
                return None if len(idle) else (state["trial"], curvature)
        return None

    def _part_by_slopes(self, part: ArraySource, state) -> tuple[np.ndarray, np.ndarray] | None:
        """The same by L-BFGS, where only one sum of second derivatives pays."""
        rows = Data(part, Columns.of_numbers(part.n_columns))
        coordinates, shape = self._coordinates(state, rows), state["trial"].shape
        (classes,) = add_up(partial(class_weight_sums, len(self.classes_)), part, self.n_jobs)
        if (classes == 0).any():
            return None

        def value(flat):
            trial = coordinates.plain(flat, shape)
            function = partial(loss_sums, state | {"trial": trial}, n_classes=len(self.classes_))
            total = LossSums(*add_up(function, part, self.n_jobs))
            return self._objective(trial, total), coordinates.slope(self._gradient(trial, total))

        enough = np.sqrt(PART_TOLERANCE / part.n_rows)
        options = {"maxiter": self.max_iter, "maxcor": 20, "gtol": enough}
        start = coordinates.of_plain(state["trial"])
        found = scipy.optimize.minimize(value, start, jac=True, method="L-BFGS-B", options=options)
        state = state | {"trial": coordinates.plain(found.x, shape)}
        total = LossSums(*add_up(partial(self._sums, state), part, self.n_jobs))
        curvature, idle = self._curvature(state, total)
        return None if len(idle) else (state["trial"], curvature)

    def _equations(self) -> int:
        n_classes = len(getattr(self, "classes_", (0, 1)))
        return 1 if n_classes == 2 else n_classes

    def _sums(self, state, chunk: Chunk) -> LossSums:
        return loss_sums(state, chunk, len(self.classes_), second=True)

    def _update(self, state, total):
        self._refuse_empty_class(total)
        trial = state["trial"]
        objective = self._objective(trial, total)
        if (back := halved(state, objective)) is not None:
            return back
        if np.isinf(self._price()) and total.wrong == 0:
            return Step(state | {"parameters": trial, "separated": True}, objective, True)
        direction, fall = self._newton_direction(state, trial, total)
        return accepted(state, objective, direction, fall, fall / 2 <= self._enough())

    def _refuse_empty_class(self, total: LossSums) -> None:
        empty = np.flatnonzero(total.classes == 0)
        if len(empty):
            raise DataError(
                f"class {self.classes_.tolist()[empty[0]]!r} has no row of positive weight, so its "
                "probability cannot be learnt; leave its rows out of the data or give them weight"
            )

    def _decay(self, total: LossSums) -> float:
        """The factor of |coef|^2 / 2 in the objective."""
        return 1.0 / (self._price() * total.weight)

    def _objective(self, parameters: np.ndarray, total: LossSums) -> float:
        slopes = parameters[:, : parameters.shape[1] - self.fit_intercept]
        return total.loss / total.weight + 0.5 * self._decay(total) * float((slopes**2).sum())

    def _gradient(self, parameters: np.ndarray, total: LossSums) -> np.ndarray:
        gradient = total.gradient / total.weight
        p = parameters.shape[1] - self.fit_intercept
        gradient[:, :p] += self._decay(total) * parameters[:, :p]
        return gradient

    def _newton_direction(self, state, parameters, total: LossSums) -> tuple[np.ndarray, float]:
        """Newton's step and the fall that its slope promises (twice the true one)."""
        gradient = self._gradient(parameters, total)
        curvature, idle = self._curvature(state, total)
        if len(idle):
            gradient[:, idle] = 0.0
        direction = -symmetric_solve(curvature, gradient.ravel())
        return direction.reshape(parameters.shape), max(float(-(gradient.ravel() @ direction)), 0.0)

    def _curvature(self, state, total: LossSums) -> tuple[np.ndarray, np.ndarray]:
        """Second derivatives of the objective, and which columns do not vary (zero there)."""
        k, q = state["trial"].shape
        p = q - self.fit_intercept
        hessian = (total.hessian / total.weight).reshape(k, q, k, q)
        lengths = np.einsum("kjkj->j", hessian)
        idle = constant_columns(lengths, state["shift"], self.fit_intercept)
        if len(idle):
            lengths[idle] = 0.0
            hessian[:, idle] = hessian[:, :, :, idle] = 0.0
        refuse_tiny(np.sqrt(lengths[:p]), column_names(self))
        np.einsum("kjkj->kj", hessian)[:, :p] += self._decay(total)
        if k > 1:
            fix_common_part(hessian)
        return hessian.reshape(k * q, k * q), idle

    def _run_lbfgs(self, data: Data, state, solved) -> tuple[dict[str, Any], History]:
        """Minimise by L-BFGS in coordinates of nearly the same curvature everywhere.

        Its first step always has the length one: in units of the first slope that is the step that
        is right where the curvature is one.
        """
        shape = state["parameters"].shape
        if solved is None:
            coordinates = self._coordinates(state, data)
        else:
            coordinates = Evened.of(solved[1], np.array([], int))
            state["parameters"] = solved[0]
        course = self._course("step", self.max_iter)
        steps = iter(course)

        def value(flat):
            trial = coordinates.plain(flat, shape)
            function = partial(loss_sums, state | {"trial": trial}, n_classes=len(self.classes_))
            total = LossSums(*add_up(function, data.source, self.n_jobs))
            self._refuse_empty_class(total)
            state["separated"] = bool(np.isinf(self._price()) and total.wrong == 0)
            gradient = self._gradient(trial, total)
            slope = coordinates.slope(gradient)
            state["flat"] = self._is_flat(gradient, slope, state.get("space"))
            return self._objective(trial, total), slope

        def end_step(objective: float, done: bool) -> bool:
            return course.end_step(
                objective,
                done,
                state=partial(self._replayable, state),
                attributes=partial(self._attributes_in_full, state),
            )

        start = coordinates.of_plain(state["parameters"])
        first = value(start)
        if solved is not None:
            # the curvature is nearly one, so that steps down the slope itself are nearly Newton's
            last = 0.0
            made: list[tuple[np.ndarray, np.ndarray]] = []
            for _ in steps:
                objective, slope = first
                fall = float(slope @ slope)
                left = fall * min(fall / (max(last, fall) or 1.0), LEAST_GAIN)  # after the step
                step = -quasi_newton(slope, 1.0, made)
                start = start + step
                now = coordinates.plain(start, shape)
                state |= {"direction": now - state["parameters"], "parameters": now}
                if end_step(objective, left / 2 <= CLOSER * self._enough()):
                    return state, course.history
                last, first = fall, value(start)
                made.append((step, first[1] - slope))
                if first[0] > objective or first[1] @ first[1] > LEAST_GAIN * fall:
                    break
            else:
                return state, course.history
        unit = float(np.linalg.norm(first[1])) or 1.0
        known = [first]

        def value_in_units(flat):
            objective, slope = known.pop() if known else value(flat * unit)
            return objective / unit**2, slope / unit

        def after_step(intermediate_result) -> None:
            now = coordinates.plain(intermediate_result.x * unit, shape)
            state["direction"] = now - state["parameters"]
            state["parameters"] = now
            next(steps, None)
            # the last place that was asked for is the one that the step has accepted
            ended = state["separated"] or state["flat"]
            if end_step(intermediate_result.fun * unit**2, ended):
                raise StopIteration

        result = scipy.optimize.minimize(
            value_in_units,
            start / unit,
            jac=True,
            method="L-BFGS-B",
            callback=after_step,
            options={
                "maxiter": self.max_iter - len(course.history.objective),
                "maxfun": 50 * self.max_iter,
                "maxcor": 20,
                "gtol": 0.1 * np.sqrt(self._enough() / state["parameters"].size) / unit,
                "ftol": 4 * EPS,
            },
        )
        if course.history.stopped == "done":
            course.history.stopped = "max_iter" if result.status == 1 else "converged"
        if not course.history.objective:
            course.history.objective.append(float(first[0]))
        return state, course.history

    def _is_flat(self, gradient: np.ndarray, slope: np.ndarray, space: RowSpace | None) -> bool:
        """Whether L-BFGS may end: by scikit-learn's rule, and in units of the columns' spread.

        Without penalty it goes on to the limits of rounding, so that a maximum that does not exist
        is told from one.
        """
        if np.isinf(self._price()):
            return False
        if float(np.linalg.norm(slope)) > FLAT * self.tol:
            return False
        if space is not None:
            p = len(space.triangle)
            gradient = np.hstack([space.coefficients(gradient[:, :p]), gradient[:, p:]])
        return bool(np.abs(gradient).max(initial=0.0) <= self.tol)

    def _coordinates(self, state, data: Data) -> Scaled | Evened:
        """Coordinates from what is known of the curvature everywhere.

        The curvature of the loss is at most a quarter (two classes) or half (softmax) of the
        columns' products, so that these (for many columns: their diagonal) tell which scales are
        right. Columns that do not vary keep the coefficient zero.
        """
        whole_matrix = not state["sparse"] and self._evens(data.n_rows, data.n_columns)
        function = partial(product_sums, state, self.fit_intercept, whole_matrix)
        weight, products = add_up(function, data.source, self.n_jobs)
        bound = products / weight * (0.25 if len(self.classes_) == 2 else 0.5)
        penalized = np.full(len(bound), 1.0 / (self._price() * weight))
        if self.fit_intercept:
            penalized[-1] = 0.0
        diagonal = np.diag(bound) if whole_matrix else bound
        idle = constant_columns(diagonal, state["shift"], self.fit_intercept)
        if not whole_matrix:
            lengths = np.sqrt(bound + penalized)
            lengths[idle] = np.inf
            return Scaled(lengths)
        bound += np.diag(penalized)
        return Evened.of(bound, idle)

    def _evens(self, n_rows: int, n_columns: int) -> bool:
        """Whether products of the columns cost less than the passes that they save."""
        if np.isinf(self._price()):
            return n_columns <= MOST_WHITENED
        most = min(EVENED_COLUMNS * (1 + self._equations()), MOST_WHITENED)
        return n_columns <= most and n_rows >= EVENED_ROWS * n_columns

    def _attributes(self, state) -> dict[str, Any]:
        parameters = state["parameters"]
        p = len(state["shift"])
        coef = parameters[:, :p].copy()
        intercept = np.zeros(len(coef))
        if self.fit_intercept:
            intercept = parameters[:, p] - coef @ state["shift"]
        if (space := state.get("space")) is not None:
            coef = space.coefficients(coef)
            intercept -= coef @ space.location
        return {
            "coef_": coef,
            "intercept_": intercept,
            "solver_": state["solver"],
            "separated_": state["separated"],
            "statistics_": None,
        }

    def _end(self, state, data: Data) -> None:
        self.n_iter_ = np.array([self.n_iter_], dtype=np.int32)
        if np.isinf(self._price()) and not state["separated"]:
            self._conclude(state, data)
        if self.separated_:
            warnings.warn(
                "a plane separates classes of these rows, completely or in part: without penalty "
                "the coefficients would grow for ever, and those given are where it stopped. "
                "Use a finite C",
                GnomonWarning,
                stacklevel=2,
            )
        elif self.history_.stopped == "max_iter":
            warnings.warn(
                f"LogisticRegression has not converged in max_iter={self.max_iter} steps; the "
                f"objective has come down to {min(self.history_, default=0):.6g}. "
                "Increase max_iter, scale the columns alike, or use a smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _conclude(self, state, data: Data) -> None:
        """Without penalty: one more pass, for the standard errors and for partial separation.

        Where classes are separated in part, a step of Newton's that changes the likelihood no more
        still moves the predictors of the separated rows by about one; in a true maximum all steps
        vanish.
        """
        parameters = state["parameters"]
        if parameters.size > MOST_SUMMARIZED:
            return
        state = state | {"trial": parameters}
        if state["solver"] == "lbfgs":
            total = self._total(state, data.source)
            state["direction"], _ = self._newton_direction(state, parameters, total)
        function = partial(closing_sums, state, n_classes=len(self.classes_))
        *sums, moving = add_up(function, data.source, self.n_jobs)
        total = LossSums(*sums)
        if total.wrong == 0 or moving:
            self.separated_ = True
            return
        k, q = parameters.shape
        blocks = total.hessian.reshape(k, q, k, q)
        hidden = null_space(blocks[0, :, 0])
        if hidden.shape[1]:
            self._keep(self._attributes(state | {"parameters": least_norm(state, hidden)}))
            return
        self.statistics_ = likelihood_statistics(
            parameters, blocks, total, state["shift"], self.fit_intercept
        )

    def _decision(self, rows) -> np.ndarray:
        return decision(rows, self.coef_, self.intercept_)

    def _proba(self, rows) -> np.ndarray:
        scores = self._decision(rows)
        if scores.shape[1] > 1:
            return softmax(scores)
        positive = logistic(scores)
        return np.hstack([logistic(-scores), positive])

    def decision_function(self, X) -> np.ndarray:
        """The linear functions whose logistic function or softmax gives the probabilities.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes: log-odds of the second.
        """
        scores = self._each_block(self._decision, X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def summary(self, confidence_level: float = 0.95) -> FitSummary:
        """Standard errors, tests and intervals of the unpenalised fit.

        For more than two classes, coefficients are those against the first class. Weights are read
        as repetitions. Refused for a finite ``C``, whose estimates are biased, and where the
        maximum of the likelihood does not exist or is not unique.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        summary : FitSummary
        """
        check_is_fitted(self)
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must lie between 0 and 1, not {confidence_level!r}")
        self._refuse_summary()
        names = column_names(self)
        if self.fit_intercept:
            names = ["(intercept)", *names]
        classes = self.classes_.tolist()
        title = f"Logistic regression: log-odds of {classes[1]!r} against {classes[0]!r}"
        if len(classes) > 2:
            names = [f"{c}: {name}" for c in classes[1:] for name in names]
            title = f"Softmax regression: log-odds of each class against {classes[0]!r}"
        return likelihood_summary(
            self.statistics_, names, title, self.fit_intercept, confidence_level
        )

    def _refuse_summary(self) -> None:
        if not np.isinf(self._price()):
            raise NoSummary(
                f"estimates with a penalty (C={self.C:g}) are biased, so that the usual standard "
                "errors are not valid for them; fit with C=np.inf, or bootstrap the rows"
            )
        if self.class_weight is not None:
            raise NoSummary(
                "class weights change what was observed, so that standard errors are not valid; "
                "fit with class_weight=None"
            )
        if self.separated_:
            raise NoSummary(
                "a plane separates classes, so that no maximum of the likelihood exists and "
                "estimates have no standard errors; use a finite C and compare scores instead"
            )
        if self.statistics_ is None and self.coef_.size > MOST_SUMMARIZED:
            raise NoSummary(f"it has over {MOST_SUMMARIZED:,} coefficients; use fewer columns")
        if self.statistics_ is None:
            raise NoSummary(
                "some columns are constant or combinations of others (one column per level of a "
                "category is), so that single coefficients have no standard error; leave "
                "columns out"
            )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads, given = resolve_jobs(self.n_jobs), 0
        equations = self._equations()
        if n_rows < n_columns and self._solves_in_row_space(n_rows, n_columns):
            given = n_rows * n_columns + 3 * n_rows**2 + BLOCK_CELLS + equations * n_columns
            n_columns = n_rows
        block = min(rows_per_chunk(n_columns), n_rows) * (n_columns + 8 + 5 * equations)
        side = n_columns + 1 if self._evens(n_rows, n_columns) else 1
        parts = self._parts(n_rows, n_columns)
        if parts > 1 or self._solver(n_rows, n_columns) == "newton":
            side = equations * (n_columns + 1)
        vectors = 50 * equations * (n_columns + 1)
        if parts > 1:
            vectors += 2 * (n_rows // parts + 1) * (n_columns + 2)
        return 8 * (
            given + 2 * n_rows + 2 * threads * block + (2 * threads + 6) * side**2 + vectors
        )


class Scaled(NamedTuple):
    """Coordinates of an L-BFGS search that are the coefficients times a length for each column.

    ``plain`` maps coordinates to coefficients, ``of_plain`` back, ``slope`` a gradient by the
    coefficients to that by the coordinates. An infinite length keeps a coefficient at zero.
    """

    lengths: np.ndarray

    def plain(self, flat: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        return flat.reshape(shape) / self.lengths

    def of_plain(self, coefficients: np.ndarray) -> np.ndarray:
        held = np.isinf(self.lengths)
        return (coefficients * np.where(held, 0.0, self.lengths)).ravel()

    def slope(self, gradient: np.ndarray) -> np.ndarray:
        return (gradient / self.lengths).ravel()


class Evened(NamedTuple):
    """Coordinates in which a given curvature is the identity; they mix the coefficients.

    The curvature is one for all coefficients, or one that every equation has; `moves` is zero for
    coefficients that are kept at zero.
    """

    factor: np.ndarray
    moves: np.ndarray

    @classmethod
    def of(cls, curvature: np.ndarray, idle: np.ndarray) -> Evened:
        curvature = curvature + np.diag(1e-10 * np.diag(curvature))
        curvature[idle] = curvature[:, idle] = 0.0
        curvature[idle, idle] = 1.0
        moves = np.ones(len(curvature))
        moves[idle] = 0.0
        return cls(np.linalg.cholesky(curvature), moves)

    def plain(self, flat: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        return self._solve(flat.reshape(-1, len(self.factor)), transposed=True).reshape(shape)

    def of_plain(self, coefficients: np.ndarray) -> np.ndarray:
        return (coefficients.reshape(-1, len(self.factor)) @ self.factor).ravel()

    def slope(self, gradient: np.ndarray) -> np.ndarray:
        return self._solve(gradient.reshape(-1, len(self.factor)) * self.moves).ravel()

    def _solve(self, values: np.ndarray, transposed: bool = False) -> np.ndarray:
        # the factor's columns are the rows of its transpose, which LAPACK reads without a copy
        solution, _ = dtrtrs(self.factor.T, values.T, lower=False, trans=not transposed)
        return solution.T


def in_order_once(rows: np.ndarray) -> np.ndarray:
    """Rows in C order, which each pass would bring them in; few ones in the type of the passes."""
    return as_float_rows(rows) if 8 * rows.size <= TRIFLE else np.ascontiguousarray(rows)


def converted(data: Data, convert: Callable[[Any], Any], size: int | None = None) -> Data:
    """Rows in memory, converted, in chunks of so many; streams as they are."""
    if not isinstance(data.source, ArraySource):
        return data
    source = dataclasses.replace(data.source, rows=convert(data.source.rows), size=size)
    return Data(source, data.columns)


def every_row(source: Source, parts: int) -> ArraySource:
    """Every so manieth row in memory, each with the weight of those that it stands for."""
    pieces = []
    for chunk in source.chunks():
        assert chunk.y is not None
        some = slice(-chunk.start % parts, None, parts)
        pieces.append((chunk.rows[some], chunk.y[some], chunk.weights[some]))
    rows, y, weights = (np.concatenate(entries) for entries in zip(*pieces))
    return ArraySource(rows, y, weights * parts, size=PART_CHUNK)


def class_weight_sums(n_classes, chunk):
    """Weight of each class."""
    return (np.bincount(chunk.y, chunk.weights, minlength=n_classes),)


def row_weights(state, chunk):
    """The rows' weights with the factors of their classes."""
    factors = state["factors"]
    return chunk.weights if factors is None else chunk.weights * factors[chunk.y]


def loss_sums(state, chunk, n_classes, second=False):
    """Loss, gradient and on request second derivatives at ``state["trial"]``."""
    weights, theta, shift = row_weights(state, chunk), state["trial"], state["shift"]
    p = len(shift)
    constant = theta.shape[1] > p
    predictor = linear_predictor(chunk.rows, theta, shift)
    loss = logistic_loss if n_classes == 2 else softmax_loss
    terms = loss(predictor, chunk.y, weights)
    sums = terms.slope.sum(axis=1)
    gradient = np.empty_like(theta)
    gradient[:, :p] = inner(chunk.rows, terms.slope.T).T - np.outer(sums, shift)
    gradient[:, p:] = sums[:, None]
    hessian = np.empty(0)
    if second:
        design = Design(chunk.rows, shift, constant)
        hessian = curvature(design, terms.probabilities, weights)
    return LossSums(
        weights.sum(),
        fractional_weights(weights) if chunk.weighted or weights is not chunk.weights else 0,
        terms.classes,
        terms.loss,
        gradient,
        hessian,
        terms.wrong,
    )


def linear_predictor(rows, theta: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Linear functions of shifted rows, one line per equation."""
    p = len(shift)
    slopes = theta[:, :p]
    constants = theta[:, p:].sum(axis=1) - slopes @ shift
    if not sp.issparse(rows):
        predictor = np.dot(slopes, rows.T)
    elif len(slopes) == 1:
        predictor = (rows @ slopes[0])[None]
    else:
        predictor = np.ascontiguousarray((rows @ slopes.T).T)
    predictor += constants[:, None]
    return predictor


def closing_sums(state, chunk: Chunk, n_classes: int) -> tuple:
    """Sums at the end of a fit, and how many rows its last step still moves."""
    change = linear_predictor(chunk.rows, state["direction"], state["shift"])
    spread = np.abs(change).max(axis=0) if len(change) == 1 else np.ptp(change, axis=0)
    moving = np.count_nonzero((spread > STILL_MOVING) & (row_weights(state, chunk) > 0))
    return *loss_sums(state, chunk, n_classes, second=True), moving


def product_sums(state, constant: bool, whole_matrix: bool, chunk: Chunk) -> tuple:
    """Weight, and products of the shifted columns or, where they are many, squares only."""
    weights, shift = row_weights(state, chunk), state["shift"]
    if whole_matrix:
        design = Design(chunk.rows, shift, constant).times(np.sqrt(weights))
        return weights.sum(), inner(design, design)
    rows = chunk.rows
    squares = rows.multiply(rows) if sp.issparse(rows) else (rows - shift) ** 2
    lengths = inner(squares, weights)
    return weights.sum(), np.append(lengths, weights.sum()) if constant else lengths


def constant_columns(lengths: np.ndarray, shift: np.ndarray, intercept: bool) -> np.ndarray:
    """Which columns, of given squared lengths, vary no more than by the rounding of their mean."""
    if not intercept:
        return np.flatnonzero(lengths == 0)
    return np.flatnonzero(lengths[:-1] <= lengths[-1] * (32 * EPS * np.abs(shift)) ** 2)


def fix_common_part(hessian: np.ndarray) -> None:
    """Add curvature along "all classes alike", where the softmax has none and gradients vanish.

    So the matrix can be inverted, and steps keep the classes' coefficients adding up to zero.
    """
    k, q = hessian.shape[:2]
    lengths = np.einsum("kjkj->j", hessian) / k
    for j in range(q):
        hessian[:, j, :, j] += lengths[j] / k


def least_norm(state, hidden: np.ndarray) -> np.ndarray:
    """The equivalent coefficients of least norm; `hidden` directions change no predictor."""
    p = len(state["shift"])
    parameters = state["parameters"]
    along, *_ = np.linalg.lstsq(hidden[:p], parameters[:, :p].T, rcond=None)
    return parameters - (hidden @ along).T


def likelihood_statistics(parameters, blocks, total: LossSums, shift, intercept: bool):
    """Estimates and standard errors in the columns' own places, against the first class."""
    k, q = parameters.shape
    if k > 1:
        fix_common_part(blocks)
    covariance = symmetric_inverse(blocks.reshape(k * q, k * q)).reshape(k, q, k, q)
    if k > 1:
        parameters = parameters[1:] - parameters[0]
        covariance = covariance - covariance[:1]
        covariance = (covariance - covariance[:, :, :1])[1:, :, 1:]
    back = np.eye(q)
    if intercept:
        back[-1, :-1] = -shift
        back = np.roll(back, 1, axis=0)
    variances = np.einsum("ij,kjkl,il->ki", back, covariance, back)
    counts = total.classes[total.classes > 0]
    null = (
        counts @ np.log(counts / total.weight) if intercept else -total.weight * np.log(len(counts))
    )
    return LikelihoodStatistics(
        float(total.weight),
        int(total.fractional),
        float(-total.loss),
        float(null),
        parameters @ back.T,
        np.sqrt(variances),
    )
