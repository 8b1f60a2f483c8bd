"""Worked examples and claims of the texts about boosted trees, stumps and the ANOVA expansion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gnomon.ensemble import AdaBoostClassifier
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    anova_expansion,
    decision_stump,
    regression_stump,
    shrinkage_table,
)

# 001's regression tree (A14) and its boosting (A16)
X = np.arange(1.0, 9.0)[:, None]
Y = np.array([1.0, 1.2, 0.8, 1.0, 5.0, 5.2, 4.8, 9.0])


def stumps(loss="squared_error", rate=1.0, rounds=3):
    return HistGradientBoostingRegressor(
        loss, max_iter=rounds, learning_rate=rate, max_leaf_nodes=2, min_samples_leaf=1
    ).fit(X, Y)


@pytest.mark.covers("gradient-tree-boosting", "boosted-residual-trees")
def test_three_rounds_of_stumps_on_the_eight_points_of_001():
    model = stumps()
    assert model.baseline_[0] == 3.5
    errors = [((Y - said) ** 2).sum() for said in model.staged_predict(X)]
    np.testing.assert_allclose(errors, [12.16, 1.874286, 0.404898], atol=5e-7)
    found = [(tree.threshold[0], *tree.value[1:, 0]) for tree in model.trees_]
    expected = [(4.5, -2.5, 2.5), (7.5, -0.428571, 3.0), (4.5, 0.428571, -0.428571)]
    np.testing.assert_allclose(found, expected, atol=5e-7)


@pytest.mark.covers("boosting-shrinkage")
def test_shrinkage_by_a_tenth_on_the_eight_points_of_001():
    errors = [((Y - said) ** 2).sum() for said in stumps(rate=0.1).staged_predict(X)]
    np.testing.assert_allclose(errors, [52.66, 44.965, 38.73205], atol=5e-7)


@pytest.mark.covers("gradient-tree-boosting")
def test_absolute_loss_on_the_eight_points_of_001():
    model = stumps("absolute_error", rounds=2)
    assert model.baseline_[0] == 3.0
    found = [(tree.threshold[0], *tree.value[1:, 0]) for tree in model.trees_]
    np.testing.assert_allclose(found, [(4.5, -2.0, 2.1), (7.5, 0.0, 3.9)], atol=1e-12)
    errors = [np.abs(Y - said).mean() for said in model.staged_predict(X)]
    np.testing.assert_allclose(errors, [0.6, 0.1125], atol=1e-12)


@pytest.mark.covers("gradient-tree-boosting")
def test_residuals_of_three_classes_in_001():
    y = np.array([0, 0, 1, 2])
    model = HistGradientBoostingClassifier(max_iter=1).fit(np.zeros((4, 1)), y)
    shares = np.exp(model.baseline_)
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25])
    residuals = np.eye(3)[y] - shares
    expected = [[0.5, -0.25, -0.25]] * 2 + [[-0.5, 0.75, -0.25], [-0.5, -0.25, 0.75]]
    np.testing.assert_allclose(residuals, expected)


@pytest.mark.covers("boosted-residual-trees")
@pytest.mark.parametrize("init", ["zero", "prior"])
def test_trees_of_000b_are_fitted_to_what_the_trees_before_them_left(init, rng):
    rows = rng.normal(size=(150, 2))
    y = np.sin(2 * rows[:, 0]) * rows[:, 1] + 0.1 * rng.normal(size=150)
    model = HistGradientBoostingRegressor(
        max_iter=4, learning_rate=1.0, init=init, max_leaf_nodes=6, min_samples_leaf=1
    ).fit(rows, y)
    residual = y - (y.mean() if init == "prior" else 0.0)
    for stage in model.staged_predict(rows):
        tree = DecisionTreeRegressor(max_leaf_nodes=6).fit(rows, residual)
        residual = residual - tree.predict(rows)
        np.testing.assert_allclose(stage, y - residual, atol=1e-9)


@pytest.mark.covers("boosted-residual-trees")
def test_the_error_of_000b_falls_with_every_tree_and_ends_below_one_tree(rng):
    rows = rng.uniform(-2, 2, size=(400, 2))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2
    model = HistGradientBoostingRegressor(
        max_iter=50, learning_rate=1.0, init="zero", max_leaf_nodes=8
    ).fit(rows, y)
    errors = [((y - said) ** 2).mean() for said in model.staged_predict(rows)]
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] < errors[3] < errors[0]


def exhaustive_stump(rows, h):
    """Least sum of h times answers over all columns, cuts and signs."""
    best = np.inf
    for j in range(rows.shape[1]):
        values = np.unique(rows[:, j])
        for t in (values[1:] + values[:-1]) / 2:
            best = min(best, *(h @ np.where(rows[:, j] > t, s, -s) for s in (1, -1)))
    return best


@pytest.mark.covers("decision-stump")
def test_the_stump_of_procedure_12_4_is_the_best_of_all_and_never_positive(rng):
    for _ in range(20):
        rows = np.round(rng.normal(size=(15, 3)), 1)
        h = rng.normal(size=15)
        stump = decision_stump(rows, h)
        assert stump.objective == pytest.approx(exhaustive_stump(rows, h))
        assert h @ stump.predict(rows) == pytest.approx(stump.objective)
        assert stump.objective <= 0


@pytest.mark.covers("decision-stump")
def test_random_directions_find_an_oblique_step_and_few_rows_may_be_searched(rng):
    rows = rng.normal(size=(300, 2))
    y = np.where(rows[:, 0] + rows[:, 1] > 0, 1, -1)
    axes = decision_stump(rows, -y / 300)
    oblique = decision_stump(rows, -y / 300, directions=200, random_state=0)
    assert oblique.objective < axes.objective
    assert (oblique.predict(rows) == y).mean() > 0.93
    few = decision_stump(rows, -y / 300, subsample=100, random_state=0)
    assert (few.predict(rows) == y).mean() > 0.6


@pytest.mark.covers("decision-stump")
def test_a_tree_of_depth_one_is_the_weighted_stump_of_002(rng):
    for _ in range(10):
        rows, y = rng.normal(size=(30, 3)), rng.choice([-1, 1], 30)
        weights = rng.integers(1, 6, 30).astype(float)
        stump = decision_stump(rows, -weights * y)
        tree = DecisionTreeClassifier(max_depth=1, criterion="misclassification")
        wrong = weights[tree.fit(rows, y, weights).predict(rows) != y].sum()
        # the tree may also answer with one class on both sides, where that errs less
        one_class = min(weights[y == 1].sum(), weights[y == -1].sum())
        by_stump = (weights.sum() + stump.objective) / 2
        assert min(wrong, one_class) == pytest.approx(min(by_stump, one_class))


@pytest.mark.covers("regression-stump")
def test_the_regression_stump_of_problem_12_3_is_the_best_of_all(rng):
    for _ in range(20):
        rows, y = np.round(rng.normal(size=(14, 2)), 1), rng.normal(size=14)
        weights = rng.uniform(0.5, 3, 14)
        stump = regression_stump(rows, y, weights)
        best = np.inf
        for j in range(2):
            for t in np.unique(rows[:, j])[:-1]:
                sides = rows[:, j] <= t, rows[:, j] > t
                means = [np.average(y[s], weights=weights[s]) for s in sides]
                gap = y - np.where(sides[0], *means)
                best = min(best, weights @ gap**2)
        assert stump.squared_error == pytest.approx(best)
        gap = y - stump.predict(rows)
        assert weights @ gap**2 == pytest.approx(best)
        alone = regression_stump(rows, y, weights, column=1)
        assert alone.column == 1
        assert alone.squared_error >= best - 1e-12


@pytest.mark.covers("regression-stump")
def test_the_first_stump_of_001_parts_the_eight_points_at_four_and_a_half():
    stump = regression_stump(X, Y)
    assert (stump.threshold, stump.left, stump.right) == (4.5, 1.0, 6.0)
    assert stump.squared_error == pytest.approx(12.16)
    tree = DecisionTreeRegressor(max_depth=1).fit(X, Y)
    np.testing.assert_allclose(tree.predict(X), stump.predict(X))


@pytest.mark.covers("boosted-trees-exponential")
def test_scaled_stumps_with_exponential_loss_take_the_steps_of_adaboost(rng):
    rows = rng.normal(size=(120, 3))
    y = np.where(rows[:, 0] + rows[:, 1] + 0.8 * rng.normal(size=120) > 0, 1, -1)
    model = HistGradientBoostingClassifier(
        "exponential", scaled_trees=True, init="zero", max_iter=6, learning_rate=1.0,
        max_leaf_nodes=2, min_samples_leaf=1, min_hessian_leaf=0.0,
    ).fit(rows, y)  # fmt: skip
    F = np.zeros(120)
    for tree in model.trees_:
        w = np.exp(-y * F)
        answers = np.sign(tree.predict(rows)[:, 0])
        error = w[answers != y].sum() / w.sum()
        step = 0.5 * np.log((1 - error) / error)
        np.testing.assert_allclose(np.abs(tree.value[1:, 0]), step, rtol=1e-6)
        # the line search leaves the last tree with half of the new weight
        F += step * answers
        after = np.exp(-y * F)
        assert after[answers != y].sum() == pytest.approx(after.sum() / 2, rel=1e-6)


@pytest.mark.covers("boosted-trees-exponential")
def test_the_first_scaled_stump_is_the_first_of_adaboost_where_both_choose_the_same(rng):
    rows = rng.normal(size=(200, 2))
    y = np.where(rows[:, 0] > 0.1, 1, -1)
    y[rng.choice(200, 20, replace=False)] *= -1
    one = HistGradientBoostingClassifier(
        "exponential", scaled_trees=True, init="zero", max_iter=1, learning_rate=1.0,
        max_leaf_nodes=2, min_samples_leaf=1,
    ).fit(rows, y)  # fmt: skip
    other = AdaBoostClassifier(n_estimators=1).fit(rows, y)
    error = np.mean(one.predict(rows) != y)
    # by least squares and by least error a cut may be chosen differently, at much the same error
    assert error == pytest.approx(np.mean(other.predict(rows) != y), abs=0.03)
    assert abs(one.trees_[0].value[1, 0]) == pytest.approx(0.5 * np.log((1 - error) / error))


@pytest.mark.covers("boosted-trees-exponential")
def test_unscaled_leaves_of_001_are_half_the_weighted_log_odds(rng):
    rows = rng.normal(size=(200, 2))
    y = np.where(rows[:, 0] + rng.normal(size=200) > 0, 1, -1)
    model = HistGradientBoostingClassifier(
        "exponential", max_iter=3, learning_rate=1.0, max_leaf_nodes=4
    ).fit(rows, y)
    F = np.full(200, model.baseline_[0])
    assert F[0] == pytest.approx(0.5 * np.log((y == 1).sum() / (y == -1).sum()))
    for tree in model.trees_:
        w, leaves = np.exp(-y * F), tree.apply(rows)
        for leaf in np.unique(leaves):
            here = leaves == leaf
            up, down = w[here & (y == 1)].sum(), w[here & (y == -1)].sum()
            if min(up, down) > 0:
                expected = 0.5 * np.log(up / down)
                assert tree.value[leaf, 0] == pytest.approx(expected, rel=1e-6, abs=1e-9)
        F = F + tree.value[leaves, 0]


@pytest.mark.covers("boosted-trees-exponential")
def test_a_leaf_of_one_class_has_a_finite_value():
    rows = np.arange(8.0)[:, None]
    model = HistGradientBoostingClassifier(
        "exponential", max_iter=5, learning_rate=1.0, min_samples_leaf=1
    ).fit(rows, rows[:, 0] > 3)
    assert np.isfinite(model.decision_function(rows)).all()
    assert model.score(rows, rows[:, 0] > 3) == 1.0


@pytest.mark.covers("boosting-shrinkage")
def test_smaller_rates_of_001_need_more_rounds(rng):
    rows = rng.normal(size=(900, 5))
    y = rows[:, 0] + rows[:, 1] * rows[:, 2] + rng.normal(size=900)
    found = shrinkage_table(
        HistGradientBoostingRegressor(max_iter=150), rows[:400], y[:400], rows[400:], y[400:],
        [1.0, 0.3, 0.05],
    )  # fmt: skip
    assert found.best_rounds[0] < found.best_rounds[1] < found.best_rounds[2]
    assert found.losses[2].value < found.losses[0].value
    for curve, best, loss in zip(found.curves, found.best_rounds, found.losses):
        assert loss.value == pytest.approx(curve[best - 1], rel=1e-9)
        assert best == np.argmin(curve) + 1


@pytest.mark.covers("stochastic-gradient-boosting")
def test_half_of_the_rows_a_round_learn_as_well_as_all_in_001(rng):
    rows = rng.normal(size=(3000, 5))
    y = rows[:, 0] + rows[:, 1] * rows[:, 2] + rng.normal(size=3000)
    errors = {}
    for share in (0.5, 1.0):
        model = HistGradientBoostingRegressor(subsample=share, random_state=0)
        model.fit(rows[:1500], y[:1500])
        errors[share] = ((y[1500:] - model.predict(rows[1500:])) ** 2).mean()
    assert errors[0.5] < 1.1 * errors[1.0]


@pytest.mark.covers("histogram-boosting-early-stop", "boosting-early-stopping")
def test_deep_trees_of_000b_with_a_small_step_and_early_stopping_beat_a_full_step(rng):
    rows = rng.normal(size=(1500, 4))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.7 * rng.normal(size=1500)
    train, watch, test = slice(0, 500), slice(500, 900), slice(900, 1500)
    full = HistGradientBoostingRegressor(learning_rate=1.0, max_depth=4).fit(rows[train], y[train])
    small = HistGradientBoostingRegressor(
        max_iter=500,
        learning_rate=0.1,
        max_depth=8,
        n_iter_no_change=100,
        early_stopping=True,
        restore_best=True,
    ).fit(rows[train], y[train], X_val=rows[watch], y_val=y[watch])
    assert small.score(rows[test], y[test]) > full.score(rows[test], y[test])
    assert small.n_estimators_ == small.best_round_ < 500


@pytest.mark.covers("anova-expansion")
def test_trees_of_two_leaves_have_main_effects_only_and_of_three_pairs_only(rng):
    rows = rng.uniform(-1, 1, size=(600, 3))
    y = rows[:, 0] + rows[:, 1] * rows[:, 2] + rows[:, 0] * rows[:, 1] * rows[:, 2]
    for leaves in (2, 3):
        model = HistGradientBoostingRegressor(max_leaf_nodes=leaves).fit(rows, y)
        found = anova_expansion(model, rows, max_rows=60)
        # the expansion up to this order is the model itself
        total = found.mean + sum(found.main.values())
        if leaves == 3:
            total = total + sum(found.pairs.values())
        gap = model.predict(rows[found.places]) - total
        assert np.ptp(gap) < 1e-9
        strongest = max(H.value for H in found.h_statistic.values())
        assert strongest < 1e-6 if leaves == 2 else strongest > 0.3


@pytest.mark.covers("anova-expansion")
def test_shares_of_a_known_function_of_independent_columns():
    grid = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))

    class Known:
        def predict(self, X):
            return 5 + 2 * X[:, 0] + X[:, 1] * X[:, 2] + 3 * X[:, 0] * X[:, 1] * X[:, 2]

    found = anova_expansion(Known(), grid)
    # orthogonal terms: variances 4, 1 and 9 of 14
    assert found.mean == pytest.approx(5)
    assert found.variance == pytest.approx(14)
    assert found.shares["x0"].value == pytest.approx(4 / 14)
    assert found.shares["x1"].value == pytest.approx(0, abs=1e-12)
    assert found.shares["x1", "x2"].value == pytest.approx(1 / 14)
    assert found.shares["x0", "x1"].value == pytest.approx(0, abs=1e-12)
    assert found.rest == pytest.approx(9 / 14)
    assert found.h_statistic["x1", "x2"].value == pytest.approx(1)
    assert found.h_statistic["x0", "x1"].value == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(found.main["x0"], 2 * grid[:, 0])
    np.testing.assert_allclose(found.pairs["x1", "x2"], grid[:, 1] * grid[:, 2], atol=1e-12)
