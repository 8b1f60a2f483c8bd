"""Pictures of bent linear models show what the models and results hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.linear import (
    MARS,
    BayesianLocallyWeightedRegression,
    LocalLinearization,
    LocallyWeightedRegression,
    PolynomialRegression,
    TransformedRegression,
)
from gnomon.show import both_coordinates, degree_curve, hinge_parts, local_fit, tangent

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def trace(figure, name: str):
    return next(each for each in figure.data if name in each.name)


def wave(rng, n=60):
    x = np.sort(rng.uniform(0, 10, n))
    return x, np.sin(x) + 0.2 * rng.normal(size=n)


@both_themes
@pytest.mark.covers("locally-weighted-picture")
def test_points_are_shaded_by_significance_and_the_local_line_meets_the_answer(theme, rng):
    x, y = wave(rng)
    model = LocallyWeightedRegression(0.5).fit(x[:, None], y)
    figure = local_fit(model, 4.0, theme=theme)
    rows = trace(figure, "rows")
    counts = model.significances([4.0])
    np.testing.assert_allclose(rows.x, x)
    np.testing.assert_allclose(rows.y, y)
    np.testing.assert_allclose(rows.customdata, counts)
    assert (np.diff(np.array(rows.marker.opacity)[np.argsort(counts)]) >= 0).all()
    line, answer = trace(figure, "local line"), trace(figure, "answer at")
    between = np.interp(4.0, line.x, line.y)
    np.testing.assert_allclose(between, answer.y[0], rtol=1e-6, atol=1e-8)
    springs = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert len(springs) == (counts > 0.05).sum()
    curve = trace(figure, "answers for all")
    np.testing.assert_allclose(curve.y, model.predict(np.array(curve.x)[:, None]))


@pytest.mark.covers("locally-weighted-picture")
def test_a_bayesian_model_shows_its_interval(rng):
    x, y = wave(rng)
    model = BayesianLocallyWeightedRegression(0.5).fit(x[:, None], y)
    band = trace(local_fit(model, 4.0, confidence_level=0.8), "80% interval")
    half = len(band.x) // 2
    expected = model.predict_interval(np.array(band.x[:half])[:, None], 0.8)
    np.testing.assert_allclose(band.y[:half], expected[:, 0])
    np.testing.assert_allclose(trace(local_fit(model, 4.0), "rows").y, y)


def test_a_model_of_two_columns_has_no_such_picture(rng):
    model = LocallyWeightedRegression(1.0).fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    with pytest.raises(DataError, match="one column"):
        local_fit(model, 0.0)


@both_themes
@pytest.mark.covers("polynomial-regression")
def test_the_degree_curve_marks_the_least_error(theme, rng):
    x, y = wave(rng)
    path = PolynomialRegression().fit(x[:, None], y).validation_
    figure = degree_curve(path, theme=theme)
    left_out = trace(figure, "left out")
    np.testing.assert_allclose(left_out.y, path.errors)
    np.testing.assert_allclose(left_out.error_y.array, path.standard_errors)
    assert figure.layout.shapes[0].x0 == path.degree_min


@both_themes
@pytest.mark.covers("mars")
def test_parts_of_an_additive_model_add_up_to_its_predictions(theme, rng):
    rows = rng.uniform(-1, 1, (200, 2))
    model = MARS().fit(rows, np.abs(rows[:, 0]) + np.maximum(rows[:, 1], 0.3))
    figure = hinge_parts(model, rows, theme=theme)
    total = np.full(200, model.predict(rows).mean())
    for j in range(2):
        part = trace(figure, f"x{j}")
        total += np.interp(rows[:, j], part.x, part.y)
    np.testing.assert_allclose(total, model.predict(rows), atol=1e-6)


@both_themes
@pytest.mark.covers("variable-transform")
def test_residuals_are_drawn_in_both_coordinate_systems(theme, rng):
    x = rng.uniform(1, 5, (50, 1))
    y = x[:, 0] ** 3 * np.exp(0.2 * rng.normal(size=50))
    both = TransformedRegression(inputs="log", target="log").fit(x, y).residuals(x, y)
    figure = both_coordinates(both, unit="g", theme=theme)
    np.testing.assert_allclose(trace(figure, "original").y, both.residuals)
    np.testing.assert_allclose(trace(figure, "transformed").y, both.transformed_residuals)
    assert "errors are more even in the transformed coordinates" in str(both)


@both_themes
@pytest.mark.covers("local-linearisation")
def test_the_tangent_touches_the_model_at_the_point(theme):
    line = LocalLinearization(lambda X: X[:, 0] ** 2 + X[:, 1], [2.0, 1.0])
    figure = tangent(line, theme=theme)
    model, plane = (each for each in figure.data if each.name in ("model", "tangent"))
    gap = np.array(model.y) - np.array(plane.y)
    np.testing.assert_allclose(gap, (np.array(model.x) - 2) ** 2, atol=1e-5)
