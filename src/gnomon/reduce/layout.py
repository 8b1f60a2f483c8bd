"""Layouts of graphs: stress, springs with friction, eigenvectors, and energies of taste.

A graph is a list of edges (pairs of node numbers) with lengths or weights. Stress sums
w (d - |p_i - p_j|)^2 over edges alone, or over all pairs with the others completed: by a default
distance of small weight, or by shortest paths.

Texts: 004 16.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import eigsh
from sklearn.utils import check_random_state

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.reduce.mds import DistanceMap, PairObjective, complete_by_paths, descend, stress_map
from gnomon.reduce.pair_projection import graph_laplacian
from gnomon.reduce.spectrum import with_signs

SMALL_GRAPH = 400  # all eigenvectors of 400 nodes take 15 ms on one thread


@dataclass(repr=False)
class Graph(Result):
    """Nodes and edges with a number each.

    Attributes
    ----------
    edges : ndarray of int of shape (m, 2)
    values : ndarray of shape (m,)
        Lengths, or weights, of the edges.
    n_nodes : int
    names : list of str
    """

    edges: np.ndarray
    values: np.ndarray
    n_nodes: int
    names: list[str] = field(default_factory=list)

    def matrix(self) -> sp.csr_array:
        """The values as a symmetric sparse table."""
        i, j = self.edges.T
        both = np.r_[i, j], np.r_[j, i]
        return sp.csr_array((np.r_[self.values, self.values], both), (self.n_nodes, self.n_nodes))

    def distances(self) -> np.ndarray:
        """The lengths as a table, NaN where there is no edge."""
        memory.require(
            16 * self.n_nodes**2, f"a table of {self.n_nodes:,} nodes", "Lay out a part of it."
        )
        table = np.full((self.n_nodes, self.n_nodes), np.nan)
        i, j = self.edges.T
        table[i, j] = table[j, i] = self.values
        np.fill_diagonal(table, 0.0)
        return table

    def degrees(self) -> np.ndarray:
        """Edges at each node."""
        return np.bincount(self.edges.ravel(), minlength=self.n_nodes)

    @property
    def isolated(self) -> np.ndarray:
        """Nodes without an edge."""
        return np.flatnonzero(self.degrees() == 0)

    def _title(self) -> str:
        n_parts = connected_components(self.matrix(), directed=False)[0]
        return f"Graph of {self.n_nodes} nodes, {len(self.edges)} edges, {n_parts} parts"

    def _columns(self) -> dict[str, list]:
        return {
            "one": [self.names[i] for i in self.edges[:, 0]],
            "other": [self.names[j] for j in self.edges[:, 1]],
            "value": list(self.values),
        }


def graph(edges: Any, values: Any = None, n_nodes: int | None = None, names: Any = None) -> Graph:
    """A graph from its edges.

    Parameters
    ----------
    edges : array-like of int of shape (m, 2)
        Pairs of nodes, numbered from 0; each edge once, in either direction.
    values : array-like of shape (m,) or None, default=None
        Lengths or weights, above 0; None for one each.
    n_nodes : int or None, default=None
        None for one more than the largest number.
    names : sequence of str or None, default=None

    Returns
    -------
    graph : Graph

    Examples
    --------
    >>> graph([[0, 1], [1, 2]]).degrees().tolist()
    [1, 2, 1]
    """
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    numbers = np.ones(len(pairs)) if values is None else np.asarray(values, dtype=np.float64)
    n = int(pairs.max(initial=-1)) + 1 if n_nodes is None else int(n_nodes)
    if len(numbers) != len(pairs):
        raise DataError(f"there are {len(pairs)} edges and {len(numbers)} values")
    if pairs.min(initial=0) < 0 or pairs.max(initial=-1) >= n:
        raise DataError(f"nodes are numbered 0 to {n - 1}")
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise DataError(f"edge {int(np.argmax(~(numbers > 0)))} has no value above 0")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise DataError(f"node {pairs[pairs[:, 0] == pairs[:, 1]][0, 0]} has an edge to itself")
    ordered = np.sort(pairs, axis=1)
    if len(np.unique(ordered, axis=0)) < len(pairs):
        raise DataError("an edge stands there twice: add up or average their values first")
    return Graph(pairs, numbers, n, [str(k) for k in range(n)] if names is None else list(names))


def lattice(rows: int, columns: int) -> Graph:
    """A lattice of nodes with unit edges, numbered row by row (004 16.3).

    Parameters
    ----------
    rows, columns : int

    Returns
    -------
    graph : Graph

    Examples
    --------
    >>> len(lattice(30, 30).edges)
    1740
    """
    numbers = np.arange(rows * columns).reshape(rows, columns)
    across = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
    down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
    return graph(np.vstack([across, down]), n_nodes=rows * columns)


def activity_network(activities: Any, *, names: Any = None, least: float = 1.0) -> Graph:
    """A network of people from what they do: the weight of a pair is its common activity.

    Texts: 004 16.1.

    Parameters
    ----------
    activities : array-like or sparse matrix of shape (n_people, n_activities), or (n, n) messages
        How often each took part in each activity; the pair's weight is ``sum_a min(x_ia, x_ja)``.
        A square table is taken as messages from row to column: the weight is what went both ways.
    names : sequence of str or None, default=None
    least : float, default=1.0
        Pairs of less weight get no edge.

    Returns
    -------
    network : Graph
        ``isolated`` lists people without an edge; they stay in it.

    Examples
    --------
    >>> network = activity_network([[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]])
    >>> network.edges.tolist(), network.values.tolist(), network.isolated.tolist()
    ([[0, 1], [1, 3]], [2.0, 1.0], [2])
    """
    table = (
        sp.csr_array(np.asarray(activities, dtype=np.float64))
        if not sp.issparse(activities)
        else sp.csr_array(activities, dtype=np.float64)
    )
    if table.nnz and table.data.min() < 0:
        raise DataError("activities are counts; there is a negative one")
    if table.shape[0] == table.shape[1]:
        common = table + table.T
    else:
        # sum_a min(x, y) = sum over levels t of [x >= t][y >= t]
        common = sp.csr_array((table.shape[0], table.shape[0]))
        before = 0.0
        for level in np.unique(table.data):
            reached = table.copy()
            reached.data = (reached.data >= level).astype(np.float64)
            common = common + (level - before) * (reached @ reached.T)
            before = level
    upper = sp.triu(common, k=1).tocoo()
    kept = upper.data >= least
    edges = np.column_stack([upper.row[kept], upper.col[kept]])
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return graph(edges[order], upper.data[kept][order], table.shape[0], names)


def stress_layout(
    net: Graph,
    n_components: int = 2,
    *,
    missing: str = "paths",
    default_distance: float = 20.0,
    default_weight: float = 1e-5,
    start: Any = None,
    max_iter: int = 5000,
    tol: float = 1e-13,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DistanceMap:
    """Nodes placed so that edges get their lengths (004 16.1, 16.3).

    Edges alone leave most freedom: a chain of unit edges has stress zero folded or straight, and a
    lattice can lie in a heap. Completing all pairs by shortest paths unfolds it, somewhat like a
    pillow; a default distance of small weight pushes all others apart, and too small a one bends
    the sheet to a ball.

    Parameters
    ----------
    net : Graph
        Edges with lengths.
    n_components : int, default=2
    missing : {"paths", "repel", "none"}, default="paths"
        What unconnected pairs get: the shortest path; `default_distance` with `default_weight`; no
        term at all.
    default_distance, default_weight : float
        The text's are 20 and 1e-5 for its 30 x 30 lattice.
    start : array-like of shape (n_nodes, n_components) or None, default=None
        None for random places (principal coordinates for "paths").
    max_iter : int, default=5000
    tol : float, default=1e-13
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    map : DistanceMap

    Examples
    --------
    >>> found = stress_layout(lattice(3, 3), missing="none", random_state=0)
    >>> found.objective < 1e-6
    True
    """
    if missing not in ("paths", "repel", "none"):
        raise DataError(f"missing={missing!r} must be 'paths', 'repel' or 'none'")
    rng = check_random_state(random_state)
    if start is None and missing != "paths":
        size = max(net.values.mean() if len(net.values) else 1.0, 1e-12)
        start = size * np.sqrt(net.n_nodes) * rng.standard_normal((net.n_nodes, n_components)) / 2
    if missing == "none":
        objective = PairObjective(net.edges, net.values, np.ones(len(net.edges)))
        placed, result, history = descend(objective, np.asarray(start), max_iter, tol)
        size = (net.values**2).sum()
        return DistanceMap(
            placed,
            float(result.fun),
            float(np.sqrt(result.fun / size)) if size > 0 else 0.0,
            int(result.nit),
            result.nit < max_iter,
            history,
            method="stress of edges",
        )
    table, weights = net.distances(), None
    if missing == "paths":
        table = complete_by_paths(table)
    else:
        gone = np.isnan(table)
        table = np.where(gone, default_distance, table)
        weights = np.where(gone, default_weight, 1.0)
    return stress_map(
        table,
        n_components,
        weights=weights,
        start="coordinates" if start is None else start,
        max_iter=max_iter,
        tol=tol,
        n_jobs=n_jobs,
    )


@dataclass(repr=False)
class Motion(Result):
    """A layout that moved to rest.

    Attributes
    ----------
    places : ndarray of shape (n, k)
        At rest.
    frames : list of ndarray
        Places along the way, for an animation.
    energies : list of float
        Stress plus kinetic energy at each frame; friction only takes from it.
    objective : float
        Stress at rest.
    n_steps : int
    at_rest : bool
    """

    places: np.ndarray
    frames: list[np.ndarray]
    energies: list[float]
    objective: float
    n_steps: int
    at_rest: bool

    def _title(self) -> str:
        end = "at rest" if self.at_rest else "still moving"
        return (
            f"Springs with friction: {end} after {self.n_steps} steps, stress {self.objective:.4g}"
        )

    def _columns(self) -> dict[str, list]:
        return {"frame": list(range(len(self.energies))), "energy": self.energies}


def force_directed_layout(
    net: Graph,
    n_components: int = 2,
    *,
    stiffness: Any = None,
    friction: float = 0.5,
    step: float | None = None,
    missing: str = "none",
    start: Any = None,
    max_iter: int = 5000,
    tol: float = 1e-6,
    every: int = 10,
    random_state: Any = None,
) -> Motion:
    """Springs between nodes, let go, slowed by friction until at rest (004 16.1).

    Each spring has the edge's length as its rest length and a constant w; rest is a local minimum
    of the stress. `stress_layout` finds it faster; this one can be watched (``frames``).

    Parameters
    ----------
    net : Graph
        Edges with rest lengths.
    n_components : int, default=2
    stiffness : array-like of shape (n_edges,) or None, default=None
        Spring constants; None for one each.
    friction : float, default=0.5
        Force per unit of speed.
    step : float or None, default=None
        Time step; None for one that is stable for the stiffest node.
    missing : {"none", "paths"}, default="none"
        "paths" adds springs of the shortest paths' lengths between all other pairs.
    start : array-like of shape (n_nodes, n_components) or None, default=None
    max_iter : int, default=5000
    tol : float, default=1e-6
        At rest when no node moves faster than this share of the mean length.
    every : int, default=10
        Keep a frame every so many steps.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    motion : Motion

    Examples
    --------
    >>> motion = force_directed_layout(graph([[0, 1]], [2.0]), random_state=0)
    >>> round(float(abs(motion.places[0] - motion.places[1]).max() > 0))
    1
    """
    pairs, lengths = net.edges, net.values
    if missing == "paths":
        table = complete_by_paths(net.distances())
        pairs = np.column_stack(np.triu_indices(net.n_nodes, 1))
        lengths = table[pairs[:, 0], pairs[:, 1]]
    elif missing != "none":
        raise DataError(f"missing={missing!r} must be 'none' or 'paths'")
    constants = np.ones(len(pairs)) if stiffness is None else np.asarray(stiffness, np.float64)
    if len(constants) != len(pairs):
        raise DataError(f"there are {len(pairs)} springs and {len(constants)} constants")
    objective = PairObjective(pairs, lengths, constants)
    stiffest = np.bincount(pairs.ravel(), np.repeat(constants, 2), net.n_nodes).max(initial=1e-12)
    time_step = 0.5 / np.sqrt(4 * stiffest) if step is None else float(step)
    rng = check_random_state(random_state)
    size = float(lengths.mean()) if len(lengths) else 1.0
    if start is None:
        start = size * rng.standard_normal((net.n_nodes, n_components))
    places = np.ascontiguousarray(np.asarray(start, dtype=np.float64).T)
    speed = np.zeros_like(places)
    frames, energies, done = [places.T.copy()], [], False
    stress, gradient = objective(places)
    energies.append(stress)
    for number in range(1, max_iter + 1):
        speed = (speed - time_step * gradient) / (1 + time_step * friction)
        places = places + time_step * speed
        stress, gradient = objective(places)
        done = bool(np.abs(speed).max() <= tol * size and np.abs(gradient).max() <= tol * size)
        if number % every == 0 or done:
            frames.append(places.T.copy())
            energies.append(stress + float((speed**2).sum()) / 2)
        if done:
            break
    final = places.T - places.T.mean(axis=0)
    return Motion(final, frames, energies, float(stress), number, done)


@dataclass(repr=False)
class SpectralLayout(Result):
    """Places from eigenvectors of the Laplacian.

    Attributes
    ----------
    places : ndarray of shape (n, k)
        Columns of mean 0 and length 1, orthogonal to each other, within each part.
    eigenvalues : ndarray of shape (k,)
        Hall's energy of each axis, of the largest part.
    algebraic_connectivity : float
        The second smallest eigenvalue; 0 where the graph falls apart.
    parts : ndarray of int of shape (n,)
        The connected part of each node.
    """

    places: np.ndarray
    eigenvalues: np.ndarray
    algebraic_connectivity: float
    parts: np.ndarray

    def _title(self) -> str:
        return f"Spectral layout: algebraic connectivity {self.algebraic_connectivity:.4g}"

    def _columns(self) -> dict[str, list]:
        return {
            "axis": list(range(1, len(self.eigenvalues) + 1)),
            "energy": list(self.eigenvalues),
        }


def spectral_layout(
    net: Graph, n_components: int = 2, *, disconnected: str = "refuse"
) -> SpectralLayout:
    """Nodes at the eigenvectors of the Laplacian with the smallest positive eigenvalues.

    Minimises Hall's energy ``sum w_ij (x_i - x_j)^2`` under ``x'x = 1, x'1 = 0``: the Fiedler
    vector; the next axis is the next eigenvector. Nodes of similar neighbours fall together.

    Texts: 004 16.2.

    Parameters
    ----------
    net : Graph
        Edges with weights (large: near).
    n_components : int, default=2
    disconnected : {"refuse", "apart"}, default="refuse"
        A graph in several parts: refuse it, or lay out each by itself, side by side.

    Returns
    -------
    layout : SpectralLayout

    Examples
    --------
    >>> layout = spectral_layout(graph([[0, 1], [1, 2]]), 1)
    >>> round(layout.algebraic_connectivity, 6)
    1.0
    """
    weights = net.matrix()
    n_parts, parts = connected_components(weights, directed=False)
    if n_parts > 1 and disconnected == "refuse":
        raise DataError(
            f"the graph falls into {n_parts} parts, so that its smallest eigenvectors only tell "
            "them apart: use disconnected='apart', or lay out one part"
        )
    places = np.zeros((net.n_nodes, n_components))
    largest = int(np.argmax(np.bincount(parts)))
    kept = np.zeros(n_components)
    offset = 0.0
    for part in range(n_parts):
        inside = np.flatnonzero(parts == part)
        k = min(n_components, len(inside) - 1)
        if k > 0:
            values, vectors = _smallest(graph_laplacian(weights[inside][:, inside]), k)
            places[inside, :k] = vectors
            if part == largest:
                kept[:k] = values
        if n_parts > 1:
            low, high = places[inside, 0].min(), places[inside, 0].max()
            places[inside, 0] += offset - low
            offset += high - low + 0.2
    connectivity = 0.0 if n_parts > 1 else float(kept[0])
    return SpectralLayout(places, kept, connectivity, parts)


def _smallest(laplacian: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenpairs of a connected Laplacian after the constant one."""
    n = laplacian.shape[0]
    if n <= SMALL_GRAPH:
        values, vectors = scipy.linalg.eigh(laplacian.toarray())
        values, vectors = values[1 : k + 1], vectors[:, 1 : k + 1]
    else:
        scale = float(laplacian.diagonal().max())
        start = np.random.default_rng(0).standard_normal(n)
        shift = -1e-6 * scale
        values, vectors = eigsh(sp.csc_array(laplacian), k + 1, sigma=shift, v0=start)
        order = np.argsort(values)
        values, vectors = values[order][1:], vectors[:, order][:, 1:]
    return np.maximum(values, 0.0), with_signs(np.ascontiguousarray(vectors.T)).T


@dataclass(repr=False)
class LayoutEnergies(Result):
    """What a layout looks like, in numbers.

    Attributes
    ----------
    crossings : int
        Pairs of edges that cross.
    smallest_angle : float
        The least angle between two edges at a node, in degrees.
    angle_energy : float
        Sum over neighbouring edges at a node of ``(1 - angle / (2 pi / degree))^2`` where narrower.
    length_spread : float
        Standard deviation of drawn edge length over wanted length, over its mean.
    closest : float
        Least distance of two nodes over the mean length of edges.
    total : float
        The weighted sum.
    """

    crossings: int
    smallest_angle: float
    angle_energy: float
    length_spread: float
    closest: float
    total: float

    def _title(self) -> str:
        return f"Layout energy {self.total:.4g}"

    def _columns(self) -> dict[str, list]:
        names = ("crossings", "smallest_angle", "angle_energy", "length_spread", "closest")
        return {
            "what": [name.replace("_", " ") for name in names],
            "value": [float(getattr(self, name)) for name in names],
        }


def layout_energies(
    net: Graph,
    places: Any,
    *,
    crossings: float = 1.0,
    angles: float = 1.0,
    lengths: float = 1.0,
) -> LayoutEnergies:
    """How a layout looks: crossings, narrow angles, uneven lengths, with weights of one's own.

    Texts: 004 16.3.

    Parameters
    ----------
    net : Graph
    places : array-like of shape (n_nodes, 2)
    crossings, angles, lengths : float, default=1.0
        Weights in ``total``.

    Returns
    -------
    energies : LayoutEnergies

    Examples
    --------
    >>> square = graph([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> layout_energies(square, [[0, 0], [1, 0], [1, 1], [0, 1]]).crossings
    0
    >>> layout_energies(square, [[0, 0], [1, 1], [1, 0], [0, 1]]).crossings
    1
    """
    at = np.asarray(places, dtype=np.float64)
    if at.shape != (net.n_nodes, 2):
        raise DataError(f"places must have shape {(net.n_nodes, 2)}, not {at.shape}")
    n_crossings = count_crossings(net.edges, at)
    narrow, energy = _angles(net, at)
    drawn = np.linalg.norm(at[net.edges[:, 0]] - at[net.edges[:, 1]], axis=1)
    ratios = drawn / net.values
    mean = max(float(ratios.mean()), 1e-300) if len(ratios) else 1.0
    spread = float(ratios.std() / mean) if len(ratios) else 0.0
    gaps = np.linalg.norm(at[:, np.newaxis] - at, axis=2) if net.n_nodes <= 2000 else None
    if gaps is None:
        from scipy.spatial import cKDTree

        closest = float(cKDTree(at).query(at, 2)[0][:, 1].min())
    else:
        np.fill_diagonal(gaps, np.inf)
        closest = float(gaps.min())
    closest /= max(float(drawn.mean()), 1e-300) if len(drawn) else 1.0
    total = crossings * n_crossings + angles * energy + lengths * len(net.edges) * spread**2
    return LayoutEnergies(n_crossings, narrow, energy, spread, closest, float(total))


def count_crossings(edges: np.ndarray, at: np.ndarray) -> int:
    """Pairs of edges without a common node that cross each other."""
    one, other = at[edges[:, 0]], at[edges[:, 1]]
    total = 0
    for m in range(len(edges) - 1):
        a, b = one[m], other[m]
        c, d = one[m + 1 :], other[m + 1 :]
        apart = ~np.isin(edges[m + 1 :], edges[m]).any(axis=1)
        sides = _side(a, b, c) * _side(a, b, d) < 0
        back = _side(c, d, a) * _side(c, d, b) < 0
        total += int((apart & sides & back).sum())
    return total


def _side(a, b, c):
    """Sign of the turn from a over b to c, of pairs of points or of many."""
    return np.sign(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
        - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


def _angles(net: Graph, at: np.ndarray) -> tuple[float, float]:
    neighbors: list[list[int]] = [[] for _ in range(net.n_nodes)]
    for i, j in net.edges:
        neighbors[i].append(j)
        neighbors[j].append(i)
    narrowest, energy = 2 * np.pi, 0.0
    for node, others in enumerate(neighbors):
        if len(others) < 2:
            continue
        towards = at[others] - at[node]
        angles = np.sort(np.arctan2(towards[:, 1], towards[:, 0]))
        gaps = np.diff(np.r_[angles, angles[0] + 2 * np.pi])
        narrowest = min(narrowest, float(gaps.min()))
        energy += float((np.maximum(1 - gaps * len(others) / (2 * np.pi), 0.0) ** 2).sum())
    return float(np.degrees(narrowest)), energy


def tuned_layout(
    net: Graph,
    start: Any = None,
    *,
    crossings: float = 1.0,
    angles: float = 1.0,
    lengths: float = 1.0,
    rounds: int = 30,
    random_state: Any = None,
) -> np.ndarray:
    """A layout improved in the energies of `layout_energies`, node by node.

    Each round tries for every node a few random moves that shrink from round to round, and keeps
    what lowers the total: for small graphs to be looked at.

    Parameters
    ----------
    net : Graph
    start : array-like of shape (n_nodes, 2) or None, default=None
        None for `stress_layout`.
    crossings, angles, lengths : float, default=1.0
    rounds : int, default=30
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    places : ndarray of shape (n_nodes, 2)

    Examples
    --------
    >>> square = graph([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> tangled = [[0, 0], [1, 1], [1, 0], [0, 1]]
    >>> places = tuned_layout(square, tangled, random_state=0)
    >>> layout_energies(square, places).crossings
    0
    """
    rng = check_random_state(random_state)
    at = stress_layout(net, random_state=rng).places if start is None else np.asarray(start)
    at = np.array(at, dtype=np.float64)
    taste = {"crossings": crossings, "angles": angles, "lengths": lengths}
    best = layout_energies(net, at, **taste).total
    reach = 2 * float(at.std()) or 1.0
    for number in range(rounds):
        size = reach * (1 - number / rounds)
        for node in rng.permutation(net.n_nodes):
            old = at[node].copy()
            at[node] = old + size * rng.standard_normal(2)
            found = layout_energies(net, at, **taste).total
            if found < best:
                best = found
            else:
                at[node] = old
    return at


def ego_network(net: Graph, node: int, steps: int = 1) -> tuple[Graph, np.ndarray]:
    """The nodes within some steps of one node, and the edges among them (004 16.1).

    Parameters
    ----------
    net : Graph
    node : int
    steps : int, default=1

    Returns
    -------
    part : Graph
    nodes : ndarray of int
        Their numbers in `net`, the focus first.

    Examples
    --------
    >>> ego_network(graph([[0, 1], [1, 2], [2, 3]]), 0, steps=2)[1].tolist()
    [0, 1, 2]
    """
    if not 0 <= node < net.n_nodes:
        raise DataError(f"nodes are numbered 0 to {net.n_nodes - 1}, not {node}")
    order, before = breadth_first_order(net.matrix(), node, directed=False)
    depth = np.zeros(net.n_nodes, dtype=np.int64)
    for each in order[1:]:
        depth[each] = depth[before[each]] + 1
    nodes = order[depth[order] <= steps]
    number = np.full(net.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    kept = (number[net.edges] >= 0).all(axis=1)
    names = [net.names[k] for k in nodes]
    return Graph(number[net.edges[kept]], net.values[kept], len(nodes), names), nodes
