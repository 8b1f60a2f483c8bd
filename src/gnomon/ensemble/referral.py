"""Referral: easy rows are answered by a cheap model, hard ones go to a costlier one, or to a
person.

A level answers where its greatest probability reaches its threshold, and refers the row to the next
level otherwise. What the last level is not sure of waits for a person, or is answered by it all the
same.

Texts: 004 3, 11.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.bayes import NaiveBayes
from gnomon.contract import Classifier
from gnomon.engine.parameters import JOBS, SEED, at_least, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object
from gnomon.ensemble.base import Ensemble, Training
from gnomon.ensemble.member import Member, fit_member, named, seeded
from gnomon.trees import RandomForestClassifier


@dataclass(frozen=True)
class CostReport:
    """What a referral costs on some rows; prints as a table.

    Attributes
    ----------
    names : list of str
        The levels, and "person".
    n_rows : ndarray of int
        Rows answered at each level.
    costs : ndarray of float
        Cost of all rows that reached each level.
    accuracies : ndarray of float
        Share of right answers at each level; NaN where the truth is not known or no row was
        answered.
    """

    names: list[str]
    n_rows: np.ndarray
    costs: np.ndarray
    accuracies: np.ndarray

    @property
    def total(self) -> float:
        """Cost of all rows."""
        return float(self.costs.sum())

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [f"{'level':<{width}}  answered      cost  accuracy"]
        for name, n, cost, share in zip(self.names, self.n_rows, self.costs, self.accuracies):
            accuracy = f"{share:8.3f}" if np.isfinite(share) else "       -"
            lines.append(f"{name:<{width}}  {n:8d}  {cost:8.4g}  {accuracy}")
        lines.append(f"{'total':<{width}}  {int(self.n_rows.sum()):8d}  {self.total:8.4g}")
        return "\n".join(lines)


@method(
    task="classify",
    texts="004 3, 11.7",
    use="A good model is costly per row (or is a person), and most rows are easy.",
    avoid="One cheap model is good enough, or probabilities are badly calibrated.",
    peers=(),
)
class ReferralClassifier(Ensemble, Classifier):
    """Levels of classifiers, cheap ones first; rows that a level is not sure of go to the next.

    Use it where good answers are costly and most rows are easy; not with badly calibrated
    probabilities, since a level that is sure and wrong never asks. Level l answers where max_k
    p_l(k | x) >= t_l. The last level answers what reaches it, and `waiting` tells which of these
    rows a person should see. All levels learn from all rows. Texts: 004 3, 11.7.

    Parameters
    ----------
    estimators : list of estimators or of (str, estimator) pairs, default=None
        The levels, of any library, cheap ones first. None for naive Bayes and a random forest.
    thresholds : float or list of float, default=0.9
        Least probability with which a level answers, one for all or one for each.
    costs : list of float, default=None
        Cost of a row at each level; None for 1, 10, 100 ...
    person_cost : float, default=1000.0
        Cost of a row that a person must see.
    n_jobs : int, default=None
        Threads; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of members whose own ``random_state`` is None.

    Attributes
    ----------
    members_ : list of Member
        The levels; ``estimators_`` lists their learners.
    thresholds_ : ndarray of shape (n_levels,)
        Least probability with which each level answers.
    costs_ : ndarray of shape (n_levels,)
        Cost of a row at each level.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The share of the training rows that would be answered by the levels so far.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import ReferralClassifier
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = ReferralClassifier(random_state=0).fit(rows, [0] * 10 + [1] * 10)
    >>> model.level([[0.0], [19.0]]).tolist()
    [0, 0]
    """

    _parameter_constraints = {
        "estimators": [None, list, tuple],
        "thresholds": [between(0, 1), "array-like"],
        "costs": [None, "array-like"],
        "person_cost": [at_least(0)],
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "costs_": Array("f8", ("n_members",)),
        "members_": ListOf(Object(("Member",)), "n_members"),
        "thresholds_": Array("f8", ("n_members",), low=0.0),
    }

    def __init__(
        self,
        estimators=None,
        *,
        thresholds=0.9,
        costs=None,
        person_cost=1000.0,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.thresholds = thresholds
        self.costs = costs
        self.person_cost = person_cost
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _candidates(self):
        if self.estimators is None:
            return [
                ("cheap", NaiveBayes()),
                ("costly", RandomForestClassifier(n_estimators=20)),
            ]
        return named(self.estimators)

    def _per_level(self, given, n_levels: int, what: str) -> np.ndarray:
        values = np.asarray(given, dtype=np.float64)
        values = np.full(n_levels, float(values)) if values.ndim == 0 else values
        if values.shape != (n_levels,):
            raise ValueError(f"{what} has {values.size} entries for {n_levels} levels")
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"{what} must hold numbers that are zero or more")
        return values

    def _fit_ensemble(self, training: Training) -> None:
        candidates = self._checked_candidates()
        n_levels = len(candidates)
        thresholds = self._per_level(self.thresholds, n_levels, "thresholds")
        costs = 10.0 ** np.arange(n_levels) if self.costs is None else self.costs
        costs = self._per_level(costs, n_levels, "costs")
        part = training.whole()
        rows, weights = training.at(part.positions), part.weight_array
        jobs = list(zip(candidates, self._seeds(n_levels), strict=True))

        def fit(job) -> tuple[Member, np.ndarray]:
            (name, learner), seed = job
            member = fit_member(seeded(learner, seed, False), name, training, part, seed=seed)
            return member, member.proba(rows, len(self.classes_)).max(axis=1)

        def objective(made: list) -> float:
            sure = np.any([said >= t for (_, said), t in zip(made, thresholds)], axis=0)
            return float(weights[sure].sum() / weights.sum())

        def so_far(made: list) -> dict[str, Any]:
            return {
                "members_": [member for member, _ in made],
                "thresholds_": thresholds[: len(made)],
                "costs_": costs[: len(made)],
            }

        self._keep(so_far(self._fit_each(jobs, fit, objective, so_far)))

    def _answered(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities, and the level that gave them; the number of levels where nobody was
        sure.
        """
        n, n_levels = rows.shape[0], len(self.members_)
        proba = np.empty((n, len(self.classes_)))
        level = np.full(n, n_levels)
        open_rows = np.arange(n)
        for place, (member, threshold) in enumerate(zip(self.members_, self.thresholds_)):
            if not len(open_rows):
                break
            said = member.proba(
                rows if len(open_rows) == n else rows[open_rows], len(self.classes_)
            )
            proba[open_rows] = said
            sure = said.max(axis=1) >= threshold
            level[open_rows[sure]] = place
            open_rows = open_rows[~sure]
        return proba, level

    def _proba(self, rows):
        return self._answered(rows)[0]

    def level(self, X) -> np.ndarray:
        """The level that is sure of each row; the number of levels where none is.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        levels : ndarray of int of shape (n_samples,)
        """
        return self._each_block(lambda rows: self._answered(rows)[1], X)

    def waiting(self, X) -> np.ndarray:
        """Positions of the rows of which no level is sure: the queue for a person.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        positions : ndarray of int
        """
        return np.flatnonzero(self.level(X) == len(self.members_))

    def cost_report(self, X, y=None) -> CostReport:
        """Rows answered, cost and accuracy of each level, with the person's queue.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            The truth, where it is known.

        Returns
        -------
        report : CostReport
        """
        level = self.level(X)
        n_levels = len(self.members_)
        answered = np.bincount(level, minlength=n_levels + 1)
        reached = len(level) - np.concatenate([[0], np.cumsum(answered)[:-1]])
        accuracies = np.full(n_levels + 1, np.nan)
        if y is not None:
            right = self.predict(X) == np.asarray(y)
            for place in range(n_levels):
                if answered[place]:
                    accuracies[place] = right[level == place].mean()
        names = [member.name for member in self.members_] + ["person"]
        return CostReport(
            names, answered, reached * np.append(self.costs_, self.person_cost), accuracies
        )
