"""Penalties and constraints on the weights of a network; biases are free.

=========  ============================================  =================================
penalty    added to the loss                             its step
=========  ============================================  =================================
L2         alpha / 2 sum w^2                             gradient alpha w
L1         alpha sum |w|                                 w moves to 0 by rate alpha, and
                                                         stays at 0 where it would pass it
Elastic    alpha (r sum |w| + (1 - r) / 2 sum w^2)       both
Lp         alpha sum |w|^p                               gradient alpha p |w|^(p-1) sign w
=========  ============================================  =================================

`max_norm` scales the weights into a unit down to a largest norm after each step.

Texts: 000c 17.2.2 · 003 4.3 (its elastic net has the wrong sign of the L2 term, and its L^p lacks
the absolute value that negative weights need; both are corrected here).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.engine.errors import DataError

if TYPE_CHECKING:
    from gnomon.neural.network import Parameters


class Penalty:
    """The base of all penalties.

    Parameters
    ----------
    alpha : float
        Its weight beside the mean loss of a row.
    """

    def __init__(self, alpha: float = 1e-4):
        if not (np.isfinite(alpha) and alpha >= 0):
            raise DataError(f"alpha must be a number that is 0 or more, not {alpha}")
        self.alpha = alpha

    def value(self, weights: np.ndarray) -> float:
        """What is added to the loss."""
        return 0.0

    def add_gradient(self, weights: np.ndarray, slopes: np.ndarray, factor: float = 1.0) -> None:
        """Add the gradient of the smooth part, times a factor, to `slopes`."""

    def shrink(self, weights: np.ndarray, rate: float) -> None:
        """The part of the step that is not smooth, in place, after a step of this rate."""


class L2(Penalty):
    """Weight decay: alpha / 2 times the squared weights."""

    def value(self, weights: np.ndarray) -> float:
        return 0.5 * self.alpha * float(np.dot(weights, weights))

    def add_gradient(self, weights: np.ndarray, slopes: np.ndarray, factor: float = 1.0) -> None:
        slopes += self.alpha * factor * weights


class L1(Penalty):
    """alpha times the absolute weights; many become exactly zero."""

    def value(self, weights: np.ndarray) -> float:
        return self.alpha * float(np.abs(weights).sum())

    def shrink(self, weights: np.ndarray, rate: float) -> None:
        np.copyto(weights, np.sign(weights) * np.maximum(np.abs(weights) - rate * self.alpha, 0))


class Elastic(Penalty):
    """A share of L1 and the rest of L2.

    Parameters
    ----------
    alpha : float, default=1e-4
    l1_ratio : float, default=0.5
    """

    def __init__(self, alpha: float = 1e-4, l1_ratio: float = 0.5):
        super().__init__(alpha)
        if not 0 <= l1_ratio <= 1:
            raise DataError(f"l1_ratio must be from 0 to 1, not {l1_ratio}")
        self.l1_ratio = l1_ratio
        self._parts = L1(alpha * l1_ratio), L2(alpha * (1 - l1_ratio))

    def value(self, weights: np.ndarray) -> float:
        return sum(part.value(weights) for part in self._parts)

    def add_gradient(self, weights: np.ndarray, slopes: np.ndarray, factor: float = 1.0) -> None:
        self._parts[1].add_gradient(weights, slopes, factor)

    def shrink(self, weights: np.ndarray, rate: float) -> None:
        self._parts[0].shrink(weights, rate)


class Lp(Penalty):
    """alpha times the p-th powers of the absolute weights.

    Parameters
    ----------
    alpha : float, default=1e-4
    p : float, default=1.5
        Above 1, so that the gradient is finite at 0.
    """

    def __init__(self, alpha: float = 1e-4, p: float = 1.5):
        super().__init__(alpha)
        if not p > 1:
            raise DataError(f"p must be above 1 (use L1 for 1), not {p}")
        self.p = p

    def value(self, weights: np.ndarray) -> float:
        return self.alpha * float((np.abs(weights) ** self.p).sum())

    def add_gradient(self, weights: np.ndarray, slopes: np.ndarray, factor: float = 1.0) -> None:
        slopes += self.alpha * factor * self.p * np.abs(weights) ** (self.p - 1) * np.sign(weights)


def max_norm(parameters: Parameters, largest: float, p: float = 2.0) -> None:
    """Scale the weights into each unit down to a largest L^p norm, in place.

    Parameters
    ----------
    parameters : Parameters
    largest : float
    p : float, default=2.0
    """
    for place in parameters.places:
        if place.parameter.role != "weight":
            continue
        weights = parameters.flat[place.start : place.stop].reshape(-1, place.parameter.shape[-1])
        norms = (np.abs(weights) ** p).sum(axis=0) ** (1 / p)
        weights *= np.minimum(1, largest / np.maximum(norms, np.finfo(weights.dtype).tiny))
