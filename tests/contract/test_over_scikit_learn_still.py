"""Classes over scikit-learn's that do not keep the whole contract yet: what they do keep."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils._test_common.instance_generator import (
    _construct_instances,
    _get_expected_failed_checks,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

import gnomon
from gnomon.contract.over_scikit_learn import is_peer
from gnomon.engine.errors import MemoryLimitError
from gnomon.linear import LinearRegression
from gnomon.table import Table
from tests.contract.cases import (
    OVER_STILL,
    as_frame,
    assert_close,
    assert_same_bits,
    each,
    mixed_columns,
    needs_target,
    outputs,
    parameters_of,
)
from tests.contract.test_course import Recorder

every_class = each("cls", OVER_STILL)
COUNTS = {"MultinomialNB", "ComplementNB", "CategoricalNB"}  # take no negative numbers
FEW = {
    "GaussianRandomProjection": {"n_components": 2},
    "SparseRandomProjection": {"n_components": 2},
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.1},
    "SelectKBest": {"k": 2},
    "GenericUnivariateSelect": {"mode": "k_best", "param": 2},
    "SequentialFeatureSelector": {"n_features_to_select": 1, "cv": 2},
    "RFECV": {"cv": 2},
    "Perceptron": {"shuffle": False},  # rows are shuffled from a canonical order, not as given
    "CCA": {"n_components": 1},
    "PLSCanonical": {"n_components": 1},
    "GridSearchCV": {"param_grid": {"fit_intercept": [True, False]}, "cv": 2},
    "RandomizedSearchCV": {
        "param_distributions": {"fit_intercept": [True, False]},
        "cv": 2,
        "n_iter": 2,
    },
    "HalvingGridSearchCV": {"param_grid": {"fit_intercept": [True, False]}, "cv": 2},
    "HalvingRandomSearchCV": {
        "param_distributions": {"fit_intercept": [True, False]},
        "cv": 2,
    },
    "FastICA": {"n_components": 2, "whiten_solver": "eigh"},
}


def peer_of(cls: type) -> type:
    return next(base for base in cls.__mro__ if is_peer(base))


def make(cls: type):
    chosen = dict(FEW.get(cls.__name__, {}))
    if "estimator" in parameters_of(cls):
        chosen["estimator"] = LinearRegression()
    if "random_state" in parameters_of(cls):
        chosen["random_state"] = 0
    return cls(**chosen)


def problem(cls: type, rng) -> tuple[np.ndarray, np.ndarray | None]:
    group = np.arange(60) % 3
    X = np.abs(rng.integers(0, 5, size=(60, 5)) + np.outer(group, [2, 1, 0, 0, 1])).astype(float)
    return X, target(cls, X, group)


def target(cls: type, X, group):
    model = make(cls)
    if is_classifier(model) or hasattr(model, "score_func"):
        return np.array(["no", "perhaps", "yes"])[group]
    return X[:, 0] + group if needs_target(model) or hasattr(model, "estimator") else None


def table_problem(cls: type, rng) -> tuple[pd.DataFrame, np.ndarray | None]:
    group = np.arange(90) % 3
    frame = pd.DataFrame(mixed_columns(rng, 90))
    frame["count"] += 10 * group
    if cls.__name__ in COUNTS:
        frame = frame[["count", "place", "member"]]
    return frame, target(cls, frame[["count"]].to_numpy(dtype=float), group)


def fit(estimator, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **more)


@every_class
def test_an_array_gives_the_bits_of_scikit_learn(cls, rng):
    X, y = problem(cls, rng)
    ours = fit(make(cls), X, y)
    theirs = fit(peer_of(cls)(**make(cls).get_params(deep=False)), X, y)
    assert_same_bits(outputs(ours, X), outputs(theirs, X))
    assert vars(theirs).keys() <= vars(ours).keys()
    # as text: a default of NaN is not equal to itself
    assert str(inspect.signature(cls)) == str(inspect.signature(peer_of(cls)))


@every_class
def test_a_mixed_table_is_learnt_from_saved_and_predicted_for(cls, rng, tmp_path):
    frame, y = table_problem(cls, rng)
    model = fit(make(cls), frame, y)
    assert model.n_features_in_ == frame.shape[1]
    assert list(model.feature_names_in_) == list(frame.columns)
    found = outputs(model, frame)
    assert all(len(values) == 90 for values in found.values())
    with pytest.raises(ValueError, match="count"):
        outputs(model, frame.drop(columns="count"))
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    assert_close(outputs(loaded, frame), found, rtol=1e-12, atol=1e-9)


@every_class
def test_every_kind_of_frame_gives_the_same(cls, rng):
    frame, y = table_problem(cls, rng)
    expected = outputs(fit(make(cls), frame, y), frame)
    for kind in ("polars", "table"):
        found = outputs(fit(make(cls), as_frame(frame, kind), y), as_frame(frame, kind))
        assert_close(found, expected)


@every_class
def test_the_target_may_be_named(cls, rng):
    frame, y = table_problem(cls, rng)
    if y is None:
        pytest.skip("has no target")
    by_name = fit(make(cls), Table.from_frame(frame.assign(outcome=y)), "outcome")
    assert_close(outputs(by_name, frame), outputs(fit(make(cls), frame, y), frame))


@every_class
def test_a_fit_beyond_the_memory_limit_is_refused(cls, rng):
    X, y = problem(cls, rng)
    with gnomon.config(memory_limit=1000), pytest.raises(MemoryLimitError, match=cls.__name__):
        fit(make(cls), X, y)


@every_class
def test_callbacks_are_told_of_begin_and_end(cls, rng):
    X, y = problem(cls, rng)
    recorder = Recorder()
    fit(make(cls).set_callbacks(recorder), X, y)
    root = [event for event, is_root, _ in recorder.told if is_root]
    assert root == ["setup", "begin", "end", "teardown"]


@every_class
def test_a_model_of_an_array_is_saved_and_cloned(cls, rng, tmp_path):
    X, y = problem(cls, rng)
    model = fit(make(cls), X, y)
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, X), outputs(model, X))
    assert type(clone(model)) is cls
    assert get_tags(model) == get_tags(peer_of(cls)(**model.get_params(deep=False)))


@every_class
def test_the_docstring_lists_the_parameters_and_an_example(cls):
    text = inspect.getdoc(cls)
    assert all(f"\n{name} : " in text for name in parameters_of(cls))
    assert f"from gnomon.{cls.__module__.split('.')[1]} import {cls.__name__}" in text
    assert "encoder_ : TableEncoder" in text


def failures_of_the_peer(estimator) -> dict[str, str]:
    """Checks that scikit-learn itself expects its class to fail."""
    peer = peer_of(type(estimator))(**estimator.get_params(deep=False))
    return _get_expected_failed_checks(peer)


@pytest.mark.slow
@parametrize_with_checks(
    [
        cls(**each.get_params(deep=False))
        for cls in OVER_STILL
        for each in _construct_instances(peer_of(cls))
    ],
    expected_failed_checks=failures_of_the_peer,
)
def test_common_test_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
