"""Invariances of clusterings, and what must hold between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    SelfOrganizingMap,
    betacv,
    davies_bouldin,
    linkage_tree,
    silhouette,
)

seeds = st.integers(0, 2**32 - 1)


def contained(inner: np.ndarray, outer: np.ndarray, which: np.ndarray) -> bool:
    """Whether each cluster of one labelling (of some rows) lies in one of the other."""
    return all(
        len(np.unique(outer[which & (inner == c)])) == 1 for c in np.unique(inner[which]) if c >= 0
    )


@pytest.mark.covers("rho-approximate-dbscan")
@given(seed=seeds, rho=st.sampled_from([0.001, 0.1, 0.5, 1.0]))
def test_approximate_clusters_lie_between_two_exact_ones(seed, rho):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(80, int(rng.integers(1, 4))))
    eps, least = float(rng.uniform(0.1, 0.8)), int(rng.integers(2, 6))
    small = DBSCAN(eps, min_samples=least).fit(rows)
    between = DBSCAN(eps, min_samples=least, rho=rho).fit(rows)
    large = DBSCAN(eps * (1 + rho), min_samples=least).fit(rows)
    core = small.kinds(rows) == "core"
    np.testing.assert_array_equal(core, between.kinds(rows) == "core")
    assert contained(small.labels_, between.labels_, core)
    assert contained(between.labels_, large.labels_, core)


@pytest.mark.covers("rho-approximate-dbscan")
def test_a_tiny_rho_gives_the_exact_clusters(rng):
    rows = rng.normal(size=(300, 3))
    exact = DBSCAN(0.5, min_samples=4).fit_predict(rows)
    np.testing.assert_array_equal(DBSCAN(0.5, min_samples=4, rho=1e-12).fit_predict(rows), exact)


@given(seed=seeds)
def test_core_rows_do_not_depend_on_order_and_clusters_only_on_distances(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 12, size=(60, 2)).astype(float)
    mixed = rng.permutation(60)
    model = DBSCAN(1.0, min_samples=3)
    labels = model.fit_predict(rows)
    np.testing.assert_array_equal(model.fit_predict(rows[mixed]), labels[mixed])
    moved = DBSCAN(2.0, min_samples=3).fit_predict(2 * rows + 7)
    assert ((moved < 0) == (labels < 0)).all()


@given(seed=seeds, linkage=st.sampled_from(["single", "complete", "average", "ward"]))
def test_heights_never_fall_and_scale_with_the_rows(seed, linkage):
    rows = np.random.default_rng(seed).normal(size=(25, 2))
    tree = linkage_tree(rows, linkage)
    assert tree.n_inversions == 0
    assert len(tree.merges) == 24
    np.testing.assert_allclose(linkage_tree(3 * rows + 1, linkage).heights, 3 * tree.heights)
    assert sorted(tree.leaf_order().tolist()) == list(range(25))


@given(seed=seeds)
def test_measures_do_not_depend_on_units_or_names(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(40, 3)), np.arange(40) % 3
    renamed = np.array(["c", "a", "b"])[labels]
    for measure in (betacv, davies_bouldin, lambda X, y: silhouette(X, y).total):
        assert measure(5 * rows + 2, renamed) == pytest.approx(measure(rows, labels))
    per_row = silhouette(rows, labels).per_row
    assert (np.abs(per_row) <= 1).all()


def test_prototypes_of_a_batch_map_stay_among_the_rows(rng):
    rows = rng.normal(size=(100, 2))
    model = SelfOrganizingMap(4, 5).fit(rows)
    assert (model.prototypes_ >= rows.min(axis=0) - 1e-9).all()
    assert (model.prototypes_ <= rows.max(axis=0) + 1e-9).all()


@pytest.mark.parametrize("eps", [0.0, 1e-300, 1e300])
def test_extreme_eps_gives_all_noise_or_one_cluster(eps, rng):
    rows = rng.normal(size=(50, 2))
    labels = DBSCAN(eps, min_samples=2).fit_predict(rows)
    assert set(labels.tolist()) == ({0} if eps > 1 else {-1})
    assert set(DBSCAN(0.0, min_samples=2).fit_predict(np.ones((5, 2))).tolist()) == {0}


def test_more_clusters_than_different_rows_are_refused():
    with pytest.raises(ValueError, match="fewer clusters"):
        AgglomerativeClustering(3).fit([[1.0], [1.0], [2.0], [2.0]])
