"""Print only the digits that the error bar supports.

A height known to 0.1 cm is 182.3 cm, not 182.326548435054 cm: further digits are noise and
pretend a precision that is not there.

Texts: 004 5.3, footnote 6.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from gnomon.engine.errors import DataError

PLAIN_FROM, PLAIN_TO = -5, 9  # judgement: beyond 0.0001 and 999,999,999 powers of ten read easier


def with_error(value: float, error: float, digits: int = 1, plus_minus: str = " ± ") -> str:
    """A figure and its error bar, rounded to the digits that the error leaves.

    The error keeps `digits` significant digits, the value as many decimals as the error. Very
    large and very small figures share a power of ten.

    Parameters
    ----------
    value : float
    error : float
        Standard error or half-width, zero or more; infinite or NaN where unknown.
    digits : int, default=1
        Significant digits of the error; 2 where it will be computed with.
    plus_minus : str
        What stands between them.

    Returns
    -------
    text : str

    Examples
    --------
    >>> with_error(182.326548435054, 0.1)
    '182.3 ± 0.1'
    >>> with_error(0.84213, 0.0127, digits=2)
    '0.842 ± 0.013'
    >>> with_error(1.23456e-8, 4e-10)
    '(1.23 ± 0.04)e-8'
    >>> with_error(123456, 2345)
    '123000 ± 2000'
    """
    number, bar, power = _parts(value, error, digits)
    return f"({number}{plus_minus}{bar}){power}" if power else f"{number}{plus_minus}{bar}"


def significant(value: float, error: float, digits: int = 1) -> str:
    """A figure without the digits that its error bar does not support.

    Parameters
    ----------
    value : float
    error : float
        Standard error or half-width, above zero.
    digits : int, default=1
        Significant digits of the error that are kept.

    Returns
    -------
    text : str

    Examples
    --------
    >>> significant(182.326548435054, 0.1)
    '182.3'
    >>> significant(-0.00012, 0.03)
    '0.00'
    """
    number, _, power = _parts(value, error, digits)
    return number + power


def last_place(error: float, digits: int = 1) -> int:
    """The power of ten of the last digit that an error leaves.

    Parameters
    ----------
    error : float
        Above zero and finite.
    digits : int, default=1
        Significant digits of the error that are kept.

    Returns
    -------
    place : int
        0 for units, -1 for tenths, 3 for thousands.

    Examples
    --------
    >>> last_place(0.1), last_place(0.096), last_place(2345.0, digits=2)
    (-1, -1, 2)
    """
    _check(error, digits)
    if not (np.isfinite(error) and error > 0):
        raise DataError(f"an error of {error} has no digits")
    place = _magnitude(_exact(error)) - digits + 1
    # 0.096 to one digit is 0.1, one place higher
    return _magnitude(_rounded(error, place)) - digits + 1


def _parts(value: float, error: float, digits: int) -> tuple[str, str, str]:
    """The value, the error, and the power of ten that they share where there is one."""
    _check(error, digits)
    if not np.isfinite(value):
        raise DataError(f"a value of {value} has no digits")
    if not np.isfinite(error):
        return f"{value:.3g}", "unknown", ""
    if error == 0:
        return f"{value:.12g}", "0", ""
    place = last_place(error, digits)
    top = max(_magnitude(_rounded(each, place)) for each in (value, error))
    if PLAIN_FROM < top < PLAIN_TO:
        return _text(value, place), _text(error, place), ""
    shift = Decimal(1).scaleb(-top)
    number, bar = (_text(_exact(each) * shift, place - top) for each in (value, error))
    return number, bar, f"e{top}"


def _check(error: float, digits: int) -> None:
    if digits < 1 or int(digits) != digits:
        raise DataError(f"digits={digits!r} must be a whole number, 1 or more")
    if error < 0:
        raise DataError(f"error={error} must not be negative")


def _exact(number: float | Decimal) -> Decimal:
    """The number that was written: 0.15 is fifteen hundredths, not the double below it."""
    return number if isinstance(number, Decimal) else Decimal(repr(float(number)))


def _magnitude(number: Decimal) -> int:
    return number.adjusted() if number else -400


def _rounded(number: float | Decimal, place: int) -> Decimal:
    unit = Decimal(1).scaleb(place)
    return (_exact(number) / unit).quantize(Decimal(1), ROUND_HALF_EVEN) * unit


def _text(number: float | Decimal, place: int) -> str:
    text = f"{_rounded(number, place):.{max(-place, 0)}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text
