"""Significance: the probability, under a null hypothesis, of a statistic at least as extreme.

p = Pr(T >= t | H0), from a known law of T or from the values that T takes when what H0 declares
irrelevant is shuffled. A small p says that the data are surprising under H0; it does not say that
the effect is large, so an effect size is printed beside it. Of m true null hypotheses, m * alpha
are rejected by chance: correct for that (`adjusted_p_values`) when there are several tests.

Texts: 004 7.4 (null-hypothesis tests).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, finite_column, share_interval
from gnomon.contract.result import Result, cell_text, p_text
from gnomon.engine.errors import DataError

ALTERNATIVES = ("greater", "less", "two-sided")
SHUFFLES = {"groups": "independent", "pairs": "pairings", "signs": "samples"}
CORRECTIONS = ("bonferroni", "holm", "hochberg", "benjamini-hochberg", "benjamini-yekutieli")


@dataclass(frozen=True, repr=False, eq=False)
class Significance(Result):
    """A statistic, its probability under the null hypothesis, and effect sizes beside it.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic : float
    p : float
        Probability, under the null hypothesis, of a statistic at least as extreme.
    symbol : str
        How the statistic is written.
    effects : dict of str to float or Estimate
        How large the effect is, which p does not say.
    law : str
        Where p comes from.
    remarks : tuple of str
        What to beware of.
    null : ndarray or None
        Values of the statistic under the null hypothesis, where they were simulated.
    """

    test: str
    statistic: float
    p: float
    symbol: str = "statistic"
    effects: dict[str, float | Estimate] = field(default_factory=dict)
    law: str = ""
    remarks: tuple[str, ...] = ()
    null: np.ndarray | None = None

    def _title(self) -> str:
        by = f" ({self.law})" if self.law else ""
        return f"{self.test}: {self.symbol} = {self.statistic:.4g}, {p_text(self.p)}{by}"

    def _columns(self) -> dict[str, list[Any]]:
        effects = {name: [size] for name, size in self.effects.items()}
        return {"test": [self.test], self.symbol: [self.statistic], "p": [self.p], **effects}

    def _remarks(self) -> list[str]:
        return list(self.remarks)

    def __str__(self) -> str:
        sizes = [f"{name}: {cell_text(size)}" for name, size in self.effects.items()]
        return "\n".join([self._title(), *sizes, *self.remarks])


def significance(
    observed: float,
    null: Any,
    *,
    alternative: str = "greater",
    test: str = "Significance test",
    effects: dict[str, float | Estimate] | None = None,
) -> Significance:
    """The p-value of an observed statistic under a known or a simulated null law.

    With B simulated values, p = (1 + number at least as extreme) / (1 + B): the observed value is
    one of the values possible under the null hypothesis, so p is never zero and the test holds
    its level exactly. Two-sided p is twice the smaller one-sided p.

    Parameters
    ----------
    observed : float
    null : frozen SciPy law or array-like
        Such as ``scipy.stats.chi2(3)``, or values of the statistic simulated under the null
        hypothesis.
    alternative : {"greater", "less", "two-sided"}, default="greater"
        Which values count as more extreme.
    test : str
        A name for the printed result.
    effects : dict, default=None
        Effect sizes to print beside p.

    Returns
    -------
    found : Significance

    Examples
    --------
    >>> from scipy import stats
    >>> print(significance(3.84, stats.chi2(1)))
    Significance test: statistic = 3.84, p = 0.0500 (chi2 law)
    >>> significance(9.5, range(10)).p
    0.09090909090909091
    """
    if alternative not in ALTERNATIVES:
        raise DataError(f"alternative={alternative!r} is none of {', '.join(ALTERNATIVES)}")
    if not np.isfinite(observed):
        raise DataError(f"the observed statistic is {observed}; it has no probability")
    if hasattr(null, "sf"):
        above, below = float(null.sf(observed)), float(null.cdf(observed))
        law = f"{getattr(getattr(null, 'dist', null), 'name', 'known')} law"
        values = None
    else:
        values = finite_column(null, "simulated values of the statistic")
        above, below = _shares_beyond(observed, values)
        law = f"{len(values):,} simulated values"
    return Significance(
        test,
        float(observed),
        _sided(above, below, alternative),
        effects=effects or {},
        law=law,
        null=values,
    )


def _shares_beyond(observed: float, values: np.ndarray) -> tuple[float, float]:
    # a value that equals the observed one but for rounding is as extreme
    slack = 1e-12 * max(abs(observed), 1e-300)
    above = 1 + int((values >= observed - slack).sum())
    below = 1 + int((values <= observed + slack).sum())
    return above / (len(values) + 1), below / (len(values) + 1)


def _sided(above: float, below: float, alternative: str) -> float:
    if alternative == "greater":
        return above
    if alternative == "less":
        return below
    return min(1.0, 2 * min(above, below))


def permutation_test(
    statistic: Callable[..., float],
    *samples: ArrayLike,
    shuffle: str = "groups",
    alternative: str = "two-sided",
    n_permutations: int = 9_999,
    test: str = "Permutation test",
    random_state: int | np.random.Generator | None = None,
) -> Significance:
    """The p-value of any statistic by shuffling, without a law for it.

    All shuffles are tried when there are no more than `n_permutations` of them; p is then exact.
    Otherwise p comes from random ones and its own interval is printed. Built on
    ``scipy.stats.permutation_test``.

    Parameters
    ----------
    statistic : callable
        Of as many columns as there are samples, to a number.
    *samples : array-like of shape (n,)
    shuffle : {"groups", "pairs", "signs"}, default="groups"
        What the null hypothesis makes irrelevant: which sample a value belongs to
        (``"groups"``), which values stand in a row together (``"pairs"``: independence), or
        which of the values of a row belongs to which sample (``"signs"``: paired samples).
    alternative : {"greater", "less", "two-sided"}, default="two-sided"
    n_permutations : int, default=9999
    test : str
        A name for the printed result.
    random_state : int, Generator or None

    Returns
    -------
    found : Significance
        Its ``null`` holds the values under shuffling; the observed statistic is the effect.

    Examples
    --------
    >>> def gap(a, b):
    ...     return a.mean() - b.mean()
    >>> found = permutation_test(gap, [1.0, 2.0, 3.0], [7.0, 8.0, 9.0])
    >>> print(found)
    Permutation test: statistic = -6, p = 0.10 (all 20 shuffles)
    """
    if shuffle not in SHUFFLES:
        raise DataError(f"shuffle={shuffle!r} is none of {', '.join(SHUFFLES)}")
    if alternative not in ALTERNATIVES:
        raise DataError(f"alternative={alternative!r} is none of {', '.join(ALTERNATIVES)}")
    columns = [finite_column(each, f"sample {k}") for k, each in enumerate(samples)]
    if shuffle != "groups" and len({len(column) for column in columns}) > 1:
        raise DataError(f"shuffle={shuffle!r} needs samples of one length")
    # independence of two columns: to shuffle one of them is enough
    moved = columns[:-1] if shuffle == "pairs" else columns
    function = _with_last(statistic, columns[-1]) if shuffle == "pairs" else statistic
    found = scipy.stats.permutation_test(
        tuple(moved),
        function,
        permutation_type=SHUFFLES[shuffle],
        vectorized=False,
        n_resamples=n_permutations,
        alternative=alternative,
        rng=np.random.default_rng(random_state),
    )
    null = np.asarray(found.null_distribution, dtype=np.float64)
    undefined = int(np.isnan(null).sum())
    if undefined or np.isnan(found.statistic):
        raise DataError(
            f"the statistic is {found.statistic:g}, and NaN in {undefined:,} of {len(null):,} "
            "shuffles: it has no p; give one that is a number for every shuffle"
        )
    exact = len(null) != n_permutations
    law = f"all {len(null):,} shuffles" if exact else f"{len(null):,} random shuffles"
    return Significance(
        test,
        float(found.statistic),
        float(found.pvalue),
        law=law,
        remarks=() if exact else (_spread_of_p(float(found.pvalue), len(null)),),
        null=null,
    )


def _with_last(statistic: Callable[..., float], last: np.ndarray) -> Callable[..., float]:
    def of_the_moved(*moved: np.ndarray) -> float:
        return statistic(*moved, last)

    return of_the_moved


def _spread_of_p(p: float, n: int) -> str:
    interval = share_interval(round(p * n), n)
    return f"p itself is known from {interval.low:.2g} to {interval.high:.2g} ({n:,} shuffles)"


def adjusted_p_values(p: ArrayLike, method: str = "holm") -> np.ndarray:
    """p-values of several tests, corrected for there being several.

    A test is rejected at level alpha when its adjusted p is at most alpha. ``"bonferroni"``,
    ``"holm"`` and ``"hochberg"`` bound the chance of any false rejection (Hochberg's needs
    independent or positively dependent tests; Holm's never loses to Bonferroni's);
    ``"benjamini-hochberg"`` and ``"benjamini-yekutieli"`` bound the expected share of false ones
    among the rejections (the latter under any dependence).

    Parameters
    ----------
    p : array-like of shape (m,)
    method : str, default="holm"

    Returns
    -------
    adjusted : ndarray of shape (m,)

    Examples
    --------
    >>> adjusted_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = finite_column(p, "p")
    if ((p < 0) | (p > 1)).any():
        raise DataError("p-values must lie between 0 and 1")
    if method not in CORRECTIONS:
        raise DataError(f"method={method!r} is none of {', '.join(CORRECTIONS)}")
    m = len(p)
    if method == "bonferroni":
        return np.minimum(m * p, 1.0)
    order = np.argsort(p, kind="stable")
    raised = p[order] * _factors(method, m)
    if method == "holm":
        sorted_up = np.maximum.accumulate(raised)
    else:
        sorted_up = np.minimum.accumulate(raised[::-1])[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(sorted_up, 1.0)
    return adjusted


def _factors(method: str, m: int) -> np.ndarray:
    """What the sorted p-values, the smallest first, are multiplied with."""
    ranks = np.arange(1, m + 1)
    if method in ("holm", "hochberg"):
        return m + 1.0 - ranks
    harmonic = (1 / ranks).sum() if method == "benjamini-yekutieli" else 1.0
    return harmonic * m / ranks
