"""Distances between rows by any metric of scikit-learn's, in blocks, for clusterers by density.

Rows of numbers with Euclidean distance have trees of boxes (`gnomon.cluster.boxes`) and are not
compared here. Sparse rows stay sparse; a sparse matrix of precomputed distances holds those that
are known, and all others are beyond reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances, pairwise_distances_chunked
from sklearn.neighbors import VALID_METRICS

METRICS = {
    *VALID_METRICS["brute"],
    *VALID_METRICS["ball_tree"],
    *VALID_METRICS["kd_tree"],
} - {"pyfunc", "sokalmichener"}  # SciPy has no longer the latter
EUCLIDEAN = ("euclidean", "l2")
SAME = {"p": "minkowski", "infinity": "chebyshev"}
BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath")


class Metric:
    """A metric by name or function, with its arguments.

    Parameters
    ----------
    name : str or callable
    arguments : dict or None
    p : float or None
        Power of "minkowski".
    """

    def __init__(self, name: Any, arguments: dict[str, Any] | None = None, p: float | None = None):
        self.name = SAME.get(name, name) if isinstance(name, str) else name
        self.arguments = dict(arguments or {})
        if self.name == "minkowski" and p is not None:
            self.arguments.setdefault("p", p)
        if self.name == "mahalanobis" and "V" in self.arguments:
            self.arguments["VI"] = np.linalg.inv(self.arguments.pop("V"))

    @property
    def is_euclidean(self) -> bool:
        """Whether it is the plain Euclidean distance."""
        if self.name == "minkowski":
            return self.arguments.get("p", 2) == 2 and "w" not in self.arguments
        return isinstance(self.name, str) and self.name in EUCLIDEAN

    @property
    def is_precomputed(self) -> bool:
        return isinstance(self.name, str) and self.name == "precomputed"

    def between(self, one: Any, other: Any) -> np.ndarray:
        """Distance of every row of one block to every row of another."""
        return pairwise_distances(
            self._as_taken(one), self._as_taken(other), metric=self.name, **self.arguments
        )

    def within(self, rows: Any) -> np.ndarray:
        """Distances of all rows to each other; given ones where they are precomputed."""
        if self.is_precomputed:
            return known_distances(rows) if sp.issparse(rows) else np.array(rows, np.float64)
        return self.between(rows, rows)

    def neighbors(self, rows: Any, eps: float) -> sp.csr_array:
        """Distances of all pairs of rows within eps, as a sparse matrix that stores zeros too."""
        if self.is_precomputed and sp.issparse(rows):
            return _with_diagonal(rows, eps)
        if self.is_precomputed:
            return _within(rows, eps)
        taken = self._as_taken(rows)
        blocks = pairwise_distances_chunked(taken, metric=self.name, **self.arguments)
        return sp.csr_array(sp.vstack([_within(block, eps) for block in blocks], format="csr"))

    def _as_taken(self, rows: Any) -> Any:
        return rows.astype(bool) if self.name in BOOLEAN and not sp.issparse(rows) else rows


def known_distances(graph: Any) -> np.ndarray:
    """A sparse matrix of distances as a dense one; infinite where none is stored."""
    graph = sp.coo_array(graph)
    found = np.full(graph.shape, np.inf)
    found[graph.row, graph.col] = graph.data
    return found


def _within(block: np.ndarray, eps: float) -> sp.csr_array:
    row, column = np.nonzero(block <= eps)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(block)))])
    return sp.csr_array((block[row, column], column, starts), shape=block.shape)


def _with_diagonal(graph: Any, eps: float) -> sp.csr_array:
    """The known distances within eps, each row being within reach of itself."""
    graph = sp.coo_array(graph)
    kept = (graph.data <= eps) & (graph.row != graph.col)
    own = np.arange(graph.shape[0])
    row = np.concatenate([graph.row[kept], own])
    column = np.concatenate([graph.col[kept], own])
    values = np.concatenate([graph.data[kept], np.zeros(len(own))])
    order = np.lexsort((column, row))
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(own)))])
    return sp.csr_array((values[order], column[order], starts), shape=graph.shape)


def spanning_tree(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The minimum spanning tree of a dense table of lengths, by Prim's algorithm.

    Parameters
    ----------
    lengths : ndarray of shape (n, n)

    Returns
    -------
    one, other : ndarray of int of shape (n - 1,)
    length : ndarray of shape (n - 1,)
        In rising order.
    """
    n = len(lengths)
    nearest, from_ = lengths[0].copy(), np.zeros(n, np.int64)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    one, other, length = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    for edge in range(n - 1):
        new = int(np.where(outside, nearest, np.inf).argmin())
        if not outside[new]:  # all that is left is infinitely far
            new = int(outside.argmax())
        one[edge], other[edge], length[edge] = from_[new], new, nearest[new]
        outside[new] = False
        closer = lengths[new] < nearest
        nearest[closer], from_[closer] = lengths[new][closer], new
    order = np.argsort(length, kind="stable")
    return one[order], other[order], length[order]
