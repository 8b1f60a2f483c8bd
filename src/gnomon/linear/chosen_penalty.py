"""Linear models that choose their penalty by cross-validation, under scikit-learn's names.

    alpha = argmin over a grid of the mean loss on the folds left out

scikit-learn's own classes, which take any table here. `gnomon.evaluate.one_standard_error` is
another rule of choice, and `ElasticNet.path` the whole path.

Texts: 000 10.4.2, 11.4.1 · 001 7.2.1-7.2.4 · 004 4.7.
"""

from __future__ import annotations

from sklearn import linear_model

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Flag, Number, Object, Optional, Text


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Correlated columns, and no penalty in mind.",
    avoid="Columns most of which do not matter: LassoCV.",
    peers=("sklearn.linear_model.RidgeCV",),
    on="scikit-learn",
)
class RidgeCV(OverScikitLearn, linear_model.RidgeCV):
    """Ridge regression with the penalty chosen by leaving out one row at a time, or by folds.

    Use it for correlated columns; not to find the few columns that matter. Without ``cv`` every row
    is left out once, at the cost of one fit.

    Examples
    --------
    >>> from gnomon.linear import RidgeCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> RidgeCV(alphas=[0.01, 100.0]).fit(X, y).alpha_
    0.01
    """

    _target = "numbers"
    _many_targets = True
    _stored = {
        "alpha_": Number() | Array("f", (None,)),
        "best_score_": Number(finite=False) | Array("f", (None,), finite=False),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "cv_results_": Optional(Array("f", None)),
        "cv_values_": Optional(Array("f", None)),
    }


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many columns of which few matter.",
    avoid="Correlated columns that matter together: ElasticNetCV.",
    peers=("sklearn.linear_model.LassoCV",),
    on="scikit-learn",
)
class LassoCV(OverScikitLearn, linear_model.LassoCV):
    """Lasso regression with the penalty chosen by cross-validation along its path.

    Use it for many columns of which few matter; not for groups of correlated columns, of which it
    keeps one.

    Examples
    --------
    >>> from gnomon.linear import LassoCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> LassoCV(cv=3).fit(X, y).coef_.round(1).tolist()
    [1.0]
    """

    _target = "numbers"
    _stored = {
        "alpha_": Number(),
        "alphas_": Array("f", [(None,), (None, None)]),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "dual_gap_": Number(finite=False),
        "intercept_": Number() | Array("f", (None,)),
        "mse_path_": Array("f", None),
    }


@method(
    task="regress",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many columns in correlated groups of which few matter.",
    avoid="Few columns, all of which matter: RidgeCV.",
    peers=("sklearn.linear_model.ElasticNetCV",),
    on="scikit-learn",
)
class ElasticNetCV(OverScikitLearn, linear_model.ElasticNetCV):
    """Elastic net with the penalty, and the share of the lasso in it, chosen by cross-validation.

    Use it for many columns in correlated groups; not for few columns that all matter.

    Examples
    --------
    >>> from gnomon.linear import ElasticNetCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> ElasticNetCV(cv=3).fit(X, y).predict([[2.0]]).round(1).tolist()
    [2.0]
    """

    _target = "numbers"
    _stored = {
        "alpha_": Number(),
        "alphas_": Array("f", [(None,), (None, None)]),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "dual_gap_": Number(finite=False),
        "intercept_": Number() | Array("f", (None,)),
        "mse_path_": Array("f", None),
        "l1_ratio_": Number(),
    }


@method(
    task="classify",
    texts="000 11.3.1-11.3.2 · 004 8.1",
    use="Classes with a linear border, and no penalty in mind.",
    avoid="Borders that are not linear.",
    peers=("sklearn.linear_model.LogisticRegressionCV",),
    on="scikit-learn",
)
class LogisticRegressionCV(OverScikitLearn, linear_model.LogisticRegressionCV):
    """Logistic regression with the penalty chosen by cross-validation.

    Use it for classes with a linear border; not where the border bends.

    Examples
    --------
    >>> from gnomon.linear import LogisticRegressionCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> model = LogisticRegressionCV(cv=2, l1_ratios=(0,), use_legacy_attributes=False)
    >>> model.fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    _target = "classes"
    _stored = {
        "C_": Array("f", (None,)) | Number(),
        "Cs_": Array("f", (None,)),
        "coef_": Array("f", (None, "n_columns")),
        "coefs_paths_": DictOf(Anything()) | Array("f", None),
        "intercept_": Array("f", (None,)),
        "l1_ratio_": Anything(),
        "l1_ratios_": Anything(),
        "scores_": DictOf(Anything()) | Array("f", None),
        "n_iter_": Array("i", None),
    }


@method(
    task="classify",
    texts="001 7.2.1-7.2.4 · 004 4.7",
    use="Many classes and columns, and no penalty in mind.",
    avoid="Where probabilities are needed: LogisticRegressionCV.",
    peers=("sklearn.linear_model.RidgeClassifierCV",),
    on="scikit-learn",
)
class RidgeClassifierCV(OverScikitLearn, linear_model.RidgeClassifierCV):
    """Ridge regression on -1 and +1, one per class, with the penalty chosen by cross-validation.

    Use it for many classes and columns, where it is fast; not where probabilities are needed.

    Examples
    --------
    >>> from gnomon.linear import RidgeClassifierCV
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> RidgeClassifierCV().fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    _target = "classes"
    _stored = {
        "alpha_": Number() | Array("f", (None,)),
        "best_score_": Number(finite=False) | Array("f", (None,), finite=False),
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "cv_results_": Optional(Array("f", None)),
        "cv_values_": Optional(Array("f", None)),
        "_label_binarizer": Object(("LabelBinarizer",)),
        "alpha_per_target": Flag(),
        "gcv_mode": Text() | None,
    }
