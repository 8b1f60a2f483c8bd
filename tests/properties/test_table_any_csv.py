"""Any table written in any common way comes back; any bytes give a table or a clear error."""

import csv
import datetime
import io
import string
import warnings

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.engine.errors import GnomonWarning
from gnomon.table import Column, Kind, ReadError, Schema, Table, read, recode, scan
from gnomon.table.missing import USUAL

BOOLEAN_WORDS = {word for pair in recode.BOOLEAN_WORDS for word in pair}
MORE = settings(max_examples=4 * settings.default.max_examples)

LETTERS = st.text(string.ascii_letters + "äéßñ水 _'#;|%&", min_size=1, max_size=12)
WORDS = LETTERS.map(str.strip).filter(
    lambda word: (
        word and word not in USUAL and not word.startswith("#") and any(map(str.isalpha, word))
    )
)


@st.composite
def columns(draw, rows):
    """Values of one kind with missing ones among them, as Python objects, and their kind."""
    kind = draw(st.sampled_from(["integer", "number", "words", "date", "boolean"]))
    cells = {
        "integer": st.integers(-(2**63), 2**63 - 1),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "words": WORDS,
        "date": st.dates(datetime.date(1000, 1, 1)),
        "boolean": st.booleans(),
    }[kind]
    values = draw(st.lists(st.none() | cells, min_size=rows, max_size=rows))
    return kind, values


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))
    width = draw(st.integers(2, 5))
    names = draw(st.lists(WORDS, min_size=width, max_size=width, unique=True))
    return {name: draw(columns(rows)) for name in names}


def written(value, kind, decimal):
    if value is None:
        return ""
    if kind == "number":
        return repr(value).replace(".", decimal)
    if kind == "boolean":
        return "true" if value else "false"
    return str(value)


def as_csv(table, delimiter, quoting, decimal, line_end, missing):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerow(table)
    for row in zip(*([(kind, value) for value in values] for kind, values in table.values())):
        cells = [written(value, kind, decimal) for kind, value in row]
        writer.writerow([missing if cell == "" else cell for cell in cells])
    return out.getvalue()


def plain_csv(table):
    return as_csv(table, ",", csv.QUOTE_MINIMAL, ".", "\n", "").encode()


def agrees(found, value, kind):
    if value is None or found is None:
        return value is None and found is None
    return found == value


@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([".", ","]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "NA", "?"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"]),
)
def test_tables_written_in_a_named_dialect_come_back(
    table, delimiter, quoting, decimal, line_end, missing, encoding
):
    text = as_csv(table, delimiter, quoting, decimal, line_end, missing)
    kinds = {"words": "text", "date": "datetime"}
    schema = {
        name: Column(name, kinds.get(kind, kind), decimal=decimal if kind == "number" else None)
        for name, (kind, _) in table.items()
    }
    found = read(
        text.encode(encoding),
        schema={name: column.set(missing=[missing]) for name, column in schema.items()},
        delimiter=delimiter,
        encoding=encoding,
        header=True,
    )
    for name, (kind, values) in table.items():
        back = found[name].to_pylist()
        assert all(agrees(one, other, kind) for one, other in zip(back, values)), (name, text)
        assert len(back) == len(values)


@given(tables(), st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_what_is_inferred_loses_no_value(table, delimiter, line_end):
    """Whatever kinds are inferred, writing the values again gives what stood in the file."""
    text = as_csv(table, delimiter, csv.QUOTE_MINIMAL, ".", line_end, "")
    found = read(text.encode(), delimiter=delimiter, header=True, missing=[])
    again = [found[name].to_pylist() for name in found.columns]
    assert len(again) == len(table)
    for back, (kind, values) in zip(again, table.values()):
        for one, other in zip(back, values):
            if other is None:
                assert one is None
            elif isinstance(one, str):
                assert one == written(other, kind, ".") or one.strip() == str(other)
            elif isinstance(one, bool):
                assert written(other, kind, ".").lower() in BOOLEAN_WORDS
            elif kind != "words":
                assert one == other


@given(tables())
def test_kinds_do_not_depend_on_the_order_of_rows(table):
    reversed_rows = {name: (kind, values[::-1]) for name, (kind, values) in table.items()}
    first, second = (
        read(plain_csv(each), header=True, delimiter=",") for each in (table, reversed_rows)
    )
    assert first.schema.kinds == second.schema.kinds


@given(tables(), st.integers(1, 5))
def test_chunks_of_a_scan_joined_are_the_table_that_read_gives(table, rows_per_chunk):
    content = plain_csv(table)
    whole = read(content, header=True, delimiter=",")
    chunks = list(scan(content, header=True, delimiter=",", rows_per_chunk=rows_per_chunk).chunks())
    joined = pa.concat_tables([chunk.arrow for chunk in chunks])
    assert joined.equals(whole.arrow)
    assert all(len(chunk) == rows_per_chunk for chunk in chunks[:-1])
    assert all(chunk.schema == whole.schema for chunk in chunks)


@given(tables())
def test_saving_and_reading_parquet_keeps_values_and_schema(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("saved") / "x.parquet"
    content = plain_csv(table)
    first = read(content, header=True, delimiter=",")
    first.save(path)
    second = read(path)
    assert second.equals(first)
    assert second.schema == first.schema


@MORE
@given(st.binary(max_size=300))
def test_random_bytes_give_a_table_or_a_read_error(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        try:
            table = read(content)
        except ReadError:
            return
    assert isinstance(table, Table)
    assert len(table) > 0


@MORE
@given(
    st.text(st.sampled_from("ab1.,;\"'\t \n\r#-?:/{}[]%@€é"), max_size=80),
    st.sampled_from([None, "x.json", "x.jsonl", "x.arff", "x.csv"]),
)
def test_random_text_gives_a_table_or_a_read_error(text, name):
    source = io.BytesIO(text.encode())
    source.name = name or "x"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        try:
            table = read(source)
        except ReadError:
            return
    assert len(table) > 0


@given(st.text(st.sampled_from("ab1.,;\"' \n#-?"), min_size=1, max_size=60), st.integers(1, 4))
def test_scan_and_read_agree_on_random_text(text, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        try:
            whole = read(text.encode())
        except ReadError:
            whole = None
        try:
            parts = list(scan(text.encode(), rows_per_chunk=rows).chunks())
        except ReadError:
            parts = None
    assert (whole is None) == (parts is None)
    if whole is not None:
        assert pa.concat_tables([part.arrow for part in parts]).equals(whole.arrow)


NASTY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(NASTY, unique=True, max_size=6), st.data())
def test_a_schema_with_nasty_names_survives_its_file(tmp_path_factory, names, data):
    path = tmp_path_factory.mktemp("schema") / "x.schema.toml"
    optional = st.none() | NASTY
    schema = Schema(
        Column(
            name,
            data.draw(st.sampled_from([kind for kind in Kind if kind is not Kind.BOOLEAN])),
            data.draw(NASTY),
            levels=data.draw(st.none() | st.lists(NASTY, unique=True, max_size=4)),
            unit=data.draw(optional),
            missing=data.draw(st.none() | st.lists(NASTY, max_size=3)),
        )
        for name in names
    )
    schema.save(path)
    assert Schema.load(path) == schema


@given(st.lists(NASTY, min_size=1, max_size=5))
def test_any_names_become_distinct_and_filled(names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        table = Table(pa.table([pa.array([1])] * len(names), names=names))
    assert len(set(table.columns)) == len(names)
    assert all(name.strip() for name in table.columns)


@given(st.lists(NASTY, min_size=1, max_size=8))
def test_the_looks_of_any_table_are_safe(values):
    table = Table.from_dict({"<b>": pa.array(values, pa.string())})
    page = table._repr_html_()
    assert "<b>" not in page
    assert "\x1b" not in repr(table)
