"""Maps against scikit-learn, SciPy and statsmodels on the same problems."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import pdist, squareform
from sklearn.cross_decomposition import CCA as PeerCCA
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import MDS
from sklearn.manifold import TSNE as PeerTSNE
from sklearn.manifold import Isomap as PeerIsomap

from gnomon.reduce import (
    TSNE,
    CanonicalCorrelation,
    FisherDiscriminant,
    Isomap,
    low_rank,
    principal_coordinates,
    procrustes,
    stress_map,
    wilks_lambda,
)


@pytest.mark.covers("canonical-correlation-analysis")
def test_same_correlations_as_scikit_learn_and_statsmodels(rng):
    multivariate = pytest.importorskip("statsmodels.multivariate.cancorr")
    common = rng.normal(size=(300, 2))
    X = np.column_stack([common + 0.5 * rng.normal(size=(300, 2)), rng.normal(size=300)])
    Y = np.column_stack([common + rng.normal(size=(300, 2)), rng.normal(size=300)])
    ours = CanonicalCorrelation(2).fit(X, Y)
    u, v = PeerCCA(1, max_iter=10_000, tol=1e-12).fit(X, Y).transform(X, Y)
    theirs = abs(np.corrcoef(u[:, 0], v[:, 0])[0, 1])
    assert ours.correlations_[0] == pytest.approx(theirs, abs=1e-5)
    packaged = multivariate.CanCorr(Y, X)
    every = CanonicalCorrelation().fit(X, Y).correlations_
    np.testing.assert_allclose(every, packaged.cancorr[:3], atol=1e-8)
    printed = packaged.corr_test().stats["Wilks' lambda"].to_numpy(dtype=float)
    remaining = [wilks_lambda(every, r, which="remaining") for r in range(3)]
    np.testing.assert_allclose(remaining, printed, atol=1e-8)


@pytest.mark.covers("low-rank-approximation")
def test_same_approximation_as_truncated_svd(rng):
    X = rng.normal(size=(40, 12)) * np.linspace(5, 0.1, 12)
    peer = TruncatedSVD(3, algorithm="arpack").fit(X)
    theirs = peer.transform(X) @ peer.components_
    np.testing.assert_allclose(low_rank(X, 3).matrix(), theirs, atol=1e-6)


@pytest.mark.covers("fisher-linear-discriminant", "lda-projection")
def test_same_classes_as_linear_discriminant_analysis(rng):
    y = np.arange(150) % 3
    X = 2 * rng.normal(size=(3, 4))[y] + rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4))
    ours, theirs = FisherDiscriminant().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    new = 3 * rng.normal(size=(200, 4))
    # the peer divides the scatter by n - classes, which only scales the shares
    assert (ours.predict(new) == theirs.predict(new)).mean() > 0.95
    match = np.corrcoef(ours.transform(new).T, theirs.transform(new).T)[:2, 2:]
    np.testing.assert_allclose(np.abs(np.diag(match)), 1, atol=1e-6)


@pytest.mark.covers("stress-mds")
def test_stress_is_not_above_that_of_scikit_learn(rng):
    D = squareform(pdist(rng.normal(size=(60, 6))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = MDS(2, metric="precomputed", n_init=1, init="classical_mds", max_iter=300).fit(D)
    ours = stress_map(D)
    theirs = ((pdist(peer.embedding_) - squareform(D)) ** 2).sum()
    assert ours.objective <= 1.02 * theirs


@pytest.mark.covers("procrustes-alignment")
def test_same_disparity_as_scipy(rng):
    one, other = rng.normal(size=(2, 15, 3))
    assert procrustes(one, other).disparity == pytest.approx(scipy_procrustes(other, one)[2])


@pytest.mark.covers("isomap")
def test_same_map_as_scikit_learn(rng):
    X = rng.uniform(size=(150, 2)) @ rng.normal(size=(2, 4))
    X += 0.01 * rng.normal(size=X.shape)
    ours = Isomap(n_components=2, n_neighbors=12).fit(X)
    theirs = PeerIsomap(n_neighbors=12).fit(X)
    assert ours.n_parts_ == 1  # 150 even rows and twelve neighbours
    order = np.argsort(ours.point_)
    assert (ours.point_[order] == np.arange(150)).all()
    expected = theirs.dist_matrix_[np.ix_(order, order)]
    np.testing.assert_allclose(ours.paths_, expected, rtol=1e-8, atol=1e-12)
    assert procrustes(ours.embedding_, theirs.embedding_).disparity < 1e-6
    new = X[:10] + 0.001
    np.testing.assert_allclose(
        np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-4
    )


@pytest.mark.covers("principal-coordinate-analysis")
def test_principal_coordinates_solve_what_classical_scaling_solves(rng):
    from sklearn.manifold import ClassicalMDS

    D = squareform(pdist(rng.normal(size=(30, 5))))
    theirs = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    np.testing.assert_allclose(np.abs(principal_coordinates(D).places), np.abs(theirs), atol=1e-7)


@pytest.mark.covers("t-sne")
def test_divergence_is_as_low_as_that_of_scikit_learn(rng):
    X = 4 * rng.normal(size=(5, 10))[np.arange(250) % 5] + rng.normal(size=(250, 10))
    ours = TSNE(perplexity=20, max_iter=500).fit(X)
    theirs = PeerTSNE(perplexity=20, max_iter=500, init="pca", method="exact").fit(X)
    assert ours.kl_divergence_ <= theirs.kl_divergence_ + 0.1
