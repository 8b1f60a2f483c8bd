"""Monte Carlo: a mean over draws stands for an expectation, and its error bar comes with it.

E f(X) is near (1/n) sum_i f(x_i), with standard error sd(f) / sqrt(n) for independent draws and
sd(f) / sqrt(effective n) for those of a chain: each further digit costs a hundred times the draws.
Draws of another law q count by their weights p(x) / q(x); a few heavy weights then mean that few
draws count, which the effective sample size says.

Texts: 002 "Monte Carlo expectation" · 003 3.4.2 ("a few digits of precision only").
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.estimate import Estimate, mean_interval, normal_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.renamed import former_attributes
from gnomon.sample.diagnostics import effective_sample_size

FEWEST_EFFECTIVE = 100  # draws; error bars from fewer are not trusted
HEAVIEST_SHARE = 0.1  # one draw that decides a tenth of the result


def expectation(
    draws: ArrayLike,
    function: Callable[[np.ndarray], float] | None = None,
    *,
    correlated: bool = False,
    confidence_level: float = 0.95,
) -> Estimate:
    """The mean of f over draws, with the Monte Carlo error.

    Use ``correlated=True`` for draws of a chain in their order: the standard error is then
    sd / sqrt(effective sample size). Not for draws whose law has no variance (Cauchy's): the error
    bar means nothing there. 002 "Monte Carlo expectation".

    Parameters
    ----------
    draws : array-like of shape (n,) or (n, d)
    function : callable, default=None
        Of one draw; None for the draws themselves, which must then be numbers.
    correlated : bool, default=False
    confidence_level : float, default=0.95

    Returns
    -------
    mean : Estimate

    Examples
    --------
    >>> draws = np.random.default_rng(0).random((10_000, 2))
    >>> print(expectation(draws, lambda p: 4.0 * (p @ p < 1)))
    3.148 (3.116 to 3.180)
    """
    drawn = np.asarray(draws, dtype=np.float64)
    values = drawn if function is None else np.array([float(function(x)) for x in drawn])
    if values.ndim != 1 or len(values) < 2:
        raise DataError("an expectation needs two draws or more, each giving one number")
    if not correlated:
        return mean_interval(values, confidence_level=confidence_level)
    effective = effective_sample_size(values[None, :])
    mean = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(effective))
    half = normal_quantile(confidence_level) * error
    how = f"normal, {effective:.0f} effective draws of {len(values):,}"
    return Estimate(mean, mean - half, mean + half, confidence_level, error, how)


@former_attributes(normaliser="normalizer")
@dataclass(repr=False)
class ImportanceSample(Result):
    """Weighted draws that stand for a density known up to a constant.

    Attributes
    ----------
    draws : ndarray of shape (n,) or (n, d)
    log_weights : ndarray of shape (n,)
        log p(x) - log q(x), up to a constant where p is.
    confidence_level : float
        Level of the intervals.
    notes : list of str
        What to beware of.
    """

    draws: np.ndarray
    log_weights: np.ndarray
    confidence_level: float = 0.95
    notes: list[str] = field(default_factory=list)

    @property
    def weights(self) -> np.ndarray:
        """Weights that sum to one."""
        return np.exp(self.log_weights - logsumexp(self.log_weights))

    @property
    def effective_size(self) -> float:
        """1 / sum of squared weights: how many equal draws these are worth (Kish)."""
        return float(1 / (self.weights**2).sum())

    @property
    def normalizer(self) -> Estimate:
        """The constant Z of p, with its error: the mean of the weights."""
        shift = self.log_weights.max()
        found = mean_interval(
            np.exp(self.log_weights - shift), confidence_level=self.confidence_level
        )
        scale = float(np.exp(shift))
        return Estimate(
            found.value * scale,
            found.low * scale,
            found.high * scale,
            self.confidence_level,
            found.error * scale,
            found.how,
        )

    def expectation(self, function: Callable[[np.ndarray], float] | None = None) -> Estimate:
        """E f under p, by weights that sum to one; the error by the delta method.

        Parameters
        ----------
        function : callable, default=None
            Of one draw; None for the draws themselves.

        Returns
        -------
        mean : Estimate
        """
        values = self.draws if function is None else [float(function(x)) for x in self.draws]
        values = np.asarray(values, dtype=np.float64)
        weights = self.weights
        mean = float(weights @ values)
        error = float(np.sqrt((weights**2 * (values - mean) ** 2).sum()))
        half = normal_quantile(self.confidence_level) * error
        how = f"delta method, {self.effective_size:.0f} effective draws"
        return Estimate(mean, mean - half, mean + half, self.confidence_level, error, how)

    def _title(self) -> str:
        return f"{len(self.draws):,} weighted draws, worth {self.effective_size:,.1f} equal ones"

    def _columns(self) -> dict[str, list]:
        largest = np.argsort(-self.log_weights, kind="stable")[:5]
        return {
            "draw": [str(np.round(self.draws[i], 4)) for i in largest],
            "share of the weight": self.weights[largest].tolist(),
        }

    def _remarks(self) -> list[str]:
        return self.notes


def importance(
    log_density: Callable[[np.ndarray], float],
    draws: ArrayLike,
    log_proposal: Callable[[np.ndarray], float],
    *,
    confidence_level: float = 0.95,
) -> ImportanceSample:
    """Draws of q, weighted to stand for p: w = p(x) / q(x).

    Use it where a q with heavier tails than p is at hand and the dimension is low. Where few draws
    carry most of the weight the result warns; take a wider q, or a chain. p may lack its constant.

    Parameters
    ----------
    log_density : callable
        log p up to a constant, of one draw.
    draws : array-like of shape (n,) or (n, d)
        Drawn from q.
    log_proposal : callable
        log q, of one draw.
    confidence_level : float, default=0.95

    Returns
    -------
    sample : ImportanceSample

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(0, 2, 20_000)
    >>> found = importance(lambda v: -v * v / 2, x, lambda v: -v * v / 8 - np.log(2))
    >>> bool(abs(found.expectation(lambda v: v * v).value - 1) < 0.05)
    True
    """
    drawn = np.asarray(draws, dtype=np.float64)
    logs = np.array([float(log_density(x)) - float(log_proposal(x)) for x in drawn])
    if np.isnan(logs).any() or (logs == np.inf).any():
        place = int(np.argmax(np.isnan(logs) | (logs == np.inf)))
        raise DataError(f"the weight of draw {place} is not finite: the proposal has no mass there")
    if not np.isfinite(logs).any():
        raise DataError("the target is zero at every draw; take another proposal")
    found = ImportanceSample(drawn, logs, confidence_level)
    if found.effective_size < FEWEST_EFFECTIVE or found.weights.max() > HEAVIEST_SHARE:
        found.notes.append(
            f"few draws count: {found.effective_size:.1f} effective of {len(drawn):,}, and one "
            f"has {100 * found.weights.max():.0f} % of the weight. Take a proposal with heavier "
            "tails that is nearer to the target, or a chain"
        )
        warnings.warn(found.notes[-1], GnomonWarning, stacklevel=2)
    return found
