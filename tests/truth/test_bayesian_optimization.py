"""Bayesian optimization: expected improvement by simulation, few evaluations, mixed spaces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process.kernels import Matern

from gnomon.bayes import BayesianOptimization, Kriging
from gnomon.bayes.surface import Surface, groups_of, log_gain, negative_log_likelihood
from gnomon.optimize import Categorical, Integer, Real, Space, minimize
from gnomon.optimize.surrogate import expected_improvement


def branin(x):
    a, b = x
    valley = b - 5.1 / (4 * np.pi**2) * a * a + 5 / np.pi * a - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


@pytest.mark.covers("bayesian-optimisation")
def test_expected_improvement_equals_simulation(rng):
    mean, std, best = rng.normal(), rng.uniform(0.1, 2), rng.normal()
    draws = mean + std * rng.normal(size=400_000)
    simulated = np.maximum(best - draws, 0)
    error = simulated.std() / np.sqrt(len(draws))
    found = expected_improvement(np.array([mean]), np.array([std]), best)[0]
    assert abs(found - simulated.mean()) < 5 * error


@pytest.mark.covers("bayesian-optimisation")
def test_planned_evaluations_beat_as_many_random_ones(seed):
    space = [(-5, 10), (0, 15)]
    search = BayesianOptimization(Kriging("matern", nugget=0, standardize=False, n_jobs=1))
    planned = minimize(branin, space, search, max_evaluations=20, random_state=seed)
    drawn = [
        minimize(branin, space, "random", max_evaluations=20, random_state=seed + k).fun
        for k in range(9)
    ]
    assert planned.fun < np.median(drawn)
    assert any(each.name == "expected improvement" for each in planned.history.changes)


@pytest.mark.covers("bayesian-optimisation")
def test_mixed_spaces_and_several_proposals_at_once(seed):
    space = {"x": (0.0, 1.0), "n": Integer(1, 3), "kind": ["a", "b"]}
    seen = []

    def cost(point):
        seen.append(repr(point))
        return (point["x"] - 0.5) ** 2 + (point["n"] - 2) ** 2 + (point["kind"] == "a")

    found = minimize(
        cost, space, BayesianOptimization(batch_size=3, n_initial=9), max_evaluations=18,
        random_state=seed,
    )  # fmt: skip
    assert found.nfev == 18
    assert len(set(seen[9:])) == 9  # no proposal twice
    assert found.fun < 1.1
    by_name = minimize(
        lambda x: x[0] ** 2, [(-1, 1)], "bayesian-optimization", max_evaluations=5, random_state=0
    )
    assert by_name.method == "bayesian-optimization"


MIXED = Space({"x": Real(0, 1), "n": Integer(0, 9), "kind": Categorical(["a", "b", "c"])})


def surface_of(rng, n=12):
    units = np.array([MIXED.encode(MIXED.sample(rng)) for _ in range(n)])
    targets = np.sin(5 * units[:, 0]) + units[:, 1] + (units[:, 2] > 0.5)
    return Surface(units, targets, groups_of(MIXED)), units, targets


@pytest.mark.covers("bayesian-optimisation")
def test_surface_equals_conditional_normal_distribution(rng):
    surface, units, targets = surface_of(rng)
    place = MIXED.encode(MIXED.sample(rng))[None]
    scaled = np.vstack([units, place]) * np.sqrt(surface.weights)
    joint = surface.scale * Matern(nu=2.5)(scaled)
    joint[:-1, :-1] += (np.exp(surface.theta[-1]) + 1e-6) * np.eye(len(units))
    weights = np.linalg.solve(joint[:-1, :-1], joint[:-1, -1])
    mean, std = surface.predict(place, return_std=True)
    level = targets.mean()
    assert mean[0] == pytest.approx(level + weights @ (targets - level), abs=1e-6)
    assert std[0] ** 2 == pytest.approx(joint[-1, -1] - weights @ joint[:-1, -1], abs=1e-6)


@pytest.mark.covers("bayesian-optimisation")
def test_likelihood_of_the_surface_and_its_gradient(rng):
    _, units, targets = surface_of(rng)
    squares = (units[:, None] - units) ** 2 @ groups_of(MIXED)
    residual, theta = targets - targets.mean(), rng.normal(size=5) - [0, 0, 0, 0, 3]
    value, slope = negative_log_likelihood(theta, squares, residual)
    scaled = units * np.sqrt(groups_of(MIXED) @ np.exp(theta[:3]))
    covariance = np.exp(theta[3]) * Matern(nu=2.5)(scaled)
    covariance += (np.exp(theta[4]) + 1e-6) * np.eye(len(units))
    exact = -multivariate_normal(np.zeros(len(units)), covariance).logpdf(residual)
    assert value + len(units) / 2 * np.log(2 * np.pi) == pytest.approx(exact, rel=1e-6)
    numeric = approx_fprime(theta, lambda t: negative_log_likelihood(t, squares, residual)[0], 1e-6)
    assert slope == pytest.approx(numeric, rel=1e-3, abs=1e-2)


@pytest.mark.covers("bayesian-optimisation")
def test_log_of_expected_improvement_and_its_gradient(rng):
    surface, _, targets = surface_of(rng)
    best = float(targets.min())
    place = MIXED.encode(MIXED.sample(rng))
    value, slope = surface.log_improvement(place, best)
    mean, std = surface.predict(place[None], return_std=True)
    gain = expected_improvement(mean, std, best)[0]
    if gain > 1e-12:
        assert value == pytest.approx(np.log(gain), abs=1e-4)
    numeric = approx_fprime(place, lambda x: surface.log_improvement(x, best)[0], 1e-7)
    assert slope == pytest.approx(numeric, rel=1e-2, abs=1e-2 * (1 + abs(value)))


@pytest.mark.covers("bayesian-optimisation")
def test_log_gain_equals_its_integral_and_stays_finite_far_out():
    for z in (-5.0, -1.0, -0.1, 0.0, 0.5, 3.0):
        exact = quad(lambda t, z=z: (z - t) * norm.pdf(t), -12, z, epsabs=1e-15)[0]
        value, slope = log_gain(np.array([z]))
        assert value[0] == pytest.approx(np.log(exact), abs=1e-6)
        assert slope[0] == pytest.approx(norm.cdf(z) / exact, rel=1e-5)
    far = np.array([-1e2, -9.9e3, -1.1e4, -1e6])
    value, slope = log_gain(far)
    assert value == pytest.approx(-(far**2) / 2 - 2 * np.log(-far) - 0.9189385, rel=1e-6)
    assert slope == pytest.approx(-far, rel=1e-3)


@pytest.mark.covers("bayesian-optimisation")
def test_constraints_and_noise_do_not_stop_bayesian_optimization(seed):
    noise = np.random.default_rng(seed)
    found = minimize(
        lambda x: float(((x - 0.7) ** 2).sum() + 0.01 * noise.normal()),
        [(0, 1)] * 2,
        "bayesian-optimization",
        constraints=[lambda x: x.sum() - 1],
        max_evaluations=20,
        random_state=seed,
    )
    assert found.x.sum() <= 1 + 1e-9
    assert found.fun < 0.25
