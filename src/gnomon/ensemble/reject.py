"""Rejection: accuracy against the share of rows that are left unanswered, and committees' rules for
it.

Rows are rejected in order of doubt; accuracy on the accepted rows then rises along the curve. A
committee accepts a row on unanimity, on a qualified majority, or when the mean probability of the
top class is high enough and far enough above the second. Between two rules, mixing them at random
reaches every point of the straight line.

Texts: 004 11.7.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from gnomon.evaluate.ranking import RejectionCurve, rejection_curve


def accuracy_rejection_curve(confidence, right, sample_weight=None) -> RejectionCurve:
    """Former name of `gnomon.evaluate.rejection_curve`, which takes labels and predictions.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        For instance the greatest probability.
    right : array-like of bool of shape (n,)
        Whether the prediction is right.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    curve : RejectionCurve
    """
    warnings.warn(
        "accuracy_rejection_curve is now gnomon.evaluate.rejection_curve; it will be removed",
        FutureWarning,
        stacklevel=2,
    )
    right = np.asarray(right, dtype=int)
    return rejection_curve(np.ones_like(right), right, confidence, sample_weight=sample_weight)


class Verdict(NamedTuple):
    """What a committee decides.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The winner of each row, accepted or not.
    accepted : ndarray of bool of shape (n,)
    """

    labels: np.ndarray
    accepted: np.ndarray

    @property
    def rejection_rate(self) -> float:
        return float(1.0 - self.accepted.mean())

    def accuracy(self, y) -> float:
        """Share of right labels among the accepted rows; NaN where none is accepted."""
        right = self.labels == np.asarray(y)
        return float(right[self.accepted].mean()) if self.accepted.any() else float("nan")


def qualified_majority(votes, share: float) -> Verdict:
    """Accept a row when at least a share of the committee votes for the winner.

    Parameters
    ----------
    votes : array-like of shape (n, n_members)
        The label that each member names; of equal numbers the label that sorts first wins.
    share : float
        More than none and at most all: 1 asks for unanimity.

    Returns
    -------
    verdict : Verdict

    Examples
    --------
    >>> qualified_majority([["a", "a", "b"], ["a", "b", "c"]], 2 / 3).accepted.tolist()
    [True, False]
    """
    votes = np.asarray(votes)
    if votes.ndim != 2 or not 0 < share <= 1:
        raise ValueError("votes must be a table of rows and members, and 0 < share <= 1")
    labels, codes = np.unique(votes, return_inverse=True)
    codes = codes.reshape(votes.shape)
    counts = (codes[:, :, None] == np.arange(len(labels))).sum(axis=1)
    winner = counts.argmax(axis=1)
    enough = counts.max(axis=1) >= share * votes.shape[1] * (1 - 1e-12)
    return Verdict(labels[winner], enough)


def unanimity(votes) -> Verdict:
    """Accept a row when all members name the same label.

    Parameters
    ----------
    votes : array-like of shape (n, n_members)

    Returns
    -------
    verdict : Verdict

    Examples
    --------
    >>> unanimity([[1, 1], [0, 1]]).accepted.tolist()
    [True, False]
    """
    return qualified_majority(votes, 1.0)


def two_thresholds(proba, top: float, gap: float = 0.0, classes=None) -> Verdict:
    """Accept a row when its best class is probable enough and far enough ahead of the second.

    Parameters
    ----------
    proba : array-like of shape (n, n_classes) or (n_members, n, n_classes)
        Probabilities; those of several members are averaged.
    top : float
        Least probability of the best class.
    gap : float, default=0.0
        Least distance to the second.
    classes : array-like of shape (n_classes,), optional
        Names of the classes; their places where left out.

    Returns
    -------
    verdict : Verdict

    Examples
    --------
    >>> two_thresholds([[0.5, 0.4, 0.1], [0.7, 0.2, 0.1]], 0.5, 0.2).accepted.tolist()
    [False, True]
    """
    proba = np.asarray(proba, dtype=np.float64)
    if proba.ndim == 3:
        proba = proba.mean(axis=0)
    classes = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
    ordered = np.sort(proba, axis=1)
    second = ordered[:, -2] if proba.shape[1] > 1 else np.zeros(len(proba))
    accepted = (ordered[:, -1] >= top) & (ordered[:, -1] - second >= gap)
    return Verdict(classes[proba.argmax(axis=1)], accepted)


def probabilistic_team(verdicts, probabilities, random_state=None) -> Verdict:
    """Use one of several rules at random for each row, to reach points between theirs.

    Parameters
    ----------
    verdicts : list of Verdict
        What each rule, or team, decides on the same rows.
    probabilities : array-like
        How often each is used.
    random_state : int or Generator, optional

    Returns
    -------
    verdict : Verdict

    Examples
    --------
    >>> strict, lax = unanimity([[1, 1], [0, 1]]), qualified_majority([[1, 1], [0, 1]], 0.5)
    >>> probabilistic_team([strict, lax], [0.0, 1.0]).accepted.tolist()
    [True, True]
    """
    shares = np.asarray(probabilities, dtype=np.float64)
    if shares.shape != (len(verdicts),) or (shares < 0).any() or not shares.sum() > 0:
        raise ValueError("probabilities must hold one number that is zero or more per verdict")
    rng = np.random.default_rng(random_state)
    n = len(verdicts[0].labels)
    chosen = rng.choice(len(verdicts), size=n, p=shares / shares.sum())
    labels = np.array([verdicts[c].labels[i] for i, c in enumerate(chosen)])
    accepted = np.array([verdicts[c].accepted[i] for i, c in enumerate(chosen)], dtype=bool)
    return Verdict(labels, accepted)
