"""Stacking: a second learner finds out whom of the first ones to trust.

Level 0 are learners of the rows. Level 1 learns the target from what level 0 says of rows that it
has not learnt from: out-of-fold (each row's outputs come from a model that did not see it), or on a
part that is held out (blending). Without a learner of level 1, the members get non-negative weights
that add up to one and minimise the squared error, so that they can be read as shares:

    min_a  sum_i w_i sum_k ([y_i = k] - sum_m a_m p_m(k | x_i))^2,   a >= 0,  sum_m a_m = 1

Texts: 003 2.5.6 (two parts, with passthrough) · 004 11.1 (probabilities, non-negative weights).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone

from gnomon.contract import Classifier, Regressor
from gnomon.engine.parameters import FLAG, JOBS, SEED, HasMethods, StrOptions, between
from gnomon.engine.registry import method
from gnomon.ensemble.base import Ensemble, Training, normalised_rows, weighted_mean
from gnomon.ensemble.held_out import FOLDS, Entries, mean_loss, out_of_fold, say
from gnomon.ensemble.lots import Fold
from gnomon.ensemble.member import (
    Member,
    add_columns,
    fit_member,
    fit_on,
    require_kind,
    seeded,
)
from gnomon.ensemble.named import NamedMembers

SUM_TO_ONE = 1e4
# Members that err by less, beside the worst one, are told apart by rounding alone.
NO_ERROR = 1e-8
STACK_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "final_estimator": [None, HasMethods(["fit", "predict"])],
    "split": [StrOptions({"folds", "holdout"})],
    "cv": FOLDS,
    "holdout": [between(0, 1, "neither")],
    "passthrough": FLAG,
    "n_jobs": JOBS,
    "random_state": SEED,
}


class Stacked(NamedTuple):
    """A member of level 0, and what it (or its fold models) said of rows unknown to it."""

    member: Member
    said: np.ndarray
    loss: float


def convex_weights(outputs: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Non-negative weights that add up to one and minimise the weighted squared error.

    Members without error share the weight equally.

    Parameters
    ----------
    outputs : ndarray of shape (n, n_members)
    target : ndarray of shape (n,)
    weights : ndarray of shape (n,)

    Returns
    -------
    a : ndarray of shape (n_members,)

    Examples
    --------
    >>> import numpy as np
    >>> outputs = np.array([[0.0, 2.0], [1.0, 5.0], [3.0, 3.0]])
    >>> convex_weights(outputs, outputs @ [0.25, 0.75], np.ones(3)).round(6)
    array([0.25, 0.75])
    """
    n_members = outputs.shape[1]
    if n_members == 1:
        return np.ones(1)
    # errors of the members: with weights that add up to one, sum_m a_m (g_m - y) is the error
    errors = np.sqrt(weights / weights.sum())[:, None] * (outputs - target[:, None])
    sizes = np.abs(errors).max(axis=0)
    perfect = sizes <= NO_ERROR * sizes.max()
    if perfect.any():
        return perfect / perfect.sum()
    small = np.linalg.qr(errors / sizes.max(), mode="r")
    level = SUM_TO_ONE * max(np.abs(small).max(), np.finfo(float).tiny)
    system = np.vstack([small, np.full(n_members, level)])
    wanted = np.append(np.zeros(len(small)), level)
    found, _ = nnls(system, wanted)
    return found / found.sum()


class Stack(NamedMembers, Ensemble):
    """Mixin: level 0 with held-out outputs, then level 1."""

    def _n_classes(self) -> int:
        return len(self.classes_) if self._target == "classes" else 0

    def _parts(self, training: Training, rng: np.random.Generator) -> list[Fold]:
        strata = training.y if self._target == "classes" else None
        if self.split == "holdout":
            return [training.lots.halves(self.holdout, rng, strata)]
        return training.folds(self.cv, rng, strata)

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        if self.final_estimator is not None:
            require_kind("final_estimator", self.final_estimator, self._target == "classes")
        rng = self._rng()
        folds = self._parts(training, rng)
        drawn = rng.integers(2**31 - 1, size=len(candidates) + 1).tolist()
        entries = Entries.of([fold.held for fold in folds])
        whole_part = training.whole() if self.split == "folds" else None
        y, measure = training.y[entries.positions], self._measure()

        def fit(job) -> Stacked:
            (name, learner), seed = job
            said, members = out_of_fold(learner, name, training, folds, self._n_classes(), seed)
            member = members[0]
            if whole_part is not None:
                fresh = seeded(learner, seed, False)
                member = fit_member(fresh, name, training, whole_part, seed=seed)
            return Stacked(member, said, mean_loss(said, y, entries.weights, measure))

        def level_1(stacked: list[Stacked]) -> dict[str, Any]:
            return self._level_1(stacked, training, entries, drawn[-1])

        jobs = list(zip(candidates, drawn[:-1], strict=True))
        stacked = self._fit_each(jobs, fit, lambda made: made[-1].loss, level_1)
        self._keep(level_1(stacked))

    def _measure(self) -> str:
        return "brier" if self._target == "classes" else "squared"

    def _level_1(self, stacked: list[Stacked], training: Training, entries: Entries, seed: int):
        """Everything that is learnt from held-out outputs."""
        found = {
            "members_": [each.member for each in stacked],
            "held_out_losses_": np.array([each.loss for each in stacked]),
            "weights_": None,
            "final_": None,
        }
        said = [each.said for each in stacked]
        if self.final_estimator is None and not self.passthrough:
            found["weights_"] = self._weights_from(said, training.y[entries.positions], entries)
            return found
        if self.final_estimator is None:
            raise ValueError("passthrough=True needs a final_estimator to pass the columns to")
        rows = self._level_1_rows(said, lambda: training.rows[entries.positions], found["members_"])
        weights = None if (entries.weights == 1).all() else entries.weights
        final = seeded(clone(self.final_estimator), seed, False)
        y = training.y[entries.positions]
        found["final_"] = fit_on(final, "final_estimator", rows, y, weights)
        return found

    def _weights_from(self, said: list[np.ndarray], y: np.ndarray, entries: Entries) -> np.ndarray:
        n_classes = self._n_classes()
        target = y.astype(np.float64)
        weights = entries.weights
        if n_classes:
            target = (y[:, None] == np.arange(n_classes)).astype(np.float64).ravel()
            weights = np.repeat(weights, n_classes)
        return convex_weights(np.column_stack([each.ravel() for each in said]), target, weights)

    def _level_1_rows(self, said: list[np.ndarray], rows, members: list[Member]):
        """Outputs of level 0 as columns, beside the rows where they are passed through.

        Probabilities add up to one, so that the first class is left out.
        """
        kept = [each[:, 1:] if self._n_classes() > 1 else each for each in said]
        outputs = np.hstack(kept)
        if not self.passthrough:
            return outputs
        labels = self.classes_[1:].tolist() if self._n_classes() > 1 else [""]
        names = [f"{member.name}:{label}" for member in members for label in labels]
        return add_columns(rows(), outputs, names)

    def _said(self, rows) -> list[np.ndarray]:
        n_classes = self._n_classes()
        return list(self._ask(lambda member: say(member, rows, n_classes), rows))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_members = len(self._candidates())
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * 16 * n_members


@method(
    task="classify",
    texts="003 2.5.6 · 004 11.1",
    use="Several good classifiers, and rows enough to learn whom to trust.",
    avoid="Few rows, or where one model must be explained.",
    peers=("sklearn.ensemble.StackingClassifier",),
)
class StackingClassifier(Stack, Classifier):
    """Classifiers of level 0, and weights or a classifier of level 1 on their held-out
    probabilities.

    Use it when several good classifiers disagree and there are rows enough to learn whom to trust;
    not with few rows. Level 1 never sees an output for a row from a model that learnt from that
    row. By default it is one non-negative weight per member (see ``weights_``), minimising the
    Brier score sum_i sum_k ([y_i = k] - sum_m a_m p_m(k | x_i))^2 with sum_m a_m = 1; any
    classifier may take its place, a stacking classifier too (several levels). ``split="holdout"``
    is blending, the form of 003 2.5.6, where members learn from the first part only. Texts: 003
    2.5.6, 004 11.1.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        Level 0, of any library. None for a shallow tree, naive Bayes and a logistic regression.
    final_estimator : estimator, default=None
        Level 1, a classifier of the members' probabilities (without the first class); None for
        weights.
    split : {"folds", "holdout"}, default="folds"
        Whether level 1 learns from out-of-fold outputs, or from a part held out once (blending).
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds, stratified by class; or the rows to learn from and to leave out, by fold.
    holdout : float, default=0.5
        Share of the rows that is held out for level 1 in blending.
    passthrough : bool, default=False
        Let level 1 see the columns of the table too.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows (in blending: on the first part); ``estimators_`` lists the
        learners.
    final_ : Member or None
        Level 1, where it is a learner.
    weights_ : ndarray of shape (n_members,) or None
        Shares of the members, where there is no learner of level 1.
    held_out_losses_ : ndarray of shape (n_members,)
        Brier score of each member on rows unknown to it.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    history_ : History
        The held-out Brier score of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import StackingClassifier
    >>> rows = [[float(i)] for i in range(12)]
    >>> model = StackingClassifier(cv=3, random_state=0).fit(rows, [0] * 6 + [1] * 6)
    >>> model.predict([[0.0], [11.0]]).tolist()
    [0, 1]
    >>> round(float(model.weights_.sum()), 6)
    1.0
    """

    _parameter_constraints = STACK_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        final_estimator=None,
        *,
        split="folds",
        cv=5,
        holdout=0.5,
        passthrough=False,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.split = split
        self.cv = cv
        self.holdout = holdout
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _proba(self, rows):
        said = self._said(rows)
        if self.weights_ is not None:
            return normalised_rows(weighted_mean(said, self.weights_))
        made = self._level_1_rows(said, lambda: rows, self.members_)
        return self.final_.proba(made, len(self.classes_))


@method(
    task="regress",
    texts="003 2.5.6 · 004 11.1",
    use="Several good regressors, and rows enough to learn whom to trust.",
    avoid="Few rows, or where one model must be explained.",
    peers=("sklearn.ensemble.StackingRegressor",),
)
class StackingRegressor(Stack, Regressor):
    """Regressors of level 0, and weights or a regressor of level 1 on their held-out estimates.

    Use it when several good regressors disagree and there are rows enough to learn whom to trust;
    not with few rows. Level 1 never sees an output for a row from a model that learnt from that
    row. By default it is one non-negative weight per member (see ``weights_``), minimising
    sum_i w_i (y_i - sum_m a_m g_m(x_i))^2 with sum_m a_m = 1; any regressor may take its place, a
    stacking regressor too (several levels). ``split="holdout"`` is blending, the form of 003 2.5.6.
    Texts: 003 2.5.6, 004 11.1.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        Level 0, of any library. None for a shallow tree and a linear regression.
    final_estimator : estimator, default=None
        Level 1, a regressor of the members' estimates; None for weights.
    split : {"folds", "holdout"}, default="folds"
        Whether level 1 learns from out-of-fold outputs, or from a part held out once (blending).
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds; or the rows to learn from and to leave out, by fold.
    holdout : float, default=0.5
        Share of the rows that is held out for level 1 in blending.
    passthrough : bool, default=False
        Let level 1 see the columns of the table too.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Of the folds, and of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        Level 0, fitted on all rows (in blending: on the first part); ``estimators_`` lists the
        learners.
    final_ : Member or None
        Level 1, where it is a learner.
    weights_ : ndarray of shape (n_members,) or None
        Shares of the members, where there is no learner of level 1.
    held_out_losses_ : ndarray of shape (n_members,)
        Mean squared error of each member on rows unknown to it.
    history_ : History
        The held-out mean squared error of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import StackingRegressor
    >>> rows = [[float(i)] for i in range(12)]
    >>> model = StackingRegressor(cv=3, random_state=0).fit(rows, [2.0 * i for i in range(12)])
    >>> model.weights_.round(6).tolist()
    [0.0, 1.0]
    """

    _parameter_constraints = STACK_CONSTRAINTS

    def __init__(
        self,
        estimators=None,
        final_estimator=None,
        *,
        split="folds",
        cv=5,
        holdout=0.5,
        passthrough=False,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.split = split
        self.cv = cv
        self.holdout = holdout
        self.passthrough = passthrough
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _estimate(self, rows):
        said = self._said(rows)
        if self.weights_ is not None:
            return weighted_mean(said, self.weights_)[:, 0]
        return self.final_.estimate(self._level_1_rows(said, lambda: rows, self.members_))
