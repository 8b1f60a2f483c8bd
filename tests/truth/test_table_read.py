"""Every source that `read` takes, as literal files with the table that must come out."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from gnomon.engine.errors import DataError, GnomonError, GnomonWarning
from gnomon.table import Column, Kind, ReadError, Schema, Table, read

ABC = {"a": [1, 2], "b": ["x", "y"]}


def values(content, **options):
    return read(content, **options).to_dict()


@pytest.mark.covers("read-table-file")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,x\n2,y\n", ABC),
        (b"a,b\n1,x\n2,y", ABC),
        (b"a,b\r\n1,x\r\n2,y\r\n", ABC),
        (b"a,b\r1,x\r2,y\r", ABC),
        (b"a;b\n1;x\n2;y\n", ABC),
        (b"a\tb\n1\tx\n2\ty\n", ABC),
        (b"a|b\n1|x\n2|y\n", ABC),
        (b"a b\n1 x\n2 y\n", ABC),
        (b"a   b\n1   x\n2   y\n", ABC),
        (b"  a \tb\n  1  x  \n 12 y\n", {"a": [1, 12], "b": ["x", "y"]}),
        (b"a, b\n1, x\n2, y\n", ABC),
        (b'a, b\n1, "x,z"\n2, "y"\n', {"a": [1, 2], "b": ["x,z", "y"]}),
        (b'"a","b"\n"1","x"\n"2","y"\n', ABC),
        (b"'a','b'\n'1','x, z'\n'2','y'\n", {"a": [1, 2], "b": ["x, z", "y"]}),
        (b'a,b\n1,"x ""q"" z"\n2,y\n', {"a": [1, 2], "b": ['x "q" z', "y"]}),
        (b'a,b\n1,"x \\"q\\" z"\n2,y\n', {"a": [1, 2], "b": ['x "q" z', "y"]}),
        (b'a,b\n1,"two\nlines"\n2,y\n', {"a": [1, 2], "b": ["two\nlines", "y"]}),
        (b'a,b\n1,5" pipe\n2,y\n', {"a": [1, 2], "b": ['5" pipe', "y"]}),
        (b"1,x\n2,y\n", {"column_1": [1, 2], "column_2": ["x", "y"]}),
        (b"a\n1\n\n3\n", {"a": [1, None, 3]}),
        (b"a,b\n\n1,x\n\n2,y\n\n", ABC),
        (b"# made by hand\n# in a hurry\na,b\n1,x\n2,y\n", ABC),
        (b"#a,b\n1,x\n2,y\n", ABC),
        (b"sep=;\na;b\n1;x\n2;y\n", ABC),
        (b"a b\nr1 1 x\nr2 2 y\n", {"row_name": ["r1", "r2"], **ABC}),
        (b"c,2019,2020\nde,1,2\nfr,3,4\n", {"c": ["de", "fr"], "2019": [1, 3], "2020": [2, 4]}),
        (b"who,3P,2nd\nx,1,2\ny,3,4\n", {"who": ["x", "y"], "3P": [1, 3], "2nd": [2, 4]}),
        (b"a;b\n1,5;1.234,5\n2,5;2\n", {"a": [1.5, 2.5], "b": [1234.5, 2.0]}),
        (b"name\nAda Lovelace\nAlan Turing\n", {"name": ["Ada Lovelace", "Alan Turing"]}),
        (b"a,b\n1,x,\n2,y,\n", ABC),
        (b"a\tb\n1\tx\t\n2\ty\t\n", ABC),
        (b"a \t b\n1\tx \n2\t y\n", ABC),
        (b"Report of sales\n\na,b\n1,x\n2,y\n", ABC),
        (b"Report of sales,\nMade in 2024,\na,b\n1,x\n2,y\n", ABC),
        (b"By year,,\nc,2019,2020\nde,1,\n", {"c": ["de"], "2019": [1], "2020": [None]}),
        (b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]', ABC),
    ],
)
def test_delimited_text_in_the_forms_that_people_have(content, expected):
    assert values(content) == expected


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (b"x%y\n1%2\n", {"delimiter": "%"}, {"x": [1], "y": [2]}),
        (b"a::b\n1::2\n", {"delimiter": "::"}, {"a": [1], "b": [2]}),
        (b"a,b\n1,2\n", {"delimiter": ";"}, {"a,b": [1.2]}),
        (b"a,b\n1,2\n", {"header": False}, {"column_1": ["a", "1"], "column_2": ["b", "2"]}),
        (b"1,2\n3,4\n", {"header": True}, {"1": [3], "2": [4]}),
        (b"1,2\n3,4\n", {"names": ["u", "v"]}, {"u": [1, 3], "v": [2, 4]}),
        (b"a,b\n-9,x\n2,y\n", {"missing": ["-9"]}, {"a": [None, 2], "b": ["x", "y"]}),
        (b"a,b\n-9,x\n2,9\n", {"missing": "-9"}, {"a": [None, 2], "b": ["x", "9"]}),
        (b"a,b\n-9.5,x\n1.5,y\n", {"missing": [-9.5]}, {"a": [None, 1.5], "b": ["x", "y"]}),
        (
            b"a,b\n-9,x\n2,y\n",
            {"missing": -9, "schema": {"a": "number"}},
            {"a": [None, 2.0], "b": ["x", "y"]},
        ),
        (b"a,b\n1,NA\n2,DE\n", {"missing": []}, {"a": [1, 2], "b": ["NA", "DE"]}),
        (b"a;b\n1,234;x\n5,678;y\n", {"decimal": ","}, {"a": [1.234, 5.678], "b": ["x", "y"]}),
        (
            b"a;b\n1.234;x\n5.678;y\n",
            {"thousands": ".", "decimal": ","},
            {"a": [1234, 5678], "b": ["x", "y"]},
        ),
        (b"a;b\n1.234;x\n5.678;y\n", {"thousands": "."}, {"a": [1234, 5678], "b": ["x", "y"]}),
        (b"a;b\n1'234;0,5\n5;1,5\n", {"thousands": "'"}, {"a": [1234, 5], "b": [0.5, 1.5]}),
        (
            b"a;b\n1,234;x\n5,678;y\n",
            {"decimal": ",", "schema": {"a": "number"}},
            {"a": [1.234, 5.678], "b": ["x", "y"]},
        ),
        (b"junk\n\na,b\n1,x\n", {"skip_rows": 2}, {"a": [1], "b": ["x"]}),
        (b"a,b\n1,x\n% no\n2,y\n", {"comment": "%"}, ABC),
        (b'a,b\n1,"x\n2,y\n', {"quote": None}, {"a": [1, 2], "b": ['"x', "y"]}),
        (b"a,b,c\n1,x,3\n", {"columns": ["c", "a"]}, {"c": [3], "a": [1]}),
        (b"d\n3/4/2024\n", {"day_first": True}, {"d": [datetime.date(2024, 4, 3)]}),
    ],
)
def test_every_decision_can_be_overridden(content, options, expected):
    assert values(content, **options) == expected


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32-le"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings_are_found_out_and_told(encoding, named):
    content = "city,n\nZürich,1\nMálaga,2\n“x”,3\n".encode(encoding)
    table = read(content)
    assert table["city"].to_pylist() == ["Zürich", "Málaga", "“x”"]
    assert table.columns == ("city", "n")
    if named:
        assert any(named in note for note in table.notes)


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("1.5 2.75", {"decimal": ","}),
        ("1.5 2.75", {"thousands": "."}),
        ("1,5 2,75", {"decimal": "."}),
    ],
)
def test_numbers_that_contradict_the_given_marks_stay_words_and_are_told(written, options):
    table = read("\n".join(["a;b", *(f"{each};x" for each in written.split())]).encode(), **options)
    assert table["a"].to_pylist() == written.split()
    assert any("numbers, but not with decimal=" in note for note in table.notes)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"decimal": "x"}, "decimal='x' is no decimal mark"),
        ({"thousands": "_"}, "thousands='_' is no mark between thousands"),
        ({"decimal": ",", "thousands": ","}, "cannot both be ','"),
    ],
)
def test_marks_that_make_no_sense_are_refused(options, complaint):
    with pytest.raises(ReadError, match=complaint):
        read(b"a;b\n1,5;x\n", **options)
    with pytest.raises(DataError, match=complaint):
        Column("a", "number", **options)


def test_what_stands_around_a_table_and_is_left_out_is_told():
    told = {
        "above the names": b"Report of sales\n\na,b\n1,x\n2,y\n",
        "end with a delimiter": b"a,b\n1,x,\n2,y,\n",
        "Spaces around names": b"a ,b\n1,x\n2,y\n",
        "'b': spaces around 2 values": b"a,b\n1,x \n2,y \n",
    }
    for words, content in told.items():
        assert any(words in note for note in read(content).notes), words
    assert not any("left out" in note for note in read(b"a,b\n1,x\n2,y\n").notes)


def test_the_first_line_is_no_title_where_the_user_or_the_file_says_otherwise():
    titled = b"Report,\na,b\n1,x\n2,y\n"
    with pytest.warns(GnomonWarning, match="has no name"):
        assert read(titled, skip_rows=0).columns == ("Report", "column_2")
    with pytest.warns(GnomonWarning, match="has no name"):
        assert read(b"name,\nada,1\nbob,2\n")["name"].to_pylist() == ["ada", "bob"]
    for content in (b"x\n" + b"1,5\n" * 9, b"name\n" + b"Lovelace, Ada\n" * 9):
        with pytest.raises(ReadError, match="skip_rows"):
            read(content)


def test_a_delimiter_at_the_end_hides_no_later_value():
    rows = b"1,x,\n" * 500
    assert len(read(b"a,b\n" + rows + b"2,y\n")) == 501
    with pytest.raises(ReadError, match="has 3 values where 2 are expected") as refusal:
        read(b"a,b\n" + rows + b"2,y,3\n")
    assert refusal.value.line == 502


def test_categories_that_differ_by_outer_spaces_only_are_one():
    content = b"s,note\n" + b"M,x\nM ,x\n F,x\nF,x\n" * 10
    table = read(content)
    assert table.schema["s"].levels == ("F", "M")
    spaced = {"s": {"kind": "category", "levels": ["F", " F", "M", "M "]}}
    assert set(read(content, schema=spaced)["s"].to_pylist()) == {"F", " F", "M", "M "}
    assert read(b"t\n" + b"a b c d e f \n" * 3)["t"].to_pylist() == ["a b c d e f "] * 3


def test_many_lines_can_be_skipped():
    content = b"some words, here and there\n" * 20_000 + b"a,b\n1,x\n2,y\n"
    assert values(content, skip_rows=20_000) == ABC


def test_latin_1_can_be_asked_for():
    content = "a,b\né,\x81\n".encode("latin-1")
    assert read(content).to_dict() == {"a": ["é"], "b": ["\x81"]}
    assert read(content, encoding="latin-1").to_dict() == {"a": ["é"], "b": ["\x81"]}


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("zst", lambda raw: pa.compress(raw, codec="zstd", asbytes=True)),
    ],
)
def test_compressed_text_is_read_whatever_its_name(tmp_path, ending, compress):
    for name in (f"x.csv.{ending}", "x.csv"):
        path = tmp_path / name
        path.write_bytes(compress(b"a,b\n1,x\n2,y\n"))
        assert values(path) == ABC


def test_what_was_decided_stands_in_the_notes():
    notes = " ".join(read(b"a;b\n1,5;?\n2,5;y\n").notes)
    assert "Delimiter: semicolon" in notes
    assert "header: yes" in notes
    assert "'?' taken as missing" in notes


def test_marks_of_missing_cells_in_many_columns_are_told_in_one_sentence():
    names = ["a", "b", "c", "d", "e", "f"]
    rows = ["1,x,?,2,?,4", "2,y,3,3,?,5", "?,?,4,4,6,6", "4,z,5,NA,7,7"]
    told = [n for n in read("\n".join([",".join(names), *rows]).encode()).notes if "missing" in n]
    assert told == [
        "5 x '?' taken as missing in 4 columns, most in 'e' (2).",
        "Column 'd': 1 x 'NA' taken as missing.",
    ]


def test_paths_may_be_strings_and_sources_may_be_open_files(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n")
    assert values(str(path)) == values(path) == ABC
    with open(path, "rb") as file:
        assert values(file) == ABC
    assert values(io.StringIO("a,b\n1,x\n2,y\n")) == ABC


def test_parquet_and_arrow_keep_their_types(tmp_path):
    arrow = pa.table(
        {
            "n": pa.array([1, 2], pa.int32()),
            "s": ["1", "2"],
            "when": [datetime.date(2024, 1, 1), None],
        }
    )
    pyarrow.parquet.write_table(arrow, tmp_path / "x.parquet")
    pyarrow.feather.write_feather(arrow, str(tmp_path / "x.feather"))
    with pa.ipc.new_stream(tmp_path / "x.arrows", arrow.schema) as writer:
        writer.write_table(arrow)
    for name in ("x.parquet", "x.feather", "x.arrows"):
        table = read(tmp_path / name)
        assert table.to_dict() == arrow.to_pydict()
        assert table.schema["n"].kind is Kind.INTEGER
        assert table.schema["s"].kind is Kind.CATEGORY
        assert table.schema["when"].kind is Kind.DATETIME


def test_a_parquet_file_under_another_name_is_read_and_told(tmp_path):
    path = tmp_path / "x.csv"
    pyarrow.parquet.write_table(pa.table({"PAR1": [1, 2]}), path)
    table = read(path)
    assert table.to_dict() == {"PAR1": [1, 2]}
    path.write_text("PAR1,PAR2\n1,2\n")
    assert values(path) == {"PAR1": [1], "PAR2": [2]}


@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        '\n{"a": 1, "b": "x"}\n\n{"a": 2, "b": "y"}',
        '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
        '[\n {"a": 1,\n "b": "x"},\n {"a": 2, "b": "y"}\n]',
        '{"a": [1, 2], "b": ["x", "y"]}',
        '{\n"a": [1, 2],\n"b": ["x", "y"]\n}',
    ],
)
def test_json_in_its_common_forms(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    assert values(path) == ABC


def test_json_lines_with_gaps_nesting_and_mixed_types(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [{"a": 1, "in": {"x": 1.5}}, {"b": "2024-01-02", "in": {"x": 2}}, {"a": None, "c": True}]
    path.write_text("\n".join(map(json.dumps, rows)))
    table = read(path)
    assert table["a"].to_pylist() == [1, None, None]
    assert table["in.x"].to_pylist() == [1.5, 2.0, None]
    assert table.schema["b"].kind is Kind.DATETIME
    path.write_text('{"a": 1}\n{"a": "two"}\n')
    with pytest.warns(GnomonWarning, match="mixes int, str"):
        assert values(path) == {"a": ["1", "two"]}
    path.write_text('{"a": [1, 2]}\n{"a": [3]}\n')
    assert values(path) == {"a": ["[1, 2]", "[3]"]}
    path.write_text('{"a": ["x", null]}\n{"a": 3}\n')
    with pytest.warns(GnomonWarning, match="mixes int, list"):
        assert values(path) == {"a": ['["x", null]', "3"]}
    path.write_text('{"a": -9}\n{"a": 3}\n')
    assert values(path, missing=[-9]) == {"a": [None, 3]}
    path.write_text('{"a": 1}\n{"a": 123456789012345678901234567890}\n')
    with pytest.warns(GnomonWarning):
        assert values(path)["a"] == ["1", "123456789012345678901234567890"]


def workbook(path, sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_spreadsheets_with_titles_dates_gaps_and_mixed_cells(tmp_path):
    when = datetime.datetime(2024, 1, 2)
    rows = [
        ["My table"],
        ["n", "word", "when", "share", "mixed"],
        [1, "x", when, 0.5, 1],
        [None, None, None, None, None],
        [2, None, when, 1.5, "one"],
    ]
    workbook(tmp_path / "x.xlsx", {"data": rows, "other": [["a"], [1]]})
    table = read(tmp_path / "x.xlsx")
    assert table.to_dict() == {
        "n": [1, 2],
        "word": ["x", None],
        "when": [when.date()] * 2,
        "share": [0.5, 1.5],
        "mixed": ["1", "one"],
    }
    notes = " ".join(table.notes)
    assert "'data', 'other'" in notes
    assert "title" in notes
    assert "1 empty row" in notes
    assert values(tmp_path / "x.xlsx", sheet="other") == {"a": [1]}
    assert values(tmp_path / "x.xlsx", sheet=1) == {"a": [1]}
    with pytest.raises(ReadError, match=r"has no sheet 'third'.*'data', 'other'"):
        read(tmp_path / "x.xlsx", sheet="third")


def test_sqlite_files_list_their_tables(tmp_path):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table first (a integer, b text, d text)")
    connection.executemany(
        "insert into first values (?, ?, ?)", [(1, "x", "2024-01-02"), (2, None, "2024-01-03")]
    )
    connection.commit()
    table = read(path)
    assert table["b"].to_pylist() == ["x", None]
    assert table.schema["d"].kind is Kind.DATETIME
    connection.execute('create table "se""cond" (z real)')
    connection.execute('insert into "se""cond" values (1.5)')
    connection.commit()
    connection.close()
    with pytest.raises(ReadError, match=r"holds 2 tables.*'first', 'se\"cond'"):
        read(path)
    assert values(path, table='se"cond') == {"z": [1.5]}
    assert values(path, sql="select a * 2 as twice from first") == {"twice": [2, 4]}
    with pytest.raises(ReadError, match="has no table 'third'"):
        read(path, table="third")
    with pytest.raises(ReadError, match="the query failed"):
        read(path, sql="select nonsense from first")


@pytest.mark.filterwarnings("ignore:Column 'a' mixes")
@pytest.mark.parametrize("other", ["x", 1, 2.5])
def test_bytes_among_other_values_are_text_or_refused_with_their_column(tmp_path, other):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t (a, b)")
    connection.executemany("insert into t values (?, 1)", [(other,), (b"two",)])
    connection.commit()
    assert values(path)["a"] == [str(other), "two"]
    connection.execute("insert into t values (?, 1)", [b"\x00\xff"])
    connection.commit()
    connection.close()
    with pytest.raises(ReadError, match="column 'a': holds bytes that are not text"):
        read(path)
    assert values(path, columns=["b"]) == {"b": [1, 1, 1]}


def test_duckdb_runs_any_query_over_files_and_frames(tmp_path):
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pa.table({"g": ["a", "b", "a"], "v": [1, 2, 3]}), path)
    table = read(sql=f"select g, sum(v) as total from '{path}' group by g order by g")
    assert table.to_dict() == {"g": ["a", "b"], "total": [4, 2]}
    assert table.schema["total"].kind is Kind.INTEGER
    frame = Table.from_dict({"v": [5, 6]})
    assert values(None, sql="select max(v) as m from t", tables={"t": frame}) == {"m": [6]}
    with pytest.raises(ReadError, match="the query failed"):
        read(sql="select * from nothing_there")
    with pytest.raises(ReadError, match="gives no table"):
        read(sql="create table q (a integer)")


def test_a_duckdb_file_is_opened_for_reading_only(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("create table t as select range as a from range(3)")
    connection.close()
    assert values(path) == {"a": [0, 1, 2]}
    with pytest.raises(ReadError, match="INSERT gives no table"):
        read(path, sql="insert into t values (4)")


def test_duckdb_never_fetches_extensions():
    from gnomon.table.sql import open_duckdb

    connection = open_duckdb()
    asked = "select current_setting('autoinstall_known_extensions')"
    assert connection.execute(asked).fetchone() == (False,)


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ReadError, match=r"needs its driver, psycopg.*gnomon\[postgres\]") as caught:
        read("postgresql://ann:secret@localhost/shop", table="t")
    assert "secret" not in str(caught.value)


class FakePostgres:
    """The few calls of psycopg that gnomon uses, over an SQLite data base."""

    Error = sqlite3.Error

    def __init__(self):
        self.data = sqlite3.connect(":memory:")
        self.data.execute("create table sales (n integer, who text)")
        self.data.executemany("insert into sales values (?, ?)", [(1, "ann"), (2, None)])

    def connect(self, url):
        return self

    def execute(self, query, values=()):
        if "pg_index" in query:  # the table has no primary key
            return self.data.execute("select 1 where 0")
        if "information_schema" in query:
            return self.data.execute("select name from sqlite_master")
        return self.data.execute(query)

    def cursor(self, name):
        outer = self

        class Cursor:
            def execute(self, query):
                self.inner = outer.data.execute(query)
                self.description = [type("D", (), {"name": d[0]}) for d in self.inner.description]

            def __iter__(self):
                return iter(self.inner)

            def close(self):
                self.inner.close()

        return Cursor()

    def close(self):
        pass


def test_postgresql_is_read_and_streamed_through_its_driver(monkeypatch):
    import sys

    from gnomon.table import scan

    monkeypatch.setitem(sys.modules, "psycopg", FakePostgres())
    assert values("postgresql://host/shop") == {"n": [1, 2], "who": ["ann", None]}
    assert values("postgresql://host/shop", sql="select n from sales where n > 1") == {"n": [2]}
    assert scan("postgresql://host/shop", rows_per_chunk=1).count_rows() == 2


@pytest.mark.covers("typed-table")
def test_frames_of_every_make_are_taken():
    import narwhals as nw
    import pandas as pd
    import polars as pl

    arrow = pa.table(ABC)
    frames = [
        ABC,
        pd.DataFrame(ABC),
        pl.DataFrame(ABC),
        pl.LazyFrame(ABC),
        arrow,
        pa.RecordBatch.from_pydict(ABC),
        nw.from_native(pl.DataFrame(ABC)),
        Table(arrow),
        {"a": np.array([1, 2]), "b": pd.Series(["x", "y"])},
    ]
    for frame in frames:
        assert read(frame).to_dict() == ABC
        assert Table.from_frame(frame).schema.kinds == {"a": "integer", "b": "category"}


def test_strings_of_a_frame_are_understood_only_when_asked():
    frame = {"n": ["1", "2"], "d": ["2024-01-01", "2024-01-02"]}
    assert read(frame).schema.kinds == {"n": "category", "d": "category"}
    assert read(frame, parse=True).schema.kinds == {"n": "integer", "d": "datetime"}


def test_a_pandas_column_of_mixed_objects_is_kept_as_text_with_a_warning():
    import pandas as pd

    frame = pd.DataFrame({"m": [1, "a", None, 2.5], "n": [1, 2, 3, 4]})
    with pytest.warns(GnomonWarning, match="mixes float, int, str"):
        table = Table.from_frame(frame)
    assert table["m"].to_pylist() == ["1", "a", None, "2.5"]
    assert table.schema["n"].kind is Kind.INTEGER


@pytest.mark.covers("typed-table")
def test_lists_in_a_column_are_kept_as_json_text():
    assert values({"a": [[1, 2], [3]]}) == {"a": ["[1, 2]", "[3]"]}


@pytest.mark.covers("typed-table")
def test_sparse_columns_and_periods_of_pandas_keep_their_meaning(rng):
    import pandas as pd

    counts = rng.integers(0, 3, 30) * (rng.random(30) < 0.3)
    months = pd.period_range("2020-01", periods=30, freq="M")
    frame = pd.DataFrame({"n": pd.arrays.SparseArray(counts), "m": months})
    table = read(frame)
    assert table.schema.kinds == {"n": "integer", "m": "datetime"}
    assert table["n"].to_pylist() == counts.tolist()
    assert table["m"].to_pylist() == months.to_timestamp().to_list()
    assert any("at which they start" in note for note in table.notes)


def test_a_named_index_of_pandas_is_left_out_and_told():
    import pandas as pd

    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index(["a", "b"], name="who"))
    table = Table.from_frame(frame)
    assert table.columns == ("x",)
    assert any("'who' is left out" in note for note in table.notes)
    assert Table.from_frame(frame.reset_index()).columns == ("who", "x")


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b"a,b\n\n1,x\n\n\n2,y\n", 3),
        (b"a,b\r\n1,x\r\n\r\n2,y\r\n", 1),
        (b"a,b\n1,x\n  \n2,y\n", 1),
        (b"a,b\n1,x\n2,y\n", 0),
        (b"a\n1\n\n2\n", 0),
    ],
)
def test_blank_lines_that_are_left_out_are_counted(content, count):
    told = [note for note in read(content).notes if "blank line" in note]
    assert [int(note.split()[0]) for note in told] == ([count] if count else [])


def test_what_is_no_table_is_refused():
    with pytest.raises(DataError, match="int is not a table"):
        read(42)
    with pytest.raises(DataError, match="differ in length"):
        read({"a": [1], "b": [1, 2]})
    with pytest.raises(TypeError, match="needs a source, or sql"):
        read()
    with pytest.raises(TypeError, match="'delimeter' is no option"):
        read(b"a,b\n1,2\n", delimeter=",")
    with pytest.raises(GnomonError, match="'sheet' is no option"):
        read(b"a,b\n1,2\n", sheet="x")


def test_a_given_schema_rules_over_inference():
    content = b"zip,size,when,yes\n00123,M,1.2.24,ja\n00456,S,3.4.24,nein\n"
    schema = {
        "zip": "category",
        "size": {"kind": "ordered", "levels": ["S", "M", "L"]},
        "when": {"kind": "datetime", "format": "%d.%m.%y"},
        "yes": "boolean",
    }
    table = read(content, schema=schema)
    assert table.schema.kinds == {
        "zip": "category",
        "size": "ordered",
        "when": "datetime",
        "yes": "boolean",
    }
    assert table.schema["size"].levels == ("S", "M", "L")
    assert table["when"].to_pylist() == [datetime.date(2024, 2, 1), datetime.date(2024, 4, 3)]
    assert table["yes"].to_pylist() == [True, False]


def test_a_schema_may_name_some_columns_only_and_no_others():
    assert read(b"a,b\n1,2\n", schema={"a": "text"}).schema.kinds == {"a": "text", "b": "integer"}
    with pytest.raises(KeyError, match="No column is named 'c'"):
        read(b"a,b\n1,2\n", schema={"c": "text"})


def test_a_value_that_does_not_fit_the_given_schema_is_named_with_its_line():
    content = b'a,b\n1,"two\nlines"\nseven,y\n'
    with pytest.raises(ReadError, match="line 4, column 'a'") as caught:
        read(content, schema={"a": "integer"})
    assert caught.value.line == 4
    assert caught.value.column == "a"
    assert caught.value.file == "<bytes>"
    assert "missing" in caught.value.remedy


@pytest.mark.parametrize("beside", ["x.schema.toml", "x.csv.schema.toml"])
def test_a_schema_beside_the_file_is_found_and_told(tmp_path, beside):
    path = tmp_path / "x.csv"
    path.write_text("zip,n\n123,1\n456,2\n")
    read(path).schema.set("zip", kind="category").save(tmp_path / beside)
    table = read(path)
    assert table.schema["zip"].kind is Kind.CATEGORY
    assert any(beside in note for note in table.notes)
    assert read(path, schema=tmp_path / beside).schema == table.schema


def test_a_schema_read_back_reads_the_file_alike(tmp_path):
    path = tmp_path / "x.csv"
    lines = ["id,price,when,size,ok,share,clock,note"]
    for n in range(100, 140):
        size, ok = "SML"[n % 3], "yes" if n % 2 else "no"
        lines.append(f'{n},"€ {n},50",2{n}-01-02,{size},{ok},{n}%,0{n % 9}:30,-')
    path.write_text("\n".join(lines))
    first = read(path)
    first.schema.save(tmp_path / "other.toml")
    second = read(path, schema=tmp_path / "other.toml")
    assert second.schema == first.schema
    assert second.equals(first)


def test_broken_schema_files_are_refused_with_their_name(tmp_path):
    path = tmp_path / "x.schema.toml"
    for content, complaint in [
        ("version = 1\n[[column]\n", "not a schema file"),
        ("version = 9\n", "version 9 is not known"),
        ("version = 1\ncolumn = 3\n", r"\[\[column\]\] entries"),
        ('version = 1\n[[column]]\nname = "a"\n', "lacks a name or a kind"),
        ('version = 1\n[[column]]\nname = "a"\nkind = "odd"\n', "'odd' is not a kind"),
        (
            'version = 1\n[[column]]\nname = "a"\nkind = "text"\ncolour = "red"\n',
            "unknown 'colour'",
        ),
    ]:
        path.write_text(content)
        with pytest.raises(ReadError, match=complaint) as caught:
            Schema.load(path)
        assert caught.value.file == str(path)
    with pytest.raises(ReadError, match="cannot be read"):
        Schema.load(tmp_path / "absent.toml")


ARFF = """% a comment
@RELATION 'the weather'

@attribute 'out look' {sunny, overcast, "light rain"}
@attribute temperature NUMERIC
@attribute humidity real
@attribute visitors integer
@attribute "said" string
@attribute day date "yyyy-MM-dd"

@data
sunny, 85, 8.5e1, 3, 'it\\'s hot, really', "2024-01-02"
% another comment
'light rain',?,90,?,?,2024-02-03
overcast,64,65,7,"fine",?
"""


@pytest.mark.covers("read-table-file")
def test_arff_with_every_kind_of_attribute(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text(ARFF)
    table = read(path)
    assert table.to_dict() == {
        "out look": ["sunny", "light rain", "overcast"],
        "temperature": [85.0, None, 64.0],
        "humidity": [85.0, 90.0, 65.0],
        "visitors": [3, None, 7],
        "said": ["it's hot, really", None, "fine"],
        "day": [datetime.date(2024, 1, 2), datetime.date(2024, 2, 3), None],
    }
    assert table.schema["out look"] == Column(
        "out look", "category", "declared nominal", ("sunny", "overcast", "light rain")
    )
    assert table.schema["visitors"].kind is Kind.INTEGER


@pytest.mark.covers("read-table-file")
def test_arff_with_sparse_rows_and_weights(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@attribute s string\n@data\n"
        "{0 1.5, 2 'one, two'}\n{1 y}, {2.5}\n{}\n1,x,z\n"
    )
    table = read(path)
    assert table["a"].to_pylist() == [1.5, 0.0, 0.0, 1.0]
    assert table["c"].to_pylist() == ["x", "y", "x", "x"]
    assert table["s"].to_pylist() == ["one, two", None, None, "z"]
    assert table["instance_weight"].to_pylist() == [1.0, 2.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "complaint"),
    [
        ("overcast,64", "foggy,64", 15, "out look", "'foggy' is not among the declared values"),
        ("overcast,64", "overcast,warm", 15, "temperature", "'warm' is not a number"),
        (",7,", ",7.5,", 15, "visitors", "'7.5' is not a whole number"),
        ("2024-02-03", "2024-02-31", 14, "day", "is not a date"),
        ("overcast,64,65", "overcast,64", 15, None, "has 5 values where 6"),
        ("NUMERIC", "imaginary", 5, "temperature", "type 'imaginary' is not known"),
        ("@data", "@dita", 11, None, "neither @relation"),
        ('"fine"', '"fine', 15, None, "quote or brace is wrong"),
    ],
)
def test_arff_errors_name_line_and_column(tmp_path, old, new, line, column, complaint):
    path = tmp_path / "x.arff"
    path.write_text(ARFF.replace(old, new))
    with pytest.raises(ReadError) as caught:
        read(path)
    assert complaint in str(caught.value)
    assert caught.value.line == line
    assert caught.value.column == column


def test_arff_agrees_with_scipy_on_dense_numbers_and_nominals(tmp_path, rng):
    from scipy.io import arff

    path = tmp_path / "x.arff"
    numbers = rng.normal(size=(20, 2))
    letters = rng.choice(["a", "b"], size=20)
    rows = "\n".join(f"{x!r},{y!r},{c}" for (x, y), c in zip(numbers.tolist(), letters))
    path.write_text(
        "@relation r\n@attribute x real\n@attribute y real\n@attribute c {a,b}\n@data\n" + rows
    )
    peer, _ = arff.loadarff(path)
    table = read(path)
    assert table["x"].to_pylist() == peer["x"].tolist()
    assert table["y"].to_pylist() == peer["y"].tolist()
    assert table["c"].to_pylist() == [value.decode() for value in peer["c"]]


def test_numbers_are_those_that_python_reads(rng):
    numbers = np.concatenate([rng.normal(size=50), 10 ** rng.uniform(-300, 300, size=50)])
    content = "x\n" + "\n".join(map(repr, numbers.tolist()))
    assert read(content.encode())["x"].to_pylist() == numbers.tolist()


@pytest.mark.parametrize(
    "late",
    ["1.5", "7", "oops", "NA", " ", "inf", "1e999", "-nan", "1,5", "007", '"2.5"', "", "1.234"],
)
def test_a_late_value_is_understood_as_if_all_had_been_strings(monkeypatch, late):
    """Plain decimal columns are converted while they are read; nothing may differ by that."""
    from gnomon.table import delimited

    lines = ["x;y", *(f"{n}.25;{n}.125" for n in range(1, 3000)), f"{late};1"]
    content = "\n".join(lines).encode()
    fast = read(content)
    monkeypatch.setattr(delimited.DelimitedFile, "_plainly_decimal", lambda self: set())
    slow = read(content)
    assert fast.schema == slow.schema
    assert fast.arrow.equals(slow.arrow)
    assert fast.notes == slow.notes


def test_arff_is_known_by_its_start_and_dates_by_a_format_in_single_quotes():
    content = b"% made today\n@relation r\n@attribute d date 'dd.MM.yyyy'\n@data\n31.01.2024\n"
    assert read(content)["d"].to_pylist() == [datetime.date(2024, 1, 31)]


@pytest.mark.parametrize("content", [b'{"a":1}\n{"a":2,"a":3}\n', b'[{"a":2,"a":3}]'])
def test_a_field_named_twice_in_an_object_is_refused(content):
    with pytest.raises(ReadError, match="'a' twice"):
        read(content)


def test_types_that_no_table_holds_are_named_with_their_column():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1.5], "n": polars.Series([2**70], dtype=polars.Int128)})
    with pytest.raises(DataError, match=r"leave out: 'n' \(Int128\)"):
        read(frame)
    pytest.importorskip("duckdb")
    with pytest.raises(ReadError, match=r"'i': holds intervals.*epoch"):
        read(sql="select interval 1 month as i")


def test_numbers_too_large_for_a_type_name_the_kind_that_takes_them():
    content = b"n,y\n123456789012345678901234,1\n2,2\n"
    assert any("kind='number'" in note for note in read(content).notes)
    assert read(content, schema={"n": "number"})["n"].to_pylist()[1] == 2.0


def test_a_column_of_texts_of_equally_many_words_is_one_column(tmp_path):
    texts = ["the ship is at sea", "bread is made of flour"] * 40
    Table.from_dict({"body": texts}).save(tmp_path / "letters.csv")
    assert values(tmp_path / "letters.csv") == {"body": texts}
    rows = "".join(f"{k} {k + 1} {k + 2}\n" for k in range(80))
    (tmp_path / "numbers.txt").write_text("a b c\n" + rows)
    assert len(values(tmp_path / "numbers.txt")) == 3
