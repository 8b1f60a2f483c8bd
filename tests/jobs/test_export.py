"""Export: ONNX files answer as the model does, and so does code that needs Python alone."""

from __future__ import annotations

import datetime
import math
import runpy
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as TheirScaler

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError
from gnomon.ensemble import BucketClassifier
from gnomon.linear import Lasso, LinearRegression, LogisticRegression, Ridge
from gnomon.prepare import FilteredLearner, MinMaxScaler, StandardScaler
from gnomon.table import Table
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.workbench.analysis.portfolio import scaled
from tests.jobs.terminal import call

SEEN = pytest.mark.covers("model-files")
REGRESSORS = [
    LinearRegression(),
    Ridge(),
    Lasso(alpha=0.01),
    DecisionTreeRegressor(max_depth=4),
    RandomForestRegressor(n_estimators=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=10, random_state=0),
    HistGradientBoostingRegressor(loss="poisson", max_iter=10, random_state=0),
    GradientBoostingRegressor(n_estimators=10, random_state=0),
    GradientBoostingRegressor(loss="huber", n_estimators=10, random_state=0),
]
CLASSIFIERS = [
    LogisticRegression(),
    DecisionTreeClassifier(max_depth=4),
    RandomForestClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=10, random_state=0),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
]


def named(models):
    return [f"{type(model).__name__}-{place}" for place, model in enumerate(models)]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(120, 4))
    y = np.exp(X[:, 0] + 0.3 * np.sin(3 * X[:, 1]))
    return X, y


def onnx_answers(path, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


@SEEN
@pytest.mark.parametrize("model", REGRESSORS, ids=named(REGRESSORS))
def test_numbers_of_a_regressor_are_the_same_in_both_forms(model, rows, tmp_path):
    X, y = rows
    truth = model.fit(X, y).predict(X)
    found = onnx_answers(gnomon.export(model, "onnx", tmp_path / "m.onnx"), X)
    np.testing.assert_allclose(found["value"].ravel(), truth, rtol=1e-5, atol=1e-5)
    code = runpy.run_path(str(gnomon.export(model, "python", tmp_path / "m.py")))
    np.testing.assert_allclose([code["predict"](list(row)) for row in X], truth, rtol=1e-9)


@SEEN
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=named(CLASSIFIERS))
def test_probabilities_of_a_classifier_are_the_same_in_both_forms(model, n_classes, rows, tmp_path):
    X, y = rows
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    labels = np.array(["low", "mid", "top"])[np.digitize(y, edges)]
    model.fit(X, labels)
    truth = model.predict_proba(X)
    found = onnx_answers(gnomon.export(model, "onnx", tmp_path / "m.onnx"), X)
    np.testing.assert_allclose(found["probabilities"], truth, atol=1e-5)
    clear = np.sort(truth, axis=1)[:, -1] - np.sort(truth, axis=1)[:, -2] > 1e-4
    assert (found["label"][clear] == model.predict(X)[clear]).all()
    code = runpy.run_path(str(gnomon.export(model, "python", tmp_path / "m.py")))
    made = np.array([code["predict_proba"](list(row)) for row in X])
    np.testing.assert_allclose(made, truth, atol=1e-9)
    assert code["predict"](list(X[0])) in code["CLASSES"]


def test_boosting_by_exponential_loss_is_exported_and_with_an_estimator_before_it_refused(
    rows, tmp_path
):
    X, y = rows
    labels = y > np.median(y)
    model = GradientBoostingClassifier(loss="exponential", n_estimators=10).fit(X, labels)
    code = runpy.run_path(str(gnomon.export(model, "python", tmp_path / "m.py")))
    made = np.array([code["predict_proba"](list(row)) for row in X])
    np.testing.assert_allclose(made, model.predict_proba(X), atol=1e-9)
    begun = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(X, y)
    with pytest.raises(DataError, match="init="):
        gnomon.export(begun, "python", tmp_path / "b.py")


def mixed_table(rng, n: int = 150) -> Table:
    size = rng.normal(size=n)
    color = np.array(["red", "green", "blue"])[rng.integers(3, size=n)]
    y = 2 * size + (color == "red") + 0.1 * rng.normal(size=n)
    sizes = [None if k % 10 == 0 else float(value) for k, value in enumerate(size)]
    colors = [None if k % 17 == 0 else str(value) for k, value in enumerate(color)]
    return Table.from_dict({"size": sizes, "color": colors, "y": y.tolist()})


@SEEN
@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        DecisionTreeRegressor(max_depth=4),
        HistGradientBoostingRegressor(max_iter=10, random_state=0),
        scaled(Ridge(alpha=10.0)),
    ],
    ids=["linear", "tree", "boosting", "standardized"],
)
def test_code_takes_the_rows_of_a_table_with_categories_and_missing_cells(model, rng, tmp_path):
    table = mixed_table(rng)
    model.fit(table, "y")
    code = runpy.run_path(str(gnomon.export(model, "python", tmp_path / "m.py")))
    made = [code["predict"](table.row(i)) for i in range(len(table))]
    np.testing.assert_allclose(made, model.predict(table.drop("y")), rtol=1e-9, atol=1e-9)


@SEEN
@pytest.mark.parametrize("model", [Ridge(), scaled(Ridge())], ids=["plain", "standardized"])
def test_missing_numbers_of_a_table_are_filled_in_onnx_as_in_the_fit(model, rng, tmp_path):
    table = mixed_table(rng).drop("color")
    model.fit(table, "y")
    path = gnomon.export(model, "onnx", tmp_path / "m.onnx")
    X = np.array([[math.nan], [1.0]])
    rows = Table.from_dict({"size": [None, 1.0]})
    np.testing.assert_allclose(
        onnx_answers(path, X)["value"].ravel(), model.predict(rows), rtol=1e-5
    )


def test_code_runs_in_an_interpreter_without_packages(rows, tmp_path):
    X, y = rows
    model = RandomForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    gnomon.export(model, "python", tmp_path / "forest.py")
    line = f"import forest; print(forest.predict({X[0].tolist()!r}))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {line}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert float(done.stdout) == pytest.approx(model.predict(X[:1])[0]), done.stderr


@pytest.mark.parametrize("kind", [lambda search: search, scaled], ids=["plain", "standardized"])
def test_a_model_file_is_exported_by_the_command_and_of_a_search_the_winner(kind, tmp_path):
    table = gnomon.table.example("iris")
    candidates = [(f"C={c}", LogisticRegression(C=c)) for c in (0.1, 1.0)]
    model = kind(BucketClassifier(candidates, cv=2, random_state=0)).fit(table, "species")
    model.save(tmp_path / "iris.gnomon")
    for form in ("python", "onnx"):
        done = call("export", "iris.gnomon", "--to", form, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    code = runpy.run_path(str(tmp_path / "model.py"))
    rows = table.drop("species")
    truth = model.predict_proba(rows)
    made = [code["predict_proba"](table.row(i)) for i in range(0, 150, 10)]
    np.testing.assert_allclose(made, truth[::10], atol=1e-9)
    assert code["predict"](table.row(0)) == model.predict(rows)[0]
    found = onnx_answers(tmp_path / "model.onnx", rows.to_numpy())
    np.testing.assert_allclose(found["probabilities"], truth, atol=1e-5)


def test_learners_after_filters_that_cannot_be_exported_are_refused(tmp_path):
    days = [datetime.date(2026, 1, day) for day in range(1, 29)]
    table = Table.from_dict({"day": days, "x": list(range(28)), "y": list(range(28))})
    with pytest.raises(DataError, match="--without day"):
        gnomon.export(scaled(Ridge()).fit(table, "y"), "python", tmp_path / "m.py")
    numbers = table.drop("day")
    refused = [
        FilteredLearner(Ridge(), target=StandardScaler()),
        FilteredLearner(Ridge(), features=MinMaxScaler()),
        FilteredLearner(TheirRidge()),
        scaled(DecisionTreeRegressor()),
    ]
    for model in refused:
        with pytest.raises(DataError, match="cannot be exported"):
            gnomon.export(model.fit(numbers, "y"), "python", tmp_path / "m.py")


def test_what_cannot_be_exported_is_refused_with_what_can(rows, tmp_path):
    X, y = rows
    model = NaiveBayes().fit(X, (y > 1).astype(int))
    with pytest.raises(DataError, match="NaiveBayes cannot be exported; these can: linear"):
        gnomon.export(model, "python", tmp_path / "m.py")
    with pytest.raises(DataError, match="not one of onnx, python"):
        gnomon.export(model, "java")


def test_a_gnomon_model_is_a_part_of_a_scikit_learn_pipeline(rows):
    X, y = rows
    ours = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    theirs = make_pipeline(TheirScaler(), Ridge()).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
