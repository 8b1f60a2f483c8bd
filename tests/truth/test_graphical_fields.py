"""Markov random fields against full enumeration on random tiny ones."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError, MemoryLimitError
from gnomon.graphical import (
    BoltzmannMachine,
    DiagonalGaussian,
    FullGaussian,
    PairwiseModel,
    brute_force,
    chain_min_cost,
    denoise_binary,
    denoise_gray,
    denoise_shaded,
    forest_min_cost,
    forest_sum_product,
    free_energy,
    graph_cut,
    grid_edges,
    integer_program,
    iterated_modes,
    label_pixels,
    linear_relaxation,
    local_features,
    max_cut_model,
    mean_field,
    potts_costs,
    potts_model,
    quadratic_form,
    segment_mixture,
    variational_free_energy,
    variational_inference,
)
from gnomon.sample import Gibbs, Target, potts_gibbs, potts_log_density, sample_chains


def random_edges(rng, n, forest) -> list[tuple[int, int]]:
    if forest:
        names = rng.permutation(n)
        links = [(names[i], names[rng.integers(i)]) for i in range(1, n) if rng.random() < 0.8]
    else:
        links = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.5]
    return [(int(i), int(j)) if rng.random() < 0.5 else (int(j), int(i)) for i, j in links]


def random_model(rng, *, forest=False, forbidden=0.0, n=None, states=(1, 4)) -> PairwiseModel:
    n = n or int(rng.integers(2, 7))
    sizes = rng.integers(*states, size=n)
    unary = [rng.normal(scale=2, size=size) for size in sizes]
    edges = random_edges(rng, n, forest)
    tables = [rng.normal(scale=2, size=(sizes[i], sizes[j])) for i, j in edges]
    for table in tables:
        table[rng.random(table.shape) < forbidden] = np.inf
    return PairwiseModel(unary, edges, tables, constant=rng.normal())


def listed(model: PairwiseModel) -> tuple[np.ndarray, np.ndarray]:
    """All labellings and their costs, by the definition."""
    labels = list(itertools.product(*(range(k) for k in model.n_states)))
    costs = []
    for x in labels:
        cost = model.constant + sum(model.unary[i, a] for i, a in enumerate(x))
        for e, (i, j) in enumerate(model.edges):
            cost += model.table(e)[x[i], x[j]]
        costs.append(cost)
    return np.array(labels), np.array(costs)


def check_marginals(found, model):
    labels, costs = listed(model)
    log_normalizer = logsumexp(-costs)
    p = np.exp(-costs - log_normalizer)
    assert np.isclose(found.log_normalizer, log_normalizer, atol=1e-9)
    for i, law in enumerate(found.nodes):
        assert np.allclose(law, np.bincount(labels[:, i], p, model.n_states[i]), atol=1e-10)
    for (i, j), pair in zip(model.edges, found.pairs):
        expected = np.zeros((model.n_states[i], model.n_states[j]))
        np.add.at(expected, (labels[:, i], labels[:, j]), p)
        assert np.allclose(pair, expected, atol=1e-10)


@pytest.mark.covers("pairwise-graphical-model", "discrete-mrf", "energy-form")
def test_costs_log_normalizer_and_marginals_equal_enumeration_on_any_graph(rng):
    done = 0
    for _ in range(120):
        model = random_model(rng, forbidden=rng.choice([0.0, 0.2]))
        labels, costs = listed(model)
        assert np.allclose([model.cost(x) for x in labels], costs)
        assert np.allclose(model.all_costs().ravel(), costs)
        if np.isinf(costs).all():
            with pytest.raises(DataError, match="forbidden"):
                model.exact()
            continue
        done += 1
        check_marginals(model.exact(), model)
        table = model.enumerate().values.ravel()
        assert np.allclose(table, np.exp(-costs - logsumexp(-costs)), atol=1e-12)
        best, cost = model.exact_mode()
        assert np.isclose(cost, costs.min())
        assert np.isclose(model.cost(best), cost)
        target = model.target()
        assert np.isclose(target(labels[0]) - target(best), model.cost(best) - costs[0]) or (
            costs[0] == np.inf
        )
    assert done > 60


@pytest.mark.covers("forest-min-cost-inference", "sum-product-forest")
def test_forests_are_solved_as_by_enumeration_from_any_root(rng):
    for _ in range(150):
        model = random_model(rng, forest=True, forbidden=rng.choice([0.0, 0.15]))
        assert model.is_forest
        costs = listed(model)[1]
        root = int(rng.integers(model.n_variables))
        if np.isinf(costs).all():
            with pytest.raises(DataError, match="forbidden"):
                forest_min_cost(model, root)
            continue
        best = forest_min_cost(model, root)
        assert best.proved
        assert np.isclose(best.cost, costs.min())
        check_marginals(forest_sum_product(model, root), model)


@pytest.mark.covers("forest-min-cost-inference", "sum-product-forest")
def test_a_cycle_is_refused_with_the_remedy():
    ring = potts_model((2, 2), 1.0)
    assert not ring.is_forest
    for solve in (forest_min_cost, forest_sum_product):
        with pytest.raises(DataError, match=r"cycle.*exact"):
            solve(ring)


@pytest.mark.covers("chain-min-cost-inference")
def test_chains_are_solved_as_by_enumeration(rng):
    for _ in range(150):
        n, k = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        unary = rng.integers(-3, 4, size=(n, k)).astype(float)
        shared = rng.random() < 0.5
        steps = rng.integers(-3, 4, size=(k, k) if shared else (n - 1, k, k)).astype(float)
        steps[rng.random(steps.shape) < 0.15] = np.inf
        table = [steps if shared else steps[i] for i in range(n - 1)]
        costs = {
            x: sum(unary[i, a] for i, a in enumerate(x))
            + sum(table[i][x[i], x[i + 1]] for i in range(n - 1))
            for x in itertools.product(range(k), repeat=n)
        }
        least = min(costs.values())
        if least == np.inf:
            with pytest.raises(DataError, match="forbidden"):
                chain_min_cost(unary, steps)
            continue
        found = chain_min_cost(unary, steps)
        assert found.cost == least
        # among ties the first labelling in order
        assert tuple(found.labels) == min(x for x, cost in costs.items() if cost == least)


def test_a_long_chain_neither_overflows_nor_takes_long(rng):
    n = 3000
    chain = potts_model((1, n), 2.5, 3, unary=rng.normal(scale=200, size=(n, 3)))
    best = forest_min_cost(chain)
    steps = potts_costs(3, 2.5)
    assert np.isclose(best.cost, chain_min_cost(chain.unary, steps).cost + chain.constant)
    found = forest_sum_product(chain)
    assert np.isfinite(found.log_normalizer)
    assert np.allclose([law.sum() for law in found.nodes], 1)


@pytest.mark.covers("evidence-absorption", "pairwise-graphical-model")
def test_absorbed_evidence_leaves_the_costs_of_the_rest_as_they_were(rng):
    for _ in range(100):
        model = random_model(rng, n=5)
        known = rng.permutation(5)[: rng.integers(0, 5)]
        evidence = {int(i): int(rng.integers(model.n_states[i])) for i in known}
        rest, free = model.given(evidence)
        assert set(free) == set(range(5)) - set(evidence)
        for x in itertools.product(*(range(k) for k in rest.n_states)):
            whole = np.zeros(5, dtype=int)
            whole[free] = x
            whole[list(evidence)] = list(evidence.values())
            assert np.isclose(rest.cost(x), model.cost(whole))
    with pytest.raises(DataError, match="no value"):
        model.given({0: 99})


@pytest.mark.covers("mrf-map-quadratic-programme", "mrf-map-integer-programme", "discrete-mrf")
def test_programmes_and_searches_agree_with_brute_force(rng):
    for _ in range(25):
        model = random_model(rng, n=5, forbidden=rng.choice([0.0, 0.1]))
        labels, costs = listed(model)
        if np.isinf(costs).all():
            continue
        best = brute_force(model)
        assert np.isclose(best.cost, costs.min())
        whole = integer_program(model)
        assert whole.proved
        assert np.isclose(whole.cost, best.cost)
        tight, loose = (linear_relaxation(model, each) for each in ("marginals", "products"))
        assert loose.lower_bound - 1e-7 <= tight.lower_bound <= best.cost + 1e-7
        local = iterated_modes(model, n_init=3, random_state=rng)
        assert local.cost >= best.cost - 1e-9
        if np.isfinite(model.tables).all():
            form, linear, starts = quadratic_form(model)
            for x, cost in zip(labels, costs):
                h = np.zeros(starts[-1])
                h[starts[:-1] + x] = 1
                assert np.isclose(h @ (form @ h) / 2 + linear @ h + model.constant, cost)


@pytest.mark.covers("mrf-map-integer-programme")
def test_the_linear_programme_is_tight_on_forests(rng):
    for _ in range(15):
        model = random_model(rng, forest=True, n=5)
        assert np.isclose(linear_relaxation(model).lower_bound, forest_min_cost(model).cost)


@pytest.mark.covers("mrf-map-quadratic-programme")
def test_max_cut_is_a_case_of_the_quadratic_programme(rng):
    weights = np.triu(rng.exponential(size=(7, 7)), 1)
    weights += weights.T
    best = max(
        weights[np.ix_(side, ~side)].sum()
        for side in (np.array(each) for each in itertools.product([False, True], repeat=7))
    )
    model = max_cut_model(weights)
    assert np.isclose(-brute_force(model).cost, best)
    assert np.isclose(-iterated_modes(model, n_init=60, random_state=rng).cost, best, rtol=0.1)
    with pytest.raises(DataError, match="submodular"):
        graph_cut(model)


@pytest.mark.covers("mrf-map-quadratic-programme", "discrete-mrf")
def test_local_search_ends_where_no_single_change_helps(rng):
    for _ in range(40):
        model = random_model(rng, states=(2, 4))
        found = iterated_modes(model, rng.integers(model.n_states))
        assert np.all(np.diff(found.history) < 1e-12)
        for i, k in enumerate(model.n_states):
            for a in range(k):
                changed = found.labels.copy()
                changed[i] = a
                assert model.cost(changed) >= found.cost - 1e-9


@pytest.mark.covers("discrete-mrf", "potts-ising-model")
def test_a_graph_cut_finds_the_least_cost_of_submodular_models(rng):
    for _ in range(60):
        n = int(rng.integers(2, 8))
        edges = random_edges(rng, n, forest=False)
        tables = []
        for _ in edges:
            table = rng.normal(size=(2, 2))
            gap = table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0]
            table[0, 1] += max(gap, 0)
            tables.append(table)
        model = PairwiseModel(rng.normal(size=(n, 2)), edges, tables)
        if edges and rng.random() < 0.3:
            model.unary[0, 1] = np.inf
        best = brute_force(model)
        found = graph_cut(model)
        assert np.isclose(found.cost, best.cost, atol=1e-6)
        assert found.lower_bound <= best.cost + 1e-9


@pytest.mark.covers("potts-ising-model")
def test_potts_models_have_the_density_of_their_definition_and_the_chain_its_normalizer(rng):
    beta, k = rng.normal(), int(rng.integers(2, 4))
    for n in (1, 2, 5):
        chain = forest_sum_product(potts_model((1, n), beta, 2)).log_normalizer
        assert np.isclose(chain, np.log(2) + (n - 1) * np.log1p(np.exp(beta)))
    grid = potts_model((3, 2), beta, k)
    states = rng.integers(k, size=(3, 2))
    assert np.isclose(-grid.cost(states.ravel()), potts_log_density(states, beta))
    check_marginals(potts_model((2, 3), beta, 2).exact(), potts_model((2, 3), beta, 2))
    weights = np.zeros((4, 4))
    weights[[0, 1, 0], [1, 2, 3]] = rng.normal(size=3)
    weights += weights.T
    x = rng.integers(2, size=4)
    expected = sum(weights[i, j] * (x[i] == x[j]) for i in range(4) for j in range(i))
    assert np.isclose(-potts_model(None, 1.7, weights=weights).cost(x), 1.7 * expected)
    with pytest.raises(DataError, match="symmetric"):
        potts_model(None, 1.0, weights=np.triu(np.ones((3, 3)), 1))


@pytest.mark.covers("potts-ising-model", "discrete-mrf")
def test_exact_inference_reaches_grids_that_enumeration_cannot_and_says_its_width(rng):
    model = potts_model((8, 8), 0.4, unary=rng.normal(size=(64, 2)))
    assert 8 <= model.forecast().width <= 14
    exact = model.exact()
    # the transfer matrix of columns is another way to the same sum
    columns = np.array(list(itertools.product([0, 1], repeat=8)))
    own = 0.4 * (columns[:, 1:] == columns[:, :-1]).sum(axis=1)
    between = 0.4 * (columns[:, None, :] == columns[None, :, :]).sum(axis=2)
    unary = model.unary.reshape(8, 8, 2)
    logs = np.zeros(256)
    for row in range(8):
        single = own - np.take_along_axis(unary[row], columns.T, axis=1).sum(axis=0)
        logs = single + (logsumexp(between + logs, axis=1) if row else 0.0)
    assert np.isclose(exact.log_normalizer, logsumexp(logs))
    with gnomon.config(memory_limit=2**20), pytest.raises(MemoryLimitError, match="width"):
        potts_model((30, 30), 0.4).exact()


@pytest.mark.covers("mean-field-discrete-mrf", "variational-free-energy", "variational-inference")
def test_mean_field_bounds_the_normalizer_and_never_raises_the_free_energy(rng):
    for _ in range(80):
        model = random_model(rng)
        start = rng.choice(["data", "uniform", "random"])
        found = mean_field(model, start, random_state=rng)
        exact = -logsumexp(-listed(model)[1])
        assert found.free_energy >= exact - 1e-9
        assert np.all(np.diff(found.history) <= 1e-9 * (1 + np.abs(found.history[0])))
        assert np.allclose(found.q.sum(axis=1), 1)
        # the bound is the free energy of the product law, written out
        laws = [found.q[i, :k] for i, k in enumerate(model.n_states)]
        product = laws[0]
        for law in laws[1:]:
            product = np.multiply.outer(product, law)
        written = variational_free_energy(product / product.sum(), -model.all_costs())
        assert np.isclose(found.free_energy, written)


@pytest.mark.covers("mean-field-discrete-mrf")
def test_mean_field_is_exact_without_edges_and_quick_tables_change_nothing(rng):
    lone = PairwiseModel(rng.normal(size=(4, 3)), [], [])
    assert np.isclose(mean_field(lone).free_energy, -lone.exact().log_normalizer)
    quick = potts_model((3, 3), 0.7, 4, unary=rng.normal(size=(9, 4)))
    assert np.isfinite(quick.disagreement()).all()
    # the same costs, moved from the unary terms so that no table is Potts' any more
    tables = quick.tables + np.array([[[0.5], [0.0], [0.0], [0.0]]])
    unary = quick.unary.copy()
    np.subtract.at(unary[:, 0], quick.edges[:, 0], 0.5)
    slow = PairwiseModel(unary, quick.edges, [tables[0]], quick.constant)
    assert np.isnan(slow.disagreement()).all()
    a, b = (mean_field(each, "uniform") for each in (quick, slow))
    assert np.allclose(a.history, b.history)
    assert np.allclose(a.q, b.q, atol=1e-6)
    assert np.isclose(free_energy(quick, a.q), a.free_energy)


@pytest.mark.covers("variational-free-energy")
def test_the_free_energy_bounds_the_evidence_with_equality_at_the_posterior(rng):
    for _ in range(50):
        joint = rng.exponential(size=(3, 4)) * (rng.random((3, 4)) < 0.9)
        joint[0, 0] = 0.5
        with np.errstate(divide="ignore"):
            logs = np.log(joint)
        bound = -np.log(joint.sum())
        assert np.isclose(variational_free_energy(joint / joint.sum(), logs), bound)
        q = rng.dirichlet(np.ones(12)).reshape(3, 4)
        assert variational_free_energy(q, logs) >= bound
    with pytest.raises(DataError, match="sum to one"):
        variational_free_energy([0.5, 0.4], [0.0, 0.0])


def random_machine(rng, n=5):
    weights = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.6), 1)
    weights[0, 1] = 1.0
    return weights + weights.T, rng.normal(size=n)


@pytest.mark.covers("boltzmann-machine")
def test_a_boltzmann_machine_counts_every_pair_once(rng):
    for _ in range(40):
        weights, biases = random_machine(rng)
        machine = BoltzmannMachine(weights, biases)
        states = np.array(list(itertools.product([-1, 1], repeat=5)))
        logs = np.array([u @ np.triu(weights, 1) @ u + biases @ u for u in states])
        assert np.allclose([machine.energy(u) for u in states], -logs)
        exact = machine.exact()
        assert np.isclose(exact.log_normalizer, logsumexp(logs))
        p = np.exp(logs - logsumexp(logs))
        assert np.allclose([law[1] for law in exact.nodes], p @ (states > 0))
        rest, free = machine.given({1: 1, 3: -1})
        kept = (states[:, 1] == 1) & (states[:, 3] == -1)
        laws = rest.exact().nodes
        shares = p[kept] @ (states[kept][:, free] > 0) / p[kept].sum()
        assert np.allclose([law[1] for law in laws], shares)
    ferro = BoltzmannMachine(np.abs(weights), biases)
    lowest = min(ferro.energy(u) for u in states)
    found = ferro.mode()
    assert np.isclose(found.cost, lowest, atol=1e-6)
    assert np.isclose(ferro.energy(2 * found.labels - 1), found.cost)


@pytest.mark.covers("mean-field-boltzmann")
def test_mean_field_of_a_boltzmann_machine_settles_where_pi_is_sigmoid_of_two_s(rng):
    for _ in range(30):
        weights, biases = random_machine(rng)
        machine = BoltzmannMachine(weights, biases)
        found = machine.mean_field(
            rng.choice(["data", "uniform", "random"]), max_iter=5000, random_state=rng
        )
        assert np.all(np.diff(found.history) <= 1e-9)
        assert found.free_energy >= -machine.exact().log_normalizer - 1e-9
        if found.converged:
            pi = found.q[:, 1]
            assert np.allclose(pi, expit(2 * (weights @ (2 * pi - 1) + biases)), atol=1e-5)


@pytest.mark.covers("gibbs-sampler", "boltzmann-machine", "energy-form")
def test_gibbs_from_full_conditionals_agrees_with_enumeration(rng):
    weights, biases = random_machine(rng, 4)
    machine = BoltzmannMachine(weights / 4, biases / 2)
    exact = np.array([law[1] - law[0] for law in machine.exact().nodes])
    drawn = machine.gibbs(1500, random_state=rng).flat.mean(axis=0)
    assert np.abs(drawn - exact).max() < 0.25


@pytest.mark.covers("gibbs-sampler")
@pytest.mark.parametrize("scan", ["fixed", "random"])
def test_a_gibbs_sweep_uses_new_values_at_once(scan, rng):
    seen = []

    def raise_by_one(j):
        def conditional(x, _):
            seen.append((j, x.copy()))
            return x.sum() + 1

        return conditional

    sampler = Gibbs([raise_by_one(0), raise_by_one(1)], scan=scan)
    sampler.begin(None, np.zeros(2)).advance(3, rng)
    for (j, before), (_, after) in itertools.pairwise(seen):
        assert after[j] == before.sum() + 1
        assert after[1 - j] == before[1 - j]
    orders = [(seen[i][0], seen[i + 1][0]) for i in range(0, len(seen), 2)]
    assert all(set(order) == {0, 1} for order in orders)
    assert scan == "random" or set(orders) == {(0, 1)}


@pytest.mark.covers("gibbs-sampler")
def test_gibbs_finds_the_correlation_of_a_pair_of_normals(rng):
    rho = 0.6
    half = np.sqrt(1 - rho**2)
    for scan in ("fixed", "random"):
        sampler = Gibbs(
            [
                lambda x, g: g.normal(rho * x[1], half),
                lambda x, g: g.normal(rho * x[0], half),
            ],
            scan=scan,
        )
        starts = rng.normal(size=(4, 2))
        drawn = sample_chains(None, sampler, 2000, starts=starts, random_state=rng).flat
        assert np.abs(drawn.mean(axis=0)).max() < 0.2
        assert np.abs(np.cov(drawn.T) - [[1, rho], [rho, 1]]).max() < 0.25


def letter_image() -> np.ndarray:
    clean = np.zeros((20, 20), dtype=int)
    clean[3:17, 3:8] = 1
    clean[12:17, 3:17] = 1
    return clean


@pytest.mark.covers("binary-image-denoiser")
@pytest.mark.parametrize("method", ["mean field", "gibbs", "graph cut"])
def test_denoising_mends_most_flipped_pixels_of_a_binary_image(method, rng):
    clean = letter_image()
    noisy = np.where(rng.random(clean.shape) < 0.1, 1 - clean, clean)
    found = denoise_binary(
        noisy, coupling=0.8, fidelity=np.log(9) / 2, method=method, random_state=rng
    )
    before, after = (noisy != clean).sum(), (found.image != clean).sum()
    assert after <= max(0.6 * before, 6)
    assert set(np.unique(found.image)) <= {0, 1}
    same = denoise_binary(2 * noisy - 1, coupling=0.0, fidelity=1.0, method=method, random_state=0)
    if method != "gibbs":
        assert np.array_equal(same.image, 2 * noisy - 1)


@pytest.mark.covers("binary-image-denoiser")
def test_exact_and_approximate_denoising_have_the_posterior_of_the_energy(rng):
    image = rng.choice([-1, 1], size=(3, 3))
    a, b = 0.4, 0.7
    states = np.array(list(itertools.product([-1, 1], repeat=9)))
    edges = grid_edges(3, 3)
    energy = -a * (states[:, edges[:, 0]] * states[:, edges[:, 1]]).sum(axis=1)
    energy -= b * states @ image.ravel()
    p = np.exp(-energy - logsumexp(-energy))
    shares = (p @ (states > 0)).reshape(3, 3)
    exact = denoise_binary(image, coupling=a, fidelity=b, method="exact")
    assert np.allclose(exact.probabilities[..., 1], shares)
    cut = denoise_binary(image, coupling=a, fidelity=b, method="graph cut")
    assert np.isclose(cut.cost, energy.min(), atol=1e-6)
    drawn = denoise_binary(
        image, coupling=a, fidelity=b, method="gibbs", max_iter=6000, random_state=rng
    )
    assert np.abs(drawn.probabilities[..., 1] - shares).max() < 0.1
    with pytest.raises(DataError, match="binary image"):
        denoise_binary(rng.normal(size=(3, 3)))


def variation_cost(h, x, c, weight):
    """The definition of `denoise_shaded`, pixel by pixel."""
    total = weight * ((h - x) ** 2).sum()
    for i in range(len(h)):
        for j in range(h.shape[1]):
            below = h[i + 1, j] - h[i, j] if i + 1 < len(h) else 0.0 * h[i, j]
            right = h[i, j + 1] - h[i, j] if j + 1 < h.shape[1] else 0.0 * h[i, j]
            total += c * np.sqrt((below**2).sum() + (right**2).sum())
    return total


@pytest.mark.parametrize("shape", [(5, 4), (4, 3, 3)])
def test_shaded_images_have_the_least_cost_of_the_definition(rng, shape):
    x, c, weight = rng.normal(scale=3.0, size=shape), 2.5, 0.6
    found = denoise_shaded(x, c, weight=weight, tol=1e-7, max_iter=5000)
    assert np.isclose(found.cost, variation_cost(found.image, x, c, weight))
    flat = minimize(
        lambda h: variation_cost(h.reshape(shape), x, c, weight), found.image.ravel(), tol=1e-9
    )
    assert found.cost <= flat.fun * (1 + 1e-6)
    for _ in range(50):
        nearby = found.image + rng.normal(scale=10.0 ** rng.uniform(-4, 0), size=shape)
        assert found.cost <= variation_cost(nearby, x, c, weight) * (1 + 1e-6)


def test_two_pixels_move_towards_each_other_until_they_meet():
    for c, expected in ((0.0, [0, 10]), (4.0, [2, 8]), (10.0, [5, 5]), (30.0, [5, 5])):
        found = denoise_shaded([[0.0, 10.0]], c, tol=1e-9, max_iter=5000)
        np.testing.assert_allclose(found.image[0], expected, atol=1e-3)
    with pytest.raises(DataError, match="negative"):
        denoise_shaded([[0.0, 1.0]], -1.0)


@pytest.mark.covers("grey-level-mrf-denoiser")
def test_gray_levels_are_cleaned_by_the_cost_of_the_definition(rng):
    levels = np.array([0.0, 50.0, 100.0])
    clean = np.repeat(np.repeat([[0.0, 100.0], [50.0, 0.0]], 8, axis=0), 8, axis=1)
    noisy = clean + rng.normal(scale=20.0, size=clean.shape)
    weight = 1 / (2 * 20.0**2)
    for method in ("mean field", "modes"):
        found = denoise_gray(noisy, 1.2, levels=levels, weight=weight, method=method)
        alone = denoise_gray(noisy, 0.0, levels=levels, weight=weight, method=method)
        nearest = levels[np.abs(noisy[..., None] - levels).argmin(axis=-1)]
        assert np.array_equal(alone.image, nearest)
        assert (found.image != clean).sum() <= (alone.image != clean).sum()
        h = found.image
        cost = 1.2 * ((h[1:] != h[:-1]).sum() + (h[:, 1:] != h[:, :-1]).sum())
        assert np.isclose(found.cost, cost + weight * ((h - noisy) ** 2).sum())
        assert np.all(np.diff(found.history) <= 1e-8)
    whole = denoise_gray(np.full((3, 3), 77), 1.0)
    assert (whole.image == 77).all()
    with pytest.raises(DataError, match="negative"):
        denoise_gray(noisy, -1.0)


@pytest.mark.covers("mrf-pixel-labelling")
def test_pixels_are_labeled_better_with_neighbors_than_by_the_classifier_alone(rng):
    clean = letter_image()
    train = clean + rng.normal(scale=0.5, size=clean.shape)
    names = np.array(["ground", "letter"])
    features = local_features(train, 1)
    classifier = NaiveBayes().fit(features[..., :1].reshape(-1, 1), names[clean].ravel())
    test = (clean + rng.normal(scale=0.5, size=clean.shape))[..., None]
    alone = label_pixels(classifier, test, 0.0)
    assert np.array_equal(alone.image.ravel(), classifier.predict(test.reshape(-1, 1)))
    for method in ("mean field", "graph cut"):
        smooth = label_pixels(classifier, test, 0.7, method=method)
        assert (smooth.image != names[clean]).sum() < (alone.image != names[clean]).sum()
    cut = label_pixels(classifier, test, 0.7, method="graph cut")
    for method in ("mean field", "modes"):
        assert label_pixels(classifier, test, 0.7, method=method).cost >= cut.cost - 1e-6


@pytest.mark.covers("mrf-mixture-segmentation")
def test_a_smoothing_prior_mends_the_segments_of_a_mixture(rng):
    clean = letter_image()
    noisy = np.where(clean == 1, 2.0, 0.0) + rng.normal(scale=0.7, size=clean.shape)
    alone = segment_mixture(noisy, 2, 0.0, random_state=rng)
    smooth = segment_mixture(noisy, 2, 1.2, random_state=rng)
    assert (smooth.labels != clean).sum() <= (alone.labels != clean).sum()
    assert np.abs(smooth.means - [0, 2]).max() < 0.6
    assert np.abs(smooth.sds - 0.7).max() < 0.5


@pytest.mark.covers("mrf-mixture-segmentation", "energy-form")
def test_labels_are_drawn_from_their_law_given_the_rest(rng):
    """Gibbs over labels with field log c_k p(x | k) has the marginals of enumeration."""
    field = rng.normal(size=(2, 3, 2))
    exact = potts_model((2, 3), 0.8, unary=-field.reshape(6, 2)).exact()
    drawn = potts_gibbs((2, 3), 0.8, 8000, field=field, n_burn_in=100, random_state=rng)
    assert np.abs(drawn.marginals.reshape(6, 2) - np.array(exact.nodes)).max() < 0.08


@pytest.mark.covers("variational-inference", "variational-free-energy")
def test_a_gaussian_family_finds_a_gaussian_posterior_and_its_evidence(rng):
    for _ in range(2):
        root = rng.normal(size=(3, 3)) + 2 * np.eye(3)
        covariance, center = root @ root.T, rng.normal(size=3)
        precision = np.linalg.inv(covariance)

        def log_density(h, center=center, precision=precision):
            return -0.5 * float((h - center) @ precision @ (h - center))

        def gradient(h, center=center, precision=precision):
            return -precision @ (h - center)

        full = variational_inference(Target(log_density, 3, gradient), n_noise=64, random_state=rng)
        log_integral = 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
        assert np.isclose(full.free_energy, -log_integral, atol=1e-5)
        assert np.allclose(full.mean, center, atol=1e-2)
        assert np.allclose(full.covariance, covariance, rtol=0.02, atol=0.02 * covariance.max())
        assert np.all(np.diff(full.history) <= 1e-9)
        # independent coordinates: the right means, variances of the conditional laws
        mean_only = variational_inference(
            Target(log_density, 3, gradient), DiagonalGaussian(), n_noise=64, random_state=rng
        )
        assert mean_only.free_energy >= full.free_energy - 1e-6
        assert np.allclose(mean_only.mean, center, atol=1e-2)
        assert np.allclose(np.diag(mean_only.covariance), 1 / np.diag(precision), rtol=0.02)


@pytest.mark.covers("variational-inference")
def test_a_variational_fit_bounds_the_evidence_of_other_densities(rng):
    def log_density(h):
        return float(-0.5 * h[0] ** 2 + np.log(1 / (1 + np.exp(-3 * h[0]))))

    grid = np.linspace(-9, 9, 20_001)
    evidence = np.log(np.trapezoid(np.exp([log_density([h]) for h in grid[::10]]), grid[::10]))
    found = variational_inference(
        log_density, FullGaussian(0.5), dimension=1, n_noise=2000, random_state=rng
    )
    assert found.free_energy >= -evidence - 0.02
    assert found.free_energy <= -evidence + 0.2
    drawn = found.expectation(lambda h: h[0], 4000, random_state=rng)
    assert abs(drawn.value - found.mean[0]) < 5 * np.sqrt(found.covariance[0, 0] / 4000)


@pytest.mark.covers("pairwise-graphical-model")
def test_bad_models_are_refused():
    with pytest.raises(DataError, match="stands there twice"):
        PairwiseModel([[0, 0]] * 2, [(0, 1), (1, 0)], [np.eye(2)])
    with pytest.raises(DataError, match="with itself"):
        PairwiseModel([[0, 0]] * 2, [(1, 1)], [np.eye(2)])
    with pytest.raises(DataError, match="shape"):
        PairwiseModel([[0, 0], [0, 0, 0]], [(0, 1)], [np.eye(2)])
    with pytest.raises(DataError, match="beyond"):
        PairwiseModel([[0, 0]] * 2, [(0, 2)], [np.eye(2)])
    with pytest.raises(DataError, match="variable 1 is forbidden"):
        PairwiseModel([[0, 0], [np.inf, np.inf]], [], [])
    with pytest.raises(DataError, match="finite pairwise"):
        mean_field(PairwiseModel([[0, 0]] * 2, [(0, 1)], [[[0, np.inf], [0, 0]]]))


@pytest.mark.covers("discrete-mrf", "gibbs-sampler")
@pytest.mark.parametrize("scan", ["fixed", "random"])
def test_compiled_sweeps_have_the_marginals_of_enumeration(scan, rng):
    sizes = rng.integers(2, 4, size=5)
    edges = [(0, 1), (2, 1), (2, 3), (4, 0), (3, 1)]
    model = PairwiseModel(
        [rng.normal(size=k) for k in sizes],
        edges,
        [rng.normal(scale=0.7, size=(sizes[i], sizes[j])) for i, j in edges],
        constant=2.5,
    )
    drawn = model.gibbs(4000, scan=scan, random_state=rng)
    exact = model.exact()
    for i, k in enumerate(sizes):
        found = np.bincount(drawn.of(i).ravel().astype(int), minlength=k) / 16_000
        np.testing.assert_allclose(found, exact.nodes[i][:k], atol=0.06)
    last = drawn.draws[0, -1].astype(int)
    assert drawn.log_density[0, -1] == pytest.approx(-model.cost(last))
    again = [model.gibbs(50, random_state=7, n_jobs=jobs).draws for jobs in (1, 2)]
    np.testing.assert_array_equal(*again)


def test_sweeps_never_leave_what_is_allowed_and_say_where_no_start_is(rng):
    far = np.where(np.eye(3) > 0, 0.0, np.inf)
    chain = PairwiseModel(np.zeros((3, 3)), [(0, 1), (1, 2)], [far])
    found = quiet_gibbs(chain, 60, rng)
    assert (found.draws == found.draws[:, :, :1]).all()
    many = PairwiseModel(np.zeros((40, 3)), [(i, i + 1) for i in range(39)], [far])
    with pytest.raises(DataError, match="starts="):
        many.gibbs(10, random_state=rng)


def quiet_gibbs(model, n, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.gibbs(n, random_state=rng)
