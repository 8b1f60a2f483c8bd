"""Linear models against scikit-learn and statsmodels on the same problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
import statsmodels.api as sm

from gnomon.linear import LinearRegression, LogisticRegression, Ridge


@pytest.mark.covers("linear-regression", "regression-summary-table")
@pytest.mark.parametrize("intercept", [True, False])
def test_every_figure_of_the_summary_agrees_with_statsmodels(intercept, rng):
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) + [0, 10, 100, -5]
    y = X @ rng.normal(size=4) + rng.normal(size=200)
    found = LinearRegression(fit_intercept=intercept).fit(X, y).summary()
    expected = sm.OLS(y, sm.add_constant(X) if intercept else X).fit()
    np.testing.assert_allclose(found.estimate, expected.params, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, expected.bse, rtol=1e-9)
    np.testing.assert_allclose(found.statistic, expected.tvalues, rtol=1e-8)
    np.testing.assert_allclose(found.p_value, expected.pvalues, rtol=1e-7, atol=1e-300)
    low, high = expected.conf_int().T
    np.testing.assert_allclose(found.low, low, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.high, high, rtol=1e-8, atol=1e-12)
    facts = found.facts
    assert facts["R2"] == pytest.approx(expected.rsquared, rel=1e-10)
    assert facts["adjusted R2"] == pytest.approx(expected.rsquared_adj, rel=1e-10)
    assert facts["F"] == pytest.approx(expected.fvalue, rel=1e-8)
    assert facts["F p"] == pytest.approx(expected.f_pvalue, rel=1e-6, abs=1e-300)
    assert facts["log-likelihood"] == pytest.approx(expected.llf, rel=1e-10)
    # statsmodels does not count the noise variance as a parameter.
    assert facts["AIC"] == pytest.approx(expected.aic + 2, rel=1e-10)
    assert facts["BIC"] == pytest.approx(expected.bic + np.log(200), rel=1e-10)
    assert facts["residual standard error"] == pytest.approx(expected.scale**0.5, rel=1e-10)


@pytest.mark.covers("linear-regression", "ridge-regression")
@pytest.mark.parametrize("shape", [(500, 8), (30, 60)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 50.0])
def test_coefficients_agree_with_scikit_learn(shape, intercept, alpha, rng):
    X, Y = rng.normal(size=shape) + 3.0, rng.normal(size=(shape[0], 2))
    weights = rng.uniform(0.1, 3.0, shape[0])
    ours = (
        Ridge(alpha, fit_intercept=intercept)
        if alpha
        else LinearRegression(fit_intercept=intercept)
    )
    theirs = (
        peer.Ridge(alpha, fit_intercept=intercept)
        if alpha
        else peer.LinearRegression(fit_intercept=intercept)
    )
    ours.fit(X, Y, weights)
    theirs.fit(X, Y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-8)


@pytest.mark.covers("logistic-regression", "softmax-regression")
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, np.inf])
@pytest.mark.parametrize("p", [3, 40])
def test_logistic_coefficients_agree_with_scikit_learn(n_classes, C, p, rng):
    if p == 40 and C > 1:
        pytest.skip("so many columns separate so few rows")
    X = rng.normal(size=(400, p)) + 1.0
    scores = X[:, :3] @ rng.normal(size=(3, n_classes)) / 2
    y = (scores + rng.gumbel(size=(400, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    weights = rng.uniform(0.5, 2.0, 400)
    ours = LogisticRegression(C=C, tol=1e-12).fit(X, y, weights)
    theirs = peer.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=500)
    theirs.fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["wide", "wide sparse", "tall", "Fortran float32"])
def test_logistic_regression_by_slopes_reaches_the_objective_of_scikit_learn(n_classes, kind, rng):
    n, p = (900, 150) if kind == "tall" else (250, 400)
    X = rng.normal(size=(n, p))
    if kind == "wide sparse":
        X[rng.random((n, p)) < 0.9] = 0.0
    if kind == "Fortran float32":
        X = np.asfortranarray(X, dtype=np.float32)
    scores = X[:, :5] @ rng.normal(size=(5, n_classes))
    y = (scores + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    given = sp.csr_array(X) if kind == "wide sparse" else X
    ours = LogisticRegression().fit(given, y)
    assert ours.solver_ == "lbfgs"
    theirs = peer.LogisticRegression(tol=1e-9, max_iter=5000).fit(X.astype(np.float64), y)

    def objective(model) -> float:
        proba = model.predict_proba(X.astype(np.float64))
        squares = np.square(model.coef_, dtype=np.float64).sum()
        return float(-np.log(proba[np.arange(n), y]).mean() + squares / (2 * n))

    default = peer.LogisticRegression().fit(X.astype(np.float64), y)
    best = objective(theirs)
    assert objective(ours) - best <= max(1e-4, 2 * (objective(default) - best))
    exact = LogisticRegression(tol=1e-9, max_iter=1000).fit(given, y)
    atol = 1e-4 if X.dtype == np.float32 else 1e-5
    np.testing.assert_allclose(exact.coef_, theirs.coef_, atol=atol)


@pytest.mark.covers("logistic-regression", "softmax-regression")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_summary_agrees_with_statsmodels(n_classes, rng):
    X = rng.normal(size=(500, 3)) * [1, 10, 1] + [0, 100, 5]
    scores = (X - [0, 100, 5]) @ rng.normal(size=(3, n_classes)) * [[0.2]]
    y = (scores + rng.gumbel(size=(500, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    found = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).summary()
    model = (sm.Logit if n_classes == 2 else sm.MNLogit)(y, sm.add_constant(X))
    expected = model.fit(method="newton", tol=1e-12, disp=0)
    np.testing.assert_allclose(found.estimate, expected.params.T.ravel(), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.standard_error, expected.bse.T.ravel(), rtol=1e-6)
    np.testing.assert_allclose(found.p_value, expected.pvalues.T.ravel(), rtol=1e-4, atol=1e-12)
    facts = found.facts
    assert facts["log-likelihood"] == pytest.approx(expected.llf, rel=1e-10)
    assert facts["null log-likelihood"] == pytest.approx(expected.llnull, rel=1e-7)
    assert facts["pseudo R2"] == pytest.approx(expected.prsquared, abs=1e-7)
    assert facts["AIC"] == pytest.approx(expected.aic, rel=1e-10)
    assert facts["BIC"] == pytest.approx(expected.bic, rel=1e-10)


@pytest.mark.parametrize("cov_type", ["HC0", "HC1", "HC2", "HC3", "cluster"])
def test_robust_standard_errors_are_those_of_statsmodels(cov_type, rng):
    sm = pytest.importorskip("statsmodels.api")
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.0, -2.0] + rng.normal(size=80) * np.exp(X[:, 0])
    groups = np.arange(80) % 9
    given = {"cov_kwds": {"groups": groups}} if cov_type == "cluster" else {}
    expected = sm.OLS(y, sm.add_constant(X)).fit(cov_type=cov_type, **given)
    model = LinearRegression().fit(X, y)
    found = model.summary(cov_type=cov_type, X=X, y=y, groups=groups)
    np.testing.assert_allclose(found.standard_error, expected.bse, rtol=1e-9)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(), rtol=1e-8)


def test_a_summary_tells_of_a_spread_that_is_not_constant(rng):
    X = rng.normal(size=(300, 2))
    for spread in (np.exp(X[:, 0]), 2 * np.abs(X[:, 0])):
        y = X[:, 0] + rng.normal(size=300) * spread
        model = LinearRegression().fit(X, y)
        assert any("not constant" in note for note in model.summary(X=X, y=y).notes)
    assert not model.summary().notes
    with pytest.raises(ValueError, match="needs the training rows"):
        model.summary(cov_type="HC3")
