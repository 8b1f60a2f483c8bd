"""Kernels of things that are no rows: sequences and graphs.

Each gives a Gram matrix of a list of things, which any kernel machine takes
(``SVC(kernel="precomputed")``).

Spectrum: phi_u(s) is the share of substring u among all substrings of length k of s. Graphlets:
phi_F(G) is the share of pattern F among all induced subgraphs of its size. Random walks: sum_k
lambda^k 1' A^k 1 = 1' (I - lambda A)^-1 1 on the product graph, which counts the walks that two
graphs have in common.

Texts: 002 L1759-1848 (the graph kernels; sequences are named there).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError

MOST_PATTERN_NODES = 6  # up to 6! orders are tried for each canonical form


class FeatureKernel:
    """A kernel by explicit features: a class gives ``features``, a dict per thing."""

    def features(self, thing: Any) -> dict[Hashable, float]:
        """Features of one thing, those that are not zero."""
        raise NotImplementedError

    def __call__(self, one: Sequence[Any], other: Sequence[Any] | None = None) -> np.ndarray:
        """Matrix of <phi(a), phi(b)>; `other` is `one` by default."""
        first = [self.features(thing) for thing in one]
        second = first if other is None else [self.features(thing) for thing in other]
        names = {name: j for j, name in enumerate(sorted({n for f in second for n in f}, key=repr))}
        left, right = _table(first, names), _table(second, names)
        return left @ right.T


def _table(features: list[dict], names: dict) -> np.ndarray:
    table = np.zeros((len(features), len(names)))
    for row, found in enumerate(features):
        for name, value in found.items():
            if name in names:
                table[row, names[name]] = value
    return table


@dataclass(frozen=True)
class SpectrumKernel(FeatureKernel):
    """k-spectrum kernel of sequences: which substrings of length k they have in common.

    For text, strands of genes or any sequences of hashable symbols. A sequence shorter than k has
    no substring and is like nothing. Texts: 002 L1844-1848 (named there).

    Attributes
    ----------
    k : int
        Length of the substrings.
    counts : bool
        Whether features are counts instead of shares.

    Examples
    --------
    >>> from gnomon.margin import SpectrumKernel
    >>> SpectrumKernel(2, counts=True)(["abab", "abba"]).tolist()
    [[5.0, 3.0], [3.0, 3.0]]
    """

    k: int = 3
    counts: bool = False

    def features(self, thing: Sequence[Hashable]) -> dict[Hashable, float]:
        """Shares (or counts) of the substrings of a sequence."""
        if self.k < 1:
            raise DataError(f"substrings have a length of 1 or more, not {self.k}")
        found = Counter(tuple(thing[i : i + self.k]) for i in range(len(thing) - self.k + 1))
        total = 1 if self.counts else max(sum(found.values()), 1)
        return {name: count / total for name, count in found.items()}


def adjacency(graph: Any) -> np.ndarray:
    """An undirected graph without loops as a matrix of 0 and 1.

    Parameters
    ----------
    graph : array-like of shape (n, n)

    Returns
    -------
    matrix : ndarray of int
    """
    matrix = np.asarray(graph)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a graph is a square matrix of 0 and 1, not of shape {matrix.shape}")
    matrix = (matrix != 0).astype(np.int64)
    if (matrix != matrix.T).any() or matrix.diagonal().any():
        raise DataError("a graph must be undirected (symmetric) and without loops (diagonal 0)")
    return matrix


def canonical_form(matrix: np.ndarray) -> tuple[int, tuple[int, ...]]:
    """The same for two graphs exactly where they are isomorphic; for few nodes."""
    n = len(matrix)
    upper = np.triu_indices(n, 1)
    forms = (tuple(matrix[np.ix_(p, p)][upper].tolist()) for p in permutations(range(n)))
    return n, min(forms)


@dataclass(frozen=True)
class GraphletKernel(FeatureKernel):
    """Subgraph-counting kernel of graphs: how often small patterns occur in them.

    For tables of many small graphs, given as matrices of 0 and 1; not for one huge network. All
    patterns of a size are counted as induced subgraphs (of size three: by 0, 1, 2 or 3 edges), or
    those of a list. Texts: 002 L1759-1837.

    Attributes
    ----------
    size : int
        Nodes of the patterns, 2 to 6; size three is counted in closed form.
    patterns : tuple of array-like or None
        Patterns to count instead of all of a size.

    Examples
    --------
    >>> from gnomon.margin import GraphletKernel
    >>> triangle = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> GraphletKernel(3)([triangle, path]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    size: int = 3
    patterns: tuple[Any, ...] | None = None

    def features(self, thing: Any) -> dict[Hashable, float]:
        """Share of each pattern among the induced subgraphs of its size."""
        matrix = adjacency(thing)
        if self.patterns is None:
            if self.size == 3:
                return _by_edges(matrix)
            return _census(matrix, self.size)
        wanted = [canonical_form(adjacency(pattern)) for pattern in self.patterns]
        found: dict[Hashable, float] = {}
        for size in {n for n, _ in wanted}:
            shares = _census(matrix, size)
            found |= {form: shares[form] for form in wanted if form in shares}
        return found


def _by_edges(matrix: np.ndarray) -> dict[Hashable, float]:
    """Triples of nodes by their number of edges, from degrees and triangles."""
    n = len(matrix)
    if n < 3:
        return {}
    degrees = matrix.sum(axis=0)
    edges = int(degrees.sum()) // 2
    triangles = int(np.einsum("ij,ji->", matrix @ matrix, matrix)) // 6
    paths = int((degrees * (degrees - 1) // 2).sum()) - 3 * triangles
    single = edges * (n - 2) - 2 * paths - 3 * triangles
    counts = [comb(n, 3) - single - paths - triangles, single, paths, triangles]
    return {edge: count / comb(n, 3) for edge, count in enumerate(counts) if count}


def _census(matrix: np.ndarray, size: int) -> dict[Hashable, float]:
    """Share of each induced subgraph of a size, by its canonical form."""
    if not 2 <= size <= MOST_PATTERN_NODES:
        raise DataError(f"patterns have 2 to {MOST_PATTERN_NODES} nodes, not {size}")
    known: dict[bytes, Hashable] = {}
    found: Counter = Counter()
    for nodes in combinations(range(len(matrix)), size):
        part = matrix[np.ix_(nodes, nodes)]
        key = part.tobytes()
        if key not in known:
            known[key] = canonical_form(part)
        found[known[key]] += 1
    total = max(sum(found.values()), 1)
    return {form: count / total for form, count in found.items()}


@dataclass(frozen=True)
class RandomWalkKernel:
    """Random-walk kernel of graphs: walks that two graphs have in common, long ones counting less.

    k(G, G') = sum_k decay^k 1' A_x^k 1, A_x that of the product graph; finite only where decay is
    below 1 / (rho(A) rho(A')), rho the greatest eigenvalue. Texts: 002 L1839-1842.

    Attributes
    ----------
    decay : float or None
        None for half of the greatest that all given graphs allow.

    Examples
    --------
    >>> from gnomon.margin import RandomWalkKernel
    >>> edge = [[0, 1], [1, 0]]
    >>> RandomWalkKernel(0.5)([edge]).round(6).tolist()
    [[8.0]]
    """

    decay: float | None = None

    def __call__(self, one: Sequence[Any], other: Sequence[Any] | None = None) -> np.ndarray:
        """Matrix of k(G, G'); `other` is `one` by default."""
        first = [_spectrum(graph) for graph in one]
        second = first if other is None else [_spectrum(graph) for graph in other]
        most = max(s[0].max() for s in first) * max(s[0].max() for s in second)
        decay = self.decay
        if decay is None:
            decay = 0.5 / most if most > 0 else 0.5
        elif decay * most >= 1:
            raise DataError(
                f"decay={decay:g} lets walks grow without bound; it must be below {1 / most:.6g}, "
                "one over the product of the graphs' greatest eigenvalues"
            )
        # with A = U diag(a) U' the sum over products of eigenvalues is closed
        return np.array(
            [
                [
                    share @ (1 / (1 - decay * np.outer(values, others))) @ other_share
                    for others, other_share in second
                ]
                for values, share in first
            ]
        )


def _spectrum(graph: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, and squared sums of the eigenvectors' entries."""
    values, vectors = np.linalg.eigh(adjacency(graph).astype(np.float64))
    return values, vectors.sum(axis=0) ** 2
