"""A name of another library leads to what gnomon calls it, or to scikit-learn's own class."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, LabelEncoder
from sklearn.utils import all_estimators

import gnomon
from gnomon.engine.registry import methods
from gnomon.engine.synonyms import CALLED_HERE, USED_UNCHANGED
from gnomon.linear import LinearRegression, LogisticRegression, Ridge
from gnomon.prepare import MinMaxScaler, OneHotEncoder, StandardScaler
from gnomon.reduce import PCA
from gnomon.select import GridSearchCV

PACKAGES = ("bayes", "cluster", "ensemble", "evaluate", "linear", "margin", "prepare", "reduce")


@pytest.mark.parametrize("name", sorted(CALLED_HERE))
def test_a_name_of_another_library_is_led_to_ours(name):
    home, _, ours = CALLED_HERE[name].rpartition(".")
    assert hasattr(importlib.import_module(home), ours)
    for package in PACKAGES:
        module = getattr(gnomon, package)
        assert name not in module.__all__, f"gnomon has {name}: remove it from CALLED_HERE"
        hint = f"gnomon calls it {CALLED_HERE[name]}"
        with (
            pytest.warns(UserWarning, match=hint) as caught,
            pytest.raises(AttributeError, match=hint),
        ):
            getattr(module, name)
        assert caught[0].filename == __file__


def test_an_import_of_such_a_name_warns_before_it_fails():
    with (
        pytest.warns(UserWarning, match="gnomon calls it gnomon.prepare.WordCounts"),
        pytest.raises(ImportError),
    ):
        from gnomon.prepare import CountVectorizer  # noqa: F401


def test_every_estimator_of_scikit_learn_is_here_or_has_a_hint():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {name for name, _ in all_estimators()}
    ours = {method.name for method in methods()}
    assert theirs - ours - CALLED_HERE.keys() - USED_UNCHANGED.keys() == set()
    assert ours & USED_UNCHANGED.keys() == set()


@pytest.mark.parametrize("name", sorted(USED_UNCHANGED))
def test_a_name_that_is_used_unchanged_is_told_where_scikit_learn_has_it(name):
    home = USED_UNCHANGED[name]
    assert hasattr(importlib.import_module(home), name)
    with (
        pytest.warns(UserWarning, match=f"unchanged: from {home} import {name}$") as caught,
        pytest.raises(AttributeError, match=f"unchanged: from {home} import {name}$"),
    ):
        getattr(gnomon.prepare, name)
    assert caught[0].filename == __file__


@pytest.fixture
def table(rng):
    frame = pd.DataFrame({"size": rng.normal(size=60), "place": rng.choice(["a", "b"], 60)})
    return frame, 3 * frame["size"] + 2 * (frame["place"] == "a")


def test_pipelines_columns_and_unions_of_scikit_learn_hold_gnomons_estimators(table):
    frame, y = table
    numbers = FeatureUnion([("scaled", StandardScaler()), ("ranged", MinMaxScaler())])
    places = OneHotEncoder(sparse_output=False)
    columns = ColumnTransformer([("n", numbers, ["size"]), ("p", places, ["place"])])
    pipeline = Pipeline([("columns", columns), ("model", Ridge(alpha=1e-8))])
    search = GridSearchCV(pipeline, {"model__alpha": [1e-8, 100.0]}, cv=3).fit(frame, y)
    assert search.best_params_ == {"model__alpha": 1e-8}
    np.testing.assert_allclose(search.predict(frame), y, atol=1e-4)


def test_transformers_of_scikit_learn_feed_gnomons_estimators(rng):
    X, codes = np.exp(rng.normal(size=(60, 3))), LabelEncoder().fit_transform(["no", "yes"] * 30)
    X[:, 0] *= 1 + 9 * codes
    steps = [("log", FunctionTransformer(np.log)), ("varying", VarianceThreshold()), ("pca", PCA())]
    model = Pipeline([*steps, ("model", LogisticRegression())]).fit(X, codes)
    alone = LogisticRegression().fit(PCA().fit_transform(np.log(X)), codes)
    np.testing.assert_allclose(
        model.predict_proba(X), alone.predict_proba(PCA().fit_transform(np.log(X))), atol=1e-6
    )


@pytest.mark.parametrize("many", [MultiOutputRegressor, RegressorChain])
def test_several_targets_of_scikit_learn_are_of_gnomons_regressors(many, rng):
    X = rng.normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] + 1, X[:, 1] - X[:, 0]])
    np.testing.assert_allclose(many(LinearRegression()).fit(X, Y).predict(X), Y, atol=1e-9)


@pytest.mark.parametrize("many", [MultiOutputClassifier, ClassifierChain])
def test_several_classes_of_scikit_learn_are_of_gnomons_classifiers(many, rng):
    X = rng.normal(size=(200, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    found = many(LogisticRegression(C=100.0)).fit(X, Y).predict(X)
    assert (found == Y).mean() > 0.95


def test_targets_and_thresholds_of_scikit_learn_change_around_gnomons_estimators(rng):
    X = rng.normal(size=(200, 2))
    y = np.exp(X[:, 0])
    log = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    np.testing.assert_allclose(log.fit(X, y).predict(X), y, rtol=1e-9)
    rare = (X[:, 0] + rng.normal(size=200) > 1.5).astype(int)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=3, random_state=0).fit(X, rare)
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=tuned.best_threshold_)
    proba = LogisticRegression().fit(X, rare).predict_proba(X)[:, 1]
    expected = (proba >= tuned.best_threshold_).astype(int)
    np.testing.assert_array_equal(fixed.fit(X, rare).predict(X), expected)
    np.testing.assert_array_equal(tuned.predict(X), expected)
