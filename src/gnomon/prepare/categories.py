"""Categories to numbers and back: one column per level, or one score per level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, DictOf, ListOf, Number
from gnomon.prepare.base import COLUMNS, ColumnFilter
from gnomon.table.codes import CategoryCode, Code, dictionary
from gnomon.table.grid import Grid, is_table
from gnomon.table.kinds import Kind


@method(
    task="filter",
    texts="000c 15.1.2, 16.1.2 · 001 6.1, 6.4.2, 14.2.1 · 002 one-hot votes · 003 2.1.9.1",
    use="To give categories to a method that takes numbers; numbering them would invent an order.",
    avoid="Methods that take categories natively (trees); columns with very many levels.",
    peers=("sklearn.preprocessing.OneHotEncoder",),
)
class OneHot(ColumnFilter):
    """Each category column to one column per level, read as a distribution; back by its mode.

    A known value is a degenerate distribution: 1 at its level and 0 elsewhere. A missing or never
    seen value is the distribution of the levels among the training rows: what is expected when
    nothing is known. So a row's numbers always sum to one per column, and the mean of many rows
    is the levels' shares. Back: the level with the largest number.

    Use it for methods that take numbers: to number the levels 0, 1, 2 would invent an order. Not
    for methods that take categories as they are, nor for columns with thousands of levels.

    Texts: 000c 15.1.2 and 16.1.2, 001 6.1, 6.4.2 and 14.2.1, 002 "class labels as unit vectors",
    003 2.1.9.1. In 003's example the levels stand in the order of their first appearance
    (`levels_as_seen`).

    Parameters
    ----------
    levels : dict or None, default=None
        ``{column: list of levels}``: the order of a column's new columns; levels that are not
        listed come after them. None for the order of the schema, else sorted. `levels_as_seen`
        gives the order of first appearance.
    most_levels : int, default=100
        Beyond so many, the rarest levels are read together as one, "(other)".
    columns : list of str or int, or None, default=None
        Columns to change; None for all categories and truth values of a table, and all columns of
        an array.

    Attributes
    ----------
    codes_ : list of CategoryCode
        The levels of each column concerned.
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
    >>> from gnomon.prepare import OneHot, levels_as_seen
    >>> rows = [["dog"], ["mouse"], ["cat"], ["dog"]]
    >>> pets = OneHot(levels=levels_as_seen(rows)).fit(rows)
    >>> pets.transform([["mouse"], ["dog"]])
    array([[0., 1., 0.],
           [1., 0., 0.]])
    >>> pets.inverse_transform([[0.2, 0.1, 0.7]])
    array([['cat']], dtype=object)
    """

    natively = Takes(missing=True, categories=True)
    _kinds = (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN)
    _words = True
    _any_array = True
    _parameter_constraints = {
        "levels": [dict, None],
        "most_levels": [whole(2)],
        "columns": COLUMNS,
    }

    def __init__(self, *, levels=None, most_levels=100, columns=None):
        self.levels = levels
        self.most_levels = most_levels
        self.columns = columns

    def _code(self, column):
        known = list(column.levels) if column.levels and column.kind is not Kind.BOOLEAN else None
        if self.levels and column.name in self.levels:
            known = list(self.levels[column.name])
        return CategoryCode(column.name, True, False, self.most_levels, known)

    def _working_memory(self, n_rows, n_columns):
        levels = min(self.most_levels, n_rows)
        return super()._working_memory(n_rows, n_columns) + 100 * levels * n_columns


def levels_as_seen(X: Any) -> dict[str, list]:
    """The levels of each column in the order of their first appearance, for ``OneHot(levels=...)``.

    Parameters
    ----------
    X : array-like, data frame or Table

    Returns
    -------
    levels : dict of str to list
        For columns of categories and truth values, and all columns of an array.

    Examples
    --------
    >>> from gnomon.prepare import levels_as_seen
    >>> levels_as_seen([["dog"], ["cat"], ["dog"]])
    {'x0': ['dog', 'cat']}
    """
    grid = Grid.of(X if is_table(X) else np.asarray(X), kinds=True)
    return {
        column.name: dictionary(grid.column(position))[0]
        for position, column in enumerate(grid.columns)
        if grid.is_array or column.kind in OneHot._kinds
    }


@storable
class ScoreCode(Code):
    """Levels of a column as scores that are given, or as their places in the order of levels."""

    _stored = {
        "known": ListOf(Anything()) | None,
        "scores": DictOf(Number()),
        "seen": ListOf(Anything(), kind=set),
    }

    def __init__(self, name: str, scores: dict[Any, float] | None, known: list | None):
        super().__init__(name)
        self.scores = scores
        self.known = known
        self.seen: set = set()

    def _check_loaded(self) -> None:
        words = [isinstance(level, str) for level in self.scores or ()]
        wrong = [
            each for each in self.scores or () if isinstance(each, float) and not np.isfinite(each)
        ]
        if (any(words) and not all(words)) or wrong:
            raise ValueError("the scores are not of levels of one column")

    def look(self, column, weights):
        self.seen |= set(dictionary(column)[0])

    def finish(self):
        if self.scores is None:
            rest = sorted(
                self.seen - set(self.known or []), key=lambda level: (type(level).__name__, level)
            )
            levels = [*(self.known or []), *rest]
            self.scores = {level: float(place) for place, level in enumerate(levels)}
        strangers = sorted(map(str, self.seen - set(self.scores)))
        if strangers:
            raise DataError(
                f"column {self.name!r}: scores gives no number for {', '.join(strangers[:5])}"
            )
        self.seen = set()

    def encode(self, column, out):
        values, codes = dictionary(column)
        scores = [self.scores.get(value, np.nan) for value in values]
        out[:, 0] = np.array([*scores, np.nan])[codes]

    def decode(self, numbers):
        levels, scores = list(self.scores), np.array(list(self.scores.values()))
        if not levels:
            return pa.nulls(len(numbers))
        missing = np.isnan(numbers[:, 0])
        wanted = np.where(missing, 0, numbers[:, 0])
        order = np.argsort(scores, kind="stable")
        middles = (scores[order][:-1] + scores[order][1:]) / 2
        nearest = order[np.searchsorted(middles, wanted, side="left")]
        return pa.array([None if gone else levels[place] for place, gone in zip(nearest, missing)])


@method(
    task="filter",
    texts="000b exercise 10.11",
    use="For levels with an order and a sensible distance: low, medium, high as -1, 0, 1.",
    avoid="Levels without an order: any method would take the scores as distances.",
    peers=("sklearn.preprocessing.OrdinalEncoder",),
)
class OrdinalScores(ColumnFilter):
    """Each ordered category column to one score per level; back to the level nearest to it.

    Use it for levels that have an order and a sensible distance (000b codes three levels as 1, 0,
    -1). Not for levels without an order: a method would take the scores as distances (003
    2.1.9.1); use `OneHot`. Missing and never seen levels become missing numbers (NaN).

    Texts: 000b exercise 10.11b.

    Parameters
    ----------
    scores : dict or None, default=None
        ``{level: number}`` for all columns concerned, or ``{column: {level: number}}``; None
        numbers the levels 0, 1, 2 ... in the order of the schema, others after them in sorted
        order.
    columns : list of str or int, or None, default=None
        Columns to change; None for those that ``scores`` names, else all ordered categories of a
        table, and all columns of an array.

    Attributes
    ----------
    codes_ : list of ScoreCode
        The scores of each column concerned.
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
    >>> from gnomon.prepare import OrdinalScores
    >>> dose = OrdinalScores({"high": 1, "medium": 0, "low": -1})
    >>> dose = dose.fit([["low"], ["high"], ["medium"]])
    >>> dose.transform([["high"], ["low"]]).ravel()
    array([ 1., -1.])
    >>> dose.inverse_transform([[0.4]])
    array([['medium']], dtype=object)
    """

    natively = Takes(missing=True, categories=True)
    _kinds = (Kind.ORDERED,)
    _words = True
    _any_array = True
    _parameter_constraints = {"scores": [dict, None], "columns": COLUMNS}

    def __init__(self, scores=None, *, columns=None):
        self.scores = scores
        self.columns = columns

    def _per_column(self) -> bool:
        return bool(self.scores) and all(isinstance(each, dict) for each in self.scores.values())

    def _asked(self):
        if self.columns is None and self._per_column():
            return list(self.scores)
        return super()._asked()

    def _code(self, column):
        scores = self.scores
        if self._per_column():
            if column.name not in scores:
                raise DataError(f"scores does not name column {column.name!r}")
            scores = scores[column.name]
        if scores is not None:
            scores = {level: float(score) for level, score in scores.items()}
        return ScoreCode(column.name, scores, list(column.levels) if column.levels else None)
