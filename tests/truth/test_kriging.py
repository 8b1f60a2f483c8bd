"""Kriging against its equations written out, and the choice of the next sample."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.distance import cdist

import gnomon
from gnomon.bayes import Kriging, expected_improvement, fit_variogram, variogram
from gnomon.bayes.kriging import correlation
from gnomon.engine.errors import MemoryLimitError


def some_sites(rng, n=25):
    sites = rng.uniform(0, 5, (n, 2))
    values = np.sin(sites[:, 0]) + 0.5 * sites[:, 1] + 0.1 * rng.normal(size=n)
    return sites, values


def by_hand(sites, values, at, kind, reach, sill, noise):
    """The bordered system solved for every place."""
    n = len(sites)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = sill * correlation(kind, cdist(sites, sites) / reach)
    system[np.arange(n), np.arange(n)] += noise
    system[n, n] = 0
    found = []
    for place in at:
        right = np.ones(n + 1)
        right[:n] = sill * correlation(kind, cdist(sites, [place])[:, 0] / reach)
        solved = np.linalg.solve(system, right)
        found.append((solved[:n] @ values, sill - solved[:n] @ right[:n] - solved[n]))
    return np.array(found)


@pytest.mark.covers("kriging")
@pytest.mark.parametrize("kind", ["exponential", "spherical", "matern", "gaussian"])
@pytest.mark.parametrize("n_neighbors", [None, 25])
def test_estimate_and_variance_solve_the_kriging_system(rng, kind, n_neighbors):
    sites, values = some_sites(rng)
    model = Kriging(
        kind, range=2.0, sill=1.5, nugget=0.05, standardize=False, n_neighbors=n_neighbors
    ).fit(sites, values)
    at = rng.uniform(-1, 6, (15, 2))
    expected = by_hand(sites, values, at, kind, 2.0, 1.5, 0.05)
    np.testing.assert_allclose(model.predict(at), expected[:, 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict_std(at) ** 2, expected[:, 1], rtol=1e-5, atol=1e-6)


@pytest.mark.covers("kriging")
def test_nearest_sites_give_the_system_of_those_alone(rng):
    sites, values = some_sites(rng, 60)
    model = Kriging(range=2.0, sill=1.0, nugget=0.1, standardize=False, n_neighbors=8)
    model.fit(sites, values)
    at = rng.uniform(0, 5, (6, 2))
    for place, estimate in zip(at, model.predict(at)):
        near = np.argsort(cdist(sites, [place])[:, 0])[:8]
        expected = by_hand(sites[near], values[near], [place], "exponential", 2.0, 1.0, 0.1)
        assert estimate == pytest.approx(expected[0, 0], rel=1e-6)


@pytest.mark.covers("kriging")
def test_all_of_few_sites_are_used_and_the_nearest_of_many(rng):
    sites, values = some_sites(rng, 60)
    settings = {"range": 2.0, "sill": 1.0, "nugget": 0.1, "standardize": False}
    at = rng.uniform(0, 5, (6, 2))
    of_all, chosen = (
        Kriging(**settings, n_neighbors=k).fit(sites, values).predict(at) for k in (None, "auto")
    )
    np.testing.assert_array_equal(of_all, chosen)
    sites = rng.uniform(0, 5, (2001, 2))
    values = np.sin(sites[:, 0])
    nearest, chosen = (
        Kriging(**settings, n_neighbors=k).fit(sites, values).predict(at) for k in (100, "auto")
    )
    np.testing.assert_array_equal(nearest, chosen)


@pytest.mark.covers("kriging")
def test_without_nugget_the_surface_passes_through_every_value(rng):
    sites, values = some_sites(rng)
    model = Kriging(nugget=0.0).fit(sites, values)
    np.testing.assert_allclose(model.predict(sites), values, atol=1e-4)
    assert (model.predict_std(sites) < 1e-3 * values.std()).all()
    far = model.predict_std([[1e6, 1e6]])[0] ** 2
    assert far >= model.covariance_["sill"]


@pytest.mark.covers("kriging")
def test_rows_at_one_site_count_as_their_mean_with_less_noise(rng):
    sites, values = some_sites(rng, 12)
    settings = {"range": 1.0, "sill": 1.0, "nugget": 0.3}
    twice = Kriging(**settings).fit(
        np.vstack([sites, sites[:1]]), np.append(values, values[0] + 2.0)
    )
    weights = np.ones(12)
    weights[0] = 2
    merged = values.copy()
    merged[0] += 1.0
    once = Kriging(**settings).fit(sites, merged, sample_weight=weights)
    at = rng.uniform(0, 5, (5, 2))
    np.testing.assert_allclose(twice.predict(at), once.predict(at), rtol=1e-6)


@pytest.mark.covers("kriging")
def test_the_variogram_is_half_the_mean_squared_difference_of_pairs(rng):
    sites, values = some_sites(rng, 15)
    weights = rng.integers(1, 4, 15)
    found = variogram(sites, values, weights, n_bins=4)
    apart = cdist(sites, sites)
    edges = np.linspace(0, apart.max() / 2, 5)
    heights = []
    for low, high in itertools.pairwise(edges):
        total = mass = 0.0
        for i in range(15):
            for j in range(i):
                if low < apart[i, j] <= high:
                    mass += weights[i] * weights[j]
                    total += weights[i] * weights[j] * (values[i] - values[j]) ** 2 / 2
        if mass:
            heights.append(total / mass)
    np.testing.assert_allclose(found.semivariance, heights)


@pytest.mark.covers("kriging")
@pytest.mark.parametrize("kind", ["exponential", "gaussian", "spherical", "matern"])
def test_the_fit_of_a_variogram_finds_its_own_model(kind):
    from gnomon.bayes import Variogram

    h = np.linspace(0.1, 4, 25)
    exact = 0.2 + 1.3 * (1 - correlation(kind, h / 1.1))
    found = fit_variogram(Variogram(h, exact, np.ones(25)), kind)
    assert found.range == pytest.approx(1.1, rel=0.1)
    fitted = found.nugget + found.sill * (1 - correlation(kind, h / found.range))
    np.testing.assert_allclose(fitted, exact, atol=0.03)


@pytest.mark.covers("kriging")
def test_expected_improvement_is_its_integral(rng):
    for mean, deviation, best in rng.normal(size=(5, 3)):
        spread = abs(deviation) + 0.1
        law = stats.norm(mean, spread)
        exact, _ = integrate.quad(
            lambda f, law=law, best=best: (f - best) * law.pdf(f),
            best,
            max(best, mean) + 12 * spread,
        )
        assert expected_improvement([mean], [spread], best)[0] == pytest.approx(exact, abs=1e-7)


@pytest.mark.covers("kriging")
def test_rules_of_the_next_sample_choose_what_they_say(rng):
    sites, values = some_sites(rng)
    model = Kriging(nugget=0.0).fit(sites, values)
    candidates = rng.uniform(0, 5, (200, 2))
    estimate, deviation = model.predict(candidates), model.predict_std(candidates)
    assert model.next_sample(candidates, "maximum").place == estimate.argmax()
    assert model.next_sample(candidates, "maximum", minimize=True).place == estimate.argmin()
    assert model.next_sample(candidates, "variance").place == deviation.argmax()
    bound = model.next_sample(candidates, "upper-bound", strength=3.0)
    assert bound.place == (estimate + 3 * deviation).argmax()
    gain = model.next_sample(candidates).score
    np.testing.assert_allclose(gain, expected_improvement(estimate, deviation, values.max()))
    with pytest.raises(ValueError, match="rule"):
        model.next_sample(candidates, "guess")


@pytest.mark.covers("kriging")
def test_sampling_by_expected_improvement_climbs_to_the_top():
    def hill(x):
        return -((x[:, 0] - 0.7) ** 2) - (x[:, 1] - 0.2) ** 2

    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 2), axis=-1).reshape(-1, 2)
    sites = grid[[0, 20, 220, 420, 440]]
    for _ in range(15):
        model = Kriging("gaussian", nugget=0.0, range=1.0, sill=0.5, standardize=False)
        model.fit(sites, hill(sites))
        chosen = model.next_sample(grid).place
        sites = np.vstack([sites, grid[chosen]])
    assert hill(sites).max() > -0.01


@pytest.mark.covers("kriging")
def test_all_pairs_of_many_sites_are_refused_before_they_are_allocated(rng):
    rows = rng.normal(size=(3000, 2))
    with (
        gnomon.config(memory_limit=50_000_000),
        pytest.raises(MemoryLimitError, match="n_neighbors"),
    ):
        Kriging(n_neighbors=None).fit(rows, rows[:, 0])
