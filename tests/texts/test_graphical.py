"""Worked examples of the texts on belief networks and Markov random fields."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

from gnomon.graphical import (
    BeliefNetwork,
    BoltzmannMachine,
    JointTable,
    PairwiseModel,
    chain_min_cost,
    denoise_gray,
    forest_sum_product,
    potts_costs,
    potts_model,
    read_bif,
)

DATA = Path(__file__).parents[3] / "shared" / "data"


def chain_of_three() -> BeliefNetwork:
    return BeliefNetwork(
        {"A": "tf", "B": "tf", "C": "tf"},
        {"B": ["A"], "C": ["B"]},
        {
            "A": [2 / 5, 3 / 5],
            "B": [[2 / 3, 1 / 3], [3 / 7, 4 / 7]],
            "C": [[1 / 2, 1 / 2], [1 / 3, 2 / 3]],
        },
    )


@pytest.mark.covers("exact-inference-enumeration", "belief-network")
def test_the_simple_network_of_003_section_3_4_3_1_answers_as_printed():
    net = chain_of_three()
    for ask in (net.query, net.enumerate):
        assert np.isclose(ask("B", A="t", C="t").probability(B="t"), 0.75)
        assert np.isclose(ask("B", A="f", C="f").probability(B="f"), 0.64)


@pytest.mark.covers("exact-inference-enumeration")
def test_sampling_the_simple_network_of_003_agrees_with_the_exact_answer(rng):
    chains = chain_of_three().sampler().gibbs({"A": 0, "C": 0}, 1000, random_state=rng)
    assert abs((chains.of("B") == 0).mean() - 0.75) < 0.06


@pytest.mark.covers("belief-network", "joint-table", "conditional-independence-check")
def test_a_chain_makes_its_ends_independent_given_the_middle_and_the_order_is_not_unique():
    joint = chain_of_three().joint()
    assert joint.independence("A", "C", "B").holds
    assert not joint.independence("A", "C").holds
    # the same joint, factored the other way round (002: the order is not unique)
    turned = BeliefNetwork(
        joint.levels,
        {"B": ["C"], "A": ["B"]},
        {
            "C": joint.marginal("C").values,
            "B": np.array([joint.condition(C=c).marginal("B").values for c in "tf"]),
            "A": np.array([joint.condition(B=b).marginal("A").values for b in "tf"]),
        },
    )
    assert np.allclose(turned.joint().marginal("A", "B", "C").values, joint.values)


@pytest.mark.covers("joint-table")
def test_nuisance_variables_are_summed_out_after_conditioning_as_in_001_section_15_1():
    counts = np.arange(1.0, 13).reshape(2, 3, 2)
    joint = JointTable(counts, {"X": (0, 1), "Y": (0, 1, 2), "Z": (0, 1)})
    expected = counts[:, :, 1].sum(axis=1) / counts[:, :, 1].sum()
    assert np.allclose(joint.condition(Z=1).marginalize("Y").values, expected)


@pytest.mark.covers("chain-min-cost-inference", "sum-product-forest")
def test_the_mended_recursions_of_000_section_14_count_every_cost_once(rng):
    """Printed, V of the first position would count twice, or exp(-V_1) would be missing from K."""
    unary, step = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    costs = [
        unary[range(4), x].sum() + step[x[:-1], x[1:]].sum()
        for x in map(np.array, itertools.product(range(3), repeat=4))
    ]
    assert np.isclose(chain_min_cost(unary, step).cost, min(costs))
    model = PairwiseModel(unary, [(i, i + 1) for i in range(3)], [step])
    assert np.isclose(forest_sum_product(model).log_normalizer, logsumexp(-np.array(costs)))


@pytest.mark.covers("potts-ising-model")
def test_the_free_chain_of_002_has_the_normalizer_two_times_one_plus_e_to_beta():
    for n, beta in ((2, 0.3), (6, -1.0), (9, 2.0)):
        z = forest_sum_product(potts_model((1, n), beta)).log_normalizer
        assert np.isclose(z, np.log(2 * (1 + np.exp(beta)) ** (n - 1)))


@pytest.mark.covers("boltzmann-machine", "energy-form")
def test_the_four_nodes_of_000_figure_15_1_have_sixteen_states_that_sum_to_one():
    ring = np.zeros((4, 4))
    for i in range(4):
        ring[i, (i + 1) % 4] = ring[(i + 1) % 4, i] = 0.8
    machine = BoltzmannMachine(ring)
    log_z = machine.exact().log_normalizer
    states = list(itertools.product([-1, 1], repeat=4))
    p = [np.exp(-machine.energy(u) - log_z) for u in states]
    assert len(p) == 16
    assert np.isclose(sum(p), 1)
    # agreement is favoured: all equal are the two likeliest states
    assert {states[i] for i in np.argsort(p)[-2:]} == {(-1,) * 4, (1,) * 4}


@pytest.mark.covers("grey-level-mrf-denoiser", "potts-ising-model")
def test_the_potts_matrix_of_000_example_15_2_charges_for_difference_and_not_for_agreement():
    assert potts_costs(3, 2.0).tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    image = np.full((5, 5), 10.0)
    image[2, 2] = 12.0
    assert (denoise_gray(image, 2.0, levels=np.arange(8, 15)).image == 10).all()
    assert denoise_gray(image, 0.1, levels=np.arange(8, 15)).image[2, 2] == 12


@pytest.mark.slow
@pytest.mark.covers("belief-network")
@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_public_networks_are_read_and_elimination_agrees_with_the_junction_tree(name, rng):
    path = DATA / f"{name}.bif"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    network = read_bif(path)
    drawn = network.simulate(1, rng)
    given = rng.permutation(network.names)[:3].tolist()
    evidence = {each: drawn[each][0] for each in given}
    laws = network.marginals(**evidence)
    for each in rng.permutation([n for n in network.names if n not in given])[:6].tolist():
        assert np.allclose(network.query(each, **evidence).values, laws[each], atol=1e-9)
    best = network.most_probable(**evidence)
    score = network.log_probability(**best, **evidence)
    for _ in range(20):
        other = network.simulate(1, rng)
        rival = {each: other[each][0] for each in best}
        assert network.log_probability(**rival, **evidence) <= score + 1e-9


@pytest.mark.slow
@pytest.mark.covers("belief-network")
def test_the_asia_network_gives_the_textbook_answer():
    path = DATA / "asia.bif"
    if not path.exists():
        pytest.skip("asia.bif is not there")
    network = read_bif(path)
    exact = network.enumerate("tub", dysp="yes", asia="yes")
    assert np.allclose(network.query("tub", dysp="yes", asia="yes").values, exact.values)
    assert np.isclose(network.query("either").probability(either="yes"), 0.064828)
