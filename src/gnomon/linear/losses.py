"""Losses of linear models as functions of the linear predictor: value, slope and curvature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.engine.products import inner
from gnomon.linear.design import Design


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
    classes : ndarray of shape (n_classes,)
        Weight of each class.
    """

    loss: float
    slope: np.ndarray
    probabilities: np.ndarray
    wrong: int
    classes: np.ndarray


def logistic_loss(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Terms:
    """Weighted sum of log(1 + exp(-s f)) with s = +1 for class 1, -1 for class 0.

    Texts: 000 11.3.1, 001 5.2, 004 8.1 (whose printed formula has Pr(y = y_i) for Pr(y = 1)).
    """
    slope, probabilities, classes = np.empty_like(predictor), np.abs(predictor), np.zeros(2)
    np.exp(np.negative(probabilities, out=probabilities), out=probabilities)  # many at a time
    loss, wrong = logistic_terms(predictor[0], y, weights, slope[0], probabilities[0], classes)
    return Terms(loss, slope, probabilities, wrong, classes)


def softmax_loss(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Terms:
    """Weighted sum of -log softmax(f)_y. Texts: 000 11.3.2, 001 6 (W is d x K, not d x n)."""
    shifted = predictor - predictor.max(axis=0)
    slope, probabilities = np.empty_like(predictor), np.exp(shifted)
    loss, wrong = softmax_terms(shifted, y, weights, slope, probabilities)
    classes = np.bincount(y, weights, minlength=len(predictor))
    return Terms(loss, slope, probabilities, wrong, classes)


@kernel("f8[:]", "i8[:]", "f8[:]", "out f8[:]", "out f8[:]", "out f8[:]")
def logistic_terms(predictor, y, weights, slope, probabilities, classes):
    """Loss and count of rows that are not on the right side; all arrays (n,), classes (2,).

    `probabilities` come as exp(-|f|) and are replaced by the probabilities of class 1. Written so
    that neither tail overflows or loses digits. Logarithms of 1 + exp(-|f|) are taken of products
    of the factors of many rows of one weight.
    """
    loss, product, held, wrong = 0.0, 1.0, 1.0, 0
    for i in range(len(predictor)):
        f, weight = predictor[i], weights[i]
        margin = f if y[i] == 1 else -f
        classes[y[i]] += weight
        small = probabilities[i]
        probability = (1.0 if f >= 0.0 else small) / (1.0 + small)
        probabilities[i] = probability
        slope[i] = weight * (probability - y[i])
        if not small > 1e-8:
            loss += weight * np.log1p(small)
        else:
            if weight != held or product > 1e250:
                loss += held * np.log(product)
                product, held = 1.0, weight
            product *= 1.0 + small
        if margin <= 0.0:
            loss -= weight * margin
            wrong += weight > 0.0
    return loss + held * np.log(product), wrong


@kernel("f8[:,:]", "i8[:]", "f8[:]", "out f8[:,:]", "out f8[:,:]")
def softmax_terms(shifted, y, weights, slope, probabilities):
    """Loss and count of rows whose class has not the largest predictor alone.

    shifted, slope, probabilities (k, n); y, weights (n,). `shifted` are predictors minus the
    largest of their row; `probabilities` come as their exponentials and are divided by their sum.
    """
    k, n = shifted.shape
    loss, wrong = 0.0, 0
    for i in range(n):
        own, weight = y[i], weights[i]
        total, ties = 0.0, 0
        for c in range(k):
            ties += shifted[c, i] == 0.0
            total += probabilities[c, i]
        reached = shifted[own, i]
        wrong += weight > 0.0 and (reached < 0.0 or ties > 1)
        loss += weight * (np.log(total) - reached)
        for c in range(k):
            probabilities[c, i] /= total
            slope[c, i] = weight * probabilities[c, i]
        slope[own, i] -= weight
    return loss, wrong


def curvature(design: Design, probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Second derivative by the coefficients, shape (K q, K q); probabilities (K, n).

    Blocks are X' diag(w p_k (1 - p_k)) X and -X' diag(w p_k p_l) X; over all classes of a softmax
    a row of blocks adds up to zero, which saves the diagonal ones.
    """
    if len(probabilities) == 1:
        p = probabilities[0]
        scaled = design.times(np.sqrt(weights * p * (1 - p)))
        return inner(scaled, scaled)
    k, q = len(probabilities), design.width
    plain = design.times(np.ones(probabilities.shape[1]))
    blocks = np.zeros((k, q, k, q))
    for one in range(k):
        for other in range(one):
            block = inner(design.times(weights * probabilities[one] * probabilities[other]), plain)
            blocks[one, :, other] = blocks[other, :, one] = -block
            blocks[one, :, one] += block
            blocks[other, :, other] += block
    return blocks.reshape(k * q, k * q)
