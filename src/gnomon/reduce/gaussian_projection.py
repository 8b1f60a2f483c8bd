"""GaussianRandomProjection and SparseRandomProjection under scikit-learn's names.

    x -> R x,  R of k rows with independent entries of mean zero and variance 1 / k

keeps all distances within a factor 1 +- eps once k is about 4 log(n) / (eps^2 / 2 - eps^3 / 3)
(Johnson and Lindenstrauss). scikit-learn's own classes, which take any table here;
`RandomProjection` draws the same for the same columns whatever the number of rows.

Texts: 000 7.4 · 004 7.2.
"""

from __future__ import annotations

from sklearn import random_projection

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Optional, Whole

TEXTS = "000 7.4 · 004 7.2"


class DrawnDirections(OverScikitLearn):
    """What both share: they draw a matrix, whatever the rows."""

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        k = self.n_components
        if k == "auto":
            least = random_projection.johnson_lindenstrauss_min_dim(max(n_rows, 1), eps=self.eps)
            k = min(int(least), n_columns)
        return 8 * (2 * k * n_columns + n_rows)


@method(
    task="reduce",
    texts=TEXTS,
    use="Very many columns, where distances between rows matter and columns do not.",
    avoid="Few columns, or columns that are to be understood.",
    peers=("sklearn.random_projection.GaussianRandomProjection",),
    on="scikit-learn",
)
class GaussianRandomProjection(DrawnDirections, random_projection.GaussianRandomProjection):
    """Random projection with normal entries.

    Use it for very many columns, before a method that needs distances; not where components are to
    be understood (`PCA`).

    Examples
    --------
    >>> from gnomon.reduce import GaussianRandomProjection
    >>> GaussianRandomProjection(2, random_state=0).fit_transform([[1.0] * 50, [0.0] * 50]).shape
    (2, 2)
    """

    natively = Takes(sparse=True)
    _stored = {
        "_n_features_out": Whole(1),
        "components_": Array("f8", ("n_components_", "n_columns")),
        "inverse_components_": Optional(Array("f8", ("n_columns", "n_components_"))),
        "n_components_": Whole(),
    }


@method(
    task="reduce",
    texts=TEXTS,
    use="Very many columns, where distances between rows matter and columns do not.",
    avoid="Few columns, or columns that are to be understood.",
    peers=("sklearn.random_projection.SparseRandomProjection",),
    on="scikit-learn",
)
class SparseRandomProjection(DrawnDirections, random_projection.SparseRandomProjection):
    """Random projection with few entries that are not zero.

    Use it for very many columns, before a method that needs distances; not where components are to
    be understood (`PCA`).

    Examples
    --------
    >>> from gnomon.reduce import SparseRandomProjection
    >>> SparseRandomProjection(2, random_state=0).fit_transform([[1.0] * 50, [0.0] * 50]).shape
    (2, 2)
    """

    natively = Takes(sparse=True)
    _stored = {
        "_n_features_out": Whole(1),
        "components_": Array("f8", ("n_components_", "n_columns"), sparse=True),
        "density_": Number(),
        "inverse_components_": Optional(Array("f8", ("n_columns", "n_components_"))),
        "n_components_": Whole(),
    }
