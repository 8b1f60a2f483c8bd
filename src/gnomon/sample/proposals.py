"""Symmetric proposals: Gaussian random walks, and mixtures of small and large steps.

x_{i+1} ~ N(x_i, S). Alone it is a Markov chain without an invariant probability distribution on
R^d: the variance grows by S at every step. As the proposal of Metropolis it serves well. Small
steps are accepted and slow, large ones are refused; 2.38 / sqrt(d) times the target's spread is
best for a Gaussian (002 advises the smallest variance of the target). A mixture of both crosses
between modes.

Texts: 002 "Gaussian random walk", "Choosing a proposal" · 003 3.4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.sample.draws import Seed


@dataclass(frozen=True)
class GaussianWalk:
    """Steps from N(0, S).

    Attributes
    ----------
    scale : float or array-like
        A standard deviation for all coordinates, one for each, or a covariance matrix (d, d).

    Examples
    --------
    >>> GaussianWalk(0.5).path([0.0, 0.0], 3, random_state=0).shape
    (4, 2)
    """

    scale: Any = 1.0

    def root(self, dimension: int) -> np.ndarray:
        """R with R R' = S."""
        scale = np.asarray(self.scale, dtype=np.float64)
        if not np.isfinite(scale).all() or (scale.ndim < 2 and (scale <= 0).any()):
            raise DataError(f"scale={self.scale!r} of a random walk must be positive and finite")
        if scale.ndim < 2:
            return np.diag(np.broadcast_to(scale, (dimension,)))
        if scale.shape != (dimension, dimension):
            raise DataError(f"the walk's covariance is {scale.shape}, the target has {dimension}")
        try:
            return np.linalg.cholesky(scale)
        except np.linalg.LinAlgError as error:
            raise DataError("the walk's covariance is not positive definite") from error

    def steps(self, n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
        """n independent steps (n, dimension)."""
        return rng.standard_normal((n, dimension)) @ self.root(dimension).T

    def path(self, start: ArrayLike, n: int, *, random_state: Seed = None) -> np.ndarray:
        """The walk itself: the start and n steps from it, shape (n + 1, d).

        Parameters
        ----------
        start : array-like of shape (d,)
        n : int
        random_state : int, Generator or None

        Returns
        -------
        path : ndarray of shape (n + 1, d)
        """
        first = np.atleast_1d(np.asarray(start, dtype=np.float64))
        steps = self.steps(n, len(first), np.random.default_rng(random_state))
        return np.vstack([first, first + np.cumsum(steps, axis=0)])


@dataclass(frozen=True)
class MixtureWalk:
    """Steps of several walks, one drawn for each step: large ones to find modes, small to explore.

    Attributes
    ----------
    walks : list of GaussianWalk
    shares : list of float
        How often each is taken; equal where empty.

    Examples
    --------
    >>> both = MixtureWalk([GaussianWalk(0.3), GaussianWalk(5.0)], [0.7, 0.3])
    >>> both.steps(4, 2, np.random.default_rng(0)).shape
    (4, 2)
    """

    walks: list[GaussianWalk]
    shares: list[float] = field(default_factory=list)

    def steps(self, n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
        """n independent steps (n, dimension)."""
        shares = np.asarray(self.shares or [1.0] * len(self.walks), dtype=np.float64)
        if len(shares) != len(self.walks) or not (shares > 0).all():
            raise DataError(f"shares must be {len(self.walks)} positive numbers, one for each walk")
        chosen = rng.choice(len(self.walks), size=n, p=shares / shares.sum())
        normal = rng.standard_normal((n, dimension))
        roots = np.stack([walk.root(dimension) for walk in self.walks])
        return np.einsum("nij,nj->ni", roots[chosen], normal)
