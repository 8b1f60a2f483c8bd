"""Fits with known errors: chi2 is distributed as it should be, and its error bars are right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import gnomon
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.linear import ChiSquareFit, LinearRegression, chi_square_fit


@pytest.mark.covers("chi-square-weighted-fit")
def test_the_goodness_of_right_models_is_uniform_and_of_wrong_ones_small(rng):
    x = np.linspace(0, 2, 25)
    sigma = rng.uniform(0.1, 0.5, 25)
    right, wrong = [], []
    for _ in range(200):
        y = 1 - 2 * x + x**2 + sigma * rng.normal(size=25)
        right.append(chi_square_fit(x, y, sigma, 2).goodness.q)
        wrong.append(chi_square_fit(x, y, sigma, 1).goodness.q)
    assert stats.kstest(right, "uniform").pvalue > 1e-5
    assert np.median(wrong) < 0.3 * np.median(right)


@pytest.mark.covers("chi-square-weighted-fit")
def test_coefficients_scatter_as_their_covariance_says(rng):
    x = rng.uniform(-1, 3, 20)
    sigma = rng.uniform(0.2, 1, 20)
    truth = np.array([0.5, -1.0, 2.0])
    found = []
    for _ in range(400):
        fit = chi_square_fit(x, np.polyval(truth[::-1], x) + sigma * rng.normal(size=20), sigma, 2)
        found.append((fit.coef - truth) / fit.errors)
    spread = np.std(found, axis=0)
    assert (np.abs(spread - 1) < 0.2).all()
    assert fit.goodness.degrees_of_freedom == 20 - 3


@pytest.mark.covers("chi-square-weighted-fit")
def test_errors_of_one_give_the_sum_of_squares(rng):
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=30)
    model, plain = ChiSquareFit().fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    assert model.chi2_ == pytest.approx(((y - plain.predict(X)) ** 2).sum())
    assert model.degrees_of_freedom_ == 26


@pytest.mark.covers("chi-square-weighted-fit")
def test_the_estimator_gives_what_the_function_gives(rng):
    x = rng.uniform(0, 5, 30)
    sigma = rng.uniform(0.1, 2, 30)
    y = np.cos(x) + sigma * rng.normal(size=30)
    function = chi_square_fit(x, y, sigma, 3)
    model = ChiSquareFit(errors=1, degree=3).fit(np.column_stack([x, sigma]), y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], function.coef, rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, function.covariance, rtol=1e-5, atol=1e-12)
    assert model.goodness_.q == pytest.approx(function.goodness.q)
    assert model.terms_ == ["x0", "x0^2", "x0^3"]
    new = np.column_stack([x, np.ones(30)])
    np.testing.assert_allclose(model.predict(new), function.predict(x), rtol=1e-6, atol=1e-8)


@pytest.mark.covers("chi-square-weighted-fit")
def test_errors_may_be_a_named_column(rng):
    import pandas as pd

    x, sigma = rng.normal(size=20), rng.uniform(1, 2, 20)
    frame = pd.DataFrame({"x": x, "sd": sigma, "y": 2 * x + sigma * rng.normal(size=20)})
    model = ChiSquareFit(errors="sd").fit(frame, "y")
    assert model.terms_ == ["x"]
    expected = chi_square_fit(x, frame["y"], sigma)
    assert model.coef_[0] == pytest.approx(expected.coef[1])
    with pytest.raises(DataError, match="no column of numbers"):
        ChiSquareFit(errors="size").fit(frame, "y")
    with pytest.raises(DataError, match="above zero"):
        ChiSquareFit(errors="sd").fit(frame.assign(sd=0.0), "y")


@pytest.mark.covers("chi-square-weighted-fit")
def test_the_error_of_the_curve_is_that_of_its_covariance(rng):
    x = np.linspace(0, 1, 10)
    fit = chi_square_fit(x, rng.normal(size=10), 0.3, 1)
    table = np.column_stack([np.ones(10), x])
    expected = np.sqrt(np.diag(table @ fit.covariance @ table.T))
    np.testing.assert_allclose(fit.predict_error(x), expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2, 3], [1, 2, 3], 1.0, 2), "leave nothing to test"),
        (([1, 2, 3], [1, 2, 3], 0.0), "positive"),
        (([1, 1, 1, 1], [1, 2, 3, 4], 1.0, 1), "rank 1"),
        (([0, 1, 2, 3], [1, 2, 3, 4], 1.0, [lambda x: 0 * x, lambda x: 1 / (x + 1)]), "rank 1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(arguments, words):
    with pytest.raises(DataError, match=words):
        chi_square_fit(*arguments)


def test_a_model_file_without_the_number_of_columns_is_refused(rng, tmp_path):
    model = ChiSquareFit().fit(rng.normal(size=(9, 2)), rng.normal(size=9))
    del model.n_features_in_
    with pytest.raises(ModelFileError, match="n_features_in_"):
        gnomon.load(model.save(tmp_path / "m.gnomon"))
