"""A plane with outliers: rows are near the plane or anywhere, and EM finds out which.

The target of a row is  s N(b0 + x b, sigma^2) + (1 - s) U(low, high):  with probability s it lies
about the plane, else anywhere in a range. By turns, every row gets the probability that it belongs
to the plane (E),

    r_i = s phi_i / (s phi_i + (1 - s) / (high - low)),   phi_i = N(y_i; b0 + x_i b, sigma^2),

and plane, sigma and s are fitted to the rows so weighted (M). The likelihood never falls; it has
many local maxima, so many starts are made, each from the plane through a few rows.

Texts: 000 exercise 9.5 (whose printed weights lack the normal's constant 1 / (sqrt(2 pi) sigma), a
factor of 399 for its sigma, and whose Q has (1 - w_i) / 10 where log(1 / 10) belongs).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Regressor
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HISTORY, SEED, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import LARGEST, Centered, centered_rows, decision
from gnomon.linear.inference import column_names
from gnomon.linear.penalized import Working, products
from gnomon.linear.robust import mad_scale, small_subset
from gnomon.linear.solve import EPS, symmetric_solve

LEAST_SCALE = 1e-8  # share of the target's range below which a deviation counts as none
LEAST_SEEN = 1e-8  # a ridge below the square root of the rounding unit, where few rows are near


class Mixture(NamedTuple):
    """A plane with its scale, and the share of rows that belong to it."""

    coef: np.ndarray
    constant: float
    scale: float
    share: float


def memberships(residuals, scale: float, share: float, width: float):
    """Probability of belonging to the plane, and the logarithm of the density, per row."""
    near = np.log(share) - (residuals / scale) ** 2 / 2 - np.log(np.sqrt(2 * np.pi) * scale)
    with np.errstate(divide="ignore"):
        far = np.log1p(-share) - np.log(width)
    density = np.logaddexp(near, far)
    return np.exp(near - density), density


@method(
    task="regress",
    texts="000 exercise 9.5",
    use="A number to predict where some targets have nothing to do with the columns.",
    avoid="Outliers that lie close by: RobustRegression. Fewer than some ten rows per column.",
)
class LineWithOutliers(Regressor):
    """A plane for most rows and a uniform background for the rest, by EM.

    Maximises sum_i w_i log(s N(y_i; b0 + x_i b, sigma^2) + (1 - s) / (high - low)). Use it where a
    part of the targets, even more than half, has nothing to do with the columns, and to get for
    each row the probability that it belongs to the plane (`membership`). Not where outliers lie
    near the plane or on a second one. There are many local maxima: the best of several starts is
    kept.

    Texts: 000 exercise 9.5 (one column, sigma = 0.001 and a background from 0 to 10 given; its
    weights and its Q are corrected here). With sigma learnt the likelihood has no bound, as a plane
    through as many rows as it has coefficients may have sigma = 0: such ends are not kept.

    Parameters
    ----------
    scale : float or None, default=None
        The standard deviation sigma about the plane; learnt by default.
    background : array-like of shape (2,) or None, default=None
        Lowest and highest target of the background; by default those seen.
    n_init : int, default=30
        Random starts beside least squares.
    fit_intercept : bool, default=True
        Whether there is a constant b0.
    max_iter : int, default=500
        Most steps from each start.
    tol : float, default=1e-9
        Stops when predictions change by no more than this many sigma.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the coefficients of each step too.
    random_state : int, RandomState instance or None, default=None
        Draws the rows to start from.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The coefficients b.
    intercept_ : float
        The constant b0; zero without intercept.
    scale_ : float
        The standard deviation about the plane.
    share_ : float
        The share s of rows that belong to the plane.
    background_ : ndarray of shape (2,)
        Lowest and highest target of the background.
    log_likelihood_ : float
        The maximum reached.
    starts_ : list of float
        The log-likelihood of each start's end; minus infinity where it was not kept.
    history_ : History
        Minus the mean log-likelihood at each step of the best start; it never rises.
    n_iter_ : int
        Number of these steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    RobustRegression : Losses that count outliers less.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LineWithOutliers
    >>> X = np.arange(12.0)[:, None]
    >>> y = 2 * X[:, 0] + 0.1 * np.cos(7 * X[:, 0])
    >>> y[[2, 5, 6, 9]] = [20, 1, 24, 3]
    >>> model = LineWithOutliers(random_state=0).fit(X, y)
    >>> model.coef_.round(2), round(model.share_, 2)
    (array([2.]), 0.66)
    >>> np.flatnonzero(model.membership(X, y) < 0.5).tolist()
    [2, 5, 6, 9]
    """

    _largest: ClassVar[float] = LARGEST
    _largest_target: ClassVar[float] = LARGEST
    _parameter_constraints = {
        "scale": [above(0.0), None],
        "background": ["array-like", None],
        "n_init": [whole(0)],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "random_state": SEED,
    }
    _stored = {
        "background_": Array("f8", (2,)),
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Number(),
        "log_likelihood_": Number(),
        "scale_": Number(),
        "share_": Number(),
        "starts_": ListOf(Number(finite=False)),
    }

    def __init__(
        self,
        scale=None,
        background=None,
        n_init=30,
        fit_intercept=True,
        max_iter=500,
        tol=1e-9,
        keep_history="objective",
        random_state=None,
    ):
        self.scale = scale
        self.background = background
        self.n_init = n_init
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state

    def _most_steps(self) -> int:
        return self.max_iter * (1 + self.n_init)

    def _fit(self, data: Data) -> None:
        self.background_ = self._range(data.y)
        with one_blas_thread():
            centered = centered_rows(data, self.fit_intercept, column_names(self))
            best, ends = None, []
            for factors in self._start_factors(data):
                found, figure, history = self._climb(data, centered, factors)
                ends.append(figure)
                if best is None or figure > best[1]:
                    best = found, figure, history
                if history.stopped == "callback":
                    break
        assert best is not None
        found, _, history = best
        self._keep(self._attributes(data, centered, found) | {"starts_": ends})
        self.history_, self.n_iter_ = history, len(history)
        if history.stopped == "max_iter":
            warnings.warn(
                f"LineWithOutliers has not converged in max_iter={self.max_iter} steps; raise "
                "max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _range(self, y: np.ndarray) -> np.ndarray:
        if self.background is None:
            low, high = float(y.min()), float(y.max())
            return np.array([low, high if high > low else low + 1.0])
        given = np.asarray(self.background, dtype=np.float64)
        if given.shape != (2,) or not given[0] < given[1]:
            raise DataError(f"background={self.background!r} must be a lower and a higher number")
        if y.min() < given[0] or y.max() > given[1]:
            raise DataError(
                f"targets go from {y.min():g} to {y.max():g}, beyond background="
                f"{tuple(given.tolist())}; widen it, or leave those rows out"
            )
        return given

    def _start_factors(self, data: Data):
        """Row factors of the first plane of each start."""
        yield data.weight_array
        if not self.n_init:
            return
        rng = self._rng()
        order = canonical_order(data.rows, data.y)
        for _ in range(self.n_init):
            factors = np.zeros(data.n_rows)
            factors[small_subset(order, data, rng, data.n_columns + self.fit_intercept + 1)] = 1.0
            yield factors

    def _plane(self, data: Data, centered: Centered, factors) -> tuple[np.ndarray, float]:
        """Least squares under factors; where only rows of no factor to speak of vary, zero."""
        working = Working(np.ones(data.n_rows), data.y)
        sums = products(centered.rows, working, factors, self.fit_intercept)
        variation = np.einsum("ij,ij,i->j", centered.rows, centered.rows, data.weight_array)
        coef = symmetric_solve(sums.gram + np.diag(LEAST_SEEN * variation), sums.cross)
        return coef, sums.target_mean - float(sums.location @ coef)

    def _climb(self, data: Data, centered: Centered, factors):
        """EM from one start: the mixture, its log-likelihood and its history."""
        weights, total = data.weight_array, float(data.weight_array.sum())
        width = float(self.background_[1] - self.background_[0])
        least = max(LEAST_SCALE * width, 64 * EPS * float(np.abs(data.y).max()))
        coef, constant = self._plane(data, centered, factors)
        residuals = data.y - centered.rows @ coef - constant
        scale = self._given_scale() or max(mad_scale(residuals, weights), least)
        share, lost = 0.5, False
        near, density = memberships(residuals, scale, share, width)
        course = self._course("step", self.max_iter)
        for _ in course:
            before = residuals
            inside = weights * near
            enough = float(inside.sum())
            if enough > 0:
                coef, constant = self._plane(data, centered, inside)
                residuals = data.y - centered.rows @ coef - constant
                scale = self._given_scale() or max(
                    float(np.sqrt(inside @ residuals**2 / enough)), least
                )
            share = min(max(enough / total, 1e-12), 1.0)
            near, density = memberships(residuals, scale, share, width)
            lost = self.scale is None and enough < data.n_columns + self.fit_intercept + 1.5
            moved = float(np.abs(residuals - before).max())
            found = Mixture(coef, constant, scale, share)
            if course.end_step(
                -float(weights @ density) / total,
                bool(lost or moved <= max(self.tol * scale, least / 4 if scale <= least else 0.0)),
                state=partial(dict, coef=coef.copy(), scale=np.array(scale)),
                attributes=partial(self._so_far, data, centered, found),
            ):
                break
        figure = -np.inf if lost else float(weights @ density)
        return found, figure, course.history

    def _given_scale(self) -> float:
        return 0.0 if self.scale is None else float(self.scale)

    def _attributes(self, data: Data, centered: Centered, found: Mixture) -> dict[str, Any]:
        constant = found.constant - float(centered.location @ found.coef)
        residuals = data.y - centered.rows @ found.coef - found.constant
        width = float(self.background_[1] - self.background_[0])
        _, density = memberships(residuals, found.scale, found.share, width)
        return {
            "coef_": found.coef,
            "intercept_": constant if self.fit_intercept else 0.0,
            "scale_": float(found.scale),
            "share_": float(found.share),
            "log_likelihood_": float(data.weight_array @ density),
            "starts_": [],
        }

    def _so_far(self, data, centered, found) -> dict[str, Any]:
        return self._public() | self._attributes(data, centered, found)

    def membership(self, X, y) -> np.ndarray:
        """Probability that each row belongs to the plane, given its target.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        probability : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        residuals = np.asarray(y, dtype=np.float64) - self.predict(X)
        width = float(self.background_[1] - self.background_[0])
        return memberships(residuals, self.scale_, self.share_, width)[0]

    def _estimate(self, rows):
        return decision(rows, self.coef_, self.intercept_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (5 * n_rows * n_columns + 24 * n_rows + 8 * n_columns**2)
