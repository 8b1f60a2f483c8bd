"""Every estimator forecasts its memory, truly, and refuses in time."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import MemoryLimitError
from tests.contract.cases import (
    every_method,
    every_path,
    fit,
    make,
    outputs,
    parameters_of,
    problem,
)

MEGABYTE = 10**6
MANY_STEPS, FEW_STEPS = 1000, 50
FEW_ROWS, MANY_ROWS = 3000, 20_000
MOST_MEMORY = 600 * MEGABYTE
LARGEST_BLOCK = 150 * MEGABYTE  # that a method forecasts for tables of any size


def peak_of(function) -> int:
    """Most bytes that were allocated at once while the function ran."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@every_path
def test_a_fit_beyond_the_limit_is_refused_before_it_allocates(cls, rng):
    X, y = problem(make(cls), rng, n=20_000, d=20, whole=True)
    refused = []

    def try_it():
        with gnomon.config(memory_limit=1000), pytest.raises(MemoryLimitError) as caught:
            make(cls).fit(X, y)
        refused.append(str(caught.value))

    peak = peak_of(try_it)
    message = refused[0]
    assert cls.__name__ in message
    assert "20,000 rows" in message
    assert re.search(r"about [\d.]+ [kMGT]?B", message)
    assert "1 kB" in message
    assert "gnomon.config(memory_limit=" in message
    assert peak < MEGABYTE


@every_path
def test_a_frame_beyond_the_limit_is_refused(cls, on_table):
    with gnomon.config(memory_limit=1000), pytest.raises(MemoryLimitError):
        make(cls).fit(on_table.X, on_table.y)


@every_method
def test_the_forecast_grows_with_the_table_and_a_refusal_offers_a_remedy(cls):
    estimator = make(cls)
    sizes = [(10, 2), (10_000, 2), (10_000, 50), (10**7, 50), (10**9, 1000)]
    forecasts = [estimator.forecast(*size) for size in sizes]
    assert all(isinstance(each, int) for each in forecasts)
    assert forecasts[0] > 0
    assert forecasts == sorted(forecasts)
    assert re.fullmatch(r"[A-Z].{10,}\.", estimator._memory_remedy())


def forecast_and_peak(cls: type, rng: np.random.Generator, n: int) -> tuple[int, int]:
    """Bytes that a fit of n rows on two threads is said to allocate, and does allocate."""
    few = {"n_jobs": 2} if "n_jobs" in parameters_of(cls) else {}
    if "max_iter" in parameters_of(cls) and (make(cls).max_iter or 0) >= MANY_STEPS:
        few["max_iter"] = FEW_STEPS  # the course of a fit allocates nothing more
    estimator = make(cls, **few)
    while estimator.forecast(n, 20) > MOST_MEMORY:  # the square of the rows, or their cube in time
        n //= 2
    X, y = problem(estimator, rng, n=n, d=20, whole=True)
    fit(make(cls, **few), X[:200], None if y is None else y[:200])
    with gnomon.config(n_jobs=2):
        return estimator.forecast(*X.shape), peak_of(lambda: fit(estimator, X, y))


@every_method
def test_the_forecast_is_near_what_a_fit_allocates(cls, rng):
    forecast, measured = forecast_and_peak(cls, rng, FEW_ROWS)
    assert measured <= 1.25 * forecast + MEGABYTE, f"{measured=:,} {forecast=:,}"
    assert forecast <= 20 * measured + LARGEST_BLOCK, f"{measured=:,} {forecast=:,}"


@pytest.mark.slow
@every_method
def test_the_forecast_is_near_what_a_fit_of_many_rows_allocates(cls, rng):
    forecast, measured = forecast_and_peak(cls, rng, MANY_ROWS)
    assert measured <= 1.25 * forecast + 3 * MEGABYTE, f"{measured=:,} {forecast=:,}"
    assert forecast <= 20 * measured + 10 * MEGABYTE, f"{measured=:,} {forecast=:,}"


@every_method
def test_prediction_allocates_little_beside_its_result(cls, rng):
    estimator = make(cls)
    X, y = problem(estimator, rng, n=4000, d=20, whole=True)
    fit(estimator, X[:600], None if y is None else y[:600])
    outputs(estimator, X[:10])
    for name in ("predict", "transform", "score_samples"):
        if hasattr(estimator, name):
            result = np.asarray(getattr(estimator, name)(X[:1])).nbytes * len(X)
            peak = peak_of(lambda name=name: getattr(estimator, name)(X))
            assert peak <= 3 * result + X.nbytes + 15 * MEGABYTE, name
