"""Losses of a target y and a score F: value, first and second derivative in the score.

All functions work cell by cell on arrays of one shape. y is a number, a count (`POISSON`), +1 or -1
(`LOGISTIC`, `EXPONENTIAL`, `HINGE`, `SQUARED_HINGE`), or between 0 and 1 (`LOG_LOSS`). Risks,
additive models, penalized models and the histories of stochastic gradient descent stand on these
formulas; boosted trees compute the same derivatives of all rows at once, into arrays that are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

STEEPEST = 500.0  # an exponent beyond it is cut, so that sums of exponentials stay finite

Formula = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ScoreLoss(NamedTuple):
    """A loss and its derivatives, each a function of targets and scores.

    Attributes
    ----------
    value, gradient : callable
    curvature : callable or None
        None where there is no second derivative to step by.
    """

    value: Formula
    gradient: Formula
    curvature: Formula | None = None


def huber(delta: float) -> ScoreLoss:
    """r^2 / 2 up to delta, delta (abs(r) - delta / 2) beyond.

    Parameters
    ----------
    delta : float
        May be infinite.

    Returns
    -------
    loss : ScoreLoss
    """

    def value(y: np.ndarray, score: np.ndarray) -> np.ndarray:
        r = np.abs(y - score)
        inside = np.minimum(r, delta)
        return inside * (r - 0.5 * inside)

    return ScoreLoss(
        value,
        lambda y, score: np.clip(score - y, -delta, delta),
        lambda y, score: (np.abs(score - y) <= delta).astype(np.float64),
    )


def steep(exponent: np.ndarray) -> np.ndarray:
    """The exponential, of an exponent that is cut at `STEEPEST` on both sides."""
    return np.exp(np.clip(exponent, -STEEPEST, STEEPEST))


SQUARED = ScoreLoss(
    lambda y, score: 0.5 * (y - score) ** 2,
    lambda y, score: score - y,
    lambda y, score: np.ones_like(score),
)
ABSOLUTE = ScoreLoss(lambda y, score: np.abs(y - score), lambda y, score: np.sign(score - y))
POISSON = ScoreLoss(
    lambda y, score: steep(score) - y * score,
    lambda y, score: steep(score) - y,
    lambda y, score: steep(score),
)
LOGISTIC = ScoreLoss(
    lambda y, score: np.logaddexp(0.0, -y * score),
    lambda y, score: -y * expit(-y * score),
    lambda y, score: expit(score) * expit(-score),
)
LOG_LOSS = ScoreLoss(
    lambda y, score: np.logaddexp(0.0, score) - y * score,
    lambda y, score: expit(score) - y,
    LOGISTIC.curvature,
)
EXPONENTIAL = ScoreLoss(
    lambda y, score: steep(-y * score),
    lambda y, score: -y * steep(-y * score),
    lambda y, score: steep(-y * score),
)
HINGE = ScoreLoss(
    lambda y, score: np.maximum(0.0, 1 - y * score),
    lambda y, score: np.where(y * score < 1, -y, 0.0),
    lambda y, score: np.zeros_like(score),
)
SQUARED_HINGE = ScoreLoss(
    lambda y, score: np.maximum(0.0, 1 - y * score) ** 2,
    lambda y, score: -2 * y * np.maximum(0.0, 1 - y * score),
    lambda y, score: np.where(y * score < 1, 2.0, 0.0),
)


def logistic(score: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-F)), exact in both tails."""
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1.0, small) / (1.0 + small)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities of shape (n, K) in proportion to exp(F), of scores of the same shape."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    return shifted / shifted.sum(axis=1, keepdims=True)
