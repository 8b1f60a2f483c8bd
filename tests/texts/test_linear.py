"""Least squares and ridge as the texts work them: 000 10-11, 001 5.1 and 7.2, 002, 004 4.7."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from gnomon.linear import LinearRegression, Ridge

DATA = Path(__file__).parents[2] / "../shared/data"

# 000, table 10.1: (amount of hormone left, hours in service) of devices of lots A, B and C.
AMOUNT = np.array(
    [
        [25.8, 20.5, 14.3, 23.2, 20.6, 31.1, 20.9, 20.9, 30.4],
        [16.3, 11.6, 11.8, 32.5, 32.0, 18.0, 24.1, 26.5, 25.8],
        [28.8, 22.0, 29.7, 28.9, 32.8, 32.5, 25.4, 31.7, 28.5],
    ]
).ravel()
HOURS = np.array(
    [
        [99, 152, 293, 155, 196, 53, 184, 171, 52],
        [376, 385, 402, 29, 76, 296, 151, 177, 209],
        [119, 188, 115, 88, 58, 49, 150, 107, 125],
    ]
).reshape(-1, 1)


@pytest.mark.covers("linear-regression", "regression-summary-table")
def test_hormone_devices_of_000_have_r_squared_of_87_per_cent():
    model = LinearRegression().fit(HOURS, AMOUNT)
    facts = model.summary().facts
    assert model.intercept_ == pytest.approx(34.167528, abs=1e-6)
    assert model.coef_[0] == pytest.approx(-0.0574463, abs=1e-7)
    assert facts["R2"] == pytest.approx(0.868830, abs=1e-6)
    assert facts["AIC"] == pytest.approx(127.326399, abs=1e-6)
    assert facts["BIC"] == pytest.approx(131.213910, abs=1e-6)


def test_all_devices_of_lot_a_hold_less_than_the_line_of_000_says():
    residuals = AMOUNT - LinearRegression().fit(HOURS, AMOUNT).predict(HOURS)
    assert (residuals[:9] < 0).all()
    assert residuals[[0, 9, 18]] == pytest.approx([-2.680, 3.732, 1.469], abs=1e-3)
    assert np.mean(residuals**2) == pytest.approx(5.236709, abs=1e-6)


@pytest.mark.covers("ridge-regression")
def test_ridge_of_000_in_its_corrected_form_penalizes_the_ones_too():
    with_ones = np.hstack([HOURS, np.ones((27, 1))])
    model = Ridge(alpha=27 * 0.1, fit_intercept=False).fit(with_ones, AMOUNT)
    assert model.coef_ == pytest.approx([-0.01797902, 25.141298], rel=1e-6)


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not beside the project")
@pytest.mark.covers("linear-regression", "regression-summary-table")
def test_aic_and_bic_table_of_perch_polynomials_in_000_example_11_1():
    with (DATA / "fishcatch.csv").open() as file:
        perch = [row for row in csv.DictReader(file) if row["species"] == "perch"]
    length = np.array([float(row["length3_cm"]) for row in perch])
    weight = np.array([float(row["weight_g"]) for row in perch])
    scaled = (length - length.mean()) / length.std()
    aic, bic = [], []
    for degree in range(1, 11):
        powers = scaled[:, None] ** np.arange(1, degree + 1)
        facts = LinearRegression().fit(powers, weight).summary().facts
        aic.append(round(facts["AIC"]))
        bic.append(round(facts["BIC"]))
    assert aic == [677, 617, 617, 613, 615, 617, 617, 612, 613, 614]
    assert bic == [683, 625, 627, 625, 629, 633, 635, 633, 635, 638]


@pytest.mark.covers("linear-regression")
def test_five_points_of_001():
    model = LinearRegression().fit(np.arange(5.0)[:, None], [1, 3, 2, 5, 4])
    assert (model.intercept_, model.coef_[0]) == pytest.approx((1.4, 0.8))
    assert model.statistics_.residual[0] / 5 == pytest.approx(0.72)


@pytest.mark.covers("ridge-regression")
def test_both_scales_of_the_weight_decay_of_001():
    rows = np.column_stack([np.ones(5), np.arange(5.0)])
    y = [1, 3, 2, 5, 4]
    mean_scale = Ridge(alpha=1.0, fit_intercept=False).fit(rows, y)
    sum_scale = Ridge(alpha=5.0, fit_intercept=False).fit(rows, y)
    assert mean_scale.coef_ == pytest.approx([0.988372, 0.906977], abs=1e-6)
    assert sum_scale.coef_ == pytest.approx([0.58, 0.92], abs=1e-9)


@pytest.mark.covers("ridge-regression")
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_ridge_on_orthonormal_columns_divides_by_one_plus_lambda_as_in_002_and_004(alpha, rng):
    columns, _ = np.linalg.qr(rng.normal(size=(9, 3)))
    least_squares = np.array([3.0, -0.4, 0.1])
    y = columns @ least_squares
    ridge = Ridge(alpha, fit_intercept=False).fit(columns, y)
    assert ridge.coef_ == pytest.approx(least_squares / (1 + alpha))


@pytest.mark.covers("ridge-regression", "condition-number-collinearity")
def test_collinear_points_of_004_are_tamed_by_ridge():
    rows = [[1, 1], [1, 1.001], [1, 0.999]]
    y = [2, 2.001, 2.1]
    plain = LinearRegression(fit_intercept=False).fit(rows, y)
    ridge = Ridge(0.01, fit_intercept=False).fit(rows, y)
    assert plain.coef_ == pytest.approx([51.533667, -49.5], rel=1e-6)
    assert ridge.coef_ == pytest.approx([1.020184, 1.010082], abs=2e-6)
    assert plain.condition_**2 == pytest.approx(6.0e6, rel=0.01)


@pytest.mark.covers("linear-regression")
def test_closed_form_of_003_with_several_outputs(rng):
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    centered, targets = X - X.mean(axis=0), Y - Y.mean(axis=0)
    matrix = targets.T @ centered @ np.linalg.inv(centered.T @ centered)
    model = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_, matrix, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, Y.mean(axis=0) - matrix @ X.mean(axis=0))
