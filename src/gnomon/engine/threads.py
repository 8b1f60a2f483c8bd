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
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from gnomon.engine.config import settings

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 256  # judgement: more is a mistake of the caller, and every thread costs memory
# Seconds of work that are worth waking a thread for.
WORTH_THREADS = 0.0002
# Seconds from which an item is long enough to be done in a round of one for each thread.
LONG = 0.002
# Items of a round for each thread, at least and at most: so many results are in memory.
ROUND, MOST_TOGETHER = 4, 16
# Columns of a square matrix that one BLAS thread solves as soon as several.
SMALL_MATRIX = 256
_inside = threading.local()
# Threads that no run uses now: waking one costs a fraction of starting one.
_idle: dict[int, list[ThreadPoolExecutor]] = {}
_idle_hands: list[_Hand] = []
if hasattr(os, "register_at_fork"):  # a child process has none of the threads
    os.register_at_fork(after_in_child=_idle.clear)
    os.register_at_fork(after_in_child=_idle_hands.clear)
_blas_lock = threading.Lock()
_blas_users = 0
_blas_before: list[tuple[Callable[[int], Any], int]] = []


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
        return getattr(_inside, "threads", None) or _threads_here()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use 1 for one thread, -1 for all processors")
    if n_jobs < 0:
        return max(processors() + 1 + n_jobs, 1)
    return min(n_jobs, MOST_THREADS)


def _threads_here() -> int:
    from joblib.parallel import get_active_backend

    return 1 if get_active_backend()[0].nesting_level else processors()


@contextlib.contextmanager
def counted_once() -> Iterator[None]:
    """Count the threads that this one may have once for all that happens inside."""
    outer = getattr(_inside, "threads", None)
    _inside.threads = outer or _threads_here()
    try:
        yield
    finally:
        _inside.threads = outer


class one_blas_thread(contextlib.ContextDecorator):  # a verb to its users, as `config` is
    """Hold BLAS to one thread; nested and concurrent uses share one hold.

    As a decorator, ``@one_blas_thread()``, during each call of a function.
    """

    def __enter__(self) -> None:
        global _blas_users, _blas_before
        with _blas_lock:
            _blas_users += 1
            if _blas_users == 1:
                _blas_before = []
                for count, change in _blas_libraries(_brought_later()):
                    if (threads := count()) != 1:
                        _blas_before.append((change, threads))
                        change(1)

    def __exit__(self, *error: Any) -> None:
        global _blas_users
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                for change, threads in _blas_before:
                    change(threads)


def _brought_later() -> tuple[bool, ...]:
    """Which packages that bring a BLAS of their own are loaded by now."""
    return tuple(name in sys.modules for name in ("torch", "cv2", "jax"))


@functools.cache
def _blas_libraries(
    brought_later: tuple[bool, ...],
) -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """What reads and what sets the number of threads of each loaded BLAS library."""
    import scipy.linalg  # noqa: F401  its BLAS must be loaded to be held
    from threadpoolctl import ThreadpoolController

    return [
        _controls(each) for each in ThreadpoolController().select(user_api="blas").lib_controllers
    ]


def _controls(library: Any) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """OpenBLAS's own functions where it has threads of its own, else threadpoolctl's.

    threadpoolctl looks each function up at every call (20 microseconds per hold), and lets only the
    first thread that ever asked set the number, so that a fit on another thread would not be held.
    """
    if library.internal_api == "openblas" and library.threading_layer == "pthreads":
        for prefix, suffix in itertools.product(("", "scipy_"), ("", "64_", "_64")):
            count = getattr(library.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
            change = getattr(library.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None)
            if count is not None and change is not None:
                return count, change
    return library.get_num_threads, library.set_num_threads


def blas_for(n_columns: int) -> contextlib.AbstractContextManager[None]:
    """Hold BLAS to one thread where matrices of so many columns are too small to be shared."""
    return one_blas_thread() if n_columns <= SMALL_MATRIX else contextlib.nullcontext()


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    *,
    short: bool = False,
    pace: Pace | None = None,
    anywhere: bool = False,
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
        calling thread, and shows how many are worth sharing; they are read and done in rounds.
    pace : Pace, default=None
        How long short items took when they were last done: the first is then shared too.
    anywhere : bool, default=False
        The function keeps nothing and changes nothing but its result, so that the workers of a
        cluster (``gnomon.config(executor=...)``) may compute it, each from a copy.
    """
    if anywhere and computed_elsewhere():
        found = settings().executor.in_order(function, items := list(items))
        if found is not None:
            yield from found
            return
    items = iter(items)
    with one_blas_thread():
        if short:
            yield from _in_rounds(function, items, n_jobs, pace or Pace())
            return
        begun = list(itertools.islice(items, 2))
        workers = resolve_jobs(n_jobs) if len(begun) > 1 else 1
        items = itertools.chain(begun, items)
        del begun
        if workers == 1:
            yield from map(function, items)
            return
        with _pool(workers) as pool:
            ahead: deque[Future[Result]] = deque()
            try:
                for item in items:
                    ahead.append(pool.submit(function, item))
                    if len(ahead) > workers + 1:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()
                wait(ahead)


def computed_elsewhere() -> bool:
    """Whether independent items go to a cluster: not from inside an engine thread."""
    inside = getattr(_inside, "engine_thread", False)
    return hasattr(settings().executor, "in_order") and not inside


def joblib_elsewhere() -> contextlib.AbstractContextManager[Any]:
    """Inside, parallel loops of scikit-learn's own run on the cluster, where there is one."""
    backend = getattr(settings().executor, "for_joblib", None)
    return contextlib.nullcontext() if backend is None else backend()


def _in_rounds(
    function: Callable[[Item], Result],
    items: Iterator[Item],
    n_jobs: int | None,
    pace: Pace,
) -> Generator[Result]:
    """Short items: the first on the calling thread, the others in rounds that a crew shares.

    The first, unless their pace is known, shows how many make a round: one for each thread where
    they are long after all, as their results may be large. What is left for one is not worth waking
    a thread.
    """
    function = pace.timed(function)
    if pace.seconds is None:
        for item in items:
            yield function(item)
            break
        else:
            return
    spent = pace.seconds or 0.0
    fewest = int(WORTH_THREADS / max(spent, 1e-9)) + 2
    workers = resolve_jobs(n_jobs)
    size = workers if spent > LONG else max(min(fewest, MOST_TOGETHER), ROUND) * workers
    begun = list(itertools.islice(items, size))
    if workers == 1 or len(begun) < fewest:
        yield from map(function, itertools.chain(begun, items))
        return
    with Crew(workers) as crew:
        while begun:
            yield from crew.in_turn(function, begun)
            begun = list(itertools.islice(items, size))


class Pace:
    """How long one of many like items took last.

    Parameters
    ----------
    seconds : float or None
        None where it is not known yet.
    """

    def __init__(self, seconds: float | None = None):
        self.seconds = seconds

    def timed(self, function: Callable[[Item], Result]) -> Callable[[Item], Result]:
        """The same function, which leaves here how long it took."""

        def measured(item: Item) -> Result:
            begin = time.perf_counter()
            result = function(item)
            self.seconds = time.perf_counter() - begin
            return result

        return measured


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
        self._hands = [_idle_hand() for _ in range(1, self.size)]
        return self

    def __exit__(self, *error: Any) -> None:
        _idle_hands.extend(hand for hand in self._hands if not hand.busy)
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

    def in_turn(self, function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
        """``function(item)`` for all items, in order; a thread that is done takes the next."""
        results: list[Any] = [None] * len(items)
        errors: list[tuple[int, Exception]] = []
        turns = itertools.count()  # its next is one step of the interpreter: no two get the same

        def job(worker: int, n_workers: int) -> None:
            while not errors and (place := next(turns)) < len(items):
                try:
                    results[place] = function(items[place])
                except Exception as error:
                    errors.append((place, error))

        with engine_thread():
            self.shares(job)
        if errors:  # all items before a failed one were begun, so the first failure is known
            raise min(errors, key=lambda each: each[0])[1]
        return results


@contextlib.contextmanager
def engine_thread() -> Iterator[None]:
    """The calling thread is one of the engine's for a while: what it calls starts no others."""
    outer = getattr(_inside, "engine_thread", False)
    _inside.engine_thread = True
    try:
        yield
    finally:
        _inside.engine_thread = outer


def _idle_hand() -> _Hand:
    try:
        return _idle_hands.pop()
    except IndexError:
        return _Hand()


class _Hand:
    """A thread of a crew: waits for a job, does it, waits again.

    Two bare locks pass the word, which wakes a thread in a fraction of the time of a future. One
    whose job was not waited for (an interrupt came) is ``busy`` and must not be used again.
    """

    def __init__(self) -> None:
        self.busy = False
        self._job: tuple[Callable[[int, int], Any], int, int] | None = None
        self._outcome: tuple[Any, BaseException | None] = (None, None)
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._thread = threading.Thread(target=self._work, name="gnomon", daemon=True)
        self._thread.start()

    def begin(self, job: Callable[[int, int], Any], worker: int, n_workers: int) -> None:
        self.busy = True
        self._job = (job, worker, n_workers)
        self._go.release()

    def end(self) -> tuple[Any, BaseException | None]:
        """Wait for the job; its result and its error."""
        self._done.acquire()
        outcome, self._outcome = self._outcome, (None, None)
        self.busy = False
        return outcome

    def _work(self) -> None:
        _enter_thread()
        while True:
            self._go.acquire()
            assert self._job is not None
            job, worker, n_workers = self._job
            self._job = None
            try:
                self._outcome = (job(worker, n_workers), None)
            except BaseException as error:
                self._outcome = (None, error)
            del job
            self._done.release()
