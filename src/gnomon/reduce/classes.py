"""Components of classes: how alike classes are, features from their components, curves.

Texts: 000a 5.2, ex. 6.6 · 000b ex. 12.8, 12.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gnomon.contract.numbers import plain_numbers
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.reduce.low_rank import svd
from gnomon.reduce.mds import DistanceMap, principal_coordinates


def _leading(rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and first components of rows."""
    mean = rows.mean(axis=0)
    return mean, svd(rows - mean, min(k, *rows.shape)).right


def _by_class(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = check_array(plain_numbers(X), dtype=np.float64)
    labels = np.asarray(y)
    if labels.shape != (len(rows),):
        raise DataError(f"there are {len(rows)} rows and labels of shape {labels.shape}")
    classes, codes = np.unique(labels, return_inverse=True)
    return rows, classes, codes


@dataclass(repr=False)
class ClassSimilarity(Result):
    """How badly each class is described by the components of another.

    Attributes
    ----------
    classes : ndarray of shape (c,)
    errors : ndarray of shape (c, c)
        Mean squared error of the rows of class i, described by its own mean and the components of
        class j.
    dissimilarity : ndarray of shape (c, c)
        The mean of both directions, zero on the diagonal.
    """

    classes: np.ndarray
    errors: np.ndarray
    dissimilarity: np.ndarray

    def map(self, n_components: int = 2) -> DistanceMap:
        """The classes on a map, by principal coordinates."""
        return principal_coordinates(self.dissimilarity, n_components)

    def _title(self) -> str:
        return f"Cross errors of {len(self.classes)} classes"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"class": [str(each) for each in self.classes]}
        for j, name in enumerate(self.classes):
            columns[f"by {name}"] = list(self.errors[:, j])
        return columns


def class_similarity(X: Any, y: Any, n_components: int = 20) -> ClassSimilarity:
    """How alike classes are: the error of one class's rows in another's components.

    E(A -> B) is the mean squared error of A's rows, written as A's mean plus the first components
    of B; the dissimilarity is ``(E(A -> B) + E(B -> A)) / 2`` (000a ex. 6.6). ``map()`` draws it.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    n_components : int, default=20
        At most as many as a class has rows or columns.

    Returns
    -------
    similarity : ClassSimilarity

    Examples
    --------
    >>> X = [[0, 0], [1, 0], [2, 0], [0, 0], [0, 1], [0, 2.0]]
    >>> class_similarity(X, [0, 0, 0, 1, 1, 1], 1).dissimilarity.round(3).tolist()
    [[0.0, 0.667], [0.667, 0.0]]
    """
    rows, classes, codes = _by_class(X, y)
    groups = [rows[codes == c] for c in range(len(classes))]
    models = [_leading(group, n_components) for group in groups]
    errors = np.empty((len(classes), len(classes)))
    for i, group in enumerate(groups):
        centered = group - models[i][0]
        for j, (_, components) in enumerate(models):
            left = centered - (centered @ components.T) @ components
            errors[i, j] = (left**2).sum(axis=1).mean()
    between = (errors + errors.T) / 2
    np.fill_diagonal(between, 0.0)
    return ClassSimilarity(classes, errors, between)


@dataclass(repr=False)
class ClassFeatures(Result):
    """Coordinates along each class's own components, side by side.

    Attributes
    ----------
    classes : ndarray of shape (c,)
    means : ndarray of shape (c, d)
    components : list of ndarray
        One block per class.
    """

    classes: np.ndarray
    means: np.ndarray
    components: list[np.ndarray]

    def transform(self, X: Any) -> np.ndarray:
        """Features of rows: for each class, coordinates around its mean.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray
            As many columns as all blocks together have components.
        """
        rows = check_array(plain_numbers(X), dtype=np.float64)
        return np.hstack(
            [(rows - mean) @ block.T for mean, block in zip(self.means, self.components)]
        )

    def _title(self) -> str:
        return f"Features from components of {len(self.classes)} classes"

    def _columns(self) -> dict[str, list]:
        return {
            "class": [str(each) for each in self.classes],
            "components": [len(block) for block in self.components],
        }


def class_features(X: Any, y: Any, n_components: int = 50) -> ClassFeatures:
    """Components of every class, as features for another learner (000b ex. 12.10).

    Fit them on training rows only. For components of all rows together use `PCA`.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    n_components : int, default=50
        Per class; fewer where it has fewer rows or columns.

    Returns
    -------
    features : ClassFeatures

    Examples
    --------
    >>> X = [[0, 0], [1, 0], [2, 0], [0, 0], [0, 1], [0, 2.0]]
    >>> class_features(X, [0, 0, 0, 1, 1, 1], 1).transform(X).shape
    (6, 2)
    """
    rows, classes, codes = _by_class(X, y)
    models = [_leading(rows[codes == c], n_components) for c in range(len(classes))]
    return ClassFeatures(classes, np.array([m for m, _ in models]), [c for _, c in models])


@dataclass(repr=False)
class CurveBasis(Result):
    """Curves as a mean curve plus few basis curves.

    Attributes
    ----------
    grid : ndarray of shape (d,)
        Where curves are sampled.
    mean : ndarray of shape (d,)
    curves : ndarray of shape (k, d)
        Orthonormal with respect to the integral over the grid.
    coefficients : ndarray of shape (n, k)
    shares : ndarray of shape (k,)
        Of the variance.
    """

    grid: np.ndarray
    mean: np.ndarray
    curves: np.ndarray
    coefficients: np.ndarray
    shares: np.ndarray

    def approximate(self, k: int | None = None) -> np.ndarray:
        """The curves from the first k basis curves.

        Parameters
        ----------
        k : int or None, default=None

        Returns
        -------
        curves : ndarray of shape (n, d)
        """
        return self.mean + self.coefficients[:, :k] @ self.curves[:k]

    def _title(self) -> str:
        return f"{len(self.curves)} basis curves, {self.shares.sum():.1%} of the variance"

    def _columns(self) -> dict[str, list]:
        return {
            "basis curve": list(range(1, len(self.curves) + 1)),
            "share of variance": list(self.shares),
        }


def curve_basis(curves: Any, n_components: int = 5, grid: Any = None) -> CurveBasis:
    """A mean curve and a few basis curves for curves sampled on one grid (000a 5.2).

    ``f(t) = mean(t) + sum_k c_k phi_k(t)``; three to five suffice for reflectance spectra. On an
    uneven grid samples are weighted by its (trapezoid) steps, so that basis curves are orthonormal
    in the integral.

    Parameters
    ----------
    curves : array-like of shape (n, d)
    n_components : int, default=5
    grid : array-like of shape (d,) or None, default=None
        Rising; None for 0, 1, 2 ...

    Returns
    -------
    basis : CurveBasis

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0, 1, 50)
    >>> basis = curve_basis(np.outer([1.0, 2.0, 4.0], t**2), 1, t)
    >>> round(float(basis.shares[0]), 6)
    1.0
    """
    rows = check_array(plain_numbers(curves, "curves"), dtype=np.float64)
    at = np.arange(rows.shape[1], dtype=float) if grid is None else np.asarray(grid, np.float64)
    if at.shape != (rows.shape[1],) or (np.diff(at) <= 0).any():
        raise DataError("the grid must rise and have one place for each sample of a curve")
    steps = np.diff(at)
    weights = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / 2 if len(at) > 1 else np.ones(1)
    roots = np.sqrt(weights)
    mean = rows.mean(axis=0)
    found = svd((rows - mean) * roots, min(n_components, *rows.shape))
    total = found.total if found.total > 0 else 1.0
    return CurveBasis(
        at, mean, found.right / roots, found.left * found.values, found.values**2 / total
    )
