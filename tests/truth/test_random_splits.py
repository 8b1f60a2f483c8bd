"""Trees of random thresholds: every node against direct sums over its rows."""

import numpy as np
import pytest

from gnomon.trees.grower import GrowthRules
from gnomon.trees.random_splits import grow_random


def impurity(y, w, criterion, n_classes):
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    shares = np.bincount(y, w, n_classes) / w.sum()
    if criterion == "gini":
        return 1 - (shares**2).sum()
    there = shares[shares > 0]
    return -(there * np.log2(there)).sum()


def table(criterion, n_classes, seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    X[:, 2] = rng.integers(0, 3, n)
    X[:, 3] = 1.0
    X[:, 4] = X[:, 0] > 0
    w = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    y = rng.integers(0, n_classes, n).astype(np.uint16) if n_classes else rng.normal(5, 1, n)
    return X, y, w


@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("gini", 40), ("entropy", 3), ("entropy", 40), ("squared_error", 0)],
)
def test_nodes_hold_what_direct_sums_over_their_rows_give(criterion, n_classes):
    X, y, w = table(criterion, n_classes, n_classes)
    rules = GrowthRules(criterion, max_features=2)
    tree = grow_random(np.ascontiguousarray(X.T), y, w, n_classes, rules, 7)
    rows = {0: np.flatnonzero(w > 0)}
    assert tree.n_nodes > 20
    for node in range(tree.n_nodes):
        at = rows[node]
        assert tree.n_node_samples[node] == len(at)
        assert tree.weight[node] == pytest.approx(w[at].sum())
        cost = impurity(y[at], w[at], criterion, n_classes)
        assert tree.impurity[node] == pytest.approx(cost, abs=1e-12)
        if n_classes:
            shares = np.bincount(y[at], w[at], n_classes) / w[at].sum()
            np.testing.assert_allclose(tree.value[node], shares)
        else:
            assert tree.value[node, 0] == pytest.approx(np.average(y[at], weights=w[at]))
        if tree.left[node] < 0:
            # a leaf is pure, or its rows are alike in all columns
            assert cost < 1e-12 or (np.ptp(X[at], axis=0) == 0).all()
            continue
        values = X[at, tree.feature[node]]
        assert values.min() <= tree.threshold[node] < values.max()
        below = values <= tree.threshold[node]
        left, right = at[below], at[~below]
        saved = w[at].sum() * cost - sum(
            w[side].sum() * impurity(y[side], w[side], criterion, n_classes)
            for side in (left, right)
        )
        assert tree.gain[node] == pytest.approx(saved, abs=1e-9)
        rows[tree.left[node]], rows[tree.left[node] + 1] = left, right


def test_limits_of_growth_hold():
    X, y, w = table("gini", 3, 1)
    columns = np.ascontiguousarray(X.T)
    rules = GrowthRules("gini", max_depth=4, min_samples_leaf=6, min_samples_split=20)
    tree = grow_random(columns, y, w, 3, rules, 0)
    assert tree.max_depth <= 4
    assert tree.n_node_samples[tree.left < 0].min() >= 6
    assert tree.n_node_samples[tree.left >= 0].min() >= 20
    heavy = grow_random(columns, y, w, 3, GrowthRules("gini", min_weight_leaf=12.0), 0)
    assert heavy.weight.min() >= 12.0
    dear = grow_random(columns, y, w, 3, GrowthRules("gini", min_impurity_decrease=0.001), 0)
    assert dear.n_nodes > 1
    assert dear.gain[dear.left >= 0].min() >= 0.001 * w.sum()


def test_thresholds_are_uniform_between_the_least_and_greatest_value():
    columns = np.array([[0.0, 0.1, 4.0]], np.float32)
    y, rules = np.array([0.0, 1.0, 2.0]), GrowthRules("squared_error", max_depth=1)
    drawn = [grow_random(columns, y, None, 0, rules, seed).threshold[0] for seed in range(400)]
    counts = np.histogram(drawn, 8, (0, 4))[0]
    assert (np.abs(counts - 50) < 5 * np.sqrt(50)).all()


def test_columns_are_drawn_evenly():
    rng = np.random.default_rng(0)
    columns = np.vstack([rng.normal(size=(4, 30)), np.ones((3, 30))]).astype(np.float32)
    rules = GrowthRules("squared_error", max_features=1, max_depth=1)
    y = rng.normal(size=30)
    asked = [grow_random(columns, y, None, 0, rules, seed).feature[0] for seed in range(400)]
    counts = np.bincount(asked, minlength=7)
    assert (counts[4:] == 0).all()
    assert (np.abs(counts[:4] - 100) < 5 * np.sqrt(100)).all()
