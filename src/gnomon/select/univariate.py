"""Selection of features one by one, under scikit-learn's names.

SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe and GenericUnivariateSelect score
each feature alone against the target; VarianceThreshold needs no target. scikit-learn's own
classes, which take any table here. `FilterSelector` scores whole categories and has more measures.

Texts: 004 7.1 · 003 2.7.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy import special
from sklearn import feature_selection
from sklearn.utils.validation import validate_data

from gnomon.contract.peer_sums import (
    PeerSums,
    can_be_summed,
    correlation_sums,
    moments_by_class,
    source_of,
    sums_by_class,
)
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.passes import fold
from gnomon.engine.registry import method
from gnomon.engine.storable import storable_function
from gnomon.engine.stored import Array
from gnomon.engine.sums import ArraySource, Chunk, Source, add_up

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


def chi2_of_sums(source: Source, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's ``chi2`` from sums of the rows of each class."""
    found = add_up(partial(sums_by_class, n_classes, None, "chi2"), source)
    shares = found.weight / found.weight.sum()
    expected = np.outer(shares, found.total.sum(axis=0))
    with np.errstate(invalid="ignore"):
        chi2 = ((found.total - expected) ** 2 / expected).sum(axis=0)
    return chi2, special.chdtrc(n_classes - 1, chi2)


def f_classif_of_sums(source: Source, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's ``f_classif`` from moments of the rows of each class."""
    moments = moments_by_class(source, n_classes)
    n = moments.weight.sum()
    within, between = moments.squares.sum(axis=0), moments.between
    constant = np.flatnonzero(within == 0.0)
    if constant.size:
        warnings.warn(f"Features {constant} are constant.", UserWarning, stacklevel=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        score = (between / (n_classes - 1)) / (within / (n - n_classes))
    return score, special.fdtrc(n_classes - 1, n - n_classes, score)


def r_regression_of_sums(source: Source, _: int = 0) -> np.ndarray:
    """scikit-learn's ``r_regression`` from sums of products with the target."""
    sums = correlation_sums(source)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = sums.products / np.sqrt(sums.squares * sums.target_squares)
    return np.clip(np.where(np.isfinite(found), found, 0.0), -1.0, 1.0)


def f_regression_of_sums(source: Source, _: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's ``f_regression`` from sums of products with the target."""
    squared, degrees = r_regression_of_sums(source) ** 2, source.n_rows - 2
    with np.errstate(invalid="ignore", divide="ignore"):
        score = squared / (1 - squared) * degrees
    p_values = special.fdtrc(1, degrees, score)
    p_values = np.where(np.isinf(score), 0.0, np.where(np.isnan(score), 1.0, p_values))
    return np.nan_to_num(score, posinf=np.finfo(np.float64).max), p_values


OF_SUMS: dict[Any, Callable[..., Any]] = {
    feature_selection.chi2: chi2_of_sums,
    feature_selection.f_classif: f_classif_of_sums,
    feature_selection.r_regression: r_regression_of_sums,
    feature_selection.f_regression: f_regression_of_sums,
}


class ByScore(PeerSums):
    """A selector whose score function decides what the target is."""

    score_func: Any

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

    @property
    def _takes_streams(self):
        return self.score_func in OF_SUMS

    def _fit_sums(self, source):
        n_classes = len(self.__dict__.pop("classes_", ()))
        self._check_params(np.empty((1, source.n_columns)), None)
        scores = OF_SUMS[self.score_func](source, n_classes)
        pair = scores if isinstance(scores, tuple) else (scores, None)
        self.scores_, self.pvalues_ = pair

    def _fit_peer(self, fit, rows, given):
        """scikit-learn's fit, whose scores are computed in the chunks of a stream."""
        if self.score_func not in OF_SUMS or not can_be_summed(rows):
            return super()._fit_peer(fit, rows, given)
        asked = self.score_func
        self.score_func = partial(_scores_of_rows, asked)
        try:
            return super()._fit_peer(fit, rows, given)
        finally:
            self.score_func = asked


def _scores_of_rows(asked: Any, X: Any, y: Any) -> Any:
    """The scores of rows in memory; scikit-learn's function where its checks may refuse them."""
    if np.ndim(y) != 1 or X.dtype.kind not in "fiu" or (X.dtype.kind == "f" and _overflows(X)):
        return asked(X, y)
    if asked in OF_CLASSES:
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 1:
            return OF_SUMS[asked](source_of(X, codes), len(classes))
        return asked(X, y)
    if np.asarray(y).dtype.kind not in "fiub":
        return asked(X, y)
    return OF_SUMS[asked](source_of(X, np.asarray(y, np.float64)))


def _overflows(X: np.ndarray) -> bool:
    return not np.isfinite(X).all()


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
class VarianceThreshold(PeerSums, feature_selection.VarianceThreshold):
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

    def _fit_sums(self, source):
        """The variances, or the ranges where these are less and the threshold is zero."""
        count, total = add_up(_known_totals, source)
        means = total / np.where(count > 0, count, 1.0)
        rest, squares = add_up(partial(_known_squares, means), source)
        with np.errstate(invalid="ignore", divide="ignore"):
            variances = np.maximum(squares - rest**2 / count, 0.0) / count
        if self.threshold == 0:
            least, greatest = fold(_ranges, _wider, source)
            ranges = np.where(count > 0, greatest - least, np.nan)
            variances = np.fmin(variances, ranges)
        if not (variances > self.threshold).any():
            lone = " (X contains only one sample)" if source.n_rows == 1 else ""
            raise ValueError(
                f"No feature in X meets the variance threshold {self.threshold:.5f}{lone}"
            )
        self.variances_ = variances

    def _source_in_memory(self, rows, given):
        return ArraySource(
            validate_data(self, rows, dtype=np.float64, ensure_all_finite="allow-nan")
        )


def _ranges(chunk: Chunk, _: Any) -> tuple[np.ndarray, np.ndarray]:
    least, greatest = chunk.rows.min(axis=0), chunk.rows.max(axis=0)
    if np.isnan(least).any():
        known = ~np.isnan(chunk.rows)
        least = np.min(chunk.rows, axis=0, where=known, initial=np.inf)
        greatest = np.max(chunk.rows, axis=0, where=known, initial=-np.inf)
    return least, greatest


def _wider(one: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _known_totals(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(chunk.rows)
    if known.all():
        return np.full(chunk.rows.shape[1], len(chunk.rows)), chunk.rows.sum(axis=0)
    return known.sum(axis=0), np.where(known, chunk.rows, 0.0).sum(axis=0)


def _known_squares(means: np.ndarray, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    apart = chunk.rows - means
    missing = np.isnan(apart)
    if missing.any():
        apart[missing] = 0.0
    return apart.sum(axis=0), np.einsum("ij,ij->j", apart, apart)
