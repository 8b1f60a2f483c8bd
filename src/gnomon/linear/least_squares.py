"""Least squares and ridge regression: the plane nearest to the points, from one pass of sums.

Minimises sum_i w_i |y_i - b0 - x_i b|^2 + alpha |b|^2 over b0 and b (alpha = 0: least squares).
The pass adds up products of the columns about a point near their mean, so that large offsets do
not cancel. Where the columns turn out to be close to dependent, or the fit close to perfect, a
second pass sums over columns made nearly orthogonal by the first, and over the residuals: the
accuracy is then that of an orthogonal factorisation of the rows, at the memory of the sums.

Texts: 000 10.2, 10.4.2 · 001 3.4, 5.1.1, 7.2.3 · 002 "Linear regression", "Ridge" · 003 4.2 · 004
4.1-4.7.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from scipy.optimize import nnls

from gnomon.contract import Data, Regressor, Step, SumLearner, Takes, intake
from gnomon.contract.coefficients import dense
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, JOBS, at_least
from gnomon.engine.products import inner, needed_shift
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Object, Optional, Text, Whole
from gnomon.engine.sums import ArraySource, Chunk, rows_per_chunk
from gnomon.engine.threads import resolve_jobs
from gnomon.linear.design import (
    MOST_DENSE_COLUMNS,
    decision,
    first_means,
    fractional_weights,
    is_sparse,
    refuse_tiny,
    shifted_into,
)
from gnomon.linear.inference import (
    KEPT_COLUMNS,
    FitSummary,
    LeastSquaresStatistics,
    NoSummary,
    PredictionResults,
    coefficient_table,
    column_names,
    least_squares_summary,
)
from gnomon.linear.least_squares_sparse import MOST_WITH_MATRIX, solve_sparse
from gnomon.linear.sandwich import COVARIANCES, UNEVEN_LEVEL, Robust, uneven_spread
from gnomon.linear.solve import (
    EPS,
    condition_of,
    largest_eigenvalue,
    scaled_to_unit_diagonal,
    solve_scaled,
    symmetric_inverse,
    whiten,
    without_component,
)

if TYPE_CHECKING:
    from gnomon.linear.elastic_net import PenaltyPath

DEPENDENT_SHARE = 1e-9  # least share of a column's square beside columns before it; R's is 1e-14
MOST_NAMED = 8  # columns that a note lists
CLOSE_TO_DEPENDENT = 1e3  # condition from which on normal equations lose six digits or more
VERY_CLOSE_TO_DEPENDENT = 1e8  # condition from which on one refinement is not enough
CLOSE_TO_PERFECT = 1e-6  # share of unexplained variance below which residuals are summed anew
FAR_SHIFT = 1e3  # in standard deviations of a column: products about it lose six digits
NEAR = 1.0  # in standard deviations: products about zero lose no more than a bit


class Moments(NamedTuple):
    """Sums over rows z = (columns, targets), shifted: weights, fractional ones, w z, w z z'."""

    weight: float
    fractional: float
    first: np.ndarray
    second: np.ndarray


class LeastSquares(Regressor, SumLearner):
    """What least squares and ridge share; they differ in the penalty only."""

    natively = Takes(sparse=True, float32=True)
    _many_targets = True
    _stored = {
        "coef_": Array("f", [("n_columns",), ("n_coef", "n_columns")]),
        "condition_": Optional(Number(finite=False)),
        "intercept_": Number() | Array("f8", ("n_coef",)),
        "rank_": Optional(Whole()),
        "solver_": Text(),
        "statistics_": Optional(Object(("LeastSquaresStatistics",))),
    }

    def _penalty(self) -> float:
        return 0.0

    def _is_matrix_free(self, n_columns: int) -> bool:
        """Whether sparse rows of so many columns are fitted without their products."""
        return self._penalty() > 0 and n_columns > MOST_WITH_MATRIX

    def _passes(self) -> int:
        return 4

    def _fit(self, data: Data) -> None:
        matrix_free = is_sparse(data) and self._is_matrix_free(data.n_columns)
        if data.n_rows > data.n_columns and not matrix_free and not self.positive:
            super()._fit(data)
            return
        wide = functools.partial(solve_wide, names=column_names(self))
        solve = solve_positive if self.positive else solve_sparse if matrix_free else wide
        course = self._course("pass", 1)
        for _ in course:
            state = solve(data, self._penalty(), self.fit_intercept)
            course.end_step(state["objective"], True)
        self._keep(self._attributes(state))
        self.history_, self.n_iter_ = course.history, 1

    def _start(self, data, rng):
        first = next(iter(data.source.chunks()))
        y = first.y
        raw = is_sparse(data) and data.n_columns > MOST_DENSE_COLUMNS
        shift = np.zeros(data.n_columns)
        target_shift = np.zeros(y[:1].size)
        if self.fit_intercept:
            target_shift = np.atleast_1d(y.mean(axis=0))
            if sp.issparse(first.rows) and not raw:
                shift = first_means(data)
            elif not raw:
                found = needed_shift(first.rows, first.weights, NEAR)
                shift = shift if found is None else found
        return {"shift": shift, "target_shift": target_shift, "raw": raw, "single": y.ndim == 1}

    def _sums(self, state, chunk):
        y = chunk.y.reshape(len(chunk.y), -1) - state["target_shift"]
        if state["raw"] and "transform" not in state:
            return sparse_moments(chunk, y)
        p = chunk.rows.shape[1]
        if "transform" not in state:
            if not (chunk.weighted or sp.issparse(chunk.rows) or state["shift"].any()):
                return plain_moments(chunk, y)
            table = np.empty((len(y), p + y.shape[1]))
            shifted_into(table[:, :p], chunk.rows, state["shift"])
            table[:, p:] = y
            return moments(table, chunk)
        rows = np.empty((len(y), p))
        shifted_into(rows, chunk.rows, state["shift"])
        return moments(np.hstack([rows @ state["transform"], y - rows @ state["coef"]]), chunk)

    def _update(self, state, total):
        if "transform" in state:
            state = refined(state, total, self._penalty(), self.fit_intercept)
            again = state["kept_condition"] > VERY_CLOSE_TO_DEPENDENT and state["refinements"] < 2
            return Step(state, state["objective"], not again)
        mean, gram = about_mean(total, self.fit_intercept)
        p = len(state["shift"])
        location = state["shift"] + mean[:p]
        if self.fit_intercept and shift_is_far(mean[:p], gram, location, total.weight):
            state = self._solved(state, total, mean, gram)
            state |= {"shift": location, "raw": False}
            return Step(state, state["objective"], False)
        state = self._solved(state, total, mean, gram)
        if not needs_refinement(state):
            return Step(state, state["objective"], True)
        return Step(self._whitened(state, gram, total), state["objective"], False)

    def _solved(self, state, total, mean, gram):
        """The state with the solution of the normal equations."""
        p = len(state["shift"])
        location = state["shift"] + mean[:p]
        target_mean = state["target_shift"] + mean[p:]
        zero = constant_columns(gram, location, total.weight, self.fit_intercept)
        refuse_tiny(np.sqrt(np.diag(gram)[:p] * ~zero), column_names(self))
        penalized = gram[:p, :p] + self._penalty() * np.eye(p)
        scaled, lengths, used = scaled_to_unit_diagonal(penalized, zero)
        condition = condition_of(scaled)
        right = gram[:p, p:][used] / lengths[:, None]
        inverted = condition < np.inf and used.all() and not self._penalty()
        if inverted:  # one factor for the coefficients and the inverse
            right = np.hstack([right, np.diag(1 / lengths)])
        solved = solve_scaled(scaled, right) / lengths[:, None]
        n_targets = len(mean) - p
        coef = np.zeros((p, n_targets))
        coef[used] = solved[:, :n_targets]
        residual = remainder(gram, coef)
        inverse = np.empty((0, 0))
        if inverted:
            inverse = np.ascontiguousarray(solved[:, n_targets:])
            inverse = with_intercept(inverse, location, total.weight, self.fit_intercept)
        return state | {
            "location": location,
            "target_mean": target_mean,
            "zero": zero,
            "weight": total.weight,
            "fractional": total.fractional,
            "coef": coef,
            "intercept": target_mean - location @ coef if self.fit_intercept else None,
            "residual": residual,
            "total": np.diag(gram)[p:].copy(),
            "condition": condition,
            "rank": int(used.sum()),
            "inverse_diagonal": np.diag(inverse).copy(),
            "inverse": inverse if p <= KEPT_COLUMNS else None,
            "objective": float(residual.sum() + self._penalty() * (coef**2).sum()),
            "solver": "cholesky",
            "gram": gram[:p, :p] if p <= KEPT_COLUMNS else None,
        }

    def _whitened(self, state, gram, total):
        """The state for a pass over columns that are nearly orthogonal, and over the residuals."""
        p = len(state["shift"])
        penalized = gram[:p, :p] + self._penalty() * np.eye(p)
        whitening = whiten(penalized, state["zero"])
        lengths = whitening.lengths
        offsets = np.abs(state["location"][whitening.used]) * np.sqrt(total.weight) / lengths
        blur = 1.0 + (offsets.max(initial=0.0) if self.fit_intercept else 0.0)
        changes = whitening._asdict() | {"blur": blur, "refinements": 0}
        if self.fit_intercept:
            changes |= {"shift": state["location"], "target_shift": state["target_mean"]}
        return state | changes

    def _attributes(self, state) -> dict[str, Any]:
        single = state["single"]
        dependent = state["rank"] < len(state["coef"]) and not self._penalty()
        coef = np.ascontiguousarray(state["coef"].T)
        intercept = np.zeros(len(coef)) if state["intercept"] is None else state["intercept"]
        part = independent_part(state, self.fit_intercept) if dependent else None
        return {
            "coef_": coef[0] if single else coef,
            "intercept_": np.float64(intercept[0]) if single else intercept,
            "rank_": state["rank"],
            "condition_": np.inf if dependent else float(state["condition"]),
            "solver_": state["solver"],
            "statistics_": LeastSquaresStatistics(
                float(state["weight"]),
                int(state["fractional"]),
                state["residual"],
                state["total"],
                *(part or (state["inverse_diagonal"], state.get("inverse"))),
            ),
        }

    def _estimate(self, rows):
        return decision(rows, self.coef_, self.intercept_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if n_rows <= n_columns:
            return 8 * (3 * n_rows * n_columns + 3 * n_rows**2)
        threads = resolve_jobs(self.n_jobs)
        block = min(rows_per_chunk(n_columns), n_rows) * (n_columns + 2)
        return 8 * (n_rows + 2 * threads * block + (2 * threads + 8) * (n_columns + 2) ** 2)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        if not self._is_matrix_free(n_columns):
            return None
        return 8 * (10 * n_rows + 20 * (n_columns + 1) + 3 * n_entries)

    def _memory_remedy(self) -> str:
        return (
            "Use fewer columns: the sums grow with their square (not so Ridge's, of sparse rows)."
        )

    def _refuse_summary(self) -> None:
        """Raise where standard errors would not be valid."""
        if self.positive:
            raise NoSummary(
                "coefficients that are bound to be positive have no standard errors of the usual "
                "kind; use positive=False or coefficient_bootstrap"
            )

    def summary(
        self,
        confidence_level: float = 0.95,
        target: int = 0,
        *,
        cov_type: str = "nonrobust",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        maxlags: int | None = None,
        use_correction: bool | None = None,
        use_t: bool = False,
    ) -> FitSummary:
        """The statistical summary: standard errors, tests, intervals, R2, F, AIC, BIC.

        Valid where errors are independent, of one variance and near to normal; robust standard
        errors need the training rows, and allow variances that differ (HC0 to HC3) and errors that
        depend on each other within groups or over time (HAC). Weights are read as repetitions.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of the intervals.
        target : int, default=0
            Which target, where several were fitted.
        cov_type : {"nonrobust", "HC0", "HC1", "HC2", "HC3", "HAC", "cluster"}, \
default="nonrobust"
            The covariance of the estimates, in statsmodels' names.
        X : array-like, data frame or Table, default=None
            The training rows; with them the summary also tests whether the spread is constant.
        y : array-like or str, default=None
            Their target, or the name of its column in X.
        sample_weight : array-like or str, default=None
            Their weights, where the fit had any.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, for ``cov_type="cluster"``.
        maxlags : int or None, default=None
            For ``cov_type="HAC"`` (Newey and West), whose rows are in the order of time: how many
            rows apart errors may depend on each other.
        use_correction : bool or None, default=None
            Whether "HAC" and "cluster" are corrected for few rows or groups; None for "cluster"
            only.
        use_t : bool, default=False
            Whether robust tests and intervals are by the t distribution, not the normal one.

        Returns
        -------
        summary : FitSummary
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        self._refuse_summary()
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must lie between 0 and 1, not {confidence_level!r}")
        coef = np.atleast_2d(self.coef_)
        if not 0 <= target < len(coef):
            raise ValueError(f"target must be 0 to {len(coef) - 1}, not {target!r}")
        p = coef.shape[1]
        names, kept = column_names(self), self.statistics_.columns
        if self.rank_ < p and kept is None:
            raise NoSummary(
                f"the {p} columns have rank {self.rank_}: some are constant or combinations of "
                "others, or there are no more rows than columns. Single coefficients then have no "
                "standard error; leave columns out, or bet on few of them (wide_regression, Lasso, "
                "ElasticNet)"
            )
        estimate = coef[target]
        if self.fit_intercept:
            estimate = np.concatenate([[np.atleast_1d(self.intercept_)[target]], estimate])
        if kept is not None:
            estimate = self.statistics_.estimates[target]
        used = names if kept is None else [names[i] for i in kept]
        found = least_squares_summary(
            self.statistics_,
            ["(intercept)", *used] if self.fit_intercept else used,
            estimate,
            self.fit_intercept,
            target,
            confidence_level,
        )
        if kept is not None:
            found.notes.append(left_out_note(names, kept))
        if cov_type not in COVARIANCES:
            raise ValueError(f"cov_type must be one of {', '.join(COVARIANCES)}, not {cov_type!r}")
        if X is None:
            if cov_type != "nonrobust":
                raise ValueError(f"cov_type={cov_type!r} needs the training rows: give X and y")
            return found
        robust = Robust(cov_type, groups, maxlags, use_correction, use_t)
        return self._with_rows(found, X, y, sample_weight, robust, target)

    def get_prediction(self, X: Any, confidence_level: float = 0.95) -> PredictionResults:
        """Predictions with standard errors and intervals, as statsmodels' ``get_prediction``.

        Valid where the summary is: errors independent, of one variance and near to normal.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        results : PredictionResults
            The mean, its standard error, and intervals of the mean and of a new target.

        Examples
        --------
        >>> from gnomon.linear import LinearRegression
        >>> model = LinearRegression().fit([[0], [1], [2], [3]], [0, 1, 2, 4])
        >>> model.get_prediction([[1.5]]).conf_int(obs=True).round(2).tolist()
        [[-0.11, 3.61]]
        """
        summary = self.summary(confidence_level)
        inverse = self.statistics_.inverse
        if inverse is None:
            raise NoSummary(
                f"intervals of predictions are kept for up to {KEPT_COLUMNS} columns; "
                "use gnomon.linear.prediction_intervals"
            )

        rows = self._summarized_rows(X)
        variance = summary.facts["residual standard error"] ** 2
        spread = variance * np.einsum("ij,jk,ik->i", rows, inverse, rows)
        free = summary.facts["degrees of freedom"]
        return PredictionResults(
            rows @ summary.estimate, np.sqrt(spread), variance, free, confidence_level
        )

    def _summarized_rows(self, X: Any) -> np.ndarray:
        """The columns of the summary, the intercept's first."""
        rows = np.concatenate([dense(block) for block in intake.blocks_of(self, X)]).astype(float)
        if self.statistics_.columns is not None:
            rows = rows[:, self.statistics_.columns]
        return np.column_stack([np.ones(len(rows)), rows]) if self.fit_intercept else rows

    def _with_rows(self, found: FitSummary, X, y, sample_weight, robust: Robust, target):
        """The summary with robust standard errors, or with a test of the spread."""
        X, y, sample_weight = intake.take_truth(self, X, y, sample_weight)
        design = self._summarized_rows(X)
        y = np.asarray(y, dtype=float).reshape(len(design), -1)[:, target]
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        residual = y - design @ found.estimate
        if robust.cov_type == "nonrobust":
            p_value = uneven_spread(design, residual)
            if p_value < UNEVEN_LEVEL:
                found.notes.append(
                    "The spread of the errors is not constant (White's test, p "
                    f"{p_value:.2g}): these standard errors are not valid; use cov_type='HC3'."
                )
            return found
        covariance, free = robust.covariance(design, residual, weights)
        facts = dict(found.facts)
        if "F" in facts:
            first = int(self.fit_intercept)
            tested = found.estimate[first:]
            f = tested @ np.linalg.solve(covariance[first:, first:], tested) / len(tested)
            facts |= {"F": float(f), "F p": float(scipy.stats.f.sf(f, len(tested), free))}
        table = coefficient_table(
            found.names,
            found.estimate,
            np.sqrt(np.diag(covariance)),
            scipy.stats.t(free) if robust.use_t else scipy.stats.norm,
            "t" if robust.use_t else "z",
            found.confidence_level,
            title=found.title,
            facts=facts,
            notes=found.notes,
        )
        against = {"cluster": "errors that go together in groups", "HAC": "errors that go together"}
        table.notes.append(
            f"Standard errors {robust.cov_type}, robust against "
            f"{against.get(robust.cov_type, 'a spread that differs')}."
        )
        return table


@method(
    task="regress",
    texts="000 10.2 · 001 3.4, 5.1.1 · 002 linear regression · 003 4.2 · 004 4.1-4.6",
    use="First, when the target is a number: fast, explained by its coefficients, with error bars.",
    avoid="Nearly dependent or very many columns (use Ridge), outliers, curved relations.",
    peers=("sklearn.linear_model.LinearRegression", "statsmodels.api.OLS"),
)
@without_effect("copy_X", "tol")
class LinearRegression(LeastSquares):
    """Least squares: a linear function of the columns, with standard errors.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2. Use it first when the target is a number. Not with
    outliers (they pull the plane), nor when columns are nearly dependent or nearly as many as
    rows: then small changes of the data change the coefficients greatly (see ``condition_``), and
    `Ridge` is better. One pass over the rows, so that tables larger than memory stream through; a
    second one where the columns are nearly dependent or the fit nearly perfect, which gives the
    accuracy of an orthogonal factorisation.

    Where the columns are dependent (constant ones, a category's levels with an intercept, more
    columns than rows) the solution of least norm is given and ``rank_`` says so.

    Texts: 000 10.2 · 001 3.4, 5.1.1 (pseudo-inverse) · 002 "Linear regression" · 003 4.2.1 · 004
    4.1-4.6. The texts append a column of ones; here the intercept is solved for by centring,
    which is the same and more accurate. The BIC is in the corrected form k log n - 2L (000 11.1.2
    prints 2k log n).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a constant b0; without it the plane goes through the origin.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.
    positive : bool, default=False
        Whether no coefficient may be negative; takes dense rows only.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,) or (n_targets, n_columns)
        The coefficients b.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant b0; zero without intercept.
    rank_ : int
        Rank of the (centred) columns.
    condition_ : float
        Largest over smallest singular value of the centred columns scaled to length one: about
        how many times a relative change of the data is enlarged in the coefficients; infinite
        where they are dependent.
    solver_ : str
        ``"cholesky"`` (one pass), ``"orthogonal"`` (refined); where there are no more rows than
        columns ``"dual"`` (products of the rows) or, of rows close to dependent, ``"singular
        values"``.
    statistics_ : LeastSquaresStatistics
        The sums of squares that `summary` is made of.
    history_ : History
        The sum of squared residuals after each pass.
    n_iter_ : int
        Number of passes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    Ridge : With a penalty on the coefficients.

    Notes
    -----
    The first category of a column of categories gets no column of its own beside an intercept: the
    coefficients of the others are differences from it, and the summary can test them.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> model = LinearRegression().fit([[0], [1], [2], [3], [4]], [1, 3, 2, 5, 4])
    >>> print(model.summary())
    Least squares
    <BLANKLINE>
                 estimate  std. error       t      p   95% low  95% high
    (intercept)       1.4     0.84853  1.6499  0.198   -1.3004    4.1004
    x0                0.8     0.34641  2.3094  0.104  -0.30243    1.9024
    <BLANKLINE>
    n 5, degrees of freedom 3, residual standard error 1.09545, R2 0.64
    adjusted R2 0.52, F 5.33333, F p 0.104, log-likelihood -6.273
    AIC 18.547, BIC 17.375
    """

    _parameter_constraints = {"fit_intercept": FLAG, "n_jobs": JOBS, "positive": FLAG}

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Beside an intercept, one level of a category is what the others are compared with."""
        return Takes(sparse=not self.positive, redundant=not self.fit_intercept, float32=True)


@method(
    task="regress",
    texts="000 10.4.2, 11.4.1 · 001 7.2.3 · 002 ridge · 003 4.4.2 · 004 4.7",
    use="A number to predict from many or correlated columns.",
    avoid="When standard errors are wanted, or when few of many columns matter (lasso).",
    peers=("sklearn.linear_model.Ridge",),
)
@without_effect("copy_X", "max_iter", "tol", "solver", "random_state")
class Ridge(LeastSquares):
    """Ridge regression: least squares that keeps its coefficients small.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2 + alpha |b|^2. Use it when columns are correlated or
    many; the penalty trades a little bias for less variance. It depends on the units of the
    columns: scale them alike first. Not for standard errors (the estimates are biased, so
    `summary` refuses) nor for choosing columns: no coefficient becomes zero.

    Texts: 000 10.4.2 (corrected: (X'X/N + lambda I) b = X'y/N, so alpha = N lambda) · 001 7.2.3
    (its second scale) · 002 "Ridge" · 003 4.4.2 · 004 4.7. Most texts penalise the
    constant too; here it is free. For their form, append a column of ones and set
    ``fit_intercept=False``.

    Parameters
    ----------
    alpha : float or ndarray of shape (n_targets,), default=1.0
        Weight of the penalty, the same for all targets or one for each; 0 gives least squares.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.
    positive : bool, default=False
        Whether no coefficient may be negative.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,) or (n_targets, n_columns)
        The coefficients b.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant b0; zero without intercept.
    rank_ : int
        Rank of the penalised columns: all that vary.
    condition_ : float
        Largest over smallest singular value of the centred columns together with the penalty's
        rows, scaled to length one (as they are, where there are no more rows than columns).
    solver_ : str
        ``"cholesky"`` (one pass), ``"orthogonal"`` (refined), ``"dual"`` or ``"singular values"``
        (no more rows than columns), ``"conjugate gradients"`` (more than 2000 sparse columns, such
        as a category's levels; the condition is then not known, NaN).
    statistics_ : LeastSquaresStatistics
        Sums of squares of residuals and target.
    history_ : History
        The objective after each pass.
    n_iter_ : int
        Number of passes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LinearRegression : Without penalty, with standard errors.

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> Ridge(alpha=10.0).fit([[0], [1], [2], [3], [4]], [1, 3, 2, 5, 4]).coef_
    array([0.4])
    """

    natively = Takes(sparse=True, many_levels=True, float32=True)
    _parameter_constraints = {
        "alpha": [at_least(0.0), np.ndarray],
        "fit_intercept": FLAG,
        "positive": FLAG,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, None)]),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        solver="auto",
        positive=False,
        random_state=None,
        n_jobs=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _penalty(self) -> float:
        return float(np.min(self.alpha))

    def _fit(self, data: Data) -> None:
        alphas = np.ravel(self.alpha)
        if len(alphas) == 1:
            super()._fit(data)
            if np.shape(self.coef_)[:-1] == (1,):
                self.coef_ = self.coef_[0]
            return
        targets = data.y.reshape(data.n_rows, -1)
        if len(alphas) != targets.shape[1]:
            raise DataError(
                "Number of targets and number of penalties do not correspond: "
                f"{targets.shape[1]} targets, {len(alphas)} values of alpha; give one, or as many"
            )
        fits = []
        for alpha, target in zip(alphas, targets.T):
            source = ArraySource(data.rows, np.ascontiguousarray(target), data.weights)
            one = type(self)(**self.get_params() | {"alpha": float(alpha)})
            one.n_features_in_ = self.n_features_in_
            one._fit(Data(source, data.columns, data.kept))
            fits.append(one)
        self._keep(joined_targets(fits))

    def path(
        self,
        X,
        y,
        sample_weight=None,
        *,
        alphas=None,
        n_alphas: int = 100,
        eps: float = 1e-6,
        cv: int | None = None,
        random_state=None,
    ) -> PenaltyPath:
        """Coefficients for a whole range of penalties, in about the time of one fit.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
        sample_weight : array-like or str, default=None
        alphas : array-like, default=None
            The penalties; by default `n_alphas` from the squared length of all centred columns
            down to `eps` times that, evenly in the logarithm.
        n_alphas : int, default=100
        eps : float, default=1e-6
        cv : int or None, default=None
            Folds of a cross-validation by squared error along the path; None for none. Equal rows
            are in one fold.
        random_state : int, RandomState instance or None, default=None
            Deals the folds.

        Returns
        -------
        path : PenaltyPath

        Examples
        --------
        >>> from gnomon.linear import Ridge
        >>> X, y = [[0], [1], [2], [3], [4]], [1, 3, 2, 5, 4]
        >>> Ridge().path(X, y, alphas=[10.0, 1e-9]).coefficients.round(4)
        array([[0.4],
               [0.8]])
        """
        from gnomon.linear.ridge_path import RidgePaths

        paths = RidgePaths(self.fit_intercept, random_state, self.n_jobs)
        settings = {"alphas": alphas, "n_alphas": n_alphas, "eps": eps, "cv": cv}
        return paths.path(X, y, sample_weight, **settings)

    def _refuse_summary(self) -> None:
        super()._refuse_summary()
        if np.any(self.alpha):
            raise NoSummary(
                "ridge estimates are biased by the penalty, so that the usual standard errors and "
                "tests are not valid for them; use LinearRegression or alpha=0, or "
                "bootstrap the rows"
            )


def moments(table: np.ndarray, chunk: Chunk) -> Moments:
    """Sums of a chunk's shifted columns and targets; overwrites `table`."""
    first = inner(table, chunk.weights)
    if chunk.weighted:
        table *= np.sqrt(chunk.weights)[:, None]
    return Moments(
        chunk.weights.sum(),
        fractional_weights(chunk.weights) if chunk.weighted else 0,
        first,
        inner(table, table),
    )


def plain_moments(chunk: Chunk, y: np.ndarray) -> Moments:
    """The same for rows that are neither shifted nor weighted, and need no copy."""
    rows, p = chunk.rows, chunk.rows.shape[1]
    second = np.empty((p + y.shape[1], p + y.shape[1]))
    second[:p, :p] = inner(rows, rows)
    second[:p, p:] = inner(rows, y)
    second[p:, :p] = second[:p, p:].T
    second[p:, p:] = inner(y, y)
    first = np.concatenate([inner(rows, chunk.weights), inner(y, chunk.weights)])
    return Moments(chunk.weights.sum(), 0, first, second)


def sparse_moments(chunk: Chunk, y: np.ndarray) -> Moments:
    """The same for many sparse columns, unshifted, so that zeros stay zeros."""
    rows, root = chunk.rows, np.sqrt(chunk.weights)[:, None]
    first = np.concatenate([rows.T @ chunk.weights, chunk.weights @ y])
    if chunk.weighted:
        rows, y = sp.csr_array(rows * root), y * root
    cross = rows.T @ y
    second = np.block([[(rows.T @ rows).toarray(), cross], [cross.T, y.T @ y]])
    return Moments(
        chunk.weights.sum(),
        fractional_weights(chunk.weights) if chunk.weighted else 0,
        first,
        second,
    )


def about_mean(total: Moments, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and products about the mean (about zero without intercept)."""
    if not intercept:
        return np.zeros_like(total.first), total.second
    mean = total.first / total.weight
    return mean, total.second - total.weight * np.outer(mean, mean)


def constant_columns(gram, location, weight, intercept) -> np.ndarray:
    """Which columns do not vary beyond the rounding of their mean."""
    variation = np.diag(gram)[: len(location)]
    if not intercept:
        return variation == 0
    return variation <= weight * (32 * EPS * np.abs(location)) ** 2


def shift_is_far(mean, gram, location, weight) -> bool:
    """Whether a column's shift lies so far from its mean that products about it have cancelled."""
    variation = np.diag(gram)[: len(mean)]
    far = weight * mean**2 > FAR_SHIFT**2 * variation
    return bool((far & (np.abs(mean) > 1e-12 * np.abs(location))).any())


def remainder(gram: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Sum of squared residuals per target, from products about the mean."""
    p = len(coef)
    explained = coef * (2 * gram[:p, p:] - gram[:p, :p] @ coef)
    return np.maximum(np.diag(gram)[p:] - explained.sum(axis=0), 0.0)


def needs_refinement(state) -> bool:
    """Whether the normal equations have lost more digits than a result should."""
    if state["zero"].all():
        return False
    perfect = (state["residual"] < CLOSE_TO_PERFECT * state["total"]).any()
    return bool(perfect or state["condition"] > CLOSE_TO_DEPENDENT)


def independent_part(state: dict[str, Any], intercept: bool) -> tuple | None:
    """Inference for the columns that are no combination of columns before them, as in R's ``lm``.

    Diagonal of the inverse, the inverse, the columns and their estimates: the last four values of
    `LeastSquaresStatistics`. None where they cannot be told apart for sure.
    """
    gram = state.get("gram")
    if gram is None:
        return None
    columns = independent_columns(gram)
    if len(columns) != state["rank"]:
        return None
    inner = gram[np.ix_(columns, columns)]
    slopes = np.linalg.solve(inner, (gram @ state["coef"])[columns])
    location = state["location"]
    inverse = with_intercept(
        symmetric_inverse(inner), location[columns], state["weight"], intercept
    )
    if intercept:
        constant = state["intercept"] + location @ state["coef"] - location[columns] @ slopes
        slopes = np.vstack([constant, slopes])
    return np.diag(inverse).copy(), inverse, columns, np.ascontiguousarray(slopes.T)


def independent_columns(gram: np.ndarray) -> np.ndarray:
    """The columns that are no combination of columns before them, from their products."""
    rest, kept = gram.copy(), []
    for k, length in enumerate(np.diag(gram)):
        if rest[k, k] > DEPENDENT_SHARE * max(length, 0.0):
            kept.append(k)
            rest -= np.outer(rest[:, k], rest[k]) / rest[k, k]
    return np.array(kept, dtype=np.int64)


def left_out_note(names: list[str], kept: np.ndarray) -> str:
    """Which columns a summary leaves out, and why."""
    rest = [name for i, name in enumerate(names) if i not in set(kept.tolist())]
    some = ", ".join(rest[:MOST_NAMED]) + (" ..." if len(rest) > MOST_NAMED else "")
    return (
        f"{len(rest)} of {len(names)} columns are constant or combinations of columns before them "
        f"(as the last level of a category is), and are left out: {some}."
    )


def with_intercept(inverse: np.ndarray, location, weight: float, intercept: bool) -> np.ndarray:
    """(X'X)^-1 with the intercept first, from the inverse for centred columns."""
    if not intercept:
        return inverse
    cross = -(inverse @ location)
    whole = np.empty((len(location) + 1, len(location) + 1))
    whole[0, 0] = 1 / weight + location @ inverse @ location
    whole[0, 1:] = whole[1:, 0] = cross
    whole[1:, 1:] = inverse
    return whole


def refined(state, total: Moments, alpha: float, intercept: bool):
    """The state corrected by sums over nearly orthogonal columns Z and the residuals r.

    With Z'Z = V L V', the columns are Z root = Q (L^1/2 V' root) for some Q with orthonormal
    columns; singular values of the small matrix in brackets tell rank and condition, and it takes
    Q'r to the correction.
    """
    mean, gram = about_mean(total, intercept)
    root, lengths, used = state["root"], state["lengths"], state["used"]
    transform, k = state["transform"], len(root)
    inner, cross = gram[:k, :k], gram[:k, k:]
    penalized = inner + alpha * transform.T @ transform
    slope = cross - alpha * transform.T @ state["coef"]
    eigenvalues, vectors = np.linalg.eigh(penalized)
    stretch = np.sqrt(np.maximum(eigenvalues, 0.0))
    seen = stretch > 0
    projected = (vectors.T @ slope)[seen] / stretch[seen, None]
    factor = stretch[seen, None] * (vectors.T @ root)[seen]
    left, values, right = scipy.linalg.svd(factor, full_matrices=True, check_finite=False)
    values = np.concatenate([values, np.zeros(k - len(values))])
    keep = values > 16 * EPS * np.sqrt(k) * state["blur"] * values[0]
    correction = right[keep].T @ ((left[:, : keep.sum()].T @ projected) / values[keep, None])
    coef = state["coef"].copy()
    coef[used] += correction / lengths[:, None]
    dependent = np.zeros((len(coef), k - keep.sum()))
    dependent[used] = right[~keep].T / lengths[:, None]
    coef = without_component(coef, dependent)
    step = root @ correction
    residual = np.diag(gram)[k:] - (step * (2 * cross - inner @ step)).sum(axis=0)
    full = keep.all() and used.all()
    inverse = np.empty((0, 0))
    if full and not alpha:
        half = right.T / values / lengths[:, None]
        inverse = with_intercept(half @ half.T, state["location"], total.weight, intercept)
    constant = None
    if intercept:
        constant = state["target_mean"] - state["location"] @ coef + mean[k:] - mean[:k] @ step
    return state | {
        "coef": coef,
        "intercept": constant,
        "residual": np.maximum(residual, 0.0),
        "condition": float(values[0] / values[-1]) if full else np.inf,
        "kept_condition": float(values[0] / values[keep].min(initial=values[0])),
        "rank": int(keep.sum()),
        "inverse_diagonal": np.diag(inverse).copy(),
        "inverse": inverse if len(coef) <= KEPT_COLUMNS else None,
        "objective": float(residual.sum() + alpha * (coef**2).sum()),
        "solver": "orthogonal",
        "refinements": state["refinements"] + 1,
    }


def solve_wide(data, alpha, intercept, names):
    """Rows no more than columns: solve in the space of the rows.

    Ridge: b = X'(XX' + alpha I)^-1 y, of as many unknowns as rows; least squares: the solution of
    least norm.
    """
    weights = data.weight_array
    rows, centered, location, target_mean = centered_by_weight(data, intercept)
    if not alpha:
        spread = np.abs(rows).max(axis=0)
        varies = spread > 32 * EPS * np.abs(location) * np.sqrt(weights.max())
        refuse_tiny(spread * varies, names)
    mean_direction = np.sqrt(weights) if intercept else None
    coef, rank, condition, solver = wide_solution(rows, centered, alpha, mean_direction)
    if solver == "singular values":
        rows = centered_by_weight(data, intercept)[0]
    residual = ((centered - rows @ coef) ** 2).sum(axis=0)
    return {
        "single": data.y.ndim == 1,
        "coef": coef,
        "intercept": target_mean - location @ coef if intercept else None,
        "rank": rank,
        "condition": condition,
        "solver": solver,
        "weight": weights.sum(),
        "fractional": fractional_weights(weights),
        "residual": residual,
        "total": (centered**2).sum(axis=0),
        "inverse_diagonal": np.empty(0),
        "objective": float(residual.sum() + alpha * (coef**2).sum()),
    }


def joined_targets(fits: list[Ridge]) -> dict[str, Any]:
    """The attributes of a fit of several targets from fits of one each."""
    worst = max(fits, key=lambda each: each.condition_)
    parts = [each.statistics_ for each in fits]
    return {
        "coef_": np.array([each.coef_ for each in fits]),
        "intercept_": np.array([each.intercept_ for each in fits]),
        "rank_": min(each.rank_ for each in fits),
        "condition_": worst.condition_,
        "solver_": worst.solver_,
        "history_": worst.history_,
        "n_iter_": worst.n_iter_,
        "statistics_": LeastSquaresStatistics(
            parts[0].weight,
            parts[0].fractional,
            np.concatenate([each.residual for each in parts]),
            np.concatenate([each.total for each in parts]),
            np.empty(0),
        ),
    }


def solve_positive(data: Data, alpha: float, intercept: bool) -> dict[str, Any]:
    """Least squares without negative coefficients, on a triangular factor of the centred rows."""
    rows, targets, location, target_mean = centered_by_weight(data, intercept)
    p, n_targets = rows.shape[1], targets.shape[1]
    table = np.hstack([rows, targets])
    if alpha:
        table = np.vstack([table, np.sqrt(alpha) * np.eye(p, p + n_targets)])
    triangle = scipy.linalg.qr(table, mode="r", check_finite=False)[0][: p + n_targets]
    coef = np.array([nnls(triangle[:, :p], column)[0] for column in triangle[:, p:].T]).T
    residual = ((targets - rows @ coef) ** 2).sum(axis=0)
    return {
        "single": data.y.ndim == 1,
        "coef": coef,
        "intercept": target_mean - location @ coef if intercept else None,
        "rank": int((coef > 0).any(axis=1).sum()),
        "condition": np.nan,
        "solver": "non-negative",
        "weight": data.weight_array.sum(),
        "fractional": fractional_weights(data.weight_array),
        "residual": residual,
        "total": (targets**2).sum(axis=0),
        "inverse_diagonal": np.empty(0),
        "objective": float(residual.sum() + alpha * (coef**2).sum()),
    }


def centered_by_weight(data: Data, intercept: bool):
    """Rows and targets about their weighted means, times the roots of the weights; the means."""
    weights = data.weight_array
    share = weights / weights.sum()
    targets = data.y.reshape(data.n_rows, -1)
    location, target_mean = np.zeros(data.n_columns), np.zeros(targets.shape[1])
    given = data.rows
    rows = given.toarray() if sp.issparse(given) else np.array(given, dtype=np.float64, order="C")
    if intercept:
        location, target_mean = share @ rows, share @ targets
        rows -= location
        targets = targets - target_mean
    if data.weights is None:
        return rows, targets, location, target_mean
    root = np.sqrt(weights)[:, None]
    rows *= root
    return rows, targets * root, location, target_mean


def wide_solution(rows: np.ndarray, targets: np.ndarray, alpha: float, zero: np.ndarray | None):
    """Coefficients, rank, condition and the way taken; may overwrite `rows`.

    Rows and targets are orthogonal to `zero`, where it is given.
    """
    n, p = rows.shape
    size = float(np.einsum("ij,ij->", rows, rows))
    if alpha > 1e-10 * size / n:
        outer = rows @ rows.T
        condition = float(np.sqrt((largest_eigenvalue(outer) + alpha) / alpha))
        outer[np.diag_indices(n)] += alpha
        factor, _ = dpotrf(outer, lower=True, overwrite_a=True)
        dual, _ = dpotrs(factor, targets, lower=True)
        return rows.T @ dual, p, condition, "dual"
    if not alpha and n < p:
        coef = least_norm(rows, targets, zero)
        if coef is not None:
            return coef, n - (zero is not None), np.inf, "dual"
    left, values, right = scipy.linalg.svd(
        rows, full_matrices=False, overwrite_a=True, check_finite=False
    )
    keep = values > EPS * p * values[0]
    kept = values[keep, None]
    coef = right[keep].T @ (left[:, keep].T @ targets * (kept / (kept**2 + alpha)))
    if alpha:
        return coef, p, float(np.sqrt((values[0] ** 2 + alpha) / alpha)), "singular values"
    full = keep.sum() == p
    condition = float(values[0] / values[-1]) if full else np.inf
    return coef, int(keep.sum()), condition, "singular values"


def least_norm(rows: np.ndarray, targets: np.ndarray, zero: np.ndarray | None) -> np.ndarray | None:
    """The solution X'a, X X'a = y, of least norm, refined once; None where rows are not far from
    dependent, so that their products would have lost more than six digits.

    Rows and targets are orthogonal to `zero`, where it is given.
    """
    outer = rows @ rows.T
    size = float(np.trace(outer)) / len(outer)
    if zero is not None:
        outer += np.outer(zero * (size / (zero @ zero)), zero)
    norm = float(np.abs(outer).sum(axis=0).max())
    factor, failed = dpotrf(outer, lower=True, overwrite_a=True)
    if failed or dpocon(factor, norm, uplo="L")[0] < CLOSE_TO_DEPENDENT**-2:
        return None
    coef = rows.T @ dpotrs(factor, targets, lower=True)[0]
    return coef + rows.T @ dpotrs(factor, targets - rows @ coef, lower=True)[0]
