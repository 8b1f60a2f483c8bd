"""Batches of rows that keep the contract: weights are repetitions, and threads change no bit.

**Weights are repetitions.** Rows are put in canonical order and laid along a line, each as long as
its weight; the line is cut in *slots* of length one. A row of weight two fills two slots, as two
copies of it do, and neither the order of the table nor weight versus repetition changes what is in
a slot. An epoch shuffles the slots and cuts them in batches of `batch_size` slots, so every row
counts by exactly its weight in every epoch. With weights that are not whole numbers a slot holds
pieces of neighbouring rows, and a row counts in a batch by the length of its pieces there. The
total weight is the number of rows of an epoch: weights that sum to one make one batch of all rows.

**Threads change no bit.** A batch is cut in *shards* whose number depends on its size and the
network alone. Each shard runs forward and backward on one thread with BLAS held to one; gradients
are added in the order of the shards. A network with a layer that looks across the rows of a batch
(batch normalisation) has one shard.

**Draws do not depend on what ran before.** The shuffle of an epoch and the draws of a shard have
generators of their own, seeded by the seed and the numbers of epoch, batch and shard; so a run that
is resumed from a checkpoint takes the same steps to the bit.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError

# Multiplications that are worth a shard of their own: with 4 million, 784-128-10 took 15% longer on
# one thread, as products of few rows are slow and gradients are added up more often.
SHARD_WORK = 10_000_000
MOST_SHARDS = 8
FEWEST_SHARD_ROWS = 16


class Batch(NamedTuple):
    """Rows of a step.

    Attributes
    ----------
    rows : ndarray of int
        Their positions in the table.
    weights : ndarray or None
        What each counts by; None where all count by one.
    """

    rows: np.ndarray
    weights: np.ndarray | None

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.rows)) if self.weights is None else float(self.weights.sum())


class Slots:
    """The slots of a table.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n_samples, n_columns)
        May have more axes.
    y : ndarray or None, default=None
    weights : ndarray of shape (n_samples,) or None, default=None
    shuffle : bool, default=True
        Without it, rows keep the order of the table, and epochs are alike.

    Examples
    --------
    >>> slots = Slots(np.array([[5.0], [1.0]]), weights=np.array([2.0, 1.0]))
    >>> [batch.rows.tolist() for batch in slots.epoch(2, np.random.default_rng(0))]
    [[0, 1], [0]]
    """

    def __init__(
        self, rows: Any, y: Any = None, weights: np.ndarray | None = None, *, shuffle: bool = True
    ):
        n = rows.shape[0]
        if n == 0:
            raise DataError("there are no rows to learn from")
        self.shuffle = shuffle
        self.chosen: np.ndarray | None = None
        flat = rows if sp.issparse(rows) else np.asarray(rows).reshape(n, -1)
        self.order = canonical_order(flat, y) if shuffle else np.arange(n)
        self.starts: np.ndarray | None = None
        self.pieces: np.ndarray | None = None
        self.n_slots = n
        if weights is None:
            return
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (n,):
            raise DataError(f"there are {n} rows and weights of shape {weights.shape}")
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError("weights of rows must be finite and not negative")
        weights = weights[self.order]
        line = np.concatenate([[0.0], np.cumsum(weights)])
        if not line[-1] > 0:
            raise DataError("no row has a positive weight")
        self.n_slots = max(int(np.ceil(line[-1] * (1 - 1e-12))), 1)
        if (weights == np.rint(weights)).all():
            self.order = np.repeat(self.order, weights.astype(np.intp))
            return
        self._cut(line)

    def _cut(self, line: np.ndarray) -> None:
        """Pieces of rows between whole numbers on the line; where the pieces of each slot start."""
        marks = np.union1d(line, np.arange(1, self.n_slots))
        owners = np.searchsorted(line, marks[:-1], side="right") - 1
        slots = np.minimum(np.floor(marks[:-1]).astype(np.intp), self.n_slots - 1)
        self.pieces = np.diff(marks)
        self.order = self.order[np.minimum(owners, len(self.order) - 1)]
        self.starts = np.searchsorted(slots, np.arange(self.n_slots + 1))

    def epoch(self, batch_size: int, rng: np.random.Generator) -> Iterator[Batch]:
        """The batches of one epoch.

        Parameters
        ----------
        batch_size : int
        rng : numpy.random.Generator

        Yields
        ------
        batch : Batch
        """
        if batch_size < 1:
            raise DataError(f"batch_size must be 1 or more, not {batch_size}")
        slots = np.arange(self.n_slots) if self.chosen is None else self.chosen
        if self.shuffle:
            slots = rng.permutation(slots)
        for begin in range(0, len(slots), batch_size):
            yield self.batch(slots[begin : begin + batch_size])

    def split(
        self, share: float, rng: np.random.Generator, labels: np.ndarray | None = None
    ) -> tuple[Slots, Batch]:
        """A share of the slots put aside at random, of each label alike.

        Parameters
        ----------
        share : float
        rng : numpy.random.Generator
        labels : ndarray of shape (n_samples,) or None, default=None

        Returns
        -------
        slots : Slots
            The others.
        batch : Batch
            The rows put aside.
        """
        drawn = rng.permutation(self.n_slots)
        if labels is None:
            aside = drawn[: int(np.ceil(share * self.n_slots))]
        else:
            firsts = self.order if self.starts is None else self.order[self.starts[:-1]]
            of_slot = labels[firsts][drawn]
            groups = [drawn[of_slot == label] for label in np.unique(labels)]
            aside = np.concatenate([each[: round(share * len(each))] for each in groups])
        left = copy.copy(self)
        left.chosen = np.setdiff1d(np.arange(self.n_slots), aside)
        return left, self.batch(np.sort(aside))

    @property
    def total(self) -> int:
        """Slots of an epoch."""
        return self.n_slots if self.chosen is None else len(self.chosen)

    def batch(self, slots: np.ndarray) -> Batch:
        """The rows of some slots."""
        if self.starts is None or self.pieces is None:
            return Batch(self.order[slots], None)
        counts = self.starts[slots + 1] - self.starts[slots]
        if not len(slots):
            return Batch(self.order[:0], self.pieces[:0])
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        places += np.repeat(self.starts[slots], counts)
        return Batch(self.order[places], self.pieces[places])


@functools.cache
def shard_bounds(n_rows: int, multiplications: int, across_rows: bool) -> list[tuple[int, int]]:
    """First and last row of each shard of a batch.

    Parameters
    ----------
    n_rows : int
    multiplications : int
        Of a forward pass for one row.
    across_rows : bool
        A layer looks across the rows of a batch, so that it cannot be cut.

    Returns
    -------
    bounds : list of (int, int)
    """
    worth = n_rows * multiplications // SHARD_WORK
    parts = max(1, min(MOST_SHARDS, worth, n_rows // FEWEST_SHARD_ROWS))
    if across_rows:
        parts = 1
    edges = np.linspace(0, n_rows, parts + 1).astype(int).tolist()
    return list(itertools.pairwise(edges))


def generator(seed: int, *place: int) -> np.random.Generator:
    """A generator for a place in a run: epoch, batch, shard."""
    return np.random.default_rng([seed, *place])
