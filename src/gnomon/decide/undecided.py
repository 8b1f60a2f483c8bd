"""Leaving rows undecided, and breaking ties.

A row is answered only where the most probable class is probable enough: above 1/2 + T of two
classes, above 1 - c_reject / c_error by costs (Chow's rule), or far enough ahead of the second. A
band of a continuous output, 0.4 to 0.6 say, goes to a person. Where classes are equally probable, a
stated rule decides, not the order of columns by accident.

Texts: 004 3, 11.7 · 000c 16.1.1 (a silent default gave a very bad error).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.contract.result import Result
from gnomon.decide.costs import TIES
from gnomon.decide.expected_utility import as_probabilities
from gnomon.engine.errors import DataError
from gnomon.ensemble.reject import Verdict, two_thresholds

RULES = ("first", "random", "prior", "reject")


def reject_rule(
    proba: ArrayLike,
    *,
    margin: float | None = None,
    reject_cost: float | None = None,
    error_cost: float = 1.0,
    gap: float = 0.0,
    classes: ArrayLike | None = None,
) -> Verdict:
    """Answer only rows whose most probable class is probable enough.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
    margin : float, default=None
        T: of two classes, the probability must exceed 1/2 + T.
    reject_cost : float, default=None
        Chow's rule: with this cost of rejecting and ``error_cost`` of an error, the probability
        must be at least 1 - reject_cost / error_cost.
    error_cost : float, default=1.0
    gap : float, default=0.0
        Least distance to the second class.
    classes : array-like of shape (n_classes,), default=None

    Returns
    -------
    verdict : Verdict
        ``labels``, ``accepted``, ``rejection_rate`` and ``accuracy(y)``.

    Examples
    --------
    >>> from gnomon.decide import reject_rule
    >>> reject_rule([[0.55, 0.45], [0.9, 0.1]], margin=0.1).accepted.tolist()
    [False, True]
    >>> reject_rule([[0.55, 0.45], [0.9, 0.1]], reject_cost=0.2).accepted.tolist()
    [False, True]
    """
    table = as_probabilities(proba, "proba")
    if margin is not None and reject_cost is not None:
        raise DataError("give margin or reject_cost, not both")
    if margin is not None:
        if table.shape[-1] != 2 or not 0 <= margin <= 0.5:
            raise DataError("margin is of two classes and between 0 and 0.5")
        verdict = two_thresholds(table, 0.5 + margin, gap, classes)
        exceeds = table.max(axis=1) > 0.5 + margin
        return Verdict(verdict.labels, verdict.accepted & exceeds)
    if reject_cost is None:
        return two_thresholds(table, 0.0, gap, classes)
    if not 0 <= reject_cost <= error_cost or error_cost <= 0:
        raise DataError("0 <= reject_cost <= error_cost must hold, and error_cost > 0")
    return two_thresholds(table, 1 - reject_cost / error_cost, gap, classes)


@dataclass(repr=False)
class Band(Result):
    """Rows below, within and above a band of undecided outputs.

    Attributes
    ----------
    labels : ndarray of str of shape (n_samples,)
        "no", "undecided" or "yes".
    sent : Estimate
        Share of undecided rows.
    low, high : float
    """

    labels: np.ndarray
    sent: Estimate
    low: float
    high: float

    def _title(self) -> str:
        return f"Undecided from {self.low:g} to {self.high:g}: {self.sent} of the rows"

    def _columns(self) -> dict[str, list[Any]]:
        names = ["no", "undecided", "yes"]
        return {
            "answer": names,
            "rows": [int((self.labels == name).sum()) for name in names],
        }


def undecided_band(output: ArrayLike, low: float = 0.4, high: float = 0.6) -> Band:
    """Answers of a continuous output of a class, with a band that goes to a person.

    Parameters
    ----------
    output : array-like of shape (n_samples,)
        Probability of the class, or membership between 0 and 1.
    low, high : float
        The band, both ends undecided.

    Returns
    -------
    band : Band

    Examples
    --------
    >>> from gnomon.decide import undecided_band
    >>> undecided_band([0.1, 0.5, 0.9]).labels.tolist()
    ['no', 'undecided', 'yes']
    """
    values = np.asarray(output, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not ((values >= 0) & (values <= 1)).all():
        raise DataError("output must be a column of numbers between 0 and 1")
    if not 0 <= low <= high <= 1:
        raise DataError(f"0 <= low <= high <= 1 must hold; they are {low:g} and {high:g}")
    labels = np.where(values < low, "no", np.where(values > high, "yes", "undecided"))
    sent = share_interval(int((labels == "undecided").sum()), len(labels))
    return Band(labels, sent, low, high)


def break_ties(
    scores: ArrayLike,
    rule: str = "first",
    *,
    prior: ArrayLike | None = None,
    random_state: int | None = None,
    tol: float = TIES,
) -> np.ndarray:
    """The class of the greatest score per row, by a stated rule where several are equal.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_classes)
        Probabilities or votes.
    rule : {"first", "random", "prior", "reject"}, default="first"
        The first of the equal classes, a random one, the one of the greatest prior probability
        (then the first), or -1 for "undecided".
    prior : array-like of shape (n_classes,), default=None
        For rule "prior".
    random_state : int, default=None
        Seed for rule "random".
    tol : float, default=1e-12
        Scores that differ by less, relative to the greatest, are equal.

    Returns
    -------
    codes : ndarray of int of shape (n_samples,)

    Examples
    --------
    >>> from gnomon.decide import break_ties
    >>> votes = [[2, 2, 0], [1, 3, 0]]
    >>> break_ties(votes, "reject").tolist()
    [-1, 1]
    >>> break_ties(votes, "prior", prior=[0.1, 0.6, 0.3]).tolist()
    [1, 1]
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        raise DataError("scores must be finite, with a row per sample and a column per class")
    if rule not in RULES:
        raise DataError(f"rule is one of {', '.join(RULES)}, not {rule!r}")
    top = table.max(axis=1, keepdims=True)
    equal = table >= top - tol * np.abs(top)
    if rule == "reject":
        return np.where(equal.sum(axis=1) > 1, -1, equal.argmax(axis=1))
    if rule == "random":
        drawn = np.random.default_rng(random_state).random(table.shape)
        return np.where(equal, drawn, -1.0).argmax(axis=1)
    if rule == "prior":
        if prior is None or len(np.asarray(prior)) != table.shape[1]:
            raise DataError(f"rule 'prior' needs prior= of {table.shape[1]} classes")
        return np.where(equal, np.asarray(prior, dtype=np.float64), -np.inf).argmax(axis=1)
    return equal.argmax(axis=1)
