"""Hard input: a result or a clear error within seconds; never a hang, never NaN, never a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from gnomon.table import Table
from tests.contract.cases import (
    as_frame,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    every_method,
    fit,
    make,
    marks_missing,
    mixed_problem,
    needs_target,
    outputs,
    problem,
    result_or_clear_error,
    target,
)

pytestmark = pytest.mark.timeout(60)


def with_target(estimator, X: np.ndarray, rng: np.random.Generator):
    return target(estimator, np.nan_to_num(X), np.arange(len(X)) % 3, rng)


HARD = {
    "one constant column": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
    "constant columns only": lambda X: np.full_like(X, 3.0),
    "zeros only": np.zeros_like,
    "all rows equal": lambda X: np.tile(X[0], (len(X), 1)),
    "one column": lambda X: X[:, :1],
    "duplicate columns": lambda X: np.column_stack([X, X, X]),
    "nearly duplicate columns": lambda X: np.column_stack([X, X * (1 + 1e-15)]),
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "three rows": lambda X: X[:3],
    "more columns than rows": lambda X: np.random.default_rng(1).normal(size=(5, 60)),
    "values of 1e308": lambda X: np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, 1e308, X),
    "values of -1e308": lambda X: np.where(X > 0, X, -1e308),
    "values up to 1e150": lambda X: X * 1e150,
    "values up to 1e90": lambda X: X * 1e90,
    "values near 1e-308": lambda X: X * 1e-308,
    "values near 1e-160": lambda X: X * 1e-160,
    "denormal values": lambda X: np.full_like(X, 5e-324) * (X > 0),
    "mean 1e8": lambda X: X + 1e8,
    "mean 1e15": lambda X: X + 1e15,
    "scales 1e-30 and 1e30": lambda X: X * np.array([1e-30, 1.0, 1e30, 1e-5]),
    "one outlier": lambda X: np.vstack([X[:-1], X[-1:] + 1e30]),
    "negative zeros": lambda X: np.where(X > 0, X, -0.0),
    "two values": lambda X: (X > 0).astype(float),
    "NaN": lambda X: np.where(np.arange(X.size).reshape(X.shape) % 11 == 0, np.nan, X),
    "an all-missing column": lambda X: np.column_stack([X, np.full(len(X), np.nan)]),
    "nothing but NaN": lambda X: np.full_like(X, np.nan),
    "infinity": lambda X: np.where(X > 1, np.inf, X),
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "huge integers": lambda X: (X > 0).astype(np.int64) * (2**62) + 1,
    "unsigned integers": lambda X: (np.abs(X) * 100).astype(np.uint64) + np.uint64(2**63),
}


@every_method
@pytest.mark.parametrize("name", list(HARD))
def test_a_hard_array_gives_a_result_or_a_clear_error(cls, name, rng):
    estimator = make(cls)
    X, _ = problem(estimator, rng)
    X = HARD[name](X)
    result_or_clear_error(estimator, X, with_target(estimator, X, rng))


@every_method
@pytest.mark.parametrize(
    "name", ["one constant column", "duplicate columns", "mean 1e8", "two values"]
)
def test_what_every_method_must_manage_gives_a_result(cls, name, rng):
    estimator = make(cls)
    X, _ = problem(estimator, rng)
    X = HARD[name](X)
    assert result_or_clear_error(estimator, X, with_target(estimator, X, rng)) is not None


@every_method
@pytest.mark.parametrize("name", list(HARD))
def test_a_hard_array_makes_no_numpy_warning(cls, name, rng):
    estimator = make(cls)
    X, _ = problem(estimator, rng)
    X = HARD[name](X)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, with_target(estimator, X, rng))
            for method in ("predict", "predict_proba", "transform", "score_samples"):
                if hasattr(estimator, method):
                    getattr(estimator, method)(X)
        except Exception as error:
            assert_clear(error)
    assert [each.message for each in told if each.category is RuntimeWarning] == []


@every_method
@pytest.mark.parametrize("value", [1e308, -1e308, np.nan, np.inf, 1e150])
def test_a_hard_value_at_prediction_gives_a_result_or_a_clear_error(cls, value, rng):
    estimator = make(cls)
    X, y = problem(estimator, rng)
    fit(estimator, X, y)
    X[2, 1] = value
    try:
        found = outputs(estimator, X)
    except Exception as error:
        assert_clear(error)
        return
    assert_sound(found, missing=marks_missing(estimator))


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "other byte order": lambda X: X.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "rows backwards and back": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: _read_only(X),
    "list of lists": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
}


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


@every_method
@pytest.mark.parametrize("name", list(FORMS))
def test_the_form_of_an_array_changes_no_bit(cls, name, rng):
    X, y = problem(make(cls), rng, whole=True)
    X = np.clip(X, -100, 100)
    expected = outputs(fit(make(cls), X, y), X)
    other = FORMS[name](X)
    found = outputs(fit(make(cls), other, y), other)
    if name in ("float32", "float16"):
        assert_close(found, expected, rtol=1e-5, atol=1e-5)
    else:
        assert_same_bits(found, expected)


@every_method
def test_booleans_are_zeros_and_ones(cls, rng):
    X, y = problem(make(cls), rng)
    X = X > 0
    numbers = X.astype(float)
    assert_same_bits(outputs(fit(make(cls), X, y), X), outputs(fit(make(cls), numbers, y), numbers))


@every_method
def test_a_memory_mapped_array_changes_no_bit(cls, rng, tmp_path):
    X, y = problem(make(cls), rng)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_same_bits(outputs(fit(make(cls), mapped, y), mapped), outputs(fit(make(cls), X, y), X))


@every_method
def test_the_users_arrays_are_not_written_to(cls, rng):
    X, y = problem(make(cls), rng)
    copies = X.copy(), None if y is None else y.copy()
    outputs(fit(make(cls), X, y), X)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


@every_method
def test_sparse_rows_give_what_dense_rows_give_or_are_refused(cls, rng):
    estimator = make(cls)
    X, y = problem(estimator, rng, whole=True)
    X = X * (np.abs(X) > 6)
    expected = outputs(fit(make(cls), X, y), X)
    if not estimator.natively.sparse:
        with pytest.raises((TypeError, ValueError), match=r"(?i)sparse"):
            fit(estimator, sp.csr_array(X), y)
        return
    assert_close(outputs(fit(estimator, sp.csr_array(X), y), sp.csr_array(X)), expected)


HARD_FRAMES = {
    "no rows": lambda frame: frame.iloc[:0],
    "one row": lambda frame: frame.iloc[:1],
    "an all-missing number": lambda frame: frame.assign(size=np.nan),
    "an all-missing text": lambda frame: frame.assign(place=None),
    "all cells missing": lambda frame: frame.astype(object).where(frame.isna()),
    "a constant category": lambda frame: frame.assign(place="here"),
    "a category per row": lambda frame: frame.assign(place=[f"p{i}" for i in range(len(frame))]),
    "only text": lambda frame: frame[["remark"]],
    "only dates": lambda frame: frame[["since"]],
    "only a category": lambda frame: frame[["place"]],
    "only booleans": lambda frame: frame[["member"]],
    "infinity": lambda frame: frame.assign(size=np.where(frame["size"] > 5, np.inf, 1.0)),
    "numbers of 1e308": lambda frame: frame.assign(size=1e308),
    "integers beyond 2^53": lambda frame: frame.assign(count=frame["count"] + 2**60),
    "an odd name": lambda frame: frame.rename(columns={"size": "the \u2028 \x00 size"}),
    "an empty name": lambda frame: frame.rename(columns={"size": ""}),
    "mixed types in a column": lambda frame: frame.assign(
        place=[i if i % 2 else str(i) for i in range(len(frame))]
    ),
    "lists in a column": lambda frame: frame.assign(place=[[i] for i in range(len(frame))]),
    "two columns of one name": lambda frame: pd.concat([frame, frame[["size"]]], axis=1),
}


@every_method
@pytest.mark.parametrize("name", list(HARD_FRAMES))
def test_a_hard_frame_gives_a_result_or_a_clear_error(cls, name, rng):
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    hard = HARD_FRAMES[name](frame)
    y = None if y is None else y[: len(hard)]
    try:
        fit(estimator, hard, y)
        found = outputs(estimator, hard)
    except Exception as error:
        assert_clear(error)
        return
    assert_sound(found, missing=marks_missing(estimator))


@every_method
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "table"])
def test_a_frame_without_columns_is_refused(cls, kind):
    empty = {
        "pandas": pd.DataFrame(index=range(3)),
        "polars": pl.DataFrame(),
        "arrow": as_frame(pd.DataFrame(), "arrow"),
        "table": Table.from_frame(pd.DataFrame()) if kind == "table" else None,
    }[kind]
    estimator = make(cls)
    try:
        fit(estimator, empty, [0, 1, 1] if needs_target(estimator) else None)
    except Exception as error:
        assert_clear(error)
    else:
        pytest.fail("learnt from nothing")


TARGETS = {
    "constant": lambda y: np.repeat(y[:1], len(y)),
    "of one row per class": lambda y: np.arange(len(y)),
    "of two columns": lambda y: np.column_stack([y, y]),
    "too short": lambda y: y[:-1],
    "with NaN": lambda y: np.where(np.arange(len(y)) == 3, np.nan, 1.0),
    "with infinity": lambda y: np.where(np.arange(len(y)) == 3, np.inf, 1.0),
    "of 1e308": lambda y: np.where(np.arange(len(y)) % 2, 1e308, -1e308),
    "of None": lambda y: np.array([None] * len(y), dtype=object),
    "of mixed types": lambda y: np.array([1, "a"] * (len(y) // 2), dtype=object),
    "boolean": lambda y: np.arange(len(y)) % 2 == 0,
    "empty": lambda y: y[:0],
    "absent": lambda y: None,
}


@every_method
@pytest.mark.parametrize("name", list(TARGETS))
def test_a_hard_target_gives_a_result_or_a_clear_error(cls, name, rng):
    estimator = make(cls)
    if not needs_target(estimator):
        pytest.skip("has no target")
    X, y = problem(estimator, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result_or_clear_error(estimator, X, TARGETS[name](y))
