"""Quadratic, linear and integer programs.

`quadratic_program` is an own dense primal-dual interior point method (Mehrotra's predictor and
corrector): min x'Px/2 + q'x with Gx <= h, Ax = b and bounds. Each step solves one symmetric system
with P + G'WG. `linprog` and `milp` are SciPy's, which stand on HiGHS, with their ends in words.

Texts: 003 4.4.4 · 004 8.3, 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import blas_for

STEP_SHARE = 0.995  # of the longest step that keeps slacks positive
VIOLATED = 1e-7  # of a constraint; the tolerance of HiGHS
FLAT = 1e-10  # singular values of P and A, relative, below which a direction has no curvature
STATUS = {
    0: "optimal",
    1: "iteration limit reached",
    2: "infeasible: no point keeps all constraints",
    3: "unbounded: the objective falls without end",
    4: "numerical difficulties",
}


@dataclass(repr=False)
class QuadraticProgram(Result):
    """The solution of a quadratic program.

    Attributes
    ----------
    x : ndarray of shape (n,)
    fun : float
        The primal value.
    dual : float
        The dual value; never above ``fun`` at a solution, beyond rounding.
    status : str
        ``"optimal"``, ``"infeasible"``, ``"unbounded"`` or ``"iteration limit"``.
    ineq_multipliers : ndarray of shape (m,)
        Of Gx <= h.
    eq_multipliers : ndarray of shape (p,)
        Of Ax = b.
    lower_multipliers, upper_multipliers : ndarray of shape (n,)
        Of the bounds.
    nit : int
    message : str
    """

    x: np.ndarray
    fun: float
    dual: float
    status: str
    ineq_multipliers: np.ndarray
    eq_multipliers: np.ndarray
    lower_multipliers: np.ndarray
    upper_multipliers: np.ndarray
    nit: int
    message: str

    @property
    def success(self) -> bool:
        """Whether an optimum was found."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """Primal less dual value."""
        return self.fun - self.dual

    def _title(self) -> str:
        return f"quadratic program: {self.message}"

    def _columns(self) -> dict[str, list[Any]]:
        return {"x": self.x.tolist()}


def quadratic_program(
    P: ArrayLike,
    q: ArrayLike,
    G: ArrayLike | None = None,
    h: ArrayLike | None = None,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    lb: ArrayLike | None = None,
    ub: ArrayLike | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> QuadraticProgram:
    """Minimize x'Px/2 + q'x with Gx <= h, Ax = b, lb <= x <= ub, for a convex P.

    Parameters
    ----------
    P : array-like of shape (n, n)
        Symmetric, without negative eigenvalues; zeros give a linear program.
    q : array-like of shape (n,)
    G : array-like of shape (m, n), default=None
    h : array-like of shape (m,), default=None
    A : array-like of shape (p, n), default=None
    b : array-like of shape (p,), default=None
    lb, ub : array-like of shape (n,) or float, default=None
    tol : float, default=1e-10
        On residuals and gap, relative.
    max_iter : int, default=100

    Returns
    -------
    found : QuadraticProgram

    Examples
    --------
    >>> found = quadratic_program([[2, 0], [0, 2]], [0, 0], A=[[1, 1]], b=[1])
    >>> found.x.round(6).tolist(), found.eq_multipliers.round(6).tolist()
    ([0.5, 0.5], [-1.0])
    """
    problem = _Problem.of(P, q, G, h, A, b, lb, ub)
    smallest = float(np.linalg.eigvalsh(problem.P)[0]) if len(problem.P) else 0.0
    if smallest < -1e-9 * max(1.0, float(np.abs(problem.P).max())):
        raise DataError(f"P has the negative eigenvalue {smallest:.3g}: the program is not convex")
    with blas_for(len(problem.q)):
        state, nit, converged = _interior(problem, tol, max_iter)
    if not converged:
        named = _named_end(problem)
        if named is not None:
            return problem.ended(named, state, nit)
    return problem.solution(state, nit, converged)


@dataclass
class _Problem:
    P: np.ndarray
    q: np.ndarray
    G: np.ndarray
    h: np.ndarray
    A: np.ndarray
    b: np.ndarray
    lower: np.ndarray  # indices with a finite bound
    upper: np.ndarray
    lb: np.ndarray
    ub: np.ndarray

    @classmethod
    def of(cls, P, q, G, h, A, b, lb, ub) -> _Problem:
        linear = np.asarray(q, dtype=float).ravel()
        n = len(linear)
        square = np.asarray(P, dtype=float).reshape(n, n) if np.size(P) == n * n else None
        if square is None:
            raise DataError(f"P must be {n} x {n} like q; its shape is {np.shape(P)}")
        G, h = _rows("G", "h", G, h, n)
        A, b = _rows("A", "b", A, b, n)
        low = np.full(n, -np.inf) if lb is None else np.broadcast_to(np.asarray(lb, float), n)
        high = np.full(n, np.inf) if ub is None else np.broadcast_to(np.asarray(ub, float), n)
        for name, each in (("P", square), ("q", linear), ("G", G), ("h", h), ("A", A), ("b", b)):
            if not np.isfinite(each).all():
                raise DataError(f"{name} has values that are not finite")
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            j = int(crossed[0])
            raise DataError(
                f"bounds contradict: lb[{j}] = {low[j]:g} is above ub[{j}] = {high[j]:g}"
            )
        lower, upper = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
        return cls(
            (square + square.T) / 2, linear, G, h, A, b, lower, upper, low[lower], high[upper]
        )

    def limits(self, x: np.ndarray) -> np.ndarray:
        """All inequality rows times x: G, then bounds as -x and x."""
        return np.concatenate([self.G @ x, -x[self.lower], x[self.upper]])

    def right(self) -> np.ndarray:
        return np.concatenate([self.h, -self.lb, self.ub])

    def turned(self, z: np.ndarray) -> np.ndarray:
        """The transposed rows times multipliers."""
        m, k = len(self.h), len(self.h) + len(self.lower)
        total = self.G.T @ z[:m]
        np.subtract.at(total, self.lower, z[m:k])
        np.add.at(total, self.upper, z[k:])
        return total

    def weighted(self, w: np.ndarray) -> np.ndarray:
        """P + rows' W rows."""
        m, k = len(self.h), len(self.h) + len(self.lower)
        total = self.P + (self.G.T * w[:m]) @ self.G
        diagonal = np.zeros(len(self.q))
        np.add.at(diagonal, self.lower, w[m:k])
        np.add.at(diagonal, self.upper, w[k:])
        total[np.diag_indices(len(self.q))] += diagonal
        return total

    def value(self, x: np.ndarray) -> float:
        return float(x @ self.P @ x / 2 + self.q @ x)

    def solution(self, state, nit: int, converged: bool) -> QuadraticProgram:
        x, y, z, _ = state
        m, k = len(self.h), len(self.h) + len(self.lower)
        lower, upper = np.zeros(len(x)), np.zeros(len(x))
        lower[self.lower], upper[self.upper] = z[m:k], z[k:]
        dual = -float(x @ self.P @ x) / 2 - float(self.right() @ z) - float(self.b @ y)
        status = "optimal" if converged else "iteration limit"
        message = f"{status} in {nit} steps, value {self.value(x):.6g}"
        return QuadraticProgram(
            x, self.value(x), dual, status, z[:m], y, lower, upper, nit, message
        )

    def ended(self, status: str, state, nit: int) -> QuadraticProgram:
        found = self.solution(state, nit, False)
        value = np.inf if status == "infeasible" else -np.inf
        why = {
            "infeasible": "no point keeps all constraints",
            "unbounded": "the objective falls without end along a feasible direction",
        }[status]
        nothing = np.full(len(self.q), np.nan)
        found.x, found.fun, found.dual = nothing, value, value
        found.status, found.message = status, f"{status}: {why}"
        return found


def _rows(name: str, right: str, M: Any, v: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if M is None:
        if v is not None:
            raise DataError(f"{right} is given without {name}")
        return np.empty((0, n)), np.empty(0)
    matrix = np.atleast_2d(np.asarray(M, dtype=float))
    if v is None:
        raise DataError(f"{name} is given without {right}")
    values = np.asarray(v, dtype=float).ravel()
    if matrix.shape != (len(values), n):
        raise DataError(f"{name} must be {len(values)} x {n}; it is {matrix.shape}")
    return matrix, values


def _interior(problem: _Problem, tol: float, max_iter: int):
    """Primal-dual steps; the last (x, y, z, s), their number, and whether they converged."""
    n, p, right = len(problem.q), len(problem.b), problem.right()
    m = len(right)
    x, y = np.zeros(n), np.zeros(p)
    solve = _solver(problem, np.ones(m))
    x, y = solve(-problem.q + (problem.turned(right) if m else 0.0), problem.b)
    if m == 0:
        residual = problem.P @ x + problem.q + problem.A.T @ y
        scale = 1 + np.abs(problem.q).max(initial=0.0)
        fits = np.abs(problem.A @ x - problem.b).max(initial=0.0) <= 1e-7 * (1 + np.abs(x).max())
        return (x, y, np.empty(0), np.empty(0)), 1, np.abs(residual).max() <= 1e-7 * scale and fits
    slack = right - problem.limits(x)
    s = np.maximum(slack, max(1.0, float(np.abs(slack).max())) * 0.1)
    z = np.ones(m) * max(1.0, float(np.abs(problem.q).max(initial=0.0)))
    best, best_error = (x, y, z, s), np.inf
    for nit in range(1, max_iter + 1):
        Px = problem.P @ x
        r_dual = Px + problem.q + problem.turned(z) + problem.A.T @ y
        r_eq = problem.A @ x - problem.b
        r_in = problem.limits(x) + s - right
        gap = float(s @ z)
        value = float(x @ Px) / 2 + float(problem.q @ x)
        scale_dual = 1 + max(np.abs(Px).max(), np.abs(problem.q).max())
        scale_primal = 1 + max(np.abs(right).max(), np.abs(problem.b).max(initial=0.0))
        error = max(
            float(np.abs(r_dual).max()) / scale_dual,
            float(np.abs(r_in).max()) / scale_primal,
            float(np.abs(r_eq).max(initial=0.0)) / scale_primal,
            gap / (1 + abs(value)),
        )
        if error < best_error:
            best, best_error = (x, y, z, s), error
        if error <= tol:
            return best, nit, True
        if not np.isfinite(error) or np.abs(x).max() > 1e15 or np.abs(z).max() > 1e18:
            break
        w = z / s
        solve = _solver(problem, w)

        def direction(r_sz: np.ndarray, w=w, r_in=r_in, r_dual=r_dual, r_eq=r_eq, solve=solve, s=s):
            right_x = -r_dual - problem.turned(w * r_in - r_sz / s)
            dx, dy = solve(right_x, -r_eq)
            dz = w * (problem.limits(dx) + r_in) - r_sz / s
            ds = -r_in - problem.limits(dx)
            return dx, dy, dz, ds

        dx, dy, dz, ds = direction(s * z)
        a_s, a_z = _longest(s, ds), _longest(z, dz)
        step = min(a_s, a_z)
        mu = gap / m
        sigma = (float((s + step * ds) @ (z + step * dz)) / gap) ** 3
        dx, dy, dz, ds = direction(s * z + ds * dz - sigma * mu)
        step = min(1.0, STEP_SHARE * min(_longest(s, ds), _longest(z, dz)))
        x, y, z, s = x + step * dx, y + step * dy, z + step * dz, s + step * ds
    return best, nit, best_error <= 1e3 * tol


def _solver(problem: _Problem, w: np.ndarray):
    """Solve [[P + rows'W rows, A'], [A, 0]] with one factor and one refinement."""
    K, A = problem.weighted(w), problem.A
    n, p = len(problem.q), len(problem.b)
    size = max(float(np.abs(np.diag(K)).max(initial=0.0)), 1e-8)
    K[np.diag_indices(n)] += 1e-14 * size + 1e-13
    if p == 0:
        factor = scipy.linalg.cho_factor(K, lower=True, check_finite=False)
        return lambda r, _: (scipy.linalg.cho_solve(factor, r, check_finite=False), np.empty(0))
    whole = np.zeros((n + p, n + p))
    whole[:n, :n], whole[:n, n:], whole[n:, :n] = K, A.T, A
    whole[np.arange(n, n + p), np.arange(n, n + p)] = -1e-13
    lu = scipy.linalg.lu_factor(whole, check_finite=False)

    def solve(r: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = np.concatenate([r, e])
        found = scipy.linalg.lu_solve(lu, both, check_finite=False)
        found += scipy.linalg.lu_solve(lu, both - whole @ found, check_finite=False)
        return found[:n], found[n:]

    return solve


def _longest(values: np.ndarray, steps: np.ndarray) -> float:
    falling = steps < 0
    return min(1.0, float((-values[falling] / steps[falling]).min())) if falling.any() else 1.0


def _named_end(problem: _Problem) -> str | None:
    """Whether the program is infeasible or unbounded, by two linear programs."""
    n = len(problem.q)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    low[problem.lower], high[problem.upper] = problem.lb, problem.ub
    # the least largest violation: simplex methods often cannot tell infeasible programs otherwise
    violation = scipy.optimize.linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([problem.G, -np.ones(len(problem.h))]),
        b_ub=problem.h,
        A_eq=np.column_stack([problem.A, np.zeros(len(problem.b))]),
        b_eq=problem.b,
        bounds=np.column_stack([np.append(low, 0.0), np.append(high, np.inf)]),
    )
    if violation.status == 2 or (violation.status == 0 and violation.fun > VIOLATED):
        return "infeasible"
    # directions without curvature that keep the equalities; as equalities of a linear program they
    # would have to hold to rounding, which presolve refuses for 200 columns
    flat = scipy.linalg.null_space(np.vstack([problem.A, problem.P]), rcond=FLAT)
    keep = np.vstack([problem.G, -np.eye(n)[problem.lower], np.eye(n)[problem.upper]]) @ flat
    if not flat.size:
        return None
    falls = scipy.optimize.linprog(
        problem.q @ flat, A_ub=keep, b_ub=np.zeros(len(keep)), bounds=(-1.0, 1.0)
    )
    return "unbounded" if falls.status == 0 and falls.fun < -1e-9 else None


def linprog(
    c: ArrayLike,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    *,
    integrality: ArrayLike | None = None,
) -> OptimizeResult:
    """A linear program, also with whole numbers, through SciPy's HiGHS.

    Parameters
    ----------
    c : array-like of shape (n,)
        Minimize c'x.
    A_ub, b_ub, A_eq, b_eq : array-like, default=None
        A_ub x <= b_ub and A_eq x = b_eq.
    bounds : sequence of (float, float), default=(0, None)
        As in SciPy.
    integrality : array-like of shape (n,), default=None
        1 for variables that are whole numbers.

    Returns
    -------
    found : scipy.optimize.OptimizeResult
        SciPy's, with the multipliers ``ineqlin.marginals`` and ``eqlin.marginals``; ``message``
        names infeasible and unbounded programs.

    Examples
    --------
    >>> found = linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=[(0, 3), (0, 3)])
    >>> found.x.tolist(), found.message
    ([1.0, 3.0], 'optimal')
    """
    try:
        found = scipy.optimize.linprog(
            c, A_ub, b_ub, A_eq, b_eq, bounds=bounds, method="highs", integrality=integrality
        )
    except ValueError as error:
        raise DataError(f"the linear program cannot be read: {error}") from None
    found.message = STATUS.get(found.status, found.message)
    return found


def milp(
    c: ArrayLike,
    *,
    integrality: ArrayLike | None = None,
    bounds: Any = None,
    constraints: Any = None,
    max_seconds: float | None = None,
) -> OptimizeResult:
    """An integer program through SciPy's HiGHS.

    Parameters
    ----------
    c : array-like of shape (n,)
    integrality : array-like of shape (n,), default=None
        1 for variables that are whole numbers.
    bounds : scipy.optimize.Bounds, default=None
    constraints : sequence of scipy.optimize.LinearConstraint, default=None
    max_seconds : float, default=None

    Returns
    -------
    found : scipy.optimize.OptimizeResult
        With ``mip_gap``; ``message`` names infeasible and unbounded programs.

    Examples
    --------
    >>> from scipy.optimize import Bounds, LinearConstraint
    >>> weights = LinearConstraint([[5, 4, 3]], ub=9)  # a knapsack
    >>> milp([-10, -8, -5], integrality=[1] * 3, bounds=Bounds(0, 1), constraints=weights).fun
    -18.0
    """
    options = {} if max_seconds is None else {"time_limit": max_seconds}
    found = scipy.optimize.milp(
        c, integrality=integrality, bounds=bounds, constraints=constraints, options=options
    )
    found.message = STATUS.get(found.status, found.message)
    return found
