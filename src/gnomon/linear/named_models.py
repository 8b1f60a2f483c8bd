"""Further linear models under scikit-learn's names: Huber, Theil-Sen, ridge classifier.

scikit-learn's own classes, which take any table here. `RobustRegression` has more losses and the
standard errors of the coefficients.

Texts: 000 10.4.2, 11.2 · 001 3.6.
"""

from __future__ import annotations

from sklearn import linear_model
from sklearn.preprocessing import LabelBinarizer

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import CLASSES, Array, DictOf, Flag, Number, Object, Optional, Text, Whole

storable(
    LabelBinarizer,
    "preprocessing.LabelBinarizer",
    {
        "classes_": CLASSES,
        "y_type_": Text(),
        "sparse_input_": Flag(),
        "_sklearn_output_config": Optional(DictOf(Text())),
    },
)


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="Outliers in the target.",
    avoid="Outliers among the columns: TheilSenRegressor.",
    peers=("sklearn.linear_model.HuberRegressor",),
    on="scikit-learn",
)
class HuberRegressor(OverScikitLearn, linear_model.HuberRegressor):
    """Linear regression with Huber's loss: squared for small errors, absolute for large ones.

    The scale of the errors is estimated too, so that ``epsilon`` does not depend on the units of
    the target. Use it for outliers in the target; not for outliers among the columns.

    Examples
    --------
    >>> from gnomon.linear import HuberRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> HuberRegressor().fit(X, y[:-1] + [50.0]).coef_.round(1).tolist()
    [1.0]
    """

    _target = "numbers"
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "outliers_": Array("b", (None,)),
        "scale_": Number(),
    }


@method(
    task="regress",
    texts="000 11.2 · 001 3.6",
    use="Few columns, and up to a quarter of wild rows.",
    avoid="More than about ten columns, or very many rows.",
    peers=("sklearn.linear_model.TheilSenRegressor",),
    on="scikit-learn",
)
class TheilSenRegressor(OverScikitLearn, linear_model.TheilSenRegressor):
    """Linear regression by the median of fits to small subsets of the rows.

    Use it for few columns and outliers of any kind; not for more than about ten columns.

    Examples
    --------
    >>> from gnomon.linear import TheilSenRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> TheilSenRegressor(random_state=0).fit(X, y[:-1] + [50.0]).coef_.round(1).tolist()
    [1.0]
    """

    _target = "numbers"
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "breakdown_": Number(),
        "n_subpopulation_": Whole(),
    }


@method(
    task="classify",
    texts="000 10.4.2",
    use="Many classes and columns, where speed counts.",
    avoid="Where probabilities are needed: LogisticRegression.",
    peers=("sklearn.linear_model.RidgeClassifier",),
    on="scikit-learn",
)
class RidgeClassifier(OverScikitLearn, linear_model.RidgeClassifier):
    """Ridge regression on -1 and +1, one per class; the greatest value wins.

    Use it for many classes and columns, where it is fast; not where probabilities are needed.

    Examples
    --------
    >>> from gnomon.linear import RidgeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> RidgeClassifier().fit(X, y).predict([[0.5], [4.5]]).tolist()
    [0, 1]
    """

    _target = "classes"
    _stored = {
        "coef_": Array("f", (None, "n_columns")),
        "intercept_": Array("f", (None,)) | Number(),
        "solver_": Text(),
        "_label_binarizer": Object(("LabelBinarizer",)),
        "n_iter_": Optional(Array("i", None) | None),
    }
