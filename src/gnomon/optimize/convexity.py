"""Is a function convex? Tests that can refute it, with a counter-example.

A function is convex where its Hessian has no negative eigenvalue anywhere, and where the middle of
every two points is no higher than the mean of their values. Samples can refute, never prove.

Texts: 002 "Convexity" · 003 4.3.1 (its claim that a monotone activation makes the squared error
convex is refuted so: f(w) = (1 - sigmoid(w))^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.optimize import derivatives
from gnomon.optimize.space import as_space


@dataclass(repr=False)
class ConvexityCheck(Result):
    """What samples say of convexity.

    Attributes
    ----------
    convex : bool
        Whether no sample refutes it.
    least_curvature : float
        The smallest eigenvalue of a Hessian seen.
    flattest : ndarray
        Where it was seen.
    counterexample : (ndarray, ndarray, float) or None
        Two points, and by how much their middle lies above the mean of their values.
    n_samples : int
    """

    convex: bool
    least_curvature: float
    flattest: np.ndarray
    counterexample: tuple[np.ndarray, np.ndarray, float] | None
    n_samples: int

    def _title(self) -> str:
        if self.convex:
            return f"no sample of {self.n_samples} refutes that the function is convex"
        return "the function is not convex"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "least curvature": [self.least_curvature],
            "at": [str(self.flattest.round(4).tolist())],
        }

    def _remarks(self) -> list[str]:
        if self.counterexample is None:
            return []
        one, other, above = self.counterexample
        return [
            f"the middle of {one.round(4).tolist()} and {other.round(4).tolist()} lies {above:.4g} "
            "above the mean of their values"
        ]


def check_convexity(
    fun: Callable[[np.ndarray], float],
    bounds: Any,
    *,
    jac: Callable[[np.ndarray], Any] | None = None,
    n_samples: int = 200,
    tol: float = 1e-6,
    random_state: int = 0,
) -> ConvexityCheck:
    """Look for points that refute convexity: negative curvature, or a middle that is too high.

    Parameters
    ----------
    fun : callable
    bounds : sequence of (float, float)
    jac : callable, default=None
    n_samples : int, default=200
    tol : float, default=1e-6
        Relative to the size of curvatures and values: smaller violations are rounding.
    random_state : int, default=0

    Returns
    -------
    check : ConvexityCheck

    Examples
    --------
    >>> check_convexity(lambda x: x @ x, [(-1, 1)] * 2).convex
    True
    >>> check_convexity(lambda x: np.sin(x[0]), [(0, 6)]).convex
    False
    """
    space = as_space(bounds)
    rng = np.random.default_rng(random_state)
    points = [space.sample(rng) for _ in range(n_samples)]
    values = np.array([float(fun(each)) for each in points])
    least, flattest, largest = np.inf, points[0], 0.0
    for point in points[: max(10, n_samples // 4)]:
        curvatures = np.linalg.eigvalsh(derivatives.hessian(fun, point, jac=jac))
        largest = max(largest, float(np.abs(curvatures).max()))
        if curvatures[0] < least:
            least, flattest = float(curvatures[0]), point
    size = float(np.ptp(values)) + 1e-300
    worst: tuple[np.ndarray, np.ndarray, float] | None = None
    for _ in range(n_samples):
        i, j = rng.integers(n_samples, size=2)
        above = float(fun((points[i] + points[j]) / 2)) - (values[i] + values[j]) / 2
        if above > tol * size and (worst is None or above > worst[2]):
            worst = (points[i], points[j], above)
    rough = 1e-3 if jac is None else tol  # second differences are precise to about 1e-7 of values
    curved = least < -rough * max(largest, 1e-12)
    return ConvexityCheck(worst is None and not curved, least, flattest, worst, n_samples)
