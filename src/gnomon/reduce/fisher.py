"""Fisher's discriminant: the directions in which class means lie farthest apart for their spread.

Maximises  v' S_between v / v' S_within v  with S_within = sum_c w_c S_c and S_between = sum_c w_c
(m_c - m)(m_c - m)', w_c the class's share. The same directions maximise the ratio to the whole S.

Texts: 004 15.4, 15.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array

from gnomon.contract import Classifier, Data
from gnomon.contract.numbers import plain_numbers
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.reduce.spectrum import warn_fewer, with_signs

ROUNDING = 1e-10  # share of the largest below which an eigenvalue is rounding


@method(
    task="classify",
    texts="004 15.4, 15.5",
    use="To see classes in few linear coordinates, and to tell them apart by nearest class mean.",
    avoid="Classes of very different shape, classes with the same mean, outliers.",
    peers=("sklearn.discriminant_analysis.LinearDiscriminantAnalysis",),
)
class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Classifier):
    """Directions in which class means lie farthest apart, and the nearest mean along them.

    Maximises ``v' S_between v / v' S_within v``; further directions are uncorrelated within
    classes. With two classes v is ``S_within^-1 (m_1 - m_2)``. A row goes to the class with the
    least ``|z - z_c|^2 / 2 - log share_c`` in the coordinates z = v'(x - m), scaled to variance one
    within classes: the rule of normal classes with one common covariance. Use it to look at
    classes, and as a quick linear classifier; not where classes differ in shape or share a mean.

    Texts: 004 15.4-15.5. Directions without variance within classes are left out of the inverse
    (the text asks for an invertible S); `shrinkage` avoids that.

    Parameters
    ----------
    n_components : int or None, default=None
        Directions, at most; None for all: one less than the classes, or the columns where fewer.
    shrinkage : float, default=0.0
        Added to the diagonal of S_within, as a share of its mean variance.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components_, n_features)
        ``v' S_within v = 1``; each with its largest entry positive.
    ratios_ : ndarray of shape (n_components_,)
        Variance between over variance within along each direction.
    means_ : ndarray of shape (n_classes, n_features)
    mean_ : ndarray of shape (n_features,)
    shares_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.reduce import FisherDiscriminant
    >>> rows = [[0.0, 0.0], [1.0, 0.2], [5.0, 0.1], [6.0, 0.3]]
    >>> FisherDiscriminant().fit(rows, ["a", "a", "b", "b"]).predict([[0.5, 0.1], [5.5, 0.2]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {"n_components": [None, whole(1)], "shrinkage": [at_least(0)]}
    _stored = {
        "directions_": Array("f8", ("n_components_", "n_columns")),
        "mean_": Array("f8", ("n_columns",)),
        "means_": Array("f8", ("n_classes", "n_columns")),
        "n_components_": Whole(),
        "ratios_": Array("f8", ("n_components_",)),
        "shares_": Array("f8", ("n_classes",), low=0.0),
    }

    def __init__(self, n_components=None, *, shrinkage=0.0):
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _fit(self, data: Data) -> None:
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        weights = data.weight_array
        n_classes = len(self.classes_)
        totals = np.bincount(data.y, weights, n_classes)
        mean = np.average(rows, axis=0, weights=weights)
        centered = rows - mean
        means = np.zeros((n_classes, rows.shape[1]))
        np.add.at(means, data.y, centered * weights[:, np.newaxis])
        present = np.maximum(totals, np.finfo(float).tiny)[:, np.newaxis]
        means = np.where(totals[:, np.newaxis] > 0, means / present, 0.0)
        self.shares_ = totals / totals.sum()
        around = (centered - means[data.y]) * np.sqrt(weights / totals.sum())[:, np.newaxis]
        within = around.T @ around
        variances = (weights @ centered**2) / totals.sum()
        whitening = whitening_of(within, self.shrinkage, variances)
        apart = (np.sqrt(self.shares_)[:, np.newaxis] * means) @ whitening
        _, roots, right = np.linalg.svd(apart, full_matrices=False)
        most = max(min(n_classes - 1, whitening.shape[1]), 1)
        k = most if self.n_components is None else min(self.n_components, most)
        directions = (whitening @ right[:k].T).T if right.size else np.zeros((1, rows.shape[1]))
        self.directions_ = with_signs(directions)
        self.ratios_ = roots[:k] ** 2 if right.size else np.zeros(1)
        self.mean_, self.means_ = mean, means + mean
        self.n_components_ = len(self.directions_)
        warn_fewer(
            self.n_components,
            self.n_components_,
            f"the means of {n_classes} classes in {whitening.shape[1]} directions of variance "
            f"differ along {most} at most",
        )

    def _map(self, rows):
        return (rows - self.mean_) @ self.directions_.T

    def _proba(self, rows):
        centers = self._map(self.means_)
        at = self._map(rows)
        with np.errstate(divide="ignore"):
            logs = at @ centers.T - (centers**2).sum(axis=1) / 2 + np.log(self.shares_)
        logs -= logs.max(axis=1, keepdims=True)
        shares = np.exp(logs)
        return shares / shares.sum(axis=1, keepdims=True)

    def transform(self, X) -> np.ndarray:
        """Discriminant coordinates of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components_)
        """
        return self._each_block(self._map, X)

    def fit_transform(self, X, y=None, sample_weight=None) -> np.ndarray:
        """Learn the directions and project the same rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like
        sample_weight : array-like, default=None

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components_)
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _working_memory(self, n_rows, n_columns):
        return 8 * (6 * n_rows * n_columns + 8 * n_columns**2)

    def _check_loaded(self):
        if hasattr(self, "directions_") and (
            self.means_.shape != (len(self.classes_), self.directions_.shape[1])
            or self.mean_.shape != self.directions_.shape[1:]
        ):
            raise DataError("directions_, means_ and mean_ do not fit together")


def whitening_of(scatter: np.ndarray, shrinkage: float, variances: np.ndarray) -> np.ndarray:
    """W with W' S W = I on the directions that vary; (d, rank). Columns are scaled first."""
    scale = np.sqrt(variances)
    varied = scale > 0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=varied)
    if shrinkage:
        scatter = scatter + shrinkage * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
    values, vectors = np.linalg.eigh(scatter * inverse * inverse[:, np.newaxis])
    kept = values > ROUNDING * max(values[-1], ROUNDING)
    return (inverse[:, np.newaxis] * vectors[:, kept]) / np.sqrt(values[kept])


def fisher_direction(one: Any, other: Any) -> np.ndarray:
    """The two-class discriminant in closed form, ``S_w^-1 (m_1 - m_2)`` (004 15.4).

    Parameters
    ----------
    one, other : array-like of shape (n_1, d) and (n_2, d)
        Rows of the two classes.

    Returns
    -------
    direction : ndarray of shape (d,)
        S_w is the sum of both scatter matrices (sums of squares).

    Examples
    --------
    >>> fisher_direction([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]], [[4.0, 0.0], [6.0, 0.0], [5.0, 1.0]])
    array([-1.,  0.])
    """
    one, other = (
        check_array(plain_numbers(each, name), dtype=np.float64)
        for each, name in ((one, "one"), (other, "other"))
    )
    around = np.vstack([one - one.mean(axis=0), other - other.mean(axis=0)])
    scatter = around.T @ around
    if np.linalg.matrix_rank(scatter, hermitian=True) < len(scatter):
        raise DataError(
            "the scatter within classes is singular: leave out columns that are constant or "
            "follow from others, or use FisherDiscriminant(shrinkage=...)"
        )
    return np.linalg.solve(scatter, one.mean(axis=0) - other.mean(axis=0))
