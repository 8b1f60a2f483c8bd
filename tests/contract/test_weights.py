"""Weights: two is the same as the row standing there twice, zero as its absence."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.table import Table
from tests.contract.cases import (
    CLASSES,
    assert_close,
    assert_same_bits,
    each,
    fit,
    make,
    mixed_problem,
    outputs,
    problem,
    takes_weights,
)

every_weighted = each("cls", [cls for cls in CLASSES if takes_weights(make(cls))])


def picked(y, rows):
    return None if y is None else np.asarray(y)[rows]


@every_weighted
def test_weights_of_one_give_the_bits_of_no_weights(cls, rng):
    X, y = problem(make(cls), rng)
    plain = outputs(fit(make(cls), X, y), X)
    assert_same_bits(outputs(fit(make(cls), X, y, sample_weight=np.ones(len(X))), X), plain)


@every_weighted
def test_weight_zero_gives_the_bits_of_leaving_the_row_out(cls, rng):
    X, y = problem(make(cls), rng)
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[:6] = 1
    kept = weights > 0
    weighted = fit(make(cls), X, y, sample_weight=weights)
    left_out = fit(make(cls), X[kept], picked(y, kept), sample_weight=weights[kept])
    assert_same_bits(outputs(weighted, X), outputs(left_out, X))


@every_weighted
def test_a_whole_weight_is_so_many_repetitions(cls, rng):
    X, y = problem(make(cls), rng)
    weights = rng.integers(1, 4, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    weighted = fit(make(cls), X, y, sample_weight=weights)
    repeated = fit(make(cls), X[rows], picked(y, rows))
    assert_close(outputs(weighted, X), outputs(repeated, X))


@every_weighted
def test_weights_are_repetitions_in_mixed_tables_too(cls, rng):
    frame, y = mixed_problem(make(cls), rng)
    table = Table.from_frame(frame)
    weights = rng.integers(1, 4, len(table))
    rows = np.repeat(np.arange(len(table)), weights)
    again = Table.from_frame(frame.iloc[rows].reset_index(drop=True)).with_schema(table.schema)
    weighted = fit(make(cls), table, y, sample_weight=weights)
    repeated = fit(make(cls), again, picked(y, rows))
    assert_close(outputs(weighted, table), outputs(repeated, table))


@every_weighted
def test_the_order_of_rows_does_not_matter(cls, rng):
    X, y = problem(make(cls), rng)
    rows = rng.permutation(len(X))
    shuffled = fit(make(cls), X[rows], picked(y, rows))
    assert_close(outputs(shuffled, X), outputs(fit(make(cls), X, y), X))


@every_weighted
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda w: w.__setitem__(3, -1.0), r"(?i)negative"),
        (lambda w: w.__setitem__(3, np.nan), r"(?i)NaN"),
        (lambda w: w.__setitem__(3, np.inf), r"(?i)infinit"),
        (lambda w: w.__setitem__(slice(None), 0.0), r"(?i)zero|weight"),
    ],
    ids=["negative", "NaN", "infinite", "all zero"],
)
def test_weights_that_mean_nothing_are_refused(cls, spoil, message, rng):
    X, y = problem(make(cls), rng)
    weights = np.ones(len(X))
    spoil(weights)
    with pytest.raises(ValueError, match=message):
        make(cls).fit(X, y, sample_weight=weights)


@every_weighted
def test_weights_of_another_length_are_refused(cls, rng):
    X, y = problem(make(cls), rng)
    with pytest.raises(ValueError, match=r"sample_weight|length|inconsistent"):
        make(cls).fit(X, y, sample_weight=np.ones(len(X) - 1))


@every_weighted
def test_labels_are_given_for_rows_of_weight_zero_too(cls, rng):
    X, y = problem(make(cls), rng)
    weights = np.ones(len(X))
    weights[::7] = 0
    estimator = fit(make(cls), X, y, sample_weight=weights)
    if not hasattr(estimator, "labels_"):
        pytest.skip("gives no labels")
    np.testing.assert_array_equal(estimator.labels_, estimator.predict(X))
