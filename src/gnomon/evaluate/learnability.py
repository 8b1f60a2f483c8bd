"""What can be learnt at all: no free lunch, and memorising random labels.

If every labelling of a domain is equally likely, what a learner has seen says nothing about the
rest: off the training rows every learner is right half of the time, exactly. A learner works
because the world is not like that and its bias fits. Nor is it a merit to fit any training set:
nearest neighbours, trees and two-layer networks memorise random labels and have then learnt
nothing.

Texts: 003 2.5.7 (no free lunch, all 256 labellings of three bits) · 003 2.5.7, 4.3.3 (which
learners can memorise; n - 1 sigmoid units through n points).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.base import clone, is_classifier

from gnomon.contract.estimate import Estimate, finite_column, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.growth import all_labelings

MOST_BITS = 10  # 1,024 rows; the labellings are counted, so the learners' predictions cost the time
MOST_TRAINING_ROWS = 12  # 4,096 labellings, each of them one fit of every learner


@dataclass(frozen=True, repr=False, eq=False)
class NoFreeLunch(Result):
    """Accuracy of learners over all labellings of a small domain.

    Attributes
    ----------
    names : list of str
    on_training : list of Fraction
        Mean accuracy on the training rows, exact.
    off_training : list of Fraction
        Mean accuracy on all other rows, exact.
    n_labelings : int
    n_training : int
    n_rows : int
        Size of the domain.
    """

    names: list[str]
    on_training: list[Fraction]
    off_training: list[Fraction]
    n_labelings: int
    n_training: int
    n_rows: int

    def _title(self) -> str:
        return (
            f"All {self.n_labelings:,} labellings of {self.n_rows} rows, "
            f"{self.n_training} of them for training"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "learner": self.names,
            "accuracy on training rows": [float(each) for each in self.on_training],
            "accuracy on the rest": [float(each) for each in self.off_training],
        }

    def _remarks(self) -> list[str]:
        return ["nothing is learnt where every labelling is equally likely"]


def no_free_lunch(
    estimators: Any,
    n_bits: int = 3,
    training: ArrayLike | None = None,
) -> NoFreeLunch:
    """Average any learner over all labellings of a domain of n bits: it is right half of the time.

    All 2^(2^n_bits) labellings are counted. A learner sees the labels of the training rows only, so
    it is fitted once per labelling of those, and for the rest each of its predictions agrees with
    exactly half of the labellings: the enumeration is complete, not a sample.

    Parameters
    ----------
    estimators : classifier, list or dict of name to classifier
        Anything with ``fit`` and ``predict``; one that refuses a single class predicts that class.
    n_bits : int, default=3
        The domain has 2^n_bits rows.
    training : array-like of int, default=None
        Which rows are seen; the first half by default.

    Returns
    -------
    found : NoFreeLunch

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> print(no_free_lunch({"nearest": KNeighborsClassifier(1)}))
    All 256 labellings of 8 rows, 4 of them for training
    learner  accuracy on training rows  accuracy on the rest
    nearest                          1                   0.5
    nothing is learnt where every labelling is equally likely
    """
    if not 1 <= n_bits <= MOST_BITS:
        raise DataError(f"n_bits={n_bits} must lie between 1 and {MOST_BITS}")
    rows = all_labelings(n_bits).astype(np.float64)
    seen = _training_rows(training, len(rows))
    rest = np.setdiff1d(np.arange(len(rows)), seen)
    named = _named(estimators)
    on, off = [], []
    for learner in named.values():
        right_on = right_off = 0
        for labels in all_labelings(len(seen)).astype(np.int64):
            predicted = _predictions(learner, rows[seen], labels, rows)
            right_on += int((predicted[seen] == labels).sum())
            right_off += _right_over_labelings(predicted[rest])
        fits = 2 ** len(seen)
        on.append(Fraction(right_on, fits * len(seen)))
        off.append(Fraction(right_off, fits * len(rest) * 2 ** len(rest)))
    return NoFreeLunch(list(named), on, off, 2 ** len(rows), len(seen), len(rows))


def _right_over_labelings(predicted: np.ndarray) -> int:
    """How many predictions are right, added up over all labellings of their rows."""
    if len(predicted) > MOST_TRAINING_ROWS:
        # each row has either label in half of the labellings
        return int(np.isin(predicted, (0, 1)).sum()) * 2 ** (len(predicted) - 1)
    return int((all_labelings(len(predicted)) == predicted).sum())


def _training_rows(training: ArrayLike | None, n: int) -> np.ndarray:
    seen = np.arange(n // 2) if training is None else np.unique(np.asarray(training, dtype=int))
    if not 1 <= len(seen) < n or seen.min() < 0 or seen.max() >= n:
        raise DataError(f"training rows must be some, not all, of 0 to {n - 1}")
    if len(seen) > MOST_TRAINING_ROWS:
        raise DataError(f"{len(seen)} training rows have {2 ** len(seen):,} labellings; take fewer")
    return seen


def _named(learners: Any) -> dict[str, Any]:
    if isinstance(learners, Mapping):
        return dict(learners)
    if not isinstance(learners, (list, tuple)):
        learners = [learners]
    return {f"{k}. {type(each).__name__}": each for k, each in enumerate(learners, 1)}


def _predictions(
    learner: Any, rows: np.ndarray, labels: np.ndarray, every: np.ndarray
) -> np.ndarray:
    if labels.min() < labels.max():
        return np.asarray(clone(learner, safe=False).fit(rows, labels).predict(every))
    try:
        return np.asarray(clone(learner, safe=False).fit(rows, labels).predict(every))
    except ValueError:
        return np.full(len(every), labels[0])


@dataclass(frozen=True, repr=False, eq=False)
class Memorization(Result):
    """How often learners reproduce random labels.

    Attributes
    ----------
    names : list of str
    memorized : list of Estimate
        Share of training sets that were reproduced without error.
    training_error : list of float
        Mean training error.
    n_rows : int
    n_columns : int
    """

    names: list[str]
    memorized: list[Estimate]
    training_error: list[float]
    n_rows: int
    n_columns: int

    def _title(self) -> str:
        return f"Random labels of {self.n_rows} random rows with {self.n_columns} columns"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "learner": self.names,
            "memorized": self.memorized,
            "training error": self.training_error,
        }

    def _remarks(self) -> list[str]:
        return ["to memorise is no merit: the labels have nothing to learn in them"]


def memorization(
    estimators: Any,
    n_rows: int = 30,
    n_columns: int = 2,
    *,
    n_trials: int = 20,
    random_state: int | np.random.Generator | None = None,
) -> Memorization:
    """Try which learners memorise any training set, by fitting them to random labels (003 2.5.7).

    Parameters
    ----------
    estimators : learner, list or dict of name to learner
        Classifiers get random classes, regressors random numbers.
    n_rows : int, default=30
    n_columns : int, default=2
    n_trials : int, default=20
    random_state : int, Generator or None

    Returns
    -------
    found : Memorisation

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> found = memorization(KNeighborsClassifier(1), n_trials=5, random_state=0)
    >>> found.memorized[0].value
    1.0
    """
    if n_rows < 2 or n_columns < 1 or n_trials < 1:
        raise DataError("memorisation needs two rows, a column and a trial at least")
    rng = np.random.default_rng(random_state)
    trials = []
    for _ in range(n_trials):
        labels = rng.permutation(np.arange(n_rows) % 2)
        numbers = rng.standard_normal(n_rows)
        trials.append((rng.standard_normal((n_rows, n_columns)), labels, numbers))
    named = _named(estimators)
    memorized, training_error = [], []
    for learner in named.values():
        errors = [_training_error(learner, *trial) for trial in trials]
        memorized.append(share_interval(sum(each == 0 for each in errors), n_trials))
        training_error.append(float(np.mean(errors)))
    return Memorization(list(named), memorized, training_error, n_rows, n_columns)


def _training_error(
    learner: Any, rows: np.ndarray, labels: np.ndarray, numbers: np.ndarray
) -> float:
    if is_classifier(learner):
        return float((clone(learner).fit(rows, labels).predict(rows) != labels).mean())
    gaps = np.ravel(clone(learner).fit(rows, numbers).predict(rows)) - numbers
    return float((np.abs(gaps) > 1e-6 * np.abs(numbers).max()).mean())


@dataclass(frozen=True, eq=False)
class SigmoidInterpolant:
    """A constant plus n - 1 sigmoid units that passes through n points.

    Attributes
    ----------
    places : ndarray of shape (n - 1,)
        Where the units step: between neighbouring points.
    steepness : ndarray of shape (n - 1,)
    heights : ndarray of shape (n - 1,)
        Weights of the units in the linear output unit.
    offset : float
    """

    places: np.ndarray
    steepness: np.ndarray
    heights: np.ndarray
    offset: float

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """The curve at x."""
        x = np.asarray(x, dtype=np.float64)
        return _units(x, self.places, self.steepness) @ self.heights + self.offset


def sigmoid_interpolant(x: ArrayLike, y: ArrayLike, sharpness: float = 10.0) -> SigmoidInterpolant:
    """Join n points by n - 1 sigmoid units and one linear unit, exactly (003 4.3.3).

    f(x) = c + sum_i h_i sigmoid(s_i (x - m_i)) with m_i half-way between neighbours; the heights
    and c solve n linear equations. A perfect fit exists for any points, and is useless: steep steps
    between the points.

    Parameters
    ----------
    x : array-like of shape (n,)
        All different.
    y : array-like of shape (n,)
    sharpness : float, default=10.0
        Steepness times the gap between neighbours.

    Returns
    -------
    curve : SigmoidInterpolant

    Examples
    --------
    >>> curve = sigmoid_interpolant([0.0, 1.0, 3.0], [2.0, -1.0, 5.0])
    >>> curve([0.0, 1.0, 3.0]).round(9)
    array([ 2., -1.,  5.])
    """
    x, y = finite_column(x, "x"), finite_column(y, "y")
    if len(x) != len(y) or len(x) < 2:
        raise DataError(f"{len(x)} x and {len(y)} y; give two or more points")
    order = np.argsort(x)
    x, y = x[order], y[order]
    gaps = np.diff(x)
    if (gaps == 0).any():
        raise DataError(f"x={x[int((gaps == 0).argmax())]} stands there twice")
    places, steepness = (x[1:] + x[:-1]) / 2, sharpness / gaps
    design = np.column_stack([_units(x, places, steepness), np.ones(len(x))])
    solution = np.linalg.solve(design, y)
    return SigmoidInterpolant(places, steepness, solution[:-1], float(solution[-1]))


def _units(x: np.ndarray, places: np.ndarray, steepness: np.ndarray) -> np.ndarray:
    return special.expit(steepness * (x[..., None] - places))
