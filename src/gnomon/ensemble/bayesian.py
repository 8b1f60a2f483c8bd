"""Bayesian model averaging and combination: members weighted by how well they explain the data.

Averaging weights each member by its posterior probability, P(h | D) ~ P(D | h) P(h): it asks which
member is the true one, and with many rows nearly all weight goes to one. Combination asks which
*mixture* of the members is the true one: weightings c are drawn from the simplex, each gets the
weight P(D | c), and the answer is the mean over the weightings. Since mixtures of probabilities are
linear in c, that mean is one mixture again, sum_c P(c | D) c.

Texts: 003 2.5.7 (Bayes optimal classifier), 2.5.8, 2.5.9 (named there; the second as Monteith and
others 2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import RealNotInt

from gnomon.contract import Classifier, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.parameters import JOBS, SEED, Interval, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Object
from gnomon.ensemble.bagging import LEARNER
from gnomon.ensemble.base import Training, weighted_mean
from gnomon.ensemble.committee import OfOneKind
from gnomon.ensemble.held_out import say
from gnomon.ensemble.lots import Part, lots_within
from gnomon.ensemble.member import Member, fit_member, seeded

BAYES_CONSTRAINTS = {
    "estimator": LEARNER,
    "n_estimators": [whole(1)],
    "holdout": [None, Interval(RealNotInt, 0, 1, closed="neither")],
    "n_jobs": JOBS,
    "random_state": SEED,
}
NOISE = [between(0, 1, "neither")]
PRIOR = [None, "array-like"]
# Texts of parameters that classes here share, for their docstrings.
BAYESIAN_PARAMETERS = """\
estimator : estimator or list of estimators
    The learner, of any library; several are used in turns. None for a full decision tree.
n_estimators : int
    Number of members.
noise : float
    Probability that a label is arbitrary.
prior : array-like of shape (n_estimators,)
    Prior probabilities of the members, up to a factor; None for equal ones.
holdout : float
    Share of the rows that is kept from the members and weighs them; None to use all rows for
    both, as the text does.
n_jobs : int
    Threads; None for one per processor.
random_state : int, RandomState or None
    Of the draws of rows and of the members.
n_combinations : int
    Number of weightings drawn.
"""


class Weighed(NamedTuple):
    """A member, and per row of evidence the probability of the class, or the error."""

    member: Member
    evidence: np.ndarray


def posterior(log_likelihood: np.ndarray, prior: np.ndarray | None = None) -> np.ndarray:
    """Probabilities in proportion to likelihood times prior.

    Parameters
    ----------
    log_likelihood : ndarray of shape (n,)
    prior : ndarray of shape (n,), optional
        Equal where it is left out.

    Returns
    -------
    probabilities : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> posterior(np.log([0.2, 0.6])).round(6)
    array([0.25, 0.75])
    """
    scores = log_likelihood - np.max(log_likelihood)
    found = np.exp(scores) * (1.0 if prior is None else prior)
    return found / found.sum()


class BayesianEnsemble(OfOneKind):
    """Mixin: members on bootstrap samples, weighted by what they say of the evidence."""

    voting = "soft"
    _stored = {
        "effective_members_": Number(),
        "members_": ListOf(Object(("Member",)), "n_estimators"),
        "weights_": Array("f8", ("n_estimators",), low=0.0),
    }

    def _pool_weights(self) -> np.ndarray:
        return self.weights_

    def _fit_ensemble(self, training: Training) -> None:
        is_class = self._target == "classes"
        n_classes = len(self.classes_) if is_class else 0
        rng = self._rng()
        learn, evidence = self._split(training, rng)
        lots = lots_within(learn, training.n_rows)
        seeds = rng.integers(2**31 - 1, size=self.n_estimators + 1).tolist()
        rows, y = training.rows[evidence.positions], training.y[evidence.positions]

        def fit(job) -> Weighed:
            (name, learner), seed = job
            part = lots.bootstrap(lots.n_lots, np.random.default_rng([seed, 0]))
            member = fit_member(seeded(learner, seed, True), name, training, part, seed=seed)
            said = say(member, rows, n_classes)
            return Weighed(member, said[np.arange(len(y)), y] if is_class else said[:, 0] - y)

        def weighed(made: list[Weighed]) -> dict[str, Any]:
            found = np.column_stack([each.evidence for each in made])
            weights, more = self._weigh(found, evidence.weight_array, seeds[-1])
            return {
                "members_": [each.member for each in made],
                "weights_": weights,
                "effective_members_": float(1.0 / (weights**2).sum()),
            } | more

        def objective(made: list[Weighed]) -> float:
            found = made[-1].evidence[:, None]
            return float(-self._log_likelihood(found, np.ones((1, 1)), evidence.weight_array)[0])

        jobs = list(zip(self._in_turns(self.n_estimators), seeds[:-1], strict=True))
        made = self._fit_each(jobs, fit, objective, weighed)
        self._keep(weighed(made))

    def _split(self, training: Training, rng: np.random.Generator) -> tuple[Part, Part]:
        if self.holdout is None:
            return training.whole(), training.whole()
        strata = training.y if self._target == "classes" else None
        return training.lots.halves(self.holdout, rng, strata)

    def _log_likelihood(
        self, evidence: np.ndarray, mixtures: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Log-likelihood of each mixture (m, n_members) of the members.

        Classes: labels are arbitrary with probability ``noise``, and else follow the mixture.
        Numbers: errors are normal, with the variance of each mixture's own errors.
        """
        if self._target == "classes":
            n_classes = len(self.classes_)
            right = (1 - self.noise) * (evidence @ mixtures.T) + self.noise / n_classes
            return weights @ np.log(np.maximum(right, np.finfo(float).tiny))
        scale = max(float(np.abs(evidence).max()), np.finfo(float).tiny)
        errors = evidence / scale
        gram = (errors * weights[:, None]).T @ errors / weights.sum()
        variance = np.einsum("cm,mk,ck->c", mixtures, gram, mixtures)
        variance = np.maximum(variance, 1e-14)
        total = weights.sum()
        return -0.5 * total * (np.log(2 * np.pi * variance) + 2 * np.log(scale) + 1)

    def _weigh(self, evidence: np.ndarray, weights: np.ndarray, seed: int):
        raise NotImplementedError

    def _estimate(self, rows):
        return weighted_mean(self._ask(lambda m: m.estimate(rows), rows), self.weights_)


class Averaging(BayesianEnsemble):
    """Mixin: the weight of a member is its posterior probability."""

    _stored = {
        "log_likelihood_": Array("f8", ("n_estimators",)),
    }

    def _weigh(self, evidence, weights, seed):
        n_members = evidence.shape[1]
        likelihood = self._log_likelihood(evidence, np.eye(n_members), weights)
        return posterior(likelihood, self._prior(n_members)), {"log_likelihood_": likelihood}

    def _prior(self, n_members: int) -> np.ndarray | None:
        if self.prior is None:
            return None
        prior = np.asarray(self.prior, dtype=np.float64)
        if prior.shape != (self.n_estimators,):
            raise ValueError(f"prior has {prior.size} entries for {self.n_estimators} members")
        if not np.isfinite(prior).all() or (prior <= 0).any():
            raise ValueError("prior must hold positive numbers")
        return prior[:n_members] / prior[:n_members].sum()


class Combination(BayesianEnsemble):
    """Mixin: weightings drawn from the simplex, each weighted by its posterior probability."""

    _stored = {
        "effective_combinations_": Number(),
    }

    def _weigh(self, evidence, weights, seed):
        rng = np.random.default_rng(seed)
        mixtures = rng.dirichlet(np.ones(self.n_estimators), size=self.n_combinations)
        n_members = evidence.shape[1]
        mixtures = mixtures[:, :n_members] / mixtures[:, :n_members].sum(axis=1, keepdims=True)
        trust = posterior(self._log_likelihood(evidence, mixtures, weights))
        return trust @ mixtures, {"effective_combinations_": float(1.0 / (trust**2).sum())}


@method(
    task="classify",
    texts="003 2.5.7, 2.5.8",
    use="Members of which one is believed to be the true model, and their posterior is wanted.",
    avoid="As a way to better accuracy: with many rows it is nearly one member. Combine instead.",
    peers=("Waffles bma",),
)
@shared_parameters(BAYESIAN_PARAMETERS)
class BayesianAveragingClassifier(Averaging, Classifier):
    """Members weighted by their posterior probability given the data.

    Use it where one of the members is believed to be the true model; not for accuracy: with many
    rows nearly all weight goes to one member (see ``effective_members_``). Weights are
    P(h | D) ~ P(h) prod_i ((1 - e) p_h(y_i | x_i) + e / K), with e the probability that a label is
    arbitrary, which the text leaves out and without which one row of probability zero excludes a
    member. Members learn from bootstrap samples. Texts: 003 2.5.7, 2.5.8.

    Parameters
    ----------

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    log_likelihood_ : ndarray of shape (n_members,)
        Log P(D | h).
    effective_members_ : float
        1 / sum_h P(h | D)^2: how many members have a say.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        Minus the log-likelihood of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BayesianAveragingClassifier
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = BayesianAveragingClassifier(random_state=0).fit(rows, [0] * 10 + [1] * 10)
    >>> model.predict([[0.0], [19.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = {**BAYES_CONSTRAINTS, "noise": NOISE, "prior": PRIOR}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        noise=0.05,
        prior=None,
        holdout=0.25,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.prior = prior
        self.holdout = holdout
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="003 2.5.7, 2.5.8",
    use="Members of which one is believed to be the true model, and their posterior is wanted.",
    avoid="As a way to better accuracy: with many rows it is nearly one member. Combine instead.",
    peers=("R BMA",),
)
@shared_parameters(BAYESIAN_PARAMETERS)
class BayesianAveragingRegressor(Averaging, Regressor):
    """Members weighted by their posterior probability given the data.

    Use it where one of the members is believed to be the true model; not for accuracy: with many
    rows nearly all weight goes to one member (see ``effective_members_``). Weights are
    P(h | D) ~ P(h) s_h^-W, with s_h^2 the mean squared error of the member and W the total weight:
    normal errors whose variance is estimated. Members learn from bootstrap samples. Texts: 003
    2.5.7, 2.5.8.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree.
    holdout : float, default=0.25
        Share of the rows that is kept from the members and weighs them; None to use all rows for
        both.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    log_likelihood_ : ndarray of shape (n_members,)
        Log P(D | h).
    effective_members_ : float
        1 / sum_h P(h | D)^2: how many members have a say.
    history_ : History
        Minus the log-likelihood of each member.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BayesianAveragingRegressor
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = BayesianAveragingRegressor(random_state=0).fit(rows, [0.0] * 10 + [1.0] * 10)
    >>> round(float(model.weights_.sum()), 6)
    1.0
    """

    _parameter_constraints = {**BAYES_CONSTRAINTS, "prior": PRIOR}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        prior=None,
        holdout=0.25,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.prior = prior
        self.holdout = holdout
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="classify",
    texts="003 2.5.9",
    use="Members whose best mixture is sought, with the uncertainty about it averaged out.",
    avoid="Very many members: draws from a simplex of many corners are all alike.",
    peers=("Waffles bmc",),
)
@shared_parameters(BAYESIAN_PARAMETERS)
class BayesianCombinationClassifier(Combination, Classifier):
    """A mixture of members, averaged over weightings by their posterior probability.

    Use it to find a mixture of a few members; not with very many, since random weightings of many
    members are all alike. Weightings c are drawn uniformly from the simplex, and the answer is
    sum_c P(c | D) sum_m c_m p_m(k | x) with P(c | D) ~ prod_i ((1 - e) sum_m c_m p_m(y_i | x_i) + e
    / K), where e is the probability that a label is arbitrary. Members learn from bootstrap
    samples. Texts: 003 2.5.9.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows and weightings and of the members.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        The mean weighting.
    effective_members_ : float
        1 / sum_m w_m^2: how many members have a say.
    effective_combinations_ : float
        1 / sum_c P(c | D)^2: how many weightings have a say.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        Minus the log-likelihood of each member alone.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BayesianCombinationClassifier
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = BayesianCombinationClassifier(random_state=0).fit(rows, [0] * 10 + [1] * 10)
    >>> model.predict([[0.0], [19.0]]).tolist()
    [0, 1]
    """

    _parameter_constraints = {
        **BAYES_CONSTRAINTS,
        "noise": NOISE,
        "n_combinations": [whole(1)],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        n_combinations=100,
        noise=0.05,
        holdout=0.25,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_combinations = n_combinations
        self.noise = noise
        self.holdout = holdout
        self.n_jobs = n_jobs
        self.random_state = random_state


@method(
    task="regress",
    texts="003 2.5.9",
    use="Members whose best mixture is sought, with the uncertainty about it averaged out.",
    avoid="Very many members: draws from a simplex of many corners are all alike.",
    peers=("Waffles bmc",),
)
@shared_parameters(BAYESIAN_PARAMETERS)
class BayesianCombinationRegressor(Combination, Regressor):
    """A mixture of members, averaged over weightings by their posterior probability.

    Use it to find a mixture of a few members; not with very many. Weightings c are drawn uniformly
    from the simplex, and the answer is sum_c P(c | D) sum_m c_m g_m(x) with P(c | D) ~ s_c^-W,
    s_c^2 being the mean squared error of the mixture and W the total weight. Members learn from
    bootstrap samples. Texts: 003 2.5.9.

    Parameters
    ----------
    estimator : estimator or list of estimators, default=None
        The learner, of any library; several are used in turns. None for a full regression tree.
    holdout : float, default=0.25
        Share of the rows that is kept from the members and weighs them; None to use all rows for
        both.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows and weightings and of the members.

    Attributes
    ----------
    members_ : list of Member
        The fitted members; ``estimators_`` lists their learners.
    weights_ : ndarray of shape (n_members,)
        The mean weighting.
    effective_members_ : float
        1 / sum_m w_m^2: how many members have a say.
    effective_combinations_ : float
        1 / sum_c P(c | D)^2: how many weightings have a say.
    history_ : History
        Minus the log-likelihood of each member alone.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import BayesianCombinationRegressor
    >>> rows = [[float(i)] for i in range(20)]
    >>> model = BayesianCombinationRegressor(random_state=0).fit(rows, [0.0] * 10 + [1.0] * 10)
    >>> round(float(model.weights_.sum()), 6)
    1.0
    """

    _parameter_constraints = {**BAYES_CONSTRAINTS, "n_combinations": [whole(1)]}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        n_combinations=100,
        holdout=0.25,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_combinations = n_combinations
        self.holdout = holdout
        self.n_jobs = n_jobs
        self.random_state = random_state
