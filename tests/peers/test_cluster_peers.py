"""Clusterings and measures against SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist
from sklearn import cluster as peers
from sklearn import metrics
from sklearn.neighbors import kneighbors_graph

from gnomon.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    cophenetic_correlation,
    davies_bouldin,
    external_validity,
    linkage_tree,
    silhouette,
)
from gnomon.engine.draw import canonical_order

PEER = {"mean": "centroid"}


@pytest.mark.covers("agglomerative-clustering", "linkage-criteria")
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "mean", "median", "ward"])
def test_merges_are_those_of_scipy_from_rows_and_from_distances(linkage, rng):
    for _ in range(5):
        rows = rng.normal(size=(int(rng.integers(2, 60)), int(rng.integers(1, 5))))
        expected = hierarchy.linkage(rows, PEER.get(linkage, linkage))
        np.testing.assert_allclose(linkage_tree(rows, linkage).merges, expected, atol=1e-7)
        table = cdist(rows, rows)
        from_table = linkage_tree((table + table.T) / 2, linkage, metric="precomputed")
        np.testing.assert_allclose(from_table.merges, expected, atol=1e-7)


@pytest.mark.covers("dendrogram-cut")
@pytest.mark.parametrize("linkage", ["single", "average", "median", "ward"])
def test_cuts_are_those_of_scipy(linkage, rng):
    rows = rng.normal(size=(40, 2))
    tree = linkage_tree(rows, linkage)
    levels = np.sort(tree.levels)
    height = (levels[25] + levels[26]) / 2
    theirs = hierarchy.fcluster(tree.merges, height, "distance")
    assert metrics.adjusted_rand_score(theirs, tree.cut(height=height)) == 1.0
    if tree.n_inversions == 0:
        flat = hierarchy.cut_tree(tree.merges, n_clusters=7).ravel()
        assert metrics.adjusted_rand_score(flat, tree.cut(7)) == 1.0
    table = cdist(rows, rows)
    expected = hierarchy.cophenet(tree.merges, table[np.triu_indices(40, 1)])[0]
    assert cophenetic_correlation(tree, (table + table.T) / 2) == pytest.approx(expected)


def test_centroid_linkage_goes_by_the_name_of_scipy_too(rng):
    rows = rng.normal(size=(30, 2))
    np.testing.assert_allclose(
        linkage_tree(rows, "centroid").merges, hierarchy.linkage(rows, "centroid"), atol=1e-7
    )
    ours = AgglomerativeClustering(3, linkage="centroid").fit_predict(rows)
    np.testing.assert_array_equal(
        ours, AgglomerativeClustering(3, linkage="mean").fit_predict(rows)
    )


def test_other_distances_are_taken(rng):
    rows = rng.normal(size=(20, 3))
    expected = hierarchy.linkage(rows, "average", metric="cityblock")
    np.testing.assert_allclose(linkage_tree(rows, "average", metric="cityblock").merges, expected)


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
def test_groups_are_those_of_scikit_learn(linkage, rng):
    rows = rng.normal(size=(60, 3))
    theirs = peers.AgglomerativeClustering(4, linkage=linkage).fit_predict(rows)
    ours = AgglomerativeClustering(4, linkage=linkage).fit_predict(rows)
    assert metrics.adjusted_rand_score(theirs, ours) == 1.0


@pytest.mark.covers("dbscan", "dbscan-grid-exact")
def test_labels_and_core_rows_are_those_of_scikit_learn(rng):
    for trial in range(12):
        n, d = int(rng.integers(1, 250)), int(rng.integers(1, 7))
        rows = rng.normal(size=(n, d))
        if trial % 3 == 0:
            rows = np.round(rows, 1)
        rows = rows[canonical_order(rows)]
        eps, least = float(rng.uniform(0.03, 1.5)), int(rng.integers(1, 8))
        if np.abs(cdist(rows, rows) - eps).min() < 1e-9:
            continue
        ours = DBSCAN(eps, min_samples=least, border="first").fit(rows)
        theirs = peers.DBSCAN(eps=eps, min_samples=least, algorithm="brute").fit(rows)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        core = np.flatnonzero(ours.kinds(rows) == "core")
        np.testing.assert_array_equal(core, theirs.core_sample_indices_)
        np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)


@pytest.mark.covers("dbscan")
def test_weights_make_core_rows_as_in_scikit_learn(rng):
    rows = rng.normal(size=(80, 2))
    rows = rows[canonical_order(rows)]
    weights = rng.uniform(0.2, 3, 80)
    ours = DBSCAN(0.4, min_samples=4.0, border="first").fit(rows, sample_weight=weights)
    theirs = peers.DBSCAN(eps=0.4, min_samples=4).fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.covers("silhouette-coefficient", "davies-bouldin-rms")
def test_internal_measures_are_those_of_scikit_learn(rng):
    rows, labels = rng.normal(size=(300, 4)), rng.integers(0, 5, 300)
    labels[:5] = range(5)
    expected = metrics.silhouette_samples(rows, labels)
    np.testing.assert_allclose(silhouette(rows, labels).per_row, expected, atol=1e-9)
    for metric in ("cityblock", "precomputed"):
        given = cdist(rows, rows) if metric == "precomputed" else rows
        given = (given + given.T) / 2 if metric == "precomputed" else given
        found = silhouette(given, labels, metric=metric).per_row
        theirs = metrics.silhouette_samples(given, labels, metric=metric)
        np.testing.assert_allclose(found, theirs, atol=1e-9)
    ours = davies_bouldin(rows, labels, spread="mean")
    assert ours == pytest.approx(metrics.davies_bouldin_score(rows, labels))


@pytest.mark.covers("cluster-contingency-table")
def test_external_measures_are_those_of_scikit_learn(rng):
    labels, truth = rng.integers(0, 4, 100), rng.integers(0, 3, 100)
    found = external_validity(labels, truth)
    assert found["adjusted Rand index"] == pytest.approx(metrics.adjusted_rand_score(truth, labels))
    information = metrics.mutual_info_score(truth, labels)
    assert found["mutual information"] == pytest.approx(information)
    pairs = metrics.cluster.pair_confusion_matrix(truth, labels)
    jaccard = pairs[1, 1] / (pairs[1, 1] + pairs[0, 1] + pairs[1, 0])
    assert found["Jaccard"] == pytest.approx(jaccard)
    table = metrics.cluster.contingency_matrix(labels, truth)
    from gnomon.cluster import contingency_table

    np.testing.assert_array_equal(contingency_table(labels, truth).counts, table)


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_merges_of_given_rows_are_those_of_scikit_learn(linkage, rng):
    rows = rng.normal(size=(40, 3))
    ours = AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(rows)
    theirs = peers.AgglomerativeClustering(4, linkage=linkage, compute_distances=True).fit(rows)
    np.testing.assert_allclose(ours.distances_, theirs.distances_)
    if linkage != "single":  # scikit-learn orders the two nodes of a merge otherwise there
        np.testing.assert_array_equal(
            np.sort(ours.children_, axis=1), np.sort(theirs.children_, axis=1)
        )
    same = ours.labels_[:, None] == ours.labels_
    np.testing.assert_array_equal(same, theirs.labels_[:, None] == theirs.labels_)


def test_agglomeration_by_any_metric_or_with_connectivity_is_scikit_learns(rng):
    rows = rng.normal(size=(30, 3))
    links = kneighbors_graph(rows, 6)
    for given in (
        {"metric": "manhattan", "linkage": "average"},
        {"connectivity": links, "linkage": "ward"},
    ):
        ours = AgglomerativeClustering(3, **given).fit(rows)
        theirs = peers.AgglomerativeClustering(3, **given).fit(rows)
        same = ours.labels_[:, None] == ours.labels_
        np.testing.assert_array_equal(same, theirs.labels_[:, None] == theirs.labels_)
