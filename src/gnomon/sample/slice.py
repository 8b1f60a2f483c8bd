"""Slice sampling: a uniform height under the density, then a uniform point of the slice there.

With u ~ U(0, p(x)), the next value of a coordinate is uniform on {x : p(x) >= u}, found by stepping
an interval out and shrinking it onto the current value (Neal 2003). No step is refused, and the
width matters little. Rejection from a box (002) made into a chain.

Texts: 002 "Rejection sampling", "Metropolis-Hastings".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.sample.metropolis import required
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

MOST_STEPS_OUT = 50  # widths of the interval, as Neal (2003) bounds it


@dataclass(frozen=True)
class Slice(Sampler):
    """Coordinate-wise slice sampling: any target, hardly anything to tune.

    Use it for a handful of coordinates of unknown scale. Not for strongly correlated ones, where
    moves along the axes are short.

    Attributes
    ----------
    width : float
        Width of the first interval, for every coordinate.
    adapt : bool
        Set the widths to the mean length of the slices in the warm-up, then keep them.

    Examples
    --------
    >>> from gnomon.sample import Target, sample_chains
    >>> found = sample_chains(Target(lambda x: -abs(x[0]), 1), Slice(), 500, random_state=0)
    >>> bool(abs(found.means()[0].value) < 0.4)
    True
    """

    width: float = 1.0
    adapt: bool = True

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        if not self.width > 0:
            raise DataError(f"width={self.width} of a slice must be positive")
        return SliceWalker(self, required(target, "Slice"), start)


class SliceWalker(Walker):
    """A running chain of slices; one step is a sweep over all coordinates."""

    def __init__(self, sampler: Slice, target: Target, start: np.ndarray):
        super().__init__(target, start)
        self.adapt = sampler.adapt
        self.widths = np.full(len(self.x), float(sampler.width))

    def warm_up(self, n: int, rng: np.random.Generator) -> None:
        if not self.adapt:
            self.advance(n, rng)
            return
        lengths, sweeps = np.zeros(len(self.x)), 0
        for i in range(1, n + 1):
            for j in range(len(self.x)):
                lengths[j] += self._redraw(j, rng)
            sweeps += 1
            if i in (10, n // 2):
                self.widths = np.maximum(lengths / sweeps, 1e-300)
                lengths, sweeps = np.zeros(len(self.x)), 0

    def advance(self, n: int, rng: np.random.Generator):
        draws, logs = np.empty((n, len(self.x))), np.empty(n)
        for i in range(n):
            for j in range(len(self.x)):
                self._redraw(j, rng)
            draws[i], logs[i] = self.x, self.log_p
        return self.moved(draws, logs, n)

    def _redraw(self, j: int, rng: np.random.Generator) -> float:
        """A new value of coordinate j; returns the length of the interval around the slice."""
        height = self.log_p + np.log1p(-rng.random())
        here, width = self.x[j], self.widths[j]
        point = self.x.copy()

        def above(value: float) -> bool:
            point[j] = value
            return self.target(point) >= height

        left = here - width * rng.random()
        right = left + width
        left_out = int(rng.integers(MOST_STEPS_OUT))
        for _ in range(left_out):
            if not above(left):
                break
            left -= width
        for _ in range(MOST_STEPS_OUT - 1 - left_out):
            if not above(right):
                break
            right += width
        length = right - left
        while True:
            value = rng.uniform(left, right)
            point[j] = value
            log_p = self.target(point)
            if log_p >= height:
                self.x, self.log_p = point, log_p
                return length
            if value < here:
                left = value
            else:
                right = value
            if right - left <= 1e-15 * max(abs(here), 1e-290):
                return length
