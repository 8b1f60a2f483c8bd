"""Rows on workers: each part holds whole blocks of chunks, and can be made anew where it is lost.

Rows of an array in memory are sent once. Rows of a scan are read where they will be summed: parts
of the source become tables, tables are cut at the borders of the scan's chunks and looked at one
after the other, encoded, and cut again at the borders of blocks; only rows between two borders
move.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract.data import LazySource, ScanSource
from gnomon.contract.intake.streams import Look
from gnomon.distributed import remote
from gnomon.distributed.errors import scheduler_gone, too_many_rows
from gnomon.distributed.remote import Again, HeldChunks, HeldRows, Packed
from gnomon.distributed.tasks import Task, Tasks
from gnomon.engine.sums import ArraySource, MappedSource, Source, rows_per_chunk
from gnomon.table.feeds import evenly
from gnomon.table.scan import Scan

# Parts for each thread of the workers: a slow worker then keeps a small share of the rows.
PARTS_PER_THREAD = 4
LARGEST_PART = 2**29
# Larger arrays beside rows are sent to a worker; smaller ones are part of a task, as Dask advises.
LARGE_BESIDE = 2**18
# Of a worker's memory, what rows may fill: Dask writes to disk from there on.
SHARE_FOR_ROWS = 0.6


@dataclass
class Part:
    """Whole blocks of rows on a worker.

    Attributes
    ----------
    first_block, n_blocks : int
    start, stop : int
        Its rows.
    make : callable
        ``make(avoid)`` puts the rows on a worker that is not to be avoided; gives Dask's future.
    n_bytes : int
    future : object
        The rows, where they are now.
    """

    first_block: int
    n_blocks: int
    start: int
    stop: int
    make: Callable[[tuple[str, ...]], Any]
    n_bytes: int
    future: Any = field(default=None, repr=False)

    def placed(self, avoid: tuple[str, ...] = ()) -> Any:
        """The future of the rows; made anew where they are lost, or only where to avoid."""
        if avoid or self.future is None or self.future.status in ("lost", "cancelled", "error"):
            self.future = self.make(avoid)
        return self.future


@dataclass
class Holding:
    """The rows of a source on the workers."""

    parts: list[Part]
    n_blocks: int
    home: list[str]
    together: int = 1


@dataclass
class _Place:
    """Chunks of so many rows, in blocks of so many chunks."""

    size: int
    together: int
    n_rows: int

    @property
    def block(self) -> int:
        return self.size * self.together

    @property
    def n_blocks(self) -> int:
        return -(-self.n_rows // self.block)

    def spans(self, n_parts: int) -> Iterator[tuple[int, int, int, int]]:
        """First block and number of blocks of each part, and its rows."""
        for start, stop in evenly(self.n_blocks, n_parts):
            yield start, stop - start, start * self.block, min(stop * self.block, self.n_rows)

    def of(self, start: int) -> tuple[int, int, int]:
        """What a worker must know of rows that begin there."""
        return self.size, start // self.size, start


class Holder:
    """Puts rows on the workers of a cluster.

    Parameters
    ----------
    client : dask.distributed.Client
    tasks : Tasks
    """

    def __init__(self, client: Any, tasks: Tasks):
        self.client = client
        self.tasks = tasks
        self._names = itertools.count()

    def workers(self) -> dict[str, int]:
        """Threads of each worker, by address."""
        self.tasks.require_scheduler()
        try:
            return dict(sorted(self.client.nthreads().items()))
        except (AttributeError, OSError) as error:  # the client has let go of its scheduler
            raise scheduler_gone(self.tasks.address) from error

    def hold(
        self,
        source: Source,
        together: int,
        tables: ScanTables | None,
        parts_per_thread: int = PARTS_PER_THREAD,
    ) -> Holding | None:
        """The rows of a source on the workers; None where they are one block."""
        size = getattr(source, "size", None) or rows_per_chunk(source.n_columns)
        place = _Place(size, together, source.n_rows)
        if place.n_blocks < 2:
            return None
        self._require_room(source)
        n_parts = self._n_parts(_bytes_of(source), parts_per_thread)
        if isinstance(source, ArraySource):
            return self._of_array(source, place, n_parts)
        if isinstance(source, ScanSource) and tables is not None:
            return self._of_tables(source, place, n_parts, tables)
        if isinstance(source, LazySource):
            return self._of_lazy(source, place, n_parts)
        return self._of_chunks(source, together, n_parts)

    def _n_parts(self, n_bytes: int, parts_per_thread: int) -> int:
        threads = sum(self.workers().values()) or 1
        rounds = max(parts_per_thread, -(-n_bytes // (LARGEST_PART * threads)))
        return rounds * threads

    def _require_room(self, source: Source) -> None:
        info = self.client.scheduler_info(n_workers=-1)["workers"]
        limits = [each.get("memory_limit") or 0 for each in info.values()]
        if not limits or min(limits) == 0:
            return
        n_bytes, room = _bytes_of(source), int(SHARE_FOR_ROWS * sum(limits))
        if n_bytes > room:
            raise too_many_rows(n_bytes, len(limits), room)

    def home_of(self, parts: int) -> list[str]:
        """A worker for each part: neighbors together, as many for each thread."""
        threads = [worker for worker, n in self.workers().items() for _ in range(n)]
        return [threads[number * len(threads) // parts] for number in range(parts) if threads]

    def sent(self, make: Callable[[], Any], home: str | None, avoid: tuple[str, ...]) -> Any:
        """Something that is here, put on a worker."""
        workers = self.others(home, avoid)
        return self.client.scatter(make(), workers=workers, hash=False, direct=True)

    def others(self, home: str | None, avoid: tuple[str, ...]) -> list[str] | None:
        """The home where it may be used and lives; else all that are not to be avoided."""
        alive = [each for each in self.workers() if each not in avoid]
        return [home] if home in alive else alive or None

    def submit(self, function: Any, *arguments: Any, home: str | None, avoid=()) -> Any:
        """Dask's future of ``function(*arguments)``, computed at home where that is possible."""
        workers = self.others(home, tuple(avoid))
        return self.client.submit(
            function,
            *arguments,
            pure=False,
            workers=workers,
            allow_other_workers=not avoid,
        )

    def _of_array(self, source: ArraySource, place: _Place, n_parts: int) -> Holding:
        parts = []
        spans = list(place.spans(n_parts))
        homes = self.home_of(len(spans))
        for (first, count, start, stop), home in zip(spans, homes):
            make = partial(_rows_of, source, start, stop, place)
            n_bytes = _bytes_of(source) * (stop - start) // place.n_rows
            send = partial(self.sent, make, home)
            parts.append(Part(first, count, start, stop, send, n_bytes))
        return Holding(parts, place.n_blocks, homes, place.together)

    def _of_chunks(self, source: Source, together: int, n_parts: int) -> Holding:
        """Rows of any other source: they are read here, and sent."""
        blocks: list[HeldChunks] = []
        chunks = source.chunks()
        while some := list(itertools.islice(chunks, together)):
            blocks.append(HeldChunks(some))
        spans = evenly(len(blocks), n_parts)
        homes = self.home_of(len(spans))
        parts = []
        for (start, stop), home in zip(spans, homes):
            whole = HeldChunks([chunk for block in blocks[start:stop] for chunk in block.parts])
            n_bytes = sum(_size_of(chunk.rows) for chunk in whole.parts)
            make = partial(self.sent, partial(_as_it_is, whole), home)
            first, last = whole.parts[0].start, whole.parts[-1].stop
            parts.append(Part(start, stop - start, first, last, make, n_bytes))
        return Holding(parts, len(blocks), homes, together)

    def _of_lazy(self, source: LazySource, place: _Place, n_parts: int) -> Holding:
        """Rows of an array of Dask: its graph computes them on the workers."""
        check = Packed.of(source.check)
        spans = list(place.spans(n_parts))
        homes = self.home_of(len(spans))
        parts = []
        for (first, count, start, stop), home in zip(spans, homes):

            def make(avoid, start=start, stop=stop, home=home):
                rows = source.array[start:stop].rechunk(-1)
                future = self.client.compute(
                    rows, workers=self.others(home, avoid), allow_other_workers=not avoid
                )
                y, weights = (
                    None if a is None else a[start:stop] for a in (source.y, source.weights)
                )
                return self.submit(
                    remote.lazy_rows,
                    future,
                    y,
                    weights,
                    check,
                    place.of(start),
                    home=home,
                    avoid=avoid,
                )

            n_bytes = (stop - start) * source.n_columns * 8
            parts.append(Part(first, count, start, stop, make, n_bytes))
        return Holding(parts, place.n_blocks, homes, place.together)

    def sent_beside(self, some: np.ndarray) -> Any:
        """Something that stands beside rows: a large array goes past the scheduler."""
        if some.nbytes < LARGE_BESIDE:
            return some
        workers = self.others(None, ())
        return self.client.scatter(some.copy(), workers=workers, hash=False, direct=True)

    def hold_mapped(self, source: MappedSource, held: Holding | None) -> Holding | None:
        """Rows made of others where those are; None where these are not on workers."""
        place = _Place(source.size, 1, source.n_rows)
        if held is None or place.n_blocks < 2:
            return None
        self._require_room(source)
        made = _Made(self, Packed.of(source.function), source.chosen, held)
        spans = list(place.spans(len(held.parts)))
        borders = [start for _, _, start, _ in spans] + [place.n_rows]
        cut = self._cut_again(made.pieces(()), made.lengths, borders, held.home)
        homes = self.home_of(len(spans))
        parts = []
        for (first, count, start, stop), piece in zip(spans, cut):
            beside = source.y[start:stop]
            finish = partial(self._held_beside, beside, place.of(start))
            again = partial(made.again, start, stop, finish)
            n_bytes = (stop - start) * source.n_columns * source.cell_bytes
            parts.append(Part(first, count, start, stop, again, n_bytes, finish(piece)))
        return Holding(parts, place.n_blocks, homes, place.together)

    def _held_beside(self, beside: np.ndarray, place: tuple[int, int, int], piece: Any) -> Any:
        y = self.sent_beside(beside)
        return self.client.submit(remote.held_beside, piece, y, *place, pure=False)

    def read(self, scan: Scan) -> ScanTables | None:
        """The tables of a scan on the workers; None where it cannot be read in parts."""
        threads = sum(self.workers().values()) or 1
        feeds = scan.parts(PARTS_PER_THREAD * threads, self._each)
        if feeds is None or len(feeds) < 2:
            return None
        homes = self.home_of(len(feeds))
        read = [
            self.submit(remote.read_part, feed, scan.schema, home=home)
            for feed, home in zip(feeds, homes)
        ]
        lengths = self._lengths(read)
        borders = _rounded(lengths, scan.rows_per_chunk)
        tables = self._cut_again(read, lengths, borders, homes)
        return ScanTables(scan, feeds, lengths, tables, borders, homes)

    def _each(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        packed = Packed.of(function)
        tasks = [
            Task(
                number,
                partial(self._one, packed, item),
                "a part of a file",
            )
            for number, item in enumerate(items)
        ]
        found = dict(self.tasks.results(tasks, len(tasks)))
        return [found[number].result for number in range(len(tasks))]

    def _one(self, packed: Packed, item: Any, avoid: tuple[str, ...]) -> Any:
        return self.submit(remote.one_item, packed, item, home=None, avoid=avoid)

    def _lengths(self, futures: list[Any]) -> list[int]:
        tasks = [
            Task(number, partial(self._length, future), "a part of a scan")
            for number, future in enumerate(futures)
        ]
        found = dict(self.tasks.results(tasks, len(tasks)))
        return [found[number] for number in range(len(futures))]

    def _length(self, future: Any, avoid: tuple[str, ...]) -> Any:
        return self.client.submit(remote.length_of, future, pure=False)

    def _cut_again(
        self, futures: list[Any], lengths: list[int], borders: list[int], homes: list[str]
    ) -> list[Any]:
        """The same rows, cut at other borders; each part at the home of its first row."""
        before = np.concatenate([[0], np.cumsum(lengths)])
        cut = []
        for start, stop in pairwise(borders):
            pieces = []
            for number, (low, high) in overlaps(before, start, stop):
                whole = (low, high) == (0, lengths[number])
                pieces.append(
                    futures[number]
                    if whole
                    else self.submit(remote.some_of, futures[number], low, high, home=homes[number])
                )
            number = next(overlaps(before, start, stop))[0]
            cut.append(
                pieces[0]
                if len(pieces) == 1
                else self.submit(remote.joined, pieces, home=homes[number])
            )
        return cut

    def look(self, tables: ScanTables, look: Look) -> Look:
        """The look after all tables, one after the other, each where it is."""
        seen = Packed.of(look)
        for table, home in zip(tables.tables, tables.homes):
            seen = self.submit(
                remote.looked_at, seen, table, tables.scan.schema, tables.rows, home=home
            )
        last = seen
        task = Task(0, lambda avoid: last, "the first pass over a scan")
        [(_, found)] = self.tasks.results([task], 1)
        return found.function()

    def _of_tables(
        self, source: ScanSource, place: _Place, n_parts: int, tables: ScanTables
    ) -> Holding:
        packed = Packed.of(_Given(_without_scan(source)))
        schema = tables.scan.schema
        encoded = [
            self.submit(remote.encoded, packed, table, schema, tables.rows, home=home)
            for table, home in zip(tables.tables, tables.homes)
        ]
        lengths = self._lengths(encoded)
        spans = list(place.spans(n_parts))
        borders = [start for _, _, start, _ in spans] + [place.n_rows]
        cut = self._cut_again(encoded, lengths, borders, tables.homes)
        homes = self.home_of(len(spans))
        parts = []
        for (first, count, start, stop), piece in zip(spans, cut):
            held = self.client.submit(remote.held, piece, *place.of(start), pure=False)
            again = partial(self._read_again, packed, tables, place, (start, stop), lengths)
            n_bytes = (stop - start) * source.n_columns * 8
            parts.append(Part(first, count, start, stop, again, n_bytes, held))
        return Holding(parts, place.n_blocks, homes, place.together)

    def _read_again(
        self,
        packed: Packed,
        tables: ScanTables,
        place: _Place,
        span: tuple[int, int],
        lengths: list[int],
        avoid: tuple[str, ...],
    ) -> Any:
        """The rows of a part from the source, in one task that needs no other."""
        again = tables.again(lengths, *span)
        arguments = (packed, again, tables.scan.schema, tables.rows, place.of(span[0]))
        return self.submit(remote.read_again, *arguments, home=None, avoid=avoid)


@dataclass
class _Made:
    """Rows made of those of each part of a holding, one piece for each part."""

    holder: Holder
    packed: Packed
    chosen: np.ndarray
    held: Holding

    @property
    def lengths(self) -> list[int]:
        """Rows of each piece."""
        return [int(np.count_nonzero(self.chosen[p.start : p.stop])) for p in self.held.parts]

    def piece(self, number: int, avoid: tuple[str, ...]) -> Any:
        part = self.held.parts[number]
        chosen = self.holder.sent_beside(self.chosen[part.start : part.stop])
        home = self.held.home[number]
        rows = part.placed(avoid)
        return self.holder.submit(remote.mapped, self.packed, rows, chosen, home=home, avoid=avoid)

    def pieces(self, avoid: tuple[str, ...]) -> list[Any]:
        return [self.piece(number, avoid) for number in range(len(self.held.parts))]

    def again(
        self, start: int, stop: int, finish: Callable[[Any], Any], avoid: tuple[str, ...]
    ) -> Any:
        """The rows start to stop, made anew."""
        before = np.concatenate([[0], np.cumsum(self.lengths)])
        found = []
        for number, (low, high) in overlaps(before, start, stop):
            piece = self.piece(number, avoid)
            found.append(self.holder.submit(remote.some_of, piece, low, high, home=None))
        joined = found[0]
        if len(found) > 1:
            joined = self.holder.submit(remote.joined, found, home=None)
        return finish(joined)


@dataclass
class ScanTables:
    """The tables of a scan on workers, cut at borders of the scan's chunks.

    Attributes
    ----------
    scan : Scan
    feeds : list
        What reads each part.
    lengths : list of int
        Rows of each part.
    tables : list of futures
    borders : list of int
        Where tables begin, and the number of rows.
    homes : list of str
    """

    scan: Scan
    feeds: list[Any]
    lengths: list[int]
    tables: list[Any]
    borders: list[int]
    homes: list[str]

    @property
    def rows(self) -> int:
        return self.scan.rows_per_chunk

    def again(self, encoded: list[int], start: int, stop: int) -> Again:
        """Which parts hold rows start to stop of those that are encoded, and which rows of them."""
        if sum(encoded) != sum(self.lengths):
            # rows of weight zero are left out: which ones is known where they are read
            return Again([_Together(self.feeds)], [(start, stop)])
        before = np.concatenate([[0], np.cumsum(self.lengths)])
        found = list(overlaps(before, start, stop))
        return Again([self.feeds[n] for n, _ in found], [span for _, span in found])


@dataclass
class _Together:
    """All parts, one after the other."""

    feeds: list[Any]

    def pieces(self, schema: Any) -> Iterator[Any]:
        for feed in self.feeds:
            yield from feed.pieces(schema)


@dataclass
class _Given:
    """A function that gives what it was made with."""

    value: Any

    def __call__(self) -> Any:
        return self.value


def _without_scan(source: ScanSource) -> ScanSource:
    return ScanSource(
        None,
        source.encoder,
        source.n_rows,
        source.target,
        source.weight_name,
        source.weighted,
        source.check,
    )


def overlaps(before: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Which parts hold the rows start to stop, and which of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> list(overlaps(np.array([0, 5, 5, 9]), 3, 7))
    [(0, (3, 5)), (2, (0, 2))]
    """
    number = bisect_right(before, start) - 1
    while number < len(before) - 1 and before[number] < stop:
        low, high = max(start, before[number]), min(stop, before[number + 1])
        if low < high:
            yield number, (int(low - before[number]), int(high - before[number]))
        number += 1


def _rounded(lengths: list[int], rows: int) -> list[int]:
    """Borders near those of the parts, at multiples of ``rows``; none twice."""
    total = sum(lengths)
    borders = {0, total}
    borders.update(
        int(min(round(end / rows) * rows, total)) for end in np.cumsum(lengths)[:-1].tolist()
    )
    return sorted(borders)


def _rows_of(source: ArraySource, start: int, stop: int, place: _Place) -> HeldRows:
    y, weights = (None if a is None else a[start:stop] for a in (source.y, source.weights))
    return HeldRows(source.rows[start:stop], y, weights, *place.of(start))


def _bytes_of(source: Source) -> int:
    rows = getattr(source, "rows", None)
    if rows is not None:
        return _size_of(rows)
    return source.n_rows * source.n_columns * getattr(source, "cell_bytes", 8)


def _as_it_is(value: Any) -> Any:
    return value


def _size_of(rows: Any) -> int:
    if sp.issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(rows.nbytes)
