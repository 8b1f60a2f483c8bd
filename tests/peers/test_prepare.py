"""Filters with scikit-learn's names give its results on arrays, and take tables beside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import impute, preprocessing

import gnomon
from gnomon import prepare

NUMBERS = np.array([[1.0, -2.0, 4.0], [2.0, 0.0, 4.0], [4.0, 5.0, 4.5], [9.0, 1.0, 6.0]] * 4)
NUMBERS = NUMBERS + np.arange(16)[:, None] * [0.5, 0.25, 0.125]
CASES = [
    ("StandardScaler", {}, NUMBERS),
    ("StandardScaler", {"with_mean": False}, NUMBERS),
    ("MinMaxScaler", {"feature_range": (-1, 2), "clip": True}, NUMBERS),
    ("MaxAbsScaler", {}, NUMBERS),
    ("RobustScaler", {"unit_variance": True}, NUMBERS),
    ("PowerTransformer", {}, NUMBERS),
    ("PowerTransformer", {"method": "box-cox"}, NUMBERS + 3),
    ("QuantileTransformer", {"n_quantiles": 7, "output_distribution": "normal"}, NUMBERS),
    ("KBinsDiscretizer", {"n_bins": 3}, NUMBERS),
    ("KBinsDiscretizer", {"n_bins": 3, "encode": "ordinal", "strategy": "uniform"}, NUMBERS),
    ("SimpleImputer", {"add_indicator": True}, np.where(NUMBERS > 6, np.nan, NUMBERS)),
]
IDS = [f"{name}-{options}" for name, options, _ in CASES]


def pair(name: str, options: dict):
    theirs = getattr(impute if name == "SimpleImputer" else preprocessing, name)
    return getattr(prepare, name)(**options), theirs(**options)


def dense(values):
    return values.toarray() if sp.issparse(values) else values


@pytest.mark.parametrize(("name", "options", "X"), CASES, ids=IDS)
def test_results_attributes_and_way_back_on_arrays_are_scikit_learns(name, options, X, tmp_path):
    ours, theirs = pair(name, options)
    expected, found = theirs.fit_transform(X), ours.fit_transform(X)
    assert sp.issparse(found) == sp.issparse(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(dense(found), dense(expected))
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    public = {n for n in vars(theirs) if n.endswith("_") and n != "indicator_"}
    assert public <= set(vars(ours))
    if name != "SimpleImputer":
        np.testing.assert_array_equal(
            ours.inverse_transform(found), theirs.inverse_transform(expected)
        )
    loaded = gnomon.load(ours.save(tmp_path / "filter.gnomon"))
    np.testing.assert_array_equal(dense(loaded.transform(X)), dense(expected))


@pytest.mark.parametrize(("name", "options", "X"), CASES, ids=IDS)
def test_a_table_gives_the_same_for_the_columns_concerned_and_passes_the_others(name, options, X):
    frame = pd.DataFrame({"other": ["u", "v"] * 8, "x": X[:, 0]})
    ours, theirs = pair(name, options)
    expected = dense(theirs.fit_transform(X[:, :1]))
    found = ours.fit_transform(frame)
    assert isinstance(found, pd.DataFrame)
    assert found["other"].tolist() == frame["other"].tolist()
    np.testing.assert_allclose(found.drop(columns="other").to_numpy(dtype=float), expected)


@pytest.mark.parametrize("name", ["StandardScaler", "MaxAbsScaler", "MinMaxScaler"])
def test_batches_give_what_all_rows_together_give(name):
    ours, theirs = pair(name, {})
    theirs.fit(NUMBERS)
    ours.partial_fit(NUMBERS[:5]).partial_fit(NUMBERS[5:])
    np.testing.assert_allclose(ours.scale_, theirs.scale_)
    assert ours.n_samples_seen_ == 16
    named = pair(name, {})[0].partial_fit(pd.DataFrame(NUMBERS, columns=list("abc")))
    with pytest.raises(ValueError, match="feature names"):
        named.partial_fit(pd.DataFrame(NUMBERS, columns=list("abd")))


def test_float32_and_sparse_rows_stay_what_they_are():
    rows = NUMBERS.astype(np.float32)
    assert prepare.StandardScaler().fit_transform(rows).dtype == np.float32
    scaled = prepare.MaxAbsScaler().fit_transform(sp.csr_array(NUMBERS))
    assert sp.issparse(scaled)


def test_the_divisor_of_the_variance_may_be_one_less_than_the_rows():
    scaler = prepare.StandardScaler(ddof=1).fit(NUMBERS)
    np.testing.assert_allclose(scaler.scale_, NUMBERS.std(axis=0, ddof=1))


def test_files_of_former_scalers_are_read(tmp_path):
    for former, today in (("Standardize", "StandardScaler"), ("ScaleRange", "MinMaxScaler")):
        with pytest.warns(FutureWarning, match=f"is now gnomon.prepare.{today}"):
            assert getattr(prepare, former) is getattr(prepare, today)


def test_bins_by_k_means_count_a_weight_as_repetitions_also_where_clusters_are_empty(rng):
    for _ in range(10):
        X, weights = rng.normal(size=(40, 3)) ** 3, rng.integers(0, 4, 40)
        rows = rng.permutation(np.repeat(np.arange(40), weights))
        weighted = prepare.KBinsDiscretizer(5, strategy="kmeans").fit(X, sample_weight=weights)
        repeated = prepare.KBinsDiscretizer(5, strategy="kmeans").fit(X[rows])
        for found, expected in zip(weighted.bin_edges_, repeated.bin_edges_):
            np.testing.assert_allclose(found, expected)


def test_scalers_that_center_refuse_sparse_rows_with_the_parameter_to_change(rng):
    rows = sp.csr_array(rng.poisson(0.5, size=(9, 3)).astype(float))
    with pytest.raises(ValueError, match="with_mean=False"):
        prepare.StandardScaler().fit(rows)
    with pytest.raises(ValueError, match="with_centering=False"):
        prepare.RobustScaler().fit(rows)


def test_quantiles_of_sparse_rows_are_those_of_scikit_learn(rng):
    rows = sp.csc_array(rng.poisson(0.5, size=(50, 3)).astype(float))
    for ignore in (False, True):
        given = {"n_quantiles": 10, "ignore_implicit_zeros": ignore}
        ours = prepare.QuantileTransformer(**given).fit_transform(rows)
        peer = preprocessing.QuantileTransformer(**given).fit_transform(rows)
        np.testing.assert_array_equal(ours.toarray(), peer.toarray())


@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_missing_words_of_a_data_frame_are_filled_as_by_scikit_learn(strategy, dtype):
    frame = pd.DataFrame(
        {"a": ["x", None, "y", "y"], "b": ["q", "p", None, None], "n": [1.0, np.nan, 3.0, 3.0]}
    )
    words = frame[["a", "b"]].astype(dtype)
    peer = impute.SimpleImputer(strategy=strategy).fit(words)
    ours = prepare.SimpleImputer(strategy=strategy).fit(frame.assign(**words))
    found = ours.transform(frame.assign(**words))
    assert found[["a", "b"]].to_numpy(object).tolist() == peer.transform(words).tolist()
    assert found["n"].tolist() == [1.0, 3.0 if strategy == "most_frequent" else 0.0, 3.0, 3.0]
    assert list(ours.words_.values()) == peer.statistics_.tolist()


def test_the_indicator_of_an_imputer_is_that_of_scikit_learn():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    ours = prepare.SimpleImputer(add_indicator=True).fit(X)
    assert ours.indicator_.features_.tolist() == [1]
    assert prepare.SimpleImputer().fit(X).indicator_ is None
