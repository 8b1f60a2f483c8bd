"""A kit of linear algebra with errors in words: rank, image, bases, definiteness, eigenvectors.

Texts: 000a 4.3.2, 5.1.5 · 001 6.4.1 (log-sum-exp; a minus and a limit are lost in print) · 002
"Linear algebra" (image, change of basis, definiteness, power iteration) · 003 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

__all__ = [
    "PowerIteration",
    "change_of_basis",
    "definiteness",
    "diagonalize",
    "frobenius_norm",
    "image",
    "is_orthogonal",
    "logsumexp",
    "matrix_product",
    "power_iteration",
    "pseudo_inverse",
    "rank",
]


def _matrix(given: ArrayLike, name: str = "the matrix") -> np.ndarray:
    A = np.asarray(given, dtype=float)
    if A.ndim != 2:
        raise DataError(f"{name} must have rows and columns; its shape is {A.shape}")
    if not np.isfinite(A).all():
        raise DataError(f"{name} has values that are not finite")
    return A


def _symmetric(given: ArrayLike) -> np.ndarray:
    A = _matrix(given)
    if A.shape[0] != A.shape[1]:
        raise DataError(f"the matrix must be square; it is {A.shape[0]} x {A.shape[1]}")
    if not np.allclose(A, A.T, rtol=1e-8, atol=1e-10 * max(1.0, float(np.abs(A).max()))):
        raise DataError("the matrix must be symmetric")
    return (A + A.T) / 2


def matrix_product(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """The product of two matrices, or an error that names both shapes.

    Parameters
    ----------
    A : array-like of shape (n, k)
    B : array-like of shape (k, m)

    Returns
    -------
    product : ndarray of shape (n, m)

    Examples
    --------
    >>> matrix_product([[1, 2]], [[3], [4]]).tolist()
    [[11.0]]
    """
    left, right = _matrix(A, "A"), _matrix(B, "B")
    if left.shape[1] != right.shape[0]:
        raise DataError(
            f"A is {left.shape[0]} x {left.shape[1]} and B is {right.shape[0]} x {right.shape[1]}: "
            "the columns of A must be as many as the rows of B"
        )
    return left @ right


def rank(A: ArrayLike, *, tol: float | None = None) -> int:
    """Number of independent columns.

    Parameters
    ----------
    A : array-like of shape (n, m)
    tol : float, default=None
        Singular values up to this count as zero.

    Returns
    -------
    rank : int

    Examples
    --------
    >>> rank([[1, 2], [2, 4]])
    1
    """
    return int(np.linalg.matrix_rank(_matrix(A), tol=tol))


def image(A: ArrayLike) -> np.ndarray:
    """An orthonormal basis of what the columns span, one vector per column.

    Parameters
    ----------
    A : array-like of shape (n, m)

    Returns
    -------
    basis : ndarray of shape (n, rank)
    """
    return scipy.linalg.orth(_matrix(A))


def change_of_basis(A: ArrayLike, basis: ArrayLike) -> np.ndarray:
    """A linear map in another basis: M A M^-1 with M = B^-1, the columns of B the new basis.

    Parameters
    ----------
    A : array-like of shape (n, n)
    basis : array-like of shape (n, n)
        The new basis vectors as columns.

    Returns
    -------
    changed : ndarray of shape (n, n)

    Examples
    --------
    >>> change_of_basis([[2, 1], [1, 2]], [[1, -1], [1, 1]]).round(12).tolist()
    [[3.0, 0.0], [0.0, 1.0]]
    """
    map_, B = _matrix(A), _matrix(basis, "the basis")
    if B.shape[0] != B.shape[1] or B.shape != map_.shape:
        raise DataError(f"the basis must be square like the matrix, {map_.shape}, not {B.shape}")
    if rank(B) < len(B):
        raise DataError(f"the vectors of the basis are dependent: their rank is {rank(B)}")
    return np.linalg.solve(B, map_ @ B)


def is_orthogonal(A: ArrayLike, *, tol: float = 1e-10) -> bool:
    """Whether the inverse is the transpose.

    Parameters
    ----------
    A : array-like of shape (n, n)
    tol : float, default=1e-10

    Returns
    -------
    is_orthogonal : bool
    """
    Q = _matrix(A)
    return Q.shape[0] == Q.shape[1] and bool(np.abs(Q.T @ Q - np.eye(len(Q))).max() <= tol)


def definiteness(A: ArrayLike, *, tol: float = 1e-10) -> str:
    """What the signs of the eigenvalues of a symmetric matrix say.

    Parameters
    ----------
    A : array-like of shape (n, n)
    tol : float, default=1e-10
        Eigenvalues up to this share of the largest count as zero.

    Returns
    -------
    kind : str
        "positive definite", "positive semidefinite", "negative definite", "negative semidefinite",
        "indefinite" or "zero".

    Examples
    --------
    >>> definiteness([[2, 0], [0, -2]])
    'indefinite'
    """
    values = np.linalg.eigvalsh(_symmetric(A))
    zero = tol * max(float(np.abs(values).max()), 1e-300)
    above, below = bool((values > zero).any()), bool((values < -zero).any())
    if above and below:
        return "indefinite"
    if not above and not below:
        return "zero"
    full = "definite" if (np.abs(values) > zero).all() else "semidefinite"
    return f"{'positive' if above else 'negative'} {full}"


def pseudo_inverse(A: ArrayLike, *, rcond: float | None = None) -> np.ndarray:
    """The Moore-Penrose inverse by singular values.

    Parameters
    ----------
    A : array-like of shape (n, m)
    rcond : float, default=None
        Singular values up to this share of the largest count as zero.

    Returns
    -------
    inverse : ndarray of shape (m, n)
    """
    matrix = _matrix(A)
    return scipy.linalg.pinv(matrix, rtol=rcond)


def frobenius_norm(A: ArrayLike) -> float:
    """The root of the sum of squares; of trace(A A'); of the sum of squared singular values.

    Parameters
    ----------
    A : array-like of shape (n, m)

    Returns
    -------
    norm : float

    Examples
    --------
    >>> frobenius_norm([[3, 0], [0, 4]])
    5.0
    """
    return float(np.linalg.norm(_matrix(A)))


def diagonalize(S: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """U and descending eigenvalues with U' S U diagonal, for a symmetric matrix.

    The largest entry of each column of U is positive, so that signs do not depend on the machine.

    Parameters
    ----------
    S : array-like of shape (n, n)

    Returns
    -------
    U : ndarray of shape (n, n)
    values : ndarray of shape (n,)

    Examples
    --------
    >>> diagonalize([[2, 1], [1, 2]])[1].round(12).tolist()
    [3.0, 1.0]
    """
    A = _symmetric(S)
    values, vectors = np.linalg.eigh(A)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = np.argmax(np.abs(vectors).round(12), axis=0)
    signs = np.where(vectors[largest, np.arange(len(values))] < 0, -1.0, 1.0)
    return vectors * signs, values


@dataclass(repr=False)
class PowerIteration(Result):
    """Eigenvectors of largest |eigenvalue| by repeated application.

    Attributes
    ----------
    values : ndarray of shape (k,)
    vectors : ndarray of shape (n, k)
    n_iter : list of int
        Steps for each.
    rates : list of float
        Ratio of successive errors of the direction, |lambda_2 / lambda_1|, as seen.
    flips : list of bool
        Whether the vector changed sign in each step: its eigenvalue is negative.
    """

    values: np.ndarray
    vectors: np.ndarray
    n_iter: list[int]
    rates: list[float]
    flips: list[bool]

    def _title(self) -> str:
        return f"{len(self.values)} eigenvectors by power iteration"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "eigenvalue": self.values.tolist(),
            "steps": self.n_iter,
            "rate": self.rates,
            "sign flips": self.flips,
        }


def power_iteration(
    A: ArrayLike,
    n_components: int = 1,
    *,
    tol: float = 1e-10,
    max_iter: int = 10_000,
    random_state: int = 0,
) -> PowerIteration:
    """Leading eigenvectors of a symmetric matrix by power iteration with deflation.

    Parameters
    ----------
    A : array-like of shape (n, n)
    n_components : int, default=1
    tol : float, default=1e-10
        On the change of direction.
    max_iter : int, default=10000
        For each vector.
    random_state : int, default=0

    Returns
    -------
    found : PowerIteration

    Examples
    --------
    >>> power_iteration([[2, 1], [1, 2]]).values.round(8).tolist()
    [3.0]
    """
    left = _symmetric(A)
    if not 1 <= n_components <= len(left):
        raise DataError(f"n_components is from 1 to {len(left)}, not {n_components}")
    rng = np.random.default_rng(random_state)
    vectors: list[np.ndarray] = []
    values, counts, rates, flips = [], [], [], []
    for _ in range(n_components):
        v = rng.normal(size=len(left))
        for found in vectors:
            v -= (v @ found) * found
        v /= np.linalg.norm(v)
        changes: list[float] = []
        flipped = False
        for step in range(1, max_iter + 1):  # noqa: B007 - its last value is reported
            w = left @ v
            length = np.linalg.norm(w)
            if length == 0:
                break
            w /= length
            flipped = bool(w @ v < 0)
            changes.append(float(np.linalg.norm(w + v if flipped else w - v)))
            v = w
            if changes[-1] <= tol:
                break
        else:
            raise DataError(
                f"power iteration did not converge in {max_iter} steps: the two largest "
                "|eigenvalues| are nearly equal; use diagonalize"
            )
        value = float(v @ left @ v)
        values.append(value)
        vectors.append(v)
        counts.append(step)
        usable = [b / a for a, b in pairwise(changes) if a > 1e-7]
        rates.append(float(usable[-1]) if usable else 0.0)
        flips.append(flipped)
        left = left - value * np.outer(v, v)
    return PowerIteration(np.array(values), np.array(vectors).T, counts, rates, flips)
