"""Kernel, window, neighbour and box densities against their sums written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp
from sklearn import neighbors

from gnomon.density import (
    KernelDensity,
    NearestNeighborDensity,
    covariance_matrix,
    grid_density,
    histogram_density,
    improved_sheather_jones,
)
from gnomon.engine.errors import DataError, GnomonWarning

SAMPLE = np.array([1, 2, 2.5, 4, 7])[:, None]


def by_hand(kernel, rows, weights, h, at):
    """sum_i w_i prod_j K((x_j - x_ij) / h_j) / h_j, all pairs at once."""
    z = (at[:, None, :] - rows[None, :, :]) / h
    if kernel == "gaussian":
        bumps = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    elif kernel == "window":
        bumps = (np.abs(z) <= 0.5).astype(float)
    else:
        bumps = 0.75 * np.maximum(1 - z**2, 0)
    return (bumps / h).prod(axis=2) @ (weights / weights.sum())


@pytest.mark.covers("kernel-density-gaussian", "window-density")
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "window", "epanechnikov-product"])
def test_a_kernel_density_is_the_sum_of_its_bumps(rng, kernel, d):
    rows, weights = rng.normal(size=(80, d)), rng.integers(1, 4, 80).astype(float)
    h = rng.uniform(0.5, 2.0, d)
    model = KernelDensity(kernel=kernel, bandwidth=h, tol=1e-14).fit(rows, sample_weight=weights)
    at = rng.normal(size=(60, d))
    expected = by_hand(kernel, rows, weights, h, at)
    np.testing.assert_allclose(np.exp(model.score_samples(at)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-9])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_leaving_out_far_rows_costs_at_most_the_tolerance_everywhere(rng, d, tol):
    rows = np.concatenate([rng.normal(size=(900, d)), rng.normal(size=(300, d)) * 30, [[1e3] * d]])
    weights = rng.uniform(0, 2, len(rows))
    at = np.concatenate([rows[::7], rng.normal(size=(50, d)) * 40, rng.normal(size=(5, d)) * 1e4])
    model = KernelDensity(bandwidth=1.0, tol=tol).fit(rows, sample_weight=weights)
    shares = np.log(weights / weights.sum())
    squares = ((at[:, None, :] - rows) ** 2).sum(axis=2)
    expected = logsumexp(shares - squares / 2, axis=1) - d / 2 * np.log(2 * np.pi)
    found = model.score_samples(at)
    digits = 1e-12 * squares.min(axis=1)
    assert (np.abs(found - expected) <= 1.01 * tol + digits + 1e-11).all()


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov-product", "linear"])
def test_densities_do_not_depend_on_how_many_are_asked_for_at_once(rng, kernel):
    rows, at = rng.normal(size=(700, 3)), rng.normal(size=(600, 3))
    model = KernelDensity(kernel=kernel, n_jobs=2).fit(rows)
    alone = np.concatenate([model.score_samples(at[i : i + 1]) for i in range(0, 600, 60)])
    assert np.array_equal(model.score_samples(at)[::60], alone)


@pytest.mark.covers("window-density", "kernel-density-gaussian", "knn-density")
def test_001_densities_of_five_numbers_at_two():
    at = [[2.0]]
    window = KernelDensity(kernel="window", bandwidth=2.0).fit(SAMPLE).score_samples(at)
    assert np.exp(window[0]) == pytest.approx(0.3)
    smooth = KernelDensity(bandwidth=1.0).fit(SAMPLE).score_samples(at)
    assert np.exp(smooth[0]) == pytest.approx(0.209394, abs=1e-6)
    assert NearestNeighborDensity(SAMPLE, 3)(at)[0] == pytest.approx(0.3)
    assert NearestNeighborDensity(SAMPLE, 3, count_self=False)(at)[0] == pytest.approx(0.15)


@pytest.mark.covers("window-density")
def test_the_window_is_a_box_and_not_a_ball():
    model = KernelDensity(kernel="window", bandwidth=2.0).fit([[0.0, 0.0]])
    assert np.exp(model.score_samples([[0.95, 0.95]])[0]) == pytest.approx(0.25)
    assert model.score_samples([[1.05, 0.0]])[0] == -np.inf


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("kernel", ["gaussian", "window", "epanechnikov-product"])
def test_a_kernel_density_integrates_to_one(rng, kernel):
    model = KernelDensity(kernel=kernel).fit(rng.normal(size=(25, 1)))
    places = np.linspace(-12, 12, 20_001)
    mass = np.trapezoid(np.exp(model.score_samples(places[:, None])), places)
    assert mass == pytest.approx(1.0, abs=5e-3)


@pytest.mark.covers("kernel-density-gaussian")
def test_densities_far_from_all_rows_do_not_underflow(rng):
    model = KernelDensity(bandwidth=1.0).fit(SAMPLE)
    expected = stats.norm.logpdf(1000.0, 7.0, 1.0) - np.log(5)
    assert model.score_samples([[1000.0]])[0] == pytest.approx(expected)


@pytest.mark.covers("kernel-density-gaussian")
def test_bandwidths_are_in_the_units_of_the_data(rng):
    rows = rng.normal(size=(50, 2))
    for rule in ("silverman-scaled", "scott-scaled", "leave-one-out"):
        one = KernelDensity(bandwidth=rule).fit(rows).bandwidth_
        other = KernelDensity(bandwidth=rule).fit(1000 * rows).bandwidth_
        np.testing.assert_allclose(other, 1000 * one, rtol=1e-3)
    n, deviation = 50, rows.std(axis=0)
    scott = KernelDensity(bandwidth="scott-scaled").fit(rows).bandwidth_
    np.testing.assert_allclose(scott, deviation * n ** (-1 / 6))
    silverman = KernelDensity(bandwidth="silverman-scaled").fit(rows).bandwidth_
    np.testing.assert_allclose(silverman, deviation * n ** (-1 / 6))


@pytest.mark.covers("kernel-density-gaussian")
def test_leave_one_out_maximizes_the_likelihood_of_rows_left_out(rng):
    rows = np.concatenate([rng.normal(-4, 0.5, 40), rng.normal(4, 0.5, 40)])[:, None]

    def left_out(h):
        z = (rows - rows.T) / h
        bumps = np.exp(-0.5 * z**2) / (h * np.sqrt(2 * np.pi))
        np.fill_diagonal(bumps, 0)
        return np.log(bumps.sum(axis=1) / 79).sum()

    chosen = float(KernelDensity(bandwidth="leave-one-out").fit(rows).bandwidth_[0])
    best = max(left_out(h) for h in np.geomspace(0.05, 3, 400))
    assert left_out(chosen) >= best - 0.5
    assert chosen < KernelDensity(bandwidth="silverman-scaled").fit(rows).bandwidth_[0]


@pytest.mark.covers("kernel-density-gaussian")
def test_the_improved_rule_keeps_bumps_apart_that_silvermans_smears(rng):
    x = np.concatenate([rng.normal(-5, 0.5, 400), rng.normal(5, 0.5, 400)])
    improved = improved_sheather_jones(x)
    own = 1.06 * 0.5 * 400**-0.2
    assert own / 2 < improved < 2 * own
    assert KernelDensity(bandwidth="silverman-scaled").fit(x[:, None]).bandwidth_[0] > 2 * improved
    normal = improved_sheather_jones(rng.normal(size=2000))
    assert normal == pytest.approx(1.06 * 2000**-0.2, rel=0.4)
    chosen = KernelDensity(bandwidth="improved-sheather-jones").fit(x[:, None]).bandwidth_[0]
    assert chosen == pytest.approx(improved, rel=0.02)


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("n", [300, 20_000])
def test_the_improved_rule_does_not_see_rounding_as_spikes(rng, n):
    x = 10 * rng.normal(size=n)
    for step in (0.1, 1.0):
        rounded = improved_sheather_jones(step * np.round(x / step))
        assert rounded == pytest.approx(improved_sheather_jones(x), rel=0.5)
    assert improved_sheather_jones(rng.poisson(4.0, n)) > 0.15


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("d", [1, 2])
def test_a_grid_too_coarse_for_the_bandwidth_is_a_density_and_says_so(rng, d):
    rows = np.vstack([rng.normal(size=(200, d)), np.full((1, d), 1e4)])
    with pytest.warns(GnomonWarning, match="step of .* wider than the bandwidth"):
        found = grid_density(rows, 0.3, n_points=64)
    mass = found.density
    for axis in found.axes[::-1]:
        mass = np.trapezoid(mass, axis)
    assert mass == pytest.approx(1.0, abs=1e-6)


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("d", [1, 2])
def test_a_grid_by_fft_is_the_direct_sum(rng, d):
    rows, weights = rng.normal(size=(60, d)), rng.uniform(0.5, 2, 60)
    found = grid_density(rows, 0.6, n_points=401 if d == 1 else 161, sample_weight=weights)
    points = np.stack(np.meshgrid(*found.axes, indexing="ij"), axis=-1).reshape(-1, d)
    expected = by_hand("gaussian", rows, weights, np.full(d, 0.6), points)
    np.testing.assert_allclose(found.density.ravel(), expected, atol=2e-3 * expected.max())
    mass = found.density
    for axis in found.axes[::-1]:
        mass = np.trapezoid(mass, axis)
    assert mass == pytest.approx(1.0, abs=2e-3)


@pytest.mark.covers("kernel-density-gradient")
def test_the_gradient_is_that_of_finite_differences(rng):
    rows = rng.normal(size=(40, 2))
    model = KernelDensity(bandwidth=[0.7, 1.2], tol=1e-14).fit(rows)
    at = rng.normal(size=(10, 2))
    found = model.gradient(at)
    for j in range(2):
        step = np.zeros(2)
        step[j] = 1e-5
        ahead, behind = (np.exp(model.score_samples(at + s)) for s in (step, -step))
        np.testing.assert_allclose(found[:, j], (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-8)
    h = 0.9
    one = KernelDensity(bandwidth=h).fit(rows)
    z = (rows[None] - at[:, None]) / h
    bumps = np.exp(-0.5 * (z**2).sum(axis=2)) / (2 * np.pi)
    exact = np.einsum("mn,mnd->md", bumps, rows[None] - at[:, None]) / (40 * h**4)
    np.testing.assert_allclose(one.gradient(at), exact, rtol=1e-9)
    with pytest.raises(ValueError, match="gaussian"):
        KernelDensity(kernel="window").fit(rows).gradient(at)


@pytest.mark.covers("kernel-density-gaussian")
@pytest.mark.parametrize("kernel", ["gaussian", "window", "epanechnikov-product"])
def test_samples_follow_the_density(rng, kernel):
    model = KernelDensity(kernel=kernel, bandwidth=1.5).fit(SAMPLE)
    drawn = model.sample(3000, rng)[:, 0]
    places = np.linspace(-8, 16, 4001)
    line = np.exp(model.score_samples(places[:, None]))
    below = np.concatenate([[0], integrate.cumulative_trapezoid(line, places)])
    assert stats.kstest(drawn, lambda x: np.interp(x, places, below / below[-1])).pvalue > 1e-7


@pytest.mark.covers("kernel-density-gaussian")
def test_wrong_bandwidths_are_refused(rng):
    rows = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="one column"):
        KernelDensity(bandwidth="improved-sheather-jones").fit(rows)
    with pytest.raises(ValueError, match="2 of them"):
        KernelDensity(bandwidth=[1.0, 2.0, 3.0]).fit(rows)


@pytest.mark.covers("knn-density")
def test_neighbor_densities_are_k_over_n_times_the_balls_volume(rng):
    rows, at = rng.normal(size=(50, 3)), rng.normal(size=(9, 3))
    apart = np.sort(np.linalg.norm(at[:, None] - rows, axis=2), axis=1)[:, 6]
    expected = 7 / (50 * 4 / 3 * np.pi * apart**3)
    np.testing.assert_allclose(NearestNeighborDensity(rows, 7)(at), expected)
    own = NearestNeighborDensity(rows, 7, count_self=False)(rows[:5])
    apart = np.sort(np.linalg.norm(rows[:5, None] - rows, axis=2), axis=1)[:, 7]
    np.testing.assert_allclose(own, 7 / (50 * 4 / 3 * np.pi * apart**3))
    with pytest.raises(DataError, match="n_neighbors"):
        NearestNeighborDensity(rows, 51)


@pytest.mark.covers("histogram-density")
def test_box_densities_are_numpys_and_integrate_to_one(rng):
    rows = rng.normal(size=(300, 2))
    edges = [np.array([-9, -0.5, 0.5, 9]), np.array([-9, 0, 9])]
    found = histogram_density(rows, edges)
    expected, _ = np.histogramdd(rows, edges, density=True)
    middles = [(e[1:] + e[:-1]) / 2 for e in edges]
    points = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(found.density(points), expected.ravel())
    assert found.density([[99.0, 0.0]])[0] == 0
    assert found.shares.sum() == pytest.approx(1)


@pytest.mark.covers("histogram-density")
def test_many_empty_boxes_are_warned_of_without_being_stored(rng):
    rows = rng.normal(size=(100, 12))
    with pytest.warns(GnomonWarning, match="boxes are empty"):
        found = histogram_density(rows, 10)
    assert found.n_boxes == 1e12
    assert len(found.boxes) <= 100
    with pytest.raises(DataError, match="outside"):
        histogram_density(rows[:, :1], [[0, 0.1]])
    assert len(histogram_density(rows[:, :1], np.int64(5)).edges[0]) == 6


@pytest.mark.covers("kernel-density-gaussian")
def test_columns_that_do_not_vary_tell_no_bandwidth_and_it_is_said(rng):
    rows = np.c_[rng.normal(size=20), np.ones(20)]
    with pytest.warns(GnomonWarning, match=r"columns \[1\] do not vary"):
        KernelDensity(bandwidth="silverman-scaled").fit(rows)
    with pytest.warns(GnomonWarning, match="do not vary"):
        improved_sheather_jones(np.ones(9))


def test_a_table_with_text_is_refused_by_the_name_of_the_column():
    table = {"a": [1.0, 2.0], "city": ["x", "y"]}
    for refusing in (covariance_matrix, grid_density, histogram_density):
        with pytest.raises(DataError, match="column 'city' of rows holds"):
            refusing(pd.DataFrame(table))


RADIAL = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.mark.parametrize("kernel", RADIAL)
def test_a_radial_kernel_of_two_columns_integrates_to_one(kernel):
    model = KernelDensity(kernel=kernel, bandwidth=0.7).fit([[0.0, 0.0]])
    steps = np.linspace(-12, 12, 1201)
    places = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    mass = np.exp(model.score_samples(places)).sum() * (steps[1] - steps[0]) ** 2
    assert mass == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("kernel", RADIAL)
def test_radial_kernels_are_scikit_learns(rng, kernel, metric):
    rows, at, weights = rng.normal(size=(70, 3)), rng.normal(size=(20, 3)), rng.random(70) + 0.1
    given = {"kernel": kernel, "metric": metric, "bandwidth": 1.3}
    ours = KernelDensity(**given).fit(rows, sample_weight=weights)
    theirs = neighbors.KernelDensity(**given).fit(rows, sample_weight=weights)
    np.testing.assert_allclose(
        np.exp(ours.score_samples(at)), np.exp(theirs.score_samples(at)), atol=1e-12
    )
    assert np.isclose(ours.score(rows), theirs.score(rows))
