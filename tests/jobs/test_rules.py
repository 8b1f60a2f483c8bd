"""`gnomon rules`: rules of long and wide tables, none where there is chance, completed baskets."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.result import JobResult
from tests.jobs.terminal import call

pytestmark = pytest.mark.covers("job-rules")


def shop(rng, n: int = 400) -> dict[str, list]:
    """Receipts: milk goes with tea, the rest is chance."""
    receipts, articles = [], []
    for receipt in range(n):
        tea = rng.random() < 0.4
        basket = ["tea"] * tea + ["milk"] * (rng.random() < (0.8 if tea else 0.2))
        basket += [name for name in ("bread", "salt", "beer") if rng.random() < 0.3]
        receipts += [receipt] * len(basket)
        articles += basket
    return {"receipt": receipts, "article": articles}


def test_the_planted_rule_is_found_in_a_long_table(rng, tmp_path):
    table = shop(rng)
    found = gnomon.rules(table, basket="receipt", item="article", folder=tmp_path / "run")
    assert isinstance(found, JobResult)
    pairs = {str(rule) for rule in found.rules}
    assert {"tea -> milk", "milk -> tea"} <= pairs
    assert len(pairs) <= 6
    assert found.suggest(["tea"])[0].item == "milk"
    names = {each.name for each in (tmp_path / "run").iterdir()}
    assert {"run.json", "again.py", "rules.csv", "report.html"} <= names
    assert gnomon.again("run", runs=tmp_path, table=table).same
    for name in found.pictures:
        assert found.plot(name).data


def test_rules_complete_baskets_that_were_put_aside_better_than_the_most_frequent_items(rng):
    pairs = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"), ("i", "j"), ("k", "l"), ("m", "n")]
    rows = {"basket": [], "item": []}
    for basket in range(500):
        for item in pairs[int(rng.integers(7))]:
            rows["basket"].append(basket)
            rows["item"].append(item)
    found = gnomon.rules(rows, basket="basket", item="item")
    assert found.completion.rules.value == 1.0
    assert found.completion.popular.value < 0.8


def test_chance_is_said_to_be_chance(rng):
    held = rng.random((300, 8)) < 0.3
    table = {f"item {j}": held[:, j].astype(int).tolist() for j in range(8)}
    found = gnomon.rules(table, correction="holm", alpha=0.001)
    assert found.rules == []
    assert found.verdict().startswith("No rule is beyond chance")
    assert found.pictures == []


def test_a_wide_table_has_items_of_flags_and_levels(rng):
    color = np.where(rng.random(200) < 0.5, "red", "blue")
    table = {
        "color": color.tolist(),
        "warm": (color == "red").tolist(),
        "size": rng.normal(size=200).tolist(),
    }
    found = gnomon.rules(table)
    assert {"color=red -> warm", "warm -> color=red"} == {str(rule) for rule in found.rules}
    assert any("size (number)" in note for note in found.notes)


def test_the_command_shows_what_goes_with_a_basket(rng, tmp_path):
    rows = shop(rng)
    lines = [f"{a},{b}" for a, b in zip(rows["receipt"], rows["article"], strict=True)]
    (tmp_path / "shop.csv").write_text("receipt,article\n" + "\n".join(lines), encoding="utf-8")
    words = ["rules", "shop.csv", "--basket", "receipt", "--item", "article", "--has", "tea"]
    done = call(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "who has tea also has" in done.stdout
    summary = json.loads(call(*words, "--json", "--name", "x", folder=tmp_path).stdout)
    assert summary["suggestions"][0][0] == "milk"


def test_wrong_columns_and_unknown_items_are_refused(rng):
    rows = shop(rng, 60)
    with pytest.raises(DataError, match="both basket and item"):
        gnomon.rules(rows, basket="receipt")
    with pytest.raises(DataError, match="'wine' is in no basket"):
        gnomon.rules(rows, basket="receipt", item="article", has=["wine"])
    with pytest.raises(DataError, match="at least 20"):
        gnomon.rules({"a": [1, 0, 1]})
    with pytest.raises(DataError, match="no column is true or false"):
        gnomon.rules({"x": rng.normal(size=50).tolist()})


def test_two_columns_of_baskets_and_items_are_read_as_such_without_being_told(rng):
    rows = {"receipt": [], "article": []}
    for number in range(80):
        for article in {"bread", "butter"} if rng.random() < 0.5 else {"tea", "lemon"}:
            rows["receipt"].append(number)
            rows["article"].append(article)
    found = gnomon.rules(Table.from_dict(rows))
    assert found.itemsets.n_baskets == 80
    assert "bread -> butter" in [str(rule) for rule in found.rules]
    assert any("one item" in note for note in found.notes)
    levels = {"age": [20 + k % 40 for k in range(120)], "drink": ["tea", "milk", "tea"] * 40}
    assert gnomon.rules(Table.from_dict(levels)).itemsets.n_baskets == 120  # rows are baskets
