"""`gnomon prepare` and the reading options of every command."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
import zipfile

import pytest

import gnomon
from gnomon.engine.errors import DataError, GnomonError
from gnomon.table import ReadError
from gnomon.workbench.base.given import as_table, source_of, split_source, with_reading
from gnomon.workbench.prepare.steps import named
from tests.jobs.terminal import call, environment

SALES = {
    "shop": ["a", "b", "a", "c", "b", "a"],
    "month": ["May", "May", "June", "June", "June", "June"],
    "price": [2.0, 3.0, 5.0, 1.0, 4.0, 6.0],
    "pieces": [1, 2, 1, 1, 3, 2],
}
SHOPS = "shop,city\na,Rome\nb,Oslo\n"


@pytest.fixture
def files(tmp_path):
    lines = [",".join(map(str, row)) for row in zip(*SALES.values(), strict=True)]
    text = ",".join(SALES) + "\n" + "\n".join(lines) + "\n"
    (tmp_path / "sales.csv").write_text(text, encoding="utf-8")
    (tmp_path / "shops.csv").write_text(SHOPS, encoding="utf-8")
    return tmp_path


def test_rows_are_filtered_derived_and_sorted():
    found = gnomon.reshape(
        SALES,
        derive=["paid = price * pieces", '"new price"=price+1'],
        where=["paid > 2", "shop <> 'c'"],
        without=["pieces"],
        sort=["paid desc"],
    )
    assert found.table["paid"].to_pylist() == [12.0, 12.0, 6.0, 5.0]
    assert found.table.columns == ("shop", "month", "price", "paid", "new price")
    assert [step.rows for step in found.steps] == [6, 6, 4, 4, 4, 4]
    assert found.step_lines()[0] == ["as read", 6, 4]


def test_groups_and_pivots_are_those_counted_by_hand():
    groups = gnomon.reshape(SALES, group_by=["shop"], total=["n=count(*)", "most=max(price)"])
    assert groups.table.to_dict() == {"shop": ["a", "b", "c"], "n": [3, 2, 1], "most": [6, 4, 1]}
    pivot = gnomon.reshape(SALES, group_by=["shop"], pivot="month", value="sum(pieces)")
    assert pivot.table.to_dict() == {
        "shop": ["a", "b", "c"],
        "June": [3, 3, 1],
        "May": [1, 2, None],
    }


def test_a_join_says_which_rows_have_no_partner(files):
    found = gnomon.reshape(files / "sales.csv", join=str(files / "shops.csv"), on=["shop"])
    assert found.table["city"].to_pylist().count(None) == 1
    assert any("1 of 6 rows have no partner" in note for note in found.notes)
    inner = gnomon.reshape(
        files / "sales.csv", join=str(files / "shops.csv"), on=["shop"], how="inner"
    )
    assert len(inner.table) == 5
    with pytest.raises(DataError, match="such as shop"):
        gnomon.reshape(files / "sales.csv", join=str(files / "shops.csv"))


def test_a_query_sees_the_table_and_nothing_else(files):
    found = gnomon.reshape(SALES, query="select shop, sum(price) as s from data group by all")
    assert len(found.table) == 3
    for query in (
        f"select * from read_csv('{files / 'sales.csv'}')",
        f"select * from '{files / 'sales.csv'}'",
        "select * from sniff_csv('/etc/passwd')",
        "select * from SALES",
        "select getenv('HOME')",
        "copy data to '/tmp/stolen.csv'",
        "set enable_external_access = true",
        "attach 'x.db'",
        "install httpfs",
        "select 1; select 2",
        "drop table data",
    ):
        with pytest.raises(GnomonError):
            gnomon.reshape(SALES, query=query)
    with pytest.raises(GnomonError):
        gnomon.reshape(SALES, where=[f"price in (select 1 from read_text('{files}/sales.csv'))"])


def test_kinds_that_were_set_stay(files):
    table = gnomon.read(files / "sales.csv", schema={"pieces": "category"})
    found = gnomon.reshape(table, where=["price > 1"])
    assert found.table.schema["pieces"].kind == "category"


def test_mistakes_are_named_with_the_columns_that_there_are():
    with pytest.raises(DataError, match="The columns are shop, month"):
        gnomon.reshape(SALES, where=["cost > 1"])
    with pytest.raises(DataError, match="this is no SQL"):
        gnomon.reshape(SALES, where=["price >"])
    with pytest.raises(DataError, match="no row is left"):
        gnomon.reshape(SALES, where=["price > 100"])
    with pytest.raises(DataError, match="nothing to do"):
        gnomon.reshape(SALES)
    with pytest.raises(DataError, match="NAME=EXPRESSION"):
        named("a == b", "derive")
    with pytest.raises(GnomonError, match="nothing"):
        gnomon.reshape(SALES, select=["nothing"])


@pytest.mark.covers("job-prepare")
def test_the_command_writes_a_table_and_the_script_that_repeats_it(files):
    words = ["prepare", "sales.csv", "--where", "price > 2", "--out", "new.parquet", "--name", "p"]
    done = call(*words, folder=files)
    assert done.returncode == 0, done.stderr
    assert len(gnomon.read(files / "new.parquet")) == 4
    names = {each.name for each in (files / "runs" / "p").iterdir()}
    assert {"table.csv", "table.parquet", "steps.sql", "again.py", "report.html"} <= names
    again = subprocess.run(
        [sys.executable, files / "runs" / "p" / "again.py"],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=files,
    )
    assert "as recorded" in again.stdout, again.stderr


def test_reading_options_are_in_the_record_and_the_script(files):
    connection = sqlite3.connect(files / "shop.db")
    connection.execute("create table one (x integer, y integer)")
    connection.executemany("insert into one values (?, ?)", [(i, i % 3) for i in range(30)])
    connection.execute("create table two (z integer)")
    connection.commit()
    connection.close()
    words = ["look", "shop.db", "--table", "one", "--kind", "y=category", "--name", "l", "--json"]
    done = call(*words, folder=files)
    assert done.returncode == 0, done.stderr
    record = json.loads((files / "runs" / "l" / "run.json").read_text(encoding="utf-8"))
    assert record["source"].endswith("shop.db#table=one&kind=y%3Dcategory")
    script = (files / "runs" / "l" / "again.py").read_text(encoding="utf-8")
    assert "gnomon.read(file, table='one', schema={'y': 'category'})" in script
    assert gnomon.again("l", runs=files / "runs").same
    done = call("look", "shop.db", "--sql", "select x from one where x < 25", folder=files)
    assert "x" in done.stdout
    wrong = call("look", "shop.db", "--table", "one", "--kind", "y=colour", folder=files)
    assert wrong.returncode == 2
    assert "COLUMN=KIND" in wrong.stderr


def test_sources_with_options_are_split_where_no_file_has_that_name(tmp_path):
    made = with_reading("a.csv", {"kind": ["x=number", "a=b=text"], "sheet": None})
    assert split_source(made) == ("a.csv", {"kind": ["x=number", "a=b=text"]})
    assert split_source("a#b.csv") == ("a#b.csv", {})
    odd = tmp_path / "x#sheet=1"
    odd.write_text("a\n1\n2\n", encoding="utf-8")
    assert len(as_table(odd)) == 2
    url = source_of("postgresql://ann:secret@host/db#table=t")
    assert "secret" not in url
    assert url.endswith("@host/db#table=t")


def zipped(**members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_dot_", "."), text)
    return out.getvalue()


def test_a_table_in_a_zip_archive_is_read():
    assert len(gnomon.read(zipped(a_dot_csv="x\n1\n2\n"))) == 2
    two = zipped(a_dot_csv="x\n1\n2\n", b_dot_csv="y\n1\n2\n3\n")
    with pytest.raises(ReadError, match=r"2 files.*a\.csv, b\.csv"):
        gnomon.read(two)
    assert len(gnomon.read(two, member="b.csv")) == 3
    with pytest.raises(ReadError, match=r"no member 'c\.csv'"):
        gnomon.read(two, member="c.csv")
    with pytest.raises(ReadError, match="no zip archive"):
        gnomon.read(b"x\n1\n2\n", member="c.csv")


def test_an_archive_that_would_not_fit_is_refused_before_it_is_unpacked():
    bomb = zipped(a_dot_csv="x\n" + "1\n" * 2_000_000)
    with gnomon.config(memory_limit="10MB"), pytest.raises(MemoryError):
        gnomon.read(bomb)
