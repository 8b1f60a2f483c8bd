"""Penalised models: any loss plus any penalty, and both parts of what was made least.

Minimises the augmented error  sum_i w_i L(y_i, b0 + x_i b) + alpha P(b)  with a free constant b0.
The loss L says what an error costs, the penalty P what coefficients cost, and the solver follows
from the two: a squared loss is one quadratic problem (`gnomon.linear.penalties`); Huber's, the
logistic and Poisson's are a course of such problems, each the loss's own near the last place;
absolute and quantile losses are linear programmes, alone or with an L1 penalty. Pairs beyond this
are refused.

Texts: 001 7.2.1-7.2.4 (its second scale, E_in + (lambda / N) P, so that alpha = lambda) · 002 "Lp
regression" · 003 4.4.2.3.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import special
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data, Regressor, Takes
from gnomon.contract.docstrings import shared_attributes
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    SEED,
    Interval,
    StrOptions,
    above,
    at_least,
    between,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import LARGEST, Centered, centered_rows, decision
from gnomon.linear.inference import NoSummary, column_names
from gnomon.linear.penalties import (
    Group,
    NetPenalty,
    Penalty,
    Tikhonov,
    lp_penalty,
    order_factors,
)
from gnomon.linear.quantile import quantile_plane
from gnomon.linear.robust import ROBUST_LOSSES
from gnomon.optimize import losses

LEAST_CURVATURE = 1e-10  # keeps Newton's quadratic finite where a loss is flat
ANY_POWER = [Interval(Real, 0, None, closed="both")]
# Texts of attributes that classes here share, for their docstrings.
PENALIZED_ATTRIBUTES = """\
coef_ : ndarray of shape (n_columns,)
    The coefficients b.
intercept_ : float
    The constant b0; zero without intercept.
loss_ : float
    The first part of the minimum, sum_i w_i (y_i - b0 - x_i b)^2.
augmented_error_ : float
    The minimum: their sum.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


class Working(NamedTuple):
    """A quadratic that stands for the loss near a place: curvature (target - f)^2 / 2 per row."""

    curvature: np.ndarray
    target: np.ndarray


@dataclass(frozen=True)
class Loss:
    """A loss of targets y and linear predictors f.

    Attributes
    ----------
    name : str
    low, high : float
        Between which targets must lie.
    value : callable
        Of (y, f), per row.
    working : callable or None
        Of (y, f): the quadratic for the next step; None where there is none.
    mean, predictor : callable
        From f to the estimated target, and back.
    descends : bool
        Whether every step lowers the objective by itself.
    """

    name: str
    low: float
    high: float
    value: Callable[[np.ndarray, np.ndarray], np.ndarray]
    working: Callable[[np.ndarray, np.ndarray], Working] | None
    mean: Callable[[np.ndarray], np.ndarray] = lambda f: f
    predictor: Callable[[float], float] = lambda y: y
    descends: bool = True


def squared_working(y, f) -> Working:
    return Working(np.full(len(y), 2.0), y)


def huber_value(threshold, y, f):
    return 2 * ROBUST_LOSSES["huber"].rho(y - f, threshold)


def huber_working(threshold, y, f) -> Working:
    return Working(2 * ROBUST_LOSSES["huber"].weight(y - f, threshold), y)


def newton_working(loss: losses.ScoreLoss, y, f) -> Working:
    """The quadratic of Newton's step."""
    curvature = np.maximum(loss.curvature(y, f), LEAST_CURVATURE)  # type: ignore[misc]
    return Working(curvature, f - loss.gradient(y, f) / curvature)


def poisson_value(y, f):
    return losses.POISSON.value(y, f) - y + special.xlogy(y, y)


def quantile_value(quantile, y, f):
    residual = y - f
    return np.maximum(quantile * residual, (quantile - 1) * residual)


def exponential(f: np.ndarray) -> np.ndarray:
    """exp(f), the largest number where that would overflow."""
    return np.exp(np.minimum(f, 709.0))


SQUARED = Loss("squared", -np.inf, np.inf, lambda y, f: (y - f) ** 2, squared_working)
LOGISTIC = Loss(
    "logistic",
    0.0,
    1.0,
    losses.LOG_LOSS.value,
    functools.partial(newton_working, losses.LOG_LOSS),
    special.expit,
    lambda y: float(special.logit(y)),
    False,
)
POISSON = Loss(
    "poisson",
    0.0,
    np.inf,
    poisson_value,
    functools.partial(newton_working, losses.POISSON),
    exponential,
    lambda y: float(np.log(y)),
    False,
)
LOSSES = ("squared", "huber", "logistic", "poisson", "absolute", "quantile")
PENALTIES = ("l2", "order", "matrix", "l1", "elastic net", "group", "lp")


class Products(NamedTuple):
    """Products of the columns about their mean under the curvatures, and the two means."""

    gram: np.ndarray
    cross: np.ndarray
    location: np.ndarray
    target_mean: float


def products(rows, working: Working, weights, intercept: bool) -> Products:
    """The quadratic of a step by products of the columns, dense or sparse."""
    curvature = working.curvature * weights
    location, target_mean = np.zeros(rows.shape[1]), 0.0
    if intercept:
        share = curvature / curvature.sum()
        location, target_mean = rows.T @ share, float(share @ working.target)
    if sp.issparse(rows):
        total = curvature.sum()
        gram = (rows.T @ (sp.diags_array(curvature) @ rows)).toarray()
        cross = rows.T @ (curvature * (working.target - target_mean))
        return Products(gram - total * np.outer(location, location), cross, location, target_mean)
    root = np.sqrt(curvature)[:, None]
    scaled = (rows - location) * root
    target = (working.target - target_mean) * root[:, 0]
    return Products(scaled.T @ scaled, scaled.T @ target, location, target_mean)


class AugmentedModel(Regressor):
    """Loss plus penalty: what all these models share."""

    natively = Takes(sparse=True)
    _largest: ClassVar[float] = LARGEST
    _largest_target: ClassVar[float] = LARGEST
    _stored = {
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Number(),
        "loss_": Number(),
        "penalty_": Number(),
    }

    def _loss(self) -> Loss:
        return SQUARED

    def _penalty(self, n_columns: int) -> Penalty:
        raise NotImplementedError

    def _fit(self, data: Data) -> None:
        with one_blas_thread():
            self._minimize(data, self._loss(), self._penalty(data.n_columns))

    def _minimize(self, data: Data, loss: Loss, penalty: Penalty) -> None:
        """One quadratic problem."""
        centered = centered_rows(data, self.fit_intercept, column_names(self))
        working = squared_working(data.y, data.y)
        sums = products(centered.rows, working, data.weight_array, self.fit_intercept)
        zero = np.zeros(data.n_columns)
        coef = penalty.minimum(sums.gram, sums.cross, float(self.alpha), zero)
        constant = sums.target_mean - sums.location @ coef
        self._keep(self._found(data, centered, coef, constant, loss, penalty))

    def _found(self, data, centered, coef, constant, loss, penalty) -> dict[str, Any]:
        predictor = centered.rows @ coef + constant
        return {
            "coef_": coef,
            "intercept_": float(constant - centered.location @ coef) if self.fit_intercept else 0.0,
            "loss_": float(data.weight_array @ loss.value(data.y, predictor)),
            "penalty_": float(self.alpha) * penalty.value(coef),
        }

    @property
    def augmented_error_(self) -> float:
        """The minimum: the loss plus the penalty."""
        return self.loss_ + self.penalty_

    def _estimate(self, rows):
        return self._loss().mean(decision(rows, self.coef_, self.intercept_))

    def summary(self, confidence_level: float = 0.95):
        """Refused: the penalty biases the estimates.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        summary : None
            Always raises `NoSummary`.
        """
        raise NoSummary(
            "estimates are biased by the penalty, so that the usual standard errors and tests are "
            "not valid for them; use coefficient_bootstrap, or LinearRegression or GLM without one"
        )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows * n_columns + 8 * n_rows + 4 * n_columns**2)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        if self._loss().working is None:
            return None
        return 8 * (8 * n_entries + 16 * n_rows + 14 * n_columns**2)

    def _memory_remedy(self) -> str:
        return "Use fewer rows or columns; Ridge, Lasso and GLM stream tables of any length."


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 002 lp regression · 003 4.4.2",
    use="A loss and a penalty that no estimator of its own pairs: Huber with groups, say.",
    avoid="Where one has: Ridge, Lasso, ElasticNet, GLM are faster, stream, and choose alpha.",
    peers=("skglm.GeneralizedLinearEstimator", "sklearn.linear_model.SGDRegressor"),
)
@shared_attributes(PENALIZED_ATTRIBUTES)
class PenalizedModel(AugmentedModel):
    """Any loss plus any penalty: the augmented error and its two parts.

    Minimises sum_i w_i L(y_i, b0 + x_i b) + alpha P(b). Use it for pairs that have no estimator of
    their own, and to see the two parts of the objective (``loss_``, ``penalty_``). Not for plain
    pairs on long tables: `Ridge`, `Lasso`, `ElasticNet` and `GLM` stream. Pairs that cannot be
    solved exactly are refused with the reason and what to use instead. Penalties depend on the
    units of the columns: scale them alike first.

    Losses: ``"squared"`` (y - f)^2; ``"huber"``, the same up to a residual of ``threshold``, linear
    beyond; ``"logistic"`` log(1 + exp(f)) - y f for targets between 0 and 1; ``"poisson"`` exp(f) -
    y f and what makes it zero at best, for counts; ``"absolute"`` |y - f|; ``"quantile"``.
    Penalties: ``"l2"`` |b|^2; ``"order"`` sum_j j b_j^2 for columns that are powers; ``"matrix"``
    b'G b; ``"l1"`` |b|_1; ``"elastic net"`` r |b|_1 + (1 - r) |b|^2 / 2; ``"group"`` sum_g
    sqrt(size) |b_g|; ``"lp"`` sum_j |b_j|^p.

    Texts: 001 7.2.1-7.2.4 (two scales of lambda are printed, E_in + lambda P and E_in + (lambda /
    N) P; this is the second, which alone gives the text's hat matrix; its weights include the
    constant, which is free here: append a column of ones and set ``fit_intercept=False``) · 002 "Lp
    regression" · 003 4.4.2.

    Parameters
    ----------
    loss : str, default="squared"
        One of the losses above.
    penalty : str, default="l2"
        One of the penalties above.
    alpha : float, default=1.0
        Weight of the penalty; 0 for none.
    matrix : array-like or None, default=None
        The G of ``penalty="matrix"``, or its diagonal.
    l1_ratio : float, default=0.5
        The share r of ``penalty="elastic net"``.
    groups : array-like or None, default=None
        A label for each column, for ``penalty="group"``; by default each is a group.
    p : float, default=1.5
        The power of ``penalty="lp"``; 0 counts coefficients, infinity takes the largest.
    quantile : float, default=0.5
        The share of targets below the plane, for ``loss="quantile"``.
    threshold : float, default=1.0
        Where Huber's loss becomes linear, in units of the target.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.
    n_init : int, default=10
        Random starts beside five fixed ones, where ``penalty="lp"`` has p below one.
    max_iter : int, default=500
        Most steps.
    tol : float, default=1e-10
        Stops when predictors change by no more than this share of the largest.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    coef_, intercept_
    loss_ : float
        The first part of the minimum, sum_i w_i L_i.
    penalty_ : float
        The second part, alpha P(b).
    augmented_error_
    history_ : History
        The augmented error after each step; it never rises.
    n_iter_ : int
        Number of steps.
    n_features_in_

    See Also
    --------
    TikhonovRegression : Squared loss with any quadratic penalty.
    BudgetRegression : A bound on the coefficients in place of a penalty.

    Examples
    --------
    >>> from gnomon.linear import PenalizedModel
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1], [4, 0], [5, 9]], [0, 1, 2, 3, 4, 50]
    >>> model = PenalizedModel("huber", "l1", alpha=2.0).fit(X, y)
    >>> round(model.loss_, 3), round(model.penalty_, 3)
    (16.914, 12.049)
    """

    _parameter_constraints = {
        "loss": [StrOptions(set(LOSSES))],
        "penalty": [StrOptions(set(PENALTIES))],
        "alpha": [at_least(0.0)],
        "matrix": ["array-like", None],
        "l1_ratio": [between(0.0, 1.0)],
        "groups": ["array-like", None],
        "p": ANY_POWER,
        "quantile": [between(0.0, 1.0, "neither")],
        "threshold": [above(0.0)],
        "fit_intercept": FLAG,
        "n_init": [whole(0)],
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "random_state": SEED,
    }

    def __init__(
        self,
        loss="squared",
        penalty="l2",
        alpha=1.0,
        matrix=None,
        l1_ratio=0.5,
        groups=None,
        p=1.5,
        quantile=0.5,
        threshold=1.0,
        fit_intercept=True,
        n_init=10,
        max_iter=500,
        tol=1e-10,
        keep_history="objective",
        random_state=None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.matrix = matrix
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.p = p
        self.quantile = quantile
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state

    def _loss(self) -> Loss:
        if self.loss == "absolute":
            return Loss("absolute", -np.inf, np.inf, lambda y, f: np.abs(y - f), None)
        if self.loss == "quantile":
            value = partial(quantile_value, float(self.quantile))
            return Loss("quantile", -np.inf, np.inf, value, None)
        if self.loss == "huber":
            value = partial(huber_value, float(self.threshold))
            working = partial(huber_working, float(self.threshold))
            return Loss("huber", -np.inf, np.inf, value, working)
        return {"squared": SQUARED, "logistic": LOGISTIC, "poisson": POISSON}[self.loss]

    def _penalty(self, n_columns: int) -> Penalty:
        if self.penalty == "l2":
            return Tikhonov.uniform(n_columns)
        if self.penalty == "order":
            return Tikhonov.of(order_factors(n_columns, self.fit_intercept), n_columns)
        if self.penalty == "matrix":
            if self.matrix is None:
                raise DataError("penalty='matrix' needs the parameter matrix, such as numpy.eye(p)")
            return Tikhonov.of(self.matrix, n_columns)
        if self.penalty == "l1":
            return NetPenalty()
        if self.penalty == "elastic net":
            return NetPenalty(float(self.l1_ratio))
        if self.penalty == "group":
            labels = np.arange(n_columns) if self.groups is None else self.groups
            return Group.of(labels, n_columns)
        return power_penalty(self, n_columns)

    def _refuse_what_cannot_be_solved(self, loss: Loss, penalty: Penalty, y) -> None:
        if loss.working is None and self.alpha and not is_absolute(penalty):
            raise DataError(
                f"loss={self.loss!r} with penalty={self.penalty!r} is neither a linear programme "
                "nor smooth, so that no solver here is exact for it; use penalty='l1', or "
                "loss='huber' with a small threshold"
            )
        if loss.working is not None and self.loss != "squared" and not penalty.convex:
            raise DataError(
                f"loss={self.loss!r} with penalty='lp' and p={self.p:g} has many local minima, "
                "which the steps of this loss cannot compare; use loss='squared', or p of one or "
                "more"
            )
        low, high = float(y.min()), float(y.max())
        if low < loss.low or high > loss.high:
            raise DataError(
                f"loss={self.loss!r} needs targets between {loss.low:g} and {loss.high:g}; they go "
                f"from {low:g} to {high:g}. Choose another loss, or correct the target"
            )
        if self.fit_intercept and low == high and low in (loss.low, loss.high):
            raise DataError(
                f"every target is {low:g}: loss={self.loss!r} has no finite minimum there. Use "
                "more rows, or loss='squared'"
            )

    def _minimize(self, data: Data, loss: Loss, penalty: Penalty) -> None:
        self._refuse_what_cannot_be_solved(loss, penalty, data.y)
        centered = centered_rows(data, self.fit_intercept, column_names(self))
        course = self._course("step", self.max_iter)
        place = self._first_place(data, centered, loss)
        error = np.inf
        for _ in course:
            before = place
            place, error = self._next_place(data, centered, loss, penalty, before, error)
            ended = loss is SQUARED or loss.working is None or self._still(centered, before, place)
            found = partial(self._found, data, centered, place[0], place[1], loss, penalty)
            if course.end_step(
                error,
                ended,
                state=partial(dict, coef=place[0].copy(), constant=np.array(place[1])),
                attributes=partial(self._so_far, found),
            ):
                break
        self._keep(found())
        self.history_, self.n_iter_ = course.history, len(course.history)
        if course.history.stopped == "max_iter":
            warnings.warn(
                f"PenalisedModel has not converged in max_iter={self.max_iter} steps; augmented "
                f"error {error:.6g}. Raise max_iter or tol, or scale the columns alike",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _so_far(self, found: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return self._public() | found()

    def _first_place(self, data: Data, centered: Centered, loss: Loss) -> tuple[np.ndarray, float]:
        constant = 0.0
        if self.fit_intercept:
            mean = float(data.weight_array @ data.y / data.weight_array.sum())
            constant = loss.predictor(mean)
        return np.zeros(data.n_columns), constant

    def _still(self, centered: Centered, before, place) -> bool:
        predictor = centered.rows @ place[0] + place[1]
        moved = np.abs(predictor - centered.rows @ before[0] - before[1]).max()
        return bool(moved <= self.tol * max(1.0, np.abs(predictor).max()))

    def _next_place(self, data, centered, loss, penalty, place, error):
        weights, alpha = data.weight_array, float(self.alpha)

        def total(coef, constant):
            value = weights @ loss.value(data.y, centered.rows @ coef + constant)
            return float(value) + alpha * penalty.value(coef)

        if loss.working is None:
            absolute = self.loss == "absolute"
            costs = np.full(data.n_columns, alpha if isinstance(penalty, NetPenalty) else 0.0)
            rows = centered.rows.toarray() if sp.issparse(centered.rows) else centered.rows
            scale = np.sqrt(np.einsum("ij,ij,i->j", rows, rows, weights) / weights.sum())
            coef, constant, _ = quantile_plane(
                rows,
                np.zeros(data.n_columns),
                scale,
                data.y,
                2 * weights if absolute else weights,
                0.5 if absolute else float(self.quantile),
                self.fit_intercept,
                costs,
            )
            return (coef, constant), total(coef, constant)
        working = loss.working(data.y, centered.rows @ place[0] + place[1])
        sums = products(centered.rows, working, weights, self.fit_intercept)
        coef = penalty.minimum(sums.gram, sums.cross, alpha, place[0])
        constant = sums.target_mean - float(sums.location @ coef)
        if loss.descends:
            return (coef, constant), total(coef, constant)
        least = total(*place) if np.isinf(error) else error
        for _ in range(60):
            reached = total(coef, constant)
            if reached <= least:
                return (coef, constant), reached
            coef, constant = (coef + place[0]) / 2, (constant + place[1]) / 2
        return place, least


def is_absolute(penalty: Penalty) -> bool:
    """Whether the penalty is |b|_1 alone."""
    return isinstance(penalty, NetPenalty) and penalty.l1_ratio == 1


def power_penalty(model, n_columns: int) -> Penalty:
    """sum_j |b_j|^p of a model's p, with the starts that p below one needs."""
    p = float(model.p)
    if p == 2:
        return Tikhonov.uniform(n_columns)
    starts: tuple[np.ndarray, ...] = ()
    if 0 < p < 1:
        rng = model._rng()
        starts = tuple(rng.normal(size=n_columns) for _ in range(model.n_init))
    return lp_penalty(p, starts)


@method(
    task="regress",
    texts="001 7.2.3-7.2.4",
    use="A number to predict from powers of a column, or with knowledge of which columns belong.",
    avoid="When the penalty is the same for all columns: Ridge is faster and streams.",
    peers=("sklearn.linear_model.Ridge",),
)
@shared_attributes(PENALIZED_ATTRIBUTES)
class TikhonovRegression(AugmentedModel):
    """Least squares with any quadratic penalty: by order, by column or by a matrix.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2 + alpha b'G b, so that b = (X'X + alpha G)^-1 X'y. Use
    it where coefficients should not be shrunk alike: high powers more than low ones (``"order"``, G
    = diag(1, 2, ...)), neighbours to be alike (G = D'D with differences D), some not at all (zeros
    in G). Not to leave out columns: none becomes zero.

    Texts: 001 7.2.3 and 7.2.4 (uniform and low-order weighted; there the sum starts at the
    constant, whose order 0 leaves it free, as it is here; the uniform one penalises it, which a
    column of ones and ``fit_intercept=False`` repeat).

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty; 0 gives least squares.
    penalty : {"uniform", "order"} or array-like, default="uniform"
        All coefficients alike; each by its order, where the columns are x, x^2, x^3 ... (without
        intercept 1, x, x^2 ...); or the matrix G or its diagonal.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.

    Attributes
    ----------
    coef_, intercept_, loss_
    penalty_ : float
        The second part, alpha b'G b.
    augmented_error_, n_features_in_

    See Also
    --------
    Ridge : The uniform penalty, for tables of any length.

    Examples
    --------
    >>> from gnomon.linear import TikhonovRegression
    >>> X, y = [[0, 0], [1, 1], [2, 4], [3, 9]], [1, 2, 5, 10]
    >>> TikhonovRegression(alpha=0.1, penalty="order").fit(X, y).coef_.round(3)
    array([0.116, 0.961])
    """

    _parameter_constraints = {
        "alpha": [at_least(0.0)],
        "penalty": [StrOptions({"uniform", "order"}), "array-like"],
        "fit_intercept": FLAG,
    }

    def __init__(self, alpha=1.0, penalty="uniform", fit_intercept=True):
        self.alpha = alpha
        self.penalty = penalty
        self.fit_intercept = fit_intercept

    def _penalty(self, n_columns: int) -> Penalty:
        if isinstance(self.penalty, str):
            if self.penalty == "uniform":
                return Tikhonov.uniform(n_columns)
            return Tikhonov.of(order_factors(n_columns, self.fit_intercept), n_columns)
        return Tikhonov.of(self.penalty, n_columns)


@method(
    task="regress",
    texts="002 lp regression · 003 4.4.2.3",
    use="A number to predict from few columns (p below one), or with the largest held down.",
    avoid="p = 1 or 2: Lasso and Ridge are faster. Below one there are many minima.",
    peers=("skglm.estimators.GeneralizedLinearEstimator (L0.5, L2/3)",),
)
@shared_attributes(PENALIZED_ATTRIBUTES)
class LpRegression(AugmentedModel):
    """Least squares with the penalty sum |b_j|^p, for any p from zero to infinity.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2 + alpha sum_j |b_j|^p. Use p below one for fewer
    columns than a lasso of the same fit, with less shrinkage of those that stay; p = 0 counts them
    (best subset, all of which are tried); p above two looks at the largest; p infinite is alpha max
    |b_j|. From p = 1 on there is one minimum. Below there are many: the lowest of several starts is
    kept, one of them by reweighted least squares; this is not proved to be the lowest of all, so do
    not use it where that matters. It depends on the units of the columns: scale them alike first.

    Texts: 002 "Lp regression" · 003 4.4.2.3 (a rule for stochastic gradients, see `lp_decay`; p =
    1.5 is called the worst of both worlds there).

    Parameters
    ----------
    p : float, default=1.5
        The power; 0 and infinity are allowed.
    alpha : float, default=1.0
        Weight of the penalty; 0 gives least squares.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.
    n_init : int, default=10
        Random starts beside five fixed ones, where p is below one.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.

    Attributes
    ----------
    coef_, intercept_, loss_
    penalty_ : float
        The second part, alpha sum_j |b_j|^p.
    augmented_error_, n_features_in_

    See Also
    --------
    BudgetRegression : The same with a bound on the sum in place of a penalty.

    Examples
    --------
    >>> from gnomon.linear import LpRegression
    >>> X, y = [[1, 0], [0, 1], [-1, 0], [0, -1]], [4, 1, -4, -1]
    >>> LpRegression(p=0.5, alpha=4.0, random_state=0).fit(X, y).coef_.round(3)
    array([3.742, 0.   ])
    """

    _parameter_constraints = {
        "p": ANY_POWER,
        "alpha": [at_least(0.0)],
        "fit_intercept": FLAG,
        "n_init": [whole(0)],
        "random_state": SEED,
    }

    def __init__(self, p=1.5, alpha=1.0, fit_intercept=True, n_init=10, random_state=None):
        self.p = p
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.n_init = n_init
        self.random_state = random_state

    def _penalty(self, n_columns: int) -> Penalty:
        return power_penalty(self, n_columns)


@method(
    task="regress",
    texts="000 11.4.1",
    use="A number to predict, when columns belong together and should stay or go together.",
    avoid="Single columns to be chosen (Lasso), or standard errors wanted.",
    peers=("skglm.GroupLasso", "celer.GroupLasso"),
)
@shared_attributes(PENALIZED_ATTRIBUTES)
class GroupLasso(AugmentedModel):
    """Least squares whose penalty sets whole groups of coefficients to zero.

    Minimises sum_i w_i (y_i - b0 - x_i b)^2 + alpha sum_g sqrt(size of g) |b_g|_2. Use it where
    columns come in groups: the levels of one category, the powers of one measurement. With groups
    of one it is the lasso. It depends on the units of the columns: scale them alike first. Not for
    choosing columns within a group.

    Texts: 000 11.4.1 has the lasso; groups are Yuan and Lin's, "Model selection and estimation in
    regression with grouped variables", 2006.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty.
    groups : array-like or None, default=None
        A label for each column that the model sees; equal labels make a group. By default each is
        its own.
    fit_intercept : bool, default=True
        Whether there is a constant b0, which is not penalised.

    Attributes
    ----------
    coef_, intercept_, loss_
    penalty_ : float
        The second part, that of the groups.
    augmented_error_, n_features_in_

    See Also
    --------
    Lasso : Single columns.

    Examples
    --------
    >>> from gnomon.linear import GroupLasso
    >>> X = [[1, 1, 0], [-1, 1, 1], [1, -1, 2], [-1, -1, 0], [1, 1, 1]]
    >>> GroupLasso(alpha=2.0, groups=["a", "a", "b"]).fit(X, [3, 1, 1, -1, 3]).coef_.round(3)
    array([0.821, 0.821, 0.   ])
    """

    _parameter_constraints = {
        "alpha": [at_least(0.0)],
        "groups": ["array-like", None],
        "fit_intercept": FLAG,
    }

    def __init__(self, alpha=1.0, groups=None, fit_intercept=True):
        self.alpha = alpha
        self.groups = groups
        self.fit_intercept = fit_intercept

    def _penalty(self, n_columns: int) -> Penalty:
        labels = np.arange(n_columns) if self.groups is None else self.groups
        return Group.of(labels, n_columns)
