"""The paired test against the baseline, compared with SciPy and with simple simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from gnomon.contract.estimate import Estimate
from gnomon.evaluate import area_under_roc
from gnomon.evaluate.measures import Said
from gnomon.evaluate.number_measures import root_of
from gnomon.workbench.analysis.diagnosis import drawn
from gnomon.workbench.learn.lead import paired_test, placements, two_sided_p


def test_rows_tested_once_are_compared_as_by_the_paired_t_test(rng):
    half = rng.exponential(size=20)
    ours = rng.normal(size=40)
    theirs = ours + 0.3 + np.concatenate([half, -half])  # without skewness
    gain, p, n = paired_test(theirs - ours, np.arange(40), None)
    expected = stats.ttest_rel(theirs, ours, alternative="greater")
    assert (gain, n) == (pytest.approx(np.mean(theirs - ours)), 40)
    assert p == pytest.approx(expected.pvalue)


def test_rows_that_are_tested_again_are_no_new_rows(rng):
    gains, rows = rng.normal(0.2, size=30), np.arange(30)
    once = paired_test(gains, rows, None)
    again = paired_test(np.tile(gains, 4), np.tile(rows, 4), None)
    assert again == pytest.approx(once)


def test_groups_are_compared_as_their_means_where_they_are_of_one_size(rng):
    half, groups = rng.normal(size=20), np.repeat(np.arange(8), 5)
    gains = 0.3 + np.concatenate([half, -half])
    means = gains.reshape(8, 5).mean(axis=1)
    expected = stats.ttest_1samp(means, 0, alternative="greater").pvalue
    assert paired_test(gains, groups, None)[1] == pytest.approx(expected)


def test_the_mean_of_placements_is_the_area_with_its_error(rng):
    y = rng.random(200) < 0.2
    scores = np.round(rng.normal(size=200) + 0.4 * y, 1)  # some are tied
    said = Said(y, scores=scores, classes=np.array([False, True]))
    found = placements(y, said)
    area = area_under_roc(y, scores, True)
    assert found[y].mean() == pytest.approx(roc_auc_score(y, scores))
    assert found[~y].mean() == pytest.approx(roc_auc_score(y, scores))
    gain, p, _ = paired_test(found - 0.5, np.arange(200), y, summed=True)
    assert gain == pytest.approx(area.value - 0.5)
    expected = stats.norm.sf(gain / area.error)
    assert np.log(p) == pytest.approx(np.log(expected), rel=0.3, abs=0.5)


def test_a_gain_without_spread_needs_rows_to_be_real():
    assert paired_test(np.ones(3), np.arange(3), None)[1] == 0.125
    assert paired_test(np.ones(10), np.arange(10), None)[1] < 0.001
    assert paired_test(np.zeros(10), np.arange(10), None)[1] == 1.0


@pytest.mark.parametrize("law", ["normal", "exponential", "t", "discrete"])
def test_no_gain_is_called_real_in_about_five_of_a_hundred(law, rng):
    draws = {
        "normal": lambda: rng.normal(size=60),
        "exponential": lambda: 1 - rng.exponential(size=60),
        "t": lambda: rng.standard_t(3, size=60),
        "discrete": lambda: rng.integers(-1, 2, size=60),
    }
    found = [paired_test(draws[law](), np.arange(60), None)[1] < 0.05 for _ in range(2000)]
    assert np.mean(found) < 0.08


def test_the_interval_of_a_root_does_not_begin_at_zero():
    wide = Estimate(4.0, -2.0, 10.0, 0.95, 2.0)
    found = root_of(wide)
    assert found.value == 2
    assert 0 < found.low < 2 < found.high
    assert found.low * found.high == pytest.approx(4)
    narrow = root_of(Estimate(4.0, 1.0, 9.0, 0.95, 1.0))
    assert (narrow.low, narrow.high) == (1, 3)


def test_drawn_rows_keep_the_shares_of_the_classes(rng):
    y = np.array(["rare"] * 10 + ["common"] * 990)
    taken = drawn(y, 200, rng, is_class=True)
    assert len(np.unique(taken)) == len(taken) == 200
    assert (y[taken] == "rare").sum() == 2
    assert (drawn(y, 50, rng, is_class=True) < 10).sum() == 1


def test_equal_losses_with_heavy_tails_rarely_differ(rng):
    differences = rng.standard_t(3, size=(600, 40)) ** 2 - rng.standard_t(3, size=(600, 40)) ** 2
    found = [two_sided_p(each, np.arange(40)) < 0.05 for each in differences]
    assert np.mean(found) <= 0.08


def test_rows_of_one_owner_count_as_one_in_the_two_sided_test(rng):
    sums = rng.normal(size=(600, 8)) + 0.1 * rng.normal(size=(600, 8))
    found = [two_sided_p(np.repeat(each, 5), np.repeat(np.arange(8), 5)) < 0.05 for each in sums]
    assert np.mean(found) <= 0.08
    assert two_sided_p(np.repeat(3.0, 8) + 0.1 * sums[0], np.arange(8)) < 0.001
