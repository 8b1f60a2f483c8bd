"""Calibrated probabilities: a map from the scores of a classifier to shares of the classes.

    sigmoid      P(k | s) = 1 / (1 + exp(a s + b)), of greatest likelihood (Platt)
    isotonic     P(k | s) = the non-decreasing step function of least squared error
    temperature  P(. | s) = softmax(beta s), one number for all classes, of greatest likelihood

The map learns from rows that the classifier has not learnt from: each of K folds has its classifier
and its map, and their probabilities are averaged (``ensemble=True``); or one map learns from the
out-of-fold scores of all rows, for one classifier of all rows.

Texts: 003 3.3.7 (a learned correction of probabilities) · 004 11.2 (models of a cross-validation).
The five texts print none of the maps; `gnomon.evaluate.correct_probabilities` learns them from
probabilities that are given.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.calibration import _convert_to_logits, _TemperatureScaling
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Classifier
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import JOBS, HasMethods, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, ListOf, Number, Object, Text, Whole
from gnomon.ensemble.base import Ensemble, Training, chosen
from gnomon.ensemble.held_out import Entries, mean_loss
from gnomon.ensemble.lots import Fold
from gnomon.ensemble.member import Member, Rows, fit_member, require_kind, seeded, takes_tables
from gnomon.margin import LinearSVC
from gnomon.margin.platt import fit_sigmoid, sigmoid
from gnomon.table.table import Table

FOLDS = 5  # of scikit-learn, where cv is None
METHODS = ("isotonic", "sigmoid", "temperature")
ABOVE_ONE = 1e-5  # what rounding may add to a probability, as in scikit-learn

storable(FrozenEstimator, "sklearn.FrozenEstimator", {})


@storable
@dataclass
class SigmoidMap:
    """P = 1 / (1 + exp(a s + b))."""

    a_: float
    b_: float
    _stored = {"a_": Number(), "b_": Number()}

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return sigmoid(scores, np.array([self.a_, self.b_]))


@storable
@dataclass
class IsotonicMap:
    """A non-decreasing function, linear between thresholds and constant beyond them."""

    X_thresholds_: np.ndarray
    y_thresholds_: np.ndarray
    _stored = {
        "X_thresholds_": Array("f8", ("n_thresholds",), rising=True),
        "y_thresholds_": Array("f8", ("n_thresholds",), low=0.0, high=1.0, rising=True),
    }

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return np.interp(scores, self.X_thresholds_, self.y_thresholds_)


@storable
@dataclass
class TemperatureMap:
    """softmax(beta s), for the scores of all classes."""

    beta_: float
    _stored = {"beta_": Number(low=0.0)}

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return softmax(self.beta_ * _convert_to_logits(scores), axis=1)


MAPS = {"sigmoid": "SigmoidMap", "isotonic": "IsotonicMap", "temperature": "TemperatureMap"}


@storable
@dataclass
class CalibratedMember:
    """A fitted classifier and the maps of its scores to probabilities.

    Attributes
    ----------
    member : Member
    known : ndarray of int
        The codes of the classes that it knows, in the order of its own.
    n_classes : int
        Of all classes.
    method : str
    calibrators : list
        A map per class that it knows; one for two classes, and for "temperature".
    """

    member: Member
    known: np.ndarray
    n_classes: int
    method: str
    calibrators: list
    _stored = {
        "member": Object(("Member",)),
        "known": Array("i8", ("n_known",), low=0, below="n_classes"),
        "n_classes": Whole(1),
        "method": Text(METHODS),
        "calibrators": ListOf(Object(tuple(MAPS.values()))),
    }

    def _check_loaded(self) -> None:
        due = 1 if self.method == "temperature" else len(self._columns())
        names = {type(each).__name__ for each in self.calibrators}
        if len(self.calibrators) != due or names - {MAPS[self.method]}:
            raise ValueError("the maps of the scores are not those of the method and the classes")
        if len(set(self.known.tolist())) < len(self.known):
            raise ValueError("a class stands twice among those of a member")

    @property
    def estimator(self) -> Any:
        """The fitted classifier; its classes are codes, unless it was frozen."""
        return self.member.estimator

    def _columns(self) -> list[int]:
        """Scores that have a map of their own: of two classes, the second."""
        return [1] if self.n_classes == len(self.known) == 2 else list(range(len(self.known)))

    def scores(self, rows: Rows) -> np.ndarray:
        """A score per row and class that the classifier knows."""
        estimator = self.estimator
        name = "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"
        if isinstance(rows, Table) and self.member.encoder is None and not takes_tables(estimator):
            rows = rows.to_pandas()  # a frozen classifier of another library
        found = np.asarray(getattr(estimator, name)(self.member.given(rows)), np.float64)
        found = found.reshape(len(found), -1)
        if found.shape[1] == 1 and len(self.known) == 2:
            found = np.hstack([1 - found if name == "predict_proba" else -found, found])
        if found.shape[1] != len(self.known):
            raise DataError(
                f"{name} of {type(estimator).__name__} gives {found.shape[1]} scores for "
                f"{len(self.known)} classes; calibration needs one for each"
            )
        return found

    def predict_proba(self, rows: Rows) -> np.ndarray:
        """Calibrated probabilities of rows."""
        return self.proba(self.scores(rows))

    def calibrate(self, scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        """Learn the maps from scores of rows that the classifier has not learnt from."""
        if self.method == "temperature":
            self.calibrators = [temperature_map(scores, self.known, y, weights)]
            return
        learn = isotonic_map if self.method == "isotonic" else sigmoid_map
        self.calibrators = [
            learn(scores[:, column], y == self.known[column], weights) for column in self._columns()
        ]

    def proba(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of all classes."""
        proba = np.zeros((len(scores), self.n_classes))
        if self.method == "temperature":
            proba[:, self.known] = self.calibrators[0].predict(scores)
            return proba
        for column, calibrator in zip(self._columns(), self.calibrators):
            proba[:, self.known[column]] = calibrator.predict(scores[:, column])
        if self.n_classes == 2:
            done = self.known[self._columns()[0]]
            proba[:, 1 - done] = 1.0 - proba[:, done]
        elif self.n_classes > 2:
            total = proba.sum(axis=1, keepdims=True)
            even = np.full_like(proba, 1 / self.n_classes)
            proba = np.divide(proba, total, out=even, where=total != 0)
        else:
            proba[:] = 1.0
        proba[(proba > 1.0) & (proba <= 1.0 + ABOVE_ONE)] = 1.0
        return proba


def sigmoid_map(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> SigmoidMap:
    """The sigmoid of greatest likelihood."""
    a, b = fit_sigmoid(scores, positive, weights)
    return SigmoidMap(float(a), float(b))


def isotonic_map(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> IsotonicMap:
    """The non-decreasing function of least squared error."""
    found = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    found.fit(scores, positive.astype(np.float64), sample_weight=weights)
    return IsotonicMap(found.X_thresholds_, found.y_thresholds_)


def temperature_map(
    scores: np.ndarray, known: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> TemperatureMap:
    """The inverse temperature of greatest likelihood; rows of other classes are left out."""
    places = {code: place for place, code in enumerate(known.tolist())}
    taken = np.isin(y, known)
    if len(known) < 2 or not taken.any():
        return TemperatureMap(1.0)
    labels = np.array([places[code] for code in y[taken].tolist()])
    found = _TemperatureScaling().fit(scores[taken], labels, weights[taken])
    return TemperatureMap(float(found.beta_))


@method(
    task="classify",
    texts="003 3.3.7 · 004 11.2",
    use="Probabilities that are to be taken at their word: costs, thresholds, rankings of risk.",
    avoid="Few rows, isotonic above all; learners that are calibrated already (logistic).",
    peers=("sklearn.calibration.CalibratedClassifierCV",),
    synonyms=("calibration", "Platt scaling", "isotonic regression", "temperature scaling"),
)
class CalibratedClassifierCV(Ensemble, Classifier):
    """A classifier whose scores become calibrated probabilities, by cross-validation.

    Use it where probabilities are to be taken at their word. "sigmoid" suits few rows and scores
    such as those of `SVC`, "isotonic" needs about a thousand rows or more, "temperature" keeps the
    order of the classes. Not for learners that are calibrated already, such as
    `LogisticRegression`. Folds that are drawn here do not depend on the order of rows; given ``cv``
    as a splitter, they are those of scikit-learn.

    Texts: 003 3.3.7, 004 11.2 (models of a cross-validation).

    Parameters
    ----------
    estimator : estimator or None, default=None
        The classifier, of any library; a `LinearSVC` for None. A fitted one in scikit-learn's
        ``FrozenEstimator`` is calibrated as it is.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        The map from scores to probabilities.
    cv : int, splitter, list of (positions, positions) pairs or None, default=None
        Folds, stratified by class; 5 for None.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.
    ensemble : bool or "auto", default="auto"
        Whether each fold has its classifier and its map, whose probabilities are averaged;
        otherwise one classifier of all rows has a map from out-of-fold scores. "auto" is True
        unless the estimator is frozen.

    Attributes
    ----------
    calibrated_classifiers_ : list of CalibratedMember
        Classifiers with their maps: one per fold, or one where ``ensemble`` is False.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; members know them as codes 0, 1, 2 ...
    history_ : History
        Mean Brier score of each member on the rows that its map learnt from.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> from gnomon.ensemble import CalibratedClassifierCV
    >>> rows = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]] * 10
    >>> y = [0, 0, 0, 1, 0, 1] * 10
    >>> model = CalibratedClassifierCV(GaussianNB(), cv=3).fit(rows, y)
    >>> model.predict_proba([[0.0], [5.0]]).argmax(axis=1).tolist()
    [0, 1]
    """

    _parameter_constraints = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
            None,
        ],
        "method": [StrOptions(set(METHODS))],
        "cv": ["cv_object"],
        "n_jobs": JOBS,
        "ensemble": ["boolean", StrOptions({"auto"})],
    }
    _stored = {
        "calibrated_classifiers_": ListOf(
            Object(("CalibratedMember",), {"n_classes": "n_classes"})
        ),
    }

    def __init__(self, estimator=None, *, method="sigmoid", cv=None, n_jobs=None, ensemble="auto"):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    @property
    def members_(self) -> list[Member]:
        """The fitted classifiers."""
        return [each.member for each in self.calibrated_classifiers_]

    def _candidates(self):
        return chosen(self.estimator, lambda: LinearSVC(random_state=0))

    def _most_steps(self) -> int:
        return self.cv if isinstance(self.cv, int) else getattr(self.cv, "n_splits", FOLDS)

    def _fit_ensemble(self, training: Training) -> None:
        ((name, learner),) = self._candidates()
        require_kind(name, learner, True)
        frozen = isinstance(learner, FrozenEstimator)
        if frozen:
            check_is_fitted(learner.estimator, msg="the frozen estimator is not fitted yet")
        self._check_folds(training)
        rng = np.random.default_rng(0)  # scikit-learn's folds are the same in every fit
        folds = training.folds(FOLDS if self.cv is None else self.cv, rng, training.y)

        def member_of(part: Any, number: int) -> CalibratedMember:
            if frozen:
                member = Member(name, learner.estimator)
            else:
                member = fit_member(seeded(learner, 0, False), name, training, part, seed=number)
            known = self._codes_of(member.estimator, frozen)
            return CalibratedMember(member, known, len(self.classes_), self.method, [])

        def fit(job: tuple[int, Fold | None]) -> tuple[CalibratedMember, float]:
            number, fold = job
            if fold is not None:
                made = member_of(fold.learn, number)
                entries = Entries.of([fold.held])
                scores = made.scores(training.rows[entries.positions])
            else:
                entries = Entries.of([each.held for each in folds])
                scores = self._out_of_fold(training, folds, member_of)
                made = member_of(training.whole(), number)
                scores = scores[:, made.known]
            y = training.y[entries.positions]
            made.calibrate(scores, y, entries.weights)
            return made, mean_loss(made.proba(scores), y, entries.weights, "brier")

        by_fold = not frozen if self.ensemble == "auto" else self.ensemble
        jobs = list(enumerate(folds)) if by_fold else [(len(folds), None)]
        made = self._fit_each(jobs, fit, lambda made: made[-1][1], self._so_far)
        self._keep(self._so_far(made))

    def _so_far(self, made: list[tuple[CalibratedMember, float]]) -> dict[str, Any]:
        return {"calibrated_classifiers_": [each for each, _ in made]}

    def _out_of_fold(self, training: Training, folds: list[Fold], member_of: Any) -> np.ndarray:
        """Scores of all rows by classifiers that have not seen them, a column per class."""
        parts = []
        for number, fold in enumerate(folds):
            made = member_of(fold.learn, number)
            found = made.scores(training.rows[fold.held.positions])
            scores = np.full((len(found), len(self.classes_)), found.min(initial=0.0))
            scores[:, made.known] = found
            parts.append(scores)
        return np.vstack(parts)

    def _codes_of(self, estimator: Any, frozen: bool) -> np.ndarray:
        """Codes of the classes that a member knows; a frozen one knows labels."""
        if not frozen:
            return np.asarray(estimator.classes_, dtype=np.int64)
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        labels = np.asarray(estimator.classes_).tolist()
        strangers = [label for label in labels if label not in codes]
        if strangers:
            raise DataError(
                f"the frozen estimator knows the class {strangers[0]!r}, which the target does not "
                "hold; give rows of all its classes"
            )
        return np.array([codes[label] for label in labels], dtype=np.int64)

    def _check_folds(self, training: Training) -> None:
        if isinstance(self.cv, LeaveOneOut):
            raise ValueError(
                "LeaveOneOut cross-validation does not allow all classes to be present in test "
                "splits. Please use a cross-validation generator that allows all classes to appear "
                "in every test and train split."
            )
        wanted = self.cv if isinstance(self.cv, int) else getattr(self.cv, "n_splits", None)
        weights = training.weight_array
        whole = (weights == np.rint(weights)).all()
        counts = np.bincount(training.y, weights if whole else None)
        if not wanted or (counts >= wanted).all():
            return
        few = f"{wanted}-fold cross-validation but provided less than {wanted} examples for"
        if (counts < wanted).all() and len(counts) > 1:
            raise DataError(f"Requesting {few} at least one class.")
        rarest = self.classes_.tolist()[counts.argmin()]
        warnings.warn(
            f"Requesting {few} class {rarest!r}; in folds without it, it gets low probabilities. "
            "Use fewer folds or more rows.",
            GnomonWarning,
            stacklevel=2,
        )

    def _proba(self, rows: Rows) -> np.ndarray:
        total = np.zeros((rows.shape[0], len(self.classes_)))
        for each in self.calibrated_classifiers_:
            total += each.predict_proba(rows)
        return total / len(self.calibrated_classifiers_)
