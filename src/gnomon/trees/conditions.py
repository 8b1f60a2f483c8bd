"""Conditions on a column: which numbers or levels pass, and whether a missing cell does.

Conditions can be joined (both must hold), denied, compared and printed, so that rules can be
simplified and searched for contradictions and gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Flag, ListOf, Number, Object, Text

INF = float("inf")


@storable
@dataclass(frozen=True)
class Interval:
    """NumberSet between two others; each end may belong to it or not."""

    low: float = -INF
    high: float = INF
    low_in: bool = False
    high_in: bool = False
    _stored = {
        "high": Number(finite=False),
        "high_in": Flag(),
        "low": Number(finite=False),
        "low_in": Flag(),
    }

    @property
    def is_empty(self) -> bool:
        return self.low > self.high or (
            self.low == self.high and not (self.low_in and self.high_in)
        )

    def holds(self, values: np.ndarray) -> np.ndarray:
        above = values >= self.low if self.low_in else values > self.low
        below = values <= self.high if self.high_in else values < self.high
        return above & below

    def joined(self, other: Interval) -> Interval:
        low = max((self.low, not self.low_in), (other.low, not other.low_in))
        high = min((self.high, self.high_in), (other.high, other.high_in))
        return Interval(low[0], high[0], not low[1], high[1])

    def denied(self) -> list[Interval]:
        rest = []
        if self.low > -INF:
            rest.append(Interval(-INF, self.low, False, not self.low_in))
        if self.high < INF:
            rest.append(Interval(self.high, INF, not self.high_in, False))
        return rest

    def text(self, name: str, digits: int) -> str:
        low, high = (f"{end:.{digits}g}" for end in (self.low, self.high))
        if self.low == self.high:
            return f"{name} == {low}"
        if self.low == -INF and self.high == INF:
            return f"{name} is present"
        if self.low == -INF:
            return f"{name} {'<=' if self.high_in else '<'} {high}"
        if self.high == INF:
            return f"{name} {'>=' if self.low_in else '>'} {low}"
        signs = "<=" if self.low_in else "<", "<=" if self.high_in else "<"
        return f"{low} {signs[0]} {name} {signs[1]} {high}"


@storable
@dataclass(frozen=True)
class NumberSet:
    """The numbers of some intervals, in increasing order; missing cells too on request."""

    intervals: tuple[Interval, ...]
    missing: bool = False
    _stored = {
        "intervals": ListOf(Object(("Interval",)), kind=tuple),
        "missing": Flag(),
    }

    @property
    def is_empty(self) -> bool:
        return not self.intervals and not self.missing

    def holds(self, values: np.ndarray) -> np.ndarray:
        numbers = as_numbers(values)
        gone = np.isnan(numbers)
        passed = np.zeros(len(numbers), bool)
        for interval in self.intervals:
            passed |= interval.holds(numbers)
        return np.where(gone, self.missing, passed)

    def joined(self, other: NumberSet) -> NumberSet:
        pairs = [one.joined(two) for one in self.intervals for two in other.intervals]
        kept = sorted((each for each in pairs if not each.is_empty), key=lambda each: each.low)
        return NumberSet(tuple(kept), self.missing and other.missing)

    def denied(self) -> NumberSet:
        rest = NumberSet((Interval(),), not self.missing)
        for interval in self.intervals:
            rest = rest.joined(NumberSet(tuple(interval.denied()), not self.missing))
        return rest

    def text(self, name: str, digits: int = 4, missing: bool = True) -> str:
        parts = [each.text(name, digits) for each in self.intervals]
        if self.missing and (missing or not parts):
            parts.append(f"{name} is missing")
        return " or ".join(parts) or "never"


@storable
@dataclass(frozen=True)
class LevelSet:
    """Some levels of a category, or all others; missing cells too on request."""

    values: frozenset
    others: bool = False
    missing: bool = False
    _stored = {
        "missing": Flag(),
        "others": Flag(),
        "values": ListOf(Anything(), kind=frozenset),
    }

    @property
    def is_empty(self) -> bool:
        return not self.values and not self.others and not self.missing

    def holds(self, values: np.ndarray) -> np.ndarray:
        gone = is_missing(values)
        named = np.array([value in self.values for value in values.tolist()], bool)
        return np.where(gone, self.missing, named != self.others)

    def joined(self, other: LevelSet) -> LevelSet:
        missing = self.missing and other.missing
        if self.others and other.others:
            return LevelSet(self.values | other.values, True, missing)
        if self.others:
            return LevelSet(other.values - self.values, False, missing)
        if other.others:
            return LevelSet(self.values - other.values, False, missing)
        return LevelSet(self.values & other.values, False, missing)

    def denied(self) -> LevelSet:
        return LevelSet(self.values, not self.others, not self.missing)

    def text(self, name: str, digits: int = 4, missing: bool = True) -> str:
        named = sorted(map(str, self.values))
        if not named:
            text = f"{name} is present" if self.others else ""
        elif len(named) == 1:
            text = f"{name} {'!=' if self.others else '=='} {named[0]}"
        else:
            text = f"{name} {'not in' if self.others else 'in'} {{{', '.join(named)}}}"
        if self.missing and (missing or not text):
            text = f"{text} or {name} is missing" if text else f"{name} is missing"
        return text or "never"


Region = NumberSet | LevelSet


@storable
@dataclass(frozen=True)
class Condition:
    """What a column must be: one test of a rule.

    Attributes
    ----------
    column : str
    region : NumberSet or LevelSet

    Examples
    --------
    >>> age = Condition("age", NumberSet((Interval(high=16.0),)))
    >>> print(age)
    age < 16
    >>> age.holds({"age": np.array([12.0, 30.0])}).tolist()
    [True, False]
    """

    column: str
    region: Region
    _stored = {
        "column": Text(),
        "region": Object(("LevelSet", "NumberSet")),
    }

    def holds(self, columns) -> np.ndarray:
        """Whether each row passes; `columns` gives a column's values by its name."""
        return self.region.holds(columns[self.column])

    def text(self, digits: int = 4, missing: bool = True) -> str:
        """In words; without `missing`, that missing cells pass as well is left out."""
        return self.region.text(self.column, digits, missing)

    def __str__(self) -> str:
        return self.text()


def simplified(conditions) -> tuple[Condition, ...]:
    """One condition per column that means the same as all together, in order of appearance."""
    by_column: dict[str, Region] = {}
    for each in conditions:
        known = by_column.get(each.column)
        if known is not None and type(known) is not type(each.region):
            raise ValueError(f"column {each.column!r} is tested as a number and as a category")
        by_column[each.column] = each.region if known is None else known.joined(each.region)
    return tuple(Condition(column, region) for column, region in by_column.items())


def is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    return np.array([value is None or value != value for value in values.tolist()], bool)


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Values as floats; what is missing or no number as NaN."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return np.array([_number(value) for value in values.tolist()], np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
