"""The steps of a preparation as SQL, run by DuckDB without access to files, network or settings."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any, NamedTuple

import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.table.errors import ReadError
from gnomon.table.schema import Schema, no_such_column
from gnomon.table.sql import duckdb_table, open_duckdb, quoted
from gnomon.table.table import understood
from gnomon.workbench.prepare.options import ReshapeOptions

# Statements of the user run behind these: no file, no network, no extension, no Python variable,
# and no way to change that.
LOCKED = (
    "set enable_external_access = false",
    "set python_enable_replacements = false",
    "set lock_configuration = true",
)
NAME = re.compile(r"\s*(?:\"([^\"]+)\"|([^=\"]+?))\s*=(?!=)(.+)", re.DOTALL)


class Step(NamedTuple):
    """One step and what it left.

    Attributes
    ----------
    what : str
        In words.
    sql : str
    rows, columns : int
        Of the table after it.
    """

    what: str
    sql: str
    rows: int
    columns: int


def locked_connection(tables: dict[str, pa.Table]) -> Any:
    """A DuckDB connection that sees these tables and nothing else."""
    connection = open_duckdb()
    for name, table in tables.items():
        connection.register(f"given_{name}", table)
        connection.execute(f"create table {quoted(name)} as select * from given_{name}")
        connection.unregister(f"given_{name}")
    for line in LOCKED:
        connection.execute(line)
    return connection


def prepared(
    table: Table, other: Table | None, options: ReshapeOptions
) -> tuple[Table, list[Step], list[str]]:
    """The table after all steps, the steps, and what a person should know.

    Parameters
    ----------
    table : Table
    other : Table or None
        The joined one.
    options : ReshapeOptions

    Returns
    -------
    table : Table
    steps : list of Step
    notes : list of str
    """
    tables = {"data": plain(table.arrow)}
    if other is not None:
        tables["other"] = plain(other.arrow)
    steps: list[Step] = []
    notes: list[str] = []
    with closing(locked_connection(tables)) as connection:
        current = tables["data"]
        for what, sql in statements(options, table, other, notes, connection):
            current = run(connection, sql, current.column_names)
            connection.execute("drop table data")
            connection.register("step", current)
            connection.execute("create table data as select * from step")
            connection.unregister("step")
            steps.append(Step(what, sql, current.num_rows, current.num_columns))
    if not current.num_rows:
        raise DataError(f"no row is left after '{steps[-1].what}'; check its condition")
    return with_kinds(current, table, other, options), steps, notes


def plain(arrow: pa.Table) -> pa.Table:
    """Columns as DuckDB takes them all: categories as strings."""
    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in arrow.columns
    ]
    return pa.table(columns, names=arrow.column_names)


def run(connection: Any, sql: str, columns: list[str]) -> pa.Table:
    """The result of one SELECT; a refusal names the columns that there are."""
    import duckdb

    try:
        found = connection.extract_statements(sql)
    except duckdb.Error as error:
        first = str(error).split("\n")[0]
        raise DataError(f"this is no SQL: {first} In: {sql}") from None
    if len(found) != 1 or found[0].type.name != "SELECT":
        raise DataError(f"one SELECT is allowed, and this is none: {sql}")
    try:
        return duckdb_table(connection, sql)
    except ReadError as error:
        first = str(error).split("\n")[0]
        listed = ", ".join(columns[:12]) + (" ..." if len(columns) > 12 else "")
        raise DataError(f"{first} In: {sql}. The columns are {listed}") from None


def statements(
    options: ReshapeOptions, table: Table, other: Table | None, notes: list[str], connection: Any
) -> Any:
    """The steps in words and in SQL, one after the other; each sees the table `data` so far."""
    if other is not None:
        yield _join(options, table, other, notes, connection)
    for each in options.derive:
        name, expression = named(each, "derive")
        rest = f"exclude ({quoted(name)})" if name in _columns(connection) else ""
        yield (
            f"derive {name} = {expression}",
            f"select * {rest}, {expression} as {quoted(name)} from data",
        )
    for condition in options.where:
        yield f"keep rows where {condition}", f"select * from data where ({condition})"
    if options.pivot is not None:
        yield _pivot(options, connection)
    elif options.group_by or options.total:
        yield _group(options, connection)
    if options.query is not None:
        yield "query", options.query.strip().rstrip(";")
    if options.select:
        _require(options.select, connection)
        yield "select columns", f"select {_listed(options.select)} from data"
    if options.without:
        _require(options.without, connection)
        yield "leave out columns", f"select * exclude ({_listed(options.without)}) from data"
    if options.sort:
        keys = [_sort_key(each, connection) for each in options.sort]
        yield f"sort by {', '.join(options.sort)}", f"select * from data order by {', '.join(keys)}"


def _columns(connection: Any) -> list[str]:
    return [row[0] for row in connection.execute("describe data").fetchall()]


def _require(names: list[str], connection: Any) -> None:
    there = _columns(connection)
    for name in names:
        if name not in there:
            raise no_such_column(name, there)


def _listed(names: list[str]) -> str:
    return ", ".join(map(quoted, names))


def named(text: str, option: str) -> tuple[str, str]:
    """Name and expression of ``NAME=EXPRESSION``."""
    found = NAME.fullmatch(text)
    if found is None:
        raise DataError(f"{option}={text!r}: give NAME=EXPRESSION, such as 'total=price*pieces'")
    return (found[1] or found[2]).strip(), found[3].strip()


def _join(
    options: ReshapeOptions, table: Table, other: Table, notes: list[str], connection: Any
) -> tuple[str, str]:
    if not options.on:
        common = [name for name in table.columns if name in other.columns]
        raise DataError(
            "join needs on: the columns by which rows belong together"
            + (f", such as {', '.join(common)}" if common else "; the tables have none in common")
        )
    for name in options.on:
        for each in (table, other):
            if name not in each:
                raise no_such_column(name, each.columns)
    keys = _listed(options.on)
    ((alone, double),) = connection.execute(
        f"select (select count(*) from data anti join other using ({keys})), "
        f"(select count(*) from (select {keys} from other group by all having count(*) > 1))"
    ).fetchall()
    if alone:
        notes.append(
            f"{alone:,} of {len(table):,} rows have no partner in the joined file"
            + (" and are left out." if options.how == "inner" else ": its columns are empty there.")
        )
    if double:
        notes.append(
            f"{double:,} values of {', '.join(options.on)} occur more than once in the joined file"
            ": their rows are repeated."
        )
    clash = [n for n in other.columns if n in table.columns and n not in options.on]
    taken = ", ".join(
        f"other.{quoted(n)} as {quoted(f'{n} (joined)')}" if n in clash else f"other.{quoted(n)}"
        for n in other.columns
        if n not in options.on
    )
    columns = f"data.*{', ' + taken if taken else ''}"
    how = "left" if options.how == "left" else "inner"
    return (
        f"join by {', '.join(options.on)}",
        f"select {columns} from data {how} join other using ({keys})",
    )


def _group(options: ReshapeOptions, connection: Any) -> tuple[str, str]:
    _require(options.group_by, connection)
    totals = [named(each, "total") for each in options.total] or [("rows", "count(*)")]
    made = ", ".join(f"{expression} as {quoted(name)}" for name, expression in totals)
    keys = _listed(options.group_by)
    if not keys:
        return "totals", f"select {made} from data"
    return (
        f"group by {', '.join(options.group_by)}",
        f"select {keys}, {made} from data group by {keys} order by {keys}",
    )


# Judgement: each value becomes a column; more is mostly a number or an identifier.
MOST_PIVOTED = 1_000


def _pivot(options: ReshapeOptions, connection: Any) -> tuple[str, str]:
    if not options.group_by:
        raise DataError("pivot needs group_by: the columns that name the rows")
    pivot = str(options.pivot)
    _require([pivot, *options.group_by], connection)
    values = connection.execute(
        f"select distinct {quoted(pivot)} from data where {quoted(pivot)} is not null order by 1"
    ).fetchall()
    if len(values) > MOST_PIVOTED:
        raise DataError(f"{pivot!r} has {len(values):,} values; at most {MOST_PIVOTED} are pivoted")
    keys = _listed(options.group_by)
    cells = ", ".join(
        f"{options.value} filter (where {quoted(pivot)} = {literal(value)}) as {quoted(str(value))}"
        for (value,) in values
    )
    return (
        f"pivot {pivot}: {options.value}",
        f"select {keys}, {cells} from data group by {keys} order by {keys}",
    )


def literal(value: Any) -> str:
    """A value as SQL writes it."""
    if isinstance(value, bool | int | float):
        return str(value)
    text = str(value).replace("'", "''")
    return f"'{text}'"


def _sort_key(text: str, connection: Any) -> str:
    name, _, way = text.rpartition(" ")
    if way.lower() not in ("asc", "desc") or not name:
        name, way = text, "asc"
    _require([name], connection)
    return f"{quoted(name)} {way}"


def with_kinds(
    arrow: pa.Table, table: Table, other: Table | None, options: ReshapeOptions
) -> Table:
    """The result with the kinds of the columns that came through as they were."""
    changed = {named(each, "derive")[0] for each in options.derive}
    changed |= {named(each, "total")[0] for each in options.total}
    if options.query is not None or options.pivot is not None:
        changed |= set(arrow.column_names)
    known: dict[str, tuple[Any, Any]] = {}
    for each in (other, table):
        if each is not None:
            source = plain(each.arrow)
            known |= {c.name: (c, source.schema.field(c.name).type) for c in each.schema}
    kept = [
        known[name][0]
        for name in arrow.column_names
        if name in known and name not in changed and known[name][1] == arrow.schema.field(name).type
    ]
    return understood(arrow, Schema(kept) if kept else None)
