"""Bucket of models: try several learners by cross-validation, keep the best, teach it all rows.

The figure of the winner is a little too good, since it was chosen for being the best; the table of
scores shows how close the others came, with standard errors that count overlapping training sets.

Texts: 003 2.5.4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.contract import Classifier, Regressor
from gnomon.engine.parameters import JOBS, SEED, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Object, Text
from gnomon.ensemble.base import Ensemble, Training
from gnomon.ensemble.held_out import FOLDS, mean_loss, out_of_fold
from gnomon.ensemble.lots import Fold
from gnomon.ensemble.member import Member, fit_member, named, seeded
from gnomon.ensemble.named import different_classifiers, different_regressors
from gnomon.evaluate import corrected_standard_error

BUCKET_CONSTRAINTS = {
    "estimators": [None, list, tuple],
    "cv": FOLDS,
    "n_jobs": JOBS,
    "random_state": SEED,
}


class Tried(NamedTuple):
    """A candidate's losses per fold and its fold models."""

    name: str
    losses: np.ndarray
    members: list[Member]


@storable
class ScoreTable:
    """Losses of the candidates of a bucket, best first; prints as a table.

    Parameters
    ----------
    measure : str
    names : list of str
    losses : ndarray of shape (n_candidates, n_folds)
    test_share : float
        Held-out rows per row learnt from.

    Attributes
    ----------
    means, standard_errors : ndarray of shape (n_candidates,)
        Of the loss over the folds, the second corrected for overlapping training sets.
    """

    _stored = {
        "losses": Array("f8", ("n_losses", None)),
        "means": Array("f8", ("n_losses",)),
        "measure": Text(),
        "names": ListOf(Text(), "n_losses"),
        "standard_errors": Array("f8", ("n_losses",)),
    }

    def __init__(self, measure: str, names: list[str], losses: np.ndarray, test_share: float):
        self.measure = measure
        order = np.argsort(losses.mean(axis=1), kind="stable")
        self.names = [names[place] for place in order]
        self.losses = losses[order]
        self.means = self.losses.mean(axis=1)
        several = self.losses.shape[1] > 1
        self.standard_errors = np.array(
            [
                corrected_standard_error(row, test_share) if several else np.nan
                for row in self.losses
            ]
        )

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [f"{'learner':<{width}}  {self.measure}"]
        lines += [
            f"{name:<{width}}  {mean:.4g} +- {error:.2g}"
            for name, mean, error in zip(self.names, self.means, self.standard_errors)
        ]
        return "\n".join(lines)


class Bucket(Ensemble):
    """Mixin: the candidate of the least mean loss over folds."""

    _stored = {
        "best_name_": Text(),
        "members_": ListOf(Object(("Member",))),
        "scores_": Object(("ScoreTable",)),
    }

    def _candidates(self):
        if self.estimators is None:
            return different_classifiers() if self._target == "classes" else different_regressors()
        return named(self.estimators)

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        is_class = self._target == "classes"
        n_classes = len(self.classes_) if is_class else 0
        rng = self._rng()
        folds = training.folds(self.cv, rng, training.y if is_class else None)
        drawn = rng.integers(2**31 - 1, size=len(candidates)).tolist()

        def fit(job) -> Tried:
            (name, learner), seed = job
            said, members = out_of_fold(learner, name, training, folds, n_classes, seed)
            return Tried(name, fold_losses(said, folds, training.y, self.scoring), members)

        def so_far(tried: list[Tried]) -> dict[str, Any]:
            best = tried[best_of(tried)]
            return {"members_": best.members[:1], "best_name_": best.name}

        jobs = list(zip(candidates, drawn, strict=True))
        tried = self._fit_each(jobs, fit, lambda made: float(made[-1].losses.mean()), so_far)
        place = best_of(tried)
        (self.best_name_, learner), seed = jobs[place]
        fresh = seeded(learner, seed, False)
        self.members_ = [fit_member(fresh, self.best_name_, training, training.whole(), seed=seed)]
        share = sum(f.held.weight_array.sum() / f.learn.weight_array.sum() for f in folds)
        losses = np.array([each.losses for each in tried])
        names = [each.name for each in tried]
        self.scores_ = ScoreTable(self.scoring, names, losses, float(share / len(folds)))

    def _proba(self, rows):
        return self.members_[0].proba(rows, len(self.classes_))

    def _estimate(self, rows):
        return self.members_[0].estimate(rows)


def fold_losses(said: np.ndarray, folds: list[Fold], y: np.ndarray, measure: str) -> np.ndarray:
    """Mean loss in each fold, from outputs that stand one fold after the other."""
    losses, start = [], 0
    for fold in folds:
        positions, weights = fold.held.positions, fold.held.weight_array
        stop = start + len(positions)
        losses.append(mean_loss(said[start:stop], y[positions], weights, measure))
        start = stop
    return np.array(losses)


def best_of(tried: list[Tried]) -> int:
    """The candidate of the least mean loss; the first of equals."""
    return int(np.argmin([each.losses.mean() for each in tried]))


@method(
    task="classify",
    texts="003 2.5.4",
    use="Nobody knows beforehand which classifier suits the table.",
    avoid="Candidates that are about equally good: joining them (voting, stacking) wins.",
    peers=("sklearn.model_selection.GridSearchCV",),
)
class BucketClassifier(Bucket, Classifier):
    """Chooses among classifiers by cross-validation, then teaches the winner all rows.

    Use it when nobody knows which classifier suits; not when several are about equally good:
    joining them wins. Minimises the mean loss over held-out rows, in m n + 1 trainings for m
    candidates and n folds; equals go to the first. The winner's figure is optimistic, being the
    best of several. Texts: 003 2.5.4.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The candidates, of any library. None for a shallow tree, naive Bayes and a logistic
        regression.
    scoring : {"error", "log_loss", "brier"}, default="error"
        The loss that decides.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds, stratified by class; or the rows to learn from and to leave out, by fold.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of candidates whose own ``random_state`` is None.

    Attributes
    ----------
    best_name_ : str
        The winner.
    members_ : list of Member
        The winner, fitted on all rows.
    scores_ : ScoreTable
        Losses of all candidates, best first.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The mean loss of each candidate.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BucketClassifier
    >>> rows = [[float(i), (i * 7) % 5] for i in range(20)]
    >>> model = BucketClassifier(random_state=0).fit(rows, [int(4 < i < 15) for i in range(20)])
    >>> model.best_name_
    'tree'
    """

    _parameter_constraints = {
        **BUCKET_CONSTRAINTS,
        "scoring": [StrOptions({"error", "log_loss", "brier"})],
    }

    def __init__(self, estimators=None, *, scoring="error", cv=5, n_jobs=None, random_state=None):
        self.estimators = estimators
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="003 2.5.4",
    use="Nobody knows beforehand which regressor suits the table.",
    avoid="Candidates that are about equally good: joining them (voting, stacking) wins.",
    peers=("sklearn.model_selection.GridSearchCV",),
)
class BucketRegressor(Bucket, Regressor):
    """Chooses among regressors by cross-validation, then teaches the winner all rows.

    Use it when nobody knows which regressor suits; not when several are about equally good.
    Minimises the mean loss over held-out rows; equals go to the first. The winner's figure is
    optimistic, being the best of several. Texts: 003 2.5.4.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The candidates, of any library. None for a shallow tree and a linear regression.
    scoring : {"squared", "absolute"}, default="squared"
        The loss that decides.
    cv : int or list of (positions, positions) pairs, default=5
        Number of folds; or the rows to learn from and to leave out, by fold.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of candidates whose own ``random_state`` is None.

    Attributes
    ----------
    best_name_ : str
        The winner.
    members_ : list of Member
        The winner, fitted on all rows.
    scores_ : ScoreTable
        Losses of all candidates, best first.
    history_ : History
        The mean loss of each candidate.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BucketRegressor
    >>> rows = [[float(i)] for i in range(20)]
    >>> BucketRegressor(random_state=0).fit(rows, [3.0 * i for i in range(20)]).best_name_
    'linear'
    """

    _parameter_constraints = {
        **BUCKET_CONSTRAINTS,
        "scoring": [StrOptions({"squared", "absolute"})],
    }

    def __init__(self, estimators=None, *, scoring="squared", cv=5, n_jobs=None, random_state=None):
        self.estimators = estimators
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
