"""Quantile regression: brute force over all planes through points, ties, and shares below."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gnomon.linear import PenalizedModel, QuantileRegressor


def check_loss(residual, quantile):
    return np.maximum(quantile * residual, (quantile - 1) * residual).sum()


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
def test_no_plane_through_points_is_better(quantile, rng):
    X = rng.normal(size=(14, 2))
    y = X @ [1.0, -2.0] + rng.standard_t(2, size=14)
    model = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    table = np.column_stack([X, np.ones(14)])
    best = np.inf
    for chosen in combinations(range(14), 3):
        theta = np.linalg.solve(table[list(chosen)], y[list(chosen)])
        best = min(best, check_loss(y - table @ theta, quantile))
    assert model.loss_ == pytest.approx(best, rel=1e-9)
    assert check_loss(y - model.predict(X), quantile) == pytest.approx(best, rel=1e-9)


def test_about_the_given_share_of_targets_lies_below(rng):
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    for quantile in (0.05, 0.3, 0.9):
        residual = y - QuantileRegressor(quantile=quantile, alpha=0).fit(X, y).predict(X)
        below = np.count_nonzero(residual < -1e-9)
        through = np.count_nonzero(np.abs(residual) <= 1e-9)
        assert below <= quantile * 200 <= below + through
        assert through == 4


def test_of_equally_good_medians_the_one_of_least_coefficients_is_taken(rng):
    x = np.repeat([0.0, 1.0], 4)
    y = np.array([1.0, 2.0, 4.0, 9.0, 3.0, 5.0, 8.0, 9.0])
    rows = rng.permutation(8)
    one = QuantileRegressor(alpha=0).fit(x[:, None], y)
    other = QuantileRegressor(alpha=0).fit(x[rows, None], y[rows])
    assert check_loss(y - one.predict(x[:, None]), 0.5) == pytest.approx(
        (np.abs(y[:4] - 3).sum() + np.abs(y[4:] - 6).sum()) / 2
    )
    assert 2 - 1e-9 <= one.intercept_ <= 4 + 1e-9
    assert 5 - 1e-9 <= one.intercept_ + one.coef_[0] <= 8 + 1e-9
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-9)
    assert other.intercept_ == pytest.approx(one.intercept_)


def test_an_outlier_does_not_move_the_median_plane(rng):
    x = np.arange(21.0)[:, None]
    y = 3 * x[:, 0] + 1
    y[rng.integers(21)] += 1000
    model = QuantileRegressor(alpha=0).fit(x, y)
    np.testing.assert_allclose([model.coef_[0], model.intercept_], [3, 1], atol=1e-9)


def test_dependent_columns_share_their_coefficient(rng):
    x = rng.normal(size=(40, 1))
    y = 2 * x[:, 0] + rng.normal(size=40)
    both = QuantileRegressor(alpha=0).fit(np.hstack([x, x]), y)
    single = QuantileRegressor(alpha=0).fit(x, y)
    np.testing.assert_allclose(both.coef_, single.coef_[0] / 2, rtol=1e-7)


def test_an_l1_penalty_on_a_quantile_loss_sets_coefficients_to_zero(rng):
    X = rng.normal(size=(60, 5))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=60)
    model = PenalizedModel("absolute", "l1", alpha=10.0).fit(X, y)
    assert model.coef_[0] > 2
    assert np.count_nonzero(model.coef_) < 5
    nothing = PenalizedModel("absolute", "l1", alpha=1e4).fit(X, y)
    assert not nothing.coef_.any()
    assert nothing.loss_ == pytest.approx(np.abs(y - np.median(y)).sum())


@pytest.mark.parametrize("quantile", [0.02, 0.5])
@pytest.mark.parametrize("whole", [False, True])
def test_guessing_the_side_of_far_rows_changes_nothing(quantile, whole, rng, monkeypatch):
    X = rng.normal(size=(2500, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.standard_t(2, size=2500)
    if whole:
        X, y = np.rint(X), np.rint(y)
    guessed = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    monkeypatch.setattr("gnomon.linear.quantile.FEWEST_ROWS", 10**9)
    full = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    assert guessed.loss_ == pytest.approx(full.loss_, rel=1e-9)
    np.testing.assert_allclose(guessed.predict(X), full.predict(X), atol=1e-6)


def test_rows_that_stray_from_their_guessed_side_are_let_in(rng, monkeypatch):
    X = rng.normal(size=(3000, 2))
    y = X @ [1.0, -1.0] + rng.standard_t(1, size=3000)
    expected = QuantileRegressor(quantile=0.4, alpha=0).fit(X, y)
    monkeypatch.setattr("gnomon.linear.quantile.guess", lambda table, *rest: np.zeros(3))
    found = QuantileRegressor(quantile=0.4, alpha=0).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
