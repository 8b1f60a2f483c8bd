"""The brush: which rows are selected, as conditions on columns that all views and the table share.

A condition is ``{"column": name, "low": a, "high": b}`` or ``{"column": name, "in": [levels]}``;
all of them must hold. As SQL they can be kept as a filter, a group or a column of the table.
"""

from __future__ import annotations

import math
import re
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.table.sql import quoted
from gnomon.workbench.web.columns import GROUPED

MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
MOST_CONDITIONS, MOST_LEVELS = 20, 500  # judgement: bounds the SQL that a page can ask for


def brush_sql(brush: Any, table: Table) -> str:
    """The condition that selected rows meet, in SQL; empty where nothing is selected.

    Parameters
    ----------
    brush : list of dict
    table : Table

    Returns
    -------
    condition : str
    """
    if not isinstance(brush, list) or len(brush) > MOST_CONDITIONS:
        raise DataError("a selection is a short list of conditions")
    return " and ".join(condition_sql(each, table) for each in brush)


def condition_sql(condition: Any, table: Table) -> str:
    """One condition in SQL; refuses what is none."""
    if not isinstance(condition, dict) or not isinstance(condition.get("column"), str):
        raise DataError("a condition names its column")
    name = condition["column"]
    column = table.schema[name]
    if "in" in condition:
        levels = condition["in"]
        if not isinstance(levels, list) or not 0 < len(levels) <= MOST_LEVELS:
            raise DataError(f"a condition of {name!r} needs 1 to {MOST_LEVELS} levels")
        listed = ", ".join(level_sql(str(each), column.kind, column.levels) for each in levels)
        return f"{quoted(name)} in ({listed})"
    if column.kind in GROUPED or column.kind in (Kind.TEXT, Kind.IDENTIFIER):
        raise DataError(f"{name!r} has no low and high end: give its levels")
    low, high = (end_sql(condition.get(end), column.kind, name) for end in ("low", "high"))
    return f"{quoted(name)} >= {low} and {quoted(name)} <= {high}"


def level_sql(level: str, kind: Kind, words: tuple[str, ...] | None) -> str:
    """A level in SQL; a boolean may have words of its own."""
    if kind is Kind.BOOLEAN:
        truth = level == words[1] if words else level.lower() == "true"
        return "true" if truth else "false"
    text = level.replace("'", "''")
    return f"'{text}'"


def end_sql(value: Any, kind: Kind, name: str) -> str:
    """An end of a range in SQL."""
    if kind is Kind.DATETIME:
        found = MOMENT.match(str(value))
        if found is None:
            raise DataError(f"{str(value)[:40]!r} is no moment, for {name!r}")
        return f"timestamp '{found[0].replace('T', ' ')}'"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise DataError(f"{str(value)[:40]!r} is no number, for {name!r}")
    return repr(float(f"{value:.12g}"))


def in_words(brush: list[dict[str, Any]]) -> str:
    """What is selected, as people say it."""
    said = []
    for each in brush:
        if "in" in each:
            said.append(f"{each['column']} is {' or '.join(map(str, each['in'][:6]))}")
        else:
            ends = [f"{v:.4g}" if isinstance(v, float) else str(v)[:16] for v in
                    (each["low"], each["high"])]  # fmt: skip
            said.append(f"{each['column']} from {ends[0]} to {ends[1]}")
    return ", and ".join(said)
