"""A plane among outliers: EM climbs, its formulas hold, and far points are told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gnomon.engine.errors import DataError
from gnomon.linear import LinearRegression, LineWithOutliers


def among_outliers(rng, n=80, share=0.6, p=1, sd=0.1):
    X = rng.uniform(0, 5, size=(n, p))
    near = np.arange(n) < share * n
    y = np.where(near, X.sum(axis=1) + 1 + sd * rng.normal(size=n), rng.uniform(-10, 30, n))
    return X, y, near


@pytest.mark.covers("em-line-with-outliers")
@pytest.mark.parametrize("p", [1, 3])
def test_the_plane_is_found_among_outliers_that_fool_least_squares(p, rng):
    X, y, near = among_outliers(rng, n=60 * p, p=p)
    model = LineWithOutliers(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, 1, atol=0.15)
    assert model.intercept_ == pytest.approx(1, abs=0.5)
    assert model.scale_ == pytest.approx(0.1, rel=0.5)
    assert model.share_ == pytest.approx(0.6, abs=0.1)
    membership = model.membership(X, y)
    assert membership[near].mean() > 0.9
    assert membership[~near].mean() < 0.2


@pytest.mark.covers("em-line-with-outliers")
@pytest.mark.parametrize("scale", [None, 0.3])
def test_the_likelihood_never_falls(scale, rng):
    X, y, _ = among_outliers(rng, sd=0.5)
    course = np.asarray(LineWithOutliers(scale, random_state=0).fit(X, y).history_)
    assert (np.diff(course) <= 1e-9).all()


@pytest.mark.covers("em-line-with-outliers")
def test_the_likelihood_and_memberships_are_those_of_the_mixture(rng):
    X, y, _ = among_outliers(rng)
    model = LineWithOutliers(random_state=0).fit(X, y)
    near = model.share_ * stats.norm.pdf(y, model.predict(X), model.scale_)
    far = (1 - model.share_) / (y.max() - y.min())
    assert model.log_likelihood_ == pytest.approx(np.log(near + far).sum())
    np.testing.assert_allclose(model.membership(X, y), near / (near + far), atol=1e-12)
    assert model.log_likelihood_ == pytest.approx(max(model.starts_), rel=1e-9)


@pytest.mark.covers("em-line-with-outliers")
def test_the_end_is_a_fixed_point_of_its_two_steps(rng):
    X, y, _ = among_outliers(rng)
    model = LineWithOutliers(random_state=0, tol=1e-12, max_iter=5000).fit(X, y)
    weights = model.membership(X, y)
    again = LinearRegression().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6)
    residual = y - model.predict(X)
    assert model.share_ == pytest.approx(weights.mean(), rel=1e-6)
    assert model.scale_**2 == pytest.approx(weights @ residual**2 / weights.sum(), rel=1e-6)


@pytest.mark.covers("em-line-with-outliers")
def test_a_background_that_lacks_targets_is_refused(rng):
    X, y, _ = among_outliers(rng)
    with pytest.raises(DataError, match="widen it"):
        LineWithOutliers(background=(0.0, 1.0)).fit(X, y)
    with pytest.raises(DataError, match="lower and a higher"):
        LineWithOutliers(background=(1.0, 0.0)).fit(X, y)


@pytest.mark.covers("em-line-with-outliers")
def test_a_wider_background_leaves_fewer_rows_to_it(rng):
    X, y, _ = among_outliers(rng, sd=1.0)
    narrow = LineWithOutliers(1.0, (-20.0, 40.0), random_state=0).fit(X, y)
    wide = LineWithOutliers(1.0, (-2000.0, 4000.0), random_state=0).fit(X, y)
    assert wide.share_ >= narrow.share_ - 1e-9
