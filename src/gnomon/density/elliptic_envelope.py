"""EllipticEnvelope under scikit-learn's name: outliers by robust Mahalanobis distances.

    d(x)^2 = (x - m)' S^-1 (x - m)

m and S are the mean and the covariance of the half of the rows that lie closest together (minimum
covariance determinant), so that outliers do not hide themselves. scikit-learn's own class, which
takes any table here.

Texts: 000a 4.2 · 001 2.3 (normal distributions); the estimator is Rousseeuw's.
"""

from __future__ import annotations

from sklearn import covariance

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number


@method(
    task="density",
    texts="000a 4.2 · 001 2.3",
    use="Outliers of rows that form one group of about elliptic shape.",
    avoid="Several groups, or columns far from normal.",
    peers=("sklearn.covariance.EllipticEnvelope",),
    on="scikit-learn",
    synonyms=("outlier detection", "anomaly detection", "novelty detection"),
)
class EllipticEnvelope(OverScikitLearn, covariance.EllipticEnvelope):
    """Outliers by robust Mahalanobis distances: +1 for usual rows, -1 for outliers.

    Use it for rows that form one group of about elliptic shape; not for several groups, for which
    `OneClassSVM` is better.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import EllipticEnvelope
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> EllipticEnvelope(random_state=0).fit(rows).predict([[0.0, 0.0], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    _grows = True  # a mark and a distance for each row
    _stored = {
        "location_": Array("f", ("n_columns",)),
        "covariance_": Array("f", ("n_columns", "n_columns")),
        "precision_": Array("f", ("n_columns", "n_columns")) | None,
        "raw_location_": Array("f", ("n_columns",)),
        "raw_covariance_": Array("f", ("n_columns", "n_columns")),
        "raw_support_": Array("b", ("n_rows",)),
        "support_": Array("b", ("n_rows",)),
        "dist_": Array("f", ("n_rows",), low=0.0),
        "offset_": Number(),
    }

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (6 * n_rows * n_columns + 12 * n_columns**2 + 8 * n_rows)
