"""Learners by sums give the same bits from memory, streamed from disk, and through any executor."""

from __future__ import annotations

import inspect
import pickle
import random
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import has_fit_parameter

import gnomon
from gnomon.contract import data as data_of_fit
from gnomon.engine.errors import MemoryLimitError
from gnomon.table import Table, read, scan
from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor
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
    streaming,
)

SEVERAL_CHUNKS = ((80, 4), (10_000, 130))  # some methods take larger chunks than the frame's
every_sum_learner = each("cls", streaming())


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
def test_a_scan_gives_the_bits_of_the_same_table_in_memory(cls, form, rng, tmp_path, small_chunks):
    """Rows, target and weights, in chunks that differ from those of the file."""
    frame, y = whole_frame(cls, rng, 200)
    frame = frame.assign(times=rng.integers(0, 4, 200))
    path = written(frame, tmp_path, form)
    streamed = scan(path, rows_per_chunk=45)
    in_memory = read(path).with_schema(streamed.schema)
    more = {"sample_weight": "times"} if has_fit_parameter(cls, "sample_weight") else {}
    from_scan = fit(make(cls), streamed, y, **more)
    from_memory = fit(make(cls), in_memory, y, **more)
    assert_same_bits(outputs(from_scan, frame), outputs(from_memory, frame))


def numbers_of(cls: type, rng: np.random.Generator, n: int, d: int):
    """A frame of numbers with its target, the name of the target, and the rows alone."""
    X, y = problem(make(cls), rng, n=n, d=d)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(d)])
    return (frame, None, X) if y is None else (frame.assign(outcome=y), "outcome", X)


@pytest.mark.slow
@every_sum_learner
def test_a_scan_of_many_chunks_gives_the_bits_of_memory(cls, rng, tmp_path):
    frame, name, X = numbers_of(cls, rng, 1400, 130)
    path = written(frame, tmp_path, "parquet")
    expected = outputs(fit(make(cls), frame, name), X)
    for rows_per_chunk in (300, 1024):
        streamed = fit(make(cls), scan(path, rows_per_chunk=rows_per_chunk), name)
        assert_same_bits(outputs(streamed, X), expected)


BOOSTED = [HistGradientBoostingClassifier, HistGradientBoostingRegressor]


@each("cls", BOOSTED)
@pytest.mark.parametrize("weight", [None, "times"])
def test_a_scan_is_boosted_to_the_bits_of_memory_without_being_gathered(
    cls, weight, rng, tmp_path, small_chunks, monkeypatch
):
    frame, y = whole_frame(cls, rng, 400)
    frame = frame.assign(times=rng.integers(0, 4, 400))
    frame = frame if weight else frame.drop(columns="times")
    streamed = scan(written(frame, tmp_path, "parquet"), rows_per_chunk=45)
    in_memory = read(tmp_path / "rows.parquet").with_schema(streamed.schema)
    settings = {"max_iter": 4, "min_samples_leaf": 5, "early_stopping": True, "random_state": 3}
    expected = cls(**settings).fit(in_memory, y, sample_weight=weight)
    monkeypatch.setattr(data_of_fit, "gather", None)
    found = cls(**settings).fit(streamed, y, sample_weight=weight)
    assert_same_bits(outputs(found, frame), outputs(expected, frame))
    assert found.validation_score_.tolist() == expected.validation_score_.tolist()


def test_codes_of_a_scan_beyond_memory_are_refused_with_the_figure(rng, tmp_path):
    frame, y = whole_frame(HistGradientBoostingRegressor, rng, 3000)
    streamed = scan(written(frame, tmp_path, "parquet"))
    with (
        gnomon.config(memory_limit=2**20),
        pytest.raises(MemoryLimitError, match="a byte for each cell of 3,000 rows"),
    ):
        HistGradientBoostingRegressor().fit(streamed, y)


@every_sum_learner
def test_rows_of_a_scan_are_predicted_for_block_by_block(cls, on_table, tmp_path):
    streamed = scan(written(on_table.X, tmp_path, "parquet"), rows_per_chunk=25)
    found = outputs(on_table.estimator, streamed)
    # sums of large parts that cancel, such as seconds of a date, are known to fewer digits
    assert_close(found, on_table.outputs, rtol=1e-9, atol=1e-9)


@every_sum_learner
def test_an_executor_that_shuffles_and_delays_gives_the_same_bits(cls, rng, seed, small_chunks):
    for n, d in SEVERAL_CHUNKS:
        X, y = problem(make(cls), rng, n=n, d=d)
        executor = Elsewhere(seed)
        with gnomon.config(executor=executor):
            estimator = fit(make(cls), X, y)
        if executor.chunks >= 2:
            assert_same_bits(outputs(estimator, X), outputs(fit(make(cls), X, y), X))
            return
    pytest.fail("the executor was given one chunk only")


@every_sum_learner
def test_an_executor_that_loses_a_chunk_is_noticed(cls, on_numbers, seed, small_chunks):
    with (
        gnomon.config(executor=Elsewhere(seed, lose=0)),
        pytest.raises((RuntimeError, ValueError), match=r"lost chunk 0|no rows"),
    ):
        fit(make(cls), on_numbers.X, on_numbers.y)


@every_sum_learner
def test_a_scan_needs_the_name_of_its_target(cls, rng, tmp_path):
    if not needs_target(make(cls)):
        pytest.skip("has no target")
    frame, _ = whole_frame(cls, rng, 100)
    streamed = scan(written(frame, tmp_path, "parquet"))
    if inspect.signature(cls.fit).parameters["y"].default is None:
        with pytest.raises(ValueError, match="target"):
            make(cls).fit(streamed)
    with pytest.raises(ValueError, match="name"):
        make(cls).fit(streamed, np.zeros(100))
    with pytest.raises(ValueError, match="outcome"):
        make(cls).fit(streamed, "outcme")
