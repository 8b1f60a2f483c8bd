"""Gibbs sampling: each coordinate in turn is drawn from its law given all the others.

x_j ~ p(x_j | x_1 ... x_{j-1}, x_{j+1} ... x_d), new values used at once. Every move is accepted.

Texts: 002 "Gibbs sampling" · 003 3.4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

Conditional = Callable[[np.ndarray, np.random.Generator], float | np.ndarray]


@dataclass(frozen=True)
class Gibbs(Sampler):
    """Draw every coordinate, or block of them, from its full conditional.

    Use it where conditionals are known laws (conjugate models, discrete networks, Potts models).
    Not where coordinates are tightly correlated: each move is then short.

    Attributes
    ----------
    conditionals : sequence of callable
        ``conditionals[j](x, rng)`` draws coordinate j given the others in x.
    blocks : sequence of index arrays or None
        The coordinates that each conditional draws; coordinate j where None.
    scan : {"fixed", "random"}
        The order in a sweep: always the same, or new each time (003; the chain is then
        reversible).

    Examples
    --------
    >>> from gnomon.sample import sample_chains
    >>> half = np.sqrt(1 - 0.5**2)
    >>> pair = Gibbs([lambda x, rng: rng.normal(0.5 * x[1], half),
    ...               lambda x, rng: rng.normal(0.5 * x[0], half)])
    >>> found = sample_chains(None, pair, 2000, starts=np.zeros((4, 2)), random_state=0)
    >>> bool(abs(np.corrcoef(found.flat.T)[0, 1] - 0.5) < 0.1)
    True
    """

    conditionals: Sequence[Conditional]
    blocks: Sequence | None = None
    scan: str = "fixed"

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        if self.scan not in ("fixed", "random"):
            raise DataError(f"scan={self.scan!r} is none of fixed, random")
        blocks = range(len(self.conditionals)) if self.blocks is None else self.blocks
        covered = np.sort(np.concatenate([np.atleast_1d(block) for block in blocks]))
        if not np.array_equal(covered, np.arange(len(start))):
            raise DataError(
                f"the conditionals draw the coordinates {covered.tolist()}, and a point has "
                f"{len(start)}; every coordinate needs one conditional"
            )
        return GibbsWalker(self, target, start)


class GibbsWalker(Walker):
    """A running chain of Gibbs; one step is a sweep over all conditionals."""

    def __init__(self, sampler: Gibbs, target: Target | None, start: np.ndarray):
        super().__init__(target, start)
        self.sampler = sampler

    def advance(self, n: int, rng: np.random.Generator):
        conditionals = self.sampler.conditionals
        blocks = self.sampler.blocks or range(len(conditionals))
        draws, logs = np.empty((n, len(self.x))), np.full(n, np.nan)
        x = self.x.copy()
        order = np.arange(len(conditionals))
        for i in range(n):
            if self.sampler.scan == "random":
                order = rng.permutation(len(conditionals))
            for j in order.tolist():
                x[blocks[j]] = conditionals[j](x, rng)
            draws[i] = x
            if self.target is not None:
                logs[i] = self.target(x)
        return self.moved(draws, logs, n)
