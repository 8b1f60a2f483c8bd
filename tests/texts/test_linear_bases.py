"""Bases, polynomials, transforms and tangents: the texts' worked examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.linear import (
    BasisExpansion,
    LinearRegression,
    LocalLinearization,
    PolynomialFeatures,
    PolynomialRegression,
    TransformedRegression,
    polynomial_count,
)
from gnomon.table import read

DATA = Path(__file__).parents[2] / "../shared/data"


@pytest.fixture(scope="module")
def perch() -> tuple[np.ndarray, np.ndarray]:
    """Length3 and weight of 56 perch."""
    path = DATA / "fishcatch.csv"
    if not path.exists():
        pytest.skip("the fish data are not here")
    frame = read(path).to_pandas()
    frame = frame[frame["species"] == "perch"]
    return frame[["length3_cm"]].to_numpy(float), frame["weight_g"].to_numpy(float)


@pytest.mark.covers("basis-expansion")
def test_the_quadratic_basis_of_004_section_4_2_has_six_columns_and_rank_four_on_xor():
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    basis = BasisExpansion().fit(xor)
    assert basis.get_feature_names_out().tolist() == ["1", "x0", "x1", "x0 x1", "x0^2", "x1^2"]
    columns = basis.transform(xor)
    assert columns.shape == (4, 6)
    assert np.linalg.matrix_rank(columns) == 4
    target = np.array([-1.0, 1.0, 1.0, -1.0])
    np.testing.assert_allclose(LinearRegression().fit(columns, target).predict(columns), target)


@pytest.mark.covers("basis-expansion")
def test_coefficients_of_the_basis_of_004_section_5_1_are_found_again(rng):
    x = rng.uniform(0.2, 2.0, (60, 1))
    functions = {"cos": "cos", "log": "log", "tanh cubed": lambda x: np.tanh(x**3)}
    basis = BasisExpansion(functions, include_bias=False).fit(x)
    y = 2 - 3 * np.cos(x[:, 0]) + 0.5 * np.log(x[:, 0]) + 4 * np.tanh(x[:, 0] ** 3)
    model = LinearRegression().fit(basis.transform(x), y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [2, -3, 0.5, 4], rtol=1e-6)


@pytest.mark.covers("polynomial-features", "polynomial-regression")
def test_the_number_of_coefficients_is_that_of_003_section_4_2_3():
    last_row = [polynomial_count(10, degree) for degree in range(1, 6)]
    assert last_row == [11, 66, 286, 1001, 3003]
    assert polynomial_count(2, 3, "tensor") == 16
    assert polynomial_count(2, 3) == 10
    assert [polynomial_count(v, 3, "tensor") for v in (3, 4)] == [64, 256]


@pytest.mark.covers("polynomial-features")
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_two_columns_have_q_times_q_plus_3_halves_terms_beside_the_constant(degree):
    rows = np.arange(8.0).reshape(4, 2)
    basis = PolynomialFeatures(degree, include_bias=False).fit(rows)
    assert len(basis.powers_) == degree * (degree + 3) // 2


@pytest.mark.covers("polynomial-regression")
def test_aic_and_bic_of_perch_weights_are_those_of_000_example_11_1(perch):
    """Printed figures; with raw powers degree ten would lose its digits."""
    length, weight = perch
    aic = [677, 617, 617, 613, 615, 617, 617, 612, 613, 614]
    bic = [683, 625, 627, 625, 629, 633, 635, 633, 635, 638]
    for degree in range(1, 11):
        facts = PolynomialRegression(degree).fit(length, weight).fit_.summary().facts
        assert round(facts["AIC"]) == aic[degree - 1]
        assert round(facts["BIC"]) == bic[degree - 1]


@pytest.mark.covers("polynomial-regression")
def test_degree_ten_predicts_a_negative_weight_for_some_perch_length(perch):
    length, weight = perch
    between = np.linspace(length.min(), length.max(), 500)[:, None]
    assert PolynomialRegression(10).fit(length, weight).predict(between).min() < 0


@pytest.mark.covers("polynomial-regression")
def test_more_coefficients_than_rows_is_warned_of():
    rows = np.arange(12.0).reshape(4, 3) ** 2
    with pytest.warns(UserWarning, match="10 coefficients of degree 2 in 3 columns against 4 rows"):
        model = PolynomialRegression(2).fit(rows, [1.0, 2.0, 3.0, 5.0])
    assert model.rows_per_coefficient_ == 0.4


@pytest.mark.covers("variable-transform")
def test_a_decay_rate_is_found_by_logs_as_in_004_section_5_1():
    x = np.arange(4.0)[:, None]
    model = TransformedRegression(target="log").fit(x, np.exp(-0.7 * x[:, 0]))
    np.testing.assert_allclose(model.estimator_.coef_, [-0.7])


@pytest.mark.covers("variable-transform")
def test_the_cube_root_of_a_perch_weight_is_straighter_in_length(perch):
    """000 10.2.5: weight grows like the cube of length."""
    length, weight = perch
    plain = LinearRegression().fit(length, weight).score(length, weight)
    both = TransformedRegression(target="cbrt").fit(length, weight).residuals(length, weight)
    assert both.r2["transformed"] > 0.97 > plain
    assert both.r2["original"] > plain
    assert abs(both.unevenness["transformed"]) < abs(both.unevenness["original"])


@pytest.mark.covers("local-linearisation")
def test_a_growth_curves_tangent_is_good_near_its_point_and_fails_far_from_it():
    """004 4.5, figure 4.5: straight for years, then growth ends."""

    def stature(ages):
        return 75 + 100 * np.tanh(ages[:, 0] / 13)

    tangent = LocalLinearization(stature, [7.0])
    ages = np.array([[5.0], [9.0], [30.0]])
    errors = np.abs(tangent.predict(ages) - stature(ages))
    assert errors[:2].max() < 3
    assert errors[2] > 30
