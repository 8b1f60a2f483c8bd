"""Condorcet's jury: how likely the majority of voters is right.

With m independent voters, each right with probability p, the majority is right with probability
sum over j > m/2 of C(m, j) p^j (1 - p)^(m - j) (a tie counts half). It tends to one for p > 1/2,
stays one half at p = 1/2 and tends to zero below. Votes that correlate gain less: with a
correlation r between any two voters the number of right votes is taken as beta-binomial, and more
voters help only up to a limit.

Texts: 002 "Condorcet's jury theorem" · 004 11.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy


def _checked(p: float, m: int, correlation: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"p={p} is not a probability")
    if m < 1 or m != int(m):
        raise ValueError(f"m={m} is not a number of voters")
    if not 0 <= correlation <= 1:
        raise ValueError(f"correlation={correlation} must lie between 0 and 1")


def majority_probability(p: float, m: int, correlation: float = 0.0) -> float:
    """Probability that the majority of m voters is right; a tie is decided by a coin.

    Parameters
    ----------
    p : float
        Probability that one voter is right.
    m : int
        Number of voters.
    correlation : float, default=0.0
        Correlation between any two voters' being right.

    Returns
    -------
    probability : float

    Examples
    --------
    >>> round(1 - majority_probability(0.6, 21), 6)
    0.174378
    >>> round(majority_probability(0.6, 21, correlation=0.2), 3)
    0.661
    """
    _checked(p, m, correlation)
    if correlation == 1 or p in (0, 1):
        return float(p)
    half = m // 2
    if correlation == 0:
        right = scipy.stats.binom(m, p)
    else:
        total = 1 / correlation - 1
        right = scipy.stats.betabinom(m, p * total, (1 - p) * total)
    tie = 0.5 * right.pmf(half) if m % 2 == 0 else 0.0
    return float(right.sf(half) + tie)


@dataclass(frozen=True)
class JurySimulation:
    """Simulated juries.

    Attributes
    ----------
    probability : float
        Share of the trials in which the majority was right.
    standard_error : float
    correlation : float
        Between voters, as found in the trials.
    """

    probability: float
    standard_error: float
    correlation: float


def simulate_majority(
    p: float, m: int, correlation: float = 0.0, n_trials: int = 10_000, random_state=None
) -> JurySimulation:
    """The same by simulation: in each trial all voters share a probability drawn around p.

    Parameters
    ----------
    p : float
    m : int
    correlation : float, default=0.0
    n_trials : int, default=10_000
    random_state : int or Generator, optional

    Returns
    -------
    simulation : JurySimulation

    Examples
    --------
    >>> simulate_majority(1.0, 3, random_state=0).probability
    1.0
    """
    _checked(p, m, correlation)
    rng = np.random.default_rng(random_state)
    if correlation == 1 or p in (0, 1):
        votes = np.repeat(rng.random((n_trials, 1)) < p, m, axis=1)
    else:
        chance = np.full(n_trials, float(p))
        if correlation > 0:
            total = 1 / correlation - 1
            chance = rng.beta(p * total, (1 - p) * total, size=n_trials)
        votes = rng.random((n_trials, m)) < chance[:, None]
    count = votes.sum(axis=1)
    right = np.where(2 * count == m, 0.5, 2 * count > m)
    share = float(right.mean())
    between = pair_correlation(votes) if m > 1 else 1.0
    return JurySimulation(share, float(np.sqrt(share * (1 - share) / n_trials)), between)


def pair_correlation(votes: np.ndarray) -> float:
    """Mean correlation of two voters over trials (n_trials, m); 0 where nobody ever differs."""
    m = votes.shape[1]
    mean = votes.mean()
    variance = mean * (1 - mean)
    if variance == 0:
        return 0.0
    of_sum = float(np.mean((votes.sum(axis=1) - m * mean) ** 2))
    return float((of_sum / (m * variance) - 1) / (m - 1))


def jury_table(probabilities, sizes, correlation: float = 0.0) -> np.ndarray:
    """`majority_probability` over several p (rows) and m (columns), for a plot.

    Parameters
    ----------
    probabilities : array-like of float
    sizes : array-like of int
    correlation : float, default=0.0

    Returns
    -------
    table : ndarray of shape (n_probabilities, n_sizes)

    Examples
    --------
    >>> jury_table([0.5, 0.6], [1, 3]).round(3).tolist()
    [[0.5, 0.5], [0.6, 0.648]]
    """
    return np.array(
        [[majority_probability(p, m, correlation) for m in sizes] for p in probabilities]
    )
