"""More columns than rows, and the bootstrap of coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.linear import (
    Lasso,
    LinearRegression,
    NoSummary,
    QuantileRegressor,
    RegressionClassifier,
    Ridge,
    coefficient_bootstrap,
    wide_regression,
)


def wide(rng, n=50, p=150):
    X = rng.normal(size=(n, p))
    return X, 4 * X[:, 3] - 3 * X[:, 70] + 0.2 * rng.normal(size=n)


@pytest.mark.covers("wide-data-regression")
def test_plain_least_squares_is_refused_with_a_reason_and_an_offer(rng):
    X, y = wide(rng)
    with pytest.raises(NoSummary, match="exactly, in infinitely many ways") as caught:
        wide_regression(X, y, penalty="none")
    assert "penalty='lasso'" in str(caught.value)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(plain.predict(X), y, atol=1e-8)
    with pytest.raises(NoSummary, match="Lasso, ElasticNet"):
        plain.summary()


@pytest.mark.covers("wide-data-regression")
@pytest.mark.parametrize("penalty", ["lasso", "elastic net"])
def test_the_columns_that_matter_are_chosen_and_reported(penalty, rng):
    X, y = wide(rng)
    found = wide_regression(X, y, penalty=penalty)
    assert set(found.names[:2]) == {"x3", "x70"}
    assert len(found.names) < 100
    assert found.validated_error < 0.5 * found.baseline_error
    text = str(found)
    assert f"{len(found.names)} of 150 columns chosen from 50 rows" in text
    assert "no standard errors" in text
    np.testing.assert_array_equal(
        found.coefficients, found.model.coef_[[int(name[1:]) for name in found.names]]
    )


@pytest.mark.covers("wide-data-regression")
def test_the_least_error_keeps_at_least_as_many_columns_as_one_standard_error(rng):
    X, y = wide(rng)
    few, many = wide_regression(X, y), wide_regression(X, y, choose="min")
    assert many.model.alpha_ <= few.model.alpha_
    assert many.validated_error <= few.validated_error + 1e-12


@pytest.mark.covers("wide-data-regression")
def test_a_long_table_is_sent_to_least_squares(rng):
    X = rng.normal(size=(50, 3))
    with pytest.raises(DataError, match="LinearRegression"):
        wide_regression(X, X[:, 0], penalty="none")
    with pytest.raises(DataError, match="'elastic net'"):
        wide_regression(X, X[:, 0], penalty="ridge")


def test_the_bootstrap_of_least_squares_has_the_classical_standard_errors(rng):
    X = rng.normal(size=(150, 2))
    y = X @ [1.0, -2.0] + 3 + rng.normal(size=150)
    found = coefficient_bootstrap(LinearRegression(), X, y, n_resamples=400)
    summary = LinearRegression().fit(X, y).summary()
    assert found.names == ["(intercept)", "x0", "x1"]
    np.testing.assert_allclose(found.standard_error, summary.standard_error, rtol=0.35)
    np.testing.assert_allclose(found.estimate, summary.estimate, rtol=1e-9)


def test_the_bootstrap_takes_penalized_and_quantile_models_and_no_others(rng):
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=60)
    median = QuantileRegressor(quantile=0.3, alpha=0)
    for model in (Ridge(5.0, fit_intercept=False), Lasso(0.1), median):
        found = coefficient_bootstrap(model, X, y, n_resamples=30)
        assert len(found.names) == 2 + model.fit_intercept
        assert found.replicates.shape == (30, len(found.names))
    with pytest.raises(DataError, match="linear model"):
        coefficient_bootstrap(RegressionClassifier(), X, y > 0)
