"""Dates and times as people write them, read by the codes of `strptime`, whole columns at once.

A column is read as dates only if *every* value is a valid date in one format: the 30th of February
makes a column text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError

_MONTH_WORDS = """
january february march april may june july august september october november december
"""
MONTHS = tuple(_MONTH_WORDS.split())
_MONTH_NAME = "(?i:" + "|".join(f"{month}|{month[:3]}\\.?" for month in MONTHS) + "|sept\\.?)"
_CODES = {
    "Y": r"(?P<year>[1-9]\d{3})",
    "y": r"(?P<short>\d{2})",
    "m": r"(?P<month>\d{1,2})",
    "b": rf"(?P<name>{_MONTH_NAME})",
    "d": r"(?P<day>\d{1,2})",
    "H": r"(?P<hour>\d{1,2})",
    "I": r"(?P<hour>\d{1,2})",
    "M": r"(?P<minute>\d{2})",
    "S": r"(?P<second>\d{2}(?:\.\d{1,9})?)",
    "p": r"(?P<half>(?i:[ap]\.?m\.?))",
    "z": r"(?P<zone>Z|[+-]\d{2}:?\d{2})",
}
_PACKED = {**_CODES, "m": r"(?P<month>\d{2})", "d": r"(?P<day>\d{2})", "H": r"(?P<hour>\d{2})"}
_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d. %b %Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
    "%Y-%m",
    "%b %Y",
)
_WITHOUT_TIME = ("%Y-%m", "%b %Y")
_TIMES = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p")
_TAILS = tuple(
    f"{joint}{time}{zone}" for joint in (" ", "T") for time in _TIMES for zone in ("", "%z", " %z")
)
TIME_FORMATS = ("%H:%M", "%H:%M:%S")
PACKED_DATE = "%Y%m%d"
CENTURY_TURN = 69  # POSIX: two-digit years 69 to 99 are of the 1900s, 00 to 68 of the 2000s
LONGEST = 45  # a date and time with the longest month name and a zone fits; texts are not tried
STRINGS_LOOKED_AT = 5  # judgement: formats of the first five; each format costs a pass over all


@dataclass(frozen=True)
class WrittenDates:
    """What was understood of a column of written dates.

    Attributes
    ----------
    format : str
    values : Array of date32 or timestamp
    alternative : str or None
        A format that reads all values as well, with day and month exchanged.
    """

    format: str
    values: pa.Array
    alternative: str | None = None


def read_dates(strings: pa.Array, *, day_first: bool | None = None) -> WrittenDates | None:
    """Dates in whichever known format fits all strings, or None.

    Parameters
    ----------
    strings : Array of string
        Distinct, trimmed, without missing values.
    day_first : bool, optional
        What other columns say about ``3/4/2024``.
    """
    if not len(strings):
        return None
    found = []
    for pattern in _formats_of(strings[0].as_py()):
        values = parse_dates(strings, pattern)
        if values is not None:
            found.append(WrittenDates(pattern, values))
    if not found:
        return None
    if len(found) == 1 or found[0].values.equals(found[1].values):
        return found[0]
    chosen, other = sorted(
        found[:2], key=lambda each: _is_day_first(each.format) != bool(day_first)
    )
    return WrittenDates(chosen.format, chosen.values, other.format)


def read_times(strings: pa.Array) -> tuple[str, pa.Array] | None:
    """Times of the day in seconds since midnight with their format, or None."""
    for pattern in TIME_FORMATS:
        seconds = parse_times(strings, pattern)
        if seconds is not None:
            return pattern, seconds
    return None


def parse_times(strings: pa.Array, pattern: str) -> pa.Array | None:
    """Seconds since midnight, or None if a string does not fit."""
    parts = pc.extract_regex(strings, _arrow(pattern))
    if parts.null_count or not len(strings):
        return None
    hour, minute = (parts.field(name).cast(pa.float64()) for name in ("hour", "minute"))
    second = parts.field("second").cast(pa.float64()) if "%S" in pattern else pa.scalar(0.0)
    late = pc.or_(pc.greater(hour, 23), pc.greater(minute, 59))
    if pc.any(late).as_py() or pc.any(pc.greater_equal(second, 60)).as_py():
        return None
    return pc.add(pc.multiply(hour, 3600.0), pc.add(pc.multiply(minute, 60.0), second))


def parse_dates(strings: pa.Array, pattern: str) -> pa.Array | None:
    """Dates written in one format, or None if a string does not fit or is no real date.

    Examples
    --------
    >>> parse_dates(pa.array(["31.12.1999"]), "%d.%m.%Y")[0].as_py()
    datetime.date(1999, 12, 31)
    >>> parse_dates(pa.array(["30.02.2000"]), "%d.%m.%Y") is None
    True
    """
    parts = pc.extract_regex(strings, _arrow(pattern))
    if parts.null_count:
        return None
    has = {field.name for field in parts.type}
    day = _joined("-", _year(parts, has), _month(parts, has), _two_digits(parts, "day", has, "01"))
    if "hour" not in has:
        return _cast(day, pa.date32())
    second = _padded(parts.field("second")) if "second" in has else pa.scalar("00")
    clock = _joined(":", _hour(parts, has), _padded(parts.field("minute")), second)
    moment = _joined(" ", day, clock)
    zone = "UTC" if "zone" in has else None
    if zone:
        moment = _joined("", moment, parts.field("zone"))
    micro = _cast(moment, pa.timestamp("us", zone))
    return micro if micro is not None else _cast(moment, pa.timestamp("ns", zone))


def strays(strings: pa.Array) -> pa.Array | None:
    """Of strings that are not all dates, those that are none in the format of most of them.

    None if there is no such format.

    Examples
    --------
    >>> strays(pa.array(["2024-01-30", "2024-02-30", "2024-03-30"])).to_pylist()
    ['2024-02-30']
    """
    shown = strings.slice(0, STRINGS_LOOKED_AT).to_pylist()
    patterns = dict.fromkeys(pattern for written in shown for pattern in _formats_of(written))
    found = [_strays_of(strings, pattern) for pattern in patterns]
    return min(found, key=lambda each: (len(each[1]), -each[0]))[1] if found else None


def _strays_of(strings: pa.Array, pattern: str) -> tuple[int, pa.Array]:
    """Strings that do not look like the pattern, or the first that looks so and is no real date.

    The number says where the first one stands.
    """
    alike = pc.match_substring_regex(strings, _arrow(pattern))
    if not pc.all(alike).as_py():
        return pc.index(alike, False).as_py(), strings.filter(pc.invert(alike))
    low, high = 0, len(strings)
    while high - low > 1:
        middle = (low + high) // 2
        if parse_dates(strings.slice(low, middle - low), pattern) is None:
            high = middle
        else:
            low = middle
    return low, strings.slice(low, 1)


def day_first_evidence(pattern: str) -> bool | None:
    """Whether a format puts the day before the month; None for formats that do not tell."""
    return _is_day_first(pattern) if re.match(r"%[dm][./-]%[dm]", pattern) else None


def _is_day_first(pattern: str) -> bool:
    return pattern.find("%d") < pattern.find("%m")


@lru_cache(maxsize=512)
def _arrow(pattern: str) -> str:
    codes = _PACKED if re.search(r"%[A-Za-z]%[md]", pattern) else _CODES
    out = ["^"]
    position = 0
    for match in re.finditer(r"%(.)", pattern):
        out.append(re.escape(pattern[position : match.start()]))
        if match.group(1) not in codes:
            raise DataError(
                f"The date format {pattern!r} has the code %{match.group(1)}; "
                f"known are {', '.join('%' + code for code in codes)}."
            )
        out.append(codes[match.group(1)])
        position = match.end()
    out.append(re.escape(pattern[position:]) + "$")
    return "".join(out)


def _formats_of(written: str) -> Iterator[str]:
    """The known formats that fit one value: a date, perhaps followed by a time."""
    if not 6 <= len(written) <= LONGEST or not any(map(str.isdigit, written)):
        return
    for date in _DATES:
        match = _start_of(date).match(written)
        if match is None:
            continue
        rest = written[match.end() :]
        if not rest:
            yield date
        elif date not in _WITHOUT_TIME:
            yield from (date + tail for tail in _TAILS if _start_of(tail).fullmatch(rest))


@lru_cache(maxsize=512)
def _start_of(pattern: str) -> re.Pattern[str]:
    return re.compile(_arrow(pattern).removesuffix("$"))


def _year(parts: pa.StructArray, has: set[str]) -> pa.Array:
    if "year" in has:
        return parts.field("year")
    if "short" not in has:
        return pa.array(["1900"] * len(parts))
    short = parts.field("short")
    late = pc.greater_equal(short.cast(pa.int32()), CENTURY_TURN)
    return _joined("", pc.if_else(late, "19", "20"), short)


def _month(parts: pa.StructArray, has: set[str]) -> pa.Array:
    if "name" not in has:
        return _two_digits(parts, "month", has, "01")
    short = pc.utf8_slice_codeunits(pc.utf8_lower(parts.field("name")), 0, 3)
    number = pc.index_in(short, value_set=pa.array([month[:3] for month in MONTHS]))
    return _padded(pc.add(number, 1).cast(pa.string()))


def _two_digits(parts: pa.StructArray, name: str, has: set[str], otherwise: str) -> pa.Array:
    return _padded(parts.field(name)) if name in has else pa.array([otherwise] * len(parts))


def _hour(parts: pa.StructArray, has: set[str]) -> pa.Array:
    if "half" not in has:
        return _padded(parts.field("hour"))
    hour = parts.field("hour").cast(pa.int32())
    wrong = pc.or_(pc.less(hour, 1), pc.greater(hour, 12))
    afternoon = pc.match_substring_regex(parts.field("half"), "(?i)^p")
    on_dial = pc.if_else(pc.equal(hour, 12), 0, hour)
    full = pc.if_else(afternoon, pc.add(on_dial, 12), on_dial)
    return _padded(pc.if_else(wrong, 99, full).cast(pa.string()))


def _padded(strings: pa.Array) -> pa.Array:
    short = pc.match_substring_regex(strings, r"^\d(?:\.|$)")
    return pc.if_else(short, _joined("", pa.scalar("0"), strings), strings)


def _joined(separator: str, *strings: pa.Array | pa.Scalar) -> pa.Array:
    return pc.binary_join_element_wise(*strings, separator)


def _cast(strings: pa.Array, target: pa.DataType) -> pa.Array | None:
    try:
        return strings.cast(target)
    except pa.ArrowInvalid:
        return None
