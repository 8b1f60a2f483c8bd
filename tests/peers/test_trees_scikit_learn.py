"""Trees and forests against scikit-learn's."""

import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import cross_val_score

from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.covers("classification-tree", "split-gini", "split-entropy-gain")
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_the_same_tree_as_scikit_learns_where_no_bin_holds_two_values(criterion, depth, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200, 3))
    y = (rows[:, 0] + rng.normal(size=200) > 0).astype(int) + (rows[:, 1] > 1)
    ours = DecisionTreeClassifier(criterion=criterion, max_depth=depth).fit(rows, y)
    theirs = tree.DecisionTreeClassifier(criterion=criterion, max_depth=depth).fit(rows, y)
    assert ours.score(rows, y) == pytest.approx(theirs.score(rows, y), abs=0.011)
    assert ours.nodes_.gain[0] == pytest.approx(
        200 * theirs.tree_.impurity[0]
        - theirs.tree_.weighted_n_node_samples[
            [theirs.tree_.children_left[0], theirs.tree_.children_right[0]]
        ]
        @ theirs.tree_.impurity[[theirs.tree_.children_left[0], theirs.tree_.children_right[0]]]
    )


@pytest.mark.covers("regression-tree")
def test_the_same_regression_tree_as_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(250, 3))
    y = np.sin(rows[:, 0]) + rng.normal(size=250)
    ours = DecisionTreeRegressor(max_depth=4).fit(rows, y)
    theirs = tree.DecisionTreeRegressor(max_depth=4, random_state=0).fit(rows, y)
    assert ours.score(rows, y) == pytest.approx(theirs.score(rows, y), abs=1e-9)


@pytest.mark.covers("random-forest")
def test_forests_are_as_accurate_as_scikit_learns_on_real_tables(seed):
    state = seed % 2**31
    cancer, diabetes = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
    for ours, theirs, (rows, y), slack in (
        (RandomForestClassifier, ensemble.RandomForestClassifier, cancer, 0.02),
        (RandomForestRegressor, ensemble.RandomForestRegressor, diabetes, 0.06),
    ):
        mine = cross_val_score(ours(60, random_state=state), rows, y).mean()
        peer = cross_val_score(theirs(60, random_state=state, n_jobs=2), rows, y).mean()
        assert mine > peer - slack
