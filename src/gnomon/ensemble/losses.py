"""Losses of additive models: value, first and second derivative in the score F, best constant.

Numbers have y as they are. Two classes have y = +1 or -1; several classes have y as unit vectors
and one score per class. Scores have shape (n, n_outputs), with one output but for several classes.

Texts: 000b 12.2.1 · 001 13.4, 13.6 (Huber with a threshold set anew each round) · 004 11.6.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp, softmax

from gnomon.engine.storable import storable
from gnomon.engine.stored import Number
from gnomon.evaluate.baseline import weighted_median
from gnomon.optimize import losses
from gnomon.optimize.losses import ScoreLoss

SMALLEST_SHARE = 1e-12  # keeps logs and Newton's steps finite; far below any share of rows


class Loss:
    """Base of losses; write your own by giving `value` and `gradient` (and `curvature` for Newton).

    All functions are of the targets y (n, n_outputs) and scores (n, n_outputs).
    """

    classes = False

    def value(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Loss per row: (n,)."""
        raise NotImplementedError

    def gradient(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """First derivative: (n, n_outputs)."""
        raise NotImplementedError

    def curvature(self, y: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Second derivative: (n, n_outputs)."""
        raise ValueError(
            f"{type(self).__name__} has no second derivative; use direction='gradient' and "
            "step='search'"
        )

    def start(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The best constant score: (n_outputs,)."""
        return np.zeros(y.shape[1])

    def tuned(self, y: np.ndarray, score: np.ndarray, weights: np.ndarray) -> Loss:
        """The loss of this round."""
        return self

    def answer(self, score: np.ndarray) -> np.ndarray:
        """Estimates (n,) or probabilities (n, n_classes) from scores."""
        return score[:, 0]


class OneScore(Loss):
    """A loss of one score by the formulas of `gnomon.optimize.losses`."""

    _formulas: ScoreLoss
    _least = SMALLEST_SHARE  # of a curvature that Newton's step divides by

    def value(self, y, score):
        return self._formulas.value(y[:, 0], score[:, 0])

    def gradient(self, y, score):
        return self._formulas.gradient(y, score)

    def curvature(self, y, score):
        if self._formulas.curvature is None:
            return super().curvature(y, score)
        return np.maximum(self._formulas.curvature(y, score), self._least)


@storable
class Squared(OneScore):
    """Half the squared error: 1/2 (y - F)^2."""

    _formulas = losses.SQUARED
    _stored = {}

    def start(self, y, weights):
        return weights @ y / weights.sum()


@storable
class Absolute(OneScore):
    """Absolute error: |y - F|."""

    _formulas = losses.ABSOLUTE
    _stored = {}

    def start(self, y, weights):
        return np.array([weighted_median(y[:, 0], weights)])


@storable
class Huber(OneScore):
    """Squared up to a threshold, absolute beyond: r^2 / 2 or delta (|r| - delta / 2).

    Parameters
    ----------
    quantile : float
        The threshold of a round is this quantile of the absolute residuals.
    """

    _stored = {
        "delta": Number(finite=False),
        "quantile": Number(),
    }

    def __init__(self, quantile: float = 0.9, delta: float = np.inf):
        self.quantile = quantile
        self.delta = delta

    @property
    def _formulas(self) -> ScoreLoss:  # type: ignore[override]
        return losses.huber(self.delta)

    def tuned(self, y, score, weights):
        residuals = np.abs(y[:, 0] - score[:, 0])
        order = np.argsort(residuals, kind="stable")
        line = np.cumsum(weights[order])
        place = np.searchsorted(line, self.quantile * line[-1] * (1 - 1e-12))
        delta = float(residuals[order[min(place, len(order) - 1)]])
        return Huber(self.quantile, delta if delta > 0 else np.inf)

    def start(self, y, weights):
        return np.array([weighted_median(y[:, 0], weights)])


@storable
class Poisson(OneScore):
    """Poisson deviance of counts with mean exp(F): exp(F) - y F, up to a constant."""

    _formulas = losses.POISSON
    _least = 0.0
    _stored = {}

    def start(self, y, weights):
        if (y < 0).any():
            raise ValueError("loss='poisson' takes counts, and y holds numbers below zero")
        mean = float(weights @ y[:, 0] / weights.sum())
        return np.array([np.log(max(mean, SMALLEST_SHARE))])

    def answer(self, score):
        return losses.steep(score[:, 0])


@storable
class Deviance(OneScore):
    """Binomial deviance of two classes: log(1 + exp(-y F)); F is the log-odds."""

    classes = True
    _formulas = losses.LOGISTIC
    _stored = {}

    def start(self, y, weights):
        share = float(weights[y[:, 0] > 0].sum() / weights.sum())
        share = min(max(share, SMALLEST_SHARE), 1 - SMALLEST_SHARE)
        return np.array([np.log(share / (1 - share))])

    def answer(self, score):
        p = expit(score[:, 0])
        return np.column_stack([1 - p, p])


@storable
class Exponential(OneScore):
    """Exponential loss of two classes: exp(-y F); F is half the log-odds."""

    classes = True
    _formulas = losses.EXPONENTIAL
    _stored = {}

    def start(self, y, weights):
        return 0.5 * Deviance().start(y, weights)

    def answer(self, score):
        return Deviance().answer(2 * score)


@storable
class Multinomial(Loss):
    """Deviance of several classes: -sum_k y_k log p_k with p = softmax(F)."""

    classes = True
    _stored = {}

    def value(self, y, score):
        return logsumexp(score, axis=1) - (y * score).sum(axis=1)

    def gradient(self, y, score):
        return softmax(score, axis=1) - y

    def curvature(self, y, score):
        p = softmax(score, axis=1)
        return np.maximum(p * (1 - p), SMALLEST_SHARE)

    def start(self, y, weights):
        shares = weights @ y / weights.sum()
        logs = np.log(np.maximum(shares, SMALLEST_SHARE))
        return logs - logs.mean()

    def answer(self, score):
        return softmax(score, axis=1)


NUMBER_LOSSES = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "poisson": Poisson,
}
CLASS_LOSSES = {"deviance": Deviance, "exponential": Exponential}
