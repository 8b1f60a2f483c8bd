"""Pictures of trees and ensembles: what stands in the figures, in both themes."""

import numpy as np
import pytest

from gnomon import show
from gnomon.table import Table
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    FlexibleTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleList,
)

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def rows(rng):
    return rng.normal(size=(120, 3))


@pytest.fixture
def classes(rows):
    return np.where(rows[:, 0] + rows[:, 1] > 0, "yes", "no")


def texts(figure):
    return " ".join(each.text for each in figure.layout.annotations)


@pytest.mark.covers("tree-drawing")
@both_themes
def test_a_drawing_shows_every_test_and_every_leaf(theme, rows, classes):
    model = DecisionTreeClassifier(max_depth=2).fit(rows, classes)
    figure = show.tree(model, theme=theme)
    n_nodes = model.nodes_.n_nodes
    assert len(figure.layout.annotations) == n_nodes + (n_nodes - 1)
    assert "x0 ≤" in texts(figure) or "x1 ≤" in texts(figure)
    figure.to_json()


@pytest.mark.covers("tree-drawing")
def test_bars_at_the_nodes_are_the_class_shares(rows, classes):
    model = DecisionTreeClassifier(max_depth=2).fit(rows, classes)
    figure = show.tree(model)
    bars = [shape for shape in figure.layout.shapes if shape.fillcolor is not None]
    widths = [shape.x1 - shape.x0 for shape in bars]
    shares = model.nodes_.value[model.nodes_.value > 0]
    np.testing.assert_allclose(sorted(widths), sorted(0.84 * shares))


@pytest.mark.covers("tree-drawing")
def test_the_path_of_a_case_is_marked_and_its_parts_where_a_cell_is_missing():
    table = np.array([0.0] * 3 + [1.0] * 7)[:, None]
    y = np.array(["left"] * 3 + ["right"] * 7)
    model = FlexibleTreeClassifier().fit(table, y)
    divided = show.tree(model, row=[[np.nan]])
    assert "<b>0.3</b>" in texts(divided)
    assert "<b>0.7</b>" in texts(divided)
    whole = show.tree(model, row=[[0.0]])
    thick = [trace for trace in whole.data if trace.mode == "lines" and trace.line.width > 4]
    assert len(thick) == 1
    with pytest.raises(ValueError, match="several rows"):
        show.tree(model, row=[[0.0], [1.0]])


@pytest.mark.covers("tree-drawing")
def test_a_large_tree_is_refused_until_its_depth_is_limited(rng):
    rows, y = rng.normal(size=(800, 2)), rng.normal(size=800)
    model = DecisionTreeRegressor().fit(rows, y)
    with pytest.raises(ValueError, match="max_depth"):
        show.tree(model)
    assert "more below" in show.tree(model, max_depth=3).layout.title.text


@pytest.mark.covers("tree-drawing")
def test_levels_of_categories_stand_on_the_branches():
    table = Table.from_dict({"sky": ["sun", "rain", "snow", "sun"], "y": ["p", "q", "q", "p"]})
    figure = show.tree(DecisionTreeClassifier().fit(table, "y"))
    assert "sky == sun" in texts(figure)
    assert "sky in {rain, snow}" in texts(figure).replace("<br>", " ")


@pytest.mark.covers("bagged-members-overlay")
@both_themes
def test_trees_of_a_forest_stand_side_by_side(theme, rows, classes):
    forest = RandomForestClassifier(4, random_state=0).fit(rows, classes)
    figure = show.forest(forest, (0, 3), max_depth=2, theme=theme)
    assert "tree 0" in texts(figure)
    assert "tree 3" in texts(figure)
    assert {shape.xref for shape in figure.layout.shapes} == {"x", "x2"}


@pytest.mark.covers("impurity-curves")
@both_themes
def test_impurity_curves_meet_at_one_half(theme):
    figure = show.impurity_curves(theme=theme)
    assert len(figure.data) == 3
    for curve in figure.data:
        assert max(curve.y) == pytest.approx(0.5)
        assert curve.x[int(np.argmax(curve.y))] == pytest.approx(0.5)
    bits = show.impurity_curves(scaled=False).data[0]
    assert max(bits.y) == pytest.approx(1.0)


@pytest.mark.covers("impurity-curves")
def test_purity_bars_are_the_weights_of_the_classes(rows, classes):
    model = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(rows, classes)
    figure = show.split_purity(model)
    totals = np.sum([bar.x for bar in figure.data], axis=0)
    np.testing.assert_allclose(totals, model.nodes_.weight)
    with pytest.raises(ValueError, match="leaf"):
        show.split_purity(model, 1)


@pytest.mark.covers("tree-split-candidates")
@both_themes
@pytest.mark.parametrize("criterion", ["entropy", "gini", "misclassification"])
def test_the_best_candidate_is_the_split_that_a_tree_takes(criterion, theme, rows, classes):
    from gnomon.show.trees import threshold_savings

    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(rows[:, :2], classes).nodes_
    codes = (classes == "yes").astype(int)
    found = [threshold_savings(column, codes, criterion) for column in rows[:, :2].T]
    best = max(saved.max() for _, saved in found)
    assert best == pytest.approx(tree.gain[0] / len(rows))
    figure = show.split_candidates(rows, classes, criterion=criterion, theme=theme)
    assert f"column {tree.feature[0]}" in figure.layout.title.text or best == pytest.approx(
        min(saved.max() for _, saved in found)
    )


@pytest.mark.covers("tree-drawing", "decision-rules")
@both_themes
def test_rules_that_contradict_each_other_are_hatched(theme):
    rules = RuleList.parse(
        "if age < 30 and income > 40 then buys\nif 25 <= age < 60 and income < 60 then waits"
    )
    figure = show.rules(rules, "age", "income", theme=theme)
    hatched = [trace for trace in figure.data if trace.fillpattern.shape]
    assert len(hatched) == 1
    assert (min(hatched[0].x), max(hatched[0].x)) == (25, 30)
    assert (min(hatched[0].y), max(hatched[0].y)) == (40, 60)
    with pytest.raises(ValueError, match="limits"):
        show.rules(rules, "age", "height")


@pytest.mark.covers("variable-importance-bars")
@both_themes
def test_bars_are_relative_to_one_hundred_with_standard_errors_over_the_trees(theme, rows, classes):
    forest = RandomForestClassifier(30, random_state=0).fit(rows, classes)
    bar = show.importances(forest, theme=theme).data[0]
    assert max(bar.x) == pytest.approx(100)
    unit = 100 / forest.feature_importances_.max()
    each = np.array([tree.importances(3) for tree in forest.trees_])
    each /= each.sum(axis=1, keepdims=True)
    order = np.argsort(-forest.feature_importances_)
    error = unit * 2 * each.std(axis=0, ddof=1) / np.sqrt(30)
    np.testing.assert_allclose(bar.error_x.array, error[order])
    one = show.importances(DecisionTreeClassifier().fit(rows, classes))
    assert "no interval" in one.layout.title.text
    with pytest.raises(TypeError, match="feature_importances_"):
        show.importances(object())


@pytest.mark.covers("partial-dependence")
@both_themes
def test_partial_dependence_is_the_mean_of_predictions_with_the_column_set(theme, rows):
    from sklearn.inspection import partial_dependence

    y = rows[:, 0] ** 2 + rows[:, 1]
    model = RandomForestRegressor(10, random_state=0).fit(rows, y)
    figure = show.partial_dependence(model, rows, 0, n_points=9, theme=theme, individual=True)
    line = figure.data[-1]
    expected = partial_dependence(
        model, rows, [0], custom_values={0: np.asarray(line.x)}, method="brute"
    )
    np.testing.assert_allclose(line.y, expected["average"][0])
    surface = show.partial_dependence(model, rows, (0, 1), n_points=4).data[0]
    changed = rows.copy()
    changed[:, 0], changed[:, 1] = surface.x[2], surface.y[1]
    assert surface.z[1][2] == pytest.approx(model.predict(changed).mean())


@pytest.mark.covers("partial-dependence", "trellis-conditional-plots")
def test_dependence_on_categories_and_in_slices_of_a_table(rng):
    n = 90
    table = Table.from_dict(
        {
            "sky": [("sun", "rain")[k] for k in rng.integers(0, 2, n)],
            "size": rng.normal(size=n).tolist(),
        }
    )
    y = np.array([v + 2 * (s == "sun") for s, v in zip(*table.to_dict().values())])
    model = DecisionTreeRegressor(max_depth=4).fit(table, y)
    points = show.partial_dependence(model, table, "sky").data[0]
    assert list(points.x) == ["rain", "sun"]
    assert points.y[1] - points.y[0] == pytest.approx(2, abs=0.7)
    by_level = show.trellis(model, table, "size", "sky", theme="dark")
    assert "sky = rain" in texts(by_level)
    by_slice = show.trellis(model, table, "sky", "size", slices=3)
    assert texts(by_slice).count("rows") == 3


@pytest.mark.covers("trellis-conditional-plots")
def test_each_panel_averages_over_the_rows_of_its_slice(rows):
    y = rows[:, 0] * (rows[:, 1] > 0)
    model = RandomForestRegressor(10, random_state=0).fit(rows, y)
    figure = show.trellis(model, rows, 0, 1, slices=2, n_points=5)
    lines = [trace for trace in figure.data if trace.line.width == 4]
    upper = rows[rows[:, 1] >= np.quantile(rows[:, 1], 0.5)].copy()
    upper[:, 0] = lines[1].x[3]
    assert lines[1].y[3] == pytest.approx(model.predict(upper).mean())


@pytest.mark.covers("bagged-members-overlay")
@both_themes
def test_the_members_average_to_the_thick_curve(theme, rng):
    x = rng.uniform(size=(80, 1))
    y = np.sin(6 * x[:, 0])
    forest = RandomForestRegressor(12, random_state=0).fit(x, y)
    figure = show.members(forest, x, 0, y=y, theme=theme)
    curves = [trace.y for trace in figure.data if trace.name == "members"]
    np.testing.assert_allclose(np.mean(curves, axis=0), figure.data[-1].y)
    with pytest.raises(TypeError, match="members_"):
        show.members(DecisionTreeRegressor().fit(x, y), x, 0)


@pytest.mark.covers("stage-residual-picture")
@both_themes
def test_residuals_of_stages_are_what_staged_predictions_leave(theme, rows):
    from sklearn.ensemble import GradientBoostingRegressor

    y = rows[:, 0] ** 2
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(rows, y)
    figure = show.stage_residuals(model, rows, y, 0, stages=(0, 3), theme=theme)
    staged = list(model.staged_predict(rows))
    np.testing.assert_allclose(figure.data[0].y, y - y.mean())
    np.testing.assert_allclose(figure.data[1].y, y - staged[2])
    assert figure.data[0].marker.cmin == -figure.data[1].marker.cmax
    over_two = show.stage_residuals(model, rows, y, (0, 1), stages=(1, 5))
    np.testing.assert_allclose(over_two.data[1].marker.color, y - staged[4])
    with pytest.raises(ValueError, match="no stage 9"):
        show.stage_residuals(model, rows, y, stages=(9,))


@pytest.mark.covers("boosting-staged-curves")
@both_themes
def test_staged_errors_mark_the_round_of_least_error(theme, rows, classes):
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(rows[:60], classes[:60])
    figure = show.staged_errors(model, {"held out": (rows[60:], classes[60:])}, theme=theme)
    errors = [np.mean(said != classes[60:]) for said in model.staged_predict(rows[60:])]
    line = next(trace for trace in figure.data if trace.name == "held out")
    np.testing.assert_allclose(line.y, errors)
    star = next(trace for trace in figure.data if trace.marker.symbol == "star")
    assert star.x[0] == 1 + int(np.argmin(errors))


@pytest.mark.covers("adaboost-round-view")
@both_themes
def test_circles_of_a_boosting_round_are_as_large_as_the_weights(theme, rng):
    from sklearn.ensemble import AdaBoostClassifier

    points = rng.normal(size=(60, 2))
    y = np.where((points**2).sum(axis=1) > 1.4, "out", "in")
    model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(points, y)
    figure = show.boosting_rounds(model, points, y, rounds=(1, 2), theme=theme)
    circles = [trace for trace in figure.data if trace.name == "in"]
    np.testing.assert_allclose(circles[0].marker.size, 9)
    wrong = model.estimators_[0].predict(points) != y
    weights = np.exp(model.estimator_weights_[0] * wrong)
    sizes = 9 * np.sqrt(weights / weights.mean()).clip(0.25, 4)
    np.testing.assert_allclose(circles[1].marker.size, sizes[y == "in"])
    with pytest.raises(ValueError, match="no round 9"):
        show.boosting_rounds(model, points, y, rounds=(9,))


@pytest.mark.covers("adaboost-round-view")
def test_gnomons_boosting_is_shown_as_scikit_learns_is(rng):
    ensemble = pytest.importorskip("gnomon.ensemble")
    if not hasattr(ensemble, "AdaBoostClassifier"):
        pytest.skip("this version has no AdaBoost of its own")
    from gnomon.show.ensembles import round_scores

    points = rng.normal(size=(60, 2))
    y = np.where(points[:, 0] + points[:, 1] > 0, "up", "down")
    model = ensemble.AdaBoostClassifier(n_estimators=5).fit(points, y)
    scores = round_scores(model, points)
    for score, said in zip(scores, model.staged_predict(points)):
        clear = np.abs(score) > 1e-9
        np.testing.assert_array_equal(np.where(score > 0, "up", "down")[clear], said[clear])
    show.boosting_rounds(model, points, y, rounds=(1, 2))


@pytest.mark.covers("adaboost-round-view")
@both_themes
def test_a_member_that_errs_half_the_time_has_no_say(theme):
    say, factor = show.boosting_say(theme=theme).data
    middle = int(np.argmin(np.abs(np.asarray(say.x) - 0.5)))
    assert say.y[middle] == pytest.approx(0, abs=1e-9)
    assert factor.y[middle] == pytest.approx(1)
    assert say.y[20] == pytest.approx(np.log((1 - say.x[20]) / say.x[20]))


def test_an_unknown_theme_is_refused():
    with pytest.raises(ValueError, match="light, dark"):
        show.impurity_curves(theme="pink")
