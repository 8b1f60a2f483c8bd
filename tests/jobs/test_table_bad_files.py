"""Files as people have them: what is wrong is named with file, line, column and remedy."""

import gzip
import io
import pickle
import re
import zipfile

import numpy as np
import pytest
from openpyxl import Workbook

from gnomon.engine.errors import GnomonWarning
from gnomon.table import ReadError, read, scan
from gnomon.table.source import ByteSource


def write(folder, content, name="x.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(source, **options):
    """The error that reading gives; it must say what to do."""
    with pytest.raises(ReadError) as caught:
        read(source, **options)
    error = caught.value
    assert error.remedy
    assert error.remedy in str(error)
    if error.line is not None:
        assert f"line {error.line}" in str(error)
    return error


@pytest.mark.parametrize("bad", ["1,2\n", "1,2,3,4\n"])
def test_ragged_rows_are_refused_with_their_lines(tmp_path, bad):
    path = write(tmp_path, "a,b,c\n1,2,3\n" + bad + '4,"5\n6",7\n' + bad + "8,9,10\n")
    error = refused(path)
    assert error.file == str(path)
    assert error.line == 3
    assert "where 3 are expected (also lines 6)" in error.problem
    assert "ragged='pad'" in error.remedy


def test_ragged_rows_are_padded_when_asked_and_told(tmp_path):
    path = write(tmp_path, "a,b\n1\n2,x\n3,y,z\n")
    with pytest.warns(GnomonWarning) as caught:
        table = read(path, ragged="pad")
    assert "1 row too short" in str(caught[0].message)
    assert table.to_dict() == {"a": [1, 2, 3], "b": [None, "x", "y"], "column_3": [None, None, "z"]}
    assert any("1 row too long" in note for note in table.notes)


def test_a_ragged_row_far_down_a_large_file_is_found(tmp_path, rng):
    lines = ["a,b,c", *(f"{n},{n},{n}" for n in range(60_000))]
    place = int(rng.integers(10_000, 60_000))
    lines[place] = "1,2"
    error = refused(write(tmp_path, "\n".join(lines)))
    assert error.line == place + 1


def test_nul_bytes_are_refused_with_their_line(tmp_path):
    error = refused(write(tmp_path, b"a,b\n1,2\n3,\x004\n"))
    assert error.line == 3
    assert "NUL" in error.problem
    assert refused(write(tmp_path, b"a,b\x00\n1,2\n3,4\n")).line == 1
    error = refused(write(tmp_path, b"a b  c\n1 2  3\n3 4\x00  5\n"))
    assert error.line == 3


def test_a_byte_of_another_encoding_is_named_with_offset_and_line(tmp_path):
    path = write(tmp_path, b"city,n\nBern,1\nZ\xfcrich,2\n")
    error = refused(path, encoding="utf-8")
    assert error.line == 3
    assert "0xfc at offset 15" in error.problem
    assert "cp1252" in error.remedy
    table = read(path)
    assert table["city"].to_pylist() == ["Bern", "Zürich"]
    assert any("offset 15" in note and "cp1252" in note for note in table.notes)


def test_a_broken_byte_in_a_utf8_file_is_refused_not_guessed(tmp_path):
    good = "Zürich,Málaga\n" * 5
    error = refused(write(tmp_path, b"a,b\n" + good.encode() + b"x,\xff\n"))
    assert error.line == 7
    assert "though most of the file is" in error.problem


def test_a_file_beyond_the_memory_limit_is_refused_before_it_is_read(tmp_path):
    import gnomon
    from gnomon.engine.errors import MemoryLimitError

    path = write(tmp_path, "a,b\n" + "1,2\n" * 100_000)
    with gnomon.config(memory_limit="1MB"):
        with pytest.raises(MemoryLimitError, match=r"Reading .*x\.csv would need .*scan"):
            read(path)
        assert scan(path).count_rows() == 100_000


def test_a_warning_shows_the_line_of_the_caller(tmp_path):
    with pytest.warns(GnomonWarning) as caught:
        read(write(tmp_path, "a,a\n1,2\n"))
    assert caught[0].filename == __file__


def test_an_unknown_encoding_is_refused(tmp_path):
    assert "'klingon' is not an encoding" in refused(b"a,b\n1,2\n", encoding="klingon").problem


@pytest.mark.parametrize("cut", [1, 3])
def test_half_a_character_at_the_end_is_refused(tmp_path, cut):
    content = "a,b\n1,x\n".encode("utf-16") + "é".encode("utf-16-le")[:1]
    assert "is not utf-16" in refused(write(tmp_path, content)).problem


def test_empty_files_and_files_without_rows_are_told_apart(tmp_path):
    assert "is empty" in refused(write(tmp_path, "")).problem
    assert "header but no rows" in refused(write(tmp_path, "a,b\n")).problem
    assert "holds no records" in refused(write(tmp_path, "\n\n\n")).problem
    assert "holds no records" in refused(write(tmp_path, "a,b\n1,2\n"), skip_rows=5).problem
    with pytest.raises(ReadError, match="has no rows"):
        scan(write(tmp_path, "a,b\n"))
    header = "@relation r\n@attribute a real\n@data\n"
    assert "no rows" in refused(write(tmp_path, header, "x.arff")).problem


def test_duplicate_and_empty_names_are_repaired_and_told(tmp_path):
    path = write(tmp_path, "a,a,,a.1,\n1,2,3,4,5\n")
    with pytest.warns(GnomonWarning):
        table = read(path)
    assert table.columns == ("a", "a.2", "column_3", "a.1", "column_5")
    assert len([note for note in table.notes if "is called" in note]) == 3


def test_a_directory_lists_what_it_holds(tmp_path):
    write(tmp_path, "a\n1\n", "inside.csv")
    error = refused(tmp_path)
    assert "is a directory; it holds inside.csv" in error.problem


def test_a_missing_file_suggests_names_that_are_near(tmp_path):
    write(tmp_path, "a\n1\n", "sales_2024.csv")
    assert "'sales_2024.csv'" in refused(tmp_path / "sales2024.csv").remedy
    assert "does not exist either" in refused(tmp_path / "no" / "x.csv").remedy
    assert "nothing of a similar name" in refused(tmp_path / "qqqqqqqq").remedy


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(50)


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inside.csv", "a\n1\n")
        archive.writestr("other.csv", "a\n2\n")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (PNG, "PNG picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(30), "JPEG picture"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
        (pickle.dumps({"a": [1, 2]}, protocol=4), "pickle"),
        (zipped(), "zip archive with 2 files"),
        (zipped()[:-10], "zip archive that cannot be unpacked"),
        (np.arange(1000, dtype=np.int32).tobytes()[200:], "NUL|binary|control"),
        (bytes(range(1, 32)) * 20, "control characters"),
    ],
)
@pytest.mark.parametrize("name", ["x.csv", "x", "x.json"])
def test_binary_files_are_named_for_what_they_are(tmp_path, content, what, name):
    error = refused(write(tmp_path, content, name))
    assert any(word in error.problem for word in what.split("|"))


@pytest.mark.parametrize("name", ["x.csv", "x.xls", "x.json"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("<!DOCTYPE html>\n<html><body>404, not, found\n</body></html>", "HTML page"),
        ("\n <HTML lang='en'>\n<p>a, b</p>\n</HTML>", "HTML page"),
        ('<?xml version="1.0"?>\n<rows><row a="1"/></rows>', "XML document"),
    ],
)
def test_pages_for_people_are_named_for_what_they_are(tmp_path, content, what, name):
    error = refused(write(tmp_path, content, name))
    assert what in error.problem


@pytest.mark.parametrize("url", ["https://example.com/x.csv", "s3://bucket/x.parquet"])
def test_urls_are_refused_with_those_that_are_read(url):
    error = refused(url)
    assert "is a URL" in error.problem
    assert "postgresql://" in error.remedy


def test_nothing_in_a_pickle_is_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    refused(write(tmp_path, pickle.dumps(Bomb()), "x.csv"))
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("name", ["x.parquet", "x.xlsx", "x.sqlite", "x.arrow", "x.duckdb"])
def test_a_name_that_promises_another_format_is_refused(tmp_path, name):
    assert "the content does not" in refused(write(tmp_path, "a,b\n1,2\n", name)).problem


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_files_cut_off_are_refused(tmp_path, kept):
    from gnomon.table import Table

    table = Table.from_dict({"a": list(range(1000)), "b": ["x", "y"] * 500})
    for ending in ("parquet", "arrow"):
        path = tmp_path / f"whole.{ending}"
        table.save(path)
        content = path.read_bytes()
        error = refused(write(tmp_path, content[: int(kept * len(content))], f"x.{ending}"))
        assert "damaged" in error.problem
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    error = refused(write(tmp_path, packed[: int(kept * len(packed))], "x.csv.gz"))
    assert "damaged or cut off" in error.problem


def test_a_quote_that_is_never_closed_is_named_with_its_line(tmp_path):
    error = refused(write(tmp_path, 'a,b\n1,x\n2,"y\n3,z\n4,w\n'))
    assert error.line == 3
    assert "never closed" in error.problem
    assert "quote=None" in error.remedy


def test_a_quote_never_closed_far_down_is_found(tmp_path):
    lines = ["a,b", *(f"{n},x" for n in range(40_000)), '7,"open', "8,y"]
    path = write(tmp_path, "\n".join(lines))
    assert refused(path).line == 40_002
    with pytest.raises(ReadError, match="never closed"):
        list(scan(path).chunks())


def test_a_line_of_many_megabytes_is_read(tmp_path):
    path = write(tmp_path, "a,b\n1," + "x" * 5_000_000 + "\n2,y\n")
    assert [len(value) for value in read(path)["b"].to_pylist()] == [5_000_000, 1]
    wide = ",".join(f"c{n}" for n in range(4000)) + "\n" + ",".join(["1"] * 4000) + "\n"
    assert scan(write(tmp_path, wide)).head(1).shape == (1, 4000)


def grow(monkeypatch, path, when):
    """Append to the file while it is being read."""
    take = ByteSource.take
    calls = 0

    def taken(self, file, size):
        nonlocal calls
        calls += 1
        if calls == when:
            with open(path, "ab") as out:
                out.write(b"9,9\n")
        return take(self, file, size)

    monkeypatch.setattr(ByteSource, "take", taken)


@pytest.mark.parametrize("when", [3, 6])
def test_a_file_that_grows_while_read_is_refused(tmp_path, monkeypatch, when):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 1000)
    grow(monkeypatch, path, when)
    error = refused(path)
    assert "grew from 4,004 to 4,008 bytes" in error.problem


def test_a_scan_of_a_file_that_changes_is_refused(tmp_path):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 1000)
    table = scan(path, rows_per_chunk=100)
    chunks = table.chunks()
    next(chunks)
    with open(path, "ab") as out:
        out.write(b"9,9\n")
    with pytest.raises(ReadError, match="grew from"):
        list(chunks)
    with pytest.raises(ReadError, match="grew from"):
        table.head()
    path.unlink()
    with pytest.raises(ReadError, match="removed"):
        table.count_rows()


def test_a_file_replaced_by_one_of_equal_size_is_noticed(tmp_path):
    import os

    path = write(tmp_path, "a,b\n1,2\n")
    table = scan(path)
    stat = os.stat(path)
    path.write_bytes(b"a,b\n1,3\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(ReadError, match="changed since"):
        list(table.chunks())


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        ('{"a": 1}\n{"a": 2\n', 2, "is not JSON"),
        ('[{"a": 1},\n {"a": }]', 2, "is not JSON"),
        ("[1, 2]", None, "entry 1 is int"),
        ('{"a": 1}\n[3]\n', None, "line 2 is list"),
        ('{"x": {"a": 1},\n"y": 2}', None, None),
        ("   \n", None, "nothing but blanks"),
    ],
)
def test_broken_json_is_named_with_its_line(tmp_path, content, line, complaint):
    path = write(tmp_path, content, "x.json")
    if complaint is None:
        assert len(read(path)) == 1
        return
    with pytest.raises(ReadError, match=complaint) as caught:
        read(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("row", "kind", "complaint"),
    [
        ("oops,1,a,2024-01-01", "x", "'oops' is not a number"),
        ("1.5,1.5,a,2024-01-01", "n", "'1.5' is not a whole number"),
        ("1.5,1,zzz,2024-01-01", "c", "'zzz' is not among the levels"),
        ("1.5,1,a,1.2.2024", "d", "is no date written as %Y-%m-%d"),
    ],
)
def test_a_late_value_that_does_not_fit_is_named_by_scan(tmp_path, row, kind, complaint):
    lines = ["x,n,c,d", *(f"{n}.5,{n},{'ab'[n % 2]},2024-01-{n % 28 + 1:02}" for n in range(3000))]
    lines[2000] = row
    table = scan(write(tmp_path, "\n".join(lines)), sample_rows=500)
    assert "in the first 500 rows" in table.schema["x"].reason
    with pytest.raises(ReadError) as caught:
        list(table.chunks())
    assert caught.value.line == 2001
    assert caught.value.column == kind
    assert complaint in caught.value.problem
    assert caught.value.remedy


def test_errors_survive_pickling():
    error = ReadError("wrong", file="x", line=3, column="c", remedy="Do it right.", row=2)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert (again.file, again.line, again.column, again.remedy) == ("x", 3, "c", "Do it right.")


@pytest.mark.parametrize(
    "content", ['[{"a\\ud83d": "x\\ude42"}]', '{"a\\ud83d": "x\\ude42"}\n{"a\\ud83d": 1}']
)
def test_halves_of_letters_in_json_are_replaced_and_that_is_said(tmp_path, content):
    table = read(write(tmp_path, content, "x.json"))
    assert [column.name for column in table.schema] == ["a\ufffd"]
    assert table.column("a\ufffd").to_pylist()[0] == "x\ufffd"
    assert "Halves of letters" in " ".join(table.notes)
    two = '[{"a\\ud83d": 1, "a\\ud83e": 2}]'
    assert "differ in halves of letters" in refused(write(tmp_path, two, "y.json")).problem


def test_a_spreadsheet_that_lists_no_sheet_is_refused(tmp_path):
    whole, damaged = tmp_path / "whole.xlsx", tmp_path / "damaged.xlsx"
    Workbook().save(whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(damaged, "w") as copy:
        for each in source.namelist():
            content = source.read(each)
            if each == "xl/workbook.xml":
                content = re.sub(rb"<sheets>.*</sheets>", b"<sheets></sheets>", content)
            copy.writestr(each, content)
    assert "has no sheet" in refused(damaged).problem
