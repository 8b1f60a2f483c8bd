"""Trees, forests and boosting that bear scikit-learn's names give its results on arrays."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.model_selection
import sklearn.tree

import gnomon
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from gnomon.linear import LogisticRegression
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(120, 4))


@pytest.fixture
def classes(rows, rng):
    return np.digitize(rows[:, 0] + 0.3 * rng.normal(size=len(rows)), [-0.5, 0.5])


@pytest.fixture
def numbers(rows, rng):
    return np.sin(2 * rows[:, 0]) + rows[:, 1] + 0.1 * rng.normal(size=len(rows))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_a_decision_tree_is_scikit_learns(rows, classes, criterion):
    ours = DecisionTreeClassifier(criterion=criterion, random_state=3).fit(rows, classes)
    theirs = sklearn.tree.DecisionTreeClassifier(criterion=criterion, random_state=3)
    theirs.fit(rows, classes)
    np.testing.assert_array_equal(ours.predict_proba(rows), theirs.predict_proba(rows))
    assert sklearn.tree.export_text(ours) == sklearn.tree.export_text(theirs)
    for name in ("node_count", "max_depth", "n_leaves"):
        assert getattr(ours.tree_, name) == getattr(theirs.tree_, name)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    path, expected = (each.cost_complexity_pruning_path(rows, classes) for each in (ours, theirs))
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, atol=1e-12)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_regression_tree_is_scikit_learns_for_every_criterion(rows, numbers, criterion):
    y = np.exp(numbers)
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=4, random_state=0).fit(rows, y)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, max_depth=4, random_state=0)
    np.testing.assert_allclose(ours.predict(rows), theirs.fit(rows, y).predict(rows))


def test_the_arrays_of_a_tree_agree_with_its_leaves_and_paths(rows, classes):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, classes)
    leaves = model.apply(rows)
    assert (model.tree_.children_left[leaves] == -1).all()
    np.testing.assert_array_equal(model.tree_.value[leaves, 0].argmax(axis=1), model.predict(rows))
    passed = model.decision_path(rows).toarray()
    assert (passed[np.arange(len(rows)), leaves] == 1).all()
    np.testing.assert_array_equal(passed.sum(axis=0), model.tree_.n_node_samples)


def test_several_targets_of_classes_are_predicted_together(rows, classes, tmp_path):
    y = np.column_stack([classes, classes > 0])
    for cls in (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier):
        model = cls(random_state=0).fit(rows, y)
        assert model.n_outputs_ == 2
        assert list(model.n_classes_) == [3, 2]
        assert [each.shape for each in model.predict_proba(rows)] == [(120, 3), (120, 2)]
        assert (model.predict(rows) == y).mean() > 0.95
        loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


@pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier])
def test_a_warm_start_gives_the_forest_of_one_fit(cls, rows, classes):
    grown = cls(n_estimators=3, warm_start=True, random_state=0).fit(rows, classes)
    grown.set_params(n_estimators=6).fit(rows, classes)
    whole = cls(n_estimators=6, random_state=0).fit(rows, classes)
    np.testing.assert_array_equal(grown.predict_proba(rows), whole.predict_proba(rows))


def test_a_forest_is_the_mean_of_its_estimators(rows, numbers):
    forest = RandomForestRegressor(7, random_state=0).fit(rows, numbers)
    each = [tree.predict(rows) for tree in forest.estimators_]
    np.testing.assert_allclose(forest.predict(rows), np.mean(each, axis=0))
    passed, first = forest.decision_path(rows)
    assert passed.shape == (120, sum(tree.tree_.node_count for tree in forest.estimators_))
    assert first[-1] == passed.shape[1]


def test_a_forest_with_a_monotone_constraint_keeps_it(rows, numbers):
    forest = RandomForestRegressor(10, monotonic_cst=[0, 1, 0, 0], random_state=0)
    forest.fit(rows, numbers)
    line = np.zeros((50, 4))
    line[:, 1] = np.linspace(-2, 2, 50)
    assert (np.diff(forest.predict(line)) >= -1e-12).all()


def test_gradient_boosting_is_scikit_learns(rows, classes, numbers):
    settings = {"n_estimators": 8, "random_state": 0}
    ours = GradientBoostingClassifier(**settings).fit(rows, classes)
    theirs = sklearn.ensemble.GradientBoostingClassifier(**settings).fit(rows, classes)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-12)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_)
    assert ours.estimators_.shape == theirs.estimators_.shape == (8, 3)
    for loss in ("squared_error", "huber"):
        ours = GradientBoostingRegressor(loss=loss, **settings).fit(rows, numbers)
        theirs = sklearn.ensemble.GradientBoostingRegressor(loss=loss, **settings)
        np.testing.assert_allclose(ours.predict(rows), theirs.fit(rows, numbers).predict(rows))


def test_class_priors_of_boosting_do_not_depend_on_the_scale_of_weights(rng):
    X, y = rng.normal(size=(200, 2)), np.repeat([1, 0], [11, 189])
    model = HistGradientBoostingClassifier(max_iter=1, learning_rate=1e-12)
    for scale in (1 / 200, 1.0, 1000.0):
        proba = model.fit(X, y, sample_weight=np.full(200, scale)).predict_proba(X)
        np.testing.assert_allclose(proba[:, 1], 11 / 200, rtol=1e-6)


def test_interaction_constraints_that_are_no_sets_are_refused(rows, numbers):
    with pytest.raises(ValueError, match="sequence of tuples or lists"):
        HistGradientBoostingRegressor(interaction_cst=[0, 1]).fit(rows, numbers)


def test_columns_of_an_array_may_be_named_categories(rng):
    X = rng.integers(0, 6, size=(300, 2)).astype(float)
    y = np.isin(X[:, 0], [0, 3, 5]).astype(float)
    settings = {"max_iter": 1, "max_leaf_nodes": 2, "learning_rate": 1.0, "category_smoothing": 0.0}
    named = HistGradientBoostingRegressor(categorical_features=[0], **settings).fit(X, y)
    plain = HistGradientBoostingRegressor(**settings).fit(X, y)
    assert named.score(X, y) > 0.99 > plain.score(X, y)
    assert named.is_categorical_.tolist() == [True, False]


def test_adaboost_of_gini_stumps_is_scikit_learns_for_two_classes(rows, classes):
    y = classes > 0
    stump = DecisionTreeClassifier(max_depth=1)
    ours = AdaBoostClassifier(stump, n_estimators=5, random_state=0).fit(rows, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=5, random_state=0).fit(rows, y)
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=1e-6
    )
    default = AdaBoostClassifier(n_estimators=5, random_state=0).fit(rows, y)
    said = np.array([tree.predict(rows) for tree in default.estimators_])
    signs = np.where(said, 1.0, -1.0)
    total = default.estimator_weights_.sum()
    np.testing.assert_allclose(
        default.decision_function(rows), 2 * default.estimator_weights_ @ signs / total, atol=1e-9
    )


def test_two_members_of_one_name_are_refused_and_members_may_be_dropped(rows, classes):
    twice = [("one", DecisionTreeClassifier()), ("one", LogisticRegression())]
    with pytest.raises(ValueError, match="not unique"):
        VotingClassifier(twice).fit(rows, classes)
    pairs = [("tree", DecisionTreeClassifier()), ("line", LogisticRegression()), ("no", "drop")]
    vote = VotingClassifier(pairs, voting="soft", weights=[1, 2, 5]).fit(rows, classes)
    assert vote.named_estimators_["no"] == "drop"
    assert vote.transform(rows).shape == (120, 6)
    stack = StackingClassifier(pairs, cv=sklearn.model_selection.StratifiedKFold(3))
    stack.fit(rows, classes)
    assert stack.transform(rows).shape == (120, 6)
    assert stack.stack_method_ == ["predict_proba", "predict_proba"]
    assert isinstance(stack.final_estimator_, LogisticRegression)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_full_tree_is_exact_on_the_rows_that_it_was_drawn(rng, weighted):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    weights = np.where(np.arange(40) % 7 == 0, 0.0, 1.0) if weighted else None
    forest = RandomForestRegressor(5, max_samples=60, oob_score=True, random_state=0)
    forest.fit(X, y, sample_weight=weights)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        assert len(rows) == 60  # more draws than rows
        np.testing.assert_allclose(tree.predict(X[rows]), y[rows])
        assert weights is None or (weights[rows] > 0).all()
    whole = ExtraTreesClassifier(2, random_state=0).fit(X, y > 0)
    assert [each.tolist() for each in whole.estimators_samples_] == [list(range(40))] * 2
