"""The grower against brute force: every split of every node must be one that cannot be beaten."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnomon.trees.binning import Binner
from gnomon.trees.grower import (
    GrowthRules,
    bootstrap_counts,
    class_statistics,
    grow_tree,
    value_statistics,
)
from gnomon.trees.tree import LEAF, Forest, Tree

CLASS_CRITERIA = ["gini", "entropy", "misclassification"]
CRITERIA = [*CLASS_CRITERIA, "squared_error"]


class Problem:
    """A small random table with numbers, categories, missing cells and weights, and a target."""

    def __init__(self, rng, criterion, n=24, n_classes=2, max_levels=6, n_outputs=1, missing=0.2):
        self.criterion = criterion
        self.n_classes = n_classes
        numbers = rng.integers(0, 6, (n, 2)).astype(float)
        levels = rng.integers(0, max_levels, (n, 2)).astype(float)
        self.rows = np.hstack([numbers, levels])
        self.rows[rng.random(self.rows.shape) < missing] = np.nan
        self.kinds = np.array([False, False, True, True])
        self.weights = rng.integers(0, 4, n).astype(float)
        self.weights[0] = 1.0
        self.labels = rng.integers(0, n_classes, n)
        self.values = np.round(rng.normal(size=(n, n_outputs)), 3)
        self.binned = Binner().fit(self.rows, self.weights, self.kinds).transform(self.rows)

    def statistics(self):
        if self.criterion in CLASS_CRITERIA:
            return class_statistics(self.labels, self.n_classes, self.weights)
        return value_statistics(self.values, self.weights)

    def grow(self, **rules) -> Tree:
        return grow_tree(self.binned, self.statistics(), GrowthRules(self.criterion, **rules))

    def cost(self, at: np.ndarray) -> float:
        """Weight times impurity of the rows `at`, straight from the definitions."""
        weight = self.weights[at]
        total = math.fsum(weight)
        if total == 0:
            return 0.0
        if self.criterion == "squared_error":
            means = np.average(self.values[at], axis=0, weights=weight)
            return math.fsum((weight[:, None] * (self.values[at] - means) ** 2).ravel())
        shares = np.bincount(self.labels[at], weight, self.n_classes) / total
        if self.criterion == "gini":
            return total * (1 - math.fsum(shares**2))
        if self.criterion == "misclassification":
            return total * (1 - shares.max())
        return -total * math.fsum(p * math.log2(p) for p in shares if p > 0)

    def sides(self, at: np.ndarray, feature: int):
        """Every way to part the rows `at` by one column, as the rows on the left."""
        column = self.rows[at, feature]
        absent = np.isnan(column)
        present = np.unique(column[~absent])
        if self.kinds[feature]:
            for size in range(len(present) + 1):
                for chosen in itertools.combinations(present, size):
                    left = np.isin(column, chosen)
                    yield left
                    yield left | absent
        else:
            for value in present:
                yield column <= value
                yield (column <= value) | absent

    def best_gain(self, at: np.ndarray) -> float:
        """The greatest gain of all splits with rows of some weight on both sides; -inf if none."""
        at = at[self.weights[at] > 0]
        best = -np.inf
        whole = self.cost(at)
        for feature in range(self.rows.shape[1]):
            for left in self.sides(at, feature):
                if left.any() and not left.all():
                    best = max(best, whole - self.cost(at[left]) - self.cost(at[~left]))
        return best

    def goes_left(self, tree: Tree, node: int, at: np.ndarray) -> np.ndarray:
        """The split of a node as `Tree` describes it, in plain words."""
        column = self.rows[at, tree.feature[node]]
        absent = np.isnan(column)
        if tree.category[node] == -1:
            left = column <= tree.threshold[node]
        else:
            words = tree.category_left[tree.category[node]]
            levels = np.where(absent, 0, column).astype(int)
            left = np.array([int(words[k // 64]) >> (k % 64) & 1 for k in levels.tolist()], bool)
        return np.where(absent, bool(tree.missing_left[node]), left)

    def rows_of_nodes(self, tree: Tree) -> list[np.ndarray]:
        """Rows with positive weight in every node."""
        rows: list[np.ndarray] = [np.empty(0, int)] * tree.n_nodes
        rows[0] = np.flatnonzero(self.weights > 0)
        for node in range(tree.n_nodes):
            if tree.left[node] != LEAF:
                left = self.goes_left(tree, node, rows[node])
                rows[tree.left[node]] = rows[node][left]
                rows[tree.right_child[node]] = rows[node][~left]
        return rows


@pytest.mark.covers("split-threshold-search", "split-categorical-ordering", "split-gini")
@pytest.mark.covers("split-entropy-gain", "split-misclassification", "missing-as-category")
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_first_split_gains_as_much_as_the_best_of_all_splits(criterion, missing, rng):
    for _ in range(25):
        problem = Problem(rng, criterion, missing=missing)
        tree = problem.grow(max_depth=1)
        gain = problem.best_gain(np.arange(len(problem.rows)))
        if tree.n_nodes == 1:
            assert gain <= 1e-9 or problem.cost(np.arange(len(problem.rows))) < 1e-9
        else:
            assert tree.gain[0] == pytest.approx(gain, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_with_several_classes_the_best_subset_of_few_levels_is_found(criterion, rng):
    for _ in range(15):
        problem = Problem(rng, criterion, n_classes=4, n=30)
        tree = problem.grow(max_depth=1)
        assert tree.gain[0] == pytest.approx(problem.best_gain(np.arange(30)), rel=1e-9)


def test_with_several_targets_the_sum_of_squared_errors_is_split_best(rng):
    for _ in range(15):
        problem = Problem(rng, "squared_error", n_outputs=3)
        tree = problem.grow(max_depth=1)
        assert tree.gain[0] == pytest.approx(problem.best_gain(np.arange(24)), rel=1e-9)


@pytest.mark.covers("classification-tree", "regression-tree")
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_node_of_a_full_tree_is_split_best_or_cannot_be_split(criterion, rng):
    for _ in range(6):
        problem = Problem(rng, criterion, n=40)
        tree = problem.grow()
        at = problem.rows_of_nodes(tree)
        for node in range(tree.n_nodes):
            weight = problem.weights[at[node]]
            assert tree.n_node_samples[node] == len(at[node])
            assert tree.weight[node] == pytest.approx(weight.sum())
            gain = problem.best_gain(at[node])
            if tree.left[node] != LEAF:
                assert tree.gain[node] == pytest.approx(gain, rel=1e-9, abs=1e-9)
                assert len(at[tree.left[node]]) > 0
                assert len(at[tree.right_child[node]]) > 0
            else:
                pure = problem.cost(at[node]) <= 1e-9 * max(1.0, weight.sum())
                assert pure or gain == -np.inf


@pytest.mark.parametrize("criterion", CRITERIA)
def test_values_and_impurities_of_all_nodes_follow_the_definitions(criterion, rng):
    problem = Problem(rng, criterion, n=60)
    tree = problem.grow(max_depth=4)
    for node, at in enumerate(problem.rows_of_nodes(tree)):
        weight = problem.weights[at]
        cost = tree.impurity[node] * weight.sum()
        if criterion == "squared_error":
            value = np.average(problem.values[at], axis=0, weights=weight)
        else:
            value = np.bincount(problem.labels[at], weight, 2) / weight.sum()
        np.testing.assert_allclose(tree.value[node], value, atol=1e-12)
        assert cost == pytest.approx(problem.cost(at), abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_packed_prediction_follows_the_tree_question_by_question(criterion, rng):
    problem = Problem(rng, criterion, n=50)
    tree = problem.grow()
    leaves = tree.apply(problem.rows)
    starts, path = tree.decision_path(problem.rows)
    for i in range(len(problem.rows)):
        node, passed = 0, [0]
        while tree.left[node] != LEAF:
            left = problem.goes_left(tree, node, np.array([i]))[0]
            node = (tree.left if left else tree.right_child)[node]
            passed.append(node)
        assert leaves[i] == node
        assert path[starts[i] : starts[i + 1]].tolist() == passed
    np.testing.assert_array_equal(tree.predict(problem.rows), tree.value[leaves])


def test_the_grower_reports_the_leaf_of_every_row_that_it_took(rng):
    problem = Problem(rng, "squared_error", n=200)
    leaf_of_row = np.full(200, -7, np.int32)
    rules = GrowthRules("squared_error", max_leaf_nodes=9)
    tree = grow_tree(problem.binned, problem.statistics(), rules, leaf_of_row=leaf_of_row)
    taken = problem.weights > 0
    np.testing.assert_array_equal(leaf_of_row[taken], tree.apply(problem.rows)[taken])
    assert (leaf_of_row[~taken] == -7).all()


def continuous_problem(rng, n=400, d=6):
    """Columns with at most 200 values that 32-bit numbers hold exactly, as scikit-learn needs.

    With enough rows per leaf no two columns part a node alike, so that there are no ties.
    """
    rows = rng.integers(0, 200, (n, d)) / 4.0
    weights = rng.random(n) + 0.5
    return rows, weights


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_predictions_as_scikit_learn_for_classes(criterion, rng):
    rows, weights = continuous_problem(rng)
    labels = (rows[:, 0] + rows[:, 1] + rng.normal(size=400) * 10 > 50).astype(int)
    binned = Binner().fit(rows, weights).transform(rows)
    limits = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 20}
    tree = grow_tree(binned, class_statistics(labels, 2, weights), GrowthRules(**limits))
    peer = DecisionTreeClassifier(**limits).fit(rows, labels, weights)
    fresh = rng.integers(0, 800, (1000, 6)) / 16.0
    np.testing.assert_allclose(tree.predict(fresh), peer.predict_proba(fresh), atol=1e-9)
    importances = tree.importances(6)
    np.testing.assert_allclose(
        importances / importances.sum(), peer.feature_importances_, atol=1e-9
    )


@pytest.mark.parametrize("limits", [{"max_depth": 5}, {"max_leaf_nodes": 12}])
@pytest.mark.parametrize("min_samples_leaf", [10, 20])
def test_same_predictions_as_scikit_learn_for_numbers(limits, min_samples_leaf, rng):
    rows, weights = continuous_problem(rng)
    target = rows[:, 0] * rows[:, 1] + rng.normal(size=400) * 50
    binned = Binner().fit(rows, weights).transform(rows)
    rules = GrowthRules("squared_error", min_samples_leaf=min_samples_leaf, **limits)
    tree = grow_tree(binned, value_statistics(target, weights), rules)
    peer = DecisionTreeRegressor(min_samples_leaf=min_samples_leaf, **limits)
    peer.fit(rows, target, weights)
    fresh = rng.integers(0, 800, (1000, 6)) / 16.0
    np.testing.assert_allclose(tree.predict(fresh)[:, 0], peer.predict(fresh), rtol=1e-7)


@pytest.mark.covers("tree-pre-pruning", "boosted-tree-size")
def test_limits_are_kept(rng):
    rows, _ = continuous_problem(rng)
    target = rng.normal(size=400)
    binned = Binner().fit(rows).transform(rows)
    statistics = value_statistics(target)

    def grow(**rules):
        return grow_tree(binned, statistics, GrowthRules("squared_error", **rules))

    assert grow(max_depth=3).max_depth == 3
    assert grow(max_leaf_nodes=11).n_leaves == 11
    assert grow(min_samples_leaf=9).n_node_samples.min() >= 9
    assert grow(min_weight_leaf=9.0).weight.min() >= 9
    split = grow(min_samples_split=50)
    assert split.n_node_samples[split.left != LEAF].min() >= 50
    least = grow().gain[0] / 400 * 0.5
    gains = grow(min_impurity_decrease=least)
    assert (gains.gain[gains.left != LEAF] / 400 >= least).all()
    assert gains.n_leaves < grow().n_leaves


def test_best_first_growth_takes_the_greatest_gain_that_is_open(rng):
    problem = Problem(rng, "squared_error", n=80)
    full = problem.grow(max_leaf_nodes=80)
    few = problem.grow(max_leaf_nodes=5)
    kept = np.sort(few.gain[few.left != LEAF])
    open_nodes, taken = [0], []
    while len(taken) < 4:
        node = max(open_nodes, key=lambda k: full.gain[k])
        open_nodes.remove(node)
        taken.append(full.gain[node])
        open_nodes += [full.left[node], full.right_child[node]]
    np.testing.assert_allclose(kept, np.sort(taken))


def test_exclusive_or_is_learned_though_its_first_split_gains_nothing():
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    binned = Binner().fit(rows).transform(rows)
    tree = grow_tree(binned, class_statistics([0, 1, 1, 0], 2), GrowthRules("gini"))
    np.testing.assert_array_equal(tree.predict(rows)[:, 1], [0, 1, 1, 0])


@pytest.mark.parametrize("fill", [3.5, np.nan])
def test_a_column_without_information_is_never_asked_about(fill, rng):
    rows = np.column_stack([np.full(60, fill), rng.normal(size=60)])
    binned = Binner().fit(rows).transform(rows)
    labels = rng.integers(0, 2, 60)
    rules = GrowthRules("gini", max_features=1)
    tree = grow_tree(binned, class_statistics(labels, 2), rules, seed=int(rng.integers(99)))
    assert set(tree.feature[tree.left != LEAF]) == {1}
    np.testing.assert_array_equal(tree.predict(rows)[:, 1], labels)


def test_identical_rows_make_one_leaf():
    rows = np.ones((10, 3))
    binned = Binner().fit(rows).transform(rows)
    tree = grow_tree(binned, class_statistics(np.arange(10) % 2, 2), GrowthRules("entropy"))
    assert tree.n_nodes == 1
    np.testing.assert_allclose(tree.value, [[0.5, 0.5]])


def test_missing_values_that_training_never_saw_go_with_the_greater_child():
    rows = np.arange(10.0)[:, None]
    binned = Binner().fit(rows).transform(rows)
    for border in (3, 8):
        labels = (np.arange(10) >= border).astype(int)
        tree = grow_tree(binned, class_statistics(labels, 2), GrowthRules("gini"))
        assert tree.predict(np.array([[np.nan]]))[0, 1] == (border < 5)


def test_levels_that_a_node_never_saw_go_with_its_missing_values():
    rows = np.array([0, 0, 0, 1, 1, np.nan])[:, None]
    binned = Binner().fit(rows, kinds=[True]).transform(rows)
    labels = np.array([0, 0, 0, 1, 1, 1])
    tree = grow_tree(binned, class_statistics(labels, 2), GrowthRules("gini"))
    seen = tree.predict(np.array([[0.0], [1.0], [np.nan]]))[:, 1]
    np.testing.assert_array_equal(seen, [0, 1, 1])
    unseen = tree.predict(np.array([[2.0], [200.0], [1e6], [-1.0]]))[:, 1]
    np.testing.assert_array_equal(unseen, 1)


def test_more_levels_than_bins_share_a_bin_when_rare_and_are_split_by_their_codes(rng):
    levels = np.concatenate([np.repeat(np.arange(0, 600, 2), 3), np.arange(1, 600, 2)])
    target = np.where(levels % 4 == 0, 1.0, -1.0)
    rows = levels[:, None].astype(float)
    binner = Binner().fit(rows, kinds=[True])
    assert binner.other_levels_[0].size == 600 - 254
    tree = grow_tree(binner.transform(rows), value_statistics(target), GrowthRules("squared_error"))
    kept = np.setdiff1d(levels, binner.other_levels_[0])
    expected = np.where(kept % 4 == 0, 1.0, -1.0)
    np.testing.assert_allclose(tree.predict(kept[:, None].astype(float))[:, 0], expected)
    shared = tree.predict(binner.other_levels_[0][:, None].astype(float))[:, 0]
    assert np.unique(shared).size == 1


def test_a_threshold_lies_half_way_between_the_values_that_it_parts():
    rows = np.array([0.0, 1.0, 5.0, 9.0])[:, None]
    binned = Binner().fit(rows).transform(rows)
    tree = grow_tree(binned, class_statistics([0, 1, 0, 0], 2, [1, 0, 1, 1]), GrowthRules("gini"))
    assert tree.n_nodes == 1
    tree = grow_tree(binned, class_statistics([0, 1, 1, 1], 2, [1, 0, 1, 1]), GrowthRules("gini"))
    assert tree.threshold[0] == 2.5


def test_neighboring_floating_point_numbers_are_parted():
    rows = np.array([1.0, np.nextafter(1.0, 2.0)])[:, None]
    binned = Binner().fit(rows).transform(rows)
    tree = grow_tree(binned, class_statistics([0, 1], 2), GrowthRules("gini"))
    np.testing.assert_array_equal(tree.predict(rows)[:, 1], [0, 1])


def test_histograms_by_subtraction_give_the_same_tree_as_without(monkeypatch, rng):
    rows = rng.normal(size=(3000, 5))
    target = rows[:, 0] * rows[:, 1] + rng.normal(size=3000)
    binned = Binner().fit(rows).transform(rows)
    rules = GrowthRules("squared_error", min_samples_leaf=3)
    kept = grow_tree(binned, value_statistics(target), rules)
    monkeypatch.setattr("gnomon.trees.grower.HISTOGRAM_BYTES", 0)
    direct = grow_tree(binned, value_statistics(target), rules)
    for name, array in kept.arrays().items():
        np.testing.assert_array_equal(array, getattr(direct, name), err_msg=name)


def test_a_forest_sums_its_trees(rng):
    problem = Problem(rng, "gini", n=60)
    rules = GrowthRules("gini", max_features=2)
    trees = [
        grow_tree(problem.binned, problem.statistics(), rules, bootstrap_counts(60, 60, s), s)
        for s in range(7)
    ]
    total = np.sum([tree.predict(problem.rows) for tree in trees], axis=0)
    np.testing.assert_allclose(Forest.of(trees).sum(problem.rows), total)
    leaves = Forest.of(trees).apply(problem.rows)
    for t, tree in enumerate(trees):
        np.testing.assert_array_equal(leaves[:, t], tree.apply(problem.rows))


def test_every_column_is_drawn_equally_often(rng):
    rows = rng.normal(size=(40, 8))
    binned = Binner().fit(rows).transform(rows)
    rules = GrowthRules("squared_error", max_features=1, max_depth=1)
    statistics = value_statistics(rng.normal(size=40))
    first = int(rng.integers(2**40))
    drawn = [grow_tree(binned, statistics, rules, seed=first + s).feature[0] for s in range(1600)]
    counts = np.bincount(drawn, minlength=8)
    # Chi-squared with 7 degrees of freedom exceeds 40.5 once in a million runs.
    assert ((counts - 200) ** 2 / 200).sum() < 40.5


def test_infinite_values_are_refused_with_column_and_remedy():
    with pytest.raises(ValueError, match=r"Column 1 holds an infinite value.*NaN"):
        Binner().fit(np.array([[0.0, np.inf]]))
    binner = Binner().fit(np.array([[0.0, 1.0], [1.0, 2.0]]))
    with pytest.raises(ValueError, match="Column 0 holds an infinite value"):
        binner.transform(np.array([[-np.inf, 0.0]]))


def test_criteria_that_do_not_fit_the_target_are_refused():
    binned = Binner().fit(np.ones((2, 1))).transform(np.ones((2, 1)))
    with pytest.raises(ValueError, match="use squared_error"):
        grow_tree(binned, value_statistics([1.0, 2.0]), GrowthRules("gini"))
    with pytest.raises(ValueError, match="known are gini"):
        GrowthRules("ginni")


PLAIN_PYTHON = """
import warnings
warnings.simplefilter("error")
import numpy as np
from gnomon.trees.binning import Binner
from gnomon.trees.grower import *
rows = np.array([[0, 0], [1, 1], [2, 2], [np.nan, 1], [4, 0], [5, np.nan]] * 3, float)
rows[:, 0] += np.repeat([0, 0.25, 0.5], 6)
binned = Binner().fit(rows, kinds=[False, True]).transform(rows)
y = np.arange(18) % 3
for statistics, criterion in [
    (class_statistics(y, 3), "entropy"),
    (class_statistics(y % 2, 2), "gini"),
    (value_statistics(y * 0.3), "squared_error"),
]:
    rules = GrowthRules(criterion, min_samples_leaf=2, max_features=1, max_leaf_nodes=6)
    tree = grow_tree(binned, statistics, rules, bootstrap_counts(18, 30, 3), seed=5)
    print(tree.feature.tolist(), tree.left.tolist(), tree.category_left.tolist())
    print(np.round(tree.threshold, 9).tolist(), np.round(tree.value, 9).tolist())
    print(tree.apply(rows).tolist(), [each.tolist() for each in tree.decision_path(rows)])
"""


def test_plain_python_grows_the_same_trees():
    source = str(Path(__file__).parents[2] / "src")
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    printed = []
    for off in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONPATH": path}
        printed.append(
            subprocess.run(
                [sys.executable, "-c", PLAIN_PYTHON],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert printed[0] == printed[1]
    assert printed[0].count("\n") == 9
