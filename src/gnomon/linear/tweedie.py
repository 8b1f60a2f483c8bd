"""Generalised linear models under scikit-learn's names: Tweedie, Poisson and gamma regression.

They minimise (1/2W) sum_i w_i D(y_i, m_i) + alpha |b|^2 / 2 with g(m_i) = b0 + x_i b, as `GLM` does
(see `gnomon.linear.glm`), with a squared penalty by default.

Texts: 000 11.3-11.4.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

import numpy as np

from gnomon.contract import Data, Takes, intake
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, Interval, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.linear.families import FAMILIES, LINKS, Family, Link, tweedie
from gnomon.linear.glm import GLM

PARAMETERS: dict[str, list] = {
    "alpha": [at_least(0.0)],
    "fit_intercept": FLAG,
    "max_iter": [whole(1)],
    "tol": [at_least(0.0)],
    "warm_start": FLAG,
    "keep_history": HISTORY,
    "n_jobs": JOBS,
}
# Texts of parameters that classes here share, for their docstrings.
TWEEDIE_PARAMETERS = """\
alpha : float
    Weight of the penalty.
fit_intercept : bool
    Whether there is a constant b0, which is not penalised.
max_iter : int
    Most passes over the rows.
tol : float
    Stops when the objective can fall by no more than the square of this share of the target's
    deviance (one last step is taken then).
warm_start : bool
    Whether a further ``fit`` begins at the coefficients of the last one.
keep_history : {"objective", "full"}
    Whether ``history_`` keeps the coefficients of each step too.
n_jobs : int or None
    Threads; None for one per processor. Does not change the result.
"""
# Texts of attributes that classes here share, for their docstrings.
TWEEDIE_ATTRIBUTES = """\
coef_ : ndarray of shape (n_columns,)
    The coefficients b.
intercept_ : float
    The constant b0; zero without intercept.
rank_ : int
    Rank of the information about the coefficients.
separated_ : bool
    Always False here.
statistics_ : GLMStatistics or None
    What `summary` is made of; None where penalised.
history_ : History
    The objective at each step; it never rises.
n_iter_ : int
    Number of passes.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


class PenalizedGLM(GLM):
    """What the models of this module share: no offset, no absolute values, scikit-learn's tol."""

    l1_ratio = 0.0
    offset = None
    overdispersion = 1.0
    standard_errors = "classic"

    @property
    def family(self) -> str:  # type: ignore[override]
        """The name of the family."""
        return self._family().name

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = bool(np.isfinite(self._family().lowest))
        return tags

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """What `GLM` takes; float32 rows give float32 coefficients."""
        return replace(super().natively, float32=True)

    def _enough(self, state) -> float:
        return float(self.tol) ** 2 * state["unit"]

    def _start(self, data: Data, rng):
        state = super()._start(data, rng)
        before = getattr(self, "coef_", None) if self.warm_start else None
        if before is None or len(before) != data.n_columns:
            return state
        parameters = np.asarray(before, dtype=np.float64)
        if self.fit_intercept:
            parameters = np.append(parameters, self.intercept_ + parameters @ state["shift"])
        return state | {"parameters": parameters, "trial": parameters.copy()}

    def score(self, X, y, sample_weight=None) -> float:
        """D2, the share of the deviance of the mean that is explained.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or str
            The true numbers, or the name of their column in X.
        sample_weight : array-like of shape (n_samples,) or str, default=None

        Returns
        -------
        d2 : float
        """
        X, y, sample_weight = intake.take_truth(self, X, y, sample_weight)
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        family = self._family()
        if family.outside(float(y.min()), float(y.max())):
            raise DataError(f"Some value(s) of y are out of the valid range: {family.target}")
        mean = np.full(len(y), weights @ y / weights.sum())
        left = weights @ family.deviance(y, self.predict(X))
        return float(1 - left / (weights @ family.deviance(y, mean)))


@method(
    task="regress",
    texts="000 11.3-11.4",
    use="Amounts or counts whose noise grows with a power of their mean.",
    avoid="Standard errors, other penalties, an offset: GLM has them.",
    peers=("sklearn.linear_model.TweedieRegressor",),
)
@without_effect("solver", "verbose")
@shared_parameters(TWEEDIE_PARAMETERS)
@shared_attributes(TWEEDIE_ATTRIBUTES)
class TweedieRegressor(PenalizedGLM):
    """Generalised linear model whose variance grows with a power of the mean.

    Minimises (1/2W) sum_i w_i D(y_i, m_i) + alpha |b|^2 / 2, D the deviance of the power: 0 normal,
    1 Poisson, between 1 and 2 compound Poisson-gamma, 2 gamma, 3 inverse Gaussian. Use it for
    counts and amounts; not for standard errors or other penalties, which `GLM` has.
    Texts: 000 11.3-11.4.

    Parameters
    ----------
    power : float, default=0.0
        The power; none between 0 and 1 exists.
    link : {"auto", "identity", "log"}, default="auto"
        The link; "auto" is the identity up to power 0 and the logarithm beyond.

    Attributes
    ----------
    coef_, intercept_, rank_, separated_, statistics_, history_, n_iter_, n_features_in_

    Examples
    --------
    >>> from gnomon.linear import TweedieRegressor
    >>> TweedieRegressor().fit([[1, 2], [2, 3], [3, 4], [4, 3]], [2, 3.5, 5, 5.5]).coef_.round(3)
    array([0.6, 0.3])
    """

    _parameter_constraints = PARAMETERS | {
        "power": [Interval(Real, None, None, closed="neither")],
        "link": [StrOptions({"auto", "identity", "log"})],
    }

    def __init__(
        self,
        *,
        power=0.0,
        alpha=1.0,
        fit_intercept=True,
        link="auto",
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
        keep_history="objective",
        n_jobs=None,
    ):
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        if 0 < self.power < 1:
            raise DataError(f"no Tweedie distribution has the power {self.power}; use 0 or 1")
        named = {0: "gaussian", 1: "poisson", 2: "gamma", 3: "inverse gaussian"}
        if self.power in named:
            return FAMILIES[named[self.power]]
        return tweedie(float(self.power))

    def _link(self) -> Link:
        if self.link != "auto":
            return LINKS[self.link]
        return LINKS["identity" if self.power <= 0 else "log"]


@method(
    task="regress",
    texts="000 11.3-11.4",
    use="Counts, or rates with weights.",
    avoid="Standard errors, other penalties, an offset: GLM has them.",
    peers=("sklearn.linear_model.PoissonRegressor",),
)
@without_effect("solver", "verbose")
@shared_parameters(TWEEDIE_PARAMETERS)
@shared_attributes(TWEEDIE_ATTRIBUTES)
class PoissonRegressor(PenalizedGLM):
    """Poisson regression: counts whose logarithm of the mean is linear.

    Minimises (1/2W) sum_i w_i D(y_i, m_i) + alpha |b|^2 / 2 with log m_i = b0 + x_i b, D the
    Poisson deviance. Use it for counts; not for standard errors, an offset or other penalties,
    which `GLM` has. Texts: 000 11.3-11.4.

    Parameters
    ----------

    Attributes
    ----------
    coef_, intercept_, rank_, separated_, statistics_, history_, n_iter_, n_features_in_

    Examples
    --------
    >>> from gnomon.linear import PoissonRegressor
    >>> PoissonRegressor().fit([[1, 2], [2, 3], [3, 4], [4, 3]], [12, 17, 22, 21]).coef_.round(3)
    array([0.121, 0.158])
    """

    link = "log"
    _parameter_constraints = PARAMETERS

    def __init__(
        self,
        *,
        alpha=1.0,
        fit_intercept=True,
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
        keep_history="objective",
        n_jobs=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        return FAMILIES["poisson"]


@method(
    task="regress",
    texts="000 11.3-11.4",
    use="Positive amounts whose spread is a share of their mean.",
    avoid="Standard errors, other penalties, an offset: GLM has them.",
    peers=("sklearn.linear_model.GammaRegressor",),
)
@without_effect("solver", "verbose")
@shared_parameters(TWEEDIE_PARAMETERS)
@shared_attributes(TWEEDIE_ATTRIBUTES)
class GammaRegressor(PenalizedGLM):
    """Gamma regression: positive amounts whose logarithm of the mean is linear.

    Minimises (1/2W) sum_i w_i D(y_i, m_i) + alpha |b|^2 / 2 with log m_i = b0 + x_i b, D the gamma
    deviance. Use it for positive amounts; not for standard errors, an offset or other
    penalties, which `GLM` has. Texts: 000 11.3-11.4.

    Parameters
    ----------

    Attributes
    ----------
    coef_, intercept_, rank_, separated_, statistics_, history_, n_iter_, n_features_in_

    Examples
    --------
    >>> from gnomon.linear import GammaRegressor
    >>> GammaRegressor().fit([[1, 2], [2, 3], [3, 4], [4, 3]], [19, 26, 33, 30]).coef_.round(3)
    array([0.073, 0.067])
    """

    link = "log"
    _parameter_constraints = PARAMETERS

    def __init__(
        self,
        *,
        alpha=1.0,
        fit_intercept=True,
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
        keep_history="objective",
        n_jobs=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        return FAMILIES["gamma"]
