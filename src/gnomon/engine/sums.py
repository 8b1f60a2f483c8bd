"""Sums over chunks of rows: the one thing that the engine does for most learners.

A learner gives a pure function of a chunk that returns a tuple of numbers and arrays; the engine
calls it for every chunk and adds the results in a fixed order: those of the chunks of a block one
after the other, then the totals of the blocks. The borders of chunks and blocks depend on the shape
of the data only. So the total has the same bits for any number of threads, workers or machines, and
a machine that holds whole blocks sends one total for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from gnomon.engine.config import settings
from gnomon.engine.threads import Pace, in_order, one_blas_thread, resolve_jobs

# Numbers of a chunk, a megabyte. Measured on 20 columns: chunks of 2**13 to 2**19 numbers take the
# same processor time within the noise of about 15% (least squares and k-means of 200,000 rows, a
# mixture of 50,000). Judgement: the bounds keep the work for each chunk small beside its rows, and
# the sums of wide tables from being as large as the chunk.
CHUNK_CELLS = 2**17
FEWEST_ROWS, MOST_ROWS = 256, 8192
# A block has at least so many chunks, and so many rows for each column: then a sum of products of
# all columns has less than a hundredth of the block's numbers.
BLOCK_CHUNKS, BLOCK_ROWS = 16, 128

Sums = Any  # a tuple of floats and arrays, plain or named


class Chunk(NamedTuple):
    """Consecutive rows of a source.

    Attributes
    ----------
    number : int
        Which chunk this is; totals are added in this order.
    start, stop : int
        Its rows' positions in the source.
    rows : ndarray or csr_array of shape (stop - start, n_columns)
        float64, C-contiguous; NaN is a missing cell, where the learner takes them.
    y : ndarray or None
    weights : ndarray of shape (stop - start,)
    weighted : bool
        False when all weights are one, so that a cheaper formula may be used.
    """

    number: int
    start: int
    stop: int
    rows: Any
    y: np.ndarray | None
    weights: np.ndarray
    weighted: bool


class Source(Protocol):
    """Where rows come from: re-iterable, with the same chunks each time."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def weighted(self) -> bool: ...

    def chunks(self) -> Iterator[Chunk]: ...


class Executor(Protocol):
    """The seam for clusters: computes ``function(chunk)`` anywhere, in any order.

    ``function`` can be pickled (a learner's method with its small state); results come back as
    ``(chunk.number, result)`` pairs in whatever order they are ready.
    """

    def run(
        self, function: Callable[[Chunk], Sums], chunks: Iterable[Chunk]
    ) -> Iterable[tuple[int, Sums]]: ...


@runtime_checkable
class Cluster(Protocol):
    """An executor that holds the rows where it computes, and computes independent items."""

    def block_totals(
        self, function: Callable[[Chunk], Sums], source: Source, together: int
    ) -> tuple[int, Iterable[tuple[int, Sums]]] | None:
        """How many blocks of ``together`` chunks there are, and their (number, total) pairs in
        whatever order they are ready; None where the rows are too few to be sent away."""

    def on_parts(
        self,
        function: Callable[..., Any],
        source: Source,
        numbers: list[int] | None = None,
        beside: np.ndarray | None = None,
    ) -> Iterable[tuple[int, Any]] | None:
        """``function(held)`` with the rows that each worker holds, some whole chunks: number of the
        part and result, in whatever order they are ready. ``held.scratch`` is a dictionary for
        what the function keeps, for as long as the rows stay there. Of some parts only, where
        their numbers are given; ``function(held, some)`` where there is an array beside the rows;
        None where the rows are too few to be sent away."""

    def in_order(
        self, function: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterable[Any] | None:
        """``function(item)`` in the order of items; None where it cannot be sent away."""

    def look_through(self, scan: Any, look: Callable[[Any], Any]) -> Any:
        """``look`` after it was called with every table of the scan, in order; None where the
        scan cannot be read in parts."""


@functools.cache
def rows_per_chunk(n_columns: int) -> int:
    """Rows in a chunk: about a megabyte of numbers, which stays in a processor's cache."""
    rows = CHUNK_CELLS // max(n_columns, 1)
    return int(2 ** np.floor(np.log2(np.clip(rows, FEWEST_ROWS, MOST_ROWS))))


def chunks_memory(n_rows: int, n_columns: int, n_jobs: int | None) -> int:
    """Bytes of a chunk on every thread, and of one more table like it that a sum computes."""
    rows = min(rows_per_chunk(n_columns), n_rows)
    return 8 * 2 * resolve_jobs(n_jobs) * rows * (n_columns + 2)


def chunks_per_block(n_columns: int) -> int:
    """Chunks whose sums are added to one total before it is added to those of other blocks."""
    rows = rows_per_chunk(n_columns)
    return max(BLOCK_CHUNKS, -(-BLOCK_ROWS * n_columns // rows))


@dataclass
class ArraySource:
    """Rows in memory, cut in chunks; each chunk is converted to float64 when its turn comes.

    With `keeps_float32`, dense chunks of float32 stay so, for kernels that take them.
    """

    rows: Any
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    size: int | None = None
    keeps_float32: bool = False
    paces: dict[Any, Pace] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        return self.rows.shape[0]

    @property
    def n_columns(self) -> int:
        return self.rows.shape[1]

    @property
    def weighted(self) -> bool:
        return self.weights is not None

    @property
    def chunk_rows(self) -> int:
        """Rows of a chunk; the last may have fewer."""
        return self.size or rows_per_chunk(self.n_columns)

    @property
    def in_one(self) -> bool:
        """Whether all rows are in one chunk."""
        return self.n_rows <= self.chunk_rows

    def _as_floats(self, rows: Any) -> Any:
        return rows if self.keeps_float32 and rows.dtype == np.float32 else as_float_rows(rows)

    def pace_of(self, function: Callable[[Chunk], Any]) -> Pace:
        """How long the function took for one of these chunks, when it was last summed over them."""
        plain = getattr(function, "func", function)
        plain = getattr(plain, "__func__", plain)
        return self.paces.setdefault(getattr(plain, "__code__", plain), Pace())

    def chunks(self) -> Iterator[Chunk]:
        size = self.size or rows_per_chunk(self.n_columns)
        ones = read_only_ones(min(size, self.n_rows))
        for number, start in enumerate(range(0, self.n_rows, size)):
            stop = min(start + size, self.n_rows)
            yield Chunk(
                number,
                start,
                stop,
                # a slice of sparse rows is a copy
                self._as_floats(self.rows if self.in_one else self.rows[start:stop]),
                None if self.y is None else self.y[start:stop],
                ones[: stop - start] if self.weights is None else self.weights[start:stop],
                self.weighted,
            )


@dataclass
class MappedSource:
    """Rows that a function makes of those of another source, where these are.

    Attributes
    ----------
    source : Source
    function : callable
        Rows to rows of ``n_columns`` columns.
    chosen : ndarray of bool of shape (source.n_rows,)
        The rows of the other source that are used.
    y : ndarray of shape (n_rows, ...)
        What stands beside the rows that are used.
    columns : int
    size : int
        Rows of a chunk.
    cell_bytes : int
        Bytes of a cell.
    """

    source: Source
    function: Callable[[Any], Any]
    chosen: np.ndarray
    y: np.ndarray
    columns: int
    size: int
    cell_bytes: int = 8

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_columns(self) -> int:
        return self.columns

    @property
    def weighted(self) -> bool:
        return False

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of these rows, made here."""
        parts = [self.function(c.rows[self.chosen[c.start : c.stop]]) for c in self.source.chunks()]
        yield from ArraySource(np.concatenate(parts), self.y, None, self.size).chunks()


@functools.lru_cache(maxsize=4)
def read_only_ones(n: int) -> np.ndarray:
    """Weights of unweighted rows, shared by all chunks."""
    ones = np.ones(n)
    ones.flags.writeable = False
    return ones


def as_float_rows(rows: Any) -> Any:
    """float64 rows in C order, without a copy where they are so already."""
    if not isinstance(rows, np.ndarray) and sp.issparse(rows):
        ready = isinstance(rows, sp.csr_array) and rows.dtype == np.float64
        return rows if ready else sp.csr_array(rows, dtype=np.float64)
    return np.ascontiguousarray(rows, dtype=np.float64)


def add_up(
    function: Callable[[Chunk], Sums],
    source: Source,
    n_jobs: int | None = None,
    seconds: float | None = None,
) -> Sums:
    """The total of ``function(chunk)`` over all chunks, added in chunk order.

    Parameters
    ----------
    function : callable
        Chunk to a tuple of floats and arrays, all chunks' of one shape; must not keep its results.
    source : Source
    n_jobs : int or None
    seconds : float, default=None
        About how long a chunk in memory takes, where that is known.

    Returns
    -------
    total : tuple of the same type
    """
    executor = settings().executor
    together = chunks_per_block(source.n_columns)
    if executor is not None and isinstance(executor, Cluster):  # the check of a protocol is slow
        found = executor.block_totals(function, source, together)
        if found is not None:
            n_blocks, totals = found
            return joined(_sorted_by_number(totals, _Sent.whole(n_blocks)))
        executor = None
    if executor is None:
        # rows that must be read first are better read while others are summed
        if not isinstance(source, ArraySource):
            return _add(in_order(function, source.chunks(), n_jobs), together)
        if source.in_one:
            return _add([_on_one_blas_thread(function, chunk) for chunk in source.chunks()], 1)
        pace = source.pace_of(function) if seconds is None else Pace(seconds)
        parts = in_order(function, source.chunks(), n_jobs, short=True, pace=pace)
        return _add(parts, together)
    sent = _Sent(source.chunks())
    alone = functools.partial(_on_one_blas_thread, function)
    return _add(_sorted_by_number(executor.run(alone, sent), sent), together)


def _on_one_blas_thread(function: Callable[[Chunk], Sums], chunk: Chunk) -> Sums:
    """What engine threads do, wherever an executor runs it: the bits of a product of matrices
    depend on the number of threads that compute it."""
    with one_blas_thread():
        return function(chunk)


def _add(parts: Iterable[Sums], together: int) -> Sums:
    """The total of the sums of chunks: of each block of ``together`` chunks, then of the blocks."""
    return joined(totals_of_blocks(parts, together))


def totals_of_blocks(parts: Iterable[Sums], together: int) -> Iterator[Sums]:
    """The total of each block of ``together`` consecutive chunks."""
    parts = iter(parts)
    while (total := _added(islice(parts, together))) is not None:
        yield total


def joined(totals: Iterable[Sums]) -> Sums:
    """The total of the blocks, added in their order."""
    total = _added(totals)
    if total is None:
        raise ValueError("there are no rows to sum over")
    return total


def _added(parts: Iterable[Sums]) -> Sums | None:
    """The sum, entry by entry, in the order given; None of nothing."""
    parts = iter(parts)
    first = next(parts, None)
    if first is None:
        return None
    make = type(first) if hasattr(first, "_fields") else None
    total = [np.array(entry, dtype=np.float64) for entry in first]
    del first  # frees its memory, and that of later parts, while the next ones are summed
    for part in parts:
        _add_to(total, part)
        del part
    entries = [entry if entry.ndim else float(entry) for entry in total]
    return make(*entries) if make is not None else tuple(entries)


def _add_to(total: list[np.ndarray], part: Iterable[Any]) -> None:
    for entry, addend in zip(total, part, strict=True):
        if np.shape(addend) != entry.shape:
            raise ValueError(
                f"sums of chunks must have one shape: {entry.shape}, then {np.shape(addend)}"
            )
        entry += addend


class _Sent:
    """Chunks on their way to an executor, counted, so that lost ones are noticed."""

    def __init__(self, chunks: Iterable[Chunk]):
        self.chunks = iter(chunks)
        self.count = 0
        self.ended = False

    @classmethod
    def whole(cls, count: int) -> _Sent:
        """So many, all of them sent."""
        sent = cls(())
        sent.count, sent.ended = count, True
        return sent

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self.chunks:
            self.count += 1
            yield chunk
        self.ended = True


def _sorted_by_number(results: Iterable[tuple[int, Sums]], sent: _Sent) -> Iterator[Sums]:
    """Pass results on in chunk order, holding back those that come early."""
    waiting: dict[int, Sums] = {}
    due = 0
    for number, result in results:
        if number < due or number in waiting:
            raise RuntimeError(f"the executor gave the sums of chunk {number} twice")
        waiting[number] = result
        while due in waiting:
            yield waiting.pop(due)
            due += 1
    if waiting or not sent.ended or due != sent.count:
        known = max([sent.count, *(number + 1 for number in waiting)])
        raise RuntimeError(
            f"the executor lost chunk {due} of {'' if sent.ended else 'at least '}{known}; "
            "no total can be trusted: run again, or set gnomon.config(executor=None)"
        )
