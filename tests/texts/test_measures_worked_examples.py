"""Worked examples of the texts on measures, losses and information criteria."""

import numpy as np
import pytest

from gnomon.evaluate import (
    BaselineClassifier,
    ConfusionTable,
    RandomGuessClassifier,
    aic,
    bic,
    confusion_table,
    exponential_loss,
    gaussian_parameters,
    goodness_of_fit,
    margin_hinge_loss,
    mean_average_precision,
    mixture_parameters,
    precision_recall_curve,
    rank_by_goodness,
    two_class_rates,
)
from gnomon.evaluate.number_measures import root_mean_squared_error

HEART = [[151, 7, 2, 3, 1], [32, 5, 9, 9, 0], [10, 9, 7, 9, 1], [6, 13, 9, 5, 2], [2, 3, 2, 6, 0]]
TISSUE = [
    [2, 0, 0, 0, 0, 0],
    [0, 3, 0, 0, 0, 1],
    [2, 0, 2, 0, 0, 0],
    [0, 0, 0, 0, 1, 0],
    [0, 0, 0, 0, 2, 1],
    [0, 1, 0, 3, 0, 1],
]


@pytest.mark.covers("confusion-matrix", "error-rate-accuracy")
def test_000a_table_1_1_has_the_printed_class_errors_and_an_error_of_45_percent():
    table = ConfusionTable.from_counts(HEART)
    shares = [100 * each.value for each in table.class_errors]
    assert shares == pytest.approx([7.93, 90.91, 80.56, 85.71, 100.0], abs=0.005)
    assert table.error.value == pytest.approx(135 / 303)
    assert table.counts.sum(axis=1).tolist() == [164, 55, 36, 35, 13]
    assert table.fractions().sum(axis=1) == pytest.approx(np.ones(5))


@pytest.mark.covers("two-class-rates", "confusion-matrix")
def test_000a_worked_example_2_1_in_two_classes():
    y = np.repeat([0, 0, 1, 1], [138, 26, 31, 108])
    said = np.repeat([0, 1, 0, 1], [138, 26, 31, 108])
    rates = two_class_rates(y, said)
    assert 100 * confusion_table(y, said).error.value == pytest.approx(18.81, abs=0.005)
    assert 100 * rates.false_positive_rate.value == pytest.approx(15.85, abs=0.005)
    assert 100 * rates.false_negative_rate.value == pytest.approx(22.30, abs=0.005)
    assert rates.sensitivity.value == pytest.approx(1 - rates.false_negative_rate.value)
    assert rates.specificity.value == pytest.approx(1 - rates.false_positive_rate.value)


@pytest.mark.covers("confusion-matrix")
def test_000a_worked_example_1_2_is_printed_transposed_and_its_accuracy_is_52_percent():
    names = ["adi", "car", "con", "fad", "gla", "mas"]
    table = ConfusionTable.from_counts(TISSUE, names).transposed()
    assert table.accuracy.value == pytest.approx(10 / 19)
    class_sizes = np.array([22, 21, 14, 15, 16, 18])
    assert table.counts.sum(axis=1).tolist() == (class_sizes // 5).tolist()


@pytest.mark.covers("confusion-matrix", "two-class-rates")
def test_002_spam_table_in_percent_of_all_mails():
    table = ConfusionTable.from_counts([[57.3, 4.0], [5.3, 33.4]], ["email", "spam"])
    assert table.percent().sum() == pytest.approx(100)
    assert 100 * table.error.value == pytest.approx(9.3)
    assert [100 * each.value for each in table.class_errors] == pytest.approx(
        [6.53, 13.70], abs=0.01
    )


@pytest.mark.covers("confusion-matrix")
def test_004_figure_3_5_threes_among_the_zip_digits():
    y = np.repeat([3], 657)
    said = np.repeat([3, 2, 5, 8], [632, 8, 10, 7])
    table = confusion_table(y, said, classes=np.arange(10))
    assert table.class_errors[3].value == pytest.approx(1 - 0.96195, abs=5e-6)
    assert table.class_errors[0] is None


@pytest.mark.covers("hinge-loss")
def test_000a_figure_2_1_hinge_loss():
    assert margin_hinge_loss.values(np.ones(5), [-1, 0, 0.5, 1, 2]).tolist() == [2, 1, 0.5, 0, 0]


@pytest.mark.covers("random-guess-baseline", "majority-mean-baseline")
def test_000a_chance_errors(rng):
    y = np.repeat([0, 1, 2, 3], [50, 30, 15, 5])
    rows = rng.normal(size=(100, 2))
    even = RandomGuessClassifier("even", random_state=0).fit(rows, y)
    shares = RandomGuessClassifier(random_state=0).fit(rows, y)
    assert even.expected_error_ == pytest.approx(1 - 1 / 4)
    assert shares.expected_error_ == pytest.approx(1 - (0.25 + 0.09 + 0.0225 + 0.0025))
    assert 1 - BaselineClassifier().fit(rows, y).class_prior_.max() == pytest.approx(0.5)


@pytest.mark.covers("aic", "bic")
def test_000b_worked_example_11_1_follows_k_log_n_and_not_the_printed_2_k_log_n():
    exact_aic = [677.3, 616.6, 617.0, 613.1, 615.0, 617.0, 616.7, 612.3, 612.6, 614.0]
    printed_bic = [683, 625, 627, 625, 629, 633, 635, 633, 635, 638]
    for degree, (a, b) in enumerate(zip(exact_aic, printed_bic), start=1):
        k = degree + 2
        log_likelihood = (2 * k - a) / 2
        assert aic(log_likelihood, k) == pytest.approx(a)
        assert bic(log_likelihood, k, 56) == pytest.approx(b, abs=0.6)


@pytest.mark.covers("aic", "bic", "degrees-of-freedom")
def test_002_uses_half_of_the_scale_and_counts_parameters_of_a_mixture():
    assert aic(-250.0, 17, "half") == pytest.approx(17 + 250)
    assert bic(-250.0, 17, 180, "half") == pytest.approx(17 / 2 * np.log(180) + 250)
    assert gaussian_parameters(2) == 2 + 3
    assert mixture_parameters(3, 2) == 2 + 3 * 5
    assert mixture_parameters(3, 2, "tied") == 2 + 3 * 2 + 3


@pytest.mark.covers("average-precision-11pt", "interpolated-precision", "precision-recall")
def test_000c_matched_detections_1_0_1_0_of_two_objects():
    curve = precision_recall_curve([1, 0, 1, 0])
    assert curve.eleven_point == pytest.approx((6 * 1 + 5 * 2 / 3) / 11)
    assert curve.interpolated([0.0, 0.5, 0.51, 1.0]) == pytest.approx([1, 1, 2 / 3, 2 / 3])


@pytest.mark.covers("mean-average-precision")
def test_000c_mean_over_classes_and_over_ten_overlaps():
    one = {"cat": ([1, 0, 1, 0], 2), "dog": ([1], 2)}
    found = mean_average_precision(one)
    assert found.value == pytest.approx(((6 + 10 / 3) / 11 + 6 / 11) / 2)
    overlaps = {0.45 + 0.05 * i: one for i in range(1, 11)}
    assert mean_average_precision(overlaps).value == pytest.approx(found.value)
    assert len(mean_average_precision(overlaps).thresholds) == 10


@pytest.mark.covers("squared-error-measures")
def test_004_root_mean_square_of_3_minus_4_0_0_is_2_5():
    assert root_mean_squared_error([3, -4, 0, 0], np.zeros(4)).value == 2.5


@pytest.mark.covers("chi2-goodness-of-fit")
def test_004_section_5_2_1_ranks_polynomials_by_q_and_not_by_chi2():
    x = np.arange(6.0)
    y = np.array([1.1, 1.9, 5.2, 9.8, 17.1, 25.9])
    sigma = np.array([0.1, 0.1, 0.2, 0.2, 0.4, 0.4])
    fits = {}
    for m in (2, 3, 4):
        design = np.vander(x, m, increasing=True)
        c = np.linalg.lstsq(design / sigma[:, None], y / sigma, rcond=None)[0]
        fits[str(m)] = goodness_of_fit(y, design @ c, sigma, m)
    assert [fits[m].chi2 for m in "234"] == pytest.approx([947.744, 3.124127, 2.825935], rel=1e-6)
    assert [fits[m].q for m in "34"] == pytest.approx([0.372880, 0.243420], abs=1e-6)
    assert rank_by_goodness(fits).best == "3"


@pytest.mark.covers("chi2-goodness-of-fit")
@pytest.mark.parametrize(
    ("chi2", "nu", "q"),
    [(1, 1, 0.317311), (5, 10, 0.891178), (10, 10, 0.440493), (20, 10, 0.029253)],
)
def test_004_probabilities_of_chi2(chi2, nu, q):
    y = np.zeros(nu + 1)
    y[0] = np.sqrt(chi2)
    found = goodness_of_fit(y, np.zeros(nu + 1), 1.0, 1)
    assert found.q == pytest.approx(q, abs=1e-6)
    assert found.per_degree == pytest.approx(chi2 / nu)


@pytest.mark.covers("exponential-loss")
@pytest.mark.parametrize(("share", "minimizer"), [(0.8, 0.693147), (0.1, -1.098612)])
def test_004_exponential_loss_is_least_at_half_the_log_odds(share, minimizer):
    y = np.repeat([1.0, -1.0], [round(1000 * share), round(1000 * (1 - share))])
    grid = np.linspace(-3, 3, 6001)
    means = [exponential_loss.values(y, np.full(1000, f)).mean() for f in grid]
    assert grid[np.argmin(means)] == pytest.approx(minimizer, abs=1e-3)
