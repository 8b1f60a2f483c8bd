"""Chi-square tests of counts, and the correlation ratio: is one thing related to another?

chi2 = sum (count - expected)^2 / expected, where the expected counts come from a model of the
frequencies, or, for two sequences or two nominal columns, from independence: n p_c p_t. The
correlation ratio eta^2 = sum_g n_g (mean_g - mean)^2 / sum_i (x_i - mean)^2 is the share of the
variance of a number that lies between groups; it sees any dependence of the mean, not only a
straight one.

Texts: 004 7.3 and 7.4 · 000b exercise 13.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import optimize

from gnomon.contract.estimate import Estimate, check_level, finite_column
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import label_column, same_length
from gnomon.evaluate.significance import Significance, significance

SMALL = 5.0  # the usual rule: the chi-square law is rough where an expected count is below 5
ROUNDING = 1e-26  # (1e-13)^2, rounding errors of the deviations squared, relative to the total
FAR = 1e5  # judgement: from here the spread between groups is known to within rounding


def chi2_frequencies(
    counts: Mapping[Any, float] | ArrayLike,
    probabilities: Mapping[Any, float] | ArrayLike | None = None,
    *,
    n_estimated: int = 0,
) -> Significance:
    """Chi-square test of counts against the frequencies of a model.

    Use it for whole counts of independent items; not for percentages, and not for counts of
    overlapping or dependent items. SciPy's ``chisquare``.

    Parameters
    ----------
    counts : dict of symbol to count, or array-like of shape (k,)
    probabilities : dict or array-like of shape (k,), default=None
        The model's frequencies, scaled to sum to one; all equal by default.
    n_estimated : int, default=0
        Parameters of the model that were estimated from these counts; each costs a degree of
        freedom.

    Returns
    -------
    found : Significance
        The effect is Cohen's w = sqrt(chi2 / n).

    Examples
    --------
    >>> print(chi2_frequencies([18, 22, 20]))
    Chi-square test of frequencies: chi2 = 0.4, p = 0.82 (2 degrees of freedom)
    Cohen's w: 0.08165
    """
    observed, expected = _against_model(counts, probabilities)
    freedom = len(observed) - 1 - n_estimated
    if freedom < 1:
        raise DataError(f"{len(observed)} counts leave no degree of freedom to test")
    impossible = (expected == 0) & (observed > 0)
    if impossible.any():
        place = int(impossible.argmax())
        raise DataError(f"entry {place} was seen but has probability 0: the model is refuted")
    possible = expected > 0
    found = scipy.stats.chisquare(observed[possible], expected[possible])
    statistic = float(found.statistic)
    return Significance(
        "Chi-square test of frequencies",
        statistic,
        float(scipy.stats.chi2.sf(statistic, freedom)),
        symbol="chi2",
        effects={"Cohen's w": float(np.sqrt(statistic / observed.sum()))},
        law=_freedom_text(freedom),
        remarks=_small_counts(expected[possible]),
    )


def _against_model(counts: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(counts, Mapping):
        if probabilities is not None and not isinstance(probabilities, Mapping):
            raise DataError("counts by symbol need probabilities by symbol")
        model = probabilities or dict.fromkeys(counts, 1.0)
        unknown = [symbol for symbol in counts if symbol not in model]
        if unknown:
            raise DataError(f"{unknown[0]!r} was counted but has no probability in the model")
        counts = [counts.get(symbol, 0) for symbol in model]
        probabilities = list(model.values())
    observed = _checked_counts(counts, "counts")
    if probabilities is None:
        probabilities = np.ones(len(observed))
    shares = _checked_counts(probabilities, "probabilities")
    same_length(observed, shares, "probabilities")
    return observed, shares / shares.sum() * observed.sum()


def compare_frequencies(
    first: Mapping[Any, float] | ArrayLike, second: Mapping[Any, float] | ArrayLike
) -> Significance:
    """Chi-square test of two sequences of symbols: do they have the same frequencies?

    Such as a sequence from a learnt model against one from the true model (000b exercise 13.5).
    Symbols that follow each other dependently, as in text, make p too small; thin the sequences.

    Parameters
    ----------
    first, second : sequence of symbols, or dict of symbol to count
        A string counts its characters.

    Returns
    -------
    found : Significance
        The effect is Cramer's V.

    Examples
    --------
    >>> found = compare_frequencies("abbaabab" * 10, "abbbabbb" * 10)
    >>> print(found)
    Chi-square test of two sequences: chi2 = 10.67, p = 0.0011 (1 degree of freedom)
    Cramer's V: 0.2582
    """
    counted = [_symbol_counts(each) for each in (first, second)]
    symbols = list(dict.fromkeys([*counted[0], *counted[1]]))
    table = [[each.get(symbol, 0) for symbol in symbols] for each in counted]
    return _chi2_of(np.array(table, dtype=np.float64), "Chi-square test of two sequences")


def _symbol_counts(sequence: Any) -> Mapping[Any, float]:
    if isinstance(sequence, Mapping):
        return sequence
    values = sequence.tolist() if isinstance(sequence, np.ndarray) else sequence
    return Counter(values)


def chi2_independence(
    table: ArrayLike,
    *,
    exact: bool = False,
    n_simulations: int = 9_999,
    random_state: int | np.random.Generator | None = None,
) -> Significance:
    """Chi-square test of independence in a table of counts (004 7.4, eq. 7.3).

    Without Yates' correction, as in the text. SciPy's ``chi2_contingency``.

    Parameters
    ----------
    table : array-like of shape (n_rows, n_columns)
        Counts, such as class by term.
    exact : bool, default=False
        Take p from random tables with the same margins instead of the chi-square law; for tables
        with small counts.
    n_simulations : int, default=9999
        How many of them.
    random_state : int, Generator or None

    Returns
    -------
    found : Significance
        The effect is Cramer's V, between 0 and 1.

    Examples
    --------
    >>> print(chi2_independence([[30, 10], [15, 45]]))
    Chi-square test of independence: chi2 = 24.24, p < 0.0001 (1 degree of freedom)
    Cramer's V: 0.4924
    """
    counts = np.asarray(table, dtype=np.float64)
    name = "Chi-square test of independence"
    found = _chi2_of(counts, name)
    if not exact:
        return found
    counts = _without_empty(counts).astype(np.int64)
    if (counts != _without_empty(np.asarray(table))).any():
        raise DataError("exact=True draws tables of whole counts; these are not whole")
    law = scipy.stats.random_table(counts.sum(axis=1), counts.sum(axis=0))
    drawn = law.rvs(n_simulations, random_state=np.random.default_rng(random_state))
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    null = ((drawn - expected) ** 2 / expected).sum(axis=(1, 2))
    simulated = significance(found.statistic, null, test=name, effects=found.effects)
    return Significance(
        name,
        found.statistic,
        simulated.p,
        symbol="chi2",
        effects=found.effects,
        law=f"{n_simulations:,} tables with the same margins",
        null=null,
    )


def _chi2_of(table: np.ndarray, name: str) -> Significance:
    if table.ndim != 2:
        raise DataError(f"a table of counts has rows and columns, not the shape {table.shape}")
    _checked_counts(table.ravel(), "counts")
    table = _without_empty(table)
    if min(table.shape) < 2:
        raise DataError("with one row or column that has counts there is nothing to compare")
    found = scipy.stats.chi2_contingency(table, correction=False)
    most = table.sum() * (min(table.shape) - 1)
    return Significance(
        name,
        float(found.statistic),
        float(found.pvalue),
        symbol="chi2",
        effects={"Cramer's V": float(np.sqrt(found.statistic / most))},
        law=_freedom_text(found.dof),
        remarks=_small_counts(found.expected_freq),
    )


def _without_empty(table: np.ndarray) -> np.ndarray:
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def _checked_counts(counts: ArrayLike, name: str) -> np.ndarray:
    counts = finite_column(counts, name)
    if (counts < 0).any() or not counts.any():
        raise DataError(f"{name} must not be negative, and some must be positive")
    return counts


def _freedom_text(freedom: int) -> str:
    return f"{freedom} degree{'' if freedom == 1 else 's'} of freedom"


def _small_counts(expected: np.ndarray) -> tuple[str, ...]:
    small = int((expected < SMALL).sum())
    if not small:
        return ()
    return (
        f"{small} of {expected.size} expected counts are below 5: the chi-square law is rough; "
        "join rare symbols or simulate (chi2_independence(exact=True))",
    )


def correlation_ratio(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    confidence_level: float = 0.95,
    n_permutations: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> Significance:
    """Correlation ratio eta^2 of a number and a category, with its test (004 7.3).

    eta^2 = sum_g n_g (mean_g - mean)^2 / sum_i (x_i - mean)^2, between 0 and 1; for two groups it
    is the squared correlation coefficient. It grows with the number of groups even where nothing
    is related: epsilon^2, printed beside it, is corrected for that. Under the null hypothesis of
    equal means, F = (eta^2 / (k - 1)) / ((1 - eta^2) / (n - k)) has the F law if values are normal
    with one variance in all groups; ask for permutations if they are far from it.

    Parameters
    ----------
    values : array-like of shape (n,)
    groups : array-like of shape (n,)
        The category of every value.
    confidence_level : float, default=0.95
        Of the interval of eta^2, which comes from the non-central F law (group sizes as given).
    n_permutations : int, default=0
        Take p from this many random shuffles instead of the F law.
    random_state : int, Generator or None

    Returns
    -------
    found : Significance
        ``statistic`` is F.

    Examples
    --------
    >>> found = correlation_ratio([1, 2, 3, 5, 6, 7, 9], [0, 0, 0, 1, 1, 1, 1])
    >>> round(found.effects["eta^2"].value, 6)
    0.782514
    """
    check_level(confidence_level)
    values = finite_column(values, "values")
    groups = label_column(groups, "groups")
    same_length(values, groups, "groups")
    _, codes = np.unique(groups, return_inverse=True)
    k, n = int(codes.max()) + 1, len(values)
    if k < 2 or n <= k:
        raise DataError(f"{n} values in {k} groups: give two or more groups, and more values")
    centered = values - values.mean()
    total = float(centered @ centered)
    if total == 0:
        raise DataError("all values are the same: there is no variance to share out")
    sizes = np.bincount(codes)
    means = np.bincount(codes, centered) / sizes
    within = float(((centered - means[codes]) ** 2).sum())
    within = within if within > ROUNDING * total else 0.0
    eta = 1 - within / total
    f = _f_of(eta, k, n)
    name = "Correlation ratio"
    effects: dict[str, float | Estimate] = {
        "eta^2": _eta_interval(eta, k, n, confidence_level),
        "epsilon^2": 1 - (1 - eta) * (n - 1) / (n - k),
    }
    if not n_permutations:
        law = f"F law, {k - 1} and {n - k} degrees of freedom"
        p = float(scipy.stats.f.sf(f, k - 1, n - k))
        return Significance(name, f, p, symbol="F", effects=effects, law=law)
    rng = np.random.default_rng(random_state)
    null = np.empty(n_permutations)
    for i in range(n_permutations):
        sums = np.bincount(codes, rng.permutation(centered))
        null[i] = (sums**2 / sizes).sum() / total
    p = significance(eta, null).p
    law = f"{n_permutations:,} random shuffles"
    return Significance(name, f, p, symbol="F", effects=effects, law=law, null=null)


def _f_of(eta: float, k: int, n: int) -> float:
    if eta >= 1:
        return np.inf
    return eta / (k - 1) / ((1 - eta) / (n - k))


def _eta_interval(eta: float, k: int, n: int, confidence_level: float) -> Estimate:
    """The eta^2 of the population whose F law would not find the observed F extreme.

    With non-centrality c the population's eta^2 is c / (c + n).
    """
    f = _f_of(eta, k, n)
    if not np.isfinite(f):
        return Estimate(eta, 1.0, 1.0, confidence_level, np.nan, "no variance within groups")
    low, high = (
        _non_centrality(f, k, n, tail)
        for tail in (0.5 + confidence_level / 2, 0.5 - confidence_level / 2)
    )
    return Estimate(
        eta, low / (low + n), high / (high + n), confidence_level, np.nan, "non-central F"
    )


def _non_centrality(f: float, k: int, n: int, share: float) -> float:
    """The c at which F stays below f with the given probability."""

    def excess(c: float) -> float:
        if c == 0:
            return float(scipy.stats.f.cdf(f, k - 1, n - k)) - share
        return float(scipy.stats.ncf.cdf(f, k - 1, n - k, c)) - share

    if excess(0.0) <= 0:
        return 0.0
    if (
        k - 1
    ) * f > FAR:  # the spread between groups is as good as known; SciPy's law has no digits
        return float((k - 1) * f / (n - k) * scipy.stats.chi2.isf(share, n - k))
    high = max(1.0, f * k)
    while excess(high) > 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high))
