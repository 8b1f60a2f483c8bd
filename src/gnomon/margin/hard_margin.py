"""The hard margin: the plane of the widest margin between two classes that a plane separates.

    primal   min 1/2 |w|^2,  y_i (w . x_i + b) >= 1
    dual     max sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j x_i . x_j,  a >= 0, sum_i a_i y_i = 0

with w = sum_i a_i y_i x_i, a_i > 0 on the margin only, and a margin of 1 / |w| on either side. The
primal is solved over the few rows that are near: a small quadratic programme, to which the row that
violates it most is added until none does.

Texts: 001 8.3, 8.5 (8.3 prints max for min) · 002 L717-817 · 004 10.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.margin.hulls import two_sides
from gnomon.margin.hyperplane import Hyperplane
from gnomon.margin.kernels import Linear, as_rows
from gnomon.margin.separability import separability
from gnomon.margin.working_set import Programme, solve

ROUNDS = 500  # judgement: far above usual rounds, against cycles by rounding


@dataclass
class HardMargin(Result):
    """The plane of widest margin, with what proves it.

    Attributes
    ----------
    plane : Hyperplane
        Canonical: y (w . x + b) = 1 at the support vectors.
    classes : ndarray of shape (2,)
    alpha : ndarray of shape (n,)
        The dual variables.
    margin : float
        1 / |w|, the distance of the nearest rows from the plane.
    primal_objective, dual_objective : float
        Equal at the optimum.
    kkt_violation : float
        Greatest of: 1 - y f(x), a (y f(x) - 1), |sum a y|, |w - sum a y x|.
    """

    plane: Hyperplane
    classes: np.ndarray
    alpha: np.ndarray
    margin: float
    primal_objective: float
    dual_objective: float
    kkt_violation: float

    @property
    def support(self) -> np.ndarray:
        """Positions of the support vectors."""
        return np.flatnonzero(self.alpha > 1e-8 * self.alpha.max())

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self.classes[(self.plane.score(X) >= 0).astype(np.int64)]

    def _title(self) -> str:
        return f"Hard margin {self.margin:.6g}, {len(self.support)} support vectors"

    def _columns(self) -> dict[str, list]:
        return {"row": self.support.tolist(), "alpha": self.alpha[self.support].tolist()}

    def _remarks(self) -> list[str]:
        return [
            f"primal {self.primal_objective:.8g}, dual {self.dual_objective:.8g}; conditions of "
            f"optimality violated by {self.kkt_violation:.2g}"
        ]


def hard_margin(X: Any, y: Any, *, form: str = "dual") -> HardMargin:
    """The plane of widest margin between two classes that a plane separates.

    An error says so where none does; use `SVC` or `LinearSVC` then. A few rows decide the plane,
    so that small changes of them move it. Texts: 001 8.3, 8.5 · 002 L717-817 · 004 10.1.1.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes; the second in order is the positive one.
    form : {"dual", "primal"}, default="dual"
        Which of the two programmes is solved.

    Returns
    -------
    margin : HardMargin

    Examples
    --------
    >>> from gnomon.margin import hard_margin
    >>> X = [[2, 2], [3, 3], [2, 3], [0, 0], [-1, 0], [0, -1]]
    >>> found = hard_margin(X, [1, 1, 1, 0, 0, 0])
    >>> found.plane.normal.round(6).tolist(), round(found.plane.intercept, 6)
    ([0.5, 0.5], -1.0)
    """
    X = as_rows(X)
    classes, sign = two_sides(y)
    if form not in ("dual", "primal"):
        raise DataError(f"form={form!r} is none of dual, primal")
    answer = separability(X, sign)
    if not answer.separable:
        raise DataError(
            "no plane separates the two classes, so that there is no hard margin: their hulls have "
            f"the point {np.array2string(answer.common_point, precision=4)} in common. Use a "
            "machine with slack (SVC, LinearSVC)"
            if answer.common_point is not None
            else "no plane separates the two classes with a margin; use SVC or LinearSVC"
        )
    center = X.mean(axis=0)
    scale = float(np.abs(X - center).max())
    unit = (X - center) / scale
    found = _dual(unit, sign) if form == "dual" else _primal(unit, sign, answer.plane)
    alpha, normal, intercept = found
    # from the scaled rows back to those given
    normal, alpha = normal / scale, alpha / scale**2
    intercept = intercept - float(normal @ center)
    plane = Hyperplane(normal, intercept)
    functional = sign * plane.score(X)
    combined = (alpha * sign) @ X
    size = float(normal @ normal)
    violation = max(
        float((1 - functional).max()),
        float((alpha * (functional - 1)).max()),
        abs(float(alpha @ sign)),
        float(np.abs(combined - normal).max()),
    )
    dual = float(alpha.sum() - combined @ combined / 2)
    return HardMargin(plane, classes, alpha, 1 / size**0.5, size / 2, dual, max(violation, 0.0))


def _dual(unit: np.ndarray, sign: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    programme = Programme.simple(sign, -np.ones(len(sign)), np.full(len(sign), np.inf))
    solution = solve(programme, Linear(), unit, tol=1e-9, max_steps=10**7)
    if not solution.converged:
        raise DataError(
            f"the dual of the hard margin has not converged (violation {solution.gap:.3g}): the "
            "classes nearly touch. Use form='primal', or a machine with slack"
        )
    return solution.alpha, (solution.alpha * sign) @ unit, solution.offsets[0]


def _primal(unit: np.ndarray, sign: np.ndarray, plane: Any) -> tuple[np.ndarray, np.ndarray, float]:
    n, d = unit.shape
    rows = np.column_stack([unit, np.ones(n)]) * sign[:, None]
    z = np.zeros(d + 1)
    # two rows begin: the nearest pair along the separating plane
    scores = unit @ plane.normal
    used = [
        int(np.flatnonzero(sign > 0)[scores[sign > 0].argmin()]),
        int(np.flatnonzero(sign < 0)[scores[sign < 0].argmax()]),
    ]
    for _ in range(ROUNDS):
        here = rows[used]
        found = minimize(
            lambda z: 0.5 * z[:d] @ z[:d],
            z,
            jac=lambda z: np.append(z[:d], 0.0),
            constraints={
                "type": "ineq",
                "fun": lambda z, here=here: here @ z - 1,
                "jac": lambda z, here=here: here,
            },
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        z = found.x
        room = rows @ z
        worst = int(room.argmin())
        if room[worst] >= 1 - 1e-9 or worst in used:
            break
        used.append(worst)
    near = np.flatnonzero(rows @ z <= 1 + 1e-6)
    weights, _ = nnls(rows[near].T, np.append(z[:d], 0.0))
    alpha = np.zeros(n)
    alpha[near] = weights
    return alpha, z[:d], float(z[d])
