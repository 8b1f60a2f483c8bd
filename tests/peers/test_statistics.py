"""Statistics beside SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from sklearn.random_projection import johnson_lindenstrauss_min_dim

from gnomon.evaluate import (
    adjusted_p_values,
    anderson_darling,
    chi2_frequencies,
    chi2_independence,
    correlation_ratio,
    dagostino_k2,
    johnson_lindenstrauss_dimension,
    kolmogorov_smirnov,
)

diagnostic = pytest.importorskip("statsmodels.stats.diagnostic")
multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.mark.covers("anderson-darling-normality")
def test_anderson_darling_has_statsmodels_statistic_and_nearly_its_p(rng):
    for n in (20, 100, 1000):
        for values in (rng.standard_normal(n), rng.standard_t(5, n), rng.gamma(20.0, size=n)):
            ours = anderson_darling(values)
            statistic, p = diagnostic.normal_ad(values)
            if np.isfinite(statistic):  # theirs takes the logarithm of a rounded tail
                assert ours.statistic == pytest.approx(statistic, rel=1e-5)
            if 1e-6 < p < 0.99:
                # theirs is a fitted formula
                assert ours.p == pytest.approx(p, rel=0.1, abs=0.02)


@pytest.mark.covers("kolmogorov-smirnov-test")
def test_lilliefors_p_is_near_statsmodels_table(rng):
    for n in (12, 60, 500):
        values = rng.standard_normal(n)
        statistic, p = diagnostic.lilliefors(values, pvalmethod="table")
        ours = kolmogorov_smirnov(values)
        assert ours.statistic == pytest.approx(statistic, rel=1e-9)
        if p < 0.15:
            # their table is coarse: at 500 rows it says 0.160 where simulation says 0.117
            assert ours.p == pytest.approx(p, abs=0.05)
        else:
            assert ours.p > 0.09


@pytest.mark.covers("kolmogorov-smirnov-test", "dagostino-k2-test")
def test_k_squared_and_kolmogorov_smirnov_are_scipys(rng):
    values, other = rng.standard_normal(80), rng.standard_normal(50)
    assert dagostino_k2(values).p == pytest.approx(stats.normaltest(values).pvalue)
    assert kolmogorov_smirnov(values, other).p == stats.ks_2samp(values, other).pvalue
    law = stats.norm(0.1, 2)
    assert kolmogorov_smirnov(values, law).p == stats.kstest(values, law.cdf).pvalue


@pytest.mark.covers("chi2-frequency-test")
def test_chi_square_tests_are_scipys(rng):
    counts = rng.integers(5, 40, 6)
    assert chi2_frequencies(counts).p == pytest.approx(stats.chisquare(counts).pvalue)
    table = rng.integers(3, 40, (3, 4))
    theirs = stats.chi2_contingency(table, correction=False)
    ours = chi2_independence(table)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_the_correlation_ratio_has_the_f_of_one_way_analysis_of_variance(rng):
    groups = [rng.standard_normal(n) + shift for n, shift in ((7, 0), (12, 0.5), (20, 0.2))]
    names = np.repeat(["a", "b", "c"], [7, 12, 20])
    theirs = stats.f_oneway(*groups)
    ours = correlation_ratio(np.concatenate(groups), names)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.covers("null-hypothesis-test")
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("bonferroni", "bonferroni"),
        ("holm", "holm"),
        ("hochberg", "simes-hochberg"),
        ("benjamini-hochberg", "fdr_bh"),
        ("benjamini-yekutieli", "fdr_by"),
    ],
)
def test_adjusted_p_values_are_statsmodels(rng, ours, theirs):
    p = np.round(rng.random(15) ** 3, 2)  # with ties
    expected = multitest.multipletests(p, method=theirs)[1]
    assert adjusted_p_values(p, ours) == pytest.approx(expected)


@pytest.mark.covers("johnson-lindenstrauss-dimension")
def test_the_dimension_is_of_the_order_of_scikit_learns_which_states_no_delta():
    for n, epsilon in ((100, 0.1), (10**6, 0.3)):
        theirs = johnson_lindenstrauss_min_dim(n, eps=epsilon)
        ours = johnson_lindenstrauss_dimension(n, epsilon, delta=0.05, exact=True)
        assert 0.4 * theirs < ours < 1.2 * theirs
