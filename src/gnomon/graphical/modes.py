"""The labelling of least cost on any graph: local search, graph cut, integer and linear programme.

Least cost is the quadratic programme min h' Q h / 2 + b' h over stacked one-hot vectors h, which
holds max-cut as a case: no fast way finds it always. So: iterated conditional modes reach a local
minimum; a minimum cut is exact for two values where pairs like to agree; the integer programme
(each product of two indicators becomes a variable of its own) is exact and slow; without the demand
for whole numbers it is a linear programme, whose value no labelling undercuts.

Texts: 000 15.1.4, examples 15.4 (quadratic programme), 15.5 (integer programme).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.graphical.forest import Labeling
from gnomon.graphical.pairwise import PairwiseModel, weighted_edges
from gnomon.sample.draws import Seed

# scipy's flows are 32-bit (64-bit capacities are cut off silently): none may be larger
MOST_CAPACITY = 2**30


def brute_force(model: PairwiseModel) -> Labeling:
    """The labelling of least cost by trying all; refused where they are too many.

    Parameters
    ----------
    model : PairwiseModel

    Returns
    -------
    labeling : Labeling
        The first in order of the labels, among ties.

    Examples
    --------
    >>> from gnomon.graphical import max_cut_model
    >>> brute_force(max_cut_model([[0, 1, 1], [1, 0, 1], [1, 1, 0]])).cost
    -2.0
    """
    costs = model.all_costs()
    place = np.unravel_index(int(costs.argmin()), costs.shape)
    labels = np.array(place, dtype=np.int64)
    cost = model.cost(labels)
    if cost == np.inf:
        raise DataError("every labelling is forbidden: all costs are infinite")
    return Labeling(labels, cost, cost)


def iterated_modes(
    model: PairwiseModel,
    start: ArrayLike | None = None,
    *,
    max_iter: int = 100,
    n_init: int = 0,
    random_state: Seed = None,
) -> Labeling:
    """Local search: each variable in turn takes its cheapest value given its neighbours (ICM).

    Use it as a fast first answer on any graph. Its cost never rises; it ends in a local minimum
    that depends on the start, and proves nothing.

    Parameters
    ----------
    model : PairwiseModel
    start : array-like of int of shape (n,), default=None
        The cheapest values without neighbours where None.
    max_iter : int, default=100
        Most sweeps for each start.
    n_init : int, default=0
        Further random starts, of which the best is kept.
    random_state : int, Generator or None

    Returns
    -------
    labeling : Labeling

    Examples
    --------
    >>> from gnomon.graphical import potts_model
    >>> smooth = potts_model((1, 3), 2.0, unary=[[0, 3], [1, 0.5], [0, 3]])
    >>> iterated_modes(smooth).labels.tolist()
    [0, 0, 0]
    """
    rng = np.random.default_rng(random_state)
    first = model.unary.argmin(axis=1) if start is None else model.checked(start)
    starts = [first] + [rng.integers(model.n_states) for _ in range(n_init)]
    found = [_descend(model, labels.astype(np.int64), max_iter) for labels in starts]
    return min(found, key=lambda each: each.cost)


def _descend(model: PairwiseModel, labels: np.ndarray, max_iter: int) -> Labeling:
    parts = model.neighbors()
    history = [model.cost(labels)]
    for _ in range(max_iter):
        if not mode_sweep(model.unary, *parts, model.tables, labels):
            break
        history.append(model.cost(labels))
    return Labeling(labels, history[-1], n_iter=len(history) - 1, history=history)


@kernel("f8[:,:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "f8[:,:,:]", "out i8[:]")
def mode_sweep(unary, starts, neighbors, table_of, flipped, tables, labels):
    """Give each variable its cheapest value in turn; how many changed. A tie changes nothing.

    unary (n, k); starts (n + 1,); neighbours, table_of, flipped (2 m,); tables (t, k, k).
    """
    n, k = unary.shape
    changed = 0
    costs = np.empty(k)
    for i in range(n):
        for a in range(k):
            costs[a] = unary[i, a]
        for place in range(starts[i], starts[i + 1]):
            b = labels[neighbors[place]]
            t = table_of[place]
            for a in range(k):
                costs[a] += tables[t, b, a] if flipped[place] else tables[t, a, b]
        best = labels[i]
        for a in range(k):
            if costs[a] < costs[best]:
                best = a
        if best != labels[i]:
            labels[i] = best
            changed += 1
    return changed


def graph_cut(model: PairwiseModel) -> Labeling:
    """The labelling of least cost of two-valued variables that like to agree, by a minimum cut.

    Exact where every table has phi(0, 0) + phi(1, 1) <= phi(0, 1) + phi(1, 0); other models
    are refused. Costs are rounded to whole numbers in proportion (the flow algorithm needs them);
    the lower bound of the result allows for that.

    Parameters
    ----------
    model : PairwiseModel

    Returns
    -------
    labeling : Labeling

    Examples
    --------
    >>> from gnomon.graphical import potts_model
    >>> graph_cut(potts_model((1, 3), 2.0, unary=[[0, 1], [1, 0.5], [0, 1]])).labels.tolist()
    [0, 0, 0]
    """
    if (model.n_states > 2).any():
        raise DataError("a graph cut is for two values; use iterated_modes or mean_field")
    unary, tables = _finite_costs(model)
    first, second = model.edges[:, 0], model.edges[:, 1]
    costs = tables[model.table_of_edge]
    pull = costs[:, 0, 1] + costs[:, 1, 0] - costs[:, 0, 0] - costs[:, 1, 1]
    if len(pull) and pull.min() < -1e-12 * max(1.0, np.abs(costs).max()):
        worst = tuple(model.edges[int(pull.argmin())].tolist())
        raise DataError(
            f"the edge {worst} prefers different values (its table is not submodular), for which "
            "no cut is exact; use integer_program, iterated_modes or mean_field"
        )
    slope = unary[:, 1] - unary[:, 0]
    np.add.at(slope, first, costs[:, 1, 0] - costs[:, 0, 0])
    np.add.at(slope, second, costs[:, 1, 1] - costs[:, 1, 0])
    labels, unit = _minimum_cut(slope, np.maximum(pull, 0.0), model.edges)
    # a value that does not exist is forbidden, which rounding must not undo
    labels = np.minimum(labels, model.n_states - 1)
    cost = model.cost(labels)
    if cost == np.inf:
        raise DataError("every labelling is forbidden: all costs are infinite")
    rounding = unit * (model.n_variables + len(model.edges))
    return Labeling(labels, cost, cost - rounding)


def _finite_costs(model: PairwiseModel) -> tuple[np.ndarray, np.ndarray]:
    """Costs with infinities replaced by more than all else together can cost."""
    unary = np.full((model.n_variables, 2), np.inf)
    unary[:, : model.unary.shape[1]] = model.unary
    tables = np.zeros((len(model.tables), 2, 2))
    k = model.tables.shape[1]
    tables[:, :k, :k] = model.tables
    uses = np.bincount(model.table_of_edge, minlength=len(tables))
    sizes = np.where(np.isfinite(tables), np.abs(tables), 0).max(axis=(1, 2))
    most = 1 + 2 * (np.where(np.isfinite(unary), np.abs(unary), 0).sum() + (uses * sizes).sum())
    return np.where(np.isinf(unary), most, unary), np.where(np.isinf(tables), most, tables)


def _minimum_cut(
    slope: np.ndarray, pull: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, float]:
    """Minimise slope' x + sum pull (1 - x_i) x_j over x in {0, 1}; and the rounding unit."""
    n = len(slope)
    source, sink = n, n + 1
    largest = max(np.abs(slope).max(initial=0.0), pull.max(initial=0.0))
    if largest == 0:
        return np.zeros(n, dtype=np.int64), 0.0
    unit = largest / MOST_CAPACITY
    heads = np.concatenate([np.full(n, source), np.arange(n), edges[:, 0]])
    tails = np.concatenate([np.arange(n), np.full(n, sink), edges[:, 1]])
    capacities = np.concatenate([np.maximum(slope, 0), np.maximum(-slope, 0), pull])
    whole = np.rint(capacities / unit).astype(np.int32)
    graph = sparse.csr_array((whole, (heads, tails)), shape=(n + 2, n + 2))
    graph.indices = graph.indices.astype(np.int32)
    graph.indptr = graph.indptr.astype(np.int32)
    flow = maximum_flow(graph, source, sink).flow
    residual = (graph - flow).tocsr()
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    labels = np.ones(n + 2, dtype=np.int64)
    labels[reached] = 0
    return labels[:n], unit


def quadratic_form(model: PairwiseModel) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """The least cost as a quadratic programme over stacked one-hot vectors.

    cost = h' Q h / 2 + b' h + constant, with Q symmetric; the entries of h that belong to one
    variable sum to one.

    Parameters
    ----------
    model : PairwiseModel
        With finite pairwise costs.

    Returns
    -------
    Q : sparse array of shape (s, s)
    b : ndarray of shape (s,)
    starts : ndarray of shape (n + 1,)
        The entries of variable i stand from ``starts[i]`` to ``starts[i + 1]``.

    Examples
    --------
    >>> Q, b, starts = quadratic_form(PairwiseModel([[0, 1], [2, 0]], [(0, 1)], [[[0, 3], [3, 0]]]))
    >>> h = np.array([1, 0, 0, 1])
    >>> float(h @ (Q @ h) / 2 + b @ h)
    3.0
    """
    if not np.isfinite(model.tables).all():
        raise DataError("a quadratic form needs finite pairwise costs; use integer_program")
    starts = np.concatenate([[0], np.cumsum(model.n_states)])
    rows, columns, values = [], [], []
    for e, (i, j) in enumerate(model.edges):
        table = model.table(e)
        a, b = np.indices(table.shape)
        rows.append((starts[i] + a).ravel())
        columns.append((starts[j] + b).ravel())
        values.append(table.ravel())
    size = int(starts[-1])
    if rows:
        places = (np.concatenate(rows), np.concatenate(columns))
        half = sparse.coo_array((np.concatenate(values), places), shape=(size, size))
        form = (half + half.T).tocsr()
    else:
        form = sparse.csr_array((size, size))
    unary = np.concatenate([model.unary[i, :k] for i, k in enumerate(model.n_states)])
    return form, unary, starts


def max_cut_model(weights: Any) -> PairwiseModel:
    """Max-cut as a pairwise model: the cost is minus the weight of edges between the two parts.

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (n, n)
        Symmetric.

    Returns
    -------
    model : PairwiseModel

    Examples
    --------
    >>> max_cut_model([[0, 2], [2, 0]]).cost([0, 1])
    -2.0
    """
    n, edges, strengths = weighted_edges(weights)
    tables = [[[0.0, -w], [-w, 0.0]] for w in strengths]
    return PairwiseModel(np.zeros((n, 2)), edges, tables)


def integer_program(model: PairwiseModel, *, time_limit: float | None = None) -> Labeling:
    """The labelling of least cost by an integer linear programme (scipy's HiGHS).

    Use it where a proof is wanted and the model is small (some hundreds of variables).

    Parameters
    ----------
    model : PairwiseModel
    time_limit : float, default=None
        Seconds; the best labelling by then is given with its lower bound.

    Returns
    -------
    labeling : Labeling

    Examples
    --------
    >>> integer_program(max_cut_model([[0, 1, 1], [1, 0, 1], [1, 1, 0]])).cost
    -2.0
    """
    form = _programme(model, "marginals")
    options = {} if time_limit is None else {"time_limit": float(time_limit)}
    found = milp(integrality=form["whole"], **form["problem"], options=options)
    if found.x is None:
        raise DataError(f"no labelling was found: {found.message}")
    labels = _rounded(model, found.x)
    cost = model.cost(labels)
    bound = found.mip_dual_bound
    lower = cost if found.status == 0 or bound is None else float(bound) + model.constant
    return Labeling(labels, cost, lower)


def linear_relaxation(model: PairwiseModel, formulation: str = "marginals") -> Labeling:
    """A lower bound on all costs by linear programming, and the labelling rounded from it.

    Parameters
    ----------
    model : PairwiseModel
    formulation : {"marginals", "products"}, default="marginals"
        How q_ij(a, b), which stands for h_i(a) h_j(b), is tied to h: its sums over a and over b
        are h (tight on forests), or the text's q <= h_i, q <= h_j, q >= h_i + h_j - 1 (looser).

    Returns
    -------
    labeling : Labeling
        Proved best where the programme's answer is whole.

    Examples
    --------
    >>> linear_relaxation(max_cut_model([[0, 1, 1], [1, 0, 1], [1, 1, 0]])).lower_bound
    -3.0
    """
    if formulation not in ("marginals", "products"):
        raise DataError(f"formulation={formulation!r} is none of marginals, products")
    form = _programme(model, formulation)
    found = milp(**form["problem"])
    if found.x is None:
        raise DataError(f"no labelling was found: {found.message}")
    labels = _rounded(model, found.x)
    return Labeling(labels, model.cost(labels), float(found.fun) + model.constant)


def _rounded(model: PairwiseModel, solution: np.ndarray) -> np.ndarray:
    starts = np.concatenate([[0], np.cumsum(model.n_states)])
    return np.array([solution[a:b].argmax() for a, b in itertools.pairwise(starts)], dtype=np.int64)


def _programme(model: PairwiseModel, formulation: str) -> dict[str, Any]:
    """Costs, constraints and bounds over indicators h and products q."""
    starts = np.concatenate([[0], np.cumsum(model.n_states)]).astype(int)
    n_single = int(starts[-1])
    sizes = np.prod(model.n_states[model.edges], axis=1, dtype=np.int64)
    offsets = n_single + np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    total = int(offsets[-1])
    memory.require(400 * total, f"a programme of {total:,} variables", "Use iterated_modes.")
    costs = np.concatenate(
        [model.unary[i, :k] for i, k in enumerate(model.n_states)]
        + [model.table(e).ravel() for e in range(len(model.edges))]
    )
    rows = _Rows(total)
    for a, b in itertools.pairwise(starts):
        rows.add(range(a, b), [1.0] * (b - a), 1.0, 1.0)
    for e, (i, j) in enumerate(model.edges):
        places = offsets[e] + np.arange(sizes[e]).reshape(model.n_states[i], model.n_states[j])
        tie = rows.tie_sums if formulation == "marginals" else rows.tie_products
        tie(places, range(starts[i], starts[i + 1]), range(starts[j], starts[j + 1]))
    possible = np.isfinite(costs)
    whole = np.zeros(total)
    whole[:n_single] = 1
    return {
        "whole": whole,
        "problem": {
            "c": np.where(possible, costs, 0.0),
            "constraints": rows.constraint(),
            "bounds": Bounds(0.0, np.where(possible, 1.0, 0.0)),
        },
    }


class _Rows:
    """Rows of linear constraints, gathered one after the other."""

    def __init__(self, n_columns: int):
        self.n_columns = n_columns
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, columns, values, low: float, high: float) -> None:
        self.rows += [len(self.low)] * len(values)
        self.columns += [int(c) for c in columns]
        self.values += list(values)
        self.low.append(low)
        self.high.append(high)

    def tie_sums(self, places: np.ndarray, first: range, second: range) -> None:
        for lines, singles in ((places, first), (places.T, second)):
            for line, h in zip(lines, singles):
                self.add([*line, h], [1.0] * len(line) + [-1.0], 0.0, 0.0)

    def tie_products(self, places: np.ndarray, first: range, second: range) -> None:
        for line, h in zip(places, first):
            for q, g in zip(line, second):
                self.add([q, h], [1.0, -1.0], -np.inf, 0.0)
                self.add([q, g], [1.0, -1.0], -np.inf, 0.0)
                self.add([q, h, g], [1.0, -1.0, -1.0], -1.0, np.inf)

    def constraint(self) -> LinearConstraint:
        matrix = sparse.csr_array(
            (self.values, (self.rows, self.columns)), shape=(len(self.low), self.n_columns)
        )
        return LinearConstraint(matrix, self.low, self.high)
