"""What holds for Gaussian mixtures on any table: a likelihood that never falls, units, weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from gnomon.density import GaussianMixture

FORMS = ("full", "tied", "diag", "spherical")
INITS = ("kmeans", "k-means++", "random_from_data", "uniform")


def fitted(rows, k, weights=None, **parameters) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(k, **parameters).fit(rows, sample_weight=weights)


def table(seed: int, n: int, d: int, share_missing: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 4 * rng.integers(0, 2, (n, 1))
    rows[rng.random(rows.shape) < share_missing] = np.nan
    rows[0] = rng.normal(size=d)
    return rows


@pytest.mark.covers("gaussian-mixture-em")
@given(
    st.integers(0, 2**31),
    st.integers(120, 250),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.2, 0.5]),
    st.integers(1, 3),
    st.sampled_from(FORMS),
    st.sampled_from(INITS),
)
def test_the_likelihood_never_falls(seed, n, d, share_missing, k, form, init):
    rows = table(seed, n, d, share_missing)
    try:
        model = fitted(
            rows, k, covariance_type=form, init_params=init, random_state=seed, reg_covar=0, tol=0
        )
    except ValueError as error:
        if "collapsed" not in str(error):
            raise
        return
    assert np.isfinite(model.history_).all()
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[0])).all()


@given(st.integers(0, 2**31), st.sampled_from(FORMS), st.sampled_from([0.0, 0.3]))
def test_shares_add_up_to_one_and_say_the_label(seed, form, share_missing):
    rows = table(seed, 80, 3, share_missing)
    model = fitted(rows, 3, covariance_type=form, random_state=seed)
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert np.array_equal(model.predict(rows), shares.argmax(axis=1))
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_weights_are_repetitions_and_order_does_not_matter(form, share_missing, rng):
    rows = table(int(rng.integers(2**31)), 90, 3, share_missing)
    weights = rng.integers(1, 4, len(rows))
    order = rng.permutation(weights.sum())
    common = {"covariance_type": form, "random_state": 1, "reg_covar": 1e-3}
    # few steps: EM magnifies rounding; a border case of tol would end them a step apart
    common |= {"max_iter": 5, "tol": 0}
    weighted = fitted(rows, 2, weights, **common)
    repeated = fitted(np.repeat(rows, weights, axis=0)[order], 2, **common)
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-6, atol=1e-7)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("form", ["full", "tied", "diag"])
def test_units_change_the_likelihood_by_their_logarithm_only(form, rng):
    rows = table(int(rng.integers(2**31)), 300, 3, 0.0)
    scale, offset = np.array([1e-3, 1.0, 1e4]), np.array([0.0, 1e3, -1e6])
    means = rows[[0, 1]]
    common = {"covariance_type": form, "weights_init": [0.5, 0.5], "reg_covar": 0, "max_iter": 15}
    variances = rows.var(axis=0)
    forms = {
        "full": lambda v: np.array([np.diag(1 / v)] * 2),
        "tied": lambda v: np.diag(1 / v),
        "diag": lambda v: np.array([1 / v] * 2),
    }
    plain = fitted(rows, 2, means_init=means, precisions_init=forms[form](variances), **common)
    other = fitted(
        rows * scale + offset,
        2,
        means_init=means * scale + offset,
        precisions_init=forms[form](variances * scale**2),
        **common,
    )
    shift = np.log(scale).sum()
    np.testing.assert_allclose(np.add(other.history_, shift), plain.history_, atol=1e-6)


@pytest.mark.parametrize("n_jobs", [2, 5])
@pytest.mark.parametrize("form", FORMS)
def test_threads_change_no_bit(form, n_jobs, rng):
    rows = table(int(rng.integers(2**31)), 20000, 3, 0.05)
    common = {"covariance_type": form, "random_state": 0, "max_iter": 4}
    one = fitted(rows, 2, n_jobs=1, **common)
    many = fitted(rows, 2, n_jobs=n_jobs, **common)
    assert np.array_equal(one.means_, many.means_)
    assert one.history_.objective == many.history_.objective
    assert np.array_equal(one.score_samples(rows), many.score_samples(rows))


@pytest.mark.covers("hard-em", "kmeans")
def test_equal_known_spheres_that_shrink_give_the_groups_of_k_means(rng):
    from gnomon.cluster import KMeans

    rows = rng.normal(size=(200, 2)) + 4 * rng.integers(0, 3, size=(200, 1))
    groups = KMeans(3, init=rows[:3], tol=0).fit(rows)
    mixture = fitted(
        rows,
        3,
        covariance_type="tied",
        covariance=1e-9,
        means_init=groups.cluster_centers_,
        weights_init=np.full(3, 1 / 3),
        tol=0,
        max_iter=3,
    )
    np.testing.assert_allclose(mixture.means_, groups.cluster_centers_, rtol=1e-6, atol=1e-6)
    assert np.array_equal(mixture.predict(rows), groups.labels_)
