"""TableEncoder: any table to the numbers that a method takes, and back.

Which code a column gets follows from its kind and from what the method takes natively: a fitted,
stored filter per column. Identifiers are left out, with a warning.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import Takes
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Flag, ListOf, Object, Optional, Text, Whole
from gnomon.table.codes import (
    MOST_DENSE_LEVELS,
    CategoryCode,
    Code,
    DateCode,
    NumberCode,
    TermCode,
    TextCode,
)
from gnomon.table.kinds import Kind
from gnomon.table.schema import Column
from gnomon.table.table import Table

# Judgement: bounds a dictionary in memory; sparse rows hold one entry each.
MOST_LEVELS_SPARSE = 10**7
# Histogram trees take 255 codes as in scikit-learn, one of them for all other levels.
MOST_LEVELS_NATIVE = 254
MOST_WORDS = 100  # judgement: dense columns, as MOST_DENSE_LEVELS; MOST_TERMS says what it costs
MOST_TERMS = 50_000  # film reviews: 0.882 with 50,000 terms, 0.71 with 100 words
MOST_KEPT = 10_000  # numbered columns whose names are kept for the next fit: half a megabyte
LOOK_ROWS = 2**16  # block borders enter the last bits of sums: must not depend on the source


@storable
@dataclass(frozen=True)
class Columns:
    """The columns that a method sees, after conversion.

    Attributes
    ----------
    names : tuple of str
    levels : tuple of int
        Number of categories of a column of codes 0 .. levels-1; 0 for a column of numbers.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    _stored = {
        "names": ListOf(Text(), "n_names", kind=tuple),
        "levels": ListOf(Whole(), "n_names", kind=tuple),
    }

    @property
    def is_category(self) -> np.ndarray:
        return np.array(self.levels, dtype=np.int64) > 0

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of_numbers(cls, n_columns: int, names: Any = None) -> Columns:
        """Plain columns of numbers."""
        if names is None:
            return _unnamed(n_columns) if n_columns <= MOST_KEPT else cls._numbered(n_columns)
        return cls(tuple(map(str, names)), (0,) * n_columns)

    @classmethod
    def _numbered(cls, n_columns: int) -> Columns:
        return cls(tuple([f"x{j}" for j in range(n_columns)]), (0,) * n_columns)


@functools.lru_cache(maxsize=8)
def _unnamed(n_columns: int) -> Columns:
    """Columns without names of their own, made once: small fits notice the time."""
    return Columns._numbered(n_columns)


@storable
class TableEncoder:
    """Turns tables with the columns of the training table into rows of numbers.

    Parameters
    ----------
    takes : Takes
        What the method uses as it is.
    dense : bool, default=False
        Whether rows shall be dense, as those that are streamed are: texts then have their hundred
        commonest terms, and categories their commonest levels.

    Attributes
    ----------
    names_in : tuple of str
        The columns of the training table.
    codes : list of Code
        One per column that is used.
    left_out : list of str
        Columns that are not used (identifiers).
    notes : list of str
        What a person should know about the conversion.
    """

    _stored = {
        "categories": Flag(),
        "codes": ListOf(Object(), "n_codes"),
        "left_out": ListOf(Anything()),
        "many_levels": Optional(Flag()),
        "missing": Flag(),
        "names_in": ListOf(Text(), kind=tuple),
        "notes": ListOf(Text()),
        "redundant": Flag(),
        "terms": Optional(Flag()),
    }

    def __init__(self, takes: Takes, dense: bool = False):
        self.missing = takes.missing
        self.categories = takes.categories
        self.redundant = takes.redundant
        self.many_levels = takes.many_levels and not dense
        self.terms = takes.many_levels
        self.codes: list[Code] = []
        self.left_out: list[str] = []
        self.notes: list[str] = []

    def fit(self, table: Table, weights: np.ndarray | None = None) -> TableEncoder:
        """Learn the codes from a table in memory."""
        self.begin(table.schema)
        self.look(table, weights)
        return self.finish()

    def fit_floats(
        self, columns: Iterable[Column], rows: np.ndarray, weights: np.ndarray | None = None
    ) -> TableEncoder:
        """Learn the codes of a table of numbers from its cells: those that `fit` learns.

        Parameters
        ----------
        columns : iterable of Column
            Of numbers.
        rows : ndarray of shape (n_rows, n_columns)
        weights : ndarray of shape (n_rows,) or None
        """
        self.begin(list(columns))
        codes = [code for code in self.codes if isinstance(code, NumberCode)]
        for start in range(0, len(rows), LOOK_ROWS):
            stop = start + LOOK_ROWS
            block = np.ascontiguousarray(rows[start:stop].T, dtype=np.float64)
            part = np.ones(block.shape[1]) if weights is None else weights[start:stop]
            if not np.isnan(block).any():
                NumberCode.look_at_block(codes, block, part)
                continue
            for code, values in zip(codes, block):
                code.look_at_numbers(values, part)
        return self.finish()

    def begin(self, schema: Any) -> None:
        """Choose a code for every column of a schema."""
        self.names_in = tuple(column.name for column in schema)
        self._rest: tuple[pa.Table, np.ndarray | None] | None = None
        for column in schema:
            if column.kind is Kind.IDENTIFIER:
                self.left_out.append(column.name)
            else:
                self.codes.append(self._code(column))
                self.codes[-1].remember(column)

    def look(self, table: Table, weights: np.ndarray | None = None) -> None:
        """Learn from some rows; more may follow.

        Codes look at blocks whose borders do not depend on the pieces that come, so that a stream
        and a table in memory give the same codes to the bit.
        """
        rows = table.arrow.select([code.name for code in self.codes])
        if self._rest is not None:
            rest, rest_weights = self._rest
            rows = pa.concat_tables([rest, rows])
            if weights is not None and rest_weights is not None:
                weights = np.concatenate([rest_weights, weights])
        whole = len(rows) // LOOK_ROWS * LOOK_ROWS
        for start in range(0, whole, LOOK_ROWS):
            self._look_at(rows, weights, start, start + LOOK_ROWS)
        self._rest = rows.slice(whole), None if weights is None else weights[whole:]

    def _look_at(self, rows: pa.Table, weights: np.ndarray | None, start: int, stop: int) -> None:
        weights = None if weights is None else weights[start:stop]
        for code in self.codes:
            code.look(rows.column(code.name).slice(start, stop - start), weights)

    def finish(self) -> TableEncoder:
        """No more rows follow."""
        if self._rest is not None and len(self._rest[0]):
            self._look_at(*self._rest, 0, len(self._rest[0]))
        del self._rest
        for code in self.codes:
            code.finish()
            self.notes += code.notes
        if self.left_out:
            names = ", ".join(map(repr, self.left_out))
            note = f"identifiers carry nothing to learn from and are left out: {names}"
            self.notes.append(note)
            warnings.warn(
                f"{note}. To use such a column, give it another kind in the schema",
                GnomonWarning,
                stacklevel=2,
            )
        for code in self.codes:
            if getattr(code, "lumped", 0):
                warnings.warn("; ".join(code.notes), GnomonWarning, stacklevel=2)
        if not self.codes or not len(self.columns):
            raise DataError(
                "no column of the table can be learnt from: "
                + ("; ".join(self.notes) or "it has no columns")
            )
        return self

    @property
    def columns(self) -> Columns:
        """What the method sees."""
        names = [name for code in self.codes for name in code.names]
        levels = [n for code in self.codes for n in code.levels]
        return Columns(tuple(names), tuple(levels))

    @property
    def only_numbers(self) -> bool:
        """Whether each column is one number, so that a bare array may stand for the table."""
        return not self.left_out and all(isinstance(code, NumberCode) for code in self.codes)

    @property
    def takes_floats(self) -> bool:
        """Whether floats of another table mean what those of the training table did."""
        return self.only_numbers and not any(
            getattr(code, "written", True) or getattr(code, "flag", False) for code in self.codes
        )

    @property
    def sparse(self) -> bool:
        """Whether rows come as sparse ones: a text or category of over a hundred columns."""
        return any(getattr(code, "wide", False) for code in self.codes)

    @property
    def entries_per_row(self) -> int:
        """Cells of a row that are stored, at most."""
        return sum(
            getattr(code, "entries", 1) if getattr(code, "wide", False) else len(code.names)
            for code in self.codes
        )

    def as_learnt(self, table: Table) -> Table:
        """A table of other rows, its columns read as those of the training table were written."""
        for code in self.codes:
            values = table.column(code.name)
            understood = code.understood(values, table.schema[code.name])
            if understood is not values:
                table = table.with_column(code.name, understood)
        return table

    def transform(self, table: Table) -> Any:
        """Rows of numbers, float64, C order; sparse of texts and categories of many levels."""
        if self.sparse:
            return self._sparse_rows(table)
        rows = np.empty((len(table), len(self.columns)))
        start = 0
        for code in self.codes:
            stop = start + len(code.names)
            code.encode(table.column(code.name), rows[:, start:stop])
            start = stop
        return rows

    def _sparse_rows(self, table: Table) -> sp.csr_array:
        blocks = []
        for code in self.codes:
            column = table.column(code.name)
            if isinstance(code, CategoryCode | TermCode) and code.wide:
                blocks.append(code.sparse(column))
            else:
                dense = np.empty((len(table), len(code.names)))
                code.encode(column, dense)
                blocks.append(sp.csr_array(dense))
        return sp.csr_array(sp.hstack(blocks, format="csr"))

    def inverse_transform(self, rows: Any) -> Table:
        """The table that rows of numbers stand for (left-out columns stay out)."""
        if sp.issparse(rows):
            rows = rows.toarray()
        columns = {}
        start = 0
        for code in self.codes:
            stop = start + len(code.names)
            columns[code.name] = code.decode(rows[:, start:stop])
            start = stop
        return Table(pa.table(columns))

    def _most_levels(self) -> int:
        if self.categories:
            return MOST_LEVELS_NATIVE
        return MOST_LEVELS_SPARSE if self.many_levels else MOST_DENSE_LEVELS

    def _code(self, column: Any) -> Code:
        if column.kind in (Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN):
            return NumberCode(
                column.name,
                self.missing,
                whole=column.kind is Kind.INTEGER,
                flag=column.kind is Kind.BOOLEAN,
            )
        if column.kind in (Kind.CATEGORY, Kind.ORDERED):
            return CategoryCode(
                column.name,
                one_hot=not self.categories,
                keep_missing=self.missing,
                most_levels=self._most_levels(),
                known=list(column.levels or ()) if column.kind is Kind.ORDERED else None,
                leave_out_first=not self.redundant,
            )
        if column.kind is Kind.DATETIME:
            return DateCode(column.name, self.missing)
        if self.terms:
            return TermCode(column.name, MOST_TERMS if self.many_levels else MOST_DENSE_LEVELS)
        return TextCode(column.name, MOST_WORDS)
