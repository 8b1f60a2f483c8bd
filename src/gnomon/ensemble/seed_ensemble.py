"""Seed ensembles: the same learner on the same rows, with different random seeds.

What differs between members is chance inside the learner: starting weights, order of patterns,
random splits. A mean over seeds removes that chance and leaves the rest.

Texts: 000c 18.1.3 (voting networks) · 004 11.5.
"""

from __future__ import annotations

import warnings

from gnomon.contract import Classifier, Regressor
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import JOBS, SEED, StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import ListOf, Object
from gnomon.ensemble.bagging import LEARNER
from gnomon.ensemble.base import Training, chosen
from gnomon.ensemble.committee import OfOneKind
from gnomon.ensemble.member import Member, fit_member, seeded
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

SEED_CONSTRAINTS = {
    "estimator": LEARNER,
    "n_estimators": [whole(1)],
    "n_jobs": JOBS,
    "random_state": SEED,
}


class SeedEnsemble(OfOneKind):
    """Mixin: members of one kind on all rows, each with a seed of its own."""

    _stored = {
        "members_": ListOf(Object(("Member",)), "n_estimators"),
    }

    def _candidates(self):
        tree = DecisionTreeClassifier if self._target == "classes" else DecisionTreeRegressor
        return chosen(self.estimator, lambda: tree(max_features="sqrt"))

    def _fit_ensemble(self, training: Training) -> None:
        turns = self._in_turns(self.n_estimators)
        for name, learner in self._candidates():
            if not any(key.endswith("random_state") for key in learner.get_params(deep=True)):
                warnings.warn(
                    f"member {name!r} takes no random_state: its copies will not differ. "
                    "Use bagging instead",
                    GnomonWarning,
                    stacklevel=6,
                )
        jobs = list(zip(turns, self._seeds(self.n_estimators), strict=True))
        part = training.whole()

        def fit(job) -> Member:
            (name, learner), seed = job
            return fit_member(seeded(learner, seed, True), name, training, part, seed=seed)

        self.members_ = self._fit_each(jobs, fit, len, lambda members: {"members_": members})


@method(
    task="classify",
    texts="000c 18.1.3 · 004 11.5",
    use="A learner whose result depends on chance (networks above all).",
    avoid="Learners without chance: all members are equal.",
)
class SeedEnsembleClassifier(SeedEnsemble, Classifier):
    """Members that differ only by their random seed: mean probability or vote.

    Use it for learners whose result depends on chance, networks above all, for a small and reliable
    gain; not for learners without chance, whose copies are equal (a warning says so). The mean over
    seeds estimates the expectation over the chance, E_s p(k | x, s). Texts: 000c 18.1.3, 004 11.5.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full decision tree that
        looks at randomly drawn columns.
    n_estimators : int, default=10
        Number of members.
    voting : {"soft", "hard", "geometric"}, default="soft"
        Mean of probabilities, share of votes, or geometric mean of probabilities.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        From which the members' seeds are drawn.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    history_ : History
        The number of members so far.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import SeedEnsembleClassifier
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = SeedEnsembleClassifier(random_state=0).fit(rows, ["a", "a", "b", "b"])
    >>> model.predict([[0.0], [10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        **SEED_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard", "geometric"})],
    }

    def __init__(
        self, estimator=None, n_estimators=10, *, voting="soft", n_jobs=None, random_state=None
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.voting = voting
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="000c 18.1.3 · 004 11.5",
    use="A learner whose result depends on chance (networks above all).",
    avoid="Learners without chance: all members are equal.",
)
class SeedEnsembleRegressor(SeedEnsemble, Regressor):
    """Members that differ only by their random seed: the mean of their estimates.

    Use it for learners whose result depends on chance, networks above all; not for learners without
    chance, whose copies are equal (a warning says so). The mean estimates the expectation over the
    chance, E_s g(x, s). Texts: 000c 18.1.3, 004 11.5.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree that
        looks at randomly drawn columns.
    n_estimators : int, default=10
        Number of members.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        From which the members' seeds are drawn.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    history_ : History
        The number of members so far.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import SeedEnsembleRegressor
    >>> rows = [[1.0], [2.0], [8.0], [9.0]]
    >>> model = SeedEnsembleRegressor(random_state=0).fit(rows, [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[0.0], [10.0]]).tolist()
    [1.0, 5.0]
    """

    _parameter_constraints = SEED_CONSTRAINTS

    def __init__(self, estimator=None, n_estimators=10, *, n_jobs=None, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
