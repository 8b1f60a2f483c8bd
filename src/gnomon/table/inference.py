"""Which kind a column is, and why.

Columns of strings that come from a file are searched for numbers, booleans and dates
(`infer_written`); columns that have a type already keep it (`infer_typed`). A kind is given only if
all values fit it; nothing is coerced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.threads import in_order
from gnomon.table import dates, missing, numbers
from gnomon.table.kinds import Kind
from gnomon.table.names import repaired
from gnomon.table.notes import counted
from gnomon.table.recode import (
    BOOLEAN_WORDS,
    SECONDS_OF_DAY,
    WHOLE,
    encode_levels,
    sorted_levels,
    spelled_as,
)
from gnomon.table.schema import Column, Schema
from gnomon.table.settle import flattened, settled

# Judgement: above it a column is text or an identifier however many rows there are.
MOST_LEVELS = 10_000
MANY_LEVELS = 1_000  # judgement: above it a level must have ten rows on average
FEW_LEVELS = 20  # judgement: so few are levels even where they are long or each is rare
FEW_ROWS = 20  # judgement: in fewer rows it happens by chance that no value occurs twice
STORED_NUMBERS, WRITTEN_NUMBERS = "stored as numbers", "all values are numbers"
LONG_WORDS, LONG_CHARACTERS = 5, 50  # judgement: on average; names of levels have one to four words
MOST_STRAYS = 0.2  # judgement: a fifth of distinct values is a dirty column, more is another kind
RARE_ROWS = 0.01  # judgement: with fewer than five distinct values rows are counted instead

SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("very low", "low", "moderate", "high", "very high"),
    ("very low", "low", "normal", "high", "very high"),
    ("low", "med", "high", "vhigh"),
    ("tiny", "small", "medium", "large", "huge"),
    ("small", "med", "big"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "average", "good", "very good"),
    ("first", "second", "third", "fourth", "fifth"),
)
OF_ROW_NAMES = "X"
COUNTS_ROWS = "counts the rows"
_ID_NAME = re.compile(
    r"(?i:(?:^|[_\W\d])(?:id|ids|uuid|guid|key|pk|idx)$)|(?<=[a-z])(?:Id|ID|Key)$"
)
_CODE_NAME = re.compile(r"(?:^|[_\W])(?:nr|no|num|number|code|ref|serial)$", re.I)
_COUNTER_NAME = re.compile(
    r"(?i:^(?:unnamed.*|index|rows?|row[_ ]?(?:names?|ids?)|column_1|obs|case|order|record|seq)$)"
    rf"|^{OF_ROW_NAMES}$"
)
MOST_TOLD = 4  # columns whose words for a missing value are told one by one
_DATE_NAME = re.compile(r"date|datum|day|tag|when|time", re.I)


@dataclass(frozen=True)
class Hints:
    """What other columns of the file or the user say about how values are written."""

    decimal: str | None = None
    thousands: str | None = None
    day_first: bool | None = None
    missing: tuple[str, ...] | None = None
    sample: int | None = None

    @property
    def markers(self) -> tuple[str, ...]:
        """All words that may stand for a missing value."""
        return missing.USUAL if self.missing is None else ("", *self.missing)

    def completed(self, column: Column) -> Column:
        """A column of a given schema, with the user's marks and words where it has none."""
        words = self.missing if column.missing is None else column.missing
        if not column.kind.is_numeric or column.decimal or column.thousands:
            return replace(column, missing=words)
        return replace(column, missing=words, decimal=self.decimal, thousands=self.thousands)


@dataclass(frozen=True)
class Finding:
    """A column as it was understood: its entry in the schema, its values, what to tell."""

    column: Column
    values: pa.ChunkedArray
    notes: tuple[str, ...] = ()
    blanks: dict[str, int] = field(default_factory=dict)  # words taken as missing, with counts
    decimal: str | None = None
    day_first: bool | None = None
    ambiguous: bool = False


@dataclass(frozen=True)
class Inferred:
    """A whole table as it was understood."""

    schema: Schema
    arrow: pa.Table
    notes: list[str] = field(default_factory=list)


def infer_arrow(
    arrow: pa.Table,
    *,
    parse: bool = False,
    hints: Hints | None = None,
    only: Callable[[str], bool] | None = None,
) -> Inferred:
    """Kinds and conforming values of all columns.

    Parameters
    ----------
    arrow : pyarrow.Table
    parse : bool
        Whether to look for numbers, booleans and dates in strings, as in a text file.
    hints : Hints, optional
    only : callable, optional
        Names for which it is false are left out of the result (they have a kind already).
    """
    hints = hints or Hints()
    arrow, notes = flattened(arrow)
    names, repairs = repaired(arrow.column_names)
    columns = [
        (name, values) for name, values in zip(names, arrow.columns) if only is None or only(name)
    ]

    def understand(entry: tuple[str, pa.ChunkedArray]) -> Finding:
        return _infer(*entry, parse, hints)

    findings = list(in_order(understand, columns, short=True))
    if parse:
        findings = _decide_by_neighbors(findings, columns, hints)
    findings = [_as_input(finding, names) for finding in findings]
    return Inferred(
        Schema(finding.column for finding in findings),
        pa.table(
            [finding.values for finding in findings],
            names=[finding.column.name for finding in findings],
        ),
        [
            *notes,
            *repairs,
            *(note for finding in findings for note in finding.notes),
            *_told_blanks(findings),
        ],
    )


def _told_blanks(findings: list[Finding]) -> Iterator[str]:
    """What was taken as missing: a sentence for each column, or for each word of many columns."""
    marked = [each for each in findings if each.blanks]
    words = dict.fromkeys(word for each in marked for word in each.blanks)
    for word in words if len(marked) > MOST_TOLD else ():
        counts = {each.column.name: each.blanks[word] for each in marked if word in each.blanks}
        if len(counts) > 1:
            most = max(counts, key=lambda name: counts[name])
            yield (
                f"{sum(counts.values()):,} x {word!r} taken as missing in {len(counts):,} columns, "
                f"most in {most!r} ({counts[most]:,})."
            )
            marked = [
                replace(each, blanks={w: n for w, n in each.blanks.items() if w != word})
                for each in marked
            ]
    for each in filter(lambda finding: finding.blanks, marked):
        listed = ", ".join(f"{count:,} x {word!r}" for word, count in each.blanks.items())
        yield f"Column {each.column.name!r}: {listed} taken as missing."


def _infer(name: str, values: pa.ChunkedArray, parse: bool, hints: Hints) -> Finding:
    values, notes = settled(values, name)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        finding = infer_written(name, values, hints) if parse else infer_words(name, values)
    else:
        finding = _infer_stored(name, values, hints) if parse else infer_typed(name, values)
    return replace(finding, notes=(*notes, *finding.notes))


def _infer_stored(name: str, values: pa.ChunkedArray, hints: Hints) -> Finding:
    """A column of a file that has a type already; numbers are described as if from strings."""
    whole, broken = pa.types.is_integer(values.type), pa.types.is_floating(values.type)
    if not (whole or broken):
        return infer_typed(name, values)
    values, seen = missing.blank_numbers(values, hints.missing)
    finding = _with_missing(infer_typed(name, values), seen, hints)
    if whole:
        return finding
    column = finding.column
    if column.reason == STORED_NUMBERS:
        column = replace(column, reason=WRITTEN_NUMBERS)
    return replace(finding, column=column, decimal=".")


def _decide_by_neighbors(findings: list[Any], columns: list[Any], hints: Hints) -> list[Finding]:
    """Settle what is ambiguous alone (``1,234``, ``3/4/2024``) by what the other columns show."""
    marks = {finding.decimal for finding in findings if finding.decimal and not finding.ambiguous}
    orders = {finding.day_first for finding in findings if not finding.ambiguous} - {None}
    decimal = marks.pop() if len(marks) == 1 else None
    day_first = orders.pop() if len(orders) == 1 else None
    better = replace(
        hints,
        decimal=hints.decimal or decimal,
        day_first=hints.day_first if hints.day_first is not None else day_first,
    )
    if better == hints:
        return findings
    return [
        _infer(name, values, True, better) if finding.ambiguous else finding
        for finding, (name, values) in zip(findings, columns)
    ]


def _as_input(finding: Finding, names: list[str]) -> Finding:
    """A counter of the rows as whole numbers where it may be meant as an input.

    It is one beside a single other column, and R writes its row names as ``X`` in front only.
    """
    column = finding.column
    elsewhere = column.name == OF_ROW_NAMES and names[0] != OF_ROW_NAMES
    if column.reason != COUNTS_ROWS or (len(names) > 2 and not elsewhere):
        return finding
    reason = "whole numbers that count the rows"
    return replace(finding, column=replace(column, kind=Kind.INTEGER, reason=reason, format=None))


def infer_typed(name: str, values: pa.ChunkedArray) -> Finding:
    """The kind of a column with a type: numbers stay numbers, dictionaries become categories."""
    kind_of = values.type
    if pa.types.is_null(kind_of):
        return _all_missing(name, values)
    if pa.types.is_boolean(kind_of):
        return Finding(Column(name, Kind.BOOLEAN, "stored as boolean"), values)
    if pa.types.is_dictionary(kind_of):
        return _infer_dictionary(name, values)
    if pa.types.is_floating(kind_of):
        if values.null_count == len(values):
            return _all_missing(name, values)
        return Finding(Column(name, Kind.NUMBER, STORED_NUMBERS), values)
    if pa.types.is_integer(kind_of):
        return _infer_integers(name, values, "stored as whole numbers")
    return Finding(Column(name, Kind.DATETIME, "stored as dates or times"), values)


def infer_words(name: str, strings: pa.ChunkedArray) -> Finding:
    """Category, text or identifier, from how many values differ and how long they are."""
    known = strings.drop_null()
    n = len(known)
    if not n:
        return _all_missing(name, strings)
    distinct = known.unique()
    column = _words_column(name, n, distinct)
    if column.levels is None:
        return Finding(column, strings)
    return Finding(column, encode_levels(strings, column))


def infer_written(name: str, strings: pa.ChunkedArray, hints: Hints) -> Finding:
    """The kind of a column of strings from a file; see the module's text."""
    trimmed = pc.utf8_trim_whitespace(strings)
    seen = missing.words_seen(trimmed, hints.markers)
    cleaned = missing.blank(trimmed, hints.markers) if seen else trimmed
    if cleaned.null_count == len(cleaned):
        return _with_missing(_all_missing(name, strings), seen, hints)
    finding = _infer_values(name, cleaned, hints)
    if finding is not None:
        return _with_missing(finding, seen, hints)
    if hints.missing is None:
        distinct = cleaned.unique().drop_null()
        words = missing.missing_among_words(seen, distinct)
        seen = {word: seen[word] for word in words}
    words = missing.blank(trimmed, tuple(seen))
    finding = _explain_words(infer_words(name, words), words, hints)
    return _with_missing(_with_spaces(finding, strings, words), seen, hints)


def _with_spaces(finding: Finding, strings: pa.ChunkedArray, words: pa.ChunkedArray) -> Finding:
    """Text as it was written; values of other kinds are stripped of outer spaces, with a note."""
    spaced = pc.sum(pc.not_equal(strings, words)).as_py()
    if not spaced:
        return finding
    if finding.column.kind is Kind.TEXT:
        return replace(finding, values=pc.if_else(pc.is_valid(words), strings, words))
    note = f"Column {finding.column.name!r}: spaces around {counted(spaced, 'value')} left out."
    return replace(finding, notes=(*finding.notes, note))


def _infer_values(name: str, cleaned: pa.ChunkedArray, hints: Hints) -> Finding | None:
    """Numbers, booleans, dates or times, when all values are such; else None."""
    plain = numbers.read_plain(cleaned)
    if plain is not None and (pa.types.is_integer(plain.type) or hints.decimal in (None, ".")):
        return _infer_plain(name, cleaned, plain, hints)
    distinct = cleaned.unique().drop_null()
    for reader in (_read_boolean, _read_number, _read_date, _read_time):
        found = reader(name, distinct, hints)
        if found is not None:
            place = pc.index_in(cleaned, value_set=distinct)
            return replace(found, values=found.values.chunk(0).take(place))
    return None


def _infer_plain(
    name: str, strings: pa.ChunkedArray, values: pa.ChunkedArray, hints: Hints
) -> Finding:
    if pa.types.is_integer(values.type):
        packed = _read_packed_date(name, strings)
        if packed is not None:
            return packed
        return _infer_integers(name, values, "all values are whole numbers")
    if _could_be_thousands(strings):
        distinct = strings.unique().drop_null()
        found = _read_number(name, distinct, hints)
        if found is not None and found.ambiguous and hints.decimal is None:
            column = Column(name, Kind.NUMBER, WRITTEN_NUMBERS)
            return Finding(column, values, ambiguous=True)
    infinite = pc.sum(pc.is_inf(values)).as_py()
    reason = WRITTEN_NUMBERS + (f", {infinite:,} of them infinite" if infinite else "")
    evidence = "." if _shows_decimal_point(strings) else None
    return Finding(Column(name, Kind.NUMBER, reason), values, decimal=evidence)


def _could_be_thousands(strings: pa.ChunkedArray) -> bool:
    pattern = r"^[+-]?(?:[1-9]\d{0,2}\.\d{3}|\d+)$"
    return all(
        pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py()
        for part in (strings.slice(0, 100), strings)
    )


def _shows_decimal_point(strings: pa.ChunkedArray) -> bool:
    return any(
        pc.any(pc.match_substring(part, "."), min_count=0).as_py()
        for part in (strings.slice(0, 100), strings)
    )


def _infer_integers(name: str, values: pa.ChunkedArray, reason: str) -> Finding:
    why_identifier = _integer_identifier(name, values)
    if why_identifier:
        return Finding(Column(name, Kind.IDENTIFIER, why_identifier, format=WHOLE), values)
    if values.null_count == len(values):
        return _all_missing(name, values)
    return Finding(Column(name, Kind.INTEGER, reason), values)


def _integer_identifier(name: str, values: pa.ChunkedArray) -> str | None:
    n = len(values)
    named = _ID_NAME.search(name)
    coded = _CODE_NAME.search(name) and n >= FEW_ROWS
    counting = _COUNTER_NAME.search(name) and n >= FEW_ROWS
    if not (named or coded or counting) or values.null_count or n < 2:
        return None
    if pc.count_distinct(values).as_py() != n:
        return None
    if named or coded:
        return "every value occurs once and the name is that of an identifier"
    low, high = pc.min_max(values).values()
    if low.as_py() in (0, 1) and high.as_py() - low.as_py() == n - 1:
        return COUNTS_ROWS
    return None


def _infer_dictionary(name: str, values: pa.ChunkedArray) -> Finding:
    levels = tuple(values.chunk(0).dictionary.to_pylist()) if values.num_chunks else ()
    kind = Kind.ORDERED if values.type.ordered else Kind.CATEGORY
    column = Column(name, kind, f"stored as categories, {len(levels):,} levels", levels)
    return Finding(column, values)


def _read_boolean(name: str, distinct: pa.Array, hints: Hints) -> Finding | None:
    if len(distinct) > 6:
        return None
    written = distinct.to_pylist()
    words = {value.lower() for value in written}
    for pair in BOOLEAN_WORDS:
        if words == set(pair) or (len(words) == 1 and words < set(pair) and len(pair[0]) > 1):
            false, true = spelled_as(pair, written)
            values = pc.equal(pc.utf8_lower(distinct), pair[1])
            reason = f"all values are {false!r} or {true!r}"
            column = Column(name, Kind.BOOLEAN, reason, (false, true))
            return Finding(column, pa.chunked_array([values]), _merged(name, written, column))
    return None


def _merged(name: str, written: list[str], column: Column) -> tuple[str, ...]:
    """The note that says which spellings of the two words are read as one."""
    if set(written) <= set(column.levels or ()):
        return ()
    return (f"Column {name!r}: upper and lower case are one, so that {column.reason}.",)


def _read_number(name: str, distinct: pa.Array, hints: Hints) -> Finding | None:
    if _has_leading_zeros(distinct):
        return None
    ways = numbers.WAYS
    if hints.thousands is not None:
        ways = tuple(way for way in ways if way.thousands in (None, hints.thousands))
    found = numbers.read_written(distinct, decimal=hints.decimal, ways=ways)
    if found is None:
        return None
    how = found.format
    whole = pa.types.is_integer(found.values.type)
    kind = Kind.INTEGER if whole and how.unit is None else Kind.NUMBER
    values = found.values if kind is Kind.INTEGER else found.values.cast(pa.float64())
    column = Column(
        name,
        kind,
        _number_reason(how, whole, found.ambiguous),
        unit=how.unit,
        decimal=how.decimal if how.decimal != "." else None,
        thousands=how.thousands,
    )
    shows = pc.any(pc.match_substring_regex(distinct, "[.,]"), min_count=0).as_py()
    return Finding(
        column,
        pa.chunked_array([values]),
        decimal=how.decimal if shows else None,
        ambiguous=found.ambiguous,
    )


def _number_reason(how: numbers.NumberFormat, whole: bool, ambiguous: bool) -> str:
    parts = ["all values are whole numbers" if whole else "all values are numbers"]
    if how.decimal == ",":
        parts.append("with a decimal comma")
    if how.thousands is not None:
        parts.append(f"with {how.thousands!r} between thousands")
    if how.unit is not None:
        parts.append(f"in {how.unit!r}")
    reason = " ".join(parts)
    if ambiguous:
        reason += "; the mark could mean decimals or thousands: set decimal if this is wrong"
    return reason


def _has_leading_zeros(distinct: pa.Array) -> bool:
    hit = pc.match_substring_regex(distinct, numbers.LEADING_ZERO)
    return bool(pc.any(hit, min_count=0).as_py())


def _read_date(name: str, distinct: pa.Array, hints: Hints) -> Finding | None:
    found = dates.read_dates(distinct, day_first=hints.day_first)
    if found is None:
        return None
    reason = f"all values are dates written as {found.format}"
    if found.alternative:
        reason += f"; {found.alternative} would fit as well: set format if this is wrong"
    if "%y" in found.format:
        reason += "; years 69 to 99 are taken as 1969 to 1999"
    if "%z" in found.format:
        reason += "; moments are kept in UTC"
    evidence = None if found.alternative else dates.day_first_evidence(found.format)
    column = Column(name, Kind.DATETIME, reason, format=found.format)
    ambiguous = found.alternative is not None
    values = pa.chunked_array([found.values])
    return Finding(column, values, day_first=evidence, ambiguous=ambiguous)


def _read_packed_date(name: str, strings: pa.ChunkedArray) -> Finding | None:
    if not _DATE_NAME.search(name):
        return None
    distinct = strings.unique().drop_null()
    if not pc.all(pc.match_substring_regex(distinct, r"^(?:19|20)\d{6}$")).as_py():
        return None
    values = dates.parse_dates(distinct, dates.PACKED_DATE)
    if values is None:
        return None
    column = Column(
        name,
        Kind.DATETIME,
        "all values are dates written as %Y%m%d, and the name says so",
        format=dates.PACKED_DATE,
    )
    place = pc.index_in(strings, value_set=distinct)
    return Finding(column, pa.chunked_array(values.take(place).chunks, values.type))


def _read_time(name: str, distinct: pa.Array, hints: Hints) -> Finding | None:
    found = dates.read_times(distinct)
    if found is None:
        return None
    pattern, seconds = found
    column = Column(
        name,
        Kind.NUMBER,
        f"all values are times of the day written as {pattern}, kept in seconds since midnight",
        unit=SECONDS_OF_DAY,
        format=pattern,
    )
    return Finding(column, pa.chunked_array([seconds]))


def _all_missing(name: str, values: pa.ChunkedArray) -> Finding:
    reason = "has no value at all" if len(values) else "has no rows to infer a kind from"
    nothing = pa.chunked_array([pa.nulls(len(values), pa.float64())])
    return Finding(Column(name, Kind.NUMBER, reason), nothing)


def _with_missing(finding: Finding, seen: dict[str, int], hints: Hints) -> Finding:
    column = replace(finding.column, missing=_markers_to_keep(finding.column.kind, seen, hints))
    words = {word: count for word, count in seen.items() if word}
    if not words:
        return replace(finding, column=column)
    return replace(finding, column=column, blanks=words)


def _markers_to_keep(kind: Kind, seen: dict[str, int], hints: Hints) -> tuple[str, ...] | None:
    """What the schema must say so that the column is read alike again; None for the usual words."""
    if hints.missing is not None:
        return hints.missing
    signs = tuple(word for word in seen if word in missing.SIGNS)
    wordy = kind in (Kind.CATEGORY, Kind.ORDERED, Kind.TEXT, Kind.IDENTIFIER)
    return (*missing.ALWAYS[1:], *signs) if wordy and signs else None


def _words_column(name: str, n: int, distinct: pa.Array) -> Column:
    k = len(distinct)
    facts = _WordFacts.of(distinct)
    how_many = f"{k:,} distinct values in {n:,}"
    why_identifier = _word_identifier(name, n, k, facts)
    if why_identifier:
        return Column(name, Kind.IDENTIFIER, why_identifier)
    if k > MOST_LEVELS or (k > MANY_LEVELS and k > 0.1 * n):
        kind = Kind.IDENTIFIER if facts.coded else Kind.TEXT
        return Column(name, kind, f"{how_many}, too many for a category")
    if facts.long and not (k <= FEW_LEVELS and k <= 0.1 * n):
        return Column(name, Kind.TEXT, f"values of {facts.words:.1f} words on average")
    if n >= FEW_ROWS and k > FEW_LEVELS and k > 0.5 * n:
        return Column(name, Kind.TEXT, f"{how_many}, most of them occur once")
    levels = sorted_levels(distinct)
    scale = _scale_of(levels)
    if scale is not None:
        return Column(name, Kind.ORDERED, f"{how_many}, all of one scale", scale)
    return Column(name, Kind.CATEGORY, how_many, levels)


@dataclass(frozen=True)
class _WordFacts:
    words: float
    characters: float
    coded: bool

    @classmethod
    def of(cls, distinct: pa.Array) -> _WordFacts:
        words = pc.add(pc.count_substring_regex(pc.utf8_trim_whitespace(distinct), r"\s+"), 1)
        single = pc.match_substring_regex(distinct, r"^\s*\S+\s*$")
        return cls(
            words=pc.mean(words).as_py(),
            characters=pc.mean(pc.utf8_length(distinct)).as_py(),
            coded=pc.mean(single.cast(pa.float64())).as_py() >= 0.95,
        )

    @property
    def long(self) -> bool:
        return self.words >= LONG_WORDS or self.characters >= LONG_CHARACTERS


def _word_identifier(name: str, n: int, k: int, facts: _WordFacts) -> str | None:
    if k != n or n < 2 or not facts.coded:
        return None
    if _ID_NAME.search(name) or (_CODE_NAME.search(name) and n >= FEW_ROWS):
        return "every value occurs once and the name is that of an identifier"
    return None


def _scale_of(levels: tuple[str, ...]) -> tuple[str, ...] | None:
    """The levels in the order of a well-known scale, if three or more, and all, belong to it."""
    by_word = {level.strip().lower(): level for level in levels}
    if len(by_word) != len(levels) or len(levels) < 3:
        return None
    for scale in SCALES:
        if set(by_word) <= set(scale):
            return tuple(by_word[word] for word in scale if word in by_word)
    return None


def _explain_words(finding: Finding, strings: pa.ChunkedArray, hints: Hints) -> Finding:
    """Say why a column that nearly is one of numbers or dates is not, and recognise codes."""
    distinct = strings.unique().drop_null()
    n = len(strings) - strings.null_count
    if not n or finding.column.kind is Kind.NUMBER:
        return finding
    numeric = pc.match_substring_regex(distinct, numbers.PLAIN_NUMBER)
    column = finding.column
    if _contradicts_marks(column.name, distinct, hints):
        marks = {"decimal": hints.decimal, "thousands": hints.thousands}
        given = " and ".join(f"{name}={mark!r}" for name, mark in marks.items() if mark)
        reason = f"numbers, but not with {given}, kept as written"
        remedy = "Correct these options, or give the column its own marks in the schema."
        return _noted(finding, reason, remedy)
    if pc.all(numeric).as_py():
        return _explain_numeric_words(finding, strings, distinct, n)
    mixed = numbers.mixes_decimal_marks(distinct)
    if mixed is not None:
        reason = f"numbers with two decimal marks ({mixed[0]!r}, {mixed[1]!r}), kept as written"
        remedy = "Make them alike in the file, then the column is read as numbers."
        return _noted(finding, reason, remedy)
    for what, odd in (
        ("numbers", distinct.filter(pc.invert(numeric))),
        ("dates", dates.strays(distinct)),
    ):
        if odd is not None and _are_strays(odd, distinct, strings):
            shown = ", ".join(repr(value) for value in odd.slice(0, 3).to_pylist())
            row = pc.index(strings, odd[0]).as_py() + 1
            reason = f"not {what} because of {shown} (first in row {row:,})"
            remedy = "Correct such values; if they mean missing, name them in missing=[...]."
            return _noted(finding, reason, remedy)
    codes = pc.all(pc.match_substring_regex(distinct, r"^\S*\d\S*$")).as_py()
    if column.kind in (Kind.TEXT, Kind.CATEGORY) and codes and len(distinct) == n >= FEW_ROWS:
        reason = "every value occurs once and looks like a code"
        column = Column(column.name, Kind.IDENTIFIER, reason, missing=column.missing)
        return replace(finding, column=column, values=strings)
    return finding


def _are_strays(odd: pa.Array, distinct: pa.Array, strings: pa.ChunkedArray) -> bool:
    """Whether odd values are few among the values or, where few values differ, in few rows."""
    if not len(odd) or len(odd) == len(distinct):
        return False
    if len(distinct) >= 5:
        return len(odd) <= MOST_STRAYS * len(distinct)
    rows = pc.sum(pc.is_in(strings, value_set=odd)).as_py()
    return bool(rows <= RARE_ROWS * (len(strings) - strings.null_count))


def _contradicts_marks(name: str, distinct: pa.Array, hints: Hints) -> bool:
    """Whether the values would be numbers, were it not for the marks that the user gave."""
    if hints.decimal is None and hints.thousands is None:
        return False
    return _read_number(name, distinct, replace(hints, decimal=None, thousands=None)) is not None


def _explain_numeric_words(
    finding: Finding, strings: pa.ChunkedArray, distinct: pa.Array, n: int
) -> Finding:
    column = finding.column
    if _has_leading_zeros(distinct):
        why, kind = "digits with leading zeros are codes, not numbers", "integer"
    elif pc.all(pc.match_substring_regex(distinct, numbers.PLAIN_INTEGER)).as_py():
        why = "whole numbers beyond 64 bits, kept as written so that no digit is lost"
        kind = "number"
    else:
        why, kind = "numbers beyond the range of floating point, kept as written", "number"
    if column.kind is not Kind.TEXT and not (len(distinct) == n >= FEW_ROWS):
        note = f"Column {column.name!r}: {why}. If they are numbers, set kind={kind!r}."
        column = replace(column, reason=f"{why}; {column.reason}")
        return replace(finding, column=column, notes=(*finding.notes, note))
    column = Column(column.name, Kind.IDENTIFIER, why, missing=column.missing)
    return replace(finding, column=column, values=strings)


def _noted(finding: Finding, reason: str, remedy: str) -> Finding:
    column = replace(finding.column, reason=reason)
    if column.kind is Kind.IDENTIFIER:
        column = replace(column, kind=Kind.TEXT)
    note = f"Column {column.name!r}: {reason}. {remedy}"
    return replace(finding, column=column, notes=(*finding.notes, note))
