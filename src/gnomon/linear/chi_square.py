"""Chi-square fits: least squares where the error of every measurement is known.

Minimises  chi2 = sum_i ((y_i - f(x_i)) / sigma_i)^2  for an f that is linear in its coefficients.
With A_ij = phi_j(x_i) / sigma_i the covariance of the coefficients is (A'A)^-1, from the stated
errors alone, and chi2 itself says whether model and errors agree: it is near to N - M, and Q =
Pr(chi2_nu >= chi2) with nu = N - M is its probability.

Texts: 004 5.1, 5.2.1 (its "chi2 near 1" must be chi2 / nu, and a polynomial has degree + 1
parameters, not degree - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
import scipy.linalg

from gnomon.contract import Data, Regressor
from gnomon.contract.estimate import finite_column
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, Interval, RealNotInt, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Text, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.evaluate.number_measures import GoodnessOfFit
from gnomon.linear.design import LARGEST, decision, refuse_tiny
from gnomon.linear.inference import column_names
from gnomon.linear.solve import EPS


class WeightedFit(NamedTuple):
    """Coefficients of columns under row factors, their covariance for factors 1 / sigma^2."""

    coef: np.ndarray
    covariance: np.ndarray
    rank: int


def weighted_fit(design: np.ndarray, y: np.ndarray, factors: np.ndarray) -> WeightedFit:
    """Least squares by singular values, the columns scaled alike first.

    Directions that the rows do not determine get no coefficient and an infinite variance.
    """
    root = np.sqrt(factors)[:, None]
    scaled = design * root
    lengths = np.linalg.norm(scaled, axis=0)
    lengths[lengths == 0] = 1.0
    left, values, right = scipy.linalg.svd(
        scaled / lengths, full_matrices=False, check_finite=False
    )
    kept = values > max(design.shape) * EPS * values.max(initial=0.0)
    directions = right[kept].T / lengths[:, None]
    coef = directions @ ((left[:, kept].T @ (y * root[:, 0])) / values[kept])
    half = directions / values[kept]
    covariance = half @ half.T
    if kept.sum() < design.shape[1]:
        seen = (right[kept] ** 2).sum(axis=0)
        lost = seen < 1 - 1e-8
        covariance[lost] = covariance[:, lost] = np.inf
    return WeightedFit(coef, covariance, int(kept.sum()))


@dataclass(frozen=True, repr=False, eq=False)
class ChiSquareResult(Result):
    """A fit with known errors of measurement.

    Attributes
    ----------
    names : list of str
    coef : ndarray of shape (M,)
    covariance : ndarray of shape (M, M)
        (A'A)^-1.
    goodness : GoodnessOfFit
    basis : tuple of callable
    """

    names: list[str]
    coef: np.ndarray
    covariance: np.ndarray
    goodness: GoodnessOfFit
    basis: tuple[Callable, ...]

    @property
    def errors(self) -> np.ndarray:
        """Standard errors of the coefficients."""
        return np.sqrt(np.diag(self.covariance))

    def predict(self, x) -> np.ndarray:
        """The fitted function.

        Parameters
        ----------
        x : array-like of shape (n,)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        return basis_table(self.basis, np.asarray(x, dtype=np.float64)) @ self.coef

    def predict_error(self, x) -> np.ndarray:
        """Standard error of the fitted function.

        Parameters
        ----------
        x : array-like of shape (n,)

        Returns
        -------
        errors : ndarray of shape (n,)
        """
        table = basis_table(self.basis, np.asarray(x, dtype=np.float64))
        return np.sqrt(np.einsum("ij,jk,ik->i", table, self.covariance, table))

    def _title(self) -> str:
        return self.goodness._title()

    def _columns(self) -> dict[str, list]:
        return {"term": self.names, "estimate": self.coef.tolist(), "error": self.errors.tolist()}


def basis_table(basis: Sequence[Callable], x: np.ndarray) -> np.ndarray:
    """One column per function."""
    return np.column_stack([np.broadcast_to(function(x), x.shape) for function in basis])


def power_of(degree: int) -> Callable:
    """The function x^degree."""
    return lambda x: x**degree


def chi_square_fit(x, y, sigma=1.0, basis: int | Sequence[Callable] = 1) -> ChiSquareResult:
    """Fit a polynomial, or any sum of functions of x, to measurements of known errors.

    Use it where the errors sigma_i are truly known, independent and normal: one wrong assumption
    makes Q worthless. Not with guessed errors, for which `LinearRegression` estimates one. Errors
    of one give the sum of squares.

    Texts: 004 5.1 (polynomials, and 1, cos x, log x, tanh x^3 as a basis), 5.2.1.

    Parameters
    ----------
    x, y : array-like of shape (n,)
    sigma : float or array-like of shape (n,), default=1.0
        Standard deviations of the measurements y.
    basis : int or sequence of callable, default=1
        The degree of a polynomial, or functions of an array x; coefficients multiply them.

    Returns
    -------
    result : ChiSquareResult

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import chi_square_fit
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = chi_square_fit(x, [1.1, 2.9, 5.2, 6.8], sigma=0.2)
    >>> print(found)
    chi2 / nu = 1.025, Q = 0.3588: the model agrees with the data
    term  estimate    error
    1         1.09   0.1673
    x         1.94  0.08944
    """
    x, y = finite_column(x, "x"), finite_column(y, "y")
    sigma = finite_column(np.broadcast_to(np.asarray(sigma, dtype=np.float64), y.shape), "sigma")
    if len(x) != len(y):
        raise DataError(f"x has {len(x)} values and y {len(y)}; give pairs")
    if (sigma <= 0).any():
        raise DataError("sigma must be positive everywhere; leave out measurements without error")
    if isinstance(basis, int):
        names = ["1", "x", *(f"x^{q}" for q in range(2, basis + 1))][: basis + 1]
        functions: tuple[Callable, ...] = tuple(power_of(q) for q in range(basis + 1))
    else:
        functions = tuple(basis)
        names = [getattr(f, "__name__", "?").replace("<lambda>", "f") for f in functions]
        names = [f"{name} {place}" for place, name in enumerate(names)]
    table = basis_table(functions, x)
    if not np.isfinite(table).all():
        place = int(np.argmax(~np.isfinite(table).all(axis=0)))
        raise DataError(f"basis function {names[place]!r} is not finite for every x; leave it out")
    if len(y) <= len(functions):
        raise DataError(
            f"{len(functions)} parameters of {len(y)} measurements leave nothing to test; the "
            "curve would go through them. Use fewer functions"
        )
    fit = weighted_fit(table, y, 1 / sigma**2)
    if fit.rank < len(functions):
        raise DataError(
            f"the {len(functions)} basis functions have rank {fit.rank} on these x: one is a "
            "combination of others. Leave it out"
        )
    residual = (y - table @ fit.coef) / sigma
    tested = goodness(float(residual @ residual), len(y) - fit.rank)
    return ChiSquareResult(names, fit.coef, fit.covariance, tested, functions)


def goodness(chi2: float, freedom: int) -> GoodnessOfFit:
    """chi2 with its probability."""
    return GoodnessOfFit(chi2, freedom, float(scipy.stats.chi2.sf(chi2, freedom)))


@method(
    task="regress",
    texts="004 5.1, 5.2.1",
    use="Measurements whose errors are known: error bars, and whether the model agrees with them.",
    avoid="Where errors are not known: LinearRegression estimates one from the residuals.",
    peers=("numpy.polyfit", "scipy.optimize.curve_fit", "lmfit"),
)
class ChiSquareFit(Regressor):
    """Least squares with known errors of measurement: covariance and goodness of fit.

    Minimises chi2 = sum_i w_i ((y_i - b0 - x_i b) / sigma_i)^2. Use it where the standard deviation
    of every target is known: the covariance of the coefficients then needs no residuals, and chi2 /
    nu near one says that model and errors agree; far above, the model is poor or errors are
    underestimated; far below, the model follows the noise. Not with guessed errors. Weights are
    repetitions and not 1 / sigma^2: give errors through ``errors``.

    Texts: 004 5.1, 5.2.1 (chi2 / nu with nu = N - M, and M = degree + 1; the text prints chi2 near
    1 and degree - 1). `chi_square_fit` takes any functions of one column.

    Parameters
    ----------
    errors : float, str or int, default=1.0
        One error for all targets (a float), or the name or place (an int) of the column that holds
        each target's; that column is then no column of the model. One gives the sum of squares.
    degree : int, default=1
        Powers of every column up to this one are fitted.
    fit_intercept : bool, default=True
        Whether there is a constant b0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_terms,)
        The coefficients b: all columns, then their squares, and so on.
    intercept_ : float
        The constant b0; zero without intercept.
    terms_ : list of str
        What each coefficient multiplies.
    covariance_ : ndarray of shape (n_terms + intercept, n_terms + intercept)
        Of the coefficients, the constant first; infinite where terms depend on one another.
    chi2_ : float
        The minimum.
    degrees_of_freedom_ : int
        Rows less parameters, nu.
    goodness_ : GoodnessOfFit or None
        chi2, nu and Q; None where no degree of freedom is left.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LinearRegression : Errors that are estimated.

    Examples
    --------
    >>> from gnomon.linear import ChiSquareFit
    >>> X, y = [[0, 0.1], [1, 0.1], [2, 0.1], [3, 5.0]], [1.0, 2.1, 3.0, 20.0]
    >>> model = ChiSquareFit(errors=1).fit(X, y)
    >>> model.coef_.round(3), round(model.goodness_.per_degree, 2)
    (array([1.006]), 5.43)
    """

    _largest: ClassVar[float] = LARGEST
    _largest_target: ClassVar[float] = LARGEST
    _parameter_constraints = {
        "errors": [str, whole(0), Interval(RealNotInt, 0, None, closed="neither")],
        "degree": [whole(1)],
        "fit_intercept": FLAG,
    }
    _stored = {
        "chi2_": Number(),
        "coef_": Array("f8", ("n_coef",)),
        "covariance_": Array("f8", ("n_covariance", "n_covariance"), finite=False),
        "degrees_of_freedom_": Whole(),
        "intercept_": Number(),
        "terms_": ListOf(Text(), "n_coef"),
    }

    def __init__(self, errors=1.0, degree=1, fit_intercept=True):
        self.errors = errors
        self.degree = degree
        self.fit_intercept = fit_intercept

    def _fit(self, data: Data) -> None:
        rows = np.array(data.rows, dtype=np.float64, order="C")
        names = column_names(self)
        place = self._errors_column(names)
        sigma = np.full(len(rows), float(self.errors)) if place is None else rows[:, place]
        if (sigma <= 0).any():
            raise DataError(
                f"column {names[place or 0]!r} holds the error {sigma.min():g}; errors must be "
                "above zero: leave such rows out, or give them their error"
            )
        weights = data.weight_array
        table = self._table(rows)
        kept = [name for j, name in enumerate(names) if j != place]
        self.terms_ = [n if q == 1 else f"{n}^{q}" for q in range(1, self.degree + 1) for n in kept]
        largest = np.abs(table).max(axis=0, initial=0.0)
        refuse_tiny(largest, self.terms_, 1 / LARGEST)
        if largest.max(initial=0.0) > LARGEST:
            raise DataError(
                f"{self.terms_[int(largest.argmax())]!r} goes up to {largest.max():.2g}, too large "
                "to compute with; rescale the column, or use a smaller degree"
            )
        with one_blas_thread():
            self._solve(table, data.y, weights, sigma)

    def _solve(self, table, y, weights, sigma) -> None:
        location, constant = np.zeros(table.shape[1]), np.zeros(0)
        factors = weights / sigma**2
        if self.fit_intercept:
            location = factors @ table / factors.sum()
            constant = np.ones((len(y), 1))
        centered = table - location
        spread = np.sqrt(factors @ centered**2)
        centered[:, spread <= 32 * EPS * np.abs(location) * np.sqrt(factors.sum())] = 0.0
        design = np.hstack([constant, centered]) if self.fit_intercept else centered
        fit = weighted_fit(design, y, factors)
        shift = np.eye(len(fit.coef))
        if self.fit_intercept:
            shift[0, 1:] = -location
        known = np.isfinite(np.diag(fit.covariance))
        self.covariance_ = np.full_like(fit.covariance, np.inf)
        if known.all():
            self.covariance_ = shift @ fit.covariance @ shift.T
        elif not self.fit_intercept:
            self.covariance_ = fit.covariance
        theta = shift @ fit.coef
        self.coef_ = theta[self.fit_intercept :]
        self.intercept_ = float(theta[0]) if self.fit_intercept else 0.0
        self.chi2_ = float(factors @ (y - design @ fit.coef) ** 2)
        self.degrees_of_freedom_ = round(float(weights.sum())) - fit.rank

    @property
    def goodness_(self) -> GoodnessOfFit | None:
        """chi2, nu and Q; None where no degree of freedom is left."""
        freedom = self.degrees_of_freedom_
        return goodness(self.chi2_, freedom) if freedom > 0 else None

    def _errors_column(self, names: list[str]) -> int | None:
        if isinstance(self.errors, str):
            if self.errors not in names:
                raise DataError(
                    f"errors={self.errors!r} is no column of numbers here; the columns are "
                    f"{', '.join(map(repr, names[:20]))}"
                )
            return names.index(self.errors)
        if isinstance(self.errors, (int, np.integer)):
            if self.errors >= len(names):
                raise DataError(f"errors={self.errors} is no column; there are {len(names)}")
            return int(self.errors)
        return None

    def _table(self, rows: np.ndarray) -> np.ndarray:
        """Powers of the columns but that of the errors."""
        place = self._errors_column(column_names(self))
        if place is not None:
            rows = np.delete(rows, place, axis=1)
        if self.degree == 1:
            return rows
        with np.errstate(over="ignore"):
            return np.hstack([rows**q for q in range(1, self.degree + 1)])

    def _check_loaded(self) -> None:
        if hasattr(self, "coef_") and not hasattr(self, "n_features_in_"):
            raise ValueError("n_features_in_, the number of columns that it learnt, is missing")
        if hasattr(self, "coef_") and self.degree > max(len(self.coef_), 1):
            raise ValueError("the degree is greater than the number of terms")

    def _estimate(self, rows):
        return decision(self._table(rows), self.coef_, self.intercept_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        terms = n_columns * self.degree + 1
        return 8 * (8 * n_rows * terms + 16 * n_rows + 12 * terms**2)
