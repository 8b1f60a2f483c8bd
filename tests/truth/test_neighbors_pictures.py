"""Pictures of neighbours show what the trees, tables and cells hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.neighbors import BallTree, bounding_ball, class_distance_table, voronoi_cells
from gnomon.show.neighbors import (
    ball_tree,
    bounding_ball_growth,
    class_distances,
    nearest_regions,
    neighbor_curves,
    scaling_chart,
    unit_balls,
)

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def trace(figure, name: str):
    return next(each for each in figure.data if each.name == name)


@both_themes
@pytest.mark.covers("ball-tree-picture")
def test_every_ball_is_a_circle_and_those_that_the_search_opens_are_filled(theme, rng):
    tree = BallTree(rng.normal(size=(80, 2)))
    query = rng.normal(size=2)
    figure = ball_tree(tree, query, neighbors=3, theme=theme)
    opened = tree.path(query, 3)
    for ball in range(tree.n_balls):
        circle = trace(figure, f"ball {ball}")
        away = np.hypot(
            np.array(circle.x) - tree.centers[ball, 0], np.array(circle.y) - tree.centers[ball, 1]
        )
        np.testing.assert_allclose(away, tree.radii[ball], atol=1e-9)
        assert (circle.fill == "toself") == (ball in opened)
    assert f"opens {len(opened)} balls" in figure.layout.title.text
    lines = [each for each in figure.data if each.mode == "lines" and len(each.x) == 2]
    assert len(lines) == 3
    with pytest.raises(ValueError, match="two columns"):
        ball_tree(BallTree(rng.normal(size=(9, 3))))


@both_themes
@pytest.mark.covers("ball-tree-picture")
def test_a_growing_ball_is_drawn_at_every_step(theme, rng):
    points = rng.normal(size=(60, 2))
    ball = bounding_ball(points)
    figure = bounding_ball_growth(points, theme=theme)
    circles = [each for each in figure.data if each.name in ("on the way", "the ball")]
    assert len(circles) == len(ball.steps) + 1
    last = circles[-1]
    away = np.hypot(np.array(last.x) - ball.center[0], np.array(last.y) - ball.center[1])
    np.testing.assert_allclose(away, ball.radius)


@both_themes
@pytest.mark.covers("class-distance-heatmap")
def test_the_heat_map_holds_the_upper_half_of_the_table(theme, rng):
    rows = np.vstack([rng.normal(size=(20, 2)) + 9 * k for k in range(3)])
    table = class_distance_table(rows, np.repeat(["a", "b", "c"], 20))
    heat = class_distances(table, theme=theme).data[0]
    upper = np.triu_indices(3)
    np.testing.assert_allclose(np.array(heat.z, dtype=float)[upper], table.mean[upper])
    assert np.isnan(np.array(heat.z, dtype=float)[1, 0])
    assert "±" in heat.text[0][1]
    assert "nearest to itself" in class_distances(table, theme=theme).layout.title.text


@both_themes
@pytest.mark.covers("unit-ball-picture")
def test_points_of_a_unit_ball_have_length_one(theme):
    powers = (0.5, 1, 2, 5, np.inf)
    figure = unit_balls(powers, minimum=[1.6, 1.0], theme=theme)
    assert figure.data[0].type == "contour"
    for p, curve in zip(powers, figure.data[1:]):
        points = np.abs(np.column_stack([curve.x, curve.y]))
        length = points.max(axis=1) if np.isinf(p) else (points**p).sum(axis=1)
        np.testing.assert_allclose(length, 1)
    with pytest.raises(ValueError, match="positive"):
        unit_balls([0])


@both_themes
def test_regions_are_the_cells_and_the_border_lies_half_way_between_classes(theme, rng):
    points = rng.random((25, 2))
    classes = np.where(points[:, 0] > 0.5, "right", "left")
    cells = voronoi_cells(points)
    figure = nearest_regions(cells, classes, query=[0.4, 0.4], theme=theme)
    filled = [each for each in figure.data if each.fill == "toself"]
    assert len(filled) == 25
    border = trace(figure, "border")
    corners = np.array([(x, y) for x, y in zip(border.x, border.y) if x is not None])
    middles = corners.reshape(-1, 2, 2).mean(axis=1)
    for middle in middles:
        away = np.sqrt(((points - middle) ** 2).sum(axis=1))
        nearest = [away[classes == each].min() for each in ("left", "right")]
        assert nearest[0] == pytest.approx(nearest[1], rel=1e-6, abs=1e-6)


@both_themes
def test_curves_of_neighbors_pass_through_their_rows_where_weights_do(theme, rng):
    x = np.arange(6.0)
    y = rng.normal(size=6)
    figure = neighbor_curves(x, y, theme=theme)
    straight = trace(figure, "q = 1")
    inside = (np.array(straight.x) >= 0) & (np.array(straight.x) <= 5)
    found, at = np.array(straight.y)[inside], np.array(straight.x)[inside]
    middle = np.abs(at - np.rint(at)) < 0.49
    np.testing.assert_allclose(found[middle], np.interp(at[middle], x, y), atol=1e-9)


@both_themes
@pytest.mark.covers("scaling-chart")
def test_crossings_of_costs_are_where_the_curves_meet(theme):
    sizes = np.array([100, 1000, 10_000])
    tree = 500 * np.log2(sizes)
    figure = scaling_chart(sizes, {"all rows": sizes, "ball tree": tree}, theme=theme)
    assert [each.name for each in figure.data[:2]] == ["all rows", "ball tree"]
    mark = figure.data[2]
    gap = np.log(tree / sizes)
    share = gap[1] / (gap[1] - gap[2])
    assert mark.x[0] == pytest.approx(1000 * 10**share)
    repeated = scaling_chart(sizes, {"a": np.column_stack([sizes, 2 * sizes])}, theme=theme)
    np.testing.assert_allclose(repeated.data[0].error_y.array, sizes / 2)
    with pytest.raises(ValueError, match="rising"):
        scaling_chart([3, 2], {"a": [1, 2]})
