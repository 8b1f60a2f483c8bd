"""Forward stagewise additive models: any loss, any learner, earlier terms never touched.

    F_m(x) = F_{m-1}(x) + nu a_m b_m(x),   (a_m, b_m) chosen to lower  sum_i w_i L(y_i, F_m(x_i))

A learner cannot minimise any loss by itself, so that it is given a direction: the negative
gradient, by least squares (steepest descent in function space, gradient boosting); the Newton step
-g/h with weights h; or, for classifiers, the sign of the negative gradient with its size as weight,
so that sum_i g_i b(x_i) < 0 (with exponential loss this is AdaBoost). The step a_m is then found by
a line search, by Newton, or is one. (001 lost the term beta b in its equation 86.)

Texts: 000b 12.2 · 001 13.2, 13.9 · 002 "Forward stagewise additive modelling" · 004 11.6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone, is_classifier

from gnomon.contract import Classifier, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import (
    HISTORY,
    JOBS,
    SEED,
    HasMethods,
    StrOptions,
    above,
    between,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object, TupleOf, Whole
from gnomon.ensemble.base import Ensemble, Training, chosen, fingerprint, kept_bytes
from gnomon.ensemble.losses import CLASS_LOSSES, NUMBER_LOSSES, Huber, Loss, Multinomial, Squared
from gnomon.ensemble.lots import Fold, Part, lots_within
from gnomon.ensemble.member import Member, one_hot, require_kind, seeded
from gnomon.ensemble.reweighting import fit_weighted, rounded
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

MOST_DOUBLINGS = 40  # 2^40: a line that still falls there has no minimum
FLAT = 1e-12  # share of the first slope below which a line is flat but for rounding
STAGE_CONSTRAINTS = {
    "estimator": [None, HasMethods(["fit", "predict"])],
    "n_estimators": [whole(1)],
    "learning_rate": [above(0)],
    "direction": [StrOptions({"gradient", "newton", "vote"})],
    "step": [StrOptions({"search", "newton", "one"})],
    "start": [StrOptions({"best", "zero"})],
    "subsample": [between(0, 1, "right")],
    "validation_fraction": [None, between(0, 1, "neither")],
    "n_iter_no_change": [whole(1)],
    "keep_history": HISTORY,
    "n_jobs": JOBS,
    "random_state": SEED,
}
# Texts of parameters that classes here share, for their docstrings.
STAGEWISE_PARAMETERS = """\
start : {"best", "zero"}
    Begin with the best constant, or with zero.
estimator : estimator
    A regressor, or for ``direction="vote"`` a classifier, of any library; None for a tree of
    depth three, or a stump.
learning_rate : float
    Factor on each step (shrinkage).
direction : {"gradient", "newton", "vote"}
    What the members are fitted to.
step : {"search", "newton", "one"}
    How far each term goes: least loss, one Newton step, or as it is.
subsample : float
    Share of the rows that each term learns from, drawn without replacement.
validation_fraction : float
    Share of the rows that is held out to find the number of terms; None for none.
n_iter_no_change : int
    Terms without a lower loss on these rows after which it ends.
keep_history : {"objective", "full"}
    With "full", the scores of all rows are kept for each round.
n_jobs : int
    Threads for predictions; None for one per processor.
random_state : int, RandomState or None
    Of the draws of rows and of the members.
"""


def line_search(slope: Callable[[float], float], at_zero: float) -> float:
    """The a > 0 at which the slope of a convex function is zero.

    Parameters
    ----------
    slope : callable
        Derivative along the direction, as a function of a.
    at_zero : float
        Its value at a = 0, below zero.

    Returns
    -------
    a : float
        Where the slope vanishes; where it only tends to zero, a point at which it nearly has.

    Examples
    --------
    >>> round(line_search(lambda a: 2 * (a - 3), -6.0), 6)
    3.0
    """
    low, high = 0.0, 1.0
    for _ in range(MOST_DOUBLINGS):
        found = slope(high)
        if found >= 0:
            break
        if found > FLAT * at_zero:
            return high
        low, high = high, 2 * high
    else:
        return high
    return float(brentq(slope, low, high, xtol=1e-15 * high, rtol=1e-15, maxiter=200))


class Term(NamedTuple):
    """A term of the model: a member per output and the common step."""

    members: list[Member]
    step: float


class Descent:
    """The state of a stagewise fit: scores of the rows, and how a round lowers the loss.

    Parameters
    ----------
    model : Stagewise
    training : Training
    loss : Loss
    targets : ndarray of shape (n_rows, n_outputs)
    part : Part
        The rows to learn from.
    """

    def __init__(self, model, training: Training, loss: Loss, targets: np.ndarray, part: Part):
        [(self.name, self.learner)] = model._checked_candidates()
        self.model = model
        self.loss = loss
        self.positions = part.positions
        self.weights = part.weight_array
        self.rows = training.at(part.positions)
        self.y = targets[part.positions]
        self.lots = lots_within(part, training.n_rows)
        self.place = np.full(training.n_rows, -1)
        self.place[part.positions] = np.arange(len(part.positions))
        self.start = np.zeros(targets.shape[1])
        if model.start == "best":
            self.start = rounded(loss.start(self.y, self.weights))
        self.score = np.tile(self.start, (len(self.y), 1))

    def objective(self, loss: Loss | None = None) -> float:
        values = (loss or self.loss).value(self.y, self.score)
        return float(self.weights @ values / self.weights.sum())

    def round(self, number: int, seed: int) -> Term | None:
        """Learn one term and move the scores along it; None where there is no way down."""
        loss = self.loss.tuned(self.y, self.score, self.weights)
        gradient = loss.gradient(self.y, self.score)
        drawn = self._drawn(seed)
        members, moves = [], []
        for k in range(gradient.shape[1]):
            member = self._member(loss, gradient, k, drawn, number, seed)
            members.append(member)
            moves.append(self.model._moves(member, self.rows))
        moves = np.column_stack(moves)
        step = self._step(loss, gradient, moves)
        if step is None:
            return None
        step = float(rounded(step * self.model.learning_rate))
        self.score = self.score + step * moves
        return Term(members, step)

    def _drawn(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Places and weights of the rows of this round."""
        if self.model.subsample >= 1:
            return np.arange(len(self.y)), self.weights
        size = max(round(self.model.subsample * self.lots.n_lots), 1)
        part = self.lots.sample(size, np.random.default_rng([seed, 0]))
        return self.place[part.positions], part.weight_array

    def _member(self, loss, gradient, k: int, drawn, number: int, seed: int) -> Member:
        at, weights = drawn
        pull = -gradient[at, k]
        factor = np.ones(len(at))
        if self.model.direction == "newton":
            factor = loss.curvature(self.y, self.score)[at, k]
            pull = pull / factor
        elif self.model.direction == "vote":
            if np.abs(pull).max() > 0:
                used = pull != 0
                at, weights, pull = at[used], weights[used], pull[used]
                factor = np.abs(pull)
            pull = (pull > 0).astype(np.int64)
        learner = seeded(self.learner, seed + k, True)
        called = f"{self.name} {number + 1}" + (
            f", output {k + 1}" if gradient.shape[1] > 1 else ""
        )
        return fit_weighted(learner, called, self.rows, at, pull, weights, factor, seed + k)

    def _step(self, loss: Loss, gradient: np.ndarray, moves: np.ndarray) -> float | None:
        """How far to go; None where the members point nowhere down (the weak learner's
        contract).
        """
        slope = float(self.weights @ (gradient * moves).sum(axis=1))
        size = float(self.weights @ (np.abs(gradient) * np.abs(moves)).sum(axis=1))
        if not np.isfinite(slope) or slope >= -1e-10 * size:
            return None
        if self.model.step == "one":
            return 1.0
        if self.model.step == "newton" or isinstance(loss, Squared):
            bend = loss.curvature(self.y, self.score)
            return float(-slope / (self.weights @ (bend * moves**2).sum(axis=1)))

        def along(a: float) -> float:
            ahead = loss.gradient(self.y, self.score + a * moves)
            return float(self.weights @ (ahead * moves).sum(axis=1))

        return line_search(along, slope)


class Stagewise(Ensemble):
    """Mixin: rounds of `Descent`, stopped early where a validation part says so."""

    _stored = {
        "_fingerprint": TupleOf((Whole(), Number())),
        "loss_": Object(),
        "members_": ListOf(Object(("Member",))),
        "start_": Array("f8", (None,)),
        "steps_": Array("f8", ("n_estimators",)),
    }

    def _candidates(self):
        if self.direction == "vote":
            return chosen(self.estimator, lambda: DecisionTreeClassifier(max_depth=1))
        return chosen(self.estimator, lambda: DecisionTreeRegressor(max_depth=3))

    def _checked_candidates(self):
        found = self._candidates()
        for name, learner in found:
            require_kind(name, learner, self.direction == "vote")
        return found

    def _most_steps(self) -> int:
        return self.n_estimators

    def _moves(self, member: Member, rows) -> np.ndarray:
        """What a member adds to the score: its estimate, or plus and minus one for its vote."""
        if is_classifier(member.estimator):
            return 2.0 * member.codes(rows) - 1.0
        return rounded(member.estimate(rows))

    def _parts(self, training: Training, rng: np.random.Generator) -> tuple[Part, Part | None]:
        if self.validation_fraction is None:
            return training.whole(), None
        strata = training.y if self._target == "classes" else None
        fold: Fold = training.lots.halves(self.validation_fraction, rng, strata)
        return fold.learn, fold.held

    def _fit_ensemble(self, training: Training) -> None:
        self._fingerprint = fingerprint(training.numbers)
        loss, targets = self._loss_and_targets(training.y)
        rng = self._rng()
        learn, held = self._parts(training, rng)
        seeds = rng.integers(2**30, size=self.n_estimators).tolist()
        descent = Descent(self, training, loss, targets, learn)
        watch = Watch(self, training, loss, targets, held, descent.start) if held else None
        terms: list[Term] = []
        course = self._course("round", self.n_estimators)
        for number in course:
            term = descent.round(number, seeds[number])
            if term is not None:
                terms.append(term)
            worse = watch is not None and term is not None and watch.look(term)
            if course.end_step(
                descent.objective() if watch is None else watch.loss_now(),
                term is None or worse,
                state=lambda: {"score": descent.score.copy()},
                attributes=lambda: self._public() | self._terms(terms, descent, loss, None),
            ):
                break
        if not terms:
            warnings.warn(
                "the first learner finds no way down from the constant, which is the model now: "
                "use a stronger learner or other columns",
                GnomonWarning,
                stacklevel=6,
            )
        self._keep(self._terms(terms, descent, loss, watch))
        self.history_ = course.history

    def _terms(self, terms: list[Term], descent: Descent, loss: Loss, watch) -> dict[str, Any]:
        if watch is not None:
            terms = terms[: watch.best]
        return {
            "members_": [member for term in terms for member in term.members],
            "steps_": np.array([term.step for term in terms]),
            "start_": descent.start,
            "loss_": loss,
        }

    def _score(self, rows) -> np.ndarray:
        """Scores (n, n_outputs)."""
        n_outputs = len(self.start_)
        score = np.tile(self.start_, (rows.shape[0], 1))
        said = self._ask(lambda member: self._moves(member, rows), rows)
        for place, moves in enumerate(said):
            score[:, place % n_outputs] += self.steps_[place // n_outputs] * moves
        return score

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        n_outputs = len(self.start_)
        if not len(self.steps_):
            return
        moves = self._each_block(
            lambda rows: np.column_stack(list(self._ask(lambda m: self._moves(m, rows), rows))), X
        )
        score = np.tile(self.start_, (len(moves), 1))
        for m, step in enumerate(self.steps_):
            score = score + step * moves[:, m * n_outputs : (m + 1) * n_outputs]
            yield score

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        [(_, learner)] = self._candidates()
        per_round = 8 * n_rows * 60 + forecast_of(learner, n_rows, n_columns)
        copies = 8 * n_rows * (n_columns + 4) * (2 if self.subsample < 1 else 1)
        held = kept_bytes(learner, n_rows, n_columns) * self.n_estimators * 3
        states = 8 * n_rows * 3 * self.n_estimators if self.keep_history == "full" else 0
        return int(per_round + copies + held + states)


class Watch:
    """The loss on a validation part, round by round.

    Parameters
    ----------
    model, training, loss, targets : as for `Descent`
    held : Part
    start : ndarray of shape (n_outputs,)
    """

    def __init__(self, model, training, loss: Loss, targets, held: Part, start: np.ndarray):
        self.model = model
        self.loss = loss
        self.rows = training.rows[held.positions]
        self.y = targets[held.positions]
        self.weights = held.weight_array
        self.score = np.tile(start, (len(self.y), 1))
        self.losses: list[float] = []

    def look(self, term: Term) -> bool:
        """Follow a term; True where the loss has not fallen for some rounds."""
        moves = np.column_stack([self.model._moves(each, self.rows) for each in term.members])
        self.score = self.score + term.step * moves
        self.losses.append(self._mean())
        return len(self.losses) - self.best >= self.model.n_iter_no_change

    def _mean(self) -> float:
        return float(self.weights @ self.loss.value(self.y, self.score) / self.weights.sum())

    def loss_now(self) -> float:
        return self.losses[-1] if self.losses else self._mean()

    @property
    def best(self) -> int:
        """The number of terms at which the loss was least."""
        return int(np.argmin(self.losses)) + 1 if self.losses else 0


@method(
    task="classify",
    texts="000b 12.2 · 001 13.2, 13.9 · 002 Forward stagewise · 004 11.6",
    use="Boosting of a learner of your own, or with a loss of your own.",
    avoid="Plain boosting of trees: the boosting of room trees is far faster.",
    peers=("R mboost", "sklearn.ensemble.GradientBoostingClassifier"),
)
@shared_parameters(STAGEWISE_PARAMETERS)
class StagewiseClassifier(Stagewise, Classifier):
    """An additive model of any learner, grown term by term to lower a loss of classes.

    Use it to boost a learner of your own or with a loss of your own; not for plain boosting of
    trees. Lowers sum_i w_i L(y_i, F(x_i)) by terms a_m b_m(x), earlier ones never touched: b_m is
    fitted to the negative gradient (000b 12.2.5, 001 13.9), to the Newton step, or votes for its
    sign (000b 12.2.2: with exponential loss and ``start="zero"`` this is AdaBoost, a_m being half
    its alpha); a_m comes from a line search. It ends where a member points nowhere down. Texts:
    000b 12.2, 001 13.2 (its equation 86 repaired), 002, 004 11.6 (with exponential loss P = 1 / (1
    + exp(-2 F)), factor 2 as there noted).

    Parameters
    ----------
    loss : {"deviance", "exponential"} or Loss, default="deviance"
        What is lowered. "exponential" is for two classes.
    n_estimators : int, default=50
        Most terms; several classes have one member per class in each.

    Attributes
    ----------
    members_ : list of Member
        The fitted members, for several classes one after the other in each term.
    steps_ : ndarray of shape (n_terms,)
        The factors of the terms, shrinkage included.
    start_ : ndarray of shape (n_outputs,)
        The constant.
    loss_ : Loss
        What was lowered.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The mean loss after each term, on the validation rows where there are some.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import StagewiseClassifier
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = StagewiseClassifier(n_estimators=5).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[0.0], [10.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints = {
        **STAGE_CONSTRAINTS,
        "loss": [StrOptions(set(CLASS_LOSSES)), HasMethods(["value", "gradient"])],
    }

    def __init__(
        self,
        estimator=None,
        loss="deviance",
        n_estimators=50,
        *,
        learning_rate=0.3,
        direction="gradient",
        step="search",
        start="best",
        subsample=1.0,
        validation_fraction=None,
        n_iter_no_change=10,
        keep_history="objective",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.direction = direction
        self.step = step
        self.start = start
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.keep_history = keep_history
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _loss_and_targets(self, y: np.ndarray) -> tuple[Loss, np.ndarray]:
        n_classes = len(self.classes_)
        if n_classes > 2:
            if self.loss != "deviance":
                raise ValueError(
                    f"loss={self.loss!r} is for two classes, and y holds {n_classes}; "
                    "use loss='deviance'"
                )
            return Multinomial(), one_hot(y, n_classes)
        loss = CLASS_LOSSES[self.loss]() if isinstance(self.loss, str) else clone_loss(self.loss)
        return loss, np.where(y == 1, 1.0, -1.0)[:, None]

    def _proba(self, rows):
        proba = self.loss_.answer(self._score(rows))
        return proba[:, :1] * 0 + 1.0 if len(self.classes_) == 1 else proba

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The prediction after one term, two terms, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Yields
        ------
        classes : ndarray of shape (n_samples,)
        """
        for score in self._staged_scores(X):
            yield self.classes_[self.loss_.answer(score).argmax(axis=1)]


def clone_loss(loss: Loss) -> Loss:
    """A loss of the user's, as it is."""
    return clone(loss, safe=False)


@method(
    task="regress",
    texts="000b 12.1.3, 12.2 · 001 13.2, 13.9 · 004 11.6",
    use="Boosting of a learner of your own, or with a loss of your own.",
    avoid="Plain boosting of trees: the boosting of room trees is far faster.",
    peers=("R mboost", "sklearn.ensemble.GradientBoostingRegressor"),
)
@shared_parameters(STAGEWISE_PARAMETERS)
class StagewiseRegressor(Stagewise, Regressor):
    """An additive model of any learner, grown term by term to lower a loss of numbers.

    Use it to boost a learner of your own or with a loss of your own; not for plain boosting of
    trees. Lowers sum_i w_i L(y_i, F(x_i)) by terms a_m b_m(x), earlier ones never touched. With
    squared loss each member is fitted to the residuals (``learning_rate=1, step="one",
    start="zero"`` is the greedy sum of 000b 12.1.3). It ends where a member points nowhere down.
    Texts: 000b 12.1.3, 12.2, 001 13.2 (its equation 86 repaired), 13.9 (Huber with a threshold set
    anew each round), 004 11.6.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "poisson"} or Loss, default="squared"
        What is lowered.
    n_estimators : int, default=50
        Most terms.
    huber_quantile : float, default=0.9
        For "huber": residuals up to this quantile count squared, beyond linearly.

    Attributes
    ----------
    members_ : list of Member
        The fitted members.
    steps_ : ndarray of shape (n_terms,)
        The factors of the terms, shrinkage included.
    start_ : ndarray of shape (1,)
        The constant.
    loss_ : Loss
        What was lowered.
    history_ : History
        The mean loss after each term, on the validation rows where there are some.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import StagewiseRegressor
    >>> rows = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = StagewiseRegressor(learning_rate=1.0).fit(rows, [1.0, 1.0, 1.0, 5.0, 5.0, 5.0])
    >>> model.predict([[0.0], [10.0]]).round(6).tolist()
    [1.0, 5.0]
    """

    _parameter_constraints = {
        **STAGE_CONSTRAINTS,
        "loss": [StrOptions(set(NUMBER_LOSSES)), HasMethods(["value", "gradient"])],
        "huber_quantile": [between(0, 1, "right")],
    }

    def __init__(
        self,
        estimator=None,
        loss="squared",
        n_estimators=50,
        *,
        learning_rate=0.3,
        direction="gradient",
        step="search",
        start="best",
        huber_quantile=0.9,
        subsample=1.0,
        validation_fraction=None,
        n_iter_no_change=10,
        keep_history="objective",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.direction = direction
        self.step = step
        self.start = start
        self.huber_quantile = huber_quantile
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.keep_history = keep_history
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _loss_and_targets(self, y: np.ndarray) -> tuple[Loss, np.ndarray]:
        if self.loss == "huber":
            loss: Loss = Huber(self.huber_quantile)
        elif isinstance(self.loss, str):
            loss = NUMBER_LOSSES[self.loss]()
        else:
            loss = clone_loss(self.loss)
        return loss, y[:, None]

    def _estimate(self, rows):
        return self.loss_.answer(self._score(rows))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The prediction after one term, two terms, and so on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        for score in self._staged_scores(X):
            yield self.loss_.answer(score)
