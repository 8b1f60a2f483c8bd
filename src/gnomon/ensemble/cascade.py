"""Cascade of classifiers: find a rare class by stages that each reject many of the others.

Every stage lets nearly all positives pass and some of the negatives; a row is positive only if all
stages let it pass. Stage j learns from all positives and from the negatives that all stages before
let pass. Rates are measured on rows that reach the stage, so that they multiply: with ten stages of
detection rate 0.99 and false positive rate 0.3, the whole has 0.99^10 = 0.904 and 0.3^10 = 5.9e-6.

Texts: 002 "Cascade of classifiers".
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.contract import Classifier
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import JOBS, SEED, HasMethods, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object, Whole
from gnomon.ensemble.adaboost import AdaBoostClassifier
from gnomon.ensemble.base import Ensemble, Training, chosen, kept_bytes
from gnomon.ensemble.held_out import Entries
from gnomon.ensemble.lots import Part, lots_within
from gnomon.ensemble.member import Member, fit_on, seeded, takes_weights

MOST_GROWTH = 2  # a stage is doubled twice at most, to four times its members
USELESS = 0.99  # judgement: a stage that rejects less than 1% costs more than it saves


class CascadeRates(NamedTuple):
    """Rates of a whole cascade."""

    detection: float
    false_positive: float


def cascade_rates(detection, false_positive, n_stages: int | None = None) -> CascadeRates:
    """Rates of a cascade from those of its stages, each measured on rows that reach the stage.

    Parameters
    ----------
    detection, false_positive : float or array-like of shape (n_stages,)
    n_stages : int, optional
        Number of stages of equal rates, where these are single numbers.

    Returns
    -------
    rates : CascadeRates

    Examples
    --------
    >>> rates = cascade_rates(0.99, 0.3, 10)
    >>> round(rates.detection, 6), float(f"{rates.false_positive:.5g}")
    (0.904382, 5.9049e-06)
    """
    n = 1 if n_stages is None else n_stages
    shape = (n,) if np.ndim(detection) == 0 else np.shape(detection)
    d = np.broadcast_to(np.asarray(detection, dtype=np.float64), shape)
    f = np.broadcast_to(np.asarray(false_positive, dtype=np.float64), shape)
    return CascadeRates(float(np.prod(d)), float(np.prod(f)))


class Stage(NamedTuple):
    """A stage: its classifier, its threshold, and its rates on held-out rows that reach it."""

    member: Member
    threshold: float
    detection: float
    false_positive: float


def threshold_for(scores: np.ndarray, weights: np.ndarray, rate: float) -> float:
    """The greatest threshold at which at least `rate` of the weight scores as high or higher."""
    order = np.argsort(-scores, kind="stable")
    line = np.cumsum(weights[order]) / weights.sum()
    return float(scores[order[np.searchsorted(line, rate - 1e-12)]])


@method(
    task="classify",
    texts="002 Cascade of classifiers",
    use="One rare class to be found among very many other rows, fast at prediction.",
    avoid="Classes of like size, or probabilities that must be calibrated.",
    peers=("OpenCV traincascade",),
)
class CascadeClassifier(Ensemble, Classifier):
    """Stages that each let nearly all of a rare class pass and reject a share of the rest.

    Use it to find one rare class; not for classes of like size. Each stage keeps the greatest
    threshold at which the detection rate on held-out positives is at least the target, and is
    enlarged (its learner's ``n_estimators`` doubled, up to twice) while its false positive
    rate misses the target. Negatives that are rejected leave the training of later stages. It ends
    where the stages are used up, few negatives are left, or a stage rejects nothing. Rates
    multiply. Probabilities only rank: below one half for rejected rows, above for the others. With
    three classes or more, rejected rows get their class from a classifier of the rest. Texts: 002.

    Parameters
    ----------
    estimator : estimator, default=None
        The classifier of a stage, with probabilities, of any library; None for AdaBoost of ten
        stumps.
    n_stages : int, default=10
        Most stages.
    detection_rate : float, default=0.99
        Least share of the positives that a stage lets pass.
    false_positive_rate : float, default=0.5
        Greatest share of the negatives that a stage should let pass.
    positive : object, default=None
        The class to be found; None for the rarest.
    n_folds : int, default=3
        Folds by which each stage scores the rows that it has not learnt from; thresholds and rates
        are found on these scores.
    n_jobs : int, default=None
        Threads for predictions; None for one per processor.
    random_state : int, RandomState or None, default=None
        Seed of the split and of the members.

    Attributes
    ----------
    members_ : list of Member
        The stages' classifiers, of rest (0) and positive (1).
    thresholds_ : ndarray of shape (n_stages,)
        Rows that score below are rejected.
    detection_rates_ : ndarray of shape (n_stages,)
        Share of the positives that pass each stage, by held-out scores.
    false_positive_rates_ : ndarray of shape (n_stages,)
        Share of the negatives that reach a stage and pass it, by held-out scores.
    positive_ : int
        Place of the positive class in ``classes_``.
    rest_ : Member or None
        Classifier of the other classes, where there are two or more.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The false positive rate of the whole after each stage.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import CascadeClassifier
    >>> rows = [[float(i)] for i in range(60)]
    >>> model = CascadeClassifier(random_state=0).fit(rows, [int(i >= 50) for i in range(60)])
    >>> model.predict([[2.0], [58.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict", "predict_proba"])],
        "n_stages": [whole(1)],
        "detection_rate": [between(0, 1, "right")],
        "false_positive_rate": [between(0, 1, "neither")],
        "positive": "no_validation",
        "n_folds": [whole(2)],
        "n_jobs": JOBS,
        "random_state": SEED,
    }
    _stored = {
        "detection_rates_": Array("f8", ("n_detection_rates",), low=0.0),
        "false_positive_rates_": Array("f8", ("n_detection_rates",), low=0.0),
        "members_": ListOf(Object(("Member",)), "n_detection_rates"),
        "positive_": Whole(),
        "rest_": Object(("Member",)) | None,
        "thresholds_": Array("f8", ("n_detection_rates",), low=0.0),
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_stages=10,
        detection_rate=0.99,
        false_positive_rate=0.5,
        positive=None,
        n_folds=3,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_stages = n_stages
        self.detection_rate = detection_rate
        self.false_positive_rate = false_positive_rate
        self.positive = positive
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _candidates(self):
        return chosen(self.estimator, lambda: AdaBoostClassifier(n_estimators=10))

    def _most_steps(self) -> int:
        return self.n_stages

    def _place_of_positive(self, training: Training) -> int:
        if self.positive is None:
            totals = np.bincount(training.y, training.weights, minlength=len(self.classes_))
            return int(len(totals) - 1 - np.argmin(totals[::-1]))
        found = np.flatnonzero(self.classes_ == self.positive)
        if not len(found):
            raise DataError(f"positive={self.positive!r} is not a class; they are {self.classes_}")
        return int(found[0])

    def _fit_ensemble(self, training: Training) -> None:
        [(name, learner)] = self._checked_candidates()
        seeds = self._seeds(self.n_stages + 1)
        place = self._place_of_positive(training)
        rest = self._fit_rest(learner, training, place, seeds[-1])
        runs = StageRuns(self, training, place, name, learner)
        course = self._course("stage", self.n_stages)
        total = 1.0
        for number in course:
            stage, rest_part = runs.learn(number, seeds[number])
            useless = stage.false_positive >= USELESS and number > 0
            if not useless:
                runs.keep(stage, rest_part)
                total *= stage.false_positive
            if course.end_step(
                total,
                useless or not runs.both_left(),
                attributes=lambda: self._public() | self._staged(runs.stages, place, rest),
            ):
                break
        self._keep(self._staged(runs.stages, place, rest))
        self.history_ = course.history
        if course.history.stopped == "max_iter":
            course.history.stopped = "done"
        self._warn_of_missed_rates(runs.stages)

    def _warn_of_missed_rates(self, stages: list[Stage]) -> None:
        weak = [each for each in stages if each.detection < self.detection_rate - 1e-9]
        if weak:
            warnings.warn(
                f"{len(weak)} of {len(stages)} stages find fewer than "
                f"detection_rate={self.detection_rate:g} of the positives: at that rate all rows "
                "would pass, so that the best threshold was taken. Use more rows",
                GnomonWarning,
                stacklevel=7,
            )
        missed = [each for each in stages if each.false_positive > self.false_positive_rate]
        if missed:
            warnings.warn(
                f"{len(missed)} of {len(stages)} stages let more than "
                f"false_positive_rate={self.false_positive_rate:g} of the negatives pass; use a "
                "stronger learner or a lower detection_rate",
                GnomonWarning,
                stacklevel=7,
            )

    def _fit_rest(self, learner, training: Training, place: int, seed: int) -> Member | None:
        if len(self.classes_) <= 2:
            return None
        whole_part = training.whole()
        others = training.y[whole_part.positions] != place
        part = Part(whole_part.positions[others], whole_part.weight_array[others])
        weights = None if (part.weights == 1).all() else part.weights
        fresh = seeded(learner, seed, False)
        y = training.y[part.positions]
        return fit_on(fresh, "classifier of the rest", training.rows[part.positions], y, weights)

    def _staged(self, stages: list[Stage], place: int, rest: Member | None) -> dict[str, Any]:
        return {
            "members_": [stage.member for stage in stages],
            "thresholds_": np.array([stage.threshold for stage in stages]),
            "detection_rates_": np.array([stage.detection for stage in stages]),
            "false_positive_rates_": np.array([stage.false_positive for stage in stages]),
            "positive_": place,
            "rest_": rest,
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # its aim is the detection rate, not accuracy
        return tags

    def rates(self) -> CascadeRates:
        """Rates of the whole cascade: the products of the stages' rates.

        Returns
        -------
        rates : CascadeRates
        """
        return cascade_rates(self.detection_rates_, self.false_positive_rates_)

    def _passed(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """How many stages each row passes, and its score at the last stage that it reached."""
        n = rows.shape[0]
        passed, last = np.zeros(n, dtype=np.int64), np.ones(n)
        alive = np.arange(n)
        for member, threshold in zip(self.members_, self.thresholds_):
            if not len(alive):
                break
            scores = member.proba(rows if len(alive) == n else rows[alive], 2)[:, 1]
            last[alive] = scores
            alive = alive[scores >= threshold]
            passed[alive] += 1
        return passed, last

    def stages_passed(self, X) -> np.ndarray:
        """How many stages let each row pass.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        passed : ndarray of int of shape (n_samples,)
        """
        return self._each_block(lambda rows: self._passed(rows)[0], X)

    def _proba(self, rows):
        n_classes = len(self.classes_)
        passed, last = self._passed(rows)
        n_stages = len(self.members_)
        is_found = passed == n_stages
        through = np.minimum(passed, max(n_stages - 1, 0))
        inside = (through + np.clip(last, 0, 1)) / (max(n_stages, 1) + 1)
        found = np.where(is_found, 0.5 + 0.5 * np.clip(last, 0.01, 1), 0.49 * inside)
        proba = np.zeros((rows.shape[0], n_classes))
        if n_classes == 1:
            return np.ones_like(proba)
        if self.rest_ is None:
            proba[:, 1 - self.positive_] = 1 - found
        else:
            proba = self.rest_.proba(rows, n_classes) * (1 - found)[:, None]
            proba = keep_below(proba, self.positive_, found, is_found)
        proba[:, self.positive_] = found
        return proba

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        """One stage after the other is fitted to rows of both kinds that are drawn for it."""
        [(_, learner)] = self._candidates()
        kept = self.n_stages * kept_bytes(learner, n_rows, n_columns)
        rows = 8 * n_rows * (2 * n_columns + 20)
        return rows + kept + forecast_of(learner, n_rows, n_columns)


def keep_below(
    proba: np.ndarray, place: int, found: np.ndarray, is_found: np.ndarray
) -> np.ndarray:
    """For rejected rows lower the positive class below the best of the rest, rows adding up to
    one.
    """
    best = proba.max(axis=1)
    too_high = ~is_found & (found >= best)
    if too_high.any():
        share = proba[too_high] / np.maximum(proba[too_high].sum(axis=1, keepdims=True), 1e-300)
        n_classes = proba.shape[1]
        found[too_high] = 0.5 / n_classes * found[too_high]
        proba[too_high] = share * (1 - found[too_high])[:, None]
    return proba


class StageRuns:
    """The rows that reach each stage, by scores of models that have not learnt from them.

    Parameters
    ----------
    model : CascadeClassifier
    training : Training
    place : int
        The positive class code.
    name : str
    learner : estimator
    """

    def __init__(self, model, training: Training, place: int, name: str, learner):
        self.model = model
        self.training = training
        self.name = name
        self.learner = learner
        self.is_positive = (training.y == place).astype(np.int64)
        self.part = training.whole()
        self.stages: list[Stage] = []

    def both_left(self) -> bool:
        """Whether rows of both kinds reach the next stage, enough of them to hold some out.

        A row of weight two is two rows; weights below one do not make rows fewer.
        """
        kinds = self.is_positive[self.part.positions]
        weights = np.maximum(self.part.weight_array, 1.0)
        return bool(np.bincount(kinds, weights, minlength=2).min() >= 2)

    def learn(self, number: int, seed: int) -> tuple[Stage, Part]:
        """The next stage, and the part that goes on after it."""
        learner = seeded(self.learner, seed, True)
        size = getattr(self.learner, "n_estimators", None)
        for growth in range(MOST_GROWTH + 1):
            if growth:
                learner = clone(learner).set_params(n_estimators=size * 2**growth)
            stage, rest = self._measured(learner, f"{self.name}, stage {number + 1}", seed)
            if stage.false_positive <= self.model.false_positive_rate or size is None:
                break
        member = self._fit(clone(learner), f"{self.name}, stage {number + 1}", self.part)
        return stage._replace(member=member), rest

    def _fit(self, learner, name: str, part: Part) -> Member:
        y = self.is_positive[part.positions]
        totals = np.bincount(y, part.weight_array, minlength=2)
        balance = np.where(totals > 0, totals.sum() / np.maximum(2 * totals, 1e-300), 1.0)
        # multiples of 2^-8: weights of few bits are summed exactly, and weight k is k rows
        weights = part.weight_array * (np.maximum(np.rint(balance * 256), 1) / 256)[y]
        given = weights if takes_weights(learner) and (weights != 1).any() else None
        return fit_on(learner, name, self.training.rows[part.positions], y, given)

    def _measured(self, learner, name: str, seed: int) -> tuple[Stage, Part]:
        """Threshold and rates from scores of rows that were left out, and which entries pass."""
        entries, scores = self._scores(learner, name, seed)
        positive = self.is_positive[entries.positions] == 1
        weights = entries.weights
        threshold = 0.5
        if positive.any():
            rate = self.model.detection_rate
            threshold = threshold_for(scores[positive], weights[positive], rate)
            all_pass = rate_of(scores >= threshold, ~positive, weights, 0.0) >= USELESS
            if all_pass and not self.stages:
                threshold = best_threshold(scores, positive, weights)
        passes = scores >= threshold
        detection = rate_of(passes, positive, weights, 1.0)
        stage = Stage(None, threshold, detection, rate_of(passes, ~positive, weights, 0.0))
        return stage, self._rest_after(entries, passes | positive)

    def _scores(self, learner, name: str, seed: int) -> tuple[Entries, np.ndarray]:
        """Scores of the rows by models that have not learnt from them, where there are enough."""
        part = self.part
        if not self.both_left():
            member = self._fit(clone(learner), name, part)
            rows = self.training.rows[part.positions]
            return Entries(part.positions, part.weight_array), member.proba(rows, 2)[:, 1]
        lots = lots_within(part, self.training.n_rows)
        rng = np.random.default_rng([seed, 0])
        folds = lots.folds(self.model.n_folds, rng, self.is_positive)
        scores = []
        for fold in folds:
            member = self._fit(clone(learner), name, fold.learn)
            rows = self.training.rows[fold.held.positions]
            scores.append(member.proba(rows, 2)[:, 1])
        return Entries.of([fold.held for fold in folds]), np.concatenate(scores)

    def _rest_after(self, entries: Entries, stays: np.ndarray) -> Part:
        """The part that goes on, in canonical order."""
        weights = entries.weights * stays
        totals = np.bincount(entries.positions, weights, minlength=self.training.n_rows)
        totals = totals[self.part.positions]
        stay = totals > 0
        weights = None if (totals[stay] == 1).all() else totals[stay]
        return Part(self.part.positions[stay], weights)

    def keep(self, stage: Stage, rest: Part) -> None:
        """Go on with the rows that pass, and with all positives."""
        self.stages.append(stage)
        self.part = rest


def best_threshold(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """The threshold of the greatest detection rate less false positive rate."""
    levels = np.unique(scores)
    gaps = [
        rate_of(scores >= t, positive, weights, 1.0) - rate_of(scores >= t, ~positive, weights, 0.0)
        for t in levels
    ]
    return float(levels[len(gaps) - 1 - int(np.argmax(gaps[::-1]))])


def rate_of(passes: np.ndarray, of: np.ndarray, weights: np.ndarray, without: float) -> float:
    """Share of the weight of some rows that passes; `without` where there are none."""
    total = weights[of].sum()
    return float(weights[of & passes].sum() / total) if total > 0 else without
