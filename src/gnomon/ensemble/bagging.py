"""Bagging: the same learner on many bootstrap samples of the rows, then a vote or a mean.

A bootstrap sample draws as many rows as there are, with replacement: about 1 - 1/e = 63.2 % of
the rows are in it. A mean of members that differ varies less than one member; its bias is that of
one member. Rows that a member did not see test it for free (out-of-bag).

Texts: 001 12.1 · 002 "Bagging" · 003 2.5.2 · 004 6.2, 11.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.utils._param_validation import RealNotInt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Classifier, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, JOBS, SEED, HasMethods, Interval, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object, Optional
from gnomon.ensemble.base import Training, mean_squared_error, weighted_error
from gnomon.ensemble.committee import OfOneKind
from gnomon.ensemble.lots import Part, repeated
from gnomon.ensemble.member import Member, fit_member, seeded
from gnomon.trees.random_forest import tell_unasked

LEARNER = [None, HasMethods(["fit", "predict"]), list, tuple]
BAG_CONSTRAINTS = {
    "estimator": LEARNER,
    "n_estimators": [whole(1)],
    "max_samples": [None, whole(1), Interval(RealNotInt, 0, None, closed="neither")],
    "max_features": [whole(1), Interval(RealNotInt, 0, 1, closed="right")],
    "bootstrap": FLAG,
    "bootstrap_features": FLAG,
    "oob_score": FLAG,
    "warm_start": FLAG,
    "n_jobs": JOBS,
    "random_state": SEED,
}
# Texts of parameters that classes here share, for their docstrings.
BAGGING_PARAMETERS = """\
n_estimators : int
    Number of members.
max_samples : int or float
    Rows that each member draws: a number, a ratio to the rows given, or None for as many.
max_features : int or float
    Columns that each member sees: a number, or a share of all.
bootstrap : bool
    Draw rows with replacement.
bootstrap_features : bool
    Draw columns with replacement.
oob_score : bool
    Test every member on the rows that it did not draw.
warm_start : bool
    Keep the members of the last fit and add to them up to ``n_estimators``.
n_jobs : int
    Threads; None for one per processor.
random_state : int, RandomState or None
    Of the draws of rows and columns and of the members.
"""


class Bag(NamedTuple):
    """A member, the rows that it saw, and the share of all rows that they are."""

    member: Member
    part: Part
    distinct: float

    def positions(self, kept: np.ndarray | None) -> np.ndarray:
        """The rows that it drew, as often as it drew them, among all that were given."""
        written = repeated(self.part)
        found = self.part.positions if written is None else written
        return found if kept is None else np.flatnonzero(kept)[found]


class OutOfBag:
    """Sums of what members say of the rows that they have not seen.

    Parameters
    ----------
    ensemble : Bagging
    training : Training
    """

    def __init__(self, ensemble, training: Training):
        self.ensemble = ensemble
        self.training = training
        self.classes = ensemble._target == "classes"
        shape = (training.n_rows, len(ensemble.classes_)) if self.classes else training.n_rows
        self.total = np.zeros(shape)
        self.times = np.zeros(training.n_rows)
        self.member_scores: list[float] = []

    def add(self, bag: Bag) -> None:
        """Ask a member about the rows that it has not seen."""
        out = np.ones(self.training.n_rows, dtype=bool)
        out[bag.part.positions] = False
        out = np.flatnonzero(out)
        if not len(out):
            self.member_scores.append(np.nan)
            return
        rows = self.training.rows[out]
        said = self.ensemble._pooled(rows, [bag.member], np.ones(1))
        self.total[out] += said
        self.times[out] += 1
        self.member_scores.append(self._score(said, out))

    def _score(self, said: np.ndarray, at: np.ndarray) -> float:
        y, weights = self.training.y[at], self.training.weight_array[at]
        if self.classes:
            return 1.0 - weighted_error(said.argmax(axis=1), y, weights)
        return r2(said, y, weights)

    def mean(self) -> np.ndarray:
        """Mean of the answers per row; NaN for rows that every member has seen."""
        times = np.where(self.times > 0, self.times, np.nan)
        return self.total / (times[:, None] if self.classes else times)

    def for_all_rows(self) -> np.ndarray:
        """Mean answers for the rows as given; NaN also for those of weight zero."""
        kept, answers = self.training.kept, self.mean()
        if kept is None:
            return answers
        everyone = np.full((len(kept), *answers.shape[1:]), np.nan)
        everyone[kept] = answers
        return everyone

    def score(self) -> float:
        """Accuracy or R^2 over the rows that some member has not seen; NaN where there are none."""
        at = np.flatnonzero(self.times > 0)
        return self._score(self.mean()[at], at) if len(at) else np.nan


def r2(predicted: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Share of the variance that is explained; 0 for a constant target that is met exactly or
    not.
    """
    mean = float(weights @ y / weights.sum())
    spread = mean_squared_error(mean, y, weights)
    return 1.0 - mean_squared_error(predicted, y, weights) / spread if spread > 0 else 0.0


class Bagging(OfOneKind):
    """Mixin: members of one kind, each on a random part of the rows and columns."""

    _transient = ("_samples", "_kept")

    max_samples: int | float | None
    max_features: int | float
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool
    warm_start: bool
    _stored = {
        "distinct_shares_": Array("f8", ("n_estimators",), low=0.0),
        "members_": ListOf(Object(("Member",)), "n_estimators"),
        "oob_decision_function_": Optional(Array("f8", (None, None), finite=False)),
        "oob_member_scores_": Optional(Array("f8", (None,))),
        "oob_prediction_": Optional(Array("f8", (None,), finite=False)),
        "oob_score_": Optional(Number()),
    }

    def _fitted_before(self):
        return ("oob_score_", "oob_member_scores_", "oob_decision_function_", "oob_prediction_")

    def _size(self, n_lots: int) -> int:
        size = self.max_samples
        if size is None:
            return n_lots
        size = max(int(size * n_lots), 1) if isinstance(size, float) else int(size)
        if not self.bootstrap and size > n_lots:
            raise ValueError(
                f"max_samples={self.max_samples} rows cannot be drawn without replacement from "
                f"{n_lots}; lower it or set bootstrap=True"
            )
        return size

    def _draw(self, training: Training, seed: int) -> Part:
        lots = training.lots
        rng = np.random.default_rng([seed, 0])
        draw = lots.bootstrap if self.bootstrap else lots.sample
        return draw(self._size(lots.n_lots), rng)

    def _draw_columns(self, n_columns: int, seed: int) -> np.ndarray | None:
        """The columns that a member sees; None for all, in their order."""
        share = self.max_features
        n = max(int(share * n_columns), 1) if isinstance(share, float) else int(share)
        if n > n_columns:
            raise ValueError(f"max_features must be <= n_features={n_columns}, got {n}")
        if n == n_columns and not self.bootstrap_features:
            return None
        rng = np.random.default_rng([seed, 2])
        if self.bootstrap_features:
            return rng.integers(n_columns, size=n)
        return rng.permutation(n_columns)[:n]

    def _members_before(self) -> list[Bag]:
        """The members of an earlier fit that ``warm_start`` keeps."""
        before = vars(self).get("_samples") if self.warm_start else None
        if not before:
            return []
        if self.oob_score:
            raise ValueError("Out of bag estimate only available if warm_start=False")
        if len(before) > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(before)} when warm_start==True"
            )
        if len(before) == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=2,
            )
        return before

    def _fit_ensemble(self, training: Training) -> None:
        if training.is_weighted and not self.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use "
                "bootstrap=True",
                GnomonWarning,
                stacklevel=2,
            )
        size = self._size(training.lots.n_lots)
        if self.oob_score and not self.bootstrap and size >= training.lots.n_lots:
            raise ValueError(
                "Out of bag estimation (oob_score=True) only available if bootstrap=True, or with "
                "max_samples below the number of rows"
            )
        if self.oob_score and self.warm_start:
            raise ValueError("Out of bag estimate only available if warm_start=False")
        before = self._members_before()
        turns = self._in_turns(self.n_estimators)
        jobs = list(zip(turns, self._seeds(self.n_estimators), strict=True))
        out_of_bag = OutOfBag(self, training) if self.oob_score else None
        n_columns = training.rows.shape[1]

        def fit(job) -> Bag:
            (name, learner), seed = job
            part = self._draw(training, seed)
            columns = self._draw_columns(n_columns, seed)
            made = seeded(learner, seed, True)
            member = fit_member(made, name, training, part, columns=columns, seed=seed)
            return Bag(member, part, len(part.positions) / training.n_rows)

        def objective(bags: list[Bag]) -> float:
            if out_of_bag is None:
                return bags[-1].distinct
            out_of_bag.add(bags[-1])
            return 1.0 - out_of_bag.score()

        new = jobs[len(before) :]
        bags = before + self._fit_each(
            new, fit, objective, lambda made: self._bagged(before + made)
        )
        self._keep(self._bagged(bags))
        self._samples = bags
        self._kept = training.kept
        if out_of_bag is not None:
            self._keep_out_of_bag(out_of_bag)

    def _bagged(self, bags: list[Bag]) -> dict:
        return {
            "members_": [bag.member for bag in bags],
            "distinct_shares_": np.array([bag.distinct for bag in bags]),
        }

    def __len__(self) -> int:
        return len(self.members_)

    def __getitem__(self, place):
        return self.estimators_[place]

    def __iter__(self) -> Iterator:
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that each member drew; not known after loading from a model file."""
        check_is_fitted(self)
        if self._samples is None:
            raise AttributeError("a model file does not keep which rows each member drew")
        return [bag.positions(self._kept) for bag in self._samples]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns that each member sees."""
        everything = np.arange(self.n_features_in_)
        return [everything if m.columns is None else m.columns for m in self.members_]

    def _check_loaded(self) -> None:
        if "members_" in vars(self):
            self._samples = None
            self._kept = None

    def _keep_out_of_bag(self, found: OutOfBag) -> None:
        tell_unasked(found.times, "member")
        self.oob_score_ = found.score()
        self.oob_member_scores_ = np.array(found.member_scores)
        name = "oob_decision_function_" if found.classes else "oob_prediction_"
        setattr(self, name, found.for_all_rows())


@method(
    task="classify",
    texts="001 12.1 · 002 Bagging · 003 2.5.2 · 004 6.2, 11.2",
    use="A learner that changes much with its training rows (trees, networks), of any library.",
    avoid="Stable learners (linear, naive Bayes): a mean of equals gains nothing.",
    peers=("sklearn.ensemble.BaggingClassifier",),
)
@without_effect("verbose")
@shared_parameters(BAGGING_PARAMETERS)
class BaggingClassifier(Bagging, Classifier):
    """Bootstrap samples of the rows, one member on each, then mean probability or vote.

    Use it to steady a learner that changes much with its training rows; not for stable learners,
    nor against bias, which stays that of one member. Minimises nothing of its own: with members of
    variance s^2 and correlation r the mean of B has variance r s^2 + (1 - r) s^2 / B. For trees
    with random columns `RandomForestClassifier` is faster. Members may be of several kinds, in
    turns. A sample in which only one class occurs gives a member that always names it. Texts: 001
    12.1, 002, 003 2.5.2, 004 11.2; the texts vote, the default here averages probabilities.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full decision tree.
    voting : {"soft", "hard", "geometric"}, default="soft"
        Mean of probabilities, share of votes, or geometric mean of probabilities.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    distinct_shares_ : ndarray of shape (n_estimators,)
        Share of the rows that each member saw.
    oob_score_ : float
        Accuracy of the vote of the members that did not see a row; only with ``oob_score=True``.
    oob_member_scores_ : ndarray
        Accuracy of each member on its own unseen rows, NaN where it saw all; only with
        ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities from members that did not see the row, NaN where all did; only with
        ``oob_score=True``.
    history_ : History
        Per member: the out-of-bag error so far with ``oob_score=True``, else its share of distinct
        rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BaggingClassifier
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = BaggingClassifier(random_state=0).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[0.0], [10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        **BAG_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard", "geometric"})],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting

    @available_if(lambda self: self._members_decide())
    def decision_function(self, X) -> np.ndarray:
        """Mean of the members' decision functions, where all have one.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)

        def mean(rows) -> np.ndarray:
            found = self._ask(lambda m: m.estimator.decision_function(m.given(rows)), rows)
            return np.mean(list(found), axis=0)

        return self._each_block(mean, X)

    def _members_decide(self) -> bool:
        members = vars(self).get("members_")
        if members is None:
            return all(hasattr(each, "decision_function") for _, each in self._candidates())
        return all(hasattr(member.estimator, "decision_function") for member in members)


@method(
    task="regress",
    texts="001 12.1 · 003 2.5.2 · 004 6.2, 11.2",
    use="A learner that changes much with its training rows (trees, networks), of any library.",
    avoid="Stable learners (linear): a mean of equals gains nothing.",
    peers=("sklearn.ensemble.BaggingRegressor",),
)
@without_effect("verbose")
@shared_parameters(BAGGING_PARAMETERS)
class BaggingRegressor(Bagging, Regressor):
    """Bootstrap samples of the rows, one member on each, then the mean of their estimates.

    Use it to steady a learner that changes much with its training rows; not for stable learners,
    nor against bias. With members of variance s^2 and correlation r the mean of B has variance
    r s^2 + (1 - r) s^2 / B. Members may be of several kinds, in turns. Texts: 001 12.1, 003 2.5.2,
    004 11.2.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    distinct_shares_ : ndarray of shape (n_estimators,)
        Share of the rows that each member saw.
    oob_score_ : float
        R^2 of the mean of the members that did not see a row; only with ``oob_score=True``.
    oob_member_scores_ : ndarray
        R^2 of each member on its own unseen rows, NaN where it saw all; only with
        ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,)
        Estimates from members that did not see the row, NaN where all did; only with
        ``oob_score=True``.
    history_ : History
        Per member: one minus the out-of-bag R^2 so far with ``oob_score=True``, else its share of
        distinct rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BaggingRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = BaggingRegressor(n_estimators=50, random_state=0).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> bool(model.predict([[0.0]])[0] < 2 < 4 < model.predict([[10.0]])[0])
    True
    """

    _parameter_constraints = BAG_CONSTRAINTS

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
