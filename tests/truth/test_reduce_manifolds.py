"""Isomap, LLE, spectral embedding, kernel and robust PCA, ICA against their definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_blobs

from gnomon.engine.errors import DataError
from gnomon.margin import Linear
from gnomon.reduce import (
    ICA,
    PCA,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    RobustPCA,
    SpectralEmbedding,
    SupervisedPCA,
    block_keywords,
    pair_projection,
    principal_coordinates,
    procrustes,
)
from gnomon.reduce.lle import mixing_weights

GRAPH_MAPS = [Isomap, LocallyLinearEmbedding, SpectralEmbedding]
every_graph_map = pytest.mark.parametrize("cls", GRAPH_MAPS, ids=lambda cls: cls.__name__)


def neighbor_table(rows, k):
    """Distances of pairs of which one is among the k nearest of the other; infinite otherwise."""
    D = squareform(pdist(rows))
    near = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, :k]
    joined = np.zeros(D.shape, bool)
    np.put_along_axis(joined, near, True, axis=1)
    joined |= joined.T
    return np.where(joined, D, np.inf)


def two_parts(rng):
    return np.vstack([rng.normal(size=(25, 3)), rng.normal(size=(18, 3)) + 100])


@pytest.mark.covers("isomap")
def test_isomap_is_principal_coordinates_of_shortest_paths(rng):
    X = rng.normal(size=(60, 3))
    found = Isomap(n_components=2, n_neighbors=10).fit(X)
    paths = shortest_path(neighbor_table(X, 10))
    expected = principal_coordinates(paths)
    assert procrustes(found.embedding_, expected.places, scale=False).disparity < 1e-10
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues[:2], rtol=1e-8)


@pytest.mark.covers("isomap")
def test_weights_of_isomap_are_copies_in_the_sums_of_the_map(rng):
    X = rng.normal(size=(40, 3))
    weights = rng.integers(1, 4, 40)
    found = Isomap(n_components=2, n_neighbors=10).fit(X, sample_weight=weights)
    paths = shortest_path(neighbor_table(X, 10))
    copies = np.repeat(np.arange(40), weights)
    expected = principal_coordinates(paths[np.ix_(copies, copies)])
    assert procrustes(found.embedding_[copies], expected.places, scale=False).disparity < 1e-10


@pytest.mark.covers("isomap")
def test_landmarks_place_the_other_rows_as_all_rows_would_on_a_flat_sheet(rng):
    X = rng.uniform(size=(400, 2)) @ rng.normal(size=(2, 5))
    whole = Isomap(n_components=2, n_neighbors=12).fit(X)
    with pytest.warns(UserWarning, match="from 80 of 400"):
        few = Isomap(n_components=2, n_neighbors=12, n_landmarks=80, random_state=0).fit(X)
    assert len(few.landmarks_) == 80
    assert procrustes(few.embedding_, whole.embedding_).disparity < 0.01


@pytest.mark.covers("isomap")
@every_graph_map
def test_parts_that_nothing_joins_are_said_and_mapped_each_for_itself(rng, cls):
    X = two_parts(rng)
    with pytest.warns(UserWarning, match="2 parts"):
        found = cls(n_components=2, n_neighbors=5, disconnected="apart").fit(X)
    assert found.n_parts_ == 2
    for part in (slice(0, 25), slice(25, 43)):
        alone = cls(n_components=2, n_neighbors=5, disconnected="apart").fit(X[part])
        moved = found.embedding_[part] - found.embedding_[part].mean(axis=0)
        np.testing.assert_allclose(
            np.abs(moved), np.abs(alone.embedding_ - alone.embedding_.mean(axis=0)), atol=1e-6
        )
    one, other = found.embedding_[:25, 0], found.embedding_[25:, 0]
    assert one.max() < other.min() or other.max() < one.min()
    new = found.transform(X + 1e-9)[:, 0]
    border = (one.max() + other.min()) / 2 if one.max() < other.min() else one.min() - 1e-9
    assert ((new[:25] < border).all()) == (one.max() < other.min())
    assert (new[25:] > border).all() == (one.max() < other.min())


@pytest.mark.covers("isomap")
@every_graph_map
def test_parts_are_refused_or_joined_where_that_is_asked_for(rng, cls):
    X = two_parts(rng)
    with pytest.raises(DataError, match="2 parts"):
        cls(n_components=2, n_neighbors=5, disconnected="refuse").fit(X)
    with pytest.warns(UserWarning, match="joined|2 parts"):
        found = cls(n_components=2, n_neighbors=5, disconnected="join").fit(X)
    assert found.part_.max() == 0
    assert np.isfinite(found.embedding_).all()


def test_joined_parts_hang_on_their_nearest_rows(rng):
    X = two_parts(rng)
    with pytest.warns(UserWarning, match="joined"):
        found = Isomap(n_components=2, n_neighbors=5, disconnected="join").fit(X)
    rows = found.index_.stored
    D, paths = squareform(pdist(rows)), found.paths_
    first = rows[:, 0] < 50
    i, j = np.unravel_index(D[np.ix_(first, ~first)].argmin(), (first.sum(), (~first).sum()))
    i, j = np.flatnonzero(first)[i], np.flatnonzero(~first)[j]
    np.testing.assert_allclose(
        paths[np.ix_(first, ~first)],
        paths[first, i][:, None] + D[i, j] + paths[j, ~first],
        rtol=1e-9,
    )


@every_graph_map
def test_too_few_rows_and_too_many_neighbors_are_said(rng, cls):
    X = rng.normal(size=(12, 2))
    with pytest.warns(UserWarning, match=r"n_neighbors=(40|39)"):
        assert cls(n_components=2, n_neighbors=40).fit(X).n_neighbors_ == 11
    with pytest.raises(DataError, match="three different rows"):
        cls().fit(np.vstack([X[:2]] * 6))
    with pytest.raises(DataError, match="n_components=12"):
        cls(n_components=12).fit(X)


def test_mixing_weights_solve_their_least_squares(rng):
    apart = rng.normal(size=(7, 4, 3))
    for row, weights in zip(apart, mixing_weights(apart, 1e-3)):
        products = row @ row.T
        products += 1e-3 * np.trace(products) * np.eye(4)
        expected = np.linalg.solve(products, np.ones(4))
        np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-8)
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("weighted", [False, True])
def test_lle_solves_the_generalized_eigenproblem_of_its_objective(rng, weighted):
    X = rng.uniform(size=(70, 3)) * [3, 2, 0.1]  # so even that the graph hangs together
    weights = rng.integers(1, 4, 70).astype(float) if weighted else np.ones(70)
    found = LocallyLinearEmbedding(n_components=2, n_neighbors=9).fit(X, sample_weight=weights)
    assert found.n_parts_ == 1
    D = squareform(pdist(X)) + np.diag(np.full(70, np.inf))
    near = np.argsort(D, axis=1)[:, :9]
    mix = np.zeros((70, 70))
    np.put_along_axis(mix, near, mixing_weights(X[near] - X[:, None], 1e-3), axis=1)
    errors = np.eye(70) - mix
    mass = np.diag(weights / weights.sum())
    values = scipy.linalg.eigh(errors.T @ mass @ errors, mass, eigvals_only=True)
    np.testing.assert_allclose(
        found.reconstruction_error_, values[1:3].sum(), rtol=1e-5, atol=1e-10
    )
    embedding = found.embedding_ * np.sqrt(weights.sum())
    np.testing.assert_allclose(embedding.T @ mass @ embedding, np.eye(2), atol=1e-6)
    cost = np.trace(embedding.T @ errors.T @ mass @ errors @ embedding)
    assert cost == pytest.approx(found.reconstruction_error_, rel=1e-5, abs=1e-10)


@pytest.mark.parametrize("affinity", ["nearest", "heat"])
@pytest.mark.parametrize("weighted", [False, True])
def test_spectral_embedding_solves_the_generalized_eigenproblem(rng, affinity, weighted):
    X = rng.normal(size=(60, 3))
    weights = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    found = SpectralEmbedding(2, n_neighbors=8, affinity=affinity).fit(X, sample_weight=weights)
    table = neighbor_table(X, 8)
    there = np.isfinite(table)
    closeness = np.where(there, 1.0, 0.0)
    if affinity == "heat":
        closeness[there] = np.exp(-0.5 * (table[there] / found.width_) ** 2)
    closeness *= np.outer(weights, weights)
    degrees = np.diag(closeness.sum(axis=1))
    values = scipy.linalg.eigh(degrees - closeness, degrees, eigvals_only=True)
    np.testing.assert_allclose(found.eigenvalues_, values[1:3], rtol=1e-8, atol=1e-10)
    places = found.embedding_
    np.testing.assert_allclose(
        (degrees - closeness) @ places, degrees @ places * found.eigenvalues_, atol=1e-8
    )


def test_large_graphs_are_solved_as_small_ones(rng, monkeypatch):
    X = rng.normal(size=(300, 2)) * [10, 1]
    models = [
        SpectralEmbedding(2, n_neighbors=12),
        LocallyLinearEmbedding(n_components=1, n_neighbors=12),
    ]
    small = [each.fit(X).embedding_ for each in models]
    monkeypatch.setattr("gnomon.reduce.spectral.ROWS_OF_EIGH", 10)
    monkeypatch.setattr("gnomon.reduce.spectrum.ROWS_OF_EIGH", 10)
    for model, expected in zip(models, small):
        found = model.fit(X).embedding_
        assert procrustes(found, expected).disparity < 1e-6


def test_lle_of_many_rows_mixes_the_others_from_those_drawn(rng):
    X = rng.uniform(size=(400, 2)) @ rng.normal(size=(2, 4))
    with pytest.warns(UserWarning, match="150 of 400"):
        found = LocallyLinearEmbedding(n_components=2, n_landmarks=150, random_state=0).fit(X)
    assert found.index_.n_rows == 150
    assert found.embedding_.shape == (400, 2)
    np.testing.assert_array_equal(found.transform(X), found.embedding_)


@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_pca_with_a_linear_kernel_is_pca(rng, weighted):
    X = rng.normal(size=(80, 4)) * [4, 3, 2, 1]
    weights = rng.integers(1, 4, 80).astype(float) if weighted else None
    ours = KernelPCA(3, kernel="linear").fit(X, sample_weight=weights)
    plain = PCA(3, ddof=0).fit(X, sample_weight=weights)
    np.testing.assert_allclose(ours.explained_variance_, plain.explained_variance_, rtol=1e-8)
    assert ours.total_variance_ == pytest.approx(plain.total_variance_)
    new = rng.normal(size=(10, 4))
    np.testing.assert_allclose(np.abs(ours.transform(new)), np.abs(plain.transform(new)), atol=1e-7)


def test_kernel_pca_by_landmarks_is_exact_where_they_span_the_space(rng):
    X = rng.normal(size=(300, 4)) * [4, 3, 2, 1]
    whole = KernelPCA(2, kernel=Linear()).fit(X)
    with pytest.warns(UserWarning, match="30 of 300"):
        few = KernelPCA(2, kernel=Linear(), n_landmarks=30, random_state=0).fit(X)
    np.testing.assert_allclose(few.explained_variance_, whole.explained_variance_, rtol=1e-6)
    assert few.total_variance_ == pytest.approx(whole.total_variance_, rel=1e-6)
    np.testing.assert_allclose(np.abs(few.transform(X)), np.abs(whole.transform(X)), atol=1e-5)


def test_the_radius_is_linear_in_the_components_of_a_quadratic_kernel(rng):
    angle = rng.uniform(0, 2 * np.pi, 200)
    radius = np.where(np.arange(200) % 2, 3.0, 1.0) + 0.1 * rng.normal(size=200)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    places = KernelPCA(5, kernel="poly", degree=2).fit_transform(X)
    squares = radius**2 - (radius**2).mean()
    error = np.linalg.lstsq(places, squares, rcond=None)[1]
    assert error[0] < 1e-12 * (squares @ squares)


def test_the_center_of_robust_pca_is_where_unit_pulls_cancel(rng):
    X = rng.normal(size=(120, 3)) * [5, 2, 1] + 7
    weights = rng.integers(1, 4, 120).astype(float)
    found = RobustPCA(3).fit(X, sample_weight=weights)
    apart = X - found.mean_
    signs = apart / np.linalg.norm(apart, axis=1, keepdims=True)
    np.testing.assert_allclose(weights @ signs / weights.sum(), 0, atol=1e-7)
    mean_of_signs = (signs.T * weights) @ signs / weights.sum()
    np.testing.assert_allclose(
        found.components_ @ mean_of_signs @ found.components_.T,
        np.diag(found.sign_shares_),
        atol=1e-7,
    )
    assert found.sign_shares_.sum() == pytest.approx(1)
    rebuilt = found.inverse_transform(found.transform(X))
    np.testing.assert_allclose(rebuilt, X, atol=1e-9)


def test_a_third_of_outliers_turns_pca_and_not_robust_pca(rng):
    X = rng.normal(size=(600, 3)) * [6, 2, 1]
    clean = RobustPCA(1).fit(X)
    X[:180] /= [6, 2, 1]
    X[:180, 2] += 500
    robust, plain = RobustPCA(1).fit(X), PCA(1).fit(X)
    assert abs(clean.components_[0, 0]) > 0.95
    assert abs(plain.components_[0, 0]) < 0.2
    # the outliers all lie one way, which pulls, but not beyond a bound
    assert np.linalg.norm(robust.mean_) < 10
    assert clean.explained_variance_[0] == pytest.approx(36, rel=0.4)


@pytest.mark.covers("independent-component-analysis")
@pytest.mark.parametrize("contrast", ["logcosh", "exp", "cube"])
def test_sources_are_found_by_any_contrast_and_from_weights(rng, contrast):
    sources = rng.uniform(-1, 1, (1500, 3))
    X = sources @ (rng.normal(size=(3, 3)) + 2 * np.eye(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ICA(contrast=contrast, random_state=0).fit(X)
        twice = ICA(contrast=contrast, random_state=0).fit(X, sample_weight=np.full(1500, 2.0))
    match = np.abs(np.corrcoef(found.transform(X).T, sources.T)[:3, 3:])
    assert (match.max(axis=1) > 0.95).all()
    np.testing.assert_allclose(found.components_, twice.components_, atol=1e-6)
    np.testing.assert_allclose(np.cov(found.transform(X).T, ddof=0), np.eye(3), atol=1e-6)
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), X, atol=1e-8)


@pytest.mark.covers("supervised-pca")
@pytest.mark.parametrize("within", [0.0, 0.3, 1.0])
def test_supervised_pca_of_a_number_is_weighted_pca_by_squared_differences(rng, within):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    apart = cdist(y[:, None], y[:, None], "sqeuclidean")
    pairs = within + (1 - within) * apart / apart.mean()
    found = SupervisedPCA(2, within=within).fit(X, y)
    expected = pair_projection(X, pairs)
    np.testing.assert_allclose(found.objective_values_, expected.values, rtol=1e-8)
    np.testing.assert_allclose(found.components_, expected.directions, atol=1e-6)
    assert found.target_kind_ == "numbers"


def test_maps_keep_the_places_of_rows_that_were_mapped(rng):
    X, _ = make_blobs(90, 4, random_state=int(rng.integers(2**31)))
    for model in (Isomap(), LocallyLinearEmbedding(), SpectralEmbedding()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        np.testing.assert_array_equal(model.transform(X[::-1]), model.embedding_[::-1])


@pytest.mark.covers("map-block-keywords")
def test_keywords_of_a_block_are_the_columns_that_correlate_most_with_lying_there(rng):
    places, counts = rng.normal(size=(90, 2)), rng.poisson(2.0, size=(90, 12))
    names = [f"word {j}" for j in range(12)]
    found = block_keywords(places, sp.csr_array(counts.astype(float)), names, n_words=4)
    low, high = np.quantile(places, [1 / 3, 2 / 3], axis=0)
    for (a, b), words in found.keywords.items():
        inside = np.ones(90, bool)
        for c, block in enumerate((a, b)):
            column = places[:, c]
            borders = [column <= low[c], (column > low[c]) & (column <= high[c]), column > high[c]]
            inside &= borders[block]
        assert found.counts[a, b] == inside.sum()
        if not inside.any():
            assert words == []
            continue
        expected = dict(zip(names, np.corrcoef(counts.T.astype(float), inside)[-1, :-1]))
        for word, size in words:
            assert size == pytest.approx(expected[word], abs=1e-9)
        # a correlation of zero may be rounded to a positive number, and is then a keyword
        sizes = [size for _, size in words] + [0.0] * (4 - len(words))
        strongest = np.maximum(sorted(expected.values(), reverse=True)[:4], 0.0)
        np.testing.assert_allclose(sizes, strongest, atol=1e-9)
    with pytest.raises(DataError, match="do not fit"):
        block_keywords(places, counts, names[:5])
