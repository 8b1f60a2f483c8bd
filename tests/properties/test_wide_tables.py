"""Wide tables of numbers are taken as one block, and mean what narrow ones do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gnomon.bayes import NaiveBayes
from gnomon.contract.intake import frames
from gnomon.neighbors import KNeighborsClassifier
from gnomon.table import Table
from gnomon.table import table as tables


@pytest.fixture
def wide(rng):
    """40 rows of 300 columns: numbers, whole numbers in every third."""
    columns = {f"c{j}": rng.normal(size=40) for j in range(300)}
    columns |= {f"c{j}": rng.integers(0, 9, 40) for j in range(0, 300, 3)}
    return Table.from_dict(columns)


@pytest.mark.parametrize("learner", [NaiveBayes(), KNeighborsClassifier(3)])
def test_a_wide_table_is_learnt_as_column_by_column(wide, rng, monkeypatch, learner):
    y = rng.choice(["a", "b"], 40)
    assert wide.cells is not None
    quick = learner.fit(wide[:30], y[:30])
    said, codes = quick.predict_proba(wide[30:]), quick.encoder_.codes
    monkeypatch.setattr(frames, "float_rows", lambda *_: None)
    slow = learner.fit(wide[:30], y[:30])
    np.testing.assert_array_equal(said, slow.predict_proba(wide[30:]))
    assert [vars(each) for each in codes] == [vars(each) for each in slow.encoder_.codes]


def test_rows_taken_from_a_wide_table_have_their_columns(wide):
    places = np.array([3, 1, 1, 39])
    taken = wide[places]
    assert taken.shape == (4, 300)
    assert taken.equals(Table(wide.arrow.take(places), wide.schema))
    np.testing.assert_array_equal(taken.cells, wide.to_numpy()[places])
    np.testing.assert_array_equal(taken[[0]].to_numpy(), taken.to_numpy()[:1])


def test_rows_of_a_wide_table_are_pickled_without_the_others(wide):
    few = pickle.dumps(wide[np.array([0, 1])])
    assert len(few) < len(pickle.dumps(wide)) / 1.5
    assert pickle.loads(few).equals(wide[:2])


def test_a_missing_cell_or_a_unit_is_left_to_the_codes(wide, monkeypatch):
    assert wide.with_column("c1", [None, *range(39)]).cells is None
    assert wide.set("c1", kind="number", unit="kg").cells is None
    monkeypatch.setattr(tables, "MOST_CELLS", 1_000)
    assert wide.select(wide.columns).cells is None
