"""Search along a line: the step a > 0 that lowers phi(a) = f(x + a d) along a descent direction.

Exact searches find the minimum on the line: golden section shrinks a bracket by 0.618 with one new
value; Brent's method adds parabolas; Newton's uses slopes. Inexact ones take the first step that is
good enough: Armijo's falls by a share c1 of what the slope promises; Wolfe's conditions also ask
for a flatter slope, |phi'(a)| <= c2 |phi'(0)|.

Texts: 000b 12.2.2, 12.2.6 · 004 9.2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Answer, Request, Run
from gnomon.optimize.space import Space
from gnomon.optimize.trace import Trace

GOLDEN = (np.sqrt(5) - 1) / 2  # the golden section, 0.618
C1, C2 = 1e-4, 0.9  # Armijo's and Wolfe's shares, as in all the literature
MOST_STEPS = 60  # 60 halvings reach the rounding of the step
KINDS = ("golden", "brent", "newton", "backtracking", "wolfe")

Line = Generator[Request, Answer, "Found"]


@dataclass
class Found:
    """A step, and what is known at its end."""

    step: float
    x: np.ndarray
    value: float
    gradient: np.ndarray | None = None


def _limit(space: Space, x: np.ndarray, d: np.ndarray) -> float:
    """The longest step that stays within bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(d > 0, (space.high - x) / d, np.where(d < 0, (space.low - x) / d, np.inf))
    return float(np.min(far))


def backtracking(
    run: Run,
    x: np.ndarray,
    value: float,
    gradient: np.ndarray,
    d: np.ndarray,
    step: float = 1.0,
    shrink: float = 0.5,
) -> Line:
    """The first of step, step * shrink, ... that falls by Armijo's share."""
    slope = descent_slope(gradient, d)
    step = min(step, _limit(run.space, x, d))
    for _ in range(MOST_STEPS):
        trial = x + step * d
        new = yield from run.value(trial)
        if new <= value + C1 * step * slope:
            return Found(step, trial, new)
        step *= shrink
    return Found(0.0, x, value, gradient)


def wolfe(
    run: Run,
    x: np.ndarray,
    value: float,
    gradient: np.ndarray,
    d: np.ndarray,
    step: float = 1.0,
    c2: float = C2,
) -> Line:
    """A step with the strong Wolfe conditions: bracket, then shrink by cubic interpolation."""
    slope_0 = descent_slope(gradient, d)
    most = _limit(run.space, x, d)
    low = Found(0.0, x, value, gradient)
    slope_low, high, slope_high = slope_0, None, 0.0
    step = min(step, most)
    for _ in range(MOST_STEPS):
        trial = x + step * d
        new, new_gradient = yield from run.slope(trial)
        found, slope = Found(step, trial, new, new_gradient), float(new_gradient @ d)
        failed = not np.isfinite(new) or new > value + C1 * step * slope_0
        if failed or ((low.step > 0 or high is not None) and new >= low.value):
            high, slope_high = found, slope
        elif abs(slope) <= c2 * abs(slope_0) or step >= most:
            return found
        else:
            width = 1.0 if high is None else high.step - low.step
            if slope * width >= 0:
                high, slope_high = low, slope_low
            low, slope_low = found, slope
        if high is None:
            step = min(2.5 * low.step, most)
        else:
            step = _cubic(low, slope_low, high, slope_high)
            if abs(high.step - low.step) <= 1e-14 * max(high.step, low.step):
                break
    return low


def _cubic(low: Found, slope_low: float, high: Found, slope_high: float) -> float:
    """The minimum of the cubic through two values and slopes, kept inside the bracket."""
    left, right = min(low.step, high.step), max(low.step, high.step)
    width = high.step - low.step
    middle = (left + right) / 2
    if not np.isfinite(high.value) or not np.isfinite(slope_high):
        return low.step + 0.1 * width
    a = slope_low + slope_high - 3 * (high.value - low.value) / width
    under = a * a - slope_low * slope_high
    if under < 0:
        return middle
    root = np.sign(width) * np.sqrt(under)
    divisor = slope_high - slope_low + 2 * root
    if divisor == 0:
        return middle
    step = high.step - width * (slope_high + root - a) / divisor
    margin = 0.1 * (right - left)
    return float(step) if left + margin <= step <= right - margin else middle


def golden(
    run: Run,
    x: np.ndarray,
    value: float,
    gradient: np.ndarray | None,
    d: np.ndarray,
    step: float = 1.0,
    tol: float = 1e-8,
) -> Line:
    """The minimum on the line by golden section, after a bracket by doubling."""
    most = _limit(run.space, x, d)
    a, c, best = yield from _bracket(run, x, value, d, step, most)
    left, right = c - GOLDEN * (c - a), a + GOLDEN * (c - a)
    f_left = yield from run.value(x + left * d)
    f_right = yield from run.value(x + right * d)
    while c - a > tol * max(1.0, abs(a)):
        if f_left < f_right:
            c, right, f_right = right, left, f_left
            left = c - GOLDEN * (c - a)
            f_left = yield from run.value(x + left * d)
        else:
            a, left, f_left = left, right, f_right
            right = a + GOLDEN * (c - a)
            f_right = yield from run.value(x + right * d)
    for at, found in ((left, f_left), (right, f_right)):
        if found < best.value:
            best = Found(at, x + at * d, found)
    return best


def brent(
    run: Run,
    x: np.ndarray,
    value: float,
    gradient: np.ndarray | None,
    d: np.ndarray,
    step: float = 1.0,
    tol: float = 1e-9,
) -> Line:
    """The minimum on the line by parabolas through three points, with golden section to fall back.

    Brent's method (1973), after a bracket by doubling.
    """
    most = _limit(run.space, x, d)
    a, c, best = yield from _bracket(run, x, value, d, step, most)
    at = second = third = best.step
    f_at = f_second = f_third = best.value
    moved = before = c - a
    for _ in range(2 * MOST_STEPS):
        middle, eps = (a + c) / 2, tol * abs(at) + 1e-12
        if abs(at - middle) <= 2 * eps - (c - a) / 2:
            break
        jump = _parabola(at, f_at, second, f_second, third, f_third)
        inside = a < at + jump < c and abs(jump) < abs(before) / 2
        before = moved
        if not inside:
            before = (c if at < middle else a) - at
            jump = (1 - GOLDEN) * before
        moved = jump
        trial = at + (jump if abs(jump) >= eps else np.copysign(eps, jump))
        f_trial = yield from run.value(x + trial * d)
        if f_trial <= f_at:
            a, c = (at, c) if trial >= at else (a, at)
            third, f_third, second, f_second, at, f_at = second, f_second, at, f_at, trial, f_trial
        else:
            a, c = (trial, c) if trial < at else (a, trial)
            if f_trial <= f_second or second == at:
                third, f_third, second, f_second = second, f_second, trial, f_trial
            elif f_trial <= f_third or third in (at, second):
                third, f_third = trial, f_trial
    return Found(at, x + at * d, f_at) if f_at < value else Found(0.0, x, value, gradient)


def _parabola(at: float, f: float, v: float, f_v: float, w: float, f_w: float) -> float:
    """From ``at`` to the least point of the parabola through three points; inf where none."""
    r, q = (at - v) * (f - f_w), (at - w) * (f - f_v)
    top, bottom = (at - w) * q - (at - v) * r, 2 * (q - r)
    return -top / bottom if bottom != 0 else np.inf


def newton(
    run: Run,
    x: np.ndarray,
    value: float,
    gradient: np.ndarray,
    d: np.ndarray,
    step: float = 1.0,
    tol: float = 1e-10,
) -> Line:
    """The minimum on the line by secants of the slope (Newton on phi'), within a bracket."""
    slope_0 = descent_slope(gradient, d)
    most = _limit(run.space, x, d)
    best = Found(0.0, x, value, gradient)
    a, slope_a, c, at = 0.0, slope_0, np.inf, min(step, most)
    for _ in range(MOST_STEPS):
        new, new_gradient = yield from run.slope(x + at * d)
        slope = float(new_gradient @ d)
        if new < best.value:
            best = Found(at, x + at * d, new, new_gradient)
        if abs(slope) <= tol * abs(slope_0) or (at >= most and slope < 0):
            break
        secant = at - slope * (at - a) / (slope - slope_a) if slope != slope_a else np.inf
        if slope < 0 and new <= value:
            a, slope_a = at, slope
        else:
            c = at
        if not a < secant < min(c, most):
            secant = (a + c) / 2 if np.isfinite(c) else min(2 * at, most)
        if secant == at:
            break
        at = secant
    return best


def _bracket(
    run: Run, x: np.ndarray, value: float, d: np.ndarray, step: float, most: float
) -> Generator[Request, Answer, tuple[float, float, Found]]:
    """Steps (a, c) around a minimum, and the best step seen between."""
    step = min(step, most)
    best, a = Found(0.0, x, value), 0.0
    trial = yield from run.value(x + step * d)
    while not trial < value:
        step /= 2
        if step < 1e-15:
            return 0.0, 2 * step, best
        trial = yield from run.value(x + step * d)
        if trial < value:
            return 0.0, 2 * step, Found(step, x + step * d, trial)
    for _ in range(MOST_STEPS):
        best = Found(step, x + step * d, trial)
        further = min(2 * step, most)
        if further <= step:
            return a, step, best
        new = yield from run.value(x + further * d)
        if not new < trial:
            return a, further, best
        a, step, trial = step, further, new
    raise DataError(f"the function falls without end along {d!r}: it is unbounded below")


SEARCHES: dict[str, Callable[..., Line]] = {
    "golden": golden,
    "brent": brent,
    "newton": newton,
    "backtracking": backtracking,
    "wolfe": wolfe,
}


def descent_slope(gradient: np.ndarray, d: np.ndarray) -> float:
    """The slope along a direction, or an error where it does not descend."""
    slope = float(gradient @ d)
    if not slope < 0:
        raise DataError(
            f"the direction does not descend: its product with the gradient is {slope:.3g}; "
            "reverse it or take minus the gradient"
        )
    return slope


@dataclass(repr=False)
class LineSearchResult(Result):
    """The step that a line search found.

    Attributes
    ----------
    step : float
    x : ndarray
    fun : float
    nfev : int
    """

    step: float
    x: np.ndarray
    fun: float
    nfev: int

    def _title(self) -> str:
        return f"step {self.step:.6g} to the value {self.fun:.6g} in {self.nfev} evaluations"

    def _columns(self) -> dict[str, list[Any]]:
        return {"x": np.asarray(self.x).tolist()}


def line_search(
    fun: Callable[[np.ndarray], float],
    x: ArrayLike,
    direction: ArrayLike,
    *,
    jac: Callable[[np.ndarray], ArrayLike] | None = None,
    kind: str = "wolfe",
    step: float = 1.0,
) -> LineSearchResult:
    """The step along a descent direction, by one of the searches of this module.

    Parameters
    ----------
    fun : callable
    x : array-like of shape (d,)
    direction : array-like of shape (d,)
        Must descend: a direction that does not is refused.
    jac : callable, default=None
        The gradient; by central differences otherwise.
    kind : {"wolfe", "backtracking", "golden", "brent", "newton"}, default="wolfe"
    step : float, default=1.0
        The first step tried.

    Returns
    -------
    found : LineSearchResult

    Examples
    --------
    >>> found = line_search(lambda x: (x[0] - 3) ** 2, [0.0], [1.0], kind="brent")
    >>> round(found.step, 6)
    3.0
    """
    if kind not in SEARCHES:
        raise DataError(f"kind is one of {KINDS}, not {kind!r}")
    at, d = np.asarray(x, dtype=float), np.asarray(direction, dtype=float)
    space = Space([(-np.inf, np.inf)] * len(at))
    run = Run(space, Trace("line search", 0, space), at, frozenset({"gradient"} if jac else ()))

    def whole() -> Line:
        value, gradient = yield from run.slope(at)
        descent_slope(gradient, d)
        return (yield from SEARCHES[kind](run, at, value, gradient, d, step))

    found, count = solved(whole(), fun, jac)
    return LineSearchResult(float(found.step), found.x, float(found.value), count)


def solved(
    search: Generator[Request, Answer, Any],
    fun: Callable[[np.ndarray], float],
    jac: Callable[[np.ndarray], ArrayLike] | None = None,
) -> tuple[Any, int]:
    """Run a generator of requests on a function; what it returns, and the evaluations."""
    answer, count = None, 0
    while True:
        try:
            request = next(search) if answer is None else search.send(answer)
        except StopIteration as end:
            return end.value, count
        values = np.array([float(fun(point)) for point in request.points])
        count += len(values)
        gradients = None
        if request.want == "gradient" and jac is not None:
            gradients = [np.asarray(jac(point), dtype=float) for point in request.points]
        answer = Answer(values, gradients)
