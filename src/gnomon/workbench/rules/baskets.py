"""Baskets of a table: one row for each item, or one row for each basket."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.base.given import left_out
from gnomon.workbench.rules.options import RulesOptions

FEWEST = 20
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
    found = _long(rows, options) if options.basket is not None else _wide(rows)
    if len(found.baskets) < FEWEST:
        raise DataError(
            f"there are {len(found.baskets)} baskets, and rules need at least {FEWEST}; check "
            "--basket"
        )
    return found


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
