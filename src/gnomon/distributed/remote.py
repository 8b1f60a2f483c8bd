"""What workers compute; called by name, so that a task carries its data only."""

from __future__ import annotations

import pickle
import platform
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from gnomon import __version__
from gnomon.contract.data import Piece, ScanSource
from gnomon.engine.errors import GnomonError
from gnomon.engine.sums import ArraySource, Chunk, Sums, totals_of_blocks
from gnomon.engine.threads import engine_thread, one_blas_thread
from gnomon.table.scan import cut as cut_tables
from gnomon.table.schema import Schema
from gnomon.table.table import Table

ALIGNMENT = 16  # bytes; what NumPy's own arrays have on 64-bit platforms


class VersionMismatch(GnomonError, RuntimeError):
    """Client and workers have different versions of gnomon, so their results may differ."""


def versions() -> dict[str, str]:
    """What decides the bits of a result on this machine."""
    import numba
    import scipy

    return {
        "gnomon": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "processor": platform.machine(),
    }


@dataclass(frozen=True)
class Packed:
    """A function on its way to workers: pickled, large arrays beside it so that none is copied."""

    version: str
    pickled: bytes
    buffers: list[bytes]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Packed:
        import cloudpickle

        buffers: list[pickle.PickleBuffer] = []
        pickled = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
        return cls(__version__, pickled, [bytes(each.raw()) for each in buffers])

    @property
    def n_bytes(self) -> int:
        return len(self.pickled) + sum(map(len, self.buffers))

    def function(self) -> Callable[..., Any]:
        """A new copy, so that nothing which an earlier call changed is seen by the next."""
        if self.version != __version__:
            raise VersionMismatch(mismatch(self.version, __version__))
        return pickle.loads(self.pickled, buffers=self.buffers)


def mismatch(client: str, worker: str, address: str = "") -> str:
    """What to do where the versions of gnomon differ."""
    return (
        f"the worker {address + ' ' if address else ''}has gnomon {worker}, the client {client}: "
        f"results could differ. Install gnomon {client} on the workers and start them again"
    )


@dataclass
class HeldRows:
    """Rows of whole blocks that a worker holds.

    Attributes
    ----------
    rows, y, weights : arrays, or None
        Weights are None where all are one.
    size : int
        Rows of a chunk.
    first : int
        The number of the first chunk.
    start : int
        The position of the first row in the whole.
    scratch : dict
        What functions keep of these rows between calls; it is not sent with them.
    """

    rows: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    size: int
    first: int
    start: int
    scratch: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.rows, self.y, self.weights = map(aligned, (self.rows, self.y, self.weights))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"scratch": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def chunks(self) -> Iterator[Chunk]:
        source = ArraySource(self.rows, self.y, self.weights, self.size)
        for chunk in source.chunks():
            yield chunk._replace(
                number=chunk.number + self.first,
                start=chunk.start + self.start,
                stop=chunk.stop + self.start,
            )


@dataclass
class HeldChunks:
    """Chunks of whole blocks, as a source that is no array gave them."""

    parts: list[Chunk]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parts = [
            chunk._replace(**{k: aligned(getattr(chunk, k)) for k in ("rows", "y", "weights")})
            for chunk in state["parts"]
        ]

    def chunks(self) -> Iterator[Chunk]:
        return iter(self.parts)


def aligned(array: Any) -> Any:
    """The array where processors expect numbers: what comes in a message may begin at any byte,
    and NumPy then computes products of matrices another way, with other last bits."""
    if array is None or sp.issparse(array):
        return array
    return array if array.ctypes.data % ALIGNMENT == 0 else array.copy()


def block_totals(packed: Packed, held: HeldRows | HeldChunks, together: int) -> list[Sums]:
    """The total of each block that is held, in order."""
    function = packed.function()
    with engine_thread(), one_blas_thread():
        return list(totals_of_blocks(map(function, held.chunks()), together))


def on_part(packed: Packed, held: HeldRows | HeldChunks, *beside: Any) -> Any:
    """``function(held)``, as an engine thread computes it."""
    function = packed.function()
    with engine_thread(), one_blas_thread():
        return function(held, *beside)


def mapped(packed: Packed, held: HeldRows | HeldChunks, chosen: np.ndarray) -> Piece:
    """What a function makes of the chosen rows."""
    function = packed.function()
    found, start = [], 0
    with engine_thread(), one_blas_thread():
        for chunk in held.chunks():
            stop = start + chunk.stop - chunk.start
            found.append(function(chunk.rows[chosen[start:stop]]))
            start = stop
    return np.concatenate(found), None, None


def held_beside(piece: Piece, y: np.ndarray, size: int, first: int, start: int) -> HeldRows:
    """Rows as a worker keeps them, with what stands beside them."""
    return HeldRows(piece[0], y, None, size, first, start)


class Computed(NamedTuple):
    """The result of an item, and the warnings that its computation gave."""

    result: Any
    warnings: list[tuple[type[Warning], str]]


def one_item(packed: Packed, item: Any) -> Computed:
    """``function(item)``, as an engine thread computes it."""
    function = packed.function()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with engine_thread(), one_blas_thread():
            result = function(item)
    return Computed(result, [(each.category, str(each.message)) for each in caught])


def read_part(feed: Any, schema: Schema) -> pa.Table:
    """The rows of a part of a scan, read where this runs."""
    pieces = list(feed.pieces(schema))
    return pa.concat_tables(pieces).combine_chunks() if pieces else None


def length_of(piece: Any) -> int:
    """Rows of a table or of encoded rows; nothing has none."""
    if piece is None:
        return 0
    return len(piece) if isinstance(piece, pa.Table) else piece[0].shape[0]


def some_of(piece: Any, start: int, stop: int) -> Any:
    """Some rows of a table or of encoded rows, without those around them."""
    if isinstance(piece, pa.Table):
        # a slice keeps, and pickles, the whole: taken rows do not
        return piece.slice(start, stop - start).combine_chunks()
    return tuple(None if each is None else each[start:stop].copy() for each in piece)


def joined(pieces: list[Any]) -> Any:
    """Tables or encoded rows, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], pa.Table):
        return pa.concat_tables(pieces).combine_chunks()
    return tuple(None if each[0] is None else _stacked(each) for each in zip(*pieces))


def _stacked(parts: tuple[Any, ...]) -> Any:
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def looked_at(packed: Packed, arrow: pa.Table, schema: Schema, rows: int) -> Packed:
    """The look after it has seen these rows, cut as the scan cuts them."""
    look = packed.function()
    with engine_thread(), one_blas_thread():
        for table in cut_tables([arrow], rows):
            look(Table(table, schema))
    return Packed.of(look)


def encoded(packed: Packed, arrow: pa.Table, schema: Schema, rows: int) -> Piece:
    """The rows of a part of a scan as the method takes them; rows of weight zero are left out."""
    source: ScanSource = packed.function()()
    with engine_thread(), one_blas_thread():
        tables = (Table(table, schema) for table in cut_tables([arrow], rows))
        pieces = list(source.encoded(tables))
    if not source.weighted:
        pieces = [(rows, y, None) for rows, y, _ in pieces]
    return joined(pieces)


def held(piece: Piece, size: int, first: int, start: int) -> HeldRows:
    """Encoded rows as a worker keeps them."""
    rows, y, weights = piece
    return HeldRows(rows, y, weights, size, first, start)


class Again(NamedTuple):
    """How to make rows of a scan anew: which parts to read, and which of their rows to keep."""

    feeds: list[Any]
    spans: list[tuple[int, int]]


def read_again(
    packed: Packed, again: Again, schema: Schema, rows: int, place: tuple[int, int, int]
) -> HeldRows:
    """The same as the stages before `held`, in one step: for rows that a lost worker held."""
    pieces = []
    for feed, (start, stop) in zip(again.feeds, again.spans):
        piece = encoded(packed, read_part(feed, schema), schema, rows)
        pieces.append(some_of(piece, start, stop))
    return held(joined(pieces), *place)


def lazy_rows(rows: Any, y: Any, weights: Any, check: Packed, place: tuple[int, int, int]) -> Any:
    """Rows of an array that a graph of Dask gives, checked."""
    rows = np.ascontiguousarray(rows)
    check.function()(rows)
    return HeldRows(rows, y, weights, *place)
