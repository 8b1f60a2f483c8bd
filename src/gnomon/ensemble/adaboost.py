"""AdaBoost: each learner attends to the rows that those before it got wrong.

Weights start as given. Round m fits a weak learner with the weights, finds its weighted error e_m,
gives it the say  alpha_m = log((1 - e_m) / e_m)  (+ log(K - 1) for K classes), and multiplies the
weights of the rows that it got wrong by exp(alpha_m). The answer is the class of the greatest sum
of say. For two classes this is forward stagewise minimisation of  sum_i w_i exp(-y_i F(x_i)),  F =
1/2 sum_m alpha_m h_m,  with the error after M rounds at most  prod_m 2 sqrt(e_m (1 - e_m));  P(y =
1 | x) = 1 / (1 + exp(-2 F)).

Texts: 001 13.1 (alpha) · 002 "AdaBoost", margins, cycles, feature selection · 003 2.5.3 · 004 11.2
(half alpha).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract import Classifier
from gnomon.contract.learner import Learner
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import HISTORY, JOBS, SEED, HasMethods, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object, Optional, TupleOf, Whole
from gnomon.ensemble.base import Ensemble, Training, chosen, dense, fingerprint, weighted_error
from gnomon.ensemble.lots import Part, resampled
from gnomon.ensemble.member import Member, fit_member, seeded, takes_weights
from gnomon.ensemble.reweighting import boosted, rounded
from gnomon.ensemble.stumps import StumpFinder
from gnomon.optimize.losses import softmax
from gnomon.trees import DecisionTreeClassifier
from gnomon.trees.tree import one_split


class Say(NamedTuple):
    """A learner's say in the vote, and whether boosting should end with it."""

    alpha: float
    ends: str | None


def say_of(error: float, n_classes: int, rate: float, before: float, algorithm: str) -> Say:
    """The say of a learner of weighted error `error`.

    A learner without error outvotes all before it and ends the course; one that is no better than
    chance is not used, and ends it too.

    Parameters
    ----------
    error : float
    n_classes : int
    rate : float
        Factor on the say (shrinkage).
    before : float
        Sum of the say of all learners before.
    algorithm : {"samme", "m1"}

    Returns
    -------
    say : Say

    Examples
    --------
    >>> round(say_of(0.3, 2, 1.0, 0.0, "m1").alpha, 6)
    0.847298
    """
    chance = 0.5 if algorithm == "m1" or n_classes <= 2 else 1.0 - 1.0 / n_classes
    if error <= 0:
        return Say(before + 1.0, "perfect")
    if error >= chance - 1e-12:
        return Say(0.0, "chance")
    more = math.log(n_classes - 1) if algorithm == "samme" and n_classes > 2 else 0.0
    return Say(rate * (math.log((1 - error) / error) + more), None)


class Round(NamedTuple):
    """What one round gave: the learner's error, its say, and the rows that it got wrong."""

    error: float
    say: Say
    wrong: np.ndarray


class StumpRounds:
    """Boosting of stumps on binned columns.

    Parameters
    ----------
    model : AdaBoostClassifier
    training : Training
    """

    def __init__(self, model, training: Training):
        self.finder = StumpFinder(
            training.numbers,
            training.y,
            len(model.classes_),
            training.weights,
            training.columns.is_category,
            model.n_jobs,
        )

    def learn(self, seed: int) -> tuple[float, np.ndarray]:
        error, place = self.finder.find()
        return error, self.finder.wrong(place)

    def drop(self) -> None:
        self.finder.stumps = self.finder.stumps.first(len(self.finder.stumps) - 1)

    def reweight(self, wrong: np.ndarray, factor: float) -> None:
        self.finder.reweight(wrong, factor)

    def weights(self) -> np.ndarray:
        return self.finder.share_of_weights()

    def fitted(self) -> dict[str, Any]:
        return {"stumps_": self.finder.stumps, "members_": []}


class MemberRounds:
    """Boosting of any classifier, by weights or by drawing rows in proportion to them.

    Parameters
    ----------
    model : AdaBoostClassifier
    training : Training
    """

    def __init__(self, model, training: Training):
        [(self.name, self.learner)] = model._checked_candidates()
        self.training = training
        self.part = training.whole()
        self.rows = training.at(self.part.positions)
        self.y = training.y[self.part.positions]
        self.start = self.part.weight_array / self.part.weight_array.sum()
        self.factors = np.ones(len(self.y))
        self.members: list[Member] = []
        by_draws = {"weights": False, "resample": True}
        self.draws = by_draws.get(model.reweighting, not takes_weights(self.learner))
        if not self.draws and not takes_weights(self.learner):
            raise ValueError(
                f"reweighting='weights' needs a learner whose fit takes sample_weight, and "
                f"{type(self.learner).__name__} does not; use reweighting='resample'"
            )

    def learn(self, seed: int) -> tuple[float, np.ndarray]:
        weights = self.weights_in_order()
        called = f"{self.name} {len(self.members) + 1}"
        learner = seeded(self.learner, seed, True)
        part = Part(self.part.positions, boosted(self.part.weight_array, self.factors))
        if self.draws:
            rng = np.random.default_rng([seed, 0])
            part = Part(resampled(part, rng, self.training.lots.n_lots), None)
        elif (part.weights == 1).all():
            part = Part(self.part.positions, None)
        member = fit_member(learner, called, self.training, part, seed=seed)
        self.members.append(member)
        wrong = member.codes(self.rows) != self.y
        return float(rounded(weights[wrong].sum())), wrong

    def drop(self) -> None:
        self.members.pop()

    def reweight(self, wrong: np.ndarray, factor: float) -> None:
        self.factors[wrong] *= factor
        self.factors /= self.factors.max()

    def weights_in_order(self) -> np.ndarray:
        weights = self.start * self.factors
        return weights / weights.sum()

    def weights(self) -> np.ndarray:
        by_row = np.empty(len(self.y))
        by_row[self.part.positions] = self.weights_in_order()
        return by_row

    def fitted(self) -> dict[str, Any]:
        return {"stumps_": None, "members_": list(self.members)}


@method(
    task="classify",
    texts="001 13.1 · 002 AdaBoost · 003 2.5.3 · 004 11.2",
    use="Weak learners (stumps) on many columns of which few matter, with clean labels.",
    avoid="Mislabelled rows: their weights grow without end. Use gradient boosting with deviance.",
    peers=("sklearn.ensemble.AdaBoostClassifier",),
)
class AdaBoostClassifier(Ensemble, Classifier):
    """Weak learners in turn, each attending to the rows that were got wrong before.

    Use it with weak learners, stumps above all, on many columns of which few matter; not with wrong
    labels, whose weights grow without end. For two classes it minimises sum_i w_i exp(-y_i F(x_i))
    stage by stage. Stumps (the default) run on binned columns, one pass over bytes per round; any
    other classifier gets weights, or rows drawn in proportion to them. A learner without error
    outvotes all before it and ends the course; so does one no better than chance, which is left
    out. Texts: 001 13.1 and 002 (alpha), 004 11.2 (half of it, which gives the same votes); both
    leave these guards out.

    Parameters
    ----------
    estimator : estimator, default=None
        The weak learner, of any library; None for stumps.
    n_estimators : int, default=50
        Most rounds.
    learning_rate : float, default=1.0
        Factor on each learner's say; less than one needs more rounds.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows and of the members.
    algorithm : {"samme", "m1"}, default="samme"
        For more than two classes: alpha with log(K - 1) added, so that a learner need only beat
        guessing, or the texts' form, for which it must be right more often than not.
    reweighting : {"auto", "weights", "resample"}, default="auto"
        How a learner is told of the weights; "auto" draws rows where ``fit`` takes no
        ``sample_weight``.
    keep_history : {"objective", "full"}, default="objective"
        With "full", the weights of all rows are kept for each round (see `find_cycle`).
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    stumps_ : Stumps or None
        The stumps, where they are the learners.
    members_ : list of Member
        The fitted members where another learner was given; ``estimators_`` lists their learners.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The say, alpha, of each learner.
    estimator_errors_ : ndarray of shape (n_rounds,)
        Its weighted error.
    feature_importances_ : ndarray of shape (n_columns,)
        Sum of the say of the stumps on each column, adding up to one; for other learners that
        have importances their mean, weighted by the say.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        After each round a bound on the training error, prod_m ((1 - e_m) exp(-alpha_m / 2) + e_m
        exp(alpha_m / 2)), which for two classes is the mean exponential loss.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import AdaBoostClassifier
    >>> rows = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(rows, [1, 1, 0, 0, 1, 1])
    >>> model.predict(rows).tolist()
    [1, 1, 0, 0, 1, 1]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "n_estimators": [whole(1)],
        "learning_rate": [above(0)],
        "algorithm": [StrOptions({"samme", "m1"})],
        "reweighting": [StrOptions({"auto", "weights", "resample"})],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "_fingerprint": TupleOf((Whole(), Number())),
        "estimator_errors_": Array("f8", ("n_estimator_errors",), low=0.0),
        "estimator_weights_": Array("f8", ("n_estimator_errors",), low=0.0),
        "feature_importances_": Optional(Array("f8", ("n_columns",))),
        "members_": ListOf(Object(("Member",))),
        "stumps_": Object(("Stumps",)) | None,
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        algorithm="samme",
        reweighting="auto",
        keep_history="objective",
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.reweighting = reweighting
        self.keep_history = keep_history
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __len__(self) -> int:
        return len(self.estimator_weights_)

    def __getitem__(self, place):
        return self.estimators_[place]

    def __iter__(self) -> Iterator:
        return iter(self.estimators_)

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def estimator_(self) -> Any:
        """What a learner is, not fitted."""
        return self._candidates()[0][1]

    @property
    def estimators_(self) -> list:
        """The fitted learners; stumps as decision trees, which predict the classes themselves."""
        if getattr(self, "stumps_", None) is None:
            return [member.estimator for member in self.members_]
        return [self._as_tree(place) for place in range(len(self.stumps_))]

    def _as_tree(self, place: int) -> DecisionTreeClassifier:
        """A stump as a decision tree; how many rows its nodes held is not kept."""
        stumps, n_classes = self.stumps_, len(self.classes_)
        encoder = getattr(self, "encoder_", None)
        is_split = stumps.levels[place] >= 0 or np.isfinite(stumps.threshold[place])
        codes = [stumps.left[place]] + [stumps.left[place], stumps.right[place]] * int(is_split)
        made = DecisionTreeClassifier(max_depth=1)
        made.classes_ = self.classes_
        made._is_exact = False
        made._n_columns = self.n_features_in_ if encoder is None else len(encoder.columns)
        made.n_features_in_, made._n_outputs = made._n_columns, n_classes
        made.max_features_ = made._n_columns
        made._take_tree(
            one_split(
                int(stumps.feature[place]),
                float(stumps.threshold[place]),
                bool(stumps.missing_left[place]),
                stumps.masks[stumps.levels[place]] if stumps.levels[place] >= 0 else None,
                np.eye(n_classes)[codes],
            )
        )
        return made

    def _candidates(self):
        return chosen(self.estimator, lambda: DecisionTreeClassifier(max_depth=1))

    def _fitted_before(self):
        return ("feature_importances_",)

    def _fit_ensemble(self, training: Training) -> None:
        self._fingerprint = fingerprint(training.numbers)
        by_stumps = self.estimator is None and self.reweighting != "resample"
        rounds = StumpRounds(self, training) if by_stumps else MemberRounds(self, training)
        seeds = self._seeds(self.n_estimators)
        course = self._course("round", self.n_estimators)
        alphas: list[float] = []
        errors: list[float] = []
        bound = 1.0
        for step in course:
            error, wrong = rounds.learn(seeds[step])
            say = self._say(error, alphas)
            if say.ends == "chance" and alphas:
                rounds.drop()
                course.end_step(bound, True, state=lambda: {"weights": rounds.weights()})
                break
            alphas.append(say.alpha or 1.0)
            errors.append(error)
            bound *= (1 - error) * math.exp(-alphas[-1] / 2) + error * math.exp(alphas[-1] / 2)
            if say.ends is None:
                rounds.reweight(wrong, math.exp(say.alpha))
            if course.end_step(
                bound,
                say.ends is not None,
                state=lambda: {"weights": rounds.weights()},
                attributes=lambda: self._public() | self._attributes(rounds, alphas, errors),
            ):
                break
        self._keep(self._attributes(rounds, alphas, errors))
        self.history_ = course.history

    def _say(self, error: float, alphas: list[float]) -> Say:
        n_classes, before = len(self.classes_), math.fsum(alphas)
        say = say_of(error, n_classes, self.learning_rate, before, self.algorithm)
        if say.ends == "chance" and not alphas:
            warnings.warn(
                f"the first learner is no better than chance (weighted error {error:.3g}): "
                "boosting has nothing to build on, and it stands alone. Use a stronger learner",
                GnomonWarning,
                stacklevel=7,
            )
        return say

    def _attributes(self, rounds, alphas: list[float], errors: list[float]) -> dict[str, Any]:
        found = rounds.fitted()
        found["estimator_weights_"] = np.array(alphas)
        found["estimator_errors_"] = np.array(errors)
        stumps = found["stumps_"]
        if stumps is not None:
            n_columns = rounds.finder.binned.n_features
            totals = np.bincount(stumps.feature, np.abs(alphas), minlength=n_columns)
            found["feature_importances_"] = totals / totals.sum()
        elif all(hasattr(each.estimator, "feature_importances_") for each in rounds.members):
            each = [member.estimator.feature_importances_ for member in rounds.members]
            found["feature_importances_"] = np.average(each, axis=0, weights=np.abs(alphas))
        return found

    def _each_block(self, function, X):
        if getattr(self, "stumps_", None) is not None:
            return Learner._each_block(self, function, X)
        return super()._each_block(function, X)

    def _votes(self, rows, n_rounds: int | None = None) -> np.ndarray:
        """Sum of the say for each class."""
        alphas, n_classes = self.estimator_weights_[:n_rounds], len(self.classes_)
        if self.stumps_ is not None:
            return self.stumps_.first(len(alphas)).votes(dense(rows), alphas, n_classes)
        votes = np.zeros((rows.shape[0], n_classes))
        said = self._ask(lambda member: member.codes(rows), rows, self.members_[:n_rounds])
        for codes, alpha in zip(said, alphas, strict=True):
            votes[np.arange(len(votes)), codes] += alpha
        return votes

    def _proba(self, rows):
        return softmax(self._votes(rows))

    def predict(self, X) -> np.ndarray:
        """The class of the greatest say, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        best = self._each_block(lambda rows: self._votes(rows).argmax(axis=1), X)
        return self.classes_[best]

    def _codes_of_all(self, rows) -> np.ndarray:
        """The class code that each learner gives each row: (n, n_rounds)."""
        if self.stumps_ is not None:
            return self.stumps_.codes(dense(rows))
        return np.column_stack(list(self._ask(lambda member: member.codes(rows), rows)))

    def _staged_votes(self, X) -> Iterator[np.ndarray]:
        codes = self._each_block(self._codes_of_all, X)
        votes = np.zeros((len(codes), len(self.classes_)))
        for said, alpha in zip(codes.T, self.estimator_weights_, strict=True):
            votes[np.arange(len(votes)), said] += alpha
            yield votes

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The prediction after one round, two rounds, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Yields
        ------
        classes : ndarray of shape (n_samples,)
        """
        for votes in self._staged_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    def staged_predict_proba(self, X) -> Iterator[np.ndarray]:
        """Probabilities of the classes after one round, two rounds, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
        """
        for votes in self._staged_votes(X):
            yield softmax(votes)

    def decision_function(self, X) -> np.ndarray:
        """The say for each class less that for the others, by the sum of the say.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, above zero for the second class.
        """
        total = self.estimator_weights_.sum()
        return self._each_block(lambda rows: balance(self._votes(rows), total), X)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """`decision_function` after one round, two rounds, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for votes, total in zip(self._staged_votes(X), np.cumsum(self.estimator_weights_)):
            yield balance(votes, total)

    def staged_score(self, X, y, sample_weight=None) -> Iterator[float]:
        """The accuracy after one round, two rounds, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        accuracy : float
        """
        for error in self.staged_errors(X, y, sample_weight):
            yield 1.0 - error

    def staged_errors(self, X, y, sample_weight=None) -> np.ndarray:
        """The error after one round, two rounds, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        errors : ndarray of shape (n_rounds,)
        """
        y = np.asarray(y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        return np.array([weighted_error(found, y, weights) for found in self.staged_predict(X)])

    def staged_margins(self, X, y) -> np.ndarray:
        """Normalised margins after each round.

        The say for the true class less the greatest say for another, over the sum of the say: 1 is
        unanimous and right, -1 unanimous and wrong; for two classes y sum_m alpha_m h_m(x) / sum_m
        alpha_m.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        margins : ndarray of shape (n_rounds, n_samples)
        """
        y = np.asarray(y)
        unknown = y[~np.isin(y, self.classes_)]
        if len(unknown):
            raise ValueError(f"y holds the class {unknown[0]!r}, which the model does not know")
        codes = np.searchsorted(self.classes_, y)
        rows, margins = np.arange(len(y)), []
        for votes, total in zip(self._staged_votes(X), np.cumsum(self.estimator_weights_)):
            others = votes.copy()
            own = votes[rows, codes]
            others[rows, codes] = -np.inf
            rest = others.max(axis=1) if votes.shape[1] > 1 else np.zeros(len(y))
            margins.append((own - rest) / total)
        return np.array(margins)

    def margins(self, X, y) -> np.ndarray:
        """Normalised margins after the last round; see `staged_margins`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        margins : ndarray of shape (n_samples,)
        """
        return self.staged_margins(X, y)[-1]

    def _check_loaded(self) -> None:
        stumps = getattr(self, "stumps_", None)
        if stumps is not None:
            encoder = getattr(self, "encoder_", None)
            n_columns = self.n_features_in_ if encoder is None else len(encoder.columns)
            stumps.check(n_columns, len(self.classes_))
            weights = self.estimator_weights_
            if weights.shape != (len(stumps),) or weights.dtype != np.float64:
                raise ValueError("the say of the stumps is not one number for each")

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        if self.estimator is None and self.reweighting != "resample":
            kept = 80 * n_rows * self.n_estimators if self.keep_history == "full" else 0
            return 2 * n_rows * n_columns + 200 * n_rows + 256 * 8 * 20 * n_columns + kept
        return super()._working_memory(n_rows, n_columns) + 100 * n_rows


def balance(votes: np.ndarray, total: float) -> np.ndarray:
    """The say for each class less the mean say for the others, by the total; of two, one number."""
    n_classes = votes.shape[1]
    if n_classes == 1:
        return np.zeros(len(votes))
    scores = (votes - (total - votes) / (n_classes - 1)) / total
    return scores[:, 1] - scores[:, 0] if n_classes == 2 else scores


class Cycle(NamedTuple):
    """A repetition in the sequence of the weights.

    Attributes
    ----------
    start : int
        The first round of the repetition.
    period : int
        Rounds after which the weights come back.
    """

    start: int
    period: int


def find_cycle(weights: np.ndarray, tol: float = 1e-6) -> Cycle | None:
    """Whether the weights of the rows return to where they were, round after round.

    AdaBoost may end in a cycle: the same weights, and so the same learners, over and over (002
    "Cycles").

    Parameters
    ----------
    weights : array-like of shape (n_rounds, n_rows)
        The weights of each round, as ``keep_history="full"`` keeps them.
    tol : float, default=1e-6
        Greatest difference of weights that count as equal.

    Returns
    -------
    cycle : Cycle or None
        The shortest period that holds to the end over at least two turns, and where it begins.

    Examples
    --------
    >>> find_cycle([[0.2, 0.8], [0.5, 0.5], [0.3, 0.7], [0.5, 0.5], [0.3, 0.7], [0.5, 0.5]])
    Cycle(start=1, period=2)
    """
    weights = np.asarray(weights, dtype=np.float64)
    n = len(weights)
    for period in range(1, n // 2 + 1):
        same = np.abs(weights[period:] - weights[:-period]).max(axis=1) <= tol
        broken = np.flatnonzero(~same)
        start = int(broken[-1]) + 1 if len(broken) else 0
        if n - start >= 2 * period:
            return Cycle(start, period)
    return None
