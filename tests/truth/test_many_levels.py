"""Categories of more levels than a hundred: every level counts, and no dense matrix is made."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import load, save
from gnomon.linear import GLM, ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from gnomon.table import Table
from gnomon.trees import DecisionTreeRegressor

N_LEVELS = 150
LEARNERS = [
    GLM("poisson", alpha=0.01),
    GLM("poisson"),
    Ridge(2.0),
    Lasso(alpha=0.002),
    ElasticNet(alpha=0.002),
    LogisticRegression(tol=1e-8),
]


def shops(rng, n: int, n_levels: int = N_LEVELS):
    """A frame of two numbers and a category, its levels one by one, and a target."""
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    numbers = rng.normal(size=(n, 2))
    effect = rng.normal(size=n_levels)
    names = np.array([f"shop {k:06d}" for k in range(n_levels)])
    frame = pd.DataFrame(
        {
            "price": numbers[:, 0],
            "shop": pd.Categorical(names[level]),
            "size": numbers[:, 1],
        }
    )
    return frame, level, numbers @ [0.3, -0.2] + effect[level]


def target_of(learner, predictor, rng):
    if isinstance(learner, GLM):
        return rng.poisson(np.exp(np.minimum(predictor, 3))) + 1.0
    if isinstance(learner, LogisticRegression):
        return (predictor + rng.logistic(size=len(predictor)) > 0).astype(int)
    return predictor + rng.normal(size=len(predictor))


@pytest.mark.covers("sparse-glm")
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_frame_is_fitted_as_its_dummies_are(learner, rng):
    frame, level, predictor = shops(rng, 900)
    y = target_of(learner, predictor, rng)
    dummies = np.eye(N_LEVELS)[level]
    if not learner.natively.redundant:
        dummies = dummies[:, 1:]
    columns = np.column_stack([frame["price"], dummies, frame["size"]])
    made = type(learner)(**learner.get_params())
    found, expected = made.fit(frame, y), learner.fit(columns, y)
    assert found.encoder_.sparse
    assert len(found.encoder_.columns) == columns.shape[1]
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(
        found.predict(frame), expected.predict(columns), rtol=1e-2, atol=1e-2
    )


@pytest.mark.parametrize("make", [Table, pl.from_pandas], ids=["Table", "polars"])
def test_tables_of_every_kind_are_read_alike(make, rng):
    frame, _, predictor = shops(rng, 600)
    table = Table.from_frame(frame) if make is Table else make(frame)
    expected = Ridge().fit(frame, predictor)
    found = Ridge().fit(table, predictor)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.predict(table), expected.predict(frame))


def test_unknown_levels_are_read_as_the_commonest(rng):
    frame, level, predictor = shops(rng, 600)
    commonest = int(np.bincount(level).argmax())
    model = Ridge().fit(frame, predictor)
    asked = frame.head(3).astype({"shop": object})
    asked["shop"] = ["never seen", None, f"shop {commonest:06d}"]
    asked[["price", "size"]] = 0.5
    said = model.predict(asked)
    assert said[0] == said[1] == said[2]


def test_missing_levels_are_told_of(rng):
    frame, _, predictor = shops(rng, 600)
    frame.loc[::50, "shop"] = None
    model = Lasso(alpha=0.01).fit(frame, predictor)
    assert any("missing cells are read as the commonest" in note for note in model.encoder_.notes)


def test_an_infinite_number_beside_many_levels_is_named(rng):
    frame, _, predictor = shops(rng, 600)
    frame.loc[17, "size"] = np.inf
    with pytest.raises(DataError, match="'size', row 17 is infinite"):
        Ridge().fit(frame, predictor)


def test_a_model_of_many_levels_comes_back_from_its_file(tmp_path, rng):
    frame, _, predictor = shops(rng, 600)
    model = Ridge().fit(frame, predictor)
    again = gnomon.load(model.save(tmp_path / "shops.gnomon"))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_ridge_without_a_matrix_is_ridge_with_it(alpha, weighted, intercept, monkeypatch, rng):
    rows = sp.random_array((300, 40), density=0.2, rng=rng, format="csr") + 0.0
    y = rng.normal(3, 1, size=(300, 2))
    weights = rng.uniform(0.5, 2, 300) if weighted else None
    expected = Ridge(alpha, fit_intercept=intercept).fit(rows, y, weights)
    monkeypatch.setattr(gnomon.linear.least_squares, "MOST_WITH_MATRIX", 10)
    found = Ridge(alpha, fit_intercept=intercept).fit(rows, y, weights)
    assert found.solver_ == "conjugate gradients"
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-7, atol=1e-9)
    assert found.history_[-1] == pytest.approx(expected.history_[-1], rel=1e-8)


@pytest.mark.parametrize("learner", [GLM("poisson"), Ridge(), LogisticRegression()], ids=str)
def test_no_dense_matrix_of_levels_is_made(learner, rng):
    n, n_levels = 12_000, 3000
    frame, _, predictor = shops(rng, n, n_levels)
    y = target_of(learner, predictor, rng)
    learner.fit(frame.head(4000), y[:4000])
    tracemalloc.start()
    learner.fit(frame, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert learner.coef_.shape[-1] >= n_levels + 1
    assert peak < n * n_levels * 8 / 10


FULL_SIZE = """
import numpy as np, pandas as pd, resource
from gnomon.linear import GLM
rng = np.random.default_rng()
n, levels = 10**6, 10**5
level = np.concatenate([np.arange(levels), rng.integers(0, levels, n - levels)])
names = np.array([f"shop {k}" for k in range(levels)], dtype=object)
frame = pd.DataFrame({
    "price": rng.normal(size=n), "shop": pd.Categorical.from_codes(level, names)
})
y = rng.poisson(np.exp(1 + 0.3 * frame["price"] + rng.normal(size=levels)[level] / 2)) + 1.0
model = GLM("poisson").fit(frame, y)
assert model.history_.stopped == "converged" and len(model.coef_) == levels
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_glm_of_a_hundred_thousand_levels_and_a_million_rows_needs_less_than_2_gb():
    run = subprocess.run([sys.executable, "-c", FULL_SIZE], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(run.stdout) * unit < 2e9


@pytest.mark.parametrize("learner", [LinearRegression(), DecisionTreeRegressor()], ids=repr)
def test_a_model_whose_rarest_levels_are_read_as_one_is_saved_and_loaded(rng, tmp_path, learner):
    frame, _, y = shops(rng, 400, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner.fit(frame, y)
        again = load(save(model, tmp_path / "model.gnomon"))
        assert any(getattr(code, "lumped", 0) for code in model.encoder_.codes)
        assert np.array_equal(again.predict(frame), model.predict(frame))
