"""The kinds that a column can have: what its values mean, not how they are stored."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What the values of a column mean.

    Stored in Arrow as: number: floating point; integer: whole numbers; category and ordered:
    dictionary of strings; boolean: bool; datetime: date or timestamp; text: string; identifier:
    string or whole number.

    Examples
    --------
    >>> Kind("number") == "number"
    True
    >>> Kind.ORDERED.has_levels
    True
    """

    NUMBER = "number"
    INTEGER = "integer"
    CATEGORY = "category"
    ORDERED = "ordered"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    TEXT = "text"
    IDENTIFIER = "identifier"

    @property
    def is_numeric(self) -> bool:
        """Whether sums and means of the values make sense."""
        return self in (Kind.NUMBER, Kind.INTEGER)

    @property
    def has_levels(self) -> bool:
        """Whether the values come from a fixed list of names."""
        return self in (Kind.CATEGORY, Kind.ORDERED)
