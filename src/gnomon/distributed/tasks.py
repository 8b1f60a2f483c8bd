"""Tasks on workers that die, stall or run out of memory: every one is computed in the end.

Results do not depend on where or how often a task ran. So a task whose worker is lost is sent
again, and one that takes far longer than the others is sent to another worker as well; the first
result counts.
"""

from __future__ import annotations

import queue
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from gnomon.distributed.errors import no_workers, scheduler_gone, worker_died
from gnomon.engine.errors import MemoryLimitError

LOOK_EVERY = 0.2  # seconds; short beside SLOW_SECONDS, and a wake-up costs microseconds
# A task is slow from so many times the median, and not before so many seconds.
SLOW, SLOW_SECONDS = 5.0, 3.0
# Workers that may die under one task before it is taken to be the reason.
MOST_LOSSES = 5
WAIT_FOR_WORKERS = 60.0


@dataclass
class Task:
    """Something to compute on a worker.

    Attributes
    ----------
    number : int
    submit : callable
        ``submit(avoid)`` sends it, not to the workers to avoid, and gives Dask's future.
    about : str
        What it is, for errors.
    n_bytes : int
        Bytes of rows that it needs.
    """

    number: int
    submit: Callable[[tuple[str, ...]], Any]
    about: str
    n_bytes: int = 0


@dataclass
class _Open:
    task: Task
    futures: list[Any] = field(default_factory=list)
    begun: float = 0.0
    losses: int = 0
    doubled: bool = False


class Tasks:
    """Sends tasks, a limited number ahead, and gives results as they come.

    Parameters
    ----------
    client : dask.distributed.Client
    address : str
    memory_limit : int or None
        Bytes that a worker may use.
    """

    def __init__(self, client: Any, address: str, memory_limit: int | None = None):
        self.client = client
        self.address = address
        self.memory_limit = memory_limit

    def results(self, tasks: Iterable[Task], ahead: int) -> Iterator[tuple[int, Any]]:
        """``(number, result)`` in the order in which they are ready."""
        tasks = iter(tasks)
        arrived: queue.SimpleQueue[int] = queue.SimpleQueue()
        open_: dict[int, _Open] = {}
        durations: list[float] = []
        last_seen = time.monotonic()
        try:
            while True:
                while len(open_) < ahead and (task := next(tasks, None)) is not None:
                    open_[task.number] = _Open(task)
                    self._send(open_[task.number], arrived)
                if not open_:
                    return
                ready = self._ready(arrived, open_)
                if ready:
                    last_seen = time.monotonic()
                for each, result in self._gathered(ready, arrived):
                    durations.append(time.monotonic() - each.begun)
                    del open_[each.task.number]
                    self._drop(each)
                    yield each.task.number, result
                if not ready:
                    self._require_cluster(time.monotonic() - last_seen)
                    self._hurry(open_, durations, arrived)
        finally:
            for each in open_.values():
                self._drop(each)

    def _send(self, each: _Open, arrived: Any, avoid: tuple[str, ...] = ()) -> None:
        each.begun = time.monotonic()
        number = each.task.number
        while True:
            try:
                future = each.task.submit(avoid)
                break
            except AttributeError as error:  # a client without its scheduler has none to call
                self.require_scheduler(error)
                raise
            except lost_or_late() as error:  # no worker is there, for now
                self.require_scheduler(error)
                waited = time.monotonic() - each.begun
                if waited > WAIT_FOR_WORKERS:
                    raise no_workers(self.address, waited) from error
                time.sleep(LOOK_EVERY)
        each.futures.append(future)
        future.add_done_callback(lambda _: arrived.put(number))

    def _ready(self, arrived: Any, open_: dict[int, _Open]) -> list[_Open]:
        """Open tasks of which a future has ended, well or not."""
        numbers = set()
        try:
            numbers.add(arrived.get(timeout=LOOK_EVERY))
            while True:
                numbers.add(arrived.get_nowait())
        except queue.Empty:
            pass
        lost = {
            number
            for number, each in open_.items()
            if all(future.status in ("lost", "cancelled", "error") for future in each.futures)
        }
        return [open_[number] for number in sorted(numbers | lost) if number in open_]

    def _gathered(self, ready: list[_Open], arrived: Any) -> list[tuple[_Open, Any]]:
        """Results that could be fetched; the other tasks are sent again, or their error raised."""
        good, bad = [], []
        for each in ready:
            done = next((f for f in each.futures if f.status == "finished"), None)
            if done is not None:
                good.append((each, done))
            elif all(future.status != "pending" for future in each.futures):
                bad.append(each)
        found = []
        try:
            results = self.client.gather([future for _, future in good])
            found = [(each, result) for (each, _), result in zip(good, results)]
        except lost_errors():
            bad += [each for each, _ in good]
        for each in bad:
            self._again(each, arrived)
        return found

    def _again(self, each: _Open, arrived: Any) -> None:
        """Send a task again whose worker was lost; raise what it raised itself."""
        from distributed import KilledWorker

        for future in each.futures:
            if future.status != "error":
                continue
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise self._died(each.task) from error
            if not isinstance(error, lost_errors()):
                raise error
        self.require_scheduler()
        each.losses += 1
        if each.losses > MOST_LOSSES:
            raise self._died(each.task)
        self._drop(each)
        each.futures, each.doubled = [], False
        self._send(each, arrived)

    def _died(self, task: Task) -> MemoryLimitError:
        return worker_died(task.about, task.n_bytes, self.memory_limit)

    def _hurry(self, open_: dict[int, _Open], durations: list[float], arrived: Any) -> None:
        """Send a slow task to another worker too, where one has nothing to do."""
        if not durations:
            return
        slow = max(SLOW * statistics.median(durations[-200:]), SLOW_SECONDS)
        now = time.monotonic()
        late = [each for each in open_.values() if now - each.begun > slow and not each.doubled]
        if not late:
            return
        processing = self.client.processing()
        if all(processing.values()):
            return
        for each in late:
            keys = {future.key for future in each.futures}
            busy = tuple(worker for worker, tasks in processing.items() if keys & set(tasks))
            if len(busy) < len(processing):
                each.doubled = True
                self._send(each, arrived, busy)

    def _drop(self, each: _Open) -> None:
        for future in each.futures:
            if future.status == "pending":
                future.cancel(force=True)

    def _require_cluster(self, waited: float) -> None:
        self.require_scheduler()
        if waited > WAIT_FOR_WORKERS and not self.client.nthreads():
            raise no_workers(self.address, waited)

    def require_scheduler(self, error: BaseException | None = None) -> None:
        """Raise where the scheduler is gone."""
        if self.client.status != "running" or self.client.scheduler is None:
            raise scheduler_gone(self.address) from error


def lost_or_late() -> tuple[type[BaseException], ...]:
    """The errors of a worker that is not there, or not yet."""
    return (*lost_errors(), TimeoutError)


def lost_errors() -> tuple[type[BaseException], ...]:
    """The errors that say that a worker or a message was lost, not that the work is wrong."""
    from distributed.client import FuturesCancelledError
    from distributed.comm import CommClosedError

    return CancelledError, CommClosedError, FuturesCancelledError
