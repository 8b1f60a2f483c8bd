"""Pictures of optima, slopes, matrices and models draw what brute force finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.show.model_sets import binomial_of_two, divergence
from gnomon.show.optima import kkt_residual
from gnomon.show.regularizers import expected_errors

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


def named(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


@pytest.mark.covers("constrained-optimum-picture")
@THEMES
def test_marked_optimum_is_the_best_feasible_place_of_a_fine_grid(theme, rng):
    a, b = rng.uniform(-2, 2, 2)

    def f(x, y):
        return (x - a) ** 2 + 2 * (y - b) ** 2

    def disc(x, y):
        return x**2 + y**2 - 1

    figure = show.constrained_optimum(f, (-2, 2), (-2, 2), inequalities=[disc], theme=theme)
    best = figure.data[-1]
    x, y = np.meshgrid(np.linspace(-1, 1, 801), np.linspace(-1, 1, 801))
    least = np.where(disc(x, y) <= 0, f(x, y), np.inf).min()
    assert len(best.x) == 1
    assert disc(best.x[0], best.y[0]) < 1e-6
    assert least - 0.1 < f(best.x[0], best.y[0]) < least + 1e-5
    assert best.customdata[0][1] < 1e-4
    shaded = np.asarray(named(figure)["feasible (darker: smaller f)"].z)
    grid = np.linspace(-2, 2, 161)
    inside = disc(*np.meshgrid(grid, grid)) <= 0
    np.testing.assert_array_equal(np.isfinite(shaded), inside)


@pytest.mark.covers("constrained-optimum-picture")
def test_gradients_oppose_at_the_rim_and_a_hollow_set_has_several_kkt_points():
    def f(x, y):
        return (x - 1) ** 2 + 0.5 * (y - 0.3) ** 2

    rules = [lambda x, y: x**2 + y**2 - 1.2, lambda x, y: 0.5 - (x - 0.9) ** 2 - y**2]
    figure = show.constrained_optimum(f, (-2, 2), (-2, 2), inequalities=rules)
    points = figure.data[-1]
    assert len(points.x) == 2
    values = [each[0] for each in points.customdata]
    assert values == sorted(values)
    assert max(each[1] for each in points.customdata) < 1e-4
    one = show.constrained_optimum(lambda x, y: x + y, (-2, 2), (-2, 2), inequalities=rules[:1])
    down, push = (np.array([note.x - note.ax, note.y - note.ay]) for note in one.layout.annotations)
    cosine = down @ push / np.linalg.norm(down) / np.linalg.norm(push)
    assert cosine == pytest.approx(1, abs=1e-4)
    assert kkt_residual(f, (0.0, 0.0), rules[:1]) > 0.1
    with pytest.raises(DataError, match="feasible"):
        show.constrained_optimum(f, (5, 6), (5, 6), inequalities=rules)


@pytest.mark.covers("constrained-optimum-picture")
def test_equalities_are_held_exactly():
    figure = show.constrained_optimum(
        lambda x, y: x**2 + y**2, (-3, 3), (-3, 3), equalities=[lambda x, y: x + 2 * y - 2]
    )
    best = figure.data[-1]
    np.testing.assert_allclose([best.x[0], best.y[0]], [0.4, 0.8], atol=1e-5)


@pytest.mark.covers("constrained-optimum-picture")
@THEMES
def test_lasso_and_ridge_answers_are_the_best_of_their_rims(theme, rng):
    X = rng.normal(size=(40, 2)) @ [[1.0, 0.4], [0.0, 1.0]]
    y = X @ [2.0, 0.5] + rng.normal(size=40)
    figure = show.penalized_optimum(X, y, 0.8, theme=theme)
    centered, target = X - X.mean(axis=0), y - y.mean()

    def error(w):
        return ((target - w @ centered.T) ** 2).sum(axis=-1)

    answers = [trace for trace in figure.data if trace.name == "best allowed"]
    angle = np.linspace(0, 2 * np.pi, 20001)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for trace, norm in zip(answers, (1, 2), strict=True):
        rim = 0.8 * circle / np.linalg.norm(circle, norm, axis=1)[:, None]
        found = np.array([trace.x[0], trace.y[0]])
        assert np.linalg.norm(found, norm) == pytest.approx(0.8)
        assert error(found) <= error(rim).min() * (1 + 1e-9)
    free = next(trace for trace in figure.data if trace.name == "least squares")
    wide = show.penalized_optimum(X, y, 50.0)
    inner = next(trace for trace in wide.data if trace.name == "best allowed")
    np.testing.assert_allclose([free.x[0], free.y[0]], np.linalg.lstsq(centered, target)[0])
    assert inner.x[0] == pytest.approx(free.x[0])


@pytest.mark.covers("constrained-optimum-picture")
def test_barriers_come_nearer_to_the_wall_as_t_grows():
    figure = show.barrier_curves([1, 10, 100])
    at = int(np.abs(figure.data[0].x + 0.5).argmin())
    gaps = [abs(trace.y[at]) for trace in figure.data[:3]]
    np.testing.assert_allclose(gaps, gaps[0] / np.array([1, 10, 100]))
    assert gaps[0] == pytest.approx(abs(np.log(-figure.data[0].x[at])))
    with pytest.raises(DataError, match="above 0"):
        show.barrier_curves([0])


@pytest.mark.covers("function-with-tangents")
@THEMES
def test_tangents_minima_and_chords_are_those_of_the_function(theme):
    def f(x):
        return x**4 - 2 * x**2 + x / 4

    figure = show.function_with_tangents(f, -2, 2, [0.5, -1.0], chord=(-1.5, 1.5), theme=theme)
    tangents = figure.data[1:3]
    for trace, at in zip(tangents, (0.5, -1.0), strict=True):
        slope = (trace.y[2] - trace.y[0]) / (trace.x[2] - trace.x[0])
        assert slope == pytest.approx(4 * at**3 - 4 * at + 0.25, abs=1e-6)
        assert trace.y[1] == pytest.approx(f(at))
    roots = np.sort(np.roots([4, 0, -4, 0.25]).real)
    marks = named(figure)
    assert marks["least of all"].x[0] == pytest.approx(roots[0], abs=1e-4)
    assert marks["local minimum"].x[0] == pytest.approx(roots[2], abs=1e-4)
    assert "below the chord" in figure.layout.title.text
    crossed = show.function_with_tangents(f, -2, 2, chord=(-1, 1))
    assert "crossed" in crossed.layout.title.text


@pytest.mark.covers("function-with-tangents")
def test_newton_step_sizes_and_restarts_end_where_arithmetic_says():
    newton = show.newton_steps(lambda x: x**2 - 2, 3.0, 5)
    steps = np.asarray(newton.data[-1].x)
    np.testing.assert_allclose(steps[1:3], [3 - 7 / 6, 11 / 6 - ((11 / 6) ** 2 - 2) / (11 / 3)])
    assert steps[-1] == pytest.approx(2**0.5)
    with pytest.raises(DataError, match="level"):
        show.newton_steps(lambda x: x**2 + 1, 0.0, slope=lambda x: 2 * x)
    paths = show.step_sizes(lambda x: x**2, 2.0, [0.01, 0.5, 1.2], -3, 3, n_steps=5)
    slow, right, wild = (np.asarray(trace.x) for trace in paths.data[1::2])
    np.testing.assert_allclose(slow, 2 * 0.98 ** np.arange(6), rtol=1e-6)
    np.testing.assert_allclose(right, [2, 0, 0, 0, 0, 0], atol=1e-6)
    assert len(wild) < 6
    assert "leaves" in paths.layout.annotations[2].text
    tried = show.restarts(lambda x: x**4 - 2 * x**2 + x / 4, -2, 2, [-1.9, -0.2, 0.3, 1.7])
    assert "2 of 4 starts end in the least of 2 minima" in tried.layout.title.text


@pytest.mark.covers("function-with-tangents")
@THEMES
def test_tangent_plane_touches_the_surface(theme):
    figure = show.tangent_plane(lambda x, y: x**2 - x * y, (1.0, 2.0), theme=theme)
    plane = figure.data[1]
    x, y, z = (np.asarray(each) for each in (plane.x, plane.y, plane.z))
    # at (1, 2): value -1, gradient (2x - y, -x) = (0, -1)
    np.testing.assert_allclose(z, -1 - (y - 2), atol=1e-6)
    assert x.shape == y.shape


@pytest.mark.covers("regulariser-comparison")
@THEMES
def test_expected_errors_are_those_of_many_simulations(theme, rng):
    Z = np.polynomial.legendre.legvander(np.linspace(-1, 1, 15), 5)
    f = Z @ rng.normal(size=6)
    weights, noise, penalty = np.arange(6.0), 0.7, 2.0
    n = 20_000
    y = f + noise * rng.normal(size=(n, 15))
    w = np.linalg.solve(Z.T @ Z + penalty * np.diag(weights), Z.T @ y.T)
    errors = ((f + noise * rng.normal(size=(n, 15)) - (Z @ w).T) ** 2).mean(axis=1)
    exact = expected_errors(Z, f, weights, noise, [penalty])[0]
    assert abs(errors.mean() - exact) < 6 * errors.std() / np.sqrt(n)
    rules = {"uniform": np.ones(6), "low order": weights}
    figure = show.regularizer_comparison(Z, f, rules, [0.1, 0.7], [0.1, 2.0, 5.0], theme=theme)
    curves = [trace for trace in figure.data if trace.mode == "lines"]
    assert [trace.name for trace in curves] == ["noise 0.1", "noise 0.7"] * 2
    assert curves[3].y[1] == pytest.approx(exact)
    stars = [trace for trace in figure.data if trace.name == "least error"]
    for curve, star in zip(curves, stars, strict=True):
        assert star.y[0] == min(curve.y)
    with pytest.raises(DataError, match="weight"):
        show.regularizer_comparison(Z, f, {"short": np.ones(5)}, [0.1])


@pytest.mark.covers("model-set-schematic")
@THEMES
def test_members_marked_are_the_nearest_of_the_model(theme):
    truth, counts = np.array([0.5, 0.15, 0.35]), np.array([6, 8, 6])
    figure = show.model_set(truth, counts, theme=theme)
    marks = {name: np.asarray(each.customdata[0]) for name, each in named(figure).items()
             if each.customdata is not None}  # fmt: skip
    # maximum likelihood of two trials: the share of successes
    share = (8 + 2 * 6) / 40
    np.testing.assert_allclose(marks["estimate"], binomial_of_two(share), atol=1e-6)
    np.testing.assert_allclose(marks["nearest member"], binomial_of_two(0.425), atol=1e-6)
    np.testing.assert_allclose(marks["sample"], counts / 20)
    said = divergence(truth, binomial_of_two(0.425))
    assert f"approximation error {said:.3g}" in named(figure)
    assert divergence([1, 0, 0], [0, 1, 0]) == np.inf
    with pytest.raises(DataError, match="sum to 1"):
        show.model_set([0.5, 0.5, 0.5], counts)


@pytest.mark.covers("linear-algebra-layouts")
@THEMES
def test_layouts_show_sums_bases_products_and_powers(theme, rng):
    steps = rng.normal(size=(3, 2))
    drawn = [
        note for note in show.vector_sum(steps, theme=theme).layout.annotations if note.showarrow
    ]
    np.testing.assert_allclose([drawn[-1].x, drawn[-1].y], steps.sum(axis=0))
    for one, other in pairwise(drawn[:3]):
        assert (one.x, one.y) == (other.ax, other.ay)
    figure = show.change_of_basis([[2, 1], [0, 1]], [4, 2], theme=theme)
    assert "(4, 2) is (1, 2) in the basis" in figure.layout.title.text
    A, B = rng.integers(-5, 6, size=(2, 3)), rng.integers(-5, 6, size=(3, 4))
    product = show.matrix_product(A, B, theme=theme).data[-1]
    assert [float(each) for each in product.text] == (A @ B).ravel().tolist()
    assert product.hovertext[0].count("+") == 2
    M = np.array([[1.1, 0.3], [0.2, 0.9]])
    powers = show.repeated_application(M, [1.0, -1.0], 4, theme=theme)
    places = np.c_[powers.data[-1].x, powers.data[-1].y]
    np.testing.assert_allclose(places[-1], np.linalg.matrix_power(M, 4) @ [1, -1])
    with pytest.raises(DataError, match="as many rows"):
        show.matrix_product(A, A)
    with pytest.raises(DataError, match="one line"):
        show.change_of_basis([[1, 2], [2, 4]], [1, 1])
