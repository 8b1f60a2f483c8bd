"""Missing values: filled with a typical value, or made a category of their own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import GnomonWarning
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Flag, Number, Text, Whole
from gnomon.prepare.base import COLUMNS, Change, ColumnFilter
from gnomon.table.codes import as_numbers, dictionary
from gnomon.table.kinds import Kind

MARK = ":missing"
NUMBERS = (Kind.NUMBER, Kind.INTEGER)


@storable
class NumberFill(Change):
    """Holes in a column of numbers become its mean or median, marked beside it on request."""

    _stored = {
        "fill": Number(),
        "mark": Flag(),
        "n_missing": Whole(),
        "strategy": Text(),
    }

    def __init__(self, name: str, strategy: str, mark: bool):
        super().__init__(name)
        self.strategy = strategy
        self.mark = mark
        self.n_missing = 0
        self.fill = 0.0

    def look(self, column, weights):
        values = as_numbers(column, self.name)
        known = ~np.isnan(values)
        self.n_missing = int(len(values) - known.sum())
        weights = np.ones(len(values)) if weights is None else weights
        if known.any():
            typical = weighted_median if self.strategy == "median" else _mean
            self.fill = typical(values[known], weights[known])
        else:
            _warn_empty(self.name, "0")

    @property
    def names(self):
        return [self.name, self.name + MARK] if self.marked else [self.name]

    @property
    def marked(self) -> bool:
        return self.mark and self.n_missing > 0

    def forward(self, column):
        values = as_numbers(column, self.name)
        missing = np.isnan(values)
        filled = np.where(missing, self.fill, values)
        return [filled, missing.astype(np.float64)] if self.marked else [filled]

    def backward(self, columns):
        values = as_numbers(columns[0], self.name)
        if not self.marked:
            return values
        return np.where(as_numbers(columns[1], self.name) > 0.5, np.nan, values)


@storable
class ValueFill(Change):
    """Holes in any other column become its most common value, or a level of their own.

    Parameters
    ----------
    name : str
    level : str or None
        The level that stands for missing; None for the most common value.
    mark : bool
    """

    _stored = {
        "fill": Text() | Flag() | Anything(),
        "flag": Flag(),
        "level": Text() | None,
        "mark": Flag(),
        "n_missing": Whole(),
    }

    def __init__(self, name: str, level: str | None, mark: bool):
        super().__init__(name)
        self.level = level
        self.mark = mark
        self.n_missing = 0
        self.fill: Any = level
        self.flag = False

    def look(self, column, weights):
        self.flag = pa.types.is_boolean(column.type)
        values, codes = dictionary(column)
        known = codes >= 0
        self.n_missing = int(len(codes) - known.sum())
        if self.level is not None:
            return
        if not known.any():
            _warn_empty(self.name, "missing, as they are")
            return
        counts = np.bincount(codes[known], None if weights is None else weights[known])
        best = counts.max() * (1 - 1e-12)
        ties = [value for value, count in zip(values, counts) if count >= best]
        self.fill = min(ties, key=lambda value: (type(value).__name__, value))

    @property
    def names(self):
        return [self.name, self.name + MARK] if self.marked else [self.name]

    @property
    def marked(self) -> bool:
        return self.mark and self.n_missing > 0

    def forward(self, column):
        missing = column.is_null().to_numpy(zero_copy_only=False)
        new = self._filled(column)
        return [new, missing.astype(np.float64)] if self.marked else [new]

    def _filled(self, column):
        words = pa.types.is_dictionary(column.type)
        if words:
            column = column.cast(column.type.value_type)
        if self.level is not None and not pa.types.is_string(column.type):
            column = column.cast(pa.string())
        if self.fill is not None:
            if pa.types.is_null(column.type):
                column = column.cast(pa.scalar(self.fill).type)
            column = pc.fill_null(column, pa.scalar(self.fill).cast(column.type))
        return column.dictionary_encode() if words or self.level is not None else column

    def backward(self, columns):
        column = columns[0]
        if self.level is not None:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            holes = pc.equal(column, self.level)
            values = pc.equal(column, "true") if self.flag else column
            return pc.if_else(holes, pa.scalar(None, values.type), values)
        if not self.marked:
            return column
        gone = pa.array(as_numbers(columns[1], self.name) > 0.5)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return pc.if_else(gone, pa.scalar(None, column.type), column)


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The middle value; the mean of two where both qualify."""
    order = np.argsort(values, kind="stable")
    line = np.cumsum(weights[order])
    half = line[-1] / 2
    low = np.searchsorted(line, half * (1 - 1e-12), side="left")
    high = np.searchsorted(line, half * (1 + 1e-12), side="right")
    high = min(high, len(values) - 1)
    return float(values[order[low]] / 2 + values[order[high]] / 2)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    scale = np.abs(values).max()
    return float(np.average(values / scale, weights=weights) * scale) if scale > 0 else 0.0


def _warn_empty(name: str, instead: str) -> None:
    warnings.warn(
        f"column {name!r} has no value at all: its cells are read as {instead}",
        GnomonWarning,
        stacklevel=2,
    )


@method(
    task="filter",
    texts="003 2.1.9.4",
    use="A quick way to complete a table, and the one that better ways must beat.",
    avoid="Many holes, or holes that carry information (MissingAsCategory).",
    peers=("sklearn.impute.SimpleImputer",),
)
class Impute(ColumnFilter):
    """Missing cells become the column's mean (numbers) or its most common value (all else).

    The texts' baseline: numbers, categories, truth values and dates of one table by one filter.
    Use it first; `RegressionImpute` looks at the other columns. Not where missingness itself says
    something: see `MissingAsCategory`. It makes columns look surer than they are: their variance
    shrinks.

    The way back leaves filled cells as they are or, with ``mark=True``, puts the holes back: a
    second column ``name:missing`` then says where they were, for each column that had any in
    training.

    Texts: 003 2.1.9.4. Ties for the most common value go to the one that sorts first. A column
    without any number is read as 0, and says so.

    Parameters
    ----------
    strategy : {"mean", "median"}, default="mean"
        What number columns are filled with.
    mark : bool, default=False
        Whether to add a column that says where the holes were.
    columns : list of str or int, or None, default=None
        Columns to fill; None for all but text and identifiers.

    Attributes
    ----------
    codes_ : list
        What each column concerned is filled with.
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
    >>> from gnomon.prepare import Impute
    >>> Impute().fit_transform([[1.0], [float("nan")], [5.0]]).ravel()
    array([1., 3., 5.])
    """

    natively = Takes(missing=True, categories=True)
    _fills = True
    _kinds = (*NUMBERS, Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN, Kind.DATETIME)
    _words = True
    _any_array = True
    _parameter_constraints = {
        "strategy": [StrOptions({"mean", "median"})],
        "mark": FLAG,
        "columns": COLUMNS,
    }

    def __init__(self, strategy="mean", *, mark=False, columns=None):
        self.strategy = strategy
        self.mark = mark
        self.columns = columns

    def _code(self, column):
        if column.kind in NUMBERS:
            return NumberFill(column.name, self.strategy, self.mark)
        return ValueFill(column.name, None, self.mark)


@method(
    task="filter",
    texts="001 11.4 · 004 6.1",
    use="When a missing value may say something itself: a question that was not answered.",
    avoid="Values lost at random: the extra level is noise.",
    peers=("sklearn.impute.MissingIndicator",),
)
class MissingAsCategory(ColumnFilter):
    """A missing category becomes one more level; a missing number a mark beside the column.

    Use it when missingness may carry information (a question not answered, a test not ordered),
    with any learner. Not for values that were lost at random. Categories and truth values get the
    level ``word``; number columns that had holes in training get a second column ``name:missing``
    of 0 and 1, and the mean in the holes. The way back puts the holes back.

    Texts: 001 11.4, 004 6.1. The texts treat categorical columns only.

    Parameters
    ----------
    word : str, default="(missing)"
        Name of the level.
    columns : list of str or int, or None, default=None
        Columns to change; None for all categories, truth values and numbers.

    Attributes
    ----------
    codes_ : list
        How each column concerned is changed.
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
    >>> from gnomon.prepare import MissingAsCategory
    >>> MissingAsCategory().fit_transform([[1.0], [float("nan")], [5.0]])
    array([[1., 0.],
           [3., 1.],
           [5., 0.]])
    """

    natively = Takes(missing=True, categories=True)
    _fills = True
    _kinds = (*NUMBERS, Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
    _words = True
    _any_array = True
    _parameter_constraints = {"word": [str], "columns": COLUMNS}

    def __init__(self, word="(missing)", *, columns=None):
        self.word = word
        self.columns = columns

    def _code(self, column):
        if column.kind in NUMBERS:
            return NumberFill(column.name, "mean", True)
        return ValueFill(column.name, self.word, False)
