"""Baselines, intervals and the corrected comparison, against definitions and simulation."""

import numpy as np
import pytest
from scipy import stats

from gnomon.evaluate import (
    BaselineClassifier,
    BaselineRegressor,
    DummyRegressor,
    Scores,
    accuracy,
    corrected_standard_error,
    k_fold,
    share_interval,
)
from gnomon.evaluate.number_measures import root_mean_squared_error


@pytest.mark.covers("majority-mean-baseline")
def test_the_baseline_predicts_the_commonest_class_and_the_classes_shares():
    model = BaselineClassifier().fit(np.zeros((5, 1)), list("aabbb"))
    assert model.predict(np.ones((2, 1))).tolist() == ["b", "b"]
    assert model.predict_proba(np.ones((1, 1))).tolist() == [[0.4, 0.6]]


@pytest.mark.covers("majority-mean-baseline")
@pytest.mark.parametrize("weights", [np.full(4, 0.1), [1, 2, 2, 1], [0, 3, 3, 0]])
def test_the_weighted_median_of_a_dummy_is_between_the_two_middle_rows(weights):
    model = DummyRegressor(strategy="median").fit(np.zeros((4, 1)), [1, 2, 3, 4], weights)
    assert model.constant_ == pytest.approx(2.5)


@pytest.mark.covers("majority-mean-baseline")
@pytest.mark.parametrize("weights", [None, np.full(4, 0.1), [1, 2, 2, 1]])
def test_the_median_of_an_even_number_of_rows_is_between_the_two_middle_ones(weights):
    model = BaselineRegressor("median").fit(np.zeros((4, 1)), [1, 2, 3, 4], weights)
    assert model.constant_ == pytest.approx(2.5)


@pytest.mark.covers("majority-mean-baseline")
def test_no_constant_has_a_smaller_error_than_the_baselines(seed):
    rng = np.random.default_rng(seed)
    y, weights = rng.exponential(size=31), rng.integers(1, 5, 31)
    rows = np.zeros((31, 1))
    grid = np.concatenate([y, np.linspace(y.min(), y.max(), 999)])
    mean = BaselineRegressor().fit(rows, y, sample_weight=weights).constant_
    median = BaselineRegressor("median").fit(rows, y, sample_weight=weights).constant_
    squared = (weights * (y - grid[:, None]) ** 2).sum(axis=1)
    absolute = (weights * np.abs(y - grid[:, None])).sum(axis=1)
    assert (weights * (y - mean) ** 2).sum() <= squared.min() + 1e-9
    assert (weights * np.abs(y - median)).sum() <= absolute.min() + 1e-9


@pytest.mark.covers("majority-mean-baseline")
def test_the_baseline_gives_each_of_several_targets_its_mean():
    model = BaselineRegressor().fit(np.zeros((2, 1)), [[1.0, 10.0], [3.0, 30.0]])
    assert model.predict(np.zeros((1, 1))).tolist() == [[2.0, 20.0]]


def exact_coverage(n: int, shares: np.ndarray) -> np.ndarray:
    """How often the interval of n rows holds each share, summed over all counts."""
    counts = np.arange(n + 1)
    low, high = np.array([share_interval(k, n)[1:3] for k in counts]).T[:, :, None]
    return (stats.binom.pmf(counts[:, None], n, shares) * ((low <= shares) & (shares <= high))).sum(
        0
    )


@pytest.mark.parametrize("n", [15, 20, 40, 100, 300])
def test_the_interval_of_a_share_holds_93_percent_at_the_least_and_97_at_most_on_average(n):
    shares = np.linspace(0.001, 0.999, 999)
    held = exact_coverage(n, shares)
    assert held.min() >= 0.928
    assert 0.95 <= held.mean() <= 0.97
    # near 0 and 1 a count or two make the difference, so that more must be held than 97%
    plenty = n * np.minimum(shares, 1 - shares) >= 10
    assert not plenty.any() or held[plenty].max() <= 0.9725


def test_no_count_of_twenty_gives_a_share_of_95_percent_a_coverage_of_93_to_97_percent():
    chances = stats.binom.pmf(np.arange(21), 20, 0.95)
    best = [chances[low : high + 1].sum() for low in range(21) for high in range(low, 21)]
    assert not any(0.93 <= each <= 0.97 for each in best)


def test_the_interval_of_a_share_is_wider_than_wilsons_about_its_center_but_no_wider_than_exact(
    rng,
):
    n = int(rng.integers(5, 500))
    k = int(rng.integers(1, n))
    found, z = stats.binomtest(k, n), stats.norm.ppf(0.975)
    wilson, exact = (found.proportion_ci(method=each) for each in ("wilson", "exact"))
    center = (wilson.low + wilson.high) / 2
    half = z * np.sqrt(center * (1 - center) / (n + z**2))
    assert half >= (wilson.high - wilson.low) / 2 - 1e-12
    figure = share_interval(k, n)
    assert figure.low == pytest.approx(max(center - half, exact.low), abs=1e-9)
    assert figure.high == pytest.approx(min(center + half, exact.high), abs=1e-9)


def test_a_share_beyond_its_total_is_refused():
    with pytest.raises(ValueError, match="not a share"):
        share_interval(11, 10)


def test_accuracy_counts_right_predictions():
    assert accuracy(list("abca"), list("abbb")).value == 0.5


def test_the_error_interval_covers_the_true_error_in_most_repetitions(seed):
    rng = np.random.default_rng(seed)
    errors = rng.normal(0, 2.0, (1000, 200))
    figures = [root_mean_squared_error(row, np.zeros(200)) for row in errors]
    share = np.mean([figure.low <= 2.0 <= figure.high for figure in figures])
    assert 0.90 <= share <= 0.98


def test_the_corrected_error_is_that_of_nadeau_and_bengio():
    values = np.array([0.8, 0.9, 0.7, 0.8])
    expected = np.sqrt((1 / 4 + 1 / 3) * values.var(ddof=1))
    assert corrected_standard_error(values, 1 / 3) == pytest.approx(expected)


def test_equal_scores_differ_with_p_one_and_a_constant_gap_with_p_zero():
    one = Scores("one", np.array([0.5, 0.6, 0.7]), 0.25, 0, 0)
    other = Scores("other", one.values + 0.125, 0.25, 0, 0)
    assert one.p_against(one) == 1.0
    assert one.p_against(other) < 1e-6


def test_every_row_is_tested_once_per_repetition(seed):
    y = np.repeat([0, 1], [30, 20])
    splits = k_fold(50, 5, 3, stratify=y, random_state=seed)
    tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=50)
    assert (tested == 3).all()
    assert all(y[test].sum() == 4 for _, test in splits)
