"""Information, codes, counting, moments, distances of samples, maximum entropy: brute force."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats
from scipy.optimize import linear_sum_assignment

from gnomon import density as d
from gnomon.engine.errors import DataError, GnomonWarning


@pytest.mark.covers("information-content")
def test_information_is_additive_for_independent_outcomes(rng):
    p, q = rng.random(2)
    both = d.information_content(p * q)
    assert both == pytest.approx(d.information_content(p) + d.information_content(q))
    assert d.information_content(p, 2) == pytest.approx(-np.log2(p))
    assert d.information_content(0.0) == np.inf
    with pytest.raises(DataError, match="between 0 and 1"):
        d.information_content(1.5)


@pytest.mark.covers("entropy", "perplexity")
def test_entropy_is_the_mean_information_and_greatest_for_equal_shares(rng):
    p = rng.dirichlet(np.ones(7))
    assert d.entropy(p) == pytest.approx(stats.entropy(p))
    assert d.entropy(p, 2) == pytest.approx(p @ d.information_content(p, 2))
    assert d.entropy(p) <= d.entropy(np.full(7, 1 / 7)) + 1e-12
    assert d.perplexity(np.full(7, 1 / 7)) == pytest.approx(7)
    assert d.perplexity(p) == pytest.approx(np.exp(d.entropy(p)))
    assert d.entropy([1.0, 0.0]) == 0.0


@pytest.mark.covers("entropy")
def test_differential_entropies_are_the_closed_forms_and_may_be_negative(rng):
    for scale in (0.1, 2.0):
        exact = 0.5 * np.log(2 * np.pi * np.e * scale**2)
        law = stats.norm(0, scale)
        found = d.differential_entropy(law.pdf, -12 * scale, 12 * scale)
        assert found == pytest.approx(exact, abs=1e-6)
        sampled = d.differential_entropy_of(law.rvs(4000, random_state=rng))
        assert sampled == pytest.approx(exact, abs=0.15)
    assert d.differential_entropy(lambda x: 4.0, 0, 0.25) < 0


@pytest.mark.covers("entropy", "kl-divergence")
def test_mass_that_quadrature_misses_is_refused_and_found_by_points(rng):
    middle = rng.uniform(800, 1200)
    law, other = stats.norm(middle, 1), stats.norm(middle + 1, 1)
    with pytest.raises(DataError, match=r"integrates to 0 .* points="):
        d.differential_entropy(law.pdf, -np.inf, np.inf)
    with pytest.raises(DataError, match=r"integrates to 0 .* points="):
        d.kl_of_densities(law.pdf, other.pdf, -np.inf, np.inf)
    found = d.differential_entropy(law.pdf, -np.inf, np.inf, points=[middle])
    assert found == pytest.approx(law.entropy(), abs=1e-6)
    found = d.kl_of_densities(law.pdf, other.pdf, -np.inf, np.inf, points=[middle])
    assert found == pytest.approx(0.5, abs=1e-6)


@pytest.mark.covers("entropy")
@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b"],
        ["a", np.nan, "b"],
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        np.array([1.0, np.nan, 2.0]),
    ],
)
def test_missing_categories_are_named_and_not_counted(values):
    with pytest.raises(DataError, match=r"values: 1 of 3 are missing \(the first in row 1\)"):
        d.sample_entropy(values)
    with pytest.raises(DataError, match="y: 1 of 3 are missing"):
        d.information_of_sample([1, 2, 3], values)


@pytest.mark.covers("entropy")
def test_a_number_and_its_digits_are_different_categories():
    assert d.sample_entropy([1, "1"], base=2) == 1.0
    assert d.sample_entropy([1, "1", 1, "1"], base=2) == 1.0


@pytest.mark.covers("entropy")
def test_the_correction_of_sample_entropy_removes_most_of_its_bias(rng):
    samples = rng.integers(0, 10, (400, 40))
    plain = np.mean([d.sample_entropy(each) for each in samples])
    corrected = np.mean([d.sample_entropy(each, correct=True) for each in samples])
    assert plain < corrected < np.log(10) + 0.05
    assert abs(corrected - np.log(10)) < abs(plain - np.log(10))


@pytest.mark.covers("kl-divergence")
def test_divergence_is_zero_or_more_not_symmetric_and_infinite_where_excluded(rng):
    p, q = rng.dirichlet(np.ones(5), 2)
    assert d.kl_divergence(p, q) == pytest.approx((p * np.log(p / q)).sum())
    assert d.kl_divergence(p, q) > 0
    assert d.kl_divergence(p, p) == 0
    assert d.kl_divergence([0.6, 0.1, 0.3], [1 / 3] * 3) == pytest.approx(0.200667, abs=1e-6)
    assert d.kl_divergence([1 / 3] * 3, [0.6, 0.1, 0.3]) == pytest.approx(0.240516, abs=1e-6)
    assert d.kl_divergence([0.5, 0.5], [1, 0]) == np.inf
    assert d.kl_divergence([1, 0], [0.5, 0.5], 2) == pytest.approx(1.0)


@pytest.mark.covers("kl-divergence")
def test_divergence_of_normals_by_quadrature_is_the_closed_form(rng):
    # deviations that keep the other density above the least number where the first one counts
    (m, n), (s, t) = rng.normal(size=2), rng.uniform(0.7, 1.5, 2)
    one = d.Normal().member(mean=m, variance=s**2)
    other = d.Normal().member(mean=n, variance=t**2)
    exact = np.log(t / s) + (s**2 + (m - n) ** 2) / (2 * t**2) - 0.5
    assert one.divergence(other) == pytest.approx(exact)
    found = d.kl_of_densities(stats.norm(m, s).pdf, stats.norm(n, t).pdf, m - 9 * s, m + 9 * s)
    assert found == pytest.approx(exact, abs=1e-6)
    assert d.kl_of_densities(lambda x: 1.0, lambda x: float(x < 0.5), 0, 1) == np.inf


@pytest.mark.covers("conditional-entropy-and-mutual-information")
def test_the_information_diagram_obeys_the_chain_rule(rng):
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
    found = d.information_of_table(joint)
    x, y = joint.sum(axis=1), joint.sum(axis=0)
    by_hand = sum(px * stats.entropy(row / px) for px, row in zip(x, joint))
    assert found.y_given_x == pytest.approx(by_hand)
    assert d.conditional_entropy(joint) == pytest.approx(by_hand)
    assert found.joint == pytest.approx(found.x + found.y_given_x)
    assert found.mutual == pytest.approx(found.y - found.y_given_x)
    assert found.mutual == pytest.approx(d.kl_divergence(joint, np.outer(x, y)))
    assert d.information_of_table(np.outer(x, y)).mutual == pytest.approx(0, abs=1e-12)
    exact = d.information_of_table([[0.3, 0.1], [0.2, 0.4]])
    assert exact.x == pytest.approx(0.673012, abs=1e-6)
    assert exact.joint == pytest.approx(1.279854, abs=1e-6)
    assert exact.mutual == pytest.approx(0.086305, abs=1e-6)


@pytest.mark.covers("conditional-entropy-and-mutual-information")
def test_mutual_information_of_a_sample_is_scikit_learns_and_few_rows_are_warned_of(rng):
    from sklearn.metrics import mutual_info_score

    x = rng.integers(0, 4, 300)
    y = (x + rng.integers(0, 2, 300)) % 4
    assert d.information_of_sample(x, y).mutual == pytest.approx(mutual_info_score(x, y))
    with pytest.warns(GnomonWarning, match="too great"):
        d.information_of_sample(rng.integers(0, 9, 30), rng.integers(0, 9, 30))


@pytest.mark.covers("conditional-entropy-and-mutual-information")
def test_continuous_mutual_information_is_that_of_correlated_normals(rng):
    for rho in (0.0, 0.6, 0.9):
        both = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 2500)
        exact = -0.5 * np.log(1 - rho**2)
        found = d.continuous_mutual_information(both[:, 0], both[:, 1])
        assert found == pytest.approx(exact, abs=0.16)
    bent = np.exp(both[:, 0])
    again = d.continuous_mutual_information(bent, both[:, 1])
    assert again == pytest.approx(found, abs=0.12)
    with pytest.raises(DataError, match="repeat"):
        d.continuous_mutual_information([1, 1, 2, 2, 3, 3, 4], [1, 1, 2, 2, 3, 3, 4])


@pytest.mark.covers("maximum-likelihood-as-kl")
def test_likelihood_and_divergence_differ_by_the_entropy_of_the_sample_only(rng):
    x = rng.choice(list("abc"), 50, p=[0.5, 0.3, 0.2])
    models = {}
    for name in range(8):
        models[name] = dict(zip("abc", rng.dirichlet(np.ones(3))))
    found = d.likelihood_as_divergence(x, models)
    totals = np.array(found.mean_log_likelihood) + np.array(found.divergence)
    np.testing.assert_allclose(totals, -found.entropy)
    assert found.best == int(np.argmax(found.mean_log_likelihood))
    shares = d.CategoricalDistribution.fit(x)
    own = dict(zip(shares.values, shares.probabilities))
    assert d.likelihood_as_divergence(x, {"ml": own}).divergence[0] == pytest.approx(0, abs=1e-12)


def all_trees(lengths):
    return sum(2.0 ** -np.array(lengths)) <= 1 + 1e-12


@pytest.mark.covers("huffman-coding", "source-coding-bound")
def test_no_prefix_code_is_shorter_than_huffmans(rng):
    p = rng.dirichlet(np.ones(5))
    code = d.HuffmanCode.of(dict(enumerate(p)))
    lengths = itertools.product(range(1, 6), repeat=5)
    best = min(p @ np.array(each) for each in lengths if all_trees(each))
    assert code.mean_length == pytest.approx(best)
    assert code.entropy <= code.mean_length + 1e-12 < code.entropy + 1
    words = list(code.words.values())
    assert not any(a != b and b.startswith(a) for a in words for b in words)


@pytest.mark.covers("huffman-coding")
def test_what_is_coded_is_decoded(rng):
    text = "".join(rng.choice(list("aaaabbc d"), 300))
    code = d.HuffmanCode.of(text)
    bits = code.encode(text)
    assert "".join(code.decode(bits)) == text
    assert len(bits) / 300 == pytest.approx(code.mean_length)
    assert d.HuffmanCode.of("aaa").encode("aa") == "00"
    with pytest.raises(DataError, match="no word"):
        code.encode("z")
    with pytest.raises(DataError, match="end inside"):
        d.HuffmanCode({"a": "00", "b": "01", "c": "1"}, {}).decode("0")


@pytest.mark.covers("lempel-ziv-coding")
def test_lempel_ziv_gives_the_text_back_and_nears_the_entropy_of_long_texts(rng):
    for text in ("", "a", "abababab", "".join(rng.choice(list("ab"), 500, p=[0.8, 0.2]))):
        assert "".join(d.lempel_ziv_decode(d.lempel_ziv(text))) == text
    short, long = ("".join(rng.choice(list("ab"), n, p=[0.95, 0.05])) for n in (500, 50_000))
    rates = [d.lempel_ziv_bits(text) / len(text) for text in (short, long)]
    assert rates[1] < rates[0]
    assert rates[1] > d.entropy([0.95, 0.05], 2)
    assert rates[1] < 1
    with pytest.raises(DataError, match="not known yet"):
        d.lempel_ziv_decode([(3, "a")])


@pytest.mark.covers("source-coding-bound")
def test_entropies_bound_the_codes_of_a_text(rng):
    words = ["sun", "dial", "shadow", "noon", "the", "a"]
    text = " ".join(rng.choice(words, 800, p=[0.1, 0.1, 0.1, 0.1, 0.4, 0.2]))
    bits = d.source_coding(text).bits
    assert bits["characters: entropy"] <= bits["characters: Huffman"]
    assert bits["characters: Huffman"] < bits["characters: entropy"] + len(text)
    assert bits["words: entropy"] <= bits["words: Huffman"]
    assert bits["words: entropy"] < bits["characters: entropy"]
    assert bits["characters: Huffman"] < bits["8 bits per character"]


@pytest.mark.covers("source-coding-bound")
def test_002_english_letters_need_less_than_five_bits():
    shares = {
        "a": 0.0575, "b": 0.0128, "c": 0.0263, "d": 0.0285, "e": 0.0913, "f": 0.0173,
        "g": 0.0133, "h": 0.0313, "i": 0.0599, "j": 0.0006, "k": 0.0084, "l": 0.0335,
        "m": 0.0235, "n": 0.0596, "o": 0.0689, "p": 0.0192, "q": 0.0008, "r": 0.0508,
        "s": 0.0567, "t": 0.0706, "u": 0.0334, "v": 0.0069, "w": 0.0119, "x": 0.0073,
        "y": 0.0164, "z": 0.0007, " ": 0.1928,
    }  # fmt: skip
    code = d.HuffmanCode.of(shares)
    assert code.entropy == pytest.approx(4.11, abs=0.01)
    assert code.mean_length == pytest.approx(4.15, abs=0.01)


@pytest.mark.covers("probability-by-counting")
def test_probabilities_are_shares_of_rows(rng):
    n = 200
    table = {
        "a": rng.choice(["x", "y"], n).tolist(),
        "b": rng.choice([1, 2, 3], n).tolist(),
        "c": rng.choice([True, False], n).tolist(),
    }
    counted = d.count_probabilities(table)
    rows = list(zip(*table.values()))
    both = sum(a == "x" and b == 2 for a, b, _ in rows) / n
    assert counted.probability({"a": "x", "b": 2}) == pytest.approx(both)
    given = sum(b == 2 for _, b, _ in rows) / n
    assert counted.probability({"a": "x"}, {"b": 2}) == pytest.approx(both / given)
    total = sum(
        counted.probability({"a": "x"}, {"b": v}) * counted.probability({"b": v}) for v in (1, 2, 3)
    )
    assert total == pytest.approx(counted.probability({"a": "x"}))
    either = counted.probability({"b": {1, 2}})
    assert either == pytest.approx(1 - counted.probability({"b": 3}))
    np.testing.assert_allclose(counted.conditional("a", "b").sum(axis=1), 1)
    assert counted.marginal("b", "a").counts.sum() == n
    assert counted.probabilities.sum() == pytest.approx(1)


@pytest.mark.covers("probability-by-counting")
def test_independence_is_seen_in_the_product_of_marginals():
    table = {"a": list("xxyy") * 50, "b": list("uvuv") * 50}
    counted = d.count_probabilities(table)
    for a, b in itertools.product("xy", "uv"):
        product = counted.probability({"a": a}) * counted.probability({"b": b})
        assert counted.probability({"a": a, "b": b}) == pytest.approx(product)
    assert counted.independence("a", "b").p > 0.99
    tied = d.count_probabilities({"a": list("xy") * 50, "b": list("uv") * 50})
    assert tied.independence("a", "b").p < 1e-6
    with pytest.raises(DataError, match="not defined"):
        counted.probability({"a": "x"}, {"b": "w"})


@pytest.mark.covers("mean-vector", "covariance-and-correlation")
def test_moments_are_numpys_with_weights_as_repetitions(rng):
    rows, weights = rng.normal(size=(30, 3)), rng.integers(1, 4, 30)
    repeated = np.repeat(rows, weights, axis=0)
    np.testing.assert_allclose(d.mean_vector(rows, weights), repeated.mean(axis=0))
    np.testing.assert_allclose(d.covariance_matrix(rows, weights), np.cov(repeated.T, ddof=0))
    np.testing.assert_allclose(d.covariance_matrix(rows, ddof=1), np.cov(rows.T))
    np.testing.assert_allclose(d.correlation_matrix(rows), np.corrcoef(rows.T))
    centered = d.center(rows)
    np.testing.assert_allclose(centered.rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centered.restored(), rows)


@pytest.mark.covers("covariance-and-correlation", "structured-covariance")
def test_a_direction_without_variance_is_named_and_no_covariance_refused(rng):
    rows = rng.normal(size=(20, 2))
    flat = np.column_stack([rows, rows.sum(axis=1)])
    with pytest.warns(GnomonWarning, match="singular"):
        covariance = d.covariance_matrix(flat)
    direction = d.flat_direction(covariance)
    assert np.abs(flat @ direction - (flat @ direction)[0]).max() < 1e-8
    assert d.flat_direction(np.cov(rows.T)) is None
    with pytest.raises(DataError, match="negative eigenvalue"):
        d.flat_direction([[1, 2], [2, 1]])
    diagonal = d.covariance_matrix(flat, form="diagonal")
    np.testing.assert_allclose(diagonal, np.diag(flat.var(axis=0)))
    spherical = d.covariance_matrix(flat, form="spherical")
    np.testing.assert_allclose(spherical, np.eye(3) * flat.var(axis=0).mean())


@pytest.mark.covers("affine-moments")
def test_affine_maps_of_rows_have_the_mapped_moments(rng):
    rows, A, b = rng.normal(size=(40, 3)), rng.normal(size=(2, 3)), rng.normal(size=2)
    mapped = rows @ A.T + b
    found = d.affine_moments(rows.mean(axis=0), np.cov(rows.T, ddof=0), A, b)
    np.testing.assert_allclose(found.mean, mapped.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(mapped.T, ddof=0))
    u, v = rng.normal(size=(2, 3))
    linear = d.linear_moments(np.cov(rows.T, ddof=0), u, v)
    assert linear.variance == pytest.approx((rows @ u).var())
    assert linear.correlation == pytest.approx(np.corrcoef(rows @ u, rows @ v)[0, 1])
    direction, variance = d.widest_direction(np.cov(rows.T, ddof=0))
    assert (rows @ direction).var() == pytest.approx(variance)
    others = rng.normal(size=(200, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert ((rows @ others.T).var(axis=0) <= variance + 1e-12).all()


@pytest.mark.covers("covariance-ellipse")
def test_the_ellipse_lies_at_its_deviations_with_axes_of_the_eigenvalues(rng):
    root = rng.normal(size=(2, 2)) + 2 * np.eye(2)
    covariance, mean = root @ root.T, rng.normal(size=2)
    points = d.covariance_ellipse(mean, covariance, 1.7)
    gaps = points - mean
    squared = np.einsum("ni,ij,nj->n", gaps, np.linalg.inv(covariance), gaps)
    np.testing.assert_allclose(squared, 1.7**2)
    fine = d.covariance_ellipse(mean, covariance, 1.0, 2001) - mean
    lengths = np.linalg.norm(fine, axis=1)
    roots = np.sqrt(np.linalg.eigvalsh(covariance))
    np.testing.assert_allclose([lengths.min(), lengths.max()], roots, rtol=1e-4)


@pytest.mark.covers("sorted-pairing-distance")
def test_sorting_is_the_best_of_all_pairings(rng):
    x, y = rng.normal(size=(2, 6))
    best = min(((x - y[list(order)]) ** 2).sum() for order in itertools.permutations(range(6)))
    assert d.sorted_pairing_distance(x, y) == pytest.approx(best)
    assert d.sorted_pairing_distance(x, rng.permutation(x)) == 0
    mean = d.sorted_pairing_distance(x, y, mean=True)
    assert mean == pytest.approx(best / 6)


@pytest.mark.covers("sorted-pairing-distance")
def test_unequal_sizes_are_paired_by_quantiles(rng):
    x, y = rng.normal(size=4), rng.normal(size=6)
    written_out = d.sorted_pairing_distance(np.repeat(x, 3), np.repeat(y, 2), mean=True)
    assert d.sorted_pairing_distance(x, y, mean=True) == pytest.approx(written_out)


@pytest.mark.covers("sliced-distance")
def test_the_sliced_distance_is_a_mean_over_directions_below_the_full_one(rng):
    X, Y = rng.normal(size=(25, 3)), rng.normal(size=(25, 3)) + np.array([2, 0, 0])
    found = d.sliced_distance(X, Y, 300, rng)
    cost = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)
    full = cost[linear_sum_assignment(cost)].mean()
    assert 0 < found.distance.value < full
    assert found.worst_distance >= found.distance.value
    assert found.worst_distance <= full + 1e-9
    assert np.linalg.norm(found.worst) == pytest.approx(1)
    assert d.sliced_distance(X, X, 20, rng).distance.value == 0
    shift = d.sliced_distance(X, X + np.array([3, 0, 0]), 2000, rng)
    assert shift.distance.value == pytest.approx(9 / 3, rel=0.2)
    assert abs(shift.worst[0]) > 0.95


@pytest.mark.covers("witness-function")
def test_the_witness_is_the_difference_of_mean_kernels_and_its_norm_the_discrepancy(rng):
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(30, 2)) + 1.5
    witness = d.WitnessFunction.of(X, Y, bandwidth=0.8)

    def k(a, b):
        return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2) / (2 * 0.8**2))

    at = rng.normal(size=(7, 2))
    np.testing.assert_allclose(witness(at), k(at, X).mean(axis=1) - k(at, Y).mean(axis=1))
    squared = k(X, X).mean() - 2 * k(X, Y).mean() + k(Y, Y).mean()
    assert witness.discrepancy == pytest.approx(squared)
    # no other function of the space with the same norm separates the means more
    everyone = np.vstack([X, Y])
    gram = k(everyone, everyone)
    gap = k(everyone, X).mean(axis=1) - k(everyone, Y).mean(axis=1)
    best = np.sqrt(squared)
    for _ in range(30):
        a = rng.normal(size=50)
        assert a @ gap / np.sqrt(a @ gram @ a) <= best + 1e-9
    assert d.WitnessFunction.of(X, X).discrepancy == pytest.approx(0, abs=1e-12)
    place = witness.strongest()
    assert np.abs(witness([place]))[0] == pytest.approx(np.abs(witness(everyone)).max())


@pytest.mark.covers("maximum-entropy-distribution")
def test_maximum_entropy_without_constraints_is_uniform_and_with_variance_normal():
    x = np.linspace(-8, 8, 801)
    none = d.maximum_entropy(np.zeros((10, 1)), [0.0])
    np.testing.assert_allclose(none.probabilities, 0.1)
    found = d.maximum_entropy(np.column_stack([x, x**2]), [0.5, 1.25])
    step = x[1] - x[0]
    np.testing.assert_allclose(found.probabilities / step, stats.norm.pdf(x, 0.5, 1.0), atol=1e-4)
    np.testing.assert_allclose(found.theta, [0.5, -0.5], atol=1e-3)


@pytest.mark.covers("maximum-entropy-distribution")
def test_no_distribution_of_the_same_moments_has_more_entropy(rng):
    S = rng.normal(size=(8, 2))
    target = rng.dirichlet(np.ones(8)) @ S
    found = d.maximum_entropy(S, target)
    np.testing.assert_allclose(found.probabilities @ S, target, atol=1e-8)
    ratios = np.log(found.probabilities) - S @ found.theta
    np.testing.assert_allclose(ratios, ratios[0], atol=1e-7)
    constraints = {"type": "eq", "fun": lambda p: np.append(p @ S - target, p.sum() - 1)}
    peer = optimize.minimize(
        lambda p: (p * np.log(np.maximum(p, 1e-12))).sum(),
        np.full(8, 1 / 8),
        bounds=[(0, 1)] * 8,
        constraints=constraints,
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.entropy >= -peer.fun - 1e-5
    with pytest.raises(DataError, match="no distribution"):
        d.maximum_entropy(S, S.max(axis=0) + 1)


@pytest.mark.covers("maximum-entropy-distribution")
def test_a_gibbs_distribution_minimizes_the_divergence_from_a_base(rng):
    S, base = rng.normal(size=(6, 1)), rng.dirichlet(np.ones(6))
    target = rng.dirichlet(np.ones(6)) @ S
    found = d.maximum_entropy(S, target, base)
    ratios = np.log(found.probabilities / base) - S @ found.theta
    np.testing.assert_allclose(ratios, ratios[0], atol=1e-7)


@pytest.mark.covers("least-squares-as-maximum-likelihood")
def test_the_likeliest_line_is_that_of_least_squares_and_with_errors_of_least_chi_squared(rng):
    x = np.linspace(0, 1, 20)
    sigma = rng.uniform(0.1, 1.0, 20)
    y = 1 + 2 * x + sigma * rng.normal(size=20)
    design = np.column_stack([np.ones(20), x])
    for errors in (np.ones(20), sigma):
        exact = np.linalg.lstsq(design / errors[:, None], y / errors, rcond=None)[0]
        likeliest = optimize.minimize(
            lambda b, e=errors: -d.residual_likelihood(y - design @ b, e).log_likelihood,
            [0.0, 0.0],
            method="BFGS",
            options={"gtol": 1e-8},
        ).x
        np.testing.assert_allclose(likeliest, exact, atol=1e-4)
    one, other = (d.residual_likelihood(rng.normal(size=20), sigma) for _ in range(2))
    assert one.constant == pytest.approx(other.constant)


@pytest.mark.covers("least-squares-as-maximum-likelihood")
def test_other_noise_makes_other_losses(rng):
    r = rng.normal(size=10)
    for noise, law in (
        ("normal", stats.norm(0, 1.5)),
        ("laplace", stats.laplace(0, 1.5)),
        ("student", stats.t(4, 0, 1.5)),
    ):
        np.testing.assert_allclose(
            d.noise_loss(r, noise, 1.5), law.logpdf(0) - law.logpdf(r), atol=1e-12
        )
    x = rng.normal(size=31)
    middle = optimize.minimize_scalar(
        lambda m: d.noise_loss(x - m, "laplace").sum(), bounds=(-5, 5), method="bounded"
    ).x
    loss = d.noise_loss(x - middle, "laplace").sum()
    assert loss == pytest.approx(np.abs(x - np.median(x)).sum(), abs=1e-3)


def test_quadrature_of_a_density_is_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mass, _ = integrate.quad(lambda t: float(d.StudentT(3.0).density([t])[0]), -60, 60)
    assert mass == pytest.approx(1.0, abs=1e-4)
