"""Random parts of a table that depend neither on the rows' order nor on how weights are
written.

Rows stand in canonical order on a line. A row of whole weight k has k lots, as k equal rows would
have; where weights are not whole, each row is one lot of its weight. Bootstrap samples, halves and
folds are drawn of lots, so that a row of weight three may lie in two folds, exactly as its three
copies may.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.engine.draw import MOST_REPETITIONS
from gnomon.engine.errors import DataError


class Part(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    positions : ndarray of int
        The rows, in canonical order.
    weights : ndarray of float or None
        Their weights in this part; None where all are one.
    """

    positions: np.ndarray
    weights: np.ndarray | None

    @property
    def weight_array(self) -> np.ndarray:
        return np.ones(len(self.positions)) if self.weights is None else self.weights


class Fold(NamedTuple):
    """A part to learn from and the part that is left out."""

    learn: Part
    held: Part


class Lots:
    """Draws parts of a table.

    Parameters
    ----------
    order : ndarray of int
        Positions of the rows in canonical order.
    weights : ndarray or None
        Weights of the rows, by position.
    """

    def __init__(self, order: np.ndarray, weights: np.ndarray | None):
        self.order = order
        self.n_rows = len(order)
        if weights is None:
            self.rows, self.weights = order, np.ones(len(order))
        elif _are_repetitions(weights):
            self.rows = np.repeat(order, weights[order].astype(np.int64))
            self.weights = np.ones(len(self.rows))
        else:
            self.rows, self.weights = order, weights[order]

    @property
    def n_lots(self) -> int:
        return len(self.rows)

    def whole(self) -> Part:
        """All rows."""
        return self._part(np.arange(self.n_lots))

    def bootstrap(self, size: int, rng: np.random.Generator) -> Part:
        """`size` draws with replacement, in proportion to the weights; a row drawn k times weighs
        k.
        """
        line = np.cumsum(self.weights)
        drawn = np.searchsorted(line, rng.random(size) * line[-1], side="right")
        return self._part(np.minimum(drawn, self.n_lots - 1), np.ones(size))

    def sample(self, size: int, rng: np.random.Generator) -> Part:
        """`size` units without replacement."""
        return self._part(rng.permutation(self.n_lots)[:size])

    def folds(self, n_folds: int, rng: np.random.Generator, strata=None) -> list[Fold]:
        """Disjoint parts that cover everything, each with the rest to learn from.

        Parameters
        ----------
        n_folds : int
            At most so many; fewer where there are fewer lots.
        rng : Generator
        strata : ndarray or None
            Class of each row; each fold then gets its share of each class.
        """
        n_folds = min(n_folds, self.n_lots)
        if n_folds < 2:
            raise DataError("two rows or more are needed to hold some out, and n_samples=1")
        fold = np.empty(self.n_lots, dtype=np.int64)
        fold[self._dealt(rng, strata)] = np.arange(self.n_lots) % n_folds
        return [
            Fold(self._part(np.flatnonzero(fold != k)), self._part(np.flatnonzero(fold == k)))
            for k in range(n_folds)
        ]

    def halves(self, held_share: float, rng: np.random.Generator, strata=None) -> Fold:
        """Two disjoint parts, the second of the given share of the units (by classes where
        given).
        """
        dealt = self._dealt(rng, strata)
        passed = np.floor(np.arange(self.n_lots + 1) * held_share + 0.5)
        is_held = np.diff(passed) > 0
        if not is_held.any() or is_held.all():
            raise DataError(
                f"{self.n_lots} rows cannot be split to hold a share of {held_share:g} out; "
                f"give more rows (n_samples={self.n_lots})"
            )
        return Fold(self._part(dealt[~is_held]), self._part(dealt[is_held]))

    def _dealt(self, rng: np.random.Generator, strata) -> np.ndarray:
        """Lots in random order, class after class."""
        shuffled = rng.permutation(self.n_lots)
        if strata is None:
            return shuffled
        return shuffled[np.argsort(strata[self.rows[shuffled]], kind="stable")]

    def _part(self, lots: np.ndarray, weights: np.ndarray | None = None) -> Part:
        weights = self.weights[lots] if weights is None else weights
        totals = np.bincount(self.rows[lots], weights, minlength=self.order.max() + 1)[self.order]
        present = totals > 0
        totals = totals[present]
        return Part(self.order[present], None if (totals == 1).all() else totals)


def lots_within(part: Part, n_rows: int) -> Lots:
    """Units to draw from a part of the rows."""
    weights = None
    if part.weights is not None:
        weights = np.zeros(n_rows)
        weights[part.positions] = part.weights
    return Lots(part.positions, weights)


def _are_repetitions(weights: np.ndarray) -> bool:
    whole = (weights == np.rint(weights)).all()
    return bool(whole and weights.sum() <= MOST_REPETITIONS * len(weights))


def repeated(part: Part) -> np.ndarray | None:
    """Positions written out as often as they weigh; None where weights are not whole."""
    if part.weights is None:
        return part.positions
    if not _are_repetitions(part.weights):
        return None
    return np.repeat(part.positions, part.weights.astype(np.int64))


def resampled(part: Part, rng: np.random.Generator, size: int | None = None) -> np.ndarray:
    """Positions drawn with replacement in proportion to the weights, in canonical order."""
    line = np.cumsum(part.weight_array)
    size = len(part.positions) if size is None else size
    drawn = np.searchsorted(line, rng.random(size) * line[-1], side="right")
    return part.positions[np.sort(np.minimum(drawn, len(line) - 1))]
