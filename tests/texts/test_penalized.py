"""What the texts say of penalties, budgets, known errors and outliers; their errata corrected."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linear import (
    BudgetRegression,
    LineWithOutliers,
    LpRegression,
    PenalizedModel,
    SigmoidUnits,
    TikhonovRegression,
    chi_square_fit,
)
from gnomon.optimize.losses import logistic


def powers(x, degree=15):
    return x[:, None] ** np.arange(degree + 1)


@pytest.mark.covers("order-weighted-tikhonov")
def test_001_7_2_4_the_low_order_penalty_bends_less_than_the_uniform_one(rng):
    """Polynomials of order 15: penalty sum_q q w_q^2 leaves the constant, holds high orders."""
    x = rng.uniform(-1, 1, 30)
    y = 2 + 0.5 * x + 0.3 * rng.normal(size=30)
    uniform = TikhonovRegression(1.0, "uniform", fit_intercept=False).fit(powers(x), y)
    low = TikhonovRegression(1.0, "order", fit_intercept=False).fit(powers(x), y)
    assert np.abs(low.coef_[8:]).sum() < np.abs(uniform.coef_[8:]).sum()
    gamma = np.diag(np.arange(16.0))
    Z = powers(x)
    np.testing.assert_allclose(
        low.coef_, np.linalg.solve(Z.T @ Z + gamma, Z.T @ y), rtol=1e-6, atol=1e-8
    )
    assert low.penalty_ == pytest.approx(low.coef_ @ gamma @ low.coef_)


@pytest.mark.covers("augmented-error-minimisation", "order-weighted-tikhonov")
def test_001_7_2_3_the_second_scale_of_lambda_gives_the_printed_hat_matrix(rng):
    """E_in + (lambda / N) w'w gives H(lambda) = Z (Z'Z + lambda I)^-1 Z' (50)."""
    Z, lam = powers(rng.uniform(-1, 1, 20), 4), 0.7
    y = rng.normal(size=20)
    H = Z @ np.linalg.solve(Z.T @ Z + lam * np.eye(5), Z.T)
    model = PenalizedModel("squared", "l2", alpha=lam, fit_intercept=False).fit(Z, y)
    np.testing.assert_allclose(model.predict(Z), H @ y, atol=1e-9)
    augmented = ((y - H @ y) ** 2).mean() + lam / 20 * model.coef_ @ model.coef_
    assert model.augmented_error_ / 20 == pytest.approx(augmented)


@pytest.mark.covers("norm-constrained-least-squares")
def test_001_7_2_2_the_regularized_weights_are_on_the_sphere(rng):
    """min E_in so that w'w <= C: where w_lin is outside, w_reg is on it (not w_lin, as printed)."""
    Z, y = powers(rng.uniform(-1, 1, 40), 3), rng.normal(size=40)
    w_lin = np.linalg.lstsq(Z, y)[0]
    C = w_lin @ w_lin / 2
    model = BudgetRegression(C, fit_intercept=False).fit(Z, y)
    assert model.coef_ @ model.coef_ == pytest.approx(C)
    lambda_C = model.alpha_ / 40
    gradient = 2 * Z.T @ (Z @ model.coef_ - y) / 40
    np.testing.assert_allclose(gradient, -2 * lambda_C * model.coef_, atol=1e-8)
    assert lambda_C > 0


@pytest.mark.covers("lp-penalised-regression")
def test_002_small_powers_are_sparse_and_large_ones_hold_the_largest(rng):
    X = rng.normal(size=(60, 6))
    y = X @ [3.0, 0.0, 0.0, -0.5, 0.2, 0.0] + 0.3 * rng.normal(size=60)
    found = {p: LpRegression(p, 30.0, random_state=0).fit(X, y) for p in (0.5, 1, 2, 4, np.inf)}
    zeros = {p: int((model.coef_ == 0).sum()) for p, model in found.items()}
    assert zeros[0.5] >= zeros[1] >= zeros[2] == zeros[4] == 0
    assert np.abs(found[4].coef_).max() < np.abs(found[1].coef_).max()


@pytest.mark.covers("chi-square-weighted-fit")
def test_004_5_1_a_good_model_has_chi2_near_its_degrees_of_freedom(rng):
    """Not chi2 near 1, as printed; and a polynomial has degree + 1 parameters, not degree - 1."""
    x = np.linspace(0, 3, 400)
    y = 1 + x - x**3 + 0.2 * rng.normal(size=400)
    fit = chi_square_fit(x, y, 0.2, 3)
    assert fit.goodness.degrees_of_freedom == 400 - 4
    assert fit.goodness.per_degree == pytest.approx(1, abs=0.4)
    assert chi_square_fit(x, y, 0.02, 3).goodness.per_degree > 50
    assert chi_square_fit(x, y, 2.0, 3).goodness.per_degree < 0.05


@pytest.mark.covers("logistic-units-squared-error")
def test_003_4_3_1_squared_error_of_a_sigmoid_is_not_convex():
    """f(w) = (1 - a(w))^2: f(-4) = 0.964 is above the mean 0.625 of f(-8) and f(0)."""
    f = (1 - logistic(np.array([-8.0, -4.0, 0.0]))) ** 2
    assert f[1] == pytest.approx(0.964, abs=5e-4)
    assert (f[0] + f[2]) / 2 == pytest.approx(0.625, abs=5e-4)
    assert "not" in SigmoidUnits.__doc__
    assert "convex" in SigmoidUnits.__doc__


@pytest.mark.covers("em-line-with-outliers")
def test_000_exercise_9_5_a_line_among_uniform_outliers(rng):
    """sigma = 0.001 and U(0, 10) are given; half of the rows lie on the line."""
    x = rng.uniform(0, 10, 60)
    on_line = np.arange(60) < 40
    y = np.where(on_line, 0.7 * x + 1 + 0.001 * rng.normal(size=60), rng.uniform(0, 10, 60))
    model = LineWithOutliers(0.001, (0.0, 10.0), n_init=200, random_state=0).fit(x[:, None], y)
    np.testing.assert_allclose([model.coef_[0], model.intercept_], [0.7, 1.0], atol=0.005)
    assert model.share_ == pytest.approx(40 / 60, abs=0.05)
