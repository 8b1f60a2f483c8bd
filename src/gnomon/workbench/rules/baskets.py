"""Baskets of a table: one row for each item, or one row for each basket."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.base.given import left_out
from gnomon.workbench.rules.options import RulesOptions

FEWEST = 20  # judgement: with fewer baskets hardly a rule passes the corrected test
# A column with more levels has names rather than kinds, and no level is frequent.
MOST_LEVELS = 100


class Baskets(NamedTuple):
    """The baskets of a table.

    Attributes
    ----------
    baskets : list of list of str
    notes : list of str
        What was taken as an item, and what was not.
    """

    baskets: list[list[str]]
    notes: list[str]


def baskets_of(table: Table, options: RulesOptions) -> Baskets:
    """The baskets of a table in either form.

    Parameters
    ----------
    table : Table
    options : RulesOptions

    Returns
    -------
    found : Baskets
    """
    if (options.basket is None) != (options.item is None):
        raise DataError("give both basket and item (one row for each item), or neither")
    for name in (options.basket, options.item):
        if name is not None and name not in table:
            raise no_such_column(name, table.columns)
    rows = left_out(table, options.without, [options.basket, options.item])
    notes = []
    if options.basket is None and (pair := _basket_and_item(rows)) is not None:
        options.basket, options.item = pair
        notes.append(
            f"Each row is read as one item: basket {pair[0]!r}, item {pair[1]!r}; --basket and "
            "--item take other columns."
        )
    found = _long(rows, options) if options.basket is not None else _wide(rows)
    if len(found.baskets) < FEWEST:
        raise DataError(
            f"there are {len(found.baskets)} baskets, and rules need at least {FEWEST}; check "
            "--basket"
        )
    return found._replace(notes=[*notes, *found.notes])


def _basket_and_item(table: Table) -> tuple[str, str] | None:
    """The columns of a table of two that has one row for each item; None where it has not.

    The rows of a basket then follow each other, and no item is in it twice.
    """
    if len(table.columns) != 2:
        return None
    items = [each.name for each in table.schema if each.kind.has_levels]
    item = items[-1] if items else ""
    basket = next((name for name in table.columns if name != item), "")
    if not items or table.schema[basket].kind in (Kind.BOOLEAN, Kind.TEXT):
        return None
    pairs = list(zip(*(table.column(name).to_pylist() for name in (basket, item)), strict=True))
    n_baskets = sum(1 for _ in groupby(pairs, key=lambda pair: pair[0]))
    follow_each_other = n_baskets == len({each[0] for each in pairs})
    is_long = FEWEST <= n_baskets < len(pairs) == len(set(pairs)) and follow_each_other
    return (basket, item) if is_long else None


def _long(table: Table, options: RulesOptions) -> Baskets:
    names = table.column(str(options.basket)).to_pylist()
    items = table.column(str(options.item)).to_pylist()
    members: dict[object, list[str]] = {}
    missing = 0
    for name, item in zip(names, items, strict=True):
        if name is None or item is None:
            missing += 1
            continue
        members.setdefault(name, []).append(str(item))
    notes = []
    if missing:
        notes.append(f"{missing:,} rows without a basket or an item are not used.")
    if len(members) == len(names) - missing:
        notes.append(
            f"Every row is a basket of its own: {options.basket!r} may be the wrong column."
        )
    return Baskets(list(members.values()), notes)


def _wide(table: Table) -> Baskets:
    """Baskets of a table with one row each."""
    baskets: list[list[str]] = [[] for _ in range(len(table))]
    unused = []
    for column in table.schema:
        name, kind = column.name, column.kind
        values = table.column(name).to_pylist()
        levels = {value for value in values if value is not None}
        if kind is Kind.BOOLEAN or (kind.is_numeric and levels <= {0, 1}):
            for row in np.flatnonzero([bool(value) for value in values]).tolist():
                baskets[row].append(name)
        elif kind.has_levels and 1 < len(levels) <= MOST_LEVELS:
            for row, value in enumerate(values):
                if value is not None:
                    baskets[row].append(f"{name}={value}")
        else:
            unused.append(f"{name} ({kind})")
    if len(unused) == len(table.columns):
        raise DataError(
            "no column is true or false, 0 or 1, or a category. Where each row is one item, give "
            "--basket and --item"
        )
    notes = [f"Not items: {', '.join(unused)}."] if unused else []
    return Baskets(baskets, notes)
