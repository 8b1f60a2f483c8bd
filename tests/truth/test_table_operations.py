"""The operations of a table, and how other libraries see it."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from gnomon.engine.errors import DataError
from gnomon.table import Column, Kind, Schema, Table, read


@pytest.fixture
def table():
    return Table.from_dict(
        {
            "n": [3, 1, 2, None],
            "x": [0.5, None, 2.5, -1.0],
            "c": ["b", "a", None, "b"],
            "t": [True, False, True, None],
            "d": [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)],
        }
    )


def test_shape_names_and_columns(table):
    assert len(table) == 4
    assert table.shape == (4, 5)
    assert table.columns == ("n", "x", "c", "t", "d")
    assert list(table) == ["n", "x", "c", "t", "d"]
    assert "n" in table
    assert "N" not in table
    assert table["n"].to_pylist() == [3, 1, 2, None]
    assert isinstance(table.column("n"), pa.ChunkedArray)
    assert isinstance(table.arrow, pa.Table)
    assert table.nbytes > 0


def test_an_unknown_column_names_those_that_are_near(table):
    with pytest.raises(KeyError, match="No column is named 'price'"):
        table["price"]
    with pytest.raises(DataError, match="Did you mean 'height'"):
        Table.from_dict({"height": [1]}).drop("hieght")


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice(3, 1), []),
        ([2, 0, 0], [2, 0, 0]),
        (np.array([-1, 1]), [3, 1]),
        ([True, False, False, True], [0, 3]),
        (np.array([False, True, False, False]), [1]),
        (pa.array([True, False, True, False]), [0, 2]),
        (2, [2]),
        (-1, [3]),
        ([], []),
    ],
)
def test_rows_are_taken_by_slice_number_and_mask(table, key, rows):
    expected = [table.row(row) for row in rows]
    assert table[key].arrow.to_pylist() == expected
    assert table[key].schema == table.schema


def test_rows_that_do_not_exist_are_refused(table):
    with pytest.raises(IndexError, match="Row 4 does not exist; there are 4 rows"):
        table[[0, 4]]
    with pytest.raises(DataError, match="mask has 2 entries; there are 4 rows"):
        table[[True, False]]
    with pytest.raises(DataError, match="by number, slice or mask"):
        table[[0.5]]
    with pytest.raises(DataError, match="missing entries"):
        table[pa.array([True, None, True, False])]


def test_rows_and_columns_are_taken_together(table):
    assert table[1:3, ["x", "n"]].to_dict() == {"x": [None, 2.5], "n": [1, 2]}
    assert table[[0], "n"].to_pylist() == [3]
    assert table[:, 1:3].columns == ("x", "c")
    assert table[:, [0, 4]].columns == ("n", "d")
    assert table[[1, 0], ...]["n"].to_pylist() == [1, 3]


def test_columns_are_selected_dropped_renamed_and_added(table):
    assert table.select(["x", "n"]).columns == ("x", "n")
    assert table[["x", "n"]].columns == ("x", "n")
    assert table.drop(["n", "x"]).columns == ("c", "t", "d")
    renamed = table.rename({"n": "number", "x": "n"})
    assert renamed.columns == ("number", "n", "c", "t", "d")
    assert renamed["n"].to_pylist() == table["x"].to_pylist()
    assert renamed.schema["number"].reason == table.schema["n"].reason
    with pytest.raises(DataError, match="Two columns are named 'x'"):
        table.rename({"n": "x"})


def test_a_column_is_added_or_replaced_with_the_kind_asked_for(table):
    bigger = table.with_column("z", ["01", "02", "01", None])
    assert bigger.columns == (*table.columns, "z")
    assert bigger.schema["z"].kind is Kind.CATEGORY
    swapped = table.with_column("x", [1, 2, 3, 4], kind="number")
    assert swapped.columns == table.columns
    assert swapped["x"].to_pylist() == [1.0, 2.0, 3.0, 4.0]
    ordered = table.with_column("z", ["lo", "hi", "lo", "hi"], kind="ordered", levels=["lo", "hi"])
    assert ordered.schema["z"].levels == ("lo", "hi")
    assert table.with_column("k", "same")["k"].to_pylist() == ["same"] * 4
    assert table.with_column("k", None)["k"].to_pylist() == [None] * 4
    with pytest.raises(DataError, match="has 2 values; the table has 4 rows"):
        table.with_column("z", [1, 2])


def test_nothing_changes_the_table_itself(table):
    before = table.to_dict(), table.schema
    table.set("n", kind="category")
    table.with_column("n", [0, 0, 0, 0])
    table.shuffle(0)
    table.rename({"n": "m"})
    assert (table.to_dict(), table.schema) == before


@pytest.mark.covers("typed-table")
def test_a_schema_is_applied_in_its_own_order(table):
    schema = Schema([table.schema["c"], table.schema["n"].set(kind="number")])
    recoded = table.with_schema(schema)
    assert recoded.columns == ("c", "n", "x", "t", "d")
    assert recoded["n"].type == pa.float64()


@pytest.mark.covers("typed-table")
def test_label_tables_of_many_mixed_columns_are_tables_like_any(table):
    labels = table.select(["x", "c", "t"])
    assert labels.shape == (4, 3)
    assert labels.schema.kinds == {"x": "number", "c": "category", "t": "boolean"}
    assert labels[[1, 3]].row(0) == {"x": None, "c": "a", "t": False}


@pytest.mark.covers("typed-table")
def test_categories_are_enumerated_inside_and_named_outside(table):
    stored = table["c"].combine_chunks()
    assert pa.types.is_dictionary(stored.type)
    assert stored.indices.to_pylist() == [1, 0, None, 1]
    assert table["c"].to_pylist() == ["b", "a", None, "b"]


def test_storage_that_does_not_fit_the_kind_is_refused():
    arrow = pa.table({"a": [1.5]})
    with pytest.raises(DataError, match="stored as double, which does not fit its kind, 'integer'"):
        Table(arrow, Schema([Column("a", "integer")]))
    with pytest.raises(DataError, match="are not those of the schema"):
        Table(arrow, Schema([Column("b", "number")]))


def test_other_libraries_take_the_table(table):
    import duckdb
    import narwhals as nw
    import pandas as pd
    import polars as pl

    assert pa.table(table).num_rows == 4
    assert pl.DataFrame(table).shape == (4, 5)
    assert pd.DataFrame.from_arrow(table).shape == (4, 5)
    assert nw.from_arrow(table, backend="polars").shape == (4, 5)
    with duckdb.connect() as connection:
        connection.register("given", table)
        assert connection.sql("select sum(n) from given").fetchall() == [(6,)]
    assert table.to_pandas()["c"].tolist()[:2] == ["b", "a"]
    assert table.to_pandas()["d"].dtype.kind == "M"
    assert table.to_polars()["c"].to_list() == ["b", "a", None, "b"]


def test_numbers_become_a_matrix_with_nan_for_missing(table):
    matrix = table.select(["n", "x", "t"]).to_numpy()
    expected = [[3, 0.5, 1], [1, np.nan, 0], [2, 2.5, 1], [np.nan, -1, np.nan]]
    np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(np.asarray(table.select(["n", "x", "t"])), expected)
    assert np.asarray(table).dtype == object
    with pytest.raises(DataError, match="'c', 'd' are not numbers"):
        table.to_numpy()


def test_scikit_learn_splits_a_table():
    from sklearn.model_selection import train_test_split

    table = Table.from_dict({"i": list(range(20)), "c": ["a", "b"] * 10})
    train, test = train_test_split(table, test_size=5)
    assert isinstance(train, Table)
    assert len(train) == 15
    assert sorted(train["i"].to_pylist() + test["i"].to_pylist()) == list(range(20))


@pytest.mark.covers("row-shuffle")
def test_a_shuffle_moves_whole_rows(rng, seed):
    table = Table.from_dict({"x": list(range(50)), "y": [str(-n) for n in range(50)]})
    shuffled = table.shuffle(seed)
    assert sorted(shuffled["x"].to_pylist()) == list(range(50))
    assert [str(-x) for x in shuffled["x"].to_pylist()] == shuffled["y"].to_pylist()
    assert shuffled.equals(table.shuffle(seed))
    assert table.shuffle(np.random.RandomState(seed)).equals(
        table.shuffle(np.random.RandomState(seed))
    )


@pytest.mark.covers("row-shuffle")
def test_a_generator_gives_a_new_shuffle_at_every_repetition(rng):
    table = Table.from_dict({"x": list(range(200))})
    assert not table.shuffle(rng).equals(table.shuffle(rng))


@pytest.mark.covers("row-shuffle")
def test_all_orders_are_equally_likely(rng):
    """Chi-square over the six orders of three rows; a fair one exceeds the bound once in 10^9."""
    table = Table.from_dict({"x": [0, 1, 2]})
    n = 3000
    counts: dict[tuple, int] = {}
    for _ in range(n):
        order = tuple(table.shuffle(rng)["x"].to_pylist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert sum((count - n / 6) ** 2 / (n / 6) for count in counts.values()) < 51


@pytest.mark.covers("row-shuffle")
def test_rows_sorted_by_class_are_noticed():
    by_class = Table.from_dict({"c": ["a"] * 5 + ["b"] * 5, "x": [0, 5, 1, 4, 2, 3, 9, 7, 8, 6]})
    assert by_class.sorted_by_class() == ("c",)
    shuffled = by_class.shuffle(1)
    assert any("sorted by 'c'" in note for note in shuffled.notes)
    mixed = Table.from_dict({"c": ["a", "b"] * 5})
    assert mixed.sorted_by_class() == ()
    assert mixed.shuffle(1).notes == []


def test_saved_csv_comes_back(tmp_path, table):
    for name in ("x.csv", "x.tsv"):
        table.save(tmp_path / name)
        assert read(tmp_path / name).to_dict() == table.to_dict()
    with pytest.raises(DataError, match=r"ending '\.doc'"):
        table.save(tmp_path / "x.doc")


def test_formulas_are_escaped_only_on_request(tmp_path):
    table = Table.from_dict({"=name": ["=1+1", "@cmd", "safe"], "n": [-1, 2, 3]})
    table.save(tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_text().splitlines()[1] == "=1+1,-1"
    table.save(tmp_path / "safe.csv", escape_formulas=True)
    assert (tmp_path / "safe.csv").read_text().splitlines() == [
        "'=name,n",
        "'=1+1,-1",
        "'@cmd,2",
        "safe,3",
    ]


def test_saved_parquet_and_arrow_keep_the_schema(tmp_path, table):
    table = table.set("c", kind="ordered", levels=["b", "a"])
    for name in ("x.parquet", "x.arrow"):
        table.save(tmp_path / name)
        back = read(tmp_path / name)
        assert back.equals(table)
        assert back.schema == table.schema


def test_the_printed_table_shows_kinds_missing_counts_and_first_rows(table):
    text = repr(table)
    assert text.startswith("Table of 4 rows x 5 columns")
    for part in ("number", "category", "1 missing", "2024-01-03", "·"):
        assert part in text
    long = repr(Table.from_dict({"x": list(range(1234))}))
    assert "and 1,226 more rows" in long
    wide = repr(Table.from_dict({f"column {number}": [1] for number in range(40)}))
    assert "more columns" in wide
    assert max(map(len, wide.splitlines())) <= 120
    assert repr(Table.from_dict({})) == "Table of 0 rows x 0 columns"


def test_the_page_escapes_everything():
    table = Table.from_dict({"<script>": ["<img src=x>", "a & b"]})
    page = table._repr_html_()
    assert "<script>" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in repr(Table.from_dict({"a\x1b[31m": ["\x1b[2Jgone\n"]}))


def test_a_table_survives_pickling_and_copying(table):
    import copy
    import pickle

    for again in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table), copy.copy(table)):
        assert again.equals(table)
        assert again.schema == table.schema
        assert again.notes == table.notes


def test_tables_differ_by_values_and_by_kinds(table):
    assert table.equals(table[:])
    assert not table.equals(table[::-1])
    assert not table.equals(table.set("n", kind="number"))
