"""Are values normal? Three tests of one kind of result, and all of them in one table.

Anderson-Darling weighs the tails of the empirical distribution function,

    A^2 = -n - (1/n) sum_i (2i - 1) [ln Phi(z_(i)) + ln(1 - Phi(z_(n-i+1)))],

D'Agostino's K^2 adds up the squared z-scores of skewness and kurtosis, Kolmogorov-Smirnov takes
the largest gap D between the distribution functions. Residuals that are not normal hint at a
missing factor, a wrong degree or outliers; with many rows any real data are rejected, so look at
skewness and kurtosis too, which are printed.

Texts: 004 5.2.2. Its formula for A lacks the 1/n, and its thresholds (0.656, 0.787, 1.092 at 10,
5 and 1 percent) belong to A^2 adjusted for the number of rows, not to its root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from gnomon.contract.estimate import finite_column
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.quadratic_law import weighted_chi2_tail
from gnomon.evaluate.significance import Significance

FEWEST = 8  # judgement: below 8 values the tests reject next to nothing
# Critical values of A^2 with estimated mean and sd (Stephens 1974, case 3).
STEPHENS_1974 = {0.15: 0.576, 0.1: 0.656, 0.05: 0.787, 0.025: 0.918, 0.01: 1.092}
TERMS = 200  # the weights fall like 1 / (j (j + 1)); what is left out is added as its mean
LILLIEFORS_SAMPLES = 20_000  # standard error of a p-value of 0.05: 0.0015
LILLIEFORS_ROWS = 200  # judgement: Stephens' form of D hardly depends on n, so more rows only cost


def anderson_darling(
    values: ArrayLike, mean: float | None = None, sd: float | None = None
) -> Significance:
    """Anderson-Darling test of normality.

    The first choice: more powerful than the others against heavy tails and most alternatives. The
    logarithms are those of the tails themselves, so extreme values give a large A^2 and a small p
    instead of an infinity (the text's advice to remove such rows is not needed).

    The law depends on what was estimated from the same values. A^2 tends to a weighted sum of
    squared normals whose weights are the eigenvalues of the limiting process, less one term for
    each estimated parameter; p is computed from them. With both parameters estimated, A^2 is first
    multiplied by 1 + 0.75/n + 2.25/n^2 (Stephens 1986).

    Parameters
    ----------
    values : array-like of shape (n,)
        At least 8. For residuals of a model with a constant term leave mean and sd at None: the
        mean of such residuals is zero and scaling by their root mean square, as the text does, is
        the same thing.
    mean : float, default=None
        The mean, where it is known and not estimated from these values; ``mean=0`` scales by the
        root mean square. Residuals of a model without constant term may be taken so.
    sd : float, default=None
        The standard deviation, where it is known.

    Returns
    -------
    found : Significance
        ``statistic`` is A^2; skewness and excess kurtosis are given as effects.

    Notes
    -----
    A model with many columns for its rows makes residuals look more normal than the errors are.
    The text's thresholds are those of Stephens (1974) for A^2 (1 + 4/n - 25/n^2); they reject a
    little too seldom (4.7 percent at 5 percent, n = 100).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0)
    >>> anderson_darling(rows.normal(size=200)).p > 0.001
    True
    >>> anderson_darling(rows.exponential(size=200)).p < 0.001
    True
    """
    z = _standardized(values, mean, sd)
    n = len(z)
    place = np.arange(1, n + 1)
    terms = (2 * place - 1) * (special.log_ndtr(z) + special.log_ndtr(-z[::-1]))
    a_squared = float(-n - terms.mean())
    both = mean is None and sd is None
    adjusted = a_squared * (1 + 0.75 / n + 2.25 / n**2) if both else a_squared
    weights, rest = _limit_weights(mean is None, sd is None)
    estimated = [name for name, given in (("mean", mean), ("sd", sd)) if given is None]
    law = " and ".join(estimated) + " estimated" if estimated else "mean and sd known"
    return Significance(
        "Anderson-Darling test of normality",
        a_squared,
        weighted_chi2_tail(adjusted, weights, rest),
        symbol="A^2",
        effects=_shape(z),
        law=law,
    )


@lru_cache
def _limit_weights(mean_estimated: bool, sd_estimated: bool) -> tuple[np.ndarray, float]:
    """Eigenvalues of the limiting process of A^2, and the sum of those left out.

    With known parameters they are 1 / (j (j + 1)), with eigenfunctions made of Legendre's
    polynomials; an estimated mean takes away the direction phi(z), an estimated sd z phi(z).
    """
    z = np.linspace(-12, 12, 12_001)
    step = z[1] - z[0]
    density = scipy.stats.norm.pdf(z)
    share = special.ndtr(z)
    order = np.arange(1, TERMS + 1)
    legendre = special.eval_legendre(order[:, None], 2 * share - 1)
    kernel = np.diag(1 / (order * (order + 1.0)))
    trace = 1.0
    scale = np.sqrt((2 * order + 1) / (order * (order + 1.0)))
    weight = density / np.exp(special.log_ndtr(z) + special.log_ndtr(-z))
    for estimated, slope, direction, information in (
        (mean_estimated, z, density, 1.0),
        (sd_estimated, z**2 - 1, z * density, 2.0),
    ):
        if estimated:
            along = scale * (legendre @ (slope * density)) * step
            kernel -= np.outer(along, along) / information
            trace -= float((direction**2 * weight).sum() * step) / information
    weights = np.linalg.eigvalsh(kernel)[::-1]
    weights = weights[weights > 1e-9]
    return weights, trace - float(weights.sum())


def dagostino_k2(values: ArrayLike) -> Significance:
    """D'Agostino's K^2 test of normality, from skewness and kurtosis.

    K^2 = z(skewness)^2 + z(kurtosis)^2, chi-square with two degrees of freedom. Says in what way
    the values are not normal; blind to other departures, such as two symmetric humps. SciPy's
    ``normaltest``.

    Parameters
    ----------
    values : array-like of shape (n,)
        At least 8; the law is rough below 20.

    Returns
    -------
    found : Significance
        ``statistic`` is K^2.

    Examples
    --------
    >>> import numpy as np
    >>> found = dagostino_k2(np.arange(100.0))
    >>> round(found.effects["excess kurtosis"], 2), found.p < 0.01
    (-1.2, True)
    """
    z = _standardized(values, None, None)
    found = scipy.stats.normaltest(z)
    rough = f"{len(z)} values are few: p is rough below 20"
    return Significance(
        "D'Agostino's K^2 test of normality",
        float(found.statistic),
        float(found.pvalue),
        symbol="K^2",
        effects=_shape(z),
        law="chi2 law",
        remarks=(rough,) if len(z) < 20 else (),
    )


def kolmogorov_smirnov(
    values: ArrayLike,
    against: Any = None,
    *,
    parameters_estimated: bool = False,
) -> Significance:
    """Kolmogorov-Smirnov test: of normality, against a given law, or of two samples.

    D = max |F_n(x) - F(x)|. Kept for its history (004): Anderson-Darling is more powerful. Use it
    for two samples, or against a law other than the normal whose parameters are known beforehand.
    Its usual law is wrong, by far too large a p, when parameters come from the same values: the
    test of normality therefore uses Lilliefors' law, simulated once per number of rows.

    Parameters
    ----------
    values : array-like of shape (n,)
    against : None, frozen SciPy law, callable or array-like, default=None
        None tests normality with estimated mean and sd (Lilliefors); a law or a distribution
        function is taken as given; another sample makes it the test of two samples.
    parameters_estimated : bool, default=False
        Say True when the parameters of the law in `against` were estimated from these values: the
        result then says that its p is too large.

    Returns
    -------
    found : Significance
        ``statistic`` is D.

    Examples
    --------
    >>> import numpy as np
    >>> print(kolmogorov_smirnov(np.arange(20.0), np.arange(20.0) + 2.5))
    Kolmogorov-Smirnov test of two samples: D = 0.15, p = 0.98 (two samples)
    """
    values = finite_column(values, "values")
    if against is None:
        return _lilliefors(values)
    if hasattr(against, "cdf") or callable(against):
        cdf = against.cdf if hasattr(against, "cdf") else against
        return _one_sample(values, cdf, parameters_estimated)
    other = finite_column(against, "against")
    found = scipy.stats.ks_2samp(values, other)
    return Significance(
        "Kolmogorov-Smirnov test of two samples",
        float(found.statistic),
        float(found.pvalue),
        symbol="D",
        law="two samples",
        remarks=_ties_remark(np.concatenate([values, other])),
    )


def _one_sample(values: np.ndarray, cdf: Callable[..., Any], estimated: bool) -> Significance:
    found = scipy.stats.kstest(values, cdf)
    warned = (
        "parameters were estimated from the same values: p is much too large; simulate the law, "
        "or keep values aside for the test",
    )
    return Significance(
        "Kolmogorov-Smirnov test against a law",
        float(found.statistic),
        float(found.pvalue),
        symbol="D",
        law="law given beforehand" if not estimated else "law not valid here",
        remarks=(*(warned if estimated else ()), *_ties_remark(values)),
    )


def _ties_remark(values: np.ndarray) -> tuple[str, ...]:
    n_ties = len(values) - len(np.unique(values))
    if not n_ties:
        return ()
    return (f"{n_ties:,} values are tied: for values of a scale with steps p is too large",)


def _lilliefors(values: np.ndarray) -> Significance:
    z = _standardized(values, None, None)
    gap = _largest_gap(z[None, :])[0]
    null = _lilliefors_null(min(len(z), LILLIEFORS_ROWS))
    above = int((null >= _free_of_size(gap, len(z))).sum())
    return Significance(
        "Kolmogorov-Smirnov test of normality",
        float(gap),
        (1 + above) / (1 + len(null)),
        symbol="D",
        effects=_shape(z),
        law="Lilliefors' law, simulated",
    )


def _largest_gap(sorted_rows: np.ndarray) -> np.ndarray:
    """D of every row of standardised values in order."""
    n = sorted_rows.shape[1]
    share = special.ndtr(sorted_rows)
    above = (np.arange(1, n + 1) / n - share).max(axis=1)
    below = (share - np.arange(n) / n).max(axis=1)
    return np.maximum(above, below)


def _free_of_size(gap: Any, n: int) -> Any:
    """Stephens' form of D, whose law is nearly the same for every n."""
    return gap * (np.sqrt(n) - 0.01 + 0.85 / np.sqrt(n))


@lru_cache(maxsize=64)
def _lilliefors_null(n: int) -> np.ndarray:
    # one fixed generator: the law is a table, the same for everybody
    draws = np.random.default_rng(1967).standard_normal((LILLIEFORS_SAMPLES, n))
    draws -= draws.mean(axis=1, keepdims=True)
    draws /= draws.std(axis=1, ddof=1, keepdims=True)
    draws.sort(axis=1)
    return _free_of_size(_largest_gap(draws), n)


@dataclass(frozen=True, repr=False, eq=False)
class Normality(Result):
    """Tests of normality side by side.

    Attributes
    ----------
    tests : tuple of Significance
    n : int
        Number of values.
    """

    tests: tuple[Significance, ...]
    n: int

    def _title(self) -> str:
        shape = ", ".join(f"{name} {size:.2f}" for name, size in self.tests[0].effects.items())
        return f"Normality of {self.n:,} values: {shape}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "test": [each.test.removesuffix(" test of normality") for each in self.tests],
            "statistic": [each.statistic for each in self.tests],
            "p": [each.p for each in self.tests],
        }

    def _remarks(self) -> list[str]:
        few = "with few values a departure is hard to see; with many, any departure is found"
        return [few, *(remark for each in self.tests for remark in each.remarks)]


def normality(values: ArrayLike) -> Normality:
    """All three tests of normality of the same values.

    Decide by one of them (Anderson-Darling) chosen beforehand; to take the smallest p of three
    is to test three times.

    Parameters
    ----------
    values : array-like of shape (n,)
        Such as the residuals of a regression.

    Returns
    -------
    found : Normality

    Examples
    --------
    >>> import numpy as np
    >>> found = normality(np.random.default_rng(0).normal(size=100))
    >>> found.to_table().columns
    ('test', 'statistic', 'p')
    """
    tests = (anderson_darling(values), dagostino_k2(values), kolmogorov_smirnov(values))
    return Normality(tests, len(np.asarray(values)))


def _standardized(values: ArrayLike, mean: float | None, sd: float | None) -> np.ndarray:
    """Values in units of sd about the mean, sorted."""
    values = finite_column(values, "values")
    n = len(values)
    if n < FEWEST:
        raise DataError(f"{n} values are too few for a test of normality; give at least {FEWEST}")
    if sd is not None and not sd > 0:
        raise DataError(f"sd={sd} must be positive")
    largest = float(np.abs(values).max()) or 1.0
    scaled = values / largest
    centered = scaled - (scaled.mean() if mean is None else mean / largest)
    if sd is None:
        freedom = n - 1 if mean is None else n
        spread = float(np.sqrt((centered**2).sum() / freedom))
        if spread <= 1e-13:
            raise DataError("all values are the same: there is no spread to test")
    else:
        spread = sd / largest
    return np.sort(centered) / spread


def _shape(z: np.ndarray) -> dict[str, float | Any]:
    return {
        "skewness": float(scipy.stats.skew(z)),
        "excess kurtosis": float(scipy.stats.kurtosis(z)),
    }
