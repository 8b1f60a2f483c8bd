"""What all samplers share: a sampler is a recipe, a walker is one running chain of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.sample.target import Target


class Stretch(NamedTuple):
    """Some draws in a row.

    Attributes
    ----------
    draws : ndarray of shape (n, d)
    log_density : ndarray of shape (n,)
    accepted : float
        How many proposals were accepted.
    """

    draws: np.ndarray
    log_density: np.ndarray
    accepted: float


@dataclass(frozen=True)
class Sampler:
    """A recipe for chains: ``begin(target, start)`` gives a walker."""

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        """A chain that stands at the start."""
        raise NotImplementedError


class Walker:
    """One running chain: where it is, and how to go on."""

    def __init__(self, target: Target | None, start: np.ndarray):
        self.target: Any = target
        self.x = np.array(start, dtype=np.float64)
        self.log_p = float("nan") if target is None else target(self.x)
        if self.log_p == -np.inf:
            raise DataError(f"the density is zero at the start {self.x.tolist()}; start elsewhere")

    def warm_up(self, n: int, rng: np.random.Generator) -> None:
        """Go n steps that are not kept, adapting what the sampler adapts."""
        self.advance(n, rng)

    def advance(self, n: int, rng: np.random.Generator) -> Stretch:
        """Go n steps, adapting nothing."""
        raise NotImplementedError

    def moved(self, draws: np.ndarray, logs: np.ndarray, accepted: float) -> Stretch:
        """Stand at the last of the draws, and hand them on."""
        if len(draws):
            self.x, self.log_p = draws[-1].copy(), float(logs[-1])
        return Stretch(draws, logs, accepted)
