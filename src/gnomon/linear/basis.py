"""Bases: fixed functions of the columns, so that a linear model of them is a curve in the columns.

f(x) = sum_j w_j phi_j(x). The parameters enter linearly, so that all of least squares carries over;
the basis decides which curves can be had. Polynomials are orthogonalised by the three-term
recurrence p_{k+1}(z) = (z - a_k) p_k(z) - b_k p_{k-1}(z), splines are made of pieces between knots.

Texts: 000 10.4.1 · 001 5.3 · 002 "Feature maps" · 003 4.2 · 004 4.2, 5.1.
"""

from __future__ import annotations

import functools
import itertools
from math import comb
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import CubicSpline
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gnomon.contract import Data, Takes, Transformer
from gnomon.engine.columns import location_and_scale
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, JOBS, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Text, Whole
from gnomon.engine.sums import rows_per_chunk
from gnomon.linear.design import refuse_tiny

MOST_COLUMNS = 10**6  # of a dense result
LEAST_NORM = 1e-10  # share of a polynomial's length below which it depends on lower ones


def polynomial_count(n_columns: int, degree: int, terms: str = "total") -> int:
    """How many coefficients a polynomial of several variables has, the constant included.

    (d + v)! / (d! v!) for all terms of total degree d or less in v variables; (d + 1)^v for the
    grid of degree d or less in each. Texts: 003 4.2 · 001 5.3 (Q (Q + 3) / 2 + 1 for two).

    Parameters
    ----------
    n_columns : int
    degree : int
    terms : {"total", "tensor", "interactions"}, default="total"
        "interactions" counts products of different columns only.

    Returns
    -------
    count : int

    Examples
    --------
    >>> polynomial_count(2, 3), polynomial_count(10, 5), polynomial_count(3, 2, "tensor")
    (10, 3003, 27)
    """
    if terms == "tensor":
        return (degree + 1) ** n_columns
    if terms == "interactions":
        return sum(comb(n_columns, k) for k in range(min(degree, n_columns) + 1))
    return comb(n_columns + degree, degree)


class Basis(Transformer):
    """What the bases share: names of the new columns, and a refusal of what is not finite."""

    def _names_in(self, input_features) -> list[str]:
        encoder = getattr(self, "encoder_", None)
        names = _check_feature_names_in(self, input_features)
        return list(names if encoder is None else encoder.columns.names)

    def _names(self, names: list[str]) -> list[str]:
        raise NotImplementedError

    def _n_out(self) -> int:
        raise NotImplementedError

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the new columns, made of the names of the old ones.

        Parameters
        ----------
        input_features : array-like of str, default=None

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.asarray(self._names(self._names_in(input_features)), dtype=object)

    def _rows_at_once(self, rows) -> int:
        """Few: blocks are as wide as what they become, and lie beside the whole of it."""
        return rows_per_chunk(4 * max(rows.shape[1], self._n_out()))

    def _finite(self, values: np.ndarray) -> np.ndarray:
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return values
        column = int(np.argwhere(~np.isfinite(values))[0][1])
        name = self._names(self._columns_in())[column]
        raise DataError(
            f"{type(self).__name__}: {name!r} is infinite or undefined for some row; rescale or "
            "shift the column, or leave this function out"
        )

    def _columns_in(self) -> list[str]:
        return self._names_in(None)


@method(
    task="filter",
    texts="000 10.4.1 · 001 5.3 · 003 4.2 · 004 4.2",
    use="To let a linear model bend or columns act together; one or a few columns.",
    avoid="Many columns or high degrees: the terms explode. Splines or trees bend more safely.",
    peers=("sklearn.preprocessing.PolynomialFeatures",),
)
class PolynomialFeatures(Basis):
    """Powers and products of the columns, up to a degree.

    Row x becomes all x_1^a_1 ... x_v^a_v with a_1 + ... + a_v <= degree: (d + v)! / (d! v!)
    columns for degree d (`polynomial_count`). A linear model of these is a polynomial. Use it for
    one or a few columns and low degrees. Not for many columns, and not far beyond the training
    rows: training error never rises with the degree, while high degrees swing wildly between and
    beyond the rows.

    Raw powers are nearly dependent: at degree ten few digits are left. ``basis="centered"`` takes
    powers of (x - mean) / deviation, ``basis="orthogonal"`` polynomials that are uncorrelated over
    the training rows, column by column (products of different columns are so only where these
    are independent). All three span the same functions.

    Texts: 000 10.4.1 · 001 5.3 (degree Q in two columns: Q (Q + 3) / 2 terms beside the
    constant) · 003 4.2 (total degree or the whole grid) · 004 4.2.

    Parameters
    ----------
    degree : int or tuple (min_degree, max_degree), default=2
        The greatest degree, or the least and the greatest (the constant aside).
    interaction_only : bool, default=False
        Leave out powers of a column: products of different columns only.
    include_bias : bool, default=True
        Whether the first column is the constant 1.
    order : {"C", "F"}, default="C"
        How the result is stored in memory: row by row or column by column.
    terms : {"total", "tensor"}, default="total"
        The degree bounds the sum of exponents, or each of them.
    basis : {"monomial", "centered", "orthogonal"}, default="monomial"
        What stands for the powers of a column.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_columns)
        Exponent of each column in each term.
    n_output_features_ : int
        Number of terms.
    center_ : ndarray of shape (n_columns,)
        What is subtracted from a column first: zero, or its mean.
    scale_ : ndarray of shape (n_columns,)
        What it is then divided by: one, or its standard deviation.
    recurrence_ : ndarray of shape (3, n_columns, degree + 1)
        a_k, b_k and the length of p_k (0 where the rows have too few values for it).
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.linear import PolynomialFeatures
    >>> basis = PolynomialFeatures(2).fit([[2.0, 3.0], [1.0, 0.0]])
    >>> basis.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> basis.transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    """

    _always_float64 = ("center_", "scale_", "recurrence_")
    _parameter_constraints = {
        "degree": [whole(0), "array-like"],
        "interaction_only": FLAG,
        "include_bias": FLAG,
        "order": [StrOptions({"C", "F"})],
        "terms": [StrOptions({"total", "tensor"})],
        "basis": [StrOptions({"monomial", "centered", "orthogonal"})],
        "n_jobs": JOBS,
    }
    _stored = {
        "center_": Array("f8", ("n_columns",)),
        "n_output_features_": Whole(),
        "recurrence_": Array("f8", (None, "n_columns", None)),
        "scale_": Array("f8", ("n_columns",)),
    }

    def __init__(
        self,
        degree=2,
        *,
        interaction_only=False,
        include_bias=True,
        order="C",
        terms="total",
        basis="monomial",
        n_jobs=None,
    ):
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order
        self.terms = terms
        self.basis = basis
        self.n_jobs = n_jobs

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Sparse rows stay sparse as powers; other bases have no zeros."""
        sparse = self.basis == "monomial" and self.terms == "total"
        return Takes(sparse=sparse, float32=True)

    @property
    def _largest(self) -> float:  # type: ignore[override]
        """Numbers whose highest product stays finite."""
        return float(min(1e100, 10 ** (300 / max(self._degrees()[1], 1))))

    def _degrees(self) -> tuple[int, int]:
        """The least and the greatest degree."""
        if isinstance(self.degree, Integral):
            return 0, int(self.degree)
        given = list(self.degree)
        if len(given) != 2:
            raise DataError(
                "degree must be a non-negative int or tuple (min_degree, max_degree), got "
                f"{self.degree}"
            )
        if not all(isinstance(each, Integral) for each in given) or not 0 <= given[0] <= given[1]:
            raise DataError(
                "degree=(min_degree, max_degree) must be non-negative integers that fulfil "
                f"min_degree <= max_degree, got {self.degree}"
            )
        return int(given[0]), int(given[1])

    def _fit(self, data: Data) -> None:
        d, degree = data.n_columns, self._degrees()[1]
        if degree == 0 and not self.include_bias:
            raise DataError(
                f"Setting degree to {self.degree} and include_bias to False would result in an "
                "empty output array; set either"
            )
        self.n_output_features_ = self._count(d)
        self._require_countable(d, sp.issparse(data.rows))
        self.center_, self.scale_ = np.zeros(d), np.ones(d)
        self.recurrence_ = np.zeros((3, d, degree + 1))
        self.recurrence_[2] = 1.0
        if self.basis == "monomial":
            return
        weights = data.weight_array
        self.center_, self.scale_ = location_and_scale(data.rows, weights)
        if self.basis == "orthogonal":
            for j in range(d):
                column = np.ascontiguousarray(data.rows[:, j], dtype=np.float64)
                z = (column - self.center_[j]) / self.scale_[j]
                self.recurrence_[:, j] = orthogonal_recurrence(z, weights, degree)

    def _count(self, d: int) -> int:
        low, high = self._degrees()
        if self.terms == "tensor":
            return len(term_table(d, *self._kind()).powers)
        kind = "interactions" if self.interaction_only else "total"
        below = polynomial_count(d, low - 1, kind) if low > 0 else 1
        return polynomial_count(d, high, kind) - below + bool(self.include_bias)

    def _require_countable(self, d: int, sparse: bool) -> None:
        most = np.iinfo(np.intp).max if sparse else MOST_COLUMNS
        if self.n_output_features_ <= most:
            return
        raise DataError(
            "The output that would result from the current configuration would have "
            f"{self.n_output_features_:,} features which is too large to be indexed by "
            f"{np.dtype(np.intp).name if sparse else 'a dense array'}: {d:,} columns, "
            f"degree={self.degree}; lower degree, or choose columns first"
        )

    def _kind(self) -> tuple:
        chosen = self.terms, bool(self.interaction_only), bool(self.include_bias)
        return (*self._degrees(), *chosen)

    @property
    def powers_(self) -> np.ndarray:
        """Exponent of each column in each term."""
        check_is_fitted(self)
        table = term_table(len(self.center_), *self._kind())
        return table.powers[table.kept]

    def _n_out(self) -> int:
        return self.n_output_features_

    def transform(self, X) -> Any:
        """Powers and products of the columns.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        terms : ndarray or sparse matrix of shape (n_samples, n_output_features_)
            Sparse where X is, in its format (CSR or CSC).
        """
        terms = super().transform(X)
        if sp.issparse(terms):
            return terms.tocsc() if getattr(X, "format", "csr") == "csc" else terms
        return np.asfortranarray(terms) if self.order == "F" else terms

    def _map(self, rows) -> Any:
        if rows.shape[1] != len(self.center_):
            raise ValueError(f"{rows.shape[1]} columns were given for {len(self.center_)}")
        if sp.issparse(rows):
            return self._sparse_terms(sp.csr_array(rows))
        table = term_table(rows.shape[1], *self._kind())
        terms = np.empty((len(rows), len(table.powers)))
        polynomial_terms(
            np.ascontiguousarray(rows),
            self.center_,
            self.scale_,
            self.recurrence_,
            table.parents,
            table.last,
            table.last_powers,
            terms,
        )
        return self._finite(terms if table.kept.all() else terms[:, table.kept])

    def _sparse_terms(self, rows: sp.csr_array) -> sp.csr_array:
        low, high = self._degrees()
        parts = [sp.csr_array(np.ones((rows.shape[0], 1)))] if self.include_bias else []
        for degree in range(max(low, 1), high + 1):
            parts.append(sparse_products(rows, degree, bool(self.interaction_only)))
        if not parts:
            return sp.csr_array((rows.shape[0], 0))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def _names(self, names: list[str]) -> list[str]:
        return [self._term(row, names) for row in self.powers_]

    def _term(self, exponent: np.ndarray, names: list[str]) -> str:
        parts = []
        for j in np.flatnonzero(exponent):
            k = int(exponent[j])
            name = f"std({names[j]})" if self.basis == "centered" else names[j]
            if self.basis == "orthogonal":
                parts.append(f"P{k}({name})")
            else:
                parts.append(name if k == 1 else f"{name}^{k}")
        return " ".join(parts) or "1"

    def _check_loaded(self) -> None:
        if not hasattr(self, "center_"):
            return
        d, degree = len(self.center_), self._degrees()[1]
        if self.scale_.shape != (d,) or self.recurrence_.shape != (3, d, degree + 1):
            raise ValueError("the parts of the basis differ in shape")
        if self.n_output_features_ != self._count(d):
            raise ValueError("n_output_features_ is not the number of terms")


class TermTable(NamedTuple):
    """All terms up to a degree, by which a term is made of a lower one.

    Attributes
    ----------
    powers : ndarray of shape (n_terms, n_columns)
        Exponents, by total degree.
    kept : ndarray of bool of shape (n_terms,)
        Which of the terms are asked for.
    parents : ndarray of int of shape (n_terms,)
        The term that a term is a multiple of, by a factor of its last column; -1 for the constant.
    last, last_powers : ndarray of int of shape (n_terms,)
        That column and its exponent.
    """

    powers: np.ndarray
    kept: np.ndarray
    parents: np.ndarray
    last: np.ndarray
    last_powers: np.ndarray


@functools.lru_cache(maxsize=16)
def term_table(
    d: int, low: int, high: int, terms: str, interaction_only: bool, include_bias: bool
) -> TermTable:
    """The terms of `d` columns of degrees from `low` to `high`."""
    powers = exponents(d, high, terms, interaction_only)
    total = powers.sum(axis=1)
    kept = total >= max(low, 1)
    kept[total == 0] = include_bias
    last = last_columns(powers)
    return TermTable(
        powers, kept, parents_of(powers), last, powers[np.arange(len(last)), last].copy()
    )


def sparse_products(rows: sp.csr_array, degree: int, interaction_only: bool) -> sp.csr_array:
    """All products of `degree` columns of sparse rows, in lexicographic order of the columns.

    Only products of stored cells are computed: of m cells in a row, C(m + degree - 1, degree). The
    place of a product is its rank among all combinations, so that no table of terms is needed.
    """
    n, d = rows.shape
    cells = np.diff(rows.indptr).astype(np.int64)
    more = 0 if interaction_only else degree - 1
    counts = np.array([comb(int(m) + more, degree) for m in cells], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    places, values = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    wide = d + more
    choose = np.array(
        [[min(comb(a, b), 2**62) for b in range(degree + 1)] for a in range(wide + 1)],
        dtype=np.int64,
    )
    rows.sort_indices()
    multiplied_cells(
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int64),
        rows.data.astype(np.float64),
        choose,
        interaction_only,
        starts,
        places,
        values,
    )
    width = comb(wide, degree)
    return sp.csr_array((values, places, starts), shape=(n, width))


@kernel("i8[:]", "i8[:]", "f8[:]", "i8[:,:]", "b1", "i8[:]", "out i8[:]", "out f8[:]")
def multiplied_cells(indptr, indices, data, choose, interaction_only, starts, places, values):
    """Products of k stored cells of each row and their ranks among combinations of columns.

    choose (N + 1, k + 1) are binomial coefficients, with N the columns, plus k - 1 where a column
    may be taken more than once: combination c_0 <= c_1 <= ... becomes the strictly rising one of
    c_i + i. Its rank is C(N, k) - 1 - sum_i C(N - 1 - c_i, k - i). starts (n + 1,): the places of
    each row's products.
    """
    wide, k = choose.shape[0] - 1, choose.shape[1] - 1
    chosen = np.zeros(k, dtype=np.int64)
    for i in range(len(indptr) - 1):
        first, m = indptr[i], indptr[i + 1] - indptr[i]
        for r in range(k):
            chosen[r] = r if interaction_only else 0
        for at in range(starts[i], starts[i + 1]):
            product, rank = 1.0, choose[wide, k] - 1
            for r in range(k):
                column = indices[first + chosen[r]] + (0 if interaction_only else r)
                product *= data[first + chosen[r]]
                rank -= choose[wide - 1 - column, k - r]
            places[at], values[at] = rank, product
            r = k - 1
            while r >= 0:
                if chosen[r] < (m - k + r if interaction_only else m - 1):
                    break
                r -= 1
            if r >= 0:
                chosen[r] += 1
                for later in range(r + 1, k):
                    chosen[later] = chosen[later - 1] + (1 if interaction_only else 0)


def exponents(d: int, degree: int, terms: str, interaction_only: bool) -> np.ndarray:
    """Exponents of all terms, by total degree, then with earlier columns first."""
    if terms == "tensor":
        most = min(degree, 1) if interaction_only else degree
        every = list(itertools.product(range(most, -1, -1), repeat=d))
        return np.array(sorted(every, key=sum), dtype=np.int64).reshape(-1, d)
    choose = itertools.combinations if interaction_only else itertools.combinations_with_replacement
    chosen = [c for k in range(degree + 1) for c in choose(range(d), k)]
    powers = np.zeros((len(chosen), d), dtype=np.int64)
    for row, columns in zip(powers, chosen):
        np.add.at(row, list(columns), 1)
    return powers


def last_columns(powers: np.ndarray) -> np.ndarray:
    """The last column that each term has a factor of; 0 for the constant."""
    d = powers.shape[1]
    last = d - 1 - (powers[:, ::-1] > 0).argmax(axis=1)
    return np.where((powers > 0).any(axis=1), last, 0)


def parents_of(powers: np.ndarray) -> np.ndarray:
    """The place of each term without its last column's factor; -1 where that is the constant."""
    without = powers.copy()
    without[np.arange(len(powers)), last_columns(powers)] = 0
    places = {row.tobytes(): place for place, row in enumerate(powers) if row.any()}
    return np.array([places.get(row.tobytes(), -1) for row in without], dtype=np.int64)


@kernel(
    "f8[:,:]",
    "f8[:]",
    "f8[:]",
    "f8[:,:,:]",
    "i8[:]",
    "i8[:]",
    "i8[:]",
    "out f8[:,:]",
)
def polynomial_terms(rows, center, scale, recurrence, parents, last, last_powers, terms):
    """Terms (n, m) of rows (n, d): each is its parent's times one factor, p_k of its last column.

    recurrence (3, d, k) holds a_k, b_k and lengths (0: the polynomial is left out).
    """
    d, size = recurrence.shape[1], recurrence.shape[2]
    factors = np.empty((d, size))
    for i in range(len(rows)):
        for j in range(d):
            z = (rows[i, j] - center[j]) / scale[j]
            before, now = 0.0, 1.0
            for k in range(size):
                length = recurrence[2, j, k]
                factors[j, k] = now / length if length > 0.0 else 0.0
                following = (z - recurrence[0, j, k]) * now - recurrence[1, j, k] * before
                before, now = now, following
        for m in range(len(parents)):
            rest = terms[i, parents[m]] if parents[m] >= 0 else 1.0
            terms[i, m] = rest * factors[last[m], last_powers[m]]


def orthogonal_recurrence(z: np.ndarray, weights: np.ndarray, degree: int) -> np.ndarray:
    """a_k, b_k and lengths of the polynomials that are orthogonal over weighted points.

    a_k = <z p_k, p_k> / <p_k, p_k>, b_k = <p_k, p_k> / <p_{k-1}, p_{k-1}>; a length is the root of
    the mean square, and 0 from the degree on at which the points cannot tell polynomials apart.
    """
    share = weights / weights.sum()
    found = np.zeros((3, degree + 1))
    before, now, square = np.zeros_like(z), np.ones_like(z), 1.0
    found[2, 0] = 1.0
    for k in range(degree):
        a = share @ (z * now**2) / square
        following = (z - a) * now - found[1, k] * before
        length = np.sqrt(share @ following**2)
        found[0, k] = a
        if length <= LEAST_NORM * (np.sqrt(share @ (z * now) ** 2) + np.sqrt(square)):
            break
        found[2, k + 1] = length
        found[1, k + 1] = length**2 / square
        before, now, square = now, following, length**2
    return found


NAMED: dict[str, Any] = {
    "identity": lambda x: x,
    "square": np.square,
    "cube": lambda x: x**3,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "abs": np.abs,
    "log": np.log,
    "log1p": np.log1p,
    "exp": np.exp,
    "reciprocal": lambda x: 1 / x,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "step": lambda x: (x > 0).astype(float),
}


@method(
    task="filter",
    texts="002 feature maps · 004 4.2, 5.1",
    use="When the shape of the relation is known: a linear model of any functions of the columns.",
    avoid="When it is not known: splines, trees or neighbours find it themselves.",
    peers=("patsy", "formulaic", "sklearn.preprocessing.FunctionTransformer"),
)
class BasisExpansion(Basis):
    """Any fixed functions of the columns as new columns.

    phi(x) = (1, phi_1(x), ..., phi_h(x)), in which a linear model f(x) = w'phi(x) is a curve in x.
    Use it when you know the functions: cos of a season, log of a price. Parameters inside a
    function (a period, a rate) are not fitted: only those before it are, because they
    enter linearly. Not when the shape is unknown; use `SplineBasis` then.

    Texts: 002 "Feature maps" · 004 4.2 (the quadratic basis 1, x1, x2, x1 x2, x1^2, x2^2) and 5.1
    (1, cos x, log x, tanh x^3). A function that is undefined for a row is an error here, not a
    gap.

    Parameters
    ----------
    functions : "quadratic", str, callable, list or dict, default="quadratic"
        Functions by name (identity, square, cube, sqrt, cbrt, abs, log, log1p, exp, reciprocal,
        sin, cos, tanh, step) or as callables of an array, in a list or as a dict of name to
        function. "quadratic" is all squares and products of pairs. A model with callables of
        yours cannot be saved to a model file, which holds data only.
    of : {"columns", "rows"}, default="columns"
        Each function is applied to every column by itself, or (callables only) is given the
        whole array of shape (n, n_columns) and gives one column.
    include_bias : bool, default=True
        Whether the first column is the constant 1.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    names_ : list of str
        Names of the functions.
    n_columns_ : int
        Columns that the functions are of, after categories and text have become numbers.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import BasisExpansion
    >>> basis = BasisExpansion(["cos", "log", lambda x: np.tanh(x**3)]).fit([[1.0], [2.0]])
    >>> basis.get_feature_names_out().tolist()
    ['1', 'cos(x0)', 'log(x0)', 'f2(x0)']
    >>> basis.transform([[1.0]]).round(3)
    array([[1.   , 0.54 , 0.   , 0.762]])
    """

    _parameter_constraints = {
        "functions": [str, callable, list, tuple, dict],
        "of": [StrOptions({"columns", "rows"})],
        "include_bias": FLAG,
        "n_jobs": JOBS,
    }
    _stored = {
        "n_columns_": Whole(1),
        "names_": ListOf(Text()),
    }

    def __init__(self, functions="quadratic", *, of="columns", include_bias=True, n_jobs=None):
        self.functions = functions
        self.of = of
        self.include_bias = include_bias
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        table = self._table()
        if self.of == "rows" and any(isinstance(each, str) for each in table.values()):
            raise DataError(
                "of='rows' needs callables that take the whole array; functions by name are of "
                "single columns. Use of='columns', or give callables"
            )
        if not table:
            raise DataError("functions is empty; give at least one")
        for function in table.values():
            if isinstance(function, str) and function != "quadratic" and function not in NAMED:
                raise DataError(
                    f"there is no function {function!r}; by name there are quadratic, "
                    f"{', '.join(NAMED)}. Or give a callable"
                )
        self.names_ = list(table)
        self.n_columns_ = data.n_columns

    def _table(self) -> dict[str, Any]:
        given = self.functions
        if isinstance(given, dict):
            return dict(given)
        listed = list(given) if isinstance(given, (list, tuple)) else [given]
        return {function_name(each, place): each for place, each in enumerate(listed)}

    def _n_out(self) -> int:
        return len(self._names([f"x{j}" for j in range(self.n_columns_)]))

    def _map(self, rows) -> np.ndarray:
        parts = [np.ones((len(rows), 1))] if self.include_bias else []
        with np.errstate(all="ignore"):
            for name, function in self._table().items():
                parts.append(self._applied(name, function, rows))
        return self._finite(np.hstack(parts))

    def _applied(self, name: str, function, rows: np.ndarray) -> np.ndarray:
        if isinstance(function, str) and function == "quadratic":
            left, right = self._pairs()
            return np.hstack([rows, rows[:, left] * rows[:, right]])
        values = np.asarray(NAMED[function](rows) if isinstance(function, str) else function(rows))
        wanted = (len(rows), 1) if self.of == "rows" else rows.shape
        if values.size != wanted[0] * wanted[1]:
            raise DataError(
                f"the function {name!r} gives an array of shape {values.shape}, not {wanted}; it "
                f"must give one number for each of the {self.of}"
            )
        return values.reshape(wanted).astype(np.float64)

    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of columns of the quadratic basis: products first, then squares."""
        d = self.n_columns_
        left, right = np.triu_indices(d, 1)
        return np.r_[left, np.arange(d)], np.r_[right, np.arange(d)]

    def _names(self, names: list[str]) -> list[str]:
        found = ["1"] if self.include_bias else []
        for name, function in self._table().items():
            if isinstance(function, str) and function == "quadratic":
                found += names
                pairs = zip(*self._pairs())
                found += [f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}" for i, j in pairs]
            elif self.of == "rows":
                found.append(name)
            else:
                found += [each if name == "identity" else f"{name}({each})" for each in names]
        return found

    def _check_loaded(self) -> None:
        if hasattr(self, "n_columns_") and not 0 < self.n_columns_ <= 10**7:
            raise ValueError("n_columns_ must be a number of columns")


def function_name(function, place: int) -> str:
    """A name for a function: its own, or its place in the list."""
    if isinstance(function, str):
        return function
    own = getattr(function, "__name__", "")
    return own if own.isidentifier() and own != "<lambda>" else f"f{place}"


@method(
    task="filter",
    texts="002 feature maps · 004 4.2",
    use="To let a linear model follow a smooth curve of unknown shape in each column.",
    avoid="Relations with steps (trees), and trust in what lies beyond the training rows.",
    peers=("sklearn.preprocessing.SplineTransformer", "patsy bs, cr"),
)
class SplineBasis(Basis):
    """Smooth pieces between knots, column by column.

    Every column becomes a few columns B_1(x), B_2(x) ... that add up to one; a linear model of
    them is a curve that is a polynomial between neighbouring knots and smooth across them. Use
    it where a relation is smooth and of unknown shape; it bends locally, unlike a polynomial of
    high degree. Not for steps. Beyond the outer knots the curve goes on straight
    (``extrapolation="linear"``) or level.

    A column of two values or fewer, such as a category's level, is kept as it is.

    Texts: the basis functions of 002 "Feature maps" and 004 4.2; splines themselves are not in the
    texts.

    Parameters
    ----------
    n_knots : int, default=5
        Knots per column, the ends included.
    degree : int, default=3
        Degree of the pieces of B-splines.
    kind : {"bspline", "natural"}, default="bspline"
        B-splines: n_knots + degree - 1 columns, each not zero over degree + 1 neighbouring
        pieces. Natural cubic splines: n_knots columns, the k-th is 1 at the k-th knot and 0 at
        the others, so that coefficients are the curve's heights at the knots; straight beyond
        the ends.
    knots : {"quantile", "uniform"}, default="quantile"
        So that between any two lie equally many rows, or evenly spaced.
    extrapolation : {"linear", "constant"}, default="linear"
        How the curve of B-splines goes on beyond the outer knots.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    knots_ : list of ndarray
        The knots of each column; empty where a column is kept as it is. Fewer than asked for where
        a column has few values.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.linear import SplineBasis
    >>> basis = SplineBasis(3, kind="natural").fit([[0.0], [1.0], [2.0]])
    >>> basis.transform([[0.0], [0.5], [2.0]]) + 0.0
    array([[ 1.     ,  0.     ,  0.     ],
           [ 0.40625,  0.6875 , -0.09375],
           [ 0.     ,  0.     ,  1.     ]])
    """

    _parameter_constraints = {
        "n_knots": [whole(2)],
        "degree": [whole(0, 20)],
        "kind": [StrOptions({"bspline", "natural"})],
        "knots": [StrOptions({"quantile", "uniform"})],
        "extrapolation": [StrOptions({"linear", "constant"})],
        "n_jobs": JOBS,
    }
    _stored = {
        "knots_": ListOf(Array("f8", (None,)), "n_columns"),
    }

    def __init__(
        self,
        n_knots=5,
        *,
        degree=3,
        kind="bspline",
        knots="quantile",
        extrapolation="linear",
        n_jobs=None,
    ):
        self.n_knots = n_knots
        self.degree = degree
        self.kind = kind
        self.knots = knots
        self.extrapolation = extrapolation
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        weights = data.weight_array
        columns = [data.rows[:, j] for j in range(data.n_columns)]
        refuse_tiny(np.array([np.ptp(column) for column in columns]), self._columns_in())
        self.knots_ = [
            self._knots(np.ascontiguousarray(column, dtype=np.float64), weights)
            for column in columns
        ]

    def _knots(self, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
        low, high = column.min(), column.max()
        if not ((column > low) & (column < high)).any():
            return np.empty(0)
        if self.knots == "uniform":
            return np.linspace(low, high, int(self.n_knots))
        order = np.argsort(column, kind="stable")
        line = np.cumsum(weights[order])
        marks = np.linspace(0, 1, int(self.n_knots)) * line[-1]
        places = np.searchsorted(line, marks * (1 - 1e-12))
        return np.unique(column[order[np.minimum(places, len(line) - 1)]])

    def _n_out(self) -> int:
        return sum(self._widths())

    def _widths(self) -> list[int]:
        """New columns per column."""
        more = 0 if self.kind == "natural" else int(self.degree) - 1
        return [len(knots) + more if len(knots) else 1 for knots in self.knots_]

    def _map(self, rows) -> np.ndarray:
        out = np.zeros((len(rows), self._n_out()))
        starts = np.cumsum([0, *self._widths()])
        if self.kind == "natural":
            for j, knots in enumerate(self.knots_):
                natural_pieces(rows[:, j], knots, out[:, starts[j] : starts[j + 1]])
            return self._finite(out)
        degree = int(self.degree)
        padded = [np.repeat(knots, repeats_of_ends(len(knots), degree)) for knots in self.knots_]
        places = np.cumsum([0, *map(len, padded)])
        straight = self.extrapolation == "linear" and degree > 0
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        spline_pieces(rows, np.concatenate(padded), places, starts, degree, straight, out)
        return self._finite(out)

    def _names(self, names: list[str]) -> list[str]:
        return [
            f"{name} spline {k}" if len(knots) else name
            for name, knots, width in zip(names, self.knots_, self._widths())
            for k in range(width)
        ]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (7 * n_rows + 4 * n_columns)

    def _check_loaded(self) -> None:
        for knots in getattr(self, "knots_", []):
            if len(knots) == 1 or not np.isfinite(knots).all() or (np.diff(knots) <= 0).any():
                raise ValueError("knots must be two or more, finite and rising")


def natural_pieces(x: np.ndarray, knots: np.ndarray, out: np.ndarray) -> None:
    """Write natural cubic splines at x, straight beyond the knots, to `out` (n, n_knots)."""
    if not len(knots):
        out[:, 0] = x
        return
    inside = np.clip(x, knots[0], knots[-1])
    curves = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    out[:] = curves(inside)
    beyond = np.flatnonzero(inside != x)
    out[beyond] += (x - inside)[beyond, None] * curves.derivative()(inside[beyond])


def repeats_of_ends(n_knots: int, degree: int) -> np.ndarray:
    """How often each knot counts: the outer ones degree + 1 times."""
    repeats = np.ones(n_knots, dtype=np.int64)
    if n_knots:
        repeats[0] = repeats[-1] = degree + 1
    return repeats


@kernel("f8[:,:]", "f8[:]", "i8[:]", "i8[:]", "i8", "b1", "out f8[:,:]")
def spline_pieces(rows, knots, places, starts, degree, straight, out):
    """Write to `out` the B-splines of every column that are not zero; out (n, m) holds zeros.

    By Cox and de Boor's recursion: those of degree k come from those of degree k - 1, and so do
    their slopes, by which they go on beyond the ends. The knots of column j, the outer ones degree
    + 1 times, are knots[places[j]:places[j + 1]]; its splines start at column starts[j] of `out`.
    A column without knots is written as it is.
    """
    values, slopes = np.empty(degree + 1), np.empty(degree + 1)
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            if places[j] == places[j + 1]:
                out[i, starts[j]] = rows[i, j]
                continue
            lowest, last = places[j] + degree, places[j + 1] - degree - 2
            x = min(max(rows[i, j], knots[lowest]), knots[last + 1])
            beyond = rows[i, j] - x
            piece, high = lowest, last
            while piece < high:
                middle = (piece + high + 1) // 2
                if knots[middle] <= x:
                    piece = middle
                else:
                    high = middle - 1
            values[0] = 1.0
            for k in range(1, degree + 1):
                if k == degree and straight and beyond != 0.0:
                    slopes[0] = 0.0
                    for r in range(degree):
                        width = knots[piece + 1 + r] - knots[piece + 1 + r - degree]
                        part = degree * values[r] / width
                        slopes[r] -= part
                        slopes[r + 1] = part
                carried = 0.0
                for r in range(k):
                    right = knots[piece + 1 + r] - x
                    left = x - knots[piece + 1 + r - k]
                    part = values[r] / (right + left)
                    values[r] = carried + right * part
                    carried = left * part
                values[k] = carried
            first = starts[j] + piece - lowest
            for r in range(degree + 1):
                out[i, first + r] = values[r]
                if straight and beyond != 0.0:
                    out[i, first + r] += beyond * slopes[r]
