"""The series of a table: one array of equal steps for each group, gaps as NaN."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.sequence import Season, find_season
from gnomon.table import Kind, Table
from gnomon.table.dates import read_dates
from gnomon.table.schema import no_such_column
from gnomon.workbench.forecast.calendar import Calendar, places_of, stretches
from gnomon.workbench.forecast.options import ForecastOptions

FEWEST = 10  # judgement: two or three origins and a model of as few parameters


@dataclass
class OneSeries:
    """One series on the calendar.

    Attributes
    ----------
    name : str
    first : int
        Place of the first value on the calendar.
    values : ndarray of shape (n,)
        NaN where a date is missing.
    inputs : ndarray of shape (n + m, k) or None
        Columns that are known ahead, for the values and for m steps after them.
    """

    name: str
    first: int
    values: np.ndarray
    inputs: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> int:
        """Dates without a value."""
        return int(np.isnan(self.values).sum())


@dataclass
class SeriesSet:
    """All series of a table.

    Attributes
    ----------
    calendar : Calendar
    series : list of OneSeries
    input_names : list of str
        Of the columns of the inputs.
    notes : list of str
        What a person should know of the dates.
    """

    calendar: Calendar
    series: list[OneSeries]
    input_names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def values(self) -> list[np.ndarray]:
        """The values of all series."""
        return [each.values for each in self.series]

    def dates(self, one: OneSeries, ahead: int = 0) -> list[Any]:
        """Dates of a series, or of the steps after it, as text or numbers."""
        places = np.arange(len(one)) if not ahead else len(one) + np.arange(ahead)
        return shown_times(self.calendar.at(self._from(one) + places), self.calendar)

    def _from(self, one: OneSeries) -> int:
        # rows in their order: the calendar begins at the last date, and only dates ahead have one
        return 1 - len(one) if self.calendar.unit == "row" else one.first


def shown_times(times: np.ndarray, calendar: Calendar) -> list[Any]:
    """Dates as text without a clock where all are at midnight; numbers as they are."""
    if times.dtype.kind != "M":
        return [int(t) if float(t).is_integer() else float(t) for t in times.tolist()]
    days = times.astype("M8[D]")
    if (times == days.astype("M8[us]")).all():
        return [str(day) for day in days]
    return [str(t).replace("T", " ") for t in times.astype("M8[s]")]


def series_of(table: Table, options: ForecastOptions) -> SeriesSet:
    """The series of a table, on equal steps.

    Parameters
    ----------
    table : Table
    options : ForecastOptions

    Returns
    -------
    found : SeriesSet
    """
    _require_columns(table, options)
    times = _times(table, options.time)
    if options.every is not None:
        times = stretches(times, options.every)
    target = _numbers(table, options.target)
    inputs, names = _inputs(table, options.known)
    calendar, places = places_of(times)
    notes = [f"{calendar.remark[:1].upper()}{calendar.remark[1:]}."] if calendar.remark else []
    labels = ["" for _ in range(len(table))]
    if options.groups is not None:
        labels = [str(value) for value in table.column(options.groups).to_pylist()]
    found = []
    order = np.array(labels)
    for name in dict.fromkeys(labels):
        rows = np.flatnonzero(order == name)
        one = _one(name, rows, places, target, inputs, options, calendar)
        if len(one) - one.missing < FEWEST:
            known = len(one) - one.missing
            notes.append(f"{name or 'The series'} has {known} values and is left out: too short.")
            continue
        if one.missing:
            which = f" of {name}" if name else ""
            notes.append(
                f"{one.missing} of {len(one)} dates{which} have no value: they count in no score."
            )
        found.append(one)
    if not found:
        raise DataError(
            f"no series has {FEWEST} values. Check --time and --groups, or join fewer rows into "
            "one step"
        )
    return SeriesSet(calendar, found, names, notes)


def _require_columns(table: Table, options: ForecastOptions) -> None:
    asked = [options.target, options.time, *options.known]
    for name in [*asked, *([options.groups] if options.groups else [])]:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(set(asked)) < len(asked) or options.groups in asked:
        raise DataError("target, time, groups and known must be different columns")
    if table.schema[options.target].kind not in (Kind.NUMBER, Kind.INTEGER):
        raise DataError(
            f"the target {options.target!r} is of kind {table.schema[options.target].kind}, and a "
            "forecast is of numbers; --kind sets the kind of a column that was misread"
        )


def _times(table: Table, name: str) -> np.ndarray:
    column, kind = table.column(name), table.schema[name].kind
    if column.null_count:
        row = next(i for i, value in enumerate(column.to_pylist()) if value is None)
        raise DataError(f"{name!r} has no date in row {row + 1}; repair or leave out such rows")
    if kind is Kind.DATETIME:
        return column.cast(pa.timestamp("us")).to_numpy().astype("M8[us]")
    if kind in (Kind.NUMBER, Kind.INTEGER) or (
        kind is Kind.IDENTIFIER and pa.types.is_integer(column.type)
    ):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    if not kind.is_numeric and kind is not Kind.BOOLEAN:  # a frame whose dates are strings
        strings = column.cast(pa.string()).combine_chunks().dictionary_encode()
        written = read_dates(strings.dictionary)
        if written is not None:
            moments = written.values.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
            return moments.astype("M8[us]")[strings.indices.to_numpy()]
    raise DataError(
        f"the time column {name!r} is of kind {kind}: {table.schema[name].reason}. It must hold "
        "dates or numbers"
    )


def _numbers(table: Table, name: str) -> np.ndarray:
    return np.asarray(
        table.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64
    )


def _inputs(table: Table, known: list[str]) -> tuple[np.ndarray | None, list[str]]:
    """Columns that are known ahead, as numbers: one for each level of a category."""
    columns, names = [], []
    for name in known:
        column, kind = table.column(name), table.schema[name].kind
        if kind.is_numeric or kind is Kind.BOOLEAN:
            columns.append(_numbers(table, name))
            names.append(name)
            continue
        values = column.to_pylist()
        levels = sorted({value for value in values if value is not None}, key=str)
        if len(levels) > 50:
            raise DataError(f"known={name!r} has {len(levels)} levels; use at most 50")
        columns += [np.array([float(value == level) for value in values]) for level in levels]
        names += [f"{name}={level}" for level in levels]
    return (np.column_stack(columns), names) if columns else (None, [])


def _one(
    name: str,
    rows: np.ndarray,
    places: np.ndarray,
    target: np.ndarray,
    inputs: np.ndarray | None,
    options: ForecastOptions,
    calendar: Calendar,
) -> OneSeries:
    """One series: rows put on the steps of the calendar."""
    own = places[rows]
    first, last = int(own.min()), int(own.max())
    shape = last - first + 1
    if shape > 100 * len(rows) + 1000:
        raise DataError(
            f"{name or 'the series'} has {len(rows)} rows on {shape:,} {calendar.name}; give "
            "--every with a longer stretch of time"
        )
    counts = np.bincount(own - first, minlength=shape)
    if counts.max() > 1 and options.aggregate is None and options.every is None:
        when = shown_times(calendar.at(np.array([first + int(np.argmax(counts))])), calendar)[0]
        raise DataError(
            f"{counts.max()} rows{f' of {name}' if name else ''} are of {when}. If they are of "
            "different series give --groups COLUMN, otherwise --aggregate sum or mean"
        )
    known = ~np.isnan(target[rows])
    filled = np.bincount(own[known] - first, minlength=shape)
    sums = np.bincount(own[known] - first, weights=target[rows][known], minlength=shape)
    values = np.where(filled > 0, sums, np.nan)
    if options.aggregate != "sum":
        values = np.where(filled > 0, sums / np.maximum(filled, 1), np.nan)
    if not known.any():
        return OneSeries(name, first, np.full(1, np.nan))
    places_known = np.flatnonzero(filled > 0)
    begin, end = int(places_known[0]), int(places_known[-1]) + 1
    own_inputs = None
    if inputs is not None:
        table = np.full((shape, inputs.shape[1]), np.nan)
        table[own - first] = inputs[rows]
        own_inputs = table[begin:]
    return OneSeries(name, first + begin, values[begin:end], own_inputs)


def season_of(found: SeriesSet, asked: int | None) -> tuple[int, str]:
    """The period of the season, and why it is that one."""
    if asked is not None:
        return asked, "as asked" if asked > 1 else "no season, as asked"
    suggested = found.calendar.seasons
    seasons: list[Season] = [find_season(each, suggested) for each in found.values]
    periods = [each.period for each in seasons]
    values, counts = np.unique(periods, return_counts=True)
    period = int(values[np.argmax(counts)])
    own = [each for each in seasons if each.period == period]
    strength = float(np.median([each.strength for each in own]))
    threshold = float(np.median([each.threshold for each in own]))
    which = "" if len(seasons) == 1 else f", in {len(own)} of {len(seasons)} series"
    if period == 1:
        return 1, f"no autocorrelation of the changes exceeds chance{which}"
    return period, (
        f"autocorrelation of the changes {strength:.2f} at that lag, more than {threshold:.2f} of "
        f"chance{which}"
    )
