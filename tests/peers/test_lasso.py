"""Lasso and elastic net against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as peer

from gnomon.linear import ElasticNet, Lasso


@pytest.mark.covers("lasso", "elastic-net")
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_coefficients_as_scikit_learn(ratio, intercept, rng):
    X = rng.normal(size=(80, 12)) + 3
    y = X[:, :3] @ [1.0, -2.0, 3.0] + rng.normal(size=80)
    weights = rng.uniform(0.2, 3, size=80)
    found = ElasticNet(0.1, l1_ratio=ratio, fit_intercept=intercept, tol=0)
    found.fit(X, y, sample_weight=weights)
    expected = peer.ElasticNet(
        alpha=0.1, l1_ratio=ratio, fit_intercept=intercept, tol=1e-12, max_iter=10**6
    ).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    assert found.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)


@pytest.mark.covers("regularisation-path")
def test_the_same_path_as_scikit_learn(rng):
    X = rng.normal(size=(60, 100))
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=60)
    found = Lasso(tol=1e-7, fit_intercept=False).path(X, y, n_alphas=20, eps=0.02)
    alphas, coefs, _ = peer.lasso_path(X, y, alphas=20, eps=0.02, tol=1e-10, max_iter=10**6)[:3]
    np.testing.assert_allclose(found.alphas, alphas, rtol=1e-10)
    np.testing.assert_allclose(found.coefficients, coefs.T, atol=2e-3)
