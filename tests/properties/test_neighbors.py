"""Invariances of distances and neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    MinkowskiDistance,
    NearestNeighbors,
    distance_of,
    pairwise_distances,
)

seeds = st.integers(0, 2**32 - 1)
METRICS = ("euclidean", "manhattan", "chebyshev", "standardized", "range", "hamming", "mahalanobis")


@given(seed=seeds, metric=st.sampled_from(METRICS), d=st.integers(1, 5))
def test_metrics_are_symmetric_zero_on_equals_and_keep_triangles(seed, metric, d):
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(12, d)), 1)
    if metric == "mahalanobis":
        rows = np.vstack([rows, 3 * np.eye(d), -3 * np.eye(d)])
    table = pairwise_distances(rows, None, metric)
    assert (table >= 0).all()
    np.testing.assert_allclose(table, table.T, atol=1e-12)
    np.testing.assert_array_equal(np.diag(table), 0)
    through = (table[:, :, None] + table[None, :, :]).min(axis=1)
    assert (table <= through + 1e-9).all()
    assert distance_of(metric).is_metric


@given(seed=seeds)
def test_an_exponent_below_one_breaks_triangles(seed):
    a = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    table = pairwise_distances(a, None, MinkowskiDistance(0.5))
    assert table[0, 2] > table[0, 1] + table[1, 2]
    assert not MinkowskiDistance(0.5).is_metric


@given(seed=seeds, p=st.sampled_from([1.0, 1.5, 2.0, 3.0]))
def test_l_p_distances_fall_with_p_and_scale_with_rows(seed, p):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(8, 4))
    one = pairwise_distances(rows, None, MinkowskiDistance(p))
    assert (one >= pairwise_distances(rows, None, MinkowskiDistance(p + 1)) - 1e-12).all()
    np.testing.assert_allclose(pairwise_distances(4 * rows, None, MinkowskiDistance(p)), 4 * one)


@given(seed=seeds, metric=st.sampled_from(["standardized", "range", "mahalanobis"]))
def test_units_of_columns_do_not_matter_to_scaled_distances(seed, metric):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    units = np.exp(rng.normal(scale=5, size=3))
    one = pairwise_distances(rows, None, metric)
    np.testing.assert_allclose(pairwise_distances(rows * units + 3, None, metric), one, rtol=1e-6)


@pytest.mark.covers("knn-distance-weighted")
@given(seed=seeds, power=st.floats(-3, 5), offset=st.floats(0, 10), k=st.integers(1, 9))
def test_answers_lie_between_the_least_and_the_greatest_target_of_neighbors(seed, power, offset, k):
    rng = np.random.default_rng(seed)
    rows, targets = np.round(rng.normal(size=(15, 2)), 1), rng.normal(size=15)
    model = KNeighborsRegressor(k, weights="distance", power=power, offset=offset)
    found = model.fit(rows, targets).predict(rows)
    assert (found >= targets.min() - 1e-9).all()
    assert (found <= targets.max() + 1e-9).all()


@given(seed=seeds, weights=st.sampled_from(["uniform", "distance", "gaussian"]))
def test_the_order_of_rows_does_not_matter_also_among_ties(seed, weights):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, size=(40, 2)).astype(float)
    classes = rng.integers(0, 3, 40)
    shuffle = rng.permutation(40)
    one = KNeighborsClassifier(4, weights=weights).fit(rows, classes)
    other = KNeighborsClassifier(4, weights=weights).fit(rows[shuffle], classes[shuffle])
    np.testing.assert_allclose(one.predict_proba(rows), other.predict_proba(rows), atol=1e-9)


@given(seed=seeds, n=st.integers(1, 60), d=st.integers(1, 4), k=st.integers(1, 60))
def test_all_searches_agree_on_any_rows(seed, n, d, k):
    rng = np.random.default_rng(seed)
    k = min(k, n)
    rows = rng.integers(-2, 3, size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    queries = rows[rng.integers(0, n, 5)] + rng.integers(0, 2, size=(5, d))
    found = [
        NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(rows).kneighbors(queries)
        for algorithm in ("brute", "kd_tree", "ball_tree")
    ]
    for each in found[1:]:
        np.testing.assert_array_equal(each.indices, found[0].indices)
        np.testing.assert_array_equal(each.distances, found[0].distances)
