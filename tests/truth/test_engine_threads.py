"""Threads: results in order, errors told at once, never more threads than asked for."""

from __future__ import annotations

import multiprocessing
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl

import gnomon
from gnomon.engine.products import inner
from gnomon.engine.threads import (
    MOST_THREADS,
    Crew,
    in_order,
    one_blas_thread,
    processors,
    resolve_jobs,
)


class Busy:
    """How many calls run at once, and the most that ever did."""

    def __init__(self):
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __enter__(self):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *error):
        with self.lock:
            self.now -= 1


def blas_threads() -> list[int]:
    return [
        library["num_threads"]
        for library in threadpoolctl.threadpool_info()
        if library["user_api"] == "blas"
    ]


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_items_whatever_they_take(n_jobs, rng):
    delays = rng.uniform(0, 0.005, 40)

    def slow(i):
        time.sleep(delays[i])
        return i

    assert list(in_order(slow, range(40), n_jobs)) == list(range(40))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("seconds", [0.0, 0.0003])
def test_short_items_come_in_order_however_many_go_to_a_thread(count, seconds):

    def short(i):
        time.sleep(seconds)
        return i

    for _ in range(2):
        assert list(in_order(short, range(count), 3, short=True)) == list(range(count))


@pytest.mark.parametrize("short", [False, True])
def test_runs_one_after_another_share_their_threads(short):
    names = set()

    def who(i):
        time.sleep(0.002)
        names.add(threading.get_ident())
        return i

    for _ in range(10):
        list(in_order(who, range(8), 2, short=short))
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda i: 1 // i, range(8), 2, short=short))
    assert list(in_order(who, range(8), 2, short=short)) == list(range(8))
    assert len(names) == 2


def test_runs_side_by_side_have_threads_of_their_own():
    first, second = (in_order(lambda i: i, range(9), 2) for _ in range(2))
    assert list(zip(first, second)) == [(i, i) for i in range(9)]


def test_a_forked_process_starts_threads_anew():
    list(in_order(lambda i: i, range(9), 2))
    fork = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = fork.Process(target=lambda: list(in_order(lambda i: i, range(9), 2)))
        child.start()
    child.join(30)
    assert child.exitcode == 0


def test_products_of_columns_are_those_of_matrices_dense_or_sparse(rng):
    one, other = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    for right in (other, other[:, 0]):
        expected = one.T @ right
        np.testing.assert_allclose(inner(one, right), expected)
        np.testing.assert_allclose(inner(sp.csr_array(one), right), expected)


def test_items_are_taken_a_few_ahead_only():
    taken = 0

    def items():
        nonlocal taken
        for i in range(1000):
            taken += 1
            yield i

    results = in_order(lambda i: i, items(), 2)
    next(results)
    assert taken <= 2 * 2 + 1
    results.close()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_ends_the_run_and_later_items_are_not_begun(n_jobs):
    begun = []

    def fail_at_five(i):
        begun.append(i)
        if i == 5:
            raise KeyError("five")
        return i

    results = in_order(fail_at_five, range(10_000), n_jobs)
    with pytest.raises(KeyError, match="five"):
        list(results)
    assert max(begun) <= 5 + 2 * 3 + 1


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_of_several_failures_of_short_items_the_first_is_told(n_jobs, rng):
    delays = rng.uniform(0, 0.002, 60)
    failing = sorted(rng.choice(np.arange(1, 60), 5, replace=False).tolist())

    def fail(i):
        time.sleep(delays[i])
        if i in failing:
            raise KeyError(f"item {i}")
        return i

    results = in_order(fail, range(60), n_jobs, short=True)
    with pytest.raises(KeyError, match=f"item {failing[0]}'"):
        list(results)


def test_short_items_that_run_on_the_calling_thread_start_no_threads():
    def item(_):
        time.sleep(0.001)
        return resolve_jobs(8)

    assert list(in_order(item, range(9), 2, short=True))[1:] == [1] * 8
    assert resolve_jobs(8) == 8


def test_an_error_in_the_source_of_items_is_told():
    def items():
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(in_order(lambda i: i, items(), 2))


def test_threads_are_idle_when_the_consumer_stops_early():
    begun = []
    results = in_order(begun.append, range(100), 3)
    next(results)
    results.close()
    n_begun = len(begun)
    time.sleep(0.01)
    assert len(begun) == n_begun < 100


def test_nested_runs_use_no_more_threads_than_the_outer_one():
    busy = Busy()

    def inner(i):
        with busy:
            time.sleep(0.001)
        return i

    def outer(i):
        return sum(in_order(inner, range(10), 4))

    assert list(in_order(outer, range(6), 2)) == [45] * 6
    assert busy.most <= 2


def test_inside_an_engine_thread_every_number_of_jobs_is_one():
    assert list(in_order(lambda _: resolve_jobs(8), range(3), 2)) == [1, 1, 1]
    assert resolve_jobs(8) == 8


def test_inside_a_joblib_worker_the_default_is_one_thread():
    with joblib.parallel_config("threading"):
        inside = joblib.Parallel(n_jobs=2)(joblib.delayed(resolve_jobs)(None) for _ in range(2))
    assert inside == [1, 1]


def test_blas_has_one_thread_inside_and_its_own_number_after():
    before = blas_threads()
    assert before
    inside = list(in_order(lambda _: blas_threads(), range(4), 2))
    assert all(set(each) == {1} for each in inside)
    assert blas_threads() == before


def test_holds_on_blas_may_nest_and_overlap():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_blas_is_let_go_after_an_error():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda i: 1 // i, range(3), 2))
    assert blas_threads() == before


@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(1, 1), (3, 3), (-1, processors()), (-1000, 1), (10**6, MOST_THREADS), (np.int64(2), 2)],
)
def test_number_of_jobs_means_what_scikit_learn_means(n_jobs, threads):
    assert resolve_jobs(n_jobs) == threads


def test_no_number_of_jobs_means_the_setting_then_all_processors():
    assert resolve_jobs(None) == processors()
    with gnomon.config(n_jobs=3):
        assert resolve_jobs(None) == 3
    assert resolve_jobs(None) == processors()


def test_zero_jobs_is_refused_with_a_remedy():
    with pytest.raises(ValueError, match="use 1"):
        resolve_jobs(0)


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_of_one_thread_of_a_crew_is_told_when_all_have_ended(failing):
    ended = []

    def job(worker, n_workers):
        if worker == failing:
            raise KeyError(worker)
        time.sleep(0.002)
        ended.append(worker)

    with Crew(3) as crew:
        for _ in range(3):
            ended.clear()
            with pytest.raises(KeyError, match=str(failing)):
                crew.shares(job)
            assert sorted(ended) == [worker for worker in range(3) if worker != failing]
        assert crew.shares(lambda worker, n_workers: (worker, n_workers)) == [
            (0, 3),
            (1, 3),
            (2, 3),
        ]
