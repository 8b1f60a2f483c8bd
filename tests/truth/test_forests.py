"""Trees and forests as estimators, against definitions."""

import numpy as np
import pytest

from gnomon.contract import Columns, Data
from gnomon.engine.sums import ArraySource
from gnomon.table import Table
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.trees.random_forest import Bootstrap


def bootstrap_of(rows, weights=None):
    columns = Columns.of_numbers(rows.shape[1])
    return Bootstrap(Data(ArraySource(rows, np.zeros(len(rows)), weights), columns))


@pytest.mark.covers("random-forest")
def test_a_forest_is_the_mean_of_its_trees(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    forest = RandomForestClassifier(7, random_state=1).fit(rows, y)
    mean = np.mean([tree.predict(rows) for tree in forest.trees_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(rows), mean, atol=1e-12)


@pytest.mark.covers("decision-forest-no-bagging")
def test_without_bootstrap_and_with_all_columns_every_tree_is_the_single_tree(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    forest = RandomForestRegressor(3, bootstrap=False, random_state=2).fit(rows, y)
    single = DecisionTreeRegressor(random_state=2).fit(rows, y)
    np.testing.assert_allclose(forest.predict(rows), single.predict(rows), atol=1e-12)


@pytest.mark.covers("out-of-bag-error")
def test_out_of_bag_answers_come_only_from_trees_that_left_the_row_out(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    forest = RandomForestClassifier(9, oob_score=True, random_state=3).fit(rows, y)
    seeds = forest._rng().integers(2**63, size=(9, 2))
    columns = Columns.of_numbers(3)
    bootstrap = Bootstrap(Data(ArraySource(rows, y, None), columns))
    sums, n = np.zeros((60, 2)), np.zeros(60)
    for tree, (draw, _) in zip(forest.trees_, seeds):
        out = bootstrap.counts(int(draw)) == 0
        sums[out] += tree.predict(rows[out])
        n[out] += 1
    seen = n > 0
    np.testing.assert_allclose(
        forest.oob_decision_function_[seen], sums[seen] / n[seen, None], atol=1e-12
    )
    assert np.isnan(forest.oob_decision_function_[~seen]).all()
    right = (sums[seen] / n[seen, None]).argmax(axis=1) == y[seen]
    assert forest.oob_score_ == pytest.approx(right.mean())


@pytest.mark.covers("out-of-bag-error")
def test_the_out_of_bag_score_is_near_that_on_fresh_rows(seed):
    rng = np.random.default_rng(seed)

    def sample(n):
        rows = rng.normal(size=(n, 5))
        return rows, rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.3 * rng.normal(size=n) > 0

    rows, y = sample(2000)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(rows, y)
    assert forest.oob_score_ == pytest.approx(forest.score(*sample(4000)), abs=0.06)


def test_out_of_bag_without_bootstrap_is_refused():
    with pytest.raises(ValueError, match="bootstrap=True"):
        RandomForestClassifier(bootstrap=False, oob_score=True).fit([[0], [1]], [0, 1])


def test_a_bootstrap_sample_draws_as_many_rows_as_there_are(seed):
    rows = np.random.default_rng(seed).normal(size=(50, 2))
    counts = bootstrap_of(rows).counts(seed % 2**63)
    assert counts.sum() == 50
    assert np.mean([(bootstrap_of(rows).counts(s) == 0).mean() for s in range(50)]) + 0.1 > 0.45


def test_whole_weights_are_repetitions_in_the_bootstrap(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 2))
    weights = rng.integers(1, 5, 40)
    weighted = bootstrap_of(rows, weights.astype(float)).counts(7)
    written_out = bootstrap_of(rows.repeat(weights, axis=0)).counts(7)
    by_row = np.add.reduceat(written_out, np.cumsum(weights) - weights)
    assert (weighted == by_row).all()


def test_other_weights_are_shares_of_the_draws(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(20, 2))
    weights = rng.uniform(0.1, 3, 20)
    sample = bootstrap_of(rows, weights)
    drawn = sum(sample.counts(s) for s in range(2000))
    expected = 2000 * 20 * weights / weights.sum()
    assert (((drawn - expected) ** 2 / expected).sum()) < 60


def test_categories_are_split_in_sets_of_levels_without_an_order():
    colours = ["red", "green", "blue", "white"] * 10
    target = ["warm" if colour in ("red", "white") else "cold" for colour in colours]
    table = Table.from_dict({"colour": colours})
    model = DecisionTreeClassifier().fit(table, target)
    assert model.get_n_leaves() == 2
    assert model.predict(table).tolist() == target


def test_missing_cells_go_where_they_save_most():
    rows = np.array([[1.0], [2.0], [np.nan], [8.0], [9.0], [np.nan]])
    model = DecisionTreeClassifier().fit(rows, [0, 0, 1, 1, 1, 1])
    assert model.predict(rows).tolist() == [0, 0, 1, 1, 1, 1]
    assert model.get_n_leaves() == 2


@pytest.mark.covers("tree-pre-pruning")
def test_limits_of_growth_are_kept(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    assert DecisionTreeClassifier(max_depth=3).fit(rows, y).get_depth() == 3
    assert DecisionTreeClassifier(max_leaf_nodes=5).fit(rows, y).get_n_leaves() == 5
    roomy = DecisionTreeClassifier(min_samples_leaf=20).fit(rows, y)
    assert np.bincount(roomy.apply(rows)).max() >= 20
    assert min(n for n in np.bincount(roomy.apply(rows)) if n) >= 20


@pytest.mark.covers("regression-tree")
def test_one_tree_fits_several_targets():
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 9.0], [1.0, 9.0]])
    assert (DecisionTreeRegressor(max_depth=1).fit(rows, y).predict(rows) == y).all()


@pytest.mark.covers("tree-relative-importance")
def test_importances_add_up_to_one_and_find_the_only_useful_column(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, 5))
    forest = RandomForestClassifier(20, random_state=0).fit(rows, rows[:, 2] > 0)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert forest.feature_importances_.argmax() == 2


def test_a_stopped_forest_keeps_the_trees_that_it_has():
    class StopAfterThree:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "tree" and context.task_id == 2

    rows = np.arange(40.0).reshape(-1, 1)
    forest = RandomForestClassifier(50, random_state=0).set_callbacks(StopAfterThree())
    forest.fit(rows, rows[:, 0] > 20)
    assert len(forest.trees_) == 3
    assert forest.history_.stopped == "callback"
    assert forest.predict(rows).shape == (40,)
