"""Who belongs where: labels as matrices, shares as labels, and odds of belonging.

Texts: 001 18.3 · 002 "Mixture models" · 004 13.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from gnomon.cluster.intake import label_codes, number_rows
from gnomon.cluster.validity import cluster_means
from gnomon.engine.errors import DataError


def assignment_matrix(labels: Any, n_clusters: int | None = None) -> np.ndarray:
    """Labels 0 .. k - 1 as a matrix of zeros and ones: one line per row, one column per cluster.

    Lines sum to one, columns to the sizes of the clusters.

    Parameters
    ----------
    labels : array-like of int of shape (n,)
    n_clusters : int, default=None
        Columns; as many as the labels need by default.

    Returns
    -------
    matrix : ndarray of shape (n, k)

    Examples
    --------
    >>> assignment_matrix([0, 1, 1]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or (labels < 0).any():
        raise DataError("labels must be whole numbers from 0 on; leave noise (-1) out first")
    k = int(labels.max(initial=-1)) + 1
    if n_clusters is not None and n_clusters < k:
        raise DataError(f"label {k - 1} does not fit n_clusters={n_clusters}")
    return np.eye(k if n_clusters is None else n_clusters)[labels]


def hard_labels(shares: Any) -> np.ndarray:
    """The cluster of the largest share of each row; of equal shares the first.

    Parameters
    ----------
    shares : array-like of shape (n, k)
        None negative; lines sum to one.

    Returns
    -------
    labels : ndarray of shape (n,)

    Examples
    --------
    >>> hard_labels([[0.2, 0.8], [0.5, 0.5]]).tolist()
    [1, 0]
    """
    return checked_shares(shares).argmax(axis=1)


def harden(shares: Any) -> np.ndarray:
    """Soft shares as a hard assignment matrix.

    Parameters
    ----------
    shares : array-like of shape (n, k)

    Returns
    -------
    matrix : ndarray of shape (n, k)

    Examples
    --------
    >>> harden([[0.2, 0.8]]).tolist()
    [[0.0, 1.0]]
    """
    shares = checked_shares(shares)
    return assignment_matrix(shares.argmax(axis=1), shares.shape[1])


def checked_shares(shares: Any) -> np.ndarray:
    """Shares whose lines sum to one."""
    shares = number_rows(shares, "shares")
    if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1.0):
        raise DataError("shares must not be negative and each line must sum to one")
    return shares


class Shape(NamedTuple):
    """Where clusters are and how they spread.

    Attributes
    ----------
    clusters : ndarray
        Their labels.
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d)
        By n, as 004 divides.
    """

    clusters: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def cluster_shapes(X: Any, labels: Any) -> Shape:
    """Mean and covariance of each cluster.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)

    Returns
    -------
    shapes : Shape

    Examples
    --------
    >>> cluster_shapes([[0.0], [2.0], [9.0]], [0, 0, 1]).covariances.ravel().tolist()
    [1.0, 0.0]
    """
    rows = number_rows(X)
    names, codes = label_codes(labels, len(rows))
    means, sizes = cluster_means(rows, codes, len(names))
    away = rows - means[codes]
    covariances = np.stack(
        [away[codes == c].T @ away[codes == c] / sizes[c] for c in range(len(names))]
    )
    return Shape(names, means, covariances)


def membership_probability(X: Any, labels: Any, points: Any, shape: str = "elliptic") -> np.ndarray:
    """How likely a row of each cluster lies as far out as each point does (004 13.2).

    Near one at the cluster's mean, near zero far outside. Clusters are taken as normal: elliptic by
    ``1 - F(D^2)``, F the chi-square distribution of d degrees of freedom and D the Mahalanobis
    distance; spherical by the two tails of the normal law at ``|x - m| / s``, s the root mean
    squared distance to the mean.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of the clusters.
    labels : array-like of shape (n,)
    points : array-like of shape (m, d)
    shape : {"elliptic", "spherical"}, default="elliptic"

    Returns
    -------
    probability : ndarray of shape (m, k)
        Clusters in the order of their labels.

    Examples
    --------
    >>> rows = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    >>> membership_probability(rows, [0, 0, 0, 0], [[0.0, 0.0], [0.0, 1.0]]).round(4).tolist()
    [[1.0], [0.3679]]
    """
    if shape not in ("elliptic", "spherical"):
        raise DataError(f"shape is 'elliptic' or 'spherical', not {shape!r}")
    found = cluster_shapes(X, labels)
    points = number_rows(points, "points")
    d = points.shape[1]
    probability = np.empty((len(points), len(found.clusters)))
    for c, (mean, covariance) in enumerate(zip(found.means, found.covariances)):
        away = points - mean
        if shape == "spherical":
            spread = np.sqrt(np.trace(covariance))
            if spread == 0:
                raise DataError(f"all rows of cluster {found.clusters[c]} are equal")
            probability[:, c] = 2 * scipy.stats.norm.sf(np.sqrt((away**2).sum(axis=1)) / spread)
            continue
        if np.linalg.matrix_rank(covariance) < d:
            raise DataError(
                f"the rows of cluster {found.clusters[c]} lie in a plane: it has no ellipse; take "
                "fewer columns or shape='spherical'"
            )
        squared = (np.linalg.solve(covariance, away.T).T * away).sum(axis=1)
        probability[:, c] = scipy.stats.chi2.sf(squared, d)
    return probability
