"""The least costly path through a trellis of any costs, by the cost to go.

f(x) = sum_i V_i(x_i) + sum_i E_i(x_i, x_{i+1}). From the end,

    C_N = 0,   C_i(a) = min_b [ E_i(a, b) + V_{i+1}(b) + C_{i+1}(b) ],

and the best start minimises V_1(a) + C_1(a). Costs need not be logarithms of probabilities.

Texts: 000b 13.2.2-13.2.3 (prints a wrong sign, leaves out the cost of the start and the first state
of the path) · 000c 14.1.1 (prints V of the wrong node).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError


class CostPath(NamedTuple):
    """A path and its cost.

    Attributes
    ----------
    path : ndarray of int
    cost : float
    to_go : ndarray of shape (n_steps, n_states)
        Least cost from each node to the end, without the node's own.
    """

    path: np.ndarray
    cost: float
    to_go: np.ndarray


def least_cost_path(node_costs: Any, edge_costs: Any) -> CostPath:
    """The least costly path; inf forbids a node or an edge.

    Parameters
    ----------
    node_costs : array-like of shape (n_steps, n_states)
    edge_costs : array-like of shape (n_states, n_states) or (n_steps - 1, n_states, n_states)

    Returns
    -------
    result : CostPath

    Examples
    --------
    >>> best = least_cost_path([[0, 1], [0.5, 0], [1, 0.2]], [[0, 1], [2, 0.5]])
    >>> best.path, float(best.cost)
    (array([0, 0, 0]), 1.5)
    """
    nodes = np.asarray(node_costs, dtype=float)
    n_steps, n_states = nodes.shape
    edges = np.asarray(edge_costs, dtype=float)
    if edges.shape not in ((n_states, n_states), (n_steps - 1, n_states, n_states)):
        raise DataError(
            f"edge costs have shape {edges.shape}; {n_steps} steps of {n_states} states need "
            f"{(n_states, n_states)} or {(n_steps - 1, n_states, n_states)}"
        )
    if np.isnan(nodes).any() or np.isnan(edges).any():
        raise DataError("costs may be infinite, and must not be NaN")
    edges = np.broadcast_to(edges, (n_steps - 1, n_states, n_states))
    to_go = np.zeros((n_steps, n_states))
    choice = np.zeros((n_steps, n_states), dtype=np.int64)
    for i in range(n_steps - 2, -1, -1):
        options = edges[i] + nodes[i + 1] + to_go[i + 1]
        choice[i] = options.argmin(axis=1)
        to_go[i] = options.min(axis=1)
    path = np.empty(n_steps, dtype=np.int64)
    path[0] = np.argmin(nodes[0] + to_go[0])
    cost = float(nodes[0, path[0]] + to_go[0, path[0]])
    if cost == np.inf:
        raise DataError(
            "every path has an infinite cost: some step has no node that can be reached"
        )
    for i in range(n_steps - 1):
        path[i + 1] = choice[i, path[i]]
    return CostPath(path, cost, to_go)
