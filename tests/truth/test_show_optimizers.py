"""Pictures of searches draw what the traces hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.optimize import minimize

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


def bowl(x):
    return float(x[0] ** 2 + 9 * x[1] ** 2)


@pytest.fixture(scope="module")
def runs():
    settings = {"max_evaluations": 80, "random_state": 0, "x0": [2.0, 1.0]}
    return {
        name: minimize(bowl, [(-3, 3), (-2, 2)], name, **settings)
        for name in ("steepest-descent", "newton", "coordinate-descent", "annealing")
    }


@pytest.mark.covers("optimiser-path-contours")
@THEMES
def test_paths_begin_at_the_start_and_follow_the_iterates(runs, theme):
    figure = show.optimizer_paths(bowl, runs, (-3, 3), (-2, 2), replay=True, theme=theme)
    drawn = {trace.name: trace for trace in figure.data}
    for name, result in runs.items():
        path = np.array([place for _, place, _ in result.history.path])
        np.testing.assert_array_equal(drawn[name].x, path[:, 0])
        assert (drawn[name].x[0], drawn[name].y[0]) == (2.0, 1.0)
    first, *_, last = figure.layout.sliders[0].steps
    assert [len(each) for each in first.args[0]["x"]] == [1] * 4
    np.testing.assert_array_equal(last.args[0]["x"][0], drawn["steepest-descent"].x)
    assert figure.data[last.args[1][0]].name == "steepest-descent"
    curves = next(trace for trace in figure.data if trace.type == "contour")
    assert np.min(curves.customdata) >= 0
    wrong = minimize(lambda x: float(x @ x), [(-1, 1)] * 3, "random", max_evaluations=3)
    with pytest.raises(DataError, match="two numbers"):
        show.optimizer_paths(bowl, {"random": wrong}, (-1, 1), (-1, 1))


@THEMES
def test_progress_never_rises_and_several_runs_have_quartiles(runs, theme):
    many = [minimize(bowl, [(-3, 3)] * 2, "random", max_evaluations=30) for _ in range(4)]
    figure = show.search_progress({"random": many, "annealing": runs["annealing"]}, theme=theme)
    lines = {trace.name: trace for trace in figure.data if trace.mode == "lines"}
    for line in lines.values():
        assert (np.diff(line.y) <= 0).all()
    assert any("quartiles" in trace.name for trace in figure.data)


def test_changes_are_drawn_with_their_reasons(runs):
    figure = show.self_changes(runs["annealing"])
    changes = [each for each in runs["annealing"].history.changes if each.name == "temperature"]
    assert list(figure.data[0].y) == [each.after for each in changes]
    assert list(figure.data[0].text) == [each.why for each in changes]
    with pytest.raises(DataError, match="changed no number"):
        show.self_changes(minimize(bowl, [(-1, 1)] * 2, "random", max_evaluations=3))


@pytest.mark.covers("quadratic-form-picture")
@pytest.mark.parametrize(
    ("matrix", "kind"),
    [
        ([[2, 1], [1, 2]], "positive definite"),
        ([[2, 0], [0, -2]], "indefinite"),
        ([[1, 1], [1, 1]], "positive semidefinite"),
    ],
)
def test_quadratic_forms_are_named_and_drawn_by_their_values(matrix, kind):
    figure = show.quadratic_form(matrix)
    assert kind in figure.layout.title.text
    curves = figure.data[0]
    x, y = curves.x[10], curves.y[80]
    v = np.array([x, y])
    assert curves.z[80][10] == pytest.approx(v @ np.array(matrix) @ v)
    with pytest.raises(DataError, match="2 x 2"):
        show.quadratic_form(np.eye(3))
