"""Chains and Potts models against loops and arrays of NumPy, as the texts' formulas are written."""

import warnings

import numpy as np

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED
from gnomon.sample import (
    CategoricalNode,
    GaussianWalk,
    Metropolis,
    Network,
    gaussian_mixture,
    potts_gibbs,
    sample_chains,
)

MEANS = np.array([[-1.5, 0.0], [1.5, 1.0]])
SPREADS = np.array([[[1.0, 0.6], [0.6, 1.0]], [[0.6, -0.2], [-0.2, 0.6]]])


def chain(n: int):
    warnings.simplefilter("ignore")
    walk = Metropolis(GaussianWalk(1.5), adapt=False)
    target = gaussian_mixture(MEANS, SPREADS)
    return sample_chains(target, walk, n, n_warmup=0, n_chains=1, random_state=SEED).flat


def numpy_chain(n: int):
    """The loop of the text, each step in NumPy."""
    rng = np.random.default_rng(SEED)
    inverses = np.linalg.inv(SPREADS)
    factors = 0.5 / (2 * np.pi * np.sqrt(np.linalg.det(SPREADS)))

    def log_density(x):
        gaps = x - MEANS
        squares = np.einsum("ki,kij,kj->k", gaps, inverses, gaps)
        return np.log((factors * np.exp(-0.5 * squares)).sum())

    x = rng.normal(0, 2, 2)
    log_p = log_density(x)
    draws = np.empty((n, 2))
    for i in range(n):
        proposed = x + 1.5 * rng.standard_normal(2)
        log_proposed = log_density(proposed)
        if np.log(rng.random()) <= log_proposed - log_p:
            x, log_p = proposed, log_proposed
        draws[i] = x
    return draws


Duel(
    name="Metropolis on a mixture of two Gaussians in two dimensions, n steps of one chain",
    peer="NumPy loop",
    data=lambda n: n,
    ours=chain,
    theirs=numpy_chain,
    quality=lambda draws, n: -float(np.abs(draws.mean(axis=0) - MEANS.mean(axis=0)).max()),
    tolerance=1e9,  # both are random; the tests compare the law
    sizes=(10**4, 10**5),
    bar=20.0,
    repeats=3,
)

SIMPLE = {
    "A": ((), np.array([2 / 5, 3 / 5])),
    "B": (("A",), np.array([[2 / 3, 1 / 3], [3 / 7, 4 / 7]])),
    "C": (("B",), np.array([[1 / 2, 1 / 2], [1 / 3, 2 / 3]])),
}


def network_chain(n: int):
    """The simple network of 003 3.4.3.1, C observed."""
    warnings.simplefilter("ignore")
    nodes = [CategoricalNode(name, table, parents) for name, (parents, table) in SIMPLE.items()]
    drawn = Network(nodes).gibbs({"C": 0}, n, n_chains=1, n_warmup=0, random_state=SEED)
    return drawn.flat


def numpy_network_chain(n: int):
    """Gibbs by Markov blanket as the text writes it, each step in NumPy."""
    rng = np.random.default_rng(SEED)
    values = {"A": 0, "B": 0, "C": 0}
    free = ["A", "B"]

    def probability(name):
        parents, table = SIMPLE[name]
        return table[tuple(values[each] for each in (*parents, name))]

    draws = np.empty((n, 2))
    for i in range(n):
        for place in rng.permutation(2):
            name = free[place]
            children = [each for each, (parents, _) in SIMPLE.items() if name in parents]
            weights = np.empty(2)
            for value in range(2):
                values[name] = value
                weights[value] = np.prod([probability(each) for each in (name, *children)])
            values[name] = int(rng.random() * weights.sum() >= weights[0])
        draws[i] = values["A"], values["B"]
    return draws


Duel(
    name="Gibbs on the simple belief network of 003, n sweeps of one chain",
    peer="NumPy loop",
    data=lambda n: n,
    ours=network_chain,
    theirs=numpy_network_chain,
    quality=lambda draws, n: float(draws.mean()),
    tolerance=0.05,
    sizes=(10**4, 10**5),
    bar=20.0,
    repeats=3,
)

SWEEPS = 10
BETA = 0.8


def side(n: int) -> int:
    return int(np.sqrt(n))


def sweeps(n: int):
    shape = (side(n), side(n))
    drawn = potts_gibbs(shape, BETA, SWEEPS, n_states=3, scan="checkerboard", random_state=SEED)
    return drawn.states


def numpy_sweeps(n: int):
    """Checkerboard sweeps, all sites of a colour at once."""
    rng = np.random.default_rng(SEED)
    size = side(n)
    states = rng.integers(3, size=(size, size))
    colors = np.indices((size, size)).sum(axis=0) % 2
    for _ in range(SWEEPS):
        for color in (0, 1):
            same = np.zeros((3, size + 2, size + 2))
            same[:, 1:-1, 1:-1] = states == np.arange(3)[:, None, None]
            near = same[:, :-2, 1:-1] + same[:, 2:, 1:-1] + same[:, 1:-1, :-2] + same[:, 1:-1, 2:]
            weights = np.exp(BETA * near)
            line = np.cumsum(weights, axis=0)
            drawn = (rng.random((size, size)) * line[-1] > line).sum(axis=0)
            states = np.where(colors == color, drawn, states)
    return states


Duel(
    name="Potts model of three states, n sites, 10 sweeps of Gibbs",
    peer="NumPy arrays (checkerboard)",
    data=lambda n: n,
    ours=sweeps,
    theirs=numpy_sweeps,
    quality=lambda states, n: float((states[1:] == states[:-1]).mean()),
    tolerance=0.1,
    sizes=(10**4, 512**2),
    bar=10.0,
    repeats=3,
)
