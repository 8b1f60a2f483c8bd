"""Leave-one-out in closed form, for every linear smoother.

If fitted values are H y with an H that does not depend on y, and leaving a row out is the same as
refitting with that row's own prediction in its place, then the error of row i without it is
(y_i - fitted_i) / (1 - H_ii). True of least squares, ridge with a fixed penalty, kernel ridge and
smoothing splines; exact, at the cost of one fit. Texts: 000b 11.1.3 · 001 7.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, finite_column, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass(repr=False)
class LeaveOneOut(Result):
    """Leave-one-out errors in closed form.

    Attributes
    ----------
    residuals : ndarray of shape (n,)
        y minus the prediction of the model without the row.
    leverages : ndarray of shape (n,)
        Diagonal of the hat matrix.
    mean_squared_error : Estimate
        E_cv; its spread over rows gives the interval.
    in_sample : float
        Mean squared error of the fit on its own rows.
    """

    residuals: np.ndarray
    leverages: np.ndarray
    mean_squared_error: Estimate
    in_sample: float

    @property
    def press(self) -> float:
        """Sum of the squared leave-one-out errors."""
        return float((self.residuals**2).sum())

    def _title(self) -> str:
        rows = len(self.residuals)
        return f"Leave-one-out mean squared error {self.mean_squared_error} ({rows:,} rows)"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "": ["leave-one-out", "in sample"],
            "mean squared error": [self.mean_squared_error, self.in_sample],
        }


def press(y: ArrayLike, fitted: ArrayLike, leverages: ArrayLike) -> LeaveOneOut:
    """Leave-one-out errors from the fitted values and the diagonal of the hat matrix.

    Not for learners whose H depends on y (lasso, trees, a penalty chosen by the data): use
    `leave_one_out` splits there.

    Parameters
    ----------
    y : array-like of shape (n,)
    fitted : array-like of shape (n,)
    leverages : array-like of shape (n,) or (n, n)
        The hat matrix H of fitted = H y, or its diagonal.

    Returns
    -------
    found : LeaveOneOut

    Examples
    --------
    >>> x, y = [0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0, 4.0]
    >>> fitted = [1.4, 2.2, 3.0, 3.8, 4.6]
    >>> round(press(y, fitted, [0.6, 0.3, 0.2, 0.3, 0.6]).mean_squared_error.value, 6)
    1.81148
    """
    y, fitted = finite_column(y, "y"), finite_column(fitted, "fitted")
    leverages = np.asarray(leverages, dtype=np.float64)
    leverages = np.diag(leverages) if leverages.ndim == 2 else leverages
    if not len(y) == len(fitted) == len(leverages):
        raise DataError(
            f"y, fitted values and leverages differ in length: {len(y)}, {len(fitted)}, "
            f"{len(leverages)}"
        )
    if (leverages >= 1 - 1e-12).any():
        row = int(leverages.argmax())
        raise DataError(
            f"row {row} has leverage {leverages[row]:g}: the fit goes through it whatever it is, "
            "and without it the model is not determined"
        )
    errors = (y - fitted) / (1 - leverages)
    return LeaveOneOut(
        errors, leverages, mean_interval(errors**2), float(((y - fitted) ** 2).mean())
    )


def linear_leave_one_out(
    X: Any, y: ArrayLike, penalty: float = 0.0, *, intercept: bool = True
) -> LeaveOneOut:
    """Leave-one-out of least squares or ridge, exact, from one decomposition.

    H = X (X'X + penalty I)^-1 X', with the columns centred first where there is an intercept
    (which is then not penalised); scikit-learn's scale of the penalty.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    penalty : float, default=0.0
        Of the squared coefficients.
    intercept : bool, default=True

    Returns
    -------
    found : LeaveOneOut

    Examples
    --------
    >>> rows = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> round(linear_leave_one_out(rows, [1.0, 3, 2, 5, 4]).mean_squared_error.value, 6)
    1.81148
    """
    X = np.asarray(X, dtype=np.float64)
    y = finite_column(y, "y")
    if X.ndim != 2 or len(X) != len(y) or not np.isfinite(X).all():
        raise DataError(f"X must be finite rows beside y ({len(y)}), not of shape {X.shape}")
    if not penalty >= 0:
        raise DataError(f"penalty={penalty} must not be negative")
    center = y.mean() if intercept else 0.0
    rows = X - X.mean(axis=0) if intercept else X
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    kept = values > values.max(initial=0) * max(X.shape) * np.finfo(float).eps
    left, values = left[:, kept], values[kept]
    shrink = values**2 / (values**2 + penalty)
    leverages = (left**2) @ shrink + (1 / len(y) if intercept else 0.0)
    fitted = center + left @ (shrink * (left.T @ (y - center)))
    return press(y, fitted, leverages)
