"""Losses of linear models as functions of the linear predictor: value, slope and curvature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Terms(NamedTuple):
    """A loss on a block of rows; equations are rows here, so that sums over classes are fast.

    Attributes
    ----------
    loss : float
        The weighted sum.
    slope : ndarray of shape (n_equations, n)
        Weighted derivative by the linear predictors.
    probabilities : ndarray of shape (n_equations, n)
    wrong : int
        Rows that are not on the right side of the boundary.
    """

    loss: float
    slope: np.ndarray
    probabilities: np.ndarray
    wrong: int


def logistic_loss(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Terms:
    """Weighted sum of log(1 + exp(-s f)) with s = +1 for class 1, -1 for class 0.

    Texts: 000 11.3.1, 001 5.2, 004 8.1 (whose printed formula has Pr(y = y_i) for Pr(y = 1)).
    Written so that neither tail overflows or loses digits.
    """
    f = predictor[0]
    small = np.exp(-np.abs(f))
    margin = np.where(y == 1, f, -f)
    losses = np.log1p(small) - np.minimum(margin, 0.0)
    probability = np.where(f >= 0, 1.0, small) / (1.0 + small)
    slope = weights * (probability - y)
    wrong = int(np.count_nonzero((margin <= 0) & (weights > 0)))
    return Terms(float(weights @ losses), slope[None], probability[None], wrong)


def softmax_loss(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Terms:
    """Weighted sum of -log softmax(f)_y. Texts: 000 11.3.2, 001 6 (W is d x K, not d x n)."""
    places = np.arange(len(y))
    shifted = predictor - predictor.max(axis=0)
    own = shifted[y, places]
    tied = np.count_nonzero(shifted == 0, axis=0) > 1
    wrong = int(np.count_nonzero(((own < 0) | tied) & (weights > 0)))
    probabilities = np.exp(shifted, out=shifted)
    totals = probabilities.sum(axis=0)
    losses = np.log(totals) - own
    probabilities /= totals
    slope = probabilities * weights
    slope[y, places] -= weights
    return Terms(float(weights @ losses), slope, probabilities, wrong)


def curvature(design: np.ndarray, probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Second derivative by the coefficients, shape (K q, K q); design (n, q), probabilities (K, n).

    Blocks are X' diag(w p_k (1 - p_k)) X and -X' diag(w p_k p_l) X; over all classes of a softmax
    a row of blocks adds up to zero, which saves the diagonal ones.
    """
    if len(probabilities) == 1:
        p = probabilities[0]
        scaled = design * np.sqrt(weights * p * (1 - p))[:, None]
        return scaled.T @ scaled
    k, q = len(probabilities), design.shape[1]
    blocks = np.zeros((k, q, k, q))
    for one in range(k):
        for other in range(one):
            root = np.sqrt(weights * probabilities[one] * probabilities[other])
            scaled = design * root[:, None]
            block = scaled.T @ scaled
            blocks[one, :, other] = blocks[other, :, one] = -block
            blocks[one, :, one] += block
            blocks[other, :, other] += block
    return blocks.reshape(k * q, k * q)


def softmax(predictor: np.ndarray) -> np.ndarray:
    """Probabilities of shape (n, K) from linear predictors of the same shape."""
    shifted = predictor - predictor.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    return shifted / shifted.sum(axis=1, keepdims=True)


def logistic(predictor: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-f)), exact in both tails."""
    small = np.exp(-np.abs(predictor))
    return np.where(predictor >= 0, 1.0, small) / (1.0 + small)
