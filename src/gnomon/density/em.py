"""Expectation-maximisation in its general form, for mixtures of any distributions.

The E-step gives every outcome to the components in the shares a_ik of their posterior probability;
the M-step fits every component to the outcomes weighted by its shares (a weighted maximum
likelihood). By Jensen's inequality sum_i sum_k a_ik log(c_k p_k(x_i) / a_ik) is a lower bound of
the log-likelihood, which it touches after every E-step; so the likelihood never falls. (002 prints
the bound without the shares: it is false where densities exceed 1.) The end is a local maximum
("local minimum" in 000b is a slip): start several times, and look at all ends.

Texts: 000b 9.2, procedure 9.1 · 002 "EM" (L4634-4783) · 004 12.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.estimate import checked_weights
from gnomon.contract.result import Result
from gnomon.density.distributions import Mixture
from gnomon.density.draws import as_generator
from gnomon.engine.errors import DataError

ASSIGNMENTS = ("soft", "hard")
COOLING = 0.9  # judgement: slow enough to follow a maximum, and from 10 to 1 in 22 steps


@dataclass(repr=False, eq=False)
class EMFit(Result):
    """A mixture found by EM, and how all starts ended.

    Attributes
    ----------
    mixture : Mixture
        Of the best start.
    log_likelihood : float
    history : list of float
        Its log-likelihood after each step.
    ends : list of float
        Log-likelihood at the end of every start; minus infinity where a component collapsed.
    steps : list of int
        Steps of every start.
    converged : bool
    """

    mixture: Mixture
    log_likelihood: float
    history: list[float]
    ends: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    converged: bool = True

    def _title(self):
        return f"EM of {len(self.mixture.components)} components: {self.log_likelihood:.6g}"

    def _columns(self):
        return {
            "start": list(range(1, len(self.ends) + 1)),
            "log-likelihood": self.ends,
            "steps": self.steps,
        }


def lower_bound(joint: ArrayLike, shares: ArrayLike) -> float:
    """Jensen's lower bound sum_ik a_ik (log c_k p_k(x_i) - log a_ik) of the log-likelihood.

    Parameters
    ----------
    joint : array-like of shape (n, K)
        log(c_k p_k(x_i)).
    shares : array-like of shape (n, K)
        a; rows sum to one.

    Returns
    -------
    bound : float
        Equal to the log-likelihood where the shares are the posterior probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> joint = np.log([[0.2, 0.6]])
    >>> round(lower_bound(joint, [[0.25, 0.75]]), 6) == round(float(np.log(0.8)), 6)
    True
    """
    joint, shares = np.asarray(joint, dtype=float), np.asarray(shares, dtype=float)
    held = shares > 0
    return float((shares[held] * (joint[held] - np.log(shares[held]))).sum())


def fit_mixture(
    x: ArrayLike,
    parts: Sequence[Any],
    *,
    assignment: str = "soft",
    temperature: float = 1.0,
    sample_weight: ArrayLike | None = None,
    n_init: int = 10,
    max_iter: int = 500,
    tol: float = 1e-9,
    random_state: Any = None,
) -> EMFit:
    """EM for a mixture of any distributions, in memory; every start is reported.

    For large tables of common families use `GaussianMixture` or `FamilyMixture`, which stream.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, d)
        Outcomes.
    parts : sequence
        One entry per component: something with ``fit(x, sample_weight)`` that gives a distribution
        (``Normal()``, ``Poisson()``, ``StudentT``), or a distribution that stays as it is (a
        ``Uniform`` for outliers).
    assignment : {"soft", "hard"}, default="soft"
        "hard" gives every outcome to its likeliest component alone (classification EM; with equal
        spherical normals this is k-means).
    temperature : float, default=1.0
        Annealing: shares in proportion to (c p)^(1 / t), from this t cooled to 1; above 1 the
        first steps see a smoother likelihood.
    sample_weight : array-like of shape (n,), default=None
    n_init : int, default=10
        Starts: each from random outcomes as centres.
    max_iter : int, default=500
        Most steps of a start.
    tol : float, default=1e-9
        Ends when the mean log-likelihood changes by less.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    fit : EMFit

    Examples
    --------
    >>> from gnomon.density import Poisson
    >>> fit = fit_mixture([1, 0, 2, 1, 20, 22, 19], [Poisson(), Poisson()], random_state=0)
    >>> sorted(round(part.mean, 2) for part in fit.mixture.components)
    [1.0, 20.33]
    """
    if assignment not in ASSIGNMENTS:
        raise DataError(f"assignment={assignment!r} is none of {', '.join(ASSIGNMENTS)}")
    if not temperature >= 1:
        raise DataError(f"temperature={temperature} must be 1 or more")
    x = np.asarray(x, dtype=np.float64)
    weights = checked_weights(sample_weight, len(x))
    weights = np.ones(len(x)) if weights is None else weights
    if len(x) < len(parts) or not parts:
        raise DataError(f"{len(x)} outcomes are too few for {len(parts)} components")
    rng = as_generator(random_state)
    best: EMFit | None = None
    ends, steps, trouble = [], [], ""
    for _ in range(n_init):
        try:
            start = _first_shares(x, parts, rng)
            fit = _run(x, weights, parts, start, assignment, temperature, max_iter, tol)
        except DataError as error:
            ends.append(-np.inf)
            steps.append(0)
            trouble = str(error)
            continue
        ends.append(fit.log_likelihood)
        steps.append(len(fit.history))
        if best is None or fit.log_likelihood > best.log_likelihood:
            best = fit
    if best is None:
        raise DataError(f"every start collapsed: {trouble}. Use fewer components")
    best.ends, best.steps = ends, steps
    return best


def _first_shares(x: np.ndarray, parts: Sequence[Any], rng: np.random.Generator) -> np.ndarray:
    """Outcomes given to the nearest of random ones; fixed parts begin with little of each."""
    free = [k for k, part in enumerate(parts) if hasattr(part, "fit") and not _is_fixed(part)]
    shares = np.full((len(x), len(parts)), 0.05 if len(free) < len(parts) else 0.0)
    rows = x.reshape(len(x), -1)
    if free:
        centers = rows[rng.choice(len(rows), len(free), replace=False)]
        apart = ((rows[:, None, :] - centers) ** 2).sum(axis=2)
        shares[:, free] = 1e-3
        shares[np.arange(len(x)), np.array(free)[apart.argmin(axis=1)]] = 1.0
    return shares / shares.sum(axis=1, keepdims=True)


def _is_fixed(part: Any) -> bool:
    """A distribution that is already there, rather than a family or class to be fitted."""
    return not isinstance(part, type) and hasattr(part, "log_density")


def _run(x, weights, parts, shares, assignment, temperature, max_iter, tol) -> EMFit:
    history: list[float] = []
    heat = temperature
    converged = False
    mixture = _maximized(x, weights, parts, shares)
    for step in range(max_iter):
        joint = mixture._joint(x)
        reached = float(weights @ logsumexp(joint, axis=1))
        if not np.isfinite(reached):
            raise DataError("an outcome has no density under any component")
        history.append(reached)
        if len(history) > 1 and heat == 1.0:
            converged = abs(history[-1] - history[-2]) < tol * weights.sum()
            if converged:
                break
        if step == max_iter - 1:
            break
        mixture = _maximized(x, weights, parts, _expected(joint / heat, assignment))
        heat = max(1.0, heat * COOLING)
    return EMFit(mixture, history[-1], history, converged=converged)


def _expected(joint: np.ndarray, assignment: str) -> np.ndarray:
    if assignment == "hard":
        return (np.arange(joint.shape[1]) == joint.argmax(axis=1)[:, None]).astype(float)
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def _maximized(x, weights, parts, shares) -> Mixture:
    own = shares * weights[:, None]
    total = own.sum(axis=0)
    if not (total > 0).all():
        raise DataError(f"component {int(total.argmin())} has lost all its outcomes")
    fitted = [
        part if _is_fixed(part) else part.fit(x[own[:, k] > 0], own[own[:, k] > 0, k])
        for k, part in enumerate(parts)
    ]
    return Mixture(fitted, total / total.sum())
