"""Gibbs sweeps over a network of categories, compiled: all tables in one array, found by strides.

The cell of a node's table is first + sum over its family of stride times value, so that the weight
of a value costs one look-up for the node and one for each child. Products of probabilities; where
they come near underflow, logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

TINY = 1e-200  # a sum of products below this may have lost factors to underflow
Floats = Annotated[np.ndarray, "f8[:]"]
Places = Annotated[np.ndarray, "i8[:]"]


class FlatNetwork(NamedTuple):
    """A network of categories in arrays; see `flatten`.

    Attributes
    ----------
    tables, logs : ndarray
        The cells of all tables, and their logarithms.
    first : ndarray of shape (n_nodes,)
        Where the table of each node begins.
    sizes : ndarray of shape (n_nodes,)
    family_start : ndarray of shape (n_nodes + 1,)
    family, family_stride : ndarray
        The parents of each node and the node itself, and their strides in its table.
    child_start : ndarray of shape (n_nodes + 1,)
    child, child_stride : ndarray
        The children of each node, and its stride in their tables.
    """

    tables: Floats
    logs: Floats
    first: Places
    sizes: Places
    family_start: Places
    family: Places
    family_stride: Places
    child_start: Places
    child: Places
    child_stride: Places


def flatten(nodes: Sequence[Any], place: Mapping[str, int]) -> FlatNetwork:
    """Nodes with ``table`` and ``parents``, in the order of ``place``, as arrays."""
    families, strides = [], []
    children: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for node in nodes:
        steps = [int(np.prod(node.table.shape[k + 1 :])) for k in range(node.table.ndim)]
        families.append([place[name] for name in (*node.parents, node.name)])
        strides.append(steps)
        for parent, step in zip(families[-1][:-1], steps):
            children[parent].append((place[node.name], step))
    tables = np.concatenate([node.table.ravel() for node in nodes])
    with np.errstate(divide="ignore"):
        logs = np.log(tables)
    return FlatNetwork(
        tables,
        logs,
        _starts([node.table.size for node in nodes])[:-1],
        np.array([node.table.shape[-1] for node in nodes], dtype=np.int64),
        _starts([len(each) for each in families]),
        _flat(families),
        _flat(strides),
        _starts([len(each) for each in children]),
        _flat([[child for child, _ in each] for each in children]),
        _flat([[step for _, step in each] for each in children]),
    )


def _starts(lengths: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _flat(lists: Sequence[Sequence[int]]) -> np.ndarray:
    return np.array([entry for each in lists for entry in each], dtype=np.int64)


@kernel("out i8[:]", "i8[:]", "i8[:,:]", "f8[:,:]", FlatNetwork, "out f8[:,:]", "out f8[:]")
def gibbs_sweeps(values, free, orders, uniforms, net, draws, log_density):
    """Redraw every free node once per row of orders (n, n_free), positions in ``free``.

    values (n_nodes,) is rewritten; uniforms (n, n_free). draws (n, n_free) and log_density (n,) are
    written.
    """
    weight = np.empty(net.sizes.max())
    for sweep in range(orders.shape[0]):
        for turn in range(orders.shape[1]):
            node = free[orders[sweep, turn]]
            n_values = net.sizes[node]
            before, values[node] = values[node], 0
            own = cell_of(net, node, values)
            for k in range(n_values):
                weight[k] = net.tables[own + k]
            for c in range(net.child_start[node], net.child_start[node + 1]):
                cell = cell_of(net, net.child[c], values)
                for k in range(n_values):
                    weight[k] *= net.tables[cell + k * net.child_stride[c]]
            total = weight[:n_values].sum()
            if total < TINY:
                largest, total = -np.inf, 0.0
                for k in range(n_values):
                    weight[k] = net.logs[own + k]
                for c in range(net.child_start[node], net.child_start[node + 1]):
                    cell = cell_of(net, net.child[c], values)
                    for k in range(n_values):
                        weight[k] += net.logs[cell + k * net.child_stride[c]]
                for k in range(n_values):
                    largest = max(largest, weight[k])
                for k in range(n_values):
                    weight[k] = np.exp(weight[k] - largest)
                    total += weight[k]
            mark, line, chosen = uniforms[sweep, turn] * total, 0.0, 0
            while chosen < n_values - 1:
                line += weight[chosen]
                if mark < line:
                    break
                chosen += 1
            # rounding may carry the mark beyond the last value that is possible
            values[node] = chosen if weight[chosen] > 0.0 else before
        for j in range(len(free)):
            draws[sweep, j] = values[free[j]]
        log_density[sweep] = 0.0
        for node in range(len(net.sizes)):
            cell = cell_of(net, node, values)
            log_density[sweep] += net.logs[cell]


@lean_subkernel
def cell_of(net, node, values):
    """Where the table of a node has its cell for the values."""
    cell = net.first[node]
    for k in range(net.family_start[node], net.family_start[node + 1]):
        cell += net.family_stride[k] * values[net.family[k]]
    return cell
