"""Every estimator forecasts its memory, truly, and refuses in time."""

from __future__ import annotations

import json
import re
import tracemalloc

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import MemoryLimitError
from tests.contract.cases import CLASSES, every_method, every_path, fit, make, outputs, problem
from tests.contract.peaks import RECORD, Peak, forecast_of, is_near, peaks, shape_of

MEGABYTE = 10**6
FEW_ROWS = 3000
PEAKS = json.loads(RECORD.read_text())
# Neither number may rise: methods without a recorded peak, and fits whose forecast is farther off.
NOT_RECORDED = 1
OUTSIDE = {
    "LocallyLinearEmbedding": {"3000x20"},  # the graph of these rows falls into three parts
}
BY_NAME = {cls.__name__: cls for cls in CLASSES}


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


@pytest.mark.parametrize("name", PEAKS)
def test_the_forecast_is_within_a_factor_of_two_of_the_recorded_peak(name):
    """The record is kept by ``python -m tests.contract.peaks --write``."""
    cls = BY_NAME[name]
    forecasts = {shape: forecast_of(cls, shape_of(shape)) for shape in PEAKS[name]}
    far = {
        shape: f"forecast {forecast:,}, peak {PEAKS[name][shape]:,}"
        for shape, forecast in forecasts.items()
        if not is_near(forecast, PEAKS[name][shape])
    }
    assert far.keys() == OUTSIDE.get(name, set()), far


def test_no_further_method_lacks_a_recorded_peak():
    assert PEAKS.keys() <= BY_NAME.keys()
    assert len(BY_NAME) - len(PEAKS) <= NOT_RECORDED


@pytest.mark.slow
@every_method
def test_the_forecast_is_within_a_factor_of_two_of_the_peak_of_a_fit(cls, seed):
    [(_, found)] = peaks(cls, [(FEW_ROWS, 20)], seconds=120, seed=seed)
    assert isinstance(found, Peak), found
    assert is_near(found.forecast, found.bytes), found


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
