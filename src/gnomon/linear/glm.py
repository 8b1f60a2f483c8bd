"""Generalised linear models: a mean that is a known function of a linear one, by Newton on sums.

Minimises  (1/2W) sum_i w_i D(y_i, m_i) + alpha (r |b|_1 + (1 - r) |b|^2 / 2),  g(m_i) = b0 + x_i b,
where D is the deviance of the family, g the link and W = sum_i w_i; without penalty this is maximum
likelihood. Each pass sums the score and Fisher's information; the step solves the quadratic model,
by coordinate descent where there are absolute values, and is halved until the objective falls.

Texts: 000 11.3-11.4.3.
"""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Regressor, SumLearner, Takes, intake
from gnomon.contract.coefficients import dense
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    StrOptions,
    above,
    at_least,
    between,
    whole,
)
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Flag, Number, Object, Optional, Whole
from gnomon.engine.sums import ArraySource, Chunk, add_up, rows_per_chunk
from gnomon.engine.threads import resolve_jobs
from gnomon.linear.coordinate_descent import on_products
from gnomon.linear.design import (
    Design,
    decision,
    first_means,
    fractional_weights,
    is_sparse,
    refuse_tiny,
    with_constant,
)
from gnomon.linear.elastic_net import PenaltyPath
from gnomon.linear.families import (
    FAMILIES,
    LINK_NAMES,
    Family,
    Link,
    family_of,
    link_of,
    newton_weights,
)
from gnomon.linear.glm_path import glm_path
from gnomon.linear.glm_sparse import (
    SPARSE_CHUNK,
    SparseInformation,
    SparseSums,
    conjugate_gradients,
)
from gnomon.linear.inference import (
    KEPT_COLUMNS,
    FitSummary,
    MeanPredictionResults,
    NoSummary,
    coefficient_table,
    column_names,
    refuse_fractional,
    refuse_without_noise,
)
from gnomon.linear.newton import accepted, halved, start_at
from gnomon.linear.row_space import BLOCK_CELLS, RowSpace, has_fewer_rows
from gnomon.linear.solve import EPS, rank_of, symmetric_inverse, symmetric_solve

SEPARATED = 1e-7  # mean deviance of means that have gone to their targets
DISPERSED_LEVEL = 0.001  # of the test by which a summary tells of overdispersion
# Sparse columns whose products are still added up.
MOST_WITH_MATRIX = 2000


class GLMSums(NamedTuple):
    """Sums over rows at given coefficients."""

    deviance: float
    score: np.ndarray
    information: np.ndarray


class ClosingSums(NamedTuple):
    """Sums at the end: deviance, that of the mean alone, Pearson's, information, outer product."""

    deviance: float
    null_deviance: float
    pearson: float
    information: np.ndarray
    meat: np.ndarray


@storable
@dataclass
class GLMStatistics:
    """What the summary of a generalised linear model is made of.

    Attributes
    ----------
    weight : float
        Number of rows, each counted as often as its weight says.
    fractional : int
        Rows whose weight is not a whole number.
    deviance, null_deviance, pearson : float
    log_likelihood : float
        NaN where the family has no closed form.
    dispersion : float
        Pearson's statistic over the degrees of freedom, NaN where none are left; or one.
    dispersed : bool
        Whether the dispersion was estimated.
    standard_errors : ndarray
        The intercept first; empty where they do not exist.
    covariance : ndarray or None
        Of the estimates, the intercept first; None where there are too many columns to keep it.
    """

    weight: float
    fractional: int
    deviance: float
    null_deviance: float
    pearson: float
    log_likelihood: float
    dispersion: float
    dispersed: bool
    standard_errors: np.ndarray
    covariance: np.ndarray | None = None
    _stored = {
        "covariance": Optional(Array("f8", ("n_estimates", "n_estimates")) | None),
        "deviance": Number(),
        "dispersed": Flag(),
        "dispersion": Number(finite=False),  # NaN without degrees of freedom
        "fractional": Whole(),
        "log_likelihood": Number(finite=False),
        "null_deviance": Number(finite=False),
        "pearson": Number(),
        "standard_errors": Array("f8", (None,)),
        "weight": Number(),
    }


@method(
    task="regress",
    texts="000 11.3, 11.3.3-11.3.4, 11.4.3",
    use="Counts, rates, shares, positive amounts: targets whose noise grows with their mean.",
    avoid="Classes to be predicted (LogisticRegression), relations that bend (add columns, trees).",
    peers=("statsmodels.api.GLM", "glum.GeneralizedLinearRegressor"),
)
class GLM(Regressor, SumLearner):
    """Generalised linear model: families, links, offset, penalties, and a statistical summary.

    Minimises (1/2W) sum_i w_i D(y_i, m_i) + alpha (r |b|_1 + (1 - r) |b|^2 / 2) with g(m_i) = b0 +
    x_i b, D the family's deviance, r = ``l1_ratio`` and W = sum_i w_i. Use it for counts (Poisson,
    negative binomial), rates (an offset of the logarithm of the exposure), shares (binomial),
    positive amounts (gamma, inverse Gaussian), amounts with many zeros (Tweedie). With ``alpha=0``
    it is maximum likelihood and `summary` gives standard errors. Not for predicting classes, for
    which `LogisticRegression` is made, nor for more than some thousand columns.

    Texts: 000 11.3 ("the log-likelihood is convex" means the negative one), 11.3.3, 11.3.4
    (deviance; there without the saturated model's part), 11.4.3 (L1). The gamma and inverse
    Gaussian families use the log link by default, which keeps means positive. AIC = 2k - 2L and BIC
    = k log n - 2L, where k counts an estimated dispersion too.

    Parameters
    ----------
    family : str, default="gaussian"
        ``"gaussian"``, ``"binomial"``, ``"poisson"``, ``"gamma"``, ``"inverse gaussian"``,
        ``"negative binomial"`` or ``"tweedie"``.
    link : str or None, default=None
        ``"identity"``, ``"log"``, ``"logit"``, ``"probit"``, ``"cloglog"``, ``"inverse"``,
        ``"inverse squared"``, ``"sqrt"`` or, of the family of this name, ``"negative binomial"``
        (the canonical one); by default the usual one of the family.
    alpha : float, default=0.0
        Weight of the penalty.
    l1_ratio : float, default=0.0
        Share of the absolute values in the penalty; with any, coefficients become zero.
    offset : str, int or None, default=None
        Name or place of a column whose coefficient is fixed at one, such as the logarithm of the
        exposure.
    overdispersion : float or "fit", default=1.0
        Of the negative binomial family: the variance is mean + overdispersion mean^2; "fit" takes
        the one of greatest likelihood.
    power : float, default=1.5
        Power of the Tweedie family: the variance grows with this power of the mean, from 1 to 2.
    standard_errors : {"classic", "HC0", "HC1", "HC2", "HC3"}, default="classic"
        Those of the summary: from the family's variance, or robust against a wrong one.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.
    max_iter : int, default=100
        Most passes over the rows.
    tol : float, default=1e-8
        Stops when the objective can fall by no more than this share of the target's deviance (one
        last step is taken then).
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The coefficients b.
    intercept_ : float
        The constant b0; zero without intercept.
    overdispersion_ : float
        The overdispersion of the negative binomial family; only with this family.
    rank_ : int
        Rank of the information about the coefficients that are not fixed.
    separated_ : bool
        Binomial family: whether the means have gone to the targets, so that no maximum exists.
    statistics_ : GLMStatistics or None
        What `summary` is made of; None where penalised, and for very many sparse columns.
    history_ : History
        The objective at each step; it never rises.
    n_iter_ : int
        Number of passes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LogisticRegression : For classes, two or more.

    Examples
    --------
    >>> from gnomon.linear import GLM
    >>> model = GLM("poisson").fit([[0], [1], [2], [3], [4]], [1, 1, 4, 5, 13])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([0.698]), -0.271)
    """

    _parameter_constraints = {
        "family": [StrOptions({*FAMILIES, "negative binomial", "tweedie"})],
        "link": [StrOptions(LINK_NAMES), None],
        "alpha": [at_least(0.0)],
        "l1_ratio": [between(0.0, 1.0)],
        "offset": [str, whole(0), None],
        "overdispersion": [above(0.0), StrOptions({"fit"})],
        "power": [between(1.0, 2.0)],
        "standard_errors": [StrOptions({"classic", "HC0", "HC1", "HC2", "HC3"})],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f", ("n_columns",)),
        "intercept_": Number(),
        "overdispersion_": Optional(Number()),
        "rank_": Whole(),
        "separated_": Flag(),
        "statistics_": Object(("GLMStatistics",)) | None,
    }

    def __init__(
        self,
        family="gaussian",
        link=None,
        alpha=0.0,
        l1_ratio=0.0,
        offset=None,
        overdispersion=1.0,
        power=1.5,
        standard_errors="classic",
        fit_intercept=True,
        max_iter=100,
        tol=1e-8,
        keep_history="objective",
        n_jobs=None,
    ):
        self.family = family
        self.link = link
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.offset = offset
        self.overdispersion = overdispersion
        self.power = power
        self.standard_errors = standard_errors
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Beside an intercept, one level of a category is what the others are compared with."""
        return Takes(sparse=True, redundant=not self.fit_intercept, many_levels=True)

    def _family(self) -> Family:
        chosen = getattr(self, "overdispersion_", self.overdispersion)
        parameters = {"negative binomial": chosen, "tweedie": self.power}
        return family_of(self.family, float(parameters.get(self.family, 0.0)))

    def _link(self) -> Link:
        family = self._family()
        return link_of(self.link or family.link, family.parameter)

    def _fit(self, data: Data) -> None:
        vars(self).pop("overdispersion_", None)
        if self.family == "negative binomial":
            chosen = self.overdispersion
            self.overdispersion_ = self._likeliest(data) if chosen == "fit" else float(chosen)
        super()._fit(data)

    def _likeliest(self, data: Data) -> float:
        """The overdispersion of greatest likelihood, by a search over its logarithm."""

        def loss(logarithm: float) -> float:
            trial = type(self)(**self.get_params() | {"overdispersion": float(np.exp(logarithm))})
            trial.n_features_in_ = self.n_features_in_
            trial.alpha = 0.0
            trial._fit(data)
            return -trial.statistics_.log_likelihood

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = minimize_scalar(loss, bounds=(-12.0, 6.0), method="bounded")
        return float(np.exp(found.x))

    def _start(self, data: Data, rng) -> dict[str, Any]:
        fixed = self._fixed_column(data.n_columns)
        weight, fractional, total, offset, low, high = self._target_sums(data, fixed)
        family, link = self._family(), self._link()
        if link.name in ("logit", "probit", "cloglog") and family.name != "binomial":
            raise DataError(
                f"link={link.name!r} gives means between 0 and 1, those of family='binomial' only; "
                f"family={self.family!r} has link={family.link!r} by default"
            )
        if link.name == "negative binomial" and family.name != link.name:
            raise DataError(
                f"link={link.name!r} is of the family of this name; family={self.family!r} has "
                f"link={family.link!r} by default"
            )
        if family.outside(low, high):
            raise DataError(
                f"family={self.family!r} needs a target that is {family.target}; it holds values "
                f"from {low:g} to {high:g}. Choose another family, or correct the target"
            )
        mean = total / weight
        inside = family.low < mean < family.high
        shift = np.zeros(data.n_columns)
        if self.fit_intercept and not is_sparse(data):
            shift = first_means(data)
        parameters = np.zeros(data.n_columns + self.fit_intercept)
        if fixed is not None:
            parameters[fixed] = 1.0
        if not self.fit_intercept:
            parameters = self._first_guess(data, parameters, mean, fixed)
        if self.fit_intercept:
            if not inside:
                raise DataError(
                    f"every target is {mean:g}: family={self.family!r} has no finite maximum "
                    "there. Use more rows, or family='gaussian'"
                )
            with np.errstate(divide="ignore", invalid="ignore"):
                parameters[-1] = float(link.predictor(np.array(mean))) - offset / weight
            if not np.isfinite(parameters[-1]):
                raise DataError(
                    f"link={link.name!r} cannot give the mean target {mean:.4g}; use another link"
                )
            if fixed is not None:
                parameters[-1] += shift[fixed]
        return {
            "shift": shift,
            "fixed": -1 if fixed is None else fixed,
            "weight": weight,
            "fractional": fractional,
            "mean": mean,
            "unit": self._unit(data, mean, weight),
            "rank": 0,
        } | start_at(parameters)

    def _first_guess(self, data: Data, parameters, mean: float, fixed: int | None) -> np.ndarray:
        """Without intercept: least squares of the link of targets pulled half-way to their mean.

        Zero coefficients have no mean under links such as identity and inverse.
        """
        link, family = self._link(), self._family()
        if is_sparse(data) and self._is_matrix_free(data.n_columns):
            return parameters
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = link.mean(np.zeros(1))
            if np.isfinite(zero).all() and family.valid(zero):
                return parameters
        function = partial(guess_sums, link, mean, parameters)
        products, cross = add_up(function, data.source, self.n_jobs)
        free = np.arange(len(parameters)) != (-1 if fixed is None else fixed)
        guess = parameters.copy()
        guess[free] = symmetric_solve(products[np.ix_(free, free)], cross[free])
        return guess

    def _enough(self, state) -> float:
        """The fall of the objective that ends the fit."""
        return self.tol * state["unit"]

    def _solves_in_row_space(self) -> bool:
        """Whether the penalty is one that leaves coefficients in the span of the rows.

        Not where the coefficients of every step are wanted, or those of another fit are the start.
        """
        squares_alone = self.alpha > 0 and not self.l1_ratio and self.offset is None
        full, warm = self.keep_history == "full", getattr(self, "warm_start", False)
        return squares_alone and not full and not warm

    def _is_matrix_free(self, n_columns: int) -> bool:
        """Whether sparse rows of so many columns are fitted without their products."""
        return n_columns > MOST_WITH_MATRIX and not self.alpha * self.l1_ratio

    def _run(self, data: Data, rng: np.random.Generator):
        if self._solves_in_row_space() and has_fewer_rows(data):
            space = RowSpace.of(data, self.fit_intercept)
            return self._pass_from(self._start(space.data, rng) | {"space": space}, space.data)
        if not (is_sparse(data) and self._is_matrix_free(data.n_columns)):
            return super()._run(data, rng)
        assert isinstance(data.source, ArraySource)
        source = dataclasses.replace(data.source, size=SPARSE_CHUNK)
        state = self._start(Data(source, data.columns), rng)
        information = SparseInformation(
            self._family(), self._link(), source, self.fit_intercept, self.n_jobs
        )
        state |= {"information": information}
        course = self._course("pass", self.max_iter)
        for _ in course:
            state, objective, converged = self._update(state, information.sums(state["trial"]))
            if course.end_step(
                objective,
                converged,
                state=partial(self._replayable, state),
                attributes=partial(self._attributes_in_full, state),
            ):
                break
        return state, course.history

    def _unit(self, data: Data, mean: float, weight: float) -> float:
        """The mean deviance of the mean alone: the unit of the objective for `tol`."""
        (deviance,) = add_up(partial(mean_deviance, self._family(), mean), data.source, self.n_jobs)
        return max(deviance / (2 * weight), 1e-300)

    def _fixed_column(self, n_columns: int) -> int | None:
        if self.offset is None:
            return None
        if isinstance(self.offset, str):
            names = column_names(self)
            if self.offset not in names:
                raise DataError(
                    f"offset={self.offset!r} is no column of numbers here; the columns are "
                    f"{', '.join(map(repr, names[:20]))}"
                )
            return names.index(self.offset)
        if self.offset >= n_columns:
            raise DataError(f"offset={self.offset} is no column; there are {n_columns}")
        return int(self.offset)

    def _target_sums(self, data: Data, fixed: int | None):
        table = np.array([target_sums(fixed, chunk) for chunk in data.source.chunks()])
        sums = table[:, :4].sum(axis=0)
        return *map(float, sums), float(table[:, 4].min()), float(table[:, 5].max())

    def _sums(self, state, chunk: Chunk) -> GLMSums:
        return glm_sums(self._family(), self._link(), self.fit_intercept, state, chunk)

    def _penalties(self, state) -> tuple[np.ndarray, np.ndarray]:
        free = np.ones(len(state["parameters"]))
        free[len(state["shift"]) :] = 0.0
        if state["fixed"] >= 0:
            free[state["fixed"]] = 0.0
        return self.alpha * self.l1_ratio * free, self.alpha * (1 - self.l1_ratio) * free

    def _objective(self, state, parameters, total: GLMSums | SparseSums) -> float:
        l1, l2 = self._penalties(state)
        penalty = l1 @ np.abs(parameters) + l2 @ parameters**2 / 2
        return float(total.deviance / (2 * state["weight"]) + penalty)

    def _update(self, state, total: GLMSums | SparseSums):
        trial = state["trial"]
        objective = self._objective(state, trial, total)
        if (back := halved(state, objective)) is not None:
            if not np.isfinite(state["objective"]):
                raise DataError(
                    f"link={self._link().name!r} has no start for family={self.family!r} here: "
                    "means would be out of their range. Use an intercept or the family's own link"
                )
            return back
        if isinstance(total, SparseSums):
            direction, fall, rank = self._matrix_free_newton(state, trial, total)
            return accepted(
                state, objective, direction, fall, fall <= self._enough(state), rank=rank
            )
        direction, fall, matrix = self._newton(state, trial, total)
        ended = fall <= self._enough(state)
        rank = rank_of(matrix) if ended else state["rank"]
        return accepted(state, objective, direction, fall, ended, rank=rank)

    def _newton(self, state, parameters, total: GLMSums):
        """The step of the quadratic model, the fall that it promises, and the information."""
        matrix, score = total.information / state["weight"], total.score / state["weight"]
        free = self._free(state, matrix)
        l1, l2 = (penalty[free] for penalty in self._penalties(state))
        matrix, score, now = matrix[np.ix_(free, free)], score[free], parameters[free]
        step = np.zeros_like(parameters)
        if l1.any():
            step[free] = on_products(matrix, matrix @ now + score, now, l1, l2) - now
        else:
            step[free] = symmetric_solve(matrix + np.diag(l2), score - l2 * now)
        moved = step[free]
        fall = score @ moved - l2 @ (moved * now)
        fall -= l1 @ (np.abs(now + moved) - np.abs(now))
        return step, max(float(fall), 0.0), matrix

    def _free(self, state, information: np.ndarray) -> np.ndarray:
        """Coefficients that vary and are not fixed, by the information of a row."""
        p = len(state["shift"])
        diagonal = np.diag(information).copy()
        idle = np.zeros(len(diagonal), dtype=bool)
        if self.fit_intercept:
            offsets = (32 * EPS * np.abs(state["shift"])) ** 2
            idle[:p] = diagonal[:p] <= diagonal[p] * offsets
        else:
            idle = diagonal == 0
        refuse_tiny(np.sqrt(diagonal[:p] * ~idle[:p]), column_names(self))
        if state["fixed"] >= 0:
            idle[state["fixed"]] = True
        return np.flatnonzero(~idle)

    def _matrix_free_newton(self, state, parameters, total: SparseSums):
        """The same for very many sparse columns, nearly: ever more nearly as it comes to an end."""
        weight = state["weight"]
        _, l2 = self._penalties(state)
        free = total.diagonal > 0
        if state["fixed"] >= 0:
            free[state["fixed"]] = False
        slope = np.where(free, total.score / weight - l2 * parameters, 0.0)
        diagonal = np.where(free, total.diagonal / weight + l2, 0.0)

        def times(vector: np.ndarray) -> np.ndarray:
            product = state["information"].times(vector) / weight + l2 * vector
            return np.where(free, product, 0.0)

        left = float(slope @ np.divide(slope, diagonal, out=np.zeros_like(slope), where=free))
        tolerance = min(0.1, np.sqrt(left / state["unit"]))
        step = conjugate_gradients(times, diagonal, slope, tolerance)
        return step, max(float(slope @ step), 0.0), int(np.count_nonzero(free))

    def _attributes(self, state) -> dict[str, Any]:
        p = len(state["shift"])
        coef = state["parameters"][:p].copy()
        intercept = 0.0
        if self.fit_intercept:
            intercept = float(state["parameters"][p] - coef @ state["shift"])
        if "space" in state:
            coef = state["space"].coefficients(coef[None])[0]
            intercept -= float(coef @ state["space"].location)
        return {
            "coef_": coef,
            "intercept_": intercept,
            "rank_": int(state["rank"]),
            "separated_": False,
            "statistics_": None,
        }

    def _end(self, state, data: Data) -> None:
        if "information" in state:
            self._warn_of_no_convergence()
            return
        family, converged = self._family(), self.history_.stopped == "converged"
        # a fit that ended because no step lowers the objective has not looked at the rank
        known = converged and bool(state["rank"])
        if known and self.alpha and self.family != "binomial":
            return  # nothing is left that a further pass would tell
        data = state["space"].data if "space" in state else data
        state = state | {"trial": state["parameters"]}
        function = partial(
            closing_sums, family, self._link(), self.fit_intercept, self.standard_errors, state
        )
        if self.standard_errors in ("HC2", "HC3"):
            once = glm_sums_of(family, self._link(), self.fit_intercept, state)
            total = GLMSums(*add_up(once, data.source, self.n_jobs))
            inverse = self._inverse(state, total.information)
            function = partial(function, inverse=inverse)
        closing = ClosingSums(*add_up(function, data.source, self.n_jobs))
        weight = state["weight"]
        if not known:
            matrix = closing.information / weight
            free = self._free(state, matrix)
            self.rank_ = rank_of(matrix[np.ix_(free, free)])
        self.separated_ = bool(
            self.family == "binomial" and closing.deviance < SEPARATED * weight and not self.alpha
        )
        if self.separated_:
            warnings.warn(
                "the columns separate the targets, so that without penalty the coefficients would "
                "grow for ever; those given are where it stopped. Use alpha > 0",
                GnomonWarning,
                stacklevel=2,
            )
        else:
            self._warn_of_no_convergence()
        if not self.alpha:
            self.statistics_ = self._statistics(state, data, closing)

    def _warn_of_no_convergence(self) -> None:
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"GLM has not converged in max_iter={self.max_iter} passes; the objective has come "
                f"down to {self.history_[-1]:.6g}. Increase max_iter, scale the columns alike, or "
                "use alpha > 0",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _inverse(self, state, information) -> np.ndarray:
        """Inverse information, zero for the coefficient that is fixed."""
        free = np.arange(len(information)) != state["fixed"]
        inverse = np.zeros_like(information)
        inverse[np.ix_(free, free)] = symmetric_inverse(information[np.ix_(free, free)])
        return inverse

    def _statistics(self, state, data: Data, closing: ClosingSums) -> GLMStatistics:
        family, weight = self._family(), state["weight"]
        fixed = state["fixed"] >= 0
        unknowns = len(state["parameters"]) - fixed
        free = weight - unknowns
        dispersion = 1.0
        if family.dispersed:
            dispersion = closing.pearson / free if free > 0 else np.nan
        errors, covariance = np.empty(0), None
        if self.rank_ == unknowns and free > 0:
            covariance = self._covariance(state, closing, dispersion, free)
            errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        likelihood = np.nan
        if family.log_density is not None and closing.deviance > 0:
            spread = closing.deviance / weight if family.dispersed else 1.0
            function = partial(
                log_likelihood, family, self._link(), self.fit_intercept, state, spread
            )
            (likelihood,) = add_up(function, data.source, self.n_jobs)
        return GLMStatistics(
            float(weight),
            int(state["fractional"]),
            float(closing.deviance),
            np.nan if fixed or not self.fit_intercept else float(closing.null_deviance),
            float(closing.pearson),
            float(likelihood),
            float(dispersion),
            family.dispersed,
            errors,
            covariance if len(errors) <= KEPT_COLUMNS else None,
        )

    def _covariance(
        self, state, closing: ClosingSums, dispersion: float, free: float
    ) -> np.ndarray:
        """Of the estimates, the intercept first."""
        inverse = self._inverse(state, closing.information)
        covariance = dispersion * inverse
        if self.standard_errors != "classic":
            covariance = inverse @ closing.meat @ inverse
        if self.standard_errors == "HC1":
            covariance *= state["weight"] / free
        back = np.eye(len(inverse))
        if self.fit_intercept:
            back[-1, :-1] = -state["shift"]
            back = np.roll(back, 1, axis=0)
        return back @ covariance @ back.T

    def _estimate(self, rows):
        with np.errstate(over="ignore"):
            means = self._link().mean(decision(rows, self.coef_, self.intercept_))
        return np.clip(means, -np.finfo(np.float64).max, np.finfo(np.float64).max)

    def summary(self, confidence_level: float = 0.95) -> FitSummary:
        """The statistical summary: standard errors, tests, intervals, deviance, AIC, BIC.

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
        if self.statistics_ is None and not self.alpha:
            raise NoSummary(
                f"{len(self.coef_):,} sparse columns were fitted without the matrix of which "
                f"standard errors are made; give at most {MOST_WITH_MATRIX:,} columns"
            )
        if self.statistics_ is None:
            raise NoSummary(
                "the estimates are biased by the penalty, so that the usual standard errors and "
                "tests are not valid for them; use alpha=0, or bootstrap the rows"
            )
        refuse_fractional(self.statistics_.fractional)
        if self.separated_:
            raise NoSummary(
                "the columns separate the targets: no maximum of the likelihood exists, so there "
                "are no standard errors; use alpha > 0"
            )
        if not len(self.statistics_.standard_errors):
            raise NoSummary(
                f"the {len(self.coef_)} columns have rank {self.rank_} with the constant, or there "
                "are no more rows than coefficients; single coefficients then have no standard "
                "error. Leave columns out"
            )
        return glm_summary(self, confidence_level)

    def get_prediction(self, X: Any, confidence_level: float = 0.95) -> MeanPredictionResults:
        """Estimated means with standard errors and intervals, as statsmodels' ``get_prediction``.

        The ends of the intervals are those of the linear predictor, by the normal distribution,
        passed through the link, so that they are possible means. Valid where the summary is.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        results : MeanPredictionResults

        Examples
        --------
        >>> from gnomon.linear import GLM
        >>> model = GLM("poisson").fit([[0], [1], [2], [3]], [1, 2, 4, 9])
        >>> model.get_prediction([[2.0]]).conf_int().round(1).tolist()
        [[2.5, 7.1]]
        """
        self.summary(confidence_level)  # refuses where there are no standard errors
        covariance = self.statistics_.covariance
        if covariance is None:
            raise NoSummary(
                f"intervals of predictions are kept for up to {KEPT_COLUMNS} coefficients; leave "
                "columns out, or bootstrap the rows"
            )
        rows = np.concatenate([dense(block) for block in intake.blocks_of(self, X)]).astype(float)
        predictor = decision(rows, self.coef_, self.intercept_)
        if self.fit_intercept:
            rows = np.column_stack([np.ones(len(rows)), rows])
        error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, covariance, rows), 0.0))
        half, link = scipy.stats.norm.ppf(0.5 + confidence_level / 2) * error, self._link()
        ends = np.column_stack([link.mean(predictor - half), link.mean(predictor + half)])
        return MeanPredictionResults(
            link.mean(predictor),
            np.abs(link.slope(predictor)) * error,
            np.sort(ends, axis=1),
            confidence_level,
        )

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
        measure: str = "deviance",
        random_state=None,
    ) -> PenaltyPath:
        """Coefficients for a whole range of penalties, each from the one before.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
        sample_weight : array-like or str, default=None
        alphas : array-like, default=None
            The penalties; by default `n_alphas` from the least that leaves no column (a
            thousandfold of it with ``l1_ratio=0``), down to `eps` times that, evenly in the
            logarithm.
        n_alphas : int, default=100
        eps : float, default=1e-3
        cv : int or None, default=None
            Folds of a cross-validation along the path; None for none. Equal rows are in one fold.
        measure : {"deviance", "misclassification"}, default="deviance"
            What is validated: the mean deviance, or (binomial family) the share of rows on the
            wrong side of one half.
        random_state : int, RandomState instance or None, default=None
            Deals the folds.

        Returns
        -------
        path : PenaltyPath

        Examples
        --------
        >>> from gnomon.linear import GLM
        >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 0], [4, 2]], [1, 1, 4, 5, 13]
        >>> GLM("poisson", l1_ratio=1.0).path(X, y, n_alphas=3).n_nonzero.tolist()
        [0, 2, 2]
        """
        self._validate_params()
        model = type(self)(**self.get_params(deep=False))
        data = intake.take_in(model, X, y, sample_weight)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        return glm_path(model, data, alphas, n_alphas, eps, cv, measure, rng)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads, given = resolve_jobs(self.n_jobs), 0
        if n_rows < n_columns and self._solves_in_row_space():
            given, n_columns = n_rows * n_columns + BLOCK_CELLS, n_rows
        block = min(rows_per_chunk(n_columns), n_rows) * (2 * n_columns + 12)
        return 8 * (given + 2 * n_rows + threads * block + (2 * threads + 6) * (n_columns + 1) ** 2)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        if not self._is_matrix_free(n_columns):
            return None
        threads = resolve_jobs(self.n_jobs)
        return 8 * (8 * n_rows + (6 * threads + 20) * (n_columns + 1) + 3 * n_entries)

    def _memory_remedy(self) -> str:
        return (
            "Use fewer columns: the sums grow with their square, save for sparse rows without L1 "
            f"penalty and more than {MOST_WITH_MATRIX:,} columns."
        )


def target_sums(fixed: int | None, chunk: Chunk) -> tuple:
    """Weight, fractional weights, weighted target and offset, and the target's extremes."""
    offset = 0.0
    if fixed is not None:
        offset = float(chunk.weights @ np.asarray(chunk.rows[:, [fixed]].sum(axis=1)).ravel())
    y = chunk.y
    assert y is not None
    fractional = fractional_weights(chunk.weights) if chunk.weighted else 0
    return chunk.weights.sum(), fractional, chunk.weights @ y, offset, y.min(), y.max()


def mean_deviance(family: Family, mean: float, chunk: Chunk) -> tuple:
    """Deviance of one mean for all rows."""
    assert chunk.y is not None
    if not family.low < mean < family.high:
        return (0.0,)
    return (chunk.weights @ family.deviance(chunk.y, np.full(len(chunk.y), mean)),)


def means_of(link: Link, intercept: bool, state, chunk: Chunk):
    """Linear predictors, means and design of a chunk's rows."""
    design = with_constant(chunk, state["shift"], intercept)
    parameters = state["trial"]
    predictor = design @ parameters
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return predictor, link.mean(predictor), design


def glm_sums(family: Family, link: Link, intercept: bool, state, chunk: Chunk) -> GLMSums:
    """Deviance, score and information at the trial; infinite where means are impossible."""
    assert chunk.y is not None
    predictor, mean, design = means_of(link, intercept, state, chunk)
    q = design.shape[1]
    impossible = GLMSums(np.inf, np.zeros(q), np.zeros((q, q)))
    if not family.valid(mean):
        return impossible
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        deviance = float(chunk.weights @ family.deviance(chunk.y, mean))
    score, information = newton_weights(family, link, predictor, mean, chunk.y, chunk.weights)
    if not (np.isfinite(deviance) and np.isfinite(score).all() and np.isfinite(information).all()):
        return impossible
    scaled = Design(chunk.rows, state["shift"], intercept).times(np.sqrt(information))
    return GLMSums(deviance, inner(design, score), inner(scaled, scaled))


def glm_sums_of(family: Family, link: Link, intercept: bool, state):
    """`glm_sums` as a function of a chunk."""
    return partial(glm_sums, family, link, intercept, state)


def closing_sums(
    family: Family, link: Link, intercept: bool, errors: str, state, chunk: Chunk, inverse=None
) -> ClosingSums:
    """Sums at the end of a fit; the outer product of scores where robust errors are wanted."""
    assert chunk.y is not None
    predictor, mean, design = means_of(link, intercept, state, chunk)
    ones = np.ones(len(mean))
    score, information = newton_weights(family, link, predictor, mean, chunk.y, ones)
    variance = family.variance(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = np.where(variance > 0, (chunk.y - mean) ** 2 / variance, 0.0)
        deviance = family.deviance(chunk.y, mean)
    scaled = Design(chunk.rows, state["shift"], intercept).times(
        np.sqrt(chunk.weights * information)
    )
    meat = np.zeros((design.shape[1],) * 2)
    if errors != "classic":
        if inverse is not None:
            leverage = information * np.einsum("ij,jk,ik->i", design, inverse, design)
            rest = np.maximum(1 - leverage, EPS)
            score = score / (np.sqrt(rest) if errors == "HC2" else rest)
        outer = design * (np.sqrt(chunk.weights) * score)[:, None]
        meat = inner(outer, outer)
    (null,) = mean_deviance(family, state["mean"], chunk)
    return ClosingSums(
        float(chunk.weights @ deviance),
        float(null),
        float(chunk.weights @ pearson),
        inner(scaled, scaled),
        meat,
    )


def log_likelihood(
    family: Family, link: Link, intercept: bool, state, dispersion: float, chunk: Chunk
) -> tuple:
    """Log-likelihood of a chunk's rows."""
    _, mean, _ = means_of(link, intercept, state, chunk)
    assert family.log_density is not None
    assert chunk.y is not None
    return (float(chunk.weights @ family.log_density(chunk.y, mean, dispersion)),)


def guess_sums(link: Link, mean: float, parameters: np.ndarray, chunk: Chunk) -> tuple:
    """Products of the columns, and with the link of targets half-way to the mean."""
    assert chunk.y is not None
    rows = chunk.rows.toarray() if hasattr(chunk.rows, "toarray") else chunk.rows
    target = link.predictor((chunk.y + mean) / 2) - rows @ parameters
    scaled = rows * chunk.weights[:, None]
    return inner(scaled, rows), inner(scaled, target)


def glm_summary(model: GLM, confidence_level: float) -> FitSummary:
    """The summary from the statistics of a fitted model."""
    statistics = model.statistics_
    assert statistics is not None
    names, estimate = column_names(model), model.coef_
    if model.fit_intercept:
        names, estimate = ["(intercept)", *names], np.concatenate([[model.intercept_], estimate])
    if statistics.dispersed:
        level = model.intercept_**2 if model.family == "gaussian" else 1.0
        refuse_without_noise(
            statistics.pearson, statistics.null_deviance, statistics.weight * level
        )
    errors = statistics.standard_errors
    if model.offset is not None:
        place = names.index(model.offset) if isinstance(model.offset, str) else model.offset
        place += model.fit_intercept and not isinstance(model.offset, str)
        names = [*names[:place], *names[place + 1 :]]
        estimate, errors = np.delete(estimate, place), np.delete(errors, place)
    unknowns = len(estimate)
    free = statistics.weight - unknowns
    facts = {
        "n": statistics.weight,
        "degrees of freedom": free,
        "deviance": statistics.deviance,
        "dispersion": statistics.dispersion,
        "Pearson": statistics.pearson,
    }
    slopes = unknowns - model.fit_intercept
    if np.isfinite(statistics.null_deviance) and slopes:
        ratio = (statistics.null_deviance - statistics.deviance) / statistics.dispersion
        facts["null deviance"] = statistics.null_deviance
        if statistics.dispersed:
            facts |= {
                "F": ratio / slopes,
                "F p": float(scipy.stats.f.sf(ratio / slopes, slopes, free)),
            }
        else:
            facts |= {
                "likelihood ratio": ratio,
                "likelihood ratio p": float(scipy.stats.chi2.sf(ratio, slopes)),
            }
    if np.isfinite(statistics.log_likelihood):
        k = unknowns + statistics.dispersed
        facts |= {
            "log-likelihood": statistics.log_likelihood,
            "AIC": 2 * k - 2 * statistics.log_likelihood,
            "BIC": k * np.log(statistics.weight) - 2 * statistics.log_likelihood,
        }
    link = model._link().name
    notes = []
    if model.standard_errors != "classic":
        notes.append(f"Standard errors {model.standard_errors}, robust against a wrong variance.")
    elif (
        not statistics.dispersed and scipy.stats.chi2.sf(statistics.pearson, free) < DISPERSED_LEVEL
    ):
        notes.append(
            "The targets are overdispersed: Pearson's statistic is "
            f"{statistics.pearson / free:.3g} times its degrees of freedom, and these standard "
            "errors are too small. Use "
            "standard_errors='HC1', or family='negative binomial' with overdispersion='fit'."
        )
    return coefficient_table(
        names,
        estimate,
        errors,
        scipy.stats.t(free) if statistics.dispersed else scipy.stats.norm,
        "t" if statistics.dispersed else "z",
        confidence_level,
        title=f"Generalised linear model: {model.family} family, {link} link",
        facts={key: float(value) for key, value in facts.items()},
        notes=notes,
    )
