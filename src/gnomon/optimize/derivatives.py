"""Numerical derivatives, and the check of a gradient.

Forward differences cost d + 1 values and err by about 1e-8, central ones cost 2 d and err by about
1e-11, the complex step Im f(x + ih) / h is exact to rounding where the function takes complex
numbers.

Texts: 001 6.2 (Jacobian) · 003 4.3.2.1 · 003 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.renamed import former_parameters

KINDS = ("central", "forward", "complex")
# Steps of least error: roots 2, 3 and 4 of the rounding unit; a complex step does not cancel.
FORWARD, CENTRAL, COMPLEX, SECOND = 1.49e-8, 6.055e-6, 1e-100, 1.22e-4


def jacobian(
    fun: Callable[[np.ndarray], ArrayLike], x: ArrayLike, *, kind: str = "central"
) -> np.ndarray:
    """The matrix of first derivatives, one row per output.

    Parameters
    ----------
    fun : callable
        Of an array of shape (d,), with outputs of shape (m,) or a number.
    x : array-like of shape (d,)
    kind : {"central", "forward", "complex"}, default="central"

    Returns
    -------
    jacobian : ndarray of shape (m, d)

    Examples
    --------
    >>> jacobian(lambda x: [x[0] * x[1], x[0] ** 2], [2.0, 3.0]).round(6).tolist()
    [[3.0, 2.0], [4.0, 0.0]]
    """
    if kind not in KINDS:
        raise DataError(f"kind is one of {KINDS}, not {kind!r}")
    at = np.asarray(x, dtype=float)
    if at.ndim != 1 or not np.isfinite(at).all():
        raise DataError("x must be one row of finite numbers")
    size = {"central": CENTRAL, "forward": FORWARD, "complex": COMPLEX}[kind]
    widths = size * np.maximum(1.0, np.abs(at))
    columns = []
    base = np.atleast_1d(np.asarray(fun(at.copy()))) if kind == "forward" else None
    for j, width in enumerate(widths):
        if kind == "complex":
            moved = at.astype(complex)
            moved[j] += 1j * width
            columns.append(np.atleast_1d(np.imag(np.asarray(fun(moved)))) / width)
            continue
        ahead = at.copy()
        ahead[j] += width
        above = np.atleast_1d(np.asarray(fun(ahead), dtype=float))
        if base is not None:
            columns.append((above - base) / (ahead[j] - at[j]))
            continue
        behind = at.copy()
        behind[j] -= width
        below = np.atleast_1d(np.asarray(fun(behind), dtype=float))
        columns.append((above - below) / (ahead[j] - behind[j]))
    return np.array(columns).T.reshape(-1, len(at))


def gradient(
    fun: Callable[[np.ndarray], Any], x: ArrayLike, *, kind: str = "central"
) -> np.ndarray:
    """The gradient of a function of several numbers.

    Parameters
    ----------
    fun : callable
    x : array-like of shape (d,)
    kind : {"central", "forward", "complex"}, default="central"

    Returns
    -------
    gradient : ndarray of shape (d,)

    Examples
    --------
    >>> gradient(lambda x: x[0] ** 3 + x[1], [2.0, 0.0], kind="complex").round(12).tolist()
    [12.0, 1.0]
    """
    found = jacobian(fun, x, kind=kind)
    if len(found) != 1:
        raise DataError(f"the function has {len(found)} outputs; use `jacobian`")
    return found[0]


def hessian(
    fun: Callable[[np.ndarray], Any],
    x: ArrayLike,
    *,
    jac: Callable[[np.ndarray], ArrayLike] | None = None,
) -> np.ndarray:
    """The symmetric matrix of second derivatives.

    Parameters
    ----------
    fun : callable
    x : array-like of shape (d,)
    jac : callable, default=None
        The gradient; central differences of it are far more precise than second differences.

    Returns
    -------
    hessian : ndarray of shape (d, d)

    Examples
    --------
    >>> hessian(lambda x: x[0] ** 2 * x[1], [1.0, 2.0]).round(5).tolist()
    [[4.0, 2.0], [2.0, 0.0]]
    """
    at = np.asarray(x, dtype=float)
    if jac is not None:
        rough = jacobian(jac, at)
        return (rough + rough.T) / 2
    n = len(at)
    steps = np.diag(SECOND * np.maximum(1.0, np.abs(at)))
    found = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            corners = [
                float(fun(at + s * steps[i] + t * steps[j])) for s in (1, -1) for t in (1, -1)
            ]
            top = corners[0] - corners[1] - corners[2] + corners[3]
            found[i, j] = found[j, i] = top / (4 * steps[i, i] * steps[j, j])
    return found


@dataclass(repr=False)
class GradientCheck(Result):
    """A gradient beside finite differences of its function.

    Attributes
    ----------
    given, differences : ndarray
        The gradient, and central differences.
    errors : ndarray
        |given - difference| / max(1, |given|, |difference|).
    tolerance : float
    """

    given: np.ndarray
    differences: np.ndarray
    errors: np.ndarray
    tolerance: float

    @property
    def right(self) -> bool:
        """Whether every entry agrees."""
        return bool((self.errors <= self.tolerance).all())

    def _title(self) -> str:
        wrong = int((~(self.errors <= self.tolerance)).sum())
        verdict = "is right" if self.right else f"is wrong in {wrong} of {len(self.errors)} entries"
        return f"The gradient {verdict}; largest error {np.max(self.errors):.2g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "entry": list(range(len(self.errors))),
            "gradient": self.given.tolist(),
            "difference": self.differences.tolist(),
            "error": self.errors.tolist(),
        }


@former_parameters(tolerance="tol")
def check_gradient(
    function: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], ArrayLike],
    at: ArrayLike,
    *,
    step: float = 1e-5,
    tol: float = 1e-6,
) -> GradientCheck:
    """Verify a gradient by central differences, (f(x + h) - f(x - h)) / 2h, entry by entry.

    Verify every gradient so before trusting it (003 5, 001 8). Not where the function has kinks
    near the place: differences across a kink are not the slope.

    Parameters
    ----------
    function : callable
    gradient : callable
    at : array-like of shape (d,)
    step : float, default=1e-5
        Relative to each entry where that is larger than one.
    tol : float, default=1e-6

    Returns
    -------
    check : GradientCheck

    Examples
    --------
    >>> check_gradient(lambda x: x @ x, lambda x: 2 * x, [1.0, -2.0]).right
    True
    >>> check_gradient(lambda x: x @ x, lambda x: 3 * x, [1.0, -2.0]).right
    False
    """
    place = np.asarray(at, dtype=float)
    if place.ndim != 1 or not len(place) or not np.isfinite(place).all():
        raise DataError("`at` must be one row of finite numbers")
    given = np.asarray(gradient(place.copy()), dtype=float)
    if given.shape != place.shape:
        raise DataError(f"the gradient has shape {given.shape}, the place {place.shape}")
    differences = np.empty_like(place)
    for j in range(len(place)):
        width = step * max(1.0, abs(place[j]))
        above, below = place.copy(), place.copy()
        above[j] += width
        below[j] -= width
        differences[j] = (function(above) - function(below)) / (above[j] - below[j])
    scale = np.maximum(1.0, np.maximum(np.abs(given), np.abs(differences)))
    return GradientCheck(given, differences, np.abs(given - differences) / scale, tol)
