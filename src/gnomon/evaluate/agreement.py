"""Agreement: of two labellings of the same items, of the errors of two classifiers, of vectors.

Texts: 000a 7.2 (smoothed cosine) · 000c 18.1.1 (double labelling), ex. 18.4 (conditional errors).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate, mean_interval, share_interval, student_quantile
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.evaluate.class_measures import cohen_kappa
from gnomon.evaluate.intake import label_column, label_pair, number_pair, same_length


@dataclass(repr=False)
class LabelAgreement(Result):
    """How far two labellings of the same items agree.

    Attributes
    ----------
    agreement : Estimate
        Share of items that both label alike.
    kappa : Estimate
        Agreement beyond chance (`cohen_kappa`).
    disputed : ndarray of int
        Positions of the items that they label differently.
    first, second : ndarray
        The labels of the disputed items.
    """

    agreement: Estimate
    kappa: Estimate
    disputed: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def _title(self) -> str:
        return (
            f"Agreement {self.agreement}, kappa {self.kappa}; {len(self.disputed):,} items in "
            "dispute"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "item": self.disputed.tolist(),
            "first": self.first.tolist(),
            "second": self.second.tolist(),
        }


def label_agreement(first: Any, second: Any, confidence_level: float = 0.95) -> LabelAgreement:
    """Compare two independent labellings of the same items, and list those in dispute.

    Label some items twice before learning from the labels: no learner can be judged more finely
    than its labels agree.

    Parameters
    ----------
    first, second : array-like of shape (n,)
    confidence_level : float, default=0.95

    Returns
    -------
    agreement : LabelAgreement

    Examples
    --------
    >>> found = label_agreement(list("aabb"), list("aaba"))
    >>> found.agreement.value, found.disputed.tolist()
    (0.75, [3])
    """
    first, second = label_pair(first, second)
    alike = first == second
    places = np.flatnonzero(~alike)
    return LabelAgreement(
        share_interval(int(alike.sum()), len(alike), confidence_level),
        cohen_kappa(first, second, confidence_level),
        places,
        first[places],
        second[places],
    )


@dataclass(repr=False)
class ErrorAgreement(Result):
    """Whether two classifiers err on the same items more than independent ones would.

    Attributes
    ----------
    right_given_right, right_given_wrong : float
        Share of items that A has right among those that B has right, and wrong.
    simulated_right, simulated_wrong : tuple of float
        Mean and standard deviation of the same shares for independent errors.
    p : float
        Two-sided, that independent errors of these rates give shares so far apart.
    alike_when_both_wrong : float or None
        Share of the items that both have wrong to which they give the same wrong label.
    """

    right_given_right: float
    right_given_wrong: float
    simulated_right: tuple[float, float]
    simulated_wrong: tuple[float, float]
    p: float
    alike_when_both_wrong: float | None

    def _title(self) -> str:
        return f"Errors compared with independent ones of the same rates: {p_text(self.p)}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "": ["A right, where B is right", "A right, where B is wrong"],
            "observed": [self.right_given_right, self.right_given_wrong],
            "independent": [self.simulated_right[0], self.simulated_wrong[0]],
            "sd": [self.simulated_right[1], self.simulated_wrong[1]],
        }


def error_agreement(
    y: Any, first: Any, second: Any, n_simulations: int = 1000, random_state: int = 0
) -> ErrorAgreement:
    """Compare the errors of two classifiers with those of independent ones (000c ex. 18.4).

    P(A right | B right) and P(A right | B wrong) are set beside simulated pairs of independent
    classifiers with the same numbers of errors. Classifiers that err together gain little from
    being combined.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    first, second : array-like of shape (n,)
        Predictions of A and B.
    n_simulations : int, default=1000
    random_state : int, default=0

    Returns
    -------
    found : ErrorAgreement

    Examples
    --------
    >>> y = [0, 1] * 50
    >>> wrong = [1 - label if i % 5 == 0 else label for i, label in enumerate(y)]
    >>> error_agreement(y, wrong, wrong).p < 0.01
    True
    """
    y, first = label_pair(y, first)
    _, second = label_pair(y, second)
    right = first == y
    other = second == y
    n_right, n_other, n = int(right.sum()), int(other.sum()), len(y)
    if n_other in (0, n):
        raise DataError("B is right everywhere or nowhere: there is nothing to condition on")
    rng = np.random.default_rng(random_state)
    # independent errors of the same rates: how many of B's right items A has right
    joint = rng.hypergeometric(n_right, n - n_right, n_other, n_simulations)
    given_right, given_wrong = joint / n_other, (n_right - joint) / (n - n_other)
    observed = int((right & other).sum())
    far = np.abs(joint - n_right * n_other / n) >= abs(observed - n_right * n_other / n) - 1e-9
    both = ~right & ~other
    alike = float((first[both] == second[both]).mean()) if both.any() else None
    return ErrorAgreement(
        observed / n_other,
        (n_right - observed) / (n - n_other),
        (float(given_right.mean()), float(given_right.std(ddof=1))),
        (float(given_wrong.mean()), float(given_wrong.std(ddof=1))),
        float((far.sum() + 1) / (n_simulations + 1)),
        alike,
    )


@dataclass(repr=False)
class CosineScore(Result):
    """Cosines of predicted and true vectors.

    Attributes
    ----------
    mean : Estimate
    cosines : ndarray of shape (n,)
        Per item, in the items' order.
    n_components : int
        Dimensions of the space in which they were compared.
    """

    mean: Estimate
    cosines: np.ndarray
    n_components: int

    @property
    def curve(self) -> np.ndarray:
        """The cosines, falling."""
        return np.sort(self.cosines)[::-1]

    def _title(self) -> str:
        return f"Cosine {self.mean} in {self.n_components} dimensions"

    def _columns(self) -> dict[str, list[Any]]:
        shares = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
        return {"quantile": shares, "cosine": np.quantile(self.cosines, shares).tolist()}


def smoothed_cosine(
    y_true: Any, y_pred: Any, training: Any, n_components: int = 150, confidence_level: float = 0.95
) -> CosineScore:
    """Mean cosine of predicted and true vectors after projection on few directions (000a 7.2).

    The directions are the leading right singular vectors of the training vectors, so that words
    that go together count as near. Fit them on training rows only.

    Parameters
    ----------
    y_true : array-like of shape (n, d)
        True vectors.
    y_pred : array-like of shape (n, d)
    training : array-like of shape (m, d)
        Training vectors that give the directions.
    n_components : int, default=150
        Directions; no more than the training vectors have.
    confidence_level : float, default=0.95

    Returns
    -------
    score : CosineScore

    Examples
    --------
    >>> rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> smoothed_cosine(rows, rows, rows, n_components=2).mean.value
    1.0
    """
    y_true, y_pred = number_pair(y_true, y_pred)
    training = np.asarray(training, dtype=np.float64)
    if y_true.ndim != 2 or training.ndim != 2 or training.shape[1] != y_true.shape[1]:
        raise DataError("y, predictions and training rows must be vectors of the same length")
    directions = np.linalg.svd(training, full_matrices=False)[2][:n_components]
    one, other = y_true @ directions.T, y_pred @ directions.T
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    if (lengths == 0).any():
        raise DataError(
            f"the vector of row {int((lengths == 0).argmax())} is zero after projection: it has "
            "no direction to compare; leave it out"
        )
    cosines = (one * other).sum(axis=1) / lengths
    return CosineScore(
        mean_interval(cosines, confidence_level=confidence_level), cosines, len(directions)
    )


def agreement_of_many(labels: Any, confidence_level: float = 0.95) -> Estimate:
    """Fleiss' kappa of several labellings of the same items, with its large-sample interval.

    Parameters
    ----------
    labels : array-like of shape (n_items, n_raters)
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> agreement_of_many([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"]]).value
    0.55
    """
    table = np.asarray(labels)
    if table.ndim != 2 or table.shape[1] < 2:
        raise DataError("give a table of items by raters, with two raters at least")
    flat = label_column(table.ravel(), "labels")
    same_length(flat, table.ravel())
    classes, codes = np.unique(flat, return_inverse=True)
    given = codes.reshape(table.shape)
    counts = np.stack([np.bincount(row, minlength=len(classes)) for row in given])
    m = table.shape[1]
    per_item = ((counts**2).sum(axis=1) - m) / (m * (m - 1))
    shares = counts.sum(axis=0) / counts.sum()
    expected = float((shares**2).sum())
    if expected == 1:
        raise DataError("all raters give one label only: agreement beyond chance is undefined")
    kappa = (float(per_item.mean()) - expected) / (1 - expected)
    # jackknife over items, as the shares depend on all of them
    n, least = len(counts), -1 / (m - 1)
    left = counts.sum(axis=0) - counts
    if ((left > 0).sum(axis=1) < 2).any():
        how = "without one of the items there is one label at most: no spread is known"
        return Estimate(kappa, least, 1.0, confidence_level, np.nan, how)
    rest = left / ((n - 1) * m)
    expected_rest = (rest**2).sum(axis=1)
    agreed_rest = (per_item.sum() - per_item) / (n - 1)
    without = (agreed_rest - expected_rest) / (1 - expected_rest)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    half = student_quantile(confidence_level, n - 1) * error
    low, high = max(kappa - half, least), min(kappa + half, 1.0)
    return Estimate(kappa, low, high, confidence_level, error, "jackknife")
