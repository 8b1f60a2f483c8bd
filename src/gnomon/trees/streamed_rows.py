"""Rows for boosting that are not in memory: those of a scan, or of an array of Dask.

One pass takes the target, the weights and two numbers for each row, by which rows are drawn as if
they were in memory; the bins take two more passes (`gnomon.trees.streamed_bins`), and the codes of
the cells one. Codes, a byte for each cell, are kept in memory, or on the workers of a cluster that
hold the rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gnomon.contract.data import Data
from gnomon.engine.config import settings
from gnomon.engine.draw import canonical_key, canonical_order_of_pieces, mark_of_rows
from gnomon.engine.passes import extended, fold
from gnomon.engine.sums import Chunk, Cluster, MappedSource, Source
from gnomon.trees import boosting_rounds as rounds
from gnomon.trees.binning import Binned, Binner
from gnomon.trees.boosting_grower import PackedTable
from gnomon.trees.boosting_rounds import NONE, Target
from gnomon.trees.streamed_bins import ALL_BORDERS, MOST_BORDERS


@dataclass
class StreamedData(Data):
    """Rows of a stream with what is known of each of them; the rows themselves stay where they are.

    Attributes
    ----------
    targets : ndarray of shape (n_rows,)
    row_weights : ndarray of shape (n_rows,) or None
    key, mark : ndarrays of shape (n_rows,)
        See `gnomon.engine.draw.canonical_order_of_pieces`.
    sample : ndarray of shape (n_sample, n_columns)
        Rows at regular distances.
    """

    targets: np.ndarray = field(default_factory=lambda: NONE)
    row_weights: np.ndarray | None = None
    key: np.ndarray = field(default_factory=lambda: NONE)
    mark: np.ndarray = field(default_factory=lambda: NONE)
    sample: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, data: Data, n_jobs: int | None) -> StreamedData:
        """Look at all rows of a stream once."""
        n_sample = max(min(2 * MOST_BORDERS, ALL_BORDERS // max(data.n_columns, 1)), 1)
        step = -(-data.n_rows // n_sample)
        looked = fold(partial(_looked_at, step), extended, data.source, n_jobs)
        y, weights, key, mark, sample = (np.concatenate(each) for each in zip(*looked))
        given = {each.name: getattr(data, each.name) for each in dataclasses.fields(Data)}
        known = (y, weights if data.source.weighted else None, key, mark, sample)
        return cls(**given, **dict(zip(LOOKED_FOR, known)))

    @property
    def y(self) -> Any:
        return self.targets

    @property
    def weights(self) -> np.ndarray | None:
        return self.row_weights

    def order(self, y: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """The canonical order of the rows with a target."""
        find = partial(_rows_at, self.source, n_jobs)
        return canonical_order_of_pieces(self.key, self.mark, y, find)

    def distinct(self, column: int, n_jobs: int | None) -> np.ndarray:
        """The different values of a column, in rising order, NaN left out."""
        return fold(partial(_values_of, column), np.union1d, self.source, n_jobs)


LOOKED_FOR = ("targets", "row_weights", "key", "mark", "sample")


def _looked_at(step: int, chunk: Chunk, _: None) -> list[tuple[np.ndarray, ...]]:
    y = chunk.y
    assert y is not None
    key, mark = canonical_key(chunk.rows, y), mark_of_rows(chunk.rows, y)
    weights = chunk.weights if chunk.weighted else np.empty(0)
    return [(y, weights, key, mark, chunk.rows[-chunk.start % step :: step].copy())]


def _rows_at(source: Source, n_jobs: int | None, positions: np.ndarray) -> np.ndarray:
    chosen = np.zeros(source.n_rows, bool)
    chosen[positions] = True
    return np.concatenate(fold(_chosen_rows, extended, source, n_jobs, chosen))


def _chosen_rows(chunk: Chunk, chosen: np.ndarray | None) -> list[np.ndarray]:
    return [chunk.rows[chosen]]


def _values_of(column: int, chunk: Chunk, _: None) -> np.ndarray:
    values = np.unique(chunk.rows[:, column])
    return values[~np.isnan(values)]


@dataclass
class Coded:
    """What boosting reads of a stream: a table of codes, here or on workers.

    Parameters
    ----------
    data : StreamedData
    binner : Binner
    directions, sets
        As in `PackedTable.of`.
    n_jobs : int or None
    require : callable
        ``require(n_rows)`` raises where codes of so many rows do not fit in memory.
    """

    data: StreamedData
    binner: Binner
    directions: np.ndarray | None
    sets: np.ndarray | None
    n_jobs: int | None
    require: Callable[[int], None]

    def table(self, chosen: np.ndarray, on_workers: bool) -> PackedTable:
        """The table of the rows that are chosen.

        Parameters
        ----------
        chosen : ndarray of bool of shape (n_rows,)
        on_workers : bool
            Leave the codes where the rows are, if workers hold them.
        """
        n = int(np.count_nonzero(chosen))
        nothing = self.binner.transform(np.empty((0, self.data.n_columns)), 1)
        if on_workers and n > rounds.ROWS_AT_ONCE:
            empty = self._packed(nothing)
            parts = {each.name: getattr(empty, each.name) for each in dataclasses.fields(empty)}
            return HeldTable(**parts, n_held=n, coded=self, chosen=chosen)
        self.require(n)
        codes = np.empty((self.data.n_columns, n), np.uint8)
        place = 0
        for some in self._codes(chosen):
            codes[:, place : place + len(some)] = some.T
            place += len(some)
        return self._packed(dataclasses.replace(nothing, codes=codes))

    def _codes(self, chosen: np.ndarray) -> list[np.ndarray]:
        find = partial(_codes_of_chosen, self.binner)
        return fold(find, extended, self.data.source, self.n_jobs, chosen)

    def _packed(self, binned: Binned) -> PackedTable:
        return PackedTable.of(binned, self.directions, self.sets)

    def source(self, chosen: np.ndarray, beside: np.ndarray) -> MappedSource:
        """The codes of the rows that are chosen, made where the rows are."""
        return MappedSource(
            self.data.source,
            partial(codes_of, self.binner),
            chosen,
            beside,
            self.data.n_columns,
            rounds.ROWS_AT_ONCE,
            cell_bytes=1,
        )


def codes_of(binner: Binner, rows: np.ndarray) -> np.ndarray:
    """The bins of the cells of some rows, row by row."""
    return binner.transform(rows, 1).rows


def _codes_of_chosen(binner: Binner, chunk: Chunk, chosen: np.ndarray | None) -> list[np.ndarray]:
    return [codes_of(binner, chunk.rows[chosen])]


@dataclass(frozen=True)
class HeldTable(PackedTable):
    """A table whose codes are on the workers of a cluster; ``codes`` and ``words`` are empty.

    Attributes
    ----------
    n_held : int
        Rows.
    coded : Coded
    chosen : ndarray of bool
        Rows of the stream that are in the table.
    """

    n_held: int = 0
    coded: Any = None
    chosen: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    @property
    def n_rows(self) -> int:
        return self.n_held

    def source(self, beside: np.ndarray) -> MappedSource:
        """The codes with what stands beside the rows."""
        return self.coded.source(self.chosen, beside)


def is_held(source: Source) -> bool:
    """Whether the workers of a cluster hold these rows, or will."""
    executor = settings().executor
    return executor is not None and isinstance(executor, Cluster)


def selected(target: Target, chosen: np.ndarray) -> Target:
    """The target of the rows that are chosen."""
    target = target.select(np.flatnonzero(chosen))
    if target.counts.size and (target.counts == 1).all():
        target = target.with_counts(NONE)
    return target
