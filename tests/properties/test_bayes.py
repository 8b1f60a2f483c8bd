"""Bayes and densities: what must not change under units, order, and rewriting of the data."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gnomon.bayes import GaussianClassifier, Kriging, bayes_rule
from gnomon.density import (
    HuffmanCode,
    KernelDensity,
    entropy,
    information_of_table,
    kl_divergence,
    lempel_ziv,
    lempel_ziv_decode,
    sorted_pairing_distance,
)

seeds = st.integers(0, 2**32 - 1)
weights = st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=8)
texts = st.text(alphabet="abc ", min_size=1, max_size=80)


def clouds(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(scale=2, size=(3, d))[y] + rng.normal(size=(n, d)), y


@given(seed=seeds, factor=st.floats(1e-3, 1e3), shared=st.booleans())
def test_units_of_columns_do_not_change_a_gaussian_classifier(seed, factor, shared):
    rows, y = clouds(seed)
    scale = np.array([factor, 1.0, 1 / factor])
    one = GaussianClassifier(shared=shared).fit(rows, y).predict_proba(rows)
    other = GaussianClassifier(shared=shared).fit(rows * scale, y).predict_proba(rows * scale)
    np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-8)


@given(seed=seeds)
def test_any_invertible_map_of_the_rows_keeps_full_covariances_decisions(seed):
    rows, y = clouds(seed)
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.uniform(0.5, 2, 3)
    settings = {"var_smoothing": 0.0}
    one = GaussianClassifier(**settings).fit(rows, y).predict_proba(rows)
    other = GaussianClassifier(**settings).fit(rows @ A, y).predict_proba(rows @ A)
    np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-8)


@given(seed=seeds, shift=st.floats(-100, 100), factor=st.floats(0.1, 10))
def test_kernel_densities_move_and_stretch_with_the_data(seed, shift, factor):
    rng = np.random.default_rng(seed)
    rows, at = rng.normal(size=(40, 2)), rng.normal(size=(10, 2))
    one = KernelDensity(bandwidth="silverman-scaled").fit(rows).score_samples(at)
    other = (
        KernelDensity(bandwidth="silverman-scaled")
        .fit(factor * rows + shift)
        .score_samples(factor * at + shift)
    )
    np.testing.assert_allclose(other, one - 2 * np.log(factor), atol=1e-6)


@given(seed=seeds, shift=st.floats(-50, 50), factor=st.floats(0.1, 10))
def test_kriging_moves_and_stretches_with_the_target(seed, shift, factor):
    rng = np.random.default_rng(seed)
    sites, at = rng.uniform(size=(20, 2)), rng.uniform(size=(6, 2))
    values = sites.sum(axis=1) + 0.1 * rng.normal(size=20)
    one = Kriging().fit(sites, values)
    other = Kriging().fit(sites, factor * values + shift)
    np.testing.assert_allclose(
        other.predict(at), factor * one.predict(at) + shift, rtol=1e-5, atol=1e-5 * factor
    )
    np.testing.assert_allclose(other.predict_std(at), factor * one.predict_std(at), rtol=1e-4)


@given(prior=weights, seed=seeds)
def test_posteriors_are_probabilities_and_likelihood_times_prior_up_to_a_factor(prior, seed):
    prior = np.array(prior) / np.sum(prior)
    likelihood = np.random.default_rng(seed).uniform(0.01, 1, len(prior))
    belief = bayes_rule(prior, likelihood)
    assert belief.posterior.sum() == pytest.approx(1)
    np.testing.assert_allclose(belief.posterior * belief.evidence, prior * likelihood)
    doubled = bayes_rule(prior, 2 * likelihood)
    np.testing.assert_allclose(doubled.posterior, belief.posterior)


@given(one=weights, seed=seeds)
def test_entropy_divergence_and_mutual_information_keep_their_bounds(one, seed):
    rng = np.random.default_rng(seed)
    p, q = np.array(one) / np.sum(one), rng.dirichlet(np.ones(len(one)))
    assert 0 <= entropy(p) <= np.log(len(p)) + 1e-12
    assert kl_divergence(p, q) >= 0
    cross = -(p * np.log(np.maximum(q, 1e-300))).sum()
    assert kl_divergence(p, q) == pytest.approx(cross - entropy(p), rel=1e-6, abs=1e-9)
    joint = rng.dirichlet(np.ones(3 * len(p))).reshape(3, -1)
    found = information_of_table(joint)
    assert -1e-12 <= found.mutual <= min(found.x, found.y) + 1e-12
    assert found.joint <= found.x + found.y + 1e-12


@given(text=texts)
def test_codes_give_every_text_back(text):
    code = HuffmanCode.of(text)
    assert "".join(code.decode(code.encode(text))) == text
    assert "".join(lempel_ziv_decode(lempel_ziv(text))) == text


@given(seed=seeds, n=st.integers(1, 12), m=st.integers(1, 12))
def test_the_pairing_distance_is_symmetric_and_a_shift_counts_squared(seed, n, m):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=m)
    there = sorted_pairing_distance(x, y, mean=True)
    assert there == pytest.approx(sorted_pairing_distance(y, x, mean=True))
    assert sorted_pairing_distance(x, x + 3, mean=True) == pytest.approx(9)
