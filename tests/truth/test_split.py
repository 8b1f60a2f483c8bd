"""Splits: sizes, classes, groups and time come out as asked, for every make of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Table, scan, split


@pytest.mark.covers("random-split")
@pytest.mark.parametrize("parts", [(0.6, 0.2, 0.2), (0.5, 0.5), (0.8, 0.1, 0.1), (0.25,) * 4])
def test_parts_are_disjoint_complete_and_of_their_sizes(rng, parts):
    n = int(rng.integers(10, 200))
    result = split(np.arange(n), parts, random_state=int(rng.integers(2**31)))
    together = np.concatenate(result.rows)
    assert sorted(together) == list(range(n))
    for rows, share in zip(result.rows, parts):
        assert abs(len(rows) - share * n) < 1


@pytest.mark.covers("random-split")
def test_the_rule_does_not_look_at_the_rows_and_repeats_with_its_seed(rng):
    one = split(rng.normal(size=(50, 2)), random_state=7)
    other = split(rng.normal(size=(50, 9)), random_state=7)
    for a, b in zip(one.rows, other.rows):
        np.testing.assert_array_equal(a, b)


def test_every_row_is_equally_likely_in_every_part():
    hits = np.zeros((3, 10))
    for seed in range(600):
        for place, rows in enumerate(split(np.arange(10), random_state=seed).rows):
            hits[place, rows] += 1
    expected = np.array([[360], [120], [120]])
    assert np.abs(hits - expected).max() < 6 * np.sqrt(120)


@pytest.mark.covers("random-split")
def test_stratified_parts_hold_each_class_in_its_share(rng):
    y = np.repeat(["a", "b", "c"], [60, 25, 15])
    result = split(y, stratify=y, random_state=int(rng.integers(2**31)))
    for rows, share in zip(result.rows, (0.6, 0.2, 0.2)):
        for label, count in (("a", 60), ("b", 25), ("c", 15)):
            assert abs((y[rows] == label).sum() - share * count) <= 1
        assert abs(len(rows) - share * 100) <= 1
    assert "a 60" in repr(result)
    with pytest.raises(DataError, match="'z' has one row"):
        split(np.append(y, "z"), stratify=np.append(y, "z"))


@pytest.mark.covers("random-split")
def test_groups_stay_together(rng):
    groups = rng.integers(0, 20, 300)
    result = split(np.arange(300), groups=groups, random_state=int(rng.integers(2**31)))
    parts = [set(groups[rows]) for rows in result.rows]
    assert sum(map(len, parts)) == len(set(groups))
    largest = np.bincount(groups).max()
    for rows, share in zip(result.rows, (0.6, 0.2, 0.2)):
        assert abs(len(rows) - share * 300) <= largest
    with pytest.raises(DataError, match="2 groups cannot be split in 3 parts"):
        split(np.arange(6), groups=[1, 1, 1, 2, 2, 2])


def test_a_few_groups_leave_no_part_empty(rng):
    groups = np.repeat([0, 1, 2], [90, 5, 5])
    result = split(np.arange(100), groups=groups, random_state=int(rng.integers(2**31)))
    assert all(len(rows) for rows in result.rows)


@pytest.mark.covers("random-split")
def test_earlier_rows_go_to_earlier_parts(rng):
    when = rng.permutation(np.repeat(np.arange(50), 2))
    result = split(np.arange(100), (0.7, 0.3), time=when)
    assert when[result.rows[0]].max() < when[result.rows[1]].min()
    assert len(result.rows[0]) == 70
    with pytest.raises(DataError, match="follows the clock"):
        split(np.arange(100), time=when, stratify=when)


def test_columns_of_any_table_may_be_named(rng):
    frame = pd.DataFrame(
        {
            "y": ["a", "b"] * 10,
            "day": pd.date_range("2026-01-01", periods=20),
            "who": np.repeat(np.arange(5), 4),
        }
    )
    for X in (frame, pl.from_pandas(frame), Table.from_frame(frame)):
        train, _, test = split(X, stratify="y", random_state=0)
        assert type(train) is type(X)
        assert len(train) == 12
        by_time = split(X, (0.5, 0.5), time="day")
        assert by_time.rows[0].tolist() == list(range(10))
        assert len(split(X, (0.5, 0.5), groups="who").rows) == 2
        with pytest.raises(DataError, match="'z'"):
            split(X, stratify="z")
    assert len(test) == 4


@pytest.mark.covers("random-split")
def test_a_locked_test_part_is_given_out_once():
    result = split(np.arange(20), random_state=0, lock_test=True)
    assert "locked" in repr(result)
    assert [len(result[part]) for part in ("train", "validation", "train")] == [12, 4, 12]
    y = np.arange(20) * 10
    np.testing.assert_array_equal(result.take("train", y), result.train * 10)
    assert len(result.test) == 4
    with pytest.raises(DataError, match="used already"):
        _ = result["test"]
    with pytest.raises(DataError, match="20 rows"):
        result.take("train", y[:3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parts": (0.5, 0.6)}, "sum to one"),
        ({"parts": (1.0,)}, "two or more"),
        ({"parts": (0.98, 0.01, 0.01)}, "would be empty"),
        ({"stratify": ["a"] * 9}, "9 values for 10 rows"),
        ({"stratify": [None] + ["a"] * 9}, "missing in 1 rows"),
        ({"stratify": "name"}, "an array has no names"),
    ],
)
def test_what_cannot_be_split_is_refused_with_the_reason(arguments, message):
    with pytest.raises(DataError, match=message):
        split(np.arange(10), **arguments)


def test_a_scan_is_refused_with_the_way_to_split_it():
    opened = scan(b"a,b\n1,x\n2,y\n")
    with pytest.raises(DataError, match=r"scan\.read\(\)"):
        split(opened, (0.5, 0.5))
    assert len(split(opened.read(), (0.5, 0.5)).train) == 1
