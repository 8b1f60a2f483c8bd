"""Worked examples of the texts for trees and rules: 001 11, 003 2.3-2.4, 004 6."""

import numpy as np
import pytest

from gnomon.table import Table
from gnomon.trees import (
    DecisionTreeRegressor,
    FlexibleTreeClassifier,
    FlexibleTreeRegressor,
    GaussianTreeClassifier,
    ObliqueTreeClassifier,
    RuleList,
    cost_complexity_path,
    export_text,
    prune,
    rules_from_tree,
)
from gnomon.trees.impurity import Entropy, Gini
from gnomon.trees.view import TreeView

FASHION = {
    "socks": ["match", "match", "mismatch", "match", "mismatch", "match", "mismatch"],
    "shirt": ["T-shirt", "none", "button-up", "button-up", "T-shirt", "none", "T-shirt"],
    "pants": ["shorts", "none", "shorts", "slacks", "slacks", "shorts", "shorts"],
    "tie": ["no", "yes", "no", "yes", "no", "yes", "no"],
    "fashion": ["stylish", "dork", "dork", "stylish", "dork", "dork", "dork"],
}


def fashion(*columns):
    return Table.from_dict({name: FASHION[name] for name in (*columns, "fashion")})


def gain_of(column, categories):
    model = FlexibleTreeClassifier("entropy", categories=categories, max_depth=1)
    return model.fit(fashion(column), "fashion").tree_.gain[0] / 7


@pytest.mark.covers("split-entropy-gain", "split-categorical-multiway")
@pytest.mark.parametrize(
    ("column", "gain"), [("socks", 0.2917), ("shirt", 0.1839), ("pants", 0.1138), ("tie", 0.0060)]
)
def test_003_w15_gain_of_a_branch_per_value(column, gain):
    assert gain_of(column, "multiway") == pytest.approx(gain, abs=5e-5)


@pytest.mark.covers("split-categorical-multiway")
@pytest.mark.parametrize(("column", "gain"), [("shirt", 0.1696), ("pants", 0.0760)])
def test_003_w15_gain_of_the_best_value_against_the_rest(column, gain):
    assert gain_of(column, "value") == pytest.approx(gain, abs=5e-5)


@pytest.mark.covers("classification-tree", "split-categorical-multiway")
def test_003_w14_socks_then_shirt_end_the_tree():
    table = fashion("socks", "shirt", "pants", "tie")
    model = FlexibleTreeClassifier("entropy", categories="multiway").fit(table, "fashion")
    tree, names = model.tree_, TreeView.of(model).names
    assert names[tree.questions.feature[0]] == "socks"
    assert model.get_depth() == 2
    assert {names[j] for j in tree.questions.feature[tree.n_children > 0]} == {"socks", "shirt"}


@pytest.mark.covers("split-categorical-multiway")
def test_003_w14_a_t_shirt_below_matching_socks_and_a_tie_gets_the_baseline_above_it():
    """Those three rows hold no T-shirt: two dorks and one stylish decide."""
    table = fashion("shirt", "tie")
    below = [
        float(socks == "match" and tie == "yes")
        for socks, tie in zip(FASHION["socks"], FASHION["tie"])
    ]
    below[0] = 1e-12  # the only T-shirt with matching socks: makes the level known
    model = FlexibleTreeClassifier("entropy", categories="multiway", max_depth=2)
    model.fit(table, "fashion", sample_weight=below)
    tree = model.tree_
    for node in np.flatnonzero(tree.n_children):
        first = tree.first_child[node]
        for child in range(first, first + tree.n_children[node]):
            if tree.weight[child] == 0:
                np.testing.assert_array_equal(tree.value[child], tree.value[node])
    new = Table.from_dict({"shirt": ["T-shirt"], "tie": ["yes"]})
    if tree.questions.feature[0] == 1:
        np.testing.assert_allclose(model.predict_proba(new), [[2 / 3, 1 / 3]])
        assert model.predict(new).tolist() == ["dork"]


@pytest.mark.covers("split-laplace-entropy")
def test_003_one_smoothing_row_of_two_against_one():
    shares = np.array([2.5, 1.5]) / 4
    expected = -(shares * np.log2(shares)).sum()
    assert Entropy(2, 1.0).total(np.array([2.0, 1.0])) / 3 == pytest.approx(expected)


@pytest.mark.covers("split-oblique")
def test_003_the_middle_of_the_class_means_lies_on_the_plane_and_the_means_on_their_sides(rng):
    rows = rng.normal(size=(60, 3))
    y = np.arange(60) % 2 == 0
    rows[y] += 1.0
    model = ObliqueTreeClassifier("means", standardize=False, max_depth=1).fit(rows, y)
    questions = model.tree_.questions
    direction, threshold = questions.directions[0], questions.threshold[0]
    means = rows[y].mean(axis=0), rows[~y].mean(axis=0)
    np.testing.assert_allclose(direction, means[0] - means[1])
    assert (means[0] + means[1]) / 2 @ direction == pytest.approx(threshold)
    assert means[0] @ direction > threshold > means[1] @ direction


@pytest.mark.covers("split-gaussian")
def test_003_erratum_the_dropped_determinant_and_prior_change_the_division():
    """A narrow and a wide cloud about one point: by distance alone the wide one takes everything
    beyond the middle, by density the narrow one keeps its neighbourhood."""
    steps = np.linspace(-1, 1, 21)
    rows = np.concatenate([0.1 * steps, 5 * steps])[:, None]
    y = np.repeat(["narrow", "wide"], 21)
    by_density = GaussianTreeClassifier("posterior", shrinkage=0, max_depth=1).fit(rows, y)
    assert by_density.apply([[0.05], [3.0]]).tolist() == [1, 2]
    by_distance = GaussianTreeClassifier("distance", shrinkage=0, max_depth=1).fit(rows, y)
    assert by_distance.apply([[0.05], [3.0]]).tolist() == [2, 2]


@pytest.mark.covers("regression-tree", "tree-cost-complexity-pruning", "tree-relative-importance")
def test_001_a14_splits_importances_and_pruning_prices_of_eight_points():
    rows, y = np.arange(1, 9)[:, None], np.array([1, 1.2, 0.8, 1, 5, 5.2, 4.8, 9])
    exact = DecisionTreeRegressor().fit(rows, y)
    flexible = FlexibleTreeRegressor(min_samples_leaf=1).fit(rows, y)
    for model, tree, threshold in (
        (exact, exact.nodes_, exact.nodes_.threshold),
        (flexible, flexible.tree_, flexible.tree_.questions.threshold),
    ):
        assert threshold[0] == 4.5
        assert tree.impurity[0] * 8 == pytest.approx(62.16)
        assert tree.gain[0] == pytest.approx(50)
        path = cost_complexity_path(model, scale="sum")
        assert path.alphas[-2:] == pytest.approx([12, 50])
        assert path.risks[-3:] == pytest.approx([0.16, 12.16, 62.16])
        two = prune(model, 12, scale="sum")
        assert sorted(set(two.predict(rows))) == pytest.approx([1, 6])


@pytest.mark.covers("split-gini", "split-entropy-gain", "impurity-curves")
def test_001_t8_entropy_passes_through_one_half_when_scaled_by_half_over_ln_2():
    half = np.array([1.0, 1.0])
    nats = Entropy(2).total(half) / 2 * np.log(2)
    assert nats == pytest.approx(np.log(2))
    assert nats * 0.5 / np.log(2) == pytest.approx(Gini(2).total(half) / 2)


@pytest.mark.covers("tree-fractional-missing")
def test_004_fig_6_6_three_tenths_of_a_case_go_left_and_seven_tenths_right():
    rows = np.array([0.0] * 3 + [1.0] * 7)[:, None]
    y = np.array(["left"] * 3 + ["right"] * 7)
    model = FlexibleTreeClassifier().fit(rows, y)
    np.testing.assert_allclose(model.predict_proba([[np.nan]]), [[0.3, 0.7]])
    numbers = FlexibleTreeRegressor(min_samples_leaf=1).fit(rows, np.where(y == "left", 10.0, 20.0))
    assert numbers.predict([[np.nan]]) == pytest.approx([0.3 * 10 + 0.7 * 20])


@pytest.mark.covers("decision-rules")
def test_003_rules_of_section_2_4_are_understood():
    rules = RuleList.parse(
        """
        "if x1 == 1.11 and x2 >= 0.0 and x3 == true, then y1 = 3.1415, y2 = potato",
        "if age < 16 and gender == male, then label = boy",
        "if sky == cloudy and barometer > 31.1, then chance_of_rain = high",
        if ||x7 - 2.34|| < 1.5 and ||x9 − 5.1|| >= 6.0 then strange
        """
    )
    row = {"x1": [1.11], "x2": [0.0], "x3": [True], "age": [30], "gender": ["male"]}
    row |= {"sky": ["clear"], "barometer": [30.0], "x7": [0.0], "x9": [0.0]}
    assert rules.predict(row).tolist() == [{"y1": 3.1415, "y2": "potato"}]
    assert rules.predict(row | {"x1": [1.0], "age": [12]}).tolist() == ["boy"]
    assert rules.predict(row | {"x1": [1.0], "sky": ["cloudy"], "barometer": [32]}).tolist() == [
        "high"
    ]
    far = row | {"x1": [1.0], "x7": [3.0], "x9": [11.1]}
    assert rules.predict(far).tolist() == ["strange"]
    assert rules.predict(far | {"x9": [11.0]}).tolist() == [None]


@pytest.mark.covers("decision-rules")
def test_004_walk_or_take_the_bus():
    rules = RuleList.parse("if distance < 3 and car == no then walk else take the bus")
    trips = {"distance": [1.0, 1.0, 9.0], "car": ["no", "yes", "no"]}
    assert rules.predict(trips).tolist() == ["walk", "take the bus", "take the bus"]


@pytest.mark.covers("tree-to-rules", "decision-rules")
def test_004_rules_read_off_a_tree_neither_contradict_each_other_nor_leave_gaps():
    model = FlexibleTreeClassifier("entropy", missing="category").fit(
        fashion("socks", "shirt", "tie"), "fashion"
    )
    rules = rules_from_tree(model)
    assert rules.contradictions() == []
    levels = {name: set(FASHION[name]) for name in ("socks", "shirt", "tie")}
    assert rules.gaps(levels) == []


def test_the_print_of_a_tree_shows_its_surrogates_with_their_agreement():
    table = Table.from_dict(
        {"a": [1.0, 2.0, 3.0, 4.0], "b": [10.0, 20.0, 30.0, 40.0], "y": ["n", "n", "p", "p"]}
    )
    text = export_text(FlexibleTreeClassifier(missing="surrogate").fit(table, "y"))
    assert text.splitlines()[:2] == ["all: 4 rows, n 50%, p 50%", "│  ~ b <= 25 (agrees 100%)"]
