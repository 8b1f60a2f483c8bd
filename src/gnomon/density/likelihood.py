"""Likelihood of residuals: every loss is a noise model, and least squares is the normal one.

With y_i = f(x_i) + e_i and e_i ~ N(0, s_i^2),

    -2 log L = sum_i (y_i - f(x_i))^2 / s_i^2 + constants,

so that the likeliest f is that of least squares (equal s_i) or of the least chi-squared (known
s_i). Laplace noise gives absolute errors, Student's t a loss that outliers cannot dominate.

Texts: 004 5.2 (eqs. 5.6-5.7) · 003 4.4.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import finite_column
from gnomon.engine.errors import DataError

NOISES = ("normal", "laplace", "student")


class ResidualLikelihood(NamedTuple):
    """What residuals say under normal noise.

    Attributes
    ----------
    log_likelihood : float
    chi_squared : float
        sum (r_i / s_i)^2; the plain sum of squares over the variance where s is one number.
    sum_of_squares : float
    constant : float
        log_likelihood + chi_squared / 2: the same for every f, so that both choose one f.
    """

    log_likelihood: float
    chi_squared: float
    sum_of_squares: float
    constant: float


def residual_likelihood(residuals: ArrayLike, sigma: ArrayLike = 1.0) -> ResidualLikelihood:
    """The likelihood of residuals under normal noise, and the sum of squares it stands for.

    Parameters
    ----------
    residuals : array-like of shape (n,)
    sigma : float or array-like of shape (n,), default=1.0
        Known standard deviations of the errors.

    Returns
    -------
    found : ResidualLikelihood

    Examples
    --------
    >>> found = residual_likelihood([1.0, -2.0], [1.0, 2.0])
    >>> found.chi_squared, found.sum_of_squares
    (2.0, 5.0)
    """
    residuals = finite_column(residuals, "residuals")
    sigma = np.broadcast_to(np.asarray(sigma, dtype=np.float64), residuals.shape)
    if not (sigma > 0).all():
        raise DataError("sigma must be greater than zero")
    logs = scipy.stats.norm.logpdf(residuals, 0, sigma).sum()
    chi = float(((residuals / sigma) ** 2).sum())
    squares = float((residuals**2).sum())
    return ResidualLikelihood(float(logs), chi, squares, float(logs + chi / 2))


def noise_loss(
    residuals: ArrayLike, noise: str = "normal", scale: float = 1.0, degrees: float = 4.0
) -> np.ndarray:
    """The loss that a noise model makes: -log p(r) + log p(0), zero at zero.

    Parameters
    ----------
    residuals : array-like
    noise : {"normal", "laplace", "student"}, default="normal"
        r^2 / (2 s^2); abs(r) / s; (v + 1) / 2 log(1 + r^2 / (v s^2)).
    scale : float, default=1.0
    degrees : float, default=4.0
        Of Student's t.

    Returns
    -------
    loss : ndarray

    Examples
    --------
    >>> noise_loss([0.0, 2.0]), noise_loss([0.0, 2.0], "laplace")
    (array([0., 2.]), array([0., 2.]))
    """
    r = np.asarray(residuals, dtype=np.float64) / scale
    if noise == "normal":
        return r**2 / 2
    if noise == "laplace":
        return np.abs(r)
    if noise == "student":
        return (degrees + 1) / 2 * np.log1p(r**2 / degrees)
    raise DataError(f"noise={noise!r} is none of {', '.join(NOISES)}")
