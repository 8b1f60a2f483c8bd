"""Hard input: a result or a clear error within seconds; never a hang, never NaN, never a crash."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from gnomon.contract.stochastic_gradient import StochasticGradient
from gnomon.linear import RidgeClassifier
from gnomon.prepare import QuantileTransformer
from gnomon.table import Table
from tests.contract.cases import (
    CLASSES,
    Failures,
    as_frame,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    each,
    every_method,
    every_path,
    fit,
    make,
    marks_missing,
    needs_target,
    outputs,
    problem,
    result_or_clear_error,
    target,
)

pytestmark = pytest.mark.timeout(120)


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


MANAGED = ("one constant column", "duplicate columns", "mean 1e8", "two values")


def managed(estimator) -> tuple[str, ...]:
    """Input that must give a result; a method that counts codes takes no code of 1e8."""
    tags = get_tags(estimator).input_tags
    counts_codes = tags.categorical and tags.positive_only
    return tuple(name for name in MANAGED if not (counts_codes and name == "mean 1e8"))


@every_method
def test_a_hard_array_gives_a_result_or_a_clear_error_and_no_numpy_warning(cls, on_numbers, rng):
    with Failures() as failures:
        for name, harden in HARD.items():
            with failures.case(name):
                X = harden(on_numbers.X.copy())
                warned: list[str] = []
                y = with_target(make(cls), X, rng)
                found = result_or_clear_error(make(cls), X, y, warned)
                assert found is not None or name not in managed(make(cls)), "must be managed"
                assert warned == []


@every_method
def test_a_hard_value_at_prediction_gives_a_result_or_a_clear_error(cls, on_numbers):
    estimator = on_numbers.estimator
    with Failures() as failures:
        for value in (1e308, -1e308, np.nan, np.inf, 1e150):
            X = on_numbers.X.copy()
            X[2, 1] = value
            with failures.case(str(value)):
                try:
                    found = outputs(estimator, X)
                except Exception as error:
                    assert_clear(error)
                else:
                    assert_sound(found, missing=marks_missing(estimator))


LAYOUTS = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran order and read-only": lambda X: _read_only(np.asfortranarray(X)),
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}
TYPES = {
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "other byte order": lambda X: X.astype(">f8"),
    "rows backwards and back": lambda X: X[::-1].copy()[::-1],
    "list of lists": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
}


# how far each precision comes is what is left where steps end by a tolerance of 1e-4
CONVERGED = {name: {"tol": 1e-7} for name in ("ElasticNetCV", "LassoCV")}
# with its usual steps it diverges on columns of such units, to numbers that depend on rounding
CONVERGED["SGDRegressor"] = {"eta0": 1e-6, "tol": None, "max_iter": 20}


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy(order="K")
    X.flags.writeable = False
    return X


def _mapped(X: np.ndarray, folder) -> np.ndarray:
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def whole_numbers(cls: type, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows that every type of number holds exactly."""
    X, y = problem(make(cls), rng, whole=True)
    return np.clip(X, -100, 100), y


def assert_no_bit_changes(cls: type, forms: dict, rng: np.random.Generator) -> None:
    X, y = whole_numbers(cls, rng)
    model = make(cls).set_params(**CONVERGED.get(cls.__name__, {}))
    expected = outputs(fit(clone(model), X, y), X)
    with Failures() as failures:
        for name, form in forms.items():
            with failures.case(name):
                other = form(X)
                found = outputs(fit(clone(model), other, y), other)
                if name.startswith(("float32", "float16")):
                    # a hundred roundings of single precision, in discriminants of wide margins
                    assert_close(above_underflow(found), above_underflow(expected), 1e-4, 1e-4)
                else:
                    assert_same_bits(as_types_of(expected, found), expected)


def above_underflow(found: dict) -> dict:
    """Results without logarithms of probabilities that single precision has no number for."""
    least = np.log(np.finfo(np.float32).tiny)
    logs = {name: np.maximum(found[name], least) for name in found if name == "predict_log_proba"}
    return found | logs


def as_types_of(expected: dict, found: dict) -> dict:
    """Results whose types are those expected: a selected column keeps the type that was given."""
    return {name: values.astype(expected[name].dtype) for name, values in found.items()}


@every_method
def test_the_layout_of_an_array_changes_no_bit(cls, rng):
    assert_no_bit_changes(cls, LAYOUTS, rng)


@every_path
def test_the_type_of_an_array_changes_no_bit(cls, rng, tmp_path):
    mapped = {"memory-mapped": lambda X: _mapped(X, tmp_path)}
    assert_no_bit_changes(cls, TYPES | mapped, rng)


@every_path
def test_booleans_are_zeros_and_ones(cls, on_numbers):
    X, y = on_numbers.X > 0, on_numbers.y
    numbers = X.astype(float)
    expected = outputs(fit(make(cls), numbers, y), numbers)
    assert_same_bits(as_types_of(expected, outputs(fit(make(cls), X, y), X)), expected)


@every_method
def test_the_users_arrays_are_not_written_to(cls, on_numbers):
    assert on_numbers.outputs
    np.testing.assert_array_equal(on_numbers.X, on_numbers.before[0])
    np.testing.assert_array_equal(on_numbers.y, on_numbers.before[1])


SPARSE = [cls for cls in CLASSES if make(cls).natively.sparse]


@each("cls", SPARSE)
def test_sparse_rows_give_what_dense_rows_give(cls, rng):
    X, y = problem(make(cls), rng, whole=True)
    X = X * (np.abs(X) > 6)
    if cls is QuantileTransformer:  # whose sparse rows must not be negative, as in scikit-learn
        X = np.abs(X)
    # the norm by which scikit-learn's code stops is of a row's columns that are not zero
    given = {"tol": None, "max_iter": 20} if issubclass(cls, StochasticGradient) else {}
    if cls is RidgeClassifier:  # dense rows are solved exactly, sparse ones to this tolerance
        given = {"tol": 1e-12}
    expected = outputs(fit(make(cls, **given), X, y), X)
    found = outputs(fit(make(cls, **given), sp.csr_array(X), y), sp.csr_array(X))
    assert_close(found, expected)


@each("cls", [cls for cls in CLASSES if cls not in SPARSE])
def test_sparse_rows_are_refused_by_methods_of_dense_rows(cls, on_numbers):
    with pytest.raises((TypeError, ValueError), match=r"(?i)sparse"):
        fit(make(cls), sp.csr_array(on_numbers.X), on_numbers.y)


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


@every_path
def test_a_hard_frame_gives_a_result_or_a_clear_error(cls, on_table):
    with Failures() as failures:
        for name, harden in HARD_FRAMES.items():
            with failures.case(name):
                hard = harden(on_table.X)
                y = None if on_table.y is None else on_table.y[: len(hard)]
                result_or_clear_error(make(cls), hard, y)


@every_path
def test_a_frame_without_columns_is_refused(cls):
    empty = {
        "pandas": pd.DataFrame(index=range(3)),
        "polars": pl.DataFrame(),
        "arrow": as_frame(pd.DataFrame(), "arrow"),
        "table": Table.from_frame(pd.DataFrame()),
    }
    y = [0, 1, 1] if needs_target(make(cls)) else None
    for nothing in empty.values():
        with pytest.raises(Exception, match=r".{20}") as refused:
            fit(make(cls), nothing, y)
        assert_clear(refused.value)


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


@each("cls", [cls for cls in CLASSES if needs_target(make(cls))])
def test_a_hard_target_gives_a_result_or_a_clear_error(cls, on_numbers):
    with Failures() as failures:
        for name, harden in TARGETS.items():
            with failures.case(name):
                result_or_clear_error(make(cls), on_numbers.X, harden(on_numbers.y))
