"""Estimators and pipelines of scikit-learn that compete in `learn` beside its own learners."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

import gnomon
from gnomon.engine.errors import DataError, ModelFileError

QUICK = {"budget": None, "folds": 3, "repeats": 1, "curve": False, "learners": ["pruned tree"]}


@pytest.fixture(scope="module")
def curved():
    """A parabola, which no tree has as exactly as a pipeline of squares, and a class for it."""
    rng = np.random.default_rng(3)
    x, kind = rng.normal(size=90), np.array(["a", "b"])[rng.integers(2, size=90)]
    y = x**2 + 3 * (kind == "b") + 0.01 * rng.normal(size=90)
    return {"x": x.tolist(), "kind": kind.tolist(), "y": y.tolist()}


def test_a_pipeline_wins_where_its_form_is_right_and_predicts_new_rows(curved, tmp_path):
    own = {"squares": make_pipeline(PolynomialFeatures(2), LinearRegression())}
    found = gnomon.learn(curved, "y", estimators=own, folder=tmp_path / "run", **QUICK)
    assert found.chosen == "squares"
    assert {"baseline", "pruned tree", "squares"} <= set(found.board.names)
    rows = {"x": [0.0, 2.0], "kind": ["a", "b"]}
    assert found.model.predict(gnomon.table.Table.from_dict(rows)) == pytest.approx([0, 7], abs=0.1)
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert "PolynomialFeatures" in record["settings"]["estimators"]["squares"]
    assert not (tmp_path / "run" / "model.gnomon").exists()
    assert any(each["what"] == "model.gnomon is not written" for each in record["decisions"])
    with pytest.raises(ModelFileError, match="an estimator of another library"):
        gnomon.predict(tmp_path / "run", rows)


def test_a_pipeline_that_picks_columns_by_name_gets_a_data_frame(curved):
    columns = make_column_transformer(
        (OneHotEncoder(), ["kind"]), (PolynomialFeatures(2), ["x"]), remainder="drop"
    )
    own = {"by name": make_pipeline(columns, LinearRegression())}
    found = gnomon.learn(curved, "y", estimators=own, **QUICK)
    assert found.chosen == "by name"
    assert not found.board["by name"].failures


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ([LinearRegression()], "a dictionary"),
        ({"ridge": LinearRegression()}, "another name"),
        ({"mine": "LinearRegression()"}, "the estimator itself"),
        ({"mine": LogisticRegression()}, "no regressor"),
        ({"mine": LinearRegression}, "no regressor"),
    ],
)
def test_what_cannot_compete_is_refused_by_name_before_any_fit(own, said, curved):
    with pytest.raises(DataError, match=said):
        gnomon.learn(curved, "y", estimators=own, **QUICK)
