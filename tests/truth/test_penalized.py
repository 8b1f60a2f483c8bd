"""Losses times penalties: conditions of the minimum, brute force, and pairs that are refused."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.linear import (
    BudgetRegression,
    ElasticNet,
    GroupLasso,
    Lasso,
    LinearRegression,
    LpRegression,
    NoSummary,
    PenalizedModel,
    Ridge,
    TikhonovRegression,
    lp_decay,
)


def problem(rng, n=50, p=6):
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    y = X @ rng.normal(size=p) + 2 + rng.normal(size=n)
    return X, y


def slope_of_squares(model, X, y):
    """Minus the slope of the squared loss by each coefficient."""
    return 2 * (X - X.mean(axis=0)).T @ (y - model.predict(X))


@pytest.mark.covers("augmented-error-minimisation")
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson"])
@pytest.mark.parametrize("penalty", ["l2", "order", "l1", "elastic net", "group", "lp"])
def test_no_place_near_the_minimum_has_a_lower_augmented_error(loss, penalty, rng):
    X, y = problem(rng)
    if loss == "logistic":
        y = (y > np.median(y)).astype(float)
    if loss == "poisson":
        y = rng.poisson(np.exp(np.clip(y / 4, -2, 2))).astype(float)
    groups = [0, 0, 1, 1, 1, 2] if penalty == "group" else None
    model = PenalizedModel(loss, penalty, alpha=1.5, groups=groups).fit(X, y)
    least = model.augmented_error_
    assert least == pytest.approx(model.history_[-1], rel=1e-9)
    one = PenalizedModel(loss, penalty, alpha=1.5, groups=groups)
    for size in (1e-1, 1e-3):
        for _ in range(40):
            coef = model.coef_ + size * rng.normal(size=6) * rng.integers(0, 2, 6)
            constant = model.intercept_ + size * rng.normal()
            value = one._loss().value(y, X @ coef + constant).sum()
            assert value + 1.5 * one._penalty(6).value(coef) >= least - 1e-9 * abs(least)


@pytest.mark.covers("augmented-error-minimisation")
def test_the_two_parts_are_the_loss_and_the_weighted_penalty(rng):
    X, y = problem(rng)
    model = PenalizedModel("huber", "elastic net", alpha=3.0, l1_ratio=0.25, threshold=0.7)
    model.fit(X, y)
    residual = np.abs(y - model.predict(X))
    loss = np.where(residual <= 0.7, residual**2, 1.4 * residual - 0.49).sum()
    penalty = 3 * (0.25 * np.abs(model.coef_).sum() + 0.375 * (model.coef_**2).sum())
    assert model.loss_ == pytest.approx(loss)
    assert model.penalty_ == pytest.approx(penalty)
    assert model.augmented_error_ == pytest.approx(loss + penalty)


@pytest.mark.covers("augmented-error-minimisation")
@pytest.mark.parametrize("loss", ["huber", "logistic", "poisson"])
def test_the_augmented_error_never_rises(loss, rng):
    X, y = problem(rng)
    y = np.abs(np.round(y)) if loss == "poisson" else y
    y = (y > 2).astype(float) if loss == "logistic" else y
    course = np.asarray(PenalizedModel(loss, "l1", alpha=0.5).fit(X, y).history_)
    assert (np.diff(course) <= 1e-9 * np.abs(course[:-1])).all()


@pytest.mark.covers("augmented-error-minimisation")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "absolute", "penalty": "l2"}, "penalty='l1'"),
        ({"loss": "quantile", "penalty": "group"}, "loss='huber'"),
        ({"loss": "huber", "penalty": "lp", "p": 0.5}, "loss='squared'"),
        ({"loss": "logistic", "penalty": "lp", "p": 0.0}, "p of one or more"),
        ({"penalty": "matrix"}, "needs the parameter matrix"),
        ({"penalty": "matrix", "matrix": -np.eye(6)}, "positive semi-definite"),
        ({"penalty": "matrix", "matrix": np.eye(5)}, "6 columns"),
        ({"penalty": "group", "groups": [1, 2]}, "2 labels"),
        ({"loss": "logistic"}, "between 0 and 1"),
        ({"loss": "poisson"}, "between 0 and inf"),
    ],
)
def test_a_pair_that_cannot_be_solved_is_refused_with_reason_and_alternative(
    parameters, words, rng
):
    X, y = problem(rng)
    with pytest.raises(DataError, match=words):
        PenalizedModel(**parameters).fit(X, np.append(y[:-1], -9.0))


@pytest.mark.covers("augmented-error-minimisation")
def test_without_weight_the_penalty_changes_nothing(rng):
    X, y = problem(rng)
    plain = LinearRegression().fit(X, y)
    for penalty in ("l2", "l1", "group", "lp"):
        found = PenalizedModel("squared", penalty, alpha=0).fit(X, y)
        np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-8)
        assert found.intercept_ == pytest.approx(plain.intercept_)


def test_a_penalized_model_refuses_a_summary(rng):
    with pytest.raises(NoSummary, match="coefficient_bootstrap"):
        PenalizedModel().fit(*problem(rng)).summary()


@pytest.mark.covers("order-weighted-tikhonov")
def test_a_tikhonov_fit_solves_its_normal_equations(rng):
    X, y = problem(rng)
    half = rng.normal(size=(4, 6))
    G = half.T @ half
    model = TikhonovRegression(2.5, G).fit(X, y)
    centered = X - X.mean(axis=0)
    expected = np.linalg.solve(centered.T @ centered + 2.5 * G, centered.T @ (y - y.mean()))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-9)
    assert model.penalty_ == pytest.approx(2.5 * expected @ G @ expected)
    diagonal = TikhonovRegression(2.5, np.arange(6.0)).fit(X, y)
    same = TikhonovRegression(2.5, np.diag(np.arange(6.0))).fit(X, y)
    np.testing.assert_array_equal(diagonal.coef_, same.coef_)


@pytest.mark.covers("order-weighted-tikhonov")
def test_the_uniform_penalty_is_the_ridge(rng):
    X, y = problem(rng)
    np.testing.assert_allclose(
        TikhonovRegression(3.0).fit(X, y).coef_, Ridge(3.0).fit(X, y).coef_, rtol=1e-9
    )


@pytest.mark.covers("order-weighted-tikhonov")
def test_a_large_order_weighted_penalty_leaves_the_constant_alone(rng):
    x = rng.uniform(-1, 1, 40)
    powers = x[:, None] ** np.arange(16)
    y = np.sin(3 * x) + 5
    model = TikhonovRegression(1e9, "order", fit_intercept=False).fit(powers, y)
    assert model.coef_[0] == pytest.approx(y.mean(), abs=1e-5)
    assert np.abs(model.coef_[1:]).max() < 1e-5


@pytest.mark.covers("lp-penalised-regression")
@pytest.mark.parametrize("p", [1.1, 1.5, 1.9, 2.5, 4.0])
def test_the_slopes_of_loss_and_smooth_lp_penalty_cancel(p, rng):
    X, y = problem(rng)
    model = LpRegression(p, alpha=2.0).fit(X, y)
    pull = 2 * p * np.sign(model.coef_) * np.abs(model.coef_) ** (p - 1)
    np.testing.assert_allclose(slope_of_squares(model, X, y), pull, rtol=1e-5, atol=1e-6)


@pytest.mark.covers("lp-penalised-regression")
@pytest.mark.parametrize("alpha", [1.0, 30.0, 300.0])
def test_an_infinite_p_shares_its_pull_among_the_largest(alpha, rng):
    X, y = problem(rng)
    model = LpRegression(np.inf, alpha).fit(X, y)
    slopes = slope_of_squares(model, X, y)
    largest = np.abs(model.coef_).max()
    inside = np.abs(model.coef_) < largest * (1 - 1e-9)
    if largest == 0:
        assert np.abs(slopes).sum() <= alpha * (1 + 1e-9)
        return
    np.testing.assert_allclose(slopes[inside], 0, atol=1e-6)
    assert (slopes[~inside] * model.coef_[~inside] >= -1e-6).all()
    assert np.abs(slopes).sum() == pytest.approx(alpha, rel=1e-6)


@pytest.mark.covers("lp-penalised-regression")
def test_the_powers_one_and_two_are_lasso_and_ridge(rng):
    X, y = problem(rng)
    lasso = Lasso(alpha=4.0 / (2 * len(y)), tol=0).fit(X, y)
    np.testing.assert_allclose(LpRegression(1, 4.0).fit(X, y).coef_, lasso.coef_, atol=1e-8)
    ridge = Ridge(4.0).fit(X, y)
    np.testing.assert_allclose(LpRegression(2, 4.0).fit(X, y).coef_, ridge.coef_, rtol=1e-8)


@pytest.mark.covers("lp-penalised-regression")
def test_p_zero_finds_the_best_subset_of_all(rng):
    X, y = problem(rng, n=30, p=5)
    alpha = 0.3 * len(y)
    best = ((y - y.mean()) ** 2).sum()
    for size in range(1, 6):
        for chosen in combinations(range(5), size):
            fit = LinearRegression().fit(X[:, chosen], y)
            best = min(best, ((y - fit.predict(X[:, chosen])) ** 2).sum() + alpha * size)
    found = LpRegression(0, alpha).fit(X, y)
    assert found.augmented_error_ == pytest.approx(best)


@pytest.mark.covers("lp-penalised-regression")
def test_the_best_subset_of_very_many_columns_is_refused(rng):
    with pytest.raises(DataError, match=r"p=0\.5"):
        LpRegression(0).fit(rng.normal(size=(60, 30)), rng.normal(size=60))


@pytest.mark.covers("lp-penalised-regression")
def test_p_below_one_is_the_lowest_of_a_fine_grid_in_one_and_two_columns(rng):
    for _ in range(3):
        X = rng.normal(size=(20, 2))
        y = X @ rng.normal(size=2) + 0.3 * rng.normal(size=20)
        model = LpRegression(0.5, 4.0, fit_intercept=False, random_state=0).fit(X, y)
        grid = np.linspace(-4, 4, 401)
        one, other = np.meshgrid(grid, grid)
        places = np.column_stack([one.ravel(), other.ravel()])
        values = ((y[:, None] - X @ places.T) ** 2).sum(axis=0)
        values += 4 * np.sqrt(np.abs(places)).sum(axis=1)
        assert model.augmented_error_ <= values.min() + 1e-9


@pytest.mark.covers("lp-penalised-regression")
def test_on_orthogonal_columns_every_coefficient_is_at_its_own_lowest_place(rng):
    X = np.linalg.qr(rng.normal(size=(30, 5)))[0]
    y = X @ (3 * rng.normal(size=5))
    model = LpRegression(0.5, 1.0, fit_intercept=False, random_state=0).fit(X, y)
    grid = np.linspace(-12, 12, 240_001)
    for slope, coef in zip(X.T @ y, model.coef_):
        values = (grid - slope) ** 2 + np.sqrt(np.abs(grid))
        reached = (coef - slope) ** 2 + np.sqrt(abs(coef))
        assert reached <= values.min() + 1e-9


@pytest.mark.covers("lp-penalised-regression")
def test_a_step_of_decay_shrinks_negative_weights_too():
    np.testing.assert_allclose(lp_decay([-4.0, 4.0], 1.5, 0.1), [-3.8, 3.8])
    np.testing.assert_allclose(lp_decay([-2.0, 0.0, 2.0], 1.0, 0.5), [-1.5, 0.0, 1.5])
    np.testing.assert_allclose(lp_decay([-2.0, 2.0], 2.0, 0.5), [-1.0, 1.0])


def test_groups_stay_or_go_together_and_meet_their_conditions(rng):
    X, y = problem(rng, n=60)
    labels = np.array(["a", "a", "b", "b", "b", "c"])
    model = GroupLasso(40.0, labels).fit(X, y)
    slopes = slope_of_squares(model, X, y)
    for label in "abc":
        group = labels == label
        weight = 40.0 * np.sqrt(group.sum())
        length = np.linalg.norm(model.coef_[group])
        if length == 0:
            assert np.linalg.norm(slopes[group]) <= weight * (1 + 1e-9)
        else:
            pull = weight * model.coef_[group] / length
            np.testing.assert_allclose(slopes[group], pull, rtol=1e-6, atol=1e-6)


def test_groups_of_one_column_are_the_lasso(rng):
    X, y = problem(rng)
    lasso = Lasso(alpha=10.0 / (2 * len(y)), tol=0).fit(X, y)
    np.testing.assert_allclose(GroupLasso(10.0).fit(X, y).coef_, lasso.coef_, atol=1e-8)


def test_the_elastic_net_of_the_frame_is_the_elastic_net(rng):
    X, y = problem(rng)
    found = PenalizedModel("squared", "elastic net", alpha=12.0, l1_ratio=0.3).fit(X, y)
    expected = ElasticNet(12.0 / (2 * len(y)), l1_ratio=0.3, tol=0).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)


SPARSE = [
    PenalizedModel("squared", "group", alpha=2.0, groups=[0, 0, 1, 1, 2, 2]),
    PenalizedModel("huber", "elastic net", alpha=3.0),
    PenalizedModel("absolute", "l1", alpha=2.0),
    TikhonovRegression(alpha=2.0),
    GroupLasso(alpha=0.1, groups=[0, 0, 1, 1, 2, 2]),
    LpRegression(alpha=3.0, p=1.5),
    BudgetRegression(budget=0.5, p=1.0),
]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("model", SPARSE, ids=str)
def test_sparse_rows_are_fitted_as_dense_ones(model, weighted, intercept, rng):
    rows = sp.random_array((80, 6), density=0.4, rng=rng, format="csr")
    y = rows @ rng.normal(size=6) + 0.1 * rng.normal(size=80) + 2
    weights = rng.uniform(0.5, 2, 80) if weighted else None
    dense, sparse = (clone(model).set_params(fit_intercept=intercept) for _ in range(2))
    dense.fit(rows.toarray(), y, weights)
    sparse.fit(rows, y, weights)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(rows), dense.predict(rows.toarray()), atol=1e-5)
