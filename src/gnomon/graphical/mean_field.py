"""Mean field: the product of independent distributions that is nearest to a Markov random field.

Q(x) = prod_i q_i(x_i) minimises the free energy

    F(Q) = E_Q[log Q] + E_Q[cost] >= -log Z,

one q_i at a time with the others fixed: q_i(a) is proportional to exp(-unary_i(a) - sum over
neighbours j of sum_b phi_ij(a, b) q_j(b)). Each update lowers F or leaves it; updating all at once
would not. For values +-1 it is pi_i = sigmoid(2 s_i), s_i = sum_j theta_ij (2 pi_j - 1) + b_i.

Texts: 000 15.2.2, 15.3, which prints pi = e^a / (e^a + e^b) with a = e^s, one exponential too many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.graphical.pairwise import PairwiseModel
from gnomon.sample.draws import Seed

STARTS = ("data", "uniform", "random")


@dataclass(repr=False)
class MeanField(Result):
    """Independent distributions of all variables, and how the free energy fell.

    Attributes
    ----------
    q : ndarray of shape (n, k)
        Probabilities of the values of each variable.
    free_energy : float
        An upper bound on -log Z.
    history : list of float
        Free energy before the first and after each sweep; it never rises.
    converged : bool
    """

    q: np.ndarray
    free_energy: float
    history: list[float]
    converged: bool

    @property
    def labels(self) -> np.ndarray:
        """The most probable value of each variable under Q."""
        return self.q.argmax(axis=1)

    def _title(self) -> str:
        state = "converged" if self.converged else "did not converge; increase max_iter"
        return f"Mean field of {len(self.q):,} variables ({state})"

    def _columns(self) -> dict[str, list]:
        return {"sweep": list(range(len(self.history))), "free energy": self.history}

    def _remarks(self) -> list[str]:
        return ["variables are independent under Q: read no covariances off it"]


def mean_field(
    model: PairwiseModel,
    start: str | ArrayLike = "data",
    *,
    max_iter: int = 200,
    tol: float = 1e-8,
    random_state: Seed = None,
) -> MeanField:
    """Approximate marginals of a Markov random field by sweeps of mean field.

    Use it on large graphs with cycles, for marginals and modes. Not for covariances (zero under Q),
    nor near a phase transition, where it is sure of one of several modes: try several starts
    and keep the least free energy.

    Parameters
    ----------
    model : PairwiseModel
        With finite pairwise costs; unary costs may forbid values.
    start : {"data", "uniform", "random"} or array-like of shape (n, k), default="data"
        From the unary costs alone, from equal probabilities, or at random.
    max_iter : int, default=200
        Most sweeps.
    tol : float, default=1e-8
        Stop where no probability changes by more.
    random_state : int, Generator or None

    Returns
    -------
    found : MeanField

    Examples
    --------
    >>> from gnomon.graphical import potts_model
    >>> found = mean_field(potts_model((1, 3), 1.0, unary=[[0, 1], [0, 0], [0, 1]]))
    >>> bool(found.q[1, 0] > 0.5)
    True
    """
    if not np.isfinite(model.tables).all():
        raise DataError("mean field needs finite pairwise costs; use exact() or iterated_modes")
    q = _start(model, start, np.random.default_rng(random_state))
    parts, disagreement = model.neighbors(), model.disagreement()
    history = [free_energy(model, q)]
    converged = False
    for _ in range(max_iter):
        moved = mean_field_sweep(model.unary, *parts, model.tables, disagreement, q)
        history.append(free_energy(model, q))
        if moved <= tol:
            converged = True
            break
    return MeanField(q, history[-1], history, converged)


def free_energy(model: PairwiseModel, q: ArrayLike) -> float:
    """F = E_Q[log Q] + E_Q[cost] of a product of independent distributions: a bound on -log Z.

    Parameters
    ----------
    model : PairwiseModel
    q : array-like of shape (n, k)
        Rows are probabilities.

    Returns
    -------
    free_energy : float

    Examples
    --------
    >>> from gnomon.graphical import potts_model
    >>> round(free_energy(potts_model((1, 1), 0.0), [[0.5, 0.5]]), 4)
    -0.6931
    """
    laws = np.ascontiguousarray(q, dtype=np.float64)
    if laws.shape != model.unary.shape:
        raise DataError(f"q must have the shape {model.unary.shape}, not {laws.shape}")
    held = laws > 0
    entropy = -(laws[held] * np.log(laws[held])).sum()
    single = (laws[held] * model.unary[held]).sum()
    pairs = expected_pair_costs(
        laws, model.edges, model.table_of_edge, model.tables, model.disagreement()
    )
    return float(single + pairs - entropy + model.constant)


def _start(model: PairwiseModel, start: str | ArrayLike, rng: np.random.Generator) -> np.ndarray:
    possible = np.isfinite(model.unary)
    if not isinstance(start, str):
        q = np.array(start, dtype=np.float64)
        fits = q.shape == model.unary.shape and (q >= 0).all()
        if not fits or not np.allclose(q.sum(axis=1), 1) or (q[~possible] > 0).any():
            raise DataError(
                f"start must be rows of probabilities of the shape {model.unary.shape}, zero "
                "where values are forbidden"
            )
        return np.ascontiguousarray(q)
    if start not in STARTS:
        raise DataError(f"start={start!r} is none of {', '.join(STARTS)}, nor an array")
    if start == "data":
        q = np.exp(model.unary.min(axis=1, keepdims=True) - model.unary)
    elif start == "uniform":
        q = possible.astype(np.float64)
    else:
        q = np.where(possible, rng.exponential(size=possible.shape), 0.0)
    return np.ascontiguousarray(q / q.sum(axis=1, keepdims=True))


@kernel("f8[:,:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "f8[:,:,:]", "f8[:]", "out f8[:,:]")
def mean_field_sweep(unary, starts, neighbors, table_of, flipped, tables, disagreement, q):
    """Update every law in turn; the largest change of a probability.

    unary, q (n, k); starts (n + 1,); neighbours, table_of, flipped (2 m,); tables (t, k, k);
    disagreement (t,): c of tables c [a != b], which need k steps instead of k^2, else NaN.
    """
    n, k = unary.shape
    largest = 0.0
    costs = np.empty(k)
    for i in range(n):
        for a in range(k):
            costs[a] = unary[i, a]
        for place in range(starts[i], starts[i + 1]):
            j = neighbors[place]
            t = table_of[place]
            c = disagreement[t]
            if c == c:
                for a in range(k):
                    costs[a] -= c * q[j, a]
            elif flipped[place]:
                for b in range(k):
                    for a in range(k):
                        costs[a] += tables[t, b, a] * q[j, b]
            else:
                for a in range(k):
                    for b in range(k):
                        costs[a] += tables[t, a, b] * q[j, b]
        least = np.inf
        for a in range(k):
            least = min(least, costs[a])
        total = 0.0
        for a in range(k):
            costs[a] = np.exp(least - costs[a])
            total += costs[a]
        for a in range(k):
            share = costs[a] / total
            largest = max(largest, abs(share - q[i, a]))
            q[i, a] = share
    return largest


@kernel("f8[:,:]", "i8[:,:]", "i8[:]", "f8[:,:,:]", "f8[:]")
def expected_pair_costs(q, edges, table_of_edge, tables, disagreement):
    """sum over edges of q_i' T q_j. q (n, k), edges (m, 2), tables (t, k, k)."""
    k = q.shape[1]
    total = 0.0
    for e in range(edges.shape[0]):
        i, j, t = edges[e, 0], edges[e, 1], table_of_edge[e]
        c = disagreement[t]
        if c == c:
            same = 0.0
            for a in range(k):
                same += q[i, a] * q[j, a]
            total += c * (1.0 - same)
        else:
            for a in range(k):
                for b in range(k):
                    total += q[i, a] * tables[t, a, b] * q[j, b]
    return total
