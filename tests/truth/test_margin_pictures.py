"""Pictures of margins show what the models and results hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.margin import (
    RBF,
    SVC,
    SVR,
    BatchPerceptron,
    LinearSVC,
    PocketPerceptron,
    StochasticSVM,
    hull_margin,
)

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def trace(figure, name: str):
    return next(each for each in figure.data if each.name and name in each.name)


def two_groups(rng, gap=1.0, n=40):
    sign = np.where(np.arange(n) % 2 == 0, 1, -1)
    return rng.uniform(-1, 1, size=(n, 2)) + gap * sign[:, None], np.where(sign > 0, "yes", "no")


@both_themes
@pytest.mark.covers("support-vector-picture")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_support_vectors_are_circled_and_slacks_end_on_the_margin(kernel, theme, rng):
    X, y = two_groups(rng, 0.4)
    model = SVC(kernel=kernel, tol=1e-7).fit(X, y)
    figure = show.support_vectors(model, X, y, theme=theme)
    circled = trace(figure, "support vectors")
    np.testing.assert_allclose(np.column_stack([circled.x, circled.y]), X[model.support_])
    for name in ("no", "yes"):
        rows = trace(figure, f"class {name}")
        np.testing.assert_allclose(np.column_stack([rows.x, rows.y]), X[y == name])
    levels = sorted(t.contours.start for t in figure.data if t.type == "contour")
    assert levels == [-1.0, 0.0, 1.0]
    border = next(t for t in figure.data if t.type == "contour" and t.contours.start == 0)
    corner = np.array([[border.x[3], border.y[5]]])
    assert np.array(border.z)[5, 3] == pytest.approx(model.decision_function(corner)[0])
    if kernel == "rbf":
        assert not figure.layout.annotations
        return
    lines = trace(figure, "slack")
    ends = np.column_stack([np.array(lines.x)[1::3], np.array(lines.y)[1::3]])
    np.testing.assert_allclose(np.abs(model.decision_function(ends)), 1, atol=1e-6)
    arrow = figure.layout.annotations[0]
    np.testing.assert_allclose(model.decision_function([[arrow.ax, arrow.ay]]), 0, atol=1e-9)
    np.testing.assert_allclose(model.decision_function([[arrow.x, arrow.y]]), 1, atol=1e-9)


@pytest.mark.covers("support-vector-picture")
def test_corrections_show_the_plane_before_and_after_and_the_row_that_made_them(rng):
    X, y = two_groups(rng, 1.2)
    X = X + np.array([3, 1])
    model = PocketPerceptron("first", keep_history="full").fit(X, y)
    figure = show.corrections(model, X, y, steps=(1,))
    marked = trace(figure, "wrong before")
    place = np.flatnonzero((np.array([marked.x[0], marked.y[0]]) == X).all(axis=1))[0]
    side = 1 if y[place] == "yes" else -1
    np.testing.assert_allclose(
        model.history_.states[0]["planes"][0], side * np.append(X[place], 1.0)
    )
    batch = BatchPerceptron(keep_history="full").fit(X, y)
    assert len(trace(show.corrections(batch, X, y, steps=(1,)), "wrong before").x) == len(X)
    with pytest.raises(DataError, match="keep_history"):
        show.corrections(PocketPerceptron().fit(X, y), X, y)
    with pytest.raises(DataError, match="no pass"):
        show.corrections(model, X, y, steps=(10**6,))


@both_themes
@pytest.mark.covers("convex-hull-margin-picture")
def test_the_shortest_line_joins_the_hulls_across_the_plane(theme, rng):
    X, y = two_groups(rng, 2.0)
    found = hull_margin(X, y)
    figure = show.hulls(found, X, y, theme=theme)
    line = trace(figure, "nearest")
    ends = np.column_stack([line.x, line.y])
    np.testing.assert_allclose(np.linalg.norm(ends[1] - ends[0]), found.nearest.distance)
    np.testing.assert_allclose(found.plane.score(ends), [-1, 1], atol=1e-4)
    ring = trace(figure, "hull of no")
    corners = {tuple(point) for point in np.column_stack([ring.x, ring.y])}
    assert corners <= {tuple(point) for point in X[y == "no"]}


@both_themes
@pytest.mark.covers("support-vector-regression")
def test_the_tube_is_as_wide_as_epsilon_and_its_rows_are_marked(theme, rng):
    x = np.sort(rng.uniform(0, 6, 50))[:, None]
    y = np.sin(x[:, 0]) + 0.2 * rng.normal(size=50)
    model = SVR(C=2.0, epsilon=0.25, gamma=0.5).fit(x, y)
    figure = show.tube(model, x, y, theme=theme)
    band = trace(figure, "tube")
    half = len(band.x) // 2
    np.testing.assert_allclose(
        np.array(band.y[:half]) - np.array(band.y[half:])[::-1], 0.5, atol=1e-9
    )
    np.testing.assert_allclose(trace(figure, "support").y, y[np.sort(model.support_)])
    with pytest.raises(DataError, match="one column"):
        show.tube(model, np.column_stack([x, x]), y)


@both_themes
@pytest.mark.covers("nonlinear-transform-pair")
@pytest.mark.parametrize("lifted", [False, True])
def test_the_border_is_the_same_among_columns_and_features(lifted, theme, rng):
    X = rng.uniform(-1, 1, size=(60, 2))
    if lifted:
        y = (X[:, 0] * X[:, 1] > 0).astype(int)

        def transform(rows):
            return np.column_stack([rows, rows[:, 0] * rows[:, 1]])
    else:
        y = ((X**2).sum(axis=1) > 0.6).astype(int)

        def transform(rows):
            return rows**2

    model = LinearSVC(C=10.0).fit(transform(X), y)
    figure = show.feature_space(model, X, y, transform, theme=theme)
    border = next(t for t in figure.data if t.type == "contour")
    point = np.array([[border.x[7], border.y[20]]])
    expected = model.decision_function(transform(point))[0]
    assert np.array(border.z)[20, 7] == pytest.approx(expected)
    if lifted:
        plane = trace(figure, "plane")
        corners = np.column_stack([np.ravel(plane.x), np.ravel(plane.y), np.ravel(plane.z)])
        corners = corners[np.isfinite(corners).all(axis=1)]
        np.testing.assert_allclose(model.decision_function(corners), 0, atol=1e-9)
    with pytest.raises(DataError, match="two or three features"):
        show.feature_space(model, X, y, lambda rows: np.column_stack([rows, rows]))


@both_themes
@pytest.mark.covers("kernel-bump-surface")
def test_bumps_add_up_to_the_score(theme, rng):
    x = np.sort(rng.uniform(0, 6, 30))[:, None]
    y = (np.sin(x[:, 0]) > 0).astype(int)
    model = SVC(C=2.0, gamma=2.0).fit(x, y)
    figure = show.kernel_bumps(model, theme=theme)
    total = trace(figure, "sum")
    np.testing.assert_allclose(
        total.y, model.decision_function(np.array(total.x)[:, None]), atol=1e-9
    )
    bumps = [t for t in figure.data if t.name and t.name.startswith("bumps")]
    assert len(bumps) == len(model.support_)
    np.testing.assert_allclose(
        np.sum([t.y for t in bumps], axis=0) + model.intercept_[0], total.y, atol=1e-9
    )
    X, labels = two_groups(rng)
    surface = show.kernel_bumps(SVC().fit(X, labels), theme=theme).data[0]
    at = np.array([[surface.x[4], surface.y[9]]])
    assert np.array(surface.z)[9, 4] == pytest.approx(
        SVC().fit(X, labels).decision_function(at)[0], abs=1e-9
    )
    likeness = show.kernel_surface(RBF(0.7), (1.0, 0.0), theme=theme).data[0]
    gap = (likeness.x[10] - 1.0) ** 2 + likeness.y[30] ** 2
    assert np.array(likeness.z)[30, 10] == pytest.approx(np.exp(-0.7 * gap))


@pytest.mark.covers("linear-svm-hinge-sgd")
def test_seasons_show_accuracy_and_weights_of_each_penalty(rng):
    X, y = two_groups(rng, 0.5, 100)
    models = {f"{p:g}": StochasticSVM(p, random_state=0).fit(X, y) for p in (0.001, 1.0)}
    figure = show.seasons(models)
    assert len(figure.data) == 4
    np.testing.assert_allclose(figure.data[0].y, models["0.001"].accuracy_.mean(axis=1))
    np.testing.assert_allclose(figure.data[3].y, models["1"].squared_norm_.mean(axis=1))
