"""Boltzmann machines, Hopfield networks, Hebbian units and spiking neurons against their theory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM as PeerRBM

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.neural import (
    BernoulliRBM,
    HopfieldNetwork,
    OjaPCA,
    firing_rate,
    hebb_step,
    integrate_and_fire,
    oja_step,
)
from gnomon.neural.hopfield import energy
from gnomon.neural.rbm import Machine


def a_machine(rng, n_hidden=3, n_visible=4, gaussian=False) -> Machine:
    return Machine(
        rng.normal(size=(n_hidden, n_visible)),
        rng.normal(size=n_hidden),
        rng.normal(size=n_visible),
        gaussian,
    )


def joint_probabilities(machine: Machine) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All states of both layers and their probabilities, by the definition of the energy."""
    k, d = machine.weights.shape
    states = np.array(list(itertools.product([0.0, 1.0], repeat=k + d)))
    h, v = states[:, :k], states[:, k:]
    score = (
        v @ machine.visible + h @ machine.hidden + np.einsum("nk,kd,nd->n", h, machine.weights, v)
    )
    weight = np.exp(score - score.max())
    return h, v, weight / weight.sum()


def mean_log_likelihood(machine: Machine, rows: np.ndarray) -> float:
    return float(np.mean(-machine.free_energy(rows)) - machine.log_partition())


def exact_gradient(machine: Machine, rows: np.ndarray) -> Machine:
    """Expectation of h v', h and v over the data less that over all states."""
    h, v, p = joint_probabilities(machine)
    data = machine.moments(rows, machine.encode(rows), np.ones(len(rows)))
    model = machine.moments(v, h, p)
    zero = Machine(*(0 * part for part in machine[:3]))
    return zero.moved(data, model, 1.0)


@pytest.mark.covers("rbm")
def test_gradient_of_a_machine_of_4_by_3_is_that_of_the_enumerated_likelihood(rng):
    machine = a_machine(rng)
    rows = rng.integers(0, 2, (6, 4)).astype(float)
    found = exact_gradient(machine, rows)
    step = 1e-5
    for part in range(3):
        for place in np.ndindex(machine[part].shape):
            values = []
            for sign in (1, -1):
                parts = [each.copy() for each in machine[:3]]
                parts[part][place] += sign * step
                values.append(mean_log_likelihood(Machine(*parts), rows))
            expected = (values[0] - values[1]) / (2 * step)
            assert found[part][place] == pytest.approx(expected, abs=1e-8)


@pytest.mark.covers("rbm")
def test_free_energy_and_log_partition_are_sums_over_all_states(rng):
    machine = a_machine(rng)
    h, v, p = joint_probabilities(machine)
    del h
    for row in np.unique(v, axis=0):
        marginal = p[(v == row).all(axis=1)].sum()
        log_p = -machine.free_energy(row[None])[0] - machine.log_partition()
        assert log_p == pytest.approx(np.log(marginal), abs=1e-12)
    wide = a_machine(rng, n_hidden=5, n_visible=3)
    turned = Machine(wide.weights.T, wide.visible, wide.hidden)
    assert wide.log_partition() == pytest.approx(turned.log_partition(), abs=1e-12)


@pytest.mark.covers("rbm")
def test_gaussian_visible_units_integrate_to_the_partition_function(rng):
    machine = a_machine(rng, n_hidden=3, n_visible=1, gaussian=True)
    grid = np.linspace(-20, 20, 200_001)[:, None]
    density = np.exp(-machine.free_energy(grid) - machine.log_partition())
    assert np.trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.covers("rbm")
def test_pseudo_likelihood_is_the_sum_of_enumerated_conditionals(rng):
    rows = rng.integers(0, 2, (30, 4)).astype(float)
    model = BernoulliRBM(3, n_iter=3, learning_rate=0.5, random_state=0).fit(rows)
    machine = model._machine()
    expected = np.zeros(len(rows))
    for i in range(4):
        other = rows.copy()
        other[:, i] = 1 - other[:, i]
        here, there = -machine.free_energy(rows), -machine.free_energy(other)
        expected += here - np.logaddexp(here, there)
    np.testing.assert_allclose(model.score_samples(rows), expected, atol=1e-12)


@pytest.mark.covers("rbm")
@pytest.mark.parametrize("options", [{}, {"persistent": False, "n_gibbs": 3}], ids=["PCD", "CD-3"])
def test_training_raises_the_enumerated_likelihood_above_independent_columns(options, rng, seed):
    pattern = np.where(rng.random((200, 1)) < 0.5, [1, 1, 0, 0], [0, 0, 1, 1])
    rows = np.where(rng.random(pattern.shape) < 0.1, 1 - pattern, pattern).astype(float)
    shares = rows.mean(axis=0)
    alone = np.mean(np.log(np.where(rows == 1, shares, 1 - shares)).sum(axis=1))
    model = BernoulliRBM(3, learning_rate=0.05, n_iter=60, random_state=seed, **options).fit(rows)
    assert model.log_likelihood(rows).mean() > alone + 0.2


@pytest.mark.covers("rbm")
def test_samples_have_the_enumerated_moments(rng, seed):
    model = BernoulliRBM(3, n_iter=1, random_state=0).fit(rng.integers(0, 2, (8, 4)))
    machine = a_machine(rng)
    model.components_, model.intercept_hidden_, model.intercept_visible_ = machine[:3]
    _, v, p = joint_probabilities(machine)
    drawn = model.sample(4000, n_steps=60, random_state=seed)
    np.testing.assert_allclose(drawn.mean(axis=0), p @ v, atol=5 * 0.5 / np.sqrt(4000))


@pytest.mark.covers("rbm")
def test_pseudo_likelihood_on_digits_is_as_good_as_scikit_learns(seed):
    rows = load_digits().data[:600] / 16
    settings = {"learning_rate": 0.06, "n_iter": 5, "random_state": seed}
    ours = BernoulliRBM(32, **settings).fit(rows)
    theirs = PeerRBM(32, **settings).fit(rows)
    of_theirs = Machine(theirs.components_, theirs.intercept_hidden_, theirs.intercept_visible_)
    copy = BernoulliRBM(32, n_iter=0).fit(rows)
    copy.components_, copy.intercept_hidden_, copy.intercept_visible_ = of_theirs[:3]
    assert ours.score_samples(rows).mean() > copy.score_samples(rows).mean() - 1.0
    np.testing.assert_allclose(copy.transform(rows), theirs.transform(rows), atol=1e-12)


@pytest.mark.covers("rbm")
def test_gaussian_units_reconstruct_standardized_columns(rng, seed):
    signs = rng.choice([-2.0, 2.0], (300, 1))
    rows = signs * np.array([1.0, 1.0, -1.0, 1.0]) + rng.normal(scale=0.3, size=(300, 4))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = BernoulliRBM(
        4, visible="gaussian", learning_rate=0.01, n_iter=40, persistent=False, random_state=seed
    ).fit(rows)
    error = np.mean((model.inverse_transform(model.transform(rows)) - rows) ** 2)
    assert error < 0.4  # variance is 1
    mean_field = BernoulliRBM(4, n_iter=5, mean_field=True, random_state=seed).fit(rows > 0)
    assert np.isfinite(mean_field.components_).all()


@pytest.mark.covers("rbm")
def test_faults_of_machines_are_named(rng):
    with pytest.warns(GnomonWarning, match="values from 0 to 1"):
        BernoulliRBM(2, n_iter=1).fit(rng.normal(size=(20, 3)))
    with pytest.raises(DataError, match="decrease learning_rate"):
        BernoulliRBM(2, visible="gaussian", learning_rate=100.0, n_iter=2000).fit(
            1e6 * rng.normal(size=(20, 3))
        )
    with pytest.raises(DataError, match="at most 20 units"):
        BernoulliRBM(30, n_iter=0).fit(rng.random((5, 30))).log_likelihood(rng.random((5, 30)))


@pytest.mark.covers("rbm")
def test_one_step_of_partial_fit_follows_another(rng):
    rows = rng.integers(0, 2, (40, 5)).astype(float)
    model = BernoulliRBM(4, learning_rate=0.5, random_state=0)
    for start in range(0, 40, 10):
        model.partial_fit(rows[start : start + 10])
    assert model.n_steps_ == 4
    assert not np.array_equal(
        model.components_, BernoulliRBM(4, random_state=0, n_iter=0).fit(rows).components_
    )


@pytest.mark.covers("hopfield-network")
def test_patterns_of_a_tenth_of_the_units_are_recalled_from_corrupted_ones(rng):
    patterns = rng.choice([-1.0, 1.0], (40, 400))
    corrupted = np.where(rng.random(patterns.shape) < 0.1, -patterns, patterns)
    network = HopfieldNetwork().fit(patterns)
    recalled = network.transform(corrupted)
    assert (recalled == patterns).mean() >= 0.95
    assert (network.energy(recalled) <= network.energy(corrupted)).all()
    projected = HopfieldNetwork(rule="pseudo-inverse").fit(patterns).transform(patterns)
    np.testing.assert_array_equal(projected, patterns)


@pytest.mark.covers("hopfield-network")
def test_recall_ends_in_a_minimum_over_single_flips(rng):
    patterns = rng.choice([-1.0, 1.0], (3, 9))
    network = HopfieldNetwork().fit(patterns)
    ends = network.transform(rng.choice([-1.0, 1.0], (50, 9)))
    lowest = network.energy(ends)
    for unit in range(9):
        flipped = ends.copy()
        flipped[:, unit] *= -1
        assert (energy(flipped, network.weights_) >= lowest - 1e-9).all()


@pytest.mark.covers("hebbian-learning")
def test_ojas_rule_finds_the_first_principal_component(rng, seed):
    turned = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    rows = rng.normal(size=(500, 5)) * [3.0, 1.5, 1.0, 0.7, 0.5] @ turned + 10.0
    model = OjaPCA(random_state=seed).fit(rows)
    first = np.linalg.svd(rows - rows.mean(axis=0))[2][0]
    weights = model.components_[0]
    assert abs(weights @ first) / np.linalg.norm(weights) >= 0.999
    assert np.linalg.norm(weights) == pytest.approx(1.0, abs=0.02)


@pytest.mark.covers("hebbian-learning")
def test_sangers_rule_finds_several_components_in_order(rng, seed):
    turned = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    rows = rng.normal(size=(800, 4)) * [4.0, 2.0, 1.0, 0.5] @ turned
    found = OjaPCA(2, max_iter=300, random_state=seed).fit(rows).components_
    expected = np.linalg.svd(rows - rows.mean(axis=0))[2][:2]
    cosines = np.abs((found * expected).sum(axis=1)) / np.linalg.norm(found, axis=1)
    assert (cosines >= 0.995).all()


@pytest.mark.covers("hebbian-learning")
def test_hebbs_rule_grows_without_bound_where_ojas_stays_at_length_one(rng):
    hebb = oja = np.array([0.6, 0.8])
    for row in rng.normal(size=(300, 2)):
        hebb, oja = hebb_step(hebb, row, 0.05), oja_step(oja, row, 0.05)
    assert np.linalg.norm(hebb) > 100
    assert 0.7 < np.linalg.norm(oja) < 1.4


@pytest.mark.covers("spiking-neuron")
def test_simulated_spikes_have_the_rate_of_the_formula():
    for current in (1.2, 2.0, 5.0):
        options = {"time_constant": 0.02, "refractory": 0.002}
        train = integrate_and_fire(np.full(50_000, current), dt=1e-4, **options)
        assert train.rate == pytest.approx(float(firing_rate(current, **options)), rel=0.02)
    assert integrate_and_fire(np.full(1000, 0.9), time_constant=0.02, dt=1e-3).rate == 0
    assert firing_rate(0.9, time_constant=0.02) == 0


@pytest.mark.covers("spiking-neuron")
def test_charge_without_a_leak_adds_up_to_the_threshold():
    train = integrate_and_fire([1, 1, 1, 1, 1, 1], 0.5)
    np.testing.assert_array_equal(train.times, [2, 4, 6])
    np.testing.assert_array_equal(train.potential, [0.5, 0, 0.5, 0, 0.5, 0])
    quiet = integrate_and_fire([[1, 1]] * 6, [0.5, -0.5])
    assert len(quiet.times) == 0
    with pytest.raises(DataError, match="threshold"):
        integrate_and_fire([1.0], threshold=0)
