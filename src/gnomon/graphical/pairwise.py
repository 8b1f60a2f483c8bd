"""Pairwise models: discrete Markov random fields of unary and pairwise costs.

    cost(x) = sum_i psi_i(x_i) + sum over edges (i, j) of phi_ij(x_i, x_j),
    p(x) = exp(-cost(x)) / Z

Each edge is counted once. Costs are what is to be small; a term theta of a log density is the cost
-theta. An infinite cost forbids a value or a pair. Observed variables are absorbed: an edge with
one known end becomes a unary cost of the other end, one with two known ends a constant.

Texts: 000 14.1.2 (pairwise models, conditioning), 15.1 (fields, one-hot form) · 002 "Markov random
fields", "Energy form", "Potts and Ising models". 000 15.1.3 prints costs with the signs of log
densities and the Potts matrix as cI, which would reward disagreement; here it is c (1 1' - I).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import Saved
from gnomon.engine.renamed import former_attributes
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Number
from gnomon.graphical.elimination import (
    Calibrated,
    EliminationPlan,
    Factor,
    calibrate,
    most_probable,
    plan,
)
from gnomon.graphical.joint import JointTable, check_cells
from gnomon.graphical.pairwise_gibbs import PairwiseSampler
from gnomon.sample.chains import Chains, sample_chains
from gnomon.sample.draws import Seed
from gnomon.sample.target import Target


@former_attributes(neighbours="neighbors")
@storable
class PairwiseModel(Saved):
    """A discrete Markov random field: unary and pairwise cost tables on any graph.

    Use it for labels that lean on each other: pixels, parts, positions. Exact answers on forests of
    any size (`forest_min_cost`, `forest_sum_product`) and on graphs of small width (`exact`);
    otherwise `iterated_modes`, `graph_cut`, `mean_field`, or Gibbs.

    Texts: 000 14.1.2, 15.1.2, where u_i' Theta u_j is the entry of a table at one-hot values.

    Parameters
    ----------
    unary : sequence of array-like
        ``unary[i][a]``: cost of value a of variable i. Lengths may differ.
    edges : sequence of pair of int
        Each pair once, in either direction.
    tables : sequence of array-like
        Cost tables (values of i, values of j): one for all edges, or one for each.
    constant : float, default=0
        Added to every cost; where evidence goes that touches nothing else.

    Attributes
    ----------
    unary : ndarray of shape (n, k)
        Infinite where a variable has fewer than k values.
    n_states : ndarray of shape (n,)
    edges : ndarray of shape (m, 2)
    tables : ndarray of shape (t, k, k)
        Zero beyond the values of a pair.
    table_of_edge : ndarray of shape (m,)
    constant : float

    Examples
    --------
    >>> pair = PairwiseModel([[0.0, 1.0], [2.0, 0.0]], [(0, 1)], [potts_costs(2, 0.5)])
    >>> pair.cost([0, 1])
    0.5
    """

    _stored = {
        "n_states": Array("i8", ("n_variables",), low=1),
        "unary": Array("f8", ("n_variables", "most_states"), finite=False),
        "edges": Array("i8", ("n_edges", 2), low=0, below="n_variables"),
        "tables": Array("f8", ("n_tables", "most_states", "most_states"), finite=False),
        "table_of_edge": Array("i8", ("n_edges",), low=0, below="n_tables"),
        "constant": Number(),
    }

    def __init__(
        self,
        unary: Sequence[ArrayLike] | np.ndarray,
        edges: Sequence[tuple[int, int]] | np.ndarray,
        tables: Sequence[ArrayLike],
        constant: float = 0.0,
    ):
        rows = [np.asarray(each, dtype=np.float64) for each in unary]
        if not rows or any(row.ndim != 1 or len(row) < 1 for row in rows):
            raise DataError("unary must hold a list of costs for each variable, one at least")
        self.n_states = np.array([len(row) for row in rows], dtype=np.int64)
        largest = int(self.n_states.max())
        self.unary = np.full((len(rows), largest), np.inf)
        for i, row in enumerate(rows):
            self.unary[i, : len(row)] = row
        self.edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
        costs = [np.asarray(each, dtype=np.float64) for each in tables]
        shared = len(costs) == 1
        if not shared and len(costs) != len(self.edges):
            raise DataError(
                f"{len(costs)} tables for {len(self.edges)} edges; give one for all or one for each"
            )
        self.table_of_edge = (
            np.zeros(len(self.edges), dtype=np.int64) if shared else np.arange(len(self.edges))
        )
        self.tables = np.zeros((max(len(costs), 1), largest, largest))
        self.constant = float(constant)
        self._check_edges()
        for t, table in enumerate(costs):
            self._put_table(t, table, shared)
        self._check_costs()

    def _check_loaded(self) -> None:
        n, largest = self.unary.shape
        fits = (
            self.n_states.shape == (n,)
            and self.edges.shape == (len(self.edges), 2)
            and self.tables.shape[1:] == (largest, largest)
            and self.table_of_edge.shape == (len(self.edges),)
            and (self.n_states >= 1).all()
            and (self.n_states <= largest).all()
            and np.isin(self.table_of_edge, np.arange(len(self.tables))).all()
        )
        if not fits:
            raise DataError("the arrays of the pairwise model do not fit together")
        self._check_edges()
        self._check_costs()

    def _check_edges(self) -> None:
        if not len(self.edges):
            return
        if self.edges.min() < 0 or self.edges.max() >= len(self.unary):
            raise DataError(f"an edge names a variable beyond 0 to {len(self.unary) - 1}")
        if (self.edges[:, 0] == self.edges[:, 1]).any():
            raise DataError("an edge joins a variable with itself; add its cost to the unary one")
        n = len(self.unary)
        numbers = np.sort(self.edges.min(axis=1) * n + self.edges.max(axis=1))
        again = numbers[1:][numbers[1:] == numbers[:-1]]
        if len(again):
            twice = (int(again[0] // n), int(again[0] % n))
            raise DataError(f"the edge {twice} stands there twice; each pair is counted once")

    def _put_table(self, t: int, table: np.ndarray, shared: bool) -> None:
        edges = self.edges if shared else self.edges[t : t + 1]
        wanted = self.n_states[edges]
        misfit = (wanted != table.shape).any(axis=1) if table.ndim == 2 else np.ones(len(edges))
        if misfit.any():
            e = int(misfit.argmax())
            raise DataError(
                f"the table of the edge {tuple(edges[e].tolist())} has the shape {table.shape}; "
                f"its ends have {tuple(wanted[e].tolist())} values"
            )
        if table.ndim != 2 or max(table.shape) > self.tables.shape[1]:
            raise DataError(f"the table of an edge has the shape {table.shape}")
        self.tables[t, : table.shape[0], : table.shape[1]] = table

    def _check_costs(self) -> None:
        for values, what in ((self.unary, "unary"), (self.tables, "pairwise")):
            if np.isnan(values).any() or (values == -np.inf).any():
                raise DataError(f"{what} costs are numbers, or plus infinity for what is forbidden")
        forbidden = np.isinf(self.unary).all(axis=1)
        if forbidden.any():
            raise DataError(f"every value of variable {int(forbidden.argmax())} is forbidden")

    @classmethod
    def _of(cls, unary, n_states, edges, tables, table_of_edge, constant) -> PairwiseModel:
        """From arrays that already fit together."""
        made = cls.__new__(cls)
        made.unary, made.n_states, made.edges = unary, n_states, edges
        made.tables, made.table_of_edge = tables, table_of_edge
        made.constant = float(constant)
        return made

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.unary)

    @property
    def is_forest(self) -> bool:
        """Whether the graph has no cycle."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n, m = self.n_variables, len(self.edges)
        graph = coo_array((np.ones(m), (self.edges[:, 0], self.edges[:, 1])), shape=(n, n))
        return n - connected_components(graph, directed=False)[0] == m

    def table(self, edge: int) -> np.ndarray:
        """Cost table of an edge, first end along the rows."""
        i, j = self.edges[edge]
        return self.tables[self.table_of_edge[edge], : self.n_states[i], : self.n_states[j]]

    def checked(self, labels: ArrayLike) -> np.ndarray:
        """Labels as a writable array, refused where they do not fit the model."""
        found = np.array(labels, dtype=np.int64)
        if found.shape != (self.n_variables,):
            raise DataError(f"{found.shape} labels for {self.n_variables} variables")
        if (found < 0).any() or (found >= self.n_states).any():
            place = int(((found < 0) | (found >= self.n_states)).argmax())
            raise DataError(f"variable {place} has no value {found[place]}")
        return found

    def cost(self, labels: ArrayLike) -> float:
        """Cost of one value for each variable: the energy H, and -log p up to log Z.

        Parameters
        ----------
        labels : array-like of int of shape (n,)

        Returns
        -------
        cost : float
        """
        x = self.checked(labels)
        ends = x[self.edges]
        pairs = self.tables[self.table_of_edge, ends[:, 0], ends[:, 1]].sum()
        return float(self.unary[np.arange(len(x)), x].sum() + pairs + self.constant)

    def target(self) -> Target:
        """log p up to a constant, for the samplers of `gnomon.sample` (energy form).

        Returns
        -------
        target : Target
            Of points whose coordinates are values as numbers.
        """
        return Target(lambda x: -self.cost(np.asarray(x).astype(np.int64)), self.n_variables)

    def gibbs(
        self,
        n_draws: int,
        *,
        n_chains: int = 4,
        n_warmup: int = 200,
        starts: ArrayLike | None = None,
        scan: str = "fixed",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> Chains:
        """Chains over all variables, each redrawn from its law given its neighbours.

        Use it where the width forbids `exact`. Strong couplings mix slowly: look at R-hat.

        Parameters
        ----------
        n_draws : int
            Kept sweeps of each chain.
        n_chains : int, default=4
        n_warmup : int, default=200
        starts : array-like of int of shape (n_chains, n), default=None
            Drawn at random, among values of finite cost, where None.
        scan : {"fixed", "random"}, default="fixed"
        random_state : int, Generator or None
        n_jobs : int or None, default=None
            Threads; the draws do not depend on it.

        Returns
        -------
        chains : Chains

        Examples
        --------
        >>> pair = PairwiseModel([[0.0, 1.0], [2.0, 0.0]], [(0, 1)], [potts_costs(2, 0.5)])
        >>> drawn = pair.gibbs(2000, random_state=0).of(0).mean()
        >>> bool(abs(drawn - pair.exact().nodes[0][1]) < 0.05)
        True
        """
        rng = np.random.default_rng(random_state)
        points = self._starts(n_chains, rng) if starts is None else starts
        return sample_chains(
            self.target(),
            PairwiseSampler(self, scan),
            n_draws,
            starts=points,
            n_warmup=n_warmup,
            random_state=rng,
            n_jobs=n_jobs,
        )

    def _starts(self, n_chains: int, rng: np.random.Generator) -> np.ndarray:
        points = np.empty((n_chains, self.n_variables))
        for chain in range(n_chains):
            for _ in range(1000):
                points[chain] = rng.integers(self.n_states)
                if np.isfinite(self.cost(points[chain].astype(np.int64))):
                    break
            else:
                raise DataError(
                    "of 1,000 random starts none has a finite cost: so much is forbidden. Give "
                    "starts=, such as the labels of iterated_modes or forest_min_cost"
                )
        return points

    def given(self, evidence: Mapping[int, int]) -> tuple[PairwiseModel, np.ndarray]:
        """Absorb known values: the model of the other variables, same costs.

        Parameters
        ----------
        evidence : mapping of int to int
            Variable to value.

        Returns
        -------
        model : PairwiseModel
        free : ndarray of int
            Which variables its variables are.

        Examples
        --------
        >>> pair = PairwiseModel([[0.0, 1.0], [2.0, 0.0]], [(0, 1)], [potts_costs(2, 0.5)])
        >>> rest, free = pair.given({1: 1})
        >>> rest.unary.tolist(), rest.constant, free.tolist()
        ([[0.5, 1.0]], 0.0, [0])
        """
        n = self.n_variables
        value = np.full(n, -1, dtype=np.int64)
        for i, each in evidence.items():
            if not 0 <= i < n or not 0 <= each < self.n_states[i]:
                raise DataError(f"variable {i} has no value {each} in this model")
            value[i] = each
        free = np.flatnonzero(value < 0)
        if not len(free):
            raise DataError("every variable is known; cost(labels) is all there is to say")
        unary = self.unary.copy()
        known = np.flatnonzero(value >= 0)
        constant = self.constant + float(unary[known, value[known]].sum())
        known_end = value[self.edges] >= 0
        both = known_end.all(axis=1)
        ends = value[self.edges[both]]
        constant += float(self.tables[self.table_of_edge[both], ends[:, 0], ends[:, 1]].sum())
        for end in (0, 1):
            chosen = known_end[:, end] & ~known_end[:, 1 - end]
            taken = value[self.edges[chosen, end]]
            tables = self.tables[self.table_of_edge[chosen]]
            rows = (
                tables[np.arange(len(taken)), taken]
                if end == 0
                else (tables[np.arange(len(taken)), :, taken])
            )
            np.add.at(unary, self.edges[chosen, 1 - end], rows)
        if not np.isfinite(constant):
            raise DataError("the known values are forbidden together: their cost is infinite")
        kept = ~known_end.any(axis=1)
        renumbered = np.cumsum(value < 0) - 1
        made = PairwiseModel._of(
            unary[free],
            self.n_states[free],
            renumbered[self.edges[kept]],
            self.tables,
            self.table_of_edge[kept],
            constant,
        )
        made._check_costs()
        return made, free

    def factors(self) -> list[Factor]:
        """The terms as log tables, for elimination."""
        unary = [Factor((i,), -self.unary[i, : self.n_states[i]]) for i in range(self.n_variables)]
        pairs = [Factor.of(edge.tolist(), -self.table(e)) for e, edge in enumerate(self.edges)]
        return unary + pairs

    def forecast(self) -> EliminationPlan:
        """Width and memory of exact inference, before it is done.

        Returns
        -------
        plan : EliminationPlan
        """
        singles = [[i] for i in range(self.n_variables)]
        return plan(singles + self.edges.tolist(), self.n_states.tolist())

    def exact(self) -> PairwiseMarginals:
        """log Z and marginals by a junction tree; refused where the width is too large.

        Returns
        -------
        marginals : PairwiseMarginals
        """
        tree = calibrate(self.factors(), self.n_states.tolist(), "exact inference")
        self._check_possible(tree.log_total)
        return self._marginals(tree)

    def _check_possible(self, log_total: float) -> None:
        if log_total == -np.inf:
            raise DataError("every labelling is forbidden: all costs are infinite")

    def _marginals(self, tree: Calibrated) -> PairwiseMarginals:
        nodes = [tree.marginal(i) for i in range(self.n_variables)]
        pairs = [tree.pair(int(i), int(j)) for i, j in self.edges]
        return PairwiseMarginals(tree.log_total - self.constant, nodes, pairs)

    def exact_mode(self) -> tuple[np.ndarray, float]:
        """A labelling of least cost and its cost, by elimination.

        Returns
        -------
        labels : ndarray of int
        cost : float
        """
        values, best = most_probable(self.factors(), self.n_states.tolist())
        self._check_possible(best)
        labels = np.array([values[i] for i in range(self.n_variables)], dtype=np.int64)
        return labels, self.cost(labels)

    def enumerate(self) -> JointTable:
        """The probabilities of all labellings: the oracle of every other way.

        Returns
        -------
        joint : JointTable
            Axes named x0, x1 ...
        """
        costs = self.all_costs()
        lowest = costs.min()
        self._check_possible(-lowest)
        names = {f"x{i}": range(size) for i, size in enumerate(self.n_states)}
        return JointTable(np.exp(lowest - costs), names)

    def all_costs(self) -> np.ndarray:
        """The cost of every labelling, one axis per variable; refused where too large.

        Returns
        -------
        costs : ndarray
        """
        shape = self.n_states.tolist()
        check_cells(shape, "the table of all labellings")
        everything = range(self.n_variables)
        total = np.full(shape, self.constant)
        for factor in self.factors():
            total = total - factor.spread(everything)
        return total

    def neighbors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Starts, neighbours, their tables, and whether rows of those are the neighbour's values.

        Those of variable i stand from ``starts[i]`` to ``starts[i + 1]``.
        """
        m = len(self.edges)
        own = np.concatenate([self.edges[:, 0], self.edges[:, 1]])
        other = np.concatenate([self.edges[:, 1], self.edges[:, 0]])
        table = np.concatenate([self.table_of_edge, self.table_of_edge])
        flipped = np.repeat([0, 1], m)
        order = np.argsort(own, kind="stable")
        starts = np.searchsorted(own[order], np.arange(self.n_variables + 1))
        return starts, other[order], table[order], flipped[order]

    def disagreement(self) -> np.ndarray:
        """The constant c of tables that are c times [values differ]; NaN for other tables."""
        found = np.full(len(self.tables), np.nan)
        if not (self.n_states == self.tables.shape[1]).all():
            return found
        for t, table in enumerate(self.tables):
            c = table[0, -1] if len(table) > 1 else 0.0
            if np.isfinite(c) and np.array_equal(table, potts_costs(len(table), c)):
                found[t] = c
        return found

    def __repr__(self) -> str:
        return f"PairwiseModel({self.n_variables:,} variables, {len(self.edges):,} edges)"


@former_attributes(log_normaliser="log_normalizer")
class PairwiseMarginals:
    """What exact inference (or sum-product) found.

    Parameters
    ----------
    log_normalizer : float
    nodes : list of ndarray
    pairs : list of ndarray

    Attributes
    ----------
    log_normalizer : float
        log Z = log sum over labellings of exp(-cost).
    nodes : list of ndarray
        Probabilities of the values of each variable.
    pairs : list of ndarray
        Joint probabilities of the ends of each edge.
    """

    def __init__(self, log_normalizer: float, nodes: list, pairs: list):
        self.log_normalizer = float(log_normalizer)
        self.nodes = nodes
        self.pairs = pairs

    def __repr__(self) -> str:
        return f"PairwiseMarginals(log_normalizer={self.log_normalizer:.6g})"


def potts_costs(n_states: int, c: float) -> np.ndarray:
    """The Potts table: cost c where values differ, 0 where they agree.

    Parameters
    ----------
    n_states : int
    c : float
        Positive for agreement.

    Returns
    -------
    table : ndarray of shape (n_states, n_states)

    Examples
    --------
    >>> potts_costs(2, 1.5).tolist()
    [[0.0, 1.5], [1.5, 0.0]]
    """
    return c * (1.0 - np.eye(n_states))


def grid_edges(height: int, width: int) -> np.ndarray:
    """Edges of a grid with neighbours left, right, above and below; pixels row by row.

    Parameters
    ----------
    height, width : int

    Returns
    -------
    edges : ndarray of shape (2 height width - height - width, 2)

    Examples
    --------
    >>> grid_edges(1, 3).tolist()
    [[0, 1], [1, 2]]
    """
    number = np.arange(height * width).reshape(height, width)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return np.concatenate([across, down])


def potts_model(
    shape: tuple[int, int] | None,
    beta: float,
    n_states: int = 2,
    *,
    weights: Any = None,
    unary: ArrayLike | None = None,
) -> PairwiseModel:
    """A Potts model (Ising with two states) on a grid or any weighted graph.

    p(x) is proportional to exp(beta sum over edges of w_ij [x_i = x_j] - sum_i unary_i(x_i)), each
    edge once (one slide of 002 sums over i and j, which counts twice).

    Parameters
    ----------
    shape : pair of int or None
        Height and width of a grid with unit weights.
    beta : float
    n_states : int, default=2
    weights : array-like or sparse matrix of shape (n, n), default=None
        Symmetric w_ij, instead of the grid.
    unary : array-like of shape (n, n_states), default=None
        Costs of single values; none where None.

    Returns
    -------
    model : PairwiseModel

    Examples
    --------
    >>> line = potts_model((1, 5), 0.7)
    >>> bool(np.isclose(line.exact().log_normalizer, np.log(2 * (1 + np.exp(0.7)) ** 4)))
    True
    """
    if weights is None:
        if shape is None:
            raise DataError("give the shape of a grid, or the weights of a graph")
        n = shape[0] * shape[1]
        edges, strengths = grid_edges(*shape), np.ones(1)
        table_of_edge = np.zeros(len(edges), dtype=np.int64)
    else:
        n, edges, strengths = weighted_edges(weights)
        strengths, table_of_edge = np.unique(strengths, return_inverse=True)
        strengths = strengths if len(strengths) else np.ones(1)
    tables = np.array([potts_costs(n_states, beta * w) for w in strengths])
    # a cost for disagreement is a reward for agreement, less the reward of every edge
    constant = -beta * float(strengths[table_of_edge].sum())
    costs = np.zeros((n, n_states)) if unary is None else np.array(unary, dtype=np.float64)
    if costs.shape != (n, n_states):
        raise DataError(f"unary must have the shape {(n, n_states)}, not {costs.shape}")
    made = PairwiseModel._of(
        costs,
        np.full(n, n_states, dtype=np.int64),
        edges,
        tables,
        np.asarray(table_of_edge, dtype=np.int64),
        constant,
    )
    made._check_costs()
    return made


def weighted_edges(weights: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """Number of nodes, edges (each once) and weights of a symmetric matrix without a diagonal."""
    from scipy.sparse import coo_array, issparse

    graph = coo_array(weights if issparse(weights) else np.asarray(weights, dtype=np.float64))
    if graph.shape[0] != graph.shape[1]:
        raise DataError(f"weights must be square, not {graph.shape}")
    graph.sum_duplicates()
    gap = abs(graph - graph.T)
    if gap.nnz and gap.max() > 1e-12 * max(abs(graph.data).max(), 1.0):
        raise DataError("weights must be symmetric: w_ij = w_ji")
    if graph.nnz and (graph.diagonal() != 0).any():
        raise DataError("weights must be zero on the diagonal")
    upper = (graph.row < graph.col) & (graph.data != 0)
    edges = np.stack([graph.row[upper], graph.col[upper]], axis=1).astype(np.int64)
    return graph.shape[0], edges, np.asarray(graph.data[upper], dtype=np.float64)
