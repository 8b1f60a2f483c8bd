"""Classes that stand on scikit-learn's give its numbers, with weights, float32 and in mid-fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.linear_model
import sklearn.neighbors

import gnomon
from gnomon import linear, neighbors, reduce


def problem(rng, shape=(40, 5)):
    X = rng.normal(size=shape)
    return X, 2 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=shape[0])


@pytest.mark.parametrize("name", ["BayesianRidge", "ARDRegression"])
@pytest.mark.parametrize("shape", [(40, 5), (6, 9)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_estimated_penalties_are_those_of_scikit_learn(name, shape, dtype, rng):
    X, y = (values.astype(dtype) for values in problem(rng, shape))
    theirs = getattr(sklearn.linear_model, name)(compute_score=True).fit(X, y)
    ours = getattr(linear, name)(compute_score=True).fit(X, y)
    for attribute in ("coef_", "sigma_", "alpha_", "lambda_", "scores_", "intercept_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
    assert ours.coef_.dtype == theirs.coef_.dtype
    for found, expected in zip(ours.predict(X, True), theirs.predict(X, True)):
        np.testing.assert_array_equal(found, expected)


def test_bayesian_ridge_takes_weights_as_scikit_learn_does(rng):
    X, y = problem(rng)
    weights = rng.uniform(0.5, 3.0, size=40)
    theirs = sklearn.linear_model.BayesianRidge().fit(X, y, sample_weight=weights)
    ours = linear.BayesianRidge().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.alpha_ == theirs.alpha_


@pytest.mark.parametrize("name", ["BayesianRidge", "ARDRegression"])
@pytest.mark.parametrize("shape", [(40, 5), (6, 9)])
def test_states_of_estimated_penalties_are_those_of_fits_with_fewer_steps(name, shape, rng):
    X, y = problem(rng, shape)
    whole = getattr(linear, name)(keep_history="full").fit(X, y)
    assert whole.n_iter_ == len(whole.history_) > 2
    for steps in (1, 2, whole.n_iter_):
        short = getattr(sklearn.linear_model, name)(max_iter=steps).fit(X, y)
        state = whole.history_.states[steps - 1]
        np.testing.assert_allclose(state["coef"], short.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state["lambda"], short.lambda_, rtol=1e-9)


def test_the_objective_of_bayesian_ridge_is_minus_the_score_of_scikit_learn(rng):
    X, y = problem(rng)
    theirs = sklearn.linear_model.BayesianRidge(compute_score=True).fit(X, y)
    ours = linear.BayesianRidge().fit(X, y)
    # the last score stands before the last update of the coefficients
    np.testing.assert_allclose(-np.array(ours.history_.objective)[:-1], theirs.scores_[1:-1])


@pytest.mark.parametrize("svd_method", ["lapack", "randomized"])
@pytest.mark.parametrize("rotation", [None, "varimax"])
@pytest.mark.parametrize("shape", [(60, 6), (8, 12)])
def test_factors_and_their_steps_are_those_of_scikit_learn(svd_method, rotation, shape, rng):
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    X = X + 0.5 * rng.normal(size=shape) + 3
    options = {"n_components": 2, "svd_method": svd_method, "rotation": rotation}
    theirs = sklearn.decomposition.FactorAnalysis(**options).fit(X)
    ours = reduce.FactorAnalysis(**options, keep_history="full").fit(X)
    for attribute in ("components_", "noise_variance_", "mean_", "loglike_", "n_iter_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.score_samples(X), theirs.score_samples(X))
    np.testing.assert_allclose(-np.array(ours.history_.objective), theirs.loglike_, rtol=1e-9)
    noise = ours.history_.states[-1]["noise_variance"]
    np.testing.assert_allclose(noise, theirs.noise_variance_, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha_W": 0.01, "l1_ratio": 0.5, "shuffle": True},
        {"solver": "mu", "beta_loss": "kullback-leibler", "init": "nndsvda"},
        {"solver": "mu", "init": "random"},
    ],
)
def test_non_negative_factors_and_their_steps_are_those_of_scikit_learn(options, dtype, rng):
    X = (rng.random((30, 3)) @ rng.random((3, 8)) + 0.1 * rng.random((30, 8))).astype(dtype)
    options = {"n_components": 3, "random_state": 0, "max_iter": 60, "tol": 1e-3, **options}
    for rows in (X, sp.csr_array(X)):
        theirs = sklearn.decomposition.NMF(**options)
        ours = reduce.NMF(**options, keep_history="full")
        np.testing.assert_array_equal(ours.fit_transform(rows), theirs.fit_transform(rows))
        np.testing.assert_array_equal(ours.components_, theirs.components_)
        np.testing.assert_array_equal(ours.transform(rows), theirs.transform(rows))
        assert ours.components_.dtype == dtype
        assert ours.n_iter_ == len(ours.history_) == theirs.n_iter_
        np.testing.assert_allclose(ours.history_.states[-1]["H"], theirs.components_, atol=1e-6)
        assert ours.history_.objective[-1] == pytest.approx(theirs.reconstruction_err_, rel=1e-4)


def test_factors_can_start_from_those_that_are_given(rng):
    X, W, H = rng.random((9, 4)), rng.random((9, 2)), rng.random((2, 4))
    options = {"n_components": 2, "init": "custom", "max_iter": 500}
    theirs = sklearn.decomposition.NMF(**options).fit(X, W=W.copy(), H=H.copy())
    ours = reduce.NMF(**options).fit(X, W=W.copy(), H=H.copy())
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    with pytest.raises(ValueError, match="init='custom' needs the first factors"):
        reduce.NMF(**options).fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options",
    [{}, {"contamination": 0.1}, {"metric": "manhattan", "algorithm": "ball_tree"}, {"p": 1}],
)
def test_local_outlier_factors_are_those_of_scikit_learn(options, dtype, rng, tmp_path):
    X = np.vstack([rng.normal(size=(60, 3)), 5 + 0.1 * rng.normal(size=(40, 3))]).astype(dtype)
    options = {"n_neighbors": 7, **options}
    theirs = sklearn.neighbors.LocalOutlierFactor(**options)
    ours = neighbors.LocalOutlierFactor(**options)
    np.testing.assert_array_equal(ours.fit_predict(X), theirs.fit_predict(X))
    for attribute in ("negative_outlier_factor_", "offset_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
    np.testing.assert_array_equal(ours.kneighbors()[1], theirs.kneighbors()[1])
    assert not hasattr(ours, "predict")
    new = rng.normal(size=(20, 3)).astype(dtype)
    theirs = sklearn.neighbors.LocalOutlierFactor(**options, novelty=True).fit(X)
    ours = neighbors.LocalOutlierFactor(**options, novelty=True).fit(X)
    loaded = gnomon.load(ours.save(tmp_path / "model.gnomon"))
    for model in (ours, loaded):
        np.testing.assert_array_equal(model.score_samples(new), theirs.score_samples(new))
        np.testing.assert_array_equal(model.predict(new), theirs.predict(new))
        np.testing.assert_array_equal(model.kneighbors(new)[0], theirs.kneighbors(new)[0])


def test_neighbors_of_rows_of_a_table_are_those_of_its_encoded_rows(rng):
    frame = pd.DataFrame({"size": rng.normal(size=30), "place": rng.choice(["a", "b"], 30)})
    model = neighbors.LocalOutlierFactor(n_neighbors=4, novelty=True).fit(frame)
    rows = np.column_stack([frame["size"], frame["place"] == "a", frame["place"] == "b"])
    expected = sklearn.neighbors.LocalOutlierFactor(n_neighbors=4, novelty=True).fit(rows)
    np.testing.assert_allclose(model.kneighbors(frame)[0], expected.kneighbors(rows)[0])
    np.testing.assert_allclose(model.score_samples(frame), expected.score_samples(rows))
