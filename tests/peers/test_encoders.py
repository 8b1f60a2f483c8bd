"""Encoders give scikit-learn's numbers on arrays and frames, and the same for any other table."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import preprocessing
from sklearn.model_selection import KFold

import gnomon
from gnomon import prepare
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.table import Table

FRAME = pd.DataFrame(
    {
        "place": ["north", None, "south", "north", "east", "north", "south", "west"],
        "count": [1, 2, 2, 1, 3, 1, 2, 7],
        "size": [0.5, np.nan, 1.5, 0.5, 0.5, 1.5, np.nan, 2.5],
        "member": [True, False, True, True, False, True, False, True],
    }
)
NEW = (
    FRAME.iloc[[1, 3, 4]]
    .reset_index(drop=True)
    .assign(place=["elsewhere", "west", None], count=[2, 9, 7])
)
ARRAYS = {
    "objects": FRAME[["place", "member"]].astype(object).to_numpy(),
    "words": np.array([["a", "xx"], ["b", "y"], ["a", "xx"], ["c", "xx"], ["a", "y"]]),
    "numbers": FRAME[["count", "size"]].to_numpy(),
    "whole numbers": FRAME[["count"]].to_numpy(),
    "lists": [["a", 1], ["b", 2], ["a", 2]],
}
OPTIONS = {
    "OneHotEncoder": [
        {"handle_unknown": "ignore"},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 2},
        {"handle_unknown": "warn", "max_categories": 2, "sparse_output": False},
        {"handle_unknown": "ignore", "drop": "first"},
        {"handle_unknown": "ignore", "drop": "if_binary", "dtype": np.float32},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 0.3, "drop": "first"},
    ],
    "OrdinalEncoder": [
        {"handle_unknown": "use_encoded_value", "unknown_value": -1},
        {"handle_unknown": "use_encoded_value", "unknown_value": np.nan, "dtype": np.float32},
        {"handle_unknown": "use_encoded_value", "unknown_value": -9, "encoded_missing_value": -2},
        {"handle_unknown": "use_encoded_value", "unknown_value": 99, "min_frequency": 2},
        {"handle_unknown": "use_encoded_value", "unknown_value": 99, "max_categories": 2},
    ],
}
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]
every_case = pytest.mark.parametrize(("name", "options"), CASES)


def both(name, options):
    return getattr(prepare, name)(**options), getattr(preprocessing, name)(**options)


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    assert dense(ours).dtype == dense(theirs).dtype
    np.testing.assert_array_equal(dense(ours), dense(theirs))


def transformed(encoder, rows):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = encoder.transform(rows)
    return result, [str(each.message) for each in told]


@every_case
@pytest.mark.parametrize("rows", [*ARRAYS, "frame"])
def test_an_encoder_gives_what_scikit_learn_gives(name, options, rows, tmp_path):
    X = FRAME if rows == "frame" else ARRAYS[rows]
    ours, theirs = both(name, options)
    assert_same(ours.fit_transform(X), theirs.fit_transform(X))
    for found, expected in zip(ours.categories_, theirs.categories_, strict=True):
        assert repr(found) == repr(expected)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    encoded = theirs.transform(X)
    if rows == "words" or not {"min_frequency", "max_categories"} & set(options):
        assert repr(ours.inverse_transform(encoded)) == repr(theirs.inverse_transform(encoded))
    new = NEW if rows == "frame" else X[1:]
    (found, told), (expected, due) = transformed(ours, new), transformed(theirs, new)
    assert_same(found, expected)
    assert told == due
    loaded = gnomon.load(ours.save(tmp_path / "encoder.gnomon"))
    assert_same(transformed(loaded, new)[0], expected)


@every_case
@pytest.mark.parametrize(
    "make", [pl.from_pandas, pa.Table.from_pandas, Table.from_frame], ids=["polars", "arrow", "own"]
)
def test_any_table_holds_the_categories_of_the_frame(name, options, make):
    ours, theirs = both(name, options)
    assert_same(ours.fit_transform(make(FRAME)), theirs.fit_transform(FRAME))
    expected = transformed(theirs, NEW)[0]
    assert_same(transformed(ours, make(NEW))[0], expected)
    assert_same(transformed(ours, NEW)[0], expected)
    crossed = getattr(prepare, name)(**options).fit(FRAME)
    assert_same(transformed(crossed, make(NEW))[0], expected)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_missing_cells_of_any_table_are_those_of_a_frame_of_objects():
    frame = pd.DataFrame({"yes": np.array([True, None, False, True], dtype=object)})
    encoder = prepare.OneHotEncoder().fit(frame)
    expected = preprocessing.OneHotEncoder().fit_transform(frame)
    assert_same(encoder.transform(pl.from_pandas(frame)), expected)
    assert_same(prepare.OneHotEncoder().fit_transform(pl.from_pandas(frame)), expected)


def test_an_unknown_category_is_an_error_by_default():
    for name in OPTIONS:
        ours, _ = both(name, {})
        with pytest.raises(ValueError, match="Found unknown categories"):
            ours.fit(FRAME[["place"]]).transform(NEW[["place"]])


def test_numbers_that_stand_for_no_category_are_refused_clearly():
    encoder = prepare.OrdinalEncoder(max_categories=2).fit(FRAME[["size"]])
    with pytest.raises(ValueError, match="no category"):  # an IndexError in scikit-learn
        encoder.inverse_transform([[7.0]])


def test_encoded_rows_come_as_the_frame_that_is_asked_for():
    columns = FRAME[["place", "member"]]
    for output in ("pandas", "polars"):
        ours, theirs = both("OneHotEncoder", {"sparse_output": False})
        found = ours.set_output(transform=output).fit_transform(columns)
        expected = theirs.set_output(transform=output).fit_transform(columns)
        assert found.equals(expected)


def test_names_of_new_columns_may_be_combined_by_a_function_which_no_file_holds(tmp_path):
    def combiner(feature, category):
        return f"{feature} is {category}"

    ours, theirs = both("OneHotEncoder", {"feature_name_combiner": combiner})
    columns = FRAME[["member"]]
    names = ours.fit(columns).get_feature_names_out()
    assert list(names) == list(theirs.fit(columns).get_feature_names_out())
    with pytest.raises(ModelFileError, match="feature_name_combiner"):
        ours.save(tmp_path / "encoder.gnomon")


def test_text_where_numbers_were_is_refused_with_the_name_of_the_column():
    encoder = prepare.OneHotEncoder(handle_unknown="ignore").fit(FRAME)
    with pytest.raises(DataError, match="'count' holds text"):
        encoder.transform(NEW.assign(count="many"))
    with pytest.raises(DataError, match="'place' is not of numbers"):
        encoder.transform(np.ones((2, 4)))


@pytest.mark.parametrize("smooth", ["auto", 2.0])
@pytest.mark.parametrize("target", ["continuous", "binary", "multiclass"])
def test_means_of_the_target_are_those_of_scikit_learn(smooth, target, rng, tmp_path):
    X = pd.DataFrame(rng.choice(["a", "b", "c"], (60, 2)), columns=["one", "two"])
    y = rng.normal(size=60) + (X["one"] == "a")
    if target != "continuous":
        y = np.array(["no", "yes", "perhaps"])[(y > 0.5).astype(int) + (target[0] == "m") * (y > 1)]
    options = {"smooth": smooth, "cv": KFold(3, shuffle=True, random_state=0)}
    ours, theirs = both("TargetEncoder", options)
    new = pd.DataFrame({"one": ["b", "unseen"], "two": [None, "a"]})
    for rows in (X, X.to_numpy(), X.to_numpy(dtype="U1")):
        assert_same(ours.fit_transform(rows, y), theirs.fit_transform(rows, y))
        for found, expected in zip(ours.encodings_, theirs.encodings_, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert ours.target_type_ == theirs.target_type_ == target
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    expected = theirs.fit(X, y).transform(new)
    assert_same(ours.fit(X, y).transform(new), expected)
    plain = prepare.TargetEncoder(smooth=smooth).fit(pl.from_pandas(X.assign(y=y)), "y")
    assert_same(plain.transform(pl.from_pandas(new)), expected)
    loaded = gnomon.load(plain.save(tmp_path / "encoder.gnomon"))
    assert_same(loaded.transform(new), expected)
