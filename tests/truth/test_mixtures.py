"""Mixtures of any family: EM steps by hand, restarts, hard and annealed EM, Gibbs draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from gnomon import density as d
from gnomon.cluster import KMeans
from gnomon.density import FamilyMixture, fit_mixture, gibbs_mixture, lower_bound
from gnomon.engine.errors import DataError


def two_rates(rng, n=200):
    return np.concatenate([rng.poisson(2.0, n // 2), rng.poisson(15.0, n // 2)]).astype(float)


@pytest.mark.covers("em-algorithm", "exponential-family-mixture-em", "em-random-restarts")
def test_the_likelihood_never_falls_and_the_best_of_all_starts_is_kept(rng):
    x = two_rates(rng)
    fit = fit_mixture(x, [d.Poisson()] * 3, n_init=5, random_state=rng)
    assert (np.diff(fit.history) >= -1e-8 * abs(fit.history[-1])).all()
    assert len(fit.ends) == 5
    assert fit.log_likelihood == max(fit.ends)
    assert fit.log_likelihood == pytest.approx(fit.mixture.log_likelihood(x), abs=1e-4)


@pytest.mark.covers("em-algorithm")
def test_the_bound_touches_the_likelihood_at_the_posterior_and_lies_below_elsewhere(rng):
    joint = np.log(rng.random((20, 3))) + 2  # densities above one, too
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    exact = logsumexp(joint, axis=1).sum()
    assert lower_bound(joint, posterior) == pytest.approx(exact)
    for _ in range(10):
        assert lower_bound(joint, rng.dirichlet(np.ones(3), 20)) <= exact + 1e-9
    two = np.log([[10.0, 10.0]])
    assert two.sum() > logsumexp(two)  # the bound as 002 prints it
    assert lower_bound(two, [[0.5, 0.5]]) <= logsumexp(two) + 1e-12


@pytest.mark.covers("em-algorithm", "exponential-family-mixture-em")
def test_one_step_is_posterior_shares_then_weighted_fits(rng):
    x = two_rates(rng, 60)
    fit = fit_mixture(x, [d.Poisson()] * 2, n_init=1, tol=1e-13, random_state=rng)
    shares = fit.mixture.posterior(x)
    rates = [part.parameters["rate"] for part in fit.mixture.components]
    np.testing.assert_allclose(rates, shares.T @ x / shares.sum(axis=0), rtol=1e-4)
    np.testing.assert_allclose(fit.mixture.weights, shares.mean(axis=0), rtol=1e-4, atol=1e-5)


@pytest.mark.covers("hard-em")
def test_hard_em_of_equal_spherical_normals_is_k_means(rng):
    rows = np.concatenate([rng.normal(-6, 1, (40, 1)), rng.normal(6, 1, (40, 1))])[:, 0]
    fit = fit_mixture(rows, [d.NormalMean(1.0)] * 2, assignment="hard", n_init=10, random_state=rng)
    centers = np.sort([part.mean for part in fit.mixture.components])
    peer = KMeans(2, n_init=5, random_state=0).fit(rows[:, None]).cluster_centers_
    np.testing.assert_allclose(centers, np.sort(peer.ravel()), rtol=1e-8)


@pytest.mark.covers("em-algorithm")
def test_annealing_ends_at_a_maximum_and_a_uniform_part_takes_outliers(rng):
    x = two_rates(rng)
    warm = fit_mixture(x, [d.Poisson()] * 2, temperature=5.0, n_init=3, random_state=rng)
    plain = fit_mixture(x, [d.Poisson()] * 2, n_init=10, random_state=rng)
    assert warm.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.05)
    spoilt = np.concatenate([rng.normal(0, 1, 200), rng.uniform(-50, 50, 20)])
    fit = fit_mixture(spoilt, [d.Normal(), d.Uniform(-50.0, 50.0)], random_state=rng)
    assert fit.mixture.components[0].variance < 3
    assert 0.02 < fit.mixture.weights[1] < 0.25
    assert fit.mixture.posterior([40.0])[0, 1] > 0.999


@pytest.mark.covers("em-algorithm")
def test_components_of_different_kinds_and_students_are_taken(rng):
    x = np.concatenate([rng.normal(0, 1, 100), 20 + rng.standard_t(3, 100)])
    fit = fit_mixture(x, [d.Normal(), d.StudentT], n_init=4, max_iter=15, random_state=rng)
    middles = sorted(float(part.mean) for part in fit.mixture.components)
    assert middles[0] == pytest.approx(0, abs=0.6)
    assert middles[1] == pytest.approx(20, abs=0.6)
    with pytest.raises(DataError, match="collapsed"):
        fit_mixture(np.ones(10), [d.Normal()] * 2, random_state=rng)


PARTS = {
    "poisson": lambda rng, n: rng.poisson(np.where(np.arange(n) % 2, 2.0, 20.0)),
    "geometric": lambda rng, n: rng.geometric(np.where(np.arange(n) % 2, 0.6, 0.03)) - 1,
    "exponential": lambda rng, n: rng.exponential(np.where(np.arange(n) % 2, 0.1, 30.0)),
    "gamma": lambda rng, n: rng.gamma(8, np.where(np.arange(n) % 2, 0.1, 10.0)),
    "normal": lambda rng, n: rng.normal(np.where(np.arange(n) % 2, -20.0, 300.0), 5),
    "beta": lambda rng, n: rng.beta(*np.where(np.arange(n) % 2, [[2.0], [20.0]], [[20.0], [2.0]])),
}


@pytest.mark.covers("exponential-family-mixture-em")
@pytest.mark.parametrize("family", PARTS)
def test_the_streamed_mixture_reaches_a_fixed_point_of_em(rng, family):
    x = PARTS[family](rng, 300).astype(float)
    model = FamilyMixture(
        2, family=family, smoothing=0.0, tol=1e-11, max_iter=500, random_state=0
    ).fit(x[:, None])
    assert (np.diff(np.asarray(model.history_)) >= -1e-9).all()
    shares = model.predict_proba(x[:, None])
    own = d.families.FAMILIES[family]()
    for k in range(2):
        exact = own.fit(x, shares[:, k]).parameters
        for name, value in exact.items():
            assert model.parameters_[name][k, 0] == pytest.approx(value, rel=2e-3)
    parts = [
        own.member(**{name: v[k, 0] for name, v in model.parameters_.items()}) for k in range(2)
    ]
    mixture = d.Mixture(parts, model.weights_)
    np.testing.assert_allclose(
        model.score_samples(x[:, None]), mixture.log_density(x), rtol=1e-7, atol=1e-7
    )
    drawn, labels = model.sample(200, rng)
    assert own.inside(drawn[:, 0]).all()
    assert set(labels) <= {0, 1}


@pytest.mark.covers("exponential-family-mixture-em")
def test_topics_are_found_in_counts_of_words(rng):
    topics = np.array([[0.6, 0.3, 0.05, 0.05], [0.05, 0.05, 0.3, 0.6]])
    which = np.arange(120) % 2
    counts = np.stack([rng.multinomial(rng.integers(30, 60), topics[k]) for k in which])
    model = FamilyMixture(2, family="multinomial", random_state=0).fit(counts)
    found = model.parameters_["probabilities"]
    order = np.argsort(found[:, 3])
    np.testing.assert_allclose(found[order], topics, atol=0.08)
    labels = model.predict(counts)
    assert max((labels == which).mean(), (labels != which).mean()) == 1.0
    logs = [
        np.log(w) + stats.multinomial.logpmf(counts, counts.sum(axis=1), p / p.sum())
        for w, p in zip(model.weights_, found)
    ]
    np.testing.assert_allclose(
        model.score_samples(counts), logsumexp(logs, axis=0), rtol=1e-6, atol=1e-6
    )


@pytest.mark.covers("exponential-family-mixture-em")
def test_several_columns_are_independent_within_a_component(rng):
    group = np.arange(300) % 2
    rows = np.column_stack([rng.random(300) < np.where(group, 0.9, 0.1) for _ in range(5)]).astype(
        float
    )
    model = FamilyMixture(2, family="bernoulli", n_init=3, random_state=0).fit(rows)
    assert model.ends_.shape == (3,)
    assert model.history_[-1] == pytest.approx(model.ends_.max())
    chances = np.sort(model.parameters_["probability"], axis=0)
    np.testing.assert_allclose(chances, [[0.1] * 5, [0.9] * 5], atol=0.12)
    assert model.n_parameters_ == 11


@pytest.mark.covers("exponential-family-mixture-em")
def test_an_outlier_part_takes_what_fits_nowhere(rng):
    rows = np.vstack([rng.normal(size=(200, 2)), rng.uniform(-60, 60, (15, 2))])
    model = FamilyMixture(1, outliers=True, random_state=0).fit(rows)
    assert model.parameters_["variance"].max() < 4
    assert model.outlier_weight_ == pytest.approx(15 / 215, abs=0.04)
    assert model.predict([[50.0, -50.0], [0.0, 0.0]]).tolist() == [1, 0]
    assert model.weights_.sum() + model.outlier_weight_ == pytest.approx(1)
    with pytest.raises(ValueError, match="outliers"):
        FamilyMixture(2, family="poisson", outliers=True).fit(np.ones((5, 1)))


@pytest.mark.covers("exponential-family-mixture-em")
def test_rows_that_the_family_cannot_have_are_named():
    with pytest.raises(DataError, match=r"row 2, column 1.*counts"):
        FamilyMixture(2, family="poisson").fit([[1, 2], [3, 4], [1, -1], [5, 6]])


@pytest.mark.covers("bayesian-mixture-gibbs")
def test_conjugate_draws_have_the_moments_of_their_posteriors(rng):
    cases = [
        (d.Poisson(), 4.0, [9.0], np.exp, stats.gamma(9.0, scale=1 / 4.0)),
        (d.Exponential(), 5.0, [8.0], lambda t: -t, stats.gamma(6.0, scale=1 / 8.0)),
        (d.Bernoulli(), 9.0, [4.0], lambda t: 1 / (1 + np.exp(-t)), stats.beta(4.0, 5.0)),
        (d.NormalMean(2.0), 3.0, [1.5], lambda t: t, stats.norm(1.0, np.sqrt(2 / 3))),
    ]
    for family, strength, y, back, law in cases:
        drawn = [back(d.conjugate_draw(family, strength, y, rng)[0]) for _ in range(2000)]
        assert stats.kstest(drawn, law.cdf).pvalue > 1e-7


@pytest.mark.covers("bayesian-mixture-gibbs")
def test_normal_draws_follow_the_conjugate_density_of_both_parameters(rng):
    family, strength, y = d.Normal(), 12.0, np.array([6.0, 40.0])
    drawn = np.array([d.conjugate_draw(family, strength, y, rng) for _ in range(4000)])
    # E[E[S | theta]] = y / strength holds for the natural conjugate density, whatever its form
    means = family.mean_statistics(drawn)
    error = means.std(axis=0) / np.sqrt(len(means))
    np.testing.assert_array_less(np.abs(means.mean(axis=0) - y / strength), 6 * error)


@pytest.mark.covers("exponential-family-mixture-em")
def test_missing_cells_are_left_out_of_the_product(rng):
    full = np.where(
        np.arange(300)[:, None] < 150, rng.poisson(3, (300, 3)), rng.poisson(15, (300, 3))
    )
    rows = np.where(rng.random(full.shape) < 0.25, np.nan, full)
    rows[7] = np.nan
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = FamilyMixture(2, family="poisson", smoothing=0, random_state=0).fit(frame)
    assert (np.diff(model.history_) >= -1e-9).all()
    logs = stats.poisson.logpmf(rows[:, None, :], model.parameters_["rate"])
    joint = np.nansum(logs, axis=2) + np.log(model.weights_)
    np.testing.assert_allclose(model.score_samples(frame), logsumexp(joint, axis=1), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(frame)[7], model.weights_)
    assert model.bic(frame) == pytest.approx(
        -2 * model.score_samples(frame).sum() + 7 * np.log(300)
    )
    with pytest.raises(DataError, match="is missing, and Multinomial counts are of whole rows"):
        FamilyMixture(2, family="multinomial").fit(frame)


@pytest.mark.covers("exponential-family-mixture-em")
def test_normal_columns_with_gaps_are_those_of_the_gaussian_mixture(rng):
    rows = rng.normal(size=(200, 3)) + 6 * (np.arange(200) % 2)[:, None]
    rows[rng.random(rows.shape) < 0.3] = np.nan
    ours = FamilyMixture(2, smoothing=0, tol=1e-10, max_iter=5000, random_state=0).fit(rows)
    other = d.GaussianMixture(
        2, covariance_type="diag", reg_covar=0, tol=1e-10, max_iter=5000, random_state=0
    ).fit(rows)
    np.testing.assert_allclose(ours.score_samples(rows), other.score_samples(rows), atol=1e-3)
    aside = FamilyMixture(1, outliers=True, random_state=0).fit(rows)
    whole = ~np.isnan(rows).any(axis=1)
    expected = aside.outlier_log_density_ - np.log(aside.scale_).sum()
    np.testing.assert_allclose(
        aside._logs(rows[whole])[:, 1], np.log(aside.outlier_weight_) + expected
    )


@pytest.mark.covers("bayesian-mixture-gibbs")
def test_gibbs_draws_find_both_rates_and_their_uncertainty(rng):
    x = two_rates(rng, 120)
    draws = gibbs_mixture(x, d.Poisson(), 2, n_draws=400, warm_up=200, random_state=rng)
    low, high = draws.figures("rate")
    assert low.low < x[:60].mean() < low.high or abs(low.value - x[:60].mean()) < 0.7
    assert high.value == pytest.approx(x[60:].mean(), abs=1.5)
    np.testing.assert_allclose(draws.labels.sum(axis=1), 1)
    assert (draws.labels[:60, 0] > 0.5).mean() > 0.95
    places = np.arange(60)
    assert draws.predictive(places).sum() == pytest.approx(1.0, abs=1e-3)
    em = fit_mixture(x, [d.Poisson()] * 2, random_state=rng)
    assert draws.log_likelihood.max() <= em.log_likelihood + 1e-6


@pytest.mark.covers("bayesian-mixture-gibbs")
def test_one_component_is_the_conjugate_posterior(rng):
    x = rng.poisson(4.0, 50).astype(float)
    draws = gibbs_mixture(
        x, d.Poisson(), 1, strength=2.0, prior_mean=[3.0], n_draws=2000, warm_up=1, random_state=rng
    )
    rates = np.exp(draws.natural[:, 0, 0])
    assert stats.kstest(rates, stats.gamma(6 + x.sum(), scale=1 / 52).cdf).pvalue > 1e-7


@pytest.mark.covers("exponential-family-mixture-em")
def test_components_that_no_row_belongs_to_are_named():
    with pytest.warns(ConvergenceWarning, match=r"components \[1\] of n_components=2 have lost"):
        FamilyMixture(2, family="poisson", random_state=0).fit(np.ones((30, 1)))
