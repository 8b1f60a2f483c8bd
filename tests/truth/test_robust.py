"""Robust regression and scales against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from gnomon.linear import (
    LinearRegression,
    RobustRegression,
    huber_scale,
    mad_scale,
    proposal_2_constant,
)
from gnomon.linear.robust import ROBUST_LOSSES


@pytest.mark.covers("influence-function", "m-estimator-regression")
@pytest.mark.parametrize("name", sorted(ROBUST_LOSSES))
def test_the_influence_is_the_slope_of_the_loss(name, rng):
    loss, u = ROBUST_LOSSES[name], rng.uniform(-8, 8, size=50)
    c, step = loss.threshold, 1e-6
    slope = (loss.rho(u + step, c) - loss.rho(u - step, c)) / (2 * step)
    np.testing.assert_allclose(loss.influence(u), slope, atol=1e-5)
    assert loss.weight(np.zeros(1), c)[0] == 1.0


@pytest.mark.covers("m-estimator-regression")
@pytest.mark.parametrize("name", sorted(ROBUST_LOSSES))
def test_the_threshold_gives_95_per_cent_efficiency_on_normal_errors(name):
    """Asymptotic efficiency (E psi')^2 / E psi^2, and E psi' = E u psi for normal u."""
    psi = ROBUST_LOSSES[name].influence
    slope = integrate.quad(lambda u: u * psi(np.array(u)) * stats.norm.pdf(u), -10, 10)[0]
    square = integrate.quad(lambda u: psi(np.array(u)) ** 2 * stats.norm.pdf(u), -10, 10)[0]
    assert slope**2 / square == pytest.approx(0.95, abs=0.002)


@pytest.mark.covers("m-estimator-regression", "irls-random-starts")
def test_hubers_estimate_of_a_given_scale_is_the_minimum(rng):
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.standard_t(1.5, size=60)
    model = RobustRegression(scale=1.0, tol=1e-13, max_iter=2000).fit(X, y)
    loss = ROBUST_LOSSES["huber"]

    def total(theta):
        return loss.rho(y - theta[0] - X @ theta[1:], 1.345).sum()

    best = optimize.minimize(total, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    found = np.array([model.intercept_, *model.coef_])
    assert total(found) <= best.fun + 1e-8
    assert (np.diff(model.history_.objective) <= 1e-12).all()


@pytest.mark.covers("irls-random-starts")
def test_random_starts_see_through_outliers_of_high_leverage(rng):
    x = rng.uniform(0, 1, size=100)
    y = 2 * x + 0.05 * rng.normal(size=100)
    x[:30], y[:30] = 10 + rng.uniform(size=30), -20 + 0.05 * rng.normal(size=30)
    model = RobustRegression("tukey", n_init=100, random_state=0).fit(x[:, None], y)
    assert model.coef_[0] == pytest.approx(2, abs=0.3)
    assert LinearRegression().fit(x[:, None], y).coef_[0] < 0
    assert model.scale_ == min(model.starts_)


@pytest.mark.covers("huber-proposal-2-scale")
@pytest.mark.parametrize("bend", [1.0, 1.5, 2.0])
def test_proposal_2_solves_its_equation(bend, rng):
    residuals = rng.standard_t(2, size=80)
    scale = huber_scale(residuals, bend=bend)
    left = (np.minimum(np.abs(residuals / scale), bend) ** 2).sum()
    assert left == pytest.approx(80 * proposal_2_constant(bend), rel=1e-9)


@pytest.mark.covers("huber-proposal-2-scale")
def test_the_constants_of_proposal_2_are_those_of_the_atlas():
    found = [proposal_2_constant(bend) for bend in (1.5, 1.0, 2.0, np.inf)]
    np.testing.assert_allclose(found, [0.778465, 0.516059, 0.920537, 1.0], atol=5e-7)


@pytest.mark.covers("huber-proposal-2-scale")
def test_an_infinite_bend_gives_the_root_mean_square(rng):
    residuals = rng.normal(size=30)
    found = huber_scale(residuals, bend=np.inf)
    assert found == pytest.approx(np.sqrt((residuals**2).mean()))


@pytest.mark.covers("mad-scale", "huber-proposal-2-scale")
@pytest.mark.parametrize("scale", [mad_scale, huber_scale])
def test_weights_of_scales_are_repetitions_and_normal_errors_are_met(scale, rng):
    values = rng.normal(size=41)
    counts = rng.integers(1, 5, size=41)
    assert scale(values, counts) == pytest.approx(scale(np.repeat(values, counts)))
    assert scale(3 * rng.normal(size=20000)) == pytest.approx(3, rel=0.06)


def test_a_perfect_fit_of_most_rows_is_found_and_ends(rng):
    x = np.arange(20.0)[:, None]
    y = 3 * x[:, 0] + 1
    y[3] = 100
    model = RobustRegression("tukey", random_state=0).fit(x, y)
    assert model.coef_[0] == pytest.approx(3)
    assert model.scale_ == pytest.approx(0, abs=1e-9)
