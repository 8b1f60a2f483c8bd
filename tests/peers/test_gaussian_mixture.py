"""Gaussian mixtures against scikit-learn's, from the same start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as Peer

from gnomon.density import GaussianMixture

PRECISIONS = {
    "full": lambda k, d: np.array([np.eye(d)] * k),
    "tied": lambda k, d: np.eye(d),
    "diag": lambda k, d: np.ones((k, d)),
    "spherical": lambda k, d: np.ones(k),
}


@pytest.fixture
def rows(rng):
    parts = [
        rng.normal(size=(700, 5)) @ rng.normal(size=(5, 5)) + 3 * rng.normal(size=5)
        for _ in range(3)
    ]
    return np.concatenate(parts)


@pytest.mark.covers("gaussian-mixture-em")
@pytest.mark.parametrize("form", sorted(PRECISIONS))
def test_same_mixture_as_scikit_learn_from_the_same_start(form, rows):
    start = {
        "covariance_type": form,
        "weights_init": np.full(3, 1 / 3),
        "means_init": rows[[0, 700, 1400]],
        "precisions_init": PRECISIONS[form](3, 5),
        "tol": 1e-5,
        "max_iter": 500,
    }
    ours = GaussianMixture(3, **start).fit(rows)
    theirs = Peer(3, **start).fit(rows)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.converged_ == theirs.converged_
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-10)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-8)
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    assert ours.bic(rows) == pytest.approx(theirs.bic(rows), rel=1e-10)
    assert ours.aic(rows) == pytest.approx(theirs.aic(rows), rel=1e-10)
    assert ours.score(rows) == pytest.approx(theirs.score(rows), rel=1e-10)


@pytest.mark.covers("em-start-from-kmeans")
def test_groups_that_stand_apart_are_found_as_scikit_learn_finds_them(rows, seed):
    apart = rows + 50 * np.repeat(np.eye(5)[:3], 700, axis=0)
    ours = GaussianMixture(3, n_init=3, random_state=seed, tol=1e-5).fit(apart)
    theirs = Peer(3, n_init=3, random_state=seed, tol=1e-5).fit(apart)
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-4)
