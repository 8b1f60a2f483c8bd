"""Why a row is predicted so, what if, and thresholds by cost: from Python and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table import Table, read
from gnomon.workbench.cli import app
from gnomon.workbench.learn.threshold import cheapest, costs_of, row_costs

QUICK = {"budget": None, "folds": 3, "repeats": 1, "curve": False}


@pytest.fixture
def customers(rng):
    n = 240
    price, calls = rng.normal(20, 4, n), rng.integers(0, 6, n)
    plan = rng.choice(["basic", "gold"], n)
    odds = 0.5 * (price - 22) + 0.6 * calls + 1.5 * (plan == "basic") - 2.5
    leaves = rng.random(n) < 1 / (1 + np.exp(-odds))
    return Table.from_dict(
        {"price": price, "calls": calls, "plan": plan, "leaves": np.where(leaves, "yes", "no")}
    )


@pytest.fixture
def run(customers, tmp_path):
    folder = tmp_path / "run"
    customers.save(tmp_path / "new.csv")
    result = gnomon.learn(
        customers,
        "leaves",
        learners=["logistic regression"],
        cost="miss=10,false alarm=1",
        folder=folder,
        **QUICK,
    )
    return result, folder


def test_the_cheapest_threshold_is_that_of_a_plain_search(rng):
    scores = rng.random(60).round(2)
    positive = rng.random(60) < scores
    found = cheapest(positive, scores, 5.0, 1.0)
    costs = [row_costs(positive, scores, t, 5.0, 1.0).sum() for t in np.linspace(0, 1, 2001)]
    assert row_costs(positive, scores, found, 5.0, 1.0).sum() == min(costs)


def test_of_right_probabilities_the_threshold_is_that_of_the_formula(rng):
    scores = rng.random(40_000)
    positive = rng.random(40_000) < scores
    assert cheapest(positive, scores, 4.0, 1.0) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("wrong", ["miss=10", "miss=10,false alarm=-1", "dear", 7, "a=1,b=2"])
def test_costs_that_are_not_understood_are_refused(wrong):
    with pytest.raises(DataError, match="miss=10,false alarm=1"):
        costs_of(wrong)


def test_costs_of_three_classes_or_numbers_are_refused(customers):
    with pytest.raises(DataError, match="two classes"):
        gnomon.learn(customers, "price", cost="miss=2,false alarm=1", **QUICK)


@pytest.mark.covers("explanation-what-if")
def test_a_dear_miss_lowers_the_threshold_and_the_cost_is_told(run):
    result, folder = run
    threshold = result.threshold
    assert threshold.positive == "yes"
    assert threshold.value < 0.4
    y, scores = result.problem.values(result.test_table) == "yes", result.said.probabilities[:, 1]
    expected = row_costs(y, scores, threshold.value, 10.0, 1.0)
    assert threshold.cost.value == pytest.approx(expected.mean())
    assert threshold.cost.low <= threshold.cost.value <= threshold.cost.high
    assert threshold.saved.value == pytest.approx(threshold.usual_cost.value - threshold.cost.value)
    assert "at least" in result.test_sentence()
    record = json.loads((folder / "run.json").read_text())
    assert record["results"]["threshold"]["value"] == threshold.value


def test_predict_decides_by_the_threshold_of_the_run(run, tmp_path):
    result, folder = run
    said = gnomon.predict(folder, tmp_path / "new.csv").table.to_dict()
    wanted = ["yes" if p >= result.threshold.value else "no" for p in said["P(yes)"]]
    assert said["decision"] == wanted
    assert said["decision"] != said["prediction"]


@pytest.mark.covers("explanation-what-if")
def test_a_result_explains_its_predictions(run, customers):
    result, _ = run
    found = result.explain(customers[:2])
    assert found.names == ["price", "calls", "plan"]
    assert found.base + found.values.sum(axis=1) == pytest.approx(found.outputs)
    with pytest.raises(DataError, match="too many"):
        result.explain(customers)


@pytest.mark.covers("explanation-what-if")
def test_what_if_changes_columns_of_a_typical_row(run, customers):
    result, _ = run
    found = result.what_if({"price": [10.0, 30.0], "plan": ["basic", "gold"]})
    assert len(found) == 4
    cells = found.to_dict()
    assert cells["P(yes)"][2] > cells["P(yes)"][0]
    one = result.what_if({"price": customers.row(3)["price"]}, customers[[3]])
    expected = result.predict(customers[[3]]).table.to_dict()["P(yes)"]
    assert one.to_dict()["P(yes)"] == pytest.approx(expected)
    with pytest.raises(DataError, match="colour"):
        result.what_if({"colour": "red"})


def test_the_command_line_explains_and_asks_what_if(run, tmp_path):
    _, folder = run
    runner = CliRunner()
    words = ["predict", str(folder), str(tmp_path / "new.csv"), "--out", str(tmp_path / "p.csv")]
    refused = runner.invoke(app, [*words, "--explain", str(tmp_path / "why.html")])
    assert "why.html: the ending" in str(refused.exception or refused.output)
    assert not (tmp_path / "p.csv").exists(), "refused before anything is computed"
    said = runner.invoke(app, [*words, "--explain", str(tmp_path / "why.csv")])
    assert said.exit_code == 0, said.output
    why = read(tmp_path / "why.csv")
    assert set(why.columns) == {"row", "column", "contribution", "error"}
    assert len(why) == 300
    assert "row 1: P(yes)" in said.output
    said = runner.invoke(app, ["predict", str(folder), "--set", "calls=0,5", "--set", "plan=gold"])
    assert said.exit_code == 0, said.output
    assert "what would be predicted" in said.output
    assert runner.invoke(app, ["predict", str(folder)]).exit_code != 0
    wrong = runner.invoke(app, ["predict", str(folder), "--set", "calls=many"])
    assert "holds numbers" in str(wrong.exception)
