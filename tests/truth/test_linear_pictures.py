"""Pictures of linear models show the figures of the results that they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linear import (
    Lasso,
    LinearRegression,
    RobustRegression,
    box_cox,
    influence,
)
from gnomon.show.linear import (
    box_cox_profile,
    coefficient_path,
    fit_over_scatter,
    influence_plot,
    penalty_pressure,
    robust_losses,
    validation_curve,
)

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


@both_themes
@pytest.mark.covers("leverage-residual-cook-plot")
def test_the_worst_row_is_numbered_where_it_lies(theme, rng):
    x = np.append(rng.uniform(size=30), 10.0)
    y = np.append(rng.normal(size=30), 50.0)
    y[30] = -50.0
    y[:30] += 3 * x[:30]
    found = influence(x[:, None], y)
    figure = influence_plot(found, theme=theme)
    numbered = next(trace for trace in figure.data if trace.name == "greatest Cook's distance")
    worst = int(found.suspects(1)[0])
    assert numbered.text[0] == str(worst)
    assert numbered.x[0] == found.leverage[worst]
    assert len({trace.name for trace in figure.data}) == 4


@both_themes
@pytest.mark.covers("coefficient-path-plot", "cv-curve-with-bars")
def test_paths_and_their_validation_show_every_penalty(theme, rng):
    X = rng.normal(size=(60, 12))
    y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    path = Lasso(random_state=0).path(X, y, n_alphas=20, cv=5)
    lines = coefficient_path(path, most=3, theme=theme).data
    assert len(lines) == np.count_nonzero(path.coefficients.any(axis=0))
    assert sum(trace.showlegend for trace in lines) == 3
    curve = validation_curve(path, theme=theme)
    np.testing.assert_array_equal(curve.data[0].error_y.array, path.standard_errors)
    marked = sorted(shape.x0 for shape in curve.layout.shapes)
    assert marked == sorted([path.alpha_1se, path.alpha_min])


@pytest.mark.covers("cv-curve-with-bars")
def test_a_path_without_validation_has_no_curve(rng):
    path = Lasso().path(rng.normal(size=(20, 3)), rng.normal(size=20), n_alphas=4)
    with pytest.raises(ValueError, match="cv"):
        validation_curve(path)


@both_themes
@pytest.mark.covers("fit-over-scatter")
def test_several_fits_are_drawn_over_the_points_with_their_r2(theme, rng):
    x = rng.normal(size=40)
    y = 2 * x + rng.normal(size=40)
    models = {
        "least squares": LinearRegression().fit(x[:, None], y),
        "Huber": RobustRegression().fit(x[:, None], y),
    }
    figure = fit_over_scatter(x, y, models, theme=theme)
    assert [trace.name for trace in figure.data] == ["rows", *models]
    assert f"{models['Huber'].score(x[:, None], y):.3f}" in figure.layout.title.text


@both_themes
@pytest.mark.covers("box-cox-profile")
def test_the_profile_of_powers_shades_its_interval(theme, rng):
    x = rng.uniform(1, 3, size=(50, 1))
    profile = box_cox(x, np.exp(x[:, 0] + 0.2 * rng.normal(size=50)))
    figure = box_cox_profile(profile, theme=theme)
    assert max(figure.data[0].y) == 0
    assert figure.layout.shapes[0].x0 == profile.low


@both_themes
@pytest.mark.covers("penalty-pressure-plot", "influence-function")
def test_pressures_and_influences_are_the_slopes_of_their_curves(theme):
    for figure, first in ((penalty_pressure(theme=theme), 2), (robust_losses(theme=theme), 3)):
        curves = [np.array(trace.y, dtype=float) for trace in figure.data]
        x = np.array(figure.data[0].x, dtype=float)
        for place in range(0, len(curves), first):
            slope = np.gradient(curves[place], x)
            away = np.abs(x) > 0.2
            gap = np.abs(slope - curves[place + 1])[away][1:-1]
            assert np.nanquantile(gap, 0.95) < 0.05
