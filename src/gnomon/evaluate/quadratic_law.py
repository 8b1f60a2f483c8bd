"""The law of a weighted sum of squared normals, Q = sum_r lambda_r Z_r^2 + constant.

Limits of the Cramer-von Mises family of statistics have this law. With K(s) = ln E exp(s Q),

    Pr(Q > x) = 1/(2 pi i) int exp(K(s) - s x) / s ds,   K(s) = -1/2 sum_r ln(1 - 2 lambda_r s),

along any path that crosses the real line between 0 and 1 / (2 lambda_1); left of 0 the same
integral is Pr(Q > x) - 1. Here the path crosses at the saddle point, right of 0 in the upper tail
and left of it in the lower, and opens to the right as a parabola, on which the integrand falls like
a normal density: the trapezoidal rule then has nearly all digits, in the far tail too, where the
usual integral along the imaginary axis (Imhof) cancels.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

UNDERFLOW = 740.0  # exp(-740) is 4e-322, next to the least number that a float64 holds
# The integrand falls like exp(-v^2 / 2): at 9.5 it is 3e-20; steps of 0.01.
PATH = np.linspace(0.0, 9.5, 951)


def weighted_chi2_tail(x: float, weights: np.ndarray, constant: float = 0.0) -> float:
    """Pr(sum_r weights_r Z_r^2 + constant > x) for independent standard normal Z_r.

    Parameters
    ----------
    x : float
    weights : ndarray
        Positive, the largest first.
    constant : float, default=0.0
        What many small further terms add, taken as their mean.

    Returns
    -------
    p : float

    Examples
    --------
    >>> import numpy as np
    >>> round(weighted_chi2_tail(3.841459, np.array([1.0])), 6)  # chi-square, one degree
    0.05
    """
    x = x - constant
    if x <= 0:
        return 1.0
    edge = 0.5 / weights[0]
    if x * edge > UNDERFLOW:
        return 0.0
    upper = x > weights.sum()
    saddle, scale = _saddle(x, weights, edge, upper)
    # the parabola opens so that exp(-s x) falls like exp(-v^2 / 2)
    path = saddle + 1j * scale * PATH + PATH**2 / (2 * x)
    speed = 1j * scale + PATH / x
    log_mean = -0.5 * np.log1p(-2 * weights[:, None] * path).sum(axis=0)
    values = (np.exp(log_mean - path * x) / path * speed).imag
    step = PATH[1] - PATH[0]
    share = step * (values.sum() - values[0] / 2) / np.pi
    return float(np.clip(share if upper else 1 + share, 0.0, 1.0))


def _saddle(x: float, weights: np.ndarray, edge: float, upper: bool) -> tuple[float, float]:
    """Where K(s) - s x - ln |s| is least on its side of 0, and the integrand's width there."""

    def slope(s: float) -> float:
        return float((weights / (1 - 2 * weights * s)).sum()) - x - 1 / s

    if upper:
        low, high = edge / 2, edge / 2
        while slope(low) > 0:
            low /= 2
        while slope(high) < 0:
            high = edge - (edge - high) / 16
    else:
        low, high = -edge, -edge
        while slope(low) > 0:
            low *= 2
        while slope(high) < 0:
            high /= 2
    saddle = optimize.brentq(slope, low, high, rtol=1e-12) if low < high else low
    curvature = (2 * (weights / (1 - 2 * weights * saddle)) ** 2).sum() + 1 / saddle**2
    return saddle, float(1 / np.sqrt(curvature))
