"""Tests and intervals of the library that jobs and people call directly."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.bayes import Kriging
from gnomon.evaluate import cohen_kappa, corrected_t_test, mcnemar_test
from gnomon.evaluate.number_measures import mean_absolute_error, mean_squared_error, r_squared
from gnomon.linear import compare_groups
from gnomon.trees import RandomForestRegressor
from tests.truth.simulation.harness import Doubted, Outcome, simulation
from tests.truth.simulation.laws import FOR_INDEPENDENT, INDEPENDENT, LAWS, MORE_LAWS, columns
from tests.truth.simulation.learn import holds

MEAN_SIZES = {
    "normal": np.sqrt(2 / np.pi),
    "skewed": 2 / np.e,
    "heavy-tailed": 2 / np.pi,
    "discrete": 2 / np.e,
    "uniform": np.sqrt(3) / 2,
    "contaminated": np.sqrt(2 / np.pi) * 1.2 / np.sqrt(1.8),
}


@simulation(
    "library",
    "mean_squared_error",
    "r_squared",
    "mean_absolute_error",
    laws=FOR_INDEPENDENT,
    quick=40,
)
def measures(law: str, rng: np.random.Generator) -> Outcome:
    """Intervals of measures of 100 independent rows: errors of a law beside as much signal."""
    errors, signal = (MORE_LAWS[law](rng, 100) for _ in range(2))
    y = signal + errors
    return {
        "mean_squared_error": holds(mean_squared_error(y, signal), 1.0),
        "mean_absolute_error": holds(mean_absolute_error(y, signal), MEAN_SIZES[law]),
        "r_squared": holds(r_squared(y, signal), 0.5),
    }


RATERS = {
    "20 rows, class of 10%": (20, 0.1, 0.6),
    "40 rows, class of 5%": (40, 0.05, 0.6),
    "40 rows, class of 5%, kappa 0.9": (40, 0.05, 0.9),
    "80 rows, class of 2%": (80, 0.02, 0.6),
    "80 rows, class of 5%, kappa 0.9": (80, 0.05, 0.9),
    "160 rows, class of 5%, kappa 0.9": (160, 0.05, 0.9),
    "40 rows, equal classes": (40, 0.5, 0.6),
}


@simulation("library", "cohen_kappa", laws=tuple(RATERS), quick=40)
def raters(law: str, rng: np.random.Generator) -> Outcome:
    """Two labellings that agree beyond chance in a known share of rows; both classes are there."""
    n, share, kappa = RATERS[law]
    y = other = np.zeros(n)
    while y.sum() + other.sum() in (0, 2 * n):
        y = rng.random(n) < share
        other = np.where(rng.random(n) < kappa, y, rng.random(n) < share)
    return {"cohen_kappa": holds(cohen_kappa(y, other), kappa)}


@simulation("library", "corrected_t_test", "mcnemar_test", quick=10)
def equal_stumps(law: str, rng: np.random.Generator) -> Outcome:
    """Two stumps of exchangeable columns on ten folds, once; and two fixed rules."""
    n = 150
    y = LAWS[law](rng, n) > 0.2
    X = np.column_stack([y + 2 * LAWS[law](rng, n) for _ in range(2)])
    order = rng.permutation(n)
    if law == "grouped":
        order = (5 * rng.permutation(n // 5)[:, None] + np.arange(5)).ravel()
    scores = np.empty((2, 10))
    for fold, test in enumerate(np.array_split(order, 10)):
        train = np.setdiff1d(order, test)
        for j in range(2):
            scores[j, fold] = np.mean(stump(X[train, j], y[train], X[test, j]) == y[test])
    fixed = [X[:, j] > 0.5 for j in range(2)]
    on_folds, on_rows = corrected_t_test(*scores, 1 / 9), mcnemar_test(y, *fixed)
    in_time, alike = law == "autocorrelated", law not in INDEPENDENT
    return {
        "corrected_t_test": outcome(on_folds.p < 0.05, in_time and "in time" in str(on_folds)),
        "mcnemar_test": outcome(on_rows.p < 0.05, alike and "independent rows" in str(on_rows)),
    }


def outcome(value: bool, said: bool) -> bool | Doubted:
    """The outcome of a statement, doubted where the result says for which rows it is not."""
    return Doubted(value) if said else value


def stump(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The cut of a column that errs least on the training rows."""
    order = np.argsort(x, kind="stable")
    left = np.concatenate([[0], np.cumsum(np.where(y[order], -1, 1))])
    best = int(np.argmax(np.abs(left - left[-1] / 2)))
    cut = x[order[min(best, len(x) - 1)]]
    above = (left[best] - left[-1] / 2) > 0
    return (new >= cut) == above


@simulation("library", "compare_groups", quick=20)
def equal_lots(law: str, rng: np.random.Generator) -> Outcome:
    """Four lots about one trend; noise of a law."""
    x, lots = rng.normal(size=(120, 1)), rng.permutation(np.repeat(list("abcd"), 30))
    return {"compare_groups": bool(compare_groups(x, x[:, 0] + LAWS[law](rng, 120), lots).special)}


@simulation("library", "Kriging.predict_std", quick=2)
def surfaces(law: str, rng: np.random.Generator) -> Outcome:
    """A smooth surface measured with noise of a law at 60 places; the surface at 40 others."""
    sites = rng.random((100, 2))
    cover = np.exp(-cdist(sites, sites) / 0.3)
    surface = np.linalg.cholesky(cover + 1e-9 * np.eye(100)) @ rng.normal(size=100)
    measured = surface[:60] + 0.4 * LAWS[law](rng, 60)
    model = Kriging(n_jobs=1).fit(sites[:60], measured)
    half = 1.96 * model.predict_std(sites[60:])
    off = np.abs(model.predict(sites[60:]) - surface[60:])
    return {"Kriging.predict_std": float(np.mean(off <= half))}


@simulation("library", "RandomForestRegressor.predict_interval", quick=1)
def forests(law: str, rng: np.random.Generator) -> Outcome:
    """New rows in the bands of a forest of 200 rows."""
    X = columns("normal", rng, 400, 4)
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * LAWS[law](rng, 400)
    model = RandomForestRegressor(100, oob_score=True, n_jobs=1, random_state=0)
    low, high = model.fit(X[:200], y[:200]).predict_interval(X[200:])
    inside = (low <= y[200:]) & (y[200:] <= high)
    return {"RandomForestRegressor.predict_interval": float(inside.mean())}
