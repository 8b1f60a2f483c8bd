"""Sums over chunks: the total is that of numpy, to the bit whatever runs them."""

from __future__ import annotations

import itertools
import random
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.engine.sums import (
    FEWEST_ROWS,
    MOST_ROWS,
    ArraySource,
    add_up,
    as_float_rows,
    rows_per_chunk,
)


class Moments(NamedTuple):
    weight: float
    total: np.ndarray
    squares: np.ndarray


def moments(chunk) -> Moments:
    weighted = chunk.weights[:, None] * chunk.rows
    return Moments(chunk.weights.sum(), weighted.sum(axis=0), chunk.rows.T @ weighted)


class Scattered:
    """An executor that runs chunks in any order and gives back results in another."""

    def __init__(self, seed: int, lose=(), repeat=()):
        self.shuffle = random.Random(seed).shuffle
        self.lose = set(lose)
        self.repeat = set(repeat)

    def run(self, function, chunks):
        chunks = list(chunks)
        self.shuffle(chunks)
        done = [(chunk.number, function(chunk)) for chunk in chunks]
        done += [pair for pair in done if pair[0] in self.repeat]
        self.shuffle(done)
        return (pair for pair in done if pair[0] not in self.lose)


@given(
    n=st.integers(1, 400),
    d=st.integers(1, 6),
    size=st.integers(1, 500),
    n_jobs=st.sampled_from([1, 2, 5]),
    weighted=st.booleans(),
    data_seed=st.integers(0, 2**32 - 1),
)
def test_any_chunking_sums_to_what_numpy_sums_to(n, d, size, n_jobs, weighted, data_seed):
    rng = np.random.default_rng(data_seed)
    rows = rng.normal(size=(n, d))
    weights = rng.uniform(size=n) if weighted else None
    total = add_up(moments, ArraySource(rows, weights=weights, size=size), n_jobs)
    w = np.ones(n) if weights is None else weights
    assert isinstance(total, Moments)
    np.testing.assert_allclose(total.weight, w.sum(), rtol=1e-12)
    np.testing.assert_allclose(total.total, w @ rows, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(total.squares, (rows.T * w) @ rows, rtol=1e-9, atol=1e-9)


def test_whole_numbers_add_up_exactly(rng):
    rows = rng.integers(-1000, 1000, size=(5000, 3)).astype(float)
    total = add_up(moments, ArraySource(rows, size=7))
    np.testing.assert_array_equal(total.squares, rows.T @ rows)


def test_total_has_the_same_bits_for_any_number_of_threads_and_any_executor(rng, seed):
    source = ArraySource(rng.normal(size=(3000, 4)) * 10.0 ** rng.integers(-8, 8, 4), size=17)
    expected = add_up(moments, source, 1)
    for n_jobs in (2, 3, 8):
        assert_same_bits(add_up(moments, source, n_jobs), expected)
    with gnomon.config(executor=Scattered(seed)):
        assert_same_bits(add_up(moments, source), expected)


def assert_same_bits(total: Moments, expected: Moments) -> None:
    assert total.weight == expected.weight
    assert total.total.tobytes() == expected.total.tobytes()
    assert total.squares.tobytes() == expected.squares.tobytes()


@pytest.mark.parametrize("lost", [0, 3, 9, (8, 9), range(10)])
def test_an_executor_that_loses_a_chunk_is_refused(lost, seed):
    lost = lost if not isinstance(lost, int) else (lost,)
    source = ArraySource(np.ones((100, 1)), size=10)
    with (
        gnomon.config(executor=Scattered(seed, lose=lost)),
        pytest.raises((RuntimeError, ValueError)),
    ):
        add_up(moments, source)


def test_an_executor_that_gives_a_chunk_twice_is_refused(seed):
    source = ArraySource(np.ones((100, 1)), size=10)
    with (
        gnomon.config(executor=Scattered(seed, repeat=[4])),
        pytest.raises(RuntimeError, match="chunk 4 twice"),
    ):
        add_up(moments, source)


def test_an_executor_that_stops_early_is_refused():
    class Lazy:
        def run(self, function, chunks):
            first = next(iter(chunks))
            yield first.number, function(first)

    with gnomon.config(executor=Lazy()), pytest.raises(RuntimeError, match="lost chunk 1"):
        add_up(moments, ArraySource(np.ones((100, 1)), size=10))


def test_an_executor_computes_with_one_blas_thread_as_engine_threads_do(seed):
    import threadpoolctl

    def blas_threads(chunk):
        found = threadpoolctl.threadpool_info()
        return (float(max(each["num_threads"] for each in found if each["user_api"] == "blas")),)

    source = ArraySource(np.ones((6, 1)), size=2)
    with gnomon.config(executor=Scattered(seed)):
        assert add_up(blas_threads, source) == (3.0,)
    assert add_up(blas_threads, source) == (3.0,)


def test_no_rows_cannot_be_summed():
    with pytest.raises(ValueError, match="no rows"):
        add_up(moments, ArraySource(np.empty((0, 3))))


def test_sums_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        add_up(lambda chunk: (np.ones(1 + chunk.number),), ArraySource(np.ones((4, 1)), size=2))


def test_first_chunks_result_is_not_changed_by_adding():
    kept = {}

    def remember(chunk):
        kept[chunk.number] = (np.ones(2),)
        return kept[chunk.number]

    (total,) = add_up(remember, ArraySource(np.ones((6, 1)), size=2), 1)
    np.testing.assert_array_equal(total, [3.0, 3.0])
    np.testing.assert_array_equal(kept[0][0], [1.0, 1.0])


@given(st.integers(1, 10**7))
def test_chunks_are_a_power_of_two_rows_and_stay_in_bounds(n_columns):
    rows = rows_per_chunk(n_columns)
    assert FEWEST_ROWS <= rows <= MOST_ROWS
    assert rows & (rows - 1) == 0


@given(n=st.integers(1, 1000), size=st.integers(1, 300))
def test_chunks_cover_every_row_once_and_in_order(n, size):
    chunks = list(ArraySource(np.arange(n, dtype=float)[:, None], size=size).chunks())
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert chunks[0].start == 0
    assert chunks[-1].stop == n
    assert all(a.stop == b.start for a, b in itertools.pairwise(chunks))
    np.testing.assert_array_equal(np.concatenate([c.rows[:, 0] for c in chunks]), np.arange(n))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool, ">f8"])
def test_chunks_are_native_c_ordered_doubles(dtype):
    rows = np.asfortranarray(np.arange(12).reshape(4, 3) % 2, dtype=dtype)
    chunk = next(ArraySource(rows).chunks())
    assert chunk.rows.dtype == np.float64
    assert chunk.rows.dtype.isnative
    assert chunk.rows.flags.c_contiguous


def test_rows_that_are_ready_are_not_copied():
    rows = np.ones((10, 3))
    assert np.shares_memory(as_float_rows(rows), rows)


def test_sparse_rows_stay_sparse():
    rows = sp.random_array((50, 4), density=0.3, format="csr", dtype=np.float32)
    chunk = next(ArraySource(rows).chunks())
    assert sp.issparse(chunk.rows)
    assert chunk.rows.dtype == np.float64


def test_unit_weights_cannot_be_written_to():
    chunk = next(ArraySource(np.ones((3, 1))).chunks())
    with pytest.raises(ValueError, match="read-only"):
        chunk.weights[0] = 2
