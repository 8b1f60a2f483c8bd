"""Singular values, the best approximation of low rank, smoothing and compression by it.

X = U S V'; X_s = U_s S_s V_s' has the least squared error of all matrices of rank s: the sum of the
squares of the singular values that were left out.

Texts: 000a 5.1.7, 6.1 · 002 "PCA" (compression, spectral gap).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from sklearn.utils.validation import check_array

from gnomon.contract.numbers import plain_numbers
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.reduce.spectrum import with_signs


@dataclass(repr=False)
class SingularValues(Result):
    """A matrix, or its best approximation of low rank, as ``left * values @ right``.

    Attributes
    ----------
    left : ndarray of shape (n, k)
    values : ndarray of shape (k,)
        In falling order.
    right : ndarray of shape (k, d)
        Each row with its largest entry positive.
    total : float
        Sum of the squares of all cells of the matrix.
    """

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray
    total: float

    @property
    def error(self) -> float:
        """Squared Frobenius norm of what is left out."""
        return float(max(self.total - (self.values**2).sum(), 0.0))

    def matrix(self) -> np.ndarray:
        """The approximation, as a dense matrix."""
        return (self.left * self.values) @ self.right

    def _title(self) -> str:
        share = 1 - self.error / self.total if self.total > 0 else 1.0
        return f"{len(self.values)} singular values, {share:.1%} of the squares"

    def _columns(self) -> dict[str, list]:
        squares = self.values**2
        total = self.total if self.total > 0 else 1.0
        return {
            "number": list(range(1, len(squares) + 1)),
            "singular value": list(self.values),
            "share of squares": list(squares / total),
            "left out after it": list(np.maximum(self.total - np.cumsum(squares), 0.0)),
        }


def svd(X: Any, k: int | None = None) -> SingularValues:
    """Singular values and vectors of a matrix: all, or the k largest.

    No centring: see `PCA` for that. For sparse matrices, and for few of many values, only these
    are computed. Texts: 000a 6.1 (its X X' lacks a transpose: X X' = U S S' U').

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    k : int or None, default=None
        None for all.

    Returns
    -------
    found : SingularValues

    Examples
    --------
    >>> svd([[3.0, 0.0], [0.0, 4.0]]).values.tolist()
    [4.0, 3.0]
    """
    matrix = check_array(plain_numbers(X), dtype=np.float64, accept_sparse="csr")
    side = min(matrix.shape)
    if k is not None and not 1 <= k <= side:
        raise DataError(f"k={k} singular values were requested of a matrix with {side}")
    few = k is not None and k < side and (sp.issparse(matrix) or (5 * k < side and side > 200))
    if few:
        start = np.random.default_rng(0).standard_normal(side)
        left, values, right = scipy.sparse.linalg.svds(matrix, k=k, v0=start)
        left, values, right = left[:, ::-1], values[::-1], right[::-1]
    else:
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        left, values, right = scipy.linalg.svd(dense, full_matrices=False)
        left, values, right = left[:, :k], values[:k], right[:k]
    signed = with_signs(np.ascontiguousarray(right))
    signs = np.where((signed * right).sum(axis=1) < 0, -1.0, 1.0)
    squares = matrix.multiply(matrix).sum() if sp.issparse(matrix) else (matrix**2).sum()
    return SingularValues(left * signs, np.maximum(values, 0.0), signed, float(squares))


def low_rank(X: Any, rank: int) -> SingularValues:
    """The matrix of this rank that is nearest in squared error (000a 6.1.2).

    Its ``error`` is the sum of the squares of the singular values left out; ``matrix()`` makes it
    dense, ``left * values`` are coordinates of its rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    rank : int

    Returns
    -------
    approximation : SingularValues

    Examples
    --------
    >>> low_rank([[3.0, 0.0], [0.0, 4.0]], 1).error
    9.0
    """
    return svd(X, rank)


def svd_smooth(X: Any, rank: int) -> np.ndarray:
    """A data matrix, or counts of rare events, smoothed by its approximation of low rank.

    Without centring (000a 6.1.3): where counts are small and mostly zero, rows of similar kind lend
    each other strength. Smoothed counts may be slightly negative. Use `pca_smooth` for rows that
    lie around a mean.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    rank : int

    Returns
    -------
    smoothed : ndarray of shape (n, d)

    Examples
    --------
    >>> svd_smooth([[1.0, 2.0], [2.0, 4.0]], 1).round(6)
    array([[1., 2.],
           [2., 4.]])
    """
    return low_rank(X, rank).matrix()


def pca_smooth(X: Any, n_components: int) -> np.ndarray:
    """Rows replaced by mean plus their first components: noise in the other directions is gone.

    Pays where the true variance beyond the components is less than the noise (000a 5.1.7); see
    `smoothing_errors` for how many to keep. It also blurs.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_components : int

    Returns
    -------
    smoothed : ndarray of shape (n, d)

    Examples
    --------
    >>> pca_smooth([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], 1).round(2).tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    """
    rows = check_array(plain_numbers(X), dtype=np.float64)
    mean = rows.mean(axis=0)
    return mean + low_rank(rows - mean, n_components).matrix()


@dataclass(repr=False)
class SmoothingErrors(Result):
    """Expected squared error per row after smoothing by s components, for every s.

    Attributes
    ----------
    errors : ndarray of shape (d + 1,)
        For s = 0, 1 ... d.
    raw : float
        The error of the rows as measured: d times the noise variance.
    best : int
        The s of the least error.
    noise_variance : float
    """

    errors: np.ndarray
    raw: float
    best: int
    noise_variance: float

    def _title(self) -> str:
        return f"Smoothing by s components: best s = {self.best} (noise {self.noise_variance:.4g})"

    def _columns(self) -> dict[str, list]:
        return {"s": list(range(len(self.errors))), "expected error": list(self.errors)}

    def _remarks(self) -> list[str]:
        return [f"as measured: {self.raw:.4g}"]


def smoothing_errors(variances: Any, noise_variance: float) -> SmoothingErrors:
    """What smoothing by s components leaves, where the noise is known (000a 5.1.7).

    With measured variances lambda_j = true_j + sigma^2, the mean squared distance of smoothed rows
    from the truth is ``s sigma^2 + sum_{j > s} true_j``; that of the measured rows d sigma^2.

    Parameters
    ----------
    variances : array-like of shape (d,)
        All measured variances along components, in falling order (ddof=0).
    noise_variance : float
        sigma^2 of each cell.

    Returns
    -------
    errors : SmoothingErrors

    Examples
    --------
    >>> smoothing_errors([5.0, 2.0, 1.1], 1.0).best
    1
    """
    measured = np.sort(np.asarray(variances, dtype=np.float64))[::-1]
    if noise_variance < 0:
        raise DataError(f"noise_variance={noise_variance} is negative")
    true = np.maximum(measured - noise_variance, 0.0)
    s = np.arange(len(true) + 1)
    left_out = true.sum() - np.r_[0.0, np.cumsum(true)]
    errors = s * noise_variance + np.maximum(left_out, 0.0)
    return SmoothingErrors(
        errors, len(true) * noise_variance, int(np.argmin(errors)), float(noise_variance)
    )


@dataclass(repr=False)
class Compression(Result):
    """What storing rows as few coordinates saves and costs.

    Attributes
    ----------
    n_components : int
    stored, original : int
        Numbers stored, mean and components included, and numbers of the table.
    error : float
        Mean squared error per row.
    relative_error : float
        The same as a share of the variance.
    mean, components, coordinates : ndarray
        What is stored.
    """

    n_components: int
    stored: int
    original: int
    error: float
    relative_error: float
    mean: np.ndarray
    components: np.ndarray
    coordinates: np.ndarray

    @property
    def ratio(self) -> float:
        """Original size over stored size; above 1 it pays."""
        return self.original / self.stored

    @property
    def pays(self) -> bool:
        return self.stored < self.original

    def restored(self) -> np.ndarray:
        """The rows as they come back."""
        return self.mean + self.coordinates @ self.components

    def _title(self) -> str:
        verdict = "pays" if self.pays else "does not pay"
        return f"{self.n_components} components: {verdict}, {self.ratio:.3g} times smaller"

    def _columns(self) -> dict[str, list]:
        return {
            "numbers stored": [self.stored],
            "of": [self.original],
            "error per row": [self.error],
            "share of variance lost": [self.relative_error],
        }


def compress(X: Any, n_components: int) -> Compression:
    """Rows as mean, k components and k coordinates each (002 "PCA").

    Pays where ``n k + k d + d < n d``. The error per row is the sum of the variances left out.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_components : int

    Returns
    -------
    compression : Compression

    Examples
    --------
    >>> compress([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], 1).pays
    False
    """
    rows = check_array(plain_numbers(X), dtype=np.float64)
    n, d = rows.shape
    mean = rows.mean(axis=0)
    found = low_rank(rows - mean, n_components)
    return Compression(
        n_components,
        n * n_components + n_components * d + d,
        n * d,
        found.error / n,
        found.error / found.total if found.total > 0 else 0.0,
        mean,
        found.right,
        found.left * found.values,
    )
