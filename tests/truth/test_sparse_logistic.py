"""Classes with an L1 penalty: conditions of the minimum, single fits along paths, validation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.linear import GLM, SparseLogisticRegression


def problem(rng, n_classes: int, n: int = 120, p: int = 5):
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + rng.normal(size=p)
    scores = X[:, :3] @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(n, n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def slopes(model, X, y, weights):
    """Minus the slope of the mean loss by coefficients and constants."""
    proba = model.predict_proba(X)
    rest = (np.eye(proba.shape[1])[y] - proba) * (weights / weights.sum())[:, None]
    rest = rest[:, 1:] if len(model.coef_) == 1 else rest
    return rest.T @ X, rest.sum(axis=0)


@pytest.mark.covers("sparse-glm", "softmax-regression")
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_conditions_of_the_minimum_hold(n_classes, weighted, ratio, rng):
    X, y = problem(rng, n_classes)
    weights = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    alpha = 0.03
    model = SparseLogisticRegression(alpha, ratio, tol=1e-13)
    model.fit(X, y, sample_weight=weights if weighted else None)
    along, constant = slopes(model, X, y, weights)
    along = along - alpha * (1 - ratio) * model.coef_
    chosen = model.coef_ != 0
    bound = alpha * ratio
    np.testing.assert_allclose(along[chosen], bound * np.sign(model.coef_[chosen]), atol=1e-5)
    assert (np.abs(along[~chosen]) <= bound + 1e-5).all()
    np.testing.assert_allclose(constant, 0.0, atol=1e-6)
    assert (np.diff(model.history_.objective) <= 1e-12).all()


@pytest.mark.covers("sparse-glm")
def test_two_classes_are_the_binomial_family(rng):
    X, y = problem(rng, 2)
    ours = SparseLogisticRegression(0.05, 0.8, tol=1e-13).fit(X, y)
    same = GLM("binomial", alpha=0.05, l1_ratio=0.8, tol=1e-13).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], same.coef_, atol=1e-5)
    assert ours.intercept_[0] == pytest.approx(same.intercept_, abs=1e-5)


@pytest.mark.covers("sparse-glm", "regularisation-path")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_place_on_the_path_is_the_fit_of_its_penalty(n_classes, rng):
    X, y = problem(rng, n_classes)
    path = SparseLogisticRegression(tol=1e-13).path(X, y, n_alphas=4)
    assert path.n_nonzero[0] == 0
    for place, alpha in enumerate(path.alphas):
        single = SparseLogisticRegression(alpha, tol=1e-13).fit(X, y)
        np.testing.assert_allclose(path.coefficients[place], single.coef_.ravel(), atol=1e-4)
        np.testing.assert_allclose(path.intercepts[place], single.intercept_, atol=1e-3)
    assert (np.diff(path.explained) >= -1e-9).all()


@pytest.mark.covers("sparse-glm")
@pytest.mark.parametrize("measure", ["deviance", "misclassification"])
def test_its_error_is_that_of_fits_on_the_other_rows(measure, rng):
    X, y = problem(rng, 3, n=24, p=3)
    y[:9] = np.tile(np.arange(3), 3)
    alphas = [0.08, 0.03]
    path = SparseLogisticRegression(tol=1e-12).path(X, y, alphas=alphas, cv=24, measure=measure)
    for place, alpha in enumerate(alphas):
        costs = []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            single = SparseLogisticRegression(alpha, tol=1e-12).fit(X[rest], y[rest])
            proba = single.predict_proba(X[i : i + 1])[0]
            wrong = float(proba.argmax() != y[i])
            costs.append(wrong if measure[0] == "m" else -2 * np.log(proba[y[i]]))
        assert path.errors[place] == pytest.approx(np.mean(costs), rel=1e-3, abs=1e-9)


def test_sparse_rows_are_fitted_as_dense_ones(rng):
    X, y = problem(rng, 3)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense = SparseLogisticRegression(0.02, tol=1e-13).fit(X, y)
    sparse = SparseLogisticRegression(0.02, tol=1e-13).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)


def test_an_unknown_measure_is_refused(rng):
    with pytest.raises(DataError, match="misclassification"):
        SparseLogisticRegression().path(*problem(rng, 2), measure="accuracy")
