"""Tests of learners against SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import stats

from gnomon.evaluate import (
    cochran_q_test,
    friedman_test,
    mcnemar_of_counts,
    sign_test,
    wilcoxon_test,
)

contingency = pytest.importorskip("statsmodels.stats.contingency_tables")


@pytest.mark.covers("learner-comparison")
def test_mcnemar_agrees_with_statsmodels():
    table = [[50, 12], [3, 35]]
    exact = contingency.mcnemar(table, exact=True)
    chi2 = contingency.mcnemar(table, exact=False, correction=True)
    assert mcnemar_of_counts(12, 3, 100, "exact").p == pytest.approx(exact.pvalue)
    found = mcnemar_of_counts(12, 3, 100, "chi2")
    assert (found.statistic, found.p) == pytest.approx((chi2.statistic, chi2.pvalue))


def test_cochrans_q_agrees_with_statsmodels(rng):
    right = (rng.random((60, 4)) < [0.9, 0.8, 0.7, 0.75]).astype(int)
    expected = contingency.cochrans_q(right)
    found = cochran_q_test(right)
    assert (found.q, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_friedman_agrees_with_scipy_with_and_without_ties(rng):
    for scores in (rng.normal(size=(12, 4)), np.round(rng.normal(size=(12, 4)))):
        expected = stats.friedmanchisquare(*scores.T)
        found = friedman_test(scores)
        assert (found.chi2, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_wilcoxon_and_sign_test_agree_with_scipy(rng):
    a, b = rng.normal(size=(2, 18))
    assert wilcoxon_test(a, b).p == pytest.approx(stats.wilcoxon(a, b).pvalue)
    wins = int((a > b).sum())
    assert sign_test(a, b).p == pytest.approx(stats.binomtest(wins, 18).pvalue)


def test_nemenyis_critical_values_are_those_of_demsars_table():
    expected = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 10: 3.164}
    for k, q in expected.items():
        found = friedman_test(np.arange(3 * k).reshape(3, k)[:, ::-1])
        assert found.critical_difference / np.sqrt(k * (k + 1) / 18) == pytest.approx(q, abs=2e-3)
