"""Learners that know nothing: random guesses, a random hyperplane, and pure memory.

They show what chance gives, and what a perfect training score is worth. A guess is drawn by a
fixed mix of the row and the seed, so that the same row always gets the same guess, in whatever
order and company it comes.

Texts: 000a 1.1.1 (chance), 1.1.3 (the silly look-up classifier) · 000b ex. 11.3 · 002 "Ensemble
methods" (random hyperplanes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Classifier, Data, Takes
from gnomon.engine.draw import WeightedDraw, canonical_key, canonical_order
from gnomon.engine.errors import ModelFileError
from gnomon.engine.parameters import SEED, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole

MIX = np.uint64(0x9E3779B97F4A7C15)  # splitmix64's increment (Steele, Lea, Flood 2014)
# Shifts and factors of splitmix64's finalizer; the last shift, 31, has no factor.
STEPS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


@method(
    task="classify",
    texts="000a 1.1.1 · 000b ex. 11.3",
    use="To show what guessing gives, beside the baseline.",
    avoid="As a model to act on.",
    peers=("sklearn.dummy.DummyClassifier",),
)
class RandomGuessClassifier(Classifier):
    """Guesses a class at random, evenly or by the classes' shares.

    Use it beside `BaselineClassifier`, which is always at least as good: with shares p_k the
    expected error of even guesses is 1 - 1 / C, of guesses by shares 1 - sum_k p_k^2, of the
    commonest class 1 - max_k p_k. It is no model to act on. With two classes, an error above one
    half is mended by exchanging the answers.

    Parameters
    ----------
    by : {"shares", "even"}, default="shares"
        How likely each class is guessed.
    random_state : int, RandomState instance or None, default=None
        Seeds the guesses.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        Their shares among the training rows.
    guess_ : ndarray of shape (n_classes,)
        The probability with which each class is guessed.
    expected_error_ : float
        Expected error on rows whose classes have these shares.
    seed_ : int
        Mixed with the rows to draw the guesses.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.evaluate import RandomGuessClassifier
    >>> model = RandomGuessClassifier("even", random_state=0).fit([[1], [2], [3]], [0, 1, 1])
    >>> model.expected_error_
    0.5
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _largest = np.inf
    _parameter_constraints = {"by": [StrOptions({"shares", "even"})], "random_state": SEED}
    _stored = {
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
        "expected_error_": Number(),
        "guess_": Array("f8", ("n_classes",), low=0.0),
        "seed_": Whole(),
    }

    def __init__(self, by: str = "shares", random_state: Any = None) -> None:
        self.by = by
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        k = len(self.classes_)
        totals = np.bincount(data.y, data.weight_array, minlength=k)
        self.class_prior_ = totals / totals.sum()
        self.guess_ = self.class_prior_.copy() if self.by == "shares" else np.full(k, 1 / k)
        self.expected_error_ = float(1 - self.class_prior_ @ self.guess_)
        self.seed_ = int(self._rng().integers(2**62))

    def _proba(self, rows: Any) -> np.ndarray:
        """Certainty for the guessed class."""
        line = np.cumsum(self.guess_)
        marks = uniform_of_rows(rows, self.seed_) * line[-1]
        guess = np.minimum(np.searchsorted(line, marks, side="right"), len(line) - 1)
        return np.eye(len(line))[guess]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@method(
    task="classify",
    texts='002 "Ensemble methods"',
    use="To show that many classifiers without information are worth no more than one.",
    avoid="As a model to act on.",
)
class RandomHyperplaneClassifier(Classifier):
    """Cuts space by a random hyperplane; which side is which class is a coin toss.

    Use it in arguments about ensembles: its expected error is 1 - 1 / C whatever the data are,
    and the majority of many is no better, for they carry no information. It is no model to act
    on. Directions are standard normal in columns of unit spread; each plane goes through a
    training row drawn at random. With C > 2 classes there are C planes, and the class is the one
    whose plane lies farthest behind a row.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seeds the planes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_planes, n_features)
        Directions; one plane where there are two classes.
    intercept_ : ndarray of shape (n_planes,)
        Offsets of the planes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.evaluate import RandomHyperplaneClassifier
    >>> model = RandomHyperplaneClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> model.predict([[5.0]]).shape
    (1,)
    """

    _parameter_constraints = {"random_state": SEED}
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "intercept_": Array("f8", ("n_coef",)),
    }

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        rng, weights = self._rng(), data.weight_array
        share = weights / weights.sum()
        mean = share @ data.rows
        spread = np.sqrt(np.maximum(share @ data.rows**2 - mean**2, 0.0))
        spread[spread <= 1e-12 * np.abs(mean)] = 1.0
        n_planes = 1 if len(self.classes_) == 2 else len(self.classes_)
        directions = rng.normal(size=(n_planes, data.n_columns)) / np.maximum(spread, 1e-100)
        order = canonical_order(data.rows, data.y)
        points = data.rows[WeightedDraw(order)(weights, rng, n_planes)]
        self.coef_ = directions
        self.intercept_ = -(directions * points).sum(axis=1)

    def _proba(self, rows: Any) -> np.ndarray:
        """Certainty for the class of the side."""
        heights = rows @ self.coef_.T + self.intercept_
        if len(self.classes_) == 2:
            heights = np.column_stack([-heights, heights])
        return np.eye(len(self.classes_))[heights.argmax(axis=1)]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (2 * n_rows * n_columns + 8 * n_rows)

    def _check_loaded(self) -> None:
        if hasattr(self, "coef_") and self.coef_.shape[0] != len(self.intercept_):
            raise ModelFileError("the planes and their offsets differ in number")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@method(
    task="classify",
    texts="000a 1.1.3",
    use="To show that a perfect training score proves nothing.",
    avoid="As a model to act on.",
)
class MemorizingClassifier(Classifier):
    """Remembers every training row; guesses the class of all others at random.

    Use it to show overfitting: no training error at all where no two equal rows differ in class,
    and on new rows the error 1 - 1 / C of chance. It is no model to act on, unless rows recur
    exactly. Of equal training rows the commonest class counts; ties go to the class that sorts
    first.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seeds the guesses of rows that it does not know.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    rows_ : ndarray of shape (n_distinct, n_features)
        The distinct training rows.
    codes_ : ndarray of shape (n_distinct,)
        The class of each, as a place in `classes_`.
    seed_ : int
        Mixed with unknown rows to draw their class.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.evaluate import MemorizingClassifier
    >>> model = MemorizingClassifier(random_state=0).fit([[1.0], [2.0]], ["no", "yes"])
    >>> model.predict([[2.0], [1.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    natively = Takes(missing=True, categories=True)
    _largest = np.inf
    _keeps_rows = True
    _parameter_constraints = {"random_state": SEED}
    _stored = {
        "codes_": Array("i8", ("n_codes",), low=0, below="n_classes"),
        "rows_": Array("f8", ("n_codes", "n_columns"), finite=False),
        "seed_": Whole(),
    }

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        keys = row_keys(data.rows)
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        k = len(self.classes_)
        votes = np.bincount(place * k + data.y, data.weight_array, minlength=len(first) * k)
        self.rows_ = np.ascontiguousarray(data.rows[first], dtype=np.float64)
        self.codes_ = votes.reshape(-1, k).argmax(axis=1)
        self.seed_ = int(self._rng().integers(2**62))

    def _proba(self, rows: Any) -> np.ndarray:
        """Certainty for the remembered or guessed class."""
        known, keys = row_keys(self.rows_), row_keys(rows)
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        k = len(self.classes_)
        guesses = np.minimum((uniform_of_rows(rows, self.seed_) * k).astype(int), k - 1)
        codes = np.where(known[place] == keys, self.codes_[place], guesses)
        return np.eye(k)[codes]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 10 * n_rows)

    def _check_loaded(self) -> None:
        if not hasattr(self, "codes_"):
            return
        codes = self.codes_
        if len(codes) != len(self.rows_) or len(codes) == 0:
            raise ModelFileError("the remembered rows and their classes differ in number")
        if codes.min() < 0 or codes.max() >= len(self.classes_):
            raise ModelFileError("a remembered row has a class that does not exist")


def uniform_of_rows(rows: Any, seed: int) -> np.ndarray:
    """A number between 0 and 1 per row that depends on the row and the seed alone."""
    mixed = canonical_key(rows if not sp.issparse(rows) else sp.csr_array(rows)) + 0.0
    bits = mixed.view(np.uint64) ^ np.uint64(seed)
    with np.errstate(over="ignore"):
        bits = bits + MIX
        for shift, factor in STEPS:
            bits = (bits ^ (bits >> shift)) * factor
        bits = bits ^ (bits >> np.uint64(31))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def row_keys(rows: np.ndarray) -> np.ndarray:
    """One comparable key per row, equal for equal rows only; NaN equals NaN and -0 equals 0."""
    plain = np.ascontiguousarray(rows, dtype=np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
