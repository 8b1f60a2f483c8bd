"""Maximum entropy: of all distributions with given moments the one that assumes nothing else.

max H(p) subject to E[S_j] = s_j has the solution p(x) proportional to exp <theta, S(x)> (Gibbs): an
exponential family. theta minimises the convex dual log sum_x exp <theta, S(x)> - <theta, s>, by
Newton. Without constraints it is uniform; with mean and variance on a wide grid it is normal.

Text: 002 "Maximum entropy" (L5651-5710).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, logsumexp

from gnomon.engine.errors import DataError

# Judgement: far more than Newton's steps usually are; more means moments on the border.
MOST_STEPS = 200


class MaximumEntropy(NamedTuple):
    """The distribution of the greatest entropy.

    Attributes
    ----------
    probabilities : ndarray of shape (m,)
        Probabilities of the outcomes.
    theta : ndarray of shape (k,)
        Multipliers of the statistics.
    entropy : float
        In nats.
    moments : ndarray of shape (k,)
        What was reached.
    """

    probabilities: np.ndarray
    theta: np.ndarray
    entropy: float
    moments: np.ndarray


def maximum_entropy(
    statistics: ArrayLike, moments: ArrayLike, base: ArrayLike | None = None
) -> MaximumEntropy:
    """The distribution over finitely many outcomes that has given moments and else no form.

    A density: take a fine grid as outcomes; probabilities over the step are then the density.

    Parameters
    ----------
    statistics : array-like of shape (m, k)
        S(x) of each outcome.
    moments : array-like of shape (k,)
        The wished E[S].
    base : array-like of shape (m,), default=None
        A base measure: the divergence from it is minimised; equal by default.

    Returns
    -------
    found : MaximumEntropy

    Examples
    --------
    A die whose mean is 4.5 (Jaynes):

    >>> found = maximum_entropy([[1], [2], [3], [4], [5], [6]], [4.5])
    >>> found.probabilities.round(4)
    array([0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475])
    """
    S = np.asarray(statistics, dtype=np.float64)
    S = S[:, None] if S.ndim == 1 else S
    wished = np.atleast_1d(np.asarray(moments, dtype=np.float64))
    if S.shape[1] != len(wished):
        raise DataError(f"{S.shape[1]} statistics need as many moments, not {len(wished)}")
    with np.errstate(divide="ignore"):
        log_base = np.zeros(len(S)) if base is None else np.log(np.asarray(base, dtype=float))
    middle, scale = S.mean(axis=0), S.std(axis=0)
    scale[scale == 0] = 1.0
    Z, aim = (S - middle) / scale, (wished - middle) / scale
    outside = (aim < Z.min(axis=0) - 1e-9) | (aim > Z.max(axis=0) + 1e-9)
    if outside.any():
        j = int(outside.argmax())
        raise DataError(
            f"moment {j} is {wished[j]:g}, and the statistic lies between {S[:, j].min():g} and "
            f"{S[:, j].max():g}: no distribution has it"
        )
    theta = _minimized_dual(Z, aim, log_base)
    logs = Z @ theta + log_base
    p = np.exp(logs - logsumexp(logs))
    return MaximumEntropy(p, theta / scale, float(entr(p).sum()), p @ S)


def _minimized_dual(Z: np.ndarray, aim: np.ndarray, log_base: np.ndarray) -> np.ndarray:
    def dual(theta: np.ndarray) -> tuple[float, np.ndarray]:
        logs = Z @ theta + log_base
        total = logsumexp(logs)
        return float(total - theta @ aim), np.exp(logs - total)

    theta = np.zeros(Z.shape[1])
    value, p = dual(theta)
    for _ in range(MOST_STEPS):
        gap = p @ Z - aim
        if np.abs(gap).max(initial=0.0) < 1e-12:
            return theta
        centered = Z - p @ Z
        curvature = (centered * p[:, None]).T @ centered
        step: Any = np.linalg.lstsq(curvature, gap, rcond=1e-13)[0]
        share = 1.0
        while share > 1e-10:
            new_value, new_p = dual(theta - share * step)
            if new_value <= value:
                break
            share /= 2
        else:
            break
        theta, value, p = theta - share * step, new_value, new_p
        if np.abs(theta).max(initial=0.0) > 1e6:
            break
    gap = np.abs(p @ Z - aim).max(initial=0.0)
    if gap > 1e-6:
        raise DataError(
            f"no distribution over these outcomes has these moments (they miss by {gap:.2g} "
            "deviations at best): they lie on or beyond the border of what is possible"
        )
    return theta
