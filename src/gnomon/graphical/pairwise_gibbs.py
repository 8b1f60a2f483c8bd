"""Gibbs sweeps over a pairwise model, compiled.

x_i ~ p(x_i | neighbours), proportional to exp(-V_i(x_i) - sum over edges of V_ij(x_i, x_j)): only
the links of i are looked at. One step of a chain is a sweep over all variables, new values used at
once.

Texts: 002 "Gibbs sampling", "Markov random fields" · 000 15.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.sample.target import Target
from gnomon.sample.walker import Sampler, Walker

SWEEPS_AT_ONCE = 256  # bounds the memory of the random numbers, d of them per sweep


class Field(NamedTuple):
    """A pairwise model as arrays for the kernel.

    The edges of variable i are ``edge[first[i] : first[i + 1]]``; ``is_first`` says of each whether
    i is its first end.
    """

    unary: Annotated[np.ndarray, "f8[:,:]"]
    n_states: Annotated[np.ndarray, "i8[:]"]
    edges: Annotated[np.ndarray, "i8[:,:]"]
    table_of_edge: Annotated[np.ndarray, "i8[:]"]
    tables: Annotated[np.ndarray, "f8[:,:,:]"]
    first: Annotated[np.ndarray, "i8[:]"]
    edge: Annotated[np.ndarray, "i8[:]"]
    is_first: Annotated[np.ndarray, "b1[:]"]


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
        model = self.model
        edges, n = model.edges, len(self.values)
        ends = np.concatenate([edges[:, 0], edges[:, 1]])
        order = np.argsort(ends, kind="stable")
        m = len(edges)
        self.field = Field(
            model.unary,
            model.n_states,
            edges,
            model.table_of_edge,
            model.tables,
            np.searchsorted(ends[order], np.arange(n + 1)),
            order % max(m, 1),
            order < m,
        )

    def advance(self, n: int, rng: np.random.Generator):
        d = len(self.values)
        draws, logs = np.empty((n, d)), np.empty(n)
        order = np.arange(d)[None, :]
        for begin in range(0, n, SWEEPS_AT_ONCE):
            part = slice(begin, min(begin + SWEEPS_AT_ONCE, n))
            shape = draws[part].shape
            if self.scan == "random":
                order = rng.random(shape).argsort(axis=1)
            pairwise_sweeps(
                self.values, order, rng.random(shape), self.field, draws[part], logs[part]
            )
        if len(self.meaning):
            draws = self.meaning[draws.astype(np.int64)]
        return self.moved(draws, logs - self.model.constant, n)


@kernel("out i8[:]", "i8[:,:]", "f8[:,:]", Field, "out f8[:,:]", "out f8[:]")
def pairwise_sweeps(values, orders, uniforms, field, draws, log_density):
    """Redraw every variable once per row of uniforms (n, d), in the order of orders (n or 1, d).

    values (d,) is rewritten; draws (n, d) and log_density (n,) are written.
    """
    weight = np.empty(field.unary.shape[1])
    for sweep in range(uniforms.shape[0]):
        row = min(sweep, orders.shape[0] - 1)
        for turn in range(orders.shape[1]):
            i = orders[row, turn]
            for k in range(field.n_states[i]):
                weight[k] = -field.unary[i, k]
            for place in range(field.first[i], field.first[i + 1]):
                e = field.edge[place]
                table = field.tables[field.table_of_edge[e]]
                if field.is_first[place]:
                    other = values[field.edges[e, 1]]
                    for k in range(field.n_states[i]):
                        weight[k] -= table[k, other]
                else:
                    other = values[field.edges[e, 0]]
                    for k in range(field.n_states[i]):
                        weight[k] -= table[other, k]
            largest, total = -np.inf, 0.0
            for k in range(field.n_states[i]):
                largest = max(largest, weight[k])
            for k in range(field.n_states[i]):
                weight[k] = np.exp(weight[k] - largest)
                total += weight[k]
            mark, line, chosen = uniforms[sweep, turn] * total, 0.0, 0
            while chosen < field.n_states[i] - 1:
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
            cost += field.unary[i, values[i]]
        for e in range(len(field.edges)):
            cost += field.tables[
                field.table_of_edge[e], values[field.edges[e, 0]], values[field.edges[e, 1]]
            ]
        log_density[sweep] = -cost
