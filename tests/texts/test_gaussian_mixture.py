"""Gaussian mixtures as the texts work them: 000 9.2, 001 18.3.4, 002 "Finite mixtures"."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from gnomon.density import GaussianMixture

ELEVEN = np.array([1, 1.3, 2.2, 2.6, 2.8, 5, 7.3, 7.4, 7.5, 7.7, 7.9])[:, None]


def started(rows, passes, **parameters) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(2, max_iter=passes, reg_covar=0, tol=0, **parameters).fit(rows)


def of_001(passes, form) -> GaussianMixture:
    return started(
        ELEVEN,
        passes,
        covariance_type=form,
        weights_init=[0.5, 0.5],
        means_init=[[6.63], [7.57]],
        precisions_init=[1.0, 1.0] if form == "spherical" else np.ones((2, 1, 1)),
    )


@pytest.mark.covers("gaussian-mixture-em")
@pytest.mark.parametrize("form", ["full", "spherical"])
def test_first_step_on_eleven_numbers_of_001_section_18_3_4(form):
    model = of_001(1, form)
    np.testing.assert_allclose(model.means_.ravel(), [3.722016, 7.398925], atol=5e-7)
    assert model.history_[0] * 11 == pytest.approx(-71.793570, abs=5e-7)


@pytest.mark.covers("gaussian-mixture-em")
@pytest.mark.parametrize("form", ["full", "spherical"])
def test_limit_on_eleven_numbers_of_001_section_18_3_4(form):
    model = of_001(400, form)
    np.testing.assert_allclose(model.means_.ravel(), [2.484129, 7.560020], atol=1e-6)
    np.testing.assert_allclose(model.covariances_.ravel(), [1.691748, 0.046399], atol=1e-6)
    np.testing.assert_allclose(model.weights_, [0.545542, 0.454458], atol=1e-6)
    assert model.history_[-1] * 11 == pytest.approx(-17.081065, abs=1e-6)


@pytest.mark.covers("mixture-normals-known-covariance")
@pytest.mark.parametrize(
    ("form", "covariance"),
    [("tied", 1.0), ("tied", [[1.0]]), ("full", [[1.0]]), ("diag", 1.0), ("spherical", [1.0, 1.0])],
)
def test_step_with_known_covariance_of_000_section_9_2(form, covariance):
    model = started(
        np.array([0.0, 1, 4, 5, 9])[:, None],
        1,
        covariance_type=form,
        covariance=covariance,
        weights_init=[0.3, 0.7],
        means_init=[[0.0], [5.0]],
    )
    np.testing.assert_allclose(model.means_.ravel(), [0.500098, 5.997994], atol=5e-7)
    np.testing.assert_allclose(model.weights_, [0.399788, 0.600212], atol=5e-7)
    assert (model.covariances_ == 1).all()


@pytest.mark.covers("mixture-normals-known-covariance")
def test_known_covariance_is_whitening_by_its_root_as_000_section_9_1_1_says(rng):
    rows = rng.normal(size=(200, 2)) @ [[2.0, 0.5], [0.0, 0.7]]
    root = np.array([[1.5, 0.0], [0.4, 0.8]])
    white = np.linalg.solve(root, rows.T).T
    start = rows[:3]
    common = {"weights_init": np.full(3, 1 / 3), "covariance_type": "tied", "tol": 0}
    known = GaussianMixture(3, covariance=root @ root.T, means_init=start, max_iter=30, **common)
    white_start = np.linalg.solve(root, start.T).T
    plain = GaussianMixture(3, covariance=1.0, means_init=white_start, max_iter=30, **common)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        known.fit(rows)
        plain.fit(white)
    np.testing.assert_allclose(known.means_, plain.means_ @ root.T, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(known.predict_proba(rows), plain.predict_proba(white), atol=1e-8)


@pytest.mark.covers("finite-mixture")
def test_density_and_posterior_of_the_mixture_of_002():
    model = GaussianMixture(2, covariance_type="spherical")
    model.weights_ = np.array([0.5, 0.5])
    model.means_ = np.array([[0.0], [2.0]])
    model.covariances_ = np.array([1.0, 0.25])
    model.precisions_cholesky_ = np.array([1.0, 2.0])
    model.n_features_in_ = 1
    at = np.array([-1, 0, 1, 1.5, 2, 3, 0.0056, 1.96424, 0.8215])[:, None]
    expected = [0.120985, 0.199605, 0.174976, 0.306730, 0.425938, 0.056207]
    expected += [0.199608, 0.426902, 0.167149]
    np.testing.assert_allclose(np.exp(model.score_samples(at)), expected, atol=5e-7)
    assert model.predict_proba([[1.0]])[0, 1] == pytest.approx(0.308562, abs=5e-7)
    rows, labels = model.sample(20000, random_state=3)
    assert rows.mean() == pytest.approx(1, abs=5 * np.sqrt(1.625 / 20000))
    assert rows.var() == pytest.approx(1.625, abs=0.1)
    assert labels.mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.covers("em-random-restarts")
def test_of_several_starts_the_likeliest_is_kept_as_002_asks(rng):
    rows = rng.normal(size=(150, 2)) + 6 * rng.integers(0, 4, size=(150, 1))
    seed = int(rng.integers(2**31))
    common = {"init_params": "random_from_data", "random_state": seed, "max_iter": 300}
    once = GaussianMixture(4, n_init=1, **common).fit(rows)
    often = GaussianMixture(4, n_init=8, **common).fit(rows)
    assert often.lower_bound_ >= once.lower_bound_


@pytest.mark.covers("em-start-from-kmeans")
def test_start_is_the_groups_of_k_means_as_in_000_section_9_2_5(seed):
    from gnomon.cluster import KMeans

    rows = load_iris().data
    model = GaussianMixture(3, random_state=seed, reg_covar=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(max_iter=1).fit(rows)
    groups = KMeans(3, random_state=seed).fit(rows)
    sizes = np.bincount(groups.labels_) / 150
    means = groups.cluster_centers_
    spreads = np.array([np.cov(rows[groups.labels_ == c].T, ddof=0) for c in range(3)])
    by_hand = GaussianMixture(
        3,
        weights_init=sizes,
        means_init=means,
        precisions_init=np.linalg.inv(spreads),
        reg_covar=0,
    )
    by_hand.fit(rows)
    assert model.history_[0] == pytest.approx(by_hand.history_[0], abs=2e-3)


@pytest.mark.covers("degrees-of-freedom")
@pytest.mark.parametrize(
    ("form", "count"), [("full", 3 * 10), ("tied", 10), ("diag", 12), ("spherical", 3)]
)
def test_parameters_are_counted_with_d_times_d_plus_1_over_2_numbers_per_covariance(form, count):
    rows = load_iris().data
    model = GaussianMixture(3, covariance_type=form, random_state=0).fit(rows)
    assert model.n_parameters_ == 2 + 3 * 4 + count
    known = GaussianMixture(3, covariance_type=form, covariance=0.1, random_state=0).fit(rows)
    assert known.n_parameters_ == 2 + 3 * 4
