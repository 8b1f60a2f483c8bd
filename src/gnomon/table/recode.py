"""Give the values of a column the form that its kind asks for.

Used when a schema is applied: to text from a file, to a table that was read otherwise, to rows at
prediction. Every value must fit; the first that does not is named.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.table import dates, missing, numbers
from gnomon.table.errors import ReadError
from gnomon.table.kinds import Kind
from gnomon.table.schema import Column
from gnomon.table.settle import settled

SECONDS_OF_DAY = "s since midnight"
WHOLE = "integer"
BOOLEAN_WORDS = (
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("off", "on"),
    ("nein", "ja"),
    ("non", "oui"),
)
Unseen = Literal["error", "missing", "extend"]


def recode(
    values: pa.ChunkedArray,
    column: Column,
    *,
    before: Column | None = None,
    written: bool = False,
    unseen: Unseen = "error",
) -> tuple[Column, pa.ChunkedArray]:
    """The values in the form of ``column.kind``, and the column with its levels filled in.

    Parameters
    ----------
    values : ChunkedArray
    column : Column
        What is wanted.
    before : Column, optional
        What the values are now, where they have been understood before.
    written : bool
        Whether strings come from a file, so that words for missing values must be looked for.
    unseen : {"error", "missing", "extend"}
        What to do with a category that is not among the levels.
    """
    values, _ = settled(values, column.name)
    if written and _is_string(values.type):
        values = _cleaned(values, column)
    elif written and _is_numeric(values.type):
        values, _ = missing.blank_numbers(values, column.missing)
    change = _CHANGES[column.kind]
    return change(values, column, before, unseen)


def sorted_levels(distinct: pa.Array) -> tuple[str, ...]:
    """Levels in an order of their own: by number where all are whole numbers, else by letters."""
    levels = distinct.to_pylist()
    if all(re.fullmatch(r"[+-]?\d{1,18}", level) for level in levels):
        return tuple(sorted(levels, key=lambda level: (int(level), level)))
    return tuple(sorted(levels))


def encode_levels(
    strings: pa.ChunkedArray, column: Column, unseen: Unseen = "error"
) -> pa.ChunkedArray:
    """Strings as a dictionary column whose codes follow ``column.levels``."""
    assert column.levels is not None
    words = pa.array(column.levels, pa.string())
    codes = pc.index_in(strings, value_set=words)
    if unseen == "error":
        _refuse(
            strings,
            pc.and_(pc.is_null(codes), pc.is_valid(strings)),
            column,
            "is not among the levels",
            "Add it to the levels in the schema; for a scan, with_all_levels() finds them all.",
        )
    ordered = column.kind is Kind.ORDERED
    chunks = codes.chunks if isinstance(codes, pa.ChunkedArray) else [codes]
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(chunk, words, ordered=ordered) for chunk in chunks],
        pa.dictionary(pa.int32(), pa.string(), ordered),
    )


def as_strings(values: pa.ChunkedArray, before: Column | None = None) -> pa.ChunkedArray:
    """The values as a person would write them: categories by name, whole floats without a point."""
    kind_of = values.type
    if _is_string(kind_of):
        return values
    if pa.types.is_dictionary(kind_of):
        return values.cast(pa.string())
    if pa.types.is_boolean(kind_of):
        false, true = (before.levels if before else None) or ("false", "true")
        return pc.if_else(values, true, false)
    if pa.types.is_floating(kind_of):
        return pc.replace_substring_regex(values.cast(pa.string()), r"\.0$", "")
    if pa.types.is_date(kind_of):
        return pc.strftime(values.cast(pa.timestamp("s")), "%Y-%m-%d")
    return values.cast(pa.string())


def _cleaned(strings: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    wordy = column.kind in (Kind.CATEGORY, Kind.ORDERED, Kind.TEXT, Kind.IDENTIFIER)
    words: tuple[str, ...] = missing.ALWAYS if wordy else missing.USUAL
    if column.missing is not None:
        words = ("", *column.missing)
    words = tuple(word for word in words if word not in (column.levels or ()))
    filled = missing.blank(pc.utf8_trim_whitespace(strings), words).is_valid()
    return pc.if_else(filled, without_spaces(strings, column), pa.scalar(None, strings.type))


def without_spaces(strings: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    """Values without outer spaces, unless these belong to them: in text, and in a level."""
    spaced = any(level != level.strip() for level in column.levels or ())
    return strings if column.kind is Kind.TEXT or spaced else pc.utf8_trim_whitespace(strings)


def _to_number(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    if _is_numeric(values.type):
        if pa.types.is_integer(values.type):
            values = values.cast(pa.float64())
        return column, values
    if pa.types.is_boolean(values.type):
        return column, values.cast(pa.float64())
    strings = _strings_for(values, column, before, "a number")
    read = _read_numbers(strings, column)
    return column, read.cast(pa.float64())


def _to_integer(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    if pa.types.is_integer(values.type):
        return column, values
    if pa.types.is_boolean(values.type):
        return column, values.cast(pa.int64())
    if not pa.types.is_floating(values.type):
        strings = _strings_for(values, column, before, "a whole number")
        values = _read_numbers(strings, column)
    if pa.types.is_floating(values.type):
        broken = pc.not_equal(pc.floor(values), values)
        remedy = f"Give {column.name!r} the kind 'number'."
        _refuse(values, broken, column, "is not a whole number", remedy)
        huge = pc.greater_equal(pc.abs(values), 2.0**63)
        _refuse(values, huge, column, "does not fit in 64 bits", remedy)
        values = values.cast(pa.int64())
    return column, values


def _to_category(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    strings = as_strings(values, before)
    levels = column.levels
    if levels is None and _has_order(values.type, column.kind) and values.num_chunks:
        levels = tuple(values.chunk(0).dictionary.to_pylist())
    if levels is None:
        levels = sorted_levels(strings.unique().drop_null())
        if column.kind is Kind.ORDERED and not _are_whole_numbers(levels):
            raise ReadError(
                "an ordered category needs its levels in their order",
                column=column.name,
                remedy=f"Write set({column.name!r}, kind='ordered', levels=[...]) with "
                f"{levels[:20]!r} in the right order.",
            )
    elif unseen == "extend":
        new = set(strings.unique().drop_null().to_pylist()) - set(levels)
        levels = (*levels, *sorted_levels(pa.array(sorted(new), pa.string())))
    column = replace(column, levels=levels)
    return column, encode_levels(strings, column, unseen)


def _to_boolean(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    if pa.types.is_boolean(values.type):
        return column, values
    if _is_numeric(values.type):
        wrong = pc.invert(pc.is_in(values, value_set=pa.array([0, 1]).cast(values.type)))
        wrong = pc.and_(wrong, pc.is_valid(values))
        _refuse(values, wrong, column, "is neither 0 nor 1", _OTHER_KIND)
        return column, values.cast(pa.bool_())
    strings = _strings_for(values, column, before, "a boolean")
    false, true = column.levels or _boolean_words(strings, column)
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(strings))
    truth = pc.equal(lower, true.lower())
    wrong = pc.and_(pc.invert(truth), pc.not_equal(lower, false.lower()))
    _refuse(strings, wrong, column, f"is neither {false!r} nor {true!r}", _OTHER_KIND)
    return replace(column, levels=(false, true)), truth


def _to_datetime(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return column, values
    if pa.types.is_integer(values.type) and column.format:
        values = values.cast(pa.string())
    strings = pc.utf8_trim_whitespace(_strings_for(values, column, before, "a date"))
    distinct = strings.unique().drop_null()
    if not len(distinct):
        return column, pa.chunked_array([pa.nulls(len(strings), pa.timestamp("us"))])
    if column.format is None:
        found = dates.read_dates(distinct)
        if found is None:
            _refuse(
                strings, pc.is_valid(strings), column, "is in no known date format", _GIVE_FORMAT
            )
        assert found is not None
        pattern, read = found.format, found.values
    else:
        pattern, read = column.format, dates.parse_dates(distinct, column.format)
        if read is None:
            bad = [
                value for value in distinct if dates.parse_dates(pa.array([value]), pattern) is None
            ]
            wrong = pc.is_in(strings, value_set=pa.array(bad, strings.type))
            _refuse(strings, wrong, column, f"is no date written as {pattern}", _DATE_REMEDY)
    column = replace(column, format=pattern)
    return column, read.take(pc.index_in(strings, value_set=distinct))


def _to_text(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    return column, as_strings(values, before)


def _to_identifier(values: Any, column: Any, before: Any, unseen: Any) -> Any:
    if pa.types.is_integer(values.type):
        return column, values
    if column.format == WHOLE:
        return _to_integer(values, column, before, unseen)
    return column, as_strings(values, before)


_CHANGES = {
    Kind.NUMBER: _to_number,
    Kind.INTEGER: _to_integer,
    Kind.CATEGORY: _to_category,
    Kind.ORDERED: _to_category,
    Kind.BOOLEAN: _to_boolean,
    Kind.DATETIME: _to_datetime,
    Kind.TEXT: _to_text,
    Kind.IDENTIFIER: _to_identifier,
}
_OTHER_KIND = "Choose another kind for the column, or correct the value."
_GIVE_FORMAT = "Give the column's format, for instance format='%d.%m.%Y', or another kind."


def _read_numbers(strings: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    strings = pc.utf8_trim_whitespace(strings)
    if strings.null_count == len(strings):
        return pa.chunked_array([pa.nulls(len(strings), pa.int64())])
    if column.format in dates.TIME_FORMATS:
        return _read_by_distinct(
            strings, column, lambda each: dates.parse_times(each, column.format)
        )
    plain_marks = column.decimal in (None, ".") and column.thousands is None
    if plain_marks and column.unit is None:
        try:
            return numbers.cast_plain(strings)
        except pa.ArrowInvalid:
            pass
    ways, units = numbers.WAYS, None
    if column.decimal or column.thousands or column.unit:
        ways = (numbers.NumberFormat(column.decimal or ".", column.thousands),)
        units = (column.unit,) if column.unit else ()

    def read(each: pa.Array) -> pa.Array | None:
        found = numbers.read_written(each, ways=ways, units=units)
        return None if found is None else found.values

    return _read_by_distinct(strings, column, read)


def _read_by_distinct(strings: Any, column: Any, read: Any) -> pa.ChunkedArray:
    distinct = strings.unique().drop_null()
    found = read(distinct)
    if found is None:
        bad = [value for value in distinct.to_pylist() if read(pa.array([value])) is None]
        bad = bad or distinct.to_pylist()
        wrong = pc.is_in(strings, value_set=pa.array(bad, strings.type))
        what = "is no number in the form of this column"
        _refuse(strings, wrong, column, what, _NUMBER_REMEDY)
    return found.take(pc.index_in(strings, value_set=distinct))


_DATE_REMEDY = (
    "If it means missing, name it in missing=[...]; else correct it, or choose another format or "
    "kind."
)
_NUMBER_REMEDY = (
    "If it means missing, name it in missing=[...]; else correct it, or choose the kind 'category' "
    "or 'text'."
)


def _strings_for(
    values: Any, column: Column, before: Column | None, wanted: str
) -> pa.ChunkedArray:
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        raise ReadError(
            f"a date cannot become {wanted}",
            column=column.name,
            remedy="Use the filter that turns dates into parts.",
        )
    return as_strings(values, before)


def _boolean_words(strings: pa.ChunkedArray, column: Column) -> tuple[str, str]:
    written = [word.strip() for word in strings.unique().drop_null().slice(0, 10).to_pylist()]
    words = {word.lower() for word in written}
    for pair in (*BOOLEAN_WORDS, ("0", "1")):
        if words <= set(pair):
            return spelled_as(pair, written)
    raise ReadError(
        f"the values {sorted(words)[:5]!r} are not known as words for false and true",
        column=column.name,
        remedy="Name them: levels=[word for false, word for true].",
    )


def spelled_as(pair: tuple[str, str], written: list[str]) -> tuple[str, str]:
    """Words for false and true as they were first written; one that was not, in like letters.

    Parameters
    ----------
    pair : tuple of str
        The two words in lower case.
    written : list of str
        Values of a column, none of which is another word.
    """
    first: dict[str, str] = {}
    for word in written:
        first.setdefault(word.lower(), word)
    false, true = (first.get(word) or _in_letters_of(written, word) for word in pair)
    return false, true


def _in_letters_of(written: list[str], word: str) -> str:
    if any(each.istitle() for each in written):
        return word.capitalize()
    return word.upper() if any(each.isupper() for each in written) else word


def _has_order(stored: pa.DataType, wanted: Kind) -> bool:
    """Whether the stored levels are in an order that serves the wanted kind."""
    return pa.types.is_dictionary(stored) and (wanted is Kind.CATEGORY or stored.ordered)


def _are_whole_numbers(levels: tuple[str, ...]) -> bool:
    return all(re.fullmatch(r"[+-]?\d+", level) for level in levels)


def _refuse(values: Any, wrong: Any, column: Column, what: str, remedy: str) -> None:
    """Raise for the first value that is marked wrong."""
    if not pc.any(wrong, min_count=0).as_py():
        return
    row = pc.index(wrong, True).as_py()
    raise ReadError(
        f"{values[row].as_py()!r} {what}", column=column.name, remedy=remedy, row=row + 1
    )


def _is_string(kind_of: pa.DataType) -> bool:
    return pa.types.is_string(kind_of) or pa.types.is_large_string(kind_of)


def _is_numeric(kind_of: pa.DataType) -> bool:
    return pa.types.is_integer(kind_of) or pa.types.is_floating(kind_of)
