"""Robust regression: M-estimates, which outliers cannot pull far, and robust scales.

Minimises  sum_i w_i rho((y_i - b0 - x_i b) / s)  where rho grows like u^2 / 2 near zero and slower
far from it, by iteratively reweighted least squares: a row weighs w_i psi(u_i) / u_i, psi = rho'.
The scale s comes anew from the residuals of each step. Losses that fall back to no influence
(Tukey's, Welsch's, Cauchy's) have many minima: the fit then starts from many small random subsets
of the rows, some of which hold no outlier, and keeps the one of least scale.

Texts: 000 11.2 · 001 3.6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import special
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data, Regressor, Takes
from gnomon.engine.draw import WeightedDraw, canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, StrOptions, above, at_least, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number
from gnomon.engine.sums import Chunk, add_up, rows_per_chunk
from gnomon.engine.threads import blas_for, resolve_jobs
from gnomon.linear.design import decision, first_means, is_sparse, with_constant
from gnomon.linear.solve import EPS, symmetric_solve

# The median of |Z|, so that a normal's scale is its deviation.
NORMAL_QUARTILE = float(special.ndtri(0.75))
PROPOSAL_2_BEND = 1.5  # the default of MASS::hubers


@dataclass(frozen=True)
class RobustLoss:
    """A robust loss rho(u; c) of a residual u in units of the scale.

    Attributes
    ----------
    name : str
    threshold : float
        The c at which the estimate has 95 % of the efficiency of least squares on normal errors.
    convex : bool
    rho, weight : callable
        The loss, and psi(u) / u; both of (u, c). psi = u weight(u, c) is the influence function.
    """

    name: str
    threshold: float
    convex: bool
    rho: Callable[[np.ndarray, float], np.ndarray]
    weight: Callable[[np.ndarray, float], np.ndarray]

    def influence(self, u: np.ndarray, c: float | None = None) -> np.ndarray:
        """psi(u), the slope of the loss: how hard a residual pulls."""
        return u * self.weight(u, self.threshold if c is None else c)


def _inside(u, c):
    return np.maximum(1 - (u / c) ** 2, 0.0)


ROBUST_LOSSES = {
    "huber": RobustLoss(
        "huber",
        1.345,
        True,
        lambda u, c: np.where(np.abs(u) <= c, u**2 / 2, c * np.abs(u) - c**2 / 2),
        lambda u, c: c / np.maximum(np.abs(u), c),
    ),
    "tukey": RobustLoss(
        "tukey",
        4.685,
        False,
        lambda u, c: c**2 / 6 * (1 - _inside(u, c) ** 3),
        lambda u, c: _inside(u, c) ** 2,
    ),
    "cauchy": RobustLoss(
        "cauchy",
        2.385,
        False,
        lambda u, c: c**2 / 2 * np.log1p((u / c) ** 2),
        lambda u, c: 1 / (1 + (u / c) ** 2),
    ),
    "welsch": RobustLoss(
        "welsch",
        2.985,
        False,
        lambda u, c: -(c**2) / 2 * np.expm1(-((u / c) ** 2)),
        lambda u, c: np.exp(-((u / c) ** 2)),
    ),
}


def mad_scale(residuals, weights=None, *, about_median: bool = False) -> float:
    """Robust standard deviation: 1.4826 times the median absolute residual.

    The factor makes it right for normal errors. Half of the residuals may be arbitrarily wrong.
    Texts: 000 11.2.2.

    Parameters
    ----------
    residuals : array-like of shape (n,)
    weights : array-like of shape (n,), default=None
        Read as repetitions.
    about_median : bool, default=False
        Deviations from the median of the residuals; else from zero, as in the text.

    Returns
    -------
    scale : float

    Examples
    --------
    >>> round(mad_scale([-1.0, 1.0, -2.0, 2.0, 100.0]), 4)
    2.9652
    """
    residuals = np.asarray(residuals, dtype=np.float64)
    weights = np.ones(len(residuals)) if weights is None else np.asarray(weights, dtype=np.float64)
    center = weighted_median(residuals, weights) if about_median else 0.0
    return weighted_median(np.abs(residuals - center), weights) / NORMAL_QUARTILE


def proposal_2_constant(bend: float) -> float:
    """E min(|Z|, bend)^2 for standard normal Z, in closed form (an exercise of 000 11.2.2).

    Parameters
    ----------
    bend : float

    Returns
    -------
    k2 : float

    Examples
    --------
    >>> round(proposal_2_constant(1.5), 6)
    0.778465
    """
    below, density = scipy.stats.norm.cdf(bend), scipy.stats.norm.pdf(bend)
    tail = 2 * bend**2 * (1 - below) if np.isfinite(bend) else 0.0
    inner = 2 * bend * density if np.isfinite(bend) else 0.0
    return float(2 * below - 1 - inner + tail)


def huber_scale(residuals, weights=None, *, bend: float = PROPOSAL_2_BEND) -> float:
    """Huber's proposal 2: the s with sum_i w_i min(|r_i / s|, bend)^2 = W E min(|Z|, bend)^2.

    More efficient than `mad_scale` on normal errors, less robust; an infinite bend gives the root
    mean square. Texts: 000 11.2.2.

    Parameters
    ----------
    residuals : array-like of shape (n,)
    weights : array-like of shape (n,), default=None
        Read as repetitions.
    bend : float, default=1.5
        Residuals count no more than this many scales.

    Returns
    -------
    scale : float

    Examples
    --------
    >>> round(huber_scale([-1.0, 1.0, -2.0, 2.0, 100.0]), 4)
    2.4676
    """
    sizes = np.abs(np.asarray(residuals, dtype=np.float64))
    weights = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if np.isinf(bend):
        return float(np.sqrt(weights @ sizes**2 / weights.sum()))
    order = np.argsort(sizes, kind="stable")
    sizes, weights = sizes[order], weights[order]
    right = weights.sum() * proposal_2_constant(bend)
    squares = np.concatenate([[0.0], np.cumsum(weights * sizes**2)])
    inside = np.concatenate([[0.0], np.cumsum(weights)])
    outside = inside[-1] - inside
    rest = right - bend**2 * outside
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = np.sqrt(np.where(rest > 0, squares / rest, np.nan))
    low = np.concatenate([[0.0], sizes])
    high = np.concatenate([sizes, [np.inf]])
    limit = bend * scales
    fits = (limit >= low * (1 - 1e-12)) & (limit <= high * (1 + 1e-12))
    return float(scales[np.flatnonzero(fits)[-1]]) if fits.any() else 0.0


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The median, weights read as repetitions."""
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weights[order])
    half = reached[-1] / 2
    place = int(np.searchsorted(reached, half * (1 - 4 * EPS)))
    tied = abs(reached[place] - half) <= 4 * EPS * half and place + 1 < len(values)
    return float((values[place] + values[place + 1]) / 2 if tied else values[place])


class WeightedProducts(NamedTuple):
    """Products of shifted columns, the constant and the target under the rows' factors."""

    design: np.ndarray
    target: np.ndarray


def weighted_products(shift, intercept: bool, factors, chunk: Chunk) -> WeightedProducts:
    """Normal equations of a chunk under row factors."""
    design = with_constant(chunk, shift, intercept)
    scaled = design * factors[chunk.start : chunk.stop, None]
    return WeightedProducts(inner(scaled, design), inner(scaled, chunk.y))


def small_subset(order: np.ndarray, data: Data, rng: np.random.Generator, size: int) -> np.ndarray:
    """Places of a few rows, drawn by weight along the canonical order."""
    return np.unique(WeightedDraw(order)(data.weight_array, rng, size))


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="A number to predict where some targets are wrong or belong to something else.",
    avoid="Outliers among the columns (high leverage) with Huber's loss: use Tukey's.",
    peers=("statsmodels.api.RLM", "sklearn.linear_model.HuberRegressor"),
)
class RobustRegression(Regressor):
    """Robust linear regression by M-estimation: Huber, Tukey, Cauchy, Welsch.

    Minimises sum_i w_i rho((y_i - b0 - x_i b) / s) by iteratively reweighted least squares, the
    scale s estimated anew at each step. Use it where some targets are outliers. Huber's loss has
    one minimum but follows outliers of high leverage; Tukey's gives far rows no weight at all, has
    many minima, and starts from random subsets. Not where outliers are half of the rows or more.

    Texts: 000 11.2.1 (procedure 11.1; Huber's loss has a continuous first derivative, contrary to
    the text, and its threshold here is in units of the scale), 11.2.2 (scales) · 001 3.6. The text
    keeps the start of least sum of losses; with a scale of each start's own these sums cannot be
    compared, so the start of least scale is kept, and the least sum where the scale is given.

    Parameters
    ----------
    loss : {"huber", "tukey", "cauchy", "welsch"}, default="huber"
        How residuals are counted.
    threshold : float or None, default=None
        Scales from which on a residual counts less; by default that of 95 % efficiency.
    scale : float, "mad" or "huber", default="mad"
        The scale itself, or how it is estimated: `mad_scale` or `huber_scale`.
    n_init : int, default=20
        Random subsets to start from beside least squares; not used by Huber's loss.
    fit_intercept : bool, default=True
        Whether there is a constant b0.
    max_iter : int, default=200
        Most steps from each start.
    tol : float, default=1e-9
        Stops when predictions change by no more than this many scales.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.
    random_state : int, RandomState instance or None, default=None
        Draws the subsets.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The coefficients b.
    intercept_ : float
        The constant b0; zero without intercept.
    scale_ : float
        The scale s of the residuals.
    starts_ : list of float
        What each start came to: its scale, or its sum of losses where the scale is given.
    history_ : History
        Mean loss times the squared scale at each step of the best start.
    n_iter_ : int
        Number of these steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.linear import RobustRegression
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 1, 2, 3, 4, 50]
    >>> model = RobustRegression("tukey", random_state=0).fit(X, y)
    >>> model.coef_.round(3)
    array([1.])
    """

    natively = Takes(sparse=True)
    _parameter_constraints = {
        "loss": [StrOptions(set(ROBUST_LOSSES))],
        "threshold": [above(0.0), None],
        "scale": [above(0.0), StrOptions({"mad", "huber"})],
        "n_init": [whole(0)],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Number(),
        "scale_": Number(),
        "starts_": ListOf(Number()),
    }

    def __init__(
        self,
        loss="huber",
        threshold=None,
        scale="mad",
        n_init=20,
        fit_intercept=True,
        max_iter=200,
        tol=1e-9,
        keep_history="objective",
        random_state=None,
        n_jobs=None,
    ):
        self.loss = loss
        self.threshold = threshold
        self.scale = scale
        self.n_init = n_init
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _most_steps(self) -> int:
        return self.max_iter * (1 + self.n_init)

    def _fit(self, data: Data) -> None:
        with blas_for(data.n_columns):
            self._from_starts(data)

    def _from_starts(self, data: Data) -> None:
        shift = np.zeros(data.n_columns)
        if self.fit_intercept and not is_sparse(data):
            shift = first_means(data)
        best = None
        starts = []
        for factors in self._start_factors(data):
            theta, scale, figure, history = self._descend(data, shift, factors)
            starts.append(figure)
            if best is None or figure < best[2]:
                best = theta, scale, figure, history
            if history.stopped == "callback":
                break
        assert best is not None
        theta, scale, _, history = best
        self._keep(self._attributes(theta, shift, scale) | {"starts_": starts})
        self.history_, self.n_iter_ = history, len(history)
        if history.stopped == "max_iter":
            warnings.warn(
                f"RobustRegression has not converged in max_iter={self.max_iter} steps; mean loss "
                f"{history[-1]:.6g}. Raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _start_factors(self, data: Data):
        """Row factors of the first least squares fit of each start."""
        yield data.weight_array
        if self.n_init == 0 or ROBUST_LOSSES[self.loss].convex:
            return
        rng = self._rng()
        order = canonical_order(data.rows, data.y)
        size = data.n_columns + self.fit_intercept + 1
        for _ in range(self.n_init):
            factors = np.zeros(data.n_rows)
            factors[small_subset(order, data, rng, size)] = 1.0
            yield factors

    def _attributes(self, theta, shift, scale) -> dict[str, Any]:
        p = len(shift)
        coef = theta[:p].copy()
        intercept = float(theta[p] - coef @ shift) if self.fit_intercept else 0.0
        return {"coef_": coef, "intercept_": intercept, "scale_": float(scale), "starts_": []}

    def _solved(self, data: Data, shift, factors) -> np.ndarray:
        function = partial(weighted_products, shift, self.fit_intercept, factors)
        total = WeightedProducts(*add_up(function, data.source, self.n_jobs))
        p = len(shift)
        matrix = total.design
        if self.fit_intercept:
            idle = np.diag(matrix)[:p] <= matrix[p, p] * (32 * EPS * np.abs(shift)) ** 2
            matrix[:p][idle] = 0.0
            matrix[:, :p][:, idle] = 0.0
        return symmetric_solve(matrix, total.target)

    def _residuals(self, data: Data, shift, theta) -> np.ndarray:
        p = len(shift)
        constant = theta[p] - theta[:p] @ shift if self.fit_intercept else 0.0
        residuals = np.empty(data.n_rows)
        for chunk in data.source.chunks():
            residuals[chunk.start : chunk.stop] = chunk.y - (chunk.rows @ theta[:p] + constant)
        return residuals

    def _scale_of(self, residuals, weights) -> float:
        if self.scale == "mad":
            return mad_scale(residuals, weights)
        return huber_scale(residuals, weights) if self.scale == "huber" else float(self.scale)

    def _descend(self, data: Data, shift, factors):
        """Reweighted least squares from one start."""
        loss = ROBUST_LOSSES[self.loss]
        c = loss.threshold if self.threshold is None else float(self.threshold)
        weights = data.weight_array
        theta = self._solved(data, shift, factors)
        residuals = self._residuals(data, shift, theta)
        least = 64 * EPS * float(np.abs(data.y).max(initial=0.0))
        course = self._course("step", self.max_iter)
        scale = self._scale_of(residuals, weights)
        for _ in course:
            perfect = scale <= least
            if not perfect:
                u = residuals / scale
                factors = weights * loss.weight(u, c)
                if not factors.any():
                    raise DataError(
                        f"with threshold={c:g} and scale={scale:g} every row is an outlier; use a "
                        "greater threshold or scale"
                    )
                theta = self._solved(data, shift, factors)
                before, residuals = residuals, self._residuals(data, shift, theta)
                moved = float(np.abs(residuals - before).max())
                scale = self._scale_of(residuals, weights)
            mean = self._mean_loss(loss, c, residuals, scale, weights)
            ended = bool(perfect or moved <= self.tol * max(scale, least))
            if course.end_step(
                mean,
                ended,
                state=partial(dict, theta=theta.copy(), scale=np.array(scale)),
                attributes=partial(self._so_far, theta, shift, scale),
            ):
                break
        given = not isinstance(self.scale, str)
        return theta, scale, mean if given else scale, course.history

    def _so_far(self, theta, shift, scale) -> dict[str, Any]:
        return self._public() | self._attributes(theta, shift, scale)

    def _mean_loss(self, loss: RobustLoss, c, residuals, scale, weights) -> float:
        if scale <= 0:
            return 0.0
        return float(weights @ loss.rho(residuals / scale, c) / weights.sum() * scale**2)

    def _estimate(self, rows):
        return decision(rows, self.coef_, self.intercept_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        block = min(rows_per_chunk(n_columns), n_rows) * (2 * n_columns + 4)
        return 8 * (6 * n_rows + 2 * threads * block + (2 * threads + 6) * (n_columns + 1) ** 2)
