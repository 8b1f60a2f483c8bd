"""Gradient boosting as good as LightGBM's and scikit-learn's at the same settings."""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
from threadpoolctl import threadpool_limits

from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor

SETTINGS = {"max_iter": 40, "learning_rate": 0.1, "min_samples_leaf": 20, "n_jobs": 1}
N_TABLES = 6


def lightgbm_settings(**more):
    return {
        "n_estimators": 40,
        "learning_rate": 0.1,
        "num_leaves": 31,
        "min_child_samples": 20,
        "n_jobs": 1,
        "verbose": -1,
        **more,
    }


def numbers(rng, n=2000):
    rows = rng.normal(size=(n, 8))
    signal = np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + (rows[:, 3] > 0.5)
    return rows, signal


def assert_no_worse(models, problem, loss, rng) -> None:
    """Our mean loss on fresh rows exceeds no peer's beyond noise, over several tables.

    ``models`` are ours and the peers; ``problem(rng)`` gives a table and target.
    """
    logs = []
    for _ in range(N_TABLES):
        rows, y = problem(rng)
        half = len(y) // 2
        # threads of a small fit mostly wait for each other on a busy machine
        with threadpool_limits(1):
            fitted = [model.fit(rows[:half], y[:half]) for model in models]
            logs.append(np.log([loss(model, rows[half:], y[half:]) for model in fitted]))
    gaps = np.array(logs)[:, :1] - np.array(logs)[:, 1:]
    error = gaps.std(axis=0, ddof=1) / np.sqrt(N_TABLES)
    assert (gaps.mean(axis=0) < 0.02 + 5 * error).all(), gaps


def squared(model, rows, y):
    return np.mean((model.predict(rows) - y) ** 2)


def deviance(model, rows, y):
    return -np.log(model.predict_proba(rows)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_numbers_are_predicted_as_well_as_by_both(noise, rng):
    def problem(rng):
        rows, signal = numbers(rng)
        return rows, signal + noise * rng.normal(size=len(rows))

    models = [
        HistGradientBoostingRegressor(**SETTINGS),
        lightgbm.LGBMRegressor(**lightgbm_settings()),
        peer.HistGradientBoostingRegressor(max_iter=40, early_stopping=False),
    ]
    assert_no_worse(models, problem, squared, rng)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_as_good_as_those_of_both(n_classes, rng):
    def problem(rng):
        rows, signal = numbers(rng)
        noisy = signal + 0.5 * rng.normal(size=len(rows))
        borders = np.quantile(noisy, np.linspace(0, 1, n_classes + 1)[1:-1])
        return rows, np.searchsorted(borders, noisy)

    models = [
        HistGradientBoostingClassifier(**SETTINGS),
        lightgbm.LGBMClassifier(**lightgbm_settings()),
        peer.HistGradientBoostingClassifier(max_iter=40, early_stopping=False),
    ]
    assert_no_worse(models, problem, deviance, rng)


def test_missing_cells_and_categories_are_used_as_well_as_by_lightgbm(rng):
    def problem(rng):
        rows, signal = numbers(rng)
        levels = rng.integers(0, 12, len(rows))
        y = signal + rng.normal(size=12)[levels] + 0.3 * rng.normal(size=len(rows))
        rows[rng.random(rows.shape) < 0.1] = np.nan
        frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(8)])
        return frame.assign(confidence_level=pd.Categorical([f"l{k}" for k in levels])), y

    models = [
        HistGradientBoostingRegressor(**SETTINGS),
        lightgbm.LGBMRegressor(**lightgbm_settings()),
    ]
    assert_no_worse(models, problem, squared, rng)


def poisson(model, rows, y):
    said = model.predict(rows)
    return np.mean(said - y * np.log(said)) + 3.0


def gamma(model, rows, y):
    said = model.predict(rows)
    return np.mean(y / said + np.log(said)) + 3.0


def absolute(model, rows, y):
    return np.mean(np.abs(model.predict(rows) - y))


def pinball(model, rows, y):
    gap = y - model.predict(rows)
    return np.mean(np.maximum(0.9 * gap, -0.1 * gap))


@pytest.mark.parametrize(
    ("loss", "theirs", "measure"),
    [
        ("absolute_error", "l1", absolute),
        ("quantile", "quantile", pinball),
        ("poisson", "poisson", poisson),
        ("gamma", "gamma", gamma),
    ],
)
def test_other_losses_are_lowered_as_far_as_by_lightgbm(loss, theirs, measure, rng):
    def problem(rng):
        rows, signal = numbers(rng)
        mean = np.exp(0.5 * signal)
        y = {
            "absolute_error": signal + rng.standard_t(2, size=len(rows)),
            "quantile": signal + rng.normal(size=len(rows)),
            "poisson": rng.poisson(mean).astype(float),
            "gamma": rng.gamma(2.0, mean / 2) + 1e-3,
        }[loss]
        return rows, y

    models = [
        HistGradientBoostingRegressor(loss, **SETTINGS),
        lightgbm.LGBMRegressor(**lightgbm_settings(objective=theirs)),
    ]
    assert_no_worse(models, problem, measure, rng)


def test_the_same_trees_as_lightgbm_where_every_value_has_its_bin(rng):
    rows, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    ours = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=6, min_samples_leaf=5)
    theirs = lightgbm.LGBMRegressor(
        **lightgbm_settings(n_estimators=5, num_leaves=6, min_child_samples=5, min_data_in_bin=1)
    )
    said = ours.fit(rows, y).predict(rows), theirs.fit(rows, y).predict(rows)
    # they keep gradients in single precision
    np.testing.assert_allclose(said[0], said[1], atol=1e-4)
