"""What a method's ``_fit`` gets: rows as numbers, target, weights, what the columns are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.sums import (
    ArraySource,
    Chunk,
    Source,
    as_float_rows,
    read_only_ones,
    rows_per_chunk,
)
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
    as_table : callable or None
        Gives `table`; None where no table was given.
    factors : ndarray of shape (n_classes,) or None
        What ``class_weight`` multiplied the weights of each class by; it is in them already.
    """

    source: Source
    columns: Columns
    kept: np.ndarray | None = None
    as_table: Callable[[], Any] | None = None
    factors: np.ndarray | None = None

    @cached_property
    def table(self) -> Any:
        """The table that the rows were encoded from, all of its rows; None where there is none."""
        return None if self.as_table is None else self.as_table()

    @property
    def is_float32(self) -> bool:
        """Whether the rows are in memory as float32."""
        return getattr(getattr(self.source, "rows", None), "dtype", None) == np.float32

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
    def y(self) -> Any:
        """The target: class codes or numbers; None where the method has none."""
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

    Chunk borders are those of the same rows in memory, whatever the scan's pieces are, so that
    results are the same to the bit.

    Attributes
    ----------
    scan : Scan
    encoder : TableEncoder
    n_rows : int
        Rows of positive weight.
    target : object
        Its ``encode(table)`` gives the target of a piece, its ``factors`` those of the classes.
    weight_name : str or None
    weighted : bool
    check : callable
        Raises where encoded rows cannot be computed with.
    """

    scan: Any
    encoder: Any
    n_rows: int
    target: Any
    weight_name: str | None
    weighted: bool
    check: Callable[[np.ndarray], None]

    @property
    def n_columns(self) -> int:
        return len(self.encoder.columns)

    def chunks(self) -> Iterator[Chunk]:
        size = rows_per_chunk(self.n_columns)
        ones = read_only_ones(min(size, self.n_rows))
        start = 0
        for number, (rows, y, weights) in enumerate(cut(self.pieces(), size)):
            stop = start + len(rows)
            if not self.weighted:
                weights = ones[: len(rows)]
            yield Chunk(number, start, stop, rows, y, weights, self.weighted)
            start = stop

    def pieces(self) -> Iterator[Piece]:
        """Encoded rows, target and weights, rows of weight zero left out."""
        return self.encoded(self.scan.chunks())

    def encoded(self, tables: Iterable[Any]) -> Iterator[Piece]:
        """The same for some tables of the scan, wherever they are read."""
        for table in tables:
            rows = self.encoder.transform(table)
            self.check(rows)
            yield self.kept(rows, self.target.encode(table), self.weights_of(table))

    def weights_of(self, table: Any) -> np.ndarray | None:
        if self.weight_name is None:
            return None
        return column_weights(table, self.weight_name)

    def kept(self, rows: np.ndarray, y: np.ndarray | None, weights: np.ndarray | None) -> Piece:
        if self.target.factors is not None:
            factors = self.target.factors[y]
            weights = factors if weights is None else weights * factors
        if weights is None or (weights > 0).all():
            return rows, y, weights
        kept = weights > 0
        return rows[kept], None if y is None else y[kept], weights[kept]


@dataclass
class LazySource:
    """Rows of an array that is computed piece by piece, such as one of Dask.

    Attributes
    ----------
    array : object of shape (n_rows, n_columns)
        A slice of it becomes an array by ``np.asarray``.
    y, weights : ndarray or None
    check : callable
        Raises where rows cannot be computed with.
    """

    array: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    check: Callable[[np.ndarray], None]

    @property
    def n_rows(self) -> int:
        return int(self.array.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.array.shape[1])

    @property
    def weighted(self) -> bool:
        return self.weights is not None

    def chunks(self) -> Iterator[Chunk]:
        size = rows_per_chunk(self.n_columns)
        ones = read_only_ones(min(size, self.n_rows))
        for number, start in enumerate(range(0, self.n_rows, size)):
            stop = min(start + size, self.n_rows)
            rows = as_float_rows(np.asarray(self.array[start:stop]))
            self.check(rows)
            y = None if self.y is None else self.y[start:stop]
            weights = ones[: len(rows)] if self.weights is None else self.weights[start:stop]
            yield Chunk(number, start, stop, rows, y, weights, self.weighted)


Piece = tuple[Any, ...]  # rows, target or None, weights or None


def cut(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces of exactly `size` rows, the last of what is left."""
    rest: Piece | None = None
    for piece in pieces:
        if rest is not None:
            piece = tuple(
                None if a is None else np.concatenate([a, b]) for a, b in zip(rest, piece)
            )
        whole = len(piece[0]) // size * size
        for start in range(0, whole, size):
            yield tuple(None if a is None else a[start : start + size] for a in piece)
        rest = tuple(None if a is None else a[whole:] for a in piece)
    if rest is not None and len(rest[0]):
        yield rest


def column_weights(table: Any, name: str) -> np.ndarray:
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
