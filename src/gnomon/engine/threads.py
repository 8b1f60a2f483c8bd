"""Threads: the one place where gnomon runs things side by side.

Kernels and BLAS calls release the interpreter lock, so threads suffice and nothing is copied. BLAS
is held to one thread while engine threads run: n threads of ours never become n times m of the
machine.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from gnomon.engine.config import settings

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 256
# Seconds of work that are worth handing to a thread.
WORTH_THREADS = 0.001
# Items that go to a thread at once, at most: so many may be in memory for each.
MOST_TOGETHER = 16
# Columns of a square matrix that one BLAS thread solves as soon as several.
SMALL_MATRIX = 256
_inside = threading.local()
# Pools that no run uses now: waking a thread costs a fraction of starting one.
_idle: dict[int, list[ThreadPoolExecutor]] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has none of the threads
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None
_blas_controller: Any = None


def processors() -> int:
    """Processors that this process may use (affinity and cgroup quota counted)."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return _counted(affinity, os.environ.get("LOKY_MAX_CPU_COUNT"))


@functools.cache
def _counted(affinity: int, most: str | None) -> int:
    """What joblib counts; it reads several files each time, so once for each setting."""
    import joblib

    return joblib.cpu_count()


def resolve_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means here; one inside an engine thread or a joblib worker."""
    if getattr(_inside, "engine_thread", False):
        return 1
    if n_jobs is None:
        n_jobs = settings().n_jobs
    if n_jobs is None:
        return 1 if _inside_joblib() else processors()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use 1 for one thread, -1 for all processors")
    if n_jobs < 0:
        return max(processors() + 1 + n_jobs, 1)
    return min(n_jobs, MOST_THREADS)


def _inside_joblib() -> bool:
    from joblib.parallel import get_active_backend

    return bool(get_active_backend()[0].nesting_level)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; nested and concurrent uses share one hold."""
    global _blas_users, _blas_limit, _blas_controller
    with _blas_lock:
        _blas_users += 1
        if _blas_users == 1:
            from threadpoolctl import ThreadpoolController

            if _blas_controller is None:
                import scipy.linalg  # noqa: F401  its BLAS must be loaded to be held

                _blas_controller = ThreadpoolController()
            _blas_limit = _blas_controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()


def blas_for(n_columns: int) -> contextlib.AbstractContextManager[None]:
    """Hold BLAS to one thread where matrices of so many columns are too small to be shared."""
    return one_blas_thread() if n_columns <= SMALL_MATRIX else contextlib.nullcontext()


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    *,
    short: bool = False,
) -> Generator[Result]:
    """Yield ``function(item)`` in the order of items, computed on threads a few items ahead.

    An error in one item ends the run; items not yet begun are not begun.

    Parameters
    ----------
    function : callable
    items : iterable
    n_jobs : int or None
    short : bool, default=False
        Items may be so short that threads would cost more than they save: the first is done on the
        calling thread, and shows how many to hand to a thread at once.
    """
    items = iter(items)
    together = 1
    with one_blas_thread():
        if short:
            together = yield from _first_alone(function, items)
        begun = list(itertools.islice(items, together + 1))
        workers = resolve_jobs(n_jobs) if len(begun) > together else 1
        items = itertools.chain(begun, items)
        del begun
        if workers == 1:  # what is left for one thread is not worth another
            yield from map(function, items)
            return
        # short items keep the calling thread busy too; long ones leave it free to take results
        with _pool(workers - 1 if short else workers) as pool:
            ahead: deque[_Batch] = deque()
            try:
                while batch := list(itertools.islice(items, together)):
                    ahead.append(_Batch(function, batch, pool))
                    if len(ahead) > workers + 1:
                        yield from _first_of(ahead, help_out=short)
                while ahead:
                    yield from _first_of(ahead, help_out=short)
            finally:
                for each in ahead:
                    each.future.cancel()
                wait([each.future for each in ahead])


class _Batch:
    """Items that go to a thread together, unless the calling thread does them first."""

    def __init__(self, function: Callable[[Item], Result], items: list[Item], pool: Any):
        self.function, self.items = function, items
        self.future: Future[list[Any]] = pool.submit(self.done)
        self.results: list[Any] | None = None

    def done(self) -> list[Any]:
        return [self.function(item) for item in self.items]

    def do_here(self) -> bool:
        """Do the work on this thread, where no other has begun it."""
        if not self.future.cancel():
            return False
        outer = getattr(_inside, "engine_thread", False)
        _inside.engine_thread = True
        try:
            self.results = self.done()
        finally:
            _inside.engine_thread = outer
        return True


def _first_of(ahead: deque[_Batch], help_out: bool) -> list[Any]:
    """The results of the first batch; while others work on it, this thread does later ones."""
    first = ahead[0]
    while help_out and first.results is None and not first.future.done():
        if not any(each.results is None and each.do_here() for each in reversed(ahead)):
            break
    ahead.popleft()
    return first.future.result() if first.results is None else first.results


def _first_alone(
    function: Callable[[Item], Result], items: Iterator[Item]
) -> Generator[Result, None, int]:
    """The first result; returns how many such items last long enough to be worth handing on."""
    for item in items:
        begin = time.perf_counter()
        result = function(item)
        spent = time.perf_counter() - begin
        yield result
        return min(int(WORTH_THREADS / max(spent, 1e-9)) + 1, MOST_TOGETHER)
    return 1


@contextlib.contextmanager
def _pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Idle threads of earlier runs, or new ones; afterwards they wait for the next."""
    try:
        pool = _idle[n_threads].pop()
    except (KeyError, IndexError):
        pool = ThreadPoolExecutor(n_threads, thread_name_prefix="gnomon", initializer=_enter_thread)
    try:
        yield pool
    finally:
        _idle.setdefault(n_threads, []).append(pool)


def _enter_thread() -> None:
    _inside.engine_thread = True


class Crew:
    """Threads that stay together for many short jobs, the calling one among them.

    For a fit that shares thousands of small steps: waking a thread that waits costs a fraction of
    starting one. Use it in a ``with`` statement.

    Parameters
    ----------
    n_jobs : int or None

    Examples
    --------
    >>> with Crew(2) as crew:
    ...     crew.each(lambda item: item * item, range(5))
    [0, 1, 4, 9, 16]
    """

    def __init__(self, n_jobs: int | None = None):
        self.size = resolve_jobs(n_jobs)
        self._hands: list[_Hand] = []
        self._blas = one_blas_thread()

    def __enter__(self) -> Crew:
        self._blas.__enter__()
        self._hands = [_Hand() for _ in range(1, self.size)]
        return self

    def __exit__(self, *error) -> None:
        for hand in self._hands:
            hand.dismiss()
        self._hands = []
        self._blas.__exit__(*error)

    def shares(self, job: Callable[[int, int], Result]) -> list[Result]:
        """``job(worker, n_workers)`` on every thread; all have ended when it returns or raises."""
        n_workers = len(self._hands) + 1
        for worker, hand in enumerate(self._hands, 1):
            hand.begin(job, worker, n_workers)
        try:
            first = job(0, n_workers)
        finally:
            others = [hand.end() for hand in self._hands]
        for _, error in others:
            if error is not None:
                raise error
        return [first, *(result for result, _ in others)]

    def each(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """``function(item)`` for all items, in order."""
        items = list(items)
        results: list[Any] = [None] * len(items)

        def job(worker: int, n_workers: int) -> None:
            for place in range(worker, len(items), n_workers):
                results[place] = function(items[place])

        if len(items) < 2:
            job(0, 1)
        else:
            self.shares(job)
        return results


class _Hand:
    """A thread of a crew: waits for a job, does it, waits again.

    Two bare locks pass the word, which wakes a thread in a fraction of the time of a future.
    """

    def __init__(self) -> None:
        self._job: tuple[Callable[[int, int], Any], int, int] | None = None
        self._outcome: tuple[Any, BaseException | None] = (None, None)
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._thread = threading.Thread(target=self._work, name="gnomon", daemon=True)
        self._thread.start()

    def begin(self, job: Callable[[int, int], Any], worker: int, n_workers: int) -> None:
        self._job = (job, worker, n_workers)
        self._go.release()

    def end(self) -> tuple[Any, BaseException | None]:
        """Wait for the job; its result and its error."""
        self._done.acquire()
        outcome, self._outcome = self._outcome, (None, None)
        return outcome

    def dismiss(self) -> None:
        self._job = None
        self._go.release()
        self._thread.join()

    def _work(self) -> None:
        _enter_thread()
        while True:
            self._go.acquire()
            if self._job is None:
                return
            job, worker, n_workers = self._job
            try:
                self._outcome = (job(worker, n_workers), None)
            except BaseException as error:
                self._outcome = (None, error)
            del job
            self._done.release()
