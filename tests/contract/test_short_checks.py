"""The short checks of plain arrays find the same as scikit-learn's, whatever is given."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import _safe_indexing, multiclass, validation

from gnomon.bayes import GaussianNB
from gnomon.contract import short_checks
from gnomon.select import SelectKBest

pytestmark = pytest.mark.filterwarnings("ignore")  # of scikit-learn's checks of odd arrays
RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(4, 3))


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


ARRAYS = {
    "plain": PLAIN,
    "float32": PLAIN.astype(np.float32),
    "half": PLAIN.astype(np.float16),
    "long": PLAIN.astype(np.longdouble),
    "not negative": np.abs(PLAIN),
    "one row": PLAIN[:1].copy(),
    "Fortran": np.asfortranarray(PLAIN),
    "strided": PLAIN[::2],
    "read-only": read_only(PLAIN),
    "integers": np.arange(12).reshape(4, 3),
    "objects": PLAIN.astype(object),
    "text": PLAIN.astype(str),
    "missing": np.where(PLAIN > 0, np.nan, PLAIN),
    "infinite": np.where(PLAIN > 0, np.inf, PLAIN),
    "huge": PLAIN * 1e300,
    "huge float32": (PLAIN * 1e30).astype(np.float32),
    "other columns": PLAIN[:, :2].copy(),
    "no rows": PLAIN[:0],
    "one dimension": PLAIN[0],
    "three dimensions": PLAIN.reshape(2, 2, 3),
    "complex": PLAIN * 1j,
    "list": PLAIN.tolist(),
    "sparse": sp.csr_array(PLAIN),
    "matrix": np.asmatrix(PLAIN),
}
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"dtype": np.float64},
    {"dtype": np.float32},
    {"dtype": [np.float64, np.float32]},
    {"dtype": (np.float32, np.float64)},
    {"dtype": "numeric"},
    {"dtype": None},
    {"dtype": "int"},
    {"dtype": np.int64, "copy": True},
    {"dtype": bool},
    {"dtype": object},
    {"copy": True},
    {"copy": True, "force_writeable": True},
    {"force_writeable": True},
    {"order": "C"},
    {"order": "F"},
    {"order": "F", "copy": True},
    {"accept_sparse": "csr", "accept_large_sparse": False},
    {"ensure_all_finite": False},
    {"ensure_all_finite": "allow-nan", "ensure_2d": False, "allow_nd": True},
    {"ensure_min_samples": 3},
    {"ensure_min_features": 3},
    {"ensure_non_negative": True},
    {"input_name": "X"},
    {"estimator": "GaussianNB", "input_name": "X"},
]


def outcome(function: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What a call gives, and the error that it raises."""
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def require_same(found: tuple[Any, Any], expected: tuple[Any, Any], given: Any) -> None:
    assert type(found[1]) is type(expected[1])
    assert str(found[1]) == str(expected[1])
    mine, theirs = (
        each if isinstance(each, tuple) else (each,) for each in (found[0], expected[0])
    )
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        assert type(one) is type(other)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.flags.c_contiguous == other.flags.c_contiguous
            assert one.flags.writeable == other.flags.writeable
            assert (one is given) == (other is given)
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_checked_as_by_scikit_learn(name: str) -> None:
    for params in PARAMETERS:
        found = outcome(short_checks.check_array, ARRAYS[name], **params)
        expected = outcome(validation.check_array, ARRAYS[name], **params)
        require_same(found, expected, ARRAYS[name])


class Stub(BaseEstimator):
    """An estimator that is only checked."""

    def fit(self, X: Any) -> Stub:
        return self


@pytest.mark.parametrize("name", ARRAYS)
def test_data_are_validated_as_by_scikit_learn(name: str) -> None:
    targets: list[dict[str, Any]] = [
        {},
        {"y": None},
        {"y": [1, 2, 3, 4]},
        {"y": ["a", "b", "a", "b"]},
        {"y": [1, 2]},
        {"y": [1, 2, 3, np.nan]},
        {"y": PLAIN[:, :2], "multi_output": True},
        {"y": np.array([1, 2, 3, 4], dtype=object), "y_numeric": True},
    ]
    before: list[dict[str, Any]] = [
        {},
        {"n_features_in_": 3},
        {"n_features_in_": 3, "feature_names_in_": np.array(["a", "b", "c"], dtype=object)},
    ]
    skipped = {"skip_check_array": True}
    asked = [({}, params) for params in (*PARAMETERS[:-2], skipped)]  # these name the estimator
    asked += [(target, params) for target in targets for params in ({}, {"copy": True}, skipped)]
    for (target, params), state, reset in itertools.product(asked, before, (True, False)):
        one, other = Stub(), Stub()
        vars(one).update(state)
        vars(other).update(state)
        given = {"reset": reset, **target, **params}
        found = outcome(short_checks.validate_data, one, ARRAYS[name], **given)
        expected = outcome(validation.validate_data, other, ARRAYS[name], **given)
        require_same(found, expected, ARRAYS[name])
        if expected[1] is None:
            assert vars(one).keys() == vars(other).keys()
            assert vars(one).get("n_features_in_") == vars(other).get("n_features_in_")


def test_targets_are_checked_as_by_scikit_learn() -> None:
    whole = np.array([3, 1, 1, 2, 3, 1])
    targets = [
        whole,
        whole.astype(np.uint8),
        whole > 1,
        whole.astype(float),
        whole.astype(np.float32) + 0.5,
        np.where(whole > 1, np.nan, 1.0),
        np.where(whole > 1, np.inf, 1.0),
        np.arange(40),
        np.arange(40) // 2,
        np.arange(42) // 2,
        whole[::2],
        whole[:0],
        whole[:, None],
        whole.reshape(2, 3),
        whole.astype(str),
        whole.astype(object),
        whole * 1j,
        whole.tolist(),
        np.int64(1),
    ]
    calls: list[tuple[str, Any, list[dict[str, Any]]]] = [
        ("_check_y", validation, [{}, {"multi_output": True}, {"y_numeric": True}]),
        ("column_or_1d", validation, [{}, {"warn": True}, {"dtype": float}]),
        ("check_classification_targets", multiclass, [{}]),
        ("unique_labels", multiclass, [{}]),
    ]
    for y in targets:
        for name, module, choices in calls:
            for params in choices:
                with warnings.catch_warnings(record=True) as mine:
                    warnings.simplefilter("always")
                    found = outcome(getattr(short_checks, name), y, **params)
                with warnings.catch_warnings(record=True) as theirs:
                    warnings.simplefilter("always")
                    expected = outcome(getattr(module, name), y, **params)
                assert [str(each.message) for each in mine] == [str(w.message) for w in theirs]
                require_same(found, expected, None)


def test_an_estimator_that_was_not_fitted_is_refused() -> None:
    with pytest.raises(NotFittedError):
        short_checks.check_is_fitted(Stub())
    stub = Stub()
    stub.n_features_in_ = 3
    short_checks.check_is_fitted(stub)
    short_checks.check_is_fitted(stub, "n_features_in_")
    with pytest.raises(NotFittedError):
        short_checks.check_is_fitted(stub, "coef_")
    with pytest.raises(NotFittedError):
        short_checks.check_is_fitted(stub, ["n_features_in_", "coef_"])
    with pytest.raises(TypeError):
        short_checks.check_is_fitted(Stub)


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns_are_chosen_as_by_scikit_learn(axis: int) -> None:
    for indices in (
        np.array([True, False, True, False][: PLAIN.shape[axis]]),
        np.array([2, 0]),
        np.array([], dtype=int),
        [1, 2],
        slice(1, 3),
    ):
        for X in (PLAIN, sp.csr_array(PLAIN), PLAIN.tolist() if axis == 0 else PLAIN):
            found = short_checks._safe_indexing(X, indices, axis=axis)
            expected = _safe_indexing(X, indices, axis=axis)
            if sp.issparse(found):
                found, expected = found.toarray(), expected.toarray()
            np.testing.assert_array_equal(found, expected)


def test_methods_call_the_short_checks() -> None:
    names = GaussianNB._check_X.__globals__
    assert names["validate_data"] is short_checks.validate_data
    assert SelectKBest.__name__ == "SelectKBest"
    made = short_checks.with_short_methods(MaxAbsScaler)
    assert made is short_checks.with_short_methods(MaxAbsScaler)
    assert issubclass(made, MaxAbsScaler)
    rows = made().fit_transform(PLAIN)
    np.testing.assert_array_equal(rows, MaxAbsScaler().fit_transform(PLAIN))
    with pytest.raises(ValueError, match="NaN"):
        GaussianNB().fit(PLAIN, [0, 0, 1, 1]).predict(np.full((1, 3), np.nan))
    with pytest.raises(ValueError, match="2 features, but GaussianNB is expecting 3"):
        GaussianNB().fit(PLAIN, [0, 0, 1, 1]).predict(PLAIN[:, :2])
