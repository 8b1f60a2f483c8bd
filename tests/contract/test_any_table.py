"""Every estimator takes any table: text, categories, dates, booleans, missing and unseen values."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.bayes import GaussianNB
from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.prepare import Filter, KBinsDiscretizer
from gnomon.table import Table, read, scan
from gnomon.trees import DecisionTreeClassifier
from tests.contract.cases import (
    CLASSES,
    FRAMES,
    as_frame,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    each,
    each_path,
    every_method,
    every_path,
    fit,
    make,
    marks_missing,
    needs_target,
    outputs,
    takes_weights,
)

FILTERS = [cls for cls in CLASSES if issubclass(cls, Filter)]
LEARNERS = [cls for cls in CLASSES if cls not in FILTERS]


@every_method
def test_a_mixed_table_is_learnt_from_and_unseen_values_are_predicted_for(cls, on_table):
    found = on_table.outputs_of_new
    assert all(len(values) == len(on_table.new) for values in found.values())
    assert_sound(found, missing=marks_missing(on_table.estimator))


def numeric(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: values for name, values in found.items() if values.dtype.kind != "O"}


@every_path
def test_every_kind_of_frame_gives_the_same_bits(cls, on_table):
    expected = numeric(on_table.outputs_of_new)
    for kind in FRAMES[1:]:
        estimator = fit(make(cls), as_frame(on_table.X, kind), on_table.y)
        assert_same_bits(numeric(outputs(estimator, as_frame(on_table.new, kind))), expected)


@every_path
def test_one_kind_of_frame_may_predict_for_a_model_of_another(cls, on_table):
    expected = numeric(on_table.outputs)
    for kind in FRAMES[1:]:
        found = outputs(on_table.estimator, as_frame(on_table.X, kind))
        assert_same_bits(numeric(found), expected)


@every_method
def test_what_is_said_of_a_row_does_not_depend_on_the_rows_beside_it(cls, on_table, rng):
    shuffle = rng.permutation(len(on_table.new))
    shuffled = outputs(on_table.estimator, on_table.new.iloc[shuffle].reset_index(drop=True))
    alone = outputs(on_table.estimator, on_table.new.iloc[[7]])
    # terms that cancel, as that of the year and the constant do, are rounded by their size
    constant = np.abs(getattr(on_table.estimator, "intercept_", 0.0)).max()
    atol = max(1e-10, 10 * np.finfo(float).eps * constant)
    for name, values in numeric(on_table.outputs_of_new).items():
        assert_close({name: shuffled[name]}, {name: values[shuffle]}, rtol=1e-10, atol=atol)
        assert_close({name: alone[name]}, {name: values[[7]]}, rtol=1e-10, atol=atol)


@every_method
def test_prediction_changes_nothing_in_the_fitted_estimator(cls, on_table):
    before = pickle.dumps(copy.deepcopy(on_table.estimator))
    outputs(on_table.estimator, on_table.new)
    assert pickle.dumps(copy.deepcopy(on_table.estimator)) == before


@every_method
def test_the_users_table_is_left_as_it_was(cls, on_table):
    assert on_table.outputs
    pd.testing.assert_frame_equal(on_table.X, on_table.before[0])
    np.testing.assert_array_equal(on_table.y, on_table.before[1])


@each_path("cls", LEARNERS)
def test_a_frame_of_numbers_gives_what_its_array_gives(cls, on_numbers):
    frame = pd.DataFrame(on_numbers.X, columns=[f"column {j}" for j in range(4)])
    assert_same_bits(outputs(fit(make(cls), frame, on_numbers.y), frame), on_numbers.outputs)


every_path_with_target = each_path("cls", [cls for cls in CLASSES if needs_target(make(cls))])


@every_path_with_target
@pytest.mark.parametrize("kind", FRAMES)
def test_the_target_may_be_named(cls, kind, on_table):
    whole = as_frame(on_table.X.assign(outcome=on_table.y), kind)
    estimator = fit(make(cls), whole, "outcome")
    assert_same_bits(outputs(estimator, on_table.X), on_table.outputs)
    assert_same_bits(outputs(estimator, whole), on_table.outputs)


@every_path_with_target
def test_a_target_that_is_not_there_is_named_with_near_ones(cls, on_table):
    with pytest.raises(DataError, match="outcome"):
        make(cls).fit(on_table.X.assign(outcome=on_table.y), "outcom")


@each_path("cls", [cls for cls in CLASSES if needs_target(make(cls)) and not cls._unlabeled])
def test_a_missing_target_is_refused_with_its_row(cls, on_table):
    outcome = pd.Series(on_table.y).mask(np.arange(len(on_table.y)) == 5)
    whole = Table.from_frame(on_table.X.assign(outcome=outcome))
    with pytest.raises(ValueError, match=r"outcome|NaN"):
        fit(make(cls), whole, "outcome")


@each_path("cls", [cls for cls in CLASSES if cls._unlabeled])
def test_a_missing_target_is_a_row_without_label_in_frames_and_arrays(cls, on_table, on_numbers):
    gone = np.arange(len(on_table.y)) % 4 == 1
    outcome = pd.Series(on_table.y).mask(gone)
    whole = on_table.X.assign(outcome=outcome)
    by_name = fit(make(cls), Table.from_frame(whole), "outcome")
    assert set(by_name.classes_) == set(on_table.y)
    by_value = fit(make(cls), on_table.X, outcome.to_numpy())
    assert_same_bits(outputs(by_name, on_table.X), outputs(by_value, on_table.X))
    places = np.searchsorted(np.unique(on_numbers.y), on_numbers.y)
    absent = np.arange(len(places)) % 4 == 1
    marked = fit(make(cls), on_numbers.X, np.where(absent, -1, places))
    missing = fit(make(cls), on_numbers.X, np.where(absent, np.nan, places))
    assert marked.classes_.tolist() == [0, 1, 2]
    for name in ("predict_proba", "decision_function"):
        if hasattr(marked, name):
            found = (getattr(each, name)(on_numbers.X) for each in (marked, missing))
            np.testing.assert_array_equal(*found)


@each_path("cls", [cls for cls in CLASSES if takes_weights(make(cls))])
def test_a_weight_column_may_be_named(cls, on_table, rng):
    frame, y = on_table.X, on_table.y
    weights = rng.integers(0, 4, len(frame)).astype(float)
    by_value = fit(make(cls), frame, y, sample_weight=weights)
    by_name = fit(make(cls), frame.assign(times=weights), y, sample_weight="times")
    assert_same_bits(outputs(by_name, frame), outputs(by_value, frame))


@every_method
def test_rows_of_another_table_are_refused(cls, on_table):
    """Columns in another order, a lacking column, an array, text where numbers were."""
    estimator, frame = on_table.estimator, on_table.X
    with pytest.raises(ValueError, match="order"):
        outputs(estimator, frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="place"):
        outputs(estimator, frame.drop(columns="place"))
    with pytest.raises(ValueError, match=r".{20}"):
        outputs(estimator, np.ones((3, frame.shape[1])))
    if cls in LEARNERS:
        with pytest.raises(ValueError, match="count"):
            outputs(estimator, frame.assign(count="many"))


@each("cls", FILTERS)
def test_a_filter_passes_text_on_or_names_the_column_that_held_numbers(cls, on_table):
    try:
        outputs(on_table.estimator, on_table.X.assign(count="many"))
    except Exception as error:
        assert_clear(error, naming="count")


def graded(levels, repeats: int = 10) -> pd.DataFrame:
    """The levels of a category in turn, and ten times the number of each as the target."""
    places = np.arange(len(levels) * repeats) % len(levels)
    return pd.DataFrame({"grade": [levels[p] for p in places], "y": 10.0 * places})


@pytest.mark.parametrize("values", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"]])
@pytest.mark.parametrize("levels", [["K", "1", "2", "3"], ["K", "01", "2.0", "3"]])
def test_categories_of_digits_are_known_again_when_they_come_as_numbers(levels, values):
    if isinstance(values[0], str):
        values = levels[1:]
    model = LinearRegression().fit(graded(levels), "y")
    np.testing.assert_allclose(model.predict(pd.DataFrame({"grade": values})), [10, 20, 30])


def test_categories_of_whole_numbers_are_known_again_as_whole_numbers():
    frame = graded([1, 2, 3]).astype({"grade": "category"})
    model = LinearRegression().fit(frame, "y")
    for values in ([3, 1], [3.0, 1.0]):
        new = pd.DataFrame({"grade": values})
        np.testing.assert_allclose(model.predict(new), [20, 0], atol=1e-9)


def test_a_number_that_two_categories_are_goes_to_the_one_written_plainly():
    model = LinearRegression().fit(graded(["1", "01", "K"]), "y")
    np.testing.assert_allclose(model.predict(pd.DataFrame({"grade": [1]})), [0], atol=1e-9)


def test_a_column_without_one_known_category_is_warned_of():
    model = LinearRegression().fit(graded(["a", "b"]), "y")
    with pytest.warns(GnomonWarning, match=r"'grade'.*'c', 'd'.*'a', 'b'"):
        model.predict(pd.DataFrame({"grade": ["c", "d"]}))


def test_categories_of_which_a_file_holds_yes_and_no_alone_are_known_again():
    model = LinearRegression().fit(graded(["maybe", "no", "yes"]), "y")
    new = read(b"grade\nyes\nno\n")
    assert new.schema["grade"].kind == "boolean"
    np.testing.assert_allclose(model.predict(new), [20, 10])


def written_file(rng, n: int = 60) -> bytes:
    """Rows with yes and no, money with marks between thousands, dates by day, a target."""
    member, price = rng.random(n) < 0.5, rng.integers(1000, 9000, n) + 0.5
    member[:2] = True, False
    day, month = rng.integers(1, 29, n), rng.integers(1, 13, n)
    lines = [
        f'{"yes" if m else "no"},"${p:,.2f}",{d:02}.{k:02}.2024,{m + p / 1000 + k}'
        for m, p, d, k in zip(member, price, day, month)
    ]
    return "\n".join(["member,price,since,y", *lines, ""]).encode()


def test_a_model_of_a_file_takes_the_words_of_the_same_file(rng):
    content = written_file(rng)
    model = LinearRegression().fit(read(content), "y")
    frame = pd.read_csv(io.BytesIO(content))
    assert frame["price"].dtype.kind not in "fi"
    np.testing.assert_array_equal(model.predict(frame), model.predict(read(content)))


def test_a_word_that_a_boolean_never_held_is_missing_and_warned_of(rng):
    content = written_file(rng)
    model = LinearRegression().fit(read(content), "y")
    frame = pd.read_csv(io.BytesIO(content))
    unknown, missing = frame.copy(), frame.copy()
    unknown.loc[0, "member"], missing.loc[0, "member"] = "maybe", None
    with pytest.warns(GnomonWarning, match=r"'member'.*'no' or 'yes'.*'maybe'"):
        found = model.predict(unknown)
    np.testing.assert_array_equal(found, model.predict(missing))


def test_a_word_where_numbers_were_is_named_with_its_row_and_the_unit(rng):
    content = written_file(rng)
    model = LinearRegression().fit(read(content), "y")
    frame = pd.read_csv(io.BytesIO(content))
    frame.loc[3, "price"] = "dear"
    with pytest.raises(DataError, match=r"'price'.*'\$'.*'dear'.*row 3") as refused:
        model.predict(frame)
    assert "dictionary<" not in str(refused.value)


def test_a_model_saved_without_the_writing_of_its_columns_takes_tables(rng, tmp_path):
    content = written_file(rng)
    model = LinearRegression().fit(read(content), "y")
    for code in model.encoder_.codes:
        del code.written
    loaded = gnomon.load(model.save(tmp_path / "old.gnomon"))
    np.testing.assert_array_equal(loaded.predict(read(content)), model.predict(read(content)))


def test_numbers_in_another_unit_are_refused(rng):
    rows = "".join(f"{w} kg,{2 * w}\n" for w in rng.integers(1, 90, 30))
    model = LinearRegression().fit(read(b"w,y\n" + rows.encode()), "y")
    with pytest.raises(DataError, match=r"'w'.*'kg'.*'g'"):
        model.predict(read(b"w\n1000 g\n2000 g\n"))
    for same in (read(b"w\n1 kg\n2 kg\n"), pd.DataFrame({"w": [1.0, 2.0]})):
        np.testing.assert_allclose(model.predict(same), [2, 4])


def test_a_decimal_comma_that_is_read_as_a_mark_of_thousands_is_warned_of(rng):
    rows = "".join(f"{s},5;{s}\n" for s in rng.integers(1, 90, 30))
    model = LinearRegression().fit(read(b"s;y\n" + rows.encode()), "y")
    with pytest.warns(GnomonWarning, match=r"'s'.*','.*decimals.*thousands"):
        model.predict(read(b"s;more\n1,125;a\n2,250;b\n").drop("more"))


def test_whole_numbers_are_no_dates(rng):
    days = pd.date_range("2020-01-01", periods=24, freq="MS")
    model = LinearRegression().fit(pd.DataFrame({"d": days, "y": np.arange(24.0)}), "y")
    with pytest.raises(DataError, match=r"'d' held dates.*2026-01-31"):
        model.predict(pd.DataFrame({"d": rng.integers(0, 600, 5)}))


def test_dates_packed_in_whole_numbers_are_read_as_in_the_file(rng):
    content = b"d,y\n" + b"".join(
        b"2024%02d%02d,%d\n" % (month, day, month)
        for month, day in zip(rng.integers(1, 13, 40), rng.integers(1, 29, 40))
    )
    table = read(content).set("d", kind="datetime", format="%Y%m%d")
    model = LinearRegression().fit(table, "y")
    frame = pd.read_csv(io.BytesIO(content))
    np.testing.assert_array_equal(model.predict(frame), model.predict(table))


def churn_file(rng, words=("no", "yes"), n: int = 40) -> bytes:
    marks = np.arange(n) % 2
    sizes = rng.normal(marks, 0.2)
    lines = [f"{size:.4f},{words[mark]}" for size, mark in zip(sizes, marks)]
    return "\n".join(["size,churn", *lines, ""]).encode()


@pytest.mark.parametrize("source", [read, scan])
def test_yes_and_no_of_a_file_are_the_names_of_the_classes(source, rng):
    content = churn_file(rng)
    model = LogisticRegression().fit(source(content), "churn")
    assert model.classes_.tolist() == ["no", "yes"]
    words = pd.read_csv(io.BytesIO(content))["churn"]
    found = model.predict(source(content))
    assert set(found) <= {"no", "yes"}
    assert model.score(read(content), words) == (found == words).mean()


def test_true_and_false_of_a_file_stay_booleans(rng):
    model = DecisionTreeClassifier().fit(read(churn_file(rng, ("false", "true"))), "churn")
    assert model.classes_.dtype == bool


@pytest.mark.parametrize("source", [read, scan, lambda file: pd.read_csv(io.BytesIO(file))])
def test_a_score_takes_the_name_of_the_target(source, rng):
    content = churn_file(rng)
    frame = pd.read_csv(io.BytesIO(content))
    model = DecisionTreeClassifier(max_depth=1).fit(source(content), "churn")
    assert model.score(source(content), "churn") == model.score(frame[["size"]], frame["churn"])
    line = LinearRegression().fit(frame[["size"]], np.arange(40.0))
    whole = frame.drop(columns="churn").assign(y=np.arange(40.0), times=rng.integers(1, 4, 40))
    expected = line.score(frame[["size"]], whole["y"], whole["times"])
    assert line.score(whole, "y", "times") == expected
    with pytest.raises(DataError, match=r"'yy'.*'y'"):
        line.score(whole, "yy")
    with pytest.raises(DataError, match="not a table"):
        line.score(np.ones((3, 1)), "y")


@pytest.mark.parametrize(("value", "said"), [("bad", "'bad'"), (np.inf, "inf"), (None, "missing")])
def test_a_target_of_numbers_that_has_none_in_a_row_is_named_with_that_row(value, said, rng):
    y = [*rng.normal(size=5), value, *rng.normal(size=4)]
    frame = pd.DataFrame({"x": rng.normal(size=10)})
    with pytest.raises(DataError, match=rf"'income'.*{said}.*row 5"):
        fit(LinearRegression(), frame.assign(income=y), "income")
    with pytest.raises(DataError, match=rf"{said}.*row 5"):
        LinearRegression().fit(frame, y)


def test_groups_of_a_file_are_found_again_in_its_words(rng):
    content = written_file(rng)
    model = KMeans(n_clusters=3, random_state=0).fit(read(content))
    frame = pd.read_csv(io.BytesIO(content))
    np.testing.assert_array_equal(model.predict(frame), model.predict(read(content)))


@pytest.mark.parametrize("source", [read, scan])
def test_classes_are_spelled_as_in_the_file_and_known_in_other_letters(source, rng):
    content = churn_file(rng, ("No", "Yes"))
    model = DecisionTreeClassifier().fit(source(content), "churn")
    assert model.classes_.tolist() == ["No", "Yes"]
    loud = content.replace(b"No", b"NO").replace(b"Yes", b"YES")
    assert model.score(source(loud), "churn") == model.score(source(content), "churn") == 1.0


def test_levels_with_outer_spaces_are_those_without(rng):
    levels = np.array(["a", "b ", " c"])[np.arange(30) % 3]
    model = LinearRegression().fit(pd.DataFrame({"k": levels, "y": np.arange(30) % 3}), "y")
    found = model.predict(read(b"k,n\na,1\nb,2\nc,3\n").select(["k"]))
    np.testing.assert_allclose(found, [0, 1, 2], atol=1e-9)
    bare = LinearRegression().fit(read(b"k,y\n" + b"a,0\nb,1\nc,2\n" * 10), "y")
    np.testing.assert_allclose(bare.predict(pd.DataFrame({"k": levels[:3]})), [0, 1, 2], atol=1e-9)


@pytest.mark.parametrize("cls", [KMeans, LinearRegression, GaussianNB, KBinsDiscretizer])
def test_a_refusal_of_missing_cells_says_what_fills_them_in_here(cls):
    X = np.array([[np.nan], [1.0], [2.0], [3.0]])
    model = KMeans(2) if cls is KMeans else cls()
    with pytest.raises(DataError, match=r"^Input X contains NaN. .*gnomon.prepare") as refused:
        model.fit(X, [0, 1, 0, 1])
    assert "sklearn" not in str(refused.value)
    model.fit(pd.DataFrame(np.tile(X, (5, 1)), columns=["a"]), [0, 1, 0, 1] * 5)
