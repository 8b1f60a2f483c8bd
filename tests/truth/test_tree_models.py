"""Model trees: exact pieces, ridge by its normal equations, smoothing and pruning by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from gnomon.trees import DecisionTreeRegressor, ModelTreeRegressor
from gnomon.trees.model_tree import ridge
from gnomon.trees.tree import LEAF, parents


@pytest.mark.covers("model-tree")
def test_ridge_of_a_node_solves_its_normal_equations(rng):
    points, y, weights = rng.normal(size=(20, 4)), rng.normal(size=20), rng.uniform(1, 3, 20)
    points -= weights @ points / weights.sum()
    y -= weights @ y / weights.sum()
    slopes, parameters = ridge(points, y, weights, 0.7)
    peer = Ridge(0.7, fit_intercept=False).fit(points, y, weights)
    np.testing.assert_allclose(slopes, peer.coef_)
    gram = (points * weights[:, None]).T @ points
    assert parameters == pytest.approx(np.trace(np.linalg.solve(gram + 0.7 * np.eye(4), gram)))


@pytest.mark.covers("model-tree")
def test_every_leaf_holds_the_least_squares_fit_of_its_rows(rng):
    rows = rng.normal(size=(300, 3))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] + 0.1 * rng.normal(size=300)
    model = ModelTreeRegressor(alpha=0, smoothing=0, prune=False, max_depth=2).fit(rows, y)
    leaves = model.apply(rows)
    for leaf in np.unique(leaves):
        mine = leaves == leaf
        peer = LinearRegression().fit(rows[mine], y[mine])
        np.testing.assert_allclose(model.predict(rows[mine]), peer.predict(rows[mine]), atol=1e-8)


@pytest.mark.covers("model-tree")
def test_a_line_needs_one_leaf_and_a_bent_line_two(rng):
    rows = rng.uniform(-1, 1, size=(400, 2))
    noise = 0.01 * rng.normal(size=400)
    straight = ModelTreeRegressor().fit(rows, 3 * rows[:, 0] - rows[:, 1] + noise)
    assert straight.get_n_leaves() == 1
    bent = ModelTreeRegressor(smoothing=0, alpha=0).fit(rows, np.abs(rows[:, 0]) + noise)
    plain = DecisionTreeRegressor(min_samples_leaf=10).fit(rows, np.abs(rows[:, 0]) + noise)
    new = rng.uniform(-1, 1, size=(200, 2))
    errors = [np.mean((m.predict(new) - np.abs(new[:, 0])) ** 2) for m in (bent, plain)]
    assert errors[0] < errors[1]
    assert bent.get_n_leaves() < plain.get_n_leaves() / 2


@pytest.mark.covers("model-tree")
def test_a_smoothed_prediction_is_mixed_on_the_way_up_to_the_root(rng):
    rows = rng.normal(size=(200, 2))
    y = np.abs(rows[:, 0]) + 0.1 * rng.normal(size=200)
    options = {"prune": False, "max_depth": 3}
    plain = ModelTreeRegressor(smoothing=0, **options).fit(rows, y)
    smooth = ModelTreeRegressor(smoothing=15, **options).fit(rows, y)
    tree, above = plain.tree_, parents(plain.tree_.left)

    def by_hand(row):
        node = tree.apply(row[None])[0]
        said = row @ plain.coef_[node] + plain.intercept_[node]
        while above[node] >= 0:
            n = tree.n_node_samples[node]
            node = above[node]
            said = (n * said + 15 * (row @ plain.coef_[node] + plain.intercept_[node])) / (n + 15)
        return said

    np.testing.assert_allclose(smooth.predict(rows[:20]), [by_hand(row) for row in rows[:20]])


@pytest.mark.covers("model-tree")
def test_a_node_is_pruned_exactly_where_its_model_is_expected_to_err_no_more(rng):
    rows = rng.normal(size=(150, 2))
    y = np.where(rows[:, 0] > 0, 2 * rows[:, 1], -rows[:, 1]) + 0.3 * rng.normal(size=150)
    options = {"alpha": 0.0, "smoothing": 0}
    whole = ModelTreeRegressor(prune=False, **options).fit(rows, y)
    tree = whole.tree_

    def expected(node, mine):
        residuals = np.abs(y[mine] - rows[mine] @ whole.coef_[node] - whole.intercept_[node])
        n, v = mine.sum(), 3
        own = residuals.sum() * (n + v) / (n - v)
        if tree.left[node] == LEAF:
            return own, 1
        low = mine & (rows[:, tree.feature[node]] <= tree.threshold[node])
        below = expected(tree.left[node], low), expected(tree.left[node] + 1, mine & ~low)
        subtree = below[0][0] + below[1][0]
        return (own, 1) if own <= subtree else (subtree, below[0][1] + below[1][1])

    pruned = ModelTreeRegressor(prune=True, **options).fit(rows, y)
    assert pruned.get_n_leaves() == expected(0, np.ones(150, bool))[1]
