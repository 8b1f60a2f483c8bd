"""Filters: fitted, stored, reversible changes of some columns of a table.

A filter learns from the training rows which columns it concerns and how it changes them;
``transform`` does it, ``inverse_transform`` undoes it (or says that it cannot), and all other
columns pass through. One row or all at once give the same.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    check_array,
    check_is_fitted,
    validate_data,
)

from gnomon.contract.intake import as_table, split_off, without_roles
from gnomon.contract.intake.arrays import checked_weights
from gnomon.contract.learner import Learner
from gnomon.engine.errors import DataError
from gnomon.engine.stored import Array, ListOf, Object, Optional, Text
from gnomon.table.codes import Code
from gnomon.table.grid import (
    Grid,
    is_table,
    refuse_huge,
    refuse_infinite,
    refuse_missing,
)
from gnomon.table.kinds import Kind
from gnomon.table.scan import Scan
from gnomon.table.schema import Column, no_such_column
from gnomon.table.table import Table

COLUMNS = ["array-like", str, None]


class Given(NamedTuple):
    """What a filter's ``fit`` is given: the rows in their columns, and weights."""

    grid: Grid
    weights: np.ndarray | None
    is_float32: bool = False


class Filter(TransformerMixin, Learner):
    """Base of filters: intake of arrays and tables, choice of columns, pass-through, names.

    Class attributes that a filter sets: ``_kinds`` (kinds of columns that it concerns when
    ``columns`` is None), ``_any_array`` (whether it concerns all columns of an array of numbers),
    ``_words`` (whether an array may hold text), ``_why_not`` (why there is no way back, or ""),
    ``_fills`` (whether it leaves no hole).
    """

    _kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMBER, Kind.INTEGER)
    _words: ClassVar[bool] = False
    _why_not: ClassVar[str] = ""
    _any_array: ClassVar[bool] = False
    _fills: ClassVar[bool] = False
    _largest: ClassVar[float] = np.inf
    _stored = {
        "kinds_": ListOf(Text(), "n_features_in_"),
        "positions_": Array("i8", ("n_positions",), low=0, below="n_features_in_"),
    }

    def _take_in(self, X, y, sample_weight) -> Given:
        for name in ("feature_names_in_", "weight_name_"):
            self.__dict__.pop(name, None)
        if isinstance(sample_weight, str):
            X, y, sample_weight = split_off(self, as_table(X), y, sample_weight)
        grid = self._grid(X, reset=True)
        weights = checked_weights(sample_weight, np.empty((grid.n_rows, 1)))
        if weights is not None and (weights == 0).any():
            grid, weights = grid.kept(weights > 0), weights[weights > 0]
        if grid.n_rows == 0:
            raise DataError("all weights are zero: there is no row to learn from")
        self._require_memory(grid.n_rows, len(grid.names))
        return Given(grid, weights)

    def _fit(self, given: Any) -> None:
        columns = given.grid.columns
        everything = self._any_array and given.grid.arrow is None
        self.positions_ = np.array(self._chosen(columns, everything), dtype=np.int64)
        self.kinds_ = [str(column.kind) for column in columns]
        self._fit_columns(given.grid, columns, given.weights)

    def transform(self, X):
        """Change the columns concerned; the others pass through.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        X_new : array, data frame or Table
            Of the kind that was given.
        """
        check_is_fitted(self)
        grid = self._grid(X, reset=False)
        make = _get_output_config("transform", self)["dense"]
        names_in = _names_in(self)
        names = self._names_out(names_in)
        same = isinstance(grid.original, Table) and self._changes_nothing(names_in, names)
        if same and make == "default":
            return grid.original
        values, passed = self._changed(grid)
        return grid.rebuilt(names, values, passed, "default" if grid.is_array else make)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Learn from the rows and change them.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like, default=None

        Returns
        -------
        X_new : array, data frame or Table
            Of the kind that was given.
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def inverse_transform(self, X):
        """Undo the change.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features_out)
            As ``transform`` gives it.

        Returns
        -------
        X_original : array, data frame or Table
            Of the kind that was given.
        """
        check_is_fitted(self)
        if self._why_not:
            raise DataError(f"{type(self).__name__} cannot be undone: {self._why_not}")
        names = list(self.get_feature_names_out())
        grid = _plain_grid(X)
        if len(grid.names) != len(names):
            raise DataError(
                f"inverse_transform takes the {len(names)} columns that transform gives, "
                f"not {len(grid.names)}"
            )
        if not grid.is_array and grid.names != names:
            wrong = next(name for name, due in zip(grid.names, names) if name != due)
            raise DataError(
                f"inverse_transform takes the columns that transform gives, in their order; "
                f"{wrong!r} is not one of them or stands elsewhere"
            )
        return self._undone(grid)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that come out.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns that go in, where ``fit`` saw none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names_in = [str(name) for name in _check_feature_names_in(self, input_features)]
        return np.array(self._names_out(names_in), dtype=object)

    def _changes_nothing(self, names_in: list[str], names: list[str]) -> bool:
        """Whether no column is concerned, as of dates in a table without any."""
        return not len(self.positions_) and names == names_in

    def _fit_columns(self, grid: Grid, columns: list[Column], weights: np.ndarray | None) -> None:
        """Learn from the columns at ``positions_``; rows of weight zero are left out."""
        raise NotImplementedError

    def _changed(self, grid: Grid) -> tuple[list, list[int]]:
        """The columns that come out and, for those that pass through, where they stood."""
        raise NotImplementedError

    def _undone(self, grid: Grid) -> Any:
        raise NotImplementedError

    def _names_out(self, names_in: list[str]) -> list[str]:
        raise NotImplementedError

    def _grid(self, X, reset: bool) -> Grid:
        if isinstance(X, Scan):
            raise DataError(
                f"{type(self).__name__} works on tables in memory, and this is a scan; read it "
                "first: scan.read()"
            )
        if not is_table(X):
            return self._take_array(X, reset)
        if getattr(self, "weight_name_", None) in getattr(X, "columns", ()):
            X = without_roles(self, as_table(X))
        named = X.arrow if isinstance(X, Table) else X
        _check_feature_names(self, named, reset=reset)
        _check_n_features(self, named, reset=reset)
        grid = Grid.of(X, kinds=reset)
        if grid.n_rows == 0:
            raise DataError(
                f"{type(self).__name__}: the table has columns and no rows (0 sample(s)); "
                "there is nothing to work on"
            )
        return grid

    def _take_array(self, X, reset: bool) -> Grid:
        of_table = not reset and any(kind in _OF_TABLES for kind in self.kinds_)
        if of_table and not (self._words and _may_hold_words(X)):
            raise DataError(
                f"this {type(self).__name__} was fitted on a table whose columns are not all "
                "numbers; give a data frame or Table with the same columns, not a bare array"
            )
        if self._words and _may_hold_words(X):
            rows = self._words_or_numbers(X, reset)
        else:
            rows = self._validated(X, reset, np.float64)
        return Grid.of(rows, kinds=reset)

    def _words_or_numbers(self, X, reset: bool) -> np.ndarray:
        rows = self._validated(X, reset, None)
        try:
            numbers = rows.astype(np.float64)
        except ValueError:
            return rows.astype(object)
        return self._validated(numbers, reset, np.float64)

    def _validated(self, X, reset: bool, dtype) -> np.ndarray:
        finite = "allow-nan" if self.natively.missing else True
        return validate_data(self, X, reset=reset, dtype=dtype, order="C", ensure_all_finite=finite)

    def _chosen(self, columns: list[Column], everything: bool) -> list[int]:
        """Positions of the columns that the filter concerns."""
        asked = self._asked()
        if asked is None:
            return [
                place
                for place, column in enumerate(columns)
                if everything or column.kind in self._kinds
            ]
        names = [column.name for column in columns]
        return sorted({position_of(each, names) for each in asked})

    def _asked(self) -> list | None:
        """The columns that the user named, if any."""
        asked = getattr(self, "columns", None)
        return [asked] if isinstance(asked, str) else None if asked is None else list(asked)

    def _working_memory(self, n_rows, n_columns):
        return 8 * 3 * n_rows * n_columns


_OF_TABLES = frozenset({"category", "ordered", "datetime", "text", "identifier"})


class NumberFilter(Filter):
    """A filter of number columns at once: gives ``_fit_block``, ``_forward``, ``_backward``."""

    _largest = 1e100
    _one_to_one: ClassVar[bool] = True
    _stored = {
        "fill_": Optional(Array("f8", ("n_positions",))),
    }

    @property
    def _has_fitted_values(self) -> bool:
        """Whether there are columns that something was learnt of, as the loader asks."""
        return len(self.positions_) > 0

    def _fit_columns(self, grid, columns, weights):
        block = self._training_block(grid, weights)
        if block.shape[1]:  # a table without numbers passes as it is
            self._fit_block(block, weights)

    def _training_block(self, grid: Grid, weights: np.ndarray | None) -> np.ndarray:
        """The columns concerned; learns what to put in holes of tables where none may be."""
        self.__dict__.pop("fill_", None)
        block = self._checked(grid)
        if self.natively.missing or grid.arrow is None:
            return block
        self.fill_ = weighted_mean(block, weights)
        return np.where(np.isnan(block), self.fill_, block)

    def _block(self, grid: Grid) -> np.ndarray:
        block = self._checked(grid)
        if self.natively.missing or grid.arrow is None:
            return block
        if not hasattr(self, "fill_"):
            names = [grid.names[position] for position in self.positions_]
            refuse_missing(block, names, type(self).__name__)
            return block
        return np.where(np.isnan(block), self.fill_, block)

    def _checked(self, grid: Grid) -> np.ndarray:
        block = grid.numbers(self.positions_.tolist())
        names = [grid.names[position] for position in self.positions_]
        refuse_infinite(block, names)
        refuse_huge(block, names, self._largest)
        return block

    def _fit_block(self, block: np.ndarray, weights: np.ndarray | None) -> None:
        """Learn from numbers of shape (n, columns concerned); rows of weight zero are left out."""
        raise NotImplementedError

    def _forward(self, block: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _backward(self, block: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _new_names(self, names: list[str]) -> list[str]:
        """Names of what comes of the columns concerned."""
        return names

    def _changed(self, grid):
        block = self._block(grid)
        new = self._forward(block) if block.shape[1] else block
        values, passed = [], []
        for place, source in self._order(len(grid.names), new.shape[1]):
            values.append(new[:, place] if source < 0 else grid.passed(source))
            passed.append(source)
        return values, passed

    def _order(self, n_in: int, n_new: int) -> list[tuple[int, int]]:
        """What comes out: (place among the new, -1) or (-1, position of what passes through)."""
        places = {position: place for place, position in enumerate(self.positions_.tolist())}
        out: list[tuple[int, int]] = []
        for position in range(n_in):
            if position not in places:
                out.append((-1, position))
            elif self._one_to_one:
                out.append((places[position], -1))
            elif places[position] == 0:
                out += [(place, -1) for place in range(n_new)]
        return out

    def _names_out(self, names_in):
        new = self._new_names([names_in[position] for position in self.positions_])
        order = self._order(len(names_in), len(new))
        return [new[place] if source < 0 else names_in[source] for place, source in order]

    def _undone(self, grid):
        names_in = _names_in(self)
        n_new = len(self._new_names([names_in[position] for position in self.positions_]))
        order = self._order(len(names_in), n_new)
        where = {place: out for out, (place, source) in enumerate(order) if source < 0}
        came = {source: out for out, (place, source) in enumerate(order) if source >= 0}
        block = grid.numbers([where[place] for place in range(n_new)])
        old = self._backward(block) if n_new else block
        positions = self.positions_.tolist()
        values, passed = [], []
        for position in range(len(names_in)):
            if position in came:
                values.append(grid.passed(came[position]))
                passed.append(came[position])
            else:
                column = old[:, positions.index(position)]
                values.append(self._undone_column(column, self.kinds_[position], grid.is_array))
                passed.append(-1)
        return grid.rebuilt(names_in, values, passed, "default")

    def _undone_column(self, values: np.ndarray, kind: str, is_array: bool) -> Any:
        """One column that comes back, as what it held."""
        return as_kind(values, kind, is_array)


class ColumnFilter(Filter):
    """A filter of columns one by one: gives ``_code(column)``, a `Code` or `Change` per column."""

    _stored = {
        "codes_": ListOf(Object(), "n_positions"),
    }

    def _code(self, column: Column) -> Any:
        raise NotImplementedError

    def _fit_columns(self, grid, columns, weights):
        self.codes_ = []
        for position in self.positions_.tolist():
            code = self._code(columns[position])
            code.look(grid.column(position), weights)
            code.finish()
            self.codes_.append(code)

    def _changed(self, grid):
        codes = dict(zip(self.positions_.tolist(), self.codes_))
        values, passed = [], []
        for position in range(len(grid.names)):
            code = codes.get(position)
            if code is None:
                values.append(grid.passed(position))
                passed.append(position)
                continue
            made = forward(code, grid.column(position))
            values += made
            passed += [-1] * len(made)
        return values, passed

    def _names_out(self, names_in):
        codes = dict(zip(self.positions_.tolist(), self.codes_))
        names = []
        for position, name in enumerate(names_in):
            names += renamed(codes[position], name) if position in codes else [name]
        return names

    def _undone(self, grid):
        names_in = _names_in(self)
        codes = dict(zip(self.positions_.tolist(), self.codes_))
        values, passed, start = [], [], 0
        for position in range(len(names_in)):
            code = codes.get(position)
            if code is None:
                values.append(grid.passed(start))
                passed.append(start)
                start += 1
                continue
            stop = start + len(code.names)
            values.append(backward(code, grid, start, stop))
            passed.append(-1)
            start = stop
        return grid.rebuilt(names_in, values, passed, "default")

    def _working_memory(self, n_rows, n_columns):
        return 8 * 8 * n_rows


class Change:
    """Like a `Code`, for columns whose new values need not be numbers.

    Gives ``look``, ``finish``, ``names``, ``forward(column)`` (a list of arrays) and
    ``backward(columns)``.
    """

    _stored: ClassVar[dict[str, Any]] = {
        "name": Text(),
    }

    def __init__(self, name: str):
        self.name = name

    @property
    def names(self) -> list[str]:
        return [self.name]

    def look(self, column, weights) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """All training rows have been seen."""

    def forward(self, column) -> list:
        raise NotImplementedError

    def backward(self, columns: list) -> Any:
        raise NotImplementedError


def forward(code: Any, column) -> list:
    """The new columns of one column."""
    if isinstance(code, Change):
        return code.forward(column)
    assert isinstance(code, Code)
    numbers = np.empty((len(column), len(code.names)))
    code.encode(column, numbers)
    return list(numbers.T)


def backward(code: Any, grid: Grid, start: int, stop: int) -> Any:
    """The one column that new columns stand for."""
    if isinstance(code, Change):
        return code.backward([grid.column(position) for position in range(start, stop)])
    column = code.decode(grid.numbers(range(start, stop)))
    return _numbers_of(column) if grid.is_array else column


def renamed(code: Any, name: str) -> list[str]:
    """A code's names, should its column now be called differently (an array given names)."""
    return [name + each.removeprefix(code.name) for each in code.names]


def as_kind(numbers: np.ndarray, kind: str, is_array: bool) -> Any:
    """Numbers as what their column held: whole numbers again, truth values again."""
    if is_array or kind not in ("integer", "boolean"):
        return numbers
    missing = np.isnan(numbers)
    filled = np.where(missing, 0, numbers)
    if kind == "boolean":
        return pa.array(filled >= 0.5, mask=missing)
    return pa.array(np.rint(filled).astype(np.int64), mask=missing)


def weighted_mean(block: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Mean per column over what is not missing; 0 where nothing is there."""
    known = ~np.isnan(block)
    weights = np.ones(len(block)) if weights is None else weights
    mass = weights @ known
    offset = np.nan_to_num(block[0]) if len(block) else np.zeros(block.shape[1])
    shifted = np.where(known, block - offset, 0.0)
    return offset * (mass > 0) + (weights @ shifted) / np.where(mass > 0, mass, 1.0)


def _may_hold_words(X) -> bool:
    if isinstance(X, list):
        return any(isinstance(cell, str) for row in X for cell in np.atleast_1d(row).tolist())
    return np.asarray(X).dtype.kind in "OUS"


def _plain_grid(X) -> Grid:
    if is_table(X):
        return Grid.of(X, kinds=False)
    rows = np.asarray(X)
    if rows.dtype.kind not in "OUS":
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    return Grid.of(rows, kinds=False)


def _names_in(fitted: Filter) -> list[str]:
    return [str(name) for name in _check_feature_names_in(fitted, None)]


def _numbers_of(column) -> Any:
    """An Arrow column of numbers as an array, others as they are."""
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return column


def position_of(asked: Any, names: list[str]) -> int:
    """The position of a column that is given by name or by number."""
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        if not -len(names) <= asked < len(names):
            raise DataError(f"there is no column {asked}: the table has {len(names)} columns")
        return int(asked) % len(names)
    if asked not in names:
        raise no_such_column(asked, names)
    return names.index(asked)
