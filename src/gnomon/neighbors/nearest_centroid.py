"""Nearest centroid: a row belongs to the class whose mean is nearest.

    class of x = argmin over k of |x - m_k|,    m_k = mean of the rows of class k

With ``shrink_threshold``, means move towards the mean of all rows, and columns in which all of
them arrive there no longer count (nearest shrunken centroids). scikit-learn's own class, which
takes any table here.

Texts: 003 2.2 · 004 2.1 (distances to rows); the shrunken form is that of Tibshirani and others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import neighbors

from gnomon.contract.in_units import InUnits
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array


@method(
    task="classify",
    texts="003 2.2 · 004 2.1",
    use="Classes that lie each around one place, many columns, a model of one row per class.",
    avoid="Classes of several groups, or of different spread: KNeighborsClassifier.",
    peers=("sklearn.neighbors.NearestCentroid",),
    on="scikit-learn",
    synonyms=("Rocchio", "nearest mean", "shrunken centroids", "minimum distance classifier"),
)
class NearestCentroid(InUnits, neighbors.NearestCentroid):
    """The class whose mean is nearest; the median by column with ``metric="manhattan"``.

    Use it where each class lies around one place, and as a baseline of one row per class; not
    where a class is several groups or classes differ in spread, for which `KNeighborsClassifier`
    is better.

    Examples
    --------
    >>> from gnomon.neighbors import NearestCentroid
    >>> rows = [[0.0], [1.0], [8.0], [9.0]]
    >>> NearestCentroid().fit(rows, ["low", "low", "high", "high"]).predict([[2.0]]).tolist()
    ['low']
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "centroids_": Array("f", ("n_classes", "n_columns")),
        "class_prior_": Array("f", ("n_classes",), low=0.0),
        "deviations_": Array("f", ("n_classes", "n_columns"), finite=False),
        "within_class_std_dev_": Array("f", ("n_columns",), finite=False, low=0.0),
    }

    def _decision_function(self, X: Any) -> np.ndarray:
        """scikit-learn's, which divides columns by the deviation of their rows in the classes."""
        if np.isnan(self.within_class_std_dev_).any():
            raise DataError(
                "NearestCentroid.decision_function and predict_proba need a class of several "
                "rows: each class had one row in fit, so that classes have no spread; predict works"
            )
        return super()._decision_function(X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 8 * n_rows)
