"""Learning as an objective and an optimizer: loss and penalty of a linear model, minimized by any.

    E(w) = (1/n) sum_i loss(y_i, x_i'w) + penalty(w)

`Risk` gives value, gradient, Hessian and the gradient of a batch, so that every method of
`minimize` and `stochastic_gradient_descent` trains the same model to the same minimum.

Texts: 000a 2.1 · 001 5.2, 6 · 002 "training method = cost function + minimisation algorithm" (two
signs of 001's stochastic gradient are wrong in print; the derivative here is checked).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.optimize.losses import HINGE, LOGISTIC, SQUARED_HINGE, ScoreLoss

LOSSES = {
    "squared": ScoreLoss(
        lambda y, s: (s - y) ** 2, lambda y, s: 2 * (s - y), lambda y, s: np.full_like(s, 2.0)
    ),
    "logistic": LOGISTIC,
    "hinge": HINGE,
    "squared_hinge": SQUARED_HINGE,
}
MARGIN_LOSSES = ("logistic", "hinge", "squared_hinge")


class Risk:
    """Mean loss of a linear model plus alpha |w|^2 / 2, as a function of the coefficients.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Numbers for the squared loss, -1 and 1 for the others.
    loss : {"squared", "logistic", "hinge", "squared_hinge"}, default="squared"
    alpha : float, default=0.0
    fit_intercept : bool, default=True
        The first coefficient is then the intercept, which is not penalized.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> risk = Risk([[0.0], [1], [2], [3]], [-1, 1, -1, 1], "logistic")
    >>> found = minimize(risk, np.zeros(2), "newton", jac=risk.gradient, hess=risk.hessian)
    >>> found.x.round(5).tolist()
    [-1.36228, 0.90818]
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        loss: str = "squared",
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
    ):
        if loss not in LOSSES:
            raise DataError(f"loss is one of {tuple(LOSSES)}, not {loss!r}")
        rows, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        if rows.ndim != 2 or target.shape != (len(rows),):
            raise DataError(f"X has shape {rows.shape} and y {target.shape}: not as many rows")
        if loss in MARGIN_LOSSES and not np.isin(target, (-1, 1)).all():
            raise DataError(f"the {loss} loss needs classes -1 and 1")
        self.rows = np.column_stack([np.ones(len(rows)), rows]) if fit_intercept else rows
        self.target, self.loss, self.alpha = target, LOSSES[loss], alpha
        self.penalized = np.ones(self.rows.shape[1])
        self.penalized[0] = 0.0 if fit_intercept else 1.0

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.rows)

    def __call__(self, w: np.ndarray) -> float:
        """The objective."""
        losses = self.loss.value(self.target, self.rows @ w)
        return float(losses.mean() + self.alpha / 2 * (self.penalized * w) @ w)

    def gradient(self, w: np.ndarray, batch: Any = None) -> np.ndarray:
        """The gradient; of the mean loss over a batch of rows where one is given.

        Parameters
        ----------
        w : ndarray of shape (d,)
        batch : ndarray of int, default=None

        Returns
        -------
        gradient : ndarray of shape (d,)
        """
        rows = self.rows if batch is None else self.rows[batch]
        target = self.target if batch is None else self.target[batch]
        slopes = self.loss.gradient(target, rows @ w)
        return rows.T @ slopes / len(rows) + self.alpha * self.penalized * w

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """The Hessian.

        Parameters
        ----------
        w : ndarray of shape (d,)

        Returns
        -------
        hessian : ndarray of shape (d, d)
        """
        assert self.loss.curvature is not None  # all of `LOSSES` have one
        curved = self.loss.curvature(self.target, self.rows @ w)
        return (self.rows.T * curved) @ self.rows / len(self.rows) + np.diag(
            self.alpha * self.penalized
        )
