"""The job `advise`: facts, rules and their reasons, and whether the advice is tried honestly."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from gnomon.engine.errors import DataError
from gnomon.linear import LinearRegression
from gnomon.show.methods import method_properties
from gnomon.table import Table, example
from gnomon.trees import DecisionTreeRegressor, HistGradientBoostingRegressor
from gnomon.workbench.advise.job import CAUTIONS, RULES, advise
from gnomon.workbench.analysis.portfolio import portfolio
from gnomon.workbench.workflows import properties


def table_of(rng, n=300, **more):
    columns = {f"x{k}": rng.normal(size=n) for k in range(3)}
    return Table.from_dict({**columns, "y": rng.normal(size=n), **more})


def place(advice, name):
    return [each.name for each in advice.recommendations].index(name)


@pytest.mark.covers("classifier-advisor")
def test_every_reason_names_its_text_and_the_weights_add_up():
    advice = advise(example("customers"), "churn")
    assert advice.recommendations
    for each in advice.recommendations:
        assert each.weight == sum(reason.weight for reason in each.reasons)
        assert all(reason.texts and "{" not in reason.why for reason in each.reasons)
    weights = [each.weight for each in advice.recommendations]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.covers("classifier-advisor")
def test_rules_speak_of_methods_that_exist():
    known = {each.name for task in ("classify", "regress") for each in portfolio(task, 1000)}
    assert {name for rule in RULES for name in rule.weights} <= known
    assert all(not rule.weights for rule in CAUTIONS)


@pytest.mark.covers("classifier-advisor")
def test_nearly_equal_columns_move_ridge_above_least_squares(rng):
    table = table_of(rng)
    x = table.column("x0").to_numpy()
    twin = table.with_column("twin", x + 1e-6 * rng.normal(size=len(x)))
    before, after = advise(table, "y"), advise(twin, "y")
    assert before.facts.condition < 10 < 1e3 < after.facts.condition
    assert place(after, "ridge") < place(after, "linear regression")
    ridge = next(each for each in after.recommendations if each.name == "ridge")
    assert any("condition number" in reason.why for reason in ridge.reasons)


@pytest.mark.covers("classifier-advisor", "trap-warnings")
def test_many_missing_cells_speak_for_naive_bayes_and_against_the_linear_model(rng):
    n = 400
    columns = {f"x{k}": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)) for k in range(4)}
    advice = advise(Table.from_dict({**columns, "y": rng.choice(["a", "b"], n)}), "y")
    assert 0.2 < advice.facts.missing < 0.4
    assert place(advice, "naive Bayes") < place(advice, "logistic regression")


@pytest.mark.covers("unbalanced-class-workflow", "trap-warnings")
def test_a_rare_class_is_cautioned_with_the_cascade_as_remedy(rng):
    labels = np.array(["common"] * 390 + ["rare"] * 10)
    rng.shuffle(labels)
    table = Table.from_dict({"x": rng.normal(size=400), "z": rng.normal(size=400), "y": labels})
    cautions = " ".join(reason.why for reason in advise(table, "y").cautions)
    assert "2.50%" in cautions
    assert "CascadeClassifier" in cautions
    balanced = Table.from_dict({"x": rng.normal(size=400), "y": ["a", "b"] * 200})
    assert "rarest" not in " ".join(reason.why for reason in advise(balanced, "y").cautions)


@pytest.mark.covers("classifier-advisor")
def test_a_trial_has_the_baseline_and_says_whether_the_advice_held(rng):
    x = rng.normal(size=(200, 3))
    table = Table.from_dict({"a": x[:, 0], "b": x[:, 1], "y": 5 * x[:, 0] - x[:, 1] + x[:, 2]})
    advice = advise(table, "y", try_out=True)
    assert "baseline" in advice.tried.names
    assert advice.tried.names.index("baseline") > 0
    assert "advice held" in repr(advice) or "beat the advised" in repr(advice)


def test_a_trial_of_many_rows_is_refused_with_the_job_that_has_a_budget(rng):
    n = 20_001
    table = Table.from_dict({"x": rng.normal(size=n), "y": rng.normal(size=n)})
    with pytest.raises(DataError, match="use `learn`"):
        advise(table, "y", try_out=True)


def test_the_command_prints_json_for_scripts_and_names_near_columns():
    from gnomon.workbench.cli import app

    done = CliRunner().invoke(
        app, ["advise", "--example", "customers", "--target", "churn", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["facts"]["rows"] == 2000
    assert found["methods"][0]["reasons"]
    wrong = CliRunner().invoke(app, ["advise", "--example", "customers", "--target", "chrun"])
    assert isinstance(wrong.exception, DataError)
    assert "'churn'" in str(wrong.exception)


@pytest.mark.covers("method-property-table")
def test_the_printed_table_is_that_of_001():
    table = properties.printed_properties()
    assert {name for of in table.values() for name in of} == set(properties.PROPERTIES)
    assert table["trees"]["accuracy"] == "poor"
    assert table["trees"]["missing values"] == "good"
    assert table["MARS"]["can be read"] == "good"
    assert table["nearest neighbours, kernels"]["linear combinations of inputs"] == "fair"
    good = {family: sum(grade == "good" for grade in of.values()) for family, of in table.items()}
    assert max(good, key=good.get) == "trees"


@pytest.mark.covers("method-property-table")
def test_measured_properties_agree_with_what_must_hold():
    learners = {
        "line": LinearRegression(),
        "tree": DecisionTreeRegressor(),
        "boosting": HistGradientBoostingRegressor(),
    }
    found = {
        (each.method, each.property): each
        for each in properties.measured_properties(learners, n_rows=400)
    }
    # a threshold in the middle of two values moves with the transform, the rows on its sides do not
    assert abs(found["tree", "monotone transforms of inputs"].figure) < 0.05
    assert found["line", "linear combinations of inputs"].figure < 1e-6
    assert found["tree", "linear combinations of inputs"].figure > 0.2
    assert found["line", "outliers in inputs"].figure > found["tree", "outliers in inputs"].figure
    assert found["boosting", "accuracy"].figure < found["tree", "accuracy"].figure


@pytest.mark.covers("method-property-table")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_has_a_symbol_for_every_grade(theme):
    table = properties.printed_properties()
    picture = method_properties(table, theme=theme)
    shown = [symbol for trace in picture.data for symbol in trace.text]
    assert len(shown) == len(table) * len(properties.PROPERTIES)
    assert set(shown) == {"▲", "●", "▼"}


def test_a_trial_without_a_p_does_not_call_the_advice_wrong():
    advice = advise(example("iris"), "species")
    figure = SimpleNamespace(value=1.0, low=0.5, high=1.5)
    names = ["another", advice.recommendations[0].name]
    tried = {
        name: SimpleNamespace(name=name, interval=lambda: figure, p_against=lambda other: np.nan)
        for name in names
    }

    class Board(dict):
        results, measure = list(tried.values()), "log_loss"

    advice.tried = Board(tried)
    said = repr(advice)
    assert "whether beyond chance is not known" in said
    assert "nan" not in said
    assert "do not follow" not in said
