"""HDBSCAN's tree, cut at one radius, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN as Peer
from sklearn.metrics import adjusted_rand_score

from gnomon.cluster import HDBSCAN


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("radius", [0.3, 0.6, 2.0])
def test_a_cut_at_one_radius_is_that_of_scikit_learn(rng, metric, radius):
    X = np.concatenate([rng.normal(center, 0.4, size=(40, 2)) for center in (0, 3)])
    X[:20] = X[20:40]  # copies
    X[3, 1], X[5, 0] = np.inf, np.nan
    ours = HDBSCAN(metric=metric, min_samples=4).fit(X).dbscan_clustering(radius)
    theirs = Peer(metric=metric, min_samples=4, copy=True).fit(X).dbscan_clustering(radius)
    np.testing.assert_array_equal(ours < 0, theirs < 0)
    assert (ours[3], ours[5]) == (theirs[3], theirs[5]) == (-2, -3)
    assert adjusted_rand_score(ours, theirs) == 1.0


def test_rows_with_infinite_cells_are_labelled_in_lists_and_sparse_rows(rng):
    X = np.concatenate([rng.normal(center, 0.1, size=(10, 2)) for center in (1, 5)])
    X[0, 0], X[12, 1] = np.inf, np.nan
    expected = HDBSCAN().fit(X).labels_
    assert (expected[0], expected[12]) == (-2, -3)
    np.testing.assert_array_equal(HDBSCAN().fit(X.tolist()).labels_, expected)
    np.testing.assert_array_equal(HDBSCAN().fit(sp.csr_array(X)).labels_, expected)


def test_rows_of_weight_zero_are_not_in_a_cut(rng):
    X = np.concatenate([rng.normal(center, 0.1, size=(10, 2)) for center in (1, 5)])
    weights = np.ones(20)
    weights[4] = 0
    found = HDBSCAN().fit(X, sample_weight=weights).dbscan_clustering(1.0)
    assert found[4] == -1
    assert sorted(np.bincount(found[found >= 0])) == [9, 10]
