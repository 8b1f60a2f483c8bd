"""The steps of a series: which dates follow at equal distances, and which are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError

# Seasons that the calendar suggests, by the unit of a step.
SEASONS: dict[str, tuple[int, ...]] = {
    "quarter": (4,),
    "month": (12,),
    "week": (52,),
    "day": (7,),
    "business day": (5,),
    "hour": (24, 168),
    "minute": (60, 1440),
    "second": (60,),
}
SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
MICRO = 1_000_000
# Share of the distances that must be whole steps for dates to count as regular.
REGULAR = 0.99


@dataclass(frozen=True)
class Calendar:
    """Equal steps of time.

    Attributes
    ----------
    unit : str
        ``"month"``, ``"business day"`` ...; ``"step"`` for numbers, ``"row"`` where distances are
        irregular.
    step : int or float
        Units of one step; for rows, the usual distance.
    start : object
        Of place 0: a datetime64 or a number.
    remark : str
        What is wrong with the distances; empty where they are equal.
    """

    unit: str
    step: float
    start: Any
    remark: str = ""

    @property
    def name(self) -> str:
        """A step in words."""
        if self.unit == "row":
            return "rows in their order"
        if self.step == 1:
            return f"{self.unit}s" if self.unit != "step" else "steps of 1"
        return f"steps of {self.step:g} {self.unit}s".replace(" steps", "")

    @property
    def seasons(self) -> tuple[int, ...] | None:
        """Periods that the calendar suggests; None where it suggests none and all are tried."""
        found = SEASONS.get(self.unit)
        if found is None:
            return None
        return tuple(int(m // self.step) for m in found if m % self.step == 0 and m > self.step)

    def at(self, places: Any) -> np.ndarray:
        """Dates or numbers of some places."""
        steps = np.asarray(places) * self.step
        if self.unit in ("year", "quarter", "month"):
            months = {"year": 12, "quarter": 3, "month": 1}[self.unit]
            return _month_dates(self.start, np.asarray(steps * months, dtype=np.int64))
        if self.unit == "business day":
            days = np.busday_offset(self.start.astype("M8[D]"), np.asarray(steps, dtype=np.int64))
            return days.astype("M8[us]")
        if isinstance(self.start, np.datetime64):
            size = SECONDS.get(self.unit, 1)
            moved: np.ndarray = self.start + (steps * size * MICRO).astype("m8[us]")
            return moved
        numbers: np.ndarray = self.start + steps
        return numbers


def _month_dates(start: np.datetime64, months: np.ndarray) -> np.ndarray:
    """Dates some months after a first one; the last day of a month stays the last day."""
    first_month = start.astype("M8[M]")
    day = start.astype("M8[D]") - first_month.astype("M8[D]")
    clock = start - start.astype("M8[D]").astype("M8[us]")
    is_last = (start.astype("M8[D]") + 1).astype("M8[M]") != first_month
    new = first_month + months.astype("m8[M]")
    lengths = (new + 1).astype("M8[D]") - new.astype("M8[D]")
    days = lengths - 1 if is_last else np.minimum(day, lengths - 1)
    made: np.ndarray = (new.astype("M8[D]") + days).astype("M8[us]") + clock
    return made


def places_of(times: np.ndarray) -> tuple[Calendar, np.ndarray]:
    """The calendar of some dates or numbers, and the place of each on it.

    Parameters
    ----------
    times : ndarray of datetime64 or of float
        Of all series together.

    Returns
    -------
    calendar : Calendar
    places : int array
    """
    distinct = np.unique(times)
    if len(distinct) < 2:
        raise DataError("there is one date only; a series needs at least ten")
    if times.dtype.kind != "M":
        return _of_numbers(times, distinct)
    return _of_months(times, distinct) or _of_seconds(times, distinct)


def _of_months(times: np.ndarray, distinct: np.ndarray) -> tuple[Calendar, np.ndarray] | None:
    days = distinct.astype("M8[D]")
    months = distinct.astype("M8[M]")
    in_month = (days - months.astype("M8[D]")).astype(int)
    clock = distinct - days.astype("M8[us]")
    is_last = ((days + 1).astype("M8[M]") != months).all()
    if len(np.unique(months)) < len(distinct) or (clock != clock[0]).any():
        return None
    if not is_last and (in_month != in_month[0]).any():
        return None
    index = months.astype(np.int64)
    step = int(np.gcd.reduce(np.diff(index)))
    unit, size = (
        ("year", 12) if step % 12 == 0 else ("quarter", 3) if step % 3 == 0 else ("month", 1)
    )
    places = (times.astype("M8[M]").astype(np.int64) - index[0]) // step
    return Calendar(unit, step // size, distinct[0]), places


def _of_seconds(times: np.ndarray, distinct: np.ndarray) -> tuple[Calendar, np.ndarray]:
    ticks = distinct.astype("M8[us]").astype(np.int64)
    gaps = np.diff(ticks)
    days = distinct.astype("M8[D]")
    midnight = (distinct == days.astype("M8[us]")).all()
    if (
        midnight
        and np.is_busday(days).all()
        and len(days) > 5
        and _most_common(gaps) == 86_400 * MICRO
    ):
        start = days[0]
        places = np.busday_count(start, times.astype("M8[D]"))
        return Calendar("business day", 1, distinct[0]), places
    step = _most_common(gaps)
    if np.mean(gaps % step == 0) < REGULAR:
        return _irregular(times, distinct, gaps / (86_400 * MICRO), "days")
    unit, size = _unit_of(step / MICRO)
    places = (times.astype("M8[us]").astype(np.int64) - ticks[0]) / step
    return Calendar(unit, step / MICRO / size, distinct[0]), np.round(places).astype(np.int64)


def _of_numbers(times: np.ndarray, distinct: np.ndarray) -> tuple[Calendar, np.ndarray]:
    gaps = np.diff(distinct)
    step = float(_most_common(gaps))
    steps = gaps / step
    if np.mean(np.abs(steps - np.round(steps)) < 1e-6) < REGULAR or (np.round(steps) < 1).any():
        return _irregular(times, distinct, gaps, "units")
    places = np.round((times - distinct[0]) / step).astype(np.int64)
    return Calendar("step", step, float(distinct[0])), places


def _irregular(
    times: np.ndarray, distinct: np.ndarray, gaps: np.ndarray, unit: str
) -> tuple[Calendar, np.ndarray]:
    """Rows in their order, with the usual distance for the dates ahead."""
    usual = float(np.median(gaps))
    remark = (
        f"dates are irregular: from {gaps.min():.3g} to {gaps.max():.3g} {unit} apart, usually "
        f"{usual:.3g}; each row counts as one step. --every month (or week, day ...) makes equal "
        "steps"
    )
    size = usual * 86_400 if times.dtype.kind == "M" else usual
    return Calendar("row", size, distinct[-1], remark), np.searchsorted(distinct, times)


def _most_common(gaps: np.ndarray) -> Any:
    values, counts = np.unique(gaps, return_counts=True)
    return values[np.argmax(counts)]


def _unit_of(seconds: float) -> tuple[str, float]:
    """The largest unit of which a step is a whole number."""
    return next(
        ((unit, size) for unit, size in SECONDS.items() if seconds % size == 0), ("second", 1)
    )


def stretches(times: np.ndarray, every: str) -> np.ndarray:
    """The first moment of the year, quarter, month ... that each date lies in."""
    if times.dtype.kind != "M":
        raise DataError(f"every={every!r} needs a column of dates, and the times are numbers")
    if every == "quarter":
        months = times.astype("M8[M]").astype(np.int64)
        return (months - months % 3).astype("M8[M]").astype("M8[us]")
    if every == "week":  # from Monday; 1970-01-01 was a Thursday
        days = times.astype("M8[D]").astype(np.int64)
        return (days - (days + 3) % 7).astype("M8[D]").astype("M8[us]")
    code = {"year": "Y", "month": "M", "day": "D", "hour": "h"}[every]
    return times.astype(f"M8[{code}]").astype("M8[us]")
