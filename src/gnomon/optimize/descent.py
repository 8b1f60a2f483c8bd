"""Descent along directions: steepest, conjugate gradients, one-step secant, quasi-Newton.

All take x <- x + a d with a step a from a line search and differ in the direction d:

- steepest descent: -g. With exact steps on an ill-conditioned quadratic it zig-zags
- conjugate gradients: -g + beta d, beta by Polak and Ribiere (never below 0) or Fletcher and Reeves
- one-step secant: -g + A s + B y with the last step s and change of gradient y, the direction of
  BFGS without memory: B = s'g / s'y, A = -(1 + y'y / s'y) s'g / s'y + y'g / s'y; O(n) memory
- L-BFGS: the last m pairs (s, y) stand for the Hessian; BFGS keeps the whole matrix

Directions that do not descend are replaced by -g (a restart), which the trace tells.

Texts: 000c 16.4.4 · 004 9.2.1, 9.2.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.engine.quasi_newton import quasi_newton
from gnomon.optimize.gradient_descent import bounded, projected_size
from gnomon.optimize.line_search import SEARCHES, Found
from gnomon.optimize.optimizer import Failed, Optimizer, Run, Search, optimizer

STALLED = 3  # steps in a row without a fall beyond rounding that end a search


class DirectionDescent(Optimizer):
    """Descent with a line search; a class gives ``_direction``."""

    uses = "gradient"
    real_only = True
    line_search: str = "wolfe"
    tol: float
    max_iter: int
    c2: float = 0.9
    first_step_from_last = False

    def _direction(self, gradient: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        return -gradient

    def _search(self, run: Run) -> Search:
        x = run.start()
        value, gradient = yield from run.slope(x)
        run.moved(x, value)
        memory: dict[str, Any] = {"restart": True}
        step, stalled, last_slope = None, 0, -1.0
        for _ in range(self.max_iter):
            if projected_size(run.space, x, gradient) <= self.tol:
                return f"the gradient is below tol ({self.tol:g})"
            d = self._freed(run, x, gradient, self._direction(gradient, memory), memory)
            if step is None:
                step = min(1.0, 1.0 / max(float(np.linalg.norm(gradient)), 1e-300))
            elif self.first_step_from_last:
                step = min(step * last_slope / min(float(gradient @ d), -1e-300), 1e6)
            else:
                step = 1.0
            last_slope = float(gradient @ d)
            found = yield from self._line(run, x, value, gradient, d, step)
            if found.step == 0.0:
                if memory["restart"]:
                    return "no step lowers the function"
                run.change("direction", "conjugate or secant", "-gradient", "no step fell along it")
                memory.clear()
                memory["restart"], step = True, None
                continue
            new = found.gradient
            if new is None:
                _, new = yield from run.slope(found.x)
            memory["restart"] = False
            memory.update(s=found.x - x, y=new - gradient, last=gradient, d=d)
            fell = value - found.value > 1e-15 * max(1.0, abs(value))
            stalled = 0 if fell else stalled + 1
            x, value, gradient, step = found.x, found.value, new, found.step
            run.moved(x, value)
            if stalled == STALLED:
                return "the function no longer falls beyond rounding"
        return Failed(f"used max_iter={self.max_iter} steps")

    def _line(self, run: Run, x: Any, value: float, gradient: Any, d: Any, step: float) -> Any:
        search = SEARCHES[self.line_search]
        if self.line_search == "wolfe":
            return search(run, x, value, gradient, d, step, self.c2)
        return search(run, x, value, gradient, d, step)

    def _freed(self, run: Run, x: Any, gradient: Any, d: Any, memory: dict[str, Any]) -> Any:
        """The direction without parts that push against bounds; -g where it does not descend."""
        space = run.space
        blocked = ((x <= space.low) & (d < 0)) | ((x >= space.high) & (d > 0))
        d = np.where(blocked, 0.0, d)
        if gradient @ d < -1e-14 * np.linalg.norm(gradient) * np.linalg.norm(d):
            return d
        if not memory["restart"]:
            run.change("direction", "conjugate or secant", "-gradient", "it does not descend")
            memory.clear()
            memory["restart"] = True
        d = -gradient
        blocked = ((x <= space.low) & (d < 0)) | ((x >= space.high) & (d > 0))
        return np.where(blocked, 0.0, d)


@optimizer("steepest-descent", "004 9.2.1, 000a 2.1.3")
class SteepestDescent(DirectionDescent):
    """Steepest descent with a line search.

    Parameters
    ----------
    line_search : {"brent", "golden", "newton", "backtracking", "wolfe"}, default="newton"
        "newton" is exact on quadratics.
    tol : float, default=1e-8
    max_iter : int, default=10000

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> fun, jac = lambda x: x[0] ** 2 + 10 * x[1] ** 2, lambda x: np.array([2 * x[0], 20 * x[1]])
    >>> bool(minimize(fun, [10.0, 1.0], SteepestDescent(), jac=jac).fun < 1e-12)
    True
    """

    first_step_from_last = True

    def __init__(self, line_search: str = "newton", *, tol: float = 1e-8, max_iter: int = 10_000):
        if line_search not in SEARCHES:
            raise DataError(f"line_search is one of {tuple(SEARCHES)}, not {line_search!r}")
        self.line_search, self.tol, self.max_iter = line_search, tol, max_iter


@optimizer("conjugate-gradient", "004 9.2.3", "cg")
class ConjugateGradient(DirectionDescent):
    """Non-linear conjugate gradients.

    Parameters
    ----------
    beta : {"polak-ribiere", "fletcher-reeves"}, default="polak-ribiere"
        Polak and Ribiere's, where it is above 0: otherwise the search restarts with -g.
    tol : float, default=1e-8
    max_iter : int, default=10000
    """

    first_step_from_last = True
    c2 = 0.1

    def __init__(self, beta: str = "polak-ribiere", *, tol: float = 1e-8, max_iter: int = 10_000):
        if beta not in ("polak-ribiere", "fletcher-reeves"):
            raise DataError(f"beta is 'polak-ribiere' or 'fletcher-reeves', not {beta!r}")
        self.beta, self.tol, self.max_iter = beta, tol, max_iter

    def _direction(self, gradient: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        if memory["restart"]:
            return -gradient
        last = memory["last"]
        top = gradient @ (gradient - last) if self.beta == "polak-ribiere" else gradient @ gradient
        return -gradient + max(float(top / (last @ last)), 0.0) * memory["d"]


@optimizer("one-step-secant", "004 9.2.3", "oss")
class OneStepSecant(DirectionDescent):
    """One-step secant: BFGS that forgets all but the last step, in O(n) memory.

    Parameters
    ----------
    tol : float, default=1e-8
    max_iter : int, default=10000
    """

    def __init__(self, *, tol: float = 1e-8, max_iter: int = 10_000):
        self.tol, self.max_iter = tol, max_iter

    def _direction(self, gradient: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        if memory["restart"] or not memory["s"] @ memory["y"] > 0:
            return -gradient
        return one_step_secant(gradient, memory["s"], memory["y"])


def one_step_secant(gradient: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The direction -g + A s + B y of the one-step secant method.

    Parameters
    ----------
    gradient, s, y : ndarray of shape (d,)
        The gradient, the last step and the last change of the gradient, with s'y > 0.

    Returns
    -------
    direction : ndarray of shape (d,)
    """
    sy, sg = s @ y, s @ gradient
    a = -(1 + y @ y / sy) * sg / sy + y @ gradient / sy
    return -gradient + a * s + sg / sy * y


@optimizer("l-bfgs", "000c 16.4.4, 004 9.2.3", "l-bfgs-b", "quasi-newton")
class LBFGS(DirectionDescent):
    """Quasi-Newton with the last few steps standing for the Hessian; bounds by projection.

    Parameters
    ----------
    memory : int, default=10
        Steps kept.
    tol : float, default=1e-8
    max_iter : int, default=10000

    Examples
    --------
    >>> from scipy.optimize import rosen, rosen_der
    >>> from gnomon.optimize import minimize
    >>> minimize(rosen, [-1.2, 1.0], "l-bfgs", jac=rosen_der).x.round(6).tolist()
    [1.0, 1.0]
    """

    def __init__(self, memory: int = 10, *, tol: float = 1e-8, max_iter: int = 10_000):
        self.memory, self.tol, self.max_iter = memory, tol, max_iter

    def _direction(self, gradient: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        if memory["restart"]:
            return -gradient
        pairs = memory.setdefault("pairs", [])
        s, y = memory["s"], memory["y"]
        if s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            pairs.append((s, y))
            del pairs[: -self.memory]
        if not pairs:
            return -gradient
        s, y = pairs[-1]
        return -quasi_newton(gradient, float(y @ y / (s @ y)), pairs)


@optimizer("bfgs", "004 9.2.3")
class BFGS(DirectionDescent):
    """Quasi-Newton with the whole inverse Hessian learned from the steps.

    Parameters
    ----------
    tol : float, default=1e-8
    max_iter : int, default=10000
    """

    def __init__(self, *, tol: float = 1e-8, max_iter: int = 10_000):
        self.tol, self.max_iter = tol, max_iter

    def _direction(self, gradient: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        if memory["restart"]:
            return -gradient
        s, y = memory["s"], memory["y"]
        sy = s @ y
        inverse = memory.get("inverse")
        if inverse is None:
            inverse = np.eye(len(s)) * (sy / (y @ y) if sy > 0 else 1.0)
        if sy > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            left = np.eye(len(s)) - np.outer(s, y) / sy
            inverse = left @ inverse @ left.T + np.outer(s, s) / sy
        memory["inverse"] = inverse
        return -inverse @ gradient


@optimizer("newton", "002", "newton-minimize")
class Newton(Optimizer):
    """Newton's method, damped: the step -H^-1 g, halved until the function falls.

    Without damping it can diverge even for convex functions: on sqrt(1 + x^2) from |x| > 1 it
    jumps to -x^3 (002 claims the contrary). Where the Hessian is not positive definite its
    eigenvalues are made so, which turns the step away from saddles and maxima.

    Parameters
    ----------
    tol : float, default=1e-10
    max_iter : int, default=200
    damped : bool, default=True
        False gives the text's method as printed.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> found = minimize(lambda x: np.sqrt(1 + x[0] ** 2), [2.0], Newton())
    >>> bool(abs(found.x[0]) < 1e-5)
    True
    """

    uses = "hessian"
    real_only = True

    def __init__(self, *, tol: float = 1e-10, max_iter: int = 200, damped: bool = True):
        self.tol, self.max_iter, self.damped = tol, max_iter, damped

    def _search(self, run: Run) -> Search:
        x, stalled = run.start(), 0
        for _ in range(self.max_iter):
            value, gradient, hessian = yield from run.curvature(x)
            run.moved(x, value)
            if projected_size(run.space, x, gradient) <= self.tol:
                return f"the gradient is below tol ({self.tol:g})"
            if not np.isfinite(value):
                return Failed("diverges: the value is not finite; use damped=True")
            d, repaired = newton_step(gradient, hessian)
            if repaired:
                run.change(
                    "Hessian", "indefinite", "positive definite", "eigenvalues made positive"
                )
            if not self.damped:
                x = bounded(run.space, x + d)
                continue
            found: Found = yield from SEARCHES["backtracking"](run, x, value, gradient, d)
            if found.step == 0.0:
                return "the function no longer falls beyond rounding"
            if found.step < 1.0:
                run.change("step", 1.0, found.step, "the full Newton step did not fall enough")
            stalled = 0 if value - found.value > 1e-15 * max(1.0, abs(value)) else stalled + 1
            x = found.x
            if stalled == STALLED:
                run.moved(x, found.value)
                return "the function no longer falls beyond rounding"
        return Failed(f"used max_iter={self.max_iter} steps")


def newton_step(gradient: np.ndarray, hessian: np.ndarray) -> tuple[np.ndarray, bool]:
    """-H^-1 g, with H made positive definite where it is not; whether that was needed."""
    try:
        lower = np.linalg.cholesky(hessian)
        half = np.linalg.solve(lower, -gradient)
        step = np.linalg.solve(lower.T, half)
        if np.isfinite(step).all():
            return step, False
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(hessian)
    floor = max(1e-8 * float(np.abs(values).max()), 1e-12)
    lifted = np.maximum(np.abs(values), floor)
    return -vectors @ ((vectors.T @ gradient) / lifted), True


def conjugate_gradient(
    A: Any,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int | None = None,
) -> tuple[np.ndarray, list[float]]:
    """Solve A x = b for a symmetric positive definite A by linear conjugate gradients.

    In exact arithmetic at most as many steps as A has different eigenvalues.

    Parameters
    ----------
    A : array, sparse matrix or callable
        The matrix, or the function v -> A v.
    b : array-like of shape (d,)
    x0 : array-like of shape (d,), default=None
    tol : float, default=1e-10
        Relative to the length of b.
    max_iter : int, default=None
        Twice the dimension by default.

    Returns
    -------
    x : ndarray of shape (d,)
    residuals : list of float
        Length of b - A x before each step and at the end.

    Examples
    --------
    >>> conjugate_gradient(np.array([[4.0, 1], [1, 3]]), [1.0, 2])[0].round(4).tolist()
    [0.0909, 0.6364]
    """
    right = np.asarray(b, dtype=float)
    x = np.zeros_like(right) if x0 is None else np.array(x0, dtype=float)
    apply = A if callable(A) else lambda v: A @ v
    residual = right - apply(x)
    d, squared = residual.copy(), float(residual @ residual)
    lengths = [np.sqrt(squared)]
    limit = tol * max(float(np.linalg.norm(right)), 1e-300)
    for _ in range(2 * len(right) if max_iter is None else max_iter):
        if lengths[-1] <= limit:
            break
        product = apply(d)
        curvature = float(d @ product)
        if curvature <= 0:
            raise DataError(
                f"A is not positive definite: d'Ad = {curvature:.3g} along a search direction"
            )
        step = squared / curvature
        x = x + step * d
        residual = residual - step * product
        new = float(residual @ residual)
        d, squared = residual + new / squared * d, new
        lengths.append(np.sqrt(new))
    return x, lengths


@optimizer("coordinate-descent", "001 8.8.2", "coordinate-ascent")
class CoordinateDescent(Optimizer):
    """One coordinate at a time, by a search on its line or a given closed form.

    Parameters
    ----------
    solve : callable, default=None
        ``solve(x, j)`` gives the best value of coordinate j with the others fixed; by default a
        search by parabolas on values only.
    tol : float, default=1e-9
        Stop when a whole sweep moves no coordinate by more.
    max_iter : int, default=1000
        Sweeps.
    """

    real_only = True

    def __init__(self, solve: Any = None, *, tol: float = 1e-9, max_iter: int = 1000):
        self.solve, self.tol, self.max_iter = solve, tol, max_iter

    def _search(self, run: Run) -> Search:
        x = run.start()
        value = yield from run.value(x)
        run.moved(x, value)
        steps = np.full(len(x), 0.1) * np.maximum(1.0, np.abs(x))
        for _ in range(self.max_iter):
            before = x
            for j in range(len(x)):
                new, found = yield from self._coordinate(run, x, value, j, float(steps[j]))
                if found < value:
                    steps[j] = max(abs(new[j] - x[j]), 1e-12)
                    x, value = new, found
                    run.moved(x, value)
            if np.abs(x - before).max() <= self.tol * np.maximum(1.0, np.abs(x)).max():
                return f"a sweep moved no coordinate by more than tol ({self.tol:g})"
        return Failed(f"used max_iter={self.max_iter} sweeps")

    def _coordinate(self, run: Run, x: np.ndarray, value: float, j: int, step: float) -> Any:
        if self.solve is not None:
            new = x.copy()
            new[j] = self.solve(x, j)
            new = bounded(run.space, new)
            return new, (yield from run.value(new))
        best = Found(0.0, x, value)
        for sign in (1.0, -1.0):
            d = np.zeros_like(x)
            d[j] = sign
            room = run.space.high[j] - x[j] if sign > 0 else x[j] - run.space.low[j]
            if room <= 0:
                continue
            found = yield from SEARCHES["brent"](run, x, value, None, d, step)
            if found.value < best.value:
                best = found
                break
        return best.x, best.value
