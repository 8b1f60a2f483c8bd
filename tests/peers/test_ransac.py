"""RANSACRegressor gives scikit-learn's bits; flags of rows stand in the order of the rows given."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs

from gnomon.linear import HuberRegressor, LinearRegression, RANSACRegressor, Ridge


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=60)
    y[::5] += 20 * rng.normal(size=12)
    return X, y


def assert_same(ours, peer, X):
    np.testing.assert_array_equal(ours.inlier_mask_, peer.inlier_mask_)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    for name in ("n_trials_", "n_skips_no_inliers_", "n_skips_invalid_data_"):
        assert getattr(ours, name) == getattr(peer, name)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "squared_error", "residual_threshold": 0.3},
        {"min_samples": 0.2, "stop_probability": 1, "max_trials": 20},
        {"estimator": theirs.Ridge(), "min_samples": 5, "stop_n_inliers": 40},
        {"is_data_valid": lambda X, y: np.ptp(y) < 5},
    ],
    ids=["defaults", "squared", "share", "ridge", "valid"],
)
def test_draws_inliers_and_model_are_those_of_scikit_learn(options, table):
    X, y = table
    for rows in (X, sp.csr_array(X)):
        ours = RANSACRegressor(**options, random_state=0).fit(rows, y)
        assert_same(ours, theirs.RANSACRegressor(**options, random_state=0).fit(rows, y), rows)


def test_our_least_squares_needs_no_number_of_rows(table):
    X, y = table
    ours = RANSACRegressor(LinearRegression(), random_state=0).fit(X, y)
    peer = theirs.RANSACRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(ours.inlier_mask_, peer.inlier_mask_)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X))
    assert ours.min_samples is None
    with pytest.raises(ValueError, match="min_samples"):
        RANSACRegressor(Ridge()).fit(X, y)


@pytest.mark.parametrize("cls", [RANSACRegressor, HuberRegressor])
def test_flags_stand_in_the_order_of_the_rows_given(cls, table, rng):
    X, y = table
    weights = rng.integers(0, 3, len(y))
    options = {"random_state": 0, "residual_threshold": 1.0} if cls is RANSACRegressor else {}
    name = "inlier_mask_" if cls is RANSACRegressor else "outliers_"
    weighted = getattr(cls(**options).fit(X, y, sample_weight=weights), name)
    rows = rng.permutation(np.repeat(np.arange(len(y)), weights))
    repeated = getattr(cls(**options).fit(X[rows], y[rows]), name)
    assert len(weighted) == len(y)
    assert not weighted[weights == 0].any()
    np.testing.assert_array_equal(repeated, weighted[rows])
    assert 0 < weighted.sum() < (weights > 0).sum()


def test_targets_of_which_most_are_equal_have_inliers(rng):
    X = rng.normal(size=(40, 2))
    y = np.full(40, 3.0)
    y[:6] += rng.uniform(1, 5, 6)
    found = RANSACRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.inlier_mask_, np.arange(40) >= 6)
    np.testing.assert_allclose(found.predict(X), 3.0)
