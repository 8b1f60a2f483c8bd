"""Gibbs sweeps over a pairwise model, compiled.

x_i ~ p(x_i | neighbours), proportional to exp(-V_i(x_i) - sum over edges of V_ij(x_i, x_j)): only
the links of i are looked at. One step of a chain is a sweep over all variables, new values used at
once.

Texts: 002 "Gibbs sampling", "Markov random fields" · 000 15.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

SWEEPS_AT_ONCE = 256


@dataclass(frozen=True)
class PairwiseSampler(Sampler):
    """Gibbs over the variables of a pairwise model; its `PairwiseModel.gibbs` is easier to call.

    Attributes
    ----------
    model : PairwiseModel
    scan : {"fixed", "random"}
        The order in a sweep: always the same, or new each time (the chain is then reversible).
    values : tuple of float
        What the values 0, 1 ... stand for in points, rising; themselves where empty.
    """

    model: Any
    scan: str = "fixed"
    values: tuple[float, ...] = ()

    def begin(self, target: Target | None, start: np.ndarray) -> Walker:
        if self.scan not in ("fixed", "random"):
            raise DataError(f"scan={self.scan!r} is none of fixed, random")
        return PairwiseWalker(self, target, start)


class PairwiseWalker(Walker):
    """A running chain over the variables of a pairwise model."""

    def __init__(self, sampler: PairwiseSampler, target: Target | None, start: np.ndarray):
        super().__init__(target, start)
        self.scan, self.model = sampler.scan, sampler.model
        self.meaning = np.array(sampler.values, dtype=np.float64)
        codes = np.searchsorted(self.meaning, self.x) if len(self.meaning) else self.x
        self.values = self.model.checked(codes.astype(np.int64)).copy()
        edges, n = self.model.edges, len(self.values)
        ends = np.concatenate([edges[:, 0], edges[:, 1]])
        order = np.argsort(ends, kind="stable")
        m = len(edges)
        self.first = np.searchsorted(ends[order], np.arange(n + 1))
        self.edge = order % max(m, 1)
        self.is_first = order < m

    def advance(self, n: int, rng: np.random.Generator):
        d = len(self.values)
        draws, logs = np.empty((n, d)), np.empty(n)
        order = np.arange(d)[None, :]
        model = self.model
        for begin in range(0, n, SWEEPS_AT_ONCE):
            part = slice(begin, min(begin + SWEEPS_AT_ONCE, n))
            shape = draws[part].shape
            if self.scan == "random":
                order = rng.random(shape).argsort(axis=1)
            pairwise_sweeps(
                self.values, order, rng.random(shape), model.unary, model.n_states, model.edges,
                model.table_of_edge, model.tables, self.first, self.edge, self.is_first,
                draws[part], logs[part],
            )  # fmt: skip
        if len(self.meaning):
            draws = self.meaning[draws.astype(np.int64)]
        return self.moved(draws, logs - model.constant, n)


@kernel(
    "out i8[:]", "i8[:,:]", "f8[:,:]", "f8[:,:]", "i8[:]", "i8[:,:]", "i8[:]", "f8[:,:,:]",
    "i8[:]", "i8[:]", "b1[:]", "out f8[:,:]", "out f8[:]",
)  # fmt: skip
def pairwise_sweeps(
    values, orders, uniforms, unary, n_states, edges, table_of_edge, tables, first, edge,
    is_first, draws, log_density,
):  # fmt: skip
    """Redraw every variable once per row of uniforms (n, d), in the order of orders (n or 1, d).

    values (d,) is rewritten; the links of variable i are edge[first[i] : first[i + 1]], of which
    is_first says whether i is their first end. draws (n, d) and log_density (n,) are written.
    """
    weight = np.empty(unary.shape[1])
    for sweep in range(uniforms.shape[0]):
        row = min(sweep, orders.shape[0] - 1)
        for turn in range(orders.shape[1]):
            i = orders[row, turn]
            for k in range(n_states[i]):
                weight[k] = -unary[i, k]
            for place in range(first[i], first[i + 1]):
                e = edge[place]
                table = tables[table_of_edge[e]]
                if is_first[place]:
                    other = values[edges[e, 1]]
                    for k in range(n_states[i]):
                        weight[k] -= table[k, other]
                else:
                    other = values[edges[e, 0]]
                    for k in range(n_states[i]):
                        weight[k] -= table[other, k]
            largest, total = -np.inf, 0.0
            for k in range(n_states[i]):
                largest = max(largest, weight[k])
            for k in range(n_states[i]):
                weight[k] = np.exp(weight[k] - largest)
                total += weight[k]
            mark, line, chosen = uniforms[sweep, turn] * total, 0.0, 0
            while chosen < n_states[i] - 1:
                line += weight[chosen]
                if mark < line:
                    break
                chosen += 1
            # rounding may carry the mark beyond the last value that is possible
            if weight[chosen] > 0.0:
                values[i] = chosen
        cost = 0.0
        for i in range(len(values)):
            draws[sweep, i] = values[i]
            cost += unary[i, values[i]]
        for e in range(len(edges)):
            cost += tables[table_of_edge[e], values[edges[e, 0]], values[edges[e, 1]]]
        log_density[sweep] = -cost
