"""Learners by sums give the same bits from memory, streamed from disk, and through any executor."""

from __future__ import annotations

import pickle
import random
import time

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.table import Table, read, scan
from tests.contract.cases import (
    assert_close,
    assert_same_bits,
    each,
    fit,
    make,
    mixed_problem,
    needs_target,
    outputs,
    problem,
    summing,
)

SEVERAL_CHUNKS = (1400, 10_000)  # rows of 130 columns; some methods take larger chunks
every_sum_learner = each("cls", summing())


class Elsewhere:
    """An executor as a cluster would be: pickles the work, shuffles and delays it."""

    def __init__(self, seed: int, lose: int | None = None):
        self.random = random.Random(seed)
        self.lose = lose
        self.chunks = 0

    def run(self, function, chunks):
        sent = pickle.dumps(function)
        waiting = list(chunks)
        self.chunks = max(self.chunks, len(waiting))
        self.random.shuffle(waiting)
        for chunk in waiting:
            time.sleep(self.random.random() * 1e-4)
            if chunk.number != self.lose:
                result = pickle.loads(sent)(pickle.loads(pickle.dumps(chunk)))
                yield chunk.number, pickle.loads(pickle.dumps(result))


def written(frame: pd.DataFrame, folder, form: str):
    path = folder / f"rows.{form}"
    Table.from_frame(frame).save(path)
    return path


def whole_frame(cls: type, rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, str | None]:
    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng, n=n)
    if y is None:
        return frame, None
    return frame.assign(outcome=y), "outcome"


@every_sum_learner
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_scan_gives_the_bits_of_the_same_table_in_memory(cls, form, rng, tmp_path):
    frame, y = whole_frame(cls, rng, 700)
    path = written(frame, tmp_path, form)
    streamed = scan(path, rows_per_chunk=150)
    in_memory = read(path).with_schema(streamed.schema)
    from_scan = fit(make(cls), streamed, y)
    from_memory = fit(make(cls), in_memory, y)
    assert_same_bits(outputs(from_scan, frame), outputs(from_memory, frame))


@every_sum_learner
def test_a_scan_of_many_chunks_gives_the_bits_of_memory(cls, rng, tmp_path):
    estimator = make(cls)
    X, y = problem(estimator, rng, n=1400, d=130)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(130)])
    name = None
    if y is not None:
        frame, name = frame.assign(outcome=y), "outcome"
    path = written(frame, tmp_path, "parquet")
    for rows_per_chunk in (300, 1024):
        streamed = fit(make(cls), scan(path, rows_per_chunk=rows_per_chunk), name)
        assert_same_bits(outputs(streamed, X), outputs(fit(make(cls), frame, name), X))


@every_sum_learner
def test_weights_are_streamed_too(cls, rng, tmp_path):
    frame, y = whole_frame(cls, rng, 500)
    frame = frame.assign(times=rng.integers(0, 4, 500))
    path = written(frame, tmp_path, "parquet")
    streamed = scan(path, rows_per_chunk=120)
    in_memory = read(path).with_schema(streamed.schema)
    from_scan = fit(make(cls), streamed, y, sample_weight="times")
    from_memory = fit(make(cls), in_memory, y, sample_weight="times")
    assert_same_bits(outputs(from_scan, frame), outputs(from_memory, frame))


@every_sum_learner
def test_rows_of_a_scan_are_predicted_for_block_by_block(cls, rng, tmp_path):
    frame, y = whole_frame(cls, rng, 500)
    estimator = fit(make(cls), frame, y)
    streamed = scan(written(frame, tmp_path, "parquet"), rows_per_chunk=120)
    found, expected = outputs(estimator, streamed), outputs(estimator, frame)
    assert_close(found, expected, rtol=1e-10, atol=1e-10)


@every_sum_learner
def test_an_executor_that_shuffles_and_delays_gives_the_same_bits(cls, rng, seed):
    for n in SEVERAL_CHUNKS:
        X, y = problem(make(cls), rng, n=n, d=130)
        executor = Elsewhere(seed)
        with gnomon.config(executor=executor):
            estimator = fit(make(cls), X, y)
        assert_same_bits(outputs(estimator, X), outputs(fit(make(cls), X, y), X))
        if executor.chunks >= 2:
            return
    pytest.fail("the executor was given one chunk only")


@every_sum_learner
def test_an_executor_that_loses_a_chunk_is_noticed(cls, rng, seed):
    X, y = problem(make(cls), rng)
    with (
        gnomon.config(executor=Elsewhere(seed, lose=0)),
        pytest.raises((RuntimeError, ValueError), match=r"lost chunk 0|no rows"),
    ):
        fit(make(cls), X, y)


@every_sum_learner
def test_a_scan_needs_the_name_of_its_target(cls, rng, tmp_path):
    if not needs_target(make(cls)):
        pytest.skip("has no target")
    frame, _ = whole_frame(cls, rng, 100)
    streamed = scan(written(frame, tmp_path, "parquet"))
    with pytest.raises(ValueError, match="target"):
        make(cls).fit(streamed)
    with pytest.raises(ValueError, match="name"):
        make(cls).fit(streamed, np.zeros(100))
    with pytest.raises(ValueError, match="outcome"):
        make(cls).fit(streamed, "outcme")
