"""Bases, polynomials, transforms, tangents and coefficient reports against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.linear import (
    BasisExpansion,
    Lasso,
    LinearRegression,
    LocalLinearization,
    PolynomialFeatures,
    PolynomialRegression,
    SplineBasis,
    TransformedRegression,
    coefficient_report,
    polynomial_count,
)
from gnomon.trees import RandomForestRegressor


@pytest.mark.covers("polynomial-features")
@pytest.mark.parametrize("terms", ["total", "tensor"])
@pytest.mark.parametrize("interaction_only", [False, True])
def test_terms_are_all_products_up_to_the_degree(terms, interaction_only, rng):
    rows = rng.normal(size=(5, 3))
    basis = PolynomialFeatures(3, terms=terms, interaction_only=interaction_only).fit(rows)
    most = 1 if interaction_only else 3
    wanted = {
        exponents
        for exponents in itertools.product(range(most + 1), repeat=3)
        if terms == "tensor" or sum(exponents) <= 3
    }
    assert set(map(tuple, basis.powers_)) == wanted
    assert len(basis.powers_) == len(wanted)
    by_hand = np.column_stack([(rows**powers).prod(axis=1) for powers in basis.powers_])
    np.testing.assert_allclose(basis.transform(rows), by_hand, rtol=1e-12)


@pytest.mark.covers("polynomial-features")
def test_orthogonal_polynomials_of_a_column_are_uncorrelated_and_of_unit_size(rng):
    x = 1e4 + rng.uniform(size=(50, 1))
    weights = rng.integers(1, 4, 50).astype(float)
    basis = PolynomialFeatures(8, basis="orthogonal").fit(x, sample_weight=weights)
    columns = basis.transform(x)
    products = columns.T @ (weights[:, None] * columns) / weights.sum()
    np.testing.assert_allclose(products, np.eye(9), atol=1e-6)


@pytest.mark.covers("polynomial-features")
def test_all_three_bases_span_the_same_functions(rng):
    rows = rng.normal(2, 1, size=(60, 2))
    y = rng.normal(size=60)
    fits = [
        LinearRegression().fit(columns, y).predict(columns)
        for kind in ("monomial", "centered", "orthogonal")
        for columns in [PolynomialFeatures(3, basis=kind).fit_transform(rows)]
    ]
    np.testing.assert_allclose(fits[1], fits[0], atol=1e-6)
    np.testing.assert_allclose(fits[2], fits[0], atol=1e-6)


@pytest.mark.covers("polynomial-features")
def test_names_are_made_of_the_tables_names_categories_included():
    frame = pd.DataFrame({"size": [1.0, 2.0, 4.0], "place": ["a", "b", "a"]})
    basis = PolynomialFeatures(2, interaction_only=True, include_bias=False).fit(frame)
    names = basis.get_feature_names_out().tolist()
    assert names[0] == "size"
    assert len(names) == basis.transform(frame).shape[1]
    assert any(name.startswith("size ") for name in names)


def test_a_degree_that_the_values_cannot_carry_gives_a_column_of_zeros():
    basis = PolynomialFeatures(3, basis="orthogonal").fit([[0.0], [1.0], [1.0], [0.0]])
    columns = basis.transform([[0.0], [1.0]])
    assert (columns[:, 2:] == 0).all()
    assert np.isfinite(columns).all()


def test_too_many_terms_are_refused_with_the_count_in_mind():
    with pytest.raises(DataError, match="lower degree"):
        PolynomialFeatures(9).fit(np.ones((2, 40)))


@pytest.mark.covers("basis-expansion")
def test_a_function_that_is_undefined_for_a_row_is_named():
    basis = BasisExpansion(["log", "square"]).fit([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(DataError, match=r"log\(x1\)"):
        basis.transform([[1.0, -2.0]])


@pytest.mark.covers("basis-expansion")
def test_functions_of_whole_rows_give_one_column_each():
    basis = BasisExpansion({"radius": lambda X: np.hypot(X[:, 0], X[:, 1])}, of="rows")
    columns = basis.fit_transform(np.array([[3.0, 4.0], [0.0, 2.0]]))
    assert columns.tolist() == [[1.0, 5.0], [1.0, 2.0]]
    assert basis.get_feature_names_out().tolist() == ["1", "radius"]


@pytest.mark.covers("basis-expansion")
def test_an_unknown_function_is_refused_with_the_known_ones():
    with pytest.raises(DataError, match=r"cosine.*quadratic"):
        BasisExpansion(["cosine"]).fit([[1.0], [2.0]])


def test_functions_by_name_are_saved_and_callables_are_refused(tmp_path):
    rows = np.array([[1.0], [2.0]])
    path = BasisExpansion(["log", "cube"]).fit(rows).save(tmp_path / "basis.gnomon")
    assert gnomon.load(path).transform(rows).tolist() == [[1, 0, 1], [1, np.log(2), 8]]
    with pytest.raises(ModelFileError, match="data only"):
        BasisExpansion([np.tanh]).fit(rows).save(tmp_path / "other.gnomon")


@pytest.mark.covers("basis-expansion")
@pytest.mark.parametrize("kind", ["bspline", "natural"])
def test_splines_add_up_to_one_also_beyond_the_knots(kind, rng):
    x = rng.normal(size=(100, 1))
    basis = SplineBasis(6, kind=kind).fit(x)
    anywhere = np.linspace(-9, 9, 50)[:, None]
    np.testing.assert_allclose(basis.transform(anywhere).sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.covers("basis-expansion")
@pytest.mark.parametrize("kind", ["bspline", "natural"])
def test_a_spline_fit_is_straight_beyond_the_outer_knots(kind, rng):
    x = rng.uniform(-2, 2, (200, 1))
    basis = SplineBasis(7, kind=kind).fit(x)
    model = LinearRegression().fit(basis.transform(x), np.sin(3 * x[:, 0]))
    beyond = model.predict(basis.transform(np.array([[3.0], [4.0], [5.0]])))
    np.testing.assert_allclose(beyond[2] - beyond[1], beyond[1] - beyond[0], atol=1e-7)


def test_natural_splines_are_heights_at_the_knots(rng):
    basis = SplineBasis(5, kind="natural").fit(rng.normal(size=(50, 1)))
    at_knots = basis.transform(basis.knots_[0][:, None])
    np.testing.assert_allclose(at_knots, np.eye(len(basis.knots_[0])), atol=1e-12)


def test_a_column_of_two_values_passes_as_it_is(rng):
    rows = np.column_stack([rng.normal(size=30), rng.integers(0, 2, 30)])
    basis = SplineBasis().fit(rows)
    np.testing.assert_array_equal(basis.transform(rows)[:, -1], rows[:, 1])


@pytest.mark.covers("polynomial-regression")
def test_validated_errors_are_those_of_fits_without_each_fold(rng):
    from gnomon.contract import Data
    from gnomon.contract.data import Columns
    from gnomon.engine.sums import ArraySource
    from gnomon.linear.design import dealt_folds

    rows = rng.normal(size=(80, 2))
    y = rows[:, 0] ** 2 - rows[:, 1] + 0.3 * rng.normal(size=80)
    model = PolynomialRegression(max_degree=3, random_state=7).fit(rows, y)
    data = Data(ArraySource(rows, y), Columns.of_numbers(2))
    parts = dealt_folds(data, 5, PolynomialRegression(random_state=7)._rng())
    for place, degree in enumerate(model.validation_.degrees):
        errors = np.empty(80)
        columns = PolynomialFeatures(degree).fit_transform(rows)
        for k in range(5):
            held = parts == k
            coef = np.linalg.lstsq(columns[~held], y[~held], rcond=None)[0]
            errors[held] = y[held] - columns[held] @ coef
        np.testing.assert_allclose(model.validation_.errors[place], (errors**2).mean(), rtol=1e-6)


@pytest.mark.covers("polynomial-regression")
def test_plain_powers_evaluate_to_the_predictions(rng):
    rows = rng.normal(3, 1, size=(40, 2))
    model = PolynomialRegression(3).fit(rows, rng.normal(size=40))
    names = PolynomialFeatures(3).fit(rows).get_feature_names_out()
    found = model.coefficients()
    assert list(found) == names.tolist()
    by_powers = PolynomialFeatures(3).fit_transform(rows) @ np.array(list(found.values()))
    np.testing.assert_allclose(by_powers, model.predict(rows), atol=1e-6)


@pytest.mark.covers("polynomial-regression")
def test_training_errors_never_rise_with_the_degree(rng):
    model = PolynomialRegression().fit(rng.normal(size=(60, 1)), rng.normal(size=60))
    assert (np.diff(model.validation_.training_errors) <= 1e-12).all()


@pytest.mark.covers("polynomial-regression")
def test_the_degree_of_an_exact_polynomial_is_found(rng):
    x = rng.uniform(-2, 2, (60, 1))
    for degree in (1, 2, 4):
        y = np.polyval(rng.uniform(1, 2, degree + 1), x[:, 0])
        assert PolynomialRegression().fit(x, y).degree_ == degree
        assert PolynomialRegression("1se").fit(x, y).degree_ == degree


def test_the_count_of_interactions_is_that_of_the_terms():
    for d, degree in itertools.product((1, 3, 5), (0, 1, 2, 7)):
        terms = PolynomialFeatures(degree, interaction_only=True).fit(np.ones((2, d))).powers_
        assert polynomial_count(d, degree, "interactions") == len(terms)


@pytest.mark.covers("variable-transform")
@pytest.mark.parametrize("target", ["log", "log10", "log1p", "sqrt", "cbrt", "reciprocal", 0.3, -2])
def test_predictions_go_back_by_the_inverse(target, rng):
    x = rng.uniform(1, 2, (30, 1))
    y = rng.uniform(1, 3, 30)
    model = TransformedRegression(target=target).fit(x, y)
    both = model.residuals(x, y)
    known = {"log": np.log, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt}
    known |= {"cbrt": np.cbrt, "reciprocal": lambda v: 1 / v}
    forward = known.get(target, lambda v: v**target)
    inside = LinearRegression().fit(x, forward(y)).predict(x)
    np.testing.assert_allclose(model.predict_transformed(x), inside)
    np.testing.assert_allclose(forward(model.predict(x)), inside)
    np.testing.assert_allclose(both.residuals, y - model.predict(x))
    np.testing.assert_allclose(both.transformed_residuals, forward(y) - inside)


@pytest.mark.covers("variable-transform")
def test_a_pair_of_functions_and_columns_by_name_are_taken(rng):
    frame = pd.DataFrame({"length": rng.uniform(1, 9, 40), "age": rng.uniform(0, 1, 40)})
    y = np.sinh(2 * np.log(frame["length"]) - frame["age"]).to_numpy()
    model = TransformedRegression(inputs={"length": "log"}, target=(np.arcsinh, np.sinh))
    model.fit(frame, y)
    np.testing.assert_allclose(model.estimator_.coef_, [2, -1], rtol=1e-6)
    np.testing.assert_allclose(model.predict(frame), y, rtol=1e-6)


@pytest.mark.covers("variable-transform")
def test_what_a_transform_cannot_take_is_refused_with_the_place():
    x = np.arange(4.0)[:, None]
    with pytest.raises(DataError, match=r"target 'y'.*row 2"):
        TransformedRegression(target="log").fit(x, [1.0, 2.0, 0.0, 3.0])
    with pytest.raises(DataError, match=r"column 'x0'.*row 0"):
        TransformedRegression(inputs="log").fit(x, x[:, 0])
    with pytest.raises(DataError, match="rises and falls"):
        TransformedRegression(target=(np.cos, np.arccos)).fit(3 * x, 2 * x[:, 0])
    with pytest.raises(DataError, match="does not undo"):
        TransformedRegression(target=(np.exp, np.exp)).fit(x, x[:, 0])
    with pytest.raises(DataError, match="no transform"):
        TransformedRegression(target="logarithm").fit(x, x[:, 0])
    with pytest.raises(DataError, match=r"'x7'"):
        TransformedRegression(inputs={"x7": "log"}).fit(x, x[:, 0])


@pytest.mark.covers("variable-transform")
def test_predictions_where_no_target_lies_are_told():
    x = np.arange(1.0, 6.0)[:, None]
    model = TransformedRegression(target="sqrt").fit(x, x[:, 0] ** 2)
    with pytest.warns(UserWarning, match="1 predictions are below 0"):
        assert model.predict([[-2.0]]) == [0.0]


@pytest.mark.covers("local-linearisation")
def test_the_tangent_has_the_models_value_and_gradient(rng):
    point = rng.normal(size=3)

    def model(X):
        return np.exp(0.5 * X[:, 0]) * X[:, 1] + np.sin(X[:, 2])

    slope = [
        0.5 * np.exp(0.5 * point[0]) * point[1],
        np.exp(0.5 * point[0]),
        np.cos(point[2]),
    ]
    tangent = LocalLinearization(model, point)
    np.testing.assert_allclose(tangent.coef, slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tangent.predict(point), model(point[None]))
    given = LocalLinearization(model, point, gradient=slope)
    np.testing.assert_allclose(given.predict(np.zeros(3))[0], given.intercept)
    distances = [1e-3, 2e-3, 4e-3, 8e-3]
    assert 1.8 < given.errors(distances).order < 2.3


@pytest.mark.covers("local-linearisation")
def test_a_linear_model_is_its_own_tangent(rng):
    rows = rng.normal(size=(50, 3))
    model = LinearRegression().fit(rows, rows @ [1.0, 2.0, 3.0])
    tangent = LocalLinearization(model, rows[0])
    np.testing.assert_allclose(tangent.coef, model.coef_, rtol=1e-6)
    np.testing.assert_allclose(tangent.predict(rows), model.predict(rows), atol=1e-6)


@pytest.mark.covers("local-linearisation")
def test_a_forests_mean_slope_needs_a_large_step(rng):
    rows = rng.uniform(size=(400, 1))
    model = RandomForestRegressor(n_estimators=20, random_state=0).fit(rows, 5 * rows[:, 0])
    assert 3 < LocalLinearization(model, [0.5], step=0.3).coef[0] < 7


def test_a_model_that_gives_no_numbers_has_no_tangent():
    with pytest.raises(DataError, match="predict_proba"):
        LocalLinearization(lambda X: np.array(["a"] * len(X)), [1.0])


@pytest.mark.covers("reading-coefficients")
def test_a_report_shows_effects_that_do_not_depend_on_units(rng):
    rows = rng.normal(size=(60, 2))
    y = rows @ [1.0, 2.0] + rng.normal(size=60)
    factors = np.array([1.0, 1000.0])
    plain = coefficient_report(LinearRegression().fit(rows, y), rows, y)
    scaled = coefficient_report(LinearRegression().fit(rows * factors, y), rows * factors, y)
    np.testing.assert_allclose(scaled.estimates * factors, plain.estimates, rtol=1e-8)
    np.testing.assert_allclose(scaled.effects, plain.effects, rtol=1e-8)
    np.testing.assert_allclose(plain.shares, plain.effects / y.std())
    assert any("unlike scales" in each for each in scaled.cautions)
    assert not any("unlike scales" in each for each in plain.cautions)


@pytest.mark.covers("reading-coefficients")
def test_a_report_warns_of_columns_that_follow_from_others(rng):
    x = rng.normal(size=200)
    rows = np.column_stack([x, x + 0.05 * rng.normal(size=200), rng.normal(size=200)])
    y = x + rng.normal(size=200)
    report = coefficient_report(LinearRegression().fit(rows, y), rows, y)
    correlation = np.corrcoef(rows.T)
    np.testing.assert_allclose(report.inflations, np.diag(np.linalg.inv(correlation)), rtol=1e-6)
    told = next(each for each in report.cautions if "other columns" in each)
    assert told.startswith("x0, x1 ")
    twice = np.column_stack([rows, rows[:, 2]])
    assert np.isinf(coefficient_report(Lasso(0.1).fit(twice, y), twice).inflations[2:]).all()


@pytest.mark.covers("reading-coefficients")
def test_a_report_tells_clear_from_weighty():
    x = np.linspace(-1, 1, 20_001)
    noise = np.where(np.arange(len(x)) % 2, 1.0, -1.0)
    report = coefficient_report(
        LinearRegression().fit(x[:, None], 0.05 * x + noise), x[:, None], 0.05 * x + noise
    )
    assert report.p_values[0] < 0.05
    assert any("little practical weight" in each for each in report.cautions)


@pytest.mark.covers("reading-coefficients")
def test_a_report_of_a_penalized_model_says_why_it_has_no_errors(rng):
    rows = rng.normal(size=(40, 2))
    report = coefficient_report(Lasso(0.1).fit(rows, rows[:, 0]), rows, units={"x0": "cm"})
    assert np.isnan(report.standard_errors).all()
    assert any("pulled to zero" in each for each in report.cautions)
    assert "cm" in str(report)
