"""Data bases: SQLite files, DuckDB files and queries, PostgreSQL by URL."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import pyarrow as pa

from gnomon.engine import memory
from gnomon.table.columnar import selected
from gnomon.table.errors import ReadError
from gnomon.table.frames import arrow_of, arrow_of_rows, native
from gnomon.table.names import repaired
from gnomon.table.schema import Schema
from gnomon.table.source import ByteSource
from gnomon.table.table import Table, understood

# of a DuckDB file, whose views may name any file: nothing outside it is read
CLOSED: dict[str, Any] = {"enable_external_access": "false", "lock_configuration": "true"}
NO_DOWNLOADS: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
READING = ("SELECT", "MULTI")  # EXPLAIN ANALYZE runs what it explains; PRAGMA and CALL can write
# what SQLite may be asked: other actions (ATTACH among them) write files or change the connection
SQLITE_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
ROWS_AT_A_TIME = 10_000  # judgement: rows come as Python tuples, ten times the size of columns
DUCKDB_ROWS = 2**14  # of a batch, so that the memory limit is compared before long texts add up
BATCH_BYTES = 2**24  # a batch ends early where its cells are long
# one cell of SQLite may have this share of the memory limit: a view can make one of any length
CELL_SHARE, LONG_CELL = 16, 10**6
STEPS_TO_SIGNALS = 10_000_000  # of SQLite's machine, after which Python sees Ctrl-C: 0.1 s
SMALLER = "Ask for fewer rows or columns with sql=..., or stream it with gnomon.table.scan."
# what follows a host, where no name and password stand before it
PORT = re.compile(r"[^:/?\[]*(:\d+)?([/?]|$)|\[")
HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]@]*)(:\d*)?")
BARE_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
# an option of a URL that holds a password, to the next option
PASSWORD = re.compile(r"([?&][^=&?]*pass[^=&]*)=.*?(?=&[^&=]+=|$)", re.IGNORECASE)
BYTES_PER_VALUE = 60  # a Python number or short text and its place in a row


def read_sql(schema: Schema | None, options: dict[Any, Any]) -> Table:
    """The result of a query that DuckDB runs here, over files and over the frames in ``tables``."""
    query = only(options, {"sql", "tables"}, "sql")
    with closing(open_duckdb(tables=options.get("tables"))) as connection:
        return understood(duckdb_table(connection, query), schema)


def read_duckdb(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A table or a query of a DuckDB file, opened for reading only."""
    with closing(open_duckdb(source)) as connection:
        query, notes = duckdb_query(connection, options, source.name)
        arrow = duckdb_table(connection, query, source.name)
    if columns is not None:
        arrow = selected(arrow, columns)
    return understood(arrow, schema, notes=notes)


def read_sqlite(
    source: ByteSource, schema: Schema | None, options: dict[Any, Any], columns: Any = None
) -> Table:
    """A table or a query of an SQLite file, opened for reading only."""
    with closing(open_sqlite(source)) as connection:
        query, notes = sqlite_query(connection, options, source.name)
        names, batches = sqlite_batches(connection, query, source.name)
        rows = _held(batches, source.name)
    names, repairs = repaired(names)
    arrow, told = arrow_of_rows(names, rows)
    if columns is not None:
        arrow = selected(arrow, columns)
    return understood(arrow, schema, parse=True, notes=[*notes, *repairs, *told])


def read_postgres(url: str, schema: Schema | None, options: dict[Any, Any]) -> Table:
    """A table or a query of a PostgreSQL data base; needs psycopg."""
    shown = without_password(url)
    names, batches, notes = postgres_batches(url, options, shown)
    rows = _held(batches, shown)
    names, repairs = repaired(names)
    arrow, told = arrow_of_rows(names, rows)
    return understood(arrow, schema, parse=True, notes=[*notes, *repairs, *told])


def open_duckdb(source: ByteSource | None = None, tables: dict[Any, Any] | None = None) -> Any:
    """A connection that never fetches an extension."""
    import duckdb

    try:
        if source is None:
            connection = duckdb.connect(":memory:", config=NO_DOWNLOADS)
        else:
            if source.path is None:
                raise ReadError("a DuckDB data base must be a file on disk", file=source.name)
            config = NO_DOWNLOADS | CLOSED | {"memory_limit": f"{memory.limit()}B"}
            connection = duckdb.connect(str(source.path), read_only=True, config=config)
    except duckdb.Error as error:
        name = source.name if source else None
        raise ReadError(f"DuckDB cannot open it: {error}", file=name) from error
    for name, frame in (tables or {}).items():
        connection.register(name, arrow_of(native(frame)))
    return connection


def duckdb_batches(
    connection: Any, query: str, file: str | None = None
) -> Iterator[pa.RecordBatch]:
    """The result of a query, batch by batch; a refusal by DuckDB is a `ReadError`.

    The first batch may be empty: it tells the types of a result without rows.
    """
    import duckdb

    try:
        for statement in connection.extract_statements(query):
            if statement.type.name not in READING:
                what = statement.type.name
                raise ReadError(f"{what} gives no table", file=file, remedy="Write a SELECT.")
        relation = connection.sql(query)
        if relation is None:
            raise ReadError("the statement gives no table", file=file, remedy="Write a SELECT.")
        reader = relation.to_arrow_reader(DUCKDB_ROWS)
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from reader
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise ReadError(f"the query failed: {error}", file=file) from error


def duckdb_table(connection: Any, query: str, file: str | None = None) -> pa.Table:
    """The whole result of a query; one that memory cannot hold is refused as it grows."""
    batches, size = [], 0
    for batch in duckdb_batches(connection, query, file):
        batches.append(batch)
        size += batch.nbytes
        memory.require(size, f"The result of the query on {file or 'the tables'}", SMALLER)
    return pa.Table.from_batches(batches)


def duckdb_query(connection: Any, options: dict[Any, Any], file: str) -> tuple[str, list[str]]:
    """The query for what the options ask of a DuckDB file."""
    found = connection.execute(
        "select table_name from information_schema.tables order by table_name"
    ).fetchall()
    return _query(options, [name for (name,) in found], file)


def open_sqlite(source: ByteSource) -> sqlite3.Connection:
    """A connection for reading only."""
    if source.path is None:
        raise ReadError("an SQLite data base must be a file on disk", file=source.name)
    uri = source.path.resolve().as_uri() + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute("pragma trusted_schema = off")
    longest = max(memory.limit() // CELL_SHARE, LONG_CELL)
    connection.setlimit(
        sqlite3.SQLITE_LIMIT_LENGTH,
        min(longest, connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)),
    )
    connection.set_progress_handler(lambda: 0, STEPS_TO_SIGNALS)
    connection.set_authorizer(_only_reading)
    return connection


def _only_reading(action: int, first: str | None, second: str | None, *_: Any) -> int:
    """What SQLite asks before it does anything: reads are allowed, and no extension is loaded."""
    is_loading = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
    allowed = action in SQLITE_READS and not is_loading
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _size(row: tuple[Any, ...]) -> int:
    """Bytes of a row's cells."""
    texts = sum(len(value) for value in row if isinstance(value, (str, bytes)))
    return texts + BYTES_PER_VALUE * len(row)


def _held(batches: Any, file: str) -> list[tuple[Any, ...]]:
    """All rows; refused while they come where memory cannot hold them, as a view may be endless."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    with closing(batches):
        for batch in batches:
            rows += batch
            size += sum(map(_size, batch))
            memory.require(size, f"The rows of {file}", SMALLER)
    return rows


def sqlite_query(
    connection: sqlite3.Connection, options: dict[Any, Any], file: str
) -> tuple[str, list[str]]:
    """The query for what the options ask of an SQLite file."""
    try:
        found = connection.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite_%' order by name"
        ).fetchall()
    except sqlite3.Error as error:
        raise ReadError(f"SQLite cannot read it: {error}", file=file) from error
    return _query(options, [name for (name,) in found], file)


def sqlite_batches(
    connection: sqlite3.Connection, query: str, file: str
) -> tuple[list[str], Iterator[list[tuple[Any, ...]]]]:
    """Names of the columns, and the rows some thousands at a time."""
    try:
        cursor = connection.execute(query)
    except sqlite3.Error as error:
        raise ReadError(f"the query failed: {error}", file=file) from error
    if cursor.description is None:
        raise ReadError("the statement gives no table", file=file, remedy="Write a SELECT.")
    return [entry[0] for entry in cursor.description], _fetched(cursor, file, sqlite3.Error)


def postgres_batches(
    url: str, options: dict[Any, Any], shown: str
) -> tuple[list[str], Iterator[list[tuple[Any, ...]]], list[str]]:
    """Names, rows some thousands at a time, and notes of a PostgreSQL table or query."""
    try:
        import psycopg
    except ImportError:
        raise ReadError(
            "reading PostgreSQL needs its driver, psycopg",
            file=shown,
            remedy="Install it: pip install 'gnomon[postgres]'.",
        ) from None
    only(options, {"table", "sql"}, None)
    require_understood(url, shown)
    with contextlib.ExitStack() as owned:
        try:
            connection = psycopg.connect(url)
            owned.callback(connection.close)
            found = connection.execute(
                "select table_name from information_schema.tables "
                "where table_schema not in ('pg_catalog', 'information_schema') order by table_name"
            ).fetchall()
            query, notes = _query(options, [name for (name,) in found], shown)
            if options.get("sql") is None and (key := _whole_key(connection, query)) is not None:
                query = f"{query} order by {quoted(key)}"  # the same order in every pass
            cursor = connection.cursor(name="gnomon")
            owned.callback(cursor.close)
            cursor.itersize = ROWS_AT_A_TIME
            cursor.execute(query)
        except psycopg.Error as error:
            raise ReadError(f"PostgreSQL refused: {error}", file=shown) from error
        owned.pop_all()  # what is fetched closes them
    names = [entry.name for entry in cursor.description or ()]
    return names, _fetched(cursor, shown, psycopg.Error, connection), notes


def require_understood(url: str, shown: str) -> None:
    """Refuse a URL that the driver cannot take apart: its messages quote parts of the password."""
    rest = url.partition("://")[2]
    after_user = rest[rest.partition("/")[0].find("@") + 1 :]
    place, _, query = after_user.partition("?")
    hosts = place.partition("/")[0].split(",")
    are_hosts = all(HOST.fullmatch(each) for each in hosts)
    are_options = all("=" in each for each in query.split("&") if each)
    if not (are_hosts and are_options) or BARE_PERCENT.search(url):
        raise ReadError(
            "the URL is not understood",
            file=shown,
            remedy="Write special characters of a user or a password as %XX, such as %40 for @.",
        )


def key_ranges(url: str, options: dict[Any, Any], shown: str, n: int) -> list[str] | None:
    """Queries for about n ranges of the primary key, which together give the table in its order.

    None for a query, and for a table without a primary key of one column of whole numbers.
    """
    if options.get("sql") is not None:
        return None
    import psycopg

    try:
        with psycopg.connect(url) as connection:
            tables = connection.execute(
                "select table_name from information_schema.tables "
                "where table_schema not in ('pg_catalog', 'information_schema') order by table_name"
            ).fetchall()
            query, _ = _query(options, [name for (name,) in tables], shown)
            key = _whole_key(connection, query)
            if key is None:
                return None
            ends: Any = f"select min({quoted(key)}), max({quoted(key)}) from ({query}) as t"
            low, high = connection.execute(ends).fetchone() or (None, None)
    except psycopg.Error as error:
        raise ReadError(f"PostgreSQL refused: {error}", file=shown) from error
    if low is None or high is None:
        return None
    n = max(min(n, high - low + 1), 1)
    borders = [low + (high + 1 - low) * part // n for part in range(n + 1)]
    name = quoted(key)
    return [
        f"{query} where {name} >= {start} and {name} < {stop} order by {name}"
        for start, stop in pairwise(borders)
    ]


def _whole_key(connection: Any, query: str) -> str | None:
    """The primary key of a table that is read whole, where it is one column of whole numbers."""
    table = query.removeprefix("select * from ")
    found = connection.execute(
        "select a.attname, a.atttypid::regtype::text from pg_index i join pg_attribute a "
        "on a.attrelid = i.indrelid and a.attnum = any(i.indkey) "
        "where i.indrelid = to_regclass(%s) and i.indisprimary",
        (table,),
    ).fetchall()
    if len(found) != 1 or found[0][1] not in ("smallint", "integer", "bigint"):
        return None
    return str(found[0][0])


def without_password(url: str) -> str:
    """The URL for messages and records.

    Examples
    --------
    >>> without_password("postgresql://ann:secret@host/db")
    'postgresql://ann:***@host/db'
    >>> without_password("postgresql://ann:p@ss/w@host/db?sslmode=require&password=secret")
    'postgresql://ann:***@host/db?sslmode=require&password=***'
    """
    scheme, separator, rest = url.partition("://")
    # as the driver reads it, a name and password end at an @ before the first slash; one after it
    # belongs to a password that holds a slash, which the driver refuses
    end = max(rest.partition("/")[0].rfind("@"), rest.partition("?")[0].rfind("@"))
    if end < 0 and not PORT.match(rest):
        end = rest.rfind("@")
    user, colon, _ = rest[: max(end, 0)].partition(":")
    shown = f"{user}:***" if colon else user
    return scheme + separator + shown + PASSWORD.sub(r"\1=***", rest[max(end, 0) :])


def without_secret(url: str) -> str:
    """A URL for records: without its password, which the driver then takes from PGPASSWORD.

    What is no URL of a data base stays as it is.

    Examples
    --------
    >>> without_secret("postgresql://ann:p@ss/w@host/db?sslmode=require&password=secret")
    'postgresql://ann@host/db?sslmode=require'
    """
    if not is_postgres(url):
        return url
    start, _, query = without_password(url).partition("?")
    kept = [part for part in query.split("&") if part and not part.endswith("=***")]
    return start.replace(":***@", "@") + ("?" + "&".join(kept) if kept else "")


def is_postgres(source: Any) -> bool:
    """Whether a source is the URL of a PostgreSQL data base."""
    return isinstance(source, str) and source.split("://")[0] in ("postgresql", "postgres")


def quoted(name: str) -> str:
    """An identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _fetched(
    cursor: Any, file: str, errors: type[Exception], owner: Any = None
) -> Iterator[list[tuple[Any, ...]]]:
    try:
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in cursor:
            rows.append(row)
            size += _size(row)
            if len(rows) == ROWS_AT_A_TIME or size > BATCH_BYTES:
                yield rows
                rows, size = [], 0
        if rows:
            yield rows
    except errors as error:
        raise ReadError(f"reading stopped: {error}", file=file) from error
    finally:
        cursor.close()
        if owner is not None:
            owner.close()


def _query(options: dict[Any, Any], tables: list[str], file: str) -> tuple[str, list[str]]:
    wanted, query = options.get("table"), options.get("sql")
    if wanted is not None and query is not None:
        raise ReadError("table= and sql= cannot both be given", file=file)
    if query is not None:
        return query, []
    listed = ", ".join(map(repr, tables)) or "none"
    if wanted is None and len(tables) == 1:
        return f"select * from {quoted(tables[0])}", [f"Table {tables[0]!r}, the only one."]
    if wanted is None:
        raise ReadError(
            f"holds {len(tables)} tables",
            file=file,
            remedy=f"Choose with table=... (--table): {listed}.",
            choices=("table", tables),
        )
    if wanted not in tables:
        raise ReadError(f"has no table {wanted!r}", file=file, remedy=f"The tables are {listed}.")
    return f"select * from {quoted(wanted)}", []


def only(options: dict[Any, Any], accepted: set[str], needed: str | None) -> Any:
    """The needed option, after a check that there are no others than the accepted ones."""
    unknown = set(options) - accepted
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))}: no such option; use {sorted(accepted)}.")
    if needed is not None and options.get(needed) is None:
        raise TypeError("read() needs a source, or sql='select ...'.")
    return options.get(needed) if needed else None
