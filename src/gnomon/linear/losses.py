"""Losses of linear models as functions of the linear predictor: value, slope and curvature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.engine.products import inner


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
    """
    slope, probabilities = np.empty_like(predictor), np.empty_like(predictor)
    loss, wrong = logistic_terms(predictor[0], y, weights, slope[0], probabilities[0])
    return Terms(loss, slope, probabilities, wrong)


def softmax_loss(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Terms:
    """Weighted sum of -log softmax(f)_y. Texts: 000 11.3.2, 001 6 (W is d x K, not d x n)."""
    slope, probabilities = np.empty_like(predictor), np.empty_like(predictor)
    loss, wrong = softmax_terms(predictor, y, weights, slope, probabilities)
    return Terms(loss, slope, probabilities, wrong)


@kernel("f8[:]", "i8[:]", "f8[:]", "out f8[:]", "out f8[:]")
def logistic_terms(predictor, y, weights, slope, probabilities):
    """Loss and count of rows that are not on the right side; all arrays (n,).

    Written so that neither tail overflows or loses digits. Logarithms of 1 + exp(-|f|) are taken
    of products of many rows' factors.
    """
    loss, product, wrong = 0.0, 1.0, 0
    for i in range(len(predictor)):
        f, weight = predictor[i], weights[i]
        margin = f if y[i] == 1 else -f
        small = np.exp(-abs(f))
        probability = (1.0 if f >= 0.0 else small) / (1.0 + small)
        probabilities[i] = probability
        slope[i] = weight * (probability - y[i])
        if weight != 1.0 or not small > 1e-8:
            loss += weight * np.log1p(small)
        else:
            product *= 1.0 + small
            if product > 1e250:
                loss += np.log(product)
                product = 1.0
        if margin <= 0.0:
            loss -= weight * margin
            wrong += weight > 0.0
    return loss + np.log(product), wrong


@kernel("f8[:,:]", "i8[:]", "f8[:]", "out f8[:,:]", "out f8[:,:]")
def softmax_terms(predictor, y, weights, slope, probabilities):
    """Loss and count of rows whose class has not the largest predictor alone.

    predictor, slope, probabilities (k, n); y, weights (n,).
    """
    k, n = predictor.shape
    loss, wrong = 0.0, 0
    for i in range(n):
        top = predictor[0, i]
        for c in range(1, k):
            top = max(top, predictor[c, i])
        own, weight = y[i], weights[i]
        total, ties = 0.0, 0
        for c in range(k):
            shifted = predictor[c, i] - top
            ties += shifted == 0.0
            probabilities[c, i] = np.exp(shifted)
            total += probabilities[c, i]
        reached = predictor[own, i] - top
        wrong += weight > 0.0 and (reached < 0.0 or ties > 1)
        loss += weight * (np.log(total) - reached)
        for c in range(k):
            probabilities[c, i] /= total
            slope[c, i] = weight * probabilities[c, i]
        slope[own, i] -= weight
    return loss, wrong


def curvature(design: np.ndarray, probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Second derivative by the coefficients, shape (K q, K q); design (n, q), probabilities (K, n).

    Blocks are X' diag(w p_k (1 - p_k)) X and -X' diag(w p_k p_l) X; over all classes of a softmax
    a row of blocks adds up to zero, which saves the diagonal ones.
    """
    if len(probabilities) == 1:
        p = probabilities[0]
        scaled = design * np.sqrt(weights * p * (1 - p))[:, None]
        return inner(scaled, scaled)
    k, q = len(probabilities), design.shape[1]
    blocks = np.zeros((k, q, k, q))
    for one in range(k):
        for other in range(one):
            root = np.sqrt(weights * probabilities[one] * probabilities[other])
            scaled = design * root[:, None]
            block = inner(scaled, scaled)
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
