"""k-means against brute force: all partitions, plain distances, bounds against none."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster import (
    BisectingKMeans,
    ConstrainedKMeans,
    HartiganKMeans,
    JunkKMeans,
    KMeans,
    KMedoids,
    MiniBatchKMeans,
    SoftKMeans,
    SubsampleKMeans,
)
from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.contract import Columns, Data
from gnomon.engine.sums import ArraySource

BOUNDS = ("none", "hamerly", "elkan")


def best_of_all_partitions(rows: np.ndarray, k: int) -> float:
    """The least sum of squares over every way to put rows in k groups."""
    best = np.inf
    for labels in itertools.product(range(k), repeat=len(rows)):
        labels = np.array(labels)
        if len(set(labels.tolist())) < k:
            continue
        parts = (rows[labels == c] for c in range(k))
        best = min(best, sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))
    return best


def lloyd(rows, weights, centers, passes):
    """k-means by its definition, without repair of empty clusters."""
    objective = []
    for _ in range(passes):
        squared = ((rows[:, None] - centers[None]) ** 2).sum(axis=2)
        labels = squared.argmin(axis=1)
        objective.append(weights @ squared.min(axis=1))
        centers = np.array(
            [
                np.average(rows[labels == c], axis=0, weights=weights[labels == c])
                for c in range(len(centers))
            ]
        )
    return centers, objective


def fitted(rows, *arguments, **keywords) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights = keywords.pop("weights", None)
        return KMeans(*arguments, **keywords).fit(rows, sample_weight=weights)


@pytest.mark.covers("kmeans", "brute-force-clustering")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_best_partition_of_seven_points_is_found(k, rng):
    rows = rng.normal(size=(7, 2))
    model = fitted(rows, k, init="random-rows", n_init=120, tol=0, random_state=0)
    assert model.inertia_ == pytest.approx(best_of_all_partitions(rows, k), rel=1e-9)


@pytest.mark.covers("kmeans")
def test_passes_are_those_of_the_definition(rng):
    rows = rng.normal(size=(300, 3)) + 5 * rng.integers(0, 3, size=(300, 1))
    weights = rng.uniform(0.5, 2, 300)
    start = rows[:4]
    centers, objective = lloyd(rows, weights, start, 3)
    model = fitted(rows, 4, init=start, max_iter=3, tol=0, weights=weights)
    np.testing.assert_allclose(model.history_.objective, objective[: len(model.history_)])
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-10)


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("bounds", BOUNDS[1:])
@pytest.mark.parametrize(
    ("k", "shape"),
    [(1, (5000, 5)), (2, (5000, 5)), (7, (5000, 5)), (40, (5000, 5)), (3, (1500, 120))],
)
def test_bounds_change_no_bit(bounds, k, shape, rng):
    rows = rng.normal(size=shape) + 4 * rng.integers(0, 3, size=(shape[0], 1))
    weights = rng.uniform(0.1, 3, len(rows))
    start = rows[rng.choice(len(rows), k, replace=False)]
    plain = fitted(rows, k, init=start, bounds="none", max_iter=25, tol=0, weights=weights)
    quick = fitted(rows, k, init=start, bounds=bounds, max_iter=25, tol=0, weights=weights)
    np.testing.assert_allclose(quick.history_.objective, plain.history_.objective, rtol=1e-10)
    assert quick.inertia_ == plain.inertia_
    assert np.array_equal(quick.cluster_centers_, plain.cluster_centers_)
    assert np.array_equal(quick.labels_, plain.labels_)


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize(
    ("k", "d", "spread"),
    [(k, 5, spread) for k in (1, 2, 7, 40) for spread in (1.0, 1e-5)]
    + [(200, 1, 1.0), (100, 2, 1.0)],
)
def test_sums_kept_from_pass_to_pass_are_those_of_all_rows(k, d, spread, rng):
    rows = spread * rng.normal(size=(20000, d)) + 4 * rng.integers(0, 3, size=(20000, 1))
    weights = rng.uniform(0.1, 3, len(rows))
    start = rows[rng.choice(len(rows), k, replace=False)]
    plain = fitted(rows, k, init=start, bounds="none", max_iter=40, tol=0, weights=weights)
    quick = fitted(rows, k, init=start, bounds="hamerly", max_iter=40, tol=0, weights=weights)
    assert np.array_equal(quick.labels_, plain.labels_)
    np.testing.assert_allclose(quick.history_.objective, plain.history_.objective, rtol=1e-10)
    assert np.array_equal(quick.cluster_centers_, plain.cluster_centers_)
    assert quick.inertia_ == plain.inertia_


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("bounds", BOUNDS[1:])
def test_the_kept_start_does_not_depend_on_bounds(bounds, rng):
    rows = rng.normal(size=(6000, 2)) + 9 * rng.integers(0, 3, size=(6000, 1))
    options = {"init": "random", "n_init": 5, "tol": 0, "random_state": 0}
    plain = KMeans(3, bounds="none", **options).fit(rows)
    quick = KMeans(3, bounds=bounds, **options).fit(rows)
    assert np.array_equal(quick.cluster_centers_, plain.cluster_centers_)
    assert quick.inertia_ == plain.inertia_


@pytest.mark.covers("kmeans")
def test_bounds_are_chosen_by_shape_and_change_no_label(rng):
    model = KMeans(40, max_iter=5, tol=0, random_state=0)
    assert model._bounds_for(400, 20) == "hamerly"
    assert model._bounds_for(400, 500) == "elkan"
    assert model._bounds_for(10**6, 500) == "hamerly"  # elkan's would need 320 MB
    rows = rng.normal(size=(400, 500))
    plain = KMeans(40, max_iter=5, tol=0, random_state=0, bounds="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.array_equal(model.fit(rows).labels_, plain.fit(rows).labels_)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_ties_go_to_the_first_of_the_nearest_centers(bounds, rng):
    rows = rng.integers(0, 4, size=(500, 3)).astype(float)
    start = np.unique(rows, axis=0)[rng.permutation(len(np.unique(rows, axis=0)))[:9]]
    squared = ((rows[:, None] - start[None]) ** 2).sum(axis=2)
    first = start.copy()
    for c in range(len(start)):
        first[c] = rows[squared.argmin(axis=1) == c].mean(axis=0)
    model = fitted(rows, 9, init=start, bounds=bounds, max_iter=1, tol=0)
    np.testing.assert_allclose(model.cluster_centers_, first, rtol=1e-12, atol=1e-12)


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("passes", [4, 7, 12])
def test_a_run_cut_short_ends_where_the_whole_run_passes(passes, rng):
    rows = rng.normal(size=(8000, 4))
    options = {"init": rows[:6], "tol": 0}
    whole = fitted(rows, 6, max_iter=60, keep_history="full", **options)
    plain = fitted(rows, 6, max_iter=60, keep_history="full", bounds="none", **options)
    cut = fitted(rows, 6, max_iter=passes, **options)
    assert len(whole.history_) > passes
    assert cut.history_.objective == whole.history_.objective[:passes]
    passed, summed_anew = (
        each.history_.states[passes - 1]["cluster_centers"] for each in (whole, plain)
    )
    np.testing.assert_allclose(cut.cluster_centers_, passed, rtol=1e-12, atol=1e-14)
    assert np.array_equal(cut.cluster_centers_, summed_anew)
    squared = ((rows[:, None] - cut.cluster_centers_) ** 2).sum(axis=2)
    assert np.array_equal(cut.labels_, squared.argmin(axis=1))
    assert cut.inertia_ == pytest.approx(squared.min(axis=1).sum(), rel=1e-12)


@pytest.mark.covers("kmeans")
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_nearest_centers_are_those_of_plain_distances_far_from_the_origin(offset, rng):
    rows = rng.normal(size=(1500, 7)) + offset
    points = rng.normal(size=(23, 7)) + offset
    squared = ((rows[:, None] - points[None]) ** 2).sum(axis=2)
    centers = Centers.at(points, points.mean(axis=0))
    found = find_nearest(rows, centers, Nearest.of(len(rows)))
    assert np.array_equal(found.labels, squared.argmin(axis=1))
    np.testing.assert_allclose(found.squared, squared.min(axis=1), rtol=1e-12)
    second = np.sqrt(np.partition(squared, 1, axis=1)[:, 1])
    assert (found.lower <= second).all()
    assert (found.lower >= second * (1 - 1e-5)).all()


def test_rows_beside_a_row_do_not_matter(rng):
    rows = rng.integers(0, 3, size=(1000, 4)).astype(float)
    model = fitted(rows, 12, random_state=1)
    some = rng.permutation(len(rows))[:37]
    assert np.array_equal(model.predict(rows[some]), model.predict(rows)[some])


@pytest.mark.parametrize("init", sorted(STARTS))
def test_every_start_ends_in_a_local_minimum(init, rng):
    rows = rng.normal(size=(200, 2)) + 6 * rng.integers(0, 3, size=(200, 1))
    model = fitted(rows, 3, init=init, random_state=2, tol=0)
    squared = ((rows[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    assert model.inertia_ == pytest.approx(squared.min(axis=1).sum())
    for c in range(3):
        own = rows[model.labels_ == c]
        np.testing.assert_allclose(model.cluster_centers_[c], own.mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("init", ["k-means++", "random-rows", "farthest-first"])
def test_as_many_clusters_as_different_rows_leave_no_error(init, rng):
    rows = np.repeat(rng.normal(size=(6, 3)), rng.integers(1, 5, 6), axis=0)
    model = fitted(rows, 6, init=init, n_init=1, random_state=3)
    assert model.inertia_ < 1e-25
    assert len(np.unique(model.labels_)) == 6


def test_more_clusters_than_different_rows_are_found_with_a_warning():
    rows = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(4\).*n_clusters \(6\)"):
        model = KMeans(6, random_state=0).fit(rows)
    assert model.inertia_ == 0


@pytest.mark.parametrize(
    "method",
    [
        ConstrainedKMeans,
        HartiganKMeans,
        JunkKMeans,
        KMedoids,
        MiniBatchKMeans,
        SoftKMeans,
        SubsampleKMeans,
    ],
)
def test_every_kind_of_k_means_says_that_too_few_rows_differ(method, rng):
    rows = np.repeat(10 * np.arange(4.0)[:, None], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(.\).*n_clusters \(6\)"):
        method(6, random_state=0).fit(rows)


def test_more_clusters_than_different_rows_end_soon(rng):
    rows = np.repeat(rng.normal(size=(4, 3)) + 100, 7, axis=0)
    assert fitted(rows, 9, random_state=0, tol=0).n_iter_ < 5


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"n_samples=2 should be >= n_clusters=3"):
        KMeans(3).fit([[0.0], [1.0]])


def test_given_centers_of_another_shape_are_refused():
    with pytest.raises(
        ValueError, match=r"initial centers \(2, 2\) does not match the number of features"
    ):
        KMeans(2, init=[[0.0, 1.0], [1.0, 0.0]]).fit([[0.0], [1.0], [2.0]])


def test_several_emptied_clusters_take_different_rows(rng):
    rows = np.concatenate([rng.normal(size=(50, 2)), [[50.0, 0], [50.0, 0], [0, 60.0]]])
    start = [[0.0, 0], [1e4, 1e4], [1e4, 2e4]]
    model = fitted(rows, 3, init=start, tol=0, keep_history="full")
    first = model.history_.states[0]["cluster_centers"]
    assert first[1:].tolist() == [[0, 60.0], [50.0, 0]]


def test_distances_to_centers_are_those_of_the_definition(rng):
    rows = rng.normal(size=(60, 6)) + 1e6
    model = fitted(rows, 5, random_state=0)
    plain = np.sqrt(((rows[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(rows), plain, rtol=1e-12)
    assert model.score(rows) == pytest.approx(-model.inertia_)


def test_rows_of_no_weight_have_labels_and_no_influence(rng):
    rows = rng.normal(size=(100, 2))
    weights = (rng.random(100) < 0.5).astype(float)
    weights[:5] = 1
    start = rows[:3]
    model = fitted(rows, 3, init=start, weights=weights)
    kept = fitted(rows[weights > 0], 3, init=start)
    assert np.array_equal(model.cluster_centers_, kept.cluster_centers_)
    assert np.array_equal(model.labels_, kept.predict(rows))


def test_farthest_first_takes_the_farthest_row_each_time(rng):
    rows = rng.normal(size=(80, 3))
    data = SurveyedData.of(Data(ArraySource(rows), Columns.of_numbers(3)), 1)
    chosen = STARTS["farthest-first"](data, 5, rng)
    for c in range(1, len(chosen)):
        reach = ((rows[:, None] - chosen[None, :c]) ** 2).sum(axis=2).min(axis=1)
        assert np.array_equal(chosen[c], rows[reach.argmax()])


def test_random_is_another_word_for_random_rows(rng):
    rows = rng.normal(size=(90, 2))
    one, other = (
        KMeans(3, init=word, random_state=0).fit(rows) for word in ("random", "random-rows")
    )
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert one.init == "random"


@pytest.mark.parametrize("method", [SoftKMeans, JunkKMeans])
def test_random_means_random_rows_as_in_scikit_learn(method, rng):
    rows = rng.normal(size=(50, 2))
    found = [
        method(3, init=word, random_state=0).fit(rows).cluster_centers_
        for word in ("random", "random-rows")
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("cls", [KMeans, MiniBatchKMeans, BisectingKMeans])
def test_sparse_rows_and_float32_end_where_dense_rows_do(cls, rng):
    rows = np.vstack([rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + 15])
    rows[rng.random(rows.shape) < 0.2] = 0.0
    dense = cls(2, random_state=0).fit(rows)
    for other in (sp.csr_array(rows), rows.astype(np.float32)):
        model = cls(2, random_state=0).fit(other)
        assert model.inertia_ == pytest.approx(dense.inertia_, rel=1e-5)
        np.testing.assert_array_equal(model.predict(other), model.labels_)
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(other).dtype == np.float32


@pytest.mark.parametrize("bounds", ["none", "hamerly", "elkan"])
def test_float32_rows_give_the_bits_of_float64_without_a_copy_of_them(bounds, rng):
    rows = rng.normal(size=(40_000, 30)).astype(np.float32)
    model = KMeans(3, init=rows[:3], n_init=1, bounds=bounds, tol=0.5)
    clone(model).fit(rows[:200])  # compiled before memory is counted
    tracemalloc.start()
    single = clone(model).fit(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    double = clone(model).fit(rows.astype(np.float64))
    assert peak < rows.nbytes
    np.testing.assert_array_equal(single.labels_, double.labels_)
    assert single.inertia_ == double.inertia_
    centers = double.cluster_centers_.astype(np.float32)
    np.testing.assert_array_equal(single.cluster_centers_, centers)


def test_first_centers_in_any_memory_order_give_the_same(rng):
    rows = rng.normal(size=(50, 3))
    start = rows[:4]
    for cls in (KMeans, MiniBatchKMeans):
        one = cls(4, init=start, n_init=1, random_state=0).fit(rows)
        other = cls(4, init=np.asfortranarray(start), n_init=1, random_state=0).fit(rows)
        np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    by_function = KMeans(4, init=lambda X, k, random_state: X[:k]).fit(rows)
    by_array = KMeans(4, init=start).fit(rows)
    np.testing.assert_array_equal(by_function.labels_, by_array.labels_)


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_bisecting_predicts_its_own_rows_and_splits_until_enough(strategy, rng):
    rows = np.vstack([rng.normal(size=(40, 2)) + place for place in (0, 10, 30)])
    model = BisectingKMeans(3, bisecting_strategy=strategy, n_init=5, random_state=0).fit(rows)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    assert sorted(np.bincount(model.labels_)) == [40, 40, 40]
    for label, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, rows[model.labels_ == label].mean(axis=0))


@pytest.mark.parametrize("init", sorted(STARTS))
@pytest.mark.parametrize(("d", "density"), [(306, 0.02), (3, 0.5)])
def test_sparse_rows_take_the_passes_of_dense_ones(init, d, density, rng):
    sparse = sp.random(9000, d, density, format="csr", rng=rng)  # more than one chunk
    rows, options = sparse.toarray(), {"init": init, "n_init": 1, "random_state": 0, "tol": 0}
    weights = rng.uniform(0.5, 2, len(rows))
    ours = fitted(sparse, 5, weights=weights, max_iter=8, **options)
    dense = fitted(rows, 5, weights=weights, max_iter=8, bounds="none", **options)
    np.testing.assert_array_equal(ours.labels_, dense.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    np.testing.assert_allclose(ours.history_.objective, dense.history_.objective, rtol=1e-11)
    np.testing.assert_array_equal(ours.predict(rows), ours.labels_)
    threads = fitted(sparse, 5, weights=weights, max_iter=8, n_jobs=3, **options)
    np.testing.assert_array_equal(threads.cluster_centers_, ours.cluster_centers_)


def test_sparse_rows_as_near_to_two_centers_are_with_the_first(rng):
    rows = rng.integers(0, 3, size=(400, 4)).astype(float)
    start = np.array([[0.0, 0, 1, 2], [2.0, 1, 0, 0], [1.0, 1, 1, 1]])
    sparse = fitted(sp.csr_array(rows), 3, init=start, max_iter=1, tol=0)
    dense = fitted(rows, 3, init=start, bounds="none", max_iter=1, tol=0)
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, rtol=1e-13)
