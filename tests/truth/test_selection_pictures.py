"""Pictures of selection and sampling show their numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gnomon import show
from gnomon.sample import (
    GaussianWalk,
    Metropolis,
    gaussian_mixture,
    rejection_box,
    sample_chains,
)
from gnomon.select import (
    Backward,
    FilterSelector,
    RecursiveElimination,
    WrapperSelector,
    rank_features,
    selection_stability,
)

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(100, 5))
    return X, X[:, 0] - X[:, 3] + rng.normal(size=100)


@pytest.fixture
def target():
    return gaussian_mixture([[0.0, 0.0], [2.0, 1.0]], np.array([np.eye(2)] * 2))


def run(target, rng, width=1.5):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sample_chains(
            target, Metropolis(GaussianWalk(width), adapt=False), 400, random_state=rng
        )


@pytest.mark.covers("feature-elimination-chart")
@THEMES
def test_scores_stand_in_the_order_of_removal_with_their_errors(problem, theme):
    found = WrapperSelector(search=Backward(), random_state=0).fit(*problem)
    line = show.selection_trace(found, theme=theme).data[0]
    np.testing.assert_allclose(line.y, found.trace_.scores)
    np.testing.assert_allclose(line.error_y.array, found.trace_.errors)
    removed = [f"x{j}" for j in found.trace_.features if j >= 0]
    assert [label.split()[-1] for label in line.x[1:]] == removed
    no_folds = WrapperSelector(search=Backward(), criterion="bic").fit(*problem)
    assert "No error bars" in show.selection_trace(no_folds, theme=theme).layout.title.text


@THEMES
def test_rankings_stability_and_elimination_are_drawn_as_they_are(problem, theme):
    ranking = rank_features(*problem)
    bar = show.feature_ranking(ranking, most=3, theme=theme)
    assert list(bar.data[0].y) == ranking.names[:3]
    assert "2 more columns" in bar.layout.title.text
    steady = selection_stability(FilterSelector(2), *problem, n_resamples=8)
    shares = show.selection_stability(steady, theme=theme).data[0]
    np.testing.assert_allclose(sorted(shares.y), sorted(steady.chosen.mean(axis=0)))
    chosen = RecursiveElimination(step=1, random_state=0).fit(*problem)
    curve = show.elimination_curve(chosen, theme=theme)
    np.testing.assert_allclose(curve.data[0].y, chosen.scores_)
    assert curve.data[1].x[0] == chosen.support_.sum()


@pytest.mark.covers("mcmc-path-picture")
@THEMES
def test_paths_traces_and_widths_show_the_draws(target, theme, rng):
    chains = run(target, rng)
    path = show.chain_path(chains, target, n_steps=50, theme=theme)
    np.testing.assert_array_equal(path.data[2].x, chains.draws[0, :50, 0])
    assert len(path.data[3].x) == chains.flat.shape[0]
    traces = show.chain_traces(chains, "x1", theme=theme)
    np.testing.assert_array_equal(traces.data[0].y, chains.draws[0, :, 1])
    ranks = np.sum([traces.data[3 * k + 2].y for k in range(4)], axis=0)
    assert ranks.sum() == 1600
    runs = {"small": run(target, rng, 0.1), "large": run(target, rng, 20.0)}
    widths = show.proposal_widths(runs, target, theme=theme)
    assert f"{runs['small'].acceptance[0]:.2f}" in widths.layout.annotations[0].text
    density = show.posterior_density(chains, "x0", theme=theme)
    np.testing.assert_allclose(density.data[-1].y, chains.density("x0")[1])


@pytest.mark.covers("rejection-sampling-picture")
@THEMES
def test_points_below_the_curve_are_the_accepted_ones(theme, rng):
    def density(x):
        return x * (1 - x)

    found = rejection_box(density, (0, 1), 300, random_state=rng)
    rejected, accepted, curve = show.rejection_points(found, density, theme=theme).data
    assert (np.asarray(accepted.y) <= density(np.asarray(accepted.x)) + 1e-12).all()
    assert (np.asarray(rejected.y) >= density(np.asarray(rejected.x)) - 1e-12).all()
    assert len(accepted.x) + len(rejected.x) == len(found.tried)
    np.testing.assert_allclose(curve.y, density(np.asarray(curve.x)))
