"""Gating: a master names, for each row, the member that shall answer.

The rows are split in two. Members learn from the first part. On the second part each row is
labelled with the member that predicts it best, and the master, a classifier, learns these labels.
The texts leave open what to do where several members are right: here the one that is surest of the
true class, or one of them at random.

Texts: 003 2.5.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.contract import Classifier, Regressor
from gnomon.engine.parameters import JOBS, SEED, HasMethods, StrOptions, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object
from gnomon.ensemble.base import Ensemble, Training
from gnomon.ensemble.held_out import loss_of, mean_loss, say
from gnomon.ensemble.lots import Part, repeated
from gnomon.ensemble.member import Member, fit_member, fit_on, named, require_kind, seeded
from gnomon.ensemble.named import different_classifiers, different_regressors
from gnomon.trees import DecisionTreeClassifier

GATING_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "gate": [None, HasMethods(["fit", "predict"])],
    "holdout": [between(0, 1, "neither")],
    "ties": [StrOptions({"confidence", "random"})],
    "n_jobs": JOBS,
    "random_state": SEED,
}


class Gating(Ensemble):
    """Mixin: members on the first part, the master on the second."""

    _stored = {
        "gate_": Object(("Member",)),
        "members_": ListOf(Object(("Member",)), "n_members"),
        "shares_": Array("f8", ("n_members",), low=0.0),
    }

    def _candidates(self):
        if self.estimators is None:
            return different_classifiers() if self._target == "classes" else different_regressors()
        return named(self.estimators)

    def _master(self):
        return DecisionTreeClassifier(max_depth=4) if self.gate is None else clone(self.gate)

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        require_kind("gate", self._master(), True)
        is_class = self._target == "classes"
        n_classes = len(self.classes_) if is_class else 0
        rng = self._rng()
        learn, held = training.lots.halves(self.holdout, rng, training.y if is_class else None)
        drawn = rng.integers(2**31 - 1, size=len(candidates) + 2).tolist()
        held_rows, y = training.rows[held.positions], training.y[held.positions]

        def fit(job) -> tuple[Member, np.ndarray]:
            (name, learner), seed = job
            member = fit_member(seeded(learner, seed, False), name, training, learn, seed=seed)
            return member, say(member, held_rows, n_classes)

        def objective(made: list) -> float:
            measure = "error" if is_class else "squared"
            return mean_loss(made[-1][1], y, held.weight_array, measure)

        def gated(made: list) -> dict[str, Any]:
            return self._gated(made, training, held, drawn[-2:])

        jobs = list(zip(candidates, drawn[:-2], strict=True))
        made = self._fit_each(jobs, fit, objective, gated)
        self._keep(gated(made))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        """Members learn from the first part alone; the second is cut out for the master."""
        second = int(self.holdout * n_rows)
        return super()._working_memory(n_rows - second, n_columns) + 8 * second * (n_columns + 8)

    def _gated(
        self, made: list, training: Training, held: Part, seeds: list[int]
    ) -> dict[str, Any]:
        """The members, and the master that learns which of them is best where."""
        y = training.y[held.positions]
        said = [each[1] for each in made]
        part, best = held, self._best(said, y)
        if self.ties == "random":
            part, place = written_out(held)
            best = self._one_of_the_best(said, y, place, np.random.default_rng(seeds[0]))
        counts = np.bincount(best, part.weight_array, minlength=len(made))
        fresh = seeded(self._master(), seeds[1], False)
        return {
            "members_": [each[0] for each in made],
            "gate_": fit_on(fresh, "gate", training.rows[part.positions], best, part.weights),
            "shares_": counts / counts.sum(),
        }

    def _best(self, said: list[np.ndarray], y: np.ndarray) -> np.ndarray:
        """The member that is right, and of those the surest; the first of equals."""
        return np.argmin(np.column_stack([self._badness(each, y) for each in said]), axis=1)

    def _badness(self, said: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self._target != "classes":
            return np.abs(said[:, 0] - y)
        return loss_of(said, y, "error") - said[np.arange(len(y)), y]

    def _one_of_the_best(self, said, y, place, rng) -> np.ndarray:
        """One of the members that are right (or nearest), at random, for each lot."""
        measure = "error" if self._target == "classes" else "absolute"
        losses = np.column_stack([loss_of(each, y, measure) for each in said])
        tied = (losses <= losses.min(axis=1, keepdims=True))[place]
        marks = rng.random(len(place)) * tied.sum(axis=1)
        return (np.cumsum(tied, axis=1) > marks[:, None]).argmax(axis=1)

    def _of_the_named(self, rows, answer) -> np.ndarray:
        """``answer(member, rows)`` of the member that the master names for each row."""
        named_members = self.gate_.codes(rows)
        whole = None
        for place, member in enumerate(self.members_):
            mine = np.flatnonzero(named_members == place)
            if not len(mine):
                continue
            part = answer(member, rows[mine])
            if whole is None:
                whole = np.empty((len(named_members), *part.shape[1:]))
            whole[mine] = part
        assert whole is not None
        return whole

    def route(self, X) -> np.ndarray:
        """The member that answers for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        members : ndarray of int of shape (n_samples,)
            Places in ``members_``.
        """
        return self._each_block(self.gate_.codes, X)


def written_out(part: Part) -> tuple[Part, np.ndarray]:
    """A part with each row as often as it weighs, and the place in the part where each came
    from.
    """
    places = repeated(Part(np.arange(len(part.positions)), part.weights))
    if places is None:
        return part, np.arange(len(part.positions))
    return Part(part.positions[places], None), places


@method(
    task="classify",
    texts="003 2.5.5",
    use="Different classifiers are good in different regions of the table.",
    avoid="Few rows, or members that are good everywhere alike: average them.",
    peers=(),
)
class GatingClassifier(Gating, Classifier):
    """A master names the classifier that answers for each row.

    Use it when classifiers are good in different regions; not with few rows, nor when all are alike
    (average them). The master minimises its own objective on the labels m*(x) = argmin_m L(y,
    h_m(x)) of the rows held out. Texts: 003 2.5.5, which leaves ties open.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The members, of any library. None for a shallow tree, naive Bayes and a logistic regression.
    gate : estimator, default=None
        The master, a classifier; None for a tree of depth four.
    holdout : float, default=0.5
        Share of the rows from which the master learns.
    ties : {"confidence", "random"}, default="confidence"
        Where several members are right: the one surest of the true class, or one at random.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the split and of ties, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Fitted on the first part; ``estimators_`` lists their learners.
    gate_ : Member
        The master, a classifier of places in ``members_``.
    shares_ : ndarray of shape (n_members,)
        Share of the held-out rows on which each member was best.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The held-out error of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import GatingClassifier
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = GatingClassifier(random_state=0).fit(rows, [0] * 10 + [1] * 10)
    >>> model.predict([[0.0], [19.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = GATING_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        gate=None,
        *,
        holdout=0.5,
        ties="confidence",
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.gate = gate
        self.holdout = holdout
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _proba(self, rows):
        n_classes = len(self.classes_)
        return self._of_the_named(rows, lambda member, some: member.proba(some, n_classes))


@method(
    task="regress",
    texts="003 2.5.5",
    use="Different regressors are good in different regions of the table.",
    avoid="Few rows, or members that are good everywhere alike: average them.",
    peers=(),
)
class GatingRegressor(Gating, Regressor):
    """A master names the regressor that answers for each row.

    Use it when regressors are good in different regions; not with few rows, nor when all are alike.
    The master, a classifier, minimises its own objective on the labels m*(x) = argmin_m |y -
    g_m(x)| of the rows held out. Texts: 003 2.5.5.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The members, of any library. None for a shallow tree and a linear regression.
    gate : estimator, default=None
        The master, a classifier; None for a tree of depth four.
    holdout : float, default=0.5
        Share of the rows from which the master learns.
    ties : {"confidence", "random"}, default="confidence"
        Where members are equally near: the first, or one at random.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the split and of ties, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Fitted on the first part; ``estimators_`` lists their learners.
    gate_ : Member
        The master, a classifier of places in ``members_``.
    shares_ : ndarray of shape (n_members,)
        Share of the held-out rows on which each member was best.
    history_ : History
        The held-out mean squared error of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import GatingRegressor
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = GatingRegressor(random_state=0).fit(rows, [2.0 * i for i in range(20)])
    >>> model.predict([[5.0]]).round(6).tolist()
    [10.0]
    """

    _parameter_constraints = GATING_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        gate=None,
        *,
        holdout=0.5,
        ties="confidence",
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.gate = gate
        self.holdout = holdout
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _estimate(self, rows):
        return self._of_the_named(rows, lambda member, some: member.estimate(some))
