"""Weights: two is the same as the row standing there twice, zero as its absence."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.table import Table
from tests.contract.cases import (
    CLASSES,
    assert_close,
    assert_same_bits,
    each,
    each_path,
    fit,
    make,
    outputs,
    parameters_of,
    takes_weights,
)

WEIGHTED = [cls for cls in CLASSES if takes_weights(make(cls))]
every_weighted = each("cls", WEIGHTED)
every_weighted_path = each_path("cls", WEIGHTED)

# days since 1970 beside parts of one: rounding ends the interior point method before its tolerance
UNSCALED = {"LinearSVR": 1e-2}


# scikit-learn's folds are of the rows as they stand
OF_ORDER = {"cv"}


def repetitions(
    cls: type, weights: np.ndarray, rng: np.random.Generator, shuffle: bool = True
) -> np.ndarray:
    """Rows as often as their weights say, in any order unless scikit-learn's code depends on it.

    Without `shuffle` it learns from one row after the other as they stand.
    """
    rows = np.repeat(np.arange(len(weights)), weights)
    by_order = OF_ORDER & set(parameters_of(cls)) or not shuffle
    return rows if issubclass(cls, OverScikitLearn) and by_order else rng.permutation(rows)


def picked(y, rows):
    return None if y is None else np.asarray(y)[rows]


@every_weighted
def test_a_weight_is_so_many_repetitions_in_any_order(cls, on_numbers, rng):
    X, y = on_numbers.X, on_numbers.y
    weights = rng.integers(0, 4, len(X))
    weights[:6] = 1  # every class is there
    rows = repetitions(cls, weights, rng)
    weighted = fit(make(cls), X, y, sample_weight=weights)
    repeated = fit(make(cls), X[rows], picked(y, rows))
    assert_close(outputs(weighted, X), outputs(repeated, X))
    if hasattr(weighted, "labels_"):
        np.testing.assert_array_equal(weighted.labels_, weighted.predict(X))


@every_weighted
def test_weights_are_repetitions_in_mixed_tables_too(cls, on_table, rng):
    y, table = on_table.y, Table.from_frame(on_table.X)
    weights = rng.integers(1, 4, len(table))
    rows = np.repeat(np.arange(len(table)), weights)
    again = Table.from_frame(on_table.X.iloc[rows].reset_index(drop=True))
    weighted = fit(make(cls), table, y, sample_weight=weights)
    repeated = fit(make(cls), again.with_schema(table.schema), picked(y, rows))
    atol = UNSCALED.get(cls.__name__, 1e-6)
    assert_close(outputs(weighted, table), outputs(repeated, table), atol=atol)


@every_weighted
def test_weights_of_one_give_the_bits_of_no_weights(cls, on_numbers):
    X, y = on_numbers.X, on_numbers.y
    weighted = fit(make(cls), X, y, sample_weight=np.ones(len(X)))
    assert_same_bits(outputs(weighted, X), on_numbers.outputs)


@every_weighted_path
def test_weight_zero_gives_the_bits_of_leaving_the_row_out(cls, on_numbers, rng):
    X, y = on_numbers.X, on_numbers.y
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[:6] = 1
    kept = weights > 0
    weighted = fit(make(cls), X, y, sample_weight=weights)
    left_out = fit(make(cls), X[kept], picked(y, kept), sample_weight=weights[kept])
    assert_same_bits(outputs(weighted, X), outputs(left_out, X))


WRONG = {
    "negative": (lambda w: np.where(np.arange(len(w)) == 3, -1.0, w), r"(?i)negative"),
    "NaN": (lambda w: np.where(np.arange(len(w)) == 3, np.nan, w), r"(?i)NaN"),
    "infinite": (lambda w: np.where(np.arange(len(w)) == 3, np.inf, w), r"(?i)infinit"),
    "all zero": (np.zeros_like, r"(?i)zero|weight"),
    "too few": (lambda w: w[:-1], r"sample_weight|length|inconsistent"),
}


@every_weighted_path
@pytest.mark.parametrize("name", list(WRONG))
def test_weights_that_mean_nothing_are_refused(cls, name, on_numbers):
    spoil, message = WRONG[name]
    weights = spoil(np.ones(len(on_numbers.X)))
    with pytest.raises(ValueError, match=message):
        make(cls).fit(on_numbers.X, on_numbers.y, sample_weight=weights)
