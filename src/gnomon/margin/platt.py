"""Probabilities from scores: Platt's sigmoid, and the coupling of pairs of classes.

P(y = 1 | f) = 1 / (1 + exp(A f + B)), with A and B of greatest likelihood for targets a little
inside 0 and 1 (Platt's prior against overconfidence), by Newton's method. Probabilities of pairs
r_ab = P(b | a or b) are coupled to one distribution p by least squares of
r_ba p_b - r_ab p_a (Wu, Lin and Weng), a small linear system per row.

Texts: none of the five prints it; 000 2.1 and 004 10.1 leave scores as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

STEPS = 100  # the bound of Lin, Lin and Weng (2007), whose Newton steps these are


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A and B of P(positive | score) = 1 / (1 + exp(A score + B)).

    Parameters
    ----------
    scores : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
    weights : ndarray of shape (n,)

    Returns
    -------
    sigmoid : ndarray of shape (2,)
    """
    many, few = float(weights[positive].sum()), float(weights[~positive].sum())
    target = np.where(positive, (many + 1) / (many + 2), 1 / (few + 2))
    scale = max(float(np.abs(scores).max(initial=0.0)), np.finfo(np.float64).tiny)
    design = np.column_stack([scores / scale, np.ones(len(scores))])
    theta = np.array([0.0, np.log((few + 1) / (many + 1))])

    def loss(parameters: np.ndarray) -> float:
        # -log of the likelihood with q = expit(-z)
        z = design @ parameters
        return float(weights @ (np.logaddexp(0.0, z) - (1 - target) * z))

    best = loss(theta)
    for _ in range(STEPS):
        q = expit(-(design @ theta))
        gradient = design.T @ (weights * (target - q))
        hessian = (design * (weights * q * (1 - q))[:, None]).T @ design
        step = np.linalg.solve(hessian + 1e-12 * (1 + hessian.max()) * np.eye(2), gradient)
        size = 1.0
        while size > 1e-10 and loss(theta - size * step) > best:
            size /= 2
        found = loss(theta - size * step)
        if not found < best - 1e-14 * abs(best):
            break
        theta, best = theta - size * step, found
    return np.array([theta[0] / scale, theta[1]])


def sigmoid(scores: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """P(positive | score)."""
    return expit(-(parameters[..., 0] * scores + parameters[..., 1]))


def couple(pairs: np.ndarray, first: np.ndarray, second: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of classes from those of pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n, n_pairs)
        P(second | first or second).
    first, second : ndarray of shape (n_pairs,)
    n_classes : int

    Returns
    -------
    proba : ndarray of shape (n, n_classes)
    """
    n = len(pairs)
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    for k, (a, b) in enumerate(zip(first, second)):
        towards_b, towards_a = pairs[:, k], 1 - pairs[:, k]
        system[:, a, a] += towards_b**2
        system[:, b, b] += towards_a**2
        system[:, a, b] -= towards_a * towards_b
        system[:, b, a] -= towards_a * towards_b
    system[:, np.arange(n_classes), np.arange(n_classes)] += 1e-10
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    proba = np.maximum(np.linalg.solve(system, right)[:, :n_classes, 0], 0.0)
    return proba / proba.sum(axis=1, keepdims=True)
