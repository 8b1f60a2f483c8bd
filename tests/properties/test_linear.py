"""Invariances of linear models, on tables of any shape and scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.linear import LinearRegression, LogisticRegression, Ridge

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.covers("least-squares-projection")
@given(SEEDS, st.integers(1, 40), st.integers(1, 12), st.booleans())
def test_residuals_are_orthogonal_to_every_column(seed, n, p, intercept):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.integers(-1, 2, (p, p)) + rng.integers(0, 2, p) * 100.0
    y = rng.normal(size=n) * 10 + 5
    residuals = y - LinearRegression(fit_intercept=intercept).fit(X, y).predict(X)
    assert np.abs(residuals @ X).max() <= 1e-7 * (1 + np.abs(X).max() * n)
    if intercept:
        assert abs(residuals.sum()) <= 1e-8 * n


@given(SEEDS, st.floats(-4, 4), st.floats(-4, 4))
def test_units_of_a_column_and_of_the_target_change_only_the_coefficients(seed, one, other):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    units, unit = np.array([10.0**one, 1.0, 10.0**-one]), 10.0**other
    plain = LinearRegression().fit(X, y)
    scaled = LinearRegression().fit(X * units, y * unit)
    np.testing.assert_allclose(scaled.coef_ * units / unit, plain.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(scaled.summary().p_value, plain.summary().p_value, rtol=1e-6)


@pytest.mark.covers("ridge-regression")
@given(SEEDS, st.integers(2, 30), st.integers(1, 30))
def test_a_larger_penalty_gives_smaller_coefficients_and_larger_residuals(seed, n, p):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    fits = [Ridge(alpha).fit(X, y) for alpha in (1e-3, 0.1, 1.0, 10.0, 1e3)]
    norms = [np.linalg.norm(model.coef_) for model in fits]
    residuals = [model.statistics_.residual[0] for model in fits]
    assert (np.diff(norms) <= 1e-9).all()
    assert (np.diff(residuals) >= -1e-9).all()


@given(SEEDS, st.integers(2, 4), st.sampled_from([0.1, 1.0, 10.0]))
def test_logistic_regression_does_not_care_for_the_order_of_rows_or_names_of_classes(
    seed, n_classes, C
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    y = rng.integers(0, n_classes, 40)
    y[:n_classes] = np.arange(n_classes)
    order = rng.permutation(40)
    plain = LogisticRegression(C=C, tol=1e-12).fit(X, y)
    shuffled = LogisticRegression(C=C, tol=1e-12).fit(X[order], -y[order])
    found = shuffled.predict_proba(X)[:, ::-1]
    np.testing.assert_allclose(found, plain.predict_proba(X), atol=1e-8)


@given(SEEDS, st.integers(2, 4))
def test_mean_probabilities_are_the_shares_of_the_classes(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    y = rng.integers(0, n_classes, 50)
    y[:n_classes] = np.arange(n_classes)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), np.bincount(y) / 50, atol=1e-6)
    assert (np.diff(model.history_.objective) <= 1e-15).all()


@given(SEEDS, st.sampled_from([1, 2, 5]))
def test_threads_do_not_change_a_bit(seed, n_jobs):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20_000, 4))
    y = X @ [1, 2, 3, 4] + rng.normal(size=20_000)
    one, many = Ridge(n_jobs=1).fit(X, y), Ridge(n_jobs=n_jobs).fit(X, y)
    assert one.coef_.tobytes() == many.coef_.tobytes()
