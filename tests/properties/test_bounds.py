"""Bounds are monotone and consistent for any numbers; labellings do not depend on coordinates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.evaluate import (
    chebyshev,
    dichotomies,
    finite_family,
    hoeffding,
    largest_dichotomy_count,
    margin_bound,
    sauer_bound,
    vc_gap,
)

rows = st.integers(1, 10**7)
risks = st.floats(1e-9, 0.999)


@pytest.mark.covers("hoeffding-bound", "finite-family-bound", "chebyshev-bound")
@given(rows, risks, st.integers(1, 10**6))
def test_more_hypotheses_need_a_larger_gap_and_more_rows_a_smaller_one(n, delta, hypotheses):
    one = hoeffding(n=n, delta=delta).epsilon
    many = finite_family(hypotheses, n=n, delta=delta).epsilon
    assert one <= many
    assert hoeffding(n=2 * n, delta=delta).epsilon < one
    assert hoeffding(n=n, delta=delta, sides=1).epsilon < one or delta > 0.5
    assert chebyshev(0.25, n=2 * n, delta=delta).epsilon < chebyshev(0.25, n=n, delta=delta).epsilon


@pytest.mark.covers("vc-generalization-bound")
@given(st.integers(1, 10**6), st.integers(0, 1000), risks)
def test_the_growth_form_is_the_smallest_of_the_valid_forms_with_eight_over_n(n, d, delta):
    growth = vc_gap(n, d, delta, "growth")
    assert growth <= vc_gap(n, d, delta, "polynomial") * (1 + 1e-9)
    assert growth <= vc_gap(n, d, delta, "exponential") * (1 + 1e-9)
    assert np.isfinite(growth)


@pytest.mark.covers("sauer-bound")
@given(st.integers(1, 60), st.integers(0, 60))
def test_the_recursion_is_the_sum_and_never_above_two_to_the_n(n, d):
    bound = sauer_bound(n, d)
    assert bound.sum == largest_dichotomy_count(n, d + 1)
    assert bound.sum <= 2**n
    assert (bound.sum == 2**n) == (d >= n)


@pytest.mark.covers("growth-function")
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 3))
def test_labelings_do_not_depend_on_linear_coordinates_or_signs(seed, n, d):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    turn = rng.standard_normal((d, d)) + 3 * np.eye(d)
    here = dichotomies(points)
    there = dichotomies(1000 * points @ turn.T + rng.standard_normal(d))
    assert (here.labelings == there.labelings).all()
    turned_over = {tuple(row) for row in (~here.labelings).tolist()}
    assert turned_over == {tuple(row) for row in here.labelings.tolist()}
    assert len(here) + len(here.missing()) == 2**n


@pytest.mark.covers("margin-vc-bound")
@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 10**6))
def test_the_margin_never_makes_the_dimension_larger_than_without_it(radius, norm, n_columns):
    bound = margin_bound(radius, norm, n_columns)
    assert 1 <= bound.dimension <= n_columns + 1
    assert margin_bound(radius, 2 * norm, n_columns).dimension >= bound.dimension
