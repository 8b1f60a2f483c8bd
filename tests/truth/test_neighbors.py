"""Nearest neighbours against brute force."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.engine.errors import MemoryLimitError
from gnomon.neighbors import (
    AdjustedCosineDistance,
    ApproximateNeighbors,
    BallTree,
    ChiSquareDistance,
    CosineDistance,
    FunctionDistance,
    GreatCircleDistance,
    HammingDistance,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalClassifier,
    LocalRegressor,
    MahalanobisDistance,
    MinkowskiDistance,
    NearestNeighbors,
    NeighborImputer,
    NeighborLabels,
    NeighborRecommender,
    PearsonDistance,
    QuadraticFormDistance,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    approximate_neighbors,
    bounding_ball,
    checked_dissimilarities,
    class_distance_table,
    condensed_distances,
    distance_blocks,
    distance_of,
    pairwise_distances,
    prototypes,
    prune_stored_set,
    similarity_to_distance,
    table_of_pairs,
    voronoi_cells,
)
from gnomon.neighbors.index import ProductFilter, ReducedFilter, components_that_pay
from gnomon.neighbors.pairwise import rowwise_distances
from gnomon.table import Table

DISTANCES = {
    "euclidean": MinkowskiDistance(),
    "manhattan": MinkowskiDistance(1),
    "chebyshev": MinkowskiDistance(np.inf),
    "p=3": MinkowskiDistance(3),
    "p=0.5": MinkowskiDistance(0.5),
    "hamming": HammingDistance(),
    "standardized": MinkowskiDistance(units="deviation"),
    "range": MinkowskiDistance(units="range"),
    "mahalanobis": MahalanobisDistance(),
    "cosine": CosineDistance(),
    "pearson": PearsonDistance(),
}
ALGORITHMS = ("brute", "kd_tree", "ball_tree")
NO_BALLS = ("p=0.5",)
EXACT = ("euclidean", "manhattan", "chebyshev", "hamming")  # of whole numbers


def in_order(distances: np.ndarray, k: int) -> np.ndarray:
    """The k nearest by (distance, number), from a table of distances."""
    numbers = np.arange(distances.shape[1])
    return np.array([np.lexsort([numbers, line])[:k] for line in distances])


@pytest.mark.covers("k-nearest-neighbors", "pairwise-distance-matrix")
@pytest.mark.parametrize("name", list(DISTANCES))
@pytest.mark.parametrize("whole", [False, True], ids=["continuous", "many ties"])
def test_every_search_finds_what_a_table_of_all_distances_shows(name, whole, rng):
    for d in (2, 7, 30):
        rows, queries = rng.normal(size=(600, d)), rng.normal(size=(40, d))
        if whole:
            rows, queries = np.rint(rows), np.rint(queries)
        table = pairwise_distances(rows, None, DISTANCES[name])
        assert np.array_equal(table, table.T)
        distance = distance_of(DISTANCES[name]).fit(rows)
        expected = distance.pairwise(queries, rows)
        order = in_order(expected, 7)
        nearest = np.take_along_axis(expected, order, axis=1)
        searches = [a for a in ALGORITHMS if a != "ball_tree" or name not in NO_BALLS]
        found = [
            NearestNeighbors(n_neighbors=7, metric=DISTANCES[name], algorithm=each)
            .fit(rows)
            .kneighbors(queries)
            for each in searches
        ]
        for each in found:
            np.testing.assert_array_equal(each.indices, found[0].indices)
            np.testing.assert_allclose(each.distances, nearest, rtol=1e-12, atol=1e-13)
            if not whole or name in EXACT:
                np.testing.assert_array_equal(each.indices, order)


@pytest.mark.covers("k-nearest-neighbors")
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1.0, 1e20, 1e90])
def test_the_search_by_single_precision_products_is_exact_at_any_scale(scale, rng):
    rows = rng.normal(size=(900, 12)) * scale
    rows[rng.integers(900)] *= 1e6
    queries = np.vstack([rows[:5], rng.normal(size=(20, 12)) * scale, rows[:1] * 1e6])
    found = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(rows).kneighbors(queries)
    squares = ((queries[:, None] / scale - rows[None] / scale) ** 2).sum(axis=2)
    nearest = np.sort(squares, axis=1)[:, :4]
    np.testing.assert_allclose((found.distances / scale) ** 2, nearest, rtol=1e-9, atol=1e-20)


@pytest.mark.covers("k-nearest-neighbors")
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e120])
def test_the_search_by_principal_components_is_exact_also_with_ties_and_far_queries(scale, rng):
    low = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 40)) + 0.05 * rng.normal(size=(400, 40))
    rows = scale * np.vstack([low, low[:30], np.round(low[:100])])
    queries = np.vstack([rows[::3], rows[:5] + scale, 1e30 * rows[:2]])
    queries = queries[np.abs(queries).max(axis=1) < 1e150]
    for n_components in (1, 8, 40):
        basis = np.linalg.qr(rng.normal(size=(40, n_components)))[0]
        found = ReducedFilter(rows, basis).nearest(queries, 7)
        expected = ProductFilter(rows).nearest(queries, 7)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


def test_principal_components_are_taken_where_few_hold_the_distances(rng):
    few = rng.normal(size=(3000, 6)) @ rng.normal(size=(6, 80)) + 0.01 * rng.normal(size=(3000, 80))
    assert components_that_pay(few).shape[1] <= 16
    assert components_that_pay(rng.normal(size=(3000, 80))) is None
    assert components_that_pay(few[:, :20]) is None  # nothing to win in few columns


def test_a_long_search_finds_the_same_by_principal_components(rng, monkeypatch):
    rows = rng.normal(size=(1200, 4)) @ rng.normal(size=(4, 64)) + 0.1 * rng.normal(size=(1200, 64))
    expected = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(rows).kneighbors_graph()
    monkeypatch.setattr("gnomon.neighbors.index.WORTH_COMPONENTS", 1)
    model = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(rows)
    assert (model.kneighbors_graph() != expected).nnz == 0
    assert model.index_._reduced_filter is not None


@pytest.mark.covers("k-nearest-neighbors")
def test_the_search_by_boxes_has_the_bits_of_sums_in_the_order_of_columns(rng):
    for d in range(1, 10):
        rows, queries = rng.normal(size=(200, d)), rng.normal(size=(5, d))
        model = NearestNeighbors(n_neighbors=3, algorithm="kd_tree").fit(rows)
        squares = np.zeros((5, 200))
        for column in range(d):
            squares += (queries[:, [column]] - rows[:, column]) ** 2
        expected = np.sqrt(np.sort(squares, axis=1)[:, :3])
        np.testing.assert_array_equal(model.kneighbors(queries)[0], expected)


def test_a_search_far_from_the_origin_loses_no_digit(rng):
    rows = rng.normal(size=(500, 10)) + 1e9
    queries = rng.normal(size=(30, 10)) + 1e9
    exact = np.sqrt(((queries[:, None] - rows[None]) ** 2).sum(axis=2))
    found = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(rows).kneighbors(queries)
    np.testing.assert_array_equal(found.indices, in_order(exact, 3))


@pytest.mark.covers("k-nearest-neighbors")
def test_radius_neighbors_are_those_within_it_and_may_be_none(rng):
    rows, queries = rng.normal(size=(300, 3)), rng.normal(size=(40, 3)) * 2
    table = np.sqrt(((queries[:, None] - rows[None]) ** 2).sum(axis=2))
    search = NearestNeighbors(radius=0.7).fit(rows)
    distances, indices = search.radius_neighbors(queries, sort_results=True)
    for line, near, which in zip(table, distances, indices):
        assert set(which.tolist()) == set(np.flatnonzero(line <= 0.7).tolist())
        assert (np.diff(near) >= 0).all()
    by_number = search.radius_neighbors(queries, return_distance=False)
    assert all((np.diff(which) > 0).all() for which in by_number)
    far = NearestNeighbors().fit(rows).radius_neighbors([[50.0, 0.0, 0.0]], 0.1)
    assert len(far[1][0]) == 0


def test_the_graph_of_neighbors_leaves_out_the_row_itself_also_among_duplicates(rng):
    rows = np.repeat(rng.normal(size=(15, 2)), 4, axis=0)
    graph = NearestNeighbors(n_neighbors=3).fit(rows).kneighbors_graph(mode="distance")
    assert graph.shape == (60, 60)
    assert (np.diff(graph.indptr) == 3).all()
    assert all(i not in graph.indices[3 * i : 3 * i + 3] for i in range(60))
    np.testing.assert_allclose(graph.data, 0.0)


@pytest.mark.covers("k-nearest-neighbors")
@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors])
def test_more_neighbors_than_rows_are_refused_with_both_numbers(cls, rng):
    rows = rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match=r"(?s)\b9\b.*\b5 training rows"):
        cls(n_neighbors=9).fit(rows, [0, 1, 0, 1, 0]).kneighbors(rows)


@pytest.mark.covers("ball-tree")
@pytest.mark.parametrize("d", [2, 5, 20])
def test_a_ball_tree_finds_what_brute_force_finds_with_fewer_comparisons(d, rng):
    rows = rng.normal(size=(2000, d))
    queries = rng.normal(size=(50, d))
    found = BallTree(rows).query(queries, 3)
    exact = np.sqrt(((queries[:, None] - rows[None]) ** 2).sum(axis=2))
    np.testing.assert_array_equal(found.indices, in_order(exact, 3))
    assert (found.evaluations <= 2000).all()
    if d == 2:
        assert found.evaluations.mean() < 200


@pytest.mark.covers("ball-tree")
def test_every_ball_holds_its_rows_and_children_divide_their_parents(rng):
    rows = np.vstack([rng.normal(size=(300, 3)), np.tile(rng.normal(size=3), (40, 1))])
    tree = BallTree(rows)
    for ball in range(tree.n_balls):
        start, stop = tree.spans[ball]
        members = rows[tree.order[start:stop]]
        away = np.sqrt(((members - tree.centers[ball]) ** 2).sum(axis=1))
        assert (away <= tree.radii[ball] * (1 + 1e-9) + 1e-12).all()
        left, right = tree.children[ball]
        if left < 0:
            assert stop - start <= 11 or np.ptp(members, axis=0).max() == 0
            continue
        assert tree.spans[left, 0] == start
        assert tree.spans[left, 1] == tree.spans[right, 0]
        assert tree.spans[right, 1] == stop
    assert sorted(tree.order.tolist()) == list(range(340))


@pytest.mark.covers("ball-tree")
def test_a_ball_tree_serves_any_metric(rng):
    places = np.column_stack([rng.uniform(-89, 89, 300), rng.uniform(-180, 180, 300)])
    queries = np.column_stack([rng.uniform(-89, 89, 10), rng.uniform(-180, 180, 10)])
    distance = GreatCircleDistance().fit(places)
    found = BallTree(places, distance).query(queries, 4)
    exact = distance.pairwise(queries, places)
    np.testing.assert_allclose(found.distances, np.sort(exact, axis=1)[:, :4], rtol=1e-9)
    own = FunctionDistance(lambda a, b: float(np.abs(a - b).sum()), is_metric=True)
    model = NearestNeighbors(n_neighbors=4, metric=own, algorithm="ball_tree").fit(places)
    manhattan = np.abs(queries[:, None] - places[None]).sum(axis=2)
    np.testing.assert_array_equal(model.kneighbors(queries).indices, in_order(manhattan, 4))
    with pytest.raises(ValueError, match="triangle"):
        BallTree(places, PearsonDistance().fit(places))


@pytest.mark.covers("ball-tree")
def test_the_snug_ball_is_smaller_than_the_centroid_ball_where_an_outlier_pulls(rng):
    points = np.vstack([rng.normal(size=(500, 2)), [[30.0, 0.0]]])
    ball = bounding_ball(points)
    centroid = points.mean(axis=0)
    assert ball.radius < 0.75 * np.sqrt(((points - centroid) ** 2).sum(axis=1)).max()
    assert len(ball.steps) >= 1
    one = np.tile(points[:1], (20, 1))
    assert bounding_ball(one).radius == 0


@pytest.mark.covers("minkowski-distance", "range-normalized-euclidean")
def test_units_divide_columns_and_constant_columns_are_left_out(rng):
    rows = np.column_stack([rng.normal(size=50), np.full(50, 3.0), rng.normal(size=50) * 1e6])
    a, b = rows[:1], rows[1:2] + np.array([[0, 9.0, 0]])
    for units, scale in (("range", np.ptp(rows, axis=0)), ("deviation", rows.std(axis=0, ddof=1))):
        for p in (1, 2, 3):
            expected = sum(abs((a - b)[0, j] / scale[j]) ** p for j in (0, 2)) ** (1 / p)
            found = MinkowskiDistance(p, units).fit(rows).pairwise(a, b)[0, 0]
            assert found == pytest.approx(expected)
    unequal = MinkowskiDistance().fit(rows)
    with pytest.raises(ValueError, match="equal length"):
        unequal.pairwise(a, b[:, :2])


@pytest.mark.covers("mixed-distance")
def test_categories_are_one_apart_for_every_exponent():
    rows = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0], [np.nan, 1.0]])
    for p in (0.5, 1, 2, 4, np.inf):
        found = MinkowskiDistance(p).fit(rows, [3, 0]).pairwise(rows, rows)
        assert found[0, 1] == pytest.approx(1.0)
        both = max(1, 3) if np.isinf(p) else (1 + 3**p) ** (1 / p)
        assert found[0, 2] == pytest.approx(both)
        half = 1.0 if np.isinf(p) else 0.5 ** (1 / p)
        assert found[0, 3] == pytest.approx(half)


@pytest.mark.covers("mahalanobis-distance")
def test_mahalanobis_does_not_change_with_units_and_handles_singular_covariance(rng):
    rows = rng.normal(size=(80, 3))
    change = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    one, other = MahalanobisDistance().fit(rows), MahalanobisDistance().fit(rows @ change)
    np.testing.assert_allclose(
        one.pairwise(rows, rows), other.pairwise(rows @ change, rows @ change), atol=1e-8
    )
    centered = rows - rows.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered / len(rows))
    expected = np.sqrt(np.einsum("ij,jk,ik->i", centered, inverse, centered))
    np.testing.assert_allclose(one.to_center(rows), expected)
    doubled = np.column_stack([rows, rows[:, 0] * 2])
    with pytest.warns(gnomon.engine.errors.GnomonWarning, match="1 of 4 directions"):
        singular = MahalanobisDistance().fit(doubled)
    assert singular.rank == 3
    np.testing.assert_allclose(
        singular.pairwise(doubled, doubled), one.pairwise(rows, rows), atol=1e-8
    )


@pytest.mark.covers("quadratic-form-distance")
def test_a_quadratic_form_is_euclid_after_a_linear_map_and_must_not_be_indefinite(rng):
    change = rng.normal(size=(4, 4))
    rows = rng.normal(size=(30, 4))
    found = QuadraticFormDistance(change.T @ change).fit(rows).pairwise(rows, rows)
    plain = MinkowskiDistance().fit(rows).pairwise(rows @ change.T, rows @ change.T)
    np.testing.assert_allclose(found, plain, atol=1e-9)
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5"):
        QuadraticFormDistance(np.diag([1.0, -0.5]))
    with pytest.raises(ValueError, match="not symmetric"):
        QuadraticFormDistance([[1.0, 1.0], [0.0, 1.0]])
    assert not QuadraticFormDistance(np.diag([1.0, 0.0])).is_metric


@pytest.mark.covers("cosine-similarity")
def test_sparse_and_zero_rows_have_cosines(rng):
    rows = rng.integers(0, 3, size=(40, 30)) * (rng.random((40, 30)) < 0.2).astype(float)
    rows[7] = rows[11] = 0
    dense = CosineDistance().fit(rows).pairwise(rows, rows)
    thin = sp.csr_array(rows)
    sparse = CosineDistance().fit(thin).pairwise(thin, thin)
    np.testing.assert_allclose(sparse, dense, atol=1e-12)
    assert dense[7, 11] == 0
    nonzero = np.flatnonzero(rows.any(axis=1))
    np.testing.assert_allclose(dense[7, nonzero], 1.0)
    found = NearestNeighbors(n_neighbors=3, metric="cosine").fit(thin).kneighbors(thin)
    np.testing.assert_allclose(found.distances, np.sort(dense, axis=1)[:, :3], atol=1e-12)


def pearson(a, b):
    """The text's formula, cell by cell."""
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    mean_a, mean_b = a[known_a].mean(), b[known_b].mean()
    top = sum((a[i] - mean_a) * (b[i] - mean_b) for i in np.flatnonzero(known_a & known_b))
    below = np.sqrt(((a[known_a] - mean_a) ** 2).sum() * ((b[known_b] - mean_b) ** 2).sum())
    return top / below if below > 1e-12 else 0.0


@pytest.mark.covers("pearson-row-similarity")
def test_pearson_of_rows_with_holes_follows_the_formula(rng):
    rows = rng.integers(1, 6, size=(25, 8)).astype(float)
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[:, 0] = 3
    rows[0] = [4] * 8
    rows[1, 1:] = np.nan
    found = PearsonDistance().fit(rows).similarity(rows, rows)
    flat = np.nanmin(rows, axis=1) == np.nanmax(rows, axis=1)
    for i, j in itertools.combinations(range(25), 2):
        expected = 1.0 if flat[i] and flat[j] else pearson(rows[i], rows[j])
        assert found[i, j] == pytest.approx(expected, abs=1e-9)
    assert np.abs(found).max() <= 1 + 1e-12


@pytest.mark.covers("adjusted-cosine-similarity")
def test_adjusted_cosine_takes_off_the_training_columns_means(rng):
    train = rng.integers(1, 6, size=(30, 6)).astype(float)
    train[rng.random(train.shape) < 0.3] = np.nan
    train[0] = 3.0
    rows = rng.integers(1, 6, size=(9, 6)).astype(float)
    rows[:, 1][rng.random(9) < 0.3] = np.nan
    means = np.nanmean(train, axis=0)
    found = AdjustedCosineDistance().fit(train).similarity(rows, rows)
    centered = np.where(np.isnan(rows), 0, rows - means)
    length = np.linalg.norm(centered, axis=1)
    np.testing.assert_allclose(found, centered @ centered.T / np.outer(length, length), atol=1e-9)


@pytest.mark.covers("chi2-histogram-distance")
def test_chi_square_of_histograms_is_at_most_two(rng):
    counts = rng.integers(0, 9, size=(12, 5)).astype(float)
    counts[:, 0] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    found = ChiSquareDistance().fit(counts).pairwise(counts, counts)
    for i, j in itertools.product(range(12), repeat=2):
        h, g = shares[i], shares[j]
        both = h + g > 0
        expected = ((h - g)[both] ** 2 / (h + g)[both]).sum()
        assert found[i, j] == pytest.approx(expected, abs=1e-12)
    apart = ChiSquareDistance().fit([[1, 0], [0, 1]]).pairwise([[1, 0]], [[0, 1]])
    assert apart[0, 0] == 2
    with pytest.raises(ValueError, match="zeros only"):
        ChiSquareDistance().fit([[0, 0]])


@pytest.mark.covers("great-circle-distance")
def test_great_circles_of_known_length():
    distance = GreatCircleDistance(radius=1).fit([[0, 0]])
    assert distance.pairwise([[0, 0]], [[0, 180]])[0, 0] == pytest.approx(np.pi)
    assert distance.pairwise([[90, 0]], [[0, 77]])[0, 0] == pytest.approx(np.pi / 2)
    near = distance.pairwise([[45, 10]], [[45.0000001, 10]])[0, 0]
    assert near == pytest.approx(np.radians(1e-7), rel=1e-6)
    with pytest.raises(ValueError, match="poles"):
        GreatCircleDistance().fit([[100.0, 0.0]])


@pytest.mark.covers("pairwise-distance-matrix")
def test_blocks_condensed_and_whole_tables_agree_and_memory_is_forecast(rng):
    rows = rng.normal(size=(70, 4))
    whole = pairwise_distances(rows)
    np.testing.assert_allclose(whole, np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2)))
    parts = [block for _, block in distance_blocks(rows, rows=13, n_jobs=2)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-12)
    np.testing.assert_allclose(condensed_distances(rows), whole[np.triu_indices(70, 1)])
    distance = distance_of("manhattan").fit(rows)
    by_pair = rowwise_distances(distance, rows[:30], rows[30:60])
    np.testing.assert_allclose(by_pair, np.abs(rows[:30] - rows[30:60]).sum(axis=1))
    with gnomon.config(memory_limit=1000), pytest.raises(MemoryLimitError, match="distance_blocks"):
        pairwise_distances(rows)


@pytest.mark.covers("pairwise-distance-matrix")
def test_given_distances_stand_for_rows_and_missing_pairs_are_never_neighbors(rng):
    rows = rng.normal(size=(40, 3))
    classes = np.where(rows[:, 0] > 0, "right", "left")
    table = pairwise_distances(rows)
    given = KNeighborsClassifier(3, metric="precomputed").fit(table, classes)
    plain = KNeighborsClassifier(3, metric="euclidean").fit(rows, classes)
    np.testing.assert_array_equal(given.predict(table), plain.predict(rows))
    holes = table.copy()
    holes[0, 1:5] = np.nan
    near = NearestNeighbors(n_neighbors=20, metric="precomputed").fit(table).kneighbors(holes[:1])
    assert not set(near.indices[0].tolist()) & {1, 2, 3, 4}
    with pytest.raises(ValueError, match="square"):
        KNeighborsClassifier(metric="precomputed").fit(rows, classes)
    with pytest.raises(ValueError, match="mirror"):
        checked_dissimilarities([[0, 1], [2, 0]])
    with pytest.raises(ValueError, match="negative"):
        checked_dissimilarities([[0, -1], [-1, 0]])


@pytest.mark.covers("pairwise-distance-matrix", "similarity-to-distance")
def test_rated_pairs_are_averaged_and_unrated_ones_stay_missing():
    table = table_of_pairs([[0, 1], [1, 0], [0, 2], [3, 3]], [8, 10, 5, 10], diagonal=10)
    assert table[0, 1] == table[1, 0] == 9
    assert np.isnan(table[1, 2])
    assert np.isnan(table[0, 3])
    distances = similarity_to_distance(table, "linear", low=0, high=10)
    np.testing.assert_allclose(distances[0, :3], [0, 0.1, 0.5])
    checked_dissimilarities(distances, missing=True)
    with pytest.raises(ValueError, match="missing=True"):
        checked_dissimilarities(distances)


@pytest.mark.covers("class-distance-table")
def test_the_table_of_classes_is_the_mean_over_their_pairs(rng):
    rows = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(15, 2)) + 20, [[50.0, 50.0]]])
    classes = np.array(["a"] * 20 + ["b"] * 15 + ["c"])
    found = class_distance_table(rows, classes)
    whole = pairwise_distances(rows)
    assert found.mean[0, 0] == pytest.approx(whole[:20, :20][np.triu_indices(20, 1)].mean())
    assert found.mean[0, 1] == found.mean[1, 0] == pytest.approx(whole[:20, 20:35].mean())
    assert np.isnan(found.mean[2, 2])
    assert found.separates
    assert not found.sampled
    drawn = class_distance_table(
        rows, classes, max_pairs=100, random_state=int(rng.integers(2**31))
    )
    assert drawn.sampled
    assert "drawn" in str(drawn)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        assert abs(drawn.mean[a, b] - found.mean[a, b]) < 7 * drawn.error[a, b]


def by_hand(rows, targets, weights, query, k, how):
    """Weighted mean of targets at the k nearest rows, repetitions written out."""
    rows, targets = np.repeat(rows, weights, axis=0), np.repeat(targets, weights, axis=0)
    away = np.sqrt(((rows - query) ** 2).sum(axis=1))
    near = np.argsort(away, kind="stable")[:k]
    w = how(away[near])
    return w @ targets[near] / w.sum()


@pytest.mark.covers("k-nearest-neighbors", "knn-distance-weighted")
def test_numbers_and_classes_from_neighbors_are_weighted_means(rng):
    rows, targets = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    weights = rng.integers(1, 4, 60)
    classes = rng.integers(0, 3, 60)
    queries = rng.normal(size=(25, 3))
    for q in (0.0, 1.0, 2.0, 0.37, -1.0):
        common = {"weights": "distance", "power": q, "metric": "euclidean"}
        numbers = KNeighborsRegressor(7, **common).fit(rows, targets, sample_weight=weights)
        shares = KNeighborsClassifier(7, **common).fit(rows, classes, sample_weight=weights)
        indicators = (classes[:, None] == np.arange(3)).astype(float)
        for query, y, p in zip(queries, numbers.predict(queries), shares.predict_proba(queries)):
            how = lambda d, q=q: d ** (-q)  # noqa: E731
            np.testing.assert_allclose(y, by_hand(rows, targets, weights, query, 7, how))
            np.testing.assert_allclose(
                p, by_hand(rows, indicators, weights, query, 7, how), atol=1e-12
            )


@pytest.mark.covers("knn-kernel-weighted")
def test_the_gaussian_over_all_rows_is_the_nadaraya_watson_mean(rng):
    rows, targets = rng.normal(size=(80, 2)), rng.normal(size=80)
    queries = rng.normal(size=(20, 2)) * 2
    model = KNeighborsRegressor(4, weights="gaussian", metric="euclidean").fit(rows, targets)
    between = pairwise_distances(rows)
    sigma = np.sort(between, axis=1)[:, 4].mean()
    assert model.bandwidth_ == pytest.approx(sigma)
    away = ((queries[:, None] - rows[None]) ** 2).sum(axis=2)
    w = np.exp(-(away - away.min(axis=1, keepdims=True)) / (2 * sigma**2))
    np.testing.assert_allclose(model.predict(queries), w @ targets / w.sum(axis=1))
    classes = np.where(targets > 0, "up", "down")
    kernel = KNeighborsClassifier(4, weights="gaussian", bandwidth=0.3, metric="euclidean")
    w = np.exp(-(away - away.min(axis=1, keepdims=True)) / (2 * 0.3**2))
    np.testing.assert_allclose(
        kernel.fit(rows, classes).predict_proba(queries)[:, 1],
        w @ (targets > 0) / w.sum(axis=1),
        atol=1e-12,
    )
    far = model.predict([[1e6, 1e6]])
    assert np.isfinite(far).all()


@pytest.mark.covers("k-nearest-neighbors")
def test_all_neighbors_with_equal_votes_are_the_baseline_and_one_repeats_its_rows(rng):
    rows, targets = rng.normal(size=(41, 3)), rng.normal(size=41)
    everyone = KNeighborsRegressor(41).fit(rows, targets)
    np.testing.assert_allclose(everyone.predict(rows), targets.mean())
    classes = rng.integers(0, 4, 41)
    assert KNeighborsClassifier(1).fit(rows, classes).score(rows, classes) == 1
    with pytest.raises(ValueError, match="at most 41"):
        KNeighborsClassifier(42).fit(rows, classes).predict(rows)
    with pytest.raises(ValueError, match="41 training rows"):
        NearestNeighbors().fit(rows).kneighbors(rows, 42)


@pytest.mark.covers("k-nearest-neighbors")
def test_tied_rows_share_the_votes_that_are_left():
    rows, classes = [[0], [1], [1], [-1], [5]], ["a", "b", "b", "a", "c"]
    model = KNeighborsClassifier(2, metric="euclidean").fit(rows, classes)
    np.testing.assert_allclose(model.predict_proba([[0]])[0], [2 / 3, 1 / 3, 0])
    alike = KNeighborsRegressor(3, metric="euclidean").fit(np.zeros((9, 2)), np.arange(9.0))
    assert alike.predict([[0, 0]])[0] == pytest.approx(4)


@pytest.mark.covers("k-nearest-neighbors")
def test_rows_at_distance_zero_decide_alone_by_their_mean():
    model = KNeighborsRegressor(3, weights="distance", metric="euclidean")
    model.fit([[0], [0], [1]], [2.0, 4.0, 100.0])
    assert model.predict([[0]])[0] == 3


@pytest.mark.covers("k-nearest-neighbors")
def test_label_vectors_of_mixed_kinds_get_means_and_modes(rng):
    rows = rng.normal(size=(50, 3))
    labels = pd.DataFrame(
        {"size": rng.normal(size=50), "color": rng.choice(["red", "blue"], 50).tolist()}
    )
    found = NeighborLabels(5, metric="euclidean").fit(rows, labels).predict(rows[:10])
    order = in_order(pairwise_distances(rows)[:10], 5)
    for i, near in enumerate(order):
        assert found.column("size").to_pylist()[i] == pytest.approx(labels["size"][near].mean())
        counts = labels["color"][near].value_counts()
        assert found.column("color").to_pylist()[i] == counts.idxmax()
    nearest = NeighborLabels(1, metric="euclidean").fit(rows, labels).predict(rows)
    assert nearest.column("color").to_pylist() == labels["color"].tolist()


@pytest.mark.covers("knn-local-learner")
def test_local_planes_are_those_of_ridge_regression_on_the_neighbors(rng):
    rows = rng.normal(size=(120, 3))
    targets = np.sin(rows[:, 0]) + rows[:, 1] ** 2
    model = LocalRegressor(n_neighbors=15, alpha=0.1, metric="euclidean").fit(rows, targets)
    queries = rng.normal(size=(10, 3))
    scale = rows.std(axis=0, ddof=1)
    order = in_order(pairwise_distances(queries, rows), 15)
    for query, near, found in zip(queries, order, model.predict(queries)):
        z = rows[near] / scale
        mean, level = z.mean(axis=0), targets[near].mean()
        z = z - mean
        ridge = 0.1 * (z**2).sum() / 15
        slopes = np.linalg.solve(z.T @ z + ridge * np.eye(3), z.T @ (targets[near] - level))
        assert found == pytest.approx(level + (query / scale - mean) @ slopes)


@pytest.mark.covers("knn-local-learner")
def test_any_learner_is_fitted_once_for_queries_of_the_same_neighbors(rng):
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeClassifier

    fits = []

    class Counting(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(X))
            return super().fit(X, y, sample_weight)

    rows = rng.normal(size=(60, 2))
    targets = rows @ [1.0, 2.0]
    model = LocalRegressor(Counting(), n_neighbors=8, n_jobs=1).fit(rows, targets)
    queries = np.repeat(rng.normal(size=(4, 2)), 5, axis=0)
    np.testing.assert_allclose(model.predict(queries), queries @ [1.0, 2.0])
    assert len(fits) <= 4
    assert set(fits) == {8}
    classes = np.where(targets > 0, "up", "down")
    local = LocalClassifier(DecisionTreeClassifier(random_state=0), n_neighbors=9)
    assert local.fit(rows, classes).score(rows, classes) == 1


def holdout_losses(rows, target, hold, wanted, kept, k):
    away = ((hold[:, None] - rows[None]) ** 2).sum(axis=2)
    wrong = 0
    for line, want in zip(away, wanted):
        near = sorted(kept, key=lambda j: (line[j], j))[:k]
        votes = np.bincount(target[near])
        wrong += votes.argmax() != want
    return wrong


@pytest.mark.covers("knn-prune-stored-set")
@pytest.mark.parametrize("k", [1, 3])
def test_systematic_pruning_removes_what_brute_force_would(k, rng):
    rows, hold = rng.normal(size=(14, 2)), rng.normal(size=(12, 2))
    target = (rows[:, 0] + rng.normal(size=14) > 0).astype(int)
    target[:2] = [0, 1]
    wanted = (hold[:, 0] > 0).astype(int)
    pruned = prune_stored_set(rows, target, hold, wanted, n_neighbors=k, metric="euclidean")
    kept = list(range(14))
    for step, row in enumerate(pruned.removed):
        losses = {
            j: holdout_losses(rows, target, hold, wanted, [i for i in kept if i != j], k)
            for j in kept
        }
        assert losses[row] == min(losses.values())
        assert row == min(j for j, loss in losses.items() if loss == losses[row])
        kept.remove(row)
        assert pruned.losses[step + 1] == pytest.approx(losses[row] / 12)
    assert pruned.kept.tolist() == kept
    assert pruned.losses[-1] == pruned.losses.min() <= pruned.losses[0]
    assert pruned.memory_saved == pytest.approx(1 - len(kept) / 14)


@pytest.mark.covers("knn-prune-stored-set")
def test_satisficing_and_the_homogeneous_filter_keep_the_answers(rng):
    rows = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 12])
    target = np.repeat([0, 1], 60)
    hold = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 12])
    wanted = np.repeat([0, 1], 30)
    only = prune_stored_set(rows, target, hold, wanted, method="none", homogeneous=True)
    assert only.kept.tolist() == [0, 60]
    assert only.losses[-1] == 0
    noisy = target.copy()
    noisy[rng.choice(120, 12, replace=False)] ^= 1
    some = prune_stored_set(
        rows,
        noisy,
        hold,
        wanted,
        method="satisficing",
        trials=5,
        random_state=int(rng.integers(2**31)),
    )
    assert some.losses[-1] <= some.losses[0]
    numbers = prune_stored_set(
        rows, rows[:, 0], hold, hold[:, 0], homogeneous=True, n_neighbors=3, small=0.5
    )
    assert 3 <= len(numbers.kept) < 120


@pytest.mark.covers("knn-prototype-compression")
def test_prototypes_save_memory_and_report_what_is_lost(rng):
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    groups = rng.integers(0, 3, 300)
    rows = centers[groups] + rng.normal(size=(300, 2))
    hold = centers[np.arange(60) % 3] + rng.normal(size=(60, 2))
    seed = int(rng.integers(2**31))
    names = np.array(["a", "b", "c"])
    found = prototypes(
        rows, names[groups], 4, X_hold=hold, y_hold=names[np.arange(60) % 3], random_state=seed
    )
    assert len(found.rows) == 12
    assert found.weights.sum() == 300
    assert found.memory_saved == pytest.approx(1 - 12 / 300)
    assert found.after.value >= found.before.value - 0.1
    one = prototypes(rows, names[groups], 1, random_state=seed)
    for row, name in zip(one.rows, one.targets):
        np.testing.assert_allclose(row, rows[names[groups] == name].mean(axis=0))
    numbers = prototypes(rows, rows[:, 0], 10, X_hold=hold, y_hold=hold[:, 0], random_state=seed)
    assert len(numbers.rows) == 10
    assert "10 prototypes" in str(numbers)


@pytest.mark.covers("impute-knn")
def test_holes_take_the_mean_or_mode_of_the_nearest_rows_that_know_them(rng):
    rows = rng.normal(size=(50, 4))
    holed = np.where(rng.random(rows.shape) < 0.15, np.nan, rows)
    holed[:3] = rows[:3]
    found = NeighborImputer(3, metric="standardized").fit_transform(holed)
    z = (holed - np.nanmean(holed, axis=0)) / np.nanstd(holed, axis=0, ddof=1)
    deviation = np.nanstd(z, axis=0)
    for i, j in np.argwhere(np.isnan(holed)):
        knows = np.flatnonzero(~np.isnan(holed[:, j]))
        columns = np.flatnonzero(~np.isnan(z[i]))
        away = [
            sum(
                z[i, c] ** 2 + deviation[c] ** 2
                if np.isnan(z[row, c])
                else (z[i, c] - z[row, c]) ** 2
                for c in columns
            )
            for row in knows
        ]
        near = knows[np.argsort(away)[:3]]
        if len(columns):
            assert found[i, j] == pytest.approx(holed[near, j].mean())
    known = ~np.isnan(holed)
    np.testing.assert_array_equal(found[known], holed[known])


@pytest.mark.covers("impute-knn")
def test_mixed_tables_are_filled_and_filled_cells_feed_no_others():
    frame = pd.DataFrame(
        {
            "size": [1.0, 1.1, 9.0, 9.2, None, 9.1],
            "color": ["red", "red", "blue", "blue", "red", None],
            "member": [True, True, False, False, None, False],
            "remark": ["a b c"] * 6,
        }
    )
    table = Table.from_frame(frame)
    found = NeighborImputer(2).fit(table).transform(table)
    assert found.column("size").to_pylist()[4] == pytest.approx(1.05)
    assert found.column("color").to_pylist()[5] == "blue"
    assert found.column("member").to_pylist()[4] is True
    chain = np.array([[0.0, 1.0, np.nan], [0.1, np.nan, 5.0], [9.0, 9.0, 7.0]])
    filled = NeighborImputer(1).fit_transform(chain)
    assert filled[0, 2] == 5.0
    assert filled[1, 1] == 1.0


@pytest.mark.covers("impute-knn", "collaborative-filter-knn")
def test_recommending_is_imputation_by_similar_rows(rng):
    rows = rng.normal(size=(20, 7))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    rows[:, :2] = rng.normal(size=(20, 2))
    model = NeighborRecommender(4, similarity="pearson").fit(rows)
    found = model.predict(*np.argwhere(np.isnan(rows)).T)
    filled = NeighborImputer(4, metric="pearson").fit_transform(rows)
    np.testing.assert_allclose(found.ratings, filled[np.isnan(rows)], atol=1e-9)


@pytest.mark.covers("collaborative-filter-knn")
@pytest.mark.parametrize("similarity", ["pearson", "cosine", "adjusted_cosine"])
def test_ratings_are_means_of_the_most_similar_users_who_know_the_item(similarity, rng):
    rows = rng.integers(1, 6, size=(30, 12)).astype(float)
    rows[rng.random(rows.shape) < 0.5] = np.nan
    rows[:, 0] = rng.integers(1, 6, 30)
    rows[0] = rng.integers(1, 6, 12)
    users, items = np.nonzero(~np.isnan(rows))
    model = NeighborRecommender(5, similarity=similarity)
    model.fit(users, items, rows[users, items])
    filled = np.nan_to_num(rows) if similarity == "cosine" else rows
    distance = {
        "pearson": PearsonDistance(),
        "cosine": CosineDistance(),
        "adjusted_cosine": AdjustedCosineDistance(),
    }[similarity].fit(filled)
    similar = distance.similarity(filled, filled)
    flat = distance.coordinates(filled)[:, -1] == 1
    similar[np.ix_(flat, flat)] = 0.0
    holes = np.argwhere(np.isnan(rows))
    found = model.predict(holes[:, 0], holes[:, 1])
    for (user, item), rating in zip(holes, found.ratings):
        knows = np.flatnonzero(~np.isnan(rows[:, item]))
        by_similarity = np.round(similar[user, knows], 9)
        near = knows[np.lexsort([knows, -by_similarity])]
        last = np.sort(by_similarity)[::-1][: min(5, len(knows))][-1]
        if (by_similarity == last).sum() == 1 or len(knows) <= 5:
            assert rating == pytest.approx(rows[near[:5], item].mean())
    assert (found.source == "neighbors").all()


@pytest.mark.covers("collaborative-filter-knn")
def test_who_and_what_has_no_ratings_gets_means_and_it_is_said():
    model = NeighborRecommender(2).fit(["ann", "ann", "bob"], ["x", "y", "x"], [1, 5, 3])
    found = model.predict(["zoe", "bob", "zoe", "ann"], ["x", "new", "new", "y"])
    np.testing.assert_allclose(found.ratings, [2, 3, 3, 3])
    assert found.source.tolist() == ["item mean", "user mean", "overall mean", "user mean"]
    assert model.recommend("bob") == [("y", 5.0)]
    assert model.recommend("zoe", 1) == [("y", 5.0)]
    with pytest.raises(ValueError, match="zoe"):
        model.similarities("zoe")
    frame = pd.DataFrame({"x": [1.0, 3.0], "y": [5.0, None]})
    assert NeighborRecommender(2).fit(frame).predict([1], ["y"]).ratings[0] == 5


@pytest.mark.covers("approximate-nearest-neighbors")
@pytest.mark.parametrize("method", ["auto", "cells", "forest", "brute"])
def test_an_approximate_search_reaches_its_recall_and_gives_exact_distances(method, rng):
    rows = rng.normal(size=(6000, 8))
    queries = rng.normal(size=(200, 8))
    seed = int(rng.integers(2**31))
    model = ApproximateNeighbors(5, recall=0.9, method=method, random_state=seed).fit(rows)
    found = model.kneighbors(queries)
    exact = NearestNeighbors(n_neighbors=5).fit(rows).kneighbors(queries)
    hits = (found.indices[:, :, None] == exact.indices[:, None, :]).any(axis=2).mean()
    assert hits > 0.8
    assert model.recall_.low <= model.recall_.value <= 1
    assert model.recall_.value > 0.8
    apart = np.sqrt(((queries[:, None] - rows[found.indices]) ** 2).sum(axis=2))
    np.testing.assert_allclose(found.distances, apart)
    if method == "auto":
        assert set(model.tuned_.methods) == {"cells", "forest", "brute"}
        assert model.tuned_.costs[model.tuned_.methods.index(model.method_)] == min(
            model.tuned_.costs
        )


@pytest.mark.covers("approximate-nearest-neighbors")
def test_one_call_builds_asks_and_forgets(rng):
    rows = rng.normal(size=(400, 4))
    found, recall = approximate_neighbors(rows, rows[:7], 3, random_state=0)
    assert found.indices[:, 0].tolist() == list(range(7))
    assert recall.value > 0.8
    with pytest.raises(ValueError, match="NearestNeighbors"):
        ApproximateNeighbors(metric="manhattan").fit(rows)


def test_voronoi_cells_are_the_regions_of_the_nearest_point(rng):
    points = rng.random((30, 2))
    points = np.vstack([points, points[:2]])
    cells = voronoi_cells(points, box=[[0, 0], [1, 1]])
    assert len(cells.polygons) == 30
    assert cells.areas.sum() == pytest.approx(1)
    np.testing.assert_array_equal(cells.points[cells.copies], points)
    for point, polygon in zip(cells.points, cells.polygons):
        inner = polygon.mean(axis=0)
        away = ((cells.points - inner) ** 2).sum(axis=1)
        assert ((point - inner) ** 2).sum() == pytest.approx(away.min())
    assert voronoi_cells([[3.0, 3.0]]).areas[0] > 0
    with pytest.raises(ValueError, match="two finite"):
        voronoi_cells([[1.0, 2.0, 3.0]])


def test_an_unknown_distance_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"euclid.*manhattan"):
        distance_of("euclid")
    with pytest.raises(ValueError, match="negative number or NaN"):
        FunctionDistance(lambda a, b: -1.0).fit([[0.0]]).pairwise([[0.0]], [[1.0]])


@pytest.mark.parametrize("d", [2, 3, 5])
def test_a_large_tree_of_boxes_finds_what_brute_force_finds_on_any_number_of_threads(d, rng):
    rows = np.round(rng.normal(size=(40_000, d)), 3)
    queries = np.vstack([rng.normal(size=(900, d)), rows[:100]])
    exact = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(rows).kneighbors(queries)
    for n_jobs in (1, 2):
        model = NearestNeighbors(n_neighbors=4, algorithm="kd_tree", n_jobs=n_jobs).fit(rows)
        found = model.kneighbors(queries)
        np.testing.assert_array_equal(found.indices, exact.indices)
        np.testing.assert_array_equal(found.distances, exact.distances)


def test_rows_of_numbers_are_not_copied(rng):
    rows = rng.normal(size=(50, 3))
    assert np.shares_memory(NearestNeighbors().fit(rows).index_.stored, rows)


@pytest.mark.covers("approximate-nearest-neighbors")
def test_the_forest_is_left_out_where_rows_spread_in_many_directions(rng):
    flat, round_about = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 40))
    plane = ApproximateNeighbors(5, random_state=0).fit(flat @ rng.normal(size=(2, 20))).tuned_
    assert 1.5 < plane.dimension < 2.6
    assert plane.left_out == []
    ball = ApproximateNeighbors(5, random_state=0).fit(round_about).tuned_
    assert ball.dimension > 12
    assert ball.left_out == ["forest"]
    assert "forest was not built" in str(ball)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("l1", "manhattan"),
        ("cityblock", "manhattan"),
        ("l2", "euclidean"),
        ("minkowski", "euclidean"),
        ("infinity", "chebyshev"),
        ("seuclidean", "standardized"),
        ("correlation", "pearson"),
    ],
)
def test_distances_go_by_the_names_of_other_libraries(theirs, ours, rng):
    rows, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    named, own = (KNeighborsClassifier(3, metric=metric).fit(rows, y) for metric in (theirs, ours))
    np.testing.assert_array_equal(named.predict_proba(rows), own.predict_proba(rows))
    assert named.get_params()["metric"] == theirs
    np.testing.assert_array_equal(
        condensed_distances(rows, theirs), condensed_distances(rows, ours)
    )


def test_on_an_array_the_default_metric_is_plain_and_on_a_table_standardized():
    rows, query = [[0.0, 0.0], [0.5, 1000.0]], [[0.5, 400.0]]
    targets = ["near to 0", "near to 1000"]
    plain = KNeighborsClassifier(1).fit(rows, targets)
    assert plain.predict(query) == ["near to 0"]
    table = Table.from_dict({"a": [0.0, 0.5], "b": [0.0, 1000.0]})
    standard = KNeighborsClassifier(1).fit(table, targets)
    assert standard.predict(Table.from_dict({"a": [0.5], "b": [400.0]})) == ["near to 1000"]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_several_targets_are_predicted_like_one_after_the_other(rng, weights):
    rows, queries = rng.normal(size=(80, 3)), rng.normal(size=(30, 3))
    targets = np.column_stack([rng.integers(0, 3, 80), rng.integers(0, 2, 80)])
    for cls in (
        partial(KNeighborsClassifier, 7, weights=weights),
        partial(RadiusNeighborsClassifier, 1.5, weights=weights, outlier_label=0),
    ):
        both = cls().fit(rows, targets)
        for target in range(2):
            alone = cls().fit(rows, targets[:, target])
            np.testing.assert_array_equal(both.predict(queries)[:, target], alone.predict(queries))
            np.testing.assert_allclose(
                both.predict_proba(queries)[target], alone.predict_proba(queries)
            )


def test_predictions_without_rows_leave_each_training_row_out(rng):
    rows, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for model in (KNeighborsRegressor(3), RadiusNeighborsRegressor(2.5)):
        found = model.fit(rows, y).predict(None)
        for i in (0, 17, 39):
            others = np.delete(np.arange(40), i)
            alone = model.fit(rows[others], y[others]).predict(rows[[i]])
            np.testing.assert_allclose(found[i], alone[0])


def test_sparse_rows_have_the_neighbors_of_dense_ones(rng):
    rows = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    for metric in ("euclidean", "manhattan", "cosine"):
        dense = NearestNeighbors(metric=metric).fit(rows).kneighbors(rows[:9])
        thin = NearestNeighbors(metric=metric).fit(sp.csr_array(rows))
        found = thin.kneighbors(sp.csr_array(rows[:9]))
        np.testing.assert_allclose(found.distances, dense.distances, atol=1e-7)
    with pytest.raises(ValueError, match="not valid for sparse input"):
        NearestNeighbors(metric="chebyshev").fit(sp.csr_array(rows))


def test_a_sparse_matrix_of_known_distances_is_searched_as_it_is(rng):
    rows = rng.normal(size=(30, 3))
    search = NearestNeighbors(n_neighbors=4).fit(rows)
    graph = search.kneighbors_graph(n_neighbors=8, mode="distance")
    given = NearestNeighbors(n_neighbors=4, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(given.kneighbors().indices, search.kneighbors().indices)
    with pytest.raises(ValueError, match="9 neighbors per samples are required"):
        given.kneighbors(n_neighbors=9)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("kind", ["plain", "ties", "far from zero", "uneven", "far queries"])
def test_neighbors_are_those_of_plain_sums_to_the_bit(algorithm, kind):
    rng = np.random.default_rng(5)
    for n, d, k in ((40, 1, 40), (700, 3, 1), (900, 40, 12)):
        X, Q = rng.normal(size=(n, d)), rng.normal(size=(30, d))
        if kind == "ties":
            X, Q = np.round(1.5 * X), np.round(1.5 * Q)
        elif kind == "far from zero":
            X, Q = X + 1e6, Q + 1e6
        elif kind == "uneven":
            X = X * np.exp(8 * rng.normal(size=d))
            Q = X[:30] + 1e-9
        elif kind == "far queries":
            Q = Q * 1e8
        sums = np.zeros((len(Q), n))
        for j in range(d):
            sums += (Q[:, j : j + 1] - X[:, j]) ** 2
        order = np.argsort(sums, axis=1, kind="stable")[:, :k]
        found = NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(X).kneighbors(Q)
        np.testing.assert_array_equal(found.indices, order)
        expected = np.sqrt(np.take_along_axis(sums, order, axis=1))
        np.testing.assert_array_equal(found.distances, expected)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("levels", [3, 9])
def test_rows_tied_at_the_last_place_all_share_in_the_vote(weights, levels):
    """Hundreds of rows may be as near as the k-th; each counts the same."""
    rng = np.random.default_rng(levels)
    rows, queries = (rng.integers(0, levels, (n, 3)).astype(float) for n in (2000, 60))
    y, mass = rng.normal(size=len(rows)), rng.uniform(0.5, 2.0, len(rows))
    found = KNeighborsRegressor(n_neighbors=7, weights=weights).fit(rows, y, mass).predict(queries)
    for query, answer in zip(queries, found):
        away = np.sqrt(((rows - query) ** 2).sum(axis=1))
        order = np.argsort(away)
        reach = away[order][np.searchsorted(np.cumsum(mass[order]), 7)]
        inside, tied = mass * (away < reach - 1e-9), mass * (np.abs(away - reach) < 1e-9)
        counted = inside + tied * (7 - inside.sum()) / tied.sum()
        if weights == "distance":
            counted = counted * (away == 0) if (away == 0).any() else counted / away
        assert answer == pytest.approx(np.average(y, weights=counted), rel=1e-9, abs=1e-9)
