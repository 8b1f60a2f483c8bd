"""Clusterers that need all rows at once work on distinct rows in canonical order.

So neither the order of the table nor weight versus repetition can change a grouping, and groups
are numbered alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.contract import Clusterer, Data
from gnomon.engine.distinct import DistinctRows, distinct_rows
from gnomon.engine.stored import Array


def numbered_by_first(groups: np.ndarray) -> np.ndarray:
    """Groups numbered 0, 1, 2 ... by their first row; negative ones (noise) stay -1."""
    named, first, position = np.unique(groups, return_index=True, return_inverse=True)
    place = np.where(named < 0, len(groups), first)
    rank = np.empty(len(named), np.int64)
    rank[np.argsort(place, kind="stable")] = np.arange(len(named))
    rank[named < 0] = -1
    return rank[position]


def nearest_label(rows: np.ndarray, points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The label of the point that is nearest to each row."""
    centers = Centers.at(points, points.mean(axis=0))
    return labels[find_nearest(rows, centers, Nearest.of(len(rows))).labels]


class RowsClusterer(Clusterer):
    """A clusterer that needs all rows at once: gives ``_group(distinct)``, their labels."""

    _stored = {
        "labels_": Array("i", (None,), low=-1),
    }

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        if not hasattr(self, "labels_"):  # some rows had weight zero
            self.labels_ = self.predict(X)
        return self

    def _fit(self, data: Data) -> None:
        self._fit_distinct(data)

    def _fit_distinct(self, data: Data) -> DistinctRows:
        """Group the distinct rows, and return them."""
        distinct = distinct_rows(data.rows, data.weight_array)
        labels = self._group(distinct)
        if data.kept is None:
            self.labels_ = labels[distinct.places]
        return distinct

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        """Set the fitted attributes; the group of each distinct row."""
        raise NotImplementedError

    def _distinct_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (2 * n_columns + 8)

    def _n_encoded(self) -> int:
        """Columns that the method saw, after categories and text became numbers."""
        encoder = getattr(self, "encoder_", None)
        return self.n_features_in_ if encoder is None else len(encoder.columns)

    def _check_points(self, *names: str) -> None:
        """Raise where points read from a model file do not fit the columns."""
        for name in names:
            points: Any = getattr(self, name)
            wrong = not isinstance(points, np.ndarray) or points.dtype != np.float64
            if wrong or points.ndim != 2 or points.shape[1] != self._n_encoded():
                raise ValueError(f"{name} does not fit rows of {self._n_encoded()} columns")

    def _check_numbers(self, name: str, length: int, low: int, high: int) -> None:
        """Raise where whole numbers read from a model file are too few or out of their range."""
        numbers: Any = getattr(self, name)
        wrong = not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "i"
        if wrong or numbers.shape != (length,):
            raise ValueError(f"{name} must be {length} whole numbers")
        if length and (numbers.min() < low or numbers.max() >= high):
            raise ValueError(f"{name} must lie between {low} and {high - 1}")
