"""Selection of features by a model, under scikit-learn's names.

RFE and RFECV drop the features of least weight and fit again; SequentialFeatureSelector adds or
drops one at a time by a cross-validated score.
scikit-learn's own classes, which take any table here. `RecursiveElimination` and
`WrapperSelector` treat the columns of a category as one feature and choose the number themselves.

Texts: 004 7.1 · 003 2.7.1.
"""

from __future__ import annotations

from sklearn import feature_selection
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d, get_tags

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, Object, Optional, Whole

TEXTS = "004 7.1 · 003 2.7.1"


class Absent:
    """An attribute that an object has once it is assigned, whatever its bases define."""

    def __get__(self, owner, cls=None):
        raise AttributeError("n_features_in_ is set by fit")


class OverModel(OverScikitLearn):
    """A selector with a model inside, whose kind is the kind of the target."""

    _copies = 0.1

    @property
    def _target(self):
        return "classes" if is_classifier(self.estimator) else "numbers"

    @property
    def natively(self):  # type: ignore[override]
        """Sparse rows where the model inside takes them."""
        return Takes(sparse=get_tags(self.estimator).input_tags.sparse)

    def _taken(self, X, given, more):
        if getattr(given.get("y"), "shape", ())[1:] == (1,):
            given = given | {"y": column_or_1d(given["y"], warn=True)}
        return super()._taken(X, given, more)


@method(
    task="filter",
    texts=TEXTS,
    use="Many features and a model with weights or importances.",
    avoid="Features that are strongly correlated: they share one weight.",
    peers=("sklearn.feature_selection.RFE",),
    on="scikit-learn",
)
class RFE(OverModel, feature_selection.RFE):
    """Drop the features of least weight, fit again, and so on (recursive feature elimination).

    Use it inside a pipeline, so that only training rows are seen; not where features are strongly
    correlated, since they share one weight.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.select import RFE
    >>> X = [[0, 5], [1, 7], [8, 5], [9, 6]]
    >>> RFE(LinearRegression(), n_features_to_select=1).fit(X, [0, 1, 8, 9]).get_support()
    array([ True, False])
    """

    _copies = 1.5
    _stored = {
        "estimator_": Object(),
        "n_features_": Whole(),
        "ranking_": Array("i8", ("n_columns",), low=0),
        "support_": Array("b", ("n_columns",)),
    }


@method(
    task="filter",
    texts=TEXTS,
    use="Many features and a model with weights or importances.",
    avoid="Features that are strongly correlated: they share one weight.",
    peers=("sklearn.feature_selection.RFECV",),
    on="scikit-learn",
)
class RFECV(OverModel, feature_selection.RFECV):
    """Recursive feature elimination that chooses the number of features by cross-validation.

    Use it inside a pipeline, so that only training rows are seen; not where features are strongly
    correlated, since they share one weight.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.select import RFECV
    >>> X = [[0, 5], [1, 7], [8, 5], [9, 6], [3, 2], [5, 5]]
    >>> RFECV(LinearRegression(), cv=3).fit(X, [0, 1, 8, 9, 3, 5]).get_support()
    array([ True, False])
    """

    _copies = 1.5
    _stored = {
        "cv_results_": DictOf(Array("bfi", [(None,), (None, "n_columns")])),
        "estimator_": Object(),
        "n_features_": Whole(),
        "ranking_": Array("i8", ("n_columns",), low=0),
        "support_": Array("b", ("n_columns",)),
    }


@method(
    task="filter",
    texts=TEXTS,
    use="Tens of features and a model that is fast to fit.",
    avoid="Features that are strongly correlated: they share one weight.",
    peers=("sklearn.feature_selection.SequentialFeatureSelector",),
    on="scikit-learn",
)
class SequentialFeatureSelector(OverModel, feature_selection.SequentialFeatureSelector):
    """Add, or drop, one feature at a time by a cross-validated score.

    Use it inside a pipeline, so that only training rows are seen; not where features are strongly
    correlated, since they share one weight.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.select import SequentialFeatureSelector
    >>> X = [[0, 5], [1, 7], [8, 5], [9, 6], [3, 2], [5, 5]]
    >>> chosen = SequentialFeatureSelector(LinearRegression(), n_features_to_select=1, cv=3)
    >>> chosen.fit(X, [0, 1, 8, 9, 3, 5]).get_support()
    array([ True, False])
    """

    _stored = {
        "n_features_to_select_": Whole(),
        "support_": Array("b", ("n_columns",)),
    }


@method(
    task="filter",
    texts=TEXTS,
    use="One fit of a model with weights or importances decides, and a threshold.",
    avoid="Features that are strongly correlated: they share one weight.",
    peers=("sklearn.feature_selection.SelectFromModel",),
    on="scikit-learn",
)
class SelectFromModel(OverModel, feature_selection.SelectFromModel):
    """Keep the features whose weight or importance in a model exceeds a threshold.

    Use it inside a pipeline, so that only training rows are seen; not where features are strongly
    correlated, since they share one weight.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.select import SelectFromModel
    >>> X = [[0, 5], [1, 7], [8, 5], [9, 6]]
    >>> SelectFromModel(LinearRegression()).fit(X, [0, 1, 8, 9]).get_support()
    array([ True, False])
    """

    n_features_in_ = Absent()  # scikit-learn reads it from the model inside, a table's may differ
    _stored = {"estimator_": Object(), "max_features_": Optional(Whole())}

    def _check_target(self, X, y):
        if not self.prefit:  # a fitted model needs no target
            super()._check_target(X, y)

    def _fit_peer(self, fit, rows, given):
        result = super()._fit_peer(fit, rows, given)
        self.n_features_in_ = rows.shape[1]
        return result
