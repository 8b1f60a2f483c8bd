"""What holds for ensembles whatever the data are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    LogitBoostClassifier,
    StackingClassifier,
    StagewiseClassifier,
    find_cycle,
    majority_probability,
    qualified_majority,
)
from gnomon.ensemble.lots import Lots
from gnomon.ensemble.stacking import convex_weights
from gnomon.ensemble.stagewise import line_search
from gnomon.evaluate import rejection_curve

shares = st.floats(0.01, 0.99)
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.covers("condorcet-jury")
@given(p=shares, m=st.integers(1, 60))
def test_two_more_jurors_help_the_better_and_harm_the_worse(p, m):
    now, more = majority_probability(p, m), majority_probability(p, m + 2)
    if p > 0.5:
        assert more >= now - 1e-12
    elif p < 0.5:
        assert more <= now + 1e-12
    assert majority_probability(1 - p, m) == pytest.approx(1 - now, abs=1e-9)


@pytest.mark.covers("stacking")
@given(seed=seeds, n=st.integers(2, 30), m=st.integers(1, 5))
def test_weights_lie_in_the_simplex_and_beat_every_member(seed, n, m):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(n, m)) * 10 ** rng.uniform(-3, 3), rng.normal(size=n)
    weights = rng.uniform(0.1, 2, n)
    found = convex_weights(outputs, y, weights)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    losses = weights @ (outputs - y[:, None]) ** 2
    assert weights @ (outputs @ found - y) ** 2 <= losses.min() * (1 + 1e-6) + 1e-9


@given(center=st.floats(1e-6, 1e6), bend=st.floats(1e-6, 1e6))
def test_the_line_search_finds_the_bottom_of_a_parabola(center, bend):
    found = line_search(lambda a: bend * (a - center), -bend * center)
    assert found == pytest.approx(center, rel=1e-9)


@given(seed=seeds, n=st.integers(2, 40), k=st.integers(2, 6))
def test_folds_of_lots_do_not_depend_on_how_weights_are_written(seed, n, k):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, n).astype(float)
    rows = np.repeat(np.arange(n), weights.astype(int))
    by_weight = Lots(np.arange(n), weights).folds(k, np.random.default_rng(seed))
    by_copies = Lots(np.arange(len(rows)), None).folds(k, np.random.default_rng(seed))
    for one, other in zip(by_weight, by_copies, strict=True):
        spread = np.zeros(n)
        spread[one.held.positions] = one.held.weight_array
        copies = np.bincount(rows[other.held.positions], minlength=n)
        np.testing.assert_array_equal(spread, copies)


@pytest.mark.covers("adaboost")
@given(seed=seeds, k=st.integers(2, 4))
def test_stumps_do_not_depend_on_the_order_of_rows_nor_on_units(seed, k):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 3)), 1)
    y = rng.integers(0, k, 40)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    rows = rng.permutation(40)
    shuffled = AdaBoostClassifier(n_estimators=6).fit(X[rows], y[rows])
    np.testing.assert_array_equal(shuffled.predict_proba(X), model.predict_proba(X))
    scaled = AdaBoostClassifier(n_estimators=6).fit(X * 1024, y)
    np.testing.assert_array_equal(scaled.predict(X * 1024), model.predict(X))


@pytest.mark.covers("adaboost")
@given(seed=seeds)
def test_the_bound_on_the_training_error_holds(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    n = len(model.estimator_weights_)
    assert (model.staged_errors(X, y) <= np.asarray(model.history_)[:n] + 1e-12).all()


@given(seed=seeds)
def test_probabilities_are_such_on_any_small_table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 30))
    X, y = np.round(rng.normal(size=(n, 2)), 1), np.arange(n) % 3
    for model in (
        BaggingClassifier(n_estimators=3, random_state=seed % 1000),
        StackingClassifier(None, "weights", cv=2, random_state=seed % 1000),
        LogitBoostClassifier(n_estimators=3),
        StagewiseClassifier(n_estimators=3),
    ):
        proba = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
        assert (proba >= 0).all()


@pytest.mark.covers("committee-reject-rules")
@given(seed=seeds, low=shares, high=shares)
def test_a_stricter_majority_accepts_no_more(seed, low, high):
    low, high = sorted((low, high))
    votes = np.random.default_rng(seed).integers(0, 3, size=(30, 5))
    lax, strict = qualified_majority(votes, low), qualified_majority(votes, high)
    assert not (strict.accepted & ~lax.accepted).any()
    curve = rejection_curve(np.zeros(30, int), votes[:, 0], votes.mean(axis=1))
    assert (np.diff(curve.rejected) > 0).all()
    assert all(0 <= each.value <= 1 for each in curve.accuracy)


@pytest.mark.covers("adaboost-weight-cycles")
@given(period=st.integers(1, 5), start=st.integers(0, 6), seed=seeds)
def test_a_cycle_is_found_where_there_is_one(period, start, seed):
    rng = np.random.default_rng(seed)
    turn = rng.dirichlet(np.ones(4), size=period)
    before = rng.dirichlet(np.ones(4), size=start)
    found = find_cycle(np.vstack([before, *[turn] * 4]), tol=1e-12)
    assert found is not None
    assert found.period == period
    assert found.start <= start
