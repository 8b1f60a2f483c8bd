"""Tests hold their level, laws agree with simulation, regions cover, shuffles are enumerated."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import optimize, special, stats

from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    adjusted_p_values,
    anderson_darling,
    chi2_frequencies,
    chi2_independence,
    choose_degree,
    compare_frequencies,
    confidence_region,
    correlation_ratio,
    covariance_region,
    dagostino_k2,
    goodness_of_fit,
    joint_box,
    kolmogorov_smirnov,
    mean_region,
    normality,
    permutation_test,
    significance,
    significant,
    with_error,
)
from gnomon.evaluate.digits import last_place
from gnomon.evaluate.frequencies import _eta_interval
from gnomon.evaluate.normality import STEPHENS_1974, _limit_weights
from gnomon.evaluate.quadratic_law import weighted_chi2_tail


def a_squared(z: np.ndarray) -> np.ndarray:
    """The statistic of every row of standardised values, by its definition."""
    z = np.sort(z, axis=1)
    n = z.shape[1]
    odd = 2 * np.arange(1, n + 1) - 1
    return -n - (odd * (special.log_ndtr(z) + special.log_ndtr(-z[:, ::-1]))).sum(axis=1) / n


def critical(confidence_level: float, mean_estimated: bool, sd_estimated: bool) -> float:
    weights, rest = _limit_weights(mean_estimated, sd_estimated)
    return optimize.brentq(
        lambda x: weighted_chi2_tail(x, weights, rest) - confidence_level, 0.05, 20
    )


def about(share: float, confidence_level: float, runs: int, slack: float = 0.0) -> bool:
    """Whether a simulated share is a level, within five standard errors and a slack."""
    return (
        abs(share - confidence_level)
        <= 5 * np.sqrt(confidence_level * (1 - confidence_level) / runs) + slack
    )


@pytest.mark.covers("anderson-darling-normality")
@pytest.mark.parametrize("mean_known", [False, True])
@pytest.mark.parametrize("sd_known", [False, True])
@pytest.mark.parametrize("n", [12, 100])
def test_anderson_darling_holds_its_level_whatever_was_estimated(rng, n, mean_known, sd_known):
    runs = 20_000
    z = rng.standard_normal((runs, n))
    if not mean_known:
        z -= z.mean(axis=1, keepdims=True)
    if not sd_known:
        freedom = n if mean_known else n - 1
        z /= np.sqrt((z**2).sum(axis=1, keepdims=True) / freedom)
    values = a_squared(z)
    if not mean_known and not sd_known:
        values = values * (1 + 0.75 / n + 2.25 / n**2)
    for level in (0.1, 0.05, 0.01):
        found = (values > critical(level, not mean_known, not sd_known)).mean()
        assert about(found, level, runs, slack=0.12 * level)


@pytest.mark.covers("anderson-darling-normality")
def test_the_thresholds_of_the_text_belong_to_the_adjusted_square_and_not_to_its_root(rng):
    """Residuals of a straight line, 100 rows, scaled by their root mean square (004 5.2.2)."""
    n, runs = 100, 20_000
    x = np.column_stack([np.ones(n), np.linspace(-1, 1, n)])
    noise = rng.standard_normal((runs, n))
    residuals = noise - noise @ x @ np.linalg.inv(x.T @ x) @ x.T
    z = residuals / np.sqrt((residuals**2).mean(axis=1, keepdims=True))
    statistic = a_squared(z)
    adjusted = statistic * (1 + 4 / n - 25 / n**2)
    levels = {0.1: 0.097, 0.05: 0.047, 0.01: 0.009}
    wrong = {0.1: 0.315, 0.05: 0.106, 0.01: 0.004}
    for level, threshold in ((a, STEPHENS_1974[a]) for a in levels):
        assert about((adjusted > threshold).mean(), levels[level], runs, slack=0.0025)
        assert about((np.sqrt(statistic) > threshold).mean(), wrong[level], runs, slack=0.004)


@pytest.mark.covers("anderson-darling-normality")
def test_scaling_by_the_root_mean_square_alone_has_a_five_percent_point_of_about_2_3():
    assert critical(0.05, False, True) == pytest.approx(2.3, abs=0.05)
    known = {0.1: 1.933, 0.05: 2.492, 0.01: 3.857}  # of Anderson and Darling, all known
    assert [critical(a, False, False) for a in known] == pytest.approx(list(known.values()), 0.01)
    both = {0.1: 0.631, 0.05: 0.752, 0.01: 1.035}  # of Stephens (1986), both estimated
    assert [critical(a, True, True) for a in both] == pytest.approx(list(both.values()), 0.005)


@pytest.mark.covers("anderson-darling-normality")
def test_the_statistic_is_the_sum_of_the_formula(rng):
    values = rng.gamma(3.0, size=40)
    z = np.sort((values - values.mean()) / values.std(ddof=1))
    total = 0.0
    for i in range(1, 41):
        low, high = stats.norm.cdf(z[i - 1]), stats.norm.cdf(z[40 - i])
        total += (2 * i - 1) * (np.log(low) + np.log(1 - high))
    assert anderson_darling(values).statistic == pytest.approx(-40 - total / 40, rel=1e-9)
    rms = values / np.sqrt((values**2).mean())
    assert anderson_darling(values, mean=0.0).statistic == pytest.approx(
        a_squared(rms[None, :])[0], rel=1e-9
    )


@pytest.mark.covers("anderson-darling-normality")
def test_an_extreme_value_rejects_normality_without_an_infinity(rng):
    values = np.append(rng.standard_normal(200), 1e9)
    found = anderson_darling(values)
    assert np.isfinite(found.statistic)
    assert found.p < 1e-12
    far = anderson_darling(rng.standard_normal(50) + 60, mean=0.0, sd=1.0)
    assert np.isfinite(far.statistic)
    assert far.p < 1e-100


@pytest.mark.covers("anderson-darling-normality", "dagostino-k2-test", "kolmogorov-smirnov-test")
def test_tests_of_normality_do_not_depend_on_units(rng):
    values = rng.standard_t(4, size=60)
    for test in (anderson_darling, dagostino_k2, kolmogorov_smirnov):
        here, there = test(values), test(values * 1e-200 + 3e-200)
        assert there.p == pytest.approx(here.p, rel=1e-6)


@pytest.mark.covers("anderson-darling-normality", "dagostino-k2-test", "kolmogorov-smirnov-test")
def test_tests_of_normality_refuse_what_they_cannot_judge():
    for test in (anderson_darling, dagostino_k2, kolmogorov_smirnov, normality):
        with pytest.raises(DataError, match="at least 8"):
            test([1.0, 2.0, 3.0])
        with pytest.raises(DataError, match="no spread"):
            test([0.1] * 20)
        with pytest.raises(DataError, match="row 1, nan"):
            test([1.0, np.nan, *range(10)])


@pytest.mark.covers("kolmogorov-smirnov-test")
@pytest.mark.parametrize("n", [15, 400])
def test_the_lilliefors_law_holds_its_level_and_the_usual_law_does_not(rng, n):
    runs = 400
    draws = rng.standard_normal((runs, n)) * 7 + 3
    own = np.array([kolmogorov_smirnov(each).p for each in draws])
    assert about((own < 0.1).mean(), 0.1, runs, slack=0.01)
    each = draws[0]
    law = stats.norm(each.mean(), each.std(ddof=1))
    naive = np.array(
        [stats.kstest(row, "norm", (row.mean(), row.std(ddof=1))).pvalue for row in draws]
    )
    assert (naive < 0.1).mean() < 0.03
    said = kolmogorov_smirnov(each, law, parameters_estimated=True)
    assert "much too large" in str(said)
    assert "much too large" not in str(kolmogorov_smirnov(each, law))


@pytest.mark.covers("kolmogorov-smirnov-test")
def test_the_test_of_two_samples_finds_a_shift_and_tells_of_ties(rng):
    first, second = rng.standard_normal(300), rng.standard_normal(300)
    assert kolmogorov_smirnov(first, second + 1).p < 1e-6
    assert "tied" in str(kolmogorov_smirnov(np.round(first), np.round(second)))


@pytest.mark.covers("dagostino-k2-test")
def test_k_squared_has_about_its_level_and_names_the_shape(rng):
    draws = rng.standard_normal((400, 60))
    p = np.array([dagostino_k2(each).p for each in draws])
    assert about((p < 0.05).mean(), 0.05, 400, slack=0.015)
    assert dagostino_k2(rng.exponential(size=500)).effects["skewness"] > 1
    assert "rough" in str(dagostino_k2(draws[0, :10]))


def test_a_single_weight_is_a_scaled_chi_square():
    for x in (1e-6, 0.01, 1.0, 7.0, 60.0, 900.0):
        assert weighted_chi2_tail(x, np.array([2.0])) == pytest.approx(
            stats.chi2.sf(x / 2, 1), rel=1e-9
        )
    assert weighted_chi2_tail(-1.0, np.array([2.0])) == 1.0
    assert weighted_chi2_tail(1e300, np.array([2.0])) == 0.0


@pytest.mark.parametrize("n", [2, 5, 40])
def test_equal_weights_are_a_chi_square_of_many_degrees(n):
    for x in (0.05 * n, 0.9 * n, n, 3.0 * n, 12.0 * n):
        assert weighted_chi2_tail(x, np.ones(n)) == pytest.approx(stats.chi2.sf(x, n), rel=1e-9)


def test_the_law_of_two_weights_is_that_of_its_simulation(rng):
    weights = np.array([1.0, 0.35, 0.1])
    draws = rng.standard_normal((400_000, 3)) ** 2 @ weights
    for x in (0.3, 1.5, 5.0):
        assert about((draws > x).mean(), weighted_chi2_tail(x, weights), 400_000)


def test_the_far_tail_is_that_of_the_largest_weight():
    """Zolotarev: the tail is that of the largest term times prod (1 - l_r / l_1)^(-1/2)."""
    weights, _ = _limit_weights(True, True)
    factor = np.exp(-np.log1p(-weights[1:] / weights[0]).sum() / 2)
    for x in (20.0, 60.0, 120.0):
        expansion = factor * stats.chi2.sf(x / weights[0], 1)
        assert weighted_chi2_tail(x, weights) == pytest.approx(expansion, rel=2 / x)


@pytest.mark.covers("chi2-frequency-test")
def test_frequencies_hold_their_level_and_estimated_parameters_cost_freedom(rng):
    probabilities = np.array([0.5, 0.2, 0.2, 0.1])
    draws = rng.multinomial(300, probabilities, 800)
    p = np.array([chi2_frequencies(each, probabilities).p for each in draws])
    assert about((p < 0.05).mean(), 0.05, 800, slack=0.005)
    one = chi2_frequencies(draws[0], probabilities)
    fewer = chi2_frequencies(draws[0], probabilities, n_estimated=1)
    assert fewer.p == pytest.approx(stats.chi2.sf(one.statistic, 2))


@pytest.mark.covers("chi2-frequency-test")
def test_symbols_are_counted_and_small_counts_are_told():
    by_name = chi2_frequencies({"a": 30, "b": 50}, {"a": 0.4, "b": 0.6})
    assert by_name.statistic == pytest.approx((30 - 32) ** 2 / 32 + (50 - 48) ** 2 / 48)
    same = compare_frequencies("aabbb", {"a": 2, "b": 3})
    assert same.statistic == pytest.approx(0)
    assert "below 5" in str(same)
    with pytest.raises(DataError, match="'c' was counted"):
        chi2_frequencies({"a": 1, "c": 2}, {"a": 0.5, "b": 0.5})
    with pytest.raises(DataError, match="refuted"):
        chi2_frequencies([5, 1], [1.0, 0.0])
    with pytest.raises(DataError, match="nothing to compare"):
        compare_frequencies("aaa", "aaaa")


@pytest.mark.covers("chi2-frequency-test")
def test_random_tables_give_fishers_probability_of_small_counts(rng):
    table = np.array([[5, 1], [2, 6]])
    found = chi2_independence(table, exact=True, n_simulations=20_000, random_state=rng)
    margins = stats.hypergeom(14, 7, 6)
    k = np.arange(0, 7)
    share, far = margins.pmf(k), []
    for a in k:
        other = np.array([[a, 6 - a], [7 - a, 1 + a]])
        far.append(chi2_independence(other).statistic >= found.statistic - 1e-9)
    exact = share[np.array(far)].sum()
    assert about(found.p, exact, 20_000, slack=1e-4)


def test_the_correlation_ratio_holds_its_level_by_law_and_by_shuffling(rng):
    groups = np.repeat([0, 1, 2], [8, 12, 20])
    by_law = [correlation_ratio(rng.standard_normal(40), groups).p for _ in range(400)]
    assert about(np.mean(np.array(by_law) < 0.1), 0.1, 400)
    by_shuffle = [
        correlation_ratio(rng.exponential(size=40), groups, n_permutations=99, random_state=rng).p
        for _ in range(300)
    ]
    assert np.mean(np.array(by_shuffle) <= 0.1) < 0.1 + 5 * np.sqrt(0.09 / 300)


def test_intervals_of_the_correlation_ratio_cover(rng):
    runs, sizes = 1500, np.array([10, 15, 15])
    means = np.repeat([0.0, 0.5, 1.0], sizes)
    spread = (sizes * (np.array([0.0, 0.5, 1.0]) - means.mean()) ** 2).sum()
    truth = spread / (spread + 40)
    codes = np.repeat([0, 1, 2], sizes)
    covered = 0
    for _ in range(runs):
        x = means + rng.standard_normal(40)
        centered = x - x.mean()
        eta = (np.bincount(codes, centered) ** 2 / sizes).sum() / (centered @ centered)
        figure = _eta_interval(eta, 3, 40, 0.95)
        covered += figure.low <= truth <= figure.high
    assert 0.93 <= covered / runs <= 0.97


@pytest.mark.covers("bootstrap-confidence-region")
def test_the_region_of_a_mean_covers_jointly_and_single_intervals_do_not(rng):
    runs, n = 2000, 15
    mix = np.array([[2.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.1, 0.2, 0.5]])
    ellipse = box = single = 0
    for _ in range(runs):
        rows = rng.standard_normal((n, 3)) @ mix.T + [1.0, 2.0, 3.0]
        region = mean_region(rows)
        ellipse += bool(region.contains([1.0, 2.0, 3.0])[0])
        box += bool(region.box_contains([1.0, 2.0, 3.0])[0])
        error = rows.std(axis=0, ddof=1) / np.sqrt(n)
        inside = np.abs(rows.mean(axis=0) - [1.0, 2.0, 3.0]) <= stats.t.ppf(0.975, n - 1) * error
        single += bool(inside.all())
    assert 0.93 <= ellipse / runs <= 0.97
    assert 0.93 <= box / runs <= 0.99
    assert single / runs < 0.92


@pytest.mark.covers("bootstrap-confidence-region")
def test_the_region_of_regression_coefficients_covers(rng):
    runs, n = 2000, 20
    x = np.column_stack([np.ones(n), rng.uniform(0, 3, n)])
    inverse = np.linalg.inv(x.T @ x)
    truth, covered = np.array([1.0, -2.0]), 0
    for y in x @ truth + 0.7 * rng.standard_normal((runs, n)):
        coef = inverse @ x.T @ y
        variance = ((y - x @ coef) ** 2).sum() / (n - 2)
        region = covariance_region(coef, variance * inverse, degrees_of_freedom=n - 2)
        covered += bool(region.contains(truth)[0])
    assert 0.93 <= covered / runs <= 0.97


@pytest.mark.covers("bootstrap-confidence-region")
def test_the_bootstrap_region_of_a_mean_covers_about_its_level(rng):
    runs, n = 600, 60
    covered = boxed = 0
    for _ in range(runs):
        rows = rng.exponential(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
        drawn = rows[rng.integers(0, n, (500, n))].mean(axis=1)
        region = confidence_region(drawn, center=rows.mean(axis=0))
        covered += bool(region.contains([1.0, 1.5])[0])
        boxed += bool(region.box_contains([1.0, 1.5])[0])
    assert 0.88 <= covered / runs <= 0.98
    assert 0.88 <= boxed / runs <= 0.98


@pytest.mark.covers("bootstrap-confidence-region")
def test_region_and_box_hold_their_share_of_the_estimates_and_draw_themselves(rng):
    draws = rng.gamma(2.0, size=(2000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    for level in (0.5, 0.683, 0.9, 0.954):
        region = confidence_region(draws, level)
        assert region.contains(draws).mean() == pytest.approx(level, abs=1e-3)
        assert level - 1e-3 <= region.box_contains(draws).mean() <= level + 0.02
    outline = region.outline(50)
    assert region.distance(outline) == pytest.approx(np.full(50, region.radius))
    lengths, directions = region.axes()
    assert region.volume == pytest.approx(np.pi * lengths.prod())
    assert directions @ directions.T == pytest.approx(np.eye(2), abs=1e-12)
    low, high = joint_box(draws[:, :1], 0.9)
    assert ((draws[:, 0] >= low) & (draws[:, 0] <= high)).mean() == pytest.approx(0.9, abs=2e-3)
    assert "strongest correlation" in str(region)


@pytest.mark.covers("bootstrap-confidence-region")
def test_regions_refuse_too_few_or_flat_estimates(rng):
    with pytest.raises(DataError, match="too few"):
        confidence_region(rng.standard_normal((15, 2)))
    line = rng.standard_normal((100, 1)) * [1.0, 2.0]
    with pytest.raises(DataError, match="fewer dimensions"):
        confidence_region(line)


@pytest.mark.covers("null-hypothesis-test")
def test_the_exact_permutation_test_is_the_enumeration(rng):
    a, b = rng.standard_normal(4), rng.standard_normal(5) + 0.7
    pooled = np.concatenate([a, b])
    gaps = []
    for chosen in combinations(range(9), 4):
        mask = np.isin(np.arange(9), chosen)
        gaps.append(pooled[mask].mean() - pooled[~mask].mean())
    gaps = np.array(gaps)
    observed = a.mean() - b.mean()
    found = permutation_test(lambda x, y: x.mean() - y.mean(), a, b, alternative="less")
    assert found.p == pytest.approx((gaps <= observed + 1e-12).mean())
    assert "all 126 shuffles" in str(found)


@pytest.mark.covers("null-hypothesis-test")
def test_shuffled_pairs_and_signs_are_enumerated_too(rng):
    x, y = rng.standard_normal(5), rng.standard_normal(5)

    def correlation(a, b):
        return float(np.corrcoef(a, b)[0, 1])

    every = np.array([correlation(np.array(order), y) for order in permutations(x)])
    found = permutation_test(correlation, x, y, shuffle="pairs", alternative="greater")
    assert found.p == pytest.approx((every >= correlation(x, y) - 1e-12).mean())

    def gap(a, b):
        return float((a - b).mean())

    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    turned = (signs * (x - y)).mean(axis=1)
    paired = permutation_test(gap, x, y, shuffle="signs", alternative="greater")
    assert paired.p == pytest.approx((turned >= gap(x, y) - 1e-12).mean())


@pytest.mark.covers("null-hypothesis-test")
def test_a_simulated_null_never_rejects_more_often_than_its_level(rng):
    draws = rng.standard_normal((4000, 20))
    p = np.array([significance(each[0], each[1:]).p for each in draws])
    for level in (0.05, 0.1, 0.25, 0.5):
        assert about((p <= level + 1e-12).mean(), np.floor(level * 20) / 20, 4000)
    assert significance(2.0, stats.norm(), alternative="two-sided").p == pytest.approx(0.0455, 1e-3)
    assert significance(-2.0, stats.norm(), alternative="less").p == pytest.approx(0.02275, 1e-3)
    with pytest.raises(DataError, match="none of greater, less"):
        significance(1.0, stats.norm(), alternative="both")


@pytest.mark.covers("null-hypothesis-test")
def test_random_shuffles_state_how_well_p_is_known(rng):
    found = permutation_test(
        lambda x, y: x.mean() - y.mean(),
        rng.standard_normal(30),
        rng.standard_normal(30),
        n_permutations=500,
        random_state=rng,
    )
    assert len(found.null) == 500
    assert "p itself is known" in str(found)


@pytest.mark.covers("null-hypothesis-test")
@pytest.mark.parametrize("method", ["bonferroni", "holm", "hochberg"])
def test_corrected_tests_reject_any_true_hypothesis_as_seldom_as_promised(rng, method):
    p = rng.random((3000, 8))
    any_rejected = [(adjusted_p_values(each, method) <= 0.05).any() for each in p]
    assert np.mean(any_rejected) < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 3000)


@pytest.mark.covers("null-hypothesis-test")
def test_the_share_of_false_rejections_is_bounded(rng):
    runs, true_ones = 2000, 15
    shares = []
    for _ in range(runs):
        z = rng.standard_normal(20)
        z[true_ones:] += 3
        rejected = adjusted_p_values(stats.norm.sf(z), "benjamini-hochberg") <= 0.1
        shares.append(rejected[:true_ones].sum() / max(rejected.sum(), 1))
    assert np.mean(shares) <= 0.1 * true_ones / 20 + 5 * np.std(shares) / np.sqrt(runs)


@pytest.mark.covers("significant-digits")
@pytest.mark.parametrize(
    ("value", "error", "digits", "text"),
    [
        (0.0, 0.1, 1, "0.0 ± 0.1"),
        (182.326548435054, 0.096, 1, "182.3 ± 0.1"),
        (9.996, 0.01, 1, "10.00 ± 0.01"),
        (1234.5, 30, 1, "1230 ± 30"),
        (1250.0, 100, 1, "1200 ± 100"),
        (-0.004, 0.2, 1, "0.0 ± 0.2"),
        (0.15, 0.1, 1, "0.2 ± 0.1"),
        (5.0, 12.3, 2, "5 ± 12"),
        (1.5e12, 2e10, 1, "(1.50 ± 0.02)e12"),
        (3.2e-9, 5e-7, 1, "(0 ± 5)e-7"),
        (7.25, 0.0, 1, "7.25 ± 0"),
        (7.25, np.inf, 1, "7.25 ± unknown"),
    ],
)
def test_figures_are_printed_to_the_digits_of_their_errors(value, error, digits, text):
    assert with_error(value, error, digits) == text


@pytest.mark.covers("significant-digits")
def test_digits_refuse_what_has_none():
    with pytest.raises(DataError, match="nan"):
        significant(np.nan, 1.0)
    with pytest.raises(DataError, match="negative"):
        significant(1.0, -1.0)
    with pytest.raises(DataError, match="no digits"):
        last_place(0.0)


@pytest.mark.covers("chi2-goodness-of-fit")
def test_the_goodness_of_the_true_degree_is_uniform(rng):
    x = np.linspace(-1, 1, 25)
    sigma = rng.uniform(0.1, 0.5, 25)
    q = []
    for noise in rng.standard_normal((1500, 25)):
        q.append(choose_degree(x, 1 - x + 2 * x**2 + sigma * noise, sigma, [2]).fits[0].q)
    assert stats.kstest(q, "uniform").pvalue > 1e-6
    low = choose_degree(x, 1 - x + 20 * x**2, 0.1, [0, 1])
    assert "no degree agrees" in str(low)
    with pytest.raises(DataError, match="cannot settle"):
        choose_degree([0.0, 0.0, 1.0, 1.0], [0, 1, 2, 3], 1.0, [2])


@pytest.mark.covers("chi2-goodness-of-fit")
def test_a_degree_does_not_hang_on_where_x_begins(rng):
    years, y = np.arange(1990.0, 2021.0), rng.normal(size=31)
    found, moved = (choose_degree(x, y, 1.0, [1, 2, 3]) for x in (years, years - 2005))
    assert [fit.q for fit in found.fits] == pytest.approx([fit.q for fit in moved.fits])
    for coef, other in zip(found.coefficients, moved.coefficients):
        assert np.polyval(coef[::-1], years) == pytest.approx(
            np.polyval(other[::-1], years - 2005), abs=1e-5
        )
    # the coefficient of the highest power does not change, nor does its error
    tops = [[np.sqrt(each[-1, -1]) for each in one.covariances] for one in (found, moved)]
    assert tops[0] == pytest.approx(tops[1], rel=1e-5)


@pytest.mark.covers("chi2-goodness-of-fit")
@pytest.mark.parametrize(
    ("chi2", "words"), [(1.0, "agrees"), (10.0, "doubtful"), (20.0, "wrong"), (1e-4, "too good")]
)
def test_goodness_of_fit_says_how_far_model_and_errors_agree(chi2, words):
    assert words in goodness_of_fit([np.sqrt(chi2), 0, 0], np.zeros(3), 1.0, 1).verdict


@pytest.mark.covers("null-hypothesis-test")
def test_a_statistic_that_is_undefined_has_no_p():
    with pytest.raises(DataError, match="the statistic is nan, and NaN in 20 of 20 shuffles"):
        permutation_test(lambda a, b: np.nan, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
