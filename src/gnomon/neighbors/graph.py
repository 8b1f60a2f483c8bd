"""Neighbours that are given: a sparse matrix of the distances that are known.

Row i of the matrix holds the distances of sample i to some of the training rows; a distance of zero
is stored, and a pair that is not stored is no pair of neighbours.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import EfficiencyWarning

from gnomon.engine.storable import storable
from gnomon.engine.stored import Array
from gnomon.neighbors.index import Neighbors


def checked_graph(graph: Any) -> sp.csr_array:
    """A sparse matrix of distances with the entries of each row in rising order."""
    graph = sp.csr_array(graph, dtype=np.float64)
    negative = graph.data < 0
    if negative.any():
        raise ValueError(
            "Negative values in data passed to precomputed distance matrix; the first is "
            f"{graph.data[negative.argmax()]:g}"
        )
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    if (np.diff(graph.data)[np.diff(rows) == 0] >= 0).all():
        return graph
    warnings.warn(
        "Precomputed sparse input was not sorted by row values. Use the function "
        "sklearn.neighbors.sort_graph_by_row_values to sort the input by row values, with "
        "warn_when_not_sorted=False to remove this warning.",
        EfficiencyWarning,
        stacklevel=9,
    )
    order = np.lexsort((graph.indices, graph.data, rows))
    return sp.csr_array((graph.data[order], graph.indices[order], graph.indptr), graph.shape)


@storable
class GraphIndex:
    """Training rows of which only some distances are known.

    Parameters
    ----------
    graph : csr_array of shape (n_rows, n_rows)
        Distances between training rows, those of each row in rising order.
    """

    chosen = "brute"
    _stored = {
        "graph": Array("f", ("n_rows", "n_rows"), sparse=True),
    }

    def __init__(self, graph: sp.csr_array):
        self.graph = graph

    @classmethod
    def of(cls, graph: Any) -> GraphIndex:
        """The index of a matrix that was not checked yet."""
        if graph.shape[0] != graph.shape[1]:
            raise ValueError(
                "Precomputed matrix must be square. Input is a "
                f"{graph.shape[0]}x{graph.shape[1]} matrix."
            )
        return cls(checked_graph(graph))

    @property
    def n_rows(self) -> int:
        return self.graph.shape[0]

    def nearest(self, rows: Any, k: int) -> Neighbors:
        """The k nearest training rows of each row of a matrix of distances."""
        if not sp.issparse(rows):
            raise ValueError("the training distances were sparse: give a sparse matrix here too")
        graph = checked_graph(rows)
        counts = np.diff(graph.indptr)
        if (counts < k).any():
            short = int((counts < k).argmax())
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only "
                f"{counts.min()} neighbors in precomputed graph matrix (sample {short}). Decrease "
                "number of neighbors used or recompute the graph with more neighbors."
            )
        places = graph.indptr[:-1, None] + np.arange(k)
        return Neighbors(graph.data[places], graph.indices[places].astype(np.int64))

    def search(self, rows: Any, k: int, n_jobs: int | None = None) -> Neighbors:
        """`nearest`; it is too little work for threads."""
        return self.nearest(rows, k)

    def others(self, k: int, n_jobs: int | None = None) -> Neighbors:
        """The k nearest other training rows of every training row."""
        return self.nearest(self._without_self(), k)

    def _without_self(self) -> sp.csr_array:
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.graph.indptr))
        kept = rows != self.graph.indices
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=self.n_rows))])
        return sp.csr_array(
            (self.graph.data[kept], self.graph.indices[kept], starts), self.graph.shape
        )

    def within(self, rows: Any, radius: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each row the training rows within a radius, nearest first."""
        graph = checked_graph(rows)
        ends = [np.searchsorted(self_, radius, "right") for self_ in _parts(graph, graph.data)]
        distances = [part[:end] for part, end in zip(_parts(graph, graph.data), ends)]
        indices = [part[:end] for part, end in zip(_parts(graph, graph.indices), ends)]
        return distances, [part.astype(np.int64) for part in indices]

    def others_within(self, radius: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """For each training row the other training rows within a radius, nearest first."""
        return self.within(self._without_self(), radius)

    def blocks(self, rows: Any):
        """Distances to all training rows in one block; infinite where they are not known."""
        graph = checked_graph(rows)
        block = np.full(graph.shape, np.inf)
        block[np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices] = (
            graph.data
        )
        yield 0, block

    def _check_loaded(self) -> None:
        if not sp.issparse(self.graph) or self.graph.shape[0] != self.graph.shape[1]:
            raise ValueError("the known distances are no square sparse matrix")


def _parts(graph: sp.csr_array, values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, graph.indptr[1:-1])
