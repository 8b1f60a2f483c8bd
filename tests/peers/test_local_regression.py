"""Local regression and bases against statsmodels, scikit-learn, NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression as PeerRegression
from sklearn.preprocessing import PolynomialFeatures as PeerFeatures
from sklearn.preprocessing import SplineTransformer
from statsmodels.nonparametric.kernel_regression import KernelReg
from statsmodels.nonparametric.smoothers_lowess import lowess

from gnomon.linear import (
    LocallyWeightedRegression,
    PolynomialFeatures,
    PolynomialRegression,
    SplineBasis,
    TransformedRegression,
)


@pytest.mark.covers("locally-weighted-regression")
def test_tricube_and_span_give_lowess_without_its_robust_steps(rng):
    x = np.sort(rng.uniform(0, 10, 150))
    y = np.sin(x) + 0.2 * rng.normal(size=150)
    ours = LocallyWeightedRegression(kernel="tricube", span=0.3, power=1, alpha=0)
    theirs = lowess(y, x, frac=0.3, it=0, return_sorted=False)
    found = ours.fit(x[:, None], y).predict(x[:, None])
    np.testing.assert_allclose(found, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.covers("locally-weighted-regression")
@pytest.mark.parametrize(("degree", "kind"), [(0, "lc"), (1, "ll")])
def test_gaussian_weights_give_statsmodels_kernel_regression(degree, kind, rng):
    """Its weights are exp(-u^2 / 2) for u = distance / width."""
    rows = rng.normal(size=(60, 2))
    y = rows[:, 0] * rows[:, 1] + 0.1 * rng.normal(size=60)
    width = 0.9
    theirs = KernelReg(y, rows, "cc", reg_type=kind, bw=[width, width]).fit(rows)[0]
    ours = LocallyWeightedRegression(
        width * np.sqrt(2), power=1, degree=degree, alpha=0, standardize=False
    )
    np.testing.assert_allclose(ours.fit(rows, y).predict(rows), theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.covers("polynomial-features")
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
def test_terms_and_their_order_are_those_of_scikit_learn(interaction_only, include_bias, rng):
    rows = rng.normal(size=(20, 4))
    given = {"interaction_only": interaction_only, "include_bias": include_bias}
    ours = PolynomialFeatures(3, **given).fit(rows)
    theirs = PeerFeatures(3, **given).fit(rows)
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), rtol=1e-12)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.covers("basis-expansion")
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_uniform_splines_span_the_functions_of_scikit_learns(degree, rng):
    x = rng.uniform(0, 1, (100, 1))
    ours = SplineBasis(6, degree=degree, knots="uniform").fit_transform(x)
    theirs = SplineTransformer(6, degree=degree, knots="uniform").fit_transform(x)
    assert ours.shape == theirs.shape
    away = theirs - ours @ np.linalg.lstsq(ours, theirs, rcond=None)[0]
    np.testing.assert_allclose(away, 0, atol=1e-9)


@pytest.mark.covers("polynomial-regression")
def test_a_curve_is_that_of_numpys_polynomial_fit(rng):
    x = rng.uniform(1000, 1010, 60)
    y = rng.normal(size=60)
    theirs = np.polynomial.Polynomial.fit(x, y, 7)(x)
    ours = PolynomialRegression(7).fit(x[:, None], y).predict(x[:, None])
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


@pytest.mark.covers("variable-transform")
def test_a_transformed_target_predicts_as_scikit_learns(rng):
    rows = rng.uniform(1, 2, (50, 2))
    y = np.exp(rows @ [1.0, -1.0]) * rng.uniform(0.9, 1.1, 50)
    theirs = TransformedTargetRegressor(PeerRegression(), func=np.log, inverse_func=np.exp)
    ours = TransformedRegression(target="log")
    np.testing.assert_allclose(ours.fit(rows, y).predict(rows), theirs.fit(rows, y).predict(rows))
