"""Worked numbers of the texts: bounds, growth functions, shattering, no free lunch."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from gnomon.evaluate import (
    BaselineClassifier,
    chebyshev,
    dichotomies,
    finite_family,
    growth_function,
    hoeffding,
    largest_dichotomy_count,
    margin_bound,
    margin_bound_of,
    mean_estimation_error,
    minimize_empirical_risk,
    no_free_lunch,
    sauer_bound,
    sigmoid_interpolant,
    structural_risk_minimization,
    vc_bound,
    vc_dimension,
    vc_gap,
    vc_sample_complexity,
)
from gnomon.evaluate.growth import signs


@pytest.mark.covers("finite-family-bound", "hoeffding-bound")
@pytest.mark.parametrize(
    ("n", "hypotheses", "gap"),
    [(100, 1, 0.135810), (1000, 1, 0.042947), (1000, 100, 0.064397), (200, 1000, 0.162762)],
)
def test_001_4_1_1_gaps_of_finite_families_at_five_percent(n, hypotheses, gap):
    assert finite_family(hypotheses, n=n, delta=0.05).epsilon == pytest.approx(gap, abs=1e-6)


@pytest.mark.covers("hoeffding-bound")
def test_001_3_5_1_hoeffding_of_a_thousand_rows():
    assert hoeffding(n=1000, epsilon=0.05).delta == pytest.approx(0.0134759, abs=1e-7)
    assert hoeffding(n=1000, delta=0.05).epsilon == pytest.approx(0.042947, abs=1e-6)


@pytest.mark.covers("chebyshev-bound", "finite-family-bound")
def test_000a_3_2_gaps_and_rows_needed():
    assert finite_family(10, n=1000, delta=0.05).epsilon == pytest.approx(0.054733, abs=1e-6)
    assert chebyshev(0.25, n=1000, delta=0.05).epsilon == pytest.approx(0.070711, abs=1e-6)
    assert finite_family(10, epsilon=0.05, delta=0.05, sides=1).n == 1060


@pytest.mark.covers("vc-generalization-bound")
@pytest.mark.parametrize(
    ("n", "d", "delta", "penalty"),
    [(100, 1, 0.1, 0.848160), (1000, 3, 0.05, 0.466345), (10_000, 10, 0.05, 0.287634)],
)
def test_001_4_2_3_penalties_for_model_complexity(n, d, delta, penalty):
    assert vc_gap(n, d, delta, form="polynomial") == pytest.approx(penalty, abs=1e-6)


@pytest.mark.covers("vc-generalization-bound")
def test_the_three_printed_forms_stand_side_by_side_and_the_uncorrected_one_is_too_small():
    bound = vc_bound(5000, 8, 0.05, error=0.1)
    n, d, delta = 5000, 8, 0.05
    corrected = np.sqrt(8 / n * (np.log(4 / delta) + d * np.log(2 * n * np.e / d)))
    vapnik = np.sqrt((d * (np.log(2 * n / d) + 1) - np.log(delta / 4)) / n)
    assert bound.gaps["exponential"] == pytest.approx(corrected, rel=1e-12)
    assert bound.gaps["vapnik"] == pytest.approx(vapnik, rel=1e-12)
    assert bound.gaps["as printed"] < bound.gaps["growth"] <= bound.gaps["exponential"]
    assert "no valid bound" in str(bound)


@pytest.mark.covers("vc-sample-complexity")
@pytest.mark.parametrize(("d", "about"), [(3, 30_000), (4, 40_000), (5, 50_000)])
def test_001_4_2_2_ten_percent_tolerance_takes_about_ten_thousand_rows_per_dimension(d, about):
    found = vc_sample_complexity(0.1, 0.1, d)
    assert found.n == pytest.approx(about, rel=0.03)
    assert found.rule_of_thumb == 10 * d


@pytest.mark.covers("sauer-bound")
def test_001_4_1_3_values_of_b_of_n_and_k():
    values = {(2, 2): 3, (3, 2): 4, (3, 3): 7, (4, 2): 5, (4, 3): 11, (4, 4): 15}
    assert {key: largest_dichotomy_count(*key) for key in values} == values


@pytest.mark.covers("growth-function", "sauer-bound")
def test_001_4_1_4_growth_of_the_perceptron_in_the_plane_and_its_sauer_bound():
    grown = [growth_function(n, "hyperplanes", n_columns=2) for n in range(1, 7)]
    assert grown == [2, 4, 8, 14, 22, 32]
    assert [sauer_bound(n, 3).sum for n in range(1, 7)] == [2, 4, 8, 15, 26, 42]
    ring = np.column_stack([np.cos(np.arange(6) + 0.3), np.sin(np.arange(6) + 0.3)])
    assert [len(dichotomies(ring[:n])) for n in range(1, 7)] == grown


@pytest.mark.covers("growth-function")
def test_000a_example_3_1_three_points_on_a_line_have_six_labelings():
    found = dichotomies([0.0, 1.0, 2.0])
    assert {signs(row) for row in found.labelings} == {"---", "--+", "-++", "+++", "++-", "+--"}
    assert len(found) ** 2 == 36  # pairs of predictions, 3.3.2


@pytest.mark.covers("growth-function")
def test_000a_example_3_2_four_points_in_the_plane():
    inside = dichotomies([[0, 0], [4, 0], [0, 4], [1, 1]])
    assert len(inside) == 14
    assert {signs(row) for row in inside.missing()} == {"+++-", "---+"}
    convex = dichotomies([[0, 0], [1, 0], [1, 1], [0, 1]])
    assert len(convex) == 14
    assert {signs(row) for row in convex.missing()} == {"+-+-", "-+-+"}
    assert len(dichotomies([[0, 0], [1, 0], [2, 0], [1, 1]])) == 12
    assert len(dichotomies([[0, 0], [1, 1], [2, 2], [3, 3]])) == 8  # the text says 10
    assert len(dichotomies([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.7, 0.7]])) == 8


@pytest.mark.covers("vc-dimension")
def test_000a_examples_3_3_and_3_4_vc_dimension_of_the_line_and_the_plane():
    assert vc_dimension("hyperplanes", n_columns=1) == 2
    assert vc_dimension("hyperplanes", n_columns=2) == 3
    assert dichotomies([0.0, 1.0]).shattered
    assert not dichotomies([0.0, 1.0, 2.0]).shattered


@pytest.mark.covers("mean-estimation-error")
def test_000a_4_4_4_the_mean_of_the_uniform_cube():
    assert mean_estimation_error(np.eye(20) / 3, n=10) == pytest.approx(20 / 30)


@pytest.mark.covers("margin-vc-bound")
def test_004_10_1_1_the_bound_is_the_smaller_of_margin_and_columns_plus_one():
    assert margin_bound(radius=2.0, norm=1.5, n_columns=100).dimension == 10
    assert margin_bound(radius=2.0, norm=1.5, n_columns=4).dimension == 5
    assert margin_bound(radius=1.0, norm=1.1, n_columns=100).dimension == 3  # ceil(1.21) + 1


@pytest.mark.covers("margin-vc-bound")
def test_004_10_the_margin_is_read_from_a_fitted_machine():
    rows = np.array([[2, 2], [3, 3], [2, 3], [0, 0], [-1, 0], [0, -1]], dtype=float)
    machine = SVC(kernel="linear", C=1e6).fit(rows, [1, 1, 1, -1, -1, -1])
    bound = margin_bound_of(machine, rows)
    assert bound.norm == pytest.approx(np.sqrt(0.5), rel=1e-3)
    assert 2 * bound.margin == pytest.approx(2.828427, rel=1e-3)


@pytest.mark.covers("structural-risk-minimisation")
def test_004_equation_10_4_adds_the_root_of_dimension_over_rows():
    choice = structural_risk_minimization([0.4, 0.2, 0.15, 0.14], [1, 4, 16, 64], n=1600)
    expected = np.array([0.4, 0.2, 0.15, 0.14]) + np.sqrt(np.array([1, 4, 16, 64]) / 1600)
    assert choice.bounds == pytest.approx(expected)
    assert choice.best == "h = 4"


@pytest.mark.covers("empirical-risk-minimisation")
def test_002_the_minimizer_of_xor_is_not_unique_and_errs_once():
    found = minimize_empirical_risk([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    assert (found.n_errors, found.n_minimizers) == (1, 4)
    assert "not unique" in str(found)


class Contrarian(ClassifierMixin, BaseEstimator):
    """Predicts the rarer class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.said_ = int(np.mean(y) < 0.5)
        return self

    def predict(self, X):
        return np.full(len(X), self.said_)


@pytest.mark.covers("no-free-lunch")
def test_003_2_5_7_1_every_learner_is_right_half_of_the_time_over_all_256_labelings():
    learners = {
        "majority": BaselineClassifier(),
        "nearest": KNeighborsClassifier(1),
        "minority": Contrarian(),
    }
    found = no_free_lunch(learners, n_bits=3)
    assert found.n_labelings == 256
    assert found.off_training == [Fraction(1, 2)] * 3
    assert found.on_training[1] == 1
    assert found.on_training[2] < Fraction(1, 2) < found.on_training[0]


@pytest.mark.covers("memorisation-capacity")
def test_003_4_3_3_six_sigmoid_units_join_seven_points():
    x, y = np.arange(7.0), np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
    curve = sigmoid_interpolant(x, y)
    assert len(curve.heights) == 6
    assert np.abs(curve(x) - y).max() < 1e-13


@pytest.mark.covers("johnson-lindenstrauss-dimension")
def test_001_16_2_the_chi_square_tail_is_below_its_bound():
    law = stats.chi2(100)
    tail = law.cdf(50) + law.sf(150)
    assert tail == pytest.approx(0.000911, abs=1e-6)
    assert tail <= np.exp(-3 / 16 * 100 * 0.5**2) == pytest.approx(0.00921, abs=1e-5)
