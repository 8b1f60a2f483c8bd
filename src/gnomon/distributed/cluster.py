"""A Dask cluster as the executor of gnomon: `connect` to one, or start one on this machine.

Workers hold their rows. For every pass over them the state of the method goes out and one total for
each block of chunks comes back; blocks are those of one machine and are added in the same order, so
results have the same bits as on threads. Independent fits (folds, settings, resamples, chains,
trees) are tasks of their own.
"""

from __future__ import annotations

import logging
import pickle
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gnomon.contract.intake.streams import Look
from gnomon.distributed import remote
from gnomon.distributed.errors import ClusterError, no_workers
from gnomon.distributed.holding import PARTS_PER_THREAD, Holder, Holding, Part, ScanTables
from gnomon.distributed.remote import Computed, Packed, VersionMismatch, mismatch
from gnomon.distributed.tasks import Task, Tasks
from gnomon.engine.config import to_bytes
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.sums import Chunk, MappedSource, Source, Sums
from gnomon.table.scan import Scan

# A larger state is put on all workers once for a pass, instead of into each of its tasks.
LARGE_STATE = 2**18
# Items for each thread of the workers that are sent ahead.
AHEAD = 4


def connect(address: Any, *, timeout: float = 10.0) -> Cluster:
    """Use the workers of a Dask scheduler: ``gnomon.config(executor=connect("tcp://host:8786"))``.

    Parameters
    ----------
    address : str or dask.distributed.Client
        The scheduler's address, or a client that is connected to it.
    timeout : float, default=10
        Seconds to wait for the scheduler.

    Returns
    -------
    cluster : Cluster

    Raises
    ------
    ClusterError
        Where no scheduler answers at the address.
    VersionMismatch
        Where a worker has another version of gnomon.
    """
    distributed = _distributed()
    if isinstance(address, distributed.Client):
        return Cluster(address)
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {address}. Start one (gnomon workers start 2, which prints "
            "the address), or check the address and the network"
        ) from error
    cluster = Cluster(client)
    cluster._owned.append(client)
    return cluster


def local(n: int = 2, *, memory: int | str | None = None, port: int = 0) -> Cluster:
    """Start workers on this machine, one process each, to try a cluster or to use all processors.

    Parameters
    ----------
    n : int, default=2
        Worker processes, of one thread each.
    memory : int or str, default=None
        Memory that each worker may use, such as ``"4GB"``; an equal share of the machine's by
        default.
    port : int, default=0
        Port of the scheduler; any free one by default.

    Returns
    -------
    cluster : Cluster
        Use it in a ``with`` statement, or `Cluster.close` it, to end the processes. A script that
        starts workers does so under ``if __name__ == "__main__":``, as they import it.

    Examples
    --------
    >>> import gnomon
    >>> with gnomon.distributed.local(2) as cluster:  # doctest: +SKIP
    ...     with gnomon.config(executor=cluster):
    ...         model.fit(X, y)
    """
    distributed = _distributed()
    processes = distributed.LocalCluster(
        n_workers=n,
        threads_per_worker=1,
        processes=True,
        memory_limit="auto" if memory is None else to_bytes(memory),
        scheduler_port=port,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,  # lost workers are told where they matter
    )
    client = distributed.Client(processes, set_as_default=False)
    cluster = Cluster(client)
    cluster._owned += [client, processes]
    cluster.processes = processes
    return cluster


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError("a cluster needs Dask: pip install 'gnomon[distributed]'") from None
    return distributed


@dataclass(frozen=True)
class WorkerState:
    """What a worker does now.

    Attributes
    ----------
    address : str
    threads : int
    memory, memory_limit : int
        Bytes in use, and at most.
    held : int
        Parts of rows and other results that it holds.
    running : int
        Tasks that it computes or has waiting.
    processor : float
        Percent of one processor.
    """

    address: str
    threads: int
    memory: int
    memory_limit: int
    held: int
    running: int
    processor: float


class Cluster:
    """The workers of a Dask scheduler, which hold rows and compute (see `connect` and `local`).

    Parameters
    ----------
    client : dask.distributed.Client
    """

    processes: Any = None

    def __init__(self, client: Any):
        self.client = client
        self.address: str = client.scheduler_info(n_workers=0)["address"]
        self._owned: list[Any] = []
        limits = [each.memory_limit for each in self.workers()]
        self._tasks = Tasks(client, self.address, min(limits, default=None))
        self._holder = Holder(client, self._tasks)
        self._holdings: dict[int, Holding | None] = {}
        self._tables: dict[int, ScanTables] = {}
        self._check_versions()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the rows; end the connection, and the workers where `local` started them."""
        self._holdings.clear()
        self._tables.clear()
        for each in self._owned:
            each.close()
        self._owned.clear()

    def __repr__(self) -> str:
        return f"Cluster({self.address!r}, {len(self._holder.workers())} workers)"

    def _check_versions(self) -> None:
        here = remote.versions()
        try:
            there = self.client.run(remote.versions)
        except (ImportError, AttributeError, pickle.UnpicklingError) as error:
            raise VersionMismatch(
                f"a worker of {self.address} cannot import gnomon.distributed: {error}. Install "
                f"gnomon {here['gnomon']} on the workers and start them again"
            ) from error
        if not there:
            raise no_workers(self.address, 0)
        for worker, found in there.items():
            if found["gnomon"] != here["gnomon"]:
                raise VersionMismatch(mismatch(here["gnomon"], found["gnomon"], worker))
            other = [f"{k} {found[k]} (here {here[k]})" for k in here if found[k] != here[k]]
            if other:
                warnings.warn(
                    f"the worker {worker} has {', '.join(other)}: last digits may differ from "
                    "those of this machine",
                    GnomonWarning,
                    stacklevel=4,
                )

    def block_totals(
        self, function: Callable[[Chunk], Sums], source: Source, together: int
    ) -> tuple[int, Iterable[tuple[int, Sums]]] | None:
        """The totals of blocks of ``together`` chunks; see `gnomon.engine.sums.Cluster`."""
        holding = self._held(source, together)
        if holding is not None and holding.together != together:  # held for other passes
            del self._holdings[id(source)]
            holding = self._held(source, together)
        if holding is None:
            return None
        return holding.n_blocks, self._totals(holding, Packed.of(function), together)

    def _totals(
        self, holding: Holding, packed: Packed, together: int
    ) -> Iterator[tuple[int, Sums]]:
        found = self._of_parts(holding, packed, remote.block_totals, (together,))
        for number, totals in found:
            part = holding.parts[number]
            if len(totals) != part.n_blocks:
                raise RuntimeError(f"{len(totals)} totals of {part.n_blocks} blocks")
            yield from enumerate(totals, part.first_block)

    def on_parts(
        self,
        function: Callable[..., Any],
        source: Source,
        numbers: list[int] | None = None,
        beside: np.ndarray | None = None,
    ) -> Iterable[tuple[int, Any]] | None:
        """``function(held)`` of each part of the rows; see `gnomon.engine.sums.Cluster`."""
        holding = self._held(source, 1, parts_per_thread=1)
        if holding is None:
            return None
        return self._of_parts(holding, Packed.of(function), remote.on_part, (), numbers, beside)

    def _of_parts(
        self,
        holding: Holding,
        packed: Packed,
        compute: Callable[..., Any],
        arguments: tuple[Any, ...],
        numbers: list[int] | None = None,
        beside: np.ndarray | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """``compute(packed, rows, *arguments)`` on the workers that hold the rows."""
        sent = self._broadcast(packed)
        tasks = [
            Task(
                number,
                partial(self._with_rows, compute, holding.parts[number], sent, arguments, beside),
                f"part {number + 1} of {len(holding.parts)}",
                holding.parts[number].n_bytes,
            )
            for number in (range(len(holding.parts)) if numbers is None else numbers)
        ]
        return self._tasks.results(tasks, len(tasks))

    def _with_rows(
        self,
        compute: Callable[..., Any],
        part: Part,
        sent: Callable[[], Any],
        arguments: tuple[Any, ...],
        beside: np.ndarray | None,
        avoid: tuple[str, ...],
    ) -> Any:
        rows = part.placed(avoid)
        if beside is not None:
            arguments = (*arguments, self._holder.sent_beside(beside[part.start : part.stop]))
        return self.client.submit(compute, sent(), rows, *arguments, pure=False)

    def _broadcast(self, packed: Packed) -> Callable[[], Any]:
        """What gives the packed function to a task: itself, or where it is on all workers."""
        if packed.n_bytes < LARGE_STATE:
            return lambda: packed
        state: list[Any] = []

        def sent() -> Any:
            if not state or state[0].status != "finished":
                state[:] = [self.client.scatter(packed, broadcast=True, hash=False, direct=True)]
            return state[0]

        return sent

    def _held(
        self, source: Source, together: int, parts_per_thread: int = PARTS_PER_THREAD
    ) -> Holding | None:
        """The rows of a source on the workers, for as long as the source lives."""
        key = id(source)
        if key not in self._holdings:
            if isinstance(source, MappedSource):
                held = self._held(source.source, 1, parts_per_thread)
                self._holdings[key] = self._holder.hold_mapped(source, held)
            else:
                tables = self._tables.pop(id(getattr(source, "scan", None)), None)
                self._holdings[key] = self._holder.hold(source, together, tables, parts_per_thread)
            weakref.finalize(source, self._holdings.pop, key, None)
        return self._holdings[key]

    def look_through(self, scan: Scan, look: Look) -> Look | None:
        """The look after it has seen the scan on the workers; see `gnomon.engine.sums.Cluster`."""
        try:
            tables = self._holder.read(scan)
            if tables is None:
                return None
            found = self._holder.look(tables, look)
        except (ValueError, ArithmeticError):
            # read from the start, a bad row is told with its line
            return None
        self._tables[id(scan)] = tables
        weakref.finalize(scan, self._tables.pop, id(scan), None)
        return found

    def in_order(
        self, function: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[Any] | None:
        """``function(item)`` for all items, in their order, each on some worker.

        None where there is one item only, or the function cannot be pickled; then it is computed
        here.
        """
        items = list(items)
        if len(items) < 2:
            return None
        try:
            packed = Packed.of(function)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            warnings.warn(
                f"computed on this machine instead of the workers: {error}",
                GnomonWarning,
                stacklevel=4,
            )
            return None
        return self._in_order(self._broadcast(packed), items)

    def _in_order(self, sent: Callable[[], Any], items: list[Any]) -> Iterator[Any]:
        threads = sum(self._holder.workers().values()) or 1
        tasks = (
            Task(
                number,
                partial(self._one, sent, item),
                f"item {number + 1} of {len(items)}",
            )
            for number, item in enumerate(items)
        )
        waiting: dict[int, Any] = {}
        due = 0
        for number, computed in self._tasks.results(tasks, AHEAD * threads):
            waiting[number] = computed
            while due in waiting:
                yield _told(waiting.pop(due))
                due += 1

    def _one(self, sent: Callable[[], Any], item: Any, avoid: tuple[str, ...]) -> Any:
        workers = self._holder.others(None, avoid) if avoid else None
        return self.client.submit(remote.one_item, sent(), item, pure=False, workers=workers)

    def for_joblib(self) -> Any:
        """A context in which joblib, and so scikit-learn, runs its tasks on the workers."""
        import joblib

        return joblib.parallel_config("dask", client=self.client, n_jobs=-1)

    def workers(self) -> list[WorkerState]:
        """What each worker does now: memory, rows held, tasks."""
        info = self.client.scheduler_info(n_workers=-1)["workers"]
        processing = self.client.processing()
        held = self.client.has_what()
        return [
            WorkerState(
                address,
                each["nthreads"],
                each["metrics"].get("memory", 0),
                each.get("memory_limit") or 0,
                len(held.get(address, ())),
                len(processing.get(address, ())),
                each["metrics"].get("cpu", 0.0),
            )
            for address, each in sorted(info.items())
        ]

    def logs(self, lines: int = 20) -> dict[str, list[str]]:
        """The last lines that each worker logged."""
        found = self.client.get_worker_logs(n=lines)
        return {worker: [text for _, text in reversed(said)] for worker, said in found.items()}

    def bytes_moved(self) -> int:
        """Bytes that workers have received from and sent to others so far, by Dask's counters."""
        return sum(self.client.run(_moved).values())


def _moved(dask_worker: Any) -> int:
    state = dask_worker
    return int(state.transfer_outgoing_bytes_total) + int(
        sum(entry.get("total", 0) for entry in state.transfer_incoming_log)
    )


def _told(computed: Computed) -> Any:
    for category, message in computed.warnings:
        warnings.warn(message, category, stacklevel=4)
    return computed.result
