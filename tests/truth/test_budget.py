"""Least squares within a budget: the budget is kept and spent, and the penalty gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from gnomon.engine.errors import GnomonWarning
from gnomon.linear import BudgetRegression, LinearRegression, LpRegression, Ridge


def problem(rng):
    X = rng.normal(size=(40, 4)) @ (np.eye(4) + 0.3 * rng.normal(size=(4, 4)))
    return X, X @ [2.0, -1.0, 0.5, 0.2] + 3 + rng.normal(size=40)


def size(coef, p):
    return np.abs(coef).max() if np.isinf(p) else (np.abs(coef) ** p).sum()


@pytest.mark.covers("norm-constrained-least-squares")
def test_the_regularized_weights_lie_on_the_sphere_and_the_free_ones_do_not(rng):
    X, y = problem(rng)
    free = LinearRegression().fit(X, y).coef_
    C = 0.3 * free @ free
    model = BudgetRegression(C).fit(X, y)
    assert model.coef_ @ model.coef_ == pytest.approx(C)
    assert model.alpha_ > 0
    slope = -2 * (X - X.mean(axis=0)).T @ (y - model.predict(X))
    np.testing.assert_allclose(slope, -2 * model.alpha_ * model.coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(Ridge(model.alpha_).fit(X, y).coef_, model.coef_, rtol=1e-7)


@pytest.mark.covers("norm-constrained-least-squares")
def test_a_budget_that_does_not_bind_gives_least_squares_and_no_penalty(rng):
    X, y = problem(rng)
    free = LinearRegression().fit(X, y)
    for p in (1, 1.5, 2, np.inf):
        model = BudgetRegression(1.01 * size(free.coef_, p), p).fit(X, y)
        np.testing.assert_allclose(model.coef_, free.coef_, rtol=1e-8)
        assert model.alpha_ == 0
        assert model.spent_ < model.budget


def test_the_size_of_the_free_weights_as_budget_gives_them_whatever_the_rounding(rng):
    for _ in range(20):
        X = rng.normal(size=(15, 30))
        y = X[:, 0] + rng.normal(size=15)
        free = LinearRegression().fit(X, y)
        model = BudgetRegression(free.coef_ @ free.coef_ * (1 - 1e-15)).fit(X, y)
        np.testing.assert_allclose(model.coef_, free.coef_, atol=1e-4)


@pytest.mark.covers("lp-budget-regression")
@pytest.mark.parametrize("p", [1, 1.3, 2, 3, np.inf])
@pytest.mark.parametrize("share", [0.05, 0.7])
def test_the_whole_budget_is_spent_as_the_penalty_of_its_weight_would(p, share, rng):
    X, y = problem(rng)
    budget = share * size(LinearRegression().fit(X, y).coef_, p)
    model = BudgetRegression(budget, p).fit(X, y)
    assert model.spent_ == pytest.approx(budget, rel=1e-6)
    penalized = LpRegression(p, model.alpha_).fit(X, y)
    np.testing.assert_allclose(penalized.coef_, model.coef_, atol=1e-5)


@pytest.mark.covers("lp-budget-regression")
@pytest.mark.parametrize("p", [1.5, 2, 3])
def test_a_general_minimizer_finds_nothing_better_within_the_budget(p, rng):
    X, y = problem(rng)
    budget = 0.4 * size(LinearRegression().fit(X, y).coef_, p)
    model = BudgetRegression(budget, p).fit(X, y)
    centered, target = X - X.mean(axis=0), y - y.mean()
    other = minimize(
        lambda b: ((target - centered @ b) ** 2).sum(),
        model.coef_ / 2,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda b: budget - size(b, p)},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    ours = ((y - model.predict(X)) ** 2).sum()
    assert ours <= other.fun * (1 + 1e-6)


@pytest.mark.covers("lp-budget-regression")
def test_less_budget_means_more_penalty(rng):
    X, y = problem(rng)
    for p in (1, 2, np.inf):
        whole = size(LinearRegression().fit(X, y).coef_, p)
        weights = [BudgetRegression(s * whole, p).fit(X, y).alpha_ for s in (0.1, 0.3, 0.6, 0.9)]
        assert np.diff(weights).max() < 0


@pytest.mark.covers("lp-budget-regression")
def test_below_p_one_the_budget_is_kept_and_its_want_of_convexity_is_said(rng):
    X, y = problem(rng)
    budget = 0.5 * size(LinearRegression().fit(X, y).coef_, 0.5)
    with pytest.warns(GnomonWarning, match="not a convex region"):
        model = BudgetRegression(budget, 0.5).fit(X, y)
    assert 0 < size(model.coef_, 0.5) <= budget * (1 + 1e-9)
