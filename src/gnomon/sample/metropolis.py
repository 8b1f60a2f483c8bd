"""Metropolis and Metropolis-Hastings: propose, compare the densities, accept or stay.

From x, x* ~ q(. | x) is accepted with probability min(1, p(x*) q(x | x*) / (p(x) q(x* | x))); else
the chain stays and x counts again. All in logarithms, since products of densities underflow. For a
symmetric q the ratio is p(x*) / p(x), and uphill steps are always accepted; for others not (002).
003 3.4.4 mixes the names of the current and the proposed value; whole-number coordinates are
rounded half up, as there.

Texts: 002 "Metropolis-Hastings" · 003 3.4.4, 3.4.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.sample.proposals import GaussianWalk, MixtureWalk
from gnomon.sample.target import MixtureTarget, Target
from gnomon.sample.walker import Sampler, Walker

BEST_ACCEPTANCE = (0.44, 0.234)  # optimal in one and in many dimensions (Roberts et al. 1997)
BATCH = 50  # draws per adaptation, as in Roberts and Rosenthal (2009)
UNIT_WALK = GaussianWalk(1.0)  # the adaptation sets the step from here


@dataclass(frozen=True)
class Metropolis(Sampler):
    """Random-walk Metropolis: any target, no gradient.

    Use it for a few coordinates of similar scale, or with the warm-up to learn their scales. Not
    for dozens of coordinates (see `Hamiltonian`), nor for far modes with small steps only (see
    `MixtureWalk`).

    Attributes
    ----------
    proposal : GaussianWalk or MixtureWalk
        Where the first proposals come from.
    adapt : bool
        Learn the walk's covariance and width in the warm-up, then keep them: adapting for ever
        would not leave the target invariant. A mixture of walks is not adapted.
    whole : bool
        Round proposals to whole numbers, for a target on them.

    Examples
    --------
    >>> from gnomon.sample import gaussian_mixture, sample_chains
    >>> found = sample_chains(gaussian_mixture([[3.0]], [[[4.0]]]), Metropolis(), 1000,
    ...                       random_state=0)
    >>> bool(abs(found.means()[0].value - 3) < 0.5)
    True
    """

    proposal: Any = UNIT_WALK
    adapt: bool = True
    whole: bool = False

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        return MetropolisWalker(self, required(target, "Metropolis"), start)


class MetropolisWalker(Walker):
    """A running chain of Metropolis."""

    def __init__(self, sampler: Metropolis, target: Target, start: np.ndarray):
        super().__init__(target, np.floor(start + 0.5) if sampler.whole else start)
        self.sampler = sampler
        self.proposal = sampler.proposal

    def warm_up(self, n: int, rng: np.random.Generator) -> None:
        """Batches of steps; after each, the covariance of what was seen and a width towards the
        acceptance that is best for the dimension.
        """
        if not self.sampler.adapt or isinstance(self.proposal, MixtureWalk):
            self.advance(n, rng)
            return
        dimension = len(self.x)
        wanted = BEST_ACCEPTANCE[0] if dimension == 1 else BEST_ACCEPTANCE[1]
        shape = self.proposal.root(dimension)
        log_width, seen = 0.0, []
        for batch, start in enumerate(range(0, n, BATCH), 1):
            self.proposal = scaled(shape, log_width)
            part = self.advance(min(BATCH, n - start), rng)
            seen.append(part.draws)
            log_width += 2 * (part.accepted / len(part.draws) - wanted) / np.sqrt(batch)
            if batch % 5 == 0:
                recent = np.concatenate(seen[len(seen) // 2 :])
                learnt = spread_of(recent)
                if learnt is not None:
                    shape = learnt if dimension == 1 else learnt * 2.38 / np.sqrt(dimension)
                    if batch <= 10:
                        log_width = 0.0
        self.proposal = scaled(shape, log_width)

    def advance(self, n: int, rng: np.random.Generator):
        steps = self.proposal.steps(n, len(self.x), rng)
        log_u = np.log1p(-rng.random(n))
        if isinstance(self.target, MixtureTarget) and not self.sampler.whole:
            return self._compiled(steps, log_u)
        return self._interpreted(steps, log_u)

    def _compiled(self, steps: np.ndarray, log_u: np.ndarray):
        target = self.target
        draws, logs = np.empty(steps.shape), np.empty(len(steps))
        accepted = metropolis_on_mixture(
            self.x, self.log_p, steps, log_u, target.log_weights, target.means, target.roots,
            draws, logs,
        )  # fmt: skip
        return self.moved(draws, logs, int(accepted))

    def _interpreted(self, steps: np.ndarray, log_u: np.ndarray):
        draws, logs = np.empty(steps.shape), np.empty(len(steps))
        x, log_p, accepted = self.x, self.log_p, 0
        for i, step in enumerate(steps):
            proposed = x + step
            if self.sampler.whole:
                proposed = np.floor(proposed + 0.5)
            log_proposed = self.target(proposed)
            if log_u[i] <= log_proposed - log_p:
                x, log_p = proposed, log_proposed
                accepted += 1
            draws[i], logs[i] = x, log_p
        return self.moved(draws, logs, accepted)


@kernel(
    "f8[:]", "f8", "f8[:,:]", "f8[:]", "f8[:]", "f8[:,:]", "f8[:,:,:]", "out f8[:,:]", "out f8[:]"
)
def metropolis_on_mixture(x, log_p, steps, log_u, log_weights, means, roots, draws, logs):
    """Metropolis on a Gaussian mixture; returns how many steps were accepted.

    x (d,), steps (n, d), log_u (n,), log_weights (k,), means (k, d), roots (k, d, d) lower
    triangular; draws (n, d) and logs (n,) are written.
    """
    n, d = steps.shape
    k = len(log_weights)
    current, proposed, parts = x.copy(), np.empty(d), np.empty(k)
    accepted = 0
    for i in range(n):
        for j in range(d):
            proposed[j] = current[j] + steps[i, j]
        largest = -np.inf
        for c in range(k):
            squares = 0.0
            for j in range(d):
                whitened = 0.0
                for r in range(j, d):
                    whitened += roots[c, r, j] * (proposed[r] - means[c, r])
                squares += whitened * whitened
            parts[c] = log_weights[c] - 0.5 * squares
            largest = max(largest, parts[c])
        total = 0.0
        for c in range(k):
            total += np.exp(parts[c] - largest)
        log_proposed = largest + np.log(total)
        if log_u[i] <= log_proposed - log_p:
            log_p = log_proposed
            accepted += 1
            for j in range(d):
                current[j] = proposed[j]
        for j in range(d):
            draws[i, j] = current[j]
        logs[i] = log_p
    return accepted


@dataclass(frozen=True)
class MetropolisHastings(Sampler):
    """Metropolis with any proposal, corrected for its asymmetry.

    Use it where steps know the target's form (multiplicative ones for positive numbers,
    independent draws from an approximation). The proposal must be able to return from wherever it
    leads.

    Attributes
    ----------
    propose : callable
        ``propose(x, rng)`` draws x* from q(. | x).
    log_proposal : callable
        ``log_proposal(to, given)`` is log q(to | given), up to a constant.

    Examples
    --------
    >>> from gnomon.sample import Target, sample_chains
    >>> exponential = Target(lambda x: -x[0] if x[0] > 0 else -np.inf, 1)
    >>> stretch = MetropolisHastings(lambda x, rng: x * np.exp(rng.normal(size=1)),
    ...                              lambda to, given: -np.log(to[0]))
    >>> found = sample_chains(exponential, stretch, 2000, starts=[[1.0]], random_state=0)
    >>> bool(abs(found.means()[0].value - 1) < 0.3)
    True
    """

    propose: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    log_proposal: Callable[[np.ndarray, np.ndarray], float]

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        return HastingsWalker(self, required(target, "MetropolisHastings"), start)


class HastingsWalker(Walker):
    """A running chain of Metropolis-Hastings."""

    def __init__(self, sampler: MetropolisHastings, target: Target, start: np.ndarray):
        super().__init__(target, start)
        self.sampler = sampler

    def advance(self, n: int, rng: np.random.Generator):
        draws, logs = np.empty((n, len(self.x))), np.empty(n)
        x, log_p, accepted = self.x, self.log_p, 0
        log_q = self.sampler.log_proposal
        for i in range(n):
            proposed = np.atleast_1d(np.asarray(self.sampler.propose(x, rng), dtype=np.float64))
            log_proposed = self.target(proposed)
            log_u = np.log1p(-rng.random())
            if log_proposed > -np.inf:
                ratio = log_proposed - log_p + log_q(x, proposed) - log_q(proposed, x)
                if log_u <= ratio:
                    x, log_p = proposed, log_proposed
                    accepted += 1
            draws[i], logs[i] = x, log_p
        return self.moved(draws, logs, accepted)


def hill_climb(
    target: Target,
    start,
    *,
    proposal: Any = UNIT_WALK,
    n_steps: int = 1000,
    first_temperature: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, float]:
    """Stochastic hill climbing: the same proposals, and only uphill ones are taken.

    It is Metropolis on p^(1/T) with T going to zero: ``first_temperature=0`` never goes down,
    a positive one falls linearly to zero (annealing), which gets over lower hills on the way.

    Parameters
    ----------
    target : Target
    start : array-like of shape (d,)
    proposal : GaussianWalk or MixtureWalk
    n_steps : int, default=1000
    first_temperature : float, default=0
    random_state : int, Generator or None

    Returns
    -------
    best, log_density : ndarray of shape (d,), float
        The highest point that was met.

    Examples
    --------
    >>> best, height = hill_climb(Target(lambda x: -float(x @ x), 2), [3.0, 3.0], random_state=0)
    >>> bool(np.abs(best).max() < 0.3)
    True
    """
    rng = np.random.default_rng(random_state)
    x = np.atleast_1d(np.asarray(start, dtype=np.float64))
    log_p = target(x)
    best, height = x, log_p
    steps = proposal.steps(n_steps, len(x), rng)
    log_u = np.log1p(-rng.random(n_steps))
    for i, step in enumerate(steps):
        temperature = first_temperature * (1 - (i + 1) / n_steps)
        log_proposed = target(x + step)
        if log_proposed - log_p >= temperature * log_u[i]:
            x, log_p = x + step, log_proposed
            if log_p > height:
                best, height = x, log_p
    return best, height


def required(target: Target | None, name: str) -> Target:
    """The target, or an error that says who needs it."""
    if target is None:
        raise DataError(f"{name} needs a target: a density known up to a constant")
    return target


def scaled(shape: np.ndarray, log_width: float) -> GaussianWalk:
    root = np.exp(log_width) * shape
    return GaussianWalk(root @ root.T)


def spread_of(draws: np.ndarray) -> np.ndarray | None:
    """A root of the draws' covariance; None where they hardly moved."""
    n, d = draws.shape
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    variances = np.diag(covariance)
    if n <= 2 * d or not (variances > 0).all():
        return None
    shrunk = (n * covariance + 5 * np.diag(variances)) / (n + 5)
    try:
        return np.linalg.cholesky(shrunk)
    except np.linalg.LinAlgError:
        return np.diag(np.sqrt(variances))
