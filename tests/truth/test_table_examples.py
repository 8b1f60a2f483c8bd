"""The example tables are what they say."""

import csv
import io
from importlib.resources import files

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table, example, examples
from gnomon.table.bundled import generate_customers


@pytest.mark.parametrize("name", examples())
def test_every_example_loads_and_is_described(name):
    table = example(name)
    assert isinstance(table, Table)
    assert len(table) > 10
    assert name in table.notes[0]
    assert len(table.describe()) == table.shape[1]


def test_an_unknown_example_suggests_one():
    with pytest.raises(DataError, match="Did you mean 'iris'"):
        example("irsi")


def test_the_weather_has_nine_days_of_play_in_fourteen():
    table = example("weather")
    assert table.shape == (14, 5)
    assert sum(table["play"].to_pylist()) == 9
    assert table.schema.kinds == {
        "outlook": "category",
        "temperature": "integer",
        "humidity": "integer",
        "windy": "boolean",
        "play": "boolean",
    }


def test_contact_lenses_are_all_combinations():
    table = example("contact_lenses")
    rows = {tuple(row.values())[:4] for row in table.arrow.to_pylist()}
    assert len(rows) == len(table) == 24 == 3 * 2 * 2 * 2
    lenses = table["lenses"].to_pylist()
    assert [lenses.count(kind) for kind in ("none", "soft", "hard")] == [15, 5, 4]
    assert table.schema["age"].kind is Kind.ORDERED


def test_scikit_learns_tables_have_names_and_a_target():
    from sklearn.datasets import load_diabetes, load_iris

    iris = example("iris")
    assert iris.columns == (
        "sepal_length",
        "sepal_width",
        "petal_length",
        "petal_width",
        "species",
    )
    assert iris.schema["sepal_length"].unit == "cm"
    np.testing.assert_array_equal(iris.drop("species").to_numpy(), load_iris().data)
    codes = iris["species"].combine_chunks().indices.to_numpy()
    np.testing.assert_array_equal(codes, load_iris().target)
    assert iris.sorted_by_class() == ("species",)
    diabetes = example("diabetes")
    assert diabetes.schema["progression"].kind is Kind.NUMBER
    np.testing.assert_array_equal(diabetes["progression"].to_numpy(), load_diabetes().target)
    assert example("digits").shape == (1797, 65)


def test_the_customers_are_those_that_the_generator_invents():
    invented = generate_customers()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(invented)
    writer.writerows(zip(*invented.values()))
    bundled = files("gnomon.table").joinpath("examples", "customers.csv")
    assert bundled.read_text(encoding="utf-8") == out.getvalue()


def test_the_customers_have_every_kind_and_missing_values():
    table = example("customers")
    assert len(table) == 2000
    kinds = set(table.schema.kinds.values())
    assert kinds >= {"identifier", "datetime", "integer", "category", "number", "text", "boolean"}
    assert sum(table[name].null_count > 0 for name in table.columns) >= 3
    assert table.sorted_by_class() == ()


def test_churn_can_be_learned_to_about_85_percent(rng):
    """The best possible accuracy is the mean of max(p, 1 - p); a plain learner comes near it."""
    from sklearn.linear_model import LogisticRegression

    train = Table.from_dict(generate_customers(6000, int(rng.integers(2**31))), parse=True)
    test = example("customers")

    def matrix(table):
        numbers = table.select(["tenure_months", "monthly_charge", "complaints"]).to_numpy()
        contract = np.array(table["contract"].to_pylist())[:, None] == ["monthly", "two years"]
        north = np.array(table["region"].to_pylist())[:, None] == ["north"]
        words = [message or "" for message in table["last_message"].to_pylist()]
        angry = [
            [any(word in text for word in ("again", "money", "outage", "better", "cancel"))]
            for text in words
        ]
        return np.hstack([numbers, contract, north, angry])

    learner = LogisticRegression(max_iter=2000).fit(matrix(train), train["churn"].to_pylist())
    assert 0.81 < learner.score(matrix(test), test["churn"].to_pylist()) < 0.88
