"""Principal components against brute force and in hard cases."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.stats
from sklearn.exceptions import ConvergenceWarning

from gnomon.engine.errors import DataError
from gnomon.reduce import PCA
from gnomon.reduce.spectrum import with_signs
from gnomon.table import scan

SOLVERS = ["sums", "gram", "svd", "lanczos"]


@pytest.mark.covers("pca")
@pytest.mark.parametrize("solver", SOLVERS)
def test_means_of_a_hundred_million_do_not_cancel(rng, solver):
    X = rng.normal(size=(500, 6)) * [6, 5, 4, 3, 2, 1]
    far = X + 1e8
    offset = far - 1e8
    near = PCA(3, solver=solver, random_state=0, tol=1e-9).fit(offset)
    away = PCA(3, solver=solver, random_state=0, tol=1e-9).fit(far)
    np.testing.assert_allclose(away.explained_variance_, near.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(away.transform(far), near.transform(offset), atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions(rng, solver):
    X = rng.normal(size=(40, 8)) * np.arange(1, 9)
    weights = rng.integers(0, 4, 40)
    weighted = PCA(3, solver=solver, random_state=0, tol=1e-10).fit(X, sample_weight=weights)
    repeated = PCA(3, solver=solver, random_state=0, tol=1e-10).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_)
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-7)
    np.testing.assert_allclose(weighted.singular_values_, repeated.singular_values_)


def test_lanczos_keeps_its_stated_accuracy(rng):
    X = rng.normal(size=(300, 150)) * np.exp(-np.arange(150) / 20)
    pca = PCA(4, solver="lanczos", tol=1e-7, random_state=0).fit(X)
    C = np.cov(X.T)
    residuals = np.linalg.norm(
        C @ pca.components_.T - pca.components_.T * pca.explained_variance_, axis=0
    )
    np.testing.assert_allclose(residuals, pca.residuals_, atol=1e-12)
    assert residuals.max() <= 1e-7 * pca.explained_variance_[0]
    exact = np.linalg.eigvalsh(C)[::-1][:4]
    assert np.abs(pca.explained_variance_ - exact).max() <= 1e-7 * exact[0]
    assert pca.history_.objective == sorted(pca.history_.objective, reverse=True)


def test_lanczos_that_is_cut_short_says_so(rng):
    X = rng.normal(size=(200, 100))
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        PCA(3, solver="lanczos", max_iter=2, random_state=0).fit(X)


def test_auto_falls_back_to_an_exact_solver_on_a_flat_spectrum(rng, monkeypatch):
    X = rng.normal(size=(400, 200))
    monkeypatch.setattr(PCA, "_choose", lambda self, n, d, in_memory: "lanczos")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pca = PCA(2, random_state=0, max_iter=2).fit(X)
    assert pca.solver_ == "sums"
    exact = np.linalg.eigvalsh(np.cov(X.T))[::-1][:2]
    np.testing.assert_allclose(pca.explained_variance_, exact)


def test_auto_takes_svd_where_the_gram_matrix_would_lose_digits(rng):
    left = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    right = np.linalg.qr(rng.normal(size=(60, 20)))[0].T
    X = left * 10.0 ** -np.arange(20) @ right
    pca = PCA(8).fit(X)
    assert pca.solver_ == "svd"
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:8]
    np.testing.assert_allclose(pca.singular_values_, singular, rtol=1e-6)


def test_directions_without_variance_are_kept_and_whiten_to_zero(rng):
    x = rng.normal(size=50)
    X = np.column_stack([x, 2 * x, np.full(50, 7.0)])
    assert PCA().fit(X).n_components_ == 3
    white = PCA(3, whiten=True).fit(X)
    assert white.rank_ == 1
    Z = white.transform(X)
    np.testing.assert_allclose(Z[:, 0].std(ddof=1), 1)
    np.testing.assert_array_equal(Z[:, 1:], 0)
    np.testing.assert_allclose(white.inverse_transform(Z), X, atol=1e-6)


def test_constant_rows_have_no_variance_and_no_nan():
    pca = PCA().fit(np.full((5, 3), 2.0))
    assert pca.explained_variance_.tolist() == [0.0] * 3
    assert pca.explained_variance_ratio_.tolist() == [0.0] * 3
    assert np.isfinite(pca.transform([[1.0, 2.0, 3.0]])).all()


def test_signs_do_not_hang_on_rounding(rng):
    u = np.array([[1.0, -1.0]]) / np.sqrt(2)
    for wobble in (1e-15, -1e-15):
        tilted = u + np.array([[wobble, 0.0]])
        np.testing.assert_allclose(with_signs(tilted), u, atol=1e-14)
        np.testing.assert_allclose(with_signs(-tilted), u, atol=1e-14)


def test_weights_that_sum_to_one_are_refused_with_a_remedy(rng):
    X = rng.normal(size=(10, 2))
    with pytest.raises(DataError, match="ddof=0"):
        PCA().fit(X, sample_weight=np.full(10, 0.1))
    PCA(ddof=0).fit(X, sample_weight=np.full(10, 0.1))


def test_more_components_than_there_can_be_are_refused(rng):
    with pytest.raises(DataError, match="=3 "):
        PCA(4).fit(rng.normal(size=(9, 3)))
    with pytest.raises(DataError, match="whole number"):
        PCA(0.5, solver="lanczos").fit(rng.normal(size=(9, 3)))


def test_no_centered_copy_of_the_rows_is_made(rng):
    X = rng.normal(size=(60_000, 20))
    PCA(n_jobs=1).fit(X[:100])
    tracemalloc.start()
    PCA(n_jobs=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_a_stream_gives_the_bits_of_memory(rng, tmp_path):
    X = rng.normal(size=(9000, 300))
    frame = pa.table({f"x{j}": X[:, j] for j in range(300)})
    pq.write_table(frame, tmp_path / "rows.parquet")
    streamed = PCA(3, solver="sums").fit(scan(tmp_path / "rows.parquet"))
    memory = PCA(3, solver="sums").fit(frame)
    np.testing.assert_array_equal(streamed.components_, memory.components_)
    np.testing.assert_array_equal(streamed.explained_variance_, memory.explained_variance_)


@pytest.mark.covers("pca")
def test_batches_of_any_size_learn_what_all_rows_at_once_do(rng):
    X = rng.normal(size=(200, 5)) * [5, 4, 3, 2, 1] + 1e4
    weights = rng.integers(1, 4, 200).astype(float)
    whole = PCA(3).fit(X, sample_weight=weights)
    model, start = PCA(3), 0
    while start < 200:
        stop = start + int(rng.integers(1, 60))
        model.partial_fit(X[start:stop], sample_weight=weights[start:stop])
        start = stop
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.mean_, whole.mean_, rtol=1e-12)
    assert model.total_variance_ == pytest.approx(whole.total_variance_)
    with pytest.raises(DataError, match="new PCA"):
        whole.partial_fit(X)
    assert not hasattr(model.fit(X), "scatter_")


@pytest.mark.covers("pca")
def test_density_of_rows_is_that_of_the_normal_with_even_noise(rng):
    X = rng.normal(size=(80, 5)) * [5, 4, 3, 2, 1]
    model = PCA(2).fit(X)
    law = scipy.stats.multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-9)
    assert model.score(X) == pytest.approx(law.logpdf(X).mean())
    flat = PCA().fit(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(flat.score_samples(np.column_stack([X, X[:, 0]]))).all()
