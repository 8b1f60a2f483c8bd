"""The degree of a polynomial by goodness of fit, where the errors of measurement are known.

Each degree is fitted by weighted least squares, c = argmin sum ((y_i - f(x_i; c)) / sigma_i)^2, and
has its Q = Pr(chi2_nu >= chi2) with nu = n - (degree + 1). The degree of the largest Q is taken: a
higher degree always has the smaller chi2, but may have the smaller Q too.

Texts: 004 5.1 and 5.2.1 (its "chi2 near 1" lacks the division by nu; degree + 1 parameters).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import finite_column, float_array
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.evaluate.number_measures import (
    DOUBTFUL,
    SURELY_WRONG,
    GoodnessOfFit,
    goodness_of_fit,
)


@dataclass(frozen=True, repr=False, eq=False)
class DegreeChoice(Result):
    """Polynomials of several degrees with their goodness of fit.

    Attributes
    ----------
    degrees : list of int
    coefficients : list of ndarray
        The constant first.
    covariances : list of ndarray
        Of the coefficients, (A'A)^-1.
    fits : list of GoodnessOfFit
    """

    degrees: list[int]
    coefficients: list[np.ndarray]
    covariances: list[np.ndarray]
    fits: list[GoodnessOfFit]

    @property
    def best(self) -> int:
        """The degree of the largest Q."""
        return self.degrees[self._place]

    @property
    def coef(self) -> np.ndarray:
        """Coefficients of the chosen polynomial, the constant first."""
        return self.coefficients[self._place]

    @property
    def coef_error(self) -> np.ndarray:
        """Their standard errors, from the stated errors of measurement."""
        return np.sqrt(np.diag(self.covariances[self._place]))

    @property
    def _place(self) -> int:
        return int(np.argmax([fit.q for fit in self.fits]))

    def _title(self) -> str:
        best = self.fits[self._place]
        return f"Degree {self.best} agrees best with the stated errors ({p_text(best.q)})"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "degree": self.degrees,
            "chi2": [fit.chi2 for fit in self.fits],
            "nu": [fit.degrees_of_freedom for fit in self.fits],
            "chi2 / nu": [fit.per_degree for fit in self.fits],
            "Q": [fit.q for fit in self.fits],
        }

    def _remarks(self) -> list[str]:
        best = self.fits[self._place]
        if best.q < SURELY_WRONG:
            return [f"no degree agrees with the data: {best.verdict}"]
        if best.q < DOUBTFUL:
            return [f"the agreement of the best degree is {best.verdict}"]
        return []


def choose_degree(
    x: ArrayLike, y: ArrayLike, sigma: float | ArrayLike, degrees: Sequence[int]
) -> DegreeChoice:
    """Fit polynomials of several degrees and choose by the goodness-of-fit probability Q.

    Needs known errors of measurement; with unknown ones choose by cross-validation.

    Parameters
    ----------
    x, y : array-like of shape (n,)
    sigma : float or array-like of shape (n,)
        Standard deviations of y.
    degrees : sequence of int
        Each with fewer parameters, degree + 1, than rows.

    Returns
    -------
    choice : DegreeChoice

    Examples
    --------
    >>> choice = choose_degree([0, 1, 2, 3], [0.1, 0.9, 4.1, 9.0], 0.1, degrees=[1, 2])
    >>> choice.best
    2
    """
    x, y = finite_column(x, "x"), finite_column(y, "y")
    if len(x) != len(y):
        raise DataError(f"x has {len(x):,} rows and y {len(y):,}")
    sigma = finite_column(np.broadcast_to(float_array(sigma, "sigma"), y.shape), "sigma")
    if (sigma <= 0).any():
        raise DataError("sigma must be positive everywhere")
    tried = sorted({int(degree) for degree in degrees})
    if not tried or tried[0] < 0:
        raise DataError(f"degrees {degrees!r} must be whole numbers from 0 on")
    n_places = len(np.unique(x))
    if n_places <= tried[-1]:
        raise DataError(f"{n_places} different x cannot settle a degree of {tried[-1]}")
    # powers of years, say, are all alike: the fit is of x moved and scaled to -1 ... 1
    middle, half = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2 or 1.0
    coefficients, covariances, fits = [], [], []
    for degree in tried:
        powers = ((x - middle) / half)[:, None] ** np.arange(degree + 1)
        left, right = np.linalg.qr(powers / sigma[:, None])
        if np.linalg.cond(right) > 1e14:
            raise DataError(
                f"the powers of x up to {degree} are not distinct on these x; give lower degrees"
            )
        coef = np.linalg.solve(right, left.T @ (y / sigma))
        back = _powers_of_moved(degree, middle, half)
        inverse = back @ np.linalg.inv(right)
        coefficients.append(back @ coef)
        covariances.append(inverse @ inverse.T)
        fits.append(goodness_of_fit(y, powers @ coef, sigma, degree + 1))
    return DegreeChoice(tried, coefficients, covariances, fits)


def _powers_of_moved(degree: int, middle: float, half: float) -> np.ndarray:
    """Column k has the coefficients of ((x - middle) / half)^k in powers of x."""
    return np.array(
        [
            [
                comb(k, j) * (-middle) ** (k - j) / half**k if j <= k else 0.0
                for k in range(degree + 1)
            ]
            for j in range(degree + 1)
        ]
    )
