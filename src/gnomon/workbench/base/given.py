"""What a user gives to a job, as a table: a file, a frame, an array, rows and target apart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table, example, read
from gnomon.table.schema import no_such_column
from gnomon.table.sql import is_postgres, without_secret

TARGET = "target"
# how a file is read, beside its place; each is a flag of every command that reads a table
READING = ("sheet", "table", "sql", "encoding", "member", "kind")


class NamedSource(str):
    """Where a table can be read again, and what people call that table.

    Examples
    --------
    >>> NamedSource("session/tables/7.arrow", "customers, changed in this session").called
    'customers, changed in this session'
    """

    called: str

    def __new__(cls, source: str, called: str) -> NamedSource:
        made = super().__new__(cls, source)
        made.called = called
        return made


def source_of(table: Any) -> str | None:
    """Where a table can be read again: a path, an example, a URL without its password; or None."""
    if not isinstance(table, (str, os.PathLike)):
        return None
    text = os.fspath(table)
    if text.startswith("example:"):
        return text
    place, options = split_source(text)
    if is_postgres(place):
        return with_reading(without_secret(place), options)
    return with_reading(str(Path(place).resolve()), options)


def with_reading(place: str, options: Mapping[str, Any]) -> str:
    """A place with the options that it is read with, as one string: ``x.xlsx#sheet=May``.

    Parameters
    ----------
    place : str
        A path or a URL.
    options : dict
        Of `READING`; ``kind`` is a list of ``COLUMN=KIND``.

    Returns
    -------
    source : str
    """
    given = {name: options[name] for name in READING if options.get(name)}
    return f"{place}#{urlencode(given, doseq=True)}" if given else place


def split_source(source: str) -> tuple[str, dict[str, Any]]:
    """The place and the reading options of a source that `with_reading` made."""
    place, mark, rest = source.rpartition("#")
    found = parse_qs(rest) if mark and not Path(source).exists() else {}
    if not found or set(found) - set(READING):
        return source, {}
    return place, {name: each if name == "kind" else each[0] for name, each in found.items()}


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `gnomon.read` for reading options; kinds are a schema."""
    found = {name: value for name, value in options.items() if name != "kind"}
    if options.get("kind"):
        found["schema"] = dict(_kind_of(each) for each in options["kind"])
    return found


def _kind_of(text: str) -> tuple[str, str]:
    name, mark, kind = text.rpartition("=")
    if not mark or not name or kind not in list(Kind):
        raise DataError(
            f"--kind {text!r}: give COLUMN=KIND, where the kind is one of {', '.join(Kind)}"
        )
    return name, kind


def as_table(table: Any) -> Table:
    """A table from whatever the user gave; the columns of an array are x0, x1, and so on."""
    if isinstance(table, Table):
        return table
    if isinstance(table, (str, os.PathLike)):
        text = os.fspath(table)
        if text.startswith("example:"):
            return example(text.removeprefix("example:"))
        place, options = split_source(text)
        if Path(place).is_dir():
            from gnomon.vision import picture_table

            return picture_table(place)
        return read(place, **read_options(options))
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise DataError(f"X has rows and columns, and this array is of shape {table.shape}")
        return Table.from_dict({f"x{j}": table[:, j] for j in range(table.shape[1])})
    return Table.from_frame(table)


def with_target(table: Any, target: Any) -> tuple[Table, str]:
    """The table that has the target as a column, and the name of that column.

    Parameters
    ----------
    table : Table, data frame, array of shape (n, d), or path of a file
    target : str, or array-like of shape (n,)
        A column's name, or the column itself, which takes the name of the series or ``"target"``.

    Returns
    -------
    table : Table
    target : str
    """
    rows = as_table(table)
    if isinstance(target, str):
        return rows, target
    shape = np.shape(target)
    if len(shape) != 1:
        what = f"is of shape {shape}" if shape else f"is {target!r}"
        raise DataError(
            f"the target {what}: give the name of a column as a string, or one column of values"
        )
    if len(target) != len(rows):
        raise DataError(f"X has {len(rows):,} rows and the target {len(target):,}")
    require_same_labels(table, target)
    name = getattr(target, "name", None)
    name = TARGET if name is None else str(name)
    if name in rows.columns:
        raise DataError(
            f"X has a column {name!r}, as the target is called. If it is the target, give its name "
            f"alone: target={name!r}; if not, give one of them another name"
        )
    return rows.with_column(name, target), name


def left_out(rows: Table, names: Sequence[str], needed: Sequence[str | None] = ()) -> Table:
    """The table without some columns; refuses names that it does not have or that are needed.

    Parameters
    ----------
    rows : Table
    names : sequence of str
    needed : sequence of str or None
        Columns that have another part to play, such as the target.

    Returns
    -------
    rows : Table
    """
    for name in names:
        if name not in rows.columns:
            raise no_such_column(name, rows.columns)
        if name in needed:
            raise DataError(f"without={name!r}: this column is needed, and cannot be left out")
    return rows.drop(list(names)) if names else rows


def require_same_labels(table: Any, target: Any) -> None:
    """Refuse rows and target whose labels (of pandas) differ: which belongs to which is unsaid."""
    labels, others = getattr(table, "index", None), getattr(target, "index", None)
    if labels is None or not hasattr(others, "equals") or labels.equals(others):
        return
    raise DataError(
        "X and the target have different row labels (index). Give y.loc[X.index] if rows belong "
        "together by label, y.to_numpy() if by position"
    )
