"""MARS: every step is the best of all pairs, every removal the least missed; by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linear import MARS
from gnomon.linear.mars import Grower, gcv, knots_of, pruned


def squared_error(design: np.ndarray, target: np.ndarray) -> float:
    coef = np.linalg.lstsq(design, target, rcond=None)[0]
    return float(((target - design @ coef) ** 2).sum())


def grower(rows, y, weights, max_degree: int) -> Grower:
    made = Grower(rows, y, weights, 15, max_degree, 1)
    made.knots = knots_of(made.columns, made.orders, weights, 20)
    return made


@pytest.mark.covers("mars")
@pytest.mark.parametrize("max_degree", [1, 2])
def test_each_step_lowers_the_error_as_much_as_the_best_of_all_pairs(max_degree, rng):
    rows = rng.normal(size=(70, 3))
    y = np.abs(rows[:, 0]) * np.maximum(rows[:, 1], 0) + 0.2 * rng.normal(size=70)
    weights = rng.integers(1, 4, 70).astype(float)
    growing = grower(rows, y, weights, max_degree)
    for _ in range(3):
        design, target = growing.design().copy(), growing.target
        best = np.inf
        for parent, term in enumerate(growing.terms):
            for column in range(3):
                if len(term) == max_degree or column in [factor.column for factor in term]:
                    continue
                for knot in growing.knots[column][np.isfinite(growing.knots[column])]:
                    gap = rows[:, column] - knot
                    pair = [design[:, parent] * np.maximum(side * gap, 0) for side in (1, -1)]
                    best = min(best, squared_error(np.column_stack([design, *pair]), target))
        assert growing.step()
        found = growing.error() * weights.sum()
        np.testing.assert_allclose(found, best, rtol=1e-6)
        np.testing.assert_allclose(found, squared_error(growing.design(), target), rtol=1e-6)


@pytest.mark.covers("mars")
def test_pruning_removes_the_least_missed_term_at_every_size(rng):
    design = np.column_stack([np.ones(40), rng.normal(size=(40, 5))])
    target = design @ [1.0, 3.0, 0.0, 0.2, 0.0, 1.0] + 0.5 * rng.normal(size=40)
    found = pruned(design, target, 40.0, 2.0)
    kept, path = found.kept, found.path
    left = list(range(6))
    models = {6: left.copy()}
    while len(left) > 1:
        errors = {j: squared_error(design[:, [k for k in left if k != j]], target) for j in left}
        errors.pop(0)
        left.remove(min(errors, key=lambda j: errors[j]))
        models[len(left)] = left.copy()
    for size, value in path:
        expected = gcv(squared_error(design[:, models[int(size)]], target), int(size), 40.0, 2.0)
        np.testing.assert_allclose(value, expected, rtol=1e-8)
    assert kept == models[int(path[path[:, 1].argmin(), 0])]
    np.testing.assert_allclose(found.error, squared_error(design[:, kept], target))


@pytest.mark.covers("mars")
def test_a_function_of_hinges_is_found_exactly(rng):
    rows = rng.uniform(0, 10, (300, 3))
    model = MARS(max_knots=300, threshold=0.0).fit(rows, 2 * rows[:, 1] - 3)
    np.testing.assert_allclose(model.predict(rows), 2 * rows[:, 1] - 3, atol=1e-7)
    grid = np.repeat(np.arange(50.0), 4)[:, None]
    y = 5 - 2 * np.maximum(grid[:, 0] - 20, 0) + np.maximum(20 - grid[:, 0], 0)
    model = MARS(max_knots=100).fit(grid, y)
    np.testing.assert_allclose(model.predict(grid), y, atol=1e-7)


@pytest.mark.covers("mars")
def test_the_anova_table_says_which_columns_act(rng):
    rows = rng.uniform(-1, 1, (600, 6))
    y = 4 * np.abs(rows[:, 0]) + 2 * (rows[:, 1] + 1) * (rows[:, 2] + 1)
    y += 0.1 * rng.normal(size=600)
    model = MARS(max_degree=2).fit(rows, y)
    table = model.anova_
    without = dict(zip(table.columns, table.gcv_without))
    acting = min(without["x0"], without["x1 x x2"])
    idle = [v for name, v in without.items() if any(c in name for c in ("x3", "x4", "x5"))]
    assert acting > 3 * table.gcv
    assert max(idle, default=0.0) < acting
    assert min(table.gcv_without) >= table.gcv * (1 - 1e-9)
    assert model.score(rows, y) > 0.97


@pytest.mark.covers("mars")
def test_an_additive_model_has_no_term_of_two_columns(rng):
    rows = rng.normal(size=(200, 3))
    y = (rows[:, 0] + 2) * (rows[:, 1] + 2) + rows[:, 2]
    assert MARS(max_degree=1).fit(rows, y).columns_.shape[1] == 1
    interacting = MARS(max_degree=2).fit(rows, y)
    assert ((interacting.columns_ >= 0).sum(axis=1) == 2).any()
    assert interacting.score(rows, y) > MARS().fit(rows, y).score(rows, y)


@pytest.mark.covers("mars")
def test_the_terms_in_words_evaluate_to_the_predictions(rng):
    rows = rng.normal(50, 20, size=(150, 2))
    y = np.maximum(rows[:, 0] - 40, 0) * np.maximum(60 - rows[:, 1], 0)
    model = MARS(max_degree=2).fit(rows, y)
    names = {"x0": rows[:, 0], "x1": rows[:, 1], "max": np.maximum}
    said = sum(c * eval(term, names) for term, c in model.terms().items())
    np.testing.assert_allclose(said, model.predict(rows), rtol=1e-2, atol=1e-2 * np.ptp(y))


@pytest.mark.covers("mars")
def test_units_of_columns_and_target_change_nothing(rng):
    rows = rng.normal(size=(120, 2))
    y = np.sin(2 * rows[:, 0]) + 0.1 * rng.normal(size=120)
    plain = MARS().fit(rows, y)
    scaled = MARS().fit(rows * [1024.0, 0.125] + [64.0, 0.0], 16 * y)
    there = rows * [1024.0, 0.125] + [64.0, 0.0]
    np.testing.assert_allclose(scaled.predict(there), 16 * plain.predict(rows), atol=1e-5)


@pytest.mark.covers("mars")
def test_the_error_falls_with_every_pair_and_gcv_is_that_of_the_kept_terms(rng):
    rows = rng.normal(size=(150, 3))
    y = np.sin(rows[:, 0]) + rows[:, 1] ** 2 + 0.3 * rng.normal(size=150)
    model = MARS().fit(rows, y)
    assert (np.diff(np.asarray(model.history_)) <= 1e-12).all()
    error = ((y - model.predict(rows)) ** 2).sum()
    np.testing.assert_allclose(model.gcv_, gcv(error, len(model.coef_), 150.0, 2.0), rtol=1e-6)


@pytest.mark.covers("mars")
def test_gcv_without_a_part_is_that_of_a_fit_without_it(rng):
    rows = rng.normal(size=(150, 3))
    y = np.sin(rows[:, 0]) + rows[:, 1] ** 2 + 0.3 * rng.normal(size=150)
    model = MARS().fit(rows, y)
    design = model._design(rows)
    for part, value in zip(model.anova_.columns, model.anova_.gcv_without):
        left = design[:, model.columns_[:, 0] != int(part[1:])]
        expected = gcv(squared_error(left, y), left.shape[1], 150.0, 2.0)
        np.testing.assert_allclose(value, expected, rtol=1e-6)
