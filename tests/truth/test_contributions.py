"""Contributions of columns to single predictions, against enumeration and closed forms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.evaluate import contributions as by_columns
from gnomon.evaluate.contributions import OTHERS
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.table import Table
from gnomon.trees import DecisionTreeRegressor, RandomForestClassifier


@pytest.fixture
def table(rng):
    return Table.from_dict(
        {
            "a": rng.normal(size=60),
            "b": rng.choice(["x", "y", "z"], 60),
            "c": rng.normal(size=60),
        }
    )


@pytest.fixture
def y(table, rng):
    a, c = (table.column(name).to_numpy() for name in ("a", "c"))
    b = np.array(table.column("b").to_pylist()) == "x"
    return a * c + 2 * b + 0.1 * rng.normal(size=60)


def by_all_orders(said, table, row, background):
    """The definition: mean gain of every column over all orders and background rows."""
    names = list(table.columns)
    found = dict.fromkeys(names, 0.0)
    orders = list(permutations(names))
    for order in orders:
        cells = {name: background.column(name).to_pylist() for name in names}
        before = said(Table.from_dict(cells, background.schema))
        for name in order:
            cells[name] = [row[name]] * len(background)
            after = said(Table.from_dict(cells, background.schema))
            found[name] += float((after - before).mean()) / len(orders)
            before = after
    return [found[name] for name in names]


def test_a_tree_is_explained_as_the_definition_says(table, y):
    model = DecisionTreeRegressor(max_depth=4).fit(table, y)
    found = by_columns(model, table[:2], table[20:40])
    assert found.is_exact
    expected = by_all_orders(model.predict, table, table.row(1), table[20:40])
    assert found.values[1] == pytest.approx(expected, abs=1e-9)


def test_contributions_add_up_to_the_prediction(table, y):
    model = RandomForestClassifier(n_estimators=20, random_state=0).fit(table, y > 0.5)
    found = by_columns(model, table[:3], table[30:], target=True)
    assert found.what == "P(True)"
    assert found.outputs == pytest.approx(model.predict_proba(table[:3])[:, 1])
    assert found.base + found.values.sum(axis=1) == pytest.approx(found.outputs)


def test_of_a_linear_model_they_are_coefficients_times_distances_without_error(rng):
    X = rng.normal(size=(80, 20))
    names = [f"c{j}" for j in range(20)]
    table = Table.from_dict(dict(zip(names, X.T)))
    model = LinearRegression().fit(table, X @ rng.normal(size=20) + rng.normal(size=80))
    found = by_columns(model, table[:2], table[10:60])
    assert not found.is_exact
    expected = model.coef_ * (X[:2] - X[10:60].mean(axis=0))
    assert found.values == pytest.approx(expected, abs=1e-8)
    assert found.errors.max() < 1e-8
    classes = LogisticRegression().fit(table, X[:, 0] > 0)
    margins = by_columns(classes, table[:2], table[10:60], output="margin")
    distances = X[:2] - X[10:60].mean(axis=0)
    assert margins.values == pytest.approx(classes.coef_[0] * distances, abs=1e-7)


def test_drawn_orders_come_near_the_exact_values_within_their_errors(rng):
    X = rng.normal(size=(60, 14))
    table = Table.from_dict({f"c{j}": X[:, j] for j in range(14)})

    class Product:
        def predict(self, rows):
            cells = rows.to_numpy()
            return cells[:, 0] * cells[:, 1] * cells[:, 2] + cells[:, 3]

    narrow = table.select([f"c{j}" for j in range(4)])
    exact = by_columns(Product(), narrow[:1], narrow[10:40]).values[0]
    found = by_columns(Product(), table[:1], table[10:40])
    gaps = np.abs(found.values[0, :4] - exact)
    assert (gaps <= 6 * found.errors[0, :4] + 1e-9).all()
    assert np.abs(found.values[0, 4:]).max() < 1e-12


def test_of_many_columns_those_of_little_effect_are_one(rng):
    X = rng.normal(size=(40, 50))
    table = Table.from_dict({f"c{j}": X[:, j] for j in range(50)})
    model = LinearRegression().fit(table[:, ["c0", "c1"]], X[:, 0] - X[:, 1])

    class Two:
        def predict(self, rows):
            return model.predict(rows.select(["c0", "c1"]))

    found = by_columns(Two(), table[:1], table[5:25], most_columns=6)
    assert len(found.names) == 6
    assert found.names[-1] == OTHERS
    assert {"c0", "c1"} <= set(found.names)
    assert found.values[0, -1] == pytest.approx(0, abs=1e-9)
    largest = found.of_row(0, most=2)
    assert {name for name, _, _ in largest} == {"c0", "c1"}
    assert found.to_table().shape == (6, 4)


def test_wrong_requests_are_refused(table, y):
    model = DecisionTreeRegressor(max_depth=2).fit(table, y)
    with pytest.raises(DataError, match="same columns"):
        by_columns(model, table[:1], table.drop("a"))
    with pytest.raises(DataError, match="at least"):
        by_columns(model, table[:0], table)
    classes = RandomForestClassifier(n_estimators=5, random_state=0).fit(table, y > 0)
    with pytest.raises(DataError, match="no class"):
        by_columns(classes, table[:1], table, target="maybe")
    with pytest.raises(DataError, match="neither"):
        by_columns(classes, table[:1], table, output="odds")
