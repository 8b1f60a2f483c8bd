"""Selection of features one by one, under scikit-learn's names.

SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe and GenericUnivariateSelect score
each feature alone against the target; VarianceThreshold needs no target. scikit-learn's own
classes, which take any table here. `FilterSelector` scores whole categories and has more measures.

Texts: 004 7.1 · 003 2.7.1.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral

from sklearn import feature_selection

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.storable import storable_function
from gnomon.engine.stored import Array

TEXTS = "004 7.1 · 003 2.7.1"

OF_CLASSES = (
    feature_selection.chi2,
    feature_selection.f_classif,
    feature_selection.mutual_info_classif,
)
OF_NUMBERS = (
    feature_selection.f_regression,
    feature_selection.mutual_info_regression,
    feature_selection.r_regression,
)
for _score in (*OF_CLASSES, *OF_NUMBERS):
    storable_function(_score)


class ByScore(OverScikitLearn):
    """A selector whose score function decides what the target is."""

    natively = Takes(sparse=True)
    _stored = {
        "pvalues_": Array("f8", ("n_columns",), finite=False),
        "scores_": Array("f8", ("n_columns",), finite=False),
    }

    @property
    def _target(self):
        if self.score_func in OF_CLASSES:
            return "classes"
        if self.score_func in OF_NUMBERS:
            return "numbers"
        return vars(self).get("_found_target", "any")


scored = partial(
    method,
    task="filter",
    texts=TEXTS,
    use="Very many features, of which few matter by themselves.",
    avoid="Features that matter only together (SequentialFeatureSelector, RFE).",
    on="scikit-learn",
)


@scored(peers=("sklearn.feature_selection.SelectKBest",))
class SelectKBest(ByScore, feature_selection.SelectKBest):
    """Keep the k features of the highest scores.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import SelectKBest
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> SelectKBest(k=1).fit(X, y).get_support()
    array([ True, False])
    """


@scored(peers=("sklearn.feature_selection.SelectPercentile",))
class SelectPercentile(ByScore, feature_selection.SelectPercentile):
    """Keep a percentage of the features, those of the highest scores.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import SelectPercentile
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> SelectPercentile(percentile=50).fit(X, y).get_support()
    array([ True, False])
    """


@scored(peers=("sklearn.feature_selection.SelectFpr",))
class SelectFpr(ByScore, feature_selection.SelectFpr):
    """Keep features whose p-value is below a limit.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import SelectFpr
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> SelectFpr(alpha=0.05).fit(X, y).get_support()
    array([ True, False])
    """


@scored(peers=("sklearn.feature_selection.SelectFdr",))
class SelectFdr(ByScore, feature_selection.SelectFdr):
    """Keep features by a bound on the expected share of false discoveries.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import SelectFdr
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> SelectFdr(alpha=0.05).fit(X, y).get_support()
    array([ True, False])
    """


@scored(peers=("sklearn.feature_selection.SelectFwe",))
class SelectFwe(ByScore, feature_selection.SelectFwe):
    """Keep features by a bound on the probability of any false discovery.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import SelectFwe
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> SelectFwe(alpha=0.05).fit(X, y).get_support()
    array([ True, False])
    """


@scored(peers=("sklearn.feature_selection.GenericUnivariateSelect",))
class GenericUnivariateSelect(ByScore, feature_selection.GenericUnivariateSelect):
    """Keep features by a score, with the rule as a parameter.

    Use it as a fast first selection, inside a pipeline so that only training rows are seen; not
    where features matter only together.

    Examples
    --------
    >>> from gnomon.select import GenericUnivariateSelect
    >>> X, y = [[0, 5], [1, 7], [8, 5], [9, 6], [1, 5], [9, 7]], [0, 0, 1, 1, 0, 1]
    >>> GenericUnivariateSelect(mode="k_best", param=1).fit(X, y).get_support()
    array([ True, False])
    """

    def _fit_peer(self, fit, rows, given):
        by_number, is_all = self.mode == "k_best", self.param == "all"
        if by_number and not is_all and not isinstance(self.param, Integral):
            raise DataError(
                "mode='k_best' takes a whole number of features or 'all' as param, not "
                f"{self.param!r}"
            )
        if is_all and not by_number:
            raise DataError(f"param='all' needs mode='k_best', and mode is {self.mode!r}")
        return super()._fit_peer(fit, rows, given)


@method(
    task="filter",
    texts=TEXTS,
    use="To drop columns that are constant or nearly so.",
    avoid="As a measure of what a column is worth: variance depends on units.",
    peers=("sklearn.feature_selection.VarianceThreshold",),
    on="scikit-learn",
)
class VarianceThreshold(OverScikitLearn, feature_selection.VarianceThreshold):
    """Keep features whose variance is above a threshold.

    Use it to drop constant columns; it is not a measure of what a column is worth.

    Examples
    --------
    >>> from gnomon.select import VarianceThreshold
    >>> VarianceThreshold().fit([[0, 2], [0, 1], [0, 3]]).get_support()
    array([False,  True])
    """

    _copies = 1.2

    natively = Takes(sparse=True, missing=True)
    _stored = {
        "variances_": Array("f8", ("n_columns",), low=0.0),
    }
