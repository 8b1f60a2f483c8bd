"""Several classes from a learner of two: each against the rest, or each against each.

One against the rest: K learners, and the greatest score wins. Where several scores are positive
several classes claim the row, where none is, none does: such regions are shown by `claims`. Each
against each: K (K - 1) / 2 learners, and most votes win; where votes are equal the row lies in an
ambiguous region, shown by `ties`, and a rule that the user chooses decides.

Texts: 000a 2.1.7 · 002 L1498-1569.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gnomon.contract import Data, ScoringClassifier, Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import FLAG, HasMethods, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Flag, ListOf, Object, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.margin.linear_machine import LARGEST
from gnomon.margin.linear_svm import LinearSVC
from gnomon.margin.pairwise import class_pairs


def scores_of(member: Any, rows: np.ndarray) -> np.ndarray:
    """A score of the second class, positive where the member predicts it.

    Targets are 0 and 1, so that a probability or the estimate of a regressor is compared with 1/2.
    """
    if not isinstance(member, Constant) and is_regressor(member):
        return np.ravel(member.predict(rows)).astype(np.float64) - 0.5
    if hasattr(member, "decision_function"):
        return np.ravel(member.decision_function(rows)).astype(np.float64)
    if hasattr(member, "predict_proba"):
        return np.asarray(member.predict_proba(rows))[:, 1] - 0.5
    return np.where(np.asarray(member.predict(rows)) == 1, 1.0, -1.0)


@storable
@dataclass
class Constant:
    """Stands for a learner where all targets are the same.

    Attributes
    ----------
    value : int
        0 or 1.
    """

    value: int
    _stored = {"value": Whole(0, 1)}

    def predict(self, rows) -> np.ndarray:
        return np.full(rows.shape[0], self.value)

    def decision_function(self, rows) -> np.ndarray:
        return np.full(rows.shape[0], 2.0 * self.value - 1.0)

    def predict_proba(self, rows) -> np.ndarray:
        return np.tile([1.0 - self.value, float(self.value)], (rows.shape[0], 1))


def _members_have_probabilities(machine) -> bool:
    member = getattr(machine, "estimators_", [machine.estimator])
    if not member or not hasattr(member[0], "predict_proba"):
        raise AttributeError(
            f"{type(machine).__name__} has probabilities only where its estimator has "
            "predict_proba; use decision_function"
        )
    return True


class OfBinary(ScoringClassifier):
    """A classifier of several classes made of learners of two."""

    _largest = LARGEST
    _stored = {
        "estimators_": ListOf(Object()),
    }

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """What the member takes."""
        if self.estimator is None:
            return Takes()
        tags = get_tags(self.estimator).input_tags
        steps = getattr(self.estimator, "steps", None)  # a pipeline has no such tag of its own
        first = steps[0][1] if steps else None
        fills = hasattr(first, "fit") and get_tags(first).input_tags.allow_nan
        return Takes(missing=tags.allow_nan or fills, sparse=tags.sparse)

    def _is_pairwise(self) -> bool:
        return self.estimator is not None and get_tags(self.estimator).input_tags.pairwise

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _fit(self, data: Data) -> None:
        member = LinearSVC(random_state=0) if self.estimator is None else self.estimator
        weights = data.weights
        if weights is not None and not has_fit_parameter(member, "sample_weight"):
            raise DataError(
                f"{type(member).__name__} takes no sample_weight; use another estimator, or repeat "
                "the rows"
            )
        self.estimators_ = []
        with one_blas_thread():
            for used, target in self._questions(data.y):
                given = {} if weights is None else {"sample_weight": weights[used]}
                rows, target = self._rows_of(data.rows, used), target[used]
                if len(target) and (target == target[0]).all():
                    self.estimators_.append(Constant(int(target[0])))
                else:
                    self.estimators_.append(clone(member).fit(rows, target, **given))

    def _rows_of(self, rows, used):
        """Some rows; of kernel values or distances their columns too."""
        if isinstance(used, slice):
            return rows
        return rows[np.ix_(used, used)] if self._is_pairwise() else rows[used]

    def _questions(self, codes: np.ndarray) -> list[tuple[Any, np.ndarray]]:
        """Which rows each member learns from, and their targets 0 and 1."""
        raise NotImplementedError

    def _member_scores(self, rows) -> np.ndarray:
        scores = [scores_of(*each) for each in self._members(rows)]
        return np.column_stack(scores) if scores else np.zeros((rows.shape[0], 0))

    def _members(self, rows) -> list[tuple[Any, Any]]:
        """Each member and the rows that it is asked about."""
        return [(member, rows) for member in self.estimators_]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        member = LinearSVC() if self.estimator is None else self.estimator
        own = 8 * n_rows * 4
        return own + forecast_of(member, n_rows, n_columns)


@method(
    task="classify",
    texts="000a 2.1.7 · 002 L1498-1530",
    use="Several classes with a good learner of two, such as a perceptron or an SVM.",
    avoid="Learners that handle several classes well themselves.",
    peers=("sklearn.multiclass.OneVsRestClassifier",),
)
@without_effect("n_jobs", "verbose")
class OneVsRestClassifier(OfBinary):
    """Each class against the rest; the greatest score wins.

    f(x) = argmax_k g_k(x), g_k learnt with class k as the positive one. Use it with any learner of
    two classes; not with one that handles several itself. Scores of machines that were trained
    apart are not of one scale: ``normalize`` makes those of linear ones distances. Rows that no
    class or several classes claim are shown by `claims`. Texts: 000a 2.1.7 · 002 L1498-1530, L1566.

    Parameters
    ----------
    estimator : classifier or None
        Learner of two classes, of any library; None for `LinearSVC`.
    normalize : bool, default=False
        Whether scores of linear members (with ``coef_``) are divided by the length of the weights.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted ones: one for two classes, else one per class.
    n_classes_ : int
        Number of classes.
    multilabel_ : bool
        Whether a row may have several labels.
    sparse_labels_ : bool
        Whether labels were given as a sparse matrix.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import LinearSVC, OneVsRestClassifier
    >>> model = OneVsRestClassifier(LinearSVC()).fit([[0, 0], [5, 0], [0, 5]], ["a", "b", "c"])
    >>> model.predict([[4, 0], [0, 4]]).tolist()
    ['b', 'c']
    >>> model.claims([[5, 0]]).tolist()
    [[False, True, False]]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit"])],
        "normalize": FLAG,
    }

    _many_targets: ClassVar[bool] = True
    _stored = {
        "multilabel_": Flag(),
        "sparse_labels_": Flag(),
    }

    def __init__(self, estimator, *, n_jobs=None, verbose=0, normalize=False):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize

    def fit(self, X, y=None, sample_weight=None):
        """Learn from a table.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels), or str
            Classes, or a column of 0 and 1 for each label; the name of a column of X.
        sample_weight : array-like or str, default=None

        Returns
        -------
        self : object
        """
        self.sparse_labels_ = sp.issparse(y)
        return super().fit(X, y.toarray() if self.sparse_labels_ else y, sample_weight)

    def _fit(self, data: Data) -> None:
        self.multilabel_ = data.y.ndim == 2
        if self.multilabel_:
            known = self.classes_
            if any(not np.isin(each, (0, 1)).all() for each in known):
                raise DataError(
                    "Multioutput target data is not supported with label binarization: give "
                    "columns of 0 and 1, or one column of classes"
                )
            self._labels = np.column_stack(
                [np.asarray(each, dtype=np.int64)[data.y[:, k]] for k, each in enumerate(known)]
            )
            self.classes_ = np.arange(len(known))
            self._warn_of_constant_labels()
        super()._fit(data)
        vars(self).pop("_labels", None)

    def _warn_of_constant_labels(self) -> None:
        for k, column in enumerate(self._labels.T):
            if (column == column[0]).all():
                label = k if column[0] else f"not {k}"
                warnings.warn(
                    f"Label {label} is present in all training examples.", UserWarning, stacklevel=2
                )

    def _questions(self, codes):
        if self.multilabel_:
            return [(slice(None), column) for column in self._labels.T]
        n_classes = len(self.classes_)
        if n_classes < 2:
            return []
        positive = [1] if n_classes == 2 else range(n_classes)
        return [(slice(None), (codes == k).astype(np.int64)) for k in positive]

    def _scores(self, rows):
        scores = self._member_scores(rows)
        if self.normalize:
            for k, member in enumerate(self.estimators_):
                length = float(np.linalg.norm(getattr(member, "coef_", 1.0)))
                scores[:, k] /= length if length > 0 else 1.0
        return scores

    def decision_function(self, X) -> np.ndarray:
        """Scores: of two classes one, positive for the second; of more, or of labels, one each.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        if self.multilabel_:
            return self._each_block(self._scores, X)
        return super().decision_function(X)

    def predict(self, X) -> Any:
        """The class of the greatest score, for each row; or the labels whose score is positive.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,) or (n_samples, n_labels)
            Labels as a sparse matrix where they were given so.
        """
        check_is_fitted(self)
        if not self.multilabel_:
            return super().predict(X)
        labels = (self._each_block(self._scores, X) > 0).astype(np.int64)
        return sp.csr_array(labels) if self.sparse_labels_ else labels

    @available_if(_members_have_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class or label, for each row; where the estimator has them.

        Those of classes are divided by their sum; those of labels stand for themselves.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        proba = self._each_block(self._member_probabilities, X)
        if self.multilabel_:
            return proba
        if proba.shape[1] == 1:
            return np.column_stack([1 - proba[:, 0], proba[:, 0]])
        total = proba.sum(axis=1, keepdims=True)
        return np.divide(proba, total, out=np.full_like(proba, 1 / proba.shape[1]), where=total > 0)

    def _member_probabilities(self, rows) -> np.ndarray:
        if not self.estimators_:
            return np.ones((rows.shape[0], 1))
        return np.column_stack([each.predict_proba(rows)[:, 1] for each in self.estimators_])

    def claims(self, X) -> np.ndarray:
        """Which classes claim each row: their score is positive.

        A row of the result without any True lies where no class claims, one with several True where
        the border is ambiguous.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        claims : ndarray of bool of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        scores = self._each_block(self._scores, X)
        if scores.shape[1] == 1:
            return np.column_stack([scores[:, 0] < 0, scores[:, 0] >= 0])
        if scores.shape[1] == 0:
            return np.ones((len(scores), 1), dtype=bool)
        return scores > 0


@method(
    task="classify",
    texts="000a 2.1.7 · 002 L1532-1538",
    use="Several classes with a learner of two whose time grows fast with the rows.",
    avoid="Very many classes, since pairs are many; learners that handle several classes.",
    peers=("sklearn.multiclass.OneVsOneClassifier",),
)
@without_effect("n_jobs")
class OneVsOneClassifier(OfBinary):
    """Each class against each; most votes win, and ties are decided by a rule of choice.

    K (K - 1) / 2 learners, each of the rows of two classes. Use it with learners of two classes
    whose time grows fast with the rows; not for very many classes. Rows whose votes are equal are
    shown by `ties`. Texts: 000a 2.1.7 · 002 L1532-1538.

    Parameters
    ----------
    estimator : classifier or None
        Learner of two classes, of any library; None for `LinearSVC`.
    tie_rule : {"score", "first", "common"}, default="score"
        Of classes with equal votes, that of the greatest sum of scores, the first, or the most
        common one.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted ones, in the order of `pairs_`.
    pairs_ : ndarray of shape (n_pairs, 2)
        Codes of the two classes of each.
    pairwise_indices_ : list of ndarray or None
        Rows of each pair of classes, where X holds kernel values or distances.
    n_classes_ : int
        Number of classes.
    shares_ : ndarray of shape (n_classes,)
        Share of each class in the weight of the rows.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import LinearSVC, OneVsOneClassifier
    >>> model = OneVsOneClassifier(LinearSVC()).fit([[0, 0], [5, 0], [0, 5]], ["a", "b", "c"])
    >>> model.predict([[4, 0], [0, 4]]).tolist()
    ['b', 'c']
    >>> model.votes([[4, 0]]).tolist()
    [[1, 2, 0]]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit"])],
        "tie_rule": [StrOptions({"score", "first", "common"})],
    }
    _stored = {
        "pairs_": Array("i8", ("n_classes * (n_classes - 1) // 2", 2), low=0, below="n_classes"),
        "pairwise_indices_": ListOf(Array("i", (None,), low=0)) | None,
        "shares_": Array("f8", ("n_classes",), low=0.0),
    }

    def __init__(self, estimator, *, n_jobs=None, tie_rule="score"):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.tie_rule = tie_rule

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * n_columns

    def _fit(self, data: Data) -> None:
        pairs = class_pairs(len(self.classes_))
        self.pairs_ = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        totals = np.bincount(data.y, data.weights, minlength=len(self.classes_))
        self.shares_ = totals / totals.sum()
        if self.estimator is not None and len(self.classes_) == 1:
            raise DataError(
                "OneVsOneClassifier can not be fit when only one class is present; the target has "
                f"only {self.classes_.tolist()[0]!r}"
            )
        self.pairwise_indices_ = None
        if self._is_pairwise():
            self.pairwise_indices_ = [used for used, _ in self._questions(data.y)]
        super()._fit(data)

    def _members(self, rows) -> list[tuple[Any, Any]]:
        if self.pairwise_indices_ is None:
            return super()._members(rows)
        return [
            (each, rows[:, used]) for each, used in zip(self.estimators_, self.pairwise_indices_)
        ]

    def _questions(self, codes):
        return [
            (np.flatnonzero((codes == a) | (codes == b)), (codes == b).astype(np.int64))
            for a, b in self.pairs_
        ]

    def _votes_and_sums(self, rows) -> tuple[np.ndarray, np.ndarray]:
        scores = self._member_scores(rows)
        votes = np.zeros((rows.shape[0], len(self.classes_)), dtype=np.int64)
        sums = np.zeros(votes.shape)
        for k, (a, b) in enumerate(self.pairs_):
            votes[:, b] += scores[:, k] >= 0
            votes[:, a] += scores[:, k] < 0
            sums[:, b] += scores[:, k]
            sums[:, a] -= scores[:, k]
        return votes, sums

    def _scores(self, rows):
        if len(self.classes_) <= 2:
            return self._member_scores(rows)
        votes, sums = self._votes_and_sums(rows)
        if self.tie_rule == "score":
            return votes + sums / (3 * (np.abs(sums) + 1))
        if self.tie_rule == "common":
            return votes + self.shares_ / 3
        return votes.astype(np.float64)

    def votes(self, X) -> np.ndarray:
        """Votes for each class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        votes : ndarray of int of shape (n_samples, n_classes)
        """
        return self._each_block(lambda rows: self._votes_and_sums(rows)[0], X)

    def ties(self, X) -> np.ndarray:
        """Which rows have no single class of most votes.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        tied : ndarray of bool of shape (n_samples,)
        """
        votes = self.votes(X)
        return (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
