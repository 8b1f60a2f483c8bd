"""Flexible trees and pruning beside scikit-learn's."""

import numpy as np
import pytest
from sklearn import tree as peer

from gnomon.trees import (
    DecisionTreeRegressor,
    FlexibleTreeClassifier,
    FlexibleTreeRegressor,
    cost_complexity_path,
)


@pytest.mark.covers("classification-tree", "split-gini", "split-entropy-gain")
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_flexible_tree_predicts_what_scikit_learns_does(criterion, rng):
    rows = rng.normal(size=(300, 4))
    y = (rows[:, 0] + rows[:, 1] ** 2 + 0.5 * rng.normal(size=300) > 1).astype(int)
    weights = rng.uniform(0.5, 2, 300)
    ours = FlexibleTreeClassifier(criterion, max_depth=4).fit(rows, y, sample_weight=weights)
    theirs = peer.DecisionTreeClassifier(criterion=criterion, max_depth=4, random_state=0)
    theirs.fit(rows, y, weights)
    same = np.isclose(ours.predict_proba(rows), theirs.predict_proba(rows)).all(axis=1)
    assert same.mean() > 0.95


@pytest.mark.covers("regression-tree")
def test_a_flexible_regression_tree_predicts_what_scikit_learns_does(rng):
    rows, noise = rng.normal(size=(300, 4)), 0.3 * rng.normal(size=(300, 2))
    y = np.column_stack([np.sin(rows[:, 0]), rows[:, 1] * rows[:, 2]]) + noise
    ours = FlexibleTreeRegressor(max_depth=4, min_samples_leaf=3).fit(rows, y)
    theirs = peer.DecisionTreeRegressor(max_depth=4, min_samples_leaf=3, random_state=0)
    same = np.isclose(ours.predict(rows), theirs.fit(rows, y).predict(rows)).all(axis=1)
    assert same.mean() > 0.95


@pytest.mark.covers("tree-cost-complexity-pruning")
def test_the_pruning_path_is_scikit_learns(rng):
    rows = rng.normal(size=(150, 3))
    y = rows[:, 0] + rng.normal(size=150)
    found = cost_complexity_path(DecisionTreeRegressor(max_depth=6).fit(rows, y))
    theirs = peer.DecisionTreeRegressor(max_depth=6, random_state=0)
    path = theirs.cost_complexity_pruning_path(rows, y)
    # links that are equally weak but for rounding are cut in one step or in two
    ours = np.append(np.diff(found.alphas) > 1e-9, True)
    theirs_kept = np.append(np.diff(path.ccp_alphas) > 1e-9, True)
    np.testing.assert_allclose(found.alphas[ours], path.ccp_alphas[theirs_kept], atol=1e-12)
    np.testing.assert_allclose(found.risks[ours], path.impurities[theirs_kept])


@pytest.mark.covers("tree-cost-complexity-pruning")
@pytest.mark.parametrize("alpha", [0.003, 0.02, 0.1])
def test_pruning_at_a_price_leaves_what_scikit_learn_leaves(alpha, rng):
    rows = rng.normal(size=(200, 3))
    y = rows[:, 0] + np.abs(rows[:, 1]) + 0.3 * rng.normal(size=200)
    ours = DecisionTreeRegressor(ccp_alpha=alpha).fit(rows, y)
    theirs = peer.DecisionTreeRegressor(ccp_alpha=alpha, random_state=0).fit(rows, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows))
