"""Chains, trees and forests: exact least cost and exact sums by leaf elimination.

A leaf folds its best (or its sum) into its neighbour: for each value of the neighbour,

    m(x_parent) = min over x_leaf of [E(x_parent, x_leaf) + V(x_leaf) + what came into the leaf],

and is gone; at a root the best value is chosen and values are read off on the way back. With
-log sum exp(-...) instead of the minimum, the root's total is -log Z, and a second pass from the
roots gives all marginals. Cost: n k^2.

Texts: 000 14.1.1, 14.2.2 (least cost), 14.2.3 (sum-product). 000 prints V of the wrong variable in
the recursion of the chain, and drops exp(-V_1) in K; both are corrected here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.graphical.elimination import log_sum
from gnomon.graphical.pairwise import PairwiseMarginals, PairwiseModel


@dataclass(repr=False)
class Labeling(Result):
    """A labelling, its cost, and what is known of it.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
    cost : float
    lower_bound : float
        No labelling costs less; equal to the cost where the labelling is proved best, minus
        infinity where nothing is known.
    n_iter : int
        Sweeps, where the method has any.
    history : list of float
        Cost after each sweep.
    """

    labels: np.ndarray
    cost: float
    lower_bound: float = -np.inf
    n_iter: int = 0
    history: list[float] | None = None

    @property
    def proved(self) -> bool:
        """Whether no labelling costs less, up to rounding."""
        return bool(self.cost - self.lower_bound <= 1e-7 * max(1.0, abs(self.cost)))

    def _title(self) -> str:
        quality = "least cost, proved" if self.proved else "not proved to be the least cost"
        return f"Labeling of {len(self.labels):,} variables ({quality})"

    def _columns(self) -> dict[str, list]:
        return {"cost": [self.cost], "lower bound": [self.lower_bound]}


def chain_min_cost(unary: ArrayLike, pairwise: ArrayLike) -> Labeling:
    """The cheapest labelling of a chain, by dynamic programming (Viterbi with any costs).

    Use it for sequences of any costs, negative and infinite ones too; they need not be logarithms
    of probabilities. Among ties the smallest values win, from the first position on.

    Parameters
    ----------
    unary : array-like of shape (n, k)
        Cost of value a at position i.
    pairwise : array-like of shape (k, k) or (n - 1, k, k)
        Cost of value a followed by b; one table for all, or one for each step.

    Returns
    -------
    labeling : Labeling

    Examples
    --------
    >>> best = chain_min_cost([[0, 1], [2, 0], [0, 1]], [[0, 3], [3, 0]])
    >>> best.labels.tolist(), best.cost
    ([0, 0, 0], 2.0)
    """
    costs = np.asarray(unary, dtype=np.float64)
    steps = np.asarray(pairwise, dtype=np.float64)
    if costs.ndim != 2 or not costs.size:
        raise DataError(f"unary must have the shape (n, k), not {costs.shape}")
    n, k = costs.shape
    if steps.shape not in ((k, k), (n - 1, k, k)):
        raise DataError(f"pairwise must be {(k, k)} or {(n - 1, k, k)}, not {steps.shape}")
    for each in (costs, steps):
        if np.isnan(each).any() or (each == -np.inf).any():
            raise DataError("costs are numbers, or plus infinity for what is forbidden")
    to_go = np.zeros(k)
    choices = np.zeros((n, k), dtype=np.int64)
    for i in range(n - 2, -1, -1):
        table = (steps if steps.ndim == 2 else steps[i]) + costs[i + 1] + to_go
        choices[i] = table.argmin(axis=1)
        to_go = table.min(axis=1)
    labels = np.empty(n, dtype=np.int64)
    total = costs[0] + to_go
    labels[0] = total.argmin()
    if total[labels[0]] == np.inf:
        raise DataError("every labelling of the chain is forbidden: all costs are infinite")
    for i in range(n - 1):
        labels[i + 1] = choices[i, labels[i]]
    cost = float(total[labels[0]])
    return Labeling(labels, cost, cost)


def forest_min_cost(model: PairwiseModel, roots: ArrayLike = ()) -> Labeling:
    """The cheapest labelling of a forest: trees, chains and lone variables.

    Parameters
    ----------
    model : PairwiseModel
        Graphs with a cycle are refused, with the remedy.
    roots : array-like of int, default=()
        Variables to take as roots of their trees (the cost is the same for any).

    Returns
    -------
    labeling : Labeling

    Examples
    --------
    >>> from gnomon.graphical import potts_costs
    >>> star = PairwiseModel([[0, 9], [4, 0], [1, 0]], [(0, 1), (0, 2)], [potts_costs(2, 2)])
    >>> best = forest_min_cost(star)
    >>> best.labels.tolist(), best.cost
    ([0, 1, 0], 3.0)
    """
    order, parent, link = _rooted(model, roots)
    incoming = _own_costs(model)
    choices: dict[int, np.ndarray] = {}
    total = model.constant
    for i in order[::-1]:
        if parent[i] < 0:
            total += float(incoming[i].min())
            continue
        table = _towards_parent(model, i, parent[i], link[i]) + incoming[i]
        choices[i] = table.argmin(axis=1)
        incoming[parent[i]] = incoming[parent[i]] + table.min(axis=1)
    if total == np.inf:
        raise DataError("every labelling is forbidden: all costs are infinite")
    labels = np.empty(model.n_variables, dtype=np.int64)
    for i in order:
        best = incoming[i].argmin() if parent[i] < 0 else choices[i][labels[parent[i]]]
        labels[i] = int(best)
    cost = model.cost(labels)
    return Labeling(labels, cost, cost)


def forest_sum_product(model: PairwiseModel, roots: ArrayLike = ()) -> PairwiseMarginals:
    """log Z, and the marginals of variables and edges, of a forest, in log space.

    Parameters
    ----------
    model : PairwiseModel
    roots : array-like of int, default=()

    Returns
    -------
    marginals : PairwiseMarginals

    Examples
    --------
    >>> free = forest_sum_product(PairwiseModel([[0.0, 0.0]], [], []))
    >>> free.nodes[0].tolist()
    [0.5, 0.5]
    """
    order, parent, link = _rooted(model, roots)
    belief = [-costs for costs in _own_costs(model)]
    sent: dict[int, np.ndarray] = {}
    log_total = -model.constant
    for i in order[::-1]:
        if parent[i] < 0:
            log_total += float(log_sum(belief[i], (0,)))
            continue
        sent[i] = log_sum(belief[i] - _towards_parent(model, i, parent[i], link[i]), (1,))
        belief[parent[i]] = belief[parent[i]] + sent[i]
    if log_total == -np.inf:
        raise DataError("every labelling is forbidden: all costs are infinite")
    pairs: list = [None] * len(model.edges)
    for i in order:
        if parent[i] < 0:
            belief[i] = belief[i] - log_sum(belief[i], (0,))
            continue
        up = sent[i]
        rest = np.full(up.shape, -np.inf)
        np.subtract(belief[parent[i]], up, out=rest, where=up > -np.inf)
        pair = rest[:, None] + belief[i] - _towards_parent(model, i, parent[i], link[i])
        pair = pair - log_sum(pair, (0, 1))
        belief[i] = log_sum(pair, (0,))
        first = model.edges[link[i], 0] == parent[i]
        pairs[link[i]] = np.exp(pair if first else pair.T)
    return PairwiseMarginals(log_total, [np.exp(each) for each in belief], pairs)


def _own_costs(model: PairwiseModel) -> list[np.ndarray]:
    return [model.unary[i, : model.n_states[i]] for i in range(model.n_variables)]


def _towards_parent(model: PairwiseModel, i: int, parent: int, edge: int) -> np.ndarray:
    """The table of an edge, values of the parent along the rows."""
    table = model.table(edge)
    return table if model.edges[edge, 0] == parent else table.T


def _rooted(model: PairwiseModel, roots: ArrayLike) -> tuple[list[int], list[int], list[int]]:
    """Variables with parents first, the parent of each (-1: a root) and the edge to it."""
    if not model.is_forest:
        raise DataError(
            "the graph has a cycle, and this way is exact on forests only; use model.exact() or "
            "exact_mode() where the width is small, else mean_field, iterated_modes or graph_cut"
        )
    n = model.n_variables
    around: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for e, (i, j) in enumerate(model.edges.tolist()):
        around[i].append((j, e))
        around[j].append((i, e))
    parent, link = [-1] * n, [-1] * n
    met = [False] * n
    order: list[int] = []
    for root in [*np.atleast_1d(np.asarray(roots, dtype=np.int64)).tolist(), *range(n)]:
        if not 0 <= root < n:
            raise DataError(f"there is no variable {root} to take as a root")
        if met[root]:
            continue
        met[root] = True
        waiting = [root]
        while waiting:
            i = waiting.pop()
            order.append(i)
            for j, e in around[i]:
                if not met[j]:
                    met[j], parent[j], link[j] = True, i, e
                    waiting.append(j)
    return order, parent, link
