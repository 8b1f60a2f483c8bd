"""Value of information: what it is worth to know something before deciding.

    value = E[ max_a E[U(a, state) | signal] ] - max_a E[U(a, state)]

0 <= value of a signal <= value of knowing the state itself. A test is worth buying where its value
exceeds its price. Features have the same kind of value for a task: gain(A), gain(B) and
gain(A and B) tell whether B adds anything to A.

Texts: 003 2.1.1, 3.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv, cross_val_predict

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.decide.expected_utility import as_probabilities
from gnomon.engine.errors import DataError


def value_of_perfect_information(prior: ArrayLike, utilities: ArrayLike) -> float:
    """What it is worth to know the state before acting.

    Parameters
    ----------
    prior : array-like of shape (n_states,)
        Probability of each state.
    utilities : array-like of shape (n_actions, n_states)

    Returns
    -------
    value : float

    Examples
    --------
    >>> from gnomon.decide import value_of_perfect_information
    >>> round(value_of_perfect_information([0.58, 0.42], [[8, 0], [0, 8]]), 6)
    3.36
    """
    prior, utilities = _problem(prior, utilities)
    return value_of_sample_information(prior, utilities, np.eye(len(prior)))


def value_of_sample_information(
    prior: ArrayLike, utilities: ArrayLike, likelihood: ArrayLike
) -> float:
    """What it is worth to see a signal of the state before acting.

    Parameters
    ----------
    prior : array-like of shape (n_states,)
        Probability of each state.
    utilities : array-like of shape (n_actions, n_states)
    likelihood : array-like of shape (n_states, n_signals)
        Probability of each signal, given the state.

    Returns
    -------
    value : float

    Examples
    --------
    >>> from gnomon.decide import value_of_sample_information
    >>> test = [[0.9, 0.1], [0.2, 0.8]]
    >>> round(value_of_sample_information([0.5, 0.5], [[10, -10], [0, 0]], test), 6)
    3.5
    """
    prior, utilities = _problem(prior, utilities)
    given = as_probabilities(likelihood, "the probabilities of signals given a state")
    if given.ndim != 2 or len(given) != len(prior):
        raise DataError(f"likelihood must have a row for each of {len(prior)} states")
    joint = prior[:, None] * given  # (state, signal)
    with_it = (utilities @ joint).max(axis=0).sum()
    return max(float(with_it - (utilities @ prior).max()), 0.0)


def _problem(prior: ArrayLike, utilities: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    prior = as_probabilities(prior, "the probabilities of states")
    utilities = np.asarray(utilities, dtype=np.float64)
    if utilities.ndim != 2 or utilities.shape[1] != len(prior):
        raise DataError(f"utilities must have a column for each of {len(prior)} states")
    if not np.isfinite(utilities).all():
        raise DataError("utilities must be finite")
    return prior, utilities


@dataclass(repr=False)
class TestValue(Result):
    """What a test before deciding is worth.

    Attributes
    ----------
    value : float
        The most that should be paid for it: its break-even price.
    price : float
    with_test, without_test : float
        Expected utility of the best policy, the price counted.
    """

    __test__ = False  # not a test of pytest's

    value: float
    price: float
    with_test: float
    without_test: float

    @property
    def buy(self) -> bool:
        """Whether the test is worth its price."""
        return self.value > self.price

    def _title(self) -> str:
        verb = "Buy" if self.buy else "Do not buy"
        return f"{verb} the test: it is worth {self.value:.6g} and costs {self.price:.6g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "policy": ["test first", "decide now"],
            "expected utility": [self.with_test, self.without_test],
        }


def value_of_test(
    prior: ArrayLike,
    utilities: ArrayLike,
    *,
    price: float = 0.0,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    likelihood: ArrayLike | None = None,
) -> TestValue:
    """Whether to pay for a test before deciding.

    Parameters
    ----------
    prior : array-like of shape (n_states,) or float
        Probability of each state; a number is that of the first of two states.
    utilities : array-like of shape (n_actions, n_states)
    price : float, default=0.0
    sensitivity, specificity : float, default=1.0
        Of two states: the probability of a right answer in the first and in the second state.
    likelihood : array-like of shape (n_states, n_signals), default=None
        Probability of each answer given the state, instead of the two rates.

    Returns
    -------
    value : TestValue

    Examples
    --------
    >>> from gnomon.decide import value_of_test
    >>> value_of_test(0.63215, [[4.0, -6.0], [0.0, 0.0]], price=2.5).buy
    False
    """
    if np.ndim(prior) == 0:
        prior = [float(prior), 1.0 - float(prior)]  # type: ignore[arg-type]
    if likelihood is None:
        if len(np.asarray(prior)) != 2:
            raise DataError("of more than two states, give likelihood instead of rates")
        likelihood = [[sensitivity, 1 - sensitivity], [1 - specificity, specificity]]
    shares, table = _problem(prior, utilities)
    value = value_of_sample_information(shares, table, likelihood)
    without = float((table @ shares).max())
    return TestValue(value, float(price), without + value - price, without)


@dataclass(repr=False)
class FeatureValues(Result):
    """What sets of features are worth for a task.

    Attributes
    ----------
    names : list of str
    gains : list of Estimate
        Utility per row over the best decision without features.
    beyond : list of Estimate or None
        Gain of a union over the better of its parts, from the same rows; None for single sets.
    baseline : float
        Utility per row of the best decision without features.
    """

    names: list[str]
    gains: list[Estimate]
    beyond: list[Estimate | None]
    baseline: float

    def _title(self) -> str:
        return f"Gain over deciding without features ({self.baseline:.4g} per row)"

    def _columns(self) -> dict[str, list[Any]]:
        return {"features": self.names, "gain": self.gains, "beyond its best part": self.beyond}

    def _remarks(self) -> list[str]:
        return [
            "Out-of-fold predictions of the same folds; intervals take rows as independent.",
        ]


def value_of_features(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sets: Mapping[str, Sequence[Any]],
    *,
    utilities: ArrayLike | None = None,
    cv: Any = 5,
    confidence_level: float = 0.95,
) -> FeatureValues:
    """What sets of features are worth for a classification task, alone and together.

    Parameters
    ----------
    estimator : classifier
    X : array-like or pandas.DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sets : mapping of str to list of columns
        Places (or names, of a data frame). Every set alone and, of two sets, their union.
    utilities : array-like of shape (n_decisions, n_classes), default=None
        Utility of deciding for a class where another is true, classes in sorted order; 1 where the
        class is right and else 0, so that the gain is in accuracy, where left out.
    cv : int or splitter, default=5
    confidence_level : float, default=0.95

    Returns
    -------
    values : FeatureValues
    """
    if not is_classifier(estimator):
        raise DataError("estimator must be a classifier")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    table = np.eye(len(classes)) if utilities is None else np.asarray(utilities, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise DataError(f"utilities must have a column for each of {len(classes)} classes")
    folds = list(check_cv(cv, y, classifier=True).split(np.zeros(len(codes)), codes))
    chosen = {str(name): list(columns) for name, columns in sets.items()}
    names = list(chosen)
    unions = {
        f"{a} and {b}": ((a, b), list(dict.fromkeys([*chosen[a], *chosen[b]])))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    }
    constant = int((table @ np.bincount(codes, minlength=len(classes))).argmax())
    base = table[constant, codes]

    def per_row(columns: list[Any]) -> np.ndarray:
        rows = X[columns] if hasattr(X, "columns") else np.asarray(X)[:, columns]
        proba = cross_val_predict(clone(estimator), rows, codes, cv=folds, method="predict_proba")
        return table[(proba @ table.T).argmax(axis=1), codes]

    found = {name: per_row(columns) for name, columns in chosen.items()}
    gains = [mean_interval(found[name] - base, confidence_level=confidence_level) for name in names]
    beyond: list[Estimate | None] = [None] * len(names)
    for name, (parts, columns) in unions.items():
        together = per_row(columns)
        best = max(parts, key=lambda part: found[part].mean())
        names.append(name)
        gains.append(mean_interval(together - base, confidence_level=confidence_level))
        beyond.append(mean_interval(together - found[best], confidence_level=confidence_level))
    return FeatureValues(names, gains, beyond, float(base.mean()))
