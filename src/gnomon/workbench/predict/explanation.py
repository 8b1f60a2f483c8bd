"""Why a row is predicted as it is, and what would be predicted if some of its columns were others.

Texts: 003 2.5 (explaining a decision) · 004 4.1 (models that can be read).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.evaluate import Contributions, contributions
from gnomon.table import Kind, Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.predict.job import matched, said_columns

BACKGROUND = 100  # training rows to compare with: errors of a hundredth of the spread
MOST_EXPLAINED = 100  # judgement: each row costs predictions of many mixtures with background rows
MOST_OUTCOMES = 10_000  # judgement: a grid of changes that is predicted at once


def explained(model: Any, rows: Table, sample: Table, **options: Any) -> Contributions:
    """Contributions of the columns to the predictions of rows, against some training rows.

    Parameters
    ----------
    model : fitted estimator
    rows : Table
        At most 100, as each takes thousands of predictions.
    sample : Table
        Training rows.
    **options
        Of `gnomon.evaluate.contributions`.

    Returns
    -------
    found : Contributions
    """
    if len(rows) > MOST_EXPLAINED:
        raise DataError(
            f"{len(rows):,} rows are too many to explain one by one; give {MOST_EXPLAINED} or fewer"
        )
    inputs, _ = matched(model, rows, sample.schema)
    background = sample.select(inputs.columns)
    if len(background) > BACKGROUND:
        taken = np.random.default_rng(0).choice(len(background), BACKGROUND, replace=False)
        background = background[np.sort(taken)]
    return contributions(model, inputs, background.with_schema(inputs.schema), **options)


def typical_row(sample: Table) -> Table:
    """A row of medians, commonest categories and middle dates, to change columns of."""
    cells = {}
    for column in sample.schema:
        known = sample.column(column.name).drop_null()
        if not len(known):
            cells[column.name] = sample.column(column.name)[:1]
        elif column.kind in (Kind.NUMBER, Kind.INTEGER, Kind.DATETIME):
            order = pc.sort_indices(known)
            cells[column.name] = known.take(order[len(known) // 2 : len(known) // 2 + 1])
        else:
            cells[column.name] = commonest(known)
    return Table(pa.table(cells), sample.schema)


def commonest(known: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first cell that has the commonest value of a column."""
    plain = known.cast(known.type.value_type) if pa.types.is_dictionary(known.type) else known
    counts = pc.value_counts(plain)
    best = max(counts.to_pylist(), key=lambda each: (each["counts"], str(each["values"])))
    place = pc.index(plain, best["values"]).as_py()
    return known[place : place + 1]


def outcomes(model: Any, sample: Table, changes: dict[str, Any], row: Table | None = None) -> Table:
    """What is predicted where columns of a row take other values, all combinations of them.

    Parameters
    ----------
    model : fitted estimator
    sample : Table
        Training rows: they say what the columns are, and what a typical row is.
    changes : dict of str to value or list of values
    row : Table, default=None
        Rows to change; by default a typical one.

    Returns
    -------
    found : Table
        The changed columns, then the predictions; ``row`` where several were given.
    """
    base = typical_row(sample) if row is None else row
    for name in changes:
        if name not in sample.columns:
            raise no_such_column(name, sample.columns)
    lists = {
        name: list(each) if isinstance(each, list | tuple) else [each]
        for name, each in changes.items()
    }
    combined = list(product(*lists.values()))
    n = len(combined) * len(base)
    if not changes or n > MOST_OUTCOMES:
        raise DataError(f"{n:,} outcomes were requested; there may be 1 to {MOST_OUTCOMES:,}")
    places = np.repeat(np.arange(len(base)), len(combined))
    rows = base[places]
    found: dict[str, list[Any]] = {}
    if len(base) > 1:
        found["row"] = (places + 1).tolist()
    for name, values in zip(lists, zip(*combined)):
        cells = [number_or_word(each, sample, name) for each in values] * len(base)
        rows = rows.with_column(name, pa.array(cells), kind=sample.schema[name].kind)
        found[name] = cells
    inputs, _ = matched(model, rows, sample.schema)
    return Table.from_dict(found | said_columns(model, inputs))


def number_or_word(value: Any, sample: Table, name: str) -> Any:
    """A value of the command line as the column has it."""
    kind = sample.schema[name].kind
    if not isinstance(value, str) or kind not in (Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN):
        return value
    if kind is Kind.BOOLEAN:
        truths = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.lower() not in truths:
            raise DataError(f"{name}={value!r}: the column is true or false")
        return truths[value.lower()]
    try:
        return int(value) if kind is Kind.INTEGER else float(value)
    except ValueError:
        raise DataError(f"{name}={value!r}: the column holds numbers") from None


def changes_of(words: list[str]) -> dict[str, list[str]]:
    """``["price=10,20", "day=mon"]`` as values by column."""
    found: dict[str, list[str]] = {}
    for word in words:
        name, sign, values = word.partition("=")
        if not sign or not values:
            raise DataError(f"--set {word}: write COLUMN=VALUE, or COLUMN=VALUE,VALUE")
        found[name.strip()] = [each.strip() for each in values.split(",")]
    return found
