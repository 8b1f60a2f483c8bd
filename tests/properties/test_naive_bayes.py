"""What must hold for NaiveBayes on any numbers: order, units, weights, batches, finite answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gnomon.bayes import NaiveBayes

FAMILIES = ["normal", "poisson", "bernoulli", "categorical", "multinomial", "histogram", "kernel"]
CELLS = st.one_of(st.just(np.nan), st.integers(0, 6).map(float), st.floats(0, 1e6))


@st.composite
def tables(draw, cells=CELLS):
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    rows = draw(hnp.arrays(np.float64, (n, d), elements=cells))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    return rows, y


def same(one, other, rows, tolerance=1e-6):
    np.testing.assert_allclose(
        one.predict_proba(rows), other.predict_proba(rows), rtol=tolerance, atol=tolerance
    )


@pytest.mark.covers("naive-bayes", "naive-bayes-missing", "naive-bayes-kde")
@pytest.mark.parametrize("missing", ["skip", "model"])
@pytest.mark.parametrize("family", FAMILIES)
@given(table=tables())
def test_probabilities_are_finite_and_sum_to_one_on_any_table(family, missing, table):
    rows, y = table
    proba = NaiveBayes(family, missing=missing).fit(rows, y).predict_proba(rows)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@given(table=tables(st.one_of(st.just(np.nan), st.floats(-1e100, 1e100))))
@pytest.mark.parametrize("family", ["normal", "kernel", "histogram", "categorical", "bernoulli"])
def test_any_size_of_numbers_gives_finite_probabilities(family, table):
    rows, y = table
    assert np.isfinite(NaiveBayes(family).fit(rows, y).predict_proba(rows)).all()


@pytest.mark.parametrize("family", FAMILIES)
@given(table=tables(), seed=st.integers(0, 2**31))
def test_the_order_of_rows_means_nothing(family, table, seed):
    rows, y = table
    order = np.random.default_rng(seed).permutation(len(y))
    shuffled = NaiveBayes(family, var_smoothing=1e-3).fit(rows[order], y[order])
    same(NaiveBayes(family, var_smoothing=1e-3).fit(rows, y), shuffled, rows)


@pytest.mark.parametrize("family", FAMILIES)
@given(table=tables(), data=st.data())
def test_a_weight_is_a_number_of_repetitions(family, table, data):
    rows, y = table
    times = data.draw(hnp.arrays(np.int64, len(y), elements=st.integers(0, 3)))
    if not times.any():
        times[0] = 1
    kept = np.unique(y[times > 0])
    repeated = NaiveBayes(family, var_smoothing=1e-3).fit(rows.repeat(times, 0), y.repeat(times))
    weighted = NaiveBayes(family, var_smoothing=1e-3).fit(rows, y, sample_weight=times)
    ours = weighted.predict_proba(rows)[:, np.isin(weighted.classes_, kept)]
    np.testing.assert_allclose(ours, repeated.predict_proba(rows), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", ["normal", "histogram", "kernel"])
@given(table=tables(st.integers(0, 50).map(float)), power=st.integers(-20, 20))
def test_the_unit_of_a_column_means_nothing(family, table, power):
    rows, y = table
    scaled = NaiveBayes(family).fit(rows * 2.0**power, y).predict_proba(rows * 2.0**power)
    np.testing.assert_allclose(
        scaled, NaiveBayes(family).fit(rows, y).predict_proba(rows), atol=1e-9
    )


@pytest.mark.parametrize("family", FAMILIES[:5])
@given(table=tables(), cut=st.integers(1, 13))
def test_two_batches_equal_one_fit(family, table, cut):
    rows, y = table
    cut = min(cut, len(y) - 1)
    settings = {"models": family, "var_smoothing": 1e-3}
    batches = NaiveBayes(**settings).partial_fit(rows[:cut], y[:cut], classes=np.unique(y))
    batches.partial_fit(rows[cut:], y[cut:])
    same(batches, NaiveBayes(**settings).fit(rows, y), rows)
