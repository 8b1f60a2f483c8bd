"""Filters: transform and way back, batch and row by row, arrays and frames of every make."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.preprocessing
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import gnomon
import gnomon.linear
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import BaselineClassifier
from gnomon.prepare import (
    DateParts,
    Discretize,
    FeatureSets,
    FilteredLearner,
    Impute,
    MinMaxScaler,
    MissingAsCategory,
    OneHot,
    OrdinalScores,
    Quantize,
    RegressionImpute,
    RoundToInteger,
    StandardScaler,
    Whiten,
    WordCounts,
    add_noise,
    concatenate,
    drop_incomplete_rows,
    drop_rare_classes,
    mask_cells,
)
from gnomon.table import Column, Schema, Table

FILTERS = [
    StandardScaler(),
    MinMaxScaler(),
    RoundToInteger(),
    Whiten(),
    Whiten("zca"),
    Whiten("cholesky"),
    Discretize(),
    Discretize(4, strategy="quantile"),
    Quantize(),
    OneHot(),
    OrdinalScores(),
    Impute(),
    Impute("median", mark=True),
    MissingAsCategory(),
    DateParts(),
    WordCounts(columns=["note"]),
    FeatureSets({"a": ["size"], "b": ["count", "size"]}),
    RegressionImpute(),
]
EXACT = [
    StandardScaler(),
    MinMaxScaler(),
    Impute(mark=True),
    MissingAsCategory(),
    DateParts(),
    OrdinalScores(columns=["grade", "region"]),
]
every_filter = pytest.mark.parametrize("filter", FILTERS, ids=str)


def mixed(rng, n=40) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "size": rng.normal(5, 2, n),
            "count": rng.integers(0, 50, n),
            "region": rng.choice(["north", "south", "east"], n),
            "grade": rng.choice(["low", "high"], n),
            "open": rng.random(n) < 0.5,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "note": rng.choice(["good fast", "late again good", "never again", "fast"], n),
        },
        index=rng.permutation(n) + 1000,
    )
    frame.iloc[3, 0] = np.nan
    frame.iloc[5, 2] = None
    return frame


def native_makes(frame: pd.DataFrame) -> list:
    return [
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame, preserve_index=False),
        Table.from_frame(frame),
    ]


def as_dict(X) -> dict:
    return Table.from_frame(X).to_dict()


@pytest.mark.covers("reversible-transform-contract")
@every_filter
def test_every_make_of_table_gives_the_same_columns_in_its_own_make(filter, rng):
    frame = mixed(rng)
    results = []
    for X in native_makes(frame):
        new = filter.fit(X).transform(X)
        assert type(new) is type(X)
        results.append(as_dict(new))
        assert list(results[-1]) == filter.get_feature_names_out().tolist()
    for other in results[1:]:
        assert list(other) == list(results[0])
        for name in other:
            assert [str(a)[:10] for a in other[name]] == [str(b)[:10] for b in results[0][name]]


@pytest.mark.covers("reversible-transform-contract")
@every_filter
def test_one_row_at_a_time_gives_what_all_rows_at_once_give(filter, rng):
    frame = mixed(rng)
    whole = filter.fit(frame).transform(frame)
    for position in range(0, len(frame), 3):
        one = filter.transform(frame.iloc[[position]])
        expected = whole.iloc[[position]]
        for name in whole.columns:
            a, b = one[name].iloc[0], expected[name].iloc[0]
            if isinstance(a, float) and isinstance(b, float):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            else:
                assert a == b or (pd.isna(a) and pd.isna(b))


@pytest.mark.covers("reversible-transform-contract")
@pytest.mark.parametrize("filter", EXACT, ids=str)
def test_the_way_back_restores_values_holes_and_kinds(filter, rng):
    frame = mixed(rng)
    for X in native_makes(frame):
        back = filter.fit(X).inverse_transform(filter.transform(X))
        assert type(back) is type(X)
        original, restored = as_dict(X), as_dict(back)
        assert list(restored) == list(original)
        for name in original:
            for a, b in zip(original[name], restored[name]):
                if isinstance(a, float):
                    assert b == pytest.approx(a, nan_ok=True)
                elif isinstance(a, datetime.date):
                    assert str(a)[:10] == str(b)[:10]
                else:
                    assert a == b


@pytest.mark.covers("reversible-transform-contract")
@pytest.mark.parametrize("filter", [Quantize(), WordCounts(columns=["note"])], ids=str)
def test_what_cannot_be_undone_says_why(filter, rng):
    frame = mixed(rng)
    new = filter.fit(frame).transform(frame)
    with pytest.raises(DataError, match="cannot be undone"):
        filter.inverse_transform(new)


def test_the_way_back_refuses_other_columns(rng):
    frame = mixed(rng)
    filter = StandardScaler().fit(frame)
    with pytest.raises(DataError, match="7 columns"):
        filter.inverse_transform(frame[["size"]])
    with pytest.raises(DataError, match="'width'"):
        filter.inverse_transform(frame.rename(columns={"size": "width"}))


@every_filter
def test_untouched_columns_keep_their_very_values_and_index(filter, rng):
    frame = mixed(rng)
    new = filter.fit(frame).transform(frame)
    assert (new.index == frame.index).all()
    changed = set(np.array(frame.columns)[filter.positions_])
    for name in set(frame.columns) - changed:
        pd.testing.assert_series_equal(new[name], frame[name])


@every_filter
def test_a_saved_filter_gives_the_same_bits(filter, rng, tmp_path):
    frame = mixed(rng)
    new = filter.fit(frame).transform(frame)
    loaded = gnomon.load(filter.save(tmp_path / "filter.gnomon"))
    pd.testing.assert_frame_equal(loaded.transform(frame), new)


@every_filter
def test_set_output_gives_polars_or_pandas_for_any_table(filter, rng):
    frame = mixed(rng)
    for X in native_makes(frame):
        made = filter.fit(X)
        pandas = made.set_output(transform="pandas").transform(X)
        polars = made.set_output(transform="polars").transform(X)
        made.set_output(transform="default")
        assert isinstance(pandas, pd.DataFrame)
        assert isinstance(polars, pl.DataFrame)
        assert list(pandas.columns) == polars.columns == made.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "columns", [["size"], "size", [0], [-7]], ids=["list", "name", "place", "from the end"]
)
def test_columns_may_be_chosen_by_name_or_place(columns, rng):
    frame = mixed(rng)
    filter = StandardScaler(columns=columns).fit(frame)
    assert filter.positions_.tolist() == [0]
    with pytest.raises(KeyError, match="size"):
        StandardScaler(columns=["sise"]).fit(frame)


@pytest.mark.covers("missing-as-category")
def test_missing_is_one_more_level_and_a_mark_beside_numbers():
    table = Table.from_dict({"c": ["a", None, "b", "a"], "x": [1.0, 2.0, None, 3.0]})
    filter = MissingAsCategory().fit(table)
    new = filter.transform(table).to_dict()
    assert new["c"] == ["a", "(missing)", "b", "a"]
    assert new["x"] == [1, 2, 2, 3]
    assert new["x:missing"] == [0, 0, 1, 0]
    assert filter.inverse_transform(filter.transform(table)).to_dict() == table.to_dict()


@pytest.mark.covers("discretize-equal-width")
def test_quantile_buckets_hold_equally_many_rows(rng):
    x = rng.normal(size=(120, 1)) ** 3
    codes = Discretize(6, strategy="quantile").fit_transform(x).ravel()
    assert np.bincount(codes.astype(int)).tolist() == [20] * 6


@pytest.mark.covers("ordinal-score-coding")
def test_ordered_levels_are_numbered_in_the_order_of_the_schema():
    table = Table.from_dict(
        {"size": ["S", "L", "M"]}, Schema([Column("size", "ordered", levels=("S", "M", "L"))])
    )
    filter = OrdinalScores().fit(table)
    assert filter.transform(table).to_dict()["size"] == [0, 2, 1]
    assert filter.inverse_transform(filter.transform(table)).to_dict() == table.to_dict()
    with pytest.raises(DataError, match="no number for M"):
        OrdinalScores({"S": 1, "L": 2}).fit(table)


@pytest.mark.covers("regression-imputation")
def test_a_hole_in_a_linear_table_is_found_again(rng):
    X = rng.normal(size=(80, 3))
    X[:, 2] = 2 * X[:, 0] - X[:, 1] + 4
    holes = mask_cells(X, cells=15, value=np.nan, random_state=int(rng.integers(2**31)))
    holes[np.isnan(holes).sum(axis=1) > 1] = X[np.isnan(holes).sum(axis=1) > 1]
    filled = RegressionImpute(alpha=1e-9, max_iter=50, tol=1e-8).fit_transform(holes)
    np.testing.assert_allclose(filled, X, atol=1e-4)


@pytest.mark.covers("regression-imputation")
def test_any_regressor_and_other_columns_take_part(rng):
    group = rng.choice(["a", "b"], 60)
    x = np.where(group == "a", 10.0, -10.0) + rng.normal(0, 0.1, 60)
    frame = pd.DataFrame({"g": group, "x": x})
    frame.loc[[0, 1, 2], "x"] = np.nan
    for filter in (RegressionImpute(), RegressionImpute(DecisionTreeRegressor(max_depth=2))):
        filled = filter.fit_transform(frame)["x"]
        assert np.abs(filled[:3] - np.where(group[:3] == "a", 10, -10)).max() < 1


@pytest.mark.covers("feature-set-concatenation")
def test_sets_are_prefixed_and_reduced_to_their_components(rng):
    X = rng.normal(size=(50, 6)) * [9, 1, 1, 9, 1, 1]
    sets = {"left": [0, 1, 2], "right": [3, 4, 5]}
    raw = FeatureSets(sets).fit(X)
    np.testing.assert_array_equal(raw.transform(X), X)
    np.testing.assert_array_equal(raw.inverse_transform(X), X)
    top = FeatureSets(sets, n_components=1).fit(X)
    assert top.get_feature_names_out().tolist() == ["left:0", "right:0"]
    for place, columns in enumerate(sets.values()):
        values = np.linalg.eigvalsh(np.cov(X[:, columns].T, ddof=0))
        assert top.transform(X)[:, place].var() == pytest.approx(values[-1])
    table = concatenate({"raw": X, "words": Table.from_dict({"w": ["a", "b"] * 25})})
    assert table.columns[-2:] == ("raw:x5", "words:w")
    with pytest.raises(DataError, match="differ in their number of rows"):
        concatenate({"a": X, "b": X[:3]})


@pytest.mark.covers("drop-incomplete-rows")
def test_incomplete_rows_go_with_their_labels_and_the_columns_that_cost_them(rng):
    frame = mixed(rng)
    labels = np.arange(len(frame))
    for X in native_makes(frame):
        kept = drop_incomplete_rows(X, labels)
        assert type(kept.X) is type(X)
        assert kept.n_dropped == 2
        assert kept.reasons == {"size": 1, "region": 1}
        assert kept.y.tolist() == [i for i in range(len(frame)) if i not in (3, 5)]
    assert "38 of 40 rows kept" in repr(kept)
    assert drop_incomplete_rows(frame, columns=["size"]).n_dropped == 1
    with pytest.raises(DataError, match="no row is complete"):
        drop_incomplete_rows([[np.nan, 1.0]])


@pytest.mark.covers("drop-rare-classes")
def test_rare_classes_go_in_training_and_then_in_test_rows(rng):
    y = np.array(["a"] * 12 + ["b"] * 10 + ["c"] * 9)
    X = rng.normal(size=(31, 2))
    kept = drop_rare_classes(X, y)
    assert kept.classes == ("a", "b")
    assert kept.reasons == {"c": 9}
    np.testing.assert_array_equal(kept.X, X[:22])
    later = kept.also(X[:3], np.array(["c", "a", "d"]))
    assert later.kept.tolist() == [False, True, False]
    with pytest.raises(DataError, match="the largest has 12"):
        drop_rare_classes(X, y, fewest=13)


@pytest.mark.covers("noise-injection")
def test_noise_has_the_asked_deviation_and_leaves_other_columns_alone(rng):
    frame = pd.DataFrame({"x": np.zeros(4000), "w": ["a", "b"] * 2000})
    for X in native_makes(frame):
        noisy = as_dict(add_noise(X, 0.5, random_state=int(rng.integers(2**31))))
        assert np.std(noisy["x"]) == pytest.approx(0.5, rel=0.1)
        assert noisy["w"] == frame["w"].tolist()


@pytest.mark.covers("filter-wrap-learner")
def test_a_learner_of_scikit_learn_takes_any_table_with_automatic_filters(rng):
    frame = mixed(rng, 120)
    y = np.where(frame["region"].fillna("north") == "north", "yes", "no")
    model = FilteredLearner(DecisionTreeClassifier(random_state=0)).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert model.predict_proba(frame).shape == (120, 2)
    unseen = frame.head(2).assign(region="moon")
    assert set(model.predict(unseen)) <= {"yes", "no"}
    named = FilteredLearner(DecisionTreeClassifier(random_state=0)).fit(frame.assign(y=y), "y")
    np.testing.assert_array_equal(named.predict(frame), model.predict(frame))
    chain = FilteredLearner(
        Ridge(), features=[Impute(), StandardScaler()], target=MinMaxScaler((-1, 1))
    )
    numbers = frame["count"] * 3.0
    assert chain.fit(frame, numbers).score(frame, numbers) > 0.9


@pytest.mark.covers("filter-wrap-learner")
def test_a_filter_that_cannot_be_undone_is_refused_for_the_target():
    with pytest.raises(DataError, match="apply it to y before fit"):
        FilteredLearner(LogisticRegression(), target=Quantize([1.0])).fit([[1], [2]], [0.5, 1.5])


def test_a_filtered_learner_of_gnomon_can_be_saved(rng, tmp_path):
    frame = mixed(rng)
    y = rng.choice(["a", "b"], len(frame))
    model = FilteredLearner(BaselineClassifier(), features=StandardScaler()).fit(frame, y)
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    "model",
    [
        FilteredLearner(Ridge(), features=[StandardScaler()], target=[StandardScaler()]),
        FilteredLearner(GaussianNB(), features=Impute()),
    ],
    ids=["regressor", "classifier"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_filtered_learner_keeps_the_contract_of_scikit_learn(model):
    check_estimator(model, on_skip=None)


@pytest.mark.filterwarnings("error")
def test_counting_words_says_when_there_is_no_text():
    few = Table.from_dict({"t": ["the cat sat", "the dog", "cats and dogs"], "n": [1, 2, 3]})
    with pytest.warns(GnomonWarning, match=r"changes nothing.*'t'"):
        assert WordCounts().fit_transform(few).columns == few.columns
    WordCounts(columns=["t"]).fit(few)
    WordCounts().fit(few.select(["n"]))


def customers(rng, n: int = 60) -> bytes:
    marks = rng.permutation(np.arange(n) % 3 > 0)
    rows = [
        f'{i},{"Yes" if mark else "No"},"${1000 + mark:,}.50",{i % 2 + 1}'
        for i, mark in enumerate(marks)
    ]
    return "\n".join(["customer_id,churn,paid,times", *rows, ""]).encode()


@pytest.mark.filterwarnings("ignore:identifiers")
@pytest.mark.parametrize("learner", [LogisticRegression(), gnomon.linear.LogisticRegression()])
def test_filters_take_target_and_weights_by_name_and_in_the_words_of_the_file(learner, rng):
    content = customers(rng)
    table, frame = gnomon.read(content), pd.read_csv(io.BytesIO(content))
    model = FilteredLearner(learner).fit(table, "churn", sample_weight="times")
    assert model.classes_.tolist() == ["No", "Yes"]
    assert model.score(table, "churn", sample_weight="times") == 1.0
    rows = frame.drop(columns=["churn", "times"])
    assert model.score(rows, frame["churn"]) == model.score(frame, "churn") == 1.0
    inner = model.encoder_ or model.estimator_.encoder_
    assert inner.left_out == ["customer_id"]
    with pytest.raises(DataError, match=r"no column 'chrn'.*did you mean 'churn'"):
        model.score(table, "chrn")


def test_filters_refuse_a_scan_and_a_missing_target(rng):
    content = customers(rng)
    with pytest.raises(DataError, match=r"scan\.read\(\)"):
        FilteredLearner(Ridge()).fit(gnomon.scan(content), "times")
    holes = pd.read_csv(io.BytesIO(content)).replace({"churn": {"No": None}})
    with pytest.raises(DataError, match=r"'churn'.*missing in 20 of 60 rows"):
        FilteredLearner(LogisticRegression()).fit(holes, "churn")


def test_a_filter_that_concerns_no_column_gives_the_table_back():
    rows = Table.from_dict({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    parts = DateParts().fit(rows)
    assert parts.transform(rows) is rows
    assert parts.inverse_transform(parts.transform(rows)).to_dict() == rows.to_dict()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}])
def test_standard_scaler_of_plain_arrays_is_scikit_learns(order, dtype, parameters):
    """Far means, a constant column, one row, more rows than a block, both orders."""
    rng = np.random.default_rng(0)
    for n in (1, 7, 20_000):
        X = rng.normal(size=(n, 9)) * 10.0 ** np.arange(-4, 5) + 10.0 ** np.arange(4, -5, -1)
        X[:, 4] = 3.3
        X = np.array(X, dtype=dtype, order=order)
        theirs = sklearn.preprocessing.StandardScaler(**parameters).fit(X)
        ours = StandardScaler(**parameters).fit(X)
        for name in ("mean_", "var_", "scale_"):
            expected, found = getattr(theirs, name), getattr(ours, name)
            if expected is None:
                assert found is None
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-14)
        result = ours.transform(X)
        assert result.dtype == dtype
        tolerance = 1e-5 if dtype == np.float64 else 1e-3  # its rounding of the far mean
        np.testing.assert_allclose(result, theirs.transform(X), rtol=tolerance, atol=tolerance)
