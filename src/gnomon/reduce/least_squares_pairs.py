"""Partial least squares and canonical correlation under scikit-learn's names.

    directions a, b of X and Y with  cov(X a, Y b)  (PLS) or  corr(X a, Y b)  (CCA)  greatest

scikit-learn's own classes, which take any table here. `CanonicalCorrelation` solves the eigenvalue
problem of the texts, with tests of how many directions there are; `NIPALS` shows the iterations.

Texts: 000a 7 (canonical correlation; partial least squares is not in the texts).
"""

from __future__ import annotations

from sklearn import cross_decomposition

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, ListOf, Optional, Text, Whole


@method(
    task="regress",
    texts="000a 7",
    use="Many correlated columns, several targets.",
    avoid="Few independent columns: LinearRegression.",
    peers=("sklearn.cross_decomposition.PLSRegression",),
    on="scikit-learn",
)
class PLSRegression(OverScikitLearn, cross_decomposition.PLSRegression):
    """Regression on the directions of X that vary most together with the targets.

    Use it for many correlated columns, more than rows even; not for few independent ones.

    Examples
    --------
    >>> from gnomon.reduce import PLSRegression
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> PLSRegression(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """

    _target = "numbers"
    _many_targets = True
    _stored = {
        "_n_features_out": Whole(1),
        "_norm_y_weights": Flag(),
        "_predict_1d": Optional(Flag()),
        "_x_mean": Array("f", ("n_columns",)),
        "_x_std": Array("f", ("n_columns",)),
        "_y_mean": Array("f", ("n_targets",)),
        "_y_std": Array("f", ("n_targets",)),
        "_x_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "_y_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "algorithm": Text(),
        "deflation_mode": Text(),
        "mode": Text(),
        "coef_": Array("f", ("n_targets", "n_columns")),
        "intercept_": Array("f", ("n_targets",)),
        "n_iter_": Optional(ListOf(Whole()) | Whole()),
        "x_loadings_": Array("f", ("n_columns", "n_components")),
        "x_rotations_": Array("f", ("n_columns", "n_components")),
        "x_weights_": Array("f", ("n_columns", "n_components")),
        "y_loadings_": Array("f", ("n_targets", "n_components")),
        "y_rotations_": Array("f", ("n_targets", "n_components")),
        "y_weights_": Array("f", ("n_targets", "n_components")),
        "x_scores_": Optional(Array("f", ("n_rows", "n_components"))),
        "y_scores_": Optional(Array("f", ("n_rows", "n_components"))),
    }


@method(
    task="regress",
    texts="000a 7",
    use="Two blocks of columns of the same rows, to see what they share.",
    avoid="One target: PLSRegression.",
    peers=("sklearn.cross_decomposition.PLSCanonical",),
    on="scikit-learn",
)
class PLSCanonical(OverScikitLearn, cross_decomposition.PLSCanonical):
    """Pairs of directions of two blocks of columns with the greatest covariance.

    Use it to see what two blocks share; not to predict one target.

    Examples
    --------
    >>> from gnomon.reduce import PLSCanonical
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> PLSCanonical(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """

    _target = "numbers"
    _many_targets = True
    _stored = {
        "_n_features_out": Whole(1),
        "_norm_y_weights": Flag(),
        "_predict_1d": Optional(Flag()),
        "_x_mean": Array("f", ("n_columns",)),
        "_x_std": Array("f", ("n_columns",)),
        "_y_mean": Array("f", ("n_targets",)),
        "_y_std": Array("f", ("n_targets",)),
        "_x_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "_y_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "algorithm": Text(),
        "deflation_mode": Text(),
        "mode": Text(),
        "coef_": Array("f", ("n_targets", "n_columns")),
        "intercept_": Array("f", ("n_targets",)),
        "n_iter_": Optional(ListOf(Whole()) | Whole()),
        "x_loadings_": Array("f", ("n_columns", "n_components")),
        "x_rotations_": Array("f", ("n_columns", "n_components")),
        "x_weights_": Array("f", ("n_columns", "n_components")),
        "y_loadings_": Array("f", ("n_targets", "n_components")),
        "y_rotations_": Array("f", ("n_targets", "n_components")),
        "y_weights_": Array("f", ("n_targets", "n_components")),
        "x_scores_": Optional(Array("f", ("n_rows", "n_components"))),
        "y_scores_": Optional(Array("f", ("n_rows", "n_components"))),
    }


@method(
    task="regress",
    texts="000a 7",
    use="Two blocks of columns of the same rows, to see what they share.",
    avoid="More columns than rows: PLSCanonical.",
    peers=("sklearn.cross_decomposition.CCA",),
    on="scikit-learn",
)
class CCA(OverScikitLearn, cross_decomposition.CCA):
    """Pairs of directions of two blocks of columns with the greatest correlation.

    Use it to see what two blocks share; not with more columns than rows, where every correlation is
    one. `CanonicalCorrelation` is the texts' form, with tests.

    Examples
    --------
    >>> from gnomon.reduce import CCA
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 0.2]]
    >>> Y = [[0.1, 1.0], [0.9, 0.4], [2.1, 0.2], [2.9, 1.1], [4.2, 0.1]]
    >>> CCA(n_components=1).fit(X, Y).transform(X).shape
    (5, 1)
    """

    _target = "numbers"
    _many_targets = True
    _stored = {
        "_n_features_out": Whole(1),
        "_norm_y_weights": Flag(),
        "_predict_1d": Optional(Flag()),
        "_x_mean": Array("f", ("n_columns",)),
        "_x_std": Array("f", ("n_columns",)),
        "_y_mean": Array("f", ("n_targets",)),
        "_y_std": Array("f", ("n_targets",)),
        "_x_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "_y_scores": Optional(Array("f", ("n_rows", "n_components"))),
        "algorithm": Text(),
        "deflation_mode": Text(),
        "mode": Text(),
        "coef_": Array("f", ("n_targets", "n_columns")),
        "intercept_": Array("f", ("n_targets",)),
        "n_iter_": Optional(ListOf(Whole()) | Whole()),
        "x_loadings_": Array("f", ("n_columns", "n_components")),
        "x_rotations_": Array("f", ("n_columns", "n_components")),
        "x_weights_": Array("f", ("n_columns", "n_components")),
        "y_loadings_": Array("f", ("n_targets", "n_components")),
        "y_rotations_": Array("f", ("n_targets", "n_components")),
        "y_weights_": Array("f", ("n_targets", "n_components")),
        "x_scores_": Optional(Array("f", ("n_rows", "n_components"))),
        "y_scores_": Optional(Array("f", ("n_rows", "n_components"))),
    }
