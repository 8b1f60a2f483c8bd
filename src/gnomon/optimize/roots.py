"""Roots of functions of one number, and all critical points of a function of a few.

Newton's method for roots, x <- x - f(x) / f'(x), doubles the correct digits in each step near a
simple root; a bracket that holds the root keeps it from running away. Critical points are where the
gradient is zero: exactly for polynomials of one variable, by many starts otherwise; they are
classified by the Hessian and compared with the behavior at the borders.

Texts: 002 "Newton's method" · 003 4.1.3 (a single critical point does not make a function convex).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize import derivatives
from gnomon.optimize.linear_algebra import definiteness

# Judgement: a root is missed where less than 2% of the box lead to it; `n_init` sets it.
STARTS = 200


@dataclass(repr=False)
class RootFound(Result):
    """A root, and the steps to it.

    Attributes
    ----------
    root : float
    converged : bool
    steps : list of float
        The iterates.
    residuals : list of float
        The function there.
    bisections : int
        Steps that Newton's method would have taken outside the bracket.
    """

    root: float
    converged: bool
    steps: list[float]
    residuals: list[float]
    bisections: int

    @property
    def correct_digits(self) -> list[float]:
        """Decimal digits that agree with the last iterate, for each step."""
        scale = max(abs(self.root), 1e-300)
        with np.errstate(divide="ignore"):
            return [float(-np.log10(max(abs(x - self.root) / scale, 1e-17))) for x in self.steps]

    def _title(self) -> str:
        how = "converged" if self.converged else "not converged"
        return f"root {self.root:.12g} ({how}, {self.bisections} bisections)"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "step": list(range(len(self.steps))),
            "x": self.steps,
            "f(x)": self.residuals,
            "correct digits": [round(each, 1) for each in self.correct_digits],
        }


def newton_root(
    fun: Callable[[float], float],
    x0: float,
    fprime: Callable[[float], float] | None = None,
    *,
    bracket: tuple[float, float] | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> RootFound:
    """A root by Newton's method, safeguarded by a bracket.

    Parameters
    ----------
    fun : callable
    x0 : float
    fprime : callable, default=None
        The derivative; by central differences otherwise.
    bracket : (float, float), default=None
        Two places where the function has different signs; steps outside are replaced by halving.
    tol : float, default=1e-12
        Stop where \\|f(x)\\| or the relative step is no larger.
    max_iter : int, default=100

    Returns
    -------
    found : RootFound

    Examples
    --------
    >>> [round(x, 7) for x in newton_root(lambda x: x * x - 2, 1.0, lambda x: 2 * x).steps[:5]]
    [1.0, 1.5, 1.4166667, 1.4142157, 1.4142136]
    """
    low, high, f_low = -np.inf, np.inf, 0.0
    if bracket is not None:
        low, high = float(min(bracket)), float(max(bracket))
        f_low, f_high = float(fun(low)), float(fun(high))
        if f_low * f_high > 0:
            raise DataError(
                f"the function has the same sign at both ends: f({low:g}) = {f_low:g}, "
                f"f({high:g}) = {f_high:g}"
            )
    x, steps, residuals, bisections = float(x0), [], [], 0
    converged = False
    for _ in range(max_iter):
        value = float(fun(x))
        steps.append(x)
        residuals.append(value)
        if not np.isfinite(value):
            break
        if abs(value) <= tol:
            converged = True
            break
        if bracket is not None:
            low, high = (x, high) if value * f_low > 0 else (low, x)
        width = derivatives.CENTRAL * max(1.0, abs(x))
        slope = fprime(x) if fprime else (fun(x + width) - fun(x - width)) / (2 * width)
        new = x - value / slope if slope else np.inf
        if bracket is not None and not low <= new <= high:
            new, bisections = (low + high) / 2, bisections + 1
        if not np.isfinite(new):
            break
        if abs(new - x) <= 1e-16 * max(abs(x), 1e-300):
            converged = True
            break
        x = float(new)
    return RootFound(x, converged, steps, residuals, bisections)


@dataclass(repr=False)
class CriticalPoints(Result):
    """Where the gradient of a function is zero.

    Attributes
    ----------
    points : ndarray of shape (k, d)
        Least value first.
    values : ndarray of shape (k,)
    kinds : list of str
        ``"minimum"``, ``"maximum"``, ``"saddle"`` or ``"degenerate"``.
    at_borders : float
        The least value on the borders or, without bounds, far out; -inf where it falls without end.
    exact : bool
        Whether all are known to be found.
    """

    points: np.ndarray
    values: np.ndarray
    kinds: list[str]
    at_borders: float
    exact: bool

    @property
    def global_minimum(self) -> np.ndarray | None:
        """The least critical point; None where the borders are lower."""
        if len(self.points) and self.values[0] <= self.at_borders:
            return self.points[0]
        return None

    def _title(self) -> str:
        n = len(self.points)
        return (
            f"{n} critical point{'' if n == 1 else 's'}, least value at borders {self.at_borders:g}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "point": [str(each.round(6).tolist()) for each in self.points],
            "value": self.values.tolist(),
            "kind": self.kinds,
        }


def critical_points(
    fun: Callable[[np.ndarray], float] | Any,
    bounds: Sequence[tuple[float, float]] | None = None,
    *,
    jac: Callable[[np.ndarray], ArrayLike] | None = None,
    n_init: int = STARTS,
    random_state: int = 0,
) -> CriticalPoints:
    """All critical points: of a polynomial exactly, of other functions from many starts.

    Parameters
    ----------
    fun : callable or numpy.polynomial.Polynomial
        A Polynomial of one variable is solved exactly; a function is of an array of shape (d,).
    bounds : sequence of (float, float), default=None
        Where to look; needed for functions.
    jac : callable, default=None
    n_init : int, default=200
        Starts of root finding on the gradient.
    random_state : int, default=0

    Returns
    -------
    found : CriticalPoints

    Examples
    --------
    >>> found = critical_points(np.polynomial.Polynomial([0, 0, -2, 0, 1]))
    >>> found.points[:, 0].round(6).tolist(), found.kinds
    ([-1.0, 1.0, 0.0], ['minimum', 'minimum', 'maximum'])
    """
    if isinstance(fun, np.polynomial.Polynomial):
        return _of_polynomial(fun, bounds)
    if bounds is None:
        raise DataError("give bounds: where to look for critical points of a function")
    low, high = np.array(bounds, dtype=float).T
    slope = jac or (lambda x: derivatives.gradient(fun, x))
    rng = np.random.default_rng(random_state)
    width = high - low
    found: list[np.ndarray] = []
    for start in low + rng.random((n_init, len(low))) * width:
        answer = root(lambda x: np.asarray(slope(x), dtype=float), start, tol=1e-12)
        x = answer.x
        scale = 1 + np.linalg.norm(np.asarray(slope(start), dtype=float))
        is_zero = np.linalg.norm(np.asarray(slope(x), dtype=float)) <= 1e-7 * scale
        inside = ((x >= low - 1e-9 * width) & (x <= high + 1e-9 * width)).all()
        near = any(np.abs(each - x).max() < 1e-5 * width.max() for each in found)
        if is_zero and inside and not near:
            found.append(x)
    borders = min(float(fun(each)) for each in _border(low, high, rng))
    return _classified(fun, found, jac, borders, exact=False)


def _of_polynomial(poly: Any, bounds: Any) -> CriticalPoints:
    zeros = poly.deriv().roots() if poly.degree() > 1 else np.empty(0)
    real = np.real(zeros[np.abs(np.imag(zeros)) < 1e-7 * (1 + np.abs(zeros))])
    if bounds is not None:
        low, high = np.ravel(bounds)
        real = real[(real >= low) & (real <= high)]
        borders = float(min(poly(low), poly(high)))
    else:
        top = poly.coef[poly.degree()]
        falls = poly.degree() > 0 and (top < 0 or poly.degree() % 2 == 1)
        borders = -np.inf if falls else np.inf
        if poly.degree() == 0:
            borders = float(top)
    return _classified(
        lambda x: float(poly(x[0])), [np.array([each]) for each in real],
        lambda x: np.array([poly.deriv()(x[0])]), borders, exact=True,
    )  # fmt: skip


def _classified(fun: Any, points: Any, jac: Any, borders: float, exact: bool) -> CriticalPoints:
    names = {
        "positive definite": "minimum",
        "negative definite": "maximum",
        "indefinite": "saddle",
    }
    entries = []
    for point in points:
        kind = definiteness(derivatives.hessian(fun, point, jac=jac), tol=1e-5)
        entries.append((float(fun(point)), point, names.get(kind, "degenerate")))
    entries.sort(key=lambda entry: (round(entry[0], 9), entry[1].tolist()))
    n = len(points[0]) if len(points) else 1
    return CriticalPoints(
        np.array([entry[1] for entry in entries]).reshape(-1, n),
        np.array([entry[0] for entry in entries]),
        [entry[2] for entry in entries],
        borders,
        exact,
    )


def _border(low: np.ndarray, high: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Corners (of few dimensions) and random points of the faces of a box."""
    n = len(low)
    rows = low + rng.random((200, n)) * (high - low)
    face = rng.integers(n, size=200)
    rows[np.arange(200), face] = np.where(rng.random(200) < 0.5, low[face], high[face])
    if n <= 10:
        corners = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        rows = np.vstack([rows, low + corners * (high - low)])
    return rows
