"""Linear models agree with their namesakes of scikit-learn, option by option."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
import sklearn.preprocessing

from gnomon import linear


def problem(rng, n=80, p=6):
    X = rng.normal(size=(n, p))
    return X, X @ np.linspace(-1, 2, p) + rng.normal(size=n)


@pytest.mark.parametrize("shape", [(80, 6), (12, 30)])
def test_coefficients_that_must_be_positive_are_those_of_scikit_learn(shape, rng):
    X, y = problem(rng, *shape)
    tight = {"tol": 1e-10, "max_iter": 100_000}
    for ours, theirs in (
        (linear.Lasso(0.1, positive=True), peer.Lasso(0.1, positive=True, **tight)),
        (linear.ElasticNet(0.1, positive=True), peer.ElasticNet(0.1, positive=True, **tight)),
        (linear.Ridge(2.0, positive=True), peer.Ridge(2.0, positive=True, **tight)),
    ):
        found = ours.fit(X, y).coef_
        assert (found >= 0).all()
        np.testing.assert_allclose(found, theirs.fit(X, y).coef_, atol=1e-4)


def test_each_target_has_its_own_penalty(rng):
    X, y = problem(rng)
    targets = np.column_stack([y, -2 * y])
    ours = linear.Ridge(np.array([1.0, 20.0])).fit(X, targets)
    theirs = peer.Ridge(np.array([1.0, 20.0])).fit(X, targets)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)


def test_several_targets_of_a_lasso_are_fitted_one_by_one(rng):
    X, y = problem(rng)
    both = linear.Lasso(0.1).fit(X, np.column_stack([y, y**2]))
    np.testing.assert_allclose(both.coef_[1], linear.Lasso(0.1).fit(X, y**2).coef_)
    assert both.predict(X).shape == (80, 2)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_absolute_values_in_the_penalty_of_logistic_regression(l1_ratio, rng):
    X, y = problem(rng)
    options = {"C": 0.3, "l1_ratio": l1_ratio}
    theirs = peer.LogisticRegression(solver="saga", tol=1e-10, max_iter=20_000, **options)
    ours = linear.LogisticRegression(**options).fit(X, y > 0)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, y > 0).coef_, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"degree": 3},
        {"degree": (2, 4), "include_bias": False},
        {"degree": 3, "interaction_only": True},
    ],
)
def test_polynomials_of_sparse_rows_are_those_of_dense_ones(options, rng):
    X = rng.normal(size=(9, 4)) * (rng.random((9, 4)) < 0.6)
    expected = sklearn.preprocessing.PolynomialFeatures(**options).fit_transform(X)
    for rows in (X, sp.csr_array(X), sp.csc_array(X)):
        found = linear.PolynomialFeatures(**options).fit_transform(rows)
        assert getattr(found, "format", "") == getattr(rows, "format", "")
        dense = found.toarray() if sp.issparse(found) else found
        np.testing.assert_allclose(dense, expected, atol=1e-12)


@pytest.mark.parametrize("extrapolation", ["constant", "linear", "continue", "periodic"])
@pytest.mark.parametrize("knots", ["uniform", "quantile"])
def test_splines_are_those_of_scikit_learn_also_beyond_the_knots(extrapolation, knots, rng):
    X, new = rng.normal(size=(60, 2)), 3 * rng.normal(size=(40, 2))
    options = {"degree": 2, "knots": knots, "extrapolation": extrapolation}
    theirs = sklearn.preprocessing.SplineTransformer(**options).fit(X)
    found = linear.SplineTransformer(**options).fit(X)
    np.testing.assert_allclose(found.transform(new), theirs.transform(new), atol=1e-10)
    names = theirs.get_feature_names_out().tolist()
    assert found.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 2.5, 3])
def test_tweedie_models_are_those_of_scikit_learn(power, rng):
    X = rng.normal(size=(80, 3))
    y = rng.gamma(3.0, np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1]) / 3.0)
    theirs = peer.TweedieRegressor(power=power, alpha=0.1, tol=1e-9, max_iter=5000).fit(X, y)
    ours = linear.TweedieRegressor(power=power, alpha=0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-5)


def test_penalized_quantile_planes_are_those_of_scikit_learn(rng):
    X, y = problem(rng)
    for quantile in (0.2, 0.5):
        theirs = peer.QuantileRegressor(quantile=quantile, alpha=0.05).fit(X, y)
        ours = linear.QuantileRegressor(quantile=quantile, alpha=0.05).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)


@pytest.mark.parametrize("name", ["RidgeCV", "SGDRegressor", "RidgeClassifier", "SGDClassifier"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_without_scikit_learn_s_checks_are_its_bits_and_its_refusals(name, dtype, rng):
    X, y = problem(rng)
    X, y = X.astype(dtype), y > 0 if "Classifier" in name else y
    seeded = {"random_state": 0} if "SGD" in name else {}
    ours, theirs = (getattr(each, name)(**seeded).fit(X, y) for each in (linear, peer))
    method = "decision_function" if "Classifier" in name else "predict"
    for rows in (X, X[:1]):
        found, expected = getattr(ours, method)(rows), getattr(theirs, method)(rows)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    for wrong in (X[:, :3], np.full((1, 6), np.nan, dtype), np.full((1, 6), np.inf, dtype)):
        with pytest.raises(ValueError):
            getattr(ours, method)(wrong)
