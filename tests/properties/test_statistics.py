"""Invariances of statistics and of printed digits, for any numbers."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.evaluate import (
    adjusted_p_values,
    anderson_darling,
    chi2_independence,
    correlation_ratio,
    significant,
    with_error,
)
from gnomon.evaluate.digits import last_place

numbers = st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: 0.0 if abs(x) < 1e-12 else x)
errors = st.floats(1e-9, 1e9)


@pytest.mark.covers("significant-digits")
@given(numbers, errors, st.integers(1, 4))
def test_the_printed_value_is_within_half_of_its_last_digit(value, error, digits):
    unit = 10.0 ** last_place(error, digits)
    printed = float(significant(value, error, digits))
    assert abs(printed - value) <= unit * 0.5000001 + 1e-12 * abs(value)


@pytest.mark.covers("significant-digits")
@given(numbers, errors, st.integers(1, 4))
def test_the_printed_error_has_as_many_digits_as_asked_for(value, error, digits):
    shown = with_error(value, error, digits).split(" ± ")[1]
    mantissa, _, power = shown.partition(")")
    size = float(mantissa) * float(f"1{power}" if power else 1)
    assert size == pytest.approx(error, rel=0.51 * 10.0 ** (1 - digits))


samples = arrays(np.float64, st.integers(8, 40), elements=st.floats(-1e6, 1e6))


@pytest.mark.covers("anderson-darling-normality")
@given(samples, st.floats(0.001, 1000), st.floats(-1000, 1000), st.randoms())
def test_anderson_darling_does_not_depend_on_units_or_order(values, scale, shift, random):
    assume(values.std() > 1e-3 * np.abs(values).max() and values.std() > 1e-3)
    here = anderson_darling(values)
    shuffled = list(values * scale + shift)
    random.shuffle(shuffled)
    there = anderson_darling(shuffled)
    assert 0 <= here.p <= 1
    assert there.statistic == pytest.approx(here.statistic, rel=1e-4, abs=1e-6)


@pytest.mark.covers("null-hypothesis-test")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_keep_the_order_and_are_never_smaller(p):
    p = np.array(p)
    order = np.argsort(p, kind="stable")
    bonferroni = adjusted_p_values(p, "bonferroni")
    for method in ("holm", "hochberg", "benjamini-hochberg", "benjamini-yekutieli"):
        adjusted = adjusted_p_values(p, method)
        assert (np.diff(adjusted[order]) >= 0).all()
        assert (adjusted >= p).all()
        assert (adjusted <= 1).all()
    assert (adjusted_p_values(p, "hochberg") <= adjusted_p_values(p, "holm")).all()
    assert (adjusted_p_values(p, "holm") <= bonferroni).all()


@given(
    arrays(np.float64, 24, elements=st.floats(-1e6, 1e6)),
    arrays(np.int64, 24, elements=st.integers(0, 3)),
)
def test_the_correlation_ratio_is_a_share_whatever_the_groups_are_called(values, groups):
    assume(len(np.unique(groups)) > 1 and values.std() > 1e-6)
    found = correlation_ratio(values, groups)
    named = correlation_ratio(values * 3 - 1, np.array(list("wxyz"))[3 - groups])
    eta = found.effects["eta^2"]
    assert 0 <= eta.value <= 1
    assert 0 <= eta.low <= eta.high <= 1
    assert 0 <= found.p <= 1
    assert named.effects["eta^2"].value == pytest.approx(eta.value, rel=1e-6, abs=1e-9)


@pytest.mark.covers("chi2-frequency-test")
@given(arrays(np.int64, (3, 4), elements=st.integers(0, 60)))
def test_chi_square_does_not_depend_on_the_order_of_rows_and_columns(table):
    assume(((table > 0).any(axis=0).sum() > 1) and ((table > 0).any(axis=1).sum() > 1))
    found = chi2_independence(table)
    turned = chi2_independence(table[::-1, [2, 0, 3, 1]].T)
    assert turned.statistic == pytest.approx(found.statistic, abs=1e-8)
    assert 0 <= found.effects["Cramer's V"] <= 1 + 1e-12
