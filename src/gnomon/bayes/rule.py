"""Bayes' rule, and the decisions that follow from it.

    posterior = likelihood x prior / evidence

for finitely many hypotheses, in odds, one observation after another, and for a parameter on a
line; the Bayes-optimal class and its risk where p(class | x) is known; the optimal prediction over
a finite set of hypotheses.

Texts: 002 "Bayes equation", "Bayes classifier" (its continuous denominator must integrate over y,
p(x) = integral p(x | y) p(y) dy) · 003 3.1, 2.5.7 (De Morgan is misprinted there: not (a and b) is
(not a) or (not b)) · 000a 1.1.1, 1.3 · 004 11.7.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.density.draws import as_generator
from gnomon.density.families import simplex
from gnomon.engine.errors import DataError


@dataclass(repr=False, eq=False)
class Belief(Result):
    """Probabilities of finitely many hypotheses, before and after an observation.

    Attributes
    ----------
    hypotheses : list
    prior : ndarray
    likelihood : ndarray
        P(observation | hypothesis), up to a factor where it came as logarithms.
    evidence : float
        P(observation).
    posterior : ndarray
    """

    hypotheses: list[Hashable]
    prior: np.ndarray
    likelihood: np.ndarray
    evidence: float
    posterior: np.ndarray

    @property
    def best(self) -> Hashable:
        """The most probable hypothesis; of equals the first."""
        return self.hypotheses[int(self.posterior.argmax())]

    def odds(self, of: Hashable, against: Hashable) -> float:
        """Posterior odds of one hypothesis against another: prior odds times the Bayes factor.

        Parameters
        ----------
        of, against : hypotheses

        Returns
        -------
        odds : float
        """
        one, other = self.hypotheses.index(of), self.hypotheses.index(against)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.posterior[one] / self.posterior[other])

    def bayes_factor(self, of: Hashable, against: Hashable) -> float:
        """Ratio of the likelihoods: by how much the observation changed the odds.

        Parameters
        ----------
        of, against : hypotheses

        Returns
        -------
        factor : float
        """
        one, other = self.hypotheses.index(of), self.hypotheses.index(against)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.likelihood[one] / self.likelihood[other])

    def update(self, likelihood: ArrayLike) -> Belief:
        """The belief after one more observation, independent of the others given the hypothesis.

        Parameters
        ----------
        likelihood : array-like, one number per hypothesis

        Returns
        -------
        belief : Belief
        """
        return bayes_rule(self.posterior, likelihood, self.hypotheses)

    def _title(self):
        return f"Bayes' rule: evidence {self.evidence:.4g}"

    def _columns(self):
        return {
            "hypothesis": list(self.hypotheses),
            "prior": list(self.prior),
            "likelihood": list(self.likelihood),
            "posterior": list(self.posterior),
        }


def bayes_rule(
    prior: ArrayLike, likelihood: ArrayLike, hypotheses: Sequence[Hashable] | None = None
) -> Belief:
    """Posterior probabilities of finitely many hypotheses.

    P(h | x) = P(x | h) P(h) / sum_g P(x | g) P(g). Observations in turn give the same as all at
    once, in any order, where they are independent given the hypothesis.

    Parameters
    ----------
    prior : array-like of shape (k,)
        P(h).
    likelihood : array-like of shape (k,) or (m, k)
        P(x | h) of one observation, or of several in turn.
    hypotheses : sequence, default=None
        Their names.

    Returns
    -------
    belief : Belief

    Examples
    --------
    A test that finds 90% of the ill and errs on 5% of the healthy, where 1% are ill:

    >>> belief = bayes_rule([0.01, 0.99], [0.9, 0.05], ["ill", "healthy"])
    >>> belief.posterior.round(4)
    array([0.1538, 0.8462])
    >>> round(belief.bayes_factor("ill", "healthy"), 1)
    18.0
    """
    prior = simplex(prior, "prior")
    likelihood = np.asarray(likelihood, dtype=np.float64)
    if prior.ndim != 1 or likelihood.shape[-1:] != prior.shape or likelihood.ndim > 2:
        raise DataError(
            f"likelihood of shape {likelihood.shape} does not fit {len(prior)} hypotheses"
        )
    if not np.isfinite(likelihood).all() or (likelihood < 0).any():
        raise DataError("a likelihood is finite and not negative")
    names: list[Hashable] = list(range(len(prior)) if hypotheses is None else hypotheses)
    if len(names) != len(prior):
        raise DataError(f"{len(names)} names for {len(prior)} hypotheses")
    with np.errstate(divide="ignore"):
        logs = np.log(np.atleast_2d(likelihood)).sum(axis=0)
        joint = np.log(prior) + logs
    evidence = logsumexp(joint)
    if evidence == -np.inf:
        raise DataError(
            "no hypothesis of positive prior can give this observation: add one that can"
        )
    return Belief(names, prior, np.exp(logs), float(np.exp(evidence)), np.exp(joint - evidence))


def odds_to_probability(odds: ArrayLike) -> Any:
    """o / (1 + o), the probability of an event with odds o; infinite odds are certainty.

    Parameters
    ----------
    odds : array-like

    Returns
    -------
    probability : float or ndarray

    Examples
    --------
    >>> odds_to_probability(3.0)
    0.75
    """
    odds = np.asarray(odds, dtype=np.float64)
    if (odds < 0).any():
        raise DataError("odds are zero or more")
    found = np.where(np.isinf(odds), 1.0, odds / (1 + np.where(np.isinf(odds), 0.0, odds)))
    return float(found) if found.ndim == 0 else found


def probability_to_odds(probability: ArrayLike) -> Any:
    """p / (1 - p).

    Parameters
    ----------
    probability : array-like

    Returns
    -------
    odds : float or ndarray

    Examples
    --------
    >>> probability_to_odds(0.75)
    3.0
    """
    p = np.asarray(probability, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise DataError("probabilities lie between 0 and 1")
    with np.errstate(divide="ignore"):
        found = p / (1 - p)
    return float(found) if found.ndim == 0 else found


@dataclass(repr=False, eq=False)
class BayesRisk(Result):
    """Risk of the best possible classifier.

    Attributes
    ----------
    risk : Estimate
        Expected cost (error rate, with equal costs); an interval where it was sampled.
    decisions : ndarray
        The optimal class code of each row that was looked at.
    """

    risk: Estimate
    decisions: np.ndarray

    def _title(self):
        return f"Bayes risk: {self.risk}"

    def _columns(self):
        codes, counts = np.unique(self.decisions, return_counts=True)
        return {"class": codes.tolist(), "share": (counts / counts.sum()).tolist()}


def expected_costs(proba: ArrayLike, costs: ArrayLike | None = None) -> np.ndarray:
    """Expected cost of deciding for each class, given p(class | x): 1 - p for equal costs.

    Parameters
    ----------
    proba : array-like of shape (n, n_classes)
    costs : array-like of shape (n_classes, n_decisions), default=None
        costs[i, j]: cost of deciding j where i is true; 0 and 1 by default.

    Returns
    -------
    expected : ndarray of shape (n, n_decisions)

    Examples
    --------
    >>> expected_costs([[0.9, 0.1]], [[0, 1], [20, 0]])
    array([[2. , 0.9]])
    """
    proba = simplex(np.atleast_2d(np.asarray(proba, dtype=np.float64)), "proba")
    return proba @ checked_costs(costs, proba.shape[1])


def checked_costs(costs: Any, n_classes: int) -> np.ndarray:
    """Costs of decisions as an array of n_classes rows; zero and one where there are none."""
    if costs is None:
        return 1.0 - np.eye(n_classes)
    costs = np.asarray(costs, dtype=np.float64)
    if costs.ndim != 2 or len(costs) != n_classes or not np.isfinite(costs).all():
        raise DataError(
            f"costs has shape {costs.shape}; it needs a row per true class ({n_classes}) and a "
            "column per decision, all finite"
        )
    return costs


def bayes_decision(
    proba: ArrayLike, costs: ArrayLike | None = None, random_state: Any = None
) -> np.ndarray:
    """The decision of least expected cost for each row; ties at random.

    Parameters
    ----------
    proba : array-like of shape (n, n_classes)
        p(class | x).
    costs : array-like of shape (n_classes, n_decisions), default=None
        0 and 1 by default: the most probable class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of ties.

    Returns
    -------
    codes : ndarray of int of shape (n,)

    Examples
    --------
    >>> bayes_decision([[0.9, 0.1], [0.2, 0.8]])
    array([0, 1])
    >>> bayes_decision([[0.9, 0.1]], [[0, 1], [20, 0]])
    array([1])
    """
    expected = expected_costs(proba, costs)
    least = expected.min(axis=1, keepdims=True)
    tied = expected <= least + 1e-12 * np.maximum(np.abs(least), 1.0)
    codes = tied.argmax(axis=1)
    several = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(several):
        draws = as_generator(random_state).random((len(several), expected.shape[1]))
        codes[several] = np.where(tied[several], draws, -1.0).argmax(axis=1)
    return codes


def bayes_risk(
    proba: ArrayLike | Callable[[np.ndarray], ArrayLike],
    X: Any = None,
    *,
    weights: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    confidence_level: float = 0.95,
    random_state: Any = 0,
) -> BayesRisk:
    """The least expected cost that any classifier can have, where p(class | x) is known.

    With equal costs E[1 - max_k p(k | x)]: no classifier errs less, whatever it learns from. For
    simulated problems (`gnomon.table.generate`), or where x takes finitely many values.

    Parameters
    ----------
    proba : array-like of shape (n, n_classes), or callable of X
        p(class | x).
    X : array-like, default=None
        Rows drawn from p(x), for a callable.
    weights : array-like of shape (n,), default=None
        P(x) where the rows are all values that x can take: the risk is then exact.
    costs : array-like of shape (n_classes, n_decisions), default=None
        0 and 1 by default.
    confidence_level : float, default=0.95
        Level of the interval, where rows were drawn.
    random_state : int, RandomState, Generator or None, default=0
        Seed of ties between decisions.

    Returns
    -------
    found : BayesRisk

    Examples
    --------
    >>> bayes_risk([[0.9, 0.1], [0.4, 0.6]], weights=[0.5, 0.5]).risk.value
    0.25
    """
    if callable(proba):
        if X is None:
            raise DataError("give X, rows drawn from p(x), where proba is a function of them")
        proba = proba(X)
    proba = np.asarray(proba, dtype=np.float64)
    cost = expected_costs(proba, costs).min(axis=1)
    decisions = bayes_decision(proba, costs, random_state)
    if weights is None:
        return BayesRisk(mean_interval(cost, confidence_level=confidence_level), decisions)
    value = float(simplex(weights, "weights") @ cost)
    return BayesRisk(Estimate(value, value, value, 1.0, 0.0, "exact"), decisions)


@dataclass(repr=False, eq=False)
class HypothesisSet(Result):
    """Bayes-optimal prediction over a finite set of hypotheses.

    P(y | x, D) = sum_h P(y | h, x) P(h | D): the mean of what all hypotheses say, each weighted by
    its posterior probability. No other combination errs less on average, as long as the truth is
    among the hypotheses and the prior is right; the most probable hypothesis alone can be wrong
    where the others agree. A uniform prior over all functions makes learning impossible: let the
    prior favour simple hypotheses (`simplicity_prior`).

    Parameters
    ----------
    hypotheses : sequence of callables or fitted classifiers
        Each gives P(y | h, x) of shape (n, n_classes) for rows, or has ``predict_proba``. They must
        give probabilities, not only classes.
    prior : array-like of shape (m,), default=None
        P(h); equal by default.
    names : sequence of str, default=None

    Attributes
    ----------
    posterior : ndarray of shape (m,)
        P(h | D); the prior before `learn`.
    log_likelihood : ndarray of shape (m,)
        log P(D | h).

    Examples
    --------
    Three hypotheses of posterior 0.4, 0.3 and 0.3; the best one says no, the others yes:

    >>> said = [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> voices = [lambda x, p=p: [p] * len(x) for p in said]
    >>> HypothesisSet(voices, [0.4, 0.3, 0.3]).predict_proba([[0.0]])
    array([[0.6, 0.4]])
    """

    hypotheses: Sequence[Any]
    prior: Any = None
    names: Any = None

    def __post_init__(self):
        m = len(self.hypotheses)
        if m == 0:
            raise DataError("there is no hypothesis")
        self.prior = np.full(m, 1 / m) if self.prior is None else simplex(self.prior, "prior")
        if len(self.prior) != m:
            raise DataError(f"{len(self.prior)} priors for {m} hypotheses")
        self.names = [f"h{i + 1}" for i in range(m)] if self.names is None else list(self.names)
        self.log_likelihood = np.zeros(m)

    @property
    def posterior(self) -> np.ndarray:
        """P(h | D)."""
        with np.errstate(divide="ignore"):
            joint = np.log(self.prior) + self.log_likelihood
        if joint.max() == -np.inf:
            raise DataError("every hypothesis of positive prior excludes the data")
        return np.exp(joint - logsumexp(joint))

    def learn(self, X: Any, y: ArrayLike) -> HypothesisSet:
        """Take in observations: log P(D | h) grows by sum_i log P(y_i | h, x_i).

        Parameters
        ----------
        X : array-like or table of shape (n, n_columns)
        y : array-like of int of shape (n,)
            Class codes: columns of what the hypotheses give.

        Returns
        -------
        self : HypothesisSet
        """
        y = np.asarray(y, dtype=np.int64)
        with np.errstate(divide="ignore"):
            self.log_likelihood = self.log_likelihood + np.array(
                [np.log(self._said(h, X)[np.arange(len(y)), y]).sum() for h in self.hypotheses]
            )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """sum_h P(y | h, x) P(h | D).

        Parameters
        ----------
        X : array-like or table of shape (n, n_columns)

        Returns
        -------
        proba : ndarray of shape (n, n_classes)
        """
        weights = self.posterior
        return sum(w * self._said(h, X) for w, h in zip(weights, self.hypotheses))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class code; of equals the first.

        Parameters
        ----------
        X : array-like or table of shape (n, n_columns)

        Returns
        -------
        codes : ndarray of shape (n,)
        """
        return self.predict_proba(X).argmax(axis=1)

    def _said(self, hypothesis: Any, X: Any) -> np.ndarray:
        ask = getattr(hypothesis, "predict_proba", hypothesis)
        if not callable(ask):
            raise DataError(f"{hypothesis!r} gives no probabilities; a hypothesis must")
        proba = np.asarray(ask(X), dtype=np.float64)
        return simplex(np.atleast_2d(proba), "what a hypothesis gives")

    def _title(self):
        return f"{len(self.hypotheses)} hypotheses"

    def _columns(self):
        return {
            "hypothesis": self.names,
            "prior": list(self.prior),
            "log likelihood": list(self.log_likelihood),
            "posterior": list(self.posterior),
        }


def simplicity_prior(sizes: ArrayLike, per_part: float = 1.0) -> np.ndarray:
    """A prior that favours simple hypotheses, in proportion to exp(-per_part size).

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Size of each hypothesis: leaves of a tree, parameters, length of its description.
    per_part : float, default=1.0
        log 2 for sizes in bits.

    Returns
    -------
    prior : ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> simplicity_prior([1, 2, 3], np.log(2)).round(4)
    array([0.5714, 0.2857, 0.1429])
    """
    logs = -per_part * np.asarray(sizes, dtype=np.float64)
    return np.exp(logs - logsumexp(logs))
