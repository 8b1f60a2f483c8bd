"""Generalised linear models against their own definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import gnomon
from gnomon.engine.errors import DataError
from gnomon.linear import GLM, ElasticNet, LinearRegression, LogisticRegression, NoSummary
from gnomon.linear.families import FAMILIES, LINKS, negative_binomial, tweedie

DATA = Path(__file__).parents[2] / "../shared/data"
ALL = {**FAMILIES, "negative binomial": negative_binomial(0.7), "tweedie": tweedie(1.4)}


@pytest.mark.covers("generalised-linear-model")
@pytest.mark.parametrize("name", sorted(ALL))
def test_the_slope_of_the_deviance_is_the_residual_over_the_variance(name, rng):
    family = ALL[name]
    y, mean = rng.uniform(0.1, 0.9, size=(2, 20))
    step = 1e-6
    slope = (family.deviance(y, mean + step) - family.deviance(y, mean - step)) / (2 * step)
    expected = -2 * (y - mean) / family.variance(mean)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(family.deviance(y, y), 0, atol=1e-12)


@pytest.mark.covers("generalised-linear-model")
@pytest.mark.parametrize("name", sorted(LINKS))
def test_links_are_inverted_and_their_slopes_are_slopes(name, rng):
    link, mean = LINKS[name], rng.uniform(0.05, 0.95, size=20)
    predictor = link.predictor(mean)
    np.testing.assert_allclose(link.mean(predictor), mean, rtol=1e-10)
    step = 1e-6
    slope = (link.mean(predictor + step) - link.mean(predictor - step)) / (2 * step)
    np.testing.assert_allclose(link.slope(predictor), slope, rtol=1e-5)


def test_log_densities_are_those_of_scipy(rng):
    y, mean = rng.gamma(2.0, size=10), rng.uniform(0.5, 3, size=10)
    gamma = FAMILIES["gamma"].log_density(y, mean, 0.4)
    np.testing.assert_allclose(gamma, stats.gamma.logpdf(y, 2.5, scale=mean * 0.4))
    wald = FAMILIES["inverse gaussian"].log_density(y, mean, 0.4)
    np.testing.assert_allclose(wald, stats.invgauss.logpdf(y, mean * 0.4, scale=1 / 0.4))
    counts = rng.poisson(2.0, size=10)
    nb = negative_binomial(0.5).log_density(counts, mean, 1.0)
    np.testing.assert_allclose(nb, stats.nbinom.logpmf(counts, 2.0, 2 / (2 + mean)))
    poisson = FAMILIES["poisson"].log_density(counts, mean, 1.0)
    np.testing.assert_allclose(poisson, stats.poisson.logpmf(counts, mean))


@pytest.mark.covers("poisson-regression")
def test_the_poisson_likelihood_has_its_maximum_there(rng):
    X = rng.normal(size=(100, 2))
    y = rng.poisson(np.exp(0.3 + X @ [0.5, -0.5])).astype(float)
    model = GLM("poisson").fit(X, y)

    def negative(theta):
        predictor = theta[0] + X @ theta[1:]
        return (np.exp(predictor) - y * predictor).sum()

    best = optimize.minimize(negative, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose([model.intercept_, *model.coef_], best.x, atol=1e-5)
    assert (np.diff(model.history_.objective) <= 1e-12).all()


@pytest.mark.covers("generalised-linear-model", "regression-summary-table")
def test_the_gaussian_family_is_least_squares_with_its_summary(rng):
    X = rng.normal(size=(60, 3)) + 100
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    one, other = GLM().fit(X, y).summary(), LinearRegression().fit(X, y).summary()
    np.testing.assert_allclose(one.estimate, other.estimate, rtol=1e-6)
    np.testing.assert_allclose(one.standard_error, other.standard_error, rtol=1e-6)
    for fact in ("AIC", "BIC", "F", "log-likelihood"):
        assert one.facts[fact] == pytest.approx(other.facts[fact], rel=1e-6)


def test_the_binomial_family_is_logistic_regression(rng):
    X = rng.normal(size=(120, 2))
    y = (rng.random(120) < 1 / (1 + np.exp(-X[:, 0]))).astype(float)
    one = GLM("binomial", tol=1e-12).fit(X, y)
    other = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y.astype(int))
    np.testing.assert_allclose(one.coef_, other.coef_[0], atol=1e-6)
    assert one.summary().facts["AIC"] == pytest.approx(other.summary().facts["AIC"], rel=1e-8)


@pytest.mark.covers("sparse-glm", "elastic-net")
def test_a_penalized_gaussian_model_is_the_elastic_net(rng):
    X = rng.normal(size=(80, 6)) + 2
    y = X[:, 0] - X[:, 1] + rng.normal(size=80)
    one = GLM(alpha=0.2, l1_ratio=0.6, tol=1e-14).fit(X, y)
    other = ElasticNet(0.2, l1_ratio=0.6).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-8)


@pytest.mark.covers("sparse-glm")
def test_a_penalized_poisson_model_meets_the_optimality_conditions(rng):
    X = rng.normal(size=(200, 12))
    y = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    model = GLM("poisson", alpha=0.1, l1_ratio=1.0, tol=1e-14).fit(X, y)
    slopes = X.T @ (y - model.predict(X)) / 200
    used = model.coef_ != 0
    assert 1 <= used.sum() < 12
    np.testing.assert_allclose(slopes[used], 0.1 * np.sign(model.coef_[used]), atol=1e-6)
    assert np.abs(slopes[~used]).max() <= 0.1 + 1e-9


@pytest.mark.parametrize(
    ("family", "bad"), [("poisson", -1.0), ("gamma", 0.0), ("binomial", 1.5), ("tweedie", -0.1)]
)
def test_a_target_outside_the_family_is_refused_with_its_range(family, bad, rng):
    y = rng.uniform(0.2, 0.8, size=20)
    y[7] = bad
    with pytest.raises(DataError, match=f"family='{family}'.*needs a target"):
        GLM(family).fit(rng.normal(size=(20, 2)), y)


def test_separated_targets_are_found_out_and_said(rng):
    x = np.linspace(-1, 1, 20)[:, None]
    with pytest.warns(UserWarning, match="separate"):
        model = GLM("binomial").fit(x, (x[:, 0] > 0).astype(float))
    assert model.separated_
    with pytest.raises(NoSummary, match="alpha > 0"):
        model.summary()


def test_collinear_columns_are_fitted_and_their_summary_refused(rng):
    x = rng.normal(size=(50, 1))
    y = rng.poisson(np.exp(x[:, 0])).astype(float)
    single, double = GLM("poisson").fit(x, y), GLM("poisson").fit(np.hstack([x, x]), y)
    np.testing.assert_allclose(double.predict(np.hstack([x, x])), single.predict(x), rtol=1e-5)
    with pytest.raises(NoSummary, match="rank"):
        double.summary()


def test_an_unknown_offset_is_named(rng):
    import pandas as pd

    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    with pytest.raises(DataError, match=r"'exposure'.*'a', 'b'"):
        GLM("gaussian", offset="exposure").fit(frame, rng.normal(size=20))


@pytest.mark.covers("regression-summary-table")
@pytest.mark.skipif(not DATA.exists(), reason="the texts' data are not beside the project")
def test_the_table_of_aic_and_bic_of_text_000_worked_example_11_1():
    """Perch weight by polynomials of length; BIC = k log N - 2L, not the printed 2k log N."""
    lines = (DATA / "fishcatch.csv").read_text().splitlines()[1:]
    perch = [line.split(",") for line in lines if line.startswith("perch")]
    rows = np.array([[float(cells[3]), float(cells[7])] for cells in perch])
    assert len(rows) == 56
    length, weight = rows.T
    x = (length - length.mean()) / (length.max() - length.min()) * 2
    aic, bic = [], []
    for degree in range(1, 11):
        columns = np.polynomial.legendre.legvander(x, degree)[:, 1:]
        facts = LinearRegression().fit(columns, weight).summary().facts
        aic.append(facts["AIC"])
        bic.append(facts["BIC"])
    expected_aic = [677.3, 616.6, 617.0, 613.1, 615.0, 617.0, 616.7, 612.3, 612.6, 614.0]
    expected_bic = [683.4, 624.7, 627.1, 625.2, 629.1, 633.2, 634.9, 632.6, 634.8, 638.3]
    np.testing.assert_allclose(aic, expected_aic, atol=0.06)
    np.testing.assert_allclose(bic, expected_bic, atol=0.06)


@pytest.mark.parametrize("link", ["identity", "inverse"])
def test_without_intercept_a_fit_begins_where_the_link_gives_means(link, rng):
    X = rng.uniform(1.0, 2.0, (200, 2))
    mean = X @ [0.5, 1.0] if link == "identity" else 1 / (X @ [0.5, 1.0])
    model = GLM("gamma", link=link, fit_intercept=False).fit(X, rng.gamma(5000.0, mean / 5000.0))
    np.testing.assert_allclose(model.coef_, [0.5, 1.0], atol=0.1)


def test_the_overdispersion_of_a_negative_binomial_is_the_likeliest_of_a_grid(rng):
    X = rng.normal(size=(150, 2))
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 1) * rng.gamma(2.0, 0.5, 150))
    fitted = GLM("negative binomial", overdispersion="fit").fit(X, y)

    def likelihood(overdispersion):
        model = GLM("negative binomial", overdispersion=overdispersion).fit(X, y)
        return model.statistics_.log_likelihood

    best = likelihood(fitted.overdispersion_)
    assert all(likelihood(each) <= best + 1e-6 for each in np.geomspace(0.05, 5.0, 15))


def test_a_summary_tells_of_overdispersed_counts_and_not_of_poisson_ones(rng):
    X = rng.normal(size=(400, 1))
    mean = np.exp(1 + 0.3 * X[:, 0])
    plain = GLM("poisson").fit(X, rng.poisson(mean)).summary()
    spread = GLM("poisson").fit(X, rng.poisson(mean * rng.gamma(0.5, 2.0, 400))).summary()
    assert not any("overdispersed" in note for note in plain.notes)
    assert any("overdispersed" in note for note in spread.notes)


@pytest.mark.covers("generalised-linear-model")
def test_a_model_of_as_many_coefficients_as_rows_is_loaded_and_has_no_summary(tmp_path):
    model = GLM().fit([[0.0, 1.0], [4.0, 9.0], [16.0, 25.0]], [1.0, 3.0, 2.0])
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    assert np.isnan(loaded.statistics_.dispersion)
    with pytest.raises(NoSummary, match="no more rows than coefficients"):
        loaded.summary()
