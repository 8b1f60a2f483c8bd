"""TruncatedSVD and IncrementalPCA under scikit-learn's names.

TruncatedSVD: X is about U S V' with the k largest singular values, the columns not centered, so
that sparse rows stay sparse. IncrementalPCA: principal components batch by batch; `PCA` adds up
batches exactly with ``partial_fit``. scikit-learn's own classes, which take any table here.

Texts: 000 7.1 · 001 14.5 · 004 7.2.
"""

from __future__ import annotations

from sklearn import decomposition

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Optional, Whole

TEXTS = "000 7.1 · 001 14.5 · 004 7.2"


@method(
    task="reduce",
    texts=TEXTS,
    use="Sparse rows, such as counts of words: few coordinates without centering.",
    avoid="Dense rows of numbers: PCA, which centers them.",
    peers=("sklearn.decomposition.TruncatedSVD",),
    on="scikit-learn",
)
class TruncatedSVD(OverScikitLearn, decomposition.TruncatedSVD):
    """Singular value decomposition of the rows, not centered, cut to few components.

    Use it for sparse rows (latent semantic analysis); not for dense numbers, for which `PCA` is
    better.

    Examples
    --------
    >>> from gnomon.reduce import TruncatedSVD
    >>> TruncatedSVD(1, random_state=0).fit([[1, 1], [2, 2], [3, 3]]).singular_values_.round(3)
    array([5.292])
    """

    natively = Takes(sparse=True)
    _stored = {
        "components_": Array("f", ("n_components", "n_columns")),
        "explained_variance_": Array("f", ("n_components",)),
        "explained_variance_ratio_": Array("f", ("n_components",)),
        "singular_values_": Array("f", ("n_components",)),
    }


@method(
    task="reduce",
    texts=TEXTS,
    use="Principal components of rows that arrive in batches, in little memory.",
    avoid="Rows in memory or in a file (PCA, which is exact and streams).",
    peers=("sklearn.decomposition.IncrementalPCA",),
    on="scikit-learn",
)
class IncrementalPCA(OverScikitLearn, decomposition.IncrementalPCA):
    """Principal components computed batch by batch.

    Use it where rows arrive in batches; not for rows in memory or in a file, for which `PCA` is
    exact.

    Examples
    --------
    >>> from gnomon.reduce import IncrementalPCA
    >>> IncrementalPCA(1).fit([[0, 0], [1, 1], [2, 2], [3, 3]]).explained_variance_ratio_.round(3)
    array([1.])
    """

    _copies = 1.0
    _squares = 4.0

    natively = Takes(sparse=True)
    _stored = {
        "batch_size_": Optional(Whole()),
        "components_": Array("f8", ("n_components_", "n_columns")),
        "explained_variance_": Array("f8", ("n_components_",)),
        "explained_variance_ratio_": Array("f8", ("n_components_",)),
        "mean_": Array("f8", ("n_columns",)),
        "n_components_": Whole(),
        "n_samples_seen_": Number(),
        "noise_variance_": Number(),
        "singular_values_": Array("f8", ("n_components_",)),
        "var_": Array("f8", ("n_columns",), low=0.0),
    }
