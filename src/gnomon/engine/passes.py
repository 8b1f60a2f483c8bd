"""Passes over rows that gather something other than sums, wherever the rows are.

A pass calls a function with every chunk and puts what it gives together, chunk after chunk. Rows in
memory or on disk are looked at on threads; where workers of a cluster hold them, each worker puts
the results of its own rows together and sends one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.config import settings
from gnomon.engine.sums import Chunk, Cluster, Source
from gnomon.engine.threads import in_order

Gather = Callable[[Chunk, "np.ndarray | None"], Any]
Merge = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Fold:
    """A pass over the rows that a worker holds; see `fold`."""

    function: Gather
    merge: Merge

    def __call__(self, held: Any, beside: np.ndarray | None = None) -> Any:
        first, total = None, None
        for chunk in held.chunks():
            first = chunk.start if first is None else first
            some = None if beside is None else beside[chunk.start - first : chunk.stop - first]
            found = self.function(chunk, some)
            total = found if total is None else self.merge(total, found)
        return total


def fold(
    function: Gather,
    merge: Merge,
    source: Source,
    n_jobs: int | None = None,
    beside: np.ndarray | None = None,
) -> Any:
    """``function(chunk, beside)`` of all chunks, put together by ``merge`` in their order.

    Parameters
    ----------
    function : callable
        Of a chunk and of what stands beside its rows; can be pickled.
    merge : callable
        Puts two neighboring results together; may change and return the first.
    source : Source
    n_jobs : int or None
    beside : ndarray of shape (n_rows, ...), default=None
        Something of each row that the source does not have.

    Returns
    -------
    result : object
    """
    executor = settings().executor
    found = None
    if executor is not None and isinstance(executor, Cluster):
        found = executor.on_parts(Fold(function, merge), source, beside=beside)
    if found is not None:
        by_number = dict(found)
        results = iter([by_number[number] for number in sorted(by_number)])
    else:

        def one(chunk: Chunk) -> Any:
            some = None if beside is None else beside[chunk.start : chunk.stop]
            return function(chunk, some)

        results = in_order(one, source.chunks(), n_jobs)
    total = next(results)
    for result in results:
        total = merge(total, result)
    return total


def extended(one: list[Any], other: list[Any]) -> list[Any]:
    """A list with the entries of another after its own."""
    one.extend(other)
    return one
