"""Clusters by lattices, spanning trees and modes against brute force and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist, squareform

from gnomon.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    MeanShift,
    MiniBatchKMeans,
    dbscan_on_distances,
    linkage_tree,
)
from gnomon.cluster.cells import lattice
from gnomon.cluster.minibatch import batch_pass
from gnomon.cluster.spanning import core_distances, shortest_edges, ward_merges


def clouds(rng, n, d):
    """Rows of a few clouds of different width, some of them thinly spread."""
    widths = rng.choice([0.3, 1.0, 2.0], size=(n, 1))
    return rng.normal(size=(n, d)) * widths + 4.0 * rng.integers(0, 4, size=(n, 1))


def same_groups(one, other) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return bool(((one[:, None] == one) == (other[:, None] == other)).all())


@pytest.mark.covers("dbscan-grid-exact", "dbscan")
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("eps", [1e-3, 0.1, 0.5, 1.0, 2.5, 100.0])
def test_a_lattice_gives_the_clusters_of_the_definition(d, eps, rng):
    for whole in (False, True):
        rows = clouds(rng, 150, d)
        rows = np.round(2 * rows) / 2 if whole else rows
        min_samples = int(rng.integers(1, 12))
        model = DBSCAN(eps, min_samples=min_samples).fit(rows)
        distances = cdist(rows, rows)
        truth = dbscan_on_distances(distances, eps, min_samples)
        kinds = model.kinds(rows)
        assert ((kinds == "core") == truth.core).all()
        assert same_groups(model.labels_[truth.core], truth.labels[truth.core])
        reached = (distances[:, truth.core] <= eps).any(axis=1)
        assert ((model.labels_ >= 0) == reached).all()
        for i in np.flatnonzero(kinds == "border"):
            nearest = np.flatnonzero(truth.core)[
                distances[i, truth.core] == distances[i, truth.core].min()
            ]
            assert model.labels_[i] in model.labels_[nearest]


@pytest.mark.covers("dbscan-grid-exact")
def test_big_cells_side_by_side_are_joined_only_where_rows_are_near(rng):
    left = np.column_stack([rng.uniform(0, 0.3, 2000), rng.uniform(0, 0.3, 2000)])
    right = left + np.array([1.0 + np.ptp(left[:, 0]), 0.0])
    gap = cdist(left, right).min()
    rows = np.vstack([left, right])
    assert DBSCAN(gap * 0.999, min_samples=5).fit(rows).n_clusters_ == 2
    assert DBSCAN(gap * 1.001, min_samples=5).fit(rows).n_clusters_ == 1


def test_a_lattice_of_too_many_cells_is_left_to_the_tree(rng):
    rows = rng.normal(size=(50, 3))
    assert lattice(rows, 1e-12) is None
    assert lattice(rng.normal(size=(50, 4)), 1.0) is None
    assert (DBSCAN(1e-12, min_samples=2).fit_predict(rows) == -1).all()
    assert (DBSCAN(0.0, min_samples=1).fit_predict(rows) >= 0).all()


@pytest.mark.covers("agglomerative-clustering")
@pytest.mark.parametrize("kind", ["ward", "single"])
def test_merges_through_a_tree_of_boxes_are_those_of_the_table_of_distances(kind, rng):
    n, d = int(rng.integers(2, 900)), int(rng.integers(1, 7))
    rows = clouds(rng, n, d)
    ours, theirs = linkage_tree(rows, kind), linkage(rows, kind)
    np.testing.assert_allclose(ours.heights, theirs[:, 2], rtol=1e-9, atol=1e-9)
    k = int(rng.integers(1, n + 1))
    table = linkage_tree(cdist(rows, rows), kind, metric="precomputed")
    assert same_groups(ours.cut(k), table.cut(k))


@pytest.mark.covers("agglomerative-clustering")
def test_a_long_chain_of_growing_steps_is_merged_as_ward_asks():
    rows = np.cumsum(1.01 ** np.arange(700))[:, None]
    merges = ward_merges(rows - rows.mean(axis=0), np.ones(len(rows)))
    heights = np.sort(np.sqrt(2 * merges.squared))
    np.testing.assert_allclose(heights, linkage(rows, "ward")[:, 2], rtol=1e-7)


@pytest.mark.parametrize("kind", ["ward", "single"])
def test_trees_do_not_depend_on_the_number_of_threads(kind, rng):
    rows = clouds(rng, 3000, 3)
    one, two = (linkage_tree(rows, kind, n_jobs=n).merges for n in (1, 2))
    assert (one == two).all()


@pytest.mark.parametrize("kind", ["ward", "single", "mean", "median", "complete", "average"])
def test_one_and_two_rows_have_a_tree(kind):
    assert AgglomerativeClustering(1, linkage=kind).fit_predict([[1.0, 2.0]]).tolist() == [0]
    assert linkage_tree([[0.0, 0.0], [3.0, 4.0]], kind).heights.tolist() == [5.0]


def mutual_reach(rows, enough):
    distances = cdist(rows, rows)
    core = np.sort(distances, axis=1)[:, enough - 1]
    return np.maximum(distances, np.maximum(core[:, None], core)), core


def test_core_distances_and_the_spanning_tree_are_those_of_all_pairs(rng):
    n, enough = int(rng.integers(20, 500)), int(rng.integers(1, 12))
    rows = clouds(rng, n, int(rng.integers(1, 6)))
    table, core = mutual_reach(rows, enough)
    squared = core_distances(rows, np.ones(n), float(enough))
    np.testing.assert_allclose(np.sqrt(squared), core, rtol=1e-9, atol=1e-12)
    edges = shortest_edges(rows, squared)
    np.fill_diagonal(table, 0)
    total = minimum_spanning_tree(table).sum()
    np.testing.assert_allclose(np.sqrt(edges.squared).sum(), total, rtol=1e-9)
    graph = np.zeros((n, n))
    graph[edges.one, edges.other] = 1
    assert connected_components(graph, directed=False)[0] == 1


def test_a_core_distance_counts_weight_like_repetition(rng):
    rows, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
    repeated = np.repeat(rows, weights, axis=0)
    by_weight = core_distances(rows, weights.astype(float), 7.0)
    assert (
        np.repeat(by_weight, weights) == core_distances(repeated, np.ones(len(repeated)), 7.0)
    ).all()


def lasting_clusters(rows, size, enough):
    """HDBSCAN by its definition: components of rows that reach each other, level by level."""
    table, _ = mutual_reach(rows, enough)

    def life(members, birth):
        """Stability of a cluster, and the clusters that it splits in, each with its birth."""
        stability, left = 0.0, members
        while True:
            height = linkage(squareform(table[np.ix_(left, left)], checks=False), "single")[-1, 2]
            near = table[np.ix_(left, left)] < height
            _, part = connected_components(near, directed=False)
            parts = [left[part == each] for each in np.unique(part)]
            heavy = [each for each in parts if len(each) >= size]
            gone = len(left) - (len(heavy[0]) if len(heavy) == 1 else 0)
            stability += gone * (1 / height - birth)
            if len(heavy) != 1:
                return stability, [(each, 1 / height) for each in heavy]
            left = heavy[0]

    def best(members, birth, may_stay):
        stability, children = life(members, birth)
        below = [best(each, start, True) for each, start in children]
        total = sum(value for value, _ in below)
        if may_stay and stability >= total:
            return stability, [members]
        return total, [cluster for _, clusters in below for cluster in clusters]

    labels = np.full(len(rows), -1)
    for number, cluster in enumerate(best(np.arange(len(rows)), 0.0, False)[1]):
        labels[cluster] = number
    return labels


def test_the_clusters_that_last_longest_are_those_of_all_levels(rng):
    rows = clouds(rng, int(rng.integers(30, 90)), int(rng.integers(1, 4)))
    size, enough = int(rng.integers(2, 8)), int(rng.integers(1, 6))
    model = HDBSCAN(size, min_samples=enough).fit(rows)
    truth = lasting_clusters(rows, size, enough)
    assert ((model.labels_ < 0) == (truth < 0)).all()
    assert same_groups(model.labels_, truth)
    assert (model.predict(rows) == model.labels_).all()


def test_too_few_rows_are_noise_and_all_rows_may_be_one_cluster(rng):
    assert (HDBSCAN(5).fit_predict(rng.normal(size=(4, 2))) == -1).all()
    rows = rng.normal(size=(200, 2)) * 0.1
    single = HDBSCAN(60, allow_single_cluster=True).fit(rows)
    theirs = peers.HDBSCAN(60, allow_single_cluster=True, copy=True).fit(rows)
    np.testing.assert_array_equal(single.labels_, theirs.labels_)
    assert 0 in single.labels_
    assert (HDBSCAN(101).fit_predict(rows) == -1).all()


def test_rows_that_stay_to_the_last_have_probability_one_and_noise_none(rng):
    model = HDBSCAN(10).fit(np.vstack([clouds(rng, 300, 2), rng.uniform(-10, 20, (30, 2))]))
    share = model.row_probabilities_
    assert ((share > 0) == (model.row_labels_ >= 0)).all()
    assert share.max() <= 1
    for cluster in range(model.n_clusters_):
        assert share[model.row_labels_ == cluster].max() == 1


@pytest.mark.covers("density-attractor")
@pytest.mark.parametrize("seeds", ["bins", "rows"])
def test_modes_are_means_of_the_rows_around_them_and_lie_apart(seeds, rng):
    rows = clouds(rng, 300, 2)
    model = MeanShift(bandwidth=1.5, bin_seeding=seeds == "bins").fit(rows)
    centers = model.cluster_centers_
    inside = cdist(centers, rows) <= 1.5
    means = inside @ rows / inside.sum(axis=1)[:, None]
    assert np.abs(means - centers).max() < 0.1
    assert model.weight_within_.tolist() == inside.sum(axis=1).tolist()
    apart = cdist(centers, centers) + 10 * np.eye(len(centers))
    assert apart.min() > 1.5
    assert (model.labels_ == cdist(rows, centers).argmin(axis=1)).all()


def test_rows_far_from_every_mode_may_be_noise(rng):
    rows = np.vstack([rng.normal(size=(100, 2)) * 0.2, [[1.5, 0.0]]])
    assert MeanShift(bandwidth=1.0, cluster_all=False).fit_predict(rows).min() in (-1, 0)
    model = MeanShift(bandwidth=1.0, cluster_all=False).fit(rows)
    far = cdist(rows, model.cluster_centers_).min(axis=1) > 1.0
    assert ((model.labels_ == -1) == far).all()


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_batch_moves_centers_to_the_mean_of_all_rows_they_were_given(size, rng):
    rows, centers = clouds(rng, 60, 2), rng.normal(size=(4, 2))
    drawn = rng.integers(0, 60, size=100)
    ours, counts = centers.copy(), np.zeros(4)
    batch_pass(rows, drawn, size, ours, counts, np.array([0.0, np.nan, np.inf, 0.0]), 1.0, 0)
    given: list[list[np.ndarray]] = [[] for _ in range(4)]
    for begin in range(0, 100, size):
        batch = rows[drawn[begin : begin + size]]
        nearest = cdist(batch, centers).argmin(axis=1)
        for row, own in zip(batch, nearest):
            given[own].append(row)
        centers = np.array(
            [np.mean(each, axis=0) if each else old for each, old in zip(given, centers)]
        )
    np.testing.assert_allclose(ours, centers, atol=1e-9)
    assert counts.tolist() == [len(each) for each in given]


@pytest.mark.parametrize("batch_size", [1, 32])
def test_rows_that_come_later_move_the_centers_less_and_less(batch_size, rng):
    rows = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 20])
    model = MiniBatchKMeans(2, batch_size=batch_size, random_state=0).fit(rows)
    assert same_groups(model.labels_, np.repeat([0, 1], 100))
    before = model.cluster_weights_.sum()
    model.partial_fit(rows)
    assert model.cluster_weights_.sum() == before + 200
    own = model.predict([[0.0, 0.0]])[0]
    old, weight = model.cluster_centers_[own].copy(), model.cluster_weights_[own]
    model.partial_fit([[5.0, 5.0]])
    np.testing.assert_allclose(
        model.cluster_centers_[own], old + ([5.0, 5.0] - old) / (weight + 1), atol=1e-12
    )


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_clusters_by_any_metric_are_those_of_the_table_of_distances(metric, rng):
    rows = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 9]) + 5
    table = cdist(rows, rows, {"manhattan": "cityblock"}.get(metric, metric))
    eps = float(np.median(np.sort(table, axis=1)[:, 4]))
    for cls, given in ((DBSCAN, {"eps": eps, "min_samples": 4}), (HDBSCAN, {"copy": True})):
        ours = cls(metric=metric, **given).fit(rows)
        known = cls(metric="precomputed", **given).fit(table)
        theirs = getattr(peers, cls.__name__)(metric=metric, **given).fit(rows)
        assert same_groups(ours.labels_, known.labels_)
        assert same_groups(ours.labels_ >= 0, theirs.labels_ >= 0) or cls is HDBSCAN
    plain = DBSCAN(eps=1.0, min_samples=4).fit(rows)
    thin = DBSCAN(eps=1.0, min_samples=4).fit(csr_array(rows))
    assert same_groups(plain.labels_, thin.labels_)


def test_rows_with_gaps_are_labeled_apart(rng):
    rows = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 20])
    whole = HDBSCAN().fit(rows)
    rows = np.vstack([rows, [[np.nan, 0.0], [np.inf, 0.0]]])
    model = HDBSCAN().fit(rows)
    np.testing.assert_array_equal(model.labels_, [*whole.labels_, -3, -2])
    assert np.isnan(model.probabilities_[-2])
    assert model.probabilities_[-1] == 0


def test_clusters_that_appear_below_an_epsilon_are_joined(rng):
    places = np.repeat([0.0, 1.2, 9.0, 10.2], 30)[:, None]
    rows = rng.normal(size=(120, 2)) * 0.1 + places
    assert HDBSCAN().fit(rows).n_clusters_ == 4
    joined = HDBSCAN(cluster_selection_epsilon=3.0).fit(rows)
    assert joined.n_clusters_ == 2
    assert same_groups(joined.labels_[joined.labels_ >= 0], (places > 5)[joined.labels_ >= 0, 0])
