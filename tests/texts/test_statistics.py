"""Worked numbers of the texts: chi2 fits, correlation ratio, counts, digits, normal masses."""

import numpy as np
import pytest

from gnomon.evaluate import (
    chi2_independence,
    choose_degree,
    correlation_ratio,
    normal_mass,
    significant,
    with_error,
)

X = np.arange(6.0)
Y = np.array([1.1, 1.9, 5.2, 9.8, 17.1, 25.9])
SIGMA = np.array([0.1, 0.1, 0.2, 0.2, 0.4, 0.4])


@pytest.mark.covers("chi2-goodness-of-fit")
def test_004_5_2_1_a_larger_degree_has_a_smaller_chi2_but_a_smaller_q():
    choice = choose_degree(X, Y, SIGMA, [1, 2, 3])
    line, parabola, cubic = choice.fits
    assert choice.best == 2
    assert [fit.degrees_of_freedom for fit in choice.fits] == [4, 3, 2]
    assert line.chi2 == pytest.approx(947.744, abs=5e-4)
    assert parabola.chi2 == pytest.approx(3.124127, abs=1e-6)
    assert cubic.chi2 == pytest.approx(2.825935, abs=1e-6)
    assert line.q == pytest.approx(7.5e-204, rel=0.02)
    assert parabola.q == pytest.approx(0.372880, abs=1e-6)
    assert cubic.q == pytest.approx(0.243420, abs=1e-6)


@pytest.mark.covers("chi2-goodness-of-fit")
def test_004_5_1_coefficients_and_their_standard_errors():
    choice = choose_degree(X, Y, SIGMA, [1, 2, 3])
    assert choice.coefficients[0] == pytest.approx([-0.383275, 3.713278], abs=1e-6)
    assert choice.coef == pytest.approx([1.072414, -0.115695, 1.019861], abs=1e-6)
    assert choice.coef_error == pytest.approx([0.09526, 0.134732, 0.033183], abs=1e-6)
    cubic = [1.088109, -0.229778, 1.100821, -0.012609]
    assert choice.coefficients[2] == pytest.approx(cubic, abs=1e-6)


def test_004_7_3_the_correlation_ratio_of_two_groups_is_the_squared_correlation():
    x, c = np.array([1, 2, 3, 5, 6, 7, 9.0]), np.array([0, 0, 0, 1, 1, 1, 1])
    eta = correlation_ratio(x, c).effects["eta^2"].value
    assert eta == pytest.approx(0.782514, abs=1e-6)
    assert eta == pytest.approx(np.corrcoef(x, c)[0, 1] ** 2, abs=1e-12)


def test_004_7_3_the_correlation_ratio_of_three_groups():
    groups = {"a": [45, 70, 29, 15, 21], "b": [40, 20, 30, 42], "c": [65, 95, 80, 70, 85, 73]}
    values = np.concatenate([np.array(each, dtype=float) for each in groups.values()])
    names = [name for name, each in groups.items() for _ in each]
    assert correlation_ratio(values, names).effects["eta^2"].value == pytest.approx(
        0.703320, abs=1e-6
    )


@pytest.mark.covers("chi2-frequency-test")
def test_004_7_4_chi_square_of_a_table_of_counts():
    found = chi2_independence([[30, 10], [15, 45]])
    assert found.statistic == pytest.approx(24.242424, abs=1e-6)
    assert found.p == pytest.approx(8.494e-7, rel=1e-3)


@pytest.mark.covers("significant-digits")
def test_004_5_3_a_height_known_to_a_millimetre_has_four_digits():
    assert significant(182.326548435054, 0.1) == "182.3"
    assert with_error(182.326548435054, 0.1) == "182.3 ± 0.1"


@pytest.mark.covers("bootstrap-confidence-region")
def test_002_the_masses_of_one_two_and_three_deviations_are_smaller_in_the_plane():
    line = [normal_mass(r) for r in (1, 2, 3)]
    plane = [normal_mass(r, n_columns=2) for r in (1, 2, 3)]
    assert line == pytest.approx([0.682689, 0.954500, 0.997300], abs=1e-6)
    assert plane == pytest.approx([0.3935, 0.8647, 0.9889], abs=5e-5)
