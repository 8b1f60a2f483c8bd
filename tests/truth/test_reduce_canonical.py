"""Canonical correlations, linear projections by pairs, discriminants and random projections."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from sklearn.neighbors import KNeighborsClassifier

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.reduce import (
    ICA,
    NIPALS,
    CanonicalCorrelation,
    FisherDiscriminant,
    NormalizedPCA,
    RandomProjection,
    RobustPCA,
    SupervisedPCA,
    cca_permutation_test,
    direction_diagnostics,
    distortion,
    fisher_direction,
    graph_laplacian,
    linear_projection,
    pair_projection,
    projected_learning,
    relation_weights,
    retrieve,
    score_retrieval,
    wilks_lambda,
)


def shared_signal(rng, n=200):
    common = rng.normal(size=(n, 2))
    X = np.column_stack([common + 0.5 * rng.normal(size=(n, 2)), rng.normal(size=(n, 2))])
    Y = np.column_stack([common @ [[1, 1], [2, -1]] + 0.5 * rng.normal(size=(n, 2))])
    return X @ rng.normal(size=(4, 4)) + 3, np.column_stack([Y, rng.normal(size=n)]) - 1


@pytest.mark.covers("canonical-correlation-analysis")
def test_canonical_pairs_solve_the_eigenproblem_of_the_text(rng):
    X, Y = shared_signal(rng)
    cca = CanonicalCorrelation().fit(X, Y)
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    xx, yy, xy = x.T @ x / len(x), y.T @ y / len(x), x.T @ y / len(x)
    product = np.linalg.solve(xx, xy) @ np.linalg.solve(yy, xy.T)
    np.testing.assert_allclose(
        product @ cca.x_directions_, cca.x_directions_ * cca.correlations_**2, atol=1e-8
    )
    u, v = cca.transform(X), cca.transform_y(Y)
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(v.T @ v / len(v), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(u.T @ v / len(u), np.diag(cca.correlations_), atol=1e-9)


@pytest.mark.covers("canonical-correlation-analysis")
def test_correlations_do_not_depend_on_units_mixtures_or_roles(rng):
    X, Y = shared_signal(rng)
    plain = CanonicalCorrelation().fit(X, Y).correlations_
    mixed = CanonicalCorrelation().fit(X @ (rng.normal(size=(4, 4)) + 3 * np.eye(4)) * 1e3, Y)
    swapped = CanonicalCorrelation().fit(Y, X)
    np.testing.assert_allclose(mixed.correlations_, plain, atol=1e-6)
    np.testing.assert_allclose(swapped.correlations_, plain, atol=1e-9)
    assert (plain >= 0).all()
    assert (plain <= 1).all()


@pytest.mark.covers("canonical-correlation-analysis")
def test_singular_sides_are_said_and_regularization_shrinks(rng):
    X, Y = shared_signal(rng)
    twice = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    with pytest.warns(UserWarning, match="2 of 6 directions of X"):
        singular = CanonicalCorrelation().fit(twice, Y)
    plain = CanonicalCorrelation().fit(X, Y).correlations_
    np.testing.assert_allclose(singular.correlations_, plain, atol=1e-7)
    shrunk = CanonicalCorrelation(regularization=0.5).fit(X, Y)
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    xx, yy, xy = x.T @ x, y.T @ y, x.T @ y
    for each in (xx, yy):
        each += 0.5 * np.trace(each) / len(each) * np.eye(len(each))
    values = scipy.linalg.eigvals(np.linalg.solve(xx, xy) @ np.linalg.solve(yy, xy.T)).real
    np.testing.assert_allclose(shrunk.correlations_, np.sqrt(np.sort(values)[::-1][:3]), atol=1e-8)


@pytest.mark.covers("wilks-lambda")
def test_wilks_lambda_is_a_ratio_of_determinants(rng):
    X, Y = shared_signal(rng, 60)
    rho = CanonicalCorrelation().fit(X, Y).correlations_
    both = np.cov(np.column_stack([X, Y]).T)
    ratio = np.linalg.det(both) / np.linalg.det(both[:4, :4]) / np.linalg.det(both[4:, 4:])
    assert wilks_lambda(rho) == pytest.approx(ratio, rel=1e-6)
    assert wilks_lambda(rho, 1) * wilks_lambda(rho, 1, which="remaining") == pytest.approx(
        wilks_lambda(rho)
    )
    firsts = [wilks_lambda(rho, r) for r in range(4)]
    assert firsts == sorted(firsts, reverse=True)
    with pytest.raises(DataError, match="between 0 and 3"):
        wilks_lambda(rho, 4)


@pytest.mark.covers("cca-permutation-test")
def test_chance_correlations_are_uniform_and_real_ones_are_not(rng):
    fractions = [
        cca_permutation_test(
            rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), n_permutations=39, random_state=k
        ).fractions[0]
        for k in range(60)
    ]
    assert 0.3 < np.mean(fractions) < 0.7
    X, Y = shared_signal(rng)
    test = cca_permutation_test(X, Y, n_permutations=99, random_state=0)
    assert test.fractions[0] == 0
    assert test.p_values[0] == pytest.approx(0.01)
    assert test.kept >= 1
    assert test.shuffled.shape == (99, 3)


@pytest.mark.covers("cca-permutation-test")
def test_noise_beside_a_real_correlation_is_not_kept(rng):
    kept = []
    for k in range(20):
        X, Y = rng.normal(size=(80, 4)), rng.normal(size=(80, 3))
        Y[:, 0] = X[:, 0] + 0.3 * Y[:, 0]
        test = cca_permutation_test(X, Y, n_permutations=39, random_state=k)
        assert test.fractions.max() == 0  # what the first has makes all of the text's f(r) small
        assert (np.diff(test.p_values) >= 0).all()
        kept.append(test.kept)
    assert min(kept) == 1
    assert sum(each > 1 for each in kept) <= 7  # one in twenty by chance


@pytest.mark.covers("cca-permutation-test")
def test_p_values_are_those_of_shuffling_what_earlier_pairs_leave(rng):
    X, Y = shared_signal(rng, 30)
    test = cca_permutation_test(X, Y, n_permutations=19, random_state=3)
    cca = CanonicalCorrelation().fit(X, Y)
    x = np.linalg.qr(np.column_stack([cca.transform(X), X - X.mean(axis=0)]))[0][:, :4]
    y = np.linalg.qr(cca.transform_y(Y))[0]
    shuffles = np.random.RandomState(3)
    orders = [shuffles.permutation(30) for _ in range(19)]
    largest = 0.0
    for r in range(3):
        rest = [
            np.linalg.slogdet(np.eye(3 - r) - m.T @ m)[1]
            for m in (x[:, r:].T @ y[order, r:] for order in [np.arange(30), *orders])
        ]
        largest = max(largest, np.mean(np.array(rest) <= rest[0] + 1e-6))
        assert test.p_values[r] == pytest.approx(largest)


@pytest.mark.parametrize(
    ("method", "asked", "there"),
    [
        (CanonicalCorrelation, 6, 3),
        (FisherDiscriminant, 5, 2),
        (ICA, 3, 2),
        (NIPALS, 3, 2),
        (RobustPCA, 5, 4),
        (NormalizedPCA, 5, 4),
    ],
)
def test_fewer_components_than_were_asked_for_are_announced(method, asked, there, rng):
    X = rng.normal(size=(40, 4))
    Y = rng.normal(size=(40, 3))
    if method in (ICA, NIPALS):
        X = X[:, :2] @ rng.normal(size=(2, 4))
    if method is FisherDiscriminant:
        Y = np.arange(40) % 3
    with pytest.warns(GnomonWarning, match=f"n_components={asked} .* there are {there}: "):
        found = method(asked).fit(X, Y)
    assert found.n_components_ == there


@pytest.mark.covers("cca-direction-diagnostics")
def test_a_direction_of_tiny_variance_is_suspicious(rng):
    X, Y = shared_signal(rng)
    X[:, 3] = 1e-4 * Y[:, 0]
    cca = CanonicalCorrelation(1).fit(X, Y)
    found = direction_diagnostics(cca, X, Y)
    assert found.suspicious.tolist() == [True]
    assert found.x_norms[0] > 100 * found.y_norms[0]
    centered = X - X.mean(axis=0)
    u = cca.x_directions_[:, 0]
    share = u @ (centered.T @ centered / len(X)) @ u / (u @ u)
    share /= np.linalg.eigvalsh(centered.T @ centered / len(X))[-1]
    assert found.x_variances[0] == pytest.approx(share)


@pytest.mark.covers("cca-cross-modal-retrieval")
def test_items_of_the_other_kind_are_found_in_both_directions(rng):
    hidden = rng.normal(size=(150, 4))
    X, Y = hidden @ rng.normal(size=(4, 8)), hidden @ rng.normal(size=(4, 6))
    X, Y = X + 1e-3 * rng.normal(size=X.shape), Y + 1e-3 * rng.normal(size=Y.shape)
    cca = CanonicalCorrelation(4).fit(X[:100], Y[:100])
    for by, queries, library in (("x", X[100:], Y[100:]), ("y", Y[100:], X[100:])):
        found = retrieve(cca, queries, library, 3, by=by)
        assert (found.indices[:, 0] == np.arange(50)).mean() > 0.9
        one = cca.transform(queries) if by == "x" else cca.transform_y(queries)
        other = cca.transform_y(library) if by == "x" else cca.transform(library)
        gaps = np.linalg.norm(one[:, None] - other, axis=2)
        np.testing.assert_allclose(found.distances, np.sort(gaps, axis=1)[:, :3], atol=1e-9)
    with pytest.raises(DataError, match="n=51"):
        retrieve(cca, X[100:], Y[100:], 51)


@pytest.mark.covers("cca-cross-modal-retrieval")
def test_retrieved_words_are_scored_by_cosine_and_rates():
    true = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]])
    said = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1]])
    scores = score_retrieval(true, said, n_words=2)
    assert scores.columns.tolist() == [0, 2]
    np.testing.assert_allclose(scores.cosines, [0, np.sqrt(0.5), 1, 1], atol=1e-12)
    np.testing.assert_allclose(scores.false_negative_rates, [1 / 3, 0])
    np.testing.assert_allclose(scores.false_positive_rates, [1, 0])
    np.testing.assert_allclose(scores.error_rates, [0.5, 0])
    assert (score_retrieval(true, true, smooth=2).cosines > 1 - 1e-9).all()


@pytest.mark.covers("linear-projection")
def test_projection_on_given_directions_is_orthonormal_and_picks_columns(rng):
    X = rng.normal(size=(30, 4)) + 5
    given = rng.normal(size=(2, 4))
    found = linear_projection(X, given, ["a", "b", "c", "d"])
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-12)
    assert found.directions[0] @ given[0] == pytest.approx(np.linalg.norm(given[0]))
    picked = linear_projection(X, [2, 0])
    np.testing.assert_allclose(picked.transform(X), (X - X.mean(axis=0))[:, [2, 0]], atol=1e-12)
    assert linear_projection(X, [3], ["a", "b", "c", "d"]).explained(0, 1) == [("d", 1.0)]
    with pytest.raises(DataError, match="follows from"):
        linear_projection(X, [given[0], 2 * given[0]])


@pytest.mark.covers("graph-laplacian")
def test_laplacian_is_the_sum_over_pairs(rng):
    weights = rng.random((7, 7))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    L = graph_laplacian(weights)
    x = rng.normal(size=7)
    pairs = sum(weights[i, j] * (x[i] - x[j]) ** 2 for i in range(7) for j in range(i))
    assert x @ L @ x == pytest.approx(pairs)
    np.testing.assert_allclose(L.sum(axis=0), 0, atol=1e-12)
    values = np.linalg.eigvalsh(graph_laplacian(weights, normalized=True))
    assert values.min() > -1e-9
    assert values.max() < 2 + 1e-9
    with pytest.raises(DataError, match="symmetric"):
        graph_laplacian(np.triu(weights))
    with pytest.raises(DataError, match="negative"):
        graph_laplacian(-weights)


def brute_form(X, weights):
    n, d = X.shape
    total = np.zeros((d, d))
    for i in range(n):
        for j in range(i):
            gap = X[i] - X[j]
            total += weights[i, j] * np.outer(gap, gap)
    return total


@pytest.mark.covers("weighted-pca")
def test_weighted_pca_maximizes_the_weighted_sum_over_pairs(rng):
    X = rng.normal(size=(20, 3))
    weights = rng.random((20, 20))
    weights = weights + weights.T
    found = pair_projection(X, weights, n_components=3)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(brute_form(X, weights))[::-1])
    reached = found.directions[0] @ brute_form(X, weights) @ found.directions[0]
    for _ in range(30):
        other = rng.normal(size=3)
        other /= np.linalg.norm(other)
        assert other @ brute_form(X, weights) @ other <= reached + 1e-9
    np.testing.assert_allclose(
        pair_projection(X, None, n_components=3).values,
        20**2 * np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1],
    )


@pytest.mark.covers("normalised-pca")
def test_normalized_pca_weighs_pairs_by_one_over_distance(rng):
    X = rng.normal(size=(25, 4)) * [3, 2, 1, 1]
    X[7] = X[3]
    gaps = np.linalg.norm(X[:, None] - X, axis=2)
    weights = np.where(gaps > 0, 1 / np.where(gaps > 0, gaps, 1), 0)
    found = NormalizedPCA(4).fit(X)
    np.testing.assert_allclose(
        found.objective_values_, np.linalg.eigvalsh(brute_form(X, weights))[::-1], rtol=1e-9
    )
    np.testing.assert_allclose(
        found.objective_values_, pair_projection(X, weights, n_components=4).values, rtol=1e-9
    )


@pytest.mark.covers("supervised-pca")
@pytest.mark.parametrize("within", [0.0, 0.1, 1.0])
def test_supervised_pca_is_weighted_pca_by_class(rng, within):
    X = rng.normal(size=(24, 3))
    y = np.arange(24) % 3
    weights = np.where(y[:, None] == y, within, 1.0)
    np.fill_diagonal(weights, 0)
    found = SupervisedPCA(3, within=within).fit(X, y)
    np.testing.assert_allclose(
        found.objective_values_, np.linalg.eigvalsh(brute_form(X, weights))[::-1], rtol=1e-8
    )
    assert found.transform(X).shape == (24, 3)


@pytest.mark.covers("ratio-projection")
def test_discriminant_analysis_is_a_ratio_of_pair_sums(rng):
    X = rng.normal(size=(40, 3))
    y = np.arange(40) % 2
    X[y == 1] += [2, 1, 0]
    within = np.where(y[:, None] == y, 1 / (40 * 20), 0.0)
    np.fill_diagonal(within, 0.0)
    found = pair_projection(X, None, within, n_components=1)
    fisher = FisherDiscriminant().fit(X, y)
    cosine = found.directions[0] @ fisher.directions_[0]
    cosine /= np.linalg.norm(found.directions[0]) * np.linalg.norm(fisher.directions_[0])
    assert abs(cosine) == pytest.approx(1, abs=1e-9)
    lower = brute_form(X, within)
    np.testing.assert_allclose(found.directions @ lower @ found.directions.T, 1.0, rtol=1e-9)
    scatter = sum((y == c).mean() * np.cov(X[y == c].T, bias=True) for c in (0, 1))
    np.testing.assert_allclose(lower, scatter, atol=1e-12)
    with pytest.raises(DataError, match="no bound"):
        pair_projection(np.column_stack([X, np.ones(40)]), None, within)


@pytest.mark.covers("coordinates-plus-relations")
def test_relations_given_by_people_turn_the_view(rng):
    X = rng.normal(size=(60, 3)) * [5, 1, 1]
    side = np.repeat([0, 1], 30)
    X[:, 2] += 3 * side
    plain = pair_projection(X, None, n_components=1).directions[0]
    dissimilarity, similarity = relation_weights(60, groups=side.tolist())
    tuned = pair_projection(X, dissimilarity, similarity, n_components=1).directions[0]
    assert np.abs(plain).argmax() == 0
    assert np.abs(tuned / np.linalg.norm(tuned)).argmax() == 2
    some = [None] * 60
    some[0], some[1], some[40] = "a", "a", "b"
    apart, together = relation_weights(60, groups=some, apart=[(5, 6)], together=[(7, 8)])
    assert together[0, 1] == 1
    assert together[0, 40] == 0
    assert together[7, 8] == 60
    assert apart[7, 8] == 0
    assert apart[5, 6] == 61
    assert apart[2, 3] == 1


@pytest.mark.covers("fisher-linear-discriminant")
def test_two_classes_have_the_closed_form_and_any_denominator(rng):
    X = rng.normal(size=(70, 3)) @ rng.normal(size=(3, 3))
    y = np.r_[np.zeros(40, int), np.ones(30, int)]
    X[y == 1] += [1, 2, 0]
    found = FisherDiscriminant().fit(X, y)
    closed = fisher_direction(X[y == 0], X[y == 1])
    cosine = found.directions_[0] @ closed / np.linalg.norm(found.directions_[0])
    assert abs(cosine) / np.linalg.norm(closed) == pytest.approx(1, abs=1e-9)
    means = np.array([X[y == c].mean(axis=0) for c in (0, 1)]) - X.mean(axis=0)
    between = sum((y == c).mean() * np.outer(means[c], means[c]) for c in (0, 1))
    whole = np.cov(X.T, bias=True)
    leading = scipy.linalg.eigh(between, whole)[1][:, -1]
    cosine = found.directions_[0] @ leading / np.linalg.norm(found.directions_[0])
    assert abs(cosine) / np.linalg.norm(leading) == pytest.approx(1, abs=1e-8)
    with pytest.raises(DataError, match="singular"):
        fisher_direction(np.ones((3, 2)), np.ones((3, 2)))


@pytest.mark.covers("lda-projection")
def test_discriminant_directions_are_orthonormal_within_classes(rng):
    X = rng.normal(size=(90, 5))
    y = np.arange(90) % 4
    X += 2 * rng.normal(size=(4, 5))[y]
    found = FisherDiscriminant(2).fit(X, y)
    scatter = sum((y == c).mean() * np.cov(X[y == c].T, bias=True) for c in range(4))
    np.testing.assert_allclose(
        found.directions_ @ scatter @ found.directions_.T, np.eye(2), atol=1e-9
    )
    between = np.cov(X.T, bias=True) - scatter
    values = scipy.linalg.eigh(between, scatter, eigvals_only=True)[::-1]
    np.testing.assert_allclose(found.ratios_, values[:2], rtol=1e-8)
    assert (found.predict(X) == y).mean() > 0.5


@pytest.mark.covers("johnson-lindenstrauss-projection")
@pytest.mark.parametrize("kind", ["gaussian", "sparse", "structured"])
def test_squared_distances_are_kept_within_epsilon(rng, kind):
    X = rng.normal(size=(40, 3000))
    found = RandomProjection(epsilon=0.4, delta=0.001, kind=kind, random_state=0).fit(X)
    report = distortion(X, found.transform(X), 0.4)
    assert found.n_components_ < 600
    assert report.outside == 0
    assert report.ratios.mean() == pytest.approx(1, abs=0.05)
    assert len(report.ratios) == 40 * 39 / 2


@pytest.mark.covers("johnson-lindenstrauss-projection")
def test_no_more_columns_are_made_than_there_are(rng):
    X = rng.normal(size=(50, 8))
    found = RandomProjection(random_state=0).fit(X)
    assert found.n_components_ == 8
    assert distortion(X, found.transform(X)).ratios[[0, -1]] == pytest.approx([1, 1])


@pytest.mark.covers("johnson-lindenstrauss-projection")
def test_a_structured_projection_is_rows_of_an_orthonormal_matrix(rng):
    found = RandomProjection(10, kind="structured", random_state=0).fit(rng.normal(size=(5, 32)))
    axes = found.transform(np.eye(32)).T * np.sqrt(10 / 32)
    np.testing.assert_allclose(axes @ axes.T, np.eye(10), atol=1e-12)
    with pytest.raises(ValueError, match="n_components=40"):
        RandomProjection(40, kind="structured").fit(rng.normal(size=(5, 32)))


@pytest.mark.covers("projected-learning-report")
def test_learning_after_a_projection_is_compared_with_all_columns(rng):
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 500)) + 0.4 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = projected_learning(
            KNeighborsClassifier(15),
            X[:80],
            y[:80],
            X[80:],
            y[80:],
            projection=RandomProjection(100, random_state=0),
        )
    assert report.scores[0] > 0.8
    assert report.scores[1] > 0.6
    assert report.n_columns == 500
    assert "100" in str(report)
