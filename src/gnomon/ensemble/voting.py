"""Voting: different learners on the same rows, then a vote or a mean of what they say.

With votes as unit vectors the share of votes is their mean, and the plurality wins; averaging
probabilities uses how sure each member is. The error falls to zero with more members only when each
is right more often than not and their errors are independent: hard rows make errors agree, so look
at `agreement`.

Texts: 002 "Voting", one-hot votes · 004 11.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gnomon.contract import Classifier, Regressor
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import FLAG, JOBS, SEED, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.ensemble.base import Training, member_weights, weighted_error
from gnomon.ensemble.committee import Committee
from gnomon.ensemble.member import Member, fit_member, seeded
from gnomon.ensemble.named import NamedMembers

TIE = 1e-12  # shares that differ by less are tied but for rounding
VOTING_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "weights": [None, "array-like"],
    "n_jobs": JOBS,
    "random_state": SEED,
}


@dataclass(frozen=True)
class Agreement:
    """How often members predict the same class.

    Attributes
    ----------
    names : list of str
    shares : ndarray of shape (n_members, n_members)
        Share of the rows on which two members agree.
    """

    names: list[str]
    shares: np.ndarray

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"{name:>{width}}  " + "  ".join(f"{share:5.3f}" for share in row)
            for name, row in zip(self.names, self.shares)
        ]
        return "\n".join(lines)


def agreement(votes: np.ndarray, names: list[str] | None = None) -> Agreement:
    """How often members agree, from their votes.

    Parameters
    ----------
    votes : array-like of shape (n_rows, n_members)
        The class that each member predicts.
    names : list of str, optional

    Returns
    -------
    agreement : Agreement

    Examples
    --------
    >>> print(agreement([[0, 0], [1, 0], [1, 1], [1, 1]], ["a", "b"]))
    a  1.000  0.750
    b  0.750  1.000
    """
    votes = np.asarray(votes)
    shares = (votes[:, :, None] == votes[:, None, :]).mean(axis=0)
    return Agreement(names or [f"member {j + 1}" for j in range(votes.shape[1])], shares)


class OfDifferentKinds(NamedMembers, TransformerMixin, Committee):
    """Mixin: members are the given learners, each on all rows."""

    _stored = {
        "_given_weights": Array("f8", ("n_members",)) | None,
        "weights_": Array("f8", (None,), low=0.0),
    }

    def _pool_weights(self) -> np.ndarray:
        return self.weights_

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        self._given_weights = self._weights_of_kept()
        member_weights(self._given_weights, len(candidates))
        self._prepare(training)
        jobs = zip(candidates, self._seeds(len(candidates)), strict=True)
        part = training.whole()
        rows, y = training.at(part.positions), training.y[part.positions]

        def fit(job) -> tuple[Member, float]:
            (name, learner), seed = job
            member = fit_member(seeded(learner, seed, False), name, training, part, seed=seed)
            return member, self._error_of(member, rows, y, part.weight_array)

        fitted = self._fit_each(jobs, fit, lambda made: made[-1][1], self._of_pairs)
        self._keep(self._of_pairs(fitted))

    def _prepare(self, training: Training) -> None:
        """What else is learnt from the training rows."""

    def _of_pairs(self, fitted: list[tuple[Member, float]]) -> dict[str, Any]:
        return {
            "members_": [member for member, _ in fitted],
            "weights_": member_weights(self._given_weights, len(fitted)),
        }

    def _weights_of_kept(self):
        """The weights of the members that are not dropped."""
        if self.weights is None:
            return None
        listed = self._listed()
        if len(self.weights) != len(listed):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(listed)} estimators"
            )
        kept = [w for w, (_, each) in zip(self.weights, listed, strict=True) if each != "drop"]
        return np.asarray(kept, dtype=np.float64)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _columns_of_transform(self) -> list[str]:
        """What the columns of `transform` are, after the name of the class."""
        return [member.name for member in self.members_]

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Must be the names that ``fit`` saw; not used otherwise.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "members_")
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix = type(self).__name__.lower()
        return np.asarray([f"{prefix}_{each}" for each in self._columns_of_transform()], object)


@method(
    task="classify",
    texts="002 Voting · 004 11.1",
    use="Two or more good classifiers of different kinds: their joint answer is rarely worse.",
    avoid="Members that err on the same rows, or one member that is far better than the rest.",
    peers=("sklearn.ensemble.VotingClassifier",),
)
@without_effect("verbose")
class VotingClassifier(OfDifferentKinds, Classifier):
    """Different classifiers on the same rows: the vote, or the mean of their probabilities.

    Use it to join good classifiers of different kinds; not when one is far better than the rest, or
    when all err on the same rows (look at `agreement`). Predicts the class of the greatest weighted
    share of votes, sum_m w_m [h_m(x) = k], or mean probability. Texts: 002 (one-hot votes), 004
    11.1.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs or of estimators
        The learners, of any library; "drop" in the place of one leaves it out. None for
        a shallow tree, naive Bayes and a logistic regression.
    voting : {"hard", "soft", "geometric"}, default="hard"
        Share of votes, mean of probabilities, or geometric mean of probabilities (a member that
        excludes a class then has a veto).
    weights : array-like of shape (n_estimators,), default=None
        Weights of the members; None for equal ones.
    n_jobs : int, default=None
        Threads; None for one per processor.
    flatten_transform : bool, default=True
        Whether `transform` gives the members' probabilities side by side, or one above the other.
    tie : {"first", "commonest", "probable"}, default="first"
        Which of the classes with equally many votes wins: the one that sorts first, the commonest
        in the training rows, or the one of greatest mean probability.
    random_state : int, RandomState or None, default=None
        Seeds the members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        Weights that add up to one.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes among the training rows.
    history_ : History
        Per member: its error on the training rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> from gnomon.ensemble import VotingClassifier
    >>> from gnomon.linear import LogisticRegression
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = VotingClassifier([("bayes", GaussianNB()), ("linear", LogisticRegression())])
    >>> model = model.fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[0.0], [10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        **VOTING_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard", "geometric"})],
        "flatten_transform": FLAG,
        "tie": [StrOptions({"first", "commonest", "probable"})],
    }
    _stored = {
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
    }

    def __init__(
        self,
        estimators,
        *,
        voting="hard",
        weights=None,
        n_jobs=None,
        flatten_transform=True,
        verbose=False,
        tie="first",
        random_state=None,
    ):
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose
        self.tie = tie
        self.random_state = random_state

    def _gives_probabilities(self) -> bool:
        if self.voting == "hard":
            raise AttributeError(
                "predict_proba is not available when voting='hard': take voting='soft', or votes"
            )
        return True

    @available_if(_gives_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class, for each row; not with ``voting="hard"``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        return super().predict_proba(X)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithm of the probability of each class; not with ``voting="hard"``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return super().predict_log_proba(X)

    def transform(self, X) -> np.ndarray:
        """What each member says: its class with ``voting="hard"``, else its probabilities.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        said : ndarray of shape (n_samples, n_members), (n_samples, n_members * n_classes) or \
                (n_members, n_samples, n_classes)
            Numbers of classes, or probabilities; the last form without ``flatten_transform``.
        """
        if self.voting == "hard":
            return self._each_block(self._codes_of_members, X)
        n_classes = len(self.classes_)

        def said(rows) -> np.ndarray:
            return np.hstack(list(self._ask(lambda m: m.proba(rows, n_classes), rows)))

        side_by_side = self._each_block(said, X)
        if self.flatten_transform:
            return side_by_side
        return np.stack(np.split(side_by_side, len(self.members_), axis=1))

    def _codes_of_members(self, rows) -> np.ndarray:
        return np.column_stack(list(self._ask(lambda m: m.codes(rows), rows)))

    def _columns_of_transform(self) -> list[str]:
        if self.voting == "hard":
            return super()._columns_of_transform()
        if not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`"
            )
        places = range(len(self.classes_))
        return [f"{member.name}{k}" for member in self.members_ for k in places]

    def _prepare(self, training: Training) -> None:
        totals = np.bincount(training.y, training.weights, minlength=len(self.classes_))
        self.class_prior_ = totals / totals.sum()

    def _error_of(self, member: Member, rows, y, weights) -> float:
        return weighted_error(member.codes(rows), y, weights)

    def predict(self, X) -> np.ndarray:
        """The class that wins, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        winners = self._each_block(self._winners, X)
        return self.classes_[winners]

    def _winners(self, rows) -> np.ndarray:
        shares = self._proba(rows)
        if self.voting != "hard" or self.tie == "first":
            return shares.argmax(axis=1)
        tied = shares >= shares.max(axis=1, keepdims=True) - TIE
        liking = np.tile(self.class_prior_, (len(shares), 1))
        if self.tie == "probable":
            n_classes = len(self.classes_)
            said = self._ask(lambda m: m.proba(rows, n_classes), rows)
            liking = sum(w * p for w, p in zip(self.weights_, said, strict=True))
        return np.where(tied, liking, -1.0).argmax(axis=1)

    def votes(self, X) -> np.ndarray:
        """The class that each member predicts.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        votes : ndarray of shape (n_samples, n_members)
        """
        return self.classes_[self._each_block(self._codes_of_members, X)]

    def agreement(self, X) -> Agreement:
        """How often members predict the same class.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        agreement : Agreement
        """
        return agreement(self.votes(X), [member.name for member in self.members_])


@method(
    task="regress",
    texts="004 11.1",
    use="Two or more good regressors of different kinds: their mean is rarely worse.",
    avoid="One member that is far better than the rest: let stacking find weights.",
    peers=("sklearn.ensemble.VotingRegressor",),
)
@without_effect("verbose")
class VotingRegressor(OfDifferentKinds, Regressor):
    """Different regressors on the same rows: the weighted mean, or the median, of their estimates.

    Use it to join good regressors of different kinds; not when one is far better than the rest. The
    squared error of the mean, sum_m w_m g_m(x), is the mean of the members' errors less their
    spread, so that it is never worse than the mean member. Texts: 004 11.1.

    Parameters
    ----------
    estimators : list of (str, estimator) pairs or of estimators
        The learners, of any library; "drop" in the place of one leaves it out. None for
        a shallow tree and a linear regression.
    weights : array-like of shape (n_estimators,), default=None
        Weights of the members; None for equal ones.
    n_jobs : int, default=None
        Threads; None for one per processor.
    voting : {"mean", "median"}, default="mean"
        Weighted mean, or (lower) weighted median, which one wild member cannot move.
    random_state : int, RandomState or None, default=None
        Seeds the members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        Weights that add up to one.
    history_ : History
        Per member: its mean squared error on the training rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import VotingRegressor
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> model = VotingRegressor([LinearRegression(), DecisionTreeRegressor()])
    >>> model = model.fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0])
    >>> model.predict([[2.0]]).round(6).tolist()
    [2.0]
    """

    _parameter_constraints = {
        **VOTING_CONSTRAINTS,
        "voting": [StrOptions({"mean", "median"})],
    }

    def __init__(
        self,
        estimators,
        *,
        weights=None,
        n_jobs=None,
        verbose=False,
        voting="mean",
        random_state=None,
    ):
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.voting = voting
        self.random_state = random_state

    def transform(self, X) -> np.ndarray:
        """What each member estimates.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        estimates : ndarray of shape (n_samples, n_members)
        """
        return self._each_block(
            lambda rows: np.column_stack(list(self._ask(lambda m: m.estimate(rows), rows))), X
        )

    def _error_of(self, member: Member, rows, y, weights) -> float:
        return float(weights @ (member.estimate(rows) - y) ** 2 / weights.sum())

    def _estimate(self, rows):
        if self.voting == "mean":
            return super()._estimate(rows)
        said = np.column_stack(list(self._ask(lambda m: m.estimate(rows), rows)))
        return weighted_medians(said, self.weights_)


def weighted_medians(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Lower weighted median of each row of values (n, m)."""
    order = np.argsort(values, axis=1, kind="stable")
    line = np.cumsum(weights[order], axis=1)
    place = (line < 0.5 - TIE).sum(axis=1)
    return np.take_along_axis(values, order, axis=1)[np.arange(len(values)), place]
