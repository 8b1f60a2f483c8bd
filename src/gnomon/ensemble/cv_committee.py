"""Cross-validated committees: keep the K models of a cross-validation and let them answer together.

Each member learns from all rows but one of K disjoint parts. The models are made anyway when a
learner is tested; joined they cost nothing more, and what each says of the part that it left out is
an honest prediction for every row.

Texts: 004 11.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.contract import Classifier, Regressor
from gnomon.engine.parameters import JOBS, SEED, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object, Optional
from gnomon.ensemble.bagging import LEARNER
from gnomon.ensemble.base import Training
from gnomon.ensemble.committee import OfOneKind
from gnomon.ensemble.held_out import FOLDS, Entries, mean_loss, say
from gnomon.ensemble.lots import Part
from gnomon.ensemble.member import Member, fit_member, seeded

COMMITTEE_CONSTRAINTS = {
    "estimator": LEARNER,
    "cv": FOLDS,
    "n_jobs": JOBS,
    "random_state": SEED,
}


class Judged(NamedTuple):
    """A member, the part that it left out, what it says of that part, and how wrong that is."""

    member: Member
    held: Part
    said: np.ndarray
    loss: float


class CVCommittee(OfOneKind):
    """Mixin: one member per fold."""

    _stored = {
        "fold_losses_": Array("f8", ("n_fold_losses",)),
        "members_": ListOf(Object(("Member",)), "n_fold_losses"),
        "oof_prediction_": Optional(Array("f8", (None,))),
        "oof_proba_": Optional(Array("f8", (None, "n_classes"), low=0.0)),
    }

    def _most_steps(self) -> int:
        return self.cv if isinstance(self.cv, int) else len(self.cv)

    def _fit_ensemble(self, training: Training) -> None:
        is_class = self._target == "classes"
        n_classes = len(self.classes_) if is_class else 0
        rng = self._rng()
        folds = training.folds(self.cv, rng, training.y if is_class else None)
        drawn = rng.integers(2**31 - 1, size=len(folds)).tolist()
        turns = self._in_turns(len(folds))

        def fit(job) -> Judged:
            (name, learner), fold, seed = job
            member = fit_member(seeded(learner, seed, False), name, training, fold.learn, seed=seed)
            said = say(member, training.rows[fold.held.positions], n_classes)
            y, weights = training.y[fold.held.positions], fold.held.weight_array
            measure = "error" if is_class else "squared"
            return Judged(member, fold.held, said, mean_loss(said, y, weights, measure))

        jobs = list(zip(turns, folds, drawn, strict=True))
        judged = self._fit_each(jobs, fit, lambda made: made[-1].loss, self._so_far)
        self._keep(self._so_far(judged))
        self._keep_out_of_fold(judged, training, max(n_classes, 1))

    def _so_far(self, judged: list[Judged]) -> dict:
        losses = np.array([each.loss for each in judged])
        return {"members_": [each.member for each in judged], "fold_losses_": losses}

    def _keep_out_of_fold(self, judged: list[Judged], training: Training, n_said: int) -> None:
        entries = Entries.of([each.held for each in judged])
        weight = np.bincount(entries.positions, entries.weights, minlength=training.n_rows)
        said = np.vstack([each.said for each in judged]) * entries.weights[:, None]
        total = np.zeros((training.n_rows, n_said))
        np.add.at(total, entries.positions, said)
        mean = total / np.where(weight > 0, weight, np.nan)[:, None]
        if self._target == "classes":
            self.oof_proba_ = mean
        else:
            self.oof_prediction_ = mean[:, 0]


@method(
    task="classify",
    texts="004 11.2",
    use="A learner that is cross-validated anyway: its fold models joined beat one of them.",
    avoid="Where one model must be shown or kept small.",
)
class CVCommitteeClassifier(CVCommittee, Classifier):
    """The models of a cross-validation, joined by mean probability or vote.

    Use it where a learner is cross-validated anyway: nothing is thrown away, and out-of-fold
    predictions come free; not where one small model is wanted. Members minimise their own
    objective, each on all rows but one of K disjoint parts. Texts: 004 11.2.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full decision tree.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds and members, stratified by class (fewer where there are fewer rows); or the
        rows to learn from and to leave out, fold by fold.
    voting : {"soft", "hard", "geometric"}, default="soft"
        Mean of probabilities, share of votes, or geometric mean of probabilities.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        One per fold; ``estimators_`` lists their learners.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    fold_losses_ : ndarray of shape (cv,)
        Error of each member on the part that it left out.
    oof_proba_ : ndarray of shape (n_samples, n_classes)
        For each training row of positive weight, what the member says that has not seen it.
    history_ : History
        The error of each member on the part that it left out.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import CVCommitteeClassifier
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = CVCommitteeClassifier(cv=3, random_state=0).fit(rows, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.0], [10.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = {
        **COMMITTEE_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard", "geometric"})],
    }

    def __init__(self, estimator=None, cv=5, *, voting="soft", n_jobs=None, random_state=None):
        self.estimator = estimator
        self.cv = cv
        self.voting = voting
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="004 11.2",
    use="A learner that is cross-validated anyway: its fold models joined beat one of them.",
    avoid="Where one model must be shown or kept small.",
)
class CVCommitteeRegressor(CVCommittee, Regressor):
    """The models of a cross-validation, joined by their mean.

    Use it where a learner is cross-validated anyway: nothing is thrown away, and out-of-fold
    predictions come free; not where one small model is wanted. Members minimise their own
    objective, each on all rows but one of K disjoint parts. Texts: 004 11.2.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds and members (fewer where there are fewer rows); or the rows to learn from
        and to leave out, fold by fold.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        One per fold; ``estimators_`` lists their learners.
    fold_losses_ : ndarray of shape (cv,)
        Mean squared error of each member on the part that it left out.
    oof_prediction_ : ndarray of shape (n_samples,)
        For each training row of positive weight, what the member says that has not seen it.
    history_ : History
        The mean squared error of each member on the part that it left out.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import CVCommitteeRegressor
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = CVCommitteeRegressor(cv=3, random_state=0).fit(rows, [1, 1, 1, 5, 5, 5])
    >>> model.predict([[0.0], [10.0]]).tolist()
    [1.0, 5.0]
    """

    _parameter_constraints = COMMITTEE_CONSTRAINTS

    def __init__(self, estimator=None, cv=5, *, n_jobs=None, random_state=None):
        self.estimator = estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
