"""Small dense systems of linear models, solved in units of the columns' own lengths.

Columns are scaled to unit length before anything is judged, so that rank and condition do not
depend on the units in which a column was measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import eigsh

EPS = np.finfo(np.float64).eps
LANCZOS_FROM = 100  # rows from which all eigenvalues take longer than the largest alone


class Whitening(NamedTuple):
    """Columns in which a Gram matrix is nearly the identity.

    Attributes
    ----------
    transform : ndarray of shape (p, k)
        Old columns to new ones, ``X @ transform``; k leaves out columns of length zero.
    root : ndarray of shape (k, k)
        ``(X @ transform) @ root`` are the k scaled columns again.
    lengths : ndarray of shape (k,)
        Lengths of the columns that are used.
    used : ndarray of bool of shape (p,)
    """

    transform: np.ndarray
    root: np.ndarray
    lengths: np.ndarray
    used: np.ndarray


def scaled_to_unit_diagonal(gram: np.ndarray, zero: np.ndarray):
    """The Gram matrix of the columns that are not `zero`, scaled to unit length; the lengths."""
    diagonal = np.diag(gram)
    used = ~zero & (diagonal > 0)
    if used.all():
        lengths = np.sqrt(diagonal)
        return gram / lengths[:, None] / lengths, lengths, used
    lengths = np.sqrt(diagonal[used])
    return gram[np.ix_(used, used)] / lengths[:, None] / lengths, lengths, used


def condition_of(scaled: np.ndarray) -> float:
    """Ratio of the extreme singular values of columns, given their (scaled) Gram matrix."""
    if not len(scaled):
        return 1.0
    eigenvalues = np.linalg.eigvalsh(scaled)
    if eigenvalues[0] <= len(scaled) * EPS * eigenvalues[-1]:
        return np.inf
    return float(np.sqrt(eigenvalues[-1] / eigenvalues[0]))


def largest_eigenvalue(matrix: np.ndarray) -> float:
    """Of a positive semi-definite matrix, to seven digits: by Lanczos' method if it is large."""
    if len(matrix) < LANCZOS_FROM:
        return float(np.linalg.eigvalsh(matrix)[-1])
    start = matrix[np.argmax(np.diag(matrix))]  # not a vector that the matrix maps to zero
    if not start.any():
        return 0.0
    return float(eigsh(matrix, k=1, v0=start, tol=1e-4, return_eigenvectors=False)[0])


def whiten(gram: np.ndarray, zero: np.ndarray) -> Whitening:
    """New columns whose Gram matrix is nearly the identity, however close the old ones are.

    Directions that rounding hides in the Gram matrix are enlarged as far as rounding allows; a
    further pass over the rows shows their true lengths (this is Cholesky QR twice, with
    eigenvectors).
    """
    scaled, lengths, used = scaled_to_unit_diagonal(gram, zero)
    eigenvalues, vectors = np.linalg.eigh(scaled)
    top = eigenvalues[-1] if len(eigenvalues) else 1.0
    stretch = np.sqrt(np.maximum(eigenvalues, len(scaled) * EPS * top))
    transform = np.zeros((len(gram), len(scaled)))
    transform[used] = vectors / stretch / lengths[:, None]
    return Whitening(transform, stretch[:, None] * vectors.T, lengths, used)


def solve_scaled(scaled: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve by Cholesky, or by the pseudo-inverse where the matrix is numerically singular."""
    if not len(scaled):
        return np.zeros_like(right)
    factor, failed = dpotrf(scaled, lower=True)
    if failed or np.diag(factor).min() ** 2 <= len(scaled) * EPS:
        return pseudo_solve(scaled, right)
    solution, _ = dpotrs(factor, right, lower=True)
    return solution.reshape(right.shape)


def pseudo_solve(scaled: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of least norm of a symmetric positive semi-definite system."""
    eigenvalues, vectors = np.linalg.eigh(scaled)
    keep = eigenvalues > len(scaled) * EPS * eigenvalues[-1]
    kept = vectors[:, keep]
    return kept @ ((kept.T @ right).T / eigenvalues[keep]).T


def symmetric_solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric positive semi-definite system, scaled by its diagonal first."""
    scaled, lengths, used = scaled_to_unit_diagonal(matrix, np.zeros(len(matrix), dtype=bool))
    solution = np.zeros_like(right)
    divide = lengths if right.ndim == 1 else lengths[:, None]
    solution[used] = solve_scaled(scaled, right[used] / divide) / divide
    return solution


def symmetric_inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric positive definite matrix (else a pseudo-inverse)."""
    return symmetric_solve(matrix, np.eye(len(matrix)))


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Directions (columns) in which a positive semi-definite matrix is numerically zero."""
    lengths = lengths_of(matrix)
    eigenvalues, vectors = np.linalg.eigh(matrix / lengths[:, None] / lengths)
    return vectors[:, are_zero(eigenvalues)] / lengths[:, None]


def rank_of(matrix: np.ndarray) -> int:
    """The rank of a positive semi-definite matrix: the directions that are not in `null_space`."""
    lengths = lengths_of(matrix)
    eigenvalues = np.linalg.eigvalsh(matrix / lengths[:, None] / lengths)
    return len(matrix) - int(np.count_nonzero(are_zero(eigenvalues)))


def lengths_of(gram: np.ndarray) -> np.ndarray:
    """Roots of the diagonal; one where it is zero."""
    diagonal = np.diag(gram)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def are_zero(eigenvalues: np.ndarray) -> np.ndarray:
    """Which eigenvalues of a matrix of unit diagonal are zero but for rounding."""
    return eigenvalues <= 10 * len(eigenvalues) * EPS * max(eigenvalues[-1], EPS)


def without_component(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Columns of `vectors` made orthogonal to the span of `directions`."""
    if not directions.shape[1]:
        return vectors
    basis, _ = np.linalg.qr(directions)
    return vectors - basis @ (basis.T @ vectors)
