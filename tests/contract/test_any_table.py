"""Every estimator takes any table: text, categories, dates, booleans, missing and unseen values."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from gnomon.contract import Learner
from gnomon.engine.errors import DataError
from gnomon.table import Table
from tests.contract.cases import (
    FRAMES,
    as_frame,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    every_method,
    fit,
    make,
    marks_missing,
    mixed_columns,
    mixed_problem,
    needs_target,
    outputs,
    problem,
)


@every_method
def test_a_mixed_table_is_learnt_from_and_unseen_values_are_predicted_for(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    new = pd.DataFrame(mixed_columns(rng, 40, unseen=True))
    found = outputs(estimator, new)
    assert all(len(values) == 40 for values in found.values())
    assert_sound(found, missing=marks_missing(estimator))


@every_method
def test_every_kind_of_frame_gives_the_same_bits(cls, rng):
    model = make(cls)
    frame, y = mixed_problem(model, rng)
    new = pd.DataFrame(mixed_columns(rng, 40, unseen=True))
    results = {}
    for kind in FRAMES:
        estimator = make(cls)
        fit(estimator, as_frame(frame, kind), y)
        results[kind] = outputs(estimator, as_frame(new, kind))
    for kind in FRAMES[1:]:
        assert results[kind].keys() == results["pandas"].keys()
        for name, values in results["pandas"].items():
            if values.dtype.kind == "O":
                continue
            assert_same_bits({name: results[kind][name]}, {name: values})


@every_method
def test_one_kind_of_frame_may_predict_for_a_model_of_another(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    expected = outputs(estimator, frame)
    for kind in FRAMES[1:]:
        found = outputs(estimator, as_frame(frame, kind))
        assert found.keys() == expected.keys()
        numeric = [name for name, values in expected.items() if values.dtype.kind != "O"]
        assert_same_bits({n: found[n] for n in numeric}, {n: expected[n] for n in numeric})


@every_method
def test_what_is_said_of_a_row_does_not_depend_on_the_rows_beside_it(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    new = pd.DataFrame(mixed_columns(rng, 30, unseen=True))
    together = outputs(estimator, new)
    shuffle = rng.permutation(30)
    shuffled = outputs(estimator, new.iloc[shuffle].reset_index(drop=True))
    half = outputs(estimator, new.iloc[:15])
    alone = outputs(estimator, new.iloc[[7]])
    for name, values in together.items():
        if values.dtype.kind == "O":
            continue
        assert_close({name: shuffled[name]}, {name: values[shuffle]}, rtol=1e-10, atol=1e-10)
        assert_close({name: half[name]}, {name: values[:15]}, rtol=1e-10, atol=1e-10)
        assert_close({name: alone[name]}, {name: values[[7]]}, rtol=1e-10, atol=1e-10)


@every_method
def test_prediction_changes_nothing_in_the_fitted_estimator(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    before = pickle.dumps(copy.deepcopy(estimator))
    outputs(estimator, pd.DataFrame(mixed_columns(rng, 30, unseen=True)))
    assert pickle.dumps(copy.deepcopy(estimator)) == before


@every_method
def test_the_users_table_is_left_as_it_was(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    before = frame.copy(deep=True)
    fit(estimator, frame, y)
    outputs(estimator, frame)
    pd.testing.assert_frame_equal(frame, before)


@every_method
def test_a_frame_of_numbers_gives_what_its_array_gives(cls, rng):
    if not issubclass(cls, Learner):
        pytest.skip("a filter of categories takes an array's columns as such")
    X, y = problem(make(cls), rng)
    names = [f"column {j}" for j in range(X.shape[1])]
    from_array = outputs(fit(make(cls), X, y), X)
    frame = pd.DataFrame(X, columns=names)
    assert_same_bits(outputs(fit(make(cls), frame, y), frame), from_array)


@every_method
@pytest.mark.parametrize("kind", FRAMES)
def test_the_target_may_be_named(cls, kind, rng):
    estimator = make(cls)
    if not needs_target(estimator):
        pytest.skip("has no target")
    frame, y = mixed_problem(estimator, rng)
    expected = outputs(fit(make(cls), frame, y), frame)
    whole = frame.assign(outcome=y)
    fit(estimator, as_frame(whole, kind), "outcome")
    assert_same_bits(outputs(estimator, frame), expected)
    assert_same_bits(outputs(estimator, as_frame(whole, kind)), expected)


@every_method
def test_a_target_that_is_not_there_is_named_with_near_ones(cls, rng):
    estimator = make(cls)
    if not needs_target(estimator):
        pytest.skip("has no target")
    frame, y = mixed_problem(estimator, rng)
    with pytest.raises(DataError, match="outcome"):
        estimator.fit(frame.assign(outcome=y), "outcom")


@every_method
def test_a_missing_target_is_refused_with_its_row(cls, rng):
    estimator = make(cls)
    if not needs_target(estimator):
        pytest.skip("has no target")
    frame, y = mixed_problem(estimator, rng)
    whole = frame.assign(outcome=pd.Series(y).mask(np.arange(len(frame)) == 5))
    with pytest.raises(ValueError, match=r"outcome|NaN"):
        fit(estimator, Table.from_frame(whole), "outcome")


@every_method
def test_a_weight_column_may_be_named(cls, rng):
    estimator = make(cls)
    if not isinstance(estimator, Learner):
        pytest.skip("is a filter")
    frame, y = mixed_problem(estimator, rng)
    weights = rng.integers(0, 4, len(frame)).astype(float)
    fit(estimator, frame, y, sample_weight=weights)
    by_name = fit(make(cls), frame.assign(times=weights), y, sample_weight="times")
    assert_same_bits(outputs(by_name, frame), outputs(estimator, frame))


@every_method
def test_columns_in_another_order_are_refused(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    with pytest.raises(ValueError, match="order"):
        outputs(estimator, frame[frame.columns[::-1]])


@every_method
def test_a_lacking_column_is_named(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    with pytest.raises(ValueError, match="place"):
        outputs(estimator, frame.drop(columns="place"))


@every_method
def test_a_bare_array_cannot_stand_for_a_mixed_table(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    with pytest.raises(ValueError, match=r".{20}"):
        outputs(estimator, np.ones((3, frame.shape[1])))


@every_method
def test_text_where_numbers_were_is_refused_unless_the_column_is_passed_on(cls, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    changed = frame.assign(count="many")
    if isinstance(estimator, Learner):
        with pytest.raises(ValueError, match="count"):
            outputs(estimator, changed)
    else:
        try:
            outputs(estimator, changed)
        except Exception as error:
            assert_clear(error, naming="count")
