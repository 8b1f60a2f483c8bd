"""Invariances of samplers and diagnostics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.sample import (
    autocorrelation,
    categorical,
    dirichlet,
    effective_sample_size,
    potts_gibbs,
    potts_log_density,
    r_hat,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_diagnostics_do_not_depend_on_units(seed, shift, scale):
    chains = np.random.default_rng(seed).normal(size=(3, 40)).cumsum(axis=1)
    other = shift + scale * chains
    for kind in ("classic", "split", "rank"):
        assert r_hat(other, kind) == pytest.approx(r_hat(chains, kind), rel=1e-5)
    size = effective_sample_size(chains)
    assert effective_sample_size(other) == pytest.approx(size, rel=1e-5)
    found = autocorrelation(other[0])
    np.testing.assert_allclose(found, autocorrelation(chains[0]), atol=1e-6)
    assert np.abs(found).max() <= 1 + 1e-9


@given(seed=SEEDS)
def test_ranks_make_r_hat_and_bulk_size_blind_to_any_rising_bend(seed):
    chains = np.random.default_rng(seed).normal(size=(4, 30))
    bent = np.exp(chains)
    assert effective_sample_size(bent, "bulk") == pytest.approx(
        effective_sample_size(chains, "bulk")
    )


@given(weights=st.lists(st.floats(0, 10), min_size=1, max_size=6), n=st.integers(0, 50), seed=SEEDS)
def test_categories_of_weight_zero_are_never_drawn(weights, n, seed):
    if not sum(weights) > 1e-9:
        return
    drawn = categorical(weights, n, random_state=seed)
    assert len(drawn) == n
    assert all(weights[code] > 0 for code in drawn)


@given(seed=SEEDS, k=st.integers(1, 5))
def test_shares_are_positive_and_sum_to_one(seed, k):
    shares = dirichlet(np.full(k, 0.7), 20, random_state=seed)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()


@given(
    seed=SEEDS,
    beta=st.floats(-3, 3),
    q=st.integers(2, 4),
    scan=st.sampled_from(["sequential", "checkerboard"]),
)
def test_the_energy_of_a_grid_is_minus_its_log_density(seed, beta, q, scan):
    field = np.random.default_rng(seed).normal(size=(3, 4, q))
    found = potts_gibbs((3, 4), beta, 3, n_states=q, field=field, scan=scan, random_state=seed)
    log_density = potts_log_density(found.states, beta, field)
    assert found.energy[-1] == pytest.approx(-log_density, abs=1e-9)
    assert found.counts.sum() == 3 * 12
