"""Scans: the rows of `read`, in chunks of exact length, as often as wanted, in bounded memory."""

import gzip
import json
import sqlite3

import pyarrow as pa
import pyarrow.parquet
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Column, Kind, ReadError, Schema, Table, read, scan
from gnomon.table.scan import cut


@pytest.fixture
def csv(tmp_path, rng):
    """A file of 5,000 rows with every kind of column."""
    n = 5000
    words = rng.choice(["red", "green", "blue", ""], n)
    lines = ["id,x,n,color,day,ok,weight,note"]
    for row in range(n):
        ok = "yes" if rng.random() < 0.5 else "no"
        lines.append(
            f"{row},{rng.normal():.6f},{rng.integers(100)},{words[row]},2024-01-{row % 28 + 1:02},"
            f"{ok},{row % 90} kg,a free text of number {row} here"
        )
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def joined(opened):
    return pa.concat_tables([chunk.arrow for chunk in opened.chunks()])


@pytest.mark.parametrize("rows", [1, 7, 999, 1000, 5000, 9999])
def test_chunks_have_exact_lengths_and_are_the_rows_of_read(csv, rows):
    if rows == 1:
        csv.write_text("\n".join(csv.read_text().split("\n")[:200]))
    whole = read(csv)
    opened = scan(csv, rows_per_chunk=rows)
    chunks = list(opened.chunks())
    assert [len(chunk) for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)
    assert 0 < len(chunks[-1]) <= rows
    assert opened.schema.kinds == whole.schema.kinds
    assert pa.concat_tables([chunk.arrow for chunk in chunks]).equals(whole.arrow)


def test_a_second_pass_gives_the_same_rows(csv):
    opened = scan(csv, rows_per_chunk=800)
    assert joined(opened).equals(joined(opened))
    assert opened.read().arrow.equals(read(csv).arrow)
    assert joined(opened) == pa.concat_tables([chunk.arrow for chunk in opened])


def test_chunk_borders_do_not_depend_on_how_the_file_is_cut_inside(csv, monkeypatch):
    from gnomon.table import delimited

    first = [chunk.arrow for chunk in scan(csv, rows_per_chunk=700).chunks()]
    monkeypatch.setattr(delimited, "BLOCK", 4096)
    second = [chunk.arrow for chunk in scan(csv, rows_per_chunk=700).chunks()]
    assert all(one.equals(other) for one, other in zip(first, second))
    assert len(first) == len(second)


def test_cut_gives_the_same_rows_for_any_pieces(rng):
    table = pa.table({"x": list(range(1000))})
    for _ in range(20):
        marks = sorted(rng.integers(0, 1000, size=int(rng.integers(0, 30))).tolist())
        pieces = [table.slice(low, high - low) for low, high in zip([0, *marks], [*marks, 1000])]
        rows = int(rng.integers(1, 400))
        parts = list(cut(pieces, rows))
        assert all(len(part) == rows for part in parts[:-1])
        assert pa.concat_tables(parts).equals(table)


def test_the_default_chunk_is_a_power_of_two_and_depends_on_the_width_only(csv):
    rows = scan(csv).rows_per_chunk
    assert rows & (rows - 1) == 0
    assert rows == scan(csv.read_bytes()[:100_000].rsplit(b"\n", 1)[0]).rows_per_chunk
    with pytest.raises(DataError, match="whole number of at least 1"):
        scan(csv, rows_per_chunk=0)


def test_every_format_is_streamed_with_the_rows_of_read(tmp_path, csv):
    table = read(csv)
    table.save(tmp_path / "x.parquet")
    table.save(tmp_path / "x.arrow")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(csv.read_bytes()))
    (tmp_path / "wide.csv").write_bytes(csv.read_text().encode("utf-16"))
    rows = [{"a": n, "b": f"w{n % 5}", "c": {"d": n / 7}} for n in range(3000)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with sqlite3.connect(tmp_path / "x.sqlite") as data:
        data.execute("create table t (a integer, b text, c real)")
        data.executemany(
            "insert into t values (?, ?, ?)", [(n, f"w{n % 5}", n / 7) for n in range(3000)]
        )
    data.close()
    names = ["x.parquet", "x.arrow", "x.csv.gz", "wide.csv", "x.jsonl", "x.sqlite"]
    for name in names:
        whole = read(tmp_path / name)
        opened = scan(tmp_path / name, rows_per_chunk=512)
        assert opened.read().arrow.equals(whole.arrow), name
        assert opened.schema.kinds == whole.schema.kinds, name
        assert opened.count_rows() == len(whole)
        assert opened.head(3).arrow.equals(whole.head(3).arrow)


def test_queries_are_streamed_in_order(tmp_path):
    pyarrow.parquet.write_table(pa.table({"v": list(range(300_000))}), tmp_path / "x.parquet")
    query = f"select v, v % 3 as g from '{tmp_path / 'x.parquet'}' where v % 2 = 0"
    opened = scan(sql=query, rows_per_chunk=10_000)
    assert joined(opened)["v"].to_pylist() == list(range(0, 300_000, 2))
    frame = Table.from_dict({"v": [3, 1, 2]})
    ordered = scan(sql="select v from t order by v", tables={"t": frame})
    assert ordered.read()["v"].to_pylist() == [1, 2, 3]


def test_frames_and_other_formats_are_cut_in_memory(tmp_path):
    table = Table.from_dict({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    opened = scan(table, rows_per_chunk=2)
    assert [len(chunk) for chunk in opened.chunks()] == [2, 1]
    assert opened.read().equals(table)
    (tmp_path / "x.arff").write_text("@relation r\n@attribute a real\n@data\n1\n2\n")
    streamed = scan(tmp_path / "x.arff")
    assert streamed.read()["a"].to_pylist() == [1.0, 2.0]
    assert any("read into memory" in note for note in streamed.notes)


def test_columns_can_be_selected_dropped_and_given_other_kinds(csv):
    opened = scan(csv)
    assert opened.select(["n", "x"]).head(2).columns == ("n", "x")
    assert opened.drop("note").columns == opened.columns[:-1]
    assert scan(csv, columns=["color"]).read().arrow.equals(read(csv, columns=["color"]).arrow)
    as_number = opened.set("n", kind="number")
    assert as_number.read()["n"].type == pa.float64()
    with pytest.raises(DataError, match="cannot find the levels by itself"):
        opened.set("n", kind="category")
    with pytest.raises(KeyError, match="No column is named 'colr'"):
        opened.select(["colr"])


def test_all_levels_can_be_collected_by_one_pass(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("c\n" + "a\nb\n" * 500 + "late\n")
    opened = scan(path, sample_rows=100)
    assert opened.schema["c"].levels == ("a", "b")
    complete = opened.with_all_levels()
    assert complete.schema["c"].levels == ("a", "b", "late")
    assert complete.read()["c"].to_pylist()[-1] == "late"
    assert {chunk.schema["c"].levels for chunk in complete.chunks()} == {("a", "b", "late")}


def test_a_scan_leaves_out_the_spaces_ends_and_titles_that_read_leaves_out():
    content = b"Report,\n a , b\n" + b"M ,1\n F,2\nM,3\n" * 100 + b" late ,4\n"
    opened = scan(content, sample_rows=50, rows_per_chunk=64).with_all_levels()
    assert opened.schema["a"].levels == ("F", "M", "late")
    assert opened.read().to_dict() == read(content).to_dict()
    trailing = b"a,b\n" + b"1,x,\n2,y,\n" * 20
    assert scan(trailing, rows_per_chunk=7).read().to_dict() == read(trailing).to_dict()


def test_codes_of_categories_are_the_same_in_all_chunks(csv):
    opened = scan(csv, rows_per_chunk=100)
    levels = opened.schema["color"].levels
    for chunk in opened.chunks():
        assert tuple(chunk["color"].chunk(0).dictionary.to_pylist()) == levels


def test_a_schema_rules_over_the_sample_and_is_found_beside_the_file(csv):
    schema = Schema([Column("n", "number"), Column("note", "identifier")])
    opened = scan(csv, schema=schema)
    assert opened.schema["n"].kind is Kind.NUMBER
    assert opened.schema["x"].kind is Kind.NUMBER
    opened.schema.save(csv.with_name("x.schema.toml"))
    again = scan(csv)
    assert again.schema == opened.schema
    assert any("x.schema.toml" in note for note in again.notes)


def test_the_number_of_rows_is_remembered(csv, monkeypatch):
    opened = scan(csv)
    assert "? rows" in repr(opened)
    assert opened.count_rows() == 5000
    assert "5,000 rows" in repr(opened)
    monkeypatch.setattr(opened._feed, "pieces", None)
    assert opened.count_rows() == 5000
    assert opened.select(["x"]).count_rows() == 5000


def test_blanks_around_words_for_missing_do_not_stop_a_scan(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1.5,2\n" * 3000 + " , NA\n" + "2.5,3\n" * 3000)
    opened = scan(path, sample_rows=100, rows_per_chunk=1000)
    whole = opened.read()
    assert len(whole) == 6001
    assert whole.row(3000) == {"a": None, "b": None}


def test_a_late_integer_beyond_64_bits_is_refused_not_rounded(tmp_path):
    from gnomon.table import ReadError

    path = tmp_path / "x.csv"
    path.write_text("a\n" + "1\n" * 500 + "123456789012345678901\n")
    with pytest.raises(ReadError, match="line 502, column 'a'"):
        list(scan(path, sample_rows=100).chunks())


def test_memory_of_a_pass_does_not_grow_with_the_file(tmp_path):
    """Arrow's peak is the same for a file of four times the length."""
    line = "0.123456,17,red,2024-01-02,some words that take room\n"
    peaks = []
    for copies in (100_000, 400_000):
        path = tmp_path / f"{copies}.csv"
        path.write_text("x,n,c,d,t\n" + line * copies)
        opened = scan(path, rows_per_chunk=8192, sample_rows=1000)
        before = pa.total_allocated_bytes()
        peak = 0
        for _ in opened.chunks():
            peak = max(peak, pa.total_allocated_bytes() - before)
        peaks.append(peak)
    assert peaks[1] < 1.5 * peaks[0] + 2**23
    assert peaks[1] < 2**26


@pytest.mark.parametrize("odd", ["- 1", "(1)", "−1", "+ 1"])
def test_a_number_that_read_understands_is_understood_by_scan(odd):
    content = "\n".join(["x,y", "1,2", f"{odd},3", "5,6"]).encode()
    assert scan(content).read().to_dict() == read(content).to_dict()
    later = "\n".join(["x,y", *["1,2"] * 50, f"{odd},3"]).encode()
    assert scan(later, sample_rows=10).read().to_dict() == read(later).to_dict()


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b'{"a":1}\n{"a":2}\n{"a":"x"}\n', 3, "changed from number to string"),
        (b'{"a":1}\n{"a":\n', 2, "is not JSON"),
        (b'{"a":1}\n{"a":2,"a":3}\n', 2, "'a' twice"),
        (b'{"a":[1,2],"b":[3,4]}', None, "object of columns"),
    ],
)
def test_json_that_cannot_be_streamed_is_refused_with_its_line(content, line, said, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=said) as caught:
        scan(path)
    assert caught.value.line == line
    assert caught.value.remedy


def test_a_scan_of_json_says_that_it_rounds_what_read_keeps(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a":123456789012345678901234}\n{"a":1}\n')
    assert any("'a'" in note and "rounded" in note for note in scan(path).notes)
