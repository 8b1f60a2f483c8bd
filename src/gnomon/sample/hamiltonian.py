"""Hamiltonian Monte Carlo: roll along the log density with a random push, then accept or stay.

With a momentum m ~ N(0, M), leapfrog steps follow H(x, m) = -log p(x) + m' M^-1 m / 2; the end is
accepted with probability min(1, exp(H_before - H_after)). The gradient carries the chain far, so
that it mixes in dozens of dimensions, where a random walk crawls.

Texts: 002 "Energy form", "Metropolis-Hastings" (this is one of its proposals; Neal 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.sample.metropolis import required
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

WANTED = 0.8  # acceptance that Stan aims at by default


@dataclass(frozen=True)
class Hamiltonian(Sampler):
    """Hamiltonian sampling of a smooth target that gives its gradient.

    Use it for many real coordinates. Not for discrete ones or densities with jumps.

    Attributes
    ----------
    step_size : float
        Of the leapfrog; every trajectory draws it anew between 0.8 and 1.2 times this, so that no
        period is met by chance.
    n_leapfrog : int
        Steps of a trajectory.
    adapt : bool
        Learn step size (towards an acceptance of 0.8) and the coordinates' scales in the warm-up,
        then keep them.

    Examples
    --------
    >>> from gnomon.sample import gaussian_mixture, sample_chains
    >>> target = gaussian_mixture([[0.0, 0.0]], [[[1.0, 0.9], [0.9, 1.0]]])
    >>> found = sample_chains(target, Hamiltonian(), 500, random_state=0)
    >>> bool(found.r_hat().max() < 1.1)
    True
    """

    step_size: float = 0.2
    n_leapfrog: int = 16
    adapt: bool = True

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        if not self.step_size > 0 or self.n_leapfrog < 1:
            raise DataError("step_size must be positive and n_leapfrog at least 1")
        target = required(target, "Hamiltonian")
        if target.gradient is None:
            raise DataError(
                "Hamiltonian needs the gradient of the log density (gradient= of the Target); "
                "Slice or Metropolis do without"
            )
        return HamiltonianWalker(self, target, start)


class HamiltonianWalker(Walker):
    """A running chain of trajectories."""

    def __init__(self, sampler: Hamiltonian, target: Target, start: np.ndarray):
        super().__init__(target, start)
        self.sampler = sampler
        self.step_size = float(sampler.step_size)
        self.scales = np.ones(len(self.x))
        self.slope = self._gradient(self.x)

    def warm_up(self, n: int, rng: np.random.Generator) -> None:
        """Dual averaging of the step size; scales from the second quarter and half."""
        if not self.sampler.adapt:
            self.advance(n, rng)
            return
        begin = 0
        for end in (n // 4, n // 2, n):
            seen = self._averaged(end - begin, rng)
            if end < n and len(seen) > 20:
                spread = seen.std(axis=0)
                known = spread > 0
                self.scales[known] = spread[known]
            begin = end

    def _averaged(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Nesterov's dual averaging (Hoffman and Gelman 2014, section 3.2)."""
        if n < 1:
            return np.empty((0, len(self.x)))
        center = np.log(10 * self.step_size)
        error = log_mean = 0.0
        seen = np.empty((n, len(self.x)))
        for i in range(1, n + 1):
            chance = self._trajectory(rng)[1]
            seen[i - 1] = self.x
            error += (WANTED - chance - error) / (i + 10)
            log_step = center - np.sqrt(i) / 0.05 * error
            share = i**-0.75
            log_mean = share * log_step + (1 - share) * log_mean
            self.step_size = float(np.exp(np.clip(log_step, -50, 10)))
        self.step_size = float(np.exp(log_mean))
        return seen

    def advance(self, n: int, rng: np.random.Generator):
        draws, logs = np.empty((n, len(self.x))), np.empty(n)
        accepted = 0
        for i in range(n):
            accepted += self._trajectory(rng)[0]
            draws[i], logs[i] = self.x, self.log_p
        return self.moved(draws, logs, accepted)

    def _trajectory(self, rng: np.random.Generator) -> tuple[bool, float]:
        """One proposal: whether it was accepted, and with what chance."""
        momentum = rng.standard_normal(len(self.x))
        step = self.step_size * rng.uniform(0.8, 1.2)
        log_u = np.log1p(-rng.random())
        before = self.log_p - 0.5 * float(momentum @ momentum)
        x, slope = self.x, self.slope
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.sampler.n_leapfrog):
                momentum = momentum + step / 2 * self.scales * slope
                x = x + step * self.scales * momentum
                if not np.isfinite(x).all():
                    return False, 0.0
                slope = self._gradient(x)
                momentum = momentum + step / 2 * self.scales * slope
            kinetic = 0.5 * float(momentum @ momentum)
        if not np.isfinite(kinetic):
            return False, 0.0
        log_p = self.target(x)
        change = log_p - kinetic - before
        if log_u <= change:
            self.x, self.log_p, self.slope = x, log_p, slope
        return bool(log_u <= change), float(np.exp(min(change, 0.0)))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.target.gradient(x), dtype=np.float64)
