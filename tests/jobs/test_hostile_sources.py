"""Files and data bases from strangers: nothing outside them is read, nothing is written."""

from __future__ import annotations

import gzip
import signal
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

import gnomon
from gnomon.engine.errors import MemoryLimitError
from gnomon.table import Table, read, scan
from gnomon.table.errors import ReadError
from gnomon.table.json_objects import MOST_NESTED, nested
from gnomon.table.sql import require_understood, without_password, without_secret
from tests.contract.test_memory import peak_of

LITTLE = 20_000_000


@pytest.mark.parametrize("reader", [read, scan])
def test_a_view_of_a_duckdb_file_cannot_read_another_file(reader, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret\n")
    with duckdb.connect(tmp_path / "view.duckdb") as connection:
        connection.execute(f"create view v as select * from read_text('{secret}')")
    with pytest.raises(ReadError, match="disabled by configuration"):
        len(list(reader(tmp_path / "view.duckdb").columns))


def test_a_query_of_a_duckdb_file_cannot_open_it_up_again(tmp_path):
    with duckdb.connect(tmp_path / "plain.duckdb") as connection:
        connection.execute("create table t as select 1 as a")
    assert read(tmp_path / "plain.duckdb")["a"].to_pylist() == [1]
    with pytest.raises(ReadError):
        read(tmp_path / "plain.duckdb", sql="set enable_external_access = true")


@pytest.mark.parametrize(
    "statement",
    [
        "explain analyze copy (select 1) to '{}'",
        "copy (select 1) to '{}'",
        "pragma profiling_output = '{}'",
    ],
)
def test_a_query_writes_no_file(statement, tmp_path):
    target = tmp_path / "written.csv"
    with pytest.raises(ReadError, match="gives no table"):
        read(sql=statement.format(target))
    assert not target.exists()


@pytest.fixture
def sqlite_file(tmp_path):
    def make(*statements: str):
        path = tmp_path / "file.sqlite"
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path

    return make


def test_a_query_of_an_sqlite_file_attaches_no_other(sqlite_file, tmp_path):
    path = sqlite_file("create table t(a)", "insert into t values (1), (2)")
    assert len(read(path)) == 2
    for statement in (f"attach '{tmp_path / 'new.db'}' as n", "pragma journal_mode = wal"):
        with pytest.raises(ReadError, match="not authorized"):
            read(path, sql=statement)
    assert not (tmp_path / "new.db").exists()


def test_an_endless_view_ends_at_the_memory_limit(sqlite_file):
    path = sqlite_file(
        "create view v as with recursive r(n) as (select 1 union all select n + 1 from r) "
        "select n from r"
    )
    with gnomon.config(memory_limit=LITTLE), pytest.raises(MemoryLimitError, match="rows of"):
        read(path)


def test_long_cells_of_a_view_end_at_the_memory_limit(sqlite_file):
    path = sqlite_file(
        "create view v as with recursive r(n) as (select 1 union all select n + 1 from r) "
        "select hex(zeroblob(400000)) as a from r"
    )

    def try_it():
        with pytest.raises(MemoryLimitError):
            read(path)

    with gnomon.config(memory_limit=LITTLE):
        assert peak_of(try_it) < 2.5 * LITTLE
        with pytest.raises(ReadError, match="too big"):
            read(path, sql="select zeroblob(200000000) as a")


def test_an_endless_query_of_sqlite_can_be_stopped(sqlite_file):
    path = sqlite_file("create table t(a)")
    endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises((ReadError, KeyboardInterrupt)):
            read(path, sql=endless)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_texts_that_arrow_cannot_hold_are_a_clear_error(tmp_path):
    with duckdb.connect(tmp_path / "long.duckdb") as connection:
        connection.execute("create view v as select repeat('x', 30000) as a from range(100000)")
    with gnomon.config(memory_limit=LITTLE * 10), pytest.raises((MemoryLimitError, ReadError)):
        read(tmp_path / "long.duckdb")


def test_compressed_text_is_held_to_the_memory_limit(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000, 1))
    with gnomon.config(memory_limit=LITTLE), pytest.raises(MemoryLimitError, match="unpack"):
        read(path)


def test_small_parquet_and_arrow_files_of_many_equal_rows_are_refused(tmp_path):
    rows = pa.table({"a": np.zeros(LITTLE // 4)})
    pq.write_table(rows, tmp_path / "bomb.parquet")
    feather.write_feather(rows, tmp_path / "bomb.arrow", compression="zstd")
    for name in ("bomb.parquet", "bomb.arrow"):
        assert (tmp_path / name).stat().st_size < LITTLE // 20
        with gnomon.config(memory_limit=LITTLE), pytest.raises(MemoryLimitError, match="Reading"):
            read(tmp_path / name)
    cells = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["x" * 90_000])
    levels = pa.table({"a": cells})
    feather.write_feather(levels, tmp_path / "levels.arrow", chunksize=100)
    with gnomon.config(memory_limit=LITTLE):  # all batches share one dictionary
        assert len(read(tmp_path / "levels.arrow")) == 10_000


def test_texts_that_a_parquet_file_repeats_are_held_to_the_memory_limit(tmp_path):
    long, short = ["x" * 100_000, "b", None], ["yes", "no", None]
    for name, texts in (("long", long), ("short", short)):
        rows = pa.table({"a": texts * 1000, "l": [["y" * 10], None, []] * 1000})
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=700)
    assert (tmp_path / "long.parquet").stat().st_size < LITTLE // 100
    with gnomon.config(memory_limit=LITTLE):
        with pytest.raises(MemoryLimitError, match="Reading"):
            read(tmp_path / "long.parquet")
        assert len(read(tmp_path / "short.parquet")) == 3000


@pytest.mark.parametrize("reader", [read, scan])
@pytest.mark.parametrize("opened", ['{"a":', '{"a":\n', '{"a": [', '{"[": "", "a":'])
def test_deeply_nested_json_is_refused(reader, opened, tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text(opened * 200_000)  # compiled parsers that call themselves end the process
    with pytest.raises(ReadError):
        reader(path)


@pytest.mark.parametrize("rare", [1, 10])
@pytest.mark.parametrize("ends", [("", "\n", ""), ("[", ",", "]")], ids=["lines", "array"])
def test_objects_that_have_each_other_fields_are_held_to_the_memory_limit(rare, ends, tmp_path):
    path = tmp_path / "fields.json"
    objects = [f'{{"k{i if i % rare == 0 else 0}": {{"n": {i}}}}}' for i in range(20_000)]
    begin, between, end = ends
    path.write_text(begin + between.join(objects) + end)
    with gnomon.config(memory_limit=LITTLE), pytest.raises(MemoryLimitError, match="fields"):
        read(path)


def test_json_of_many_brackets_inside_texts_is_read(tmp_path):
    path = tmp_path / "brackets.jsonl"
    path.write_text('{"a": "[[{ \\"[", "b": {"c": 1}}\n' * 1000)
    assert nested(path.read_bytes()) > MOST_NESTED
    table = read(path)
    assert (len(table), table.columns) == (1000, ("a", "b.c"))
    assert nested(b'[{"a": [1, 2]}, {}]') == 3
    assert nested(b"]]]}[") == 1


def test_a_device_without_end_is_refused():
    with gnomon.config(memory_limit=LITTLE), pytest.raises(ReadError, match="not a regular file"):
        read("/dev/zero")


def test_a_cell_far_out_in_a_small_spreadsheet_is_refused(tmp_path):
    book = Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(MemoryLimitError, match="1,048,576 rows x 16,384 columns"):
        read(tmp_path / "far.xlsx")


def test_a_cell_with_a_carriage_return_stays_one_cell_and_hides_no_formula(tmp_path):
    table = Table.from_dict({"a": ["x\ry", "x\r=1+1", "plain"], "b": [1, 2, 3]})
    path = tmp_path / "cells.csv"
    table.save(path, escape_formulas=True)
    assert read(path)["a"].to_pylist() == ["x\ry", "x\r=1+1", "plain"]
    assert b'"x\r=1+1"' in path.read_bytes()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@host/db",
        "postgresql://ann:s@secret/x@host:5432/db",
        "postgresql://ann:what?secret@host/db",
        "postgresql://ann:12?secret@host/db",
        "postgresql://ann:s@secret?x@host/db",
        "postgresql://ann@corp:secret@host/db",
        "postgresql://ann:1/secret@host/db",
        "postgresql://host/db?user=ann&password=secret",
        "postgresql://host:5432/db?password=s&secret@home",
        "postgresql://host:5432/db?PASSWORD=secret@home&sslmode=require",
    ],
)
def test_no_password_is_shown_or_recorded(url):
    assert "secret" not in without_password(url)
    recorded = without_secret(url)
    assert "secret" not in recorded
    assert "***" not in recorded
    assert "host" in recorded
    assert recorded.split("?")[0].endswith("/db")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret/x@host/db",
        "postgresql://ann:x%zzsecret@host/db",
        "postgresql://ann@corp:secret@host/db",
        "postgresql://ann:p@host?secret@host/db",
    ],
)
def test_a_refusal_of_a_url_quotes_no_part_of_its_password(url):
    with pytest.raises(ReadError, match="not understood") as caught:
        require_understood(url, without_password(url))
    assert "secret" not in str(caught.value)


def test_urls_that_the_driver_takes_are_passed_on():
    for url in (
        "postgresql://ann:12?secret@host/db",
        "postgresql://ann:s%40x@one:1,two:2/db?connect_timeout=2",
        "postgresql:///db?host=/tmp&user=a@b",
        "postgresql://[::1]:5432/db",
        "postgresql://host",
    ):
        require_understood(url, url)


def test_an_address_without_a_password_is_shown_whole():
    for url in (
        "postgresql://host:5432/db?user=a@b",
        "postgresql://ann@host/db",
        "postgresql://[::1]:5432/db?user=a@b",
        "postgresql:///db?host=/tmp&user=a@b",
    ):
        assert without_password(url) == without_secret(url) == url


def test_a_run_on_a_database_records_no_password(tmp_path, monkeypatch):
    rows = Table.from_dict({"x": list(range(40)), "y": ["a", "b"] * 20})
    monkeypatch.setattr("gnomon.workbench.base.given.read", lambda source: rows)
    url = "postgresql://ann:s3cret@host/db"
    folder = tmp_path / "run"
    gnomon.learn(url, "y", learners=["naive Bayes"], budget=None, folder=folder)
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert texts
    assert not any(b"s3cret" in text for text in texts)
    script = (folder / "again.py").read_text()
    assert "postgresql://ann@host/db" in script
    assert "PGPASSWORD" in script


@pytest.mark.parametrize(
    "cells",
    [
        [str(2**53 + 7 * i + 1) for i in range(40)],
        [f"{9000 + i}-01-02" for i in range(40)],
        [f"{1400 + i}-01-02T10:00:00" for i in range(40)],
    ],
    ids=["large integers", "far dates", "early times"],
)
def test_numbers_that_a_float_cannot_hold_exactly_are_looked_at(cells, tmp_path, rng):
    path = tmp_path / "table.csv"
    rows = [f"{cell},{rng.normal():.3f},{'ab'[i % 2]}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["x,z,y", *rows]) + "\n")
    assert str(gnomon.look(path))
