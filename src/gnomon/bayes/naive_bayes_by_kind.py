"""Naive Bayes under scikit-learn's names: one kind of column each.

    P(c | x)  proportional to  P(c) prod_j p(x_j | c)

GaussianNB for numbers, MultinomialNB and ComplementNB for counts, BernoulliNB for yes and no,
CategoricalNB for codes of categories. scikit-learn's own classes, which take any table here;
`NaiveBayes` chooses the distribution column by column.

Texts: 000 4.2 · 001 4 · 002 "Naive Bayes" · 003 2.7 · 004 9.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn import naive_bayes
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from gnomon.contract.data import Data
from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.contract.peer_sums import (
    Moments,
    PeerSums,
    can_be_summed,
    moments_by_class,
    source_of,
    sums_by_class,
)
from gnomon.contract.short_checks import validate_data
from gnomon.engine import memory
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Optional
from gnomon.engine.sums import ArraySource, Source, add_up

TEXTS = "000 4.2 · 001 4 · 004 9"
N_BINS = 10  # deciles
ROUNDING = 1e-12  # of a cumulative share: sums of weights and of repeated rows cut at one value


class CountsOfClasses(PeerSums):
    """Naive Bayes whose model is made of sums of the rows of each class."""

    _counted_as: ClassVar[str | None] = None  # who refuses negative values
    class_count_: np.ndarray
    feature_count_: np.ndarray

    def _count(self, X: Any, Y: np.ndarray) -> None:
        """Count the rows in memory in the chunks of a stream; called by scikit-learn's fit."""
        if can_be_summed(X):
            self._add_counts(ArraySource(X, Y), None)
        else:
            super()._count(X, Y)

    def _add_counts(self, source: Source, threshold: float | None) -> None:
        n_classes = len(self.classes_)
        total = add_up(partial(sums_by_class, n_classes, threshold, self._counted_as), source)
        self.feature_count_ += total.total
        self.class_count_ += total.weight

    def _fit_sums(self, source: Source) -> None:
        self._init_counters(len(self.classes_), source.n_columns)
        self._add_counts(source, getattr(self, "binarize", None))
        self._update_feature_log_prob(self._check_alpha())
        self._update_class_log_prior(class_prior=self.class_prior)


@method(
    task="classify",
    texts=TEXTS,
    use="Numbers that are about normal within each class; a fast first model.",
    avoid="Strongly dependent columns, or columns of several kinds (NaiveBayes).",
    peers=("sklearn.naive_bayes.GaussianNB",),
    on="scikit-learn",
)
class GaussianNB(PeerSums, naive_bayes.GaussianNB):
    """Naive Bayes with a normal distribution for each feature in each class.

    Use it as a fast first model of numeric columns; not where columns are strongly dependent, whose
    evidence it counts twice. `NaiveBayes` takes columns of several kinds.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[5.4]])
    array([1])
    """

    _target = "classes"
    _stored = {
        "class_count_": Array("f", ("n_classes",)),
        "class_prior_": Array("f", ("n_classes",), low=0.0),
        "epsilon_": Number(),
        "theta_": Array("f", ("n_classes", "n_columns")),
        "var_": Array("f", ("n_classes", "n_columns")),
    }

    def _fit_sums(self, source):
        self._fit_moments(moments_by_class(source, len(self.classes_)))

    def _fit_moments(self, moments: Moments) -> None:
        held = moments.weight / moments.weight.sum()
        self.class_count_ = moments.weight
        self.class_prior_ = held if self.priors is None else self._checked_priors(len(held))
        self.epsilon_ = self.var_smoothing * moments.variances.max()
        self.theta_ = moments.means
        self.var_ = moments.squares / np.where(held > 0, moments.weight, 1.0)[:, None]
        self.var_ += self.epsilon_

    def _checked_priors(self, n_classes: int) -> np.ndarray:
        """The priors, refused in scikit-learn's words."""
        priors = np.asarray(self.priors, np.float64)
        if len(priors) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return priors

    def _source_in_memory(self, rows, given):
        rows, y = validate_data(self, rows, given["y"])
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        weights = given.get("sample_weight")
        return source_of(
            rows, codes, None if weights is None else _check_sample_weight(weights, rows)
        )

    def _fit_peer(self, fit, rows, given):
        """Fit with what is added to variances taken from the weighted variance of the columns.

        scikit-learn's class takes it from the rows, whatever their weights.
        """
        is_fit = fit.func.__name__ == "fit"
        if isinstance(rows, Data) or (is_fit and can_be_summed(rows)):
            return super()._fit_peer(fit, rows, given)
        asked, weights = self.var_smoothing, given.get("sample_weight")
        largest = np.var(rows, axis=0).max() if weights is not None else 0.0
        if largest > 0:
            means = np.average(rows, axis=0, weights=weights)
            variances = np.average((rows - means) ** 2, axis=0, weights=weights)
            self.var_smoothing = asked * variances.max() / largest
        try:
            return super()._fit_peer(fit, rows, given)
        finally:
            self.var_smoothing = asked


@method(
    task="classify",
    texts=TEXTS,
    use="Counts of words or events.",
    avoid="Numbers that are not counts (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.MultinomialNB",),
    on="scikit-learn",
)
class MultinomialNB(CountsOfClasses, naive_bayes.MultinomialNB):
    """Naive Bayes for counts: one multinomial distribution over the features in each class.

    Use it for counts, such as words of documents; not for numbers that may be negative.

    Examples
    --------
    >>> from gnomon.bayes import MultinomialNB
    >>> MultinomialNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    _counted_as = "MultinomialNB (input X)"
    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns"), low=0.0),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }


@method(
    task="classify",
    texts=TEXTS,
    use="Counts where some classes are much rarer than others.",
    avoid="Numbers that are not counts (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.ComplementNB",),
    on="scikit-learn",
)
class ComplementNB(CountsOfClasses, naive_bayes.ComplementNB):
    """Naive Bayes for counts that learns each class from the rows of all other classes.

    Use it for counts with classes of unequal size, where MultinomialNB favours the frequent ones;
    not for numbers that may be negative.

    Examples
    --------
    >>> from gnomon.bayes import ComplementNB
    >>> ComplementNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    _counted_as = "ComplementNB (input X)"
    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",)),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_all_": Array("f8", ("n_columns",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns")),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }

    def _add_counts(self, source, threshold):
        super()._add_counts(source, threshold)
        self.feature_all_ = self.feature_count_.sum(axis=0)


@method(
    task="classify",
    texts=TEXTS,
    use="Columns of yes and no, such as words that occur or not.",
    avoid="Numbers of many values (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.BernoulliNB",),
    on="scikit-learn",
)
class BernoulliNB(CountsOfClasses, naive_bayes.BernoulliNB):
    """Naive Bayes for features that are present or absent.

    Use it for columns of yes and no; not for numbers of many values, which it cuts at ``binarize``.

    Examples
    --------
    >>> from gnomon.bayes import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns"), low=0.0),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }

    def _check_X(self, X):
        """scikit-learn's, which checks the rows a second time to cut them at ``binarize``."""
        rows = validate_data(self, X, accept_sparse="csr", reset=False)
        if self.binarize is None or not isinstance(rows, np.ndarray):
            return super()._check_X(X)
        return (rows > self.binarize).astype(rows.dtype)


@method(
    task="classify",
    texts=TEXTS,
    use="Columns of category codes 0, 1, 2 and so on.",
    avoid="Numbers of many values; text categories in tables (NaiveBayes).",
    peers=("sklearn.naive_bayes.CategoricalNB",),
    on="scikit-learn",
)
class CategoricalNB(OverScikitLearn, naive_bayes.CategoricalNB):
    """Naive Bayes for features that are codes of categories.

    Use it for columns of codes 0, 1, 2 ...; not for other numbers. A code that no row of the
    training data has says nothing of the class. Of a table, columns of numbers are cut at the
    deciles; `NaiveBayes` is made for tables with columns of several kinds.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        Where the columns of a table are cut; only when a table of other than numbers was given.

    Examples
    --------
    >>> from gnomon.bayes import CategoricalNB
    >>> CategoricalNB().fit([[0, 2], [0, 1], [1, 0]], ["a", "a", "b"]).predict([[1, 0]])
    array(['b'], dtype='<U1')
    """

    _target = "classes"
    _stored = {
        "category_count_": ListOf(Array("f8", ("n_classes", None), low=0.0), "n_columns"),
        "class_count_": Array("f8", ("n_classes",)),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_log_prob_": ListOf(Array("f8", ("n_classes", None)), "n_columns"),
        "n_categories_": Array("i8", ("n_columns",), low=0),
        "bin_edges_": Optional(ListOf(Array("f8", (None,), rising=True), "n_columns")),
    }

    def _encode(self, X, given):
        rows, given, of_table = super()._encode(X, given)
        edges = [cuts(column, given.get("sample_weight")) for column in rows.T]
        return codes(rows, edges), given, of_table | {"bin_edges_": edges}

    def _of_table(self, rows):
        return codes(rows, self.bin_edges_)

    def _fit_peer(self, fit, rows, given):
        if not isinstance(rows, np.ndarray) or rows.ndim != 2:
            return super()._fit_peer(fit, rows, given)  # refused there
        highest = np.nanmax(rows, axis=0, initial=0).astype(float)
        n_classes = len(np.unique(np.asarray(given["y"])))
        memory.require(
            int(8 * (2 * n_classes + 2) * (highest + 1).sum()),
            f"{type(self).__name__}.fit of codes up to {highest.max(initial=0):,.0f}",
            "Number the categories of each column 0, 1, 2 ...",
        )
        return super()._fit_peer(fit, rows, given)

    def _joint_log_likelihood(self, X):
        known = np.array([len(proba.T) for proba in self.feature_log_prob_])
        unseen = known <= X if X.shape[1] == len(known) else np.zeros(X.shape, dtype=bool)
        scores = super()._joint_log_likelihood(np.where(unseen, 0, X))
        for column, proba in zip(unseen.T, self.feature_log_prob_):
            scores[column] -= proba[:, 0]
        return scores


def cuts(column: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Edges between the values of a column, or its deciles where there are more than ten."""
    values, places = np.unique(column, return_inverse=True)
    if len(values) <= N_BINS:
        return (values[:-1] + values[1:]) / 2
    shares = np.cumsum(np.bincount(places, weights)) / (
        len(column) if weights is None else weights.sum()
    )
    return np.unique(values[np.searchsorted(shares, np.arange(1, N_BINS) / N_BINS - ROUNDING)])


def codes(rows: np.ndarray, edges: list[np.ndarray]) -> np.ndarray:
    """The number of the bin of each cell."""
    found = [np.searchsorted(cut, column) for cut, column in zip(edges, rows.T, strict=True)]
    return np.stack(found, axis=1)
