"""Sparse rows for methods whose kernels take dense ones: dense chunk by chunk, never as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Data
from gnomon.engine.sums import (
    CHUNK_CELLS,
    FEWEST_ROWS,
    MOST_ROWS,
    ArraySource,
    Chunk,
    as_float_rows,
)


@dataclass
class SparseSource:
    """The chunks of a sparse source as dense rows.

    Attributes
    ----------
    sparse : ArraySource
    """

    sparse: ArraySource

    @property
    def n_rows(self) -> int:
        return self.sparse.n_rows

    @property
    def n_columns(self) -> int:
        return self.sparse.n_columns

    @property
    def weighted(self) -> bool:
        return self.sparse.weighted

    def chunks(self) -> Iterator[Chunk]:
        """The chunks, each made dense when its turn comes."""
        for chunk in self.sparse.chunks():
            yield chunk._replace(rows=dense_rows(chunk.rows))


def dense_rows(rows: Any) -> np.ndarray:
    """Rows as a C-ordered float64 array."""
    if sp.issparse(rows):
        return rows.toarray(order="C").astype(np.float64, copy=False)
    return np.ascontiguousarray(rows, dtype=np.float64)


def sparse_by_entries(data: Data, n_centers: int) -> Data:
    """Sparse data in chunks of as many entries and products with centers as dense ones have."""
    source = data.source
    assert isinstance(source, ArraySource)
    each = max(source.rows.nnz / max(source.n_rows, 1), n_centers, 1.0)
    size = int(min(max(CHUNK_CELLS / each, FEWEST_ROWS), MOST_ROWS))
    rows = as_float_rows(source.rows)
    return Data(ArraySource(rows, source.y, source.weights, size=size), data.columns, data.kept)


def for_dense_kernels(data: Data) -> Data:
    """Data whose chunks are dense rows, of float32 where the rows are.

    Sparse rows become dense chunk by chunk in every pass; kernels read float32 as it is, and
    compute in double precision.
    """
    source = data.source
    if not isinstance(source, ArraySource):
        return data
    if sp.issparse(source.rows):
        return Data(SparseSource(source), data.columns, data.kept)
    if source.rows.dtype == np.float64:
        return data
    rows = np.ascontiguousarray(source.rows)
    kept = ArraySource(rows, source.y, source.weights, keeps_float32=True)
    return Data(kept, data.columns, data.kept)
