"""Members that the user names: a list of (name, estimator) pairs, some of which may be dropped."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from gnomon.bayes import NaiveBayes
from gnomon.engine.stored import ListOf, Object
from gnomon.ensemble.member import named
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

DROPPED = "drop"


def different_classifiers() -> list[tuple[str, Any]]:
    """Three classifiers that err differently: a shallow tree, naive Bayes, a linear one."""
    return [
        ("tree", DecisionTreeClassifier(max_depth=6)),
        ("bayes", NaiveBayes()),
        ("linear", LogisticRegression()),
    ]


def different_regressors() -> list[tuple[str, Any]]:
    """Two regressors that err differently: a shallow tree and a linear one."""
    return [("tree", DecisionTreeRegressor(max_depth=6)), ("linear", LinearRegression())]


class NamedMembers:
    """Mixin: the parameter ``estimators`` lists the members by name."""

    estimators: Any
    members_: list
    _target: Any
    _stored = {
        "members_": ListOf(Object(("Member",))),
    }

    def _listed(self) -> list[tuple[str, Any]]:
        """The members by name, dropped ones too."""
        if self.estimators is None:
            return different_classifiers() if self._target == "classes" else different_regressors()
        if not isinstance(self.estimators, (list, tuple)) or not len(self.estimators):
            raise ValueError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
                f"(string, estimator) tuples, or of estimators; got {self.estimators!r}"
            )
        given = [entry[0] for entry in self.estimators if isinstance(entry, tuple)]
        if len(given) == len(self.estimators) and all(isinstance(name, str) for name in given):
            self._validate_names(given)
        kept = [each for each in self.estimators if not is_dropped(each)]
        if not kept:
            raise ValueError(
                "All estimators are dropped. At least one is required to be an estimator."
            )
        learners = iter(named(kept))
        return [each if is_dropped(each) else next(learners) for each in self.estimators]

    def _candidates(self) -> list[tuple[str, Any]]:
        return [(name, each) for name, each in self._listed() if not is_dropped((name, each))]

    @property
    def named_estimators(self) -> Bunch:
        """The members by name, not fitted."""
        return Bunch(**dict(self._listed()))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name; "drop" for those that were left out."""
        fitted = {member.name: member.estimator for member in self.members_}
        return Bunch(**{name: fitted.get(name, DROPPED) for name, _ in self._listed()})


def is_dropped(entry: Any) -> bool:
    """Whether an entry of ``estimators`` says that a member is left out."""
    return (
        isinstance(entry, tuple)
        and len(entry) == 2
        and isinstance(entry[1], str)
        and (entry[1] == DROPPED)
    )
