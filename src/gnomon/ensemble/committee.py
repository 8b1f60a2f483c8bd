"""Committees: members that are fitted separately and predict together."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.ensemble.base import Ensemble, chosen, member_weights, pooled_proba, weighted_mean
from gnomon.ensemble.member import Rows
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


class Committee(Ensemble):
    """Mixin: the answer is the mean, or the vote, of the members' answers."""

    def _pool_weights(self) -> np.ndarray:
        return member_weights(None, len(self.members_))

    def _pooled(self, rows: Rows, members, weights: np.ndarray) -> np.ndarray:
        """What some members say together."""
        if self._target != "classes":
            return weighted_mean(self._ask(lambda m: m.estimate(rows), rows, members), weights)
        n_classes = len(self.classes_)
        if self.voting == "hard":
            said = self._ask(lambda m: m.votes(rows, n_classes), rows, members)
        else:
            said = self._ask(lambda m: m.proba(rows, n_classes), rows, members)
        return pooled_proba(said, weights, self.voting)

    def _proba(self, rows):
        return self._pooled(rows, self.members_, self._pool_weights())

    def _estimate(self, rows):
        return self._pooled(rows, self.members_, self._pool_weights())


class OfOneKind(Committee):
    """Mixin: members are copies of one learner, or alternately of several: ``estimator``."""

    def _candidates(self) -> list[tuple[str, Any]]:
        tree = DecisionTreeClassifier if self._target == "classes" else DecisionTreeRegressor
        return chosen(self.estimator, tree)

    @property
    def estimator_(self) -> Any:
        """What a member is, not fitted; the first kind where there are several."""
        return self._candidates()[0][1]

    def _in_turns(self, n_members: int) -> list[tuple[str, Any]]:
        """A learner for each member, with the member's own name."""
        candidates = self._checked_candidates()
        turns = [candidates[place % len(candidates)] for place in range(n_members)]
        return [(f"{name} {place + 1}", learner) for place, (name, learner) in enumerate(turns)]
