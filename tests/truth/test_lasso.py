"""Lasso and elastic net against closed forms, all sign patterns, and their own bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.linear import ElasticNet, Lasso, LinearRegression, NoSummary, Ridge
from gnomon.linear.coordinate_descent import (
    ColumnQuadratic,
    GramQuadratic,
    Penalty,
    minimize,
    nothing_chosen,
    on_products,
)


def objective(X, y, coef, intercept, alpha, ratio=1.0, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    loss = weights @ (y - intercept - X @ coef) ** 2 / (2 * weights.sum())
    return loss + alpha * (ratio * np.abs(coef).sum() + (1 - ratio) / 2 * coef @ coef)


def best_of_all_sign_patterns(gram, cross, l1, l2):
    """The minimiser among those of all 3^p patterns of signs that agree with their pattern."""
    best, least = None, np.inf
    for signs in product((-1, 0, 1), repeat=len(cross)):
        signs = np.array(signs)
        active = signs != 0
        coef = np.zeros(len(cross))
        matrix = gram[np.ix_(active, active)] + l2 * np.eye(active.sum())
        coef[active] = np.linalg.solve(matrix, cross[active] - l1 * signs[active])
        if (np.sign(coef) != signs).any():
            continue
        value = coef @ gram @ coef / 2 - cross @ coef + l1 * np.abs(coef).sum()
        value += l2 * coef @ coef / 2
        if value < least:
            best, least = coef, value
    return best


@pytest.mark.covers("lasso", "elastic-net")
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_minimum_is_the_best_of_all_sign_patterns(ratio, rng):
    for _ in range(10):
        X = rng.normal(size=(30, 5)) @ rng.normal(size=(5, 5))
        y = X @ rng.normal(size=5) + rng.normal(size=30)
        gram, cross = X.T @ X / 30, X.T @ y / 30
        alpha = np.abs(cross).max() * rng.uniform(0.02, 0.9)
        expected = best_of_all_sign_patterns(gram, cross, alpha * ratio, alpha * (1 - ratio))
        model = ElasticNet(alpha, l1_ratio=ratio, fit_intercept=False, tol=0).fit(X, y)
        np.testing.assert_allclose(model.coef_, expected, atol=1e-9 * np.abs(expected).max())
        assert (model.coef_ == 0).tolist() == (expected == 0).tolist()


@pytest.mark.covers("lasso")
def test_orthogonal_columns_are_shrunk_by_the_penalty_alone(rng):
    X, _ = np.linalg.qr(rng.normal(size=(40, 6)))
    y = rng.normal(size=40)
    plain = X.T @ y
    alpha = 0.5 * np.abs(plain).max() / 40
    expected = np.sign(plain) * np.maximum(np.abs(plain) - 40 * alpha, 0)
    found = Lasso(alpha, fit_intercept=False, tol=0).fit(X, y).coef_
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.covers("lasso")
@pytest.mark.parametrize(("n", "p"), [(300, 40), (40, 300), (60, 61)])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_no_small_change_improves_the_objective_and_the_gap_is_at_rounding(n, p, ratio, rng):
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    y = X[:, :5] @ rng.normal(size=5) + rng.normal(size=n)
    top = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / n / ratio
    for share in (0.5, 0.1, 0.02):
        alpha = share * top
        model = ElasticNet(alpha, l1_ratio=ratio, tol=0).fit(X, y)
        residual = y - model.predict(X)
        slopes = X.T @ residual / n - alpha * (1 - ratio) * model.coef_
        limit = alpha * ratio
        used = model.coef_ != 0
        assert abs(residual.mean()) < 1e-10 * np.abs(y).max()
        np.testing.assert_allclose(slopes[used], limit * np.sign(model.coef_[used]), rtol=1e-7)
        assert np.abs(slopes[~used]).max(initial=0) <= limit * (1 + 1e-7)
        assert model.dual_gap_ <= 1e-12 * y.var()
        assert model.history_[-1] == pytest.approx(
            objective(X, y, model.coef_, model.intercept_, alpha, ratio), rel=1e-9
        )


@pytest.mark.covers("lasso")
def test_no_penalty_left_gives_least_squares_and_too_much_gives_the_mean(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    y = y + X[:, 0]
    tiny = Lasso(1e-12, tol=0).fit(X, y)
    np.testing.assert_allclose(tiny.coef_, LinearRegression().fit(X, y).coef_, atol=1e-8)
    huge = Lasso(1e6, tol=0).fit(X, y)
    assert not huge.coef_.any()
    assert huge.intercept_ == pytest.approx(y.mean())


@pytest.mark.covers("elastic-net")
def test_a_vanishing_share_of_absolute_values_gives_ridge(rng):
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    net = ElasticNet(0.3, l1_ratio=1e-12, tol=0).fit(X, y)
    np.testing.assert_allclose(net.coef_, Ridge(50 * 0.3).fit(X, y).coef_, atol=1e-9)


@pytest.mark.covers("elastic-net")
def test_equal_columns_share_their_coefficient_in_an_elastic_net(rng):
    x = rng.normal(size=(60, 1))
    y = x[:, 0] + 0.1 * rng.normal(size=60)
    found = ElasticNet(0.1, tol=0).fit(np.hstack([x, x, -x]), y).coef_
    np.testing.assert_allclose(found, found[0] * np.array([1, 1, -1]), rtol=1e-8)


@pytest.mark.covers("lasso")
def test_dependent_columns_are_no_error_and_the_objective_is_as_low(rng):
    x = rng.normal(size=(40, 3))
    y = x @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=40)
    doubled = Lasso(0.05, tol=0).fit(np.hstack([x, x]), y)
    single = Lasso(0.05, tol=0).fit(x, y)
    assert doubled.history_[-1] == pytest.approx(single.history_[-1], rel=1e-9)


@pytest.mark.covers("lasso")
@pytest.mark.parametrize(("n", "p"), [(120, 30), (30, 120)])
def test_sparse_rows_and_weights_give_what_dense_repeated_rows_give(n, p, rng):
    X = sp.random_array((n, p), density=0.2, format="csr", rng=rng)
    y = rng.normal(size=n)
    counts = rng.integers(1, 4, size=n)
    weighted = Lasso(0.02, tol=0).fit(X, y, sample_weight=counts)
    dense = np.repeat(X.toarray(), counts, axis=0)
    repeated = Lasso(0.02, tol=0).fit(dense, np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-8)


@pytest.mark.covers("regularisation-path", "lasso")
@pytest.mark.parametrize(("n", "p"), [(200, 30), (40, 150)])
def test_every_place_of_a_path_is_the_fit_of_its_penalty(n, p, rng):
    X = rng.normal(size=(n, p)) + 5
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=n)
    path = Lasso(tol=1e-7).path(X, y, n_alphas=12, eps=0.02)
    assert path.n_nonzero[0] == 0
    assert path.n_nonzero[-1] > 0
    assert (np.diff(path.explained) >= -1e-9).all()
    for place in (0, 5, 11):
        alone = Lasso(path.alphas[place], tol=0).fit(X, y)
        found = objective(X, y, path.coefficients[place], path.intercepts[place], alone.alpha)
        assert found <= alone.history_[-1] + 1e-7 * y.var()
        assert found >= alone.history_[-1] - 1e-12 * y.var()


@pytest.mark.covers("regularisation-path")
@pytest.mark.parametrize(("n", "p"), [(90, 8), (30, 45)])
def test_the_cross_validated_error_is_that_of_fits_without_the_fold(n, p, rng):
    X = rng.normal(size=(n, p)) + 3
    y = X[:, 0] + rng.normal(size=n)
    model = Lasso(tol=1e-7, cv=5, random_state=7)
    path = model.path(X, y, n_alphas=6, eps=0.05, cv=5)
    from gnomon.contract import intake

    parts = model._folds(intake.take_in(model, X, y, None), 5)
    assert sorted(np.bincount(parts).tolist()) == [n // 5] * 5
    for place in (1, 5):
        alpha, means = path.alphas[place], []
        for k in range(5):
            fitted = Lasso(alpha, tol=0).fit(X[parts != k], y[parts != k])
            means.append(((y - fitted.predict(X)) ** 2)[parts == k].mean())
        assert path.errors[place] == pytest.approx(np.mean(means), rel=1e-4)
        assert path.standard_errors[place] == pytest.approx(
            np.std(means, ddof=1) / np.sqrt(5), rel=1e-3
        )


@pytest.mark.covers("regularisation-path")
def test_the_one_standard_error_penalty_is_no_smaller_and_within_its_line(rng):
    X = rng.normal(size=(100, 20))
    y = X[:, 0] + rng.normal(size=100)
    model = Lasso("1se", tol=1e-7, random_state=0).fit(X, y)
    path = model.path_
    least = path.place_min
    assert model.alpha_ == path.alpha_1se >= path.alpha_min
    assert path.errors[path.place_1se] <= path.errors[least] + path.standard_errors[least]
    greater = path.errors[: path.place_1se]
    assert (greater > path.errors[least] + path.standard_errors[least]).all()
    assert Lasso("min", tol=1e-7, random_state=0).fit(X, y).alpha_ == path.alpha_min
    assert "within one standard error" in str(path)


def test_a_path_that_was_not_validated_names_no_best_penalty(rng):
    path = Lasso(tol=1e-7).path(rng.normal(size=(20, 3)), rng.normal(size=20), n_alphas=4)
    with pytest.raises(DataError, match="cv"):
        _ = path.alpha_min


@pytest.mark.parametrize("alphas", [[], [-1.0], [np.nan]])
def test_penalties_that_are_none_are_refused(alphas, rng):
    with pytest.raises(DataError, match="alphas"):
        Lasso(tol=1e-7).path(rng.normal(size=(20, 3)), rng.normal(size=20), alphas=alphas)


def test_a_summary_of_a_penalized_fit_is_refused_with_the_reason(rng):
    model = Lasso(0.1, tol=0).fit(rng.normal(size=(20, 3)), rng.normal(size=20))
    with pytest.raises(NoSummary, match="penalty"):
        model.summary()


def test_the_gap_bounds_the_distance_to_the_minimum(rng):
    X, y = rng.normal(size=(30, 80)) / 5, rng.normal(size=30)
    problem = ColumnQuadratic(np.ascontiguousarray(X.T), y)
    penalty = Penalty(0.1 * np.abs(problem.cross).max(), 0.0)
    exact = minimize(problem, penalty, 0.0, nothing_chosen(problem))
    for tol in (1e-1, 1e-2, 1e-4):
        rough = minimize(problem, penalty, tol, nothing_chosen(problem))
        assert rough.gap <= tol * problem.total / 2
        assert rough.objective - exact.objective <= rough.gap + 1e-12


def test_products_and_columns_lead_to_the_same_minimum(rng):
    X, y = rng.normal(size=(60, 50)), rng.normal(size=60)
    gram = GramQuadratic(X.T @ X, X.T @ y, float(y @ y))
    columns = ColumnQuadratic(np.ascontiguousarray(X.T), y)
    penalty = Penalty.of(0.1 * np.abs(X.T @ y).max(), 0.8)
    one, other = (minimize(each, penalty, 0.0, nothing_chosen(each)) for each in (gram, columns))
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-10)


def test_no_more_columns_are_used_than_their_rank(rng):
    X = rng.normal(size=(8, 60))
    y = rng.normal(size=8)
    path = Lasso(tol=1e-7).path(X, y, n_alphas=30, eps=1e-4)
    assert path.n_nonzero.max() <= 8


def test_a_coefficient_without_penalty_is_free_of_it(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    l1 = np.array([0.0, 1e6, 1e6])
    found = on_products(X.T @ X, X.T @ y, np.zeros(3), l1, 0.0)
    np.testing.assert_allclose(found, [X[:, 0] @ y / (X[:, 0] @ X[:, 0]), 0, 0])


@pytest.mark.parametrize("cls", [Lasso, ElasticNet])
def test_many_chosen_columns_have_the_coefficients_of_the_last_digits(cls, rng):
    X = rng.normal(size=(900, 160))
    y = X @ rng.normal(size=160) / 4 + rng.normal(size=900)
    found, exact = cls(alpha=0.002).fit(X, y), cls(alpha=0.002, tol=0).fit(X, y)
    assert (found.solver_, exact.solver_) == ("columns", "products")
    assert np.count_nonzero(found.coef_) ** 2 > 40 * 160  # too many to be refined
    assert found.dual_gap_ <= 1e-6 * y.var() / 2
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-3)
