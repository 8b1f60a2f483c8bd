"""Whether a table looks like a series, whose next values `gnomon forecast` gives."""

from __future__ import annotations

import pyarrow.compute as pc

from gnomon.table import Kind, Table

FEWEST = 20  # judgement: a shorter series cannot show a forecast's worth
# Columns beyond which a table with dates is rather one of things that have a date.
MOST_COLUMNS = 6
# Share of the dates that must be distinct: one row for each date of one series.
ALONE = 0.98


def series_time(table: Table) -> str | None:
    """The date column of a table that looks like one series: one row for each date, numbers.

    Parameters
    ----------
    table : Table

    Returns
    -------
    time : str or None

    Examples
    --------
    >>> import datetime
    >>> days = [datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(30)]
    >>> series_time(Table.from_dict({"day": days, "sales": [float(i) for i in range(30)]}))
    'day'
    """
    dates = [column.name for column in table.schema if column.kind is Kind.DATETIME]
    numbers = [column.name for column in table.schema if column.kind.is_numeric]
    if len(dates) != 1 or not numbers or len(table.columns) > MOST_COLUMNS or len(table) < FEWEST:
        return None
    distinct = pc.count_distinct(table.column(dates[0])).as_py()
    return dates[0] if distinct >= ALONE * len(table) else None


def forecast_hint(table: Table, target: str | None = None, source: str | None = None) -> str:
    """What to type to forecast a table that looks like a series; empty where it does not.

    Parameters
    ----------
    table : Table
    target : str, default=None
    source : str, default=None

    Returns
    -------
    hint : str
    """
    time = series_time(table)
    if time is None or (target is not None and not table.schema[target].kind.is_numeric):
        return ""
    words = ["gnomon forecast", source or "FILE", "--target", target or "COLUMN", "--time", time]
    return " ".join(words)
