"""Planted leaks are found, with a remedy to paste; clean tables are not suspected."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.workbench.learn.leaks import summands

QUICK = {"budget": None, "folds": 3, "repeats": 1, "curve": False}
LEAKS = ("leak", "exact relation", "rows of one key", "nearly perfect")


def leaks_of(table, **options):
    """The checks of leaks that found something, by name."""
    found = gnomon.learn(table, "y", **QUICK, **options)
    return {each.name: each for each in found.worries if each.name in LEAKS}


def test_a_column_that_is_the_target_on_another_scale_is_found_however_good_the_model(rng):
    y = rng.normal(size=150)
    table = {"x": y + 0.3 * rng.normal(size=150), "copy": np.exp(y / 3), "y": y}
    found = leaks_of(table, learners=["linear regression"])
    assert found["leak"].verdict == "bad"
    assert "--target y --without copy" in found["leak"].remedy


def test_a_column_that_leaves_4_percent_of_the_error_is_a_warning_and_not_called_a_leak(rng):
    y = np.arange(1000) % 2
    wrong = rng.permutation(1000) < 18
    table = {"odor": (y ^ wrong) + 0.1 * (np.arange(1000) // 2 % 3), "x": rng.normal(size=1000)}
    table["y"] = np.where(y == 1, "yes", "no").tolist()
    found = leaks_of(table, learners=["pruned tree"])["leak"]
    assert found.verdict == "warning"
    assert found.title == "One column does nearly all"
    assert "--without odor" in found.remedy


def test_two_columns_that_sum_to_the_target_are_found(rng):
    a, b = rng.normal(size=(2, 150))
    table = {"a": a, "noise": rng.normal(size=150), "b": b, "y": 2 * a + b}
    found = leaks_of(table, learners=["linear regression"])
    assert "'a' and 'b'" in found["exact relation"].finding
    assert "--without a --without b" in found["exact relation"].remedy


def test_a_key_that_repeats_and_fixes_the_class_is_found_with_the_groups_to_give(rng):
    series = np.repeat(np.arange(30), 6)
    kind = rng.permutation(30) % 3
    table = {
        "series": series,
        "x": rng.normal(size=180),
        "y": np.array(["a", "b", "c"])[kind[series]].tolist(),
    }
    found = leaks_of(table, learners=["pruned tree"])
    assert found["rows of one key"].remedy.endswith("--target y --groups series")
    assert "rows of one key" not in leaks_of(table, learners=["pruned tree"], groups="series")


def test_a_nearly_perfect_model_is_doubted(rng):
    a, b = rng.normal(size=(2, 200))
    table = {"a": a, "b": b, "y": a * b + 1e-4 * rng.normal(size=200)}
    table["c"] = a + b
    table["product"] = 3 * table["y"] + 1e-3 * a
    assert {"leak", "nearly perfect"} & set(leaks_of(table, learners=["linear regression"]))


@pytest.mark.parametrize(
    ("name", "target"), [("iris", "species"), ("wine", "cultivar"), ("customers", "churn")]
)
def test_clean_examples_are_not_suspected(name, target):
    table = gnomon.table.example(name)
    table = table[: min(len(table), 300)] if name == "customers" else table
    found = gnomon.learn(table, target, learners=["naive Bayes"], **QUICK)
    assert not [each for each in found.worries if each.name in LEAKS and each.verdict == "bad"]


def test_a_strong_honest_column_is_not_a_leak(rng):
    x = rng.normal(size=200)
    table = {"x": x, "z": rng.normal(size=200), "y": x + 0.3 * rng.normal(size=200)}
    assert not leaks_of(table, learners=["linear regression"])


def test_summands_are_those_of_the_sum(rng):
    block = rng.normal(size=(50, 8))
    chosen, left = summands(block, block[:, 2] - 3 * block[:, 5] + 7)
    assert sorted(chosen) == [2, 5]
    assert left < 1e-12
    assert summands(block, rng.normal(size=50))[1] > 0.1


def test_columns_are_left_out_of_learn_look_advise_and_map(rng):
    y = rng.normal(size=60)
    table = {"x": y + rng.normal(size=60), "copy": 2 * y, "z": rng.normal(size=60), "y": y}
    learnt = gnomon.learn(table, "y", without="copy", learners=["ridge"], **QUICK)
    assert list(learnt.model.feature_names_in_) == ["x", "z"]
    assert "without=['copy']" in learnt.script
    assert "copy" not in gnomon.look(table, "y", without=["copy"]).table.columns
    assert gnomon.advise(table, "y", without=["copy"]).facts.columns == 2
    assert gnomon.map(table, without="copy", methods=["PCA"]).settings.without == ["copy"]
    with pytest.raises(KeyError, match="copi"):
        gnomon.learn(table, "y", without=["copi"])
    with pytest.raises(DataError, match="cannot be left out"):
        gnomon.learn(table, "y", without=["y"])


def test_two_parts_of_the_target_are_found_among_columns_that_explain_more_of_it(rng):
    x = rng.normal(size=(300, 2))
    y = 50 + 8 * x[:, 0] + 5 * x[:, 1] + 3 * rng.normal(size=300)
    net = y * rng.uniform(0.3, 0.7, 300)
    chosen, left = summands(np.column_stack([x, net, y - net]), y)
    assert chosen == [2, 3]
    assert left < 1e-9
