"""Item sets against enumeration of all subsets; rules against tables and simulated chance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from gnomon.cluster import association_rules, frequent_itemsets, suggest_items
from gnomon.engine.errors import DataError

pytestmark = pytest.mark.covers("job-rules")


def random_baskets(rng, n: int = 60, items: int = 7, share: float = 0.4) -> list[list[str]]:
    held = rng.random((n, items)) < share
    return [[chr(97 + j) for j in np.flatnonzero(row)] for row in held]


def test_all_frequent_sets_are_found_and_no_others(rng):
    baskets = random_baskets(rng)
    found = frequent_itemsets(baskets, 0.1, max_length=4)
    sets = [set(basket) for basket in baskets]
    expected = {}
    for size in range(1, 5):
        for chosen in itertools.combinations("abcdefg", size):
            count = sum(set(chosen) <= basket for basket in sets)
            if count >= 6:
                expected[chosen] = count
    named = {tuple(found.items[i] for i in key): n for key, n in found.counts.items()}
    assert named == expected


def test_figures_of_a_rule_are_those_of_its_table(rng):
    baskets = random_baskets(rng)
    found = frequent_itemsets(baskets, 0.1, max_length=2)
    rules = association_rules(found, correction="holm")
    assert len(rules) == 2 * sum(len(key) == 2 for key in found.counts)
    rule = rules[0]
    left = np.array([rule.left[0] in basket for basket in baskets])
    right = np.array([rule.right in basket for basket in baskets])
    table = [[(left & right).sum(), (left & ~right).sum()]]
    table.append([(~left & right).sum(), (~left & ~right).sum()])
    raw = stats.fisher_exact(table, alternative="greater").pvalue
    assert rule.count == (left & right).sum()
    assert rule.confidence.value == pytest.approx(right[left].mean())
    assert rule.lift.value == pytest.approx(right[left].mean() / right.mean())
    assert rule.p == pytest.approx(min(1.0, raw * found.n_searched))


def test_lift_intervals_hold_their_level(rng):
    n, inside = 400, []
    for _ in range(300):
        a = rng.random(n) < 0.3
        b = rng.random(n) < np.where(a, 0.5, 0.2)
        baskets = [["a"] * x + ["b"] * y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        rule = association_rules(frequent_itemsets(baskets, 0.02))[0]
        inside.append(rule.lift.low <= 0.5 / 0.29 <= rule.lift.high)
    assert 0.91 < np.mean(inside) < 0.985


def test_independent_items_give_no_rule_beyond_chance(rng):
    alarms = []
    for _ in range(60):
        found = frequent_itemsets(random_baskets(rng, 80, 8, 0.3), 0.04, max_length=3)
        rules = association_rules(found, correction="holm")
        alarms.append(any(rule.p < 0.05 for rule in rules))
    assert np.mean(alarms) < 0.2


def test_an_item_that_adds_nothing_makes_a_rule_redundant(rng):
    n = 500
    tea = rng.random(n) < 0.4
    milk = rng.random(n) < np.where(tea, 0.8, 0.1)
    salt = rng.random(n) < 0.5
    baskets = [
        ["tea"] * t + ["milk"] * m + ["salt"] * s
        for t, m, s in zip(tea.tolist(), milk.tolist(), salt.tolist(), strict=True)
    ]
    rules = association_rules(frequent_itemsets(baskets, 0.02))
    plain = [rule for rule in rules if not rule.redundant]
    assert ("tea",) in {rule.left for rule in plain if rule.right == "milk"}
    assert sum("salt" in (*rule.left, rule.right) and rule.p < 1e-4 for rule in plain) == 0


def test_suggestions_leave_out_what_the_basket_has():
    baskets = [["tea", "milk", "sugar"]] * 20 + [["tea", "milk"]] * 20 + [["beer"]] * 40
    rules = association_rules(frequent_itemsets(baskets, 0.1))
    assert [each.item for each in suggest_items(["tea"], rules)] == ["milk", "sugar"]
    assert suggest_items(["tea", "milk", "sugar"], rules) == []
    assert suggest_items(["wine"], rules) == []


def test_bad_supports_and_no_baskets_are_refused():
    with pytest.raises(DataError, match="min_support"):
        frequent_itemsets([["a"]], 0)
    with pytest.raises(DataError, match="no baskets"):
        frequent_itemsets([], 0.1)
    assert association_rules(frequent_itemsets([["a"], ["b"]], 0.5)) == []
