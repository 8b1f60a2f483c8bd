"""Polynomial regression: least squares on powers and products, the degree by cross-validation.

f(x) = sum_a w_a x_1^a_1 ... x_v^a_v over all exponents of total degree d or less, or over the whole
grid of degrees. The fit is done in polynomials that are orthogonal over the rows, where no digits
are lost, and can be read as coefficients of plain powers.

Texts: 000 10.4.1 · 001 5.3 · 003 4.2 (its "excellent example of a very poor model").
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.contract.result import Result
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import JOBS, SEED, StrOptions, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Whole
from gnomon.engine.sums import as_float_rows, rows_per_chunk
from gnomon.engine.threads import in_order, one_blas_thread, resolve_jobs
from gnomon.evaluate.selection import one_standard_error
from gnomon.linear.basis import PolynomialFeatures, polynomial_count
from gnomon.linear.design import count_of_folds, folds_of
from gnomon.linear.inference import column_names
from gnomon.linear.least_squares import LinearRegression
from gnomon.linear.solve import EPS

MOST_COEFFICIENTS = 1000  # products of columns take 8 MB, and their solution 16 ms
ROUNDING = 1e-12  # of the constant's error: smaller ones are rounding of perfect fits


@storable
@dataclass(repr=False)
class DegreePath(Result):
    """Polynomials of several degrees with their cross-validated errors.

    Attributes
    ----------
    degrees : list of int
    counts : list of int
        Coefficients of each, the constant included.
    errors : ndarray of shape (n_degrees,)
        Mean squared errors of rows that were left out.
    standard_errors : ndarray of shape (n_degrees,)
        Over the folds.
    training_errors : ndarray of shape (n_degrees,)
        Mean squared errors of the training rows: they never rise with the degree.
    n_rows : float
        Rows, or the sum of their weights.
    """

    degrees: list[int]
    counts: list[int]
    errors: np.ndarray
    standard_errors: np.ndarray
    training_errors: np.ndarray
    n_rows: float
    _stored = {
        "counts": ListOf(Whole(), "n_counts"),
        "degrees": ListOf(Whole(), "n_counts"),
        "errors": Array("f8", ("n_counts",)),
        "n_rows": Number(),
        "standard_errors": Array("f8", ("n_counts",)),
        "training_errors": Array("f8", ("n_counts",)),
    }

    @property
    def degree_min(self) -> int:
        """The degree of least cross-validated error; of those equal but for rounding the lowest."""
        return self.degrees[int(np.argmax(self._told_apart() <= self._told_apart().min()))]

    @property
    def degree_1se(self) -> int:
        """The lowest degree within one standard error of the least."""
        place = one_standard_error(self._told_apart(), self.standard_errors, self.counts)
        return self.degrees[place]

    def _told_apart(self) -> np.ndarray:
        """Errors, those that are rounding of a perfect fit made equal."""
        return np.maximum(self.errors, ROUNDING * self.errors[0])

    def _title(self) -> str:
        return (
            f"Polynomials of degree {self.degrees[0]} to {self.degrees[-1]}, {self.n_rows:g} rows"
        )

    def _columns(self) -> dict[str, list]:
        return {
            "degree": self.degrees,
            "coefficients": self.counts,
            "rows per coefficient": [self.n_rows / count for count in self.counts],
            "mean squared error (fit)": self.training_errors.tolist(),
            "mean squared error (validated)": self.errors.tolist(),
            "standard error": self.standard_errors.tolist(),
        }

    def _remarks(self) -> list[str]:
        return [
            f"least error at degree {self.degree_min}; within one standard error of it from "
            f"degree {self.degree_1se} on"
        ]


@method(
    task="regress",
    texts="000 10.4.1 · 001 5.3 · 003 4.2",
    use="A smooth curve in one column, or two; with the degree chosen by validation.",
    avoid="Several columns (the coefficients explode), and any row beyond the training range.",
    peers=("numpy.polynomial.Polynomial.fit", "R poly"),
)
class PolynomialRegression(Regressor):
    """A polynomial in the columns by least squares, its degree by cross-validation.

    Minimises sum_i w_i (y_i - f(x_i))^2 over polynomials f of the given degree. Use it for a smooth
    curve in one or two columns. Not for many columns: of degree d in v columns there are
    (d + v)! / (d! v!) coefficients, and with fewer rows than that nothing is determined; a warning
    says so. Never trust it beyond the range of the training rows.

    Texts: 000 10.4.1 (degrees 1 to 10 tried) · 001 5.3 · 003 4.2.2-4.2.3 (total degree or grid; "at
    least as many samples as parameters"). The texts solve in raw powers, of which few digits are
    left at degree ten; here the polynomials are orthogonal over the rows, and `coefficients`
    gives plain powers.

    Parameters
    ----------
    degree : int or {"min", "1se"}, default="min"
        The degree; or that of least cross-validated error; or the lowest within one standard error
        of the least.
    max_degree : int, default=5
        The highest degree that is tried. Only those are tried that have at most half as many
        coefficients as rows to learn from, and at most 1000; `validation_` lists them. Degree 0,
        the mean, always is.
    terms : {"total", "tensor"}, default="total"
        The degree bounds the sum of exponents, or each of them.
    cv : int, splitter or iterable, default=5
        Folds of the cross-validation. Equal rows are in one fold.
    random_state : int, RandomState instance or None, default=0
        Deals the folds.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    degree_ : int
        The degree.
    n_coefficients_ : int
        Coefficients, the constant included.
    rows_per_coefficient_ : float
        Below one, nothing is determined; ten are a usual wish.
    validation_ : DegreePath or None
        Degrees with their errors; None where the degree was given.
    basis_ : PolynomialFeatures
        The polynomials that the fit is made of.
    fit_ : LinearRegression
        The fit in these, with its summary.
    coef_ : ndarray of shape (n_coefficients_ - 1,)
        Coefficients of the polynomials of ``basis_``.
    intercept_ : float
        The constant.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import PolynomialRegression
    >>> x = np.linspace(-1, 3, 40)[:, None]
    >>> model = PolynomialRegression().fit(x, 1 - 2 * x[:, 0] + x[:, 0] ** 3)
    >>> model.degree_, model.n_coefficients_
    (3, 4)
    >>> {term: round(c, 6) + 0.0 for term, c in model.coefficients().items()}
    {'1': 1.0, 'x0': -2.0, 'x0^2': 0.0, 'x0^3': 1.0}
    """

    _grows = True
    _parameter_constraints = {
        "degree": [StrOptions({"min", "1se"}), whole(0)],
        "max_degree": [whole(0)],
        "terms": [StrOptions({"total", "tensor"})],
        "cv": ["cv_object"],
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _stored = {
        "basis_": Object(),
        "coef_": Array("f8", (None,)),
        "degree_": Whole(),
        "fit_": Object(),
        "intercept_": Number(),
        "n_coefficients_": Whole(),
        "rows_per_coefficient_": Number(),
        "validation_": Object(("DegreePath",)),
    }

    def __init__(
        self,
        degree="min",
        *,
        max_degree=5,
        terms="total",
        cv=5,
        random_state=0,
        n_jobs=None,
    ):
        self.degree = degree
        self.max_degree = max_degree
        self.terms = terms
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _largest(self) -> float:  # type: ignore[override]
        """Numbers whose highest power stays finite."""
        degree = self.max_degree if isinstance(self.degree, str) else self.degree
        return float(min(1e100, 10 ** (100 / max(degree, 1))))

    def _fit(self, data: Data) -> None:
        with one_blas_thread():
            self._fit_degree(data)

    def _fit_degree(self, data: Data) -> None:
        n = float(data.weight_array.sum())
        self.validation_ = None
        if isinstance(self.degree, str):
            self.validation_ = self._validated(data)
            best = self.validation_
            self.degree_ = best.degree_min if self.degree == "min" else best.degree_1se
        else:
            self.degree_ = int(self.degree)
        self.basis_ = self._basis(self.degree_, data)
        self.n_coefficients_ = polynomial_count(data.n_columns, self.degree_, self.terms)
        self.rows_per_coefficient_ = n / self.n_coefficients_
        if n < self.n_coefficients_:
            warnings.warn(
                f"{self.n_coefficients_:,} coefficients of degree {self.degree_} in "
                f"{data.n_columns:,} columns against {n:g} rows: many polynomials fit these rows "
                "alike, and the one of least coefficients is given. Lower the degree or give "
                "more rows",
                GnomonWarning,
                stacklevel=2,
            )
        self.fit_ = LinearRegression(n_jobs=self.n_jobs)
        if self.n_coefficients_ == 1:
            self.fit_.fit(np.zeros((data.n_rows, 1)), data.y, data.weights)
            self.coef_ = np.zeros(0)
        else:
            self.fit_.fit(self._design(data.rows), data.y, data.weights)
            self.coef_ = self.fit_.coef_
        self.intercept_ = self.fit_.intercept_

    def _basis(self, degree: int, data: Data) -> PolynomialFeatures:
        basis = PolynomialFeatures(degree, terms=self.terms, basis="orthogonal")
        return basis.fit(as_float_rows(data.rows), sample_weight=data.weights)

    def _design(self, rows) -> np.ndarray:
        """Columns of the polynomials, without the constant."""
        return self.basis_.transform(as_float_rows(rows))[:, 1:]

    def _estimate(self, rows) -> np.ndarray:
        terms = self.basis_._map(rows)
        return terms[:, 1:] @ self.coef_ + self.intercept_

    def _rows_at_once(self, rows) -> int:
        return rows_per_chunk(max(rows.shape[1], self.n_coefficients_))

    def _tried(self, n_columns: int, n_learn: float) -> list[int]:
        """Degrees that have few enough coefficients."""
        most = min(max(n_learn / 2, 1), MOST_COEFFICIENTS)
        degrees = range(int(self.max_degree) + 1)
        return [k for k in degrees if polynomial_count(n_columns, k, self.terms) <= most] or [0]

    def _validated(self, data: Data) -> DegreePath:
        """Errors of all degrees from sums of products, one set for each fold."""
        parts = folds_of(data, self.cv, self._rng())
        weights = data.weight_array
        held = np.bincount(parts, weights)
        degrees = self._tried(data.n_columns, float(weights.sum() - held.max()))
        basis = self._basis(degrees[-1], data)
        order = np.argsort(parts, kind="stable")
        borders = np.searchsorted(parts[order], np.arange(parts.max() + 2))
        center = float(weights @ data.y / weights.sum())
        sums = partial(fold_products, basis, data, center)
        chosen = [order[a:b] for a, b in pairwise(borders) if b > a]
        pieces = list(in_order(sums, chosen, self.n_jobs))
        total = np.sum(pieces, axis=0)
        size = basis.powers_.max(axis=1) if self.terms == "tensor" else basis.powers_.sum(axis=1)
        means = np.empty((len(pieces), len(degrees)))
        training = np.empty(len(degrees))
        for place, degree in enumerate(degrees):
            used = np.r_[np.flatnonzero(size <= degree), len(size)]
            grid = np.ix_(used, used)
            training[place] = squared_error(total[grid], total[grid]) / weights.sum()
            for k, piece in enumerate(pieces):
                error = squared_error((total - piece)[grid], piece[grid])
                means[k, place] = error / piece[0, 0]
        shares = np.array([piece[0, 0] for piece in pieces]) / weights.sum()
        errors = shares @ means
        spread = shares @ (means - errors) ** 2 / max(len(pieces) - 1, 1)
        counts = [polynomial_count(data.n_columns, k, self.terms) for k in degrees]
        return DegreePath(degrees, counts, errors, np.sqrt(spread), training, float(weights.sum()))

    def coefficients(self) -> dict[str, float]:
        """The polynomial in plain powers: a coefficient for each term.

        Returns
        -------
        coefficients : dict of str to float
            Terms such as ``"x0^2 x1"``, by total degree; the constant is ``"1"``.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        basis = self.basis_
        total: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for weight, powers in zip([self.intercept_, *self.coef_], basis.powers_):
            used = np.flatnonzero(powers)
            single = [plain_powers(basis, int(j), int(powers[j])) for j in used]
            for place, value in np.ndenumerate(reduce(np.multiply.outer, single, weight)):
                exponent = np.zeros_like(powers)
                exponent[used] = place
                total[tuple(exponent)] += float(value)
        names = column_names(self)
        plain = PolynomialFeatures(basis.degree)
        return {plain._term(row, names): total[tuple(row)] for row in basis.powers_}

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if isinstance(self.degree, str):
            degree = self._tried(n_columns, n_rows * (1 - 1 / count_of_folds(self.cv)))[-1]
            copies = count_of_folds(self.cv) + 4
        else:
            degree, copies = int(self.degree), 4
        count = min(polynomial_count(n_columns, degree, self.terms), 10**9)
        threads = resolve_jobs(self.n_jobs)
        block = 2 * threads * min(rows_per_chunk(count), n_rows) * count
        rows = n_rows * (count + n_columns + 8)
        return 8 * (rows + copies * count**2 + block)

    def _memory_remedy(self) -> str:
        return "Lower the degree: the coefficients grow with its power."


def fold_products(basis: PolynomialFeatures, data: Data, center: float, chosen) -> np.ndarray:
    """Z'WZ of the terms and the target (less `center`) over some rows, added block by block."""
    size = rows_per_chunk(basis._n_out())
    total = np.zeros((basis._n_out() + 1,) * 2)
    for start in range(0, len(chosen), size):
        rows = chosen[start : start + size]
        terms = basis._map(as_float_rows(data.rows[rows]))
        table = np.column_stack([terms, data.y[rows] - center])
        table *= np.sqrt(data.weight_array[rows])[:, None]
        total += inner(table, table)
    return total


def squared_error(learn: np.ndarray, test: np.ndarray) -> float:
    """Sum of squared errors of test rows by least squares on others, from their products."""
    values, vectors = np.linalg.eigh(learn[:-1, :-1])
    seen = values > len(values) * EPS * max(values[-1], 0.0)
    coef = vectors[:, seen] @ (vectors[:, seen].T @ learn[:-1, -1] / values[seen])
    step = np.append(-coef, 1.0)
    return float(max(step @ test @ step, 0.0))


def plain_powers(basis: PolynomialFeatures, column: int, degree: int) -> np.ndarray:
    """Coefficients of 1, x, x^2 ... of the normed polynomial p_k of a column."""
    a, b, lengths = basis.recurrence_[:, column]
    shift, scale = basis.center_[column], basis.scale_[column]
    size = int(basis.degree) + 1
    before, now = np.zeros(size), np.zeros(size)
    now[0] = 1.0
    for k in range(degree):
        raised = np.roll(now, 1)
        raised[0] = 0.0
        following = (raised - shift * now) / scale - a[k] * now - (b[k] * before if k else 0.0)
        before, now = now, following
    return now / lengths[degree] if lengths[degree] else np.zeros(size)
