"""Worked examples on sampling: 002 and 003."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gnomon.sample import (
    CategoricalNode,
    GaussianWalk,
    Metropolis,
    Network,
    Target,
    polar_normal,
    sample_chains,
)


@pytest.fixture
def w30() -> Network:
    """The network of 003 3.4.3.1; value 1 is true."""
    return Network(
        [
            CategoricalNode("A", [3 / 5, 2 / 5]),
            CategoricalNode("B", [[4 / 7, 3 / 7], [1 / 3, 2 / 3]], ("A",)),
            CategoricalNode("C", [[2 / 3, 1 / 3], [1 / 2, 1 / 2]], ("B",)),
        ]
    )


@pytest.mark.covers("gibbs-belief-network", "forward-rejection-belief-network")
def test_belief_network_of_003_section_3_4_3_1(w30, rng):
    for evidence, event, exact in (
        ({"A": 1, "C": 1}, ("B", 1), 3 / 4),
        ({"A": 0, "C": 0}, ("B", 0), 16 / 25),
        ({"C": 1}, ("A", 1), 112 / 265),
    ):
        name, value = event
        forward = w30.reject(evidence, 3000, random_state=rng)
        assert abs(forward.probability({name: value}).value - exact) < 0.06
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chains = w30.gibbs(evidence, 1500, random_state=rng)
        assert abs((chains.of(name) == value).mean() - exact) < 0.08


@pytest.mark.covers("metropolis-hastings", "mcmc-driver")
def test_metropolis_on_the_normal_target_of_003_section_3_4_4(rng):
    target = Target(lambda x: -0.5 * ((x[0] - 3) / 2) ** 2, 1)
    walk = Metropolis(GaussianWalk(4.0), adapt=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sample_chains(target, walk, 5000, random_state=rng)
    assert abs(found.flat.mean() - 3) < 0.3
    assert abs(found.flat.std() - 2) < 0.2


@pytest.mark.covers("normal-polar-sampler")
def test_three_misses_in_a_row_are_rare_in_003_section_3_2_4_2(rng):
    found = polar_normal(100_000, random_state=rng)
    assert abs(found.acceptance - np.pi / 4) < 0.02
    assert (1 - np.pi / 4) ** 3 == pytest.approx(0.00988, abs=1e-5)
    assert abs((found.values**4).mean() - 3) < 0.4
