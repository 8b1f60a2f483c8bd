"""Distinct rows: a table in canonical order, equal rows written once with their weights added.

Growers that draw at random or add up floating-point numbers then see the very same arrays however
the table was ordered, and whether a row was weighted or repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.contract import Data, Learner
from gnomon.engine.distinct import distinct_rows


@dataclass(frozen=True)
class CountedRows:
    """Rows that all differ, in canonical order.

    Attributes
    ----------
    rows : float64 array (n, d)
    y : array (n,) or (n, n_targets)
    weights : float64 array (n,)
    counts : float64 array (n,)
        How many rows each stands for: its weight where all weights are whole (repetitions), else
        the number of equal rows (weights are then shares).
    """

    rows: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def part(self, places: np.ndarray) -> CountedRows:
        """Some of the rows."""
        return CountedRows(
            self.rows[places], self.y[places], self.weights[places], self.counts[places]
        )

    def least_weight(self, n_rows: float) -> float:
        """The weight that stands for so many rows."""
        return n_rows * float(self.weights.sum()) / float(self.counts.sum())


class CountsRows(Learner):
    """A learner that counts rows by their weights, before those of classes are multiplied in.

    Stands before `Classifier`, whose class weights it takes down.
    """

    def _class_weights(self, totals: np.ndarray) -> np.ndarray | None:
        self._class_factors = super()._class_weights(totals)  # type: ignore[misc]
        return self._class_factors

    def _distinct(self, data: Data) -> CountedRows:
        return counted_rows(data, vars(self).pop("_class_factors", None))


def counted_rows(data: Data, class_factors: np.ndarray | None = None) -> CountedRows:
    """The rows of a table, each written once.

    Parameters
    ----------
    data : Data
    class_factors : ndarray of shape (n_classes,), optional
        What the rows' weights were multiplied by, by class; repetitions are counted without.
    """
    found = distinct_rows(data.rows, data.weight_array, data.y)
    y, weights = found.y, found.weights
    given = weights if class_factors is None else weights / class_factors[y]
    nearest = np.maximum(np.rint(given), 1.0)
    whole = bool((np.abs(given - nearest) <= 1e-9 * nearest).all())
    if not whole:
        nearest = np.bincount(found.places, minlength=len(weights)).astype(np.float64)
    return CountedRows(found.rows, y, weights, nearest)


def folds_of_distinct_rows(
    sample: CountedRows, n_folds: int, rng: np.random.Generator, strata: np.ndarray | None
) -> np.ndarray:
    """The fold of each row; equal rows share one, so that none is learnt from and tested on.

    Rows are dealt in random order, class after class where strata are given; there are as many
    folds as rows where there are fewer of these.
    """
    dealt = rng.permutation(sample.n_rows)
    if strata is not None:
        dealt = dealt[np.argsort(strata[dealt], kind="stable")]
    fold = np.empty(sample.n_rows, np.int64)
    fold[dealt] = np.arange(sample.n_rows) % n_folds
    return fold
