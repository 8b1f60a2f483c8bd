"""Leading eigenvectors of a covariance, from sums, from the rows' Gram matrix, or by block Lanczos.

All give pairs in falling order of the eigenvalue and the same signs: the largest loading is
positive.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import gammaln

from gnomon.engine.errors import GnomonWarning
from gnomon.engine.threads import in_order

# Judgement: products of 256 columns run at full speed and are one turn of a thread.
COLUMN_BLOCK = 256
NEAR_TIE = 1e-6  # entries that differ by less are one size: the first decides the sign
LEAST_REST = 1e-3  # length of a unit vector beside a space, below which the next one is taken
OVERSAMPLING = 10  # Halko, Martinsson and Tropp (2011) advise 5 to 10
# Columns up to which all pairs are found as soon as the leading ones.
FEW_COLUMNS = 64
MOST_BLOCKS = 6
ROWS_OF_EIGH = 600
# Rows, and rows for each pair, from which on Lanczos steps find the leading pairs sooner than a
# reduction of the whole matrix: measured for 150 to 1,500 rows and 2 to 80 pairs of two kernels.
LANCZOS_ROWS, ROWS_OF_PAIR = 300, 15


class Spectrum(NamedTuple):
    """Eigenvalues of a covariance in falling order and their unit vectors.

    Attributes
    ----------
    values : ndarray of shape (k,)
    vectors : ndarray of shape (k, d)
        One per row.
    total : float
        Sum of all eigenvalues, also of those that are not here: the total variance.
    residuals : ndarray of shape (k,)
        ``|C u - value u|``; zero where the decomposition is exact to rounding.
    """

    values: np.ndarray
    vectors: np.ndarray
    total: float
    residuals: np.ndarray


def with_signs(vectors: np.ndarray) -> np.ndarray:
    """Turn each row so that its largest loading is positive; the first one where several tie."""
    if vectors.size == 0:
        return vectors
    sizes = np.abs(vectors)
    leading = (sizes >= (1 - NEAR_TIE) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.where(vectors[np.arange(len(vectors)), leading] < 0, -1.0, 1.0)
    return vectors * signs[:, np.newaxis]


def warn_fewer(asked: int | None, found: int, reason: str) -> None:
    """Warn that there are fewer components than n_components, and why."""
    if asked is not None and found < asked:
        warnings.warn(
            f"n_components={asked} was given and there are {found}: {reason}",
            GnomonWarning,
            stacklevel=3,
        )


def exact(values: np.ndarray, vectors: np.ndarray, total: float) -> Spectrum:
    """A spectrum without residuals; eigenvalues that rounding made negative are zero."""
    return Spectrum(
        np.maximum(values, 0.0),
        with_signs(np.ascontiguousarray(vectors)),
        max(float(total), 0.0),
        np.zeros(len(values)),
    )


def rank(found: Spectrum) -> int:
    """How many eigenvalues stand above the rounding errors of their sums."""
    rounding = max(found.vectors.shape[1], 100) * np.finfo(float).eps
    return int((found.values > rounding * found.values[0]).sum())


def with_canonical_rest(vectors: np.ndarray, n_certain: int, k: int) -> np.ndarray:
    """Directions without variance are any basis of a space: that nearest to the first columns.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
        Orthonormal rows.
    n_certain : int
        Rows that stay; the unit vectors of the first columns follow, made orthonormal beside
        them, so that rounding does not decide.
    k : int
        How many rows there shall be.

    Returns
    -------
    vectors : ndarray of shape (k, d)
    """
    d, count = vectors.shape[1], n_certain
    found = np.zeros((k, d))
    found[:count] = vectors[:count]
    for column in range(d):
        if count == k:
            break
        rest = np.zeros(d)
        rest[column] = 1.0
        for _ in range(2):  # twice is enough
            rest = rest - found[:count].T @ (found[:count] @ rest)
        size = np.linalg.norm(rest)
        if size > LEAST_REST:
            found[count] = rest / size
            count += 1
    return with_signs(found[:count])


def likeliest_number(found: Spectrum, n: float) -> int:
    """The number of components of greatest evidence for n rows (Minka 2000), of all eigenvalues.

    Laplace's approximation of log p(rows | k) in probabilistic PCA, with noise of variance v, the
    mean of the eigenvalues beyond k, and m = d k - k (k + 1) / 2 parameters of the directions.
    """
    values, d = found.values, found.vectors.shape[1]
    top = min(rank(found), d - 1)
    evidence = [_log_evidence(values, d, k, n) for k in range(1, top + 1)]
    return int(np.argmax(evidence)) + 1


def _log_evidence(values: np.ndarray, d: int, k: int, n: float) -> float:
    rounding = np.finfo(float).eps
    noise = max(values[k:].sum() / (d - k), rounding * values[0])
    sides = (d - np.arange(k)) / 2
    directions = -k * np.log(2.0) + (gammaln(sides) - sides * np.log(np.pi)).sum()
    m = d * k - k * (k + 1) / 2
    seen = np.append(values[:k], np.full(d - k, noise))
    i, j = np.nonzero(np.arange(k)[:, np.newaxis] < np.arange(d))
    bends = (values[i] - values[j]) * (1 / seen[j] - 1 / seen[i])
    bends = np.log(np.maximum(bends, rounding**2)) + np.log(n)
    return float(
        directions
        - n / 2 * (np.log(values[:k]).sum() + (d - k) * np.log(noise))
        + (m + k) / 2 * np.log(2 * np.pi)
        - bends.sum() / 2
        - k / 2 * np.log(n)
    )


def of_covariance(covariance: np.ndarray, k: int) -> Spectrum:
    """The k leading pairs of a symmetric matrix of shape (d, d), whose memory is reused."""
    d, total = len(covariance), np.trace(covariance)
    if d <= FEW_COLUMNS:
        values, vectors = np.linalg.eigh(covariance)
    elif 2 * k < d:
        values, vectors = scipy.linalg.eigh(
            covariance.T,  # LAPACK works in place on columns
            subset_by_index=[d - k, d - 1],
            driver="evr",
            overwrite_a=True,
            check_finite=False,
        )
    else:
        values, vectors = scipy.linalg.eigh(
            covariance.T, driver="evd", overwrite_a=True, check_finite=False
        )
    best = slice(None, d - k - 1 if k < len(values) else None, -1)
    return exact(values[best], vectors.T[best], total)


def centered_block(rows, columns: slice, mean: np.ndarray, roots: np.ndarray | None) -> np.ndarray:
    """Some columns of the rows, minus the mean, each row times the root of its weight."""
    block = rows[:, columns] - mean[columns]
    if roots is not None:
        block *= roots[:, np.newaxis]
    return block


def column_blocks(n_columns: int) -> list[slice]:
    return [slice(start, start + COLUMN_BLOCK) for start in range(0, n_columns, COLUMN_BLOCK)]


def column_means(rows, weights: np.ndarray | None) -> np.ndarray:
    """Weighted means; the first row is taken off first, against a large common offset."""
    offset = np.asarray(rows[0], dtype=np.float64)
    means = np.empty(rows.shape[1])
    for block in column_blocks(rows.shape[1]):
        shifted = rows[:, block] - offset[block]
        means[block] = offset[block] + np.average(shifted, axis=0, weights=weights)
    return means


def of_gram_matrix(rows, mean, weights, divisor: float, k: int, n_jobs) -> Spectrum:
    """Pairs of the covariance of few rows with many columns, by the matrix of their inner products.

    With Z the centred rows, Z Z' v = s^2 v gives u = Z' v / s: the matrix is n x n instead of d x
    d. Blocks of columns are centred one at a time, so that no centred copy of the rows is made.
    """
    n, d = rows.shape
    roots = None if weights is None else np.sqrt(weights)
    blocks = column_blocks(d)

    def inner_products(columns: slice) -> np.ndarray:
        block = centered_block(rows, columns, mean, roots)
        return block @ block.T

    gram = np.zeros((n, n))
    for part in in_order(inner_products, blocks, n_jobs):
        gram += part
    left = of_covariance(gram, k)
    vectors = np.empty((k, d))

    def components(columns: slice) -> np.ndarray:
        return left.vectors @ centered_block(rows, columns, mean, roots)

    for columns, part in zip(blocks, in_order(components, blocks, n_jobs)):
        vectors[:, columns] = part
    orthonormal, triangle = scipy.linalg.qr(
        vectors.T, mode="economic", overwrite_a=True, check_finite=False
    )
    return exact(left.values / divisor, _same_way(orthonormal, triangle).T, left.total / divisor)


def _same_way(orthonormal: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    return orthonormal * np.where(np.diag(triangle) < 0, -1.0, 1.0)


def of_svd(rows, mean, weights, divisor: float, k: int) -> Spectrum:
    """Pairs of the covariance from the singular values of the centred rows, which are copied."""
    roots = None if weights is None else np.sqrt(weights)
    centered = centered_block(rows, slice(None), mean, roots)
    _, singular, vectors = scipy.linalg.svd(
        centered, full_matrices=False, overwrite_a=True, check_finite=False
    )
    values = singular**2 / divisor
    return exact(values[:k], vectors[:k], values.sum())


class Krylov(NamedTuple):
    """A growing basis of directions and the covariance's images of them.

    Attributes
    ----------
    basis, images : ndarray of shape (d, m)
        Orthonormal directions Q, and C Q.
    block : ndarray of shape (d, b)
        The directions whose images the next pass over the rows will give.
    """

    basis: np.ndarray
    images: np.ndarray
    block: np.ndarray

    @classmethod
    def start(cls, n_columns: int, k: int, rng: np.random.Generator) -> Krylov:
        """A random first block of a few more than k directions."""
        width = min(k + OVERSAMPLING, n_columns)
        block = np.linalg.qr(rng.standard_normal((n_columns, width)))[0]
        nothing = np.empty((n_columns, 0))
        return cls(nothing, nothing, block)


def grow(krylov: Krylov, image: np.ndarray, total: float, k: int) -> tuple[Krylov, Spectrum]:
    """Take in the image of the last block: the best k pairs so far, and where to look next.

    Rayleigh-Ritz in the whole basis (block Lanczos with full orthogonalisation); the next block
    spans the residuals C u - value u of the leading pairs. A basis of six blocks is packed to its
    leading pairs.
    """
    basis = np.hstack([krylov.basis, krylov.block])
    images = np.hstack([krylov.images, image])
    inner = basis.T @ images
    values, rotation = np.linalg.eigh((inner + inner.T) / 2)
    width = min(k + OVERSAMPLING, len(values))
    leading = rotation[:, ::-1][:, :width]
    values = values[::-1][:width]
    vectors, vector_images = basis @ leading, images @ leading
    residuals = vector_images - vectors * values
    found = Spectrum(
        np.maximum(values[:k], 0.0),
        with_signs(np.ascontiguousarray(vectors[:, :k].T)),
        total,
        np.linalg.norm(residuals[:, :k], axis=0),
    )
    if basis.shape[1] + width > MOST_BLOCKS * width:
        basis, images = vectors, vector_images
    return Krylov(basis, images, orthonormal_beside(basis, residuals)), found


def orthonormal_beside(basis: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what vectors add to a basis, without directions of rounding."""
    sizes = np.linalg.norm(vectors, axis=0)
    keep = sizes > 0
    vectors = vectors[:, keep] / sizes[keep]
    for _ in range(2):
        vectors = vectors - basis @ (basis.T @ vectors)
        vectors, triangle, _ = scipy.linalg.qr(vectors, mode="economic", pivoting=True)
        vectors = vectors[:, np.abs(np.diag(triangle)) > 1e-8]
    return vectors


def leading_pairs(inner: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of a symmetric matrix and their vectors, in columns."""
    n = len(inner)
    if n > LANCZOS_ROWS and ROWS_OF_PAIR * k <= n:
        return leading_of(lambda vector: inner @ vector, n, k)
    values, vectors = scipy.linalg.eigh(inner, subset_by_index=[n - k, n - 1])
    return values[::-1], with_signs(np.ascontiguousarray(vectors.T[::-1])).T


def leading_of(product, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of a symmetric matrix that is given by its product with vectors."""
    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), product, dtype=np.float64)
    values, vectors = eigsh(operator, k, which="LA", v0=start)
    order = np.argsort(-values)
    return values[order], with_signs(np.ascontiguousarray(vectors.T[order])).T


def lowest_pairs(form: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenvalues of a positive form, and their vectors in columns.

    Of large forms by Lanczos steps with the inverse: what is lowest is then far from the rest.
    """
    n = len(form)
    if n <= ROWS_OF_EIGH or 4 * k > n:
        return scipy.linalg.eigh(form, subset_by_index=[0, k - 1])
    shift = 1e-13 * float(np.trace(form))
    form[np.diag_indices(n)] += shift
    factor = scipy.linalg.cho_factor(form, lower=True, overwrite_a=True, check_finite=False)
    inverse = LinearOperator(
        (n, n), lambda vector: scipy.linalg.cho_solve(factor, vector), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(n)
    values, vectors = eigsh(inverse, k, which="LA", v0=start)
    order = np.argsort(-values)
    return 1 / values[order] - shift, vectors[:, order]
