"""Minima under constraints: Lagrange multipliers, barriers and interior points, KKT conditions.

Minimize f(x) with g_i(x) <= 0 and h_j(x) = 0.

- Lagrange: Newton's method on grad f + sum nu_j grad h_j = 0, h = 0 in x and nu together
- barrier: f(x) - (1/t) sum ln(-g_i(x)), which keeps x inside; as t grows its minimum nears the
  optimum, and the gap is at most m / t (002 prints the barrier without the minus in its argument)
- interior point: barrier and Newton's method, t times mu until m / t < tol; where the start is not
  inside, a first phase minimizes the largest g
- Karush-Kuhn-Tucker: grad f + sum lambda grad g + sum nu grad h = 0, lambda >= 0, lambda g = 0,
  g <= 0, h = 0. Sufficient for convex problems, necessary only for others

Texts: 001 8.4 · 002 "Constrained optimisation" · 003 4.4.4 · 004 8.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, nnls

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize import derivatives
from gnomon.optimize.descent import newton_step

Function = Callable[[np.ndarray], Any]
ACTIVE = 1e-5  # a constraint this near its limit is active
NEWTON_STEPS = 60  # judgement: far more than centering needs from the last center


@dataclass(repr=False)
class KKTReport(Result):
    """How far a point is from the Karush-Kuhn-Tucker conditions.

    Attributes
    ----------
    stationarity : float
        Length of the gradient of the Lagrangian, relative to 1 + that of f.
    complementarity : float
        Largest |lambda g|.
    primal_feasibility : float
        Largest violation of a constraint.
    dual_feasibility : float
        Largest -lambda.
    ineq_multipliers, eq_multipliers : ndarray
    lagrangian : float
        f + sum lambda g + sum nu h there.
    fun : float
    """

    stationarity: float
    complementarity: float
    primal_feasibility: float
    dual_feasibility: float
    ineq_multipliers: np.ndarray
    eq_multipliers: np.ndarray
    lagrangian: float
    fun: float

    @property
    def residual(self) -> float:
        """The largest of the four violations."""
        return max(
            self.stationarity, self.complementarity, self.primal_feasibility, self.dual_feasibility
        )

    def _title(self) -> str:
        verdict = "hold" if self.residual < 1e-4 else "do not hold"
        return f"the KKT conditions {verdict}: largest violation {self.residual:.2g}"

    def _columns(self) -> dict[str, list[Any]]:
        names = ("stationarity", "complementarity", "primal_feasibility", "dual_feasibility")
        return {"condition": list(names), "violation": [getattr(self, each) for each in names]}


def kkt_report(
    fun: Function,
    x: ArrayLike,
    inequalities: Sequence[Function] = (),
    equalities: Sequence[Function] = (),
    *,
    ineq_multipliers: ArrayLike | None = None,
    eq_multipliers: ArrayLike | None = None,
) -> KKTReport:
    """Check the Karush-Kuhn-Tucker conditions at a point.

    Parameters
    ----------
    fun : callable
    x : array-like of shape (d,)
    inequalities : sequence of callable
        g(x) <= 0.
    equalities : sequence of callable
        h(x) = 0.
    ineq_multipliers, eq_multipliers : array-like, default=None
        The multipliers to check; the best ones for active constraints by default.

    Returns
    -------
    report : KKTReport

    Examples
    --------
    >>> report = kkt_report(lambda x: x[0] + x[1], [-0.5**0.5] * 2, [lambda x: x @ x - 1])
    >>> bool(report.residual < 1e-6), report.ineq_multipliers.round(4).tolist()
    (True, [0.7071])
    """
    at = np.asarray(x, dtype=float)
    g = np.array([float(each(at)) for each in inequalities])
    h = np.array([float(each(at)) for each in equalities])
    slope = derivatives.gradient(fun, at)
    rows = [derivatives.gradient(each, at) for each in (*inequalities, *equalities)]
    n_in = len(g)
    if ineq_multipliers is None and eq_multipliers is None:
        lam, nu = _best_multipliers(slope, rows, g, len(h))
    else:
        lam = np.zeros(n_in) if ineq_multipliers is None else np.ravel(ineq_multipliers)
        nu = np.zeros(len(h)) if eq_multipliers is None else np.ravel(eq_multipliers)
    total = slope + sum(
        (w * row for w, row in zip([*lam, *nu], rows, strict=True)), np.zeros(len(at))
    )
    value = float(fun(at))
    return KKTReport(
        float(np.linalg.norm(total) / (1 + np.linalg.norm(slope))),
        float(np.abs(lam * g).max(initial=0.0)),
        float(max(np.max(g, initial=0.0), np.abs(h).max(initial=0.0), 0.0)),
        float(np.max(-lam, initial=0.0)),
        np.asarray(lam, dtype=float),
        np.asarray(nu, dtype=float),
        value + float(lam @ g) + float(nu @ h),
        value,
    )


def _best_multipliers(slope, rows, g, n_eq: int) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers of active constraints that leave the least gradient; lambda >= 0."""
    active = np.flatnonzero(g > -ACTIVE)
    columns = [rows[k] for k in active]
    columns += [sign * rows[len(g) + k] for k in range(n_eq) for sign in (1.0, -1.0)]
    lam, nu = np.zeros(len(g)), np.zeros(n_eq)
    if columns:
        weights = nnls(np.column_stack(columns), -slope)[0]
        lam[active] = weights[: len(active)]
        pairs = weights[len(active) :].reshape(-1, 2)
        nu = pairs[:, 0] - pairs[:, 1]
    return lam, nu


def lagrange_multipliers(
    fun: Function,
    x0: ArrayLike,
    equalities: Sequence[Function],
    *,
    jac: Function | None = None,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> OptimizeResult:
    """A stationary point under equalities, by Newton's method on the enlarged system.

    Parameters
    ----------
    fun : callable
    x0 : array-like of shape (d,)
    equalities : sequence of callable
        h(x) = 0.
    jac : callable, default=None
        The gradient of the function.
    tol : float, default=1e-9
    max_iter : int, default=100

    Returns
    -------
    found : scipy.optimize.OptimizeResult
        ``x``, ``fun``, ``multipliers`` (of grad f + sum nu grad h = 0), ``kind`` ("minimum",
        "maximum" or "saddle" along the constraints), ``success``, ``nit`` and ``message``.

    Examples
    --------
    >>> found = lagrange_multipliers(lambda x: x @ x, [2.0, 0.0], [lambda x: x[0] + x[1] - 1])
    >>> found.x.round(6).tolist(), found.multipliers.round(6).tolist(), found.kind
    ([0.5, 0.5], [-1.0], 'minimum')
    """
    if not equalities:
        raise DataError("give at least one equality; without any, use minimize")
    x = np.array(x0, dtype=float)
    slope = jac or (lambda at: derivatives.gradient(fun, at))
    first = np.array([derivatives.gradient(each, x) for each in equalities])
    nu = np.linalg.lstsq(first.T, -np.asarray(slope(x), dtype=float), rcond=None)[0]

    def system(at: np.ndarray, nu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.array([derivatives.gradient(each, at) for each in equalities])
        values = np.array([float(each(at)) for each in equalities])
        return np.asarray(slope(at), dtype=float) + rows.T @ nu, values, rows

    def lagrangian(at: np.ndarray, nu: np.ndarray) -> float:
        return float(fun(at)) + sum(w * float(each(at)) for w, each in zip(nu, equalities))

    n, m = len(x), len(equalities)
    ended, nit = False, 0
    left, values, rows = system(x, nu)
    for nit in range(1, max_iter + 1):  # noqa: B007 - its last value is reported
        size = float(np.hypot(np.linalg.norm(left), np.linalg.norm(values)))
        if size <= tol * (1 + np.linalg.norm(x)):
            ended = True
            break
        curved = derivatives.hessian(partial(lagrangian, nu=nu), x)
        whole = np.block([[curved, rows.T], [rows, np.zeros((m, m))]])
        step = np.linalg.lstsq(whole, -np.concatenate([left, values]), rcond=None)[0]
        share = 1.0
        while share > 1e-8:
            trial, trial_nu = x + share * step[:n], nu + share * step[n:]
            next_left, next_values, next_rows = system(trial, trial_nu)
            if np.hypot(np.linalg.norm(next_left), np.linalg.norm(next_values)) < size:
                break
            share /= 2
        else:
            break
        x, nu, left, values, rows = trial, trial_nu, next_left, next_values, next_rows
    precise = float(np.linalg.norm(left) + np.linalg.norm(values)) <= 1e-5 * (1 + np.linalg.norm(x))
    return OptimizeResult(
        x=x, fun=float(fun(x)), multipliers=nu, nit=nit, success=bool(ended or precise),
        kind=_kind_along(rows, derivatives.hessian(lambda at: lagrangian(at, nu), x)),
        message="stationary" if ended or precise else "no stationary point found",
    )  # fmt: skip


def _kind_along(rows: np.ndarray, hessian: np.ndarray) -> str:
    """What the Hessian of the Lagrangian says along the constraints."""
    import scipy.linalg

    free = scipy.linalg.null_space(rows)
    if free.shape[1] == 0:
        return "minimum"
    values = np.linalg.eigvalsh(free.T @ hessian @ free)
    if values[0] > 0:
        return "minimum"
    return "maximum" if values[-1] < 0 else "saddle"


@dataclass(repr=False)
class InteriorPoint(Result):
    """A minimum under inequalities, and the path of the barrier to it.

    Attributes
    ----------
    x : ndarray
    fun : float
    multipliers : ndarray
        1 / (-t g_i): estimates of the Lagrange multipliers.
    gap : float
        m / t, a bound of fun less the optimum for convex problems.
    path : list of (float, ndarray, float)
        t, the minimum with the barrier of t, and f there.
    nit : int
        Newton steps in all.
    success : bool
    message : str
    """

    x: np.ndarray
    fun: float
    multipliers: np.ndarray
    gap: float
    nit: int
    success: bool
    message: str
    path: list[tuple[float, np.ndarray, float]] = field(default_factory=list)

    def _title(self) -> str:
        return f"interior point: {self.fun:.8g}, gap at most {self.gap:.2g} ({self.message})"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "t": [each[0] for each in self.path],
            "fun": [each[2] for each in self.path],
            "x": [str(each[1].round(6).tolist()) for each in self.path],
        }


def log_barrier(g: ArrayLike, t: float = 1.0) -> np.ndarray:
    """-(1/t) ln(-g): the cost of nearing a limit g <= 0; infinite beyond it.

    Parameters
    ----------
    g : array-like
        Values of the constraint.
    t : float, default=1.0

    Returns
    -------
    cost : ndarray

    Examples
    --------
    >>> log_barrier([-1.0, 0.5], 2.0).tolist()
    [-0.0, inf]
    """
    if not t > 0:
        raise DataError(f"t must be above 0, not {t}")
    values = np.asarray(g, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values < 0, -np.log(np.where(values < 0, -values, 1.0)) / t, np.inf)


def interior_point(
    fun: Function,
    x0: ArrayLike,
    inequalities: Sequence[Function],
    *,
    jac: Function | None = None,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    t: float = 1.0,
    mu: float = 10.0,
    tol: float = 1e-8,
) -> InteriorPoint:
    """Minimize under g(x) <= 0 (and Ax = b) by barriers and Newton's method.

    Parameters
    ----------
    fun : callable
    x0 : array-like of shape (d,)
        Where it is not strictly inside, a first phase looks for a point that is.
    inequalities : sequence of callable
        g(x) <= 0.
    jac : callable, default=None
        The gradient of the function.
    A : array-like of shape (p, d), default=None
        Equalities; x0 must keep them.
    b : array-like of shape (p,), default=None
    t : float, default=1.0
        The first weight of the function against the barrier.
    mu : float, default=10.0
        Factor of t.
    tol : float, default=1e-8
        Stop when the gap m / t is smaller.

    Returns
    -------
    found : InteriorPoint

    Examples
    --------
    >>> found = interior_point(lambda x: x[0] + x[1], [0.0, 0.0], [lambda x: x @ x - 1])
    >>> found.x.round(5).tolist()
    [-0.70711, -0.70711]
    """
    if not inequalities:
        raise DataError("give at least one inequality; without any, use minimize")
    x = np.array(x0, dtype=float)
    rows = np.empty((0, len(x))) if A is None else np.atleast_2d(np.asarray(A, dtype=float))
    if len(rows) and np.abs(rows @ x - np.asarray(b, dtype=float)).max() > 1e-8:
        raise DataError("x0 must keep Ax = b")
    steps = 0
    if max(float(each(x)) for each in inequalities) >= 0:
        x, steps = _first_phase(x, inequalities, rows, mu)
    path = []
    m = len(inequalities)
    while True:
        x, used = _centered(fun, jac, x, inequalities, rows, t)
        steps += used
        path.append((t, x.copy(), float(fun(x))))
        if m / t < tol:
            break
        t *= mu
    g = np.array([float(each(x)) for each in inequalities])
    return InteriorPoint(x, float(fun(x)), 1 / (-t * g), m / t, steps, True, "gap below tol", path)


def _first_phase(x, inequalities, rows, mu: float) -> tuple[np.ndarray, int]:
    """A point strictly inside: minimize s with g_i(x) <= s until s < 0."""
    s = max(float(each(x)) for each in inequalities) + 1.0
    wide = np.append(x, s)
    lifted: list[Function] = [partial(_lifted, each) for each in inequalities]
    floor = -1.0 - abs(s)
    lifted.append(lambda v: floor - v[-1])  # s needs no more than to be below 0
    wide_rows = np.hstack([rows, np.zeros((len(rows), 1))])
    t, steps = 1.0, 0
    while t < 1e12:
        wide, used = _centered(lambda v: v[-1], None, wide, lifted, wide_rows, t)
        steps += used
        if max(float(each(wide[:-1])) for each in inequalities) < -1e-10:
            return wide[:-1], steps
        t *= mu
    raise DataError(
        f"no point is strictly inside: the least of the largest constraint is {wide[-1]:.3g}; "
        "the constraints contradict each other or leave no interior"
    )


def _lifted(g: Function, v: np.ndarray) -> float:
    """g(x) - s of the point (x, s)."""
    return float(g(v[:-1])) - float(v[-1])


def _centered(fun, jac, x, inequalities, rows, t: float) -> tuple[np.ndarray, int]:
    """The minimum of t f + barriers by damped Newton steps from inside."""

    def cost(at: np.ndarray) -> float:
        g = np.array([float(each(at)) for each in inequalities])
        if not (g < 0).all():
            return np.inf
        return t * float(fun(at)) - float(np.log(-g).sum())

    steps = 0
    value = cost(x)
    for _ in range(NEWTON_STEPS):
        slope, curved = _barrier_derivatives(fun, jac, x, inequalities, t)
        direction = _newton_along(slope, curved, rows)
        decrement = -float(slope @ direction)
        if decrement <= 1e-10 * max(1.0, abs(value) * 1e-3):
            break
        share = 1.0
        while not cost(x + share * direction) <= value - 1e-4 * share * decrement:
            share /= 2
            if share < 1e-12:
                return x, steps
        x = x + share * direction
        value = cost(x)
        steps += 1
    return x, steps


def _barrier_derivatives(fun, jac, x, inequalities, t: float) -> tuple[np.ndarray, np.ndarray]:
    slope = t * np.asarray(jac(x) if jac else derivatives.gradient(fun, x), dtype=float)
    curved = t * derivatives.hessian(fun, x, jac=jac)
    for each in inequalities:
        g = float(each(x))
        row = derivatives.gradient(each, x)
        slope = slope - row / g
        curved = curved + np.outer(row, row) / g**2 - derivatives.hessian(each, x) / g
    return slope, curved


def _newton_along(slope, curved, rows) -> np.ndarray:
    """The Newton step that keeps Ax; the Hessian is made positive definite where it is not."""
    if not len(rows):
        return newton_step(slope, curved)[0]
    import scipy.linalg

    free = scipy.linalg.null_space(rows)
    if free.shape[1] == 0:
        return np.zeros(len(slope))
    return free @ newton_step(free.T @ slope, free.T @ curved @ free)[0]


def svm_duality_gap(K: ArrayLike, y: ArrayLike, alpha: ArrayLike, C: float = 1.0) -> float:
    """Primal less dual value of a support vector machine with bias, at dual coefficients.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.
    y : array-like of shape (n,)
        Classes as -1 and 1.
    alpha : array-like of shape (n,)
        From 0 to C, with sum(alpha y) = 0.
    C : float, default=1.0

    Returns
    -------
    gap : float
        With the best bias; 0 at the optimum, never below.
    """
    kernel, labels, weights = (np.asarray(each, dtype=float) for each in (K, y, alpha))
    scores = kernel @ (weights * labels)
    size = float((weights * labels) @ scores)
    biases = labels - scores  # the hinge loss is piecewise linear in the bias: a kink is best
    margins = 1 - labels * (scores + biases[:, None])
    loss = float(np.maximum(margins, 0).sum(axis=1).min())
    return size / 2 + C * loss - (float(weights.sum()) - size / 2)


def lasso_duality_gap(X: ArrayLike, y: ArrayLike, coef: ArrayLike, alpha: float) -> float:
    """Primal less dual value of the lasso |y - Xw|^2 / 2n + alpha |w|_1, at coefficients.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    coef : array-like of shape (d,)
    alpha : float

    Returns
    -------
    gap : float
        0 at the optimum, never below.
    """
    rows, target, w = (np.asarray(each, dtype=float) for each in (X, y, coef))
    n = len(target)
    residual = target - rows @ w
    largest = float(np.abs(rows.T @ residual).max(initial=0.0)) / n
    scale = min(1.0, alpha / largest) if largest > 0 else 1.0
    primal = float(residual @ residual) / (2 * n) + alpha * float(np.abs(w).sum())
    point = scale * residual
    dual = float(target @ point) / n - float(point @ point) / (2 * n)
    return primal - dual
