"""Distinct rows in canonical order: what clusterers that need all rows at once work on.

A row that stands in the table three times, or once with weight three, is one distinct row of weight
three; the order is a fixed mix of the columns. So neither the order of the table nor weight versus
repetition can change a grouping, and groups are numbered alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow.types as types
from sklearn.utils.validation import check_array

from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.contract import Clusterer, Data, Takes
from gnomon.contract.intake import as_table, is_frame
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.stored import Array
from gnomon.table.encode import TableEncoder
from gnomon.table.table import Table


def number_rows(X: Any, name: str = "X") -> np.ndarray:
    """Rows of finite numbers as a C-contiguous float64 array; tables become what methods see."""
    if isinstance(X, Table) or is_frame(X):
        table = as_table(X)
        X = TableEncoder(Takes()).fit(table).transform(table)
    return np.ascontiguousarray(check_array(X, dtype=np.float64, input_name=name))


def plain_numbers(X: Any, name: str = "X") -> Any:
    """X where it is no table, else its columns as float64; refuses text and missing cells by name.

    For functions whose result stands in the units of the columns, so that nothing may be made of
    text, nor put where a cell is missing.
    """
    if not (isinstance(X, Table) or is_frame(X)):
        return X
    table = as_table(X)
    columns = []
    for column in table.columns:
        values = table.column(column)
        if not (_is_number(values.type) or types.is_null(values.type)):
            raise DataError(
                f"column {column!r} of {name} holds {values.type}, not numbers: leave it out, or "
                "make numbers of it with a filter of gnomon.table"
            )
        if values.null_count:
            first = values.is_null().to_pylist().index(True)
            raise DataError(
                f"column {column!r} of {name} has {values.null_count:,} missing cells (the first "
                f"in row {first}): leave these rows out, or fill them"
            )
        columns.append(values.cast("float64", safe=False).to_numpy())
    return np.column_stack(columns)


def _is_number(kind: Any) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


class DistinctRows(NamedTuple):
    """Rows of which no two are equal.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        In canonical order.
    weights : ndarray of shape (m,)
    places : ndarray of shape (n,)
        Which of them each given row is.
    """

    rows: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def distinct_rows(rows: np.ndarray, weights: np.ndarray) -> DistinctRows:
    """The distinct rows with their summed weights."""
    order = canonical_order(rows)
    ordered = np.ascontiguousarray(rows[order], dtype=np.float64)
    first = np.ones(len(rows), dtype=bool)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=first[1:])
    number = np.cumsum(first) - 1
    places = np.empty(len(rows), np.int64)
    places[order] = number
    if first.all():
        return DistinctRows(ordered, np.asarray(weights, np.float64)[order], places)
    summed = np.bincount(number, weights[order])
    return DistinctRows(ordered[first], summed, places)


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
        distinct = distinct_rows(data.rows, data.weight_array)
        labels = self._group(distinct)
        if data.kept is None:
            self.labels_ = labels[distinct.places]

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
