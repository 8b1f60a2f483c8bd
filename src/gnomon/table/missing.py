"""Words that stand for a missing value.

Some always do (``NA``, ``null``, an empty cell). Some do so among numbers and dates only
(``none``), and a lone ``?`` or ``-`` does so unless the column consists of such signs (blood groups
``+`` and ``-``).
"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

ALWAYS = (
    "",
    "NA",
    "N/A",
    "n/a",
    "N.A.",
    "n.a.",
    "NaN",
    "nan",
    "NAN",
    "null",
    "NULL",
    "Null",
    "<NA>",
    "NaT",
    "#N/A",
    "#NA",
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "\\N",
)
SIGNS = ("?", "-", "--", "---", "–", "—", ".", "..", "*")
AMONG_VALUES = ("na", "none", "None", "NONE", "nil", "missing", "Missing", "unknown", "Unknown")
USUAL = ALWAYS + SIGNS + AMONG_VALUES


def given_words(option: Any) -> tuple[str, ...] | None:
    """The words that the user names in ``missing=...``: one or several, numbers as written.

    Examples
    --------
    >>> given_words("-999"), given_words([-9, "none"])
    (('-999',), ('-9', 'none'))
    """
    if option is None:
        return None
    if isinstance(option, (str, int, float)):
        option = (option,)
    return tuple(str(word) for word in option)


@lru_cache(maxsize=64)
def _as_set(words: tuple[str, ...]) -> pa.Array:
    return pa.array(words, pa.string())


def blank(strings: pa.ChunkedArray, words: tuple[str, ...]) -> pa.ChunkedArray:
    """The strings with missing values in place of the given words."""
    hit = pc.is_in(strings, value_set=_as_set(words))
    if not pc.any(hit, min_count=0).as_py():
        return strings
    return pc.if_else(hit, pa.scalar(None, pa.string()), strings)


def blank_numbers(
    values: pa.ChunkedArray, words: tuple[str, ...] | None
) -> tuple[pa.ChunkedArray, dict[str, int]]:
    """Stored numbers with missing values in place of the words that are numbers, and how many."""
    seen: dict[str, int] = {}
    for word, number in numbers_among(words).items():
        hit = pc.equal(values, pa.scalar(number, pa.float64()))
        count = pc.sum(hit).as_py()
        if count:
            seen[word] = count
            values = pc.if_else(hit, pa.scalar(None, values.type), values)
    return values, seen


def numbers_among(words: tuple[str, ...] | None) -> dict[str, float]:
    """Those of the words that are finite numbers, with their values."""
    found = {}
    for word in words or ():
        try:
            found[word] = float(word)
        except ValueError:
            continue
    return {word: number for word, number in found.items() if isfinite(number)}


def words_seen(strings: pa.ChunkedArray, words: tuple[str, ...]) -> dict[str, int]:
    """How often each of the words occurs, in the order of the words."""
    hit = pc.is_in(strings, value_set=_as_set(words))
    if not pc.any(hit, min_count=0).as_py():
        return {}
    counts = {
        entry["values"].as_py(): entry["counts"].as_py()
        for entry in pc.value_counts(strings.filter(hit))
    }
    return {word: counts[word] for word in words if word in counts}


def missing_among_words(seen: dict[str, int], distinct: pa.Array) -> tuple[str, ...]:
    """Of the usual words that occur, those that mean missing in a column of words.

    Parameters
    ----------
    seen : dict
        From `words_seen`.
    distinct : Array of string
        Distinct other values of the column.
    """
    wordy = pc.any(pc.match_substring_regex(distinct, r"[\pL\pN]"), min_count=0).as_py()
    taken = ALWAYS + SIGNS if wordy else ALWAYS
    return tuple(word for word in seen if word in taken)
