"""Filters: the worked examples of the texts (003 2.1.9, 000a 1.2, 000b 8.1.1, 001 17.2.15)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

from gnomon.prepare import (
    Discretize,
    FilteredLearner,
    Impute,
    MinMaxScaler,
    OneHot,
    OrdinalScores,
    Quantize,
    RoundToInteger,
    StandardScaler,
    Whiten,
    levels_as_seen,
    mask_cells,
)
from gnomon.table import Table


@pytest.mark.covers("binarize-one-hot")
def test_the_pets_of_003_2_1_9_1():
    pets = pd.DataFrame(
        {
            "a": [2.5, 1.0, 1.2, 3.7, 4.1],
            "pet": ["dog", "mouse", "cat", "cat", "dog"],
            "b": [0.01, 0.02, -0.01, -0.03, 0.07],
        }
    )
    filter = OneHot(levels=levels_as_seen(pets))
    expected = [
        [2.5, 1, 0, 0, 0.01],
        [1.0, 0, 1, 0, 0.02],
        [1.2, 0, 0, 1, -0.01],
        [3.7, 0, 0, 1, -0.03],
        [4.1, 1, 0, 0, 0.07],
    ]
    new = filter.fit_transform(pets)
    np.testing.assert_array_equal(new.to_numpy(), expected)
    assert list(new.columns) == ["a", "pet=dog", "pet=mouse", "pet=cat", "b"]
    pd.testing.assert_frame_equal(filter.inverse_transform(new), pets, check_dtype=False)


@pytest.mark.covers("binarize-one-hot")
def test_one_hot_rows_sum_to_one_and_their_mean_is_the_levels_shares(rng):
    words = rng.choice(["a", "b", "c"], 50).astype(object)
    words[[3, 7]] = None
    filter = OneHot()
    rows = filter.fit_transform(Table.from_dict({"w": words.tolist()})).to_numpy()
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    known = [word for word in words if word is not None]
    shares = [known.count(level) / 48 for level in "abc"]
    np.testing.assert_allclose(rows.mean(axis=0), shares)
    np.testing.assert_allclose(rows[3], shares)
    unseen = filter.transform(Table.from_dict({"w": ["new"]})).to_numpy()
    np.testing.assert_allclose(unseen[0], shares)


@pytest.mark.covers("discretize-equal-width")
@pytest.mark.parametrize(("n", "buckets"), [(1, 1), (3, 1), (4, 2), (10, 3), (99, 9), (100, 10)])
def test_there_are_floor_of_root_n_buckets_003_2_1_9_2(rng, n, buckets):
    x = np.append(rng.uniform(0, 5, max(n - 2, 0)), [-1.0, 7.0])[-n:].reshape(-1, 1)
    filter = Discretize().fit(x)
    assert len(filter.edges_[0]) - 1 == (buckets if n > 1 else 1)
    if n > 3:
        width = 8 / buckets
        centers = filter.inverse_transform(np.arange(buckets).reshape(-1, 1)).ravel()
        np.testing.assert_allclose(centers, -1 + width * (np.arange(buckets) + 0.5))
        back = filter.inverse_transform(filter.transform(x))
        assert np.abs(back - x).max() <= width / 2 + 1e-12


@pytest.mark.covers("normalize-range")
@pytest.mark.parametrize("target", [(0.0, 1.0), (-1, 1), (3.5, 10.0)])
def test_least_goes_to_low_and_greatest_to_high_and_back_003_2_1_9_3(rng, target):
    X = rng.normal(size=(30, 3)) * 100
    X[:, 2] = 4.0
    filter = MinMaxScaler(target).fit(X)
    Z = filter.transform(X)
    np.testing.assert_allclose(Z[:, :2].min(axis=0), target[0])
    np.testing.assert_allclose(Z[:, :2].max(axis=0), target[1])
    assert (Z[:, 2] == target[0]).all()
    np.testing.assert_allclose(filter.inverse_transform(Z), X)
    with pytest.raises(ValueError, match="must be smaller than maximum"):
        MinMaxScaler((1, 0)).fit(X)


@pytest.mark.covers("impute-baseline")
def test_means_and_most_common_values_fill_holes_003_2_1_9_4():
    table = pd.DataFrame(
        {"x": [1.0, None, 5.0, 6.0], "c": ["b", "a", None, "b"], "n": [1, 2, 3, 4]}
    )
    filled = Impute().fit_transform(table)
    assert filled["x"].tolist() == [1, 4, 5, 6]
    assert filled["c"].tolist() == ["b", "a", "b", "b"]
    marked = Impute("median", mark=True).fit(table)
    assert marked.transform(table)["x"][1] == 5
    back = marked.inverse_transform(marked.transform(table))
    assert Table.from_frame(back).to_dict() == Table.from_frame(table).to_dict()


@pytest.mark.covers("round-to-integer")
def test_whole_numbers_are_learnt_as_real_and_predicted_rounded_003_2_1_5(rng):
    X = rng.uniform(0, 10, (60, 1))
    y = np.rint(2 * X[:, 0] + 1)
    model = FilteredLearner(LinearRegression(), target=RoundToInteger(clip=True)).fit(X, y)
    far = model.predict([[1e3], [-1e3]])
    assert far.tolist() == [y.max(), y.min()]
    assert np.all(model.predict(X) % 1 == 0)
    assert np.mean(model.predict(X) == y) > 0.8


@pytest.mark.covers("ordinal-score-coding")
def test_three_levels_as_one_zero_minus_one_000b_10_11():
    rows = [["low"], ["medium"], ["high"], ["low"]]
    filter = OrdinalScores({"high": 1, "medium": 0, "low": -1}).fit(rows)
    assert filter.transform(rows).ravel().tolist() == [-1, 0, 1, -1]
    assert filter.inverse_transform([[0.6], [-0.4], [-7.0]]).ravel().tolist() == [
        "high",
        "medium",
        "low",
    ]


@pytest.mark.covers("quantize-by-thresholds")
def test_a_grade_above_twelve_is_a_pass_000a_exercise_1_2():
    table = Table.from_dict({"G3": [10.0, 12.0, 12.5, None, 19.0], "other": [1.0, 2, 3, 4, 5]})
    new = Quantize({"G3": [12]}, labels=["fail", "pass"]).fit_transform(table)
    assert new.to_dict()["G3"] == ["fail", "fail", "pass", None, "pass"]
    assert new.to_dict()["other"] == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="does not say which value"):
        Quantize().fit([[1.0]]).inverse_transform([[1.0]])


@pytest.mark.covers("standardize-features")
def test_columns_have_zero_mean_and_unit_variance_000b_8_1_1():
    X = load_iris().data
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.var(axis=0), 1)
    np.testing.assert_allclose(StandardScaler(ddof=1).fit_transform(X).var(axis=0, ddof=1), 1)
    scaled = StandardScaler(with_mean=False).fit_transform(X)
    np.testing.assert_allclose(scaled, X / X.std(axis=0))


@pytest.mark.covers("whitening")
@pytest.mark.parametrize("form", ["pca", "zca", "cholesky"])
def test_every_form_of_whitening_gives_the_identity_and_can_be_undone(rng, form):
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)) + 50
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    for turned in (None, rotation):
        filter = Whiten(form, rotation=turned).fit(X)
        Z = filter.transform(X)
        np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(4), atol=1e-8)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
        np.testing.assert_allclose(filter.inverse_transform(Z), X, atol=1e-7)
        assert filter.rank_ == 4


@pytest.mark.covers("whitening")
def test_only_the_zca_form_is_symmetric_001_17_2_15(rng):
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
    zca, pca = Whiten("zca").fit(X).matrix_, Whiten("pca").fit(X).matrix_
    np.testing.assert_allclose(zca, zca.T, atol=1e-9)
    assert np.abs(pca - pca.T).max() > 1e-6
    lower = Whiten("cholesky").fit(X).inverse_
    np.testing.assert_allclose(lower, np.linalg.cholesky(np.cov(X.T, ddof=0)), atol=1e-8)


@pytest.mark.covers("whitening")
def test_a_hyperplane_is_reported_by_its_rank_and_comes_out_finite(rng):
    x = rng.normal(size=(50, 2))
    X = np.column_stack([x, x.sum(axis=1), np.ones(50)])
    for form in ("pca", "zca"):
        filter = Whiten(form).fit(X)
        assert filter.rank_ == 2
        Z = filter.transform(X)
        assert np.linalg.matrix_rank(np.cov(Z.T, ddof=0), tol=1e-6) == 2
        np.testing.assert_allclose(filter.inverse_transform(Z), X, atol=1e-6)


@pytest.mark.covers("noise-injection")
def test_each_of_600_iris_entries_is_masked_with_probability_w_over_600(rng):
    X = load_iris().data + 1
    for w in (10, 40):
        hit = [
            (mask_cells(X, cells=w, random_state=rng.integers(2**31)) == 0).sum()
            for _ in range(200)
        ]
        assert abs(np.mean(hit) - w) < 6 * np.sqrt(w / 200)


@pytest.mark.covers("filter-wrap-learner")
def test_a_classifier_predicts_numbers_and_a_regressor_classes_003_2_1_9_5(rng):
    X = rng.uniform(0, 1, (200, 1))
    y = 10 * X[:, 0]
    by_class = FilteredLearner(LogisticRegression(C=1e4), target=Discretize(5)).fit(X, y)
    assert np.abs(by_class.predict(X) - y).mean() < 1.5
    assert len(set(by_class.predict(X))) <= 5
    # the middles of five intervals of the observed range, not of 0 to 10
    width = np.ptp(y) / 5
    places = (by_class.predict(X) - y.min()) / width - 0.5
    np.testing.assert_allclose(places, np.round(places), atol=1e-6)
    iris = load_iris()
    names = iris.target_names[iris.target]
    by_number = FilteredLearner(LinearRegression(), target=OneHot()).fit(iris.data, names)
    assert by_number.score(iris.data, names) > 0.8
    assert by_number.classes_.tolist() == sorted(set(names))
