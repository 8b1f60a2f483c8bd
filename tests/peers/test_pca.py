"""The same components as scikit-learn, for every solver and shape."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA as Peer

from gnomon.reduce import PCA

SHAPES = [(200, 7), (50, 50), (30, 120)]


def decaying(rng, n, d):
    scales = np.exp(-np.arange(d) / 10)
    return rng.normal(size=(n, d)) * scales @ np.linalg.qr(rng.normal(size=(d, d)))[0] + 3


@pytest.mark.covers("pca")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["auto", "sums", "gram", "svd", "lanczos"])
@pytest.mark.parametrize("whiten", [False, True])
def test_all_that_is_fitted_agrees_with_scikit_learn(rng, shape, solver, whiten):
    X = decaying(rng, *shape)
    ours = PCA(5, solver=solver, whiten=whiten, tol=1e-10, random_state=0).fit(X)
    peer = Peer(5, svd_solver="full", whiten=whiten).fit(X)
    for name in ("mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(peer, name), rtol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(ours.components_, peer.components_, atol=1e-7)
    Z = ours.transform(X)
    np.testing.assert_allclose(Z, peer.transform(X), atol=1e-6)
    np.testing.assert_allclose(ours.inverse_transform(Z), peer.inverse_transform(Z), atol=1e-6)
    if shape[0] > shape[1]:
        assert ours.noise_variance_ == pytest.approx(peer.noise_variance_)
        plain = Peer(5, svd_solver="full").fit(X).get_covariance()
        np.testing.assert_allclose(ours.get_covariance(), plain, atol=1e-7)


def test_the_share_of_three_components_itself_keeps_a_fourth(rng):
    X = decaying(rng, 80, 12)
    shares = PCA().fit(X).explained_variance_ratio_.cumsum()
    for k in range(1, 12):
        assert PCA(float(shares[k - 1])).fit(X).n_components_ == k + 1


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_share_of_the_variance_keeps_as_many_as_scikit_learn(rng, share):
    X = decaying(rng, 80, 12)
    peer = Peer(share, svd_solver="full").fit(X)
    assert PCA(share).fit(X).n_components_ == peer.n_components_


def test_the_likeliest_number_is_that_of_scikit_learn(rng):
    for noise in (0.1, 1.0, 3.0):
        n, d = int(rng.integers(30, 200)), int(rng.integers(2, 12))
        k = int(rng.integers(1, d + 1))
        X = 3 * rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + noise * rng.normal(size=(n, d))
        expected = Peer("mle", svd_solver="full").fit(X).n_components_
        assert PCA("mle").fit(X).n_components_ == expected
        assert PCA("mle").fit(1e4 * X).n_components_ == expected
    flat = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 6))
    assert PCA("mle").fit(flat).n_components_ == 3


def test_auto_takes_the_solver_that_the_shape_asks_for():
    choose = PCA(3)._choose
    assert choose(1000, 10, True) == "sums"
    assert choose(20, 1000, True) == "gram"
    assert PCA()._choose(20, 1000, True) == "svd"
    assert choose(10**5, 10**4, True) == "lanczos"
    assert choose(20, 1000, False) == "sums"
