"""Pictures of densities and posteriors show the numbers that they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gnomon.bayes import BetaBinomial, DirichletMultinomial, Kriging
from gnomon.density import Dirichlet, Mixture, Normal, StudentT
from gnomon.engine.errors import DataError
from gnomon.show import density_curves, kriging_surface, posterior_curves, simplex

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


@both_themes
@pytest.mark.covers("density-family-plot")
def test_curves_are_the_densities_and_a_mixture_has_its_parts_below(theme):
    parts = [Normal().member(mean=0, variance=1), Normal().member(mean=2, variance=0.25)]
    mixture = Mixture(parts, [0.5, 0.5])
    shown = {"heavy tails": StudentT(2.0), "mixture": mixture}
    figure = density_curves(shown, -4, 4, cumulated=True, threshold=1.0, theme=theme)
    lines = {trace.name: trace for trace in figure.data if trace.name}
    for name, member in shown.items():
        np.testing.assert_allclose(lines[name].y, member.density(lines[name].x))
    thin = [trace for trace in figure.data if trace.line.dash == "dot"]
    total = sum(np.asarray(trace.y) for trace in thin)
    np.testing.assert_allclose(total, mixture.density(thin[0].x))
    beyond = float(np.diff(stats.t.cdf([1.0, 4.0], 2))[0])
    assert f"{beyond:.3g}" in figure.layout.title.text
    summed = [trace for trace in figure.data if trace.xaxis == "x2"]
    assert summed[1].y[-1] == pytest.approx(1.0, abs=2e-3)
    with pytest.raises(DataError, match="low < high"):
        density_curves({}, 0, 1)


@both_themes
@pytest.mark.covers("prior-likelihood-posterior")
def test_the_shaded_interval_holds_its_mass_and_the_likelihood_unit_area(theme, rng):
    prior = BetaBinomial(2.0, 2.0)
    x = rng.integers(0, 2, 30)
    yes = x.sum()
    beliefs = {"prior": prior, "10 rows": prior.update(x[:10]), "30 rows": prior.update(x)}
    figure = posterior_curves(
        beliefs,
        0,
        1,
        likelihood=lambda t: t**yes * (1 - t) ** (30 - yes),
        confidence_level=0.8,
        theme=theme,
    )
    band = next(trace for trace in figure.data if trace.name == "80% credible")
    half = len(band.x) // 2
    mass = np.trapezoid(band.y[:half], band.x[:half])
    assert mass == pytest.approx(0.8, abs=2e-3)
    dashed = next(trace for trace in figure.data if trace.name.startswith("likelihood"))
    assert np.trapezoid(dashed.y, dashed.x) == pytest.approx(1.0)
    curve = next(trace for trace in figure.data if trace.name == "30 rows")
    np.testing.assert_allclose(curve.y, beliefs["30 rows"].density(curve.x))


@both_themes
@pytest.mark.covers("simplex-plot")
def test_a_corner_is_certainty_and_the_center_equal_shares(theme):
    member = Dirichlet(3).member(alpha=[2.0, 3.0, 4.0])
    points = np.vstack([np.eye(3), np.full((1, 3), 1 / 3)])
    figure = simplex(member, points=points, names=["a", "b", "c"], theme=theme)
    dots = next(trace for trace in figure.data if trace.name == "points")
    height = np.sqrt(3) / 2
    np.testing.assert_allclose(dots.x, [0, 1, 0.5, 0.5])
    np.testing.assert_allclose(dots.y, [0, 0, height, height / 3], atol=1e-12)
    heat = figure.data[0]
    i, j = np.abs(heat.y - height / 3).argmin(), np.abs(heat.x - 0.5).argmin()
    assert heat.z[i][j] == pytest.approx(member.density([[1 / 3] * 3])[0], rel=0.05)
    assert np.isnan(heat.z[-1][0])
    assert [each.text for each in figure.layout.annotations] == ["a", "b", "c"]
    simplex(DirichletMultinomial([1.8, 1.8, 2.8]), theme=theme)
    with pytest.raises(DataError, match="three probabilities"):
        simplex(points=[[0.5, 0.6, 0.7]])


@both_themes
@pytest.mark.covers("kriging-surface-picture")
def test_the_surface_its_pins_and_the_next_sample_are_the_models(theme, rng):
    sites = rng.uniform(0, 4, (15, 2))
    model = Kriging(nugget=0.0).fit(sites, np.sin(sites[:, 0]) + sites[:, 1])
    figure = kriging_surface(model, n_cells=12, rule="variance", theme=theme)
    surface, spread = figure.data[:2]
    grid = np.stack(np.meshgrid(surface.x, surface.y), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(np.ravel(surface.z), model.predict(grid))
    np.testing.assert_allclose(np.ravel(spread.z), model.predict_std(grid))
    pins = next(trace for trace in figure.data if trace.name == "measured")
    found = np.column_stack([pins.x, pins.y])
    np.testing.assert_allclose(found[np.lexsort(found.T)], sites[np.lexsort(sites.T)])
    star = next(trace for trace in figure.data if (trace.name or "").startswith("next"))
    best = grid[np.ravel(spread.z).argmax()]
    np.testing.assert_allclose([star.x[0], star.y[0]], best)
    with pytest.raises(DataError, match="two columns"):
        kriging_surface(Kriging().fit(sites[:, :1], sites[:, 1]))
