"""Trees and forests as estimators, against definitions."""

import numpy as np
import pytest

from gnomon import load
from gnomon.contract import Columns, Data
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.sums import ArraySource
from gnomon.ensemble import member_distribution
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


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_rows_that_no_tree_can_be_asked_about_are_counted(cls, rng):
    rows, y = rng.normal(size=(200, 2)), np.arange(200) % 2
    with pytest.warns(GnomonWarning) as told:
        forest = cls(1, oob_score=True, random_state=0).fit(rows, y)
    name = "oob_prediction_" if cls is RandomForestRegressor else "oob_decision_function_"
    unasked = np.isnan(getattr(forest, name).reshape(200, -1)[:, 0]).sum()
    assert any(f"{unasked} of 200 rows" in str(each.message) for each in told)


def test_an_out_of_bag_score_of_no_rows_is_refused():
    with pytest.raises(ValueError, match="all 1 were drawn"):
        RandomForestRegressor(3, oob_score=True).fit([[0.0]], [1.0])


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
    colors = ["red", "green", "blue", "white"] * 10
    target = ["warm" if color in ("red", "white") else "cold" for color in colors]
    table = Table.from_dict({"color": colors})
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


@pytest.mark.covers("forest-vote-rules")
def test_each_vote_rule_is_what_its_words_say(rng):
    rows, y = rng.normal(size=(150, 3)), rng.choice(["ant", "bee", "cat"], 150)
    settings = {"n_estimators": 11, "min_samples_leaf": 4, "random_state": 0}
    forests = {
        voting: RandomForestClassifier(voting=voting, **settings).fit(rows, y)
        for voting in ("shares", "trees", "rows")
    }
    fresh = rng.normal(size=(40, 3))
    by_tree, by_row = np.zeros((40, 3)), np.zeros((40, 3))
    for tree in forests["shares"].trees_:
        leaves = tree.apply(fresh)
        shares, n_rows = tree.value[leaves], tree.weight[leaves]
        by_tree[np.arange(40), shares.argmax(axis=1)] += 1
        by_row += shares * n_rows[:, None]
    np.testing.assert_allclose(forests["trees"].predict_proba(fresh), by_tree / 11)
    by_row /= by_row.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forests["rows"].predict_proba(fresh), by_row)


@pytest.mark.covers("forest-vote-rules")
def test_rows_of_a_leaf_are_those_of_the_bag_that_fell_into_it(rng):
    rows, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    forest = RandomForestClassifier(
        1, voting="rows", min_samples_leaf=5, max_features=None, random_state=3
    ).fit(rows, y)
    seeds = forest._rng().integers(2**63, size=(1, 2))
    counts = bootstrap_of_target(rows, y).counts(int(seeds[0, 0]))
    tree = forest.trees_[0]
    leaves = tree.apply(rows)
    for leaf in np.unique(leaves):
        votes = np.bincount(y[leaves == leaf], counts[leaves == leaf], minlength=2)
        np.testing.assert_allclose(tree.weight[leaf] * tree.value[leaf], votes, atol=1e-9)


def bootstrap_of_target(rows, y):
    return Bootstrap(Data(ArraySource(rows, y, None), Columns.of_numbers(rows.shape[1])))


@pytest.mark.covers("forest-distribution")
def test_seven_hundred_of_a_thousand_trees_are_seventy_percent(rng):
    rows = rng.normal(size=(80, 2))
    weather = np.where(rows[:, 0] + rng.normal(size=80) > 0, "rain", "sun")
    forest = RandomForestClassifier(100, voting="trees", random_state=0).fit(rows, weather)
    fresh = rng.normal(size=(20, 2))
    said = forest.predict_each(fresh)
    assert said.shape == (20, 100)
    shares = (said == "rain").mean(axis=1)
    np.testing.assert_allclose(forest.predict_proba(fresh)[:, 0], shares)
    np.testing.assert_allclose(member_distribution(forest, fresh).shares[:, 0], shares)


@pytest.mark.covers("forest-distribution")
def test_error_bars_are_the_spread_of_the_trees_and_wide_where_rows_are_noisy(rng):
    x = rng.uniform(-1, 1, size=(600, 1))
    noise = np.where(x[:, 0] > 0, 1.0, 0.05)
    y = x[:, 0] + noise * rng.normal(size=600)
    forest = RandomForestRegressor(100, random_state=0).fit(x, y)
    grid = np.linspace(-0.9, 0.9, 40)[:, None]
    found = member_distribution(forest, grid)
    each = np.column_stack([tree.predict(grid)[:, 0] for tree in forest.trees_])
    np.testing.assert_allclose(forest.predict_each(grid), each)
    np.testing.assert_allclose(found.mean, forest.predict(grid))
    np.testing.assert_allclose(found.standard_deviation, each.std(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.quantile(0.5), np.sort(each, axis=1)[:, 49])
    spread = found.standard_deviation
    assert np.median(spread[grid[:, 0] > 0]) > 3 * np.median(spread[grid[:, 0] < 0])


def test_trees_of_several_targets_say_each_of_them(rng):
    rows = rng.normal(size=(50, 2))
    forest = RandomForestRegressor(5, random_state=0).fit(rows, rows)
    assert forest.predict_each(rows).shape == (50, 5, 2)
    np.testing.assert_allclose(forest.predict_each(rows).mean(axis=1), forest.predict(rows))


@pytest.mark.covers("permutation-importance-oob")
@pytest.mark.parametrize("classes", [True, False])
def test_importance_out_of_bag_is_the_rise_of_each_trees_error_on_its_rows_left_out(classes, rng):
    rows = rng.normal(size=(200, 3))
    signal = rows[:, 0] + 0.3 * rng.normal(size=200)
    y = (signal > 0).astype(int) if classes else signal
    cls = RandomForestClassifier if classes else RandomForestRegressor
    forest = cls(15, oob_importance=40, random_state=5).fit(rows, y)
    found = forest.oob_importances_
    seeds = forest._rng().integers(2**63, size=(15, 2))
    bootstrap = bootstrap_of_target(rows, y)
    for t, (tree, (seed, _)) in enumerate(zip(forest.trees_, seeds)):
        out = bootstrap.counts(int(seed)) == 0

        def error(some, tree=tree, out=out):
            said = tree.predict(some)
            if classes:
                return (said.argmax(axis=1) != y[out]).mean()
            return ((said[:, 0] - y[out]) ** 2).mean()

        intact = error(rows[out])
        # our own shuffles: another draw from the same distribution
        expected = []
        for _ in range(60):
            shuffled = rows[out]
            shuffled[:, 0] = rng.permutation(shuffled[:, 0])
            expected.append(error(shuffled) - intact)
        gap = found.rises[t, 0].mean() - np.mean(expected)
        spread = np.std(expected) * np.sqrt(1 / 40 + 1 / 60) + 1e-9
        assert abs(gap) < 6 * spread
    assert found.importances.shape == (3, 40)
    np.testing.assert_allclose(found.percent, 100 * found.mean / found.intact)
    assert found.mean.argmax() == 0
    assert (found.mean[0] > 5 * found.standard_error[0]).all()


@pytest.mark.covers("permutation-importance-oob")
def test_noise_of_many_values_is_important_by_impurity_but_not_out_of_bag(rng):
    n = 400
    useful = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.8, useful, 1 - useful)
    rows = np.column_stack([useful, rng.normal(size=n)])
    forest = RandomForestClassifier(60, oob_importance=3, random_state=0).fit(rows, y)
    assert forest.feature_importances_[1] > 0.3
    out_of_bag = forest.oob_importances_.mean
    assert out_of_bag[1] < 0.25 * out_of_bag[0]


@pytest.mark.covers("permutation-importance-oob")
def test_columns_that_go_together_are_named(rng):
    rows = rng.normal(size=(150, 3))
    rows[:, 2] = np.exp(rows[:, 0] + 0.05 * rng.normal(size=150))
    forest = RandomForestClassifier(10, oob_importance=1, random_state=0)
    found = forest.fit(rows, rows[:, 0] > 0).oob_importances_
    assert [pair[:2] for pair in found.correlated] == [("x0", "x2")]
    assert "go together" in str(found)


def test_importance_does_not_depend_on_threads_nor_on_the_order_of_rows(rng):
    rows, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    order = rng.permutation(80)
    one = RandomForestRegressor(6, oob_importance=2, random_state=1, n_jobs=1).fit(rows, y)
    other = RandomForestRegressor(6, oob_importance=2, random_state=1, n_jobs=2)
    other.fit(rows[order], y[order])
    np.testing.assert_allclose(one.oob_importances_.rises, other.oob_importances_.rises)


def test_a_forest_with_importance_is_saved_and_loaded(rng, tmp_path):
    rows, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    forest = RandomForestClassifier(4, voting="rows", oob_importance=2, random_state=0)
    forest.fit(rows, y).save(tmp_path / "forest.gnomon")
    loaded = load(tmp_path / "forest.gnomon")
    np.testing.assert_array_equal(loaded.predict_proba(rows), forest.predict_proba(rows))
    np.testing.assert_array_equal(loaded.oob_importances_.rises, forest.oob_importances_.rises)


def test_proximity_is_the_share_of_trees_in_which_two_rows_share_a_leaf(rng):
    rows = rng.normal(size=(40, 3))
    forest = RandomForestRegressor(7, min_samples_leaf=5, random_state=0).fit(rows, rows[:, 0])
    leaves = forest.apply(rows)
    expected = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose(forest.proximity(rows), expected)
    np.testing.assert_allclose(forest.proximity(rows[:5], rows), expected[:5])


@pytest.mark.parametrize("cls", [DecisionTreeClassifier, RandomForestClassifier])
def test_log_loss_is_another_word_for_entropy(cls, rng):
    rows, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    one, other = (cls(criterion=c, random_state=0).fit(rows, y) for c in ("log_loss", "entropy"))
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))
    assert one.get_params()["criterion"] == "log_loss"


@pytest.mark.parametrize("cls", [DecisionTreeRegressor, RandomForestRegressor])
def test_the_squared_error_of_a_regression_tree_may_be_named(cls, rng):
    rows, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    named = cls(criterion="squared_error", random_state=0).fit(rows, y)
    np.testing.assert_array_equal(
        named.predict(rows), cls(random_state=0).fit(rows, y).predict(rows)
    )
    with pytest.raises(ValueError, match="squared_error"):
        cls(criterion="gini").fit(rows, y)


@pytest.mark.filterwarnings("error")
def test_a_target_that_does_not_vary_is_met_out_of_bag(rng):
    model = RandomForestRegressor(60, oob_score=True, random_state=0)
    assert model.fit(rng.normal(size=(30, 2)), np.full(30, 0.5)).oob_score_ == 1.0


def test_intervals_for_new_rows_hold_nearly_their_level_of_them(rng):
    X = rng.normal(size=(700, 3))
    y = X[:, 0] + 0.5 * (rng.exponential(size=700) - 1)
    model = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X[:300], y[:300])
    low, high = model.predict_interval(X[300:], 0.9)
    assert 0.83 <= np.mean((low <= y[300:]) & (y[300:] <= high)) <= 0.96
    own = np.quantile(model.predict_each(X[300:]), [0.05, 0.95], axis=1)
    assert np.mean(high - low) > np.mean(own[1] - own[0])


def test_intervals_for_new_rows_take_the_conformal_quantile_of_out_of_bag_errors(rng):
    X, y = rng.normal(size=(99, 2)), rng.normal(size=99)
    model = RandomForestRegressor(80, oob_score=True, random_state=0).fit(X, y)
    errors = np.sort(np.abs(y - model.oob_prediction_))
    low, high = model.predict_interval(X, 0.9)
    assert high - low == pytest.approx(2 * errors[89])
    assert np.isinf(model.predict_interval(X, 0.995)[1]).all()


def test_intervals_for_new_rows_need_errors_out_of_bag(rng):
    model = RandomForestRegressor(5).fit(rng.normal(size=(20, 1)), rng.normal(size=20))
    with pytest.raises(AttributeError, match="oob_score=True"):
        model.predict_interval([[0.0]])
