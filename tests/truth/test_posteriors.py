"""Posteriors: conjugate forms against grids, evidence, predictives, MAP as penalty, hierarchies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from gnomon.bayes import (
    BetaBinomial,
    DirichletMultinomial,
    GammaPoisson,
    HierarchicalModel,
    NaturalConjugate,
    NormalMeanPosterior,
    NormalVariancePosterior,
    laplace_log_prior,
    lasso_penalty,
    maximum_a_posteriori,
    normal_log_prior,
    posterior_grid,
    posterior_predictive,
    predictive_from_draws,
    ridge_penalty,
)
from gnomon.density import Bernoulli, Exponential, Gamma, Normal, NormalMean, Poisson
from gnomon.engine.errors import DataError, GnomonWarning


def pairs(rng):
    """Prior, outcomes, log-likelihood, log prior and a grid for each conjugate pair."""
    return {
        "normal": (
            NormalMeanPosterior(1.0, 4.0, noise=2.0),
            rng.normal(2, 1.4, 6),
            lambda x, t: stats.norm.logpdf(x, t, np.sqrt(2)).sum(),
            lambda t: stats.norm.logpdf(t, 1, 2),
            np.linspace(-9, 13, 801),
        ),
        "beta": (
            BetaBinomial(2.0, 3.0),
            rng.integers(0, 2, 9),
            lambda x, t: stats.bernoulli.logpmf(x, t).sum(),
            lambda t: stats.beta.logpdf(t, 2, 3),
            np.linspace(1e-6, 1 - 1e-6, 1501),
        ),
        "gamma": (
            GammaPoisson(3.0, 1.5),
            rng.poisson(2.0, 7),
            lambda x, t: stats.poisson.logpmf(x, t).sum(),
            lambda t: stats.gamma.logpdf(t, 3, scale=1 / 1.5),
            np.linspace(1e-6, 14, 1501),
        ),
    }


@pytest.mark.covers("normal-mean-posterior", "posterior-grid", "posterior-predictive")
@pytest.mark.parametrize("name", ["normal", "beta", "gamma"])
def test_conjugate_posteriors_evidence_and_predictives_are_those_of_a_grid(rng, name):
    prior, x, likelihood, log_prior, axis = pairs(rng)[name]
    posterior = prior.update(x)
    grid = posterior_grid(lambda t: likelihood(x, t), {"t": axis}, log_prior)
    np.testing.assert_allclose(
        posterior.density(axis[1:-1]), grid.density[1:-1], rtol=1e-3, atol=1e-5
    )
    assert grid.mean["t"] == pytest.approx(posterior.mean, rel=1e-4)
    assert grid.variance["t"] == pytest.approx(posterior.variance, rel=1e-3)
    assert grid.log_evidence == pytest.approx(prior.log_evidence(x), abs=1e-4)
    interval, expected = grid.interval("t", 0.9), posterior.interval(0.9)
    assert interval.low == pytest.approx(expected.low, abs=5e-3)
    assert interval.high == pytest.approx(expected.high, abs=5e-3)
    new = x[:3]
    law = posterior.predictive
    mass = law.pmf(new) if hasattr(law.dist, "pmf") else law.pdf(new)
    averaged = grid.expectation(lambda t: [np.exp(likelihood([each], t)) for each in new])
    np.testing.assert_allclose(mass, averaged, rtol=1e-3)


@pytest.mark.covers("normal-mean-posterior", "dirichlet-multinomial-posterior")
def test_chunks_in_any_order_give_the_posterior_of_all_rows(rng):
    for name in ("normal", "beta", "gamma"):
        prior, x, *_ = pairs(rng)[name]
        whole = prior.update(x)
        parts = prior.update(x[4:]).update(x[:4])
        assert parts.mean == pytest.approx(whole.mean)
        assert parts.variance == pytest.approx(whole.variance)
    codes = rng.integers(0, 3, 20)
    start = DirichletMultinomial([0.5, 1.0, 2.0])
    parts = start.update(codes[:7]).update(codes[7:])
    np.testing.assert_allclose(parts.alpha, start.update(codes).alpha)


@pytest.mark.covers("normal-mean-posterior")
def test_the_variance_of_a_mean_shrinks_and_precisions_add(rng):
    prior = NormalMeanPosterior(2.0, 25.0, noise=2.25)
    posterior = prior.update(rng.normal(size=40))
    assert 1 / posterior.variance == pytest.approx(1 / 25 + 40 / 2.25)
    assert posterior.predictive.var() == pytest.approx(posterior.variance + 2.25)


@pytest.mark.covers("normal-mean-posterior")
def test_unknown_mean_and_variance_agree_with_a_grid_of_two(rng):
    x = rng.normal(1.0, 0.8, 8)
    prior = NormalVariancePosterior(0.0, 0.5, 2.0, 1.5)
    posterior = prior.update(x)

    def log_normal(x, mean, variance):
        return -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)

    def log_prior(mean, variance):
        own = 2 * np.log(1.5) - 3 * np.log(variance) - 1.5 / variance  # inverse gamma (2, 1.5)
        return own + log_normal(mean, 0.0, variance / 0.5)

    axes = {"mean": np.linspace(-4, 5, 121), "variance": np.geomspace(0.03, 60, 200)}
    grid = posterior_grid(lambda m, v: log_normal(x, m, v).sum(), axes, log_prior)
    assert grid.mean["mean"] == pytest.approx(posterior.mean, abs=2e-3)
    assert grid.variance["mean"] == pytest.approx(posterior.variance, rel=0.02)
    assert grid.mean["variance"] == pytest.approx(float(posterior.variance_law.mean()), rel=0.01)
    assert grid.log_evidence == pytest.approx(prior.log_evidence(x), abs=0.01)


@pytest.mark.covers("dirichlet-multinomial-posterior")
def test_dirichlet_mean_is_smoothed_counts_and_samples_agree(rng):
    prior, counts = DirichletMultinomial([1.0, 2.0, 0.5]), np.array([4, 0, 3])
    posterior = prior.update_counts(counts)
    np.testing.assert_allclose(posterior.mean, [5 / 10.5, 2 / 10.5, 3.5 / 10.5])
    assert posterior.mean.sum() == pytest.approx(1.0)
    assert posterior.concentration == pytest.approx(prior.concentration + 7)
    drawn = posterior.sample(8000, rng)
    spread = drawn.std(axis=0)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=0) - posterior.mean), 6 * spread / 89)
    for j, figure in enumerate(posterior.intervals(0.8)):
        inside = (drawn[:, j] > figure.low) & (drawn[:, j] < figure.high)
        assert inside.mean() == pytest.approx(0.8, abs=0.03)
    points = drawn[:20]
    law = stats.dirichlet(posterior.alpha)
    expected = [law.pdf(point / point.sum()) for point in points]
    np.testing.assert_allclose(posterior.density(points), expected, rtol=1e-6)


@pytest.mark.covers("dirichlet-multinomial-posterior")
def test_dirichlet_evidence_is_the_product_of_one_by_one_predictions(rng):
    codes = rng.integers(0, 4, 12)
    belief, total = DirichletMultinomial([0.7, 1.0, 2.0, 0.4]), 0.0
    start = belief
    for code in codes:
        total += np.log(belief.predictive[code])
        belief = belief.update([code])
    assert start.log_evidence(codes) == pytest.approx(total)
    two = DirichletMultinomial([2.0, 3.0]).update(codes % 2)
    yes = BetaBinomial(3.0, 2.0).update(codes % 2)
    assert two.mean[1] == pytest.approx(yes.mean)


@pytest.mark.covers("natural-conjugate-prior")
@pytest.mark.parametrize(
    ("family", "x", "exact"),
    [
        # in theta = log rate, lambda and y are the gamma's rate and shape
        (Poisson(), [3, 0, 2, 4], lambda s, y: stats.gamma(y, scale=1 / s).mean()),
        (Bernoulli(), [1, 0, 1, 1], lambda s, y: stats.beta(y, s - y).mean()),
        (NormalMean(2.0), [0.5, 1.5, 3.0], lambda s, y: 2.0 * y / s),
    ],
)
def test_natural_conjugates_of_known_families_are_the_known_pairs(family, x, exact):
    prior = NaturalConjugate(family, 2.0, [1.1])
    posterior = prior.update(x)
    total = 1.1 + float(family.statistics(np.asarray(x, float)).sum())
    assert posterior.strength == 2.0 + len(x)
    assert posterior.y[0] == pytest.approx(total)
    mean = posterior.expectation(lambda member: member.mean)
    assert mean == pytest.approx(exact(posterior.strength, total), rel=1e-4)


@pytest.mark.covers("natural-conjugate-prior")
@pytest.mark.parametrize("family", [Poisson(), Bernoulli(), Exponential(), NormalMean(1.5)])
def test_the_expected_mean_statistics_are_y_over_lambda(family, rng):
    start = {"Bernoulli": 0.4}.get(family.name, 1.3)
    prior = NaturalConjugate(family, 3.0, [3.0 * start])
    found = prior.expectation(lambda member: member.mean_statistics)
    np.testing.assert_allclose(found, prior.y / prior.strength, rtol=2e-3)
    np.testing.assert_allclose(prior.mode.mean_statistics, prior.y / prior.strength)


@pytest.mark.covers("natural-conjugate-prior")
def test_several_parameters_are_updated_by_their_statistics(rng):
    x = rng.gamma(2.0, 1.0, 30)
    prior = NaturalConjugate.worth(Gamma().member(shape=2.0, rate=1.0), 5.0)
    posterior = prior.update(x)
    expected = (prior.y + Gamma().statistics(x).sum(axis=0)) / 35.0
    np.testing.assert_allclose(posterior.expected_statistics, expected)
    np.testing.assert_allclose(posterior.mode.mean_statistics, expected, rtol=1e-8)
    best = posterior.log_density([posterior.mode.natural])[0]
    aside = posterior.mode.natural + 0.01 * rng.normal(size=(20, 2))
    assert (posterior.log_density(aside) <= best).all()
    with pytest.raises(DataError, match="one parameter"):
        posterior.expectation(lambda member: member.mean)


@pytest.mark.covers("natural-conjugate-prior", "posterior-predictive")
def test_the_predictive_by_quadrature_is_the_negative_binomial():
    posterior = NaturalConjugate(Poisson(), 1.5, [3.0]).update([2, 1, 4])
    counts = np.arange(12)
    exact = GammaPoisson(3.0, 1.5).update([2, 1, 4]).predictive.pmf(counts)
    np.testing.assert_allclose(posterior.predictive(counts), exact, rtol=1e-4)


@pytest.mark.covers("posterior-predictive")
def test_the_predictive_from_draws_is_the_closed_form(rng):
    posterior = NormalMeanPosterior(0.0, 2.0, noise=1.0).update([0.5, 1.0])
    draws = posterior.sample(20_000, rng)
    places = np.array([-1.0, 0.5, 2.0])
    logs = stats.norm.logpdf(places, draws[:, None], 1.0)
    exact = posterior.predictive.pdf(places)
    np.testing.assert_allclose(np.exp(posterior_predictive(logs)), exact, rtol=0.06)
    outcomes = predictive_from_draws(draws, lambda m, g: g.normal(m, 1.0), rng)
    assert outcomes.var() == pytest.approx(posterior.predictive.var(), rel=0.1)
    tiny = posterior_predictive(logs - 5000)
    np.testing.assert_allclose(tiny, np.log(exact) - 5000, atol=0.06)


@pytest.mark.covers("posterior-grid")
def test_a_grid_of_two_integrates_to_one_and_its_marginals_are_quadratures(rng):
    axes = {"a": np.linspace(-6, 6, 121), "b": np.linspace(-6, 6, 141)}
    covariance = [[1.0, 0.6], [0.6, 1.0]]
    law = stats.multivariate_normal([0.0, 0.0], covariance)
    with np.errstate(all="ignore"):
        grid = posterior_grid(lambda a, b: law.logpdf([a, b]), axes, lambda a, b: 0.0)
    assert np.trapezoid(np.trapezoid(grid.density, axes["b"]), axes["a"]) == pytest.approx(1.0)
    assert grid.log_evidence == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(grid.marginal("a"), stats.norm.pdf(axes["a"]), atol=1e-3)
    assert grid.expectation(lambda a, b: a * b) == pytest.approx(0.6, abs=5e-3)
    drawn = grid.sample(5000, rng)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.6, abs=0.07)
    assert set(grid.mode) == {"a", "b"}


@pytest.mark.covers("posterior-grid")
def test_evidence_prefers_the_model_that_made_the_data(rng):
    x = rng.normal(0, 1, 200)
    axis = {"m": np.linspace(-3, 3, 601)}
    right = posterior_grid(lambda m: stats.norm.logpdf(x, m, 1).sum(), axis)
    wrong = posterior_grid(lambda m: stats.norm.logpdf(x, m, 3).sum(), axis)
    assert right.log_evidence > wrong.log_evidence + 10


@pytest.mark.covers("posterior-grid")
def test_a_grid_that_cuts_mass_off_says_so_and_nonsense_is_refused():
    with pytest.warns(GnomonWarning, match="high end of 't'"):
        posterior_grid(lambda t: -0.5 * (t - 3) ** 2, {"t": np.linspace(-5, 3, 100)})
    with pytest.raises(DataError, match="rise"):
        posterior_grid(lambda t: 0.0, {"t": [1, 1, 2]})
    with pytest.raises(DataError, match="one or two"):
        posterior_grid(lambda *t: 0.0, {name: [1, 2, 3] for name in "abc"})
    with pytest.raises(DataError, match="zero on the whole grid"):
        posterior_grid(lambda t: -np.inf, {"t": [1, 2, 3]})


@pytest.mark.covers("map-estimation")
def test_a_normal_prior_is_ridge_regression(rng):
    X, noise, prior = rng.normal(size=(30, 2)), 0.5, 0.2
    y = X @ [1.0, -2.0] + rng.normal(0, np.sqrt(noise), 30)
    rows = np.column_stack([X, y])

    def log_density(rows, b):
        return stats.norm.logpdf(rows[:, 2], rows[:, :2] @ b, np.sqrt(noise))

    fit = maximum_a_posteriori(log_density, rows, [0.0, 0.0], normal_log_prior(prior))
    exact = np.linalg.solve(X.T @ X + ridge_penalty(noise, prior) * np.eye(2), X.T @ y)
    np.testing.assert_allclose(fit.parameters, exact, atol=1e-5)


@pytest.mark.covers("map-estimation")
def test_a_laplace_prior_is_the_lasso_that_sets_slopes_to_zero(rng):
    X, _ = np.linalg.qr(rng.normal(size=(30, 2)))
    y = X @ [2.0, 0.05]
    noise, scale = 0.5, 1.0

    def log_density(rows, b):
        return -0.5 * (rows[:, 2] - rows[:, :2] @ b) ** 2 / noise

    rows = np.column_stack([X, y])
    fit = maximum_a_posteriori(log_density, rows, [0.5, 0.5], laplace_log_prior(scale))
    plain = X.T @ y
    threshold = lasso_penalty(noise, scale) / 2
    exact = np.sign(plain) * np.maximum(np.abs(plain) - threshold, 0)
    np.testing.assert_allclose(fit.parameters, exact, atol=1e-3)


@pytest.mark.covers("map-estimation")
def test_a_flat_prior_is_maximum_likelihood_and_a_conjugate_one_its_mode(rng):
    x = rng.poisson(3.0, 25)

    def log_density(x, t):
        return stats.poisson.logpmf(x, t[0])

    flat = maximum_a_posteriori(log_density, x, [1.0], lambda t: 0.0, bounds=[(1e-9, None)])
    assert flat.parameters[0] == pytest.approx(x.mean(), abs=1e-5)
    tilted = maximum_a_posteriori(
        log_density,
        x,
        [1.0],
        lambda t: stats.gamma.logpdf(t[0], 4, scale=1 / 2),
        bounds=[(1e-9, None)],
    )
    assert tilted.parameters[0] == pytest.approx((4 - 1 + x.sum()) / (2 + 25), abs=1e-5)


def normal_hierarchy():
    return HierarchicalModel(
        Normal().member(mean=1.0, variance=4.0),
        lambda phi: Normal().member(mean=phi, variance=1.0),
        lambda theta: Normal().member(mean=theta, variance=0.5),
    )


@pytest.mark.covers("hierarchical-model")
def test_the_marginal_prior_integrates_the_hyperparameter_out():
    prior = normal_hierarchy().marginal_prior(-25, 27)
    places = np.linspace(-5, 7, 9)
    expected = stats.norm.pdf(places, 1.0, np.sqrt(5.0))
    np.testing.assert_allclose(prior.density(places), expected, rtol=1e-6)


@pytest.mark.covers("hierarchical-model")
def test_top_down_draws_have_the_variances_of_all_layers(rng):
    model = normal_hierarchy()
    drawn = [model.sample(1, 1, rng) for _ in range(3000)]
    hyper = np.array([each.hyper for each in drawn])
    theta = np.array([each.parameters[0] for each in drawn])
    x = np.array([each.data[0][0] for each in drawn])
    for values, variance in ((hyper, 4.0), (theta, 5.0), (x, 5.5)):
        assert abs(values.mean() - 1.0) < 6 * np.sqrt(variance / 3000)
        assert values.var() == pytest.approx(variance, rel=0.2)


@pytest.mark.covers("hierarchical-model")
def test_the_chain_finds_the_exact_posterior_of_a_normal_hierarchy(rng):
    groups = [rng.normal(0.0, 0.7, 3), rng.normal(2.0, 0.7, 6)]
    # phi, theta_1, theta_2 are jointly normal: precision and shift written out
    precision = np.zeros((3, 3))
    shift = np.zeros(3)
    precision[0, 0] += 1 / 4
    shift[0] += 1 / 4
    for g, x in enumerate(groups, start=1):
        precision[np.ix_([0, g], [0, g])] += [[1, -1], [-1, 1]]
        precision[g, g] += len(x) / 0.5
        shift[g] += x.sum() / 0.5
    covariance = np.linalg.inv(precision)
    mean = covariance @ shift
    found = normal_hierarchy().infer(groups, n_draws=700, warm_up=300, random_state=rng)
    for figure, m, v in zip(found.figures(), mean, np.diag(covariance)):
        assert abs(figure.value - m) < 6 * figure.error + 0.1 * np.sqrt(v)
        assert (figure.high - figure.low) / (2 * 1.96 * np.sqrt(v)) == pytest.approx(1, abs=0.35)
    assert (found.shrinkage < 1.3).all()
    assert ((found.acceptance > 0.15) & (found.acceptance < 0.8)).all()
    draws = found.parameters.reshape(-1, 2)
    assert draws.shape == (2800, 2)


@pytest.mark.covers("hierarchical-model")
def test_empty_groups_are_refused():
    with pytest.raises(DataError, match="each with an outcome"):
        normal_hierarchy().infer([[1.0], []])


@pytest.mark.covers("normal-mean-posterior")
def test_credible_intervals_hold_their_mass(rng):
    posterior = BetaBinomial(2.0, 2.0).update(rng.integers(0, 2, 10))
    figure = posterior.interval(0.8)
    mass, _ = integrate.quad(lambda t: float(posterior.density(t)), figure.low, figure.high)
    assert mass == pytest.approx(0.8, abs=1e-6)
