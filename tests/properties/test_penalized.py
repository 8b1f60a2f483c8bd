"""Properties of penalised fits: units, monotone paths, weights, and budgets against penalties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.linear import (
    BudgetRegression,
    ChiSquareFit,
    GroupLasso,
    LineWithOutliers,
    LpRegression,
    PenalizedModel,
    QuantileRegressor,
    TikhonovRegression,
)

SEEDS = st.integers(0, 2**32 - 1)
POWERS = st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0, np.inf])


def problem(seed, n=30, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


@given(SEEDS, POWERS)
@pytest.mark.covers("lp-penalised-regression")
def test_a_greater_weight_never_gives_a_greater_penalty_or_a_smaller_loss(seed, p):
    X, y = problem(seed)
    found = [LpRegression(p, alpha).fit(X, y) for alpha in (0.5, 5.0, 50.0)]
    sizes = [model.penalty_ / model.alpha for model in found]
    losses = [model.loss_ for model in found]
    assert (np.diff(sizes) <= 1e-7 * (1 + sizes[0])).all()
    assert (np.diff(losses) >= -1e-7 * (1 + losses[0])).all()


@given(SEEDS, POWERS, st.floats(0.05, 0.95))
@pytest.mark.covers("lp-budget-regression")
def test_a_budget_is_never_exceeded(seed, p, share):
    X, y = problem(seed)
    model = BudgetRegression(share, p).fit(X, y)
    assert model.spent_ <= share * (1 + 1e-6)
    assert model.alpha_ >= 0


@given(SEEDS, st.floats(-50, 50), st.floats(0.1, 20))
def test_shifting_and_stretching_the_target_shifts_and_stretches_a_quantile_plane(seed, by, factor):
    X, y = problem(seed)
    one = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    other = QuantileRegressor(quantile=0.3, alpha=0).fit(X, factor * y + by)
    np.testing.assert_allclose(other.predict(X), factor * one.predict(X) + by, rtol=1e-6, atol=1e-6)


@given(SEEDS)
def test_the_quantile_plane_of_the_mirrored_target_is_the_mirrored_plane(seed):
    X, y = problem(seed)
    one = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    other = QuantileRegressor(quantile=0.7, alpha=0).fit(X, -y)
    np.testing.assert_allclose(other.predict(X), -one.predict(X), atol=1e-7)


@given(SEEDS)
@pytest.mark.covers("augmented-error-minimisation")
def test_shifting_the_columns_changes_no_prediction(seed):
    X, y = problem(seed)
    for model in (
        TikhonovRegression(2.0, "order"),
        GroupLasso(3.0, [0, 0, 1]),
        PenalizedModel("huber", "l1", alpha=2.0),
        BudgetRegression(0.5, 1),
        ChiSquareFit(),
    ):
        before = model.fit(X, y).predict(X)
        np.testing.assert_allclose(model.fit(X + 7, y).predict(X + 7), before, atol=1e-6)


@given(SEEDS)
@pytest.mark.covers("em-line-with-outliers")
def test_shares_are_shares_and_memberships_probabilities(seed):
    X, y = problem(seed, n=50)
    model = LineWithOutliers(random_state=0, n_init=3).fit(X, y)
    membership = model.membership(X, y)
    assert 0 < model.share_ <= 1
    assert model.scale_ > 0
    assert ((membership >= 0) & (membership <= 1)).all()
    assert membership.mean() == pytest.approx(model.share_, abs=1e-3)
