"""Data of the duels: made by formula, the same on both sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SEED = 7


class Labelled(NamedTuple):
    rows: np.ndarray
    y: np.ndarray
    test_rows: np.ndarray
    test_y: np.ndarray


def clouds(n: int, d: int, k: int) -> np.ndarray:
    """Gaussian clouds with random centres and shapes, overlapping a little."""
    rng = np.random.default_rng(SEED)
    centers = rng.normal(0, 4, (k, d))
    shapes = rng.normal(0, 1, (k, d, d)) / np.sqrt(d)
    group = rng.integers(0, k, n)
    noise = rng.normal(size=(n, d))
    rows = centers[group]
    for each in range(k):
        rows[group == each] += noise[group == each] @ (np.eye(d) + shapes[each])
    return rows


def classes(n: int, d: int, k: int = 2) -> Labelled:
    """Classes that depend on a third of the columns, by products and bends as well as slopes."""
    rng = np.random.default_rng(SEED)
    useful = max(d // 3, 2)
    n_test = min(20_000, max(n // 5, 1000))
    rows = rng.normal(size=(n + n_test, d))
    slopes = rng.normal(size=(useful, k))
    scores = rows[:, :useful] @ slopes
    scores += np.sin(2 * rows[:, :useful]) @ rng.normal(size=(useful, k))
    scores += (rows[:, :useful] * np.roll(rows[:, :useful], 1, axis=1)) @ slopes[::-1]
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return Labelled(rows[:n], y[:n], rows[n:], y[n:])


def line(n: int, d: int) -> Labelled:
    """A linear target with noise; columns of different scale, correlated."""
    rng = np.random.default_rng(SEED)
    n_test = min(20_000, max(n // 5, 1000))
    mix = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
    rows = rng.normal(size=(n + n_test, d)) @ mix * rng.uniform(0.5, 2, d)
    y = rows @ rng.normal(size=d) + 3 + rng.normal(size=n + n_test)
    return Labelled(rows[:n], y[:n], rows[n:], y[n:])


def bent(n: int, d: int) -> Labelled:
    """A target that bends and interacts (Friedman's function and idle columns)."""
    rng = np.random.default_rng(SEED)
    n_test = min(20_000, max(n // 5, 1000))
    rows = rng.uniform(size=(n + n_test, d))
    y = 10 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20 * (rows[:, 2] - 0.5) ** 2
    y += 10 * rows[:, 3] + 5 * rows[:, 4] + rng.normal(size=n + n_test)
    return Labelled(rows[:n], y[:n], rows[n:], y[n:])


def accuracy(model, data: Labelled) -> float:
    return float((model.predict(data.test_rows) == data.test_y).mean())


def r2(model, data: Labelled) -> float:
    error = ((model.predict(data.test_rows) - data.test_y) ** 2).mean()
    return float(1 - error / data.test_y.var())
