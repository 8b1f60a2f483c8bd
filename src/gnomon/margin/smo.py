"""Sequential minimal optimisation, step by step, to be watched and replayed.

The dual of a soft margin, max sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij with 0 <= a_i <= C and
sum_i a_i y_i = 0, two variables at a time: with v_i = y_i - sum_j a_j y_j K_ij, the pair (i, j)
moves by delta = (v_i - v_j) / (K_ii + K_jj - 2 K_ij), cut to the box, which solves the problem of
the two exactly. It ends when no pair violates the conditions of optimality by more than the
tolerance.

For machines of many rows see `working_set`, of which this is the case of two variables.

Texts: 001 8.8 (which leaves the choice of the pair open).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.margin.hulls import two_sides
from gnomon.margin.smo_kernel import solve_pairs, solve_shrinking

SELECTIONS = ("second_order", "maximal_violation")


@dataclass
class SMORun(Result):
    """A run of sequential minimal optimisation.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
    intercept : float
        The b of f(x) = sum_i a_i y_i k(x_i, x) + b.
    dual_objective : float
    kkt_violation : float
    n_steps : int
    converged : bool
    sign : ndarray of shape (n,)
    bound : ndarray of shape (n,)
    pairs : ndarray of shape (n_kept, 2)
        The pair of each step that was taken down.
    steps : ndarray of shape (n_kept,)
        How far it moved.
    matrix : ndarray of shape (n, n)
        The kernel matrix.
    """

    alpha: np.ndarray
    intercept: float
    dual_objective: float
    kkt_violation: float
    n_steps: int
    converged: bool
    sign: np.ndarray
    bound: np.ndarray
    pairs: np.ndarray
    steps: np.ndarray
    matrix: np.ndarray

    def replay(self) -> Iterator[tuple[tuple[int, int], np.ndarray, float]]:
        """Pair, variables and dual objective after each step that was taken down."""
        alpha = np.zeros(len(self.alpha))
        for (i, j), step in zip(self.pairs, self.steps):
            alpha = alpha.copy()
            alpha[i] = min(max(alpha[i] + self.sign[i] * step, 0.0), self.bound[i])
            alpha[j] = min(max(alpha[j] - self.sign[j] * step, 0.0), self.bound[j])
            yield (int(i), int(j)), alpha, dual_objective(self.matrix, self.sign, alpha)

    def decision(self, similarities: Any) -> np.ndarray:
        """f of new rows, from their kernel values with the training rows."""
        return np.asarray(similarities) @ (self.alpha * self.sign) + self.intercept

    def _title(self) -> str:
        end = "converged" if self.converged else "not converged"
        return f"SMO: {self.n_steps} steps, {end}, dual objective {self.dual_objective:.8g}"

    def _columns(self) -> dict[str, list]:
        return {
            "step": list(range(1, len(self.steps) + 1)),
            "i": self.pairs[:, 0].tolist(),
            "j": self.pairs[:, 1].tolist(),
            "moved": self.steps.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [f"conditions of optimality violated by {self.kkt_violation:.3g}"]


def dual_objective(matrix: np.ndarray, sign: np.ndarray, alpha: np.ndarray) -> float:
    """sum a - 1/2 sum a_i a_j y_i y_j K_ij."""
    signed = alpha * sign
    return float(alpha.sum() - 0.5 * signed @ matrix @ signed)


def smo(
    matrix: Any,
    y: Any,
    C: float = 1.0,
    *,
    selection: str = "second_order",
    shrinking: bool = False,
    tol: float = 1e-3,
    max_iter: int = 10**6,
    keep_steps: int = 1000,
    sample_weight: Any = None,
) -> SMORun:
    """Solve the dual of a two-class machine on a kernel matrix by pairs of variables.

    Use it to see the algorithm; `SVC` does the same on rows, faster and without the whole matrix.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
        Kernel values; a linear machine's is ``X @ X.T``.
    y : array-like of shape (n,)
        Two classes.
    C : float, default=1.0
        Price of slack; infinite for none.
    selection : {"second_order", "maximal_violation"}, default="second_order"
        The partner of the most violating variable: that of greatest gain, or the other end of the
        greatest violation.
    shrinking : bool, default=False
        Whether variables that stand firmly on a bound are set aside; at the end all are looked at.
    tol : float, default=1e-3
        Violation of the conditions of optimality that is let pass; the text's 0.01 to 0.001.
    max_iter : int, default=10**6
    keep_steps : int, default=1000
        Steps that are taken down for `SMORun.replay`; none with shrinking.
    sample_weight : array-like of shape (n,), default=None
        Factors of C.

    Returns
    -------
    run : SMORun

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import smo
    >>> X = np.array([[2.0, 2.0], [0.0, 0.0]])
    >>> run = smo(X @ X.T, [1, -1], C=10.0)
    >>> run.alpha.tolist(), run.intercept, run.n_steps
    ([0.25, 0.25], -1.0, 1)
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    _, sign = two_sides(y)
    n = len(sign)
    if matrix.shape != (n, n):
        raise DataError(f"{n} labels need a kernel matrix of {n} x {n}, not {matrix.shape}")
    if selection not in SELECTIONS:
        raise DataError(f"selection={selection!r} is none of {', '.join(SELECTIONS)}")
    memory.require(24 * keep_steps, f"smo with keep_steps={keep_steps}", "Keep fewer steps.")
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    bound, alpha, values = C * weights, np.zeros(n), sign.copy()
    kept = 0 if shrinking else keep_steps
    pairs, steps = np.zeros((kept, 2), dtype=np.int64), np.zeros(kept)
    second = int(selection == "second_order")
    if shrinking:
        count, gap = solve_shrinking(
            matrix, values, alpha, bound, sign, tol, max_iter, second, min(n, 1000)
        )
    else:
        group = np.zeros(n, dtype=np.int64)
        count, gap = solve_pairs(
            matrix, values, alpha, bound, sign, group, 1, tol, max_iter, second, pairs, steps
        )
    free = (alpha > 0) & (alpha < bound)
    return SMORun(
        alpha,
        _intercept(values, alpha, bound, sign, free),
        dual_objective(matrix, sign, alpha),
        float(gap),
        int(count),
        bool(gap <= tol),
        sign,
        bound,
        pairs[:count],
        steps[:count],
        matrix,
    )


def _intercept(values, alpha, bound, sign, free) -> float:
    if free.any():
        return float(values[free].mean())
    rising = np.where(sign > 0, alpha < bound, alpha > 0)
    falling = np.where(sign > 0, alpha > 0, alpha < bound)
    ends = (values[rising].max(initial=-np.inf), values[falling].min(initial=np.inf))
    known = [float(end) for end in ends if np.isfinite(end)]
    return sum(known) / len(known) if known else 0.0
