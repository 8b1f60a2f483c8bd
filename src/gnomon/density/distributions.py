"""Distributions that are no exponential family, by name, by sample, or as mixtures of others.

Every distribution has ``log_density``, ``density``, ``sample``, and where known ``mean``,
``variance``; those with a class method ``fit`` are fitted by maximum likelihood. `likelihood_fit`
fits any density of given parameters numerically.

Texts: 002 "Maximum likelihood", "Mixtures", "Empirical distribution", "Zipf" · 003 3.2 · 000a 4.4.3
· 001 16.2, 19.2.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate, optimize, special
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.estimate import Estimate, checked_weights, finite_column, mean_interval
from gnomon.contract.result import Result
from gnomon.density.draws import as_generator
from gnomon.density.exponential_family import ScipyNames
from gnomon.density.families import Normal, simplex
from gnomon.engine.errors import DataError


class Distribution(ScipyNames):
    """What every distribution of this module has in common."""

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """log p(x)."""
        raise NotImplementedError

    def density(self, x: ArrayLike) -> np.ndarray:
        """p(x)."""
        return np.exp(self.log_density(x))

    def log_likelihood(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Sum of log p(x), weighted."""
        logs = self.log_density(x)
        return float(logs.sum() if sample_weight is None else np.asarray(sample_weight) @ logs)

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Independent outcomes."""
        raise NotImplementedError


def student_log_density(z: np.ndarray, degrees: float) -> np.ndarray:
    """log density of Student's t about zero, of scale one."""
    half = (degrees + 1) / 2
    peak = special.gammaln(half) - special.gammaln(degrees / 2) - 0.5 * np.log(degrees * np.pi)
    return peak - half * np.log1p(z**2 / degrees)


@dataclass(frozen=True)
class StudentT(Distribution):
    """Student's t about a location: heavy tails, so that outliers pull little.

    Parameters
    ----------
    degrees : float
        Of freedom; infinitely many give the normal.
    location : float, default=0.0
    scale : float, default=1.0

    Examples
    --------
    >>> StudentT(1.0).density([0.0]).round(4)
    array([0.3183])
    """

    degrees: float
    location: float = 0.0
    scale: float = 1.0

    def log_density(self, x):
        z = (np.asarray(x, dtype=float) - self.location) / self.scale
        return student_log_density(z, self.degrees) - np.log(self.scale)

    @property
    def mean(self) -> float:
        """The location, from more than one degree on."""
        return self.location if self.degrees > 1 else np.nan

    @property
    def variance(self) -> float:
        """scale^2 degrees / (degrees - 2); infinite up to two degrees."""
        if self.degrees <= 2:
            return np.inf
        return self.scale**2 * self.degrees / (self.degrees - 2)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """F(x)."""
        z = (np.asarray(x, dtype=float) - self.location) / self.scale
        return special.stdtr(self.degrees, z)

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """The quantile function, inverse of `cdf`."""
        return self.location + self.scale * special.stdtrit(self.degrees, np.asarray(q, float))

    def sample(self, n=1, random_state=None):
        return self.location + self.scale * as_generator(random_state).standard_t(self.degrees, n)

    @classmethod
    def fit(
        cls, x: ArrayLike, sample_weight: ArrayLike | None = None, degrees: float | None = None
    ) -> StudentT:
        """Maximum likelihood, by minimisation from the median and the spread about it.

        Parameters
        ----------
        x : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        degrees : float, default=None
            Known degrees; estimated by default, between 0.05 and 10,000.

        Returns
        -------
        fitted : StudentT
        """
        x = finite_column(x, "x")
        weights = checked_weights(sample_weight, len(x))
        weights = np.ones(len(x)) if weights is None else weights
        middle = float(np.median(x))
        width = float(np.median(np.abs(x - middle))) or float(x.std())
        if width == 0:
            raise DataError("StudentT: the outcomes do not differ, so that no scale fits them")
        z = (x - middle) / width

        def cost(parameters: np.ndarray) -> float:
            nu = np.exp(parameters[2]) if degrees is None else degrees
            scale = np.exp(parameters[1])
            logs = student_log_density((z - parameters[0]) / scale, nu) - parameters[1]
            return -float(weights @ logs) / float(weights.sum())

        bounds = [(None, None), (-12.0, 12.0), (-3.0, 9.2)][: 3 if degrees is None else 2]
        start = np.array([0.0, 0.0, np.log(5.0)])[: len(bounds)]
        found = optimize.minimize(
            cost, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-8}
        ).x
        nu = float(np.exp(found[2])) if degrees is None else float(degrees)
        return cls(nu, middle + width * float(found[0]), width * float(np.exp(found[1])))


@dataclass(frozen=True)
class Uniform(Distribution):
    """Equal density between two numbers, zero elsewhere.

    Parameters
    ----------
    low, high : float

    Examples
    --------
    >>> Uniform.fit([2.0, 5.0, 3.0])
    Uniform(low=2.0, high=5.0)
    """

    low: float
    high: float

    def log_density(self, x):
        x = np.asarray(x, dtype=float)
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, -np.log(self.high - self.low), -np.inf)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """F(x)."""
        share = (np.asarray(x, dtype=float) - self.low) / (self.high - self.low)
        return np.clip(share, 0.0, 1.0)

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """The quantile function, inverse of `cdf`."""
        return self.low + (self.high - self.low) * np.asarray(q, dtype=float)

    def sample(self, n=1, random_state=None):
        return as_generator(random_state).uniform(self.low, self.high, n)

    @classmethod
    def fit(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Uniform:
        """The range of the outcomes, which maximises the likelihood (and is too narrow)."""
        x = finite_column(x, "x")
        return cls(float(x.min()), float(x.max()))


@dataclass(frozen=True, eq=False)
class CategoricalDistribution(Distribution):
    """Named values with probabilities; the maximum likelihood fit is the relative frequency.

    One draw of one value: not the multinomial, whose outcomes are counts (003 3.2.1).

    Parameters
    ----------
    values : sequence
    probabilities : ndarray

    Examples
    --------
    >>> letters = CategoricalDistribution.fit("abracadabra")
    >>> letters.mode, round(letters.probability("b"), 4)
    ('a', 0.1818)
    """

    values: tuple[Hashable, ...]
    probabilities: np.ndarray

    def __post_init__(self):
        if len(set(self.values)) != len(self.values):
            raise DataError("values must be different from each other")
        object.__setattr__(self, "values", tuple(self.values))
        shares = simplex(self.probabilities, "probabilities")
        if shares.shape != (len(self.values),):
            raise DataError(f"{len(self.values)} values need as many probabilities")
        object.__setattr__(self, "probabilities", shares)

    @classmethod
    def fit(
        cls,
        x: Sequence[Hashable],
        sample_weight: ArrayLike | None = None,
        alpha: float = 0.0,
        values: Sequence[Hashable] | None = None,
    ) -> CategoricalDistribution:
        """Relative frequencies, (count + alpha) / (n + alpha k).

        Parameters
        ----------
        x : sequence
        sample_weight : array-like, default=None
        alpha : float, default=0.0
            Added to every count; 0 is maximum likelihood.
        values : sequence, default=None
            All values that may come; those of the data, sorted, by default.

        Returns
        -------
        fitted : CategoricalDistribution
        """
        x = list(x)
        if not x:
            raise DataError("there are no outcomes to count")
        weights = checked_weights(sample_weight, len(x))
        counts: dict[Hashable, float] = dict.fromkeys(values or sorted(set(x), key=repr), 0.0)
        for each, weight in zip(x, np.ones(len(x)) if weights is None else weights):
            if each not in counts:
                raise DataError(f"{each!r} is not among the values {list(counts)}")
            counts[each] += float(weight)
        found = np.array(list(counts.values())) + alpha
        return cls(tuple(counts), found / found.sum())

    def probability(self, value: Hashable) -> float:
        """P(value); zero for what is not among the values."""
        return float(dict(zip(self.values, self.probabilities)).get(value, 0.0))

    def log_density(self, x):
        with np.errstate(divide="ignore"):
            return np.log([self.probability(each) for each in x])

    @property
    def mode(self) -> Hashable:
        """The likeliest value; of equals the first."""
        return self.values[int(self.probabilities.argmax())]

    @property
    def support(self) -> list[Hashable]:
        """The values that can occur."""
        return [value for value, p in zip(self.values, self.probabilities) if p > 0]

    def entropy(self, base: float | None = None) -> float:
        """-sum p log p, in nats or to a base."""
        p = self.probabilities[self.probabilities > 0]
        return float(-(p * np.log(p)).sum()) / (1.0 if base is None else float(np.log(base))) + 0.0

    def sample(self, n=1, random_state=None):
        codes = as_generator(random_state).choice(len(self.values), n, p=self.probabilities)
        return np.array([self.values[code] for code in codes])


@dataclass(frozen=True, eq=False)
class EmpiricalDistribution(Distribution):
    """Mass 1/n on every item of a sample; the sample as a distribution.

    Expectations are means over the sample, draws are bootstrap draws, and by the law of large
    numbers it approaches what the sample came from.

    Parameters
    ----------
    items : ndarray of shape (n,) or (n, d)
    weights : ndarray of shape (n,), default=None

    Examples
    --------
    >>> sample = EmpiricalDistribution([1, 2, 2.5, 4, 7])
    >>> sample.cdf([2.0, 10.0])
    array([0.4, 1. ])
    >>> sample.expectation(lambda x: x > 2).value
    0.6
    """

    items: np.ndarray
    weights: np.ndarray | None = None
    _share: np.ndarray = field(init=False, repr=False)

    def __post_init__(self):
        items = np.asarray(self.items, dtype=np.float64)
        if items.ndim not in (1, 2) or not len(items) or not np.isfinite(items).all():
            raise DataError("a sample is one or more rows of finite numbers")
        object.__setattr__(self, "items", items)
        weights = checked_weights(self.weights, len(items))
        share = np.full(len(items), 1 / len(items)) if weights is None else weights / weights.sum()
        object.__setattr__(self, "_share", share)

    def log_density(self, x):
        """log P({x}): the mass that lies exactly there (this is no density)."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        same = x[:, None] == self.items if self.items.ndim == 1 else None
        if same is None:
            same = (np.atleast_2d(x)[:, None, :] == self.items).all(axis=2)
        with np.errstate(divide="ignore"):
            return np.log(same @ self._share)

    @property
    def mean(self) -> Any:
        """Mean of the items."""
        return self._share @ self.items

    @property
    def variance(self) -> Any:
        """Variance (divided by n), or covariance matrix."""
        centered = self.items - self.mean
        if self.items.ndim == 1:
            return float(self._share @ centered**2)
        return (centered * self._share[:, None]).T @ centered

    def expectation(
        self, function: Callable[[np.ndarray], Any], confidence_level: float = 0.95
    ) -> Estimate:
        """Plug-in estimate of E[f(X)], the mean of f over the items, with its standard error.

        Parameters
        ----------
        function : callable
            Of all items at once.
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        values = np.asarray(function(self.items), dtype=np.float64)
        return mean_interval(values, self.weights, confidence_level=confidence_level)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """F(x), the share of items <= x: right-continuous.

        Parameters
        ----------
        x : array-like of shape (m,)

        Returns
        -------
        shares : ndarray of shape (m,)
        """
        if self.items.ndim != 1:
            raise DataError("a cumulative distribution needs items of one number each")
        order = np.argsort(self.items, kind="stable")
        line = np.concatenate([[0.0], np.cumsum(self._share[order])])
        line[-1] = 1.0
        return line[np.searchsorted(self.items[order], np.asarray(x, dtype=float), side="right")]

    def quantile(self, share: ArrayLike) -> np.ndarray:
        """The least item x with F(x) >= share."""
        order = np.argsort(self.items, kind="stable")
        line = np.cumsum(self._share[order])
        places = np.searchsorted(line, np.asarray(share, dtype=float) - 1e-12, side="left")
        return self.items[order][np.minimum(places, len(line) - 1)]

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """The quantile function under SciPy's name; the same as `quantile`."""
        return self.quantile(q)

    def sample(self, n=1, random_state=None):
        """Draws with replacement: a bootstrap sample."""
        rng = as_generator(random_state)
        return self.items[rng.choice(len(self.items), n, p=self._share)]


def empirical_cdf(x: ArrayLike, at: ArrayLike) -> np.ndarray:
    """Share of the sample that is less than or equal to each place.

    Parameters
    ----------
    x : array-like of shape (n,)
        The sample.
    at : array-like of shape (m,)

    Returns
    -------
    shares : ndarray of shape (m,)

    Examples
    --------
    >>> empirical_cdf([3, 1, 2], [0, 1, 2.5, 3])
    array([0.        , 0.33333333, 0.66666667, 1.        ])
    """
    return EmpiricalDistribution(finite_column(x, "x")).cdf(at)


def plug_in(
    function: Callable[[np.ndarray], Any], sample: ArrayLike, confidence_level: float = 0.95
) -> Estimate:
    """Plug-in estimate of S = integral f dp: the mean of f over a sample, with standard error.

    Parameters
    ----------
    function : callable
        Of all outcomes at once.
    sample : array-like of shape (n,) or (n, d)
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> import numpy as np
    >>> round(plug_in(np.square, [1.0, 2.0, 3.0]).value, 4)
    4.6667
    """
    return EmpiricalDistribution(np.asarray(sample, dtype=float)).expectation(
        function, confidence_level
    )


@dataclass(frozen=True, eq=False)
class Mixture(Distribution):
    """A finite mixture sum_k c_k p_k(x) of any distributions.

    Outcomes are drawn in two stages: a component by its weight, anew for every outcome, then an
    outcome of the component.

    Parameters
    ----------
    components : sequence of distributions
    weights : array-like
        Their probabilities.

    Examples
    --------
    >>> from gnomon.density import Normal
    >>> parts = [Normal().member(mean=0, variance=1), Normal().member(mean=2, variance=0.25)]
    >>> mixture = Mixture(parts, [0.5, 0.5])
    >>> mixture.density([-1.0, 1.5]).round(4)
    array([0.121 , 0.3067])
    >>> mixture.posterior([1.0])[0].round(4)
    array([0.6914, 0.3086])
    """

    components: Sequence[Any]
    weights: np.ndarray

    def __post_init__(self):
        weights = simplex(self.weights, "weights")
        if len(weights) != len(self.components):
            raise DataError(f"{len(self.components)} components need as many weights")
        object.__setattr__(self, "weights", weights)

    def _joint(self, x) -> np.ndarray:
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)
        return np.stack(
            [log + part.log_density(x) for log, part in zip(logs, self.components)], axis=-1
        )

    def log_density(self, x):
        return special.logsumexp(self._joint(x), axis=-1)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """F(x) = sum_k c_k F_k(x)."""
        return sum(c * part.cdf(x) for c, part in zip(self.weights, self.components))

    def posterior(self, x: ArrayLike) -> np.ndarray:
        """Probability of each component given the outcome; of shape (n, K)."""
        joint = self._joint(x)
        return np.exp(joint - special.logsumexp(joint, axis=-1, keepdims=True))

    @property
    def mean(self) -> Any:
        """sum_k c_k mean_k."""
        return sum(c * part.mean for c, part in zip(self.weights, self.components))

    @property
    def variance(self) -> Any:
        """sum_k c_k (variance_k + (mean_k - mean)^2), for numbers."""
        mean = self.mean
        return sum(
            c * (part.variance + (part.mean - mean) ** 2)
            for c, part in zip(self.weights, self.components)
        )

    def sample(self, n=1, random_state=None):
        rng = as_generator(random_state)
        which = rng.choice(len(self.components), n, p=self.weights)
        drawn = [part.sample(n, rng) for part in self.components]
        return np.stack([drawn[k][i] for i, k in enumerate(which)])


@dataclass(frozen=True, eq=False)
class ContinuousMixture(Distribution):
    """A mixture p(x) = integral p(x | t) q(t) dt, with t drawn from a density.

    With precision t ~ Gamma(a, b) and x ~ N(0, 1/t) it is Student's t of 2a degrees and scale
    sqrt(b / a) (002).

    Parameters
    ----------
    mixing : distribution
        q, of one number.
    component : callable
        ``component(t)`` is the distribution of x given t.
    low, high : float
        Where q lives.

    Examples
    --------
    >>> from gnomon.density import Gamma, Normal
    >>> q = Gamma().member(shape=1.0, rate=1.0)
    >>> p = ContinuousMixture(q, lambda t: Normal().member(mean=0, variance=1 / t), 0, 60)
    >>> p.density([0.0, 1.0]).round(4)
    array([0.3536, 0.1925])
    """

    mixing: Any
    component: Callable[[float], Any]
    low: float
    high: float

    def density(self, x):
        x = np.atleast_1d(np.asarray(x, dtype=float))

        def weighed(t: float) -> np.ndarray:
            return self.component(t).density(x) * self.mixing.density([t])[0]

        found, _ = integrate.quad_vec(
            weighed, self.low + 1e-12, self.high, epsabs=1e-12, epsrel=1e-10, limit=2000
        )
        return found

    def log_density(self, x):
        with np.errstate(divide="ignore"):
            return np.log(self.density(x))

    def sample(self, n=1, random_state=None):
        rng = as_generator(random_state)
        return np.array([self.component(t).sample(1, rng)[0] for t in self.mixing.sample(n, rng)])


@dataclass(frozen=True)
class Zipf(Distribution):
    """Ranks 1 .. n with probability in proportion to rank^-s.

    Parameters
    ----------
    exponent : float
        s; between 1.5 and 2 for words of English by 002, about 1 by others.
    n : int
        Number of ranks.

    Examples
    --------
    >>> round(Zipf(1.5, 27000).entropy(2), 4), round(Zipf(2.0, 27000).entropy(2), 4)
    (4.5276, 2.3619)
    """

    exponent: float
    n: int

    def _logs(self) -> np.ndarray:
        logs = -self.exponent * np.log(np.arange(1, self.n + 1))
        return logs - special.logsumexp(logs)

    def log_density(self, x):
        x = np.asarray(x, dtype=float)
        inside = (x >= 1) & (x <= self.n) & (x == np.floor(x))
        places = np.where(inside, x - 1, 0).astype(np.int64)
        return np.where(inside, self._logs()[places], -np.inf)

    def entropy(self, base: float | None = None) -> float:
        """-sum p log p, in nats or to a base."""
        logs = self._logs()
        return float(-(np.exp(logs) @ logs)) / (1.0 if base is None else float(np.log(base)))

    def sample(self, n=1, random_state=None):
        return as_generator(random_state).choice(self.n, n, p=np.exp(self._logs())) + 1.0

    @classmethod
    def fit(cls, counts: ArrayLike, how: str = "likelihood") -> Zipf:
        """From how often things occur, in any order; they are ranked by their counts.

        Parameters
        ----------
        counts : array-like of shape (n,)
            Occurrences of each thing, all above zero.
        how : {"likelihood", "regression"}, default="likelihood"
            Maximum likelihood, or minus the slope of log count on log rank (000b 10.2.5), which
            counts the many rare things most.

        Returns
        -------
        fitted : Zipf
        """
        counts = np.sort(finite_column(counts, "counts"))[::-1]
        if (counts <= 0).any() or len(counts) < 2:
            raise DataError("counts must be two or more, all above zero")
        ranks = np.arange(1, len(counts) + 1)
        logs = np.log(ranks)
        if how == "regression":
            slope = np.polyfit(logs, np.log(counts), 1)[0]
            return cls(float(-slope), len(counts))
        if how != "likelihood":
            raise DataError(f"how={how!r} is neither 'likelihood' nor 'regression'")
        mean_log = counts @ logs / counts.sum()

        def excess(s: float) -> float:
            return float(special.softmax(-s * logs) @ logs - mean_log)

        return cls(float(optimize.brentq(excess, -20.0, 60.0)), len(counts))


class LikelihoodFit(NamedTuple):
    """A numerical maximum likelihood estimate.

    Attributes
    ----------
    parameters : ndarray
    log_likelihood : float
        At the maximum.
    errors : ndarray
        Standard errors from the curvature there; NaN where it is flat.
    converged : bool
    message : str
        What the optimiser said.
    """

    parameters: np.ndarray
    log_likelihood: float
    errors: np.ndarray
    converged: bool
    message: str


def likelihood_fit(
    log_density: Callable[..., np.ndarray],
    x: ArrayLike,
    start: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    log_prior: Callable[[np.ndarray], float] | None = None,
) -> LikelihoodFit:
    """Maximum likelihood (or a posteriori) estimate of any density, by numerical minimisation.

    Use a family's own ``fit`` where there is one: it is exact. Rows are independent here.

    Parameters
    ----------
    log_density : callable
        ``log_density(x, parameters)`` gives log p per outcome.
    x : array-like
        The data.
    start : array-like of shape (p,)
        Parameters to start from.
    sample_weight : array-like of shape (n,), default=None
    bounds : sequence of pairs, default=None
        Low and high end of each parameter; None for none.
    log_prior : callable, default=None
        Of the parameters; added to the log-likelihood (see `gnomon.bayes.maximum_a_posteriori`).

    Returns
    -------
    fit : LikelihoodFit
        With ``converged`` False, and a warning, where the minimum was not found.

    Examples
    --------
    >>> import numpy as np
    >>> def log_density(x, t):
    ...     return np.log(t[0]) - t[0] * x
    >>> fit = likelihood_fit(log_density, [1.0, 3.0], [1.0], bounds=[(1e-9, None)])
    >>> fit.parameters.round(4), fit.converged
    (array([0.5]), True)
    """
    x = np.asarray(x)
    weights = checked_weights(sample_weight, len(x))

    def cost(parameters: np.ndarray) -> float:
        with np.errstate(all="ignore"):
            logs = np.asarray(log_density(x, parameters), dtype=np.float64)
            total = logs.sum() if weights is None else weights @ logs
            if log_prior is not None:
                total = total + log_prior(parameters)
        return float(-total) if np.isfinite(total) else 1e300

    start = np.atleast_1d(np.asarray(start, dtype=np.float64))
    if cost(start) == 1e300:
        raise DataError(f"the likelihood is zero or undefined at start={start.tolist()}")
    rough = optimize.minimize(
        cost, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 400 * len(start)}
    )
    fine = optimize.minimize(cost, rough.x, method="L-BFGS-B", bounds=bounds)
    best = fine if fine.fun <= rough.fun else rough
    final = optimize.minimize(
        cost,
        best.x,
        method="Nelder-Mead",
        bounds=bounds,
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 400 * len(start)},
    )
    if not final.success:
        warnings.warn(
            f"the maximum of the likelihood was not found: {final.message}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return LikelihoodFit(
        final.x, -float(final.fun), _errors(cost, final.x), bool(final.success), final.message
    )


def _errors(cost: Callable, at: np.ndarray) -> np.ndarray:
    """Standard errors: roots of the diagonal of the inverse second derivative, by differences."""
    p = len(at)
    step = 1e-4 * np.maximum(np.abs(at), 1e-3)
    hessian = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            a, b = np.zeros(p), np.zeros(p)
            a[i], b[j] = step[i], step[j]
            corners = cost(at + a + b) - cost(at + a - b) - cost(at - a + b) + cost(at - a - b)
            hessian[i, j] = corners / (4 * step[i] * step[j])
    with np.errstate(invalid="ignore"):
        try:
            return np.sqrt(np.diagonal(np.linalg.inv((hessian + hessian.T) / 2)))
        except np.linalg.LinAlgError:
            return np.full(p, np.nan)


def sum_of_normals(means: ArrayLike, variances: ArrayLike, factors: ArrayLike | None = None) -> Any:
    """The normal distribution of sum_i a_i X_i for independent normals X_i.

    Parameters
    ----------
    means, variances : array-like of shape (k,)
    factors : array-like of shape (k,), default=None
        a; ones by default.

    Returns
    -------
    member : Member
        Of `Normal`.

    Examples
    --------
    >>> sum_of_normals([0, 0], [4, 9], [1, -1]).parameters
    {'mean': 0.0, 'variance': 13.0}
    """
    means, variances = np.atleast_1d(means), np.atleast_1d(variances)
    factors = np.ones(len(means)) if factors is None else np.asarray(factors, dtype=float)
    return Normal().member(mean=float(factors @ means), variance=float(factors**2 @ variances))


@dataclass(repr=False)
class LargeNumbers(Result):
    """How the mean of a growing sample approaches the expectation.

    Attributes
    ----------
    sizes : list of int
    means : list of Estimate
    """

    sizes: list[int]
    means: list[Estimate]

    def _title(self):
        return "Means of growing samples"

    def _columns(self):
        return {"rows": list(self.sizes), "mean": list(self.means)}


def law_of_large_numbers(
    distribution: Any, sizes: Sequence[int] = (10, 100, 1000, 10_000), random_state: Any = 0
) -> LargeNumbers:
    """Means of longer and longer parts of one sample, with their intervals.

    Parameters
    ----------
    distribution : object with ``sample``
    sizes : sequence of int, default=(10, 100, 1000, 10000)
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    result : LargeNumbers

    Examples
    --------
    >>> from gnomon.density import Poisson
    >>> law_of_large_numbers(Poisson().member(rate=3.0)).sizes
    [10, 100, 1000, 10000]
    """
    drawn = np.asarray(distribution.sample(max(sizes), random_state), dtype=float)
    return LargeNumbers(list(sizes), [mean_interval(drawn[:n]) for n in sizes])
