"""Whole numbers that are codes of classes: the name of the column says it, and their values do.

Counts, ratings, ages and years are whole numbers too, and often few; nothing in the values tells
them from codes. So the name must be one that people give to classes, and the values must be few,
whole and often repeated.
"""

from __future__ import annotations

import re

import pyarrow.compute as pc

from gnomon.table import Kind, Table

# Judgement: MNIST has 10 classes, letters 26; more codes are rather numbers of things.
MOST_CODES = 30
FEWEST_PER_CODE = 5  # rows on average: numbers of things occur once or twice
NOUNS = re.compile(
    r"class|\w+class|label|category|type|subtype|kind|species|cultivar|variety|breed|genre|cluster"
    r"|segment|digit|diagnosis"
)
CODES = re.compile(r"id|code|no|nr|number|index|idx|\d+")
COUNTED = re.compile(r"n|num|number|no|nr|count")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def names_classes(name: str) -> bool:
    """Whether people call a column of classes so: class, Cover_Type, species_id, pclass.

    Parameters
    ----------
    name : str

    Returns
    -------
    found : bool

    Examples
    --------
    >>> [names_classes(each) for each in ("class", "Cover_Type", "n_class", "class_size", "age")]
    [True, True, False, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if len(words) > 1 and COUNTED.fullmatch(words[0]):
        return False
    if len(words) > 1 and CODES.fullmatch(words[-1]):
        words = words[:-1]
    return bool(words) and NOUNS.fullmatch(words[-1]) is not None


def are_class_codes(rows: Table, target: str) -> bool:
    """Whether the numbers of a target are taken for classes.

    Parameters
    ----------
    rows : Table
    target : str

    Returns
    -------
    found : bool
    """
    column = rows.column(target).drop_null()
    if rows.schema[target].kind not in (Kind.NUMBER, Kind.INTEGER) or not names_classes(target):
        return False
    values = pc.unique(column)
    if len(values) > MOST_CODES or len(column) < FEWEST_PER_CODE * len(values):
        return False
    return bool(pc.all(pc.equal(values, pc.floor(values))).as_py())
