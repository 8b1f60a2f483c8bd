"""What ``fit`` and ``predict`` are given: float frames, float32, sparse rows, several outputs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

from gnomon.contract import Classifier, Regressor, Takes, Transformer
from gnomon.contract.intake import frames
from gnomon.engine.errors import DataError
from gnomon.table.encode import TableEncoder


class Means(Regressor):
    """Keeps the means of the columns; adds up a row's deviations from them."""

    _parameter_constraints = {"metric": [str]}

    def __init__(self, metric="euclidean"):
        self.metric = metric

    def _fit(self, data):
        self.means_ = np.asarray(data.rows.mean(axis=0), dtype=np.float64).ravel()

    def _estimate(self, rows):
        return np.asarray(rows - self.means_).sum(axis=1)


class Centered(Transformer):
    natively = Takes(float32=True, sparse=True)
    _always_float64 = ("total_",)

    def _fit(self, data):
        self.means_ = np.asarray(data.rows.mean(axis=0), dtype=np.float64).ravel()
        self.total_ = np.array([self.means_.sum()])

    def _map(self, rows):
        return rows if sp.issparse(rows) else rows - self.means_


class Shares(Classifier):
    """The shares of the classes in the training rows, whatever the row."""

    _many_targets = True
    _parameter_constraints = {"class_weight": [dict, list, None, str]}

    def __init__(self, class_weight=None):
        self.class_weight = class_weight

    def _fit(self, data):
        several = isinstance(self.classes_, list)
        codes = data.y if several else data.y[:, None]
        sizes = [len(known) for known in self.classes_] if several else [len(self.classes_)]
        self.shares_ = np.concatenate(
            [
                np.bincount(codes[:, k], data.weight_array, minlength=n) / data.weight_array.sum()
                for k, n in enumerate(sizes)
            ]
        )

    def _proba(self, rows):
        return np.tile(self.shares_, (len(rows), 1))


@pytest.fixture
def floats(rng) -> np.ndarray:
    return rng.normal(size=(60, 3))


def slowly(monkeypatch):
    monkeypatch.setattr(frames, "float_rows", lambda learner, X: None)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_frame_of_floats_gives_the_bits_of_the_general_path(make, dtype, floats, monkeypatch):
    frame = make(dict(zip("abc", floats.astype(dtype).T)))
    y, weights = floats[:, 0], np.arange(60.0)
    quick = Means().fit(frame, y, sample_weight=weights)
    predicted = quick.predict(frame)
    slowly(monkeypatch)
    general = Means().fit(frame, y, sample_weight=weights)
    np.testing.assert_array_equal(quick.means_, general.means_)
    np.testing.assert_array_equal(predicted, general.predict(frame))
    np.testing.assert_array_equal(quick.feature_names_in_, general.feature_names_in_)
    assert [vars(code) for code in quick.encoder_.codes] == [
        vars(code) for code in general.encoder_.codes
    ]


def test_cells_that_are_missing_in_new_rows_only_are_read_as_the_mean(floats):
    frame = pd.DataFrame(floats, columns=list("abc"))
    model = Means().fit(frame, floats[:, 0])
    frame.loc[3, "b"] = np.nan
    expected = floats.copy()
    expected[3, 1] = model.encoder_.codes[1].mean
    np.testing.assert_array_equal(
        model.predict(frame), model.predict(pd.DataFrame(expected, columns=list("abc")))
    )


@pytest.mark.parametrize("bad", [np.inf, 1e200])
def test_a_float_frame_is_refused_with_the_name_of_the_column(bad, floats):
    frame = pd.DataFrame(floats, columns=list("abc"))
    frame.loc[7, "b"] = bad
    with pytest.raises(DataError, match="column 'b', row 7"):
        Means().fit(frame, floats[:, 0])
    model = Means().fit(pd.DataFrame(floats, columns=list("abc")), floats[:, 0])
    with pytest.raises(DataError, match="column 'b', row 7"):
        model.predict(frame)


def test_a_float_frame_with_other_names_is_refused_as_by_scikit_learn(floats):
    model = Means().fit(pd.DataFrame(floats, columns=list("abc")), floats[:, 0])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(floats, columns=list("abd")))


def test_a_float_frame_without_missing_cells_is_not_inspected_column_by_column(floats, monkeypatch):
    frame = pd.DataFrame(floats, columns=list("abc"))
    monkeypatch.setattr(TableEncoder, "transform", lambda *_: pytest.fail("encoded the table"))
    Means().fit(frame, floats[:, 0]).predict(frame)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [60, 20_000])
def test_a_method_that_declares_it_keeps_float32_in_attributes_and_outputs(dtype, n, rng):
    X = rng.normal(size=(n, 3)).astype(dtype)
    model = Centered().fit(X)
    assert get_tags(model).transformer_tags.preserves_dtype == ["float64", "float32"]
    assert model.means_.dtype == dtype
    assert model.total_.dtype == np.float64
    assert model.transform(X).dtype == dtype
    assert model.transform(X.astype(np.float64)).dtype == np.float64


def test_a_method_that_does_not_declare_it_gives_float64_for_float32(floats):
    model = Means().fit(floats.astype(np.float32), floats[:, 0])
    assert model.means_.dtype == np.float64
    assert model.predict(floats.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("n", [50, 20_000])
def test_sparse_rows_and_sparse_results_of_several_blocks_stay_sparse(n):
    X = sp.random_array((n, 4), density=0.3, format="csr", rng=np.random.default_rng(0))
    mapped = Centered().fit(X).transform(X)
    assert sp.issparse(mapped)
    assert (mapped != X).nnz == 0
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Means().fit(X, np.ones(n))


def test_several_outputs_of_a_classifier_have_classes_and_probabilities_each(floats):
    y = np.array([["a", "x"], ["b", "y"], ["b", "z"], ["b", "x"]] * 15)
    model = Shares().fit(floats, y)
    assert [known.tolist() for known in model.classes_] == [["a", "b"], ["x", "y", "z"]]
    first, second = model.predict_proba(floats)
    np.testing.assert_allclose(first[0], [0.25, 0.75])
    np.testing.assert_allclose(second[0], [0.5, 0.25, 0.25])
    np.testing.assert_array_equal(model.predict(floats), np.tile(["b", "x"], (60, 1)))
    np.testing.assert_array_equal(model.predict_log_proba(floats)[0], np.log(first))
    tags = get_tags(model)
    assert tags.target_tags.multi_output
    assert tags.classifier_tags.multi_label


def test_class_weights_of_several_outputs_multiply(floats):
    y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 15)
    model = Shares(class_weight=[{0: 3, 1: 1}, {0: 1, 1: 2}]).fit(floats, y)
    np.testing.assert_allclose(model.shares_, [3 / 4, 1 / 4, 1 / 3, 2 / 3])
    balanced = Shares(class_weight="balanced").fit(floats, y)
    np.testing.assert_allclose(balanced.shares_, 0.5)


def test_one_column_of_classes_is_one_output_although_several_are_possible(floats):
    with pytest.warns(Warning, match="column-vector y was passed"):
        model = Shares().fit(floats, np.array([[0], [1]] * 30))
    assert model.predict_proba(floats).shape == (60, 2)


def test_a_precomputed_metric_takes_a_square_matrix_and_sets_the_pairwise_tag(floats):
    distances = np.abs(floats[:, :1] - floats[:, :1].T)
    model = Means(metric="precomputed").fit(pd.DataFrame(distances), floats[:, 0])
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(Means()).input_tags.pairwise
    assert not hasattr(model, "encoder_")
    with pytest.raises(ValueError, match=r"must be square\. Input is a 60x3 matrix"):
        Means(metric="precomputed").fit(floats, floats[:, 0])


def test_weights_are_routed_as_by_scikit_learn():
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        request = Means().set_fit_request(sample_weight=True).get_metadata_routing()
    assert request.fit.requests == {"sample_weight": True}
