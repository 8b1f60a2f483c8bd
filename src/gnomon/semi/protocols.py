"""Protocols of learning: examples one at a time, graded outputs, corrections by experts.

`prequential` predicts every row before it learns from it, so that each error is of an unseen row.
`LinearBandit` learns from examples (input, output tried, grade): nothing is known of the grade that
another output would have got. `FeedbackScorer` learns from what experts correct.

Texts: 001 3.3.1, 3.3.2 · 003 2.10, 4.9 · 004 1.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass
class Prequential(Result):
    """Errors of predictions that were made before the row was learned from.

    Attributes
    ----------
    errors : ndarray of shape (n,)
        One where the prediction was wrong (classes), or the squared error (numbers).
    error : Estimate
        Their mean.
    running : ndarray of shape (n,)
        Mean error so far.
    recent : ndarray of shape (n,)
        Mean error in which a row counts ``fading`` times the next one.
    estimator : object
        The learner after the last row.
    """

    errors: np.ndarray
    error: Estimate
    running: np.ndarray
    recent: np.ndarray
    estimator: Any

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "rows": [len(self.errors)],
            "error": [self.error],
            "recent error": [float(self.recent[-1])],
        }


def prequential(
    estimator: Any, X: Any, y: Any, *, batch_size: int = 1, fading: float = 0.99
) -> Prequential:
    """Test on every row, then learn from it: the error of on-line learning.

    The first batch is learned from without a test. Texts: 001 3.3.1.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        Is cloned.
    X : array of shape (n_samples, n_features)
        In the order of arrival.
    y : array-like of shape (n_samples,)
    batch_size : int, default=1
        Rows that are predicted, then learned from, at once.
    fading : float, default=0.99
        Weight of a row against the next one in ``recent``.

    Returns
    -------
    result : Prequential

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.bayes import GaussianNB
    >>> X = np.array([[0.0], [5.0]] * 20) + np.linspace(0, 1, 40)[:, None]
    >>> float(prequential(GaussianNB(), X, [0, 1] * 20, batch_size=4).error.value)
    0.0
    """
    if not hasattr(estimator, "partial_fit"):
        raise DataError(
            f"{type(estimator).__name__} has no partial_fit and cannot learn row by row; take a "
            "learner that has it (GaussianNB, Perceptron, StochasticSVM)"
        )
    y = np.asarray(y)
    n = len(y)
    if not 1 <= batch_size < n:
        raise DataError(f"batch_size={batch_size} must be at least 1 and less than {n} rows")
    if not 0 < fading <= 1:
        raise DataError(f"fading={fading} must be above 0 and at most 1")
    model = clone(estimator)
    of_classes = getattr(model, "_estimator_type", None) == "classifier" or hasattr(
        model, "predict_proba"
    )
    more = {"classes": np.unique(y)} if of_classes else {}
    model.partial_fit(X[:batch_size], y[:batch_size], **more)
    parts = []
    for start in range(batch_size, n, batch_size):
        rows, truth = X[start : start + batch_size], y[start : start + batch_size]
        found = model.predict(rows)
        miss = found != truth if of_classes else (np.asarray(found, float) - truth) ** 2
        parts.append(np.asarray(miss, dtype=np.float64))
        model.partial_fit(rows, truth)
    errors = np.concatenate(parts)
    running = np.cumsum(errors) / np.arange(1, len(errors) + 1)
    return Prequential(errors, mean_interval(errors), running, faded_mean(errors, fading), model)


def faded_mean(values: np.ndarray, fading: float) -> np.ndarray:
    """Means so far in which every value counts `fading` times the next one."""
    total = weight = 0.0
    means = np.empty(len(values))
    for i, value in enumerate(values):
        total, weight = fading * total + value, fading * weight + 1.0
        means[i] = total / weight
    return means


class Graded(NamedTuple):
    """An example of reinforcement learning: an input, the output that was tried, its grade."""

    input: Any
    output: int
    grade: float


class LinearBandit:
    """Chooses outputs for inputs and learns from the grade of the chosen one alone.

    Each output has a ridge regression of the grade on the input. ``choose`` takes the output whose
    estimate plus ``exploration`` standard errors is greatest (LinUCB). Texts: 001 3.3.2.

    Parameters
    ----------
    n_outputs : int
    n_features : int
    exploration : float, default=1.0
        Standard errors that are added; 0 never explores.
    ridge : float, default=1.0

    Examples
    --------
    >>> bandit = LinearBandit(2, 1)
    >>> for _ in range(20):
    ...     chosen = bandit.choose([1.0])
    ...     bandit.learn(Graded([1.0], chosen, 1.0 if chosen == 1 else 0.0))
    >>> bandit.choose([1.0])
    1
    """

    def __init__(
        self, n_outputs: int, n_features: int, *, exploration: float = 1.0, ridge: float = 1.0
    ):
        if n_outputs < 1 or n_features < 1 or ridge <= 0 or exploration < 0:
            raise DataError(
                "a bandit needs one output and one feature or more, ridge above 0, exploration of "
                "0 or more"
            )
        self.exploration = exploration
        self.products = np.stack([ridge * np.eye(n_features)] * n_outputs)
        self.sums = np.zeros((n_outputs, n_features))

    def estimates(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Expected grade of every output for an input, and its standard error.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        grades, errors : ndarray of shape (n_outputs,)
        """
        x = np.asarray(x, dtype=np.float64)
        solved = np.linalg.solve(self.products, np.broadcast_to(x[:, None], (*self.sums.shape, 1)))
        solved = solved[:, :, 0]
        return (solved * self.sums).sum(axis=1), np.sqrt(np.maximum(solved @ x, 0.0))

    def choose(self, x: Any) -> int:
        """The output to try for an input.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        output : int
        """
        grades, errors = self.estimates(x)
        return int(np.argmax(grades + self.exploration * errors))

    def learn(self, example: Graded) -> None:
        """Learn from the grade of the output that was tried.

        Parameters
        ----------
        example : Graded
        """
        x = np.asarray(example.input, dtype=np.float64)
        if not np.isfinite(example.grade):
            raise DataError(f"the grade {example.grade} is not finite; leave such examples out")
        self.products[example.output] += np.outer(x, x)
        self.sums[example.output] += example.grade * x


def play(bandit: LinearBandit, inputs: Any, grades: Any) -> tuple[list[Graded], np.ndarray]:
    """Let a bandit choose for every input of a table in which all grades are known.

    Parameters
    ----------
    bandit : LinearBandit
    inputs : array-like of shape (n, n_features)
    grades : array-like of shape (n, n_outputs)
        The bandit gets the grade of its choice only.

    Returns
    -------
    examples : list of Graded
    regret : ndarray of shape (n,)
        Best grade minus the grade that it got, added up so far.
    """
    inputs, grades = np.asarray(inputs, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    examples, lost = [], np.empty(len(inputs))
    for i, x in enumerate(inputs):
        output = bandit.choose(x)
        example = Graded(x, output, float(grades[i, output]))
        bandit.learn(example)
        examples.append(example)
        lost[i] = grades[i].max() - example.grade
    return examples, np.cumsum(lost)


@dataclass
class FeedbackScorer:
    """Scores cases, and learns from the corrections of experts.

    It starts from all columns of the cases whose outcome is known; ``correct`` adds cases with the
    label that an expert gave and fits again. ``agreement`` is the share of corrected cases, batch
    by batch, in which the expert agreed with the score before. Texts: 004 1.3 (scores of leads).

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``, of two classes.
    correction_weight : float, default=3.0
        Weight of a corrected case against one of the start.

    Examples
    --------
    >>> from gnomon.linear import LogisticRegression
    >>> scorer = FeedbackScorer(LogisticRegression()).start([[0.0], [1.0]], [0, 1])
    >>> scorer.correct([[2.0], [0.1]], [1, 0]).agreement
    [1.0]
    """

    estimator: Any
    correction_weight: float = 3.0
    agreement: list[float] = field(default_factory=list)

    def start(self, X: Any, y: Any) -> FeedbackScorer:
        """Learn from the first cases.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)

        Returns
        -------
        self : FeedbackScorer
        """
        self._rows, self._labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        self._weights = np.ones(len(self._labels))
        return self._refit()

    def _refit(self) -> FeedbackScorer:
        if len(np.unique(self._labels)) != 2:
            raise DataError(
                f"scores need two classes, and the labels have {len(np.unique(self._labels))}"
            )
        model = clone(self.estimator)
        self.model = model.fit(self._rows, self._labels, sample_weight=self._weights)
        return self

    def scores(self, X: Any) -> np.ndarray:
        """Probability of the second class of every case.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        scores : ndarray of shape (n,)
        """
        return np.asarray(self.model.predict_proba(np.asarray(X, dtype=np.float64)))[:, 1]

    def correct(self, X: Any, y: Iterable[Any]) -> FeedbackScorer:
        """Learn from cases with the labels that experts gave.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : iterable of labels

        Returns
        -------
        self : FeedbackScorer
        """
        rows, labels = np.asarray(X, dtype=np.float64), np.asarray(list(y))
        unknown = labels[~np.isin(labels, self.model.classes_)]
        if len(unknown):
            raise DataError(
                f"a correction has the label {unknown[0]!r}; labels are "
                f"{', '.join(map(repr, self.model.classes_.tolist()))}"
            )
        self.agreement.append(float((self.model.predict(rows) == labels).mean()))
        self._rows = np.concatenate([self._rows, rows])
        self._labels = np.concatenate([self._labels, labels])
        more = np.full(len(labels), self.correction_weight)
        self._weights = np.concatenate([self._weights, more])
        return self._refit()
