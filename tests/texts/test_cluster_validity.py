"""Measures and relations of 001 chapters 18 to 22, 000b chapter 8 and 004 chapters 12 to 17."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gnomon.cluster import (
    DBSCAN,
    ConstrainedKMeans,
    DensityRelations,
    SoftKMeans,
    betacv,
    choose_by_knee,
    cluster_criteria,
    contradictions,
    davies_bouldin,
    dbscan_on_distances,
    density_attractor,
    is_nested,
    linkage_tree,
    membership_probability,
    number_of_dendrograms,
    proximity_weights,
    silhouette,
    soft_step,
    stirling,
)
from gnomon.engine.errors import DataError

POINTS = np.array([(0, 0), (0, 1), (1, 0), (5, 5), (5, 6), (6, 5), (10, 0), (10, 1)], dtype=float)
LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2])


@pytest.mark.covers("cluster-proximity-weights", "betacv")
def test_weights_of_the_cut_and_betacv_of_eight_points():
    found = proximity_weights(POINTS, LABELS)
    assert found.within == pytest.approx(7.828427, abs=1e-6)
    assert found.between == pytest.approx(162.632781, abs=1e-6)
    assert (found.n_within, found.n_between) == (7, 21)
    assert betacv(POINTS, LABELS) == pytest.approx(0.144407, abs=1e-6)


@pytest.mark.covers("davies-bouldin-rms")
def test_davies_bouldin_of_the_text_is_not_that_of_scikit_learn():
    assert davies_bouldin(POINTS, LABELS) == pytest.approx(0.183591, abs=1e-6)
    assert davies_bouldin(POINTS, LABELS, spread="mean") == pytest.approx(0.180583, abs=1e-6)


@pytest.mark.covers("silhouette-coefficient")
def test_silhouettes_of_eight_points():
    found = silhouette(POINTS, LABELS)
    expected = [0.867792, 0.824933, 0.824933, 0.849074, 0.836083, 0.799816, 0.859052, 0.843187]
    np.testing.assert_allclose(found.per_row, expected, atol=1e-6)
    assert found.total == pytest.approx(0.838109, abs=1e-6)
    np.testing.assert_allclose(
        found.per_cluster,
        [np.mean(expected[:3]), np.mean(expected[3:6]), np.mean(expected[6:])],
        atol=1e-6,
    )


@pytest.mark.covers("silhouette-coefficient")
def test_a_row_alone_in_its_cluster_has_silhouette_zero():
    assert silhouette([[0.0], [1.0], [9.0]], [0, 0, 1]).per_row[2] == 0.0


@pytest.mark.covers("intra-inter-cluster-criteria")
def test_objectives_of_equations_12_5_to_12_7_are_their_sums():
    found = cluster_criteria(POINTS, LABELS)
    means = np.stack([POINTS[c == LABELS].mean(axis=0) for c in range(3)])
    away = np.sqrt(((POINTS - means[LABELS]) ** 2).sum(axis=1))
    assert found.pairs_within == pytest.approx(7.828427, abs=1e-6)
    assert found.to_centers == pytest.approx(away.sum())
    assert found.squared_to_centers == pytest.approx((away**2).sum())
    gaps = [np.linalg.norm(means[i] - means[j]) for i in range(3) for j in range(i)]
    assert found.between_centers == pytest.approx(min(gaps))
    other = cluster_criteria(POINTS, LABELS, metric="cityblock")
    assert other.to_centers == pytest.approx(np.abs(POINTS - means[LABELS]).sum())


@pytest.mark.covers("stirling-partition-count")
def test_stirling_numbers_start_their_sum_at_zero():
    values = [stirling(4, 2), stirling(5, 3), stirling(10, 3), stirling(10, 5), stirling(3, 3)]
    assert values == [7, 25, 9330, 42525, 1]
    assert stirling(3, 4) == 0


@pytest.mark.covers("linkage-criteria", "agglomerative-clustering")
@pytest.mark.parametrize(
    ("linkage", "heights"),
    [
        ("single", [1, 2, 3, 4]),
        ("complete", [1, 3, 4, 10]),
        ("average", [1, 2.5, 4, 6.666667]),
        ("mean", [1, 2.5, 4, 6.666667]),
        ("ward", [1, 2.886751, 4, 10.327956]),
    ],
)
def test_heights_of_five_numbers(linkage, heights):
    tree = linkage_tree(np.array([[1.0], [2.0], [4.0], [7.0], [11.0]]), linkage)
    np.testing.assert_allclose(tree.heights, heights, atol=1e-6)


@pytest.mark.covers("nested-partitions")
def test_partitions_of_a_tree_are_nested_and_trees_are_counted(rng):
    assert [number_of_dendrograms(n) for n in range(1, 7)] == [1, 1, 3, 15, 105, 945]
    tree = linkage_tree(rng.normal(size=(12, 2)), "average")
    for k in range(1, 12):
        assert is_nested(tree.cut(k + 1), tree.cut(k))
        assert not is_nested(tree.cut(k), tree.cut(k + 1))
        assert not is_nested(tree.cut(k), tree.cut(k))
    assert not is_nested([0, 1, 2, 2], [0, 1, 1, 0])


@pytest.mark.covers("dbscan")
def test_a_border_row_between_two_clusters_goes_by_the_rule_that_is_asked_for():
    rows = np.array([[0, 0.5, 1, 2.4, 3.8, 4.3, 4.8]]).T
    model = DBSCAN(1.4 + 1e-12, min_samples=4).fit(rows)
    assert model.kinds(rows).tolist() == ["border", "border", "core", "border", "core"] + (
        ["border"] * 2
    )
    assert model.memberships(rows)[3].tolist() == [True, True]
    first = DBSCAN(1.4 + 1e-12, min_samples=4, border="first").fit_predict(rows)
    assert first.tolist() == [0, 0, 0, 0, 1, 1, 1]
    table = np.abs(rows - rows.T)
    found = dbscan_on_distances(table, 1.4 + 1e-12, 4)
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert np.flatnonzero(found.core).tolist() == [2, 4]


@pytest.mark.covers("dbscan")
def test_one_cluster_and_a_noise_row():
    rows = np.array([[0, 1, 2, 3.5, 5, 6, 7, 20]]).T
    model = DBSCAN(1.5, min_samples=3).fit(rows)
    assert model.labels_.tolist() == [0] * 7 + [-1]
    assert sorted(model.core_rows_.ravel().tolist()) == [1, 2, 3.5, 5, 6]


@pytest.mark.covers("density-reachability")
def test_reachability_is_not_symmetric_and_connection_is():
    relations = DensityRelations([[0.0], [1.0], [2.0], [3.5], [9.0]], 1.5, 3)
    assert [relations.is_core(i) for i in range(5)] == [False, True, True, False, False]
    assert relations.directly_reachable(1, 0)
    assert not relations.directly_reachable(0, 1)
    assert relations.chain(1, 3) == [1, 2, 3]
    assert relations.chain(3, 1) is None
    one, other = relations.connected(0, 3), relations.connected(3, 0)
    assert one.to_first[-1] == 0
    assert one.to_second[-1] == 3
    assert other.to_first[-1] == 3
    assert relations.connected(0, 4) is None
    for chain in (one.to_first, one.to_second):
        assert all(relations.directly_reachable(a, b) for a, b in pairwise(chain))


@pytest.mark.covers("soft-kmeans")
def test_a_soft_step_of_000_and_an_on_line_step_of_004():
    shares, centers = soft_step([[0.0], [1.0], [4.0], [5.0], [9.0]], [[0.0], [5.0]], 1.5)
    np.testing.assert_allclose(
        shares[:, 0], [0.996149, 0.965555, 0.034445, 0.003851, 1e-6], atol=1e-6
    )
    np.testing.assert_allclose(centers.ravel(), [0.561298, 5.959136], atol=1e-6)
    first = np.array([[0.0, 0.0], [3.0, 4.0]])
    model = SoftKMeans(2, membership="exponential", scale=1.0, rate=0.1, init=first)
    model.fit(first)
    model.cluster_centers_ = first
    model.partial_fit([[0.0, 1.0]])
    np.testing.assert_allclose(
        model.cluster_centers_, [[0, 0.096241], [2.988722, 3.988722]], atol=1e-6
    )


@pytest.mark.covers("soft-kmeans")
def test_memberships_of_distances_1_2_4():
    centers = np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 4.0]])
    model = SoftKMeans(3, membership="exponential", scale=1.0, init=centers).fit(centers)
    model.cluster_centers_ = centers
    np.testing.assert_allclose(
        model.predict_proba([[0.0, 0.0]])[0], [0.705385, 0.259496, 0.035119], atol=1e-6
    )


@pytest.mark.covers("pck-means")
def test_pck_energy_of_four_points():
    rows = [[0.0], [1.0], [10.0], [11.0]]
    model = ConstrainedKMeans(
        2, must_link=[(1, 2, 2.0)], cannot_link=[(0, 1, 3.0)], random_state=0
    ).fit(rows)
    assert model.history_[-1] == pytest.approx(6.0)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    assert sorted(model.broken_) == [(0, 1), (1, 2)]


@pytest.mark.covers("pck-means")
def test_contradictory_links_are_named():
    assert contradictions([(0, 1), (1, 2)], [(0, 2)], 4) == [(0, 2)]
    model = ConstrainedKMeans(
        2, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], links="never", random_state=0
    )
    with pytest.raises(DataError, match=r"cannot_link \(0, 2\).*\[0, 1, 2\]"):
        model.fit([[0.0], [1.0], [2.0], [9.0]])


@pytest.mark.covers("cluster-membership-probability")
def test_membership_of_a_point_by_the_chi_square_law():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rows = np.column_stack([2 * np.cos(angle), np.sin(angle)])
    squared = 2 * ((np.array([2.0, 0.0]) / [2, 1]) ** 2).sum()
    found = membership_probability(rows, np.zeros(60), [[0.0, 0.0], [2.0, 0.0]])[:, 0]
    np.testing.assert_allclose(found, [1.0, np.exp(-squared / 2)])
    spread = np.sqrt((rows**2).sum(axis=1).mean())
    spherical = membership_probability(rows, np.zeros(60), [[spread, 0.0]], shape="spherical")
    assert spherical[0, 0] == pytest.approx(0.3173105, abs=1e-6)


@pytest.mark.covers("density-attractor")
def test_both_ways_of_climbing_end_at_the_top():
    rows = np.array([[1.0], [2.0], [2.5], [4.0], [7.0]])
    direct = density_attractor(rows, [1.0], 1.0, tol=1e-9)
    gradient = density_attractor(rows, [1.0], 1.0, update="gradient", tol=1e-9)
    assert direct.attractor[0] == pytest.approx(gradient.attractor[0], abs=1e-5)
    grid = np.linspace(0, 5, 5001)
    kernels = np.exp(-0.5 * (grid[:, None] - rows.ravel()) ** 2).sum(axis=1)
    assert direct.attractor[0] == pytest.approx(grid[kernels.argmax()], abs=2e-3)
    assert direct.density == pytest.approx(kernels.max() / (5 * np.sqrt(2 * np.pi)), rel=1e-5)


@pytest.mark.covers("knee-curve")
def test_the_knee_of_iris_is_at_two_or_three():
    from sklearn.datasets import load_iris

    choice = choose_by_knee(load_iris().data, range(1, 11), random_state=0)
    best = [681.37, 152.35, 78.85, 57.23, 46.45, 39.04, 34.30, 30.01, 28.05, 25.97]
    assert (choice.values >= np.array(best) - 0.01).all()
    np.testing.assert_allclose(choice.values[:3], best[:3], rtol=1e-3)
    assert choice.chosen in (2, 3)
    assert set(choice.reasonable) <= {2, 3, 4}
