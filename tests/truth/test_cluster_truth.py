"""Clusterings against brute force and against their definitions."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from gnomon.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    ConstrainedKMeans,
    Denclue,
    DivisiveClustering,
    HartiganKMeans,
    JunkKMeans,
    KMeans,
    KMeansTree,
    KMedoids,
    SelfOrganizingMap,
    SoftKMeans,
    SubsampleKMeans,
    any_point_covered,
    approximate_range_count,
    assignment_matrix,
    best_partition,
    between_clusters,
    bichromatic_closest_pair,
    c_index,
    cluster_f,
    contingency_table,
    dbscan,
    density_attractor,
    dunn,
    external_validity,
    grid_distances,
    hard_labels,
    harden,
    hubert,
    k_medoids,
    lance_williams,
    linkage_tree,
    maximum_matching,
    mismatch,
    modularity,
    partitions,
    purity,
    stirling,
)
from gnomon.cluster.density_validity import density_validity
from gnomon.engine.errors import DataError, MemoryLimitError


def blobs(rng, k=3, n=90, d=2, apart=12.0):
    """Rows around k centres that are well apart, and which centre each is of."""
    centers = apart * np.eye(max(k, d))[:k, :d] if k <= d else None
    if centers is None:
        angle = 2 * np.pi * np.arange(k) / k
        centers = apart * np.column_stack([np.cos(angle), np.sin(angle)] + [0 * angle] * (d - 2))
    group = np.arange(n) % k
    return centers[group] + rng.normal(size=(n, d)), group


def same_groups(one, other) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    return bool(((one[:, None] == one) == (other[:, None] == other)).all())


@pytest.mark.covers("lance-williams-update")
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "mean", "ward"])
def test_the_update_equals_recomputing_the_distance(linkage, rng):
    a, b, r = (rng.normal(size=(n, 3)) for n in (3, 2, 4))
    squared = linkage in ("mean", "ward")

    def distance(one, other):
        value = between_clusters(one, other, linkage)
        return value**2 if linkage == "mean" else value

    given = (distance(a, r), distance(b, r), distance(a, b))
    found = lance_williams(linkage, given, (3, 2, 4), squared=squared)
    assert found == pytest.approx(distance(np.vstack([a, b]), r))


@pytest.mark.covers("lance-williams-update")
@pytest.mark.parametrize("linkage", ["mean", "median", "ward"])
def test_updates_that_need_squares_refuse_plain_distances(linkage):
    with pytest.raises(DataError, match="squared"):
        lance_williams(linkage, (1.0, 2.0, 1.5), (1, 1, 1))


@pytest.mark.covers("linkage-criteria")
def test_distances_of_two_clusters_by_their_definitions(rng):
    one, other = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    table = cdist(one, other)
    both = np.vstack([one, other])
    squares = [((rows - rows.mean(axis=0)) ** 2).sum() for rows in (both, one, other)]
    expected = {
        "single": table.min(),
        "complete": table.max(),
        "average": table.mean(),
        "mean": np.linalg.norm(one.mean(axis=0) - other.mean(axis=0)),
        "ward": squares[0] - squares[1] - squares[2],
    }
    for linkage, value in expected.items():
        assert between_clusters(one, other, linkage) == pytest.approx(value)


@pytest.mark.covers("agglomerative-clustering")
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "mean", "ward"])
def test_every_merge_joins_the_two_nearest_clusters(linkage, rng):
    rows = rng.normal(size=(9, 2))
    tree = linkage_tree(rows, linkage)
    clusters = {i: [i] for i in range(9)}
    for number, (one, other, height, weight) in enumerate(tree.merges, 9):
        value = {
            pair: between_clusters(rows[clusters[pair[0]]], rows[clusters[pair[1]]], linkage)
            for pair in itertools.combinations(sorted(clusters), 2)
        }
        nearest = min(value, key=value.get)
        assert nearest == (int(one), int(other))
        expected = np.sqrt(2 * value[nearest]) if linkage == "ward" else value[nearest]
        assert height == pytest.approx(expected)
        clusters[number] = clusters.pop(int(one)) + clusters.pop(int(other))
        assert weight == len(clusters[number])


@pytest.mark.covers("dendrogram-cut")
def test_cuts_by_number_height_and_gap_agree(rng):
    rows, group = blobs(rng)
    for linkage in ("single", "ward", "complete", "average", "mean", "median"):
        model = AgglomerativeClustering("gap", linkage=linkage).fit(rows)
        assert model.n_clusters_ == 3
        assert same_groups(model.labels_, group)
        height = model.dendrogram_.height_of(3)
        assert same_groups(
            AgglomerativeClustering(None, distance_threshold=height, linkage=linkage).fit_predict(
                rows
            ),
            group,
        )
        for k in (2, 5, 9):
            cut = model.dendrogram_.cut(k)
            assert len(np.unique(cut)) == k
    with pytest.raises(DataError, match="90 leaves"):
        model.dendrogram_.cut(91)


@pytest.mark.covers("dendrogram-cut")
def test_an_inversion_is_counted_and_cuts_stay_nested():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    tree = linkage_tree(rows, "mean")
    assert tree.n_inversions == 1
    assert tree.heights[1] < tree.heights[0]
    assert tree.cut(height=0.95).tolist() == [0, 1, 2]
    assert tree.cut(height=1.0).tolist() == [0, 0, 0]
    assert tree.cut(2).tolist() == [0, 0, 1]


@pytest.mark.covers("agglomerative-clustering")
def test_average_linkage_forecasts_its_table_and_refuses(rng):
    import gnomon

    rows = rng.normal(size=(3000, 2))
    with gnomon.config(memory_limit=20_000_000):
        with pytest.raises(MemoryLimitError, match="linkage='ward'"):
            AgglomerativeClustering(linkage="average").fit(rows)
        AgglomerativeClustering(linkage="ward").fit(rows[:1000])


@pytest.mark.covers("dbscan-grid-exact", "dbscan")
def test_the_tree_of_boxes_gives_the_clusters_of_the_definition(rng):
    for trial in range(25):
        n, d = int(rng.integers(2, 120)), int(rng.integers(1, 6))
        rows = rng.normal(size=(n, d))
        if trial % 2:
            rows = np.unique(np.round(rows, 1), axis=0)
            n = len(rows)
        eps, least = float(rng.uniform(0, 1.5)), int(rng.integers(1, 8))
        model = DBSCAN(eps, min_samples=least).fit(rows)
        near = cdist(rows, rows) <= eps
        unsure = np.abs(cdist(rows, rows) - eps) < 1e-9
        if unsure.any():
            continue
        core = near.sum(axis=1) >= least
        assert ((model.kinds(rows) == "core") == core).all()
        links = near & core[:, None] & core
        reach = links.copy()
        for _ in range(int(np.ceil(np.log2(n))) + 1):
            reach = (reach.astype(int) @ reach.astype(int)) > 0
        where = np.flatnonzero(core)
        if len(where):
            assert same_groups(model.labels_[where], reach[np.ix_(where, where)].argmax(axis=1))
        noise = ~core & ~(near & core).any(axis=1)
        assert ((model.labels_ < 0) == noise).all()
        border = np.flatnonzero(~core & ~noise)
        for row in border:
            nearest = where[cdist(rows[[row]], rows[where])[0].argmin()]
            assert model.labels_[row] == model.labels_[nearest]
        assert (model.predict(rows) == model.labels_).all()


@pytest.mark.covers("approximate-range-count")
def test_an_approximate_count_lies_between_two_exact_ones(rng):
    rows, points = rng.normal(size=(400, 3)), rng.normal(size=(40, 3))
    distances = cdist(points, rows)
    for eps, rho in ((0.5, 0.3), (1.0, 0.01), (2.0, 1.0)):
        found = approximate_range_count(rows, points, eps, rho)
        assert ((distances <= eps * (1 - 1e-12)).sum(axis=1) <= found).all()
        assert (found <= (distances <= eps * (1 + rho) * (1 + 1e-12)).sum(axis=1)).all()
    exact = approximate_range_count(rows, points, 0.7, rho=0.0)
    np.testing.assert_array_equal(exact, (distances <= 0.7).sum(axis=1))


@pytest.mark.covers("bichromatic-closest-pair")
def test_the_closest_pair_is_that_of_all_pairs_and_an_early_end_is_near_enough(rng):
    one, other = rng.normal(size=(200, 3)), rng.normal(size=(150, 3)) + 1
    table = cdist(one, other)
    found = bichromatic_closest_pair(one, other)
    assert found.distance == pytest.approx(table.min())
    assert table[found.first, found.second] == pytest.approx(table.min())
    early = bichromatic_closest_pair(one, other, within=1.0)
    assert table[early.first, early.second] == pytest.approx(early.distance)
    assert early.distance <= 1.0


@pytest.mark.covers("unit-spherical-emptiness")
def test_coverage_by_dbscan_is_that_of_the_closest_pair(rng):
    answers = set()
    for _ in range(40):
        points, centers = rng.normal(size=(6, 2)), rng.normal(size=(5, 2)) + 2
        radius = float(rng.uniform(0.2, 2))
        covered = bool((cdist(points, centers) <= radius).any())
        assert any_point_covered(points, centers, radius) == covered
        answers.add(covered)
    assert answers == {True, False}


@pytest.mark.covers("denclue", "density-attractor")
def test_attractors_are_tops_and_rows_climb_to_them(rng):
    rows, group = blobs(rng, apart=15.0)
    model = Denclue(bandwidth=3.0).fit(rows)
    assert same_groups(model.labels_, group)
    for top, height in zip(model.attractors_, model.attractor_density_):
        climb = density_attractor(rows, top, 3.0)
        np.testing.assert_allclose(climb.attractor, top, atol=0.02)
        kernels = np.exp(-0.5 * ((rows - top) ** 2).sum(axis=1) / 9)
        assert height == pytest.approx(kernels.sum() / (len(rows) * 2 * np.pi * 9), rel=1e-6)
        for way in rng.normal(size=(5, 2)):
            assert model.density([top + 0.5 * way / np.linalg.norm(way)])[0] < height
    gradient = Denclue(bandwidth=3.0, update="gradient").fit(rows)
    assert same_groups(gradient.labels_, group)


@pytest.mark.covers("denclue")
def test_a_threshold_makes_noise_and_a_dense_way_joins_attractors(rng):
    rows = np.concatenate([np.linspace(0, 10, 60), [30.0]])[:, None]
    hills = Denclue(bandwidth=0.6, xi=0.02, merge_within=0.1).fit(rows)
    assert hills.labels_[-1] == -1
    assert hills.labels_[:-1].max() >= 0
    joined = Denclue(bandwidth=0.6, xi=0.02, merge_within=0.1, shape="arbitrary").fit(rows)
    assert set(joined.labels_[:-1].tolist()) == {0}
    assert joined.labels_[-1] == -1
    cut = rows[(rows[:, 0] < 4) | (rows[:, 0] > 7)]
    parted = Denclue(bandwidth=0.6, xi=0.02, merge_within=0.1, shape="arbitrary").fit(cut)
    assert len(set(parted.labels_[:-1].tolist())) == 2


@pytest.mark.covers("som-batch")
def test_a_batch_pass_is_the_weighted_mean_of_the_text(rng):
    rows = rng.normal(size=(60, 3))
    model = SelfOrganizingMap(3, 4, max_iter=2, sigma_start=2.0, sigma_end=1.0)
    model.set_params(keep_history="full").fit(rows)
    before, after = (state["prototypes"] for state in model.history_.states)
    winners = cdist(rows, before).argmin(axis=1)
    action = np.exp(-(grid_distances(3, 4, "hexagonal") ** 2) / 2)[winners]
    expected = action.T @ rows / action.sum(axis=0)[:, None]
    np.testing.assert_allclose(after, expected, atol=1e-9)
    assert model.history_[1] == pytest.approx(cdist(rows, before).min(axis=1).mean())


@pytest.mark.covers("som-online")
def test_an_on_line_pass_is_the_step_of_the_text(rng):
    rows = rng.normal(size=(30, 2))
    model = SelfOrganizingMap(2, 3, grid="square", algorithm="online", max_iter=3, random_state=0)
    model.fit(rows)
    prototypes, steps = model.prototypes_.copy(), model.steps_
    more = rng.normal(size=(5, 2))
    gaps = grid_distances(2, 3, "square")
    for t, row in enumerate(more, steps):
        winner = ((prototypes - row) ** 2).sum(axis=1).argmin()
        action = np.exp(-(gaps[winner] ** 2) / (2 * 2.0**2))
        prototypes += (1 / (20 + t) * action)[:, None] * (row - prototypes)
    model.partial_fit(more)
    np.testing.assert_allclose(model.prototypes_, prototypes, atol=1e-12)


@pytest.mark.covers("som-online", "som-batch")
@pytest.mark.parametrize("algorithm", ["batch", "online"])
@pytest.mark.parametrize("grid", ["square", "hexagonal"])
def test_a_map_orders_rows_along_its_grid(algorithm, grid, rng):
    along = np.sort(rng.uniform(0, 10, 200))
    rows = np.column_stack([along, 0.1 * rng.normal(size=200)])
    model = SelfOrganizingMap(
        1, 8, grid=grid, algorithm=algorithm, sigma_end=0.7, max_iter=30, rate=20, random_state=0
    ).fit(rows)
    places = model.transform(rows)[:, 0]
    assert abs(np.corrcoef(places, along)[0, 1]) > 0.9


@pytest.mark.covers("som-errors")
def test_errors_of_a_map_are_those_of_all_distances(rng):
    rows = rng.normal(size=(80, 3))
    model = SelfOrganizingMap(4, 4, toroid=True, sigma_end=0.8).fit(rows)
    distances = cdist(rows, model.prototypes_)
    assert model.quantization_error(rows) == pytest.approx(distances.min(axis=1).mean())
    two = distances.argsort(axis=1)[:, :2]
    gaps = grid_distances(4, 4, "hexagonal", True)
    torn = gaps[two[:, 0], two[:, 1]] > 1 + 1e-9
    assert model.topological_error(rows) == pytest.approx(torn.mean())


def test_a_toroid_of_hexagons_has_six_neighbors_everywhere():
    gaps = grid_distances(4, 5, "hexagonal", True)
    assert (((gaps > 0) & (gaps < 1.01)).sum(axis=1) == 6).all()
    np.testing.assert_allclose(gaps, gaps.T)
    square = grid_distances(4, 5, "square", True)
    assert (((square > 0) & (square < 1.01)).sum(axis=1) == 4).all()
    with pytest.raises(DataError, match="even height"):
        grid_distances(3, 5, "hexagonal", True)


@pytest.mark.covers("som-classify")
def test_cells_are_named_and_new_cases_are_placed_or_novel(rng):
    rows, group = blobs(rng, apart=20.0)
    model = SelfOrganizingMap(3, 4, sigma_end=0.5).fit(rows)
    names = model.name_cells(rows, np.array(["red", "green", "blue"])[group])
    said = model.classify(rows, names)
    assert (said == np.array(["red", "green", "blue"])[group]).all()
    far = rows.max(axis=0) + 100
    assert model.classify([far], names).tolist() == ["novel"]
    cell = int(model.predict(rows[:1])[0])
    assert model.classify(rows[:1], names, unusual=[cell]).tolist() == ["novel"]
    u = model.u_matrix()
    assert u.shape == (12,)
    with pytest.raises(DataError, match="12 cells"):
        model.classify(rows, ["red"])


@pytest.mark.covers("k-medoids")
def test_swaps_reach_the_best_medoids_of_few_items(rng):
    rows = rng.normal(size=(9, 2))
    table = cdist(rows, rows)
    best = min(
        table[:, list(chosen)].min(axis=1).sum() for chosen in itertools.combinations(range(9), 3)
    )
    found = min(k_medoids(table, 3, random_state=seed).cost for seed in range(20))
    assert found == pytest.approx(best)
    alternate = k_medoids(table, 3, algorithm="alternate", init=[0, 1, 2])
    labels = table[:, alternate.medoids].argmin(axis=1)
    for group, medoid in enumerate(alternate.medoids):
        members = np.flatnonzero(labels == group)
        sums = table[np.ix_(members, members)].sum(axis=1)
        assert table[medoid, members].sum() == pytest.approx(sums.min())
    swapped = k_medoids(table, 3, init=alternate.medoids)
    assert swapped.cost <= alternate.cost + 1e-12


@pytest.mark.covers("k-medoids")
def test_medoids_of_rows_are_rows_and_the_cost_never_rises(rng):
    rows, group = blobs(rng)
    runs = [KMedoids(3, random_state=seed).fit(rows) for seed in range(10)]
    model = min(runs, key=lambda run: run.inertia_)
    assert same_groups(model.labels_, group)
    assert all((rows == medoid).all(axis=1).any() for medoid in model.medoids_)
    assert (np.diff(model.history_.objective) <= 1e-9).all()
    assert model.inertia_ == pytest.approx(cdist(rows, model.medoids_).min(axis=1).sum())


@pytest.mark.covers("soft-kmeans")
@pytest.mark.parametrize("membership", ["gaussian", "exponential", "fuzzy"])
def test_soft_shares_sum_to_one_and_shrinking_scales_give_k_means(membership, rng):
    rows, group = blobs(rng)
    hard = KMeans(3, random_state=0).fit(rows)
    model = SoftKMeans(
        3, membership=membership, scale=0.2, fuzziness=1.05, init=hard.cluster_centers_
    ).fit(rows)
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert same_groups(model.labels_, group)
    np.testing.assert_allclose(model.cluster_centers_, hard.cluster_centers_, atol=0.05)


@pytest.mark.covers("soft-kmeans")
@pytest.mark.parametrize("membership", ["gaussian", "fuzzy"])
def test_the_objective_of_soft_k_means_never_rises(membership, rng):
    rows = rng.normal(size=(150, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        course = SoftKMeans(4, membership=membership, random_state=1, tol=0).fit(rows).history_
    scale = abs(course[0])
    assert (np.diff(course.objective) <= 1e-9 * scale).all()


@pytest.mark.covers("junk-cluster-kmeans")
def test_junk_moves_no_center(rng):
    rows, group = blobs(rng)
    far = rng.normal(size=(5, 2)) * 3 + 300
    first = KMeans(3, random_state=0).fit(rows).cluster_centers_
    model = JunkKMeans(3, threshold=10.0, init=first).fit(np.vstack([rows, far]))
    assert (model.labels_[-5:] == -1).all()
    assert same_groups(model.labels_[:-5], group)
    np.testing.assert_allclose(
        np.sort(model.cluster_centers_, axis=0),
        np.sort([rows[group == c].mean(axis=0) for c in range(3)], axis=0),
    )
    assert (np.diff(model.history_.objective) <= 1e-9).all()


@pytest.mark.covers("junk-cluster-kmeans")
def test_rows_come_back_from_the_junk_when_a_center_nears():
    rows = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    model = JunkKMeans(1, threshold=3.0, init=[[0.5]], tol=0, keep_history="full").fit(rows)
    first = np.abs(rows[:, 0] - 0.5) > 3.0
    assert first[4]
    assert model.labels_[4] == 0


@pytest.mark.covers("kmeans-hartigan-wong")
def test_transfers_end_no_higher_than_lloyd_and_no_transfer_helps(rng):
    rows = rng.normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HartiganKMeans(4, random_state=0).fit(rows)
        from_it = KMeans(4, init=model.cluster_centers_, tol=0).fit(rows)
    assert from_it.inertia_ == pytest.approx(model.inertia_)
    sizes = np.bincount(model.labels_)
    for i, row in enumerate(rows):
        own = model.labels_[i]
        if sizes[own] == 1:
            continue
        squared = ((model.cluster_centers_ - row) ** 2).sum(axis=1)
        gain = sizes * squared / (sizes + 1)
        loss = sizes[own] * squared[own] / (sizes[own] - 1)
        assert np.delete(gain, own).min() >= loss - 1e-9
    assert (np.diff(model.history_.objective) <= 1e-9).all()


@pytest.mark.covers("subsample-kmeans")
def test_a_sample_of_well_parted_rows_gives_all_their_labels(rng):
    rows, group = blobs(rng, n=3000)
    model = SubsampleKMeans(3, n_drawn=200, random_state=0).fit(rows)
    assert model.n_used_ == 200
    assert same_groups(model.labels_[::20], group[::20])
    whole = SubsampleKMeans(3, n_drawn=10**6, random_state=0).fit(rows[:90])
    assert whole.n_used_ == 90


@pytest.mark.covers("hierarchical-kmeans-tree")
def test_a_row_descends_to_the_nearest_center_at_every_level(rng):
    rows = rng.normal(size=(600, 3))
    tree = KMeansTree(4, depth=3, random_state=0).fit(rows)
    assert 32 <= tree.n_leaves_ <= 64
    new = rng.normal(size=(20, 3))
    for row, leaf, center in zip(new, tree.predict(new), tree.transform(new)):
        node = -1
        while tree.n_children_[node + 1]:
            first, count = tree.first_child_[node + 1], tree.n_children_[node + 1]
            node = first + ((tree.centers_[first : first + count] - row) ** 2).sum(axis=1).argmin()
        assert tree.leaf_number_[node] == leaf
        np.testing.assert_array_equal(tree.centers_[node], center)
    deeper = ((tree.transform(rows) - rows) ** 2).sum()
    flat = KMeansTree(4, depth=1, random_state=0).fit(rows)
    assert deeper < ((flat.transform(rows) - rows) ** 2).sum()


@pytest.mark.covers("divisive-clustering")
def test_the_worst_cluster_is_split_first_by_any_splitter(rng):
    rows, group = blobs(rng, k=4, n=80)
    assert same_groups(DivisiveClustering(4, random_state=0).fit_predict(rows), group)
    numbers = np.array([[0.0], [1.0], [2.0], [10.0], [40.0], [41.0]])

    def at_largest_gap(rows, weights):
        order = rows[:, 0].argsort()
        after = order[np.diff(rows[order, 0]).argmax() + 1 :]
        return np.isin(np.arange(len(rows)), after)

    model = DivisiveClustering(3, splitter=at_largest_gap).fit(numbers)
    assert model.labels_.tolist() == [0, 0, 0, 1, 2, 2]
    assert model.splits_[0].tolist() == [0, 1]
    with pytest.raises(DataError, match="splitter"):
        DivisiveClustering(2, splitter=lambda rows, weights: rows[:, 0] > -1).fit(numbers)


@pytest.mark.covers("pck-means")
def test_penalized_links_end_where_no_row_wants_to_move(rng):
    rows = rng.normal(size=(7, 2))
    must, cannot = [(0, 1, 1.5), (2, 3, 0.7)], [(0, 4, 2.0), (5, 6, 1.0)]

    def energy(labels, centers=None):
        parts = [rows[labels == c] for c in range(2)]
        if centers is None:
            centers = [part.mean(axis=0) if len(part) else np.zeros(2) for part in parts]
        total = sum(((part - center) ** 2).sum() for part, center in zip(parts, centers))
        total += sum(w for a, b, w in must if labels[a] != labels[b])
        return total + sum(w for a, b, w in cannot if labels[a] == labels[b])

    best = min(energy(np.array(each)) for each in itertools.product(range(2), repeat=7))
    model = ConstrainedKMeans(2, must_link=must, cannot_link=cannot, random_state=0).fit(rows)
    found = model.history_[-1]
    assert found == pytest.approx(energy(model.labels_))
    assert found >= best - 1e-9
    for i in range(7):
        moved = model.labels_.copy()
        moved[i] = 1 - moved[i]
        assert energy(moved, model.cluster_centers_) >= found - 1e-9
    for a, b, _ in must:
        moved = model.labels_.copy()
        moved[[a, b]] = 1 - moved[[a, b]]
        if moved[a] == moved[b]:
            assert energy(moved, model.cluster_centers_) >= found - 1e-9


@pytest.mark.covers("pck-means")
def test_links_that_must_hold_do_hold_by_backtracking(rng):
    rows = rng.normal(size=(30, 2))
    truth = rng.integers(0, 3, 30)
    pairs = [tuple(sorted(rng.choice(30, 2, replace=False).tolist())) for _ in range(25)]
    must = [pair for pair in pairs if truth[pair[0]] == truth[pair[1]]]
    cannot = [pair for pair in pairs if truth[pair[0]] != truth[pair[1]]]
    model = ConstrainedKMeans(
        3, must_link=must, cannot_link=cannot, links="never", random_state=0, max_iter=5
    )
    labels = model.fit(rows).labels_
    assert all(labels[a] == labels[b] for a, b in must)
    assert all(labels[a] != labels[b] for a, b in cannot)
    assert model.broken_ == []


def test_an_impossible_set_of_cannot_links_is_refused():
    pairs = list(itertools.combinations(range(4), 2))
    with pytest.raises(DataError, match="more clusters"):
        ConstrainedKMeans(3, cannot_link=pairs, links="never", random_state=0).fit(
            np.arange(8.0)[:, None]
        )


@pytest.mark.covers("mpck-means")
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_each_cluster_learns_its_own_metric(metric, rng):
    one = rng.normal(size=(80, 2)) * [0.2, 5.0]
    other = rng.normal(size=(80, 2)) * [5.0, 0.2] + [0.0, 30.0]
    rows, group = np.vstack([one, other]), np.repeat([0, 1], 80)
    must = [(i, i + 1, 5.0) for i in (*range(0, 20, 2), *range(80, 100, 2))]
    cannot = [(i, 80 + i, 5.0) for i in range(10)]
    model = ConstrainedKMeans(
        2, must_link=must, cannot_link=cannot, metric=metric, random_state=0
    ).fit(rows)
    assert same_groups(model.labels_, group)
    for c, label in enumerate(model.labels_[[0, 80]]):
        own = rows[group == c]
        inverse = np.linalg.inv(np.cov(own.T, ddof=0))
        expected = np.diag(1 / own.var(axis=0)) if metric == "diagonal" else inverse
        np.testing.assert_allclose(model.metrics_[label], expected, rtol=0.02, atol=0.02)


@pytest.mark.covers("brute-force-clustering", "stirling-partition-count")
def test_partitions_are_all_different_and_as_many_as_stirling_says():
    for n, k in ((4, 2), (5, 3), (6, 6), (6, 1)):
        found = {tuple(each.tolist()) for each in partitions(n, k)}
        assert len(found) == stirling(n, k)
        assert all(len(set(each)) == k for each in found)
    rows = [[0.0], [1.0], [9.0], [10.0], [20.0]]
    assert best_partition(rows, 3).labels.tolist() == [0, 0, 1, 1, 2]
    with pytest.raises(DataError, match="ways"):
        best_partition(np.zeros((40, 1)), 5)


@pytest.mark.covers("cluster-contingency-table", "cluster-purity", "cluster-maximum-matching")
@pytest.mark.covers("cluster-f-measure")
def test_external_measures_by_their_definitions(rng):
    labels, truth = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    labels[:4], truth[:3] = range(4), range(3)
    table = contingency_table(labels, truth)
    expected = [[((labels == i) & (truth == j)).sum() for j in range(3)] for i in range(4)]
    np.testing.assert_array_equal(table.counts, expected)
    counts = table.counts
    assert purity(labels, truth).total == pytest.approx(counts.max(axis=1).sum() / 60)
    best = max(
        sum(counts[i, j] for j, i in enumerate(chosen))
        for chosen in itertools.permutations(range(4), 3)
    )
    assert maximum_matching(labels, truth).share == pytest.approx(best / 60)
    f = cluster_f(labels, truth)
    for i in range(4):
        j = counts[i].argmax()
        precision, recall = counts[i, j] / counts[i].sum(), counts[i, j] / counts[:, j].sum()
        assert f.f[i] == pytest.approx(2 * precision * recall / (precision + recall))
    assert f.total == pytest.approx(f.f.mean())
    assert purity(labels, truth).total >= maximum_matching(labels, truth).share
    assert purity(np.arange(60), truth).total == 1.0
    perfect = external_validity(truth, truth)
    assert perfect["F"] == perfect["purity"] == perfect["Jaccard"] == 1.0
    assert perfect["variation of information"] == pytest.approx(0.0)


def test_internal_measures_by_their_definitions(rng):
    rows, labels = rng.normal(size=(25, 2)), np.arange(25) % 3
    pairs = list(itertools.combinations(range(25), 2))
    distance = np.array([np.linalg.norm(rows[a] - rows[b]) for a, b in pairs])
    same = np.array([labels[a] == labels[b] for a, b in pairs])
    ordered = np.sort(distance)
    least, most = ordered[: same.sum()].sum(), ordered[-same.sum() :].sum()
    assert c_index(rows, labels) == pytest.approx((distance[same].sum() - least) / (most - least))
    assert dunn(rows, labels) == pytest.approx(distance[~same].min() / distance[same].max())
    assert hubert(rows, labels) == pytest.approx(np.corrcoef(distance, ~same)[0, 1])


def test_modularity_is_that_of_networkx_on_two_cliques():
    graph = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    graph[3, 4] = graph[4, 3] = 1.0
    edges, within = graph.sum() / 2, 12
    expected = within / edges - 2 * (13 / (2 * edges)) ** 2
    assert modularity(graph, [0] * 4 + [1] * 4) == pytest.approx(expected)


@pytest.mark.covers("assignment-matrix")
def test_assignment_matrices_have_lines_of_one_and_columns_of_sizes(rng):
    labels = rng.integers(0, 3, 20)
    labels[:3] = range(3)
    matrix = assignment_matrix(labels)
    assert (matrix.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(matrix.sum(axis=0), np.bincount(labels))
    shares = rng.dirichlet(np.ones(3), size=20)
    np.testing.assert_array_equal(hard_labels(shares), shares.argmax(axis=1))
    np.testing.assert_array_equal(harden(shares), assignment_matrix(shares.argmax(axis=1), 3))
    np.testing.assert_array_equal(hard_labels(matrix), labels)
    with pytest.raises(DataError, match="sum to one"):
        hard_labels([[0.5, 0.2]])
    with pytest.raises(DataError, match="noise"):
        assignment_matrix([-1, 0])


def test_a_mismatch_is_that_of_the_best_renaming(rng):
    one, other = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    best = min(np.mean(np.array(names)[one] != other) for names in itertools.permutations(range(3)))
    assert mismatch(one, other) == pytest.approx(best)


def density_validity_by_definition(rows, labels) -> float:
    """Moulavi and others (2014), sum by sum; Prim's tree over all pairs."""
    d, clusters = rows.shape[1], []
    for name in sorted(set(labels.tolist()) - {-1}):
        own = rows[labels == name]
        m, between = len(own), cdist(own, own)
        core = np.array(
            [
                (sum(between[i, j] ** -d for j in range(m) if j != i) / (m - 1)) ** (-1 / d)
                for i in range(m)
            ]
        )
        steps = np.maximum(np.maximum(between, core[:, None]), core)
        reached, edges = {0}, []
        while len(reached) < m:
            edge = min((steps[i, j], i, j) for i in reached for j in set(range(m)) - reached)
            reached.add(edge[2])
            edges.append(edge)
        ends = [end for edge in edges for end in edge[1:]]
        inner = {end for end in ends if ends.count(end) > 1}
        inside = [length for length, i, j in edges if {i, j} <= inner]
        if not inside:
            inside, inner = [length for length, _, _ in edges], set(range(m))
        kept = sorted(inner)
        clusters.append((m, max(inside), own[kept], core[kept]))
    total = 0.0
    for place, (m, sparse, own, core) in enumerate(clusters):
        apart = min(
            np.maximum(np.maximum(cdist(own, other), core[:, None]), other_core).min()
            for number, (_, _, other, other_core) in enumerate(clusters)
            if number != place
        )
        total += m * (apart - sparse) / max(apart, sparse)
    return total / len(rows)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_density_validity_is_its_definition(d, rng):
    rows = rng.normal(size=(45, d))
    labels = rng.permutation(np.arange(45) % 4 - 1)
    rows[:, 0] += 3.0 * labels
    found = density_validity(rows, labels)
    assert found.total == pytest.approx(density_validity_by_definition(rows, labels))
    assert found.clusters.tolist() == [0, 1, 2]


def test_density_validity_prefers_rings_to_slices_and_takes_equal_rows(rng):
    angles, ring = rng.uniform(0, 2 * np.pi, 400), np.arange(400) % 2
    rows = (1 + 6 * ring)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    halves = (rows[:, 0] > 0).astype(int)
    assert density_validity(rows, ring).total > 0.5 > 0 > density_validity(rows, halves).total
    twice = np.repeat([[0.0], [1.0], [9.0], [10.0]], 3, axis=0)
    assert density_validity(twice, np.repeat([0, 1], 6)).total == pytest.approx(7 / 8)
    with pytest.raises(DataError, match="two clusters"):
        density_validity(rows, np.where(ring, -1, 0))


@pytest.mark.parametrize("kind", ["plain", "integers", "far from zero"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_dbscan_by_products_is_dbscan_by_boxes(monkeypatch, kind, share):
    """In many columns pairs are settled by products of matrices, with the same result."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(700, 20)) + rng.normal(size=(4, 20))[rng.integers(0, 4, 700)]
    rows = {"plain": rows, "integers": np.round(rows), "far from zero": 1e-3 * rows + 1e3}[kind]
    away = pdist(rows[:150])
    eps = float(np.quantile(away[away > 0], share))
    weights = rng.integers(1, 4, len(rows)).astype(float)

    def found(n_jobs):
        model = DBSCAN(eps, min_samples=6, n_jobs=n_jobs).fit(rows, sample_weight=weights)
        beside = rows + 0.01 * rows.std()
        parts = model.labels_, model.core_sample_indices_, model.predict(beside), model.kinds(rows)
        return [part.tolist() for part in parts]

    assert dbscan.compares_all(rows)
    by_products = [found(1), found(3)]
    monkeypatch.setattr(dbscan, "compares_all", lambda rows: False)
    assert by_products == [found(1)] * 2
