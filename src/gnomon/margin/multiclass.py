"""Several classes from a learner of two: each against the rest, or each against each.

One against the rest: K learners, and the greatest score wins. Where several scores are positive
several classes claim the row, where none is, none does: such regions are shown by `claims`. Each
against each: K (K - 1) / 2 learners, and most votes win; where votes are equal the row lies in an
ambiguous region, shown by `ties`, and a rule that the user chooses decides.

Texts: 000a 2.1.7 · 002 L1498-1569.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gnomon.contract import Data, ScoringClassifier
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HasMethods, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.threads import one_blas_thread
from gnomon.margin.linear_machine import LARGEST
from gnomon.margin.linear_svm import LinearSVM
from gnomon.margin.pairwise import class_pairs


def scores_of(member: Any, rows: np.ndarray) -> np.ndarray:
    """A score of the second class, positive where the member says it."""
    if hasattr(member, "decision_function"):
        return np.asarray(member.decision_function(rows), dtype=np.float64)
    if hasattr(member, "predict_proba"):
        return np.asarray(member.predict_proba(rows))[:, 1] - 0.5
    return np.where(np.asarray(member.predict(rows)) == 1, 1.0, -1.0)


class OfBinary(ScoringClassifier):
    """A classifier of several classes made of learners of two."""

    _largest = LARGEST

    def _fit(self, data: Data) -> None:
        member = LinearSVM(random_state=0) if self.estimator is None else self.estimator
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
                self.estimators_.append(clone(member).fit(data.rows[used], target[used], **given))

    def _questions(self, codes: np.ndarray) -> list[tuple[Any, np.ndarray]]:
        """Which rows each member learns from, and their targets 0 and 1."""
        raise NotImplementedError

    def _member_scores(self, rows) -> np.ndarray:
        scores = [scores_of(member, rows) for member in self.estimators_]
        return np.column_stack(scores) if scores else np.zeros((len(rows), 0))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        member = LinearSVM() if self.estimator is None else self.estimator
        own = 8 * n_rows * (n_columns + 20)
        return own + (member.forecast(n_rows, n_columns) if hasattr(member, "forecast") else own)


@method(
    task="classify",
    texts="000a 2.1.7 · 002 L1498-1530",
    use="Several classes with a good learner of two, such as a perceptron or an SVM.",
    avoid="Learners that handle several classes well themselves.",
    peers=("sklearn.multiclass.OneVsRestClassifier",),
)
class OneVsRestClassifier(OfBinary):
    """Each class against the rest; the greatest score wins.

    f(x) = argmax_k g_k(x), g_k learnt with class k as the positive one. Use it with any learner of
    two classes; not with one that handles several itself. Scores of machines that were trained
    apart are not of one scale: ``normalise`` makes those of linear ones distances. Rows that no
    class or several classes claim are shown by `claims`. Texts: 000a 2.1.7 · 002 L1498-1530, L1566.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Learner of two classes, of any library; None for `LinearSVM`.
    normalise : bool, default=False
        Whether scores of linear members (with ``coef_``) are divided by the length of the weights.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted ones: one for two classes, else one per class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import OneVsRestClassifier
    >>> model = OneVsRestClassifier().fit([[0, 0], [5, 0], [0, 5]], ["a", "b", "c"])
    >>> model.predict([[4, 0], [0, 4]]).tolist()
    ['b', 'c']
    >>> model.claims([[5, 0]]).tolist()
    [[False, True, False]]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "normalise": FLAG,
    }

    def __init__(self, estimator=None, *, normalise=False):
        self.estimator = estimator
        self.normalise = normalise

    def _questions(self, codes):
        n_classes = len(self.classes_)
        if n_classes < 2:
            return []
        positive = [1] if n_classes == 2 else range(n_classes)
        return [(slice(None), (codes == k).astype(np.int64)) for k in positive]

    def _scores(self, rows):
        scores = self._member_scores(rows)
        if self.normalise:
            for k, member in enumerate(self.estimators_):
                length = float(np.linalg.norm(getattr(member, "coef_", 1.0)))
                scores[:, k] /= length if length > 0 else 1.0
        return scores

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
class OneVsOneClassifier(OfBinary):
    """Each class against each; most votes win, and ties are decided by a rule of choice.

    K (K - 1) / 2 learners, each of the rows of two classes. Use it with learners of two classes
    whose time grows fast with the rows; not for very many classes. Rows whose votes are equal are
    shown by `ties`. Texts: 000a 2.1.7 · 002 L1532-1538.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Learner of two classes, of any library; None for `LinearSVM`.
    tie_rule : {"score", "first", "common"}, default="score"
        Of classes with equal votes, that of the greatest sum of scores, the first, or the most
        common one.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted ones, in the order of `pairs_`.
    pairs_ : ndarray of shape (n_pairs, 2)
        Codes of the two classes of each.
    shares_ : ndarray of shape (n_classes,)
        Share of each class in the weight of the rows.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import OneVsOneClassifier
    >>> model = OneVsOneClassifier().fit([[0, 0], [5, 0], [0, 5]], ["a", "b", "c"])
    >>> model.predict([[4, 0], [0, 4]]).tolist()
    ['b', 'c']
    >>> model.votes([[4, 0]]).tolist()
    [[1, 2, 0]]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "tie_rule": [StrOptions({"score", "first", "common"})],
    }

    def __init__(self, estimator=None, *, tie_rule="score"):
        self.estimator = estimator
        self.tie_rule = tie_rule

    def _fit(self, data: Data) -> None:
        pairs = class_pairs(len(self.classes_))
        self.pairs_ = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        totals = np.bincount(data.y, data.weights, minlength=len(self.classes_))
        self.shares_ = totals / totals.sum()
        super()._fit(data)

    def _questions(self, codes):
        return [
            (np.flatnonzero((codes == a) | (codes == b)), (codes == b).astype(np.int64))
            for a, b in self.pairs_
        ]

    def _votes_and_sums(self, rows) -> tuple[np.ndarray, np.ndarray]:
        scores = self._member_scores(rows)
        votes = np.zeros((len(rows), len(self.classes_)), dtype=np.int64)
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
