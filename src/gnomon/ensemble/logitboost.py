"""Additive logistic regression: boosting as Newton steps on a likelihood.

The log-odds are a sum of terms, and each term is fitted to a working response:

    logit    z = (y* - p) / w with weights w = max(p (1 - p), |y* - p| / 4),  F += f / 2
    gentle   y with weights exp(-y F),                                        F += f
    real     p_w(y = 1 | x) by a classifier with such weights,   F += 1/2 log(p / (1 - p))

Of two classes y* is 0 or 1 and y is -1 or 1. The quarter keeps z within 4, as the authors advise;
as w z = y* - p, the probability of equal rows tends to the share of each class among them.
P(y = 1 | x) = 1 / (1 + exp(-2 F)) in all three: F is half the log-odds (004 prints e^H / (1 + e^H),
which lacks the factor 2 when H minimises the exponential loss). K classes: "logit" fits one term
per class, made symmetric by f_k <- (K - 1) / K (f_k - mean f); the others fit each class against
the rest.

Texts: 004 11.6 (which names the family; Friedman, Hastie and Tibshirani 2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from gnomon.contract import Classifier
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import HISTORY, JOBS, SEED, HasMethods, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import ListOf, Object
from gnomon.ensemble.base import (
    Ensemble,
    Training,
    chosen,
    kept_bytes,
    normalized_rows,
)
from gnomon.ensemble.member import Member, one_hot, require_kind, seeded
from gnomon.ensemble.reweighting import fit_weighted, rounded
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

GREATEST_RESPONSE = 4.0  # Friedman, Hastie and Tibshirani advise 2 to 4
SUREST = 1e-5  # keeps a score of the real variant within 5.8, half of the log-odds
STEEPEST = 300.0  # e^300 is 1e130: squares and sums of such weights are finite


@method(
    task="classify",
    texts="004 11.6",
    use="Boosting whose probabilities are wanted, or labels with some noise.",
    avoid="Plain boosting of trees: the boosting of room trees is far faster.",
    peers=("logitboost.LogitBoost", "Weka LogitBoost"),
)
class LogitBoostClassifier(Ensemble, Classifier):
    """Additive logistic regression by LogitBoost, Gentle or Real AdaBoost.

    Use it when probabilities are wanted from boosting or labels are noisy; not for plain boosting
    of trees. "logit" lowers the binomial (multinomial) deviance by Newton steps, the others the
    exponential loss. A row whose working response would exceed 4 has the response 4 and the weight
    |y* - p| / 4. (With the weight p (1 - p), as its authors advise, a class of less than a fifth of
    equal rows has no gradient left, and its probability tends to zero.) Weights below 1e-9 of the
    greatest count as that; "real" keeps probabilities within 1e-5 of the ends. Texts: 004 11.6,
    with the factor 2 that it lacks.

    Parameters
    ----------
    estimator : estimator, default=None
        A regressor, or for ``kind="real"`` a classifier with probabilities, of any library; None
        for a stump.
    kind : {"logit", "gentle", "real"}, default="logit"
        Which of the family.
    n_estimators : int, default=50
        Number of rounds; three classes or more have one member per class in each.
    learning_rate : float, default=1.0
        Factor on each term.
    keep_history : {"objective", "full"}, default="objective"
        With "full", the scores of all rows are kept for each round.
    n_jobs : int, default=None
        Threads for predictions; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the members.

    Attributes
    ----------
    members_ : list of Member
        The fitted members, for several classes one after the other in each round.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The mean deviance after each round.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import LogitBoostClassifier
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = LogitBoostClassifier(n_estimators=5).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[0.0], [10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "kind": [StrOptions({"logit", "gentle", "real"})],
        "n_estimators": [whole(1)],
        "learning_rate": [above(0)],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "members_": ListOf(Object(("Member",))),
    }

    def __init__(
        self,
        estimator=None,
        kind="logit",
        n_estimators=50,
        *,
        learning_rate=1.0,
        keep_history="objective",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.kind = kind
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.keep_history = keep_history
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _candidates(self):
        tree = DecisionTreeClassifier if self.kind == "real" else DecisionTreeRegressor
        return chosen(self.estimator, lambda: tree(max_depth=1))

    def _checked_candidates(self):
        [(name, learner)] = self._candidates()
        require_kind(name, learner, self.kind == "real")
        if self.kind == "real" and not hasattr(learner, "predict_proba"):
            raise ValueError(f"kind='real' needs probabilities, which {name!r} does not give")
        return [(name, learner)]

    def _n_scores(self) -> int:
        """One score for two classes, else one per class."""
        n_classes = len(self.classes_)
        return 1 if n_classes <= 2 else n_classes

    def _fit_ensemble(self, training: Training) -> None:
        [(name, learner)] = self._checked_candidates()
        part = training.whole()
        rows, y, weights = (
            training.at(part.positions),
            training.y[part.positions],
            part.weight_array,
        )
        n_scores = self._n_scores()
        is_class = (y == 1)[:, None] if n_scores == 1 else one_hot(y, n_scores) > 0
        score = np.zeros((len(y), n_scores))
        seeds = self._seeds(self.n_estimators)
        members: list[Member] = []

        def fitted() -> dict[str, Any]:
            return {"members_": list(members)}

        course = self._course("round", self.n_estimators)
        for step in course:
            moves = np.empty_like(score)
            for k in range(n_scores):
                target, factor = self._work(score, is_class, k)
                fresh = seeded(learner, seeds[step] + k, True)
                called = f"{name} {step + 1}" + (f", class {k + 1}" if n_scores > 1 else "")
                member = fit_weighted(
                    fresh, called, rows, np.arange(len(y)), target, weights, factor, seeds[step] + k
                )
                members.append(member)
                moves[:, k] = self._term(member, rows)
            score = score + self.learning_rate * self._symmetric(moves)
            if course.end_step(
                self._deviance(score, y, weights),
                state=lambda score=score: {"score": score.copy()},
                attributes=lambda: self._public() | fitted(),
            ):
                break
        self._keep(fitted())
        if course.history.stopped == "max_iter":
            course.history.stopped = "done"
        self.history_ = course.history

    def _work(self, score, is_class, k: int) -> tuple[np.ndarray, np.ndarray]:
        """What the member of class k is fitted to, and the factor on the weights of the rows."""
        if self.kind != "logit":
            sign = np.where(is_class[:, k], 1.0, -1.0)
            factor = np.exp(np.clip(-sign * score[:, k], -STEEPEST, STEEPEST))
            target = sign if self.kind == "gentle" else is_class[:, k].astype(np.int64)
        else:
            p = self._logit_proba(score)[:, k]
            gap = is_class[:, k] - p
            # a smaller weight would need a greater response: response times weight is y* - p
            factor = np.maximum(p * (1 - p), np.abs(gap) / GREATEST_RESPONSE)
            factor = np.maximum(factor, np.finfo(float).tiny)
            # a response of few bits times a weight of few bits is summed without rounding by trees
            target = np.rint(gap / factor * 2.0**20) * 2.0**-20
        return target, factor

    def _logit_proba(self, score: np.ndarray) -> np.ndarray:
        """Probability of the class of each score, in the model of LogitBoost."""
        return expit(2 * score) if score.shape[1] == 1 else softmax(score, axis=1)

    def _term(self, member: Member, rows) -> np.ndarray:
        if self.kind != "real":
            half = self.kind == "logit" and self._n_scores() == 1
            return rounded(member.estimate(rows)) * (0.5 if half else 1.0)
        p = np.clip(member.proba(rows, 2)[:, 1], SUREST, 1 - SUREST)
        return rounded(0.5 * np.log(p / (1 - p)))

    def _symmetric(self, moves: np.ndarray) -> np.ndarray:
        if self.kind != "logit" or moves.shape[1] == 1:
            return moves
        n = moves.shape[1]
        return (n - 1) / n * (moves - moves.mean(axis=1, keepdims=True))

    def _from_scores(self, score: np.ndarray) -> np.ndarray:
        if score.shape[1] == 1:
            p = expit(2 * score[:, 0])
            return np.column_stack([1 - p, p])
        if self.kind == "logit":
            return softmax(score, axis=1)
        return normalized_rows(expit(2 * score))

    def _deviance(self, score: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
        right = self._from_scores(score)[np.arange(len(y)), y]
        losses = -np.log(np.maximum(right, np.finfo(float).tiny))
        return float(weights @ losses / weights.sum())

    def _proba(self, rows):
        n_scores = self._n_scores()
        if len(self.classes_) == 1:
            return np.ones((rows.shape[0], 1))
        score = np.zeros((rows.shape[0], n_scores))
        said = list(self._ask(lambda member: self._term(member, rows), rows))
        for start in range(0, len(said), n_scores):
            moves = np.column_stack(said[start : start + n_scores])
            score += self.learning_rate * self._symmetric(moves)
        return self._from_scores(score)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        [(_, learner)] = self._candidates()
        members = kept_bytes(learner, n_rows, n_columns) * self.n_estimators * 3
        states = 8 * n_rows * 3 * self.n_estimators if self.keep_history == "full" else 0
        rows = 8 * n_rows * (n_columns + 60)
        return int(rows + forecast_of(learner, n_rows, n_columns) + members + states)
