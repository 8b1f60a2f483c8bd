"""What a method's ``_fit`` gets: rows as numbers, target, weights, what the columns are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.sums import ArraySource, Chunk, Source, rows_per_chunk
from gnomon.table.encode import Columns


@dataclass
class Data:
    """Rows ready to learn from.

    Attributes
    ----------
    source : Source
        The rows in chunks, from memory or streamed; rows of weight zero are already left out.
    columns : Columns
    kept : ndarray of bool or None
        Which of the given rows are here, when some had weight zero.
    """

    source: Source
    columns: Columns
    kept: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @cached_property
    def _in_memory(self) -> ArraySource:
        if isinstance(self.source, ArraySource):
            return self.source
        return gather(self.source)

    @property
    def rows(self) -> Any:
        """All rows in one array; a streamed source is gathered in memory first."""
        return self._in_memory.rows

    @property
    def y(self) -> np.ndarray | None:
        return self._in_memory.y

    @property
    def weights(self) -> np.ndarray | None:
        """Weights, or None where all are one."""
        return self._in_memory.weights

    @property
    def weight_array(self) -> np.ndarray:
        return np.ones(self.n_rows) if self.weights is None else self.weights


@dataclass
class ScanSource:
    """Rows streamed from a `gnomon.table.Scan` through a fitted encoder.

    Chunk borders are those of the same rows in memory, so that results are the same to the bit.
    """

    scan: Any
    encoder: Any
    n_rows: int
    target: Any = None
    weight_name: str | None = None

    @property
    def n_columns(self) -> int:
        return len(self.encoder.columns)

    @property
    def weighted(self) -> bool:
        return self.weight_name is not None

    def chunks(self) -> Iterator[Chunk]:
        size = rows_per_chunk(self.n_columns)
        number = start = 0
        for block in self.blocks():
            for inner in ArraySource(*block, size=size).chunks():
                n = inner.stop - inner.start
                yield inner._replace(
                    number=number, start=start, stop=start + n, weighted=self.weighted
                )
                number, start = number + 1, start + n

    def blocks(self) -> Iterator[tuple]:
        """Encoded rows, target and weights of whole numbers of chunks at a time."""
        for table in self.scan.chunks():
            rows = self.encoder.transform(table)
            y = self.target.encode(table) if self.target is not None else None
            weights = None
            if self.weight_name is not None:
                weights = column_weights(table, self.weight_name)
            yield rows, y, weights


def column_weights(table, name: str) -> np.ndarray:
    """A column of a table as weights."""
    weights = table.column(name).to_numpy().astype(np.float64)
    if not np.all(np.isfinite(weights)) or (weights < 0).any():
        raise DataError(
            f"the weights in column {name!r} must be numbers that are zero or more; "
            f"row {int(np.argmin(np.where(np.isfinite(weights), weights, -1)))} is not"
        )
    return weights


def gather(source: Source) -> ArraySource:
    """All chunks of a streamed source in one array."""
    rows = np.empty((source.n_rows, source.n_columns))
    y = weights = None
    for chunk in source.chunks():
        rows[chunk.start : chunk.stop] = chunk.rows
        if chunk.y is not None:
            if y is None:
                y = np.empty((source.n_rows, *chunk.y.shape[1:]), dtype=chunk.y.dtype)
            y[chunk.start : chunk.stop] = chunk.y
        if source.weighted:
            if weights is None:
                weights = np.empty(source.n_rows)
            weights[chunk.start : chunk.stop] = chunk.weights
    return ArraySource(rows, y, weights)
