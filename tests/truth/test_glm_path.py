"""A path of generalised linear models is so many fits, and its validated error that of refits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.linear import GLM

FAMILIES = ["poisson", "binomial", "gaussian", "gamma"]


def problem(rng, family: str, n: int = 60):
    X = rng.normal(size=(n, 4))
    predictor = 0.5 + X @ [0.8, -0.5, 0.2, 0.0]
    y = {
        "poisson": lambda: rng.poisson(np.exp(predictor)).astype(float),
        "binomial": lambda: (predictor + rng.logistic(size=n) > 0.5).astype(float),
        "gaussian": lambda: predictor + rng.normal(size=n),
        "gamma": lambda: np.exp(predictor) * rng.gamma(2.0, 0.5, n) + 0.01,
    }[family]()
    y[:2] = 1.0, 0.0 if family != "gamma" else 1.0
    return X, y


@pytest.mark.covers("sparse-glm", "regularisation-path")
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_place_on_the_path_is_the_fit_of_its_penalty(family, weighted, ratio, rng):
    X, y = problem(rng, family)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    model = GLM(family, l1_ratio=ratio, tol=1e-12)
    path = model.path(X, y, weights, alphas=[0.3, 0.1, 0.01])
    for place, alpha in enumerate(path.alphas):
        single = GLM(family, l1_ratio=ratio, alpha=alpha, tol=1e-12).fit(X, y, weights)
        np.testing.assert_allclose(path.coefficients[place], single.coef_, atol=1e-5)
        assert path.intercepts[place] == pytest.approx(single.intercept_, abs=1e-5)
    assert (np.diff(path.explained) >= -1e-9).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_penalty_just_leaves_no_column(family, rng):
    X, y = problem(rng, family)
    path = GLM(family, l1_ratio=1.0).path(X, y, n_alphas=5, eps=0.1)
    assert path.n_nonzero[0] == 0
    assert path.n_nonzero[1] > 0


@pytest.mark.covers("sparse-glm")
@pytest.mark.parametrize("measure", ["deviance", "misclassification"])
def test_its_error_is_that_of_fits_on_the_other_rows(measure, rng):
    X, y = problem(rng, "binomial", 20)
    model = GLM("binomial", l1_ratio=1.0, tol=1e-12)
    alphas = [0.1, 0.03]
    path = model.path(X, y, alphas=alphas, cv=20, measure=measure)
    for place, alpha in enumerate(alphas):
        costs = []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            single = GLM("binomial", l1_ratio=1.0, alpha=alpha, tol=1e-12).fit(X[rest], y[rest])
            mean = single.predict(X[i : i + 1])[0]
            likelihood = mean if y[i] else 1 - mean
            costs.append((mean > 0.5) != y[i] if measure[0] == "m" else -2 * np.log(likelihood))
        assert path.errors[place] == pytest.approx(np.mean(costs), rel=1e-4)
        spread = np.std(costs) / np.sqrt(len(y) - 1)
        assert path.standard_errors[place] == pytest.approx(spread, rel=1e-4)
    assert path.alpha_1se >= path.alpha_min


def test_sparse_rows_and_frames_have_paths(rng):
    X, y = problem(rng, "poisson")
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = GLM("poisson", l1_ratio=0.7).path(X, y, n_alphas=4)
    sparse = GLM("poisson", l1_ratio=0.7).path(sp.csr_array(X), y, n_alphas=4)
    np.testing.assert_allclose(sparse.coefficients, dense.coefficients, atol=1e-4)


def test_misclassification_is_of_classes_only(rng):
    X, y = problem(rng, "poisson")
    with pytest.raises(DataError, match="no classes"):
        GLM("poisson", l1_ratio=1.0).path(X, y, measure="misclassification")
