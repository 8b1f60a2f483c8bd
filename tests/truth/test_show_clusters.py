"""Pictures of groups show what the fitted objects hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.cluster import (
    DBSCAN,
    Denclue,
    SelfOrganizingMap,
    block_types,
    choose_by_knee,
    choose_by_silhouette,
    likelihood_by_k,
    linkage_tree,
    segment_image,
    silhouette,
)
from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError
from gnomon.show.clusters import principal_plane
from gnomon.show.theme import look

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


def blobs(rng, d=2, n=60):
    group = np.arange(n) % 3
    return 12 * np.eye(3, d)[group] + rng.normal(size=(n, d)), group


@pytest.mark.covers("dendrogram", "dendrogram-cut")
@THEMES
def test_a_tree_is_drawn_with_a_cut_for_each_number_of_clusters(theme, rng):
    rows, _ = blobs(rng, n=30)
    tree = linkage_tree(rows, "average")
    figure = show.dendrogram(tree, [f"row {i}" for i in range(30)], theme=theme)
    assert figure.layout.paper_bgcolor == look(theme).paper
    steps = figure.layout.sliders[0].steps
    assert [step.label for step in steps] == [str(k) for k in range(1, 13)]
    assert steps[figure.layout.sliders[0].active].label == "3"
    shown = [trace for trace in figure.data if trace.visible]
    heights = np.concatenate([np.array(trace.y, dtype=float) for trace in shown[:-1]])
    assert np.nanmax(heights) == pytest.approx(tree.heights.max())
    assert len({trace.line.color for trace in shown[:-1]}) == 4
    cut = shown[-1].y[0]
    assert tree.levels[-3] < cut < tree.levels[-2]
    assert list(figure.layout.xaxis.ticktext) == [f"row {i}" for i in tree.leaf_order()]


@pytest.mark.covers("dendrogram")
def test_large_trees_are_folded_and_fans_lie_in_a_circle(rng):
    tree = linkage_tree(rng.normal(size=(300, 2)), "ward")
    figure = show.dendrogram(tree, most_leaves=20)
    assert len(figure.layout.xaxis.ticktext) == 20
    assert "300 leaves folded into 20" in figure.layout.title.text
    counts = [text for text in figure.layout.xaxis.ticktext if text.startswith("(")]
    singles = 20 - len(counts)
    assert sum(int(text.strip("()")) for text in counts) + singles == 300
    fan = show.dendrogram(tree, fan=True, most_leaves=20)
    x, y = (np.concatenate([np.array(t[axis], float) for t in fan.data]) for axis in "xy")
    radius = np.hypot(x, y)
    assert np.nanmax(radius) <= 1 + 1e-9
    with pytest.raises(DataError, match="one leaf"):
        show.dendrogram(linkage_tree([[1.0]]))


@pytest.mark.covers("silhouette-plot", "choose-k-by-silhouette")
@THEMES
def test_silhouettes_are_sorted_within_clusters_for_each_k(theme, rng):
    rows, group = blobs(rng)
    one = show.silhouettes(silhouette(rows, group), theme=theme)
    found = silhouette(rows, group)
    for c, trace in enumerate(one.data):
        np.testing.assert_allclose(trace.x[1:-1], np.sort(found.per_row[group == c]))
    choice = choose_by_silhouette(rows, [2, 3, 4], random_state=0)
    assert len(show.silhouettes(choice, theme=theme).data) == 2 + 3 + 4


@pytest.mark.covers("knee-curve")
@THEMES
def test_the_curve_marks_the_chosen_number(theme, rng):
    rows, _ = blobs(rng)
    choice = choose_by_knee(rows, range(1, 7), random_state=0)
    figure = show.choice_of_k(choice, theme=theme)
    np.testing.assert_allclose(figure.data[0].y, choice.values)
    assert figure.data[1].x == (choice.chosen,)


@pytest.mark.covers("likelihood-grows-with-k")
def test_both_likelihoods_are_drawn_with_error_bars(rng):
    found = likelihood_by_k(
        GaussianMixture(random_state=0), rng.normal(size=(40, 1)), [1, 2], n_splits=3
    )
    figure = show.likelihood_by_k(found)
    np.testing.assert_allclose(figure.data[0].y, [each.value for each in found.learnt])
    assert figure.data[1].error_y.array is not None


@pytest.mark.covers("cluster-pca-ellipses")
@THEMES
def test_ellipses_lie_at_two_deviations_on_the_principal_plane(theme, rng):
    rows, group = blobs(rng, d=4)
    figure = show.cluster_ellipses(rows, group, theme=theme)
    mean, axes, shares = principal_plane(rows)
    flat = (rows - mean) @ axes.T
    for c in range(3):
        own = flat[group == c]
        curve = np.column_stack([figure.data[2 * c + 1].x, figure.data[2 * c + 1].y])
        away = curve - own.mean(axis=0)
        squared = (away @ np.linalg.inv(np.cov(own.T, ddof=0)) * away).sum(axis=1)
        np.testing.assert_allclose(squared, 4.0)
    assert f"{shares[0]:.0%}" in figure.layout.xaxis.title.text


@pytest.mark.covers("core-border-noise-picture")
@THEMES
def test_balls_of_core_rows_have_radius_eps(theme, rng):
    rows, _ = blobs(rng)
    rows = np.vstack([rows, [[90.0, 90.0]]])
    model = DBSCAN(1.5, min_samples=4).fit(rows)
    figure = show.core_border_noise(rows, model, theme=theme)
    core = rows[model.kinds(rows) == "core"]
    assert len(figure.layout.shapes) == len(core)
    ball = figure.layout.shapes[0]
    assert (ball.x1 - ball.x0) / 2 == pytest.approx(1.5)
    assert (ball.x0 + ball.x1) / 2 == pytest.approx(core[0, 0])
    assert "noise" in [trace.name for trace in figure.data]


@pytest.mark.covers("voronoi-cells")
def test_a_point_lies_in_the_cell_of_its_nearest_prototype(rng):
    points = rng.normal(size=(7, 2))
    figure = show.voronoi_cells(points, rng.normal(size=(30, 2)))
    cells = [np.column_stack([trace.x, trace.y])[:-1] for trace in figure.data[:7]]
    (left, right), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    places = rng.uniform([left, bottom], [right, top], size=(200, 2))
    squared = np.sort(((places[:, None] - points) ** 2).sum(axis=2), axis=1)
    clear = squared[:, 1] - squared[:, 0] > 1e-6
    nearest = ((places[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
    for c, cell in enumerate(cells):
        sides = np.roll(cell, -1, axis=0) - cell
        away = places[:, None] - cell
        inside = (sides[:, 0] * away[..., 1] - sides[:, 1] * away[..., 0] >= 0).all(axis=1)
        np.testing.assert_array_equal(inside[clear], (nearest == c)[clear])
    assert len(figure.data) == 7 + 2
    assert all(len(trace.x) >= 4 for trace in figure.data[:7])


@pytest.mark.covers("som-component-planes")
@THEMES
@pytest.mark.parametrize("grid", ["hexagonal", "square"])
def test_planes_have_a_cell_for_each_prototype_colored_by_its_coordinate(theme, grid, rng):
    rows, _ = blobs(rng, d=3)
    model = SelfOrganizingMap(3, 4, grid=grid).fit(rows)
    figure = show.component_planes(model, [0, 2], names=list("abc"), size_by=1, theme=theme)
    assert len(figure.data) == 2 * (12 + 1)
    assert [each.text for each in figure.layout.annotations] == ["a", "c"]
    plane = figure.data[:12]
    values = model.prototypes_[:, 0]
    colors = [trace.fillcolor for trace in plane]
    order = np.argsort(values)
    assert colors[order[0]] != colors[order[-1]]
    width = [np.ptp(np.array(trace.x, dtype=float)) for trace in plane]
    assert np.argmax(width) == model.prototypes_[:, 1].argmax()
    assert len(show.u_matrix(model, model.name_cells(rows, np.arange(60) % 3)).data) == 14


@pytest.mark.covers("som-component-planes")
def test_rows_stand_in_their_cells_beside_their_columns(rng):
    rows, _ = blobs(rng, d=3)
    model = SelfOrganizingMap(3, 4).fit(rows)
    figure = show.linked_map(model, rows, names=list("abc"))
    on_map = next(trace for trace in figure.data if trace.type == "scatter")
    places = model.transform(rows)[np.array(on_map.customdata, dtype=int)]
    away = np.hypot(np.array(on_map.x) - places[:, 0], np.array(on_map.y) - places[:, 1])
    assert away.max() <= 0.36
    lines = next(trace for trace in figure.data if trace.type == "parcoords")
    assert [each.label for each in lines.dimensions] == list("abc")


@pytest.mark.covers("attractor-picture")
def test_hills_show_density_attractors_and_ways(rng):
    rows, _ = blobs(rng)
    model = Denclue(2.0, xi=0.001).fit(rows)
    figure = show.attractors(rows, model, grid=20)
    assert [trace.name for trace in figure.data] == ["density", "ways uphill", "rows", "attractors"]
    np.testing.assert_allclose(figure.data[3].x, model.attractors_[:, 0])
    line = Denclue(1.0).fit(rows[:, :1])
    curve = show.attractors(rows[:, :1], line).data[0]
    np.testing.assert_allclose(curve.y, line.density(np.array(curve.x)[:, None]))
    with pytest.raises(DataError, match="one or two columns"):
        show.attractors(np.zeros((5, 3)), line)


@pytest.mark.covers("inertial-ellipsoid")
@THEMES
def test_the_ellipsoid_is_at_unit_mahalanobis_distance(theme, rng):
    covariance = np.diag([4.0, 1.0, 0.25])
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    covariance = turn @ covariance @ turn.T
    mean = rng.normal(size=3)
    surface = show.ellipsoid_surface(mean, covariance).reshape(3, -1).T - mean
    squared = (surface @ np.linalg.inv(covariance) * surface).sum(axis=1)
    np.testing.assert_allclose(squared, 1.0)
    rows, group = blobs(rng, d=5)
    figure = show.inertial_ellipsoids(rows, group, theme=theme)
    assert [trace.type for trace in figure.data] == ["scatter3d", "surface"] * 3


@pytest.mark.covers("ellipsoid-morph")
def test_a_morph_goes_from_the_parents_to_the_children_in_a_second(rng):
    rows, group = blobs(rng, d=3)
    coarse = group // 2
    figure = show.ellipsoid_morph(rows, coarse, group, radius=1.0, frames=10)
    assert len(figure.frames) == 11

    def surface(trace):
        return np.stack([np.array(trace[axis]).ravel() for axis in "xyz"])

    def expected(labels, c):
        own = rows[labels == c]
        return show.ellipsoid_surface(own.mean(axis=0), np.cov(own.T, ddof=0)).reshape(3, -1)

    for child in range(3):
        first, middle, last = (surface(figure.frames[i].data[child]) for i in (0, 5, 10))
        np.testing.assert_allclose(first, expected(coarse, child // 2), atol=1e-9)
        np.testing.assert_allclose(last, expected(group, child), atol=1e-9)
        np.testing.assert_allclose(middle, (first + last) / 2, atol=1e-9)
    timing = figure.layout.updatemenus[0].buttons[0].args[1]["frame"]["duration"]
    assert timing * 10 == pytest.approx(1000)
    with pytest.raises(DataError, match="two parents"):
        show.ellipsoid_morph(rows, np.arange(60) % 2, group)


@pytest.mark.covers("cluster-navigation")
@THEMES
def test_a_slider_walks_the_levels_with_prototypes_and_selectors(theme, rng):
    rows, _ = blobs(rng, d=4)
    tree = linkage_tree(rows)
    figure = show.navigate_clusters(rows, tree, names=list("abcd"), most_clusters=5, theme=theme)
    assert len(figure.data) == 15
    steps = figure.layout.sliders[0].steps
    for k, step in enumerate(steps, 1):
        shown = np.flatnonzero(step.args[0]["visible"])
        assert shown.tolist() == [3 * (k - 1), 3 * (k - 1) + 1, 3 * (k - 1) + 2]
        assert len(figure.data[shown[1]].x) == k
        assert len(figure.data[shown[2]].dimensions) == 4
    labels = tree.cut(3)
    mean, axes, _ = principal_plane(rows)
    center = (rows[labels == 0].mean(axis=0) - mean) @ axes.T
    assert figure.data[7].x[0] == pytest.approx(center[0])


@pytest.mark.covers("cluster-type-histogram-grid")
def test_each_block_has_a_panel_of_its_shares(rng):
    rows, group = blobs(rng)
    found = block_types(rows, np.where(group == 0, "north", "south"), 3, random_state=0)
    figure = show.type_histogram_grid(found)
    for trace, share in zip(figure.data, found.shares):
        np.testing.assert_allclose(trace.y, share)
        assert trace.error_y.array is not None
    assert "north (20 rows)" in [each.text for each in figure.layout.annotations]


def test_segments_are_drawn_beside_their_maps(rng):
    image = rng.random((6, 8, 3))
    figure = show.segmentation(segment_image(image, 3, random_state=0), image)
    assert [trace.type for trace in figure.data] == ["image"] * 2 + ["heatmap"] * 3
