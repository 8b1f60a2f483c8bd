"""Principal components: numbers and identities of the texts (000a 5.1, 6.1.1, 001 17, 004 15.2)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from gnomon.reduce import PCA


@pytest.mark.covers("pca")
def test_iris_variances_and_reconstruction_errors_of_000a_5_1_4():
    X = load_iris().data
    full = PCA(ddof=0).fit(X)
    expected = [4.200053, 0.241053, 0.077688, 0.023676]
    np.testing.assert_allclose(full.explained_variance_, expected, atol=1e-6)
    for s, error in ((1, 0.342417), (2, 0.101364), (3, 0.023676)):
        few = PCA(s, ddof=0).fit(X)
        lost = ((X - few.inverse_transform(few.transform(X))) ** 2).sum(axis=1).mean()
        assert lost == pytest.approx(error, abs=1e-6)
        assert lost == pytest.approx(full.explained_variance_[s:].sum())


@pytest.mark.covers("pca")
def test_the_projector_is_idempotent_and_the_remainder_orthogonal_001_17_2(rng):
    X = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6))
    pca = PCA(3, ddof=0).fit(X)
    V = pca.components_.T
    P = V @ V.T
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(P @ P, P, atol=1e-12)
    centered = X - X.mean(axis=0)
    inside = pca.inverse_transform(pca.transform(X)) - X.mean(axis=0)
    np.testing.assert_allclose(inside, centered @ P, atol=1e-10)
    np.testing.assert_allclose(((centered - inside) * inside).sum(axis=1), 0, atol=1e-9)


@pytest.mark.covers("pca-by-svd-or-snapshot")
def test_components_are_columns_of_v_and_variances_squared_singular_values_000a_6_1_1(rng):
    X = rng.normal(size=(30, 5)) * [5, 4, 3, 2, 1]
    _, singular, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    for solver in ("sums", "svd", "gram"):
        pca = PCA(5, solver=solver, ddof=0).fit(X)
        np.testing.assert_allclose(pca.explained_variance_, singular**2 / 30)
        np.testing.assert_allclose(np.abs((pca.components_ * Vt).sum(axis=1)), 1, atol=1e-9)


@pytest.mark.covers("pca-by-svd-or-snapshot")
def test_the_snapshot_matrix_has_the_same_eigenvalues_001_17_2_16(rng):
    X = rng.normal(size=(7, 50))
    centered = X - X.mean(axis=0)
    small = np.linalg.eigvalsh(centered @ centered.T / 7)[::-1][:6]
    for solver in ("gram", "sums", "svd"):
        np.testing.assert_allclose(PCA(6, ddof=0, solver=solver).fit(X).explained_variance_, small)


@pytest.mark.covers("pca")
def test_the_projection_maximizes_pairwise_squared_distances_004_15_2(rng):
    X = rng.normal(size=(25, 4)) @ rng.normal(size=(4, 4))
    n = len(X)
    laplacian = n * np.eye(n) - np.ones((n, n))
    np.testing.assert_allclose(
        np.linalg.eigvalsh(X.T @ laplacian @ X)[::-1],
        n**2 * PCA(4, ddof=0).fit(X).explained_variance_,
    )

    def spread(directions):
        Z = X @ directions.T
        return sum(((Z[i] - Z[j]) ** 2).sum() for i in range(n) for j in range(i))

    best = spread(PCA(2).fit(X).components_)
    for _ in range(20):
        assert spread(np.linalg.qr(rng.normal(size=(4, 2)))[0].T) <= best * (1 + 1e-12)


@pytest.mark.covers("decorrelating-rotation")
def test_coordinates_have_zero_mean_and_diagonal_covariance_000a_4_3_3(rng):
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + 100
    pca = PCA(4, ddof=0).fit(X)
    R = pca.transform(X)
    np.testing.assert_allclose(R.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(np.cov(R.T, ddof=0), np.diag(pca.explained_variance_), atol=1e-9)
