"""Information criteria and the counting of parameters.

AIC = 2 k - 2 L and BIC = k log n - 2 L, with L the maximised log-likelihood and k the number of
free parameters; smaller is better. 000b 11.1.2 prints 2 k log n in BIC, but its own table follows
k log n. 002 uses half of this scale. Texts: 000b 11.1.2 · 002 "AIC and BIC", "Degrees of freedom" ·
003 4.2.3.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import finite_column
from gnomon.engine.errors import DataError, GnomonWarning

# Deviance is -2 log L, as AIC is defined; half of it is -log L.
SCALES = {"deviance": 1.0, "half": 0.5}
COVARIANCES = ("none", "spherical", "diagonal", "tied", "full")


def aic(log_likelihood: float, n_parameters: float, scale: str = "deviance") -> float:
    """Akaike's information criterion, 2 k - 2 L: an estimate of prediction, mild on parameters.

    Compare models of the same rows only; the value itself means nothing.

    Parameters
    ----------
    log_likelihood : float
        Maximised, of all rows together.
    n_parameters : float
        Free parameters k. 002 counts mixture components instead, which penalises too little.
    scale : {"deviance", "half"}, default="deviance"
        ``"half"`` is k - L (002).

    Returns
    -------
    aic : float

    Examples
    --------
    >>> aic(-100.0, 3)
    206.0
    """
    return _factor(scale) * float(2 * n_parameters - 2 * log_likelihood)


def bic(log_likelihood: float, n_parameters: float, n_rows: int, scale: str = "deviance") -> float:
    """Bayesian information criterion, k log n - 2 L: finds the true model when n is large.

    Compare models of the same rows only; the value itself means nothing.

    Parameters
    ----------
    log_likelihood : float
        Maximised, of all rows together.
    n_parameters : float
        Free parameters k.
    n_rows : int
    scale : {"deviance", "half"}, default="deviance"
        ``"half"`` is k log(n) / 2 - L (002).

    Returns
    -------
    bic : float

    Examples
    --------
    >>> round(bic(-100.0, 3, 50), 4)
    211.7361
    """
    if n_rows < 1:
        raise DataError(f"n_rows={n_rows} must be at least 1")
    return _factor(scale) * float(n_parameters * np.log(n_rows) - 2 * log_likelihood)


def normal_log_likelihood(residuals: ArrayLike) -> float:
    """Log-likelihood of residuals under the normal law of their own mean square m.

    L = -(n / 2) (log(2 pi m) + 1), as least squares maximises it; m counts as one parameter.

    Parameters
    ----------
    residuals : array-like of shape (n,)

    Returns
    -------
    log_likelihood : float

    Examples
    --------
    >>> round(normal_log_likelihood([1.0, -1.0, 1.0, -1.0]), 4)
    -5.6758
    """
    residuals = finite_column(residuals, "residuals")
    mean_square = float((residuals**2).mean())
    if mean_square == 0:
        raise DataError("all residuals are zero: the likelihood is unbounded")
    return float(-len(residuals) / 2 * (np.log(2 * np.pi * mean_square) + 1))


def gaussian_parameters(n_columns: int, covariance: str = "full") -> int:
    """Free parameters of a normal distribution: d means and d (d + 1) / 2 (co)variances.

    002 prints d (d - 1) / 2 for the covariance, which leaves the variances out.

    Parameters
    ----------
    n_columns : int
    covariance : {"full", "diagonal", "spherical", "none"}, default="full"
        ``"none"``: the covariance is known.

    Returns
    -------
    n_parameters : int

    Examples
    --------
    >>> gaussian_parameters(3), gaussian_parameters(3, "none")
    (9, 3)
    """
    return n_columns + _covariance_parameters(n_columns, covariance)


def mixture_parameters(n_components: int, n_columns: int, covariance: str = "full") -> int:
    """Free parameters of a normal mixture: K - 1 weights and K times those of a component.

    Parameters
    ----------
    n_components : int
    n_columns : int
    covariance : {"full", "tied", "diagonal", "spherical", "none"}, default="full"
        ``"tied"``: one covariance for all components.

    Returns
    -------
    n_parameters : int

    Examples
    --------
    >>> mixture_parameters(3, 2)
    17
    """
    if n_components < 1:
        raise DataError(f"n_components={n_components} must be at least 1")
    shared = 1 if covariance == "tied" else n_components
    spread = _covariance_parameters(n_columns, covariance)
    return n_components - 1 + n_components * n_columns + shared * spread


def effective_parameters(hat: Any) -> float:
    """Effective degrees of freedom of a linear smoother, the trace of its hat matrix.

    Parameters
    ----------
    hat : array-like of shape (n, n) or (n,)
        H of fitted = H y, or its diagonal.

    Returns
    -------
    degrees_of_freedom : float

    Examples
    --------
    >>> effective_parameters([[0.5, 0.5], [0.5, 0.5]])
    1.0
    """
    hat = np.asarray(hat, dtype=np.float64)
    return float(np.trace(hat) if hat.ndim == 2 else hat.sum())


def check_enough_rows(n_rows: int, n_parameters: float) -> bool:
    """Warn where there are fewer rows than parameters: the fit is then not determined (003 4.2.3).

    Parameters
    ----------
    n_rows : int
    n_parameters : float

    Returns
    -------
    enough : bool

    Examples
    --------
    >>> check_enough_rows(100, 3)
    True
    """
    enough = n_rows >= n_parameters
    if not enough:
        warnings.warn(
            f"{n_rows:,} rows cannot determine {n_parameters:,.0f} parameters: many fits are "
            "equally good. Take more rows, fewer columns or a penalty",
            GnomonWarning,
            stacklevel=2,
        )
    return enough


def _covariance_parameters(d: int, covariance: str) -> int:
    if covariance not in COVARIANCES:
        raise DataError(f"covariance={covariance!r} is none of {', '.join(COVARIANCES)}")
    if d < 1:
        raise DataError(f"n_columns={d} must be at least 1")
    whole = d * (d + 1) // 2
    return {"none": 0, "spherical": 1, "diagonal": d, "tied": whole, "full": whole}[covariance]


def _factor(scale: str) -> float:
    if scale not in SCALES:
        raise DataError(f"scale={scale!r} is none of {', '.join(SCALES)}")
    return SCALES[scale]
