"""Hierarchical models: the prior has parameters with a prior of their own.

    phi ~ hyperprior,   theta_g ~ prior(phi) for every group g,   x_gi ~ likelihood(theta_g)

Top-down it is a sampler; with phi integrated out it is a prior, q(theta) = integral q(theta | phi)
dQ(phi), a continuous mixture; given data it ties groups together, so that small groups borrow from
the others. Each layer makes inference harder: here by a random walk over one number after another.

Texts: 002 "Hierarchical models" (L6774-6786, 6895-6943).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.density.distributions import ContinuousMixture
from gnomon.density.draws import as_generator
from gnomon.engine.errors import DataError

TARGET = 0.44  # the best acceptance of a random walk over one number
N_BATCHES = 20  # judgement: means of many draws are near independent, and 20 of them give an error
LEAST_STEP = 1e-8  # keeps a step above zero, from where it could not grow again


class TopDown(NamedTuple):
    """One draw from the top to the data.

    Attributes
    ----------
    hyper : float
    parameters : ndarray of shape (n_groups,)
    data : list of ndarray
        Outcomes of each group.
    """

    hyper: float
    parameters: np.ndarray
    data: list[np.ndarray]


@dataclass(repr=False, eq=False)
class HierarchicalPosterior(Result):
    """Draws from the posterior of a hierarchical model.

    Attributes
    ----------
    hyper : ndarray of shape (n_chains, n_draws)
    parameters : ndarray of shape (n_chains, n_draws, n_groups)
    acceptance : ndarray of shape (1 + n_groups,)
        Share of steps that were taken, of the hyperparameter and of each group.
    """

    hyper: np.ndarray
    parameters: np.ndarray
    acceptance: np.ndarray

    @property
    def shrinkage(self) -> np.ndarray:
        """Gelman and Rubin's factor, hyperparameter first; near 1 where chains agree."""
        whole = np.concatenate([self.hyper[..., None], self.parameters], axis=2)
        n = whole.shape[1]
        within = whole.var(axis=1, ddof=1).mean(axis=0)
        between = whole.mean(axis=1).var(axis=0, ddof=1) if len(whole) > 1 else 0.0 * within
        return np.sqrt((n - 1) / n + between / within)

    def figures(self, confidence_level: float = 0.95) -> list[Estimate]:
        """Posterior means with credible intervals, hyperparameter first; errors are of the chain.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        figures : list of Estimate
        """
        whole = np.concatenate([self.hyper[..., None], self.parameters], axis=2)
        return [_figure(whole[..., j], confidence_level) for j in range(whole.shape[2])]

    def _title(self):
        chains, n, groups = self.parameters.shape
        return f"Hierarchical posterior of {groups} groups: {chains} chains of {n:,} draws"

    def _columns(self):
        groups = self.parameters.shape[2]
        return {
            "": ["hyperparameter", *(f"group {g}" for g in range(groups))],
            "mean": self.figures(),
            "chain error": [figure.error for figure in self.figures()],
            "acceptance": list(self.acceptance),
            "shrinkage factor": list(self.shrinkage),
        }


def _figure(draws: np.ndarray, confidence_level: float) -> Estimate:
    """Mean and interval of draws (n_chains, n); the error by means of batches."""
    batches = np.array_split(draws, N_BATCHES, axis=1)
    means = np.concatenate([batch.mean(axis=1) for batch in batches])
    error = float(means.std(ddof=1) / np.sqrt(len(means)))
    low, high = np.quantile(draws, [(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    return Estimate(
        float(draws.mean()), float(low), float(high), confidence_level, error, "credible"
    )


@dataclass(frozen=True, eq=False)
class HierarchicalModel:
    """Groups whose parameters come from a common distribution with a parameter of its own.

    Parameters
    ----------
    hyperprior : distribution
        Of phi, one number: has ``sample(n, random_state)``, ``density`` and ``log_density``.
    prior : callable
        ``prior(phi)`` is the distribution of a group's parameter.
    likelihood : callable
        ``likelihood(theta)`` is the distribution of an outcome.

    Examples
    --------
    >>> from gnomon.density import Normal
    >>> model = HierarchicalModel(
    ...     Normal().member(mean=0, variance=4),
    ...     lambda phi: Normal().member(mean=phi, variance=1),
    ...     lambda theta: Normal().member(mean=theta, variance=0.25),
    ... )
    >>> drawn = model.sample(n_groups=3, n_rows=5, random_state=0)
    >>> drawn.parameters.shape, len(drawn.data[0])
    ((3,), 5)
    >>> model.marginal_prior(-20, 20).density([0.0]).round(4)
    array([0.1784])
    """

    hyperprior: Any
    prior: Callable[[float], Any]
    likelihood: Callable[[float], Any]

    def sample(self, n_groups: int, n_rows: int, random_state: Any = None) -> TopDown:
        """Draw from the top: phi, then a parameter per group, then outcomes.

        Parameters
        ----------
        n_groups : int
        n_rows : int
            Outcomes of each group.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        drawn : TopDown
        """
        rng = as_generator(random_state)
        hyper = float(self.hyperprior.sample(1, rng)[0])
        parameters = np.asarray(self.prior(hyper).sample(n_groups, rng), dtype=float)
        data = [np.asarray(self.likelihood(theta).sample(n_rows, rng)) for theta in parameters]
        return TopDown(hyper, parameters, data)

    def marginal_prior(self, low: float, high: float) -> ContinuousMixture:
        """The prior of a group's parameter with phi integrated out.

        Parameters
        ----------
        low, high : float
            Where the hyperprior lives.

        Returns
        -------
        prior : ContinuousMixture
        """
        return ContinuousMixture(self.hyperprior, self.prior, low, high)

    def infer(
        self,
        data: Sequence[ArrayLike],
        *,
        n_draws: int = 2000,
        warm_up: int = 1000,
        n_chains: int = 4,
        random_state: Any = None,
    ) -> HierarchicalPosterior:
        """Draws from the posterior of phi and of all groups' parameters, given their outcomes.

        A random walk over one number after another (Metropolis): a step is taken with probability
        min(1, posterior ratio). Widths of steps are set in the warm-up, which is thrown away.

        Parameters
        ----------
        data : sequence of array-like
            Outcomes of each group.
        n_draws : int, default=2000
            Kept draws of a chain.
        warm_up : int, default=1000
        n_chains : int, default=4
            Chains from different starts, drawn from the model.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        posterior : HierarchicalPosterior
            Look at its ``shrinkage``: well above 1 means that the chains do not agree yet.
        """
        groups = [np.asarray(each, dtype=float) for each in data]
        if not groups or any(len(each) == 0 for each in groups):
            raise DataError("give one group or more, each with an outcome or more")
        rngs = as_generator(random_state).spawn(n_chains)
        chains = [self._chain(groups, n_draws, warm_up, rng) for rng in rngs]
        states = np.stack([states for states, _ in chains])
        acceptance = np.mean([accepted for _, accepted in chains], axis=0)
        return HierarchicalPosterior(states[..., 0], states[..., 1:], acceptance)

    def _chain(self, groups, n_draws: int, warm_up: int, rng) -> tuple[np.ndarray, np.ndarray]:
        state = np.concatenate([[float(self.hyperprior.sample(1, rng)[0])], np.zeros(len(groups))])
        state[1:] = np.asarray(self.prior(state[0]).sample(len(groups), rng), dtype=float)
        widths = np.maximum(np.abs(state), 1.0)
        states, accepted = np.empty((n_draws, len(state))), np.zeros(len(state))
        for step in range(-warm_up, n_draws):
            for j in range(len(state)):
                taken = self._move(groups, state, j, widths[j], rng)
                if step < 0:
                    rate = 3.0 / np.sqrt(step + warm_up + 1)
                    widths[j] = max(widths[j] * np.exp(rate * (taken - TARGET)), LEAST_STEP)
                else:
                    accepted[j] += taken / n_draws
            if step >= 0:
                states[step] = state
        return states, accepted

    def _move(self, groups, state: np.ndarray, j: int, width: float, rng) -> bool:
        """Try to move the j-th number of the state; in place."""
        here = self._local(groups, state, j)
        old = state[j]
        state[j] = old + width * rng.standard_normal()
        rise = self._local(groups, state, j) - here
        if np.log(rng.random()) < rise or here == -np.inf:
            return True
        state[j] = old
        return False

    def _local(self, groups, state: np.ndarray, j: int) -> float:
        """The part of the log posterior that depends on the j-th number."""
        try:
            if j == 0:
                own = float(self.hyperprior.log_density([state[0]])[0])
                return own + float(self.prior(state[0]).log_density(state[1:]).sum())
            own = float(self.prior(state[0]).log_density([state[j]])[0])
            return own + float(self.likelihood(state[j]).log_density(groups[j - 1]).sum())
        except DataError:
            return -np.inf  # a parameter outside of what the family allows
