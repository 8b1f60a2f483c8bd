"""Gaussian classifiers and kriging against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern
from sklearn.naive_bayes import GaussianNB

from gnomon import bayes
from gnomon.bayes import GaussianClassifier, Kriging


def clouds(rng, n=400, d=4):
    y = rng.permutation(np.arange(n) % 3)
    rows = rng.normal(scale=2, size=(3, d))[y] + rng.normal(size=(n, d))
    return rows, y


@pytest.mark.covers("gaussian-classifier")
def test_own_diagonal_covariances_are_scikit_learns_naive_bayes(rng):
    rows, y = clouds(rng)
    ours = GaussianClassifier("diagonal", var_smoothing=0).fit(rows, y)
    theirs = GaussianNB(var_smoothing=0).fit(rows, y)
    np.testing.assert_allclose(
        ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-6, atol=1e-9
    )


@pytest.mark.covers("gaussian-classifier")
def test_shared_covariances_are_scikit_learns_linear_discriminant(rng):
    rows, y = clouds(rng)
    ours = GaussianClassifier(shared=True, var_smoothing=0).fit(rows, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(rows, y)
    np.testing.assert_allclose(ours.covariances_[0], theirs.covariance_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-6, atol=1e-9
    )


@pytest.mark.covers("gaussian-classifier")
def test_own_covariances_are_scikit_learns_quadratic_discriminant(rng):
    rows, y = clouds(rng)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(rows, y)
    ours = GaussianClassifier(var_smoothing=0).fit(rows, y)
    np.testing.assert_allclose(ours.covariances_, theirs.covariance_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-6, atol=1e-9
    )


@pytest.mark.covers("kriging")
def test_kriging_is_a_gaussian_process_whose_mean_is_unknown(rng):
    sites = rng.uniform(0, 4, (30, 2))
    values = np.cos(sites[:, 0]) + sites[:, 1]
    ours = Kriging(
        "exponential", range=1.5, sill=1.0, nugget=0.01, standardize=False, n_neighbors=None
    ).fit(sites, values)
    kernel = ConstantKernel(1e5, "fixed") + Matern(1.5, "fixed", nu=0.5)
    theirs = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(sites, values)
    at = rng.uniform(0, 4, (10, 2))
    mean, spread = theirs.predict(at, return_std=True)
    np.testing.assert_allclose(ours.predict(at), mean, atol=2e-3)
    np.testing.assert_allclose(ours.predict_std(at), spread, atol=2e-3)


def test_a_gaussian_process_answers_with_its_prior_before_fit(rng):
    rows = rng.normal(size=(5, 2))
    ours, theirs = bayes.GaussianProcessRegressor(), GaussianProcessRegressor()
    for found, expected in zip(ours.predict(rows, return_std=True), theirs.predict(rows, True)):
        np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(ours.sample_y(rows, 2), theirs.sample_y(rows, 2))
