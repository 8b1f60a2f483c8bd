"""What holds for k-means on any table: the objective never rises, units and order do not matter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster import KMeans
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.contract import Columns, Data
from gnomon.engine.sums import ArraySource

coarse = st.integers(-8, 8).map(float)
fine = st.floats(-1e6, 1e6, allow_subnormal=False)
tables = st.tuples(st.integers(3, 40), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.one_of(coarse, fine))
)
starts = st.sampled_from(sorted(STARTS))
bounds = st.sampled_from(["none", "hamerly", "elkan"])


def fitted(rows, k, weights=None, **parameters) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, **parameters).fit(rows, sample_weight=weights)


@pytest.mark.covers("kmeans")
@given(tables, st.integers(1, 3), starts, bounds, st.integers(0, 2**31))
def test_the_objective_never_rises(rows, k, init, bound, seed):
    model = fitted(rows, k, init=init, bounds=bound, n_init=1, tol=0, random_state=seed)
    course = np.array([*model.history_.objective, model.inertia_])
    assert np.isfinite(course).all()
    scale = ((rows - rows.mean(axis=0)) ** 2).sum() + np.abs(rows).max() ** 2 * 1e-16
    assert (np.diff(course) <= 1e-12 * scale * len(rows)).all()


@pytest.mark.covers("kmeans")
@given(tables, st.integers(1, 3), starts, st.integers(0, 2**31))
def test_bounds_change_no_bit_on_any_table(rows, k, init, seed):
    plain, *others = (
        fitted(rows, k, init=init, bounds=bound, n_init=1, tol=0, random_state=seed)
        for bound in ("none", "hamerly", "elkan")
    )
    for other in others:
        assert np.array_equal(other.labels_, plain.labels_)
        assert np.array_equal(other.cluster_centers_, plain.cluster_centers_)


@given(tables, st.integers(1, 3), starts, st.integers(0, 2**31))
def test_every_row_is_with_its_nearest_center(rows, k, init, seed):
    model = fitted(rows, k, init=init, n_init=1, random_state=seed)
    squared = ((rows[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    own = squared[np.arange(len(rows)), model.labels_]
    assert (own <= squared.min(axis=1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("init", sorted(STARTS))
def test_weights_are_repetitions_and_order_does_not_matter(init, rng):
    rows = rng.normal(size=(60, 3))
    weights = rng.integers(1, 4, 60)
    order = rng.permutation(weights.sum())
    weighted = fitted(rows, 4, weights, init=init, n_init=2, random_state=5)
    repeated = fitted(
        np.repeat(rows, weights, axis=0)[order], 4, init=init, n_init=2, random_state=5
    )
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-9)
    np.testing.assert_allclose(
        weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("init", sorted(STARTS))
def test_streamed_rows_give_the_bits_of_rows_in_memory(init, rng):

    class Streamed:
        """A source that is not an array in memory, as far as a learner can see."""

        def __init__(self, source):
            self.source, self.weighted = source, source.weighted
            self.n_rows, self.n_columns = source.n_rows, source.n_columns

        def chunks(self):
            return self.source.chunks()

    rows = rng.normal(size=(9000, 3))
    centers = []
    for source, bound in ((ArraySource(rows), "none"), (Streamed(ArraySource(rows)), "auto")):
        model = KMeans(5, init=init, n_init=1, max_iter=10, random_state=0, bounds=bound)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model._fit(SurveyedData.of(Data(source, Columns.of_numbers(3)), None))
        centers.append(model.cluster_centers_)
    assert np.array_equal(*centers)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_no_bit(n_jobs, rng):
    rows = rng.normal(size=(20000, 4))
    one = fitted(rows, 6, random_state=1, n_jobs=1, max_iter=8)
    many = fitted(rows, 6, random_state=1, n_jobs=n_jobs, max_iter=8)
    assert np.array_equal(one.cluster_centers_, many.cluster_centers_)
    assert one.history_.objective == many.history_.objective
