"""Families and distributions: sums to one, gradients, fits, entropies, divergences, samples."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from gnomon import density as d
from gnomon.engine.errors import DataError
from gnomon.evaluate import normal_mass

COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.0]])
SCALE = np.array([[1.0, 0.3], [0.3, 0.5]])
MEMBERS = {
    "normal": (d.Normal().member(mean=1.5, variance=2.0), stats.norm(1.5, np.sqrt(2)).logpdf),
    "normal-mean": (d.NormalMean(3.0).member(mean=-1.0), stats.norm(-1, np.sqrt(3)).logpdf),
    "multivariate": (
        d.MultivariateNormal(2).member(mean=[1.0, -2.0], covariance=COVARIANCE),
        stats.multivariate_normal([1, -2], COVARIANCE).logpdf,
    ),
    "bernoulli": (d.Bernoulli().member(probability=0.3), stats.bernoulli(0.3).logpmf),
    "poisson": (d.Poisson().member(rate=2.5), stats.poisson(2.5).logpmf),
    "geometric": (d.Geometric().member(probability=0.35), stats.geom(0.35, loc=-1).logpmf),
    "exponential": (d.Exponential().member(rate=1.7), stats.expon(scale=1 / 1.7).logpdf),
    "gamma": (d.Gamma().member(shape=2.3, rate=1.4), stats.gamma(2.3, scale=1 / 1.4).logpdf),
    "inverse-gamma": (
        d.InverseGamma().member(shape=3.2, scale=2.0),
        stats.invgamma(3.2, scale=2.0).logpdf,
    ),
    "chi-squared": (d.ChiSquared().member(degrees=5.0), stats.chi2(5).logpdf),
    "beta": (d.Beta().member(a=2.0, b=3.5), stats.beta(2, 3.5).logpdf),
    "laplace": (d.Laplace(0.5).member(scale=1.3), stats.laplace(0.5, 1.3).logpdf),
    "multinomial": (
        d.Multinomial(3, 4).member(probabilities=[0.2, 0.3, 0.5]),
        stats.multinomial(4, [0.2, 0.3, 0.5]).logpmf,
    ),
    "dirichlet": (
        d.Dirichlet(3).member(alpha=[1.5, 2.0, 0.8]),
        lambda x: np.array([stats.dirichlet([1.5, 2, 0.8]).logpdf(row) for row in x]),
    ),
    "wishart": (
        d.Wishart(2).member(degrees=4.5, scale=SCALE),
        lambda x: np.array([stats.wishart(4.5, SCALE).logpdf(row.reshape(2, 2)) for row in x]),
    ),
}
MEMBERS_ONLY = {name: member for name, (member, _) in MEMBERS.items()}
MEMBERS_ONLY["categorical"] = d.Categorical(3).member(probabilities=[0.2, 0.5, 0.3])
MEMBERS_ONLY["mallows"] = d.Mallows([1, 0, 3, 2]).member(spread=0.7)


@pytest.mark.covers(
    "exponential-family",
    "multivariate-normal",
    "normal-distribution",
    "dirichlet-distribution",
    "multinomial-distribution",
    "beta-distribution",
    "inverse-gamma-distribution",
    "wishart-distribution",
    "parametric-model-object",
)
@pytest.mark.parametrize("name", MEMBERS)
def test_log_densities_are_scipys(name, rng):
    member, peer = MEMBERS[name]
    x = member.sample(50, rng)
    np.testing.assert_allclose(member.log_density(x), peer(x), rtol=1e-9, atol=1e-9)


@pytest.mark.covers("exponential-family")
@pytest.mark.parametrize("name", MEMBERS_ONLY)
def test_mean_statistics_are_the_gradient_of_the_log_partition(name):
    member = MEMBERS_ONLY[name]
    family, theta = member.family, member.natural
    for j in range(len(theta)):
        step = np.zeros(len(theta))
        step[j] = 1e-6 * max(abs(theta[j]), 1.0)
        rise = family.log_partition(theta + step) - family.log_partition(theta - step)
        found = family.mean_statistics(theta)[j]
        assert rise / (2 * step[j]) == pytest.approx(found, rel=1e-5, abs=1e-7)


@pytest.mark.covers("exponential-family", "exponential-family-moment-matching")
@pytest.mark.parametrize("name", MEMBERS_ONLY)
def test_moment_matching_inverts_the_mean_statistics(name):
    member = MEMBERS_ONLY[name]
    again = member.family.of_mean(member.mean_statistics)
    np.testing.assert_allclose(again.mean_statistics, member.mean_statistics, rtol=1e-8, atol=1e-9)
    for key, value in member.parameters.items():
        np.testing.assert_allclose(again.parameters[key], value, rtol=1e-6, atol=1e-7)


@pytest.mark.covers("exponential-family", "maximum-likelihood-estimation")
@pytest.mark.parametrize("name", MEMBERS_ONLY)
def test_no_neighbor_is_likelier_than_the_fit_to_weighted_data(name, rng):
    member = MEMBERS_ONLY[name]
    x = member.sample(60, rng)
    weights = rng.uniform(0.5, 2.0, 60)
    fitted = member.family.fit(x, weights)
    best = fitted.log_likelihood(x, weights)
    for _ in range(10):
        other = member.family.fit(x, weights * rng.uniform(0.98, 1.02, 60))
        assert other.log_likelihood(x, weights) <= best + 1e-9 * abs(best)


@pytest.mark.covers("exponential-family", "kl-divergence", "entropy")
@pytest.mark.parametrize("name", MEMBERS_ONLY)
def test_entropy_and_divergence_are_those_of_a_large_sample(name, rng):
    member = MEMBERS_ONLY[name]
    x = member.sample(20_000, rng)
    logs = member.log_density(x)
    tolerance = 6 * logs.std() / np.sqrt(len(logs)) + 1e-9
    assert member.entropy() == pytest.approx(-logs.mean(), abs=tolerance)
    other = member.family.of_mean(member.family.fit(x[:200]).mean_statistics)
    gaps = logs - other.log_density(x)
    tolerance = 6 * gaps.std() / np.sqrt(len(gaps)) + 1e-9
    assert member.divergence(other) == pytest.approx(gaps.mean(), abs=tolerance)
    assert member.divergence(member) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.covers("exponential-family")
@pytest.mark.parametrize("name", [n for n in MEMBERS_ONLY if n not in ("wishart", "mallows")])
def test_samples_have_the_moments_of_the_member(name, rng):
    member = MEMBERS_ONLY[name]
    x = member.sample(20_000, rng)
    spread = np.sqrt(np.diag(member.variance) if np.ndim(member.variance) else member.variance)
    np.testing.assert_array_less(np.abs(x.mean(axis=0) - member.mean), 6 * spread / 141 + 1e-12)


@pytest.mark.covers("wishart-distribution")
def test_wishart_samples_have_mean_degrees_times_scale_and_are_fitted_back(rng):
    member = d.Wishart(2).member(degrees=6.0, scale=SCALE)
    x = member.sample(4000, rng)
    spread = np.sqrt(member.variance).ravel()
    mean = member.mean.ravel()
    np.testing.assert_array_less(np.abs(x.mean(axis=0) - mean), 6 * spread / np.sqrt(4000))
    fitted = d.Wishart(2).fit(x).parameters
    assert 5.0 < fitted["degrees"] < 7.2


@pytest.mark.covers("mallows-ranking-model")
def test_mallows_probabilities_are_those_of_all_rankings_enumerated(rng):
    center, spread = [2, 0, 3, 1], 0.8
    rankings = np.array(list(itertools.permutations(range(4))), dtype=float)

    def kendall(one, other):
        pairs = itertools.combinations(range(4), 2)
        return sum((one[i] - one[j]) * (other[i] - other[j]) < 0 for i, j in pairs)

    raw = np.exp([-spread * kendall(each, center) for each in rankings])
    member = d.Mallows(center).member(spread=spread)
    np.testing.assert_allclose(member.density(rankings), raw / raw.sum(), rtol=1e-12)
    drawn = member.sample(6000, rng)
    codes = [tuple(row) for row in rankings]
    counts = np.zeros(len(codes))
    for row in drawn:
        counts[codes.index(tuple(row))] += 1
    expected = 6000 * member.density(rankings)
    assert ((counts - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(codes) - 1)
    fitted = d.Mallows.central(drawn)
    assert fitted.center == center
    assert fitted.fit(drawn).parameters["spread"] == pytest.approx(spread, abs=0.15)


@pytest.mark.covers("normal-distribution", "multivariate-normal")
def test_the_likeliest_variance_divides_by_n_and_the_unbiased_one_by_n_less_one(rng):
    x = rng.normal(3, 2, 40)
    assert d.Normal().fit(x).variance == pytest.approx(x.var())
    assert d.Normal().fit_unbiased(x).variance == pytest.approx(x.var(ddof=1))
    rows = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    both = d.MultivariateNormal(3)
    np.testing.assert_allclose(both.fit(rows).variance, np.cov(rows.T, ddof=0))
    np.testing.assert_allclose(both.fit(rows, ddof=1).variance, np.cov(rows.T))


@pytest.mark.covers("structured-covariance")
def test_diagonal_and_spherical_fits_keep_only_what_their_form_has(rng):
    rows = rng.normal(size=(50, 3)) * [1, 2, 3]
    variances = rows.var(axis=0)
    diagonal = d.MultivariateNormal(3, "diagonal").fit(rows)
    np.testing.assert_allclose(diagonal.variance, np.diag(variances), atol=1e-12)
    spherical = d.MultivariateNormal(3, "spherical").fit(rows)
    np.testing.assert_allclose(spherical.variance, variances.mean() * np.eye(3), atol=1e-12)
    sizes = [d.MultivariateNormal(3, form).n_parameters for form in ("full", "diagonal")]
    assert sizes == [9, 6]


@pytest.mark.covers("multivariate-normal")
def test_a_covariance_that_is_not_positive_definite_is_refused_with_its_eigenvalue():
    with pytest.raises(DataError, match=r"positive definite.*eigenvalue"):
        d.MultivariateNormal(2).fit([[0, 0], [1, 1], [2, 2.0]])
    with pytest.raises(DataError, match="symmetric"):
        d.MultivariateNormal(2).member(mean=[0, 0], covariance=[[1, 0.5], [0, 1]])


@pytest.mark.covers("normal-and-chi2-facts")
def test_sums_of_normals_and_of_their_squares_follow_the_laws(rng):
    a, b = 1.5, -2.0
    drawn = a * rng.normal(0, 1, 5000) + b * rng.normal(0, 3, 5000)
    law = d.sum_of_normals([0, 0], [1, 9], [a, b])
    assert law.parameters == {"mean": 0.0, "variance": a**2 + 9 * b**2}
    spread = np.sqrt(law.variance)
    assert stats.kstest(drawn, stats.norm(0, spread).cdf).pvalue > 1e-7
    squares = (rng.normal(size=(5000, 4)) ** 2).sum(axis=1)
    chi2 = d.ChiSquared().member(degrees=4)
    places = np.linspace(0, 20, 50)
    below = [integrate.quad(lambda t: chi2.density([t])[0], 0, p)[0] for p in places]
    np.testing.assert_allclose(below, stats.chi2.cdf(places, 4), atol=1e-7)
    assert stats.kstest(squares, stats.chi2(4).cdf).pvalue > 1e-7


@pytest.mark.covers("covariance-ellipse")
def test_the_mass_within_deviations_is_that_of_normal_draws_in_any_dimension(rng):
    np.testing.assert_allclose(normal_mass([1, 2, 3]), [0.6827, 0.9545, 0.9973], atol=5e-5)
    for k in (1, 2, 5):
        inside = (np.linalg.norm(rng.normal(size=(20_000, k)), axis=1) < 1.7).mean()
        assert float(normal_mass(1.7, k)) == pytest.approx(inside, abs=0.022)


@pytest.mark.covers("categorical-distribution")
def test_named_values_are_counted(rng):
    x = list("abracadabra")
    fitted = d.CategoricalDistribution.fit(x)
    assert fitted.values == ("a", "b", "c", "d", "r")
    np.testing.assert_allclose(fitted.probabilities, np.array([5, 2, 1, 1, 2]) / 11)
    assert fitted.mode == "a"
    assert fitted.probability("z") == 0
    smoothed = d.CategoricalDistribution.fit(x, alpha=1.0, values=list("abcdrz"))
    assert smoothed.probability("z") == pytest.approx(1 / 17)
    weighted = d.CategoricalDistribution.fit(["u", "v"], sample_weight=[3, 1])
    assert weighted.probability("u") == pytest.approx(0.75)
    drawn = fitted.sample(2000, rng)
    assert (drawn == "a").mean() == pytest.approx(5 / 11, abs=0.07)
    assert set(drawn) <= set(fitted.support)


@pytest.mark.covers("empirical-cdf", "empirical-distribution")
def test_the_empirical_distribution_is_the_share_of_items_up_to_x(rng):
    x = rng.integers(0, 20, 57).astype(float)
    sample = d.EmpiricalDistribution(x)
    places = np.concatenate([x, rng.uniform(-3, 23, 40)])
    np.testing.assert_allclose(sample.cdf(places), [(x <= p).mean() for p in places])
    np.testing.assert_allclose(d.empirical_cdf(x, places), stats.ecdf(x).cdf.evaluate(places))
    assert sample.mean == pytest.approx(x.mean())
    assert sample.variance == pytest.approx(x.var())
    assert set(sample.sample(500, rng)) <= set(x)
    for share in (0.1, 0.5, 0.9):
        least = sample.quantile(share)
        assert sample.cdf([least])[0] >= share - 1e-9
        assert (x[x < least] <= least).all()


@pytest.mark.covers("empirical-distribution")
def test_weights_of_items_are_their_repetitions(rng):
    x, weights = rng.normal(size=12), rng.integers(1, 4, 12)
    weighted = d.EmpiricalDistribution(x, weights)
    repeated = d.EmpiricalDistribution(np.repeat(x, weights))
    np.testing.assert_allclose(weighted.cdf(x), repeated.cdf(x))
    assert weighted.mean == pytest.approx(repeated.mean)


@pytest.mark.covers("plug-in-estimator", "empirical-distribution")
def test_plug_in_estimates_approach_the_integral_within_their_errors(rng):
    figure = d.plug_in(lambda x: x**2, rng.exponential(1.0, 20_000))
    assert abs(figure.value - 2.0) < 6 * figure.error
    grown = d.law_of_large_numbers(d.Poisson().member(rate=3.0), random_state=rng)
    assert abs(grown.means[-1].value - 3.0) < 6 * grown.means[-1].error
    assert grown.means[-1].error < grown.means[0].error


@pytest.mark.covers("continuous-mixture")
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 3.0), (5.0, 1.0)])
def test_normals_of_gamma_precision_are_students_t(a, b, rng):
    mixture = d.ContinuousMixture(
        d.Gamma().member(shape=a, rate=b),
        lambda t: d.Normal().member(mean=0.0, variance=1 / t),
        0.0,
        stats.gamma.isf(1e-14, a, scale=1 / b),
    )
    expected = d.StudentT(2 * a, 0.0, np.sqrt(b / a))
    places = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(mixture.density(places), expected.density(places), rtol=1e-6)
    drawn = mixture.sample(800, rng)
    assert stats.kstest(drawn, stats.t(2 * a, scale=np.sqrt(b / a)).cdf).pvalue > 1e-7


@pytest.mark.covers("finite-mixture")
def test_a_mixture_draws_in_two_stages_and_has_the_moments_of_its_parts(rng):
    parts = [d.Normal().member(mean=0, variance=1), d.Normal().member(mean=2, variance=0.25)]
    mixture = d.Mixture(parts, [0.5, 0.5])
    found = mixture.density([-1, 0, 1, 1.5, 2, 3])
    expected = [0.120985, 0.199605, 0.174976, 0.306730, 0.425938, 0.056207]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert mixture.mean == pytest.approx(1.0)
    assert mixture.variance == pytest.approx(1.625)
    assert mixture.posterior([1.0])[0, 1] == pytest.approx(0.308562, abs=1e-6)
    drawn = mixture.sample(4000, rng)
    assert abs(drawn.mean() - 1) < 6 * np.sqrt(1.625 / 4000)


def test_students_t_is_fitted_as_likely_as_scipy_can(rng):
    x = 3 + 0.7 * rng.standard_t(4, 300)
    ours = d.StudentT.fit(x)
    theirs = d.StudentT(*stats.t.fit(x))
    assert ours.log_likelihood(x) >= theirs.log_likelihood(x) - 1e-3


@pytest.mark.covers("maximum-likelihood-estimation")
def test_numerical_likelihood_finds_the_closed_forms(rng):
    x = rng.gamma(2.5, 1 / 1.3, 400)

    def log_density(x, t):
        return stats.gamma.logpdf(x, t[0], scale=1 / t[1])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = d.likelihood_fit(log_density, x, [1.0, 1.0], bounds=[(1e-6, None)] * 2)
    exact = d.Gamma().fit(x)
    parameters = list(exact.parameters.values())
    np.testing.assert_allclose(fit.parameters, parameters, rtol=1e-4)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(exact.log_likelihood(x), abs=1e-6)
    information = 400 * exact.family.statistics_covariance(exact.natural)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(fit.errors, errors, rtol=0.02)


@pytest.mark.covers("maximum-likelihood-estimation")
def test_a_start_of_no_likelihood_is_refused():
    with pytest.raises(DataError, match="start"):
        d.likelihood_fit(lambda x, t: np.full(len(x), -np.inf), [1.0, 2.0], [0.0])


@pytest.mark.covers("zipf-rank-frequency")
def test_zipfs_exponent_is_found_by_likelihood_and_exactly_by_regression(rng):
    counts = 1e6 * np.arange(1, 101) ** -1.4
    assert d.Zipf.fit(counts, "regression").exponent == pytest.approx(1.4)
    assert d.Zipf.fit(counts).exponent == pytest.approx(1.4)
    law = d.Zipf(1.4, 100)
    drawn = law.sample(20_000, rng)
    expected = optimize.minimize_scalar(
        lambda s: -d.Zipf(s, 100).log_likelihood(drawn), bounds=(0.5, 3), method="bounded"
    ).x
    ranked = np.bincount(drawn.astype(int), minlength=101)[1:]
    mean_log = ranked @ np.log(np.arange(1, 101)) / ranked.sum()
    weights = special.softmax(-expected * np.log(np.arange(1, 101)))
    assert weights @ np.log(np.arange(1, 101)) == pytest.approx(mean_log, abs=1e-4)
    assert expected == pytest.approx(1.4, abs=0.06)
    assert np.exp(law.log_density(np.arange(1, 101))).sum() == pytest.approx(1.0)
    assert law.log_density([0, 101, 1.5]).tolist() == [-np.inf] * 3


@pytest.mark.parametrize(
    ("family", "x", "said"),
    [
        (d.Poisson(), [1, -2], "Poisson: outcome 1 is -2"),
        (d.Gamma(), [1.0, 0.0], "Gamma: outcome 1 is 0"),
        (d.Bernoulli(), [0, 2], "0 or 1"),
        (d.Dirichlet(2), [[0.5, 0.6]], "1 together"),
        (d.Normal(), [2.0, 2.0], "do not differ"),
        (d.Gamma(), [2.0, 2.0], "do not differ"),
        (d.Beta(), [0.3, 0.3, 0.3], "do not differ"),
        (d.Dirichlet(2), [[0.4, 0.6], [0.4, 0.6]], "do not differ"),
        (d.Categorical(2), [0, 5], "from 0 to 1"),
    ],
)
def test_outcomes_that_a_family_cannot_have_are_named(family, x, said):
    with pytest.raises(DataError, match=said):
        family.fit(x)


def test_outcomes_outside_the_support_have_density_zero():
    assert d.Poisson().member(rate=2).log_density([-1, 0.5]).tolist() == [-np.inf, -np.inf]
    assert d.Beta().member(a=1, b=2).density([0.0, 2.0]).tolist() == [0.0, 0.0]
