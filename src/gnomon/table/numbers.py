"""Numbers as people write them: ``1,234.50``, ``€ 3,50``, ``12 kg``, ``45%``, ``(80)``.

A column is read as numbers only if *every* value fits one way of writing (decimal mark, thousands
mark, unit). What is ambiguous (``1,234``) is decided by the other columns of the file, and the
decision is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

PLAIN_INTEGER = r"^[+-]?\d+$"
PLAIN_NUMBER = r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity))$"
LEADING_ZERO = r"^[+-]?0\d+$"
CODE = r"^[+-]?0[\dxX]"
CERTAINLY_DECIMAL = r"^[+-]?(?:\d*\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+)(?:[eE][+-]?\d+)?$"
INFINITE = r"(?i)^[+-]?inf(?:inity)?$"

_CURRENCY_WORDS = """
€ $ £ ¥ ₹ ₽ ₩ ₺ ₪ ₫ ฿ ₴ EUR USD GBP CHF JPY CNY SEK NOK DKK PLN CZK HUF INR AUD CAD NZD BRL ZAR MXN
TRY KRW RUB Rs Rs. kr kr. zł Fr. US$ A$ C$ R$
"""
_UNIT_WORDS = """
% ‰ ° °C °F K kg g mg µg ug t lb lbs oz km m cm mm µm um nm mi ft in yd s sec ms µs us ns min h hr
hrs d l L ml mL cl dl gal m² m2 km² km2 cm² cm2 ha m³ m3 cm³ cm3 W kW MW GW Wh kWh MWh J kJ MJ cal
kcal V mV kV A mA Hz kHz MHz GHz B kB KB MB GB TB px pt bar mbar hPa Pa kPa N kN Nm mol ppm ppb mph
kmh km/h m/s rpm dB bpm cc hp
"""
CURRENCIES = frozenset(_CURRENCY_WORDS.split())
UNITS = frozenset(_UNIT_WORDS.split())
LONGEST_UNIT = 12  # judgement: "kilograms/h" is a unit; longer endings are words
DECIMAL_MARKS = (".", ",")
THOUSANDS_MARKS = (".", ",", " ", "'")

_SPACES = r" \x{a0}\x{2009}\x{202f}"
_APOSTROPHES = "'’"
_CURRENCY = "|".join(sorted((re.escape(each) for each in CURRENCIES), key=len, reverse=True))
_PARTS = (
    r"^(?P<open>\(?)\s*(?P<sign>[-+−]?)\s*"
    rf"(?P<prefix>(?:{_CURRENCY})?)\s*(?P<inner>[-+−]?)\s*"
    rf"(?P<body>(?:\d[\d.,{_APOSTROPHES}{_SPACES}]*|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"(?P<suffix>(?:[^\d\s().,'’+\-][^\s()]*(?:[ ][^\s\d()]+)*)?)"
    r"\s*(?P<close>\)?)$"
)


@dataclass(frozen=True)
class NumberFormat:
    """One way of writing numbers."""

    decimal: str = "."
    thousands: str | None = None
    unit: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether Arrow itself can read it."""
        return self == NumberFormat()

    def pattern(self) -> str:
        """Regular expression of an unsigned number written like this."""
        mark = re.escape(self.decimal)
        exponent = r"(?:[eE][+-]?\d+)?"
        if self.thousands is None:
            return rf"^(?:\d+{mark}?\d*|{mark}\d+){exponent}$"
        group = _group(self.thousands)
        return rf"^(?:[1-9]\d{{0,2}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+)(?:{mark}\d*)?$"


WAYS = tuple(
    NumberFormat(decimal, thousands)
    for decimal, thousands in [
        (".", None),
        (",", None),
        (".", ","),
        (",", "."),
        (".", " "),
        (",", " "),
        (".", "'"),
        (",", "'"),
    ]
)


def wrong_marks(decimal: str | None, thousands: str | None) -> str | None:
    """What is wrong with the marks that someone gave, or None.

    Examples
    --------
    >>> wrong_marks("x", None)
    "decimal='x' is no decimal mark: it is '.' or ','"
    """
    if decimal is not None and decimal not in DECIMAL_MARKS:
        return f"decimal={decimal!r} is no decimal mark: it is '.' or ','"
    if thousands is not None and thousands not in THOUSANDS_MARKS:
        return (
            f"thousands={thousands!r} is no mark between thousands: it is '.', ',', \"'\" or ' ' "
            "(which stands for narrow spaces too)"
        )
    if thousands is not None and thousands == decimal:
        return f"decimal and thousands cannot both be {decimal!r}"
    return None


@dataclass(frozen=True)
class WrittenNumbers:
    """What was understood of a column of written numbers.

    Attributes
    ----------
    format : NumberFormat
    values : Array of int64 or float64
        The numbers, in the order of the strings.
    ambiguous : bool
        Another decimal mark would fit as well.
    """

    format: NumberFormat
    values: pa.Array
    ambiguous: bool = False


def read_plain(strings: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """int64 or float64 of numbers that need no interpretation, or None.

    Arrow's cast does the work for whole columns at once; what it takes and we do not (``0x1f``,
    ``007``, ``1e999``) is looked for afterwards, in as few passes as the column allows.
    """
    if not _all_match(strings.slice(0, 100), PLAIN_NUMBER):
        return None
    try:
        values = cast_plain(strings)
    except pa.ArrowInvalid:
        return None
    if pa.types.is_integer(values.type):
        return None if _any_match(strings, CODE) else values
    if pc.any(pc.is_nan(values), min_count=0).as_py():
        return None
    if not pc.any(pc.match_substring(strings.slice(0, 100), "."), min_count=0).as_py() and (
        _all_match(strings, PLAIN_INTEGER) or _all_match(strings, INFINITE)
    ):
        return None
    infinite = pc.is_inf(values)
    if pc.any(infinite, min_count=0).as_py() and not _all_match(strings.filter(infinite), INFINITE):
        return None
    return values


def is_plainly_decimal(strings: pa.ChunkedArray) -> bool:
    """Whether all strings are plain numbers or empty, and some could be nothing else.

    A number like ``12.5`` or ``0.1234`` cannot be one with marks between thousands.
    """
    filled = strings.filter(pc.not_equal(strings, ""))
    return _any_match(filled, CERTAINLY_DECIMAL) and _all_match(filled, PLAIN_NUMBER)


def cast_plain(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """int64 or float64 of plain numbers; raises `pyarrow.ArrowInvalid` for anything else."""
    try:
        return strings.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    if not _all_match(strings.slice(0, 100), PLAIN_INTEGER) or not _all_match(
        strings, PLAIN_INTEGER
    ):
        return strings.cast(pa.float64())
    try:
        return pc.replace_substring_regex(strings, r"^\+", "").cast(pa.int64())
    except pa.ArrowInvalid:
        return strings.cast(pa.float64())


def read_written(
    strings: pa.Array,
    *,
    decimal: str | None = None,
    ways: tuple[NumberFormat, ...] = WAYS,
    units: tuple[str, ...] | None = None,
) -> WrittenNumbers | None:
    """Numbers with units, currencies, thousands marks or a decimal comma, or None.

    Parameters
    ----------
    strings : Array of string
        Distinct, trimmed, without missing values.
    decimal : str, optional
        The decimal mark, where the user or other columns tell it: numbers that show another mark
        are not read.
    ways : tuple of NumberFormat
        Marks to try, the first that fits all strings is taken.
    units : tuple of str, optional
        Units that are allowed; None for any that all strings share.
    """
    if not len(strings):
        return None
    parts = pc.extract_regex(strings, _PARTS)
    if parts.null_count:
        return None
    part = {
        name: parts.field(name) for name in ("open", "sign", "prefix", "inner", "suffix", "close")
    }
    body = pc.utf8_trim_whitespace(parts.field("body"))
    gap = pc.not_equal(pc.binary_length(body), pc.binary_length(parts.field("body")))
    unit = _common_unit(part["prefix"], part["suffix"], gap)
    if unit is None or not _brackets_close(part):
        return None
    if unit and units is not None and unit not in units:
        return None
    fitting = [way for way in ways if _all_match(body, way.pattern())]
    if not fitting:
        return None
    way = _choose(fitting, body, decimal)
    values = None if way is None else _to_values(body, _is_negative(part), way)
    if way is None or values is None:
        return None
    format_ = NumberFormat(way.decimal, way.thousands, unit or None)
    return WrittenNumbers(format_, values, _is_ambiguous(fitting, body))


def mixes_decimal_marks(strings: pa.Array) -> tuple[str, str] | None:
    """A value with a decimal point and one with a comma, when all are numbers by either mark."""
    point, comma = (NumberFormat(mark).pattern().replace("^", r"^[+-]?") for mark in ".,")
    by_point = pc.match_substring_regex(strings, point)
    by_comma = pc.match_substring_regex(strings, comma)
    if not pc.all(pc.or_(by_point, by_comma)).as_py():
        return None
    with_point = strings.filter(pc.invert(by_comma))
    with_comma = strings.filter(pc.invert(by_point))
    if not len(with_point) or not len(with_comma):
        return None
    return with_point[0].as_py(), with_comma[0].as_py()


def _choose(ways: list[NumberFormat], body: pa.Array, decimal: str | None) -> NumberFormat | None:
    if not _any_match(body, r"[.,]"):
        return ways[0]
    if decimal is not None:
        return next((way for way in ways if way.decimal == decimal), None)
    grouped = [way for way in ways if way.thousands == ","]
    if ways[0].decimal == "," and ways[0].thousands is None and grouped:
        return grouped[0]
    return ways[0]


def _is_ambiguous(ways: list[NumberFormat], body: pa.Array) -> bool:
    return len({way.decimal for way in ways}) > 1 and _any_match(body, r"[.,]")


def _common_unit(prefix: pa.Array, suffix: pa.Array, gap: pa.Array) -> str | None:
    """The unit that all values share ("" for none), or None when they differ or it is no unit."""
    units = pc.unique(pc.binary_join_element_wise(prefix, suffix, "")).to_pylist()
    if len(units) != 1:
        return None
    unit = units[0]
    if pc.any(pc.and_(_filled(prefix), _filled(suffix))).as_py():
        return None
    if not unit or unit in CURRENCIES or unit in UNITS:
        return unit
    separated = pc.all(gap).as_py()
    return unit if separated and len(unit) <= LONGEST_UNIT else None


def _brackets_close(part: dict[str, pa.Array]) -> bool:
    """Brackets stand for a minus: both or none, and no sign besides."""
    opened, closed = _filled(part["open"]), _filled(part["close"])
    signs = pc.add(pc.binary_length(part["sign"]), pc.binary_length(part["inner"]))
    several = pc.and_(_filled(part["sign"]), _filled(part["inner"]))
    wrong = pc.or_(
        pc.or_(pc.not_equal(opened, closed), several), pc.and_(opened, pc.greater(signs, 0))
    )
    return not pc.any(wrong).as_py()


def _is_negative(part: dict[str, pa.Array]) -> pa.Array:
    sign = pc.binary_join_element_wise(part["sign"], part["inner"], "")
    return pc.or_(pc.is_in(sign, value_set=pa.array(["-", "−"])), _filled(part["open"]))


def _to_values(body: pa.Array, negative: pa.Array, way: NumberFormat) -> pa.Array | None:
    if way.thousands is not None:
        body = pc.replace_substring_regex(body, _group(way.thousands), "")
    if way.decimal != ".":
        body = pc.replace_substring(body, way.decimal, ".")
    signed = pc.binary_join_element_wise(pc.if_else(negative, "-", ""), body, "")
    if _all_match(signed, PLAIN_INTEGER):
        try:
            return signed.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    values = signed.cast(pa.float64())
    return None if pc.any(pc.is_inf(values)).as_py() else values


def _group(thousands: str) -> str:
    if thousands == " ":
        return f"[{_SPACES}]"
    if thousands == "'":
        return f"[{_APOSTROPHES}]"
    return re.escape(thousands)


def _filled(strings: pa.Array) -> pa.Array:
    return pc.greater(pc.binary_length(strings), 0)


def _all_match(strings: pa.Array | pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(strings, pattern), min_count=0).as_py())


def _any_match(strings: pa.Array | pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(strings, pattern), min_count=0).as_py())
