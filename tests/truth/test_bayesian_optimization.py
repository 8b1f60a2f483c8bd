"""Bayesian optimization: expected improvement by simulation, few evaluations, mixed spaces."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.bayes import BayesianOptimization, Kriging
from gnomon.optimize import Integer, minimize
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
