"""A path of ridge regressions is so many fits, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.linear import Ridge

ALPHAS = [100.0, 3.0, 0.2]


def rows_of(shape, kind: str, rng):
    if kind == "sparse":
        return sp.random_array(shape, density=0.4, rng=rng, format="csr")
    return rng.normal(5, 2, size=shape)


@pytest.mark.covers("ridge-regression")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(60, 5), (12, 30)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_place_on_the_path_is_the_fit_of_its_penalty(kind, shape, weighted, intercept, rng):
    rows = rows_of(shape, kind, rng)
    y = rng.normal(3, 1, shape[0])
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    path = Ridge(fit_intercept=intercept).path(rows, y, weights, alphas=ALPHAS)
    for place, alpha in enumerate(ALPHAS):
        single = Ridge(alpha, fit_intercept=intercept).fit(rows, y, weights)
        np.testing.assert_allclose(path.coefficients[place], single.coef_, rtol=1e-6, atol=1e-9)
        assert path.intercepts[place] == pytest.approx(single.intercept_, rel=1e-6, abs=1e-9)
        if intercept:
            assert path.explained[place] == pytest.approx(single.score(rows, y, weights), abs=1e-9)


@pytest.mark.parametrize("shape", [(90, 4), (30, 40)])
def test_its_error_is_that_of_fits_on_the_other_folds(shape, rng):
    rows, y = rng.normal(size=shape), rng.normal(size=shape[0])
    path = Ridge().path(rows, y, alphas=ALPHAS, cv=shape[0])
    for place, alpha in enumerate(ALPHAS):
        left_out = [
            y[i] - Ridge(alpha).fit(np.delete(rows, i, 0), np.delete(y, i)).predict(rows[i : i + 1])
            for i in range(len(y))
        ]
        assert path.errors[place] == pytest.approx(np.mean(np.square(left_out)), rel=1e-6)
    assert path.alpha_1se >= path.alpha_min


def test_a_column_that_does_not_vary_keeps_zero(rng):
    rows = np.column_stack([rng.normal(size=20), np.full(20, 7.0)])
    assert (Ridge().path(rows, rng.normal(size=20)).coefficients[:, 1] == 0).all()


def test_penalties_must_be_positive(rng):
    with pytest.raises(DataError, match="positive"):
        Ridge().path(rng.normal(size=(9, 2)), rng.normal(size=9), alphas=[1.0, 0.0])
