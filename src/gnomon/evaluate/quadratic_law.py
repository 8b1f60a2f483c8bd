"""The law of a weighted sum of squared normals, Q = sum_r lambda_r Z_r^2 + c.

Limits of the Cramer-von Mises family of statistics have this law. Pr(Q > x) is Imhof's integral

    1/2 + (1/pi) int_0^inf sin(theta(u)) / (u rho(u)) du,
    theta(u) = (sum_r arctan(lambda_r u) - x u) / 2,   rho(u) = prod_r (1 + lambda_r^2 u^2)^(1/4),

and in the far tail, where the integral cancels, Zolotarev's expansion: the law of the largest
term times prod_{r>1} (1 - lambda_r / lambda_1)^(-1/2).
"""

from __future__ import annotations

import numpy as np
from scipy import integrate, stats

FAR_TAIL = 1e-7


def weighted_chi2_tail(x: float, weights: np.ndarray, constant: float = 0.0) -> float:
    """Pr(sum_r weights_r Z_r^2 + constant > x) for independent standard normal Z_r.

    Parameters
    ----------
    x : float
    weights : ndarray
        Positive, the largest single and first.
    constant : float, default=0.0
        What many small further terms add, taken as their mean.

    Returns
    -------
    p : float
    """
    x = x - constant
    if x <= 0:
        return 1.0
    far = _zolotarev(x, weights)
    return far if far < FAR_TAIL else float(min(0.5 + _imhof(x, weights) / np.pi, 1.0))


def _imhof(x: float, weights: np.ndarray) -> float:
    def integrand(u: float) -> float:
        theta = (np.arctan(weights * u).sum() - x * u) / 2
        log_rho = np.log1p((weights * u) ** 2).sum() / 4
        return np.sin(theta) * np.exp(-log_rho) / u

    total, start, stop = 0.0, 0.0, 2 / weights[0]
    while True:
        part, _ = integrate.quad(integrand, start, stop, limit=500, epsabs=1e-12, epsrel=1e-10)
        total += part
        if np.log1p((weights * stop) ** 2).sum() / 4 > 35:
            return total
        start, stop = stop, 2 * stop


def _zolotarev(x: float, weights: np.ndarray) -> float:
    factor = np.exp(-np.log1p(-weights[1:] / weights[0]).sum() / 2)
    return float(factor * stats.chi2.sf(x / weights[0], 1))
