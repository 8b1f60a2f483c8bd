"""Rules: sets of conditions by membership, lists by hand, and trees read as rules."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.table import Table
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    FlexibleTreeClassifier,
    ObliqueTreeClassifier,
    RuleInstanceClassifier,
    RuleList,
    RuleListClassifier,
    generalize,
    rules_from_tree,
)
from gnomon.trees.conditions import Condition, Interval, LevelSet, NumberSet
from gnomon.trees.rule_instances import specified_by_rules
from gnomon.trees.rules import EncodedColumns, Rule
from gnomon.trees.tree_rules import upper_error

PROBES = np.array([np.nan, *np.arange(-3, 3.25, 0.25)])
LEVELS = np.array(["a", "b", "c", "d", None], dtype=object)

ends = st.integers(-2, 2).map(float)
intervals = st.builds(Interval, ends, ends, st.booleans(), st.booleans()).filter(
    lambda each: not each.is_empty
)
number_sets = st.builds(lambda each, gone: NumberSet((each,), gone), intervals, st.booleans())
level_sets = st.builds(
    LevelSet, st.frozensets(st.sampled_from("abc")), st.booleans(), st.booleans()
)


@pytest.mark.covers("decision-rules")
@given(one=number_sets, other=number_sets)
def test_sets_of_numbers_join_and_deny_as_their_members_do(one, other):
    here, there = one.holds(PROBES), other.holds(PROBES)
    np.testing.assert_array_equal(one.joined(other).holds(PROBES), here & there)
    np.testing.assert_array_equal(one.denied().holds(PROBES), ~here)
    assert one.joined(one.denied()).is_empty
    assert not one.joined(other).holds(PROBES).any() or not one.joined(other).is_empty


@pytest.mark.covers("decision-rules")
@given(one=level_sets, other=level_sets)
def test_sets_of_levels_join_and_deny_as_their_members_do(one, other):
    here, there = one.holds(LEVELS), other.holds(LEVELS)
    np.testing.assert_array_equal(one.joined(other).holds(LEVELS), here & there)
    np.testing.assert_array_equal(one.denied().holds(LEVELS), ~here)
    assert one.joined(one.denied()).is_empty


@pytest.mark.covers("decision-rules")
@given(
    tests=st.lists(
        st.tuples(st.sampled_from("xyz"), ends, st.sampled_from(["<", "<=", ">", ">=", "=="])),
        min_size=1,
        max_size=6,
    )
)
def test_simplified_conditions_hold_where_all_of_them_did(tests):
    written = " and ".join(f"{name} {sign} {value:g}" for name, value, sign in tests)
    rule = RuleList.parse(f"if {written} then yes").rules[0]
    assert len(rule.conditions) == len({name for name, _, _ in tests})
    grid = np.array(np.meshgrid(*[np.arange(-3, 3.5, 0.5)] * 3)).reshape(3, -1)
    columns = dict(zip("xyz", grid))
    compare = {
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
        "==": np.equal,
    }
    expected = np.ones(grid.shape[1], bool)
    for name, value, sign in tests:
        expected &= compare[sign](columns[name], value)
    np.testing.assert_array_equal(rule.fires(columns, grid.shape[1]), expected)


boxes = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from("ab"), st.sampled_from("pq")),
    min_size=1,
    max_size=5,
)


@pytest.mark.covers("decision-rules")
@given(boxes=boxes)
def test_contradictions_and_gaps_are_where_rules_disagree_or_none_fires(boxes):
    lines = [
        f"if {low} <= x < {low + width} and c == {level} then {label}"
        for low, width, level, label in boxes
    ]
    rules = RuleList.parse(lines)
    x, c = (each.ravel() for each in np.meshgrid(np.arange(-0.5, 8, 0.5), [0, 1]))
    columns = {"x": x, "c": np.array(["a", "b"], dtype=object)[c]}
    fired = np.array([rule.fires(columns, len(x)) for rule in rules])
    in_gap = np.zeros(len(x), bool)
    for gap in rules.gaps(levels={"c": ["a", "b"]}):
        inside = np.ones(len(x), bool)
        for condition in gap:
            inside &= condition.holds(columns)
        assert not (in_gap & inside).any()
        in_gap |= inside
    np.testing.assert_array_equal(in_gap, ~fired.any(axis=0))
    labels = [rule.label for rule in rules]
    expected = {
        (i, j)
        for j in range(len(boxes))
        for i in range(j)
        if labels[i] != labels[j] and (fired[i] & fired[j]).any()
    }
    assert {(each.first, each.second) for each in rules.contradictions()} == expected


@pytest.mark.covers("decision-rules")
def test_a_contradiction_is_told_with_its_place():
    rules = RuleList.parse("if a < 5 then x\nif a >= 3 and b == u then y")
    (found,) = rules.contradictions()
    assert str(found) == "rules 1 (x) and 2 (y): 3 <= a < 5 and b == u"
    assert [" and ".join(map(str, gap)) for gap in rules.gaps()] == ["a >= 5 and b != u"]


@pytest.mark.covers("decision-rules")
def test_the_first_rule_that_fires_decides_and_shares_may_be_given():
    rules = RuleList.parse("x < 3 -> {walk: 0.7, bus: 0.3}\nx < 5 -> bus\nelse car")
    assert rules.predict({"x": [1, 4, 9]}).tolist() == ["walk", "bus", "car"]
    assert rules.rules[0].shares == {"walk": 0.7, "bus": 0.3}
    assert rules.fired({"x": [1, 4, 9, None]}).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("if x < 3", "no .then."),
        ("if x then y", "no test"),
        ("if x < red then y", "no number"),
        ("if x < 3 and x == red then y", "number and as a category"),
    ],
)
def test_a_line_that_is_no_rule_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        RuleList.parse(line)


def test_a_column_that_the_table_lacks_is_named():
    with pytest.raises(ValueError, match="'age'"):
        RuleList.parse("if age < 3 then child").predict({"size": [1.0]})


@pytest.mark.covers("tree-to-rules")
def test_the_rules_of_a_tree_say_what_the_tree_says_of_mixed_rows_with_gaps(mixed_table):
    for model in (
        DecisionTreeClassifier(max_depth=5),
        FlexibleTreeClassifier(missing="category", max_depth=5),
    ):
        model.fit(mixed_table, "outcome")
        rules = rules_from_tree(model)
        found = rules.predict(mixed_table.drop("outcome"))
        np.testing.assert_array_equal(found, model.predict(mixed_table))
        assert (rules.fired(mixed_table.drop("outcome")) >= 0).all()
        assert sum(rule.coverage for rule in rules) == pytest.approx(len(mixed_table))


@pytest.mark.covers("tree-to-rules")
def test_coverage_and_accuracy_of_a_rule_are_those_of_its_leaf(rng):
    rows, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = DecisionTreeClassifier(max_depth=3).fit(rows, y)
    rules = rules_from_tree(model)
    fired = rules.fired(rows)
    for k, rule in enumerate(rules):
        assert rule.coverage == np.sum(fired == k)
        assert rule.accuracy == pytest.approx(np.mean(y[fired == k] == rule.label))
        names = [condition.column for condition in rule.conditions]
        assert len(names) == len(set(names))


@pytest.mark.covers("tree-to-rules")
def test_rules_of_numbers_carry_the_mean_and_deviation_of_their_leaf(rng):
    rows, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = DecisionTreeRegressor(max_depth=3).fit(rows, y)
    rules = rules_from_tree(model)
    np.testing.assert_allclose(rules.predict(rows), model.predict(rows))
    fired = rules.fired(rows)
    assert rules.rules[0].accuracy == pytest.approx(y[fired == 0].std())


def test_a_tree_of_planes_has_no_rules(rng):
    model = ObliqueTreeClassifier().fit(rng.normal(size=(30, 2)), np.arange(30) % 2)
    with pytest.raises(ValueError, match="several columns"):
        rules_from_tree(model)


@pytest.mark.covers("tree-to-rules")
def test_generalized_rules_are_shorter_and_expected_to_err_no_more(rng):
    rows = rng.normal(size=(200, 4))
    y = np.where((rows[:, 0] > 0) ^ (rng.random(200) < 0.1), "yes", "no")
    model = DecisionTreeClassifier(max_depth=5).fit(rows, y)
    rules = rules_from_tree(model)
    columns = {f"x{j}": column for j, column in enumerate(rows.T)}
    short = generalize(rules, columns, y, np.ones(200))

    def n_tests(some):
        return sum(len(rule.conditions) for rule in some)

    def doubt(rule):
        return upper_error(rule.coverage * (1 - rule.accuracy), rule.coverage)

    assert n_tests(short) < n_tests(rules)
    assert max(map(doubt, short)) <= max(map(doubt, rules)) + 1e-12
    assert [doubt(rule) for rule in short] == sorted(map(doubt, short))
    accuracy = np.mean(short.predict(rows) == y)
    assert accuracy > 0.8


def test_the_pessimistic_error_is_exceeded_with_probability_one_quarter():
    from scipy import stats

    for wrong, total in ((0, 6), (2, 10), (5, 40)):
        bound = upper_error(wrong, total)
        assert stats.binom.cdf(wrong, total, bound) == pytest.approx(0.25)


@pytest.mark.covers("decision-rules")
def test_a_learnt_list_is_what_its_printed_rules_say(mixed_table):
    model = RuleListClassifier(min_samples_rule=3).fit(mixed_table, "outcome")
    rules = model.rules_
    table = mixed_table.drop("outcome")
    np.testing.assert_array_equal(rules.predict(table), model.predict(table))
    fired = rules.fired(table)
    outcome = np.array(mixed_table.column("outcome").to_pylist())
    for k, rule in enumerate(rules):
        assert rule.coverage == np.sum(fired == k) >= 3
        assert rule.accuracy == pytest.approx(np.mean(outcome[fired == k] == rule.label))


@pytest.mark.covers("decision-rules")
def test_a_concept_of_two_rules_is_learnt_in_two_rules(rng):
    rows = rng.uniform(size=(200, 4))
    y = np.where(rows[:, 0] > 0.8, "a", np.where(rows[:, 1] > 0.5, "b", "c"))
    model = RuleListClassifier().fit(rows, y)
    assert model.score(rows, y) > 0.98
    assert len(model.rules_) <= 4
    assert {c.column for rule in model.rules_ for c in rule.conditions} == {"x0", "x1"}


@pytest.mark.covers("rule-instance-learner")
def test_fully_specified_rules_are_nearest_neighbors(rng):
    from sklearn.neighbors import KNeighborsClassifier

    rows = rng.normal(size=(60, 3)) * [1.0, 5.0, 0.2]
    y = rng.integers(0, 3, 60)
    new = rng.normal(size=(40, 3)) * [1.0, 5.0, 0.2]
    scale = rows.std(axis=0)
    model = RuleInstanceClassifier(rules="rows", q=2.0).fit(rows, y)
    peer = KNeighborsClassifier(n_neighbors=60, weights=lambda d: 1 / d**2)
    peer.fit(rows / scale, y)
    np.testing.assert_allclose(model.predict_proba(new), peer.predict_proba(new / scale))


@pytest.mark.covers("rule-instance-learner")
def test_leaves_as_rules_are_the_tree(rng):
    def table(n: int) -> pd.DataFrame:  # with a category both trees come from the same grower
        numbers = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("xyz"))
        return numbers.assign(kind=rng.choice(["a", "b"], n))

    rows, new, y = table(100), table(200), rng.integers(0, 2, 100)
    model = RuleInstanceClassifier(rules="leaves", max_conditions=4, min_samples_rule=1)
    model.fit(rows, y)
    tree = DecisionTreeClassifier(max_depth=4).fit(rows, y)
    np.testing.assert_allclose(model.predict_proba(new), tree.predict_proba(new))


@pytest.mark.covers("rule-instance-learner")
def test_distance_counts_specified_columns_only():
    rows = np.array([[0.0, 0.0], [0.0, 9.0], [4.0, 0.0], [4.0, 9.0]])
    y = np.array(["left", "left", "right", "right"])
    model = RuleInstanceClassifier(min_samples_rule=1).fit(rows, y)
    distances = model.specified_.distances(np.array([[1.0, 1000.0]]), 2.0)
    assert distances.shape == (1, 2)
    assert (distances == 0).sum() == 1
    unused = model.specified_.distances(np.array([[1.0, -1000.0]]), 2.0)
    np.testing.assert_array_equal(distances, unused)


@pytest.mark.covers("rule-instance-learner")
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_the_norm_of_a_row_outside_two_intervals(p):
    unit = NumberSet((Interval(0.0, 1.0, True, True),))
    columns = [Condition(name, unit) for name in ("x0", "x1")]
    labels = {"x0": (0, None), "x1": (1, None)}
    boxes = specified_by_rules(
        [Rule(tuple(columns), "in")], labels, np.zeros(2, int), np.array([1.0, 2.0])
    )
    found = boxes.distances(np.array([[4.0, -8.0], [0.5, 0.5]]), p)[:, 0]
    assert found == pytest.approx([np.linalg.norm([3.0, 4.0], p), 0.0])


def test_columns_of_codes_are_read_as_labels():
    rows = np.array([[0.0, 1.5], [1.0, np.nan], [np.nan, 2.0]])
    columns = EncodedColumns(rows, {"c": (0, ["red", "blue"]), "x": (1, None)})
    assert columns["c"].tolist() == ["red", "blue", None]
    assert len(columns) == 2
    is_red = Condition("c", LevelSet(frozenset(["red"])))
    assert is_red.holds(columns).tolist() == [True, False, False]


def test_rules_of_a_table_of_categories_name_the_levels():
    table = Table.from_dict({"c": ["a", "b", "c", "a"], "y": ["p", "q", "q", "p"]})
    model = DecisionTreeClassifier().fit(table, "y")
    text = str(rules_from_tree(model))
    assert "c in {b, c} then q" in text
