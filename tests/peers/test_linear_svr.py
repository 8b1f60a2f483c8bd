"""LinearSVR against scikit-learn's, the machine with a linear kernel, and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as theirs
from scipy.optimize import minimize

from gnomon.margin import SVR, LinearSVR

LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive"]


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 3))
    return X, X @ [1.0, -2.0, 0.5] + 3 + rng.standard_t(2, size=60)


def objective(model, X, y, weights=1.0):
    slack = np.maximum(np.abs(y - model.predict(X)) - model.epsilon, 0)
    slack = slack**2 if model.loss.startswith("squared") else slack
    offset = model.intercept_[0] / model.intercept_scaling
    return (model.coef_ @ model.coef_ + offset**2) / 2 + model.C * np.sum(weights * slack)


@pytest.mark.parametrize("solver", ["second_order", "coordinate"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_that_of_scikit_learn_or_less(loss, epsilon, solver, table, rng):
    X, y = table
    weights = rng.uniform(0.5, 2, len(y))
    options = {"loss": loss, "epsilon": epsilon, "C": 0.7, "intercept_scaling": 2.0, "tol": 1e-6}
    ours = LinearSVR(**options, solver=solver, max_iter=5000).fit(X, y, sample_weight=weights)
    peer = theirs.LinearSVR(**options, random_state=0, max_iter=100_000)
    peer.fit(X, y, sample_weight=weights)
    found, expected = (objective(model, X, y, weights) for model in (ours, peer))
    assert found <= expected * (1 + 1e-7)
    assert found == pytest.approx(ours.dual_objective_, rel=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-2)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=2e-2)


def test_squared_errors_beyond_epsilon_are_minimized_to_the_last_digits(table):
    X, y = table
    ours = LinearSVR(loss=LOSSES[1], epsilon=0.3, tol=1e-8).fit(X, y)

    def loss(plane):
        slack = np.maximum(np.abs(y - X @ plane[:-1] - plane[-1]) - 0.3, 0)
        return plane @ plane / 2 + slack @ slack

    best = minimize(loss, np.zeros(4), tol=1e-12)
    found = np.append(ours.coef_, ours.intercept_)
    np.testing.assert_allclose(found, best.x, atol=1e-3)  # BFGS ends early with wild rows
    assert loss(found) <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["second_order", "auto"])
@pytest.mark.parametrize("loss", LOSSES)
def test_more_columns_than_rows_end_at_the_same_minimum(loss, solver, rng):
    X = rng.normal(size=(20, 50))
    y = X[:, 0] + 2 + rng.normal(size=20)
    ours = LinearSVR(loss=loss, solver=solver, C=0.02, tol=1e-6, keep_history="full").fit(X, y)
    slow = LinearSVR(loss=loss, solver="coordinate", C=0.02, tol=1e-6, max_iter=9000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, slow.coef_, atol=1e-3)
    assert objective(ours, X, y) <= objective(slow, X, y) * (1 + 1e-7)
    np.testing.assert_array_equal(ours.history_.states[-1]["planes"][0, :-1], ours.coef_)


def test_a_hardly_penalized_offset_gives_the_machine_of_a_linear_kernel(table):
    X, y = table
    expected = SVR(kernel="linear", epsilon=0.2, tol=1e-8).fit(X, y).predict(X)
    ours = LinearSVR(epsilon=0.2, intercept_scaling=30.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), expected, atol=5e-2)  # offsets nearly as good


def test_without_intercept_the_origin_is_on_the_plane(table):
    X, y = table
    ours = LinearSVR(fit_intercept=False, tol=1e-12).fit(X, y - 3)  # beyond what rounding allows
    assert ours.intercept_.tolist() == [0.0]
    assert ours.duality_gap_ < 1e-9


def test_sparse_tables_beyond_memory_go_to_liblinear(rng, monkeypatch):
    monkeypatch.setattr("gnomon.margin.linear_svr.DENSE_CELLS", 0)
    X = sp.random_array((80, 12), density=0.3, rng=rng, format="csr")
    y = X @ np.arange(12.0) + 1
    peer = theirs.LinearSVR(C=10.0, tol=1e-6, max_iter=50_000, random_state=0).fit(X, y)
    ours = LinearSVR(C=10.0, tol=1e-6, max_iter=50_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-2)
    assert np.isnan(ours.duality_gap_)
