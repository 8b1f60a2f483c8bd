"""Maps from distances, layouts of graphs, t-SNE and Isomap against definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.base import clone

import gnomon
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.threads import Crew
from gnomon.reduce import (
    ICA,
    TSNE,
    UMAP,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    RobustPCA,
    SpectralEmbedding,
    SupervisedPCA,
    activity_network,
    complete_by_paths,
    ego_network,
    force_directed_layout,
    graph,
    lattice,
    layout_energies,
    ordinal_map,
    principal_coordinates,
    procrustes,
    raw_stress,
    sammon,
    spectral_layout,
    stress_layout,
    stress_map,
    tuned_layout,
)
from gnomon.reduce.mds import PairObjective, _TableObjective
from gnomon.reduce.path_kernels import shortest_paths
from gnomon.reduce.tsne import Forces, joint


@pytest.mark.covers("principal-coordinate-analysis")
def test_distances_of_points_are_reproduced_and_places_are_those_of_pca(rng):
    X = rng.normal(size=(20, 3)) * [5, 3, 1]
    D = squareform(pdist(X))
    found = principal_coordinates(D, 3)
    np.testing.assert_allclose(squareform(pdist(found.places)), D, atol=1e-8)
    assert found.objective < 1e-9 * (D**4).sum()
    centered = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centered, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.places), np.abs(u * s), atol=1e-8)
    assert found.negative_share < 1e-9


@pytest.mark.covers("principal-coordinate-analysis")
def test_distances_that_no_points_have_are_said(rng):
    D = np.array([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0.0]]) ** 1.5
    found = principal_coordinates(D)
    assert found.negative_share > 0.01
    assert found.eigenvalues.min() < 0
    with pytest.raises(DataError, match="negative"):
        principal_coordinates(-D)
    with pytest.raises(DataError, match="mirror image"):
        principal_coordinates(D + np.triu(np.ones((4, 4)), 1))


@pytest.mark.covers("mds-raw-stress")
def test_raw_stress_sums_errors_of_squared_distances(rng):
    D, places = squareform(pdist(rng.normal(size=(6, 4)))), rng.normal(size=(6, 2))
    found = raw_stress(D, places)
    total = sum(
        (D[i, j] ** 2 - ((places[i] - places[j]) ** 2).sum()) ** 2
        for i in range(6)
        for j in range(6)
    )
    assert found.total == pytest.approx(total)
    assert found.items.sum() == pytest.approx(total)
    best = principal_coordinates(D).objective
    assert best <= raw_stress(D, places).total


@pytest.mark.covers("stress-mds")
def test_gradients_of_stress_are_those_of_finite_differences(rng):
    n = 7
    D = squareform(pdist(rng.normal(size=(n, 3))))
    weights = squareform(rng.random(n * (n - 1) // 2))
    at = rng.normal(size=(2, n))
    pairs = np.column_stack(np.triu_indices(n, 1))
    listed = PairObjective(pairs, D[pairs[:, 0], pairs[:, 1]], weights[pairs[:, 0], pairs[:, 1]])
    with Crew(1) as crew:
        table = _TableObjective(D, weights, crew)
        for each in (table, listed):
            slope = approx_fprime(at.ravel(), lambda v, f=each: f(v.reshape(2, n))[0], 1e-7)
            np.testing.assert_allclose(each(at)[1].ravel(), slope, atol=1e-4)
        assert table(at)[0] == pytest.approx(listed(at)[0])


@pytest.mark.covers("stress-mds")
def test_a_map_with_missing_pairs_and_weights_finds_points_again(rng):
    X = rng.normal(size=(30, 2))
    D = squareform(pdist(X))
    gone = np.triu(rng.random((30, 30)) < 0.3, 1)
    D[gone | gone.T] = np.nan
    found = stress_map(D, n_init=8, random_state=0, tol=1e-14, max_iter=5000)
    assert procrustes(found.places, X).disparity < 1e-6
    relative = stress_map(squareform(pdist(X)), weights="relative", tol=1e-14)
    assert procrustes(relative.places, X).disparity < 1e-6
    assert (np.diff(found.history) <= 1e-12).all()


@pytest.mark.covers("stress-mds")
def test_no_start_and_no_thread_changes_what_a_map_may_be(rng):
    D = squareform(pdist(rng.normal(size=(40, 5))))
    one, two = (stress_map(D, n_jobs=jobs) for jobs in (1, 2))
    assert (one.places == two.places).all()
    again = stress_map(D, start=one.places)
    assert again.objective <= one.objective + 1e-12
    assert stress_map(D, 3).objective < one.objective
    with pytest.raises(DataError, match="infinite"):
        stress_map(np.zeros((3, 3)), weights="relative")


def test_sammon_without_steps_stays_at_its_start(rng):
    start = rng.normal(size=(9, 2))
    found = sammon(rng.normal(size=(9, 4)), start=start, max_iter=0)
    np.testing.assert_allclose(found.places, start - start.mean(axis=0))
    assert found.n_iter == 0


@pytest.mark.covers("sammon-mapping")
def test_sammon_minimizes_its_own_stress(rng):
    X = rng.normal(size=(25, 5))
    D = pdist(X)
    found = sammon(X, tol=1e-12, max_iter=3000)

    def cost(places):
        return ((D - pdist(places)) ** 2 / D).sum() / D.sum()

    assert found.objective == pytest.approx(cost(found.places), rel=1e-9)
    for _ in range(20):
        assert cost(found.places + 0.01 * rng.normal(size=(25, 2))) > found.objective
    assert found.objective < cost(principal_coordinates(squareform(D)).places)


@pytest.mark.covers("sammon-mapping")
def test_equal_rows_are_refused_or_placed_together(rng):
    X = rng.normal(size=(12, 4))
    X[5] = X[2]
    with pytest.raises(DataError, match="items 2 and 5"):
        sammon(X)
    found = sammon(X, duplicates="together")
    assert (found.places[5] == found.places[2]).all()
    again = sammon(squareform(pdist(X)), metric="precomputed", duplicates="together")
    assert again.objective == pytest.approx(found.objective, rel=1e-6)


def test_an_ordinal_map_is_printed_with_its_stress_in_the_units_of_the_distances(rng):
    D = squareform(pdist(rng.normal(size=(12, 2))))
    found = ordinal_map(D, max_iter=50, start="random", random_state=0)
    assert f"Kruskal's stress {found.objective:.4g}" in str(found)
    far, given = pdist(found.places), squareform(D)
    assert far @ far == pytest.approx(far @ given)  # no other scale comes nearer


def test_items_of_a_frame_keep_their_names(rng):
    names = ["Rome", "Oslo", "Bern", "Riga"]
    D = pd.DataFrame(squareform(pdist(rng.normal(size=(4, 2)))), index=names, columns=names)
    for found in (principal_coordinates(D), ordinal_map(D), stress_map(D)):
        assert found.items == names
        assert "Oslo" in str(found)
    assert principal_coordinates(D.to_numpy()).items is None


def test_an_ordinal_map_sees_only_the_order_of_distances(rng):
    X = rng.normal(size=(15, 2))
    D = squareform(pdist(X))
    found = ordinal_map(D**3, max_iter=600, tol=1e-6)
    assert found.objective < 0.05
    assert procrustes(found.places, X).disparity < 0.05


@pytest.mark.covers("procrustes-alignment")
def test_a_turned_moved_and_scaled_map_is_brought_back(rng):
    X = rng.normal(size=(12, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moved = 2.5 * X @ turn + [1, 2, 3]
    back = procrustes(moved, X)
    np.testing.assert_allclose(back.places, X, atol=1e-9)
    assert back.scale == pytest.approx(0.4)
    assert procrustes(moved, X, scale=False).disparity > 0.1
    mirrored = X * [1, 1, -1]
    assert procrustes(mirrored, X).disparity < 1e-12
    found = procrustes(mirrored, X, reflection=False)
    assert np.linalg.det(found.rotation) == pytest.approx(1)
    assert found.disparity > 1e-3


@pytest.mark.covers("shortest-path-completion")
def test_missing_distances_are_lengths_of_shortest_paths(rng):
    table = np.full((6, 6), np.nan)
    np.fill_diagonal(table, 0)
    lengths = rng.uniform(1, 2, 5)
    for i, length in enumerate(lengths):
        table[i, i + 1] = table[i + 1, i] = length
    filled = complete_by_paths(table)
    for i in range(6):
        for j in range(i):
            assert filled[i, j] == pytest.approx(lengths[j:i].sum())
    table[2, 3] = table[3, 2] = np.nan
    with pytest.raises(DataError, match="2 parts"):
        complete_by_paths(table)


@pytest.mark.covers("force-directed-layout")
def test_springs_come_to_rest_at_a_minimum_of_stress_and_lose_energy(rng):
    net = graph([[0, 1], [1, 2], [2, 0], [2, 3]], [1.0, 2.0, 2.0, 1.5])
    motion = force_directed_layout(net, random_state=0, max_iter=20_000, tol=1e-8)
    assert motion.at_rest
    assert motion.objective < 1e-9
    drawn = np.linalg.norm(motion.places[net.edges[:, 0]] - motion.places[net.edges[:, 1]], axis=1)
    np.testing.assert_allclose(drawn, net.values, atol=1e-4)
    assert motion.energies[-1] < 1e-3 * motion.energies[0]
    assert len(motion.frames) == len(motion.energies)
    full = force_directed_layout(net, missing="paths", random_state=0, max_iter=20_000)
    best = stress_layout(net, start=full.places)
    assert full.objective == pytest.approx(best.objective, abs=1e-6)


@pytest.mark.covers("spectral-graph-layout")
def test_spectral_axes_are_eigenvectors_of_the_laplacian(rng):
    net = lattice(5, 8)
    found = spectral_layout(net)
    L = np.diag(net.degrees()) - net.matrix().toarray()
    np.testing.assert_allclose(L @ found.places, found.places * found.eigenvalues, atol=1e-9)
    np.testing.assert_allclose(found.places.T @ found.places, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.places.sum(axis=0), 0, atol=1e-9)
    assert found.algebraic_connectivity == pytest.approx(2 - 2 * np.cos(np.pi / 8))
    large = spectral_layout(lattice(22, 20))
    assert large.algebraic_connectivity == pytest.approx(2 - 2 * np.cos(np.pi / 22), rel=1e-5)


@pytest.mark.covers("spectral-graph-layout")
def test_a_graph_in_parts_is_refused_or_laid_out_apart():
    net = graph([[0, 1], [1, 2], [3, 4], [4, 5]], n_nodes=7)
    with pytest.raises(DataError, match="3 parts"):
        spectral_layout(net)
    found = spectral_layout(net, disconnected="apart")
    assert found.algebraic_connectivity == 0
    assert found.places[:3, 0].max() < found.places[3:6, 0].min()


@pytest.mark.covers("layout-aesthetics")
def test_crossings_and_angles_are_counted_and_improved():
    net = graph([[0, 1], [2, 3], [0, 2]])
    crossed = np.array([[0, 0], [1, 1], [0, 1], [1, 0.0]])
    found = layout_energies(net, crossed)
    assert found.crossings == 1
    assert found.smallest_angle == pytest.approx(45)
    better = tuned_layout(net, crossed, random_state=0)
    assert layout_energies(net, better).total < found.total
    assert layout_energies(net, better).crossings == 0
    assert layout_energies(
        lattice(3, 3), np.indices((3, 3)).reshape(2, -1).T
    ).total == pytest.approx(
        layout_energies(lattice(3, 3), np.indices((3, 3)).reshape(2, -1).T * 7.0).total
    )
    with pytest.raises(DataError, match="shape"):
        layout_energies(net, crossed[:2])


@pytest.mark.covers("activity-network")
def test_weights_of_a_network_are_common_activities(rng):
    table = rng.integers(0, 4, (8, 5))
    table[3] = 0
    network = activity_network(table)
    weights = network.matrix().toarray()
    for i in range(8):
        for j in range(8):
            if i != j:
                assert weights[i, j] == np.minimum(table[i], table[j]).sum()
    assert 3 in network.isolated
    messages = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0]])
    sent = activity_network(messages, names=["ann", "bob", "eve"])
    assert sent.values.tolist() == [3.0]
    assert sent.isolated.tolist() == [2]
    with pytest.raises(DataError, match="negative"):
        activity_network(-table)


def test_an_ego_network_holds_the_nodes_within_reach():
    part, nodes = ego_network(lattice(5, 5), 12, steps=1)
    assert sorted(nodes.tolist()) == [7, 11, 12, 13, 17]
    assert nodes[0] == 12
    assert len(part.edges) == 4
    with pytest.raises(DataError, match="numbered"):
        ego_network(lattice(2, 2), 4)


@pytest.mark.parametrize(
    ("edges", "values", "match"),
    [
        ([[0, 0]], None, "itself"),
        ([[0, 1], [1, 0]], None, "twice"),
        ([[0, 1]], [0.0], "above 0"),
        ([[0, 1]], [1.0, 2.0], "1 edges"),
    ],
)
def test_graphs_that_are_none_are_refused(edges, values, match):
    with pytest.raises(DataError, match=match):
        graph(edges, values)


def exact_affinities(X, precisions):
    D = squareform(pdist(X)) ** 2
    P = np.exp(-precisions[:, None] * D)
    np.fill_diagonal(P, 0)
    P /= P.sum(axis=1, keepdims=True)
    return P


def divergence(P, places):
    near = 1 / (1 + squareform(pdist(places)) ** 2)
    np.fill_diagonal(near, 0)
    Q = near / near.sum()
    there = P > 0
    return float((P[there] * np.log(P[there] / Q[there])).sum())


@pytest.mark.covers("t-sne")
def test_perplexity_is_solved_exactly(rng):
    X = rng.normal(size=(40, 3)) * [10, 1, 0.1]
    model = TSNE(perplexity=13.0, max_iter=1, random_state=0).fit(X)
    shares = exact_affinities(model.index_.stored, model.precisions_)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    np.testing.assert_allclose(2**entropy, 13.0, rtol=1e-6)


@pytest.mark.covers("t-sne")
def test_gradient_is_that_of_the_divergence(rng):
    X = rng.normal(size=(25, 4))
    model = TSNE(perplexity=8, max_iter=1, random_state=0).fit(X)
    P = model._affinities.toarray()
    assert P.sum() == pytest.approx(1)
    np.testing.assert_allclose(P, P.T)
    places = rng.normal(size=(25, 2))
    with Crew(1) as crew:
        gradient, found = Forces(model._affinities, crew, "exact")(places, 1.0)
    assert found == pytest.approx(divergence(P, places), rel=1e-9)
    slope = approx_fprime(places.ravel(), lambda v: divergence(P, v.reshape(-1, 2)), 1e-6)
    np.testing.assert_allclose(gradient.ravel(), slope, atol=1e-6)


@pytest.mark.covers("t-sne")
@pytest.mark.parametrize("size", [1e-3, 1.0, 8.0])
def test_forces_by_the_grid_are_those_of_all_pairs(rng, size):
    places = size * rng.normal(size=(600, 2))
    near = TSNE(perplexity=5, max_iter=1).fit(places)
    with Crew(2) as crew:
        by_grid = Forces(near._affinities, crew, "fft")
        push, total = by_grid.repulsion(places)
        exact, all_pairs = by_grid._exact(places)
    assert total == pytest.approx(all_pairs, rel=0.01)
    assert np.abs(push - exact).max() < 0.03 * np.abs(exact).max()


@pytest.mark.covers("t-sne")
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("size", [1e-3, 1.0, 8.0])
def test_forces_by_the_tree_tend_to_those_of_all_pairs_with_the_angle(rng, size, k):
    places = size * rng.normal(size=(300, k))
    places[:5] = places[5]
    near = sp.csr_array(sp.eye_array(300))
    with Crew(1) as crew:
        exact, all_pairs = Forces(near, crew, "exact").repulsion(places)
        errors = []
        for angle in (1e-9, 0.2, 0.8):
            push, total = Forces(near, crew, "tree", angle).repulsion(places)
            errors.append(np.abs(push - exact).max() / np.abs(exact).max())
            assert total == pytest.approx(all_pairs, rel=0.1 * angle + 1e-12)
    assert errors[0] < 1e-10
    assert errors[1] < 0.03
    assert errors[2] < 0.3


@pytest.mark.covers("t-sne")
def test_repulsions_lead_to_maps_of_the_same_divergence(rng):
    X = rng.normal(size=(6, 8))[np.arange(150) % 6] * 5 + rng.normal(size=(150, 8))
    found = [
        TSNE(repulsion=each, random_state=0).fit(X).kl_divergence_
        for each in ("exact", "tree", "fft")
    ]
    assert max(found) - min(found) < 0.1 * max(found) + 0.01


@pytest.mark.covers("t-sne")
def test_groups_are_seen_new_rows_join_theirs_and_more_steps_help(rng):
    centers = 20 * np.linalg.qr(rng.normal(size=(10, 10)))[0][:4]
    group = np.arange(160) % 4
    X = centers[group] + rng.normal(size=(160, 10))
    model = TSNE(perplexity=15, max_iter=400, random_state=0).fit(X)
    places = model.embedding_
    means = np.array([places[group == g].mean(axis=0) for g in range(4)])
    nearest = np.linalg.norm(places[:, None] - means, axis=2).argmin(axis=1)
    assert (nearest == group).all()
    peer = manifold.TSNE(perplexity=15, max_iter=400, random_state=0).fit(X)
    assert model.kl_divergence_ < 1.1 * peer.kl_divergence_
    new = model.transform(centers + rng.normal(size=(4, 10)))
    assert np.linalg.norm(new[:, None] - means, axis=2).argmin(axis=1).tolist() == [0, 1, 2, 3]
    before = model.kl_divergence_
    assert model.go_on(100).kl_divergence_ <= before + 0.01
    assert model.n_iter_ == 500
    same = [TSNE(max_iter=60, perplexity=15, n_jobs=jobs).fit_transform(X) for jobs in (1, 2)]
    assert (same[0] == same[1]).all()


@pytest.mark.covers("t-sne")
def test_too_large_a_perplexity_and_a_repulsion_of_other_dimensions_are_refused(rng):
    X = rng.normal(size=(20, 3))
    with pytest.raises(DataError, match="perplexity=20"):
        TSNE(perplexity=20).fit(X)
    with pytest.raises(DataError, match="perplexity=20"):
        TSNE(perplexity=20).fit(np.vstack([X, X]))
    with pytest.raises(DataError, match="n_components up to 2"):
        TSNE(3, perplexity=5, repulsion="fft").fit(X)
    with pytest.raises(DataError, match="n_components up to 3"):
        TSNE(4, perplexity=5, repulsion="tree").fit(X)


@pytest.mark.covers("t-sne")
def test_rows_without_groups_are_spread_again_after_the_exaggeration(rng):
    X = rng.normal(size=(300, 40))
    model = TSNE(random_state=0, max_iter=600).fit(X)
    assert np.ptp(model.embedding_, axis=0).min() > 1
    assert model.kl_divergence_ < model.history_[240] - 0.3


@pytest.mark.covers("t-sne")
def test_equal_rows_are_one_point_and_weights_count_in_the_shares(rng):
    X = rng.normal(size=(30, 3))
    weights = rng.integers(1, 4, 30)
    weighted = TSNE(max_iter=20, perplexity=5).fit(X, sample_weight=weights)
    repeated = TSNE(max_iter=20, perplexity=5).fit(np.repeat(X, weights, axis=0))
    assert (weighted.embedding_ == repeated.transform(X)).all()
    plain = TSNE(max_iter=20, perplexity=5).fit(X)
    assert not np.allclose(plain.embedding_, weighted.embedding_)


def test_joint_shares_are_the_symmetrised_ones(rng):
    near = rng.random((5, 5))
    near /= near.sum(axis=1, keepdims=True)
    weights = rng.integers(1, 4, 5).astype(float)
    expected = (weights[:, None] * near + (weights[:, None] * near).T) / (2 * weights.sum())
    np.testing.assert_allclose(joint(sp.csr_array(near), weights).toarray(), expected)


@pytest.mark.covers("isomap")
def test_a_rolled_sheet_is_unrolled(rng):
    along, across = rng.uniform(2, 5, 500), rng.uniform(0, 3, 500)
    X = np.column_stack([along * np.cos(2 * along), across, along * np.sin(2 * along)])
    found = Isomap(n_components=2, n_neighbors=10).fit(X)
    length = along**2
    best = max(abs(np.corrcoef(found.embedding_[:, c], length)[0, 1]) for c in range(2))
    assert best > 0.9
    np.testing.assert_allclose(found.transform(X[:20]), found.embedding_[:20], atol=0.5)


@pytest.mark.covers("independent-component-analysis")
def test_mixed_uniform_sources_are_found_again(rng):
    sources = rng.uniform(-1, 1, (3000, 3))
    mixing = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ica = ICA(random_state=0).fit(sources @ mixing.T)
    found = ica.transform(sources @ mixing.T)
    match = np.abs(np.corrcoef(found.T, sources.T)[:3, 3:])
    assert (match.max(axis=1) > 0.95).all()
    assert sorted(match.argmax(axis=1).tolist()) == [0, 1, 2]
    np.testing.assert_allclose(found @ ica.mixing_.T + ica.mean_, sources @ mixing.T, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        TSNE(perplexity=5, max_iter=60),
        Isomap(n_neighbors=8, disconnected="join"),
        Isomap(n_neighbors=2),
        LocallyLinearEmbedding(),
        SpectralEmbedding(),
        KernelPCA(),
        RobustPCA(),
        ICA(random_state=0, max_iter=50),
        SupervisedPCA(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_saved_map_places_new_rows_where_it_did_before(rng, model, tmp_path):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X, y if isinstance(model, SupervisedPCA) else None)
    loaded = gnomon.load(model.save(tmp_path / "map.gnomon"))
    assert (loaded.transform(X[:7]) == model.transform(X[:7])).all()


def test_paths_of_the_kernel_are_those_of_scipy(rng):
    n = 40
    table = np.where(rng.random((n, n)) < 0.1, rng.random((n, n)) + 0.1, 0)
    table = sp.csr_array(np.maximum(table, table.T))
    found = np.empty((n, n))
    shortest_paths(
        table.indptr.astype(np.int64),
        table.indices.astype(np.int64),
        table.data,
        np.arange(n),
        found,
    )
    np.testing.assert_allclose(found, dijkstra(table, directed=False))


@pytest.mark.covers("principal-coordinate-analysis", "sammon-mapping")
def test_tables_of_distances_with_names_or_gaps_are_refused_with_a_remedy():
    cities = pd.DataFrame({"city": ["a", "b"], "a": [0.0, 3.0], "b": [3.0, 0.0]})
    with pytest.raises(DataError, match="index of the frame"):
        principal_coordinates(cities)
    gap = np.array([[0.0, np.nan, 1.0], [np.nan, 0.0, 2.0], [1.0, 2.0, 0.0]])
    for mapped in (principal_coordinates, ordinal_map):
        with pytest.raises(DataError, match="items 0 and 1 is missing: map by stress_map"):
            mapped(gap)
    with pytest.warns(GnomonWarning, match="metric='precomputed'"):
        sammon(1.0 - np.eye(4))


def test_sammon_takes_a_table_with_text_and_missing_cells(rng):
    frame = pd.DataFrame({"a": rng.normal(size=12), "b": rng.choice(["x", "y"], 12)})
    frame.loc[3, "a"] = np.nan
    assert np.isfinite(sammon(frame, duplicates="together").places).all()


def test_umap_says_that_it_took_fewer_neighbors(rng):
    pytest.importorskip("umap")
    with pytest.warns(GnomonWarning, match="n_neighbors=100 is more than the 19"):
        UMAP(n_neighbors=100, random_state=0).fit(rng.normal(size=(20, 3)))
