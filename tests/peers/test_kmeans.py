"""k-means against scikit-learn's, from the same start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer
from sklearn.cluster import kmeans_plusplus

from gnomon.cluster import KMeans


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("bounds", ["none", "hamerly", "elkan"])
@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_same_labels_as_scikit_learn_from_the_same_start(bounds, tol, rng):
    rows = rng.normal(size=(3000, 8)) + 3 * rng.integers(0, 4, size=(3000, 1))
    start, _ = kmeans_plusplus(rows, 9, random_state=1)
    ours = KMeans(9, init=start, tol=tol, bounds=bounds).fit(rows)
    theirs = Peer(9, init=start, n_init=1, tol=tol).fit(rows)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), atol=1e-6)


@pytest.mark.covers("kmeans")
def test_same_weighted_labels_as_scikit_learn_from_the_same_start(rng):
    rows = rng.normal(size=(1000, 4))
    weights = rng.uniform(0, 3, 1000)
    ours = KMeans(6, init=rows[:6], tol=0).fit(rows, sample_weight=weights)
    theirs = Peer(6, init=rows[:6], n_init=1, tol=0).fit(rows, sample_weight=weights)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)


@pytest.mark.covers("kmeans-plus-plus-seeding")
def test_seeding_is_as_good_as_scikit_learns(rng):
    rows = rng.normal(size=(1500, 2)) + 20 * rng.integers(0, 5, size=(1500, 2))
    seeds = rng.integers(0, 2**31, 20)
    ours = [KMeans(25, random_state=int(s)).fit(rows).history_[0] for s in seeds]
    theirs = []
    for s in seeds:
        start, _ = kmeans_plusplus(rows, 25, random_state=int(s))
        theirs.append(((rows[:, None] - start[None]) ** 2).sum(axis=2).min(axis=1).sum())
    assert np.mean(ours) < 1.3 * np.mean(theirs)


def test_names_of_output_columns_are_scikit_learns(rng):
    rows = rng.normal(size=(30, 2))
    ours = KMeans(3, random_state=0).fit(rows)
    theirs = Peer(3, n_init=1).fit(rows)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
