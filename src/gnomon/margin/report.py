"""What a machine stands on: its support vectors, their slacks, and how optimal it is.

At the optimum a row with a_i = 0 lies on or beyond its margin, one with 0 < a_i < C on it, one with
a_i = C within or beyond; the primal and the dual objective are equal. What is left of either is
reported.

Texts: 002 L787-801, L895-897, L972 · 001 8.5 · 004 10.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.margin.hyperplane import weight_norm
from gnomon.margin.kernels import dense
from gnomon.margin.svc import SVC, SquaredSlackSVM
from gnomon.margin.svr import SVR


@dataclass
class SupportReport(Result):
    """The support vectors of a machine.

    Attributes
    ----------
    rows : ndarray of int
        Their positions among the rows given to ``fit``.
    alpha : ndarray
        Their dual variables.
    slack : ndarray
        How far each lies beyond its margin, or outside the tube.
    at_bound : ndarray of bool
        Whether alpha stands at its bound.
    n_rows : int
        Rows of the table.
    primal_objective, dual_objective : float
    kkt_violation : float
        Greatest violation of the conditions of optimality over all rows, in units of the score.
    """

    rows: np.ndarray
    alpha: np.ndarray
    slack: np.ndarray
    at_bound: np.ndarray
    n_rows: int
    primal_objective: float
    dual_objective: float
    kkt_violation: float

    @property
    def share(self) -> float:
        """Support vectors per row."""
        return len(self.rows) / self.n_rows

    @property
    def duality_gap(self) -> float:
        """Primal minus dual objective; zero at the optimum."""
        return self.primal_objective - self.dual_objective

    def _title(self) -> str:
        return (
            f"{len(self.rows):,} support vectors of {self.n_rows:,} rows ({self.share:.1%}), "
            f"{int(self.at_bound.sum()):,} at their bound"
        )

    def _columns(self) -> dict[str, list]:
        return {
            "row": self.rows.tolist(),
            "alpha": self.alpha.tolist(),
            "slack": self.slack.tolist(),
            "at bound": self.at_bound.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [
            f"primal {self.primal_objective:.8g} - dual {self.dual_objective:.8g} = "
            f"{self.duality_gap:.3g}; conditions of optimality violated by {self.kkt_violation:.3g}"
        ]


def support_vector_report(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None
) -> SupportReport:
    """Support vectors of a fitted machine, with slacks, share, duality gap and KKT violations.

    Parameters
    ----------
    estimator : SVC, SquaredSlackSVM (of two classes) or SVR, fitted
    X, y : array-like
        The rows that it was fitted on, each of them once (equal rows are one for a machine).
    sample_weight : array-like of shape (n,), default=None
        The weights that it was fitted with, class weights multiplied in.

    Returns
    -------
    report : SupportReport

    Examples
    --------
    >>> from gnomon.margin import SVC, support_vector_report
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = SVC(C=10.0, kernel="linear", tol=1e-9).fit(X, y)
    >>> report = support_vector_report(model, X, y)
    >>> report.rows.tolist(), report.alpha.round(6).tolist()
    ([1, 2], [2.0, 2.0])
    """
    check_is_fitted(estimator)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    if isinstance(estimator, SVR):
        return _tube_report(estimator, X, np.asarray(y, dtype=np.float64), weights)
    if not isinstance(estimator, (SVC, SquaredSlackSVM)):
        raise DataError(
            f"a support vector report is of SVC, SquaredSlackSVM or SVR, not {estimator}"
        )
    if len(estimator.classes_) != 2:
        raise DataError(
            f"a report is of two classes, and this machine has {len(estimator.classes_)}"
        )
    sign = np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
    functional = sign * estimator.decision_function(X)
    slack = np.maximum(1.0 - functional, 0.0)
    alpha = np.zeros(len(sign))
    alpha[estimator.support_] = np.abs(dense(estimator.dual_coef_)[0])
    half = 0.5 * weight_norm(estimator) ** 2
    if isinstance(estimator, SquaredSlackSVM):
        cost = estimator.slack_cost * weights
        bound = np.full(len(sign), np.inf)
        violation = np.abs(1.0 - alpha / cost - functional)[alpha > 0].max(initial=0.0)
        violation = max(violation, slack[alpha == 0].max(initial=0.0))
        primal = half + 0.5 * float(cost @ slack**2)
        dual = float(alpha.sum() - half - 0.5 * (alpha / cost) @ alpha)
    else:
        bound = estimator.C * weights
        lacks = np.where(alpha < bound, 1.0 - functional, 0.0)
        exceeds = np.where(alpha > 0, functional - 1.0, 0.0)
        violation = max(float(lacks.max()), float(exceeds.max()), 0.0)
        primal = half + (float(bound @ slack) if np.isfinite(estimator.C) else 0.0)
        dual = float(alpha.sum() - half)
    here = np.sort(estimator.support_)
    return SupportReport(
        here,
        alpha[here],
        slack[here],
        alpha[here] >= bound[here],
        len(sign),
        primal,
        dual,
        float(violation),
    )


def _tube_report(model: SVR, X: Any, y: np.ndarray, weights: np.ndarray) -> SupportReport:
    residual = y - model.predict(X)
    slack = np.maximum(np.abs(residual) - model.epsilon_, 0.0)
    signed = np.zeros(len(y))
    signed[model.support_] = dense(model.dual_coef_)[0]
    alpha, bound = np.abs(signed), model.C * weights
    half = 0.5 * weight_norm(model) ** 2
    lacks = np.where(alpha < bound, slack, 0.0)
    exceeds = np.where(alpha > 0, model.epsilon_ - residual * np.sign(signed), 0.0)
    here = np.sort(model.support_)
    finite = np.isfinite(model.C)
    return SupportReport(
        here,
        alpha[here],
        slack[here],
        alpha[here] >= bound[here],
        len(y),
        half + (float(bound @ slack) if finite else 0.0),
        float(signed @ y - model.epsilon_ * alpha.sum() - half),
        max(float(lacks.max()), float(exceeds.max()), 0.0),
    )
