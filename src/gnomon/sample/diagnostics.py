"""Has a chain mixed? Autocorrelation, effective sample size, R-hat, tests between chains.

Autocorrelation at lag L is E[(x_i - mu)(x_{i+L} - mu)] / sigma^2 (002 prints the product outside
the expectation). The effective sample size is n m / (1 + 2 sum of autocorrelations), summed as far
as Geyer's pairs stay positive and fall. R-hat compares the spread between chains with that within:
sqrt(((n-1)/n W + B/n) / W), near one when all chains tell the same. Split into halves it also sees
a drift, on ranks it needs no moments, and folded it sees chains of unequal width; the largest of
these counts (Vehtari et al. 2021).

Texts: 002 "Burn-in", "Lag and autocorrelation", "Gelman-Rubin criterion" · 003 3.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import ndtri

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.ranks import ranks
from gnomon.evaluate.significance import adjusted_p_values

NEAR_ZERO = 0.05  # autocorrelation that counts as none


def autocorrelation(chain: ArrayLike, most: int | None = None) -> np.ndarray:
    """Autocorrelation of a chain at lags 0, 1, 2 ..., by FFT.

    Autocovariances are divided by n at every lag, which keeps their sequence positive definite. A
    chain that never moves has 1 at every lag.

    Parameters
    ----------
    chain : array-like of shape (n,)
    most : int, default=None
        The largest lag; n - 1 where None.

    Returns
    -------
    correlations : ndarray of shape (most + 1,)

    Examples
    --------
    >>> autocorrelation([1.0, -1.0, 1.0, -1.0], 2).round(2).tolist()
    [1.0, -0.75, 0.5]
    """
    values = _chain(chain)
    most = len(values) - 1 if most is None else min(int(most), len(values) - 1)
    covariances = _autocovariances(values[None, :])[0]
    if covariances[0] <= 0:
        return np.ones(most + 1)
    return covariances[: most + 1] / covariances[0]


def thinning_lag(chain: ArrayLike, threshold: float = NEAR_ZERO) -> int:
    """The first lag at which the autocorrelation is near zero: keep every so-many-th draw.

    Thinning saves memory; it does not make estimates better, for which all draws serve. 002.

    Parameters
    ----------
    chain : array-like of shape (n,)
    threshold : float, default=0.05
        What counts as near zero, of the absolute value.

    Returns
    -------
    lag : int
        n where no lag is.

    Examples
    --------
    >>> thinning_lag(np.random.default_rng(0).normal(size=2000))
    1
    """
    found = np.abs(autocorrelation(chain))
    below = np.flatnonzero(found <= threshold)
    return int(below[0]) if len(below) else len(found)


def burn_in(chains: ArrayLike, *, tolerance: float = 1.05) -> int:
    """How many first draws to leave out, so that the remaining draws of all chains agree.

    The least of 0, 5, 10 ... 50 % of the draws after which the rank-normalised R-hat of what
    follows is at most `tolerance`. Start the chains far apart, or it has nothing to go by. 002.

    Parameters
    ----------
    chains : array-like of shape (m, n)
    tolerance : float, default=1.05

    Returns
    -------
    draws : int
        n where half of the draws do not suffice: the chains have not mixed.

    Examples
    --------
    >>> steady = np.random.default_rng(0).normal(size=(4, 500))
    >>> burn_in(steady)
    0
    """
    values = _chains(chains)
    n = values.shape[1]
    for share in range(0, 55, 5):
        left_out = n * share // 100
        if n - left_out >= 4 and r_hat(values[:, left_out:]) <= tolerance:
            return left_out
    return n


def r_hat(chains: ArrayLike, kind: str = "rank") -> float:
    """Gelman and Rubin's R-hat: 1 where chains agree, more where they do not.

    Use "rank", which is the larger of split R-hat on normalised ranks and on their distances from
    the median; below 1.01 is good, above 1.05 the chains have not mixed. "classic" is that of
    1992, blind to chains that drift alike and to heavy tails.

    Parameters
    ----------
    chains : array-like of shape (m, n)
        m chains of n draws; "classic" needs two or more.
    kind : {"rank", "split", "classic"}, default="rank"

    Returns
    -------
    r_hat : float
        Infinity where chains stand still at different values, NaN where nothing moves at all.

    Examples
    --------
    >>> apart = np.random.default_rng(0).normal(size=(2, 500)) + [[0.0], [3.0]]
    >>> bool(r_hat(apart) > 1.5)
    True
    """
    values = _chains(chains)
    if kind == "classic":
        if len(values) < 2:
            raise DataError("the classic R-hat compares chains: give two or more")
        return _plain_r_hat(values)
    if kind == "split":
        return _plain_r_hat(_split(values))
    if kind != "rank":
        raise DataError(f"kind={kind!r} is none of rank, split, classic")
    halves = _split(values)
    folded = _folded(halves)
    found = [_plain_r_hat(_normal_ranks(each)) for each in (halves, folded)]
    return float("nan") if np.isnan(found).all() else float(np.nanmax(found))


def effective_sample_size(chains: ArrayLike, kind: str = "mean") -> float:
    """How many independent draws the draws of chains are worth.

    "mean" is for the mean of the draws as they are, "bulk" for the centre of the distribution (on
    normalised ranks), "tail" for its 5 and 95 % quantiles (the smaller of both). Antithetic chains
    may be worth more than their draws, up to n log10(n).

    Parameters
    ----------
    chains : array-like of shape (m, n)
    kind : {"mean", "bulk", "tail"}, default="mean"

    Returns
    -------
    size : float
        1 where nothing moves.

    Examples
    --------
    >>> independent = np.random.default_rng(0).normal(size=(4, 1000))
    >>> bool(3000 < effective_sample_size(independent) < 5000)
    True
    """
    values = _chains(chains)
    if kind == "mean":
        return _effective(_split(values))
    if kind == "bulk":
        return _effective(_normal_ranks(_split(values)))
    if kind != "tail":
        raise DataError(f"kind={kind!r} is none of mean, bulk, tail")
    ends = np.quantile(values, (0.05, 0.95))
    return min(_effective(_split((values <= end).astype(float))) for end in ends)


@dataclass(repr=False)
class ChainComparison(Result):
    """Two-sample tests of every chain against the first.

    Attributes
    ----------
    statistics : ndarray of shape (m - 1,)
        Kolmogorov and Smirnov's distance.
    p_values : ndarray of shape (m - 1,)
        Corrected for the number of chains (Holm).
    lag : int
        Every so-many-th draw was compared, so that draws are nearly independent.
    confidence_level : float
    """

    statistics: np.ndarray
    p_values: np.ndarray
    lag: int
    confidence_level: float = 0.01

    @property
    def agree(self) -> bool:
        """Whether no test rejects that all chains have one distribution."""
        return bool((self.p_values > self.confidence_level).all())

    def _title(self) -> str:
        verdict = "agree" if self.agree else "have not mixed"
        return f"Chains {verdict}: Kolmogorov-Smirnov tests against chain 0, every {self.lag}. draw"

    def _columns(self) -> dict[str, list]:
        return {
            "chain": list(range(1, len(self.p_values) + 1)),
            "distance": self.statistics.tolist(),
            "p (corrected)": self.p_values.tolist(),
        }


def compare_chains(chains: ArrayLike, *, alpha: float = 0.01) -> ChainComparison:
    """Are chains that were started apart past their burn-in? Two-sample tests on thinned draws.

    Every chain is compared with the first by Kolmogorov and Smirnov's test, on draws thinned to
    the largest lag at which some chain's autocorrelation is near zero. Not rejecting does not
    prove that they have mixed: all may sit in one mode. 002 "Gelman-Rubin criterion".

    Parameters
    ----------
    chains : array-like of shape (m, n)
    alpha : float, default=0.01

    Returns
    -------
    comparison : ChainComparison

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(3, 400))
    >>> compare_chains(draws).agree
    True
    """
    values = _chains(chains)
    if len(values) < 2:
        raise DataError("give two chains or more to compare")
    lag = max(thinning_lag(chain) for chain in values)
    lag = min(lag, max(values.shape[1] // 20, 1))
    thinned = values[:, ::lag]
    found = [scipy.stats.ks_2samp(thinned[0], other) for other in thinned[1:]]
    p_values = adjusted_p_values([each.pvalue for each in found])
    return ChainComparison(
        np.array([each.statistic for each in found]), np.asarray(p_values), lag, alpha
    )


def _plain_r_hat(values: np.ndarray) -> float:
    n = values.shape[1]
    within = float(values.var(axis=1, ddof=1).mean())
    between = float(n * values.mean(axis=1).var(ddof=1))
    if within == 0:
        return float("inf") if between > 0 else float("nan")
    return float(np.sqrt(((n - 1) / n * within + between / n) / within))


def _effective(values: np.ndarray) -> float:
    """Geyer's initial monotone sequence over several chains."""
    m, n = values.shape
    covariances = _autocovariances(values)
    within = float((covariances[:, 0] * n / (n - 1)).mean())
    if within <= 0:
        return 1.0
    pooled = within * (n - 1) / n
    if m > 1:
        pooled += float(values.mean(axis=1).var(ddof=1))
    correlations = 1 - (within - covariances.mean(axis=0) * n / (n - 1)) / pooled
    correlations[0] = 1.0
    pairs = correlations[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    last = int(negative[0]) if len(negative) else len(pairs)
    monotone = np.minimum.accumulate(pairs[:last])
    time = max(-1 + 2 * float(monotone.sum()), 1 / np.log10(max(m * n, 11)))
    return float(m * n / time)


def _autocovariances(values: np.ndarray) -> np.ndarray:
    """Of each row, at all lags, divided by n."""
    n = values.shape[1]
    centered = values - values.mean(axis=1, keepdims=True)
    spread = np.abs(centered).max(axis=1, keepdims=True)
    still = spread <= 1e-14 * np.abs(values).max(axis=1, keepdims=True)
    centered = np.where(still, 0.0, centered)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(centered, size, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n


def _folded(draws: np.ndarray) -> np.ndarray:
    """Distances from the median, on a grid of 2^-40 of their largest.

    Of an even number of draws the two in the middle are equally far from it: without the grid
    rounding, and so the unit, would decide which of them has the higher rank.
    """
    distances = np.abs(draws - np.median(draws))
    step = np.ldexp(distances.max(), -40)
    return distances if step == 0 else np.round(distances / step)


def _normal_ranks(values: np.ndarray) -> np.ndarray:
    places = ranks(values.ravel()).reshape(values.shape)
    return ndtri((places - 0.375) / (values.size + 0.25))


def _split(values: np.ndarray) -> np.ndarray:
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def _chain(chain: ArrayLike) -> np.ndarray:
    values = np.asarray(chain, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise DataError("a chain is a row of two finite numbers or more")
    return values


def _chains(chains: ArrayLike) -> np.ndarray:
    values = np.atleast_2d(np.asarray(chains, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] < 4 or not np.isfinite(values).all():
        raise DataError("chains are rows of four finite draws or more: an array (chains, draws)")
    return values
