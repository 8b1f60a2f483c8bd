"""Merges by comparing all pairs, against brute force on small tables with and without ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, squareform

from gnomon.cluster import AgglomerativeClustering, all_pairs, linkage_tree
from gnomon.cluster.agglomerative import tree_of_rows, tree_of_table
from gnomon.cluster.spanning import shortest_edges

LINKAGES = ["single", "complete", "average", "ward"]


def some_rows(rng, n: int, d: int, tied: bool) -> np.ndarray:
    """Different rows; with ties on a lattice of few steps, where many distances are equal."""
    if not tied:
        return rng.normal(size=(n, d))
    return np.unique(rng.integers(0, 3, (n, d)), axis=0).astype(float)


def distance_of(kind: str, table, weights, one: list[int], other: list[int]) -> float:
    """The distance of two clusters by its definition; Ward's from the squares of all pairs."""
    part, w, v = table[np.ix_(one, other)], weights[one], weights[other]
    if kind == "single":
        return part.min()
    if kind == "complete":
        return part.max()
    if kind == "average":
        return w @ part @ v / (w.sum() * v.sum())
    between = w @ part**2 @ v / (w.sum() * v.sum())
    inside = sum(
        u @ table[np.ix_(rows, rows)] ** 2 @ u / (2 * u.sum() ** 2)
        for rows, u in ((one, w), (other, v))
    )
    return np.sqrt(2 * w.sum() * v.sum() / (w.sum() + v.sum()) * max(between - inside, 0.0))


def require_nearest_merges(kind: str, merges, table, weights) -> None:
    """Every merge has the distance of its two clusters, and no two others were nearer."""
    clusters = {i: [i] for i in range(len(table))}
    for step, (one, other, height, weight) in enumerate(merges):
        names = list(clusters)
        least = min(
            distance_of(kind, table, weights, clusters[a], clusters[b])
            for place, a in enumerate(names)
            for b in names[place + 1 :]
        )
        here = distance_of(kind, table, weights, clusters[int(one)], clusters[int(other)])
        assert height == pytest.approx(here, rel=1e-9, abs=1e-12)
        assert height == pytest.approx(least, rel=1e-9, abs=1e-12)
        union = clusters.pop(int(one)) + clusters.pop(int(other))
        assert weight == pytest.approx(weights[union].sum())
        clusters[len(table) + step] = union


@pytest.mark.parametrize("kind", [*LINKAGES, "weighted"])
def test_the_chain_on_a_table_has_the_heights_of_scipy(kind, rng):
    for n in (2, 3, 30):
        table = cdist(*[rng.normal(size=(n, 4))] * 2)
        if kind != "ward":  # any distances, not those of rows
            table = squareform(rng.uniform(1, 2, n * (n - 1) // 2))
        ours = linkage_tree(table, kind, metric="precomputed").merges
        theirs = linkage(squareform(table, checks=False), kind)
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-9)
        np.testing.assert_array_equal(ours[:, :2], np.sort(theirs[:, :2], axis=1))


@pytest.mark.parametrize("tied", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("kind", LINKAGES)
def test_the_chain_on_a_table_always_merges_two_that_are_nearest(kind, tied, rng):
    rows = some_rows(rng, 16, 3, tied)
    table = cdist(rows, rows)
    for weights in (np.ones(len(rows)), rng.integers(1, 4, len(rows)).astype(float)):
        merges = tree_of_table(table.copy(), weights, kind).merges
        require_nearest_merges(kind, merges, table, weights)


def test_equal_distances_have_the_heights_of_scipy_in_single_linkage(rng):
    table = squareform(rng.integers(1, 4, 20 * 19 // 2).astype(float))
    ours = linkage_tree(table, "single", metric="precomputed")
    np.testing.assert_array_equal(ours.heights, linkage(squareform(table), "single")[:, 2])


@pytest.mark.parametrize("tied", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("kind", LINKAGES)
def test_few_rows_of_many_columns_are_merged_as_the_nearest(kind, tied, rng):
    rows = some_rows(rng, 15, 10, tied) + 100.0
    weights = np.ones(len(rows))
    merges = tree_of_rows(rows, weights, kind).merges
    require_nearest_merges(kind, merges, cdist(rows, rows), weights)


def test_distances_by_products_are_those_of_single_pairs(rng):
    rows = rng.normal(size=(300, 9))
    rows[10] = rows[290]
    rows[20] = rows[270] + 1e-9
    rows[30:40] *= 1e6
    rows -= rows.mean(axis=0)
    table = all_pairs.distances_within(rows, n_jobs=2)
    np.testing.assert_allclose(table, cdist(rows, rows), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(table, table.T)
    assert table[10, 290] == 0.0


@pytest.mark.parametrize("tied", [False, True], ids=["no ties", "ties"])
def test_the_neighbor_of_least_squares_is_the_first_of_all_pairs(tied, rng, monkeypatch):
    monkeypatch.setattr(all_pairs, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(all_pairs, "FEWEST_AT_ONCE", 7)  # so that there are several parts
    centers = some_rows(rng, 60, 6, tied)
    n = len(centers)
    weights = rng.integers(1, 4, n).astype(float)
    near, added = np.full(n, -1), np.full(n, np.inf)
    near[5], added[5] = 3, 0.25  # known before
    all_pairs.find_ward_neighbors(centers, weights, near, added, None)
    cost = weights[:, None] * weights / (weights[:, None] + weights)
    cost = cost * cdist(centers, centers, "sqeuclidean")
    np.fill_diagonal(cost, np.inf)
    expected = cost.argmin(axis=1)
    expected[5], cost[5, 3] = 3, 0.25
    if not tied:
        np.testing.assert_array_equal(near, expected)
    np.testing.assert_allclose(added, cost[np.arange(n), expected], rtol=1e-12)
    np.testing.assert_allclose(cost[np.arange(n), near], added, rtol=1e-12)


def test_of_equally_near_clusters_the_first_is_taken():
    centers = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [2.0, 2.0]])
    near, added = np.full(5, -1), np.full(5, np.inf)
    all_pairs.find_ward_neighbors(centers, np.ones(5), near, added, None)
    assert near.tolist() == [1, 0, 0, 0, 1]
    assert added.tolist() == [2.0] * 5


def test_clusters_at_once_hold_few_megabytes_at_any_number():
    for n in (1, 100, 3000, 10**5, 10**6):
        size = all_pairs.clusters_at_once(n)
        assert 16 <= size <= 256
        assert size == 16 or size * n <= 2**19


def plain_prim(lengths: np.ndarray) -> list[tuple[int, int, float]]:
    """Prim's edges from row 0; of equals the first row inside, then the first outside."""
    inside, edges = [0], []
    while len(inside) < len(lengths):
        outside = [j for j in range(len(lengths)) if j not in inside]
        length, one, other = min((lengths[i, j], i, j) for i in inside for j in outside)
        edges.append((one, other, length))
        inside.append(other)
    return edges


@pytest.mark.parametrize("tied", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("cored", [False, True], ids=["no cores", "cores"])
def test_the_spanning_tree_of_all_pairs_is_the_plain_one(tied, cored, rng):
    rows = some_rows(rng, 30, 8, tied)
    n = len(rows)
    cores = rng.integers(1, 12, n).astype(float) if cored else np.zeros(n)
    squared = cdist(rows, rows, "sqeuclidean")
    expected = plain_prim(np.maximum(squared, np.maximum.outer(cores, cores)))
    expected.sort(key=lambda edge: edge[2])
    found = shortest_edges(rows, cores)
    np.testing.assert_allclose(found.squared, [edge[2] for edge in expected], rtol=1e-12)
    ends = [(one, other) for one, other, _ in expected]
    assert list(zip(found.one.tolist(), found.other.tolist())) == ends


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 9, 39])
def test_distances_of_few_columns_are_those_of_scipy_to_the_bit(d, rng):
    rows = rng.normal(size=(290, d))
    rows -= rows.mean(axis=0)
    np.testing.assert_array_equal(all_pairs.distances_within(rows, n_jobs=2), cdist(rows, rows))


def test_equal_rows_are_merged_first_and_one_after_another(rng):
    rows = np.repeat(rng.normal(size=(4, 2)), [1, 4, 2, 1], axis=0)[rng.permutation(8)]
    model = AgglomerativeClustering(1, linkage="average", compute_distances=True).fit(rows)
    members: dict[int, set[int]] = {i: {i} for i in range(8)}
    for merge, (one, other) in enumerate(model.children_):
        members[8 + merge] = members.pop(one) | members.pop(other)
        inside = {tuple(rows[i]) for i in members[8 + merge]}
        assert (len(inside) == 1) == (merge < 4)
    assert model.distances_[:4].tolist() == [0.0] * 4
    assert members == {14: set(range(8))}
