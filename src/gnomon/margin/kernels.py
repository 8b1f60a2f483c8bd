"""Kernels: functions k(x, x') that are scalar products in some feature space.

A kernel method sees rows through k alone, so that any kernel serves in any of them. Kernels are
small objects: ``k(A, B)`` is the matrix of all k(a, b); ``k1 + k2``, ``k1 * k2`` and ``c * k`` are
kernels again. Products of rows come from one matrix product per block.

Texts: 001 8.6 · 002 "Kernels" (L1584-1714) · 004 10.1.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.storable import storable
from gnomon.engine.stored import ListOf, Number, Object, Text, Whole

Block = Callable[[np.ndarray], np.ndarray]
EPS = np.finfo(np.float64).eps
# Beyond such exponents the rounding of a difference of squares would show.
ROUGH_EXPONENT = 1e6
ROWS_FOR_MEDIAN = 1000
LEAST_VARIANCE = 1e-290


class Kernel:
    """Base of all kernels: calls, algebra, Gram matrices.

    A kernel gives ``against(rows)``: what belongs to ``rows`` is computed once, and the function
    that comes back gives k(a, row) for blocks of other rows.
    """

    pairwise: ClassVar[bool] = False

    def against(self, rows: np.ndarray) -> Block:
        """The function of a block A that gives the matrix of k(a, row)."""
        raise NotImplementedError

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """k(x, x) of each row."""
        return np.array([self.against(row[None, :])(row[None, :])[0, 0] for row in rows])

    def fitted(self, rows: np.ndarray, weights: np.ndarray | None = None) -> Kernel:
        """The kernel with parameters that are named by a rule made numbers from these rows."""
        return self

    def __call__(self, one: Any, other: Any = None) -> np.ndarray:
        """Matrix of k(a, b) for the rows of `one` and `other` (by default `one` again)."""
        one = as_rows(one)
        other = one if other is None else as_rows(other)
        return self.fitted(other).against(other)(one)

    def __add__(self, other: Kernel) -> Sum:
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(self, float(other))

    __rmul__ = __mul__


def as_rows(rows: Any) -> Any:
    """Rows as a float64 matrix; sparse ones stay so."""
    if sp.issparse(rows):
        return sp.csr_array(rows, dtype=np.float64)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"a kernel takes rows in a matrix, not an array of {rows.ndim} dimensions")
    return rows


def dense(rows: Any) -> np.ndarray:
    """Rows as an array, whether they are sparse or not."""
    return rows.toarray() if sp.issparse(rows) else rows


def products_with(rows: Any) -> Block:
    """The function of a block A that gives the matrix of scalar products a . row.

    Either may be sparse; then only what is stored is multiplied.
    """
    columns = sp.csr_array(rows.T) if sp.issparse(rows) else np.ascontiguousarray(rows.T)
    return lambda block: dense(block @ columns)


def squared_lengths(rows: Any) -> np.ndarray:
    """x . x of each row."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def require_dense(kernel: Kernel, rows: Any) -> None:
    """Refuse sparse rows where a kernel looks at every cell."""
    if sp.issparse(rows):
        raise DataError(
            f"kernel {type(kernel).__name__} takes no sparse rows, as it looks at every cell; give "
            "X.toarray(), or one of the kernels linear, poly, rbf and sigmoid"
        )


@storable
@dataclass(frozen=True)
class Linear(Kernel):
    """The scalar product itself, k(x, y) = x . y.

    Use it where there are many columns already; the plane then lies in the space of the columns.
    Texts: 002 "Kernels" · 004 10.1.3.

    Examples
    --------
    >>> from gnomon.margin import Linear
    >>> Linear()([[1, 2]], [[0.5, -1]]).tolist()
    [[-1.5]]
    """

    _stored = {}

    def against(self, rows: np.ndarray) -> Block:
        return products_with(rows)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return squared_lengths(rows)


@storable
@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel k(x, y) = (gamma x . y + coef0)^degree.

    Its features are all products of up to ``degree`` columns. Scale columns first: high powers of
    large numbers drown all else. Texts: 004 10.1.3 (offset 1, scale 1: the defaults).

    Attributes
    ----------
    degree : int
    coef0 : float
    gamma : float, "scale", "auto" or "median"
        The scale, or its rule (see `RBF`).

    Examples
    --------
    >>> from gnomon.margin import Polynomial
    >>> Polynomial(2)([[1, 2]], [[0.5, -1]]).tolist()
    [[0.25]]
    """

    degree: int = 3
    coef0: float = 1.0
    gamma: Any = 1.0
    _stored = {
        "coef0": Number(),
        "degree": Whole(),
        "gamma": Number(),
    }

    def fitted(self, rows, weights=None):
        return Polynomial(self.degree, self.coef0, gamma_of(self.gamma, rows, weights))

    def against(self, rows: np.ndarray) -> Block:
        products = products_with(rows * self.gamma)
        return lambda block: (products(block) + self.coef0) ** self.degree

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return (self.gamma * squared_lengths(rows) + self.coef0) ** self.degree


@storable
@dataclass(frozen=True)
class RBF(Kernel):
    """Gaussian kernel k(x, y) = exp(-gamma |x - y|^2) = exp(-|x - y|^2 / (2 sigma^2)).

    The first kernel to try. A great gamma (small sigma) follows single rows, a small one makes the
    boundary nearly straight. Columns must be of like scale.
    Texts: 001 8.6 · 002 L1607 · 004 10.1.3.

    Attributes
    ----------
    gamma : float, "scale", "auto" or "median"
        "scale": 1 / (columns x variance of all cells); "auto": 1 / columns; "median": sigma is the
        median distance of two rows (of at most 1000 rows, evenly spaced).
    sigma : float or None
        The bandwidth instead of gamma: gamma = 1 / (2 sigma^2).

    Examples
    --------
    >>> from gnomon.margin import RBF
    >>> RBF(0.5)([[1, 2]], [[0.5, -1]]).round(6).tolist()
    [[0.009804]]
    >>> RBF(sigma=1.0) == RBF(0.5)
    False
    >>> RBF(sigma=1.0).fitted(None) == RBF(0.5)
    True
    """

    gamma: Any = "scale"
    sigma: float | None = None
    _stored = {
        "gamma": Number() | Text(),
        "sigma": Number() | None,
    }

    def fitted(self, rows, weights=None):
        if self.sigma is not None:
            return RBF(0.5 / self.sigma**2)
        return RBF(gamma_of(self.gamma, rows, weights))

    def against(self, rows: np.ndarray) -> Block:
        if sp.issparse(rows):
            return self._against_sparse(rows)
        # (x, -|x|^2/2, 1) . (y, 1, -|y|^2/2) is the exponent: one matrix product gives it
        d = rows.shape[1]
        center = rows.mean(axis=0)
        factor = np.sqrt(2.0 * self.gamma)
        columns = np.empty((d + 2, len(rows)))
        columns[:d] = ((rows - center) * factor).T
        columns[d] = -0.5 * np.einsum("ij,ij->j", columns[:d], columns[:d])
        columns[d + 1] = 1.0
        rough = bool(columns[d].min(initial=0.0) < -ROUGH_EXPONENT)

        def block_of(block: np.ndarray) -> np.ndarray:
            block = dense(block)
            left = np.empty((len(block), d + 2))
            left[:, :d] = (block - center) * factor
            left[:, d] = 1.0
            left[:, d + 1] = -0.5 * np.einsum("ij,ij->i", left[:, :d], left[:, :d])
            exponents = left @ columns
            if rough:
                np.minimum(exponents, 0.0, out=exponents)
            return np.exp(exponents, out=exponents)

        return block_of

    def _against_sparse(self, rows: Any) -> Block:
        products, lengths = products_with(rows), squared_lengths(rows)

        def block_of(block: Any) -> np.ndarray:
            exponents = 2.0 * products(block) - lengths - squared_lengths(block)[:, None]
            return np.exp(self.gamma * np.minimum(exponents, 0.0))

        return block_of

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(len(rows))


@storable
@dataclass(frozen=True)
class Sigmoid(Kernel):
    """Sigmoid kernel k(x, y) = tanh(gamma x . y + coef0).

    Not positive semi-definite for all parameters (a negative coef0, say), so that it is no scalar
    product there; machines that use it look and warn. Rarely better than `RBF`. Texts: 004 10.1.3.

    Attributes
    ----------
    gamma : float, "scale", "auto" or "median"
    coef0 : float

    Examples
    --------
    >>> from gnomon.margin import Sigmoid
    >>> Sigmoid(0.1)([[1, 2]], [[0.5, -1]]).round(6).tolist()
    [[-0.148885]]
    """

    gamma: Any = "scale"
    coef0: float = 0.0
    _stored = {
        "coef0": Number(),
        "gamma": Number(),
    }

    def fitted(self, rows, weights=None):
        return Sigmoid(gamma_of(self.gamma, rows, weights), self.coef0)

    def against(self, rows: np.ndarray) -> Block:
        products = products_with(rows * self.gamma)
        return lambda block: np.tanh(products(block) + self.coef0)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.tanh(self.gamma * squared_lengths(rows) + self.coef0)


@storable
@dataclass(frozen=True)
class ANOVA(Kernel):
    """ANOVA kernel k(x, y) = (sum_j exp(-gamma (x_j - y_j)^2))^degree.

    A sum over columns: with degree 1 an additive model, with degree d interactions of d columns.
    Texts: 004 10.1.3, where the square is missing in print (so it is not even symmetric).

    Attributes
    ----------
    gamma : float, "scale", "auto" or "median"
    degree : int

    Examples
    --------
    >>> from gnomon.margin import ANOVA
    >>> ANOVA(0.5, 2)([[1, 2]], [[0.5, -1]]).round(6).tolist()
    [[0.798532]]
    """

    gamma: Any = 1.0
    degree: int = 2
    _stored = {
        "degree": Whole(),
        "gamma": Number(),
    }

    def fitted(self, rows, weights=None):
        return ANOVA(gamma_of(self.gamma, rows, weights), self.degree)

    def against(self, rows: np.ndarray) -> Block:
        require_dense(self, rows)

        def block_of(block: np.ndarray) -> np.ndarray:
            block = dense(block)
            total = np.zeros((len(block), len(rows)))
            for j in range(rows.shape[1]):
                gaps = block[:, j, None] - rows[None, :, j]
                total += np.exp(-self.gamma * gaps * gaps)
            return total**self.degree

        return block_of

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), float(rows.shape[1]) ** self.degree)


@storable
@dataclass(frozen=True)
class ChiSquare(Kernel):
    """Chi-square kernel k(x, y) = exp(-gamma sum_j (x_j - y_j)^2 / (x_j + y_j)).

    For histograms and other counts: rows must not be negative.

    Attributes
    ----------
    gamma : float

    Examples
    --------
    >>> from gnomon.margin import ChiSquare
    >>> ChiSquare(0.5)([[1, 3]], [[3, 1]]).round(6).tolist()
    [[0.367879]]
    """

    gamma: float = 1.0
    _stored = {
        "gamma": Number(),
    }

    def against(self, rows: np.ndarray) -> Block:
        require_dense(self, rows)
        _require_counts(rows)

        def block_of(block: np.ndarray) -> np.ndarray:
            block = dense(block)
            _require_counts(block)
            total = np.zeros((len(block), len(rows)))
            for j in range(rows.shape[1]):
                sums = block[:, j, None] + rows[None, :, j]
                gaps = block[:, j, None] - rows[None, :, j]
                total += np.divide(gaps * gaps, sums, out=np.zeros_like(sums), where=sums > 0)
            return np.exp(-self.gamma * total)

        return block_of

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(len(rows))


def _require_counts(rows: np.ndarray) -> None:
    if (rows < 0).any():
        row, column = np.argwhere(rows < 0)[0]
        raise DataError(
            f"kernel ChiSquare takes counts, and row {row}, column {column} is "
            f"{rows[row, column]:g}; use RBF for numbers of either sign"
        )


@storable
@dataclass(frozen=True)
class Precomputed(Kernel):
    """A matrix of similarities that somebody computed: rows are given as their similarities.

    ``fit`` then takes the square matrix of all training rows and ``predict`` one row of
    similarities to the training rows for each new row. It must be symmetric and positive
    semi-definite: see `mercer_check` and `repair`. Texts: 004 10.
    """

    pairwise: ClassVar[bool] = True
    _stored = {}

    def against(self, rows: np.ndarray) -> Block:
        return lambda block: block

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.diagonal(rows).copy()

    def __call__(self, one: Any, other: Any = None) -> np.ndarray:
        return as_rows(one)


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function f(A, B) of two blocks of rows that gives the matrix of k(a, b).

    Models that use it cannot be saved: model files hold no functions.

    Attributes
    ----------
    function : callable
    """

    function: Callable[[np.ndarray, np.ndarray], Any]

    def against(self, rows: np.ndarray) -> Block:
        require_dense(self, rows)

        def block_of(block: np.ndarray) -> np.ndarray:
            block = dense(block)
            matrix = np.asarray(self.function(block, rows), dtype=np.float64)
            if matrix.shape != (len(block), len(rows)):
                raise DataError(
                    f"the kernel function gave a matrix of shape {matrix.shape} for blocks of "
                    f"{len(block)} and {len(rows)} rows; it must give one of that shape"
                )
            return matrix

        return block_of


@storable
@dataclass(frozen=True)
class Sum(Kernel):
    """k1 + k2: its features are those of both. Texts: 002 L1688.

    Attributes
    ----------
    parts : tuple of Kernel

    Examples
    --------
    >>> from gnomon.margin import Linear, RBF
    >>> (Linear() + 2 * RBF(1.0))([[1.0]], [[1.0]]).tolist()
    [[3.0]]
    """

    parts: tuple[Kernel, ...]
    _stored = {
        "parts": ListOf(Object(("Kernel",)), kind=tuple),
    }

    def fitted(self, rows, weights=None):
        return type(self)(tuple(part.fitted(rows, weights) for part in self.parts))

    def against(self, rows: np.ndarray) -> Block:
        blocks = [part.against(rows) for part in self.parts]
        return lambda block: np.sum([each(block) for each in blocks], axis=0)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.sum([part.diagonal(rows) for part in self.parts], axis=0)


@storable
@dataclass(frozen=True)
class Product(Sum):
    """k1 k2: its features are all products of a feature of one and one of the other.

    Attributes
    ----------
    parts : tuple of Kernel
    """

    def against(self, rows: np.ndarray) -> Block:
        blocks = [part.against(rows) for part in self.parts]
        return lambda block: np.prod([each(block) for each in blocks], axis=0)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.prod([part.diagonal(rows) for part in self.parts], axis=0)


@storable
@dataclass(frozen=True)
class Scaled(Kernel):
    """c k, where c is zero or more.

    Attributes
    ----------
    part : Kernel
    factor : float
    """

    part: Kernel
    factor: float
    _stored = {
        "factor": Number(),
        "part": Object(("Kernel",)),
    }

    def __post_init__(self):
        if not self.factor >= 0:
            raise DataError(
                f"{self.factor:g} times a kernel is no kernel: the factor must be zero or more"
            )

    def fitted(self, rows, weights=None):
        return Scaled(self.part.fitted(rows, weights), self.factor)

    def against(self, rows: np.ndarray) -> Block:
        part = self.part.against(rows)
        return lambda block: self.factor * part(block)

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        return self.factor * self.part.diagonal(rows)


def gamma_of(gamma: float | str, rows, weights=None) -> float:
    """The scale of a kernel: a number as it is, or the rule "scale", "auto" or "median"."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / rows.shape[1]
    if gamma == "median":
        return 0.5 / median_distance(rows) ** 2
    if gamma != "scale":
        raise DataError(f"gamma={gamma!r} is no rule; give a number, 'scale', 'auto' or 'median'")
    weights = np.ones(rows.shape[0]) if weights is None else weights
    shares = weights / weights.sum()
    if sp.issparse(rows):
        mean = float((shares @ rows).mean())
        variance = float(shares @ squared_lengths(rows)) / rows.shape[1] - mean**2
        return 1.0 / (rows.shape[1] * variance) if variance > LEAST_VARIANCE else 1.0
    centered = rows - (shares @ rows).mean()
    variance = float(shares @ (centered * centered).mean(axis=1))
    return 1.0 / (rows.shape[1] * variance) if variance > LEAST_VARIANCE else 1.0


def median_distance(rows: np.ndarray) -> float:
    """Median distance of two different rows, of at most 1000 rows evenly spaced; 1 if none differ.

    A sigma of this size is a fair first try for `RBF`.

    Parameters
    ----------
    rows : ndarray of shape (n, d)

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import median_distance
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    from scipy.spatial.distance import pdist, squareform

    n = rows.shape[0]
    rows = rows[np.linspace(0, n - 1, min(n, ROWS_FOR_MEDIAN)).astype(np.int64)]
    if sp.issparse(rows):
        lengths = squared_lengths(rows)
        squares = lengths[:, None] + lengths - 2 * products_with(rows)(rows)
        np.fill_diagonal(squares, 0.0)
        distances = squareform(np.sqrt(np.maximum(squares, 0.0)), checks=False)
    else:
        distances = pdist(rows)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


WORDS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def kernel_of(kernel: Any, gamma: float | str = "scale", degree: int = 3, coef0: float = 0.0):
    """The kernel object that a parameter ``kernel`` stands for."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return FunctionKernel(kernel)
    made = {
        "linear": lambda: Linear(),
        "poly": lambda: Polynomial(degree, coef0, gamma),
        "rbf": lambda: RBF(gamma),
        "sigmoid": lambda: Sigmoid(gamma, coef0),
        "precomputed": lambda: Precomputed(),
    }
    return made[kernel]()


@dataclass(frozen=True)
class MercerCheck:
    """Whether a matrix can be a matrix of scalar products.

    Attributes
    ----------
    symmetric : bool
    asymmetry : float
        Greatest |K_ij - K_ji|.
    least_eigenvalue, greatest_eigenvalue : float
        Of the symmetric part.
    valid : bool
        Symmetric, and no eigenvalue below ``-tol`` times the greatest size of one.
    """

    symmetric: bool
    asymmetry: float
    least_eigenvalue: float
    greatest_eigenvalue: float
    valid: bool

    def __str__(self) -> str:
        found = "a kernel matrix" if self.valid else "not a kernel matrix"
        return (
            f"{found}: eigenvalues from {self.least_eigenvalue:.4g} to "
            f"{self.greatest_eigenvalue:.4g}, greatest asymmetry {self.asymmetry:.3g}"
        )


def mercer_check(matrix: Any, *, tol: float = 1e-10) -> MercerCheck:
    """Is this matrix symmetric and positive semi-definite, as a Gram matrix must be?

    k is a kernel only if every matrix K_ij = k(x_i, x_j) passes (001 8.6 prints k(x_i, y_j)); one
    that fails proves that it is none. Texts: 001 8.6 · 002 L1624 · 004 10.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
    tol : float, default=1e-10
        What counts as rounding, as a share of the greatest eigenvalue.

    Returns
    -------
    check : MercerCheck

    Examples
    --------
    >>> from gnomon.margin import mercer_check
    >>> print(mercer_check([[1.0, 2.0], [2.0, 1.0]]))
    not a kernel matrix: eigenvalues from -1 to 3, greatest asymmetry 0
    """
    matrix = square_matrix(matrix)
    asymmetry = float(np.abs(matrix - matrix.T).max())
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    size = float(np.abs(values).max())
    symmetric = asymmetry <= tol * max(size, EPS)
    least, greatest = float(values[0]), float(values[-1])
    return MercerCheck(symmetric, asymmetry, least, greatest, symmetric and least >= -tol * size)


def repair(matrix: Any, how: str = "clip") -> np.ndarray:
    """The nearest thing to a similarity matrix that is a kernel matrix.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
        Its symmetric part is taken.
    how : {"clip", "flip", "shift"}, default="clip"
        Negative eigenvalues become zero (the nearest kernel matrix in the sum of squares), or
        positive, or the least is subtracted from all (which changes the diagonal alone).

    Returns
    -------
    repaired : ndarray of shape (n, n)

    Examples
    --------
    >>> from gnomon.margin import repair
    >>> repair([[1.0, 2.0], [2.0, 1.0]], "shift").tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    matrix = square_matrix(matrix)
    symmetric = (matrix + matrix.T) / 2
    values, vectors = np.linalg.eigh(symmetric)
    if how == "shift":
        return symmetric + max(-float(values[0]), 0.0) * np.eye(len(matrix))
    if how not in ("clip", "flip"):
        raise DataError(f"how={how!r} is none of clip, flip, shift")
    mended = np.maximum(values, 0.0) if how == "clip" else np.abs(values)
    return (vectors * mended) @ vectors.T


def square_matrix(matrix: Any) -> np.ndarray:
    """A square matrix of finite numbers, or a clear error."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a matrix of similarities is square, not of shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise DataError("a matrix of similarities must hold finite numbers; fill the gaps first")
    return matrix


def warn_indefinite(kernel: Kernel, rows: np.ndarray, most: int = 200) -> None:
    """Say so where a kernel that need not be one is none on (at most 200 of) these rows."""
    if not isinstance(kernel, (Sigmoid, Precomputed, FunctionKernel)):
        return
    n = rows.shape[0]
    places = np.linspace(0, n - 1, min(n, most)).astype(np.int64)
    part = rows[np.ix_(places, places)] if kernel.pairwise else kernel(rows[places])
    check = mercer_check(part, tol=1e-8)
    if not check.valid:
        warnings.warn(
            f"kernel {type(kernel).__name__} is not positive semi-definite on these rows (least "
            f"eigenvalue {check.least_eigenvalue:.4g} of {len(places)} rows): the machine may stop "
            "at a local optimum. gnomon.margin.repair corrects a matrix of similarities",
            GnomonWarning,
            stacklevel=2,
        )
