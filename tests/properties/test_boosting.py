"""Gradient boosting on any table: it ends, stays finite, and keeps to its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor

pytestmark = pytest.mark.timeout(120)

SEEDS = st.integers(0, 2**32 - 1)
CELLS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, np.nan, 1e300, -1e300, 5e-324]),
    st.floats(-1e6, 1e6, width=64),
)
SETTINGS = st.fixed_dictionaries(
    {
        "max_iter": st.integers(1, 6),
        "learning_rate": st.sampled_from([0.05, 0.3, 1.0]),
        "max_leaf_nodes": st.sampled_from([None, 2, 5, 31]),
        "max_depth": st.sampled_from([None, 1, 4]),
        "min_samples_leaf": st.integers(1, 6),
        "min_hessian_leaf": st.sampled_from([0.0, 1e-3, 1.0]),
        "l2_regularization": st.sampled_from([0.0, 0.1, 100.0]),
        "subsample": st.sampled_from([0.4, 1.0]),
        "max_features": st.sampled_from([None, 1, 0.5, "sqrt"]),
        "monotonic_cst": st.sampled_from([None, [1, 0], [-1, 1]]),
        "interaction_cst": st.sampled_from([None, "no_interactions"]),
        "init": st.sampled_from(["prior", "zero"]),
        "random_state": st.just(0),
    }
)


@st.composite
def tables(draw, least=2, most=40):
    n = draw(st.integers(least, most))
    rows = draw(arrays(np.float64, (n, 2), elements=CELLS))
    return rows, np.random.default_rng(draw(SEEDS))


@given(
    tables(),
    SETTINGS,
    st.sampled_from(["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"]),
    st.sampled_from([1e-6, 1.0, 1e12]),
    st.sampled_from(["plain", "whole", "shares"]),
)
def test_any_table_of_numbers_is_learnt_without_end_or_nan(table, settings, loss, scale, weighing):
    rows, rng = table
    y = scale * rng.choice([rng.normal(size=len(rows)), rng.integers(-2, 3, len(rows))])
    if loss in ("poisson", "gamma"):
        y = np.abs(y) + (scale if loss == "gamma" else 0)
        y[0] += scale
    weights = {
        "plain": None,
        "whole": rng.integers(1, 4, len(rows)).astype(float),
        "shares": rng.uniform(0.1, 5, len(rows)),
    }[weighing]
    if loss in ("poisson", "gamma") and scale == 1e12:
        # a score of zero is a mean of one: a step to 1e12 at once has no second-order model
        settings = settings | {"init": "prior"}
    model = HistGradientBoostingRegressor(loss, **settings)
    with np.errstate(all="raise", under="ignore"):
        model.fit(rows, y, weights)
        said = model.predict(rows)
    assert np.isfinite(said).all()
    assert np.isfinite(model.history_.objective).all()
    assert 1 <= model.n_estimators_ <= settings["max_iter"]


@given(tables(), SETTINGS, st.sampled_from(["log_loss", "exponential"]), st.integers(1, 3))
def test_any_table_of_classes_is_learnt_without_end_or_nan(table, settings, loss, n_classes):
    rows, rng = table
    y = rng.integers(0, n_classes, len(rows))
    if np.unique(y).size > 2:
        loss, settings = "log_loss", settings | {"monotonic_cst": None}
    model = HistGradientBoostingClassifier(loss, **settings).fit(rows, y)
    shares = model.predict_proba(rows)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@given(tables(), st.sampled_from(["squared_error", "absolute_error", "quantile", "gamma"]))
def test_a_line_search_never_raises_the_training_loss(table, loss):
    rows, rng = table
    y = rng.gamma(1.0, 1.0, len(rows)) + 1e-3
    model = HistGradientBoostingRegressor(loss, max_iter=8, learning_rate=0.7, min_samples_leaf=2)
    losses = np.array(model.fit(rows, y).history_.objective)
    assert (np.diff(losses) <= 1e-9 * np.abs(losses).max()).all()


@given(tables(least=4))
def test_the_exponential_loss_never_rises_either(table):
    rows, rng = table
    y = rng.integers(0, 2, len(rows))
    y[:2] = 0, 1
    model = HistGradientBoostingClassifier("exponential", max_iter=8, min_samples_leaf=2)
    losses = np.array(model.fit(rows, y).history_.objective)
    assert (np.diff(losses) <= 1e-9).all()


@given(tables(), st.sampled_from(["squared_error", "absolute_error", "huber"]), SEEDS)
def test_the_order_of_rows_and_weight_or_repetition_do_not_matter(table, loss, seed):
    rows, rng = table
    y = rng.normal(size=len(rows))
    weights = rng.integers(1, 4, len(rows))
    model = HistGradientBoostingRegressor(
        loss, max_iter=4, min_samples_leaf=2, subsample=0.7, random_state=seed
    )
    weighted = model.fit(rows, y, weights.astype(float)).predict(rows)
    order = rng.permutation(weights.sum())
    written_out = rows.repeat(weights, axis=0)[order]
    repeated = model.fit(written_out, y.repeat(weights)[order]).predict(rows)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@given(st.integers(2, 60), SEEDS)
def test_only_the_order_of_a_columns_values_matters(n, seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    model = HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2)
    plain = model.fit(rows, y).predict(rows)
    bent = np.column_stack([np.exp(rows[:, 0]), 1e6 * rows[:, 1] ** 3])
    np.testing.assert_allclose(model.fit(bent, y).predict(bent), plain, rtol=1e-12)


@given(st.integers(2, 60), SEEDS, st.floats(1e-6, 1e6), st.floats(-100, 100))
def test_another_unit_of_the_target_gives_the_same_model_in_that_unit(n, seed, unit, shift):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    model = HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2)
    plain = model.fit(rows, y).predict(rows)
    other = model.fit(rows, unit * (y + shift)).predict(rows)
    np.testing.assert_allclose(other / unit - shift, plain, atol=1e-6)


@given(st.integers(4, 60), SEEDS)
def test_the_names_of_two_classes_may_be_swapped(n, seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    model = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=2)
    plain = model.fit(rows, y).decision_function(rows)
    np.testing.assert_allclose(model.fit(rows, 1 - y).decision_function(rows), -plain, atol=1e-6)
