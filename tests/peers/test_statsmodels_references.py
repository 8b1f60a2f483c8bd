"""The reference cases of statsmodels' own tests of OLS and GLM (results of R, Stata and SAS)."""

from __future__ import annotations

import functools
import inspect
import warnings

import numpy as np
import pytest

import gnomon
from gnomon.linear import GLM, LinearRegression

sm = pytest.importorskip("statsmodels.api")
glm_cases = pytest.importorskip("statsmodels.genmod.tests.test_glm")
ols_cases = pytest.importorskip("statsmodels.regression.tests.test_regression")
robust_cases = pytest.importorskip("statsmodels.regression.tests.test_robustcov")

FAMILIES = {
    "Gaussian": "gaussian",
    "Binomial": "binomial",
    "Poisson": "poisson",
    "Gamma": "gamma",
    "InverseGaussian": "inverse gaussian",
    "NegativeBinomial": "negative binomial",
    "Tweedie": "tweedie",
}
LINKS = {
    "Identity": "identity",
    "Log": "log",
    "Logit": "logit",
    "Probit": "probit",
    "CLogLog": "cloglog",
    "InversePower": "inverse",
    "InverseSquared": "inverse squared",
    "Sqrt": "sqrt",
    "NegativeBinomial": "negative binomial",
}
POWERS = {1: "identity", 0.5: "sqrt", -1: "inverse", -2: "inverse squared"}


def reference_cases() -> list[str]:
    """Names of statsmodels' test classes that hold a fitted GLM."""
    found = inspect.getmembers(glm_cases, inspect.isclass)
    without_fit = {"TestConvergence", "TestRegularized"}
    return [name for name, _ in found if name.startswith("Test") and name not in without_fit]


@functools.cache
def case(name: str):
    """A test class of statsmodels, set up; ``res1`` is its fit and ``res2`` the reference."""
    cls = getattr(glm_cases, name, None) or getattr(ols_cases, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(cls, "setup_class"):
            cls.setup_class()
        return cls()


def link_name(link) -> str:
    kind = type(link).__name__
    return POWERS[link.power] if kind == "Power" else LINKS[kind]


def fitted(result) -> GLM:
    """Our fit of the model of a result; its constant is a column of the table."""
    model = result.model
    X, y, more = model.exog, model.endog, {}
    if np.any(model._offset_exposure):
        X = np.column_stack([X, np.broadcast_to(model._offset_exposure, len(y))])
        more["offset"] = X.shape[1] - 1
    family = FAMILIES[type(model.family).__name__]
    if family == "tweedie":
        more["power"] = float(model.family.var_power)
    if family == "negative binomial":
        more["overdispersion"] = float(model.family.alpha)
    if result.cov_type == "HC0":
        more["standard_errors"] = "HC0"
    weights = model.freq_weights * model.var_weights * model.n_trials
    link = link_name(model.family.link)
    glm = GLM(family, link=link, fit_intercept=False, tol=1e-13, max_iter=1000, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overdispersion and of few rows
        return glm.fit(X, y, sample_weight=weights)


@pytest.mark.covers("generalised-linear-model")
@pytest.mark.parametrize("name", reference_cases())
def test_glm_agrees_with_the_reference_cases_of_statsmodels(name):
    result = case(name).res1
    found = fitted(result)
    summary = found.summary()
    np.testing.assert_allclose(summary.params, result.params, rtol=2e-5, atol=1e-6)
    assert found.statistics_.deviance == pytest.approx(result.deviance, rel=1e-6)
    if result.model.n_trials.max() == 1:  # our weights count trials as rows
        assert summary.df_resid == result.df_resid
    if comparable_errors(result):
        dispersion = found.statistics_.dispersion
        scale = dispersion / result.scale if name == "TestGlmNegbinomial" else 1.0  # X2 there
        np.testing.assert_allclose(summary.bse, result.bse * np.sqrt(scale), rtol=2e-5)
        assert dispersion == pytest.approx(result.scale * scale, rel=1e-6)
    if has_comparable_likelihood(result):
        assert summary.llf == pytest.approx(result.llf, rel=1e-8)
        assert summary.aic == pytest.approx(result.aic, rel=1e-8)


def test_the_link_of_the_negative_binomial_family_is_refused_elsewhere():
    with pytest.raises(ValueError, match="of the family of this name"):
        GLM("poisson", link="negative binomial").fit([[0.0], [1.0]], [1, 2])


@pytest.mark.covers("generalised-linear-model")
@pytest.mark.parametrize("name", ["TestGlmBinomial", "TestGlmGamma", "TestGlmPoisson"])
def test_means_of_a_glm_have_the_intervals_of_statsmodels(name):
    result = case(name).res1
    found = fitted(result).get_prediction(result.model.exog[:6], confidence_level=0.9)
    expected = result.get_prediction(result.model.exog[:6]).summary_frame(alpha=0.1)
    frame = found.summary_frame().to_pandas()
    assert list(frame.columns) == list(expected.columns)
    np.testing.assert_allclose(frame.iloc[:, :2], expected.iloc[:, :2], rtol=1e-4)
    ends = np.sort(expected.iloc[:, 2:], axis=1)  # statsmodels has them reversed for falling links
    np.testing.assert_allclose(found.conf_int(), ends, rtol=1e-4)


def test_an_intercept_and_a_loaded_model_give_the_same_intervals_of_means(tmp_path, rng):
    X = rng.normal(size=(60, 2))
    y = rng.poisson(np.exp(0.3 + X[:, 0]))
    ours = GLM("poisson", tol=1e-12).fit(X, y)
    expected = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit()
    expected = expected.get_prediction(sm.add_constant(X[:5])).conf_int()
    np.testing.assert_allclose(ours.get_prediction(X[:5]).conf_int(), expected, rtol=1e-6)
    ours.save(tmp_path / "glm.gnomon")
    loaded = gnomon.load(tmp_path / "glm.gnomon")
    np.testing.assert_array_equal(
        loaded.get_prediction(X[:5]).ends, ours.get_prediction(X[:5]).ends
    )


def comparable_errors(result) -> bool:
    """Whether the standard errors are from the expected information, Pearson's dispersion, HC0.

    Others are the observed information (Newton with a link that is not canonical), the deviance as
    dispersion, and groups.
    """
    newton = result.method == "newton" and type(result.model.family).__name__ == "Gamma"
    by_deviance = result.model.scaletype == "dev"
    return not newton and not by_deviance and result.cov_type in ("nonrobust", "HC0")


def has_comparable_likelihood(result) -> bool:
    """Whether the likelihood has no dispersion, for which there are several conventions."""
    family = type(result.model.family).__name__
    return family == "Poisson" or (
        family == "Binomial"
        and result.model.n_trials.max() == 1
        and np.ptp(result.model.freq_weights) == 0
    )


@pytest.mark.covers("regression-summary-table")
@pytest.mark.parametrize("name", ["TestOLS", "TestRTO"])
def test_least_squares_agrees_with_the_reference_results_of_statsmodels(name):
    found = case(name)
    model, reference = found.res1.model, found.res2
    has_constant = name == "TestOLS"
    X = model.exog[:, :-1] if has_constant else model.exog
    ours = LinearRegression(fit_intercept=has_constant).fit(X, model.endog)
    summary = ours.summary()
    order = [*range(1, X.shape[1] + 1), 0] if has_constant else list(range(X.shape[1]))
    np.testing.assert_allclose(summary.params[order], reference.params, rtol=1e-6)
    np.testing.assert_allclose(summary.bse[order], reference.bse, rtol=1e-6)
    np.testing.assert_allclose(summary.conf_int()[order], reference.conf_int(), rtol=1e-5)
    np.testing.assert_allclose(summary.tvalues[order], found.res1.tvalues, rtol=1e-6)
    np.testing.assert_allclose(summary.pvalues[order], found.res1.pvalues, rtol=1e-5, atol=1e-12)
    for key in ("rsquared", "rsquared_adj", "fvalue", "f_pvalue", "llf", "aic", "bic", "df_resid"):
        assert getattr(summary, key) == pytest.approx(getattr(found.res1, key), rel=1e-6), key
        if hasattr(reference, key):
            assert getattr(summary, key) == pytest.approx(getattr(reference, key), rel=1e-4), key
    expected = found.res1.get_prediction(model.exog[:5]).summary_frame()
    frame = ours.get_prediction(X[:5]).summary_frame().to_pandas()
    assert list(frame.columns) == list(expected.columns)
    np.testing.assert_allclose(frame, expected, rtol=1e-6)


@pytest.mark.covers("regression-summary-table")
def test_intervals_of_predictions_agree_with_statsmodels(rng):
    X = rng.normal(loc=[0, 5, -100], size=(40, 3))
    y = X @ [1.0, 2.0, 0.5] + rng.normal(size=40)
    expected = sm.OLS(y, sm.add_constant(X)).fit().get_prediction(sm.add_constant(X[:7]))
    found = LinearRegression().fit(X, y).get_prediction(X[:7], confidence_level=0.9)
    np.testing.assert_allclose(found.predicted_mean, expected.predicted_mean, rtol=1e-9)
    np.testing.assert_allclose(found.se_mean, expected.se_mean, rtol=1e-7)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(alpha=0.1), rtol=1e-9)
    wide = expected.conf_int(obs=True, alpha=0.1)
    np.testing.assert_allclose(found.conf_int(obs=True), wide, rtol=1e-9)


# Stata's results, by the options that ask for them here; ivreg2 reports the uncentered R2 too.
ROBUST = {
    "results_hc0": {"cov_type": "HC1", "use_t": True},
    "results_ivhc0_small": {"cov_type": "HC1", "use_t": True},
    "results_ivhc0_large": {"cov_type": "HC0"},
    "results_newey4": {"cov_type": "HAC", "maxlags": 4, "use_correction": True, "use_t": True},
    "results_ivhac4_small": {
        "cov_type": "HAC",
        "maxlags": 4,
        "use_correction": True,
        "use_t": True,
    },
    "results_ivhac4_large": {"cov_type": "HAC", "maxlags": 4},
    "results_cluster": {"cov_type": "cluster", "use_t": True},
    "results_cluster_large": {"cov_type": "cluster", "use_correction": False},
}


@pytest.mark.covers("regression-summary-table")
@pytest.mark.parametrize("name", sorted(ROBUST))
def test_robust_errors_agree_with_the_reference_results_of_stata(name):
    options = dict(ROBUST[name])
    of_groups = options["cov_type"] == "cluster"
    found = robust_cases.CheckOLSRobustCluster if of_groups else robust_cases.TestOLSRobust1
    found.setup_class()
    if of_groups:
        options["groups"] = found.groups
    reference = getattr(robust_cases.res2 if of_groups else robust_cases.res, name)
    model = found.res1.model
    X, y, order = model.exog[:, :-1], model.endog, [1, 2, 0]
    summary = LinearRegression().fit(X, y).summary(X=X, y=y, **options)
    columns = dict(zip(reference.params_table_colnames, reference.params_table.T))
    np.testing.assert_allclose(summary.params[order], columns["b"], rtol=1e-6)
    np.testing.assert_allclose(summary.bse[order], columns["se"], rtol=1e-6)
    statistic = columns["t" if options.get("use_t") else "z"]
    np.testing.assert_allclose(summary.tvalues[order], statistic, rtol=1e-6)
    np.testing.assert_allclose(summary.pvalues[order], columns["pvalue"], rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(summary.conf_int()[order, 0], columns["ll"], rtol=1e-6)
    np.testing.assert_allclose(summary.conf_int()[order, 1], columns["ul"], rtol=1e-6)
    if options.get("use_t"):  # ivreg2 has another F where it is not small
        assert summary.fvalue == pytest.approx(reference.F, rel=1e-6)


@pytest.mark.covers("regression-summary-table")
@pytest.mark.parametrize("cov_type", ["HC0", "HC1", "HC2", "HC3", "HAC", "cluster"])
def test_robust_summaries_agree_with_statsmodels(cov_type, rng):
    X = rng.normal(loc=[0, 5], size=(50, 2))
    y = X @ [1.0, 2.0] + (1 + np.abs(X[:, 0])) * rng.normal(size=50)
    options = {"HAC": {"maxlags": 3}, "cluster": {"groups": np.arange(50) // 5}}.get(cov_type, {})
    expected = sm.OLS(y, sm.add_constant(X)).fit(cov_type=cov_type, cov_kwds=options or None)
    found = LinearRegression().fit(X, y).summary(cov_type=cov_type, X=X, y=y, **options)
    np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-7)
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(), rtol=1e-7)
    assert found.fvalue == pytest.approx(expected.fvalue, rel=1e-7)
    assert found.f_pvalue == pytest.approx(expected.f_pvalue, rel=1e-6)


def test_what_errors_over_time_need_is_named(rng):
    X, y = rng.normal(size=(20, 1)), rng.normal(size=20)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="needs maxlags"):
        model.summary(cov_type="HAC", X=X, y=y)
    with pytest.raises(ValueError, match="without weights"):
        model.summary(cov_type="HAC", maxlags=2, X=X, y=y, sample_weight=np.arange(20))
