"""Penalised, quantile and chi-square fits against scikit-learn, statsmodels, NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import curve_fit
from sklearn import linear_model as peer

from gnomon.linear import (
    GLM,
    ChiSquareFit,
    PenalizedModel,
    QuantileRegressor,
    RegressionClassifier,
    Ridge,
    chi_square_fit,
)


def line(rng, n=80, p=4):
    X = rng.normal(size=(n, p)) + 1
    return X, X @ rng.normal(size=p) + rng.standard_t(3, size=n)


@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.9])
def test_quantile_regression_agrees_with_statsmodels(quantile, rng):
    X, y = line(rng)
    found = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    expected = sm.QuantReg(y, sm.add_constant(X)).fit(q=quantile, max_iter=5000, p_tol=1e-9)
    residual = y - expected.predict(sm.add_constant(X))
    loss = np.maximum(quantile * residual, (quantile - 1) * residual).sum()
    assert found.loss_ <= loss * (1 + 1e-9)
    assert found.loss_ == pytest.approx(loss, rel=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_quantile_regression_agrees_with_scikit_learn_with_and_without_a_penalty(alpha, rng):
    X, y = line(rng)
    expected = peer.QuantileRegressor(quantile=0.3, alpha=alpha).fit(X, y)
    found = PenalizedModel("quantile", "l1", alpha=alpha * len(y), quantile=0.3).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    assert found.intercept_ == pytest.approx(expected.intercept_, abs=1e-6)


@pytest.mark.covers("augmented-error-minimisation")
def test_logistic_loss_with_a_ridge_agrees_with_scikit_learn(rng):
    X, y = line(rng)
    labels = (y > np.median(y)).astype(float)
    found = PenalizedModel("logistic", "l2", alpha=0.5).fit(X, labels)
    expected = peer.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(X, labels)
    np.testing.assert_allclose(found.coef_, expected.coef_[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        found.predict(X), expected.predict_proba(X)[:, 1], rtol=1e-4, atol=1e-6
    )


@pytest.mark.covers("augmented-error-minimisation")
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_poisson_loss_agrees_with_the_generalized_linear_model(ratio, rng):
    X, y = line(rng)
    counts = rng.poisson(np.exp(np.clip(y / 3, -2, 2)))
    found = PenalizedModel("poisson", "elastic net", alpha=8.0, l1_ratio=ratio).fit(X, counts)
    expected = GLM("poisson", alpha=8.0 / len(y), l1_ratio=ratio, tol=1e-14).fit(X, counts)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.covers("augmented-error-minimisation")
def test_hubers_loss_with_a_ridge_agrees_with_scikit_learn_at_its_scale(rng):
    X, y = line(rng)
    expected = peer.HuberRegressor(epsilon=1.5, alpha=0.3, tol=1e-9, max_iter=10_000).fit(X, y)
    found = PenalizedModel(
        "huber", "l2", alpha=0.3 * expected.scale_, threshold=1.5 * expected.scale_
    ).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.covers("chi-square-weighted-fit")
@pytest.mark.parametrize("degree", [1, 3])
def test_polynomials_with_known_errors_agree_with_numpy(degree, rng):
    x, sigma = rng.uniform(-2, 2, 30), rng.uniform(0.1, 1, 30)
    y = np.sin(x) + sigma * rng.normal(size=30)
    found = chi_square_fit(x, y, sigma, degree)
    coef, covariance = np.polyfit(x, y, degree, w=1 / sigma, cov="unscaled")
    np.testing.assert_allclose(found.coef, coef[::-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance[::-1, ::-1], rtol=1e-7, atol=1e-9)


@pytest.mark.covers("chi-square-weighted-fit")
def test_any_basis_with_known_errors_agrees_with_scipy(rng):
    """004 5.1: the basis 1, cos x, log x, tanh x^3."""
    basis = [np.ones_like, np.cos, np.log, lambda x: np.tanh(x**3)]
    x, sigma = rng.uniform(0.2, 6, 40), rng.uniform(0.1, 1, 40)
    y = 1 + 2 * np.cos(x) - np.log(x) + 0.5 * np.tanh(x**3) + sigma * rng.normal(size=40)
    found = chi_square_fit(x, y, sigma, basis)

    def curve(x, a, b, c, d):
        return a + b * np.cos(x) + c * np.log(x) + d * np.tanh(x**3)

    coef, covariance = curve_fit(curve, x, y, sigma=sigma, absolute_sigma=True)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-3, atol=1e-6)


@pytest.mark.covers("chi-square-weighted-fit")
def test_columns_with_known_errors_agree_with_weighted_least_squares(rng):
    X, y = line(rng)
    sigma = rng.uniform(0.5, 2, len(y))
    found = ChiSquareFit(errors=4).fit(np.column_stack([X, sigma]), y)
    expected = sm.WLS(y, sm.add_constant(X), weights=1 / sigma**2).fit()
    np.testing.assert_allclose([found.intercept_, *found.coef_], expected.params, rtol=1e-7)
    np.testing.assert_allclose(
        found.covariance_, expected.normalized_cov_params, rtol=1e-6, atol=1e-10
    )


@pytest.mark.covers("regression-classifier")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_ridge_as_classifier_agrees_with_scikit_learn(n_classes, rng):
    X = rng.normal(size=(80, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (n_classes == 4) * 2 * (X[:, 2] > 0)
    found = RegressionClassifier(Ridge(1.0)).fit(X, y)
    expected = peer.RidgeClassifier(alpha=1.0).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    scale = 1 if n_classes == 2 else 0.5
    offset = 0 if n_classes == 2 else 0.5
    np.testing.assert_allclose(
        found.decision_function(X), scale * expected.decision_function(X) + offset, atol=1e-9
    )
