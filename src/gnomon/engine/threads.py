"""Threads: the one place where gnomon runs things side by side.

Kernels and BLAS calls release the interpreter lock, so threads suffice and nothing is copied. BLAS
is held to one thread while engine threads run: n threads of ours never become n times m of the
machine.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from gnomon.engine.config import settings

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 256
_inside = threading.local()
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None
_blas_controller: Any = None


def processors() -> int:
    """Processors that this process may use (affinity and cgroup quota counted)."""
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


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Generator[Result]:
    """Yield ``function(item)`` in the order of items, computed on threads a few items ahead.

    An error in one item ends the run; items not yet begun are not begun.
    """
    workers = resolve_jobs(n_jobs)
    items = iter(items)
    first = list(itertools.islice(items, 2))
    alone = len(first) < 2
    items = itertools.chain(first, items)
    del first
    with one_blas_thread():
        if workers == 1 or alone:  # one item alone is not worth a thread
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(workers, thread_name_prefix="gnomon", initializer=_enter_thread)
        try:
            ahead: deque = deque()
            for item in items:
                ahead.append(pool.submit(function, item))
                if len(ahead) > 2 * workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _enter_thread() -> None:
    _inside.engine_thread = True
