"""Robust regression against statsmodels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from gnomon.linear import RobustRegression, mad_scale


@pytest.mark.covers("m-estimator-regression")
def test_hubers_estimate_agrees_with_statsmodels(rng):
    X = rng.normal(size=(120, 3)) + 2
    y = X @ [1.0, -2.0, 0.5] + rng.standard_t(2, size=120)
    found = RobustRegression(tol=1e-12).fit(X, y)
    expected = sm.RLM(y, sm.add_constant(X), M=sm.robust.norms.HuberT()).fit(
        maxiter=500, tol=1e-13, conv="coefs"
    )
    np.testing.assert_allclose(
        [found.intercept_, *found.coef_], expected.params, rtol=1e-5, atol=1e-6
    )
    assert found.scale_ == pytest.approx(expected.scale, rel=1e-5)


@pytest.mark.covers("mad-scale")
def test_mad_about_the_median_agrees_with_scipy(rng):
    values = rng.normal(size=51)
    expected = stats.median_abs_deviation(values, scale="normal")
    assert mad_scale(values, about_median=True) == pytest.approx(expected)
