"""Sampling in belief networks: forward with rejection, Gibbs by Markov blanket, Metropolis steps.

The joint law is the product over nodes of p(node | parents). Forward sampling draws parents before
children and keeps draws that agree with the evidence. Gibbs holds the evidence fixed and redraws
each other node from p(v | parents) times the product over children of p(child | its parents, v in
place), in a new random order each sweep; v must be put in place before the children are asked.
Nodes of a density have no list of values: they make a Metropolis step instead.

Texts: 003 3.4.3 (Gibbs), 3.4.3.1 (rejection), 3.4.4 (Metropolis; the text mixes the names of the
current and the proposed value, corrected here, and multiplies densities, which may underflow: here
they are logarithms).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.sample.chains import Chains, sample_chains
from gnomon.sample.draws import Seed
from gnomon.sample.network_kernel import flatten, gibbs_sweeps
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

RARE = 0.01  # evidence that leaves a hundredth of the draws
SWEEPS_AT_ONCE = 1024  # bounds the memory of the random numbers
BEST_ACCEPTANCE = 0.44  # optimal in one dimension (Roberts et al. 1997)


@dataclass(frozen=True)
class CategoricalNode:
    """A node with values 0, 1, 2 ..., and a table of their probabilities.

    Attributes
    ----------
    name : str
    table : array-like
        One axis for each parent, in order, and a last one for the values.
    parents : tuple of str

    Examples
    --------
    >>> rain = CategoricalNode("rain", [0.8, 0.2])
    >>> wet = CategoricalNode("wet", [[1.0, 0.0], [0.1, 0.9]], ("rain",))
    """

    name: str
    table: Any
    parents: tuple[str, ...] = ()

    def __post_init__(self):
        table = np.asarray(self.table, dtype=np.float64)
        object.__setattr__(self, "table", table)
        if table.ndim != len(self.parents) + 1:
            raise DataError(
                f"the table of {self.name!r} has {table.ndim} axes; it needs one for each of the "
                f"{len(self.parents)} parents and one for its values"
            )
        if (table < 0).any() or not np.allclose(table.sum(axis=-1), 1, atol=1e-9):
            raise DataError(f"the probabilities of {self.name!r} must sum to 1 in every row")

    @property
    def n_values(self) -> int:
        return self.table.shape[-1]

    def row(self, given: Sequence[float]) -> np.ndarray:
        """Probabilities of the values, given those of the parents."""
        return self.table[tuple(int(value) for value in given)]

    def draw(self, given: Sequence[float], rng: np.random.Generator) -> float:
        line = np.cumsum(self.row(given))
        return float(min(np.searchsorted(line, rng.random() * line[-1], "right"), len(line) - 1))

    def log_density(self, value: float, given: Sequence[float]) -> float:
        if value != int(value) or not 0 <= value < self.n_values:
            return -np.inf
        probability = self.row(given)[int(value)]
        return float(np.log(probability)) if probability > 0 else -np.inf


@dataclass(frozen=True)
class DensityNode:
    """A node of real or whole numbers, by a density and a way to draw from it.

    Attributes
    ----------
    name : str
    density : callable
        ``density(value, *parents)``: logarithm of the density (of the probability, for whole
        numbers).
    generate : callable
        ``generate(rng, *parents)`` draws a value.
    parents : tuple of str
    whole : bool
        Whether values are whole numbers.
    step : float
        Standard deviation of the Metropolis proposal; adapted in the warm-up.

    Examples
    --------
    >>> height = DensityNode("height", lambda v: -0.5 * v * v, lambda rng: rng.normal())
    """

    name: str
    density: Callable[..., float]
    generate: Callable[..., float]
    parents: tuple[str, ...] = ()
    whole: bool = False
    step: float = 1.0

    def draw(self, given: Sequence[float], rng: np.random.Generator) -> float:
        return float(self.generate(rng, *given))

    def log_density(self, value: float, given: Sequence[float]) -> float:
        return float(self.density(value, *given))


Node = CategoricalNode | DensityNode


@dataclass(frozen=True)
class ForwardSample:
    """Draws of all nodes that agree with the evidence.

    Attributes
    ----------
    draws : dict of ndarray
        By the nodes' names.
    n_tried : int
    acceptance : Estimate
        Share of forward draws that agreed.
    """

    draws: dict[str, np.ndarray]
    n_tried: int
    acceptance: Estimate

    def probability(self, event: Mapping[str, float]) -> Estimate:
        """Share of the draws in which nodes have the given values, with its interval.

        Parameters
        ----------
        event : mapping of name to value

        Returns
        -------
        share : Estimate
        """
        hits = np.ones(len(next(iter(self.draws.values()))), dtype=bool)
        for name, value in event.items():
            hits &= self.draws[name] == value
        return share_interval(hits.sum(), len(hits))


@dataclass(frozen=True)
class Network:
    """A belief network to sample from: nodes, each with its parents.

    Attributes
    ----------
    nodes : sequence of CategoricalNode or DensityNode
        In any order; cycles and unknown parents are refused.

    Examples
    --------
    >>> net = Network([CategoricalNode("rain", [0.8, 0.2]),
    ...                CategoricalNode("wet", [[0.9, 0.1], [0.2, 0.8]], ("rain",))])
    >>> found = net.gibbs({"wet": 1}, 2000, random_state=0)
    >>> bool(abs(found.of("rain").mean() - 2 / 3) < 0.1)
    True
    """

    nodes: Sequence[Node]
    order: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self):
        names = [node.name for node in self.nodes]
        if len(set(names)) < len(names):
            raise DataError(f"two nodes have one name among {names}")
        for node in self.nodes:
            for parent in node.parents:
                if parent not in names:
                    raise DataError(f"{node.name!r} has the parent {parent!r}, which is not a node")
        object.__setattr__(self, "order", self._sorted())

    def _sorted(self) -> tuple[str, ...]:
        """Parents before children."""
        done: list[str] = []
        waiting = list(self.nodes)
        while waiting:
            ready = [node for node in waiting if all(parent in done for parent in node.parents)]
            if not ready:
                names = ", ".join(repr(node.name) for node in waiting)
                raise DataError(f"the network has a cycle among {names}; remove a link")
            done += [node.name for node in ready]
            waiting = [node for node in waiting if node not in ready]
        return tuple(done)

    def node(self, name: str) -> Node:
        """A node by its name."""
        found = next((node for node in self.nodes if node.name == name), None)
        if found is None:
            known = ", ".join(node.name for node in self.nodes)
            raise DataError(f"there is no node {name!r}; there are {known}")
        return found

    def log_density(self, values: Mapping[str, float]) -> float:
        """Logarithm of the joint density of values of all nodes."""
        return float(
            sum(
                node.log_density(values[node.name], [values[parent] for parent in node.parents])
                for node in self.nodes
            )
        )

    def forward(self, rng: np.random.Generator) -> dict[str, float]:
        """One draw of all nodes, parents first."""
        values: dict[str, float] = {}
        for name in self.order:
            node = self.node(name)
            values[name] = node.draw([values[parent] for parent in node.parents], rng)
        return values

    def reject(
        self,
        evidence: Mapping[str, float],
        n: int,
        *,
        most_tried: int = 1_000_000,
        random_state: Seed = None,
    ) -> ForwardSample:
        """Forward draws that agree with the evidence.

        Independent draws of the posterior; a warning says when nearly all are thrown away, as for
        rare evidence. Evidence on a density of real numbers never agrees and is refused.

        Parameters
        ----------
        evidence : mapping of name to value
        n : int
        most_tried : int, default=10**6
        random_state : int, Generator or None

        Returns
        -------
        sample : ForwardSample
        """
        for name in evidence:
            node = self.node(name)
            if isinstance(node, DensityNode) and not node.whole:
                raise DataError(
                    f"{name!r} is a real number: no draw ever equals the evidence. Use gibbs()"
                )
        rng = np.random.default_rng(random_state)
        kept: list[dict[str, float]] = []
        tried = 0
        while len(kept) < n:
            if tried >= most_tried:
                raise DataError(
                    f"{len(kept):,} of {tried:,} draws agree with the evidence, which is too rare "
                    "for rejection. Use gibbs()"
                )
            values = self.forward(rng)
            tried += 1
            if all(values[name] == value for name, value in evidence.items()):
                kept.append(values)
        acceptance = share_interval(len(kept), tried)
        if acceptance.value < RARE:
            warnings.warn(
                f"{100 * acceptance.value:.2g} % of the draws agree with the evidence; gibbs() "
                "wastes none",
                GnomonWarning,
                stacklevel=2,
            )
        draws = {name: np.array([each[name] for each in kept]) for name in self.order}
        return ForwardSample(draws, tried, acceptance)

    def gibbs(
        self,
        evidence: Mapping[str, float] | None = None,
        n_draws: int = 1000,
        *,
        n_chains: int = 4,
        n_warmup: int = 200,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> Chains:
        """Chains over the nodes that are not observed: Gibbs for categories, Metropolis for others.

        A network of categories alone runs compiled, and its chains side by side.

        Parameters
        ----------
        evidence : mapping of name to value, default=None
        n_draws : int, default=1000
        n_chains : int, default=4
        n_warmup : int, default=200
            The widths of Metropolis steps are adapted here, then kept.
        random_state : int, Generator or None
        n_jobs : int or None, default=None
            Threads; the draws do not depend on it.

        Returns
        -------
        chains : Chains
            Coordinates are the free nodes.
        """
        held = dict(evidence or {})
        for name in held:
            self.node(name)
        free = [name for name in self.order if name not in held]
        if not free:
            raise DataError("every node is observed; there is nothing to draw")
        rng = np.random.default_rng(random_state)
        starts = [self._start(held, free, rng) for _ in range(n_chains)]
        target = Target(
            lambda x: self.log_density(held | dict(zip(free, x))), len(free), names=tuple(free)
        )
        return sample_chains(
            target,
            NetworkSampler(self, held, tuple(free)),
            n_draws,
            starts=starts,
            n_warmup=n_warmup,
            random_state=rng,
            n_jobs=n_jobs,
        )

    def _start(self, held: dict, free: list[str], rng: np.random.Generator) -> list[float]:
        """Forward draws with the evidence put in, until one is possible."""
        for _ in range(10_000):
            values: dict[str, float] = {}
            for name in self.order:
                node = self.node(name)
                given = [values[parent] for parent in node.parents]
                values[name] = held[name] if name in held else node.draw(given, rng)
            if self.log_density(values) > -np.inf:
                return [values[name] for name in free]
        raise DataError(f"the evidence {held} has probability zero, or nearly so: no start found")


@dataclass(frozen=True)
class NetworkSampler(Sampler):
    """Sweeps over the free nodes of a network, in a new random order each time."""

    network: Network
    evidence: dict[str, float]
    free: tuple[str, ...]

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        if all(isinstance(node, CategoricalNode) for node in self.network.nodes):
            return CategoryWalker(self, target, start)
        return NetworkWalker(self, target, start)


class CategoryWalker(Walker):
    """A running chain over the free nodes of a network of categories, compiled."""

    def __init__(self, sampler: NetworkSampler, target: Target | None, start: np.ndarray):
        super().__init__(target, start)
        nodes = list(sampler.network.nodes)
        place = {node.name: i for i, node in enumerate(nodes)}
        self.flat = flatten(nodes, place)
        self.free = np.array([place[name] for name in sampler.free], dtype=np.int64)
        held = sampler.evidence | dict(zip(sampler.free, self.x.tolist()))
        self.values = np.array([int(held[node.name]) for node in nodes], dtype=np.int64)

    def advance(self, n: int, rng: np.random.Generator):
        draws, logs = np.empty((n, len(self.free))), np.empty(n)
        for begin in range(0, n, SWEEPS_AT_ONCE):
            part = slice(begin, min(begin + SWEEPS_AT_ONCE, n))
            shape = draws[part].shape
            orders = rng.random(shape).argsort(axis=1)
            uniforms = rng.random(shape)
            gibbs_sweeps(
                self.values, self.free, orders, uniforms, self.flat, draws[part], logs[part]
            )
        return self.moved(draws, logs, n)


class NetworkWalker(Walker):
    """A running chain over the free nodes of a network."""

    def __init__(self, sampler: NetworkSampler, target: Target | None, start: np.ndarray):
        super().__init__(target, start)
        network = sampler.network
        self.free = sampler.free
        self.values = sampler.evidence | dict(zip(self.free, self.x.tolist()))
        self.nodes = {name: network.node(name) for name in self.free}
        self.children = {
            name: [node for node in network.nodes if name in node.parents] for name in self.free
        }
        self.steps = {
            name: node.step for name, node in self.nodes.items() if isinstance(node, DensityNode)
        }

    def blanket(self, name: str, value: float) -> float:
        """log p(value | Markov blanket) up to a constant; the value is put in place first."""
        before = self.values[name]
        self.values[name] = value
        total = 0.0
        for node in (self.nodes[name], *self.children[name]):
            total += node.log_density(
                self.values[node.name], [self.values[parent] for parent in node.parents]
            )
            if total == -np.inf:
                break
        self.values[name] = before
        return total

    def warm_up(self, n: int, rng: np.random.Generator) -> None:
        for i in range(1, n + 1):
            accepted = self._sweep(rng)
            for name, taken in accepted.items():
                self.steps[name] *= float(np.exp((taken - BEST_ACCEPTANCE) / np.sqrt(i)))

    def advance(self, n: int, rng: np.random.Generator):
        draws, logs = np.empty((n, len(self.free))), np.empty(n)
        accepted = 0.0
        for i in range(n):
            taken = self._sweep(rng)
            accepted += (len(self.free) - len(taken) + sum(taken.values())) / len(self.free)
            draws[i] = [self.values[name] for name in self.free]
            logs[i] = self.target(draws[i])
        return self.moved(draws, logs, accepted)

    def _sweep(self, rng: np.random.Generator) -> dict[str, bool]:
        """Redraw every free node once; whether the Metropolis steps were accepted."""
        accepted = {}
        for place in rng.permutation(len(self.free)):
            name = self.free[place]
            node = self.nodes[name]
            if isinstance(node, CategoricalNode):
                logs = np.array([self.blanket(name, value) for value in range(node.n_values)])
                weights = np.exp(logs - logs.max())
                line = np.cumsum(weights)
                found = np.searchsorted(line, rng.random() * line[-1], "right")
                self.values[name] = float(min(found, node.n_values - 1))
            else:
                accepted[name] = self._metropolis(name, node, rng)
        return accepted

    def _metropolis(self, name: str, node: DensityNode, rng: np.random.Generator) -> bool:
        current = self.values[name]
        proposed = current + self.steps[name] * rng.standard_normal()
        if node.whole:
            proposed = float(np.floor(proposed + 0.5))
        change = self.blanket(name, proposed) - self.blanket(name, current)
        taken = bool(np.log1p(-rng.random()) <= change)
        if taken:
            self.values[name] = proposed
        return taken
