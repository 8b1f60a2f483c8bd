"""What a selector looks at: distinct rows, and which columns of numbers belong to which feature.

A feature is a column of the user's table. A category becomes several columns of numbers, which are
kept or left together. Rows are written once each with their weights, in canonical order, so that
neither order nor weight versus repetition changes what is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.contract import Data
from gnomon.engine.columns import location_and_scale
from gnomon.engine.errors import DataError
from gnomon.prepare.bins import equal_masses
from gnomon.trees.distinct import CountedRows, counted_rows, folds_of_distinct_rows

# Judgement: with the square root, 5 rows a bin and more, and counts stay above chance.
MOST_BINS = 10


@dataclass(frozen=True)
class Fold:
    """Places of the rows to learn from and of those held out."""

    learn: np.ndarray
    held: np.ndarray


@dataclass
class Problem:
    """Rows to select features from.

    Attributes
    ----------
    sample : CountedRows
    members : list of ndarray of int
        The columns of numbers of each feature.
    names : list of str
        The features.
    n_classes : int
        0 where the target is a number.
    """

    sample: CountedRows
    members: list[np.ndarray]
    names: list[str]
    n_classes: int

    @classmethod
    def of(cls, data: Data, members: list[np.ndarray], names: list[str], n_classes: int) -> Problem:
        return cls(counted_rows(data), members, names, n_classes)

    @property
    def n_features(self) -> int:
        return len(self.members)

    @property
    def n_rows(self) -> int:
        return self.sample.n_rows

    @property
    def y(self) -> np.ndarray:
        return self.sample.y

    @property
    def weights(self) -> np.ndarray:
        return self.sample.weights

    @property
    def mass(self) -> float:
        """Rows, each counted by its weight."""
        return float(self.sample.counts.sum())

    @cached_property
    def unit(self) -> np.ndarray:
        """The columns with mean 0 and variance 1; constant ones are 0."""
        mean, scale = location_and_scale(self.sample.rows, self.weights)
        return (self.sample.rows - mean) / scale

    @cached_property
    def targets(self) -> np.ndarray:
        """Centred targets (n, t): the number, or an indicator of each class."""
        if self.n_classes:
            columns = (self.y[:, None] == np.arange(self.n_classes)).astype(np.float64)
        else:
            scale = np.abs(self.y).max()
            columns = (self.y / scale if scale > 0 else self.y)[:, None].astype(np.float64)
        return columns - self.weights @ columns / self.weights.sum()

    @cached_property
    def target_codes(self) -> np.ndarray:
        """Classes, or the number in bins that hold about equally many rows."""
        if self.n_classes:
            return self.y.astype(np.int64)
        return binned(self.y.astype(np.float64), self.weights, self._n_bins)

    @cached_property
    def codes(self) -> np.ndarray:
        """Each feature as levels 0, 1, 2 ... (n, n_features): a category's own, a number's bins."""
        return np.column_stack([self._levels(columns) for columns in self.members])

    @property
    def _n_bins(self) -> int:
        return int(np.clip(np.sqrt(self.mass / 5), 2, MOST_BINS))

    def _levels(self, columns: np.ndarray) -> np.ndarray:
        if len(columns) > 1:
            return self.sample.rows[:, columns].argmax(axis=1)
        return binned(self.sample.rows[:, columns[0]], self.weights, self._n_bins)

    def columns(self, features) -> np.ndarray:
        """The columns of numbers of some features, in order."""
        chosen = [self.members[feature] for feature in sorted(features)]
        return np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)

    def by_feature(self, values: np.ndarray) -> np.ndarray:
        """A figure of each feature from one of each column: the root of the sum of squares."""
        return np.array([np.sqrt((values[columns] ** 2).sum()) for columns in self.members])

    def greatest(self, values: np.ndarray) -> np.ndarray:
        """A figure of each feature: the greatest of its columns."""
        return np.array([values[columns].max() for columns in self.members])

    def folds(self, n_folds: int, rng: np.random.Generator) -> list[Fold]:
        """Folds in which equal rows stay together; classes are dealt evenly."""
        if self.n_rows < 2:
            raise DataError("two different rows or more are needed to hold some out (n_samples=1)")
        n_folds = min(n_folds, self.n_rows)
        fold = folds_of_distinct_rows(self.sample, n_folds, rng, self.y if self.n_classes else None)
        return [Fold(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    def part(self, places: np.ndarray) -> Problem:
        """The same features on some of the rows."""
        return Problem(self.sample.part(places), self.members, self.names, self.n_classes)


def binned(values: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins of about equal weight; each of few distinct values is its bin."""
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) <= n_bins:
        return codes
    edges = equal_masses(values, weights, n_bins)
    return np.searchsorted(edges[1:-1], values, side="right")
