"""The kernel trick: algorithms that see rows through scalar products alone, on any Gram matrix.

Each function takes the matrix K_ij = k(x_i, x_j) and gives an expansion: coefficients c and an
offset b, so that a new row's value is sum_i c_i k(x_i, x) + b. Any kernel of the room will do,
and any matrix of similarities that passes `mercer_check`. The matrix is the caller's: n rows need
n^2 numbers.

Texts: 002 L1584-1605, L1708-1714.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.exceptions import ConvergenceWarning

from gnomon.engine.errors import DataError
from gnomon.margin.hulls import two_sides
from gnomon.margin.kernels import square_matrix


@dataclass(frozen=True)
class Expansion:
    """Functions of the form sum_i c_i k(x_i, x) + b.

    Attributes
    ----------
    coefficients : ndarray of shape (n,) or (n, m)
    offset : ndarray of shape () or (m,)
    """

    coefficients: np.ndarray
    offset: Any = 0.0

    def __call__(self, similarities: Any) -> np.ndarray:
        """Values for rows whose kernel values with the training rows are given, one row each."""
        return np.asarray(similarities, dtype=np.float64) @ self.coefficients + self.offset


def kernel_perceptron(gram: Any, y: Any, *, max_iter: int = 1000) -> Expansion:
    """Perceptron in the kernel's space: each wrong row adds its class's sign to its coefficient.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    y : array-like of shape (n,)
        Two classes; positive values are for the second in order.
    max_iter : int, default=1000
        Most passes; a warning says when rows are still wrong after them.

    Returns
    -------
    score : Expansion

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import RBF, kernel_perceptron
    >>> X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    >>> score = kernel_perceptron(RBF(1.0)(X), [0, 0, 1, 1])
    >>> (score(RBF(1.0)(X)) > 0).tolist()
    [False, False, True, True]
    """
    gram = square_matrix(gram)
    _, sign = two_sides(y)
    counts = np.zeros(len(sign))
    offset = 0.0
    for _ in range(max_iter):
        wrong = 0
        for i in range(len(sign)):
            if sign[i] * (gram[i] @ (counts * sign) + offset) <= 0:
                counts[i] += 1
                offset += sign[i]
                wrong += 1
        if not wrong:
            return Expansion(counts * sign, offset)
    warnings.warn(
        f"kernel_perceptron: rows are still wrong after max_iter={max_iter} passes; perhaps no "
        "plane of this kernel separates the classes",
        ConvergenceWarning,
        stacklevel=2,
    )
    return Expansion(counts * sign, offset)


def kernel_ridge(gram: Any, y: Any, alpha: float = 1.0) -> Expansion:
    """Ridge regression in the kernel's space: c = (K + alpha I)^-1 (y - mean), offset the mean.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    y : array-like of shape (n,) or (n, m)
    alpha : float, default=1.0
        The penalty on |w|^2.

    Returns
    -------
    estimate : Expansion

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import Linear, kernel_ridge
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> estimate = kernel_ridge(Linear()(X), [0.0, 1.0, 2.0], alpha=2.0)
    >>> estimate(Linear()([[1.0]], X)).round(6).tolist()
    [1.5]
    """
    gram, y = square_matrix(gram), np.asarray(y, dtype=np.float64)
    if not alpha > 0:
        raise DataError(f"alpha={alpha} must be positive, or K + alpha I may have no inverse")
    mean = y.mean(axis=0)
    factor = cho_factor(gram + alpha * np.eye(len(gram)), lower=True)
    return Expansion(cho_solve(factor, y - mean), mean)


def kernel_nearest_mean(gram: Any, y: Any) -> Expansion:
    """Scores of each class: the row's closeness to the class's mean in the kernel's space.

    -|phi(x) - m_k|^2 / 2 up to what is the same for all classes: <phi(x), m_k> - |m_k|^2 / 2. The
    greatest column decides, in the order of the sorted classes.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    y : array-like of shape (n,)

    Returns
    -------
    scores : Expansion

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import Linear, kernel_nearest_mean
    >>> X = np.array([[0.0], [2.0], [10.0]])
    >>> kernel_nearest_mean(Linear()(X), [0, 0, 1])(Linear()([[4.0]], X)).argmax(axis=1).tolist()
    [0]
    """
    gram = square_matrix(gram)
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    members = (codes.ravel()[:, None] == np.arange(len(labels))).astype(np.float64)
    means = members / members.sum(axis=0)
    return Expansion(means, -0.5 * np.einsum("ik,ij,jk->k", means, gram, means, optimize=True))


@dataclass(frozen=True)
class KernelGroups:
    """Groups found by `kernel_k_means`.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    objective : float
        Sum of squared distances to the means, in the kernel's space.
    n_iter : int
    scores : Expansion
        Of new rows: the greatest column is the nearest mean.
    """

    labels: np.ndarray
    objective: float
    n_iter: int
    scores: Expansion


def kernel_k_means(
    gram: Any,
    n_clusters: int,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    random_state: int | None = 0,
) -> KernelGroups:
    """k-means in the kernel's space, where groups need not be round in the columns.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    n_clusters : int
    n_init : int, default=10
        Random starts (rows drawn far from each other), of which the best is kept.
    max_iter : int, default=300
    random_state : int or None, default=0

    Returns
    -------
    groups : KernelGroups

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import Linear, kernel_k_means
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> kernel_k_means(Linear()(X), 2).objective
    1.0
    """
    gram = square_matrix(gram)
    n = len(gram)
    if not 1 <= n_clusters <= n:
        raise DataError(f"n_clusters={n_clusters} for {n} rows; give between 1 and {n}")
    rng = np.random.default_rng(random_state)
    runs = [_one_run(gram, n_clusters, max_iter, rng) for _ in range(n_init)]
    labels, objective, n_iter = min(runs, key=lambda run: run[1])
    return KernelGroups(labels, objective, n_iter, kernel_nearest_mean(gram, labels))


def _one_run(gram, k: int, max_iter: int, rng) -> tuple[np.ndarray, float, int]:
    n = len(gram)
    square = np.diagonal(gram)
    seeds = [int(rng.integers(n))]
    for _ in range(k - 1):
        away = (square[:, None] + square[seeds] - 2 * gram[:, seeds]).min(axis=1)
        away = np.maximum(away, 0.0)
        total = away.sum()
        free = np.setdiff1d(np.arange(n), seeds)
        seeds.append(int(rng.choice(n, p=away / total) if total > 0 else rng.choice(free)))
    labels = (square[seeds] / 2 - gram[:, seeds]).argmin(axis=1)
    labels[seeds] = np.arange(k)
    distances = np.zeros((n, k))
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        for group in range(k):
            inside = np.flatnonzero(labels == group)
            if not len(inside):
                # the row that lies worst begins the group anew
                inside = np.array([int(distances[np.arange(n), labels].argmax())])
                labels[inside] = group
            spread = gram[np.ix_(inside, inside)].mean()
            distances[:, group] = square - 2 * gram[:, inside].mean(axis=1) + spread
        new = distances.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
    return labels, float(np.maximum(distances[np.arange(n), labels], 0.0).sum()), n_iter


@dataclass(frozen=True)
class KernelComponents:
    """Principal components in a kernel's space.

    Attributes
    ----------
    variances : ndarray of shape (m,)
        Along each component, divided by n.
    coordinates : ndarray of shape (n, m)
        Of the training rows.
    transform : Expansion
        Coordinates of new rows, from their kernel values with the training rows.
    """

    variances: np.ndarray
    coordinates: np.ndarray
    transform: Expansion


def kernel_pca(gram: Any, n_components: int = 2) -> KernelComponents:
    """Principal components of the rows in the kernel's space.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    n_components : int, default=2

    Returns
    -------
    components : KernelComponents

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import Linear, kernel_pca
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> kernel_pca(Linear()(X), 1).variances.round(6).tolist()
    [1.333333]
    """
    gram = square_matrix(gram)
    n = len(gram)
    if not 1 <= n_components <= n:
        raise DataError(f"n_components={n_components} for {n} rows; give between 1 and {n}")
    means = gram.mean(axis=0)
    centered = gram - means - means[:, None] + means.mean()
    values, vectors = eigh(centered, subset_by_index=[n - n_components, n - 1])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(n_components)] < 0, -1.0, 1.0)
    lengths = np.sqrt(values)
    safe = np.where(values > 1e-12 * max(values[0], 1e-300), lengths, np.inf)
    coefficients = vectors / safe
    # a new row is centred as the training rows are
    shifted = coefficients - coefficients.mean(axis=0)
    offset = -(means @ coefficients) + means.mean() * coefficients.sum(axis=0)
    return KernelComponents(values / n, vectors * lengths, Expansion(shifted, offset))
