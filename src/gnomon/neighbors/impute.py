"""Holes filled from the nearest rows that know the column.

Texts: 003 2.2.5.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import JOBS, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object
from gnomon.engine.threads import in_order
from gnomon.neighbors.distances import MinkowskiDistance, distance_of
from gnomon.neighbors.index import NeighborIndex, Neighbors, empty_heaps
from gnomon.neighbors.kernels import add_masked_sums, sort_heaps, take_best
from gnomon.neighbors.stored import METRIC, is_within, reached, shared
from gnomon.prepare.base import COLUMNS, Filter
from gnomon.prepare.regression import ColumnsByName
from gnomon.table.encode import TableEncoder
from gnomon.table.grid import Grid, refuse_huge, refuse_infinite
from gnomon.table.kinds import Kind
from gnomon.table.schema import Schema
from gnomon.table.table import Table

ROWS_AT_ONCE = 256  # judgement: one turn of a thread
ROWS_TOGETHER = 1024  # with 256 queries 2 MB of distances
UNUSED = (Kind.IDENTIFIER, Kind.TEXT)


class HoleSearch:
    """Nearest training rows of rows with holes, by an L^p distance over what each row knows.

    Columns that the row does not know are left out for all training rows alike. A hole in a
    training row counts as the column's mean, and as one deviation of the column more, which is
    what is to be expected of an unknown value.

    Parameters
    ----------
    distance : MinkowskiDistance
        Fitted.
    rows : ndarray of shape (n, n_columns)
        All training rows.
    donors : ndarray of int
        Those to be searched.
    """

    def __init__(self, distance: MinkowskiDistance, rows: np.ndarray, donors: np.ndarray):
        self.distance = distance
        self.stored = np.ascontiguousarray(distance.coordinates(rows))
        gone = self._by_coordinate(np.isnan(rows))
        spread = np.zeros(self.stored.shape[1])
        for j in np.flatnonzero(gone.any(axis=0)):
            spread[j] = self.stored[~gone[:, j], j].std() if not gone[:, j].all() else 0.0
        costs = spread if np.isinf(distance.p) else spread**distance.p
        self.extra = np.where(gone, costs * self._of_numbers(), 0.0)[donors]
        self.stored = self.stored[donors]

    @property
    def n_rows(self) -> int:
        return len(self.stored)

    def _counts(self) -> np.ndarray:
        """Coordinates of each column."""
        levels = self.distance.levels
        return np.ones(len(levels), np.int64) if self.distance.p == 0 else np.maximum(levels, 1)

    def _by_coordinate(self, cells: np.ndarray) -> np.ndarray:
        return np.repeat(cells, self._counts(), axis=1)

    def _of_numbers(self) -> np.ndarray:
        return np.repeat(self.distance.levels == 0, self._counts())

    def nearest(self, rows: np.ndarray, k: int) -> Neighbors:
        """The k nearest of each row, and their distances."""
        queries = np.ascontiguousarray(self.distance.coordinates(rows))
        known = np.ascontiguousarray(self._by_coordinate(~np.isnan(rows))).astype(np.uint8)
        found = empty_heaps(len(rows), k)
        for start in range(0, self.n_rows, ROWS_TOGETHER):
            part = slice(start, start + ROWS_TOGETHER)
            block = np.zeros((len(rows), len(self.stored[part])))
            p = self.distance.exponent
            add_masked_sums(queries, known, self.stored[part], self.extra[part], p, block)
            take_best(block, start, *found)
        sort_heaps(*found)
        return Neighbors(self.distance.finish(found.distances), found.indices)


@method(
    task="filter",
    texts="003 2.2.5",
    use="Holes in tables of mixed columns where similar rows have similar values.",
    avoid="Holes that carry information; very many rows (all are kept and compared).",
    peers=("sklearn.impute.KNNImputer",),
)
class NeighborImputer(Filter):
    """Holes become the mean or the commonest value among the most similar rows that know it.

    For a hole in column j of a row, of the training rows that know column j the k nearest to the
    row are taken; numbers get their mean, categories and truth values their mode (of equal counts
    the level that comes first). Rows are compared by the columns that the row knows, text and
    identifiers aside; a hole in a training row counts as the column's mean and a deviation more.
    Filled values never take part in filling others. Use it where
    similar rows have similar values; `Impute` is the baseline that it must beat. Not where
    missingness itself says something. All training rows are kept. Filled cells stay filled on the
    way back.

    Texts: 003 2.2.5 (Pearson or cosine, for ratings). A column without any value is filled with 0,
    or stays empty if it is a category, and a warning says so.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows that are asked, fewer where fewer know the column; rows tied with the last share its
        weight.
    metric : str, Distance or callable, default="standardized"
        See `gnomon.neighbors.distance_of`; "pearson" and "adjusted_cosine" leave holes out in
        their own way, "mahalanobis" and "cosine" count them as the column's mean.
    columns : list of str or int, or None, default=None
        Columns to fill; None for all but text, dates and identifiers.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    rows_ : ndarray of shape (n_rows, n_compared)
        The training rows as they are compared, NaN in holes.
    weights_ : ndarray of shape (n_rows,) or None
        Their weights; None where all are one.
    distance_ : Distance
        The fitted distance.
    compared_ : ndarray of int
        Positions of the columns by which rows are compared.
    encoder_ : TableEncoder or None
        How these columns of a table became numbers.
    positions_ : ndarray of int
        Positions of the columns concerned.
    kinds_ : list of str
        Kinds of all columns seen in ``fit``.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.neighbors import NeighborImputer
    >>> rows = [[1.0, 10.0], [1.1, 12.0], [5.0, 50.0], [1.05, float("nan")]]
    >>> NeighborImputer(2).fit_transform(rows)[3]
    array([ 1.05, 11.  ])
    """

    natively = Takes(missing=True, categories=True)
    _fills = True
    _keeps_rows = True
    _kinds = (Kind.NUMBER, Kind.INTEGER, Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
    _any_array = True
    _largest = 1e100
    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "metric": METRIC,
        "columns": COLUMNS,
        "n_jobs": JOBS,
    }
    _stored = {
        "compared_": Array("i8", (None,), low=0, below="n_columns"),
        "distance_": Object(),
        "rows_": Array("f8", (None, "n_columns"), finite=False),
        "weights_": Array("f8", ("n_rows",), low=0.0) | None,
    }

    def __init__(self, n_neighbors=5, *, metric="standardized", columns=None, n_jobs=None):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.columns = columns
        self.n_jobs = n_jobs

    def _fit_columns(self, grid, columns, weights):
        concerned = set(self.positions_.tolist())
        wrong = [columns[p].name for p in concerned if columns[p].kind not in self._kinds]
        if wrong:
            raise DataError(
                f"column {wrong[0]!r} is neither numbers nor categories and cannot be filled from "
                "neighbours; leave it out of columns"
            )
        self.compared_ = np.array(
            [p for p, column in enumerate(columns) if column.kind not in UNUSED], dtype=np.int64
        )
        self.encoder_ = None
        if grid.arrow is not None and len(self.compared_):
            schema = Schema(columns[p] for p in self.compared_)
            arrays = [grid.column(p) for p in self.compared_]
            table = Table(pa.table(arrays, names=schema.names), schema)
            self.encoder_ = TableEncoder(self.natively).fit(table, weights)
        self.weights_ = None if weights is None or (weights == 1).all() else weights
        self.rows_ = self._compared(grid)
        levels = None if self.encoder_ is None else self.encoder_.columns.levels
        try:
            self.distance_ = distance_of(self.metric).fit(self.rows_, levels, weights)
        except DataError as error:
            raise DataError(f"metric={self.metric!r}: {error}") from error
        empty = [
            columns[p].name for p in concerned if np.isnan(self.rows_[:, self._place(p)]).all()
        ]
        if empty:
            warnings.warn(
                f"no row knows a value of column {empty[0]!r}: its numbers become 0, its "
                "categories stay missing",
                GnomonWarning,
                stacklevel=2,
            )

    def _compared(self, grid: Grid) -> np.ndarray:
        """The rows as they are compared: numbers, category codes, NaN in holes."""
        if self.encoder_ is None:
            rows = np.array(grid.numbers(self.compared_), dtype=np.float64, order="C")
            names = [f"x{p}" for p in self.compared_]
        else:
            names = [code.name for code in self.encoder_.codes]
            columns = {name: grid.column(p) for name, p in zip(names, self.compared_)}
            rows = self.encoder_.transform(ColumnsByName(columns, grid.n_rows))
            names = list(self.encoder_.columns.names)
        refuse_infinite(rows, names)
        refuse_huge(rows, names, self._largest)
        return rows

    def _place(self, position: int) -> int:
        """Where a column concerned stands among what is compared."""
        which = self.compared_.tolist().index(position)
        if self.encoder_ is None:
            return which
        return sum(len(code.names) for code in self.encoder_.codes[:which])

    def _changed(self, grid):
        rows = self._compared(grid)
        concerned = set(self.positions_.tolist())
        values, passed = [], []
        for position in range(len(grid.names)):
            if position not in concerned:
                values.append(grid.passed(position))
                passed.append(position)
                continue
            values.append(self._filled_column(grid, rows, position))
            passed.append(-1)
        return values, passed

    def _filled_column(self, grid: Grid, rows: np.ndarray, position: int):
        place = self._place(position)
        column = rows[:, place].copy()
        holes = np.flatnonzero(np.isnan(column))
        kind = self.kinds_[position]
        by_mode = kind in ("category", "ordered", "boolean")
        if len(holes):
            column[holes] = self._from_neighbors(rows[holes], place, by_mode)
        if not by_mode:
            return np.where(np.isnan(column), 0.0, column)
        original = grid.column(position)
        if pa.types.is_dictionary(original.type):
            original = original.cast(original.type.value_type)
        if not len(holes) or pa.types.is_null(original.type):
            return original
        return pc.coalesce(original, self._as_values(column, position, original.type))

    def _as_values(self, column: np.ndarray, position: int, kind: pa.DataType) -> pa.Array:
        if self.kinds_[position] == "boolean":
            return pa.array(column >= 0.5, mask=np.isnan(column))
        assert self.encoder_ is not None
        code = self.encoder_.codes[self.compared_.tolist().index(position)]
        return code.decode(column[:, None]).cast(kind)

    def _from_neighbors(self, rows: np.ndarray, place: int, by_mode: bool) -> np.ndarray:
        """What the nearest rows that know a column say of it; NaN where none does."""
        donors = np.flatnonzero(~np.isnan(self.rows_[:, place]))
        if len(donors) == 0:
            return np.full(len(rows), np.nan)
        index = self._search(donors)
        values = self.rows_[donors, place]
        weights = np.ones(len(donors)) if self.weights_ is None else self.weights_[donors]

        def fill(start: int) -> np.ndarray:
            return self._said(index, values, weights, rows[start : start + ROWS_AT_ONCE], by_mode)

        starts = range(0, len(rows), ROWS_AT_ONCE)
        return np.concatenate(list(in_order(fill, starts, self.n_jobs)))

    def _search(self, donors: np.ndarray) -> NeighborIndex | HoleSearch:
        """How the nearest of some training rows are found."""
        if type(self.distance_) is MinkowskiDistance:
            return HoleSearch(self.distance_, self.rows_, donors)
        return NeighborIndex(self.distance_, self.rows_[donors], "brute").ready()

    def _said(self, index, values, weights, rows, by_mode: bool) -> np.ndarray:
        k = self.n_neighbors
        asked = min(k + 1, index.n_rows)
        while True:
            distances, found = index.nearest(rows, asked)
            reach = reached(distances, weights[found], k)
            if asked == index.n_rows or not is_within(distances[:, -1:], reach).any():
                break
            asked = min(2 * asked, index.n_rows)
        counted = shared(distances, weights[found], reach, k)
        if not by_mode:
            return (counted * values[found]).sum(axis=1) / counted.sum(axis=1)
        codes = values[found].astype(np.int64)
        n_levels = int(codes.max()) + 1
        cells = np.arange(len(rows))[:, None] * n_levels + codes
        votes = np.bincount(cells.ravel(), counted.ravel(), minlength=len(rows) * n_levels)
        votes = votes.reshape(len(rows), n_levels)
        best = votes.max(axis=1, keepdims=True) * (1 - 1e-12)
        return (votes >= best).argmax(axis=1).astype(np.float64)

    def _names_out(self, names_in):
        return list(names_in)

    def _undone(self, grid):
        columns = [grid.passed(p) for p in range(len(grid.names))]
        return grid.rebuilt(grid.names, columns, list(range(len(grid.names))), "default")

    def _working_memory(self, n_rows, n_columns):
        return 8 * n_rows * (2 * n_columns + 4)

    def _memory_remedy(self):
        return "Use fewer rows: all of them are kept."

    def _check_loaded(self) -> None:
        if not hasattr(self, "rows_"):
            return
        if self.rows_.ndim != 2 or self.rows_.dtype != np.float64:
            raise ValueError("the stored rows are not a table of numbers")
        if self.weights_ is not None and self.weights_.shape != (len(self.rows_),):
            raise ValueError("the weights are not as many as the rows")
        known = set(self.compared_.tolist())
        if not set(self.positions_.tolist()) <= known:
            raise ValueError("a column to fill is not among those compared")
