"""Draws of rows: the order of rows and weight versus repetition make no difference."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gnomon.engine.draw import WeightedDraw, canonical_order

CELLS = st.one_of(
    st.sampled_from([0.0, 1.0, 0.123, np.nan, 1e300, -1e300, 1e18, 1e-300]),
    st.floats(-1e6, 1e6, width=32),
)


@given(
    rows=hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=CELLS
    ),
    data=st.data(),
)
def test_rows_in_canonical_order_do_not_depend_on_their_given_order(rows, data):
    shuffled = rows[data.draw(st.permutations(range(len(rows))))]
    np.testing.assert_array_equal(
        rows[canonical_order(rows)] + 0.0, shuffled[canonical_order(shuffled)] + 0.0
    )


@given(
    rows=hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=CELLS
    )
)
def test_canonical_order_is_a_permutation_where_equal_rows_stand_together(rows):
    order = canonical_order(rows)
    assert sorted(order) == list(range(len(rows)))
    seen, last = set(), None
    for row in map(tuple, np.nan_to_num(rows[order] + 0.0, nan=np.inf)):
        assert row == last or row not in seen
        seen.add(row)
        last = row


def test_a_small_column_beside_a_huge_one_still_orders(rng):
    rows = np.column_stack([np.full(50, 1.7e18), rng.permutation(50)])
    shuffled = rows[rng.permutation(50)]
    np.testing.assert_array_equal(rows[canonical_order(rows)], shuffled[canonical_order(shuffled)])


def test_targets_are_part_of_the_order(rng):
    rows = np.zeros((30, 2))
    y = rng.permutation(30).astype(float)
    np.testing.assert_array_equal(y[canonical_order(rows, y)], np.sort(y))
    two = np.column_stack([y, -y])
    shuffle = rng.permutation(30)
    np.testing.assert_array_equal(
        two[canonical_order(rows, two)], two[shuffle][canonical_order(rows, two[shuffle])]
    )


def test_sparse_rows_have_the_order_of_the_same_dense_rows(rng):
    rows = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.4)
    for make in (sp.csr_array, sp.csc_array):
        np.testing.assert_array_equal(canonical_order(make(rows)), canonical_order(rows))


def test_a_weight_draws_as_so_many_repetitions_do(rng, seed):
    rows = rng.normal(size=(20, 3))
    weights = rng.integers(0, 5, 20)
    repeated = np.repeat(rows, weights, axis=0)[rng.permutation(weights.sum())]
    by_weight = WeightedDraw(canonical_order(rows))(
        weights.astype(float), np.random.default_rng(seed), 500
    )
    by_repetition = WeightedDraw(canonical_order(repeated))(
        np.ones(len(repeated)), np.random.default_rng(seed), 500
    )
    np.testing.assert_array_equal(rows[by_weight], repeated[by_repetition])


def test_rows_are_drawn_in_proportion_to_their_weights(rng):
    weights = np.array([0.0, 1.0, 2.0, 3.5, 0.0, 0.5])
    drawn = WeightedDraw(canonical_order(rng.normal(size=(6, 2))))(weights, rng, 40_000)
    counts = np.bincount(drawn, minlength=6)
    assert counts[weights == 0].sum() == 0
    positive = weights > 0
    expected = 40_000 * weights[positive] / weights.sum()
    assert scipy.stats.chisquare(counts[positive], expected).pvalue > 1e-7


def test_nothing_can_be_drawn_from_weights_of_zero(rng):
    with pytest.raises(ValueError, match="positive weight"):
        WeightedDraw(np.arange(3))(np.zeros(3), rng, 1)
