"""Generalised linear models against statsmodels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm

from gnomon.linear import GLM


def targets(name, predictor, rng):
    if name == "gaussian":
        return predictor + rng.normal(size=len(predictor))
    if name == "binomial":
        return (rng.random(len(predictor)) < 1 / (1 + np.exp(-predictor))).astype(float)
    mean = np.exp(predictor)
    if name == "poisson":
        return rng.poisson(mean).astype(float)
    if name == "negative binomial":
        return rng.poisson(mean * rng.gamma(2.0, 0.5, size=len(mean))).astype(float)
    if name == "inverse gaussian":
        return rng.wald(mean, 3.0)
    return rng.gamma(4.0, mean / 4)


def peer_family(name, link):
    links = sm.families.links
    by_name = {
        None: None,
        "identity": links.Identity(),
        "log": links.Log(),
        "probit": links.Probit(),
        "cloglog": links.CLogLog(),
        "inverse": links.InversePower(),
        "sqrt": links.Sqrt(),
        "logit": links.Logit(),
    }
    families = sm.families
    made = {
        "gaussian": families.Gaussian,
        "binomial": families.Binomial,
        "poisson": families.Poisson,
        "gamma": families.Gamma,
        "inverse gaussian": families.InverseGaussian,
        "negative binomial": families.NegativeBinomial,
        "tweedie": families.Tweedie,
    }
    usual = {"gamma": "log", "inverse gaussian": "log"}
    chosen = by_name[link or usual.get(name)]
    return made[name]() if chosen is None else made[name](link=chosen)


@pytest.mark.covers("generalised-linear-model", "poisson-regression", "glm-newton")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("gaussian", None),
        ("binomial", None),
        ("binomial", "probit"),
        ("binomial", "cloglog"),
        ("poisson", None),
        ("poisson", "sqrt"),
        ("gamma", None),
        ("gamma", "inverse"),
        ("inverse gaussian", None),
        ("negative binomial", None),
    ],
)
def test_estimates_errors_and_deviances_agree_with_statsmodels(name, link, rng):
    X = rng.uniform(-1, 1, size=(400, 3))
    X[:, 1] += 5
    predictor = 0.5 + (X - [0, 5, 0]) @ [0.5, -0.4, 0.3]
    if link == "inverse":
        predictor = -np.log(predictor + 1.5)
    y = targets(name, predictor, rng)
    counts = rng.integers(1, 4, size=400)
    found = GLM(name, link=link, tol=1e-12).fit(X, y, sample_weight=counts)
    expected = sm.GLM(
        y, sm.add_constant(X), family=peer_family(name, link), freq_weights=counts
    ).fit(tol=1e-12, maxiter=200)
    summary = found.summary()
    np.testing.assert_allclose(summary.estimate, expected.params, rtol=1e-5, atol=1e-6)
    facts = summary.facts
    assert facts["deviance"] == pytest.approx(expected.deviance, rel=1e-8)
    assert facts["null deviance"] == pytest.approx(expected.null_deviance, rel=1e-6)
    assert facts["Pearson"] == pytest.approx(expected.pearson_chi2, rel=1e-5)
    assert facts["dispersion"] == pytest.approx(expected.scale, rel=1e-5)
    if link is None:  # statsmodels' errors of other links use the observed information
        np.testing.assert_allclose(summary.standard_error, expected.bse, rtol=1e-4)
    if name in ("binomial", "poisson", "negative binomial"):
        assert facts["log-likelihood"] == pytest.approx(expected.llf, rel=1e-8)
        assert facts["AIC"] == pytest.approx(expected.aic, rel=1e-8)


@pytest.mark.covers("regression-summary-table", "generalised-linear-model")
@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors_agree_with_statsmodels(kind, rng):
    X = rng.normal(size=(80, 2)) + np.array([0, 4])
    y = X @ [1.0, 2.0] + rng.normal(size=80) * np.abs(X[:, 0])
    found = GLM(standard_errors=kind).fit(X, y).summary()
    expected = sm.OLS(y, sm.add_constant(X)).fit(cov_type=kind)
    np.testing.assert_allclose(found.standard_error, expected.bse, rtol=1e-8)


@pytest.mark.covers("poisson-regression")
def test_an_offset_is_statsmodels_exposure(rng):
    X = rng.normal(size=(300, 2))
    exposure = rng.uniform(0.5, 20, size=300)
    y = rng.poisson(exposure * np.exp(0.2 + X @ [0.3, -0.5])).astype(float)
    table = np.column_stack([X[:, 0], np.log(exposure), X[:, 1]])
    found = GLM("poisson", offset=1).fit(table, y)
    expected = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson(), exposure=exposure).fit()
    summary = found.summary()
    np.testing.assert_allclose(summary.estimate, expected.params, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(summary.standard_error, expected.bse, rtol=1e-5)
    assert found.coef_[1] == 1.0


@pytest.mark.covers("generalised-linear-model")
def test_tweedie_agrees_with_scikit_learn(rng):
    from sklearn.linear_model import TweedieRegressor

    X = rng.normal(size=(300, 2))
    y = rng.poisson(1.0, size=300) * rng.gamma(2.0, np.exp(0.3 * X[:, 0]))
    found = GLM("tweedie", power=1.5, tol=1e-14).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = TweedieRegressor(
            power=1.5, link="log", alpha=0.0, tol=1e-10, max_iter=10000, solver="newton-cholesky"
        ).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)


@pytest.mark.covers("sparse-glm")
def test_l1_logistic_agrees_with_scikit_learn(rng):
    from sklearn.linear_model import LogisticRegression

    X = rng.normal(size=(150, 10)) + 1
    y = (rng.random(150) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1]))).astype(float)
    alpha = 0.02
    found = GLM("binomial", alpha=alpha, l1_ratio=1.0, tol=1e-12).fit(X, y)
    expected = LogisticRegression(
        C=1 / (alpha * 150), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100000
    ).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_[0], atol=1e-4)
    assert found.intercept_ == pytest.approx(expected.intercept_[0], abs=1e-4)
