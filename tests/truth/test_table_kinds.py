"""What a column of written values is taken for, case by case, and why."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Column, Kind, ReadError, Schema, Table, read

UTC = datetime.UTC
Day, Moment = datetime.date, datetime.datetime


def column_of(values, name="x", **options):
    return Table.from_dict({name: values}, parse=True, **options)


def found(values, name="x"):
    """Kind and values of one column of strings."""
    table = column_of(values, name)
    return table.schema[name], table[name].to_pylist()


@pytest.mark.covers("read-table-file", "typed-table")
@pytest.mark.parametrize(
    ("written", "kind", "values"),
    [
        (["1", "-2", "+3"], "integer", [1, -2, 3]),
        (["0", "1", "0"], "integer", [0, 1, 0]),
        (["9223372036854775807", "-9223372036854775808"], "integer", [2**63 - 1, -(2**63)]),
        (["1.5", "2", ".5"], "number", [1.5, 2.0, 0.5]),
        (["1e3", "2.5E-2"], "number", [1000.0, 0.025]),
        (["1e308", "-1e308"], "number", [1e308, -1e308]),
        (["inf", "-Infinity", "1"], "number", [np.inf, -np.inf, 1.0]),
        (["nan", "1.5"], "number", [None, 1.5]),
        (["1.5 ", " 2"], "number", [1.5, 2.0]),
        (["1,5", "2,25"], "number", [1.5, 2.25]),
        (["1,234.50", "2"], "number", [1234.5, 2.0]),
        (["1.234,50", "2"], "number", [1234.5, 2.0]),
        (["1,234,567", "1"], "integer", [1234567, 1]),
        (["12 345,6", "1"], "number", [12345.6, 1.0]),
        (["12\u00a0345", "1"], "integer", [12345, 1]),
        (["12'345.60", "1"], "number", [12345.6, 1.0]),
        (["(80)", "20"], "integer", [-80, 20]),
        (["−5", "3"], "integer", [-5, 3]),
        (["0,123", "0,5"], "number", [0.123, 0.5]),
        (["yes", "no", "Yes"], "boolean", [True, False, True]),
        (["TRUE", "FALSE"], "boolean", [True, False]),
        (["Y", "N", ""], "boolean", [True, False, None]),
        (["true", "true"], "boolean", [True, True]),
        (["y", "y"], "category", ["y", "y"]),
        (["a", "b", "a"], "category", ["a", "b", "a"]),
        (["low", "high", "medium"], "ordered", ["low", "high", "medium"]),
        (["3.5", "3,5"], "category", ["3.5", "3,5"]),
        (["00123", "00456"], "category", ["00123", "00456"]),
        (["0x1F", "0x20"], "category", ["0x1F", "0x20"]),
        (["1_000", "2_000"], "category", ["1_000", "2_000"]),
        (["1e400", "1"], "category", ["1e400", "1"]),
        (["123456789012345678901", "1"], "category", ["123456789012345678901", "1"]),
        (["A1", "B2"], "category", ["A1", "B2"]),
        (["12a", "13a"], "category", ["12a", "13a"]),
        (["", "", ""], "number", [None, None, None]),
    ],
)
def test_kind_and_values_of_a_written_column(written, kind, values):
    column, back = found(written)
    assert column.kind == kind
    assert back == values
    assert column.reason


@pytest.mark.parametrize(
    ("written", "unit", "values"),
    [
        (["12 kg", "13.5 kg"], "kg", [12.0, 13.5]),
        (["12kg", "13kg", "NA"], "kg", [12.0, 13.0, None]),
        (["€ 3,50", "€ 1.234,00"], "€", [3.5, 1234.0]),
        (["3,50 €", "0,99 €"], "€", [3.5, 0.99]),
        (["$1,234.50", "-$2.00"], "$", [1234.5, -2.0]),
        (["45%", "3.5 %"], "%", [45.0, 3.5]),
        (["3 rooms", "12 rooms"], "rooms", [3.0, 12.0]),
        (["20 m²", "35 m²"], "m²", [20.0, 35.0]),
        (["-4.5 °C", "12 °C"], "°C", [-4.5, 12.0]),
    ],
)
def test_a_unit_that_all_values_share_is_understood_and_recorded(written, unit, values):
    column, back = found(written)
    assert column.kind is Kind.NUMBER
    assert column.unit == unit
    assert back == values


@pytest.mark.parametrize(
    "written", [["12 kg", "13 lb"], ["12 kg", "13"], ["3,50 €", "3.50 $"], ["5A", "6A x"]]
)
def test_units_that_differ_are_not_stripped(written):
    column, back = found(written)
    assert column.kind is Kind.CATEGORY
    assert back == written


@pytest.mark.parametrize(
    ("written", "pattern", "values"),
    [
        (["2024-02-29", "1999-12-31"], "%Y-%m-%d", [Day(2024, 2, 29), Day(1999, 12, 31)]),
        (["31.12.1999", "1.2.2000"], "%d.%m.%Y", [Day(1999, 12, 31), Day(2000, 2, 1)]),
        (["13/01/2024", "02/03/2024"], "%d/%m/%Y", [Day(2024, 1, 13), Day(2024, 3, 2)]),
        (["01/13/2024", "02/03/2024"], "%m/%d/%Y", [Day(2024, 1, 13), Day(2024, 2, 3)]),
        (["3 Jan 2024", "14 December 2023"], "%d %b %Y", [Day(2024, 1, 3), Day(2023, 12, 14)]),
        (["Jan 3, 2024", "Sept 4, 2024"], "%b %d, %Y", [Day(2024, 1, 3), Day(2024, 9, 4)]),
        (["31.12.99", "01.01.24"], "%d.%m.%y", [Day(1999, 12, 31), Day(2024, 1, 1)]),
        (["2024-01", "2024-12"], "%Y-%m", [Day(2024, 1, 1), Day(2024, 12, 1)]),
        (
            ["2024-01-02 03:04", "2024-01-02 23:59"],
            "%Y-%m-%d %H:%M",
            [Moment(2024, 1, 2, 3, 4), Moment(2024, 1, 2, 23, 59)],
        ),
        (
            ["2024-01-02T03:04:05.25", "2024-01-02T03:04:05"],
            "%Y-%m-%dT%H:%M:%S",
            [Moment(2024, 1, 2, 3, 4, 5, 250_000), Moment(2024, 1, 2, 3, 4, 5)],
        ),
        (
            ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+02:00"],
            "%Y-%m-%dT%H:%M:%S%z",
            [Moment(2024, 1, 2, 3, 4, 5, tzinfo=UTC), Moment(2024, 1, 2, 1, 4, 5, tzinfo=UTC)],
        ),
        (
            ["1/13/2024 12:05 AM", "1/13/2024 12:05 PM"],
            "%m/%d/%Y %I:%M %p",
            [Moment(2024, 1, 13, 0, 5), Moment(2024, 1, 13, 12, 5)],
        ),
    ],
)
def test_dates_in_common_formats_are_read(written, pattern, values):
    column, back = found([*written, "NA"])
    assert column.kind is Kind.DATETIME
    assert column.format == pattern
    assert back == [*values, None]


@pytest.mark.parametrize(
    "written",
    [["2024-02-30", "2024-01-01"], ["31.4.2024", "1.1.2024"], ["2024-13-01"], ["25:00", "12:61"]],
)
def test_a_day_that_does_not_exist_makes_a_column_words(written):
    column, back = found(written)
    assert column.kind is Kind.CATEGORY
    assert back == written


def test_times_of_the_day_become_seconds_since_midnight():
    column, back = found(["00:00", "12:30", "23:59"])
    assert column.kind is Kind.NUMBER
    assert column.unit == "s since midnight"
    assert back == [0.0, 45_000.0, 86_340.0]


def test_packed_dates_are_dates_only_where_the_name_says_so():
    assert found(["20240131", "20240201"], "date")[1] == [Day(2024, 1, 31), Day(2024, 2, 1)]
    assert found(["20240131", "20240201"], "amount")[0].kind is Kind.INTEGER


def test_an_ambiguous_date_is_decided_by_the_other_columns_and_said():
    ambiguous = ["03/04/2024", "05/06/2024"]
    alone = Table.from_dict({"a": ambiguous}, parse=True)
    assert alone["a"].to_pylist()[0] == Day(2024, 3, 4)
    assert "would fit as well" in alone.schema["a"].reason
    together = Table.from_dict({"a": ambiguous, "b": ["13/01/2024", "1/1/2024"]}, parse=True)
    assert together["a"].to_pylist()[0] == Day(2024, 4, 3)


def test_an_ambiguous_mark_is_decided_by_the_other_columns_and_said():
    ambiguous = ["1,234", "5,678"]
    alone = Table.from_dict({"a": ambiguous}, parse=True)
    assert alone["a"].to_pylist() == [1234, 5678]
    assert "decimals or thousands" in alone.schema["a"].reason
    together = Table.from_dict({"a": ambiguous, "b": ["0,5", "1,75"]}, parse=True)
    assert together["a"].to_pylist() == [1.234, 5.678]
    german = Table.from_dict({"a": ["1.234", "5.678"], "b": ["0,5", "1,75"]}, parse=True)
    assert german["a"].to_pylist() == [1234, 5678]
    plain = Table.from_dict({"a": ["1.234", "5.678"], "b": ["0.5", "1.75"]}, parse=True)
    assert plain["a"].to_pylist() == [1.234, 5.678]


def test_a_few_values_that_are_no_numbers_are_named_with_their_row():
    table = column_of([str(number) for number in range(30)] + ["broken"])
    assert table.schema["x"].kind in (Kind.TEXT, Kind.CATEGORY)
    assert "'broken' (first in row 31)" in table.schema["x"].reason
    assert any("missing=[...]" in note for note in table.notes)


@pytest.mark.parametrize("odd", ["2024-02-30", "tbd", "01/02/2024", "2024-02-01 12:00"])
def test_a_few_values_that_are_no_dates_are_named_with_their_row(odd, rng):
    days = [str(Day(2023, 1, 1) + datetime.timedelta(days=each)) for each in range(200)]
    place = int(rng.integers(200))
    table = column_of([*days[:place], odd, *days[place:]])
    assert table.schema["x"].kind in (Kind.TEXT, Kind.CATEGORY)
    reason = f"not dates because of {odd!r} (first in row {place + 1})"
    assert table.schema["x"].reason == reason
    assert any(reason in note for note in table.notes)


def test_leading_zeros_are_told_and_can_be_made_numbers():
    table = column_of(["01", "02", "10"])
    assert any("leading zeros" in note for note in table.notes)
    assert table.set("x", kind="integer")["x"].to_pylist() == [1, 2, 10]


@pytest.mark.parametrize("mark", ["NA", "?", "-", "null", "None", "n/a", "N.A.", "--", "#N/A", "."])
def test_words_for_missing_among_numbers_are_missing_and_told(mark):
    table = column_of(["1", mark, "3"])
    assert table["x"].to_pylist() == [1, None, 3]
    assert any(repr(mark) in note for note in table.notes)


def test_signs_are_missing_among_words_but_not_among_signs():
    assert column_of(["a", "?", "b"])["x"].to_pylist() == ["a", None, "b"]
    assert column_of(["+", "-", "+"])["x"].to_pylist() == ["+", "-", "+"]


def test_none_is_a_level_among_words():
    assert column_of(["none", "soft", "hard"]).schema["x"].levels == ("hard", "none", "soft")


def test_identifiers_are_known_by_name_and_uniqueness():
    numbers = [str(number) for number in range(100, 150)]
    assert found(numbers, "customer_id")[0].kind is Kind.IDENTIFIER
    assert found(numbers, "customerId")[0].kind is Kind.IDENTIFIER
    assert found(numbers, "Madrid")[0].kind is Kind.INTEGER
    assert found(numbers, "price")[0].kind is Kind.INTEGER
    assert found([*numbers[:-1], "100"], "customer_id")[0].kind is Kind.INTEGER
    assert found([f"A-{number}" for number in numbers], "whatever")[0].kind is Kind.IDENTIFIER
    assert found([f"0{number}" for number in numbers], "zip")[0].kind is Kind.IDENTIFIER


@pytest.mark.parametrize(
    ("names", "counter", "kind"),
    [
        ("index y z", "index", "identifier"),
        ("X y z", "X", "identifier"),
        ("y X z", "X", "integer"),
        ("x y z", "x", "integer"),
        ("index y", "index", "integer"),
        ("index", "index", "integer"),
    ],
)
def test_a_counter_of_the_rows_is_left_out_only_beside_other_inputs(names, counter, kind, rng):
    columns = {name: rng.normal(size=30).tolist() for name in names.split()}
    columns[counter] = list(range(1, 31))
    assert Table.from_dict(columns).schema[counter].kind == kind


def test_text_and_categories_are_told_apart_by_length_and_repetition():
    sentences = [f"this is the sentence number {number} of many" for number in range(40)]
    assert found(sentences)[0].kind is Kind.TEXT
    assert found([f"town {number % 5}" for number in range(40)])[0].kind is Kind.CATEGORY
    assert found([f"person {chr(65 + number)}" for number in range(26)])[0].kind is Kind.TEXT
    long_levels = ["a rather long answer that many people gave to us", "no opinion at all"] * 100
    assert found(long_levels)[0].kind is Kind.CATEGORY


@pytest.mark.parametrize(("form", "kind"), [("key{}", "identifier"), ("a name {}", "text")])
def test_a_hundred_thousand_distinct_words_are_no_category(form, kind):
    column = column_of([form.format(number % 100_000) for number in range(120_000)]).schema["x"]
    assert column.kind == kind
    assert "100,000 distinct values" in column.reason


@pytest.mark.covers("typed-table")
def test_types_of_a_frame_are_kept():
    import pandas as pd

    frame = pd.DataFrame(
        {
            "whole": [1, 2],
            "number": [1.5, np.nan],
            "text": ["1", "2"],
            "truth": [True, False],
            "when": pd.to_datetime(["2024-01-01", None]),
            "level": pd.Categorical(["b", "a"], categories=["b", "a", "c"]),
            "order": pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True),
        }
    )
    table = Table.from_frame(frame)
    assert [str(column.kind) for column in table.schema] == [
        "integer",
        "number",
        "category",
        "boolean",
        "datetime",
        "category",
        "ordered",
    ]
    assert table.schema["level"].levels == ("b", "a", "c")
    assert table["number"].to_pylist() == [1.5, None]
    assert table["text"].to_pylist() == ["1", "2"]


def test_odd_arrow_types_are_settled_and_told():
    import decimal

    arrow = pa.table(
        {
            "price": pa.array([decimal.Decimal("1.25"), None]),
            "count": pa.array([decimal.Decimal(7), decimal.Decimal(8)], pa.decimal128(38, 0)),
            "nan": [1.0, float("nan")],
            "clock": pa.array([datetime.time(1, 0), None]),
            "list": [[1, 2], None],
            "deep": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
            "bytes": pa.array([b"ab", None]),
            "view": pa.array(["u", "v"], pa.string_view()),
            "half": pa.array(np.array([0.5, 1.5], dtype=np.float16)),
            "nothing": pa.nulls(2),
        }
    )
    table = Table.from_arrow(arrow)
    assert table["price"].to_pylist() == [1.25, None]
    assert table["count"].to_pylist() == [7, 8]
    assert table["nan"].to_pylist() == [1.0, None]
    assert table["clock"].to_pylist() == [3600.0, None]
    assert table["list"].to_pylist() == ["[1, 2]", None]
    assert table["deep.a"].to_pylist() == [1, 2]
    assert table["bytes"].to_pylist() == ["ab", None]
    assert table["view"].to_pylist() == ["u", "v"]
    assert table["half"].to_pylist() == [0.5, 1.5]
    assert table["nothing"].to_pylist() == [None, None]
    for name in ("nan", "clock", "list", "bytes"):
        assert any(repr(name) in note for note in table.notes)


@pytest.mark.parametrize(
    ("start", "kind", "expected"),
    [
        (["1", "2"], "category", ["1", "2"]),
        (["1", "2"], "number", [1.0, 2.0]),
        (["1", "2"], "text", ["1", "2"]),
        (["0", "1"], "boolean", [False, True]),
        (["1.0", "2.5"], "category", ["1", "2.5"]),
        (["yes", "no"], "category", ["yes", "no"]),
        (["yes", "no"], "integer", [1, 0]),
        (["2024-01-02", "2024-01-03"], "text", ["2024-01-02", "2024-01-03"]),
        (["a", "b"], "identifier", ["a", "b"]),
    ],
)
def test_a_column_can_be_given_another_kind(start, kind, expected):
    table = column_of(start).set("x", kind=kind)
    assert table.schema["x"].kind == kind
    assert table["x"].to_pylist() == expected
    assert table.schema["x"].reason == "set by hand"


@pytest.mark.parametrize(
    ("start", "changes", "complaint"),
    [
        (["a", "b"], {"kind": "number"}, "'a' is no number"),
        (["1.5", "2"], {"kind": "integer"}, "1.5 is not a whole number"),
        (["1", "7"], {"kind": "boolean"}, "7 is neither 0 nor 1"),
        (["a", "b"], {"kind": "datetime"}, "'a' is in no known date format"),
        (["2024-01-01"], {"kind": "number"}, "a date cannot become a number"),
        (["a", "b"], {"kind": "ordered"}, "needs its levels"),
        (["a", "b"], {"kind": "category", "levels": ["a"]}, "'b' is not among the levels"),
        (["maybe", "no"], {"kind": "boolean"}, "not known as words for false and true"),
    ],
)
def test_a_value_that_does_not_fit_the_wanted_kind_is_named(start, changes, complaint):
    with pytest.raises(ReadError, match="column 'x'") as caught:
        column_of(start).set("x", **changes)
    assert complaint in str(caught.value)


def test_unseen_levels_are_refused_taken_as_missing_or_added():
    schema = Schema([Column("x", "category", levels=["a", "b"])])
    table = Table.from_dict({"x": ["a", "c"]})
    with pytest.raises(ReadError, match="'c' is not among the levels"):
        table.with_schema(schema)
    assert table.with_schema(schema, unseen="missing")["x"].to_pylist() == ["a", None]
    extended = table.with_schema(schema, unseen="extend")
    assert extended.schema["x"].levels == ("a", "b", "c")
    assert extended["x"].to_pylist() == ["a", "c"]


def test_codes_of_categories_follow_the_levels():
    table = column_of(["b", "a", "b", ""])
    assert table.schema["x"].levels == ("a", "b")
    assert table["x"].chunk(0).indices.to_pylist() == [1, 0, 1, None]
    numbers = column_of(["10", "9", "2"]).set("x", kind="category")
    assert numbers.schema["x"].levels == ("2", "9", "10")


def test_columns_refuse_what_makes_no_sense():
    with pytest.raises(DataError, match="'color' is not a kind"):
        Column("x", "color")
    with pytest.raises(DataError, match="occurs twice"):
        Column("x", "category", levels=["a", "a"])
    with pytest.raises(DataError, match="list of strings"):
        Column("x", "category", levels="ab")
    with pytest.raises(DataError, match="has no 'color'"):
        Column("x", "category").set(color="red")
    with pytest.raises(DataError, match="Two columns are named 'x'"):
        Schema([Column("x", "number"), Column("x", "text")])
    with pytest.raises(KeyError, match="Did you mean 'height'"):
        Schema([Column("height", "number")])["hieght"]


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        (["Yes", "No", "YES"], ("No", "Yes")),
        (["TRUE", "FALSE"], ("FALSE", "TRUE")),
        (["NEIN", "NEIN"], ("NEIN", "JA")),
        (["Ja"], ("Nein", "Ja")),
        (["on", "Off"], ("Off", "on")),
    ],
)
def test_words_for_true_and_false_are_those_of_the_file(words, levels, tmp_path):
    table = read("\n".join(["n,w", *(f"{n},{word}" for n, word in enumerate(words))]).encode())
    assert table.schema["w"].levels == levels
    assert any("are one" in note for note in table.notes) == ("YES" in words)
    table.save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().split()[1] == f"0,{words[0]}"


def test_one_odd_value_among_few_different_ones_is_named():
    rows = ["1,2024-01-01", "2,2024-01-02"] * 500
    table = read("\n".join(["n,d", *rows, "oops,2024-02-30"]).encode())
    assert "'oops' (first in row 1,001)" in table.schema["n"].reason
    assert "'2024-02-30' (first in row 1,001)" in table.schema["d"].reason
    grades = read(("grade,n\n" + "K,1\n1,2\n2,3\n" * 20).encode())
    assert "not numbers" not in grades.schema["grade"].reason
