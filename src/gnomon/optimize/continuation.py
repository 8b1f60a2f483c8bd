"""Continuation: minimize an easy version of a function, then less and less easy ones.

``fun(x, t)`` has a parameter of smoothing or weight; each value of t starts from the minimum of the
one before. Deterministic annealing is the case where t is a temperature. The trace tells each
change of t.

Texts: 004 17.1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult

from gnomon.engine.errors import DataError
from gnomon.optimize.minimize import minimize


def continuation(
    fun: Callable[[np.ndarray, float], float],
    x0: ArrayLike,
    schedule: Sequence[float],
    *,
    jac: Callable[[np.ndarray, float], ArrayLike] | None = None,
    method: str = "l-bfgs",
    max_evaluations: int = 1000,
    random_state: int = 0,
) -> OptimizeResult:
    """Minimize fun(x, t) for each t of a schedule, each from the minimum of the last.

    Parameters
    ----------
    fun : callable
        Of (x, t).
    x0 : array-like of shape (d,)
    schedule : sequence of float
        The values of t, the easiest first.
    jac : callable, default=None
        The gradient, of (x, t).
    method : str, default="l-bfgs"
    max_evaluations : int, default=1000
        For each t.
    random_state : int, default=0

    Returns
    -------
    found : scipy.optimize.OptimizeResult
        That of the last t, with ``path``: (t, x, fun) of each, and ``nfev`` of all.

    Examples
    --------
    >>> bumpy = lambda x, t: x[0] ** 2 + (1 - t) * 3 * np.sin(5 * x[0])
    >>> direct = continuation(bumpy, [3.0], [0.0])
    >>> smooth = continuation(bumpy, [3.0], np.linspace(1, 0, 6))
    >>> bool(smooth.fun < direct.fun)
    True
    """
    values = [float(t) for t in schedule]
    if not values:
        raise DataError("the schedule is empty: give at least one value of t")
    x, path, total = np.array(x0, dtype=float), [], 0
    found: Any = None
    for t in values:
        slope = None if jac is None else (lambda at, t=t: np.asarray(jac(at, t), dtype=float))
        found = minimize(
            lambda at, t=t: fun(at, t),
            x,
            method,
            jac=slope,
            max_evaluations=max_evaluations,
            random_state=random_state,
        )
        x = found.x
        total += found.nfev
        path.append((t, x.copy(), float(found.fun)))
    found.path, found.nfev = path, total
    return found
