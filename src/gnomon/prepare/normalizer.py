"""Normalizer: every row is divided by its length.

    x / |x|,    |x| the Euclidean length, the sum of absolute values, or the greatest of them

Rows then differ in direction only, so that Euclidean distances order them as cosines do.
scikit-learn's own class, which takes any table here.

Texts: 003 2.2.4 (cosine similarity) · 000a 4.2 (columns, which `StandardScaler` brings to one
scale).
"""

from __future__ import annotations

from typing import Any

from sklearn import preprocessing

from gnomon.contract.over_scikit_learn import OverScikitLearn, copied
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method


@method(
    task="filter",
    texts="003 2.2.4",
    use="Rows whose direction counts and not their length: counts of words, spectra.",
    avoid="Columns of different units: StandardScaler treats each column by itself.",
    peers=("sklearn.preprocessing.Normalizer",),
    on="scikit-learn",
    synonyms=("unit norm", "unit length", "cosine"),
)
class Normalizer(OverScikitLearn, preprocessing.Normalizer):
    """Rows divided by their lengths; rows of zeros stay as they are.

    Use it for counts of words and other rows whose direction counts and not their length; not for
    columns of different units, for which `StandardScaler` is made.

    Examples
    --------
    >>> from gnomon.prepare import Normalizer
    >>> Normalizer().fit_transform([[3.0, 4.0], [0.0, 2.0]]).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """

    natively = Takes(sparse=True)
    _stored = {}

    def _checked(self, X: Any) -> Any:
        rows = super()._checked(X)
        return rows if self.copy else copied(rows)  # scikit-learn's code would write to them

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 4 * n_rows)
