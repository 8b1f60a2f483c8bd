"""Columns of any table as codes of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table import Table


def coded_columns(
    data: Any,
    columns: Sequence[str] | None = None,
    levels: Mapping[str, Sequence] | None = None,
) -> tuple[dict[str, np.ndarray], dict[str, tuple]]:
    """Codes 0, 1 ... of the values of each column (-1: missing), and the values.

    Values are in the order of ``levels`` where given (others are refused), sorted otherwise.
    """
    table = Table.from_frame(data)
    names = table.columns if columns is None else tuple(columns)
    absent = [name for name in names if name not in table]
    if absent:
        raise DataError(
            f"there are no columns {', '.join(map(repr, absent))}; there are "
            f"{', '.join(map(repr, table.columns))}"
        )
    codes: dict[str, np.ndarray] = {}
    found: dict[str, tuple] = {}
    for name in names:
        cells = table.column(name).to_pylist()
        cells = [None if cell is None or cell != cell else cell for cell in cells]
        given = None if levels is None else levels.get(name)
        found[name] = _values(cells, name) if given is None else tuple(given)
        place = {value: i for i, value in enumerate(found[name])} | {None: -1}
        strange = next((cell for cell in cells if cell not in place), None)
        if strange is not None:
            raise DataError(
                f"the column {name!r} has the value {strange!r}, which is none of its levels "
                f"{', '.join(map(repr, found[name]))}; add it to the levels"
            )
        codes[name] = np.array([place[cell] for cell in cells], dtype=np.int64)
    return codes, found


def _values(cells: list, name: str) -> tuple:
    values = {cell for cell in cells if cell is not None}
    if not values:
        raise DataError(f"the column {name!r} has no value at all; give its levels")
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
