"""Estimators that are fitted once for many tests of the contract."""

from __future__ import annotations

import pytest

from gnomon.engine import sums, threads
from tests.contract.cases import Fitted, fitted_on_numbers, fitted_on_table


@pytest.fixture
def on_numbers(cls, seed) -> Fitted:
    """The test's class, fitted to an array of numbers; shared, so it must not be changed."""
    return fitted_on_numbers(cls, seed)


@pytest.fixture
def on_table(cls, seed) -> Fitted:
    """The test's class, fitted to a mixed table; shared, so it must not be changed."""
    return fitted_on_table(cls, seed)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of sixteen rows, and threads for the shortest work: few rows take the way of many."""
    monkeypatch.setattr(sums, "FEWEST_ROWS", 16)
    monkeypatch.setattr(sums, "MOST_ROWS", 16)
    monkeypatch.setattr(threads, "WORTH_THREADS", 0.0)
    sums.rows_per_chunk.cache_clear()
    yield
    monkeypatch.undo()
    sums.rows_per_chunk.cache_clear()
