"""Dates to their parts, and words to counts of them.

Texts: none of the five treats dates; counts of words are the first step of their topic models.
"""

from __future__ import annotations

from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.prepare.base import COLUMNS, ColumnFilter
from gnomon.table.codes import DateCode, TextCode
from gnomon.table.kinds import Kind
from gnomon.table.notes import warn


@method(
    task="filter",
    texts="-",
    use="To let a method see seasons, weekdays and hours in dates.",
    avoid="Dates that only number the rows: they would be learnt by heart.",
)
class DateParts(ColumnFilter):
    """Each date column to numbers: days since 1970, year, month, day, weekday (Monday 0) and hour.

    Parts that do not vary among the training rows are left out; the days always stay, so that
    there is a way back (to the microsecond). Use it to let a method see seasons and weekdays. Not
    where dates only number the rows. Missing dates are missing in all parts. Arrays of numbers
    hold no dates and pass through.

    Parameters
    ----------
    columns : list of str or int, or None, default=None
        Columns to change; None for all dates and times.

    Attributes
    ----------
    codes_ : list of DateCode
        The parts of each column concerned.
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
    >>> import datetime
    >>> from gnomon.table import Table
    >>> from gnomon.prepare import DateParts
    >>> days = Table.from_dict({"when": [datetime.date(2026, 11, 15), datetime.date(2026, 11, 16)]})
    >>> DateParts().fit_transform(days).to_dict()["when:weekday"]
    [6.0, 0.0]
    """

    natively = Takes(missing=True, categories=True)
    _kinds = (Kind.DATETIME,)
    _parameter_constraints = {"columns": COLUMNS}

    def __init__(self, *, columns=None):
        self.columns = columns

    def _code(self, column):
        return DateCode(column.name, True)


@method(
    task="filter",
    texts="-",
    use="To let a method see which words a text holds.",
    avoid="Word order matters, or there are thousands of useful words: see gnomon.text.",
    peers=("sklearn.feature_extraction.text.CountVectorizer",),
)
class WordCounts(ColumnFilter):
    """Each text column to counts of its commonest words.

    Words have two letters or more, in lower case; those that stand in most training rows are
    kept, if in at least two. Use it to let any method see which words a text holds. Not where
    word order matters. There is no way back. Arrays of numbers hold no text and pass through.

    Parameters
    ----------
    most_words : int, default=100
        How many words to keep per column.
    columns : list of str or int, or None, default=None
        Columns to change; None for all text columns.

    Attributes
    ----------
    codes_ : list of TextCode
        The words of each column concerned.
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
    >>> from gnomon.table import Table
    >>> from gnomon.prepare import WordCounts
    >>> notes = Table.from_dict({"note": ["fast and good", "slow and good", "good, good"]})
    >>> counts = WordCounts(columns=["note"]).fit_transform(notes)
    >>> counts.to_dict()["note:good"]
    [1.0, 1.0, 2.0]
    """

    natively = Takes(missing=True, categories=True)
    _kinds = (Kind.TEXT,)
    _why_not = "counts of words do not say in which order they stood"
    _parameter_constraints = {"most_words": [whole(1)], "columns": COLUMNS}

    def __init__(self, most_words=100, *, columns=None):
        self.most_words = most_words
        self.columns = columns

    def _fit_columns(self, grid, columns, weights):
        words = [column.name for column in columns if column.kind.has_levels]
        if words and not len(self.positions_):
            listed = ", ".join(map(repr, words))
            warn(
                f"WordCounts changes nothing: no column is of the kind text. Name columns of "
                f"categories ({listed}) in columns=[...] to count their words."
            )
        super()._fit_columns(grid, columns, weights)

    def _code(self, column):
        return TextCode(column.name, self.most_words)
