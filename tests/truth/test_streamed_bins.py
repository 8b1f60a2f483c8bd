"""Bins of columns that are read in pieces are those of columns that are sorted whole."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.draw import (
    canonical_key,
    canonical_order,
    canonical_order_of_pieces,
    mark_of_rows,
)
from gnomon.engine.sums import ArraySource
from gnomon.trees import streamed_bins
from gnomon.trees.binning import Binner
from gnomon.trees.streamed_bins import fit_binner


def columns_of_all_sorts(rng, n):
    rare = np.where(rng.random(n) < 0.98, 0.0, rng.normal(size=n))
    columns = [
        rng.normal(size=n),
        rng.lognormal(0, 5, n),
        rng.integers(0, 300, n),
        rng.integers(0, 5, n),
        np.round(rng.gamma(1, 1, n), 2),
        rare,
        np.full(n, np.nan),
        np.ones(n),
        np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        1e300 * rng.normal(size=n),
        np.repeat([-0.0, 0.0], -(-n // 2))[:n],
        rng.integers(0, 400, n),  # categories
        rng.integers(-1, 6, n),
    ]
    return np.column_stack(columns), np.arange(len(columns)) >= 11


def bits_of(binner):
    # the sign of a zero parts nothing
    parts = [binner.columns_, binner.edges_ + 0.0, *(each + 0.0 for each in binner.thresholds_)]
    levels = [*binner.levels_.items(), *binner.other_levels_.items()]
    return [part.tobytes() for part in parts], [(j, each.tolist()) for j, each in levels]


@pytest.mark.parametrize("max_bins", [255, 40, 2])
@pytest.mark.parametrize("n_sample", [1, 30, 800])
@pytest.mark.parametrize(("most_values", "parts"), [(2**25, 64), (500, 3)])
@pytest.mark.parametrize("kind", ["none", "whole", "any"])
def test_bins_of_pieces_are_those_of_sorted_columns(
    kind, most_values, parts, n_sample, max_bins, rng, monkeypatch
):
    """Whatever sample cuts the columns, and however few values may be fetched at once."""
    monkeypatch.setattr(streamed_bins, "MOST_VALUES", most_values)
    monkeypatch.setattr(streamed_bins, "PARTS_OF_CELL", parts)
    n = 800
    X, kinds = columns_of_all_sorts(rng, n)
    whole, any_ = rng.integers(0, 4, n).astype(float), rng.random(n)
    weights = {"none": None, "whole": whole, "any": any_}[kind]
    expected = Binner(max_bins).fit(X, weights, kinds)
    sample = X[:: n // n_sample].copy()
    found = fit_binner(Binner(max_bins), ArraySource(X, size=64), sample, weights, kinds, 1)
    assert bits_of(found) == bits_of(expected)


def test_two_passes_suffice_for_smooth_columns(rng, monkeypatch):
    passes = []
    fold = streamed_bins.fold
    monkeypatch.setattr(streamed_bins, "fold", lambda *a: passes.append(a[0].func) or fold(*a))
    X = rng.normal(size=(20_000, 2))
    fit_binner(Binner(), ArraySource(X), X[::10].copy(), None, np.zeros(2, bool), 1)
    assert [each.__name__ for each in passes] == ["_counted", "_fetched"]


def test_rows_in_pieces_have_the_order_of_rows_together(rng):
    """Also where different rows have one key: a small column beside a huge one."""
    X = np.column_stack([np.full(300, 1e17), rng.integers(0, 3, 300), rng.integers(0, 2, 300)])
    X[rng.random(300) < 0.1, 2] = np.nan
    for rows, y in ((X, None), (X, rng.integers(0, 2, 300)), (rng.normal(size=(300, 2)), None)):
        asked = []

        def rows_at(positions, rows=rows, asked=asked):
            asked.append(positions)
            return rows[positions]

        keys = canonical_key(rows, y), mark_of_rows(rows, y)
        found = canonical_order_of_pieces(*keys, y, rows_at)
        assert found.tolist() == canonical_order(rows, y).tolist()
        assert bool(asked) == (rows is X)


def test_equal_rows_have_one_mark_and_others_another(rng):
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [-np.nan, 1.0]])
    first, same, turned, missing, also_missing = mark_of_rows(rows).tolist()
    assert first == same
    assert missing == also_missing
    assert len({first, turned, missing}) == 3
    assert len(set(mark_of_rows(rng.normal(size=(5000, 3))).tolist())) == 5000
