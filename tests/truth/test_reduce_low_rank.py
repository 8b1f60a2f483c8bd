"""Low rank, missing cells, smoothing and completion against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import kernel_approximation

from gnomon.engine.errors import DataError
from gnomon.reduce import (
    NIPALS,
    Nystroem,
    choose_components,
    class_features,
    class_similarity,
    complete_low_rank,
    compress,
    curve_basis,
    first_principal_components,
    low_rank,
    matrix_factorization,
    nonlinear_factorization,
    pca_smooth,
    smoothing_errors,
    svd,
    svd_smooth,
)
from gnomon.reduce.nipals import factorize


def rank_k(rng, n, d, k):
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d))


def with_gaps(rng, table, share):
    """Some cells gone, with enough left in every row and column."""
    gone = rng.random(table.shape) < share
    for _ in range(50):
        few = ((~gone).sum(axis=1) < 6)[:, None] | ((~gone).sum(axis=0) < 6)
        if not few.any():
            break
        gone &= ~few
    return np.where(gone, np.nan, table)


@pytest.mark.covers("svd")
def test_singular_vectors_are_orthonormal_and_multiply_to_the_matrix(rng):
    X = rng.normal(size=(7, 5))
    found = svd(X)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(found.right @ found.right.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(found.matrix(), X, atol=1e-12)
    np.testing.assert_allclose(X @ X.T @ found.left, found.left * found.values**2, atol=1e-10)


@pytest.mark.covers("svd")
def test_few_singular_values_of_a_sparse_matrix_are_those_of_the_dense_one(rng):
    X = rng.normal(size=(60, 40)) * (rng.random((60, 40)) < 0.2)
    few, every = svd(sp.csr_array(X), 4), svd(X)
    np.testing.assert_allclose(few.values, every.values[:4], rtol=1e-8)
    np.testing.assert_allclose(few.matrix(), low_rank(X, 4).matrix(), atol=1e-7)
    with pytest.raises(DataError, match="k=50"):
        svd(X, 50)


@pytest.mark.covers("low-rank-approximation")
def test_error_of_the_best_approximation_is_what_the_left_out_singular_values_hold(rng):
    X = rng.normal(size=(9, 6))
    for rank in range(1, 6):
        found = low_rank(X, rank)
        left_out = (np.linalg.svd(X, compute_uv=False)[rank:] ** 2).sum()
        assert found.error == pytest.approx(left_out, rel=1e-9)
        assert ((X - found.matrix()) ** 2).sum() == pytest.approx(left_out, rel=1e-9)
        for _ in range(20):
            other = found.matrix() + rank_k(rng, 9, 6, rank) * 0.01
            u, s, v = np.linalg.svd(other)
            other = (u[:, :rank] * s[:rank]) @ v[:rank]
            assert ((X - other) ** 2).sum() >= found.error - 1e-9


@pytest.mark.covers("svd-smoothing")
def test_smoothed_counts_are_nearer_to_their_rates_than_the_counts(rng):
    rates = rng.uniform(0.2, 2, (200, 1)) * rng.uniform(0.2, 2, (1, 60))
    counts = rng.poisson(rates)
    smoothed = svd_smooth(counts, 1)
    assert ((smoothed - rates) ** 2).mean() < 0.2 * ((counts - rates) ** 2).mean()
    assert np.linalg.matrix_rank(smoothed) == 1


@pytest.mark.covers("pca-smoothing")
def test_expected_error_of_smoothing_is_the_one_found(rng):
    n, d, s, sigma = 4000, 8, 2, 0.5
    spreads = np.array([4.0, 2.0, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    truth = (rng.normal(size=(n, d)) * spreads) @ turn
    measured = truth + sigma * rng.normal(size=(n, d))
    variances = np.linalg.eigvalsh(np.cov(measured.T, bias=True))[::-1]
    expected = smoothing_errors(spreads**2 + sigma**2, sigma**2)
    assert expected.best == 2
    assert expected.raw == pytest.approx(d * sigma**2)
    found = ((pca_smooth(measured, s) - truth) ** 2).sum(axis=1).mean()
    assert found == pytest.approx(expected.errors[s], rel=0.1)
    assert smoothing_errors(variances, sigma**2).best == 2
    with pytest.raises(DataError, match="negative"):
        smoothing_errors(variances, -1.0)


@pytest.mark.covers("pca-compression")
def test_compression_counts_its_numbers_and_its_error(rng):
    X = rank_k(rng, 50, 20, 3) + 5
    found = compress(X, 3)
    assert found.stored == 50 * 3 + 3 * 20 + 20
    assert found.pays
    np.testing.assert_allclose(found.restored(), X, atol=1e-9)
    poor = compress(X, 1)
    lost = ((X - poor.restored()) ** 2).sum(axis=1).mean()
    assert poor.error == pytest.approx(lost, rel=1e-9)
    assert not compress(X[:5, :3], 3).pays


@pytest.mark.covers("nipals")
def test_nipals_finds_the_components_of_the_singular_vectors(rng):
    X = rng.normal(size=(30, 6)) * [9, 6, 4, 1, 1, 1] + 7
    found = NIPALS(3).fit(X)
    _, values, right = np.linalg.svd(X - X.mean(axis=0))
    np.testing.assert_allclose(found.singular_values_, values[:3], rtol=1e-8)
    np.testing.assert_allclose(np.abs((found.components_ * right[:3]).sum(axis=1)), 1, atol=1e-8)
    scores = found.transform(X)
    np.testing.assert_allclose((scores**2).sum(axis=0), values[:3] ** 2, rtol=1e-8)
    np.testing.assert_allclose(
        found.inverse_transform(scores), X.mean(axis=0) + scores @ found.components_
    )


@pytest.mark.covers("nipals-missing")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_data_of_rank_k_with_a_third_missing_are_recovered(rng, k):
    truth = rank_k(rng, 60, 25, k) + rng.normal(size=25)
    table = with_gaps(rng, truth, 0.3)
    found = NIPALS(k, max_turns=20_000, tol=1e-14).fit(table)
    np.testing.assert_allclose(found.fill(table), truth, atol=1e-5 * np.abs(truth).max())


@pytest.mark.covers("nipals-missing")
def test_cost_over_known_cells_never_rises(rng):
    table = with_gaps(rng, rng.normal(size=(30, 12)), 0.3)
    costs = NIPALS(2, max_turns=300, tol=1e-9).fit(table).costs_
    assert (np.diff(costs) <= 1e-9 * costs[0]).all()


@pytest.mark.covers("nipals-missing")
def test_printed_denominators_do_not_recover_rank_one_data(rng):
    truth = np.outer(rng.normal(size=40), rng.normal(size=15))
    table = with_gaps(rng, truth, 0.3)
    known = ~np.isnan(table)
    values = np.where(known, table, 0.0)
    u = values[np.argmax((values**2).sum(axis=1))]
    for _ in range(500):
        w = values @ u / (u @ u)
        u = values.T @ w / (w @ w)
        u /= np.linalg.norm(u)
    printed = np.outer(values @ u, u)
    ours = NIPALS(1, center=False).fit(table).fill(table)
    assert np.linalg.norm(printed - truth) > 0.05 * np.linalg.norm(truth)
    assert np.linalg.norm(ours - truth) < 1e-6 * np.linalg.norm(truth)


@pytest.mark.covers("nipals-missing")
def test_a_column_without_known_cells_is_refused():
    with pytest.raises(DataError, match="column 1"):
        NIPALS(1).fit([[1.0, np.nan], [2.0, np.nan]])


def test_weights_of_cells_count(rng):
    truth = np.outer(rng.normal(size=40), rng.normal(size=10))
    noisy = truth.copy()
    noisy[3, 4] += 50
    trust = np.ones(truth.shape)
    trust[3, 4] = 1e-9
    found = factorize(noisy, 1, trust, center=False)
    np.testing.assert_allclose(found.scores @ found.components, truth, atol=1e-5)


@pytest.mark.covers("first-principal-component")
def test_repeated_passes_find_the_first_component_and_say_how_fast(rng):
    X = rng.normal(size=(400, 5)) * [8, 4, 1, 1, 1]
    centered = X - X.mean(axis=0)
    values = np.linalg.svd(centered, compute_uv=False) ** 2
    found = first_principal_components(X, 2, passes=400, tol=1e-10, random_state=1)
    right = np.linalg.svd(centered)[2]
    np.testing.assert_allclose(np.abs((found.components * right[:2]).sum(axis=1)), 1, atol=1e-6)
    np.testing.assert_allclose(found.variances, values[:2] / 400, rtol=1e-6)
    fixed = first_principal_components(X, passes=10, random_state=1)
    assert fixed.passes == [10]
    assert fixed.ratios[0] == pytest.approx(values[1] / values[0], abs=0.2)
    with pytest.raises(DataError, match="no variance"):
        first_principal_components(np.ones((3, 2)))


@pytest.mark.covers("low-rank-matrix-completion")
def test_completion_fills_what_was_hidden(rng):
    truth = rank_k(rng, 60, 40, 2)
    table = with_gaps(rng, truth, 0.4)
    hidden = np.isnan(table)
    exact = complete_low_rank(table, 2, max_iter=20_000, tol=1e-13)
    soft = complete_low_rank(table, penalty=0.5)
    size = np.sqrt((truth[hidden] ** 2).mean())
    assert np.sqrt(((exact.filled - truth)[hidden] ** 2).mean()) < 1e-4 * size
    assert np.sqrt(((soft.filled - truth)[hidden] ** 2).mean()) < 0.5 * size
    assert (np.diff(soft.history) <= 1e-9 * soft.history[0]).all()
    assert (exact.filled[~hidden] == table[~hidden]).all()
    with pytest.raises(DataError, match="not both"):
        complete_low_rank(table, 2, penalty=1.0)


@pytest.mark.covers("matrix-factorisation")
def test_factors_with_biases_beat_the_baseline_on_hidden_cells(rng):
    truth = 3 + rng.normal(size=(80, 1)) + rng.normal(size=50) + 1.5 * rank_k(rng, 80, 50, 2)
    table = with_gaps(rng, truth, 0.4)
    hidden = np.isnan(table)
    baseline = matrix_factorization(table, 0, penalty=0.01)
    factors = matrix_factorization(table, 2, penalty=0.3, max_iter=500, tol=1e-9)
    errors = [
        np.sqrt(((each.matrix() - truth)[hidden] ** 2).mean()) for each in (baseline, factors)
    ]
    assert errors[1] < 0.5 * errors[0]
    assert (np.diff(factors.history) <= 1e-9 * factors.history[0]).all()
    at = np.argwhere(hidden)[:5]
    np.testing.assert_allclose(
        factors.predict(at[:, 0], at[:, 1]), factors.matrix()[at[:, 0], at[:, 1]]
    )


@pytest.mark.covers("matrix-factorisation")
def test_baseline_solves_its_normal_equations(rng):
    table = with_gaps(rng, rng.normal(size=(8, 7)), 0.2)
    known = ~np.isnan(table)
    found = matrix_factorization(table, 0, penalty=0.3, max_iter=5000, tol=1e-15)
    i, j = np.nonzero(known)
    design = np.zeros((len(i), 15))
    design[np.arange(len(i)), i] = 1
    design[np.arange(len(i)), 8 + j] = 1
    target = table[known] - table[known].mean()
    exact = np.linalg.solve(design.T @ design + 0.3 * np.eye(15), design.T @ target)
    np.testing.assert_allclose(np.r_[found.row_biases, found.column_biases], exact, atol=1e-4)


@pytest.mark.covers("nonlinear-matrix-factorisation")
def test_a_bent_curve_with_gaps_is_followed_better_than_by_a_line(rng):
    t = np.linspace(-2, 2, 60)
    truth = np.column_stack([t, t**2, np.sin(2 * t), np.cos(t), t**3 / 4, np.tanh(t)])
    table = np.where(rng.random(truth.shape) < 0.05, np.nan, truth)
    found = min(
        (nonlinear_factorization(table, 1, 12, max_iter=300, random_state=s) for s in range(3)),
        key=lambda each: each.history[-1],
    )
    line = complete_low_rank(table, 1, center=True)
    bent = np.sqrt((((found.matrix() - truth) / truth.std(axis=0)) ** 2).mean())
    straight = np.sqrt((((line.model - truth) / truth.std(axis=0)) ** 2).mean())
    assert bent < 0.6 * straight
    assert found.inputs.shape == (60, 1)


@pytest.mark.covers("spectral-gap-choice")
@pytest.mark.parametrize("how", ["gap", "cross-validation", "parallel"])
def test_the_number_of_components_of_signal_among_noise_is_found(rng, how):
    scores = np.linalg.qr(rng.normal(size=(100, 3)))[0] * 10
    loadings = np.linalg.qr(rng.normal(size=(30, 3)))[0].T * np.sqrt(30)
    X = scores @ loadings + 0.2 * rng.normal(size=(100, 30))
    found = choose_components(X, how, most=5, n_splits=5, random_state=0).n_components
    # left-out cells tell three components from fewer surely, from four only nearly so
    assert found in ((3, 4) if how == "cross-validation" else (3,))


@pytest.mark.covers("spectral-gap-choice")
def test_share_and_knee_read_the_variances(rng):
    X = rng.normal(size=(500, 4)) * [10, 9, 0.1, 0.1]
    choice = choose_components(X, "share", share=0.9)
    assert choice.n_components == 2
    assert choose_components(X, "gap").n_components == 2
    assert choose_components(X, "knee").n_components in (1, 2)
    with pytest.raises(DataError, match="do not vary"):
        choose_components(np.ones((4, 3)))


@pytest.mark.covers("class-cross-pca-similarity")
def test_cross_errors_are_those_of_their_definition(rng):
    X = rng.normal(size=(90, 6)) * [5, 3, 1, 1, 1, 1]
    y = np.repeat(["a", "b", "c"], 30)
    X[y == "c"] = X[y == "c"][:, ::-1] + 3
    found = class_similarity(X, y, 2)
    for i, one in enumerate("abc"):
        for j, other in enumerate("abc"):
            mine, theirs = X[y == one], X[y == other]
            axes = np.linalg.eigh(np.cov(theirs.T))[1][:, -2:]
            around = mine - mine.mean(axis=0)
            left = around - around @ axes @ axes.T
            assert found.errors[i, j] == pytest.approx((left**2).sum(axis=1).mean(), rel=1e-8)
    assert found.dissimilarity[0, 1] < found.dissimilarity[0, 2]
    assert found.map().places.shape == (3, 2)


@pytest.mark.covers("per-class-pca-features")
def test_features_per_class_are_projections_on_its_components(rng):
    X = rng.normal(size=(60, 5))
    y = np.arange(60) % 2
    features = class_features(X, y, 2)
    table = features.transform(X)
    assert table.shape == (60, 4)
    mine = X[y == 1]
    axes = np.linalg.svd(mine - mine.mean(axis=0))[2][:2]
    np.testing.assert_allclose(
        np.abs(table[:, 2:]), np.abs((X - mine.mean(axis=0)) @ axes.T), atol=1e-9
    )


@pytest.mark.covers("function-basis-pca")
def test_few_basis_curves_rebuild_curves_and_are_orthonormal_in_the_integral(rng):
    t = np.sort(rng.uniform(0, 1, 80))
    shapes = np.array([np.sin(3 * t), t**2, np.exp(-t)])
    curves = 1 + rng.normal(size=(40, 3)) @ shapes
    basis = curve_basis(curves, 3, t)
    np.testing.assert_allclose(basis.approximate(), curves, atol=1e-8)
    gram = np.trapezoid(basis.curves[:, None] * basis.curves[None], t, axis=2)
    np.testing.assert_allclose(gram, np.eye(3), atol=1e-8)
    errors = [((basis.approximate(k) - curves) ** 2).sum() for k in (1, 2, 3)]
    assert errors == sorted(errors, reverse=True)
    with pytest.raises(DataError, match="rise"):
        curve_basis(curves, 3, t[::-1])


def test_tables_are_encoded_or_refused_by_the_name_of_the_column(rng):
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30)})
    frame["c"] = np.where(rng.random(30) < 0.5, "x", "y")
    assert choose_components(frame).n_components >= 1
    for refusing in (svd, lambda X: compress(X, 1), lambda X: pca_smooth(X, 1)):
        with pytest.raises(DataError, match="column 'c' of X holds"):
            refusing(frame)
    frame.loc[4, "b"] = np.nan
    with pytest.raises(
        DataError, match=r"column 'b' of X has 1 missing cells \(the first in row 4"
    ):
        svd(frame[["a", "b"]])
    with pytest.raises(DataError, match="numbers and missing ones alone"):
        complete_low_rank(frame)


def test_rows_that_the_basis_holds_twice_keep_the_digits_of_single_precision():
    rows = np.array([[0.0], [1.0], [1.0], [3.0]])
    model = Nystroem(n_components=4, gamma=0.5, random_state=0)
    exact = model.fit(rows).transform(rows)
    np.testing.assert_allclose(exact @ exact.T, np.exp(-0.5 * (rows - rows.T) ** 2), atol=1e-12)
    single = rows.astype(np.float32)
    np.testing.assert_allclose(model.fit(single).transform(single), exact, atol=1e-5)


def test_features_of_a_basis_of_rows_that_differ_are_those_of_scikit_learn(rng):
    rows = rng.normal(size=(40, 3))
    for kernel in ("rbf", "linear", "sigmoid"):
        given = {"kernel": kernel, "n_components": 12, "random_state": 1}
        theirs = kernel_approximation.Nystroem(**given).fit(rows).transform(rows)
        ours = Nystroem(**given).fit_transform(rows)
        if kernel == "linear":  # of rank three: directions that are rounding are left out
            ours, theirs = ours @ ours.T, theirs @ theirs.T
        np.testing.assert_allclose(ours, theirs, atol=1e-7)
