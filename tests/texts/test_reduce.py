"""Worked examples of the texts: components, canonical correlations, projections, layouts."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.reduce import (
    PCA,
    CanonicalCorrelation,
    NormalizedPCA,
    SupervisedPCA,
    cca_permutation_test,
    complete_by_paths,
    first_principal_components,
    lattice,
    low_rank,
    pair_projection,
    stress_layout,
    stress_map,
    wilks_lambda,
)
from gnomon.reduce.nipals import one_component
from gnomon.table import example


def iris() -> np.ndarray:
    table = example("iris")
    return np.column_stack(
        [table.column(c.name).to_numpy() for c in table.schema if c.kind.is_numeric]
    ).astype(float)


@pytest.mark.covers("nipals", "low-rank-approximation")
def test_v19_and_v20_of_000a_on_iris():
    X = iris()
    centered = X - X.mean(axis=0)
    errors = [low_rank(centered, s).error / len(X) for s in (1, 2, 3)]
    np.testing.assert_allclose(errors, [0.342417, 0.101364, 0.023676], atol=2e-3)
    w, u, settled = one_component(centered, np.ones_like(centered), 100, 1e-12)
    assert settled
    right = np.linalg.svd(centered)[2]
    assert abs(u @ right[0]) == pytest.approx(1, abs=1e-10)
    assert np.linalg.norm(w) == pytest.approx(25.0999604, abs=0.05)
    assert PCA(ddof=0).fit(X).explained_variance_[0] == pytest.approx(4.2, abs=0.02)


@pytest.mark.covers("wilks-lambda")
def test_v26_of_000a_wilks_lambda_of_ten_printed_correlations():
    rho = [0.96, 0.94, 0.93, 0.93, 0.92, 0.92, 0.91, 0.91, 0.90, 0.88]
    assert wilks_lambda(rho, 10) == pytest.approx(4.98e-9, rel=0.01)


@pytest.mark.covers("cca-permutation-test", "canonical-correlation-analysis")
def test_v27_of_000a_independent_tables_correlate_at_091_by_chance(rng):
    X, Y = rng.normal(size=(2, 400, 121))
    rho = CanonicalCorrelation(10).fit(X, Y).correlations_
    np.testing.assert_allclose(
        rho, [0.91, 0.91, 0.90, 0.89, 0.89, 0.88, 0.87, 0.87, 0.86, 0.85], atol=0.03
    )
    c = 121 / 400
    assert rho[0] == pytest.approx(np.sqrt(4 * c * (1 - c)), abs=0.02)
    test = cca_permutation_test(X, Y, n_permutations=39, random_state=0)
    assert 1e-28 < test.wilks[-1] < 1e-20
    # chance alone makes either end possible, but hardly both
    assert test.fractions.max() > 0.02
    assert np.exp(np.log(test.shuffled[:, -1]).mean()) == pytest.approx(
        test.wilks[-1], rel=np.exp(8)
    )


@pytest.mark.covers("normalised-pca")
def test_d23_of_004_an_outlier_decides_pca_but_not_normalized_pca():
    X = np.array([[-2, 0], [-1, 0], [0, 0], [1, 0], [2, 0], [0, 4.0]])
    plain = pair_projection(X, None)
    np.testing.assert_allclose(plain.values, [80, 60], atol=1e-9)
    assert np.abs(plain.directions[0]).argmax() == 1
    found = NormalizedPCA().fit(X)
    np.testing.assert_allclose(found.objective_values_, [22.273926, 18.916558], atol=1e-6)
    assert np.abs(found.components_[0]).argmax() == 0


@pytest.mark.covers("supervised-pca")
def test_d23_of_004_classes_turn_the_view():
    X = np.array([[-1, 1.2], [-1, -1.2], [1, 1.2], [1, -1.2]])
    np.testing.assert_allclose(pair_projection(X, None).values, [23.04, 16.0], atol=1e-9)
    found = SupervisedPCA(within=0.0).fit(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(found.objective_values_, [16.0, 11.52], atol=1e-9)
    assert np.abs(found.components_[0]).argmax() == 0


@pytest.mark.covers("first-principal-component")
def test_ten_passes_of_003_suffice_where_the_variances_differ_fourfold(rng):
    X = rng.normal(size=(4000, 2)) * [2, 1]
    found = first_principal_components(X, random_state=0)
    right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
    assert abs(found.components[0] @ right[0]) > 1 - 1e-4


@pytest.mark.covers("stress-mds")
def test_t14_of_004_a_chain_of_two_edges_can_be_folded_at_no_cost():
    nan = np.nan
    table = np.array([[0, 1, nan], [1, 0, 1], [nan, 1, 0]])
    for angle in (0.3, 1.0, 3.0):
        bent = np.array([[1, 0], [0, 0], [np.cos(angle), np.sin(angle)]])
        assert stress_map(table, start=bent).objective < 1e-20


@pytest.mark.covers("shortest-path-completion")
def test_t15_of_004_shortest_paths_on_the_lattice():
    net = lattice(30, 30)
    assert len(net.edges) == 1740
    paths = complete_by_paths(net.distances())
    assert paths[0, 31] == 2
    assert paths[0, 899] == 58
    assert paths[np.triu_indices(900, 1)].mean() == pytest.approx(20.0, abs=0.05)


def grid_places() -> np.ndarray:
    return np.indices((30, 30)).reshape(2, -1).T.astype(float)


def measures(places: np.ndarray) -> tuple[float, float, float]:
    """Mean side, middle row and diagonal of the drawn lattice, corner to corner."""
    at = places.reshape(30, 30, 2)
    side = np.mean(
        [
            np.linalg.norm(at[0, 0] - at[0, -1]),
            np.linalg.norm(at[-1, 0] - at[-1, -1]),
            np.linalg.norm(at[0, 0] - at[-1, 0]),
            np.linalg.norm(at[0, -1] - at[-1, -1]),
        ]
    )
    middle = np.linalg.norm(at[15, 0] - at[15, -1])
    diagonal = np.linalg.norm(at[0, 0] - at[-1, -1])
    return float(side), float(middle), float(diagonal)


@pytest.mark.covers("stress-mds")
def test_edges_alone_leave_the_lattice_in_a_heap_without_stress():
    net = lattice(30, 30)
    colors = np.indices((30, 30)).sum(axis=0).ravel() % 2
    line = np.column_stack([colors, np.zeros(900)]).astype(float)
    assert stress_layout(net, missing="none", start=line).objective == 0
    small = stress_layout(lattice(10, 10), missing="none", random_state=0)
    assert small.objective < 1e-4
    straight = np.indices((10, 10)).reshape(2, -1).T
    assert np.ptp(small.places, axis=0).max() < np.ptp(straight, axis=0).max()


@pytest.mark.covers("default-repulsion")
def test_default_repulsion_bends_the_lattice_towards_a_ball():
    found = stress_layout(lattice(30, 30), missing="repel", start=grid_places())
    assert found.objective == pytest.approx(287.7453, abs=0.01)
    side, middle, diagonal = measures(found.places)
    assert side == pytest.approx(23.28, abs=0.05)
    assert middle == pytest.approx(30.52, abs=0.05)
    assert diagonal == pytest.approx(32.93, abs=0.05)


@pytest.mark.covers("shortest-path-completion", "stress-mds")
def test_shortest_paths_unfold_the_lattice_to_a_pillow():
    found = stress_layout(lattice(30, 30), missing="paths", start=grid_places())
    assert found.objective == pytest.approx(1_813_988.116, rel=1e-6)
    assert found.relative_error == pytest.approx(0.094720, abs=1e-5)
    side, middle, diagonal = measures(found.places)
    assert side == pytest.approx(38.228, abs=0.02)
    assert middle == pytest.approx(36.133, abs=0.02)
    assert diagonal == pytest.approx(54.062, abs=0.02)
