"""The importance of columns: errors of rows, however often the time lets a column be shuffled."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.evaluate import MEASURES
from gnomon.linear import LinearRegression
from gnomon.table import Table
from gnomon.workbench.analysis import diagnosis
from gnomon.workbench.analysis.diagnosis import REPEATS, permutation_importance

COLUMNS = 20


def table_of(rng, n: int) -> tuple[Table, np.ndarray]:
    X = rng.normal(size=(n, COLUMNS))
    rows = Table.from_dict({f"x{j}": X[:, j].tolist() for j in range(COLUMNS)})
    return rows, X[:, 0] + rng.normal(size=n)


@pytest.fixture
def one_second_each(monkeypatch):
    """A clock that a prediction of any rows moves by a second for every hundred rows."""
    passed = [0.0]
    asked = diagnosis.heard

    def heard(model, rows, y, measure):
        passed[0] += len(rows) / 100
        return asked(model, rows, y, measure)

    monkeypatch.setattr(diagnosis, "heard", heard)
    monkeypatch.setattr(diagnosis, "perf_counter", lambda: passed[0])


@pytest.mark.parametrize(
    ("seconds", "repeats", "columns"),
    [(np.inf, REPEATS, COLUMNS), (65, 3, COLUMNS), (25, 1, COLUMNS), (0, 1, 15)],
)
def test_where_time_is_short_columns_are_shuffled_less_often_before_they_are_left_out(
    rng, one_second_each, seconds, repeats, columns
):
    rows, y = table_of(rng, 100)
    model = LinearRegression().fit(rows, y)
    found = permutation_importance(model, rows, y, MEASURES["rmse"], seconds=seconds)
    assert found.importances.shape == (columns, repeats)
    assert found.is_partial == (columns < COLUMNS)


def test_intervals_of_columns_that_are_shuffled_once_hold_the_truth(rng):
    train, y = table_of(rng, 100)
    model = LinearRegression().fit(train, y)
    many, y = table_of(rng, 50_000)
    truth = permutation_importance(model, many, y, MEASURES["mse"], most_rows=50_000, n_repeats=2)
    held = []
    for _ in range(20):
        rows, y = table_of(rng, 200)
        found = permutation_importance(model, rows, y, MEASURES["mse"], n_repeats=1)
        spans = [found.interval(name) for name in found.names]
        held += [each.low <= value <= each.high for each, value in zip(spans, truth.means)]
    assert np.mean(held) > 0.87  # 94.3% of 3,000; the error of 400, 20 of each table, is 1.2%


def test_the_picture_of_importances_has_the_errors_of_rows(rng):
    rows, y = table_of(rng, 200)
    found = permutation_importance(LinearRegression().fit(rows, y), rows, y, MEASURES["rmse"])
    figure = show.importances(found, names=found.names)
    bar, order = figure.data[0], found.order
    assert list(bar.y) == [found.names[j] for j in order]
    assert bar.error_x.array == pytest.approx(200 / found.means.max() * found.errors[order])
    assert f"{found.n_blocks} blocks of rows" in figure.layout.title.text + str(figure.layout)
