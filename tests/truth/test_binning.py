"""Bins of columns against sorting and counting."""

import numpy as np
import pytest

from gnomon.trees.binning import (
    MAX_VALUE_BINS,
    bin_column,
    bins_by_cells,
    equal_weight_bins,
    midpoints,
)


def columns(rng, n):
    """Columns of many shapes."""
    normal = rng.normal(size=n)
    return {
        "normal": normal,
        "uniform": rng.random(n),
        "skewed": rng.lognormal(size=n),
        "whole": rng.integers(0, 1000, n).astype(float),
        "few": rng.integers(0, 50, n).astype(float),
        "outlier": np.append(normal[1:], 1e9),
        "missing": np.where(rng.random(n) < 0.1, np.nan, normal),
        "half zero": np.where(rng.random(n) < 0.5, 0.0, normal),
        "heavy values": np.where(rng.random(n) < 0.02, 0.25, rng.random(n)),
        "huge": normal * 1e307,
        "tiny": normal * 1e-310,
        "constant": np.full(n, 3.0),
    }


NAMES = list(columns(np.random.default_rng(0), 2))


def sorted_bins(column):
    values = np.sort(column)
    values = values[: np.searchsorted(values, np.nan)]
    low, high = np.empty(MAX_VALUE_BINS), np.empty(MAX_VALUE_BINS)
    n_bins = equal_weight_bins(values, np.empty(0, np.int64), low, high)
    return low[:n_bins], high[:n_bins]


@pytest.mark.parametrize("name", NAMES)
def test_bins_by_cells_are_those_of_the_sorted_column(name, rng):
    column = columns(rng, int(rng.integers(20_000, 60_000)))[name]
    low, high = np.empty(MAX_VALUE_BINS), np.empty(MAX_VALUE_BINS)
    n_bins = bins_by_cells(column, low, high)
    if name in ("normal", "uniform", "whole", "missing"):
        assert n_bins > 0
    if n_bins > 0:
        expected_low, expected_high = sorted_bins(column)
        assert np.array_equal(low[:n_bins], expected_low)
        assert np.array_equal(high[:n_bins], expected_high)


def test_bins_by_cells_leave_infinite_values_to_the_check(rng):
    column = np.append(rng.normal(size=30_000), np.inf)
    assert bins_by_cells(column, np.empty(MAX_VALUE_BINS), np.empty(MAX_VALUE_BINS)) == -1


@pytest.mark.parametrize("name", NAMES)
def test_codes_count_the_thresholds_below(name, rng):
    column = columns(rng, 5_000)[name]
    low, high = sorted_bins(column)
    thresholds = midpoints(high[:-1], low[1:])
    codes = np.empty(len(column), np.uint8)
    at_borders = np.concatenate([column[: len(column) - len(thresholds)], thresholds])
    assert bin_column(at_borders, thresholds, codes) == 0
    counted = np.searchsorted(thresholds, at_borders, side="left")
    assert np.array_equal(codes, np.where(np.isnan(at_borders), 255, counted))
